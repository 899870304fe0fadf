/* Sums of clipped gradients as integers, and how far one example can move them.
 *
 * Blocks. Every row of a set has a place, its number. The places [0, P), P a power of two, are the root of a binary tree,
 * in which every node has its lower and its upper half as children. A node in which at most b of the drawn rows have
 * their places is one block; any other is split. The tree does not depend on P: if P is doubled, the root with more than
 * b rows is split into the root of before and a node without rows. The clipped gradients of a block are summed in
 * floating point from zero, in the order of the places, the sum is rounded to multiples of the unit, and the integers
 * of all blocks are added, exactly.
 *
 * Claim. Let one row be drawn or not, or zero or not, and let all others have the same places, contents and coins. Then
 * the sum times the unit moves by at most clip (1 + rho) in the 2-norm, with rho as in mfpg_model_sum_rounding. If a row is
 * replaced by another, the sum moves by at most 2 clip (1 + rho).
 *
 * Proof. (1) The vector that a row adds is a function of the row and of the public parameters: forward and backward pass
 * give the same bits for a row alone as among others (linalg.h, product.h), and so does its clip factor. The vector is
 * taken as the exact product of the scaled signals, which are floats, and their inputs. Its norm is at most the clip:
 * the norm that is computed is off by less than 2^-22 (sums of at most 2^31 squares in double), the signals are rounded
 * once (2^-24) or become 0, and mfpg_clip_factor shrinks by 2^-21. So the exact sum moves by at most clip, or 2 clip if
 * the row is replaced.
 *
 * (2) Only nodes that contain the row's place count it. Take the block that contains the place if the row is not drawn.
 * All blocks that do not overlap it are the same with and without the row. Inside it there are at most b rows without
 * the row. With the row there are at most b + 1: if there are b + 1, the node is split until they separate, which gives
 * two blocks with rows; otherwise it stays one block. A row that is zero or replaced leaves all counts as they are, and
 * one block of at most b rows changes.
 *
 * (3) In a block of m rows every entry of the sum is made by at most m roundings on the longest path from a term to the
 * result (one of the product, m - 1 of additions to a partial sum that is not zero; products are exact if sums are
 * in double, and the order does not matter). So entry j is off by at most ((1 + u)^m - 1) sum_i |a_ij|, where a_ij is entry j
 * of the vector of row i, and by Minkowski's inequality the vector by at most ((1 + u)^m - 1) m clip <= m^2 u (1 + m u) clip.
 * Over both runs, with at most b rows in the one and b + 1 rows in blocks of at most b in the other, that is
 * u (b b + b (b + 1)) (1 + b u) clip. Subnormal products are off by 2^-150 units more at most, or 2^-126 units if a
 * processor flushes them to zero, which the factor 1 + 2 b u in place of 1 + b u covers.
 *
 * (4) Three blocks at most, one without and two with the row, are rounded to multiples of the unit: half a unit an entry,
 * sqrt(d)/2 units a block. The unit is at most 2^-29 clip.
 *
 * rho is the sum of (3) and (4) over clip. QED. */
#include "model_ops.h"

#include <math.h>
#include <string.h>

/* Outside of this range of clips products with the unit would leave the range of normal doubles. */
static const double LEAST_CLIP = 0x1p-500, LARGEST_CLIP = 0x1p500;

/* Numbers of places are below 2^31, so that units are no coarser than that times the clip. */
static const double COARSEST_UNIT = 0x1p-29;

static ptrdiff_t block_rows(const mfpg_model *model) {
    return model->ops->double_sums ? MFPG_SUM_ROWS_DOUBLE : MFPG_SUM_ROWS_FLOAT;
}

double mfpg_model_sum_rounding(const mfpg_model *model) {
    double b = (double)block_rows(model), u = model->ops->double_sums ? 0x1p-53 : 0x1p-24;
    double sums = u * (b * b + b * (b + 1.0)) * (1.0 + 2.0 * b * u);
    double conversions = 1.5 * sqrt((double)model->parameters) * COARSEST_UNIT;
    return (sums + conversions) * (1.0 + 0x1p-40);
}

typedef struct summation {
    const mfpg_model *model;
    const float *w;
    mfpg_batch batch;
    double clip, unit;
    int64_t *sum;
    float *work;
    int fresh; /* 1: no block has been added yet */
    int64_t nonfinite;
    ptrdiff_t first;    /* number of drawn rows that have already been added */
    mfpg_blocks blocks; /* the blocks that follow; one pass forward and backward handles all of them */
} summation;

static ptrdiff_t waiting_rows(const summation *s) {
    return s->blocks.count > 0 ? s->blocks.end[s->blocks.count - 1] : 0;
}

