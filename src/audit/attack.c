/* Scores are the likelihood ratio of the two arms along the canary's direction, given everything else that
 * the attacker knows. The noise is Gaussian and known, so no score is better (Neyman and Pearson). */
#include <math.h>

#include "audit_game.h"

static int is_replace(const mfpg_audit_game *game) {
    return game->federation->promise.adjacency == MFPG_ADJACENCY_REPLACE;
}

double mfpg_audit_value(const mfpg_audit_game *game, int sign, int arm) {
    return (double)(sign * (is_replace(game) ? 2 * arm - 1 : arm));
}

/* Returns the value half way between those of the two arms. */
static double middle(const mfpg_audit_game *game, int sign) {
    return is_replace(game) ? 0.0 : 0.5 * sign;
}

/* One round of a transcript. */
typedef struct one_round {
    const mfpg_audit_game *game;
    const mfpg_audit_law *law;            /* clients */
    double before, after;                 /* <w, v> */
    const double *local, *weight, *value; /* arrays of one number per client; local and value may be NULL */
} one_round;

static one_round round_of(const mfpg_audit_game *game, const mfpg_transcript *s, int64_t t) {
    ptrdiff_t at = t * game->clients;
    return (one_round){.game = game,
        .law = game->law,
        .before = s->global[t],
        .after = s->global[t + 1],
        .local = s->planes > 0 ? s->local + at : NULL,
        .weight = s->weight + at,
        .value = s->value ? s->value + at : NULL};
}

/* Returns how far client j moves along v if it sends that value, as a multiple of its whole clip. */
static double moves(const one_round *r, ptrdiff_t j, double value) {
    if (!r->game->input) return value;
    ptrdiff_t rows = r->game->data->client[j].train.rows;
    return mfpg_input_pull_at(r->game->input, r->game->mechanism[j], rows, value, r->before).moves;
}

/* The same for what it sends. */
static double sent(const one_round *r, ptrdiff_t j) {
    return r->value ? moves(r, j, r->value[j]) : 0.0;
}

/* Returns E<u_j, v> if j moves by that amount. */
static double expected(const one_round *r, ptrdiff_t j, double moved) {
    return r->law[j].keep * r->before + moved * r->law[j].gap * r->law[j].rate;
}

/* One release: its distance from the middle of the two arms in units of its noise, and the distance of each
 * arm from there. */
typedef struct look {
    double beyond, shift;
    double rate; /* the probability that the canary was drawn; 1: always */
    /* a release at most this far from an arm counts as equal to it: the precision of floats without noise */
    double grain;
} look;

/* The grain: weights are about as large as the model along v, in units of the noise; 2^-24 for each
 * rounding. */
static look look_with(const one_round *r, ptrdiff_t k, double beyond, double shift, double sd) {
    double grain = 0x1p-22 * (1.0 + fabs(r->before / sd) + fabs(shift));
    return (look){beyond, shift, r->law[k].rate, grain};
}

/* View local: k's own update. */
static look look_at_update(const one_round *r, ptrdiff_t k) {
    const mfpg_audit_law *law = &r->law[k];
    double sd = sqrt(law->variance);
    return look_with(r, k, (r->local[k] - law->keep * r->before) / sd, law->gap / sd, sd);
}

/* Returns the participant i != k that knows the largest part of the sum's noise; -1 if participants do not
 * observe it. */
static ptrdiff_t observer(const one_round *r, ptrdiff_t k) {
    ptrdiff_t best = -1;
    double most = 0.0;
    for (ptrdiff_t i = 0; i < r->game->clients && r->game->federation->participants; i++) {
        double own = r->weight[i] * r->weight[i] * r->law[i].variance;
        if (i == k || !(own > most)) continue;
        most = own;
        best = i;
    }
    return best;
}

/* View average: the new global model minus what is known of the others; colluders and the observer know
 * their own update. */
static look look_at_average(const one_round *r, ptrdiff_t k) {
    const double *weight = r->weight;
    const unsigned char *colluder = r->game->federation->colluder;
    ptrdiff_t seen = observer(r, k);
    double rest = r->after - weight[k] * r->law[k].keep * r->before, variance = 0.0;
    for (ptrdiff_t j = 0; j < r->game->clients; j++) {
        int known = r->local && j != k && (j == seen || (colluder && colluder[j]));
        if (weight[j] == 0.0) continue;
        if (j != k) rest -= weight[j] * (known ? r->local[j] : expected(r, j, sent(r, j)));
        if (!known) variance += weight[j] * weight[j] * r->law[j].variance;
    }
    double sd = sqrt(variance);
    return look_with(r, k, rest / sd, weight[k] * r->law[k].gap / sd, sd);
}

