/* Scores: the likelihood ratio of the two arms, along the canary's direction, given everything else that the attacker knows. The
 * noise is Gaussian and known, so that no better score exists (Neyman and Pearson). */
#include <math.h>

#include "game.h"

double mfpg_audit_value(const mfpg_audit_game *game, int sign, int arm) {
    int replace = game->federation->promise.adjacency == MFPG_ADJACENCY_REPLACE;
    return (double)(sign * (replace ? 2 * arm - 1 : arm));
}

double mfpg_audit_middle(const mfpg_audit_game *game, int sign) {
    return game->federation->promise.adjacency == MFPG_ADJACENCY_REPLACE ? 0.0 : 0.5 * sign;
}

/* One release: what it shows beyond the middle of the two arms, in units of its noise, and how far each arm lies from there. */
typedef struct look {
    double beyond, shift;
    double rate;  /* the canary was drawn with this probability; 1: surely */
    double grain; /* nearer to an arm than this is on it: as exactly as floats hold a release without noise */
} look;

/* Of weights about as large as the model is along v, in units of the noise; 2^-24 for each rounding. */
static double grain_of(double global, double shift) {
    return 0x1p-22 * (1.0 + fabs(global) + fabs(shift));
}

static const double *row_of(const mfpg_audit_game *game, const double *array, int64_t t) {
    return array + t * game->clients;
}

/* By how much of its whole clip client j moves along v in round t where it is given that value. */
static double moves(
    const mfpg_audit_game *game, const mfpg_transcript *s, int64_t t, ptrdiff_t j, double value) {
    if (!game->input) return value;
    ptrdiff_t rows = game->data->client[j].train.rows;
    return mfpg_input_pull_at(game->input, game->mechanism[j], rows, value, s->global[t]).moves;
}

/* The same of what it was given. */
static double given(const mfpg_audit_game *game, const mfpg_transcript *s, int64_t t, ptrdiff_t j) {
    return s->value ? moves(game, s, t, j, row_of(game, s->value, t)[j]) : 0.0;
}

/* E<u_j, v> in round t for what j was given. */
static double expected(
    const mfpg_audit_game *game, const mfpg_transcript *s, int64_t t, ptrdiff_t j, double value) {
    const mfpg_audit_law *law = &game->law[j];
    return law->keep * s->global[t] + value * law->gap * law->rate;
}

/* View local: k's own update. */
static look look_at_update(const mfpg_audit_game *game, const mfpg_transcript *s, int64_t t, ptrdiff_t k) {
    const mfpg_audit_law *law = &game->law[k];
    double sd = sqrt(law->variance);
    double beyond = (row_of(game, s->local, t)[k] - law->keep * s->global[t]) / sd, shift = law->gap / sd;
    return (look){beyond, shift, law->rate, grain_of(s->global[t] / sd, shift)};
}

/* The participant i != k that knows most of the sum's noise; -1 where participants do not watch. */
static ptrdiff_t observer(const mfpg_audit_game *game, const double *weight, ptrdiff_t k) {
    ptrdiff_t best = -1;
    double most = 0.0;
    for (ptrdiff_t i = 0; i < game->clients && game->federation->participants; i++) {
        double own = weight[i] * weight[i] * game->law[i].variance;
        if (i != k && own > most) {
            most = own;
            best = i;
        }
    }
    return best;
}

/* View average: the new global model, less what is known of the others; colluders and the observer know their own update. */
static look look_at_average(const mfpg_audit_game *game, const mfpg_transcript *s, int64_t t, ptrdiff_t k) {
    const double *weight = row_of(game, s->weight, t),
                 *local = s->planes > 0 ? row_of(game, s->local, t) : NULL;
    const unsigned char *colluder = game->federation->colluder;
    ptrdiff_t seen = observer(game, weight, k);
    double rest = s->global[t + 1] - weight[k] * game->law[k].keep * s->global[t], variance = 0.0;
    for (ptrdiff_t j = 0; j < game->clients; j++) {
        int known = local && j != k && (j == seen || (colluder && colluder[j]));
        if (weight[j] == 0.0) continue;
        if (j != k) rest -= weight[j] * (known ? local[j] : expected(game, s, t, j, given(game, s, t, j)));
        if (!known) variance += weight[j] * weight[j] * game->law[j].variance;
    }
    double sd = sqrt(variance);
    double shift = weight[k] * game->law[k].gap / sd;
    return (look){rest / sd, shift, game->law[k].rate, grain_of(s->global[t] / sd, shift)};
}

