/* mfpg audit --inversion. */
#ifndef MFPG_CLI_AUDIT_INVERSION_H
#define MFPG_CLI_AUDIT_INVERSION_H

#include "mfpg/experiment.h"

#include "options.h"

/* What the command was asked; confidence, seed and the rest of the attack's options come from the command's own. */
typedef struct cli_inversion {
    int asked;
    const char *given; /* an option that means nothing without --inversion; NULL: none */
    mfpg_inversion_options options;
} cli_inversion;

/* The options, a child of the command's; its input is a cli_inversion with default options. */
extern const struct argp cli_inversion_argp;

/* Attacks, prints and writes (out NULL: nothing). Returns the exit code. */
int cli_audit_inversion(
    mfpg_context *ctx, const mfpg_experiment *experiment, cli_inversion *chosen, const char *out, int json);

#endif
