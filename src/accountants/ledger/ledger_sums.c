/* The secure sums that a ledger lists: (run, sum_round, attempt) is used once, and what survived a sum is said once. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "ledger.h"

/* The last sum of a client in a run. */
struct sum_of_run {
    int64_t client, run, round, attempt;
};

mfpg_status mfpg_ledger_sums_reserve(mfpg_context *ctx, ledger_sums *sums, int64_t clients, int64_t more) {
    if (!sums->client) sums->client = mfpg_alloc(clients, sizeof *sums->client);
    if (!sums->client) return mfpg_fail_memory(ctx);
    if (sums->count + more <= sums->room) return MFPG_OK;
    ptrdiff_t room = 2 * sums->count + (ptrdiff_t)more;
    struct sum_of_run *longer = mfpg_resize(sums->last, room, sizeof *longer);
    if (!longer) return mfpg_fail_memory(ctx);
    sums->last = longer;
    sums->room = room;
    return MFPG_OK;
}

void mfpg_ledger_sums_clear(ledger_sums *sums) {
    free(sums->last);
    free(sums->client);
    *sums = (ledger_sums){0};
}

/* The latest runs are at the end. */
static struct sum_of_run *find(const ledger_sums *sums, int64_t client, int64_t run) {
    for (ptrdiff_t i = sums->count; i-- > 0;)
        if (sums->last[i].client == client && sums->last[i].run == run) return &sums->last[i];
    return NULL;
}

static const char *release_fault(const ledger_sums *sums, const mfpg_release *next, int64_t client) {
    const struct sum_of_run *last = find(sums, client, next->run);
    int later = !last || next->sum_round > last->round ||
                (next->sum_round == last->round && next->attempt > last->attempt);
    return later ? NULL
                 : "the client has released in this attempt of the secure sum, or in a later one, and an "
                   "attempt "
                   "is never used twice";
}

static const char *survivors_fault(const mfpg_ledger_entry *of, const mfpg_ledger_entry *line) {
    const mfpg_release *charged = &of->release;
    if (charged->attempt == 0 || charged->round != line->release.round ||
        charged->attempt != line->release.attempt)
        return "survivors of a sum that is not the latest of the client";
    if (of->survivors > 0) return "the survivors of this sum are known already";
    if (line->survivors < charged->threshold || line->survivors > charged->members)
        return "survivors are not from threshold to members";
    if (!(line->release.last_sd >= charged->last_sd))
        return "last_sd with survivors is below the one promised";
    return line->survivors - charged->colluders < 2 && line->release.last_sd > charged->noise_sd
               ? "last_sd exceeds noise_sd, but no other honest client is in the sum"
               : NULL;
}

const char *mfpg_ledger_sums_fault(const ledger_sums *sums, const mfpg_ledger_entry *line) {
    const char *fault = NULL;
    if (line->survivors == 0 && line->release.attempt == 0) return NULL;
    for (int64_t k = line->release.client; k <= line->last_client && !fault; k++)
        fault = line->survivors > 0 ? survivors_fault(&sums->client[k], line)
                                    : release_fault(sums, &line->release, k);
    return fault;
}

void mfpg_ledger_sums_take(ledger_sums *sums, const mfpg_ledger_entry *line) {
    const mfpg_release *next = &line->release;
    for (int64_t k = next->client; k <= line->last_client; k++) {
        if (line->survivors > 0) sums->client[k].survivors = line->survivors;
        if (line->survivors > 0 || next->attempt == 0) continue;
        struct sum_of_run *last = find(sums, k, next->run);
        if (!last) last = &sums->last[sums->count++];
        *last = (struct sum_of_run){k, next->run, next->sum_round, next->attempt};
        sums->client[k] = *line;
    }
}
