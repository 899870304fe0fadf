/* The secure sum, simulated: in every round all members and the server play the protocol of mfpg/secure_sum.h in this
 * process, with the integers that the clients would send. It changes no model; it shows what the protocol takes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "federation_core.h"
#include "mfpg/secure_sum.h"

/* One client in the protocol of a round. */
typedef struct party {
    mfpg_sum_client *client; /* NULL: it is no member */
    const int64_t *share;
    mfpg_bytes answer;
    int64_t bytes;  /* sent so far */
    double seconds; /* CPU of the client */
    double serving; /* CPU of the server for its messages */
} party;

struct secure_round {
    mfpg_roster roster;
    mfpg_identity *identity; /* clients */
    party *party;            /* clients */
    mfpg_sum_share *share;   /* clients */
    unsigned char *survives; /* MFPG_SUM_MOST flags */
    mfpg_survivors *known;   /* clients */
    int64_t *vector;         /* clients x dimension: what each member of the round sends */
    unsigned char run[32];
    mfpg_sum_terms terms;
    mfpg_sum_server *server;
    mfpg_sum_step step;
    mfpg_sum_cost cost;
};

/* ---- before the first round ---- */

static mfpg_status refuse(mfpg_context *ctx, const char *key, const char *why, ptrdiff_t value) {
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "secure_sum.%s: found %td; %s", key, value, why);
}

static mfpg_status check_dropouts(mfpg_context *ctx, const mfpg_federation *f) {
    const mfpg_sum_options *sum = &f->options.sum;
    for (ptrdiff_t i = 0; i < sum->dropouts; i++) {
        const mfpg_dropout *d = &sum->dropout[i];
        if (d->round < 1 || d->round > f->options.rounds)
            return refuse(ctx, "dropouts", "there is no such round", (ptrdiff_t)d->round);
        if (d->client < 0 || d->client >= f->clients)
            return refuse(ctx, "dropouts", "there is no such client", d->client);
    }
    return MFPG_OK;
}

static mfpg_status check(mfpg_context *ctx, const mfpg_federation *f) {
    const mfpg_federation_options *o = &f->options;
    ptrdiff_t n = o->clients_per_round ? o->clients_per_round : f->clients;
    ptrdiff_t t = o->sum.threshold, c = o->sum.colluders, honest = 0;
    for (ptrdiff_t k = 0; k < f->clients; k++) honest += !o->colluder || !o->colluder[k];
    const ptrdiff_t named = n > honest ? n - honest : 0; /* members of every round, or more */
    if (o->promise.view != MFPG_VIEW_AVERAGE || !f->shares)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "secure_sum.run: a secure sum adds updates that are noised on a grid: it needs privacy.view "
            "average, and noise on "
            "parameters that no projection follows");
    if (!o->sum.simulate) return check_dropouts(ctx, f);
    if (f->clients < MFPG_SUM_LEAST || f->clients > MFPG_SUM_MOST)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "secure_sum.run: the federation has %td clients; a secure sum has 3 to 255", f->clients);
    if (f->ranks > 1)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "secure_sum.run: simulate plays all clients in one process; with several processes allowed: "
            "none");
    if (c < 0 || c + named > n - 2)
        return refuse(ctx, "colluders",
            "of n members at most n - 2 may collude, those named in privacy.colluders included, or nobody is "
            "left to hide behind",
            c);
    if (o->participants && c < 1)
        return refuse(ctx, "colluders",
            "with privacy.observers participants at least 1, since whoever watches may work with the server",
            c);
    if (t != 0 && (t > n || 2 * t <= n + c + named))
        return refuse(ctx, "threshold",
            "it must be above (n + c)/2 and at most n, of n members and c colluders, those named in "
            "privacy.colluders included; 0 is the smallest",
            t);
    if (!mfpg_plan_sum_threshold(f->plan, n, named))
        return refuse(ctx, "colluders", "no threshold above (n + c)/2 is at most n, of n members", c);
    return check_dropouts(ctx, f);
}

/* Names and fresh keys of the clients, as a roster. */
static mfpg_status enrol(mfpg_context *ctx, mfpg_federation *f) {
    secure_round *s = f->secure;
    enum { LINE = 8 + 1 + 64 + 1 };
    char text[MFPG_SUM_MOST * LINE + 1], key[65];
    size_t used = 0;
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        mfpg_status status = mfpg_identity_create(ctx, &s->identity[k]);
        if (status != MFPG_OK) return status;
        sodium_bin2hex(key, sizeof key, s->identity[k].public_key, sizeof s->identity[k].public_key);
        used += (size_t)snprintf(text + used, sizeof text - used, "%td %s\n", k, key);
    }
    return mfpg_roster_read(ctx, text, used, "the simulated roster", &s->roster);
}

