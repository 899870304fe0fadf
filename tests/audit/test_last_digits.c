/* Audits that look at the last digits, and at sums of crafted rows: they refute the program as it was when noise and sums were floats, kept
 * here as test doubles, and find nothing in the library. */
#include "audit/faults.h"
#include "mechanisms/mechanism_ops.h"
#include "crafted_rows.h"

/* ---- digits ---- */

typedef enum double_kind {
    NOISE_IN_FLOATS, /* state, data and noise added in double, rounded to float once */
    GRID_AT_THE_DATA /* noise in whole steps of the grid, added to the private number instead of a public one */
} double_kind;

/* Entry i of what all canaries of client k add to the model: their directions share no entry. */
static float moved(
    const mfpg_audit_game *game, const mfpg_transcript *s, ptrdiff_t at, ptrdiff_t k, ptrdiff_t i) {
    ptrdiff_t n = mfpg_model_parameters(game->model), plane = (ptrdiff_t)game->rounds * game->clients;
    double gap = game->law[k].gap / (1.0 + game->law[k].release.rounding);
    for (ptrdiff_t j = 0; j < s->directions; j++) {
        double v = mfpg_canary_entry(n, s->directions, j, i);
        if (v != 0.0) return (float)(gap * s->value[(s->each > 1 ? j * plane : 0) + at]) * (float)v;
    }
    return 0.0F;
}

static mfpg_status play_double(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_key *key,
    mfpg_canary_data *canaries, mfpg_transcript *s, void *arg) {
    const double_kind kind = *(const double_kind *)arg;
    ptrdiff_t n = mfpg_model_parameters(game->model), plane = (ptrdiff_t)game->rounds * game->clients;
    float *w = make_floats(n), *u = make_floats(n), *z = make_floats(n);
    double *sum = calloc((size_t)n, sizeof *sum);
    mfpg_status status = MFPG_OK;
    (void)canaries;
    for (ptrdiff_t j = 0; j < s->directions; j++) s->global[j * (ptrdiff_t)(game->rounds + 1)] = 0.0;
    for (s->rounds = 0; s->rounds < game->rounds && status == MFPG_OK; s->rounds++) {
        memset(sum, 0, (size_t)n * sizeof *sum);
        for (ptrdiff_t k = 0; k < game->clients && status == MFPG_OK; k++) {
            ptrdiff_t at = (ptrdiff_t)s->rounds * game->clients + k;
            const mfpg_release *release = &game->law[k].release;
            mfpg_stream noise = mfpg_stream_open(key, MFPG_PURPOSE_NOISE, (uint64_t)s->rounds, (uint64_t)k);
            mfpg_stream_gaussian(&noise, 0, n, z);
            for (ptrdiff_t i = 0; i < n; i++) {
                double blur = release->noise_sd * (double)z[i];
                if (kind == GRID_AT_THE_DATA) blur = release->grid * rint(blur / release->grid);
                u[i] = (float)((double)w[i] + (double)moved(game, s, at, k, i) + blur);
                sum[i] += (double)u[i] / (double)game->clients;
            }
            s->weight[at] = 1.0 / (double)game->clients;
            status = mfpg_digits_of_update(ctx, game, k, w, u, s);
            for (ptrdiff_t j = 0; j < s->planes; j++) {
                ptrdiff_t direction = mfpg_plane_direction(s, k, j);
                s->local[j * plane + at] = mfpg_canary_project_on(n, s->directions, direction, u);
            }
        }
        for (ptrdiff_t i = 0; i < n; i++) w[i] = (float)sum[i];
        for (ptrdiff_t j = 0; j < s->directions; j++)
            s->global[j * (ptrdiff_t)(game->rounds + 1) + s->rounds + 1] =
                mfpg_canary_project_on(n, s->directions, j, w);
    }
    free(w);
    free(u);
    free(z);
    free(sum);
    return status;
}

