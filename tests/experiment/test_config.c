/* The configuration: reading, refusing, overriding, asking. */
#include "fixture.h"

#include <sys/stat.h>

#include "experiment/config/settings.h"
#include "games/game_internal.h"
#include "base/names.h"
#include "base/release_parts.h"
#include "mfpg/accountant.h"
#include "mfpg/mechanism.h"

/* ---- asking ---- */

static void test_defaults_are_the_papers(void **state) {
    (void)state;
    mfpg_config *config = NULL;
    ptrdiff_t count;
    CHECK_OK(ctx, mfpg_config_create(ctx, &config));
    /* source: the table of the interface, "the defaults are the paper's" */
    assert_true(mfpg_config_is(config, "method", "mfpg"));
    assert_int_equal(mfpg_config_number(config, "train.rounds"), 20);
    assert_true(mfpg_config_number(config, "train.learning_rate") == 0.01);
    assert_true(mfpg_config_number(config, "privacy.clip") == 1);
    assert_true(mfpg_config_number(config, "privacy.delta") == 1e-5);
    assert_true(mfpg_config_number(config, "entropic.step") == 0.1);
    assert_true(mfpg_config_number(config, "entropic.variance_penalty") == 0.01);
    assert_true(mfpg_config_is(config, "train.weights", "examples"));
    assert_true(mfpg_config_is(config, "privacy.adjacency", "zero-out"));
    const double *actions = config->all.game.actions.grid;
    count = config->all.game.actions.count;
    const double paper[] = {0.1, 0.3, 0.5, 1, 2};
    assert_int_equal(count, 5);
    for (int i = 0; i < 5; i++) assert_true(actions[i] == paper[i]);
    assert_true(mfpg_config_number(config, "game.preferences.min") == 0.5);
    assert_true(mfpg_config_number(config, "game.preferences.max") == 1.5);
    assert_true(mfpg_config_is(config, "seed", "none"));
    assert_true(isnan(mfpg_config_number(config, "seed")));
    assert_false(mfpg_config_given(config, "train.rounds"));
    assert_string_equal(mfpg_config_source(config, "train.rounds"), "default");
    mfpg_config_destroy(config);
    mfpg_config_destroy(NULL);
}

static void test_every_form_of_value_is_read(void **state) {
    (void)state;
    mfpg_config *config = load("name: St. Mary's\n"
                               "seed: 42\n"
                               "data:\n"
                               "  files: [a.csv, 'b c.csv']\n"
                               "  header: false\n"
                               "  separator: ';'\n"
                               "  label: {column: num, positive_above: 0}\n"
                               "  categories:\n"
                               "    sex: [female, male]\n"
                               "    a.b: [x, 'y, z']\n"
                               "  missing: {values: ['?', '', -9], rows: drop}\n"
                               "privacy: {delta: 1.0e-6, stop_at_epsilon: 4}\n"
                               "train: {rounds: 1e2, clients_per_round: 3}\n"
                               "game: {actions: [.5, 1, 2], preferences: 1}\n");
    ptrdiff_t count;
    assert_string_equal(mfpg_config_text(config, "name"), "St. Mary's");
    assert_int_equal(mfpg_config_number(config, "seed"), 42);
    assert_true(isnan(mfpg_config_number(config, "name")));
    const char *const *files = config->all.data.files;
    count = config->all.data.file_count;
    assert_int_equal(count, 2);
    assert_string_equal(files[1], "b c.csv");
    assert_false(config->all.data.header);
    assert_string_equal(mfpg_config_text(config, "data.separator"), ";");
    assert_true(mfpg_config_number(config, "data.label.positive_above") == 0);
    assert_false(mfpg_config_has(config, "data.label.positive"));
    assert_int_equal(config->categories, 2);
    const mfpg_category_line *category = &config->category[1];
    assert_string_equal(category->column, "a.b");
    assert_string_equal(category->value.texts[1], "y, z");
    const char *const *missing = config->all.data.missing_values;
    count = config->all.data.missing_count;
    assert_int_equal(count, 3);
    assert_string_equal(missing[1], "");
    assert_string_equal(missing[2], "-9");
    assert_int_equal(mfpg_config_number(config, "train.rounds"), 100);
    assert_int_equal(mfpg_config_number(config, "train.clients_per_round"), 3);
    assert_true(mfpg_config_number(config, "privacy.stop_at_epsilon") == 4);
    const double *actions = config->all.game.actions.grid;
    count = config->all.game.actions.count;
    assert_int_equal(count, 3); /* in ascending order */
    assert_true(actions[0] == 0.5 && actions[1] == 1 && actions[2] == 2);
    count = config->all.preference_count;
    assert_int_equal(count, 1);
    assert_true(mfpg_config_given(config, "train.rounds"));
    assert_string_equal(mfpg_config_source(config, "train.rounds"), "c.yaml:13");
    mfpg_config_destroy(config);
}

