/* What follows from the values of a configuration: the method in use, the keys that apply, and the structs
 * that they fill. */
#include "settings.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "games/game_internal.h"
#include "mechanisms/mechanism_ops.h"
#include "models/losses.h"
#include "optimisers/optimiser.h"

/* ---- the fields ---- */

static void put(const mfpg_option *key, const mfpg_value *value, mfpg_settings *settings) {
    void *field = (char *)settings + key->offset;
    ptrdiff_t *count = (ptrdiff_t *)(void *)((char *)settings + key->count_offset);
    int word = value->kind == MFPG_VALUE_WORD;
    double number = word ? key->first + (double)value->choice : value->number;
    switch (key->field) {
    case MFPG_HOLDS_INT: *(int *)field = (int)number; break;
    case MFPG_HOLDS_NUMBER: *(double *)field = number; break;
    case MFPG_HOLDS_WHOLE: *(ptrdiff_t *)field = (ptrdiff_t)number; break;
    case MFPG_HOLDS_CHAR: *(char *)field = (char)(word ? 0 : value->text[0]); break;
    case MFPG_HOLDS_TEXT: *(const char **)field = word ? value->word : value->text; break;
    case MFPG_HOLDS_NAMES:
        *(const char *const **)field = value->count > 0 ? (const char *const *)value->texts : NULL;
        *count = value->count;
        break;
    case MFPG_HOLDS_VALUES:
        *(const double **)field = value->numbers;
        *count = value->count;
        break;
    default: break;
    }
}

/* Applies the method to the settings. Without a method nothing can be determined yet. */
static void apply_method(const mfpg_config *config, mfpg_settings *s) {
    const mfpg_mechanism_kind kind = mfpg_mechanism_kind_of(config->method.mechanism);
    s->mechanism.kind = config->method.mechanism;
    s->mechanism.particles = kind.of_data && config->all.particles ? MFPG_PARTICLES_DATA : kind.particles;
    s->mechanism.promise = s->federation.promise;
    s->mechanism.delta = s->federation.delta;
    s->mechanism.grid = s->federation.grid;
    s->mechanism.law = config->all.law == MFPG_LAW_CLASSICAL ? MFPG_LAW_CLASSICAL : MFPG_LAW_GAME;
    s->federation.paper.alpha = 1.0 / s->mechanism.prior_variance;
    s->federation.paper.variance_penalty = s->mechanism.variance_penalty;
    s->federation.paper.gradient_norm = s->mechanism.clip;
    s->federation.paper.step = s->mechanism.step;
    /* the paper's formulas are about parameters */
    s->federation.paper_accountant =
        s->mechanism.particles == MFPG_PARTICLES_DATA ? NULL : config->method.paper_accountant;
    if (!s->game.cost || (strcmp(s->game.cost, "auto") == 0 && config->method.name))
        s->game.cost = config->method.mechanism;
    s->game.players = config->method.players;
    s->game.prior_variance = s->mechanism.prior_variance;
    s->game.step = s->mechanism.step;
    s->game.variance_penalty = s->mechanism.variance_penalty;
}

static mfpg_settings fill(const mfpg_config *config, int all) {
    mfpg_settings settings = {.seed = -1,
        .method = -1,
        .players = -1,
        .filter = -1,
        .law = -1,
        .action = NAN,
        .multiplier = NAN,
        .target_epsilon = NAN,
        .batch_rate = NAN,
        .preference_low = NAN,
        .preference_high = NAN,
        .privacy_scale = NAN,
        .own_cost = NAN,
        .data = mfpg_data_options_default(),
        .mechanism = mfpg_mechanism_options_default(),
        .federation = mfpg_federation_options_default(),
        .game = mfpg_game_default()};
    for (ptrdiff_t i = 0; i < mfpg_keys.count; i++)
        if (config->value[i].kind != MFPG_VALUE_NOTHING && (all || mfpg_config_counts(config, i)))
            put(&mfpg_keys.option[i], &config->value[i], &settings);
    return settings;
}

/* ---- the method in force ---- */

/* Returns the method of a mechanism with these players, or for -1 the first method of the mechanism. */
static const mfpg_method *find_method(const char *mechanism, int players) {
    for (ptrdiff_t i = 0; i < mfpg_methods.count; i++) {
        const mfpg_method *method = mfpg_methods.kind[i];
        if (strcmp(method->mechanism, mechanism) == 0 && (players < 0 || (int)method->players == players))
            return method;
    }
    return NULL;
}

static void settle_method(mfpg_config *config) {
    const char *mechanism = config->all.mechanism_given;
    int players = config->all.players;
    config->method = (mfpg_method){0};
    const mfpg_method *named = config->all.method >= 0     ? mfpg_methods.kind[config->all.method]
                               : mechanism && players >= 0 ? find_method(mechanism, players)
                                                           : NULL;
    if (named) config->method = *named;
    if (named || !mechanism || players < 0) return;
    const mfpg_method *relative =
        find_method(mechanism, -1); /* the paper's accountant goes with the mechanism */
    snprintf(config->method_name, sizeof config->method_name, "%s+%s", mechanism,
        mfpg_players_name((mfpg_players)players));
    config->method =
        (mfpg_method){config->method_name, "a mechanism and a game that have no name of their own", mechanism,
            (mfpg_players)players, relative ? relative->paper_accountant : NULL};
}

/* ---- which keys count ---- */

