/* The options of mfpg account and mfpg calibrate, each defined once, and which of them go together. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "options.h"

/* ---- numbers ---- */

static int is_number_at_least_one(double value) {
    return value >= 1;
}

#define FROM_ZERO  cli_is_not_negative, "a finite number from 0"
#define ABOVE_ZERO cli_is_positive, "a number above 0"
#define FROM_ONE   is_number_at_least_one, "a number from 1"
#define NUMBER(key, name, field, ...)                                                                        \
    [key - KEY_NOISE_MULTIPLIER] = {name, offsetof(account_settings, field), __VA_ARGS__}

static const struct number {
    const char *name;
    size_t offset;
    int (*allowed)(double value);
    const char *words;
} numbers[] = {
    NUMBER(KEY_NOISE_MULTIPLIER, "noise-multiplier", noise_multiplier, FROM_ZERO),
    NUMBER(KEY_SAMPLING_RATE, "sampling-rate", sampling_rate, cli_is_rate, "a number from 0 up to 1"),
    NUMBER(KEY_STEPS, "steps", steps, cli_is_steps, "a whole number from 0"),
    NUMBER(KEY_MU, "mu", mu, FROM_ZERO),
    NUMBER(KEY_STRENGTH, "strength", strength, FROM_ZERO),
    NUMBER(KEY_STEP, "step", step, ABOVE_ZERO),
    NUMBER(KEY_CLIP, "clip", clip, ABOVE_ZERO),
    NUMBER(KEY_SENSITIVITY, "sensitivity", sensitivity, FROM_ZERO),
    NUMBER(KEY_DELTA, "delta", delta, cli_is_delta, "a number from 0 below 1"),
    NUMBER(KEY_EPSILON, "epsilon", epsilon, FROM_ZERO),
    NUMBER(KEY_WIDTH, "width", width, ABOVE_ZERO),
    NUMBER(KEY_DIMENSION, "dimension", dimension, FROM_ONE),
    NUMBER(KEY_POPULATION, "population", population, FROM_ONE),
    NUMBER(KEY_PRIOR_VARIANCE, "prior-variance", prior_variance, ABOVE_ZERO),
    NUMBER(KEY_VARIANCE_PENALTY, "variance-penalty", variance_penalty, FROM_ZERO),
    NUMBER(KEY_GRADIENT_NORM, "gradient-norm", gradient_norm, FROM_ZERO),
    NUMBER(KEY_INPUT_SMOOTHNESS, "input-smoothness", input_smoothness, FROM_ZERO),
    NUMBER(KEY_SMOOTHNESS, "smoothness", smoothness, FROM_ZERO),
    NUMBER(KEY_STRONG_CONVEXITY, "strong-convexity", strong_convexity, FROM_ZERO),
    NUMBER(KEY_PROJECTION_RADIUS, "projection-radius", projection_radius, ABOVE_ZERO),
};

enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

account_settings account_settings_none(const char *command) {
    account_settings none = {
        .command = command, .mechanism = -1, .adjacency = -1, .unit = -1, .particles = -1, .solve = -1};
    for (int i = 0; i < NUMBERS; i++) *(double *)((char *)&none + numbers[i].offset) = (double)NAN;
    return none;
}

/* ---- options of both commands ---- */

