#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "cost.h"

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
    const mfpg_chunks *chunks;
    ptrdiff_t size; /* number of clients of a call: a chunk or a block */
    mfpg_block_work work;
    void *arg;
} chunk_job;

static mfpg_status run_chunk(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    const chunk_job *job = arg;
    ptrdiff_t first = index * MFPG_CHUNK, rest = job->chunks->clients - first;
    ptrdiff_t end = first + (rest < MFPG_CHUNK ? rest : MFPG_CHUNK);
    (void)ctx, (void)worker;
    for (; first < end; first += job->size)
        job->work(job->arg, index, first, end - first < job->size ? end - first : job->size);
    return MFPG_OK;
}

static void run(chunk_job job) {
    if (job.chunks->count == 1) /* small games need no threads */
        run_chunk(job.chunks->ctx, 0, 0, &job);
    else
        mfpg_tasks_run(job.chunks->ctx, job.chunks->count, run_chunk, &job);
}

void mfpg_chunks_run(const mfpg_chunks *chunks, mfpg_block_work work, void *arg) {
    run((chunk_job){chunks, MFPG_CHUNK, work, arg});
}

void mfpg_blocks_run(const mfpg_chunks *chunks, mfpg_block_work work, void *arg) {
    run((chunk_job){chunks, MFPG_BLOCK, work, arg});
}

mfpg_status mfpg_chunks_init(mfpg_context *ctx, ptrdiff_t clients, mfpg_chunks *out) {
    ptrdiff_t count = (clients - 1) / MFPG_CHUNK + 1;
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
    mfpg_chunks_run(chunks, sum_chunk, &job);
    if (chunks->count == 1) return chunks->parts[0];
    for (ptrdiff_t i = 0; i < chunks->count; i++) mfpg_compensated_add(&total, chunks->parts[i]);
    return mfpg_compensated_value(&total);
}
