/* Measures a loss table with common random numbers. The federation of a configuration runs at one shared
 * action. Before each of its last rounds every client's loss is measured at every action, with several draws
 * of all clients' noise. */
#include "mfpg/loss_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_writer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "federation/federation_core.h"
#include "internal.h"
#include "mechanisms/mechanism_ops.h"
#include "numerics/sorting.h"

mfpg_loss_study mfpg_loss_study_default(void) {
    return (mfpg_loss_study){.rounds = 10, .draws = 8};
}

/* The study and its samples: means over clients, for rounds x draws x actions. */
typedef struct study {
    mfpg_loss_study options;
    mfpg_experiment *experiment;
    mfpg_action *action;
    double *grid, *sample, *loss; /* loss: clients x actions of one draw */
    ptrdiff_t count, clients;
    double personalisation;
    mfpg_pool memory;
} study;

static mfpg_status check_options(mfpg_context *ctx, const mfpg_loss_study *o, int64_t planned) {
    if (!(o->reference >= 0.0) || !isfinite(o->reference))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "the reference action is %g; it must be a finite number above 0", o->reference);
    if (o->rounds < 1 || o->rounds > planned)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%lld rounds to measure; from 1 to the %lld of train.rounds are possible", (long long)o->rounds,
            (long long)planned);
    if (o->draws < 2 || o->draws > INT32_MAX)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "%lld draws a round; a standard error needs at least 2, and at most 2^31 - 1 are possible",
            (long long)o->draws);
    return MFPG_OK;
}

static mfpg_status check_config(mfpg_context *ctx, const mfpg_config *config) {
    if (mfpg_mechanism_kind_of(config->method.mechanism).control == MFPG_CONTROL_NONE)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "method: mechanism none adds no noise, whose cost could be measured");
    if (config->set.mechanism.particles == MFPG_PARTICLES_DATA)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "method: a loss table is measured where parameters are noised; records are noised once, and what "
            "that costs shows after a whole training only");
    if (!config->all.game.actions.grid)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: game.actions: a loss table is measured at a list of actions; give one",
            mfpg_config_source(config, "game.actions"));
    return MFPG_OK;
}

/* Returns omega as in the game of a run (theory S3.1): auto is the pure public good among N players with
 * Gaussian noise. */
static double personalisation_of(const mfpg_config *config) {
    int public_good =
        (mfpg_cost_facts(config->method.mechanism) & MFPG_COST_PUBLIC_GOOD) && /* its own cost: auto */
        config->method.players == MFPG_PLAYERS_FINITE;
    double given = config->all.game.personalisation;
    return !isnan(given) ? given : public_good ? 0.0 : 0.5;
}

static mfpg_status allocate(mfpg_context *ctx, study *s) {
    ptrdiff_t most = PTRDIFF_MAX / (ptrdiff_t)sizeof(double);
    int64_t samples = s->options.rounds * s->options.draws; /* each below 2^31 */
    if (samples > most / s->count || s->clients > most / s->count) return mfpg_fail_memory(ctx);
    s->sample = mfpg_pool_alloc(&s->memory, (ptrdiff_t)samples * s->count, sizeof *s->sample);
    s->loss = mfpg_pool_alloc(&s->memory, s->clients * s->count, sizeof *s->loss);
    s->action = mfpg_pool_alloc(&s->memory, s->count, sizeof *s->action);
    return s->memory.failed ? mfpg_fail_memory(ctx) : MFPG_OK;
}

static mfpg_status look_at_stop(mfpg_context *ctx, const study *s, int64_t round) {
    if (!s->options.stop || !*s->options.stop) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INTERRUPTED, "interrupted in round %lld of %lld; no table yet",
        (long long)round + 1, (long long)s->experiment->options.rounds);
}

/* Makes one round's draws and reduces each to its mean over clients. */
static mfpg_status measure_round(mfpg_context *ctx, study *s, int64_t round, double *sample) {
    mfpg_status status = MFPG_OK;
    for (int64_t d = 0; d < s->options.draws && status == MFPG_OK; d++, sample += s->count) {
        status = look_at_stop(ctx, s, round);
        if (status != MFPG_OK) return status;
        status = mfpg_federation_own_losses(
            ctx, s->experiment->federation, s->action, s->count, s->personalisation, d, s->loss);
        for (ptrdiff_t j = 0; j < s->count && status == MFPG_OK; j++) {
            double sum = 0.0;
            for (ptrdiff_t k = 0; k < s->clients; k++) sum += s->loss[k * s->count + j];
            sample[j] = sum / (double)s->clients;
        }
    }
    return status;
}

