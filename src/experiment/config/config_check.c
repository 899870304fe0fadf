/* Checks the rules that involve several keys, and warns of keys without effect. */
#include "settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/release_parts.h"
#include "federation/adaptive_actions.h"
#include "games/game_internal.h"
#include "mechanisms/mechanism_ops.h"
#include "models/losses.h"

static mfpg_mechanism_kind mechanism_of(const mfpg_config *config) {
    return mfpg_mechanism_kind_of(config->method.mechanism);
}

static int reads(const mfpg_config *config, int facts) {
    return (mfpg_cost_facts(config->all.game.cost) & facts) != 0;
}

static int noises_records(const mfpg_config *config) {
    return config->set.mechanism.particles == MFPG_PARTICLES_DATA;
}

/* Gives one warning for all keys that were given but have no effect, unless their value is the default. */
static mfpg_status warn_of_unused(mfpg_context *ctx, const mfpg_config *config) {
    mfpg_config *defaults = NULL;
    mfpg_status status = mfpg_config_create(ctx, &defaults);
    if (status != MFPG_OK) return status;
    char names[MFPG_MESSAGE_SIZE - 128] = "";
    size_t used = 0;
    for (ptrdiff_t i = 0; i < mfpg_keys.count; i++) {
        const mfpg_value *value = &config->value[i];
        int given = value->origin == MFPG_ORIGIN_FILE || value->origin == MFPG_ORIGIN_ARGUMENT;
        if (value->kind == MFPG_VALUE_NOTHING || !given || mfpg_config_counts(config, i) ||
            mfpg_value_equal(value, &defaults->value[i]))
            continue;
        int wrote =
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", mfpg_keys.option[i].name);
        if (wrote > 0 && (size_t)wrote < sizeof names - used) used += (size_t)wrote;
    }
    int game = config->method.players != MFPG_PLAYERS_NONE;
    if (used)
        mfpg_warn(ctx, "given, but of no effect in this run (method %s%s%s): %s", config->method.name,
            game ? ", cost " : "", game ? config->set.game.cost : "", names);
    mfpg_config_destroy(defaults);
    return MFPG_OK;
}

/* ---- method and step ---- */

static mfpg_status check_method(mfpg_context *ctx, const mfpg_config *config) {
    if (!config->method.name)
        return mfpg_config_fail(ctx, config,
            config->all.mechanism_given ? "method.players" : "method.mechanism",
            "nothing given; a method by its axes needs mechanism and players");
    if (mechanism_of(config).control == MFPG_CONTROL_NONE && config->method.players != MFPG_PLAYERS_NONE)
        return mfpg_config_fail(ctx, config, "method.players",
            "found '%s'; a game needs a mechanism whose noise it sets; allowed with mechanism %s: none",
            mfpg_players_name(config->method.players), config->method.mechanism);
    return MFPG_OK;
}

/* Returns the number of the latest load or argument that set the key; 0 if none did. */
static int layer_of(const mfpg_config *config, const char *path) {
    const mfpg_value *value = &config->value[mfpg_config_key_find(path)];
    return value->kind == MFPG_VALUE_NOTHING ? 0 : value->layer;
}

/* The two steps look alike, but each belongs to one kind of mechanism. An argument that changes the method
 * of a file cannot remove the other method's step from the file, so this is accepted if the argument also
 * gives the right step. */
static mfpg_status check_step(mfpg_context *ctx, const mfpg_config *config) {
    int flow = mechanism_of(config).flow;
    const char *own = flow ? "entropic.step" : "train.learning_rate";
    const char *other = flow ? "train.learning_rate" : "entropic.step";
    if (flow && noises_records(config)) return MFPG_OK; /* a flow and a training */
    if (!mfpg_config_given(config, other)) return MFPG_OK;
    int step = layer_of(config, other),
        later = layer_of(config, "method") > step || layer_of(config, "method.mechanism") > step;
    if (later && mfpg_config_given(config, own)) return MFPG_OK;
    return mfpg_config_fail(ctx, config, other,
        "is not used by method %s (mechanism %s); its step is %s%s%s%s", config->method.name,
        config->method.mechanism, own, later ? "; say which, as in " : "", later ? own : "",
        later ? "=0.1" : "");
}

/* ---- data, clients and records ---- */

