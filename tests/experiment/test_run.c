/* Whole runs through the public interface: the numbers that are known beforehand, targets that are met, files. */
#include "testing.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "equilibrium.h"
#include "mfpg/experiment.h"

/* An experiment from a file, an example or NULL (defaults) and settings that end with NULL. */
static mfpg_status make(
    mfpg_context *ctx, const char *name, const char *const *settings, mfpg_experiment **out) {
    mfpg_config *config = NULL;
    mfpg_status status = name ? mfpg_config_open(ctx, name, &config) : mfpg_config_create(ctx, &config);
    for (int i = 0; settings[i] && status == MFPG_OK; i++) status = mfpg_config_set(ctx, config, settings[i]);
    if (status == MFPG_OK) status = mfpg_experiment_create(ctx, config, out);
    mfpg_config_destroy(config);
    return status;
}

static mfpg_experiment *run(mfpg_context *ctx, const char *name, const char *const *settings) {
    mfpg_experiment *experiment = NULL;
    CHECK_OK(ctx, make(ctx, name, settings, &experiment));
    CHECK_OK(ctx, mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){0}));
    return experiment;
}

static double largest_epsilon(mfpg_context *ctx, const mfpg_experiment *experiment) {
    double largest = 0;
    for (ptrdiff_t k = 0; k < mfpg_experiment_clients(experiment); k++) {
        mfpg_client_report client;
        CHECK_OK(ctx, mfpg_experiment_client(ctx, experiment, k, &client));
        largest = fmax(largest, client.epsilon);
    }
    return largest;
}

/* ---- the paper's settings ---- */

static const char quadratic[] =
    "data.format=synthetic data.kind=quadratic task.model=quadratic data.clients=5 data.rows=28 "
    "data.dimension=5 data.test_fraction=0 evaluate=train train.rounds=10 seed=1";
static const char logistic[] =
    "data.format=synthetic data.kind=coins task.model=logistic data.clients=8 data.rows=100 "
    "data.dimension=20 data.test_fraction=0 evaluate=train train.rounds=15 seed=1";

typedef struct known {
    const char *task, *method;                  /* settings separated by blanks */
    double epsilon, paper_epsilon, paper_delta; /* NAN: not checked */
} known;

static int split(char *text, const char **words, int most) {
    int count = 0;
    for (char *word = strtok(text, " "); word && count < most - 1; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
    return count;
}

/* Certified: reproduction.md section 4 (client, zero-out, local, delta 1e-5), printed there to two digits. Paper's columns:
 * ln(1e5) + T/z^2 with z = 4.845, C_d/sqrt(N)/(K+1) and the exponential at strength 2 (theory S0 b). */
static void test_the_papers_settings_give_the_known_numbers(void **state) {
    (void)state;
    const known cases[] = {
        {quadratic, "method=dp-sgd", 2.69, 11.94, 1e-5},
        {logistic, "method=dp-sgd", 3.38, 12.15, 1e-5},
        {quadratic, "method=mfep", 2.94, 1, 0.0909},
        {logistic, "method=mfep", 3.71, 1, 0.1013},
        {quadratic, "method=mfpg game.cost=paper", 1.99, 2, 0.6096},
        {logistic, "method=mfpg game.cost=paper", 2.50, 2, 0.7711},
        {quadratic, "method=mapg-dp game.actions=continuous game.curvature=1", 0.2885, (double)NAN, 1e-5},
        {logistic, "method=mapg-dp game.actions=continuous game.curvature=1", 0.4306, (double)NAN, 1e-5},
    };
    mfpg_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        const char *words[24];
        snprintf(text, sizeof text, "%s %s", cases[i].task, cases[i].method);
        split(text, words, 24);
        mfpg_experiment *experiment = run(ctx, NULL, words);
        mfpg_round_report last = mfpg_experiment_last_round(experiment);
        check_near(largest_epsilon(ctx, experiment), cases[i].epsilon, 0, 0.005, cases[i].method);
        if (!isnan(cases[i].paper_epsilon))
            check_near(last.paper_epsilon, cases[i].paper_epsilon, 0, 0.005, "paper_epsilon");
        check_near(last.paper_delta, cases[i].paper_delta, 5e-4, 0, "paper_delta");
        mfpg_experiment_destroy(experiment);
    }
    mfpg_context_destroy(ctx);
}

