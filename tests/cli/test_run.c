/* mfpg run as a person meets it: files, exit codes, interruptions, and the same bytes again. */
#include "cli/program.h"

#include <signal.h>
#include <sys/stat.h>

static const char *const run_files[] = {"clients.csv", "config.yaml", "free_energy.csv", "ledger",
    "model.npy", "rounds.csv", "summary.json", "timings.csv"};
enum { RUN_FILES = sizeof run_files / sizeof run_files[0] };

static void forget(const char *run_folder) {
    char command[256];
    snprintf(command, sizeof command, "rm -r %s/%s", folder, run_folder);
    assert_int_equal(system(command), 0);
}

static int has_file(const char *run_folder, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s/%s", folder, run_folder, name);
    return access(path, F_OK) == 0;
}

/* Both folders hold the same files with the same bytes, timings.csv and one more aside. */
static void check_same_bytes_except(const char *exception, const char *a, const char *b) {
    for (int i = 0; i < RUN_FILES; i++) {
        char command[512];
        if (strcmp(run_files[i], "timings.csv") == 0 || strcmp(run_files[i], exception) == 0) continue;
        if (!has_file(a, run_files[i]) && !has_file(b, run_files[i])) continue;
        snprintf(command, sizeof command, "cmp %s/%s/%s %s/%s/%s", folder, a, run_files[i], folder, b,
            run_files[i]);
        assert_int_equal(system(command), 0);
    }
}

static void check_same_bytes(const char *a, const char *b) {
    check_same_bytes_except("", a, b);
}

/* Only entropic runs have a free energy. */
static void check_complete(const char *run_folder) {
    int count = 0;
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, run_folder);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *item; (item = readdir(directory));) count += item->d_name[0] != '.';
    closedir(directory);
    assert_int_equal(count, RUN_FILES - !has_file(run_folder, "free_energy.csv"));
}

static int lines_of(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int lines = 0;
    for (int c; (c = fgetc(file)) != EOF;) lines += c == '\n';
    fclose(file);
    return lines;
}

static void test_a_seed_gives_the_same_bytes_on_one_and_two_threads(void **state) {
    (void)state;
    expect("run clinics train.rounds=4 train.batch.rate=0.5 --threads 1 --out a", 0);
    assert_non_null(strstr(ran.out, "seeded: reproducible, and therefore not private"));
    expect("run clinics train.rounds=4 train.batch.rate=0.5 --threads 2 --out b", 0);
    check_complete("a");
    assert_int_equal(lines_of("a/free_energy.csv"), 1 + 4);
    check_same_bytes("a", "b");
    forget("a");
    forget("b");
}

/* config.yaml holds everything: run again, it gives the same run. Its own comments tell where values came from, which is
 * no longer the same. */
static void test_the_written_configuration_gives_the_same_run(void **state) {
    (void)state;
    const char *methods[] = {"dp-sgd", "mfep", "mapg-dp", "mfpg", "none"};
    for (int i = 0; i < 5; i++) {
        char arguments[256];
        const char *target = i == 4 ? "train.learning_rate=0.5" : "noise.target_epsilon=3";
        const char *step = i == 1 || i == 3 ? "entropic.step=1" : "train.rounds=3";
        snprintf(
            arguments, sizeof arguments, "run tiny.yaml method=%s %s %s --out a", methods[i], target, step);
        write_in_folder("tiny.yaml", "seed: 5\ndata: {format: synthetic, kind: clinics}\ntrain: {rounds: "
                                     "3}\nprivacy: {unit: example}\n"
                                     "game: {actions: continuous}\nentropic: {scale: sensitivity}\n");
        expect(arguments, 0);
        expect("run a/config.yaml --out b", 0);
        check_same_bytes_except("config.yaml", "a", "b");
        forget("a");
        forget("b");
        remove_from_folder("tiny.yaml");
    }
}

static void test_without_a_seed_two_runs_differ(void **state) {
    (void)state;
    write_in_folder("open.yaml", "data: {format: synthetic, kind: clinics}\ntrain: {rounds: 1}\n");
    expect("run open.yaml --out a", 0);
    assert_null(strstr(ran.out, "seeded"));
    expect("run open.yaml --out b", 0);
    char command[256];
    snprintf(command, sizeof command, "grep -c '\"fingerprint\": null' %s/a/summary.json >%s/count", folder,
        folder);
    assert_int_equal(system(command), 0); /* a hash of private rows confirms a guess of them */
    remove_from_folder("count");
    snprintf(command, sizeof command, "cmp -s %s/a/model.npy %s/b/model.npy", folder, folder);
    assert_int_not_equal(system(command), 0);
    forget("a");
    forget("b");
    remove_from_folder("open.yaml");
}

