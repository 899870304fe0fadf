/* mfpg account --particles data: records that are clipped and noised once (theory S5.2, S5.3). */
#include <math.h>

#include "account.h"
#include "options.h"

#include "mfpg/mechanism.h"

void account_assume_records(account_answer *answer) {
    account_assume(answer, "every record is noised once, before anything else reads it; what is computed "
                           "from the noised records "
                           "is free");
    account_assume(answer, "labels are public: not protected; so is how many records there are");
}

/* A push as it is priced: how far two neighbours lie apart, the first map, the noise. */
typedef struct record_push {
    double distance, contraction, noise_sd;
    double steps;
} record_push;

static int is_entropic(const account_settings *chosen) {
    return !isnan(chosen->strength);
}

/* Returns 0 or the exit code. The sd is rounded down. */
static int fill_push(const account_settings *chosen, record_push *out) {
    double clip = account_or(chosen->clip, 1), doubled = chosen->adjacency == ACCOUNT_REPLACE ? 2 : 1;
    out->distance = account_or(chosen->sensitivity, doubled * clip);
    out->steps = account_or(chosen->steps, 1);
    out->contraction = 1;
    if (!is_entropic(chosen)) { /* the multiplier is over the clip, or with a sensitivity the sd itself */
        out->noise_sd = chosen->noise_multiplier * (isnan(chosen->sensitivity) ? clip : 1);
        return 0;
    }
    double step = account_or(chosen->step, 0.1),
           decay = chosen->strength / account_or(chosen->prior_variance, 1);
    double penalty = account_or(chosen->variance_penalty, 0.01),
           bound = account_or(chosen->input_smoothness, 0);
    if (!(step * (decay + penalty + bound) <= 2))
        return cli_refuse("account",
            "the flow is unstable: step times (strength/prior-variance + variance-penalty + "
            "input-smoothness) is "
            "%g; allowed: up to 2",
            step * (decay + penalty + bound));
    out->contraction = mfpg_flow_contraction(step, decay, penalty, bound);
    out->noise_sd = sqrt(2 * chosen->strength * step);
    if (out->noise_sd > 0) out->noise_sd = nextafter(nextafter(out->noise_sd, 0), 0);
    return 0;
}

static double mu_of(const account_settings *chosen, const record_push *push) {
    if (push->steps == 0) return 0; /* nothing is released */
    if (chosen->exogenous)
        return mfpg_data_exogenous_mu(
            push->distance, push->noise_sd, push->contraction, (int64_t)push->steps);
    const mfpg_release release = {.particles = MFPG_PARTICLES_DATA,
        .steps = 1,
        .sensitivity = push->distance,
        .noise_sd = push->noise_sd,
        .last_sd = push->noise_sd,
        .weight = 1,
        .contraction = push->contraction,
        .sampling_rate = 1};
    return mfpg_data_release_mu(&release, MFPG_ADJACENCY_ZERO_OUT); /* replace is in the distance */
}

static void assume(account_answer *answer, const account_settings *chosen) {
    account_assume(answer, "Gaussian noise is ideal up to floating-point rounding");
    account_assume_records(answer);
    if (isnan(chosen->sensitivity))
        account_assume(
            answer, "the features of every record are clipped to norm %g", account_or(chosen->clip, 1));
    else
        account_assume(answer, "two neighbours differ by at most the sensitivity %g that was given",
            chosen->sensitivity);
    if (!is_entropic(chosen)) return;
    double bound = account_or(chosen->input_smoothness, 0);
    const char *where = chosen->exogenous ? "every model" : "the public first model";
    account_assume(answer, "the loss is convex in the features, with a Hessian of at most %g in them, at %s",
        bound, where);
    if (chosen->exogenous)
        account_assume(answer, "exogenous: only the last state is seen, and the models are public, or "
                               "trained on other people's data "
                               "only and bounded so that the contraction holds at every step");
}

static int check_promise(const account_settings *chosen) {
    if (chosen->adjacency == ACCOUNT_ADD || chosen->adjacency == ACCOUNT_REMOVE)
        return cli_refuse("account", "--adjacency add and remove do not go with --particles data: how many "
                                     "records there are is public; "
                                     "take zero-out or replace");
    if (chosen->unit == MFPG_UNIT_CLIENT && isnan(chosen->sensitivity))
        return cli_refuse("account",
            "--unit client: the n records of a client move by up to sqrt(n) clips together (2 sqrt(n) for "
            "replace); give that as --sensitivity");
    return 0;
}

/* The accountant answers where one is named, so that a wrong name is refused as everywhere else. */
static int check_accountant(mfpg_context *ctx, const char *name) {
    mfpg_accountant *accountant = NULL;
    mfpg_status status = mfpg_accountant_create(ctx, name, NULL, &accountant);
    if (status != MFPG_OK) return cli_fail(ctx, "account", status);
    mfpg_particles known = mfpg_accountant_particles(accountant);
    mfpg_accountant_destroy(accountant);
    return known == MFPG_PARTICLES_DATA
               ? 0
               : cli_refuse("account", "accountant %s knows %s only, not --particles data", name,
                     mfpg_particles_name(known));
}

int account_data(mfpg_context *ctx, const account_settings *chosen) {
    static const char *const adjacencies[] = {"zero-out", "replace"};
    record_push push = {0};
    const char *name = chosen->accountant ? chosen->accountant : "data-particles";
    int code = check_promise(chosen);
    if (!code) code = check_accountant(ctx, name);
    if (!code) code = fill_push(chosen, &push);
    if (code) return code;
    double mu = mu_of(chosen, &push), delta = account_or(chosen->delta, ACCOUNT_DELTA);
    int wants_delta = !isnan(chosen->epsilon);
    double answer_value = wants_delta ? mfpg_gdp_delta(mu, chosen->epsilon) : mfpg_gdp_epsilon(mu, delta);
    account_answer answer = {.epsilon = wants_delta ? chosen->epsilon : answer_value,
        .delta = wants_delta ? answer_value : delta,
        .mu = mu,
        .rdp = (double)NAN,
        .lower = is_entropic(chosen)   ? 0
                 : isinf(answer_value) ? answer_value
                                       : answer_value * (1 - 1e-9),
        .upper = answer_value,
        .accountant = name,
        .adjacency = isnan(chosen->sensitivity) ? adjacencies[chosen->adjacency == ACCOUNT_REPLACE] : NULL,
        .unit = chosen->unit == MFPG_UNIT_CLIENT ? "client" : "example",
        .view = mfpg_view_name(chosen->exogenous ? MFPG_VIEW_FINAL : MFPG_VIEW_LOCAL),
        .particles = MFPG_PARTICLES_DATA,
        .contraction = push.contraction,
        .certificate = 1};
    assume(&answer, chosen);
    return account_print_answer(chosen, &answer);
}