static void check_order(const char *path, const char *const *names) {
    const mfpg_option *key = &mfpg_config_options()->option[mfpg_config_key_find(path)];
    for (ptrdiff_t i = 0; names[i]; i++) assert_string_equal(mfpg_option_word(key, i), names[i]);
}

static void test_words_stand_in_the_order_of_their_enums(void **state) {
    (void)state;
    check_order("privacy.unit",
        (const char *[]){mfpg_unit_name(MFPG_UNIT_CLIENT), mfpg_unit_name(MFPG_UNIT_EXAMPLE), NULL});
    check_order("privacy.adjacency", (const char *[]){mfpg_adjacency_name(MFPG_ADJACENCY_ZERO_OUT),
                                         mfpg_adjacency_name(MFPG_ADJACENCY_REPLACE), NULL});
    check_order(
        "privacy.view", (const char *[]){mfpg_view_name(MFPG_VIEW_LOCAL), mfpg_view_name(MFPG_VIEW_AVERAGE),
                            mfpg_view_name(MFPG_VIEW_FINAL), NULL});
    check_order("method.players",
        (const char *[]){mfpg_players_name(MFPG_PLAYERS_NONE), mfpg_players_name(MFPG_PLAYERS_FINITE),
            mfpg_players_name(MFPG_PLAYERS_MEAN_FIELD), NULL});
    const struct {
        const char *path, *word;
        int value;
    } rows[] = {{"privacy.clip_at", "update", MFPG_CLIP_UPDATE},
        {"data.missing.rows", "drop", MFPG_MISSING_DROP},
        {"data.partition.kind", "column", MFPG_PARTITION_COLUMN},
        {"data.partition.kind", "iid", MFPG_PARTITION_IID},
        {"data.partition.kind", "dirichlet", MFPG_PARTITION_DIRICHLET},
        {"data.partition.kind", "shards", MFPG_PARTITION_SHARDS},
        {"data.kind", "quadratic", MFPG_SYNTHETIC_QUADRATIC}, {"data.kind", "linear", MFPG_SYNTHETIC_LINEAR},
        {"data.kind", "coins", MFPG_SYNTHETIC_COINS}, {"data.kind", "clinics", MFPG_SYNTHETIC_CLINICS},
        {"entropic.scale", "sensitivity", MFPG_SCALE_SENSITIVITY}};
    mfpg_config *config = NULL;
    CHECK_OK(ctx, mfpg_config_create(ctx, &config));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char argument[128];
        snprintf(argument, sizeof argument, "%s=%s", rows[i].path, rows[i].word);
        set(config, argument);
        assert_int_equal(config->value[mfpg_config_key_find(rows[i].path)].choice, rows[i].value);
    }
    mfpg_config_destroy(config);
}

/* ---- refusing ---- */

