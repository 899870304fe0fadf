/* Run folders given in place of a configuration, and files written into folders. */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static int path_in(const char *folder, const char *name, char path[CLI_PATH_SIZE]) {
    int length = snprintf(path, CLI_PATH_SIZE, "%s/%s", folder, name);
    return length > 0 && length < CLI_PATH_SIZE;
}

static int has_config(const char *folder) {
    char path[CLI_PATH_SIZE];
    return path_in(folder, "config.yaml", path) && access(path, F_OK) == 0;
}

/* Finds the folder of one run of a sweep; returns 0 if there is none. */
static int find_seed(const char *folder, char found[CLI_PATH_SIZE]) {
    DIR *directory = opendir(folder);
    int is_sweep = 0;
    for (struct dirent *item; directory && !is_sweep && (item = readdir(directory));)
        is_sweep = strncmp(item->d_name, "seed-", 5) == 0 && path_in(folder, item->d_name, found) &&
                   has_config(found);
    if (directory) closedir(directory);
    return is_sweep;
}

int cli_is_folder(const char *name) {
    struct stat info;
    return stat(name, &info) == 0 && S_ISDIR(info.st_mode);
}

int cli_is_run_folder(const char *name) {
    char seed[CLI_PATH_SIZE];
    return cli_is_folder(name) && (has_config(name) || find_seed(name, seed));
}

mfpg_status cli_config_of_run(cli_call *call, const char *folder, mfpg_config **out) {
    char path[CLI_PATH_SIZE];
    if (!has_config(folder) && find_seed(folder, path))
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
            "%s: a sweep, whose runs have a configuration each; name one, such as %s", folder, path);
    if (!path_in(folder, "config.yaml", path))
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT, "%.100s...: too long", folder);
    return mfpg_config_load(call->ctx, path, out);
}

mfpg_status cli_may_write_into_run(cli_call *call, const char *folder, const char *name) {
    char path[CLI_PATH_SIZE];
    struct stat info;
    if (!path_in(folder, name, path) || lstat(path, &info) != 0 || !S_ISLNK(info.st_mode)) return MFPG_OK;
    return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
        "%s: is a symbolic link in a run folder and not followed; name another folder (--out)", path);
}

mfpg_status cli_may_write_folder(cli_call *call, const char *folder) {
    char path[CLI_PATH_SIZE];
    struct stat info;
    if (snprintf(path, CLI_PATH_SIZE, "%s", folder) >= CLI_PATH_SIZE)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT, "%.100s...: too long", folder);
    while (path[0] && stat(path, &info) != 0 && errno == ENOENT) {
        char *slash = strrchr(path, '/');
        if (slash == path) slash++; /* of the root */
        path[slash ? slash - path : 0] = '\0';
    }
    const char *found = path[0] ? path : ".";
    if (stat(found, &info) != 0)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT, "%s: %s", found, strerror(errno));
    if (!S_ISDIR(info.st_mode)) return mfpg_fail(call->ctx, MFPG_ERR_INPUT, "%s: is not a folder", found);
    if (access(found, W_OK | X_OK) != 0)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT, "%s: cannot write into it: %s", found, strerror(errno));
    return MFPG_OK;
}

static void warn_of_checkpoint(const char *folder) {
    char path[CLI_PATH_SIZE], text[CLI_PATH_SIZE + 200];
    if (!path_in(folder, "checkpoint", path) || access(path, F_OK) != 0) return;
    snprintf(text, sizeof text,
        "%s: holds the key of the noise, and anyone who reads it can remove the noise; keep the folder to "
        "yourself until mfpg run --resume has ended the run, which erases it",
        path);
    cli_warn(text);
}

void cli_warn_of_checkpoints(const char *folder) {
    char run[CLI_PATH_SIZE];
    DIR *directory = opendir(folder);
    warn_of_checkpoint(folder);
    for (struct dirent *item; directory && (item = readdir(directory));) {
        const char *name = item->d_name;
        int is_seed = strncmp(name, "seed-", 5) == 0 && name[5] && !name[5 + strspn(name + 5, "0123456789")];
        if (is_seed && path_in(folder, name, run)) warn_of_checkpoint(run);
    }
    if (directory) closedir(directory);
}
