/* How the price of a ledger is printed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "account.h"
#include "options.h"

enum { SHOWN = 10, NARROW = 20, WIDE = 40 /* of the column of names */ };

/* ---- JSON ---- */

static json_t *client_as_json(const mfpg_ledger_client *client) {
    double rate = client->lowest_rate == client->highest_rate ? client->lowest_rate : (double)NAN;
    return json_pack("{s:I, s:s?, s:o, s:o, s:o, s:I, s:I, s:o}", "client", (json_int_t)client->client,
        "name", client->name, "mu", cli_json_number(client->mu), "epsilon", cli_json_number(client->epsilon),
        "delta", cli_json_number(client->delta), "rounds", (json_int_t)client->rounds, "steps",
        (json_int_t)client->steps, "sampling_rate", cli_json_number(client->steps > 0 ? rate : (double)NAN));
}

static json_t *clients_as_json(const mfpg_ledger_account *ledger) {
    json_t *list = json_array();
    for (int64_t i = 0; i < ledger->clients; i++)
        json_array_append_new(list, client_as_json(&ledger->client[i]));
    return list;
}

static json_t *odometer_as_json(const mfpg_ledger_account *ledger) {
    const mfpg_odometer *read = &ledger->odometer;
    if (read->index < 0) return json_null();
    return json_pack("{s:o, s:o, s:o, s:s}", "epsilon", cli_json_number(read->epsilon), "rho",
        cli_json_number(read->rho), "delta", cli_json_number(read->delta), "note", MFPG_ODOMETER_NOTE);
}

static json_t *file_as_json(const mfpg_ledger_file *file) {
    return json_pack("{s:s, s:I, s:s, s:s}", "file", file->path, "lines", (json_int_t)file->end.lines,
        "chain", file->end.chain, "summary", file->confirmed ? "agrees" : "none");
}

static json_t *files_as_json(const mfpg_ledger_account *ledger) {
    json_t *list = json_array();
    for (ptrdiff_t i = 0; i < ledger->files; i++) json_array_append_new(list, file_as_json(&ledger->file[i]));
    return list;
}

static int report_as_json(const mfpg_answer *answer) {
    const mfpg_ledger_account *ledger = answer->ledger;
    json_t *object = account_json(answer);
    json_object_set_new(object, "seeded", json_boolean(ledger->seeded));
    json_object_set_new(object, "ledger", file_as_json(ledger->file));
    if (ledger->files > 1) json_object_set_new(object, "ledgers", files_as_json(ledger));
    json_object_set_new(object, "epsilon_replace", cli_json_number(ledger->epsilon_replace));
    json_object_set_new(object, "odometer", odometer_as_json(ledger));
    json_object_set_new(object, "one_certificate", json_boolean(ledger->alike));
    json_object_set_new(object, "clients", clients_as_json(ledger));
    return cli_json_print("account", object);
}

/* ---- for people ---- */

static void print_file(const mfpg_ledger_file *file, int several) {
    printf("%-12s %s%s%lld lines, chain %s\n", "ledger", several ? file->path : "", several ? ": " : "",
        (long long)file->end.lines, file->end.chain);
    printf("%-12s %s\n", "summary",
        file->confirmed
            ? "summary.json beside it names the same end: no line is missing"
            : "none beside it that names an end: lines taken from the ledger's end would not show");
}

static void print_record(const mfpg_ledger_account *ledger) {
    char epsilon[CLI_TEXT_UP];
    if (isfinite(ledger->epsilon_replace))
        printf("%-12s one record inside a client is protected at the replace number: epsilon %s\n", "replace",
            cli_text_up(ledger->epsilon_replace, epsilon));
}

static void print_odometer(const mfpg_ledger_account *ledger) {
    char epsilon[CLI_TEXT_UP], delta[CLI_TEXT_UP];
    const mfpg_odometer *read = &ledger->odometer;
    if (read->index >= 0)
        printf("%-12s at most epsilon %s at delta %s (%s)\n", "odometer", cli_text_up(read->epsilon, epsilon),
            cli_text_up(ledger->odometer_delta, delta), MFPG_ODOMETER_NOTE);
}

static void print_rate(const mfpg_ledger_client *client) {
    if (client->steps == 0)
        printf("-");
    else if (client->lowest_rate == client->highest_rate)
        printf("%g", client->lowest_rate);
    else
        printf("%g to %g", client->lowest_rate, client->highest_rate);
}

static void print_client(const mfpg_ledger_client *client, const char *who, int width) {
    char a[CLI_TEXT_UP], b[CLI_TEXT_UP], c[CLI_TEXT_UP];
    double mu = client->mu;
    printf("%-*.*s %-12s %-12s %-12s %-7lld %-8lld ", width, width, who, isnan(mu) ? "-" : cli_text_up(mu, a),
        cli_text_up(client->epsilon, b), cli_text_up(client->delta, c), (long long)client->rounds,
        (long long)client->steps);
    print_rate(client);
    printf("\n");
}

static int64_t shown_clients(const mfpg_ledger_account *ledger) {
    return ledger->clients < SHOWN ? ledger->clients : SHOWN;
}

static int name_width(const mfpg_ledger_account *ledger) {
    size_t width = NARROW;
    for (int64_t i = 0; i < shown_clients(ledger); i++) {
        const char *name = ledger->client[i].name;
        if (name && strlen(name) > width) width = strlen(name);
    }
    return width < WIDE ? (int)width : WIDE;
}

static void print_clients(const mfpg_ledger_account *ledger) {
    char who[64];
    int width = ledger->alike ? NARROW : name_width(ledger);
    printf("\n%-*s %-12s %-12s %-12s %-7s %-8s %s\n", width, "client", "mu", "epsilon", "delta", "rounds",
        "steps", "rate");
    if (ledger->alike) {
        snprintf(who, sizeof who, "all %lld alike", (long long)ledger->clients);
        print_client(ledger->client, who, width);
        return;
    }
    for (int64_t i = 0; i < shown_clients(ledger); i++) {
        const mfpg_ledger_client *client = &ledger->client[i];
        const char *name = client->name;
        snprintf(who, sizeof who, "%lld", (long long)client->client);
        print_client(client, name ? name : who, width);
    }
    if (ledger->clients > SHOWN)
        printf("... and %lld with less; --json lists all\n", (long long)(ledger->clients - SHOWN));
}

int account_print_ledger(const mfpg_answer *answer, int json) {
    if (json) return report_as_json(answer);
    account_print(answer);
    for (ptrdiff_t i = 0; i < answer->ledger->files; i++)
        print_file(&answer->ledger->file[i], answer->ledger->files > 1);
    print_record(answer->ledger);
    print_odometer(answer->ledger);
    print_clients(answer->ledger);
    return cli_finish("account", CLI_DONE);
}