/* Every round's report, the last of them the one that is told alone, and the model that the last round left. */
static void test_rounds_and_model_are_told(void **state) {
    (void)state;
    const char *words[] = {"data.format=synthetic", "data.kind=logistic", "data.clients=3",
        "data.dimension=4", "seed=1", "train.rounds=3", "method=dp-sgd", NULL};
    mfpg_context *ctx = testing_context(1);
    mfpg_experiment *experiment = run(ctx, NULL, words);
    ptrdiff_t rounds = -1, parameters = -1;
    const mfpg_round_report *report = mfpg_experiment_rounds(experiment, &rounds);
    const float *model = mfpg_experiment_model(experiment, &parameters);
    mfpg_round_report last = mfpg_experiment_last_round(experiment);
    double norm2 = 0.0;
    assert_int_equal(rounds, 3);
    assert_int_equal(parameters, 5); /* one a feature, and the bias */
    for (ptrdiff_t i = 0; i < rounds; i++) assert_int_equal(report[i].round, i + 1);
    assert_true(report[2].loss == last.loss && report[0].epsilon < report[2].epsilon);
    for (ptrdiff_t i = 0; i < parameters; i++) norm2 += (double)model[i] * (double)model[i];
    assert_true(norm2 > 0.0 && isfinite(norm2)); /* it started at zero */
    mfpg_experiment_destroy(experiment);
    mfpg_context_destroy(ctx);
}

/* The same of a client as the summary has. */
static void test_clients_are_told(void **state) {
    (void)state;
    const char *words[] = {"data.format=synthetic", "data.kind=logistic", "data.clients=2", "data.rows=50",
        "seed=1", "train.rounds=1", "method=mfep", "data.test_fraction=0.2", NULL};
    mfpg_context *ctx = testing_context(1);
    mfpg_experiment *experiment = run(ctx, NULL, words);
    mfpg_client_report client;
    mfpg_client_record record;
    char promise[1024], *summary = NULL;
    CHECK_OK(ctx, mfpg_experiment_client(ctx, experiment, 1, &client));
    CHECK_OK(ctx, mfpg_experiment_summary(ctx, experiment, &summary));
    mfpg_experiment_promise(experiment, &client, promise, sizeof promise);
    assert_non_null(strstr(promise, "50 % is chance"));
    assert_non_null(strstr(summary, promise));
    CHECK_OK(ctx, mfpg_experiment_client_record(ctx, experiment, 1, &record));
    assert_int_equal(record.rows, 40);
    assert_true(isnan(record.preference)); /* no game */
    assert_true(record.report.epsilon == client.epsilon && record.certificate && record.stopped_before == -1);
    assert_int_equal(mfpg_experiment_client_record(ctx, experiment, 2, &record), MFPG_ERR_DOMAIN);
    free(summary);
    mfpg_experiment_destroy(experiment);
    mfpg_context_destroy(ctx);
}

static void test_replace_doubles_mu(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const char *methods[] = {"method=dp-sgd", "method=mfep"};
    for (int m = 0; m < 2; m++) {
        double mu[2];
        for (int a = 0; a < 2; a++) {
            const char *words[] = {"data.format=synthetic", "data.clients=3", "seed=1", methods[m],
                a ? "privacy.adjacency=replace" : "privacy.adjacency=zero-out", NULL};
            mfpg_experiment *experiment = run(ctx, NULL, words);
            mfpg_client_report client;
            CHECK_OK(ctx, mfpg_experiment_client(ctx, experiment, 1, &client));
            mu[a] = client.mu;
            mfpg_experiment_destroy(experiment);
        }
        check_near(mu[1], 2 * mu[0], 1e-12, 0, methods[m]);
    }
    mfpg_context_destroy(ctx);
}

/* ---- targets ---- */

