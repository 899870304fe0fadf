/* M(z) = E[(1+v) e^(zl)] for removing, E[e^(-zl)] for adding (sampled_steps.h), on the line Im u = eta instead of the real
 * one: there Im l >= 0, so that |e^(iyl)| <= 1 for every y >= 0 and one set of nodes serves all of them.
 *
 * What is summed. With t = c l (adding: -c l) the mean of the likelihood ratio, which is 1 exactly, and the first order in
 * z are taken out of the integrand, so that M - 1 has relative accuracy however small the rate and however near c to 0:
 *     M - 1 = E[g em2(t + iyl)] + (c + iy) E[kl],   em2(t) = e^t - 1 - t,   g = 1 + v or 1,   kl = (1+v) l - v or v - l,
 *     em2(t + iyl) = em2(t) + (e^t - 1) D + R,   D = e^(iyl) - 1,   R = em2(iyl).
 * Adding gives the conjugate of M. Nothing is ever formed as e^(..) - 1.
 *
 * Error of the quadrature. On Im u = s, 0 <= s <= 2 eta, the argument of 1 + v lies in [0, pi) and
 * cos(s w/2) (1+v_r) <= |1+v| <= 1 + v_r, with v_r, l_r at the real part of u. As dl/dx = q e^x/(1+v), whose real value is called
 * the share, |l - l_r| <= s w share/cos(s w/2), and so |l|^2 <= B := 2 l_r^2 + 2 (2 eta w share/cos(eta w))^2. Further
 * |em2(zl)| <= |zl|^2/2 max(1, |e^t|), and kl = (1+v) em2(-l) or em2(l). So the integral of the modulus over a line is at most
 * e^(s^2/2) times
 *     |z|^2/2 E[B (1+v_r) (1 + (1+v_r)^c)] removing,   |z|^2/2 cos(eta w)^-c E[B (1 + (1+v_r)^-c)] adding,
 *     |z|/2 E[B (2 + v_r)] of kl,
 * and the trapezoid rule with step k is off by at most (1 + e^(2 eta^2)) times that over e^(2 pi eta/k) - 1 (Trefethen,
 * Weideman 2014, theorem 5.1). The means are themselves summed at the real parts of the nodes: their integrands are positive
 * there, and less than 1000 e^(eta^2/2) (adding: cos^-c on top) times as large a distance of eta away, so that the sum is
 * the mean within 1e-9 of it.
 *
 * Error of the arithmetic, u = LDBL_EPSILON; functions of the C library are taken to be within 4 u of the truth. With e the
 * error of l at a node (below), A = |g weight| |l|^2 max(1, |e^t|) and a = h |l|, the recurrences D' = D + D_1 + D D_1 and
 * R' = R + R_1 + D D_1 are off by at most 8 u j min(2, j a) + j h (16 u |l| + e) and (j a)^2 (4 j + 24) u + 2 (j h)^2 |l| e
 * after j steps. Collected, with all of c^2, c y, y^2 at most |z|^2:
 *     |z|^2 sum of A (u (12 j + 24) + 16 (e_weight + c e + 4 u |t| + 10 u) + 4 e/|l| + 4 u nodes). */
#include "loss.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

#define UNIT         LDBL_EPSILON
#define EXPONENT     50.0 /* 2 pi eta/k: the rule's error is about e^-EXPONENT */
#define INVERSE_ROOT 0.39894228040143267793994605993438187L /* 1/sqrt(2 pi) */
#define NEGLIGIBLE   1e-24L /* the share of the sum G that omitted nodes may hold */

typedef struct loss_node {
    complex_number l;            /* of the loss */
    complex_number plain;        /* g times weight */
    complex_number rise;         /* times e^t - 1 */
    complex_number tilted;       /* times e^t */
    complex_number d1, r1, d, r; /* the factors of the recurrences, at h and at j h */
} loss_node;

/* The same in double precision, as a structure of arrays, for the faster part. */
typedef struct fast_nodes {
    double *turn_re, *turn_im;   /* e^(ihl) */
    double *value_re, *value_im; /* weight e^t e^(i j h l) */
    int64_t from;                /* j of the change */
    long double error;           /* of M then */
} fast_nodes;

