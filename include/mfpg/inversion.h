/** Gradient inversion: an attacker who sees one update of a client rebuilds the examples that it was computed from.
 *
 *  The gradient of a layer that the features enter is the outer product of the features and the back-propagated error, which is
 *  the gradient of the layer's biases: their quotient is the example. The clip divides both by one number and protects nothing;
 *  what protects is noise. Next to the pictures is what is provable: how often the attacker tells which of some candidates the
 *  client had, and the most that the noise admits. A blurred picture is no evidence of privacy.
 *
 *  One local step of the least protected client is attacked, at levels of noise from none to its own (mfpg_experiment_invert).
 *  Everything here reads private data, and no certificate covers what it returns. Sources: Phong et al. 2018 (quotient); Zhu,
 *  Liu and Han 2019, Geiping et al. 2020 (optimisation); Balle, Cherubin and Hayes 2022, Hayes, Mahloujifar and Balle 2023
 *  (candidates); Wang et al. 2004 (SSIM); docs/audit.md. */
#ifndef MFPG_INVERSION_H
#define MFPG_INVERSION_H

#include <stddef.h>
#include <stdint.h>

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
    uint64_t seed;     /* results are a function of it and what is attacked, for any number of threads */
    const volatile int *stop; /* read now and then; not 0: MFPG_ERR_INTERRUPTED. NULL: never */
    void (*progress)(void *user, int64_t done,
        int64_t total); /* called now and then, in the calling thread; may be NULL */
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

/** Over the examples that were attacked; NAN if none was. */
typedef struct mfpg_likeness_pair {
    mfpg_likeness median, best;
} mfpg_likeness_pair;

typedef struct mfpg_inversion_summary {
    ptrdiff_t client; /* whose mechanism was attacked: the one with the largest mu of a step */
    ptrdiff_t examples, batch, candidates;
    int64_t trials;
    int levels;
    ptrdiff_t width, height;   /* 0 if the rows are no pictures */
    ptrdiff_t features;        /* entries of a row */
    double low, high;          /* the box of all features, shown as 0 and 1 */
    int labels_known;          /* 1: given to the attacker; 0: it reads them off the gradient */
    mfpg_extent gradient_norm; /* of an example, before the clip */
    mfpg_extent clip_factor;   /* what its gradient (client unit: that of the batch) is multiplied by */
    ptrdiff_t rows;            /* of the first layer */
    /* of these, for one batch: active for one of its examples alone, which each gives away */
    mfpg_extent exclusive_rows;
    mfpg_likeness_pair mean;  /* chance level: the mean of the examples that are not attacked */
    mfpg_likeness_pair other; /* and a random one of them */
    int stands;               /* 0: candidates were told apart better than the noise admits */
} mfpg_inversion_summary;

typedef struct mfpg_inversion_level {
    double mu; /* zero-out, of one local step; +INFINITY: no noise */
    double
        noise_sd; /* of an entry of the sum of clipped gradients; examples (client unit: the sum) are clipped to `clip` */
    double clip;    /* +INFINITY: none */
    int configured; /* 1: the noise of the client; 0: Gaussian noise after the same clip */
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

/** Of mfpg_experiment_invert. */
void mfpg_inversion_destroy(mfpg_inversion *inversion);

mfpg_inversion_summary mfpg_inversion_summarise(const mfpg_inversion *inversion);

/** Level 0 has no noise; the last one is the configured one. level in [0, levels). */
mfpg_inversion_level mfpg_inversion_at(const mfpg_inversion *inversion, int level);

/** The entries of a picture, features of them in [0, 1], until the inversion is destroyed; NULL if there is none. */
const float *mfpg_inversion_picture_of(
    const mfpg_inversion *inversion, mfpg_inversion_picture kind, int level, ptrdiff_t example);

#endif
