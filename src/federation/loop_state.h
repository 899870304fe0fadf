/* The state that a federation carries from one round to the next, apart from what is built before the first
 * round and what the ledger holds. It is one block of bytes, part after part, which the checkpoint stores
 * and to which a federation can be set. It does not contain accountants and filters. They are rebuilt from
 * the ledger, the only record of what was released, so that no file that is read back can reduce a privacy
 * cost. */
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
    int64_t stopped_before; /* number of the round, from 1; 0 if the client has not stopped */
} mfpg_saved_client;

typedef struct mfpg_loop_state {
    int64_t round;                   /* completed rounds */
    int64_t bytes[MFPG_STATE_PARTS]; /* size of each part, a multiple of 8 */
    char *block;                     /* all parts; aligned to 8 */
} mfpg_loop_state;

/* Allocates the state of that federation; *out is set only on success. */
mfpg_status mfpg_loop_state_init(mfpg_context *ctx, const mfpg_federation *federation, mfpg_loop_state *out);
void mfpg_loop_state_clear(mfpg_loop_state *state); /* frees the state; a zeroed struct is allowed */

/* Returns the size of the first `count` parts (at most all of them); -1 if a size is impossible. */
int64_t mfpg_loop_state_bytes(const int64_t bytes[MFPG_STATE_PARTS], int count);

/* Returns the address of a part in the block. */
void *mfpg_loop_state_part(const mfpg_loop_state *state, int part);

/* Saves the state after the latest round. Collective if it gathers, otherwise local. */
mfpg_status mfpg_federation_save(
    mfpg_context *ctx, const mfpg_federation *federation, mfpg_loop_state *state);

/* Returns 1 if saving is collective, because several ranks each hold the noised records of their own
 * clients. */
int mfpg_federation_save_gathers(const mfpg_federation *federation);

/* Sets a federation that has played no round to a state, and its accountants and filters to what its ledger,
 * the file at path, records up to that round. `known` is called for every release of later rounds in the
 * ledger, which the next rounds will repeat. Collective: all ranks have the same state; the first rank reads
 * the ledger and calls `known`. MFPG_ERR_INPUT if state and ledger do not belong to this federation or to
 * each other; the federation can then only be destroyed. */
mfpg_status mfpg_federation_restore(mfpg_context *ctx, mfpg_federation *federation,
    const mfpg_loop_state *state, const char *ledger,
    int (*known)(const void *user, int64_t round, int choice), const void *user);

/* Computes digests of what a federation begins with: its first model, and its actions with what they will
 * release. Call it before the first round. */
void mfpg_federation_digest_start(const mfpg_federation *federation, unsigned char model[MFPG_DIGEST_SIZE],
    unsigned char plan[MFPG_DIGEST_SIZE]);

/* From this call on, announce is called with a digest of what a round is about to release, before the ledger
 * is written: once for the choices of actions and once for the updates. A failure of announce ends the
 * round. */
typedef mfpg_status (*mfpg_announce)(
    mfpg_context *ctx, void *user, int64_t round, int choice, const unsigned char digest[MFPG_DIGEST_SIZE]);
void mfpg_federation_announce_to(mfpg_federation *federation, mfpg_announce announce, void *user);

#endif
