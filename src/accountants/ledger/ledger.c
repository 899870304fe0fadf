/* Writing a ledger: a round's lines are on disk before the call returns, and no complete line is ever taken back. */
#include "ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/release_parts.h"
#include "chain.h"
#include "format.h"

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

/* ---- locks ---- */

mfpg_status mfpg_ledger_lock(mfpg_context *ctx, mfpg_ledger *ledger) {
    if (ledger->owner !=
        getpid()) /* asked first: in a child the lock may be held by a thread that it does not have */
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: was opened by process %lld, not by this one; what fork() made opens it anew, once that one "
            "has closed it",
            ledger->path, (long long)ledger->owner);
    pthread_mutex_lock(&ledger->lock);
    return MFPG_OK;
}

void mfpg_ledger_unlock(mfpg_ledger *ledger) {
    pthread_mutex_unlock(&ledger->lock);
}

/* ---- opening ---- */

/* Opens the file that is called that way for now, for one writer at a time. */
static mfpg_status open_file(mfpg_context *ctx, const char *path, const char *name, int flags,
    const mfpg_ledger_header *header, mfpg_ledger **out) {
    mfpg_ledger *ledger = mfpg_alloc(1, sizeof *ledger);
    mfpg_status status = MFPG_OK;
    if (!ledger) return mfpg_fail_memory(ctx);
    pthread_mutex_init(&ledger->lock, NULL);
    ledger->owner = getpid();
    ledger->descriptor = -1;
    ledger->header = *header;
    ledger->limit = header->stop_at_epsilon > 0.0 ? header->stop_at_epsilon : (double)INFINITY;
    ledger->path = mfpg_text_copy(path, strlen(path));
    if (!ledger->path) {
        status = mfpg_fail_memory(ctx);
        goto done;
    }
    ledger->descriptor = open(name, flags | O_RDWR | O_CLOEXEC, 0666);
    if (ledger->descriptor < 0)
        status = fail_system(ctx, path, "open");
    else if (flock(ledger->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
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

/* The name under which a ledger is made until its first line is on disk; free it. */
static char *temporary_name(const char *path) {
    size_t size = strlen(path) + sizeof ".12345678.part";
    char *name = mfpg_alloc((ptrdiff_t)size, 1);
    if (name) snprintf(name, size, "%s.%08lx.part", path, (unsigned long)randombytes_random());
    return name;
}

/* Gives the file its own name, which nothing has yet. */
static mfpg_status publish(mfpg_context *ctx, const char *name, const char *path) {
    int linked = link(name, path) == 0;
    if (!linked && errno != EEXIST) /* a file system without links */
        linked = renameat2(AT_FDCWD, name, AT_FDCWD, path, RENAME_NOREPLACE) == 0;
    if (linked) {
        mfpg_status status = mfpg_path_sync_folder(ctx, path);
        if (status != MFPG_OK) unlink(path); /* nothing was released yet */
        return status;
    }
    return errno == EEXIST
               ? mfpg_fail(ctx, MFPG_ERR_IO, "%s: exists already; a ledger is never overwritten", path)
               : fail_system(ctx, path, "make");
}

mfpg_status mfpg_ledger_create(
    mfpg_context *ctx, const char *path, const mfpg_ledger_header *header, mfpg_ledger **out) {
    mfpg_ledger *ledger = NULL;
    mfpg_status status = check_header(ctx, path, header);
    if (status != MFPG_OK) return status;
    char *name = temporary_name(path);
    if (!name) return mfpg_fail_memory(ctx);
    status = open_file(ctx, path, name, O_CREAT | O_EXCL, header, &ledger);
    if (status == MFPG_OK) {
        take_line(ledger, mfpg_ledger_format_header(header, ledger->text));
        status = flush_to_disk(ctx, ledger);
        if (status == MFPG_OK) status = publish(ctx, name, path);
        unlink(name);
    }
    free(name);
    if (status != MFPG_OK) {
        mfpg_ledger_close(ledger);
        return status;
    }
    ledger->priced = 1; /* nothing was spent yet */
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

/* Lines of the one version do not follow lines of the other. */
static mfpg_status check_version(mfpg_context *ctx, const char *path, const mfpg_ledger_extent *found) {
    return found->version == MFPG_LEDGER_VERSION
               ? MFPG_OK
               : mfpg_fail(ctx, MFPG_ERR_INPUT,
                     "%s:1: is of ledger version %d, which is read, but not gone on with: begin a new one "
                     "(mfpg account --ledger OLD --ledger NEW prices both together)",
                     path, found->version);
}

mfpg_status mfpg_ledger_resume(mfpg_context *ctx, const char *path, const mfpg_ledger_header *header,
    int64_t next_round, mfpg_ledger **out) {
    mfpg_ledger_header found;
    mfpg_ledger_extent extent;
    place next = {.next_round = next_round, .offset = -1};
    mfpg_ledger *ledger;
    mfpg_status status = check_header(ctx, path, header);
    if (status == MFPG_OK) status = open_file(ctx, path, path, 0, header, &ledger);
    if (status != MFPG_OK) return status;
    status = mfpg_ledger_scan(ctx, path, ledger->descriptor, &found, find_place, &next, &extent);
    if (status == MFPG_OK) status = check_version(ctx, path, &extent);
    if (status == MFPG_OK && !same_header(header, &found))
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: belongs to another run: its header differs", path);
    struct stat info;
    if (status == MFPG_OK && fstat(ledger->descriptor, &info) != 0) status = fail_system(ctx, path, "read");
    if (status != MFPG_OK) {
        mfpg_ledger_close(ledger);
        return status;
    }
    ledger->found = extent.end;
    ledger->end = next.offset >= 0 ? next.offset : extent.complete;
    ledger->last = next.offset >= 0 ? next.before : extent.end;
    ledger->size = info.st_size;
    *out = ledger;
    return MFPG_OK;
}

static mfpg_status note_round(void *user, const mfpg_ledger_entry *entry) {
    *(int64_t *)user = entry->release.round;
    return MFPG_OK;
}

/* Nothing leaves before its line is complete and on disk, so the beginning of one released nothing. */
static mfpg_status cut_unfinished(mfpg_context *ctx, mfpg_ledger *ledger) {
    struct stat info;
    if (fstat(ledger->descriptor, &info) != 0) return fail_system(ctx, ledger->path, "read");
    if (info.st_size == ledger->end) return MFPG_OK;
    if (ftruncate(ledger->descriptor, ledger->end) != 0 || fsync(ledger->descriptor) != 0)
        return fail_system(ctx, ledger->path, "cut off its unfinished last line");
    return MFPG_OK;
}

mfpg_status mfpg_ledger_open(mfpg_context *ctx, const char *path, double stop_at_epsilon, mfpg_ledger **out) {
    mfpg_ledger_header unknown = {0};
    mfpg_ledger_extent extent;
    mfpg_ledger *ledger;
    if (!(stop_at_epsilon >= 0.0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%s: stop_at_epsilon is %g; it must be above 0, or 0 for none",
            path, stop_at_epsilon);
    mfpg_status status = open_file(ctx, path, path, 0, &unknown, &ledger);
    if (status != MFPG_OK) return status;
    status =
        mfpg_ledger_scan(ctx, path, ledger->descriptor, &ledger->header, note_round, &ledger->round, &extent);
    if (status == MFPG_OK) status = check_version(ctx, path, &extent);
    if (status == MFPG_OK) {
        ledger->found = ledger->last = extent.end;
        ledger->end = ledger->size = extent.complete;
        if (ledger->header.stop_at_epsilon > 0.0) ledger->limit = ledger->header.stop_at_epsilon;
        if (stop_at_epsilon > 0.0) ledger->limit = fmin(ledger->limit, stop_at_epsilon);
        status = cut_unfinished(ctx, ledger);
    }
    if (status != MFPG_OK) {
        mfpg_ledger_close(ledger);
        return status;
    }
    *out = ledger;
    return MFPG_OK;
}

/* ---- rounds ---- */

/* All are looked at before the first byte is written. */
mfpg_status mfpg_ledger_check(
    mfpg_context *ctx, const mfpg_ledger *ledger, mfpg_release_maker release, void *user, ptrdiff_t count) {
    mfpg_release before = {0};
    const mfpg_ledger_header *header = &ledger->header;
    if (ledger->broken) return mfpg_fail(ctx, MFPG_ERR_IO, "%s: an earlier write failed", ledger->path);
    for (ptrdiff_t i = 0; i < count; i++) {
        const mfpg_release made = release(user, i);
        const char *fault = mfpg_ledger_release_fault(&header->promise, &made);
        if (!fault && made.client >= header->clients) fault = "there is no such client in the header";
        if (!fault && made.particles != header->particles)
            fault = "its particles are not those of the header";
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
            if (next.client != last + 1 || !mfpg_release_equal(&first, &next, MFPG_RELEASE_WRITTEN)) break;
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

/* A backup that is put back over the file, or a file that is deleted, would take releases away from a writer who counts on them: it does
 * not go on. */
static mfpg_status check_file(mfpg_context *ctx, const mfpg_ledger *ledger) {
    struct stat info;
    if (fstat(ledger->descriptor, &info) != 0) return fail_system(ctx, ledger->path, "read");
    if (info.st_nlink == 0)
        return mfpg_fail(ctx, MFPG_ERR_IO, "%s: was deleted while it was open for writing", ledger->path);
    if (info.st_size == ledger->size) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_IO,
        "%s: was changed by somebody else: it has %lld bytes, and should have %lld", ledger->path,
        (long long)info.st_size, (long long)ledger->size);
}

/* All are looked at before the first byte is written. */
mfpg_status mfpg_ledger_write(
    mfpg_context *ctx, mfpg_ledger *ledger, mfpg_release_maker release, void *user, ptrdiff_t count) {
    mfpg_status status = mfpg_ledger_check(ctx, ledger, release, user, count);
    if (status != MFPG_OK || count == 0) return status;
    status = check_file(ctx, ledger);
    if (status != MFPG_OK) return status;
    ledger->round = release(user, 0).round;
    ledger->priced = 0;
    status = write_round(ctx, ledger, release, user, count);
    ledger->broken = status != MFPG_OK;
    return status;
}

mfpg_status mfpg_ledger_append_made(
    mfpg_context *ctx, mfpg_ledger *ledger, mfpg_release_maker release, void *user, ptrdiff_t count) {
    mfpg_status status = mfpg_ledger_lock(ctx, ledger);
    if (status != MFPG_OK) return status;
    status = mfpg_ledger_write(ctx, ledger, release, user, count);
    mfpg_ledger_unlock(ledger);
    return status;
}

static mfpg_release element(void *user, ptrdiff_t i) {
    return (*(const mfpg_release *const *)user)[i];
}

mfpg_status mfpg_ledger_append(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *release, ptrdiff_t count) {
    return mfpg_ledger_append_made(ctx, ledger, element, &release, count);
}

typedef struct numbered {
    const mfpg_release *release;
    int64_t round;
} numbered;

static mfpg_release with_round(void *user, ptrdiff_t i) {
    const numbered *all = user;
    mfpg_release release = all->release[i];
    release.round = all->round;
    return release;
}

mfpg_status mfpg_ledger_append_next(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *release, ptrdiff_t count, int64_t *round) {
    mfpg_status status = mfpg_ledger_lock(ctx, ledger);
    if (status != MFPG_OK) return status;
    numbered all = {release, ledger->round + 1};
    status = mfpg_ledger_write(ctx, ledger, with_round, &all, count);
    mfpg_ledger_unlock(ledger);
    if (status == MFPG_OK) *round = all.round;
    return status;
}

/* ---- what is known of it ---- */

/* A child made by fork() has a copy that nobody changes. */
static void read_under_lock(
    mfpg_ledger *ledger, void (*tell)(const mfpg_ledger *ledger, void *out), void *out) {
    int locked = mfpg_ledger_lock(NULL, ledger) == MFPG_OK;
    tell(ledger, out);
    if (locked) mfpg_ledger_unlock(ledger);
}

static void tell_end(const mfpg_ledger *ledger, void *out) {
    *(mfpg_ledger_end *)out = ledger->last.lines >= ledger->found.lines ? ledger->last : ledger->found;
}

static void tell_repeated(const mfpg_ledger *ledger, void *out) {
    *(mfpg_ledger_end *)out = ledger->last;
}

static void tell_round(const mfpg_ledger *ledger, void *out) {
    *(int64_t *)out = ledger->round;
}

void mfpg_ledger_tell_end(mfpg_ledger *ledger, mfpg_ledger_end *out) {
    read_under_lock(ledger, tell_end, out);
}

void mfpg_ledger_tell_repeated(mfpg_ledger *ledger, mfpg_ledger_end *out) {
    read_under_lock(ledger, tell_repeated, out);
}

int64_t mfpg_ledger_tell_round(mfpg_ledger *ledger) {
    int64_t round;
    read_under_lock(ledger, tell_round, &round);
    return round;
}

mfpg_ledger_header mfpg_ledger_tell_header(const mfpg_ledger *ledger) {
    return ledger->header;
}

void mfpg_ledger_close(mfpg_ledger *ledger) {
    if (!ledger) return;
    int own = ledger->owner == getpid();
    /* Whoever was forked from this process holds the file as well, and would keep everybody out of it. */
    if (ledger->descriptor >= 0 && own) flock(ledger->descriptor, LOCK_UN);
    if (ledger->descriptor >= 0) close(ledger->descriptor);
    if (own) pthread_mutex_destroy(&ledger->lock);
    mfpg_ledger_forget_accounts(ledger);
    free(ledger->path);
    free(ledger);
}
