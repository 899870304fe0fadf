/** Gradient inversion: an attacker who sees one update of a client rebuilds the examples that it was computed from.
 *
 *  The gradient of a layer that the features enter is the outer product of the features and the back-propagated error, which is
 *  the gradient of the layer's biases: their quotient is the example. The clip divides both by one number and protects nothing;
 *  what protects is noise. Beside the pictures stands what is provable: how often the attacker tells which of some candidates the client
 *  had, against the most that the noise admits. A blurred picture is no evidence of privacy.
 *
 *  Everything here reads private data, and no certificate covers what it returns. Sources: Phong et al. 2018 (quotient); Zhu, Liu and
 *  Han 2019, Geiping et al. 2020 (optimisation); Balle, Cherubin and Hayes 2022, Hayes, Mahloujifar and Balle 2023 (candidates);
 *  Wang et al. 2004 (SSIM); docs/audit.md. */
#ifndef MFPG_INVERSION_H
#define MFPG_INVERSION_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "dataset.h"
#include "mechanism.h"
#include "model.h"

/* ---- closed forms: a layer of `rows` units and `inputs` inputs, dw rows x inputs, db rows ---- */

/** x = dw'db / |db|^2, least squares over the rows. All zero where db is. Threads: safe. Memory: allocates nothing. */
void mfpg_invert_least_squares(
    ptrdiff_t rows, ptrdiff_t inputs, const double *dw, const double *db, double *x);

/** x = v[0..inputs) / v[inputs] with v the leading right singular vector of [dw | db], by power iterations from the least
 *  squares; better than these while the signal exceeds the noise.
 *  @param work  rows doubles
 *  @return the singular value; 0, with x all zero, where dw and db are. */
double mfpg_invert_singular(
    ptrdiff_t rows, ptrdiff_t inputs, const double *dw, const double *db, double *x, double *work);

/** What least squares gives from an example x under noise, to second order: its mean is slope x, and mse the mean square error of an entry. */
typedef struct mfpg_invert_prediction {
    double slope, mse;
} mfpg_invert_prediction;

/** @param signal  |db|^2 without noise, after the clip  @param sd  of the noise of an entry  @param norm2  |x|^2
 *  NAN for numbers out of range. */
mfpg_invert_prediction mfpg_invert_predict(
    double signal, double sd, ptrdiff_t rows, double norm2, ptrdiff_t inputs);

/* ---- how near a picture comes: entries in [0, 1] ---- */

/** -10 log10 of the mean square error, at most 100. */
double mfpg_picture_psnr(ptrdiff_t n, const double *x, const double *y);

/** Structural similarity (constants 1e-4 and 9e-4, population moments), the mean over all places of an 11 x 11 Gaussian window of
 *  standard deviation 1.5; pictures that are smaller, and rows that are none (height 1), have one window for everything. Row-major, width x height. */
double mfpg_picture_ssim(ptrdiff_t width, ptrdiff_t height, const double *x, const double *y);

/** Pearson's correlation of the entries; 0 where either has no variance. */
double mfpg_picture_pearson(ptrdiff_t n, const double *x, const double *y);

/* ---- the study ---- */

typedef struct mfpg_inversion_options {
    ptrdiff_t examples; /* that are attacked, 1 to 10,000; as many whole batches as there are examples for */
    ptrdiff_t batch;    /* examples in one update, 1 to 64 */
    ptrdiff_t
        candidates;    /* of which one is the client's, 2 to 10,000; at most as many as there are examples */
    int64_t trials;    /* guesses among them at every level, 1 to 10^6 */
    int levels;        /* of noise, from none to the configured one, 2 to 32 */
    int iterations;    /* of the attack by optimisation, 0 to 100,000; 0: it is left out */
    int restarts;      /* of it, 1 to 100; the best objective is kept */
    double confidence; /* in (0, 1): that what is proved at all levels holds */
    ptrdiff_t width;   /* of pictures, a divisor of the features; 0: the rows are no pictures */
    uint64_t seed;     /* results are a function of it and what is attacked, whatever the threads */
    const volatile int *stop; /* looked at now and then; not 0: MFPG_ERR_INTERRUPTED. NULL: never */
    void (*progress)(void *user, int64_t done, int64_t total); /* now and then, calling thread; may be NULL */
    void *progress_user;
} mfpg_inversion_options;

/** 40 examples, one a batch, 100 candidates, 400 trials, 6 levels, 300 iterations, 2 restarts, 0.99, no pictures, seed 1. */
mfpg_inversion_options mfpg_inversion_options_default(void);

