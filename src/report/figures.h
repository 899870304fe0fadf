/* The charts of a page as files: CSV tables with the gnuplot scripts that draw them. */
#ifndef MFPG_REPORT_FIGURES_H
#define MFPG_REPORT_FIGURES_H

#include <jansson.h>

#include "mfpg/context.h"

/* Writes NAME.csv and NAME.gp of every chart of a view_page, style.gp, and figures.gp, which draws them all, into the folder, made
 * if need be; charts of an earlier page, as its figures.gp lists them, are removed. What comes from the runs' files stands in the CSV files alone: scripts hold words of this program and numbers. */
mfpg_status figures_write(mfpg_context *ctx, const json_t *page, const char *folder);

#endif
