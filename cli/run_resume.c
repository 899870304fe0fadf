#include "run_resume.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"

int resume_is_folder(const char *argument) {
    struct stat info;
    return stat(argument, &info) == 0 && S_ISDIR(info.st_mode);
}

int resume_find_folder(const char *name, char *folder, size_t size) {
    char one[4096], file[4200];
    int found = 0;
    for (int number = 1;; number++) {
        if (number == 1)
            snprintf(one, sizeof one, "runs/%s", name);
        else
            snprintf(one, sizeof one, "runs/%s-%d", name, number);
        if (number > 1 && !resume_is_folder(one)) break;
        snprintf(file, sizeof file, "%s/checkpoint", one);
        if (access(file, F_OK) != 0) continue;
        if (found++)
            return cli_refuse("run",
                "--resume: %s and %s were both interrupted; name one: mfpg run --resume FOLDER", folder, one);
        snprintf(folder, size, "%s", one);
    }
    if (found) return 0;
    return cli_refuse("run",
        "--resume: no interrupted run in runs/%s or runs/%s-2, ...; name its folder: mfpg run --resume "
        "FOLDER",
        name, name);
}
