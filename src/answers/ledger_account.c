/* Computes what every client of a run, or of several runs together, really spent, with one accountant per
 * client (theory S2.1, S2.2). */
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "account_request.h"
#include "accountants/accounting.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/release_parts.h"
#include "base/number.h"

typedef struct account_file {
    char *path;
    json_t *summary; /* summary.json next to it, or NULL */
    mfpg_ledger_header header;
} account_file;

typedef struct account_files {
    account_file *file; /* count >= 1 */
    ptrdiff_t count;
    /* the promise that the ledgers share; clients is the largest number of any, seeded is 1 if one of them
     * is */
    mfpg_ledger_header all;
    int filtered; /* 1: the budget of one of them was kept by a filter */
    int trusted;  /* 1: the sums of one of them were not secure ones */
} account_files;

/* ---- summary.json next to a ledger: the names of the clients, and where the ledger ended ---- */

enum { MOST_BYTES = 1 << 30 }; /* maximum size of a summary; a million clients take less */

/* Returns FILE, or FOLDER/ledger if a folder was named; NULL if memory runs out. */
static char *ledger_path(const char *named) {
    struct stat info;
    int folder = stat(named, &info) == 0 && S_ISDIR(info.st_mode);
    return folder ? mfpg_path_join(named, "ledger") : mfpg_text_copy(named, strlen(named));
}

static char *summary_path(const char *ledger) {
    const char *slash = strrchr(ledger, '/');
    char *folder = mfpg_text_copy(ledger, slash ? (size_t)(slash - ledger) + (slash == ledger) : 0);
    char *path = folder ? mfpg_path_join(folder, "summary.json") : NULL;
    free(folder);
    return path;
}

/* Returns 1 if a summary says nothing about the ledger's end, or names it in the form that a run writes. */
static int names_end_of_ledger(const json_t *summary) {
    const json_t *ledger = json_object_get(summary, "ledger");
    return !ledger || json_is_null(ledger) ||
           (json_is_string(json_object_get(ledger, "chain")) &&
               json_is_integer(json_object_get(ledger, "lines")));
}

static mfpg_status read_summary(mfpg_context *ctx, const char *path, json_t **out) {
    char *text = NULL;
    size_t length = 0;
    json_error_t error = {.line = 0};
    mfpg_status status = mfpg_file_read(ctx, path, MOST_BYTES, &text, &length);
    if (status != MFPG_OK) return status;
    json_t *summary = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    free(text);
    if (!summary && (json_error_code(&error) == json_error_out_of_memory || !error.text[0]))
        return mfpg_fail_memory(ctx);
    if (json_is_object(summary) && names_end_of_ledger(summary)) {
        *out = summary;
        return MFPG_OK;
    }
    status = mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s:%d: %s; a broken summary confirms nothing: restore it, or remove it to read the ledger alone",
        path, error.line > 0 ? error.line : 1,
        !summary                  ? error.text
        : json_is_object(summary) ? "ledger: needs a text 'chain' and a whole number 'lines'"
                                  : "not a JSON object");
    json_decref(summary);
    return status;
}

/* Sets *out to NULL if there is no summary. A damaged summary confirms nothing. */
static mfpg_status read_summary_of(mfpg_context *ctx, const char *ledger, json_t **out) {
    struct stat info;
    char *path = summary_path(ledger);
    *out = NULL;
    if (!path) return mfpg_fail_memory(ctx);
    /* a folder that cannot be read does not give access to its ledger either */
    int missing = stat(path, &info) != 0;
    mfpg_status status = missing ? MFPG_OK : read_summary(ctx, path, out);
    free(path);
    return status;
}

static const char *name_in(const json_t *summary, int64_t client) {
    const json_t *clients = json_object_get(summary, "clients");
    if (json_is_object(clients)) /* of a large federation */
        return json_string_value(json_array_get(json_object_get(clients, "names"), (size_t)client));
    const json_t *row = json_array_get(clients, (size_t)client);
    const json_t *number = json_object_get(row, "client");
    if (!json_is_integer(number) || json_integer_value(number) != client) return NULL;
    return json_string_value(json_object_get(row, "name"));
}

