/* mfpg account: numbers against references, combinations of options, JSON, ledgers. */
#include "cli/ledger.h"

/* Fields of the interface, in its order. */
static const char *const fields[] = {"epsilon", "delta", "mu", "rdp", "lower", "upper", "accountant",
    "adjacency", "unit", "view", "assumptions", "certificate"};

static void check_fields(const json_t *object) {
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (!json_object_get(object, fields[i])) fail_msg("no field %s", fields[i]);
    assert_int_equal(json_object_size(object), sizeof fields / sizeof fields[0]);
    assert_true(json_array_size(json_object_get(object, "assumptions")) > 0);
}

static void test_epsilon_meets_the_references_from_above(void **state) {
    (void)state;
    const struct {
        const char *arguments;
        double epsilon;
    } rows[] = {
        /* source: accountant_vectors A076, A077, A092, A094, A098, A109 (exact Gaussian composition by mpmath) */
        {"--noise-multiplier 0.05 --delta 1e-5", 284.39184949774245},
        {"--noise-multiplier 2 --steps 4 --delta 0.6", 0},
        {"--noise-multiplier 100 --steps 1000000 --delta 1e-6", 96.717271963867699},
        {"--noise-multiplier 30 --steps 3 --delta 0.001", 0.1006042541398415},
        {"--noise-multiplier 100", 0.027219419814577135},
        {"--noise-multiplier 1 --delta 1e-12", 7.2384944201788584},
        {"--mechanism gaussian --blocks 1:1:1 --delta 1e-12", 7.2384944201788584},
        {"--noise-multiplier 3 --sensitivity 3 --delta 1e-12", 7.2384944201788584},
        {"--noise-multiplier 2 --adjacency replace --delta 1e-12 --clip 7", 7.2384944201788584},
        /* source: theory_vectors T106, T107 */
        {"--mu 1 --delta 1e-6", 4.88655411746},
        {"--mu 1.5 --steps 4", 16.6754944028},
        /* the same mu by blocks of different noise: 1/4 + 8/36 + 19/36 = 1 */
        {"--blocks 1:2:1,1:6:8,1:6:19 --delta 1e-6", 4.88655411746},
        /* an entropic step has mu = S sqrt(tau / 2e) (theory S2.2): 2 sqrt(10 0.1 / 8) = 1/sqrt 2, twice that for S = 4 */
        {"--strength 4 --step 0.1 --steps 20 --sensitivity 2 --delta 1e-6", 4.88655411746},
        {"--strength 4 --steps 20 --clip 1 --adjacency replace --delta 1e-6", 4.88655411746},
        {"--mechanism entropic --strength 1 --steps 20 --clip 1 --adjacency add --delta 1e-6", 4.88655411746},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char command[256];
        snprintf(command, sizeof command, "account %s --json", rows[i].arguments);
        json_t *object = run_json(command);
        check_fields(object);
        double epsilon = json_get_number(object, "epsilon");
        /* the theory vectors have 12 digits, the others 15 and more; never below, less than 1e-6 above */
        if (!(epsilon >= rows[i].epsilon * (1 - 1e-11) && epsilon <= rows[i].epsilon + 1e-6))
            fail_msg("%s: epsilon %.17g, expected %.17g", rows[i].arguments, epsilon, rows[i].epsilon);
        assert_true(json_get_number(object, "lower") <= rows[i].epsilon * (1 + 1e-11));
        assert_true(json_get_number(object, "upper") == epsilon);
        assert_true(json_is_true(json_object_get(object, "certificate")));
        json_decref(object);
    }
}

