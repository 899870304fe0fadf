#include "checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "mfpg/version.h"

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/ranks.h"

static const char magic[] = "mfpgckpt";
enum { VERSION = 4, PROGRAM = 24, CHAIN = MFPG_LEDGER_CHAIN_SIZE - 1 };

/* The fixed part. All members have 8 bytes or are arrays of multiples of 8, so there is no padding and the
 * bytes are the same on every machine. */
typedef struct head {
    char magic[8];
    int64_t version;
    int64_t sealed;                  /* number of bytes up to and including the checksum */
    char program[PROGRAM];           /* mfpg_version() */
    int64_t state[MFPG_STATE_PARTS]; /* bytes of each part */
    int64_t round;
    int64_t config; /* bytes of the configuration, including the zeros after it */
    int64_t seeded;
    unsigned char key[sizeof((mfpg_key *)0)->bytes];
    unsigned char written[MFPG_DIGEST_SIZE], data[MFPG_DIGEST_SIZE], model[MFPG_DIGEST_SIZE],
        plan[MFPG_DIGEST_SIZE];
    int64_t ledger_lines;
    char ledger_chain[CHAIN];
} head;

_Static_assert(sizeof(head) == 8 + 8 + 8 + PROGRAM + MFPG_STATE_PARTS * 8 + 8 + 8 + 8 + 5 * 32 + 8 + CHAIN,
    "no padding");
_Static_assert(sizeof(mfpg_round_report) == 22 * 8, "a report has no padding");

/* ---- sizes ---- */

enum { HEAD, CONFIG, LOOP, REPORTS, SECONDS, DIGEST, SECTIONS };

/* Returns the offset of a section, or for SECTIONS the end of the last one. Returns -1 if a size is so large
 * that the sums below could overflow. */
static int64_t find(const head *h, int section) {
    const int64_t most = INT64_C(1) << 52, state = mfpg_loop_state_bytes(h->state, MFPG_STATE_PARTS);
    if (h->config < 8 || h->config % 8 != 0 || h->config > most || h->round < 0 || h->round > most ||
        state < 0 || state > most)
        return -1;
    const int64_t size[SECTIONS] = {sizeof *h, h->config, state,
        h->round * (int64_t)sizeof(mfpg_round_report), h->round * (int64_t)sizeof(double), MFPG_DIGEST_SIZE};
    int64_t at = 0;
    for (int i = 0; i < section; i++) at += size[i];
    return at;
}

/* ---- writing ---- */

static head describe(const mfpg_checkpoint *c) {
    const mfpg_run_identity *identity = &c->identity;
    head h = {.version = VERSION, .round = c->loop.round};
    memcpy(h.state, c->loop.bytes, sizeof h.state);
    memcpy(h.magic, magic, sizeof h.magic);
    snprintf(h.program, sizeof h.program, "%s", mfpg_version());
    h.config = (int64_t)(strlen(identity->config) + 8) / 8 * 8; /* a zero at least */
    h.seeded = identity->key.seeded;
    memcpy(h.key, identity->key.bytes, sizeof h.key);
    memcpy(h.written, identity->written, sizeof h.written);
    memcpy(h.data, identity->data, sizeof h.data);
    memcpy(h.model, identity->model, sizeof h.model);
    memcpy(h.plan, identity->plan, sizeof h.plan);
    h.ledger_lines = c->ledger.lines;
    memcpy(h.ledger_chain, c->ledger.chain, sizeof h.ledger_chain);
    h.sealed = find(&h, SECTIONS);
    return h;
}

/* A stream together with the hash of what was written to it. */
typedef struct sealer {
    FILE *stream;
    crypto_generichash_state hash;
} sealer;

static void put(sealer *to, const void *bytes, size_t size) {
    if (size == 0) return;
    crypto_generichash_update(&to->hash, bytes, size);
    fwrite(bytes, 1, size, to->stream);
}

