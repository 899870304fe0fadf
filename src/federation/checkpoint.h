/* The checkpoint of a run: what it is, how far it has come, and digests of what it released since. Its reader takes it for
 * hostile: sizes are checked against the file before anything is read, and a checksum covers every byte. The checksum has
 * no key: it shows damage, not a forger, who could rewrite any file of the folder.
 *
 * Layout, little-endian, every part a multiple of 8 bytes:
 *   struct head (checkpoint.c)                  sizes, digests, key, ledger's end
 *   configuration                               YAML, as it was given, with zeros behind it
 *   mfpg_loop_state                             its arrays in their order
 *   mfpg_round_report and seconds               one a completed round
 *   BLAKE2b of all of that
 *   announcements (announcements.h)             none, or one after the other
 * Written beside it, synced and renamed, so that under the name stands a whole one; mode 0600, as it holds the key and
 * private numbers. */
#ifndef MFPG_FEDERATION_CHECKPOINT_H
#define MFPG_FEDERATION_CHECKPOINT_H

#include "announcements.h"
#include "loop_state.h"

/* What may not differ when a run goes on. */
typedef struct mfpg_run_identity {
    char *config;                            /* the configuration as it was given */
    unsigned char written[MFPG_DIGEST_SIZE]; /* of the bytes of config.yaml */
    unsigned char data[MFPG_DIGEST_SIZE];    /* of the rows and names of all clients */
    unsigned char model[MFPG_DIGEST_SIZE];   /* of the first model */
    unsigned char plan[MFPG_DIGEST_SIZE];    /* of the game, the actions and what they release */
    mfpg_key key;
} mfpg_run_identity;

typedef struct mfpg_checkpoint {
    mfpg_run_identity identity;
    mfpg_loop_state loop;
    mfpg_round_report *rounds; /* loop.round */
    double *seconds;           /* likewise */
    mfpg_ledger_end ledger;    /* after that round */
    mfpg_announcements told;   /* of later rounds */
    void *block;               /* where all of it stands that was read; NULL for one that is made */
    size_t length;             /* bytes of the block */
} mfpg_checkpoint;

/* Writes it to path, and behind it the announcements of rounds that it does not know; told then stands for the new file. */
mfpg_status mfpg_checkpoint_write(mfpg_context *ctx, const char *path, mfpg_checkpoint *checkpoint);

/* Reads one; MFPG_ERR_INPUT says what is wrong with the file. Nothing is open afterwards. */
mfpg_status mfpg_checkpoint_read(mfpg_context *ctx, const char *path, mfpg_checkpoint *out);

/* Collective: what the first rank read becomes the checkpoint of all, which is empty on the others before. path: for messages. */
mfpg_status mfpg_checkpoint_hand_out(mfpg_context *ctx, const char *path, mfpg_checkpoint *checkpoint);

/* Frees what was read, the key overwritten; harmless on a zeroed struct. */
void mfpg_checkpoint_clear(mfpg_checkpoint *checkpoint);

#endif