struct loss_nodes {
    loss_direction direction;
    double c, h;
    int count;
    int64_t j;            /* of the next value */
    complex_number start; /* sum of em2(t) terms */
    long double kl;       /* real */
    long double rule;     /* error |z|^2 rule of the quadrature */
    /* |z|^2 (rounding0 + rounding1 j) bounds the error of the arithmetic */
    long double rounding0, rounding1;
    long double linear; /* error |z| linear */
    /* for the direct form: sum |W|, its errors, and the errors per y */
    long double total, total_error, turn_error;
    fast_nodes fast;
    loss_node node[];
};

/* ---- complex functions without cancellation ---- */

static complex_number exponential_less_one(complex_number a) {
    long double rise = expm1l(creall(a)), sine, cosine;
    sincosl(0.5L * cimagl(a), &sine, &cosine);
    long double back = 2.0L * sine * sine; /* 1 - cos */
    return complex_of(rise * (1.0L - back) - back, (rise + 1.0L) * 2.0L * sine * cosine);
}

/* e^t - 1 - t. */
static complex_number complex_second_order_exp(complex_number t) {
    if (cabsl(t) > 0.5L) return exponential_less_one(t) - t;
    complex_number sum = 0.0L;
    for (int n = 19; n >= 3; n--) sum = (sum + 1.0L) * t * (1.0L / n);
    return t * t * (sum + 1.0L) * 0.5L;
}

/* Returns (1+v) l - v for removing, v - l for adding. */
static complex_number complex_entropy(
    complex_number v, complex_number ratio, complex_number l, loss_direction direction) {
    if (cabsl(v) > 0.15L) return direction == LOSS_REMOVE ? ratio * l - v : v - l;
    complex_number sum = 0.0L;
    for (int n = 26; n >= 2; n--) sum = 1.0L / (direction == LOSS_REMOVE ? n * (n - 1.0L) : n) - sum * v;
    return v * v * sum;
}

/* ---- nodes ---- */

/* How the line was chosen, and the bounds of the integrand up to Im u = 2 eta. */
typedef struct contour {
    double eta, k, first;
    int candidates;
    long double sine, cosine, back; /* of eta w; 1 - cos */
    int flat;                       /* adding: 1: 1/|1+v| is bounded by 1/(1-q) instead of by the real part */
    long double penalty;            /* adding: cos(eta w)^-c unless `flat` is set */
} contour;

typedef struct place {
    long double u, eta;                 /* the node is u + i eta */
    complex_number v, ratio, l, weight; /* ratio = 1 + v; weight = k phi(u + i eta) */
    long double error;                  /* of l */
    long double weight_error;           /* relative, of g weight */
} place;

/* Computes l = log(1 + v), v = q (e^x - 1). An error dx of x moves l by q e^x/(1+v) dx. */
static place place_at(const sampled_step *kind, loss_direction direction, double u, const contour *line) {
    long double q = kind->rate, w = kind->reach, x = w * u - 0.5L * w * w, eta = line->eta;
    long double rise = expm1l(x);
    place at = {.u = u, .eta = eta};
    long double re = q * (rise * line->cosine - line->back), im = q * (rise + 1.0L) * line->sine;
    long double square = re * re + im * im,
                ratio = re < -0.5L ? (1.0L - q) + q * (rise + 1.0L) * line->cosine : 1.0L + re;
    at.v = complex_of(re, im);
    at.ratio = complex_of(ratio, im);
    at.l = complex_of(
        square < 0.25L ? 0.5L * log1pl(2.0L * re + square) : logl(cabsl(at.ratio)), atan2l(im, ratio));
    long double share = q * (rise + 1.0L) / cabsl(at.ratio);
    long double shift = UNIT * 4.0L * (fabsl(w * u) + 0.5L * w * w);
    at.error = 16.0L * UNIT * cabsl(at.l) + share * shift;
    at.weight = cexpl(complex_of(-0.5L * (at.u * at.u - eta * eta), -at.u * eta)) * (line->k * INVERSE_ROOT);
    at.weight_error = UNIT * (2.0L * u * u + 2.0L * eta * eta + 4.0L * fabsl((long double)u * eta) + 16.0L);
    if (direction == LOSS_REMOVE) at.weight_error += 16.0L * UNIT + share * shift;
    return at;
}

/* Sizes at the real part of a node, times k phi: of em2(zl)/(|z|^2/2), of kl and of M. They are bounds, so
 * doubles are precise enough. */
typedef struct sizes {
    double second, kl, mass;
} sizes;

