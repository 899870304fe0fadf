/* What a page shows, as a JSON tree for its template. Numbers are texts: those of files as they stand there. */
#ifndef MFPG_REPORT_VIEW_H
#define MFPG_REPORT_VIEW_H

#include <jansson.h>

#include "run_group.h"

/* Collects failures, so that a tree can be written down without a check a line: whoever began it looks at the end. */
typedef struct view {
    mfpg_context *ctx;
    int failed; /* memory ran out somewhere; the tree is not whole */
} view;

void view_put(
    view *v, json_t *object, const char *key, json_t *value); /* takes the value; NULL is a failure */
json_t *view_add(view *v, json_t *list, json_t *value);       /* the same; returns it, borrowed */
void view_copy(
    view *v, json_t *object, const char *key, const json_t *value); /* one more holder of it; NULL: null */
json_t *view_new_list(
    view *v, json_t *object, const char *key); /* an empty list in it, borrowed; NULL: failed */
json_t *view_text(const char *text);           /* of any origin; null for NULL */
json_t *view_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
json_t *view_number(double value); /* the shortest text that reads back the same; "inf"; null for NAN */

/* {"term": , "text": } at the end of a list. */
void view_fact(view *v, json_t *list, const char *term, json_t *text);

/* ---- charts: a table, and how it is drawn ---- */

enum {
    VIEW_LISTED = 200,  /* more clients are told by quantiles */
    VIEW_ROUNDS = 1200, /* rows of rounds in a chart's table, all runs of the page together */
    VIEW_FEWEST_ROUNDS = 60
};

/* kind: "line", "bar" or "scatter"; x and y: what the axes are, with units. Titles of columns must be as complete. "log" and "named" of it
 * may be made true: a logarithmic axis; bars under which a figure writes the first column, which is then this program's own text. */
json_t *view_chart(
    view *v, json_t *charts, const char *kind, const char *title, const char *x, const char *y);

/* A further column. role: what is drawn of it: "x", "line", "dash" (a line that is no guarantee), "low" and "high" (a band
 * around the line before it), "bar" (several stand side by side), "point", or "" for what only the table shows. */
void view_column(view *v, json_t *chart, const char *role, json_t *title);

/* A further row, with its first cell; the others follow from left to right. */
json_t *view_row(view *v, json_t *chart, json_t *head);
void view_cell(view *v, json_t *row, json_t *text);

/* ---- parts of the page ---- */

/* Facts about a set of runs: "facts", what each was and how it ended. */
void view_about(view *v, const run_set *set, json_t *out);

/* "promise": what was promised to each client, with its charts. */
void view_promise(view *v, const run_set *set, json_t *out);

/* "attack": what the audit of the set proved, with its charts; null where none was made. */
void view_attack(view *v, const run_set *set, json_t *out);

/* "inversion": what could be rebuilt from gradients, with its charts and pictures; null where nobody tried. */
void view_inversion(view *v, const run_set *set, json_t *out);

/* "game": the equilibrium; nothing without a game. */
void view_game(view *v, const run_set *set, json_t *out);

/* "configuration": every key that counts; "file": config.yaml. */
void view_configuration(view *v, const run_set *set, json_t *out);

/* Charts of the rounds of all sets. */
void view_rounds(view *v, const run_set *sets, ptrdiff_t count, json_t *charts);

/* "comparison": the sets side by side, and the keys in which they differ. */
void view_comparison(view *v, const run_set *sets, ptrdiff_t count, json_t *out);

/* {"path": , "values": [...]} for every key whose value is not the same in all sets, at the end of a list. */
void view_differences(view *v, const run_set *sets, ptrdiff_t count, json_t *keys);

/* The whole tree of a page; NULL when memory ran out. */
json_t *view_page(mfpg_context *ctx, const run_set *sets, ptrdiff_t count);

/* What a client chooses with the run's mechanism: "budget" or "strength". */
const char *view_control(const run_record *record);

#endif