static void test_a_target_epsilon_is_met_from_below(void **state) {
    (void)state;
    const char *methods[] = {"dp-sgd", "mfep", "mapg-dp", "mfpg"};
    const char *units[] = {"client", "example"}, *views[] = {"local", "average", "final"};
    const char *adjacencies[] = {"zero-out", "replace"};
    const double targets[] = {0.5, 4};
    mfpg_context *ctx = testing_context(1);
    for (int i = 0; i < 4 * 2 * 3 * 2 * 2; i++) {
        char method[64], unit[64], view[64], adjacency[64], target[64];
        double wanted = targets[i / 48];
        snprintf(method, sizeof method, "method=%s", methods[i % 4]);
        snprintf(unit, sizeof unit, "privacy.unit=%s", units[i / 4 % 2]);
        snprintf(view, sizeof view, "privacy.view=%s", views[i / 8 % 3]);
        snprintf(adjacency, sizeof adjacency, "privacy.adjacency=%s", adjacencies[i / 24 % 2]);
        snprintf(target, sizeof target, "noise.target_epsilon=%g", wanted);
        const char *words[] = {"data.format=synthetic", "data.clients=4", "data.rows=50", "seed=3",
            "game.actions=continuous", "game.curvature=5", "train.rounds=5", "train.weights=equal",
            "entropic.prior_variance=100", method, unit, view, adjacency, target,
            i % 2 ? "entropic.scale=sensitivity" : "privacy.clip=1", NULL};
        mfpg_experiment *experiment = run(ctx, NULL, words);
        double largest = largest_epsilon(ctx, experiment);
        if (!(largest <= wanted && largest >= wanted - 1e-6)) {
            print_error(
                "%s %s %s %s %s: largest epsilon %.17g\n", method, unit, view, adjacency, target, largest);
            fail();
        }
        mfpg_experiment_destroy(experiment);
    }
    mfpg_context_destroy(ctx);
}

static void check_refused(
    mfpg_context *ctx, const char *const *words, const char *first, const char *second) {
    mfpg_experiment *experiment = NULL;
    mfpg_status status = make(ctx, NULL, words, &experiment);
    if (status != MFPG_ERR_INPUT && status != MFPG_ERR_DOMAIN) {
        print_error("expected a refusal about '%s', got: %s\n", first, mfpg_status_text(status));
        fail();
    }
    const char *message = mfpg_context_message(ctx);
    if (!strstr(message, first) || (second && !strstr(message, second))) {
        print_error("the message '%s' names not '%s' and '%s'\n", message, first, second ? second : "");
        fail();
    }
    assert_null(experiment);
}

static mfpg_client_report client_of(mfpg_context *ctx, const mfpg_experiment *experiment) {
    mfpg_client_report report;
    CHECK_OK(ctx, mfpg_experiment_client(ctx, experiment, 0, &report));
    return report;
}

/* The search for actions tries little noise, for which the grid would be too coarse: what counts is the noise that it finds. The grid is a
 * quarter of that here, and then twice as much. */
static void test_a_grid_is_held_against_the_noise_of_the_target(void **state) {
    (void)state;
    const char *methods[] = {"dp-sgd", "mfep", "mapg-dp", "mfpg"};
    mfpg_context *ctx = testing_context(1);
    for (int m = 0; m < 4; m++) {
        char method[64], grid[64];
        snprintf(method, sizeof method, "method=%s", methods[m]);
        const char *words[] = {"data.format=synthetic", "data.clients=1", "data.rows=50", "seed=3",
            "game.actions=continuous", "game.curvature=5", "train.rounds=2", "noise.target_epsilon=2", method,
            NULL, NULL};
        mfpg_experiment *automatic = run(ctx, NULL, words), *configured = NULL;
        const mfpg_client_report found = client_of(ctx, automatic);
        for (int coarse = 0; coarse < 2; coarse++) {
            snprintf(grid, sizeof grid, "noise.grid=%.17g", (coarse ? 8 : 4) * found.grid);
            words[9] = grid;
            if (coarse) {
                check_refused(ctx, words, "noise.grid", "coarser than a quarter of the noise");
                continue;
            }
            configured = run(ctx, NULL, words);
            const mfpg_client_report again = client_of(ctx, configured);
            assert_true(again.grid == 4 * found.grid && again.epsilon == found.epsilon);
            mfpg_experiment_destroy(configured);
        }
        mfpg_experiment_destroy(automatic);
    }
    mfpg_context_destroy(ctx);
}

