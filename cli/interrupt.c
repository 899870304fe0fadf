#include "interrupt.h"

#include <signal.h>

/* A signal handler can reach nothing else than a variable of the file. */
static volatile int requested;

static void request(int signal_number) {
    (void)signal_number;
    requested = 1;
}

const volatile int *interrupt_watch(void) {
    struct sigaction action = {.sa_handler = request, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &requested;
}
