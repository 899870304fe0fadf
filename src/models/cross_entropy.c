#include "cross_entropy.h"

#include <math.h>

ptrdiff_t mfpg_class_of(float y, ptrdiff_t classes) {
    return y >= 0.0F && y < (float)classes && y == floorf(y) ? (ptrdiff_t)y : -1;
}

/* The largest margin is taken off first: no exponential can overflow, and the sum is at least 1. */
void mfpg_cross_entropy_signal(ptrdiff_t classes, ptrdiff_t step, ptrdiff_t label, float *margin) {
    float largest = margin[0], sum = 0.0F;
    for (ptrdiff_t c = 1; c < classes; c++) largest = fmaxf(largest, margin[c * step]);
    for (ptrdiff_t c = 0; c < classes; c++) {
        margin[c * step] = expf(margin[c * step] - largest);
        sum += margin[c * step];
    }
    for (ptrdiff_t c = 0; c < classes; c++)
        margin[c * step] = label < 0 ? NAN : margin[c * step] / sum - (c == label ? 1.0F : 0.0F);
}

mfpg_prediction mfpg_cross_entropy_predict(
    ptrdiff_t classes, ptrdiff_t step, ptrdiff_t label, const float *margin) {
    mfpg_prediction out = {.chosen = 0, .score = margin[step] - margin[0]};
    for (ptrdiff_t c = 1; c < classes; c++)
        if (margin[c * step] > margin[out.chosen * step]) out.chosen = (int32_t)c;
    double largest = (double)margin[out.chosen * step], sum = 0.0;
    for (ptrdiff_t c = 0; c < classes; c++) sum += exp((double)margin[c * step] - largest);
    if (isnan(sum)) return (mfpg_prediction){.loss = NAN, .score = NAN, .chosen = -1};
    out.loss = label < 0 ? (double)NAN : log(sum) + largest - (double)margin[label * step];
    return out;
}
