/* The Nash equilibrium of N players, each of whom moves the aggregate by its own share. */
#include "best_response.h"
#include "solver.h"

/* ---- best responses in turn ---- */

enum { SWEEPS_LEAST = 200, SWEEPS_MOST = 100000, EXACT_SWEEPS = 50 };

/* Sweeps end by themselves, usually after a few. There is no proof that this takes only minutes, so they
 * stop after 2^34 evaluations of a client. */
static int patience(ptrdiff_t clients) {
    ptrdiff_t sweeps = (((ptrdiff_t)1) << 34) / clients;
    return sweeps < SWEEPS_LEAST ? SWEEPS_LEAST : sweeps > SWEEPS_MOST ? SWEEPS_MOST : (int)sweeps;
}

/* One pass over the clients. */
typedef struct pass {
    const mfpg_play *play;
    mfpg_share_table *table; /* or NULL */
    double slack, *action;
    double total; /* the aggregate of the actions so far */
    ptrdiff_t moves;
    double largest_gain;
} pass;

/* Moves a client if that gains more than `slack` of its cost. Returns whether it moved. */
static int move(pass *p, ptrdiff_t k, double now, const mfpg_response *best) {
    if (!(best->cost < now)) return 0;
    p->largest_gain = fmax(p->largest_gain, now - best->cost);
    if (!(now - best->cost > p->slack * fabs(best->cost))) return 0;
    double others = p->total - mfpg_play_share(p->play, k, p->action[k]);
    p->action[k] = best->action;
    p->total = others + mfpg_play_share(p->play, k, best->action);
    p->moves++;
    return 1;
}

static int ask(pass *p, ptrdiff_t k) {
    double others = p->total - mfpg_play_share(p->play, k, p->action[k]);
    double now = mfpg_movable_cost(p->play, k, p->action[k], others);
    mfpg_response best = mfpg_best_response(p->play, k, others, 0.0);
    return move(p, k, now, &best);
}

/* For scales that no other client moves: the whole block is evaluated with them. */
static void ask_shared(pass *p, mfpg_block *b) {
    p->play->cost->scales(p->play, b->first, b->count, NULL, b->u, b->v);
    for (ptrdiff_t i = 0; i < b->count; i++) {
        ptrdiff_t k = b->first + i, row = p->table ? mfpg_share_table_row(p->table, p->action[k]) : -1;
        double now = 0.0;
        if (row < 0) {
            ask(p, k);
            continue;
        }
        mfpg_share_table_update(p->table, row, p->total);
        mfpg_response best = mfpg_share_table_answer(p->table, row, b->u[i], b->v[i], &now);
        move(p, k, now, &best);
    }
}

/* For scales that every move changes: the clients are evaluated up to the first that moves. Usually most do
 * not move, so a block is evaluated at once. Returns how many were evaluated. */
static ptrdiff_t ask_priced(pass *p, mfpg_block *b) {
    const mfpg_play *play = p->play;
    play->cost->shares(play, b->first, b->count, p->action + b->first, b->others);
    for (ptrdiff_t i = 0; i < b->count; i++) b->others[i] = p->total - b->others[i];
    mfpg_block_answer(play, b);
    for (ptrdiff_t i = 0; i < b->count; i++)
        if (b->best[i] != p->action[b->first + i] && ask(p, b->first + i)) return i + 1;
    return b->count;
}

static void sweep_once(pass *p) {
    mfpg_block b;
    int shared = mfpg_play_coupling(p->play) == MFPG_COUPLING_SHARED;
    ptrdiff_t clients = p->play->game->clients, ahead = MFPG_BLOCK;
    p->total = mfpg_aggregate(p->play, p->action);
    for (b.first = 0; b.first < clients;) {
        b.count = clients - b.first < ahead ? clients - b.first : ahead;
        if (shared) {
            ask_shared(p, &b);
            b.first += b.count;
            continue;
        }
        ptrdiff_t before = p->moves;
        b.first += ask_priced(p, &b);
        /* Evaluating many clients ahead is wasted if many move. */
        ahead = p->moves > before ? 1 : ahead < MFPG_BLOCK / 2 ? 2 * ahead : MFPG_BLOCK;
    }
}

/* Every move lowers the mover's cost and with it the potential. The first sweeps accept only gains above the rounding of
 * the two costs, so the exact potential falls with each move and no profile comes back: they end. What is left are gains
 * of a few roundings, which the last sweeps take up too, a bounded number of times; the last sweep, in which nobody
 * moved, computed what the certificate computes, so exploitability is exactly 0 after it. */
mfpg_status mfpg_sweep(mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_report *report) {
    const double rounding = 0x1p-48; /* 16 roundings of a cost: f alone takes about ten */
    mfpg_share_table *table;
    mfpg_status status = mfpg_share_table_create(ctx, play, &table);
    if (status) return status;
    *report = (mfpg_report){.unique = -1};
    double slack = rounding;
    int exact_sweeps = 0;
    while (report->iterations < patience(play->game->clients) && exact_sweeps < EXACT_SWEEPS) {
        pass done = {.play = play, .table = table, .slack = slack, .action = action};
        sweep_once(&done);
        report->iterations++;
        report->residual = done.largest_gain;
        report->converged = done.largest_gain == 0.0;
        if (report->converged) break;
        if (done.moves == 0) slack = 0.0;
        if (slack == 0.0) exact_sweeps++;
    }
    mfpg_share_table_destroy(table);
    return MFPG_OK;
}

/* ---- the equilibrium ---- */

/* Starts from the equilibrium on the interval between the ends of the grid, rounded down: the model is then
 * stable, and only a few sweeps remain. */
static mfpg_status start_below(mfpg_context *ctx, const mfpg_play *play, double *action, const char **rule) {
    const mfpg_action_set *set = &play->game->actions;
    mfpg_report report;
    mfpg_status status =
        play->cost->nash(ctx, play, set->grid[0], set->grid[set->count - 1], action, &report);
    for (ptrdiff_t k = 0; k < play->game->clients && !status; k++)
        action[k] = set->grid[mfpg_grid_index(set, action[k])];
    *rule = MFPG_CHOSEN_POTENTIAL;
    return status;
}

mfpg_status mfpg_finite_solve(
    mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_field *field, mfpg_report *report) {
    (void)field;
    const mfpg_action_set *set = &play->game->actions;
    if (mfpg_play_coupling(play) == MFPG_COUPLING_NONE) {
        int tied = mfpg_respond(play, 0.0, action);
        *report = (mfpg_report){
            .unique = mfpg_tied_unique(tied), .converged = 1, .selection = MFPG_CHOSEN_DOMINANT};
        return MFPG_OK;
    }
    if (!set->grid) return play->cost->nash(ctx, play, set->low, set->high, action, report);
    const char *rule = NULL;
    mfpg_status status = (play->cost->start ? play->cost->start : start_below)(ctx, play, action, &rule);
    if (!status) status = mfpg_sweep(ctx, play, action, report);
    report->selection = rule;
    return status;
}

const mfpg_game_ops mfpg_game_finite = {
    .name = "finite",
    .help = "Nash equilibrium of the N clients",
    .solve = mfpg_finite_solve,
};
