/* Private actions (theory S4): what a client measures on its own data so as to choose an action, and the two ways to let
 * that choice out: by noise on what was measured, or by the exponential mechanism over a grid. Either is a Gaussian
 * mechanism, or no worse than one, of the parameter mu given here, so that accountants count it as one more step. */
#ifndef MFPG_MECHANISMS_PRIVATE_ACTION_H
#define MFPG_MECHANISMS_PRIVATE_ACTION_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/mechanism.h"

/* One measurement of a client at a model. Private: the raw number must not leave the client, nor what is chosen by it
 * alone. Absent rows count as the middle of the range of a loss and as no gradient; a client without rows, if the client
 * is the unit, as the middle of both ranges. So zero-out moves a measurement by half of what replace does. What is not
 * finite counts as absent.
 * @param[in] rows  declared public row count, >= 1, the divisor of both means
 * @param     work  mfpg_measure_workspace floats, allocated memory (parts of it serve as another type)
 * Threads: safe with separate work. Memory: allocates nothing. */
double mfpg_measure_loss(const mfpg_model *model, const mfpg_dataset *data, ptrdiff_t rows, double loss_clip,
    const float *w, float *work);
double mfpg_measure_gradient_norm(const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_dataset *data, ptrdiff_t rows, const float *w, float *work);
ptrdiff_t mfpg_measure_workspace(const mfpg_model *model, ptrdiff_t rows);

/* The largest that each can be. */
mfpg_measurement mfpg_measurement_most(const mfpg_mechanism *mechanism, double loss_clip);

/* How far each can move between neighbours, rounding included. Replace: loss clip and clip for a client; loss clip/n and
 * 2 clip/n for an example of n rows. Zero-out: half of it. +INFINITY for another adjacency. */
mfpg_measurement mfpg_measurement_change(const mfpg_mechanism *mechanism, const mfpg_model *model,
    ptrdiff_t rows, double loss_clip, mfpg_adjacency adjacency);

/* sqrt((change of the loss/its noise)^2 + (change of the norm/its noise)^2), rounded up: mu of both released together. A
 * part with change 0 is not released, for any noise; another part without noise gives +INFINITY. */
double mfpg_measurement_mu(const mfpg_measurement *change, const mfpg_measurement *noise);

/* The measurement with Gaussian noise of these sd, cut to [0, most]: post-processing of the release.
 * @param[in] stream  of (MEASURE, round, client): vector 0, of length 2 */
mfpg_measurement mfpg_measurement_blur(const mfpg_measurement *measured, const mfpg_measurement *noise,
    const mfpg_measurement *most, const mfpg_stream *stream);

enum { MFPG_CHOICE_MOST = 1024 }; /* actions that a private choice can be among */

/* Whole weights of the exponential mechanism, P(j) ~ exp(-epsilon U_j/(2 change)): 1 + floor(2^62/count exp(...)), the
 * exponent 0 for the least U. Between neighbours whose U_j lie within change of each other these probabilities are
 * epsilon-DP but for less than 2^-60 count^2, and have range epsilon.
 * @param[in]  count   1 to MFPG_CHOICE_MOST
 * @param[in]  change  > 0
 * @param[out] weight  count; a disutility that is not finite has weight 1 */
void mfpg_choice_weights(
    const double *disutility, ptrdiff_t count, double epsilon, double change, uint64_t *weight);

/* The action drawn with these weights: exact but for 2^-64 an action.
 * @param[in] stream  of (CHOICE, round, client): its whole number 0 */
ptrdiff_t mfpg_choice_draw(const mfpg_stream *stream, const uint64_t *weight, ptrdiff_t count);

/* mu of a choice of that epsilon, 2 Phi^-1(1/(1 + exp(-epsilon/2))), rounded up, for the rounding of weights too;
 * +INFINITY for NaN and negative numbers, 0 for 0. */
double mfpg_choice_mu(double epsilon);

#endif
