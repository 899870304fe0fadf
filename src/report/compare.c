/* mfpg compare: two runs side by side on a terminal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/names.h"
#include "comparison.h"
#include "mfpg/experiment.h"
#include "base/json_file.h"
#include "mfpg/report.h"

enum { TERM_WIDTH = 26, VALUE_WIDTH = 24, MOST_PRINTED = 24 };

typedef struct printer {
    FILE *out;
    int colours;
} printer;

/* The better of two numbers, by where it lies; NEITHER where that is not to be said. */
typedef enum better { NEITHER = 0, SMALLER, LARGER } better;

static void heading(const printer *to, const char *text) {
    fprintf(to->out, "\n%s%s%s\n", to->colours ? "\033[1m" : "", text, to->colours ? "\033[0m" : "");
}

/* ---- rows ---- */

/* The fewest digits, six or more, with which two numbers that differ are printed differently. */
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

/* The same key of both runs, where one of them has it. */
static void print_key(
    const printer *to, const char *term, const json_t *a, const json_t *b, const char *key, better good) {
    const json_t *x = json_object_get(a, key), *y = json_object_get(b, key);
    if ((x && !json_is_null(x)) || (y && !json_is_null(y))) print_row(to, term, x, y, good);
}

/* ---- parts ---- */

static void print_runs(const printer *to, const json_t *a, const json_t *b) {
    print_row(to, "run", json_object_get(a, "label"), json_object_get(b, "label"), NEITHER);
    print_key(to, "method", a, b, "method", NEITHER);
    print_key(to, "seeds (runs)", a, b, "seeds", NEITHER);
    print_key(to, "clients", a, b, "clients", NEITHER);
    print_key(to, "rounds", a, b, "rounds", NEITHER);
    print_key(to, "status", a, b, "status", NEITHER);
}

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

static void print_promises(const printer *to, const json_t *all, const json_t *a, const json_t *b) {
    const json_t *x = json_object_get(a, "promise"), *y = json_object_get(b, "promise");
    better good = json_is_true(json_object_get(all, "comparable")) ? SMALLER : NEITHER;
    heading(to, "Promises");
    print_key(to, "unit", x, y, "unit", NEITHER);
    print_key(to, "adjacency", x, y, "adjacency", NEITHER);
    print_key(to, "view", x, y, "view", NEITHER);
    print_key(to, "delta", x, y, "delta", NEITHER);
    print_key(to, "accountant", x, y, "accountant", NEITHER);
    print_key(to, "certificate", a, b, "certificate", NEITHER);
    print_key(to, "largest epsilon (nats)", a, b, "epsilon", good);
    print_key(to, "under attack", a, b, "under_attack", NEITHER);
    if (good == NEITHER)
        fprintf(to->out, "  Not comparable: %s.\n", json_string_value(json_object_get(all, "why")));
}

static void print_clients(const printer *to, const json_t *all) {
    size_t i, listed = json_array_size(json_object_get(all, "clients"));
    json_int_t left = json_integer_value(json_object_get(all, "clients_left_out"));
    better good = json_is_true(json_object_get(all, "comparable")) ? SMALLER : NEITHER;
    json_t *client;
    if (listed == 0) return;
    heading(to, "Epsilon of each client (nats)");
    json_array_foreach(json_object_get(all, "clients"), i, client) {
        const json_t *epsilon = json_object_get(client, "epsilon");
        if (i == MOST_PRINTED) break;
        print_row(to, json_string_value(json_object_get(client, "name")), json_array_get(epsilon, 0),
            json_array_get(epsilon, 1), good);
    }
    left += listed > MOST_PRINTED ? (json_int_t)(listed - MOST_PRINTED) : 0;
    if (left > 0)
        fprintf(
            to->out, "  and %lld more clients; --json lists up to %d\n", (long long)left, COMPARISON_LISTED);
}

static void print_results(const printer *to, const json_t *all, const json_t *a, const json_t *b) {
    heading(to, "Model after the last round");
    print_key(to, "loss", a, b, "loss", SMALLER);
    print_key(to, "accuracy (share of rows)", a, b, "accuracy", LARGER);
    print_key(to, "noise/signal (ratio)", a, b, "noise_to_signal", NEITHER);
    fprintf(to->out, "  (of a sweep the mean over its seeds; %s)\n",
        json_string_value(json_object_get(all, "metrics")));
}

static void print_games(const printer *to, const json_t *a, const json_t *b) {
    const json_t *x = json_object_get(a, "game"), *y = json_object_get(b, "game");
    if (json_is_null(x) && json_is_null(y)) return;
    heading(to, "Equilibrium");
    print_key(to, "mean action (no unit)", x, y, "mean_action", NEITHER);
    print_key(to, "exploitability (cost)", x, y, "exploitability", SMALLER);
    print_key(to, "  among the clients", x, y, "exploitability_finite", SMALLER);
    print_key(to, "optimum's mean action", x, y, "social_mean_action", NEITHER);
    print_key(to, "price of anarchy (ratio)", x, y, "price_of_anarchy", SMALLER);
}

static void print_comparison(const printer *to, const json_t *all) {
    const json_t *a = json_array_get(json_object_get(all, "runs"), 0),
                 *b = json_array_get(json_object_get(all, "runs"), 1);
    print_runs(to, a, b);
    print_configuration(to, json_object_get(all, "configuration"));
    print_promises(to, all, a, b);
    print_clients(to, all);
    print_results(to, all, a, b);
    print_games(to, a, b);
    fprintf(to->out, "\nEvery epsilon is that of one run; %s.\n",
        json_string_value(json_object_get(all, "selection")));
    if (to->colours)
        fprintf(to->out, "\033[32mGreen\033[0m is the better of two numbers that can be compared.\n");
}

/* ---- the two of them ---- */

static mfpg_status compare(mfpg_context *ctx, const char *first, const char *second, json_t **out) {
    run_set sets[2] = {{0}};
    mfpg_status status = run_set_read(ctx, first, &sets[0]);
    if (status == MFPG_OK) status = run_set_read(ctx, second, &sets[1]);
    if (status == MFPG_OK) status = run_sets_label(ctx, sets, 2);
    if (status == MFPG_OK && !(*out = comparison_of(ctx, sets))) status = mfpg_fail_memory(ctx);
    run_set_clear(&sets[0]);
    run_set_clear(&sets[1]);
    return status;
}

mfpg_status mfpg_compare_print(
    mfpg_context *ctx, const char *first, const char *second, int colours, FILE *out) {
    json_t *all = NULL;
    const printer to = {.out = out, .colours = colours};
    mfpg_status status = compare(ctx, first, second, &all);
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
