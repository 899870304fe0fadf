#include "config_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "federation/acting_rules.h"
#include "mfpg/game.h"
#include "mfpg/model.h"
#include "models/losses.h"

static int is(const mfpg_config *config, const char *path, const char *word) {
    return mfpg_config_is(config, path, word);
}

static mfpg_mechanism_kind mechanism_of(const mfpg_config *config) {
    return mfpg_mechanism_kind_of(config->method.mechanism);
}

static int reads(const mfpg_config *config, int facts) {
    return (mfpg_cost_facts(mfpg_config_cost(config)) & facts) != 0;
}

static int acts_each_round(const mfpg_config *config) {
    return config->method.players != MFPG_PLAYERS_NONE && is(config, "game.update", "each-round");
}

/* ---- which keys count ---- */

static uint64_t facts_of_data(const mfpg_config *config) {
    const char *partition = mfpg_config_text(config, "data.partition.kind");
    if (is(config, "data.format", "synthetic"))
        return MFPG_FACT_SYNTHETIC | (is(config, "data.kind", "clinics") ? 0 : MFPG_FACT_SHAPED);
    uint64_t facts = MFPG_FACT_FROM_FILES;
    if (strcmp(partition, "column") == 0) return facts | MFPG_FACT_BY_COLUMN;
    if (strcmp(partition, "files") != 0) facts |= MFPG_FACT_BY_CHANCE;
    if (strcmp(partition, "dirichlet") == 0) facts |= MFPG_FACT_BY_DIRICHLET;
    if (strcmp(partition, "shards") == 0) facts |= MFPG_FACT_BY_SHARDS;
    return facts;
}

static uint64_t facts_of_mechanism(const mfpg_config *config) {
    const mfpg_mechanism_kind mechanism = mechanism_of(config);
    int records = mfpg_config_particles(config) == MFPG_PARTICLES_DATA;
    uint64_t facts = 0;
    if (records || !mechanism.flow) facts |= MFPG_FACT_GRADIENT;
    if (mechanism.control == MFPG_CONTROL_BUDGET) facts |= MFPG_FACT_BUDGET;
    if (mechanism.flow) facts |= MFPG_FACT_ENTROPIC;
    if (mechanism.control == MFPG_CONTROL_NONE) return facts;
    facts |= MFPG_FACT_NOISED;
    if (!is(config, "privacy.assume", "none")) facts |= MFPG_FACT_ASSUMED;
    if (!is(config, "privacy.stop_at_epsilon", "none")) facts |= MFPG_FACT_STOPPED;
    if (!records) facts |= MFPG_FACT_UPDATES;
    if (config->method.players == MFPG_PLAYERS_NONE) facts |= MFPG_FACT_NO_GAME;
    return facts;
}

static uint64_t facts_of_game(const mfpg_config *config) {
    uint64_t facts = MFPG_FACT_GAME;
    if (config->method.players == MFPG_PLAYERS_NONE) return 0;
    if (!reads(config, MFPG_COST_TAKES_TABLE) || !mfpg_config_has(config, "game.loss_table"))
        facts |= MFPG_FACT_CONSTANT_LOSS;
    if (!acts_each_round(config)) return facts;
    facts |= MFPG_FACT_EACH_ROUND;
    if (is(config, "game.selection", "exponential")) facts |= MFPG_FACT_EXPONENTIAL;
    if (!is(config, "game.selection", "noisy")) return facts;
    facts |= MFPG_FACT_NOISY;
    if (mfpg_cost_measures(mfpg_config_cost(config)) & MFPG_MEASURES_GRADIENT)
        facts |= MFPG_FACT_NOISY_GRADIENT;
    return facts;
}

void mfpg_config_find_facts(mfpg_config *config) {
    int model = mfpg_model_facts(mfpg_config_text(config, "task.model"));
    config->facts = facts_of_data(config) | facts_of_mechanism(config) | facts_of_game(config);
    if (model & MFPG_MODEL_TAKES_CLASSES) config->facts |= MFPG_FACT_CLASSES;
    if (model & MFPG_MODEL_TAKES_HIDDEN) config->facts |= MFPG_FACT_NETWORK;
    config->cost_facts = (uint64_t)mfpg_cost_facts(mfpg_config_cost(config));
}

int mfpg_config_counts(const mfpg_config *config, ptrdiff_t index) {
    return mfpg_option_counts(mfpg_settings_get(index), config->facts, config->cost_facts);
}

