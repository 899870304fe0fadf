/* Checks whether a release can be accounted for. Accountants and ledgers call this before they accept it. */
#ifndef MFPG_ACCOUNTANTS_RELEASE_CHECK_H
#define MFPG_ACCOUNTANTS_RELEASE_CHECK_H

#include "mfpg/release.h"

/* Returns NULL for a valid release, and otherwise what is wrong with it ("noise_sd is not a finite number >=
 * 0"). */
const char *mfpg_release_fault(const mfpg_release *release);

/* Returns the same for a valid release under that promise: another unit, or a grid that does not fit its
 * noise. */
const char *mfpg_promised_fault(const mfpg_promise *promise, const mfpg_release *release);

/* Returns what is wrong with a promise whose names are unknown; NULL if they are known. */
const char *mfpg_promise_fault(const mfpg_promise *promise);

#endif
