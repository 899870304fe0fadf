/* With L the composed privacy loss and M(z) = E e^(zL) the product of the steps' moments, the curve delta(e) = E (1 - e^(e-L))_+
 * has the transform M(z)/(z(z+1)): for c > 0, g(e) = e^(ce) delta(e) is not negative and by Poisson's summation formula
 *     U_h(e) = (h/2 pi) sum over all integers j of M(z_j) e^(-z_j e)/(z_j (z_j + 1)),  z_j = c + ijh,
 *            = sum over all integers m of e^(2 pi c m/h) delta(e + 2 pi m/h)  >=  delta(e).
 * The full sum is an upper bound for every h; what is taken off for the lower end is the aliases: m < 0 sum to at most
 * r/(1-r), r = e^(-2 pi c/h), and m > 0 are bounded by delta(x) <= M(fc) e^(-fcx), f > 1. To both ends are added the
 * terms beyond J (loss_decay.c), and the errors of the terms (loss_nodes.c).
 *
 * If the moments do not decay in reach, everything is composed with one more Gaussian mechanism, of mu = tau: that
 * multiplies M by e^(tau^2 (z^2+z)/2) and can only raise the curve. It raises it little: with p_s the density at e of the
 * loss smoothed by s, d delta_s/ds = p_s/2, and p_s <= sqrt(t/s) e^(t/8) p_t for s < t, so that
 * delta_t - t e^(t/8) p_t <= delta <= delta_t, t = tau^2; and p_t is at most the same sum without z (z+1). */
#include "loss.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

enum {
    MOST_TERMS = 1 << 18,
    MOST_NODES = 1 << 17, /* of all kinds together */
    CHUNK = 16
};
#define EXACT_COST 4.0  /* cost of a node step in extended precision, in units of work */
#define POINT_COST 15.0 /* cost of a node at a point beyond the sum */
#define UNIT       LDBL_EPSILON

/* ---- terms ---- */

void laplace_curve_clear(laplace_curve *of) {
    free(of->term);
    *of = (laplace_curve){0};
}

static int make_room(laplace_curve *of, int count) {
    if (count <= of->room) return 1;
    int room = of->room ? 2 * of->room : 256;
    complex_number *term = mfpg_resize(of->term, room, sizeof *term);
    if (!term) return 0;
    of->term = term;
    of->room = room;
    return 1;
}

/* The state of everything that is evaluated term by term. */
typedef struct evaluation {
    const loss_sum *sum;
    loss_nodes **nodes; /* one a kind */
    loss_value *start;
    long node_count;
    double gauss; /* with tau^2 */
} evaluation;

static void close_nodes(evaluation *of) {
    for (int b = 0; of->nodes && b < of->sum->kinds; b++) loss_nodes_close(of->nodes[b]);
    free(of->nodes);
    free(of->start);
    *of = (evaluation){0};
}

static int open_nodes(const loss_sum *sum, const loss_line *line, double tau2, evaluation *of) {
    *of = (evaluation){.sum = sum, .gauss = sum->gauss + tau2};
    of->nodes = mfpg_alloc(sum->kinds, sizeof *of->nodes);
    of->start = mfpg_alloc(sum->kinds, sizeof *of->start);
    for (int b = 0; of->nodes && of->start && b < sum->kinds; b++) {
        of->nodes[b] = loss_nodes_open(
            &sum->kind[b], sum->direction, line->c, line->h, (int)(MOST_NODES - of->node_count));
        if (!of->nodes[b]) return 0;
        of->node_count += loss_nodes_count(of->nodes[b]);
    }
    return of->nodes && of->start;
}

/* Logarithms of terms, summed over the kinds of step. */
typedef struct chunk {
    long double log_re[CHUNK], log_im[CHUNK];
    /* log of (the product of all |m| + e) divided by (the product of all |m|), where e is the error of m */
    long double grow[CHUNK];
    long double off[CHUNK]; /* roundings of the two logarithms */
} chunk;

static void start_chunk(const evaluation *of, const laplace_curve *to, chunk *now) {
    long double c = to->line.c;
    for (int i = 0; i < CHUNK; i++) {
        long double y = (long double)(to->count + i) * to->line.h;
        now->log_re[i] = 0.5L * of->gauss * (c * c + c - y * y);
        now->log_im[i] = 0.5L * of->gauss * (2.0L * c * y + y);
        now->off[i] =
            8.0L * UNIT *
            (fabsl(now->log_re[i]) + fabsl(now->log_im[i]) + fabsl((long double)to->log_scale) + 8.0L);
        now->grow[i] = 0.0L;
    }
}

static void add_moment(const loss_value *at, long double count, chunk *now, int i) {
    long double square = at->re * at->re + at->im * at->im, re = 1.0L + at->re;
    long double m = fmaxl(hypotl(re, at->im), LDBL_MIN), angle = atan2l(at->im, re);
    long double log_m = square < 0.25L ? 0.5L * log1pl(2.0L * at->re + square) : logl(m);
    now->log_re[i] += count * log_m;
    now->log_im[i] += count * angle;
    now->grow[i] += count * log1pl(at->error / m);
    now->off[i] += count * 16.0L * UNIT * (fabsl(log_m) + fabsl(angle));
}