/* One warning for all that was given in vain; whoever gave what holds anyhow misses nothing. */
static mfpg_status warn_of_unused(mfpg_context *ctx, const mfpg_config *config) {
    mfpg_config *defaults = NULL;
    mfpg_status status = mfpg_config_create(ctx, &defaults);
    if (status != MFPG_OK) return status;
    char names[MFPG_MESSAGE_SIZE - 128];
    size_t used = 0;
    names[0] = 0;
    for (ptrdiff_t i = 0; i < mfpg_settings_count(); i++) {
        const char *path = mfpg_settings_get(i)->name;
        if (config->value[i].kind == MFPG_VALUE_NOTHING || !mfpg_config_given(config, path)) continue;
        if (mfpg_config_counts(config, i) || mfpg_value_equal(&config->value[i], &defaults->value[i]))
            continue;
        int wrote = snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", path);
        if (wrote > 0 && (size_t)wrote < sizeof names - used) used += (size_t)wrote;
    }
    int game = config->method.players != MFPG_PLAYERS_NONE;
    if (used)
        mfpg_warn(ctx, "given, but of no effect in this run (method %s%s%s): %s", config->method.name,
            game ? ", cost " : "", game ? mfpg_config_cost(config) : "", names);
    mfpg_config_destroy(defaults);
    return MFPG_OK;
}

/* ---- the rules ---- */

static mfpg_status check_method(mfpg_context *ctx, const mfpg_config *config) {
    if (!config->method.name) {
        int mechanism = mfpg_config_has(config, "method.mechanism");
        return mfpg_config_fail(ctx, config, mechanism ? "method.players" : "method.mechanism",
            "nothing given; a method by its axes needs mechanism and players");
    }
    if (mechanism_of(config).control == MFPG_CONTROL_NONE && config->method.players != MFPG_PLAYERS_NONE)
        return mfpg_config_fail(ctx, config, "method.players",
            "found '%s'; a game needs a mechanism whose noise it sets; allowed with mechanism %s: none",
            mfpg_config_text(config, "method.players"), config->method.mechanism);
    return MFPG_OK;
}

/* The latest load or argument that said anything of these keys; 0 where none did. */
static int layer_of(const mfpg_config *config, const char *path) {
    const mfpg_value *value = &config->value[mfpg_config_key_find(path)];
    return value->kind == MFPG_VALUE_NOTHING ? 0 : value->layer;
}

/* Whoever changes the method of a file by an argument cannot take the other method's step out of the file. */
static int method_came_later(const mfpg_config *config, const char *path) {
    int step = layer_of(config, path);
    return layer_of(config, "method") > step || layer_of(config, "method.mechanism") > step;
}

/* The two steps look alike and are not: each belongs to one kind of mechanism. */
static mfpg_status check_step(mfpg_context *ctx, const mfpg_config *config) {
    int flow = mechanism_of(config).flow;
    const char *own = flow ? "entropic.step" : "train.learning_rate";
    const char *other = flow ? "train.learning_rate" : "entropic.step";
    int both = flow && mfpg_config_particles(config) == MFPG_PARTICLES_DATA; /* a flow and a training */
    if (both || !mfpg_config_given(config, other)) return MFPG_OK;
    int later = method_came_later(config, other);
    if (later && mfpg_config_given(config, own)) return MFPG_OK;
    return mfpg_config_fail(ctx, config, other, "is not used by method %s (mechanism %s); its step is %s%s%s",
        config->method.name, config->method.mechanism, own, later ? "; say which, as in " : "",
        later ? (flow ? "entropic.step=0.1" : "train.learning_rate=0.1") : "");
}

static mfpg_status check_interval(
    mfpg_context *ctx, const mfpg_config *config, const char *low, const char *high) {
    int has_low = mfpg_config_has(config, low), has_high = mfpg_config_has(config, high);
    if (!has_low && !has_high) return MFPG_OK;
    if (!has_low || !has_high)
        return mfpg_config_fail(
            ctx, config, has_low ? high : low, "nothing given; an interval needs min and max");
    double from = mfpg_config_number(config, low), to = mfpg_config_number(config, high);
    if (from <= to) return MFPG_OK;
    return mfpg_config_fail(ctx, config, high, "found %g, which is below min %g", to, from);
}

