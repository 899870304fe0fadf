/* Records as particles: mu of a push and of a last state against closed forms and two independent routes, and every door
 * against releases and ledgers of the other kind. */
#include "accountants/accounting.h"
#include "accountants/fixture.h"
#include "accountants/view_noise.h"

#include "ledger_text.h"

#include <unistd.h>

/* Fills last_sd of one round's releases, all clients that take part. */
static void apply_view(const mfpg_promise *promise, const unsigned char *colluder, int participants,
    mfpg_release *release, ptrdiff_t count) {
    mfpg_view_noise view = mfpg_view_start(promise, colluder, participants);
    for (ptrdiff_t i = 0; view.sums && i < count; i++) mfpg_view_rank(&view, &release[i]);
    for (ptrdiff_t i = 0; view.sums && i < count; i++) mfpg_view_add(&view, &release[i]);
    for (ptrdiff_t i = 0; i < count; i++) release[i].last_sd = mfpg_view_last_sd(&view, &release[i]);
}

static mfpg_release push_of(double sensitivity, double noise_sd, double contraction) {
    mfpg_release release = release_of(sensitivity, noise_sd);
    release.particles = MFPG_PARTICLES_DATA;
    release.contraction = contraction;
    return release;
}

/* ---- the last state alone ---- */

static void test_reference_values_are_met_from_above(void **state) {
    (void)state;
    const struct {
        double distance, noise, c;
        int64_t steps;
        double mu;
    } rows[] = {
        /* source: theory_vectors T097, T098, T100 (theory S5.2) */
        {1.0, 0.5, 0.9, 1, 1.8}, {1.0, 0.5, 0.9, 10, 0.324324648363}, {1.0, 0.5, 1.0, 25, 0.4},
        {2.0, 0.5, 0.0, 1, 0.0},                           /* nothing of the record is left */
        {0.0, 0.5, 0.9, 3, 0.0}, {2.0, 8.0, 1.0, 1, 0.25}, /* records plus noise: D/sigma */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double mu = mfpg_data_exogenous_mu(rows[i].distance, rows[i].noise, rows[i].c, rows[i].steps);
        check_near(mu, rows[i].mu, 1e-11, 0, "mu"); /* the references have 12 digits */
        if (rows[i].c != 0.9) assert_true(mu >= rows[i].mu);
    }
    /* theory S5.2: D = 2, strength 1, prior variance 1, step 0.1 */
    double s = sqrt(0.2);
    check_near(mfpg_data_exogenous_mu(2, s, 0.9, 1), 4.0249, 1e-4, 0, "K = 1");
    check_near(mfpg_data_exogenous_mu(2, s, 0.9, 10), 0.7252, 1e-4, 0, "K = 10");
    check_near(mfpg_data_exogenous_mu(2, s, 0.9, 50), 0.010047, 1e-4, 0, "K = 50");
}

/* Second route: the law of x_K of linear maps, step by step in long double: gap c^K D, variance s^2 sum of c^(2j). */
static long double exact_last_mu(double distance, double noise, double c, int64_t steps) {
    long double gap = (long double)distance, variance = 0.0L;
    for (int64_t k = 0; k < steps; k++) {
        gap *= (long double)c;
        variance = (long double)c * (long double)c * variance + (long double)noise * (long double)noise;
    }
    return gap / sqrtl(variance);
}

static void test_linear_maps_attain_the_bound(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(2000); i++) {
        double distance = random_scale(&random, 1e-3, 1e3), noise = random_scale(&random, 1e-3, 1e3);
        int64_t steps = 1 + (int64_t)random_scale(&random, 1, 300);
        double c = i % 3 == 0   ? 1.0 - random_scale(&random, 1e-16, 1e-3)
                   : i % 3 == 1 ? random_unit(&random)
                                : 1.0 + random_scale(&random, 1e-16, 0.05);
        long double exact = exact_last_mu(distance, noise, c, steps);
        double alone = mfpg_data_exogenous_mu(distance, noise, c, 1);
        double mu = mfpg_data_exogenous_mu(distance, noise, c, steps);
        if (-2.0 * (double)steps * log(c) > 599.0) { /* there, the bound of an earlier state is given */
            assert_true((long double)mu >= exact && mu <= 1e-129 * distance / noise);
            continue;
        }
        /* the recursion rounds `steps` times at 2^-64, which a long c^K magnifies no more than that */
        if (!((long double)mu >= exact * (1.0L - 1e-15L) && (long double)mu <= exact * (1.0L + 1e-11L)))
            fail_msg("c %.17g, steps %lld: mu %.17g, exact %.17Lg", c, (long long)steps, mu, exact);
        assert_true(mu <= alone);
    }
}