static const struct argp_option schedule_options[] = {{0, 0, 0, 0, "What is released", 1},
    {"mechanism", KEY_MECHANISM, "gaussian|entropic", 0,
        "what adds the noise (default: by the options that are given)", 0},
    {"noise-multiplier", KEY_NOISE_MULTIPLIER, "Z", 0,
        "gaussian: noise sd over the clip; with --sensitivity the sd itself", 0},
    {"strength", KEY_STRENGTH, "E", 0, "entropic: strength of the noise", 0},
    {"step", KEY_STEP, "TAU", 0, "entropic: step of the flow (default 0.1)", 0},
    {"blocks", KEY_BLOCKS, "Q:Z:T,...", 0,
        "gaussian: blocks of T steps with sampling rate Q and noise multiplier Z (mfpg calibrate: the number "
        "written ? is solved for)",
        0},
    {"steps", KEY_STEPS, "T", 0, "number of steps (default 1)", 0},
    {"sampling-rate", KEY_SAMPLING_RATE, "Q", 0,
        "probability that an example takes part in a step, by a coin of its own (default 1)", 0},
    {0, 0, 0, 0, "What one release depends on", 2},
    {"clip", KEY_CLIP, "C", 0,
        "norm bound (default 1; of a record's features for data): sensitivity C, or 2C for replace", 0},
    {"adjacency", KEY_ADJACENCY, "add|remove|zero-out|replace", 0,
        "what neighbours differ in (default zero-out)", 0},
    {"sensitivity", KEY_SENSITIVITY, "S", 0, "the sensitivity itself, instead of --clip and --adjacency", 0},
    {"unit", KEY_UNIT, "client|example", 0,
        "what the clip bounds and the sampling rate draws (default client; example with "
        "sampling or data)",
        0},
    {0, 0, 0, 0, "What is asked", 3},
    {"accountant", KEY_ACCOUNTANT, "ACCOUNTANT", 0,
        "one of mfpg list accountants (default: gdp without sampling, exact with it, data-particles for "
        "noised "
        "records); gdp does not credit sampling, paper_rdp and paper_lsi certify nothing",
        0},
    {"order", KEY_ORDER, "A,B,...", 0,
        "rdp: use these Renyi orders, from 1, and nothing else; a single one is printed as \"rdp\"", 0},
    {"width", KEY_WIDTH, "W", 0, "exact: the widest gap wanted between lower and upper end (default 1e-6)",
        0},
    {0}};

