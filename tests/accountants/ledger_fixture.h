/* What the tests of the ledger share: a folder that lasts one program, one file in it, and its bytes. */
#ifndef MFPG_TESTS_ACCOUNTANTS_LEDGER_FIXTURE_H
#define MFPG_TESTS_ACCOUNTANTS_LEDGER_FIXTURE_H

#include "accountants/fixture.h"

#include <unistd.h>

static char folder[] = "ledger-XXXXXX", path[64];

static inline int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/ledger", folder);
    return 0;
}

static inline int remove_file(void **state) {
    (void)state;
    unlink(path);
    return 0;
}

static inline int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

/* At most a mebibyte; the caller's to free. */
static inline char *file_text(size_t *length) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    *length = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

static inline void write_file(const char *text, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
}

#endif
