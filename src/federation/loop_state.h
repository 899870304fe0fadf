/* What a federation carries from one round to the next, beside what is built before the first round and what the ledger
 * holds: one plain struct, which whoever writes checkpoints fills and a federation can be set to. Accountants and filters
 * are not in it. They are made anew from the ledger, the one record of what was released, so that no file that is read
 * back can make anything cheaper than it was. */
#ifndef MFPG_FEDERATION_LOOP_STATE_H
#define MFPG_FEDERATION_LOOP_STATE_H

#include "mfpg/federation.h"

enum { MFPG_DIGEST_SIZE = 32 }; /* BLAKE2b */

/* The sizes of everything below. */
typedef struct mfpg_loop_shape {
    int64_t clients, dimension;
    int64_t acting;       /* 1: actions are chosen each round */
    int64_t record_rows;  /* data particles: training rows of all clients; else 0 */
    int64_t record_cells; /* likewise rows x features */
} mfpg_loop_shape;

/* Arrays follow the clients in their order. */
typedef struct mfpg_loop_state {
    mfpg_loop_shape shape;
    int64_t round;                    /* completed rounds */
    float *w;                         /* dimension: the global model */
    int64_t *rounds;                  /* taken part in */
    int64_t *nonfinite;               /* became zero */
    int64_t *stopped_before;          /* a round, from 1; 0 where it goes on */
    double *action, *loss, *gradient; /* acting: strengths and last measurements */
    int64_t *noised;                  /* data particles: 1 where a client's records are noised */
    float *records;                   /* record_cells: the noised records as they are now; 0 before */
    double *norm2;                    /* record_rows: of their features */
} mfpg_loop_state;

mfpg_loop_shape mfpg_federation_shape(const mfpg_federation *federation);

/* Room for a state of that shape, everything in one block; *out is set only on success. */
mfpg_status mfpg_loop_state_init(mfpg_context *ctx, const mfpg_loop_shape *shape, mfpg_loop_state *out);
void mfpg_loop_state_clear(mfpg_loop_state *state); /* frees; harmless on a zeroed struct */

/* Bytes of a state of that shape, a multiple of 8; -1 for a shape that is none or has no such number. */
int64_t mfpg_loop_state_bytes(const mfpg_loop_shape *shape);

/* Points the arrays into a block of that many bytes, which stays its owner's and is aligned to 8. */
void mfpg_loop_state_lay_out(const mfpg_loop_shape *shape, void *block, mfpg_loop_state *out);

/* The state after the latest round; state has the federation's shape. Several ranks with data particles: collective, as each
 * holds the noised records of its own clients; else local. */
mfpg_status mfpg_federation_save(
    mfpg_context *ctx, const mfpg_federation *federation, mfpg_loop_state *state);

/* 1 where saving is collective. */
int mfpg_federation_save_gathers(const mfpg_federation *federation);

/* Sets a federation that has played no round to a state, and its accountants and filters to what its ledger, the file at
 * path, says up to that round. known is asked for every release of later rounds that the ledger holds, which the next rounds
 * will repeat. Collective: all ranks have the same state, the first reads the ledger and asks. MFPG_ERR_INPUT where state and ledger do not belong to this federation or to one another; the federation is
 * then of no use. */
mfpg_status mfpg_federation_restore(mfpg_context *ctx, mfpg_federation *federation,
    const mfpg_loop_state *state, const char *ledger,
    int (*known)(const void *user, int64_t round, int choice), const void *user);

/* What a federation begins with, as a digest each: its first model, and its actions and what they will release. Before the
 * first round. */
void mfpg_federation_digest_start(const mfpg_federation *federation, unsigned char model[MFPG_DIGEST_SIZE],
    unsigned char plan[MFPG_DIGEST_SIZE]);

/* From now on told is called with a digest of what a round is about to release, before the ledger is: once for the choices
 * of actions and once for the updates. A failure ends the round. */
typedef mfpg_status (*mfpg_announce)(
    mfpg_context *ctx, void *user, int64_t round, int choice, const unsigned char digest[MFPG_DIGEST_SIZE]);
void mfpg_federation_announce_to(mfpg_federation *federation, mfpg_announce announce, void *user);

#endif