static void test_what_cannot_be_is_refused_with_the_key_named(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const char *fixed[] = {
        "data.format=synthetic", "seed=1", "game.cost=paper", "noise.target_epsilon=1", NULL};
    check_refused(ctx, fixed, "noise.target_epsilon", "preferences do not move");
    const char *grid[] = {
        "data.format=synthetic", "seed=1", "game.curvature=5", "noise.target_epsilon=0.01", NULL};
    check_refused(ctx, grid, "noise.target_epsilon", "cannot be reached");
    const char *coarse[] = {"data.format=synthetic", "seed=1", "method=mapg-dp", "game.curvature=2",
        "noise.target_epsilon=2", "noise.grid=1024", NULL};
    check_refused(ctx, coarse, "noise.grid", "coarser than a quarter of the noise");
    const char *curvature[] = {"data.format=synthetic", "seed=1", "method=mapg-dp", NULL};
    check_refused(ctx, curvature, "game.curvature", "bounds");
    const char *unit[] = {"data.format=synthetic", "seed=1", "method=dp-sgd", "privacy.unit=example",
        "privacy.clip_at=update", NULL};
    check_refused(ctx, unit, "clip_at", NULL);
    const char *rate[] = {"data.format=synthetic", "seed=1", "method=mfep", "train.learning_rate=1", NULL};
    check_refused(ctx, rate, "train.learning_rate", "entropic.step");
    const char *step[] = {"data.format=synthetic", "seed=1", "method=dp-sgd", "entropic.step=1", NULL};
    check_refused(ctx, step, "entropic.step", NULL);
    const char *weights[] = {"data.format=synthetic", "seed=1", "method=mapg-dp", "game.curvature=5",
        "train.weights=inverse-noise", NULL};
    check_refused(ctx, weights, "train.weights", "inverse-noise");
    const char *rows[] = {"data.format=synthetic", "seed=1", "data.test_fraction=0", "evaluate=test", NULL};
    check_refused(ctx, rows, "evaluate", "test_fraction");
    const char *colluder[] = {"data.format=synthetic", "seed=1", "method=mfep", "privacy.view=average",
        "privacy.colluders=[nobody]", NULL};
    check_refused(ctx, colluder, "privacy.colluders", "nobody");
    const char *size[] = {"data.format=synthetic", "seed=1", "method=mfep", "train.batch.size=1000", NULL};
    check_refused(ctx, size, "train.batch.size", "rows");
    const char *delta[] = {"data.format=synthetic", "seed=1", "method=mfep", "privacy.delta=0", NULL};
    check_refused(ctx, delta, "delta", NULL);
    mfpg_context_destroy(ctx);
}

/* Row F24: clients of 100, 1000 and 10000 rows, batch 10, one local epoch, five rounds: (q, T) = (0.1, 50), (0.01, 500),
 * (0.001, 5000). Each client's own schedule is in its report. */