static mfpg_status check_data(mfpg_context *ctx, const mfpg_config *config) {
    static const char *const partitions[] = {"files", "column", "iid", "dirichlet", "shards"};
    const mfpg_data_options *data = &config->all.data;
    if (strcmp(data->format, "synthetic") == 0)
        return data->file_count == 0 ? MFPG_OK
                                     : mfpg_config_fail(ctx, config, "data.files",
                                           "no file is read with data.format synthetic, which makes data "
                                           "up; data.format: csv reads files");
    if (data->file_count == 0)
        return mfpg_config_fail(ctx, config, "data.files",
            "nothing given; name the files, or take made-up data with data.format: synthetic");
    if (data->partition == MFPG_PARTITION_FILES) return MFPG_OK;
    const char *needed =
        data->partition == MFPG_PARTITION_COLUMN ? "data.partition.column" : "data.partition.clients";
    if (mfpg_config_has(config, needed)) return MFPG_OK;
    return mfpg_config_fail(
        ctx, config, needed, "nothing given; partition kind %s needs it", partitions[data->partition]);
}

static mfpg_status check_unit(mfpg_context *ctx, const mfpg_config *config) {
    const mfpg_mechanism_options *o = &config->all.mechanism;
    if (o->promise.unit != MFPG_UNIT_EXAMPLE || o->clip_at != MFPG_CLIP_UPDATE) return MFPG_OK;
    return mfpg_config_fail(ctx, config, "privacy.clip_at",
        "found 'update'; unit example needs clip_at step, where the clip is per example");
}

static mfpg_status check_cohort(mfpg_context *ctx, const mfpg_config *config) {
    const mfpg_federation_options *o = &config->all.federation;
    if (o->clients_per_round == 0 || o->client_rate == 1.0) return MFPG_OK;
    return mfpg_config_fail(ctx, config, "train.client_rate",
        "found %g, but train.clients_per_round is set too; a cohort has a size or a rate", o->client_rate);
}

/* A secure sum adds noised updates, and protects nothing else. Clients and dropouts are checked by the federation, which
 * knows the data. */
static mfpg_status check_sum(mfpg_context *ctx, const mfpg_config *config) {
    const mfpg_settings *all = &config->all;
    const char *path = all->federation.sum.simulate ? "secure_sum.run" : "secure_sum.dropouts";
    if (!all->federation.sum.simulate && all->dropout_count == 0) return MFPG_OK;
    if (mechanism_of(config).control == MFPG_CONTROL_NONE)
        return mfpg_config_fail(ctx, config, path,
            "method %s adds no noise, which is what a sum hides a client in", config->method.name);
    if (noises_records(config))
        return mfpg_config_fail(ctx, config, path,
            "here the records are noised, and each protects itself whatever is seen; allowed: %s",
            all->federation.sum.simulate ? "none" : "[]");
    if (all->federation.promise.view != MFPG_VIEW_AVERAGE)
        return mfpg_config_fail(ctx, config, path,
            "privacy.view is %s; a sum in place of updates is view average",
            mfpg_view_name(all->federation.promise.view));
    if (all->mechanism.regularisation.value > 0.0 && mechanism_of(config).flow)
        return mfpg_config_fail(ctx, config, "entropic.transport.regularisation",
            "found %g; projected states hide nobody in a sum; with %s allowed: 0",
            all->mechanism.regularisation.value, path);
    return MFPG_OK;
}

/* Keys of noised updates have no meaning if the records are noised. */
static mfpg_status check_records(mfpg_context *ctx, const mfpg_config *config) {
    const mfpg_settings *all = &config->all;
    if (!noises_records(config)) return MFPG_OK;
    if (all->mechanism.clip_at == MFPG_CLIP_UPDATE)
        return mfpg_config_fail(ctx, config, "privacy.clip_at",
            "found 'update'; here the records are clipped and noised, and no update is; leave it out");
    if (all->federation.weights == MFPG_WEIGHTS_INVERSE_NOISE)
        return mfpg_config_fail(ctx, config, "train.weights",
            "found 'inverse-noise'; the noise is in the records, not in the updates; allowed: equal, "
            "examples");
    if (!mechanism_of(config).flow) return MFPG_OK;
    if (all->mechanism.regularisation.value > 0.0)
        return mfpg_config_fail(ctx, config, "entropic.transport.regularisation",
            "found %g; the projection is one of parameters, not of entropic.particles data; allowed: 0",
            all->mechanism.regularisation.value);
    if (!(mfpg_model_facts(all->model) & MFPG_MODEL_SMOOTH))
        return mfpg_config_fail(ctx, config, "entropic.particles",
            "found 'data'; the flow needs a bound on the loss's curvature in the features, and model %s has "
            "none; allowed: parameters, another model, or mechanism input",
            all->model);
    return MFPG_OK;
}