static mfpg_status check_preferences(mfpg_context *ctx, const mfpg_config *config) {
    int file = mfpg_config_has(config, "game.preferences.file");
    int column = mfpg_config_has(config, "game.preferences.column");
    if (file != column)
        return mfpg_config_fail(ctx, config, file ? "game.preferences.column" : "game.preferences.file",
            "nothing given; preferences from a file need file and column");
    return MFPG_OK;
}

static mfpg_status check_data(mfpg_context *ctx, const mfpg_config *config) {
    ptrdiff_t files;
    mfpg_config_texts(config, "data.files", &files);
    if (is(config, "data.format", "synthetic"))
        return files == 0 ? MFPG_OK
                          : mfpg_config_fail(ctx, config, "data.files",
                                "no file is read with data.format synthetic, which makes data up; "
                                "data.format: csv reads files");
    if (files == 0)
        return mfpg_config_fail(ctx, config, "data.files",
            "nothing given; name the files, or take made-up data with data.format: synthetic");
    const char *kind = mfpg_config_text(config, "data.partition.kind");
    if (strcmp(kind, "files") == 0) return MFPG_OK;
    const char *needed = strcmp(kind, "column") == 0 ? "data.partition.column" : "data.partition.clients";
    if (mfpg_config_has(config, needed)) return MFPG_OK;
    return mfpg_config_fail(ctx, config, needed, "nothing given; partition kind %s needs it", kind);
}

static mfpg_status check_unit(mfpg_context *ctx, const mfpg_config *config) {
    if (!is(config, "privacy.unit", "example") || !is(config, "privacy.clip_at", "update")) return MFPG_OK;
    return mfpg_config_fail(ctx, config, "privacy.clip_at",
        "found 'update'; unit example needs clip_at step, where the clip is per example");
}

static mfpg_status check_cohort(mfpg_context *ctx, const mfpg_config *config) {
    if (is(config, "train.clients_per_round", "all") || mfpg_config_number(config, "train.client_rate") == 1)
        return MFPG_OK;
    return mfpg_config_fail(ctx, config, "train.client_rate",
        "found %g, but train.clients_per_round is set too; a cohort has a size or a rate",
        mfpg_config_number(config, "train.client_rate"));
}

/* A budget (less noise) and a strength (more noise) never stand for each other. */
static mfpg_status check_control(mfpg_context *ctx, const mfpg_config *config) {
    const char *cost = mfpg_config_cost(config), *mechanism = config->method.mechanism;
    int budget = mfpg_cost_control(cost) == MFPG_CONTROL_BUDGET;
    if (budget == (mechanism_of(config).control == MFPG_CONTROL_BUDGET)) return MFPG_OK;
    return mfpg_config_fail(ctx, config, "game.cost",
        "found '%s', whose actions are %s; mechanism %s takes %s", cost, budget ? "budgets" : "strengths",
        mechanism, budget ? "strengths" : "budgets");
}

/* Without its own noise in its own model a client would answer privacy with endless noise (theory S3.1). */
static mfpg_status check_own_cost(mfpg_context *ctx, const mfpg_config *config) {
    if (mfpg_config_number(config, "game.personalisation") != 0) return MFPG_OK;
    if (mfpg_config_number(config, "game.own_cost") > 0) return MFPG_OK;
    return mfpg_config_fail(ctx, config, "game.personalisation",
        "found 0; cost %s then needs game.own_cost, a number above 0", mfpg_config_cost(config));
}

static mfpg_status check_common_loss(mfpg_context *ctx, const mfpg_config *config) {
    if (config->method.players == MFPG_PLAYERS_FINITE && !is(config, "train.weights", "equal"))
        return mfpg_config_fail(ctx, config, "train.weights",
            "found '%s'; the finite game of cost %s needs weights equal",
            mfpg_config_text(config, "train.weights"), mfpg_config_cost(config));
    return check_own_cost(ctx, config);
}

/* What a client loses by the noise of its records no cost model here tells; whoever names one declares its numbers too. */
static mfpg_status check_named_cost(mfpg_context *ctx, const mfpg_config *config) {
    char fitting[256] = "";
    const char *name;
    if (!is(config, "game.cost", "auto")) return MFPG_OK;
    for (ptrdiff_t i = 0; (name = mfpg_cost_name(i)); i++) {
        size_t used = strlen(fitting);
        if (mfpg_cost_control(name) == mechanism_of(config).control)
            snprintf(fitting + used, sizeof fitting - used, "%s%s", used ? ", " : "", name);
    }
    return mfpg_config_fail(ctx, config, "game.cost",
        "auto: no cost model is derived for noised records; name one yourself (%s), with its numbers",
        fitting);
}

