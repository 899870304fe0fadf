/* epsilon and delta of a composition, rounded up, for one side or one adjacency (guide.h). +INFINITY, or delta 1, where no
 * grid can carry the case; MFPG_ERR_MEMORY without memory, and nothing is set. */
#ifndef MFPG_ACCOUNTANTS_PLD_ANSWER_H
#define MFPG_ACCOUNTANTS_PLD_ANSWER_H

#include "guide.h"

#include "mfpg/release.h"
#include "mfpg/status.h"

/* 0 < delta < 1, epsilon >= 0 and finite. */
mfpg_status pld_side_epsilon(const pld_mechanism *mechanism, pld_side side, double delta, double *epsilon);
mfpg_status pld_side_delta(const pld_mechanism *mechanism, pld_side side, double epsilon, double *delta);

/* zero-out: the larger of remove and add. replace: the smaller of the symmetrised law and of twice zero-out, as a record that
 * is replaced is removed and another one added: from (e, d) of zero-out follows (2 e, (1 + exp e) d). */
mfpg_status pld_epsilon(
    const pld_mechanism *mechanism, mfpg_adjacency adjacency, double delta, double *epsilon);
mfpg_status pld_delta(
    const pld_mechanism *mechanism, mfpg_adjacency adjacency, double epsilon, double *delta);

#endif
