/* Ledgers written by hand: every line that is an object gets its place in the chain, so that what is tested is what it says. */
#ifndef MFPG_TESTS_LEDGER_TEXT_H
#define MFPG_TESTS_LEDGER_TEXT_H

#include <stdlib.h>
#include <string.h>

#include "accountants/ledger/ledger.h"

/* The text with every line {...} sealed anew, what it was sealed with taken off; *length is that of the text and becomes
 * the new one. A closing 0 stands behind it; free it. NULL without memory. */
static inline char *ledger_sealed(const char *text, size_t *length) {
    size_t lines = 1, used = 0;
    for (size_t i = 0; i < *length; i++) lines += text[i] == '\n';
    char *out = malloc(*length + lines * MFPG_LEDGER_SEAL + 1), chain[MFPG_LEDGER_CHAIN_SIZE] = "";
    if (!out) return NULL;
    for (const char *at = text, *end = text + *length; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((stop ? stop : end) - at), line = used;
        memcpy(out + line, at, size);
        at += size + (stop != NULL);
        used += size;
        if (mfpg_ledger_is_sealed(out + line, size)) {
            used -= MFPG_LEDGER_SEAL;
            out[used - 1] = '}';
        }
        if (used > line && out[used - 1] == '}')
            used = line + mfpg_ledger_seal(out + line, used - line, chain);
        if (stop) out[used++] = '\n';
    }
    out[used] = 0;
    *length = used;
    return out;
}

#endif
