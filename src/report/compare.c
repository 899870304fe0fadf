/* mfpg compare: two runs side by side, as an object and on a terminal. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fields.h"
#include "base/json_file.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/number.h"
#include "experiment/config/settings.h"
#include "federation/run_folder.h"
#include "mfpg/experiment.h"
#include "mfpg/report.h"
#include "page.h"

enum {
    /* number of clients in the object; if there are more, those whose epsilon differs most */
    LISTED = 1000,
    MOST_PRINTED = 24, /* clients on a terminal */
    TERM_WIDTH = 26,
    VALUE_WIDTH = 24
};

/* ---- a run or a sweep ---- */

static json_t *last_number(const run_group *group, const char *column) {
    return mfpg_json_number(run_group_band(group, column, run_group_last(group, column)).mean);
}

static double largest_epsilon(const run_group *group) {
    double most = NAN;
    for (ptrdiff_t i = 0; i < group->count; i++)
        most = fmax(
            most, run_table_number(&group->run[i].clients, "epsilon", run_client_extreme(&group->run[i], 1)));
    return most;
}

/* Returns the fields of those places in a part of the summary; field "a.b" is named a. */
static json_t *part_of(
    page *p, const run_record *run, const char *part, const mfpg_fields *fields, int places) {
    const json_t *object = run_value(run->summary, part);
    if (!object) return json_null();
    json_t *out = json_object();
    for (const mfpg_record_field *f = fields->field; f < fields->field + fields->count; f++) {
        char name[64];
        if (!(f->places & places)) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(f->name, "."), f->name);
        page_share(p, out, name, run_value(object, f->name));
    }
    return out;
}

json_t *compare_result(page *p, const run_group *group) {
    const run_record *run = &group->run[0];
    json_t *one = json_object();
    page_put(p, one, "label", page_text(group->label));
    page_put(p, one, "folder", page_text(run->folder));
    page_share(p, one, "method", run_value(run->summary, "method.name"));
    page_share(p, one, "status", run_value(run->summary, "status"));
    page_put(p, one, "seeds", json_integer(group->count));
    page_put(p, one, "clients", json_integer(run->clients.rows));
    page_put(p, one, "rounds", json_integer(run_group_rounds(group)));
    page_put(p, one, "promise", part_of(p, run, "promise", &mfpg_promise_fields, MFPG_FIELD_JSON));
    page_put(p, one, "certificate", json_boolean(json_is_true(run_value(run->summary, "certificate"))));
    page_put(p, one, "epsilon", mfpg_json_number(largest_epsilon(group)));
    page_put(p, one, "under_attack",
        page_text(!group->audit                ? "none made"
                  : audit_stands(group->audit) ? "stands"
                                               : "BROKEN"));
    page_put(p, one, "loss", last_number(group, "loss"));
    page_put(p, one, "accuracy", last_number(group, "accuracy"));
    page_put(p, one, "noise_to_signal", last_number(group, "noise_to_signal"));
    page_put(p, one, "game", part_of(p, run, "game", &mfpg_game_fields, MFPG_GAME_COMPARED));
    return one;
}

/* ---- the keys that differ ---- */

/* A sweep has no single seed. */
static json_t *value_of(const run_group *group, ptrdiff_t index, const char *path) {
    if (group->count > 1 && strcmp(path, "seed") == 0) return json_string("each its own");
    char *text = mfpg_config_value(group->run[0].config, index);
    json_t *value = text ? page_text(text) : NULL;
    free(text);
    return value;
}

json_t *compare_keys(page *p, const run_group *groups, ptrdiff_t count) {
    const mfpg_options *list = mfpg_config_options();
    json_t *keys = json_array();
    for (ptrdiff_t i = 0; i < list->count; i++) {
        json_t *values = json_array();
        int differ = 0;
        for (ptrdiff_t s = 0; s < count; s++) {
            page_add(p, values, value_of(&groups[s], i, list->option[i].name));
            differ = differ || !json_equal(json_array_get(values, 0), json_array_get(values, (size_t)s));
        }
        if (differ)
            page_add(p, keys, json_pack("{s:s, s:O}", "path", list->option[i].name, "values", values));
        json_decref(values);
    }
    return keys;
}

/* ---- each client in both ---- */

typedef struct pair {
    ptrdiff_t at[2]; /* the client's index in both runs; -1: it is absent */
} pair;

/* Lists the clients of both runs by name, in the order of the first run, then those that only the second
 * has. Returns their number. */
