/* mfpg audit attacks what a configuration promises and prints what the attack proved. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/experiment.h"

#include "cli.h"

typedef struct settings {
    mfpg_audit_options audit;
    int inverts; /* instead of canaries */
    mfpg_inversion_options inversion;
    char *scores;     /* IN,OUT, used instead of a configuration; NULL: a configuration is given */
    char *transcript; /* used instead of a configuration; NULL: a configuration is given */
    int seed_bits;
    mfpg_score_options score;
    char *out; /* NULL: nothing is written */
} settings;

/* The kinds of audit, as facts that decide which options apply. */
enum {
    RANKS = 1 << MFPG_AUDIT_RANKS,
    FEW = 1 << MFPG_AUDIT_FEW_RUNS,
    ONE = 1 << MFPG_AUDIT_ONE_RUN,
    INVERSION = 8,
    SCORES = 16,
    TRANSCRIPT = 32
};

#define WITH_CANARIES  .facts = RANKS | FEW | ONE, .used = "with a configuration and without --inversion"
#define WITH_CONFIG    .facts = RANKS | FEW | ONE | INVERSION, .used = "with a configuration"
#define WITH_INVERSION .line = 2, .facts = INVERSION, .used = "with --inversion"

enum { RUNS = 1 }; /* number of --runs in the list */

static const mfpg_option options[] = {
    {.name = "method",
        .letter = 'm',
        .words = (const char *const[]){"ranks", "few-runs", "one-run", NULL},
        CLI_FIELD(audit.method),
        .help = "ranks (default): thousands of runs with one canary a client, which prove most; for models "
                "that take long to train, few-runs: many canaries in each of some hundred runs, or one-run: "
                "in a single one, which proves least",
        WITH_CANARIES},
    CLI_WHOLE("runs", 'n', 1, 2147483646, audit.runs,
        "ranks: runs of each pattern of canaries, both arms together (default 20000); few-runs: at most "
        "(default 200). More runs prove more",
        WITH_CANARIES),
    CLI_WHOLE("canaries", 0, 1, 2147483646, audit.canaries,
        "few-runs and one-run with privacy.unit example: canaries in each client, at most (default: as many "
        "as rows and model have room for, up to 1000)",
        .facts = FEW | ONE, .used = "with --method few-runs and one-run"),
    CLI_OPTION("input-canaries", 0, FLAG, NULL, audit.input_canaries,
        "Play rows of data under the configured model as well: realistic ones, long and with a wrong label, "
        "for a generalised linear model (logistic, linear, quadratic)",
        .facts = RANKS, .used = "with --method ranks"),
    CLI_OPTION("confidence", 0, NUMBER, "P", audit.confidence,
        "That everything proved of all clients holds (default 0.99)", .range = {0.5, 1, 1, 1}),
    CLI_WHOLE("seed", 0, 0, 0x1p53, audit.seed,
        "Of the attack (default 1): the same seed gives the same audit", .facts = ~(uint64_t)TRANSCRIPT,
        .used = "without --transcript"),
    CLI_OPTION("out", 'o', PATH, "DIR", out,
        "Folder for audit.json (default: that of the run that is audited; else nothing is written)",
        WITH_CONFIG),
    CLI_OPTION("scores", 0, TEXT, "IN,OUT", scores,
        "Instead of a configuration: two CSV files with the scores of a membership attack of your own on "
        "members and on others (one column, or the one called score). Prints the lower bounds on epsilon "
        "that they prove"),
    CLI_OPTION("delta", 0, NUMBER, "D", score.delta, "Of these bounds (default 1e-5)", .range = {0, 1, 0, 1},
        .facts = SCORES, .used = "with --scores"),
    CLI_OPTION("transcript", 0, PATH, "FILE", transcript,
        "Instead of a configuration: everything that the server of secure sums sent and received. Removes "
        "all "
        "masks that it could remove, and says which sites' vectors it could read and what the sums reveal of "
        "canaries"),
    CLI_WHOLE("seed-bits", 0, 0, MFPG_SEED_BITS, seed_bits,
        "Search one vector for a mask whose key is a number below 2^B (default 24; 32 takes minutes)",
        .facts = TRANSCRIPT, .used = "with --transcript"),
    CLI_OPTION("inversion", 0, FLAG, NULL, inverts,
        "Instead of canaries: rebuilds examples of the client that is least protected from one of its "
        "updates, at levels of noise from none to the configured one. Reads private data",
        .line = 2, WITH_CONFIG),
    CLI_WHOLE("examples", 0, 1, 10000, inversion.examples, "Examples that are attacked (default 40)",
        WITH_INVERSION),
    CLI_WHOLE("batch", 0, 1, 64, inversion.batch, "Examples in one update (default 1)", WITH_INVERSION),
    CLI_WHOLE("candidates", 0, 2, 10000, inversion.candidates,
        "One of so many is the client's and has to be recognised (default 100)", WITH_INVERSION),
    CLI_WHOLE("trials", 0, 1, 1e6, inversion.trials, "Guesses among them at every level (default 400)",
        WITH_INVERSION),
    CLI_WHOLE("iterations", 0, 0, 1e5, inversion.iterations,
        "Of the attack by optimisation (default 300); 0: the closed form alone", WITH_INVERSION),
    CLI_WHOLE("width", 0, 1, 32768, inversion.width,
        "The features of an example are a picture of this width (default: pictures of format idx are square)",
        WITH_INVERSION),
};

