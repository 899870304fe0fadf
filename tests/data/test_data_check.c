/* mfpg_data_check: every trap is named with its place and its setting, other formats by their name, and the real files
 * have the counts of their README. */
#include "fixture.h"

#include <zlib.h>

#include "mfpg/data_check.h"
#include "zip_build.h"

static mfpg_data_report *report; /* of the last check */

static int setup(void **state) {
    (void)state;
    report = NULL;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    mfpg_data_report_destroy(report);
    report = NULL;
    return 0;
}

static mfpg_status check_path(const char *name, const mfpg_data_check_options *options) {
    char path[8400];
    snprintf(
        path, sizeof path, "%s%s%s", name[0] == '/' ? "" : fixture_folder, name[0] == '/' ? "" : "/", name);
    mfpg_data_report_destroy(report);
    report = NULL;
    return mfpg_data_check(fixture_ctx, path, options, &report);
}

static void check_file(const char *name) {
    CHECK_OK(fixture_ctx, check_path(name, NULL));
}

static void check_text(const char *text) {
    check_file(write_text("file", text));
}

static const mfpg_oddity *find(const char *kind) {
    for (ptrdiff_t i = 0; i < report->oddities; i++)
        if (strcmp(report->oddity[i].kind, kind) == 0) return &report->oddity[i];
    return NULL;
}

/* There is an oddity of the kind with this count and line, its text holds the part, and its setting is named in it. */
static void expect_odd(const char *kind, int64_t count, int64_t line, const char *setting, const char *part) {
    const mfpg_oddity *odd = find(kind);
    if (!odd) fail_msg("no oddity %s", kind);
    if (odd->count != count || odd->line != line || !strstr(odd->text, part))
        fail_msg(
            "%s: count %lld, line %lld: %s", kind, (long long)odd->count, (long long)odd->line, odd->text);
    if (!setting) {
        assert_null(odd->setting);
        return;
    }
    assert_non_null(odd->setting);
    assert_string_equal(odd->setting, setting);
    if (!strstr(odd->text, setting)) fail_msg("%s does not name %s: %s", kind, setting, odd->text);
}

static void expect_none(const char *kind) {
    const mfpg_oddity *odd = find(kind);
    if (odd) fail_msg("%s: %s", kind, odd->text);
}

/* Refused, with all parts in the message. */
static void refuse_parts(const char *name, const char *const *parts) {
    assert_int_equal(check_path(name, NULL), MFPG_ERR_INPUT);
    assert_null(report);
    for (; *parts; parts++)
        if (!strstr(mfpg_context_message(fixture_ctx), *parts))
            fail_msg("message \"%s\" lacks \"%s\"", mfpg_context_message(fixture_ctx), *parts);
}

#define REFUSE(name, ...) refuse_parts(name, (const char *const[]){__VA_ARGS__, NULL})

/* Twenty rows and more of two features and a label, so that nothing is said of few rows. */
static const char *rows_with(const char *head, const char *more) {
    static char text[4096];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", head);
    for (int i = 0; i < 24; i++)
        used += (size_t)snprintf(
            text + used, sizeof text - used, "%d,%d,%d\n", 20 + i, 100 + 7 * (i % 5) + i, i % 2);
    snprintf(text + used, sizeof text - used, "%s", more);
    return text;
}

static void test_a_plain_file_has_no_oddities(void **state) {
    (void)state;
    check_text(rows_with("age,pulse,ill\n", ""));
    assert_string_equal(report->format, "csv");
    assert_int_equal(report->header, 1);
    assert_int_equal(report->separator, ',');
    assert_int_equal(report->rows, 24);
    assert_int_equal(report->columns, 3);
    if (report->oddities > 0) fail_msg("%s", report->oddity[0].text);
    assert_string_equal(report->label, "ill");
    assert_int_equal(report->label_guessed, 1);
    assert_int_equal(report->classes, 2);
    assert_string_equal(report->class_rows[0].text, "0");
    assert_int_equal(report->class_rows[1].rows, 12);
    check_near(report->majority_rate, 0.5, 0, 0, "majority");
    assert_string_equal(report->column[1].name, "pulse");
    assert_int_equal(report->column[1].kind, MFPG_COLUMN_NUMBER);
    check_near(report->column[0].low, 20, 0, 0, "low");
    check_near(report->column[0].high, 43, 0, 0, "high");
    assert_null(strstr(report->configuration, "missing"));
    assert_non_null(strstr(report->configuration, "task: {model: logistic}"));
}

