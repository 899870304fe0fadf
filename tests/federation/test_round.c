/* The round loop: its arithmetic against a plain reference, who takes part, who must stop, and the same bits on any
 * number of threads. */
#include "fixture.h"
#include "local_round.h"
#include "accountants/accounting.h"

static mfpg_mechanism_options gaussian(void) {
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.kind = "gaussian";
    options.learning_rate = 0.5;
    return options;
}

/* w <- sum_k p_k w_k with each w_k made by the mechanism alone and summed in double. */
static void test_a_round_is_the_weighted_mean_of_local_updates(void **state) {
    (void)state;
    mfpg_mechanism_options mechanism = gaussian();
    fixture f = fixture_open(1, "logistic", 3, 40, &mechanism, multiplier(2.0));
    f.options.weights = MFPG_WEIGHTS_EXAMPLES;
    CHECK_OK(f.ctx, fixture_start(&f));
    ptrdiff_t d = mfpg_model_parameters(f.model);
    float *zero = calloc((size_t)d, sizeof *zero), *local = calloc((size_t)d, sizeof *local);
    float *work = calloc((size_t)mfpg_mechanism_workspace(f.mechanism, f.model, 40), sizeof *work);
    double expected[8] = {0}, rows = 0;
    for (ptrdiff_t k = 0; k < 3; k++) rows += (double)f.data->client[k].train.rows;
    for (ptrdiff_t k = 0; k < 3; k++) {
        const mfpg_dataset *data = &f.data->client[k].train;
        mfpg_stream noise = mfpg_stream_open(&f.key, MFPG_PURPOSE_NOISE, 0, (uint64_t)k);
        mfpg_stream batch = mfpg_stream_open(&f.key, MFPG_PURPOSE_BATCH, 0, (uint64_t)k);
        CHECK_OK(f.ctx, update_by(f.ctx, f.mechanism, f.model, data, data->rows, f.action[k], &noise, &batch,
                            zero, local, work, NULL));
        for (ptrdiff_t i = 0; i < d; i++) expected[i] += (double)data->rows / rows * (double)local[i];
    }
    fixture_round(&f);
    const float *w = mfpg_federation_model(f.federation);
    /* One float rounding of the mean, and 3 x 2^-41 of the fixed-point sum. */
    for (ptrdiff_t i = 0; i < d; i++) check_near((double)w[i], expected[i], 1e-7, 2e-12, "mean of updates");
    free(zero);
    free(local);
    free(work);
    fixture_close(&f);
}

/* Without clip and noise on a full batch, FedAvg with one step is gradient descent on the mean of the clients' losses. */
static void test_without_noise_it_is_gradient_descent(void **state) {
    (void)state;
    mfpg_mechanism_options mechanism = gaussian();
    mechanism.kind = "none";
    mechanism.learning_rate = 0.01;
    fixture f = fixture_open(1, "quadratic", 4, 20, &mechanism, (mfpg_action){.control = MFPG_CONTROL_NONE});
    CHECK_OK(f.ctx, fixture_start(&f));
    double w[4] = {0};
    for (int round = 0; round < 5; round++) {
        double gradient[4] = {0};
        for (ptrdiff_t k = 0; k < 4; k++) {
            const mfpg_dataset *data = &f.data->client[k].train;
            for (ptrdiff_t i = 0; i < data->rows; i++) {
                double residual = -(double)data->y[i];
                for (int j = 0; j < 4; j++) residual += (double)data->x[4 * i + j] * w[j];
                for (int j = 0; j < 4; j++) gradient[j] += 0.25 * residual * (double)data->x[4 * i + j];
            }
        }
        for (int j = 0; j < 4; j++) w[j] -= 0.01 * gradient[j];
        mfpg_round_report report = fixture_round(&f);
        assert_true(isinf(report.epsilon)); /* nothing is promised */
    }
    /* Five steps in float arithmetic: a few units of 6e-8 each on numbers below 1. */
    for (int j = 0; j < 4; j++)
        check_near((double)mfpg_federation_model(f.federation)[j], w[j], 1e-5, 1e-6, "gradient descent");
    fixture_close(&f);
}

