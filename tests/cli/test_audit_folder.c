/* mfpg audit on the folder of a run: the shortest way onto its page. */
#include "cli/program.h"

#define CONFIG                                                                                               \
    "seed: 3\nmethod: mfep\nprivacy: {unit: example}\ndata: {format: synthetic, clients: 2, rows: 20, "      \
    "dimension: 2}\ntrain: {rounds: 2}\n"

static int open_runs(void **state) {
    if (open_folder(state) != 0) return -1;
    write_in_folder("c.yaml", CONFIG);
    expect("run c.yaml --out r", 0);
    expect("run c.yaml seed=1..2 --out s", 0);
    return 0;
}

static int close_runs(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s/*", folder);
    return system(command) || close_folder(state);
}

static int is_in_folder(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void in_shell(const char *command) {
    char line[256];
    snprintf(line, sizeof line, "cd %s && %s", folder, command);
    assert_int_equal(system(line), 0);
}

/* The audit of the run's folder is that of the configuration it was made from, and stands beside it. */
static void test_a_run_is_audited_in_its_folder(void **state) {
    (void)state;
    json_t *of_file = run_json("audit c.yaml --runs 40 --json"),
           *of_run = run_json("audit r --runs 40 --json");
    assert_true(json_equal(of_file, of_run));
    assert_true(is_in_folder("r/audit.json"));
    json_decref(of_file);
    json_decref(of_run);
    expect("report r", 0);
    in_shell(
        "grep -q '\"runs\":40,' r/report.html && grep -q '\"patterns\":3,' r/report.html && rm r/audit.json");
    expect("audit ./r/ --runs 40", 0);
    assert_non_null(strstr(ran.out, "Written to ./r//audit.json"));
    assert_true(is_in_folder("r/audit.json"));
    in_shell("rm r/audit.json");
}

/* What is not the run any more has no place in its folder, unless it is told where. */
static void test_another_configuration_is_not_written_there(void **state) {
    (void)state;
    expect("audit r noise.action=2 --runs 20", 0);
    assert_false(is_in_folder("r/audit.json"));
    expect("audit r --runs 20 --out elsewhere", 0);
    assert_false(is_in_folder("r/audit.json"));
    assert_true(is_in_folder("elsewhere/audit.json"));
}

static void test_folders_that_are_no_run_are_refused(void **state) {
    (void)state;
    REFUSED("audit s --runs 20", "a sweep", "s/seed-");
    expect("audit s/seed-2 --runs 20", 0);
    assert_true(is_in_folder("s/seed-2/audit.json"));
    in_shell("mkdir empty");
    REFUSED("audit empty", "empty");
    in_shell("ln -s ../c.yaml r/audit.json"); /* a run folder may come from anybody */
    REFUSED("audit r --runs 20", "r/audit.json: is a symbolic link", "--out");
    in_shell("grep -q method c.yaml && rm r/audit.json");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run_is_audited_in_its_folder),
        cmocka_unit_test(test_another_configuration_is_not_written_there),
        cmocka_unit_test(test_folders_that_are_no_run_are_refused),
    };
    return cmocka_run_group_tests(tests, open_runs, close_runs);
}