/* ---- the game ---- */

static mfpg_status check_interval(mfpg_context *ctx, const mfpg_config *config, const char *keys) {
    char low[MFPG_PATH_SIZE], high[MFPG_PATH_SIZE];
    snprintf(low, sizeof low, "%s.min", keys);
    snprintf(high, sizeof high, "%s.max", keys);
    int has_low = mfpg_config_has(config, low), has_high = mfpg_config_has(config, high);
    if (has_low != has_high)
        return mfpg_config_fail(
            ctx, config, has_low ? high : low, "nothing given; an interval needs min and max");
    double from = mfpg_config_number(config, low), to = mfpg_config_number(config, high);
    if (!has_low || from <= to) return MFPG_OK;
    return mfpg_config_fail(ctx, config, high, "found %g, which is below min %g", to, from);
}

static mfpg_status check_preferences(mfpg_context *ctx, const mfpg_config *config) {
    const mfpg_settings *all = &config->all;
    if (!all->preference_file == !all->preference_column) return MFPG_OK;
    return mfpg_config_fail(ctx, config,
        all->preference_file ? "game.preferences.column" : "game.preferences.file",
        "nothing given; preferences from a file need file and column");
}

/* A budget (less noise) and a strength (more noise) are never interchangeable. */
static mfpg_status check_control(mfpg_context *ctx, const mfpg_config *config) {
    const char *cost = config->set.game.cost;
    int budget = mfpg_cost_control(cost) == MFPG_CONTROL_BUDGET;
    if (budget == (mechanism_of(config).control == MFPG_CONTROL_BUDGET)) return MFPG_OK;
    return mfpg_config_fail(ctx, config, "game.cost",
        "found '%s', whose actions are %s; mechanism %s takes %s", cost, budget ? "budgets" : "strengths",
        config->method.mechanism, budget ? "strengths" : "budgets");
}

/* If its own model did not contain its own noise, a client would choose endless noise (theory S3.1). */
static mfpg_status check_common_loss(mfpg_context *ctx, const mfpg_config *config) {
    const char *cost = config->set.game.cost;
    if (!reads(config, MFPG_COST_COMMON_LOSS)) return MFPG_OK;
    if (config->method.players == MFPG_PLAYERS_FINITE && config->all.federation.weights != MFPG_WEIGHTS_EQUAL)
        return mfpg_config_fail(ctx, config, "train.weights",
            "found '%s'; the finite game of cost %s needs weights equal",
            mfpg_config_text(config, "train.weights"), cost);
    if (config->all.game.personalisation != 0.0 || config->all.own_cost > 0.0) return MFPG_OK;
    return mfpg_config_fail(ctx, config, "game.personalisation",
        "found 0; cost %s then needs game.own_cost, a number above 0", cost);
}

/* No cost here models what a client loses by the noise of its records, so the configuration must name the
 * cost and give its numbers. */
static mfpg_status check_named_cost(mfpg_context *ctx, const mfpg_config *config) {
    char fitting[256] = "";
    const char *name;
    if (!noises_records(config) || !mfpg_config_is(config, "game.cost", "auto")) return MFPG_OK;
    for (ptrdiff_t i = 0; (name = mfpg_kind_name(&mfpg_costs, i)); i++) {
        size_t used = strlen(fitting);
        if (mfpg_cost_control(name) == mechanism_of(config).control)
            snprintf(fitting + used, sizeof fitting - used, "%s%s", used ? ", " : "", name);
    }
    return mfpg_config_fail(ctx, config, "game.cost",
        "auto: no cost model is derived for noised records; name one yourself (%s), with its numbers",
        fitting);
}

static mfpg_status check_declared_numbers(mfpg_context *ctx, const mfpg_config *config) {
    if (!noises_records(config)) return MFPG_OK;
    int own_cost = reads(config, MFPG_COST_READS_OWN_COST),
        curvature = reads(config, MFPG_COST_READS_CURVATURE) &&
                    (!own_cost || config->method.players == MFPG_PLAYERS_FINITE);
    const char *undeclared = curvature && isnan(config->all.game.curvature) ? "game.curvature"
                             : own_cost && isnan(config->all.own_cost)      ? "game.own_cost"
                                                                            : NULL;
    return undeclared ? mfpg_config_fail(ctx, config, undeclared,
                            "auto: no number is derived for noised records, which have no public bound; "
                            "give one")
                      : MFPG_OK;
}

