#include "accountants/fixture.h"
#include "accountants/view_noise.h"
#include "base/grid_noise.h"

/* Fills last_sd of one round's releases, all clients that take part. */
static void apply_view(const mfpg_promise *promise, const unsigned char *colluder, int participants,
    mfpg_release *release, ptrdiff_t count) {
    mfpg_view_noise view = mfpg_view_start(promise, colluder, participants);
    for (ptrdiff_t i = 0; view.sums && i < count; i++) mfpg_view_rank(&view, &release[i]);
    for (ptrdiff_t i = 0; view.sums && i < count; i++) mfpg_view_add(&view, &release[i]);
    for (ptrdiff_t i = 0; i < count; i++) release[i].last_sd = mfpg_view_last_sd(&view, &release[i]);
}

enum { MOST_CLIENTS = 12, MOST_STEPS = 3 };

static const mfpg_promise average = {MFPG_UNIT_CLIENT, MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_AVERAGE};

static double mu_of(const mfpg_release *release) {
    return mfpg_release_mu(release, MFPG_ADJACENCY_ZERO_OUT);
}

/* A federation of clients with linear local maps x -> a x + noise. */
typedef struct cohort {
    int clients, steps;
    double a[MOST_CLIENTS]; /* contraction of each client's local map */
    mfpg_release release[MOST_CLIENTS];
    unsigned char colluder[MOST_CLIENTS];
} cohort;

static cohort random_cohort(uint64_t *random) {
    cohort drawn = {
        .clients = 2 + (int)(9 * random_unit(random)), .steps = 1 + (int)(MOST_STEPS * random_unit(random))};
    double total = 0.0;
    for (int j = 0; j < drawn.clients; j++) {
        drawn.release[j] = release_of(
            random_between(random, 0.1, 2), random_scale(random, 0.2, 5)); /* S_k and sd_k differ */
        drawn.release[j].client = j;
        drawn.release[j].steps = drawn.steps;
        drawn.release[j].weight = random_scale(random, 0.01, 1);
        drawn.a[j] = random_between(random, 0, 1.1);
        total += drawn.release[j].weight;
    }
    for (int j = 0; j < drawn.clients; j++) drawn.release[j].weight /= total;
    return drawn;
}

/* m' C^-1 m by Cholesky's factor of C, which is overwritten. */
static double mahalanobis2(int n, double c[MOST_STEPS][MOST_STEPS], const double *m) {
    double y[MOST_STEPS], sum = 0.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double value = c[i][j];
            for (int k = 0; k < j; k++) value -= c[i][k] * c[j][k];
            c[i][j] = i == j ? sqrt(value) : value / c[j][j];
        }
        y[i] = m[i];
        for (int k = 0; k < i; k++) y[i] -= c[i][k] * y[k];
        y[i] /= c[i][i];
        sum += y[i] * y[i];
    }
    return sum;
}

/* Plain Gaussian algebra: mu of client k against somebody who sees its local chain x_1..x_(K-1) and the average, and
 * knows all noise but k's own and the last of the clients that `hidden` marks. Every local step is moved by S. */
static double chain_and_average_mu(const cohort *all, int k, const unsigned char *hidden) {
    const mfpg_release *own = &all->release[k];
    int n = all->steps;
    double response[MOST_STEPS][MOST_STEPS] = {
        {0}}; /* what noise (or shift) of step s does to observation t */
    double covariance[MOST_STEPS][MOST_STEPS] = {{0}}, shift[MOST_STEPS] = {0};
    for (int t = 0; t < n; t++)
        for (int s = 0; s <= t; s++)
            response[t][s] = pow(all->a[k], t - s) * (t == n - 1 ? own->weight : 1.0);
    for (int t = 0; t < n; t++)
        for (int s = 0; s < n; s++) {
            shift[t] += own->sensitivity * response[t][s];
            for (int u = 0; u < n; u++)
                covariance[t][u] += own->noise_sd * own->noise_sd * response[t][s] * response[u][s];
        }
    for (int j = 0; j < all->clients; j++)
        if (j != k && hidden[j])
            covariance[n - 1][n - 1] += pow(all->release[j].weight * all->release[j].noise_sd, 2);
    return sqrt(mahalanobis2(n, covariance, shift));
}

