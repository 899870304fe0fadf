#include "product.h"

#include <string.h>

/* C is made in tiles of BROAD columns and so many rows that the sums stay in registers while the depth runs: four for
 * 16 registers of eight floats, 24 for 32 of sixteen. With separate multiplications and additions
 * these sizes keep all arithmetic units busy; a tall tile takes fewer loads of B and fewer rounds.
 *
 * The BROAD columns of B that a tile needs are DEEP at most, so that they stay in the nearest cache while the tiles of a
 * block of HIGH rows are made. They are copied if they do not lie side by side, and also if MANY rows take them in
 * low tiles, since lines a power of two apart push each other out of that cache. A block of A is copied if its rows are
 * columns in memory, since each of their entries would lie on a page of its own, unless they are FEW. Those few leave C as
 * most of what is read and written, so tiles of TALLER rows make it in order: all columns before the next rows. */
enum {
    LANES = 8,
    BROAD = 2 * LANES,
    FEW_LANES = LANES / 2,
    TALL = 4,
    TALLER = 12,
    TALLEST = 24,
    DEEP = MFPG_PRODUCT_DEPTH,
    HIGH = 8 * TALLEST,
    FEW = 64,
    MANY = 32
};
typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef float few_lanes __attribute__((vector_size(FEW_LANES * sizeof(float))));
typedef float broad_lanes __attribute__((vector_size(BROAD * sizeof(float))));

typedef struct block {
    ptrdiff_t rows, cols, depth; /* at most HIGH, BROAD, DEEP */
    ptrdiff_t tall;              /* rows of a tile, at most */
    int packed;                  /* A lies in left */
    int scaled;
    float factor;
    /* panels of B that are adjacent: a tile's rows use all of them before the next rows */
    ptrdiff_t panels;
    const float *right;   /* BROAD columns of B; the distance between rows is */
    ptrdiff_t right_down; /* so far */
    float copied[DEEP][BROAD] __attribute__((aligned(64))); /* of B; beyond cols 0 */
    float left[HIGH * DEEP] __attribute__((aligned(64))); /* of A, a tile's rows at a time, depth by depth */
} block;

/* The position of a tile of C, and its initial values. */
typedef struct place {
    float *c;
    ptrdiff_t c_down;
    const float *start; /* NULL: zero */
    ptrdiff_t start_down;
} place;

static ptrdiff_t at_most(ptrdiff_t count, ptrdiff_t limit) {
    return count < limit ? count : limit;
}

/* Returns the number of rows of the next tile, with `left` rows remaining. Few rows give few independent
 * sums, so the last two tiles share the remaining rows. */
static inline ptrdiff_t next_tall(ptrdiff_t tall, ptrdiff_t left) {
    if (left <= tall) return left;
    return left < 2 * tall ? (left + 1) / 2 : tall;
}

static void pack_left(block *p, mfpg_matrix a) {
    for (ptrdiff_t i = 0, tall; i < p->rows; i += tall) {
        const float *from = a.at + i * a.down;
        float *to = p->left + i * p->depth;
        tall = next_tall(p->tall, p->rows - i);
        for (ptrdiff_t k = 0; k < p->depth; k++, from += a.across, to += tall) {
            if (tall == TALLEST && a.down == 1)
                memcpy(to, from, TALLEST * sizeof *to);
            else if (tall == TALL && a.down == 1)
                memcpy(to, from, TALL * sizeof *to);
            else
                for (ptrdiff_t r = 0; r < tall; r++) to[r] = from[r * a.down];
        }
    }
}

/* to[k][j] = entry k of column j, columns `step` floats apart, for four of each. */
static inline __attribute__((always_inline)) void turn_four(
    const float *from, ptrdiff_t step, float (*to)[BROAD]) {
    few_lanes a, b, c, d;
    memcpy(&a, from, sizeof a);
    memcpy(&b, from + step, sizeof b);
    memcpy(&c, from + 2 * step, sizeof c);
    memcpy(&d, from + 3 * step, sizeof d);
    few_lanes ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5),
              ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7),
              cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5),
              cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
    b = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
    c = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
    d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
    memcpy(to[0], &a, sizeof a);
    memcpy(to[1], &b, sizeof b);
    memcpy(to[2], &c, sizeof c);
    memcpy(to[3], &d, sizeof d);
}

