#include "product.h"

#include <string.h>

#include "base/wide.h"

/* C is made in tiles of TALL rows and BROAD columns that stay in registers while the depth runs: with separate
 * multiplications and additions these sizes keep all arithmetic units of a processor with 16 AVX registers busy. The
 * BROAD columns of B that a tile needs are packed behind each other, DEEP of them at most, so that they stay in the
 * nearest cache while the tiles of a block of HIGH rows are made; and so is such a block of A where its rows are columns
 * in memory, since each of their entries would lie on a page of its own. */
enum { LANES = 8, BROAD = 2 * LANES, TALL = 4, DEEP = 256, HIGH = 32 * TALL };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

typedef struct block {
    ptrdiff_t rows, cols, depth;                           /* at most HIGH, BROAD, DEEP */
    float left[HIGH * DEEP];                               /* of A, TALL rows at a time, depth by depth */
    float right[DEEP][BROAD] __attribute__((aligned(32))); /* of B; beyond cols 0 */
} block;

static ptrdiff_t at_most(ptrdiff_t count, ptrdiff_t limit) {
    return count < limit ? count : limit;
}

/* BROAD rows at a time, a line of the cache in memory. */
static void pack_left(block *p, mfpg_matrix a) {
    for (ptrdiff_t i = 0; i < p->rows; i += BROAD) {
        ptrdiff_t count = at_most(p->rows - i, BROAD);
        for (ptrdiff_t k = 0; k < p->depth; k++) {
            const float *from = a.at + i * a.down + k * a.across;
            float *to = p->left + i * p->depth + k * TALL;
            if (count == BROAD && a.down == 1) {
                for (int r = 0; r < BROAD; r += TALL) memcpy(to + r * p->depth, from + r, TALL * sizeof *to);
                continue;
            }
            for (ptrdiff_t r = 0; r < count; r++)
                to[r / TALL * TALL * p->depth + r % TALL] = from[r * a.down];
        }
    }
}

static void pack_right(block *p, mfpg_matrix b) {
    for (ptrdiff_t k = 0; k < p->depth; k++) {
        const float *from = b.at + k * b.down;
        if (p->cols == BROAD && b.across == 1) {
            memcpy(p->right[k], from, sizeof p->right[k]);
            continue;
        }
        for (ptrdiff_t j = 0; j < BROAD; j++) p->right[k][j] = j < p->cols ? from[j * b.across] : 0.0F;
    }
}

static inline __attribute__((always_inline)) void load(lanes *to, const float *from) {
    memcpy(to, from, sizeof *to);
}

static inline __attribute__((always_inline)) void store(float *to, const lanes *from) {
    memcpy(to, from, sizeof *from);
}

/* The tile at c, whose rows lie step floats apart, += TALL rows of A, `across` from entry to entry, times
 * the columns of B. */
static inline __attribute__((always_inline)) void add_tile(
    const block *p, const float *const row[TALL], ptrdiff_t across, ptrdiff_t step, float *c) {
    const float *a0 = row[0], *a1 = row[1], *a2 = row[2], *a3 = row[3], *b = p->right[0];
    float *c0 = c, *c1 = c0 + step, *c2 = c1 + step, *c3 = c2 + step;
    lanes l, l0, l1, l2, l3, r, r0, r1, r2, r3;
    load(&l0, c0);
    load(&r0, c0 + LANES);
    load(&l1, c1);
    load(&r1, c1 + LANES);
    load(&l2, c2);
    load(&r2, c2 + LANES);
    load(&l3, c3);
    load(&r3, c3 + LANES);
    for (ptrdiff_t k = 0, at = 0; k < p->depth; k++, at += across, b += BROAD) {
        load(&l, b);
        load(&r, b + LANES);
        l0 += a0[at] * l;
        r0 += a0[at] * r;
        l1 += a1[at] * l;
        r1 += a1[at] * r;
        l2 += a2[at] * l;
        r2 += a2[at] * r;
        l3 += a3[at] * l;
        r3 += a3[at] * r;
    }
    store(c0, &l0);
    store(c0 + LANES, &r0);
    store(c1, &l1);
    store(c1 + LANES, &r1);
    store(c2, &l2);
    store(c2 + LANES, &r2);
    store(c3, &l3);
    store(c3 + LANES, &r3);
}

/* The block of C at c, tile by tile. A tile that reaches over the edge of C is made beside C, with the last row of A in
 * the stead of its missing rows. */
MFPG_WIDE static void add_block(const block *p, mfpg_matrix a, ptrdiff_t step, float *c) {
    int packed = a.across != 1;
    for (ptrdiff_t i = 0; i < p->rows; i += TALL) {
        ptrdiff_t tall = p->rows - i < TALL ? p->rows - i : TALL;
        const float *row[TALL];
        for (ptrdiff_t r = 0; r < TALL; r++) {
            ptrdiff_t known = r < tall ? r : tall - 1;
            row[r] = packed ? p->left + i * p->depth + known : a.at + (i + known) * a.down;
        }
        if (tall == TALL && p->cols == BROAD) {
            add_tile(p, row, packed ? TALL : 1, step, c + i * step);
            continue;
        }
        float edge[TALL * BROAD] = {0};
        size_t bytes = (size_t)p->cols * sizeof *c;
        for (ptrdiff_t r = 0; r < tall; r++) memcpy(edge + r * BROAD, c + (i + r) * step, bytes);
        add_tile(p, row, packed ? TALL : 1, BROAD, edge);
        for (ptrdiff_t r = 0; r < tall; r++) memcpy(c + (i + r) * step, edge + r * BROAD, bytes);
    }
}

void mfpg_matrix_add_product(
    ptrdiff_t rows, ptrdiff_t cols, ptrdiff_t depth, mfpg_matrix a, mfpg_matrix b, float *c) {
    block p;
    ptrdiff_t high = a.across == 1 ? rows : HIGH;
    for (ptrdiff_t k = 0; k < depth; k += DEEP) {
        p.depth = at_most(depth - k, DEEP);
        for (ptrdiff_t i = 0; i < rows; i += high) {
            mfpg_matrix of_a = {a.at + i * a.down + k * a.across, a.down, a.across};
            p.rows = at_most(rows - i, high);
            if (a.across != 1) pack_left(&p, of_a);
            for (ptrdiff_t j = 0; j < cols; j += BROAD) {
                p.cols = at_most(cols - j, BROAD);
                pack_right(&p, (mfpg_matrix){b.at + k * b.down + j * b.across, b.down, b.across});
                add_block(&p, of_a, cols, c + i * cols + j);
            }
        }
    }
}
