/* The chain of a ledger: known hashes, every bit and every line tampered with, the tail that no chain can show, and runs that
 * are resumed. */
#include "accountants/accounting.h"
#include "accountants/ledger_fixture.h"

#include "ledger_text.h"

static const mfpg_ledger_header header = {
    .clients = 2, .promise = {MFPG_UNIT_CLIENT, MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_LOCAL}, .delta = 1e-5};

/* Both clients of a round; from round 2 on they differ and have a line each. */
static void append_round(mfpg_context *ctx, mfpg_ledger *ledger, int64_t round) {
    mfpg_release both[2];
    for (int k = 0; k < 2; k++) {
        both[k] = release_of(1.0, round > 1 && k ? 3.0 : 2.0);
        both[k].weight = 0.5;
        both[k].round = round;
        both[k].client = k;
    }
    CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, both, 2));
}

/* A new ledger of so many rounds, as text; it stays on disk. */
static char *rounds_as_text(mfpg_context *ctx, int64_t rounds, size_t *length) {
    mfpg_ledger *ledger = NULL;
    CHECK_OK(ctx, mfpg_ledger_create(ctx, path, &header, &ledger));
    for (int64_t t = 1; t <= rounds; t++) append_round(ctx, ledger, t);
    mfpg_ledger_close(ledger);
    return file_text(length);
}

static void expect_refusal(mfpg_context *ctx, int line, const char *what) {
    char place[96];
    snprintf(place, sizeof place, "%s:%d: ", path, line);
    mfpg_status status = mfpg_ledger_read(ctx, path, NULL, NULL, NULL, NULL);
    const char *message = mfpg_context_message(ctx);
    if (status == MFPG_ERR_INPUT && strncmp(message, place, strlen(place)) == 0 && strstr(message, what))
        return;
    fail_msg("expected %s%s, got %s: %s", place, what, mfpg_status_text(status), message);
}

/* ---- known answers ---- */

/* source: coreutils, printf '%s' LINE | sha256sum, and printf '%s%s' FIRST_VALUE LINE | sha256sum, with the lines as they
 * stand here without their chain. */
static void test_the_hashes_are_those_of_sha256sum(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    size_t length;
    char *text = rounds_as_text(ctx, 1, &length);
    const char *expected =
        "{\"mfpg_ledger\":4,\"particles\":\"parameters\",\"clients\":2,\"unit\":\"client\",\"adjacency\":"
        "\"zero-out\",\"view\":\"local\",\"delta\":1e-05,\"stop_at_epsilon\":null,\"filter\":null,\"seeded\":"
        "false,\"chain\":\"72012cd78c123bfefac96b8ba5500e412b1b7317c4e08cb51852a7dead964bb4\"}\n"
        "{\"round\":1,\"clients\":[0,1],\"particles\":\"parameters\",\"clipped\":\"update\",\"steps\":1,"
        "\"sensitivity\":1,\"rounding\":0,\"noise_sd\":2,\"grid\":0,\"last_sd\":2,\"weight\":0.5,"
        "\"sampling_rate\":1,\"action\":null,\"chain\":"
        "\"f1eda9fec2be8e3b4621552f9fdf4dd34170090cc126a42a8413ff292c783014\"}\n";
    assert_string_equal(text, expected);
    mfpg_ledger_end end;
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, NULL, NULL, &end));
    assert_int_equal(end.lines, 2);
    assert_string_equal(end.chain, "f1eda9fec2be8e3b4621552f9fdf4dd34170090cc126a42a8413ff292c783014");
    free(text);
    mfpg_context_destroy(ctx);
}

/* ---- tampering ---- */

/* Every bit of every byte: line ends, digits of the chain and the first line included. None is without meaning. */
static void test_every_flipped_bit_is_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    size_t length;
    char *text = rounds_as_text(ctx, 2, &length);
    for (size_t at = 0; at < length; at++)
        for (int bit = 0; bit < 8; bit++) {
            text[at] = (char)(text[at] ^ (1 << bit));
            write_file(text, length);
            if (mfpg_ledger_read(ctx, path, NULL, NULL, NULL, NULL) != MFPG_ERR_INPUT)
                fail_msg("bit %d of byte %zu may be flipped", bit, at);
            text[at] = (char)(text[at] ^ (1 << bit));
        }
    write_file(text, length);
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, NULL, NULL, NULL));
    free(text);
    mfpg_context_destroy(ctx);
}

enum { MOST_LINES = 16 };

