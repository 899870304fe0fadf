#include "mfpg/preference_law.h"
#include "preference_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/names.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "data/readers.h"
#include "numerics/special/normal.h"

static const char *const ALLOWED = "A (for all), A,B,... (one a client), LOW:HIGH, uniform:LOW:HIGH or "
                                   "lognormal:MEDIAN:SD";

static mfpg_status refuse(mfpg_context *ctx, const char *at, size_t length, const char *allowed) {
    return mfpg_fail(
        ctx, MFPG_ERR_INPUT, "found '%.*s'; allowed: %s", (int)(length < 60 ? length : 60), at, allowed);
}

/* ---- parsing ---- */

static mfpg_status parse_positive(mfpg_context *ctx, const char *at, size_t length, double *out) {
    if (mfpg_number_parse(at, length, out) && *out > 0.0) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "found '%.*s'; a preference is a finite number above 0 (allowed: %s)",
        (int)(length < 60 ? length : 60), at, ALLOWED);
}

static mfpg_status parse_list(mfpg_context *ctx, const char *text, mfpg_population *out) {
    ptrdiff_t count = 1;
    for (const char *at = text; *at; at++) count += *at == ',';
    double *list = mfpg_alloc(count, sizeof *list);
    if (!list) return mfpg_fail_memory(ctx);
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK; i++) {
        size_t length = strcspn(text, ",");
        status = parse_positive(ctx, text, length, &list[i]);
        text += length + (text[length] == ',');
    }
    if (status == MFPG_OK)
        *out = (mfpg_population){.spread = MFPG_SPREAD_LIST, .list = list, .count = count};
    else
        free(list);
    return status;
}

/* "LOW:HIGH" or "MEDIAN:SD". */
static mfpg_status parse_pair(mfpg_context *ctx, const char *text, mfpg_spread spread, mfpg_population *out) {
    const char *colon = strchr(text, ':');
    double first, second = 0.0;
    if (!colon) return refuse(ctx, text, strlen(text), ALLOWED);
    mfpg_status status = parse_positive(ctx, text, (size_t)(colon - text), &first);
    if (status != MFPG_OK) return status;
    if (spread == MFPG_SPREAD_LOGNORMAL) {
        if (!mfpg_number_parse(colon + 1, strlen(colon + 1), &second) || !(second >= 0.0))
            return refuse(ctx, colon + 1, strlen(colon + 1),
                "a finite sd of the logarithm, 0 or more, as in lognormal:MEDIAN:SD");
    } else {
        status = parse_positive(ctx, colon + 1, strlen(colon + 1), &second);
        if (status == MFPG_OK && first > second)
            status = refuse(ctx, text, strlen(text), "LOW:HIGH with LOW not above HIGH");
    }
    if (status == MFPG_OK) *out = (mfpg_population){.spread = spread, .first = first, .second = second};
    return status;
}

/* A law by its name. */
static mfpg_status parse_law(mfpg_context *ctx, const char *text, mfpg_population *out) {
    static const char *const laws[] = {"uniform", "lognormal"};
    size_t length = strcspn(text, ":");
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), text);
    for (int i = 0; i < 2; i++)
        if (strcmp(word, laws[i]) == 0 && text[length] == ':')
            return parse_pair(
                ctx, text + length + 1, i == 0 ? MFPG_SPREAD_UNIFORM : MFPG_SPREAD_LOGNORMAL, out);
    if (strcmp(word, laws[0]) == 0 || strcmp(word, laws[1]) == 0)
        return refuse(ctx, text, strlen(text), ALLOWED);
    mfpg_status status = mfpg_names_unknown(ctx, "distribution", word, laws, 2);
    return mfpg_fail_behind(ctx, status, " (allowed: %s)", ALLOWED);
}

mfpg_status mfpg_population_parse(mfpg_context *ctx, const char *text, mfpg_population *out) {
    *out = (mfpg_population){0};
    if ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'))
        return text[strcspn(text, ":")] ? parse_law(ctx, text, out)
                                        : refuse(ctx, text, strlen(text), ALLOWED);
    if (strchr(text, ',')) return parse_list(ctx, text, out);
    if (strchr(text, ':')) return parse_pair(ctx, text, MFPG_SPREAD_EVEN, out);
    double value;
    mfpg_status status = parse_positive(ctx, text, strlen(text), &value);
    if (status == MFPG_OK) *out = (mfpg_population){.first = value};
    return status;
}

