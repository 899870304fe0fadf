#include "number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text between the two calls of the C library, which write the locale's decimal point. */
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
    char copy[400]; /* more digits than any double needs; a longer number is no number anybody wrote */
    if (length == 0 || length >= sizeof copy || !shape_is_decimal(text, length)) return 0;
    memcpy(copy, text, length);
    copy[length] = 0;
    point_for_locale(copy, 1);
    double parsed = strtod(copy, NULL);
    if (!isfinite(parsed)) return 0;
    *value = parsed;
    return 1;
}

char *mfpg_number_format(double value, char buffer[MFPG_NUMBER_SIZE]) {
    if (isnan(value)) return strcpy(buffer, "nan");
    if (isinf(value)) return strcpy(buffer, value > 0 ? "inf" : "-inf");
    int digits = fabs(value) < 10.0 ? 1 : 15; /* one digit of 20 would be "2e+01" */
    for (; digits <= 17; digits++) {
        if (digits == 2) digits = 15; /* most numbers need one digit or fifteen and more */
        snprintf(buffer, MFPG_NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value) break;
    }
    point_for_locale(buffer, 0);
    return buffer;
}

double mfpg_number_up(double value, int decimals) {
    double unit = pow(10.0, decimals), up = ceil(value * unit) / unit;
    return isfinite(up) ? up : value;
}
