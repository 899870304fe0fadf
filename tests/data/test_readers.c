#include "fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>

#include "data/frame.h"
#include "data/readers.h"

static void test_every_reader_has_name_and_help(void **state) {
    (void)state;
    ptrdiff_t count = 0;
    for (; mfpg_kind_name(&mfpg_readers, count); count++) {
        const mfpg_reader_ops *reader = NULL;
        assert_non_null(mfpg_kind_help(&mfpg_readers, count));
        CHECK_OK(fixture_ctx, mfpg_reader_find(fixture_ctx, mfpg_kind_name(&mfpg_readers, count), &reader));
        assert_string_equal(reader->name, mfpg_kind_name(&mfpg_readers, count));
    }
    assert_true(count >= 1);
    assert_null(mfpg_kind_help(&mfpg_readers, count));
    assert_null(mfpg_kind_name(&mfpg_readers, -1));
}

static void test_unknown_format_suggests_the_nearest(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,b,y\n1,2,0\n");
    options.format = "csvv";
    EXPECT_ERROR(&options, "data.format", "\"csvv\"", "\"csv\"");
    options.format = "syntetic";
    EXPECT_ERROR(&options, "\"synthetic\"");
}

static void test_csv_is_recognised_as_text_only(void **state) {
    (void)state;
    const mfpg_reader_ops *reader = mfpg_reader_recognise((const unsigned char *)"a,b\r\n1,\t2", 9);
    assert_non_null(reader);
    assert_string_equal(reader->name, "csv");
    assert_null(mfpg_reader_recognise((const unsigned char *)"\x00\x00\x08\x03", 4));
    assert_null(mfpg_reader_recognise((const unsigned char *)"", 0));
}

/* A table of numbers, as a numeric format makes it: two columns and a label first. */
static mfpg_table numeric_table(const char *path, const float *numbers, ptrdiff_t rows, ptrdiff_t columns) {
    mfpg_table table = {.rows = rows, .columns = columns, .label = 0, .sparse = 1};
    table.path = strdup(path);
    table.numbers = malloc((size_t)(rows * columns) * sizeof *numbers);
    memcpy(table.numbers, numbers, (size_t)(rows * columns) * sizeof *numbers);
    CHECK_OK(fixture_ctx, mfpg_table_name_column(fixture_ctx, &table, 0, mfpg_slice_of("label")));
    for (ptrdiff_t i = 1; i < columns; i++) {
        char name[24];
        snprintf(name, sizeof name, "%td", i);
        CHECK_OK(fixture_ctx, mfpg_table_name_column(fixture_ctx, &table, 0, mfpg_slice_of(name)));
    }
    return table;
}

static void test_numeric_tables_assemble_and_sparse_ones_fill_with_zero(void **state) {
    (void)state;
    const char *files[] = {"a", "b"};
    mfpg_data_options options = reading(files, 2);
    mfpg_table tables[] = {
        numeric_table("a", (float[]){1, 0.5f, -1, 2}, 2, 2), numeric_table("b", (float[]){1, 3, 4}, 1, 3)};
    mfpg_frame frame = {0};
    CHECK_OK(fixture_ctx, mfpg_frame_assemble(fixture_ctx, &options, tables, 2, &frame));
    const float x[] = {0.5f, 0, 2, 0, 3, 4}, y[] = {1, -1, 1};
    assert_int_equal(frame.rows, 3);
    assert_int_equal(frame.features, 2);
    assert_memory_equal(frame.x, x, sizeof x);
    assert_memory_equal(frame.y, y, sizeof y);
    assert_string_equal(frame.feature_names[1], "2");
    mfpg_frame_clear(&frame);

    options.missing = MFPG_MISSING_DROP; /* NAN is what a numeric format has for a missing value */
    tables[0].numbers[1] = (float)NAN;
    CHECK_OK(fixture_ctx, mfpg_frame_assemble(fixture_ctx, &options, tables, 2, &frame));
    assert_int_equal(frame.rows, 3);
    assert_int_equal(frame.dropped, 1);
    assert_true(frame.absent[0] && !frame.absent[1] && !frame.absent[2]);
    assert_float_equal(frame.y[0], 1, 0); /* its label is known */
    mfpg_frame_clear(&frame);

    tables[0].numbers[1] = INFINITY;
    assert_int_equal(mfpg_frame_assemble(fixture_ctx, &options, tables, 2, &frame), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(fixture_ctx), "a:1: column \"1\""));
    mfpg_frame_clear(&frame);
    mfpg_table_clear(&tables[0]);
    mfpg_table_clear(&tables[1]);
}

