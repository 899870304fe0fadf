/* Run folders in the place of a configuration. */
#ifndef MFPG_CLI_RUN_FOLDER_H
#define MFPG_CLI_RUN_FOLDER_H

#include "mfpg/config.h"

/* 1 where the name is a folder with the config.yaml of a run in it, or with a sweep's folder seed-N. */
int cli_is_run_folder(const char *name);

/* The configuration of the run in the folder. Returns CLI_DONE, or after a message what the command ends with: a sweep has several. */
int cli_config_of_run(mfpg_context *ctx, const char *command, const char *folder, mfpg_config **out);

/* A run folder may come from anybody: CLI_DONE where writing the file into it follows no symbolic link, else as above. */
int cli_may_write_into_run(const char *command, const char *folder, const char *name);

/* CLI_DONE if files can be written into the folder, or into the nearest folder above it that exists; else as above. Asked before long work,
 * whose result would be lost. */
int cli_may_write_folder(const char *command, const char *folder);

/* Warns of each checkpoint that the folder of a run, or of a sweep, still has: one line with its path. */
void cli_warn_of_checkpoints(const char *folder);

#endif
