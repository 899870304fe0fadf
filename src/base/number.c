#include "number.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The C library writes the locale's decimal point, so its text is converted. */
static void point_for_locale(char *text, int to_locale) {
    char sample[8];
    snprintf(sample, sizeof sample, "%.1f", 0.5);
    char mark = sample[1];
    if (mark == '.') return;
    char *at = strchr(text, to_locale ? '.' : mark);
    if (at) *at = to_locale ? mark : '.';
}

static int shape_is_decimal(const char *text, size_t length) {
    size_t i = 0, digits = 0;
    if (i < length && (text[i] == '+' || text[i] == '-')) i++;
    for (; i < length && isdigit((unsigned char)text[i]); i++) digits++;
    if (i < length && text[i] == '.') i++;
    for (; i < length && isdigit((unsigned char)text[i]); i++) digits++;
    if (digits == 0) return 0;
    if (i < length && (text[i] == 'e' || text[i] == 'E')) {
        size_t exponent = 0;
        i++;
        if (i < length && (text[i] == '+' || text[i] == '-')) i++;
        for (; i < length && isdigit((unsigned char)text[i]); i++) exponent++;
        if (exponent == 0) return 0;
    }
    return i == length;
}

int mfpg_number_parse(const char *text, size_t length, double *value) {
    char copy[400]; /* more digits than any double needs */
    if (length == 0 || length >= sizeof copy || !shape_is_decimal(text, length)) return 0;
    memcpy(copy, text, length);
    copy[length] = 0;
    point_for_locale(copy, 1);
    double parsed = strtod(copy, NULL);
    if (!isfinite(parsed)) return 0;
    *value = parsed;
    return 1;
}

/* ---- the shortest text ---- */

static char *format_by_trial(double value, char buffer[MFPG_NUMBER_SIZE]) {
    int digits = fabs(value) < 10.0 ? 1 : 15; /* one digit of 20 would be "2e+01" */
    for (; digits <= 17; digits++) {
        if (digits == 2) digits = 15; /* most numbers need either one digit or at least fifteen */
        snprintf(buffer, MFPG_NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value) break;
    }
    point_for_locale(buffer, 0);
    return buffer;
}

enum { DIGITS = 17, MOST_SCALE = 31 }; /* 5^31 times a mantissa of 55 bits fits into 128 bits */
static const uint64_t TEN_TO_16 = 10000000000000000u, TEN_TO_17 = 100000000000000000u;

/* A positive number times 10^scale, with the interval that reads back as it: up to half way to its
 * neighbours. */
typedef struct scaled {
    uint64_t floor; /* of the number, 17 digits */
    /* how far the number is above floor: 0 not at all, 1 less than a half, 2 a half, 3 more than a half */
    int rest;
    uint64_t low, high; /* the smallest and the largest integer that reads back as the number */
} scaled;

/* Returns the whole part of quarters 5^scale 2^-shift; *rest as in scaled. */
static uint64_t whole_part(unsigned __int128 product, int shift, int *rest) {
    *rest = 0;
    if (shift <= 0) return (uint64_t)(product << -shift);
    unsigned __int128 below = product & (((unsigned __int128)1 << shift) - 1),
                      half = (unsigned __int128)1 << (shift - 1);
    if (below != 0) *rest = below < half ? 1 : below == half ? 2 : 3;
    return (uint64_t)(product >> shift);
}

static scaled scale_up(uint64_t mantissa, int exponent, int scale) {
    unsigned __int128 power = 1;
    for (int i = 0; i < scale; i++) power *= 5;
    int shift = 2 - scale - exponent, rest;
    int even = mantissa % 2 == 0; /* halves are read as the even neighbour */
    uint64_t quarters = 4 * mantissa, below = mantissa == (uint64_t)1 << 52 ? 1 : 2;
    scaled out;
    out.floor = whole_part(power * quarters, shift, &out.rest);
    out.low = whole_part(power * (quarters - below), shift, &rest);
    if (rest != 0 || !even) out.low++;
    out.high = whole_part(power * (quarters + 2), shift, &rest);
    if (rest == 0 && !even) out.high--;
    return out;
}

