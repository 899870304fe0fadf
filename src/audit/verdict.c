/* Computes what scores prove, and whether a promise holds. */
#include <math.h>

#include "audit_game.h"
#include "base/error.h"
#include "audit_bounds.h"
#include "mfpg/accountant.h"
#include "numerics/special/laws.h"

/* How the alpha of a series is divided: ranks are the main route, guesses are better for broken mechanisms,
 * and only error rates prove something about epsilon without an assumption. */
#define SHARE_RANK     0.85
#define SHARE_ACCURACY 0.10
#define SHARE_DIRECT   0.05

/* The share of one run's alpha for mu; the rest is for epsilon without an assumption. */
#define SHARE_ONE_RUN_MU 0.8

static void claim(mfpg_audit_client *client, double mu, mfpg_audit_route route, mfpg_audit_pattern pattern) {
    if (!(mu > client->mu_lower)) return;
    client->mu_lower = mu;
    client->route = route;
    client->pattern = pattern;
}

/* Splits the runs by arm, in their order, and counts the errors of the threshold 0. Returns the number of
 * runs of arm 0, or -1 for NaN. */
static int64_t split(const mfpg_series *series, const mfpg_verdict_room *room, mfpg_error_counts *errors) {
    int64_t zeros = 0, at[2];
    for (int64_t i = 0; i < series->runs; i++) zeros += series->arm[i] == 0;
    *errors = (mfpg_error_counts){.runs0 = zeros, .runs1 = series->runs - zeros};
    at[0] = 0;
    at[1] = zeros;
    for (int64_t i = 0; i < series->runs; i++) {
        double score = series->score[i];
        if (isnan(score)) return -1;
        int arm = series->arm[i];
        errors->false_positives += arm == 0 && score > 0.0;
        errors->false_negatives += arm == 1 && !(score > 0.0);
        room->plain[at[arm]] = score;
        room->scored[at[arm]++] = (mfpg_scored){score, series->tie[i]};
    }
    return zeros;
}

mfpg_status mfpg_verdict_add(mfpg_context *ctx, const mfpg_series *series, double delta,
    const mfpg_audit_promise *promise, mfpg_verdict_room *room, mfpg_audit_client *client) {
    mfpg_error_counts errors;
    int64_t zeros = split(series, room, &errors);
    if (zeros < 0) return mfpg_fail(ctx, MFPG_ERR_NUMERIC, "a score of the attack is not a number");
    int64_t ones = series->runs - zeros, pairs = zeros < ones ? zeros : ones;
    double rank_alpha = SHARE_RANK * series->alpha;
    if (isnan(promise->mu)) { /* mu does not exist, so pairs are compared with the bound of the certificate */
        int64_t wins = 0;
        for (int64_t i = 0; i < pairs; i++)
            wins += mfpg_scored_compare(&room->scored[zeros + i], &room->scored[i]) > 0;
        double lower = mfpg_proportion_lower(wins, pairs, rank_alpha);
        if (lower > 0.5)
            client->auc_lower = fmax(client->auc_lower, lower); /* a blind guess reaches one half */
    }
    double auc = mfpg_rank_share(room->scored, zeros, room->scored + zeros, ones);
    if (series->pattern == MFPG_PATTERN_CONSTANT) {
        client->auc = auc;
        client->mu_estimate = mfpg_mu_estimate(room->plain, zeros, room->plain + zeros, ones);
    }
    claim(client, mfpg_bound_mu_rank(auc, zeros, ones, rank_alpha), MFPG_ROUTE_RANK, series->pattern);
    int64_t right = series->runs - errors.false_positives - errors.false_negatives;
    claim(client, mfpg_bound_mu_accuracy(right, series->runs, SHARE_ACCURACY * series->alpha),
        MFPG_ROUTE_ACCURACY, series->pattern);
    double direct = mfpg_bound_epsilon_direct(&errors, delta, SHARE_DIRECT * series->alpha);
    client->epsilon_lower_direct = fmax(client->epsilon_lower_direct, direct);
    double tv = mfpg_bound_tv(&errors, SHARE_DIRECT * series->alpha); /* of the same event */
    client->tv_lower = fmax(client->tv_lower, tv);
    return MFPG_OK;
}

