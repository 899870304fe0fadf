/* mfpg solve --study figure: the paper's equilibrium figure under every reading of its formulas. */
#include <math.h>

#include "reproduction/studies.h"

#include "solve.h"

enum { COLUMN = 13, LABEL = 27, ROWS = 9 };

static void print_heading(const mfpg_figure *of, int width, const char *label) {
    printf("%-*s", width, label);
    for (ptrdiff_t i = 0; i < of->reading_count; i++) printf(" %*s", COLUMN, of->panels[i].reading.name);
    putchar('\n');
}

/* Prints only a few of the betas; the file has all. */
static void print_sweep(const mfpg_figure *of, const char *title, int which) {
    ptrdiff_t every = (of->beta_count + ROWS - 2) / (ROWS - 1);
    printf("\n%s\n\n", title);
    print_heading(of, 8, "beta");
    for (ptrdiff_t b = 0; b < of->beta_count;
         b = b + every < of->beta_count || b + 1 == of->beta_count ? b + every : of->beta_count - 1) {
        printf("%-8.3g", of->beta[b]);
        for (ptrdiff_t i = 0; i < of->reading_count; i++) {
            char cell[48];
            double value = of->panels[i].sweep[which][b], error = of->panels[i].sweep_error[which][b];
            int spreads = of->panels[i].draws > 1 && error > 0;
            snprintf(cell, sizeof cell, spreads ? "%.3f ±%.3f" : "%.3f", value, error);
            /* the sign is two bytes wide in UTF-8 and one on the screen */
            printf(" %*s", COLUMN + spreads, cell);
        }
        putchar('\n');
    }
}

static void print_histogram(const mfpg_figure *of, const mfpg_figure_options *options) {
    printf("\nRight panel: of %td clients with beta_k from %.3g to %.3g, how many play each action\n\n%-14s",
        options->clients, options->spread_low, options->spread_high, "reading");
    for (int a = 0; a < MFPG_READING_ACTIONS; a++) printf(" %12g", mfpg_reading_action[a]);
    printf("    mean\n");
    for (ptrdiff_t i = 0; i < of->reading_count; i++) {
        const mfpg_panels *p = &of->panels[i];
        printf("%-14s", p->reading.name);
        for (int a = 0; a < MFPG_READING_ACTIONS; a++) {
            if (p->draws > 1)
                printf(" %6.2f ±%4.2f", p->count[a], p->count_error[a]);
            else
                printf(" %12.4g", p->count[a]);
        }
        printf("    %.4f", p->spread_mean);
        if (p->draws > 1) printf(" ± %.4f", p->spread_mean_error);
        putchar('\n');
    }
}

static void print_statements(const mfpg_figure *of) {
    printf("\nWhich statement of the paper holds under which reading (the number that decides)\n\n");
    print_heading(of, LABEL, "statement");
    for (ptrdiff_t s = 0; s < of->statement_count; s++) {
        printf("%-*s", LABEL, mfpg_statement_get(s)->name);
        for (ptrdiff_t i = 0; i < of->reading_count; i++) {
            const mfpg_finding *found = &of->panels[i].finding[s];
            char cell[64];
            if (found->verdict == MFPG_VERDICT_NONE)
                snprintf(cell, sizeof cell, "-");
            else
                snprintf(cell, sizeof cell, "%s %.3g", mfpg_verdict_name(found->verdict), found->number);
            printf(" %*s", COLUMN, cell);
        }
        putchar('\n');
    }
    printf("\n");
    for (ptrdiff_t s = 0; s < of->statement_count; s++) {
        const mfpg_statement *statement = mfpg_statement_get(s);
        printf("%-*s %s. Number: %s.\n", LABEL, statement->name, statement->says, statement->number);
    }
}

