/* mfpg list: what is built in, from the tables of the library. */
#include <stdio.h>
#include <string.h>

#include "mfpg/accountant.h"
#include "mfpg/audit.h"
#include "mfpg/config.h"
#include "mfpg/experiment.h"
#include "mfpg/mechanism.h"
#include "mfpg/model.h"
#include "mfpg/names.h"

#include "colour.h"
#include "options.h"
#include "solve.h"

typedef struct settings {
    cli_common common;
    const char *kind; /* NULL: all */
} settings;

/* The records whose fields are listed. */
static const mfpg_fields *const records[] = {&mfpg_round_fields, &mfpg_client_fields, &mfpg_metrics_fields,
    &mfpg_promise_fields, &mfpg_game_fields, &mfpg_audit_fields, &mfpg_ledger_fields};

/* The field of that number over all records; NULL past the end. */
static const mfpg_record_field *find_field(ptrdiff_t index, const mfpg_fields **record) {
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        *record = records[i];
        if (index < records[i]->count) return &records[i]->field[index];
        index -= records[i]->count;
    }
    return NULL;
}

static const char *name_of_field(ptrdiff_t index) {
    static char name[64];
    const mfpg_fields *record;
    const mfpg_record_field *field = find_field(index, &record);
    if (field) snprintf(name, sizeof name, "%s.%s", record->record, field->name);
    return field ? name : NULL;
}

static const char *help_of_field(ptrdiff_t index) {
    const mfpg_fields *record;
    const mfpg_record_field *field = find_field(index, &record);
    return field ? field->help : NULL;
}

/* A kind of built-in thing: its table in two functions; examples are files and have none. */
static const struct kind {
    const char *title;
    const char *(*name)(ptrdiff_t index);
    const char *(*help)(ptrdiff_t index);
    int asked; /* 1: listed only if it is asked for */
} kinds[] = {
    {"methods", mfpg_method_name, mfpg_method_help, 0},
    {"mechanisms", mfpg_mechanism_name, mfpg_mechanism_help, 0},
    {"games", mfpg_game_name, mfpg_game_help, 0},
    {"costs", mfpg_cost_name, mfpg_cost_help, 0},
    {"studies", solve_name_of_study, solve_help_of_study, 0},
    {"accountants", mfpg_accountant_name, mfpg_accountant_help, 0},
    {"models", mfpg_model_kind_name, mfpg_model_kind_help, 0},
    {"readers", mfpg_reader_name, mfpg_reader_help, 0},
    {"fields", name_of_field, help_of_field, 1},
    {"examples", NULL, NULL, 0},
};

enum { KINDS = sizeof kinds / sizeof kinds[0], NAME_WIDTH = 14, FIELD_WIDTH = 28 };

static error_t parse(int key, char *text, struct argp_state *state) {
    settings *chosen = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &chosen->common; return 0;
    case ARGP_KEY_ARG:
        if (chosen->kind) cli_wrong_argument(state, "one kind at a time; '%.60s' is a second", text);
        chosen->kind = text;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &cli_common_argp}, {0}};
static const struct argp argp = {.parser = parse,
    .args_doc = "[methods|mechanisms|games|costs|studies|accountants|models|readers|fields|examples]",
    .doc = "Lists what is built in, one line each; without an argument everything but fields, "
           "which are the columns and keys of the files that a run or an audit writes.",
    .children = children};

/* One line of a list to stdout, or one object into the array. */
static void put(json_t *array, const char *name, int width, const char *help) {
    if (array)
        json_array_append_new(array, json_pack("{s:s, s:s}", "name", name, "help", help));
    else
        printf("  %-*s %s\n", width, name, help);
}

static mfpg_status put_example(void *user, const char *name, const char *help, const char *path) {
    (void)path;
    put(user, name, NAME_WIDTH, help);
    return MFPG_OK;
}

static mfpg_status put_kind(mfpg_context *ctx, const struct kind *kind, json_t *array) {
    if (!array) printf("%s%s%s\n", colour_begin(stdout, COLOUR_HEADING), kind->title, colour_end(stdout));
    if (!kind->name) return mfpg_examples_list(ctx, put_example, array);
    for (ptrdiff_t i = 0; kind->name(i); i++)
        put(array, kind->name(i), kind->asked ? FIELD_WIDTH : NAME_WIDTH, kind->help(i));
    return MFPG_OK;
}

static mfpg_status check_kind(mfpg_context *ctx, const char *word) {
    const char *titles[KINDS];
    for (int i = 0; i < KINDS; i++) {
        if (!word || strcmp(kinds[i].title, word) == 0) return MFPG_OK;
        titles[i] = kinds[i].title;
    }
    return mfpg_names_unknown(ctx, "list", word, titles, KINDS);
}

int command_list(int argc, char **argv) {
    settings chosen = {0};
    cli_parse(&argp, "list", argc, argv, &chosen);
    mfpg_context *ctx = cli_context(1);
    mfpg_status status = check_kind(ctx, chosen.kind);
    json_t *object = chosen.common.json ? json_object() : NULL;
    for (int i = 0; i < KINDS && status == MFPG_OK; i++) {
        if (chosen.kind ? strcmp(kinds[i].title, chosen.kind) != 0 : kinds[i].asked) continue;
        json_t *array = object ? json_array() : NULL;
        status = put_kind(ctx, &kinds[i], array);
        if (object) json_object_set_new(object, kinds[i].title, array);
    }
    int code = CLI_DONE;
    if (status != MFPG_OK) {
        code = cli_fail(ctx, "list", status);
        json_decref(object);
    } else {
        code = object ? cli_json_print("list", object) : cli_finish("list", CLI_DONE);
    }
    mfpg_context_destroy(ctx);
    return code;
}