static sizes sizes_at(const loss_nodes *nodes, const sampled_step *kind, const contour *line, double u) {
    double q = kind->rate, w = kind->reach, c = nodes->c, x = w * u - 0.5 * w * w, v = q * expm1(x);
    double share = q / (q + (1.0 - q) * exp(-x));
    double l = v > 1e10 ? log(q) + x : v < -0.5 ? log((1.0 - q) + q * exp(x)) : log1p(v);
    double turned = 2.0 * line->eta * w * share / (double)line->cosine;
    double square = 2.0 * (l * l + turned * turned);
    double log_phi = -0.5 * u * u - 0.91893853320467274, phi = line->k * exp(log_phi),
           likely = line->k * exp(log_phi + l);
    sizes own = {.kl = 0.5 * square * (phi + likely)};
    if (nodes->direction == LOSS_REMOVE) {
        own.mass = line->k * exp(log_phi + (1.0 + c) * l);
        own.second = square * (likely + own.mass);
        return own;
    }
    own.mass = line->flat ? phi * exp(-c * log1p(-q)) : line->k * exp(log_phi - c * l);
    own.second = square * (phi + own.mass);
    return own;
}

/* For adding there are powers of 1/|1+v|, which |1+v| >= 1-q (if Re e^x >= 0) or cos(eta w) bounds; the
 * strip is narrowed until their effect is small. */
static void choose_strip(const sampled_step *kind, loss_direction direction, double c, contour *line) {
    line->eta = loss_strip(kind->reach);
    line->penalty = 1.0L;
    if (direction == LOSS_REMOVE) return;
    line->flat = -c * log1p(-kind->rate) < 6.0;
    if (line->flat) line->eta = fmin(line->eta, 0.25 * M_PI / kind->reach);
    while (!line->flat && -c * log(cos(line->eta * kind->reach)) > 6.0) line->eta *= 0.9;
    if (!line->flat) line->penalty = powl(cosl((long double)line->eta * kind->reach), -(long double)c);
}

static void measure_strip(const sampled_step *kind, contour *line) {
    long double turn = (long double)line->eta * kind->reach, half = sinl(0.5L * turn);
    sincosl(turn, &line->sine, &line->cosine);
    line->back = 2.0L * half * half;
}

static void set_node(loss_nodes *nodes, loss_node *node, const place *at, long double k) {
    int removing = nodes->direction == LOSS_REMOVE;
    long double c = nodes->c, h = nodes->h;
    complex_number t = at->l * (removing ? c : -c);
    node->l = at->l;
    node->plain = removing ? at->weight * at->ratio : at->weight;
    if (cabsl(t) > 0.5L) {
        complex_number log_weight = complex_of(-0.5L * (at->u * at->u - at->eta * at->eta), -at->u * at->eta);
        node->tilted = cexpl(log_weight + t) * (k * INVERSE_ROOT);
        if (removing) node->tilted *= at->ratio;
        node->rise = node->tilted - node->plain;
        nodes->start += node->rise - node->plain * t;
    } else {
        node->rise = node->plain * exponential_less_one(t);
        node->tilted = node->plain + node->rise;
        nodes->start += node->plain * complex_second_order_exp(t);
    }
    complex_number turn = complex_of(-h * cimagl(at->l), h * creall(at->l));
    node->d1 = exponential_less_one(turn);
    node->r1 = complex_second_order_exp(turn);
    node->d = node->r = 0.0L;
}

/* Adds the node's contribution to the bounds. */
static long double add_errors(loss_nodes *nodes, const loss_node *node, const place *at, int candidates) {
    long double size = cabsl(at->l), c = nodes->c, t = c * size;
    long double plain = cabsl(node->plain), tilted = cabsl(node->tilted);
    long double a = size * size * fmaxl(plain, tilted), weight = at->weight_error;
    long double part = 16.0L * (weight + c * at->error + 4.0L * UNIT * t + 10.0L * UNIT) +
                       (size > 0.0L ? 4.0L * at->error / size : 0.0L) + UNIT * (24.0L + 4.0L * candidates);
    nodes->rounding0 += a * part;
    nodes->rounding1 += 12.0L * UNIT * a;
    nodes->total += tilted;
    nodes->total_error += tilted * (weight + c * at->error + 4.0L * UNIT * t + 8.0L * UNIT);
    nodes->turn_error += tilted * (16.0L * UNIT * size + at->error);
    complex_number kl = complex_entropy(at->v, at->ratio, at->l, nodes->direction);
    nodes->kl += creall(at->weight * kl);
    long double pieces = cabsl(at->v) > 0.15L ? cabsl(at->ratio) * size + cabsl(at->v) + size : cabsl(kl);
    return cabsl(at->weight) * pieces *
           (weight + UNIT * (32.0L + candidates) + (size > 0.0L ? 4.0L * at->error / size : 0.0L));
}

