/* Who takes part in what is accounted as sampled: rows of a client as they show in its releases, clients as they show in the
 * rounds. Independent coins of the declared rate, as the accountants take them to be; samplers that are something else are
 * told from them by counts, where no attack would tell them in a hundred thousand runs. */
#include "audit/faults.h"
#include "local_round.h"
#include "audit/sampler.h"

#include "federation/federation_core.h"
#include "mechanisms/mechanism_ops.h"
#include "numerics/special/laws.h"
#include "statistics.h"

/* ---- the library's own ---- */

/* A client whose rows have a feature each: the gradient of row i, at a model of zeros, moves weight i alone, by half a rate over
 * the divisor. */
typedef struct one_hot {
    mfpg_context *ctx;
    mfpg_mechanism *mechanism;
    mfpg_model *model;
    mfpg_dataset data;
    ptrdiff_t declared;
    float *w, *u, *work;
} one_hot;

static one_hot one_hot_open(int rows, ptrdiff_t declared, double rate) {
    one_hot h = {.ctx = testing_context(1), .declared = declared};
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    mfpg_model_options shape = {.kind = "logistic", .features = rows, .classes = 2};
    o.promise.unit = MFPG_UNIT_EXAMPLE;
    o.batch_rate = rate;
    CHECK_OK(h.ctx, mfpg_mechanism_create(h.ctx, &o, &h.mechanism));
    CHECK_OK(h.ctx, mfpg_model_create(h.ctx, &shape, &h.model));
    size_t cells = (size_t)rows * (size_t)rows, parameters = (size_t)mfpg_model_parameters(h.model);
    size_t floats = (size_t)mfpg_mechanism_workspace(h.mechanism, h.model, rows);
    h.data =
        (mfpg_dataset){.rows = rows, .features = rows, .x = calloc(cells, 4), .y = calloc((size_t)rows, 4)};
    h.w = calloc(parameters, sizeof *h.w);
    h.u = calloc(parameters, sizeof *h.u);
    h.work = aligned_alloc(64, (floats * sizeof *h.work + 63) / 64 * 64);
    assert_true(h.data.x && h.data.y && h.w && h.u && h.work);
    for (int i = 0; i < rows; i++) h.data.x[i * rows + i] = 1.0F;
    return h;
}

static void one_hot_close(one_hot *h) {
    free(h->data.x);
    free(h->data.y);
    free(h->w);
    free(h->u);
    free(h->work);
    mfpg_model_destroy(h->model);
    mfpg_mechanism_destroy(h->mechanism);
    mfpg_context_destroy(h->ctx);
}

/* One release, with noise of a thousandth of what one row can do; what row i did is then weight i. */
static void one_hot_release(one_hot *h, const mfpg_key *key, uint64_t round, uint64_t client) {
    mfpg_stream noise = mfpg_stream_open(key, MFPG_PURPOSE_NOISE, round, client);
    mfpg_stream batch = mfpg_stream_open(key, MFPG_PURPOSE_BATCH, round, client);
    CHECK_OK(h->ctx, update_by(h->ctx, h->mechanism, h->model, &h->data, h->declared,
                         mfpg_mechanism_action_for(h->mechanism, 1e-3, h->declared), &noise, &batch, h->w,
                         h->u, h->work, NULL));
}

static double one_hot_step(const one_hot *h) {
    const mfpg_mechanism_options o = mfpg_mechanism_options_default();
    return 0.5 * o.learning_rate / (h->mechanism->options.batch_rate * (double)h->declared);
}

static void attend_releases(attendance *a, uint64_t seed) {
    const mfpg_key key = mfpg_key_from_seed(seed);
    one_hot h = one_hot_open(a->members, a->members, 1.0 / a->epoch);
    for (int draw = 0; draw < a->draws; draw++) {
        one_hot_release(&h, &key, (uint64_t)draw, 3);
        for (int i = 0; i < a->members; i++)
            attendance_of(a, draw)[i] = fabs((double)h.u[i]) > 0.5 * one_hot_step(&h);
    }
    one_hot_close(&h);
}

typedef struct round_watch {
    const mfpg_federation *federation;
    attendance *a;
} round_watch;