static const mfpg_option_heading heading = {1, "Gradient inversion:"};
static const mfpg_options list = {options, sizeof options / sizeof options[0], &heading, 1};

static void *begin(mfpg_context *ctx) {
    settings *made = malloc(sizeof *made);
    (void)ctx;
    if (made)
        *made = (settings){.audit = mfpg_audit_options_default(),
            .inversion = mfpg_inversion_options_default(),
            .score = mfpg_score_options_default(),
            .seed_bits = 24};
    return made;
}

/* The method of the audit determines which values of the other options are valid. */
static mfpg_status check_options(cli_call *call, settings *chosen) {
    mfpg_audit_options *o = &chosen->audit;
    uint64_t facts = chosen->transcript ? TRANSCRIPT
                     : chosen->scores   ? SCORES
                     : chosen->inverts  ? INVERSION
                                        : UINT64_C(1) << o->method;
    for (ptrdiff_t i = 0; i < list.count; i++)
        if (call->given[i] && options[i].facts && !(options[i].facts & facts))
            return mfpg_fail(call->ctx, MFPG_ERR_INPUT, "--%s has no effect here: it applies %s only",
                options[i].name, options[i].used);
    if (!call->given[RUNS]) o->runs = mfpg_audit_options_for(o->method).runs;
    if (o->method == MFPG_AUDIT_RANKS && (o->runs < 20 || o->runs % 2 != 0))
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
            "--runs %lld: with --method ranks it must be an even whole number from 20 to 2147483646",
            (long long)o->runs);
    if (o->method == MFPG_AUDIT_ONE_RUN && o->runs != 1)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
            "--runs %lld: --method one-run has one; --method few-runs may have more", (long long)o->runs);
    return MFPG_OK;
}

/* ---- progress ---- */

/* What the bar shows. */
typedef struct watching {
    cli_progress bar;
    ptrdiff_t clients;
    char text[96];
} watching;

static void show_runs(void *user, int64_t done, int64_t total) {
    watching *w = user;
    cli_progress_show(&w->bar, done, total, w->text, 0);
}

/* Few runs: shows the client about which most is proved so far, so that a user who has seen enough can
 * interrupt. */
static void show_proof(void *user, int64_t runs, const mfpg_audit_client *client) {
    watching *w = user;
    const mfpg_audit_client *best = client;
    (void)runs;
    for (ptrdiff_t k = 1; k < w->clients; k++)
        if (client[k].mu_lower > best->mu_lower) best = &client[k];
    snprintf(w->text, sizeof w->text, "runs, mu %.3g proved of %.3g", best->mu_lower, best->mu);
}

