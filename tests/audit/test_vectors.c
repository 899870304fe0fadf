/* Every reference value of vectors.def, by the function that it is about. */
#include "testing.h"

#include "audit/planning.h"
#include "audit/inversion.h"
#include "numerics/special/laws.h"

typedef struct vector {
    const char *name, *kind, *parameters, *expected, *tolerance, *source;
} vector;

static const vector vectors[] = {
#define VECTOR(...) {__VA_ARGS__},
#include "vectors.def"
#undef VECTOR
};

enum { VECTORS = sizeof vectors / sizeof vectors[0], MOST = 256 };

/* The text behind key=; NULL where the row has none of that name. */
static const char *find(const vector *row, const char *key) {
    size_t length = strlen(key);
    for (const char *at = row->parameters; at; at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL)
        if (strncmp(at, key, length) == 0 && at[length] == '=') return at + length + 1;
    return NULL;
}

static double number(const vector *row, const char *key) {
    const char *text = find(row, key);
    if (!text) {
        print_error("%s: no parameter %s\n", row->name, key);
        fail();
        return (double)NAN;
    }
    return strtod(text, NULL);
}

static int64_t whole(const vector *row, const char *key) {
    return (int64_t)number(row, key);
}

static ptrdiff_t list(const char *text, double out[MOST]) {
    ptrdiff_t count = 0;
    char *end = NULL;
    for (; text && count < MOST; text = *end == '|' ? end + 1 : NULL) out[count++] = strtod(text, &end);
    return count;
}

static mfpg_error_counts errors(const vector *row) {
    return (mfpg_error_counts){whole(row, "fp"), whole(row, "n0"), whole(row, "fn"), whole(row, "n1")};
}

/* What a row asks for; one function a family of kinds. Returns how many numbers, 0 where the kind is of another family. */
static ptrdiff_t by_counts(const vector *row, double *out) {
    const char *kind = row->kind;
    mfpg_error_counts e;
    if (strcmp(kind, "cp_upper") == 0)
        *out = mfpg_proportion_upper(whole(row, "k"), whole(row, "n"), number(row, "alpha"));
    else if (strcmp(kind, "cp_lower") == 0)
        *out = mfpg_proportion_lower(whole(row, "k"), whole(row, "n"), number(row, "alpha"));
    else if (strcmp(kind, "eps_lower_two_error") == 0)
        e = errors(row), *out = mfpg_bound_epsilon_direct(&e, number(row, "delta"), number(row, "alpha"));
    else if (strcmp(kind, "mu_lower_two_error") == 0)
        e = errors(row), *out = plan_mu_two_error(&e, number(row, "alpha"));
    else if (strcmp(kind, "tv_lower") == 0)
        e = errors(row), *out = mfpg_bound_tv(&e, number(row, "alpha"));
    else if (strcmp(kind, "mu_lower_pair") == 0)
        *out = plan_mu_pairs(whole(row, "k"), whole(row, "n"), number(row, "alpha"));
    else if (strcmp(kind, "mu_lower_accuracy") == 0)
        *out = mfpg_bound_mu_accuracy(whole(row, "correct"), whole(row, "trials"), number(row, "alpha"));
    else
        return 0;
    return 1;
}

static ptrdiff_t by_ranks(const vector *row, double *out) {
    const char *kind = row->kind;
    if (strcmp(kind, "rank_null") == 0) {
        mfpg_rank_sum law = mfpg_rank_sum_law(number(row, "mu"), number(row, "n0"), number(row, "n1"));
        out[0] = law.mean;
        out[1] = law.sd;
        return 2;
    }
    if (strcmp(kind, "mu_lower_rank") == 0)
        *out =
            mfpg_bound_mu_rank(number(row, "auc"), whole(row, "n0"), whole(row, "n1"), number(row, "alpha"));
    else if (strcmp(kind, "rank_separation_pvalue") == 0)
        *out = mfpg_rank_separation(number(row, "mu"), number(row, "n"), number(row, "n"));
    else if (strcmp(kind, "auc_cap_sampled") == 0) {
        assert_true(number(row, "rounds") == 1);
        *out = plan_auc_cap_sampled(number(row, "q"), number(row, "mu"));
    } else if (strcmp(kind, "identification_cap") == 0)
        *out = mfpg_identification_cap(number(row, "mu"), whole(row, "candidates"));
    else
        return 0;
    return 1;
}

