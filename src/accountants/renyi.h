/* Converts Renyi divergences to (epsilon, delta) (theory S2.1), at one order and at the best order. */
#ifndef MFPG_ACCOUNTANTS_RENYI_H
#define MFPG_ACCOUNTANTS_RENYI_H

/* Returns epsilon at delta from a Renyi epsilon at one order > 1; the second function is the classic
 * conversion rdp + ln(1/delta)/(order-1). NaN or a value out of range gives +INFINITY. */
double mfpg_rdp_epsilon(double rdp, double order, double delta);
double mfpg_rdp_epsilon_classic(double rdp, double order, double delta);

/* Returns delta at epsilon >= 0 from the tight relation, rounded up, at most 1. */
double mfpg_rdp_delta(double rdp, double order, double epsilon);

/* Returns the logarithm of the same before it is limited to 1, which a search over orders needs: log of
 * exp((order-1) (rdp - epsilon)) (1 - 1/order)^order / (order-1), rounded up; it may be positive. rdp >= 0,
 * order > 1 and finite, epsilon >= 0 and finite. */
double mfpg_rdp_log_delta(double rdp, double order, double epsilon);

/* Returns an upper bound of the total variation distance, which is the delta at epsilon 0; at most 1. */
double mfpg_rdp_distance(double rdp);

/* The smallest value of bound(order, arg) on a fixed lattice of orders from 1 + 2^-16 to 1 + 2^15, 128 to an octave of
 * order - 1; ends early at a value that is at most enough. Every value of bound is one that may be returned, so where the
 * search ends is a matter of tightness alone. epsilon and log delta at an order are a convex function of order - 1 over
 * order - 1, or convex: they have one minimum, to which walking downhill leads. */
#define MFPG_FIRST_ORDER (1.0 + 0x1p-16)
double mfpg_order_search(double (*bound)(double order, const void *arg), const void *arg, double enough);

#endif
