/* mfpg account and mfpg calibrate: the privacy of a schedule from its numbers alone or of a ledger, and the number with which a
 * schedule meets a target. Options and answers are the library's (mfpg/account.h). */
#include <math.h>
#include <string.h>

#include "mfpg/account.h"

#include "cli.h"

enum { SHOWN = 10 /* clients of a ledger */, NARROW = 20, WIDE = 40 /* of the column of names */ };

/* ---- JSON ---- */

static json_t *assumption_json(const void *answer, ptrdiff_t index) {
    return cli_json_text(((const mfpg_answer *)answer)->assumption[index]);
}

static json_t *client_json(const void *ledger, ptrdiff_t index) {
    const mfpg_ledger_client *client = &((const mfpg_ledger_account *)ledger)->client[index];
    int one_rate = client->steps > 0 && client->lowest_rate == client->highest_rate;
    return cli_json("client:i name:s mu:n epsilon:n delta:n rounds:i steps:i sampling_rate:n "
                    "survived_epsilon:N survived_delta:N spent_epsilon:N spent_delta:N",
        client->client, client->name, client->mu, client->epsilon, client->delta, client->rounds,
        client->steps, one_rate ? client->lowest_rate : (double)NAN, client->survived_epsilon,
        client->survived_delta, client->spent_epsilon, client->spent_delta);
}

static json_t *file_json(const void *ledger, ptrdiff_t index) {
    const mfpg_ledger_file *file = &((const mfpg_ledger_account *)ledger)->file[index];
    return cli_json("file:s lines:i chain:s summary:s", file->path, file->end.lines, file->end.chain,
        file->confirmed ? "agrees" : "none");
}

static json_t *odometer_json(const mfpg_odometer *read) {
    if (read->index < 0) return json_null();
    return cli_json(
        "epsilon:n rho:n delta:n note:s", read->epsilon, read->rho, read->delta, MFPG_ODOMETER_NOTE);
}

static json_t *add_ledger(json_t *object, const mfpg_ledger_account *ledger) {
    object = cli_json_add(object, "seeded:b ledger:o", ledger->seeded, file_json(ledger, 0));
    if (ledger->files > 1)
        object = cli_json_add(object, "ledgers:o", cli_json_array(ledger->files, file_json, ledger));
    return cli_json_add(object,
        "epsilon_replace:n survived_epsilon:N survived_delta:N spent_epsilon:N spent_delta:N odometer:o "
        "one_certificate:b clients:o",
        ledger->epsilon_replace, ledger->survived_epsilon, ledger->survived_delta, ledger->spent_epsilon,
        ledger->spent_delta, odometer_json(&ledger->odometer), ledger->alike,
        cli_json_array(ledger->clients, client_json, ledger));
}

static json_t *add_found(json_t *object, const mfpg_found *found) {
    return cli_json_add(object,
        "solved:s target_epsilon:n noise_multiplier:n noise_sd:n strength:N sampling_rate:n steps:o "
        "evaluations:i",
        mfpg_solve_name(found->solved), found->target_epsilon, found->noise_multiplier, found->noise_sd,
        found->strength, found->sampling_rate,
        isfinite(found->steps) ? json_integer((json_int_t)found->steps) : cli_json_number(found->steps),
        (int64_t)found->evaluations);
}

static json_t *answer_json(const mfpg_answer *answer) {
    int of_data = answer->particles == MFPG_PARTICLES_DATA;
    json_t *object = cli_json("epsilon:n delta:n mu:n rdp:n lower:n upper:n accountant:s adjacency:s unit:s "
                              "view:s assumptions:o certificate:b particles:S contraction:N",
        answer->epsilon, answer->delta, answer->mu, answer->rdp, answer->lower, answer->upper,
        answer->accountant, answer->adjacency, answer->unit, answer->view,
        cli_json_array(answer->assumptions, assumption_json, answer), answer->certificate,
        of_data ? mfpg_particles_name(answer->particles) : NULL, answer->contraction);
    return answer->ledger ? add_ledger(object, answer->ledger) : object;
}

/* ---- an answer for people: numbers rounded up ---- */

static void print_text(const char *name, const char *text) {
    printf("%-12s %s\n", name, text);
}

static void print_number(const char *name, double value) {
    char text[CLI_TEXT_SIZE];
    if (!isnan(value)) print_text(name, cli_text_up(value, text));
}

