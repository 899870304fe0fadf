/* Saving a federation, and setting one to the state of an interrupted run. The releases are read from the
 * ledger and passed to the same accountants and filters in the same order as originally, so their state is
 * equal to the last bit. The saved state holds only what no ledger contains. */
#include "loop_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "federation_core.h"

const federation_part *const mfpg_federation_parts[MFPG_STATE_PARTS] = {
    [MFPG_STATE_MODEL] = &mfpg_part_model,
    [MFPG_STATE_CLIENTS] = &mfpg_part_clients,
    [MFPG_STATE_RECORDS] = &mfpg_part_records,
    [MFPG_STATE_ACTIONS] = &mfpg_part_actions,
    [MFPG_STATE_SERVER] = &mfpg_part_server,
};

/* ---- one block ---- */

int64_t mfpg_loop_state_bytes(const int64_t bytes[MFPG_STATE_PARTS], int count) {
    int64_t sum = 0;
    for (int i = 0; i < count; i++)
        if (bytes[i] < 0 || bytes[i] % 8 != 0 || __builtin_add_overflow(sum, bytes[i], &sum)) return -1;
    return sum;
}

static int64_t bytes_of(const mfpg_federation *f, int part) {
    return mfpg_federation_parts[part]->bytes(f);
}

void *mfpg_loop_state_part(const mfpg_loop_state *state, int part) {
    return state->block + mfpg_loop_state_bytes(state->bytes, part);
}

mfpg_status mfpg_loop_state_init(mfpg_context *ctx, const mfpg_federation *f, mfpg_loop_state *out) {
    mfpg_loop_state made = {0};
    for (int i = 0; i < MFPG_STATE_PARTS; i++) made.bytes[i] = bytes_of(f, i);
    made.block = mfpg_alloc((ptrdiff_t)mfpg_loop_state_bytes(made.bytes, MFPG_STATE_PARTS), 1);
    if (!made.block) return mfpg_fail_memory(ctx);
    *out = made;
    return MFPG_OK;
}

void mfpg_loop_state_clear(mfpg_loop_state *state) {
    free(state->block);
    *state = (mfpg_loop_state){0};
}

static int gathers(const mfpg_federation *f, int part) {
    return f->ranks > 1 && mfpg_federation_parts[part]->gathers && bytes_of(f, part) > 0;
}

int mfpg_federation_save_gathers(const mfpg_federation *f) {
    int some = 0;
    for (int i = 0; i < MFPG_STATE_PARTS; i++) some = some || gathers(f, i);
    return some;
}

mfpg_status mfpg_federation_save(mfpg_context *ctx, const mfpg_federation *f, mfpg_loop_state *state) {
    mfpg_status status = MFPG_OK;
    state->round = f->round;
    for (int i = 0; i < MFPG_STATE_PARTS && status == MFPG_OK; i++) {
        memset(mfpg_loop_state_part(state, i), 0, (size_t)state->bytes[i]);
        if (state->bytes[i] > 0) mfpg_federation_parts[i]->save(f, mfpg_loop_state_part(state, i));
        if (gathers(f, i))
            status = mfpg_ranks_share(ctx, mfpg_loop_state_part(state, i), (ptrdiff_t)(state->bytes[i] / 8));
    }
    return status;
}

/* ---- the parts that every federation has ---- */

static int64_t model_bytes(const mfpg_federation *f) {
    return ((int64_t)f->dimension * (int64_t)sizeof *f->w + 7) / 8 * 8;
}

static void save_model(const mfpg_federation *f, void *to) {
    memcpy(to, f->w, (size_t)f->dimension * sizeof *f->w);
}

static mfpg_status restore_model(mfpg_context *ctx, mfpg_federation *f, const void *from) {
    memcpy(f->w, from, (size_t)f->dimension * sizeof *f->w);
    for (ptrdiff_t i = 0; i < f->dimension; i++)
        if (!isfinite(f->w[i])) return mfpg_fail(ctx, MFPG_ERR_INPUT, "parameter %td is not finite", i);
    return MFPG_OK;
}

