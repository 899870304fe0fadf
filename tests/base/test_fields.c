/* Records by their tables of fields: CSV, JSON and the check of JSON that is read. */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields.h"

typedef struct record {
    double number, magnitude;
    ptrdiff_t count;
    int64_t index;
    int truth;
    const char *text;
} record;

enum { FIRST = 1 << 8, SECOND = 1 << 9 };
#define FIELD(name, kind, places, member)                                                                    \
    { name, MFPG_FIELD_##kind, places, offsetof(record, member), "" }

static const mfpg_record_field list[] = {
    FIELD("count", COUNT, FIRST | SECOND | MFPG_FIELD_JSON, count),
    FIELD("number", NUMBER, FIRST | MFPG_FIELD_JSON, number),
    FIELD("range.most", MAGNITUDE, MFPG_FIELD_JSON, magnitude),
    FIELD("range.index", INDEX, MFPG_FIELD_JSON, index),
    FIELD("index", INDEX, FIRST, index),
    FIELD("truth", TRUTH, FIRST | MFPG_FIELD_JSON, truth),
    FIELD("text", TEXT, SECOND | MFPG_FIELD_JSON, text),
};
static const mfpg_fields fields = MFPG_FIELDS("test", list);

static void expect_csv(int place, const record *row, const char *expected) {
    char *text = NULL;
    size_t size = 0;
    mfpg_csv csv = {.stream = open_memstream(&text, &size)};
    mfpg_fields_csv_header(&csv, &fields, place);
    mfpg_fields_csv_row(&csv, &fields, place, row);
    fclose(csv.stream);
    assert_string_equal(text, expected);
    free(text);
}

static void test_a_file_has_the_fields_of_its_place_in_their_order(void **state) {
    (void)state;
    const record full = {-0.5, INFINITY, 7, 3, 1, "a,b"}, empty = {NAN, NAN, 0, -1, 0, NULL};
    expect_csv(FIRST, &full, "count,number,index,truth\n7,-0.5,3,1\n");
    expect_csv(FIRST, &empty, "count,number,index,truth\n0,,,0\n");
    expect_csv(SECOND, &full, "count,text\n7,\"a,b\"\n");
    expect_csv(SECOND, &empty, "count,text\n0,\n");
}

static void expect_json(const record *row, const char *expected) {
    json_t *object = mfpg_fields_json(&fields, MFPG_FIELD_JSON, row);
    char *text = json_dumps(object, JSON_COMPACT);
    assert_string_equal(text, expected);
    free(text);
    json_decref(object);
}

static void test_an_object_has_nested_keys_and_says_what_has_no_value(void **state) {
    (void)state;
    expect_json(&(record){-0.5, INFINITY, 7, 3, 1, "a"},
        "{\"count\":7,\"number\":-0.5,\"range\":{\"most\":\"inf\","
        "\"index\":3},\"truth\":true,\"text\":\"a\"}");
    expect_json(&(record){NAN, NAN, 0, -1, -1, NULL}, "{\"count\":0,\"number\":null,\"range\":{\"most\":null,"
                                                      "\"index\":null},\"truth\":\"unknown\",\"text\":null}");
}

static void test_a_field_is_found_in_its_places_alone(void **state) {
    (void)state;
    const record row = {-0.5, 2, 7, -1, 1, "a"};
    assert_null(mfpg_fields_find(&fields, SECOND, "number"));
    assert_true(mfpg_field_number(mfpg_fields_find(&fields, FIRST, "number"), &row) == -0.5);
    assert_true(mfpg_field_number(mfpg_fields_find(&fields, FIRST, "count"), &row) == 7.0);
    assert_true(isnan(mfpg_field_number(mfpg_fields_find(&fields, FIRST, "index"), &row)));
    assert_true(isnan(mfpg_field_number(mfpg_fields_find(&fields, SECOND, "text"), &row)));
    assert_true(mfpg_field_is_number(mfpg_fields_find(&fields, FIRST, "index")));
    assert_false(mfpg_field_is_number(mfpg_fields_find(&fields, FIRST, "truth")));
}

static mfpg_status check(mfpg_context *ctx, const char *text) {
    static const mfpg_record_field checked[] = {FIELD("number", NUMBER, 1, number),
        FIELD("magnitude", MAGNITUDE, 1, magnitude), FIELD("count", COUNT, 1, count),
        FIELD("truth", TRUTH, 1, truth), FIELD("text", TEXT, 1, text), FIELD("other", TEXT, 2, text)};
    static const mfpg_fields table = MFPG_FIELDS("test", checked);
    json_t *object = json_loads(text, 0, NULL);
    mfpg_status status = mfpg_fields_check(ctx, &table, 1, object, "file: ");
    json_decref(object);
    return status;
}

static void test_what_has_another_kind_is_refused_by_name(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"{\"truth\": true, \"text\": 1}", "file: text: missing, or not a text"},
        {"{\"text\": \"a\"}", "file: truth: missing, or not true or false"},
        {"{\"truth\": true, \"text\": \"a\", \"magnitude\": -1}",
            "file: magnitude: missing, or not a number from 0"},
        {"{\"truth\": true, \"text\": \"a\", \"magnitude\": \"-inf\"}", "magnitude"},
        {"{\"truth\": true, \"text\": \"a\", \"number\": \"nan\"}", "file: number: missing, or not a number"},
        {"{\"truth\": true, \"text\": \"a\", \"count\": -1}", "count"},
        {"{\"truth\": true, \"text\": \"a\", \"count\": [1]}", "count"},
    };
    mfpg_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(check(ctx, wrong[i].text), MFPG_ERR_INPUT);
        assert_non_null(strstr(mfpg_context_message(ctx), wrong[i].message));
    }
    CHECK_OK(ctx, check(ctx, "{\"truth\": false, \"text\": \"\"}"));
    CHECK_OK(
        ctx, check(ctx, "{\"truth\": true, \"text\": \"a\", \"number\": \"-inf\", \"magnitude\": \"inf\", "
                        "\"count\": 0, \"other\": 1}"));
    CHECK_OK(ctx, check(ctx, "{\"truth\": true, \"text\": \"a\", \"number\": null, \"magnitude\": 0.5}"));
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_has_the_fields_of_its_place_in_their_order),
        cmocka_unit_test(test_an_object_has_nested_keys_and_says_what_has_no_value),
        cmocka_unit_test(test_a_field_is_found_in_its_places_alone),
        cmocka_unit_test(test_what_has_another_kind_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
