/* The entropic FedAvg game (theory S3.3): more strength means more noise.
 *
 *     U_k(e) = f(s) + c_k e_k + beta_k B_k/e_k,   s = sum w_j e_j,   w_j = p_j unit_j,
 *
 * f the excess loss of the averaged model (mfpg_fedavg_law), unit_j the absolute strength of action 1. For equal p the law
 * of the model depends on the strengths through s alone. N players move s by their own share; in the limit none does,
 * and f keeps its bias only. A planner minds N f. */
#include "base/error.h"
#include "base/wide.h"
#include "best_response.h"
#include "monotone_root.h"

double mfpg_fedavg_stable_below(const mfpg_fedavg_law *law) {
    return law->prior_variance * (2.0 / law->step - law->curvature);
}

/* Returns D = X (1 - tau X/2); 0 if the model is unstable. */
static double damping(const mfpg_fedavg_law *law, double ebar) {
    double x = law->curvature + ebar / law->prior_variance;
    double d = x * (1.0 - 0.5 * law->step * x);
    return ebar < mfpg_fedavg_stable_below(law) && d > 0.0 ? d : 0.0;
}

double mfpg_fedavg_variance(const mfpg_fedavg_law *law, double ebar) {
    double d = damping(law, ebar);
    return d > 0.0 ? law->variance_share * ebar / d : (double)INFINITY;
}

double mfpg_fedavg_excess(const mfpg_fedavg_law *law, double ebar) {
    double kap = ebar / law->prior_variance, lost = kap / (law->curvature + kap);
    double variance = mfpg_fedavg_variance(law, ebar);
    return 0.5 * law->curvature * (law->optimum_norm2 * lost * lost + law->dimension * variance);
}

/* S3.3 writes the variance's part as (D - ebar D')/D^2. Its numerator is h (1 - tau h/2) + tau kap^2/2, in
 * which every term is positive if the law is stable, so there is no cancellation. */
double mfpg_fedavg_slope(const mfpg_fedavg_law *law, double ebar) {
    double h = law->curvature, tau = law->step, kap = ebar / law->prior_variance, x = h + kap;
    double d = damping(law, ebar);
    if (!(d > 0.0)) return (double)INFINITY;
    double bias = law->optimum_norm2 * 2.0 * kap * h / (x * x * x * law->prior_variance);
    double noise =
        law->dimension * law->variance_share * (h * (1.0 - 0.5 * tau * h) + 0.5 * tau * kap * kap) / (d * d);
    return 0.5 * h * (bias + noise);
}

static mfpg_fedavg_law law_of(const mfpg_play *play) {
    const mfpg_game *game = play->game;
    return (mfpg_fedavg_law){
        .curvature = game->curvature,
        .prior_variance = game->prior_variance,
        .step = game->step,
        .dimension = game->dimension,
        .optimum_norm2 = game->optimum_norm2,
        .variance_share = play->limit ? 0.0 : 1.0 / (double)game->clients,
    };
}

/* Returns the number of clients whose losses the decision maker includes. */
static double minded(const mfpg_play *play) {
    return play->planner ? (double)play->game->clients : 1.0;
}

static mfpg_status check_equal_weights(mfpg_context *ctx, const mfpg_game *game) {
    double equal = 1.0 / (double)game->clients;
    for (ptrdiff_t k = 0; game->weight && k < game->clients; k++) {
        if (fabs(game->weight[k] - equal) <= 1e-9 * equal) continue;
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "cost entropic with players finite needs equal weights, and client %td's differs: with unequal "
            "weights the mean strength does not determine the model; use weights equal or players mean-field",
            k);
    }
    return MFPG_OK;
}

/* Returns the weight of client k's action in s. N players have equal p, up to the tolerance of their check. */
static double weight_of(const mfpg_play *play, ptrdiff_t k) {
    double p = play->limit ? mfpg_play_weight(play, k) : 1.0 / (double)play->game->clients;
    return play->game->strength_unit ? p * play->game->strength_unit[k] : p;
}

static double add_weights(const void *arg, ptrdiff_t first, ptrdiff_t count) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < count; i++) sum += weight_of(arg, first + i);
    return sum;
}

/* s if all clients play x. */
static double mean_of(const mfpg_play *play, double x) {
    return x * mfpg_chunks_sum(&play->chunks, add_weights, play);
}

