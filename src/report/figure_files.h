/* The files of a figure: its table, the script that draws it, and its pictures. */
#ifndef MFPG_REPORT_FIGURE_FILES_H
#define MFPG_REPORT_FIGURE_FILES_H

#include "mfpg/context.h"

/* Removes NAME.csv, .gp, .svg, .png and .pdf, those that are there: a picture of an earlier run beside a table of this one would pass for
 * its picture. Symbolic links are removed, not followed. */
mfpg_status mfpg_figure_remove(mfpg_context *ctx, const char *folder, const char *name);

#endif
