/* Loss tables from end to end: measured from a configuration, written, read back by a game, and refused where they are wrong. */
#include "fixture.h"

#include "equilibrium.h"
#include "mfpg/experiment.h"
#include "mfpg/loss_table.h"

#define SHARED_KEYS                                                                                          \
    "seed: 7\n"                                                                                              \
    "task: {model: quadratic}\n"                                                                             \
    "data: {format: synthetic, kind: quadratic, clients: 4, rows: 20, dimension: 3, test_fraction: 0}\n"     \
    "privacy: {clip: 1000}\n"

static const char *const CONFIG = SHARED_KEYS
    "method: mfpg\n"
    "train: {rounds: 12, weights: equal}\n"
    "entropic: {step: 0.01, variance_penalty: 0}\n"
    "game: {cost: measured, actions: [0.1, 0.5, 1, 3], preferences: {min: 1.0e-6, max: 1.0e-5}}\n";

static const char *const BUDGETS = SHARED_KEYS
    "method: mapg-dp\n"
    "train: {rounds: 12, weights: equal, learning_rate: 0.001}\n"
    "game: {cost: measured-budget, actions: [0.1, 0.5, 1, 3], preferences: [2], privacy_power: 2}\n";

static mfpg_loss_table measured(const mfpg_config *config, const mfpg_loss_study *study) {
    mfpg_loss_table table;
    CHECK_OK(ctx, mfpg_loss_table_measure(ctx, config, study, &table));
    return table;
}

/* The rows that the study of a configuration is made of, and what it says of itself. */
static void test_a_table_holds_what_was_measured(void **state) {
    const double actions[] = {0.1, 0.5, 1, 3};
    mfpg_config *config = load(CONFIG);
    mfpg_loss_study study = mfpg_loss_study_default();
    (void)state;
    study.rounds = 4;
    study.draws = 30;
    mfpg_loss_table t = measured(config, &study);
    assert_int_equal(t.count, 4);
    assert_int_equal(t.control, MFPG_CONTROL_STRENGTH);
    assert_true(t.clients == 4 && t.rounds == 4 && t.draws == 30 && t.personalisation == 0.5);
    assert_true(t.reference == 1.0); /* the third of four */
    assert_true(t.row[0].difference == 0.0 && t.row[0].difference_error == 0.0);
    for (ptrdiff_t j = 0; j < t.count; j++) {
        const mfpg_loss_row *row = &t.row[j];
        assert_true(row->action == actions[j] && row->standard_error > 0.0);
        check_near(row->measured - t.row[0].measured, row->difference, 1e-12, 1e-12, "difference");
        if (j > 0) assert_true(row->loss >= t.row[j - 1].loss);
        assert_true(fabs(row->loss - row->measured) <= t.moved_most);
    }
    /* 0.1 to 3 is a factor 30 in noise of the loss: far above the errors, so both ends keep apart */
    assert_true(t.row[3].difference > 5 * t.row[3].difference_error);
    assert_true(t.pairing_gain > 1.0);
    mfpg_loss_table_clear(&t);
    mfpg_loss_table_clear(NULL);
    mfpg_config_destroy(config);
}

static void test_threads_and_repetition_change_nothing(void **state) {
    mfpg_config *config = load(CONFIG);
    mfpg_context *three = testing_context(3);
    mfpg_loss_study study = {.rounds = 2, .draws = 3, .reference = 0.4};
    mfpg_loss_table a = measured(config, &study), b;
    (void)state;
    CHECK_OK(three, mfpg_loss_table_measure(three, config, &study, &b));
    assert_true(a.reference == 0.4);
    assert_memory_equal(a.row, b.row, (size_t)a.count * sizeof *a.row);
    mfpg_loss_table_clear(&a);
    mfpg_loss_table_clear(&b);
    mfpg_context_destroy(three);
    mfpg_config_destroy(config);
}

static int has_assumption(const mfpg_experiment *e, const char *words) {
    for (ptrdiff_t i = 0; mfpg_experiment_assumption(e, i); i++)
        if (strstr(mfpg_experiment_assumption(e, i), words)) return 1;
    return 0;
}

