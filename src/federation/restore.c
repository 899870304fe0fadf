/* A federation set to the state of an interrupted one. What was released is read from the ledger and goes through the same
 * accountants and filters in the same order as it did then, so that their state is the same to the last bit; the state
 * says only what no ledger holds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "internal.h"
#include "loop_state.h"

/* ---- the ledger again ---- */

/* Lines on their way from the first rank to the others. */
enum { LINES = 128 };
typedef struct passed_line {
    mfpg_release release; /* client is the first of the range */
    int64_t last_client;
} passed_line;
typedef struct parcel {
    int64_t count, is_last;
    passed_line line[LINES];
} parcel;
_Static_assert(sizeof(parcel) % sizeof(int64_t) == 0, "a parcel is words of 64 bits");

typedef struct replay {
    mfpg_context *ctx;
    mfpg_federation *f;
    int64_t last;         /* the round that the state is of */
    int64_t round;        /* of the cohort at hand */
    int64_t last_client;  /* read of it; -1: none yet */
    round_totals totals;  /* of it */
    unsigned char *chose; /* clients: whether it has chosen an action; NULL without acting */
    int (*known)(const void *user, int64_t round, int choice);
    const void *user;
    parcel *parcel; /* several ranks */
} replay;

static mfpg_status fail_ledger(const replay *r, int64_t round, const char *what) {
    return mfpg_fail(r->ctx, MFPG_ERR_INPUT, "ledger, round %lld: %s", (long long)round, what);
}

/* The cohort's releases, all read. */
static mfpg_status end_cohort(replay *r) {
    mfpg_status status = mfpg_federation_record_population(r->ctx, r->f, &r->totals);
    r->totals = (round_totals){0};
    r->last_client = -1;
    return status;
}

static mfpg_release itself(void *user, ptrdiff_t i) {
    (void)i;
    return *(const mfpg_release *)user;
}

static mfpg_status repeat_choice(replay *r, mfpg_release release) {
    mfpg_federation *f = r->f;
    if (!r->chose) return fail_ledger(r, release.round, "a choice of action, which this run does not make");
    r->chose[release.client] = 1;
    mfpg_status status = mfpg_federation_charge(r->ctx, f, itself, &release, 1);
    if (status != MFPG_OK) return status;
    return mfpg_federation_record(r->ctx, f, (ptrdiff_t)release.client, &release);
}

/* Charged and recorded as it was when it was made. The ledger leaves out what a whole run has in common. */
static mfpg_status repeat_update(replay *r, mfpg_release release) {
    mfpg_federation *f = r->f;
    ptrdiff_t k = (ptrdiff_t)release.client;
    mfpg_release plan = mfpg_plan_local(f->plan, k);
    if (r->last_client >= k) return fail_ledger(r, release.round, "clients are not in ascending order");
    r->last_client = k;
    if (f->particles != MFPG_PARTICLES_DATA) release.contraction = plan.contraction;
    release.hidden_contraction = plan.hidden_contraction;
    release.hidden_shift = plan.hidden_shift;
    mfpg_status status = mfpg_federation_charge(r->ctx, f, itself, &release, 1);
    if (status == MFPG_OK) status = mfpg_federation_record(r->ctx, f, k, &release);
    f->client[k].rounds++;
    if (f->noised) f->noised[k] = 1;
    mfpg_round_totals_add(&r->totals, &release, 0.0);
    return status;
}

static mfpg_status repeat_line(replay *r, const mfpg_release *line, int64_t first, int64_t last) {
    mfpg_status status = MFPG_OK;
    int choice = mfpg_release_is_choice(line);
    if (line->round != r->round) status = end_cohort(r);
    r->round = line->round;
    mfpg_release release = *line;
    for (release.client = first; release.client <= last && status == MFPG_OK; release.client++)
        status = choice ? repeat_choice(r, release) : repeat_update(r, release);
    return status;
}

static mfpg_status share_parcel(replay *r) {
    return mfpg_ranks_share(r->ctx, r->parcel, (ptrdiff_t)(sizeof *r->parcel / sizeof(int64_t)));
}

