/* The conversion of rdp_conversion.c before it is cut off at 1, as a search over orders wants it. */
#ifndef MFPG_ACCOUNTANTS_RDP_CONVERSION_H
#define MFPG_ACCOUNTANTS_RDP_CONVERSION_H

/* log of exp((order-1) (rdp - epsilon)) (1 - 1/order)^order / (order-1), which is a delta, rounded up; it may be positive.
 * rdp >= 0, order > 1 and finite, epsilon >= 0 and finite. */
double mfpg_rdp_log_delta(double rdp, double order, double epsilon);

/* A bound of the total variation distance, which is the delta at epsilon 0; 1 at most. */
double mfpg_rdp_distance(double rdp);

#endif
