/* mfpg calibrate: what it finds meets the target when mfpg account is asked, wrong questions are refused, and the examples
 * of the help run. */
#include "cli/program.h"

/* The solved number, on the way through mfpg account; both commands take `rest`. */
static double check_round_trip(
    const char *options, const char *rest, double target, const char *name, const char *option) {
    char command[512];
    snprintf(command, sizeof command, "calibrate --epsilon %.17g %s %s --json", target, options, rest);
    json_t *object = run_json(command);
    double value = json_get_number(object, name), reached = json_get_number(object, "epsilon");
    assert_string_equal(json_string_value(json_object_get(object, "solved")), name);
    assert_true(json_get_number(object, "target_epsilon") == target);
    /* one step more would be too much; everything else is within a millionth */
    double slack = strcmp(name, "steps") == 0 ? 0.1 : 1e-5;
    assert_true(reached <= target && reached >= target * (1 - slack));
    assert_true(json_get_number(object, "upper") == reached && json_get_number(object, "lower") <= reached);
    assert_true(json_is_true(json_object_get(object, "certificate")));
    assert_true(json_is_null(json_object_get(object, "rdp"))); /* the keys of mfpg account, and more */
    json_decref(object);
    snprintf(command, sizeof command, "account %s %s %.17g --json", rest, option, value);
    object = run_json(command);
    if (json_get_number(object, "epsilon") != reached)
        fail_msg("%s: epsilon %.17g, promised %.17g", command, json_get_number(object, "epsilon"), reached);
    json_decref(object);
    return value;
}

static void test_answers_meet_the_target_when_asked_again(void **state) {
    (void)state;
    /* source: field_failures F14: 0.49989 for add and remove, twice that for replace */
    check_near(check_round_trip("", "--clip 1", 10, "noise_multiplier", "--noise-multiplier"), 0.49989, 0,
        5e-6, "F14");
    check_near(check_round_trip("", "--adjacency replace", 10, "noise_multiplier", "--noise-multiplier"),
        2 * 0.49989, 0, 1e-5, "F14, replace");
    /* source: accountant_vectors A340, A004 */
    check_near(check_round_trip("--solve noise", "--delta 1e-5", 1, "noise_multiplier", "--noise-multiplier"),
        3.7306316348159418, 1e-9, 0, "A340");
    check_near(
        check_round_trip("", "--delta 0.5 --sensitivity 2", 0.5, "noise_multiplier", "--noise-multiplier"),
        1.1818351985175618, 1e-9, 0, "A004");
    /* source: accountant_vectors A332, A338: orders 2..256; all orders are never worse */
    double noise = check_round_trip(
        "", "--sampling-rate 0.5 --steps 100 --accountant rdp", 1, "noise_multiplier", "--noise-multiplier");
    assert_true(noise <= 20.33474042649884 * (1 + 1e-6) && noise >= 18.745921717388864);
    check_round_trip("--solve rate", "--noise-multiplier 1 --steps 1000 --accountant rdp", 3, "sampling_rate",
        "--sampling-rate");
    check_round_trip(
        "--solve steps", "--noise-multiplier 1 --sampling-rate 0.01 --accountant rdp", 3, "steps", "--steps");
    check_round_trip(
        "", "--mechanism entropic --steps 10 --clip 2 --adjacency replace", 2, "strength", "--strength");
    check_round_trip("--solve steps", "--strength 3 --step 0.2", 5, "steps", "--steps");
}