static void test_threads_do_not_change_a_bit(void **state) {
    (void)state;
    float first[8];
    mfpg_round_report report[3];
    for (int threads = 1; threads <= 3; threads++) {
        mfpg_mechanism_options mechanism = gaussian();
        mechanism.batch_rate = 0.3;
        mechanism.local_steps = 3;
        fixture f = fixture_open(threads, "logistic", 7, 33, &mechanism, multiplier(1.5));
        f.options.weights = MFPG_WEIGHTS_EXAMPLES;
        f.options.client_rate = 0.7;
        CHECK_OK(f.ctx, fixture_start(&f));
        for (int round = 0; round < 6; round++) report[threads - 1] = fixture_round(&f);
        const float *w = mfpg_federation_model(f.federation);
        if (threads == 1) memcpy(first, w, 5 * sizeof *first);
        assert_memory_equal(w, first, 5 * sizeof *first);
        assert_true(report[threads - 1].loss == report[0].loss);
        assert_true(report[threads - 1].noise_to_signal == report[0].noise_to_signal);
        fixture_close(&f);
    }
}

/* A network whose updates are clipped and noised as a whole, and one that is noised in every step. */
static void test_threads_do_not_change_a_bit_of_a_network(void **state) {
    (void)state;
    enum { MOST = 1024 };
    const int threads[] = {1, 2, 4};
    for (int at = 0; at < 2; at++) {
        float first[MOST];
        for (int t = 0; t < 3; t++) {
            mfpg_mechanism_options mechanism = gaussian();
            mechanism.clip_at = at ? MFPG_CLIP_UPDATE : MFPG_CLIP_STEP;
            mechanism.batch_rate = 0.3;
            mechanism.local_steps = 4;
            fixture f = fixture_open(threads[t], "mlp", 7, 40, &mechanism, multiplier(1.5));
            f.options.start_he = 1;
            CHECK_OK(f.ctx, fixture_start(&f));
            for (int round = 0; round < 3; round++) fixture_round(&f);
            size_t bytes = (size_t)mfpg_model_parameters(f.model) * sizeof *first;
            assert_true(bytes > 512 * sizeof *first && bytes <= sizeof first);
            if (t == 0) memcpy(first, mfpg_federation_model(f.federation), bytes);
            assert_memory_equal(mfpg_federation_model(f.federation), first, bytes);
            fixture_close(&f);
        }
    }
}

static void test_a_cohort_has_the_size_asked_for_and_its_rounds_are_counted(void **state) {
    (void)state;
    mfpg_mechanism_options mechanism = gaussian();
    fixture f = fixture_open(1, "logistic", 9, 20, &mechanism, multiplier(4.0));
    f.options.clients_per_round = 4;
    CHECK_OK(f.ctx, fixture_start(&f));
    int64_t taken = 0;
    for (int round = 0; round < 30; round++) assert_int_equal(fixture_round(&f).cohort, 4);
    for (ptrdiff_t k = 0; k < 9; k++) {
        mfpg_client_report client;
        CHECK_OK(f.ctx, mfpg_federation_client(f.ctx, f.federation, k, &client));
        taken += client.rounds;
        check_near(
            client.mu, sqrt((double)client.rounds) / 4.0, 1e-12, 0, "mu counts rounds of participation");
    }
    assert_int_equal(taken, 30 * 4);
    fixture_close(&f);
}

/* 2000 rounds of 9 clients at rate 0.3: the mean cohort is 2.7 with standard error sqrt(9 x .21/2000) = 0.031. */
static void test_a_client_rate_is_poisson_and_an_empty_round_releases_nothing(void **state) {
    (void)state;
    mfpg_mechanism_options mechanism = gaussian();
    fixture f = fixture_open(1, "quadratic", 9, 4, &mechanism, multiplier(50.0));
    f.options.client_rate = 0.3;
    f.options.evaluate = MFPG_EVALUATE_NONE;
    CHECK_OK(f.ctx, fixture_start(&f));
    double sum = 0;
    int empty = 0;
    for (int round = 0; round < 2000; round++) {
        float before = mfpg_federation_model(f.federation)[0];
        mfpg_round_report report = fixture_round(&f);
        sum += (double)report.cohort;
        if (report.cohort > 0) continue;
        empty++;
        assert_true(mfpg_federation_model(f.federation)[0] == before);
    }
    check_near(sum / 2000, 2.7, 0, 4 * 0.031, "mean cohort");
    check_near(empty, 2000 * pow(0.7, 9), 0, 4 * sqrt(2000 * pow(0.7, 9)), "empty cohorts");
    fixture_close(&f);
}