static ptrdiff_t pair_clients(page *p, const run_group *groups, pair *out) {
    const run_record *a = &groups[0].run[0], *b = &groups[1].run[0];
    /* clients of the second run that are not yet matched to one of the first */
    json_t *alone = json_object();
    char number[32];
    ptrdiff_t count = 0;
    for (ptrdiff_t k = 0; k < b->clients.rows; k++)
        page_put(p, alone, run_client_name(b, k, number), json_integer(k));
    for (ptrdiff_t k = 0; k < a->clients.rows; k++) {
        const char *name = run_client_name(a, k, number);
        const json_t *found = json_object_get(alone, name);
        out[count++] = (pair){{k, found ? (ptrdiff_t)json_integer_value(found) : -1}};
        json_object_del(alone, name);
    }
    for (ptrdiff_t k = 0; k < b->clients.rows; k++) {
        const json_t *found = json_object_get(alone, run_client_name(b, k, number));
        if (found && json_integer_value(found) == k) out[count++] = (pair){{-1, k}};
    }
    json_decref(alone);
    return count;
}

static double number_of(const run_group *groups, const pair *of, int side, const char *column) {
    return run_table_number(&groups[side].run[0].clients, column, of->at[side]);
}

/* Compares the difference of epsilons; if only one run has one, it counts as larger than any difference, and
 * as largest if it is the second run. */
static double difference_of(const run_group *groups, const pair *of) {
    double a = number_of(groups, of, 0, "epsilon"), b = number_of(groups, of, 1, "epsilon");
    if (of->at[0] < 0) return INFINITY;
    if (of->at[1] >= 0 && (a == b || (isnan(a) && isnan(b)))) return 0.0;
    return isfinite(a) && isfinite(b) ? fabs(a - b) : DBL_MAX;
}

static json_t *both(const run_group *groups, const char *column, const pair *of) {
    return json_pack("[o, o]", mfpg_json_number(number_of(groups, of, 0, column)),
        mfpg_json_number(number_of(groups, of, 1, column)));
}

static void put_clients(page *p, const run_group *groups, json_t *out) {
    json_t *list = json_array();
    ptrdiff_t most = groups[0].run[0].clients.rows + groups[1].run[0].clients.rows;
    pair *pairs = mfpg_alloc(most, sizeof *pairs);
    ranked *order = mfpg_alloc(most, sizeof *order);
    if (!pairs || !order) p->failed = 1;
    ptrdiff_t count = pairs && order ? pair_clients(p, groups, pairs) : 0;
    for (ptrdiff_t i = 0; i < count; i++) order[i] = (ranked){i, -difference_of(groups, &pairs[i])};
    ptrdiff_t listed = page_choose(order, count, LISTED);
    for (ptrdiff_t i = 0; i < listed; i++) {
        const pair *of = &pairs[order[i].index];
        char number[32];
        int side = of->at[0] < 0;
        page_add(p, list,
            json_pack("{s:o, s:o, s:o}", "name",
                page_text(run_client_name(&groups[side].run[0], of->at[side], number)), "epsilon",
                both(groups, "epsilon", of), "action", both(groups, "action", of)));
    }
    page_put(p, out, "clients", list);
    page_put(p, out, "clients_left_out", json_integer(count - listed));
    free(pairs);
    free(order);
}

/* ---- whether the two epsilons are comparable ---- */

static const char *why_not_comparable(const run_group *groups) {
    static const char *const words[] = {"promise.unit", "promise.adjacency", "promise.view"};
    const json_t *a = groups[0].run[0].summary, *b = groups[1].run[0].summary;
    if (run_promises_nothing(&groups[0].run[0]) || run_promises_nothing(&groups[1].run[0]))
        return "one of the runs promises nothing";
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(run_text(a, words[i]), run_text(b, words[i])) != 0)
            return "unit, adjacency or view differ, so that an epsilon of one says nothing about one of the "
                   "other";
    return run_number(a, "promise.delta") == run_number(b, "promise.delta")
               ? NULL
               : "delta differs, so that an epsilon of one says nothing about one of the other";
}

/* {"runs": [{...}, {...}], "configuration": [{"path": , "values": [, ]}], "comparable": , "why": , "clients":
 * [{"name": , "epsilon": [, ], "action": [, ]}], "clients_left_out": , "metrics": , "selection": }, or NULL
 * if memory ran out. groups: two. */
