/* mfpg solve --study costs: the table, the game that plays it, its privacy, and refusals. */
#include "program.h"

static const char *const CONFIG =
    "seed: 5\n"
    "method: mfpg\n"
    "task: {model: quadratic}\n"
    "data: {format: synthetic, kind: quadratic, clients: 4, rows: 20, dimension: 3, test_fraction: 0}\n"
    "privacy: {clip: 1000}\n"
    "train: {rounds: 6, weights: equal}\n"
    "entropic: {step: 0.01, variance_penalty: 0}\n"
    "game: {cost: measured, actions: [0.1, 1, 3], preferences: [1.0e-6]}\n";

static json_t *row_of(const json_t *table, size_t j) {
    return json_array_get(json_object_get(table, "actions"), j);
}

static int file_holds(const char *name, const char *words) {
    static char text[1 << 14];
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return strstr(text, words) != NULL;
}

static void test_a_table_is_made_and_played(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    json_t *table = run_json("solve c.yaml --study costs --public --draws 20 --out t.csv --json");
    assert_string_equal(json_string_value(json_object_get(table, "control")), "strength");
    assert_true(json_get_number(table, "rounds") == 6 && json_get_number(table, "draws") == 20);
    assert_true(json_get_number(table, "reference") == 1 && json_get_number(table, "personalisation") == 0.5);
    assert_true(json_get_number(table, "pairing_gain") > 1);
    assert_true(json_get_number(row_of(table, 0), "difference") == 0);
    for (size_t j = 1; j < 3; j++)
        assert_true(
            json_get_number(row_of(table, j), "loss") >= json_get_number(row_of(table, j - 1), "loss"));
    assert_true(file_holds("t.csv", "| computed without noise from data that were declared public"));
    assert_true(file_holds("t.csv", "action,loss,measured,standard_error"));
    /* cost by the game, and by hand with B = S^2 K tau/4 = 1e6 6 0.01/4 */
    json_t *game = run_json("solve c.yaml game.loss_table=t.csv --json");
    double best = INFINITY, action = 0;
    for (size_t j = 0; j < 3; j++) {
        double e = json_get_number(row_of(table, j), "action");
        double cost = json_get_number(row_of(table, j), "loss") + 1e-6 * 15000 / e;
        if (cost <= best) best = cost, action = e;
    }
    check_near(json_get_number(game, "mean_action"), action, 0, 0, "what everybody plays");
    check_near(json_get_number(game, "cost"), 4 * best, 1e-12, 0, "cost");
    json_decref(game);
    /* the same by options: B is --privacy-scale */
    game = run_json("solve --cost measured --loss-table t.csv --actions 0.1,1,3 --beta 1e-6 --population 4 "
                    "--privacy-scale 15000 --json");
    check_near(json_get_number(game, "cost"), 4 * best, 1e-12, 0, "cost by options");
    json_decref(game);
    json_decref(table);
    remove_from_folder("t.csv");
    remove_from_folder("c.yaml");
}

static void test_a_run_says_whose_word_the_table_is(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    write_in_folder("t.csv", "action,loss\n0.1,1\n1,2\n3,5\n");
    json_t *summary = run_json("run c.yaml game.loss_table=t.csv --json --out r");
    const json_t *list = json_object_get(summary, "assumptions"), *line;
    size_t i;
    int said = 0;
    json_array_foreach(list, i, line) said |=
        strstr(json_string_value(line), "t.csv is public: it was not made from the private data") != NULL;
    assert_true(said);
    json_decref(summary);
    char command[200];
    snprintf(command, sizeof command, "rm -r %s/r", folder);
    assert_int_equal(system(command), 0);
    remove_from_folder("t.csv");
    remove_from_folder("c.yaml");
}

static void test_what_cannot_be_is_refused(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    REFUSED("solve c.yaml --study costs", "without noise", "--public", "c.yaml");
    REFUSED("solve --study costs --public", "give one");
    REFUSED("solve c.yaml --study costs --public --draws 1", "draws", "from 2");
    REFUSED("solve c.yaml --study costs --public --reference 0", "reference", "above 0");
    REFUSED("solve c.yaml --study costs --public --measured-rounds 7", "7 rounds", "6 of train.rounds");
    REFUSED("solve c.yaml --study costs --public --beta 1", "--beta does nothing with study costs");
    REFUSED("solve c.yaml --public", "--public");
    REFUSED("solve c.yaml --study costs --public game.actions=continuous", "game.actions", "a list");
    REFUSED("solve c.yaml --study costs --public method=none", "adds no noise");
    write_in_folder("t.csv", "action,loss\n0.1,1\n1,2\n3,1.5\n");
    REFUSED("run c.yaml game.loss_table=t.csv", "t.csv", "from 2 at action 1 to 1.5 at action 3");
    REFUSED("solve --cost measured --loss-table t.csv --actions 0.1,1,3", "from 2 at action 1");
    REFUSED("solve --cost measured --loss-table t.csv --actions 0.1:3", "t.csv", "list of actions");
    REFUSED("solve --cost measured --loss-table t.csv --loss 1", "exclude each other");
    REFUSED("solve --cost measured-budget --beta 1", "--loss-table", "--study costs");
    REFUSED("solve --cost gaussian --loss-table t.csv", "--loss-table does nothing with cost gaussian");
    remove_from_folder("t.csv");
    remove_from_folder("c.yaml");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_folder, close_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_a_table_is_made_and_played),
        TEST(test_a_run_says_whose_word_the_table_is),
        TEST(test_what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