/* If lines are missing at the end of a ledger, its chain is still valid, but the run's summary knows where
 * it ended. *confirmed: 1 if the summary names this end, 0 if it names none. */
static mfpg_status check_end(
    mfpg_context *ctx, const char *path, const json_t *summary, const mfpg_ledger_end *end, int *confirmed) {
    const json_t *ledger = json_object_get(summary, "ledger"), *lines = json_object_get(ledger, "lines");
    const char *chain = json_string_value(json_object_get(ledger, "chain"));
    *confirmed = 0;
    if (!chain || !json_is_integer(lines)) return MFPG_OK;
    long long found = (long long)end->lines, recorded = (long long)json_integer_value(lines);
    if (found < recorded)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: ends after line %lld, but summary.json next to it counts %lld lines: releases are missing "
            "at the end",
            path, found, recorded);
    if (found > recorded)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: has %lld lines, but summary.json next to it counts %lld: it is not the ledger of that run, "
            "or lines were added",
            path, found, recorded);
    if (strcmp(chain, end->chain) != 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: its last chain value is %s, but summary.json next to it names another: the ledger or the "
            "summary was rewritten",
            path, end->chain);
    *confirmed = 1;
    return MFPG_OK;
}

/* ---- do they go together? ---- */

static mfpg_status check_another_file(mfpg_context *ctx, const account_file *a, const account_file *b) {
    struct stat first, second;
    if (stat(a->path, &first) != 0 || stat(b->path, &second) != 0) return MFPG_OK; /* reading says why */
    if (first.st_dev != second.st_dev || first.st_ino != second.st_ino) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "--ledger: %s and %s are one file, named twice", a->path, b->path);
}

static mfpg_status check_promise(mfpg_context *ctx, const account_file *a, const account_file *b) {
    const mfpg_ledger_header *x = &a->header, *y = &b->header;
    char first[MFPG_NUMBER_SIZE], second[MFPG_NUMBER_SIZE];
    const struct {
        const char *key, *first, *second;
    } rows[] = {
        {"particles", mfpg_particles_name(x->particles), mfpg_particles_name(y->particles)},
        {"unit", mfpg_unit_name(x->promise.unit), mfpg_unit_name(y->promise.unit)},
        {"adjacency", mfpg_adjacency_name(x->promise.adjacency), mfpg_adjacency_name(y->promise.adjacency)},
        {"view", mfpg_view_name(x->promise.view), mfpg_view_name(y->promise.view)},
        {"delta", mfpg_number_format(x->delta, first), mfpg_number_format(y->delta, second)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].first, rows[i].second) != 0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "--ledger: %s is %s in %s, but %s in %s; ledgers of one promise are priced together",
                rows[i].key, rows[i].first, a->path, rows[i].second, b->path);
    return MFPG_OK;
}

/* Clients are identified by their numbers; if both runs name them, the names must agree. */
static mfpg_status check_names(mfpg_context *ctx, const account_file *a, const account_file *b) {
    for (int64_t k = 0; a->summary && b->summary && k < a->header.clients && k < b->header.clients; k++) {
        const char *first = name_in(a->summary, k), *second = name_in(b->summary, k);
        if (!first || !second || strcmp(first, second) == 0) continue;
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--ledger: client %lld is '%.60s' in %s, but '%.60s' in %s; what they spent does not add up",
            (long long)k, first, a->path, second, b->path);
    }
    return MFPG_OK;
}

/* ---- files ---- */

static mfpg_status open_file(
    mfpg_context *ctx, const char *named, mfpg_ledger_visit visit, void *user, account_file *out) {
    out->path = ledger_path(named);
    if (!out->path) return mfpg_fail_memory(ctx);
    mfpg_status status = read_summary_of(ctx, out->path, &out->summary);
    return status == MFPG_OK ? mfpg_ledger_read(ctx, out->path, &out->header, visit, user, NULL) : status;
}