/* Where the lines of the text begin; first[count] is its end. */
static int lines_of(const char *text, size_t length, size_t first[MOST_LINES + 1]) {
    int count = 0;
    for (size_t at = 0; at < length; at = (size_t)(strchr(text + at, '\n') - text) + 1) {
        assert_true(count < MOST_LINES);
        first[count++] = at;
    }
    first[count] = length;
    return count;
}

/* The file with its lines in the order named; -1 ends it. */
static void write_lines(const char *text, const size_t *first, const int *order) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (; *order >= 0; order++) {
        size_t size = first[*order + 1] - first[*order];
        assert_int_equal(fwrite(text + first[*order], 1, size, file), size);
    }
    fclose(file);
}

static void test_lines_removed_doubled_or_moved_are_refused_by_number(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    size_t length, first[MOST_LINES + 1];
    char *text = rounds_as_text(ctx, 4, &length);
    int lines = lines_of(text, length, first), order[MOST_LINES + 2];
    assert_int_equal(lines, 8); /* the header, one line of round 1, two of each other round */
    for (int hit = 0; hit < lines; hit++) {
        int used = 0;
        for (int i = 0; i < lines; i++) /* removed */
            if (i != hit) order[used++] = i;
        order[used] = -1;
        write_lines(text, first, order);
        if (hit < lines - 1)
            expect_refusal(ctx, hit + 1, hit ? "chain does not hold" : "not the first line of a ledger");
        used = 0;
        for (int i = 0; i < lines; i++) { /* doubled */
            order[used++] = i;
            if (i == hit) order[used++] = i;
        }
        order[used] = -1;
        write_lines(text, first, order);
        expect_refusal(ctx, hit + 2, "chain does not hold");
        for (int other = hit + 1; other < lines; other++) { /* swapped */
            for (int i = 0; i < lines; i++) order[i] = i == hit ? other : i == other ? hit : i;
            order[lines] = -1;
            write_lines(text, first, order);
            expect_refusal(ctx, hit + 1, hit ? "chain does not hold" : "not the first line of a ledger");
        }
    }
    free(text);
    mfpg_context_destroy(ctx);
}

/* A line of another run, sealed there, and one that was never sealed. */
static void test_lines_inserted_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    size_t length, first[MOST_LINES + 1];
    char *text = rounds_as_text(ctx, 3, &length), *mixed = calloc(1, 2 * length), *bare = NULL;
    int lines = lines_of(text, length, first);
    mfpg_ledger_header other = header;
    other.delta = 1e-6;
    unlink(path);
    mfpg_ledger *ledger = NULL;
    CHECK_OK(ctx, mfpg_ledger_create(ctx, path, &other, &ledger));
    append_round(ctx, ledger, 1);
    mfpg_ledger_close(ledger);
    size_t size;
    char *foreign = file_text(&size), *line = strchr(foreign, '\n') + 1;
    for (int at = 1; at <= lines; at++) {
        memcpy(mixed, text, first[at]);
        strcpy(mixed + first[at], line);
        strcat(mixed, text + first[at]);
        write_file(mixed, strlen(mixed));
        expect_refusal(ctx, at + 1, "chain does not hold");
        bare = mixed + first[at] + strlen(line) - 1 - MFPG_LEDGER_SEAL - 1;
        strcpy(bare, "}\n");
        strcat(mixed, text + first[at]);
        write_file(mixed, strlen(mixed));
        expect_refusal(ctx, at + 1, "\"chain\"");
    }
    free(foreign);
    free(mixed);
    free(text);
    mfpg_context_destroy(ctx);
}

/* Nothing in the file shows that its tail is gone: the end does, to whoever kept it. */
static void test_a_removed_tail_shows_in_the_end_alone(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    size_t length, first[MOST_LINES + 1];
    char *text = rounds_as_text(ctx, 3, &length);
    int lines = lines_of(text, length, first);
    mfpg_ledger_end whole, cut = {0};
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, NULL, NULL, &whole));
    assert_int_equal(whole.lines, lines);
    for (int left = 1; left < lines; left++) {
        write_file(text, first[left]);
        CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, NULL, NULL, &cut));
        assert_int_equal(cut.lines, left);
        assert_string_not_equal(cut.chain, whole.chain);
        assert_memory_equal(cut.chain, text + first[left] - 3 - 64, 64);
    }
    free(text);
    mfpg_context_destroy(ctx);
}

