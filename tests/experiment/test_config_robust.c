/* Whatever bytes a configuration or an argument holds, it is loaded or refused with a message; and what is loaded can
 * be checked, written and loaded again. */
#include "fixture.h"
#include "experiment/config/settings.h"

static uint64_t state_of_generator;

static uint32_t draw(uint32_t bound) {
    state_of_generator = state_of_generator * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state_of_generator >> 33) % bound);
}

static const char seed_text[] =
    "name: hospitals\nseed: 42\nmethod: {mechanism: entropic, players: mean-field}\ntask: {model: logistic}\n"
    "data:\n  files: [a.csv, b.csv]\n  header: true\n  separator: \",\"\n  label: {column: num, "
    "positive_above: 0}\n"
    "  drop_columns: [slope, ca]\n  categories: {sex: [f, m]}\n  missing: {values: [\"?\"], rows: drop}\n"
    "  scale: {bounds: b.csv}\n  partition: {kind: iid, clients: 3}\n"
    "privacy: {unit: client, clip: 1.0, delta: 1.0e-5, stop_at_epsilon: none}\n"
    "noise: {multiplier: 4.8}\ntrain: {rounds: 20, batch: {rate: 0.5}, start: zero}\n"
    "game:\n  actions: {min: 0.1, max: 2}\n  preferences: {min: 0.5, max: 1.5}\n"
    "entropic: {step: 0.1, transport: {regularisation: 0, cap: none}}\nevaluate: test\n";

static size_t mutate(char *text, size_t length, size_t room) {
    static const char marks[] = "{}[]:,-#&*!|>'\"%@`?\n\t \\0\x01\xff\xc3\xe2\x80\xa8~.e+";
    for (uint32_t edits = 1 + draw(6); edits > 0; edits--) {
        size_t at = draw((uint32_t)length);
        switch (draw(5)) {
        case 0: text[at] = (char)draw(256); break;
        case 1: text[at] = marks[draw(sizeof marks - 1)]; break;
        case 2: /* leave out a stretch */
            if (length > 40) {
                size_t cut = 1 + draw(16);
                if (at + cut > length) cut = length - at;
                memmove(text + at, text + at + cut, length - at - cut);
                length -= cut;
            }
            break;
        case 3: /* repeat a stretch */
            if (length + 40 < room) {
                size_t more = 1 + draw(40), from = draw((uint32_t)length);
                char piece[40];
                if (from + more > length) more = length - from;
                memcpy(piece, text + from, more);
                memmove(text + at + more, text + at, length - at);
                memcpy(text + at, piece, more);
                length += more;
            }
            break;
        default: text[at] = text[draw((uint32_t)length)]; break;
        }
    }
    return length;
}

/* Loads, and if that succeeds goes the whole way. Returns 1 where the text was accepted. */
static int exercise(const char *text, size_t length) {
    mfpg_config *config = NULL;
    mfpg_status status = mfpg_config_load_text(ctx, text, length, "fuzz.yaml", "/data", &config);
    if (status != MFPG_OK) {
        assert_int_equal(status, MFPG_ERR_INPUT);
        assert_null(config);
        assert_true(mfpg_context_message(ctx)[0] != 0);
        return 0;
    }
    status = mfpg_config_check(ctx, config);
    assert_true(status == MFPG_OK || status == MFPG_ERR_INPUT);
    char *first = written(config);
    mfpg_config *again = load(first);
    mfpg_status second = mfpg_config_check(ctx, again);
    assert_true(status != MFPG_OK || second == MFPG_OK);
    mfpg_config_destroy(again);
    mfpg_config_destroy(config);
    free(first);
    return 1;
}

static void test_mutated_files_never_crash(void **state) {
    (void)state;
    enum { ROOM = 4096 };
    state_of_generator = testing_seed();
    print_message("seed %llu\n", (unsigned long long)state_of_generator);
    int accepted = 0, repeats = testing_repeats(1500);
    assert_true(exercise(seed_text, sizeof seed_text - 1));
    for (int i = 0; i < repeats; i++) {
        char text[ROOM];
        memcpy(text, seed_text, sizeof seed_text);
        size_t length = mutate(text, sizeof seed_text - 1, ROOM);
        char *exact = malloc(length ? length : 1); /* so that the sanitizer sees a read past the end */
        assert_non_null(exact);
        memcpy(exact, text, length);
        accepted += exercise(exact, length);
        free(exact);
    }
    assert_true(accepted > 0 && accepted < repeats); /* both ways were walked */
}

static void test_random_bytes_never_crash(void **state) {
    (void)state;
    state_of_generator = testing_seed() + 1;
    print_message("seed %llu\n", (unsigned long long)state_of_generator);
    for (int i = 0; i < testing_repeats(1000); i++) {
        char text[64];
        size_t length = draw(64);
        for (size_t k = 0; k < length; k++) text[k] = (char)draw(draw(2) ? 256 : 128);
        exercise(text, length);
    }
}

static void test_mutated_arguments_never_crash(void **state) {
    (void)state;
    static const char *const arguments[] = {"train.rounds=50", "game.actions={min: 0.1, max: 2}",
        "data.files=[a.csv, \"b c.csv\"]", "data.categories.sex=[f, m]",
        "method={mechanism: gaussian, players: none}", "privacy.stop_at_epsilon=none", "name=\"x y\"",
        "data.label.positive='>50K'", "seed=1..10"};
    state_of_generator = testing_seed() + 2;
    print_message("seed %llu\n", (unsigned long long)state_of_generator);
    mfpg_config *config = load(seed_text);
    for (int i = 0; i < testing_repeats(2000); i++) {
        char text[256];
        int sweep;
        int64_t first, last;
        strcpy(text, arguments[draw(sizeof arguments / sizeof arguments[0])]);
        size_t length = mutate(text, strlen(text), sizeof text - 1);
        text[length] = 0;
        mfpg_status status = mfpg_config_set(ctx, config, text);
        assert_true(status == MFPG_OK || status == MFPG_ERR_INPUT);
        status = mfpg_config_sweep(ctx, text, &sweep, &first, &last);
        assert_true(status == MFPG_OK || status == MFPG_ERR_INPUT);
    }
    char *text = written(config);
    mfpg_config *again = load(text);
    mfpg_config_destroy(again);
    free(text);
    mfpg_config_destroy(config);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mutated_files_never_crash),
        cmocka_unit_test(test_random_bytes_never_crash),
        cmocka_unit_test(test_mutated_arguments_never_crash),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
