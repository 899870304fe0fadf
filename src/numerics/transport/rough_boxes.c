#include "rough_boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/wide.h"

/* The interpolation's bound in kernel_boxes.c is 3.4e-8 for this order: below a float's own grid. */
enum { ORDER = 8, LANES = 16, PART = 64 * LANES, REACH = MFPG_BOX_REACH };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

struct mfpg_rough_boxes {
    const mfpg_box_layout *at;
    float *t;               /* n */
    float *moments, *local; /* ORDER x columns each */
    float table[REACH + 1][ORDER][ORDER];
};

mfpg_status mfpg_rough_boxes_create(
    mfpg_context *ctx, const mfpg_box_layout *layout, double eta, mfpg_rough_boxes **out) {
    mfpg_rough_boxes *boxes = mfpg_alloc(1, sizeof *boxes);
    if (!boxes) return mfpg_fail_memory(ctx);
    *boxes = (mfpg_rough_boxes){.at = layout};
    boxes->t = mfpg_alloc(layout->n, sizeof *boxes->t);
    boxes->moments =
        mfpg_alloc(2 * ORDER * layout->columns, sizeof *boxes->moments); /* empty columns stay 0 */
    if (!boxes->t || !boxes->moments) {
        mfpg_rough_boxes_destroy(boxes);
        return mfpg_fail_memory(ctx);
    }
    boxes->local = boxes->moments + ORDER * layout->columns;
    for (ptrdiff_t i = 0; i < layout->n; i++) boxes->t[i] = (float)layout->t[i];
    for (int m = 0; m <= REACH; m++) {
        double table[ORDER * ORDER];
        mfpg_box_table(ORDER, 2.0 * layout->half / sqrt(eta), m, table);
        for (int k = 0; k < ORDER * ORDER; k++) (&boxes->table[m][0][0])[k] = (float)table[k];
    }
    *out = boxes;
    return MFPG_OK;
}

void mfpg_rough_boxes_destroy(mfpg_rough_boxes *boxes) {
    if (!boxes) return;
    free(boxes->t);
    free(boxes->moments);
    free(boxes);
}

/* No function returns a vector: without AVX its registers would be another calling convention. */
static inline __attribute__((always_inline)) void load(const float *from, lanes *to) {
    memcpy(to, from, sizeof *to);
}

/* moment[k] += T_k(t_i) u_i for LANES points. */
static inline __attribute__((always_inline)) void gather(
    const float *t, const float *u, lanes moment[ORDER]) {
    lanes at, before, now;
    load(t, &at);
    load(u, &before);
    now = at * before;
    at += at;
    moment[0] += before;
    moment[1] += now;
    MFPG_UNROLL
    for (int k = 2; k < ORDER; k++) {
        lanes next = at * now - before;
        before = now;
        now = next;
        moment[k] += now;
    }
}

static inline __attribute__((always_inline)) float sum_of(const lanes *v) {
    float sum[LANES];
    memcpy(sum, v, sizeof sum);
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++) sum[l] += sum[l + width];
    return sum[0];
}

MFPG_WIDE static void rough_moments(const mfpg_rough_boxes *boxes, const float *u) {
    for (const mfpg_box *at = boxes->at->boxes; at < boxes->at->boxes + boxes->at->count; at++) {
        lanes moment[ORDER] = {{0}};
        ptrdiff_t i = at->from;
        while (
            i + LANES <= at->to) { /* sums of sums: one of all the points of a large box would lose digits */
            lanes part[ORDER] = {{0}};
            ptrdiff_t end = i + PART < at->to ? i + PART : at->to;
            for (; i + LANES <= end; i += LANES) gather(boxes->t + i, u + i, part);
            for (int k = 0; k < ORDER; k++) moment[k] += part[k];
        }
        if (i < at->to) {
            float rest[2][LANES] = {{0}};
            memcpy(rest[0], boxes->t + i, (size_t)(at->to - i) * sizeof *u);
            memcpy(rest[1], u + i, (size_t)(at->to - i) * sizeof *u);
            gather(rest[0], rest[1], moment);
        }
        for (int k = 0; k < ORDER; k++)
            boxes->moments[k * boxes->at->columns + REACH + at->place] = sum_of(&moment[k]);
    }
}

/* For LANES columns from c: local += both neighbours m away through their tables, as in kernel_boxes.c. */
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

MFPG_WIDE static void rough_translate(mfpg_rough_boxes *boxes) {
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

/* out = sum_k local[k] T_k(t) at LANES points. */
static inline __attribute__((always_inline)) void evaluate(
    const float *t, const float local[ORDER], float *out) {
    lanes now, twice, before = {0}, value;
    load(t, &now);
    twice = now + now;
    before += 1.0f;
    value = local[0] + local[1] * now;
    MFPG_UNROLL
    for (int k = 2; k < ORDER; k++) {
        lanes next = twice * now - before;
        before = now;
        now = next;
        value += local[k] * next;
    }
    memcpy(out, &value, sizeof value);
}

MFPG_WIDE static void rough_spread(const mfpg_rough_boxes *boxes, float *out) {
    float local[ORDER];
    for (const mfpg_box *at = boxes->at->boxes; at < boxes->at->boxes + boxes->at->count; at++) {
        ptrdiff_t i = at->from;
        for (int k = 0; k < ORDER; k++) local[k] = boxes->local[k * boxes->at->columns + REACH + at->place];
        for (; i + LANES <= at->to; i += LANES) evaluate(boxes->t + i, local, out + i);
        if (i < at->to) {
            float rest[LANES] = {0};
            memcpy(rest, boxes->t + i, (size_t)(at->to - i) * sizeof *rest);
            evaluate(rest, local, rest);
            memcpy(out + i, rest, (size_t)(at->to - i) * sizeof *rest);
        }
    }
}

void mfpg_rough_boxes_weigh(mfpg_rough_boxes *boxes, const float *u, float *out) {
    rough_moments(boxes, u);
    rough_translate(boxes);
    rough_spread(boxes, out);
}
