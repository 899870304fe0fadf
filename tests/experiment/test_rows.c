/* What a run says of its rows: who holds which, how many miss a value, and what somebody with several of them has. */
#include "testing.h"

#include <unistd.h>

#include "mfpg/experiment.h"

static mfpg_context *ctx;
static char folder[64], warned[4096];

static void collect_warning(void *user, const char *text) {
    (void)user;
    snprintf(warned + strlen(warned), sizeof warned - strlen(warned), "%s\n", text);
}

static int open_context(void **state) {
    (void)state;
    mfpg_context_options options = mfpg_context_options_default();
    options.threads = 1;
    options.warn = collect_warning;
    strcpy(folder, "/tmp/mfpg-test-XXXXXX");
    return !mkdtemp(folder) || mfpg_context_create(&options, &ctx) != MFPG_OK;
}

static int close_context(void **state) {
    (void)state;
    mfpg_context_destroy(ctx);
    return rmdir(folder);
}

/* Settings separated by blanks; no value holds one. */
static mfpg_experiment *run(const char *settings) {
    char text[1024];
    mfpg_config *config = NULL;
    mfpg_experiment *experiment = NULL;
    warned[0] = 0;
    CHECK_OK(ctx, mfpg_config_create(ctx, &config));
    snprintf(text, sizeof text, "%s", settings);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        CHECK_OK(ctx, mfpg_config_set(ctx, config, word));
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &experiment));
    mfpg_config_destroy(config);
    CHECK_OK(ctx, mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){0}));
    return experiment;
}

static int assumes(const mfpg_experiment *experiment, const char *sentence) {
    for (ptrdiff_t i = 0; mfpg_experiment_assumption(experiment, i); i++)
        if (strcmp(mfpg_experiment_assumption(experiment, i), sentence) == 0) return 1;
    return 0;
}

static mfpg_client_report client_of(const mfpg_experiment *experiment, ptrdiff_t k) {
    mfpg_client_report client;
    CHECK_OK(ctx, mfpg_experiment_client(ctx, experiment, k, &client));
    return client;
}

/* A file of the folder with rows x = 0 .. 39, sites a and b in turn, labels 0 and 1 by fives; `missing` rows from number
 * first on, counted in sevens, have no x. */
static const char *write_rows(const char *name, int first, int missing) {
    static char path[2][128];
    static int next;
    char *own = path[next++ % 2];
    snprintf(own, sizeof path[0], "%s/%s", folder, name);
    FILE *file = fopen(own, "w");
    assert_non_null(file);
    fprintf(file, "x,site,y\n");
    for (int i = 0; i < 40; i++) {
        int gap = i >= first && (i - first) % 7 == 0 && (i - first) / 7 < missing;
        char x[16] = "?";
        if (!gap) snprintf(x, sizeof x, "%g", 0.01 * i);
        fprintf(file, "%s,%c,%d\n", x, 'a' + i % 2, i / 5 % 2);
    }
    fclose(file);
    return own;
}

/* ---- who holds which row ---- */

static void test_partitions_that_read_the_data_say_so(void **state) {
    (void)state;
    const char fixed[] =
        "who holds which row and which rows are test rows were fixed without looking at the data";
    const struct {
        const char *settings, *sentence;
        int warns;
    } cases[] = {
        {"data.drop_columns=[site] ", fixed, 0},
        {"data.drop_columns=[site] data.partition.kind=iid data.partition.clients=2 ", fixed, 0},
        {"data.partition.kind=column data.partition.column=site ",
            "the column site, which says who holds which row, is public; given it, which rows are test rows "
            "was "
            "fixed without looking at the data",
            1},
        {"data.drop_columns=[site] data.partition.kind=dirichlet data.partition.clients=2 "
         "data.partition.alpha=5 ",
            "the assignment of rows to clients was made from labels (dirichlet): the promise holds only if "
            "those "
            "labels are public",
            1},
        {"data.drop_columns=[site] data.partition.kind=shards data.partition.clients=2 ",
            "the assignment of rows to clients was made from labels (shards): the promise holds only if "
            "those "
            "labels are public",
            1},
    };
    const char *path = write_rows("a.csv", 0, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int promises = 0; promises < 2; promises++) {
            char settings[512];
            snprintf(settings, sizeof settings, "%sdata.files=[%s] seed=1 train.rounds=1 method=%s",
                cases[i].settings, path, promises ? "dp-sgd" : "none");
            mfpg_experiment *experiment = run(settings);
            assert_int_equal(assumes(experiment, cases[i].sentence), promises);
            assert_int_equal(strstr(warned, cases[i].sentence) != NULL, promises && cases[i].warns);
            if (promises && cases[i].warns) assert_false(assumes(experiment, fixed));
            mfpg_experiment_destroy(experiment);
        }
    }
    unlink(path);
    mfpg_experiment *synthetic = run("data.format=synthetic seed=1 train.rounds=1 method=dp-sgd");
    assert_true(assumes(synthetic, fixed));
    mfpg_experiment_destroy(synthetic);
}

