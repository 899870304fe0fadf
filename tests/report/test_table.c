/* The CSV files of a run folder, read back: every cell as it is in the file, and nothing that no run has
 * written. */
#include "report/runs.h"

#include "report/run_group.h"

static const mfpg_record_field columns[] = {{"round", MFPG_FIELD_COUNT, 1, 0, ""},
    {"loss", MFPG_FIELD_NUMBER, 1, 0, ""}, {"other", MFPG_FIELD_NUMBER, 2, 0, ""}};
static const mfpg_fields fields = {"round", columns, 3};

static mfpg_status read_table(const char *text, run_table *out) {
    write_file(in_place("t.csv"), text);
    return run_table_read(ctx, place, "t.csv", &fields, 1, 1, out);
}

static void expect_refused(const char *text, const char *const *parts) {
    run_table table = {0};
    assert_int_equal(read_table(text, &table), MFPG_ERR_INPUT);
    assert_null(table.cells.text);
    check_message(parts);
}
#define REFUSED(text, ...) expect_refused(text, (const char *const[]){__VA_ARGS__, NULL})

static void test_cells_are_kept_as_they_are(void **state) {
    (void)state;
    run_table table;
    CHECK_OK(ctx, read_table("round,note,loss\n1,\"a \"\"b\"\", c\nd\",0.10\n2,,inf\n3,x,\n", &table));
    assert_int_equal(table.rows, 3);
    assert_int_equal(table.cells.columns, 3);
    assert_string_equal(run_table_text(&table, "note", 0), "a \"b\", c\nd");
    assert_string_equal(run_table_text(&table, "loss", 0), "0.10");
    assert_true(run_table_number(&table, "loss", 0) == 0.1);
    assert_true(isinf(run_table_number(&table, "loss", 1)));
    assert_true(isnan(run_table_number(&table, "loss", 2)));
    assert_true(isnan(run_table_number(&table, "note", 0)));
    assert_null(run_table_text(&table, "other", 0));
    assert_null(run_table_text(&table, "loss", 3));
    assert_true(isnan(run_table_number(&table, "loss", -1)));
    assert_int_equal(mfpg_table_line(&table.cells, 1), 4); /* a quoted field has a line end in it */
    run_table_clear(&table);
}

static void test_a_table_may_have_no_rows(void **state) {
    (void)state;
    run_table table;
    CHECK_OK(ctx, read_table("round,loss\n", &table));
    assert_int_equal(table.rows, 0);
    run_table_clear(&table);
}

static void test_what_no_run_writes_is_refused_with_its_line(void **state) {
    (void)state;
    REFUSED(
        "round,loss\n1,0.5\n2,nan\n", "t.csv:3", "column loss", "nan", "allowed: a number, inf, or nothing");
    REFUSED("round,loss\n1,NaN\n", "t.csv:2", "NaN");
    REFUSED("round,loss\n1,-inf\n", "t.csv:2", "-inf");
    REFUSED("round,loss\n1,1e999\n", "t.csv:2", "1e999");
    REFUSED("round,loss\n1,0x10\n", "t.csv:2", "0x10");
    REFUSED("round,loss\n1,0.5\n2,0.2", "t.csv:3", "cut short");
    REFUSED("round,loss\n1,0.5\n2\n", "t.csv:3", "found 1 field, expected 2");
    REFUSED("round,loss\n1,0.5,7\n", "t.csv:2", "found 3 fields, expected 2");
    REFUSED("round,loss\n1,\"0.5\n", "t.csv:2", "never closed");
    REFUSED("round,loss\n1,\"0.5\"x\n", "t.csv:2", "after the closing quote");
    REFUSED("round,accuracy\n1,0.5\n", "t.csv:1", "no column 'loss'", "a round has");
    REFUSED("round,loss,loss\n", "t.csv:1", "both called \"loss\"");
    REFUSED("", "t.csv:1", "the file is empty");
    REFUSED("PK\003\004", "t.csv:1");
    REFUSED("round,loss\r\n1,0.5\r\n", "t.csv:1", "not what a run writes");
    REFUSED("round,loss\n1,0.5\r\n", "t.csv:2", "not what a run writes");
    REFUSED("round,loss\n1,0.5\r2,0.5\n", "t.csv:2", "not what a run writes");
    REFUSED("round,loss\n1,0.5\n\n2,0.5\n", "t.csv:3", "not what a run writes");
    REFUSED("round,loss\n| 1\n1,0.5\n", "t.csv:2", "not what a run writes");
    REFUSED("round,loss\n1, 0.5\n", "t.csv:2", "not what a run writes");
    REFUSED("\xEF\xBB\xBFround,loss\n1,0.5\n", "t.csv:1", "not what a run writes");
    assert_int_equal(
        run_table_read(ctx, place, "absent.csv", &fields, 1, 1, &(run_table){0}), MFPG_ERR_INPUT);
    MESSAGE_HOLDS("absent.csv");
    FILE *file = fopen(in_place("t.csv"), "w");
    assert_int_equal(fwrite("round,loss\n1,\0,5\n", 1, 17, file), 17);
    fclose(file);
    assert_int_equal(run_table_read(ctx, place, "t.csv", &fields, 1, 1, &(run_table){0}), MFPG_ERR_INPUT);
    MESSAGE_HOLDS("t.csv:2: a zero byte");
}

static void test_rows_that_do_not_count_are_refused(void **state) {
    (void)state;
    run_table table;
    REFUSED("round,loss\n1,\n2,\n4,\n", "t.csv:4", "found \"4\"", "expected 3");
    REFUSED("round,loss\n0,\n1,\n", "t.csv:2", "found \"0\"", "expected 1");
    CHECK_OK(ctx, run_table_read(ctx, place, "t.csv", &fields, 1, 0, &table));
    run_table_clear(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_are_kept_as_they_are),
        cmocka_unit_test(test_a_table_may_have_no_rows),
        cmocka_unit_test(test_what_no_run_writes_is_refused_with_its_line),
        cmocka_unit_test(test_rows_that_do_not_count_are_refused),
    };
    return cmocka_run_group_tests(tests, open_place, close_place);
}
