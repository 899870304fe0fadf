/* Softmax and cross-entropy of one example, shared by the models of any number of classes. Margins lie `step` floats
 * apart. */
#ifndef MFPG_MODELS_CROSS_ENTROPY_H
#define MFPG_MODELS_CROSS_ENTROPY_H

#include "ops.h"

/* The class that a label names, or -1 where it names none of 0 .. classes-1. */
ptrdiff_t mfpg_class_of(float y, ptrdiff_t classes);

/* Turns margins into the derivative of the loss by them, p - e_label, in place. Margins that are no numbers and a label
 * below 0 leave no numbers. */
void mfpg_cross_entropy_signal(ptrdiff_t classes, ptrdiff_t step, ptrdiff_t label, float *margin);

/* The answer to one example: its loss is NAN where the label is below 0. */
mfpg_prediction mfpg_cross_entropy_predict(
    ptrdiff_t classes, ptrdiff_t step, ptrdiff_t label, const float *margin);

#endif