/* ---- printing: what is proved is rounded down and what is promised is rounded up, so that the printed
 * numbers are valid too ---- */

static const char *proved(double value, char text[CLI_TEXT_SIZE]) {
    if (isnan(value)) return "-";
    return value > 0.0 ? cli_text_down(value, text) : "0";
}

static const char *promised(double value, char text[CLI_TEXT_SIZE]) {
    return isnan(value) ? "-" : cli_text_up(value, text);
}

static const char *verdict(double promise, int stands) {
    return isinf(promise) ? "nothing is promised" : stands ? "stands" : "BROKEN";
}

static void print_pair(const char *what, double most, double least) {
    char up[CLI_TEXT_SIZE], down[CLI_TEXT_SIZE];
    printf("%-16s %s: %s promised, %s proved\n", "", what, promised(most, up), proved(least, down));
}

static void print_client(const char *name, const mfpg_audit_client *c) {
    char text[5][CLI_TEXT_SIZE];
    printf("%-16.16s %10s %10s %10s %10s %10s  %s%s%s  %s\n", name, promised(c->mu, text[0]),
        proved(c->mu_lower, text[1]), promised(c->epsilon, text[2]), proved(c->epsilon_lower, text[3]),
        proved(c->epsilon_lower_direct, text[4]), mfpg_audit_route_name(c->route), c->route ? ", " : "",
        c->route ? mfpg_audit_pattern_name(c->pattern) : "", verdict(c->epsilon, c->stands));
    if (!isnan(c->auc_cap)) print_pair("share of pairs in order, at most", c->auc_cap, c->auc_lower);
    if (!isnan(c->round_mu)) print_pair("mu of one round", c->round_mu, c->round_mu_lower);
    if (!isnan(c->input_mu_lower))
        printf("%-16s mu by rows of data, realistic and not tight: %s proved; |g| %.3g, of which the clip "
               "left %.3g\n",
            "", proved(c->input_mu_lower, text[0]), c->input_gradient, c->input_clip_factor);
    if (c->guesses > 0)
        printf("%-16s %lld of %lld guesses right, %lld canar%s a run\n", "", (long long)c->correct,
            (long long)c->guesses, (long long)c->canaries, c->canaries == 1 ? "y" : "ies");
    if (!isnan(c->ceiling))
        printf("%-16s at most %s can be proved; about %s if the promise is exact\n", "",
            proved(c->ceiling, text[0]), proved(c->expected, text[1]));
    if (isnan(c->paper_delta)) return;
    print_pair("total variation", c->distance, c->tv_lower);
    printf("%-16s the paper's bound of it, no promise: %.3g%s\n", "", c->paper_delta,
        c->tv_lower > c->paper_delta ? ", refuted" : "");
}

static void print_runs(const mfpg_audit_options *o, const mfpg_audit_plan *plan) {
    if (plan->method == MFPG_AUDIT_RANKS)
        printf("\n%lld runs of each of %d pattern%s, seed", (long long)plan->runs, plan->patterns,
            plan->patterns == 1 ? "" : "s");
    else
        printf("\n%lld run%s with many canaries%s, seed", (long long)plan->runs, plan->runs == 1 ? "" : "s",
            plan->stopped ? ", stopped there" : "");
    printf(" %llu. All proved bounds hold together with probability %.6g", (unsigned long long)o->seed,
        o->confidence);
    printf(" (of one client: %.6g).\n", plan->client_confidence);
    if (plan->pooled)
        printf("together: the clients' canaries as one sample, next to what the promises say of %s.\n",
            plan->method == MFPG_AUDIT_FEW_RUNS ? "the mean probability of a correct guess"
                                                : "the worst of them");
}

