/* Releases as the library uses them: their actions and names, comparison and hashing. release.c lists every
 * field of mfpg_release with the parts to which it belongs. */
#ifndef MFPG_BASE_RELEASE_PARTS_H
#define MFPG_BASE_RELEASE_PARTS_H

#include "mfpg/release.h"

const char *mfpg_unit_name(mfpg_unit unit); /* "client", "example" */
const char *mfpg_view_name(mfpg_view view); /* "local", "average", "final" */

/* Returns the number that the control names; NaN for MFPG_CONTROL_NONE. */
double mfpg_action_value(const mfpg_action *action);

/* Returns 1 if a release is a choice of action from private measurements (mechanisms/private_action.h): it
 * is part of no average and carries no action. The cost of such a run depends on what it released, so a sum
 * over its ledger does not certify it. */
int mfpg_release_is_choice(const mfpg_release *release);

const char *mfpg_clipped_name(mfpg_clipped clipped); /* "update", "examples", "records", "measurements" */

/* The assumption of a certificate of floating-point Gaussian noise, in one sentence for people: the rounding
 * of samples can distinguish neighbours (Mironov 2012). */
const char *mfpg_noise_assumption(void);

/* Parts of a release; a set of them says which fields are compared. The round and the client belong to no
 * part. */
enum {
    MFPG_RELEASE_NOISE = 1,  /* what certifying accountants and ledgers both read */
    MFPG_RELEASE_ACTION = 2, /* what the paper's accountants read in addition */
    /* fields that only the ledger reads: what was clipped, the rounding, the weight, the secure sum */
    MFPG_RELEASE_SHARE = 4,
    MFPG_RELEASE_HIDDEN = 8, /* the effect of a round on a hidden state, which no ledger stores */
    /* Releases that are equal in COST cost the same; if equal in RECORDED, every accountant treats them
     * alike; if equal in WRITTEN, so does a ledger. */
    MFPG_RELEASE_COST = MFPG_RELEASE_NOISE | MFPG_RELEASE_HIDDEN,
    MFPG_RELEASE_RECORDED = MFPG_RELEASE_COST | MFPG_RELEASE_ACTION,
    MFPG_RELEASE_WRITTEN = MFPG_RELEASE_NOISE | MFPG_RELEASE_ACTION | MFPG_RELEASE_SHARE,
    MFPG_RELEASE_ALL = MFPG_RELEASE_WRITTEN | MFPG_RELEASE_HIDDEN,
    MFPG_RELEASE_NUMBERS = 22 /* room for the fields of all parts */
};

/* Writes the fields of those parts as numbers, in a fixed order, into out[MFPG_RELEASE_NUMBERS]; returns
 * their number. */
int mfpg_release_numbers(const mfpg_release *release, int parts, double *out);

int mfpg_release_equal(const mfpg_release *a, const mfpg_release *b, int parts);
uint64_t mfpg_release_hash(const mfpg_release *release, int parts);

#endif
