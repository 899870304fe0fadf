/* mfpg audit --inversion: examples rebuilt from one update, at levels of noise. */
#include "audit_inversion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "interrupt.h"
#include "progress.h"

enum {
    OPTION_INVERSION = 0x2100,
    OPTION_EXAMPLES,
    OPTION_BATCH,
    OPTION_CANDIDATES,
    OPTION_TRIALS,
    OPTION_ITERATIONS,
    OPTION_WIDTH
};

static const struct argp_option options[] = {{0, 0, 0, 0, "Gradient inversion:", 10},
    {"inversion", OPTION_INVERSION, 0, 0,
        "Instead of canaries: rebuilds examples of the client that is least protected from one of its "
        "updates, at levels of noise from none to the configured one. Reads private data",
        10},
    {"examples", OPTION_EXAMPLES, "N", 0, "Examples that are attacked (default 40)", 10},
    {"batch", OPTION_BATCH, "N", 0, "Examples in one update (default 1)", 10},
    {"candidates", OPTION_CANDIDATES, "N", 0,
        "One of so many is the client's, and is to be told (default 100)", 10},
    {"trials", OPTION_TRIALS, "N", 0, "Guesses among them at every level (default 400)", 10},
    {"iterations", OPTION_ITERATIONS, "N", 0,
        "Of the attack by optimisation (default 300); 0: the closed form alone", 10},
    {"width", OPTION_WIDTH, "N", 0,
        "The features of an example are a picture of this width (default: pictures of format idx are square)",
        10},
    {0}};

static int is_examples(double value) {
    return value >= 1 && value <= 10000 && value == floor(value);
}

static int is_batch(double value) {
    return value >= 1 && value <= 64 && value == floor(value);
}

static int is_candidates(double value) {
    return value >= 2 && value <= 10000 && value == floor(value);
}

static int is_trials(double value) {
    return value >= 1 && value <= 1e6 && value == floor(value);
}

static int is_iterations(double value) {
    return value >= 0 && value <= 1e5 && value == floor(value);
}

static int is_width(double value) {
    return value >= 1 && value <= 32768 && value == floor(value);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    static const struct {
        const char *name;
        int (*allowed)(double value);
        const char *words;
    } numbers[] = {{"examples", is_examples, "a whole number from 1 to 10000"},
        {"batch", is_batch, "a whole number from 1 to 64"},
        {"candidates", is_candidates, "a whole number from 2 to 10000"},
        {"trials", is_trials, "a whole number from 1 to 1000000"},
        {"iterations", is_iterations, "a whole number from 0 to 100000"},
        {"width", is_width, "a whole number from 1 to 32768"}};
    cli_inversion *chosen = state->input;
    mfpg_inversion_options *o = &chosen->options;
    if (key == OPTION_INVERSION) chosen->asked = 1;
    if (key == ARGP_KEY_END && chosen->given && !chosen->asked)
        cli_wrong_argument(state, "--%s is an option of --inversion, which is not given", chosen->given);
    if (key < OPTION_EXAMPLES || key > OPTION_WIDTH) return key == OPTION_INVERSION ? 0 : ARGP_ERR_UNKNOWN;
    int which = key - OPTION_EXAMPLES;
    double value = cli_number(state, numbers[which].name, text, numbers[which].allowed, numbers[which].words);
    chosen->given = numbers[which].name;
    switch (key) {
    case OPTION_EXAMPLES: o->examples = (ptrdiff_t)value; break;
    case OPTION_BATCH: o->batch = (ptrdiff_t)value; break;
    case OPTION_CANDIDATES: o->candidates = (ptrdiff_t)value; break;
    case OPTION_TRIALS: o->trials = (int64_t)value; break;
    case OPTION_ITERATIONS: o->iterations = (int)value; break;
    default: o->width = (ptrdiff_t)value; break;
    }
    return 0;
}

const struct argp cli_inversion_argp = {.options = options, .parser = parse};

/* ---- printing ---- */

static void show(void *user, int64_t done, int64_t total) {
    progress_show(user, done, total, "parts", 0);
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
    char proved[CLI_TEXT_UP], most[CLI_TEXT_UP];
    printf("\nThe client's example among %td candidates, %lld guesses at each level:\n", s->candidates,
        (long long)s->trials);
    printf("%-24s %8s %10s %10s %10s  verdict\n", "mu", "right", "proved", "at most", "rank");
    for (int i = 0; i < s->levels; i++) {
        const mfpg_inversion_level l = mfpg_inversion_at(inversion, i);
        char what[32];
        snprintf(what, sizeof what, "%.4g%s", l.mu, l.configured ? " (configured)" : "");
        printf("%-24s %8.4g %10s %10s %10g  %s\n", what, l.rate,
            l.lower > 0.0 ? cli_text_down(l.lower, proved) : "0", cli_text_up(l.cap, most), l.median_rank,
            isinf(l.mu) ? "nothing is promised"
            : l.stands  ? "stands"
                        : "BROKEN");
    }
}

static void print_subject(const mfpg_experiment *experiment, const mfpg_inversion_summary *s) {
    printf("Gradient inversion of one local step of client '%s', the least protected; computed on private "
           "data, no certificate "
           "covers it.\n",
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

static int tell(mfpg_context *ctx, const mfpg_experiment *experiment, const cli_inversion *chosen,
    const mfpg_inversion *inversion, const char *out, int json) {
    mfpg_status status = MFPG_OK;
    int pictures = 0, code = mfpg_inversion_summarise(inversion).stands ? CLI_DONE : CLI_BROKEN_PROMISE;
    if (out)
        status =
            mfpg_experiment_write_inversion(ctx, experiment, &chosen->options, inversion, out, &pictures);
    if (status == MFPG_OK && json) {
        char *text = NULL;
        status = mfpg_experiment_inversion_json(ctx, experiment, &chosen->options, inversion, &text);
        if (status == MFPG_OK) puts(text);
        free(text);
    } else if (status == MFPG_OK) {
        print_study(experiment, inversion);
        if (out) printf("\nWritten to %s/audit.json%s\n", out, pictures ? " and inversion.png" : "");
    }
    return status == MFPG_OK ? cli_finish("audit", code) : cli_fail(ctx, "audit", status);
}

int cli_audit_inversion(
    mfpg_context *ctx, const mfpg_experiment *experiment, cli_inversion *chosen, const char *out, int json) {
    progress bar = progress_start();
    mfpg_inversion *inversion = NULL;
    chosen->options.stop = interrupt_watch();
    chosen->options.progress = show;
    chosen->options.progress_user = &bar;
    mfpg_status status = mfpg_experiment_invert(ctx, experiment, &chosen->options, &inversion);
    progress_end(&bar);
    if (status != MFPG_OK) return cli_fail(ctx, "audit", status);
    int code = tell(ctx, experiment, chosen, inversion, out, json);
    mfpg_inversion_destroy(inversion);
    return code;
}
