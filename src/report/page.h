/* report.json, which a page carries: the fields of a run's files as they are there, and the tables that its
 * charts are drawn from. The script of the page, its tables for readers without scripts, and the files of
 * figures all show this object. */
#ifndef MFPG_REPORT_PAGE_H
#define MFPG_REPORT_PAGE_H

#include <jansson.h>
#include <stdio.h>

#include "run_group.h"

/* ---- building: failures are collected and checked at the end ---- */

typedef struct page {
    mfpg_context *ctx;
    const json_t *forms; /* page/charts.json */
    int failed;          /* memory ran out somewhere, so the object is incomplete */
} page;

void page_put(
    page *p, json_t *object, const char *key, json_t *value); /* takes the value; NULL is a failure */
json_t *page_add(page *p, json_t *list, json_t *value);       /* the same; returns it, borrowed */
void page_share(page *p, json_t *object, const char *key, const json_t *value); /* NULL: null */

json_t *page_text(const char *text); /* of any bytes: those that are not UTF-8 become U+FFFD; null for NULL */
json_t *page_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
json_t *page_number(double value); /* the shortest text that reads back the same; "inf"; "" for NAN */

typedef struct ranked {
    ptrdiff_t index;
    double number;
} ranked;

/* Sorts by number, then by index. */
void page_sort(ranked *list, ptrdiff_t count);

/* Keeps at most so many, those with the smallest numbers, in the order of indices. Returns how many. */
ptrdiff_t page_choose(ranked *list, ptrdiff_t count, ptrdiff_t most);

/* ---- charts: a table of texts, and how it is drawn ---- */

enum {
    PAGE_LISTED =
        200 /* if there are more clients, they are shown by quantiles, or only the most important ones */
};

/* page/charts.json says of each part of a page which charts it has: {"kind": "line", "bar", "scatter", or
 * "table", which is not drawn; "title", "note"; "x", "y": what the axes are, with units; "needs": a field
 * that some row must have, or there is no chart; "log": a logarithmic axis; "named": a figure writes the
 * first column under its bars; "columns": [[field, role, title]]}. A field is a dotted path in the objects of
 * the rows; a column that no row has anything in is left out. The role is what is drawn of it: "x", "line",
 * "dash" (a line that is no guarantee), "low" and "high" (a band around the line before it), "bar" (several
 * are drawn side by side), "point", or "" for what only the table shows. In texts %s becomes a word of the
 * run; a text may be an object of such words. */

/* A new list of the charts of a part, whose rows are a list of objects: {"kind", "title", "x", "y", "log",
 * "named", "columns": [{"role", "title"}], "rows": [[text]], "broken": [numbers of rows whose "stands" is
 * false], "notes": [text]}. */
json_t *page_charts(page *p, const char *part, const char *word, const json_t *rows);

/* Adds a chart without columns and rows; the result is borrowed. */
json_t *page_chart(page *p, json_t *charts, const json_t *form, const char *word);
void page_note(page *p, json_t *chart, json_t *note);
void page_column(page *p, json_t *chart, const char *role, json_t *title);
json_t *page_worded(const json_t *text, const char *word);

/* ---- parts ---- */

/* The clients of a run that a page lists, in one object each: all fields that its files have. Of more than
 * PAGE_LISTED those that are protected least and most. */
json_t *page_clients(page *p, const run_record *run);

/* New lists of charts: of the promises (clients: those of page_clients), of the attack (audit: that of
 * page_audit), of gradient inversion, and of the equilibrium; empty if there is no such thing. */
json_t *page_promise_charts(page *p, const run_record *run, const json_t *clients);
json_t *page_attack_charts(page *p, const json_t *audit);
json_t *page_inversion_charts(page *p, const json_t *inversion);
json_t *page_game_charts(page *p, const run_record *run);

/* Does the same for the rounds, with all groups in each. */
json_t *page_round_charts(page *p, const run_group *groups, ptrdiff_t count);

/* audit.json with "clients" cut to those of whose promise least is left, each with its "number", "verdict"
 * and, if known, "right" and "paper"; then the clients as one sample. "judged" is how many there are;
 * "refuted": of how many the paper's bound is refuted; "reach": the least and the largest share of a promised
 * mu that was proved. */
json_t *page_audit(page *p, const run_group *group);

/* Returns what a client chooses with the run's mechanism: "budget" or "strength". */
const char *page_control(const run_record *run);

/* A group for a comparison: {"label", "folder", "method", "status", "seeds", "clients", "rounds", "promise",
 * "certificate", "epsilon", "under_attack", "loss", "accuracy", "noise_to_signal", "game"}; numbers are those
 * of the files, null if there are none, "inf" for infinity. */
json_t *compare_result(page *p, const run_group *group);

/* {"path": , "values": [...]} for every key whose value is not the same in all groups. */
json_t *compare_keys(page *p, const run_group *groups, ptrdiff_t count);

/* ---- the whole ---- */

/* report.json; NULL if memory ran out. */
json_t *page_json(mfpg_context *ctx, const run_group *groups, ptrdiff_t count);

/* Returns the page that contains the object. MFPG_ERR_MEMORY if it cannot be written as text. */
mfpg_status page_write(mfpg_context *ctx, const json_t *report, FILE *out);

/* Writes NAME.csv and NAME.gp of every chart, style.gp, and figures.gp, which draws them all, into the
 * folder, made if need be; charts of an earlier page, as its figures.gp lists them, are removed. Texts of the
 * runs' files are in the CSV files alone: scripts hold words of this program and numbers. */
mfpg_status page_write_figures(mfpg_context *ctx, const json_t *report, const char *folder);

#endif
