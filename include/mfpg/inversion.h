/** Gradient inversion: an attacker who sees one update of a client rebuilds the examples from which it was
 *  computed.
 *
 *  The gradient of a layer that the features enter is the outer product of the features and the
 *  back-propagated error, and that error is the gradient of the layer's biases, so their quotient is the
 *  example. The clip divides both by the same number and protects nothing; only noise protects. Next to the
 *  pictures the report has what can be proved: how often the attacker identifies the client's example among
 *  some candidates, and the largest rate that the noise allows. A blurred picture is no evidence of privacy.
 *
 *  The attack is on one local step of the least protected client, at noise levels from none to the client's
 *  own (mfpg_experiment_invert). Everything here reads private data, and no certificate covers the results.
 *  Sources: Phong et al. 2018 (quotient); Zhu, Liu and Han 2019, Geiping et al. 2020 (optimisation); Balle,
 *  Cherubin and Hayes 2022, Hayes, Mahloujifar and Balle 2023 (candidates); Wang et al. 2004 (SSIM);
 *  docs/audit.md. */
#ifndef MFPG_INVERSION_H
#define MFPG_INVERSION_H

#include <stddef.h>
#include <stdint.h>

typedef struct mfpg_inversion_options {
    ptrdiff_t examples; /* number of attacked examples, 1 to 10,000; rounded down to whole batches */
    ptrdiff_t batch;    /* examples in one update, 1 to 64 */
    /* number of candidates, one of which is the client's example: 2 to 10,000, at most the number of
     * available examples */
    ptrdiff_t candidates;
    int64_t trials; /* guesses among the candidates at every noise level, 1 to 10^6 */
    int levels;     /* noise levels, from none to the configured one, 2 to 32 */
    int iterations; /* iterations of the attack by optimisation, 0 to 100,000; 0: this attack is skipped */
    int restarts;   /* restarts of that attack, 1 to 100; the result with the best objective is kept */
    /* in (0, 1): the probability with which everything proved, at all levels, holds together */
    double confidence;
    /* width of pictures, a divisor of the number of features; 0: the rows are not pictures */
    ptrdiff_t width;
    uint64_t seed; /* results depend only on it and on what is attacked, not on the number of threads */
    /* checked from time to time; if it is not 0, the call fails with MFPG_ERR_INTERRUPTED. NULL: never
     * checked */
    const volatile int *stop;
    void (*progress)(void *user, int64_t done,
        int64_t total); /* called from time to time in the calling thread; may be NULL */
    void *progress_user;
} mfpg_inversion_options;

/** Returns the defaults: 40 examples, one per batch, 100 candidates, 400 trials, 6 levels, 300 iterations, 2
 *  restarts, confidence 0.99, no pictures, seed 1. */
mfpg_inversion_options mfpg_inversion_options_default(void);

typedef struct mfpg_inversion mfpg_inversion;

typedef struct mfpg_extent {
    double least, median, most;
} mfpg_extent;

typedef struct mfpg_likeness {
    double psnr, ssim, pearson;
} mfpg_likeness;

/** Means over the attacked examples; NAN if none was attacked. */
typedef struct mfpg_likeness_pair {
    mfpg_likeness median, best;
} mfpg_likeness_pair;

typedef struct mfpg_inversion_summary {
    ptrdiff_t client; /* the client whose mechanism was attacked: the one with the largest mu per step */
    ptrdiff_t examples, batch, candidates;
    int64_t trials;
    int levels;
    ptrdiff_t width, height; /* 0 if the rows are no pictures */
    ptrdiff_t features;      /* entries of a row */
    double low, high;        /* range of all features, shown as 0 (black) and 1 (white) */
    /* 1: the labels were given to the attacker; 0: it reads them off the gradient */
    int labels_known;
    mfpg_extent gradient_norm; /* of an example, before the clip */
    /* the factor by which the clip multiplies the example's gradient (client unit: the batch's gradient) */
    mfpg_extent clip_factor;
    ptrdiff_t rows; /* of the first layer */
    /* number of these rows, for one batch, that are active for exactly one of its examples, which each such
     * row reveals */
    mfpg_extent exclusive_rows;
    mfpg_likeness_pair mean;  /* chance level: the mean of the examples that are not attacked, as a guess */
    mfpg_likeness_pair other; /* and a random one of them */
    /* 0: candidates were identified more often than the noise allows, so the promise is broken */
    int stands;
} mfpg_inversion_summary;

typedef struct mfpg_inversion_level {
    double mu; /* zero-out mu of one local step; +INFINITY: no noise */
    /* sd per entry of the sum of clipped gradients; examples (client unit: the sum) are clipped to `clip` */
    double noise_sd;
    double clip;    /* +INFINITY: none */
    int configured; /* 1: the noise of the client's mechanism; 0: Gaussian noise after the same clip */
    mfpg_likeness_pair closed_form, optimisation;
    int64_t correct; /* of the trials */
    /* observed share of correct guesses; proved lower bound on the probability; largest probability that mu
     * allows */
    double rate, lower, cap;
    double median_rank; /* of the true candidate, 1 the best */
    int stands;         /* lower <= cap */
} mfpg_inversion_level;

typedef enum mfpg_inversion_picture {
    MFPG_PICTURE_ORIGINAL = 0, /* any level */
    MFPG_PICTURE_CLOSED_FORM,
    MFPG_PICTURE_OPTIMISATION,
    MFPG_PICTURE_MEAN /* any level and example */
} mfpg_inversion_picture;

/** Of mfpg_experiment_invert. */
void mfpg_inversion_destroy(mfpg_inversion *inversion);

mfpg_inversion_summary mfpg_inversion_summarise(const mfpg_inversion *inversion);

/** Returns the results of a level, level in [0, levels). Level 0 has no noise and the last level has the
 *  configured noise. */
mfpg_inversion_level mfpg_inversion_at(const mfpg_inversion *inversion, int level);

/** Returns the entries of a picture, one number in [0, 1] per feature, valid until the inversion is
 *  destroyed; NULL if that picture does not exist. */
const float *mfpg_inversion_picture_of(
    const mfpg_inversion *inversion, mfpg_inversion_picture kind, int level, ptrdiff_t example);

#endif
