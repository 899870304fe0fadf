/* mfpg account: the privacy of a schedule from its numbers alone, or of a ledger. */
#include "account.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

/* ---- options ---- */

/* Groups 1 and 3 have their headings from account_children. */
static const struct argp_option options[] = {
    {"mu", KEY_MU, "MU", 0, "a Gaussian-DP parameter of one step, instead of a mechanism", 1},
    {"particles", KEY_PARTICLES, "parameters|data", 0,
        "what is noised: parameters (default), or data: every record once, whatever follows", 0},
    {"exogenous", KEY_EXOGENOUS, 0, 0,
        "data, entropic: only the last state of T steps is seen, and the models it flowed under are public "
        "or trained on other people's data alone",
        0},
    {"input-smoothness", KEY_INPUT_SMOOTHNESS, "M", 0,
        "data, entropic: public bound on the Hessian of the loss in the features, at the public first model "
        "(with --exogenous: at every model; default 0)",
        0},
    {"view", KEY_VIEW, "local|average|final", 0,
        "what is seen: local (default), average (charged like local), final: the last state alone", 0},
    {"ledger", KEY_LEDGER, "FILE", 0,
        "what a run really released, for every client, instead of all of the above; a run folder means its "
        "ledger",
        0},
    {"delta", KEY_DELTA, "D", 0, "find epsilon at this delta (default 1e-5; --ledger: the ledger's)", 3},
    {"epsilon", KEY_EPSILON, "E", 0, "find delta at this epsilon", 0},
    {0, 0, 0, 0, "What is assumed of the loss, so that hidden states are forgotten (entropic, --view final)",
        4},
    {"assume", KEY_ASSUME, "none|quadratic|glm|convex|nonconvex", 0,
        "its shape; glm: every example is clipped by itself (default none: as if every state were seen)", 0},
    {"smoothness", KEY_SMOOTHNESS, "M", 0,
        "public bound on the Hessian's norm, for every data set and minibatch", 0},
    {"strong-convexity", KEY_STRONG_CONVEXITY, "M", 0,
        "public lower bound on the Hessian (default 0); above 0 it needs --sensitivity, of gradients that "
        "are "
        "not clipped, or --projection-radius",
        0},
    {"projection-radius", KEY_PROJECTION_RADIUS, "R", 0,
        "every state is projected onto a public ball on which no gradient of any data set exceeds the clip",
        0},
    {0, 0, 0, 0, "Constants of the entropic flow, and of paper_lsi", 5},
    {"dimension", KEY_DIMENSION, "D", 0, "parameters (default: the paper's 5)", 0},
    {"population", KEY_POPULATION, "N", 0, "clients (default: the paper's 5)", 0},
    {"prior-variance", KEY_PRIOR_VARIANCE, "V", 0,
        "squared weights, or features of data (default: the paper's 1)", 0},
    {"variance-penalty", KEY_VARIANCE_PENALTY, "L", 0, "default: the paper's 0.01", 0},
    {"gradient-norm", KEY_GRADIENT_NORM, "G", 0, "default: the paper's 1", 0}, {0}};

/* No line of the examples is longer than a line of the help, which would break it. */
static const struct argp argp = {.options = options,
    .parser = account_parse,
    .doc = "Prints the privacy of a schedule, or of what a run really released."
           "\vEpsilon is in nats, rounded up; infinity (noise 0) is \"inf\" in JSON. Examples:\n\n"
           "  mfpg account --noise-multiplier 5 --steps 20 --delta 1e-5\n"
           "  mfpg account --mechanism entropic --strength 1 --step 0.1 \\\n"
           "    --clip 1 --adjacency replace --steps 10\n"
           "  mfpg account --noise-multiplier 1 --sampling-rate 0.01 \\\n"
           "    --steps 1000 --delta 1e-5\n"
           "  mfpg account --blocks 0.1:3:200,0.05:2:300 --epsilon 3\n"
           "  mfpg account --mu 1 --epsilon 2\n"
           "  mfpg account --particles data --mechanism entropic \\\n"
           "    --strength 1 --step 0.1 --adjacency replace \\\n"
           "    --steps 10 --exogenous\n"
           "  mfpg account --mechanism entropic --strength 1 --step 0.1 \\\n"
           "    --steps 1000 --view final --assume glm --smoothness 1\n"
           "  mfpg account --ledger runs/hospitals/ledger\n",
    .children = account_children};

/* ---- which options go together ---- */