static void test_delta_meets_the_references_from_above(void **state) {
    (void)state;
    const struct {
        const char *arguments;
        double delta;
    } rows[] = {
        /* source: accountant_vectors A022, A038, A052 (exact hockey stick by mpmath) */
        {"--noise-multiplier 0.5 --steps 2 --epsilon 8", 0.045724181792315267},
        {"--noise-multiplier 1 --epsilon 0", 0.38292492254802621},
        {"--noise-multiplier 10 --steps 100 --epsilon 0.5", 0.23842170813487663},
        {"--noise-multiplier 10 --steps 0 --epsilon 0", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char command[256];
        snprintf(command, sizeof command, "account %s --json", rows[i].arguments);
        json_t *object = run_json(command);
        double delta = json_get_number(object, "delta");
        /* rounding of doubles below, 1e-6 of itself above */
        if (!(delta >= rows[i].delta * (1 - 1e-14) && delta <= rows[i].delta * (1 + 1e-6)))
            fail_msg("%s: delta %.17g, expected %.17g", rows[i].arguments, delta, rows[i].delta);
        json_decref(object);
    }
}

/* source: field_failures F1: add/remove 4.3772, replace-one 9.9973 */
static void test_replace_doubles_the_sensitivity(void **state) {
    (void)state;
    const struct {
        const char *adjacency;
        double epsilon;
    } rows[] = {{"add", 4.3772}, {"remove", 4.3772}, {"zero-out", 4.3772}, {"replace", 9.9973}};
    for (int i = 0; i < 4; i++) {
        char command[256];
        snprintf(
            command, sizeof command, "account --noise-multiplier 1 --adjacency %s --json", rows[i].adjacency);
        json_t *object = run_json(command);
        check_near(json_get_number(object, "epsilon"), rows[i].epsilon, 0, 1e-4, rows[i].adjacency);
        assert_string_equal(json_string_value(json_object_get(object, "adjacency")), rows[i].adjacency);
        json_decref(object);
    }
}

static void check_epsilon(const char *arguments, double expected) {
    json_t *object = run_json(arguments);
    double epsilon = json_get_number(object, "epsilon");
    if (epsilon != expected) fail_msg("mfpg %s: epsilon %g, expected %g", arguments, epsilon, expected);
    json_decref(object);
}

static void test_limits_are_infinity_or_nothing(void **state) {
    (void)state;
    check_epsilon("account --noise-multiplier 0 --json", (double)INFINITY);
    check_epsilon("account --strength 0 --json", (double)INFINITY);
    check_epsilon("account --noise-multiplier 1 --delta 0 --json", (double)INFINITY);
    check_epsilon("account --noise-multiplier 0 --steps 0 --json", 0);
    check_epsilon("account --noise-multiplier 0 --steps 0 --delta 0 --json", 0);
    check_epsilon("account --noise-multiplier 0 --sampling-rate 0 --json", 0);
    check_epsilon("account --mu 0 --delta 0 --json", 0);
    check_epsilon("account --blocks 1:0:1 --json", (double)INFINITY);
    check_epsilon("account --blocks 1:0:0,0:0:5 --json", 0);
    /* what has no bound is no certificate */
    static const char *const without[] = {"--noise-multiplier 0", "--noise-multiplier 0 --epsilon 3",
        "--strength 0", "--noise-multiplier 1 --delta 0", "--blocks 1:0:1",
        "--noise-multiplier 0 --sampling-rate 0.1 --accountant rdp"};
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
        char command[128];
        snprintf(command, sizeof command, "account %s --json", without[i]);
        json_t *object = run_json(command);
        assert_true(json_is_false(json_object_get(object, "certificate")));
        assert_true(json_array_size(json_object_get(object, "assumptions")) > 0);
        json_decref(object);
    }
    expect("account --noise-multiplier 0 --epsilon 3", 0);
    assert_non_null(strstr(ran.out, "no: nothing is promised"));
    expect("account --noise-multiplier 0", 0);
    assert_non_null(strstr(ran.out, "inf"));
}

