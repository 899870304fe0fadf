/* mfpg audit: attacks what a configuration promises, and tells what the attack proved. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/experiment.h"

#include "audit_inversion.h"
#include "interrupt.h"
#include "options.h"
#include "progress.h"
#include "run_folder.h"

enum {
    OPTION_OUT = 'o',
    OPTION_THREADS = 't',
    OPTION_RUNS = 'n',
    OPTION_METHOD = 'm',
    OPTION_CONFIDENCE = 0x2000,
    OPTION_SEED,
    OPTION_CANARIES,
    OPTION_INPUT
};

typedef struct settings {
    cli_common common;
    const char *configuration;
    char **arguments; /* KEY=VALUE */
    int argument_count;
    const char *out;
    int threads;
    int runs_given;
    mfpg_audit_options audit;
    cli_inversion inversion; /* instead of canaries */
} settings;

static const struct argp_option options[] = {{"method", OPTION_METHOD, "ranks|few-runs|one-run", 0,
                                                 "ranks (default): thousands of runs with one canary a "
                                                 "client, which prove most; for models that take long "
                                                 "to train, few-runs: many canaries in each of some hundred "
                                                 "runs, or one-run: in a single one, which proves "
                                                 "least",
                                                 0},
    {"runs", OPTION_RUNS, "N", 0,
        "ranks: runs of each pattern of canaries, both arms together (default 20000); few-runs: at most "
        "(default "
        "200). More runs prove more",
        0},
    {"canaries", OPTION_CANARIES, "N", 0,
        "few-runs and one-run with privacy.unit example: canaries in each client, at most (default: as many "
        "as "
        "rows and model have room for, up to 1000)",
        0},
    {"input-canaries", OPTION_INPUT, 0, 0,
        "Play rows of data under the configured model as well: realistic ones, long and with a wrong label, "
        "for a "
        "generalised linear model (logistic, linear, quadratic)",
        0},
    {"confidence", OPTION_CONFIDENCE, "P", 0, "That everything proved of all clients holds (default 0.99)",
        0},
    {"seed", OPTION_SEED, "N", 0, "Of the attack (default 1): the same seed gives the same audit", 0},
    {"out", OPTION_OUT, "DIR", 0,
        "Folder for audit.json (default: that of the run that is audited; else nothing is written)", 0},
    {"threads", OPTION_THREADS, "N", 0, "Threads (default: all the machine's); results do not depend on it",
        0},
    {0}};

static int is_count(double value) {
    return value >= 1 && value <= 2147483646.0 && value == floor(value);
}

static int is_confidence(double value) {
    return value > 0.5 && value < 1.0;
}

static int is_seed(double value) {
    return value >= 0 && value <= 0x1p53 && value == floor(value);
}

/* Options of which one decides what the others may be. */
static void check_together(const struct argp_state *state, settings *chosen) {
    mfpg_audit_options *o = &chosen->audit;
    if (chosen->inversion.asked &&
        (chosen->runs_given || o->canaries > 0 || o->input_canaries || o->method != MFPG_AUDIT_RANKS))
        cli_wrong_argument(state, "--inversion has no canaries: --method, --runs, --canaries and "
                                  "--input-canaries mean nothing with it");
    if (!chosen->runs_given) o->runs = mfpg_audit_options_for(o->method).runs;
    if (o->method == MFPG_AUDIT_RANKS && (o->runs < 20 || o->runs % 2 != 0))
        cli_wrong_argument(state,
            "--runs %lld: with --method ranks it must be an even whole number from 20 to 2147483646",
            (long long)o->runs);
    if (o->method == MFPG_AUDIT_ONE_RUN && o->runs != 1)
        cli_wrong_argument(state, "--runs %lld: --method one-run has one; --method few-runs may have more",
            (long long)o->runs);
    if (o->method != MFPG_AUDIT_RANKS && o->input_canaries)
        cli_wrong_argument(state, "--input-canaries: they are played with --method ranks");
    if (o->method == MFPG_AUDIT_RANKS && o->canaries > 0)
        cli_wrong_argument(
            state, "--canaries: --method ranks has one canary a client; few-runs and one-run may have more");
}

