/* The checkpoint of a run: the identity of the run, its state, and digests of what was released since. The
 * reader does not trust the file: sizes are checked against the file before anything is read, and a checksum
 * covers every byte. The checksum has no key, so it detects damage, but not a forger, who could rewrite any
 * file of the folder.
 *
 * Layout, little-endian, every section a multiple of 8 bytes:
 * struct head (checkpoint.c)      sizes, digests, key, the ledger's end
 * configuration                   YAML, as it was given, padded with zeros
 * mfpg_loop_state                 its parts in their order
 * mfpg_round_report and seconds   one of each for every completed round
 * BLAKE2b of all of the above
 * announcements                   none, or one after the other
 * The checkpoint is written to another file, synced and renamed, so that its name always refers to a
 * complete file. Its mode is 0600, because it contains the key and private numbers.
 *
 * Announcements are digests of what rounds after the checkpoint are about to release. A ledger line records
 * that something was released, but not its content. After a crash the ledger may hold rounds that are later
 * than the checkpoint. They are repeated from the same state with the same random streams and release the
 * same bits, so this is not a second release. The program verifies this: it compares the digest before the
 * repeated round reaches the ledger or anybody else.
 *
 * An announcement is passed to the system before the ledger's line, so it remains if the process is killed.
 * It is also synced if that takes at most a tenth of the time of the rounds. If a power cut loses an
 * announcement whose line is on disk, the run refuses to continue (loop_state.c): it fails closed. */
#ifndef MFPG_FEDERATION_CHECKPOINT_H
#define MFPG_FEDERATION_CHECKPOINT_H

#include <stdio.h>

#include "loop_state.h"

enum { MFPG_ANNOUNCEMENT_SEAL = 16 };

/* An announcement as it is stored in the file. */
typedef struct mfpg_announcement {
    int64_t round;  /* from 1 */
    int64_t choice; /* 1: of actions, 0: updates */
    unsigned char digest[MFPG_DIGEST_SIZE];
    /* hash of the three fields above and the checkpoint's checksum */
    unsigned char seal[MFPG_ANNOUNCEMENT_SEAL];
} mfpg_announcement;

typedef struct mfpg_announcements {
    unsigned char checksum[MFPG_DIGEST_SIZE]; /* of the checkpoint before them */
    int64_t end;                              /* offset in the file for the next announcement */
    int is_open, descriptor;                  /* the file, for writing */
    double synced, cost;                      /* time of the last sync, and its duration, in seconds */
    mfpg_announcement *list;                  /* announcements of rounds later than the checkpoint */
    ptrdiff_t count, room;
} mfpg_announcements;

/* Reads the announcements in these bytes of a file. An unfinished last one is ignored. */
mfpg_status mfpg_announcements_read(
    mfpg_context *ctx, const char *bytes, size_t length, mfpg_announcements *announcements);

/* Removes the announcements of rounds up to that one and writes the others, sealed for the new checksum, to
 * a stream. */
void mfpg_announcements_write(mfpg_announcements *announcements, int64_t round, FILE *stream);

/* Opens the file that holds the announcements, so that more can be added. */
mfpg_status mfpg_announcements_open(mfpg_context *ctx, const char *path, mfpg_announcements *announcements);
void mfpg_announcements_clear(mfpg_announcements *announcements); /* closes and frees */

/* Implements mfpg_announce: compares the digest with an earlier announcement of the same round or, if there
 * is none, writes it to the file. user: the announcements. */
mfpg_status mfpg_announcements_tell(
    mfpg_context *ctx, void *user, int64_t round, int choice, const unsigned char digest[MFPG_DIGEST_SIZE]);

/* Returns 1 if this round has an announcement. user: the announcements. */
int mfpg_announcements_know(const void *user, int64_t round, int choice);

/* The facts that must be equal when a run is continued. */
typedef struct mfpg_run_identity {
    char *config;                            /* the configuration as it was given */
    unsigned char written[MFPG_DIGEST_SIZE]; /* of the bytes of config.yaml */
    unsigned char data[MFPG_DIGEST_SIZE];    /* digest of the rows and names of all clients */
    unsigned char model[MFPG_DIGEST_SIZE];   /* of the first model */
    unsigned char plan[MFPG_DIGEST_SIZE];    /* digest of the game, the actions and what they release */
    mfpg_key key;
} mfpg_run_identity;

typedef struct mfpg_checkpoint {
    mfpg_run_identity identity;
    mfpg_loop_state loop;
    mfpg_round_report *rounds; /* loop.round */
    double *seconds;           /* likewise */
    mfpg_ledger_end ledger;    /* after that round */
    mfpg_announcements told;   /* of later rounds */
    void *block;               /* holds all of the data if the checkpoint was read; NULL if it was created */
    size_t length;             /* bytes of the block */
} mfpg_checkpoint;

/* Writes the checkpoint to path, followed by the announcements of later rounds; `told` then refers to the
 * new file. */
mfpg_status mfpg_checkpoint_write(mfpg_context *ctx, const char *path, mfpg_checkpoint *checkpoint);

/* Reads a checkpoint; MFPG_ERR_INPUT says what is wrong with the file. The file is closed afterwards. */
mfpg_status mfpg_checkpoint_read(mfpg_context *ctx, const char *path, mfpg_checkpoint *out);

/* Gives all ranks the checkpoint that the first rank has read; on the others it must be empty before. path
 * is used in messages. Collective. */
mfpg_status mfpg_checkpoint_hand_out(mfpg_context *ctx, const char *path, mfpg_checkpoint *checkpoint);

/* Frees what was read and overwrites the key; a zeroed struct is allowed. */
void mfpg_checkpoint_clear(mfpg_checkpoint *checkpoint);

#endif