static void see_member(void *user, ptrdiff_t client, double weight, const float *model) {
    round_watch *w = user;
    (void)weight;
    (void)model;
    attendance_of(w->a, (int)w->federation->round)[client] = 1;
}

/* per_round: that many clients without replacement; 0: by coins of rate 1/epoch. */
static void attend_rounds(attendance *a, ptrdiff_t per_round, uint64_t seed) {
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    subject s = subject_open(1, a->members, a->draws, "logistic", &o, 1.0);
    const mfpg_key key = mfpg_key_from_seed(seed);
    mfpg_federation *federation = NULL;
    s.options.evaluate = MFPG_EVALUATE_NONE;
    s.options.clients_per_round = per_round;
    if (per_round == 0) s.options.client_rate = 1.0 / a->epoch;
    CHECK_OK(s.ctx, mfpg_federation_create(
                        s.ctx, &s.options, s.data, s.model, s.mechanisms, s.action, &key, &federation));
    round_watch watch = {federation, a};
    mfpg_federation_watch(federation, see_member, &watch);
    for (int t = 0; t < a->draws; t++) {
        mfpg_round_report report;
        int done;
        CHECK_OK(s.ctx, mfpg_federation_round(s.ctx, federation, &report, &done));
    }
    mfpg_federation_destroy(federation);
    subject_close(&s);
}

/* All of these faults; where there are any, pairs and epochs may show them too. */
static void check_faults(const attendance *a, int expected, const char *what) {
    int found = sampler_faults(a), allowed = expected ? expected | SAMPLER_PAIRS | SAMPLER_EPOCHS : 0;
    if ((found & expected) == expected && (found | allowed) == allowed) return;
    fail_msg("seed %llu, %s of %d at 1/%d: faults %d, expected %d", (unsigned long long)testing_seed(), what,
        a->members, a->epoch, found, expected);
}

static void test_rows_and_clients_are_drawn_by_independent_coins(void **state) {
    (void)state;
    const int shapes[][3] = {
        {10, 1000, 2}, {10, 1000, 10}, {2, 1000, 2}, {8, 1000, 5}}; /* members, draws, 1/q */
    for (int i = 0; i < 4; i++) {
        attendance rows = attendance_open(shapes[i][0], shapes[i][1], shapes[i][2]);
        attend_releases(&rows, testing_seed());
        check_faults(&rows, 0, "rows");
        attendance_close(&rows);
        if (shapes[i][0] > MOST_CLIENTS) continue;
        attendance clients = attendance_open(shapes[i][0], shapes[i][1], shapes[i][2]);
        attend_rounds(&clients, 0, testing_seed());
        check_faults(&clients, 0, "clients");
        attendance_close(&clients);
    }
}

/* A fixed number of clients a round is no Poisson sample, and is not accounted as one: each promise is that of the rounds that a
 * client took part in, without any credit (tensorflow/privacy#483). */
static void test_cohorts_of_fixed_size_are_told_apart_and_earn_no_credit(void **state) {
    (void)state;
    enum { ROUNDS = 1000 };
    attendance a = attendance_open(8, ROUNDS, 4);
    attend_rounds(&a, 2, testing_seed());
    check_faults(&a, SAMPLER_SIZES, "cohorts");
    attendance_close(&a);
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    subject s = subject_open(1, 4, 12, "logistic", &o, 4.0);
    double squares = 0.0;
    s.options.clients_per_round = 2;
    s.audit.runs = 100;
    CHECK_OK(s.ctx, subject_audit(&s));
    for (int k = 0; k < 4; k++) { /* mu^2 is a whole number of rounds of mu 1/4, and 24 places were filled */
        double rounds = s.client[k].mu * s.client[k].mu * 16.0;
        check_near(rounds, round(rounds), 1e-9, 0, "rounds taken part in");
        squares += rounds;
        assert_true(s.client[k].stands);
    }
    check_near(squares, 24.0, 1e-9, 0, "places");
    subject_close(&s);
}

/* ---- samplers with faults ---- */