/* The first rank: the line to the others. */
static mfpg_status pass_on(replay *r, const mfpg_release *line, int64_t last) {
    parcel *p = r->parcel;
    if (!p) return MFPG_OK;
    p->line[p->count++] = (passed_line){.release = *line, .last_client = last};
    if (p->count < LINES) return MFPG_OK;
    mfpg_status status = share_parcel(r);
    p->count = 0;
    return status;
}

static mfpg_status visit_line(void *user, const mfpg_release *line, int64_t first, int64_t last) {
    replay *r = user;
    if (line->round > r->last)
        return r->known(r->user, line->round, mfpg_release_is_choice(line))
                   ? MFPG_OK
                   : fail_ledger(r, line->round,
                         "it was written down before the interruption, and nothing is left that shows that "
                         "the same would be released again; what the ledger lists stays released, and only a "
                         "new run can be made");
    mfpg_status status = pass_on(r, line, last);
    return status == MFPG_OK ? repeat_line(r, line, first, last) : status;
}

static mfpg_status repeat_ledger(replay *r, const char *path) {
    mfpg_ledger_header header;
    mfpg_status status = mfpg_ledger_read(r->ctx, path, &header, NULL, NULL, NULL);
    if (status == MFPG_OK && (header.clients != r->f->clients || header.particles != r->f->particles))
        status = mfpg_fail(r->ctx, MFPG_ERR_INPUT, "%s: belongs to another run", path);
    if (status == MFPG_OK) status = mfpg_ledger_read(r->ctx, path, NULL, visit_line, r, NULL);
    if (status == MFPG_OK) status = end_cohort(r);
    if (!r->parcel) return status;
    r->parcel->is_last = 1; /* whatever happened, nobody waits for more */
    mfpg_status shared = share_parcel(r);
    return status == MFPG_OK ? shared : status;
}

/* The other ranks. One that fails still takes what comes. */
static mfpg_status repeat_passed(replay *r) {
    parcel *p = r->parcel;
    mfpg_status status = MFPG_OK, shared;
    do {
        memset(p, 0, sizeof *p);
        if ((shared = share_parcel(r)) != MFPG_OK) return shared;
        for (int64_t i = 0; i < p->count && status == MFPG_OK; i++)
            status = repeat_line(r, &p->line[i].release, p->line[i].release.client, p->line[i].last_client);
    } while (!p->is_last);
    return status == MFPG_OK ? end_cohort(r) : status;
}

/* ---- the state ---- */

static mfpg_status fail_state(mfpg_context *ctx, const mfpg_federation *f, ptrdiff_t k, const char *what) {
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "client '%s': %s", f->data->client[k].name, what);
}

static int same_shape(const mfpg_loop_shape *a, const mfpg_loop_shape *b) {
    return a->clients == b->clients && a->dimension == b->dimension && a->acting == b->acting &&
           a->record_rows == b->record_rows && a->record_cells == b->record_cells;
}

static mfpg_status check_state(mfpg_context *ctx, const mfpg_federation *f, const mfpg_loop_state *s) {
    mfpg_loop_shape own = mfpg_federation_shape(f);
    if (!same_shape(&own, &s->shape))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "a state of %lld clients and %lld parameters; this federation has %td and %td, or another kind "
            "of state",
            (long long)s->shape.clients, (long long)s->shape.dimension, f->clients, f->dimension);
    if (s->round < 0 || s->round > f->options.rounds)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "round %lld of %lld", (long long)s->round, (long long)f->options.rounds);
    for (ptrdiff_t i = 0; i < f->dimension; i++)
        if (!isfinite(s->w[i])) return mfpg_fail(ctx, MFPG_ERR_INPUT, "parameter %td is not finite", i);
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        int64_t stop = s->stopped_before[k];
        if (s->rounds[k] < 0 || s->rounds[k] > s->round || s->nonfinite[k] < 0)
            return fail_state(ctx, f, k, "a count that is none");
        if (stop < 0 || stop > s->round || (stop > 0 && !isfinite(f->options.stop_at_epsilon)))
            return fail_state(ctx, f, k, "stopped in a round in which it could not");
    }
    return MFPG_OK;
}

