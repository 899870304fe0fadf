#include "interrupt.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

/* A signal handler can reach nothing else than variables of the file. */
static volatile int requested;
static char last_words[128];
static size_t last_length;

static void request(int signal_number) {
    (void)signal_number;
    requested = 1;
}

/* Nothing but what a handler may call. */
static void end(int signal_number) {
    (void)signal_number;
    ssize_t written = write(STDERR_FILENO, last_words, last_length);
    (void)written;
    _exit(CLI_INTERRUPTED);
}

void interrupt_ends(const char *title) {
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = end};
    struct sigaction before;
    snprintf(last_words, sizeof last_words, "%.64s: interrupted; files written so far are whole\n", title);
    last_length = strlen(last_words);
    for (int i = 0; i < 3; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

const volatile int *interrupt_watch(void) {
    struct sigaction action = {.sa_handler = request, .sa_flags = (int)SA_RESETHAND}, before;
    sigemptyset(&action.sa_mask);
    /* A terminal that is closed stops a run as Ctrl-C does, one behind nohup goes on. */
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    return &requested;
}