static void print_audit(const settings *chosen, const mfpg_experiment *experiment,
    const mfpg_audit_client *client, const mfpg_audit_plan *plan) {
    printf(
        "%-16s %10s %10s %10s %10s %10s  route\n", "client", "mu", "proved", "epsilon", "proved", "direct");
    for (ptrdiff_t k = 0; k < mfpg_experiment_clients(experiment); k++)
        print_client(mfpg_experiment_client_name(experiment, k), &client[k]);
    if (plan->pooled) print_client("together", &plan->together);
    print_runs(&chosen->audit, plan);
    printf("direct: epsilon by error rates alone, without any assumption; the other epsilon follows from the "
           "proved mu for Gaussian noise.\n");
    if (chosen->out) printf("\nWritten to %s/audit.json\n", chosen->out);
}

/* ---- the audit ---- */

static mfpg_status show_audit(cli_call *call, const settings *chosen, const mfpg_experiment *experiment,
    const mfpg_audit_client *client, const mfpg_audit_plan *plan) {
    mfpg_status status = MFPG_OK;
    char *text = NULL;
    int stands = !plan->pooled || plan->together.stands;
    for (ptrdiff_t k = 0; k < mfpg_experiment_clients(experiment); k++) stands &= client[k].stands;
    if (!stands) call->code = CLI_BROKEN_PROMISE;
    if (chosen->out)
        status =
            mfpg_experiment_write_audit(call->ctx, experiment, &chosen->audit, client, plan, chosen->out);
    if (status != MFPG_OK) return status;
    if (call->json)
        status = mfpg_experiment_audit_json(call->ctx, experiment, &chosen->audit, client, plan, &text);
    else
        print_audit(chosen, experiment, client, plan);
    if (text) puts(text);
    free(text);
    return status;
}

static mfpg_status attack(cli_call *call, settings *chosen, const mfpg_experiment *experiment) {
    watching watched = {
        .bar = cli_progress_start(), .text = "runs", .clients = mfpg_experiment_clients(experiment)};
    mfpg_audit_client *client = calloc((size_t)watched.clients, sizeof *client);
    mfpg_audit_plan plan;
    if (!client) return MFPG_ERR_MEMORY;
    chosen->audit.stop = cli_interrupt_watch();
    chosen->audit.progress = show_runs;
    chosen->audit.watch = show_proof;
    chosen->audit.progress_user = chosen->audit.watch_user = &watched;
    mfpg_status status = mfpg_experiment_audit(call->ctx, experiment, &chosen->audit, client, &plan);
    cli_progress_end(&watched.bar);
    if (status == MFPG_OK) status = show_audit(call, chosen, experiment, client, &plan);
    free(client);
    return status;
}

/* ---- --inversion: examples rebuilt from one update, at several levels of noise ---- */

static void show_parts(void *user, int64_t done, int64_t total) {
    cli_progress_show(user, done, total, "parts", 0);
}

static void print_likeness(const char *what, const mfpg_likeness_pair *l) {
    printf("%-24s %6.2f %6.2f   %6.3f %6.3f   %6.3f %6.3f\n", what, l->median.psnr, l->best.psnr,
        l->median.ssim, l->best.ssim, l->median.pearson, l->best.pearson);
}

static void print_attack(const mfpg_inversion *inversion, int levels, int optimised) {
    char what[32];
    printf("\n%-24s %13s   %13s   %13s\n", optimised ? "optimisation" : "closed form", "PSNR (dB)", "SSIM",
        "Pearson's r");
    printf("%-24s %6s %6s   %6s %6s   %6s %6s\n", "mu", "median", "best", "median", "best", "median", "best");
    for (int i = 0; i < levels; i++) {
        const mfpg_inversion_level level = mfpg_inversion_at(inversion, i);
        snprintf(what, sizeof what, "%.4g%s", level.mu, level.configured ? " (configured)" : "");
        print_likeness(what, optimised ? &level.optimisation : &level.closed_form);
    }
}