static mfpg_status add_file(mfpg_context *ctx, account_files *files, const account_file *next) {
    const account_file *first = files->file;
    mfpg_status status = MFPG_OK;
    files->filtered |= next->header.filter != MFPG_FILTER_ACCOUNTANT;
    files->trusted |= !next->header.secure_sum;
    if (next == first) {
        files->all = next->header;
        return MFPG_OK;
    }
    for (const account_file *before = first; before < next && status == MFPG_OK; before++) {
        status = check_another_file(ctx, before, next);
        if (status == MFPG_OK) status = check_promise(ctx, before, next);
        if (status == MFPG_OK) status = check_names(ctx, before, next);
    }
    if (files->all.clients < next->header.clients) files->all.clients = next->header.clients;
    files->all.seeded |= next->header.seeded;
    files->all.secure_sum |= next->header.secure_sum;
    return status;
}

/* Reads every ledger once and visits each line. Fails with MFPG_ERR_INPUT if a file is named twice, or if
 * two files make different promises or give one number different client names. Call clear_files in any case. */
static mfpg_status open_files(
    mfpg_context *ctx, const mfpg_question *q, mfpg_ledger_visit visit, void *user, account_files *out) {
    out->file = mfpg_alloc(q->ledger.count, sizeof *out->file);
    if (!out->file) return mfpg_fail_memory(ctx);
    mfpg_status status = MFPG_OK;
    while (out->count < q->ledger.count && status == MFPG_OK) {
        account_file *next = &out->file[out->count];
        status = open_file(ctx, q->ledger.text[out->count++], visit, user, next);
        if (status == MFPG_OK) status = add_file(ctx, out, next);
    }
    return status;
}

static void clear_files(account_files *files) {
    for (ptrdiff_t i = 0; i < files->count; i++) {
        free(files->file[i].path);
        json_decref(files->file[i].summary);
    }
    free(files->file);
    *files = (account_files){0};
}

/* Reads the ledgers again, one after the other, and records in out where each ends and whether a summary
 * confirms it. */
static mfpg_status read_files(mfpg_context *ctx, const account_files *files, mfpg_ledger_visit visit,
    void *user, mfpg_ledger_file *out) {
    for (ptrdiff_t i = 0; i < files->count; i++) {
        const account_file *file = &files->file[i];
        out[i].path = mfpg_text_copy(file->path, strlen(file->path));
        if (!out[i].path) return mfpg_fail_memory(ctx);
        mfpg_status status = mfpg_ledger_read(ctx, file->path, NULL, visit, user, &out[i].end);
        if (status == MFPG_OK)
            status = check_end(ctx, file->path, file->summary, &out[i].end, &out[i].confirmed);
        if (status != MFPG_OK) return status;
    }
    return MFPG_OK;
}

/* Returns the name of a client, or NULL. */
static const char *client_name(const account_files *files, int64_t client) {
    const char *name = NULL;
    for (ptrdiff_t i = 0; i < files->count && !name; i++) name = name_in(files->file[i].summary, client);
    return name;
}

/* ---- the price of all releases ---- */

/* The filter of one client, as the ledger's lines left it. */
typedef struct kept_budget {
    mfpg_filter filter;
    int any;  /* 1: something was spent */
    int over; /* 1: more was released than the budget allows, so no bound is known */
} kept_budget;

typedef struct pricing {
    mfpg_context *ctx;
    const mfpg_question *q;
    mfpg_answer *out;
    mfpg_ledger_account *ledger; /* of the answer */
    account_files files;
    mfpg_ledger_header header; /* of all of them */
    mfpg_adjacency adjacency;
    double contraction;           /* the largest of a release */
    int sampled;                  /* 1: some release sampled its examples */
    int adaptive;                 /* 1: some release is a choice of an action */
    int floats;                   /* 1: some release has noise that is not on a grid */
    int64_t threshold, colluders; /* of secure sums: the smallest and the largest */
    mfpg_accountant **accountant; /* header.clients accountants; created before the releases are read */
    mfpg_accountant **survived;   /* the same for what happened; NULL without secure sums */
    /* header.clients filters of the one ledger, asked about its own adjacency; NULL if there is none. Releases may then have
     * been chosen from earlier ones, which no accountant can price: the whole budget is certified (theory S4). */
    kept_budget *kept;
} pricing;