/* source: field_failures F6: tight 1.8282, Renyi 2.1014; exact_accountant.md: 2.38159692, Renyi 2.5966 */
static void test_poisson_sampling_is_credited(void **state) {
    (void)state;
    json_t *object =
        run_json("account --noise-multiplier 1 --sampling-rate 0.01 --steps 1000 --delta 1e-5 --json");
    check_fields(object);
    double epsilon = json_get_number(object, "epsilon");
    assert_true(epsilon >= 1.82823666 && epsilon <= 1.82823668);
    assert_string_equal(json_string_value(json_object_get(object, "accountant")), "exact");
    assert_string_equal(json_string_value(json_object_get(object, "unit")), "example");
    assert_true(json_is_null(json_object_get(object, "mu")));
    assert_true(json_get_number(object, "lower") >= epsilon - 1e-6);
    assert_non_null(strstr(ran.out, "Poisson sampling"));
    assert_null(strstr(ran.out, "not credited"));
    json_decref(object);
    object = run_json("account --blocks 0.01:1:400,0.01:1:600 --adjacency remove --json");
    check_near(json_get_number(object, "epsilon"), epsilon, 1e-12, 0, "the same in blocks");
    json_decref(object);
    object =
        run_json("account --noise-multiplier 1.1 --sampling-rate 0.0042666666666666667 --steps 14062 --json");
    epsilon = json_get_number(object, "epsilon");
    assert_true(epsilon >= 2.38159692 && epsilon <= 2.5966);
    json_decref(object);
    object =
        run_json("account --noise-multiplier 1 --sampling-rate 0.01 --steps 1000 --adjacency replace --json");
    assert_true(json_get_number(object, "epsilon") > 2.1013);
    json_decref(object);
}

/* One direction alone, and zero-out as the larger of the two; both ends of the answer, as near as they are asked to be. */
static void test_directions_and_widths_are_those_asked_for(void **state) {
    (void)state;
    const struct {
        const char *arguments;
        double value;
    } rows[] = {
        /* source: accountant_vectors A070, A107 (contour inversion), A169, A175 */
        {"--noise-multiplier 1 --sampling-rate 0.01 --steps 10000 --adjacency add", 5.6115086176523645},
        {"--noise-multiplier 1 --sampling-rate 0.01 --steps 10000 --adjacency remove", 6.187712389971957},
        {"--noise-multiplier 1 --sampling-rate 0.01 --steps 10000 --adjacency zero-out", 6.187712389971957},
        {"--blocks 0.1:3:200,0.05:2:300,0.01:0.8:100 --delta 1e-8 --adjacency remove", 4.363595940440304},
        {"--blocks 0.1:3:200,0.05:2:300,0.01:0.8:100 --delta 1e-8 --adjacency add", 3.6003435052247834},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char command[256];
        snprintf(
            command, sizeof command, "account %s --accountant exact --width 1e-7 --json", rows[i].arguments);
        json_t *object = run_json(command);
        double lower = json_get_number(object, "lower"), upper = json_get_number(object, "upper");
        if (!(lower <= rows[i].value * (1 + 1e-7) && upper >= rows[i].value * (1 - 1e-7)))
            fail_msg("%s: %.17g to %.17g", command, lower, upper);
        assert_true(upper - lower <= 1e-6 && json_get_number(object, "epsilon") == upper);
        json_decref(object);
    }
    REFUSED("account --noise-multiplier 1 --width 1e-3 --accountant rdp",
        "--width belongs to --accountant exact");
    REFUSED("account --noise-multiplier 1 --width 1e-3 --order 2", "--width belongs to --accountant exact");
    json_t *object = run_json("account --noise-multiplier 1 --width 1e-3 --json");
    assert_string_equal(json_string_value(json_object_get(object, "accountant")), "exact");
    json_decref(object);
}

/* No number of steps, delta or noise that may be typed keeps the program busy for long. */
static void test_extreme_schedules_end(void **state) {
    (void)state;
    static const char *const hard[] = {
        "--noise-multiplier 50 --sampling-rate 1e-3 --steps 1000000000 --delta 1e-15",
        "--noise-multiplier 1 --sampling-rate 1e-3 --steps 1000000000 --delta 1e-15",
        "--noise-multiplier 5 --sampling-rate 1e-5 --steps 1000000000 --delta 1e-15 --adjacency replace",
        "--noise-multiplier 0.01 --sampling-rate 0.01 --steps 1000",
        "--noise-multiplier 1e-300 --sampling-rate 0.5",
        "--noise-multiplier 1e300 --sampling-rate 1e-300 --steps 9007199254740992",
        "--noise-multiplier 1 --steps 9007199254740992 --delta 1e-300", "--mu 1e-300", "--mu 1e300",
        "--noise-multiplier 2 --sampling-rate 0.3 --steps 1000000000 --epsilon 1e308"};
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++) {
        char command[256];
        snprintf(command, sizeof command, "account %s --json", hard[i]);
        json_t *object = run_json(command);
        double epsilon = json_get_number(object, "epsilon"), delta = json_get_number(object, "delta");
        assert_true(epsilon >= 0 && delta >= 0 && delta <= 1);
        assert_true(json_get_number(object, "lower") <= json_get_number(object, "upper"));
        json_decref(object);
    }
}

