/* Every reference value of vectors.def, by the function or accountants that it is about. A bound may be looser than the
 * value, never below it; the accountants that claim to be tight have to be within the row's tolerance as well. */
#define TESTED_UNIT MFPG_UNIT_EXAMPLE
#include "accountants/accounting.h"
#include "accountants/fixture.h"
#include "accountants/renyi.h"

#include <ctype.h>
#include <time.h>

#include "mfpg/calibration.h"

typedef struct vector {
    const char *name, *kind, *parameters, *expected, *tolerance, *source;
} vector;

static const vector vectors[] = {
#define VECTOR(...) {__VA_ARGS__},
#include "vectors.def"
#undef VECTOR
};

enum { VECTORS = sizeof vectors / sizeof vectors[0], MOST_ORDERS = 255, MOST_BLOCKS = 4 };

/* ---- reading a row ---- */

/* The text of a parameter up to its semicolon, in a buffer of the caller; NULL where the row has none of that name. */
static const char *text_of(const vector *row, const char *key, char out[256]) {
    size_t length = strlen(key);
    for (const char *at = row->parameters; at; at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL) {
        if (strncmp(at, key, length) != 0 || at[length] != '=') continue;
        snprintf(out, 256, "%.*s", (int)strcspn(at + length + 1, ";"), at + length + 1);
        return out;
    }
    return NULL;
}

static double number_of(const vector *row, const char *key, double fallback) {
    char text[256];
    return text_of(row, key, text) ? strtod(text, NULL) : fallback;
}

