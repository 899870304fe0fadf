/* The parts of the study of gradient inversion: the step that is attacked (at each level of noise), the attacks, the guesses among
 * candidates. Gradients are in the units of the clip: the sum of the clipped gradients of the examples, the clipped gradient
 * of the client, or its clipped update. */
#ifndef MFPG_AUDIT_INVERSION_H
#define MFPG_AUDIT_INVERSION_H

#include "mfpg/inversion.h"

#include "mfpg/mechanism.h"
#include "mfpg/program.h"
#include "models/model_ops.h"

/* ---- inversion_subject.c: which client is attacked, and with which examples ---- */

/* What does not depend on the level. */
typedef struct mfpg_inversion_subject {
    const mfpg_inversion_options *options;
    const mfpg_model *model;
    const float *w;
    ptrdiff_t parameters, features;
    mfpg_layer layer;
    mfpg_key key;
    const mfpg_mechanism *mechanism; /* of the client */
    mfpg_action action;
    ptrdiff_t client, rows; /* which, and its declared rows */
    double low, high;       /* the box of all features */
    mfpg_dataset victims;   /* whole batches */
    mfpg_dataset candidates;
    float *other; /* a random example besides the victims, for each of them */
    float *mean;  /* features: of all examples besides the victims */
} mfpg_inversion_subject;

/* Borrows all but the data. */
mfpg_status mfpg_inversion_subject_create(mfpg_context *ctx, const mfpg_inversion_options *options,
    const mfpg_federated_data *data, const mfpg_model *model, const mfpg_mechanism *const *mechanism,
    const mfpg_action *action, const float *w, mfpg_inversion_subject *out);
void mfpg_inversion_subject_clear(mfpg_inversion_subject *subject);

/* Uses of the streams of the audit's purpose: their round number, times 64 plus the level. */
enum {
    MFPG_INVERSION_ORDER = 1,
    MFPG_INVERSION_NOISE,
    MFPG_INVERSION_START,
    MFPG_INVERSION_TRUTH,
    MFPG_INVERSION_GUESS
};
mfpg_stream mfpg_inversion_stream(const mfpg_inversion_subject *subject, int use, int level, uint64_t number);

/* What is clipped. */
typedef enum mfpg_inversion_clip {
    MFPG_INVERSION_PLAIN = 0, /* nothing: the mean gradient */
    MFPG_INVERSION_EXAMPLES,  /* every example's gradient; they are summed */
    MFPG_INVERSION_CLIENT,    /* the mean gradient */
    MFPG_INVERSION_UPDATE     /* rate times the mean gradient */
} mfpg_inversion_clip;

/* The attacked step at one level. */
typedef struct mfpg_inversion_step {
    double mu; /* zero-out; +INFINITY: no noise, and of the following only clip, rate and kind are set */
    mfpg_mechanism *mechanism; /* owned */
    mfpg_release release;      /* of the step, with its noise */
    ptrdiff_t rows;            /* declared */
    double unit;               /* weights that move by a unit of gradient */
    double sd;                 /* of the noise, in the units of the gradient */
    double clip;               /* +INFINITY: none */
    double rate;               /* of MFPG_INVERSION_UPDATE */
    mfpg_inversion_clip kind;
    float *rest; /* parameters: the weights after the step without data and noise */
} mfpg_inversion_step;

/* Fills the levels, at most options->levels, from no noise to the client's own; *count of them. */
mfpg_status mfpg_inversion_steps_create(
    mfpg_context *ctx, const mfpg_inversion_subject *subject, mfpg_inversion_step *step, int *count);
void mfpg_inversion_steps_clear(mfpg_inversion_step *step, int count);

/* Floats of work that the two below need, of any of the levels. */
ptrdiff_t mfpg_inversion_workspace(
    const mfpg_inversion_subject *subject, const mfpg_inversion_step *step, int count);

/* The gradient of a batch, clipped, without noise. */
void mfpg_inversion_gradient(const mfpg_inversion_subject *subject, const mfpg_inversion_step *step,
    const mfpg_dataset *batch, float *gradient, float *work);

/* What the attacker sees of a batch: the release of the library's mechanism, made into a gradient. A function, so that
 * tests can release too much. */
typedef mfpg_status (*mfpg_inversion_release)(mfpg_context *ctx, const mfpg_inversion_subject *subject,
    const mfpg_inversion_step *step, const mfpg_dataset *batch, const mfpg_stream *noise, float *gradient,
    float *work);
mfpg_status mfpg_inversion_release_step(mfpg_context *ctx, const mfpg_inversion_subject *subject,
    const mfpg_inversion_step *step, const mfpg_dataset *batch, const mfpg_stream *noise, float *gradient,
    float *work);

/* Runs count tasks, in portions between which stop is read and progress reported: of the study's total tasks done more are then
 * over. */
typedef struct mfpg_inversion_clock {
    int64_t done, total;
} mfpg_inversion_clock;
mfpg_status mfpg_inversion_tasks(mfpg_context *ctx, const mfpg_inversion_options *options,
    mfpg_inversion_clock *clock, ptrdiff_t count, mfpg_task task, void *arg);