static uint64_t facts_of_data(const mfpg_data_options *data) {
    if (strcmp(data->format, "synthetic") == 0)
        return MFPG_FACT_SYNTHETIC | (data->synthetic == MFPG_SYNTHETIC_CLINICS ? 0 : MFPG_FACT_SHAPED);
    switch (data->partition) {
    case MFPG_PARTITION_FILES: return MFPG_FACT_FROM_FILES;
    case MFPG_PARTITION_COLUMN: return MFPG_FACT_FROM_FILES | MFPG_FACT_BY_COLUMN;
    case MFPG_PARTITION_IID: return MFPG_FACT_FROM_FILES | MFPG_FACT_BY_CHANCE;
    case MFPG_PARTITION_DIRICHLET: return MFPG_FACT_FROM_FILES | MFPG_FACT_BY_CHANCE | MFPG_FACT_BY_DIRICHLET;
    case MFPG_PARTITION_SHARDS: return MFPG_FACT_FROM_FILES | MFPG_FACT_BY_CHANCE | MFPG_FACT_BY_SHARDS;
    }
    return 0;
}

static uint64_t facts_of_mechanism(const mfpg_config *config) {
    const mfpg_settings *all = &config->all;
    const mfpg_mechanism_kind mechanism = mfpg_mechanism_kind_of(config->method.mechanism);
    int records = all->mechanism.particles == MFPG_PARTICLES_DATA;
    uint64_t facts = 0;
    if (records || !mechanism.flow) facts |= MFPG_FACT_GRADIENT;
    if (mechanism.control == MFPG_CONTROL_BUDGET) facts |= MFPG_FACT_BUDGET;
    if (mechanism.flow) facts |= MFPG_FACT_ENTROPIC;
    if (mechanism.control == MFPG_CONTROL_NONE) return facts;
    facts |= MFPG_FACT_NOISED;
    if (all->federation.hidden != MFPG_HIDDEN_NONE) facts |= MFPG_FACT_ASSUMED;
    if (isfinite(all->federation.stop_at_epsilon)) facts |= MFPG_FACT_STOPPED;
    if (!records) facts |= MFPG_FACT_UPDATES;
    if (!records && all->federation.promise.view == MFPG_VIEW_AVERAGE) {
        facts |= MFPG_FACT_SUMMED;
        if (all->federation.sum.simulate) facts |= MFPG_FACT_SECURE;
    }
    if (config->method.players == MFPG_PLAYERS_NONE) facts |= MFPG_FACT_NO_GAME;
    return facts;
}

static uint64_t facts_of_game(const mfpg_settings *all) {
    uint64_t facts = MFPG_FACT_GAME;
    if (all->game.players == MFPG_PLAYERS_NONE) return 0;
    if (!(mfpg_cost_facts(all->game.cost) & MFPG_COST_TAKES_TABLE) || !all->loss_table)
        facts |= MFPG_FACT_CONSTANT_LOSS;
    if (!all->each_round) return facts;
    facts |= MFPG_FACT_EACH_ROUND;
    if (all->acting.selection == MFPG_SELECTION_EXPONENTIAL) facts |= MFPG_FACT_EXPONENTIAL;
    if (all->acting.selection != MFPG_SELECTION_NOISY) return facts;
    facts |= MFPG_FACT_NOISY;
    if (mfpg_cost_measures(all->game.cost) & MFPG_MEASURES_GRADIENT) facts |= MFPG_FACT_NOISY_GRADIENT;
    return facts;
}

static uint64_t facts_of_optimisers(const mfpg_settings *all) {
    int local = mfpg_local_optimiser_reads(all->mechanism.optimiser.kind);
    int server = mfpg_server_optimiser_reads(all->federation.server.kind);
    uint64_t facts = 0;
    if (local & MFPG_OPTIMISER_READS_MOMENTUM) facts |= MFPG_FACT_MOMENTUM;
    if (server & MFPG_OPTIMISER_READS_MOMENTUM) facts |= MFPG_FACT_SERVER_MOMENTUM;
    if (server & MFPG_OPTIMISER_READS_SECOND_MOMENT) facts |= MFPG_FACT_SERVER_MOMENTS;
    return facts;
}

void mfpg_config_settle(mfpg_config *config) {
    config->all = fill(config, 1);
    settle_method(config);
    apply_method(config, &config->all);
    int model = mfpg_model_facts(config->all.model);
    config->facts = facts_of_data(&config->all.data) | facts_of_mechanism(config) |
                    facts_of_game(&config->all) | facts_of_optimisers(&config->all);
    if (model & MFPG_MODEL_TAKES_CLASSES) config->facts |= MFPG_FACT_CLASSES;
    if (model & MFPG_MODEL_TAKES_HIDDEN) config->facts |= MFPG_FACT_NETWORK;
    config->cost_facts = (uint64_t)mfpg_cost_facts(config->all.game.cost);
    config->set = fill(config, 0);
    apply_method(config, &config->set);
}

int mfpg_config_counts(const mfpg_config *config, ptrdiff_t index) {
    return mfpg_option_counts(&mfpg_keys.option[index], config->facts, config->cost_facts);
}

/* ---- asking by path ---- */

static const mfpg_value *value_of(const mfpg_config *config, const char *path) {
    static const mfpg_value nothing = {0};
    ptrdiff_t index = mfpg_config_key_find(path);
    assert(index >= 0 && "no such key in keys.def");
    return index >= 0 ? &config->value[index] : &nothing;
}

double mfpg_config_number(const mfpg_config *config, const char *path) {
    const mfpg_value *value = value_of(config, path);
    return value->kind == MFPG_VALUE_NUMBER ? value->number : (double)NAN;
}

const char *mfpg_config_text(const mfpg_config *config, const char *path) {
    const mfpg_value *value = value_of(config, path);
    return value->kind == MFPG_VALUE_WORD ? value->word : value->text;
}

int mfpg_config_is(const mfpg_config *config, const char *path, const char *word) {
    const mfpg_value *value = value_of(config, path);
    return value->kind == MFPG_VALUE_WORD && strcmp(value->word, word) == 0;
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