/* Checks that the averaged model is stable at the smallest mean strength that the clients can choose. */
static mfpg_status check_stability(mfpg_context *ctx, const mfpg_play *play) {
    const mfpg_game *game = play->game;
    mfpg_fedavg_law law = law_of(play);
    double least = game->actions.grid ? game->actions.grid[0] : game->actions.low;
    if (mean_of(play, least) < mfpg_fedavg_stable_below(&law)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "the averaged model diverges whatever the clients choose: step x (curvature + strength/prior "
        "variance) must stay below 2 at the smallest action");
}

static mfpg_status validate(mfpg_context *ctx, const mfpg_play *play) {
    const mfpg_game *game = play->game;
    /* Without an own cost there is no best response in the limit: S3.1 (ii). */
    for (ptrdiff_t k = 0; k < game->clients; k++)
        if (mfpg_play_own_cost(play, k) == 0.0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "own cost of client %td is 0, as with personalisation 0: free riding, every strength would "
                "grow without bound; give personalisation > 0 or a positive own cost",
                k);
    mfpg_status status =
        mfpg_check_clients(ctx, "own cost", game->own_cost, game->own_cost_all, game->clients);
    if (status || play->limit) return status;
    status = check_equal_weights(ctx, game);
    return status ? status : check_stability(ctx, play);
}

MFPG_WIDE static void entropic_scales(
    const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, const double *others, double *u, double *v) {
    (void)others;
    const mfpg_game *game = play->game;
    for (ptrdiff_t i = 0; i < count; i++) u[i] = mfpg_play_own_cost(play, first + i);
    mfpg_add_prices(play, first, count, u);
    for (ptrdiff_t i = 0; i < count; i++)
        v[i] = game->preference[first + i] * mfpg_play_privacy_scale(play, first + i);
}

/* u e + v/e. */
static void shares(const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, const double *e, double *out) {
    for (ptrdiff_t i = 0; i < count; i++) out[i] = weight_of(play, first + i) * e[i];
}

static double external(const mfpg_play *play, double aggregate) {
    mfpg_fedavg_law law = law_of(play);
    return minded(play) * mfpg_fedavg_excess(&law, aggregate);
}

/* The slope of client k's cost in its own action, with the others' shares fixed. */
typedef struct own_slope {
    mfpg_fedavg_law law;
    double others, weight, pull; /* pull: weight times the number of losses that are included */
    double u, v;
} own_slope;

static double own_slope_at(double e, const void *arg) {
    const own_slope *own = arg;
    return own->pull * mfpg_fedavg_slope(&own->law, own->others + own->weight * e) + own->u -
           own->v / (e * e);
}

/* Returns the root of the slope if it is within a relative 2^-26 of the guess, otherwise 0. The slope is
 * linear there up to the square of that, so one step of false position is as accurate as rounding allows. */
static double reply_near(const own_slope *own, double low, double top, double guess) {
    double a = fmax(low, guess * (1.0 - 0x1p-26)), b = fmin(top, guess * (1.0 + 0x1p-26));
    if (!(a > 0.0 && a < b)) return 0.0;
    double at_a = own_slope_at(a, own), at_b = own_slope_at(b, own);
    if (!(at_a < 0.0 && at_b > 0.0)) return 0.0;
    return isfinite(at_b) ? mfpg_clamp(a - at_a * (b - a) / (at_b - at_a), a, b) : 0.0;
}

/* U_k has one minimum: its slope has the sign of e^2 (c + w f'(s)) - beta B, whose derivative
 * 2 e (c + w f') + e^2 w^2 f'' is at least 2 e c > 0, since w e <= s and s max(-f'', 0) <= 2 f' (shown below at nash).
 * So the slope changes sign once, from - to +. */
static double reply(
    const mfpg_play *play, ptrdiff_t k, double others, double low, double high, double guess) {
    own_slope own = {.law = law_of(play), .others = others, .weight = weight_of(play, k)};
    own.pull = own.weight * minded(play);
    entropic_scales(play, k, 1, &others, &own.u, &own.v);
    /* f' > 0: never above the minimiser without f */
    double top = fmin(high, mfpg_strength_minimiser(play, own.u, own.v));
    if (own.weight > 0.0) top = fmin(top, (mfpg_fedavg_stable_below(&own.law) - others) / own.weight);
    if (!(top > low)) return low;
    if (low > 0.0 && (guess == low || low == high) && own_slope_at(low, &own) >= 0.0) return low;
    double near = reply_near(&own, low, top, guess);
    if (near > 0.0) return near;
    if (low > 0.0 && own_slope_at(low, &own) >= 0.0) return low;
    double bottom = top;
    while (bottom > low && own_slope_at(bottom, &own) > 0.0) {
        top = bottom;
        bottom *= 0.5;
    }
    return mfpg_monotone_root(own_slope_at, &own, fmax(bottom, low), top, 1).low; /* the stable side */
}

