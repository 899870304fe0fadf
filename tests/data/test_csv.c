/* What real CSV files do, one trap a test, all through the public call. */
#include "fixture.h"

static const float three_x[] = {1, 2, 3, 4, 5, 6};
static const float three_y[] = {0, 1, 0};

static void expect_three(const char *text) {
    mfpg_data_options options = reading_text(text);
    expect_two_features(&options, 3, three_x, three_y);
}

static void test_plain_file_reads(void **state) {
    (void)state;
    expect_three("a,b,y\n1,2,0\n3,4,1\n5,6,0\n");
}

static void test_numbers_with_bare_points_and_exponents_read(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,b,y\n.7,63.,3.38e-005\n-.5,+2,1E2\n");
    expect_two_features(&options, 2, (float[]){0.7f, 63, -0.5f, 2}, (float[]){3.38e-5f, 100});
}

static void test_windows_line_ends_read(void **state) {
    (void)state;
    expect_three("a,b,y\r\n1,2,0\r\n3,4,1\r\n5,6,0\r\n");
}

static void test_lone_carriage_returns_end_lines(void **state) {
    (void)state;
    expect_three("a,b,y\r1,2,0\r3,4,1\r5,6,0\r");
}

static void test_byte_order_mark_is_no_part_of_the_first_name(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("\xEF\xBB\xBF"
                                             "a,b,y\n1,2,0\n3,4,1\n5,6,0\n");
    mfpg_federated_data *data = make_data(&options);
    assert_string_equal(data->feature_names[0], "a");
    mfpg_federated_data_destroy(data);
}

static void test_byte_order_mark_before_a_quoted_name(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("\xEF\xBB\xBF\"a, first\",b,y\n1,2,0\n");
    mfpg_federated_data *data = make_data(&options);
    assert_string_equal(data->feature_names[0], "a, first");
    mfpg_federated_data_destroy(data);
}

static void test_last_line_needs_no_line_end(void **state) {
    (void)state;
    expect_three("a,b,y\n1,2,0\n3,4,1\n5,6,0");
}

static void test_blank_lines_are_skipped_wherever_they_stand(void **state) {
    (void)state;
    expect_three("\n \n\r\na,b,y\n1,2,0\n\n \t \n3,4,1\n5,6,0\n\n\n  ");
}

static void test_comment_lines_start_with_a_bar(void **state) {
    (void)state;
    expect_three("|1x3 Cross validator\na,b,y\n1,2,0\n|note, \"open quote\n3,4,1\n5,6,0\n|last");
}

static void test_semicolons_tabs_and_blanks_are_found(void **state) {
    (void)state;
    expect_three("a;b;y\n1;2;0\n3;4;1\n5;6;0\n");
    expect_three("a\tb\ty\n1\t2\t0\n3\t4\t1\n5\t6\t0\n");
    expect_three("a b y\n1 2 0\n3 4 1\n5 6 0\n");
    expect_three(
        "  a   b  y  \n 1  2 \t 0 \n3 4 1\n\t5 6 0\n"); /* runs of blanks and tabs are one separator */
}

static void test_separator_in_quotes_does_not_count_when_it_is_sought(void **state) {
    (void)state;
    expect_three("\"a,b,c,d\";b;y\n1;2;0\n3;4;1\n5;6;0\n");
}

static void test_given_separator_rules(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,a;b;y\n1;2;0\n3;4;1\n5;6;0\n");
    options.separator = ';';
    expect_two_features(&options, 3, three_x, three_y);
    options = reading_text("a|b|y\n1|2|0\n3|4|1\n5|6|0\n");
    options.separator = '|';
    expect_two_features(&options, 3, three_x, three_y);
    options = reading_text("a|b|y\n1|2|0\n|4|1\n"); /* no comment then, but an empty cell */
    options.separator = '|';
    EXPECT_ERROR(&options, "a.csv:3:", "column \"a\"", "missing");
}