mfpg_status mfpg_verdict_add_input(
    mfpg_context *ctx, const mfpg_series *series, mfpg_verdict_room *room, mfpg_audit_client *client) {
    mfpg_error_counts errors;
    int64_t zeros = split(series, room, &errors), ones = series->runs - zeros;
    if (zeros < 0) return mfpg_fail(ctx, MFPG_ERR_NUMERIC, "a score of the input attack is not a number");
    double auc = mfpg_rank_share(room->scored, zeros, room->scored + zeros, ones);
    client->input_mu_lower = mfpg_bound_mu_rank(auc, zeros, ones, series->alpha);
    client->input_mu_estimate = mfpg_mu_estimate(room->plain, zeros, room->plain + zeros, ones);
    return MFPG_OK;
}

void mfpg_verdict_add_rate(double rate, double delta, mfpg_audit_pattern pattern, mfpg_audit_client *client) {
    claim(client, mfpg_bound_rate_mu(rate), MFPG_ROUTE_BET, pattern);
    client->epsilon_lower_direct = mfpg_bound_rate_epsilon(rate, delta);
    client->tv_lower = mfpg_bound_rate_tv(rate);
}

void mfpg_verdict_add_one_run(double delta, double alpha, mfpg_audit_pattern pattern, mfpg_audit_client *c) {
    double mu_alpha = SHARE_ONE_RUN_MU * alpha, epsilon_alpha = alpha - mu_alpha;
    c->ceiling = mfpg_bound_one_run_mu(c->canaries, c->guesses, c->guesses, mu_alpha);
    claim(
        c, mfpg_bound_one_run_mu(c->canaries, c->guesses, c->correct, mu_alpha), MFPG_ROUTE_ONE_RUN, pattern);
    c->epsilon_lower_direct =
        mfpg_bound_one_run_epsilon(c->canaries, c->guesses, c->correct, delta, epsilon_alpha);
}

void mfpg_verdict_plan_one_run(double alpha, mfpg_audit_client *client) {
    double mu = isfinite(client->mu) ? client->mu : mfpg_bound_rate_mu(0.5 + 0.5 * client->distance);
    double mu_alpha = SHARE_ONE_RUN_MU * alpha;
    client->guesses = mfpg_bound_one_run_guesses(client->canaries, mu, mu_alpha);
    client->expected = mfpg_bound_one_run_expected(client->canaries, client->guesses, mu, mu_alpha);
    if (client->guesses == 0) client->guesses = client->canaries; /* nothing is to be hoped for */
}

mfpg_audit_client mfpg_verdict_start(const mfpg_audit_promise *promise) {
    return (mfpg_audit_client){.mu = promise->mu,
        .epsilon = promise->epsilon,
        .auc = NAN,
        .auc_cap = promise->auc_cap,
        .auc_lower = isnan(promise->mu) ? 0.0 : (double)NAN,
        .distance = promise->distance,
        .paper_delta = promise->paper_delta,
        .round_mu = promise->round_mu,
        .round_mu_lower = isnan(promise->round_mu) ? (double)NAN : 0.0,
        .gradient_norm = NAN,
        .clip_factor = NAN,
        .input_mu_lower = NAN,
        .input_mu_estimate = NAN,
        .input_gradient = NAN,
        .input_clip_factor = NAN,
        .ceiling = NAN,
        .expected = NAN};
}

/* NaN compares as false: what is not promised or was not audited breaks nothing. An infinite promise always
 * holds. */
void mfpg_verdict_close(double delta, mfpg_audit_client *client) {
    client->epsilon_lower = mfpg_below(mfpg_gdp_epsilon(client->mu_lower * (1.0 - 1e-11), delta), 0.0);
    client->stands = !(client->mu_lower > client->mu || client->epsilon_lower_direct > client->epsilon ||
                       client->tv_lower > client->distance || client->auc_lower > client->auc_cap ||
                       client->round_mu_lower > client->round_mu || client->input_mu_lower > client->mu);
}
