#define TESTED_UNIT MFPG_UNIT_EXAMPLE
#include "accountants/accounting.h"
#include "accountants/ledger_fixture.h"

#include "ledger_text.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const mfpg_ledger_header header = {.clients = 8,
    .promise = {MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_REPLACE, MFPG_VIEW_AVERAGE},
    .delta = 1e-5,
    .seeded = 1};

/* The same with every line sealed, for lines written by hand. */
static void write_sealed(const char *text) {
    size_t length = strlen(text);
    char *sealed = ledger_sealed(text, &length);
    assert_non_null(sealed);
    write_file(sealed, length);
    free(sealed);
}

static mfpg_ledger *create(mfpg_context *ctx) {
    mfpg_ledger *ledger = NULL;
    CHECK_OK(ctx, mfpg_ledger_create(ctx, path, &header, &ledger));
    return ledger;
}

/* What a reading saw. */
typedef struct reading {
    int lines;
    int64_t first[64], last[64];
    mfpg_release release[64];
} reading;

static mfpg_status note(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    reading *seen = user;
    assert_true(seen->lines < 64);
    seen->release[seen->lines] = *release;
    seen->first[seen->lines] = first;
    seen->last[seen->lines++] = last;
    return MFPG_OK;
}

static void assert_same_release(const mfpg_release *a, const mfpg_release *b) {
    assert_true(a->round == b->round && a->client == b->client && a->steps == b->steps);
    assert_true(a->sensitivity == b->sensitivity && a->noise_sd == b->noise_sd && a->last_sd == b->last_sd);
    assert_true(a->unit == b->unit && a->clipped == b->clipped);
    assert_true(a->rounding == b->rounding && a->grid == b->grid);
    assert_true(a->weight == b->weight && a->sampling_rate == b->sampling_rate);
    assert_int_equal(a->action.control, b->action.control);
    assert_true(a->action.budget.value == b->action.budget.value);
    assert_true(a->action.strength.value == b->action.strength.value);
    assert_true(a->action.multiplier == b->action.multiplier);
}

/* One round of all eight clients: 0-2 equal, 3 alone, 4 and 5 equal, 6 absent, 7 as 4. */
static ptrdiff_t some_round(int64_t round, mfpg_release out[8]) {
    const int group[] = {0, 0, 0, 1, 2, 2, -1, 2};
    ptrdiff_t count = 0;
    for (int k = 0; k < 8; k++) {
        if (group[k] < 0) continue;
        mfpg_release release = entropic_release(0.1 / 3, 0.7 + 0.1 * group[k] + (double)round / 3, 1.0 / 7);
        release.round = round;
        release.client = k;
        release.weight = 0.125;
        out[count++] = release;
    }
    return count;
}

static void test_everything_reads_back_to_the_last_bit(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger *ledger = create(ctx);
    const double values[] = {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 3e-300};
    mfpg_release written[24];
    for (int i = 0; i < 24; i++) {
        mfpg_release *release = &written[i];
        *release = release_of(values[i % 6], values[(i + 1) % 6]);
        release->last_sd = values[(i + 2) % 6];
        release->round = i;
        release->client = i % 8;
        release->steps = 1 + ((int64_t)1 << (2 * i));
        release->weight = i / 23.0;
        release->sampling_rate = 1 - i / 24.0;
        release->clipped = i % 2 ? MFPG_CLIPPED_EXAMPLES : MFPG_CLIPPED_MEASUREMENTS;
        release->rounding = values[(i + 3) % 6];
        release->grid = i % 6 == 0 ? 0x1p-41 : i % 6 == 2 ? 0x1p980 : 0; /* the others have none */
        release->action.control = (mfpg_control)(i % 4);
        double value = values[i % 6];
        if (i % 4 == MFPG_CONTROL_BUDGET) release->action.budget.value = value;
        if (i % 4 == MFPG_CONTROL_STRENGTH) release->action.strength.value = value;
        if (i % 4 == MFPG_CONTROL_MULTIPLIER) release->action.multiplier = value;
        CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, release, 1));
    }
    mfpg_ledger_close(ledger);
    reading seen = {0};
    mfpg_ledger_header read;
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, &read, note, &seen, NULL));
    assert_int_equal(seen.lines, 24);
    for (int i = 0; i < 24; i++) {
        assert_same_release(&seen.release[i], &written[i]);
        assert_true(seen.first[i] == i % 8 && seen.last[i] == i % 8);
    }
    assert_true(read.clients == 8 && read.delta == 1e-5 && read.seeded == 1);
    assert_int_equal(read.promise.unit, MFPG_UNIT_EXAMPLE);
    assert_int_equal(read.promise.adjacency, MFPG_ADJACENCY_REPLACE);
    assert_int_equal(read.promise.view, MFPG_VIEW_AVERAGE);
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, NULL, NULL, NULL)); /* a check of the file alone */
    mfpg_context_destroy(ctx);
}

