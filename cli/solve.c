/* mfpg solve: the equilibrium of a game with its certificate, without training; and studies of such games. */
#include <stdlib.h>
#include <string.h>

#include "mfpg/experiment.h"
#include "mfpg/names.h"

#include "option_table.h"
#include "options.h"
#include "solve.h"

/* ---- studies ---- */

#define STUDY(name, reader, help) {#name, help, MFPG_SOLVE_##reader, solve_study_##name},
static const struct study {
    const char *name, *help;
    mfpg_solve_reader reader;
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

static int refuse_study(mfpg_context *ctx, const char *study) {
    const char *names[STUDIES];
    for (int i = 0; i < STUDIES; i++) names[i] = studies[i].name;
    mfpg_names_unknown(ctx, "study", study, names, STUDIES);
    return cli_refuse("solve", "--study: %s", mfpg_context_message(ctx));
}

/* Does the study read the options that were given, and play the configuration? 0, or the exit code with a message. */
static int check_study(mfpg_context *ctx, const solve_settings *chosen, const struct study *study) {
    const char *given = chosen->configuration        ? chosen->configuration
                        : chosen->argument_count > 0 ? chosen->arguments[0]
                                                     : NULL;
    mfpg_status status = mfpg_solve_check(ctx, &chosen->asked, study->reader);
    if (status != MFPG_OK) return cli_fail(ctx, "solve", status);
    if (!given || study->reader == MFPG_SOLVE_COSTS) return 0;
    return cli_refuse("solve", "%.60s: study %s plays no configuration", given, study->name);
}

static int solve_study(const solve_settings *chosen) {
    mfpg_context *ctx = cli_context(1);
    int i = 0;
    while (i < STUDIES && strcmp(studies[i].name, chosen->asked.study) != 0) i++;
    int code = i < STUDIES ? check_study(ctx, chosen, &studies[i]) : refuse_study(ctx, chosen->asked.study);
    mfpg_context_destroy(ctx);
    return code ? code : studies[i].run(chosen);
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
    mfpg_status status = mfpg_solve_check(ctx, &chosen->asked, MFPG_SOLVE_CONFIGURATION);
    if (status == MFPG_OK) status = mfpg_config_open(ctx, chosen->configuration, &config);
    for (int i = 0; i < chosen->argument_count && status == MFPG_OK; i++)
        status = mfpg_config_set(ctx, config, chosen->arguments[i]);
    if (status == MFPG_OK) status = mfpg_experiment_create(ctx, config, &experiment);
    int code = status == MFPG_OK ? show_experiment(ctx, chosen, experiment) : cli_fail(ctx, "solve", status);
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

/* What is read by nobody is refused before anything else is said of it. */
int solve_pose(mfpg_context *ctx, const solve_settings *chosen, mfpg_posed_game *out) {
    mfpg_status status = mfpg_solve_check(ctx, &chosen->asked, MFPG_SOLVE_GAME);
    if (status == MFPG_OK) status = mfpg_game_pose(ctx, &chosen->asked.game, out);
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
    if (chosen->asked.study) return solve_study(chosen);
    if (!chosen->configuration && chosen->argument_count > 0)
        return cli_refuse(
            "solve", "%.60s: KEY=VALUE changes a configuration, and none was given", chosen->arguments[0]);
    if (!chosen->configuration && !chosen->asked.game.cost) return show_shortest();
    mfpg_context *ctx = cli_context(0);
    int code = chosen->configuration ? solve_configuration(ctx, chosen) : solve_options(ctx, chosen);
    mfpg_context_destroy(ctx);
    return code;
}

/* ---- the command line ---- */

enum { FIRST_KEY = 0x3000 };

typedef struct reading {
    mfpg_context *ctx;
    solve_settings *chosen;
} reading;

static error_t parse(int key, char *text, struct argp_state *state) {
    const reading *input = state->input;
    solve_settings *chosen = input->chosen;
    if (cli_take_option(state, input->ctx, mfpg_solve_options(), key - FIRST_KEY, text, &chosen->asked))
        return 0;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &chosen->common; return 0;
    case ARGP_KEY_ARG:
        cli_take_argument(state, text, &chosen->configuration, chosen->arguments, &chosen->argument_count);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* No line of the examples is longer than a line of the help, which would break it. */
static const struct argp_child children[] = {{.argp = &cli_common_argp}, {0}};
static const struct argp argp_of_solve = {.parser = parse,
    .args_doc = "[CONFIG.yaml|EXAMPLE [KEY=VALUE...]]",
    .doc = "Prints the equilibrium of a privacy game with its certificate: of the game in a configuration, "
           "or of one that options describe."
           "\vExit codes: 0 done, 1 the solver did not converge (the best profile and its exploitability are "
           "printed), 2 wrong input. Examples:\n\n"
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
    .children = children};

static void read_line(int argc, char **argv, solve_settings *chosen) {
    option_rows rows;
    struct argp argp = argp_of_solve;
    reading input = {cli_context(1), chosen};
    option_rows_fill(mfpg_solve_options(), FIRST_KEY, &rows);
    argp.options = rows.row;
    cli_parse(&argp, "solve", argc, argv, &input);
    mfpg_context_destroy(input.ctx);
}

int command_solve(int argc, char **argv) {
    solve_settings chosen = {.arguments = calloc((size_t)argc, sizeof(char *))};
    if (!chosen.arguments) return CLI_FAILED;
    mfpg_options_begin(mfpg_solve_options(), &chosen.asked);
    read_line(argc, argv, &chosen);
    int code = solve(&chosen);
    mfpg_options_clear(mfpg_solve_options(), &chosen.asked);
    free(chosen.arguments);
    return code;
}
