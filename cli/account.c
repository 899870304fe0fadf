/* mfpg account: the privacy of a schedule from its numbers alone, or of a ledger. */
#include "account.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

static const char *const mechanisms[] = {"gaussian", "entropic"};
static const char *const adjacencies[] = {"add", "remove", "zero-out", "replace"};
static const char *const units[] = {"client", "example"};
static const char *const particles[] = {"parameters", "data"};

/* ---- options ---- */

static int is_number_at_least_one(double value) {
    return value >= 1;
}

static const struct number {
    const char *name;
    size_t offset;
    int (*allowed)(double value);
    const char *words;
} numbers[] = {
    {"noise-multiplier", offsetof(account_settings, noise_multiplier), cli_is_not_negative,
        "a number from 0"},
    {"sampling-rate", offsetof(account_settings, sampling_rate), cli_is_rate, "a number from 0 up to 1"},
    {"steps", offsetof(account_settings, steps), cli_is_steps, "a whole number from 0"},
    {"mu", offsetof(account_settings, mu), cli_is_not_negative, "a number from 0"},
    {"strength", offsetof(account_settings, strength), cli_is_not_negative, "a number from 0"},
    {"step", offsetof(account_settings, step), cli_is_positive, "a number above 0"},
    {"clip", offsetof(account_settings, clip), cli_is_positive, "a number above 0"},
    {"sensitivity", offsetof(account_settings, sensitivity), cli_is_not_negative, "a number from 0"},
    {"delta", offsetof(account_settings, delta), cli_is_delta, "a number from 0 below 1"},
    {"epsilon", offsetof(account_settings, epsilon), cli_is_not_negative, "a number from 0"},
    {"dimension", offsetof(account_settings, dimension), is_number_at_least_one, "a number from 1"},
    {"population", offsetof(account_settings, population), is_number_at_least_one, "a number from 1"},
    {"prior-variance", offsetof(account_settings, prior_variance), cli_is_positive, "a number above 0"},
    {"variance-penalty", offsetof(account_settings, variance_penalty), cli_is_not_negative,
        "a number from 0"},
    {"gradient-norm", offsetof(account_settings, gradient_norm), cli_is_not_negative, "a number from 0"},
    {"input-smoothness", offsetof(account_settings, input_smoothness), cli_is_not_negative,
        "a number from 0"},
};

enum { NUMBERS = sizeof numbers / sizeof numbers[0], FIRST_NUMBER = 0x100 };
enum {
    KEY_MECHANISM = 0x200,
    KEY_ADJACENCY,
    KEY_UNIT,
    KEY_ACCOUNTANT,
    KEY_ORDER,
    KEY_BLOCKS,
    KEY_LEDGER,
    KEY_PARTICLES,
    KEY_EXOGENOUS
};