static error_t parse(int key, char *text, struct argp_state *state) {
    settings *chosen = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &chosen->common;
        state->child_inputs[1] = &chosen->inversion;
        return 0;
    case OPTION_OUT: chosen->out = text; return 0;
    case OPTION_THREADS: chosen->threads = cli_threads(state, text); return 0;
    case OPTION_RUNS:
        chosen->audit.runs =
            (int64_t)cli_number(state, "runs", text, is_count, "a whole number from 1 to 2147483646");
        chosen->runs_given = 1;
        return 0;
    case OPTION_METHOD: chosen->audit.method = (mfpg_audit_method)cli_choice(state, key, text); return 0;
    case OPTION_INPUT: chosen->audit.input_canaries = 1; return 0;
    case OPTION_CANARIES:
        chosen->audit.canaries =
            (int64_t)cli_number(state, "canaries", text, is_count, "a whole number from 1 to 2147483646");
        return 0;
    case OPTION_CONFIDENCE:
        chosen->audit.confidence =
            cli_number(state, "confidence", text, is_confidence, "a number above 0.5 and below 1");
        return 0;
    case OPTION_SEED:
        chosen->audit.seed =
            (uint64_t)cli_number(state, "seed", text, is_seed, "a whole number from 0 to 2^53");
        return 0;
    case ARGP_KEY_ARG:
        cli_take_argument(state, text, &chosen->configuration, chosen->arguments, &chosen->argument_count);
        return 0;
    case ARGP_KEY_END: check_together(state, chosen); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &cli_common_argp}, {.argp = &cli_inversion_argp}, {0}};
static const struct argp argp = {.options = options,
    .parser = parse,
    .args_doc = "CONFIG.yaml|EXAMPLE|RUN [KEY=VALUE...]",
    .doc = "Attacks what a configuration promises each client: thousands of runs on two neighbouring inputs "
           "(or few runs, with many canaries), "
           "each with a canary that the clip has to hold and that goes through the library's own noise, "
           "averages and accounts. The last digits of what is released are read as well: noise that is not "
           "on the public grid shows in them. Prints the promise beside the largest privacy loss that the "
           "attack "
           "proved; 0 where it proved nothing. Nothing private is read but the clients' row counts, unless "
           "--inversion asks for it. "
           "RUN is a run folder: the configuration of that run is attacked, audit.json is written beside it, "
           "and mfpg report shows it."
           "\vWhat is proved holds for all clients together with the confidence, at least. An attack that "
           "proves less than the promise is no proof of the promise; one that proves more breaks it. "
           "Exit codes: 0 every promise stands, 1 failed, 2 wrong input, 3 a promise is broken, 130 "
           "interrupted.\n",
    .children = children};

/* What the bar shows. */
typedef struct watching {
    progress bar;
    ptrdiff_t clients;
    char text[96];
} watching;

static void show_runs(void *user, int64_t done, int64_t total) {
    watching *w = user;
    progress_show(&w->bar, done, total, w->text, 0);
}

/* Few runs: how far the proof has come where it has come furthest. Whoever has seen enough interrupts. */
static void show_proof(void *user, int64_t runs, const mfpg_audit_client *client) {
    watching *w = user;
    const mfpg_audit_client *best = client;
    (void)runs;
    for (ptrdiff_t k = 1; k < w->clients; k++)
        if (client[k].mu_lower > best->mu_lower) best = &client[k];
    snprintf(w->text, sizeof w->text, "runs, mu %.3g proved of %.3g", best->mu_lower, best->mu);
}

/* Down where it is proved, up where it is promised: what is printed holds as well. */
static const char *proved(double value, char text[CLI_TEXT_UP]) {
    if (isnan(value)) return "-";
    return value > 0.0 ? cli_text_down(value, text) : "0";
}

static const char *promised(double value, char text[CLI_TEXT_UP]) {
    return isnan(value) ? "-" : cli_text_up(value, text);
}

static void print_pair(const char *what, double most, double least) {
    char up[CLI_TEXT_UP], down[CLI_TEXT_UP];
    printf("%-16s %s: %s promised, %s proved\n", "", what, promised(most, up), proved(least, down));
}