/* |prod m - prod m'| <= prod (|m| + e) - prod |m|. */
static void set_term(const chunk *now, int i, laplace_curve *to) {
    int j = to->count + i;
    long double c = to->line.c, y = (long double)j * to->line.h, twice = j == 0 ? 1.0L : 2.0L;
    long double size = expl(now->log_re[i] - to->log_scale), grow = now->grow[i] + now->off[i];
    long double re = c * (c + 1.0L) - y * y, im = (2.0L * c + 1.0L) * y, square = re * re + im * im;
    long double a = size * cosl(now->log_im[i]), b = size * sinl(now->log_im[i]), root = sqrtl(square);
    long double bad =
        grow < 1.0L ? size * (expm1l(grow) + 32.0L * UNIT) : expl(now->log_re[i] - to->log_scale + grow);
    to->term[j] = complex_of((a * re + b * im) / square, (b * re - a * im) / square);
    to->error += twice * bad / root;
    to->density_error += twice * bad;
    to->weighted += twice * size / root * hypotl(c, y);
}

static int add_terms(evaluation *of, laplace_curve *to) {
    chunk now;
    if (!make_room(to, to->count + CHUNK)) return 0;
    start_chunk(of, to, &now);
    for (int b = 0; b < of->sum->kinds; b++)
        for (int i = 0; i < CHUNK; i++) {
            loss_value at = loss_nodes_next(of->nodes[b]);
            if (to->count + i == 0) of->start[b] = at;
            add_moment(&at, (long double)of->sum->kind[b].count, &now, i);
        }
    if (to->count == 0) to->log_scale = (double)now.log_re[0];
    for (int i = 0; i < CHUNK; i++) set_term(&now, i, to);
    to->count += CHUNK;
    return 1;
}

/* ---- the end of the sum ---- */

/* Returns the logarithm of the last chunk's largest term times y/pi, which estimates the remaining sum. */
static double log_left(const laplace_curve *of) {
    long double most = 0.0L;
    for (int j = of->count - CHUNK; j < of->count; j++) most = fmaxl(most, cabsl(of->term[j]));
    return (double)logl(most) + log((of->count - 1) * of->line.h / M_PI);
}

/* Finds the kinds of step that determine how fast the moments fall. */
static int deciding(const evaluation *of, double c, decaying *part, int most) {
    int used = 0;
    double weight[8];
    for (int b = 0; b < of->sum->kinds; b++) {
        loss_moments own = loss_moments_at(&of->sum->kind[b], of->sum->direction, c);
        double own_weight = (double)of->sum->kind[b].count * own.variance;
        int at = used < most ? used++ : most;
        while (at > 0 && weight[at - 1] < own_weight) {
            if (at < most) {
                weight[at] = weight[at - 1];
                part[at] = part[at - 1];
            }
            at--;
        }
        if (at == most) continue;
        weight[at] = own_weight;
        part[at] = (decaying){&of->sum->kind[b], of->sum->direction, of->nodes[b], of->start[b],
            sqrt(own.variance) * (1.0 + 1e-6) + 1e-300};
    }
    return used;
}

/* Bounds the sums beyond the last term and returns 1 if that of t is below log_allowed. There every modulus
 * is at most e^-need and at most exp(-tau^2 y^2/2); for the sum without z (z+1) the first bound is used up
 * to the point where they cross and the second beyond it. */
static int settle_remainder(const evaluation *of, laplace_curve *to, double log_allowed, double *work) {
    decaying part[4];
    int parts = deciding(of, to->line.c, part, 4), points;
    double y = (to->count - 1) * to->line.h, need = fmax(1.0, 1.7 - log_allowed - log(M_PI * y));
    if (to->tau2 > 0.0) need += 10.0;
    double bound = loss_decay_bound(part, parts, of->gauss, to->line.c, to->line.h, y, need, &points);
    *work -= POINT_COST * points * (double)of->node_count;
    if (!(bound < (double)INFINITY)) return 0;
    /* for j and -j; the factor h/2 pi is left out */
    to->remainder = 2.0 * bound / to->line.h * (1.0 + 1e-12);
    if (to->tau2 > 0.0) {
        double crossing = sqrt(2.0 * need / to->tau2);
        to->density_remainder =
            2.0 / to->line.h * exp(-need) * (crossing + 1.0 / (to->tau2 * crossing)) * (1.0 + 1e-12);
    }
    return 1;
}

/* Returns an estimate of the error of double precision in the remaining sum. */
static double hurry_error(const evaluation *of, int count) {
    double sum = 0.0;
    for (int b = 0; b < of->sum->kinds; b++)
        sum += (double)of->sum->kind[b].count * DBL_EPSILON * (8.0 * count + loss_nodes_count(of->nodes[b]));
    return sum;
}