static void test_long_chains_never_reach_zero_or_nan(void **state) {
    (void)state;
    const double contractions[] = {1e-300, 0.5, 1.0 - 0x1p-53, 1.0, 1.0 + 0x1p-52, 2.0};
    for (size_t i = 0; i < 6; i++) {
        double before = (double)INFINITY;
        for (int64_t steps = 1; steps < INT64_C(1) << 60; steps *= 7) {
            double mu = mfpg_data_exogenous_mu(1.0, 1.0, contractions[i], steps);
            assert_true(mu > 0.0 && mu <= before * (1.0 + 1e-12)); /* rounded up by less than that */
            before = mu;
        }
    }
}

static void test_what_is_no_number_is_infinity(void **state) {
    (void)state;
    const double bad[] = {NAN, -1.0, HUGE_VAL};
    for (int i = 0; i < 3; i++) {
        assert_true(mfpg_data_exogenous_mu(bad[i], 1, 0.9, 2) == HUGE_VAL);
        assert_true(mfpg_data_exogenous_mu(1, bad[i], 0.9, 2) == HUGE_VAL);
        assert_true(mfpg_data_exogenous_mu(1, 1, bad[i], 2) == HUGE_VAL);
    }
    assert_true(mfpg_data_exogenous_mu(1, 1, 0.9, 0) == HUGE_VAL);
    assert_true(mfpg_data_exogenous_mu(1, 0, 0.9, 5) == HUGE_VAL);
    assert_true(mfpg_data_exogenous_mu(1, 0, 0, 5) == HUGE_VAL);
    assert_true(mfpg_data_exogenous_mu(0, 0, 0.9, 5) == 0.0);
}

/* ---- one push, whatever follows ---- */

static double accounted_mu(
    mfpg_context *ctx, mfpg_adjacency adjacency, const mfpg_release *release, int times) {
    mfpg_accountant_options options = mfpg_accountant_options_default();
    options.promise.adjacency = adjacency;
    mfpg_accountant *accountant = NULL;
    CHECK_OK(ctx, mfpg_accountant_create(ctx, "data-particles", &options, &accountant));
    CHECK_OK(ctx, mfpg_accountant_record_times(ctx, accountant, release, times));
    double mu = mfpg_accountant_mu(accountant), epsilon;
    CHECK_OK(ctx, mfpg_accountant_epsilon(ctx, accountant, 1e-5, &epsilon));
    assert_true(epsilon == mfpg_gdp_epsilon(mu, 1e-5));
    double doubled = adjacency == MFPG_ADJACENCY_ZERO_OUT ? 2.0 : 0.5;
    mfpg_adjacency other =
        adjacency == MFPG_ADJACENCY_ZERO_OUT ? MFPG_ADJACENCY_REPLACE : MFPG_ADJACENCY_ZERO_OUT;
    CHECK_OK(ctx, mfpg_accountant_epsilon_under(ctx, accountant, other, 1e-5, &epsilon));
    assert_true(epsilon == mfpg_gdp_epsilon(doubled * mu, 1e-5));
    mfpg_accountant_destroy(accountant);
    return mu;
}

static void test_a_push_costs_its_contracted_distance_over_its_noise(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const mfpg_release input = push_of(1.0, 4.0, 1.0), flow = push_of(1.0, sqrt(0.2), 0.9);
    assert_true(accounted_mu(ctx, MFPG_ADJACENCY_REPLACE, &input, 1) == 0.5); /* S5.3: D/sigma, exactly */
    assert_true(accounted_mu(ctx, MFPG_ADJACENCY_ZERO_OUT, &input, 1) == 0.25);
    check_near(accounted_mu(ctx, MFPG_ADJACENCY_REPLACE, &flow, 1), 1.8 / sqrt(0.2), 1e-15, 0, "c D/s");
    assert_true(mfpg_data_release_mu(&flow, MFPG_ADJACENCY_REPLACE) >= 1.8 / sqrt(0.2) * (1 - 1e-16));
    /* fresh pushes of the raw records compose: mu^2 adds up */
    assert_true(accounted_mu(ctx, MFPG_ADJACENCY_REPLACE, &input, 16) == 2.0);
    mfpg_context_destroy(ctx);
}