static const struct argp_option options[] = {{0, 0, 0, 0, "What is released", 1},
    {"mechanism", KEY_MECHANISM, "NAME", 0, "gaussian or entropic (default: by the options that are given)",
        0},
    {"noise-multiplier", FIRST_NUMBER + 0, "Z", 0,
        "gaussian: noise sd over the clip; with --sensitivity the sd itself", 0},
    {"strength", FIRST_NUMBER + 4, "E", 0, "entropic: strength of the noise", 0},
    {"step", FIRST_NUMBER + 5, "TAU", 0, "entropic: step of the flow (default 0.1)", 0},
    {"mu", FIRST_NUMBER + 3, "MU", 0, "a Gaussian-DP parameter of one step, instead of a mechanism", 0},
    {"blocks", KEY_BLOCKS, "Q:Z:T,...", 0,
        "gaussian: blocks of T steps with sampling rate Q and noise multiplier Z", 0},
    {"steps", FIRST_NUMBER + 2, "T", 0, "number of steps (default 1)", 0},
    {"sampling-rate", FIRST_NUMBER + 1, "Q", 0,
        "probability that an example takes part in a step, by a coin of its own (default 1)", 0},
    {"particles", KEY_PARTICLES, "NAME", 0,
        "what is noised: parameters (default), or data: every record once, whatever follows", 0},
    {"exogenous", KEY_EXOGENOUS, 0, 0,
        "data, entropic: only the last state of T steps is seen, and the models it flowed under are public "
        "or "
        "trained on "
        "other people's data alone",
        0},
    {"input-smoothness", FIRST_NUMBER + 15, "M", 0,
        "data, entropic: public bound on the Hessian of the loss in the features, at the public first model "
        "(with --exogenous: at every model; default 0)",
        0},
    {"ledger", KEY_LEDGER, "FILE", 0,
        "what a run really released, for every client, instead of all of the above", 0},
    {0, 0, 0, 0, "What one release depends on", 2},
    {"clip", FIRST_NUMBER + 6, "C", 0,
        "norm bound (default 1; of a record's features for data): sensitivity C, or 2C for replace", 0},
    {"adjacency", KEY_ADJACENCY, "NAME", 0, "add, remove, zero-out or replace (default zero-out)", 0},
    {"sensitivity", FIRST_NUMBER + 7, "S", 0, "the sensitivity itself, instead of --clip and --adjacency", 0},
    {"unit", KEY_UNIT, "NAME", 0,
        "client or example: what the clip bounds and the sampling rate draws (default client; example with "
        "sampling or data)",
        0},
    {0, 0, 0, 0, "What is asked", 3},
    {"delta", FIRST_NUMBER + 8, "D", 0, "find epsilon at this delta (default 1e-5; --ledger: the ledger's)",
        0},
    {"epsilon", FIRST_NUMBER + 9, "E", 0, "find delta at this epsilon", 0},
    {"accountant", KEY_ACCOUNTANT, "NAME", 0,
        "gdp (default without sampling), rdp (default with it: gdp does not credit it), data-particles (the "
        "one "
        "for --particles data); paper_rdp and "
        "paper_lsi "
        "certify nothing",
        0},
    {"order", KEY_ORDER, "A,B,...", 0,
        "rdp: use these Renyi orders, from 1, and nothing else; a single one is printed as \"rdp\"", 0},
    {0, 0, 0, 0, "Constants of paper_lsi, and of the entropic flow of data", 4},
    {"dimension", FIRST_NUMBER + 10, "D", 0, "parameters (default: the paper's 5)", 0},
    {"population", FIRST_NUMBER + 11, "N", 0, "clients (default: the paper's 5)", 0},
    {"prior-variance", FIRST_NUMBER + 12, "V", 0, "squared weights, or features (default: the paper's 1)", 0},
    {"variance-penalty", FIRST_NUMBER + 13, "L", 0, "default: the paper's 0.01", 0},
    {"gradient-norm", FIRST_NUMBER + 14, "G", 0, "default: the paper's 1", 0}, {0}};

static error_t parse(int key, char *text, struct argp_state *state) {
    account_settings *chosen = state->input;
    if (key >= FIRST_NUMBER && key < FIRST_NUMBER + NUMBERS) {
        const struct number *number = &numbers[key - FIRST_NUMBER];
        double *slot = (double *)((char *)chosen + number->offset);
        *slot = cli_number(state, number->name, text, number->allowed, number->words);
        return 0;
    }
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &chosen->common; return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%.60s' is no option", text); return 0;
    case KEY_MECHANISM: chosen->mechanism = cli_choice(state, "mechanism", text, mechanisms, 2); return 0;
    case KEY_ADJACENCY: chosen->adjacency = cli_choice(state, "adjacency", text, adjacencies, 4); return 0;
    case KEY_UNIT: chosen->unit = cli_choice(state, "unit", text, units, 2); return 0;
    case KEY_ACCOUNTANT: chosen->accountant = text; return 0;
    case KEY_ORDER: account_read_orders(state, text, chosen); return 0;
    case KEY_BLOCKS: chosen->blocks = text; return 0;
    case KEY_LEDGER: chosen->ledger = text; return 0;
    case KEY_PARTICLES: chosen->particles = cli_choice(state, "particles", text, particles, 2); return 0;
    case KEY_EXOGENOUS: chosen->exogenous = 1; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &cli_common_argp}, {0}};
static const struct argp argp = {.options = options,
    .parser = parse,
    .doc = "Prints the privacy of a schedule, or of what a run really released."
           "\vEpsilon is in nats, rounded up; infinity (noise 0) is \"inf\" in JSON. Examples:\n"
           "  mfpg account --noise-multiplier 5 --steps 20 --delta 1e-5\n"
           "  mfpg account --mechanism entropic --strength 1 --step 0.1 --clip 1 --adjacency replace --steps "
           "10\n"
           "  mfpg account --noise-multiplier 1 --sampling-rate 0.01 --steps 1000 --delta 1e-5\n"
           "  mfpg account --mu 1 --epsilon 2\n"
           "  mfpg account --particles data --mechanism entropic --strength 1 --step 0.1 --adjacency replace "
           "--steps 10 --exogenous\n"
           "  mfpg account --ledger runs/hospitals/ledger",
    .children = children};