static json_t *comparison_of(mfpg_context *ctx, const run_group *groups) {
    page p = {.ctx = ctx};
    json_t *out = json_object(), *runs = json_array();
    const char *why = why_not_comparable(groups);
    for (int s = 0; s < 2; s++) page_add(&p, runs, compare_result(&p, &groups[s]));
    page_put(&p, out, "runs", runs);
    page_put(&p, out, "configuration", compare_keys(&p, groups, 2));
    page_put(&p, out, "comparable", json_boolean(!why));
    page_put(&p, out, "why", page_text(why));
    put_clients(&p, groups, out);
    page_put(&p, out, "metrics", json_string(MFPG_METRICS_NOTE));
    page_put(&p, out, "selection", json_string(MFPG_SELECTION_NOTE));
    return mfpg_json_if_complete(out, !p.failed);
}

/* ---- on a terminal ---- */

typedef struct printer {
    FILE *out;
    int colours;
    int comparable; /* 1: epsilons of both runs */
} printer;

/* Returns which of two numbers is better; NEITHER if that cannot be decided. */
typedef enum better { NEITHER = 0, SMALLER, LARGER, SMALLER_EPSILON } better;

/* A row: what both runs have at a path. */
typedef struct line {
    const char *term, *path;
    better good;
} line;

static void heading(const printer *to, const char *text) {
    fprintf(to->out, "\n%s%s%s\n", to->colours ? "\033[1m" : "", text, to->colours ? "\033[0m" : "");
}

/* ---- rows ---- */

/* Returns the smallest number of digits, at least six, with which two different numbers are printed
 * differently. */
static int digits_that_differ(double x, double y) {
    char first[MFPG_NUMBER_SIZE], second[MFPG_NUMBER_SIZE];
    int digits = 6;
    for (; isfinite(x) && isfinite(y) && x != y && digits < 17; digits++) {
        snprintf(first, sizeof first, "%.*g", digits, x);
        snprintf(second, sizeof second, "%.*g", digits, y);
        if (strcmp(first, second) != 0) break;
    }
    return digits;
}

/* A value as text: in the buffer, or in the value itself. */
static const char *text_of(const json_t *value, int digits, char buffer[MFPG_NUMBER_SIZE]) {
    if (json_is_string(value)) return json_string_value(value);
    if (json_is_boolean(value)) return json_is_true(value) ? "yes" : "no";
    if (json_is_integer(value))
        snprintf(buffer, MFPG_NUMBER_SIZE, "%lld", (long long)json_integer_value(value));
    if (json_is_real(value)) snprintf(buffer, MFPG_NUMBER_SIZE, "%.*g", digits, json_real_value(value));
    return json_is_number(value) ? buffer : "-";
}

static void print_value(const printer *to, const json_t *value, int digits, int width, int green) {
    char buffer[MFPG_NUMBER_SIZE];
    const char *text = text_of(value, digits, buffer);
    int columns = mfpg_terminal_width(text);
    fputs(green ? "  \033[32m" : "  ", to->out);
    mfpg_terminal_text(text, width > 0 ? width : columns < VALUE_WIDTH ? columns : VALUE_WIDTH, to->out);
    if (green) fputs("\033[0m", to->out);
}

static void print_row(const printer *to, const char *term, const json_t *a, const json_t *b, better good) {
    double x = json_file_number(a), y = json_file_number(b);
    int digits = digits_that_differ(x, y);
    if (good == SMALLER_EPSILON) good = to->comparable ? SMALLER : NEITHER;
    int first = good == SMALLER ? x < y : good == LARGER ? x > y : 0;
    int second = good == SMALLER ? y < x : good == LARGER ? y > x : 0;
    int differs = good != NEITHER && isfinite(x) && isfinite(y) && x != y;
    fputs("  ", to->out);
    mfpg_terminal_text(term, TERM_WIDTH, to->out);
    print_value(to, a, digits, VALUE_WIDTH, to->colours && first);
    print_value(to, b, digits, differs ? VALUE_WIDTH : 0, to->colours && second);
    if (differs) fprintf(to->out, "  %+.4g", y - x);
    putc('\n', to->out);
}

/* Prints the lines, up to one without a term, for which one of the runs has a value. */
static void print_lines(const printer *to, const json_t *a, const json_t *b, const line *lines) {
    for (; lines->term; lines++) {
        const json_t *x = run_value(a, lines->path), *y = run_value(b, lines->path);
        if (x || y) print_row(to, lines->term, x, y, lines->good);
    }
}

static const line of_runs[] = {{"run", "label", NEITHER}, {"method", "method", NEITHER},
    {"seeds (runs)", "seeds", NEITHER}, {"clients", "clients", NEITHER}, {"rounds", "rounds", NEITHER},
    {"status", "status", NEITHER}, {0}};
