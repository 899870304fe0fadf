#include "clip.h"

#include <string.h>

#include "models/clip_factor.h"
#include "numerics/linalg/linalg.h"

int mfpg_clip_joint(ptrdiff_t n, float *v, double clip, double scale) {
    double factor = mfpg_clip_factor(mfpg_vector_norm(n, v), clip);
    if (factor == 0.0) {
        memset(v, 0, (size_t)n * sizeof *v);
        return 1;
    }
    double by = factor * scale;
    for (ptrdiff_t i = 0; i < n; i++) v[i] = (float)((double)v[i] * by);
    return 0;
}