/* A promise so small that only digits can break it in so few runs, by every adjacency and unit. */
static void test_last_digits_refute_noise_in_floats_and_not_the_library(void **state) {
    (void)state;
    for (int i = 0; i < 8; i++) {
        const mfpg_promise promise = {i % 2 ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT,
            i / 2 % 2 ? MFPG_ADJACENCY_REPLACE : MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_LOCAL};
        mfpg_mechanism_options o = mfpg_mechanism_options_default();
        o.promise = promise;
        const mfpg_audit_promise one = promise_of(50.0, 3, promise.adjacency), both[] = {one, one};
        double_kind kind = i / 4 ? GRID_AT_THE_DATA : NOISE_IN_FLOATS;
        plant product = {.kind = FAULT_AS_PROMISED};
        subject s = subject_open(1, 2, 3, "logistic", &o, 50.0);
        s.audit.runs = 200;
        audit_with(&s, both, play_double, &kind, 10);
        for (int k = 0; k < 2; k++) {
            const mfpg_audit_client *c = &s.client[k];
            if (c->stands || c->pattern != MFPG_PATTERN_DIGITS)
                print_error("seed %llu, case %d: mu %.3f, proved %.3f by %s\n",
                    (unsigned long long)testing_seed(), i, c->mu, c->mu_lower,
                    mfpg_audit_pattern_name(c->pattern));
            assert_true(!c->stands && c->pattern == MFPG_PATTERN_DIGITS);
        }
        audit_fault(&s, both, &product, 10);
        for (int k = 0; k < 2; k++)
            assert_true(s.client[k].stands && s.client[k].pattern != MFPG_PATTERN_DIGITS);
        subject_close(&s);
    }
}

/* Many canaries, each of four entries, in a single run. */
static void test_last_digits_refute_noise_in_floats_in_one_run(void **state) {
    (void)state;
    for (int product = 0; product < 2; product++) {
        const mfpg_promise promise = {MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_REPLACE, MFPG_VIEW_LOCAL};
        mfpg_mechanism_options o = mfpg_mechanism_options_default();
        o.promise = promise;
        subject s = crowd_open(1, 1, 64, 511, 10, &o, 50.0);
        const mfpg_audit_promise one = promise_of(50.0, 10, promise.adjacency);
        double_kind kind = NOISE_IN_FLOATS;
        plant as_promised = {.kind = FAULT_AS_PROMISED};
        s.audit = mfpg_audit_options_for(MFPG_AUDIT_ONE_RUN);
        s.audit.confidence = 0.9999;
        s.audit.seed = testing_seed();
        if (product)
            audit_fault(&s, &one, &as_promised, 10);
        else
            audit_with(&s, &one, play_double, &kind, 10);
        const mfpg_audit_client *c = &s.client[0];
        if (c->stands != product)
            print_error("seed %llu: %lld of %lld right, mu %.3f, proved %.3f\n",
                (unsigned long long)testing_seed(), (long long)c->correct, (long long)c->guesses, c->mu,
                c->mu_lower);
        assert_int_equal(c->stands, product);
        subject_close(&s);
    }
}

/* ---- crafted rows ---- */

enum { ENTRIES = 16 };

/* A client whose rows are crafted so that its first one moves a float sum by many clips; the neighbour has no such row. */
typedef struct crafted {
    mfpg_model *model;
    mfpg_dataset data[2]; /* without the first row, with it */
    double clip, rate;    /* rate: of the step, over the number of rows */
    int floats;           /* 1: sums in floats, as a double of the program as it was */
    float w[ENTRIES];
    double sum[2][ENTRIES], toward[ENTRIES]; /* in floats; the unit vector from one to the other */
    double origin;                           /* of the arm without the row, along it */
    float *work;
} crafted;

static double along(const crafted *c, const float *u) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < mfpg_model_parameters(c->model); i++) sum += c->toward[i] * (double)u[i];
    return sum;
}

static mfpg_status release_crafted(
    mfpg_context *ctx, const mfpg_audit_game *game, crafted *c, int arm, const mfpg_stream *noise, float *u) {
    float z[ENTRIES];
    const mfpg_dataset *data = &c->data[arm];
    if (!c->floats)
        return update_by(ctx, game->mechanism[0], c->model, data, data->rows, game->action[0], noise, noise,
            c->w, u, c->work, NULL);
    mfpg_stream_gaussian(noise, 0, mfpg_model_parameters(c->model), z);
    for (ptrdiff_t i = 0; i < mfpg_model_parameters(c->model); i++)
        u[i] = (float)((double)c->w[i] - c->rate * c->sum[arm][i] +
                       game->law[0].release.noise_sd * (double)z[i]);
    return MFPG_OK;
}