static mfpg_status check_declared(mfpg_context *ctx, const mfpg_config *config, const char *path) {
    if (!is(config, path, "auto")) return MFPG_OK;
    return mfpg_config_fail(ctx, config, path,
        "auto: no number is derived for noised records, which have no public bound; give one");
}

static mfpg_status check_declared_numbers(mfpg_context *ctx, const mfpg_config *config) {
    int own_cost = reads(config, MFPG_COST_READS_OWN_COST),
        curvature = reads(config, MFPG_COST_READS_CURVATURE);
    mfpg_status status = MFPG_OK;
    if (curvature && (!own_cost || config->method.players == MFPG_PLAYERS_FINITE))
        status = check_declared(ctx, config, "game.curvature");
    if (status == MFPG_OK && own_cost) status = check_declared(ctx, config, "game.own_cost");
    return status;
}

/* A number that need not be there: 0 is refused by the rules. */
static double number_or_0(const mfpg_config *config, const char *path) {
    return mfpg_config_has(config, path) ? mfpg_config_number(config, path) : 0.0;
}

/* The rules of actions that are chosen each round (federation/acting_rules.h), told at the key of the option that breaks one. */
static mfpg_status check_update(mfpg_context *ctx, const mfpg_config *config) {
    static const char *const paths[] = {"", "game.update", "game.update", "privacy.view", "train.weights",
        "privacy.accountant", "privacy.filter", "privacy.stop_at_epsilon", "game.actions", "game.selection",
        "game.loss_clip", "game.loss_noise", "game.gradient_noise", "game.selection_epsilon"};
    if (!acts_each_round(config)) return MFPG_OK;
    mfpg_game game = {.cost = mfpg_config_cost(config)};
    if (mfpg_config_has(config, "game.actions.min")) {
        game.actions.low = mfpg_config_number(config, "game.actions.min");
        game.actions.high = mfpg_config_number(config, "game.actions.max");
    } else {
        game.actions.grid = mfpg_config_numbers(config, "game.actions", &game.actions.count);
    }
    const mfpg_acting acting = {.game = &game,
        .selection = (mfpg_selection)mfpg_config_choice(config, "game.selection"),
        .loss_clip = mfpg_config_number(config, "game.loss_clip"),
        .noise = {number_or_0(config, "game.loss_noise"), number_or_0(config, "game.gradient_noise")},
        .epsilon = number_or_0(config, "game.selection_epsilon")};
    mfpg_federation_options options = mfpg_federation_options_default();
    options.acting = &acting;
    options.promise.view = (mfpg_view)mfpg_config_choice(config, "privacy.view");
    if (is(config, "train.weights", "inverse-noise")) options.weights = MFPG_WEIGHTS_INVERSE_NOISE;
    if (!is(config, "privacy.accountant", "auto"))
        options.accountant = mfpg_config_text(config, "privacy.accountant");
    ptrdiff_t filter = mfpg_config_choice(config, "privacy.filter"); /* auto comes first */
    options.filter = filter > 0 ? (mfpg_filter_kind)(filter - 1) : MFPG_FILTER_GDP;
    double budget = mfpg_config_number(config, "privacy.stop_at_epsilon");
    if (budget > 0.0) options.stop_at_epsilon = budget;
    const char *why;
    const char *path = paths[mfpg_acting_fault(&options, mfpg_config_particles(config), &why)];
    const char *word = *path ? mfpg_config_text(config, path) : NULL;
    if (word) return mfpg_config_fail(ctx, config, path, "found '%s'; %s", word, why);
    if (*path && !mfpg_config_has(config, path))
        return mfpg_config_fail(ctx, config, path, "nothing given; %s", why);
    if (*path && !isnan(mfpg_config_number(config, path)))
        return mfpg_config_fail(ctx, config, path, "found %g; %s", mfpg_config_number(config, path), why);
    if (*path) return mfpg_config_fail(ctx, config, path, "%s", why);
    if (mfpg_config_has(config, "noise.target_epsilon"))
        return mfpg_config_fail(ctx, config, "noise.target_epsilon",
            "found %g; with game.update each-round nobody knows beforehand what is chosen; "
            "privacy.stop_at_epsilon is the target",
            mfpg_config_number(config, "noise.target_epsilon"));
    return MFPG_OK;
}

