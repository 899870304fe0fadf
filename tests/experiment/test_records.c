/* Experiments that noise records: which keys go together, games with declared costs, starts that are not zero, and what the
 * paper's columns hold. */
#include "experiment/fixture.h"

#include "equilibrium.h"
#include "mfpg/experiment.h"

#define BASE                                                                                                 \
    "seed: 4\ndata: {format: synthetic, kind: logistic, clients: 4, rows: 30, dimension: 5, test_rows: "     \
    "50}\n"                                                                                                  \
    "privacy: {unit: example, adjacency: replace, clip: 2}\n"
#define INPUT "method: {mechanism: input, players: none}\n"
#define FLOW  "method: {mechanism: entropic, players: none}\nentropic: {particles: data}\n"

static mfpg_experiment *made(const char *text, const char *const *arguments) {
    mfpg_config *config = load(text);
    mfpg_experiment *experiment = NULL;
    for (; arguments && *arguments; arguments++) set(config, *arguments);
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &experiment));
    mfpg_config_destroy(config);
    return experiment;
}
#define MADE(text, ...) made(text, (const char *const[]){__VA_ARGS__, NULL})

static void refuse(const char *text, const char *argument, const char *part) {
    mfpg_config *config = load(text);
    mfpg_experiment *experiment = NULL;
    set(config, argument);
    mfpg_status status = mfpg_experiment_create(ctx, config, &experiment);
    if (status != MFPG_ERR_INPUT && status != MFPG_ERR_DOMAIN)
        fail_msg("%s: status %d", argument, (int)status);
    assert_null(experiment);
    MESSAGE_HOLDS(part);
    mfpg_config_destroy(config);
}

static mfpg_client_report trained(mfpg_experiment *experiment, ptrdiff_t k) {
    mfpg_client_report report;
    CHECK_OK(ctx, mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){0}));
    CHECK_OK(ctx, mfpg_experiment_client(ctx, experiment, k, &report));
    return report;
}

static void test_keys_that_speak_of_updates_are_refused(void **state) {
    (void)state;
    refuse(BASE INPUT, "privacy.clip_at=update", "no update is");
    refuse(BASE INPUT, "train.weights=inverse-noise", "in the records, not in the updates");
    refuse(BASE FLOW, "entropic.transport.regularisation=1", "one of parameters");
    refuse(BASE FLOW, "task.model=mlp", "curvature in the features, and model mlp has none");
    refuse(BASE INPUT, "entropic.step=0.2", "is not used by method input");
    refuse(BASE FLOW, "noise.action=25", "unstable");
    refuse(BASE "method: mfep\n", "train.learning_rate=0.2", "is not used by method mfep"); /* parameters */
}

/* entropic.step moves the records, train.learning_rate the model. */
static void test_a_flow_has_both_steps(void **state) {
    (void)state;
    mfpg_experiment *slow = MADE(BASE FLOW, "entropic.step=0.05", "train.learning_rate=0.01"),
                    *fast = MADE(BASE FLOW, "entropic.step=0.05", "train.learning_rate=0.1");
    mfpg_client_report a = trained(slow, 0), b = trained(fast, 0);
    assert_true(a.mu == b.mu);
    check_near(a.mu, 0.95 * 4.0 / sqrt(0.1), 1e-12, 0, "c D/s at tau 0.05");
    assert_true(mfpg_experiment_last_round(slow).loss != mfpg_experiment_last_round(fast).loss);
    assert_true(
        isnan(mfpg_experiment_last_round(slow).paper_epsilon)); /* the paper's formulas are of parameters */
    mfpg_experiment_destroy(slow);
    mfpg_experiment_destroy(fast);
}

static void test_the_client_unit_moves_by_the_root_of_its_rows(void **state) {
    (void)state;
    mfpg_experiment *one = MADE(BASE INPUT, "noise.multiplier=3"),
                    *all = MADE(BASE INPUT, "noise.multiplier=3", "privacy.unit=client");
    mfpg_client_report a = trained(one, 0), b = trained(all, 0);
    check_near(a.mu, 2.0 / 3.0, 1e-12, 0, "example");
    check_near(b.mu, 2.0 / 3.0, 1e-12, 0, "client: the same noise over its sensitivity");
    mfpg_experiment_destroy(one);
    mfpg_experiment_destroy(all);
    /* 30 rows: the same noise on a record as one example gets at budget 1 is sqrt 30 times as telling of the client */
    one = MADE(BASE INPUT, "noise.action=1", "noise.law=game");
    all = MADE(BASE INPUT, "noise.action=5.477225575051661", "noise.law=game", "privacy.unit=client");
    mfpg_round_report x, y;
    a = trained(one, 0);
    b = trained(all, 0);
    x = mfpg_experiment_last_round(one);
    y = mfpg_experiment_last_round(all);
    check_near(b.mu, sqrt(30.0) * a.mu, 1e-12, 0, "sqrt n");
    check_near(y.loss, x.loss, 1e-6, 0, "the same records, up to rounding of the noise");
    mfpg_experiment_destroy(one);
    mfpg_experiment_destroy(all);
}

