/* Sums of integers that noised clients send: exact convolutions of the laws of rounded normal deviates against the certificate of
 * the real sum. delta of the integers' sum at epsilon + 2 m eta is at most e^(m eta) times the real sum's at epsilon, for m
 * coordinates and rounds together; eta = (n - 1) log((1 + theta)/(1 - theta)), theta = 2 sum exp(-pi^2 i^2 s^2), if every
 * client's standard deviation is at least s steps of the grid. */
#include "testing.h"

#include "mfpg/accountant.h"

enum { CELLS = 256 };

/* Probabilities of the integers -CELLS/2 .. CELLS/2 - 1. */
typedef struct law {
    long double p[CELLS];
} law;

/* P(a < s Z < b) by the tail on its own side: relative precision of long double. */
static long double probability(long double a, long double b, long double s) {
    const long double scale = s * sqrtl(2.0L);
    if (a > 0.0L) return 0.5L * (erfcl(a / scale) - erfcl(b / scale));
    if (b < 0.0L) return 0.5L * (erfcl(-b / scale) - erfcl(-a / scale));
    return 0.5L * (erfl(b / scale) - erfl(a / scale));
}

static law rounded_normal(double x, double s) {
    law out;
    for (int i = 0; i < CELLS; i++) {
        long double k = i - CELLS / 2 - (long double)x;
        out.p[i] = probability(k - 0.5L, k + 0.5L, (long double)s);
    }
    return out;
}

static law sum_of(const law *a, const law *b) {
    law out = {{0}};
    for (int i = 0; i < CELLS; i++)
        for (int j = 0; j < CELLS; j++) {
            int k = i + j - CELLS / 2;
            if (k >= 0 && k < CELLS) out.p[k] += a->p[i] * b->p[j];
        }
    return out;
}

/* The law of the sum of n clients' integers; the first client's value is x0 + shift, the others' are x0 times 2, 3. */
static law sum_of_clients(int n, double s, double x0, double shift) {
    law all = rounded_normal(x0 + shift, s);
    for (int i = 1; i < n; i++) {
        law other = rounded_normal(x0 * (i + 1), s);
        all = sum_of(&all, &other);
    }
    return all;
}

static double eta_of(int n, double s) {
    const double pi = 2.0 * acos(0.0);
    double theta = 0.0;
    for (int m = 1; m < 20; m++) theta += 2.0 * exp(-pi * pi * m * m * s * s);
    return (n - 1) * log((1.0 + theta) / (1.0 - theta));
}

static double delta_of(const law *p, const law *q, double epsilon) {
    long double delta = 0.0L, factor = expl((long double)epsilon);
    for (int i = 0; i < CELLS; i++) {
        long double more = p->p[i] - factor * q->p[i];
        if (more > 0.0L) delta += more;
    }
    return (double)delta;
}

/* Slack 1e-12 of delta for the long doubles, whose sums of 65,536 positive terms are right to 1e-14; 1e-17 for what lies outside
 * the 256 cells. */
static void check_below(double delta, double allowed, int n, double s, double shift, double epsilon) {
    if (delta <= allowed * (1.0 + 1e-12) + 1e-17) return;
    print_error("n %d, s %g, shift %g, epsilon %g: delta %.17g, allowed %.17g\n", n, s, shift, epsilon, delta,
        allowed);
    fail();
}

static void test_sums_of_two_and_three_have_the_real_sums_certificate(void **state) {
    (void)state;
    const double ss[] = {0.5, 0.7, 1.0, 2.0, 4.0}, shifts[] = {0.1, 0.3, 1.0, 2.5, 4.0},
                 epsilons[] = {0.0, 0.1, 0.5, 1.0, 2.0}, offsets[] = {0.0, 0.25, 0.45};
    for (int n = 2; n <= 3; n++)
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++)
                for (int o = 0; o < 3; o++) {
                    law p = sum_of_clients(n, ss[i], offsets[o], shifts[j]),
                        q = sum_of_clients(n, ss[i], offsets[o], 0.0);
                    double eta = eta_of(n, ss[i]), mu = shifts[j] / (ss[i] * sqrt(n));
                    for (int e = 0; e < 5; e++) {
                        double allowed = exp(eta) * mfpg_gdp_delta(mu, epsilons[e]);
                        check_below(delta_of(&p, &q, epsilons[e] + 2.0 * eta), allowed, n, ss[i], shifts[j],
                            epsilons[e]);
                        check_below(delta_of(&q, &p, epsilons[e] + 2.0 * eta), allowed, n, ss[i], shifts[j],
                            epsilons[e]);
                    }
                }
}