static void test_lookup_numbers_texts_by_first_appearance(void **state) {
    (void)state;
    mfpg_lookup lookup = {0};
    char text[16];
    assert_int_equal(mfpg_lookup_find(&lookup, mfpg_slice_of("0")), -1);
    for (int i = 0; i < 3000; i++) {
        snprintf(text, sizeof text, "%d", i % 1000);
        assert_int_equal(mfpg_lookup_add(&lookup, mfpg_slice_of(text)), i % 1000);
    }
    assert_int_equal(lookup.count, 1000);
    assert_int_equal(mfpg_lookup_find(&lookup, mfpg_slice_of("999")), 999);
    assert_int_equal(mfpg_lookup_find(&lookup, mfpg_slice_of("1000")), -1);
    assert_string_equal(lookup.keys[17], "17");
    mfpg_lookup_clear(&lookup);
}

static void test_places_of_rows_are_lines_or_numbers_within_clients(void **state) {
    (void)state;
    char buffer[MFPG_PLACE_SIZE], path[] = "a.csv", *paths[] = {path};
    int32_t client[] = {0, 0, 1, 1};
    mfpg_place place[] = {{0, 2}, {0, 4}, {0, 5}, {0, 6}};
    mfpg_frame frame = {.rows = 4, .clients = 2, .client = client};
    assert_string_equal(mfpg_frame_place(&frame, 3, buffer), "row 1 of client 1");
    frame.place = place;
    frame.paths = paths;
    assert_string_equal(mfpg_frame_place(&frame, 1, buffer), "a.csv:4");
}

static void heard(int number) {
    (void)number;
}

/* In every format, while a pipe has no writer, or no bytes, a signal ends the wait, and the error says so. */
static void test_a_signal_ends_every_reader(void **state) {
    (void)state;
    char path[600];
    snprintf(path, sizeof path, "%s/pipe", fixture_folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    mfpg_context *ctx = testing_context(1);
    mfpg_data_options options = mfpg_data_options_default();
    struct sigaction action = {.sa_handler = heard}, before;
    const struct itimerval every = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    for (ptrdiff_t i = 0; mfpg_kind_name(&mfpg_readers, i); i++) {
        const mfpg_reader_ops *reader = NULL;
        CHECK_OK(ctx, mfpg_reader_find(ctx, mfpg_kind_name(&mfpg_readers, i), &reader));
        for (int open_first = 0; open_first < 2; open_first++) {
            mfpg_table table = {0};
            int writer = open_first ? open(path, O_RDWR) : -1;
            assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
            mfpg_status status = reader->read(ctx, path, &options, &table);
            assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
            if (status != MFPG_ERR_INTERRUPTED) fail_msg("%s: %s", reader->name, mfpg_context_message(ctx));
            mfpg_table_clear(&table);
            if (writer >= 0) close(writer);
        }
    }
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_reader_has_name_and_help),
        cmocka_unit_test(test_unknown_format_suggests_the_nearest),
        cmocka_unit_test(test_csv_is_recognised_as_text_only),
        cmocka_unit_test(test_numeric_tables_assemble_and_sparse_ones_fill_with_zero),
        cmocka_unit_test(test_lookup_numbers_texts_by_first_appearance),
        cmocka_unit_test(test_places_of_rows_are_lines_or_numbers_within_clients),
        cmocka_unit_test(test_a_signal_ends_every_reader),
    };
    return FIXTURE_RUN(tests);
}