/* ---- before the releases are recorded ---- */

/* Checks that the accountant that prices a ledger gives a guarantee. */
static mfpg_status check_certifies(mfpg_context *ctx, const char *name) {
    mfpg_accountant *probe = NULL;
    mfpg_status status = name ? mfpg_accountant_create(ctx, name, NULL, &probe) : MFPG_OK;
    int certifies = !probe || mfpg_accountant_certifies(probe);
    mfpg_accountant_destroy(probe);
    if (status != MFPG_OK || certifies) return status;
    return mfpg_fail(
        ctx, MFPG_ERR_INPUT, "--accountant %s certifies nothing; --ledger wants one that does", name);
}

/* First reading: does any release sample? */
static mfpg_status look(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    (void)first;
    (void)last;
    pricing *all = user;
    if (release->sampling_rate < 1) all->sampled = 1;
    if (mfpg_release_is_choice(release)) all->adaptive = 1;
    if (release->noise_sd > 0 && release->grid == 0) all->floats = 1;
    all->contraction = fmax(all->contraction, release->contraction);
    if (release->attempt == 0) return MFPG_OK;
    if (all->threshold == 0 || release->threshold < all->threshold) all->threshold = release->threshold;
    if (release->colluders > all->colluders) all->colluders = release->colluders;
    return MFPG_OK;
}

static const char *fitting_accountant(const pricing *all) {
    if (all->q->accountant) return all->q->accountant;
    return mfpg_accountant_default(
        all->header.particles, all->sampled && all->header.promise.unit == MFPG_UNIT_EXAMPLE);
}

static mfpg_status start_filters(pricing *all) {
    const mfpg_ledger_header *header = &all->header;
    mfpg_filter fresh;
    if (!all->files.filtered || all->files.count > 1 || all->adjacency != header->promise.adjacency)
        return MFPG_OK;
    mfpg_status status =
        mfpg_filter_start(all->ctx, header->filter, header->stop_at_epsilon, header->delta, &fresh);
    if (status != MFPG_OK) return status;
    all->kept = mfpg_alloc(header->clients, sizeof *all->kept);
    for (int64_t k = 0; all->kept && k < header->clients; k++) all->kept[k] = (kept_budget){.filter = fresh};
    return all->kept ? MFPG_OK : mfpg_fail_memory(all->ctx);
}

static mfpg_status allocate(pricing *all) {
    int64_t clients = all->header.clients;
    mfpg_ledger_account *ledger = all->out->ledger = mfpg_alloc(1, sizeof *ledger);
    if (!ledger) return mfpg_fail_memory(all->ctx);
    ledger->client = mfpg_alloc(clients, sizeof *ledger->client);
    ledger->file = mfpg_alloc(all->files.count, sizeof *ledger->file);
    all->accountant = mfpg_alloc(clients, sizeof *all->accountant);
    if (all->header.secure_sum) all->survived = mfpg_alloc(clients, sizeof *all->survived);
    if (!ledger->client || !ledger->file || !all->accountant || (all->header.secure_sum && !all->survived))
        return mfpg_fail_memory(all->ctx);
    ledger->clients = clients;
    ledger->files = all->files.count;
    for (int64_t k = 0; k < clients; k++) {
        ledger->client[k] = (mfpg_ledger_client){.client = k,
            .lowest_rate = (double)NAN,
            .highest_rate = (double)NAN,
            .spent_epsilon = (double)NAN,
            .spent_delta = (double)NAN,
            .survived_epsilon = (double)NAN,
            .survived_delta = (double)NAN};
        const char *name = client_name(&all->files, k);
        if (name && !(ledger->client[k].name = mfpg_text_copy(name, strlen(name))))
            return mfpg_fail_memory(all->ctx);
    }
    all->ledger = ledger;
    return MFPG_OK;
}

