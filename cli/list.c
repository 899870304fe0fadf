/* mfpg list prints the built-in kinds, from the tables of the library. */
#include <string.h>

#include "mfpg/accountant.h"
#include "mfpg/audit.h"
#include "mfpg/experiment.h"
#include "mfpg/mechanism.h"
#include "mfpg/model.h"
#include "mfpg/names.h"
#include "mfpg/optimiser.h"

#include "cli.h"
#include "solve.h"

/* The records whose fields are listed. */
static const mfpg_fields *const records[] = {&mfpg_round_fields, &mfpg_client_fields, &mfpg_metrics_fields,
    &mfpg_promise_fields, &mfpg_game_fields, &mfpg_audit_fields, &mfpg_ledger_fields};

/* A kind of built-in thing and its list, or its table in two functions; fields are in records, and examples
 * are files. */
static const struct kind {
    const char *title;
    const mfpg_kinds *list;
    const char *(*name)(ptrdiff_t index);
    const char *(*help)(ptrdiff_t index);
} kinds[] = {
    {"methods", &mfpg_methods, NULL, NULL},
    {"mechanisms", &mfpg_mechanisms, NULL, NULL},
    {"games", &mfpg_games, NULL, NULL},
    {"costs", &mfpg_costs, NULL, NULL},
    {"studies", NULL, solve_name_of_study, solve_help_of_study},
    {"optimisers", &mfpg_local_optimisers, NULL, NULL},
    {"server-optimisers", &mfpg_server_optimisers, NULL, NULL},
    {"accountants", &mfpg_accountants, NULL, NULL},
    {"models", &mfpg_models, NULL, NULL},
    {"readers", &mfpg_readers, NULL, NULL},
    {"fields", NULL, NULL, NULL},
    {"examples", NULL, NULL, NULL},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* The destination of a list: lines on stdout, or objects in the array. */
typedef struct listing {
    json_t *array;
    int width;
} listing;

static mfpg_status put(void *user, const char *name, const char *help, const char *path) {
    const listing *to = user;
    (void)path;
    if (!to->array)
        printf("  %-*s %s\n", to->width, name, help);
    else if (json_array_append_new(to->array, cli_json("name:s help:s", name, help)) != 0)
        return MFPG_ERR_MEMORY;
    return MFPG_OK;
}

static mfpg_status put_fields(listing *to) {
    mfpg_status status = MFPG_OK;
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        for (ptrdiff_t j = 0; j < records[i]->count && status == MFPG_OK; j++) {
            char name[64];
            snprintf(name, sizeof name, "%s.%s", records[i]->record, records[i]->field[j].name);
            status = put(to, name, records[i]->field[j].help, NULL);
        }
    return status;
}

/* There are many fields, so they are listed only on request. */
static int is_fields(const char *title) {
    return strcmp(title, "fields") == 0;
}

static mfpg_status put_kind(mfpg_context *ctx, const struct kind *kind, json_t *array) {
    listing to = {array, is_fields(kind->title) ? 28 : 14};
    mfpg_status status = MFPG_OK;
    if (!array) printf("%s%s%s\n", cli_colour_begin(stdout, CLI_BOLD), kind->title, cli_colour_end(stdout));
    for (ptrdiff_t i = 0; kind->list && i < kind->list->count && status == MFPG_OK; i++)
        status = put(&to, mfpg_kind_name(kind->list, i), mfpg_kind_help(kind->list, i), NULL);
    if (kind->list) return status;
    if (!kind->name) return is_fields(kind->title) ? put_fields(&to) : mfpg_examples_list(ctx, put, &to);
    for (ptrdiff_t i = 0; kind->name(i) && status == MFPG_OK; i++)
        status = put(&to, kind->name(i), kind->help(i), NULL);
    return status;
}

static mfpg_status list(cli_call *call) {
    const char *word = call->argument[0], *titles[KINDS];
    json_t *object = call->json ? json_object() : NULL;
    mfpg_status status = MFPG_OK;
    int found = 0;
    for (int i = 0; i < KINDS && status == MFPG_OK; i++) {
        titles[i] = kinds[i].title;
        if (word ? strcmp(kinds[i].title, word) != 0 : is_fields(kinds[i].title)) continue;
        json_t *array = object ? json_array() : NULL;
        found = 1;
        status = put_kind(call->ctx, &kinds[i], array);
        if (object) json_object_set_new(object, kinds[i].title, array);
    }
    if (!found) status = mfpg_names_unknown(call->ctx, "list", word, titles, KINDS);
    if (status == MFPG_OK && object) return cli_json_print(object);
    json_decref(object);
    return status;
}

const cli_command command_list = {
    .forms = "[methods|mechanisms|games|costs|studies|optimisers|server-optimisers|accountants|models|"
             "readers|fields|examples]",
    .most = 1,
    .limit = "one kind at a time",
    .doc = "Lists what is built in, one line each; without an argument everything but fields, which are the "
           "columns and keys of the files that a run or an audit writes.",
    .run = list,
};
