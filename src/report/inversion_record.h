/* Gradient inversion in audit.json: what it must be, so that a page can show it. */
#ifndef MFPG_REPORT_INVERSION_RECORD_H
#define MFPG_REPORT_INVERSION_RECORD_H

#include "run_record.h"

/* Checks the value of key "inversion" (docs/audit.md has its shape):
 *   "client" is one of the run's, "unit" and "adjacency" are those of its promise; "stands" is whether those of all levels do;
 *   "levels" are 1 to INVERSION_LEVELS objects: "mu", "mu_replace", "noise_sd" are numbers from 0 or "inf"; "closed_form" and
 *   "optimisation" have "psnr", "ssim", "pearson", each with "median" and "best", which are numbers or null; so have "mean" and "other" of "chance";
 *   "identification" has "correct" of "trials" (whole numbers), shares "rate", "lower" and "cap", "median_rank", and "stands",
 *   which is false where lower exceeds cap;
 *   "pictures" is null, missing, or has "width" and "height" from 1 to INVERSION_SIDE, "original" with 1 to INVERSION_EXAMPLES pictures,
 *   "mean", and "levels" as many as above, each with "closed_form" and "optimisation": as many pictures as "original", or none.
 * A picture is the base64 text of a PNG file of 8-bit grey and exactly that size. Everything else is MFPG_ERR_INPUT. */
mfpg_status inversion_record_check(
    mfpg_context *ctx, const char *folder, const run_record *run, const json_t *inversion);

enum { INVERSION_LEVELS = 16, INVERSION_EXAMPLES = 16, INVERSION_SIDE = 256 };

#endif
