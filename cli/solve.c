/* mfpg solve: the equilibrium of a game with its certificate, without training; and studies of such games. */
#include <stdlib.h>
#include <string.h>

#include "mfpg/experiment.h"
#include "mfpg/names.h"

#include "options.h"
#include "solve.h"

/* ---- studies ---- */

#define STUDY(name, help) {#name, help, solve_study_##name},
static const struct study {
    const char *name, *help;
    int (*run)(const solve_settings *chosen);
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

static int solve_study(const solve_settings *chosen) {
    const char *names[STUDIES];
    for (int i = 0; i < STUDIES; i++) {
        if (strcmp(studies[i].name, chosen->study) == 0) return studies[i].run(chosen);
        names[i] = studies[i].name;
    }
    mfpg_context *ctx = cli_context(1);
    mfpg_names_unknown(ctx, "study", chosen->study, names, STUDIES);
    int code = cli_refuse("solve", "--study: %s", mfpg_context_message(ctx));
    mfpg_context_destroy(ctx);
    return code;
}

/* ---- the game of a configuration ---- */

static int show_experiment(
    mfpg_context *ctx, const solve_settings *chosen, const mfpg_experiment *experiment) {
    mfpg_solution solution;
    if (mfpg_experiment_solution(experiment, &solution)) {
        if (mfpg_config_is(mfpg_experiment_config(experiment), "game.update", "each-round"))
            fputs("game.update is each-round: the run chooses actions anew in every round; this is the "
                  "answer to "
                  "the public constants, before the first\n",
                stderr);
        return solve_print(ctx, chosen, &solution);
    }
    return cli_refuse("solve",
        "%s: its method plays no game, so that there is nothing to solve; method mapg-dp, mfpg, or "
        "method.players finite or mean-field with a mechanism do",
        chosen->configuration);
}

static int solve_configuration(mfpg_context *ctx, const solve_settings *chosen) {
    mfpg_config *config = NULL;
    mfpg_experiment *experiment = NULL;
    int code = solve_check_options(chosen, "configuration", NULL);
    if (code) return code;
    mfpg_status status = mfpg_config_open(ctx, chosen->configuration, &config);
    for (int i = 0; i < chosen->argument_count && status == MFPG_OK; i++)
        status = mfpg_config_set(ctx, config, chosen->arguments[i]);
    if (status == MFPG_OK) status = mfpg_experiment_create(ctx, config, &experiment);
    code = status == MFPG_OK ? show_experiment(ctx, chosen, experiment) : cli_fail(ctx, "solve", status);
    mfpg_experiment_destroy(experiment);
    mfpg_config_destroy(config);
    return code;
}

/* ---- a game by options ---- */

static int solve_and_show(mfpg_context *ctx, const solve_settings *chosen, const mfpg_posed_game *made) {
    mfpg_equilibrium equilibrium;
    mfpg_status status = mfpg_game_solve(ctx, &made->game, &equilibrium);
    mfpg_solution solution = {.game = &made->game,
        .equilibrium = &equilibrium,
        .finite_max = (double)NAN,
        .finite_mean = (double)NAN};
    if (status == MFPG_OK && made->named_population && made->game.players == MFPG_PLAYERS_MEAN_FIELD)
        status = mfpg_solution_judge_finite(
            ctx, &made->game, &equilibrium, &solution.finite_max, &solution.finite_mean);
    int code = status == MFPG_OK ? solve_print(ctx, chosen, &solution) : cli_fail(ctx, "solve", status);
    mfpg_equilibrium_clear(&equilibrium);
    return code;
}

/* What is read by nobody is refused before anything else is said of it; a cost that there is not has no readers. */
int solve_pose(mfpg_context *ctx, const solve_settings *chosen, mfpg_posed_game *out) {
    ptrdiff_t i = 0;
    while (mfpg_cost_name(i) && chosen->game.cost && strcmp(mfpg_cost_name(i), chosen->game.cost) != 0) i++;
    int code =
        chosen->game.cost && mfpg_cost_name(i) ? solve_check_options(chosen, NULL, chosen->game.cost) : 0;
    if (code) return code;
    mfpg_status status = mfpg_game_pose(ctx, &chosen->game, out);
    return status == MFPG_OK ? 0 : cli_fail(ctx, "solve", status);
}

static int solve_options(mfpg_context *ctx, const solve_settings *chosen) {
    mfpg_posed_game made = {0};
    int code = solve_pose(ctx, chosen, &made);
    if (!code) code = solve_and_show(ctx, chosen, &made);
    mfpg_posed_game_clear(&made);
    return code;
}

static int show_shortest(void) {
    return cli_refuse("solve", "nothing to solve; give a configuration, as in `mfpg solve clinics`, or a "
                               "game by options, as in `mfpg solve --cost entropic --beta 0.5:1.5` "
                               "(mfpg solve --help)");
}

static int solve(const solve_settings *chosen) {
    if (chosen->study) return solve_study(chosen);
    if (!chosen->configuration && chosen->argument_count > 0)
        return cli_refuse(
            "solve", "%.60s: KEY=VALUE changes a configuration, and none was given", chosen->arguments[0]);
    if (!chosen->configuration && !chosen->game.cost) return show_shortest();
    mfpg_context *ctx = cli_context(0);
    int code = chosen->configuration ? solve_configuration(ctx, chosen) : solve_options(ctx, chosen);
    mfpg_context_destroy(ctx);
    return code;
}

int command_solve(int argc, char **argv) {
    solve_settings chosen = solve_settings_none();
    chosen.arguments = calloc((size_t)argc, sizeof(char *));
    if (!chosen.arguments) return CLI_FAILED;
    solve_parse(argc, argv, &chosen);
    int code = solve(&chosen);
    free(chosen.arguments);
    return code;
}