static void test_headers_are_told_from_data(void **state) {
    (void)state;
    const struct {
        const char *text;
        int header;
    } cases[] = {
        {"a,b\n1,2\n3,4\n", 1},
        {"1,2\n3,4\n", 0},
        {"?,2\n3,4\n", 0},
        {"colour,size\nred,big\nblue,big\nred,small\n", 1},
        {"red,big\nblue,big\nred,small\n", 0},
        {"39, State-gov, <=50K\n50, Private, >50K\n38, Private, <=50K\n", 0},
        {"name,2019,2020\nx,1,2\ny,3,4\n", 0}, /* two numbers above numbers, and no text above them */
        {"age,2019,y\n1,1,2\n2,3,4\n", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_text(cases[i].text);
        if (report->header != cases[i].header) fail_msg("header: %s", cases[i].text);
        if (cases[i].header) expect_none("no-header");
        if (!cases[i].header) expect_odd("no-header", 1, 1, "data.header", "first row seems to be data");
        assert_int_equal(strstr(report->configuration, "header: false") != NULL, !cases[i].header);
    }
}

static void test_missing_marks_are_counted_by_column(void **state) {
    (void)state;
    check_text(rows_with("age,pulse,ill\n", "50,?,0\n51,,0\n52,NaN,1\n53,?,1\n54,NA,0\n,70,1\n55,N/A,1\n"));
    assert_int_equal(report->rows, 31);
    assert_int_equal(report->column[1].missing, 6);
    assert_int_equal(report->column[1].numbers, 25);
    assert_int_equal(report->column[0].missing, 1);
    assert_int_equal(report->column[1].kind, MFPG_COLUMN_NUMBER);
    int marks = 0;
    for (ptrdiff_t i = 0; i < report->oddities; i++) {
        const mfpg_oddity *odd = &report->oddity[i];
        if (strcmp(odd->kind, "missing-mark") != 0) continue;
        marks++;
        if (strstr(odd->text, "\"?\"")) {
            assert_int_equal(odd->count, 2);
            assert_int_equal(odd->line, 26);
            assert_non_null(strstr(odd->text, "pulse 2"));
        }
        if (strstr(odd->text, "an empty cell")) {
            assert_int_equal(odd->count, 2);
            assert_int_equal(odd->line, 27);
            assert_non_null(strstr(odd->text, "age 1, pulse 1"));
        }
        if (strstr(odd->text, "N/A")) assert_non_null(strstr(odd->text, "data.missing.values: [\"N/A\"]"));
    }
    assert_int_equal(marks, 5);
    expect_odd("incomplete-rows", 7, 0, "data.missing.rows", "24 of 31 rows are complete");
    /* The default marks need not be named; with another they all are. */
    assert_non_null(
        strstr(report->configuration, "missing: {values: ['?', 'NA', 'NaN', 'nan', 'N/A'], rows: drop}"));
}

static void test_values_that_may_mean_missing_are_suspected(void **state) {
    (void)state;
    check_text(rows_with("age,pulse,ill\n", "-9,70,0\n30,0,1\n31,0,0\n-9,71,1\n"));
    expect_odd(
        "suspicious-value", 2, 26, "data.missing.values", "column age: -9 in 2 rows, the next value is 20");
    expect_odd("zero-as-missing", 2, 27, "data.drop_columns", "column pulse: 2 zeros");
    check_text(rows_with("age,pulse,ill\n", "9999,70,0\n"));
    expect_odd("suspicious-value", 1, 26, "data.missing.values", "9999");
    check_text(rows_with("age,pulse,ill\n", "-9,70,0\n-8,71,1\n")); /* no gap: negative numbers are usual */
    expect_none("suspicious-value");
    /* Small steps lead to 0: the first value is as far from it as the others from each other. */
    check_text("x,y\n0,0\n0,1\n0.5,0\n1,1\n1.5,0\n2,1\n2.5,0\n3,1\n3.5,0\n4,1\n4.5,0\n5,1\n");
    expect_none("zero-as-missing");
}

static void test_marks_that_may_be_values_are_missing_among_numbers_only(void **state) {
    (void)state;
    check_text(rows_with("age,pulse,ill\n", "50,-,0\n51,none,1\n"));
    assert_int_equal(report->column[1].missing, 2);
    check_text("drug,y\nnone,0\naspirin,1\nnone,1\n");
    assert_int_equal(report->column[0].missing, 0);
    assert_int_equal(report->column[0].kind, MFPG_COLUMN_TEXT);
    expect_none("missing-mark");
    assert_non_null(strstr(report->configuration, "'drug': ['none', 'aspirin']"));
}

static void test_numbers_in_all_their_spellings_are_numbers(void **state) {
    (void)state;
    check_text("a,b,y\n.7,3.38e-005,0\n63.,-1E3,1\n+5,0.0,1\n");
    for (int j = 0; j < 3; j++) assert_int_equal(report->column[j].kind, MFPG_COLUMN_NUMBER);
    check_near(report->column[1].low, -1000, 0, 0, "low");
    check_text("a;b;y\n1,5;2;0\n2,5;3;1\n");
    expect_odd("decimal-comma", 2, 2, "data.drop_columns", "\"1,5\"");
}

static void test_line_ends_marks_and_separators(void **state) {
    (void)state;
    check_text("\xEF\xBB\xBF"
               "a;b;y\r\n1;2;0\r\n\r\n3;4;1");
    assert_string_equal(report->column[0].name, "a");
    assert_int_equal(report->separator, ';');
    assert_int_equal(report->rows, 2);
    expect_odd("byte-order-mark", 1, 1, NULL, "byte order mark");
    expect_odd("cr-lf", 3, 1, NULL, "3 lines end in CR LF");
    expect_odd("blank-lines", 1, 3, NULL, "1 blank line");
    expect_odd("no-last-line-end", 1, 4, NULL, "no line end");
    expect_odd("separator", 2, 0, "data.separator", "semicolons");
    expect_odd("few-rows", 2, 0, NULL, "only 2 rows");
    check_text("|1x3 Cross validator\n25, Private, <=50K.\n38, Local-gov, >50K.\n28, Private, >50K.\n\n");
    expect_odd("comment-lines", 1, 1, NULL, "1 comment line");
    expect_odd("blank-behind-separator", 6, 2, NULL, "6 separators");
    expect_odd("blank-lines", 1, 5, NULL, "1 blank line");
    expect_odd("no-header", 1, 2, "data.header", "data");
    check_text("a\tb\ty\n1\t2\t0\n");
    expect_odd("separator", 1, 0, "data.separator", "tabs");
    check_text("a  b y\n1  2 0\n");
    expect_odd("separator", 1, 0, "data.separator", "blanks");
    check_text("a,y\r1,0\r2,1\r");
    expect_odd("cr-alone", 3, 1, NULL, "CR alone");
    check_text("a,y\n\"one\n\ntwo\",0\nthree,1\n"); /* a blank line in quotes is part of a value */
    expect_none("blank-lines");
}

static void test_labels_with_and_without_a_dot_are_one_class(void **state) {
    (void)state;
    check_text("a,y\n1,>50K\n2,<=50K.\n3,>50K.\n4,<=50K\n5,<=50K\n");
    assert_int_equal(report->classes, 2);
    assert_string_equal(report->class_rows[0].text, "<=50K");
    assert_int_equal(report->class_rows[0].rows, 3);
    check_near(report->majority_rate, 0.6, 1e-12, 0, "majority");
    expect_odd("label-variants", 2, 3, "data.label.positive", "2 labels end in a dot and 3 do not");
    expect_odd("text-label", 5, 2, "data.label.positive", "texts");
    assert_non_null(strstr(report->configuration, "label: {positive: '>50K'}"));
    check_text("a,y\n1,yes.\n2,no.\n");
    expect_odd("label-dots", 2, 2, "data.label.positive", "every label ends in a dot");
}

static void test_labels_of_one_class_of_few_and_of_many(void **state) {
    (void)state;
    check_text("a,y\n1,1\n2,1\n3,1\n");
    expect_odd("one-class", 3, 0, NULL, "every label is 1");
    check_near(report->majority_rate, 1, 0, 0, "majority");
    check_text("a,y\n1,0\n2,1\n3,1\n4,1\n5,1\n6,1\n7,1\n8,1\n9,1\n10,1\n");
    expect_odd("unbalanced", 9, 0, NULL, "90.0 %");
    check_text("a,y\n1,2\n2,1\n3,2\n");
    expect_odd("several-labels", 2, 0, "data.label.positive_above", "data.label.positive_above: 1");
    assert_non_null(strstr(report->configuration, "label: {positive_above: 1}"));
    check_text("a,y\n1,0\n2,1\n3,2\n4,0\n");
    expect_odd("several-labels", 3, 0, "data.label.positive_above", "data.label.positive_above: 0");
    assert_non_null(strstr(report->configuration, "task: {model: softmax, classes: 3}"));
    check_text("a,y\n1,0.5\n2,1\n3,2\n4,0\n");
    assert_int_equal(report->classes, 0);
    assert_true(isnan(report->majority_rate));
    assert_non_null(strstr(report->configuration, "task: {model: linear}"));
    check_text("y,a\nno,1\nyes,2\n");
    CHECK_OK(fixture_ctx, check_path("file", &(mfpg_data_check_options){.label_column = "y"}));
    assert_int_equal(report->classes, 2);
    assert_int_equal(report->label_guessed, 0);
    assert_non_null(strstr(report->configuration, "label: {column: 'y', positive: 'no'}"));
    assert_int_equal(check_path("file", &(mfpg_data_check_options){.label_column = "yy"}), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(fixture_ctx), "did you mean \"y\"?"));
}