static void test_blocks_solve_what_is_written_as_a_question(void **state) {
    (void)state;
    static const char *const forms[] = {"?:2:300", "0.05:?:300", "0.05:2:?"};
    static const char *const names[] = {"sampling_rate", "noise_multiplier", "steps"};
    for (int i = 0; i < 3; i++) {
        char command[256], filled[64];
        snprintf(command, sizeof command,
            "calibrate --epsilon 3 --blocks '0.1:3:200,%s' --accountant rdp --json", forms[i]);
        json_t *object = run_json(command);
        double value = json_get_number(object, names[i]), reached = json_get_number(object, "epsilon");
        assert_true(reached <= 3 && reached > 2.99);
        json_decref(object);
        const char *mark = strchr(forms[i], '?');
        snprintf(filled, sizeof filled, "%.*s%.17g%s", (int)(mark - forms[i]), forms[i], value, mark + 1);
        snprintf(command, sizeof command, "account --blocks 0.1:3:200,%s --accountant rdp --json", filled);
        object = run_json(command);
        assert_true(json_get_number(object, "epsilon") == reached);
        json_decref(object);
    }
    REFUSED("calibrate --epsilon 3 --accountant hidden-state", "needs --view final and --assume");
    REFUSED("calibrate --epsilon 3 --blocks 0.1:3:200", "nothing is written ?");
    REFUSED("calibrate --epsilon 3 --blocks '0.1:?:200,0.1:?:3'", "one ?", "not two");
    REFUSED("calibrate --epsilon 3 --blocks '0.1:?:?'", "--blocks: found");
    REFUSED("calibrate --epsilon 3 --blocks '0.1:?:3' --solve noise", "--solve");
    REFUSED("calibrate --epsilon 3 --blocks '0.1:?:3' --steps 3", "--blocks and --steps exclude each other");
    REFUSED("account --blocks '0.1:?:3'", "--blocks: found");
}

/* source: field_failures F14: noise follows from the clip, and pairs that contradict each other are refused */
static void test_noise_is_derived_from_the_clip(void **state) {
    (void)state;
    json_t *object = run_json("calibrate --epsilon 10 --clip 4 --json");
    check_near(json_get_number(object, "noise_multiplier"), 0.49989, 0, 5e-6, "over the clip");
    check_near(json_get_number(object, "noise_sd"), 4 * 0.49989, 0, 2e-5, "in its units");
    json_decref(object);
    object = run_json("calibrate --epsilon 10 --sensitivity 4 --json");
    check_near(json_get_number(object, "noise_sd"), 4 * 0.49989, 0, 2e-5, "of a sensitivity");
    assert_true(json_get_number(object, "noise_multiplier") == json_get_number(object, "noise_sd"));
    json_decref(object);
    REFUSED(
        "calibrate --epsilon 10 --clip 1 --sensitivity 1e-4", "--sensitivity and --clip exclude each other");
    REFUSED("calibrate --epsilon 10 --sensitivity 1 --adjacency replace", "--sensitivity and --adjacency");
}