static int check_ledger(const account_settings *chosen) {
    static const char *const others[] = {"noise-multiplier", "strength", "step", "mu", "steps",
        "sampling-rate", "clip", "sensitivity", "width", "dimension", "population", "prior-variance",
        "variance-penalty", "gradient-norm", "input-smoothness", "smoothness", "strong-convexity",
        "projection-radius", NULL};
    if (chosen->view || chosen->assume || (chosen->accountant && !strcmp(chosen->accountant, "hidden-state")))
        return cli_refuse("account",
            "--ledger has a view of its own, and no credit for hidden states is given "
            "from a ledger: it does not hold what was assumed of the loss");
    if (chosen->mechanism >= 0 || chosen->blocks || chosen->order || chosen->unit >= 0 ||
        chosen->particles >= 0 || chosen->exogenous)
        return cli_refuse(
            "account", "--ledger goes with --accountant, --delta, --epsilon, --adjacency and --json only");
    if (chosen->adjacency == ACCOUNT_ADD || chosen->adjacency == ACCOUNT_REMOVE)
        return cli_refuse("account", "--adjacency: found '%s'; with --ledger allowed: zero-out, replace",
            chosen->adjacency == ACCOUNT_ADD ? "add" : "remove");
    return account_exclude(chosen, "ledger", others);
}

static int check_mechanism(const account_settings *chosen) {
    int gaussian = account_given(chosen->noise_multiplier), entropic = account_given(chosen->strength),
        mu = account_given(chosen->mu);
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
    return 0;
}

/* What only noised records have, and what they do not have. */
static int check_particles(const account_settings *chosen) {
    static const char *const of_data[] = {"input-smoothness", NULL};
    static const char *const not_of_data[] = {
        "sampling-rate", "mu", "width", "dimension", "population", "gradient-norm", NULL};
    static const char *const of_flow[] = {
        "steps", "input-smoothness", "prior-variance", "variance-penalty", NULL};
    int data = chosen->particles == MFPG_PARTICLES_DATA;
    const char *wrong = account_first_given(chosen, data ? not_of_data : of_data);
    if (wrong && !data) return cli_refuse("account", "--%s belongs to --particles data", wrong);
    if (wrong) return cli_refuse("account", "--%s does not go with --particles data", wrong);
    if (!data && chosen->exogenous) return cli_refuse("account", "--exogenous belongs to --particles data");
    if (!data) return 0;
    if (chosen->blocks || chosen->order)
        return cli_refuse("account", "--%s does not go with --particles data, which are noised once",
            chosen->blocks ? "blocks" : "order");
    if (account_given(chosen->strength)) return 0;
    wrong = chosen->exogenous ? "exogenous" : account_first_given(chosen, of_flow);
    return wrong ? cli_refuse("account",
                       "--%s belongs to --mechanism entropic; Gaussian noise on the records is drawn once, "
                       "and nothing that follows costs anything",
                       wrong)
                 : 0;
}

static int check_settings(const account_settings *chosen) {
    static const char *const of_mu[] = {"clip", "sensitivity", "sampling-rate", NULL};
    static const char *const of_delta[] = {"epsilon", NULL};
    int code = check_mechanism(chosen);
    if (!code) code = check_particles(chosen);
    if (!code && account_given(chosen->mu)) code = account_exclude(chosen, "mu", of_mu);
    if (!code && account_given(chosen->mu) && chosen->adjacency >= 0)
        code = cli_refuse("account", "--mu and --adjacency exclude each other; give one");
    if (!code) code = account_check_promise(chosen);
    if (!code) code = account_check_hidden(chosen);
    if (!code && account_given(chosen->delta)) code = account_exclude(chosen, "delta", of_delta);
    return code;
}

/* ---- the answer ---- */

/* The ends of the number that is asked for; of a formula that certifies nothing, the number alone. */
static mfpg_status ask(mfpg_context *ctx, const account_settings *chosen, const mfpg_accountant *accountant,
    account_answer *answer) {
    int wants_delta = account_given(chosen->epsilon);
    double *number = wants_delta ? &answer->delta : &answer->epsilon;
    if (!answer->certificate)
        return wants_delta ? mfpg_accountant_delta(ctx, accountant, chosen->epsilon, number)
                           : mfpg_accountant_epsilon(ctx, accountant, answer->delta, number);
    mfpg_bounds ends;
    mfpg_status status = wants_delta ? mfpg_accountant_delta_bounds(ctx, accountant, chosen->epsilon, &ends)
                                     : mfpg_accountant_epsilon_bounds(ctx, accountant, answer->delta, &ends);
    *number = answer->upper = ends.upper;
    answer->lower = ends.lower;
    return status;
}