/* ---- rows that miss a value ---- */

static mfpg_experiment *run_with_gaps(int missing, const char *more) {
    char settings[768];
    const char *a = write_rows("a.csv", 3, missing), *b = write_rows("b.csv", 0, 0);
    snprintf(settings, sizeof settings,
        "data.files=[%s,%s] data.drop_columns=[site] data.missing.rows=drop seed=1 "
        "train.rounds=2 %s",
        a, b, more);
    mfpg_experiment *experiment = run(settings);
    unlink(a);
    unlink(b);
    return experiment;
}

/* Rates, divisors, weights and promises are those of the declared rows, whichever values are missing. */
static void test_promises_do_not_depend_on_missing_values(void **state) {
    (void)state;
    const char *const kinds[] = {
        "method=dp-sgd privacy.unit=example noise.multiplier=1 train.batch.size=8 train.local_steps=2",
        "method=dp-sgd privacy.unit=example noise.multiplier=1 privacy.view=average",
        "method=dp-sgd noise.multiplier=2"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        mfpg_experiment *whole = run_with_gaps(0, kinds[i]), *gaps = run_with_gaps(5, kinds[i]);
        for (ptrdiff_t k = 0; k < 2; k++) {
            mfpg_client_report a = client_of(whole, k), b = client_of(gaps, k);
            assert_true(a.epsilon == b.epsilon && a.noise_multiplier == b.noise_multiplier);
            assert_true(a.weight == b.weight && a.sampling_rate == b.sampling_rate && a.steps == b.steps);
            assert_int_equal(b.nonfinite, 0);
        }
        assert_true(assumes(gaps,
            "a row with a missing value keeps its place among the declared rows and contributes nothing"));
        mfpg_experiment_destroy(whole);
        mfpg_experiment_destroy(gaps);
    }
}

/* Records that are noised once have no place for an absent one: it is a record of zeros, with its public label. */
static void test_absent_records_are_noised_as_zeros(void **state) {
    (void)state;
    const char *input = "method.mechanism=input method.players=none noise.multiplier=3 privacy.unit=example";
    mfpg_experiment *whole = run_with_gaps(0, input), *gaps = run_with_gaps(5, input);
    assert_true(client_of(whole, 0).epsilon == client_of(gaps, 0).epsilon);
    assert_true(assumes(gaps, "a row with a missing value keeps its place among the declared rows and is "
                              "noised as a record of zeros"));
    mfpg_experiment_destroy(whole);
    mfpg_experiment_destroy(gaps);
}

static char *printed(const mfpg_experiment *experiment) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    CHECK_OK(ctx, mfpg_experiment_print(ctx, experiment, stream));
    fclose(stream);
    return text;
}

static void expect_in(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("no '%s' in:\n%s", part, text);
}

static void test_screen_and_summary_say_how_many_rows_of_whom(void **state) {
    (void)state;
    mfpg_experiment *experiment = run_with_gaps(3, "method=dp-sgd data.test_fraction=0 evaluate=train");
    char *text = printed(experiment), *json = NULL;
    expect_in(
        text, "\n  3 rows miss a value and count as zeros: 3 of 'a'; the counts of rows include them\n");
    expect_in(text, ", 77 rows\n"); /* of 80, what metrics are of */
    CHECK_OK(ctx, mfpg_experiment_summary(ctx, experiment, &json));
    expect_in(json, "\"name\": \"a\",\n      \"rows\": 40,\n      \"dropped_rows\": 3,");
    expect_in(json, "\"name\": \"b\",\n      \"rows\": 40,\n      \"dropped_rows\": 0,");
    expect_in(json, "\"features\": 1,\n    \"dropped_rows\": 3,");
    free(text);
    free(json);
    mfpg_experiment_destroy(experiment);
    experiment = run_with_gaps(0, "method=dp-sgd");
    text = printed(experiment);
    assert_null(strstr(text, "miss a value"));
    free(text);
    mfpg_experiment_destroy(experiment);
}

/* With and without metrics, the counts that come from private data are named. */
static void test_counts_that_no_certificate_covers_are_named(void **state) {
    (void)state;
    const char sentence[] =
        "nonfinite_gradients, dropped_rows and noise_to_signal are computed from private data and "
        "covered by no certificate: publishing one of them is a release of its own";
    for (int evaluated = 0; evaluated < 2; evaluated++) {
        mfpg_experiment *experiment =
            run(evaluated ? "data.format=synthetic seed=1 train.rounds=1 method=dp-sgd"
                          : "data.format=synthetic seed=1 train.rounds=1 method=dp-sgd "
                            "data.test_fraction=0 evaluate=none");
        assert_true(assumes(experiment, sentence));
        mfpg_experiment_destroy(experiment);
    }
}

