/* Digests of what rounds are about to release, behind the checkpoint that these rounds began from. A ledger's line says that
 * something was released, not what. After a crash the ledger may hold rounds that no checkpoint knows; they are played
 * again from the same state with the same random streams, and release the same bits, which is no second release. That it
 * is the same is not taken on trust: the digest is compared before the ledger or anybody else sees the repeated round.
 *
 * An announcement is handed to the system before the ledger's line is, so a killed process leaves it behind. It is synced
 * as well where that is cheap beside the rounds (at most a tenth of the time). Where a power cut takes one whose line is
 * on disk, the run does not go on (restore.c): it fails closed. */
#ifndef MFPG_FEDERATION_ANNOUNCEMENTS_H
#define MFPG_FEDERATION_ANNOUNCEMENTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "loop_state.h"

enum { MFPG_ANNOUNCEMENT_SEAL = 16 };

/* As it stands in the file. */
typedef struct mfpg_announcement {
    int64_t round;  /* from 1 */
    int64_t choice; /* 1: of actions, 0: updates */
    unsigned char digest[MFPG_DIGEST_SIZE];
    unsigned char seal[MFPG_ANNOUNCEMENT_SEAL]; /* of the three above and the checkpoint's checksum */
} mfpg_announcement;

typedef struct mfpg_announcements {
    unsigned char checksum[MFPG_DIGEST_SIZE]; /* of the checkpoint in front of them */
    int64_t end;                              /* where the next one belongs in the file */
    int is_open, descriptor;                  /* the file, for writing */
    double synced, cost;                      /* seconds: when, and how long it took */
    mfpg_announcement *list;                  /* of rounds that the checkpoint does not know */
    ptrdiff_t count, room;
} mfpg_announcements;

/* Reads those that stand behind the first `end` bytes of a file. An unfinished last one is no announcement. */
mfpg_status mfpg_announcements_read(
    mfpg_context *ctx, const char *bytes, size_t length, mfpg_announcements *announcements);

/* Forgets the rounds up to that one and writes the others, sealed for the new checksum, to a stream. */
void mfpg_announcements_write(mfpg_announcements *announcements, int64_t round, FILE *stream);

/* Opens the file that they stand in, so that more can be told. */
mfpg_status mfpg_announcements_open(mfpg_context *ctx, const char *path, mfpg_announcements *announcements);
void mfpg_announcements_clear(mfpg_announcements *announcements); /* closes and frees */

/* mfpg_announce: compares with what was told before of the same round, or writes it down. user: the announcements. */
mfpg_status mfpg_announcements_tell(
    mfpg_context *ctx, void *user, int64_t round, int choice, const unsigned char digest[MFPG_DIGEST_SIZE]);

/* 1 where something was told of it. user: the announcements. */
int mfpg_announcements_know(const void *user, int64_t round, int choice);

#endif
