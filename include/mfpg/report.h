/** Finished runs for people to read: a page of one or several, and two side by side. */
#ifndef MFPG_REPORT_H
#define MFPG_REPORT_H

#include <stddef.h>
#include <stdio.h>

#include "context.h"

/** Runs that fit one page. */
enum { MFPG_REPORT_MOST_RUNS = 64 };

/** Writes FOLDER/report.html, whole or not at all: one file that needs no network, with report.json in it, which its script renders,
 *  and tables for readers without scripts. It holds what each client was promised, what attacks proved, the equilibrium, the rounds, the
 *  configuration and the assumptions, and of several runs a comparison. Numbers are those of the runs' files, digit by digit.
 *  FOLDER/figures gets a CSV file and a gnuplot script of every chart, and figures.gp, which draws them all as SVG, PNG and PDF.
 *  @param[in]  runs    run folders, or folders of a sweep (seed-1, seed-2, ...); 1 <= count <= MFPG_REPORT_MOST_RUNS. Their files
 *                      may come from anybody
 *  @param[in]  folder  where the page goes, made if need be; NULL: the folder of a single run, else the working folder
 *  @param[out] path    of the page; free it. NULL: not asked
 *  @return MFPG_OK; MFPG_ERR_INPUT with file and line for what no run has written; MFPG_ERR_IO, MFPG_ERR_MEMORY */
mfpg_status mfpg_report_write(
    mfpg_context *ctx, const char *const *runs, ptrdiff_t count, const char *folder, char **path);

/** Two runs (or sweeps) side by side, for a terminal: configuration, promises, epsilon and action of each client, last loss and
 *  accuracy, equilibrium. Of many clients those that differ most. Texts of the runs' files cannot command the terminal.
 *  @param[in] colours  1: ANSI colours; for a terminal alone, and never if NO_COLOR is set  */
mfpg_status mfpg_compare_print(
    mfpg_context *ctx, const char *first, const char *second, int colours, FILE *out);

/** The same as text of one JSON object (free it). */
mfpg_status mfpg_compare_json(mfpg_context *ctx, const char *first, const char *second, char **json);

#endif
