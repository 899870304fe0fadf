#include "clip.h"

#include <string.h>

#include "models/clip_factor.h"
#include "numerics/linalg/linalg.h"

double mfpg_clip_joint_factor(ptrdiff_t n, float *v, double clip, double scale, int64_t *nonfinite) {
    double factor = mfpg_clip_factor(mfpg_vector_norm(n, v), clip);
    if (factor > 0.0) return factor * scale;
    memset(v, 0, (size_t)n * sizeof *v);
    ++*nonfinite;
    return scale;
}

int mfpg_clip_joint(ptrdiff_t n, float *v, double clip, double scale) {
    int64_t nonfinite = 0;
    mfpg_vector_scale(n, mfpg_clip_joint_factor(n, v, clip, scale, &nonfinite), v);
    return (int)nonfinite;
}
