/* mfpg account --ledger: what every client of a run really spent, by an accountant of its own (theory S2.1, S2.2). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "ledger_audit.h"
#include "options.h"

/* First reading: does any release sample? */
static mfpg_status look_for_sampling(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    (void)first;
    (void)last;
    audit *all = user;
    if (release->sampling_rate < 1) all->sampled = 1;
    if (mfpg_release_is_choice(release)) all->adaptive = 1;
    all->contraction = fmax(all->contraction, release->contraction);
    return MFPG_OK;
}

static const char *fitting_accountant(const audit *all) {
    if (all->header.particles == MFPG_PARTICLES_DATA) return "data-particles";
    return all->sampled && all->header.promise.unit == MFPG_UNIT_EXAMPLE ? "exact" : "gdp";
}

static mfpg_status prepare(audit *all) {
    const account_ledger_options *options = all->options;
    mfpg_accountant_options made = mfpg_accountant_options_default();
    made.promise = all->header.promise;
    if (options->adjacency >= 0) made.promise.adjacency = (mfpg_adjacency)options->adjacency;
    all->adjacency = made.promise.adjacency;
    all->accountant = options->accountant ? options->accountant : fitting_accountant(all);
    all->client = calloc(all->header.clients > 0 ? (size_t)all->header.clients : 1, sizeof *all->client);
    mfpg_status status = all->client ? MFPG_OK : MFPG_ERR_MEMORY;
    for (int64_t k = 0; status == MFPG_OK && k < all->header.clients; k++) {
        all->client[k].client = k;
        status = mfpg_accountant_create(all->ctx, all->accountant, &made, &all->client[k].accountant);
    }
    return status;
}

static void count_release(spending *client, const mfpg_release *release) {
    double rate = release->sampling_rate;
    if (mfpg_release_is_choice(release)) return; /* paid for, but no step of training */
    client->lowest_rate = client->steps > 0 ? fmin(client->lowest_rate, rate) : rate;
    client->highest_rate = client->steps > 0 ? fmax(client->highest_rate, rate) : rate;
    client->steps += release->steps < INT64_MAX - client->steps ? release->steps : INT64_MAX - client->steps;
    client->rounds++;
}

/* Second reading. */
static mfpg_status visit(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    audit *all = user;
    for (int64_t k = first; k <= last && k >= 0 && k < all->header.clients; k++) {
        mfpg_status status = mfpg_accountant_record(all->ctx, all->client[k].accountant, release);
        if (status != MFPG_OK) return status;
        count_release(&all->client[k], release);
    }
    return MFPG_OK;
}

/* The number that was not given; that of the client before where both released the same. */
static mfpg_status ask(audit *all, int64_t k, double delta) {
    spending *client = &all->client[k];
    const spending *before = client - 1;
    client->mu = mfpg_accountant_mu(client->accountant);
    client->epsilon = all->options->epsilon;
    client->delta = delta;
    if (k > 0 && mfpg_accountant_covers(client->accountant, before->accountant) &&
        mfpg_accountant_covers(before->accountant, client->accountant)) {
        client->epsilon = before->epsilon;
        client->delta = before->delta;
        return MFPG_OK;
    }
    return isnan(client->epsilon)
               ? mfpg_accountant_epsilon(all->ctx, client->accountant, delta, &client->epsilon)
               : mfpg_accountant_delta(all->ctx, client->accountant, client->epsilon, &client->delta);
}

/* Most first; delta where epsilon is the same for all, then mu. */
static int by_spending(const void *a, const void *b) {
    const spending *x = a, *y = b;
    if (x->epsilon != y->epsilon) return x->epsilon < y->epsilon ? 1 : -1;
    if (x->delta != y->delta) return x->delta < y->delta ? 1 : -1;
    if (x->mu != y->mu) return x->mu < y->mu ? 1 : -1;
    return x->client < y->client ? -1 : 1;
}

/* Sorts the clients, and asks again, of the one that spent most, for both ends. */
static mfpg_status ask_largest(audit *all) {
    qsort(all->client, (size_t)all->header.clients, sizeof *all->client, by_spending);
    const spending *most = all->client;
    return isnan(all->options->epsilon)
               ? mfpg_accountant_epsilon_bounds(all->ctx, most->accountant, most->delta, &all->largest)
               : mfpg_accountant_delta_bounds(all->ctx, most->accountant, most->epsilon, &all->largest);
}

static mfpg_status ask_all(audit *all) {
    mfpg_status status = mfpg_ledger_read(all->ctx, all->path, NULL, visit, all, &all->end);
    double delta = isnan(all->options->delta) ? all->header.delta : all->options->delta;
    for (int64_t k = 0; status == MFPG_OK && k < all->header.clients; k++) status = ask(all, k, delta);
    return status == MFPG_OK ? ask_largest(all) : status;
}

double ledger_mu(const spending *client) {
    return isinf(client->mu) && isfinite(client->epsilon) ? (double)NAN : client->mu;
}

