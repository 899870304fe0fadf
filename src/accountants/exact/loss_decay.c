/* phi(y) = M(c+iy)/M(c) is the characteristic function of the tilted loss X. Two bounds of |phi|:
 *
 * Near. rho(y) = sqrt(1 - |phi(y)|^2) = sqrt 2 |sin(y (X - X')/2)| in the L2 norm, X' a copy of X, so that
 * rho(y + d) >= rho(y) - rho(d) (Minkowski) and rho(d) <= d sd(X): one value bounds |phi| on the interval after it.
 *
 * Far. For any cut u1, |phi(y)| <= m(u1) + V(u1)/y with m the tilted mass below u1 and V the total variation of the
 * tilted density of l above it, jumps included: a cut below the needle near log(1-q), whose variation is enormous and
 * whose mass may be next to nothing. As a function of u that density is
 *     f = phi(u) (1+v)^k / (q w e^x M(c)),   k = 2 + c (removing), 1 - c (adding),
 *     (log f)' = (k s(u) - 1) w - u,   s = q e^x/(1+v) rising from 0 to 1,
 * which falls outside the interval of k s (1-s) w^2 > 1, rises within, and so has at most two zeros from above: V is at
 * most twice the sum of f at these peaks and, if f falls there, at u1. */
#include "loss.h"

#include <float.h>
#include <math.h>

enum { CELLS = 320, CUTS = 32, MOST_POINTS = 1000 };
#define OUTWARD (1.0 + 1e-9)

/* ---- far ---- */

typedef struct cut_table {
    double mass[CUTS], variation[CUTS];
} cut_table;

typedef struct density {
    double q, w, c, power; /* of 1 + v in f */
    int removing;
    double log_m; /* not above log M(c) */
    double peak[2];
    int peaks;
} density;

static double log_ratio(const density *f, double u) {
    double v;
    return sampled_loss(f->q, f->w, u, &v);
}

static double log_density(const density *f, double u) {
    double x = f->w * u - 0.5 * f->w * f->w;
    return -0.5 * u * u - 0.91893853320467 + f->power * log_ratio(f, u) - x - log(f->q * f->w) - f->log_m;
}

static double slope(const density *f, double u) {
    double x = f->w * u - 0.5 * f->w * f->w, s = f->q / (f->q + (1.0 - f->q) * exp(-x));
    return (f->power * s - 1.0) * f->w - u;
}