/* The public start bends the flow: c is that of its weights, and training goes on from there. */
static void test_a_start_from_a_file_sets_the_contraction(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    char path[128], argument[192];
    snprintf(path, sizeof path, "%s/w.npy", folder);
    snprintf(argument, sizeof argument, "train.start=%s", path);
    FILE *file = fopen(path, "wb"); /* five weights of 4 and the bias, so that M0 = 80/4 = 20 */
    const float w[6] = {4, 4, 4, 4, 4, -1};
    char header[128] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }";
    for (size_t i = 10 + strlen(header + 10); i < 127; i++) header[i] = ' ';
    header[127] = '\n';
    assert_non_null(file);
    assert_int_equal(fwrite(header, 1, 128, file), 128);
    assert_int_equal(fwrite(w, sizeof w, 1, file), 1);
    fclose(file);
    mfpg_experiment *experiment =
        MADE(BASE FLOW, argument, "entropic.step=0.09", "noise.action=0.5", "entropic.variance_penalty=0");
    mfpg_client_report report = trained(experiment, 0);
    /* c = max(|1 - .09 .5|, |1 - .09 (20 + .5)|) = 0.955 against 0.845 */
    check_near(report.mu, 0.955 * 4.0 / sqrt(0.09), 1e-12, 0, "mu at that start");
    mfpg_experiment_destroy(experiment);
    experiment =
        MADE(BASE FLOW, argument, "entropic.step=0.095", "noise.action=1", "entropic.variance_penalty=0");
    report = trained(experiment, 0); /* |1 - .095 21| = 0.995 */
    check_near(report.mu, 0.995 * 4.0 / sqrt(0.19), 1e-12, 0, "turned round");
    mfpg_experiment_destroy(experiment);
    mfpg_config *config = load(BASE FLOW);
    set(config, argument); /* tau (e + M0) = 2.1 > 2 */
    experiment = NULL;
    assert_int_equal(mfpg_experiment_create(ctx, config, &experiment), MFPG_ERR_DOMAIN);
    MESSAGE_HOLDS("unstable", "curvature");
    mfpg_config_destroy(config);
    unlink(path);
    rmdir(folder);
}

static void test_games_need_a_declared_cost(void **state) {
    (void)state;
    const char *input = BASE "method: {mechanism: input, players: finite}\n",
               *flow =
                   BASE "method: {mechanism: entropic, players: mean-field}\nentropic: {particles: data}\n";
    refuse(input, "game.cost=auto", "no cost model is derived for noised records");
    refuse(flow, "game.cost=auto", "no cost model is derived for noised records");
    refuse(input, "game.cost=gaussian", "game.curvature");
    refuse(flow, "game.cost=entropic", "game.own_cost");
    refuse(input, "game.cost=entropic", "takes budgets");
    mfpg_experiment *experiment =
        MADE(input, "game.cost=gaussian", "game.curvature=1", "game.actions=continuous");
    mfpg_client_report first, last;
    assert_true(equilibrium_of(experiment)->converged);
    first = trained(experiment, 0);
    CHECK_OK(ctx, mfpg_experiment_client(ctx, experiment, 3, &last));
    check_near(first.mu, first.action.budget.value, 1e-12, 0, "law game: mu is the budget");
    assert_true(first.mu > last.mu); /* who minds more takes less budget */
    mfpg_experiment_destroy(experiment);
    experiment = MADE(flow, "game.cost=entropic", "game.own_cost=0.5", "game.actions=continuous");
    /* e = sqrt(beta B/c) with B = S^2/(4 tau) = 16/.4: the records are released once, whatever the rounds */
    first = trained(experiment, 0);
    check_near(first.action.strength.value, sqrt(0.5 * 40.0 / 0.5), 1e-12, 0, "strength");
    mfpg_experiment_destroy(experiment);
}

static void test_a_game_meets_a_target_with_its_largest_client(void **state) {
    (void)state;
    mfpg_experiment *experiment = MADE(BASE "method: {mechanism: input, players: finite}\n",
        "game.cost=gaussian", "game.curvature=1", "game.actions=continuous", "noise.target_epsilon=2");
    double largest = trained(experiment, 0).epsilon;
    for (ptrdiff_t k = 1; k < 4; k++) {
        mfpg_client_report c;
        CHECK_OK(ctx, mfpg_experiment_client(ctx, experiment, k, &c));
        largest = fmax(largest, c.epsilon);
    }
    assert_true(largest <= 2.0 && largest > 2.0 * (1 - 1e-6));
    mfpg_experiment_destroy(experiment);
}

static void test_batches_come_after_the_noise(void **state) {
    (void)state;
    mfpg_experiment *experiment =
        MADE(BASE INPUT, "noise.action=1", "noise.law=game", "train.batch.rate=0.2");
    mfpg_client_report report = trained(experiment, 0);
    check_near(report.mu, 1.0, 1e-12, 0, "no amplification: every record was noised");
    assert_true(report.sampling_rate == 1.0);
    for (ptrdiff_t i = 0; mfpg_experiment_assumption(experiment, i); i++)
        assert_null(strstr(mfpg_experiment_assumption(experiment, i), "Poisson"));
    assert_true(mfpg_config_is(mfpg_experiment_config(experiment), "privacy.accountant", "data-particles"));
    mfpg_experiment_destroy(experiment);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_that_speak_of_updates_are_refused),
        cmocka_unit_test(test_a_flow_has_both_steps),
        cmocka_unit_test(test_the_client_unit_moves_by_the_root_of_its_rows),
        cmocka_unit_test(test_a_start_from_a_file_sets_the_contraction),
        cmocka_unit_test(test_games_need_a_declared_cost),
        cmocka_unit_test(test_a_game_meets_a_target_with_its_largest_client),
        cmocka_unit_test(test_batches_come_after_the_noise),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