/* One client a round: whoever comes first in a later round is noised there with the noise of that round, and charged for the
 * rounds that it was in, no more and no less. */
static void test_who_joins_later_is_noised_and_charged_from_then_on(void **state) {
    (void)state;
    enum { CLIENTS = 4, ROUNDS = 8 };
    mfpg_mechanism_options mechanism = gaussian();
    fixture f = fixture_open(1, "logistic", CLIENTS, 20, &mechanism, multiplier(2.0));
    f.options.rounds = ROUNDS;
    f.options.clients_per_round = 1;
    CHECK_OK(f.ctx, fixture_start(&f));
    size_t d = (size_t)mfpg_model_parameters(f.model);
    float *before = calloc(d, sizeof *before), *local = calloc(d, sizeof *local);
    float *work = calloc((size_t)mfpg_mechanism_workspace(f.mechanism, f.model, 20), sizeof *work);
    int64_t rounds[CLIENTS] = {0};
    int joined_later = 0;
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(before, mfpg_federation_model(f.federation), d * sizeof *before);
        fixture_round(&f);
        for (ptrdiff_t k = 0; k < CLIENTS; k++) {
            mfpg_client_report client;
            CHECK_OK(f.ctx, mfpg_federation_client(f.ctx, f.federation, k, &client));
            check_near(client.mu, 0.5 * sqrt((double)client.rounds), 1e-12, 0, "charged by rounds");
            if (client.rounds == rounds[k]) continue;
            joined_later += rounds[k] == 0 && round > 0;
            rounds[k] = client.rounds;
            const mfpg_dataset *data = &f.data->client[k].train;
            mfpg_stream noise = mfpg_stream_open(&f.key, MFPG_PURPOSE_NOISE, (uint64_t)round, (uint64_t)k);
            mfpg_stream batch = mfpg_stream_open(&f.key, MFPG_PURPOSE_BATCH, (uint64_t)round, (uint64_t)k);
            CHECK_OK(f.ctx, update_by(f.ctx, f.mechanism, f.model, data, data->rows, f.action[k], &noise,
                                &batch, before, local, work, NULL));
            for (size_t i = 0; i < d; i++) /* one rounding of the fixed-point sum, one to float */
                check_near((double)mfpg_federation_model(f.federation)[i], (double)local[i], 1e-7, 2e-12,
                    "its update");
        }
    }
    assert_true(joined_later >= 1);
    free(before);
    free(local);
    free(work);
    fixture_close(&f);
}

/* Nobody passes the limit, and everybody comes within one round of it. */
static void check_stop(mfpg_view view) {
    mfpg_mechanism_options mechanism = gaussian();
    mechanism.promise.view = view;
    fixture f = fixture_open(1, "logistic", 3, 20, &mechanism, multiplier(3.0));
    f.action[1] = multiplier(4.0);
    f.action[2] = multiplier(6.0);
    f.options.rounds = 200;
    f.options.stop_at_epsilon = 2.0;
    CHECK_OK(f.ctx, fixture_start(&f));
    int done = 0, rounds = 0;
    mfpg_round_report report;
    while (!done && rounds < 200) {
        CHECK_OK(f.ctx, mfpg_federation_round(f.ctx, f.federation, &report, &done));
        rounds += !done;
    }
    assert_true(done);
    double limit = mfpg_gdp_mu(2.0, f.options.delta);
    for (ptrdiff_t k = 0; k < 3; k++) {
        mfpg_client_report client;
        CHECK_OK(f.ctx, mfpg_federation_client(f.ctx, f.federation, k, &client));
        assert_true(client.stopped);
        assert_true(client.epsilon <= 2.0 * (1 + 1e-9));
        if (view == MFPG_VIEW_LOCAL)
            assert_int_equal(client.rounds, (int64_t)floor(limit * limit * pow(client.noise_multiplier, 2)));
    }
    fixture_close(&f);
}

static void test_a_budget_is_never_overspent(void **state) {
    (void)state;
    check_stop(MFPG_VIEW_LOCAL);
    check_stop(MFPG_VIEW_AVERAGE);
}