static mfpg_status solve(mfpg_context *ctx, const account_settings *chosen, const mfpg_accountant *accountant,
    account_answer *answer) {
    answer->mu = answer->rdp = answer->lower = answer->upper = (double)NAN;
    if (answer->certificate && !chosen->order) answer->mu = mfpg_accountant_mu(accountant);
    if (chosen->order_count == 1) answer->rdp = mfpg_accountant_renyi(accountant, chosen->order[0]);
    answer->epsilon = chosen->epsilon;
    answer->delta = account_or(chosen->delta, ACCOUNT_DELTA);
    mfpg_status status = ask(ctx, chosen, accountant, answer);
    if (status == MFPG_OK && strcmp(answer->accountant, "paper_lsi") == 0 && !account_given(chosen->epsilon))
        status =
            mfpg_accountant_delta(ctx, accountant, answer->epsilon, &answer->delta); /* the paper's pair */
    return status;
}

/* Where the composition cannot be enclosed as closely as asked, the answer says so. */
static void say_wide(account_answer *answer, const account_settings *chosen, double width) {
    double unit = account_given(chosen->epsilon) ? answer->upper : fmax(1, answer->upper);
    if (strcmp(answer->accountant, "exact") != 0 || isinf(answer->upper)) return;
    if (answer->upper - answer->lower > width * unit)
        account_assume(answer,
            "(the truth may lie below: the two ends are further apart than the width %g asked for)", width);
}

static mfpg_status record_all(
    mfpg_context *ctx, mfpg_accountant *accountant, const account_schedule *schedule) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < schedule->count && status == MFPG_OK; i++)
        status = mfpg_accountant_record(ctx, accountant, &schedule->release[i]);
    return status;
}

static int price(mfpg_context *ctx, const account_settings *chosen, const account_schedule *schedule) {
    int sampled = schedule->rate < 1, example = chosen->unit < 0 ? sampled : chosen->unit;
    const mfpg_accountant_options made = account_accountant_options(chosen);
    account_answer answer = {.accountant = account_accountant_name(chosen, sampled),
        .adjacency = account_adjacency_name(chosen),
        .unit = mfpg_unit_name(example ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT),
        .view = mfpg_view_name(made.promise.view)};
    mfpg_accountant *accountant = NULL;
    mfpg_status status = mfpg_accountant_create(ctx, answer.accountant, &made, &accountant);
    if (status == MFPG_OK && strcmp(answer.accountant, "paper_rdp") == 0 && account_given(chosen->epsilon)) {
        mfpg_accountant_destroy(accountant);
        return cli_refuse("account", "paper_rdp has no delta of its own; give --delta");
    }
    if (status == MFPG_OK) status = record_all(ctx, accountant, schedule);
    if (status == MFPG_OK) {
        answer.certificate = mfpg_accountant_certifies(accountant);
        status = solve(ctx, chosen, accountant, &answer);
    }
    if (answer.certificate && made.promise.view != MFPG_VIEW_LOCAL)
        answer.lower = 0; /* of the steps, if each were seen; what that view hides may be worth more */
    mfpg_accountant_destroy(accountant);
    if (status != MFPG_OK) return cli_fail(ctx, "account", status);
    account_assume_schedule(&answer, chosen, schedule);
    say_wide(&answer, chosen, made.width);
    return account_print_answer(chosen, &answer);
}

static int account_for_schedule(mfpg_context *ctx, const account_settings *chosen) {
    account_schedule schedule;
    int code = account_read_schedule(chosen, &schedule);
    if (!code) code = price(ctx, chosen, &schedule);
    account_schedule_clear(&schedule);
    return code;
}

static int account_for_ledger(const account_settings *chosen) {
    const account_ledger_options wanted = {.path = chosen->ledger,
        .delta = chosen->delta,
        .epsilon = chosen->epsilon,
        .adjacency = chosen->adjacency < 0 ? -1 : (int)account_accountant_options(chosen).promise.adjacency,
        .accountant = chosen->accountant,
        .json = chosen->common.json};
    return account_ledger(&wanted);
}

static int account_for(const account_settings *chosen) {
    int code = chosen->ledger ? check_ledger(chosen) : check_settings(chosen);
    if (code) return code;
    if (chosen->ledger) return account_for_ledger(chosen);
    mfpg_context *ctx = cli_context(1);
    if (chosen->assume)
        code = account_hidden(ctx, chosen);
    else if (chosen->particles == MFPG_PARTICLES_DATA)
        code = account_data(ctx, chosen);
    else
        code = account_for_schedule(ctx, chosen);
    mfpg_context_destroy(ctx);
    return code;
}

int command_account(int argc, char **argv) {
    account_settings chosen = account_settings_none("account");
    cli_parse(&argp, "account", argc, argv, &chosen);
    int code = account_for(&chosen);
    free(chosen.order);
    return code;
}