/* Returns the zero of the slope between an end where it is positive and one where it is negative. */
static double zero_between(const density *f, double low, double high) {
    for (int i = 0; i < 100 && high - low > 1e-12 * (1.0 + fabs(low)); i++) {
        double middle = 0.5 * (low + high);
        if (slope(f, middle) > 0.0)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* Returns the u at which s(u) takes a value in (0, 1). */
static double place_of_share(const density *f, double s) {
    double x = log(s) - log1p(-s) - log(f->q) + log1p(-f->q);
    return (x + 0.5 * f->w * f->w) / f->w;
}

static void find_peaks(density *f) {
    double most = f->power * f->w * f->w, reach = (fabs(f->power) + 1.0) * f->w + 1.0;
    f->peaks = 0;
    if (most <= 4.0) {
        f->peak[f->peaks++] = zero_between(f, -reach, reach);
        return;
    }
    double root = sqrt(1.0 - 4.0 / most), a = place_of_share(f, 2.0 / most / (1.0 + root)),
           b = place_of_share(f, 0.5 * (1.0 + root));
    if (slope(f, a) <= 0.0) f->peak[f->peaks++] = zero_between(f, fmin(a, -reach), a);
    if (slope(f, b) >= 0.0) f->peak[f->peaks++] = zero_between(f, b, fmax(b, reach));
}

static double variation_above(const density *f, double cut) {
    double sum = 0.0;
    for (int i = 0; i < f->peaks; i++)
        if (f->peak[i] > cut) sum += exp(log_density(f, f->peak[i]));
    if (slope(f, cut) <= 0.0) sum += exp(log_density(f, cut));
    return 2.0 * sum * OUTWARD;
}

/* Returns the largest value of phi (1+v)^(1+c), or phi (1+v)^-c, on [a, b], times its width, divided by
 * M(c). */
static double cell_mass(const density *f, double a, double b) {
    double nearest = a > 0.0 ? a : b < 0.0 ? b : 0.0;
    double tilt = f->removing ? (1.0 + f->c) * log_ratio(f, b) : -f->c * log_ratio(f, a);
    return (b - a) * exp(-0.5 * nearest * nearest - 0.91893853320467 + tilt - f->log_m) * OUTWARD;
}

/* Tabulates cuts at which the cells' mass reaches i/CUTS, and the window's end. Less than 1e-27 of the mass
 * is below the window. */
static void tabulate(const density *f, loss_window window, cut_table *out) {
    double mass = 1e-27, width = (window.high - window.low) / CELLS;
    int filled = 0;
    for (int i = 0; i < CELLS && filled < CUTS; i++) {
        double cut = window.low + i * width;
        if (mass >= filled / (double)CUTS * 0.9 || i == 0) {
            out->mass[filled] = mass;
            out->variation[filled++] = variation_above(f, cut);
        }
        mass += cell_mass(f, cut, cut + width);
    }
    for (; filled < CUTS; filled++) {
        out->mass[filled] = 1.0;
        out->variation[filled] = 0.0;
    }
}

static double far_exponent(const cut_table *table, double y) {
    double best = 1.0;
    for (int i = 0; i < CUTS; i++) best = fmin(best, table->mass[i] + table->variation[i] / y);
    return -log(best) / OUTWARD;
}

/* ---- near ---- */

/* A lower bound of rho. */
static double rho_at(const decaying *part, double y) {
    loss_value at = loss_nodes_at(part->nodes, y);
    long double s0 = part->start.re, m0 = 1.0L + s0;
    long double square = (s0 - at.re) * (2.0L + s0 + at.re) - at.im * at.im;
    long double error = 5.0L * (at.error + part->start.error) * (m0 + fabsl(1.0L + at.re) + fabsl(at.im)) +
                        16.0L * LDBL_EPSILON * (fabsl((s0 - at.re) * (2.0L + s0 + at.re)) + at.im * at.im);
    long double rho2 = (square - error) / (m0 * m0) * (1.0L - 1e-9L);
    return rho2 > 0.0L ? (double)sqrtl(fminl(rho2, 1.0L)) * (1.0 - 1e-12) : 0.0;
}

/* Returns -log |phi|^count on an interval of length d that follows a point with that rho. */
static double near_exponent(const decaying *part, double rho, double d) {
    double left = fmin(rho, 1.0) - part->deviation * d;
    if (!(left > 0.0)) return 0.0;
    return (double)part->kind->count * (left < 1.0 ? -0.5 * log1p(-left * left) : 40.0);
}

enum { MOST_PARTS = 4 };

static double near_exponents(const decaying *part, int parts, const double *rho, double d) {
    double sum = 0.0;
    for (int b = 0; b < parts; b++) sum += near_exponent(&part[b], rho[b], d);
    return sum;
}

static double far_exponents(const decaying *part, int parts, const cut_table *table, double y) {
    double sum = 0.0;
    for (int b = 0; b < parts; b++)
        sum += (double)part[b].kind->count * fmax(0.0, far_exponent(&table[b], y));
    return sum;
}

static void make_tables(const decaying *part, int parts, double c, cut_table *table) {
    for (int b = 0; b < parts; b++) {
        int removing = part[b].direction == LOSS_REMOVE;
        density f = {.q = part[b].kind->rate,
            .w = part[b].kind->reach,
            .c = c,
            .power = removing ? 2.0 + c : 1.0 - c,
            .removing = removing,
            .log_m = (double)log1pl(part[b].start.re) - (double)(part[b].start.error * 2.0L) - 1e-15};
        find_peaks(&f);
        tabulate(&f, loss_window_at(part[b].kind, part[b].direction, c), &table[b]);
    }
}

double loss_decay_bound(const decaying *part, int parts, double gauss, double c, double h, double from,
    double need, int *points) {
    cut_table table[MOST_PARTS];
    double sum = 0.0, y = from;
    int tabulated = 0;
    if (parts > MOST_PARTS) parts = MOST_PARTS;
    for (*points = 0; *points < MOST_POINTS; ++*points) {
        double ours = 0.5 * gauss * y * y;
        if (ours < need && !tabulated) {
            make_tables(part, parts, c, table);
            tabulated = 1;
        }
        double beyond = ours < need ? ours + far_exponents(part, parts, table, y) : ours;
        if (beyond >= need) return sum + (1.0 / y + h / y / y) * exp(-beyond) * OUTWARD;
        double rho[MOST_PARTS], d = y;
        for (int b = 0; b < parts; b++) rho[b] = rho_at(&part[b], y);
        while (ours + near_exponents(part, parts, rho, d) < need)
            if ((d *= 0.8) < 1e-3 * y) return (double)INFINITY;
        sum += (1.0 / y - 1.0 / (y + d) + h / y / y) * exp(-ours - near_exponents(part, parts, rho, d)) *
               OUTWARD;
        y += d;
    }
    return (double)INFINITY;
}
