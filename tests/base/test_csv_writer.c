#include "testing.h"

#include "base/csv_writer.h"

static void test_rows_are_quoted_and_numbers_read_back(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    mfpg_csv csv = {.stream = stream};
    mfpg_csv_header(&csv, "a,b,c,d,e");
    mfpg_csv_text(&csv, "plain");
    mfpg_csv_text(&csv, "comma, \"quote\"\nline");
    mfpg_csv_number(&csv, 0.1);
    mfpg_csv_number(&csv, (double)NAN);
    mfpg_csv_number(&csv, (double)INFINITY);
    mfpg_csv_end_row(&csv);
    mfpg_csv_integer(&csv, -7);
    mfpg_csv_end_row(&csv);
    fclose(stream);
    assert_string_equal(text, "a,b,c,d,e\nplain,\"comma, \"\"quote\"\"\nline\",0.1,,inf\n-7\n");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_are_quoted_and_numbers_read_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
