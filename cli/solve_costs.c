/* mfpg solve CONFIG.yaml --study costs: what its own noise costs a client, by running the mechanism of a configuration. */
#include "mfpg/loss_table.h"

#include "solve.h"

static json_t *row_json(const void *table, ptrdiff_t index) {
    const mfpg_loss_row *row = &((const mfpg_loss_table *)table)->row[index];
    return cli_json("action:n loss:n measured:n standard_error:n difference:n difference_error:n",
        row->action, row->loss, row->measured, row->standard_error, row->difference, row->difference_error);
}

static const char *control_name(const mfpg_loss_table *table) {
    return table->control == MFPG_CONTROL_BUDGET ? "budget" : "strength";
}

static json_t *table_json(const mfpg_loss_table *table, const char *out) {
    return cli_json("control:s actions:o clients:i rounds:i draws:i reference:n personalisation:n pooled:i "
                    "moved_most:n pairing_gain:n privacy:s out:s",
        control_name(table), cli_json_array(table->count, row_json, table), (int64_t)table->clients,
        (int64_t)table->rounds, (int64_t)table->draws, table->reference, table->personalisation,
        (int64_t)table->pooled, table->moved_most, table->pairing_gain, MFPG_LOSS_TABLE_NOTE, out);
}

static void print_table(const mfpg_loss_table *table, const char *out) {
    printf("Loss of a client by its own %s: mean over %td clients, the last %lld rounds and %lld draws of "
           "noise a round,\nall others at %g, personalisation %g.\n\n",
        control_name(table), table->clients, (long long)table->rounds, (long long)table->draws,
        table->reference, table->personalisation);
    printf("  %10s %14s %14s %12s   %14s %12s\n", control_name(table), "loss", "measured", "error",
        "to the first", "error");
    for (ptrdiff_t j = 0; j < table->count; j++) {
        const mfpg_loss_row *row = &table->row[j];
        printf("  %10g %14.8g %14.8g %12.3g   %+14.8g %12.3g\n", row->action, row->loss, row->measured,
            row->standard_error, row->difference, row->difference_error);
    }
    printf(
        "\nCommon random numbers: a difference has %.3g times less variance than between independent runs.\n",
        table->pairing_gain);
    if (table->pooled > 0)
        printf("Pooled: %td actions, whose measured loss fell with the own noise, by at most %.3g.\n",
            table->pooled, table->moved_most);
    printf("The table was " MFPG_LOSS_TABLE_NOTE ".\n");
    if (out) printf("Written to %s; a game plays it by game.loss_table.\n", out);
}

static mfpg_status measure(cli_call *call, const mfpg_solve_request *asked, const mfpg_config *config) {
    mfpg_loss_table table;
    mfpg_loss_study study = mfpg_loss_study_default();
    int64_t planned = (int64_t)mfpg_config_number(config, "train.rounds");
    if (study.rounds > planned) study.rounds = planned;
    study.rounds = (int64_t)cli_or(asked->measured_rounds, (double)study.rounds);
    study.draws = (int64_t)cli_or(asked->draws, (double)study.draws);
    study.reference = cli_or(asked->reference, study.reference);
    study.stop = cli_interrupt_watch();
    mfpg_status status = mfpg_loss_table_measure(call->ctx, config, &study, &table);
    if (status != MFPG_OK) return status;
    if (asked->out) status = mfpg_loss_table_write(call->ctx, &table, asked->out);
    if (status == MFPG_OK && call->json)
        status = cli_json_print(table_json(&table, asked->out));
    else if (status == MFPG_OK)
        print_table(&table, asked->out);
    mfpg_loss_table_clear(&table);
    return status;
}

mfpg_status solve_study_costs(cli_call *call) {
    const mfpg_solve_request *asked = call->options;
    mfpg_config *config = NULL;
    if (call->arguments == 0)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
            "--study costs measures a configuration; give one, as in `mfpg solve mine.yaml --study costs "
            "--public --out loss.csv`");
    if (!asked->is_public)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
            "--study costs computes losses from the data without noise: made from private data the table "
            "would be a release that no certificate covers. Give --public if the data of %s are public (a "
            "stand-in for the private ones)",
            call->argument[0]);
    mfpg_status status = cli_open_config(call, &config);
    if (status == MFPG_OK) status = measure(call, asked, config);
    mfpg_config_destroy(config);
    return status;
}
