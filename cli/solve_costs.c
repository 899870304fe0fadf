/* mfpg solve CONFIG.yaml --study costs: what its own noise costs a client, by running the mechanism of a configuration. */
#include <stdio.h>

#include "mfpg/config.h"
#include "mfpg/loss_table.h"

#include "interrupt.h"
#include "options.h"
#include "solve.h"

static json_t *rows_json(const mfpg_loss_table *table) {
    json_t *rows = json_array();
    for (ptrdiff_t j = 0; j < table->count; j++) {
        const mfpg_loss_row *row = &table->row[j];
        json_array_append_new(rows,
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "action", cli_json_number(row->action), "loss",
                cli_json_number(row->loss), "measured", cli_json_number(row->measured), "standard_error",
                cli_json_number(row->standard_error), "difference", cli_json_number(row->difference),
                "difference_error", cli_json_number(row->difference_error)));
    }
    return rows;
}

static const char *control_name(const mfpg_loss_table *table) {
    return table->control == MFPG_CONTROL_BUDGET ? "budget" : "strength";
}

static json_t *table_json(const mfpg_loss_table *table, const char *out) {
    return json_pack("{s:s, s:o, s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:o, s:s, s:s?}", "control",
        control_name(table), "actions", rows_json(table), "clients", (json_int_t)table->clients, "rounds",
        (json_int_t)table->rounds, "draws", (json_int_t)table->draws, "reference",
        cli_json_number(table->reference), "personalisation", cli_json_number(table->personalisation),
        "pooled", (json_int_t)table->pooled, "moved_most", cli_json_number(table->moved_most), "pairing_gain",
        cli_json_number(table->pairing_gain), "privacy", MFPG_LOSS_TABLE_NOTE, "out", out);
}

static void print_table(const mfpg_loss_table *table, const char *out) {
    printf("Loss of a client by its own %s: mean over %td clients, the last %lld rounds and %lld draws of "
           "noise a round,\neverybody else at %g, personalisation %g.\n\n",
        control_name(table), table->clients, (long long)table->rounds, (long long)table->draws,
        table->reference, table->personalisation);
    printf("  %10s %14s %14s %12s   %14s %12s\n", control_name(table), "loss", "measured", "error",
        "to the first", "error");
    for (ptrdiff_t j = 0; j < table->count; j++) {
        const mfpg_loss_row *row = &table->row[j];
        printf("  %10g %14.8g %14.8g %12.3g   %+14.8g %12.3g\n", row->action, row->loss, row->measured,
            row->standard_error, row->difference, row->difference_error);
    }
    printf("\nCommon random numbers: a difference has %.3g times less variance than between independent "
           "runs.\n",
        table->pairing_gain);
    if (table->pooled > 0)
        printf("Pooled: %td actions, whose measured loss fell with the own noise, by at most %.3g.\n",
            table->pooled, table->moved_most);
    printf("The table was " MFPG_LOSS_TABLE_NOTE ".\n");
    if (out) printf("Written to %s; a game plays it by game.loss_table.\n", out);
}

static int measure(mfpg_context *ctx, const solve_settings *chosen, const mfpg_config *config) {
    mfpg_loss_table table;
    mfpg_loss_study study = mfpg_loss_study_default();
    int64_t planned = (int64_t)mfpg_config_number(config, "train.rounds");
    if (study.rounds > planned) study.rounds = planned;
    study.rounds = (int64_t)solve_or(chosen->asked.measured_rounds, (double)study.rounds);
    study.draws = (int64_t)solve_or(chosen->asked.draws, (double)study.draws);
    study.reference = solve_or(chosen->asked.reference, study.reference);
    study.stop = interrupt_watch();
    mfpg_status status = mfpg_loss_table_measure(ctx, config, &study, &table);
    if (status != MFPG_OK) return cli_fail(ctx, "solve", status);
    int code = CLI_DONE;
    if (chosen->asked.out) status = mfpg_loss_table_write(ctx, &table, chosen->asked.out);
    if (status != MFPG_OK)
        code = cli_fail(ctx, "solve", status);
    else if (chosen->common.json)
        code = cli_json_print("solve", table_json(&table, chosen->asked.out));
    else
        print_table(&table, chosen->asked.out);
    mfpg_loss_table_clear(&table);
    return cli_finish("solve", code);
}

int solve_study_costs(const solve_settings *chosen) {
    if (!chosen->configuration)
        return cli_refuse("solve", "--study costs measures a configuration; give one, as in `mfpg solve "
                                   "mine.yaml --study costs --public --out loss.csv`");
    if (!chosen->asked.is_public)
        return cli_refuse("solve",
            "--study costs computes losses from the data without noise: made from "
            "private data the table would be a release that no certificate covers. Give "
            "--public if the data of %s are public (a stand-in for the private ones)",
            chosen->configuration);
    mfpg_context *ctx = cli_context(0);
    mfpg_config *config = NULL;
    mfpg_status status = mfpg_config_open(ctx, chosen->configuration, &config);
    for (int i = 0; i < chosen->argument_count && status == MFPG_OK; i++)
        status = mfpg_config_set(ctx, config, chosen->arguments[i]);
    int code = status == MFPG_OK ? measure(ctx, chosen, config) : cli_fail(ctx, "solve", status);
    mfpg_config_destroy(config);
    mfpg_context_destroy(ctx);
    return code;
}