/* A forger who seals anew is believed by the chain, and gives himself away by its last value. */
static void test_a_forged_ledger_has_another_end(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    size_t length;
    char *text = rounds_as_text(ctx, 3, &length);
    mfpg_ledger_end whole, forged;
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, NULL, NULL, &whole));
    char *noise = strstr(text, "\"noise_sd\":2,\"grid\":0,\"last_sd\":2");
    memcpy(noise, "\"noise_sd\":9,\"grid\":0,\"last_sd\":9", 33);
    char *sealed = ledger_sealed(text, &length);
    write_file(sealed, length);
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, NULL, NULL, &forged));
    assert_true(forged.lines == whole.lines);
    assert_string_not_equal(forged.chain, whole.chain);
    free(sealed);
    free(text);
    mfpg_context_destroy(ctx);
}

static void test_ledgers_without_a_chain_are_not_read(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const char *old = "{\"mfpg_ledger\":2,\"particles\":\"parameters\",\"clients\":2,\"unit\":\"client\","
                      "\"adjacency\":\"zero-out\",\"view\":\"local\",\"delta\":1e-05,\"seeded\":false}\n";
    write_file(old, strlen(old));
    expect_refusal(ctx, 1, "changes to it cannot be seen");
    mfpg_context_destroy(ctx);
}

/* ---- last_sd where every update is seen ---- */

static void test_a_local_view_knows_no_noise_of_others(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger *ledger = NULL;
    CHECK_OK(ctx, mfpg_ledger_create(ctx, path, &header, &ledger));
    mfpg_release release = release_of(1.0, 2.0);
    release.last_sd = 20.0;
    assert_int_equal(mfpg_ledger_append(ctx, ledger, &release, 1), MFPG_ERR_DOMAIN);
    assert_non_null(strstr(mfpg_context_message(ctx), "the view is local"));
    release.last_sd = 1.0; /* less is no lie in a client's favour */
    CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, &release, 1));
    mfpg_ledger_close(ledger);
    size_t length;
    char *text = file_text(&length);
    char *lie = strstr(text, "\"last_sd\":1");
    lie[10] = '9';
    char *sealed = ledger_sealed(text, &length);
    write_file(sealed, length);
    expect_refusal(ctx, 2, "last_sd exceeds noise_sd");
    free(sealed);
    free(text);
    mfpg_context_destroy(ctx);
}

/* ---- resumed runs ---- */

static void assert_same_end(const mfpg_ledger_end *a, const mfpg_ledger_end *b) {
    assert_true(a->lines == b->lines);
    assert_string_equal(a->chain, b->chain);
}

static void test_a_resumed_ledger_continues_its_chain(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    size_t length, again, first[MOST_LINES + 1];
    char *text = rounds_as_text(ctx, 4, &length);
    mfpg_ledger_end whole, end;
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, NULL, NULL, &whole));
    int lines = lines_of(text, length, first);
    for (int left = 2; left <= lines; left++)
        for (int more = 0; more < 2; more++) { /* cut between lines, or within the next one */
            size_t cut = first[left] + (more && left < lines ? 100 : 0);
            mfpg_ledger *ledger = NULL;
            write_file(text, cut);
            CHECK_OK(ctx, mfpg_ledger_resume(ctx, path, &header, 2, &ledger));
            end = mfpg_ledger_tell(ledger).end; /* before anything is repeated: what is there */
            assert_true(end.lines == left);
            for (int64_t t = 2; t <= 4; t++) append_round(ctx, ledger, t);
            end = mfpg_ledger_tell(ledger).end;
            mfpg_ledger_close(ledger);
            assert_same_end(&end, &whole);
            CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, NULL, NULL, &end));
            assert_same_end(&end, &whole);
            char *repeated = file_text(&again);
            assert_int_equal(again, length);
            assert_memory_equal(repeated, text, length);
            free(repeated);
        }
    free(text);
    mfpg_context_destroy(ctx);
}

static void test_a_tampered_ledger_is_not_resumed(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    size_t length;
    char *text = rounds_as_text(ctx, 3, &length);
    *(strstr(text, "\"noise_sd\":2") + 11) = '3';
    write_file(text, length);
    mfpg_ledger *ledger = NULL;
    assert_int_equal(mfpg_ledger_resume(ctx, path, &header, 2, &ledger), MFPG_ERR_INPUT);
    assert_null(ledger);
    assert_non_null(strstr(mfpg_context_message(ctx), ":2: the chain does not hold"));
    free(text);
    mfpg_context_destroy(ctx);
}

