#include "order_search.h"

#include <math.h>

enum { OCTAVE = 128, FIRST = -16 * OCTAVE, LAST = 15 * OCTAVE, BEGIN = 3 * OCTAVE };

typedef struct search {
    double (*bound)(double order, const void *arg);
    const void *arg;
    double enough, best;
    int at;
} search;

static double order_at(int place) {
    return 1.0 + exp2((double)place / OCTAVE);
}

/* 1 where the place is better than the best, which it then becomes. */
static int try(search *s, int place) {
    if (place < FIRST || place > LAST) return 0;
    double value = s->bound(order_at(place), s->arg);
    if (!(value < s->best)) return 0;
    s->best = value;
    s->at = place;
    return 1;
}

/* Steps of an octave downhill, then half of it, and so on down to neighbours. */
double mfpg_order_search(double (*bound)(double order, const void *arg), const void *arg, double enough) {
    search s = {.bound = bound, .arg = arg, .enough = enough, .best = (double)INFINITY, .at = BEGIN};
    try(&s, BEGIN);
    for (int step = OCTAVE; step >= 1 && s.best > enough; step /= 2) {
        int direction = try(&s, s.at - step) ? -1 : 1;
        while (s.best > enough && try(&s, s.at + direction * step) && step == OCTAVE) continue;
    }
    return s.best;
}