/* ---- which options go together ---- */

static int given(double value) {
    return !isnan(value);
}

/* The first of the named numbers that was given, or NULL. */
static const char *first_given(const account_settings *chosen, const char *const *names) {
    for (; *names; names++)
        for (int i = 0; i < NUMBERS; i++)
            if (strcmp(numbers[i].name, *names) == 0 &&
                given(*(const double *)((const char *)chosen + numbers[i].offset)))
                return *names;
    return NULL;
}

/* 0, or the exit code where `owner` was given together with one of names. */
static int exclude(const account_settings *chosen, const char *owner, const char *const *names) {
    const char *other = first_given(chosen, names);
    return other ? cli_refuse("account", "--%s and --%s exclude each other; give one", owner, other) : 0;
}

static int check_ledger(const account_settings *chosen) {
    static const char *const others[] = {"noise-multiplier", "strength", "step", "mu", "steps",
        "sampling-rate", "clip", "sensitivity", "dimension", "population", "prior-variance",
        "variance-penalty", "gradient-norm", "input-smoothness", NULL};
    if (chosen->mechanism >= 0 || chosen->blocks || chosen->order || chosen->unit >= 0 ||
        chosen->particles >= 0 || chosen->exogenous)
        return cli_refuse(
            "account", "--ledger goes with --accountant, --delta, --epsilon, --adjacency and --json only");
    return exclude(chosen, "ledger", others);
}

static int check_mechanism(const account_settings *chosen) {
    int gaussian = given(chosen->noise_multiplier), entropic = given(chosen->strength),
        mu = given(chosen->mu);
    int blocks = chosen->blocks != NULL;
    if (gaussian + entropic + mu + blocks == 0)
        return cli_refuse("account",
            "nothing to account for; give one of --noise-multiplier, --strength, --mu, --blocks, --ledger");
    if (gaussian + entropic + mu + blocks > 1)
        return cli_refuse(
            "account", "--noise-multiplier, --strength, --mu and --blocks exclude each other; give one");
    if (chosen->mechanism == ACCOUNT_MECHANISM_ENTROPIC && !entropic)
        return cli_refuse("account", "--mechanism entropic needs --strength");
    if (chosen->mechanism == ACCOUNT_MECHANISM_GAUSSIAN && entropic)
        return cli_refuse("account", "--strength belongs to --mechanism entropic");
    if (given(chosen->step) && !entropic)
        return cli_refuse("account", "--step belongs to --mechanism entropic");
    return 0;
}

/* What only noised records have, and what they do not have. */
static int check_particles(const account_settings *chosen) {
    static const char *const of_data[] = {"input-smoothness", NULL};
    static const char *const not_of_data[] = {
        "sampling-rate", "mu", "dimension", "population", "gradient-norm", NULL};
    static const char *const of_flow[] = {
        "steps", "input-smoothness", "prior-variance", "variance-penalty", NULL};
    int data = chosen->particles == MFPG_PARTICLES_DATA;
    const char *wrong = first_given(chosen, data ? not_of_data : of_data);
    if (wrong && !data) return cli_refuse("account", "--%s belongs to --particles data", wrong);
    if (wrong) return cli_refuse("account", "--%s does not go with --particles data", wrong);
    if (!data && chosen->exogenous) return cli_refuse("account", "--exogenous belongs to --particles data");
    if (!data) return 0;
    if (chosen->blocks || chosen->order)
        return cli_refuse("account", "--%s does not go with --particles data, which are noised once",
            chosen->blocks ? "blocks" : "order");
    if (given(chosen->strength)) return 0;
    wrong = chosen->exogenous ? "exogenous" : first_given(chosen, of_flow);
    return wrong ? cli_refuse("account",
                       "--%s belongs to --mechanism entropic; Gaussian noise on the records is drawn once, "
                       "and nothing that follows costs anything",
                       wrong)
                 : 0;
}

