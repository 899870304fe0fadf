/* The moment function of one step's privacy loss on a vertical line of the complex plane, with a bound of its error. */
#ifndef MFPG_ACCOUNTANTS_EXACT_LOSS_NODES_H
#define MFPG_ACCOUNTANTS_EXACT_LOSS_NODES_H

#include "loss_cumulant.h"

/* M(c + iy) - 1, and how far it can be from the truth in the plane. */
typedef struct loss_value {
    long double re, im, error;
} loss_value;

typedef struct loss_nodes loss_nodes;

/* Quadrature nodes for z = c + i j h, j = 0, 1, ...; NULL where there is no memory or more than `room` nodes would be
 * needed. */
loss_nodes *loss_nodes_open(const sampled_step *kind, loss_direction direction, double c, double h, int room);
void loss_nodes_close(loss_nodes *nodes);
int loss_nodes_count(const loss_nodes *nodes);

/* The value at the next j, from 0 on. */
loss_value loss_nodes_next(loss_nodes *nodes);

/* From here on next works in double precision, many times as fast; its errors then grow by 1e-15 of M(c) a step. */
void loss_nodes_hurry(loss_nodes *nodes);

/* The value at any y >= 0. */
loss_value loss_nodes_at(const loss_nodes *nodes, double y);

#endif
