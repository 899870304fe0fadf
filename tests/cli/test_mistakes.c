/* What people type wrong, each kind in one table: exit code 2, nothing on stdout, and a message that says what was found,
 * what is allowed, and which name was probably meant. */
#include "cli/program.h"

typedef struct mistake {
    const char *arguments, *part, *other; /* both parts stand in the message; other may be NULL */
} mistake;

static void check_all(const mistake *rows, size_t count) {
    for (size_t i = 0; i < count; i++)
        REFUSED(rows[i].arguments, rows[i].part, rows[i].other ? rows[i].other : rows[i].part);
}
#define CHECK_ALL(rows) check_all(rows, sizeof(rows) / sizeof(rows)[0])

static int open_files(void **state) {
    if (open_folder(state) != 0) return -1;
    write_in_folder("mine.yaml", "method: dp-sgd\ndata: {files: [a.csv, b.csv]}\n");
    write_in_folder("a.csv", "x,y,label\n1,2,0\n3,4,1\n");
    write_in_folder("comma.csv", "x;y;label\n1,5;2;0\n3;4;1\n");
    write_in_folder("other.csv", "x,z,label\n1,2,0\n3,4,1\n");
    return 0;
}

static int close_files(void **state) {
    const char *names[] = {"mine.yaml", "a.csv", "comma.csv", "other.csv"};
    for (int i = 0; i < 4; i++) remove_from_folder(names[i]);
    return close_folder(state);
}

static void test_misspelt_names_are_told_the_nearest(void **state) {
    (void)state;
    static const mistake rows[] = {
        {"rnu clinics", "unknown command \"rnu\"", "did you mean \"run\"?"},
        {"run clinic", "neither a file nor an example", "did you mean clinics?"},
        {"run clinics.yaml", "clinics.yaml: No such file or directory", "did you mean clinics?"},
        {"solve hospital", "did you mean hospitals?", "examples: "},
        {"audit clinic", "did you mean clinics?", "examples: "},
        {"run mine.yml", "neither a file nor an example", "did you mean mine.yaml?"},
        {"run mine", "neither a file nor an example", "did you mean mine.yaml?"},
        {"run clinics --treads 2", "unrecognized option '--treads'", "did you mean --threads?"},
        {"run clinics train.ruonds=2", "train.ruonds: unknown key", "did you mean train.rounds?"},
        {"run clinics method=mfgp", "found 'mfgp'", "did you mean mfpg?"},
        {"run clinics privacy.view=averge", "found 'averge'", "did you mean average?"},
        {"account --mu 1 --accountant gpd", "unknown accountant \"gpd\"", "did you mean \"gdp\"?"},
        {"account --mu 1 --view locl", "--view: found 'locl'", "did you mean local?"},
        {"calibrate --epsilon 1 --solve nosie", "--solve: found 'nosie'", "did you mean noise?"},
        {"bench --suite frontir", "unknown suite \"frontir\"", "did you mean \"frontier\"?"},
        {"list exampels", "unknown list \"exampels\"", "did you mean \"examples\"?"},
        {"man rnu", "unknown page \"rnu\"", "did you mean \"run\"?"},
        {"completion bahs", "no script for shell 'bahs'", "allowed: bash, zsh"},
    };
    CHECK_ALL(rows);
}

static void test_keys_are_found_where_they_are_not(void **state) {
    (void)state;
    static const mistake rows[] = {
        {"run clinics rounds=5", "rounds: unknown key", "did you mean train.rounds?"},
        {"run clinics epsilon=2", "epsilon: unknown key",
            "did you mean privacy.stop_at_epsilon or noise.target_epsilon"},
        {"run clinics --rounds 5", "unrecognized option '--rounds'", "is given as train.rounds=VALUE"},
        {"audit clinics --target-epsilon 5", "--target-epsilon", "is given as noise.target_epsilon=VALUE"},
        {"solve clinics --train.rounds=5", "--train.rounds", "is given as train.rounds=VALUE"},
        {"run clinics train.rounds 5", "'train.rounds' is not KEY=VALUE", "train.rounds=VALUE"},
        {"run clinics seed 5", "'seed' is not KEY=VALUE", "seed=VALUE"},
        {"run clinics data.files=a.csv", "no file is read with data.format synthetic", "data.format: csv"},
        {"run clinics method=dp-sgd", "its step is train.learning_rate", "say which, as in"},
    };
    CHECK_ALL(rows);
}