static look look_at(const mfpg_audit_game *game, const mfpg_transcript *s, int64_t t, ptrdiff_t k) {
    return game->federation->promise.view == MFPG_VIEW_LOCAL ? look_at_update(game, s, t, k)
                                                             : look_at_average(game, s, t, k);
}

/* log of (1 - q) + q exp(shift z - shift^2/2): the density of N(shift, 1), drawn with probability q, over that of N(0, 1). */
static double mixture(double q, double z, double shift) {
    double tilt = shift * z - 0.5 * shift * shift, large = fmax(tilt, 0.0);
    return large + log((1.0 - q) * exp(-large) + q * exp(tilt - large));
}

/* log likelihood ratio of arm 1 over arm 0. Without sampling it is linear in what is seen. */
static double ratio(const mfpg_audit_game *game, look l, int sign, int one_step) {
    double z = sign * l.beyond;
    int replace = game->federation->promise.adjacency == MFPG_ADJACENCY_REPLACE;
    if (l.rate >= 1.0 || !one_step) {
        double shift = l.shift * l.rate;
        return replace ? 2.0 * shift * z : shift * z - 0.5 * shift * shift;
    }
    return mixture(l.rate, z, l.shift) - (replace ? mixture(l.rate, z, -l.shift) : 0.0);
}

/* 1 if the digits of a release say that it has no noise of the grid. */
static int lacks_noise(mfpg_digits_kind kind) {
    return kind == MFPG_DIGITS_FLOATS || kind == MFPG_DIGITS_STILL;
}

/* 1 if a release lies on arm 1, -1 on arm 0, 0 on neither. Noise on a grid lies on one in a round of forty: digits tell it apart. */
static int arm_without_noise(const mfpg_audit_game *game, look l, int sign) {
    double z = sign * l.beyond;
    int replace = game->federation->promise.adjacency == MFPG_ADJACENCY_REPLACE;
    if (l.rate < 1.0) return 0;
    return (fabs(z - l.shift) <= l.grain) - (fabs(replace ? z + l.shift : z) <= l.grain);
}

double mfpg_attack_round(const mfpg_audit_game *game, const mfpg_transcript *s, int64_t t, ptrdiff_t k) {
    return ratio(game, look_at(game, s, t, k), 1, game->law[k].one_step);
}

/* View final: the last model alone, less its mean half way between the arms, which follows the same recursion as the model. */
static double score_last(
    const mfpg_audit_game *game, const mfpg_transcript *s, const signed char *sign, ptrdiff_t k) {
    double mean = s->global[0];
    for (int64_t t = 0; t < s->rounds; t++) {
        const double *weight = row_of(game, s->weight, t);
        double keep = 0.0, move = 0.0, members = 0.0;
        for (ptrdiff_t j = 0; j < game->clients; j++) {
            double sent = j == k ? mfpg_audit_middle(game, sign[t]) : given(game, s, t, j);
            keep += weight[j] * game->law[j].keep;
            move += weight[j] * game->law[j].gap * game->law[j].rate * sent;
            members += weight[j];
        }
        if (members > 0.0) mean = keep * mean + move; /* else nobody took part */
    }
    return s->global[s->rounds] - mean;
}

/* The sum of the log likelihood ratios, which has a deviation of mu. A round whose noise was left out says more than any sum of
 * noisy ones can: it counts six deviations. An honest round is on the grid, with entries that moved, and never seems to be one. */