static void test_runs_of_equal_releases_share_a_line(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger *ledger = create(ctx);
    mfpg_release round[8];
    ptrdiff_t count = some_round(1, round);
    CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, round, count));
    CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, round, 0)); /* nobody took part */
    mfpg_ledger_close(ledger);
    reading seen = {0};
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, note, &seen, NULL));
    const int64_t first[] = {0, 3, 4, 7}, last[] = {2, 3, 5, 7};
    assert_int_equal(seen.lines, 4);
    for (int i = 0; i < 4; i++) assert_true(seen.first[i] == first[i] && seen.last[i] == last[i]);
    size_t length;
    char *text = file_text(&length);
    const char *line =
        "{\"round\":1,\"clients\":[0,2],\"particles\":\"parameters\",\"clipped\":\"examples\",\"steps\":1,"
        "\"sensitivity\":0.03333333333333333,\"rounding\":0,"
        "\"noise_sd\":1.0333333333333332,\"grid\":0,\"last_sd\":1.0333333333333332,\"weight\":0.125,"
        "\"sampling_rate\":1,\"action\":{\"strength\":0.14285714285714285},\"chain\":\"";
    assert_non_null(strstr(text, line));
    assert_ptr_equal(
        strstr(text, "{\"mfpg_ledger\":4,\"particles\":\"parameters\",\"clients\":8,\"unit\":"
                     "\"example\",\"adjacency\":\"replace\",\"view\":\"average\",\"delta\":"
                     "1e-05,\"stop_at_epsilon\":null,\"filter\":null,\"seeded\":true,\"chain\":\""),
        text);
    free(text);
    mfpg_context_destroy(ctx);
}

/* Neighbours that differ in one number, whichever, get lines of their own. */
static void test_releases_that_differ_anywhere_share_no_line(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (int field = 0; field < 11; field++) {
        mfpg_ledger *ledger = create(ctx);
        mfpg_release pair[2] = {entropic_release(0.5, 0.25, 1.0), entropic_release(0.5, 0.25, 1.0)};
        mfpg_release *other = &pair[1];
        other->client = 1;
        if (field == 0) other->steps = 2;
        if (field == 1) other->sensitivity = 0.125;
        if (field == 2) other->noise_sd = 0.125;
        if (field == 3) other->last_sd = 0.125;
        if (field == 4) other->weight = 0.125;
        if (field == 5) other->sampling_rate = 0.125;
        if (field == 6) other->action.strength.value = 0.125;
        if (field == 7) other->action = (mfpg_action){.control = MFPG_CONTROL_BUDGET, .budget = {1.0}};
        if (field == 8) other->clipped = MFPG_CLIPPED_MEASUREMENTS;
        if (field == 9) other->rounding = 0.125;
        if (field == 10) other->grid = 0x1p-8;
        CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, pair, 2));
        mfpg_ledger_close(ledger);
        reading seen = {0};
        CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, note, &seen, NULL));
        assert_int_equal(seen.lines, 2);
        assert_same_release(&seen.release[1], other);
        unlink(path);
    }
    mfpg_context_destroy(ctx);
}