static look look_at(const one_round *r, ptrdiff_t k) {
    return r->game->federation->promise.view == MFPG_VIEW_LOCAL ? look_at_update(r, k)
                                                                : look_at_average(r, k);
}

/* Returns the log of (1 - q) + q exp(shift z - shift^2/2): the density of N(shift, 1), drawn with
 * probability q, divided by that of N(0, 1). */
static double mixture(double q, double z, double shift) {
    double tilt = shift * z - 0.5 * shift * shift, large = fmax(tilt, 0.0);
    return large + log((1.0 - q) * exp(-large) + q * exp(tilt - large));
}

/* Returns the log likelihood ratio of arm 1 over arm 0. Without sampling it is linear in what is seen. */
static double ratio(const mfpg_audit_game *game, look l, int sign, int one_step) {
    double z = sign * l.beyond;
    int replace = is_replace(game);
    if (l.rate >= 1.0 || !one_step) {
        double shift = l.shift * l.rate;
        return replace ? 2.0 * shift * z : shift * z - 0.5 * shift * shift;
    }
    return mixture(l.rate, z, l.shift) - (replace ? mixture(l.rate, z, -l.shift) : 0.0);
}

/* Returns 1 if a release without noise, as its digits show, equals arm 1, -1 if it equals arm 0, and
 * otherwise 0. Noise on a grid equals an arm by chance in one of about forty rounds; the digits tell the two
 * cases apart. */
static int arm_without_noise(const mfpg_audit_game *game, look l, int sign, mfpg_digits_kind digits) {
    double z = sign * l.beyond;
    if (l.rate < 1.0 || (digits != MFPG_DIGITS_FLOATS && digits != MFPG_DIGITS_STILL)) return 0;
    return (fabs(z - l.shift) <= l.grain) - (fabs(is_replace(game) ? z + l.shift : z) <= l.grain);
}

double mfpg_attack_round(const mfpg_audit_game *game, const mfpg_transcript *s, int64_t t, ptrdiff_t k) {
    const one_round r = round_of(game, s, t);
    return ratio(game, look_at(&r, k), 1, game->law[k].one_step);
}

/* View final: the last model alone, minus its mean half way between the arms, which follows the same
 * recursion as the model. */
static double score_last(
    const mfpg_audit_game *game, const mfpg_transcript *s, const signed char *sign, ptrdiff_t k) {
    double mean = s->global[0];
    for (int64_t t = 0; t < s->rounds; t++) {
        const one_round r = round_of(game, s, t);
        double keep = 0.0, move = 0.0, members = 0.0;
        for (ptrdiff_t j = 0; j < game->clients; j++) {
            keep += r.weight[j] * r.law[j].keep;
            move +=
                r.weight[j] * r.law[j].gap * r.law[j].rate * (j == k ? middle(game, sign[t]) : sent(&r, j));
            members += r.weight[j];
        }
        if (members > 0.0) mean = keep * mean + move; /* else nobody took part */
    }
    return s->global[s->rounds] - mean;
}

/* The sum of the log likelihood ratios, whose deviation is mu. A round whose noise was left out is stronger
 * evidence than any sum of noisy rounds, so it counts as six deviations. A correct round is on the grid with
 * entries that moved, so it is never mistaken for one without noise. */
double mfpg_attack_score(
    const mfpg_audit_game *game, const mfpg_transcript *s, const signed char *sign, ptrdiff_t k) {
    double sum = 0.0, square = 0.0, apart = mfpg_audit_value(game, 1, 1) - mfpg_audit_value(game, 1, 0);
    int bare = 0;
    if (game->federation->promise.view == MFPG_VIEW_FINAL) return score_last(game, s, sign, k);
    for (int64_t t = 0; t < s->rounds; t++) {
        const one_round r = round_of(game, s, t);
        if (!(r.weight[k] > 0.0)) continue;
        look l = look_at(&r, k);
        sum += ratio(game, l, sign[t], game->law[k].one_step);
        square += apart * apart * l.shift * l.shift;
        bare += arm_without_noise(game, l, sign[t], s->digits[t * game->clients + k]);
    }
    return sum + 6.0 * sqrt(square) * bare;
}