static void test_columns_of_text_of_one_value_and_of_none(void **state) {
    (void)state;
    check_text("colour,one,none,x,y\nred,5,,1,0\nblue,5,,2,1\nred,5,?,3,1\n");
    expect_odd("text-columns", 1, 2, "data.categories", "colour (2 values)");
    expect_odd("constant-columns", 1, 0, "data.drop_columns", "one;");
    expect_odd("empty-columns", 1, 0, "data.drop_columns", "none;");
    assert_int_equal(report->column[0].kind, MFPG_COLUMN_TEXT);
    assert_int_equal(report->column[0].listed, 2);
    assert_string_equal(report->column[0].value[0].text, "red");
    assert_int_equal(report->column[0].value[0].rows, 2);
    assert_int_equal(report->column[1].kind, MFPG_COLUMN_CONSTANT);
    assert_int_equal(report->column[2].kind, MFPG_COLUMN_EMPTY);
    expect_odd("incomplete-rows", 3, 0, "data.drop_columns", "0 of 3 rows are complete; 3 would be");
    assert_non_null(strstr(report->configuration, "drop_columns: ['none']"));
    assert_null(strstr(report->configuration, "missing")); /* the column that misses is dropped */
    check_text(rows_with("age,pulse,ill\n", "50,high,0\n"));
    expect_odd(
        "text-among-numbers", 1, 26, "data.missing.values", "1 text among 24 numbers, the first \"high\"");
}

