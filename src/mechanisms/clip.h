/* Joint clip of a flattened vector, all tensors together (theory S0, 15: a clip of each part lets the whole exceed it). */
#ifndef MFPG_MECHANISMS_CLIP_H
#define MFPG_MECHANISMS_CLIP_H

#include <stddef.h>
#include <stdint.h>

/* v *= scale min(1, clip/|v|). A zero vector stays zero; one that is not finite becomes zero, and 1 is returned (else
 * 0). The result's norm does not exceed |scale| clip, its rounding to float included. */
int mfpg_clip_joint(ptrdiff_t n, float *v, double clip, double scale);

/* The same, but the factor for v, in double, is returned, and the multiplication left to who passes over v next. Where v
 * is not finite it becomes zero, the factor is scale and *nonfinite rises by 1. */
double mfpg_clip_joint_factor(ptrdiff_t n, float *v, double clip, double scale, int64_t *nonfinite);

#endif
