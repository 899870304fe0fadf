/* Fixed-point arithmetic with 384 bits, which decides comparisons of a normal deviate without logarithms:
 * |Z| > |t| holds exactly if u < exp(-t^2 / (2 T^2)), where T is the deviate's cosine or sine. */
#include "grid_noise.h"

#include <math.h>
#include <string.h>

enum { LIMBS = 6, INTEGER = LIMBS - 1 };

/* limb[5] is the integer part and limb[4] .. limb[0] are 320 bits of fraction. Never negative. */
typedef struct fixed {
    uint64_t limb[LIMBS];
} fixed;

/* pi/2 to 320 bits. */
static const fixed HALF_PI = {{0xa29410f31c6809bbu, 0x04177d4c76273644u, 0x52049c1114cf98e8u,
    0x898cc51701b839a2u, 0x921fb54442d18469u, 1}};

static const fixed ONE = {{0, 0, 0, 0, 0, 1}};

static int compare(const fixed *a, const fixed *b) {
    for (int i = INTEGER; i >= 0; i--)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

static fixed sum(fixed a, const fixed *b) {
    unsigned __int128 carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (unsigned __int128)a.limb[i] + b->limb[i];
        a.limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return a;
}

/* a - b for a >= b. */
static fixed difference(fixed a, const fixed *b) {
    uint64_t borrow = 0;
    for (int i = 0; i < LIMBS; i++) {
        unsigned __int128 taken = (unsigned __int128)b->limb[i] + borrow;
        borrow = a.limb[i] < taken;
        a.limb[i] = (uint64_t)(a.limb[i] - taken);
    }
    return a;
}

/* Returns the product cut to 320 bits of fraction; it must be below 2^64. */
static fixed product(const fixed *a, const fixed *b) {
    uint64_t full[2 * LIMBS] = {0};
    fixed out;
    for (int i = 0; i < LIMBS; i++) {
        unsigned __int128 carry = 0;
        for (int j = 0; j < LIMBS; j++) {
            carry += (unsigned __int128)a->limb[i] * b->limb[j] + full[i + j];
            full[i + j] = (uint64_t)carry;
            carry >>= 64;
        }
        full[i + LIMBS] = (uint64_t)carry;
    }
    memcpy(out.limb, full + INTEGER, sizeof out.limb);
    return out;
}

static fixed quotient_by_word(fixed a, uint64_t divisor) {
    unsigned __int128 rest = 0;
    for (int i = INTEGER; i >= 0; i--) {
        rest = rest << 64 | a.limb[i];
        a.limb[i] = (uint64_t)(rest / divisor);
        rest %= divisor;
    }
    return a;
}

static fixed halved(fixed a) {
    for (int i = 0; i < INTEGER; i++) a.limb[i] = a.limb[i] >> 1 | a.limb[i + 1] << 63;
    a.limb[INTEGER] >>= 1;
    return a;
}

/* Computes floor(a / b) to 320 bits of fraction for a / b < 2^10, bit by bit; b > 0. */
static fixed quotient(fixed a, fixed b) {
    fixed out = {{0}};
    int bit = 10;
    for (int i = 0; i < bit; i++) b = sum(b, &b);
    for (; bit >= -320; bit--) {
        if (compare(&a, &b) >= 0) {
            a = difference(a, &b);
            out.limb[(bit + 320) / 64] |= (uint64_t)1 << (bit + 320) % 64;
        }
        /* Halving b further would lose bits, so from here on the remainder is doubled instead. */
        a = sum(a, &a);
    }
    return out;
}

/* Returns |value| of a double below 2^63; bits below 2^-320 are cut off. */
static fixed of_double(double value) {
    fixed out = {{0}};
    int exponent;
    double fraction = frexp(fabs(value), &exponent);
    if (fraction == 0.0) return out;
    uint64_t mantissa = (uint64_t)ldexp(fraction, 53);
    int low = 320 + exponent - 53; /* place of its lowest bit */
    for (; low < 0 && mantissa; low++) mantissa >>= 1;
    if (!mantissa) return out;
    out.limb[low / 64] = mantissa << low % 64;
    if (low % 64 && low / 64 < INTEGER) out.limb[low / 64 + 1] = mantissa >> (64 - low % 64);
    return out;
}

/* |bound - x| and its sign. */
static fixed distance(double bound, double x, int *negative) {
    fixed a = of_double(bound), b = of_double(x);
    if ((bound < 0.0) != (x < 0.0)) {
        *negative = bound < 0.0;
        return sum(a, &b);
    }
    int bound_is_less_far = compare(&a, &b) < 0;
    *negative = (bound < 0.0) != bound_is_less_far;
    return bound_is_less_far ? difference(b, &a) : difference(a, &b);
}

/* Divides by the 53 bits of the ratio's mantissa and then by its power of two. */
static fixed divided_by_ratio(fixed a, double ratio) {
    int exponent;
    double fraction = frexp(ratio, &exponent);
    a = quotient_by_word(a, (uint64_t)ldexp(fraction, 53));
    int shift = 53 - exponent; /* 6 to 52 */
    for (int i = INTEGER; i > 0; i--) a.limb[i] = a.limb[i] << shift | a.limb[i - 1] >> (64 - shift);
    a.limb[0] <<= shift;
    return a;
}

/* ---- the bits as numbers ---- */

/* Returns word.further as a fraction of 2^32, in the 288 bits below the point. */
static fixed fraction_of(uint32_t word, const uint64_t *further) {
    fixed out = {{0}};
    out.limb[4] = (uint64_t)word << 32 | further[0] >> 32;
    for (int i = 1; i < MFPG_NORMAL_FURTHER; i++) out.limb[4 - i] = further[i - 1] << 32 | further[i] >> 32;
    out.limb[0] = further[3] << 32;
    return out;
}

/* The signed 30 bits below the quadrant. */
static int32_t offset_of(const mfpg_normal_bits *bits) {
    return (int32_t)(bits->angle << 2) >> 2;
}

/* |p| pi/2, at most pi/4. */
static fixed angle_of(const mfpg_normal_bits *bits) {
    int32_t offset = offset_of(bits);
    fixed p = {{0}};
    p.limb[4] = (uint64_t)(uint32_t)offset << 34 | bits->further_angle[0] >> 30; /* offset 2^-30 modulo 1 */
    for (int i = 1; i < MFPG_NORMAL_FURTHER; i++)
        p.limb[4 - i] = bits->further_angle[i - 1] << 34 | bits->further_angle[i] >> 30;
    p.limb[0] = bits->further_angle[3] << 34;
    if (offset < 0) { /* two's complement below the point */
        p = difference(ONE, &p);
    }
    return product(&p, &HALF_PI);
}

/* Tells which function of the angle the draw is (1: the sine of |p| pi/2, 0: the cosine), and the sign of
 * the draw. */
static int shape_of(const mfpg_normal_bits *bits, int *negative) {
    int turns = ((int)(bits->angle >> 30) + (bits->sine ? 3 : 0)) % 4; /* sin(a) = cos(a - pi/2) */
    int is_sine = turns % 2;                                           /* cos(pi/2 (1 + p)) = -sin(pi/2 p) */
    int flips = turns == 1 || turns == 2;
    *negative = flips != (is_sine && offset_of(bits) < 0);
    return is_sine;
}

/* ---- functions ---- */

enum { EXPONENTIAL = -1, COSINE = 0, SINE = 1 };

/* sum of (-1)^i t_i with t_0 = term and t_i = t_(i-1) by / d_i: d_i is i, or n (n - 1) for n = 2i, 2i + 1. */
static fixed alternating(int kind, fixed term, const fixed *by, uint64_t terms) {
    fixed plus = term, minus = {{0}};
    for (uint64_t i = 1; i < terms; i++) {
        uint64_t n = 2 * i + (kind == SINE);
        term = product(&term, by);
        term = quotient_by_word(term, kind == EXPONENTIAL ? i : n * (n - 1));
        if (i % 2)
            minus = sum(minus, &term);
        else
            plus = sum(plus, &term);
    }
    return difference(plus, &minus);
}

/* For a <= pi/4, 60 terms reach an error below 2^-320. */
static fixed sine_or_cosine(const fixed *a, int is_sine) {
    fixed square = product(a, a);
    return alternating(is_sine, is_sine ? *a : ONE, &square, 60);
}

/* Computes exp(-a) for a < 2^9: exp of a / 2^12 by 40 terms, squared 12 times. */
static fixed exp_minus(fixed a) {
    for (int i = 0; i < 12; i++) a = halved(a);
    fixed out = alternating(EXPONENTIAL, ONE, &a, 40);
    for (int i = 0; i < 12; i++) out = product(&out, &out);
    return out;
}

/* ---- the two answers ---- */

double mfpg_normal_estimate(const mfpg_normal_bits *bits) {
    double further = (double)bits->further_radius[0] * 0x1p-64, radius2;
    if (bits->radius == 0 && bits->further_radius[0] < (uint64_t)1 << 52) return (double)NAN;
    if (bits->radius >> 31) { /* near 1 the distance from 1 carries the digits */
        double left = (double)~bits->further_radius[0] * 0x1p-64;
        radius2 = -2.0 * log1p(-((double)~bits->radius + left) * 0x1p-32);
    } else {
        radius2 = -2.0 * log(((double)bits->radius + further) * 0x1p-32);
    }
    int negative, is_sine = shape_of(bits, &negative);
    double p = ((double)offset_of(bits) + (double)bits->further_angle[0] * 0x1p-64) * 0x1p-30;
    double a = fabs(p) * 1.5707963267948966;
    double z = sqrt(radius2) * (is_sine ? sin(a) : cos(a));
    return negative ? -z : z;
}

int mfpg_normal_is_below(const mfpg_normal_bits *bits, double ratio, double x, double bound) {
    int draw_negative, bound_negative, is_sine = shape_of(bits, &draw_negative);
    fixed t = distance(bound, x, &bound_negative), most = {{0, 0, 0, 0, 0, 24}};
    if (draw_negative != bound_negative) return draw_negative;
    t = divided_by_ratio(t, ratio);
    /* The following decides whether |Z| > |t|. No deviate of 288 bits exceeds 24, because sqrt(2 log 2^288)
     * is 19.98. */
    int beyond = 0;
    if (compare(&t, &most) < 0) {
        fixed angle = angle_of(bits), shape = sine_or_cosine(&angle, is_sine), limit = t;
        for (int i = 0; i < 5; i++) shape = sum(shape, &shape); /* t/T < 32 is t < 32 T */
        if (compare(&limit, &shape) < 0) {
            for (int i = 0; i < 5; i++) shape = halved(shape);
            fixed root = quotient(t, shape), exponent = product(&root, &root), u;
            exponent = halved(exponent);
            exponent = exp_minus(exponent);
            u = fraction_of(bits->radius, bits->further_radius);
            beyond = compare(&u, &exponent) < 0;
        }
    }
    return bound_negative ? beyond : !beyond;
}