static void test_no_noise_or_a_faulty_push_is_infinity(void **state) {
    (void)state;
    const mfpg_release silent = push_of(1.0, 0.0, 0.9);
    assert_true(mfpg_data_release_mu(&silent, MFPG_ADJACENCY_REPLACE) == HUGE_VAL);
    for (int fault = 0; fault < 5; fault++) {
        mfpg_release bad = push_of(1.0, 2.0, 0.9);
        if (fault == 0) bad.steps = 2;
        if (fault == 1) bad.last_sd = 4.0; /* no view hides a noised record */
        if (fault == 2) bad.sampling_rate = 0.5;
        if (fault == 3) bad.contraction = 0.0; /* what was forgotten is no guarantee */
        if (fault == 4) bad.contraction = NAN;
        assert_true(mfpg_data_release_mu(&bad, MFPG_ADJACENCY_REPLACE) == HUGE_VAL);
    }
}

/* ---- the other kind, at the functions that take a release ---- */

static void test_each_formula_refuses_the_other_kind(void **state) {
    (void)state;
    mfpg_release data = push_of(1.0, 2.0, 1.0), parameters = release_of(1.0, 2.0);
    assert_true(mfpg_release_mu(&data, MFPG_ADJACENCY_ZERO_OUT) == HUGE_VAL);
    assert_true(mfpg_data_release_mu(&parameters, MFPG_ADJACENCY_ZERO_OUT) == HUGE_VAL);
    data.particles = MFPG_PARTICLES_PARAMETERS;
    data.contraction = 0.9; /* what a relabelled push still carries */
    assert_true(mfpg_release_mu(&data, MFPG_ADJACENCY_ZERO_OUT) == HUGE_VAL);
    parameters.particles = MFPG_PARTICLES_DATA; /* a relabelled step knows no contraction */
    assert_true(mfpg_data_release_mu(&parameters, MFPG_ADJACENCY_ZERO_OUT) == HUGE_VAL);
}

static void test_no_view_hides_records_and_records_hide_nobody(void **state) {
    (void)state;
    const mfpg_promise average = {MFPG_UNIT_CLIENT, MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_AVERAGE};
    mfpg_release alone[2], mixed[3];
    for (int i = 0; i < 2; i++) {
        alone[i] = release_of(1.0, 1.0);
        alone[i].client = i;
        alone[i].weight = 0.25;
        mixed[i] = alone[i];
    }
    mixed[2] = push_of(1.0, 100.0, 1.0);
    mixed[2].client = 2;
    mixed[2].weight = 0.5;
    mixed[2].last_sd = 1e6;
    apply_view(&average, NULL, 0, alone, 2);
    apply_view(&average, NULL, 0, mixed, 3);
    assert_true(mixed[2].last_sd == 100.0);
    assert_true(mixed[0].last_sd == alone[0].last_sd && mixed[0].last_sd > 1.4); /* sqrt 2 of the two */
}

/* ---- ledgers ---- */

static char folder[] = "data-ledger-XXXXXX", path[64];

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/ledger", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static mfpg_ledger_header header_of(mfpg_particles particles) {
    return (mfpg_ledger_header){.particles = particles,
        .clients = 3,
        .promise = {MFPG_UNIT_CLIENT, MFPG_ADJACENCY_REPLACE, MFPG_VIEW_LOCAL},
        .delta = 1e-5};
}

static mfpg_status keep(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    assert_true(first == 0 && last == 2);
    *(mfpg_release *)user = *release;
    return MFPG_OK;
}

/* The same release of three clients, written to a new ledger of that kind. */
static void write_ledger(mfpg_context *ctx, mfpg_release release) {
    const mfpg_ledger_header header = header_of(release.particles);
    mfpg_release round[3];
    mfpg_ledger *ledger = NULL;
    for (int k = 0; k < 3; k++) {
        round[k] = release;
        round[k].client = k;
        round[k].round = 1;
    }
    CHECK_OK(ctx, mfpg_ledger_create(ctx, path, &header, &ledger));
    CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, round, 3));
    mfpg_ledger_close(ledger);
}

static void test_a_ledger_keeps_the_kind_to_the_last_bit(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const mfpg_release releases[] = {push_of(0.1, 1.0 / 3, 0.7), release_of(0.1, 1.0 / 3)};
    for (int i = 0; i < 2; i++) {
        mfpg_ledger_header header;
        mfpg_release seen;
        write_ledger(ctx, releases[i]);
        CHECK_OK(ctx, mfpg_ledger_read(ctx, path, &header, keep, &seen, NULL));
        assert_int_equal(header.particles, releases[i].particles);
        assert_int_equal(seen.particles, releases[i].particles);
        assert_true(seen.contraction == (i == 0 ? 0.7 : 1.0));
        assert_true(seen.sensitivity == 0.1 && seen.noise_sd == 1.0 / 3);
        unlink(path);
    }
    mfpg_context_destroy(ctx);
}

