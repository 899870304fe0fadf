/* The two passes over the points of a cloud in boxes, in doubles (kernel_boxes.c) and in floats (kernel_boxes_float.c). What includes
 * it says before: the type `real`, LANES of it in a register, HALVES registers side by side, the ORDER of the expansions, and
 * PART, the points of a box whose sums are kept apart: one sum of all the points of a large box would lose digits of a float. */
#ifndef MFPG_NUMERICS_BOX_PASSES_H
#define MFPG_NUMERICS_BOX_PASSES_H

#include <string.h>

#include "kernels.h"
#include "lanes.h"

enum { GROUP = HALVES * LANES, REACH = MFPG_BOX_REACH };

static inline __attribute__((always_inline)) void add_halves(const lanes part[HALVES], lanes *to) {
    lanes sum = part[0];
    for (int half = 1; half < HALVES; half++) sum += part[half];
    *to += sum;
}

/* moment[k] += sum_i T_k(t_i) v_i over GROUP points, where v is u or u t. */
static inline __attribute__((always_inline)) void gather(
    const real *t, const real *u, int by_place, lanes moment[ORDER]) {
    lanes twice[HALVES], before[HALVES], now[HALVES];
    for (int half = 0; half < HALVES; half++) {
        lanes at, v;
        load(t + LANES * half, &at);
        load(u + LANES * half, &v);
        before[half] = by_place ? v * at : v;
        now[half] = at * before[half];
        twice[half] = at + at;
    }
    add_halves(before, &moment[0]);
    add_halves(now, &moment[1]);
    MFPG_UNROLL
    for (int k = 2; k < ORDER; k++) {
        for (int half = 0; half < HALVES; half++) {
            lanes next = twice[half] * now[half] - before[half];
            before[half] = now[half];
            now[half] = next;
        }
        add_halves(now, &moment[k]);
    }
}

static inline __attribute__((always_inline)) void gather_box(
    ptrdiff_t count, const real *t, const real *u, int by_place, real *out, ptrdiff_t stride) {
    lanes moment[ORDER] = {{0}};
    ptrdiff_t i = 0;
    while (i + GROUP <= count) {
        lanes part[ORDER] = {{0}};
        ptrdiff_t end = count - i > PART ? i + PART : count;
        for (; i + GROUP <= end; i += GROUP) gather(t + i, u + i, by_place, part);
        for (int k = 0; k < ORDER; k++) moment[k] += part[k];
    }
    if (i < count) {
        real rest[2][GROUP] = {{0}};
        memcpy(rest[0], t + i, (size_t)(count - i) * sizeof *t);
        memcpy(rest[1], u + i, (size_t)(count - i) * sizeof *u);
        gather(rest[0], rest[1], by_place, moment);
    }
    for (int k = 0; k < ORDER; k++) out[k * stride] = sum_of(&moment[k]);
}

/* Computes the moments of every box: ORDER rows with one entry per column of the layout. */
static inline __attribute__((always_inline)) void gather_boxes(
    const mfpg_box_layout *layout, const real *t, const real *u, int by_place, real *moments) {
    for (const mfpg_box *at = layout->boxes; at < layout->boxes + layout->count; at++)
        gather_box(at->to - at->from, t + at->from, u + at->from, by_place, moments + REACH + at->place,
            layout->columns);
}

/* out = sum_k local[k] T_k(t) at GROUP points. */
static inline __attribute__((always_inline)) void evaluate(
    const real *t, const real local[ORDER], real *out) {
    lanes twice[HALVES], before[HALVES], now[HALVES], value[HALVES];
    for (int half = 0; half < HALVES; half++) {
        load(t + LANES * half, &now[half]);
        twice[half] = now[half] + now[half];
        before[half] = (lanes){0} + (real)1;
        value[half] = local[0] + local[1] * now[half];
    }
    MFPG_UNROLL
    for (int k = 2; k < ORDER; k++)
        for (int half = 0; half < HALVES; half++) {
            lanes next = twice[half] * now[half] - before[half];
            before[half] = now[half];
            now[half] = next;
            value[half] += local[k] * next;
        }
    for (int half = 0; half < HALVES; half++) /* each its own store: no detour over the stack */
        memcpy(out + LANES * half, &value[half], sizeof value[half]);
}

/* Evaluates the expansion of each point's box at the point, into out. */
static inline __attribute__((always_inline)) void spread_boxes(
    const mfpg_box_layout *layout, const real *t, const real *expansion, real *out) {
    real local[ORDER];
    for (const mfpg_box *at = layout->boxes; at < layout->boxes + layout->count; at++) {
        ptrdiff_t i = at->from;
        for (int k = 0; k < ORDER; k++) local[k] = expansion[k * layout->columns + REACH + at->place];
        for (; i + GROUP <= at->to; i += GROUP) evaluate(t + i, local, out + i);
        if (i < at->to) {
            real rest[GROUP] = {0};
            size_t left = (size_t)(at->to - i) * sizeof *rest;
            memcpy(rest, t + i, left);
            evaluate(rest, local, rest);
            memcpy(out + i, rest, left);
        }
    }
}

#endif