/* A case that no enclosure is found for, and one that has one: only the first says so. */
static void test_a_wide_enclosure_says_so(void **state) {
    (void)state;
    expect("account --noise-multiplier 0.34 --sampling-rate 1.3e-6 --steps 286 --delta 2.9e-5", 0);
    assert_non_null(strstr(ran.out, "further apart than the width 1e-06"));
    expect("account --noise-multiplier 1 --sampling-rate 0.01 --steps 1000", 0);
    assert_null(strstr(ran.out, "further apart"));
}

static void test_orders_are_printed_and_restrict(void **state) {
    (void)state;
    /* source: accountant_vectors A221 (mpmath): order 3.5, q .01, sigma 1 */
    json_t *object = run_json("account --order 3.5 --noise-multiplier 1 --sampling-rate 0.01 --json");
    check_fields(object);
    check_near(json_get_number(object, "rdp"), 0.00031311663858379341, 1e-9, 0, "A221");
    assert_string_equal(json_string_value(json_object_get(object, "accountant")), "rdp");
    json_decref(object);
    /* source: A241: the Kullback-Leibler limit */
    object =
        run_json("account --accountant rdp --order 1 --noise-multiplier 0.8 --sampling-rate 0.004 --json");
    check_near(json_get_number(object, "rdp"), 2.9287003272036259e-5, 1e-9, 0, "A241");
    json_decref(object);
    /* source: A200: 1.5 / (2 0.3^2); several steps add up */
    object = run_json("account --order 1.5 --noise-multiplier 0.3 --steps 4 --json");
    check_near(json_get_number(object, "rdp"), 4 * 8.333333333333334, 1e-12, 0, "A200");
    json_decref(object);
    object = run_json(
        "account --order 2,4,7,8,9,32 --noise-multiplier 1 --sampling-rate 0.01 --steps 1000 --json");
    /* source: A136: orders 2..256, best at 8 */
    check_near(json_get_number(object, "epsilon"), 2.1077530754515653, 1e-9, 0, "A136");
    assert_true(json_is_null(json_object_get(object, "rdp")));
    json_decref(object);
    REFUSED("account --noise-multiplier 1 --order 0.5", "--order: found '0.5'", "numbers from 1");
    REFUSED("account --noise-multiplier 1 --order nan", "--order");
    REFUSED("account --noise-multiplier 1 --order 2,,3", "--order");
    REFUSED("account --noise-multiplier 1 --order 2 --accountant gdp", "--order belongs to --accountant rdp");
}

static void test_gdp_does_not_credit_sampling_and_says_so(void **state) {
    (void)state;
    json_t *all = run_json("account --noise-multiplier 1 --steps 10 --json");
    json_t *some =
        run_json("account --accountant gdp --noise-multiplier 1 --steps 10 --sampling-rate 0.01 --json");
    assert_true(json_get_number(all, "epsilon") == json_get_number(some, "epsilon"));
    assert_true(json_get_number(some, "lower") == 0);
    assert_true(json_get_number(all, "lower") > 0);
    assert_non_null(strstr(ran.out, "sampling rate 0.01 is not credited"));
    json_decref(all);
    json_decref(some);
}