/* mu of client k against somebody who sees the average and nothing else: all noise counts, as the maps reshape it. */
static double average_only_mu(const cohort *all, int k) {
    double variance = 0.0, gap = 0.0;
    for (int j = 0; j < all->clients; j++)
        for (int t = 0; t < all->steps; t++)
            variance += pow(all->release[j].weight * all->release[j].noise_sd * pow(all->a[j], t), 2);
    for (int t = 0; t < all->steps; t++) gap += all->release[k].sensitivity * pow(all->a[k], t);
    return all->release[k].weight * gap / sqrt(variance);
}

static void test_average_view_is_the_gaussian_algebra(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(1000); i++) {
        cohort all = random_cohort(&random);
        unsigned char everybody[MOST_CLIENTS];
        memset(everybody, 1, sizeof everybody);
        apply_view(&average, NULL, 0, all.release, all.clients);
        for (int k = 0; k < all.clients; k++) {
            double certified = mu_of(&all.release[k]);
            /* The factorisation of at most 3 x 3 with entries of similar size loses a few digits of 1e-16. */
            check_near(certified, chain_and_average_mu(&all, k, everybody), 1e-9, 0, "chain and average");
            assert_true(certified >= average_only_mu(&all, k) * (1 - 1e-13));
            mfpg_release local = all.release[k];
            local.last_sd = local.noise_sd;
            assert_true(certified <= mu_of(&local));
        }
    }
}

static void test_colluders_and_observers_take_their_noise_away(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(1000); i++) {
        cohort all = random_cohort(&random);
        unsigned char honest[MOST_CLIENTS] = {0};
        for (int j = 0; j < all.clients; j++) {
            all.colluder[j] = random_unit(&random) < 0.3;
            honest[j] = !all.colluder[j];
        }
        apply_view(&average, all.colluder, 1, all.release, all.clients);
        for (int k = 0; k < all.clients; k++) {
            double worst = all.clients > 1 ? 0.0 : chain_and_average_mu(&all, k, honest);
            for (int observer = 0; observer < all.clients; observer++) {
                if (observer == k) continue;
                unsigned char hidden[MOST_CLIENTS];
                memcpy(hidden, honest, sizeof hidden);
                hidden[observer] = 0;
                worst = fmax(worst, chain_and_average_mu(&all, k, hidden));
            }
            if (all.colluder[k]) /* it has given its own noise away: no more than the local view is claimed */
                assert_true(all.release[k].last_sd == all.release[k].noise_sd);
            else
                check_near(mu_of(&all.release[k]), worst, 1e-9, 0, "worst observer");
        }
    }
}

/* Theory S2.2: counting the others' early noise as if their maps kept it can be far too small. One client keeps its
 * state, nine forget theirs at every step. */
static void test_early_noise_of_the_others_does_not_count(void **state) {
    (void)state;
    cohort all = {.clients = 10, .steps = 3};
    for (int j = 0; j < all.clients; j++) {
        all.release[j] = release_of(1.0, 1.0);
        all.release[j].client = j;
        all.release[j].steps = 3;
        all.release[j].weight = 0.1;
        all.a[j] = j == 0 ? 1.0 : 0.0;
    }
    apply_view(&average, NULL, 0, all.release, all.clients);
    double exact = average_only_mu(&all, 0), naive = sqrt(3.0 / 10.0);
    assert_true(exact > 1.5 * naive);
    assert_true(mu_of(&all.release[0]) >= exact);
}

