/* Bounds on a user's own scores: exact cases, how often they are wrong, and what is refused. */
#include "testing.h"

#include "audit/planning.h"
#include "mfpg/accountant.h"
#include "mfpg/random.h"

enum { SCORES = 400 };

static void draw(uint64_t seed, double shift, double *inside, double *outside) {
    mfpg_key key = mfpg_key_from_seed(seed);
    mfpg_stream a = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0),
                b = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 1, 0);
    double uniform;
    for (uint64_t i = 0; i < SCORES; i++) {
        mfpg_stream_uniform(&a, i, 1, &uniform);
        inside[i] = mfpg_normal_quantile(uniform) + shift;
        mfpg_stream_uniform(&b, i, 1, &uniform);
        outside[i] = mfpg_normal_quantile(uniform);
    }
}

static void test_separated_scores_prove_what_counts_without_errors_prove(void **state) {
    mfpg_context *ctx = testing_context(1);
    double inside[60], outside[50];
    mfpg_score_bounds b;
    mfpg_score_options options = mfpg_score_options_default();
    (void)state;
    for (int i = 0; i < 60; i++) inside[i] = 1 + i;
    for (int i = 0; i < 50; i++) outside[i] = -i;
    CHECK_OK(ctx, mfpg_audit_scores(ctx, &options, inside, 60, outside, 50, &b));
    assert_true(b.inside == 60 && b.outside == 50 && b.auc == 1);
    assert_true(b.mu_lower == mfpg_bound_mu_rank(1, 50, 60, 1 - 0.99));
    assert_true(b.tested_inside == 30 && b.tested_outside == 25 && b.false_positives + b.false_negatives < 5);
    const mfpg_error_counts e = {b.false_positives, 25, b.false_negatives, 30};
    assert_true(b.epsilon_lower_direct == mfpg_bound_epsilon_direct(&e, 1e-5, 1 - 0.99));
    assert_true(b.epsilon_lower_direct > 1);
    assert_true(b.epsilon_lower_one_run > 1);
    mfpg_context_destroy(ctx);
}

/* Scores of an exact mu: each bound is above what mu means no more often than its confidence says. */
static void test_bounds_are_wrong_as_seldom_as_they_say(void **state) {
    enum { AUDITS = 200 };
    mfpg_context *ctx = testing_context(1);
    double inside[SCORES], outside[SCORES];
    int64_t wrong[3] = {0}, proved[3] = {0}, allowed = plan_false_alarms_allowed(AUDITS, 0.05);
    const mfpg_score_options base = {.delta = 1e-5, .confidence = 0.95};
    (void)state;
    for (uint64_t seed = 0; seed < AUDITS; seed++) {
        double mu = seed % 2 ? 1.0 : 0.0, epsilon = mfpg_gdp_epsilon(mu, 1e-5);
        mfpg_score_options options = base;
        mfpg_score_bounds b;
        options.seed = seed;
        draw(seed, mu, inside, outside);
        CHECK_OK(ctx, mfpg_audit_scores(ctx, &options, inside, SCORES, outside, SCORES, &b));
        const double found[] = {b.epsilon_lower, b.epsilon_lower_direct, b.epsilon_lower_one_run};
        for (int i = 0; i < 3; i++) {
            wrong[i] += found[i] > epsilon;
            proved[i] += found[i] > 0.1 && mu > 0;
        }
    }
    for (int i = 0; i < 3; i++) assert_true(wrong[i] <= allowed && proved[i] > AUDITS / 4);
    mfpg_context_destroy(ctx);
}

static void test_what_cannot_be_audited_is_refused(void **state) {
    mfpg_context *ctx = testing_context(1);
    const double good[] = {1, 2, 3}, bad[] = {1, (double)NAN, 2};
    mfpg_score_options options = mfpg_score_options_default();
    mfpg_score_bounds b = {.inside = 7};
    (void)state;
    assert_int_equal(mfpg_audit_scores(ctx, &options, good, 3, good, 1, &b), MFPG_ERR_INPUT);
    assert_int_equal(mfpg_audit_scores(ctx, &options, bad, 3, good, 3, &b), MFPG_ERR_DOMAIN);
    assert_non_null(strstr(mfpg_context_message(ctx), "scores inside: score 2"));
    options.delta = 1;
    assert_int_equal(mfpg_audit_scores(ctx, &options, good, 3, good, 3, &b), MFPG_ERR_DOMAIN);
    options = mfpg_score_options_default();
    options.confidence = (double)NAN;
    assert_int_equal(mfpg_audit_scores(ctx, &options, good, 3, good, 3, &b), MFPG_ERR_DOMAIN);
    assert_true(b.inside == 7);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_separated_scores_prove_what_counts_without_errors_prove),
        cmocka_unit_test(test_bounds_are_wrong_as_seldom_as_they_say),
        cmocka_unit_test(test_what_cannot_be_audited_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