/* What is printed is never below the number it stands for: progress, sentence and sweep beside summary.json. */
static void test_epsilon_is_printed_from_above(void **state) {
    (void)state;
    json_t *object = run_json("run clinics train.rounds=3 noise.target_epsilon=1.2345678 --json --out a");
    json_t *clients = json_object_get(object, "clients"), *client;
    double exact = 0;
    size_t k;
    json_array_foreach(clients, k, client) exact = fmax(exact, json_get_number(client, "epsilon"));
    json_decref(object);
    expect("run clinics train.rounds=3 noise.target_epsilon=1.2345678 --out b", 0);
    const char *line = strstr(ran.err, "3/3"), *said = strstr(ran.out, "(epsilon ");
    assert_true(line && said);
    assert_true(strtod(strstr(line, "epsilon ") + 8, NULL) >= exact);
    assert_true(strtod(said + 9, NULL) >= exact);
    forget("a");
    forget("b");
}

static void test_json_tells_what_each_client_was_promised(void **state) {
    (void)state;
    json_t *object = run_json("run clinics train.rounds=2 --json --out a");
    json_t *clients = json_object_get(object, "clients"), *client;
    size_t k;
    double largest = 0;
    assert_int_equal(json_array_size(clients), 4);
    json_array_foreach(clients, k, client) {
        largest = fmax(largest, json_get_number(client, "epsilon"));
        assert_non_null(strstr(json_string_value(json_object_get(client, "promise")), "% of the time"));
        assert_true(json_is_true(json_object_get(client, "certificate")));
    }
    check_near(largest, 2, 0, 1e-6, "largest epsilon");
    assert_true(json_array_size(json_object_get(object, "assumptions")) > 3);
    assert_non_null(strstr(json_string_value(json_object_get(json_object_get(object, "metrics"), "note")),
        "not covered by any certificate"));
    json_decref(object);
    forget("a");
}

static void test_files_that_hold_metrics_say_that_nothing_covers_them(void **state) {
    (void)state;
    expect("run clinics train.rounds=2 --out a", 0);
    const char *names[] = {"rounds.csv", "summary.json"};
    for (int i = 0; i < 2; i++) {
        char command[256];
        snprintf(
            command, sizeof command, "grep -q 'not covered by any certificate' %s/a/%s", folder, names[i]);
        assert_int_equal(system(command), 0);
    }
    assert_int_equal(lines_of("a/rounds.csv"), 3);
    assert_int_equal(lines_of("a/clients.csv"), 5);
    forget("a");
}

/* A model written by one run is the start of another, bit by bit; a file that is none is refused. */
static void test_a_run_can_start_from_a_model(void **state) {
    (void)state;
    expect("run clinics train.rounds=1 --out a", 0);
    expect("run clinics train.rounds=1 train.start=a/model.npy --out b", 0);
    char command[256];
    snprintf(command, sizeof command, "cmp -s %s/a/model.npy %s/b/model.npy", folder, folder);
    assert_int_not_equal(system(command), 0);
    int before = files_in_folder();
    REFUSED("run clinics train.start=a/rounds.csv", "rounds.csv", "float32 vector of 7 entries");
    REFUSED("run clinics train.start=nothing.npy", "nothing.npy", "No such file");
    assert_int_equal(files_in_folder(), before);
    forget("a");
    forget("b");
}

/* source: field_failures F15: the formula's noise for epsilon 10 really has delta 2.27e-5; theory S0 (11): false from 8.42 on */
static void test_the_classical_law_warns_where_it_is_false(void **state) {
    (void)state;
    write_in_folder("small.csv", "x,y\n1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n7,1\n8,0\n");
    write_in_folder(
        "small.yaml", "seed: 1\nmethod: dp-sgd\ndata: {files: [small.csv]}\ntrain: {rounds: 1}\n");
    expect("run small.yaml noise.action=10 --out r", 0);
    assert_non_null(strstr(ran.err, "one release has delta 2.27e-05 at epsilon 10"));
    forget("r");
    static const char *const silent[] = {"noise.action=8.4", "noise.action=1", "noise.multiplier=0.2",
        "noise.target_epsilon=10", "'noise={action: 10, law: game}'"};
    for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++) {
        char command[128];
        snprintf(command, sizeof command, "run small.yaml %s --out r", silent[i]);
        expect(command, 0);
        assert_null(strstr(ran.err, "noise.law: classical"));
        forget("r");
    }
    remove_from_folder("small.csv");
    remove_from_folder("small.yaml");
}

