/* The parts of the study of gradient inversion: the attacked step (at each level of noise), the attacks, and
 * the guesses among candidates. Gradients are in the units of the clip: the sum of the clipped gradients of
 * the examples, the clipped gradient of the client, or its clipped update. */
#ifndef MFPG_AUDIT_INVERSION_H
#define MFPG_AUDIT_INVERSION_H

#include <jansson.h>

#include "mfpg/inversion.h"

#include "mfpg/mechanism.h"
#include "mfpg/program.h"
#include "base/memory.h"
#include "models/model_ops.h"

/* ---- inversion_subject.c: which client is attacked, and with which examples ---- */

/* The data that do not depend on the noise level. */
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
    float *other; /* for each victim, a random example that is not a victim */
    float *mean;  /* one per feature: mean of all examples that are not victims */
    mfpg_pool memory;
} mfpg_inversion_subject;

/* Borrows all but the data. */
mfpg_status mfpg_inversion_subject_create(mfpg_context *ctx, const mfpg_inversion_options *options,
    const mfpg_federated_data *data, const mfpg_model *model, const mfpg_mechanism *const *mechanism,
    const mfpg_action *action, const float *w, mfpg_inversion_subject *out);
void mfpg_inversion_subject_clear(mfpg_inversion_subject *subject);

/* Uses of the streams of the audit's purpose; the round number of a stream is the use times 64 plus the
 * level. */
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
    /* zero-out; +INFINITY: no noise, and of the following fields only clip, rate and kind are set */
    double mu;
    mfpg_mechanism *mechanism; /* owned */
    mfpg_release release;      /* of the step, with its noise */
    ptrdiff_t rows;            /* declared */
    double unit;               /* how far weights move per unit of gradient */
    double sd;                 /* sd of the noise, in the units of the gradient */
    double clip;               /* +INFINITY: none */
    double rate;               /* of MFPG_INVERSION_UPDATE */
    mfpg_inversion_clip kind;
    float *rest; /* one per parameter: the weights after the step without data and noise */
} mfpg_inversion_step;

/* Fills the levels, at most options->levels, from no noise to the client's own; *count is their number. */
mfpg_status mfpg_inversion_steps_create(
    mfpg_context *ctx, const mfpg_inversion_subject *subject, mfpg_inversion_step *step, int *count);
void mfpg_inversion_steps_clear(mfpg_inversion_step *step, int count);

/* Returns the floats of work that the two functions below need, at any of the levels. */
ptrdiff_t mfpg_inversion_workspace(
    const mfpg_inversion_subject *subject, const mfpg_inversion_step *step, int count);

/* Computes the clipped gradient of a batch, without noise. */
void mfpg_inversion_gradient(const mfpg_inversion_subject *subject, const mfpg_inversion_step *step,
    const mfpg_dataset *batch, float *gradient, float *work);

/* What the attacker sees of a batch: the release of the library's mechanism, converted to a gradient. It is
 * a function pointer, so that tests can release too much. */
typedef mfpg_status (*mfpg_inversion_release)(mfpg_context *ctx, const mfpg_inversion_subject *subject,
    const mfpg_inversion_step *step, const mfpg_dataset *batch, const mfpg_stream *noise, float *gradient,
    float *work);
mfpg_status mfpg_inversion_release_step(mfpg_context *ctx, const mfpg_inversion_subject *subject,
    const mfpg_inversion_step *step, const mfpg_dataset *batch, const mfpg_stream *noise, float *gradient,
    float *work);

/* Runs count tasks in portions; between portions stop is read and progress is reported. Afterwards `done`
 * more of the study's total tasks are complete. */
typedef struct mfpg_inversion_clock {
    int64_t done, total;
} mfpg_inversion_clock;
mfpg_status mfpg_inversion_tasks(mfpg_context *ctx, const mfpg_inversion_options *options,
    mfpg_inversion_clock *clock, ptrdiff_t count, mfpg_task task, void *arg);

/* Returns 1 if the caller wants the study to end. */
int mfpg_inversion_stopped(const mfpg_inversion_options *options);

/* ---- inversion_layer.c: examples from the gradient of a layer of `rows` units, dw rows x inputs, db rows ---- */

/* Computes x = dw'db / |db|^2, least squares over the rows; all zero if db is zero. */
void mfpg_invert_least_squares(
    ptrdiff_t rows, ptrdiff_t inputs, const double *dw, const double *db, double *x);

/* Computes x = v[0..inputs) / v[inputs], where v is the leading right singular vector of [dw | db], by power
 * iterations that start from the least squares solution. It is better than that solution if the signal
 * exceeds the noise. work: rows. Returns the singular value; 0, with x all zero, if dw and db are zero. */
double mfpg_invert_singular(
    ptrdiff_t rows, ptrdiff_t inputs, const double *dw, const double *db, double *x, double *work);

