/* free_energy.csv of a run: its rows, its arithmetic, what it says of itself, and who has none. */
#include "fixture.h"

#include "mfpg/experiment.h"

static const char *const CONFIG =
    "seed: 3\n"
    "data: {format: synthetic, kind: logistic, clients: 3, rows: 30, dimension: 6}\n"
    "train: {rounds: 5}\n";

static char text[1 << 14];

/* Runs with these arguments into a folder; text is free_energy.csv there, "" where there is none. The folder is removed. */
static void run_with(const char *const *arguments) {
    char path[160], command[96];
    const char *folder = temporary_folder();
    mfpg_config *config = load(CONFIG);
    mfpg_experiment *experiment = NULL;
    for (; *arguments; arguments++) set(config, *arguments);
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &experiment));
    CHECK_OK(ctx, mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){.folder = folder}));
    snprintf(path, sizeof path, "%s/free_energy.csv", folder);
    FILE *file = fopen(path, "r");
    text[file ? fread(text, 1, sizeof text - 1, file) : 0] = 0;
    if (file) fclose(file);
    mfpg_experiment_destroy(experiment);
    mfpg_config_destroy(config);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}
#define RUN(...) run_with((const char *const[]){__VA_ARGS__, NULL})

/* Lines after the header, each of which must be the sum of its parts with the default penalty of 0.01. */
static int check_lines(void) {
    int count = 0;
    for (const char *at = strchr(text, '\n'); at && at[1]; at = strchr(at + 1, '\n'), count++) {
        int round;
        double loss, kl, variance, strength, total;
        assert_int_equal(
            sscanf(at + 1, "%d,%lf,%lf,%lf,%lf,%lf,", &round, &loss, &kl, &variance, &strength, &total), 6);
        check_near(total, loss + strength * kl + 0.005 * variance, 1e-14, 0, "free energy");
    }
    return count;
}

static void test_every_evaluated_round_has_a_row(void **state) {
    (void)state;
    RUN("method=mfep");
    assert_memory_equal(text, "round,loss,kl,variance,mean_strength,free_energy,metrics\n1,", 59);
    assert_int_equal(check_lines(), 5);
    assert_non_null(strstr(text, "an observable, no certificate; computed on private data"));
    RUN("method=mfep", "evaluate_every=2");
    assert_int_equal(check_lines(), 3); /* rounds 2, 4 and the last */
    RUN("method.mechanism=entropic", "method.players=none", "entropic.particles=data");
    assert_int_equal(check_lines(), 5);
    assert_non_null(strstr(text, "computed on noised records"));
}

/* Without a loss there is no sum; what comes of the released model is there. */
static void test_without_evaluation_there_is_no_loss(void **state) {
    (void)state;
    RUN("method=mfep", "evaluate=none");
    assert_non_null(strstr(text, "\n5,,"));
    assert_non_null(strstr(text, ",,\"an observable"));
}

static void test_others_have_no_such_file(void **state) {
    (void)state;
    RUN("method=mfep", "entropic.free_energy=false");
    assert_string_equal(text, "");
    RUN("method=dp-sgd");
    assert_string_equal(text, "");
    RUN("method=none");
    assert_string_equal(text, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_evaluated_round_has_a_row),
        cmocka_unit_test(test_without_evaluation_there_is_no_loss),
        cmocka_unit_test(test_others_have_no_such_file),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
