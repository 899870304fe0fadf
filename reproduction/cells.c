/* Cells: the list of them, their settings, the files of the image task, and means over the cells of one group. */
#include "bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

const char *const bench_methods[METHODS] = {"dp-sgd", "mfep", "mapg-dp", "mfpg"};

int bench_is_entropic(const char *method) {
    return strcmp(method, "mfep") == 0 || strcmp(method, "mfpg") == 0;
}

bench_cell *bench_add(
    bench_list *list, const char *suite, const char *task, const char *method, int64_t seed) {
    if (list->count == list->room) {
        ptrdiff_t room = list->room ? 2 * list->room : 64;
        bench_cell *larger = reproduction_alloc(room, sizeof *larger);
        if (!larger) return NULL;
        if (list->count > 0) memcpy(larger, list->cell, (size_t)list->count * sizeof *larger);
        free(list->cell);
        list->cell = larger;
        list->room = room;
    }
    bench_cell *cell = &list->cell[list->count++];
    *cell = (bench_cell){
        .suite = suite, .task = task, .method = method, .seed = seed, .target_epsilon = (double)NAN};
    bench_set(cell, "method=%s", method);
    bench_set(cell, "seed=%lld", (long long)seed);
    return cell;
}

void bench_set(bench_cell *cell, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (cell->setting_count < BENCH_SETTINGS)
        vsnprintf(cell->settings[cell->setting_count++], sizeof cell->settings[0], format, args);
    va_end(args);
}

void bench_set_all(bench_cell *cell, const char *settings) {
    while (*settings) {
        size_t length = strcspn(settings, " ");
        if (length > 0) bench_set(cell, "%.*s", (int)length, settings);
        settings += length + (settings[length] == ' ');
    }
}

/* ---- the image task ---- */

static const char debian_folder[] = "/usr/share/datasets/fashion-mnist";
static const char *const names[] = {
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
enum { NAMES = sizeof names / sizeof names[0] };

static int is_there(const char *folder, const char *name, const char *suffix) {
    char path[4200];
    int length = snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
    struct stat info;
    return length < (int)sizeof path && stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
           access(path, R_OK) == 0;
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
        "Debian's package dataset-fashion-mnist brings them",
        images->folder, names[0], names[1], names[2], names[3]);
}

void bench_set_images(bench_cell *cell, const bench_images *images, int clients, int rows) {
    static const char *const keys[NAMES] = {
        "data.files", "data.labels", "data.test_files", "data.test_labels"};
    bench_set_all(
        cell, "task.model=mlp task.hidden=[128,64] task.classes=10 data.format=idx data.partition.kind=iid");
    cell->data_folder = images->folder;
    for (int i = 0; i < NAMES; i++) bench_set(cell, "%s=[%s%s]", keys[i], names[i], images->suffix);
    bench_set(cell, "data.partition.clients=%d", clients);
    bench_set(cell, "data.first_rows=%d", rows);
}

/* ---- means ---- */

/* round < 0: the cell itself. */
static double number_at(const bench_cell *cell, ptrdiff_t round, size_t offset) {
    const void *record = round < 0 ? (const void *)cell : &cell->report[round];
    return *(const double *)((const char *)record + offset);
}

bench_mean bench_average_round(const bench_cell *first, ptrdiff_t count, ptrdiff_t round, size_t offset) {
    double sum = 0.0, squares = 0.0;
    for (ptrdiff_t i = 0; i < count; i++) sum += number_at(&first[i], round, offset);
    double mean = sum / (double)count;
    for (ptrdiff_t i = 0; i < count; i++) {
        double off = number_at(&first[i], round, offset) - mean;
        squares += off * off;
    }
    double error = count > 1 ? sqrt(squares / (double)(count - 1) / (double)count) : (double)NAN;
    return (bench_mean){.mean = mean, .error = error, .count = count};
}

bench_mean bench_average(const bench_cell *first, ptrdiff_t count, size_t offset) {
    return bench_average_round(first, count, -1, offset);
}
