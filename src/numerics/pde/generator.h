/* The generator of the Markov chain that stands for a diffusion on evenly spaced nodes. */
#ifndef MFPG_PDE_GENERATOR_H
#define MFPG_PDE_GENERATOR_H

#include <math.h>

#include "mfpg/pde.h"

typedef struct mfpg_rates {
    double up, down; /* to the next and to the previous node, >= 0 */
} mfpg_rates;

/* The noise that the scheme really uses for a drift and a control: the control, or more. */
static inline double mfpg_scheme_noise(mfpg_pde_scheme scheme, double h, double drift, double control) {
    double numerical = 0.5 * h * fabs(drift);
    if (scheme == MFPG_PDE_UPWIND) return control + numerical;
    return control > numerical ? control : numerical;
}

/* Both schemes are central differences with enough noise for rates >= 0. Spalding's hybrid adds what lacks and no more,
 * so that the rates are continuous in the control: the least Hamiltonian is attained, which a switch between central and
 * upwind differences that keeps the noise of both would not guarantee. inverse_h is 1/h. */
static inline mfpg_rates mfpg_generator_rates(
    mfpg_pde_scheme scheme, double h, double inverse_h, double drift, double control) {
    double noise = mfpg_scheme_noise(scheme, h, drift, control) * inverse_h * inverse_h;
    double half = 0.5 * drift * inverse_h;
    double up = noise + half, down = noise - half;
    /* where the noise just carries the drift, rounding must not make the other rate negative */
    return (mfpg_rates){up > 0.0 ? up : 0.0, down > 0.0 ? down : 0.0};
}

#endif