static void add_waiting(summation *s) {
    const mfpg_model_ops *ops = s->model->ops;
    ptrdiff_t count = waiting_rows(s);
    if (count == 0) return;
    mfpg_dataset part;
    mfpg_batch batch = mfpg_batch_part(&s->batch, s->first, count, &part);
    ops->backward(s->model, s->w, &batch, s->work);
    s->nonfinite +=
        ops->add_clipped(s->model, &batch, &s->blocks, s->clip, s->unit, s->fresh, s->work, s->sum);
    s->fresh = 0;
    s->first += count;
    s->blocks.count = 0;
}

/* The next `count` drawn rows, at least one, form a block. */
static void add_block(summation *s, ptrdiff_t count) {
    if (waiting_rows(s) + count > MFPG_BLOCK_ROWS) add_waiting(s);
    s->blocks.end[s->blocks.count] = waiting_rows(s) + count;
    s->blocks.count++;
}

/* Returns how many of the `count` drawn rows from `first` on have positions below `place`. */
static ptrdiff_t rows_below(const mfpg_batch *batch, ptrdiff_t first, ptrdiff_t count, int64_t place) {
    ptrdiff_t low = 0, high = count;
    while (low < high) {
        ptrdiff_t middle = low + (high - low) / 2;
        if (mfpg_batch_row(batch, first + middle) < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Handles the node of `width` places from `place` on, with the `count` drawn rows from `first` on. */
static void add_node(summation *s, int64_t place, int64_t width, ptrdiff_t first, ptrdiff_t count) {
    if (count == 0) return;
    if (count <= block_rows(s->model)) {
        add_block(s, count);
        return;
    }
    int64_t half = width / 2;
    ptrdiff_t below = rows_below(&s->batch, first, count, place + half);
    add_node(s, place, half, first, below);
    add_node(s, place + half, half, first + below, count - below);
}

/* Returns the bound of which the unit is the largest power of two not above it. */
static double finest_unit(double clip, ptrdiff_t places) {
    double of_places = 0x1p-60 * (double)places;
    return clip * (of_places > 0x1p-40 ? of_places : 0x1p-40);
}

double mfpg_model_sum_unit(double clip, ptrdiff_t places) {
    int exponent;
    if (!(clip >= LEAST_CLIP && clip <= LARGEST_CLIP)) return (double)NAN;
    (void)frexp(finest_unit(clip, places), &exponent);
    return ldexp(1.0, exponent - 1);
}

/* Returns 1 if the unit is that of mfpg_model_sum_unit for the clip and at least so many places. A power of
 * two is at least the largest one below a number if its double exceeds that number. */
static int unit_fits(double clip, double unit, ptrdiff_t places) {
    uint64_t bits;
    memcpy(&bits, &unit, sizeof bits);
    return clip >= LEAST_CLIP && clip <= LARGEST_CLIP && unit <= COARSEST_UNIT * clip &&
           2.0 * unit > finest_unit(clip, places) && bits << 12 == 0;
}

int64_t mfpg_model_clipped_sum(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    const int32_t *rows, ptrdiff_t count, double clip, double unit, int64_t *sum, float *work) {
    summation s; /* the ends of its blocks are a large array, which is not initialised */
    s.model = model;
    s.w = w;
    s.batch = (mfpg_batch){.data = data, .rows = rows, .count = rows ? count : data->rows};
    s.clip = clip;
    s.unit = unit;
    s.sum = sum;
    s.work = work;
    s.fresh = 1;
    s.nonfinite = 0;
    s.first = s.blocks.count = 0;
    int64_t width = 1;
    while (width < data->rows) width *= 2;
    if (unit_fits(clip, unit, data->rows))
        add_node(&s, 0, width, 0, s.batch.count);
    else
        s.nonfinite = s.batch.count;
    add_waiting(&s);
    if (s.fresh) memset(sum, 0, (size_t)model->parameters * sizeof *sum);
    return s.nonfinite;
}

mfpg_clipped_sum mfpg_model_clipped_sum_as_made(const mfpg_model *model, const float *w,
    const mfpg_dataset *data, const int32_t *rows, ptrdiff_t count, double clip, double unit, int64_t *sum,
    float *work) {
    const mfpg_model_ops *ops = model->ops;
    mfpg_batch batch = {.data = data, .rows = rows, .count = rows ? count : data->rows};
    if (ops->double_sums || batch.count == 0 || batch.count > block_rows(model) ||
        /* otherwise the root of the tree is one block, which is summed in float */
        !unit_fits(clip, unit, data->rows))
        return (mfpg_clipped_sum){.integers = sum,
            .nonfinite = mfpg_model_clipped_sum(model, w, data, rows, count, clip, unit, sum, work)};
    float *floats = (float *)(void *)sum;
    ops->backward(model, w, &batch, work);
    int64_t nonfinite = ops->clip(model, &batch, clip, 1.0 / unit, work);
    ops->accumulate(model, &batch, 1.0F, 1, work, floats);
    return (mfpg_clipped_sum){.floats = floats, .nonfinite = nonfinite};
}
