/* What an answer assumes, and how it is printed. */
#include "account.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

/* ---- assumptions ---- */

void account_assume(account_answer *answer, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!answer->assumptions) answer->assumptions = json_array();
    json_array_append_new(answer->assumptions, json_string(text));
}

static void assume_sampling(account_answer *answer, const account_schedule *schedule) {
    if (schedule->rate >= 1) return;
    if (account_credits_sampling(answer->accountant))
        account_assume(answer,
            "Poisson sampling: every %s takes part in a step by a coin of its own, with the sampling rate%s, "
            "and whether it did stays hidden",
            answer->unit, schedule->several_rates ? " of the block" : " given");
    else
        account_assume(answer,
            "sampling rate %g is not credited: accounted as if everything took part in every step",
            schedule->rate);
}

static void assume_contribution(account_answer *answer, const account_settings *chosen) {
    if (account_given(chosen->sensitivity))
        account_assume(
            answer, "a release moves by at most the sensitivity %g that was given", chosen->sensitivity);
    else if (account_given(chosen->mu))
        account_assume(answer, "every step is Gaussian-DP with the mu %g that was given", chosen->mu);
    else
        account_assume(
            answer, "every contribution is clipped to norm %g, flattened", account_or(chosen->clip, 1));
    if (answer->adjacency && chosen->adjacency != ACCOUNT_REPLACE)
        account_assume(answer, "whoever is left out still adds its noise; weights and row counts are public");
}

void account_assume_schedule(
    account_answer *answer, const account_settings *chosen, const account_schedule *schedule) {
    if (!answer->certificate) {
        account_assume(answer, "the paper's formula, for reproduction only: it bounds nothing");
        return;
    }
    account_assume(answer, "Gaussian noise is ideal up to floating-point rounding");
    account_assume(answer, "noise and number of steps are fixed in advance, or public");
    if (strcmp(answer->view, "local") != 0)
        account_assume(answer, "view %s: charged as if every step were seen%s", answer->view,
            chosen->view == MFPG_VIEW_FINAL ? "; --assume says what the steps in between forget" : "");
    assume_contribution(answer, chosen);
    assume_sampling(answer, schedule);
}

/* ---- printing ---- */

/* An infinite epsilon, or a delta of 1, promises nothing, whatever it assumes. */
static int promises(const account_answer *answer) {
    return answer->certificate && isfinite(answer->epsilon) && answer->delta < 1;
}

/* mu where there is one: an answer that is finite although mu is not credits sampling, which has none. */
static double mu_of(const account_answer *answer) {
    return isinf(answer->mu) && promises(answer) ? (double)NAN : answer->mu;
}

json_t *account_json(account_answer *answer) {
    json_t *assumptions = answer->assumptions ? answer->assumptions : json_array();
    answer->assumptions = NULL;
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s?, s:s, s:s, s:o, s:b}", "epsilon",
        cli_json_number(answer->epsilon), "delta", cli_json_number(answer->delta), "mu",
        cli_json_number(mu_of(answer)), "rdp", cli_json_number(answer->rdp), "lower",
        cli_json_number(answer->lower), "upper", cli_json_number(answer->upper), "accountant",
        answer->accountant, "adjacency", answer->adjacency, "unit", answer->unit, "view", answer->view,
        "assumptions", assumptions, "certificate", promises(answer));
    if (answer->particles == MFPG_PARTICLES_DATA)
        json_object_set_new(object, "particles", json_string(mfpg_particles_name(answer->particles)));
    if (answer->hidden || answer->particles == MFPG_PARTICLES_DATA)
        json_object_set_new(object, "contraction", cli_json_number(answer->contraction));
    return object;
}

static void print_number(const char *name, double value) {
    char text[CLI_TEXT_UP];
    if (!isnan(value)) printf("%-12s %s\n", name, cli_text_up(value, text));
}

/* The other end of what was asked for, rounded down, where more is known of it than 0. */
static void print_lower(const account_answer *answer) {
    char text[CLI_TEXT_UP];
    if (promises(answer) && answer->lower > 0)
        printf("%-12s %s\n", "lower end", cli_text_down(answer->lower, text));
}

void account_print(account_answer *answer) {
    print_number("epsilon", answer->epsilon);
    print_number("delta", answer->delta);
    print_number("mu", mu_of(answer));
    print_number("rdp", answer->rdp);
    print_lower(answer);
    printf("%-12s %s\n%-12s %s\n%-12s %s\n%-12s %s\n", "accountant", answer->accountant, "adjacency",
        answer->adjacency ? answer->adjacency : "that of the sensitivity or mu given", "unit", answer->unit,
        "view", answer->view);
    if (answer->particles == MFPG_PARTICLES_DATA)
        printf("%-12s %s\n", "particles", mfpg_particles_name(answer->particles));
    if (answer->hidden) print_number("contraction", answer->contraction);
    printf("%-12s %s\n", "certificate",
        promises(answer)      ? "yes, under these assumptions:"
        : answer->certificate ? "no: nothing is promised, whatever is assumed:"
                              : "no:");
    for (size_t i = 0; i < json_array_size(answer->assumptions); i++)
        printf("  - %s\n", json_string_value(json_array_get(answer->assumptions, i)));
    json_decref(answer->assumptions);
    answer->assumptions = NULL;
}

int account_print_answer(const account_settings *chosen, account_answer *answer) {
    if (chosen->common.json) return cli_json_print("account", account_json(answer));
    account_print(answer);
    return cli_finish("account", CLI_DONE);
}
