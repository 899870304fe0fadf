/* The free energy of a run: closed forms where the law of the particles is known, the flow that descends it, and where there is
 * none. */
#include "fixture.h"
#include "mechanisms/mechanism_ops.h"

static mfpg_action strength(double e) {
    return (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {e}};
}

static mfpg_mechanism_options entropic(double prior_variance, double penalty) {
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.kind = "entropic";
    o.step = 0.1;
    o.prior_variance = prior_variance;
    o.variance_penalty = penalty;
    return o;
}

static void make_data(fixture *f, ptrdiff_t clients, ptrdiff_t rows, ptrdiff_t dimension) {
    mfpg_data_options data = mfpg_data_options_default();
    mfpg_federated_data_destroy(f->data);
    mfpg_model_destroy(f->model);
    data.format = "synthetic";
    data.synthetic = MFPG_SYNTHETIC_QUADRATIC;
    data.clients = clients;
    data.rows = rows;
    data.dimension = dimension;
    data.test_fraction = 0;
    CHECK_OK(f->ctx, mfpg_federated_data_create(f->ctx, &data, &f->key, &f->data));
    mfpg_model_options shape = {.kind = "quadratic", .features = f->data->features};
    CHECK_OK(f->ctx, mfpg_model_create(f->ctx, &shape, &f->model));
}

/* KL(N(m, v) | N(0, s)) in one dimension. */
static double normal_kl(double m, double v, double s) {
    return 0.5 * (log(s / v) + (v + m * m) / s - 1);
}

/* A tiny clip leaves noise and decay alone: the entries of the averaged model are normal, with variance
 * v' = (1 - tau (e/s + lambda))^2 v + 2 tau e/N (the mean of 20000 entries, which lambda pulls to, is 0 within 0.01). The KL of
 * an entry then is that of two normal laws; estimates err by sqrt(1/(2 d)) and a bias of 0.003, which 5 standard
 * deviations cover, the variance by sqrt(2/d) of itself. */
static void test_noise_alone_has_the_closed_form(void **state) {
    enum { D = 20000, N = 4, ROUNDS = 6 };
    const double prior[] = {1, 0.3}, penalty[] = {0, 0.5}, e[] = {1, 0.2};
    (void)state;
    for (int c = 0; c < 2; c++) {
        mfpg_mechanism_options o = entropic(prior[c], penalty[c]);
        o.clip = 1e-6;
        fixture f = fixture_open(1, "quadratic", N, 4, &o, strength(e[c]));
        make_data(&f, N, 1, D);
        f.options.evaluate = MFPG_EVALUATE_TRAIN;
        f.options.free_energy = 1;
        CHECK_OK(f.ctx, fixture_start(&f));
        double v = 0, keep = 1 - 0.1 * (e[c] / prior[c] + penalty[c]);
        for (int r = 0; r < ROUNDS; r++) {
            mfpg_round_report report = fixture_round(&f);
            const mfpg_free_energy *got = &report.free_energy;
            v = keep * keep * v + 2 * 0.1 * e[c] / N;
            check_near(got->kl / D, normal_kl(0, v, prior[c]), 0, 0.003 + 5 * 1.1 * sqrt(0.5 / D), "kl");
            check_near(got->variance / D, v, 5 * sqrt(2.0 / D), 0, "variance");
            check_near(got->mean_strength, e[c], 1e-14, 0, "strength");
            assert_true(got->loss == report.loss);
            check_near(got->total, report.loss + e[c] * got->kl + penalty[c] / 2 * got->variance, 1e-14, 0,
                "the sum of its parts");
        }
        fixture_close(&f);
    }
}

/* Different strengths: their mean over the cohort, whichever way the action was given. */
static void test_the_strength_is_the_mean_of_the_cohort(void **state) {
    mfpg_mechanism_options o = entropic(1, 0.01);
    (void)state;
    o.promise.adjacency = MFPG_ADJACENCY_REPLACE;
    o.scale = MFPG_SCALE_SENSITIVITY; /* S = 2: strengths of 0.25 are 1 */
    fixture f = fixture_open(1, "quadratic", 4, 8, &o, strength(0.25));
    f.action[0] = strength(0.75);
    f.action[1] = multiplier(1); /* sd 1 x 0.1: e = 0.01/0.2 */
    f.options.evaluate = MFPG_EVALUATE_TRAIN;
    f.options.free_energy = 1;
    CHECK_OK(f.ctx, fixture_start(&f));
    check_near(fixture_round(&f).free_energy.mean_strength, (3 + 0.05 + 1 + 1) / 4, 1e-12, 0, "mean");
    fixture_close(&f);
}

static void open_records(int threads, fixture *f) {
    mfpg_mechanism_options o = entropic(1, 0.1);
    o.particles = MFPG_PARTICLES_DATA;
    o.clip = 0.1;           /* the records begin close together, far from the stationary law */
    o.learning_rate = 1e-9; /* the model stays at 0, where the loss has no gradient in the features */
    *f = fixture_open(threads, "quadratic", 3, 340, &o, strength(0.5)); /* 255 for training */
    f->options.accountant = "data-particles";
    f->options.free_energy = 1;
    f->options.rounds = 60;
    CHECK_OK(f->ctx, fixture_start(f));
}

