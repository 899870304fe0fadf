/* Computes the integers nearest to numbers plus normal deviates, exactly. Draws in float with a proved error
 * bound decide nearly all of them, draws in double nearly all others, and fixed-point numbers of 384 bits
 * the rest. */
#include "grid_noise.h"

#include <endian.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- the grid ---- */

double mfpg_grid_for(double sd) {
    int exponent;
    if (!(sd >= 0x1p-960 && sd <= DBL_MAX)) return 0.0;
    frexp(sd, &exponent); /* 2^(exponent - 1) <= sd */
    return ldexp(1.0, exponent - 5);
}

const char *mfpg_grid_fault(double grid, double sd, double sensitivity) {
    int exponent;
    if (!(grid > 0.0 && isfinite(grid) && frexp(grid, &exponent) == 0.5))
        return "the grid is not a power of two";
    if (!(grid <= 0.25 * sd)) return "the grid is coarser than a quarter of the noise";
    if (!(grid >= sd * 0x1p-45)) return "the grid is finer than 2^-45 of the noise";
    if (!(grid >= sensitivity * 0x1p-40)) return "the grid is finer than 2^-40 of the sensitivity";
    return NULL;
}

enum { BLOCK_BYTES = 64, BLOCK_WORDS = 16, BLOCK_PAIRS = 8 };

static const uint64_t FURTHER_BLOCK = ((uint64_t)1 << 63) + ((uint64_t)1 << 62);

/* If a standard deviation has at most this many steps, floats are tried first; with more steps most would be
 * undecided. */
#define LARGEST_FLOAT_RATIO 0x1p14

/* Adding and subtracting this number rounds a double of size below 2^51 to the nearest integer, ties to
 * even. */
static const double ROUNDER = 0x1.8p52;

/* ---- a single draw, decided exactly ---- */

static mfpg_normal_bits read_bits(const mfpg_grid_draws *all, ptrdiff_t j) {
    mfpg_pair_place place = mfpg_stream_pair_place(all->vector, all->n, j);
    uint32_t words[BLOCK_WORDS];
    uint64_t further[2 * MFPG_NORMAL_FURTHER];
    mfpg_normal_bits bits = {.sine = place.sine};
    mfpg_stream_bytes(all->stream, place.block, BLOCK_BYTES, (unsigned char *)words);
    bits.radius = le32toh(words[2 * place.pair]);
    bits.angle = le32toh(words[2 * place.pair + 1]);
    uint64_t pair = place.block * BLOCK_PAIRS + (uint64_t)place.pair;
    mfpg_stream_bytes(all->stream, FURTHER_BLOCK + pair, BLOCK_BYTES, (unsigned char *)further);
    for (int i = 0; i < MFPG_NORMAL_FURTHER; i++) {
        bits.further_radius[i] = le64toh(further[i]);
        bits.further_angle[i] = le64toh(further[MFPG_NORMAL_FURTHER + i]);
    }
    return bits;
}

static double rounded(double x) {
    return (x + ROUNDER) - ROUNDER;
}

/* Rounds by an estimate if that decides, and otherwise by comparisons with half-integers. An exact tie has
 * probability 0. The estimate is at most 1 away from the integer, so two or three comparisons suffice. In
 * the cell without an estimate, steps that double in length find two integers around it, and bisection finds
 * it. */
double mfpg_grid_nearest(const mfpg_normal_bits *bits, double ratio, double x) {
    if (!(fabs(x) <= MFPG_GRID_LARGEST_X)) return (double)NAN;
    double z = mfpg_normal_estimate(bits), y = x + ratio * (isnan(z) ? 0.0 : z), k = rounded(y);
    /* Returns a bound on the error of y: |x| and ratio |z| each round by 2^-53 of themselves, |z| < 16, and
     * so does their sum. */
    double error = ratio * MFPG_NORMAL_ESTIMATE_ERROR + (fabs(x) + 16.0 * ratio) * 0x1p-51;
    if (!isnan(z) && fabs(y - k) <= 0.5 - error) return k;
    double least = k, most = k, step = 1.0;
    for (; mfpg_normal_is_below(bits, ratio, x, least - 0.5); step *= 2.0) {
        most = least - 1.0;
        least -= step;
    }
    if (most == k) {
        for (; !mfpg_normal_is_below(bits, ratio, x, most + 0.5); step *= 2.0) {
            least = most + 1.0;
            most += step;
        }
    }
    while (least < most) {
        double middle = floor(least + 0.5 * (most - least));
        if (mfpg_normal_is_below(bits, ratio, x, middle + 0.5))
            most = middle;
        else
            least = middle + 1.0;
    }
    return least;
}

