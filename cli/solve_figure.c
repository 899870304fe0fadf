/* mfpg solve --study figure: the paper's equilibrium figure under every reading of its formulas. */
#include <stdio.h>
#include <stdlib.h>

#include "reproduction/studies.h"

#include "options.h"
#include "solve.h"

static mfpg_figure_options read_options(const mfpg_solve_request *asked) {
    mfpg_figure_options options = mfpg_figure_options_default();
    options.clients = (ptrdiff_t)solve_or(asked->game.population, (double)options.clients);
    options.draws = (ptrdiff_t)solve_or(asked->repeats, (double)options.draws);
    options.seed = (uint64_t)solve_or(asked->seed, (double)options.seed);
    return options;
}

/* ---- words ---- */

enum { COLUMN = 13, LABEL = 27, ROWS = 9 };

static void print_heading(const mfpg_figure *of, int width, const char *label) {
    printf("%-*s", width, label);
    for (ptrdiff_t i = 0; i < of->reading_count; i++) printf(" %*s", COLUMN, of->panels[i].reading.name);
    putchar('\n');
}

/* Few of the betas: the file has all. */
static void print_sweep(const mfpg_figure *of, const char *title,
    const double *(*values)(const mfpg_panels *panels), const double *(*errors)(const mfpg_panels *panels)) {
    ptrdiff_t every = (of->beta_count + ROWS - 2) / (ROWS - 1);
    printf("\n%s\n\n", title);
    print_heading(of, 8, "beta");
    for (ptrdiff_t b = 0; b < of->beta_count;
         b = b + every < of->beta_count || b + 1 == of->beta_count ? b + every : of->beta_count - 1) {
        printf("%-8.3g", of->beta[b]);
        for (ptrdiff_t i = 0; i < of->reading_count; i++) {
            char cell[48];
            double error = errors(&of->panels[i])[b];
            if (of->panels[i].draws > 1 && error > 0)
                snprintf(cell, sizeof cell, "%.3f ±%.3f", values(&of->panels[i])[b], error);
            else
                snprintf(cell, sizeof cell, "%.3f", values(&of->panels[i])[b]);
            /* the sign is two bytes wide in UTF-8 and one on the screen */
            printf(" %*s", COLUMN + (of->panels[i].draws > 1 && error > 0), cell);
        }
        putchar('\n');
    }
}

#define FIELD(name)                                                                                          \
    static const double *name##_of(const mfpg_panels *panels) {                                              \
        return panels->name;                                                                                 \
    }
FIELD(mean)
FIELD(mean_error)
FIELD(delta)
FIELD(delta_error)
FIELD(at_mean)
FIELD(at_mean_error)
FIELD(privacy)
FIELD(privacy_error)
#undef FIELD

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
    print_sweep(of, "Left panel: mean action where every client has that beta", mean_of, mean_error_of);
    print_sweep(of,
        "Centre panel: delta*, eq. (dpbound) of each client's own action, mean over clients; certifies "
        "nothing",
        delta_of, delta_error_of);
    print_sweep(of, "The same of the mean action", at_mean_of, at_mean_error_of);
    print_sweep(of, "The reading's own privacy term, mean over clients", privacy_of, privacy_error_of);
    print_histogram(of, options);
    printf("\nEvery population is solved exactly: no client gains %s by changing its action alone.\n",
        exploitability < 1e-12 ? "anything" : "more than 1e-12");
    print_statements(of);
    printf(
        "\nHow often the largest of five actions is the single best one, every constant and the set itself "
        "drawn at random\n(seed %llu):\n\n",
        (unsigned long long)options->seed);
    for (ptrdiff_t i = 0; i < of->corner_count; i++)
        printf("%-14s %td of %td settings\n", of->corner[i].reading, of->corner[i].at_largest,
            of->corner[i].settings);
}

/* ---- JSON ---- */

static json_t *list_of(const double *values, ptrdiff_t count) {
    json_t *list = json_array();
    for (ptrdiff_t i = 0; i < count; i++) json_array_append_new(list, cli_json_number(values[i]));
    return list;
}