static void print_answer(const mfpg_answer *answer) {
    char text[CLI_TEXT_SIZE];
    print_number("epsilon", answer->epsilon);
    print_number("delta", answer->delta);
    print_number("mu", answer->mu);
    print_number("rdp", answer->rdp);
    /* Prints the other end of the requested number, if it is more than 0. */
    if (answer->certificate && answer->lower > 0) print_text("lower end", cli_text_down(answer->lower, text));
    print_text("accountant", answer->accountant);
    print_text("adjacency", answer->adjacency ? answer->adjacency : "that of the sensitivity or mu given");
    print_text("unit", answer->unit);
    print_text("view", answer->view);
    if (answer->particles == MFPG_PARTICLES_DATA)
        print_text("particles", mfpg_particles_name(answer->particles));
    else
        print_number("contraction", answer->contraction);
    print_text("certificate", answer->certificate ? "yes, under these assumptions:"
                              : answer->certifies ? "no: nothing is promised, whatever is assumed:"
                                                  : "no:");
    for (ptrdiff_t i = 0; i < answer->assumptions; i++) printf("  - %s\n", answer->assumption[i]);
}

/* Prints six digits, rounded to the side that costs less privacy. */
static void print_found(const mfpg_found *found) {
    char text[CLI_TEXT_SIZE];
    switch (found->solved) {
    case MFPG_SOLVE_NOISE:
        printf("%-16s %s\n", "noise multiplier", cli_text_up(found->noise_multiplier, text));
        printf("%-16s %s\n\n", "noise sd", cli_text_up(found->noise_sd, text));
        break;
    case MFPG_SOLVE_STRENGTH: printf("%-16s %s\n\n", "strength", cli_text_up(found->strength, text)); break;
    case MFPG_SOLVE_RATE:
        printf("%-16s %s\n\n", "sampling rate", cli_text_down(found->sampling_rate, text));
        break;
    case MFPG_SOLVE_STEPS: printf("%-16s %.0f\n\n", "steps", found->steps); break;
    }
}

/* ---- a ledger for people ---- */

static void print_files(const mfpg_ledger_account *ledger) {
    int several = ledger->files > 1;
    for (const mfpg_ledger_file *file = ledger->file; file < ledger->file + ledger->files; file++) {
        printf("%-12s %s%s%lld lines, chain %s\n", "ledger", several ? file->path : "", several ? ": " : "",
            (long long)file->end.lines, file->end.chain);
        print_text("summary",
            file->confirmed
                ? "summary.json next to it names the same end: no line is missing"
                : "none next to it that names an end: lines taken from the ledger's end would not show");
    }
}

static void print_bounds(const mfpg_ledger_account *ledger) {
    char epsilon[CLI_TEXT_SIZE], delta[CLI_TEXT_SIZE];
    const mfpg_odometer *read = &ledger->odometer;
    if (isfinite(ledger->epsilon_replace))
        printf("%-12s one record inside a client is protected at the epsilon for replace: epsilon %s\n",
            "replace", cli_text_up(ledger->epsilon_replace, epsilon));
    if (!isnan(ledger->survived_epsilon))
        printf("%-12s epsilon %s, delta %s, if the noise of the clients that were in each secure sum is "
               "counted; "
               "the certificate above counts only what was certain beforehand\n",
            "survivors", cli_text_up(ledger->survived_epsilon, epsilon),
            cli_text_up(ledger->survived_delta, delta));
    if (!isnan(ledger->spent_epsilon))
        printf("%-12s epsilon %s, delta %s: the sum of the releases, for display; the filter certifies its "
               "whole budget\n",
            "spent", cli_text_up(ledger->spent_epsilon, epsilon), cli_text_up(ledger->spent_delta, delta));
    if (read->index >= 0)
        printf("%-12s at most epsilon %s at delta %s (%s)\n", "odometer", cli_text_up(read->epsilon, epsilon),
            cli_text_up(ledger->odometer_delta, delta), MFPG_ODOMETER_NOTE);
}

static void print_client(const mfpg_ledger_client *client, const char *name, int width) {
    char a[CLI_TEXT_SIZE], b[CLI_TEXT_SIZE], c[CLI_TEXT_SIZE];
    double mu = client->mu;
    printf("%-*.*s %-12s %-12s %-12s %-7lld %-8lld ", width, width, name,
        isnan(mu) ? "-" : cli_text_up(mu, a), cli_text_up(client->epsilon, b), cli_text_up(client->delta, c),
        (long long)client->rounds, (long long)client->steps);
    if (client->steps == 0)
        printf("-\n");
    else if (client->lowest_rate == client->highest_rate)
        printf("%g\n", client->lowest_rate);
    else
        printf("%g to %g\n", client->lowest_rate, client->highest_rate);
}

