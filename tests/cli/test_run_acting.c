/* mfpg run with actions that are chosen anew each round: what is certified, what is refused, and what the files say. */
#include "cli/program.h"

#include "mfpg/accountant.h"

static const char *const CONFIG =
    "seed: 4\n"
    "method: mfpg\n"
    "task: {model: logistic}\n"
    "data: {format: synthetic, kind: logistic, clients: 4, rows: 60, dimension: 5, test_rows: 100}\n"
    "privacy: {unit: example, stop_at_epsilon: 3}\n"
    "train: {rounds: 12}\n"
    "game: {cost: measured, update: each-round, loss_noise: 1, preferences: {min: 0.2, max: 2}}\n";

static void forget(const char *run_folder) {
    char command[256];
    snprintf(command, sizeof command, "rm -r %s/%s", folder, run_folder);
    assert_int_equal(system(command), 0);
}

static json_t *client_of(const json_t *summary, size_t k) {
    return json_array_get(json_object_get(summary, "clients"), k);
}

static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

static void check_says(const json_t *summary, const char *words) {
    const json_t *list = json_object_get(summary, "assumptions"), *line;
    size_t i;
    json_array_foreach(list, i, line) if (strstr(json_string_value(line), words)) return;
    print_error("no assumption says: %s\n", words);
    fail();
}

/* Everybody is certified at the budget, and has spent no more of it; the ledger certifies the same. */
static void test_the_budget_is_what_is_certified(void **state) {
    (void)state;
    const char *settings[] = {"", "game.selection=exponential game.selection_epsilon=0.4",
        "privacy.view=average", "privacy.adjacency=replace privacy.stop_at_epsilon=6",
        "train.batch.rate=0.5"};
    const double budget[] = {3, 3, 3, 6, 3};
    write_in_folder("c.yaml", CONFIG);
    for (size_t i = 0; i < 5; i++) {
        char arguments[512];
        snprintf(arguments, sizeof arguments, "run c.yaml %s --json --out r", settings[i]);
        json_t *summary = run_json(arguments);
        json_t *game = json_object_get(summary, "game");
        assert_string_equal(text_of(game, "update"), "each-round");
        assert_string_equal(text_of(game, "selection"), i == 1 ? "exponential" : "noisy");
        assert_true(isnan(json_get_number(json_object_get(game, "exploitability"), "max")));
        for (size_t k = 0; k < 4; k++) {
            json_t *client = client_of(summary, k);
            assert_true(json_get_number(client, "epsilon") == budget[i]);
            assert_true(json_get_number(client, "spent_mu") <= json_get_number(client, "mu"));
            assert_true(json_get_number(client, "spent_mu") > json_get_number(client, "choice_mu"));
            assert_non_null(strstr(text_of(client, "promise"), "budget"));
        }
        check_says(summary, i == 1 ? "exponential mechanism at epsilon 0.4" : "noised measurements");
        check_says(summary, "budget of a Gaussian-DP filter");
        if (i == 4) check_says(summary, "without amplification"); /* that filter credits no sampling */
        json_t *audit = run_json("account --ledger r/ledger --accountant gdp --json");
        assert_true(json_is_true(json_object_get(audit, "certificate")));
        check_near(
            json_get_number(client_of(audit, 0), "mu"), json_get_number(audit, "mu"), 0, 0, "largest first");
        check_says(audit, "for display");
        double most = 0;
        for (size_t k = 0; k < 4; k++) most = fmax(most, json_get_number(client_of(summary, k), "spent_mu"));
        assert_true(json_get_number(audit, "epsilon") <= budget[i]);
        check_near(json_get_number(audit, "epsilon"), budget[i], 1e-9, 0, "the budget, read from the ledger");
        check_near(json_get_number(audit, "spent_epsilon"),
            mfpg_gdp_epsilon(most, json_get_number(audit, "delta")), 1e-9, 0, "what was spent");
        json_decref(audit);
        json_decref(summary);
        forget("r");
    }
    remove_from_folder("c.yaml");
}

/* The paper's own loop: nothing is certified, and the paper's columns are there all the same. */
static void test_raw_choices_promise_nothing(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    json_t *summary = run_json(
        "run c.yaml game.cost=paper game.selection=none privacy.stop_at_epsilon=none --json --out r");
    for (size_t k = 0; k < 4; k++) {
        json_t *client = client_of(summary, k);
        assert_true(isinf(json_get_number(client, "epsilon")) && isinf(json_get_number(client, "mu")));
        assert_non_null(strstr(text_of(client, "promise"), "no promise"));
        assert_non_null(strstr(text_of(client, "promise"), "raw losses and gradients"));
    }
    check_says(summary, "nothing is certified");
    json_t *audit = run_json("account --ledger r/ledger --json");
    assert_true(isinf(json_get_number(audit, "epsilon")));
    assert_true(json_is_false(json_object_get(audit, "certificate")));
    json_decref(audit);
    json_decref(summary);
    char command[256];
    /* rounds.csv: epsilon inf, then the strength and a number of the paper's formula */
    snprintf(command, sizeof command, "grep -q '^12,.*,inf,2,[0-9]' %s/r/rounds.csv", folder);
    assert_int_equal(system(command), 0);
    forget("r");
    remove_from_folder("c.yaml");
}