/* A list "a|b|c", or "2..256 integers"; returns how many. */
static int list_of(const vector *row, const char *key, double out[MOST_ORDERS]) {
    char text[256];
    int count = 0;
    if (!text_of(row, key, text)) return 0;
    if (strstr(text, "..")) {
        int first = atoi(text), last = atoi(strstr(text, "..") + 2);
        for (int order = first; order <= last; order++) out[count++] = order;
        return count;
    }
    for (char *at = text; at && count < MOST_ORDERS; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        out[count++] = strtod(at, NULL);
    return count;
}

static int is_kind(const vector *row, const char *kind) {
    return strcmp(row->kind, kind) == 0;
}

/* What an answer to the row may be. A bound from above lies at least at low, one that is tight at most at high; a bound from
 * below lies at most at high_below. */
typedef struct allowed {
    double low, high, high_below;
} allowed;

static allowed allowed_of(const vector *row) {
    double value = strtod(row->expected, NULL),
           size = strchr(row->tolerance, '=') ? strtod(strchr(row->tolerance, '=') + 1, NULL) : 0;
    const char *kind = row->tolerance;
    if (strncmp(kind, "rel=", 4) == 0)
        return (allowed){value * (1 - size), value * (1 + size), value * (1 + size)};
    if (strncmp(kind, "abs=", 4) == 0) return (allowed){value - size, value + size, value + size};
    double slack = 1e-6 * fmax(1, value);
    if (strncmp(kind, "upper_abs=", 10) == 0) return (allowed){value - slack, value + size, value + slack};
    if (strncmp(kind, "upper_rel=", 10) == 0)
        return (allowed){value * (1 - 1e-5), value * (1 + size), value * (1 + 1e-5)};
    if (strcmp(kind, "bracket") == 0) {
        double high = strtod(strchr(row->expected, '|') + 1, NULL);
        return (allowed){value, high, high};
    }
    assert_string_equal(kind, "exact");
    return (allowed){value, value, value};
}

static void check_within(const vector *row, const char *who, double found) {
    allowed a = allowed_of(row);
    if (!(found >= a.low && found <= a.high))
        fail_msg("%s (%s) by %s: %.17g, allowed %.17g to %.17g (%s)", row->name, row->parameters, who, found,
            a.low, a.high, row->source);
}

/* ---- accountants on the row's schedule ---- */

typedef struct job {
    mfpg_context *ctx;
    const vector *row;
    mfpg_accountant_options options;
    mfpg_release block[MOST_BLOCKS];
    int blocks;
    double orders[MOST_ORDERS];
    mfpg_status refusal; /* of the schedule: steps that are no whole number */
} job;

static void add_block(job *j, double rate, double noise, double steps) {
    assert_true(j->blocks < MOST_BLOCKS);
    if (!(steps >= 0 && steps == floor(steps)))
        j->refusal = MFPG_ERR_DOMAIN; /* the type holds nothing else */
    j->block[j->blocks] = release_of(1, noise);
    j->block[j->blocks].sampling_rate = rate;
    j->block[j->blocks++].steps = isfinite(steps) ? (int64_t)steps : 0;
}

static job job_of(mfpg_context *ctx, const vector *row) {
    job j = {.ctx = ctx, .row = row, .options = mfpg_accountant_options_default()};
    char text[256];
    j.options.promise.unit = MFPG_UNIT_EXAMPLE;
    if (text_of(row, "adjacency", text) && strcmp(text, "remove") == 0)
        j.options.promise.adjacency = MFPG_ADJACENCY_REMOVE;
    if (text_of(row, "adjacency", text) && strcmp(text, "add") == 0)
        j.options.promise.adjacency = MFPG_ADJACENCY_ADD;
    j.options.order_count = list_of(row, "orders", j.orders);
    if (text_of(row, "blocks", text)) {
        for (char *at = text; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
            double rate, noise, steps;
            assert_int_equal(sscanf(at, "%lf:%lf:%lf", &rate, &noise, &steps), 3);
            add_block(&j, rate, noise, steps);
        }
    } else {
        add_block(&j, number_of(row, "q", 1), number_of(row, "sigma", 1), number_of(row, "T", 1));
    }
    return j;
}

static mfpg_status accountant_of(const job *j, const char *name, mfpg_accountant **out) {
    mfpg_accountant_options options = j->options;
    mfpg_accountant *made = NULL;
    if (options.order_count > 0) options.orders = j->orders;
    mfpg_status status = j->refusal;
    if (status == MFPG_OK) status = mfpg_accountant_create(j->ctx, name, &options, &made);
    for (int i = 0; i < j->blocks && status == MFPG_OK; i++)
        status = mfpg_accountant_record(j->ctx, made, &j->block[i]);
    if (status == MFPG_OK)
        *out = made;
    else
        mfpg_accountant_destroy(made);
    return status;
}

/* epsilon, or delta where the row gives an epsilon. */
static mfpg_status ask(const job *j, const char *name, mfpg_bounds *out) {
    mfpg_accountant *accountant = NULL;
    double epsilon = number_of(j->row, "eps", (double)NAN), delta = number_of(j->row, "delta", (double)NAN);
    mfpg_status status = accountant_of(j, name, &accountant);
    if (status == MFPG_OK)
        status = isnan(epsilon) ? mfpg_accountant_epsilon_bounds(j->ctx, accountant, delta, out)
                                : mfpg_accountant_delta_bounds(j->ctx, accountant, epsilon, out);
    mfpg_accountant_destroy(accountant);
    return status;
}

static int certifies_parameters(mfpg_context *ctx, const char *name) {
    mfpg_accountant *probe = NULL;
    CHECK_OK(ctx, mfpg_accountant_create(ctx, name, NULL, &probe));
    int yes =
        mfpg_accountant_certifies(probe) && mfpg_accountant_particles(probe) == MFPG_PARTICLES_PARAMETERS;
    mfpg_accountant_destroy(probe);
    return yes;
}

/* Those whose answers are meant to be the number itself. */
static int is_tight(const char *name) {
    return strcmp(name, "exact") == 0 || strcmp(name, "pld") == 0;
}

/* What takes long without optimisation is asked where there is time: MFPG_LONG, or a scale above 1. A row without an
 * accountant is left out as a whole. */
static int is_left_for_later(const vector *row, const char *accountant) {
    static const struct {
        const char *row, *accountant;
    } slow[] = {{"A029", NULL}, {"A068", NULL}, {"A341", NULL}, {"A062", "pld"}, {"A067", "pld"},
        {"A074", "pld"}, {"A080", "pld"}, {"A086", "pld"}, {"A110", "pld"}, {"A115", "pld"}, {"A118", "pld"},
        {"A119", "pld"}, {"A121", "pld"}, {"A331", "pld"}};
    if (getenv("MFPG_LONG") || testing_repeats(1) > 1) return 0;
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++)
        if (strcmp(slow[i].row, row->name) == 0 &&
            (!slow[i].accountant || strcmp(slow[i].accountant, accountant) == 0))
            return 1;
    return 0;
}

