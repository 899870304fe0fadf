/* Runs a fuzz target over the files of a folder, in the order of their names, without libFuzzer. */
#include "fuzz.h"

#include <dirent.h>

static int visible(const struct dirent *item) {
    return item->d_name[0] != '.';
}

static uint8_t *read_whole(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) return NULL;
    long length = ftell(file);
    uint8_t *bytes = length >= 0 ? malloc((size_t)length + 1) : NULL;
    rewind(file);
    if (bytes && fread(bytes, 1, (size_t)length, file) != (size_t)length) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    *size = (size_t)length;
    return bytes;
}

int main(int argc, char **argv) {
    struct dirent **item = NULL;
    int count = argc == 2 ? scandir(argv[1], &item, visible, alphasort) : -1, failed = count <= 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        size_t size = 0;
        snprintf(path, sizeof path, "%s/%s", argv[1], item[i]->d_name);
        uint8_t *bytes = read_whole(path, &size);
        fprintf(stderr, "%s\n", item[i]->d_name); /* the last one printed is the one that broke */
        if (bytes)
            LLVMFuzzerTestOneInput(bytes, size);
        else
            failed = 1;
        free(bytes);
        free(item[i]);
    }
    free(item);
    fprintf(stderr, "%d files%s\n", count, failed ? ": failed" : "");
    return failed;
}