const federation_part mfpg_part_model = {.bytes = model_bytes, .save = save_model, .restore = restore_model};

static int64_t clients_bytes(const mfpg_federation *f) {
    return (int64_t)f->clients * (int64_t)sizeof(mfpg_saved_client);
}

static void save_clients(const mfpg_federation *f, void *to) {
    mfpg_saved_client *saved = to;
    for (ptrdiff_t k = 0; k < f->clients; k++)
        saved[k] =
            (mfpg_saved_client){f->client[k].rounds, f->client[k].nonfinite, f->client[k].stopped_before};
}

/* Parameters are released in every round in which a client takes part, records only once. */
static const char *client_fault(const mfpg_federation *f, ptrdiff_t k, const mfpg_saved_client *s) {
    int64_t released = f->client[k].rounds, stop = s->stopped_before;
    if (s->rounds < 0 || s->rounds > f->round || s->nonfinite < 0) return "a count that is impossible";
    if (stop < 0 || stop > f->round || (stop > 0 && !isfinite(f->options.stop_at_epsilon)))
        return "it stopped in a round in which it could not";
    if (f->records ? s->rounds < released : s->rounds != released)
        return "the ledger counts other rounds for it";
    return NULL;
}

static mfpg_status restore_clients(mfpg_context *ctx, mfpg_federation *f, const void *from) {
    const mfpg_saved_client *saved = from;
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        const char *fault = client_fault(f, k, &saved[k]);
        if (fault) return mfpg_fail(ctx, MFPG_ERR_INPUT, "client '%s': %s", f->data->client[k].name, fault);
        f->client[k].rounds = (int32_t)saved[k].rounds;
        f->client[k].nonfinite = saved[k].nonfinite;
        f->client[k].stopped_before = (int32_t)saved[k].stopped_before;
    }
    return MFPG_OK;
}

const federation_part mfpg_part_clients = {
    .bytes = clients_bytes, .save = save_clients, .restore = restore_clients};

/* ---- the ledger, repeated ---- */

/* Number of ledger lines that the first rank sends to the others at a time. */
enum { LINES = 128 };
typedef struct passed_line {
    mfpg_release release; /* `client` is the first of the range */
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
    int64_t last;        /* the round to which the state belongs */
    int64_t round;       /* of the cohort at hand */
    int64_t last_client; /* the last client read in that round; -1: none yet */
    round_totals totals; /* of it */
    int (*known)(const void *user, int64_t round, int choice);
    const void *user;
    parcel *parcel; /* several ranks */
} replay;

static mfpg_status fail_ledger(const replay *r, int64_t round, const char *what) {
    return mfpg_fail(r->ctx, MFPG_ERR_INPUT, "ledger, round %lld: %s", (long long)round, what);
}

/* Called when all of the cohort's releases have been read. */
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

/* Charges and records a release as originally. What all releases of a run have in common is not in the
 * ledger and is filled in. */
static mfpg_status repeat_release(replay *r, mfpg_release release) {
    mfpg_federation *f = r->f;
    ptrdiff_t k = (ptrdiff_t)release.client;
    int choice = mfpg_release_is_choice(&release);
    if (choice && !f->acting)
        return fail_ledger(r, release.round, "a choice of action, which this run does not make");
    if (choice) {
        f->acting->chose[k] = 1;
    } else {
        mfpg_release plan = mfpg_plan_local(f->plan, k);
        if (r->last_client >= k) return fail_ledger(r, release.round, "clients are not in ascending order");
        r->last_client = k;
        if (!f->records) release.contraction = plan.contraction;
        release.hidden_contraction = plan.hidden_contraction;
        release.hidden_shift = plan.hidden_shift;
    }
    mfpg_status status = mfpg_federation_charge(r->ctx, f, itself, &release, 1);
    if (status == MFPG_OK) status = mfpg_federation_record(r->ctx, f, k, &release);
    if (choice) return status;
    f->client[k].rounds++;
    if (f->records) f->records->is_noised[k] = 1;
    mfpg_round_totals_add(&r->totals, &release, 0.0);
    return status;
}

