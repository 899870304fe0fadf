/* The ready-made pieces of a model. */
#include "mfpg/pde.h"

mfpg_pde_polynomial mfpg_pde_quadratic(double curvature) {
    return (mfpg_pde_polynomial){{0.0, 0.0, 0.5 * curvature}};
}

mfpg_pde_polynomial mfpg_pde_double_well(double position, double barrier) {
    double inverse = 1.0 / (position * position);
    return (mfpg_pde_polynomial){{barrier, 0.0, -2.0 * barrier * inverse, 0.0, barrier * inverse * inverse}};
}

double mfpg_pde_value(const mfpg_pde_polynomial *p, double x) {
    const double *c = p->coefficient;
    return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])));
}

double mfpg_pde_slope(const mfpg_pde_polynomial *p, double x) {
    const double *c = p->coefficient;
    return c[1] + x * (2.0 * c[2] + x * (3.0 * c[3] + x * 4.0 * c[4]));
}

mfpg_pde_options mfpg_pde_options_default(void) {
    return (mfpg_pde_options){.low = -8.0,
        .high = 8.0,
        .nodes = 401,
        .steps = 200,
        .scheme = MFPG_PDE_HYBRID,
        .method = MFPG_PDE_AUTO,
        .iterations = 200,
        .tolerance = 1e-10};
}