static void test_every_client_reports_its_own_rate_and_steps(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    char folder[] = "/tmp/mfpg-test-XXXXXX", path[3][64], files[256];
    assert_non_null(mkdtemp(folder));
    const int rows[] = {100, 1000, 10000};
    for (int k = 0; k < 3; k++) {
        snprintf(path[k], sizeof path[k], "%s/c%d.csv", folder, k);
        FILE *file = fopen(path[k], "w");
        fprintf(file, "x,y\n");
        for (int i = 0; i < rows[k]; i++) fprintf(file, "%g,%d\n", 0.001 * i, i % 2);
        fclose(file);
    }
    snprintf(files, sizeof files, "data.files=[%s, %s, %s]", path[0], path[1], path[2]);
    const char *words[] = {files, "seed=1", "method=dp-sgd", "noise.multiplier=1", "privacy.unit=example",
        "train.batch.size=10", "train.local_epochs=1", "train.rounds=5", "data.test_fraction=0",
        "evaluate=none", NULL};
    mfpg_experiment *experiment = run(ctx, NULL, words);
    for (int k = 0; k < 3; k++) {
        mfpg_client_report client;
        CHECK_OK(ctx, mfpg_experiment_client(ctx, experiment, k, &client));
        check_near(client.sampling_rate, 10.0 / rows[k], 1e-12, 0, "sampling rate");
        assert_int_equal(client.steps, rows[k] / 2);
        assert_true(isnan(client.mu) && client.epsilon < mfpg_gdp_epsilon(sqrt(rows[k] / 2.0), 1e-5));
        unlink(path[k]);
    }
    int said = 0;
    for (ptrdiff_t i = 0; mfpg_experiment_assumption(experiment, i); i++)
        said |= strstr(mfpg_experiment_assumption(experiment, i), "Poisson batches are credited") != NULL;
    assert_true(said);
    mfpg_experiment_destroy(experiment);
    rmdir(folder);
    mfpg_context_destroy(ctx);
}

static int assumes(const mfpg_experiment *experiment, const char *words) {
    for (ptrdiff_t i = 0; mfpg_experiment_assumption(experiment, i); i++)
        if (strstr(mfpg_experiment_assumption(experiment, i), words)) return 1;
    return 0;
}

/* One record can decide how large the model is: then that is said, and a declared number of classes takes it back. */
static void test_a_shape_read_off_the_rows_is_an_assumption(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    char folder[] = "/tmp/mfpg-test-XXXXXX", path[64], files[96];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.svm", folder);
    snprintf(files, sizeof files, "data.files=[%s]", path);
    FILE *file = fopen(path, "w");
    fprintf(file, "0 1:1\n1 2:1\n0 1:2\n1 2:2\n2 1:1 2:1\n");
    fclose(file);
    const char *words[] = {files, "data.format=libsvm", "seed=1", "method=dp-sgd", "task.model=softmax",
        "train.rounds=1", "data.test_fraction=0", "evaluate=none", NULL, NULL};
    mfpg_experiment *experiment = run(ctx, NULL, words);
    assert_true(assumes(experiment, "number of classes is that of the largest label"));
    assert_true(assumes(experiment, "number of features is the largest index"));
    mfpg_experiment_destroy(experiment);
    words[8] = "task.classes=3";
    experiment = run(ctx, NULL, words);
    assert_false(assumes(experiment, "number of classes is that of the largest label"));
    mfpg_experiment_destroy(experiment);
    unlink(path);
    rmdir(folder);
    mfpg_context_destroy(ctx);
}

/* Row F4: 100,000 rows and batches of 16 are accounted at the declared rate 0.00016, whatever a sampler's length is. */
static void test_the_rate_is_batch_size_over_declared_rows(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const char *words[] = {"data.format=synthetic", "data.clients=1", "data.rows=100000", "data.dimension=1",
        "seed=1", "data.test_fraction=0", "evaluate=none", "method=dp-sgd", "noise.multiplier=1",
        "privacy.unit=example", "train.batch.size=16", "train.local_steps=128", "train.rounds=1", NULL};
    mfpg_experiment *experiment = run(ctx, NULL, words);
    mfpg_client_report client;
    CHECK_OK(ctx, mfpg_experiment_client(ctx, experiment, 0, &client));
    check_near(client.sampling_rate, 0.00016, 1e-12, 0, "sampling rate");
    assert_int_equal(client.steps, 128);
    mfpg_experiment_destroy(experiment);
    mfpg_context_destroy(ctx);
}

/* Equal clients that tie between 0.3 and 0.5 (theory S3.4: B/c = .2, zeta = 1 gives weight 1/6 on 0.5): a run plays one of
 * the two for each. 300 coins: standard error sqrt(5/36/300) = 0.0215. */