double mfpg_attack_digits(
    const mfpg_audit_game *game, const mfpg_transcript *s, const signed char *sign, ptrdiff_t k) {
    int sum = 0;
    if (game->federation->promise.view != MFPG_VIEW_LOCAL) return 0.0;
    for (int64_t t = 0; t < s->rounds; t++) {
        signed char shown = s->shown[t * game->clients + k];
        if (shown == MFPG_SHOWS_NONE) continue;
        sum += (double)shown == mfpg_audit_value(game, sign[t], 1);
        sum -= (double)shown == mfpg_audit_value(game, sign[t], 0);
    }
    return (double)sum;
}

double mfpg_attack_cross(const mfpg_audit_game *game, const mfpg_transcript *s, const signed char *sign,
    ptrdiff_t k, ptrdiff_t other) {
    double sum = 0.0;
    for (int64_t t = 0; t < s->rounds; t++) {
        const one_round r = round_of(game, s, t);
        if (r.weight[k] == 0.0 || r.weight[other] == 0.0) continue;
        double own = r.local[k] - expected(&r, k, middle(game, sign[t]));
        sum += sign[t] * (own - (r.local[other] - expected(&r, other, sent(&r, other))));
    }
    return sum;
}

/* The distance of the arms is determined by the model. If there are several local steps, all are treated
 * like the first. */
double mfpg_attack_input(const mfpg_audit_game *game, const mfpg_transcript *s, ptrdiff_t k) {
    double sum = 0.0;
    if (game->federation->promise.view == MFPG_VIEW_FINAL) return s->global[s->rounds];
    for (int64_t t = 0; t < s->rounds; t++) {
        const one_round r = round_of(game, s, t);
        if (r.weight[k] == 0.0) continue;
        look l = look_at(&r, k);
        double rate = game->law[k].one_step ? l.rate : 1.0,
               shift = game->law[k].one_step ? l.shift : l.shift * l.rate;
        for (int arm = 0; arm < 2; arm++) {
            double to = moves(&r, k, mfpg_audit_value(game, 1, arm));
            double density = mixture(rate, l.beyond, shift * to);
            sum += arm == 1 ? density : -density;
        }
    }
    return sum;
}

/* Returns the first round that shows client k's records; -1 if it never took part. */
static int64_t first_look(const mfpg_audit_game *game, const mfpg_transcript *s, ptrdiff_t k) {
    for (int64_t t = 0; t < s->rounds; t++)
        if (s->weight[t * game->clients + k] > 0.0) return t;
    return -1;
}

/* A record is noised once, so the first round that shows it contains all the information. All rounds, and
 * other records, add information only if noise was drawn again or used twice. */
double mfpg_attack_records(
    const mfpg_audit_game *game, const mfpg_transcript *s, ptrdiff_t k, ptrdiff_t series) {
    const mfpg_audit_law *law = &game->law[k];
    ptrdiff_t clients = game->clients;
    int64_t first = first_look(game, s, k);
    if (first < 0) return 0.0;
    double seen = s->local[first * clients + k], sd = sqrt(law->variance),
           toward = law->gap < 0.0 ? -1.0 : 1.0;
    if (series == MFPG_LOOK_FIRST)
        return ratio(game, (look){.beyond = seen / sd, .shift = law->gap / sd, .rate = 1.0}, 1, 1);
    if (series == MFPG_LOOK_BESIDE) return toward * (seen - s->beside[first * clients + k]);
    if (series >= MFPG_LOOK_CROSS) {
        ptrdiff_t other = (k + series - MFPG_LOOK_CROSS + 1) % clients;
        int64_t theirs = first_look(game, s, other);
        if (theirs < 0) return toward * seen;
        double given = s->value[theirs * clients + other] * game->law[other].gap;
        return toward * (seen - (s->local[theirs * clients + other] - given));
    }
    double sum = 0.0;
    for (int64_t t = first; t < s->rounds; t++)
        if (s->weight[t * clients + k] > 0.0) sum += toward * s->local[t * clients + k];
    return sum;
}