static ptrdiff_t by_few_runs(const vector *row, double *out) {
    const char *kind = row->kind;
    double share[MOST];
    if (strcmp(kind, "one_run_mu_plateau") == 0) {
        *out = plan_one_run_ceiling(number(row, "mu"), number(row, "alpha"));
        return 1;
    }
    if (strcmp(kind, "bet_log_wealth") == 0) {
        ptrdiff_t runs = list(find(row, "V"), share);
        *out = mfpg_bound_bet_log_wealth(share, runs, number(row, "q0"));
        return 1;
    }
    if (strncmp(kind, "one_run_", 8) != 0) return 0;
    int64_t m = whole(row, "m"), r = whole(row, "guesses"), w = whole(row, "correct");
    if (strcmp(kind, "one_run_pvalue") == 0)
        *out = mfpg_bound_one_run_pvalue(m, r, w, number(row, "eps"), number(row, "delta"));
    else if (strcmp(kind, "one_run_eps") == 0)
        *out = mfpg_bound_one_run_epsilon(m, r, w, number(row, "delta"), number(row, "alpha"));
    else
        *out = mfpg_bound_one_run_mu(m, r, w, number(row, "alpha"));
    return 1;
}

static ptrdiff_t by_planning(const vector *row, double *out) {
    const char *kind = row->kind;
    if (strncmp(kind, "power_", 6) == 0) {
        power_route route = strcmp(kind, "power_rank") == 0   ? POWER_RANK
                            : strcmp(kind, "power_pair") == 0 ? POWER_PAIRS
                                                              : POWER_TWO_ERROR;
        double mu = number(row, "mu");
        *out = plan_power(route, mu, mu * number(row, "ratio"), whole(row, "n"), number(row, "alpha"));
    } else if (strcmp(kind, "runs_to_detect_rank") == 0) {
        double promised = number(row, "promised");
        *out = (double)plan_runs_needed(
            promised * number(row, "factor"), promised, number(row, "alpha"), number(row, "power"));
    } else if (strcmp(kind, "noise_pvalue") == 0)
        *out = plan_noise_pvalue(number(row, "sum_sq_over_var"), number(row, "dof"));
    else if (strcmp(kind, "noise_dof_needed") == 0)
        *out = (double)plan_noise_entries_needed(
            number(row, "factor"), number(row, "alpha"), number(row, "power"));
    else if (strcmp(kind, "false_alarms_allowed") == 0)
        *out = (double)plan_false_alarms_allowed(whole(row, "audits"), number(row, "alpha"));
    else if (strcmp(kind, "dkw_halfwidth") == 0)
        *out = plan_band(whole(row, "n"), number(row, "alpha"));
    else
        return 0;
    return 1;
}

/* Closed forms of inversion and likeness of pictures. */
static ptrdiff_t by_inversion(const vector *row, double *out) {
    const char *kind = row->kind;
    double x[MOST], y[MOST], work[MOST];
    if (strncmp(kind, "invert_linear", 13) == 0) {
        ptrdiff_t inputs = (ptrdiff_t)whole(row, "inputs"), rows = list(find(row, "db"), y);
        assert_int_equal(list(find(row, "dW"), x), rows * inputs);
        if (strcmp(kind, "invert_linear_svd") == 0)
            mfpg_invert_singular(rows, inputs, x, y, out, work);
        else
            mfpg_invert_least_squares(rows, inputs, x, y, out);
        return inputs;
    }
    if (strcmp(kind, "invert_noise_prediction") == 0) {
        const prediction_of_inversion p = plan_inversion(number(row, "signal"), number(row, "sd"),
            (ptrdiff_t)whole(row, "rows"), number(row, "x2"), (ptrdiff_t)whole(row, "inputs"));
        out[0] = p.slope;
        out[1] = p.mse;
        return 2;
    }
    ptrdiff_t n = list(find(row, "x"), x);
    if (n != list(find(row, "y"), y)) return 0;
    if (strcmp(kind, "psnr") == 0)
        *out = mfpg_picture_psnr(n, x, y);
    else if (strcmp(kind, "ssim_global") == 0)
        *out = mfpg_picture_ssim(n, 1, x, y);
    else if (strcmp(kind, "pearson") == 0)
        *out = mfpg_picture_pearson(n, x, y);
    else
        return 0;
    return 1;
}

static void test_reference_values_are_met(void **state) {
    (void)state;
    for (int i = 0; i < VECTORS; i++) {
        const vector *row = &vectors[i];
        double got[MOST], expected[MOST];
        ptrdiff_t count = by_counts(row, got);
        if (count == 0) count = by_ranks(row, got);
        if (count == 0) count = by_few_runs(row, got);
        if (count == 0) count = by_planning(row, got);
        if (count == 0) count = by_inversion(row, got);
        if (count != list(row->expected, expected)) {
            print_error("%s: kind %s is not known\n", row->name, row->kind);
            fail();
        }
        double size = strchr(row->tolerance, ' ') ? strtod(strchr(row->tolerance, ' ') + 1, NULL) : 0.0;
        int relative = strncmp(row->tolerance, "rel", 3) == 0;
        for (ptrdiff_t j = 0; j < count; j++)
            check_near(got[j], expected[j], relative ? size : 0.0, relative ? 0.0 : size, row->name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference_values_are_met)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