/* A table knows the actions that it was made for, and nothing of what clients measure later. */
static mfpg_status check_table(mfpg_context *ctx, const mfpg_config *config) {
    int given = mfpg_config_has(config, "game.loss_table");
    if (!given && reads(config, MFPG_COST_NEEDS_TABLE))
        return mfpg_config_fail(ctx, config, "game.loss_table",
            "nothing given; cost %s needs a table (mfpg solve CONFIG.yaml --study costs makes one)",
            mfpg_config_cost(config));
    if (!given || !reads(config, MFPG_COST_TAKES_TABLE)) return MFPG_OK;
    if (is(config, "game.actions", "continuous") || mfpg_config_has(config, "game.actions.min"))
        return mfpg_config_fail(ctx, config, "game.actions",
            "found no list; between the actions of game.loss_table nothing was measured; allowed: a list");
    if (!acts_each_round(config)) return MFPG_OK;
    return mfpg_config_fail(ctx, config, "game.update",
        "found 'each-round'; game.loss_table says what noise costs, whatever clients measure; allowed: once, "
        "or no table");
}

static mfpg_status check_game(mfpg_context *ctx, const mfpg_config *config) {
    mfpg_status status = check_interval(ctx, config, "game.actions.min", "game.actions.max");
    if (status == MFPG_OK)
        status = check_interval(ctx, config, "game.preferences.min", "game.preferences.max");
    if (status == MFPG_OK) status = check_preferences(ctx, config);
    if (status == MFPG_OK && config->method.players != MFPG_PLAYERS_NONE) {
        int records = mfpg_config_particles(config) == MFPG_PARTICLES_DATA;
        if (records) status = check_named_cost(ctx, config);
        if (status == MFPG_OK) status = check_control(ctx, config);
        if (status == MFPG_OK && records) status = check_declared_numbers(ctx, config);
        if (status == MFPG_OK && reads(config, MFPG_COST_COMMON_LOSS))
            status = check_common_loss(ctx, config);
        if (status == MFPG_OK) status = check_table(ctx, config);
        if (status == MFPG_OK) status = check_update(ctx, config);
    }
    return status;
}

/* Keys that speak of noised updates have no meaning where the records are noised. */
static mfpg_status check_records(mfpg_context *ctx, const mfpg_config *config) {
    if (mfpg_config_particles(config) != MFPG_PARTICLES_DATA) return MFPG_OK;
    if (is(config, "privacy.clip_at", "update"))
        return mfpg_config_fail(ctx, config, "privacy.clip_at",
            "found 'update'; here the records are clipped and noised, and no update is; leave it out");
    if (is(config, "train.weights", "inverse-noise"))
        return mfpg_config_fail(ctx, config, "train.weights",
            "found 'inverse-noise'; the noise is in the records, not in the updates; allowed: equal, "
            "examples");
    if (mfpg_config_number(config, "entropic.transport.regularisation") > 0.0 && mechanism_of(config).flow)
        return mfpg_config_fail(ctx, config, "entropic.transport.regularisation",
            "found %g; the projection is one of parameters, not of entropic.particles data; allowed: 0",
            mfpg_config_number(config, "entropic.transport.regularisation"));
    if (mechanism_of(config).flow &&
        !(mfpg_model_facts(mfpg_config_text(config, "task.model")) & MFPG_MODEL_SMOOTH))
        return mfpg_config_fail(ctx, config, "entropic.particles",
            "found 'data'; the flow needs a bound on the loss's curvature in the features, and model %s has "
            "none; "
            "allowed: parameters, another model, or mechanism input",
            mfpg_config_text(config, "task.model"));
    return MFPG_OK;
}

mfpg_status mfpg_config_check(mfpg_context *ctx, const mfpg_config *config) {
    mfpg_status (*const rule[])(mfpg_context *, const mfpg_config *) = {
        check_method, check_records, check_step, check_data, check_unit, check_cohort, check_game};
    for (size_t i = 0; i < sizeof rule / sizeof rule[0]; i++) {
        mfpg_status status = rule[i](ctx, config);
        if (status != MFPG_OK) return status;
    }
    return warn_of_unused(ctx, config);
}
