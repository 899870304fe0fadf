/* The skeleton of the command line: dispatch, help, exit codes, init and list. */
#include "cli/program.h"

#include "experiment/config/settings.h"
#include "mfpg/accountant.h"
#include "mfpg/config.h"
#include "mfpg/mechanism.h"
#include "mfpg/model.h"
#include "mfpg/version.h"

static const char *const commands[] = {
#define COMMAND(name, help) #name,
#include "../../cli/commands.def"
#undef COMMAND
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void test_help_and_version_go_to_stdout(void **state) {
    (void)state;
    char text[64];
    expect("--version", 0);
    int length = snprintf(text, sizeof text, "mfpg %s\n", MFPG_VERSION);
    assert_memory_equal(ran.out, text, (size_t)length);
    for (ptrdiff_t i = 0; mfpg_build_name(i); i++) {
        assert_non_null(strstr(ran.out, mfpg_build_name(i)));
        assert_non_null(strstr(ran.out, mfpg_build_value(i)));
    }
    json_t *facts = run_json("--version --json");
    assert_string_equal(json_string_value(json_object_get(facts, "version")), MFPG_VERSION);
    assert_true(json_object_size(facts) > 4);
    json_decref(facts);
    expect("--help", 0);
    assert_string_equal(ran.err, "");
    for (int i = 0; i < COMMANDS; i++) assert_non_null(strstr(ran.out, commands[i]));
}

static void test_every_command_documents_itself(void **state) {
    (void)state;
    for (int i = 0; i < COMMANDS; i++) {
        char arguments[64], usage[64];
        snprintf(arguments, sizeof arguments, "%s --help", commands[i]);
        expect(arguments, 0);
        snprintf(usage, sizeof usage, "Usage: mfpg %s", commands[i]);
        assert_non_null(strstr(ran.out, usage));
        assert_non_null(strstr(ran.out, "--json"));
        snprintf(arguments, sizeof arguments, "%s --no-such-option", commands[i]);
        snprintf(usage, sizeof usage, "mfpg %s: unrecognized option '--no-such-option'", commands[i]);
        REFUSED(arguments, usage);
    }
}

static void test_wrong_commands_are_refused_with_the_nearest(void **state) {
    (void)state;
    REFUSED("", "Usage: mfpg COMMAND");
    REFUSED("lits", "unknown command", "lits",
        "account, audit, bench, calibrate, compare, completion, data, eval, init, keys, list, man, report, "
        "run");
    REFUSED("account --nosie-multiplier 1", "unrecognized option '--nosie-multiplier'",
        "did you mean --noise-multiplier?");
    REFUSED("accont", "unknown command", "did you mean \"account\"?");
    REFUSED("--frobnicate", "unknown command", "--frobnicate");
    REFUSED("rnu", "did you mean \"run\"?");
    REFUSED("run clinics --treads 2", "did you mean --threads?");
    REFUSED("run clinics method=mfgp", "mfgp", "did you mean mfpg?");
    REFUSED("run clinics privacy.uint=client", "privacy.uint", "privacy.unit");
    REFUSED("run clincs", "did you mean clinics?");
    REFUSED("account --mechanism gausian", "did you mean gaussian?");
    REFUSED("''", "unknown command");
}

/* ---- init ---- */

static void test_init_writes_once_and_whole(void **state) {
    (void)state;
    expect("init my.yaml", 0);
    assert_string_equal(ran.out, "");
    assert_non_null(strstr(ran.err, "my.yaml"));
    assert_int_equal(files_in_folder(), 1);
    REFUSED("init my.yaml", "mfpg init: my.yaml: exists already");
    remove_from_folder("my.yaml");
    REFUSED("init a b", "one file at a time");
    REFUSED("init --json a", "--json prints the keys");
    expect("init none/my.yaml", 1);
    assert_non_null(strstr(ran.err, "No such file"));
    assert_int_equal(files_in_folder(), 0);
}

static void test_init_on_stdout_is_a_configuration(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_config *config = NULL;
    expect("init", 0);
    assert_string_equal(ran.err, "");
    CHECK_OK(ctx, mfpg_config_load_text(ctx, ran.out, strlen(ran.out), "stdout", NULL, &config));
    CHECK_OK(ctx, mfpg_config_check(ctx, config));
    mfpg_config_destroy(config);
    mfpg_context_destroy(ctx);
    assert_int_equal(files_in_folder(), 0);
}

static void test_init_prints_the_table_of_keys_as_json(void **state) {
    (void)state;
    json_t *object = run_json("init --json"), *keys = json_object_get(object, "keys");
    const mfpg_options *all = mfpg_config_options();
    for (ptrdiff_t i = 0; i < all->count; i++) {
        const json_t *line = json_array_get(keys, (size_t)i);
        assert_string_equal(json_string_value(json_object_get(line, "key")), all->option[i].name);
        assert_string_equal(json_string_value(json_object_get(line, "help")), all->option[i].help);
    }
    assert_int_equal(json_array_size(keys), all->count);
    json_decref(object);
}

/* ---- list ---- */

static void check_list(
    const json_t *object, const char *title, const mfpg_kinds *kinds, const char *(*name_of)(ptrdiff_t)) {
    const json_t *list = json_object_get(object, title);
    size_t i = 0;
    for (const char *name; (name = kinds ? mfpg_kind_name(kinds, (ptrdiff_t)i) : name_of((ptrdiff_t)i));
         i++) {
        const json_t *line = json_array_get(list, i);
        assert_string_equal(json_string_value(json_object_get(line, "name")), name);
        assert_true(json_string_length(json_object_get(line, "help")) > 0);
    }
    assert_true(i > 0);
    assert_int_equal(json_array_size(list), i);
}

static void test_list_shows_every_table(void **state) {
    (void)state;
    json_t *object = run_json("list --json");
    check_list(object, "methods", &mfpg_methods, NULL);
    check_list(object, "mechanisms", &mfpg_mechanisms, NULL);
    check_list(object, "games", &mfpg_games, NULL);
    check_list(object, "costs", &mfpg_costs, NULL);
    check_list(object, "accountants", &mfpg_accountants, NULL);
    check_list(object, "models", &mfpg_models, NULL);
    check_list(object, "readers", &mfpg_readers, NULL);
    assert_true(json_is_array(json_object_get(object, "examples")));
    assert_null(json_object_get(object, "fields")); /* only if they are asked for */
    json_decref(object);
    expect("list fields", 0);
    assert_non_null(strstr(ran.out, "client.noise_multiplier"));
    assert_non_null(strstr(ran.out, "audit.epsilon_lower_direct"));
    expect("list studies", 0);
    assert_non_null(strstr(ran.out, "limit"));
    expect("list methods", 0);
    assert_non_null(strstr(ran.out, "mapg-dp"));
    assert_null(strstr(ran.out, "mechanisms"));
    REFUSED("list model", "did you mean \"models\"?");
    REFUSED("list models games", "one kind at a time");
}

static void test_list_finds_the_examples_of_a_folder(void **state) {
    (void)state;
    char old[64];
    write_in_folder("zebra.yaml", "# Stripes\ndata: {format: synthetic}\n");
    strcpy(old, folder);
    setenv("MFPG_EXAMPLES", old, 1);
    json_t *object = run_json("list examples --json"), *list = json_object_get(object, "examples");
    unsetenv("MFPG_EXAMPLES");
    int seen = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *line = json_array_get(list, i);
        if (strcmp(json_string_value(json_object_get(line, "name")), "zebra") != 0) continue;
        assert_string_equal(json_string_value(json_object_get(line, "help")), "Stripes");
        seen++;
    }
    assert_int_equal(seen, 1);
    json_decref(object);
    remove_from_folder("zebra.yaml");
}