static void print_words(const mfpg_figure_options *options, const mfpg_figure *of) {
    static const char *const titles[MFPG_SWEEPS] = {"Left panel: mean action if every client has that beta",
        ("Centre panel: delta*, eq. (dpbound) of each client's own action, mean over clients; certifies "
         "nothing"),
        "The same of the mean action", "The reading's own privacy term, mean over clients"};
    double exploitability = 0;
    printf("A client pays loss + beta x privacy. Readings:\n\n");
    for (ptrdiff_t i = 0; i < of->reading_count; i++) {
        const mfpg_reading *reading = &of->panels[i].reading;
        printf("%-14s %s", reading->name, reading->says);
        if (reading->gradient_spread > 0)
            printf("\n%-14s (G_k uniform on %g (1 +- %g): %td draws, seed %llu; ± is one standard error over "
                   "them)",
                "", reading->bound.gradient_norm, reading->gradient_spread, of->panels[i].draws,
                (unsigned long long)options->seed);
        printf("\n");
        exploitability = fmax(exploitability, of->panels[i].exploitability);
    }
    for (int s = 0; s < MFPG_SWEEPS; s++) print_sweep(of, titles[s], s);
    print_histogram(of, options);
    printf("\nEvery population is solved exactly: no client can gain %s by changing its action alone.\n",
        exploitability < 1e-12 ? "anything" : "more than 1e-12");
    print_statements(of);
    printf("\nHow often the largest of five actions is the single best one, every constant and the set "
           "itself drawn at random\n(seed %llu):\n\n",
        (unsigned long long)options->seed);
    for (ptrdiff_t i = 0; i < of->corner_count; i++)
        printf("%-14s %td of %td settings\n", of->corner[i].reading, of->corner[i].at_largest,
            of->corner[i].settings);
}

/* ---- JSON ---- */

static json_t *findings_json(const mfpg_figure *of, const mfpg_panels *panels) {
    json_t *object = json_object();
    for (ptrdiff_t s = 0; s < of->statement_count; s++) {
        const mfpg_finding *found = &panels->finding[s];
        json_object_set_new(object, mfpg_statement_get(s)->name,
            cli_json("verdict:s share:n number:n", mfpg_verdict_name(found->verdict), found->share,
                found->number));
    }
    return object;
}

static json_t *panels_json(const void *figure, ptrdiff_t index) {
    const mfpg_figure *of = figure;
    const mfpg_panels *p = &of->panels[index];
    ptrdiff_t n = of->beta_count, actions = MFPG_READING_ACTIONS;
    json_t *object = cli_json("reading:s says:s draws:i", p->reading.name, p->reading.says, p->draws);
    for (int s = 0; s < MFPG_SWEEPS; s++) {
        char names[64];
        snprintf(names, sizeof names, "%s:o %s_error:o", mfpg_sweep_name[s], mfpg_sweep_name[s]);
        object = cli_json_add(
            object, names, cli_json_numbers(p->sweep[s], n), cli_json_numbers(p->sweep_error[s], n));
    }
    return cli_json_add(object,
        "clients:o clients_error:o clients_mean:n clients_mean_error:n exploitability:n statements:o",
        cli_json_numbers(p->count, actions), cli_json_numbers(p->count_error, actions), p->spread_mean,
        p->spread_mean_error, p->exploitability, findings_json(of, p));
}

static json_t *corner_json(const void *figure, ptrdiff_t index) {
    const mfpg_figure *of = figure;
    return cli_json("reading:s settings:i at_largest:i", of->corner[index].reading,
        of->corner[index].settings, of->corner[index].at_largest);
}

static json_t *answer_json(const mfpg_figure_options *options, const mfpg_figure *of) {
    json_t *statements = json_object();
    for (ptrdiff_t s = 0; s < of->statement_count; s++) {
        const mfpg_statement *statement = mfpg_statement_get(s);
        json_object_set_new(
            statements, statement->name, cli_json("says:s number:s", statement->says, statement->number));
    }
    return cli_json("study:s clients:i seed:i beta:o actions:o readings:o statements:o corner:o", "figure",
        options->clients, (int64_t)options->seed, cli_json_numbers(of->beta, of->beta_count),
        cli_json_numbers(mfpg_reading_action, MFPG_READING_ACTIONS),
        cli_json_array(of->reading_count, panels_json, of), statements,
        cli_json_array(of->corner_count, corner_json, of));
}

/* ---- the study ---- */

mfpg_status solve_study_figure(cli_call *call) {
    const mfpg_solve_request *asked = call->options;
    mfpg_figure_options options = mfpg_figure_options_default();
    mfpg_figure figure = {0};
    options.clients = (ptrdiff_t)cli_or(asked->game.population, (double)options.clients);
    options.draws = (ptrdiff_t)cli_or(asked->repeats, (double)options.draws);
    options.seed = (uint64_t)cli_or(asked->seed, (double)options.seed);
    mfpg_status status = mfpg_study_figure(call->ctx, NULL, 0, &options, &figure);
    if (status == MFPG_OK && asked->out) status = mfpg_figure_write(call->ctx, &figure, NULL, asked->out);
    if (status == MFPG_OK && call->json) {
        status = cli_json_print(answer_json(&options, &figure));
    } else if (status == MFPG_OK) {
        print_words(&options, &figure);
        if (asked->out) printf("\nAll points of the panels: %s\n", asked->out);
    }
    mfpg_figure_clear(&figure);
    return status;
}