/* A budget below one choice and one update: the table says that nothing was learnt, and not only that all stopped. */
static void test_a_budget_too_small_for_anybody_is_told(void **state) {
    (void)state;
    expect("run choices train.rounds=2 --out r", 0);
    assert_non_null(strstr(ran.out, "protected as all the others are"));
    assert_null(strstr(ran.out, "no client took part"));
    forget("r");
    expect("run choices train.rounds=2 privacy.unit=client --out r", 0);
    assert_non_null(strstr(ran.out, "no client took part in any round"));
    forget("r");
}

static void test_what_cannot_be_is_refused_by_its_key(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    REFUSED("run c.yaml privacy.stop_at_epsilon=none", "privacy.stop_at_epsilon", "fixed beforehand");
    REFUSED(
        "run c.yaml game.selection=none", "c.yaml:5", "privacy.stop_at_epsilon: found 3", "no budget covers");
    REFUSED("run c.yaml game.selection=exponential", "game.selection_epsilon", "nothing given");
    REFUSED("run c.yaml game.cost=paper", "game.gradient_noise", "nothing given");
    REFUSED("run c.yaml game.cost=entropic game.curvature=2", "c.yaml:7", "game.update", "measured or paper");
    REFUSED("run c.yaml privacy.view=final", "privacy.view: found 'final'", "local, average");
    REFUSED("run c.yaml train.weights=inverse-noise", "train.weights", "equal, examples");
    REFUSED("run c.yaml privacy.accountant=rdp", "privacy.accountant: found 'rdp'", "auto, gdp");
    REFUSED("run c.yaml noise.target_epsilon=2", "noise.target_epsilon", "privacy.stop_at_epsilon");
    REFUSED("run c.yaml game.actions=continuous", "game.actions", "min and max");
    REFUSED(
        "run c.yaml game.selection=exponential game.selection_epsilon=1 game.actions='{min: 0.1, max: 1}'",
        "game.actions", "a list");
    REFUSED("run c.yaml entropic.particles=data", "game.update", "records are noised once");
    REFUSED("run c.yaml game.loss_noise=0", "game.loss_noise: found '0'", "above 0");
    REFUSED("run c.yaml game.update=never", "game.update: found 'never'", "once, each-round");
    remove_from_folder("c.yaml");
}

/* Cost measured without measurements: sqrt(beta B/L) from the public constant, at no cost, as in every game before the run. */
static void test_once_it_is_the_public_loss_that_counts(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    json_t *summary =
        run_json("run c.yaml game.update=once privacy.stop_at_epsilon=none game.actions=continuous "
                 "game.loss=0.5 game.privacy_scale=0.2 --json --out r");
    for (size_t k = 0; k < 4; k++) {
        double beta = 0.2 + 0.6 * (double)k;
        check_near(
            json_get_number(client_of(summary, k), "action"), sqrt(beta * 0.2 / 0.5), 1e-14, 0, "action");
        assert_null(json_object_get(client_of(summary, k), "spent_mu"));
    }
    assert_string_equal(text_of(json_object_get(summary, "game"), "update"), "once");
    json_t *audit = run_json("account --ledger r/ledger --json");
    assert_true(json_is_true(json_object_get(audit, "certificate")));
    json_decref(audit);
    json_decref(summary);
    forget("r");
    remove_from_folder("c.yaml");
}

static void test_threads_write_the_same_bytes(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    expect("run c.yaml --threads 1 --out one", 0);
    expect("run c.yaml --threads 3 --out three", 0);
    char command[512];
    const char *files[] = {"ledger", "clients.csv", "rounds.csv", "model.npy", "summary.json", "config.yaml"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(command, sizeof command, "cmp %s/one/%s %s/three/%s", folder, files[i], folder, files[i]);
        assert_int_equal(system(command), 0);
    }
    /* the configuration that was written down makes the same run */
    expect("run one/config.yaml --out again", 0);
    snprintf(command, sizeof command, "cmp %s/one/ledger %s/again/ledger", folder, folder);
    assert_int_equal(system(command), 0);
    forget("one");
    forget("three");
    forget("again");
    remove_from_folder("c.yaml");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_budget_is_what_is_certified, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_raw_choices_promise_nothing, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_a_budget_too_small_for_anybody_is_told, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_is_refused_by_its_key, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_once_it_is_the_public_loss_that_counts, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_threads_write_the_same_bytes, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
