/* Records as particles under attack: two records, as far from each other as the promise admits, of which one goes through noise once.
 * What the attacker sees is the noised record itself, in every round. */
#ifndef MFPG_AUDIT_RECORDS_H
#define MFPG_AUDIT_RECORDS_H

#include "canary.h"

/* As many rows as each client has, of features zeros: of one row, or of all where the unit is a client, the canary's value times ten
 * clips along v. Labels are 0. */
mfpg_status mfpg_record_data_create(mfpg_context *ctx, ptrdiff_t features, const mfpg_federated_data *like,
    const mfpg_mechanism *const *mechanism, mfpg_canary_data *out);
void mfpg_record_set(
    mfpg_canary_data *canaries, const mfpg_mechanism *mechanism, ptrdiff_t k, double value, double excess);

/* What noised records show of the canary: <x, v> of the one, or the sum over all over the square root of their number. And the same
 * of a record that has none, the second; NAN where there is no such record. */
double mfpg_record_look(const mfpg_canary_data *canaries, ptrdiff_t k, const mfpg_dataset *noised);
double mfpg_record_look_beside(const mfpg_canary_data *canaries, ptrdiff_t k, const mfpg_dataset *noised);

/* How far apart the whole clip moves what is seen of them behind `steps` steps of the flow, and its variance; noise_sd of one step. */
void mfpg_record_law(const mfpg_mechanism *mechanism, double noise_sd, ptrdiff_t rows, int64_t steps,
    double *gap, double *variance);

#endif
