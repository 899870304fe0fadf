/* Templates: sections, names from the inside out, and text that means nothing to a browser. */
#include "experiment/fixture.h"

#include "report/template.h"

/* What the template makes of values, which are consumed; free it. */
static char *fill(const char *text, json_t *values, mfpg_status expected) {
    char *out = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&out, &size);
    assert_non_null(stream);
    assert_non_null(values);
    assert_int_equal(mfpg_template_write(ctx, text, values, stream), expected);
    fclose(stream);
    json_decref(values);
    return out;
}

static void check_filled(const char *text, json_t *values, const char *expected) {
    char *out = fill(text, values, MFPG_OK);
    assert_string_equal(out, expected);
    free(out);
}

static void test_values_stand_where_their_names_stood(void **state) {
    (void)state;
    check_filled("a {{x}} b {{n}} c {{r}} d {{t}}{{z}}.",
        json_pack("{s:s, s:i, s:f, s:b, s:n}", "x", "X", "n", 7, "r", 0.1, "t", 1, "z"),
        "a X b 7 c 0.1 d yes.");
    check_filled("no tags, { {x} }", json_object(), "no tags, { {x} }");
}

static void test_sections_repeat_and_their_inverse_does_not(void **state) {
    (void)state;
    check_filled("{{#l}}<{{.}}>{{/l}}{{^l}}none{{/l}}", json_pack("{s:[s, s]}", "l", "a", "b"), "<a><b>");
    check_filled("{{#l}}<{{.}}>{{/l}}{{^l}}none{{/l}}", json_pack("{s:[]}", "l"), "none");
    check_filled("{{#l}}x{{/l}}{{^l}}none{{/l}}", json_object(), "none");
    check_filled("{{#o}}{{v}}{{/o}}{{#t}}T{{/t}}{{#f}}F{{/f}}{{#n}}N{{/n}}",
        json_pack("{s:{s:s}, s:b, s:b, s:n}", "o", "v", "V", "t", 1, "f", 0, "n"), "VT");
}

/* A name inside hides the one outside, also where it holds nothing. */
static void test_names_are_looked_up_from_the_inside(void **state) {
    (void)state;
    check_filled("{{#o}}{{#p}}{{x}}{{y}}{{/p}}{{/o}}",
        json_pack("{s:s, s:s, s:{s:{s:s}}}", "x", "outer", "y", "Y", "o", "p", "x", "inner"), "innerY");
    check_filled("{{#o}}{{#x}}there{{/x}}{{^x}}not{{/x}}{{/o}}",
        json_pack("{s:s, s:{s:n}}", "x", "outer", "o", "x"), "not");
    check_filled("{{#s}}{{#s}}{{.}}{{/s}}{{/s}}", json_pack("{s:[s, s]}", "s", "a", "b"), "abab");
}

static void test_text_means_nothing_to_a_browser(void **state) {
    (void)state;
    check_filled("<b title=\"{{x}}\">", json_pack("{s:s}", "x", "\"><script>alert('1')&amp;</script>"),
        "<b title=\"&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&amp;amp;&lt;/script&gt;\">");
    check_filled("{{x}}", json_pack("{s:s}", "x", "{{y}} Z\xC3\xBCrich \xE2\x82\xAC"),
        "{{y}} Z\xC3\xBCrich \xE2\x82\xAC");
}

static void test_bytes_that_are_no_text_are_replaced(void **state) {
    (void)state;
    static const char hostile[] = "a\xFFz\xC0\xAF \xED\xA0\x80\x1B[1m\x7F\xC2\x85\n\xE2\x82";
    json_t *values = json_object();
    json_object_set_new(values, "x", json_stringn_nocheck(hostile, sizeof hostile)); /* with its 0 */
#define R "\xEF\xBF\xBD"
    check_filled("{{x}}", values, "a" R "z" R R " " R R R R "[1m" R R "\n" R R R);
}

static void test_faults_of_a_template_are_named(void **state) {
    (void)state;
    free(fill("{{nobody}}", json_object(), MFPG_ERR_DOMAIN));
    MESSAGE_HOLDS("'nobody'");
    free(fill("{{#open}}", json_object(), MFPG_ERR_DOMAIN));
    MESSAGE_HOLDS("'open'", "no end");
    free(fill("{{/closed}}", json_object(), MFPG_ERR_DOMAIN));
    MESSAGE_HOLDS("'closed'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_stand_where_their_names_stood),
        cmocka_unit_test(test_sections_repeat_and_their_inverse_does_not),
        cmocka_unit_test(test_names_are_looked_up_from_the_inside),
        cmocka_unit_test(test_text_means_nothing_to_a_browser),
        cmocka_unit_test(test_bytes_that_are_no_text_are_replaced),
        cmocka_unit_test(test_faults_of_a_template_are_named),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