/* A certificate of parameters says nothing about records, and vice versa (theory S5.4). */
static mfpg_status check_particles(const pricing *all) {
    mfpg_particles known = mfpg_accountant_particles(all->accountant[0]);
    if (known == all->header.particles) return MFPG_OK;
    return mfpg_fail(all->ctx, MFPG_ERR_INPUT,
        "%s: the particles of this ledger are %s; accountant %s knows %s only", all->files.file->path,
        mfpg_particles_name(all->header.particles), all->out->accountant, mfpg_particles_name(known));
}

static mfpg_status prepare(pricing *all) {
    const char *name = fitting_accountant(all);
    mfpg_accountant_options made = mfpg_accountant_options_default();
    made.promise = all->header.promise;
    if (all->q->adjacency >= 0) made.promise.adjacency = account_adjacency(all->q);
    all->adjacency = made.promise.adjacency;
    account_describe(all->q, name, made.promise.unit, made.promise.view, all->out);
    mfpg_status status = allocate(all);
    if (status == MFPG_OK) status = start_filters(all);
    for (int64_t k = 0; status == MFPG_OK && k < all->header.clients; k++) {
        status = mfpg_accountant_create(all->ctx, name, &made, &all->accountant[k]);
        if (status == MFPG_OK && all->survived)
            status = mfpg_accountant_create(all->ctx, name, &made, &all->survived[k]);
    }
    return status == MFPG_OK ? check_particles(all) : status;
}

/* ---- the releases ---- */

static void count_release(mfpg_ledger_client *client, const mfpg_release *release) {
    /* a choice of action costs privacy but is not a step of training */
    if (mfpg_release_is_choice(release)) return;
    client->lowest_rate = fmin(client->lowest_rate, release->sampling_rate);
    client->highest_rate = fmax(client->highest_rate, release->sampling_rate);
    client->steps += release->steps < INT64_MAX - client->steps ? release->steps : INT64_MAX - client->steps;
    client->rounds++;
}

static void charge(pricing *all, int64_t k, const mfpg_release *release) {
    kept_budget *kept = &all->kept[k];
    double mu = release->particles == MFPG_PARTICLES_DATA ? mfpg_data_release_mu(release, all->adjacency)
                                                          : mfpg_release_mu(release, all->adjacency);
    kept->any = 1;
    kept->over |= !mfpg_filter_spend(&kept->filter, mu);
}

/* Second reading. */
static mfpg_status visit(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    pricing *all = user;
    for (int64_t k = first; k <= last && k >= 0 && k < all->header.clients; k++) {
        mfpg_status status = mfpg_accountant_record(all->ctx, all->accountant[k], release);
        if (status != MFPG_OK) return status;
        count_release(&all->ledger->client[k], release);
        if (all->kept) charge(all, k, release);
    }
    return MFPG_OK;
}

/* Third reading, of ledgers with secure sums. */
static mfpg_status visit_survived(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    pricing *all = user;
    mfpg_status status = MFPG_OK;
    for (int64_t k = first; k <= last && k >= 0 && k < all->header.clients && status == MFPG_OK; k++)
        status = mfpg_accountant_record(all->ctx, all->survived[k], release);
    return status;
}

/* ---- the price ---- */

/* Computes the number that was not given; it is copied from the previous client if both released the same. */
static mfpg_status ask(pricing *all, int64_t k) {
    mfpg_ledger_client *client = &all->ledger->client[k];
    const mfpg_ledger_client *before = client - 1;
    const mfpg_accountant *own = all->accountant[k], *others = k > 0 ? all->accountant[k - 1] : NULL;
    client->mu = mfpg_accountant_mu(own);
    client->epsilon = all->q->epsilon;
    client->delta = all->ledger->odometer_delta;
    if (others && mfpg_accountant_covers(own, others) && mfpg_accountant_covers(others, own)) {
        client->epsilon = before->epsilon;
        client->delta = before->delta;
        return MFPG_OK;
    }
    return account_given(client->epsilon)
               ? mfpg_accountant_delta(all->ctx, own, client->epsilon, &client->delta)
               : mfpg_accountant_epsilon(all->ctx, own, client->delta, &client->epsilon);
}