/* Batch examples (features each) from the rows of the first layer's gradient. */
ptrdiff_t mfpg_inversion_rows_workspace(const mfpg_inversion_subject *subject); /* doubles */
void mfpg_inversion_rows(const mfpg_inversion_subject *subject, const float *gradient, double sd,
    ptrdiff_t batch, double *x, double *work);

/* Returns the number of rows whose gradient comes from one example of the batch only. room: layer.units
 * whole numbers. */
ptrdiff_t mfpg_inversion_exclusive_rows(const mfpg_inversion_subject *subject, const mfpg_dataset *batch,
    float *gradient, float *work, int *room);

/* Returns the label of a single example, read from its gradient; NAN if the gradient does not reveal it
 * (regression). */
float mfpg_inversion_label(const mfpg_inversion_subject *subject, const float *gradient);

/* ---- inversion_optimise.c ---- */

/* Finds examples (batch x features) whose gradient has the direction of the given one. label: one per
 * example. If options.stop is set, x is the best so far. */
ptrdiff_t mfpg_inversion_optimise_workspace(const mfpg_inversion_subject *subject); /* floats */
void mfpg_inversion_optimise(const mfpg_inversion_subject *subject, const mfpg_inversion_step *step,
    const float *gradient, const float *label, ptrdiff_t batch, const mfpg_stream *start, float *x,
    float *work);

/* Returns the sum, over the pictures x (rows of `features`, `width` per line; size numbers in all), of the
 * absolute differences between neighbours to the right and below. Its slope in x, times weight, is added to
 * slope; the slope is 0 if two neighbours are equal. */
double mfpg_total_variation(
    ptrdiff_t size, ptrdiff_t features, ptrdiff_t width, const float *x, float weight, float *slope);

/* ---- inversion_identify.c ---- */

/* Tasks of one level. */
ptrdiff_t mfpg_inversion_guesses(const mfpg_inversion_options *options);

/* Fills correct, rate, lower, cap, median_rank and stands of every level (count levels; the number of trials
 * is in the options). */
mfpg_status mfpg_inversion_identify(mfpg_context *ctx, const mfpg_inversion_subject *subject,
    const mfpg_inversion_step *step, int count, mfpg_inversion_release release, mfpg_inversion_clock *clock,
    mfpg_inversion_level *level);

/* ---- inversion_study.c ---- */

/* Attacks one local step of the least protected client at `levels` levels of noise: none, geometrically
 * decreasing, and its own. The attacker knows the model, the code, the noise's law and all other examples of
 * the client. One step is attacked, without drawn batches and without projections, even if the configuration
 * has them; the attacker sees the update itself. mechanism and action as for mfpg_federation_create; w is
 * the model from which the step starts. MFPG_ERR_INPUT for records as particles, models without biases,
 * fewer than 2 examples outside the batch; MFPG_ERR_DOMAIN for options out of range; MFPG_ERR_NUMERIC for
 * gradients or features that are not finite; MFPG_ERR_INTERRUPTED; MFPG_ERR_MEMORY. Memory: candidates x
 * parameters floats, and about 20 times the parameters for every thread. */
mfpg_status mfpg_inversion_create(mfpg_context *ctx, const mfpg_inversion_options *options,
    const mfpg_federated_data *data, const mfpg_model *model, const mfpg_mechanism *const *mechanism,
    const mfpg_action *action, const float *w, mfpg_inversion **out);

/* Does the same for a given subject, with another release. */
mfpg_status mfpg_inversion_create_by(mfpg_context *ctx, const mfpg_inversion_subject *subject,
    mfpg_inversion_release release, mfpg_inversion **out);

/* How similar two pictures are, with entries in [0, 1]: -10 log10 of the mean square error, at most 100;
 * structural similarity (constants 1e-4 and 9e-4, population moments), the mean over all places of an 11 x
 * 11 Gaussian window of standard deviation 1.5, or one window for everything if the picture is smaller or
 * has height 1 (row-major, width x height); and Pearson's correlation, 0 if either has no variance. */
double mfpg_picture_psnr(ptrdiff_t n, const double *x, const double *y);
double mfpg_picture_ssim(ptrdiff_t width, ptrdiff_t height, const double *x, const double *y);
double mfpg_picture_pearson(ptrdiff_t n, const double *x, const double *y);

/* Returns the pictures of at most MFPG_PICTURES_SHOWN examples in base64, null if the
 * rows are not pictures. */
enum { MFPG_PICTURES_SHOWN = 8 };
mfpg_status mfpg_inversion_pictures_json(mfpg_context *ctx, const mfpg_inversion *inversion, json_t **out);

/* Writes FOLDER/inversion.png with a row for each example: original, closed form by level, optimisation by
 * level, mean. Nothing is written if the rows are not pictures; *written tells whether it was. */
mfpg_status mfpg_inversion_write_grid(
    mfpg_context *ctx, const mfpg_inversion *inversion, const char *folder, int *written);

#endif