/* The best responses of all clients to the price of the mean, f'(s) times the number of losses included. */
typedef struct market {
    const mfpg_play *play;
    mfpg_fedavg_law law;
    double minded, low, high;
    double price;   /* of the replies at hand */
    double *action; /* clients: the replies */
} market;

/* Computes the best responses of a block of clients and the contribution of each to s. */
MFPG_WIDE static void reply_to_price(
    const market *m, ptrdiff_t first, ptrdiff_t count, double *e, double *weight) {
    double u[MFPG_BLOCK], v[MFPG_BLOCK];
    entropic_scales(m->play, first, count, NULL, u, v);
    for (ptrdiff_t i = 0; i < count; i++) weight[i] = weight_of(m->play, first + i);
    for (ptrdiff_t i = 0; i < count; i++) {
        double x = sqrt(v[i] / (u[i] + weight[i] * m->price));
        e[i] = mfpg_clamp(x, m->low, m->high);
    }
}

static double add_replies(const void *arg, ptrdiff_t first, ptrdiff_t count) {
    mfpg_compensated sum = {0};
    double e[MFPG_BLOCK], weight[MFPG_BLOCK];
    for (ptrdiff_t i = 0; i < count; i += MFPG_BLOCK) {
        ptrdiff_t n = count - i < MFPG_BLOCK ? count - i : MFPG_BLOCK;
        reply_to_price(arg, first + i, n, e, weight);
        for (ptrdiff_t j = 0; j < n; j++) e[j] *= weight[j];
        mfpg_compensated_add(&sum, mfpg_chunk_add(e, n));
    }
    return mfpg_compensated_value(&sum);
}

static void keep_replies(void *arg, ptrdiff_t chunk, ptrdiff_t first, ptrdiff_t count) {
    const market *m = arg;
    double weight[MFPG_BLOCK];
    (void)chunk;
    reply_to_price(m, first, count, m->action + first, weight);
}

/* Returns the price at the mean of the best responses to a price. */
static double answered_price(const market *m, double price) {
    market at = *m;
    at.price = price;
    double mean = mfpg_chunks_sum(&m->play->chunks, add_replies, &at);
    return m->minded * mfpg_fedavg_slope(&m->law, mean);
}

static double excess_price(double price, const void *arg) {
    return answered_price(arg, price) - price;
}

/* Finds the price that reproduces itself, bracketed by doubling or halving from the price at the best
 * responses to price 0. */
static mfpg_root find_price(const market *m) {
    double start = answered_price(m, 0.0);
    if (start == 0.0) return (mfpg_root){.converged = 1}; /* f is flat */
    if (!isfinite(start))
        start = m->minded * mfpg_fedavg_slope(&m->law,
                                0.5 * (mean_of(m->play, m->low) + mfpg_fedavg_stable_below(&m->law)));
    double bottom = start, top = start;
    while (excess_price(top, m) > 0.0) {
        bottom = top;
        top *= 2.0;
    }
    while (bottom > 0.0 && excess_price(bottom, m) < 0.0) {
        top = bottom;
        bottom *= 0.5;
    }
    return mfpg_monotone_root(excess_price, m, bottom, top, 0);
}