/* Why a standard deviation of four steps is required: at half a step the sum of integers has up to 1.45 times the real
 * sum's delta, by where the values lie between steps; with the addition it is below. */
static void test_coarse_grids_need_the_addition(void **state) {
    (void)state;
    double most = 0.0, real = mfpg_gdp_delta(0.1 / (0.5 * sqrt(2.0)), 0.5);
    for (double first = 0.0; first < 0.999; first += 0.05)
        for (double second = 0.0; second < 0.999; second += 0.05) {
            law other = rounded_normal(second, 0.5), a = rounded_normal(first + 0.1, 0.5),
                b = rounded_normal(first, 0.5), p = sum_of(&a, &other), q = sum_of(&b, &other);
            double more = 2.0 * eta_of(2, 0.5), allowed = exp(0.5 * more) * real;
            most = fmax(most, fmax(delta_of(&p, &q, 0.5), delta_of(&q, &p, 0.5)));
            check_below(delta_of(&p, &q, 0.5 + more), allowed, 2, 0.5, 0.1, 0.5);
            check_below(delta_of(&q, &p, 0.5 + more), allowed, 2, 0.5, 0.1, 0.5);
        }
    check_near(most / real, 1.4504, 0, 1e-3, "delta of the sum of integers over that of the real sum");
    double eta = eta_of(2, 0.5);
    assert_true(eta > 0.3 && eta < 0.4);
    /* and at four steps the addition is nothing: theta is 5.2e-69 */
    const double theta = 2.0 * exp(-pow(2.0 * acos(0.0) * 4.0, 2.0));
    assert_true(theta < 5.3e-69);
    assert_true(2.0 * 1e6 * 1e6 * (1e6 - 1) * 2.0 * theta * (1.0 + 1e-9) < 1e-49);
}

/* A round of `coordinates` integers: its joint law is a product, and a later round's shift may depend on what came out. The delta
 * of all rounds together, by summing over all outcomes. `adaptive`: coordinates from the second on are moved if the
 * first integer was even alone. */
typedef struct composed {
    const law *p, *q; /* of a coordinate that is moved, and of one that is not */
    int coordinates, adaptive, low, high;
    long double factor;
} composed;

static long double delta_from(const composed *all, int coordinate, int moved, long double p, long double q) {
    if (coordinate == all->coordinates) {
        long double more = p - all->factor * q;
        return more > 0.0L ? more : 0.0L;
    }
    long double delta = 0.0L;
    for (int i = all->low; i < all->high; i++) {
        int now = coordinate == 0 ? !all->adaptive || i % 2 == 0 : moved;
        long double of_p = coordinate == 0 || moved ? all->p->p[i] : all->q->p[i];
        delta += delta_from(all, coordinate + 1, now, p * of_p, q * all->q->p[i]);
    }
    return delta;
}

static void test_coordinates_and_rounds_compose(void **state) {
    (void)state;
    const double ss[] = {0.5, 1.0}, shifts[] = {0.1, 0.6, 1.5}, epsilons[] = {0.0, 0.5, 1.5};
    for (int n = 2; n <= 3; n++)
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 3; j++)
                for (int m = 2; m <= 3; m++)
                    for (int adaptive = 0; adaptive < 2; adaptive++) {
                        law p = sum_of_clients(n, ss[i], 0.3, shifts[j]),
                            q = sum_of_clients(n, ss[i], 0.3, 0.0);
                        double spread = 8.0 * ss[i] * sqrt(n) + 4.0, eta = m * eta_of(n, ss[i]);
                        double mu = shifts[j] * sqrt(m) / (ss[i] * sqrt(n));
                        for (int e = 0; e < 3; e++) {
                            composed all = {.p = &p,
                                .q = &q,
                                .coordinates = m,
                                .adaptive = adaptive,
                                .low = CELLS / 2 - (int)spread,
                                .high = CELLS / 2 + (int)spread + 1,
                                .factor = expl((long double)(epsilons[e] + 2.0 * eta))};
                            double allowed = exp(eta) * mfpg_gdp_delta(mu, epsilons[e]);
                            check_below((double)delta_from(&all, 0, 1, 1.0L, 1.0L), allowed + 1e-13, n, ss[i],
                                shifts[j], epsilons[e]);
                        }
                    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_of_two_and_three_have_the_real_sums_certificate),
        cmocka_unit_test(test_coarse_grids_need_the_addition),
        cmocka_unit_test(test_coordinates_and_rounds_compose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
