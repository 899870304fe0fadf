/* Runs with Poisson batches: who credits them, that targets and limits hold, and what the files say. */
#include "testing.h"
#include "experiment/config/settings.h"

#include <dirent.h>
#include <unistd.h>

#include "mfpg/experiment.h"

#define SMALL                                                                                                \
    "data.format=synthetic data.kind=logistic task.model=logistic data.clients=3 data.rows=40 "              \
    "data.dimension=2 data.test_fraction=0 evaluate=none seed=3 privacy.unit=example "

static mfpg_status make(mfpg_context *ctx, const char *settings, mfpg_experiment **out) {
    char text[1024];
    mfpg_config *config = NULL;
    mfpg_status status = mfpg_config_create(ctx, &config);
    snprintf(text, sizeof text, "%s", settings);
    for (char *word = strtok(text, " "); word && status == MFPG_OK; word = strtok(NULL, " "))
        status = mfpg_config_set(ctx, config, word);
    if (status == MFPG_OK) status = mfpg_experiment_create(ctx, config, out);
    mfpg_config_destroy(config);
    return status;
}

static mfpg_experiment *run(mfpg_context *ctx, const char *settings, const char *folder) {
    mfpg_experiment *experiment = NULL;
    CHECK_OK(ctx, make(ctx, settings, &experiment));
    CHECK_OK(ctx, mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){.folder = folder}));
    return experiment;
}

static mfpg_client_report client_of(mfpg_context *ctx, const mfpg_experiment *experiment, ptrdiff_t k) {
    mfpg_client_report client;
    CHECK_OK(ctx, mfpg_experiment_client(ctx, experiment, k, &client));
    return client;
}

static int assumes(const mfpg_experiment *experiment, const char *words) {
    for (ptrdiff_t i = 0; mfpg_experiment_assumption(experiment, i); i++)
        if (strstr(mfpg_experiment_assumption(experiment, i), words)) return 1;
    return 0;
}

/* What `steps` steps with that noise multiplier cost by an accountant asked directly. */
static double direct_epsilon(
    mfpg_context *ctx, mfpg_adjacency adjacency, double rate, double z, int64_t steps) {
    mfpg_accountant_options options = mfpg_accountant_options_default();
    options.promise = (mfpg_promise){MFPG_UNIT_EXAMPLE, adjacency, MFPG_VIEW_LOCAL};
    const mfpg_release step = {.unit = MFPG_UNIT_EXAMPLE,
        .clipped = MFPG_CLIPPED_EXAMPLES,
        .steps = 1,
        .sensitivity = 1,
        .noise_sd = z,
        .last_sd = z,
        .weight = 1,
        .sampling_rate = rate};
    mfpg_accountant *accountant = NULL;
    double epsilon;
    CHECK_OK(ctx, mfpg_accountant_create(ctx, "exact", &options, &accountant));
    CHECK_OK(ctx, mfpg_accountant_record_times(ctx, accountant, &step, steps));
    CHECK_OK(ctx, mfpg_accountant_epsilon(ctx, accountant, 1e-5, &epsilon));
    mfpg_accountant_destroy(accountant);
    return epsilon;
}