double mfpg_attack_score(
    const mfpg_audit_game *game, const mfpg_transcript *s, const signed char *sign, ptrdiff_t k) {
    double sum = 0.0, square = 0.0;
    int bare = 0;
    if (game->federation->promise.view == MFPG_VIEW_FINAL) return score_last(game, s, sign, k);
    for (int64_t t = 0; t < s->rounds; t++) {
        if (!(row_of(game, s->weight, t)[k] > 0.0)) continue;
        look l = look_at(game, s, t, k);
        double apart = mfpg_audit_value(game, 1, 1) - mfpg_audit_value(game, 1, 0);
        sum += ratio(game, l, sign[t], game->law[k].one_step);
        square += apart * apart * l.shift * l.shift;
        if (lacks_noise(s->digits[t * game->clients + k])) bare += arm_without_noise(game, l, sign[t]);
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
        for (int arm = 0; arm < 2; arm++)
            if ((double)shown == mfpg_audit_value(game, sign[t], arm)) sum += arm == 1 ? 1 : -1;
    }
    return (double)sum;
}

double mfpg_attack_cross(const mfpg_audit_game *game, const mfpg_transcript *s, const signed char *sign,
    ptrdiff_t k, ptrdiff_t other) {
    double sum = 0.0;
    for (int64_t t = 0; t < s->rounds; t++) {
        const double *weight = row_of(game, s->weight, t), *local = row_of(game, s->local, t);
        if (weight[k] == 0.0 || weight[other] == 0.0) continue;
        double own = local[k] - expected(game, s, t, k, mfpg_audit_middle(game, sign[t]));
        double others = local[other] - expected(game, s, t, other, given(game, s, t, other));
        sum += sign[t] * (own - others);
    }
    return sum;
}

/* The arms lie as far apart as the model at hand makes them. Several local steps are taken for as many of the first. */
double mfpg_attack_input(const mfpg_audit_game *game, const mfpg_transcript *s, ptrdiff_t k) {
    double sum = 0.0;
    if (game->federation->promise.view == MFPG_VIEW_FINAL) return s->global[s->rounds];
    for (int64_t t = 0; t < s->rounds; t++) {
        if (row_of(game, s->weight, t)[k] == 0.0) continue;
        look l = look_at(game, s, t, k);
        double rate = game->law[k].one_step ? l.rate : 1.0,
               shift = game->law[k].one_step ? l.shift : l.shift * l.rate;
        for (int arm = 0; arm < 2; arm++) {
            double to = moves(game, s, t, k, mfpg_audit_value(game, 1, arm));
            double density = mixture(rate, l.beyond, shift * to);
            sum += arm == 1 ? density : -density;
        }
    }
    return sum;
}

/* The round of the first look at client k's records; -1 where it never took part. */
static int64_t first_look(const mfpg_audit_game *game, const mfpg_transcript *s, ptrdiff_t k) {
    for (int64_t t = 0; t < s->rounds; t++)
        if (row_of(game, s->weight, t)[k] > 0.0) return t;
    return -1;
}

/* A record is noised once, so that its first look says all there is. All looks, and those beside another record, say more only of
 * noise that was drawn anew, or used twice. */
double mfpg_attack_records(
    const mfpg_audit_game *game, const mfpg_transcript *s, ptrdiff_t k, ptrdiff_t series) {
    const mfpg_audit_law *law = &game->law[k];
    int64_t first = first_look(game, s, k);
    if (first < 0) return 0.0;
    double seen = row_of(game, s->local, first)[k], sd = sqrt(law->variance),
           toward = law->gap < 0.0 ? -1.0 : 1.0;
    if (series == MFPG_LOOK_FIRST)
        return ratio(game, (look){.beyond = seen / sd, .shift = law->gap / sd, .rate = 1.0}, 1, 1);
    if (series == MFPG_LOOK_BESIDE) return toward * (seen - row_of(game, s->beside, first)[k]);
    if (series >= MFPG_LOOK_CROSS) {
        ptrdiff_t other = (k + series - MFPG_LOOK_CROSS + 1) % game->clients;
        int64_t theirs = first_look(game, s, other);
        if (theirs < 0) return toward * seen;
        double given_other = row_of(game, s->value, theirs)[other] * game->law[other].gap;
        return toward * (seen - (row_of(game, s->local, theirs)[other] - given_other));
    }
    double sum = 0.0;
    for (int64_t t = first; t < s->rounds; t++)
        if (row_of(game, s->weight, t)[k] > 0.0) sum += toward * row_of(game, s->local, t)[k];
    return sum;
}