/* A table contains only the actions for which it was made, and no later measurements of clients. */
static mfpg_status check_table(mfpg_context *ctx, const mfpg_config *config) {
    if (!config->all.loss_table && reads(config, MFPG_COST_NEEDS_TABLE))
        return mfpg_config_fail(ctx, config, "game.loss_table",
            "nothing given; cost %s needs a table (mfpg solve CONFIG.yaml --study costs makes one)",
            config->set.game.cost);
    if (!config->all.loss_table || !reads(config, MFPG_COST_TAKES_TABLE)) return MFPG_OK;
    if (!config->all.game.actions.grid)
        return mfpg_config_fail(ctx, config, "game.actions",
            "found no list; between the actions of game.loss_table nothing was measured; allowed: a list");
    if (!config->all.each_round) return MFPG_OK;
    return mfpg_config_fail(ctx, config, "game.update",
        "found 'each-round'; game.loss_table says what noise costs, whatever clients measure; allowed: once, "
        "or no table");
}

/* Checks the rules of actions that are chosen in each round (federation/adaptive_actions.h), and reports
 * each at the key of its option. */
static mfpg_status check_each_round(mfpg_context *ctx, const mfpg_config *config) {
    static const char *const paths[] = {"", "game.update", "game.update", "privacy.view", "train.weights",
        "privacy.accountant", "privacy.filter", "privacy.stop_at_epsilon", "game.actions", "game.selection",
        "game.loss_clip", "game.loss_noise", "game.gradient_noise", "game.selection_epsilon"};
    if (!config->all.each_round) return MFPG_OK;
    mfpg_acting acting = config->all.acting;
    mfpg_federation_options options = config->all.federation;
    acting.game = &config->all.game;
    options.acting = &acting;
    if (strcmp(options.accountant, "auto") == 0)
        options.accountant = mfpg_federation_options_default().accountant;
    options.filter = config->all.filter < 0 ? MFPG_FILTER_GDP : (mfpg_filter_kind)config->all.filter;
    const char *why;
    const char *path = paths[mfpg_acting_fault(&options, config->set.mechanism.particles, &why)];
    if (*path) {
        const char *word = mfpg_config_text(config, path);
        double number = mfpg_config_number(config, path);
        if (word) return mfpg_config_fail(ctx, config, path, "found '%s'; %s", word, why);
        if (!mfpg_config_has(config, path))
            return mfpg_config_fail(ctx, config, path, "nothing given; %s", why);
        if (isnan(number)) return mfpg_config_fail(ctx, config, path, "%s", why);
        return mfpg_config_fail(ctx, config, path, "found %g; %s", number, why);
    }
    if (isnan(config->all.target_epsilon)) return MFPG_OK;
    return mfpg_config_fail(ctx, config, "noise.target_epsilon",
        "found %g; with game.update each-round nobody knows beforehand what is chosen; "
        "privacy.stop_at_epsilon is the target",
        config->all.target_epsilon);
}

static mfpg_status check_game(mfpg_context *ctx, const mfpg_config *config) {
    mfpg_status (*const rule[])(mfpg_context *, const mfpg_config *) = {check_named_cost, check_control,
        check_declared_numbers, check_common_loss, check_table, check_each_round};
    mfpg_status status = check_interval(ctx, config, "game.actions");
    if (status == MFPG_OK) status = check_interval(ctx, config, "game.preferences");
    if (status == MFPG_OK) status = check_preferences(ctx, config);
    if (config->method.players == MFPG_PLAYERS_NONE) return status;
    for (size_t i = 0; i < sizeof rule / sizeof rule[0] && status == MFPG_OK; i++)
        status = rule[i](ctx, config);
    return status;
}

mfpg_status mfpg_config_check(mfpg_context *ctx, const mfpg_config *config) {
    mfpg_status (*const rule[])(mfpg_context *, const mfpg_config *) = {check_method, check_records,
        check_step, check_data, check_unit, check_cohort, check_sum, check_game, warn_of_unused};
    mfpg_status status = MFPG_OK;
    for (size_t i = 0; i < sizeof rule / sizeof rule[0] && status == MFPG_OK; i++)
        status = rule[i](ctx, config);
    return status;
}