static void print_candidates(const mfpg_inversion *inversion, const mfpg_inversion_summary *s) {
    char least[CLI_TEXT_SIZE], most[CLI_TEXT_SIZE];
    printf("\nThe client's example among %td candidates, %lld guesses at each level:\n", s->candidates,
        (long long)s->trials);
    printf("%-24s %8s %10s %10s %10s  verdict\n", "mu", "right", "proved", "at most", "rank");
    for (int i = 0; i < s->levels; i++) {
        const mfpg_inversion_level l = mfpg_inversion_at(inversion, i);
        char what[32];
        snprintf(what, sizeof what, "%.4g%s", l.mu, l.configured ? " (configured)" : "");
        printf("%-24s %8.4g %10s %10s %10g  %s\n", what, l.rate, proved(l.lower, least),
            promised(l.cap, most), l.median_rank, verdict(l.mu, l.stands));
    }
}

static void print_subject(const mfpg_experiment *experiment, const mfpg_inversion_summary *s) {
    printf("Gradient inversion of one local step of client '%s', the least protected; computed on private "
           "data, no certificate covers it.\n",
        mfpg_experiment_client_name(experiment, s->client));
    printf("%td example%s, %td an update%s. mu is that of one step under zero-out (replace: twice that).\n",
        s->examples, s->examples == 1 ? "" : "s", s->batch,
        s->labels_known ? ", labels known to the attacker" : ", labels read off the gradient");
    printf(
        "|gradient| of an example: median %.3g (%.3g to %.3g). The clip multiplies by %.3g (%.3g to %.3g).\n",
        s->gradient_norm.median, s->gradient_norm.least, s->gradient_norm.most, s->clip_factor.median,
        s->clip_factor.least, s->clip_factor.most);
    printf(
        "Units of the first layer: %td; active for one example of an update alone: median %g (%g to %g).\n",
        s->rows, s->exclusive_rows.median, s->exclusive_rows.least, s->exclusive_rows.most);
}

static void print_study(const mfpg_experiment *experiment, const mfpg_inversion *inversion) {
    const mfpg_inversion_summary s = mfpg_inversion_summarise(inversion);
    int optimised = mfpg_inversion_picture_of(inversion, MFPG_PICTURE_OPTIMISATION, 0, 0) != NULL;
    print_subject(experiment, &s);
    print_attack(inversion, s.levels, 0);
    if (optimised) print_attack(inversion, s.levels, 1);
    printf("\nwithout any attack\n");
    print_likeness("mean of all others", &s.mean);
    print_likeness("a random other", &s.other);
    print_candidates(inversion, &s);
    printf(
        "\nA picture that cannot be recognised is no evidence of privacy; the share of right guesses is.\n");
}

static mfpg_status show_inversion(cli_call *call, const settings *chosen, const mfpg_experiment *experiment,
    const mfpg_inversion *inversion) {
    mfpg_status status = MFPG_OK;
    char *text = NULL;
    int pictures = 0;
    if (!mfpg_inversion_summarise(inversion).stands) call->code = CLI_BROKEN_PROMISE;
    if (chosen->out)
        status = mfpg_experiment_write_inversion(
            call->ctx, experiment, &chosen->inversion, inversion, chosen->out, &pictures);
    if (status == MFPG_OK && call->json) {
        status = mfpg_experiment_inversion_json(call->ctx, experiment, &chosen->inversion, inversion, &text);
        if (text) puts(text);
    } else if (status == MFPG_OK) {
        print_study(experiment, inversion);
        if (chosen->out)
            printf("\nWritten to %s/audit.json%s\n", chosen->out, pictures ? " and inversion.png" : "");
    }
    free(text);
    return status;
}

static mfpg_status invert(cli_call *call, settings *chosen, const mfpg_experiment *experiment) {
    cli_progress bar = cli_progress_start();
    mfpg_inversion *inversion = NULL;
    mfpg_inversion_options *o = &chosen->inversion;
    o->confidence = chosen->audit.confidence;
    o->seed = chosen->audit.seed;
    o->stop = cli_interrupt_watch();
    o->progress = show_parts;
    o->progress_user = &bar;
    mfpg_status status = mfpg_experiment_invert(call->ctx, experiment, o, &inversion);
    cli_progress_end(&bar);
    if (status == MFPG_OK) status = show_inversion(call, chosen, experiment, inversion);
    mfpg_inversion_destroy(inversion);
    return status;
}

/* ---- --scores: what a user's own scores prove ---- */

