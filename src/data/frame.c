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