static void put_all(sealer *to, const mfpg_checkpoint *c, const head *h) {
    static const char zeros[8];
    size_t length = strlen(c->identity.config);
    put(to, h, sizeof *h);
    put(to, c->identity.config, length);
    put(to, zeros, (size_t)h->config - length);
    put(to, c->loop.block, (size_t)mfpg_loop_state_bytes(h->state, MFPG_STATE_PARTS));
    put(to, c->rounds, (size_t)h->round * sizeof *c->rounds);
    put(to, c->seconds, (size_t)h->round * sizeof *c->seconds);
}

mfpg_status mfpg_checkpoint_write(mfpg_context *ctx, const char *path, mfpg_checkpoint *c) {
    mfpg_file file;
    head h = describe(c);
    mfpg_status status = mfpg_file_create_private(ctx, path, &file);
    if (status != MFPG_OK) return status;
    sealer to = {.stream = file.stream};
    crypto_generichash_init(&to.hash, NULL, 0, MFPG_DIGEST_SIZE);
    put_all(&to, c, &h);
    crypto_generichash_final(&to.hash, c->told.checksum, MFPG_DIGEST_SIZE);
    fwrite(c->told.checksum, 1, MFPG_DIGEST_SIZE, file.stream);
    c->told.end = h.sealed;
    mfpg_announcements_write(&c->told, c->loop.round, file.stream);
    sodium_memzero(&h, sizeof h);
    status = mfpg_file_commit(ctx, &file);
    if (status == MFPG_OK) status = mfpg_path_sync_folder(ctx, path);
    return status == MFPG_OK ? mfpg_announcements_open(ctx, path, &c->told) : status;
}

/* ---- reading ---- */

static mfpg_status damaged(mfpg_context *ctx, const char *path, const char *what) {
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %s", path, what);
}

static mfpg_status check_head(mfpg_context *ctx, const char *path, const head *h, size_t length) {
    if (length < sizeof *h || memcmp(h->magic, magic, sizeof h->magic) != 0)
        return damaged(ctx, path, "it is not a checkpoint");
    if (h->version != VERSION || strnlen(h->program, PROGRAM) == PROGRAM ||
        strcmp(h->program, mfpg_version()) != 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: it was written by mfpg %.*s, format %lld; this is %s, format %d, which may compute "
            "other bits",
            path, PROGRAM - 1, h->program, (long long)h->version, mfpg_version(), VERSION);
    int64_t sealed = find(h, SECTIONS);
    if (sealed < 0 || sealed != h->sealed || (h->seeded & ~INT64_C(1)))
        return damaged(ctx, path, "the sizes in its head were changed");
    if ((uint64_t)sealed > length)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "%s: it is cut off: %zu of %lld bytes", path, length, (long long)sealed);
    return MFPG_OK;
}

static mfpg_status check_seal(mfpg_context *ctx, const char *path, const char *block, int64_t checksum) {
    unsigned char digest[MFPG_DIGEST_SIZE];
    crypto_generichash(
        digest, sizeof digest, (const unsigned char *)block, (unsigned long long)checksum, NULL, 0);
    return memcmp(digest, block + checksum, sizeof digest) == 0
               ? MFPG_OK
               : damaged(ctx, path, "it was changed: its checksum does not hold");
}

/* Checks what the checksum cannot show if somebody forged the file. */
static mfpg_status check_contents(mfpg_context *ctx, const char *path, const mfpg_checkpoint *c) {
    int64_t clients = c->loop.bytes[MFPG_STATE_CLIENTS] / (int64_t)sizeof(mfpg_saved_client);
    for (int64_t i = 0; i < c->loop.round; i++)
        if (c->rounds[i].round != i + 1 || c->rounds[i].cohort < 0 || c->rounds[i].cohort > clients ||
            c->rounds[i].transport.projections < 0 || !(c->seconds[i] >= 0.0))
            return mfpg_fail(
                ctx, MFPG_ERR_INPUT, "%s: the report of round %lld is not one", path, (long long)i + 1);
    return strspn(c->ledger.chain, "0123456789abcdef") == CHAIN && c->ledger.lines >= 1
               ? MFPG_OK
               : damaged(ctx, path, "the end of the ledger in it is not one");
}