/* Equal weights and noise: the average hides each of N clients by sqrt(N). */
static void test_the_average_view_hides_by_the_root_of_the_clients(void **state) {
    (void)state;
    mfpg_mechanism_options mechanism = gaussian();
    double mu[2];
    for (int view = 0; view < 2; view++) {
        mechanism.promise.view = (mfpg_view)view;
        fixture f = fixture_open(1, "logistic", 9, 20, &mechanism, multiplier(2.0));
        CHECK_OK(f.ctx, fixture_start(&f));
        fixture_round(&f);
        mfpg_client_report client;
        CHECK_OK(f.ctx, mfpg_federation_client(f.ctx, f.federation, 4, &client));
        mu[view] = client.mu;
        fixture_close(&f);
    }
    check_near(mu[0], 0.5, 1e-12, 0, "local mu");
    check_near(mu[1], 0.5 / 3.0, 1e-12, 0, "average mu");
}

/* A Sinkhorn projection of each noised state leaves the others' noise no longer additive in the sum: the average hides
 * nobody then, and every client keeps the local certificate. */
static void test_projected_states_hide_nobody_in_their_average(void **state) {
    (void)state;
    double mu[2];
    for (int projected = 0; projected < 2; projected++) {
        mfpg_mechanism_options mechanism = mfpg_mechanism_options_default();
        mechanism.kind = "entropic";
        mechanism.promise.view = MFPG_VIEW_AVERAGE;
        mechanism.regularisation.value = projected ? 1.0 : 0.0;
        fixture f = fixture_open(1, "logistic", 9, 20, &mechanism, multiplier(2.0));
        CHECK_OK(f.ctx, fixture_start(&f));
        mfpg_release plan[9];
        CHECK_OK(f.ctx, fixture_plan(&f, plan));
        fixture_round(&f);
        mfpg_client_report client;
        CHECK_OK(f.ctx, mfpg_federation_client(f.ctx, f.federation, 4, &client));
        mu[projected] = client.mu;
        check_near(mfpg_release_mu(&plan[4], MFPG_ADJACENCY_ZERO_OUT), client.mu, 1e-12, 0, "planned mu");
        fixture_close(&f);
    }
    check_near(mu[0], 0.5 / 3.0, 1e-12, 0, "mu without projection");
    check_near(mu[1], 0.5, 1e-12, 0, "mu with projection: the local one");
}

static void test_weights_follow_rows_or_inverse_noise(void **state) {
    (void)state;
    mfpg_mechanism_options mechanism = gaussian();
    fixture f = fixture_open(1, "logistic", 2, 20, &mechanism, multiplier(1.0));
    f.action[1] = multiplier(2.0);
    f.options.weights = MFPG_WEIGHTS_INVERSE_NOISE;
    CHECK_OK(f.ctx, fixture_start(&f));
    mfpg_client_report client;
    CHECK_OK(f.ctx, mfpg_federation_client(f.ctx, f.federation, 0, &client));
    check_near(client.weight, 0.8, 1e-12, 0, "weight ~ 1/variance");
    fixture_close(&f);

    mechanism.kind = "none";
    f = fixture_open(1, "logistic", 2, 20, &mechanism, (mfpg_action){.control = MFPG_CONTROL_NONE});
    f.options.weights = MFPG_WEIGHTS_INVERSE_NOISE;
    assert_int_equal(fixture_start(&f), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(f.ctx), "inverse-noise"));
    fixture_close(&f);
}

/* Row F7: four rows at rate 1e-6, three rounds: empty batches are noise-only steps and are accounted. */
static void test_an_empty_batch_is_a_step_of_noise_and_is_charged(void **state) {
    (void)state;
    mfpg_mechanism_options mechanism = gaussian();
    mechanism.promise.unit = MFPG_UNIT_EXAMPLE;
    mechanism.batch_rate = 1e-6;
    fixture f = fixture_open(1, "logistic", 1, 4, &mechanism, multiplier(1.0));
    CHECK_OK(f.ctx, fixture_start(&f));
    float before = 0;
    for (int round = 0; round < 3; round++) {
        fixture_round(&f);
        assert_true(mfpg_federation_model(f.federation)[0] != before);
        before = mfpg_federation_model(f.federation)[0];
    }
    mfpg_client_report client;
    CHECK_OK(f.ctx, mfpg_federation_client(f.ctx, f.federation, 0, &client));
    assert_int_equal(client.steps, 3);
    check_near(client.mu, sqrt(3.0), 1e-12, 0, "three charged steps, no amplification claimed");
    fixture_close(&f);
}

