#include "frame.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

mfpg_status mfpg_frame_allocate(mfpg_context *ctx, mfpg_frame *frame, ptrdiff_t rows, ptrdiff_t features) {
    if (features > PTRDIFF_MAX / (ptrdiff_t)sizeof(float)) return mfpg_fail_memory(ctx);
    frame->features = features;
    frame->x = mfpg_alloc(rows, (size_t)features * sizeof(float));
    frame->y = mfpg_alloc(rows, sizeof *frame->y);
    frame->client = mfpg_alloc(rows, sizeof *frame->client);
    frame->test = mfpg_alloc(rows, sizeof *frame->test);
    frame->absent = mfpg_alloc(rows, sizeof *frame->absent);
    frame->feature_names = mfpg_alloc(features, sizeof *frame->feature_names);
    if (!frame->x || !frame->y || !frame->client || !frame->test || !frame->absent || !frame->feature_names)
        return mfpg_fail_memory(ctx);
    return MFPG_OK;
}

mfpg_status mfpg_frame_allocate_bounds(mfpg_context *ctx, mfpg_frame *frame) {
    frame->low = mfpg_alloc(frame->features, sizeof *frame->low);
    frame->high = mfpg_alloc(frame->features, sizeof *frame->high);
    return frame->low && frame->high ? MFPG_OK : mfpg_fail_memory(ctx);
}

static void free_texts(char **texts, ptrdiff_t count) {
    for (ptrdiff_t i = 0; texts && i < count; i++) free(texts[i]);
    free(texts);
}

void mfpg_frame_clear(mfpg_frame *frame) {
    free(frame->x);
    free(frame->y);
    free(frame->client);
    free(frame->test);
    free(frame->absent);
    free(frame->place);
    free_texts(frame->paths, frame->files);
    free_texts(frame->feature_names, frame->features);
    free_texts(frame->client_names, frame->named);
    free(frame->low);
    free(frame->high);
    *frame = (mfpg_frame){0};
}

mfpg_status mfpg_frame_number_clients(mfpg_context *ctx, mfpg_frame *frame) {
    char number[24];
    frame->client_names = mfpg_alloc(frame->clients, sizeof *frame->client_names);
    if (!frame->client_names) return mfpg_fail_memory(ctx);
    for (; frame->named < frame->clients; frame->named++) {
        int length = snprintf(number, sizeof number, "%td", frame->named);
        frame->client_names[frame->named] = mfpg_text_copy(number, (size_t)length);
        if (!frame->client_names[frame->named]) return mfpg_fail_memory(ctx);
    }
    return MFPG_OK;
}

const char *mfpg_frame_place(const mfpg_frame *frame, ptrdiff_t row, char buffer[MFPG_PLACE_SIZE]) {
    if (frame->place) {
        const mfpg_place *place = &frame->place[row];
        snprintf(buffer, MFPG_PLACE_SIZE, "%s:%u", frame->paths[place->file], place->line);
        return buffer;
    }
    ptrdiff_t within = 0;
    for (ptrdiff_t i = 0; i < row; i++) within += frame->client[i] == frame->client[row];
    snprintf(buffer, MFPG_PLACE_SIZE, "row %td of client %d", within, frame->client[row]);
    return buffer;
}

static ptrdiff_t set_of(const mfpg_frame *frame, ptrdiff_t row) {
    return 2 * (ptrdiff_t)frame->client[row] + frame->test[row];
}

mfpg_status mfpg_frame_find_places(
    mfpg_context *ctx, const mfpg_frame *frame, ptrdiff_t **start, uint32_t **order) {
    ptrdiff_t sets = 2 * (frame->clients + 1);
    ptrdiff_t *at = *start = mfpg_alloc(sets + 1, sizeof *at);
    if (!at) return mfpg_fail_memory(ctx);
    int in_place = 1;
    for (ptrdiff_t i = 0, before = 0; i < frame->rows; i++) {
        ptrdiff_t set = set_of(frame, i);
        in_place = in_place && set >= before;
        before = set;
        at[set + 1]++;
    }
    for (ptrdiff_t s = 0; s < sets; s++) at[s + 1] += at[s];
    if (in_place) return MFPG_OK;
    if (!(*order = mfpg_alloc(frame->rows, sizeof **order))) return mfpg_fail_memory(ctx);
    /* Every start moves to its end and, in the next loop, back again. */
    for (ptrdiff_t i = 0; i < frame->rows; i++) (*order)[at[set_of(frame, i)]++] = (uint32_t)i;
    for (ptrdiff_t s = sets; s > 0; s--) at[s] = at[s - 1];
    at[0] = 0;
    return MFPG_OK;
}
