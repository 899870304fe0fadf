#include "clip.h"

#include <string.h>

#include "models/clip_factor.h"

enum { LANES = 4 };

double mfpg_norm(ptrdiff_t n, const float *v) {
    double lane[LANES] = {0};
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) lane[l] += (double)v[i + l] * (double)v[i + l];
    for (int l = 0; i + l < n; l++) lane[l] += (double)v[i + l] * (double)v[i + l];
    return sqrt((lane[0] + lane[2]) + (lane[1] + lane[3]));
}

int mfpg_clip_joint(ptrdiff_t n, float *v, double clip, double scale) {
    double factor = mfpg_clip_factor(mfpg_norm(n, v), clip);
    if (factor == 0.0) {
        memset(v, 0, (size_t)n * sizeof *v);
        return 1;
    }
    double by = factor * scale;
    for (ptrdiff_t i = 0; i < n; i++) v[i] = (float)((double)v[i] * by);
    return 0;
}