static void test_the_papers_formulas_certify_nothing(void **state) {
    (void)state;
    /* source: interface.md, suite paper: T/z^2 + ln(1/delta) with z = sqrt(2 ln(1.25/delta)): 11.94 at T = 10 */
    json_t *object =
        run_json("account --accountant paper_rdp --noise-multiplier 4.844805262605389 --steps 10 --json");
    check_near(json_get_number(object, "epsilon"), 11.94, 0, 0.005, "paper_rdp");
    assert_true(json_is_false(json_object_get(object, "certificate")));
    assert_null(strstr(ran.out, "uarantee"));
    json_decref(object);
    /* source: paper_table.csv, mfpg quadratic: strength 2, delta 0.61 = exp(-0.495) */
    object = run_json(
        "account --accountant paper_lsi --strength 2 --dimension 5 --population 5 --steps 10 --json");
    assert_true(json_get_number(object, "epsilon") == 2);
    check_near(json_get_number(object, "delta"), exp(-0.495), 1e-12, 0, "paper_lsi");
    assert_true(json_is_null(json_object_get(object, "upper")));
    assert_true(json_is_false(json_object_get(object, "certificate")));
    json_decref(object);
    expect("account --accountant paper_lsi --strength 2", 0);
    assert_null(strstr(ran.out, "uarantee"));
    assert_non_null(strstr(ran.out, "no:"));
    REFUSED("account --accountant paper_rdp --noise-multiplier 1 --epsilon 1", "paper_rdp has no delta");
    REFUSED("account --accountant paper_lsi --noise-multiplier 1", "strength");
}

static void test_wrong_numbers_are_refused(void **state) {
    (void)state;
    /* every number of the command: what is none, out of range or not finite is refused with the option's name */
    static const char *const every[] = {"nan", "inf", "-inf", "0x1", "''", "1e999", "1x", "-1", "-1e-300"};
    static const char *const numbers[] = {"noise-multiplier", "sampling-rate", "steps", "mu", "strength",
        "step", "clip", "sensitivity", "delta", "epsilon", "width", "dimension", "population",
        "prior-variance", "variance-penalty", "gradient-norm", "input-smoothness"};
    static const char *const more[] = {"sampling-rate", "1.1", "steps", "2.5", "steps", "1e17", "step", "0",
        "clip", "0", "delta", "1", "delta", "1.5", "width", "0", "dimension", "0.5", "population", "0",
        "prior-variance", "0"};
    char command[128], option[32];
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        for (size_t j = 0; j < sizeof every / sizeof every[0]; j++) {
            snprintf(command, sizeof command, "account --%s %s", numbers[i], every[j]);
            snprintf(option, sizeof option, "--%s: found", numbers[i]);
            REFUSED(command, option, "allowed: a");
        }
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i += 2) {
        snprintf(command, sizeof command, "account --%s %s", more[i], more[i + 1]);
        snprintf(option, sizeof option, "--%s: found", more[i]);
        REFUSED(command, option, "allowed: a");
    }
    static const char *const blocks[] = {"1:1", "1:1:1:1", "1:1:1,", ",", "''", "2:1:1", "1:-1:1", "1:1:1.5",
        "1:nan:1", "a:b:c", "1:1:1;1:1:1"};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        snprintf(command, sizeof command, "account --blocks '%s'", blocks[i][0] == '\'' ? "" : blocks[i]);
        REFUSED(command, "--blocks", "allowed: Q:Z:T");
    }
}

static void test_options_that_exclude_each_other_are_refused(void **state) {
    (void)state;
    REFUSED("account", "nothing to account for", "--noise-multiplier");
    REFUSED("account --noise-multiplier 1 --mu 1", "exclude each other");
    REFUSED("account --noise-multiplier 1 --strength 1", "exclude each other");
    REFUSED("account --blocks 1:1:1 --steps 3", "--blocks and --steps exclude each other");
    REFUSED("account --noise-multiplier 1 --sensitivity 1 --clip 1",
        "--sensitivity and --clip exclude each other");
    REFUSED(
        "account --noise-multiplier 1 --sensitivity 1 --adjacency replace", "--sensitivity and --adjacency");
    REFUSED("account --mu 1 --adjacency replace", "--mu and --adjacency");
    REFUSED("account --mu 1 --clip 2", "--mu and --clip");
    REFUSED("account --mu 1 --delta 0.1 --epsilon 1", "--delta and --epsilon exclude each other");
    REFUSED("account --mechanism entropic --noise-multiplier 1", "--strength");
    REFUSED("account --mechanism gaussian --strength 1", "--strength belongs to");
    REFUSED("account --noise-multiplier 1 --step 0.1", "--step belongs to");
    REFUSED("account --mechanism laplace --mu 1", "--mechanism", "gaussian, entropic");
    REFUSED("account --mechanism gausian --mu 1", "did you mean gaussian?");
    REFUSED("account --mu 1 --adjacency swap", "add, remove, zero-out, replace");
    REFUSED("account --mu 1 --accountant exakt", "unknown accountant", "gdp, rdp, exact");
    REFUSED("account --mu 1 stray", "'stray' is not an option");
    REFUSED("account --ledger x --steps 3", "--ledger and --steps exclude each other");
    REFUSED("account --ledger x --mechanism gaussian", "--ledger goes with");
    REFUSED("account --ledger x --order 2", "--ledger goes with");
    REFUSED("account --ledger x --accountant paper_rdp", "certifies nothing");
}

