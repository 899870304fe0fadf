/* The image task: where its files are, and the settings that every suite shares. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "bench.h"

static const char debian_folder[] = "/usr/share/datasets/fashion-mnist";
static const char *const names[] = {
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
enum { NAMES = sizeof names / sizeof names[0] };

static int is_there(const char *folder, const char *name, const char *suffix) {
    char file[64];
    snprintf(file, sizeof file, "%s%s", name, suffix);
    char *path = mfpg_path_join(folder, file);
    struct stat info;
    int found = path && stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, R_OK) == 0;
    free(path);
    return found;
}

bench_images bench_images_find(const char *folder) {
    static const char *const suffixes[] = {".gz", ""};
    bench_images images = {.folder = folder ? folder : debian_folder};
    for (int s = 0; s < 2 && !images.suffix; s++) {
        int found = 0;
        for (int i = 0; i < NAMES; i++) found += is_there(images.folder, names[i], suffixes[s]);
        if (found == NAMES) images.suffix = suffixes[s];
    }
    return images;
}

mfpg_status bench_images_fail(mfpg_context *ctx, const bench_images *images) {
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "task images: '%s' does not hold %s, %s, %s and %s, plain or .gz; --images names their folder, "
        "Debian's "
        "package dataset-fashion-mnist brings them",
        images->folder, names[0], names[1], names[2], names[3]);
}

void bench_set_images(bench_cell *cell, const bench_images *images, int clients, int rows) {
    static const char *const keys[NAMES] = {
        "data.files", "data.labels", "data.test_files", "data.test_labels"};
    bench_set_all(cell, "task.model=mlp task.hidden=[128,64] task.classes=10 data.format=idx "
                        "data.partition.kind=iid");
    cell->data_folder = images->folder;
    for (int i = 0; i < NAMES; i++) bench_set(cell, "%s=[%s%s]", keys[i], names[i], images->suffix);
    bench_set(cell, "data.partition.clients=%d", clients);
    bench_set(cell, "data.first_rows=%d", rows);
}
