/* What a federation carries from one round to the next, apart from what is built before the first round and what the ledger holds:
 * one block of bytes, part after part, which the checkpoint keeps and a federation can be set to. Accountants and filters are not
 * in it. They are made again from the ledger, the one record of what was released, so that no file that is read back can make
 * anything cheaper than it was. */
#ifndef MFPG_FEDERATION_LOOP_STATE_H
#define MFPG_FEDERATION_LOOP_STATE_H

#include "mfpg/federation.h"

enum { MFPG_DIGEST_SIZE = 32 }; /* BLAKE2b */

/* The parts in their order; a part that the federation does not have takes no bytes. */
enum {
    MFPG_STATE_MODEL,   /* float: the global model */
    MFPG_STATE_CLIENTS, /* mfpg_saved_client, one a client */
    MFPG_STATE_RECORDS, /* client_records.c */
    MFPG_STATE_ACTIONS, /* adaptive_actions.c */
    MFPG_STATE_SERVER,  /* server_step.c */
    MFPG_STATE_PARTS
};

typedef struct mfpg_saved_client {
    int64_t rounds;         /* taken part in */
    int64_t nonfinite;      /* became zero */
    int64_t stopped_before; /* a round, from 1; 0 if it goes on */
} mfpg_saved_client;

typedef struct mfpg_loop_state {
    int64_t round;                   /* completed rounds */
    int64_t bytes[MFPG_STATE_PARTS]; /* of each part, multiples of 8 */
    char *block;                     /* all parts; aligned to 8 */
} mfpg_loop_state;

/* Room for the state of that federation; *out is set only on success. */
mfpg_status mfpg_loop_state_init(mfpg_context *ctx, const mfpg_federation *federation, mfpg_loop_state *out);
void mfpg_loop_state_clear(mfpg_loop_state *state); /* frees; harmless on a zeroed struct */

/* Bytes of the first `count` parts, all of them at most; -1 if a size is impossible. */
int64_t mfpg_loop_state_bytes(const int64_t bytes[MFPG_STATE_PARTS], int count);

/* Where a part begins in the block. */
void *mfpg_loop_state_part(const mfpg_loop_state *state, int part);

/* The state after the latest round. Collective if it gathers, else local. */
mfpg_status mfpg_federation_save(
    mfpg_context *ctx, const mfpg_federation *federation, mfpg_loop_state *state);

/* 1 if saving is collective: several ranks, each of which holds the noised records of its own clients. */
int mfpg_federation_save_gathers(const mfpg_federation *federation);

/* Sets a federation that has played no round to a state, and its accountants and filters to what its ledger, the file at path, says
 * up to that round. known is asked for every release of later rounds that the ledger holds, which the next rounds will repeat.
 * Collective: all ranks have the same state, the first reads the ledger and asks. MFPG_ERR_INPUT if state and ledger do not belong
 * to this federation or to one another; the federation is then of no use. */
mfpg_status mfpg_federation_restore(mfpg_context *ctx, mfpg_federation *federation,
    const mfpg_loop_state *state, const char *ledger,
    int (*known)(const void *user, int64_t round, int choice), const void *user);

/* What a federation begins with, as a digest each: its first model, and its actions and what they will release. Before the first
 * round. */
void mfpg_federation_digest_start(const mfpg_federation *federation, unsigned char model[MFPG_DIGEST_SIZE],
    unsigned char plan[MFPG_DIGEST_SIZE]);

/* From now on announce is called with a digest of what a round is about to release, before the ledger is: once for the choices of
 * actions and once for the updates. A failure ends the round. */
typedef mfpg_status (*mfpg_announce)(
    mfpg_context *ctx, void *user, int64_t round, int choice, const unsigned char digest[MFPG_DIGEST_SIZE]);
void mfpg_federation_announce_to(mfpg_federation *federation, mfpg_announce announce, void *user);

#endif