static void take_right(block *p, mfpg_matrix b) {
    p->right = b.at;
    p->right_down = b.down;
    int lies_so = p->cols == BROAD && b.across == 1;
    if (lies_so && (p->tall > TALL || p->rows <= MANY)) return;
    p->right = p->copied[0];
    p->right_down = BROAD;
    if (p->cols < BROAD) memset(p->copied, 0, (size_t)p->depth * sizeof p->copied[0]);
    ptrdiff_t k = 0;
    for (; lies_so && k < p->depth; k++) memcpy(p->copied[k], b.at + k * b.down, sizeof p->copied[k]);
    for (; p->cols == BROAD && b.down == 1 && k + FEW_LANES <= p->depth; k += FEW_LANES)
        for (ptrdiff_t j = 0; j < BROAD; j += FEW_LANES)
            turn_four(b.at + k + j * b.across, b.across, (float(*)[BROAD])(p->copied[k] + j));
    for (; k < p->depth; k++)
        for (ptrdiff_t j = 0; j < p->cols; j++) p->copied[k][j] = b.at[k * b.down + j * b.across];
}

/* One tile: `tall` rows of A, entry (r, k) at a[r * down + k * across], times the columns of B. Sums in pairs of low and
 * high; written out for every number of rows, or they would lie in memory. */
static inline __attribute__((always_inline)) void make_tile(int tall, const block *p, const float *a,
    ptrdiff_t down, ptrdiff_t across, const float *b, const place *at) {
    lanes low[TALL], high[TALL], l, r;
    const float *start = at->start;
    const ptrdiff_t depth = p->depth, b_down = p->right_down, start_down = at->start_down,
                    c_down = at->c_down;
    float *c = at->c;
    MFPG_UNROLL
    for (int i = 0; i < tall; i++) low[i] = high[i] = (lanes){0};
    if (start && !p->scaled) {
        MFPG_UNROLL
        for (int i = 0; i < tall; i++) {
            memcpy(&low[i], start + i * start_down, sizeof l);
            memcpy(&high[i], start + i * start_down + LANES, sizeof r);
        }
    }
    for (ptrdiff_t k = 0; k < depth; k++, a += across, b += b_down) {
        memcpy(&l, b, sizeof l);
        memcpy(&r, b + LANES, sizeof r);
        MFPG_UNROLL
        for (int i = 0; i < tall; i++) {
            low[i] += a[i * down] * l;
            high[i] += a[i * down] * r;
        }
    }
    const float factor = p->factor;
    if (p->scaled) {
        MFPG_UNROLL
        for (int i = 0; i < tall; i++) {
            memcpy(&l, start + i * start_down, sizeof l);
            memcpy(&r, start + i * start_down + LANES, sizeof r);
            low[i] = l + factor * low[i];
            high[i] = r + factor * high[i];
        }
    }
    MFPG_UNROLL
    for (int i = 0; i < tall; i++) {
        memcpy(c + i * c_down, &low[i], sizeof l);
        memcpy(c + i * c_down + LANES, &high[i], sizeof r);
    }
}

/* The same with one register a row: a factor from memory is then spread over the lanes by the multiplication itself. */
static inline __attribute__((always_inline)) void make_broad_tile(int tall, const block *p, const float *a,
    ptrdiff_t down, ptrdiff_t across, const float *b, const place *at) {
    broad_lanes sum[TALLEST], x;
    const float *start = at->start;
    const ptrdiff_t depth = p->depth, b_down = p->right_down, start_down = at->start_down,
                    c_down = at->c_down;
    float *c = at->c;
    MFPG_UNROLL
    for (int i = 0; i < tall; i++) sum[i] = (broad_lanes){0};
    if (start && !p->scaled) {
        MFPG_UNROLL
        for (int i = 0; i < tall; i++) memcpy(&sum[i], start + i * start_down, sizeof x);
    }
    /* every third row, because an address takes one or two steps at no cost */
    const float *rows[TALLEST / 3];
    MFPG_UNROLL
    for (int i = 0; i < (tall + 2) / 3; i++) rows[i] = a + 3 * i * down;
    for (ptrdiff_t k = 0; k < depth; k++, b += b_down) {
        memcpy(&x, b, sizeof x);
        MFPG_UNROLL
        for (int i = 0; i < tall; i++) sum[i] += rows[i / 3][i % 3 * down] * x;
        MFPG_UNROLL
        for (int i = 0; i < (tall + 2) / 3; i++) rows[i] += across;
    }
    const float factor = p->factor;
    if (p->scaled) {
        MFPG_UNROLL
        for (int i = 0; i < tall; i++) {
            memcpy(&x, start + i * start_down, sizeof x);
            sum[i] = x + factor * sum[i];
        }
    }
    MFPG_UNROLL
    for (int i = 0; i < tall; i++) memcpy(c + i * c_down, &sum[i], sizeof x);
}