static mfpg_status run(mfpg_context *ctx, study *s) {
    int64_t planned = s->experiment->options.rounds, first = planned - s->options.rounds;
    mfpg_status status = MFPG_OK;
    for (int64_t t = 0; t < planned && status == MFPG_OK; t++) {
        mfpg_round_report unused;
        int done;
        status = look_at_stop(ctx, s, t);
        if (status == MFPG_OK && t >= first)
            status = measure_round(ctx, s, t, s->sample + (t - first) * s->options.draws * s->count);
        if (status == MFPG_OK && t + 1 < planned)
            status = mfpg_federation_round(ctx, s->experiment->federation, &unused, &done);
    }
    return status;
}

/* ---- from samples to a table ---- */

/* Computes the mean, and the variance of the mean, of x_j - minus x_0 over all rounds. That rounds start
 * from different models is not an error of measurement, so the variance is that of the draws within a round. */
static void summarise(const study *s, ptrdiff_t j, double minus, double *mean, double *variance) {
    double total = 0.0, squares = 0.0, draws = (double)s->options.draws, rounds = (double)s->options.rounds;
    const double *x = s->sample;
    for (int64_t r = 0; r < s->options.rounds; r++, x += s->options.draws * s->count) {
        double sum = 0.0, around = 0.0;
        for (int64_t d = 0; d < s->options.draws; d++) sum += x[d * s->count + j] - minus * x[d * s->count];
        for (int64_t d = 0; d < s->options.draws; d++) {
            double off = x[d * s->count + j] - minus * x[d * s->count] - sum / draws;
            around += off * off;
        }
        total += sum / draws;
        squares += around / (draws - 1.0) / draws;
    }
    *mean = total / rounds;
    *variance = squares / (rounds * rounds);
}

/* Pools the losses so that they do not fall as the own noise grows: they rise with a strength and fall with
 * a budget. */
static mfpg_status pool(mfpg_context *ctx, mfpg_loss_table *table) {
    ptrdiff_t n = table->count, *work = mfpg_alloc(n, sizeof *work);
    double *fit = mfpg_alloc(n, sizeof *fit), sign = table->control == MFPG_CONTROL_BUDGET ? -1.0 : 1.0;
    mfpg_status status = work && fit ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status == MFPG_OK) {
        for (ptrdiff_t j = 0; j < n; j++) fit[j] = sign * table->row[j].measured;
        table->pooled = mfpg_isotonic_fit(n, fit, fit, work);
        for (ptrdiff_t j = 0; j < n; j++) {
            table->row[j].loss = sign * fit[j];
            table->moved_most = fmax(table->moved_most, fabs(table->row[j].loss - table->row[j].measured));
        }
    }
    free(work);
    free(fit);
    return status;
}

static mfpg_status tabulate(mfpg_context *ctx, const study *s, mfpg_loss_table *out) {
    mfpg_loss_table table = {.control = s->action[0].control,
        .count = s->count,
        .clients = s->clients,
        .rounds = s->options.rounds,
        .draws = s->options.draws,
        .reference = s->options.reference,
        .personalisation = s->personalisation,
        .pairing_gain = 1.0};
    table.row = mfpg_alloc(s->count, sizeof *table.row);
    if (!table.row) return mfpg_fail_memory(ctx);
    double paired = 0.0, apart = 0.0, first = 0.0;
    for (ptrdiff_t j = 0; j < s->count; j++) {
        mfpg_loss_row *row = &table.row[j];
        double variance, of_difference;
        row->action = s->grid[j];
        summarise(s, j, 0.0, &row->measured, &variance);
        summarise(s, j, 1.0, &row->difference, &of_difference);
        row->standard_error = sqrt(variance);
        row->difference_error = sqrt(of_difference);
        if (j == 0)
            first = variance;
        else
            paired += of_difference, apart += first + variance;
    }
    if (paired > 0.0) table.pairing_gain = apart / paired;
    mfpg_status status = pool(ctx, &table);
    if (status == MFPG_OK)
        *out = table;
    else
        mfpg_loss_table_clear(&table);
    return status;
}

/* Changes the configuration to what is studied: all clients share one action, whatever the game and the
 * target; no client stops and nothing is evaluated. */
static mfpg_status share_action(mfpg_context *ctx, mfpg_config *config, double action) {
    char mechanism[128], law[64] = "", shared[64], number[MFPG_NUMBER_SIZE];
    snprintf(mechanism, sizeof mechanism, "method={mechanism: %s, players: none}", config->method.mechanism);
    snprintf(shared, sizeof shared, "noise.action=%s", mfpg_number_format(action, number));
    if (config->set.law < 0 && config->method.players != MFPG_PLAYERS_NONE)
        snprintf(law, sizeof law, "noise.law=game"); /* as with the game */
    const char *const changes[] = {mechanism, shared, "evaluate=none", "entropic.free_energy=false",
        "privacy.stop_at_epsilon=none", law};
    mfpg_status status = MFPG_OK;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0] && status == MFPG_OK; i++)
        if (changes[i][0]) status = mfpg_config_set(ctx, config, changes[i]);
    return status;
}

/* Some costs need a table, which is only about to be made, so a placeholder is used while the rules are
 * checked. */