static void test_clients_that_mix_play_one_of_their_two_actions(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const char *words[] = {"data.format=synthetic", "data.clients=300", "data.rows=5", "seed=1",
        "game.cost=interaction", "game.privacy_scale=0.2", "game.own_cost=1", "game.interaction=1",
        "game.preferences=[1]", "train.rounds=1", NULL};
    mfpg_experiment *experiment = run(ctx, NULL, words);
    int upper = 0;
    for (ptrdiff_t k = 0; k < 300; k++) {
        mfpg_client_report client;
        CHECK_OK(ctx, mfpg_experiment_client(ctx, experiment, k, &client));
        assert_true(client.action_value == 0.3 || client.action_value == 0.5);
        upper += client.action_value == 0.5;
    }
    check_near(upper / 300.0, 1.0 / 6, 0, 4 * 0.0215, "share of the upper action");
    mfpg_experiment_destroy(experiment);
    mfpg_context_destroy(ctx);
}

/* ---- units of strength ---- */

/* A game whose strengths are counted in units of S^2 is the same game: S = 2 x 0.4 under replace, S^2 = 0.64. Actions are
 * given so that the strengths are the same ones. */
static void check_units(mfpg_context *ctx, const char *players, const char *absolute, const char *scaled) {
    char method[96];
    snprintf(method, sizeof method, "method={mechanism: entropic, players: %s}", players);
    const char *common[] = {"data.format=synthetic", "data.clients=6", "data.rows=20", "data.dimension=4",
        "seed=1", "train.weights=equal", "game.curvature=2", "privacy.clip=0.4", "privacy.adjacency=replace",
        "game.preferences.min=0.02", "game.preferences.max=2", method, "entropic.scale=absolute", absolute,
        NULL};
    mfpg_experiment *plain = run(ctx, NULL, common);
    common[12] = "entropic.scale=sensitivity";
    common[13] = scaled;
    mfpg_experiment *counted = run(ctx, NULL, common);
    const mfpg_equilibrium *a = equilibrium_of(plain), *b = equilibrium_of(counted);
    /* 1e-7: the solver's price is resolved to 1e-9; grids are written with rounded ends */
    for (ptrdiff_t k = 0; k < 6; k++) check_near(0.64 * b->action[k], a->action[k], 1e-7, 0, "strength");
    check_near(0.64 * b->mean_action, a->mean_action, 1e-7, 0, "mean strength");
    check_near(0.64 * b->social_mean, a->social_mean, 1e-7, 0, "optimum");
    check_near(b->price_of_anarchy, a->price_of_anarchy, 1e-9, 0, "price of anarchy");
    assert_true(b->exploitability_max < 1e-9 && a->price_of_anarchy > 1.0);
    check_near(largest_epsilon(ctx, counted), largest_epsilon(ctx, plain), 1e-6, 0, "epsilon");
    mfpg_experiment_destroy(plain);
    mfpg_experiment_destroy(counted);
}

static void test_units_of_strength_do_not_change_the_game(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (int i = 0; i < 2; i++) {
        const char *players = i ? "mean-field" : "finite";
        check_units(ctx, players, "game.actions=continuous", "game.actions=continuous");
        check_units(ctx, players, "game.actions=[0.032, 0.064, 0.16, 0.64, 1.28]",
            "game.actions=[0.05, 0.1, 0.25, 1, 2]");
        check_units(
            ctx, players, "game.actions={min: 0.064, max: 0.32}", "game.actions={min: 0.1, max: 0.5}");
    }
    mfpg_context_destroy(ctx);
}

/* ---- hospitals ---- */

