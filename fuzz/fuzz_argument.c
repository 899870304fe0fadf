/* KEY=VALUE arguments, one a line, on one configuration: each is applied, or refused and without effect. */
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

static void apply(mfpg_config *config, const char *argument) {
    mfpg_context *ctx = fuzz_context();
    size_t before_size = 0, after_size = 0;
    int sweep;
    int64_t first, last;
    mfpg_config_sweep(ctx, argument, &sweep, &first, &last);
    char *before = write_whole(config, &before_size);
    mfpg_status status = mfpg_config_set(ctx, config, argument);
    if (status != MFPG_OK) {
        fuzz_expect(status == MFPG_ERR_INPUT, "an error that does not blame the argument");
        char *after = write_whole(config, &after_size);
        fuzz_expect(before_size == after_size && memcmp(before, after, after_size) == 0,
            "a refused argument has an effect");
        free(after);
    }
    free(before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { MOST = 16 };
    mfpg_config *config = NULL;
    char *text = malloc(size + 1), *rest = text;
    if (!text) abort();
    memcpy(text, data, size);
    text[size] = 0;
    fuzz_expect(mfpg_config_create(fuzz_context(), &config) == MFPG_OK, "no configuration");
    for (int i = 0; i < MOST && rest; i++) apply(config, strsep(&rest, "\n"));
    mfpg_config_check(fuzz_context(), config);
    mfpg_config_destroy(config);
    free(text);
    return 0;
}