static void test_comma_and_blank_trims_outside_quotes_only(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a, b , y\n 1 ,\t2, no\n3,4 , \"yes\"  \n5, 6,\" yes \"\n");
    options.positive = "yes";
    expect_two_features(&options, 3, three_x, (float[]){0, 1, 1});

    const char *values[] = {"u", " v "};
    mfpg_category category = {"b", values, 2};
    options = reading_text("a,b,y\n1, u ,0\n3,\" v \",1\n");
    options.categories = &category;
    options.category_count = 1;
    expect_two_features(&options, 2, (float[]){1, 0, 3, 1}, (float[]){0, 1});
}

static void test_quotes_hold_separators_quotes_and_line_ends(void **state) {
    (void)state;
    const char *values[] = {"x", "a,\"b\"\r\nc"};
    mfpg_category category = {"the \"first\"", values, 2};
    mfpg_data_options options =
        reading_text("\"the \"\"first\"\"\",b,y\n\"a,\"\"b\"\"\r\nc\",\"2\",0\nx,\"4\",\"1\"\n");
    options.categories = &category;
    options.category_count = 1;
    expect_two_features(&options, 2, (float[]){1, 2, 0, 4}, (float[]){0, 1});
}

static void test_lines_count_on_inside_quotes(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("\"a\nfirst\",b,y\n\"1\r\n\",2,0\n3,oops,1\n");
    EXPECT_ERROR(&options, "a.csv:5:", "column \"b\"", "\"oops\"");
}

static void test_names_and_texts_with_line_ends_stay_on_one_line(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("\"a\nfirst\",y\nx,0\n");
    EXPECT_ERROR(&options, "column \"a first\"");
    options = reading_text("a,y\n1,\"N\no\"\n1,Maybe\n");
    options.positive = "Y";
    EXPECT_ERROR(&options, "N o, Maybe");
    options = reading_text("a,ward,y\n1,n,0\n?,\"s\r\n1\",0\n");
    options.partition = MFPG_PARTITION_COLUMN;
    options.partition_column = "ward";
    options.missing = MFPG_MISSING_DROP;
    mfpg_federated_data *data = make_data(&options);
    assert_string_equal(data->client[1].name, "s  1");
    mfpg_federated_data_destroy(data);
}

static void test_quote_inside_a_bare_field_is_a_letter(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("5\" pipe,b,y\n1,2,0\n");
    mfpg_federated_data *data = make_data(&options);
    assert_string_equal(data->feature_names[0], "5\" pipe");
    mfpg_federated_data_destroy(data);
}

static void test_unterminated_quote_names_the_line_where_it_starts(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,b,y\n1,2,0\n3,\"4,1\n5,6,0\n");
    EXPECT_ERROR(&options, "a.csv:3:", "never closed");
}

static void test_text_behind_a_closing_quote_is_refused(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,b,y\n1,\"2\"x,0\n");
    EXPECT_ERROR(&options, "a.csv:2:", "after the closing quote");
}

static void test_file_without_header_gets_numbered_or_given_names(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("1,2,0\n3,4,1\n5,6,0\n");
    options.header = 0;
    expect_two_features(&options, 3, three_x, three_y);
    mfpg_federated_data *data = make_data(&options);
    assert_string_equal(data->feature_names[1], "c2");
    mfpg_federated_data_destroy(data);

    const char *names[] = {"y", "a", "b"};
    options.columns = names;
    options.column_count = 3;
    options.label_column = "y";
    expect_two_features(&options, 3, (float[]){2, 0, 4, 1, 6, 0}, (float[]){1, 3, 5});

    options.column_count = 2;
    EXPECT_ERROR(&options, "a.csv:1:", "3 fields", "data.columns has 2");
}