static void test_text_rounds_up(void **state) {
    (void)state;
    expect("account --mu 1 --delta 1e-6", 0);
    assert_non_null(strstr(ran.out, "epsilon      4.88656\n")); /* 4.88655411746 */
    assert_non_null(strstr(ran.out, "mu           1\n"));
    assert_non_null(strstr(ran.out, "lower end    4.88655\n"));
    assert_non_null(strstr(ran.out, "certificate  yes"));
}

/* ---- ledgers ---- */

#define HEADER                                                                                               \
    "{\"mfpg_ledger\":3,\"particles\":\"parameters\",\"clients\":4,\"unit\":\"client\",\"adjacency\":"       \
    "\"zero-out\",\"view\":\"local\","                                                                       \
    "\"delta\":1e-06,\"seeded\":true}\n"
#define RELEASE(round, first, last, sd)                                                                      \
    "{\"round\":" round ",\"clients\":[" first "," last                                                      \
    "],\"particles\":\"parameters\",\"steps\":1,\"sensitivity\":0.5,\"noise_sd\":" sd ",\"last_sd\":" sd     \
    ",\"weight\":0.25,\"sampling_rate\":1,\"action\":{\"budget\":1}}\n"

static double client_number(const json_t *object, size_t index, const char *key) {
    return json_get_number(json_array_get(json_object_get(object, "clients"), index), key);
}

static void test_a_ledger_tells_what_each_client_spent(void **state) {
    (void)state;
    /* mu^2: client 0 has 1/4, client 1 has 1/4 + 1/4, client 2 1/4 + 3/4 = 1, client 3 nothing */
    write_ledger("ledger", HEADER RELEASE("1", "0", "2", "1") RELEASE("2", "1", "1", "1")
                               RELEASE("2", "2", "2", "0.57735026918962584"));
    json_t *object = run_json("account --ledger ledger --json");
    assert_int_equal(json_array_size(json_object_get(object, "clients")), 4);
    const double order[] = {2, 1, 0, 3}, mu[] = {1, sqrt(0.5), 0.5, 0};
    for (size_t i = 0; i < 4; i++) {
        assert_true(client_number(object, i, "client") == order[i]);
        double found = client_number(object, i, "mu");
        if (!(found >= mu[i] * (1 - 1e-15) && found <= mu[i] * (1 + 1e-14))) fail_msg("mu %.17g", found);
    }
    /* source: theory_vectors T106: mu 1 at delta 1e-6 */
    check_near(client_number(object, 0, "epsilon"), 4.88655411746, 1e-9, 0, "largest");
    assert_true(json_get_number(object, "epsilon") == client_number(object, 0, "epsilon"));
    assert_true(json_get_number(object, "delta") == 1e-6);
    assert_true(client_number(object, 3, "epsilon") == 0);
    assert_true(client_number(object, 1, "rounds") == 2);
    assert_true(json_is_true(json_object_get(object, "seeded")));
    assert_non_null(strstr(ran.out, "seeded: not private"));
    json_decref(object);
    object = run_json("account --ledger ledger --adjacency replace --epsilon 1 --json");
    check_near(client_number(object, 0, "mu"), 2, 1e-14, 0, "replace doubles mu");
    assert_true(json_get_number(object, "epsilon") == 1);
    json_decref(object);
    expect("account --ledger ledger --delta 1e-5", 0);
    assert_non_null(strstr(ran.out, "\nclient               mu           epsilon "));
    remove_from_folder("ledger");
}