mfpg_status mfpg_federation_prepare_sum(mfpg_context *ctx, mfpg_federation *f) {
    const mfpg_sum_options *sum = &f->options.sum;
    if (!sum->simulate && sum->dropouts == 0) return MFPG_OK;
    mfpg_status status = check(ctx, f);
    if (status != MFPG_OK) return status;
    if (sum->dropouts > 0) f->dropped = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients, 1));
    secure_round *s = sum->simulate ? mfpg_pool_own(&f->kept, mfpg_alloc(1, sizeof *s)) : NULL;
    if (s) {
        s->identity = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients, sizeof *s->identity));
        s->party = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients, sizeof *s->party));
        s->share = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients, sizeof *s->share));
        s->survives = mfpg_pool_own(&f->kept, mfpg_alloc(MFPG_SUM_MOST, 1));
        s->known = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients, sizeof *s->known));
        s->vector = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients * f->dimension, sizeof *s->vector));
    }
    if (f->kept.failed) return mfpg_fail_memory(ctx);
    if (!s) return MFPG_OK;
    f->secure = s;
    crypto_generichash(s->run, sizeof s->run, f->key.bytes, sizeof f->key.bytes,
        (const unsigned char *)"mfpg run of secure sums", 23);
    for (int i = 0; i < 6; i++) f->sum_run = 256 * f->sum_run + s->run[i];
    return enrol(ctx, f);
}

void mfpg_federation_clear_sum(mfpg_federation *f) {
    if (!f->secure) return;
    if (f->secure->identity)
        sodium_memzero(f->secure->identity, (size_t)f->clients * sizeof *f->secure->identity);
    mfpg_roster_clear(&f->secure->roster);
}

mfpg_sum_cost mfpg_federation_sum_cost(const mfpg_federation *f) {
    return f->secure && f->cohort_size > 0 ? f->secure->cost : (mfpg_sum_cost){0};
}

/* ---- a round ---- */

void mfpg_federation_keep_share(mfpg_federation *f, ptrdiff_t member, const int64_t *share) {
    if (f->secure)
        memcpy(f->secure->vector + member * f->dimension, share, (size_t)f->dimension * sizeof *share);
}

/* A public bound on the entries of a share, so that the bits of the sum suffice: twice what data and noise of all steps can
 * add, for optimisers with a memory, and the way that the pull of a prior can take the public model. */
static double bound_of(const mfpg_federation *f, const mfpg_release *r, double largest) {
    double steps = (double)r->steps, bound = r->sensitivity;
    if (r->unit == MFPG_UNIT_EXAMPLE)
        bound *= r->sampling_rate * (double)f->data->client[r->client].train.rows;
    return 2.0 * (steps * bound + 9.0 * sqrt(steps) * r->noise_sd) + 3.0 * largest;
}

static mfpg_status set_terms(mfpg_context *ctx, mfpg_federation *f) {
    secure_round *s = f->secure;
    double largest = 0.0;
    for (ptrdiff_t i = 0; i < f->dimension; i++) largest = fmax(largest, fabs((double)f->w[i]));
    memset(s->survives, 0, MFPG_SUM_MOST);
    memset(s->share, 0, (size_t)f->clients * sizeof *s->share);
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        if (f->terms.view.share[k].weight == 0.0) continue; /* no member */
        mfpg_release r = mfpg_federation_release(f, &f->terms, k);
        s->share[k] = (mfpg_sum_share){r.weight, r.noise_sd, bound_of(f, &r, largest)};
    }
    for (ptrdiff_t i = 0; i < f->cohort_size; i++) s->survives[mfpg_federation_member(f, i)] = 1;
    s->terms = (mfpg_sum_terms){.round = f->round + 1,
        .attempt = 1,
        .threshold = f->terms.view.threshold,
        .colluders = f->terms.view.colluders,
        .dimension = f->dimension,
        .grid = f->plan->grid,
        .share = s->share};
    memcpy(s->terms.run, s->run, sizeof s->run);
    s->terms.bits = mfpg_sum_bits(&s->roster, &s->terms);
    if (s->terms.bits > 0) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_NUMERIC, "round %lld: the secure sum does not fit into 64 bits",
        (long long)f->round + 1);
}

static mfpg_status hand_over(mfpg_context *ctx, void *user, const mfpg_sum_terms *terms,
    const unsigned char *members, int64_t *vector) {
    (void)ctx;
    (void)members;
    memcpy(vector, ((const party *)user)->share, (size_t)terms->dimension * sizeof *vector);
    return MFPG_OK;
}

static mfpg_status start_clients(mfpg_context *ctx, mfpg_federation *f) {
    secure_round *s = f->secure;
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < f->cohort_size; i++)
        s->party[mfpg_federation_member(f, i)].share = s->vector + i * f->dimension;
    for (ptrdiff_t k = 0; k < f->clients && status == MFPG_OK; k++) {
        const mfpg_sum_client_options options = {.roster = &s->roster,
            .identity = &s->identity[k],
            .threshold = s->terms.threshold,
            .colluders = s->terms.colluders,
            .own = s->share[k],
            .dimension = f->dimension,
            .release = hand_over,
            .user = &s->party[k]};
        if (s->share[k].weight > 0.0) status = mfpg_sum_client_create(ctx, &options, &s->party[k].client);
    }
    return status;
}

