/* The examples by name, and a configuration by its file or the name of an example. */
#include "settings.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/names.h"

static const char suffix[] = ".yaml";

/* The names of all folders' examples, sorted, each once, with the path that has precedence. */
typedef struct catalogue {
    struct entry {
        char *name, *path;
    } * entry;
    ptrdiff_t count;
} catalogue;

static void clear(catalogue *all) {
    for (ptrdiff_t i = 0; i < all->count; i++) {
        free(all->entry[i].name);
        free(all->entry[i].path);
    }
    free(all->entry);
}

static mfpg_status add(
    mfpg_context *ctx, catalogue *all, const char *folder, const char *file, size_t length) {
    ptrdiff_t at = 0;
    for (; at < all->count; at++) {
        int order = strncmp(all->entry[at].name, file, length);
        if (order == 0 && all->entry[at].name[length] == 0) return MFPG_OK; /* an earlier folder has it */
        if (order > 0 || (order == 0 && all->entry[at].name[length] != 0)) break;
    }
    struct entry *larger = mfpg_resize(all->entry, all->count + 1, sizeof *larger);
    if (!larger) return mfpg_fail_memory(ctx);
    all->entry = larger;
    struct entry fresh = {mfpg_text_copy(file, length), mfpg_path_join(folder, file)};
    if (!fresh.name || !fresh.path) {
        free(fresh.name);
        free(fresh.path);
        return mfpg_fail_memory(ctx);
    }
    memmove(&larger[at + 1], &larger[at], (size_t)(all->count - at) * sizeof *larger);
    larger[at] = fresh;
    all->count++;
    return MFPG_OK;
}

static mfpg_status add_folder(mfpg_context *ctx, catalogue *all, const char *folder) {
    DIR *directory = folder && folder[0] ? opendir(folder) : NULL;
    mfpg_status status = MFPG_OK;
    struct dirent *item;
    if (!directory) return MFPG_OK; /* a folder that is not there has no examples */
    while (status == MFPG_OK && (item = readdir(directory))) {
        size_t length = strlen(item->d_name), tail = sizeof suffix - 1;
        if (length <= tail || item->d_name[0] == '.' || strcmp(item->d_name + length - tail, suffix) != 0)
            continue;
        status = add(ctx, all, folder, item->d_name, length - tail);
    }
    closedir(directory);
    return status;
}

static mfpg_status collect(mfpg_context *ctx, catalogue *all) {
    mfpg_status status = add_folder(ctx, all, getenv("MFPG_EXAMPLES"));
    if (status == MFPG_OK) status = add_folder(ctx, all, MFPG_EXAMPLES_INSTALLED);
    if (status == MFPG_OK) status = add_folder(ctx, all, MFPG_EXAMPLES_SOURCE);
    return status;
}

static int is_yaml(const char *name) {
    size_t length = strlen(name), tail = sizeof suffix - 1;
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

/* The configuration of the working folder that is nearest to name, which may lack its ending; 0 if none is near. */
static int nearest_file(const char *name, char out[256]) {
    DIR *directory = strchr(name, '/') ? NULL : opendir(".");
    char typed[256], known[256];
    struct dirent *item;
    int found = 0;
    snprintf(typed, sizeof typed, "%.*s", (int)strcspn(name, "."), name);
    while (directory && !found && (item = readdir(directory))) {
        const char *dot = strrchr(item->d_name, '.'), *one[] = {known};
        if (!dot || (strcmp(dot, ".yaml") != 0 && strcmp(dot, ".yml") != 0)) continue;
        snprintf(known, sizeof known, "%.*s", (int)(dot - item->d_name), item->d_name);
        found = typed[0] && mfpg_names_nearest(typed, one, 1) != NULL;
        if (found) snprintf(out, 256, "%s", item->d_name);
    }
    if (directory) closedir(directory);
    return found;
}

static mfpg_status refuse(mfpg_context *ctx, const catalogue *all, const char *name) {
    char known[512], stem[256], file[256];
    const char **names = mfpg_alloc(all->count, sizeof *names);
    if (!names) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < all->count; i++) names[i] = all->entry[i].name;
    snprintf(stem, sizeof stem, "%.*s", (int)strcspn(name, "."), name);
    const char *nearest = nearest_file(name, file) ? file : mfpg_names_nearest(stem, names, all->count);
    mfpg_names_join(names, all->count, known, sizeof known);
    mfpg_fail(ctx, MFPG_ERR_INPUT, "%.200s: %s%s%s%s%s", name,
        is_yaml(name) ? "No such file or directory" : "neither a file nor an example; examples: ",
        is_yaml(name) ? ""
        : known[0]    ? known
                      : "none found",
        nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    free(names);
    return MFPG_ERR_INPUT;
}

/* The path of an example (free it), or MFPG_ERR_INPUT with the names that exist and the nearest. */
static mfpg_status find_example(mfpg_context *ctx, const char *name, char **path) {
    catalogue all = {0};
    mfpg_status status = collect(ctx, &all);
    ptrdiff_t found = -1;
    for (ptrdiff_t i = 0; i < all.count; i++)
        if (strcmp(all.entry[i].name, name) == 0) found = i;
    if (status == MFPG_OK && found < 0) status = refuse(ctx, &all, name);
    if (status == MFPG_OK) {
        *path = all.entry[found].path;
        all.entry[found].path = NULL;
    }
    clear(&all);
    return status;
}

/* The first comment line of an example, without its mark. */
static void read_help(const char *path, char *out, size_t size) {
    FILE *file = fopen(path, "r");
    out[0] = 0;
    if (!file) return;
    char line[256];
    while (!out[0] && fgets(line, sizeof line, file)) {
        const char *text = line + strspn(line, " ");
        if (text[0] != '#') continue;
        text += strspn(text, "# ");
        snprintf(out, size, "%.*s", (int)strcspn(text, "\r\n"), text);
    }
    fclose(file);
}

mfpg_status mfpg_examples_list(mfpg_context *ctx,
    mfpg_status (*visit)(void *user, const char *name, const char *help, const char *path), void *user) {
    catalogue all = {0};
    mfpg_status status = collect(ctx, &all);
    for (ptrdiff_t i = 0; i < all.count && status == MFPG_OK; i++) {
        char help[256];
        read_help(all.entry[i].path, help, sizeof help);
        status = visit(user, all.entry[i].name, help, all.entry[i].path);
    }
    clear(&all);
    return status;
}

mfpg_status mfpg_config_open(mfpg_context *ctx, const char *name, mfpg_config **out) {
    struct stat info;
    int is_there = stat(name, &info) == 0;
    if (strchr(name, '/') || (is_there && (is_yaml(name) || !S_ISDIR(info.st_mode))))
        return mfpg_config_load(ctx, name, out);
    char *path = NULL;
    mfpg_status status = find_example(ctx, name, &path);
    if (status == MFPG_OK) status = mfpg_config_load(ctx, path, out);
    free(path);
    return status;
}
