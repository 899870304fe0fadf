/* What is left of releases when everything but their noise is taken away, and what is wrong with it. */
#ifndef TESTS_AUDIT_RESIDUALS_H
#define TESTS_AUDIT_RESIDUALS_H

#include "audit/fixture.h"

#include "audit/audit_game.h"
#include "audit/planning.h"
#include "mechanisms/mechanism_ops.h"
#include "numerics/special/laws.h"
#include "statistics.h"
#include "federation/federation_core.h"
#include "thread_ranks.h"

/* vectors x width numbers, N(0, 1) where the noise is what was promised. */
typedef struct residuals {
    int vectors;
    ptrdiff_t width;
    double *z;
} residuals;

static inline residuals residuals_open(int vectors, ptrdiff_t width) {
    residuals r = {vectors, width, calloc((size_t)vectors * (size_t)width, sizeof(double))};
    assert_non_null(r.z);
    return r;
}

static inline void residuals_close(residuals *r) {
    free(r->z);
}

static inline double *residual(const residuals *r, int vector) {
    return r->z + vector * r->width;
}

/* ---- what may be wrong with them ---- */

enum {
    NOISE_THIN = 1,    /* less of it than was promised */
    NOISE_LOUD = 2,    /* more */
    NOISE_OFF = 4,     /* its mean is not 0 */
    NOISE_TAILED = 8,  /* it is not Gaussian: kurtosis */
    NOISE_ALIKE = 16,  /* two vectors are correlated */
    NOISE_EQUAL = 32,  /* two vectors are the same */
    NOISE_LAGGED = 64, /* entries of a vector are correlated with those a few places on */
};

static inline double inner(const double *a, const double *b, ptrdiff_t n) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static inline double correlation(const double *a, const double *b, ptrdiff_t n) {
    return inner(a, b, n) / sqrt(inner(a, a, n) * inner(b, b, n));
}

static inline int find_pairs(const residuals *r) {
    int found = 0;
    for (int a = 0; a < r->vectors; a++) {
        for (int b = 0; b < a; b++) {
            double c = correlation(residual(r, a), residual(r, b), r->width);
            if (fabs(c) * sqrt((double)r->width) > 5.5) found |= NOISE_ALIKE;
            if (memcmp(residual(r, a), residual(r, b), (size_t)r->width * sizeof(double)) == 0)
                found |= NOISE_EQUAL;
        }
    }
    return found;
}

/* Lags up to 64: a block of the generator is 16 numbers of 32 bits. */
static inline int find_lags(const residuals *r) {
    for (ptrdiff_t lag = 1; lag <= 64 && lag < r->width; lag++) {
        double sum = 0.0, terms = (double)r->vectors * (double)(r->width - lag);
        for (int v = 0; v < r->vectors; v++)
            sum += inner(residual(r, v), residual(r, v) + lag, r->width - lag);
        if (fabs(sum) / sqrt(terms) > 5.5) return NOISE_LAGGED;
    }
    return 0;
}

/* Each question is answered wrongly of honest noise less than once in a million times. */
static inline int what_is_wrong(const residuals *r) {
    double n = (double)r->vectors * (double)r->width, mean = 0.0, squares = 0.0, fourths = 0.0;
    for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i++) {
        double square = r->z[i] * r->z[i];
        mean += r->z[i] / n;
        squares += square;
        fourths += square * square / n;
    }
    int found = find_pairs(r) | find_lags(r);
    if (plan_noise_pvalue(squares, n) < 1e-6) found |= NOISE_THIN;
    if (1.0 - chi_square_lower(squares, n) < 1e-6) found |= NOISE_LOUD;
    if (fabs(mean) * sqrt(n) > 5.0) found |= NOISE_OFF;
    if (fabs(fourths * n * n / (squares * squares) - 3.0) > 5.0 * sqrt(24.0 / n)) found |= NOISE_TAILED;
    return found;
}

/* ---- runs in which no data move anything: what is released is noise ---- */

enum { NOISE_CLIENTS = 3, NOISE_ROUNDS = 3, NOISE_ROWS = 20 };

/* One path that noise takes to a release. */
typedef struct noise_path {
    const char *kind;
    mfpg_particles particles;
    mfpg_unit unit;
    mfpg_clip_at clip_at;
    int64_t steps;
    ptrdiff_t features; /* of a logistic model: as many parameters and one; and of the records */
    double factor;      /* of the promised deviation: what is really added */
} noise_path;

static inline int path_of_records(const noise_path *path) {
    return path->particles == MFPG_PARTICLES_DATA;
}

