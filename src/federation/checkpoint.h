/* The checkpoint of a run: what it is, how far it has come, and digests of what it released since. Its reader takes it for hostile:
 * sizes are checked against the file before anything is read, and a checksum covers every byte. The checksum has no key: it shows
 * damage, not a forger, who could rewrite any file of the folder.
 *
 * Layout, little-endian, every section a multiple of 8 bytes:
 *   struct head (checkpoint.c)      sizes, digests, key, the ledger's end
 *   configuration                   YAML, as it was given, with zeros after it
 *   mfpg_loop_state                 its parts in their order
 *   mfpg_round_report and seconds   one of each a completed round
 *   BLAKE2b of all of that
 *   announcements                   none, or one after the other
 * It is written to another file, synced and renamed, so that the name is always that of a whole one; mode 0600, as it holds the key
 * and private numbers.
 *
 * Announcements are digests of what rounds are about to release, after the checkpoint that these rounds began from. A ledger's line
 * says that something was released, not what. After a crash the ledger may hold rounds that no checkpoint knows; they are played
 * again from the same state with the same random streams, and release the same bits, which is no second release. That it is the
 * same is not taken on trust: the digest is compared before the ledger or anybody else sees the repeated round.
 *
 * An announcement is handed to the system before the ledger's line is, so a killed process leaves it there. It is synced as well if
 * that is cheap next to the rounds (at most a tenth of the time). If a power cut takes one whose line is on disk, the run does not
 * go on (loop_state.c): it fails closed. */
#ifndef MFPG_FEDERATION_CHECKPOINT_H
#define MFPG_FEDERATION_CHECKPOINT_H

#include <stdio.h>

#include "loop_state.h"

enum { MFPG_ANNOUNCEMENT_SEAL = 16 };

/* As it is in the file. */
typedef struct mfpg_announcement {
    int64_t round;  /* from 1 */
    int64_t choice; /* 1: of actions, 0: updates */
    unsigned char digest[MFPG_DIGEST_SIZE];
    unsigned char seal[MFPG_ANNOUNCEMENT_SEAL]; /* of the three above and the checkpoint's checksum */
} mfpg_announcement;

typedef struct mfpg_announcements {
    unsigned char checksum[MFPG_DIGEST_SIZE]; /* of the checkpoint before them */
    int64_t end;                              /* where the next one belongs in the file */
    int is_open, descriptor;                  /* the file, for writing */
    double synced, cost;                      /* seconds: when, and how long it took */
    mfpg_announcement *list;                  /* of rounds that the checkpoint does not know */
    ptrdiff_t count, room;
} mfpg_announcements;

/* Reads those in these bytes of a file. An unfinished last one is no announcement. */
mfpg_status mfpg_announcements_read(
    mfpg_context *ctx, const char *bytes, size_t length, mfpg_announcements *announcements);

/* Forgets the rounds up to that one and writes the others, sealed for the new checksum, to a stream. */
void mfpg_announcements_write(mfpg_announcements *announcements, int64_t round, FILE *stream);

/* Opens the file that holds them, so that more can be told. */
mfpg_status mfpg_announcements_open(mfpg_context *ctx, const char *path, mfpg_announcements *announcements);
void mfpg_announcements_clear(mfpg_announcements *announcements); /* closes and frees */

/* mfpg_announce: compares with what was told before of the same round, or writes it down. user: the announcements. */
mfpg_status mfpg_announcements_tell(
    mfpg_context *ctx, void *user, int64_t round, int choice, const unsigned char digest[MFPG_DIGEST_SIZE]);

/* 1 if something was told of it. user: the announcements. */
int mfpg_announcements_know(const void *user, int64_t round, int choice);

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
    void *block;               /* holds all of it if it was read; NULL for one that is made */
    size_t length;             /* bytes of the block */
} mfpg_checkpoint;

/* Writes it to path, and after it the announcements of rounds that it does not know; told is then of the new file. */
mfpg_status mfpg_checkpoint_write(mfpg_context *ctx, const char *path, mfpg_checkpoint *checkpoint);

/* Reads one; MFPG_ERR_INPUT says what is wrong with the file. Nothing is open afterwards. */
mfpg_status mfpg_checkpoint_read(mfpg_context *ctx, const char *path, mfpg_checkpoint *out);

/* Collective: what the first rank read becomes the checkpoint of all, which is empty on the others before. path: for messages. */
mfpg_status mfpg_checkpoint_hand_out(mfpg_context *ctx, const char *path, mfpg_checkpoint *checkpoint);

/* Frees what was read, the key overwritten; harmless on a zeroed struct. */
void mfpg_checkpoint_clear(mfpg_checkpoint *checkpoint);

#endif
