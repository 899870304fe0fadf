#include "run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"

enum { PATH_SIZE = 4200 };

static int path_in(const char *folder, const char *name, char path[PATH_SIZE]) {
    int length = snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return length > 0 && length < PATH_SIZE;
}

static int has_config(const char *folder) {
    char path[PATH_SIZE];
    return path_in(folder, "config.yaml", path) && access(path, F_OK) == 0;
}

/* The folder of one of a sweep's runs; 0 where there is none. */
static int find_seed(const char *folder, char found[PATH_SIZE]) {
    DIR *directory = opendir(folder);
    int is_sweep = 0;
    for (struct dirent *item; directory && !is_sweep && (item = readdir(directory));)
        is_sweep = strncmp(item->d_name, "seed-", 5) == 0 && path_in(folder, item->d_name, found) &&
                   has_config(found);
    if (directory) closedir(directory);
    return is_sweep;
}

int cli_is_run_folder(const char *name) {
    char seed[PATH_SIZE];
    struct stat info;
    if (stat(name, &info) != 0 || !S_ISDIR(info.st_mode)) return 0;
    return has_config(name) || find_seed(name, seed);
}

int cli_config_of_run(mfpg_context *ctx, const char *command, const char *folder, mfpg_config **out) {
    char path[PATH_SIZE];
    if (!has_config(folder) && find_seed(folder, path))
        return cli_refuse(
            command, "%s: a sweep, whose runs have a configuration each; name one, such as %s", folder, path);
    if (!path_in(folder, "config.yaml", path)) return cli_refuse(command, "%.100s...: too long", folder);
    mfpg_status status = mfpg_config_load(ctx, path, out);
    return status == MFPG_OK ? CLI_DONE : cli_fail(ctx, command, status);
}

int cli_may_write_into_run(const char *command, const char *folder, const char *name) {
    char path[PATH_SIZE];
    struct stat info;
    if (!path_in(folder, name, path) || lstat(path, &info) != 0 || !S_ISLNK(info.st_mode)) return CLI_DONE;
    return cli_refuse(command,
        "%s: is a symbolic link in a run folder and not followed; name another folder (--out)", path);
}

int cli_may_write_folder(const char *command, const char *folder) {
    char path[PATH_SIZE];
    struct stat info;
    if (snprintf(path, PATH_SIZE, "%s", folder) >= PATH_SIZE)
        return cli_refuse(command, "%.100s...: too long", folder);
    while (path[0] && stat(path, &info) != 0 && errno == ENOENT) {
        char *slash = strrchr(path, '/');
        if (slash == path) slash++; /* of the root */
        path[slash ? slash - path : 0] = '\0';
    }
    const char *found = path[0] ? path : ".";
    if (stat(found, &info) != 0) return cli_refuse(command, "%s: %s", found, strerror(errno));
    if (!S_ISDIR(info.st_mode)) return cli_refuse(command, "%s: is not a folder", found);
    if (access(found, W_OK | X_OK) != 0)
        return cli_refuse(command, "%s: cannot write into it: %s", found, strerror(errno));
    return CLI_DONE;
}

static void warn_of_checkpoint(const char *folder) {
    char path[PATH_SIZE], text[PATH_SIZE + 200];
    if (!path_in(folder, "checkpoint", path) || access(path, F_OK) != 0) return;
    snprintf(text, sizeof text,
        "%s: holds the key of the noise, and whoever reads it can remove the noise; keep the folder to "
        "yourself until mfpg run --resume has ended the run, which erases it",
        path);
    cli_warn(text);
}

void cli_warn_of_checkpoints(const char *folder) {
    char run[PATH_SIZE];
    DIR *directory = opendir(folder);
    warn_of_checkpoint(folder);
    for (struct dirent *item; directory && (item = readdir(directory));) {
        const char *name = item->d_name;
        int is_seed = strncmp(name, "seed-", 5) == 0 && name[5] && !name[5 + strspn(name + 5, "0123456789")];
        if (is_seed && path_in(folder, name, run)) warn_of_checkpoint(run);
    }
    if (directory) closedir(directory);
}