/* Computes rows first to first + rows - 1 of a block; `at` is the position of the first. */
typedef void (*rows_maker)(const block *p, ptrdiff_t first, ptrdiff_t rows, mfpg_matrix a, place at);

static inline __attribute__((always_inline)) place place_below(const place *at, ptrdiff_t i, ptrdiff_t j) {
    place below = *at;
    below.c += i * at->c_down + j;
    if (at->start) below.start += i * at->start_down + j;
    return below;
}

/* The next tile's rows of A: copied to p->left, or in place. */
static inline __attribute__((always_inline)) mfpg_matrix rows_of_tile(
    const block *p, ptrdiff_t first, ptrdiff_t tall, mfpg_matrix a) {
    if (p->packed) return (mfpg_matrix){p->left + first * p->depth, 1, tall};
    return (mfpg_matrix){a.at + first * a.down, a.down, a.across};
}

static inline __attribute__((always_inline)) void next_rows(place *at, ptrdiff_t tall) {
    at->c += tall * at->c_down;
    if (at->start) at->start += tall * at->start_down;
}

#define TILES(maker, height)                                                                                 \
    case height:                                                                                             \
        for (ptrdiff_t j = 0; j < p->panels; j++) {                                                          \
            place panel = place_below(&at, 0, j * BROAD);                                                    \
            maker(height, p, of_a.at, of_a.down, of_a.across, p->right + j * BROAD, &panel);                 \
        }                                                                                                    \
        break

#define FOUR_TILES(maker, most)                                                                              \
    TILES(maker, most);                                                                                      \
    TILES(maker, most - 1);                                                                                  \
    TILES(maker, most - 2);                                                                                  \
    TILES(maker, most - 3)

static inline __attribute__((always_inline)) void make_rows(
    const block *p, ptrdiff_t first, ptrdiff_t rows, mfpg_matrix a, place at) {
    for (ptrdiff_t end = first + rows, tall; first < end; first += tall, next_rows(&at, tall)) {
        tall = next_tall(TALL, end - first);
        mfpg_matrix of_a = rows_of_tile(p, first, tall, a);
        switch (tall) { FOUR_TILES(make_tile, 4); }
    }
}

static void make_rows_plain(const block *p, ptrdiff_t first, ptrdiff_t rows, mfpg_matrix a, place at) {
    make_rows(p, first, rows, a, at);
}

MFPG_FOR_AVX2 static void make_rows_avx2(
    const block *p, ptrdiff_t first, ptrdiff_t rows, mfpg_matrix a, place at) {
    make_rows(p, first, rows, a, at);
}

MFPG_FOR_AVX512 static void make_rows_avx512(
    const block *p, ptrdiff_t first, ptrdiff_t rows, mfpg_matrix a, place at) {
    for (ptrdiff_t end = first + rows, tall; first < end; first += tall, next_rows(&at, tall)) {
        tall = next_tall(p->tall, end - first);
        mfpg_matrix of_a = rows_of_tile(p, first, tall, a);
        switch (tall) {
            FOUR_TILES(make_broad_tile, 24);
            FOUR_TILES(make_broad_tile, 20);
            FOUR_TILES(make_broad_tile, 16);
            FOUR_TILES(make_broad_tile, 12);
            FOUR_TILES(make_broad_tile, 8);
            FOUR_TILES(make_broad_tile, 4);
        }
    }
}

static const rows_maker MAKERS[] = {make_rows_plain, make_rows_avx2, make_rows_avx512};