/* auto: exact for sampled examples, gdp for clients and for full batches; the assumptions say what is credited. */
static void test_the_accountant_fits_the_sampling(void **state) {
    (void)state;
    const struct {
        const char *settings, *accountant, *reason;
        int credited, refused_credit;
    } cases[] = {
        {"train.batch.rate=0.1", "exact", "credits Poisson batches", 1, 0},
        {"train.batch.size=4", "exact", "credits Poisson batches", 1, 0},
        {"train.batch.rate=0.1 privacy.accountant=gdp", "gdp", "gdp", 0, 1},
        {"train.batch.rate=0.1 privacy.unit=client", "gdp", "hides no client", 0, 1},
        {"train.batch.rate=0.1 privacy.unit=client privacy.accountant=rdp", "rdp", "rdp", 0, 1},
        {"train.batch.rate=1", "gdp", "without sampling", 0, 0},
        {"train.batch.size=40", "gdp", "without sampling", 0, 0},
        {"privacy.accountant=rdp", "rdp", "rdp", 0, 0},
    };
    mfpg_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char settings[512];
        snprintf(settings, sizeof settings,
            SMALL "method=dp-sgd noise.multiplier=1 train.rounds=8 train.local_steps=3 %s",
            cases[i].settings);
        mfpg_experiment *experiment = run(ctx, settings, NULL);
        const mfpg_config *config = mfpg_experiment_config(experiment);
        assert_string_equal(mfpg_config_text(config, "privacy.accountant"), cases[i].accountant);
        const char *source = mfpg_config_source(config, "privacy.accountant");
        int told = strstr(source, cases[i].reason) != NULL || strstr(cases[i].settings, "accountant") != NULL;
        if (!told) fail_msg("%s: the source says '%s'", cases[i].settings, source);
        assert_int_equal(assumes(experiment, "batches are credited"), cases[i].credited);
        assert_int_equal(assumes(experiment, "without amplification"), cases[i].refused_credit);
        mfpg_client_report client = client_of(ctx, experiment, 1);
        if (cases[i].credited) {
            assert_true(isnan(client.mu));
            double direct = direct_epsilon(ctx, MFPG_ADJACENCY_ZERO_OUT, 0.1, 1, 24);
            check_near(client.epsilon, direct, 1e-9, 0, "24 sampled steps"); /* the plan rounds its sd */
        } else {
            check_near(client.mu, sqrt(24), 1e-9, 0, "24 steps without credit");
            check_near(client.epsilon, mfpg_gdp_epsilon(client.mu, 1e-5), 1e-12, 0, "Gaussian DP");
        }
        assert_true(client.epsilon_other > client.epsilon && client.distance < 1);
        mfpg_experiment_destroy(experiment);
    }
    mfpg_context_destroy(ctx);
}

