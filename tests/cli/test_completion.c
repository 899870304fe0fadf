/* Completion: what is offered where, from the tables of options, keys and names; and that a real bash and a real zsh put it
 * there when Tab is pressed. */
#include "cli/terminal.h"

#include "mfpg/config.h"
#include "mfpg/game.h"

/* The words offered at the end of a command line; parts that have to be among them and, after "", parts that must not. */
static void check_offer(const char *line, const char *const *parts) {
    char arguments[512], wanted[128];
    int absent = 0;
    snprintf(arguments, sizeof arguments, "completion --words -- mfpg %s", line);
    expect(arguments, 0);
    assert_string_equal(ran.err, "");
    for (; *parts; parts++) {
        if (!**parts) {
            absent = 1;
            continue;
        }
        snprintf(wanted, sizeof wanted, "\n%.120s\n", *parts);
        static char text[OUTPUT_SIZE + 1] = "\n";
        memcpy(text + 1, ran.out, OUTPUT_SIZE);
        for (char *at = text; *at; at++)
            if (*at == '\t') *at = '\n'; /* a word is offered whole */
        if ((strstr(text, wanted) != NULL) == absent)
            fail_msg("mfpg %s: '%s' is %s: %s", line, *parts, absent ? "offered" : "not offered", ran.out);
    }
}
#define OFFERED(line, ...) check_offer(line, (const char *const[]){__VA_ARGS__, NULL})

static void test_commands_and_options_are_offered(void **state) {
    (void)state;
    OFFERED("''", "run", "list", "solve", "completion", "man", "--version");
    OFFERED("ru", "run", "", "list", "--version");
    OFFERED("run --", "--out=", "--resume", "--json", "--help", "", "--words");
    OFFERED("run --out x --", "--resume", "", "--out=");
    OFFERED("run --ou", "--out=", "", "--json");
    OFFERED("completion --", "--json", "", "--words"); /* what is for the script alone is hidden */
    OFFERED("nothing-like-it ''", "", "run", "--json");
}

static void test_values_of_options_are_offered(void **state) {
    (void)state;
    OFFERED("account --adjacency ''", "add", "remove", "zero-out", "replace");
    OFFERED("account --adjacency=re", "remove", "replace", "", "add");
    OFFERED("account --adj re", "remove", "", "add"); /* the beginning of a name is a name */
    OFFERED("account --ledger ''", ":files *");
    OFFERED("account --steps ''", "", "1", ":files *");
    OFFERED("solve --players ''", "finite", "mean-field");
    OFFERED("solve --shape=", "quadratic", "double-well");
    OFFERED("solve --study ''", "limit", "figure");
    OFFERED("bench --suite paper,", "paper,frontier", "", "frontier");
    OFFERED("bench --task q", "quadratic", "", "images");
    OFFERED("run --out ''", ":folders", "", ":files *");
    for (ptrdiff_t i = 0; mfpg_kind_name(&mfpg_costs, i); i++)
        OFFERED("solve --cost ''", mfpg_kind_name(&mfpg_costs, i));
}

static void test_arguments_are_offered_in_their_places(void **state) {
    (void)state;
    OFFERED("run ''", "clinics", "hospitals", ":files *.yaml", "", "seed=", ":folders");
    OFFERED("run --threads 2 cl", "clinics", "", "hospitals");
    OFFERED("run clinics ''", "seed=", "privacy.", "", "clinics", "privacy.unit=");
    OFFERED("run seed=3 ''", "clinics", "", "seed=");
    OFFERED("run --resume ''", ":folders", "clinics");
    OFFERED("list ''", "methods", "examples");
    OFFERED("list methods ''", "", "methods", "games");
    OFFERED("data ''", "check", "", ":files *");
    OFFERED("data check ''", ":files *", "", "check");
    OFFERED("eval ''", ":folders", "", ":files *");
    OFFERED("eval runs/a ''", ":files *", "", ":folders");
    OFFERED("report a b c ''", ":folders"); /* any number of them */
    OFFERED("man ''", "run", "config");
    OFFERED("completion ''", "bash", "zsh");
}

