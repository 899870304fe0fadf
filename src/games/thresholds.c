#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/wide.h"
#include "cost.h"

/* Products of scales and shapes within these limits neither overflow nor lose digits. */
static const double LEAST = 0x1p-300, MOST = 0x1p300;

enum { COUNTED = 40 }; /* up to this number of steps, comparing with all is faster than a search */

static int64_t bits_of(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static int in_range(double x) {
    return x > LEAST && x < MOST;
}

/* One cost u S + v P errs by 2 x 2^-53 of itself at most, so two neighbours are told apart once their difference
 * u |dS| |1 - r/t| exceeds 4 x 2^-53 of their size, at r = t that of u S + v P = u |dS| (S/|dS| + P/|dP|). t, r and the
 * ends of the band are rounded too. Four times that is the band; outside it the difference grows faster than the bound. */
static int make_step(mfpg_control control, const double *s, const double *p, mfpg_threshold *out) {
    double ds = fabs(s[1] - s[0]), dp = fabs(p[1] - p[0]);
    double band = 0x1p-49 * (1.0 + fmax(s[0], s[1]) / ds + fmax(p[0], p[1]) / dp);
    int strength = control == MFPG_CONTROL_STRENGTH;
    double t = strength ? ds / dp : dp / ds;
    out->below = t * (1.0 - band);
    out->above = t * (1.0 + band);
    return band < 0x1p-10 && in_range(t) &&
           (strength ? s[1] > s[0] && p[1] < p[0] : s[1] < s[0] && p[1] > p[0]);
}

static int fill(mfpg_thresholds *out, const double *grid, const double *utility, const double *privacy) {
    for (ptrdiff_t i = 0; i <= out->count; i++) {
        if (!in_range(utility[i]) || !in_range(privacy[i])) return 0;
        out->choice[i] = (mfpg_choice_bits){bits_of(grid[i]), bits_of(utility[i]), bits_of(privacy[i])};
    }
    out->first = out->choice[0];
    for (ptrdiff_t i = 0; i < out->count; i++) {
        const mfpg_choice_bits *a = &out->choice[i], *b = a + 1;
        mfpg_threshold *step = &out->step[i];
        if (!make_step(out->control, utility + i, privacy + i, step)) return 0;
        if (i > 0 && !(step->below > step[-1].above)) return 0;
        step->flip =
            (mfpg_choice_bits){a->action ^ b->action, a->utility ^ b->utility, a->privacy ^ b->privacy};
    }
    return 1;
}

mfpg_status mfpg_thresholds_create(mfpg_context *ctx, mfpg_control control, ptrdiff_t actions,
    const double *grid, const double *utility, const double *privacy, mfpg_thresholds **out) {
    mfpg_thresholds *made = mfpg_alloc(1, sizeof *made);
    if (!made) return mfpg_fail_memory(ctx);
    made->control = control;
    made->count = actions - 1;
    made->step = mfpg_alloc(made->count, sizeof *made->step);
    made->choice = mfpg_alloc(actions, sizeof *made->choice);
    mfpg_status status = made->step && made->choice ? MFPG_OK : mfpg_fail_memory(ctx);
    int usable = !status && fill(made, grid, utility, privacy);
    if (!usable) {
        mfpg_thresholds_destroy(made);
        made = NULL;
    }
    if (!status) *out = made;
    return status;
}

void mfpg_thresholds_destroy(mfpg_thresholds *thresholds) {
    if (!thresholds) return;
    free(thresholds->step);
    free(thresholds->choice);
    free(thresholds);
}

typedef double lanes __attribute__((vector_size(MFPG_THRESHOLD_TILE * sizeof(double))));
typedef int64_t masks __attribute__((vector_size(MFPG_THRESHOLD_TILE * sizeof(int64_t))));

/* Handles one tile. Every step that r has passed flips the bits from one action to the next. Adding a number
 * to zeros copies it into every lane. */
static inline __attribute__((always_inline)) void choose_tile(const mfpg_thresholds *s, const double *u,
    const double *v, double *action, double *utility, double *privacy, int shapes, masks *any) {
    const lanes zeros = {0}, least = zeros + LEAST, most = zeros + MOST;
    const masks none = {0};
    masks x = none + s->first.action, own = none + s->first.utility, cost = none + s->first.privacy;
    lanes a, b;
    memcpy(&a, u, sizeof a);
    memcpy(&b, v, sizeof b);
    lanes r = s->control == MFPG_CONTROL_STRENGTH ? b / a : a / b;
    masks sure = (a > least) & (a < most) & (b > least) & (b < most);
    for (ptrdiff_t i = 0; i < s->count; i++) {
        const mfpg_threshold *step = &s->step[i];
        masks up = r > zeros + step->above;
        sure &= up | (r < zeros + step->below);
        x ^= up & (none + step->flip.action);
        if (shapes) own ^= up & (none + step->flip.utility);
        if (shapes) cost ^= up & (none + step->flip.privacy);
    }
    x |= ~sure; /* all bits set: NaN */
    *any |= ~sure;
    memcpy(action, &x, sizeof x);
    if (shapes) memcpy(utility, &own, sizeof own);
    if (shapes) memcpy(privacy, &cost, sizeof cost);
}

/* Handles all tiles. Returns whether some lane is not certain. */
MFPG_WIDE static int choose_all(const mfpg_thresholds *s, ptrdiff_t count, const double *u, const double *v,
    double *action, double *utility, double *privacy) {
    masks any = {0};
    int64_t lane[MFPG_THRESHOLD_TILE], found = 0;
    if (utility)
        for (ptrdiff_t i = 0; i < count; i += MFPG_THRESHOLD_TILE)
            choose_tile(s, u + i, v + i, action + i, utility + i, privacy + i, 1, &any);
    else
        for (ptrdiff_t i = 0; i < count; i += MFPG_THRESHOLD_TILE)
            choose_tile(s, u + i, v + i, action + i, NULL, NULL, 0, &any);
    memcpy(lane, &any, sizeof lane);
    for (int i = 0; i < MFPG_THRESHOLD_TILE; i++) found |= lane[i];
    return found != 0;
}

/* Returns the number of steps below r, or -1 within a band. */
static ptrdiff_t steps_passed(const mfpg_thresholds *s, double r) {
    ptrdiff_t low = 0, size = s->count;
    while (size > 0) {
        ptrdiff_t half = size / 2;
        int passed = r > s->step[low + half].above;
        low = passed ? low + half + 1 : low;
        size = passed ? size - half - 1 : half;
    }
    return low == s->count || r < s->step[low].below ? low : -1;
}

static int search(const mfpg_thresholds *s, ptrdiff_t count, const double *u, const double *v, double *action,
    double *utility, double *privacy) {
    int any = 0;
    for (ptrdiff_t i = 0; i < count; i++) {
        double r = s->control == MFPG_CONTROL_STRENGTH ? v[i] / u[i] : u[i] / v[i];
        ptrdiff_t at = in_range(u[i]) && in_range(v[i]) ? steps_passed(s, r) : -1;
        any |= at < 0;
        action[i] = NAN;
        if (at < 0) continue;
        memcpy(action + i, &s->choice[at].action, sizeof *action);
        if (utility) memcpy(utility + i, &s->choice[at].utility, sizeof *utility);
        if (privacy) memcpy(privacy + i, &s->choice[at].privacy, sizeof *privacy);
    }
    return any;
}

int mfpg_thresholds_choose(const mfpg_thresholds *s, ptrdiff_t count, const double *u, const double *v,
    double *action, double *utility, double *privacy) {
    return (s->count > COUNTED ? search : choose_all)(s, count, u, v, action, utility, privacy);
}
