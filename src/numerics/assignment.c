#include "assignment.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

/* Column 0 is where the path of a new row begins; rows and columns count from 1, and row 0 is nobody. */
typedef struct search {
    ptrdiff_t n;
    const double *cost;
    double *row_price, *column_price; /* n + 1: cost - prices >= 0, and 0 on the pairs */
    double *slack;                    /* n + 1: of each column, over the rows reached so far */
    ptrdiff_t *owner;                 /* n + 1: the row that has the column */
    ptrdiff_t *from;                  /* n + 1: the column before it on the path */
    unsigned char *reached;           /* n + 1 */
} search;

static void relax(search *s, ptrdiff_t row, ptrdiff_t at) {
    for (ptrdiff_t j = 1; j <= s->n; j++) {
        if (s->reached[j]) continue;
        double left = s->cost[(row - 1) * s->n + j - 1] - s->row_price[row] - s->column_price[j];
        if (left >= s->slack[j]) continue;
        s->slack[j] = left;
        s->from[j] = at;
    }
}

static ptrdiff_t nearest(const search *s) {
    ptrdiff_t best = 0;
    for (ptrdiff_t j = 1; j <= s->n; j++)
        if (!s->reached[j] && (best == 0 || s->slack[j] < s->slack[best])) best = j;
    return best;
}

/* Moves the prices so that one more column can be reached at no cost. */
static void reprice(search *s, double by) {
    for (ptrdiff_t j = 0; j <= s->n; j++) {
        if (s->reached[j]) {
            s->row_price[s->owner[j]] += by;
            s->column_price[j] -= by;
        } else {
            s->slack[j] -= by;
        }
    }
}

static void add_row(search *s, ptrdiff_t row) {
    ptrdiff_t at = 0;
    for (ptrdiff_t j = 0; j <= s->n; j++) {
        s->slack[j] = (double)INFINITY;
        s->reached[j] = 0;
    }
    s->owner[0] = row;
    do {
        s->reached[at] = 1;
        relax(s, s->owner[at], at);
        ptrdiff_t next = nearest(s);
        reprice(s, s->slack[next]);
        at = next;
    } while (s->owner[at] != 0);
    for (; at != 0; at = s->from[at]) s->owner[at] = s->owner[s->from[at]];
}

mfpg_status mfpg_assign(mfpg_context *ctx, ptrdiff_t n, const double *cost, ptrdiff_t *column) {
    mfpg_status status = MFPG_OK;
    search s = {.n = n, .cost = cost};
    s.row_price = mfpg_alloc(n + 1, sizeof(double));
    s.column_price = mfpg_alloc(n + 1, sizeof(double));
    s.slack = mfpg_alloc(n + 1, sizeof(double));
    s.owner = mfpg_alloc(n + 1, sizeof(ptrdiff_t));
    s.from = mfpg_alloc(n + 1, sizeof(ptrdiff_t));
    s.reached = mfpg_alloc(n + 1, 1);
    if (!s.row_price || !s.column_price || !s.slack || !s.owner || !s.from || !s.reached) {
        status = mfpg_fail_memory(ctx);
        goto done;
    }
    for (ptrdiff_t row = 1; row <= n; row++) add_row(&s, row);
    for (ptrdiff_t j = 1; j <= n; j++) column[s.owner[j] - 1] = j - 1;
done:
    free(s.row_price);
    free(s.column_price);
    free(s.slack);
    free(s.owner);
    free(s.from);
    free(s.reached);
    return status;
}
