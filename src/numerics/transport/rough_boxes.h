/* Products by boxes in floats: the way to the scaling, which products in doubles then check and correct. */
#ifndef MFPG_NUMERICS_ROUGH_BOXES_H
#define MFPG_NUMERICS_ROUGH_BOXES_H

#include "box_layout.h"
#include "mfpg/context.h"

typedef struct mfpg_rough_boxes mfpg_rough_boxes;

/* layout is borrowed. Memory: n floats and some 70 a column. */
mfpg_status mfpg_rough_boxes_create(
    mfpg_context *ctx, const mfpg_box_layout *layout, double eta, mfpg_rough_boxes **out);
void mfpg_rough_boxes_destroy(mfpg_rough_boxes *boxes);

/* out_i = sum_j K_ij u_j. */
void mfpg_rough_boxes_weigh(mfpg_rough_boxes *boxes, const float *u, float *out);

#endif