/* Creates the nodes. Nodes with negligible mass are left out; the most that they could hold is added to the
 * error. */
static void fill(loss_nodes *nodes, const sampled_step *kind, const contour *line) {
    sizes all = {0}, dropped = {0}, most = {0};
    long double kl_error = 0.0L, eta = line->eta;
    for (int n = 0; n < line->candidates; n++) {
        sizes own = sizes_at(nodes, kind, line, line->first + n * line->k);
        most = (sizes){fmax(most.second, own.second), fmax(most.kl, own.kl), fmax(most.mass, own.mass)};
    }
    for (int n = 0; n < line->candidates; n++) {
        double u = line->first + n * line->k;
        sizes own = sizes_at(nodes, kind, line, u);
        all = (sizes){all.second + own.second, all.kl + own.kl, all.mass + own.mass};
        if (own.second < most.second * NEGLIGIBLE && own.mass < most.mass * NEGLIGIBLE &&
            own.kl < most.kl * NEGLIGIBLE) {
            dropped = (sizes){dropped.second + own.second, dropped.kl + own.kl, dropped.mass + own.mass};
            continue;
        }
        place at = place_at(kind, nodes->direction, u, line);
        loss_node *node = &nodes->node[nodes->count++];
        set_node(nodes, node, &at, line->k);
        kl_error += add_errors(nodes, node, &at, line->candidates);
    }
    /* Less than e^-70 of each sum lies outside the window: NEGLIGIBLE covers it. */
    long double lifted = expl(0.5L * eta * eta),
                rule = 1.001L * (1.0L + expl(2.0L * eta * eta)) / expm1l(EXPONENT);
    nodes->rule =
        0.5L * line->penalty * (all.second * rule + lifted * (dropped.second + NEGLIGIBLE * all.second));
    nodes->linear = kl_error + all.kl * rule + lifted * (dropped.kl + NEGLIGIBLE * all.kl);
    nodes->total_error += line->penalty * (all.mass * rule + lifted * (dropped.mass + NEGLIGIBLE * all.mass));
}

/* Rounds down to few bits, so that every multiple is exact. */
static double short_number(double x) {
    int exponent;
    double mantissa = frexp(x, &exponent);
    return ldexp(floor(ldexp(mantissa, 20)), exponent - 20);
}

loss_nodes *loss_nodes_open(
    const sampled_step *kind, loss_direction direction, double c, double h, int room) {
    contour line = {0};
    choose_strip(kind, direction, c, &line);
    measure_strip(kind, &line);
    line.k = short_number(2.0 * M_PI * line.eta / EXPONENT);
    loss_window window = loss_window_at(kind, direction, c);
    line.first = line.k * floor(window.low / line.k);
    double count = ceil((window.high - line.first) / line.k);
    if (!(count < room)) return NULL;
    line.candidates = (int)count + 1;
    loss_nodes *nodes =
        mfpg_alloc(1, (ptrdiff_t)(sizeof *nodes + (size_t)line.candidates * sizeof *nodes->node));
    if (!nodes) return NULL;
    nodes->direction = direction;
    nodes->c = c;
    nodes->h = h;
    fill(nodes, kind, &line);
    return nodes;
}

void loss_nodes_close(loss_nodes *nodes) {
    if (nodes) free(nodes->fast.turn_re);
    free(nodes);
}

int loss_nodes_count(const loss_nodes *nodes) {
    return nodes->count;
}

/* ---- values ---- */

/* Returns the sum at z = c + iy, and its error after j steps of the recurrences in a precision of so many
 * units. */
static loss_value value_of(
    const loss_nodes *nodes, complex_number moving, long double y, int64_t j, long double units) {
    long double c = nodes->c, size2 = c * c + y * y;
    complex_number sum = nodes->start + moving;
    loss_value value = {.re = creall(sum) + c * nodes->kl, .im = cimagl(sum)};
    value.im += (nodes->direction == LOSS_REMOVE ? y : -y) * nodes->kl;
    if (nodes->direction == LOSS_ADD) value.im = -value.im;
    value.error = size2 * (nodes->rule + units * (nodes->rounding0 + nodes->rounding1 * (long double)j)) +
                  sqrtl(size2) * nodes->linear + 8.0L * UNIT * (fabsl(value.re) + fabsl(value.im));
    return value;
}