static void print_scores(const mfpg_score_bounds *b) {
    char text[4][CLI_TEXT_SIZE];
    printf("%lld scores of members, %lld of others; %.4g of the pairs in order. Lower bounds on epsilon at "
           "delta %g:\n\n",
        (long long)b->inside, (long long)b->outside, b->auc, b->delta);
    printf("%-12s %10s  if\n", "bound", "epsilon");
    printf("%-12s %10s  every score comes from a separate run, and the noise is Gaussian (mu %s proved)\n",
        "ranks", proved(b->epsilon_lower, text[0]), proved(b->mu_lower, text[1]));
    printf("%-12s %10s  every score comes from a separate run (%lld of %lld false positives, %lld of %lld "
           "false negatives)\n",
        "error rates", proved(b->epsilon_lower_direct, text[2]), (long long)b->false_positives,
        (long long)b->tested_outside, (long long)b->false_negatives, (long long)b->tested_inside);
    printf("%-12s %10s  all scores are of one run, each canary a member by its own coin (%lld of %lld "
           "guesses right)\n",
        "one run", proved(b->epsilon_lower_one_run, text[3]), (long long)b->correct, (long long)b->guesses);
    printf("\nEach bound holds on its own with probability %.6g; 0: nothing is proved.\n", b->confidence);
}

static mfpg_status audit_scores(cli_call *call, settings *chosen) {
    char *comma = strchr(chosen->scores, ','), *text = NULL;
    double *score[2] = {NULL, NULL};
    ptrdiff_t count[2];
    mfpg_score_bounds bounds;
    if (call->arguments > 0 || call->assignments > 0)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT, "--scores audits two files, and no configuration");
    if (!comma)
        return mfpg_fail(
            call->ctx, MFPG_ERR_INPUT, "--scores %s: two files are needed, IN,OUT", chosen->scores);
    *comma = 0;
    chosen->score.confidence = chosen->audit.confidence;
    chosen->score.seed = chosen->audit.seed;
    mfpg_status status = mfpg_audit_read_scores(call->ctx, chosen->scores, &score[0], &count[0]);
    if (status == MFPG_OK) status = mfpg_audit_read_scores(call->ctx, comma + 1, &score[1], &count[1]);
    if (status == MFPG_OK)
        status =
            mfpg_audit_scores(call->ctx, &chosen->score, score[0], count[0], score[1], count[1], &bounds);
    if (status == MFPG_OK && call->json) status = mfpg_audit_scores_json(call->ctx, &bounds, &text);
    if (text) puts(text);
    if (status == MFPG_OK && !text) print_scores(&bounds);
    free(text);
    free(score[0]);
    free(score[1]);
    return status;
}

/* ---- --transcript: what the server of secure sums could learn ---- */

static void print_transcript(const mfpg_transcript_audit *a, double confidence) {
    char text[2][CLI_TEXT_SIZE];
    printf("%-16s %8s %8s %14s %10s %10s  verdict\n", "site", "vectors", "readable", "guesses right", "mu",
        "proved");
    for (ptrdiff_t v = 0; v < a->sites; v++) {
        const mfpg_transcript_site *s = &a->site[v];
        printf("%-16.16s %8lld %8lld %6lld of %-4lld %10s %10s  %s\n", s->site, (long long)s->vectors,
            (long long)s->opened, (long long)s->correct, (long long)s->guesses,
            s->guesses ? promised(s->mu, text[0]) : "-",
            proved(s->guesses ? s->mu_lower : (double)NAN, text[1]), s->stands ? "stands" : "BROKEN");
        if (s->how[0]) printf("%-16s readable since round %lld: %s\n", "", (long long)s->first_round, s->how);
    }
    if (a->ignored) printf("\n%lld messages belong to no sum and were ignored.\n", (long long)a->ignored);
    printf("\n%lld sum%s. mu: of one sum, against replace, in the worst case that the threshold allows. All "
           "proved bounds hold together with probability %.6g.\n",
        (long long)a->sums, a->sums == 1 ? "" : "s", confidence);
}