static double random_unit(uint64_t *random) {
    uint64_t z = *random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Calibration never overshoots, and stays within 1e-6 of the target where controls are continuous. */
static void test_targets_are_met_from_below(void **state) {
    (void)state;
    uint64_t random = testing_seed();
    print_message("seed %llu (set MFPG_TEST_SEED to repeat)\n", (unsigned long long)random);
    const char *methods[] = {"dp-sgd", "mfep entropic.scale=sensitivity",
        "mapg-dp game.actions=continuous game.curvature=1", "mfpg game.actions=continuous game.curvature=1"};
    const char *views[] = {"local", "average", "final"}, *adjacencies[] = {"zero-out", "replace"};
    mfpg_context *ctx = testing_context(1);
    for (int i = 0; i < testing_repeats(24); i++) {
        char settings[1024];
        double target = exp(log(0.3) + log(30) * random_unit(&random)),
               rate = 0.02 + 0.6 * random_unit(&random);
        snprintf(settings, sizeof settings,
            SMALL
            "method=%s privacy.view=%s privacy.adjacency=%s train.batch.rate=%.17g train.local_steps=%d "
            "train.rounds=%d noise.target_epsilon=%.17g",
            methods[i % 4], views[(int)(3 * random_unit(&random))],
            adjacencies[(int)(2 * random_unit(&random))], rate, 1 + (int)(3 * random_unit(&random)),
            1 + (int)(12 * random_unit(&random)), target);
        mfpg_experiment *experiment = run(ctx, settings, NULL);
        double largest = 0;
        for (ptrdiff_t k = 0; k < mfpg_experiment_clients(experiment); k++)
            largest = fmax(largest, client_of(ctx, experiment, k).epsilon);
        if (!(largest <= target && largest >= target * (1 - 1e-6)))
            fail_msg("%s: largest epsilon %.17g", settings, largest);
        check_near(mfpg_experiment_last_round(experiment).epsilon, largest, 0, 0, "the round's report");
        mfpg_experiment_destroy(experiment);
    }
    mfpg_context_destroy(ctx);
}

/* A client stops before the round that would overspend, and not one earlier. */
static void test_a_limit_is_kept_to_the_last_round(void **state) {
    (void)state;
    const char *adjacencies[] = {"zero-out", "replace"};
    mfpg_context *ctx = testing_context(1);
    for (int i = 0; i < 2; i++) {
        char settings[512];
        snprintf(settings, sizeof settings,
            SMALL "method=dp-sgd noise.multiplier=1.5 train.batch.rate=0.1 train.rounds=500 "
                  "privacy.stop_at_epsilon=3.5 privacy.adjacency=%s",
            adjacencies[i]);
        mfpg_experiment *experiment = run(ctx, settings, NULL);
        for (ptrdiff_t k = 0; k < 3; k++) {
            mfpg_client_report client = client_of(ctx, experiment, k);
            assert_true(client.stopped && client.rounds > 3 && client.epsilon <= 3.5);
            double more =
                direct_epsilon(ctx, (mfpg_adjacency)i, 0.1, client.noise_multiplier, client.rounds + 1);
            assert_true(more > 3.5);
        }
        mfpg_experiment_destroy(experiment);
    }
    mfpg_context_destroy(ctx);
}

/* The average view hides the last step by the others' noise as well; early steps keep their own. */
static void test_views_and_sampling_help_each_other(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const char *views[] = {"local", "average"};
    for (int steps = 1; steps <= 2; steps++) {
        double epsilon[2];
        for (int v = 0; v < 2; v++) {
            char settings[512];
            snprintf(settings, sizeof settings,
                SMALL "method=dp-sgd noise.multiplier=1 train.batch.rate=0.1 train.weights=equal "
                      "train.local_steps=%d train.rounds=10 privacy.view=%s",
                steps, views[v]);
            mfpg_experiment *experiment = run(ctx, settings, NULL);
            epsilon[v] = client_of(ctx, experiment, 0).epsilon;
            mfpg_experiment_destroy(experiment);
        }
        double hidden = direct_epsilon(ctx, MFPG_ADJACENCY_ZERO_OUT, 0.1, sqrt(3), 10);
        if (steps == 1) check_near(epsilon[1], hidden, 1e-9, 0, "three clients' noise");
        assert_true(epsilon[1] < epsilon[0] && epsilon[1] >= hidden);
    }
    mfpg_context_destroy(ctx);
}

/* clients.csv: mu is empty where there is none; the promise in words names the accountant. */
static void test_files_say_who_credits(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    char folder[] = "/tmp/mfpg-test-XXXXXX", out[64], path[128], line[512], *summary = NULL;
    assert_non_null(mkdtemp(folder));
    snprintf(out, sizeof out, "%s/run", folder);
    mfpg_experiment *experiment =
        run(ctx, SMALL "method=dp-sgd noise.multiplier=1 train.batch.rate=0.1 train.rounds=2", out);
    snprintf(path, sizeof path, "%s/clients.csv", out);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file)); /* client,preference,action,mu,epsilon,... */
    for (int k = 0; k < 3; k++) {
        int client = -1;
        double action, epsilon;
        assert_non_null(fgets(line, sizeof line, file));
        assert_int_equal(sscanf(line, "%d,,%lf,,%lf,", &client, &action, &epsilon), 3);
        assert_int_equal(client, k);
        assert_true(epsilon == client_of(ctx, experiment, k).epsilon);
        assert_non_null(strstr(line, ",example,zero-out,local,exact,"));
    }
    fclose(file);
    CHECK_OK(ctx, mfpg_experiment_summary(ctx, experiment, &summary));
    assert_non_null(strstr(summary, "by accountant exact"));
    assert_non_null(strstr(summary, "\"mu\": null"));
    free(summary);
    mfpg_experiment_destroy(experiment);
    DIR *entries = opendir(out);
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
        char name[512];
        snprintf(name, sizeof name, "%s/%s", out, entry->d_name);
        unlink(name);
    }
    closedir(entries);
    rmdir(out);
    rmdir(folder);
    mfpg_context_destroy(ctx);
}

/* Certificates are asked on several threads: the same numbers. */
static void test_threads_do_not_show_in_certificates(void **state) {
    (void)state;
    double epsilon[2][3];
    for (int t = 0; t < 2; t++) {
        mfpg_context *ctx = testing_context(t ? 4 : 1);
        mfpg_experiment *experiment = run(ctx,
            SMALL
            "method=mapg-dp game.actions=continuous game.curvature=1 train.batch.rate=0.2 train.rounds=3",
            NULL);
        for (ptrdiff_t k = 0; k < 3; k++) epsilon[t][k] = client_of(ctx, experiment, k).epsilon;
        mfpg_experiment_destroy(experiment);
        mfpg_context_destroy(ctx);
    }
    assert_memory_equal(epsilon[0], epsilon[1], sizeof epsilon[0]);
    assert_true(epsilon[0][0] != epsilon[0][2]); /* preferences differ, hence noise */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_accountant_fits_the_sampling),
        cmocka_unit_test(test_targets_are_met_from_below),
        cmocka_unit_test(test_a_limit_is_kept_to_the_last_round),
        cmocka_unit_test(test_views_and_sampling_help_each_other),
        cmocka_unit_test(test_files_say_who_credits),
        cmocka_unit_test(test_threads_do_not_show_in_certificates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