static void test_keys_and_their_values_are_offered(void **state) {
    (void)state;
    const mfpg_options *keys = mfpg_config_options();
    OFFERED("run clinics privacy.", "privacy.unit=", "privacy.delta=", "", "seed=", "privacy.");
    OFFERED("solve clinics method", "method=", "method.");
    OFFERED("run clinics privacy.unit=", "client", "example");
    OFFERED("run clinics privacy.unit=e", "example", "", "client");
    OFFERED("run clinics data.header=", "true", "false");
    OFFERED("run clinics data.scale.bounds=", ":files *");
    OFFERED("run clinics privacy.clip=", "", "client");
    assert_non_null(strstr(ran.out, ":message a number"));
    for (ptrdiff_t i = 0; i < keys->count; i++) { /* every word of every key */
        char line[512];
        const char *word;
        snprintf(line, sizeof line, "run clinics '%s='", keys->option[i].name);
        for (ptrdiff_t w = 0; (word = mfpg_option_word(&keys->option[i], w)); w++) OFFERED(line, word);
    }
}

static void test_runs_are_offered_by_name(void **state) {
    (void)state;
    expect("run clinics train.rounds=1 --out runs/short", 0);
    OFFERED("eval ''", "runs/short");
    char command[256];
    snprintf(command, sizeof command, "rm -r %s/runs", folder);
    assert_int_equal(system(command), 0);
}

/* ---- shells ---- */

/* Three lines with Tab where a word is left unfinished; Ctrl-A echo shows what became of them. */
static void type_and_check(const char *setup) {
    terminal_await(1);
    terminal_type(setup);
    terminal_await(2);
    terminal_type("mfpg acc\t--adj\tzer\t--led\tled\t\001echo GOT \n");
    terminal_await(3);
    terminal_type("mfpg run clin\tpriv\tuni\texa\ttrain.ro\t5\001echo GOT \n");
    terminal_await(4);
    terminal_type("mfpg run my\t\001echo GOT \n");
    terminal_await(5);
    terminal_type("exit\n");
    terminal_close();
    static const char *const lines[] = {
        "GOT mfpg account --adjacency=zero-out --ledger=ledger.txt\r\n",
        "GOT mfpg run clinics privacy.unit=example train.rounds=5\r\n",
        "GOT mfpg run my.yaml\r\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!strstr(screen.out, lines[i])) fail_msg("no '%s' in: %s", lines[i], screen.out);
}

static void make_files(void) {
    write_in_folder("ledger.txt", "x\n");
    write_in_folder("my.yaml", "x\n");
}

static void remove_files(void) {
    remove_from_folder("ledger.txt");
    remove_from_folder("my.yaml");
}

static void test_bash_completes(void **state) {
    (void)state;
    char *const argv[] = {
        (char[]){"bash"}, (char[]){"--norc"}, (char[]){"--noprofile"}, (char[]){"-i"}, NULL};
    need_program("bash", "bash");
    make_files();
    terminal_open(argv, "xterm");
    type_and_check("eval \"$(mfpg completion bash)\"\n");
    remove_files();
}

static void test_zsh_completes(void **state) {
    (void)state;
    char *const argv[] = {(char[]){"zsh"}, (char[]){"-f"}, (char[]){"-i"}, NULL};
    need_program("zsh", "zsh");
    make_files();
    terminal_open(argv, "xterm");
    type_and_check("autoload -U compinit; compinit -D -u; eval \"$(mfpg completion zsh)\"\n");
    remove_files();
}

static void test_wrong_shells_are_refused(void **state) {
    (void)state;
    REFUSED("completion fish", "'fish'", "allowed: bash, zsh");
    REFUSED("completion", "allowed: bash, zsh");
    REFUSED("completion bash zsh", "one shell at a time");
    json_t *object = run_json("completion zsh --json");
    assert_string_equal(json_string_value(json_object_get(object, "shell")), "zsh");
    assert_non_null(strstr(json_string_value(json_object_get(object, "script")), "#compdef mfpg"));
    json_decref(object);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_commands_and_options_are_offered, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_values_of_options_are_offered, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_arguments_are_offered_in_their_places, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_keys_and_their_values_are_offered, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_runs_are_offered_by_name, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_bash_completes, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_zsh_completes, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_wrong_shells_are_refused, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
