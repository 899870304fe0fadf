/* Between neighbouring grid points e_i < e_(i+1) the masses dP = f(u) du and dQ = e^-loss dP of a cell are divided between
 * the two points so that both sums are kept: up = int (1 - e^(e_i - loss)) dP / (1 - e^-h) and
 * down = int (e^(e_(i+1) - loss) - 1) dP / (e^h - 1). As hockey-stick divergences are convex in e^-loss this can only raise
 * them, by a term of order h^2. With r = 1 - q + q e^x the likelihood ratio and x = w (u - w/2),
 *     up   = q int phi(u-w) (1 - e^(-w (u - u_i))) du / (1 - e^-h)      = c_i int phi(u) (e^(w (u - u_i)) - 1) du / (1 - e^-h),
 *     down = q int phi(u-w) (e^(w (u_(i+1) - u)) - 1) du / (e^h - 1) = c_(i+1) int phi(u) (1 - e^(-w (u_(i+1) - u))) du / (e^h - 1)
 * where c_i = q e^(x_i): integrals of products of positive functions, in which nothing cancels however fine the grid is (differences
 * of divergences, divided by h, lose all digits). They are found by Gauss-Legendre rules, whose error is bounded below.
 *
 * The law of "add" has at -e_i the mass e^-e_i times that of "remove" at e_i, on the grid as without it; that of "replace"
 * is its own mirror image.
 *
 * Rounding. The ends u_i are taken as they are computed, so that no mass is lost between cells; the loss there is
 * e_i up to blur, which moves all points by at most blur and changes the two denominators by 2 blur/h of themselves. */
#include "pld.h"

#include <math.h>

#include "numerics/special/normal.h"

#define ULP        0x1p-53
#define LEFT_MOST  (-37.0) /* below this point the normal law has a mass of 1e-299, */
#define RIGHT_MOST 38.0    /* and above it and w, the law with the record has a mass below 1e-315: */
#define LEFT_MASS  1e-298  /* this mass counts as infinite loss for both */
#define QUADRATURE (80.0 * ULP)

typedef struct ladder {
    double q, w, h;
    int from_edge; /* 1: grid points are counted from the smallest loss log(1-q), 0: from 0 */
    double offset, log_odds;
} ladder;

typedef struct rung {
    double u, level, blur; /* level: q e^(x_i) */
} rung;

/* The smallest loss itself is a grid point if losses come near it, because e^loss - (1-q) must then be
 * exact. */
static ladder ladder_for(const sampled_step *kind, pld_side side, double lowest, double h) {
    double edge = kind->rate < 1.0 ? log1p(-kind->rate) : -(double)INFINITY;
    ladder l = {.q = kind->rate, .w = kind->reach, .h = h};
    l.from_edge = kind->rate < 1.0 && side != PLD_REPLACE && (lowest < 0.5 * edge || 8.0 * h > -0.5 * edge);
    if (!l.from_edge) return l;
    l.offset = edge;
    l.log_odds = edge - log(kind->rate);
    return l;
}

/* The error of w u is that of x and of two more roundings; that of the loss is q e^x / r times it. */
static rung rung_at(const ladder *l, int64_t i) {
    double loss = l->h * (double)i, rise = expm1(loss), x, share, size;
    rung at;
    if (l->from_edge) {
        double log_rise = log(rise);
        at.level = (1.0 - l->q) * rise;
        x = l->log_odds + log_rise;
        share = -expm1(-loss);
        size = fabs(l->log_odds) + fabs(log_rise) + 2.0 + loss;
    } else if (l->q == 1.0) {
        at.level = exp(loss);
        x = loss;
        share = 1.0;
        size = fabs(loss);
    } else {
        double part = rise / l->q;
        at.level = rise + l->q;
        x = log1p(part);
        share = at.level / (1.0 + rise);
        size = fabs(x) + 2.0 * fabs(part) / (1.0 + part);
    }
    at.u = x / l->w + 0.5 * l->w;
    at.blur =
        x == -(double)INFINITY ? 0.0 : 4.0 * ULP * share * (size + fabs(x) + l->w * (fabs(at.u) + l->w));
    return at;
}

/* ---- the integrals of one cell ---- */

typedef struct gauss_rule {
    int half;
    double reach; /* largest half-length of a panel, as a multiple of 1/slope */
    double node[5], weight[5];
} gauss_rule;

