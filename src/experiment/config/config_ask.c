/* Asking a configuration: values by path, where they come from, and the method in force. */
#include "config_state.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static const mfpg_value nothing = {0};

/* The value of a path of the table. Any other path is a fault in the program that asks. */
static const mfpg_value *value_of(const mfpg_config *config, const char *path) {
    ptrdiff_t index = mfpg_config_key_find(path);
    assert(index >= 0 && "no such key in keys.def");
    return index >= 0 ? &config->value[index] : &nothing;
}

double mfpg_config_number(const mfpg_config *config, const char *path) {
    const mfpg_value *value = value_of(config, path);
    return value->kind == MFPG_VALUE_NUMBER ? value->number : (double)NAN;
}

int64_t mfpg_config_whole(const mfpg_config *config, const char *path) {
    const mfpg_value *value = value_of(config, path);
    return value->kind == MFPG_VALUE_NUMBER ? (int64_t)value->number : -1;
}

int mfpg_config_truth(const mfpg_config *config, const char *path) {
    const mfpg_value *value = value_of(config, path);
    return value->kind == MFPG_VALUE_TRUTH && value->number != 0;
}

const char *mfpg_config_text(const mfpg_config *config, const char *path) {
    const mfpg_value *value = value_of(config, path);
    return value->kind == MFPG_VALUE_WORD ? value->word : value->kind == MFPG_VALUE_TEXT ? value->text : NULL;
}

int mfpg_config_is(const mfpg_config *config, const char *path, const char *word) {
    const mfpg_value *value = value_of(config, path);
    return value->kind == MFPG_VALUE_WORD && strcmp(value->word, word) == 0;
}

ptrdiff_t mfpg_config_choice(const mfpg_config *config, const char *path) {
    const mfpg_value *value = value_of(config, path);
    return value->kind == MFPG_VALUE_WORD ? value->choice : -1;
}

const double *mfpg_config_numbers(const mfpg_config *config, const char *path, ptrdiff_t *count) {
    const mfpg_value *value = value_of(config, path);
    *count = value->kind == MFPG_VALUE_NUMBERS ? value->count : 0;
    return value->kind == MFPG_VALUE_NUMBERS ? value->numbers : NULL;
}

const char *const *mfpg_config_texts(const mfpg_config *config, const char *path, ptrdiff_t *count) {
    const mfpg_value *value = value_of(config, path);
    *count = value->kind == MFPG_VALUE_TEXTS ? value->count : 0;
    return value->kind == MFPG_VALUE_TEXTS ? (const char *const *)value->texts : NULL;
}

ptrdiff_t mfpg_config_categories(const mfpg_config *config) {
    return config->categories;
}

mfpg_category mfpg_config_category(const mfpg_config *config, ptrdiff_t index) {
    const mfpg_category_line *line = &config->category[index];
    return (mfpg_category){line->column, (const char *const *)line->value.texts, line->value.count};
}

int mfpg_config_has(const mfpg_config *config, const char *path) {
    return value_of(config, path)->kind != MFPG_VALUE_NOTHING;
}

int mfpg_config_given(const mfpg_config *config, const char *path) {
    const mfpg_value *value = value_of(config, path);
    return value->origin == MFPG_ORIGIN_FILE || value->origin == MFPG_ORIGIN_ARGUMENT;
}

const char *mfpg_config_source(const mfpg_config *config, const char *path) {
    const mfpg_value *value = value_of(config, path);
    return value->source ? value->source : "default";
}

mfpg_method mfpg_config_method(const mfpg_config *config) {
    return config->method;
}

const char *mfpg_config_cost(const mfpg_config *config) {
    const char *cost = mfpg_config_text(config, "game.cost");
    return strcmp(cost, "auto") == 0 && config->method.name ? config->method.mechanism : cost;
}

mfpg_particles mfpg_config_particles(const mfpg_config *config) {
    mfpg_mechanism_kind kind = mfpg_mechanism_kind_of(config->method.mechanism);
    int chosen = kind.of_data && mfpg_config_is(config, "entropic.particles", "data");
    return chosen ? MFPG_PARTICLES_DATA : kind.particles;
}

mfpg_status mfpg_config_fail(
    mfpg_context *ctx, const mfpg_config *config, const char *path, const char *format, ...) {
    char text[MFPG_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *place = mfpg_config_given(config, path) ? mfpg_config_source(config, path) : config->file;
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %s: %s", place ? place : "configuration", path, text);
}

/* ---- the method in force ---- */

static const mfpg_method *method_of_axes(const char *mechanism, mfpg_players players) {
    const mfpg_method *method;
    for (ptrdiff_t i = 0; (method = mfpg_method_get(i)); i++)
        if (strcmp(method->mechanism, mechanism) == 0 && method->players == players) return method;
    return NULL;
}

/* The paper's accountant goes with the mechanism; a mechanism of no named method has none. */
static const char *accountant_of_mechanism(const char *mechanism) {
    const mfpg_method *method;
    for (ptrdiff_t i = 0; (method = mfpg_method_get(i)); i++)
        if (strcmp(method->mechanism, mechanism) == 0) return method->paper_accountant;
    return NULL;
}

static void settle_method(mfpg_config *config) {
    config->method = (mfpg_method){0};
    if (mfpg_config_has(config, "method")) {
        config->method = *mfpg_method_get(mfpg_config_choice(config, "method"));
        return;
    }
    const char *mechanism = mfpg_config_text(config, "method.mechanism");
    ptrdiff_t players = mfpg_config_choice(config, "method.players");
    if (!mechanism || players < 0) return;
    const mfpg_method *named = method_of_axes(mechanism, (mfpg_players)players);
    if (named) {
        config->method = *named;
        return;
    }
    snprintf(config->method_name, sizeof config->method_name, "%s+%s", mechanism,
        mfpg_config_text(config, "method.players"));
    config->method = (mfpg_method){config->method_name, mechanism, (mfpg_players)players,
        accountant_of_mechanism(mechanism), "a mechanism and a game that have no name of their own"};
}

void mfpg_config_settle(mfpg_config *config) {
    settle_method(config);
    mfpg_config_find_facts(config);
}