/* ---- several rows of one person ---- */

/* P(Z > t). */
static double above(double t) {
    return 0.5 * erfc(t / sqrt(2.0));
}

/* log of the ratio of densities at x, with and without m equal rows: weight[i] is the probability that i of them add 1
 * to a step of noise z. */
static double log_ratio(int m, double z, double x, const double *weight) {
    double sum = 0.0;
    for (int i = 0; i <= m; i++) sum += weight[i] * exp((i * x - 0.5 * i * i) / (z * z));
    return log(sum);
}

/* The exact delta at epsilon of such a step: the ratio rises in x, so the worst event is all x above its root. */
static double exact_delta(int m, double q, double z, double epsilon) {
    double weight[16], low = 0.0, high = 1e3, delta = 0.0;
    for (int i = 0; i <= m; i++)
        weight[i] =
            exp(lgamma(m + 1.0) - lgamma(i + 1.0) - lgamma(m - i + 1.0)) * pow(q, i) * pow(1.0 - q, m - i);
    for (int i = 0; i < 200; i++) {
        double middle = 0.5 * (low + high);
        *(log_ratio(m, z, middle, weight) < epsilon ? &low : &high) = middle;
    }
    for (int i = 0; i <= m; i++) delta += weight[i] * above((high - i) / z);
    return delta - exp(epsilon) * above(high / z);
}

/* One step at rate 0.05 and noise 1 is certified at epsilon 1.0328. Two equal rows have delta 1.469e-5 at twice that, so that
 * "m times epsilon at the same delta" is false; the sentence's delta holds for all numbers of rows. */
static void test_group_privacy_holds_for_sampled_rows(void **state) {
    (void)state;
    mfpg_experiment *experiment =
        run("data.format=synthetic data.kind=logistic data.clients=2 data.rows=200 "
            "data.dimension=3 method=dp-sgd privacy.unit=example noise.multiplier=1 seed=1 "
            "train.rounds=1 train.batch.rate=0.05");
    assert_true(
        assumes(experiment, "a person has one record; one with m records has (m epsilon, (e^(m epsilon) - "
                            "1)/(e^epsilon - 1) delta) (group privacy)"));
    double epsilon = client_of(experiment, 0).epsilon, delta = 1e-5;
    check_near(epsilon, 1.0328, 0, 1e-4, "epsilon of one row");
    check_near(exact_delta(1, 0.05, 1, epsilon), delta, 1e-4, 0, "the closed form for one row");
    check_near(exact_delta(2, 0.05, 1, 2 * epsilon), 1.469e-5, 1e-3, 0, "the closed form for two rows");
    for (int m = 2; m <= 10; m++) {
        double exact = exact_delta(m, 0.05, 1, m * epsilon);
        assert_true(exact <= expm1(m * epsilon) / expm1(epsilon) * delta);
        assert_true(m > 3 || exact > delta);
    }
    mfpg_experiment_destroy(experiment);
}

/* Without sampling there is a mu, and m rows move a step m times as far. */
static void test_group_privacy_of_all_rows_is_a_multiple_of_mu(void **state) {
    (void)state;
    mfpg_experiment *experiment = run("data.format=synthetic data.clients=2 data.rows=50 method=dp-sgd "
                                      "privacy.unit=example noise.multiplier=2 seed=1 train.rounds=1");
    assert_true(assumes(experiment, "a person has one record; one with m records has up to m times this mu"));
    double mu = client_of(experiment, 0).mu;
    for (int m = 1; m <= 5; m++) {
        double epsilon = mfpg_gdp_epsilon(m * mu, 1e-5);
        check_near(above(epsilon / (m * mu) - 0.5 * m * mu) -
                       exp(epsilon) * above(epsilon / (m * mu) + 0.5 * m * mu),
            1e-5, 1e-6, 0, "delta of m rows");
        check_near(m * mu, m / 2.0, 1e-9, 0, "m rows over the noise");
    }
    mfpg_experiment_destroy(experiment);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partitions_that_read_the_data_say_so),
        cmocka_unit_test(test_promises_do_not_depend_on_missing_values),
        cmocka_unit_test(test_absent_records_are_noised_as_zeros),
        cmocka_unit_test(test_screen_and_summary_say_how_many_rows_of_whom),
        cmocka_unit_test(test_counts_that_no_certificate_covers_are_named),
        cmocka_unit_test(test_group_privacy_holds_for_sampled_rows),
        cmocka_unit_test(test_group_privacy_of_all_rows_is_a_multiple_of_mu),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