static mfpg_status build(mfpg_context *ctx, const mfpg_config *config, study *s) {
    mfpg_config *copy = NULL;
    mfpg_status status = mfpg_config_copy(ctx, config, &copy);
    if (status == MFPG_OK && (mfpg_cost_facts(copy->set.game.cost) & MFPG_COST_NEEDS_TABLE) &&
        !copy->all.loss_table)
        status = mfpg_config_resolve(ctx, copy, "game.loss_table", "loss.csv", "the table being measured");
    if (status == MFPG_OK) status = mfpg_config_check(ctx, copy);
    if (status == MFPG_OK) status = share_action(ctx, copy, s->options.reference);
    return mfpg_experiment_build(ctx, status, copy, NULL, &s->experiment);
}

static mfpg_status prepare(mfpg_context *ctx, const mfpg_config *config, study *s) {
    mfpg_status status = config->method.name ? check_config(ctx, config) : mfpg_config_check(ctx, config);
    if (status == MFPG_OK) status = check_options(ctx, &s->options, config->set.federation.rounds);
    if (status != MFPG_OK) return status;
    s->count = config->all.game.actions.count;
    s->grid = mfpg_pool_alloc(&s->memory, s->count, sizeof *s->grid);
    if (!s->grid) return mfpg_fail_memory(ctx);
    memcpy(s->grid, config->all.game.actions.grid, (size_t)s->count * sizeof *s->grid);
    if (s->options.reference == 0.0) s->options.reference = s->grid[s->count / 2];
    s->personalisation = personalisation_of(config);
    status = build(ctx, config, s);
    if (status != MFPG_OK) return status;
    s->clients = s->experiment->data->clients;
    status = allocate(ctx, s);
    mfpg_control control = mfpg_mechanism_control(s->experiment->mechanisms.of_client[0]);
    for (ptrdiff_t j = 0; j < s->count && status == MFPG_OK; j++)
        s->action[j] = mfpg_make_action(control, s->grid[j]);
    return status;
}

mfpg_status mfpg_loss_table_measure(mfpg_context *ctx, const mfpg_config *config,
    const mfpg_loss_study *study_options, mfpg_loss_table *out) {
    study s = {.options = *study_options};
    mfpg_status status = prepare(ctx, config, &s);
    if (status == MFPG_OK) status = run(ctx, &s);
    if (status == MFPG_OK) status = tabulate(ctx, &s, out);
    mfpg_experiment_destroy(s.experiment);
    mfpg_pool_clear(&s.memory);
    return status;
}

void mfpg_loss_table_clear(mfpg_loss_table *table) {
    if (!table) return;
    free(table->row);
    *table = (mfpg_loss_table){0};
}

/* ---- the table as a file that game.loss_table reads ---- */

/* Writes comment lines, which start with a bar and are ignored by the reader of csv. */
static void write_comments(FILE *out, const mfpg_loss_table *table) {
    char reference[MFPG_NUMBER_SIZE], omega[MFPG_NUMBER_SIZE], moved[MFPG_NUMBER_SIZE];
    fprintf(out, "| Loss of a client against its own action,\n| " MFPG_LOSS_TABLE_NOTE "\n");
    fprintf(out,
        "| %td clients, the last %" PRId64 " rounds, %" PRId64
        " draws of noise a round; everybody else at action %s; personalisation %s\n",
        table->clients, table->rounds, table->draws, mfpg_number_format(table->reference, reference),
        mfpg_number_format(table->personalisation, omega));
    fprintf(out,
        "| loss: measured, pooled if it fell with the own noise (%td actions, by at most %s). Errors are "
        "standard errors;\n"
        "| difference is to the first action, with common random numbers\n",
        table->pooled, mfpg_number_format(table->moved_most, moved));
}

mfpg_status mfpg_loss_table_write(mfpg_context *ctx, const mfpg_loss_table *table, const char *path) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create(ctx, path, &file);
    if (status != MFPG_OK) return status;
    write_comments(file.stream, table);
    mfpg_csv csv = {.stream = file.stream};
    mfpg_csv_header(&csv, "action,loss,measured,standard_error,difference,difference_error,samples,control");
    for (ptrdiff_t j = 0; j < table->count; j++) {
        const mfpg_loss_row *row = &table->row[j];
        mfpg_csv_number(&csv, row->action);
        mfpg_csv_number(&csv, row->loss);
        mfpg_csv_number(&csv, row->measured);
        mfpg_csv_number(&csv, row->standard_error);
        mfpg_csv_number(&csv, row->difference);
        mfpg_csv_number(&csv, row->difference_error);
        mfpg_csv_integer(&csv, table->rounds * table->draws * (int64_t)table->clients);
        mfpg_csv_text(&csv, table->control == MFPG_CONTROL_BUDGET ? "budget" : "strength");
        mfpg_csv_end_row(&csv);
    }
    return mfpg_file_commit(ctx, &file);
}
