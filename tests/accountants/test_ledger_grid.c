/* Units, clips and grids at both doors, accountants and ledgers; budgets of headers; and ledgers of version 3, which knew none. */
#include "accountants/accounting.h"
#include "accountants/ledger_fixture.h"

#include "ledger_text.h"

static const mfpg_view views[] = {MFPG_VIEW_LOCAL, MFPG_VIEW_AVERAGE, MFPG_VIEW_FINAL};

static mfpg_accountant *accountant_of(mfpg_context *ctx, mfpg_unit unit, mfpg_view view) {
    mfpg_accountant_options options = mfpg_accountant_options_default();
    mfpg_accountant *accountant = NULL;
    options.promise.unit = unit;
    options.promise.view = view;
    CHECK_OK(ctx, mfpg_accountant_create(ctx, "gdp", &options, &accountant));
    return accountant;
}

static mfpg_ledger *ledger_of(mfpg_context *ctx, mfpg_unit unit, mfpg_view view) {
    const mfpg_ledger_header header = {
        .clients = 1, .promise = {unit, MFPG_ADJACENCY_ZERO_OUT, view}, .delta = 1e-5};
    mfpg_ledger *ledger = NULL;
    CHECK_OK(ctx, mfpg_ledger_create(ctx, path, &header, &ledger));
    return ledger;
}

/* Both doors of that promise refuse the release and say why, or (NULL) both take it. */
static void expect_at_both_doors(
    mfpg_context *ctx, mfpg_unit unit, mfpg_view view, const mfpg_release *release, const char *why) {
    mfpg_accountant *accountant = accountant_of(ctx, unit, view);
    mfpg_ledger *ledger = ledger_of(ctx, unit, view);
    assert_int_equal(mfpg_accountant_affords(ctx, accountant, release, 1e-5, HUGE_VAL), why == NULL);
    mfpg_status recorded = mfpg_accountant_record(ctx, accountant, release);
    assert_int_equal(recorded == MFPG_OK, why == NULL);
    if (why) {
        assert_non_null(strstr(mfpg_context_message(ctx), why));
        assert_true(isinf(epsilon_of(ctx, accountant, 1e-5))); /* what was released is not forgotten */
    }
    assert_int_equal(mfpg_ledger_append(ctx, ledger, release, 1), why ? MFPG_ERR_DOMAIN : MFPG_OK);
    if (why) assert_non_null(strstr(mfpg_context_message(ctx), why));
    mfpg_ledger_close(ledger);
    mfpg_accountant_destroy(accountant);
    unlink(path);
}

static void test_a_release_is_of_the_unit_promised(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_release release = release_of(1.0, 2.0);
    expect_at_both_doors(ctx, MFPG_UNIT_CLIENT, MFPG_VIEW_LOCAL, &release, NULL);
    expect_at_both_doors(ctx, MFPG_UNIT_EXAMPLE, MFPG_VIEW_LOCAL, &release, "at the epsilon for replace");
    release.unit = MFPG_UNIT_EXAMPLE; /* by name alone: the clip says otherwise */
    expect_at_both_doors(
        ctx, MFPG_UNIT_EXAMPLE, MFPG_VIEW_LOCAL, &release, "a whole update was clipped once");
    release.clipped = MFPG_CLIPPED_EXAMPLES;
    expect_at_both_doors(ctx, MFPG_UNIT_EXAMPLE, MFPG_VIEW_LOCAL, &release, NULL);
    expect_at_both_doors(ctx, MFPG_UNIT_CLIENT, MFPG_VIEW_LOCAL, &release, "its unit is example");
    release.unit = (mfpg_unit)7;
    expect_at_both_doors(ctx, MFPG_UNIT_EXAMPLE, MFPG_VIEW_LOCAL, &release, "unit is unknown");
    release = release_of(1.0, 2.0);
    release.clipped = (mfpg_clipped)4;
    expect_at_both_doors(ctx, MFPG_UNIT_CLIENT, MFPG_VIEW_LOCAL, &release, "what was clipped");
    mfpg_context_destroy(ctx);
}

/* Of the noise of a client's own release where that is seen, of its share where the sum is; and not so fine that every float lies on
 * it. */