static void print_clients(const mfpg_ledger_account *ledger) {
    char number[64];
    int64_t shown = ledger->alike ? 1 : ledger->clients < SHOWN ? ledger->clients : SHOWN;
    size_t width = NARROW;
    for (int64_t i = 0; i < shown && !ledger->alike; i++)
        if (ledger->client[i].name && strlen(ledger->client[i].name) > width)
            width = strlen(ledger->client[i].name);
    if (width > WIDE) width = WIDE;
    printf("\n%-*s %-12s %-12s %-12s %-7s %-8s %s\n", (int)width, "client", "mu", "epsilon", "delta",
        "rounds", "steps", "rate");
    for (int64_t i = 0; i < shown; i++) {
        const mfpg_ledger_client *client = &ledger->client[i];
        if (ledger->alike)
            snprintf(number, sizeof number, "all %lld alike", (long long)ledger->clients);
        else
            snprintf(number, sizeof number, "%lld", (long long)client->client);
        print_client(client, client->name && !ledger->alike ? client->name : number, (int)width);
    }
    if (ledger->clients > shown && !ledger->alike)
        printf("... and %lld with less; --json lists all\n", (long long)(ledger->clients - shown));
}

static void print_ledger(const mfpg_ledger_account *ledger) {
    print_files(ledger);
    print_bounds(ledger);
    print_clients(ledger);
}

/* ---- the commands ---- */

static mfpg_status ask(cli_call *call, int calibrates) {
    mfpg_answer answer = {0};
    mfpg_status status = mfpg_question_answer(call->ctx, call->options, &answer);
    if (status == MFPG_OK && call->json) {
        json_t *object = answer_json(&answer);
        status = cli_json_print(calibrates ? add_found(object, &answer.found) : object);
    } else if (status == MFPG_OK) {
        if (calibrates) print_found(&answer.found);
        print_answer(&answer);
        if (answer.ledger) print_ledger(answer.ledger);
    }
    mfpg_answer_clear(&answer);
    return status;
}

static void *begin(mfpg_context *ctx, mfpg_question_kind kind) {
    mfpg_question *question = NULL;
    return mfpg_question_create(ctx, kind, &question) == MFPG_OK ? question : NULL;
}

static void end(void *question) {
    mfpg_question_destroy(question);
}

static const mfpg_options *account_options(void) {
    return mfpg_question_options(MFPG_QUESTION_ACCOUNT);
}

static void *begin_account(mfpg_context *ctx) {
    return begin(ctx, MFPG_QUESTION_ACCOUNT);
}

static mfpg_status account(cli_call *call) {
    return ask(call, 0);
}

/* A line of the examples must not be longer than a line of the help, which would break it. */
const cli_command command_account = {
    .list_of = account_options,
    .begin = begin_account,
    .end = end,
    .doc = "Prints the privacy of a schedule, or of what a run really released."
           "\vEpsilon is in nats, rounded up; infinity (noise 0) is \"inf\" in JSON. Examples:\n\n"
           "  mfpg account --noise-multiplier 5 --steps 20 --delta 1e-5\n"
           "  mfpg account --mechanism entropic --strength 1 --step 0.1 \\\n"
           "    --clip 1 --adjacency replace --steps 10\n"
           "  mfpg account --noise-multiplier 1 --sampling-rate 0.01 \\\n"
           "    --steps 1000 --delta 1e-5\n"
           "  mfpg account --blocks 0.1:3:200,0.05:2:300 --epsilon 3\n"
           "  mfpg account --mu 1 --epsilon 2\n"
           "  mfpg account --particles data --mechanism entropic \\\n"
           "    --strength 1 --step 0.1 --adjacency replace \\\n"
           "    --steps 10 --exogenous\n"
           "  mfpg account --mechanism entropic --strength 1 --step 0.1 \\\n"
           "    --steps 1000 --view final --assume glm --smoothness 1\n"
           "  mfpg account --ledger runs/hospitals/ledger\n",
    .run = account,
};

static const mfpg_options *calibrate_options(void) {
    return mfpg_question_options(MFPG_QUESTION_CALIBRATE);
}

static void *begin_calibrate(mfpg_context *ctx) {
    return begin(ctx, MFPG_QUESTION_CALIBRATE);
}

static mfpg_status calibrate(cli_call *call) {
    return ask(call, 1);
}

const cli_command command_calibrate = {
    .list_of = calibrate_options,
    .begin = begin_calibrate,
    .end = end,
    .doc = "Prints what meets a target epsilon: the noise, sampling rate or number of steps."
           "\vThe answer never costs more than the target, and is within a millionth of the exact one "
           "(steps: exact). Examples:\n\n"
           "  mfpg calibrate --epsilon 1 --delta 1e-5 \\\n"
           "    --sampling-rate 0.01 --steps 1000\n"
           "  mfpg calibrate --epsilon 10 --clip 1 --adjacency replace\n"
           "  mfpg calibrate --epsilon 3 --solve steps \\\n"
           "    --noise-multiplier 1 --sampling-rate 0.01\n"
           "  mfpg calibrate --epsilon 3 --solve rate \\\n"
           "    --noise-multiplier 1 --steps 1000\n"
           "  mfpg calibrate --epsilon 3 --blocks '0.1:3:200,0.05:?:300'\n"
           "  mfpg calibrate --epsilon 2 --mechanism entropic --steps 10\n",
    .run = calibrate,
};
