/* mfpg account --ledger: what every client of a run really spent, by Gaussian DP (theory S2.1, S2.2). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "account.h"
#include "options.h"

enum { SHOWN = 10 };

typedef struct spending {
    int64_t client;
    double square; /* sum of mu^2 */
    int64_t rounds;
} spending;

typedef struct audit {
    mfpg_ledger_header header;
    mfpg_adjacency adjacency;
    int own_adjacency; /* 1: the header's */
    int sampled;       /* 1: some release sampled its examples */
    spending *client;  /* header.clients; made at the first release */
} audit;

static mfpg_status prepare(audit *all) {
    if (all->client) return MFPG_OK;
    if (all->own_adjacency) all->adjacency = all->header.promise.adjacency;
    all->client = calloc(all->header.clients > 0 ? (size_t)all->header.clients : 1, sizeof *all->client);
    for (int64_t k = 0; all->client && k < all->header.clients; k++) all->client[k].client = k;
    return all->client ? MFPG_OK : MFPG_ERR_MEMORY;
}

static mfpg_status visit(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    audit *all = user;
    mfpg_status status = prepare(all);
    if (status != MFPG_OK) return status;
    double mu = mfpg_release_mu(release, all->adjacency);
    if (release->sampling_rate < 1) all->sampled = 1;
    for (int64_t k = first; k <= last && k >= 0 && k < all->header.clients; k++) {
        all->client[k].square += mu * mu;
        all->client[k].rounds++;
    }
    return MFPG_OK;
}

/* Root of the sum, above its rounding error: each term and each addition is off by at most 2^-53 of the sum. */
static double mu_of(const spending *client) {
    return sqrt(client->square) * (1 + ((double)client->rounds + 4) * 0x1p-52);
}

static int by_spending(const void *a, const void *b) {
    const spending *x = a, *y = b;
    if (x->square != y->square) return x->square < y->square ? 1 : -1;
    return x->client < y->client ? -1 : 1;
}

/* epsilon and delta of one client as asked: the one that was not given is computed. */
static void promise_of(
    const account_ledger_options *options, double delta, double mu, double *epsilon, double *at) {
    int asks_delta = !isnan(options->epsilon);
    *epsilon = asks_delta ? options->epsilon : mfpg_gdp_epsilon(mu, delta);
    *at = asks_delta ? mfpg_gdp_delta(mu, options->epsilon) : delta;
}

static void fill_answer(
    const audit *all, const account_ledger_options *options, double delta, account_answer *out) {
    out->mu = mu_of(&all->client[0]);
    promise_of(options, delta, out->mu, &out->epsilon, &out->delta);
    double asked = isnan(options->epsilon) ? out->epsilon : out->delta;
    int exact = !all->sampled && all->header.promise.view == MFPG_VIEW_LOCAL;
    out->upper = asked;
    out->lower = !exact ? 0 : isinf(asked) ? asked : asked * (1 - 1e-9);
    out->accountant = "gdp";
    out->adjacency = mfpg_adjacency_name(all->adjacency);
    out->unit = mfpg_unit_name(all->header.promise.unit);
    out->view = mfpg_view_name(all->header.promise.view);
    out->certificate = 1;
    account_assume(out, "the ledger holds every release of the run");
    account_assume(out, "Gaussian noise is ideal up to floating-point rounding");
    if (all->header.promise.view != MFPG_VIEW_LOCAL)
        account_assume(out, "nobody sees more than the view %s", out->view);
    if (all->sampled) account_assume(out, "sampling is not credited: accounted as if everything took part");
    if (all->header.seeded)
        account_assume(out, "the noise came from a seed (seeded: not private) that nobody may know");
}

static json_t *clients_as_json(const audit *all, const account_ledger_options *options, double delta) {
    json_t *list = json_array();
    for (int64_t i = 0; i < all->header.clients; i++) {
        double mu = mu_of(&all->client[i]), epsilon, at;
        promise_of(options, delta, mu, &epsilon, &at);
        json_array_append_new(
            list, json_pack("{s:I, s:o, s:o, s:o, s:I}", "client", (json_int_t)all->client[i].client, "mu",
                      cli_json_number(mu), "epsilon", cli_json_number(epsilon), "delta", cli_json_number(at),
                      "rounds", (json_int_t)all->client[i].rounds));
    }
    return list;
}

static void print_clients(const audit *all, const account_ledger_options *options, double delta) {
    char a[ACCOUNT_TEXT], b[ACCOUNT_TEXT], c[ACCOUNT_TEXT];
    printf("\n%-8s %-12s %-12s %-12s %s\n", "client", "mu", "epsilon", "delta", "rounds");
    for (int64_t i = 0; i < all->header.clients && i < SHOWN; i++) {
        double mu = mu_of(&all->client[i]), epsilon, at;
        promise_of(options, delta, mu, &epsilon, &at);
        printf("%-8lld %-12s %-12s %-12s %lld\n", (long long)all->client[i].client, account_text(mu, a),
            account_text(epsilon, b), account_text(at, c), (long long)all->client[i].rounds);
    }
    if (all->header.clients > SHOWN)
        printf("... and %lld with less; --json lists all\n", (long long)(all->header.clients - SHOWN));
}

static int print(const audit *all, const account_ledger_options *options) {
    double delta = isnan(options->delta) ? all->header.delta : options->delta;
    account_answer answer = {0};
    fill_answer(all, options, delta, &answer);
    if (options->json) {
        json_t *object = account_json(&answer);
        json_object_set_new(object, "seeded", json_boolean(all->header.seeded));
        json_object_set_new(object, "clients", clients_as_json(all, options, delta));
        return cli_json_print("account", object);
    }
    account_print(&answer);
    print_clients(all, options, delta);
    return cli_finish("account", CLI_DONE);
}

int account_ledger(const account_ledger_options *options) {
    audit all = {.own_adjacency = options->adjacency < 0,
        .adjacency = options->adjacency < 0 ? MFPG_ADJACENCY_ZERO_OUT : (mfpg_adjacency)options->adjacency};
    mfpg_context *ctx = cli_context(1);
    mfpg_status status = mfpg_ledger_read(ctx, options->path, &all.header, visit, &all);
    if (status == MFPG_OK) status = prepare(&all); /* a ledger without releases */
    int code = CLI_DONE;
    if (status != MFPG_OK) {
        code = cli_fail(ctx, "account", status);
    } else {
        qsort(all.client, (size_t)all.header.clients, sizeof *all.client, by_spending);
        code = print(&all, options);
    }
    free(all.client);
    mfpg_context_destroy(ctx);
    return code;
}
