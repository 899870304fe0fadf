/* What every accountant of accountants.def must keep. Those that certify are held to more than the paper's. */
#include "accountants/accounting.h"
#include "accountants/fixture.h"

static mfpg_accountant *created(mfpg_context *ctx, ptrdiff_t kind) {
    mfpg_accountant *made = NULL;
    CHECK_OK(ctx, mfpg_accountant_create(ctx, mfpg_kind_name(&mfpg_accountants, kind), NULL, &made));
    return made;
}

static double epsilon_at(mfpg_context *ctx, const mfpg_accountant *accountant, double delta) {
    double epsilon = -1.0;
    CHECK_OK(ctx, mfpg_accountant_epsilon(ctx, accountant, delta, &epsilon));
    return epsilon;
}

static double delta_at(mfpg_context *ctx, const mfpg_accountant *accountant, double epsilon) {
    double delta = -1.0;
    CHECK_OK(ctx, mfpg_accountant_delta(ctx, accountant, epsilon, &delta));
    return delta;
}

/* epsilon at 1e-5 after `times` equal releases. */
static double epsilon_after(mfpg_context *ctx, ptrdiff_t kind, const mfpg_release *release, int times) {
    mfpg_accountant *accountant = created(ctx, kind);
    for (int i = 0; i < times; i++) CHECK_OK(ctx, mfpg_accountant_record(ctx, accountant, release));
    double epsilon = epsilon_at(ctx, accountant, 1e-5);
    mfpg_accountant_destroy(accountant);
    return epsilon;
}

static mfpg_particles particles_of(mfpg_context *ctx, ptrdiff_t kind) {
    mfpg_accountant *accountant = created(ctx, kind);
    mfpg_particles particles = mfpg_accountant_particles(accountant);
    mfpg_accountant_destroy(accountant);
    return particles;
}

/* A release of the kind that the accountant knows; the first map of data particles keeps distances. */
static mfpg_release release_for(mfpg_context *ctx, ptrdiff_t kind, double sensitivity, double noise_sd) {
    mfpg_release release = entropic_release(sensitivity, noise_sd, 1.0);
    release.particles = particles_of(ctx, kind);
    release.contraction = 1.0;
    return release;
}

static int certifies(mfpg_context *ctx, ptrdiff_t kind) {
    mfpg_accountant *accountant = created(ctx, kind);
    int certain = mfpg_accountant_certifies(accountant);
    mfpg_accountant_destroy(accountant);
    return certain;
}

static void test_names_are_listed_once_and_made_by_name(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    ptrdiff_t count = 0;
    for (; mfpg_kind_name(&mfpg_accountants, count); count++) {
        assert_true(strlen(mfpg_kind_help(&mfpg_accountants, count)) > 0);
        for (ptrdiff_t j = 0; j < count; j++)
            assert_string_not_equal(
                mfpg_kind_name(&mfpg_accountants, j), mfpg_kind_name(&mfpg_accountants, count));
        int paper = strncmp(mfpg_kind_name(&mfpg_accountants, count), "paper_", 6) == 0;
        assert_int_equal(certifies(ctx, count), !paper); /* the name says it */
        assert_int_equal(count < mfpg_certifying_accountants.count, !paper);
    }
    assert_true(count >= 3);
    assert_null(mfpg_kind_help(&mfpg_accountants, count));
    assert_null(mfpg_kind_name(&mfpg_accountants, -1));
    mfpg_context_destroy(ctx);
}

static void test_unknown_names_and_promises_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_accountant *made = NULL;
    assert_int_equal(mfpg_accountant_create(ctx, "gdpp", NULL, &made), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "\"gdp\""));
    assert_int_equal(mfpg_accountant_create(ctx, NULL, NULL, &made), MFPG_ERR_INPUT);
    mfpg_accountant_options options = mfpg_accountant_options_default();
    options.promise.adjacency = (mfpg_adjacency)7;
    assert_int_equal(mfpg_accountant_create(ctx, "gdp", &options, &made), MFPG_ERR_INPUT);
    assert_null(made);
    mfpg_accountant_destroy(NULL);
    mfpg_context_destroy(ctx);
}

static void test_nothing_recorded_costs_nothing(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_accountants, kind); kind++) {
        mfpg_accountant *accountant = created(ctx, kind);
        assert_true(epsilon_at(ctx, accountant, 1e-5) == 0.0);
        assert_true(epsilon_at(ctx, accountant, 0.0) == 0.0);
        assert_true(delta_at(ctx, accountant, 0.0) == 0.0);
        mfpg_accountant_destroy(accountant);
    }
    mfpg_context_destroy(ctx);
}