static void test_data_row_taken_for_a_header_is_refused(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("63.0,1.0,1.0,145.0\n67.0,1.0,4.0,160.0\n");
    EXPECT_ERROR(&options, "a.csv:1:", "data.header");
    options = reading_text("28,1,2,?,,0\n29,1,2,?,?,0\n");
    EXPECT_ERROR(&options, "a.csv:1:", "data.header");
}

static void test_header_of_counted_columns_is_accepted(void **state) {
    (void)state;
    expect_three("0,1,2\n1,2,0\n3,4,1\n5,6,0\n");
    mfpg_data_options options = reading_text(",0,1\n1,2,0\n3,4,1\n5,6,0\n"); /* a data frame's index */
    expect_two_features(&options, 3, three_x, three_y);
    mfpg_federated_data *data = make_data(&options);
    assert_string_equal(data->feature_names[0], "c1");
    mfpg_federated_data_destroy(data);
}

static void test_header_behind_which_text_stands_names_line_and_column(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("age,b,y\n1,2,0\n");
    options.header = 0;
    EXPECT_ERROR(&options, "a.csv:1:", "column \"c1\"", "\"age\"");
}

static void test_equal_column_names_are_refused_naming_both(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("\na,b,a,y\n1,2,3,0\n");
    EXPECT_ERROR(&options, "a.csv:2:", "columns 1 and 3", "\"a\"");
    const char *names[] = {"u", "v", "v"};
    options = reading_text("1,2,0\n");
    options.header = 0;
    options.columns = names;
    options.column_count = 3;
    EXPECT_ERROR(&options, "columns 2 and 3", "\"v\"");
}

static void test_row_of_another_length_says_found_and_expected(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,b,y\n1,2,0\n3,4\n");
    EXPECT_ERROR(&options, "a.csv:3:", "found 2", "expected 3", "\",\"");
    options = reading_text("a,b,y\r\n1,2,0\r\n\r\n3,4,1,9\r\n");
    EXPECT_ERROR(&options, "a.csv:4:", "found 4", "expected 3");
    options = reading_text("blood pressure\n1\n");
    EXPECT_ERROR(&options, "a.csv:2:", "found 1", "expected 2", "blank");
}

static void test_zero_bytes_are_refused_with_their_line(void **state) {
    (void)state;
    const char zero[] = "a,b,y\n1,2,0\n3,\0,1\n", wide[] = "\xFF\xFE"
                                                           "a\0,\0y\0\n\0";
    mfpg_data_options options = reading_text("");
    write_bytes("a.csv", zero, sizeof zero - 1);
    EXPECT_ERROR(&options, "a.csv:3:", "zero byte");
    write_bytes("a.csv", wide, sizeof wide - 1);
    EXPECT_ERROR(&options, "a.csv: byte 0:", "UTF-16", "iconv");
}

static void test_empty_file_and_header_alone_are_refused(void **state) {
    (void)state;
    const char *empty[] = {"", "\n\n", "\xEF\xBB\xBF", "|only a comment"};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        mfpg_data_options options = reading_text(empty[i]);
        EXPECT_ERROR(&options, "a.csv", "empty");
    }
    mfpg_data_options options = reading_text("a,b,y\n\n");
    EXPECT_ERROR(&options, "a.csv", "no row after the header");
}

static void test_missing_file_and_folder_are_input_errors(void **state) {
    (void)state;
    const char *files[] = {"absent.csv"};
    mfpg_data_options options = reading(files, 1);
    EXPECT_ERROR(&options, "absent.csv");
    files[0] = ".";
    EXPECT_ERROR(&options, "not a file");
}

static void test_long_and_strange_cells_are_shown_short_and_on_one_line(void **state) {
    (void)state;
    char text[400] = "a,b,y\n1,\"";
    for (int i = 0; i < 60; i++) strcat(text, "\xC3\xA4\n");
    strcat(text, "\",0\n");
    mfpg_data_options options = reading_text(text);
    EXPECT_ERROR(&options, "a.csv:2:", "column \"b\"", "\xC3\xA4 \xC3\xA4", "...\"");
}

