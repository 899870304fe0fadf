/* Text of any origin: what is a character, and what a terminal gets to see. */
#include "testing.h"

#include "base/names.h"

static char *shown(const char *text, int width) {
    char *out = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&out, &size);
    assert_non_null(stream);
    mfpg_terminal_text(text, width, stream);
    fclose(stream);
    return out;
}

static void check_shown(const char *text, int width, const char *expected) {
    char *out = shown(text, width);
    assert_string_equal(out, expected);
    free(out);
}

/* The table of well-formed byte sequences of RFC 3629, its ends and what lies just outside of them. */
static void test_characters_are_those_of_rfc_3629(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {{"a", 1}, {"\x7F", 1}, {"\x80", 0}, {"\xC1\xBF", 0}, {"\xC2\x80", 2}, {"\xDF\xBF", 2},
        {"\xE0\x9F\xBF", 0}, {"\xE0\xA0\x80", 3}, {"\xED\x9F\xBF", 3}, {"\xED\xA0\x80", 0},
        {"\xEE\x80\x80", 3}, {"\xEF\xBF\xBF", 3}, {"\xF0\x8F\xBF\xBF", 0}, {"\xF0\x90\x80\x80", 4},
        {"\xF4\x8F\xBF\xBF", 4}, {"\xF4\x90\x80\x80", 0}, {"\xF5\x80\x80\x80", 0}, {"\xFF", 0},
        {"\xE2\x82", 0}, {"\xC3(", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(mfpg_utf8_length(cases[i].text, strlen(cases[i].text)), cases[i].length);
        assert_int_equal(mfpg_text_is_utf8(cases[i].text), cases[i].length > 0);
    }
    assert_int_equal(mfpg_utf8_length("\xE2\x82\xAC", 2), 0); /* more bytes than there are */
}

static void test_a_terminal_sees_no_commands(void **state) {
    (void)state;
    check_shown("a\033[31mb", 20, "a\\x1b[31mb          ");
    check_shown("\xC2\x9B"
                "1m",
        12, "\\xc2\\x9b1m  "); /* CSI in one character */
    check_shown("\xFFx\n\t", 16, "\\xffx\\x0a\\x09   ");
}

static void test_text_is_cut_and_filled_by_columns(void **state) {
    (void)state;
    check_shown("Z\xC3\xBCrich", 8, "Z\xC3\xBCrich  ");
    check_shown("Z\xC3\xBCrich", 5, "Z\xC3\xBC...");
    check_shown("", 3, "   ");
    assert_int_equal(mfpg_terminal_width("Z\xC3\xBCrich\n"), 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_characters_are_those_of_rfc_3629),
        cmocka_unit_test(test_a_terminal_sees_no_commands),
        cmocka_unit_test(test_text_is_cut_and_filled_by_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