/* Row of kind secagg_step_mu: T226, ten equal clients, S 2, tau .1, e 1. */
static void test_equal_clients_share_their_noise(void **state) {
    (void)state;
    mfpg_release release[10];
    for (int j = 0; j < 10; j++) {
        release[j] = release_of(0.1 * 2.0, sqrt(2.0 * 1.0 * 0.1));
        release[j].client = j;
        release[j].weight = 0.1;
    }
    apply_view(&average, NULL, 0, release, 10);
    for (int j = 0; j < 10; j++) check_near(mu_of(&release[j]), 0.141421356237, 1e-9, 0, "T226");
    mfpg_promise final = average;
    final.view = MFPG_VIEW_FINAL; /* no hidden-state claim: as the average */
    apply_view(&final, NULL, 0, release, 10);
    for (int j = 0; j < 10; j++) check_near(mu_of(&release[j]), 0.141421356237, 1e-9, 0, "final");
    mfpg_promise local = average;
    local.view = MFPG_VIEW_LOCAL;
    apply_view(&local, NULL, 0, release, 10);
    for (int j = 0; j < 10; j++) assert_true(release[j].last_sd == release[j].noise_sd);
}

/* F16: ten clients, one with weight .9. Noise of sd z C/10 on the average, as if the weights were equal, is 1/9 of what
 * that client's contribution .9 C asks for: epsilon 78.07 and not 4.377 (z = 1, delta 1e-5). Here every client brings
 * a tenth of that variance. */
static void test_unequal_weights_are_not_ignored(void **state) {
    (void)state;
    mfpg_release release[10];
    for (int j = 0; j < 10; j++) {
        double weight = j == 0 ? 0.9 : 0.1 / 9;
        release[j] = release_of(1.0, 0.1 / sqrt(10.0) / weight);
        release[j].client = j;
        release[j].weight = weight;
    }
    apply_view(&average, NULL, 0, release, 10);
    check_near(release[0].last_sd, 1.0 / 9, 1e-14, 0, "effective multiplier");
    check_near(mfpg_gdp_epsilon(mu_of(&release[0]), 1e-5), 78.07, 0, 0.005, "F16");
    check_near(mfpg_gdp_epsilon(1.0, 1e-5), 4.377, 0, 0.0005, "F16 as if weights were equal");
    /* With noise of sd C each, the small ones hardly help the large one, and it helps them greatly. */
    for (int j = 0; j < 10; j++) release[j].noise_sd = 1.0;
    apply_view(&average, NULL, 0, release, 10);
    double whole = sqrt(0.81 + 9 * (0.1 / 9) * (0.1 / 9));
    check_near(release[0].last_sd, whole / 0.9, 1e-14, 0, "the large one");
    check_near(release[5].last_sd, whole / (0.1 / 9), 1e-14, 0, "a small one");
}

static void test_numbers_that_are_none_protect_nobody(void **state) {
    (void)state;
    mfpg_release release[3];
    for (int j = 0; j < 3; j++) {
        release[j] = release_of(1.0, 1.0);
        release[j].client = j;
        release[j].weight = 1.0 / 3;
    }
    release[1].noise_sd = NAN;
    release[2].noise_sd = HUGE_VAL;
    apply_view(&average, NULL, 0, release, 3);
    assert_true(release[0].last_sd == 1.0);
    assert_true(mu_of(&release[1]) == HUGE_VAL && mu_of(&release[2]) == HUGE_VAL);
    release[1].noise_sd = release[2].noise_sd = 1.0;
    release[1].weight = 0.0; /* its contribution is not in the sum */
    apply_view(&average, NULL, 0, release, 3);
    assert_true(release[1].last_sd == 1.0);
    check_near(release[0].last_sd, sqrt(2.0), 1e-14, 0, "two of three");
}

/* Against participants the two with the largest noise matter; a federation of one has nobody to hide behind. */
static void test_small_federations_fall_back_to_the_local_view(void **state) {
    (void)state;
    mfpg_release pair[2] = {release_of(1.0, 2.0), release_of(1.0, 3.0)};
    pair[1].client = 1;
    pair[0].weight = pair[1].weight = 0.5;
    apply_view(&average, NULL, 1, pair, 2);
    assert_true(pair[0].last_sd == 2.0 && pair[1].last_sd == 3.0);
    apply_view(&average, NULL, 0, pair, 2);
    check_near(pair[0].last_sd, sqrt(13.0), 1e-14, 0, "the server does not know the other's noise");
    pair[0].weight = 1.0;
    apply_view(&average, NULL, 0, pair, 1);
    check_near(pair[0].last_sd, 2.0, 1e-14, 0, "alone");
    apply_view(&average, NULL, 1, pair, 0);
}

