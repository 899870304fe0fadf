/* Writes a ledger. A round's lines are on disk before the call returns, and a complete line is never
 * removed. */
#include "ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
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

static mfpg_status fail_system(mfpg_context *ctx, const char *path, const char *what) {
    return mfpg_fail(ctx, MFPG_ERR_IO, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* While an interrupted run is repeated, its releases are already in the file up to the interruption (perhaps
 * in the middle of a line). Counts the waiting bytes that are present; if the bytes differ, this is not a
 * repetition. */
static mfpg_status compare_with_file(mfpg_context *ctx, mfpg_ledger *ledger, size_t *present) {
    *present = 0;
    while (*present < ledger->used && ledger->end + (int64_t)*present < ledger->size) {
        char block[1 << 12];
        size_t left = ledger->used - *present, wanted = left < sizeof block ? left : sizeof block;
        errno = EIO; /* for a file that ends too early: no bytes are read and no error is set */
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

/* Passes the waiting bytes to the system. */
static mfpg_status flush(mfpg_context *ctx, mfpg_ledger *ledger) {
    size_t done;
    mfpg_status status = compare_with_file(ctx, ledger, &done);
    while (status == MFPG_OK && done < ledger->used) {
        errno = EIO; /* for the case that no byte was written, which sets no error */
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

static mfpg_status read_size(mfpg_context *ctx, const mfpg_ledger *ledger, struct stat *out) {
    return fstat(ledger->descriptor, out) == 0 ? MFPG_OK : fail_system(ctx, ledger->path, "read");
}

/* ---- one ledger ---- */

mfpg_status mfpg_ledger_lock(mfpg_context *ctx, mfpg_ledger *ledger) {
    /* The process is compared first, because in a child the lock may be held by a thread that does not exist
     * there. */
    if (ledger->owner != getpid())
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: was opened by process %lld, not by this one; a child made by fork() opens it itself, after "
            "that one has closed it",
            ledger->path, (long long)ledger->owner);
    pthread_mutex_lock(&ledger->lock);
    return MFPG_OK;
}

void mfpg_ledger_unlock(mfpg_ledger *ledger) {
    pthread_mutex_unlock(&ledger->lock);
}

void mfpg_ledger_forget_accounts(mfpg_ledger *ledger) {
    for (int64_t k = 0; k < ledger->accounts; k++) mfpg_accountant_destroy(ledger->account[k].accountant);
    free(ledger->account);
    ledger->account = NULL;
    ledger->accounts = 0;
}

void mfpg_ledger_close(mfpg_ledger *ledger) {
    if (!ledger) return;
    int own = ledger->owner == getpid();
    /* A child forked from this process holds the file as well and would keep all other processes out of it. */
    if (ledger->descriptor >= 0 && own) flock(ledger->descriptor, LOCK_UN);
    if (ledger->descriptor >= 0) close(ledger->descriptor);
    if (own) pthread_mutex_destroy(&ledger->lock);
    mfpg_ledger_forget_accounts(ledger);
    mfpg_ledger_sums_clear(&ledger->sums);
    free(ledger->path);
    free(ledger);
}

/* Returns the state of the ledger; a child made by fork() has a copy that does not change. */
mfpg_ledger_state mfpg_ledger_tell(mfpg_ledger *ledger) {
    int locked = mfpg_ledger_lock(NULL, ledger) == MFPG_OK;
    mfpg_ledger_state state = {.header = ledger->header,
        .round = ledger->round,
        .end = ledger->last.lines >= ledger->found.lines ? ledger->last : ledger->found,
        .repeated = ledger->last};
    if (locked) mfpg_ledger_unlock(ledger);
    return state;
}

/* ---- opening ---- */

/* Opens the file under its present name, for one writer at a time. */
static mfpg_status open_file(mfpg_context *ctx, const char *path, const char *name, int flags,
    const mfpg_ledger_header *header, mfpg_ledger **out) {
    mfpg_ledger *ledger = mfpg_alloc(1, sizeof *ledger);
    mfpg_status status = MFPG_OK;
    if (!ledger) return mfpg_fail_memory(ctx);
    pthread_mutex_init(&ledger->lock, NULL);
    ledger->owner = getpid();
    ledger->header = *header;
    ledger->limit = header->stop_at_epsilon > 0.0 ? header->stop_at_epsilon : (double)INFINITY;
    ledger->path = mfpg_text_copy(path, strlen(path));
    ledger->descriptor = ledger->path ? open(name, flags | O_RDWR | O_CLOEXEC, 0666) : -1;
    if (!ledger->path)
        status = mfpg_fail_memory(ctx);
    else if (ledger->descriptor < 0)
        status = fail_system(ctx, path, "open");
    else if (flock(ledger->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: another process is writing to it", path);
    if (status == MFPG_OK)
        *out = ledger;
    else
        mfpg_ledger_close(ledger);
    return status;
}

/* Seals the line that was just written after the waiting bytes, and appends it to them. */
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

/* Gives the file its final name, which no file may have yet. */
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

/* The ledger has a temporary name until its first line is on disk. */
mfpg_status mfpg_ledger_create(
    mfpg_context *ctx, const char *path, const mfpg_ledger_header *header, mfpg_ledger **out) {
    mfpg_ledger *ledger = NULL;
    mfpg_status status = check_header(ctx, path, header);
    if (status != MFPG_OK) return status;
    size_t size = strlen(path) + sizeof ".12345678.part";
    char *name = mfpg_alloc((ptrdiff_t)size, 1);
    if (!name) return mfpg_fail_memory(ctx);
    snprintf(name, size, "%s.%08lx.part", path, (unsigned long)randombytes_random());
    status = open_file(ctx, path, name, O_CREAT | O_EXCL, header, &ledger);
    if (status == MFPG_OK) {
        take_line(ledger, mfpg_ledger_format_header(header, ledger->text));
        ledger->priced = 1; /* nothing was spent yet */
        status = flush_to_disk(ctx, ledger);
        if (status == MFPG_OK) status = publish(ctx, name, path);
        unlink(name);
    }
    free(name);
    if (status == MFPG_OK)
        *out = ledger;
    else
        mfpg_ledger_close(ledger);
    return status;
}

/* What is searched in a file that is opened again. */
typedef struct place {
    mfpg_context *ctx;
    const mfpg_ledger_header *header; /* known as soon as there is a line after it */
    ledger_sums *sums;                /* of the lines before the place */
    int64_t next_round;               /* to be repeated; INT64_MAX: none */
    int64_t last_round;               /* of all lines */
    /* offset of the first line of next_round or a later round; -1 if none was found */
    int64_t offset;
    mfpg_ledger_end before; /* of the lines before it */
} place;

static mfpg_status find_place(void *user, const mfpg_ledger_entry *entry) {
    place *found = user;
    if (entry->survivors == 0) found->last_round = entry->release.round;
    if (found->offset >= 0) return MFPG_OK;
    if (entry->release.round < found->next_round) {
        if (!found->header->secure_sum) return MFPG_OK;
        mfpg_status status = mfpg_ledger_sums_reserve(
            found->ctx, found->sums, found->header->clients, entry->last_client - entry->release.client + 1);
        if (status == MFPG_OK) mfpg_ledger_sums_take(found->sums, entry);
        return status;
    }
    found->offset = entry->offset;
    found->before = entry->before;
    return MFPG_OK;
}

/* Opens and reads a file. Lines of different versions must not be mixed. */
static mfpg_status open_again(
    mfpg_context *ctx, const char *path, place *next, mfpg_ledger_header *header, mfpg_ledger **out) {
    mfpg_ledger_extent found;
    mfpg_ledger *ledger = NULL;
    mfpg_status status = open_file(ctx, path, path, 0, &(mfpg_ledger_header){0}, &ledger);
    if (status != MFPG_OK) return status;
    next->ctx = ctx;
    next->header = header;
    next->sums = &ledger->sums;
    status = mfpg_ledger_scan(ctx, path, ledger->descriptor, header, find_place, next, &found);
    if (status == MFPG_OK && found.version < MFPG_LEDGER_PLAIN)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s:1: is of ledger version %d, which is read, but not gone on with: begin a new one (mfpg "
            "account --ledger OLD --ledger NEW prices both together)",
            path, found.version);
    if (status != MFPG_OK) {
        mfpg_ledger_close(ledger);
        return status;
    }
    ledger->header = *header;
    if (header->stop_at_epsilon > 0.0) ledger->limit = header->stop_at_epsilon;
    ledger->found = found.end;
    ledger->last = next->offset >= 0 ? next->before : found.end;
    ledger->end = next->offset >= 0 ? next->offset : found.complete;
    *out = ledger;
    return MFPG_OK;
}

static int same_header(const mfpg_ledger_header *a, const mfpg_ledger_header *b) {
    char first[MFPG_LEDGER_WRITTEN], second[MFPG_LEDGER_WRITTEN];
    size_t length = mfpg_ledger_format_header(a, first);
    return length == mfpg_ledger_format_header(b, second) && memcmp(first, second, length) == 0;
}

mfpg_status mfpg_ledger_resume(mfpg_context *ctx, const char *path, const mfpg_ledger_header *header,
    int64_t next_round, mfpg_ledger **out) {
    place next = {.next_round = next_round, .offset = -1};
    mfpg_ledger_header found;
    mfpg_ledger *ledger = NULL;
    struct stat info = {0};
    mfpg_status status = check_header(ctx, path, header);
    if (status == MFPG_OK) status = open_again(ctx, path, &next, &found, &ledger);
    if (status == MFPG_OK && !same_header(header, &found))
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: belongs to another run: its header differs", path);
    if (status == MFPG_OK) status = read_size(ctx, ledger, &info);
    if (status == MFPG_OK) {
        ledger->size = info.st_size;
        *out = ledger;
    } else {
        mfpg_ledger_close(ledger);
    }
    return status;
}

/* Cuts off the beginning of an unfinished line. It released nothing, because nothing leaves before its line
 * is complete and on disk. */
static mfpg_status cut_unfinished(mfpg_context *ctx, mfpg_ledger *ledger) {
    struct stat info;
    mfpg_status status = read_size(ctx, ledger, &info);
    if (status != MFPG_OK || info.st_size == ledger->end) return status;
    if (ftruncate(ledger->descriptor, ledger->end) != 0 || fsync(ledger->descriptor) != 0)
        return fail_system(ctx, ledger->path, "cut off its unfinished last line");
    return MFPG_OK;
}

mfpg_status mfpg_ledger_open(mfpg_context *ctx, const char *path, double stop_at_epsilon, mfpg_ledger **out) {
    place last = {.next_round = INT64_MAX, .offset = -1};
    mfpg_ledger_header header;
    mfpg_ledger *ledger = NULL;
    if (!(stop_at_epsilon >= 0.0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%s: stop_at_epsilon is %g; it must be above 0, or 0 for none",
            path, stop_at_epsilon);
    mfpg_status status = open_again(ctx, path, &last, &header, &ledger);
    if (status == MFPG_OK) status = cut_unfinished(ctx, ledger);
    if (status != MFPG_OK) {
        mfpg_ledger_close(ledger);
        return status;
    }
    ledger->round = last.last_round;
    ledger->size = ledger->end;
    if (stop_at_epsilon > 0.0) ledger->limit = fmin(ledger->limit, stop_at_epsilon);
    *out = ledger;
    return MFPG_OK;
}

/* ---- rounds ---- */

/* All releases are checked before the first byte is written. */
mfpg_status mfpg_ledger_check(
    mfpg_context *ctx, mfpg_ledger *ledger, mfpg_release_maker release, void *user, ptrdiff_t count) {
    mfpg_release before = {0};
    const mfpg_ledger_header *header = &ledger->header;
    if (ledger->broken) return mfpg_fail(ctx, MFPG_ERR_IO, "%s: an earlier write failed", ledger->path);
    if (header->secure_sum) {
        mfpg_status status = mfpg_ledger_sums_reserve(ctx, &ledger->sums, header->clients, count);
        if (status != MFPG_OK) return status;
    }
    for (ptrdiff_t i = 0; i < count; i++) {
        const mfpg_release made = release(user, i);
        const mfpg_ledger_entry line = {.release = made, .last_client = made.client};
        const char *fault = mfpg_ledger_release_fault(header, &made);
        if (!fault && made.client >= header->clients) fault = "there is no such client in the header";
        if (!fault && made.particles != header->particles)
            fault = "its particles are not those of the header";
        if (!fault && header->secure_sum) fault = mfpg_ledger_sums_fault(&ledger->sums, &line);
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

static mfpg_status make_room(mfpg_context *ctx, mfpg_ledger *ledger) {
    return sizeof ledger->text - ledger->used < MFPG_LEDGER_WRITTEN ? flush(ctx, ledger) : MFPG_OK;
}

/* Adjacent clients with equal releases share a line. */
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
        mfpg_status status = make_room(ctx, ledger);
        if (status != MFPG_OK) return status;
        take_line(ledger, mfpg_ledger_format_release(&first, last, ledger->text + ledger->used));
        const mfpg_ledger_entry line = {.release = first, .last_client = last};
        if (ledger->header.secure_sum) mfpg_ledger_sums_take(&ledger->sums, &line);
    }
    return flush_to_disk(ctx, ledger);
}

/* If a backup replaces the file, or the file is deleted, releases would be lost that the writer relies on;
 * it then refuses to continue. */
static mfpg_status check_file(mfpg_context *ctx, const mfpg_ledger *ledger) {
    struct stat info;
    mfpg_status status = read_size(ctx, ledger, &info);
    if (status != MFPG_OK) return status;
    if (info.st_nlink == 0)
        return mfpg_fail(ctx, MFPG_ERR_IO, "%s: was deleted while it was open for writing", ledger->path);
    if (info.st_size == ledger->size) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_IO,
        "%s: was changed by another program: it has %lld bytes, and should have %lld", ledger->path,
        (long long)info.st_size, (long long)ledger->size);
}

mfpg_status mfpg_ledger_write(
    mfpg_context *ctx, mfpg_ledger *ledger, mfpg_release_maker release, void *user, ptrdiff_t count) {
    mfpg_status status = mfpg_ledger_check(ctx, ledger, release, user, count);
    if (status == MFPG_OK && count > 0) status = check_file(ctx, ledger);
    if (status != MFPG_OK || count == 0) return status;
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

mfpg_release mfpg_ledger_element(void *user, ptrdiff_t i) {
    return (*(const mfpg_release *const *)user)[i];
}

mfpg_status mfpg_ledger_append(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *release, ptrdiff_t count) {
    return mfpg_ledger_append_made(ctx, ledger, mfpg_ledger_element, &release, count);
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

/* ---- survivors of a secure sum ---- */

static mfpg_ledger_entry survivors_line(const mfpg_survivors *of) {
    return (mfpg_ledger_entry){
        .release = {.round = of->round, .attempt = of->attempt, .client = of->client, .last_sd = of->last_sd},
        .last_client = of->client,
        .survivors = of->survivors};
}

static mfpg_status check_survivors(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_survivors *known, ptrdiff_t count) {
    const mfpg_ledger_header *header = &ledger->header;
    if (ledger->broken) return mfpg_fail(ctx, MFPG_ERR_IO, "%s: an earlier write failed", ledger->path);
    if (!header->secure_sum)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%s: the header names no secure sums", ledger->path);
    mfpg_status status = mfpg_ledger_sums_reserve(ctx, &ledger->sums, header->clients, 0);
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK; i++) {
        const mfpg_survivors *of = &known[i];
        const mfpg_ledger_entry line = survivors_line(of);
        const char *fault = NULL;
        if (of->client < 0 || of->client >= header->clients) fault = "there is no such client in the header";
        if (!fault && of->survivors < 1) fault = "survivors are fewer than 1";
        if (!fault && !(of->last_sd <= DBL_MAX)) fault = "last_sd is not a finite number";
        if (!fault && i > 0 && of->client <= known[i - 1].client)
            fault = "clients are not in ascending order";
        if (!fault) fault = mfpg_ledger_sums_fault(&ledger->sums, &line);
        if (fault)
            status = mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%s: round %lld, attempt %lld, client %lld: %s",
                ledger->path, (long long)of->round, (long long)of->attempt, (long long)of->client, fault);
    }
    return status;
}

static mfpg_status write_survivors(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_survivors *known, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count;) {
        const mfpg_survivors *first = &known[i];
        mfpg_ledger_entry line = survivors_line(first);
        for (i++; i < count && known[i].client == line.last_client + 1; i++, line.last_client++)
            if (known[i].attempt != first->attempt || known[i].survivors != first->survivors ||
                known[i].last_sd != first->last_sd)
                break;
        mfpg_status status = make_room(ctx, ledger);
        if (status != MFPG_OK) return status;
        take_line(ledger, mfpg_ledger_format_survivors(first, line.last_client, ledger->text + ledger->used));
        mfpg_ledger_sums_take(&ledger->sums, &line);
    }
    return flush_to_disk(ctx, ledger);
}

mfpg_status mfpg_ledger_survivors(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_survivors *known, ptrdiff_t count) {
    mfpg_status status = mfpg_ledger_lock(ctx, ledger);
    if (status != MFPG_OK) return status;
    status = check_survivors(ctx, ledger, known, count);
    if (status == MFPG_OK && count > 0) status = check_file(ctx, ledger);
    if (status == MFPG_OK && count > 0) {
        status = write_survivors(ctx, ledger, known, count);
        ledger->broken = status != MFPG_OK;
    }
    mfpg_ledger_unlock(ledger);
    return status;
}
