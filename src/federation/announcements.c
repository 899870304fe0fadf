/* Announcements are digests of what rounds are about to release. This file computes them and keeps them
 * after the checkpoint in the checkpoint's file. */
#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "federation_core.h"

/* ---- in the file ---- */

_Static_assert(sizeof(mfpg_announcement) == 64, "an announcement has no padding");

static void seal(const unsigned char checksum[MFPG_DIGEST_SIZE], mfpg_announcement *a) {
    crypto_generichash(a->seal, sizeof a->seal, (const unsigned char *)a, offsetof(mfpg_announcement, seal),
        checksum, MFPG_DIGEST_SIZE);
}

static int is_sealed(const unsigned char checksum[MFPG_DIGEST_SIZE], const mfpg_announcement *a) {
    mfpg_announcement again = *a;
    seal(checksum, &again);
    return memcmp(again.seal, a->seal, sizeof a->seal) == 0;
}

static mfpg_status keep(mfpg_context *ctx, mfpg_announcements *all, const mfpg_announcement *a) {
    mfpg_announcement *list = mfpg_room_for_one(all->list, all->count, &all->room, sizeof *list);
    if (!list) return mfpg_fail_memory(ctx);
    all->list = list;
    all->list[all->count++] = *a;
    return MFPG_OK;
}

mfpg_status mfpg_announcements_read(
    mfpg_context *ctx, const char *bytes, size_t length, mfpg_announcements *all) {
    mfpg_status status = MFPG_OK;
    for (; length >= sizeof(mfpg_announcement) && status == MFPG_OK; length -= sizeof(mfpg_announcement)) {
        mfpg_announcement a;
        memcpy(&a, bytes, sizeof a);
        if (!is_sealed(all->checksum, &a)) {
            if (length < 2 * sizeof a) break; /* a crash cut it off */
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "announcement %td was changed", all->count + 1);
        }
        status = keep(ctx, all, &a);
        bytes += sizeof a;
        all->end += (int64_t)sizeof a;
    }
    return status;
}

void mfpg_announcements_write(mfpg_announcements *all, int64_t round, FILE *stream) {
    ptrdiff_t kept = 0;
    for (ptrdiff_t i = 0; i < all->count; i++) {
        if (all->list[i].round <= round) continue;
        mfpg_announcement *a = &all->list[kept++];
        *a = all->list[i];
        seal(all->checksum, a);
        fwrite(a, sizeof *a, 1, stream);
        all->end += (int64_t)sizeof *a;
    }
    all->count = kept;
}

mfpg_status mfpg_announcements_open(mfpg_context *ctx, const char *path, mfpg_announcements *all) {
    if (all->is_open) close(all->descriptor);
    all->descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    all->is_open = all->descriptor >= 0;
    if (all->is_open) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
}

void mfpg_announcements_clear(mfpg_announcements *all) {
    if (all->is_open) close(all->descriptor);
    free(all->list);
    *all = (mfpg_announcements){0};
}

static const mfpg_announcement *find(const mfpg_announcements *all, int64_t round, int choice) {
    for (ptrdiff_t i = 0; i < all->count; i++)
        if (all->list[i].round == round && all->list[i].choice == choice) return &all->list[i];
    return NULL;
}

int mfpg_announcements_know(const void *user, int64_t round, int choice) {
    return find(user, round, choice) != NULL;
}

static mfpg_status append(mfpg_context *ctx, mfpg_announcements *all, const mfpg_announcement *a) {
    for (size_t done = 0; done < sizeof *a;) {
        errno = EIO; /* this value remains if no byte was written, because that does not set errno */
        ssize_t wrote = pwrite(
            all->descriptor, (const char *)a + done, sizeof *a - done, (off_t)(all->end + (int64_t)done));
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return mfpg_fail(ctx, MFPG_ERR_IO, "checkpoint: cannot write: %s", strerror(errno));
        done += (size_t)wrote;
    }
    all->end += (int64_t)sizeof *a;
    double now = mfpg_clock_seconds();
    if (now - all->synced < 10.0 * all->cost) return MFPG_OK;
    if (fdatasync(all->descriptor) != 0)
        return mfpg_fail(ctx, MFPG_ERR_IO, "checkpoint: cannot write to disk: %s", strerror(errno));
    all->synced = mfpg_clock_seconds();
    all->cost = all->synced - now;
    return MFPG_OK;
}