static void test_hospitals_play_the_known_equilibrium(void **state) {
    (void)state;
    char folder[4200];
    snprintf(folder, sizeof folder, "data.dir=%s/data/heart", need_shared());
    mfpg_context *ctx = testing_context(1);
    const char *words[] = {folder, NULL};
    mfpg_experiment *experiment = run(ctx, "hospitals", words);
    /* theory S3.3 with B = .5, c = .75625, h = 2.75, d = 11, given to four and three digits */
    const double strength[] = {.5750, .7423, .8783, .9959}, epsilon[] = {6.050, 5.206, 4.720, 4.388};
    assert_int_equal(mfpg_experiment_clients(experiment), 4);
    for (ptrdiff_t k = 0; k < 4; k++) {
        mfpg_client_report client;
        CHECK_OK(ctx, mfpg_experiment_client(ctx, experiment, k, &client));
        check_near(client.action_value, strength[k], 0, 1e-3, "strength");
        check_near(client.epsilon, epsilon[k], 0, 1e-3, "epsilon");
    }
    assert_true(equilibrium_of(experiment)->exploitability_max < 1e-9);
    mfpg_experiment_destroy(experiment);
    mfpg_context_destroy(ctx);
}

static void test_hospitals_without_noise_reach_the_known_accuracy(void **state) {
    (void)state;
    char folder[4200];
    snprintf(folder, sizeof folder, "data.dir=%s/data/heart", need_shared());
    mfpg_context *ctx = testing_context(2);
    const char *words[] = {folder, "method=none", "data.scale=from-data", "data.test_fraction=0",
        "evaluate=train", "train.rounds=200", "train.learning_rate=1", NULL};
    mfpg_experiment *experiment = run(ctx, "hospitals", words);
    mfpg_metrics metrics;
    CHECK_OK(ctx, mfpg_experiment_metrics(ctx, experiment, -1, &metrics));
    assert_int_equal(metrics.rows, 740);
    check_near(metrics.accuracy, 0.8068, 0, 0.002, "training accuracy of pooled logistic regression");
    mfpg_experiment_destroy(experiment);
    mfpg_context_destroy(ctx);
}

/* Ten digits, ten classes: 40 steps of plain gradient descent on softmax regression answer most digits (a constant answer
 * is right in 11 of 100 cases); with a class less than the labels need, the client is named. */
static void test_digits_are_told_apart_by_softmax_regression(void **state) {
    (void)state;
    char images[4200], labels[4200];
    const char *shared = need_shared();
    snprintf(images, sizeof images, "data.files=[%s/data/mnist/t10k-images-idx3-ubyte.gz]", shared);
    snprintf(labels, sizeof labels, "data.labels=[%s/data/mnist/t10k-labels-idx1-ubyte.gz]", shared);
    mfpg_context *ctx = testing_context(2);
    const char *words[] = {images, labels, "data.format=idx", "task.model=softmax", "method=none", "seed=1",
        "data.partition.kind=iid", "data.partition.clients=5", "train.rounds=40", "train.learning_rate=0.3",
        NULL};
    mfpg_experiment *experiment = run(ctx, NULL, words);
    mfpg_metrics metrics;
    CHECK_OK(ctx, mfpg_experiment_metrics(ctx, experiment, -1, &metrics));
    assert_int_equal(mfpg_config_number(mfpg_experiment_config(experiment), "task.classes"), 10);
    assert_true(metrics.accuracy > 0.8);
    mfpg_experiment_destroy(experiment);
    const char *fewer[] = {
        images, labels, "data.format=idx", "task.model=softmax", "task.classes=9", "method=none", NULL};
    check_refused(ctx, fewer, "client 't10k-images-idx3-ubyte", "task.classes");
    mfpg_context_destroy(ctx);
}

/* Three rings around the origin, 150 points each: no straight line tells them apart, two hidden layers do. */
static void write_rings(const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("x,y,ring\n", file);
    for (int i = 0; i < 450; i++) {
        int ring = i % 3;
        double angle = 0.7 * i, radius = 0.4 + ring + 0.2 * sin(5.3 * i);
        fprintf(file, "%.6f,%.6f,%d\n", radius * cos(angle), radius * sin(angle), ring);
    }
    fclose(file);
}

static double accuracy_of(mfpg_context *ctx, const char *const *words, mfpg_experiment **out) {
    mfpg_metrics metrics;
    *out = run(ctx, NULL, words);
    CHECK_OK(ctx, mfpg_experiment_metrics(ctx, *out, -1, &metrics));
    return metrics.accuracy;
}

