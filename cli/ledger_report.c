/* How the pricing of a ledger is printed. */
#include "ledger_audit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mfpg/filter.h"

#include "options.h"

enum { SHOWN = 10, NARROW = 20, WIDE = 40 /* of the column of names */ };

static const char *verdict_word(ledger_verdict verdict) {
    return verdict == LEDGER_AGREES ? "agrees" : "none"; /* any other one is refused before it is printed */
}

/* Of all its filters together: at whatever moment one looks, what is shown holds at this delta. */
static double odometer_delta(const audit *all) {
    return isnan(all->options->delta) ? all->header.delta : all->options->delta;
}

/* Of the client that spent most; it needs a mu. */
static mfpg_odometer odometer_of(const audit *all) {
    return mfpg_odometer_read(ledger_mu(all->client), odometer_delta(all));
}

static int same_number(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static int all_alike(const audit *all) {
    const spending *first = all->client;
    for (int64_t i = 1; i < all->header.clients; i++) {
        const spending *other = &all->client[i];
        if (!same_number(ledger_mu(first), ledger_mu(other)) || first->epsilon != other->epsilon ||
            first->delta != other->delta || first->rounds != other->rounds || first->steps != other->steps ||
            first->lowest_rate != other->lowest_rate || first->highest_rate != other->highest_rate)
            return 0;
    }
    return all->header.clients > 1;
}

/* ---- JSON ---- */

static json_t *client_as_json(const audit *all, const spending *client) {
    double rate = client->lowest_rate == client->highest_rate ? client->lowest_rate : (double)NAN;
    return json_pack("{s:I, s:s?, s:o, s:o, s:o, s:I, s:I, s:o}", "client", (json_int_t)client->client,
        "name", ledger_summary_name(&all->beside, client->client), "mu", cli_json_number(ledger_mu(client)),
        "epsilon", cli_json_number(client->epsilon), "delta", cli_json_number(client->delta), "rounds",
        (json_int_t)client->rounds, "steps", (json_int_t)client->steps, "sampling_rate",
        cli_json_number(client->steps > 0 ? rate : (double)NAN));
}

static json_t *clients_as_json(const audit *all) {
    json_t *list = json_array();
    for (int64_t i = 0; i < all->header.clients; i++)
        json_array_append_new(list, client_as_json(all, &all->client[i]));
    return list;
}

static json_t *odometer_as_json(const audit *all) {
    mfpg_odometer read = odometer_of(all);
    if (read.index < 0) return json_null();
    return json_pack("{s:o, s:o, s:o, s:s}", "epsilon", cli_json_number(read.epsilon), "rho",
        cli_json_number(read.rho), "delta", cli_json_number(read.delta), "note", MFPG_ODOMETER_NOTE);
}

static int report_as_json(const audit *all, account_answer *answer) {
    json_t *object = account_json(answer);
    json_object_set_new(object, "seeded", json_boolean(all->header.seeded));
    json_object_set_new(object, "ledger",
        json_pack("{s:I, s:s, s:s}", "lines", (json_int_t)all->end.lines, "chain", all->end.chain, "summary",
            verdict_word(all->verdict)));
    json_object_set_new(object, "odometer", odometer_as_json(all));
    json_object_set_new(object, "one_certificate", json_boolean(all_alike(all)));
    json_object_set_new(object, "clients", clients_as_json(all));
    return cli_json_print("account", object);
}

/* ---- for people ---- */

static void print_end(const audit *all) {
    printf("%-12s %lld lines, chain %s\n", "ledger", (long long)all->end.lines, all->end.chain);
    printf("%-12s %s\n", "summary",
        all->verdict == LEDGER_AGREES
            ? "summary.json beside it names the same end: no line is missing"
            : "none beside it that names an end: lines taken from the ledger's end would not show");
}

static void print_odometer(const audit *all) {
    char epsilon[CLI_TEXT_UP], delta[CLI_TEXT_UP];
    mfpg_odometer read = odometer_of(all);
    if (read.index >= 0)
        printf("%-12s at most epsilon %s at delta %s (%s)\n", "odometer", cli_text_up(read.epsilon, epsilon),
            cli_text_up(odometer_delta(all), delta), MFPG_ODOMETER_NOTE);
}

static void print_rate(const spending *client) {
    if (client->steps == 0)
        printf("-");
    else if (client->lowest_rate == client->highest_rate)
        printf("%g", client->lowest_rate);
    else
        printf("%g to %g", client->lowest_rate, client->highest_rate);
}

static void print_client(const spending *client, const char *who, int width) {
    char a[CLI_TEXT_UP], b[CLI_TEXT_UP], c[CLI_TEXT_UP];
    double mu = ledger_mu(client);
    printf("%-*.*s %-12s %-12s %-12s %-7lld %-8lld ", width, width, who, isnan(mu) ? "-" : cli_text_up(mu, a),
        cli_text_up(client->epsilon, b), cli_text_up(client->delta, c), (long long)client->rounds,
        (long long)client->steps);
    print_rate(client);
    printf("\n");
}

static int64_t shown_clients(const audit *all) {
    return all->header.clients < SHOWN ? all->header.clients : SHOWN;
}

static int name_width(const audit *all) {
    size_t width = NARROW;
    for (int64_t i = 0; i < shown_clients(all); i++) {
        const char *name = ledger_summary_name(&all->beside, all->client[i].client);
        if (name && strlen(name) > width) width = strlen(name);
    }
    return width < WIDE ? (int)width : WIDE;
}

static void print_clients(const audit *all) {
    char who[64];
    int width = all_alike(all) ? NARROW : name_width(all);
    printf("\n%-*s %-12s %-12s %-12s %-7s %-8s %s\n", width, "client", "mu", "epsilon", "delta", "rounds",
        "steps", "rate");
    if (all_alike(all)) {
        snprintf(who, sizeof who, "all %lld alike", (long long)all->header.clients);
        print_client(all->client, who, width);
        return;
    }
    for (int64_t i = 0; i < shown_clients(all); i++) {
        const spending *client = &all->client[i];
        const char *name = ledger_summary_name(&all->beside, client->client);
        snprintf(who, sizeof who, "%lld", (long long)client->client);
        print_client(client, name ? name : who, width);
    }
    if (all->header.clients > SHOWN)
        printf("... and %lld with less; --json lists all\n", (long long)(all->header.clients - SHOWN));
}

int ledger_report(const audit *all, account_answer *answer) {
    if (all->options->json) return report_as_json(all, answer);
    account_print(answer);
    print_end(all);
    print_odometer(all);
    print_clients(all);
    return cli_finish("account", CLI_DONE);
}