/* Returns the epsilon at delta of the whole budget if all releases cost `times` as much mu. */
static double budget_epsilon(const mfpg_filter *filter, double times, double delta) {
    return filter->kind == MFPG_FILTER_GDP ? mfpg_gdp_epsilon(times * filter->budget, delta)
                                           : mfpg_zcdp_epsilon(times * times * filter->budget, delta);
}

/* Returns a delta, from above, at which the whole budget has that epsilon. */
static double budget_delta(const mfpg_filter *filter, double epsilon) {
    double low = log(DBL_MIN), high = 0.0;
    if (filter->kind == MFPG_FILTER_GDP) return mfpg_gdp_delta(filter->budget, epsilon);
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        *(mfpg_zcdp_epsilon(filter->budget, exp(middle)) <= epsilon ? &high : &low) = middle;
    }
    return exp(high);
}

/* Keeps the sum as what was spent, and certifies the budget as soon as anything was. */
static void certify_budget(const pricing *all, int64_t k) {
    mfpg_ledger_client *client = &all->ledger->client[k];
    const kept_budget *kept = &all->kept[k];
    int gives_epsilon = account_given(all->q->epsilon);
    client->spent_epsilon = client->epsilon;
    client->spent_delta = client->delta;
    if (!kept->any) return;
    client->mu = kept->filter.kind == MFPG_FILTER_GDP && !kept->over ? kept->filter.budget : (double)INFINITY;
    if (gives_epsilon)
        client->delta = kept->over ? 1.0 : budget_delta(&kept->filter, client->epsilon);
    else
        client->epsilon = kept->over ? (double)INFINITY : budget_epsilon(&kept->filter, 1.0, client->delta);
}

/* Computes what happened, which the survivors of the secure sums say. */
static mfpg_status ask_survived(pricing *all) {
    mfpg_ledger_account *ledger = all->ledger;
    mfpg_status status = MFPG_OK;
    ledger->survived_epsilon = ledger->survived_delta = (double)NAN;
    for (ptrdiff_t i = 0; i < all->files.count && all->survived && status == MFPG_OK; i++)
        status =
            mfpg_ledger_read_survived(all->ctx, all->files.file[i].path, NULL, visit_survived, all, NULL);
    for (int64_t k = 0; k < ledger->clients && all->survived && status == MFPG_OK; k++) {
        mfpg_ledger_client *client = &ledger->client[k];
        client->survived_epsilon = client->epsilon; /* one of the two was given */
        client->survived_delta = client->delta;
        status = account_given(all->q->epsilon) ? mfpg_accountant_delta(all->ctx, all->survived[k],
                                                      client->epsilon, &client->survived_delta)
                                                : mfpg_accountant_epsilon(all->ctx, all->survived[k],
                                                      client->delta, &client->survived_epsilon);
        ledger->survived_epsilon = fmax(ledger->survived_epsilon, client->survived_epsilon);
        ledger->survived_delta = fmax(ledger->survived_delta, client->survived_delta);
    }
    return status;
}

/* Sorts by spending, largest first: by delta if epsilon is the same for all, then by mu. */
static int by_spending(const void *a, const void *b) {
    const mfpg_ledger_client *x = a, *y = b;
    if (x->epsilon != y->epsilon) return x->epsilon < y->epsilon ? 1 : -1;
    if (x->delta != y->delta) return x->delta < y->delta ? 1 : -1;
    if (x->spent_epsilon > y->spent_epsilon || x->spent_delta > y->spent_delta) return -1;
    if (x->spent_epsilon < y->spent_epsilon || x->spent_delta < y->spent_delta) return 1;
    if (x->mu != y->mu) return x->mu < y->mu ? 1 : -1;
    return x->client < y->client ? -1 : 1;
}