/* The equilibrium (and the planner's optimum, with N f in place of f) is e_k = R_k(s) = clip(sqrt(beta_k B_k/(c_k +
 * w_k f'(s)))) at the s with sum w_k R_k(s) = s. There is exactly one such s, clamped or not:
 *
 * 1. s max(-f'', 0) <= 2 f' wherever the law is stable. In units of kap, f is a positive combination of the bias
 *    b = (kap/X)^2 with kap (-b'') - 2 b' = -6 h^2 kap/X^4 <= 0, and of the variance v = kap/D with
 *    kap (-v'') - 2 v' = -(tau kap^2 D + 2 Q^2)/D^3 < 0, Q = h (1 - tau h/2) + tau kap^2/2.
 * 2. So d log R_k/d log s = s (-f'') w_k/(2 (c_k + w_k f')) < 1 (c_k > 0) if R_k is not clamped, and 0 if it is:
 *    every R_k(s)/s falls strictly, and sum w_k R_k(s)/s = 1 has at most one root: a monotone scalar problem.
 * 3. At s = sum w_k low the sum is at least s. At s = sum w_k clip(sqrt(beta_k B_k/c_k)) it is at most s, because
 *    f' > 0; at the border of stability f' = infinity, every reply is `low`, and the sum is below s.
 *
 * The replies satisfy each client's first-order condition, which is enough (see reply), so this is the only Nash
 * equilibrium; the planner's objective attains its minimum, which satisfies the same conditions, so it is this one.
 *
 * The unknown of the search is the price q = f'(s), not s: near the border f' changes much within one rounding of s, but
 * the replies hardly change within one of q. With S(q) the sum of the replies to q, f'(S(q)) - q vanishes at that price
 * alone; it is positive or infinite at q = 0 and negative for large q, where S(q) is at its smallest. So it changes sign
 * once, and any bracket with the two signs holds the root. */
static mfpg_status nash(
    mfpg_context *ctx, const mfpg_play *play, double low, double high, double *action, mfpg_report *report) {
    const double resolved = 1e-9; /* relative error of the price; a client can gain about its square */
    market m = {.play = play, .law = law_of(play), .minded = minded(play), .low = low, .high = high};
    mfpg_root root = find_price(&m);
    double price = root.high; /* the upper end: the model is stable at the best responses to it */
    (void)ctx;
    m.price = price;
    m.action = action;
    mfpg_blocks_run(&play->chunks, keep_replies, &m);
    *report = (mfpg_report){.unique = 1, .iterations = root.iterations, .selection = MFPG_CHOSEN_ONLY};
    if (price > 0.0) report->residual = fabs(excess_price(price, &m)) / price;
    report->converged = root.converged && report->residual <= resolved;
    return MFPG_OK;
}

/* At the optimum N w_k f'(s) + c_k = beta_k B_k/e_k^2. Of this, client k of N players includes w_k f'(s),
 * and a client of the limit nothing; the rest is the price. With it the best responses to s are the
 * optimum's. The price only adds to c_k > 0, so the equilibrium is still unique (see nash). At an end of the
 * interval the same holds as an inequality. */
static mfpg_status corrective(mfpg_context *ctx, const mfpg_play *play, double *price) {
    const mfpg_action_set *set = &play->game->actions;
    mfpg_play planner = *play;
    mfpg_report report;
    planner.planner = 1;
    if (set->grid)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "the corrective price of cost entropic is a slope: it needs actions on an interval, not on a "
            "grid");
    mfpg_status status = check_stability(ctx, play);
    if (!status) status = nash(ctx, &planner, set->low, set->high, price, &report);
    if (status) return status;
    mfpg_fedavg_law law = law_of(play);
    double slope = mfpg_fedavg_slope(&law, mfpg_aggregate(&planner, price));
    double others = minded(&planner) - (play->limit ? 0.0 : 1.0);
    for (ptrdiff_t k = 0; k < play->game->clients; k++) price[k] = others * weight_of(play, k) * slope;
    return MFPG_OK;
}

static int alike(const mfpg_play *play) {
    return !play->game->strength_unit && !(play->limit && play->game->weight);
}

const mfpg_cost_ops mfpg_cost_entropic = {
    .name = "entropic",
    .help = "excess loss of entropic FedAvg at the mean strength plus c e, against beta B/e (a strength)",
    .control = MFPG_CONTROL_STRENGTH,
    .consistent = 1,
    .has_optimum = 1,
    .takes_price = 1,
    .facts = MFPG_COST_READS_CURVATURE | MFPG_COST_READS_PERSONALISATION | MFPG_COST_READS_PRIVACY_SCALE |
             MFPG_COST_READS_OWN_COST | MFPG_COST_READS_OPTIMUM | MFPG_COST_COMMON_LOSS,
    .finite = MFPG_COUPLING_SHARED,
    .validate = validate,
    .utility = mfpg_strength_utility,
    .privacy = mfpg_strength_privacy,
    .scales = entropic_scales,
    .minimiser = mfpg_strength_minimiser,
    .shares = shares,
    .external = external,
    .reply = reply,
    .alike = alike,
    .nash = nash,
    .corrective = corrective,
};
