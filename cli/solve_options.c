/* The options of mfpg solve, from their one table, and who reads which. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "solve.h"

enum { /* no option has a letter */
    KEY_BEFORE_FIRST = 0x3000,
#define NUMBER(key, ...) KEY_##key,
#define TEXT(key, ...)   KEY_##key,
#define WORD(key, ...)   KEY_##key,
#define FLAG(key, ...)   KEY_##key,
#include "solve_options.def"
    KEY_BEHIND_LAST
};

/* ---- the table ---- */

typedef enum value_kind { VALUE_NUMBER, VALUE_TEXT, VALUE_WORD, VALUE_FLAG } value_kind;

static const struct solve_option {
    const char *name;
    value_kind kind;
    size_t offset;
    int (*allowed)(double value);
    const char *words, *costs, *others;
} table[] = {
#define NUMBER(key, name, field, argument, group, allowed, words, costs, others, help)                       \
    {name, VALUE_NUMBER, offsetof(solve_settings, field), allowed, words, costs, others},
#define TEXT(key, name, field, argument, group, costs, others, help)                                         \
    {name, VALUE_TEXT, offsetof(solve_settings, field), NULL, NULL, costs, others},
#define WORD(key, name, field, argument, group, costs, others, help)                                         \
    {name, VALUE_WORD, offsetof(solve_settings, field), NULL, NULL, costs, others},
#define FLAG(key, name, field, group, costs, others, help)                                                   \
    {name, VALUE_FLAG, offsetof(solve_settings, field), NULL, NULL, costs, others},
#include "solve_options.def"
};

enum { OPTIONS = sizeof table / sizeof table[0] };

static const struct argp_option options[] = {
#define GROUP(number, heading) {0, 0, 0, 0, heading, number},
#define NUMBER(key, name, field, argument, group, allowed, words, costs, others, help)                       \
    {name, KEY_##key, argument, 0, help, group},
#define TEXT(key, name, field, argument, group, costs, others, help)                                         \
    {name, KEY_##key, argument, 0, help, group},
#define WORD(key, name, field, argument, group, costs, others, help)                                         \
    {name, KEY_##key, argument, 0, help, group},
#define FLAG(key, name, field, group, costs, others, help) {name, KEY_##key, 0, 0, help, group},
#include "solve_options.def"
    {0}};

int solve_is_population(double value) {
    return value >= 1 && value <= 200000000 && value == floor(value);
}

int solve_is_draws(double value) {
    return value >= 2 && solve_is_population(value);
}

int solve_is_power(double value) {
    return value == 1 || value == 2;
}

int solve_is_number(double value) {
    return isfinite(value);
}

int solve_is_count(double value) {
    return value >= 1 && value <= 1e6 && value == floor(value);
}

int solve_is_repeats(double value) {
    return value >= 2 && value <= 100000 && value == floor(value);
}

solve_settings solve_settings_none(void) {
    solve_settings none = {.game = mfpg_game_options_none()};
    for (int i = 0; i < OPTIONS; i++) {
        char *slot = (char *)&none + table[i].offset;
        if (table[i].kind == VALUE_NUMBER) *(double *)slot = (double)NAN;
        if (table[i].kind == VALUE_WORD) *(int *)slot = -1;
    }
    return none;
}

/* ---- parsing ---- */

static void take_value(struct argp_state *state, int key, char *text) {
    const struct solve_option *option = &table[key - KEY_BEFORE_FIRST - 1];
    char *slot = (char *)state->input + option->offset;
    switch (option->kind) {
    case VALUE_NUMBER:
        *(double *)slot = cli_number(state, option->name, text, option->allowed, option->words);
        break;
    case VALUE_TEXT: *(const char **)slot = text; break;
    case VALUE_WORD: *(int *)slot = cli_choice(state, key, text); break;
    case VALUE_FLAG: *(int *)slot = 1; break;
    }
}

static error_t parse(int key, char *text, struct argp_state *state) {
    solve_settings *chosen = state->input;
    if (key > KEY_BEFORE_FIRST && key < KEY_BEHIND_LAST) {
        take_value(state, key, text);
        return 0;
    }
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
static const struct argp argp = {.options = options,
    .parser = parse,
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
#define STUDY(name, help) "  " #name ": " help "\n"
#include "studies.def"
#undef STUDY
    ,
    .children = children};

void solve_parse(int argc, char **argv, solve_settings *chosen) {
    cli_parse(&argp, "solve", argc, argv, chosen);
}

/* ---- who reads which ---- */

static int was_given(const solve_settings *chosen, const struct solve_option *option) {
    const char *slot = (const char *)chosen + option->offset;
    switch (option->kind) {
    case VALUE_NUMBER: return solve_given(*(const double *)slot);
    case VALUE_TEXT: return *(const char *const *)slot != NULL;
    case VALUE_WORD: return *(const int *)slot >= 0;
    default: return *(const int *)slot != 0;
    }
}

/* Is the word one of those between blanks? */
static int has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, word, length) == 0 && (at[length] == ' ' || at[length] == 0)) return 1;
    return 0;
}

static int is_read(const struct solve_option *option, const char *mode, const char *cost) {
    if (mode && !has_word(option->others, mode)) return 0;
    if (!cost) return mode != NULL;
    return has_word(option->costs, cost) || (mode && !option->costs[0]);
}

static int refuse(const struct solve_option *option, const char *mode, const char *cost) {
    if (mode && !has_word(option->others, mode)) cost = NULL; /* it is the study that does not read it */
    const char *readers = !mode || cost ? option->costs : option->others;
    char where[96];
    if (mode && strcmp(mode, "configuration") == 0)
        return cli_refuse("solve",
            "--%s describes a game by options, and a configuration was given; there the game's keys are "
            "changed by KEY=VALUE, as in game.cost=entropic (mfpg run --keys lists them)",
            option->name);
    snprintf(where, sizeof where, "%s%s%s%s", mode ? "study " : "", mode ? mode : "",
        mode && cost ? " with cost "
        : cost       ? "cost "
                     : "",
        cost ? cost : "");
    return cli_refuse("solve", "--%s does nothing with %s%s%s", option->name, where,
        readers[0] ? "; it is read by: " : "", readers);
}

int solve_check_options(const solve_settings *chosen, const char *mode, const char *cost) {
    for (int i = 0; i < OPTIONS; i++)
        if (was_given(chosen, &table[i]) && strcmp(table[i].name, "study") != 0 &&
            !is_read(&table[i], mode, cost))
            return refuse(&table[i], mode, cost);
    return 0;
}

int solve_refuse_configuration(const solve_settings *chosen, const char *study) {
    const char *given = chosen->configuration        ? chosen->configuration
                        : chosen->argument_count > 0 ? chosen->arguments[0]
                                                     : NULL;
    return given ? cli_refuse("solve", "%.60s: study %s plays no configuration", given, study) : 0;
}