static void test_rows_that_stand_twice(void **state) {
    (void)state;
    check_text("a,b,y\n1,2,0\n3,4,1\n1, 2,0\n3,4,1\n3,4,1\n1,20,0\n");
    expect_odd(
        "duplicate-rows", 3, 4, NULL, "3 rows are the same as an earlier one, the first that of line 2");
    check_text("a,b,y\nx,yz,0\nxy,z,0\n"); /* cells are compared one by one */
    expect_none("duplicate-rows");
}

static void test_columns_that_name_a_client(void **state) {
    (void)state;
    check_text("Hospital-ID,a,y\nn,1,0\nn,2,1\nn,3,1\ns,4,0\ns,5,0\n");
    assert_int_equal(report->client_columns, 1);
    assert_string_equal(report->client_column[0].column, "Hospital-ID");
    assert_int_equal(report->client_column[0].clients, 2);
    assert_int_equal(report->client_column[0].smallest, 2);
    assert_int_equal(report->client_column[0].largest, 3);
    assert_int_equal(report->client_column[0].one_class, 1);
    expect_odd("small-clients", 1, 0, NULL, "1 of 2 clients with one or two rows");
    expect_odd("one-class-clients", 1, 0, NULL, "1 of 2 clients with rows of one class only");
    assert_non_null(strstr(report->configuration, "partition: {kind: column, column: 'Hospital-ID'}"));
    check_text("hospitality,a,y\n1,1,0\n1,2,1\n"); /* a word within a word is none */
    assert_int_equal(report->client_columns, 0);
}