/* Lets client k answer the server. Who drops out does so before its share is sent. */
static mfpg_status answer(mfpg_context *ctx, ptrdiff_t k, int worker, void *arg) {
    (void)worker;
    secure_round *s = arg;
    party *own = &s->party[k];
    mfpg_bytes message = {0};
    if (!own->client || (s->step >= MFPG_SUM_MASKED && !s->survives[k])) return MFPG_OK;
    double begun = mfpg_clock_cpu_seconds();
    mfpg_status status = mfpg_sum_server_ask(ctx, s->server, k, &message);
    double asked = mfpg_clock_cpu_seconds();
    if (status == MFPG_OK)
        status = mfpg_sum_client_answer(ctx, own->client, message.data, message.size, &own->answer);
    own->serving += asked - begun;
    own->seconds += mfpg_clock_cpu_seconds() - asked;
    own->bytes += (int64_t)own->answer.size;
    mfpg_bytes_clear(&message);
    return status;
}

static mfpg_status take_answers(mfpg_context *ctx, mfpg_federation *f) {
    secure_round *s = f->secure;
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        mfpg_bytes *sent = &s->party[k].answer;
        if (sent->size > 0 && status == MFPG_OK)
            status = mfpg_sum_server_take(ctx, s->server, sent->data, sent->size, NULL);
        mfpg_bytes_clear(sent);
    }
    return status == MFPG_OK ? mfpg_sum_server_advance(ctx, s->server, &s->step) : status;
}

static mfpg_status play(mfpg_context *ctx, mfpg_federation *f, int64_t *result) {
    secure_round *s = f->secure;
    mfpg_status status = set_terms(ctx, f);
    if (status == MFPG_OK) status = start_clients(ctx, f);
    double begun = mfpg_clock_cpu_seconds(), seconds = 0.0;
    if (status == MFPG_OK) status = mfpg_sum_server_create(ctx, &s->roster, &s->terms, &s->server);
    seconds += mfpg_clock_cpu_seconds() - begun;
    for (s->step = MFPG_SUM_KEYS; status == MFPG_OK && s->step != MFPG_SUM_DONE;) {
        status = mfpg_tasks_run(ctx, f->clients, answer, s);
        begun = mfpg_clock_cpu_seconds();
        if (status == MFPG_OK) status = take_answers(ctx, f);
        seconds += mfpg_clock_cpu_seconds() - begun;
    }
    begun = mfpg_clock_cpu_seconds();
    if (status == MFPG_OK) status = mfpg_sum_server_sum(ctx, s->server, result, NULL);
    s->cost = (mfpg_sum_cost){.server_seconds = seconds + mfpg_clock_cpu_seconds() - begun};
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        party *own = &s->party[k];
        s->cost.server_seconds += own->serving;
        s->cost.client_seconds = fmax(s->cost.client_seconds, own->seconds);
        if (own->bytes > s->cost.bytes) s->cost.bytes = own->bytes;
        mfpg_sum_client_destroy(own->client);
        mfpg_bytes_clear(&own->answer);
        *own = (party){0};
    }
    mfpg_sum_server_destroy(s->server);
    s->server = NULL;
    return status;
}

static mfpg_status list_survivors(mfpg_context *ctx, mfpg_federation *f) {
    secure_round *s = f->secure;
    for (ptrdiff_t i = 0; i < f->cohort_size; i++) {
        ptrdiff_t k = mfpg_federation_member(f, i);
        mfpg_release r = mfpg_federation_release(f, &f->terms, k);
        s->known[i] = (mfpg_survivors){.round = r.round,
            .attempt = r.attempt,
            .client = k,
            .survivors = f->cohort_size,
            .last_sd = mfpg_view_survived_sd(&f->terms.view, &r, s->survives)};
    }
    return f->ledger ? mfpg_ledger_survivors(ctx, f->ledger, s->known, f->cohort_size) : MFPG_OK;
}

mfpg_status mfpg_federation_sum_securely(mfpg_context *ctx, mfpg_federation *f, const mfpg_fixed_sum *sum) {
    if (!f->secure || f->watch)
        return MFPG_OK; /* who watches every update needs no protocol that hides them */
    int64_t *result = mfpg_alloc(f->dimension, sizeof *result);
    mfpg_status status = result ? play(ctx, f, result) : mfpg_fail_memory(ctx);
    if (status == MFPG_OK && memcmp(result, sum->units, (size_t)f->dimension * sizeof *result) != 0)
        status = mfpg_fail(ctx, MFPG_ERR_NUMERIC,
            "round %lld: the sum left the range of the %d bits of a secure sum; a smaller step may help",
            (long long)f->round + 1, f->secure->terms.bits);
    free(result);
    return status == MFPG_OK ? list_survivors(ctx, f) : status;
}