static void test_wrong_values_are_told_what_is_allowed(void **state) {
    (void)state;
    static const mistake rows[] = {
        {"run clinics train.rounds=ten", "train.rounds: found 'ten'", "a whole number from 1"},
        {"run clinics train.rounds=-1", "train.rounds: found '-1'", "a whole number from 1"},
        {"run clinics train.rounds=", "train.rounds: found nothing", "a whole number from 1"},
        {"run clinics privacy.delta=1.5", "privacy.delta: found '1.5'", "a number from 0 below 1"},
        {"run clinics privacy.clip=nan", "privacy.clip: found 'nan'", "a number above 0"},
        {"run clinics privacy=example", "privacy: must be a mapping", "unit, adjacency, view"},
        {"run clinics seed=abc", "seed: found 'abc'", "none, or a whole number"},
        {"run clinics --threads 0", "--threads: found '0'", "from 1 up to 1024"},
        {"account --noise-multiplier -1", "found '-1'", "a number from 0"},
        {"account --noise-multiplier nan", "found 'nan'", "a number from 0"},
        {"account --noise-multiplier 1 --steps 1.5", "--steps: found '1.5'", "a whole number from 0"},
        {"account --noise-multiplier 1 --sampling-rate 2", "found '2'", "a number from 0 up to 1"},
        {"account --noise-multiplier 1 --epsilon 3 --delta 1e-5", "exclude each other", "give one"},
        {"audit clinics --runs 5", "--runs 5", "an even whole number from 20"},
        {"bench --seeds 0", "--seeds: found '0'", "a whole number from 1"},
        {"bench -n 0", "--seeds: found '0'", "a whole number from 1"}, /* the letters of options */
        {"run clinics -t 0", "--threads: found '0'", "from 1 up to 1024"},
        {"audit clinics -n5", "--runs 5", "an even whole number from 20"},
        {"audit clinics --one-run", "unrecognized option '--one-run'", "mfpg audit --help lists all"},
    };
    CHECK_ALL(rows);
}

static void test_what_is_missing_is_named(void **state) {
    (void)state;
    static const mistake rows[] = {
        {"run mine.yaml", "mine.yaml:2: data.files: b.csv: No such file or directory", "data.dir=FOLDER"},
        {"run none/mine.yaml", "none/mine.yaml: No such file or directory", NULL},
        {"run --resume ./none", "none: No such file or directory", NULL},
        {"data check none.csv", "none.csv: No such file or directory", NULL},
        {"report none", "none: No such file or directory", NULL},
        {"report .", ".: not a run folder", "no summary.json"},
        {"compare none none", "none: No such file or directory", NULL},
        {"eval none a.csv", "none: No such file or directory", NULL},
        {"eval a.csv none", "a.csv: is a file, not a run folder", "the folder of the run comes first"},
        {"account --ledger none", "none: No such file or directory", NULL},
        {"account --ledger a.csv", "a.csv:1: not a line of a ledger", NULL},
        {"run a.csv", "a.csv:1: not a mapping of keys", "`mfpg data check FILE` explains a data file"},
        {"account", "nothing to account for", "--noise-multiplier"},
        {"calibrate", "no target", "--epsilon"},
        {"eval", "a run folder and a data file are needed", NULL},
        {"compare", "two run folders are needed", NULL},
        {"report", "a run folder is needed", NULL},
        {"keys", "the name of the site is needed", "mfpg keys north"},
        {"audit", "no configuration", "mfpg audit clinics"},
        {"solve", "nothing to solve", "mfpg solve clinics"},
        {"data", "a data file", "check"},
        {"init mine.yaml", "mine.yaml: exists already and was left as it is", "another name"},
    };
    CHECK_ALL(rows);
}

static void test_odd_data_say_where(void **state) {
    (void)state;
    static const mistake rows[] = {
        {"run mine.yaml data.files=[a.csv,other.csv]", "other.csv: column \"z\" is not in a.csv", NULL},
        {"run mine.yaml data.files=[comma.csv]", "comma.csv:2: column \"x\": \"1,5\" has a decimal comma",
            "a point"},
        {"run mine.yaml data.files=[a.csv,a.csv]", "data.files: \"a.csv\" is given twice", NULL},
        {"run mine.yaml data.files=[a.csv] data.label.column=lable", "lable", "did you mean \"label\"?"},
        {"run mine.yaml data.files=[a.csv] data.drop_columns=[X1]", "X1", "x, y, label"},
    };
    CHECK_ALL(rows);
}

/* A method of the other mechanism wants the other step, which an argument can give beside that of the file. */
static void test_a_method_can_be_changed_by_arguments(void **state) {
    (void)state;
    expect("run clinics train.rounds=1 method=dp-sgd train.learning_rate=0.5 --out r", 0);
    assert_non_null(strstr(ran.err, "given, but of no effect"));
    assert_non_null(strstr(ran.err, "entropic.step"));
    char command[128];
    snprintf(command, sizeof command, "rm -r %s/r", folder);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misspelt_names_are_told_the_nearest),
        cmocka_unit_test(test_keys_are_found_where_they_are_not),
        cmocka_unit_test(test_wrong_values_are_told_what_is_allowed),
        cmocka_unit_test(test_what_is_missing_is_named),
        cmocka_unit_test(test_odd_data_say_where),
        cmocka_unit_test(test_a_method_can_be_changed_by_arguments),
    };
    return cmocka_run_group_tests(tests, open_files, close_files);
}
