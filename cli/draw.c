/* Draws figures with gnuplot, if it is installed. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

extern char **environ;

/* Runs gnuplot in the folder, with its output on stderr. Returns 0, or the error of posix_spawnp. */
static int start(const char *folder, const char *script, pid_t *child) {
    char *arguments[] = {"gnuplot", "-d", (char *)script, NULL};
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return code;
    code = posix_spawn_file_actions_addchdir_np(&actions, folder);
    if (code == 0) code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (code == 0) code = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    if (code == 0) code = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

static int draw(const cli_call *call, const char *folder, const char *script) {
    pid_t child;
    int status = 0, code = start(folder, script, &child);
    if (code != 0) {
        fprintf(stderr,
            code == ENOENT
                ? "mfpg %s: no figures were drawn: gnuplot is not installed (Debian: gnuplot-nox); their "
                  "data and scripts are in %s\n"
                : "mfpg %s: gnuplot cannot be started; data and scripts of the figures are in %s\n",
            call->name, folder);
        return 0;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 1;
    fprintf(stderr, "mfpg %s: gnuplot could not draw %s/%s\n", call->name, folder, script);
    return 0;
}

int cli_draw(const cli_call *call, const char *folder, const char *const *names) {
    for (; *names; names++)
        if (!draw(call, folder, *names)) return 0;
    return 1;
}