static void test_the_two_ends_of_an_answer_are_in_order(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    mfpg_context *ctx = testing_context(1);
    for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_accountants, kind); kind++) {
        for (int run = 0; run < testing_repeats(20); run++) {
            mfpg_accountant *accountant = created(ctx, kind);
            mfpg_release release =
                release_for(ctx, kind, random_scale(&random, 1e-9, 10), random_scale(&random, 1e-2, 10));
            mfpg_bounds epsilon = {-1, -1}, delta = {-1, -1};
            CHECK_OK(ctx, mfpg_accountant_record_times(ctx, accountant, &release, 1 + run));
            CHECK_OK(ctx, mfpg_accountant_epsilon_bounds(ctx, accountant, 1e-5, &epsilon));
            CHECK_OK(ctx, mfpg_accountant_delta_bounds(ctx, accountant, 0.5, &delta));
            assert_true(epsilon.lower >= 0.0 && epsilon.upper >= epsilon.lower);
            assert_true(delta.lower >= 0.0 && delta.upper >= delta.lower);
            if (certifies(ctx, kind)) assert_true(epsilon.upper == epsilon_at(ctx, accountant, 1e-5));
            if (strcmp(mfpg_kind_name(&mfpg_accountants, kind), "gdp") ==
                0) /* exact, so the ends nearly meet */
                assert_true(epsilon.upper - epsilon.lower <= 1e-9 * (1.0 + epsilon.upper));
            mfpg_accountant_destroy(accountant);
        }
    }
    mfpg_context_destroy(ctx);
}

static void test_epsilon_never_falls_as_rounds_accumulate(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    mfpg_context *ctx = testing_context(1);
    for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_accountants, kind); kind++) {
        if (!certifies(ctx, kind)) continue;
        for (int run = 0; run < testing_repeats(20); run++) {
            mfpg_accountant *accountant = created(ctx, kind);
            double epsilon = 0.0, delta = 0.0;
            for (int t = 0; t < 20; t++) {
                mfpg_release release =
                    release_for(ctx, kind, random_scale(&random, 1e-9, 10), random_scale(&random, 1e-2, 10));
                if (release.particles == MFPG_PARTICLES_PARAMETERS)
                    release.steps = 1 + (int64_t)(5 * random_unit(&random));
                CHECK_OK(ctx, mfpg_accountant_record(ctx, accountant, &release));
                double more = epsilon_at(ctx, accountant, 1e-5), likelier = delta_at(ctx, accountant, 1.0);
                assert_true(more >= epsilon);
                assert_true(likelier >= delta * (1 - 1e-12)); /* delta is rounded up by less than that */
                epsilon = more;
                delta = likelier;
            }
            mfpg_accountant_destroy(accountant);
        }
    }
    mfpg_context_destroy(ctx);
}

static void test_epsilon_grows_with_sensitivity_and_falls_with_noise(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    mfpg_context *ctx = testing_context(1);
    for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_accountants, kind); kind++) {
        if (!certifies(ctx, kind)) continue;
        for (int i = 0; i < testing_repeats(100); i++) {
            double s = random_scale(&random, 1e-3, 10), sd = random_scale(&random, 0.1, 100);
            double factor = 1.0 + random_scale(&random, 1e-16, 1.0);
            int times = 1 + (int)(10 * random_unit(&random));
            mfpg_release base = release_for(ctx, kind, s, sd),
                         louder = release_for(ctx, kind, s * factor, sd),
                         quieter = release_for(ctx, kind, s, sd * factor), longer = base;
            if (base.particles == MFPG_PARTICLES_PARAMETERS)
                longer.steps = 2;
            else
                longer.contraction = factor;
            double epsilon = epsilon_after(ctx, kind, &base, times);
            assert_true(epsilon_after(ctx, kind, &louder, times) >= epsilon);
            assert_true(epsilon_after(ctx, kind, &quieter, times) <= epsilon);
            assert_true(epsilon_after(ctx, kind, &longer, times) >= epsilon);
        }
    }
    mfpg_context_destroy(ctx);
}