/* Sampled as something else than accounted: always in; fixed sizes (google-deepmind/jax_privacy#84 and #272,
 * meta-pytorch/opacus#128: sizes of N = 10, q = .5 vary by 2.5, not by 0); shuffled epochs (opacus#80). A binomial size and then
 * a uniform subset is Poisson sampling (google-deepmind/jax_privacy#121) and passes. */
static void test_other_samplers_are_told_apart(void **state) {
    (void)state;
    const struct {
        sampler_double kind;
        int faults;
        const char *what;
    } rows[] = {{DOUBLE_ALWAYS, SAMPLER_RATE | SAMPLER_PAIRS | SAMPLER_SIZES | SAMPLER_EPOCHS, "always in"},
        {DOUBLE_FIXED, SAMPLER_SIZES, "fixed size"},
        {DOUBLE_SHUFFLED, SAMPLER_SIZES | SAMPLER_EPOCHS, "shuffled"},
        {DOUBLE_BINOMIAL, 0, "binomial size, uniform subset"},
        {DOUBLE_COMMON, SAMPLER_SIZES | SAMPLER_PAIRS, "one coin for all"}};
    for (int i = 0; i < 5; i++) {
        attendance a = attendance_open(10, 1000, 2);
        attend(&a, rows[i].kind, testing_seed());
        check_faults(&a, rows[i].faults, rows[i].what);
        if (rows[i].kind == DOUBLE_FIXED) assert_true(variance_of_sizes(&a) == 0.0);
        attendance_close(&a);
    }
}

/* Ten epochs are enough to see that a member is never missing and never there twice: by coins once in e^10 times, for each. */
static void test_ten_epochs_show_a_shuffle(void **state) {
    (void)state;
    attendance shuffled = attendance_open(10, 100, 10), own = attendance_open(10, 100, 10);
    attend(&shuffled, DOUBLE_SHUFFLED, testing_seed());
    attend_releases(&own, testing_seed());
    assert_true(sampler_epochs(&shuffled) == SAMPLER_EPOCHS && sampler_epochs(&own) == 0);
    attendance_close(&shuffled);
    attendance_close(&own);
}

/* N = 2, q = 1/2: all four subsets with probability 1/4 (google-deepmind/jax_privacy#121), of the library's batches and of a
 * binomial size with a uniform subset; shuffled epochs know two of them. */
static void test_all_subsets_are_equally_likely(void **state) {
    (void)state;
    enum { DRAWS = 4000 };
    for (int sampler = 0; sampler < 3; sampler++) {
        attendance a = attendance_open(2, DRAWS, 2);
        double times[4] = {0}, chi_square = 0.0;
        if (sampler == 0) attend_releases(&a, testing_seed());
        if (sampler > 0) attend(&a, sampler == 1 ? DOUBLE_BINOMIAL : DOUBLE_SHUFFLED, testing_seed());
        for (int draw = 0; draw < DRAWS; draw++)
            times[attendance_of(&a, draw)[0] + 2 * attendance_of(&a, draw)[1]]++;
        for (int i = 0; i < 4; i++) chi_square += pow(times[i] - DRAWS / 4.0, 2) / (DRAWS / 4.0);
        assert_int_equal(1.0 - chi_square_lower(chi_square, 3) < 1e-6, sampler == 2);
        attendance_close(&a);
    }
}

/* ---- rates and divisors ---- */

/* 16 rows of 100,000 a batch: the rate that is accounted is the declared one, and the rows that are drawn agree with it; not with
 * 16/128, what a sampler of 128 draws says of itself (meta-pytorch/opacus#813). */
static void test_the_declared_rate_is_accounted_and_drawn(void **state) {
    (void)state;
    enum { ROWS = 100000, DRAWS = 128 };
    const double rate = 0.00016;
    static int32_t rows[ROWS];
    const mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    mfpg_context *ctx = testing_context(1);
    mfpg_mechanism *mechanism = NULL;
    mfpg_release release;
    int64_t drawn = 0;
    o.promise.unit = MFPG_UNIT_EXAMPLE;
    o.batch_rate = rate;
    CHECK_OK(ctx, mfpg_mechanism_create(ctx, &o, &mechanism));
    CHECK_OK(ctx, mfpg_mechanism_release(
                      ctx, mechanism, mfpg_mechanism_action_for(mechanism, 1, ROWS), ROWS, &release));
    assert_true(release.sampling_rate == rate);
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_BATCH, 0, 0);
    for (int draw = 0; draw < DRAWS; draw++) drawn += mfpg_batch_draw(&stream, draw, ROWS, rate, rows);
    assert_false(too_far(drawn, (int64_t)ROWS * DRAWS, rate));
    mfpg_mechanism_destroy(mechanism);
    mfpg_context_destroy(ctx);
}

