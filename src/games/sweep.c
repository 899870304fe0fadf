#include "sweep.h"

#include <math.h>

#include "best_response.h"

enum { SWEEPS = 100000, EXACT_SWEEPS = 50 };

typedef struct pass {
    ptrdiff_t moves;
    double largest_gain;
} pass;

/* One sweep. A client moves if that gains more than `slack` of its cost. */
static pass sweep_once(const mfpg_play *play, double slack, double *action) {
    double total = mfpg_aggregate(play, action);
    pass out = {0};
    for (ptrdiff_t k = 0; k < play->game->clients; k++) {
        double others = total - mfpg_play_share(play, k, action[k]);
        double now = mfpg_movable_cost(play, k, action[k], others);
        mfpg_response best = mfpg_best_response(play, k, others);
        if (!(best.cost < now)) continue;
        out.largest_gain = fmax(out.largest_gain, now - best.cost);
        if (!(now - best.cost > slack * fabs(best.cost))) continue;
        action[k] = best.action;
        total = others + mfpg_play_share(play, k, best.action);
        out.moves++;
    }
    return out;
}

/* Every move lowers the mover's cost and with it the potential. The first sweeps accept only gains above the rounding of
 * the two costs, so the exact potential falls with each move and no profile comes back: they end. What is left are gains
 * of a few roundings, which the last sweeps take up too, a bounded number of times; the last sweep, in which nobody
 * moved, computed what the certificate computes, so exploitability is exactly 0 after it. */
mfpg_report mfpg_sweep(const mfpg_play *play, double *action) {
    const double rounding = 0x1p-48; /* 16 roundings of a cost: f alone takes about ten */
    mfpg_report report = {.unique = -1, .selection = MFPG_SELECTION_POTENTIAL};
    double slack = rounding;
    int exact_sweeps = 0;
    while (report.iterations < SWEEPS && exact_sweeps < EXACT_SWEEPS) {
        pass done = sweep_once(play, slack, action);
        report.iterations++;
        report.residual = done.largest_gain;
        report.converged = done.largest_gain == 0.0;
        if (report.converged) break;
        if (done.moves == 0) slack = 0.0;
        if (slack == 0.0) exact_sweeps++;
    }
    return report;
}
