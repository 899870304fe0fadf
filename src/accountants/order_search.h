/* The Renyi order that answers best. */
#ifndef MFPG_ACCOUNTANTS_ORDER_SEARCH_H
#define MFPG_ACCOUNTANTS_ORDER_SEARCH_H

/* The smallest value of bound(order, arg) on a fixed lattice of orders from 1 + 2^-16 to 1 + 2^15, 128 to an octave of
 * order - 1; ends early at a value that is at most enough. Every value of bound is one that may be returned, so where the
 * search ends is a matter of tightness alone. epsilon and log delta at an order are a convex function of order - 1 over
 * order - 1, or convex: they have one minimum, to which walking downhill leads. */
#define MFPG_FIRST_ORDER (1.0 + 0x1p-16)
double mfpg_order_search(double (*bound)(double order, const void *arg), const void *arg, double enough);

#endif