/* ---- kinds of rows ---- */

/* The upper end of a bracket is another bound of the kind of pld, on a grid that was chosen finer: pld aims at 2e-4. */
static void check_beside_bracket(const vector *row, double found) {
    allowed a = allowed_of(row);
    if (!(found >= a.low && found <= a.high + 4e-4 * fmin(1.0, a.high)))
        fail_msg("%s (%s) by pld: %.17g, bracket %.17g to %.17g", row->name, row->parameters, found, a.low,
            a.high);
}

static void check_tight_row(mfpg_context *ctx, const vector *row) {
    const job j = job_of(ctx, row);
    allowed a = allowed_of(row);
    for (ptrdiff_t i = 0; mfpg_kind_name(&mfpg_accountants, i); i++) {
        const char *name = mfpg_kind_name(&mfpg_accountants, i);
        mfpg_bounds found;
        if (!certifies_parameters(ctx, name) || is_left_for_later(row, name)) continue;
        CHECK_OK(ctx, ask(&j, name, &found));
        if (!(found.upper >= a.low) || !(found.lower <= a.high_below) || !(found.lower <= found.upper))
            fail_msg("%s (%s) by %s: %.17g to %.17g is no enclosure of %s (%s)", row->name, row->parameters,
                name, found.lower, found.upper, row->expected, row->source);
        int rough = strcmp(row->tolerance, "bracket") == 0 && strcmp(name, "pld") == 0;
        if (is_tight(name) && !rough) check_within(row, name, found.upper);
        if (rough) check_beside_bracket(row, found.upper);
    }
}

/* The estimate of the central limit theorem is below the truth here (F13): nobody may return it. */
static void check_clt_row(mfpg_context *ctx, const vector *row) {
    const job j = job_of(ctx, row);
    const mfpg_release *block = &j.block[0];
    double reach = 1 / block->noise_sd;
    double mu = block->sampling_rate * sqrt((double)block->steps * expm1(reach * reach));
    check_within(row, "the estimate", mfpg_gdp_epsilon(mu, number_of(row, "delta", 0)));
    for (ptrdiff_t i = 0; mfpg_kind_name(&mfpg_accountants, i); i++) {
        mfpg_bounds found;
        if (!certifies_parameters(ctx, mfpg_kind_name(&mfpg_accountants, i))) continue;
        if (is_left_for_later(row, mfpg_kind_name(&mfpg_accountants, i))) continue;
        CHECK_OK(ctx, ask(&j, mfpg_kind_name(&mfpg_accountants, i), &found));
        assert_true(found.upper > allowed_of(row).high);
        /* source: field_failures F13: the tight value is 1.9608 */
        if (strcmp(row->name, "A061") == 0) assert_true(found.upper >= 1.96075);
    }
}

static void check_analytic_row(const vector *row) {
    double epsilon = number_of(row, "eps", 0), delta = number_of(row, "delta", 0);
    double noise = mfpg_calibrate_noise(epsilon, delta, number_of(row, "sensitivity", 1));
    if (strncmp(row->kind, "error_", 6) == 0)
        assert_true(isinf(noise)); /* no noise is enough for what cannot be asked */
    else
        check_within(row, "mfpg_calibrate_noise", noise);
}

