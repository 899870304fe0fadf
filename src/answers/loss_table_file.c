/* Reads a loss table from a file: what a client loses by each action of the game's grid. */
#include "loss_table_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/readers.h"
#include "games/game_internal.h"

/* The columns that are read; control is -1 if it is absent. */
typedef struct columns {
    ptrdiff_t action, loss, control;
} columns;

static mfpg_status find_column(mfpg_context *ctx, const mfpg_table *table, const char *name, ptrdiff_t *out) {
    *out = mfpg_lookup_find(&table->names, mfpg_slice_of(name));
    if (*out >= 0) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s:1: the file has no column \"%s\"; a loss table has the columns action and loss", table->path,
        name);
}

static mfpg_status find_columns(mfpg_context *ctx, const mfpg_table *table, columns *out) {
    mfpg_status status = find_column(ctx, table, "action", &out->action);
    if (status == MFPG_OK) status = find_column(ctx, table, "loss", &out->loss);
    out->control = mfpg_lookup_find(&table->names, mfpg_slice_of("control"));
    return status;
}

static mfpg_status refuse_cell(
    mfpg_context *ctx, const mfpg_table *table, ptrdiff_t row, ptrdiff_t column, const char *allowed) {
    char buffer[MFPG_NUMBER_SIZE];
    mfpg_slice text = mfpg_table_text(table, row, column, buffer);
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%u: column \"%s\": found \"%.*s\"; allowed: %s", table->path,
        mfpg_table_line(table, row), table->names.keys[column], (int)(text.length < 40 ? text.length : 40),
        text.at, allowed);
}

static int is_text(const mfpg_table *table, ptrdiff_t row, ptrdiff_t column, const char *word) {
    char buffer[MFPG_NUMBER_SIZE];
    mfpg_slice text = mfpg_table_text(table, row, column, buffer);
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

/* Checks every row, whether or not its action is one of the game's. */
static mfpg_status check_rows(
    mfpg_context *ctx, const mfpg_table *table, const columns *at, mfpg_control control) {
    const char *word = control == MFPG_CONTROL_BUDGET ? "budget" : "strength";
    for (ptrdiff_t i = 0; i < table->rows; i++) {
        double action, loss;
        if (!mfpg_table_number(table, i, at->action, &action) || !(action > 0.0))
            return refuse_cell(ctx, table, i, at->action, "a finite number above 0");
        if (!mfpg_table_number(table, i, at->loss, &loss))
            return refuse_cell(ctx, table, i, at->loss, "a finite number");
        if (at->control >= 0 && !is_text(table, i, at->control, word))
            return refuse_cell(ctx, table, i, at->control, word);
    }
    return MFPG_OK;
}

/* The one row of that action. */
static mfpg_status find_row(
    mfpg_context *ctx, const mfpg_table *table, const columns *at, double action, ptrdiff_t *out) {
    char text[MFPG_NUMBER_SIZE];
    *out = -1;
    for (ptrdiff_t i = 0; i < table->rows; i++) {
        double found = NAN;
        if (!mfpg_table_number(table, i, at->action, &found) || found != action) continue;
        if (*out >= 0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%u: action %s is in line %u already", table->path,
                mfpg_table_line(table, i), mfpg_number_format(action, text), mfpg_table_line(table, *out));
        *out = i;
    }
    if (*out >= 0) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: no row for action %s, which game.actions has; make a table of these actions", table->path,
        mfpg_number_format(action, text));
}

static mfpg_status take_losses(mfpg_context *ctx, const mfpg_table *table, const mfpg_action_set *set,
    mfpg_control control, double *out) {
    columns at;
    mfpg_status status = find_columns(ctx, table, &at);
    if (status == MFPG_OK) status = check_rows(ctx, table, &at, control);
    for (ptrdiff_t j = 0; j < set->count && status == MFPG_OK; j++) {
        ptrdiff_t row;
        status = find_row(ctx, table, &at, set->grid[j], &row);
        if (status == MFPG_OK) mfpg_table_number(table, row, at.loss, &out[j]);
    }
    return status;
}

static mfpg_status read_rows(
    mfpg_context *ctx, const char *path, const mfpg_action_set *set, mfpg_control control, double *out) {
    const mfpg_reader_ops *csv;
    mfpg_data_options options = mfpg_data_options_default();
    mfpg_table table = {0};
    mfpg_status status = mfpg_reader_find(ctx, "csv", &csv);
    if (status == MFPG_OK) status = csv->read(ctx, path, &options, &table);
    if (status == MFPG_OK) status = take_losses(ctx, &table, set, control, out);
    mfpg_table_clear(&table);
    return status;
}

mfpg_status mfpg_loss_table_read(mfpg_context *ctx, const char *path, const mfpg_game *game, double **out) {
    mfpg_control control = mfpg_cost_control(game->cost);
    if (!game->actions.grid || game->actions.count < 1)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: a loss table needs a list of actions; between them nothing was measured", path);
    double *loss = mfpg_alloc(game->actions.count, sizeof *loss);
    if (!loss) return mfpg_fail_memory(ctx);
    mfpg_status status = read_rows(ctx, path, &game->actions, control, loss);
    if (status == MFPG_OK) {
        mfpg_game tabled = *game;
        tabled.loss_table = loss;
        status = mfpg_loss_table_check(ctx, &tabled, control);
        if (status != MFPG_OK) mfpg_fail_in(ctx, status, "%s", path);
    }
    if (status == MFPG_OK)
        *out = loss;
    else
        free(loss);
    return status;
}
