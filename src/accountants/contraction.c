/* By which factor one step multiplies distances, and under which conditions a factor can be stated (theory
 * S2.4). Around the step x - tau [g + kappa x + lambda P x], with P the projection onto vectors of mean
 * zero, the bracket adds between kappa and kappa + lambda to the slope of the clipped gradient g. */
#include <float.h>
#include <math.h>

#include "base/error.h"
#include "accounting.h"

static const char *const names[] = {"none", "quadratic", "glm", "convex", "nonconvex"};
enum { CASES = sizeof names / sizeof names[0] };

const char *mfpg_hidden_case_name(ptrdiff_t index) {
    return index >= 0 && index < CASES ? names[index] : NULL;
}

typedef struct step_map {
    double tau, kappa, lambda;
} step_map;

/* For a monotone map g with slopes from `least` to `most`: the eigenvalues of the bracket lie between the
 * two sums. */
static double monotone(const step_map *s, double least, double most) {
    double slow = s->tau * (least + s->kappa), fast = s->tau * (most + s->kappa + s->lambda);
    return fmax(fabs(1.0 - slow), fabs(1.0 - fast)) + 8.0 * DBL_EPSILON * (1.0 + slow + fast);
}

/* For a map g that is M-Lipschitz and whose symmetrised Jacobian is at least -M/8, which is the worst effect
 * of clipping the gradient of a convex function: for A, B positive semidefinite, AB + BA >= -|A| |B| / 4. */
static double clipped_convex(const step_map *s, double smoothness) {
    double largest = s->tau * (smoothness + s->kappa + s->lambda);
    double pull = 2.0 * s->tau * (s->kappa - smoothness / 8.0);
    double square = 1.0 - pull + largest * largest;
    double room = 16.0 * DBL_EPSILON * (1.0 + fabs(pull) + largest * largest);
    return sqrt(fmax(square, 0.0) + room) * (1.0 + 2.0 * DBL_EPSILON);
}

/* g is M-Lipschitz. */
static double lipschitz(const step_map *s, double smoothness) {
    double slow = s->tau * s->kappa, fast = s->tau * (s->kappa + s->lambda), loss = s->tau * smoothness;
    return fmax(fabs(1.0 - slow), fabs(1.0 - fast)) + loss + 8.0 * DBL_EPSILON * (1.0 + fast + loss);
}

static int size(double value) {
    return value >= 0.0 && isfinite(value);
}

static mfpg_status check_numbers(
    mfpg_context *ctx, const mfpg_hidden_assumption *a, const step_map *s, ptrdiff_t dimension) {
    if (!size(s->tau) || !size(s->kappa) || !size(s->lambda))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "a step of %g with decay %g and penalty %g; each must be a finite number >= 0", s->tau, s->kappa,
            s->lambda);
    if (!size(a->strong_convexity) || !size(a->smoothness) || a->strong_convexity > a->smoothness)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "strong convexity %g and smoothness %g; both must be finite numbers >= 0, the first not above "
            "the second",
            a->strong_convexity, a->smoothness);
    if (!(a->projection_radius > 0.0))
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "projection radius %g; it must be positive", a->projection_radius);
    if (a->clipping < MFPG_CLIPPING_NONE || a->clipping > MFPG_CLIPPING_VECTOR)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "clipping %d is unknown", (int)a->clipping);
    return dimension >= 1 ? MFPG_OK : mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%td parameters", dimension);
}

/* Returns 1 if the clip may change some gradient. */
static int clip_acts(const mfpg_hidden_assumption *a) {
    return a->clipping != MFPG_CLIPPING_NONE && !isfinite(a->projection_radius);
}

static mfpg_status check_case(
    mfpg_context *ctx, const mfpg_hidden_assumption *a, int acts, ptrdiff_t dimension) {
    if (a->kind <= MFPG_HIDDEN_NONE || a->kind > MFPG_HIDDEN_NONCONVEX)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "nothing is assumed of the loss, so nothing contracts");
    if (a->strong_convexity > 0.0 && a->kind == MFPG_HIDDEN_NONCONVEX)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "a loss that is not convex has no strong convexity");
    if (a->strong_convexity > 0.0 && acts)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "strong convexity %g does not outlive a clip: it needs a gradient that is not clipped, or states "
            "projected onto a ball on which the clip never acts",
            a->strong_convexity);
    if (a->kind == MFPG_HIDDEN_GLM && acts && a->clipping == MFPG_CLIPPING_VECTOR && dimension > 1)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "case glm needs every example clipped by itself; a clip over several examples is case convex");
    return MFPG_OK;
}

/* Every formula that applies gives an upper bound, so the smallest one is used. */
static double smallest(const mfpg_hidden_assumption *a, const step_map *s, int acts, ptrdiff_t dimension) {
    double smoothness = a->smoothness, any = lipschitz(s, smoothness);
    if (a->kind == MFPG_HIDDEN_NONCONVEX) return any;
    if (!acts) return fmin(any, monotone(s, a->strong_convexity, smoothness));
    /* A clipped scalar derivative is still increasing, with a slope between 0 and M. */
    if (a->kind == MFPG_HIDDEN_GLM || dimension == 1) return fmin(any, monotone(s, 0.0, smoothness));
    return fmin(any, clipped_convex(s, smoothness));
}

mfpg_status mfpg_hidden_contraction(mfpg_context *ctx, const mfpg_hidden_assumption *assumption, double step,
    double decay, double penalty, ptrdiff_t dimension, double *c) {
    const step_map s = {step, decay, penalty};
    int acts = clip_acts(assumption);
    *c = (double)INFINITY;
    mfpg_status status = check_numbers(ctx, assumption, &s, dimension);
    if (status == MFPG_OK) status = check_case(ctx, assumption, acts, dimension);
    if (status == MFPG_OK) *c = smallest(assumption, &s, acts, dimension);
    return status;
}