/* 1 if the caller wants the study to end. */
int mfpg_inversion_stopped(const mfpg_inversion_options *options);

/* ---- inversion_layer.c: examples from the gradient of a layer of `rows` units, dw rows x inputs, db rows ---- */

/* x = dw'db / |db|^2, least squares over the rows; all zero if db is. */
void mfpg_invert_least_squares(
    ptrdiff_t rows, ptrdiff_t inputs, const double *dw, const double *db, double *x);

/* x = v[0..inputs) / v[inputs] with v the leading right singular vector of [dw | db], by power iterations from the least
 * squares; better than these while the signal exceeds the noise. work: rows. Returns the singular value; 0, with x all zero, if
 * dw and db are. */
double mfpg_invert_singular(
    ptrdiff_t rows, ptrdiff_t inputs, const double *dw, const double *db, double *x, double *work);

/* Batch examples (features each) from the rows of the first layer's gradient. */
ptrdiff_t mfpg_inversion_rows_workspace(const mfpg_inversion_subject *subject); /* doubles */
void mfpg_inversion_rows(const mfpg_inversion_subject *subject, const float *gradient, double sd,
    ptrdiff_t batch, double *x, double *work);

/* Rows that have a gradient for one example of the batch alone. room: layer.units whole numbers. */
ptrdiff_t mfpg_inversion_exclusive_rows(const mfpg_inversion_subject *subject, const mfpg_dataset *batch,
    float *gradient, float *work, int *room);

/* The label of a single example by its gradient; NAN if that does not show it (regression). */
float mfpg_inversion_label(const mfpg_inversion_subject *subject, const float *gradient);

/* ---- inversion_optimise.c ---- */

/* The examples (batch x features) whose gradient has the direction of the given one. label: batch of them. If options.stop is
 * set, x is the best so far. */
ptrdiff_t mfpg_inversion_optimise_workspace(const mfpg_inversion_subject *subject); /* floats */
void mfpg_inversion_optimise(const mfpg_inversion_subject *subject, const mfpg_inversion_step *step,
    const float *gradient, const float *label, ptrdiff_t batch, const mfpg_stream *start, float *x,
    float *work);

/* Sum over the pictures x (rows of `features`, `width` a line; size numbers in all) of the sizes of the differences between
 * neighbours, to the right and downwards; its slope in x, times weight, is added to slope. The slope is taken as 0 if two
 * neighbours are equal. */
double mfpg_total_variation(
    ptrdiff_t size, ptrdiff_t features, ptrdiff_t width, const float *x, float weight, float *slope);

/* ---- inversion_identify.c ---- */

/* Tasks of one level. */
ptrdiff_t mfpg_inversion_guesses(const mfpg_inversion_options *options);

/* Fills correct, rate, lower, cap, median_rank and stands of every level (count of them; trials are of the options). */
mfpg_status mfpg_inversion_identify(mfpg_context *ctx, const mfpg_inversion_subject *subject,
    const mfpg_inversion_step *step, int count, mfpg_inversion_release release, mfpg_inversion_clock *clock,
    mfpg_inversion_level *level);

/* ---- inversion_study.c ---- */

/* Attacks one local step of the client that is least protected, at `levels` levels of noise: none, geometrically falling, and its
 * own. The attacker knows the model, the code, the noise's law and all other examples of the client. One step is attacked,
 * without drawn batches and without projections, even if the configuration has them; its view is that of the update itself.
 * mechanism and action as for mfpg_federation_create; w is the model that the step starts from. MFPG_ERR_INPUT for records as
 * particles, models without biases, fewer than 2 examples besides the batch; MFPG_ERR_DOMAIN for options out of range;
 * MFPG_ERR_NUMERIC for gradients or features that are not numbers; MFPG_ERR_INTERRUPTED; MFPG_ERR_MEMORY.
 * Memory: candidates x parameters floats, and about 20 times the parameters for every thread. */
mfpg_status mfpg_inversion_create(mfpg_context *ctx, const mfpg_inversion_options *options,
    const mfpg_federated_data *data, const mfpg_model *model, const mfpg_mechanism *const *mechanism,
    const mfpg_action *action, const float *w, mfpg_inversion **out);

/* The same of a subject, with another release. */
mfpg_status mfpg_inversion_create_by(mfpg_context *ctx, const mfpg_inversion_subject *subject,
    mfpg_inversion_release release, mfpg_inversion **out);

/* How near a picture comes to another, entries in [0, 1]: -10 log10 of the mean square error, at most 100; structural similarity
 * (constants 1e-4 and 9e-4, population moments), the mean over all places of an 11 x 11 Gaussian window of standard deviation
 * 1.5, or one window for everything if the picture is smaller or has height 1 (row-major, width x height); Pearson's
 * correlation, 0 if either has no variance. */
double mfpg_picture_psnr(ptrdiff_t n, const double *x, const double *y);
double mfpg_picture_ssim(ptrdiff_t width, ptrdiff_t height, const double *x, const double *y);
double mfpg_picture_pearson(ptrdiff_t n, const double *x, const double *y);

#endif
