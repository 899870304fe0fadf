/* Nothing is ever downloaded or sent: the program imports nothing that could open a connection. */
#include "cli/program.h"

static const char *const calls[] = {
    "socket", "connect", "getaddrinfo", "gethostbyname", "sendto", "bind", "dlopen", "popen"};

/* Whether a line "   U NAME@VERSION" of nm is an import of this name. */
static int imports(const char *line, const char *name) {
    const char *at = strstr(line, " U ");
    size_t length = strlen(name);
    return at && strncmp(at + 3, name, length) == 0 && (at[3 + length] == '@' || at[3 + length] == '\n');
}

static void test_the_program_cannot_open_a_connection(void **state) {
    (void)state;
    if (TESTING_SANITIZED) skip(); /* the sanitizer's own runtime has them */
    need_program("nm", "binutils");
    char line[512];
    int seen = 0;
    FILE *listing = popen("nm -D --undefined-only '" MFPG_PROGRAM "' 2>/dev/null", "r");
    assert_non_null(listing);
    while (fgets(line, sizeof line, listing)) {
        seen += imports(line, "fopen") || imports(line, "fopen64");
        for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
            if (imports(line, calls[i])) fail_msg("%s is imported", calls[i]);
    }
    int told = pclose(listing) == 0 && seen > 0; /* a static program shows no imports: nothing is known */
    if (!told) {
        print_message("SKIPPED: nm shows no imports of the program\n");
        skip();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_program_cannot_open_a_connection)};
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
