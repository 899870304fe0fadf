/* mfpg solve: numbers against references, options that do not go together, bad input, configurations. */
#include "program.h"

/* Keys of the interface. */
static const char *const fields[] = {"mean_action", "actions", "mixing", "exploitability",
    "exploitability_finite", "social", "cost", "price_of_anarchy", "unique", "converged", "iterations",
    "residual"};

static json_t *solve(const char *arguments) {
    char command[1024];
    snprintf(command, sizeof command, "solve %s --json", arguments);
    json_t *object = run_json(command);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (!json_object_get(object, fields[i])) fail_msg("no field %s", fields[i]);
    assert_true(json_is_true(json_object_get(object, "converged")));
    return object;
}

static double of(const json_t *object, const char *part, const char *key) {
    return json_get_number(json_object_get(object, part), key);
}

/* source: theory_vectors T187-T203 (theory S3.3), to their tolerance of 1e-6 */
static void test_entropic_game_meets_the_references(void **state) {
    (void)state;
    const struct {
        int clients;
        double mean, first, last, optimum, anarchy;
    } rows[] = {
        {5, 0.643715033755, 0.462961251071, 0.80187240879, 0.310509298806, 1.214518631},
        {20, 0.955984166023, 0.684317010466, 1.18527183061, 0.433277336891, 1.28699862279},
        {80, 1.02349871406, 0.731957616253, 1.26778778034, 0.483586660889, 1.28001216529},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char arguments[512];
        snprintf(arguments, sizeof arguments,
            "--cost entropic --players finite --population %d --beta 0.025:0.075 --curvature 1 --dimension 5 "
            "--optimum-norm2 1 --prior-variance 1 --step 0.1 --own-cost 0.045 --privacy-scale 1 "
            "--actions continuous",
            rows[i].clients);
        json_t *object = solve(arguments);
        const json_t *actions = json_object_get(object, "actions");
        assert_int_equal(json_array_size(actions), rows[i].clients);
        check_near(json_get_number(object, "mean_action"), rows[i].mean, 1e-6, 0, "mean");
        check_near(json_number_value(json_array_get(actions, 0)), rows[i].first, 1e-6, 0, "first");
        check_near(json_number_value(json_array_get(actions, (size_t)rows[i].clients - 1)), rows[i].last,
            1e-6, 0, "last");
        check_near(of(object, "social", "mean_action"), rows[i].optimum, 1e-6, 0, "optimum");
        check_near(json_get_number(object, "price_of_anarchy"), rows[i].anarchy, 1e-6, 0, "anarchy");
        check_near(json_get_number(object, "cost"),
            of(object, "social", "cost") * json_get_number(object, "price_of_anarchy"), 1e-14, 0, "costs");
        assert_true(of(object, "exploitability", "max") <= 1e-9);
        assert_true(json_is_null(json_object_get(object, "exploitability_finite")));
        assert_true(json_is_true(json_object_get(object, "unique")));
        json_decref(object);
    }
}

/* source: theory_vectors T163, T164 (theory S3.2) */
static void test_gaussian_game_meets_the_references(void **state) {
    (void)state;
    const char *game = "--cost gaussian --beta 0.5 --curvature 2 --dimension 10 --personalisation 0.5 "
                       "--learning-rate 0.1 --clip 1 --privacy-power 2 --actions continuous";
    char arguments[512];
    snprintf(arguments, sizeof arguments, "%s --players mean-field", game);
    json_t *object = solve(arguments);
    check_near(json_get_number(object, "mean_action"), 0.795270728767, 1e-9, 0, "mean field");
    json_decref(object);
    snprintf(arguments, sizeof arguments, "%s --players finite --population 20", game);
    object = solve(arguments);
    check_near(json_get_number(object, "mean_action"), 0.814910000328, 1e-9, 0, "20 players");
    assert_int_equal(json_array_size(json_object_get(object, "actions")), 20);
    json_decref(object);
}

/* source: theory_vectors T206, T211 (theory S3.4) */
static void test_tie_clients_mix(void **state) {
    (void)state;
    json_t *object = solve("--cost interaction --beta 0.5,0.8,0.81,1.39,1.47 --privacy-scale 1.21 "
                           "--interaction 4.3 --actions 0.1,0.3,0.5,1,2");
    const json_t *mixing = json_object_get(object, "mixing"), *one = json_array_get(mixing, 0);
    assert_int_equal(json_array_size(mixing), 1);
    check_near(json_get_number(object, "mean_action"), 0.594744186047, 1e-9, 0, "mean");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(one, "clients"), 0)), 4);
    check_near(json_get_number(one, "weight"), 0.947441860465, 1e-9, 0, "weight");
    assert_true(json_get_number(one, "action") == 1.0);
    assert_true(of(object, "exploitability", "max") < 1e-12);
    json_decref(object);
    object = solve("--cost interaction --beta 1 --population 4 --privacy-scale 0.2 --interaction 1");
    one = json_array_get(json_object_get(object, "mixing"), 0);
    assert_int_equal(json_array_size(json_object_get(one, "clients")), 4);
    check_near(json_get_number(object, "mean_action"), 1.0 / 3, 1e-9, 0, "mean");
    check_near(json_get_number(one, "weight"), 1.0 / 6, 1e-9, 0, "weight");
    json_decref(object);
}

/* source: theory_vectors T139 (theory S0 b): always the largest strength */
static void test_paper_cost_sits_in_the_corner(void **state) {
    (void)state;
    json_t *object =
        solve("--cost paper --loss 0.01 --beta 0.5 --gradient-norm 0.3 --offset 0.01 --dimension 5 "
              "--population 5 --rounds 10 --step 0.1 --variance-penalty 0.01 --prior-variance 1 "
              "--actions 0.1,0.3,0.5,1,2");
    assert_true(json_get_number(object, "mean_action") == 2.0);
    assert_true(json_is_null(json_object_get(object, "price_of_anarchy")));
    assert_true(of(object, "exploitability_finite", "max") == 0.0);
    assert_true(json_array_size(json_object_get(object, "warnings")) == 1);
    json_decref(object);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entropic_game_meets_the_references),
        cmocka_unit_test(test_gaussian_game_meets_the_references),
        cmocka_unit_test(test_tie_clients_mix),
        cmocka_unit_test(test_paper_cost_sits_in_the_corner),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