static void print_client(const char *name, const mfpg_audit_client *c) {
    char text[5][CLI_TEXT_UP];
    printf("%-16.16s %10s %10s %10s %10s %10s  %s%s%s  %s\n", name, promised(c->mu, text[0]),
        proved(c->mu_lower, text[1]), promised(c->epsilon, text[2]), proved(c->epsilon_lower, text[3]),
        proved(c->epsilon_lower_direct, text[4]), mfpg_audit_route_name(c->route), c->route ? ", " : "",
        c->route ? mfpg_audit_pattern_name(c->pattern) : "",
        isinf(c->epsilon) ? "nothing is promised"
        : c->stands       ? "stands"
                          : "BROKEN");
    if (!isnan(c->auc_cap)) print_pair("share of pairs in order, at most", c->auc_cap, c->auc_lower);
    if (!isnan(c->round_mu)) print_pair("mu of one round", c->round_mu, c->round_mu_lower);
    if (!isnan(c->input_mu_lower))
        printf(
            "%-16s mu by rows of data, realistic and not tight: %s proved; |g| %.3g, of which the clip left "
            "%.3g\n",
            "", proved(c->input_mu_lower, text[0]), c->input_gradient, c->input_clip_factor);
    if (c->guesses > 0)
        printf("%-16s %lld of %lld guesses right, %lld canar%s a run\n", "", (long long)c->correct,
            (long long)c->guesses, (long long)c->canaries, c->canaries == 1 ? "y" : "ies");
    if (!isnan(c->ceiling))
        printf("%-16s at most %s can be proved; about %s where the promise is exact\n", "",
            proved(c->ceiling, text[0]), proved(c->expected, text[1]));
    if (isnan(c->paper_delta)) return;
    print_pair("total variation", c->distance, c->tv_lower);
    printf("%-16s the paper's bound of it, no promise: %.3g%s\n", "", c->paper_delta,
        c->tv_lower > c->paper_delta ? ", refuted" : "");
}

static void print_runs(const settings *chosen, const mfpg_audit_plan *plan) {
    if (plan->method == MFPG_AUDIT_RANKS)
        printf("\n%lld runs of each of %d pattern%s, seed", (long long)plan->runs, plan->patterns,
            plan->patterns == 1 ? "" : "s");
    else
        printf("\n%lld run%s with many canaries%s, seed", (long long)plan->runs, plan->runs == 1 ? "" : "s",
            plan->stopped ? ", stopped there" : "");
    printf(" %llu. Everything proved holds together with probability %.6g",
        (unsigned long long)chosen->audit.seed, chosen->audit.confidence);
    printf(" (of one client: %.6g).\n", plan->client_confidence);
    if (plan->pooled)
        printf("together: the clients' canaries as one sample, beside what the promises say of %s.\n",
            plan->method == MFPG_AUDIT_FEW_RUNS ? "the mean chance of a right guess" : "the worst of them");
}

static void print_audit(const settings *chosen, const mfpg_experiment *experiment,
    const mfpg_audit_client *client, const mfpg_audit_plan *plan) {
    printf(
        "%-16s %10s %10s %10s %10s %10s  route\n", "client", "mu", "proved", "epsilon", "proved", "direct");
    for (ptrdiff_t k = 0; k < mfpg_experiment_clients(experiment); k++)
        print_client(mfpg_experiment_client_name(experiment, k), &client[k]);
    if (plan->pooled) print_client("together", &plan->together);
    print_runs(chosen, plan);
    printf(
        "direct: epsilon by error rates alone, without any assumption; the other one is what the proved mu "
        "means for Gaussian noise.\n");
}

static int tell(mfpg_context *ctx, const settings *chosen, const mfpg_experiment *experiment,
    const mfpg_audit_client *client, const mfpg_audit_plan *plan) {
    int code = CLI_DONE;
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t k = 0; k < mfpg_experiment_clients(experiment); k++)
        if (!client[k].stands) code = CLI_BROKEN_PROMISE;
    if (plan->pooled && !plan->together.stands) code = CLI_BROKEN_PROMISE;
    if (chosen->out)
        status = mfpg_experiment_write_audit(ctx, experiment, &chosen->audit, client, plan, chosen->out);
    if (status == MFPG_OK && chosen->common.json) {
        char *text = NULL;
        status = mfpg_experiment_audit_json(ctx, experiment, &chosen->audit, client, plan, &text);
        if (status == MFPG_OK) puts(text);
        free(text);
    } else if (status == MFPG_OK) {
        print_audit(chosen, experiment, client, plan);
        if (chosen->out) printf("\nWritten to %s/audit.json\n", chosen->out);
    }
    return status == MFPG_OK ? cli_finish("audit", code) : cli_fail(ctx, "audit", status);
}