/* For fewer than BROAD columns, every tile is computed outside C. */
static void make_edge(rows_maker make, const block *p, mfpg_matrix a, place at) {
    size_t bytes = (size_t)p->cols * sizeof(float);
    for (ptrdiff_t first = 0, tall; first < p->rows; first += tall, next_rows(&at, tall)) {
        float c[TALLEST * BROAD], start[TALLEST * BROAD] = {0};
        place edge = {.c = c, .c_down = BROAD, .start = at.start ? start : NULL, .start_down = BROAD};
        tall = next_tall(p->tall, p->rows - first);
        for (ptrdiff_t r = 0; r < tall && at.start; r++)
            memcpy(start + r * BROAD, at.start + r * at.start_down, bytes);
        make(p, first, tall, a, edge);
        for (ptrdiff_t r = 0; r < tall; r++) memcpy(at.c + r * at.c_down, c + r * BROAD, bytes);
    }
}

/* Computes all columns of b, so many panels at once; `at` is the position of the block. */
static void make_columns(
    rows_maker make, block *p, const mfpg_product *product, mfpg_matrix a, mfpg_matrix b, const place *at) {
    for (ptrdiff_t j = 0; j < product->cols; j += p->panels * BROAD) {
        ptrdiff_t left = product->cols - j;
        p->panels = p->tall == TALLER && b.across == 1 && left > BROAD ? left / BROAD : 1;
        p->cols = at_most(left, BROAD);
        take_right(p, (mfpg_matrix){b.at + j * b.across, b.down, b.across});
        if (p->cols == BROAD)
            make(p, 0, p->rows, a, place_below(at, 0, j));
        else
            make_edge(make, p, a, place_below(at, 0, j));
    }
}

/* Computes the contribution of depth k to k + p->depth to C; it starts from `at`. */
static void add_depth(
    mfpg_registers registers, block *p, const mfpg_product *product, ptrdiff_t k, const place *at) {
    mfpg_matrix a = product->a, b = product->b;
    b.at += k * b.down;
    p->packed = a.across != 1 && (p->depth > FEW || registers != MFPG_REGISTERS_AVX512);
    p->tall = registers != MFPG_REGISTERS_AVX512 ? TALL : a.across != 1 && !p->packed ? TALLER : TALLEST;
    ptrdiff_t high = a.across != 1 ? HIGH : product->rows;
    for (ptrdiff_t i = 0; i < product->rows; i += high) {
        mfpg_matrix of_a = {a.at + i * a.down + k * a.across, a.down, a.across};
        place below = place_below(at, i, 0);
        p->rows = at_most(product->rows - i, high);
        if (p->packed) pack_left(p, of_a);
        make_columns(MAKERS[registers], p, product, of_a, b, &below);
    }
}

void mfpg_matrix_product_by(mfpg_registers registers, const mfpg_product *product) {
    block p;
    place at = {product->c, product->cols, product->start, product->start_down};
    p.scaled = product->scaled;
    p.factor = product->factor;
    ptrdiff_t k = 0;
    do { /* at least once: without depth, C is its initial value */
        p.depth = at_most(product->depth - k, DEEP);
        add_depth(registers, &p, product, k, &at);
        at.start = product->c;
        at.start_down = product->cols;
        k += DEEP;
    } while (k < product->depth);
}

void mfpg_matrix_add_product(
    ptrdiff_t rows, ptrdiff_t cols, ptrdiff_t depth, mfpg_matrix a, mfpg_matrix b, float *c) {
    mfpg_product product = {rows, cols, depth, .a = a, .b = b, .start = c, .start_down = cols, .c = c};
    mfpg_matrix_product_by(mfpg_widest_registers(), &product);
}

void mfpg_matrix_product(
    ptrdiff_t rows, ptrdiff_t cols, ptrdiff_t depth, mfpg_matrix a, mfpg_matrix b, const float *s, float *c) {
    mfpg_product product = {rows, cols, depth, .a = a, .b = b, .start = s, .c = c};
    mfpg_matrix_product_by(mfpg_widest_registers(), &product);
}

void mfpg_matrix_add_scaled_product(ptrdiff_t rows, ptrdiff_t cols, ptrdiff_t depth, mfpg_matrix a,
    mfpg_matrix b, float factor, const float *s, float *c) {
    mfpg_product product = {rows, cols, depth, .a = a, .b = b, .start = s, .start_down = cols, .scaled = 1,
        .factor = factor, .c = c};
    mfpg_matrix_product_by(mfpg_widest_registers(), &product);
}