/* Records of the example unit with sampling go to exact, of the client unit to gdp. */
static void test_a_ledger_of_samples_is_credited(void **state) {
    (void)state;
#define SAMPLED(unit)                                                                                        \
    "{\"mfpg_ledger\":3,\"particles\":\"parameters\",\"clients\":2,\"unit\":\"" unit                         \
    "\",\"adjacency\":\"zero-out\",\"view\":\"local\","                                                      \
    "\"delta\":1e-05,\"seeded\":false}\n"                                                                    \
    "{\"round\":1,\"clients\":[0,1],\"particles\":\"parameters\",\"steps\":1000,\"sensitivity\":0.5,"        \
    "\"noise_sd\":0.5,\"last_sd\":0.5,"                                                                      \
    "\"weight\":0.5,\"sampling_rate\":0.01,\"action\":{\"budget\":1}}\n"
    json_t *schedule = run_json("account --noise-multiplier 1 --sampling-rate 0.01 --steps 1000 --json");
    write_ledger("ledger", SAMPLED("example"));
    json_t *object = run_json("account --ledger ledger --json");
    assert_string_equal(json_string_value(json_object_get(object, "accountant")), "exact");
    assert_non_null(strstr(ran.out, "Poisson samples"));
    assert_null(strstr(ran.out, "not credited"));
    assert_true(json_get_number(object, "epsilon") == json_get_number(schedule, "epsilon"));
    assert_true(client_number(object, 1, "epsilon") == json_get_number(schedule, "epsilon"));
    assert_true(json_is_null(json_object_get(object, "mu")));
    json_decref(object);
    object = run_json("account --ledger ledger --accountant gdp --json");
    check_near(json_get_number(object, "mu"), sqrt(1000), 1e-14, 0, "no credit");
    assert_non_null(strstr(ran.out, "not credited"));
    json_decref(object);
    remove_from_folder("ledger");
    write_ledger("ledger", SAMPLED("client"));
    object = run_json("account --ledger ledger --json");
    assert_string_equal(json_string_value(json_object_get(object, "accountant")), "gdp");
    check_near(json_get_number(object, "mu"), sqrt(1000), 1e-14, 0, "clients are not sampled");
    json_decref(object);
    remove_from_folder("ledger");
    json_decref(schedule);
}

static void test_wrong_ledgers_are_refused(void **state) {
    (void)state;
    REFUSED("account --ledger none", "none", "No such file");
    write_ledger("ledger", "hello\n");
    REFUSED("account --ledger ledger", "ledger");
    remove_from_folder("ledger");
    write_ledger("ledger", HEADER "{\"round\":1}\n");
    REFUSED("account --ledger ledger", "ledger:2");
    remove_from_folder("ledger");
    write_ledger("ledger", HEADER RELEASE("1", "0", "2", "0")); /* no noise */
    json_t *object = run_json("account --ledger ledger --json");
    assert_true(isinf(json_get_number(object, "epsilon")));
    json_decref(object);
    remove_from_folder("ledger");
    write_ledger("ledger", HEADER);
    check_epsilon("account --ledger ledger --json", 0);
    remove_from_folder("ledger");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_epsilon_meets_the_references_from_above, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_delta_meets_the_references_from_above, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_replace_doubles_the_sensitivity, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_limits_are_infinity_or_nothing, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_poisson_sampling_is_credited, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_directions_and_widths_are_those_asked_for, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_extreme_schedules_end, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_a_wide_enclosure_says_so, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_orders_are_printed_and_restrict, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_gdp_does_not_credit_sampling_and_says_so, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_a_ledger_of_samples_is_credited, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_the_papers_formulas_certify_nothing, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_wrong_numbers_are_refused, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_options_that_exclude_each_other_are_refused, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_text_rounds_up, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_a_ledger_tells_what_each_client_spent, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_wrong_ledgers_are_refused, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