/* Any option of the keys above; the parents take what is no option. */
static error_t parse_option(int key, char *text, struct argp_state *state) {
    account_settings *chosen = state->input;
    if (key >= KEY_NOISE_MULTIPLIER && key < KEY_NOISE_MULTIPLIER + NUMBERS) {
        const struct number *number = &numbers[key - KEY_NOISE_MULTIPLIER];
        double *slot = (double *)((char *)chosen + number->offset);
        *slot = cli_number(state, number->name, text, number->allowed, number->words);
        return 0;
    }
    switch (key) {
    case KEY_MECHANISM: chosen->mechanism = cli_choice(state, key, text); return 0;
    case KEY_ADJACENCY: chosen->adjacency = cli_choice(state, key, text); return 0;
    case KEY_UNIT: chosen->unit = cli_choice(state, key, text); return 0;
    case KEY_ACCOUNTANT: chosen->accountant = text; return 0;
    case KEY_ORDER: account_read_orders(state, text, chosen); return 0;
    case KEY_BLOCKS: chosen->blocks = text; return 0;
    case KEY_LEDGER: chosen->ledger = text; return 0;
    case KEY_PARTICLES: chosen->particles = cli_choice(state, key, text); return 0;
    case KEY_EXOGENOUS: chosen->exogenous = 1; return 0;
    case KEY_VIEW: chosen->view = cli_choice(state, key, text); return 0;
    case KEY_ASSUME: chosen->assume = cli_choice(state, key, text); return 0;
    case KEY_SOLVE: chosen->solve = cli_choice(state, key, text); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp schedule_argp = {.options = schedule_options, .parser = parse_option};

const struct argp_child account_children[] = {{.argp = &cli_common_argp}, {.argp = &schedule_argp}, {0}};

error_t account_parse(int key, char *text, struct argp_state *state) {
    account_settings *chosen = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &chosen->common;
        state->child_inputs[1] = chosen;
        return 0;
    case ARGP_KEY_ARG: cli_wrong_argument(state, "'%.60s' is no option", text); return 0;
    default: return parse_option(key, text, state);
    }
}

void account_read_orders(const struct argp_state *state, const char *text, account_settings *chosen) {
    free(chosen->order);
    chosen->order_count = 0;
    chosen->order = malloc((strlen(text) + 1) * sizeof *chosen->order); /* no more orders than letters */
    if (!chosen->order) argp_failure(state, CLI_FAILED, 0, "out of memory");
    for (const char *at = text; chosen->order; at++) {
        size_t length = strcspn(at, ",");
        char copy[64] = "";
        double order = 0;
        if (length < sizeof copy) memcpy(copy, at, length);
        if (!cli_parse_number(copy, &order) || !(order >= 1))
            cli_wrong_argument(
                state, "--order: found '%.60s'; allowed: A,B,... with every order a number from 1", at);
        chosen->order[chosen->order_count++] = order;
        at += length;
        if (*at == 0) return;
    }
}

/* ---- which options go together ---- */

int account_given(double value) {
    return !isnan(value);
}

double account_or(double value, double fallback) {
    return isnan(value) ? fallback : value;
}

const char *account_first_given(const account_settings *chosen, const char *const *names) {
    for (; *names; names++)
        for (int i = 0; i < NUMBERS; i++)
            if (strcmp(numbers[i].name, *names) == 0 &&
                account_given(*(const double *)((const char *)chosen + numbers[i].offset)))
                return *names;
    return NULL;
}

int account_exclude(const account_settings *chosen, const char *owner, const char *const *names) {
    const char *other = account_first_given(chosen, names);
    return other ? cli_refuse(chosen->command, "--%s and --%s exclude each other; give one", owner, other)
                 : 0;
}

int account_check_promise(const account_settings *chosen) {
    static const char *const of_blocks[] = {"steps", "sampling-rate", NULL};
    static const char *const of_sensitivity[] = {"clip", NULL};
    const char *command = chosen->command, *name = chosen->accountant;
    int code = 0;
    if (chosen->blocks) code = account_exclude(chosen, "blocks", of_blocks);
    if (!code && account_given(chosen->sensitivity))
        code = account_exclude(chosen, "sensitivity", of_sensitivity);
    if (!code && chosen->adjacency >= 0 && account_given(chosen->sensitivity))
        code = cli_refuse(command, "--sensitivity and --adjacency exclude each other; give one");
    if (!code && account_given(chosen->step) && chosen->mechanism != ACCOUNT_MECHANISM_ENTROPIC &&
        !account_given(chosen->strength))
        code = cli_refuse(command, "--step belongs to --mechanism entropic");
    if (!code && chosen->order && name && strcmp(name, "rdp") != 0)
        code = cli_refuse(command, "--order belongs to --accountant rdp");
    if (!code && account_given(chosen->width) && (chosen->order || (name && strcmp(name, "exact") != 0)))
        code = cli_refuse(command, "--width belongs to --accountant exact");
    return code;
}

/* ---- the accountant ---- */

static mfpg_adjacency adjacency_of(int chosen) {
    switch (chosen) {
    case ACCOUNT_ADD: return MFPG_ADJACENCY_ADD;
    case ACCOUNT_REMOVE: return MFPG_ADJACENCY_REMOVE;
    case ACCOUNT_REPLACE: return MFPG_ADJACENCY_REPLACE;
    default: return MFPG_ADJACENCY_ZERO_OUT;
    }
}

mfpg_accountant_options account_accountant_options(const account_settings *chosen) {
    mfpg_accountant_options made = mfpg_accountant_options_default();
    made.promise.unit = MFPG_UNIT_EXAMPLE;
    made.promise.view = (mfpg_view)chosen->view;
    made.promise.adjacency = adjacency_of(chosen->adjacency);
    made.orders = chosen->order;
    made.order_count = chosen->order_count;
    made.width = account_or(chosen->width, made.width);
    made.paper.dimension = account_or(chosen->dimension, made.paper.dimension);
    made.paper.clients = account_or(chosen->population, made.paper.clients);
    if (account_given(chosen->prior_variance)) made.paper.alpha = 1 / chosen->prior_variance;
    made.paper.variance_penalty = account_or(chosen->variance_penalty, made.paper.variance_penalty);
    made.paper.gradient_norm = account_or(chosen->gradient_norm, made.paper.gradient_norm);
    made.paper.step = account_or(chosen->step, made.paper.step);
    return made;
}

const char *account_accountant_name(const account_settings *chosen, int sampled) {
    if (chosen->accountant) return chosen->accountant;
    if (chosen->order) return "rdp";
    if (account_given(chosen->width)) return "exact";
    return sampled ? "exact" : "gdp";
}

int account_credits_sampling(const char *accountant) {
    return strcmp(accountant, "gdp") != 0 && strcmp(accountant, "hidden-state") != 0;
}

const char *account_adjacency_name(const account_settings *chosen) {
    if (account_given(chosen->sensitivity) || account_given(chosen->mu)) return NULL;
    return mfpg_adjacency_name(adjacency_of(chosen->adjacency));
}