typedef struct mfpg_inversion mfpg_inversion;

typedef struct mfpg_extent {
    double least, median, most;
} mfpg_extent;

typedef struct mfpg_likeness {
    double psnr, ssim, pearson;
} mfpg_likeness;

/** Over the examples that were attacked; NAN where nothing was. */
typedef struct mfpg_likeness_pair {
    mfpg_likeness median, best;
} mfpg_likeness_pair;

typedef struct mfpg_inversion_summary {
    ptrdiff_t client; /* whose mechanism was attacked: the one with the largest mu of a step */
    ptrdiff_t examples, batch, candidates;
    int64_t trials;
    int levels;
    ptrdiff_t width, height;   /* 0 where the rows are no pictures */
    ptrdiff_t features;        /* entries of a row */
    double low, high;          /* the box of all features, shown as 0 and 1 */
    int labels_known;          /* 1: given to the attacker; 0: it reads them off the gradient */
    mfpg_extent gradient_norm; /* of an example, before the clip */
    mfpg_extent clip_factor;   /* what its gradient (client unit: that of the batch) is multiplied by */
    ptrdiff_t rows;            /* of the first layer */
    mfpg_extent
        exclusive_rows; /* of these, of one batch: active for one of its examples alone, which each gives away */
    mfpg_likeness_pair mean;  /* chance level: the mean of the examples that are not attacked */
    mfpg_likeness_pair other; /* and a random one of them */
    int stands;               /* 0: candidates were told apart better than the noise admits */
} mfpg_inversion_summary;

typedef struct mfpg_inversion_level {
    double mu; /* zero-out, of one local step; +INFINITY: no noise */
    double
        noise_sd; /* of an entry of the sum of clipped gradients, whose examples (client: which) are clipped to `clip` */
    double clip;    /* +INFINITY: none */
    int configured; /* 1: the noise of the client; 0: Gaussian noise behind the same clip */
    mfpg_likeness_pair closed_form, optimisation;
    int64_t correct;         /* of the trials */
    double rate, lower, cap; /* share; proved of the chance; most that mu admits */
    double median_rank;      /* of the true candidate, 1 the best */
    int stands;              /* lower <= cap */
} mfpg_inversion_level;

typedef enum mfpg_inversion_picture {
    MFPG_PICTURE_ORIGINAL = 0, /* any level */
    MFPG_PICTURE_CLOSED_FORM,
    MFPG_PICTURE_OPTIMISATION,
    MFPG_PICTURE_MEAN /* any level and example */
} mfpg_inversion_picture;

/** Attacks one local step of the client that is least protected, at `levels` levels of noise: none, geometrically falling, and its own.
 *  The attacker knows the model, the code, the noise's law and all other examples of the client. One step is attacked, without batches drawn by lot and
 *  without projections, whatever the configuration has of them; its view is that of the update itself.
 *  @param[in]  mechanism, action  clients entries, as for mfpg_federation_create
 *  @param[in]  w    the model that the step starts from, mfpg_model_parameters floats
 *  @param[out] out  free with mfpg_inversion_destroy; set only on success
 *  @return MFPG_OK, also where candidates were told apart too well; MFPG_ERR_INPUT for records as particles, models without biases,
 *  fewer than 2 examples beside the batch; MFPG_ERR_DOMAIN for options out of range; MFPG_ERR_NUMERIC for gradients or features that
 *  are no numbers; MFPG_ERR_INTERRUPTED; MFPG_ERR_MEMORY.
 *  Memory: candidates x parameters floats, and about 20 times the parameters for every thread. */
mfpg_status mfpg_inversion_create(mfpg_context *ctx, const mfpg_inversion_options *options,
    const mfpg_federated_data *data, const mfpg_model *model, const mfpg_mechanism *const *mechanism,
    const mfpg_action *action, const float *w, mfpg_inversion **out);
void mfpg_inversion_destroy(mfpg_inversion *inversion);

mfpg_inversion_summary mfpg_inversion_summarise(const mfpg_inversion *inversion);

/** Level 0 has no noise; the last one is the configured one. level in [0, levels). */
mfpg_inversion_level mfpg_inversion_at(const mfpg_inversion *inversion, int level);

/** The entries of a picture, features of them in [0, 1], until the inversion is destroyed; NULL where there is none. */
const float *mfpg_inversion_picture_of(
    const mfpg_inversion *inversion, mfpg_inversion_picture kind, int level, ptrdiff_t example);

#endif
