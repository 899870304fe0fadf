/* Assigns rows to clients, and chooses each client's test rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/streams.h"
#include "frame.h"

enum { MOST_CLASSES = 1000 };

/* ---- names of clients that are files ---- */

static mfpg_slice stem_of(const char *file) {
    const char *slash = strrchr(file, '/');
    mfpg_slice stem = mfpg_slice_of(slash ? slash + 1 : file);
    const char *dot = strrchr(stem.at, '.');
    if (dot && dot > stem.at) stem.length = (size_t)(dot - stem.at);
    return stem;
}

/* A client is named by its file's stem (the name without folders and the last extension), or by the name in the options if
 * two stems are equal. */
static mfpg_status name_files(mfpg_context *ctx, const mfpg_data_options *options, mfpg_frame *frame) {
    ptrdiff_t count = frame->clients = options->file_count;
    mfpg_lookup stems = {0};
    mfpg_status status = MFPG_OK;
    ptrdiff_t *files = mfpg_alloc(count, sizeof *files); /* with each stem */
    frame->client_names = mfpg_alloc(count, sizeof *frame->client_names);
    if (!files || !frame->client_names) status = mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK; i++) {
        ptrdiff_t stem = mfpg_lookup_add(&stems, stem_of(options->files[i]));
        if (stem < 0)
            status = mfpg_fail_memory(ctx);
        else
            files[stem]++;
    }
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK; i++) {
        mfpg_slice name = stem_of(options->files[i]);
        if (files[mfpg_lookup_find(&stems, name)] > 1) name = mfpg_slice_of(options->files[i]);
        frame->client_names[i] = mfpg_text_copy(name.at, name.length);
        if (frame->client_names[i])
            frame->named++;
        else
            status = mfpg_fail_memory(ctx);
    }
    mfpg_lookup_clear(&stems);
    free(files);
    return status;
}

/* ---- rows to clients ---- */

typedef struct labelled_row {
    float label;
    int32_t row;
} labelled_row;

static int compare_rows(const void *left, const void *right) {
    const labelled_row *a = left, *b = right;
    if (a->label != b->label) return a->label < b->label ? -1 : 1;
    return a->row < b->row ? -1 : 1;
}

/* Returns the rows ordered by label and then by place in the frame, or NULL if memory runs out. */
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

/* Returns the first row of shard number s when n rows are cut into runs of equal length up to one. */
static ptrdiff_t shard_start(ptrdiff_t s, ptrdiff_t shards, ptrdiff_t n) {
    ptrdiff_t size = n / shards, larger = n % shards;
    return s * size + (s < larger ? s : larger);
}

static mfpg_status deal_shards(mfpg_context *ctx, ptrdiff_t each, const mfpg_key *key, mfpg_frame *frame) {
    if (each > frame->rows / frame->clients)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "data.partition: %td clients with %td shards each need more than the %td rows there are",
            frame->clients, each, frame->rows);
    mfpg_pool memory = {0};
    ptrdiff_t shards = each * frame->clients;
    labelled_row *sorted = mfpg_pool_own(&memory, sort_by_label(frame));
    ptrdiff_t *order = mfpg_pool_alloc(&memory, shards, sizeof *order);
    mfpg_status status = memory.failed ? mfpg_fail_memory(ctx) : MFPG_OK;
    mfpg_stream stream = mfpg_stream_open(key, MFPG_PURPOSE_PARTITION, 0, 0);
    if (status == MFPG_OK) mfpg_stream_permutation(&stream, shards, order);
    for (ptrdiff_t i = 0; i < shards && status == MFPG_OK; i++) {
        ptrdiff_t end = shard_start(order[i] + 1, shards, frame->rows);
        for (ptrdiff_t r = shard_start(order[i], shards, frame->rows); r < end; r++)
            frame->client[sorted[r].row] = (int32_t)(i / each);
    }
    mfpg_pool_clear(&memory);
    return status;
}

/* The logarithm of a Gamma(alpha) draw: Gamma(alpha+1) by Marsaglia and Tsang (2000), times U^(1/alpha). Logarithms
 * because the draw itself underflows for small alpha. */
static double log_gamma_draw(const mfpg_stream *stream, double alpha) {
    const double two_pi = 6.283185307179586;
    double d = alpha + 1 - 1.0 / 3, c = 1 / sqrt(9 * d), boost;
    mfpg_stream_uniform(stream, 0, 1, &boost);
    for (uint64_t next = 1;; next += 3) {
        double u[3];
        mfpg_stream_uniform(stream, next, 3, u);
        double z = sqrt(-2 * log(u[0])) * cos(two_pi * u[1]);
        double v = 1 + c * z;
        if (!(v > 0)) continue;
        v = v * v * v;
        if (log(u[2]) < 0.5 * z * z + d - d * v + d * log(v)) return log(d * v) + log(boost) / alpha;
    }
}