/* More lines than the writer's buffer holds, each client with a release of its own. */
static void test_long_rounds_are_written_whole(void **state) {
    (void)state;
    enum { CLIENTS = 2000 };
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger_header large = header;
    large.clients = CLIENTS;
    mfpg_ledger *ledger = NULL;
    CHECK_OK(ctx, mfpg_ledger_create(ctx, path, &large, &ledger));
    mfpg_release *round = calloc(CLIENTS, sizeof *round);
    for (int k = 0; k < CLIENTS; k++) {
        round[k] = release_of(1.0, 1.0 + k);
        round[k].client = k;
    }
    CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, round, CLIENTS));
    mfpg_ledger_close(ledger);
    free(round);
    size_t length, lines = 0;
    char *text = file_text(&length);
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    assert_int_equal(lines, CLIENTS + 1);
    free(text);
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, NULL, NULL, NULL));
    mfpg_context_destroy(ctx);
}

static void test_an_existing_file_is_never_overwritten(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger_close(create(ctx));
    mfpg_ledger *second = NULL;
    assert_int_equal(mfpg_ledger_create(ctx, path, &header, &second), MFPG_ERR_IO);
    assert_non_null(strstr(mfpg_context_message(ctx), path));
    mfpg_ledger_header bad = header;
    bad.delta = NAN;
    unlink(path);
    assert_int_equal(mfpg_ledger_create(ctx, path, &bad, &second), MFPG_ERR_DOMAIN);
    assert_null(second);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(mfpg_ledger_create(ctx, "no/such/folder/ledger", &header, &second), MFPG_ERR_IO);
    mfpg_ledger_close(NULL);
    mfpg_context_destroy(ctx);
}

static void refuse(mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *round, ptrdiff_t count) {
    size_t before, after;
    free(file_text(&before));
    assert_int_equal(mfpg_ledger_append(ctx, ledger, round, count), MFPG_ERR_DOMAIN);
    free(file_text(&after));
    assert_int_equal(before, after);
}

static void test_faulty_rounds_are_refused_before_a_byte_is_written(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger *ledger = create(ctx);
    mfpg_release round[8], bad[8];
    ptrdiff_t count = some_round(5, round);
    CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, round, count));
    for (int fault = 0; fault < 9; fault++) {
        memcpy(bad, round, sizeof bad);
        mfpg_release *last = &bad[count - 1]; /* those before it are sound */
        if (fault == 0) last->noise_sd = NAN;
        if (fault == 1) last->sensitivity = -1.0;
        if (fault == 2) last->last_sd = HUGE_VAL;
        if (fault == 3) last->action.strength.value = NAN;
        if (fault == 4) last->client = 8; /* not in the header */
        if (fault == 5) last->client = bad[0].client;
        if (fault == 6) last->round = 6;
        if (fault == 7) last->steps = 0;
        if (fault == 8)
            for (ptrdiff_t i = 0; i < count; i++) bad[i].round = 4; /* an earlier round */
        refuse(ctx, ledger, bad, count);
    }
    CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, round, count)); /* refusing did no harm */
    mfpg_ledger_close(ledger);
    mfpg_context_destroy(ctx);
}

/* A ledger of three rounds as text. */
static char *three_rounds(mfpg_context *ctx, size_t *length) {
    mfpg_ledger *ledger = create(ctx);
    for (int64_t t = 1; t <= 3; t++) {
        mfpg_release round[8];
        ptrdiff_t count = some_round(t, round);
        CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, round, count));
    }
    mfpg_ledger_close(ledger);
    return file_text(length);
}

static void count_warning(void *user, const char *text) {
    assert_non_null(strstr(text, "unfinished"));
    ++*(int *)user;
}

/* Around line ends every byte, elsewhere one in `every`: files cost time. */
static int worth_a_cut(const char *text, size_t cut, size_t every) {
    return cut % every == 0 || text[cut] == '\n' || text[cut - 1] == '\n';
}

