/* Writing a ledger: a round's lines are on disk before the call returns, and never is a byte taken back. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mfpg/accountant.h"

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "chain.h"
#include "format.h"
#include "accountants/release_check.h"

struct mfpg_ledger {
    int descriptor;
    char *path;
    mfpg_particles particles;
    mfpg_promise promise;
    int64_t clients;
    int64_t round;         /* of the latest append */
    mfpg_ledger_end last;  /* of the lines handed to text so far */
    mfpg_ledger_end found; /* of the file as it was opened */
    int64_t end;           /* where the next line belongs */
    int64_t size;          /* bytes in the file: more than end while an interrupted run is being repeated */
    int broken;            /* a write failed half-way: nothing may follow */
    size_t used;           /* bytes waiting in text */
    char text[1 << 16];
};

static mfpg_status fail_system(mfpg_context *ctx, const char *path, const char *what) {
    return mfpg_fail(ctx, MFPG_ERR_IO, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* While an interrupted run is repeated its releases are in the file already, up to where the interruption struck (in
 * the middle of a line, perhaps). Counts the waiting bytes that are there; other bytes mean that this is no
 * repetition. */
static mfpg_status compare_with_file(mfpg_context *ctx, mfpg_ledger *ledger, size_t *present) {
    *present = 0;
    while (*present < ledger->used && ledger->end + (int64_t)*present < ledger->size) {
        char block[1 << 12];
        size_t left = ledger->used - *present, wanted = left < sizeof block ? left : sizeof block;
        errno = EIO; /* stays where the file ends too early: no bytes, no error */
        ssize_t got = pread(ledger->descriptor, block, wanted, ledger->end + (int64_t)*present);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return fail_system(ctx, ledger->path, "read");
        if (memcmp(block, ledger->text + *present, (size_t)got) != 0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "%s: round %lld is not the one that was recorded before the interruption", ledger->path,
                (long long)ledger->round);
        *present += (size_t)got;
    }
    return MFPG_OK;
}

/* Hands the waiting bytes to the system. */
static mfpg_status flush(mfpg_context *ctx, mfpg_ledger *ledger) {
    size_t done;
    mfpg_status status = compare_with_file(ctx, ledger, &done);
    while (status == MFPG_OK && done < ledger->used) {
        errno = EIO; /* stays where no byte was written, which sets none */
        ssize_t wrote =
            pwrite(ledger->descriptor, ledger->text + done, ledger->used - done, ledger->end + (int64_t)done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return fail_system(ctx, ledger->path, "write");
        done += (size_t)wrote;
    }
    if (status != MFPG_OK) return status;
    ledger->end += (int64_t)ledger->used;
    ledger->used = 0;
    if (ledger->size < ledger->end) ledger->size = ledger->end;
    return MFPG_OK;
}

static mfpg_status flush_to_disk(mfpg_context *ctx, mfpg_ledger *ledger) {
    mfpg_status status = flush(ctx, ledger);
    if (status == MFPG_OK && fdatasync(ledger->descriptor) != 0)
        status = fail_system(ctx, ledger->path, "write to disk");
    return status;
}

/* Opens the file for one writer at a time. */
static mfpg_status open_file(
    mfpg_context *ctx, const char *path, int flags, const mfpg_ledger_header *header, mfpg_ledger **out) {
    mfpg_ledger *ledger = mfpg_alloc(1, sizeof *ledger);
    mfpg_status status = MFPG_OK;
    if (!ledger) return mfpg_fail_memory(ctx);
    ledger->descriptor = -1;
    ledger->clients = header->clients;
    ledger->particles = header->particles;
    ledger->promise = header->promise;
    ledger->path = mfpg_text_copy(path, strlen(path));
    if (!ledger->path) {
        status = mfpg_fail_memory(ctx);
        goto done;
    }
    ledger->descriptor = open(path, flags | O_RDWR | O_CLOEXEC, 0666);
    if (ledger->descriptor < 0) {
        status = errno == EEXIST
                     ? mfpg_fail(ctx, MFPG_ERR_IO, "%s: exists already; a ledger is never overwritten", path)
                     : fail_system(ctx, path, "open");
        goto done;
    }
    if (flock(ledger->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: another process is writing to it", path);
done:
    if (status != MFPG_OK) {
        mfpg_ledger_close(ledger);
        return status;
    }
    *out = ledger;
    return MFPG_OK;
}

/* Seals the line that was just written behind the waiting bytes and takes it in. */
static void take_line(mfpg_ledger *ledger, size_t length) {
    char *line = ledger->text + ledger->used;
    length = mfpg_ledger_seal(line, length, ledger->last.chain);
    line[length] = '\n';
    ledger->used += length + 1;
    ledger->last.lines++;
}

static mfpg_status check_header(mfpg_context *ctx, const char *path, const mfpg_ledger_header *header) {
    const char *fault = mfpg_ledger_header_fault(header);
    return fault ? mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%s: the ledger's header: %s", path, fault) : MFPG_OK;
}

mfpg_status mfpg_ledger_create(
    mfpg_context *ctx, const char *path, const mfpg_ledger_header *header, mfpg_ledger **out) {
    mfpg_ledger *ledger;
    mfpg_status status = check_header(ctx, path, header);
    if (status == MFPG_OK) status = open_file(ctx, path, O_CREAT | O_EXCL, header, &ledger);
    if (status != MFPG_OK) return status;
    take_line(ledger, mfpg_ledger_format_header(header, ledger->text));
    status = flush_to_disk(ctx, ledger);
    if (status == MFPG_OK) status = mfpg_path_sync_folder(ctx, path);
    if (status != MFPG_OK) { /* nothing was released yet: leave no headless file behind */
        unlink(path);
        mfpg_ledger_close(ledger);
        return status;
    }
    *out = ledger;
    return MFPG_OK;
}

typedef struct place {
    int64_t next_round;
    int64_t offset;         /* of the first line of that round or a later one; -1 while none was found */
    mfpg_ledger_end before; /* of the lines in front of it */
} place;

static mfpg_status find_place(void *user, const mfpg_ledger_entry *entry) {
    place *found = user;
    if (found->offset >= 0 || entry->release.round < found->next_round) return MFPG_OK;
    found->offset = entry->offset;
    found->before = entry->before;
    return MFPG_OK;
}

static int same_header(const mfpg_ledger_header *a, const mfpg_ledger_header *b) {
    char first[MFPG_LEDGER_WRITTEN], second[MFPG_LEDGER_WRITTEN];
    size_t length = mfpg_ledger_format_header(a, first);
    return length == mfpg_ledger_format_header(b, second) && memcmp(first, second, length) == 0;
}

mfpg_status mfpg_ledger_resume(mfpg_context *ctx, const char *path, const mfpg_ledger_header *header,
    int64_t next_round, mfpg_ledger **out) {
    mfpg_ledger_header found;
    place next = {.next_round = next_round, .offset = -1};
    mfpg_ledger *ledger;
    int64_t complete;
    mfpg_status status = check_header(ctx, path, header);
    if (status == MFPG_OK) status = open_file(ctx, path, 0, header, &ledger);
    if (status != MFPG_OK) return status;
    status = mfpg_ledger_scan(ctx, path, &found, find_place, &next, &complete, &ledger->found);
    if (status == MFPG_OK && !same_header(header, &found))
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: belongs to another run: its header differs", path);
    struct stat info;
    if (status == MFPG_OK && fstat(ledger->descriptor, &info) != 0) status = fail_system(ctx, path, "read");
    if (status != MFPG_OK) {
        mfpg_ledger_close(ledger);
        return status;
    }
    ledger->end = next.offset >= 0 ? next.offset : complete;
    ledger->last = next.offset >= 0 ? next.before : ledger->found;
    ledger->size = info.st_size;
    *out = ledger;
    return MFPG_OK;
}

static int same_release(const mfpg_release *a, const mfpg_release *b) {
    return a->particles == b->particles && a->contraction == b->contraction && a->steps == b->steps &&
           a->sensitivity == b->sensitivity && a->noise_sd == b->noise_sd && a->last_sd == b->last_sd &&
           a->weight == b->weight && a->sampling_rate == b->sampling_rate &&
           a->action.control == b->action.control &&
           (a->action.control == MFPG_CONTROL_NONE ||
               mfpg_action_value(&a->action) == mfpg_action_value(&b->action));
}

/* All are looked at before the first byte is written. */
static mfpg_status check_round(
    mfpg_context *ctx, const mfpg_ledger *ledger, mfpg_release_maker release, void *user, ptrdiff_t count) {
    mfpg_release before = {0};
    for (ptrdiff_t i = 0; i < count; i++) {
        const mfpg_release made = release(user, i);
        const char *fault = mfpg_release_fault(&made);
        if (!fault && made.client >= ledger->clients) fault = "there is no such client in the header";
        if (!fault && made.particles != ledger->particles)
            fault = "its particles are not those of the header";
        if (!fault) fault = mfpg_ledger_release_fault(&ledger->promise, &made);
        if (!fault && made.round < ledger->round) fault = "an earlier round than the one before";
        if (!fault && i > 0 && made.round != before.round) fault = "two rounds in one append";
        if (!fault && i > 0 && made.client <= before.client) fault = "clients are not in ascending order";
        if (fault)
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%s: round %lld, client %lld: %s", ledger->path,
                (long long)made.round, (long long)made.client, fault);
        before = made;
    }
    return MFPG_OK;
}

/* A run of neighbours with equal releases shares a line. */
static mfpg_status write_round(
    mfpg_context *ctx, mfpg_ledger *ledger, mfpg_release_maker release, void *user, ptrdiff_t count) {
    mfpg_release next = release(user, 0);
    for (ptrdiff_t i = 0; i < count;) {
        const mfpg_release first = next;
        int64_t last = first.client;
        for (i++; i < count; i++) {
            next = release(user, i);
            if (next.client != last + 1 || !same_release(&first, &next)) break;
            last++;
        }
        if (sizeof ledger->text - ledger->used < MFPG_LEDGER_WRITTEN) {
            mfpg_status status = flush(ctx, ledger);
            if (status != MFPG_OK) return status;
        }
        take_line(ledger, mfpg_ledger_format_release(&first, last, ledger->text + ledger->used));
    }
    return flush_to_disk(ctx, ledger);
}

mfpg_status mfpg_ledger_append_made(
    mfpg_context *ctx, mfpg_ledger *ledger, mfpg_release_maker release, void *user, ptrdiff_t count) {
    if (ledger->broken) return mfpg_fail(ctx, MFPG_ERR_IO, "%s: an earlier write failed", ledger->path);
    mfpg_status status = check_round(ctx, ledger, release, user, count);
    if (status != MFPG_OK || count == 0) return status;
    ledger->round = release(user, 0).round;
    status = write_round(ctx, ledger, release, user, count);
    ledger->broken = status != MFPG_OK;
    return status;
}

static mfpg_release element(void *user, ptrdiff_t i) {
    return (*(const mfpg_release *const *)user)[i];
}

mfpg_status mfpg_ledger_append(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *release, ptrdiff_t count) {
    return mfpg_ledger_append_made(ctx, ledger, element, &release, count);
}

void mfpg_ledger_tell_end(const mfpg_ledger *ledger, mfpg_ledger_end *out) {
    *out = ledger->last.lines >= ledger->found.lines ? ledger->last : ledger->found;
}

void mfpg_ledger_tell_repeated(const mfpg_ledger *ledger, mfpg_ledger_end *out) {
    *out = ledger->last;
}

void mfpg_ledger_close(mfpg_ledger *ledger) {
    if (!ledger) return;
    if (ledger->descriptor >= 0) close(ledger->descriptor);
    free(ledger->path);
    free(ledger);
}