void mfpg_dirichlet_draw(const mfpg_key *key, uint64_t round, double alpha, ptrdiff_t count, double *share) {
    double largest = -INFINITY, sum = 0;
    /* for smaller alpha, one share is 1 and the others are 0 to the last bit in any case */
    alpha = fmax(alpha, 1e-9);
    for (ptrdiff_t k = 0; k < count; k++) {
        mfpg_stream stream = mfpg_stream_open(key, MFPG_PURPOSE_PARTITION, round, (uint64_t)k);
        share[k] = log_gamma_draw(&stream, alpha);
        largest = fmax(largest, share[k]);
    }
    for (ptrdiff_t k = 0; k < count; k++) sum += share[k] = exp(share[k] - largest);
    for (ptrdiff_t k = 0; k < count; k++) share[k] /= sum;
}

/* Deals the rows of one class: in random order, cut by the running sum of the shares. */
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
    mfpg_pool memory = {0};
    labelled_row *sorted = mfpg_pool_own(&memory, sort_by_label(frame));
    ptrdiff_t *order = mfpg_pool_alloc(&memory, frame->rows, sizeof *order);
    double *share = mfpg_pool_alloc(&memory, frame->clients, sizeof *share);
    mfpg_status status = memory.failed ? mfpg_fail_memory(ctx) : MFPG_OK;
    for (ptrdiff_t first = 0, class = 0, end; first < frame->rows && status == MFPG_OK;
         first = end, class ++) {
        if (class == MOST_CLASSES) {
            status = mfpg_fail(ctx, MFPG_ERR_INPUT,
                "data.partition: dirichlet needs classes, but there are more than %d different labels",
                MOST_CLASSES);
            break;
        }
        for (end = first; end < frame->rows && sorted[end].label == sorted[first].label;) end++;
        mfpg_dirichlet_draw(key, 1 + (uint64_t) class, alpha, frame->clients, share);
        deal_class(key, class, sorted + first, end - first, share, order, frame);
    }
    mfpg_pool_clear(&memory);
    return status;
}

static mfpg_status check_clients(mfpg_context *ctx, mfpg_partition_kind kind, const mfpg_frame *frame) {
    static const char *const reasons[] = {[MFPG_PARTITION_FILES] = "its file has none",
        [MFPG_PARTITION_COLUMN] = "no row was dealt to it",
        [MFPG_PARTITION_IID] = "there are fewer rows than clients",
        [MFPG_PARTITION_DIRICHLET] = "take a larger alpha, fewer clients or another seed",
        [MFPG_PARTITION_SHARDS] = "no row was dealt to it"};
    unsigned char *present = mfpg_alloc(frame->clients, 1);
    if (!present) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < frame->rows; i++) present[frame->client[i]] = 1;
    const unsigned char *absent = memchr(present, 0, (size_t)frame->clients);
    ptrdiff_t client = absent ? absent - present : -1;
    free(present);
    if (client < 0) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "data.partition: client \"%s\" has no rows: %s",
        frame->client_names[client], reasons[kind]);
}

/* The rows of the common test set are excluded, and belong to no client. */
mfpg_status mfpg_partition(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_key *key, mfpg_frame *frame) {
    mfpg_status status = MFPG_OK;
    frame->rows -= frame->common;
    if (options->partition > MFPG_PARTITION_COLUMN) {
        frame->clients = options->clients;
        status = mfpg_frame_number_clients(ctx, frame);
    }
    if (status != MFPG_OK) return status;
    switch (options->partition) {
    case MFPG_PARTITION_FILES: status = name_files(ctx, options, frame); break;
    case MFPG_PARTITION_COLUMN: break;
    case MFPG_PARTITION_IID: status = deal_iid(ctx, key, frame); break;
    case MFPG_PARTITION_DIRICHLET: status = deal_dirichlet(ctx, options->alpha, key, frame); break;
    case MFPG_PARTITION_SHARDS: status = deal_shards(ctx, options->shards_per_client, key, frame); break;
    }
    if (status == MFPG_OK) status = check_clients(ctx, options->partition, frame);
    for (ptrdiff_t i = frame->rows; i < frame->rows + frame->common; i++) {
        frame->client[i] = (int32_t)frame->clients;
        frame->test[i] = 1;
    }
    frame->rows += frame->common;
    return status;
}

/* ---- training and test rows ---- */

mfpg_status mfpg_split(mfpg_context *ctx, double fraction, const mfpg_key *key, mfpg_frame *frame) {
    ptrdiff_t *start = NULL;
    uint32_t *row = NULL;
    ptrdiff_t *order = mfpg_alloc(frame->rows, sizeof *order);
    mfpg_status status = order ? mfpg_frame_find_places(ctx, frame, &start, &row) : mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; k < frame->clients && status == MFPG_OK; k++) {
        ptrdiff_t first = start[2 * k],
                  rows = start[2 * k + 1] - first; /* all of them are training rows yet */
        /* Less than rows: also in floating point, fraction < 1 times a whole number is less than the number. */
        ptrdiff_t tests = (ptrdiff_t)floor(fraction * (double)rows);
        if (tests == 0) continue;
        mfpg_stream stream = mfpg_stream_open(key, MFPG_PURPOSE_SPLIT, 0, (uint64_t)k);
        mfpg_stream_permutation(&stream, rows, order);
        for (ptrdiff_t i = 0; i < tests; i++)
            frame->test[row ? row[first + order[i]] : (size_t)(first + order[i])] = 1;
    }
    free(start);
    free(row);
    free(order);
    return status;
}
