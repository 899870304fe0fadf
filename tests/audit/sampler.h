/* Who took part when, and whether independent coins of one rate can have chosen them. */
#ifndef TESTS_AUDIT_SAMPLER_H
#define TESTS_AUDIT_SAMPLER_H

#include "testing.h"

#include "base/streams.h"

#include "mfpg/random.h"
#include "numerics/special/laws.h"

enum { MOST_MEMBERS = 16 };

/* taken[draw x members + i]: member i took part. The rate is 1/epoch, of which draws hold a whole number. */
typedef struct attendance {
    int members, draws, epoch;
    unsigned char *taken;
} attendance;

static inline attendance attendance_open(int members, int draws, int epoch) {
    attendance a = {members, draws, epoch, calloc((size_t)members * (size_t)draws, 1)};
    assert_true(a.taken && members <= MOST_MEMBERS && draws % epoch == 0);
    return a;
}

static inline void attendance_close(attendance *a) {
    free(a->taken);
}

static inline unsigned char *attendance_of(const attendance *a, int draw) {
    return a->taken + (ptrdiff_t)draw * a->members;
}

enum {
    SAMPLER_RATE = 1,  /* some member takes part too often, or too seldom */
    SAMPLER_SIZES = 2, /* the number of members varies less than N q (1 - q), or more */
    SAMPLER_PAIRS = 4, /* two members take part together too often, or too seldom */
    SAMPLER_EPOCHS = 8 /* how often a member takes part exactly once in 1/q draws */
};

/* Whether a count of independent coins would lie so far out, on either side, once in 10^7 times. */
static inline int too_far(int64_t count, int64_t trials, double rate) {
    return mfpg_binomial_lower_tail(count, trials, rate) < 5e-8 ||
           mfpg_binomial_upper_tail(count, trials, rate) < 5e-8;
}

static inline int sampler_members(const attendance *a) {
    int found = 0;
    double rate = 1.0 / a->epoch;
    for (int i = 0; i < a->members; i++) {
        for (int j = 0; j <= i; j++) {
            int64_t together = 0;
            for (int draw = 0; draw < a->draws; draw++)
                together += attendance_of(a, draw)[i] && attendance_of(a, draw)[j];
            if (i == j && too_far(together, a->draws, rate)) found |= SAMPLER_RATE;
            if (i != j && too_far(together, a->draws, rate * rate)) found |= SAMPLER_PAIRS;
        }
    }
    return found;
}

/* A variance of D sizes, which are nearly normal, has a standard error of v sqrt(2/D). */
static inline double variance_of_sizes(const attendance *a) {
    double mean = 0.0, squares = 0.0;
    for (int draw = 0; draw < a->draws; draw++) {
        double size = 0.0;
        for (int i = 0; i < a->members; i++) size += attendance_of(a, draw)[i];
        mean += size;
        squares += size * size;
    }
    mean /= a->draws;
    return squares / a->draws - mean * mean;
}

static inline int sampler_sizes(const attendance *a) {
    double rate = 1.0 / a->epoch, expected = a->members * rate * (1.0 - rate);
    double far = 5.5 * expected * sqrt(2.0 / a->draws);
    return fabs(variance_of_sizes(a) - expected) > far ? SAMPLER_SIZES : 0;
}

/* Exactly once in an epoch of l draws: (1 - 1/l)^(l-1), about 1/e. Shuffled epochs: always. */
static inline int sampler_epochs(const attendance *a) {
    int64_t once = 0, epochs = a->draws / a->epoch;
    for (int64_t e = 0; e < epochs; e++) {
        for (int i = 0; i < a->members; i++) {
            int times = 0;
            for (int draw = 0; draw < a->epoch; draw++)
                times += attendance_of(a, (int)(e * a->epoch) + draw)[i];
            once += times == 1;
        }
    }
    return too_far(once, epochs * a->members, pow(1.0 - 1.0 / a->epoch, a->epoch - 1)) ? SAMPLER_EPOCHS : 0;
}

static inline int sampler_faults(const attendance *a) {
    return sampler_members(a) | sampler_sizes(a) | sampler_epochs(a);
}

/* ---- samplers that are not the library's ---- */

typedef enum sampler_double {
    DOUBLE_ALWAYS,   /* everybody in every draw */
    DOUBLE_FIXED,    /* N q of N without replacement */
    DOUBLE_SHUFFLED, /* an order of everybody, cut into 1/q pieces */
    DOUBLE_BINOMIAL, /* a binomial number, then so many without replacement: which is Poisson after all */
    DOUBLE_COMMON    /* one coin for all */
} sampler_double;

static inline void attend_by_order(attendance *a, int draw, const ptrdiff_t *order, int from, int to) {
    for (int i = from; i < to; i++) attendance_of(a, draw)[order[i]] = 1;
}

static inline void attend(attendance *a, sampler_double kind, uint64_t seed) {
    const mfpg_key key = mfpg_key_from_seed(seed);
    ptrdiff_t order[MOST_MEMBERS];
    for (int draw = 0; draw < a->draws; draw++) {
        int shuffled = kind == DOUBLE_SHUFFLED, piece = shuffled ? draw % a->epoch : 0, size = 0;
        mfpg_stream stream =
            mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 60, (uint64_t)(shuffled ? draw / a->epoch : draw));
        mfpg_stream coins = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 61, (uint64_t)draw);
        mfpg_stream_permutation(&stream, a->members, order);
        for (int i = 0; i < a->members; i++) {
            int heads =
                mfpg_stream_below(&coins, kind == DOUBLE_COMMON ? 0 : (uint64_t)i, (uint64_t)a->epoch) == 0;
            size += kind == DOUBLE_ALWAYS || ((kind == DOUBLE_BINOMIAL || kind == DOUBLE_COMMON) && heads);
        }
        if (kind == DOUBLE_FIXED) size = a->members / a->epoch;
        if (shuffled) size = (piece + 1) * a->members / a->epoch;
        attend_by_order(a, draw, order, piece * a->members / a->epoch, size);
    }
}

#endif