/* A crash can cut the file anywhere: what is complete counts, a rest is announced and ignored. */
static void test_a_file_cut_anywhere_yields_its_complete_lines(void **state) {
    (void)state;
    int warnings = 0;
    mfpg_context *ctx = NULL;
    mfpg_context_options options = {.threads = 1, .warn = count_warning, .warn_user = &warnings};
    assert_int_equal(mfpg_context_create(&options, &ctx), MFPG_OK);
    size_t length, header_length;
    char *text = three_rounds(ctx, &length);
    header_length = (size_t)(strchr(text, '\n') - text) + 1;
    for (size_t cut = 0; cut <= length; cut++) {
        if (cut > header_length && !worth_a_cut(text, cut, 7)) continue;
        int complete = 0, expected = cut > header_length && text[cut - 1] != '\n';
        for (size_t i = header_length; i < cut; i++) complete += text[i] == '\n';
        write_file(text, cut);
        reading seen = {0};
        warnings = 0;
        mfpg_status status = mfpg_ledger_read(ctx, path, NULL, note, &seen, NULL);
        assert_int_equal(status, cut < header_length ? MFPG_ERR_INPUT : MFPG_OK);
        if (status != MFPG_OK) continue;
        assert_int_equal(seen.lines, complete);
        assert_int_equal(warnings, expected);
    }
    free(text);
    mfpg_context_destroy(ctx);
}

/* ... and the run that goes on writes the same bytes as one that was never interrupted. */
static void test_a_resumed_run_repeats_into_the_same_bytes(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    size_t length;
    char *text = three_rounds(ctx, &length);
    const char *second = strstr(text, "{\"round\":2"), *third = strstr(text, "{\"round\":3");
    for (size_t cut = (size_t)(second - text); cut <= length; cut++) {
        if (!worth_a_cut(text, cut, 83)) continue;
        for (int64_t next = 2; next <= 3; next++) { /* the checkpoint: before round 2 or before round 3 */
            if (next == 3 && cut < (size_t)(third - text)) continue;
            mfpg_ledger *ledger = NULL;
            write_file(text, cut);
            CHECK_OK(ctx, mfpg_ledger_resume(ctx, path, &header, next, &ledger));
            for (int64_t t = next; t <= 3; t++) {
                mfpg_release round[8];
                ptrdiff_t count = some_round(t, round);
                CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, round, count));
            }
            mfpg_ledger_close(ledger);
            size_t again;
            char *repeated = file_text(&again);
            assert_int_equal(again, length);
            assert_memory_equal(repeated, text, length);
            free(repeated);
        }
    }
    free(text);
    mfpg_context_destroy(ctx);
}

static void test_resuming_another_run_is_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    size_t length, after;
    char *text = three_rounds(ctx, &length);
    mfpg_ledger *ledger = NULL;
    mfpg_ledger_header other = header;
    other.seeded = 0;
    assert_int_equal(mfpg_ledger_resume(ctx, path, &other, 2, &ledger), MFPG_ERR_INPUT);
    assert_int_equal(mfpg_ledger_resume(ctx, "no such ledger", &header, 2, &ledger), MFPG_ERR_IO);
    assert_null(ledger);
    CHECK_OK(ctx, mfpg_ledger_resume(ctx, path, &header, 2, &ledger));
    mfpg_ledger *twice = NULL; /* one writer at a time */
    assert_int_equal(mfpg_ledger_resume(ctx, path, &header, 2, &twice), MFPG_ERR_INPUT);
    mfpg_release round[8];
    ptrdiff_t count = some_round(2, round);
    round[0].noise_sd *= 2; /* not what was released before the interruption */
    assert_int_equal(mfpg_ledger_append(ctx, ledger, round, count), MFPG_ERR_INPUT);
    assert_int_equal(mfpg_ledger_append(ctx, ledger, round, count), MFPG_ERR_IO); /* nothing may follow */
    mfpg_ledger_close(ledger);
    char *unchanged = file_text(&after);
    assert_int_equal(after, length);
    assert_memory_equal(unchanged, text, length);
    free(unchanged);
    free(text);
    mfpg_context_destroy(ctx);
}

