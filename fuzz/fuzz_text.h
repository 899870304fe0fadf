/* A configuration as the text that it writes. */
#ifndef MFPG_FUZZ_FUZZ_TEXT_H
#define MFPG_FUZZ_FUZZ_TEXT_H

#include "fuzz.h"

#include "mfpg/config.h"

/* What mfpg_config_write writes; free it. */
static inline char *write_whole(const mfpg_config *config, size_t *size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out) abort();
    fuzz_expect(mfpg_config_write(fuzz_context(), config, out) == MFPG_OK, "a configuration is not written");
    fclose(out);
    return text;
}

#endif