static int check_settings(const account_settings *chosen) {
    static const char *const of_blocks[] = {"steps", "sampling-rate", NULL};
    static const char *const of_mu[] = {"clip", "sensitivity", "sampling-rate", NULL};
    static const char *const of_sensitivity[] = {"clip", NULL};
    static const char *const of_delta[] = {"epsilon", NULL};
    int code = check_mechanism(chosen);
    if (!code) code = check_particles(chosen);
    if (!code && chosen->blocks) code = exclude(chosen, "blocks", of_blocks);
    if (!code && given(chosen->mu)) code = exclude(chosen, "mu", of_mu);
    if (!code && given(chosen->sensitivity)) code = exclude(chosen, "sensitivity", of_sensitivity);
    if (!code && given(chosen->delta)) code = exclude(chosen, "delta", of_delta);
    if (!code && chosen->adjacency >= 0 && (given(chosen->sensitivity) || given(chosen->mu)))
        code = cli_refuse("account", "--%s and --adjacency exclude each other; give one",
            given(chosen->mu) ? "mu" : "sensitivity");
    if (!code && chosen->order && chosen->accountant && strcmp(chosen->accountant, "rdp") != 0)
        code = cli_refuse("account", "--order belongs to --accountant rdp");
    return code;
}

/* ---- the answer ---- */

/* Here the unit is whatever the sampling rate draws, which accountants call an example. */
static mfpg_accountant_options accountant_options(const account_settings *chosen) {
    mfpg_accountant_options made = mfpg_accountant_options_default();
    made.promise.unit = MFPG_UNIT_EXAMPLE;
    made.orders = chosen->order;
    made.order_count = chosen->order_count;
    made.promise.adjacency =
        chosen->adjacency == ACCOUNT_REPLACE ? MFPG_ADJACENCY_REPLACE : MFPG_ADJACENCY_ZERO_OUT;
    made.paper.dimension = account_or(chosen->dimension, made.paper.dimension);
    made.paper.clients = account_or(chosen->population, made.paper.clients);
    if (given(chosen->prior_variance)) made.paper.alpha = 1 / chosen->prior_variance;
    made.paper.variance_penalty = account_or(chosen->variance_penalty, made.paper.variance_penalty);
    made.paper.gradient_norm = account_or(chosen->gradient_norm, made.paper.gradient_norm);
    made.paper.step = account_or(chosen->step, made.paper.step);
    return made;
}

static void assume_sampling(account_answer *answer, double rate) {
    if (rate < 1 && strcmp(answer->accountant, "rdp") == 0)
        account_assume(answer,
            "Poisson sampling: every %s takes part in a step by a coin of its own, with the sampling rate%s, "
            "and "
            "whether it did stays hidden",
            answer->unit, answer->several_rates ? " of the block" : " given");
    else if (rate < 1)
        account_assume(answer,
            "sampling rate %g is not credited: accounted as if everything took part in every step", rate);
}

static void assume(account_answer *answer, const account_settings *chosen, double rate) {
    if (!answer->certificate) {
        account_assume(answer, "the paper's formula, for reproduction only: it bounds nothing");
        return;
    }
    account_assume(answer, "Gaussian noise is ideal up to floating-point rounding");
    account_assume(answer, "noise and number of steps are fixed in advance, or public");
    if (given(chosen->sensitivity))
        account_assume(
            answer, "a release moves by at most the sensitivity %g that was given", chosen->sensitivity);
    else if (given(chosen->mu))
        account_assume(answer, "every step is Gaussian-DP with the mu %g that was given", chosen->mu);
    else
        account_assume(
            answer, "every contribution is clipped to norm %g, flattened", account_or(chosen->clip, 1));
    if (answer->adjacency && chosen->adjacency != ACCOUNT_REPLACE)
        account_assume(answer, "whoever is left out still adds its noise; weights and row counts are public");
    assume_sampling(answer, rate);
}

/* Gaussian DP is exact without sampling, so the answer less its rounding is a lower end; with sampling, or at named
 * orders, only 0 is. */
static double lower_end(const account_settings *chosen, double upper, double rate) {
    if (rate < 1 || chosen->order) return 0;
    return isinf(upper) ? upper : upper * (1 - 1e-9);
}

