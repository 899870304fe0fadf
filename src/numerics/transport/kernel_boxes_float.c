/* Products by boxes, in floats. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* For this order the bound in kernel_boxes.c is 3.4e-8, below the precision of a float. */
enum { ORDER = 8, LANES = 16, HALVES = 1, PART = 64 * LANES };
typedef float real;
#include "box_passes.h"

struct mfpg_float_boxes {
    const mfpg_box_layout *at;
    float *t;               /* n */
    float *moments, *local; /* ORDER x columns each */
    float table[REACH + 1][ORDER][ORDER];
};

mfpg_float_boxes *mfpg_float_boxes_create(const mfpg_box_layout *layout, double eta) {
    mfpg_float_boxes *boxes = mfpg_alloc(1, sizeof *boxes);
    if (!boxes) return NULL;
    boxes->at = layout;
    boxes->t = mfpg_alloc(layout->n, sizeof *boxes->t);
    boxes->moments =
        mfpg_alloc(2 * ORDER * layout->columns, sizeof *boxes->moments); /* empty columns stay 0 */
    if (!boxes->t || !boxes->moments) {
        mfpg_float_boxes_destroy(boxes);
        return NULL;
    }
    boxes->local = boxes->moments + ORDER * layout->columns;
    for (ptrdiff_t i = 0; i < layout->n; i++) boxes->t[i] = (float)layout->t[i];
    for (int m = 0; m <= REACH; m++) {
        double table[ORDER * ORDER];
        mfpg_box_table(ORDER, 2.0 * layout->half / sqrt(eta), m, table);
        for (int k = 0; k < ORDER * ORDER; k++) (&boxes->table[m][0][0])[k] = (float)table[k];
    }
    return boxes;
}

void mfpg_float_boxes_destroy(mfpg_float_boxes *boxes) {
    if (!boxes) return;
    free(boxes->t);
    free(boxes->moments);
    free(boxes);
}

MFPG_WIDE static void rough_moments(const mfpg_float_boxes *boxes, const float *u) {
    gather_boxes(boxes->at, boxes->t, u, 0, boxes->moments);
}

/* For LANES columns from c: adds to local the tables of both neighbours m away, as in kernel_boxes.c. */
static inline __attribute__((always_inline)) void translate_pair(
    float table[ORDER][ORDER], const float *moments, ptrdiff_t columns, int m, lanes local[ORDER]) {
    MFPG_UNROLL
    for (int l = 0; l < ORDER; l++) {
        lanes below, above, part[2];
        load(moments + l * columns - m, &below);
        load(moments + l * columns + m, &above);
        part[0] = below + above;
        part[1] = below - above;
        MFPG_UNROLL
        for (int k = 0; k < ORDER; k++) local[k] += table[k][l] * part[(k + l) % 2];
    }
}

MFPG_WIDE static void rough_translate(mfpg_float_boxes *boxes) {
    ptrdiff_t columns = boxes->at->columns;
    for (ptrdiff_t c = REACH; c < columns - REACH; c += LANES) {
        lanes sum[ORDER] = {{0}};
        const float *moments = boxes->moments + c;
        for (int l = 0; l < ORDER; l++) {
            lanes own;
            load(moments + l * columns, &own);
            for (int k = l % 2; k < ORDER; k += 2) sum[k] += boxes->table[0][k][l] * own;
        }
        for (int m = 1; m <= REACH; m++) translate_pair(boxes->table[m], moments, columns, m, sum);
        for (int k = 0; k < ORDER; k++) memcpy(boxes->local + k * columns + c, &sum[k], sizeof sum[k]);
    }
}

MFPG_WIDE static void rough_spread(const mfpg_float_boxes *boxes, float *out) {
    spread_boxes(boxes->at, boxes->t, boxes->local, out);
}

void mfpg_float_boxes_weigh(mfpg_float_boxes *boxes, const float *u, float *out) {
    rough_moments(boxes, u);
    rough_translate(boxes);
    rough_spread(boxes, out);
}