/* Rounds that drive models apart forget nothing; the same rounds with a smaller step do. */
static void test_an_assumption_that_gains_nothing_warns(void **state) {
    (void)state;
    expect("run clinics train.rounds=2 privacy.view=final privacy.assume=glm entropic.step=2 --out a", 0);
    assert_non_null(strstr(ran.err, "privacy.assume gains nothing in this run"));
    forget("a");
    expect("run clinics train.rounds=2 privacy.view=final privacy.assume=glm entropic.step=0.5 --out a", 0);
    assert_null(strstr(ran.err, "gains nothing"));
    forget("a");
}

/* What is shown first has to be right: of the examples that need no files none warns of its own settings. */
static void test_examples_do_not_warn(void **state) {
    (void)state;
    const char *examples[] = {"clinics", "choices", "counterexample"};
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        char command[64];
        snprintf(command, sizeof command, "run %s --out r", examples[i]);
        expect(command, 0);
        assert_null(strstr(ran.err, "warning"));
        assert_null(strstr(ran.out, "Warning"));
        assert_null(strstr(ran.out, "diverge"));
        forget("r");
    }
}

static void test_without_noise_there_is_no_certificate(void **state) {
    (void)state;
    write_in_folder(
        "open.yaml", "seed: 1\nmethod: none\ndata: {format: synthetic, kind: clinics}\ntrain: {rounds: 1}\n");
    json_t *object = run_json("run open.yaml --json --out r"), *client;
    size_t k;
    json_array_foreach(json_object_get(object, "clients"), k, client) {
        assert_true(isinf(json_get_number(client, "epsilon")));
        assert_true(json_is_false(json_object_get(client, "certificate")));
    }
    assert_true(k > 0);
    json_decref(object);
    forget("r");
    remove_from_folder("open.yaml");
}

static void test_a_sweep_runs_every_seed(void **state) {
    (void)state;
    json_t *object = run_json("run clinics train.rounds=2 seed=3..5 --json --out sweep");
    assert_int_equal(json_array_size(json_object_get(object, "runs")), 3);
    assert_true(json_get_number(json_object_get(object, "accuracy"), "standard_error") > 0);
    /* source: field_failures F35: whoever picks the best of several runs pays for it, or is told that nobody counts it */
    assert_string_equal(json_string_value(json_object_get(object, "selection")),
        "selection over several runs on private data: not covered");
    json_decref(object);
    expect("run clinics train.rounds=2 seed=3..4 --out two", 0);
    assert_non_null(strstr(ran.err, "selection over several runs on private data: not covered"));
    assert_null(strstr(ran.out, "selection")); /* the table is a CSV file */
    forget("two");
    object = run_json("run clinics train.rounds=2 seed=3..3 --json --out one");
    assert_true(json_is_null(json_object_get(object, "selection")));
    json_decref(object);
    forget("one");
    check_complete("sweep/seed-3");
    check_complete("sweep/seed-5");
    forget("sweep");
}

/* ---- wrong input: exit 2, one line that names the place, nothing left behind ---- */

static void check_leaves_nothing(const char *arguments, const char *first, const char *second) {
    int before = files_in_folder();
    REFUSED(arguments, first, second);
    assert_int_equal(files_in_folder(), before);
    /* one message, and warnings at most */
    assert_true(strlen(ran.err) < 1200);
}