/* After the ledger was repeated: parameters are released in every round that a client takes part in, records once. */
static mfpg_status set_clients(mfpg_context *ctx, mfpg_federation *f, const mfpg_loop_state *s) {
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        client_state *client = &f->client[k];
        int records = f->particles == MFPG_PARTICLES_DATA;
        if (records ? s->noised[k] != f->noised[k] || s->rounds[k] < client->rounds
                    : s->rounds[k] != client->rounds)
            return fail_state(ctx, f, k, "the ledger counts other rounds for it");
        client->rounds = (int32_t)s->rounds[k];
        client->nonfinite = s->nonfinite[k];
        client->stopped_before = (int32_t)s->stopped_before[k];
    }
    return MFPG_OK;
}

static mfpg_status set_records(mfpg_context *ctx, mfpg_federation *f, const mfpg_loop_state *s) {
    const float *x = s->records;
    const double *norm2 = s->norm2;
    if (s->shape.record_rows == 0) return MFPG_OK;
    for (int64_t i = 0; i < s->shape.record_cells; i++)
        if (!isfinite(x[i]))
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "a noised record has an entry that is not finite");
    for (int64_t i = 0; i < s->shape.record_rows; i++)
        if (!(norm2[i] >= 0.0 && isfinite(norm2[i])))
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "the norm of a noised record is none");
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        mfpg_dataset *records = &f->records[k];
        size_t rows = (size_t)records->rows, cells = rows * (size_t)records->features;
        memcpy(records->x, x, cells * sizeof *x);
        memcpy(records->norm2, norm2, rows * sizeof *norm2);
        x += cells;
        norm2 += rows;
    }
    return MFPG_OK;
}

static mfpg_status set_actions(
    mfpg_context *ctx, mfpg_federation *f, const mfpg_loop_state *s, const unsigned char *chose) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t k = 0; chose && k < f->clients && status == MFPG_OK; k++) {
        if (!isfinite(s->loss[k]) || !isfinite(s->gradient[k]))
            return fail_state(ctx, f, k, "a measurement that is not finite");
        f->acting.loss[k] = s->loss[k];
        f->acting.gradient[k] = s->gradient[k];
        if (!chose[k]) continue;
        mfpg_action action = {.control = MFPG_CONTROL_STRENGTH, .strength = {.value = s->action[k]}};
        status = mfpg_plan_change(ctx, f->plan, k, action); /* which refuses what no mechanism can do */
    }
    return status;
}

static mfpg_status set_state(
    mfpg_context *ctx, mfpg_federation *f, const mfpg_loop_state *s, const replay *r) {
    mfpg_status status = set_clients(ctx, f, s);
    if (status == MFPG_OK) status = set_records(ctx, f, s);
    if (status == MFPG_OK) status = set_actions(ctx, f, s, r->chose);
    if (status != MFPG_OK) return status;
    memcpy(f->w, s->w, (size_t)f->dimension * sizeof *f->w);
    f->round = s->round;
    f->certified_round = -1;
    return MFPG_OK;
}

mfpg_status mfpg_federation_restore(mfpg_context *ctx, mfpg_federation *f, const mfpg_loop_state *state,
    const char *ledger, int (*known)(const void *user, int64_t round, int choice), const void *user) {
    replay r = {.ctx = ctx, .f = f, .last = state->round, .known = known, .user = user, .last_client = -1};
    mfpg_status status = check_state(ctx, f, state);
    if (status == MFPG_OK) {
        r.chose = f->options.acting ? mfpg_alloc(f->clients, 1) : NULL;
        r.parcel = f->ranks > 1 ? mfpg_alloc(1, sizeof *r.parcel) : NULL;
        if ((f->options.acting && !r.chose) || (f->ranks > 1 && !r.parcel)) status = mfpg_fail_memory(ctx);
    }
    status = mfpg_ranks_agree(ctx, status);
    if (status == MFPG_OK) status = f->rank == 0 ? repeat_ledger(&r, ledger) : repeat_passed(&r);
    if (status == MFPG_OK) status = set_state(ctx, f, state, &r);
    status = mfpg_ranks_agree(ctx, status);
    free(r.chose);
    free(r.parcel);
    return status;
}