static mfpg_status solve(mfpg_context *ctx, const account_settings *chosen, const mfpg_accountant *accountant,
    double rate, account_answer *answer) {
    int paper = !answer->certificate;
    mfpg_status status;
    answer->mu = paper || chosen->order ? (double)NAN : mfpg_accountant_mu(accountant);
    answer->rdp =
        chosen->order_count == 1 ? mfpg_accountant_renyi(accountant, chosen->order[0]) : (double)NAN;
    answer->epsilon = chosen->epsilon;
    answer->delta = account_or(chosen->delta, ACCOUNT_DELTA);
    if (given(chosen->epsilon))
        status = mfpg_accountant_delta(ctx, accountant, chosen->epsilon, &answer->delta);
    else
        status = mfpg_accountant_epsilon(ctx, accountant, answer->delta, &answer->epsilon);
    if (status == MFPG_OK && strcmp(answer->accountant, "paper_lsi") == 0 && !given(chosen->epsilon))
        status =
            mfpg_accountant_delta(ctx, accountant, answer->epsilon, &answer->delta); /* the paper's pair */
    if (isinf(answer->mu) && isfinite(answer->delta) && isfinite(answer->epsilon))
        answer->mu = (double)NAN; /* sampling is credited, and has none */
    double asked = given(chosen->epsilon) ? answer->delta : answer->epsilon;
    answer->lower = paper ? (double)NAN : lower_end(chosen, asked, rate);
    answer->upper = paper ? (double)NAN : asked;
    return status;
}

static int account_schedule(mfpg_context *ctx, const account_settings *chosen) {
    const mfpg_accountant_options made = accountant_options(chosen);
    int sampled = account_smallest_rate(chosen) < 1, unit = chosen->unit < 0 ? sampled : chosen->unit;
    const char *name = chosen->accountant ? chosen->accountant : sampled || chosen->order ? "rdp" : "gdp";
    int fixed = given(chosen->sensitivity) || given(chosen->mu);
    mfpg_accountant *accountant = NULL;
    double rate = 1;
    mfpg_status status = mfpg_accountant_create(ctx, name, &made, &accountant);
    if (status != MFPG_OK) return cli_fail(ctx, "account", status);
    int code = account_record_schedule(ctx, accountant, chosen, &rate);
    account_answer answer = {.accountant = name,
        .adjacency = fixed ? NULL : adjacencies[chosen->adjacency < 0 ? ACCOUNT_ZERO_OUT : chosen->adjacency],
        .unit = units[unit],
        .several_rates = chosen->blocks != NULL,
        .view = mfpg_view_name(made.promise.view),
        .certificate = mfpg_accountant_certifies(accountant)};
    if (!code && strcmp(name, "paper_rdp") == 0 && given(chosen->epsilon))
        code = cli_refuse("account", "paper_rdp has no delta of its own; give --delta");
    if (!code) {
        status = solve(ctx, chosen, accountant, rate, &answer);
        if (status != MFPG_OK) code = cli_fail(ctx, "account", status);
    }
    if (!code) {
        assume(&answer, chosen, rate);
        code = account_print_answer(chosen, &answer);
    }
    mfpg_accountant_destroy(accountant);
    return code;
}

static int account_for(const account_settings *chosen) {
    int code = chosen->ledger ? check_ledger(chosen) : check_settings(chosen);
    if (code) return code;
    if (chosen->ledger) {
        int replace = chosen->adjacency == ACCOUNT_REPLACE;
        const account_ledger_options wanted = {.path = chosen->ledger,
            .delta = chosen->delta,
            .epsilon = chosen->epsilon,
            .adjacency = chosen->adjacency < 0 ? -1
                         : replace             ? MFPG_ADJACENCY_REPLACE
                                               : MFPG_ADJACENCY_ZERO_OUT,
            .accountant = chosen->accountant,
            .json = chosen->common.json};
        return account_ledger(&wanted);
    }
    mfpg_context *ctx = cli_context(1);
    code =
        chosen->particles == MFPG_PARTICLES_DATA ? account_data(ctx, chosen) : account_schedule(ctx, chosen);
    mfpg_context_destroy(ctx);
    return code;
}

int command_account(int argc, char **argv) {
    account_settings chosen = {.mechanism = -1, .adjacency = -1, .unit = -1, .particles = -1};
    for (int i = 0; i < NUMBERS; i++) *(double *)((char *)&chosen + numbers[i].offset) = (double)NAN;
    argp_parse(&argp, argc, argv, 0, NULL, &chosen);
    int code = account_for(&chosen);
    free(chosen.order);
    return code;
}