static mfpg_status repeat_line(replay *r, const mfpg_release *line, int64_t first, int64_t last) {
    mfpg_status status = line->round != r->round ? end_cohort(r) : MFPG_OK;
    mfpg_release release = *line;
    r->round = line->round;
    for (release.client = first; release.client <= last && status == MFPG_OK; release.client++)
        status = repeat_release(r, release);
    return status;
}

static mfpg_status share_parcel(replay *r) {
    return mfpg_ranks_share(r->ctx, r->parcel, (ptrdiff_t)(sizeof *r->parcel / sizeof(int64_t)));
}

/* On the first rank: applies a line to its own state and passes it to the others. */
static mfpg_status visit_line(void *user, const mfpg_release *line, int64_t first, int64_t last) {
    replay *r = user;
    parcel *p = r->parcel;
    mfpg_status status = MFPG_OK;
    if (line->round > r->last)
        return r->known(r->user, line->round, mfpg_release_is_choice(line))
                   ? MFPG_OK
                   : fail_ledger(r, line->round,
                         "it was written down before the interruption, and nothing is left that shows that "
                         "the same would be released again; what the ledger lists stays released, and only a "
                         "new run can be made");
    if (p) p->line[p->count++] = (passed_line){.release = *line, .last_client = last};
    if (p && p->count == LINES) {
        status = share_parcel(r);
        p->count = 0;
    }
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
    r->parcel->is_last = 1; /* set after a failure too, so that no rank waits for more */
    mfpg_status shared = share_parcel(r);
    return status == MFPG_OK ? shared : status;
}

/* On the other ranks: applies what the first rank sends. A rank that fails continues to receive. */
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

/* ---- restoring ---- */

static mfpg_status check_sizes(mfpg_context *ctx, const mfpg_federation *f, const mfpg_loop_state *state) {
    for (int i = 0; i < MFPG_STATE_PARTS; i++)
        if (state->bytes[i] != bytes_of(f, i))
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "part %d of the state has %lld bytes; in this federation of %td clients and %td "
                "parameters it has %lld",
                i + 1, (long long)state->bytes[i], f->clients, f->dimension, (long long)bytes_of(f, i));
    if (state->round >= 0 && state->round <= f->options.rounds) return MFPG_OK;
    return mfpg_fail(
        ctx, MFPG_ERR_INPUT, "round %lld of %lld", (long long)state->round, (long long)f->options.rounds);
}

mfpg_status mfpg_federation_restore(mfpg_context *ctx, mfpg_federation *f, const mfpg_loop_state *state,
    const char *ledger, int (*known)(const void *user, int64_t round, int choice), const void *user) {
    replay r = {.ctx = ctx, .f = f, .last = state->round, .known = known, .user = user, .last_client = -1};
    mfpg_status status = check_sizes(ctx, f, state);
    if (status == MFPG_OK && f->ranks > 1 && !(r.parcel = mfpg_alloc(1, sizeof *r.parcel)))
        status = mfpg_fail_memory(ctx);
    status = mfpg_ranks_agree(ctx, status);
    if (status == MFPG_OK) status = f->rank == 0 ? repeat_ledger(&r, ledger) : repeat_passed(&r);
    f->round = state->round;
    f->certified.round = -1;
    for (int i = 0; i < MFPG_STATE_PARTS && status == MFPG_OK; i++)
        if (state->bytes[i] > 0)
            status = mfpg_federation_parts[i]->restore(ctx, f, mfpg_loop_state_part(state, i));
    status = mfpg_ranks_agree(ctx, status);
    free(r.parcel);
    return status;
}