static void test_bad_data_files_are_refused_by_line_and_column(void **state) {
    (void)state;
    write_in_folder("good.csv", "x,y\n1,0\n2,1\n3,0\n4,1\n5,0\n");
    write_in_folder("short.csv", "x,y\n1,0\n2\n");
    write_in_folder("text.csv", "x,y\n1,0\nabc,1\n");
    write_in_folder("none.csv", "x,y\n");
    write_in_folder("nan.csv", "x,y\n1,0\ninf,1\n");
    check_leaves_nothing("run c.yaml", "c.yaml", "No such file");
    write_in_folder("c.yaml", "seed: 1\nmethod: dp-sgd\ndata:\n  files: [good.csv, short.csv]\n");
    check_leaves_nothing("run c.yaml", "short.csv:3", "");
    check_leaves_nothing("run c.yaml 'data.files=[good.csv, text.csv]'", "text.csv:3", "x");
    check_leaves_nothing("run c.yaml 'data.files=[good.csv, none.csv]'", "none.csv", "");
    check_leaves_nothing("run c.yaml 'data.files=[good.csv, nan.csv]'", "nan.csv:3", "x");
    check_leaves_nothing("run c.yaml 'data.files=[good.csv]' data.label.column=z", "z", "");
    check_leaves_nothing("run c.yaml data.file=good.csv", "data.file", "data.files");
    check_leaves_nothing("run c.yaml privacy.delta=1", "privacy.delta", "");
    check_leaves_nothing("run c.yaml train.rounds=ten", "train.rounds", "");
    check_leaves_nothing("run c.yaml method=mfpg 'data.files=[good.csv]' train.learning_rate=0.1",
        "train.learning_rate", "entropic");
    write_in_folder("beta.csv", "beta\n1\nnan\n");
    check_leaves_nothing("run c.yaml 'data.files=[good.csv, short.csv]' method=mfpg "
                         "game.preferences.file=beta.csv game.preferences.column=beta",
        "", "");
    write_in_folder("b.csv", "x,y\n1,0\n2,1\n3,0\n4,1\n5,0\n");
    check_leaves_nothing("run c.yaml 'data.files=[good.csv, b.csv]' method=mfpg game.curvature=1 "
                         "game.preferences.file=beta.csv "
                         "game.preferences.column=beta",
        "beta.csv:3", "beta");
    const char *names[] = {
        "good.csv", "short.csv", "text.csv", "none.csv", "nan.csv", "c.yaml", "beta.csv", "b.csv"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) remove_from_folder(names[i]);
}

/* Where nobody says where the files are, the error says how to; where somebody does, the path tells where was looked. */
static void test_files_that_are_not_found_name_the_key_of_their_folder(void **state) {
    (void)state;
    check_leaves_nothing("run hospitals", "data.files: ", "processed.cleveland.data: No such file");
    assert_non_null(strstr(ran.err, "data.dir=FOLDER"));
    assert_non_null(strstr(ran.err, "hospitals.yaml:"));
    check_leaves_nothing(
        "run hospitals data.dir=nowhere", "nowhere/processed.cleveland.data", "No such file");
    assert_null(strstr(ran.err, "data.dir=FOLDER"));
    check_leaves_nothing("run hospitals 'data.files=[/nowhere/a.csv]'", "/nowhere/a.csv", "No such file");
    assert_null(strstr(ran.err, "data.dir=FOLDER"));
    write_in_folder("a.csv", "x,y\n1,0\n2,1\n");
    write_in_folder("c.yaml", "method: none\ndata: {files: [a.csv], test_files: [b.csv]}\n");
    check_leaves_nothing("run c.yaml", "c.yaml:2: data.test_files: b.csv: No such file", "data.dir=FOLDER");
    remove_from_folder("a.csv");
    remove_from_folder("c.yaml");
}

static void test_a_run_never_writes_over_another(void **state) {
    (void)state;
    expect("run clinics train.rounds=1 --out a", 0);
    REFUSED("run clinics train.rounds=1 --out a", "a:", "not empty");
    expect("run clinics train.rounds=1", 0);
    expect("run clinics train.rounds=1", 0);
    check_complete("runs/clinics");
    check_complete("runs/clinics-2");
    expect("run clinics train.rounds=1 name=../out", 0); /* a name is no way out of runs */
    check_complete("runs/_._out");
    forget("a");
    forget("runs");
}

/* Runs that begin together: each has a numbered folder of its own; a folder that all are told to take is one's alone. */
static void test_runs_that_begin_at_once_do_not_share_a_folder(void **state) {
    (void)state;
    enum { AT_ONCE = 6 };
    const char *outs[] = {"", "--out one"};
    for (int i = 0; i < 2; i++) {
        char command[1024];
        snprintf(command, sizeof command,
            "cd %s && for i in 1 2 3 4 5 6; do ('%s' run clinics train.rounds=1 seed=$i %s >out$i 2>err$i; "
            "echo $? >>codes) & done; wait",
            folder, MFPG_PROGRAM, outs[i]);
        assert_int_equal(system(command), 0);
        snprintf(command, sizeof command,
            "cd %s && test $(grep -c '^0$' codes) = %d && "
            "test $(grep -c '^2$' codes) = %d",
            folder, i ? 1 : AT_ONCE, i ? AT_ONCE - 1 : 0);
        assert_int_equal(system(command), 0);
        snprintf(command, sizeof command, "cd %s && test $(cat err* | grep -c 'a folder of its own') = %d",
            folder, i ? AT_ONCE - 1 : 0);
        assert_int_equal(system(command), 0);
        snprintf(command, sizeof command, "cd %s && rm out* err* codes", folder);
        assert_int_equal(system(command), 0);
    }
    check_complete("runs/clinics");
    check_complete("runs/clinics-6");
    check_complete("one");
    forget("runs");
    forget("one");
}