static json_t *findings_json(const mfpg_figure *of, const mfpg_panels *panels) {
    json_t *object = json_object();
    for (ptrdiff_t s = 0; s < of->statement_count; s++) {
        const mfpg_finding *found = &panels->finding[s];
        json_object_set_new(object, mfpg_statement_get(s)->name,
            json_pack("{s:s, s:o, s:o}", "verdict", mfpg_verdict_name(found->verdict), "share",
                cli_json_number(found->share), "number", cli_json_number(found->number)));
    }
    return object;
}

static json_t *panels_json(const mfpg_figure *of, const mfpg_panels *p) {
    ptrdiff_t n = of->beta_count, actions = MFPG_READING_ACTIONS;
    json_t *object = json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o}", "reading", p->reading.name, "says",
        p->reading.says, "draws", (json_int_t)p->draws, "mean", list_of(p->mean, n), "mean_error",
        list_of(p->mean_error, n), "delta", list_of(p->delta, n), "delta_error", list_of(p->delta_error, n));
    json_t *more = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:o}", "delta_at_mean",
        list_of(p->at_mean, n), "delta_at_mean_error", list_of(p->at_mean_error, n), "privacy",
        list_of(p->privacy, n), "privacy_error", list_of(p->privacy_error, n), "clients",
        list_of(p->count, actions), "clients_error", list_of(p->count_error, actions), "clients_mean",
        p->spread_mean, "clients_mean_error", p->spread_mean_error, "exploitability", p->exploitability,
        "statements", findings_json(of, p));
    if (object && more) json_object_update(object, more);
    json_decref(more);
    return object;
}

static json_t *answer_json(const mfpg_figure_options *options, const mfpg_figure *of) {
    json_t *readings = json_array(), *corners = json_array(), *statements = json_object();
    for (ptrdiff_t i = 0; i < of->reading_count; i++)
        json_array_append_new(readings, panels_json(of, &of->panels[i]));
    for (ptrdiff_t i = 0; i < of->corner_count; i++)
        json_array_append_new(corners,
            json_pack("{s:s, s:I, s:I}", "reading", of->corner[i].reading, "settings",
                (json_int_t)of->corner[i].settings, "at_largest", (json_int_t)of->corner[i].at_largest));
    for (ptrdiff_t s = 0; s < of->statement_count; s++) {
        const mfpg_statement *statement = mfpg_statement_get(s);
        json_object_set_new(statements, statement->name,
            json_pack("{s:s, s:s}", "says", statement->says, "number", statement->number));
    }
    return json_pack("{s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "study", "figure", "clients",
        (json_int_t)options->clients, "seed", (json_int_t)options->seed, "beta",
        list_of(of->beta, of->beta_count), "actions", list_of(mfpg_reading_action, MFPG_READING_ACTIONS),
        "readings", readings, "statements", statements, "corner", corners);
}

/* ---- the study ---- */

static int tell(mfpg_context *ctx, const solve_settings *chosen, const mfpg_figure_options *options,
    const mfpg_figure *of) {
    mfpg_status status = chosen->asked.out ? mfpg_figure_write(ctx, of, NULL, chosen->asked.out) : MFPG_OK;
    if (status != MFPG_OK) return cli_fail(ctx, "solve", status);
    if (chosen->common.json) return cli_json_print("solve", answer_json(options, of));
    print_words(options, of);
    if (chosen->asked.out) printf("\nAll points of the panels: %s\n", chosen->asked.out);
    return cli_finish("solve", CLI_DONE);
}

int solve_study_figure(const solve_settings *chosen) {
    const mfpg_figure_options options = read_options(&chosen->asked);
    mfpg_figure figure = {0};
    mfpg_context *ctx = cli_context(0);
    mfpg_status status = mfpg_study_figure(ctx, NULL, 0, &options, &figure);
    int code = status == MFPG_OK ? tell(ctx, chosen, &options, &figure) : cli_fail(ctx, "solve", status);
    mfpg_figure_clear(&figure);
    mfpg_context_destroy(ctx);
    return code;
}
