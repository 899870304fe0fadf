/* Turns files or synthetic data into the data of a federation. */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "frame.h"

/* The values of all sets are in blocks, client by client, training rows before test rows, the common test set at the end; the
 * sets point into them. */
typedef struct owned_data {
    mfpg_federated_data data; /* first, so that both have one address */
    float *x, *y;
    double *norm2;         /* NULL for very many rows */
    unsigned char *absent; /* NULL if no row is */
} owned_data;

static mfpg_status build_frame(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_key *key, mfpg_frame *frame) {
    int synthetic = mfpg_data_is_synthetic(options);
    mfpg_status status =
        synthetic ? mfpg_synthetic_fill(ctx, options, key, frame) : mfpg_frame_read(ctx, options, frame);
    if (status == MFPG_OK && synthetic && options->scale == MFPG_SCALE_BOUNDS)
        status = mfpg_bounds_read(ctx, options->bounds_file, NULL, frame);
    if (status == MFPG_OK && options->binary_labels) status = mfpg_label_make_binary(ctx, frame);
    if (status == MFPG_OK && !synthetic) status = mfpg_partition(ctx, options, key, frame);
    if (status == MFPG_OK && options->common_test_rows == 0 && options->test_file_count == 0)
        status = mfpg_split(ctx, options->test_fraction, key, frame);
    return status == MFPG_OK ? mfpg_frame_scale(ctx, options, frame) : status;
}

/* Above this number of rows their norms are not stored; models then compute them, with the same bits. */
enum { MOST_NORMS = 1 << 22 };

/* Brings the rows into their order in place, one cycle of the permutation after the other: a large data set does not fit in
 * memory twice. Overwrites order. */
static mfpg_status sort_rows(mfpg_context *ctx, mfpg_frame *frame, uint32_t *order) {
    size_t bytes = (size_t)frame->features * sizeof *frame->x;
    float *held = mfpg_alloc(frame->features, sizeof *held), label;
    if (!held) return mfpg_fail_memory(ctx);
    for (ptrdiff_t first = 0; first < frame->rows; first++) {
        ptrdiff_t to = first, from = order[first];
        if (from == first) continue;
        memcpy(held, frame->x + first * frame->features, bytes);
        label = frame->y[first];
        unsigned char absent = frame->absent[first];
        for (; from != first; to = from, from = order[to]) {
            memcpy(frame->x + to * frame->features, frame->x + from * frame->features, bytes);
            frame->y[to] = frame->y[from];
            frame->absent[to] = frame->absent[from];
            order[to] = (uint32_t)to;
        }
        memcpy(frame->x + to * frame->features, held, bytes);
        frame->y[to] = label;
        frame->absent[to] = absent;
        order[to] = (uint32_t)to;
    }
    free(held);
    return MFPG_OK;
}

/* Returns the rows of a set, and adds the number of absent ones to *absent. */
static mfpg_dataset set_at(const owned_data *owned, const ptrdiff_t *start, ptrdiff_t set, int64_t *absent) {
    ptrdiff_t first = start[set], rows = start[set + 1] - first, features = owned->data.features;
    int64_t count = 0;
    for (ptrdiff_t i = first; owned->absent && i < first + rows; i++) count += owned->absent[i];
    *absent += count;
    return (mfpg_dataset){.rows = rows,
        .features = features,
        .x = owned->x + first * features,
        .y = owned->y + first,
        .norm2 = owned->norm2 ? owned->norm2 + first : NULL,
        .absent = count > 0 ? owned->absent + first : NULL};
}

/* Moves the frame's rows, in order, and its names to the data. */
static mfpg_status take_rows(mfpg_context *ctx, mfpg_frame *frame, owned_data *owned) {
    ptrdiff_t *start = NULL, features = frame->features, clients = frame->clients;
    int64_t ignored = 0;
    uint32_t *order = NULL;
    mfpg_status status = mfpg_frame_find_places(ctx, frame, &start, &order);
    if (status == MFPG_OK && order) status = sort_rows(ctx, frame, order);
    if (status != MFPG_OK) goto done;
    owned->x = frame->x;
    owned->y = frame->y;
    owned->data.feature_names = frame->feature_names;
    frame->x = frame->y = NULL;
    frame->feature_names = NULL;
    if (memchr(frame->absent, 1, (size_t)frame->rows)) {
        owned->absent = frame->absent;
        frame->absent = NULL;
    }
    for (ptrdiff_t i = 0; owned->norm2 && i < frame->rows; i++) {
        const float *x = owned->x + i * features;
        for (ptrdiff_t j = 0; j < features; j++) owned->norm2[i] += (double)x[j] * (double)x[j];
    }
    for (ptrdiff_t k = 0; k < clients; k++) {
        mfpg_client_data *client = &owned->data.client[k];
        client->name = frame->client_names[k];
        frame->client_names[k] = NULL;
        client->train = set_at(owned, start, 2 * k, &client->dropped_rows);
        client->test = set_at(owned, start, 2 * k + 1, &client->dropped_rows);
    }
    owned->data.common_test = set_at(owned, start, 2 * clients + 1, &ignored);
done:
    free(start);
    free(order);
    return status;
}

/* Names are written to JSON and YAML, which are UTF-8. */
static mfpg_status check_names(mfpg_context *ctx, const mfpg_frame *frame) {
    for (ptrdiff_t k = 0; k < frame->clients; k++)
        if (!mfpg_text_is_utf8(frame->client_names[k]))
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "the name of client %td is not UTF-8; save the file as UTF-8 or rename it", k);
    for (ptrdiff_t j = 0; j < frame->features; j++)
        if (!mfpg_text_is_utf8(frame->feature_names[j]))
            return mfpg_fail(
                ctx, MFPG_ERR_INPUT, "the name of feature %td is not UTF-8; save the file as UTF-8", j);
    return MFPG_OK;
}