static int same_number(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static int are_alike(const mfpg_ledger_account *ledger) {
    const mfpg_ledger_client *first = ledger->client;
    for (int64_t i = 1; i < ledger->clients; i++) {
        const mfpg_ledger_client *other = &ledger->client[i];
        if (!same_number(first->mu, other->mu) || first->epsilon != other->epsilon ||
            first->delta != other->delta || first->rounds != other->rounds || first->steps != other->steps ||
            !same_number(first->survived_epsilon, other->survived_epsilon) ||
            !same_number(first->survived_delta, other->survived_delta) ||
            !same_number(first->spent_epsilon, other->spent_epsilon) ||
            !same_number(first->spent_delta, other->spent_delta) ||
            !same_number(first->lowest_rate, other->lowest_rate) ||
            !same_number(first->highest_rate, other->highest_rate))
            return 0;
    }
    return ledger->clients > 1;
}

/* Sorts the clients and computes both ends for the one that spent most. */
static mfpg_status ask_largest(pricing *all) {
    mfpg_ledger_account *ledger = all->ledger;
    mfpg_bounds ends;
    qsort(ledger->client, (size_t)ledger->clients, sizeof *ledger->client, by_spending);
    for (int64_t i = 0; i < ledger->clients; i++) /* sampling is credited, so mu does not exist */
        if (isinf(ledger->client[i].mu) && isfinite(ledger->client[i].epsilon))
            ledger->client[i].mu = (double)NAN;
    const mfpg_ledger_client *most = ledger->client;
    const mfpg_accountant *accountant = all->accountant[most->client];
    if (all->kept) {
        all->out->lower = all->out->upper = account_given(all->q->epsilon) ? most->delta : most->epsilon;
        return MFPG_OK;
    }
    mfpg_status status = account_given(all->q->epsilon)
                             ? mfpg_accountant_delta_bounds(all->ctx, accountant, most->epsilon, &ends)
                             : mfpg_accountant_epsilon_bounds(all->ctx, accountant, most->delta, &ends);
    all->out->lower = ends.lower;
    all->out->upper = ends.upper;
    return status;
}

/* The clip bounds a whole client, so a record inside a client is protected as well as a client that is
 * replaced. */
static mfpg_status ask_record(pricing *all) {
    mfpg_ledger_account *ledger = all->ledger;
    const mfpg_ledger_client *most = ledger->client;
    int asked = all->header.promise.unit == MFPG_UNIT_CLIENT &&
                all->header.particles == MFPG_PARTICLES_PARAMETERS &&
                all->adjacency == MFPG_ADJACENCY_ZERO_OUT && !account_given(all->q->epsilon);
    ledger->epsilon_replace = (double)NAN;
    if (!asked) return MFPG_OK;
    const kept_budget *kept = all->kept ? &all->kept[most->client] : NULL;
    if (kept && kept->any) { /* a client that is replaced moves a release twice as far */
        ledger->epsilon_replace =
            kept->over ? (double)INFINITY : budget_epsilon(&kept->filter, 2.0, most->delta);
        return MFPG_OK;
    }
    return mfpg_accountant_epsilon_under(all->ctx, all->accountant[most->client], MFPG_ADJACENCY_REPLACE,
        most->delta, &ledger->epsilon_replace);
}

static mfpg_status ask_all(pricing *all) {
    mfpg_ledger_account *ledger = all->ledger;
    mfpg_status status = read_files(all->ctx, &all->files, visit, all, ledger->file);
    ledger->odometer_delta = account_or(all->q->delta, all->header.delta);
    for (int64_t k = 0; status == MFPG_OK && k < ledger->clients; k++) status = ask(all, k);
    if (status == MFPG_OK) status = ask_survived(all);
    for (int64_t k = 0; status == MFPG_OK && all->kept && k < ledger->clients; k++) certify_budget(all, k);
    if (status == MFPG_OK) status = ask_largest(all);
    if (status == MFPG_OK) status = ask_record(all);
    if (status != MFPG_OK) return status;
    ledger->alike = are_alike(ledger);
    ledger->seeded = all->header.seeded;
    ledger->spent_epsilon = ledger->client->spent_epsilon;
    ledger->spent_delta = ledger->client->spent_delta;
    ledger->odometer = mfpg_odometer_read(
        all->kept ? mfpg_accountant_mu(all->accountant[ledger->client->client]) : ledger->client->mu,
        ledger->odometer_delta);
    return MFPG_OK;
}

/* ---- the answer ---- */

static void assume_view(const pricing *all) {
    mfpg_answer *out = all->out;
    if (out->particles == MFPG_PARTICLES_DATA) account_assume_records(out);
    if (out->particles != MFPG_PARTICLES_DATA && all->header.secure_sum) {
        account_assume(out,
            "the releases entered secure sums of threshold %lld or more: at most %lld of the clients worked "
            "together with "
            "the server, the roster of their keys was right, and the primitives hold (the certificate is "
            "computational)",
            (long long)all->threshold, (long long)all->colluders);
        account_assume(out, "who dropped out did not depend on private data");
    }
    if (out->particles != MFPG_PARTICLES_DATA && all->header.promise.view != MFPG_VIEW_LOCAL &&
        all->files.trusted)
        account_assume(out, "nobody sees more than the view %s", out->view);
    if (all->header.promise.view == MFPG_VIEW_FINAL && out->particles == MFPG_PARTICLES_PARAMETERS)
        account_assume(out, "no credit for hidden states is given from a ledger: charged as if every average "
                            "had been seen, which may be more than the run itself certified");
}

static void assume(const pricing *all) {
    mfpg_answer *out = all->out;
    if (all->kept)
        account_assume(out,
            "the %s kept the budget, so releases may have been chosen from what earlier ones showed: the "
            "whole budget is certified, and what was spent of it is for display",
            mfpg_filter_name(all->header.filter));
    else if (all->files.filtered)
        account_assume(out,
            "a filter kept the budget of a ledger, at its own adjacency: this sum is for display, and what "
            "is certified is that budget, which mfpg account says of the ledger alone");
    else if (all->adaptive)
        account_assume(out,
            "actions were chosen from what earlier releases showed: this sum is for display, and what is "
            "certified is the budget of the run's filter (privacy.stop_at_epsilon), nothing where it had "
            "none");
    account_assume(out, all->files.count > 1 ? "the ledgers hold every release of their runs"
                                             : "the ledger holds every release of the run");
    if (all->floats) account_assume(out, "%s", mfpg_noise_assumption());
    assume_view(all);
    int credited = (mfpg_accountant_facts(out->accountant) & MFPG_ACCOUNTANT_CREDITS_SAMPLING) &&
                   all->header.promise.unit == MFPG_UNIT_EXAMPLE;
    if (all->sampled && credited)
        account_assume(
            out, "batches were Poisson samples of the recorded rates, and who was in them stays hidden");
    else if (all->sampled)
        account_assume(out, "sampling is not credited: accounted as if everything took part");
    if (all->header.seeded)
        account_assume(out, "the noise came from a seed (seeded: not private) that nobody may know");
}

static void fill_answer(const pricing *all) {
    mfpg_answer *out = all->out;
    const mfpg_ledger_client *most = all->ledger->client;
    out->mu = most->mu;
    out->epsilon = most->epsilon;
    out->delta = most->delta;
    out->adjacency = mfpg_adjacency_name(all->adjacency);
    out->certifies = all->kept || !(all->adaptive || all->files.filtered);
    out->particles = all->header.particles;
    if (out->particles == MFPG_PARTICLES_DATA) out->contraction = all->contraction;
    assume(all);
}

static mfpg_status price(pricing *all) {
    mfpg_status status = check_certifies(all->ctx, all->q->accountant);
    if (status == MFPG_OK) status = open_files(all->ctx, all->q, look, all, &all->files);
    all->header = all->files.all;
    if (status == MFPG_OK) status = prepare(all);
    if (status == MFPG_OK) status = ask_all(all);
    if (status == MFPG_OK) fill_answer(all);
    return status;
}

mfpg_status account_ledger(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out) {
    pricing all = {.ctx = ctx, .q = q, .out = out};
    mfpg_status status = price(&all);
    for (int64_t k = 0; all.accountant && k < all.header.clients; k++) {
        mfpg_accountant_destroy(all.accountant[k]);
        if (all.survived) mfpg_accountant_destroy(all.survived[k]);
    }
    free(all.accountant);
    free(all.survived);
    free(all.kept);
    clear_files(&all.files);
    return status;
}
