/* mfpg account --view final --assume: a last state alone, and when it is refused. */
#include "cli/ledger.h"

#define FLOW "account --mechanism entropic --view final --json "

static double mu_of(const char *arguments) {
    char command[512];
    snprintf(command, sizeof command, FLOW "%s", arguments);
    json_t *object = run_json(command);
    assert_string_equal(json_string_value(json_object_get(object, "accountant")), "hidden-state");
    assert_string_equal(json_string_value(json_object_get(object, "view")), "final");
    assert_non_null(strstr(ran.out, "sees the last state only"));
    assert_true(json_get_number(object, "contraction") > 0);
    double mu = json_get_number(object, "mu"), epsilon = json_get_number(object, "epsilon");
    if (isfinite(epsilon)) assert_true(epsilon == json_get_number(object, "upper"));
    json_decref(object);
    return mu;
}

static void test_mu_meets_the_references(void **state) {
    (void)state;
    /* theory_vectors, source S2.4: T079, T080, T082, T083, T085, T086, T088 */
    check_near(mu_of("--assume quadratic --strong-convexity 0 --smoothness 1 --prior-variance 1 "
                     "--variance-penalty 0.01 --strength 1 --step 0.1 --sensitivity 2 --steps 10"),
        1.35467562964, 1e-9, 0, "T079");
    check_near(mu_of("--assume glm --smoothness 1 --strength 1 --adjacency replace --steps 1000"),
        1.94935886896, 1e-9, 0, "T080, as a clipped model");
    check_near(mu_of("--assume quadratic --strong-convexity 0.5 --smoothness 5 --variance-penalty 0 "
                     "--strength 0.5 --prior-variance 2 --step 0.3 --sensitivity 0.05 --steps 500"),
        0.0769198717281, 1e-9, 0, "T082");
    check_near(mu_of("--assume glm --smoothness 0.25 --strength 0.1 --sensitivity 0.02 --steps 200"),
        0.174342369106, 1e-9, 0, "T083");
    check_near(mu_of("--assume nonconvex --smoothness 1 --variance-penalty 0 --strength 1 --prior-variance "
                     "0.25 --step 0.05 --sensitivity 2 --steps 1000"),
        1.1105554166, 1e-9, 0, "T085");
    check_near(mu_of("--assume nonconvex --smoothness 2 --strength 0.5 --prior-variance 0.1 --step 0.02 "
                     "--sensitivity 0.02 --steps 500"),
        0.0160831174424, 1e-9, 0, "T086");
    check_near(mu_of("--assume convex --smoothness 2 --variance-penalty 0 --strength 0.5 --step 0.02 "
                     "--sensitivity 0.02 --steps 1000"),
        0.0637023800689, 1e-9, 0, "T088");
    /* T101, source S2.3: eta L/n = 0.1 and eta sigma = 0.8 as step 0.1 and strength 3.2, no decay to speak of, D = 1 */
    check_near(mu_of("--assume convex --smoothness 1 --variance-penalty 0 --strength 3.2 --prior-variance "
                     "1e15 --projection-radius 0.5 --steps 400"),
        0.790569415042, 1e-9, 0, "T101");
}

static void test_it_stops_growing_and_never_exceeds_composition(void **state) {
    (void)state;
    double bounded = mu_of("--assume glm --smoothness 1 --strength 1 --steps 1000000000000");
    check_near(bounded, sqrt(0.05) * sqrt(1.9 / 0.1), 1e-9, 0, "for ever");
    assert_true(mu_of("--assume glm --smoothness 1 --strength 1 --steps 0") == 0);
    assert_true(isinf(mu_of("--assume glm --smoothness 1 --strength 0 --steps 5")));
    /* nothing contracts: the price of composition */
    json_t *object = run_json("account --strength 1 --steps 50 --json");
    double composed = json_get_number(object, "mu");
    json_decref(object);
    check_near(
        mu_of("--assume nonconvex --smoothness 40 --strength 1 --steps 50"), composed, 1e-14, 0, "c > 1");
    /* a view alone gives no credit, and says so */
    object = run_json("account --strength 1 --steps 50 --view final --json");
    assert_true(json_get_number(object, "mu") == composed);
    assert_true(
        json_get_number(object, "lower") == 0); /* of what is seen in that view nothing is known from below */
    assert_non_null(strstr(ran.out, "as if every step were seen"));
    assert_null(json_object_get(object, "contraction"));
    json_decref(object);
}