/* A disk that is full in the middle of a line: an error, no further lines, and a file that can be resumed. */
static void test_a_write_that_fails_is_reported_and_final(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger *ledger = create(ctx);
    mfpg_release round[8];
    ptrdiff_t count = some_round(1, round);
    struct rlimit old, small = {.rlim_cur = 300, .rlim_max = RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    mfpg_status status = mfpg_ledger_append(ctx, ledger, round, count);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, MFPG_ERR_IO);
    assert_int_equal(mfpg_ledger_append(ctx, ledger, round, count), MFPG_ERR_IO);
    mfpg_ledger_close(ledger);
    CHECK_OK(ctx, mfpg_ledger_resume(ctx, path, &header, 1, &ledger));
    CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, round, count));
    mfpg_ledger_close(ledger);
    reading seen = {0};
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, note, &seen, NULL));
    assert_int_equal(seen.lines, 4);
    mfpg_context_destroy(ctx);
}

#define HEADER                                                                                               \
    "{\"mfpg_ledger\":3,\"particles\":\"parameters\",\"clients\":8,\"unit\":\"client\",\"adjacency\":"       \
    "\"zero-out\",\"view\":\"local\","                                                                       \
    "\"delta\":1e-05,\"seeded\":false}\n"
#define LINE(round, clients, noise, action)                                                                  \
    "{\"round\":" round ",\"clients\":" clients                                                              \
    ",\"particles\":\"parameters\",\"steps\":1,\"sensitivity\":1,\"noise_sd\":" noise                        \
    ",\"last_sd\":2,\"weight\":0.5,\"sampling_rate\":1,\"action\":" action "}\n"
#define GOOD LINE("3", "[0,7]", "2", "null")

static void test_lines_that_are_none_are_refused_with_their_number(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const struct {
        const char *text;
        int line;
    } bad[] = {
        {"", 1},
        {"\n", 1},
        {"round,loss\n", 1},
        {GOOD, 1}, /* no header */
        {"{\"mfpg_ledger\":2}\n", 1},
        {"{\"mfpg_ledger\":5}\n", 1},
        {"{\"mfpg_ledger\":3,\"particles\":\"parameters\",\"clients\":8,\"unit\":\"user\"}\n", 1},
        {"[1,2]\n", 1},
        {HEADER HEADER, 2},
        {HEADER "\n", 2},
        {HEADER "{}\n", 2},
        {HEADER GOOD LINE("3", "[0,7]", "NaN", "null"), 3},
        {HEADER GOOD LINE("3", "[0,7]", "-1", "null"), 3},
        {HEADER GOOD LINE("3", "[0,7]", "1e999", "null"), 3},
        {HEADER GOOD LINE("3", "[0,7]", "\"2\"", "null"), 3},
        {HEADER GOOD LINE("2", "[0,7]", "2", "null"), 3}, /* an earlier round */
        {HEADER GOOD LINE("3.5", "[0,7]", "2", "null"), 3},
        {HEADER GOOD LINE("-1", "[0,7]", "2", "null"), 3},
        {HEADER GOOD LINE("99999999999999999999", "[0,7]", "2", "null"), 3},
        {HEADER GOOD LINE("3", "[0,8]", "2", "null"), 3},
        {HEADER GOOD LINE("3", "[4,3]", "2", "null"), 3},
        {HEADER GOOD LINE("3", "[0]", "2", "null"), 3},
        {HEADER GOOD LINE("3", "5", "2", "null"), 3},
        {HEADER GOOD LINE("3", "[0,7]", "2", "{}"), 3},
        {HEADER GOOD LINE("3", "[0,7]", "2", "1"), 3},
        {HEADER GOOD LINE("3", "[0,7]", "2", "{\"budget\":-1}"), 3},
        {HEADER GOOD LINE("3", "[0,7]", "2", "{\"budged\":1}"), 3},
        {HEADER GOOD LINE("3", "[0,7]", "2", "{\"budget\":1,\"strength\":1}"), 3},
        {HEADER GOOD LINE("3", "[0,7]", "2,\"noise_sd\":2", "null"), 3}, /* a key twice */
        {HEADER GOOD "{\"round\":4} {}\n", 3},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char place[80];
        snprintf(place, sizeof place, "%s:%d: ", path, bad[i].line);
        write_sealed(bad[i].text);
        mfpg_status status = mfpg_ledger_read(ctx, path, NULL, NULL, NULL, NULL);
        if (status != MFPG_ERR_INPUT || strncmp(mfpg_context_message(ctx), place, strlen(place)) != 0) {
            print_error("case %zu: %s, '%s'\n", i, mfpg_status_text(status), mfpg_context_message(ctx));
            fail();
        }
    }
    assert_int_equal(mfpg_ledger_read(ctx, "no such ledger", NULL, NULL, NULL, NULL), MFPG_ERR_INPUT);
    assert_int_equal(mfpg_ledger_read(ctx, folder, NULL, NULL, NULL, NULL), MFPG_ERR_IO); /* a folder */
    mfpg_context_destroy(ctx);
}

