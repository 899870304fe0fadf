/* Gradient inversion by optimisation (Geiping et al. 2020): finds examples whose gradient has the direction
 * of the observed one. It minimises 1 - cos(g(x), g*) + weight TV(x) by signs of gradients with Adam's
 * moments, inside the box. The clip changes only the length of g, which the cosine ignores.
 *
 * No second derivatives are needed. With r = d(objective)/dg, grad_x <g(x), r> is the derivative of grad_x L
 * along r in the weights, a central difference of two more back-propagations. And grad_x L of one example is
 * W'd, where W are the first layer's weights and d its back-propagated error, the gradient of that layer's
 * biases. */
#include <math.h>
#include <string.h>

#include "inversion.h"
#include "models/clip_factor.h"
#include "numerics/linalg/linalg.h"
#include "numerics/linalg/product.h"

static const double SMOOTHNESS = 1e-3; /* weight of the total variation */
/* size of the difference, |h r|: far above the rounding of floats, far below the distance of a kink */
static const double REACH = 1e-3;
static const double FIRST_STEP = 0.1;

typedef struct search {
    const mfpg_inversion_subject *subject;
    const mfpg_inversion_step *step;
    const float *seen;
    const float *label;
    ptrdiff_t batch, size; /* size: batch x features */
    double seen_norm;
    float *x;                       /* size: in the box [0, 1] */
    float *raw;                     /* features: one example in its own units, or its slope */
    float *sum, *one, *direction;   /* one per parameter: g, the gradient of one example, r */
    float *ahead, *behind;          /* one per parameter: w + h r, w - h r */
    float *slope, *moment, *square; /* size */
    float *best;                    /* size */
    float *model_work;
    double factor[64]; /* the factor that multiplied each example's gradient */
} search;

ptrdiff_t mfpg_inversion_optimise_workspace(const mfpg_inversion_subject *subject) {
    ptrdiff_t size = subject->options->batch * subject->features;
    return 5 * subject->parameters + 5 * size + subject->features + mfpg_model_workspace(subject->model, 1) +
           16;
}

static void lay_out(search *s, float *work) {
    ptrdiff_t n = s->subject->parameters;
    s->sum = work;
    s->one = s->sum + n;
    s->direction = s->one + n;
    s->ahead = s->direction + n;
    s->behind = s->ahead + n;
    s->x = s->behind + n;
    s->slope = s->x + s->size;
    s->moment = s->slope + s->size;
    s->square = s->moment + s->size;
    s->best = s->square + s->size;
    s->raw = s->best + s->size;
    s->model_work = s->raw + s->subject->features;
}

/* Computes the gradient of example b alone at weights w. */
static void example_gradient(search *s, ptrdiff_t b, const float *w) {
    const mfpg_inversion_subject *u = s->subject;
    float y = s->label[b];
    for (ptrdiff_t j = 0; j < u->features; j++)
        s->raw[j] = (float)(u->low + (u->high - u->low) * (double)s->x[b * u->features + j]);
    const mfpg_dataset data = {.rows = 1, .features = u->features, .x = s->raw, .y = &y};
    mfpg_model_gradient(u->model, w, &data, NULL, 0, 1.0, s->one, s->model_work);
}

/* Sets sum = g(x), and the factors of the examples' gradients in it. */
static void whole_gradient(search *s) {
    ptrdiff_t n = s->subject->parameters;
    memset(s->sum, 0, (size_t)n * sizeof *s->sum);
    for (ptrdiff_t b = 0; b < s->batch; b++) {
        example_gradient(s, b, s->subject->w);
        s->factor[b] = s->step->kind == MFPG_INVERSION_EXAMPLES
                           ? mfpg_clip_factor(mfpg_vector_norm(n, s->one), s->step->clip)
                           : 1.0;
        if (s->factor[b] > 0.0) mfpg_vector_axpy(n, (float)s->factor[b], s->one, s->sum);
    }
}

double mfpg_total_variation(
    ptrdiff_t size, ptrdiff_t features, ptrdiff_t width, const float *x, float weight, float *slope) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < size; i++) {
        ptrdiff_t at = i % features;
        const ptrdiff_t neighbour[2] = {(at + 1) % width ? i + 1 : i, at + width < features ? i + width : i};
        for (int k = 0; k < 2; k++) {
            float difference = x[neighbour[k]] - x[i];
            sum += fabs((double)difference);
            if (difference == 0.0F) continue;
            slope[neighbour[k]] += difference > 0.0F ? weight : -weight;
            slope[i] -= difference > 0.0F ? weight : -weight;
        }
    }
    return sum;
}

/* Adds by W'd to out, where d is the gradient of the first layer's biases in s->one, and W are its weights
 * in w. */
static void add_back(const search *s, const float *w, float by, float *out) {
    const mfpg_layer *layer = &s->subject->layer;
    const mfpg_matrix error = {s->one + layer->biases, layer->units, 1};
    const mfpg_matrix weight = {w + layer->weights, layer->down, layer->across};
    mfpg_matrix_product(1, layer->inputs, layer->units, error, weight, NULL, s->raw);
    mfpg_vector_axpy(layer->inputs, by, s->raw, out);
}

/* Adds grad_x <factor g_b(x), r> to the slope of example b, where r is the direction. A clipped gradient has
 * the length of the clip whatever x is, so only the component orthogonal to it matters, r - <r, g_b> g_b /
 * |g_b|^2. (For a single example r has no other component.) */
