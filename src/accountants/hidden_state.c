/* What the last state alone reveals (theory S2.3): Gaussian DP whose parameter follows from the greatest
 * convex minorant. A release states the effect of its round on the hidden state. If it does not, or the
 * promise is about another view, this round and all earlier ones count as seen, and compose. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "gdp.h"

typedef struct hidden_state {
    mfpg_adjacency adjacency;
    int credit;       /* 1: the promise is about the last state alone */
    square_sum seen;  /* mu^2 of all releases up to the last round that states no effect */
    square_sum later; /* mu^2 of the later rounds, if they were seen too */
    /* count entries: the later rounds as hidden ones; equal neighbours share an entry */
    mfpg_hidden_step *run;
    ptrdiff_t count, room;
} hidden_state;

static mfpg_status start(mfpg_context *ctx, void *state, const mfpg_accountant_options *options) {
    (void)ctx;
    hidden_state *h = state;
    h->adjacency = options->promise.adjacency;
    h->credit = options->promise.view == MFPG_VIEW_FINAL;
    return MFPG_OK;
}

static void finish(void *state) {
    free(((hidden_state *)state)->run);
}

static int copy(const void *state, void *out) {
    const hidden_state *from = state;
    hidden_state *to = out;
    to->room = from->count;
    to->run = mfpg_alloc(from->count, sizeof *to->run);
    if (!to->run) return 0;
    if (from->count > 0) memcpy(to->run, from->run, (size_t)from->count * sizeof *to->run);
    return 1;
}

static mfpg_status append(mfpg_context *ctx, hidden_state *h, const mfpg_hidden_step *step) {
    mfpg_hidden_step *last = h->count > 0 ? &h->run[h->count - 1] : NULL;
    if (last && last->contraction == step->contraction && last->shift == step->shift &&
        last->noise_sd == step->noise_sd && last->times <= (INT64_C(1) << 53) - step->times) {
        last->times += step->times;
        return MFPG_OK;
    }
    if (h->count == h->room) {
        ptrdiff_t room = h->room ? 2 * h->room : 4;
        mfpg_hidden_step *larger = mfpg_resize(h->run, room, sizeof *larger);
        if (!larger) return mfpg_fail_memory(ctx);
        h->run = larger;
        h->room = room;
    }
    h->run[h->count++] = *step;
    return MFPG_OK;
}

static mfpg_status record(mfpg_context *ctx, void *state, const mfpg_release *release, int64_t times) {
    hidden_state *h = state;
    double mu = mfpg_release_mu(release, h->adjacency);
    double doubled = h->adjacency == MFPG_ADJACENCY_REPLACE ? 2.0 : 1.0;
    if (!h->credit || release->hidden_contraction == 0.0) {
        square_sum_merge(&h->seen, &h->later);
        square_sum_add_times(&h->seen, mu, times);
        h->later = (square_sum){0};
        h->count = 0;
        return MFPG_OK;
    }
    square_sum_add_times(&h->later, mu, times);
    const mfpg_hidden_step step = {
        release->hidden_contraction, doubled * release->hidden_shift, release->last_sd, times};
    return append(ctx, h, &step);
}

/* Computes the smaller of the cost of the rounds when hidden and their cost when all are seen. If memory
 * runs out it is the latter, and the status says so. */
static mfpg_status find_mu(const hidden_state *h, double *mu) {
    square_sum all = h->seen, some = h->seen;
    double hidden;
    square_sum_merge(&all, &h->later);
    *mu = square_sum_root_up(&all);
    if (h->count == 0) return MFPG_OK;
    if (mfpg_hidden_mu(NULL, h->run, h->count, 0.0, &hidden) == MFPG_ERR_MEMORY) return MFPG_ERR_MEMORY;
    square_sum_add(&some, hidden);
    *mu = fmin(*mu, square_sum_root_up(&some));
    return MFPG_OK;
}

static double mu_of(const void *state) {
    double mu;
    find_mu(state, &mu);
    return mu;
}

static mfpg_status answer(
    mfpg_context *ctx, const void *state, const mfpg_question *asked, mfpg_bounds *out) {
    const hidden_state *h = state;
    double mu;
    if (find_mu(h, &mu) != MFPG_OK) return mfpg_fail_memory(ctx);
    gdp_answer(gdp_mu_under(mu, h->adjacency, asked->adjacency), 1, asked, out);
    return MFPG_OK;
}

static int covers(const void *state, const void *less) {
    return mu_of(state) >= mu_of(less);
}

const mfpg_accountant_ops mfpg_accountant_hidden_state = {
    .name = "hidden-state",
    .help = "Gaussian DP of the last model alone, if a declared assumption makes the rounds forget",
    .certifies = 1,
    .facts = MFPG_ACCOUNTANT_CREDITS_FORGETTING,
    .state_size = sizeof(hidden_state),
    .record = record,
    .answer = answer,
    .start = start,
    .finish = finish,
    .copy = copy,
    .mu = mu_of,
    .covers = covers,
};