/* ---- secure sums ---- */

/* The least noise in client k's units over every set of survivors with k and at least t members, and every choice of at
 * most c colluders among the others, those named included, each set tried by itself. only: NULL, or the one set of survivors. */
static double least_noise(const cohort *all, int k, int t, int c, double grid, const unsigned char *only) {
    double least = HUGE_VAL;
    for (unsigned set = 0; set < 1U << all->clients; set++) {
        int same = 1;
        for (int j = 0; only && j < all->clients; j++) same = same && only[j] == (set >> j & 1);
        if (!same || !(set >> k & 1) || __builtin_popcount(set) < t) continue;
        for (unsigned bad = 0; bad < 1U << all->clients; bad++) {
            if ((bad & set) != bad || bad >> k & 1 || __builtin_popcount(bad) > c) continue;
            double variance = 0.0;
            for (int j = 0; j < all->clients; j++) {
                double noise = all->release[j].weight * all->release[j].noise_sd;
                if (j != k && noise < 4 * grid) continue;
                if ((set & ~bad) >> j & 1) variance += noise * noise;
            }
            least = fmin(least, sqrt(variance) / all->release[k].weight);
        }
    }
    return fmax(least, all->release[k].noise_sd); /* the root may round below its own noise */
}

/* Some shares are too small for the grid, some of the c colluders are named. */
static void test_a_secure_sum_grants_the_noise_of_the_worst_allowed_set(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(150); i++) {
        cohort all = random_cohort(&random);
        all.clients = 3 + (int)(4 * random_unit(&random));
        int n = all.clients, k = (int)(n * random_unit(&random)), named = 0;
        for (int j = 0; j < n; j++) {
            all.release[j].weight = random_scale(&random, 0.02, 0.3);
            all.release[j].noise_sd = random_scale(&random, 0.1, 3);
            named += all.colluder[j] = j != k && random_unit(&random) < 0.2;
            all.release[j].client = j;
        }
        int c = named + (int)((n - 1 - named) * random_unit(&random));
        int t = (n + c) / 2 + 1 + (int)((n - (n + c) / 2) * random_unit(&random));
        if (t > n) t = n;
        double grid = mfpg_grid_for(
            4 * all.release[k].weight * all.release[k].noise_sd); /* some of the others are below it */
        mfpg_view_noise view = mfpg_view_start(&average, all.colluder, 1);
        mfpg_view_secure(&view, t, c);
        for (int j = 0; j < n; j++) all.release[j].grid = grid;
        for (int j = 0; j < n; j++) mfpg_view_rank(&view, &all.release[j]);
        for (int j = 0; j < n; j++) mfpg_view_add(&view, &all.release[j]);
        double granted = mfpg_view_last_sd(&view, &all.release[k]);
        double least = least_noise(&all, k, t, c, grid, NULL);
        assert_true(granted <= least && granted >= all.release[k].noise_sd);
        check_near(granted, least, 2e-13, 0, "worst set"); /* 512 roundings of 2.2e-16, downwards */
        unsigned char survives[MFPG_SUM_MOST] = {0};
        for (int j = 0, left = n - t; j < n; j++) {
            survives[j] = j == k || left == 0 || random_unit(&random) < 0.5;
            left -= !survives[j];
        }
        double known = mfpg_view_survived_sd(&view, &all.release[k], survives);
        assert_true(known >= granted);
        check_near(known, least_noise(&all, k, t, c, grid, survives), 2e-13, 0, "known survivors");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_secure_sum_grants_the_noise_of_the_worst_allowed_set),
        cmocka_unit_test(test_average_view_is_the_gaussian_algebra),
        cmocka_unit_test(test_colluders_and_observers_take_their_noise_away),
        cmocka_unit_test(test_early_noise_of_the_others_does_not_count),
        cmocka_unit_test(test_equal_clients_share_their_noise),
        cmocka_unit_test(test_unequal_weights_are_not_ignored),
        cmocka_unit_test(test_numbers_that_are_none_protect_nobody),
        cmocka_unit_test(test_small_federations_fall_back_to_the_local_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
