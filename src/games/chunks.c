#include "chunks.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "compensated.h"

double mfpg_chunk_add(const double *x, ptrdiff_t count) {
    mfpg_compensated sum = {0};
    for (ptrdiff_t first = 0; first < count; first += MFPG_BLOCK) {
        ptrdiff_t n = count - first < MFPG_BLOCK ? count - first : MFPG_BLOCK, i = 0;
        double lane[4] = {0};
        for (; i + 4 <= n; i += 4)
            for (int j = 0; j < 4; j++) lane[j] += x[first + i + j];
        for (; i < n; i++) lane[0] += x[first + i];
        mfpg_compensated_add(&sum, (lane[0] + lane[1]) + (lane[2] + lane[3]));
    }
    return mfpg_compensated_value(&sum);
}

typedef struct chunk_job {
    ptrdiff_t clients;
    mfpg_chunk_work work;
    void *arg;
} chunk_job;

static mfpg_status run_chunk(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    const chunk_job *job = arg;
    ptrdiff_t first = index * MFPG_CHUNK, rest = job->clients - first;
    (void)ctx, (void)worker;
    job->work(job->arg, index, first, rest < MFPG_CHUNK ? rest : MFPG_CHUNK);
    return MFPG_OK;
}

void mfpg_chunks_run(mfpg_context *ctx, ptrdiff_t clients, mfpg_chunk_work work, void *arg) {
    chunk_job job = {clients, work, arg};
    ptrdiff_t count = mfpg_chunks_of(clients);
    if (count == 1) /* small games need no threads */
        work(arg, 0, 0, clients);
    else
        mfpg_tasks_run(ctx, count, run_chunk, &job);
}

mfpg_status mfpg_chunks_init(mfpg_context *ctx, ptrdiff_t clients, mfpg_chunks *out) {
    ptrdiff_t count = mfpg_chunks_of(clients);
    double *parts = mfpg_alloc(count, sizeof *parts);
    if (!parts) return mfpg_fail_memory(ctx);
    *out = (mfpg_chunks){.ctx = ctx, .clients = clients, .count = count, .parts = parts};
    return MFPG_OK;
}

void mfpg_chunks_clear(mfpg_chunks *chunks) {
    free(chunks->parts);
    *chunks = (mfpg_chunks){0};
}

typedef struct sum_job {
    mfpg_chunk_sum sum;
    const void *arg;
    double *parts;
} sum_job;

static void sum_chunk(void *arg, ptrdiff_t index, ptrdiff_t first, ptrdiff_t count) {
    const sum_job *job = arg;
    job->parts[index] = job->sum(job->arg, first, count);
}

double mfpg_chunks_sum(const mfpg_chunks *chunks, mfpg_chunk_sum sum, const void *arg) {
    sum_job job = {sum, arg, chunks->parts};
    mfpg_compensated total = {0};
    mfpg_chunks_run(chunks->ctx, chunks->clients, sum_chunk, &job);
    if (chunks->count == 1) return chunks->parts[0];
    for (ptrdiff_t i = 0; i < chunks->count; i++) mfpg_compensated_add(&total, chunks->parts[i]);
    return mfpg_compensated_value(&total);
}