static void test_order_of_records_does_not_show(void **state) {
    (void)state;
    enum { RECORDS = 60 };
    uint64_t random = announced_seed();
    mfpg_context *ctx = testing_context(1);
    mfpg_release releases[RECORDS];
    for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_accountants, kind); kind++) {
        if (!certifies(ctx, kind)) continue;
        double expected = -1.0, expected_mu = -1.0;
        for (int i = 0; i < RECORDS; i++)
            releases[i] =
                release_for(ctx, kind, random_scale(&random, 1e-4, 1), random_scale(&random, 0.5, 5));
        for (int shuffle = 0; shuffle < 1 + testing_repeats(50); shuffle++) {
            mfpg_accountant *accountant = created(ctx, kind);
            for (int i = 0; i < RECORDS; i++)
                CHECK_OK(ctx, mfpg_accountant_record(ctx, accountant, &releases[i]));
            double epsilon = epsilon_at(ctx, accountant, 1e-5);
            double mu = mfpg_accountant_mu(accountant);
            if (shuffle > 0) assert_true(epsilon == expected && mu == expected_mu); /* to the last bit */
            expected = epsilon;
            expected_mu = mu;
            mfpg_accountant_destroy(accountant);
            for (int i = RECORDS - 1; i > 0; i--) { /* Fisher-Yates */
                int j = (int)((i + 1) * random_unit(&random));
                mfpg_release kept = releases[i];
                releases[i] = releases[j];
                releases[j] = kept;
            }
        }
    }
    mfpg_context_destroy(ctx);
}

static void test_delta_and_epsilon_out_of_range_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const double bad_deltas[] = {1.0, 1.5, -0.1, NAN}, bad_epsilons[] = {-1.0, NAN};
    for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_accountants, kind); kind++) {
        mfpg_accountant *accountant = created(ctx, kind);
        mfpg_release release = release_for(ctx, kind, 1.0, 1.0);
        for (int recorded = 0; recorded < 2; recorded++) {
            for (size_t i = 0; i < 4; i++) {
                double epsilon = 0.0;
                assert_int_equal(
                    mfpg_accountant_epsilon(ctx, accountant, bad_deltas[i], &epsilon), MFPG_ERR_DOMAIN);
                assert_true(epsilon == HUGE_VAL);
            }
            for (size_t i = 0; i < 2; i++) {
                double delta = 0.0;
                assert_int_equal(
                    mfpg_accountant_delta(ctx, accountant, bad_epsilons[i], &delta), MFPG_ERR_DOMAIN);
                assert_true(delta == HUGE_VAL);
            }
            CHECK_OK(ctx, mfpg_accountant_record(ctx, accountant, &release));
        }
        if (mfpg_accountant_certifies(accountant)) assert_true(epsilon_at(ctx, accountant, 0.0) == HUGE_VAL);
        mfpg_accountant_destroy(accountant);
    }
    mfpg_context_destroy(ctx);
}

static void check_poison_as(mfpg_context *ctx, ptrdiff_t kind, const mfpg_release *bad, mfpg_status refusal) {
    mfpg_accountant *accountant = created(ctx, kind);
    mfpg_release good = release_for(ctx, kind, 1.0, 5.0);
    CHECK_OK(ctx, mfpg_accountant_record(ctx, accountant, &good));
    assert_int_equal(mfpg_accountant_record(ctx, accountant, bad), refusal);
    assert_true(strlen(mfpg_context_message(ctx)) > 0);
    for (int again = 0; again < 2; again++) {
        assert_true(epsilon_at(ctx, accountant, 1e-5) == HUGE_VAL);
        assert_true(delta_at(ctx, accountant, 1.0) == HUGE_VAL);
        assert_true(mfpg_accountant_mu(accountant) == HUGE_VAL);
        CHECK_OK(ctx, mfpg_accountant_record(ctx, accountant, &good)); /* does not heal it */
    }
    mfpg_accountant_destroy(accountant);
}

static void check_poison(mfpg_context *ctx, ptrdiff_t kind, const mfpg_release *bad) {
    check_poison_as(ctx, kind, bad, MFPG_ERR_DOMAIN);
}

/* Theory S5.4: a certificate of the one kind of particle says nothing about a release of the other. */
static void test_the_other_kind_of_particle_poisons_for_ever(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    int seen[2] = {0};
    for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_accountants, kind); kind++) {
        mfpg_release bad = release_for(ctx, kind, 1.0, 5.0), good = bad;
        seen[bad.particles]++;
        bad.particles =
            bad.particles == MFPG_PARTICLES_DATA ? MFPG_PARTICLES_PARAMETERS : MFPG_PARTICLES_DATA;
        check_poison_as(ctx, kind, &bad, MFPG_ERR_INPUT);
        mfpg_accountant *accountant = created(ctx, kind);
        assert_int_equal(mfpg_accountant_affords(ctx, accountant, &bad, 1e-5, 1e6), 0);
        assert_int_equal(mfpg_accountant_affords(ctx, accountant, &good, 1e-5, 1e6), 1);
        mfpg_accountant_destroy(accountant);
        bad.particles = (mfpg_particles)2;
        check_poison(ctx, kind, &bad);
    }
    assert_true(seen[MFPG_PARTICLES_PARAMETERS] > 0 && seen[MFPG_PARTICLES_DATA] > 0);
    mfpg_context_destroy(ctx);
}