static void test_libsvm_blanks_zeros_and_the_top_index(void **state) {
    (void)state;
    char text[4096] = "\xEF\xBB\xBF# by hand\r\n+1 1:1 3:0 \n\n";
    for (int i = 0; i < 200; i++) strcat(text, i % 2 ? "-1 1:2 2:1\n" : "+1 2:1\n");
    strcat(text, "-1 5:1");
    check_text(text);
    assert_string_equal(report->format, "libsvm");
    assert_int_equal(report->rows, 202);
    assert_int_equal(report->columns, 5);
    assert_int_equal(report->classes, 2);
    expect_odd("byte-order-mark", 1, 1, NULL, "byte order mark");
    expect_odd("comment-lines", 1, 1, NULL, "1 comment line");
    expect_odd("blank-lines", 1, 3, NULL, "1 blank line");
    expect_odd("cr-lf", 1, 1, NULL, "1 line ends in CR LF");
    expect_odd("trailing-blanks", 1, 2, NULL, "1 line ends in a blank");
    expect_odd("explicit-zeros", 1, 2, NULL, "1 entry");
    expect_odd("top-index", 1, 204, NULL, "the largest index, 5, is in 1 of 202 rows");
    expect_odd("no-last-line-end", 1, 204, NULL, "no line end");
    expect_odd("constant-columns", 2, 0, "data.drop_columns", "3, 4");
    expect_odd("duplicate-rows", 198, 6, NULL, "that of line 4");
}