/* A panel of half-length r: f is analytic, and on Bernstein's ellipse with parameter p = 2/(slope r) grows by less than
 * e^3 over the panel, and by p/2 for its factor that vanishes at one end; so the relative error is below 22 p^(1-2n)
 * (Trefethen 2019, theorem 19.3), which is at most 2e-16 for each of the three. */
static const gauss_rule rules[3] = {
    {2, 1.0 / 160, {0.33998104358485626, 0.86113631159405258}, {0.65214515486254614, 0.34785484513745386}},
    {3, 1.0 / 20, {0.23861918608319691, 0.66120938646626451, 0.93246951420315203},
        {0.46791393457269105, 0.36076157304813861, 0.17132449237917035}},
    {5, 1.0 / 4,
        {0.14887433898163121, 0.43339539412924719, 0.67940956829902441, 0.86506336668898451,
            0.97390652851717172},
        {0.29552422471475287, 0.26926671930999636, 0.21908636251598204, 0.14945134915058059,
            0.066671344308688138}},
};

typedef struct cell {
    double w, low, high; /* low may be -INFINITY */
    int present;         /* 1: with phi(u - w), 0: with phi(u) */
    int far; /* 1: low is below LEFT_MOST, where c_i may vanish, so up is computed with phi(u - w) */
    double up, down;
} cell;

static void add_node(cell *c, double left, double part, double weight) {
    double from_low = (left - c->low) + part, to_high = (c->high - left) - part, u = left + part;
    if (c->present) {
        double density = weight * mfpg_normal_density(u - c->w);
        c->up -= density * expm1(-c->w * from_low);
        c->down += density * expm1(c->w * to_high);
    } else {
        double density = weight * mfpg_normal_density(u);
        if (!c->far) c->up += density * expm1(c->w * from_low);
        if (c->far) c->up -= weight * mfpg_normal_density(u - c->w) * expm1(-c->w * from_low);
        c->down -= density * expm1(-c->w * to_high);
    }
}

/* A cell that is longer than a step's whole range of losses may end far beyond all mass. */
static void integrate(cell *c) {
    double from = fmax(c->low, LEFT_MOST), to = fmin(c->high, c->w + RIGHT_MOST);
    double most = fmax(fabs(from), fabs(to)) + c->w + 1.0, whole = to - from, half = 0.5 * whole;
    const gauss_rule *rule = &rules[2];
    for (int k = 2; k >= 0 && half * most <= rules[k].reach; k--) rule = &rules[k];
    ptrdiff_t panels = 1 + (ptrdiff_t)(half * most / rule->reach);
    double width = whole / (double)panels, r = 0.5 * width;
    for (ptrdiff_t p = 0; p < panels; p++) {
        double left = from + width * (double)p;
        for (int k = 0; k < rule->half; k++) {
            add_node(c, left, r - r * rule->node[k], r * rule->weight[k]);
            add_node(c, left, r + r * rule->node[k], r * rule->weight[k]);
        }
    }
}

typedef struct masses {
    double up, down;
} masses;

static masses cell_masses(const ladder *l, const rung *low, const rung *high) {
    cell c = {.w = l->w, .low = low->u, .high = high->u};
    int whole = isinf(low->u);
    c.present = !whole && high->u > 0.5 * l->w;
    c.far = low->u < LEFT_MOST;
    if (!(c.high > LEFT_MOST) || c.low >= l->w + RIGHT_MOST) return (masses){0};
    integrate(&c);
    double up = c.present || c.far ? l->q : low->level, down = c.present ? l->q : high->level;
    double margin = 1.0 + QUADRATURE + 2.0 * fmax(low->blur, high->blur) / l->h +
                    2.0 * ULP * (high->u * high->u + fmin(low->u * low->u, 1600.0) + l->w * l->w);
    double above = whole ? l->q * mfpg_normal_cdf(high->u - l->w) : up * c.up;
    return (masses){.up = above * margin / -expm1(-l->h), .down = down * c.down * margin / expm1(l->h)};
}

/* ---- laying masses on the circle ---- */

typedef struct layer {
    const pld_setting *set;
    pld_side side;
    double offset, crowding;
    double *circle;
    pld_spread *out;
} layer;

