/* mfpg audit: what its files share. */
#ifndef MFPG_CLI_AUDIT_H
#define MFPG_CLI_AUDIT_H

#include "mfpg/experiment.h"

#include "cli.h"

typedef struct settings {
    mfpg_audit_options audit;
    int inverts; /* instead of canaries */
    mfpg_inversion_options inversion;
    char *out; /* NULL: nothing is written */
} settings;

/* Rebuilds examples of the experiment from one update, prints and writes how well. */
mfpg_status audit_inversion(cli_call *call, settings *chosen, const mfpg_experiment *experiment);

#endif