/* U_k(e) = T(e) + beta_k B/e with B = S^2 K tau/4 by hand: S = 1000, K = 12, tau = 0.01. */
static void test_a_run_plays_the_table_that_was_written(void **state) {
    char path[96], argument[160];
    const char *folder = temporary_folder();
    mfpg_config *config = load(CONFIG);
    mfpg_loss_study study = {.rounds = 3, .draws = 10};
    mfpg_loss_table t = measured(config, &study);
    mfpg_experiment *e = NULL;
    (void)state;
    snprintf(path, sizeof path, "%s/t.csv", folder);
    CHECK_OK(ctx, mfpg_loss_table_write(ctx, &t, path));
    snprintf(argument, sizeof argument, "game.loss_table=%s", path);
    set(config, argument);
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &e));
    const mfpg_equilibrium *q = equilibrium_of(e);
    assert_true(q->exploitability_max == 0.0);
    int played[4] = {0};
    for (ptrdiff_t k = 0; k < 4; k++) {
        double beta = 1e-6 + 9e-6 * (double)k / 3, b = 1e6 * 12 * 0.01 / 4, best = INFINITY, action = 0;
        for (ptrdiff_t j = 0; j < 4; j++) {
            double cost = t.row[j].loss + beta * b / t.row[j].action;
            if (cost <= best) best = cost, action = t.row[j].action;
        }
        assert_true(q->action[k] == action);
        for (ptrdiff_t j = 0; j < 4; j++) played[j] += q->action[k] == t.row[j].action;
    }
    assert_true(played[0] < 4 && played[3] < 4); /* the table is what they weigh, not one end of the grid */
    assert_true(has_assumption(e, "t.csv is public: it was not made from the private data"));
    mfpg_experiment_destroy(e);
    set(config, "game.cost=entropic");
    set(config, "game.curvature=1");
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &e));
    assert_false(has_assumption(e, "t.csv")); /* which no other cost reads */
    mfpg_experiment_destroy(e);
    mfpg_loss_table_clear(&t);
    mfpg_config_destroy(config);
    unlink(path);
    rmdir(folder);
}

/* Budgets: the loss falls with the action, and cost measured-budget plays it against beta b^p/p. */
static void test_budgets_have_tables_too(void **state) {
    char path[96], argument[160];
    const char *folder = temporary_folder();
    mfpg_config *config = load(BUDGETS);
    mfpg_loss_study study = {.rounds = 3, .draws = 20};
    mfpg_experiment *e = NULL;
    (void)state;
    snprintf(path, sizeof path, "%s/t.csv", folder);
    snprintf(
        argument, sizeof argument, "game.loss_table=%s", path); /* not there yet: the study does not look */
    set(config, argument);
    mfpg_loss_table t = measured(config, &study);
    assert_int_equal(t.control, MFPG_CONTROL_BUDGET);
    assert_true(t.personalisation == 0.0); /* of mapg-dp */
    for (ptrdiff_t j = 1; j < t.count; j++) assert_true(t.row[j].loss <= t.row[j - 1].loss);
    assert_true(t.row[3].difference < -5 * t.row[3].difference_error);
    CHECK_OK(ctx, mfpg_loss_table_write(ctx, &t, path));
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &e));
    double best = INFINITY, action = 0;
    for (ptrdiff_t j = 0; j < 4; j++) {
        double cost = t.row[j].loss + 2 * t.row[j].action * t.row[j].action / 2;
        if (cost < best) best = cost, action = t.row[j].action;
    }
    for (ptrdiff_t k = 0; k < 4; k++) assert_true(equilibrium_of(e)->action[k] == action);
    mfpg_experiment_destroy(e);
    mfpg_config_destroy(config);
    config = load(CONFIG);
    set(config, argument);
    e = NULL;
    assert_int_equal(mfpg_experiment_create(ctx, config, &e), MFPG_ERR_INPUT);
    MESSAGE_HOLDS("game.loss_table", "t.csv:7", "\"control\"", "found \"budget\"", "strength");
    mfpg_loss_table_clear(&t);
    mfpg_config_destroy(config);
    unlink(path);
    rmdir(folder);
}

static void test_wrong_files_are_refused_by_line(void **state) {
    const struct {
        const char *text, *words;
    } cases[] = {
        {"action,loss\n0.1,1\n0.5,2\n1,3\n", "no row for action 3"},
        {"action,loss\n0.1,1\n0.5,2\n1,3\n3,x\n", "t.csv:5"},
        {"action,loss\n0.1,1\n0.5,nan\n1,3\n3,4\n", "t.csv:3"},
        {"action,loss\n-0.1,1\n0.5,2\n1,3\n3,4\n", "found \"-0.1\""},
        {"action,loss\n0.1,1\n0.5,2\n1,3\n3,4\n1,3\n", "t.csv:6: action 1 is in line 4 already"},
        {"action,loss\n0.1,1\n0.5,2\n1,1.5\n3,4\n", "from 2 at action 0.5 to 1.5 at action 1"},
        {"strength,loss\n0.1,1\n", "no column \"action\""},
        {"action,cost\n0.1,1\n", "no column \"loss\""},
        {"action,loss,control\n0.1,1,strength\n0.5,2,budget\n", "t.csv:3"},
    };
    char path[96], argument[160];
    const char *folder = temporary_folder();
    mfpg_config *config = load(CONFIG);
    mfpg_experiment *e = NULL;
    (void)state;
    snprintf(path, sizeof path, "%s/t.csv", folder);
    snprintf(argument, sizeof argument, "game.loss_table=%s", path);
    set(config, argument);
    assert_int_equal(mfpg_experiment_create(ctx, config, &e), MFPG_ERR_INPUT); /* no such file */
    MESSAGE_HOLDS("game.loss_table", "t.csv");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_file(path, cases[i].text);
        assert_int_equal(mfpg_experiment_create(ctx, config, &e), MFPG_ERR_INPUT);
        MESSAGE_HOLDS("game.loss_table", cases[i].words);
        assert_null(e);
    }
    mfpg_config_destroy(config);
    unlink(path);
    rmdir(folder);
}