static void fill_answer(const audit *all, account_answer *out) {
    const spending *most = all->client;
    out->mu = ledger_mu(most);
    out->rdp = (double)NAN;
    out->epsilon = most->epsilon;
    out->delta = most->delta;
    out->upper = all->largest.upper;
    out->lower = all->largest.lower;
    out->accountant = all->accountant;
    out->adjacency = mfpg_adjacency_name(all->adjacency);
    out->unit = mfpg_unit_name(all->header.promise.unit);
    out->view = mfpg_view_name(all->header.promise.view);
    out->certificate = !all->adaptive;
    out->particles = all->header.particles;
    out->contraction = all->contraction;
    if (all->adaptive)
        account_assume(out,
            "actions were chosen from what earlier releases showed: this sum is for display, and what is "
            "certified is the budget of the run's filter (privacy.stop_at_epsilon), nothing where it had "
            "none");
    account_assume(out, "the ledger holds every release of the run");
    account_assume(out, "Gaussian noise is ideal up to floating-point rounding");
    if (all->header.particles == MFPG_PARTICLES_DATA)
        account_assume_records(out);
    else if (all->header.promise.view != MFPG_VIEW_LOCAL)
        account_assume(out, "nobody sees more than the view %s", out->view);
    if (all->header.promise.view == MFPG_VIEW_FINAL && all->header.particles == MFPG_PARTICLES_PARAMETERS)
        account_assume(out, "no credit for hidden states is given from a ledger: charged as if every average "
                            "had been seen, which may be more than the run itself certified");
    if (all->sampled && account_credits_sampling(all->accountant) &&
        all->header.promise.unit == MFPG_UNIT_EXAMPLE)
        account_assume(
            out, "batches were Poisson samples of the recorded rates, and who was in them stays hidden");
    else if (all->sampled)
        account_assume(out, "sampling is not credited: accounted as if everything took part");
    if (all->header.seeded)
        account_assume(out, "the noise came from a seed (seeded: not private) that nobody may know");
}

/* What a ledger is priced by has to be a guarantee. 0, or the exit code. */
static int check_certifies(mfpg_context *ctx, const char *name) {
    mfpg_accountant *probe = NULL;
    mfpg_status status = name ? mfpg_accountant_create(ctx, name, NULL, &probe) : MFPG_OK;
    int certifies = !probe || mfpg_accountant_certifies(probe);
    mfpg_accountant_destroy(probe);
    if (status != MFPG_OK) return cli_fail(ctx, "account", status);
    return certifies ? 0
                     : cli_refuse("account",
                           "--accountant %s certifies nothing; --ledger wants one that does", name);
}

/* A certificate of parameters says nothing about records, nor the other way round (theory S5.4). 0, or the exit code. */
static int check_particles(const audit *all) {
    mfpg_particles known = mfpg_accountant_particles(all->client[0].accountant);
    if (known == all->header.particles) return 0;
    return cli_refuse("account", "%s: the particles of this ledger are %s; accountant %s knows %s only",
        all->path, mfpg_particles_name(all->header.particles), all->accountant, mfpg_particles_name(known));
}

/* Lines that are missing at the end leave a chain without a fault; the run's summary knows where it ended. 0, or the exit
 * code. */
static int check_end(audit *all) {
    long long found = (long long)all->end.lines;
    int64_t recorded;
    all->verdict = ledger_summary_compare(&all->beside, &all->end, &recorded);
    switch (all->verdict) {
    case LEDGER_ALONE:
    case LEDGER_AGREES: return 0;
    case LEDGER_SHORTER:
        return cli_refuse("account",
            "%s: ends after line %lld, but summary.json beside it counts %lld lines: releases are missing at "
            "the end",
            all->path, found, (long long)recorded);
    case LEDGER_LONGER:
        return cli_refuse("account",
            "%s: has %lld lines, but summary.json beside it counts %lld: it is not the ledger of that run, "
            "or "
            "lines were added",
            all->path, found, (long long)recorded);
    case LEDGER_REWRITTEN: break;
    }
    return cli_refuse("account",
        "%s: its last chain value is %s, but summary.json beside it names another: the ledger or the summary "
        "was rewritten",
        all->path, all->end.chain);
}

static int price(audit *all) {
    int code = check_certifies(all->ctx, all->options->accountant);
    if (code) return code;
    mfpg_status status = mfpg_ledger_read(all->ctx, all->path, &all->header, look_for_sampling, all, NULL);
    if (status == MFPG_OK) status = prepare(all);
    if (status == MFPG_OK) code = check_particles(all);
    if (code) return code;
    if (status == MFPG_OK) status = ask_all(all);
    if (status != MFPG_OK) return cli_fail(all->ctx, "account", status);
    code = check_end(all);
    if (code) return code;
    account_answer answer = {0};
    fill_answer(all, &answer);
    return ledger_report(all, &answer);
}

int account_ledger(const account_ledger_options *options) {
    audit all = {.options = options, .ctx = cli_context(1), .path = ledger_path(options->path)};
    if (all.path) all.beside = ledger_summary_read(all.path);
    int code = all.path ? price(&all) : cli_fail(all.ctx, "account", MFPG_ERR_MEMORY);
    for (int64_t k = 0; all.client && k < all.header.clients; k++)
        mfpg_accountant_destroy(all.client[k].accountant);
    free(all.client);
    free(all.path);
    ledger_summary_clear(&all.beside);
    mfpg_context_destroy(all.ctx);
    return code;
}