static void test_more_columns_than_the_limit_are_refused(void **state) {
    (void)state;
    const ptrdiff_t fields = 65536;
    char *text = malloc((size_t)fields * 2 + 1);
    assert_non_null(text);
    for (ptrdiff_t i = 0; i < fields; i++) memcpy(text + 2 * i, "1,", 2);
    text[2 * fields - 1] = '\n';
    mfpg_data_options options = reading_text("");
    options.header = 0;
    write_bytes("a.csv", text, (size_t)fields * 2);
    EXPECT_ERROR(&options, "a.csv:1:", "65535 columns");
    text[2 * fields - 3] = '\n'; /* one fewer reads */
    write_bytes("a.csv", text, (size_t)fields * 2 - 2);
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->features, fields - 2);
    mfpg_federated_data_destroy(data);
    free(text);
}

static void test_longer_row_than_the_limit_is_refused(void **state) {
    (void)state;
    const size_t length = (size_t)17 << 20;
    char *text = malloc(length);
    assert_non_null(text);
    memset(text, ' ', length);
    memcpy(text, "a,y\n1,", 6);
    mfpg_data_options options = reading_text("");
    write_bytes("a.csv", text, length);
    EXPECT_ERROR(&options, "a.csv:2:", "16 MiB");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_file_reads),
        cmocka_unit_test(test_numbers_with_bare_points_and_exponents_read),
        cmocka_unit_test(test_windows_line_ends_read),
        cmocka_unit_test(test_lone_carriage_returns_end_lines),
        cmocka_unit_test(test_byte_order_mark_is_no_part_of_the_first_name),
        cmocka_unit_test(test_byte_order_mark_before_a_quoted_name),
        cmocka_unit_test(test_last_line_needs_no_line_end),
        cmocka_unit_test(test_blank_lines_are_skipped_wherever_they_stand),
        cmocka_unit_test(test_comment_lines_start_with_a_bar),
        cmocka_unit_test(test_semicolons_tabs_and_blanks_are_found),
        cmocka_unit_test(test_separator_in_quotes_does_not_count_when_it_is_sought),
        cmocka_unit_test(test_given_separator_rules),
        cmocka_unit_test(test_comma_and_blank_trims_outside_quotes_only),
        cmocka_unit_test(test_quotes_hold_separators_quotes_and_line_ends),
        cmocka_unit_test(test_lines_count_on_inside_quotes),
        cmocka_unit_test(test_names_and_texts_with_line_ends_stay_on_one_line),
        cmocka_unit_test(test_quote_inside_a_bare_field_is_a_letter),
        cmocka_unit_test(test_unterminated_quote_names_the_line_where_it_starts),
        cmocka_unit_test(test_text_behind_a_closing_quote_is_refused),
        cmocka_unit_test(test_file_without_header_gets_numbered_or_given_names),
        cmocka_unit_test(test_data_row_taken_for_a_header_is_refused),
        cmocka_unit_test(test_header_of_counted_columns_is_accepted),
        cmocka_unit_test(test_header_behind_which_text_stands_names_line_and_column),
        cmocka_unit_test(test_equal_column_names_are_refused_naming_both),
        cmocka_unit_test(test_row_of_another_length_says_found_and_expected),
        cmocka_unit_test(test_zero_bytes_are_refused_with_their_line),
        cmocka_unit_test(test_empty_file_and_header_alone_are_refused),
        cmocka_unit_test(test_missing_file_and_folder_are_input_errors),
        cmocka_unit_test(test_long_and_strange_cells_are_shown_short_and_on_one_line),
        cmocka_unit_test(test_more_columns_than_the_limit_are_refused),
        cmocka_unit_test(test_longer_row_than_the_limit_is_refused),
    };
    return FIXTURE_RUN(tests);
}