static mfpg_status play_crafted(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_key *key,
    mfpg_canary_data *canaries, mfpg_transcript *s, void *arg) {
    crafted *c = arg;
    float u[ENTRIES] = {0};
    mfpg_stream noise = mfpg_stream_open(key, MFPG_PURPOSE_NOISE, 0, 0);
    (void)canaries;
    mfpg_status status = release_crafted(ctx, game, c, s->value[0] > 0.5, &noise, u);
    s->global[0] = s->global[1] = 0.0;
    s->local[0] = along(c, u) - c->origin;
    s->weight[0] = 1.0;
    s->digits[0] = MFPG_DIGITS_UNKNOWN;
    s->shown[0] = MFPG_SHOWS_NONE;
    s->rounds = 1;
    return status;
}

static crafted craft_client(subject *s, const char *kind, int k, const mfpg_mechanism_options *o) {
    crafted c = {.floats = 1};
    uint64_t random = 1;
    double distance = 0.0;
    c.model = crafted_model(s->ctx, kind, c.w, &c.clip);
    ptrdiff_t rows = (ptrdiff_t)2 << k, d = mfpg_model_parameters(c.model);
    assert_true(d <= ENTRIES);
    c.rate = o->learning_rate / (double)rows;
    c.work = make_floats(
        mfpg_model_workspace(c.model, rows) + mfpg_mechanism_workspace(s->mechanism, c.model, rows));
    for (int arm = 0; arm < 2; arm++) {
        c.data[arm] = make_dataset(rows, 1, 1, &random);
        craft(c.model, &c.data[arm], k);
        if (arm == 0) c.data[arm].y[0] = NAN; /* a row that is not there contributes zeros */
        float_sum(c.model, c.w, &c.data[arm], NULL, rows, c.clip, c.work, c.sum[arm]);
    }
    for (ptrdiff_t i = 0; i < d; i++) {
        c.toward[i] = c.sum[0][i] - c.sum[1][i]; /* a step goes against the gradient */
        distance += c.toward[i] * c.toward[i];
        c.origin -= c.rate * c.sum[0][i] * c.toward[i];
        c.origin += (double)c.w[i] * c.toward[i];
    }
    for (ptrdiff_t i = 0; i < d; i++) c.toward[i] /= sqrt(distance);
    c.origin /= sqrt(distance);
    return c;
}

/* One step at noise multiplier 2, unit example, zero-out: mu is 1/2, and floats move it by many clips. */
static void test_crafted_rows_refute_float_sums_and_not_the_library(void **state) {
    (void)state;
    int k = testing_repeats(1) >= 4 ? 17 : 15;
    for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_models, kind); kind++) {
        mfpg_mechanism_options o = mfpg_mechanism_options_default();
        o.promise = (mfpg_promise){MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_LOCAL};
        float w[ENTRIES] = {0};
        mfpg_context *ctx = testing_context(1);
        mfpg_model_destroy(crafted_model(ctx, mfpg_kind_name(&mfpg_models, kind), w, &o.clip));
        mfpg_context_destroy(ctx);
        subject s = subject_open(1, 1, 1, "logistic", &o, 2.0);
        crafted c = craft_client(&s, mfpg_kind_name(&mfpg_models, kind), k, &o);
        const mfpg_audit_promise promise = promise_of(2.0, 1, MFPG_ADJACENCY_ZERO_OUT);
        s.data->client[0].train.rows = c.data[0].rows; /* the law of so many rows; canaries are not played */
        s.action[0] = mfpg_mechanism_action_for(s.mechanism, 2.0, c.data[0].rows);
        s.audit.runs = 400;
        for (c.floats = 1; c.floats >= 0; c.floats--) {
            audit_with(&s, &promise, play_crafted, &c, 10);
            const mfpg_audit_client *found = &s.client[0];
            print_message("%s, %td rows, %s: mu %.3f, proved %.3f, estimate %.3f\n",
                mfpg_kind_name(&mfpg_models, kind), c.data[0].rows,
                c.floats ? "sums in floats" : "the library", found->mu, found->mu_lower, found->mu_estimate);
            assert_int_equal(found->stands, !c.floats);
            if (c.floats) assert_true(found->mu_lower > 2);
            if (!c.floats) check_near(found->mu_estimate, 0.5, 0, 0.6, "estimate"); /* six standard errors */
        }
        for (int arm = 0; arm < 2; arm++) free_dataset(&c.data[arm]);
        free(c.work);
        mfpg_model_destroy(c.model);
        subject_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_digits_refute_noise_in_floats_and_not_the_library),
        cmocka_unit_test(test_last_digits_refute_noise_in_floats_in_one_run),
        cmocka_unit_test(test_crafted_rows_refute_float_sums_and_not_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
