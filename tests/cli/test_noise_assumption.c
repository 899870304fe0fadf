/* What is released lies on a public grid and has exactly the law that is certified, so no certificate has to leave out the rounding of
 * floating-point noise (Mironov, "On significance of the least significant bits for differential privacy", CCS 2012). The sentence that
 * once said so is printed for ledgers of older versions alone. */
#include "cli/ledger.h"
#include "cli/program.h"

#include "base/release_parts.h"
#include "mfpg/release.h"

static void check_not_listed(const json_t *assumptions, const char *where) {
    size_t i;
    const json_t *line;
    assert_true(json_array_size(assumptions) > 0);
    json_array_foreach(assumptions, i, line) {
        if (!strcmp(json_string_value(line), mfpg_noise_assumption()))
            fail_msg("%s: \"%s\" is among its assumptions", where, mfpg_noise_assumption());
    }
}

static void test_the_words_say_what_is_not_covered(void **state) {
    (void)state;
    assert_non_null(strstr(mfpg_noise_assumption(), "rounding of floating-point noise is not covered"));
}

static void test_no_price_lists_it(void **state) {
    (void)state;
    static const char *const commands[] = {
        "account --noise-multiplier 1",
        "account --noise-multiplier 1 --epsilon 2",
        "account --mu 1",
        "account --blocks 0.1:3:200,0.05:2:300",
        "account --noise-multiplier 1 --sampling-rate 0.01 --steps 10 --accountant pld",
        "account --noise-multiplier 1 --sampling-rate 0.01 --steps 10 --accountant rdp --view average",
        "account --strength 1 --step 0.1 --steps 10",
        "account --strength 1 --steps 10 --view final --assume glm --smoothness 1",
        "account --noise-multiplier 1 --particles data",
        "calibrate --epsilon 1",
        "calibrate --epsilon 1 --solve steps --noise-multiplier 5",
        "calibrate --epsilon 1 --solve rate --noise-multiplier 2 --steps 10",
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char command[256];
        snprintf(command, sizeof command, "%s --json", commands[i]);
        json_t *object = run_json(command);
        assert_true(json_is_true(json_object_get(object, "certificate")));
        check_not_listed(json_object_get(object, "assumptions"), command);
        json_decref(object);
        expect(commands[i], 0);
        assert_null(strstr(ran.out, mfpg_noise_assumption()));
    }
}

static void check_file(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(ran.out, 1, OUTPUT_SIZE - 1, file);
    ran.out[length] = 0;
    fclose(file);
    if (strstr(ran.out, mfpg_noise_assumption())) fail_msg("%s lists it", name);
}

/* What a run prints and writes, what its ledger is worth, and its page. */
static void check_traces(const char *arguments) {
    char command[512];
    snprintf(command, sizeof command, "run c.yaml --out r %s", arguments);
    expect(command, 0);
    assert_null(strstr(ran.out, mfpg_noise_assumption()));
    check_file("r/summary.json");
    json_t *object = run_json("account --ledger r --json");
    check_not_listed(json_object_get(object, "assumptions"), arguments);
    json_decref(object);
    expect("report r", 0);
    check_file("r/report.html");
    snprintf(command, sizeof command, "/bin/rm -r %s/r", folder);
    assert_int_equal(system(command), 0);
}

static void test_no_trace_of_a_run_lists_it(void **state) {
    (void)state;
    char *path = strdup(getenv("PATH"));
    write_in_folder("c.yaml",
        "data: {format: synthetic, kind: logistic, clients: 3, rows: 20, dimension: 2, norm: 1}\n"
        "privacy: {unit: example}\ntrain: {rounds: 2}\n");
    setenv("PATH", "/nowhere", 1); /* without gnuplot nothing is drawn, for seconds */
    check_traces("method=dp-sgd");
    check_traces("method=dp-sgd train.batch.rate=0.5");
    check_traces("method=mfpg game.actions=continuous");
    check_traces("method=mfep privacy.view=final privacy.assume=glm");
    check_traces("method.mechanism=input method.players=none");
    setenv("PATH", path, 1);
    free(path);
    remove_from_folder("c.yaml");
}

/* The ledger of a run as version 3 wrote it, without a word about grids. */
static void test_an_older_ledger_lists_it(void **state) {
    (void)state;
    static const char HEADER[] =
        "{\"mfpg_ledger\":3,\"particles\":\"parameters\",\"clients\":2,\"unit\":\"client\","
        "\"adjacency\":\"zero-out\",\"view\":\"local\",\"delta\":1e-05,\"seeded\":true}\n";
    static const char LINE[] =
        "{\"round\":1,\"clients\":[0,1],\"particles\":\"parameters\",\"steps\":1,\"sensitivity\":1,\"noise_"
        "sd\":2,"
        "\"last_sd\":2,\"weight\":0.5,\"sampling_rate\":1,\"action\":{\"budget\":1}}\n";
    char text[2048];
    snprintf(text, sizeof text, "%s%s", HEADER, LINE);
    write_ledger("old", text);
    expect("account --ledger old", 0);
    assert_non_null(strstr(ran.out, mfpg_noise_assumption()));
    remove_from_folder("old");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_words_say_what_is_not_covered),
        cmocka_unit_test(test_no_price_lists_it),
        cmocka_unit_test(test_no_trace_of_a_run_lists_it),
        cmocka_unit_test(test_an_older_ledger_lists_it),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