static void refuse_keys(const char *text, const char *words, const char *const *arguments) {
    mfpg_config *config = load(text);
    mfpg_experiment *e = NULL;
    for (; *arguments; arguments++) set(config, *arguments);
    assert_int_equal(mfpg_experiment_create(ctx, config, &e), MFPG_ERR_INPUT);
    MESSAGE_HOLDS(words);
    mfpg_config_destroy(config);
}
#define REFUSE_KEYS(text, words, ...) refuse_keys(text, words, (const char *const[]){__VA_ARGS__, NULL})

static void test_keys_that_contradict_a_table_are_refused(void **state) {
    (void)state;
    REFUSE_KEYS(BUDGETS, "game.loss_table: nothing given", "seed=7");
    REFUSE_KEYS(CONFIG, "game.actions: found no list", "game.loss_table=t.csv", "game.actions=continuous");
    REFUSE_KEYS(CONFIG, "game.update: found 'each-round'", "game.loss_table=t.csv", "game.update=each-round");
    REFUSE_KEYS(CONFIG, "whose actions are budgets", "game.cost=measured-budget", "game.loss_table=t.csv");
}

static void refuse_study(const char *const *arguments, mfpg_loss_study study, const char *words) {
    mfpg_config *config = load(CONFIG);
    mfpg_loss_table table = {.count = 77};
    for (; *arguments; arguments++) set(config, *arguments);
    mfpg_status status = mfpg_loss_table_measure(ctx, config, &study, &table);
    MESSAGE_HOLDS(words);
    assert_true(status == MFPG_ERR_INPUT || status == MFPG_ERR_DOMAIN);
    assert_int_equal(table.count, 77);
    mfpg_config_destroy(config);
}
#define REFUSE_STUDY(words, study, ...) refuse_study((const char *const[]){__VA_ARGS__, NULL}, study, words)

static void test_studies_that_cannot_be_are_refused(void **state) {
    const mfpg_loss_study good = {.rounds = 2, .draws = 2};
    mfpg_loss_study none = good, many = good, alone = good, wild = good;
    (void)state;
    none.rounds = 0, many.rounds = 13, alone.draws = 1, wild.reference = NAN;
    REFUSE_STUDY("0 rounds", none, "seed=7");
    REFUSE_STUDY("the 12 of train.rounds", many, "seed=7");
    REFUSE_STUDY("at least 2", alone, "seed=7");
    REFUSE_STUDY("reference action is nan", wild, "seed=7");
    REFUSE_STUDY("game.actions", good, "game.actions=continuous");
    REFUSE_STUDY("adds no noise", good, "method=none");
    REFUSE_STUDY("records are noised once", good, "entropic.particles=data");
    REFUSE_STUDY("unstable", good, "game.actions=[1, 1000]"); /* tau e/sigma^2 = 10 */
    mfpg_config *half = load("data: {format: synthetic}\nmethod: {mechanism: gaussian}\n");
    mfpg_loss_table table;
    assert_int_equal(mfpg_loss_table_measure(ctx, half, &good, &table), MFPG_ERR_INPUT);
    MESSAGE_HOLDS("method.players");
    mfpg_config_destroy(half);
    mfpg_config *config = load(CONFIG);
    mfpg_loss_study stopped = good;
    volatile int flag = 1;
    stopped.stop = &flag;
    assert_int_equal(mfpg_loss_table_measure(ctx, config, &stopped, &table), MFPG_ERR_INTERRUPTED);
    mfpg_config_destroy(config);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_table_holds_what_was_measured),
        cmocka_unit_test(test_threads_and_repetition_change_nothing),
        cmocka_unit_test(test_a_run_plays_the_table_that_was_written),
        cmocka_unit_test(test_budgets_have_tables_too),
        cmocka_unit_test(test_wrong_files_are_refused_by_line),
        cmocka_unit_test(test_keys_that_contradict_a_table_are_refused),
        cmocka_unit_test(test_studies_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
