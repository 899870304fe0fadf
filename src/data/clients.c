#include "clients.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "lookup.h"

static mfpg_slice stem_of(const char *file) {
    const char *slash = strrchr(file, '/');
    mfpg_slice stem = mfpg_slice_of(slash ? slash + 1 : file);
    const char *dot = strrchr(stem.at, '.');
    if (dot && dot > stem.at) stem.length = (size_t)(dot - stem.at);
    return stem;
}

/* How many files have each stem; numbers of stems are those of the lookup. */
static mfpg_status count_stems(
    mfpg_context *ctx, const mfpg_data_options *options, mfpg_lookup *stems, ptrdiff_t *files) {
    mfpg_lookup names = {0};
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < options->file_count && status == MFPG_OK; i++) {
        ptrdiff_t name = mfpg_lookup_add(&names, mfpg_slice_of(options->files[i]));
        ptrdiff_t stem = mfpg_lookup_add(stems, stem_of(options->files[i]));
        if (name < 0 || stem < 0)
            status = mfpg_fail_memory(ctx);
        else if (name != i)
            status = mfpg_fail(ctx, MFPG_ERR_INPUT, "data.files: \"%s\" is given twice", options->files[i]);
        else
            files[stem]++;
    }
    mfpg_lookup_clear(&names);
    return status;
}

mfpg_status mfpg_clients_name_files(mfpg_context *ctx, const mfpg_data_options *options, mfpg_frame *frame) {
    ptrdiff_t count = options->file_count;
    mfpg_lookup stems = {0};
    mfpg_status status = MFPG_OK;
    ptrdiff_t *files = mfpg_alloc(count, sizeof *files);
    frame->client_names = mfpg_alloc(count, sizeof *frame->client_names);
    if (!files || !frame->client_names) status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = count_stems(ctx, options, &stems, files);
    frame->clients = count;
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