static void check_rdp_row(mfpg_context *ctx, const vector *row) {
    const job j = job_of(ctx, row);
    mfpg_accountant *accountant = NULL;
    job plain = j;
    plain.options.order_count = 0;
    CHECK_OK(ctx, accountant_of(&plain, "rdp", &accountant));
    double found = mfpg_accountant_renyi(accountant, number_of(row, "order", (double)NAN));
    mfpg_accountant_destroy(accountant);
    if (strncmp(row->kind, "error_", 6) == 0)
        assert_true(isinf(found));
    else
        check_within(row, "rdp", found);
}

static void check_conversion_row(const vector *row) {
    double orders[MOST_ORDERS], rdp[MOST_ORDERS], best = (double)INFINITY;
    double epsilon = number_of(row, "eps", 0), delta = number_of(row, "delta", 0);
    char method[256];
    int count = list_of(row, "orders", orders), to_delta = strstr(row->kind, "to_delta") != NULL;
    int classic = strcmp(text_of(row, "method", method), "classic") == 0;
    if (list_of(row, "rdp", rdp) != count) {
        assert_true(
            is_kind(row, "error_rdp_to_eps")); /* a function of one order cannot be called like this */
        return;
    }
    for (int i = 0; i < count; i++)
        best = fmin(best, to_delta  ? mfpg_rdp_delta(rdp[i], orders[i], epsilon)
                          : classic ? mfpg_rdp_epsilon_classic(rdp[i], orders[i], delta)
                                    : mfpg_rdp_epsilon(rdp[i], orders[i], delta));
    if (strncmp(row->kind, "error_", 6) == 0)
        assert_true(isinf(best));
    else if (to_delta && strtod(row->expected, NULL) == 0)
        assert_true(best <= 0x1p-1022); /* e^-2948, which is no double: rounded up, it is not 0 */
    else
        check_within(row, row->kind, best);
}

static void check_rdp_epsilon_row(mfpg_context *ctx, const vector *row) {
    const job j = job_of(ctx, row);
    mfpg_bounds found;
    CHECK_OK(ctx, ask(&j, "rdp", &found));
    check_within(row, "rdp", found.upper);
}

static void check_refused_row(mfpg_context *ctx, const vector *row) {
    const job j = job_of(ctx, row);
    for (ptrdiff_t i = 0; mfpg_kind_name(&mfpg_accountants, i); i++) {
        mfpg_bounds found = {0, 0};
        if (!certifies_parameters(ctx, mfpg_kind_name(&mfpg_accountants, i))) continue;
        if (ask(&j, mfpg_kind_name(&mfpg_accountants, i), &found) == MFPG_OK)
            fail_msg(
                "%s (%s): answered by %s", row->name, row->parameters, mfpg_kind_name(&mfpg_accountants, i));
    }
}

/* accountant=exact: all accountants agree without sampling. pld: those that are tight; the others need more noise. */
static void check_calibration_row(mfpg_context *ctx, const vector *row) {
    static const char *const names[] = {"gdp", "rdp", "exact", "pld"};
    const job j = job_of(ctx, row);
    char wanted[256];
    text_of(row, "accountant", wanted);
    for (int i = 0; i < 4; i++) {
        if (is_left_for_later(row, names[i])) continue;
        int tight = strcmp(wanted, "pld") == 0, sampled = j.block[0].sampling_rate < 1;
        if (strcmp(wanted, "rdp") == 0 && strcmp(names[i], "rdp") != 0) continue;
        mfpg_accountant_options options = j.options;
        if (options.order_count > 0) options.orders = j.orders;
        const mfpg_calibration_options asked = {.accountant = names[i],
            .options = &options,
            .epsilon = number_of(row, "target_eps", 0),
            .delta = number_of(row, "delta", 0),
            .schedule = j.block,
            .count = 1};
        mfpg_calibration found;
        CHECK_OK(ctx, mfpg_calibrate(ctx, &asked, &found));
        assert_true(found.epsilon.upper <= asked.epsilon);
        if (!tight || !sampled || is_tight(names[i]))
            check_within(row, names[i], found.value);
        else
            assert_true(found.value > allowed_of(row).low);
    }
}