static void test_wrong_files_are_refused_with_line_and_key(void **state) {
    (void)state;
    const struct {
        const char *text;
        const char *parts[4];
    } rows[] = {
        {"train:\n  ruonds: 5\n", {"c.yaml:2: train.ruonds: unknown key", "did you mean train.rounds?"}},
        {"rounds: 5\n", {"c.yaml:1: rounds: unknown key", "did you mean train.rounds?"}},
        {"trainn: {rounds: 5}\n", {"c.yaml:1: trainn: unknown key", "did you mean train?"}},
        {"zzz: 5\n", {"c.yaml:1: zzz: unknown key", "allowed here: name, seed, method"}},
        {"data: {label: {colum: x}}\n", {"data.label.colum", "did you mean data.label.column?"}},
        {"\ntrain: {rounds: many}\n", {"c.yaml:2: train.rounds: found 'many'", "a whole number from 1"}},
        {"train: {rounds: '5'}\n", {"train.rounds: found the text '5'"}},
        {"train: {rounds: 1.5}\n", {"train.rounds: found '1.5'"}},
        {"train: {rounds: 0}\n", {"train.rounds: found '0'"}},
        {"train: {rounds: 3000000000}\n", {"train.rounds: found '3000000000'"}},
        {"train: {rounds: [5]}\n", {"train.rounds: found a list"}},
        {"train: {rounds: {a: 5}}\n", {"train.rounds: found a mapping"}},
        {"train: {rounds: }\n", {"train.rounds: found nothing"}},
        {"train: {rounds: 0x10}\n", {"found '0x10'"}},
        {"privacy: {clip: .nan}\n", {"privacy.clip: found '.nan'", "a number above 0"}},
        {"privacy: {clip: nan}\n", {"privacy.clip: found 'nan'"}},
        {"privacy: {clip: .inf}\n", {"privacy.clip: found '.inf'"}},
        {"privacy: {clip: 1e999}\n", {"privacy.clip: found '1e999'"}},
        {"privacy: {clip: -1}\n", {"privacy.clip: found '-1'"}},
        {"privacy: {delta: 1}\n", {"privacy.delta: found '1'", "a number from 0 below 1"}},
        {"train: {client_rate: 0}\n", {"a number above 0 up to 1"}},
        {"seed: 9007199254740993\n", {"seed: found '9007199254740993'"}},
        {"seed: -1\n", {"none, or a whole number from 0"}},
        {"method: mfqg\n", {"method: found 'mfqg'", "allowed: dp-sgd, mfep", "did you mean mfpg?"}},
        {"task: {model: tree}\n", {"task.model: found 'tree'", "quadratic, linear, logistic, softmax, mlp"}},
        {"task: {hidden: [8, 2.5]}\n",
            {"task.hidden: found '2.5'", "a list of whole numbers from 1 up to 65536"}},
        {"task: {hidden: []}\n", {"task.hidden", "empty"}},
        {"privacy: {accountant: paper_rdp}\n",
            {"privacy.accountant: found 'paper_rdp'", "allowed: auto, gdp, rdp"}},
        {"privacy: {accountant: pdl}\n", {"privacy.accountant: found 'pdl'", "pld"}},
        {"game: {actions: []}\n", {"game.actions: the list is empty"}},
        {"game: {actions: [1, -1]}\n", {"game.actions: found '-1'"}},
        {"game: {actions: [1, 1]}\n", {"c.yaml:1: game.actions: found 1 after 1"}},
        {"game: {actions: [0.5, 2, 5e-1]}\n", {"game.actions: found 0.5 after 2"}},
        {"game: {actions: [1, [2]]}\n", {"game.actions: found a list"}},
        {"data: {header: yes}\n", {"data.header: found 'yes'", "true, false"}},
        {"data: {separator: ab}\n", {"data.separator: found 'ab'", "one character"}},
        {"data: {label: {column: ''}}\n", {"data.label.column: found an empty text"}},
        {"data: {files: {a: b}}\n", {"data.files: found a mapping"}},
        {"data: {categories: [a]}\n", {"data.categories: must be a mapping"}},
        {"data: {categories: {sex: []}}\n", {"data.categories.sex: the list is empty"}},
        {"name: \"a\\nb\"\n", {"name: the text holds control characters"}},
        {"train: 5\n", {"c.yaml:1: train: must be a mapping of keys", "rounds"}},
        {"train: {rounds: 1}\nname: a\ntrain: {local_steps: 2}\n",
            {"c.yaml:3: train: given twice; first in line 1"}},
        {"seed: 1\nseed: 2\n", {"c.yaml:2: seed: given twice; first in line 1"}},
        {"data: {categories: {a: [x], a: [y]}}\n", {"data.categories.a: given twice"}},
        {"noise: {action: 1, multiplier: 2}\n", {"noise.multiplier: excludes noise.action", "c.yaml:1"}},
        {"train: {local_steps: 1, local_epochs: 1}\n", {"train.local_epochs: excludes train.local_steps"}},
        {"data: {missing: {rows: drop, impute: mean}}\n",
            {"data.missing.impute: excludes data.missing.rows"}},
        {"game: {preferences: {min: 1, file: b.csv}}\n", {"excludes game.preferences.min"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        refuse_text(rows[i].text, strlen(rows[i].text));
        for (int k = 0; k < 4 && rows[i].parts[k]; k++) MESSAGE_HOLDS(rows[i].parts[k]);
        MESSAGE_HOLDS("c.yaml");
    }
}

static void test_what_is_no_plain_mapping_is_refused(void **state) {
    (void)state;
    const struct {
        const char *text, *part;
    } rows[] = {
        {"", "c.yaml:1: is empty"},
        {"# only a comment\n", "is empty"},
        {"---\n", "not a mapping of keys"},
        {"hello\n", "c.yaml:1: not a mapping of keys"},
        {"- a\n- b\n", "not a mapping of keys"},
        {"train:\n\trounds: 5\n", "this is a tab, indent with blanks"},
        {"train: {rounds: 5\n", "c.yaml:"},
        {"name: a\n---\nname: b\n", "c.yaml:2: a second document"},
        {"a: &x [1]\nb: *x\n", "c.yaml:1: anchors and aliases"},
        {"name: *x\n", "anchors and aliases"},
        {"name: !!str 5\n", "tags (!) are not accepted"},
        {"? [a]\n: b\n", "a key must be a name"},
        {"name: \"a\\0b\"\n", "zero byte"},
        {"name: \xff\n", "c.yaml"},
        {"<<: {seed: 1}\n", "unknown key"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        refuse_text(rows[i].text, strlen(rows[i].text));
        MESSAGE_HOLDS(rows[i].part);
    }
}

static void test_bombs_are_refused_at_once(void **state) {
    (void)state;
    const char *laughs = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nname: [*c, *c]\n";
    refuse_text(laughs, strlen(laughs));
    MESSAGE_HOLDS("anchors and aliases");
    enum { BIG = (1 << 20) + 1 };
    char *text = malloc(BIG);
    assert_non_null(text);
    memset(text, '[', BIG);
    refuse_text(text, BIG - 1);
    MESSAGE_HOLDS("nested too deeply");
    refuse_text(text, BIG);
    MESSAGE_HOLDS("larger than the limit");
    size_t used = (size_t)sprintf(text, "data:\n  categories:\n");
    for (int i = 0; i < 5000; i++) used += (size_t)sprintf(text + used, "    c%d: [a]\n", i);
    refuse_text(text, used);
    MESSAGE_HOLDS("too many keys");
    used = (size_t)sprintf(text, "data:\n  categories:\n    ");
    memset(text + used, 'k', 900);
    strcpy(text + used + 900, ": [a]\n");
    refuse_text(text, strlen(text));
    MESSAGE_HOLDS("too long");
    free(text);
}

static void test_files_that_cannot_be_read_are_named(void **state) {
    (void)state;
    mfpg_config *config = NULL;
    assert_int_equal(mfpg_config_load(ctx, "/nonexistent/c.yaml", &config), MFPG_ERR_INPUT);
    MESSAGE_HOLDS("/nonexistent/c.yaml", "No such file");
    assert_int_equal(mfpg_config_load(ctx, "/tmp", &config), MFPG_ERR_INPUT);
    MESSAGE_HOLDS("/tmp", "is not a file");
    assert_null(config);
}

/* ---- overriding ---- */

static void test_arguments_override_and_replace(void **state) {
    (void)state;
    mfpg_config *config =
        load("method: {mechanism: gaussian, players: mean-field}\n"
             "noise: {action: 3}\ntrain: {batch: {rate: 0.5}}\ndata: {scale: {bounds: b.csv}}\n");
    ptrdiff_t count;
    assert_string_equal(config->method.name, "gaussian+mean-field");
    set(config, "method=none");
    assert_false(mfpg_config_has(config, "method.mechanism"));
    assert_string_equal(config->method.name, "none");
    set(config, "method={mechanism: entropic, players: none}");
    assert_false(mfpg_config_has(config, "method"));
    assert_string_equal(config->method.name, "mfep");
    set(config, "noise.multiplier=4.8");
    assert_false(mfpg_config_has(config, "noise.action"));
    set(config, "noise={target_epsilon: 2, law: game}");
    assert_false(mfpg_config_has(config, "noise.multiplier"));
    set(config, "train.batch.size=20");
    assert_false(mfpg_config_has(config, "train.batch.rate"));
    set(config, "train.batch=full");
    assert_false(mfpg_config_has(config, "train.batch.size"));
    set(config, "data.scale=from-data");
    assert_false(mfpg_config_has(config, "data.scale.bounds"));
    set(config, "game.actions.min=0.1");
    assert_false(mfpg_config_has(config, "game.actions"));
    set(config, "game.actions.max=2");
    assert_true(mfpg_config_number(config, "game.actions.min") == 0.1);
    set(config, "game.actions=[1, 2]");
    assert_false(mfpg_config_has(config, "game.actions.min"));
    set(config, "game.actions={min: 0.5, max: 1}");
    set(config, "game.actions=continuous");
    assert_true(mfpg_config_is(config, "game.actions", "continuous"));
    set(config, "game.preferences={file: b.csv, column: beta}");
    assert_false(mfpg_config_has(config, "game.preferences.min"));
    set(config, "data.files=[a.csv, b.csv]");
    count = config->all.data.file_count;
    assert_int_equal(count, 2);
    set(config, "data.files=one.csv");
    count = config->all.data.file_count;
    assert_int_equal(count, 1);
    set(config, "privacy.stop_at_epsilon=3");
    set(config, "privacy.stop_at_epsilon=none");
    assert_true(mfpg_config_is(config, "privacy.stop_at_epsilon", "none"));
    set(config, "data.categories.sex=[f, m]");
    set(config, "data.categories.sex=[f, m, x]");
    assert_int_equal(config->categories, 1);
    assert_int_equal(config->category[0].value.count, 3);
    set(config, "data.label.positive=>50K"); /* as it stands, though YAML would read a block */
    assert_string_equal(mfpg_config_text(config, "data.label.positive"), ">50K");
    set(config, "data.separator=\"\\t\"");
    assert_string_equal(mfpg_config_text(config, "data.separator"), "\t");
    assert_string_equal(mfpg_config_source(config, "data.files"), "argument 'data.files=one.csv'");
    mfpg_config_destroy(config);
}

static void test_wrong_arguments_change_nothing(void **state) {
    (void)state;
    mfpg_config *config = load("train: {rounds: 7}\ngame: {actions: [1, 2]}\n");
    char *before = written(config);
    const struct {
        const char *argument, *part;
    } rows[] = {
        {"train.rounds=abc", "argument 'train.rounds=abc': train.rounds: found 'abc'"},
        {"train.rounds=", "found nothing"},
        {"train.rounds", "must be KEY=VALUE"},
        {"=5", "must be KEY=VALUE"},
        {"train.ruonds=5", "did you mean train.rounds?"},
        {"train=5", "must be a mapping"},
        {"train={rounds: 8, local_steps: x}", "train.local_steps: found 'x'"},
        {"train={rounds: 8, rounds: 9}", "given twice"},
        {"game.actions=[1, 2", "argument 'game.actions=[1, 2'"},
        {"game.actions={min: 1, top: 2}", "game.actions.top: unknown key"},
        {"train.rounds={}", "train.rounds: found a mapping"},
        {"train={rounds: *a}", "anchors and aliases"},
        {"train.rounds=[5] x", "argument"},
        {"name=\xc3", "not UTF-8"},
        {"name=\xed\xa0\x80", "not UTF-8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(mfpg_config_set(ctx, config, rows[i].argument), MFPG_ERR_INPUT);
        MESSAGE_HOLDS(rows[i].part);
        char *after = written(config);
        assert_string_equal(before, after);
        free(after);
    }
    free(before);
    mfpg_config_destroy(config);
}

static void test_seed_ranges_are_recognised(void **state) {
    (void)state;
    int sweep = 7;
    int64_t first = 0, last = 0;
    CHECK_OK(ctx, mfpg_config_sweep(ctx, "seed=1..10", &sweep, &first, &last));
    assert_true(sweep && first == 1 && last == 10);
    CHECK_OK(ctx, mfpg_config_sweep(ctx, "seed=3..3", &sweep, &first, &last));
    assert_true(sweep && first == 3 && last == 3);
    const char *others[] = {"seed=5", "train.rounds=1..5", "seed=none", "name=a..b"};
    for (int i = 0; i < 4; i++) {
        CHECK_OK(ctx, mfpg_config_sweep(ctx, others[i], &sweep, &first, &last));
        assert_false(sweep);
    }
    const char *wrong[] = {
        "seed=10..1", "seed=a..b", "seed=1..", "seed=..2", "seed=-1..2", "seed=1.5..2", "seed=1...3"};
    for (int i = 0; i < 7; i++) {
        assert_int_equal(mfpg_config_sweep(ctx, wrong[i], &sweep, &first, &last), MFPG_ERR_INPUT);
        MESSAGE_HOLDS(wrong[i], "seed=A..B");
    }
    CHECK_OK(ctx, mfpg_config_sweep(ctx, "seed=7..1000006", &sweep, &first, &last));
    assert_true(sweep && last - first == 999999);
    assert_int_equal(mfpg_config_sweep(ctx, "seed=7..1000007", &sweep, &first, &last), MFPG_ERR_INPUT);
    MESSAGE_HOLDS("seed=7..1000007", "1000001 seeds", "at most 1e+06");
    assert_false(sweep);
    const char *all = "seed=0..9007199254740991";
    assert_int_equal(mfpg_config_sweep(ctx, all, &sweep, &first, &last), MFPG_ERR_INPUT);
    MESSAGE_HOLDS(all, "9007199254740992 seeds");
}

/* ---- methods ---- */

static void test_methods_are_named_by_their_axes(void **state) {
    (void)state;
    const struct {
        const char *argument, *name, *mechanism;
        mfpg_players players;
        const char *accountant, *cost;
    } rows[] = {
        {"method=dp-sgd", "dp-sgd", "gaussian", MFPG_PLAYERS_NONE, "paper_rdp", "gaussian"},
        {"method=mfpg", "mfpg", "entropic", MFPG_PLAYERS_MEAN_FIELD, "paper_lsi", "entropic"},
        {"method=none", "none", "none", MFPG_PLAYERS_NONE, NULL, "none"},
        {"method={mechanism: gaussian, players: finite}", "mapg-dp", "gaussian", MFPG_PLAYERS_FINITE,
            "paper_rdp", "gaussian"},
        {"method={mechanism: entropic, players: none}", "mfep", "entropic", MFPG_PLAYERS_NONE, "paper_lsi",
            "entropic"},
        {"method={mechanism: entropic, players: finite}", "entropic+finite", "entropic", MFPG_PLAYERS_FINITE,
            "paper_lsi", "entropic"},
    };
    mfpg_config *config = NULL;
    CHECK_OK(ctx, mfpg_config_create(ctx, &config));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set(config, rows[i].argument);
        mfpg_config *copy = NULL;
        CHECK_OK(ctx, mfpg_config_copy(ctx, config, &copy));
        mfpg_method method = copy->method;
        assert_string_equal(method.name, rows[i].name);
        assert_string_equal(method.mechanism, rows[i].mechanism);
        assert_int_equal(method.players, rows[i].players);
        if (rows[i].accountant)
            assert_string_equal(method.paper_accountant, rows[i].accountant);
        else
            assert_null(method.paper_accountant);
        assert_string_equal(copy->all.game.cost, rows[i].cost);
        mfpg_config_destroy(copy);
    }
    mfpg_config_destroy(config);
}

static void test_every_method_names_built_in_parts(void **state) {
    (void)state;
    for (ptrdiff_t i = 0; i < mfpg_methods.count; i++) {
        const mfpg_method *method = mfpg_methods.kind[i];
        assert_non_null(mfpg_kind_find(&mfpg_mechanisms, method->mechanism));
        if (method->paper_accountant)
            assert_non_null(mfpg_kind_find(&mfpg_accountants, method->paper_accountant));
        assert_true(method->help[0]);
    }
    assert_null(mfpg_kind_name(&mfpg_methods, -1));
}

/* ---- rules that span keys ---- */

#define MADE_UP "data: {format: synthetic}\n"

static void test_rules_across_keys_name_the_key_at_fault(void **state) {
    (void)state;
    const struct {
        const char *text;
        const char *parts[3];
    } rows[] = {
        {"seed: 1\n", {"c.yaml: data.files: nothing given"}},
        {"data: {files: [a.csv], partition: {kind: column}}\n", {"data.partition.column: nothing given"}},
        {"data: {files: [a.csv], partition: {kind: iid}}\n",
            {"data.partition.clients: nothing given", "kind iid"}},
        {MADE_UP "train: {learning_rate: 0.1}\n",
            {"c.yaml:2: train.learning_rate: is not used by method mfpg", "entropic.step"}},
        {MADE_UP "method: dp-sgd\nentropic: {step: 0.1}\n",
            {"c.yaml:3: entropic.step: is not used by method dp-sgd"}},
        {MADE_UP "method: none\nentropic: {step: 0.1}\n", {"entropic.step: is not used by method none"}},
        {MADE_UP "method: {mechanism: gaussian}\n", {"c.yaml: method.players: nothing given"}},
        {MADE_UP "method: {mechanism: none, players: finite}\n",
            {"method.players: found 'finite'", "allowed"}},
        {MADE_UP "game: {actions: {min: 1}}\n", {"game.actions.max: nothing given"}},
        {MADE_UP "game: {actions: {min: 2, max: 1}}\n", {"game.actions.max: found 1, which is below min 2"}},
        {MADE_UP "game: {preferences: {min: 3}}\n",
            {"game.preferences.max: found 1.5, which is below min 3"}},
        {MADE_UP "game: {preferences: {file: b.csv}}\n", {"game.preferences.column: nothing given"}},
        {MADE_UP "privacy: {unit: example, clip_at: update}\n", {"privacy.clip_at: found 'update'"}},
        {MADE_UP "train: {clients_per_round: 2, client_rate: 0.5}\n", {"train.client_rate: found 0.5"}},
        {MADE_UP "game: {cost: gaussian}\n", {"game.cost: found 'gaussian', whose actions are budgets"}},
        {MADE_UP "method: mapg-dp\ngame: {cost: paper}\n",
            {"game.cost: found 'paper', whose actions are strengths"}},
        {MADE_UP "game: {personalisation: 0}\n", {"game.personalisation: found 0", "game.own_cost"}},
        {MADE_UP "method: {mechanism: entropic, players: finite}\n",
            {"train.weights: found 'examples'", "equal"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mfpg_config *config = load(rows[i].text);
        if (mfpg_config_check(ctx, config) != MFPG_ERR_INPUT) fail_msg("not refused: %s", rows[i].text);
        for (int k = 0; k < 3 && rows[i].parts[k]; k++) MESSAGE_HOLDS(rows[i].parts[k]);
        mfpg_config_destroy(config);
    }
}

static char last_warning[1024];

static void keep_warning(void *user, const char *text) {
    (void)user;
    snprintf(last_warning, sizeof last_warning, "%s", text);
}

static void test_sound_configurations_pass_and_vain_keys_are_warned_of(void **state) {
    (void)state;
    const char *good[] = {MADE_UP, MADE_UP "method: dp-sgd\ntrain: {learning_rate: 0.1}\n",
        MADE_UP "entropic: {step: 0.2}\n", MADE_UP "game: {personalisation: 0, own_cost: 0.1}\n",
        MADE_UP "method: {mechanism: entropic, players: finite}\ntrain: {weights: equal}\n",
        MADE_UP "method: mapg-dp\ngame: {personalisation: 0}\n", MADE_UP "game: {cost: paper}\n",
        "data: {files: [a.csv], partition: {kind: dirichlet, clients: 3}}\n"};
    mfpg_context_options options = {.threads = 1, .warn = keep_warning};
    mfpg_context *own = NULL;
    assert_int_equal(mfpg_context_create(&options, &own), MFPG_OK);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        mfpg_config *config = load(good[i]);
        last_warning[0] = 0;
        CHECK_OK(own, mfpg_config_check(own, config));
        assert_string_equal(last_warning, "");
        mfpg_config_destroy(config);
    }
    mfpg_config *config = load(MADE_UP "method: dp-sgd\ngame: {curvature: 3}\nnoise: {action: 2}\n");
    CHECK_OK(own, mfpg_config_check(own, config));
    assert_non_null(strstr(last_warning, "game.curvature"));
    assert_null(strstr(last_warning, "noise.action"));
    mfpg_config_destroy(config);
    config = load(
        MADE_UP "method: dp-sgd\ngame: {actions: [0.1, 0.3, 0.5, 1, 2], cost: auto}\npaper: {clamp: true}\n");
    last_warning[0] = 0;
    CHECK_OK(own, mfpg_config_check(own, config));
    assert_string_equal(last_warning, ""); /* these are the defaults */
    set(config, "game.actions=[0.1, 0.3, 0.5, 1]");
    set(config, "paper.clamp=false");
    set(config, "data.drop_columns=[a]");
    CHECK_OK(own, mfpg_config_check(own, config));
    assert_string_equal(last_warning, "given, but of no effect in this run (method dp-sgd): "
                                      "data.drop_columns, game.actions, paper.clamp");
    mfpg_config_destroy(config);
    mfpg_context_destroy(own);
}

/* ---- files and examples ---- */

static void test_paths_are_relative_to_where_they_were_written(void **state) {
    (void)state;
    char path[256], expected[256];
    const char *folder = temporary_folder();
    snprintf(path, sizeof path, "%s/heart study.yaml", folder);
    write_file(path, "data: {files: [a.csv], scale: {bounds: bounds.csv}}\n");
    mfpg_config *config = NULL;
    CHECK_OK(ctx, mfpg_config_load(ctx, path, &config));
    assert_string_equal(mfpg_config_text(config, "name"), "heart study");
    assert_false(mfpg_config_given(config, "name"));
    assert_string_equal(mfpg_config_text(config, "data.dir"), folder);
    snprintf(expected, sizeof expected, "%s/bounds.csv", folder);
    assert_string_equal(mfpg_config_text(config, "data.scale.bounds"), expected);
    set(config, "data.dir=uci"); /* an argument is relative to the working folder */
    assert_string_equal(mfpg_config_text(config, "data.dir"), "uci");
    set(config, "train.start=w.npy");
    assert_string_equal(mfpg_config_text(config, "train.start"), "w.npy");
    mfpg_config_destroy(config);
    remove(path);
    rmdir(folder);
}

static mfpg_status count_example(void *user, const char *name, const char *help, const char *path) {
    if (strcmp(name, "zeta-study") == 0) {
        assert_non_null(strstr(path, "/zeta-study.yaml"));
        ++*(int *)user;
        assert_string_equal(help, "A study of zeta");
    }
    return MFPG_OK;
}

static void test_examples_are_found_by_name(void **state) {
    (void)state;
    char path[256];
    int seen = 0;
    const char *folder = temporary_folder();
    snprintf(path, sizeof path, "%s/zeta-study.yaml", folder);
    write_file(path, "# A study of zeta\ndata: {format: synthetic}\n");
    setenv("MFPG_EXAMPLES", folder, 1);
    CHECK_OK(ctx, mfpg_examples_list(ctx, count_example, &seen));
    assert_int_equal(seen, 1);
    mfpg_config *config = NULL;
    CHECK_OK(ctx, mfpg_config_open(ctx, "zeta-study", &config));
    assert_string_equal(mfpg_config_text(config, "name"), "zeta-study");
    mfpg_config_destroy(config);
    config = NULL;
    assert_int_equal(mfpg_config_open(ctx, "zeta-stdy", &config), MFPG_ERR_INPUT);
    MESSAGE_HOLDS("neither a file nor an example", "did you mean zeta-study?");
    assert_int_equal(mfpg_config_open(ctx, "nowhere.yaml", &config), MFPG_ERR_INPUT);
    MESSAGE_HOLDS("nowhere.yaml", "No such file");
    assert_null(config);
    unsetenv("MFPG_EXAMPLES");
    remove(path);
    rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_are_the_papers),
        cmocka_unit_test(test_every_form_of_value_is_read),
        cmocka_unit_test(test_words_stand_in_the_order_of_their_enums),
        cmocka_unit_test(test_wrong_files_are_refused_with_line_and_key),
        cmocka_unit_test(test_what_is_no_plain_mapping_is_refused),
        cmocka_unit_test(test_bombs_are_refused_at_once),
        cmocka_unit_test(test_files_that_cannot_be_read_are_named),
        cmocka_unit_test(test_arguments_override_and_replace),
        cmocka_unit_test(test_wrong_arguments_change_nothing),
        cmocka_unit_test(test_seed_ranges_are_recognised),
        cmocka_unit_test(test_methods_are_named_by_their_axes),
        cmocka_unit_test(test_every_method_names_built_in_parts),
        cmocka_unit_test(test_rules_across_keys_name_the_key_at_fault),
        cmocka_unit_test(test_sound_configurations_pass_and_vain_keys_are_warned_of),
        cmocka_unit_test(test_paths_are_relative_to_where_they_were_written),
        cmocka_unit_test(test_examples_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