/* F11: other libraries answer 0 for a noise of NaN, and go on after negative numbers. */
static void test_a_faulty_release_poisons_for_ever(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const double faults[] = {NAN, -1.0, HUGE_VAL};
    for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_accountants, kind); kind++) {
        for (size_t i = 0; i < 3; i++) {
            const mfpg_release good = release_for(ctx, kind, 1.0, 5.0);
            mfpg_release bad = good;
            bad.noise_sd = faults[i];
            check_poison(ctx, kind, &bad);
            bad = good;
            bad.last_sd = faults[i];
            check_poison(ctx, kind, &bad);
            bad = good;
            bad.sensitivity = faults[i];
            check_poison(ctx, kind, &bad);
            bad = good;
            bad.weight = faults[i];
            check_poison(ctx, kind, &bad);
            bad = good;
            bad.sampling_rate = faults[i];
            check_poison(ctx, kind, &bad);
            bad = good;
            bad.action.strength.value = faults[i];
            check_poison(ctx, kind, &bad);
            bad = good;
            bad.contraction = faults[i];
            check_poison(ctx, kind, &bad);
            bad = good;
            bad.hidden_contraction = faults[i];
            check_poison(ctx, kind, &bad);
            bad = good;
            bad.hidden_shift = faults[i];
            check_poison(ctx, kind, &bad);
        }
        for (int64_t steps = -3; steps <= 0; steps++) {
            mfpg_release bad = release_for(ctx, kind, 1.0, 5.0);
            bad.steps = steps;
            check_poison(ctx, kind, &bad);
        }
    }
    mfpg_context_destroy(ctx);
}

/* epsilon(delta) and delta(epsilon) are one curve seen from two sides. */
static void test_epsilon_and_delta_belong_together(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_accountants, kind); kind++) {
        if (!certifies(ctx, kind)) continue;
        mfpg_accountant *accountant = created(ctx, kind);
        mfpg_release release = release_for(ctx, kind, 1.0, 4.0);
        for (int t = 0; t < 10; t++) CHECK_OK(ctx, mfpg_accountant_record(ctx, accountant, &release));
        double previous = HUGE_VAL;
        for (double delta = 1e-12; delta < 0.5; delta *= 10) {
            double epsilon = epsilon_at(ctx, accountant, delta);
            assert_true(epsilon <= previous);
            assert_true(delta_at(ctx, accountant, epsilon) <= delta * (1 + 1e-12));
            assert_true(epsilon == 0.0 || delta_at(ctx, accountant, 0.99 * epsilon) > delta);
            previous = epsilon;
        }
        mfpg_accountant_destroy(accountant);
    }
    mfpg_context_destroy(ctx);
}

/* Every certifying accountant covers a Gaussian mechanism without sampling, whose exact epsilon is known (F1). */
static void test_certificates_cover_the_exact_gaussian(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_accountants, kind); kind++) {
        if (!certifies(ctx, kind)) continue;
        mfpg_accountant_options options = mfpg_accountant_options_default();
        options.promise.adjacency = MFPG_ADJACENCY_REPLACE;
        mfpg_release release = release_for(ctx, kind, 1.0, 1.0);
        assert_true(epsilon_after(ctx, kind, &release, 1) >= 4.37717);
        mfpg_accountant *accountant = NULL;
        CHECK_OK(
            ctx, mfpg_accountant_create(ctx, mfpg_kind_name(&mfpg_accountants, kind), &options, &accountant));
        CHECK_OK(ctx, mfpg_accountant_record(ctx, accountant, &release));
        assert_true(epsilon_at(ctx, accountant, 1e-5) >= 9.99725);
        mfpg_accountant_destroy(accountant);
    }
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_listed_once_and_made_by_name),
        cmocka_unit_test(test_unknown_names_and_promises_are_refused),
        cmocka_unit_test(test_nothing_recorded_costs_nothing),
        cmocka_unit_test(test_the_two_ends_of_an_answer_are_in_order),
        cmocka_unit_test(test_epsilon_never_falls_as_rounds_accumulate),
        cmocka_unit_test(test_epsilon_grows_with_sensitivity_and_falls_with_noise),
        cmocka_unit_test(test_order_of_records_does_not_show),
        cmocka_unit_test(test_delta_and_epsilon_out_of_range_are_refused),
        cmocka_unit_test(test_a_faulty_release_poisons_for_ever),
        cmocka_unit_test(test_the_other_kind_of_particle_poisons_for_ever),
        cmocka_unit_test(test_epsilon_and_delta_belong_together),
        cmocka_unit_test(test_certificates_cover_the_exact_gaussian),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