/* Parameters: a vector a client and round. Records, which are noised once: a vector a client. */
static inline residuals residuals_of_path(const noise_path *path) {
    if (path_of_records(path)) return residuals_open(NOISE_CLIENTS, NOISE_ROWS * path->features);
    return residuals_open(NOISE_CLIENTS * NOISE_ROUNDS, path->features + 1);
}

/* One rank of a run. */
typedef struct noisy_run {
    mfpg_context *ctx;
    mfpg_key key;
    mfpg_federated_data *empty; /* records of nothing but zeros */
    mfpg_model *model, *canary;
    mfpg_mechanism *mechanism;
    const mfpg_mechanism *mechanisms[NOISE_CLIENTS];
    mfpg_action action[NOISE_CLIENTS];
    mfpg_canary_data canaries;
    mfpg_federation_options options;
    mfpg_federation *federation;
    double keep, penalty, sd; /* of a round without data: x' = keep x + penalty mean x + noise */
    residuals *out;
    mfpg_status status;
} noisy_run;

static inline mfpg_mechanism_options options_of_path(const noise_path *path) {
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.kind = path->kind;
    o.particles = path->particles;
    o.promise.unit = path->unit;
    o.clip_at = path->clip_at;
    o.local_steps = path->steps;
    if (path->steps > 1) o.variance_penalty = 0.0; /* the mean within a round is not seen */
    return o;
}

/* What a noise multiplier of 1 promises: noise as large as the zero-out sensitivity of a step. */
static inline double promised_sd(const noise_path *path, const mfpg_mechanism_options *o) {
    double rate = strcmp(o->kind, "entropic") == 0 ? o->step : o->learning_rate;
    if (path_of_records(path)) return o->clip * (path->unit == MFPG_UNIT_CLIENT ? sqrt(NOISE_ROWS) : 1.0);
    if (path->clip_at == MFPG_CLIP_UPDATE) return o->clip;
    return rate * o->clip / (path->unit == MFPG_UNIT_EXAMPLE ? NOISE_ROWS : 1.0);
}

/* keep^K, and the noise of K steps, the earlier ones shrunk by the later ones. Decay: e tau/sigma^2 with e = sd^2/(2 tau). */
static inline void find_law(noisy_run *run, const noise_path *path, const mfpg_mechanism_options *o) {
    double sd = promised_sd(path, o), real = sd * path->factor, variance = 0.0, keep = 1.0;
    int entropic = strcmp(o->kind, "entropic") == 0;
    double decay = entropic ? 0.5 * real * real / o->prior_variance : 0.0;
    run->penalty = entropic ? o->step * o->variance_penalty : 0.0;
    int once = path_of_records(path) || path->clip_at == MFPG_CLIP_UPDATE;
    for (int64_t step = 0; step < (once ? 1 : path->steps); step++) {
        variance += keep * keep;
        keep *= 1.0 - decay - run->penalty;
    }
    run->keep = keep;
    run->sd = sd * sqrt(variance);
}

static inline void empty_records(noisy_run *run, const noise_path *path) {
    mfpg_data_options data = mfpg_data_options_default();
    data.format = "synthetic";
    data.synthetic = MFPG_SYNTHETIC_LOGISTIC;
    data.clients = NOISE_CLIENTS;
    data.rows = NOISE_ROWS;
    data.dimension = path_of_records(path) ? path->features : 1;
    data.test_fraction = 0;
    CHECK_OK(run->ctx, mfpg_federated_data_create(run->ctx, &data, &run->key, &run->empty));
    for (int k = 0; k < NOISE_CLIENTS; k++) {
        mfpg_dataset *train = &run->empty->client[k].train;
        memset(train->x, 0, (size_t)(train->rows * train->features) * sizeof *train->x);
        for (ptrdiff_t i = 0; i < train->rows && train->norm2; i++) train->norm2[i] = 0.0;
    }
}