static void test_a_grid_is_a_power_of_two_that_fits_the_noise(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const double broken[] = {-0.25, 0.3, 0x1.8p-3, NAN, HUGE_VAL};
    for (int v = 0; v < 3; v++) {
        mfpg_release release = release_of(1.0, 2.0);
        release.weight = 0.5;
        double most = v == 0 ? 0.5 : 0.25;
        for (release.grid = most; release.grid >= 0x1p-39 * most; release.grid *= 0x1p-13)
            expect_at_both_doors(ctx, MFPG_UNIT_CLIENT, views[v], &release, NULL);
        for (release.grid = 0x1p-40 * most; release.grid > 0; release.grid *= 0x1p-200)
            expect_at_both_doors(ctx, MFPG_UNIT_CLIENT, views[v], &release, "the grid is finer than 2^-4");
        release.grid = 2 * most;
        expect_at_both_doors(ctx, MFPG_UNIT_CLIENT, views[v], &release, "grid is more than a quarter");
        for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
            release.grid = broken[i];
            expect_at_both_doors(ctx, MFPG_UNIT_CLIENT, views[v], &release, "grid is neither 0 nor");
        }
        release.grid = 0x1p-10;
        release.noise_sd = release.last_sd = 0;
        expect_at_both_doors(ctx, MFPG_UNIT_CLIENT, views[v], &release, "no noise");
        release = release_of(1.0, 2.0);
        release.rounding = v == 0 ? -1e-3 : v == 1 ? (double)NAN : HUGE_VAL;
        expect_at_both_doors(ctx, MFPG_UNIT_CLIENT, views[v], &release, "rounding");
        release.rounding = 1e-3;
        expect_at_both_doors(ctx, MFPG_UNIT_CLIENT, views[v], &release, NULL);
        release.weight = 0; /* a choice is in no average: it is looked at by itself */
        release.clipped = MFPG_CLIPPED_MEASUREMENTS;
        release.grid = 0.5;
        expect_at_both_doors(ctx, MFPG_UNIT_CLIENT, views[v], &release, NULL);
    }
    mfpg_context_destroy(ctx);
}

/* ---- lines written by hand ---- */

#define HEADER(version, budget)                                                                              \
    "{\"mfpg_ledger\":" version                                                                              \
    ",\"particles\":\"parameters\",\"clients\":2,\"unit\":\"example\",\"adjacency\":"                        \
    "\"zero-out\",\"view\":\"average\",\"delta\":1e-05," budget "\"seeded\":false}\n"
#define NO_BUDGET "\"stop_at_epsilon\":null,\"filter\":null,"
#define LINE(clipped, rounding, grid)                                                                        \
    "{\"round\":1,\"clients\":[0,1],\"particles\":\"parameters\"," clipped                                   \
    "\"steps\":1,\"sensitivity\":1," rounding "\"noise_sd\":2," grid                                         \
    "\"last_sd\":4,\"weight\":0.5,\"sampling_rate\":1,\"action\":null}\n"
#define CLIPPED    "\"clipped\":\"examples\","
#define ROUNDING   "\"rounding\":0.001,"
#define GRID(grid) "\"grid\":" grid ","

static void write_sealed(const char *text) {
    size_t length = strlen(text);
    char *sealed = ledger_sealed(text, &length);
    assert_non_null(sealed);
    write_file(sealed, length);
    free(sealed);
}

static mfpg_status keep(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    assert_true(first == 0 && last == 1);
    *(mfpg_release *)user = *release;
    return MFPG_OK;
}

static void test_lines_that_lie_about_grids_are_refused_with_their_number(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const struct {
        const char *text, *why;
    } bad[] = {
        {LINE(CLIPPED, ROUNDING, GRID("0.5")), ":2: grid is more than a quarter of the noise"},
        {LINE(CLIPPED, ROUNDING, GRID("5e-324")), ":2: the grid is finer than 2^-45 of the noise"},
        {LINE(CLIPPED, ROUNDING, GRID("0.2")), ":2: grid is neither 0 nor a power of two"},
        {LINE(CLIPPED, ROUNDING, GRID("\"fine\"")), ":2: \"grid\" must be a number"},
        {LINE(CLIPPED, ROUNDING, ""), ":2: \"grid\" must be a number"},
        {LINE(CLIPPED, "", GRID("0")), ":2: \"rounding\" must be a number"},
        {LINE(CLIPPED, "\"rounding\":-1,", GRID("0")), ":2: rounding is not a finite number"},
        {LINE("", ROUNDING, GRID("0")), ":2: \"clipped\" must be one of"},
        {LINE("\"clipped\":\"update\",", ROUNDING, GRID("0")), ":2: unit is example, but a whole update"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s%s", HEADER("4", NO_BUDGET), bad[i].text);
        write_sealed(text);
        assert_int_equal(mfpg_ledger_read(ctx, path, NULL, NULL, NULL, NULL), MFPG_ERR_INPUT);
        if (!strstr(mfpg_context_message(ctx), bad[i].why))
            fail_msg("case %zu: %s", i, mfpg_context_message(ctx));
    }
    mfpg_release seen;
    write_sealed(HEADER("4", NO_BUDGET) LINE(CLIPPED, ROUNDING, GRID("0.25")));
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, keep, &seen, NULL));
    assert_true(seen.grid == 0.25 && seen.rounding == 0.001);
    assert_true(seen.unit == MFPG_UNIT_EXAMPLE && seen.clipped == MFPG_CLIPPED_EXAMPLES);
    mfpg_context_destroy(ctx);
}