/* ---- pieces ---- */

/* Computes k, the integers nearest to x + ratio z. Returns nonzero if one of them is not certain, because
 * the distance from x + ratio z to k may exceed half a step minus the error bound (`most` and 2^-50 of its
 * size), or because z is NaN. */
MFPG_WIDE static uint64_t round_piece(ptrdiff_t n, double ratio, double most, const float *restrict z,
    const double *restrict x, double *restrict k) {
    uint64_t undecided = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        double y = x[i] + ratio * (double)z[i], nearest = (y + ROUNDER) - ROUNDER;
        undecided |= !(fabs(y - nearest) + fabs(y) * 0x1p-50 <= most);
        k[i] = nearest;
    }
    return undecided;
}

/* Decides by one draw and, if that is not certain, by the exact method. */
static void round_undecided(const mfpg_grid_draws *all, ptrdiff_t first, ptrdiff_t n, double most,
    const float *z, const double *x, double *k) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double y = x[i] + all->ratio * (double)z[i];
        k[i] = rounded(y);
        if (!(fabs(y - k[i]) + fabs(y) * 0x1p-50 <= most)) {
            mfpg_normal_bits bits = read_bits(all, first + i);
            k[i] = mfpg_grid_nearest(&bits, all->ratio, x[i]);
        }
    }
}

void mfpg_grid_round(
    const mfpg_grid_draws *draws, ptrdiff_t first, ptrdiff_t n, const float *z, const double *x, double *k) {
    double most = 0.5 - draws->ratio * (MFPG_BOUNDED_ERROR + 64.0 * 0x1p-51);
    if (round_piece(n, draws->ratio, most, z, x, k)) round_undecided(draws, first, n, most, z, x, k);
}

typedef struct passing {
    mfpg_grid_draws draws;
    mfpg_grid_pass pass;
    void *arg;
} passing;

static void pass_draws(ptrdiff_t first, ptrdiff_t n, const float *z, void *arg) {
    const passing *all = arg;
    all->pass(&all->draws, first, n, z, all->arg);
}

void mfpg_grid_noise_pass(mfpg_registers registers, const mfpg_stream *stream, uint64_t vector, ptrdiff_t n,
    double ratio, mfpg_grid_pass pass, void *arg) {
    passing all = {{stream, vector, n, ratio}, pass, arg};
    if (ratio <= LARGEST_FLOAT_RATIO) {
        mfpg_stream_bounded_gaussian_visit(registers, stream, vector, n, pass_draws, &all);
        return;
    }
    float z[MFPG_GRID_PIECE]; /* no float is precise enough: every draw is decided by its further bits */
    for (int i = 0; i < MFPG_GRID_PIECE; i++) z[i] = NAN;
    for (ptrdiff_t first = 0; first < n; first += MFPG_GRID_PIECE)
        pass(&all.draws, first, n - first < MFPG_GRID_PIECE ? n - first : MFPG_GRID_PIECE, z, arg);
}

typedef struct visiting {
    mfpg_grid_give give;
    mfpg_grid_take take;
    void *arg;
} visiting;

static void visit_piece(
    const mfpg_grid_draws *draws, ptrdiff_t first, ptrdiff_t n, const float *z, void *arg) {
    const visiting *all = arg;
    double x[MFPG_GRID_SHORT], k[MFPG_GRID_SHORT];
    for (const ptrdiff_t end = first + n; first < end; first += MFPG_GRID_SHORT, z += MFPG_GRID_SHORT) {
        ptrdiff_t count = end - first < MFPG_GRID_SHORT ? end - first : MFPG_GRID_SHORT;
        all->give(first, count, x, all->arg);
        mfpg_grid_round(draws, first, count, z, x, k);
        all->take(first, count, k, all->arg);
    }
}

void mfpg_grid_noise_visit(mfpg_registers registers, const mfpg_stream *stream, uint64_t vector, ptrdiff_t n,
    double ratio, mfpg_grid_give give, mfpg_grid_take take, void *arg) {
    visiting all = {give, take, arg};
    mfpg_grid_noise_pass(registers, stream, vector, n, ratio, visit_piece, &all);
}

double mfpg_grid_noise_one(
    const mfpg_stream *stream, uint64_t vector, ptrdiff_t n, ptrdiff_t j, double x, double ratio) {
    mfpg_grid_draws all = {.stream = stream, .vector = vector, .n = n};
    mfpg_normal_bits bits = read_bits(&all, j);
    return mfpg_grid_nearest(&bits, ratio, x);
}