static inline void run_open(noisy_run *run, const noise_path *path, int threads, const mfpg_group *group,
    uint64_t seed, residuals *out) {
    mfpg_context_options context = mfpg_context_options_default();
    mfpg_mechanism_options o = options_of_path(path);
    mfpg_model_options shape = {.kind = "logistic", .features = path->features, .classes = 2};
    *run = (noisy_run){.key = mfpg_key_from_seed(seed), .out = out};
    context.threads = threads;
    context.group = group;
    assert_int_equal(mfpg_context_create(&context, &run->ctx), MFPG_OK);
    empty_records(run, path);
    CHECK_OK(run->ctx, mfpg_model_create(run->ctx, &shape, &run->model));
    CHECK_OK(run->ctx, mfpg_canary_model_create(run->ctx, run->model, &run->canary));
    CHECK_OK(run->ctx, mfpg_mechanism_create(run->ctx, &o, &run->mechanism));
    for (int k = 0; k < NOISE_CLIENTS; k++) {
        run->mechanisms[k] = run->mechanism;
        run->action[k] = mfpg_mechanism_action_for(run->mechanism, path->factor, NOISE_ROWS);
    }
    CHECK_OK(
        run->ctx, mfpg_canary_data_create(run->ctx, run->empty, run->mechanisms, 10, 1, 1, &run->canaries));
    find_law(run, path, &o);
    run->options = mfpg_federation_options_default();
    run->options.promise = o.promise;
    run->options.rounds = NOISE_ROUNDS;
    run->options.evaluate = MFPG_EVALUATE_NONE;
    if (path_of_records(path)) run->options.accountant = "data-particles";
}

static inline void run_close(noisy_run *run) {
    mfpg_federation_destroy(run->federation);
    mfpg_canary_data_clear(&run->canaries);
    mfpg_mechanism_destroy(run->mechanism);
    mfpg_model_destroy(run->canary);
    mfpg_model_destroy(run->model);
    mfpg_federated_data_destroy(run->empty);
    mfpg_context_destroy(run->ctx);
}

static inline void see_update(void *user, ptrdiff_t client, double weight, const float *model) {
    noisy_run *run = user;
    const float *w = mfpg_federation_model(run->federation);
    double mean = 0.0, *z = residual(run->out, (int)(run->federation->round * NOISE_CLIENTS + client));
    ptrdiff_t n = run->out->width;
    (void)weight;
    for (ptrdiff_t i = 0; i < n; i++) mean += (double)w[i] / (double)n;
    for (ptrdiff_t i = 0; i < n; i++)
        z[i] = ((double)model[i] - run->keep * (double)w[i] - run->penalty * mean) / run->sd;
}

static inline void see_records(noisy_run *run) {
    for (ptrdiff_t k = 0; k < NOISE_CLIENTS; k++) {
        double *z = residual(run->out, (int)k);
        if (!mfpg_federation_owns(run->federation, k)) continue;
        for (ptrdiff_t i = 0; i < run->out->width; i++)
            z[i] = (double)run->federation->records->of_client[k].x[i] / run->sd;
    }
}

/* As a thread or as a call: leaves its status. */
static inline void *run_play(void *arg) {
    noisy_run *run = arg;
    int records = mfpg_mechanism_particles(run->mechanism) == MFPG_PARTICLES_DATA, done;
    mfpg_round_report report;
    run->status = mfpg_federation_create(run->ctx, &run->options, records ? run->empty : &run->canaries.data,
        records ? run->model : run->canary, run->mechanisms, run->action, &run->key, &run->federation);
    if (run->status == MFPG_OK && !records) mfpg_federation_watch(run->federation, see_update, run);
    for (int t = 0; t < (records ? 1 : NOISE_ROUNDS) && run->status == MFPG_OK; t++)
        run->status = mfpg_federation_round(run->ctx, run->federation, &report, &done);
    if (run->status == MFPG_OK && records) see_records(run);
    return NULL;
}

enum { NOISE_MOST_RANKS = 4 };

/* The run by some ranks, each of some threads; out has the shape of the path. */
static inline void release_noise(
    const noise_path *path, int ranks, int threads, uint64_t seed, residuals *out) {
    static noisy_run run[NOISE_MOST_RANKS];
    mfpg_group group[NOISE_MOST_RANKS];
    seat seats[NOISE_MOST_RANKS];
    pthread_t thread[NOISE_MOST_RANKS];
    meeting at;
    meeting_open(&at, ranks, 1 << 18);
    for (int r = 0; r < ranks; r++) {
        seats[r] = (seat){&at, r};
        group[r] = (mfpg_group){.rank = r, .size = ranks, .user = &seats[r], .sum = sum_at};
        run_open(&run[r], path, threads, ranks > 1 ? &group[r] : NULL, seed, out);
    }
    for (int r = 1; r < ranks; r++) assert_int_equal(pthread_create(&thread[r], NULL, run_play, &run[r]), 0);
    run_play(&run[0]);
    for (int r = 1; r < ranks; r++) assert_int_equal(pthread_join(thread[r], NULL), 0);
    for (int r = 0; r < ranks; r++) CHECK_OK(run[r].ctx, run[r].status);
    for (int r = 0; r < ranks; r++) run_close(&run[r]);
    meeting_close(&at);
}

#endif