static loss_value next_exact(loss_nodes *nodes) {
    complex_number sum = 0.0L;
    for (int n = 0; n < nodes->count; n++) {
        loss_node *node = &nodes->node[n];
        sum += node->plain * node->r + node->rise * node->d;
        complex_number both = node->d * node->d1;
        node->r += node->r1 + both;
        node->d += node->d1 + both;
    }
    return value_of(nodes, sum, (long double)nodes->j * nodes->h, nodes->j, 1.0L);
}

/* Uses four partial sums, in an order that does not depend on the machine. */
static loss_value next_fast(loss_nodes *nodes) {
    fast_nodes *fast = &nodes->fast;
    double re[4] = {0}, im[4] = {0};
    for (int n = 0; n < nodes->count; n += 4)
        for (int i = 0; i < 4; i++) {
            double a = fast->value_re[n + i], b = fast->value_im[n + i];
            re[i] += a;
            im[i] += b;
            fast->value_re[n + i] = a * fast->turn_re[n + i] - b * fast->turn_im[n + i];
            fast->value_im[n + i] = a * fast->turn_im[n + i] + b * fast->turn_re[n + i];
        }
    loss_value value = {.re = (long double)((re[0] + re[1]) + (re[2] + re[3])) - 1.0L,
        .im = (im[0] + im[1]) + (im[2] + im[3])};
    if (nodes->direction == LOSS_ADD) value.im = -value.im;
    long double steps = (long double)(nodes->j - fast->from);
    value.error = fast->error + nodes->total * DBL_EPSILON * (4.0L * steps + 8.0L + 0.5L * nodes->count) +
                  nodes->turn_error * (long double)nodes->j * nodes->h;
    return value;
}

loss_value loss_nodes_next(loss_nodes *nodes) {
    loss_value value = nodes->fast.turn_re ? next_fast(nodes) : next_exact(nodes);
    nodes->j++;
    return value;
}

void loss_nodes_hurry(loss_nodes *nodes) {
    int padded = (nodes->count + 3) / 4 * 4;
    double *room = nodes->fast.turn_re ? NULL : mfpg_alloc(4 * (ptrdiff_t)padded, sizeof *room);
    if (!room) return; /* slower, and as good */
    fast_nodes *fast = &nodes->fast;
    *fast = (fast_nodes){room, room + padded, room + 2 * padded, room + 3 * padded, nodes->j, 0.0L};
    for (int n = 0; n < nodes->count; n++) {
        const loss_node *node = &nodes->node[n];
        complex_number value = node->tilted * (1.0L + node->d);
        fast->turn_re[n] = (double)(1.0L + creall(node->d1));
        fast->turn_im[n] = (double)cimagl(node->d1);
        fast->value_re[n] = (double)creall(value);
        fast->value_im[n] = (double)cimagl(value);
    }
    /* The error of D after j steps is at most 16 u j, in addition to what grows with y. */
    fast->error = nodes->total_error + nodes->total * (16.0L * UNIT * (long double)nodes->j + DBL_EPSILON);
}

/* In double precision the error is as if one step of length y had been made. */
loss_value loss_nodes_at(const loss_nodes *nodes, double y) {
    double complex sum = 0.0;
    for (int n = 0; n < nodes->count; n++) {
        const loss_node *node = &nodes->node[n];
        double a = -y * (double)cimagl(node->l), b = y * (double)creall(node->l);
        double rise = expm1(a), sine = sin(0.5 * b), cosine = cos(0.5 * b), back = 2.0 * sine * sine;
        double complex d = __builtin_complex(rise * (1.0 - back) - back, (rise + 1.0) * 2.0 * sine * cosine);
        double complex r = a * a + b * b < 0.25 ? (double complex)complex_second_order_exp(complex_of(a, b))
                                                : d - __builtin_complex(a, b);
        sum += (double complex)node->plain * r + (double complex)node->rise * d;
    }
    return value_of(nodes, sum, y, 1, (long double)DBL_EPSILON / LDBL_EPSILON);
}