static void test_wrong_questions_are_refused(void **state) {
    (void)state;
    REFUSED("calibrate", "no target", "--epsilon");
    REFUSED("calibrate --epsilon 1 --noise-multiplier 2", "--noise-multiplier is what is solved");
    REFUSED("calibrate --epsilon 1 --strength 2", "--strength is what is solved");
    REFUSED("calibrate --epsilon 1 --solve rate", "--solve rate needs --noise-multiplier");
    REFUSED("calibrate --epsilon 1 --solve steps", "--solve steps needs --noise-multiplier");
    REFUSED(
        "calibrate --epsilon 1 --solve rate --noise-multiplier 1 --sampling-rate 0.1", "--solve rate finds");
    REFUSED("calibrate --epsilon 1 --solve steps --noise-multiplier 1 --steps 4", "--solve steps finds");
    REFUSED("calibrate --epsilon 1 --solve delta", "--solve", "noise, rate, steps");
    REFUSED("calibrate --epsilon 1 --steps 0", "--steps 0");
    REFUSED("calibrate --epsilon 1 --step 0.1", "--step belongs to");
    REFUSED("calibrate --epsilon 1 --mechanism entropic --noise-multiplier 1 --solve steps",
        "--mechanism gaussian");
    REFUSED("calibrate --epsilon 1 --accountant paper_rdp", "paper_rdp certifies nothing");
    REFUSED("calibrate --epsilon 1 --accountant gpd", "unknown accountant", "gdp");
    REFUSED("calibrate --epsilon 1 --mu 1", "--mu");
    REFUSED("calibrate --epsilon 1 --ledger x", "--ledger");
    REFUSED("calibrate --epsilon 1 --delta 0", "cannot be reached");
    REFUSED("calibrate --epsilon 1 --blocks '1:0.5:3,0.1:?:5'", "cannot be reached");
    static const char *const numbers[] = {"epsilon", "delta", "steps", "sampling-rate", "clip", "sensitivity",
        "step", "noise-multiplier", "strength", "width"};
    static const char *const bad[] = {"nan", "inf", "-1", "''", "1e999", "0x2"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        for (size_t j = 0; j < sizeof bad / sizeof bad[0]; j++) {
            char command[128], option[32];
            snprintf(command, sizeof command, "calibrate --epsilon 1 --%s %s", numbers[i], bad[j]);
            snprintf(option, sizeof option, "--%s: found", numbers[i]);
            REFUSED(command, option, "allowed: a");
        }
}

static void test_text_is_rounded_to_the_side_that_costs_less(void **state) {
    (void)state;
    expect("calibrate --epsilon 1", 0);
    assert_non_null(strstr(ran.out, "noise multiplier 3.73064\n")); /* 3.7306316 */
    assert_non_null(strstr(ran.out, "noise sd         3.73064\n"));
    expect("calibrate --epsilon 3 --solve rate --noise-multiplier 1 --steps 1000 --accountant rdp", 0);
    assert_non_null(strstr(ran.out, "sampling rate    0.0141997\n")); /* 0.01419974 */
    expect("calibrate --epsilon 4 --solve steps --noise-multiplier 5", 0);
    assert_non_null(strstr(ran.out, "steps            "));
    expect("calibrate --epsilon 2 --mechanism entropic --steps 10", 0);
    assert_non_null(strstr(ran.out, "strength         1.98765\n")); /* 1.987644034 */
}

static void test_large_schedules_end(void **state) {
    (void)state;
    static const char *const hard[] = {"--epsilon 1 --delta 1e-15 --sampling-rate 1e-5 --steps 1000000000",
        "--epsilon 0.001 --delta 1e-15 --steps 1000000000", "--epsilon 500 --delta 1e-5 --sampling-rate 0.5",
        "--epsilon 1 --delta 1e-5 --solve steps --noise-multiplier 1000000 --sampling-rate 1e-6",
        "--epsilon 1e-8 --delta 1e-15 --solve rate --noise-multiplier 0.1 --steps 1000000000"};
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++) {
        char command[256];
        snprintf(command, sizeof command, "calibrate %s --accountant rdp --json", hard[i]);
        json_t *object = run_json(command);
        assert_true(json_get_number(object, "epsilon") <= json_get_number(object, "target_epsilon"));
        json_decref(object);
    }
}

/* Joins lines that end in a backslash, as a shell does, and runs each "  mfpg COMMAND ..." of the help. */
static void check_examples(const char *command, int least) {
    static char help[OUTPUT_SIZE];
    char question[64], prefix[64];
    snprintf(question, sizeof question, "%s --help", command);
    snprintf(prefix, sizeof prefix, "\n  mfpg %s ", command);
    expect(question, 0);
    strcpy(help, ran.out);
    for (char *at; (at = strstr(help, "\\\n"));) at[0] = at[1] = ' ';
    int count = 0;
    for (char *at = strstr(help, prefix); at; at = strstr(at, prefix)) {
        char example[512];
        at += strlen("\n  mfpg ");
        snprintf(example, sizeof example, "%.*s", (int)strcspn(at, "\n"), at);
        if (strstr(example, "--ledger")) continue; /* needs a run */
        expect(example, 0);
        count++;
    }
    assert_true(count >= least);
}

static void test_examples_of_the_help_run(void **state) {
    (void)state;
    check_examples("account", 6);
    check_examples("calibrate", 6);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_answers_meet_the_target_when_asked_again),
        TEST(test_blocks_solve_what_is_written_as_a_question),
        TEST(test_noise_is_derived_from_the_clip),
        TEST(test_wrong_questions_are_refused),
        TEST(test_text_is_rounded_to_the_side_that_costs_less),
        TEST(test_large_schedules_end),
        TEST(test_examples_of_the_help_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
