/* mfpg run with privacy.stop_at_epsilon: what keeps the budget is named, and whoever stopped is told when and why. */
#include "cli/ledger.h"

#define CONFIG                                                                                               \
    "seed: 3\nmethod: dp-sgd\ndata: {format: synthetic, kind: clinics}\n"                                    \
    "noise: {multiplier: 4}\ntrain: {rounds: 30}\n"

static void forget(const char *run_folder) {
    char command[256];
    snprintf(command, sizeof command, "rm -r %s/%s", folder, run_folder);
    assert_int_equal(system(command), 0);
}

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static json_t *client_of(const json_t *run, size_t k) {
    return json_array_get(json_object_get(run, "clients"), k);
}

static void expect_in_file(const char *name, const char *part) {
    char *text = text_in_folder(name);
    if (!strstr(text, part)) fail_msg("%s has no '%s':\n%s", name, part, text);
    free(text);
}

/* mu of a round is 1/4 and the budget of (2, 1e-5) is mu 0.5016: four rounds, 1/4 + 1/4 + 1/4 + 1/4 of 1/4. */
static void test_a_client_that_stopped_says_when_and_why(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    json_t *run = run_json("run c.yaml privacy.stop_at_epsilon=2 --json --out a");
    const json_t *stop = json_object_get(run, "stop");
    assert_string_equal(text_of(stop, "filter"), "GDP filter");
    assert_true(json_get_number(stop, "epsilon") == 2);
    check_near(json_get_number(stop, "mu"), 0.50156, 1e-4, 0, "budget");
    for (size_t k = 0; k < 4; k++) {
        const json_t *client = client_of(run, k);
        assert_true(json_is_true(json_object_get(client, "stopped")));
        assert_true(json_get_number(client, "rounds") == 4);
        assert_true(json_get_number(client, "stopped_before_round") == 5);
        assert_true(json_get_number(client, "epsilon") <= 2);
        assert_non_null(strstr(text_of(client, "promise"),
            "; it stopped before round 5, which would have passed epsilon 2 (GDP filter)"));
    }
    assert_true(json_get_number(run, "rounds") == 4);
    expect_in_file("a/config.yaml", "filter: gdp  # auto: GDP filter");
    json_decref(run);
    forget("a");
    expect("run c.yaml privacy.stop_at_epsilon=2 --out a", 0);
    assert_non_null(strstr(ran.out, "stopped before round 5"));
    forget("a");
    remove_from_folder("c.yaml");
}

static void test_who_does_not_stop_is_told_of_the_budget(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    json_t *run = run_json("run c.yaml privacy.stop_at_epsilon=20 --json --out a");
    const json_t *client = client_of(run, 0);
    assert_true(json_is_false(json_object_get(client, "stopped")));
    assert_true(json_is_null(json_object_get(client, "stopped_before_round")));
    assert_non_null(strstr(text_of(client, "promise"),
        "; it stops before a round that would have passed epsilon 20 (GDP filter)"));
    json_decref(run);
    forget("a");
    run = run_json("run c.yaml --json --out a");
    assert_true(json_is_null(json_object_get(run, "stop")));
    assert_null(strstr(text_of(client_of(run, 0), "promise"), "stop"));
    json_decref(run);
    forget("a");
    remove_from_folder("c.yaml");
}

/* Sampled batches are credited by their accountant, which is then asked itself; a filter may be named in its place, and lets
 * no more rounds pass. */
