/* How fast the moment function of a composed privacy loss falls along a vertical line: the end of a sum over it. */
#ifndef MFPG_ACCOUNTANTS_EXACT_LOSS_DECAY_H
#define MFPG_ACCOUNTANTS_EXACT_LOSS_DECAY_H

#include "loss_nodes.h"

/* One kind of step in the composition. */
typedef struct decaying {
    const sampled_step *kind;
    loss_direction direction;
    const loss_nodes *nodes;
    loss_value start; /* at y = 0 */
    double deviation; /* of the tilted loss, not below the true one */
} decaying;

/* A bound of the sum over y = from + h, from + 2h, ... of h/y^2 times the modulus of M(c+iy)/M(c), M the product of all
 * M_b^count and of a factor exp(-gauss y^2/2); +INFINITY where none is found that is below e^-need / from. Every factor is at
 * most 1, so a few that fall fastest may stand for all. *points becomes the number of y that were looked at. */
double loss_decay_bound(
    const decaying *part, int parts, double gauss, double c, double h, double from, double need, int *points);

#endif