static void test_a_line_of_any_length_is_refused_without_being_kept(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    size_t head = strlen(HEADER), length = head + 100000;
    char *text = malloc(length);
    memcpy(text, HEADER, head);
    memset(text + head, ' ', length - head);
    char *sealed = ledger_sealed(text, &length);
    write_file(sealed, length);
    free(sealed);
    assert_int_equal(mfpg_ledger_read(ctx, path, NULL, NULL, NULL, NULL), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), ":2: "));
    free(text);
    mfpg_context_destroy(ctx);
}

/* Keys that this version does not know change nothing: a later one may add some. */
static void test_unknown_keys_change_nothing(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    write_sealed(HEADER LINE("1", "[2,4]", "2", "{\"budget\":1},\"hint\":\"9f86d081\""));
    reading seen = {0};
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, note, &seen, NULL));
    assert_int_equal(seen.lines, 1);
    assert_true(seen.first[0] == 2 && seen.last[0] == 4 && seen.release[0].action.budget.value == 1.0);
    mfpg_context_destroy(ctx);
}

static mfpg_status stop(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    (void)release, (void)first, (void)last;
    return ++*(int *)user == 2 ? MFPG_ERR_INTERRUPTED : MFPG_OK;
}

static void test_a_visit_can_end_the_reading(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    size_t length;
    int visits = 0;
    free(three_rounds(ctx, &length));
    assert_int_equal(mfpg_ledger_read(ctx, path, NULL, stop, &visits, NULL), MFPG_ERR_INTERRUPTED);
    assert_int_equal(visits, 2);
    mfpg_context_destroy(ctx);
}

/* Bytes changed at random, and sealed so that the chain hides them, never crash the reader; what it still accepts holds no
 * faulty release. */
static mfpg_status check_visit(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    (void)user;
    assert_true(first >= 0 && first <= last && release->steps >= 1);
    assert_true(release->noise_sd >= 0 && release->noise_sd < HUGE_VAL && release->sensitivity >= 0);
    return MFPG_OK;
}

static void test_damaged_bytes_are_refused_or_harmless(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    mfpg_context *ctx = testing_context(1);
    size_t length;
    char *text = three_rounds(ctx, &length), *damaged = malloc(length);
    for (int i = 0; i < testing_repeats(500); i++) {
        memcpy(damaged, text, length);
        for (int hits = 1 + i % 3; hits > 0; hits--)
            damaged[(size_t)((double)length * random_unit(&random))] = (char)(256 * random_unit(&random));
        size_t size = length;
        char *sealed = ledger_sealed(damaged, &size);
        write_file(sealed, size);
        free(sealed);
        mfpg_status status = mfpg_ledger_read(ctx, path, NULL, check_visit, NULL, NULL);
        assert_true(status == MFPG_OK || status == MFPG_ERR_INPUT);
    }
    free(damaged);
    free(text);
    mfpg_context_destroy(ctx);
}