static void test_the_filter_is_chosen_by_what_is_credited(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
#define SAMPLED                                                                                              \
    "run c.yaml privacy.unit=example train.batch.rate=0.2 noise.multiplier=1 privacy.stop_at_epsilon=5 "     \
    "--json --out a"
    json_t *run = run_json(SAMPLED);
    assert_string_equal(text_of(json_object_get(run, "stop"), "filter"), "accountant of a public schedule");
    double rounds = json_get_number(client_of(run, 0), "rounds");
    assert_true(json_get_number(client_of(run, 0), "epsilon") <= 5);
    json_decref(run);
    forget("a");
    const char *const words[] = {"gdp", "zcdp"}, *const names[] = {"GDP filter", "zCDP filter"};
    for (int i = 0; i < 2; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, SAMPLED " privacy.filter=%s", words[i]);
        run = run_json(arguments);
        assert_string_equal(text_of(json_object_get(run, "stop"), "filter"), names[i]);
        assert_true(json_get_number(client_of(run, 0), "rounds") < rounds);
        assert_true(json_get_number(client_of(run, 0), "epsilon") <= 5);
        assert_non_null(strstr(text_of(client_of(run, 0), "promise"), names[i]));
        json_decref(run);
        forget("a");
    }
    remove_from_folder("c.yaml");
}

/* Noised records: the one release is charged once, by a GDP filter too. */
static void test_records_are_charged_once(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    json_t *run = run_json("run c.yaml method='{mechanism: input, players: none}' "
                           "privacy.unit=example privacy.stop_at_epsilon=2 --json --out a");
    assert_string_equal(text_of(json_object_get(run, "stop"), "filter"), "GDP filter");
    assert_true(json_get_number(client_of(run, 0), "rounds") == 30);
    assert_true(json_is_false(json_object_get(client_of(run, 0), "stopped")));
    json_decref(run);
    forget("a");
    remove_from_folder("c.yaml");
}

static void test_wrong_filters_are_refused(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    REFUSED("run c.yaml privacy.stop_at_epsilon=2 privacy.filter=rdp", "privacy.filter", "zcdp");
    write_in_folder("m.yaml",
        "seed: 3\nmethod: mfpg\ndata: {format: synthetic, kind: clinics}\nprivacy: {stop_at_epsilon: 3}\n"
        "game: {cost: measured, update: each-round, selection: noisy, loss_noise: 1, gradient_noise: 1}\n");
    REFUSED("run m.yaml privacy.filter=zcdp", "privacy.filter", "allowed: auto, gdp");
    REFUSED("run m.yaml privacy.filter=accountant", "privacy.filter", "allowed: auto, gdp");
    remove_from_folder("m.yaml");
    remove_from_folder("c.yaml");
}

/* A process that is gone in the middle, by a signal that nobody can catch, and one that stops when it is asked to. */
static void test_an_interrupted_run_goes_on(void **state) {
    (void)state;
    char command[1024];
    write_in_folder("c.yaml", "seed: 3\nmethod: dp-sgd\ndata: {format: synthetic, kind: clinics}\n"
                              "noise: {multiplier: 400}\ntrain: {rounds: 300, checkpoint: 7}\n");
    expect("run c.yaml --out whole", 0);
    for (int kill = 0; kill < 2; kill++) {
        /* the first line of a round says that there is a checkpoint */
        snprintf(command, sizeof command,
            "cd %s && ('%s' run c.yaml --out a 2>&1 & p=$!; echo $p >pid; wait $p) | "
            "while read line; do case $line in 1*/300*) command kill -%s $(cat pid); break;; esac; done; "
            "while command kill -0 $(cat pid) 2>/dev/null; do sleep 0.01; done; rm pid",
            folder, MFPG_PROGRAM, kill ? "KILL" : "INT");
        assert_int_equal(system(command), 0);
        expect("run --resume a --threads 1", 0);
        assert_non_null(strstr(ran.err, "Going on with a after round"));
        snprintf(command, sizeof command, "diff -r -x timings.csv %s/whole %s/a", folder, folder);
        assert_int_equal(system(command), 0);
        REFUSED("run --resume a", "complete", "nothing to resume");
        forget("a");
    }
    forget("whole");
    REFUSED("run --resume nowhere", "nowhere", "neither a file");
    REFUSED("run c.yaml --resume seed=1..3", "one seed at a time");
    remove_from_folder("c.yaml");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_a_client_that_stopped_says_when_and_why, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_who_does_not_stop_is_told_of_the_budget, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_the_filter_is_chosen_by_what_is_credited, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_records_are_charged_once, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_wrong_filters_are_refused, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_an_interrupted_run_goes_on, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