/* Records of a flat loss relax to the flow's stationary law: variance V = 2 tau e/(1 - a^2) around the client's mean,
 * a = 1 - tau (e/s + lambda). On the way the free energy falls, as it must along its own gradient flow: from every 5 rounds
 * to the next 5, in which the distance of the variance halves, until the steps are as small as the estimate's noise of 0.003. */
static void test_records_descend_their_free_energy(void **state) {
    fixture f;
    double block[12] = {0}, kl = 0, variance = 0;
    (void)state;
    open_records(1, &f);
    for (int r = 0; r < 60; r++) {
        mfpg_round_report report = fixture_round(&f);
        const mfpg_free_energy *got = &report.free_energy;
        block[r / 5] += got->total / 5;
        check_near(got->total, got->loss + 0.5 * got->kl + 0.05 * got->variance, 1e-12, 0, "equal strengths");
        if (r >= 40) kl += got->kl / 20, variance += got->variance / 20;
    }
    for (int b = 1; b < 4; b++) assert_true(block[b] < block[b - 1]);
    assert_true(block[11] < block[0] - 0.5);
    /* 3 clients x 4 features of 255 records, about 3 times independent in 20 rounds: 36 estimates, of a variance within 5
     * sqrt(2/255/36) of it, of an entropy within 5 sqrt(1/510/36) and a bias of 0.003. The clients' means are normal, too, with
     * variance 2 tau e/(1 - (1 - tau e/s)^2)/255 = 0.004, of which KL has half */
    double a = 1 - 0.1 * (0.5 + 0.1), v = 2 * 0.1 * 0.5 / (1 - a * a);
    check_near(variance / 4, v, 5 * sqrt(2.0 / 255 / 36), 0, "variance of a feature");
    check_near(kl / 4, normal_kl(0, v, 1), 0,
        0.003 + 5 * sqrt(1.0 / 510 / 36) + 0.5 * v * 5 * sqrt(2.0 / 255 / 36) + 5 * 0.002, "kl of a feature");
    fixture_close(&f);
}

static void test_threads_change_no_bit(void **state) {
    fixture f, g;
    (void)state;
    open_records(1, &f);
    open_records(3, &g);
    for (int r = 0; r < 3; r++) {
        mfpg_round_report a = fixture_round(&f), b = fixture_round(&g);
        assert_memory_equal(&a.free_energy, &b.free_energy, sizeof a.free_energy);
    }
    fixture_close(&f);
    fixture_close(&g);
}

static int is_empty(const mfpg_free_energy *f) {
    return isnan(f->loss) && isnan(f->kl) && isnan(f->variance) && isnan(f->mean_strength) && isnan(f->total);
}

/* Only where it is asked for, in the rounds of evaluate_every; the loss is missing where nothing is evaluated; two
 * entries have no density to speak of. */
static void test_rounds_without_one_say_so(void **state) {
    mfpg_mechanism_options o = entropic(1, 0.01);
    (void)state;
    for (int c = 0; c < 4; c++) {
        fixture f = fixture_open(1, "quadratic", 2, 8, &o, strength(1));
        if (c == 3) make_data(&f, 2, 8, 2);
        f.options.free_energy = c > 0;
        f.options.evaluate = c == 2 ? MFPG_EVALUATE_NONE : MFPG_EVALUATE_TRAIN;
        f.options.evaluate_every = c == 1 ? 2 : 1;
        CHECK_OK(f.ctx, fixture_start(&f));
        for (int r = 1; r <= 4; r++) {
            mfpg_free_energy got = fixture_round(&f).free_energy;
            assert_int_equal(is_empty(&got), c == 0 || (c == 1 && r % 2 == 1));
            if (c == 1 && r % 2 == 0) assert_true(isfinite(got.total));
            if (c == 2) assert_true(isnan(got.loss) && isnan(got.total) && got.kl > 0);
            if (c == 3) assert_true(isnan(got.kl) && isnan(got.total) && got.variance > 0);
        }
        fixture_close(&f);
    }
}

static void test_other_mechanisms_have_none(void **state) {
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    mfpg_flow flow = {1, 1, 1};
    (void)state;
    fixture f = fixture_open(1, "quadratic", 2, 8, &o, multiplier(1));
    f.options.free_energy = 1;
    assert_int_equal(fixture_start(&f), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(f.ctx), "another mechanism"));
    assert_int_equal(mfpg_mechanism_flow(f.mechanism, &flow), 0);
    assert_true(flow.step == 0 && flow.prior_variance == 0 && flow.variance_penalty == 0);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noise_alone_has_the_closed_form),
        cmocka_unit_test(test_the_strength_is_the_mean_of_the_cohort),
        cmocka_unit_test(test_records_descend_their_free_energy),
        cmocka_unit_test(test_threads_change_no_bit),
        cmocka_unit_test(test_rounds_without_one_say_so),
        cmocka_unit_test(test_other_mechanisms_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