mfpg_status mfpg_announcements_tell(
    mfpg_context *ctx, void *user, int64_t round, int choice, const unsigned char digest[MFPG_DIGEST_SIZE]) {
    mfpg_announcements *all = user;
    const mfpg_announcement *before = find(all, round, choice);
    if (before && memcmp(before->digest, digest, MFPG_DIGEST_SIZE) == 0) return MFPG_OK;
    if (before)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "round %lld, repeated, would release other values than before the interruption, and "
            "nobody may see both: the program or the machine computes differently. Start a new run instead",
            (long long)round);
    mfpg_announcement a = {.round = round, .choice = choice};
    memcpy(a.digest, digest, sizeof a.digest);
    seal(all->checksum, &a);
    mfpg_status status = keep(ctx, all, &a);
    return status == MFPG_OK ? append(ctx, all, &a) : status;
}

/* ---- what the digests cover ---- */

static void add(crypto_generichash_state *hash, const void *bytes, size_t size) {
    crypto_generichash_update(hash, bytes, size);
}

void mfpg_federation_digest_start(
    const mfpg_federation *f, unsigned char model[MFPG_DIGEST_SIZE], unsigned char plan[MFPG_DIGEST_SIZE]) {
    crypto_generichash_state hash;
    crypto_generichash(
        model, MFPG_DIGEST_SIZE, (const unsigned char *)f->w, (size_t)f->dimension * sizeof *f->w, NULL, 0);
    crypto_generichash_init(&hash, NULL, 0, MFPG_DIGEST_SIZE);
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        mfpg_release release = mfpg_plan_release(f->plan, k);
        mfpg_action action = mfpg_plan_action(f->plan, k);
        double number[2 + MFPG_RELEASE_NUMBERS] = {(double)action.control, mfpg_action_value(&action)};
        int count = 2 + mfpg_release_numbers(&release, MFPG_RELEASE_ALL, number + 2);
        add(&hash, number, (size_t)count * sizeof number[0]);
    }
    crypto_generichash_final(&hash, plan, MFPG_DIGEST_SIZE);
}

void mfpg_federation_announce_to(mfpg_federation *f, mfpg_announce announce, void *user) {
    f->announce = announce;
    f->announce_user = user;
}

mfpg_status mfpg_federation_announce_choices(mfpg_context *ctx, mfpg_federation *f, ptrdiff_t members) {
    crypto_generichash_state hash;
    unsigned char digest[MFPG_DIGEST_SIZE];
    if (!f->announce) return MFPG_OK;
    crypto_generichash_init(&hash, NULL, 0, sizeof digest);
    for (ptrdiff_t i = 0; i < members; i++) {
        const double measured[] = {f->acting->loss[f->order[i]], f->acting->gradient[f->order[i]]};
        add(&hash, measured, sizeof measured);
    }
    crypto_generichash_final(&hash, digest, sizeof digest);
    return f->announce(ctx, f->announce_user, f->round + 1, 1, digest);
}

mfpg_status mfpg_federation_announce_updates(mfpg_context *ctx, mfpg_federation *f, const float *average) {
    crypto_generichash_state hash;
    unsigned char digest[MFPG_DIGEST_SIZE];
    if (!f->announce) return MFPG_OK;
    crypto_generichash_init(&hash, NULL, 0, sizeof digest);
    add(&hash, average, (size_t)f->dimension * sizeof *average);
    for (ptrdiff_t i = 0; i < f->cohort_size; i++) {
        ptrdiff_t k = mfpg_federation_member(f, i);
        const double told[] = {f->client[k].signal_norm, (double)f->client[k].nonfinite};
        add(&hash, told, sizeof told);
        if (f->records && !f->records->is_noised[k])
            add(&hash, f->records->digest[k], sizeof f->records->digest[k]);
    }
    crypto_generichash_final(&hash, digest, sizeof digest);
    return f->announce(ctx, f->announce_user, f->round + 1, 0, digest);
}