/* mass e^shift at the point i. */
static void lay(const layer *to, int64_t i, double mass, double shift) {
    double at = to->set->h * (double)i, lift = to->set->tilt * at;
    double exponent = lift - to->out->log_scale + shift;
    double margin = 1.0 + ULP * (8.0 + to->crowding + 2.0 * (fabs(lift) + fabs(exponent) + fabs(shift)));
    double value = mass * exp(exponent) * margin;
    to->circle[i & (to->set->n - 1)] += value;
    to->out->sum += value;
    to->out->further += value * exp(to->set->more_tilt * at - to->out->log_further);
}

/* Adds the mass of remove at the point i, in the form that this side uses. */
static void lay_point(const layer *to, int64_t i, double mass) {
    double at = to->set->h * (double)i;
    if (to->side != PLD_ADD) lay(to, i, mass, 0.0);
    if (to->side == PLD_ADD) lay(to, -i, mass, -(to->offset + at));
    if (to->side == PLD_REPLACE && i > 0) lay(to, -i, mass, -at);
}

/* The mass below the first rung is moved up to the next rung; for add these are the largest losses, which
 * count as infinite. */
static void lay_below(const layer *to, const ladder *l, int64_t first, double u) {
    double absent = mfpg_normal_cdf(u), present = mfpg_normal_cdf(u - l->w), margin = 1.0 + 32.0 * ULP;
    if (to->side == PLD_ADD) to->out->infinite += absent * margin;
    if (to->side == PLD_REMOVE) lay(to, first + 1, ((1.0 - l->q) * absent + l->q * present) * margin, 0.0);
}

static void lay_above(const layer *to, const ladder *l, int64_t last, double u) {
    double absent = mfpg_normal_cdf(-u), present = mfpg_normal_cdf(l->w - u), margin = 1.0 + 32.0 * ULP;
    if (to->side != PLD_ADD) to->out->infinite += ((1.0 - l->q) * absent + l->q * present) * margin;
    if (to->side != PLD_REMOVE) lay(to, -(last - 1), absent * margin, 0.0);
}

void pld_cells_fold(const pld_setting *setting, const sampled_step *kind, pld_side side, int at,
    double *circle, pld_spread *out) {
    if (kind->rate == 1.0) side = PLD_REMOVE; /* both ways, and mirrored, the same */
    double low = setting->kind[at].low, high = setting->kind[at].high;
    double v, lowest = sampled_loss(kind->rate, kind->reach, low, &v);
    double highest = sampled_loss(kind->rate, kind->reach, high, &v);
    ladder l = ladder_for(kind, side, lowest, setting->h);
    int64_t first = (int64_t)floor((lowest - l.offset) / l.h),
            last = (int64_t)ceil((highest - l.offset) / l.h);
    if (l.from_edge && first < 0) first = 0;
    if (last <= first) last = first + 1;
    if (side == PLD_REPLACE) first = 0;
    *out = (pld_spread){.offset = side == PLD_ADD ? -l.offset : l.offset, .infinite = LEFT_MASS};
    out->log_scale = setting->kind[at].log_moment - setting->tilt * out->offset;
    out->log_further = setting->kind[at].log_moment_further - setting->kind[at].log_moment -
                       setting->more_tilt * out->offset;
    layer to = {.set = setting, .side = side, .offset = l.offset, .circle = circle, .out = out};
    to.crowding = 2.0 * (double)(last - first) / (double)setting->n;
    rung below = rung_at(&l, first);
    double carried = 0.0;
    if (side == PLD_REPLACE) /* the mass that both laws have in common: there P = Q */
        lay(&to, 0, (1.0 - l.q) * erf(l.w * M_SQRT1_2 / 2.0) * (1.0 + 8.0 * ULP), 0.0);
    else
        lay_below(&to, &l, first, below.u);
    for (int64_t i = first; i < last; i++) {
        rung above = rung_at(&l, i + 1);
        masses m = cell_masses(&l, &below, &above);
        carried += m.down;
        if (side == PLD_REPLACE && i == 0) carried *= 2.0; /* its own mirror image */
        lay_point(&to, i, carried);
        carried = m.up;
        out->blur = fmax(out->blur, fmax(below.blur, above.blur));
        below = above;
    }
    lay_point(&to, last, carried);
    lay_above(&to, &l, last, below.u);
    out->further *= 1.0 + 4.0 * ULP * (double)(last - first);
}