static void test_arrays_say_what_they_are(void **state) {
    (void)state;
    static zip_build zip;
    const unsigned char idx[] = {0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 255, 51, 102, 255, 0},
                        labels[] = {0, 0, 8, 1, 0, 0, 0, 3, 1, 0, 1}, classes[] = {1, 0, 1};
    const float values[] = {1, NAN, 0, 3, INFINITY, 1};
    unsigned char npy[512];
    char path[1024];
    snprintf(path, sizeof path, "%s/packed", fixture_folder);
    gzFile file = gzopen(path, "wb");
    gzwrite(file, idx, sizeof idx);
    gzclose(file);
    check_file("packed");
    assert_string_equal(report->format, "idx");
    assert_string_equal(report->about, "unsigned bytes, 3 x 1 x 2");
    assert_int_equal(report->columns, 2);
    assert_null(report->label);
    expect_odd("gzip", 1, 0, NULL, "gzip");
    expect_odd("big-endian", 1, 0, NULL, "highest byte first");
    expect_odd("byte-values", 2, 0, "data.scale", "0 and 255");
    expect_odd("no-labels", 0, 0, "data.labels", "--labels");
    snprintf(path, sizeof path, "%s/%s", fixture_folder, write_bytes("labels", labels, sizeof labels));
    CHECK_OK(fixture_ctx, check_path("packed", &(mfpg_data_check_options){.labels = path}));
    assert_int_equal(report->columns, 2);
    assert_int_equal(report->classes, 2);
    expect_none("no-labels");
    assert_non_null(strstr(report->configuration, "labels: ["));
    check_file("labels");
    expect_odd("one-column", 1, 0, "data.labels", "labels without features");
    assert_int_equal(report->class_rows[1].rows, 2);
    write_bytes("array", npy, npy_build(npy, "<f4", "(2, 3)", values, sizeof values));
    check_file("array");
    assert_string_equal(report->format, "npy");
    assert_string_equal(report->about, "type <f4, 2 x 3");
    expect_odd("last-column-label", 0, 0, "data.labels", "last column");
    expect_odd("infinite", 1, 2, "data.drop_columns", "1 infinite value");
    expect_odd("missing-mark", 1, 1, "data.missing.rows", "NaN");
    assert_int_equal(report->columns, 3);
    zip_add_array(&zip, "x.npy", "<f4", "(3, 2)", values, sizeof values, ZIP_DEFLATE);
    zip_add_array(&zip, "y.npy", "|u1", "(3,)", classes, sizeof classes, 0);
    write_bytes("archive", zip.bytes, zip_finish(&zip, 0));
    check_file("archive");
    assert_string_equal(report->format, "npz");
    assert_int_equal(report->columns, 2);
    assert_int_equal(report->classes, 2);
    assert_string_equal(
        report->about, "features \"x.npy\" (type <f4, 3 x 2), labels \"y.npy\" (type |u1, 3)");
}

static void test_what_no_setting_reads_is_refused_by_place(void **state) {
    (void)state;
    write_text("ragged", "a,b\n1,2\n3\n");
    REFUSE("ragged", "ragged:3: found 1 field, expected 2");
    write_text("quote", "a,b\n1,\"2\n");
    REFUSE("quote", "quote:2:", "never closed");
    write_text("twice", "a,a\n1,2\n");
    REFUSE("twice", "twice:1: columns 1 and 2 are both called \"a\"");
    write_bytes("zero", "a,b\n1,\0\n", 8);
    REFUSE("zero", "zero: byte 6: found 0x00");
    write_text("empty", "");
    REFUSE("empty", "empty: byte 0: the file is empty");
    REFUSE("absent", "absent: No such file");
    REFUSE(".", "is not a file");
    write_text("sparse", "1 1:1\n1 0:1\n");
    REFUSE("sparse", "sparse:2:", "from 1 to 65534");
    const unsigned char idx[] = {0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 255};
    write_bytes("cut", idx, sizeof idx);
    REFUSE("cut", "cut: byte 18: the file ends too early");
    write_bytes("cut", idx, 10); /* within the header */
    REFUSE("cut", "cut: byte 10: the file ends too early");
}