static void test_output_that_cannot_be_written_is_a_failure(void **state) {
    (void)state;
    const char *arguments[] = {"--version", "--help", "init", "init --json", "list", "list --json",
        "account --mu 1", "account --mu 1 --json"};
    FILE *full = fopen("/dev/full", "w");
    if (!full) {
        print_message("SKIPPED: there is no /dev/full\n");
        skip();
    }
    fclose(full);
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++) {
        char command[512];
        snprintf(command, sizeof command, "'%s' %s >/dev/full 2>/dev/null", MFPG_PROGRAM, arguments[i]);
        int status = system(command);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)
            fail_msg("mfpg %s into a full disk", arguments[i]);
    }
}

/* The program waits for somebody to write its configuration, and is told to end. */
static void test_a_signal_ends_a_command_as_interrupted(void **state) {
    (void)state;
    char command[1024];
    snprintf(command, sizeof command,
        "cd %s && mkfifo pipe && ('%s' solve pipe >out 2>err & pid=$!; exec 3>pipe; kill -TERM $pid; "
        "wait $pid; echo $? >code) && [ \"$(cat code)\" = 130 ] && [ ! -s out ] && "
        "[ \"$(cat err)\" = 'mfpg solve: interrupted; files written so far are whole' ] && rm pipe out err "
        "code",
        folder, MFPG_PROGRAM);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_help_and_version_go_to_stdout, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_every_command_documents_itself, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_wrong_commands_are_refused_with_the_nearest, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_init_writes_once_and_whole, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_init_on_stdout_is_a_configuration, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_init_prints_the_table_of_keys_as_json, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_list_shows_every_table, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_list_finds_the_examples_of_a_folder, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_output_that_cannot_be_written_is_a_failure, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_a_signal_ends_a_command_as_interrupted, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
