/* Runs with an affine shift: no certificate comes from it, and none is changed by it, as every clip comes after it. */
#include "experiment/fixture.h"

#include "mfpg/experiment.h"

static char path[128];

static int open_shift(void **state) {
    int status = open_context(state);
    snprintf(path, sizeof path, "%s/shift.csv", temporary_folder());
    write_file(path, "column,scale,shift\nx1,100,-7\nx3,0.5,20\n");
    return status;
}

static int close_shift(void **state) {
    unlink(path);
    *strrchr(path, '/') = 0;
    rmdir(path);
    return close_context(state);
}

static mfpg_experiment *trained(const char *settings, int shifted) {
    char text[512], argument[192];
    snprintf(text, sizeof text,
        "seed: 4\ndata: {format: synthetic, kind: logistic, clients: 3, rows: 30, dimension: 4}\n%s\n",
        settings);
    mfpg_config *config = load(text);
    snprintf(argument, sizeof argument, "data.affine=%s", path);
    if (shifted) set(config, argument);
    mfpg_experiment *experiment = NULL;
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &experiment));
    CHECK_OK(ctx, mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){0}));
    mfpg_config_destroy(config);
    return experiment;
}

static int says(const mfpg_experiment *experiment, const char *what) {
    for (ptrdiff_t i = 0; mfpg_experiment_assumption(experiment, i); i++)
        if (strstr(mfpg_experiment_assumption(experiment, i), what)) return 1;
    return 0;
}

static void test_certificates_stand(void **state) {
    (void)state;
    const char *const methods[] = {"method: dp-sgd", "method: mfep",
        "privacy: {unit: example}\nmethod: dp-sgd", "method: {mechanism: input, players: none}"};
    for (int m = 0; m < 4; m++) {
        mfpg_experiment *plain = trained(methods[m], 0), *shifted = trained(methods[m], 1);
        mfpg_client_report a, b;
        CHECK_OK(ctx, mfpg_experiment_client(ctx, plain, 1, &a));
        CHECK_OK(ctx, mfpg_experiment_client(ctx, shifted, 1, &b));
        assert_true(isfinite(a.epsilon) && a.epsilon == b.epsilon && a.mu == b.mu);
        assert_true(mfpg_experiment_last_round(plain).loss != mfpg_experiment_last_round(shifted).loss);
        assert_true(says(shifted, "the affine shift is public") && !says(plain, "affine"));
        mfpg_experiment_destroy(plain);
        mfpg_experiment_destroy(shifted);
    }
}

static void test_a_shift_alone_hides_nothing(void **state) {
    (void)state;
    mfpg_experiment *experiment = trained("method: none\ntrain: {learning_rate: 1e-4}", 1);
    mfpg_client_report report;
    CHECK_OK(ctx, mfpg_experiment_client(ctx, experiment, 0, &report));
    assert_true(isinf(report.epsilon) && isinf(report.mu));
    mfpg_experiment_destroy(experiment);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_certificates_stand),
        cmocka_unit_test(test_a_shift_alone_hides_nothing),
    };
    return cmocka_run_group_tests(tests, open_shift, close_shift);
}
