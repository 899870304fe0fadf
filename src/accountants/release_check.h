/* Is this something that can be accounted for? Accountants and ledgers ask before they take it. */
#ifndef MFPG_ACCOUNTANTS_RELEASE_CHECK_H
#define MFPG_ACCOUNTANTS_RELEASE_CHECK_H

#include "mfpg/release.h"

/* NULL for a sound release, else what is wrong with it ("noise_sd is not a finite number >= 0"). */
const char *mfpg_release_fault(const mfpg_release *release);

/* The same of a sound release under that promise: another unit, or a grid that does not fit its noise. */
const char *mfpg_promised_fault(const mfpg_promise *promise, const mfpg_release *release);

/* The same of a promise: is it made of known names? */
const char *mfpg_promise_fault(const mfpg_promise *promise);

#endif
