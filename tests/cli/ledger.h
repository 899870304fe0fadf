/* Ledgers of the command line's tests. */
#ifndef MFPG_TESTS_CLI_LEDGER_H
#define MFPG_TESTS_CLI_LEDGER_H

#include "cli/program.h"
#include "ledger_text.h"

/* A file of these lines, each sealed. */
static inline void write_ledger(const char *name, const char *text) {
    size_t length = strlen(text);
    char *sealed = ledger_sealed(text, &length);
    assert_non_null(sealed);
    write_in_folder(name, sealed);
    free(sealed);
}

/* The text of a file in the folder; free it. */
static inline char *text_in_folder(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    size_t length = fread(text, 1, (1 << 20) - 1, file);
    assert_int_equal(fclose(file), 0);
    text[length] = 0;
    return text;
}

/* The same file with every line sealed anew, as a forger with the program's source would leave it. */
static inline void seal_ledger(const char *name) {
    char *text = text_in_folder(name);
    write_ledger(name, text);
    free(text);
}

#endif
