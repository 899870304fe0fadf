/* mfpg audit --inversion: examples rebuilt from one update, at levels of noise. */
#include <math.h>
#include <stdlib.h>

#include "audit.h"

static void show(void *user, int64_t done, int64_t total) {
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
    char proved[CLI_TEXT_SIZE], most[CLI_TEXT_SIZE];
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

mfpg_status audit_inversion(cli_call *call, settings *chosen, const mfpg_experiment *experiment) {
    cli_progress bar = cli_progress_start();
    mfpg_inversion *inversion = NULL;
    mfpg_inversion_options *options = &chosen->inversion;
    options->confidence = chosen->audit.confidence;
    options->seed = chosen->audit.seed;
    options->stop = cli_interrupt_watch();
    options->progress = show;
    options->progress_user = &bar;
    mfpg_status status = mfpg_experiment_invert(call->ctx, experiment, options, &inversion);
    cli_progress_end(&bar);
    if (status == MFPG_OK) status = show_inversion(call, chosen, experiment, inversion);
    mfpg_inversion_destroy(inversion);
    return status;
}
