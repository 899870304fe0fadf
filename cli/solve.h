/* mfpg solve: what its files share. */
#ifndef MFPG_CLI_SOLVE_H
#define MFPG_CLI_SOLVE_H

#include "mfpg/game_from_options.h"
#include "mfpg/solution.h"

#include "cli.h"

/* What makes a game worthless, to stderr. */
void solve_warn(const mfpg_solution *solution);

/* Calls mfpg_game_pose for the options of a request, after checking that the cost reads all of them. */
mfpg_status solve_pose(cli_call *call, const mfpg_solve_request *asked, mfpg_posed_game *out);

/* Return names and help of studies.def; NULL past the end. */
const char *solve_name_of_study(ptrdiff_t index);
const char *solve_help_of_study(ptrdiff_t index);

/* Run a study, whose options have been checked. */
#define STUDY(name, reader, help) mfpg_status solve_study_##name(cli_call *call);
#include "studies.def"
#undef STUDY

#endif