static void add_slope(search *s, ptrdiff_t b) {
    const mfpg_inversion_subject *u = s->subject;
    ptrdiff_t n = u->parameters;
    double along = 0.0, h;
    if (s->batch > 1 && s->factor[b] < 1.0) {
        example_gradient(s, b, u->w);
        along = mfpg_vector_dot(n, s->direction, s->one) / mfpg_vector_dot(n, s->one, s->one);
        mfpg_vector_axpy(n, (float)-along, s->one, s->direction);
    }
    double length = mfpg_vector_norm(n, s->direction);
    h = REACH / length;
    for (ptrdiff_t i = 0; i < n && length > 0.0; i++) {
        s->ahead[i] = u->w[i] + (float)h * s->direction[i];
        s->behind[i] = u->w[i] - (float)h * s->direction[i];
    }
    if (along != 0.0) mfpg_vector_axpy(n, (float)along, s->one, s->direction);
    if (!(length > 0.0)) return;
    float by = (float)(s->factor[b] * (u->high - u->low) / (2.0 * h));
    example_gradient(s, b, s->ahead);
    add_back(s, s->ahead, by, s->slope + b * u->features);
    example_gradient(s, b, s->behind);
    add_back(s, s->behind, -by, s->slope + b * u->features);
}

/* Returns the objective at x and computes its slope. */
static double evaluate(search *s) {
    ptrdiff_t n = s->subject->parameters;
    whole_gradient(s);
    double norm = mfpg_vector_norm(n, s->sum), product = mfpg_vector_dot(n, s->sum, s->seen);
    double cosine = norm > 0.0 ? product / (norm * s->seen_norm) : 0.0, objective = 1.0 - cosine;
    memset(s->slope, 0, (size_t)s->size * sizeof *s->slope);
    if (s->subject->options->width > 0) { /* the mean of the differences between neighbours, and its slope */
        double weight = SMOOTHNESS / (double)s->subject->features;
        objective += weight * mfpg_total_variation(s->size, s->subject->features, s->subject->options->width,
                                  s->x, (float)weight, s->slope);
    }
    if (!(norm > 0.0)) return objective;
    /* r = cos g / |g|^2 - g* / (|g| |g*|) */
    float of_sum = (float)(cosine / (norm * norm)), of_seen = (float)(1.0 / (norm * s->seen_norm));
    for (ptrdiff_t i = 0; i < n; i++) s->direction[i] = of_sum * s->sum[i] - of_seen * s->seen[i];
    for (ptrdiff_t b = 0; b < s->batch; b++)
        if (s->factor[b] > 0.0) add_slope(s, b);
    return objective;
}

/* Takes Adam's step on the signs of the slope (Kingma and Ba 2015) and projects onto the box. */
static void descend(search *s, int iteration, double size) {
    const float keep1 = 0.9F, keep2 = 0.999F;
    double unbias1 = 1.0 - pow(0.9, iteration + 1.0), unbias2 = 1.0 - pow(0.999, iteration + 1.0);
    for (ptrdiff_t i = 0; i < s->size; i++) {
        float sign = (float)((s->slope[i] > 0.0F) - (s->slope[i] < 0.0F));
        s->moment[i] = keep1 * s->moment[i] + (1.0F - keep1) * sign;
        s->square[i] = keep2 * s->square[i] + (1.0F - keep2) * sign * sign;
        double by = size * ((double)s->moment[i] / unbias1) / (sqrt((double)s->square[i] / unbias2) + 1e-8);
        s->x[i] = fminf(fmaxf(s->x[i] - (float)by, 0.0F), 1.0F);
    }
}

static void start(search *s, const mfpg_stream *stream, int restart) {
    for (ptrdiff_t i = 0; i < s->size; i++) {
        double uniform;
        mfpg_stream_uniform(stream, (uint64_t)restart * (uint64_t)s->size + (uint64_t)i, 1, &uniform);
        s->x[i] = (float)uniform;
    }
    memset(s->moment, 0, (size_t)s->size * sizeof *s->moment);
    memset(s->square, 0, (size_t)s->size * sizeof *s->square);
}

void mfpg_inversion_optimise(const mfpg_inversion_subject *subject, const mfpg_inversion_step *step,
    const float *gradient, const float *label, ptrdiff_t batch, const mfpg_stream *stream, float *x,
    float *work) {
    const mfpg_inversion_options *o = subject->options;
    search s = {.subject = subject,
        .step = step,
        .seen = gradient,
        .label = label,
        .batch = batch,
        .size = batch * subject->features,
        .seen_norm = mfpg_vector_norm(subject->parameters, gradient)};
    double best = (double)INFINITY;
    lay_out(&s, work);
    memset(s.best, 0, (size_t)s.size * sizeof *s.best);
    for (int restart = 0; restart < o->restarts && s.seen_norm > 0.0 && !mfpg_inversion_stopped(o);
         restart++) {
        start(&s, stream, restart);
        for (int i = 0; i <= o->iterations && !mfpg_inversion_stopped(o); i++) {
            double objective = evaluate(&s);
            if (objective < best) {
                best = objective;
                memcpy(s.best, s.x, (size_t)s.size * sizeof *s.best);
            }
            /* Steps shrink at 3/8, 5/8 and 7/8 of the iterations. */
            int eighths = o->iterations > 0 ? (int)((int64_t)i * 8 / o->iterations) : 0;
            double shrink = eighths < 3 ? 1.0 : eighths < 5 ? 0.5 : eighths < 7 ? 0.25 : 0.1;
            if (i < o->iterations) descend(&s, i, FIRST_STEP * shrink);
        }
    }
    for (ptrdiff_t i = 0; i < s.size; i++)
        x[i] = (float)(subject->low + (subject->high - subject->low) * (double)s.best[i]);
}
