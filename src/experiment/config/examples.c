/* The examples by name, and opening a configuration by its file or by the name of an example. */
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

/* The name and path of an example; both are owned. */
typedef struct example {
    char *name, *path;
} example;

typedef struct catalogue {
    example *entry; /* sorted by name, each name once */
    ptrdiff_t count;
} catalogue;

static void clear(catalogue *all) {
    for (ptrdiff_t i = 0; i < all->count; i++) {
        free(all->entry[i].name);
        free(all->entry[i].path);
    }
    free(all->entry);
}

static int is_yaml(const char *name) {
    size_t length = strlen(name), tail = sizeof suffix - 1;
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const example *)a)->name, ((const example *)b)->name);
}

static mfpg_status add(mfpg_context *ctx, catalogue *all, const char *folder, const char *file) {
    example fresh = {mfpg_text_copy(file, strlen(file) - (sizeof suffix - 1)), mfpg_path_join(folder, file)};
    example *larger = mfpg_resize(all->entry, all->count + 1, sizeof *larger);
    if (larger) all->entry = larger;
    int known = fresh.name && larger && bsearch(&fresh, larger, (size_t)all->count, sizeof *larger, by_name);
    if (fresh.name && fresh.path && larger && !known) {
        larger[all->count++] = fresh;
        qsort(larger, (size_t)all->count, sizeof *larger, by_name);
        return MFPG_OK;
    }
    free(fresh.name);
    free(fresh.path);
    return known ? MFPG_OK : mfpg_fail_memory(ctx); /* an earlier folder has precedence */
}

static mfpg_status collect(mfpg_context *ctx, catalogue *all) {
    const char *const folders[] = {getenv("MFPG_EXAMPLES"), MFPG_EXAMPLES_INSTALLED, MFPG_EXAMPLES_SOURCE};
    mfpg_status status = MFPG_OK;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        DIR *directory = folders[i] && folders[i][0] ? opendir(folders[i]) : NULL;
        struct dirent *item;
        while (directory && status == MFPG_OK && (item = readdir(directory)))
            if (item->d_name[0] != '.' && is_yaml(item->d_name))
                status = add(ctx, all, folders[i], item->d_name);
        if (directory) closedir(directory);
    }
    return status;
}

/* Finds the configuration in the working folder whose name is nearest to `name`, which may lack its ending;
 * returns 0 if none is similar. */
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

/* Reads the first comment line of an example, without the comment mark. */
static void read_help(const char *path, char *out, size_t size) {
    FILE *file = fopen(path, "r");
    char line[256];
    out[0] = 0;
    while (file && !out[0] && fgets(line, sizeof line, file)) {
        const char *text = line + strspn(line, " ");
        if (text[0] != '#') continue;
        text += strspn(text, "# ");
        snprintf(out, size, "%.*s", (int)strcspn(text, "\r\n"), text);
    }
    if (file) fclose(file);
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
    catalogue all = {0};
    mfpg_status status = collect(ctx, &all);
    if (status == MFPG_OK) {
        const example wanted = {.name = (char *)name};
        const example *found =
            all.count > 0 ? bsearch(&wanted, all.entry, (size_t)all.count, sizeof wanted, by_name) : NULL;
        status = found ? mfpg_config_load(ctx, found->path, out) : refuse(ctx, &all, name);
    }
    clear(&all);
    return status;
}