static void append_steps(mfpg_context *ctx, mfpg_ledger *ledger, int64_t from, int64_t to) {
    for (int64_t t = from; t <= to; t++) {
        mfpg_release release = release_of(1.0, 1.0);
        release.unit = MFPG_UNIT_EXAMPLE;
        release.clipped = MFPG_CLIPPED_EXAMPLES;
        release.sampling_rate = 0.01;
        release.steps = 100;
        release.round = t;
        CHECK_OK(ctx, mfpg_ledger_append(ctx, ledger, &release, 1));
    }
}

typedef struct pricing {
    mfpg_context *ctx;
    mfpg_accountant *accountant;
} pricing;

static mfpg_status price(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    pricing *to = user;
    assert_true(first == 0 && last == 0);
    return mfpg_accountant_record(to->ctx, to->accountant, release);
}

/* 500 steps, a resume, 500 steps are 1000 straight, at q = 0.01 and noise multiplier 1.
 * source: 2.1014 is dp_accounting 0.6.0 (RDP), opacus gives 2.1014 as well; ours is tighter by what real orders gain. */
static void test_a_resumed_run_costs_what_a_straight_one_does(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger_header sampled = header;
    sampled.promise.unit = MFPG_UNIT_EXAMPLE;
    mfpg_ledger *ledger = NULL;
    CHECK_OK(ctx, mfpg_ledger_create(ctx, path, &sampled, &ledger));
    append_steps(ctx, ledger, 1, 5);
    mfpg_ledger_close(ledger);
    ledger = NULL;
    CHECK_OK(ctx, mfpg_ledger_resume(ctx, path, &sampled, 6, &ledger));
    append_steps(ctx, ledger, 6, 10);
    mfpg_ledger_close(ledger);
    mfpg_accountant_options options = mfpg_accountant_options_default();
    options.promise = sampled.promise;
    for (ptrdiff_t i = 0; mfpg_kind_name(&mfpg_accountants, i); i++) {
        const char *name = mfpg_kind_name(&mfpg_accountants, i);
        mfpg_accountant *straight = NULL, *resumed = NULL;
        CHECK_OK(ctx, mfpg_accountant_create(ctx, name, &options, &straight));
        CHECK_OK(ctx, mfpg_accountant_create(ctx, name, &options, &resumed));
        int fits = mfpg_accountant_certifies(straight) &&
                   mfpg_accountant_particles(straight) == MFPG_PARTICLES_PARAMETERS;
        if (fits) {
            mfpg_release release = release_of(1.0, 1.0);
            double a = 0.0, b = 1.0;
            release.unit = MFPG_UNIT_EXAMPLE;
            release.clipped = MFPG_CLIPPED_EXAMPLES;
            release.sampling_rate = 0.01;
            CHECK_OK(ctx, mfpg_accountant_record_times(ctx, straight, &release, 1000));
            pricing to = {ctx, resumed};
            CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, price, &to, NULL));
            CHECK_OK(ctx, mfpg_accountant_epsilon(ctx, straight, 1e-5, &a));
            CHECK_OK(ctx, mfpg_accountant_epsilon(ctx, resumed, 1e-5, &b));
            assert_true(a == b);
            if (strcmp(name, "rdp") == 0) check_near(a, 2.1014, 1e-3, 0, "1000 steps");
        }
        mfpg_accountant_destroy(straight);
        mfpg_accountant_destroy(resumed);
    }
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_the_hashes_are_those_of_sha256sum, remove_file),
        cmocka_unit_test_teardown(test_every_flipped_bit_is_refused, remove_file),
        cmocka_unit_test_teardown(test_lines_removed_doubled_or_moved_are_refused_by_number, remove_file),
        cmocka_unit_test_teardown(test_lines_inserted_are_refused, remove_file),
        cmocka_unit_test_teardown(test_a_removed_tail_shows_in_the_end_alone, remove_file),
        cmocka_unit_test_teardown(test_a_forged_ledger_has_another_end, remove_file),
        cmocka_unit_test_teardown(test_ledgers_without_a_chain_are_not_read, remove_file),
        cmocka_unit_test_teardown(test_a_local_view_knows_no_noise_of_others, remove_file),
        cmocka_unit_test_teardown(test_a_resumed_ledger_continues_its_chain, remove_file),
        cmocka_unit_test_teardown(test_a_tampered_ledger_is_not_resumed, remove_file),
        cmocka_unit_test_teardown(test_a_resumed_run_costs_what_a_straight_one_does, remove_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