static mfpg_status audit_transcript(cli_call *call, const settings *chosen) {
    mfpg_transcript_audit found;
    char *text = NULL;
    if (call->arguments > 0 || call->assignments > 0 || chosen->scores)
        return mfpg_fail(
            call->ctx, MFPG_ERR_INPUT, "--transcript audits one file, and no configuration and no scores");
    mfpg_status status = mfpg_audit_transcript(
        call->ctx, chosen->transcript, chosen->seed_bits, chosen->audit.confidence, &found);
    if (status != MFPG_OK) return status;
    if (!found.stands) call->code = CLI_BROKEN_PROMISE;
    if (call->json) status = mfpg_audit_transcript_json(call->ctx, &found, &text);
    if (text) puts(text);
    if (status == MFPG_OK && !text) print_transcript(&found, chosen->audit.confidence);
    free(text);
    free(found.site);
    return status;
}

/* ---- the command ---- */

/* Opens the named configuration, or that of a run. In the second case the result is written into the run's
 * folder, unless arguments change the configuration. */
static mfpg_status open_config(cli_call *call, settings *chosen, mfpg_config **out) {
    char *name = call->argument[0];
    if (!name) return mfpg_fail(call->ctx, MFPG_ERR_INPUT, "no configuration; try: mfpg audit clinics");
    if (!cli_is_run_folder(name)) return cli_open_config(call, out);
    mfpg_status status = cli_config_of_run(call, name, out);
    if (status != MFPG_OK || chosen->out || call->assignments > 0)
        return status == MFPG_OK ? cli_assign(call, *out) : status;
    status = cli_may_write_into_run(call, name, "audit.json");
    if (status == MFPG_OK && chosen->inverts) status = cli_may_write_into_run(call, name, "inversion.png");
    if (status == MFPG_OK && !(chosen->out = strdup(name))) status = MFPG_ERR_MEMORY;
    return status;
}

static mfpg_status audit(cli_call *call) {
    settings *chosen = call->options;
    mfpg_config *config = NULL;
    mfpg_experiment *experiment = NULL;
    mfpg_status status = check_options(call, chosen);
    if (status == MFPG_OK && chosen->transcript) return audit_transcript(call, chosen);
    if (status == MFPG_OK && chosen->scores) return audit_scores(call, chosen);
    if (status == MFPG_OK) status = open_config(call, chosen, &config);
    if (status == MFPG_OK && chosen->out) status = cli_may_write_folder(call, chosen->out);
    if (status == MFPG_OK) status = mfpg_experiment_create(call->ctx, config, &experiment);
    if (status == MFPG_OK)
        status = chosen->inverts ? invert(call, chosen, experiment) : attack(call, chosen, experiment);
    mfpg_experiment_destroy(experiment);
    mfpg_config_destroy(config);
    return status;
}

const cli_command command_audit = {
    .list = &list,
    .begin = begin,
    .threads = CLI_OPTION_THREADS,
    .forms = "CONFIG.yaml|EXAMPLE|RUN [KEY=VALUE...]\n--scores IN,OUT\n--transcript FILE",
    .most = 1,
    .doc = "Attacks what a configuration promises each client: thousands of runs on two neighbouring inputs "
           "(or few runs, with many canaries), each with a canary that the clip has to hold and that goes "
           "through the library's own noise, averages and accounts. The last digits of what is released are "
           "read as well: noise that is not on the public grid shows in them. Prints the promise and the "
           "largest privacy loss that the attack proved; 0 if it proved nothing. Nothing private is read but "
           "the clients' row counts, unless --inversion asks for it. RUN is a run folder: the configuration "
           "of that run is attacked, audit.json is written into it, and mfpg report shows it.\vWhat is "
           "proved holds for all clients together with the confidence, at least. An attack that proves less "
           "than the promise is no proof of the promise; one that proves more breaks it. Exit codes: 0 every "
           "promise stands, 1 failed, 2 wrong input, 3 a promise is broken, 130 interrupted.\n",
    .run = audit,
};
