#include "agreement.h"

#include <string.h>

enum { LANES = 16 };
typedef uint8_t lanes __attribute__((vector_size(LANES)));
typedef int8_t signed_lanes __attribute__((vector_size(LANES)));

/* The product with a public x: doubling adds the polynomial in the lanes whose highest bit was set, by a mask, so that the
 * time does not depend on a. */
static inline __attribute__((always_inline)) lanes times(lanes a, unsigned char x) {
    lanes product = {0};
    for (int bit = 0; bit < 8; bit++) {
        product ^= a & ((lanes){0} + (uint8_t)(0 - (x >> bit & 1)));
        a = (a + a) ^ ((lanes)((signed_lanes)a < 0) & 0x1b);
    }
    return product;
}

void mfpg_shamir_share(
    const unsigned char *coefficient, int threshold, size_t size, unsigned char x, unsigned char *share) {
    for (size_t at = 0; at < size; at += LANES) {
        lanes sum = {0}, next;
        for (int j = threshold - 1; j >= 0; j--) { /* Horner's rule */
            memcpy(&next, coefficient + (size_t)j * size + at, LANES);
            sum = times(sum, x) ^ next;
        }
        memcpy(share + at, &sum, LANES);
    }
}

void mfpg_shamir_add(unsigned char weight, const unsigned char *share, size_t size, unsigned char *secret) {
    for (size_t at = 0; at < size; at += LANES) {
        lanes of_share, sum;
        memcpy(&of_share, share + at, LANES);
        memcpy(&sum, secret + at, LANES);
        sum ^= times(of_share, weight);
        memcpy(secret + at, &sum, LANES);
    }
}

static unsigned char product(unsigned char a, unsigned char b) {
    return times((lanes){a}, b)[0];
}

/* a^254, since the group has 255 elements. */
static unsigned char inverse(unsigned char a) {
    unsigned char power = 1;
    for (int i = 0; i < 254; i++) power = product(power, a);
    return power;
}

void mfpg_shamir_weights(const unsigned char *abscissa, int count, unsigned char *weight) {
    for (int i = 0; i < count; i++) {
        unsigned char above = 1, below = 1;
        for (int j = 0; j < count; j++) {
            if (j == i) continue;
            above = product(above, abscissa[j]);
            below = product(below, abscissa[i] ^ abscissa[j]);
        }
        weight[i] = product(above, inverse(below));
    }
}
