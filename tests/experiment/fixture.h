/* What the tests of the configuration share. */
#ifndef MFPG_TESTS_EXPERIMENT_FIXTURE_H
#define MFPG_TESTS_EXPERIMENT_FIXTURE_H

#include "testing.h"

#include <unistd.h>

#include "mfpg/config.h"

static mfpg_context *ctx;

static int open_context(void **state) {
    (void)state;
    ctx = testing_context(1);
    return 0;
}

static int close_context(void **state) {
    (void)state;
    mfpg_context_destroy(ctx);
    return 0;
}

/* A configuration from text that must be right, called c.yaml in messages. */
static inline mfpg_config *load(const char *text) {
    mfpg_config *config = NULL;
    CHECK_OK(ctx, mfpg_config_load_text(ctx, text, strlen(text), "c.yaml", NULL, &config));
    return config;
}

static inline void set(mfpg_config *config, const char *argument) {
    CHECK_OK(ctx, mfpg_config_set(ctx, config, argument));
}

/* The last message must hold every part (ends with NULL). */
static inline void check_message(const char *const *parts) {
    for (; *parts; parts++) {
        if (strstr(mfpg_context_message(ctx), *parts)) continue;
        print_error("message without '%s': %s\n", *parts, mfpg_context_message(ctx));
        fail();
    }
}
#define MESSAGE_HOLDS(...) check_message((const char *const[]){__VA_ARGS__, NULL})

/* The text must be refused, *out untouched. */
static inline void refuse_text(const char *text, size_t length) {
    mfpg_config *config = NULL;
    mfpg_status status = mfpg_config_load_text(ctx, text, length, "c.yaml", NULL, &config);
    if (status != MFPG_ERR_INPUT) {
        print_error("not refused: %.200s\n", text);
        fail();
    }
    assert_null(config);
}

/* What mfpg_config_write writes; free it. */
static inline char *written(const mfpg_config *config) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    CHECK_OK(ctx, mfpg_config_write(ctx, config, stream));
    fclose(stream);
    return text;
}

/* A fresh folder that the caller removes; static storage. */
static inline const char *temporary_folder(void) {
    static char folder[64];
    strcpy(folder, "/tmp/mfpg-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static inline void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

#endif