/* Returns the number rounded to so many digits, halves to even, in units of the last of 17 digits. */
static uint64_t rounded_to(const scaled *number, int digits) {
    uint64_t unit = 1;
    for (int i = digits; i < DIGITS; i++) unit *= 10;
    uint64_t kept = number->floor / unit, rest = number->floor % unit;
    int up = unit == 1 ? number->rest > 2 || (number->rest == 2 && kept % 2)
                       : rest > unit / 2 || (rest == unit / 2 && (number->rest || kept % 2));
    return (kept + (uint64_t)up) * unit;
}

/* Writes digits as "%.*g" with that precision does: an exponent below -4 or from the precision up, no zeros
 * at the end. */
static char *write_digits(
    uint64_t number, int tens, int precision, int negative, char buffer[MFPG_NUMBER_SIZE]) {
    char digit[DIGITS + 1], *to = buffer;
    int count = DIGITS;
    for (int i = DIGITS; i-- > 0; number /= 10) digit[i] = (char)('0' + number % 10);
    while (count > 1 && digit[count - 1] == '0') count--;
    if (negative) *to++ = '-';
    if (tens < -4 || tens >= precision) {
        *to++ = digit[0];
        if (count > 1) *to++ = '.';
        for (int i = 1; i < count; i++) *to++ = digit[i];
        snprintf(to, 8, "e%+03d", tens);
        return buffer;
    }
    if (tens < 0) *to++ = '0', *to++ = '.';
    for (int i = -1; i > tens; i--) *to++ = '0';
    for (int i = 0; i < count || i <= tens; i++) {
        if (i == tens + 1 && tens >= 0) *to++ = '.';
        *to++ = i < count ? digit[i] : '0';
    }
    *to = 0;
    return buffer;
}

/* Returns 0 if the number is too small or too large for 128 bits. */
static int find_digits(double value, scaled *out, int *tens) {
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(value, &exponent), 53);
    exponent -= 53;
    if (!(value >= 1e-14 && value < 1e16)) return 0;
    *tens = (int)floor(log10(value));
    *out = scale_up(mantissa, exponent, DIGITS - 1 - *tens);
    if (out->floor < TEN_TO_16) --*tens; /* the logarithm was rounded up, or down */
    if (out->floor >= TEN_TO_17) ++*tens;
    if (out->floor < TEN_TO_16 || out->floor >= TEN_TO_17)
        *out = scale_up(mantissa, exponent, DIGITS - 1 - *tens);
    return 1;
}

char *mfpg_number_format(double value, char buffer[MFPG_NUMBER_SIZE]) {
    scaled number;
    int tens, digits = fabs(value) < 10.0 ? 1 : 15; /* one digit of 20 would be "2e+01" */
    if (isnan(value)) return strcpy(buffer, "nan");
    if (isinf(value)) return strcpy(buffer, value > 0 ? "inf" : "-inf");
    if (value == 0.0) return strcpy(buffer, signbit(value) ? "-0" : "0");
    if (!find_digits(fabs(value), &number, &tens)) return format_by_trial(value, buffer);
    for (; digits <= DIGITS; digits++) {
        /* as in the trials above: numbers with fewer digits have fifteen, the last of which are zeros */
        if (digits == 2) digits = 15;
        uint64_t rounded = rounded_to(&number, digits);
        if (rounded < number.low || rounded > number.high) continue;
        if (rounded == TEN_TO_17) rounded = TEN_TO_16, tens++;
        return write_digits(rounded, tens, digits, signbit(value) != 0, buffer);
    }
    return format_by_trial(value, buffer);
}

double mfpg_number_up(double value, int decimals) {
    double unit = pow(10.0, decimals), up = ceil(value * unit) / unit;
    return isfinite(up) ? up : value;
}