static int audit(mfpg_context *ctx, settings *chosen, mfpg_config *config) {
    int code = chosen->out ? cli_may_write_folder("audit", chosen->out) : CLI_DONE;
    if (code != CLI_DONE) return code;
    watching watched = {.bar = progress_start(), .text = "runs"};
    mfpg_experiment *experiment = NULL;
    mfpg_audit_plan plan;
    chosen->audit.stop = interrupt_watch();
    chosen->audit.progress = show_runs;
    chosen->audit.watch = show_proof;
    chosen->audit.progress_user = chosen->audit.watch_user = &watched;
    mfpg_status status = MFPG_OK;
    for (int i = 0; i < chosen->argument_count && status == MFPG_OK; i++)
        status = mfpg_config_set(ctx, config, chosen->arguments[i]);
    if (status == MFPG_OK) status = mfpg_experiment_create(ctx, config, &experiment);
    if (status != MFPG_OK) return cli_fail(ctx, "audit", status);
    if (chosen->inversion.asked) {
        chosen->inversion.options.confidence = chosen->audit.confidence;
        chosen->inversion.options.seed = chosen->audit.seed;
        int told = cli_audit_inversion(ctx, experiment, &chosen->inversion, chosen->out, chosen->common.json);
        mfpg_experiment_destroy(experiment);
        return told;
    }
    watched.clients = mfpg_experiment_clients(experiment);
    mfpg_audit_client *client = calloc((size_t)mfpg_experiment_clients(experiment), sizeof *client);
    code = CLI_FAILED;
    if (client) {
        status = mfpg_experiment_audit(ctx, experiment, &chosen->audit, client, &plan);
        progress_end(&watched.bar);
        code =
            status == MFPG_OK ? tell(ctx, chosen, experiment, client, &plan) : cli_fail(ctx, "audit", status);
    }
    free(client);
    mfpg_experiment_destroy(experiment);
    return code;
}

/* What a run was is attacked, and told beside it; with arguments it is another configuration, which has no place there. */
static int audit_run(mfpg_context *ctx, settings *chosen, mfpg_config **config) {
    int code = cli_config_of_run(ctx, "audit", chosen->configuration, config);
    if (code == CLI_DONE && !chosen->out && chosen->argument_count == 0) {
        chosen->out = chosen->configuration;
        code = cli_may_write_into_run("audit", chosen->out, "audit.json");
        if (code == CLI_DONE && chosen->inversion.asked)
            code = cli_may_write_into_run("audit", chosen->out, "inversion.png");
    }
    return code == CLI_DONE ? audit(ctx, chosen, *config) : code;
}

int command_audit(int argc, char **argv) {
    settings chosen = {.arguments = calloc((size_t)argc, sizeof(char *)),
        .audit = mfpg_audit_options_default(),
        .inversion = {.options = mfpg_inversion_options_default()}};
    if (!chosen.arguments) return CLI_FAILED;
    cli_parse(&argp, "audit", argc, argv, &chosen);
    mfpg_context *ctx = cli_context(chosen.threads);
    mfpg_config *config = NULL;
    int code;
    if (!chosen.configuration) {
        code = cli_refuse("audit", "no configuration; try: mfpg audit clinics");
    } else if (cli_is_run_folder(chosen.configuration)) {
        code = audit_run(ctx, &chosen, &config);
    } else {
        mfpg_status status = mfpg_config_open(ctx, chosen.configuration, &config);
        code = status == MFPG_OK ? audit(ctx, &chosen, config) : cli_fail(ctx, "audit", status);
    }
    mfpg_config_destroy(config);
    mfpg_context_destroy(ctx);
    free(chosen.arguments);
    return code;
}