static void test_budgets_of_headers_are_read_and_checked(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_ledger_header header;
    const char *const bad[] = {"", "\"stop_at_epsilon\":4,", "\"filter\":null,",
        "\"stop_at_epsilon\":null,\"filter\":\"gdp\",", "\"stop_at_epsilon\":0,\"filter\":\"gdp\",",
        "\"stop_at_epsilon\":-1,\"filter\":\"gdp\",", "\"stop_at_epsilon\":4,\"filter\":\"rdp\",",
        "\"stop_at_epsilon\":4,\"filter\":null,", "\"stop_at_epsilon\":true,\"filter\":\"gdp\","};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text, HEADER("4", "%s"), bad[i]);
        write_sealed(text);
        assert_int_equal(mfpg_ledger_read(ctx, path, &header, NULL, NULL, NULL), MFPG_ERR_INPUT);
        assert_non_null(strstr(mfpg_context_message(ctx), ":1: "));
    }
    write_sealed(HEADER("4", "\"stop_at_epsilon\":0.1,\"filter\":\"zcdp\","));
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, &header, NULL, NULL, NULL));
    assert_true(header.stop_at_epsilon == 0.1 && header.filter == MFPG_FILTER_ZCDP);
    unlink(path);
    for (int fault = 0; fault < 5; fault++) {
        mfpg_ledger_header wrong = header;
        mfpg_ledger *ledger = NULL;
        if (fault == 0) wrong.stop_at_epsilon = -1;
        if (fault == 1) wrong.stop_at_epsilon = (double)NAN;
        if (fault == 2) wrong.stop_at_epsilon = HUGE_VAL;
        if (fault == 3) wrong.stop_at_epsilon = 0; /* a filter of no budget */
        if (fault == 4) wrong.filter = (mfpg_filter_kind)3;
        assert_int_equal(mfpg_ledger_create(ctx, path, &wrong, &ledger), MFPG_ERR_DOMAIN);
        assert_null(ledger);
    }
    mfpg_context_destroy(ctx);
}

/* ---- version 3 ---- */

static void test_version_3_is_read_and_nothing_known_of_its_digits(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_release seen;
    mfpg_ledger_header header;
    mfpg_ledger *ledger = NULL;
    write_sealed(HEADER("3", "") LINE("", "", ""));
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, &header, keep, &seen, NULL));
    assert_true(header.stop_at_epsilon == 0 && header.filter == MFPG_FILTER_ACCOUNTANT);
    assert_true(seen.unit == MFPG_UNIT_EXAMPLE && seen.clipped == MFPG_CLIPPED_EXAMPLES);
    assert_true(seen.grid == 0 && seen.rounding == 0);
    write_sealed(HEADER("3", "") LINE("", "\"rounding\":9,", GRID("0.25"))); /* no keys of that version */
    CHECK_OK(ctx, mfpg_ledger_read(ctx, path, NULL, keep, &seen, NULL));
    assert_true(seen.grid == 0 && seen.rounding == 0);
    assert_int_equal(mfpg_ledger_open(ctx, path, 0, &ledger), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "version 3, which is read, but not gone on with"));
    assert_int_equal(mfpg_ledger_resume(ctx, path, &header, 2, &ledger), MFPG_ERR_INPUT);
    assert_null(ledger);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_a_release_is_of_the_unit_promised, remove_file),
        cmocka_unit_test_teardown(test_a_grid_is_a_power_of_two_that_fits_the_noise, remove_file),
        cmocka_unit_test_teardown(test_lines_that_lie_about_grids_are_refused_with_their_number, remove_file),
        cmocka_unit_test_teardown(test_budgets_of_headers_are_read_and_checked, remove_file),
        cmocka_unit_test_teardown(test_version_3_is_read_and_nothing_known_of_its_digits, remove_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