static void test_without_arguments_the_shortest_configuration_is_shown(void **state) {
    (void)state;
    REFUSED("run", "  method: dp-sgd\n  data: {files: [a.csv, b.csv]}\n");
    write_in_folder("mine.yaml", "method: dp-sgd\ndata: {files: [a.csv, b.csv]}\n");
    write_in_folder("a.csv", "age,sick\n30,0\n40,1\n50,0\n60,1\n70,1\n");
    write_in_folder("b.csv", "age,sick\n35,0\n45,0\n55,1\n65,1\n75,0\n");
    expect("run mine.yaml", 0); /* it works as shown */
    check_complete("runs/mine");
    forget("runs");
    remove_from_folder("mine.yaml");
    remove_from_folder("a.csv");
    remove_from_folder("b.csv");
}

/* ---- signals ---- */

static void test_an_interrupted_run_keeps_its_complete_rounds(void **state) {
    (void)state;
    char command[1024];
    write_in_folder("long.yaml",
        "seed: 5\nmethod: dp-sgd\ndata: {format: synthetic, kind: clinics}\ntrain: {rounds: 1000000}\n");
    /* the first line of progress tells that round 1 is over; far more rounds than can pass in between */
    snprintf(command, sizeof command,
        "cd %s && mkfifo pipe && ('%s' run long.yaml --out a 2>pipe >/dev/null & pid=$!; "
        "(read line; kill -INT $pid; cat >/dev/null) <pipe; wait $pid; echo $? >code)",
        folder, MFPG_PROGRAM);
    assert_int_equal(system(command), 0);
    char path[256], code[16] = "";
    snprintf(path, sizeof path, "%s/code", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(fgets(code, sizeof code, file));
    fclose(file);
    assert_string_equal(code, "130\n");
    remove_from_folder("a/checkpoint"); /* what it would go on from */
    check_complete("a");
    /* the files agree on how many rounds there were: a header each, and one line of the ledger a client and round */
    int rounds = lines_of("a/rounds.csv") - 1;
    assert_true(rounds >= 1);
    assert_int_equal(lines_of("a/ledger") - 1, 4 * rounds);
    assert_int_equal(lines_of("a/timings.csv") - 1, rounds);
    snprintf(command, sizeof command, "grep -q '\"status\": \"interrupted\"' %s/a/summary.json", folder);
    assert_int_equal(system(command), 0);
    forget("a");
    remove_from_folder("long.yaml");
    remove_from_folder("pipe");
    remove_from_folder("code");
}

/* One line a round, and in the end where everything is and what to do next. */
static void test_a_run_says_little(void **state) {
    (void)state;
    expect("run clinics train.rounds=3 --out a", 0);
    int rounds = 0, lines = 0;
    for (const char *line = ran.err; *line; line += strcspn(line, "\n") + 1, lines++)
        rounds += line[0] >= '1' && line[0] <= '3' && strncmp(line + 1, "/3 ", 3) == 0;
    assert_int_equal(rounds, 3);
    assert_true(lines <= rounds + 1); /* and the game */
    assert_non_null(strstr(ran.out, "\nWritten to a; as a page: mfpg report a\n"));
    forget("a");
}

/* With standard streams closed, their numbers must not become those of the ledger. */
static void test_closed_streams_leave_the_ledger_alone(void **state) {
    (void)state;
    char command[512];
    snprintf(command, sizeof command, "cd %s && %s run clinics train.rounds=3 --out a 2>&- >/dev/null",
        folder, MFPG_PROGRAM);
    assert_int_equal(system(command), 0);
    expect("account --ledger a/ledger", 0);
    snprintf(command, sizeof command,
        "cd %s && ! %s run clinics train.rounds=3 --json --out b >&- 2>/dev/null", folder, MFPG_PROGRAM);
    assert_int_equal(system(command), 0); /* what could not be printed is a failure */
    expect("account --ledger b/ledger", 0);
    forget("a");
    forget("b");
}

static void test_names_that_are_not_utf8_are_refused_before_training(void **state) {
    (void)state;
    write_in_folder("l.csv", "x,g,y\n1,caf\xE9,0\n2,a,1\n3,caf\xE9,1\n4,a,0\n");
    write_in_folder(
        "l.yaml", "method: dp-sgd\ndata: {files: [l.csv], partition: {kind: column, column: g}}\n");
    check_leaves_nothing("run l.yaml", "client 0", "UTF-8");
    remove_from_folder("l.csv");
    remove_from_folder("l.yaml");
}

/* ---- the ledger agrees with what was told ---- */

static void test_the_ledger_accounts_for_what_clients_were_told(void **state) {
    (void)state;
    json_t *run = run_json("run clinics train.rounds=7 privacy.view=average --json --out a");
    json_t *audit = run_json("account --ledger a/ledger --json");
    json_t *told = json_array_get(json_object_get(run, "clients"), 0);
    check_near(json_get_number(audit, "epsilon"), json_get_number(told, "epsilon"), 1e-9, 0,
        "ledger against certificate");
    json_decref(run);
    json_decref(audit);
    forget("a");
}

/* ---- eval ---- */

/* On a file that a run was evaluated on, eval gives the run's own numbers for that client. */
static void test_eval_repeats_what_the_run_measured(void **state) {
    (void)state;
    write_in_folder("a.csv", "age,bp,sick\n30,120,0\n40,140,1\n50,130,0\n60,150,1\n70,160,1\n");
    write_in_folder("b.csv", "age,bp,sick\n35,125,0\n45,135,0\n55,145,1\n65,155,1\n75,120,0\n25,118,0\n");
    write_in_folder("bounds.csv", "column,low,high\nage,0,100\nbp,80,200\n");
    write_in_folder(
        "c.yaml", "seed: 3\nmethod: mfpg\ndata: {files: [a.csv, b.csv], scale: {bounds: bounds.csv}}\n");
    json_t *run = run_json("run c.yaml data.test_fraction=0 --json --out r"), *client;
    size_t k;
    json_array_foreach(json_object_get(run, "clients"), k, client) {
        const char *arguments[] = {"eval r a.csv --json", "eval r b.csv --json"},
                   *names[] = {"loss", "accuracy", "auc", "majority_rate", "rows"};
        json_t *metrics = json_object_get(client, "metrics"), *measured = run_json(arguments[k]);
        for (int i = 0; i < 5; i++)
            check_near(
                json_get_number(measured, names[i]), json_get_number(metrics, names[i]), 1e-12, 0, names[i]);
        json_decref(measured);
    }
    json_decref(run);
    expect("eval r a.csv", 0);
    assert_non_null(strstr(ran.out, "majority rate"));
    REFUSED("eval r nothing.csv", "nothing.csv");
    REFUSED("eval nowhere a.csv", "nowhere: No such file");
    REFUSED("eval r", "a run folder and a data file");
    write_in_folder("narrow.csv", "age,sick\n30,0\n");
    REFUSED("eval r narrow.csv", "bounds.csv:3", "bp");
    expect("run c.yaml data.test_fraction=0 data.scale=from-data game.curvature=1 --out s", 0);
    REFUSED("eval s a.csv", "data.scale: from-data", "public bounds");
    forget("r");
    forget("s");
    const char *names[] = {"a.csv", "b.csv", "bounds.csv", "c.yaml", "narrow.csv"};
    for (int i = 0; i < 5; i++) remove_from_folder(names[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_a_seed_gives_the_same_bytes_on_one_and_two_threads, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_the_written_configuration_gives_the_same_run, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_without_a_seed_two_runs_differ, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_epsilon_is_printed_from_above, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_json_tells_what_each_client_was_promised, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_files_that_hold_metrics_say_that_nothing_covers_them, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_examples_do_not_warn, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_a_run_can_start_from_a_model, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_the_classical_law_warns_where_it_is_false, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_an_assumption_that_gains_nothing_warns, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_without_noise_there_is_no_certificate, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_a_sweep_runs_every_seed, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_bad_data_files_are_refused_by_line_and_column, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_a_run_never_writes_over_another, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_runs_that_begin_at_once_do_not_share_a_folder, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_without_arguments_the_shortest_configuration_is_shown, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_an_interrupted_run_keeps_its_complete_rounds, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_the_ledger_accounts_for_what_clients_were_told, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_a_run_says_little, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_closed_streams_leave_the_ledger_alone, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_names_that_are_not_utf8_are_refused_before_training, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_files_that_are_not_found_name_the_key_of_their_folder, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_eval_repeats_what_the_run_measured, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