static void test_a_network_tells_rings_apart(void **state) {
    (void)state;
    char folder[] = "/tmp/mfpg-rings-XXXXXX", path[64], files[96];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/rings.csv", folder);
    snprintf(files, sizeof files, "data.files=[%s]", path);
    write_rings(path);
    mfpg_context *ctx = testing_context(2);
    mfpg_experiment *network = NULL, *linear = NULL, *again = NULL;
    const char *words[] = {files, "task.model=mlp", "task.hidden=[16, 8]", "method=none", "seed=1",
        "data.partition.kind=iid", "data.partition.clients=3", "train.rounds=100", "train.local_steps=5",
        "train.learning_rate=0.3", "train.batch.rate=0.5", NULL};
    assert_true(accuracy_of(ctx, words, &network) > 0.95);
    const mfpg_config *config = mfpg_experiment_config(network);
    assert_int_equal(mfpg_config_number(config, "task.classes"), 3);
    assert_true(mfpg_config_is(config, "train.start", "he"));
    double accuracy = accuracy_of(ctx, words, &again);
    assert_true(accuracy == accuracy_of(ctx, words, &linear)); /* the same run again */
    mfpg_experiment_destroy(linear);
    words[1] = "task.model=softmax";
    assert_true(accuracy_of(ctx, words, &linear) < 0.7);
    assert_true(mfpg_config_is(mfpg_experiment_config(linear), "train.start", "zero"));
    mfpg_experiment_destroy(network);
    mfpg_experiment_destroy(again);
    mfpg_experiment_destroy(linear);
    const char *game[] = {files, "task.model=mlp", "method=mfpg", NULL};
    check_refused(ctx, game, "game.curvature", "model mlp");
    const char *label[] = {files, "task.model=mlp", "task.classes=2", "method=none", NULL};
    check_refused(ctx, label, "client 'rings'", "task.classes");
    const char *fraction[] = {files, "task.model=mlp", "data.label.column=x", "method=none", NULL};
    check_refused(ctx, fraction, "client 'rings'", "not a whole number");
    mfpg_context_destroy(ctx);
    remove(path);
    rmdir(folder);
}

static void test_districts_are_sixty_clients_of_one_file(void **state) {
    (void)state;
    char folder[4200];
    snprintf(folder, sizeof folder, "data.dir=%s/data/multilevel", need_shared());
    mfpg_context *ctx = testing_context(2);
    const char *words[] = {folder, "train.rounds=3", NULL};
    mfpg_experiment *experiment = run(ctx, "districts", words);
    assert_int_equal(mfpg_experiment_clients(experiment), 60);
    check_near(largest_epsilon(ctx, experiment), 4, 0, 1e-6, "target epsilon");
    mfpg_experiment_destroy(experiment);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_papers_settings_give_the_known_numbers),
        cmocka_unit_test(test_rounds_and_model_are_told),
        cmocka_unit_test(test_clients_are_told),
        cmocka_unit_test(test_replace_doubles_mu),
        cmocka_unit_test(test_a_target_epsilon_is_met_from_below),
        cmocka_unit_test(test_a_grid_is_held_against_the_noise_of_the_target),
        cmocka_unit_test(test_what_cannot_be_is_refused_with_the_key_named),
        cmocka_unit_test(test_every_client_reports_its_own_rate_and_steps),
        cmocka_unit_test(test_a_shape_read_off_the_rows_is_an_assumption),
        cmocka_unit_test(test_the_rate_is_batch_size_over_declared_rows),
        cmocka_unit_test(test_clients_that_mix_play_one_of_their_two_actions),
        cmocka_unit_test(test_units_of_strength_do_not_change_the_game),
        cmocka_unit_test(test_hospitals_play_the_known_equilibrium),
        cmocka_unit_test(test_hospitals_without_noise_reach_the_known_accuracy),
        cmocka_unit_test(test_digits_are_told_apart_by_softmax_regression),
        cmocka_unit_test(test_a_network_tells_rings_apart),
        cmocka_unit_test(test_districts_are_sixty_clients_of_one_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