/* A clipped vector gradient of a quadratic is not monotone (theory S2.4, case V): --clip gives less than --sensitivity. */
static void test_a_clip_costs_a_quadratic_its_contraction(void **state) {
    (void)state;
    double free_of_it = mu_of("--assume quadratic --smoothness 1 --strength 1 --sensitivity 1 --steps 100");
    double clipped = mu_of("--assume quadratic --smoothness 1 --strength 1 --clip 1 --steps 100");
    assert_non_null(strstr(ran.out, "need not be monotone"));
    assert_true(clipped > 1.01 * free_of_it);
    assert_true(clipped == mu_of("--assume convex --smoothness 1 --strength 1 --clip 1 --steps 100"));
    check_near(mu_of("--assume quadratic --smoothness 1 --strength 1 --clip 1 --steps 100 --dimension 1"),
        free_of_it, 1e-12, 0, "one parameter");
}

static void test_what_does_not_hold_is_refused(void **state) {
    (void)state;
    REFUSED("account --view final --assume quadratic --smoothness 1 --strength 1 --strong-convexity 0.5",
        "--assume quadratic", "does not outlive a clip");
    REFUSED(
        "account --view final --assume convex --smoothness 1 --strength 1 --strong-convexity 0.5 --clip 2",
        "does not outlive a clip");
    expect("account --view final --assume quadratic --smoothness 1 --strength 1 --strong-convexity 0.5 "
           "--projection-radius 2",
        0);
    REFUSED("account --view final --assume nonconvex --smoothness 1 --strength 1 --strong-convexity 0.5 "
            "--sensitivity 1",
        "not convex");
    REFUSED("account --view final --assume glm --strength 1", "needs --smoothness");
    REFUSED("account --assume glm --smoothness 1 --strength 1", "needs --view final");
    REFUSED("account --view average --assume glm --smoothness 1 --strength 1", "needs --view final");
    REFUSED("account --view final --assume gln --smoothness 1 --strength 1", "did you mean glm");
    REFUSED("account --view last --strength 1", "local, average, final");
    REFUSED("account --view final --assume glm --smoothness 1 --noise-multiplier 1", "--mechanism entropic");
    REFUSED("account --view final --assume glm --smoothness 1 --blocks 1:1:1", "not with --blocks");
    REFUSED("account --view final --assume glm --smoothness 1 --strength 1 --accountant gdp", "hidden-state");
    REFUSED("account --view final --assume quadratic --smoothness 1 --strong-convexity 2 --sensitivity 1 "
            "--strength 1",
        "--strong-convexity: found 2; allowed: a number from 0 up to --smoothness, which is 1");
    REFUSED("account --strength 1 --smoothness 1", "--smoothness belongs to --assume");
    REFUSED("account --strength 1 --accountant hidden-state", "needs --view final and --assume");
    REFUSED("account --particles data --strength 1 --view final", "--exogenous");
    REFUSED("account --view final --assume glm --smoothness 1 --strength 1 --projection-radius 0",
        "a number above 0");
}

static void test_no_credit_comes_from_a_ledger(void **state) {
    (void)state;
    write_ledger("ledger",
        "{\"mfpg_ledger\":3,\"particles\":\"parameters\",\"clients\":1,\"unit\":\"client\","
        "\"adjacency\":\"zero-out\",\"view\":\"final\",\"delta\":1e-05,\"seeded\":false}\n");
    REFUSED("account --ledger ledger --view final --assume glm", "no credit for hidden states");
    REFUSED("account --ledger ledger --accountant hidden-state", "no credit for hidden states");
    expect("account --ledger ledger", 0);
    assert_non_null(strstr(ran.out, "no credit for hidden states"));
    remove_from_folder("ledger");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_mu_meets_the_references, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_it_stops_growing_and_never_exceeds_composition, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_a_clip_costs_a_quadratic_its_contraction, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_what_does_not_hold_is_refused, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_no_credit_comes_from_a_ledger, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