typedef struct replay {
    mfpg_context *ctx;
    mfpg_accountant **accountant;
} replay;

static mfpg_status record_range(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    replay *to = user;
    for (int64_t k = first; k <= last; k++)
        if (mfpg_accountant_record(to->ctx, to->accountant[k], release) != MFPG_OK) return MFPG_ERR_INPUT;
    return MFPG_OK;
}

/* What was accounted for during the run and what the ledger says afterwards is the same to the last bit. */
static void test_accounting_from_the_ledger_repeats_the_run(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    mfpg_context *ctx = testing_context(1);
    mfpg_accountant *live[8] = {NULL}, *later[8] = {NULL};
    mfpg_accountant_options options = mfpg_accountant_options_default();
    options.promise = header.promise;
    for (int k = 0; k < 8; k++) {
        CHECK_OK(ctx, mfpg_accountant_create(ctx, "gdp", &options, &live[k]));
        CHECK_OK(ctx, mfpg_accountant_create(ctx, "gdp", &options, &later[k]));
    }
    mfpg_ledger *ledger = create(ctx);
    for (int t = 0; t < 40; t++) {
        mfpg_release round[8];
        ptrdiff_t count = 0;
        double shared = random_scale(&random, 0.5, 20);
        for (int k = 0; k < 8; k++) {
            if (random_unit(&random) < 0.3) continue;
            round[count] =
                release_of(1.0 / 3, random_unit(&random) < 0.5 ? shared : 1 + 10 * random_unit(&random));
            round[count].round = t;
            round[count].client = k;
            CHECK_OK(ctx, mfpg_accountant_record(ctx, live[k], &round[count]));
            count++;
        }
        CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, round, count));
    }
    mfpg_ledger_close(ledger);
    replay to = {ctx, later};
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, record_range, &to, NULL));
    for (int k = 0; k < 8; k++) {
        assert_true(mfpg_accountant_mu(live[k]) > 0.0);
        assert_true(mfpg_accountant_mu(live[k]) == mfpg_accountant_mu(later[k]));
        mfpg_accountant_destroy(live[k]);
        mfpg_accountant_destroy(later[k]);
    }
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_everything_reads_back_to_the_last_bit, remove_file),
        cmocka_unit_test_teardown(test_runs_of_equal_releases_share_a_line, remove_file),
        cmocka_unit_test_teardown(test_releases_that_differ_anywhere_share_no_line, remove_file),
        cmocka_unit_test_teardown(test_long_rounds_are_written_whole, remove_file),
        cmocka_unit_test_teardown(test_an_existing_file_is_never_overwritten, remove_file),
        cmocka_unit_test_teardown(test_faulty_rounds_are_refused_before_a_byte_is_written, remove_file),
        cmocka_unit_test_teardown(test_a_file_cut_anywhere_yields_its_complete_lines, remove_file),
        cmocka_unit_test_teardown(test_a_resumed_run_repeats_into_the_same_bytes, remove_file),
        cmocka_unit_test_teardown(test_resuming_another_run_is_refused, remove_file),
        cmocka_unit_test_teardown(test_a_write_that_fails_is_reported_and_final, remove_file),
        cmocka_unit_test_teardown(test_lines_that_are_none_are_refused_with_their_number, remove_file),
        cmocka_unit_test_teardown(test_a_line_of_any_length_is_refused_without_being_kept, remove_file),
        cmocka_unit_test_teardown(test_unknown_keys_change_nothing, remove_file),
        cmocka_unit_test_teardown(test_a_visit_can_end_the_reading, remove_file),
        cmocka_unit_test_teardown(test_damaged_bytes_are_refused_or_harmless, remove_file),
        cmocka_unit_test_teardown(test_accounting_from_the_ledger_repeats_the_run, remove_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