/* An averaging divisor that is the number of rows there are differs between neighbours: an audit found 2.5 where 1.2 had been
 * promised (meta-pytorch/opacus#571, #819). Two rows or one of the two declared, q = 1/2: what row 0 does is divided by the same
 * number. */
static void test_neighbours_share_their_divisor(void **state) {
    (void)state;
    const mfpg_key key = mfpg_key_from_seed(testing_seed());
    int met = 0;
    for (uint64_t round = 0; round < 40; round++) {
        double moved[2];
        for (int rows = 1; rows <= 2; rows++) {
            one_hot h = one_hot_open(rows, 2, 0.5);
            one_hot_release(&h, &key, round, 0);
            moved[rows - 1] = fabs((double)h.u[0]) / one_hot_step(&h);
            one_hot_close(&h);
        }
        /* the coin of row 0 depends on its place alone: it is there in both, or in none; noise 2e-3 of a step */
        check_near(moved[0], moved[1], 0, 0.04, "share of row 0");
        assert_true(fabs(moved[0]) < 0.02 || fabs(moved[0] - 1.0) < 0.02);
        met += moved[0] > 0.5;
    }
    assert_true(met > 5 && met < 35);
}

/* ---- by attack ---- */

/* Always in instead of q = .1: ten rounds of mu 1. The theory's score has an AUC of .976 where .599 was promised; 28 runs. */
static void test_a_canary_that_is_always_in_is_caught(void **state) {
    (void)state;
    mfpg_mechanism_options o = mfpg_mechanism_options_default(), always;
    o.promise.unit = MFPG_UNIT_EXAMPLE;
    o.batch_rate = 0.1;
    always = o;
    always.batch_rate = 1.0;
    always.clip = o.clip / o.batch_rate; /* the same displacement and noise, since no rate divides them */
    subject s = subject_open(1, 1, 10, "logistic", &o, 1.0);
    mfpg_mechanism *other = NULL;
    CHECK_OK(s.ctx, mfpg_mechanism_create(s.ctx, &always, &other));
    const mfpg_mechanism *others[] = {other};
    const mfpg_action action[] = {mfpg_mechanism_action_for(other, 1.0, 4)};
    plant honest = {.kind = FAULT_AS_PROMISED}, p = {FAULT_OTHER_MECHANISM, others, action};
    mfpg_audit_promise promise = {
        .mu = NAN, .epsilon = INFINITY, .round_mu = NAN, .distance = 1, .paper_delta = NAN};
    promise.auc_cap = 0.599;
    s.audit.confidence = 0.99;
    s.audit.runs = 100; /* a part of alpha looks at alternating signs and error rates */
    audit_fault(&s, &promise, &p, 20);
    assert_true(!s.client[0].stands && s.client[0].auc > 0.9);
    s.audit.runs = 2000;
    s.audit.confidence = 0.9999;
    audit_fault(&s, &promise, &honest, 20);
    assert_true(s.client[0].stands);
    check_near(s.client[0].auc, 0.599, 0, 5 * sqrt(1 / 6000.0), "what the honest one shows");
    mfpg_mechanism_destroy(other);
    subject_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_and_clients_are_drawn_by_independent_coins),
        cmocka_unit_test(test_cohorts_of_fixed_size_are_told_apart_and_earn_no_credit),
        cmocka_unit_test(test_other_samplers_are_told_apart),
        cmocka_unit_test(test_ten_epochs_show_a_shuffle),
        cmocka_unit_test(test_all_subsets_are_equally_likely),
        cmocka_unit_test(test_the_declared_rate_is_accounted_and_drawn),
        cmocka_unit_test(test_neighbours_share_their_divisor),
        cmocka_unit_test(test_a_canary_that_is_always_in_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
