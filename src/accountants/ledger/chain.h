/* The chain of a ledger: every line ends with the hash of the chain so far and of the line itself, so that a line cannot be
 * changed, removed, inserted or moved without breaking the chain from there on.
 *
 * The value of a line is SHA-256 of the previous line's value, as its 64 digits (nothing before the first line), followed by
 * the line's bytes without its key "chain" and without the line end. There is no key: whoever rewrites a ledger to its end,
 * hashes included, is found out only by a copy of the last value that he does not hold. */
#ifndef MFPG_ACCOUNTANTS_LEDGER_CHAIN_H
#define MFPG_ACCOUNTANTS_LEDGER_CHAIN_H

#include <stddef.h>

#include "accountants/accounting.h"

enum { MFPG_LEDGER_SEAL = sizeof ",\"chain\":\"\"" - 1 + MFPG_LEDGER_CHAIN_SIZE - 1 }; /* bytes of the key */

/* Turns the line {...} of length bytes into {...,"chain":"VALUE"} and returns its new length; the line has room for
 * MFPG_LEDGER_SEAL bytes more. chain holds the previous value, "" before the first line, and becomes the line's own. */
size_t mfpg_ledger_seal(char *line, size_t length, char chain[MFPG_LEDGER_CHAIN_SIZE]);

/* 1 where the line ends with that key, whatever the value. */
int mfpg_ledger_is_sealed(const char *line, size_t length);

/* 1 where the sealed line's value is the one that follows chain, which then becomes it. */
int mfpg_ledger_follows(const char *line, size_t length, char chain[MFPG_LEDGER_CHAIN_SIZE]);

#endif