static void check_row(mfpg_context *ctx, const vector *row) {
    if (is_kind(row, "analytic_gaussian") || is_kind(row, "error_analytic_gaussian"))
        check_analytic_row(row);
    else if (is_kind(row, "rdp_gaussian") || strstr(row->kind, "rdp_sampled_gaussian"))
        check_rdp_row(ctx, row);
    else if (strstr(row->kind, "rdp_to_"))
        check_conversion_row(row);
    else if (is_kind(row, "eps_rdp") || is_kind(row, "hetero_eps_rdp"))
        check_rdp_epsilon_row(ctx, row);
    else if (is_kind(row, "error_eps_rdp") || is_kind(row, "error_eps_pld"))
        check_refused_row(ctx, row);
    else if (is_kind(row, "sigma_calibration"))
        check_calibration_row(ctx, row);
    else if (is_kind(row, "eps_gdp_clt"))
        check_clt_row(ctx, row);
    else if (strstr(row->kind, "_pld"))
        check_tight_row(ctx, row);
    else
        fail_msg("%s: nobody knows rows of kind %s", row->name, row->kind);
}

/* ---- tests: by kind, so that a failure says which ---- */

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Rows whose kind holds the text. */
static void check_kinds(const char *text, int least) {
    mfpg_context *ctx = testing_context(1);
    int count = 0;
    for (int i = 0; i < VECTORS; i++) {
        if (!strstr(vectors[i].kind, text)) continue;
        count++;
        double start = seconds();
        check_row(ctx, &vectors[i]);
        double spent = seconds() - start;
        if (getenv("MFPG_TEST_TIMES") && spent > 0.02) print_message("%s: %.3f s\n", vectors[i].name, spent);
    }
    assert_true(count >= least);
    mfpg_context_destroy(ctx);
}

static void test_every_row_is_of_a_kind_that_is_tested(void **state) {
    (void)state;
    static const char *const kinds[] = {"analytic_gaussian", "rdp_gaussian", "rdp_sampled_gaussian",
        "rdp_to_", "eps_rdp", "eps_gdp_clt", "_pld", "sigma_calibration"};
    assert_int_equal(VECTORS, 229);
    for (int i = 0; i < VECTORS; i++) {
        int found = 0;
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            found |= strstr(vectors[i].kind, kinds[k]) != NULL;
        assert_true(found);
    }
}

static void test_the_analytic_gaussian(void **state) {
    (void)state;
    check_kinds("analytic_gaussian", 14);
}
static void test_renyi_divergences(void **state) {
    (void)state;
    check_kinds("rdp_gaussian", 7);
    check_kinds("rdp_sampled_gaussian", 54);
}
static void test_renyi_conversions(void **state) {
    (void)state;
    check_kinds("rdp_to_", 31);
}
static void test_epsilon_by_renyi_orders(void **state) {
    (void)state;
    check_kinds("eps_rdp", 16);
}
static void test_bounds_are_never_below_the_tight_values(void **state) {
    (void)state;
    check_kinds("_pld", 95);
}
static void test_nobody_returns_the_central_limit(void **state) {
    (void)state;
    check_kinds("eps_gdp_clt", 2);
}
static void test_calibrated_noise(void **state) {
    (void)state;
    check_kinds("sigma_calibration", 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_is_of_a_kind_that_is_tested),
        cmocka_unit_test(test_the_analytic_gaussian),
        cmocka_unit_test(test_renyi_divergences),
        cmocka_unit_test(test_renyi_conversions),
        cmocka_unit_test(test_epsilon_by_renyi_orders),
        cmocka_unit_test(test_bounds_are_never_below_the_tight_values),
        cmocka_unit_test(test_nobody_returns_the_central_limit),
        cmocka_unit_test(test_calibrated_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
