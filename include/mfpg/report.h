/** Reports of finished runs for people: a page for one or several runs, and a comparison of two runs. */
#ifndef MFPG_REPORT_H
#define MFPG_REPORT_H

#include <stddef.h>
#include <stdio.h>

#include "context.h"

/** Runs that fit one page. */
enum { MFPG_REPORT_MOST_RUNS = 64 };

/** Writes FOLDER/report.html, completely or not at all: one file that needs no network. It contains
 *  report.json, which its script renders, and tables for readers without scripts. It shows what was promised
 *  to each client, what attacks proved, the equilibrium, the rounds, the configuration and the assumptions,
 *  and for several runs a comparison. Numbers are copied digit by digit from the runs' files. FOLDER/figures
 *  gets a CSV file and a gnuplot script for every chart, and figures.gp, which draws them all as SVG, PNG and
 *  PDF.
 *  @param[in]  runs    run folders, or folders of a sweep (seed-1, seed-2, ...); 1 <= count <=
 *  MFPG_REPORT_MOST_RUNS.
 *  Their files may come from anybody
 *  @param[in]  folder  the folder for the page, created if needed; NULL: the folder of a single run,
 *  otherwise the working folder
 *  @param[out] path    path of the page; free it. NULL: not wanted
 *  @return MFPG_OK; MFPG_ERR_INPUT with file and line for content that no run writes; MFPG_ERR_IO,
 *  MFPG_ERR_MEMORY */
mfpg_status mfpg_report_write(
    mfpg_context *ctx, const char *const *runs, ptrdiff_t count, const char *folder, char **path);

/** Compares two runs (or sweeps) for a terminal: configuration, promises, epsilon and action of each client,
 *  last loss and accuracy, equilibrium. If there are many clients, it shows those that differ most. Control
 *  characters in the runs' files cannot reach the terminal.
 *  @param[in] colours  1: ANSI colours; only for a terminal, and never if NO_COLOR is set */
mfpg_status mfpg_compare_print(
    mfpg_context *ctx, const char *first, const char *second, int colours, FILE *out);

/** Returns the comparison as the text of one JSON object (free it). */
mfpg_status mfpg_compare_json(mfpg_context *ctx, const char *first, const char *second, char **json);

#endif