/* Returns 1 if terms fall only like a power of y, so that the sum would take too long. */
static int is_hopeless(
    const laplace_curve *of, double left, double left_at_half, double log_allowed, double most) {
    return left_at_half - left < 1.4 && left - log_allowed > log(most / of->count) + 1.0;
}

int laplace_curve_build(const loss_sum *sum, const loss_line *line, double tau2, double epsilon,
    double log_delta, double *work, laplace_curve *out) {
    evaluation of;
    *out = (laplace_curve){
        .line = *line, .tau2 = tau2, .remainder = (double)INFINITY, .density_remainder = (double)INFINITY};
    int ok = open_nodes(sum, line, tau2, &of) && add_terms(&of, out), settled = 0, hurried = 0;
    double log_curve = log_delta - (out->log_scale - line->c * epsilon),
           log_allowed = log_curve + log(line->accuracy);
    double most = fmin(MOST_TERMS - CHUNK, *work / (of.node_count + 1.0)), wait = 0.0, left_at_half = 0.0;
    int half = 1024;
    while (ok && !settled && out->count<MOST_TERMS - CHUNK && * work> 0.0) {
        double left = log_left(out);
        if (out->count >= wait && left < log_allowed) {
            settled = settle_remainder(&of, out, log_allowed, work);
            wait = 1.3 * out->count;
            continue;
        }
        if (out->count >= 2 * half) {
            if (tau2 == 0.0 && is_hopeless(out, left, left_at_half, log_allowed, most)) break;
            left_at_half = left;
            half = out->count;
        } else if (out->count <= 1024) {
            left_at_half = left;
        }
        if (!hurried && out->count >= 1024 && left + log(hurry_error(&of, out->count)) < log_curve - 20.0) {
            for (int b = 0; b < sum->kinds; b++) loss_nodes_hurry(of.nodes[b]);
            hurried = 1;
        }
        *work -= (double)CHUNK * (of.node_count + 10.0) * (hurried ? 1.0 : EXACT_COST);
        ok = add_terms(&of, out);
    }
    close_nodes(&of);
    return settled;
}

/* ---- the curve at a point ---- */

/* Returns the alias terms at epsilon: m < 0, and m > 0 with the best f. The curve that aliases includes the
 * fictitious noise. */
static double aliases(const laplace_curve *of, double epsilon) {
    const loss_line *line = &of->line;
    double back = exp(-2.0 * M_PI * line->c / line->h), ahead = (double)INFINITY, f = 1.0;
    for (int i = 1; i <= LOSS_LINE_RIGHT; i++) {
        f *= LOSS_LINE_RATIO;
        double c = f * line->c, log_m = line->log_m[i] + 0.5 * of->tau2 * c * (c + 1.0);
        double ratio = exp(-(f - 1.0) * 2.0 * M_PI * line->c / line->h);
        double first = exp(log_m - c * epsilon) * ratio / (1.0 - ratio);
        if (first >= 0.0) ahead = fmin(ahead, first);
    }
    return (back / (1.0 - back) + ahead) * (1.0 + 1e-9);
}

laplace_value laplace_curve_at(const laplace_curve *of, double epsilon) {
    long double h = of->line.h, c = of->line.c, u = 0.0L, s = 0.0L, p = 0.0L;
    complex_number turn = 1.0L, step = complex_of(cosl(h * epsilon), -sinl(h * epsilon));
    for (int j = 0; j < of->count; j++) {
        long double y = (long double)j * h;
        if (j % 64 == 0) turn = complex_of(cosl(y * epsilon), -sinl(y * epsilon));
        complex_number turned = of->term[j] * turn * (j == 0 ? 1.0L : 2.0L);
        long double re = creall(turned), im = cimagl(turned);
        u += re;
        s += re * c - im * y;
        p += re * (c * (c + 1.0L) - y * y) - im * (2.0L * c + 1.0L) * y;
        turn *= step;
    }
    long double scale = expl((long double)of->log_scale - c * epsilon) * h / (2.0L * 3.14159265358979323846L);
    long double rounding = of->error + UNIT * (256.0L + 2.0L * (long double)of->count) * (of->weighted / c) +
                           4.0L * UNIT * (long double)epsilon * of->weighted;
    double delta = (double)(scale * u), away = (double)(scale * (rounding + of->remainder));
    laplace_value out = {.delta = delta, .slope = (double)(scale * s), .upper = (double)INFINITY};
    away += 4e-16 * fabs(delta) + DBL_TRUE_MIN;
    double below = away + aliases(of, epsilon);
    if (of->tau2 > 0.0) {
        long double farthest = (long double)of->count * h + c + 1.0L; /* |z + 1| */
        long double density =
            p + of->density_error + of->density_remainder +
            UNIT * farthest * of->weighted *
                (256.0L + 2.0L * (long double)of->count + 4.0L * (long double)epsilon * farthest);
        below += of->tau2 * exp(0.125 * of->tau2) * fmax(0.0, (double)(scale * density)) * (1.0 + 1e-12);
    }
    if (delta + away >= 0.0) out.upper = delta + away;
    if (delta - below > 0.0) out.lower = delta - below;
    return out;
}
