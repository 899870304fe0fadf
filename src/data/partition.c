#include "partition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "clients.h"

enum { MOST_CLASSES = 1000 };

typedef struct labelled_row {
    float label;
    int32_t row;
} labelled_row;

static int compare_rows(const void *left, const void *right) {
    const labelled_row *a = left, *b = right;
    if (a->label != b->label) return a->label < b->label ? -1 : 1;
    return a->row < b->row ? -1 : 1;
}

/* The rows by label and then by place in the frame, or NULL when memory runs out. */
static labelled_row *sort_by_label(const mfpg_frame *frame) {
    labelled_row *sorted = mfpg_alloc(frame->rows, sizeof *sorted);
    if (!sorted) return NULL;
    for (ptrdiff_t i = 0; i < frame->rows; i++) sorted[i] = (labelled_row){frame->y[i], (int32_t)i};
    qsort(sorted, (size_t)frame->rows, sizeof *sorted, compare_rows);
    return sorted;
}

static mfpg_status deal_iid(mfpg_context *ctx, const mfpg_key *key, mfpg_frame *frame) {
    ptrdiff_t *order = mfpg_alloc(frame->rows, sizeof *order);
    if (!order) return mfpg_fail_memory(ctx);
    mfpg_stream stream = mfpg_stream_open(key, MFPG_PURPOSE_PARTITION, 0, 0);
    mfpg_stream_permutation(&stream, frame->rows, order);
    for (ptrdiff_t i = 0; i < frame->rows; i++) frame->client[order[i]] = (int32_t)(i % frame->clients);
    free(order);
    return MFPG_OK;
}

/* The first row of shard number s when n rows are cut into that many runs, equal up to one. */
static ptrdiff_t shard_start(ptrdiff_t s, ptrdiff_t shards, ptrdiff_t n) {
    ptrdiff_t size = n / shards, larger = n % shards;
    return s * size + (s < larger ? s : larger);
}

static mfpg_status deal_shards(mfpg_context *ctx, ptrdiff_t each, const mfpg_key *key, mfpg_frame *frame) {
    if (each > frame->rows / frame->clients)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "data.partition: %td clients with %td shards each need more than the %td rows there are",
            frame->clients, each, frame->rows);
    mfpg_status status = MFPG_OK;
    ptrdiff_t shards = each * frame->clients;
    labelled_row *sorted = sort_by_label(frame);
    ptrdiff_t *order = mfpg_alloc(shards, sizeof *order);
    if (sorted && order) {
        mfpg_stream stream = mfpg_stream_open(key, MFPG_PURPOSE_PARTITION, 0, 0);
        mfpg_stream_permutation(&stream, shards, order);
        for (ptrdiff_t i = 0; i < shards; i++) {
            ptrdiff_t end = shard_start(order[i] + 1, shards, frame->rows);
            for (ptrdiff_t r = shard_start(order[i], shards, frame->rows); r < end; r++)
                frame->client[sorted[r].row] = (int32_t)(i / each);
        }
    } else {
        status = mfpg_fail_memory(ctx);
    }
    free(sorted);
    free(order);
    return status;
}

/* Deals the rows of one class: in random order, cut where the running sum of the shares says. */
static void deal_class(const mfpg_key *key, ptrdiff_t class, const labelled_row *rows, ptrdiff_t count,
    const double *share, ptrdiff_t *order, mfpg_frame *frame) {
    mfpg_stream stream = mfpg_stream_open(key, MFPG_PURPOSE_PARTITION, 0, (uint64_t) class);
    mfpg_stream_permutation(&stream, count, order);
    double sum = 0;
    ptrdiff_t dealt = 0;
    for (ptrdiff_t k = 0; k < frame->clients; k++) {
        sum += share[k];
        ptrdiff_t end = k + 1 == frame->clients ? count : (ptrdiff_t)floor(sum * (double)count + 0.5);
        if (end > count) end = count;
        for (; dealt < end; dealt++) frame->client[rows[order[dealt]].row] = (int32_t)k;
    }
}

static mfpg_status deal_dirichlet(mfpg_context *ctx, double alpha, const mfpg_key *key, mfpg_frame *frame) {
    mfpg_status status = MFPG_OK;
    labelled_row *sorted = sort_by_label(frame);
    ptrdiff_t *order = mfpg_alloc(frame->rows, sizeof *order);
    double *share = mfpg_alloc(frame->clients, sizeof *share);
    if (!sorted || !order || !share) {
        status = mfpg_fail_memory(ctx);
        goto done;
    }
    for (ptrdiff_t first = 0, class = 0, end; first < frame->rows; first = end, class ++) {
        if (class == MOST_CLASSES) {
            status = mfpg_fail(ctx, MFPG_ERR_INPUT,
                "data.partition: dirichlet needs classes, but there are more than %d different labels",
                MOST_CLASSES);
            goto done;
        }
        for (end = first; end < frame->rows && sorted[end].label == sorted[first].label;) end++;
        mfpg_dirichlet_draw(key, 1 + (uint64_t) class, alpha, frame->clients, share);
        deal_class(key, class, sorted + first, end - first, share, order, frame);
    }
done:
    free(sorted);
    free(order);
    free(share);
    return status;
}

static const char *emptiness_reason(mfpg_partition_kind kind) {
    switch (kind) {
    case MFPG_PARTITION_FILES: return "its file has none";
    case MFPG_PARTITION_COLUMN: break;
    case MFPG_PARTITION_IID: return "there are fewer rows than clients";
    case MFPG_PARTITION_DIRICHLET: return "take a larger alpha, fewer clients or another seed";
    case MFPG_PARTITION_SHARDS: break;
    }
    return "no row was dealt to it";
}

static mfpg_status check_clients(mfpg_context *ctx, mfpg_partition_kind kind, const mfpg_frame *frame) {
    char number[24];
    unsigned char *present = mfpg_alloc(frame->clients, 1);
    if (!present) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < frame->rows; i++) present[frame->client[i]] = 1;
    const unsigned char *absent = memchr(present, 0, (size_t)frame->clients);
    ptrdiff_t client = absent ? absent - present : -1;
    free(present);
    if (client < 0) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "data.partition: client \"%s\" has no rows: %s",
        mfpg_frame_client_name(frame, client, number), emptiness_reason(kind));
}

mfpg_status mfpg_partition(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_key *key, mfpg_frame *frame) {
    mfpg_status status = MFPG_OK;
    if (options->partition == MFPG_PARTITION_FILES)
        status = mfpg_clients_name_files(ctx, options, frame);
    else if (options->partition != MFPG_PARTITION_COLUMN)
        frame->clients = options->clients;
    if (status != MFPG_OK) return status;
    switch (options->partition) {
    case MFPG_PARTITION_FILES:
    case MFPG_PARTITION_COLUMN: break;
    case MFPG_PARTITION_IID: status = deal_iid(ctx, key, frame); break;
    case MFPG_PARTITION_DIRICHLET: status = deal_dirichlet(ctx, options->alpha, key, frame); break;
    case MFPG_PARTITION_SHARDS: status = deal_shards(ctx, options->shards_per_client, key, frame); break;
    }
    if (status == MFPG_OK) status = check_clients(ctx, options->partition, frame);
    return status;
}
