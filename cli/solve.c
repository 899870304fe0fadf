/* mfpg solve: the equilibrium of a game with its certificate, without training; and studies of such games. */
#include <math.h>
#include <string.h>

#include "mfpg/experiment.h"
#include "mfpg/names.h"

#include "solve.h"

/* ---- studies ---- */

#define STUDY(name, reader, help) {#name, help, MFPG_SOLVE_##reader, solve_study_##name},
static const struct study {
    const char *name, *help;
    mfpg_solve_reader reader;
    mfpg_status (*run)(cli_call *call);
} studies[] = {
#include "studies.def"
};
#undef STUDY

enum { STUDIES = sizeof studies / sizeof studies[0] };

const char *solve_name_of_study(ptrdiff_t index) {
    return index >= 0 && index < STUDIES ? studies[index].name : NULL;
}

const char *solve_help_of_study(ptrdiff_t index) {
    return index >= 0 && index < STUDIES ? studies[index].help : NULL;
}

static mfpg_status solve_study(cli_call *call, const mfpg_solve_request *asked) {
    const char *names[STUDIES], *given = call->arguments > 0 ? call->argument[0] : call->assignment[0];
    for (int i = 0; i < STUDIES; i++) {
        names[i] = studies[i].name;
        if (strcmp(names[i], asked->study) != 0) continue;
        mfpg_status status = mfpg_solve_check(call->ctx, asked, studies[i].reader);
        if (status == MFPG_OK && given && studies[i].reader != MFPG_SOLVE_COSTS)
            return mfpg_fail(
                call->ctx, MFPG_ERR_INPUT, "%.60s: study %s plays no configuration", given, names[i]);
        return status == MFPG_OK ? studies[i].run(call) : status;
    }
    return mfpg_fail_in(
        call->ctx, mfpg_names_unknown(call->ctx, "study", asked->study, names, STUDIES), "--study");
}

/* ---- the game of a configuration ---- */

static mfpg_status print_experiment(cli_call *call, const mfpg_experiment *experiment) {
    mfpg_solution solution;
    if (!mfpg_experiment_solution(experiment, &solution))
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
            "%s: its method plays no game, so that there is nothing to solve; method mapg-dp, mfpg, or "
            "method.players finite or mean-field with a mechanism do",
            call->argument[0]);
    if (mfpg_config_is(mfpg_experiment_config(experiment), "game.update", "each-round"))
        fputs("game.update is each-round: the run chooses actions again in every round; this is the answer "
              "to the "
              "public constants, before the first\n",
            stderr);
    return solve_print(call, &solution);
}

static mfpg_status solve_configuration(cli_call *call, const mfpg_solve_request *asked) {
    mfpg_config *config = NULL;
    mfpg_experiment *experiment = NULL;
    mfpg_status status = mfpg_solve_check(call->ctx, asked, MFPG_SOLVE_CONFIGURATION);
    if (status == MFPG_OK) status = cli_open_config(call, &config);
    if (status == MFPG_OK) status = mfpg_experiment_create(call->ctx, config, &experiment);
    if (status == MFPG_OK) status = print_experiment(call, experiment);
    mfpg_experiment_destroy(experiment);
    mfpg_config_destroy(config);
    return status;
}

/* ---- a game by options ---- */

/* An option that nothing reads is refused before the game is looked at. */
mfpg_status solve_pose(cli_call *call, const mfpg_solve_request *asked, mfpg_posed_game *out) {
    mfpg_status status = mfpg_solve_check(call->ctx, asked, MFPG_SOLVE_GAME);
    return status == MFPG_OK ? mfpg_game_pose(call->ctx, &asked->game, out) : status;
}

static mfpg_status solve_options(cli_call *call, const mfpg_solve_request *asked) {
    mfpg_posed_game made = {0};
    mfpg_equilibrium equilibrium = {0};
    mfpg_solution solution = {.game = &made.game,
        .equilibrium = &equilibrium,
        .finite_max = (double)NAN,
        .finite_mean = (double)NAN};
    mfpg_status status = solve_pose(call, asked, &made);
    if (status == MFPG_OK) status = mfpg_game_solve(call->ctx, &made.game, &equilibrium);
    if (status == MFPG_OK && made.named_population && made.game.players == MFPG_PLAYERS_MEAN_FIELD)
        status = mfpg_solution_judge_finite(
            call->ctx, &made.game, &equilibrium, &solution.finite_max, &solution.finite_mean);
    if (status == MFPG_OK) status = solve_print(call, &solution);
    mfpg_equilibrium_clear(&equilibrium);
    mfpg_posed_game_clear(&made);
    return status;
}

static mfpg_status solve(cli_call *call) {
    const mfpg_solve_request *asked = call->options;
    if (asked->study) return solve_study(call, asked);
    if (call->arguments > 0) return solve_configuration(call, asked);
    if (call->assignments > 0)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
            "%.60s: KEY=VALUE changes a configuration, and none was given", call->assignment[0]);
    if (asked->game.cost) return solve_options(call, asked);
    return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
        "nothing to solve; give a configuration, as in `mfpg solve clinics`, or a game by "
        "options, as in `mfpg solve --cost entropic --beta 0.5:1.5` (mfpg solve --help)");
}

/* No line of the examples is longer than a line of the help, which would break it. */
const cli_command command_solve = {
    .list_of = mfpg_solve_options,
    .size = sizeof(mfpg_solve_request),
    .threads = CLI_ALL_THREADS,
    .forms = "[CONFIG.yaml|EXAMPLE [KEY=VALUE...]]",
    .most = 1,
    .doc = "Prints the equilibrium of a privacy game with its certificate: of the game in a configuration, "
           "or of one "
           "that options describe."
           "\vExit codes: 0 done, 1 the solver did not converge (the best profile and its exploitability are "
           "printed), "
           "2 wrong input. Examples:\n\n"
           "  mfpg solve --cost gaussian --players mean-field --beta 0.5 \\\n"
           "    --curvature 2 --dimension 10 --learning-rate 0.1 \\\n"
           "    --privacy-power 2 --actions continuous\n"
           "  mfpg solve --cost entropic --players finite --population 20 \\\n"
           "    --beta 0.025:0.075 --dimension 5 --own-cost 0.045 \\\n"
           "    --actions continuous\n"
           "  mfpg solve clinics method=mapg-dp\n\n"
           "Studies:\n\n"
#define STUDY(name, reader, help) "  " #name ": " help "\n"
#include "studies.def"
#undef STUDY
    ,
    .run = solve,
};