static void test_a_ledger_takes_its_own_kind_only(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const mfpg_release releases[] = {release_of(1.0, 1.0), push_of(1.0, 1.0, 0.9)};
    for (int kind = 0; kind < 2; kind++) {
        const mfpg_ledger_header header = header_of((mfpg_particles)kind),
                                 other = header_of((mfpg_particles)(1 - kind));
        mfpg_ledger *ledger = NULL;
        CHECK_OK(ctx, mfpg_ledger_create(ctx, path, &header, &ledger));
        assert_int_equal(mfpg_ledger_append(ctx, ledger, &releases[1 - kind], 1), MFPG_ERR_DOMAIN);
        assert_non_null(strstr(mfpg_context_message(ctx), "particles"));
        CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, &releases[kind], 1));
        mfpg_ledger_close(ledger);
        ledger = NULL;
        assert_int_equal(mfpg_ledger_resume(ctx, path, &other, 1, &ledger), MFPG_ERR_INPUT);
        assert_null(ledger);
        CHECK_OK(ctx, mfpg_ledger_resume(ctx, path, &header, 1, &ledger));
        mfpg_ledger_close(ledger);
        unlink(path);
    }
    const mfpg_ledger_header unknown = header_of((mfpg_particles)7);
    mfpg_ledger *ledger = NULL;
    assert_int_equal(mfpg_ledger_create(ctx, path, &unknown, &ledger), MFPG_ERR_DOMAIN);
    mfpg_context_destroy(ctx);
}

/* Replaces the n-th occurrence (from 0; -1: every one) of a text in the file, whose lines are then sealed anew. */
static void edit(const char *from, const char *to, int which) {
    char text[4096], edited[8192] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    char *at = text;
    for (int n = 0;; n++) {
        char *hit = strstr(at, from);
        if (!hit) break;
        strncat(edited, at, (size_t)(hit - at));
        strcat(edited, which < 0 || which == n ? to : from);
        at = hit + strlen(from);
    }
    strcat(edited, at);
    size_t length = strlen(edited);
    char *sealed = ledger_sealed(edited, &length);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(sealed, file);
    fclose(file);
    free(sealed);
}

static void test_a_relabelled_ledger_is_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const char *const label[] = {"\"particles\":\"parameters\"", "\"particles\":\"data\""};
    const mfpg_release releases[] = {release_of(1.0, 1.0), push_of(1.0, 1.0, 0.9)};
    for (int kind = 0; kind < 2; kind++)
        for (int which = -1; which < 2; which++) { /* every line, the header, the release */
            mfpg_release seen;
            write_ledger(ctx, releases[kind]);
            edit(label[kind], label[1 - kind], which);
            assert_int_equal(mfpg_ledger_read(ctx, path, NULL, keep, &seen, NULL), MFPG_ERR_INPUT);
            assert_non_null(strstr(mfpg_context_message(ctx), ":2:"));
            unlink(path);
        }
    for (int which = 0; which < 2; which++) { /* a line that does not say is no line */
        write_ledger(ctx, releases[0]);
        edit("\"particles\":\"parameters\",", "", which);
        assert_int_equal(mfpg_ledger_read(ctx, path, NULL, NULL, NULL, NULL), MFPG_ERR_INPUT);
        unlink(path);
    }
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_values_are_met_from_above),
        cmocka_unit_test(test_linear_maps_attain_the_bound),
        cmocka_unit_test(test_long_chains_never_reach_zero_or_nan),
        cmocka_unit_test(test_what_is_no_number_is_infinity),
        cmocka_unit_test(test_a_push_costs_its_contracted_distance_over_its_noise),
        cmocka_unit_test(test_no_noise_or_a_faulty_push_is_infinity),
        cmocka_unit_test(test_each_formula_refuses_the_other_kind),
        cmocka_unit_test(test_no_view_hides_records_and_records_hide_nobody),
        cmocka_unit_test(test_a_ledger_keeps_the_kind_to_the_last_bit),
        cmocka_unit_test(test_a_ledger_takes_its_own_kind_only),
        cmocka_unit_test(test_a_relabelled_ledger_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
