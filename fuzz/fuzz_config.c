/* A configuration of any text: refused with a message, or checked, written, and read back as the same. */
#include "fuzz.h"
#include "experiment/config/settings.h"

#include "mfpg/config.h"

static char *write_whole(const mfpg_config *config, size_t *size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out) abort();
    fuzz_expect(mfpg_config_write(fuzz_context(), config, out) == MFPG_OK, "a configuration is not written");
    fclose(out);
    return text;
}

/* Takes out, in place, the lines that are comments: a key that does not count in the run is one, with the value that was
 * given, and once read again with its default. Returns the new size. */
static size_t drop_comments(char *text, size_t size) {
    size_t kept = 0;
    for (size_t at = 0, next; at < size; at = next) {
        const char *end = memchr(text + at, '\n', size - at);
        next = end ? (size_t)(end - text) + 1 : size;
        if (text[at + strspn(text + at, " ")] == '#') continue;
        memmove(text + kept, text + at, next - at);
        kept += next - at;
    }
    return kept;
}

static void write_and_read_back(const mfpg_config *config) {
    size_t size = 0, size_again = 0;
    char *text = write_whole(config, &size);
    mfpg_config *again = NULL;
    fuzz_expect(mfpg_config_load_text(fuzz_context(), text, size, "again", NULL, &again) == MFPG_OK,
        "what was written is not read");
    char *text_again = write_whole(again, &size_again);
    size = drop_comments(text, size);
    size_again = drop_comments(text_again, size_again);
    fuzz_expect(size > 0, "a configuration without a key");
    fuzz_expect(size == size_again && memcmp(text, text_again, size) == 0, "it changes on its way");
    mfpg_config_destroy(again);
    free(text);
    free(text_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mfpg_context *ctx = fuzz_context();
    mfpg_config *config = NULL;
    mfpg_status status = mfpg_config_load_text(ctx, (const char *)data, size, "fuzz.yaml", NULL, &config);
    if (status == MFPG_OK && mfpg_config_check(ctx, config) == MFPG_OK) write_and_read_back(config);
    if (status != MFPG_OK) {
        fuzz_expect(!config, "a configuration in spite of an error");
        fuzz_expect(status == MFPG_ERR_INPUT, "an error that does not blame the text");
        fuzz_expect(mfpg_context_message(ctx)[0] != 0, "an error without a message");
    }
    mfpg_config_destroy(config);
    return 0;
}