static void point_into(char *block, const head *h, mfpg_checkpoint *out) {
    mfpg_run_identity *identity = &out->identity;
    block[find(h, LOOP) - 1] = 0; /* terminates the configuration, whatever the file contains there */
    identity->config = block + find(h, CONFIG);
    identity->key.seeded = (int)h->seeded;
    memcpy(identity->key.bytes, h->key, sizeof h->key);
    memcpy(identity->written, h->written, sizeof h->written);
    memcpy(identity->data, h->data, sizeof h->data);
    memcpy(identity->model, h->model, sizeof h->model);
    memcpy(identity->plan, h->plan, sizeof h->plan);
    out->ledger.lines = h->ledger_lines;
    memcpy(out->ledger.chain, h->ledger_chain, CHAIN);
    out->ledger.chain[CHAIN] = 0;
    out->loop = (mfpg_loop_state){.round = h->round, .block = block + find(h, LOOP)};
    memcpy(out->loop.bytes, h->state, sizeof h->state);
    out->rounds = (mfpg_round_report *)(void *)(block + find(h, REPORTS));
    out->seconds = (double *)(void *)(block + find(h, SECONDS));
    out->told.end = find(h, SECTIONS);
    memcpy(out->told.checksum, block + find(h, DIGEST), MFPG_DIGEST_SIZE);
}

/* On success it takes ownership of the block, which is aligned for any number. */
static mfpg_status parse(
    mfpg_context *ctx, const char *path, char *block, size_t length, mfpg_checkpoint *out) {
    head h = {0};
    mfpg_checkpoint read = {0};
    memcpy(&h, block, length < sizeof h ? length : sizeof h);
    mfpg_status status = check_head(ctx, path, &h, length);
    if (status == MFPG_OK) status = check_seal(ctx, path, block, find(&h, DIGEST));
    if (status == MFPG_OK) {
        point_into(block, &h, &read);
        status = check_contents(ctx, path, &read);
    }
    if (status == MFPG_OK) {
        status = mfpg_announcements_read(ctx, block + h.sealed, length - (size_t)h.sealed, &read.told);
        if (status == MFPG_ERR_INPUT) mfpg_fail_in(ctx, status, "%s", path);
    }
    sodium_memzero(&h, sizeof h);
    if (status != MFPG_OK) {
        mfpg_checkpoint_clear(&read);
        return status;
    }
    read.block = block;
    read.length = length;
    *out = read;
    return MFPG_OK;
}

mfpg_status mfpg_checkpoint_read(mfpg_context *ctx, const char *path, mfpg_checkpoint *out) {
    char *block = NULL;
    size_t length = 0;
    mfpg_status status = mfpg_file_read(ctx, path, (size_t)PTRDIFF_MAX / 4, &block, &length);
    if (status != MFPG_OK) return status;
    status = parse(ctx, path, block, length, out);
    if (status != MFPG_OK) free(block);
    return status;
}

mfpg_status mfpg_checkpoint_hand_out(mfpg_context *ctx, const char *path, mfpg_checkpoint *checkpoint) {
    char *block = checkpoint->block;
    size_t length = checkpoint->length;
    mfpg_status status = mfpg_ranks_hand_out_block(ctx, &block, &length);
    if (status != MFPG_OK || mfpg_ranks_size(ctx) == 1) return status;
    if (!mfpg_ranks_first(ctx)) {
        status = parse(ctx, path, block, length, checkpoint);
        if (status != MFPG_OK) free(block);
    }
    return mfpg_ranks_agree(ctx, status);
}

void mfpg_checkpoint_clear(mfpg_checkpoint *c) {
    mfpg_announcements_clear(&c->told);
    sodium_memzero(&c->identity.key, sizeof c->identity.key);
    if (c->block) sodium_memzero(c->block, sizeof(head));
    free(c->block);
    *c = (mfpg_checkpoint){0};
}