static const line of_promises[] = {{"unit", "promise.unit", NEITHER},
    {"adjacency", "promise.adjacency", NEITHER}, {"view", "promise.view", NEITHER},
    {"delta", "promise.delta", NEITHER}, {"accountant", "promise.accountant", NEITHER},
    {"certificate", "certificate", NEITHER}, {"largest epsilon (nats)", "epsilon", SMALLER_EPSILON},
    {"under attack", "under_attack", NEITHER}, {0}};
static const line of_models[] = {{"loss", "loss", SMALLER}, {"accuracy (share of rows)", "accuracy", LARGER},
    {"noise/signal (ratio)", "noise_to_signal", NEITHER}, {0}};
static const line of_games[] = {{"mean action (no unit)", "game.mean_action", NEITHER},
    {"exploitability (cost)", "game.exploitability", SMALLER},
    {"  among the clients", "game.exploitability_finite", SMALLER},
    {"optimum's mean action", "game.social_mean_action", NEITHER},
    {"price of anarchy (ratio)", "game.price_of_anarchy", SMALLER}, {0}};

static void print_configuration(const printer *to, const json_t *keys) {
    size_t i;
    json_t *key;
    heading(to, json_array_size(keys) ? "Configuration: the keys that differ"
                                      : "Configuration: all keys are the same");
    json_array_foreach(keys, i, key) {
        const json_t *values = json_object_get(key, "values");
        print_row(to, json_string_value(json_object_get(key, "path")), json_array_get(values, 0),
            json_array_get(values, 1), NEITHER);
    }
}

static void print_clients(const printer *to, const json_t *all) {
    size_t i, listed = json_array_size(json_object_get(all, "clients"));
    json_int_t left = json_integer_value(json_object_get(all, "clients_left_out"));
    json_t *client;
    if (listed == 0) return;
    heading(to, "Epsilon of each client (nats)");
    json_array_foreach(json_object_get(all, "clients"), i, client) {
        const json_t *epsilon = json_object_get(client, "epsilon");
        if (i == MOST_PRINTED) break;
        print_row(to, json_string_value(json_object_get(client, "name")), json_array_get(epsilon, 0),
            json_array_get(epsilon, 1), SMALLER_EPSILON);
    }
    left += listed > MOST_PRINTED ? (json_int_t)(listed - MOST_PRINTED) : 0;
    if (left > 0)
        fprintf(to->out, "  and %lld more clients; --json lists up to %d\n", (long long)left, (int)LISTED);
}

static void print_comparison(const printer *to, const json_t *all) {
    const json_t *a = json_array_get(json_object_get(all, "runs"), 0),
                 *b = json_array_get(json_object_get(all, "runs"), 1);
    print_lines(to, a, b, of_runs);
    print_configuration(to, json_object_get(all, "configuration"));
    heading(to, "Promises");
    print_lines(to, a, b, of_promises);
    if (!to->comparable) fprintf(to->out, "  Not comparable: %s.\n", run_text(all, "why"));
    print_clients(to, all);
    heading(to, "Model after the last round");
    print_lines(to, a, b, of_models);
    fprintf(to->out, "  (of a sweep the mean over its seeds; %s)\n", run_text(all, "metrics"));
    if (run_value(a, "game") || run_value(b, "game")) heading(to, "Equilibrium");
    print_lines(to, a, b, of_games);
    fprintf(to->out, "\nEvery epsilon is that of one run; %s.\n", run_text(all, "selection"));
    if (to->colours)
        fprintf(to->out, "\033[32mGreen\033[0m is the better of two numbers that can be compared.\n");
}

/* ---- the two of them ---- */

static mfpg_status compare(mfpg_context *ctx, const char *first, const char *second, json_t **out) {
    run_group groups[2] = {{0}};
    mfpg_status status = run_groups_read(ctx, (const char *const[]){first, second}, 2, groups);
    if (status == MFPG_OK && !(*out = comparison_of(ctx, groups))) status = mfpg_fail_memory(ctx);
    run_groups_clear(groups, 2);
    return status;
}

mfpg_status mfpg_compare_print(
    mfpg_context *ctx, const char *first, const char *second, int colours, FILE *out) {
    json_t *all = NULL;
    mfpg_status status = compare(ctx, first, second, &all);
    const printer to = {out, colours, json_is_true(run_value(all, "comparable"))};
    if (status == MFPG_OK) print_comparison(&to, all);
    json_decref(all);
    return status;
}

mfpg_status mfpg_compare_json(mfpg_context *ctx, const char *first, const char *second, char **json) {
    json_t *all = NULL;
    mfpg_status status = compare(ctx, first, second, &all);
    if (status == MFPG_OK) status = mfpg_json_text(ctx, all, json);
    json_decref(all);
    return status;
}