static void test_other_formats_are_named_with_the_way_out(void **state) {
    (void)state;
    const struct {
        const char *head;
        size_t length;
        const char *name, *advice;
    } cases[] = {
#define HEAD(bytes) bytes, sizeof(bytes) - 1
        {HEAD("MATLAB 5.0 MAT-file, Platform: PCWIN"), "MATLAB", "loadmat"},
        {HEAD("MATLAB 7.3 MAT-file, Platform"), "MATLAB 7.3", "h5py"},
        {HEAD("\x89HDF\r\n\x1a\n"), "HDF5", "h5py"},
        {HEAD("PAR1\x15\x04\x15"), "Parquet", "read_parquet"},
        {HEAD("ARROW1\0\0"), "Arrow", "read_feather"},
        {HEAD("PK\3\4"), "archive", "byte 4"},
        {HEAD("{\"users\": [\"a\"], \"num_samples\": [1], \"user_data\": {}}"), "LEAF", "partition.column"},
        {HEAD("[{\"a\": 1}]"), "JSON", "read_json"},
        {HEAD("<!DOCTYPE html><html><body>403 Forbidden"), "web page", "download"},
        {HEAD("@relation iris\n@attribute x real\n@data\n1\n"), "ARFF", "loadarff"},
        {HEAD("\x80\x04\x95\x10"), "pickle", "may run code"},
        {HEAD("\xFF\xFE"
              "a\0,\0"),
            "UTF-16", "iconv"},
        {HEAD("BZh91AY&SY\x01\x02"), "bzip2", "bunzip2"},
        {HEAD("SQLite format 3\0"), "SQLite", "export"},
        {HEAD("RDX3\nX\n\0\0\0\3"), "R data", "write.csv"},
        {HEAD("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), "Excel", "CSV"},
#undef HEAD
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_bytes("foreign", cases[i].head, cases[i].length);
        REFUSE("foreign", "foreign: byte ", cases[i].name, cases[i].advice);
        /* Training says so as well, after what its reader found. */
        static const char *const file[] = {"foreign"};
        mfpg_data_options options = reading(file, 1);
        if (strstr(cases[i].name, "archive")) continue;
        EXPECT_ERROR(&options, "foreign", cases[i].name);
    }
    char path[1024];
    snprintf(path, sizeof path, "%s/text.gz", fixture_folder);
    gzFile file = gzopen(path, "wb");
    gzputs(file, "a,b\n1,2\n");
    gzclose(file);
    REFUSE("text.gz", "byte 0: a gzip file around csv", "gunzip");
    check_text("RDA,BZh,y\n1,2,0\n2,3,1\n"); /* names, no magic */
    assert_string_equal(report->format, "csv");
    write_text("brackets", "[id],x,y\n1,2,0\n2,3,1\n"); /* no JSON */
    check_file("brackets");
    assert_string_equal(report->format, "csv");
}

/* Texts reach a terminal and a JSON file: UTF-8, one line, no control characters. */
static void test_strange_bytes_are_made_harmless(void **state) {
    (void)state;
    check_text("n\xC3\xA4me,\x1B[31mred,\xFF\xFE!,\xC2\x9B"
               "31m,y\n1,2,3,4,\xFF\n2,3,4,5,b\x07\n");
    assert_string_equal(report->column[0].name, "n\xC3\xA4me");
    assert_string_equal(report->column[1].name, "[31mred");
    assert_string_equal(report->column[2].name, "?"
                                                "?!");
    assert_string_equal(report->column[3].name, "  31m");
    assert_string_equal(report->class_rows[0].text, "?");
    assert_string_equal(report->class_rows[1].text, "b ");
}

/* data/README.md of the reference data: rows, columns, positives, and its quirks. */
static void test_real_files_have_the_counts_of_their_readme(void **state) {
    (void)state;
    const char *shared = need_shared();
    const struct {
        const char *file, *format;
        int64_t rows;
        ptrdiff_t columns, clients;
        int64_t duplicates, commonest; /* 0: none, or no classes */
    } cases[] = {
        {"heart/processed.cleveland.data", "csv", 303, 14, 0, 0, 164},
        {"heart/processed.hungarian.data", "csv", 294, 14, 0, 1, 188},
        {"heart/processed.switzerland.data", "csv", 123, 14, 0, 0, 48},
        {"heart/processed.va.data", "csv", 200, 14, 0, 1, 56},
        {"adult/adult.data", "csv", 32561, 15, 0, 24, 32561 - 7841},
        {"adult/adult.test", "csv", 16281, 15, 0, 5, 16281 - 3846},
        {"mnist/t10k-labels-idx1-ubyte.gz", "idx", 10000, 1, 0, 0, 1135},
        {"parkinsons/parkinsons_updrs.data", "csv", 5875, 22, 42, 0, 0},
        {"multilevel/contraception.csv", "csv", 1934, 6, 60, 0, 1372},
        {"multilevel/exam.csv", "csv", 4059, 10, 65, 0, 0},
        {"multilevel/hsb82.csv", "csv", 7185, 8, 160, 0, 0},
        {"multilevel/chem97.csv", "csv", 31022, 8, 131, 0, 0},
        {"libsvm/heart_scale", "libsvm", 270, 13, 0, 0, 150},
        {"libsvm/a9a", "libsvm", 32561, 123, 0, -1, 32561 - 7841},
        {"libsvm/a9a.t", "libsvm", 16281, 122, 0, -1, 16281 - 3846},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[4300];
        int64_t commonest = 0;
        snprintf(path, sizeof path, "%s/data/%s", shared, cases[i].file);
        check_file(path);
        assert_string_equal(report->format, cases[i].format);
        assert_int_equal(report->rows, cases[i].rows);
        assert_int_equal(report->columns, cases[i].columns);
        assert_int_equal(report->client_columns > 0 ? report->client_column[0].clients : 0, cases[i].clients);
        const mfpg_oddity *twice = find("duplicate-rows");
        if (cases[i].duplicates >= 0) assert_int_equal(twice ? twice->count : 0, cases[i].duplicates);
        for (ptrdiff_t c = 0; c < report->classes; c++)
            if (report->class_rows[c].rows > commonest) commonest = report->class_rows[c].rows;
        if (cases[i].commonest > 0) assert_int_equal(commonest, cases[i].commonest);
    }
}

/* The usual cut of the four hospitals drops slope, ca and thal: 740 rows of them are complete (data/README.md). */
static void test_the_hospitals_lose_their_three_columns(void **state) {
    (void)state;
    const char *shared = need_shared();
    const struct {
        const char *file, *what;
    } cases[] = {{"hungarian", "261 would be without"}, {"va", "130 would be without"}};
    for (size_t i = 0; i < 2; i++) {
        char path[4300];
        snprintf(path, sizeof path, "%s/data/heart/processed.%s.data", shared, cases[i].file);
        check_file(path);
        const mfpg_oddity *odd = find("incomplete-rows");
        assert_non_null(odd);
        assert_non_null(strstr(odd->text, cases[i].what));
        assert_non_null(strstr(odd->text, "c11, c12, c13"));
    }
    expect_odd("zero-as-missing", 1, 34, "data.drop_columns",
        "column c4: 1 zero,"); /* trestbps, and chol after it */
    assert_int_equal(report->column[4].missing, 7);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_plain_file_has_no_oddities),
        TEST(test_headers_are_told_from_data),
        TEST(test_missing_marks_are_counted_by_column),
        TEST(test_values_that_may_mean_missing_are_suspected),
        TEST(test_marks_that_may_be_values_are_missing_among_numbers_only),
        TEST(test_numbers_in_all_their_spellings_are_numbers),
        TEST(test_line_ends_marks_and_separators),
        TEST(test_labels_with_and_without_a_dot_are_one_class),
        TEST(test_labels_of_one_class_of_few_and_of_many),
        TEST(test_columns_of_text_of_one_value_and_of_none),
        TEST(test_rows_that_stand_twice),
        TEST(test_columns_that_name_a_client),
        TEST(test_libsvm_blanks_zeros_and_the_top_index),
        TEST(test_arrays_say_what_they_are),
        TEST(test_what_no_setting_reads_is_refused_by_place),
        TEST(test_other_formats_are_named_with_the_way_out),
        TEST(test_strange_bytes_are_made_harmless),
        TEST(test_real_files_have_the_counts_of_their_readme),
        TEST(test_the_hospitals_lose_their_three_columns),
    };
#undef TEST
    return FIXTURE_RUN(tests);
}