static void test_a_model_that_diverges_names_round_and_client(void **state) {
    (void)state;
    mfpg_mechanism_options mechanism = gaussian();
    mechanism.kind = "none";
    mechanism.learning_rate = 1e30;
    fixture f = fixture_open(2, "quadratic", 3, 20, &mechanism, (mfpg_action){.control = MFPG_CONTROL_NONE});
    CHECK_OK(f.ctx, fixture_start(&f));
    mfpg_round_report report;
    int done;
    mfpg_status status = MFPG_OK;
    for (int round = 0; round < 5 && status == MFPG_OK; round++)
        status = mfpg_federation_round(f.ctx, f.federation, &report, &done);
    assert_int_equal(status, MFPG_ERR_NUMERIC);
    assert_non_null(strstr(mfpg_context_message(f.ctx), "round "));
    assert_non_null(strstr(mfpg_context_message(f.ctx), "client '"));
    fixture_close(&f);
}

static void test_evaluation_skips_rounds_but_never_the_last(void **state) {
    (void)state;
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    fixture every = fixture_open(1, "logistic", 2, 12, &options, multiplier(1));
    fixture some = fixture_open(1, "logistic", 2, 12, &options, multiplier(1));
    every.options.rounds = some.options.rounds = 7;
    some.options.evaluate_every = 3;
    CHECK_OK(every.ctx, fixture_start(&every));
    CHECK_OK(some.ctx, fixture_start(&some));
    for (int round = 1; round <= 7; round++) {
        mfpg_round_report all = fixture_round(&every), few = fixture_round(&some);
        assert_true(isfinite(all.loss) && isfinite(all.accuracy));
        if (round == 3 || round == 6 || round == 7)
            assert_true(few.loss == all.loss && few.accuracy == all.accuracy);
        else
            assert_true(isnan(few.loss) && isnan(few.accuracy));
    }
    fixture_close(&every);
    fixture_close(&some);
}

static void test_wrong_options_are_refused(void **state) {
    (void)state;
    mfpg_mechanism_options mechanism = gaussian();
    fixture f = fixture_open(1, "logistic", 2, 20, &mechanism, multiplier(1.0));
    mfpg_federation_options good = f.options;
    f.options.delta = 1.0;
    assert_int_equal(fixture_start(&f), MFPG_ERR_DOMAIN);
    f.options = good;
    f.options.delta = (double)NAN;
    assert_int_equal(fixture_start(&f), MFPG_ERR_DOMAIN);
    f.options = good;
    f.options.clients_per_round = 3;
    assert_int_equal(fixture_start(&f), MFPG_ERR_INPUT);
    f.options = good;
    f.options.rounds = 0;
    assert_int_equal(fixture_start(&f), MFPG_ERR_DOMAIN);
    f.options = good;
    f.options.evaluate_every = 0;
    assert_int_equal(fixture_start(&f), MFPG_ERR_DOMAIN);
    f.options = good;
    f.options.accountant = "paper_rdp";
    assert_int_equal(fixture_start(&f), MFPG_ERR_INPUT);
    f.options = good;
    f.action[1] = multiplier((double)NAN);
    assert_int_equal(fixture_start(&f), MFPG_ERR_DOMAIN);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_round_is_the_weighted_mean_of_local_updates),
        cmocka_unit_test(test_without_noise_it_is_gradient_descent),
        cmocka_unit_test(test_threads_do_not_change_a_bit),
        cmocka_unit_test(test_threads_do_not_change_a_bit_of_a_network),
        cmocka_unit_test(test_a_cohort_has_the_size_asked_for_and_its_rounds_are_counted),
        cmocka_unit_test(test_a_client_rate_is_poisson_and_an_empty_round_releases_nothing),
        cmocka_unit_test(test_who_joins_later_is_noised_and_charged_from_then_on),
        cmocka_unit_test(test_a_budget_is_never_overspent),
        cmocka_unit_test(test_the_average_view_hides_by_the_root_of_the_clients),
        cmocka_unit_test(test_projected_states_hide_nobody_in_their_average),
        cmocka_unit_test(test_weights_follow_rows_or_inverse_noise),
        cmocka_unit_test(test_an_empty_batch_is_a_step_of_noise_and_is_charged),
        cmocka_unit_test(test_a_model_that_diverges_names_round_and_client),
        cmocka_unit_test(test_evaluation_skips_rounds_but_never_the_last),
        cmocka_unit_test(test_wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