static mfpg_status take_column(mfpg_context *ctx, const mfpg_table *table, ptrdiff_t column, double *out) {
    for (ptrdiff_t k = 0; k < table->rows; k++) {
        if (mfpg_table_number(table, k, column, &out[k]) && out[k] > 0.0) continue;
        char buffer[MFPG_NUMBER_SIZE];
        mfpg_slice text = mfpg_table_text(table, k, column, buffer);
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s:%u: column \"%s\": a preference is a positive finite number, found \"%.*s\"", table->path,
            mfpg_table_line(table, k), table->names.keys[column], (int)(text.length < 40 ? text.length : 40),
            text.at);
    }
    return MFPG_OK;
}

static mfpg_status find_preferences(
    mfpg_context *ctx, const mfpg_table *table, const char *column, ptrdiff_t *out) {
    if (table->rows < 1)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: has no rows; one row a client is needed", table->path);
    *out = column ? mfpg_lookup_find(&table->names, mfpg_slice_of(column)) : 0;
    if (*out >= 0 && (column || table->columns == 1)) return MFPG_OK;
    if (!column)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s:1: has %td columns; the column of preferences must be named", table->path, table->columns);
    mfpg_status status =
        mfpg_names_unknown(ctx, "column", column, (const char *const *)table->names.keys, table->columns);
    return mfpg_fail_in(ctx, status, "%s:1", table->path);
}

mfpg_status mfpg_population_read(
    mfpg_context *ctx, const char *path, const char *column, mfpg_population *out) {
    const mfpg_reader_ops *csv;
    mfpg_data_options options = mfpg_data_options_default();
    mfpg_table table = {0};
    mfpg_status status = mfpg_reader_find(ctx, "csv", &csv);
    if (status == MFPG_OK) status = csv->read(ctx, path, &options, &table);
    ptrdiff_t found = 0;
    double *list = NULL;
    if (status == MFPG_OK) status = find_preferences(ctx, &table, column, &found);
    if (status == MFPG_OK && !(list = mfpg_alloc(table.rows, sizeof *list))) status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = take_column(ctx, &table, found, list);
    *out = (mfpg_population){0};
    if (status == MFPG_OK)
        *out = (mfpg_population){.spread = MFPG_SPREAD_LIST, .count = table.rows, .list = list};
    else
        free(list);
    mfpg_table_clear(&table);
    return status;
}

void mfpg_population_clear(mfpg_population *population) {
    free(population->list);
    *population = (mfpg_population){0};
}

/* ---- the clients ---- */

double mfpg_population_quantile(const mfpg_population *population, double p) {
    double first = population->first, second = population->second;
    switch (population->spread) {
    case MFPG_SPREAD_EVEN:
    case MFPG_SPREAD_UNIFORM: return first + (second - first) * p;
    case MFPG_SPREAD_LOGNORMAL: return first * exp(second * mfpg_normal_quantile(p));
    default: return (double)NAN;
    }
}

static double preference_of(const mfpg_population *population, ptrdiff_t k, ptrdiff_t clients) {
    double first = population->first, second = population->second;
    switch (population->spread) {
    case MFPG_SPREAD_LIST: return population->list[k];
    case MFPG_SPREAD_EVEN:
        return clients == 1 ? 0.5 * (first + second)
                            : first + (second - first) * (double)k / (double)(clients - 1);
    case MFPG_SPREAD_UNIFORM:
    case MFPG_SPREAD_LOGNORMAL:
        return mfpg_population_quantile(population, ((double)k + 0.5) / (double)clients);
    default: return first;
    }
}

mfpg_status mfpg_population_fill(
    mfpg_context *ctx, const mfpg_population *population, ptrdiff_t clients, double *out) {
    if (population->spread == MFPG_SPREAD_LIST && population->count != clients)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%td numbers for %td clients; give one a client, or one for all", population->count, clients);
    for (ptrdiff_t k = 0; k < clients; k++) {
        out[k] = preference_of(population, k, clients);
        if (!(out[k] > 0.0) || !isfinite(out[k]))
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
                "the preference of client %td of %td leaves the range of positive numbers; allowed: a "
                "smaller spread",
                k, clients);
    }
    return MFPG_OK;
}