/* After scaling, the features of absent rows become zero again, and a missing label becomes 0. A known label
 * is kept: labels of noised records are public and must not reveal which features are missing. Every value
 * should now be finite. This is checked, because a privacy proof must not depend on the absence of bugs in
 * earlier steps. */
static mfpg_status finish_rows(mfpg_context *ctx, mfpg_frame *frame) {
    char place[MFPG_PLACE_SIZE];
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        float *x = frame->x + i * frame->features;
        if (frame->absent[i]) {
            memset(x, 0, (size_t)frame->features * sizeof *x);
            if (isinf(frame->y[i])) frame->y[i] = 0.0F;
        }
        int finite = isfinite(frame->y[i]);
        for (ptrdiff_t j = 0; j < frame->features; j++) finite &= isfinite(x[j]) != 0;
        if (!finite)
            return mfpg_fail(
                ctx, MFPG_ERR_INPUT, "%s: a value is not finite", mfpg_frame_place(frame, i, place));
    }
    return MFPG_OK;
}

/* Checks that every feature is in the range to which public bounds were mapped. */
static double public_norm2(const mfpg_frame *frame) {
    if (!frame->low) return (double)INFINITY;
    if (frame->shifted) return frame->shifted_norm2;
    float low = (float)frame->range[0]; /* rounded as scaling does at both ends */
    float high = (float)(frame->range[0] + (frame->range[1] - frame->range[0]));
    double largest = fmax(fabs((double)low), fabs((double)high));
    return (double)frame->features * largest * largest;
}

static void add_number(crypto_generichash_state *state, ptrdiff_t number) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)((uint64_t)number >> (8 * i));
    crypto_generichash_update(state, bytes, sizeof bytes);
}

/* The rows' count is hashed before the values, so that moving a value from one set to the next changes the
 * digest. */
static void add_set(crypto_generichash_state *state, const mfpg_dataset *set) {
    add_number(state, set->rows);
    if (set->rows == 0) return;
    size_t rows = (size_t)set->rows, features = (size_t)set->features;
    crypto_generichash_update(state, (const unsigned char *)set->x, rows * features * sizeof *set->x);
    crypto_generichash_update(state, (const unsigned char *)set->y, rows * sizeof *set->y);
    if (set->absent) crypto_generichash_update(state, set->absent, rows);
}

static void fingerprint(mfpg_federated_data *data) {
    crypto_generichash_state state;
    unsigned char hash[32];
    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    add_number(&state, data->clients);
    add_number(&state, data->features);
    for (ptrdiff_t k = 0; k < data->clients; k++) {
        add_set(&state, &data->client[k].train);
        add_set(&state, &data->client[k].test);
    }
    add_set(&state, &data->common_test);
    crypto_generichash_final(&state, hash, sizeof hash);
    sodium_bin2hex(data->fingerprint, sizeof data->fingerprint, hash, sizeof hash);
}

/* norm 0: rows were not shortened. */
static mfpg_status gather(mfpg_context *ctx, mfpg_frame *frame, double norm, mfpg_federated_data **out) {
    mfpg_status status = finish_rows(ctx, frame);
    if (status == MFPG_OK) status = check_names(ctx, frame);
    if (status != MFPG_OK) return status;
    owned_data *owned = mfpg_alloc(1, sizeof *owned);
    if (!owned) return mfpg_fail_memory(ctx);
    owned->data.features = frame->features;
    owned->data.client = mfpg_alloc(frame->clients, sizeof *owned->data.client);
    if (owned->data.client) owned->data.clients = frame->clients;
    if (frame->rows <= MOST_NORMS) owned->norm2 = mfpg_alloc(frame->rows, sizeof *owned->norm2);
    if (!owned->data.client || (!owned->norm2 && frame->rows <= MOST_NORMS)) status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = take_rows(ctx, frame, owned);
    if (status != MFPG_OK) {
        mfpg_federated_data_destroy(&owned->data);
        return status;
    }
    owned->data.public_norm2 = public_norm2(frame);
    if (norm > 0) owned->data.public_norm2 = fmin(owned->data.public_norm2, norm * norm);
    owned->data.fitted_on_private = frame->fitted_on_private;
    owned->data.dropped_rows = frame->dropped;
    fingerprint(&owned->data);
    *out = &owned->data;
    return MFPG_OK;
}

mfpg_status mfpg_federated_data_create(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_key *key, mfpg_federated_data **out) {
    mfpg_frame frame = {0};
    mfpg_status status = mfpg_data_options_check(ctx, options);
    if (status == MFPG_OK) status = build_frame(ctx, options, key, &frame);
    if (status == MFPG_OK) status = gather(ctx, &frame, options->norm, out);
    mfpg_frame_clear(&frame);
    return status;
}

void mfpg_federated_data_destroy(mfpg_federated_data *data) {
    if (!data) return;
    owned_data *owned = (owned_data *)data;
    for (ptrdiff_t j = 0; data->feature_names && j < data->features; j++) free(data->feature_names[j]);
    for (ptrdiff_t k = 0; k < data->clients; k++) free(data->client[k].name);
    free(data->client);
    free(data->feature_names);
    free(owned->x);
    free(owned->y);
    free(owned->norm2);
    free(owned->absent);
    free(owned);
}
