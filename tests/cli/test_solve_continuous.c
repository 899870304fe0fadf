/* mfpg solve --study continuous: the closed form, the files, what is refused. */
#include "program.h"

static const char *const fields[] = {"types", "mean", "variance", "cost", "exploitability", "converged",
    "iterations", "residual", "fictitious_play", "mass_error", "least_density", "edge_mass", "added_noise",
    "drift_step", "policy_rounds", "policy_unfinished", "nodes", "time_steps", "particles"};

static json_t *solve(const char *arguments) {
    char command[1024];
    snprintf(command, sizeof command, "solve --study continuous %s --json", arguments);
    json_t *object = run_json(command);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (!json_object_get(object, fields[i])) fail_msg("no field %s", fields[i]);
    return object;
}

static double of_type(const json_t *object, size_t type, const char *key) {
    return json_get_number(json_array_get(json_object_get(object, "types"), type), key);
}

/* source: transport_and_pde.md 4.6 c, whose game the defaults are: mean .367879, variance .745753, 2e-3 at 401 x 200 */
static void test_the_defaults_are_the_game_with_a_closed_form(void **state) {
    (void)state;
    json_t *object = solve("");
    check_near(json_get_number(object, "mean"), 0.367879, 0, 2e-3, "mean");
    check_near(json_get_number(object, "variance"), 0.745753, 0, 2e-3, "variance");
    assert_true(json_is_true(json_object_get(object, "converged")));
    assert_true(json_get_number(object, "mass_error") <= 1e-13);
    check_near(json_get_number(json_object_get(object, "exploitability"), "max"), 0, 0, 1e-12, "gain");
    const json_t *exact = json_object_get(json_array_get(json_object_get(object, "types"), 0), "closed_form");
    check_near(json_get_number(exact, "variance"), 0.745753, 0, 1e-6, "closed form");
    check_near(of_type(object, 0, "control_start"), json_get_number(exact, "control_start"), 0, 1e-3, "eps*");
    assert_true(json_is_null(json_object_get(object, "particles")));
    json_decref(object);
}

/* More wish for privacy, more noise; the printed equation loses or makes mass where the control varies. */
static void test_types_have_shares_and_answers_of_their_own(void **state) {
    (void)state;
    json_t *object = solve("--beta 0.5,1,2 --weights 0.5,0.3,0.2 --shape double-well --well-barrier 0.4 "
                           "--prior-variance 1 --start-mean 0.3 --domain -4:4 --nodes 161 --time-steps 80 "
                           "--particles 4000 --seed 7");
    double last = 0;
    assert_int_equal(json_array_size(json_object_get(object, "types")), 3);
    for (size_t k = 0; k < 3; k++) {
        double control = of_type(object, k, "control_mean");
        assert_true(control > last);
        last = control;
    }
    assert_true(fabs(of_type(object, 0, "paper_mass") - 1) > 1e-2);
    check_near(of_type(object, 2, "share"), 0.2, 1e-15, 0, "share");
    const json_t *particles = json_object_get(object, "particles");
    double variance = json_get_number(object, "variance");
    /* four standard errors and a step of time */
    check_near(json_get_number(particles, "mean"), json_get_number(object, "mean"), 0,
        4 * sqrt(variance / 4000) + 2e-2, "particles' mean");
    json_decref(object);
}

static void test_what_has_not_converged_is_printed_and_exits_1(void **state) {
    (void)state;
    json_error_t error;
    expect(
        "solve --study continuous --prior-variance 1 --iterations 1 --nodes 101 --time-steps 20 --json", 1);
    json_t *object = json_loads(ran.out, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(object);
    assert_true(json_is_false(json_object_get(object, "converged")));
    assert_true(json_get_number(json_object_get(object, "exploitability"), "max") > 1e-9);
    assert_non_null(strstr(ran.err, "not solved"));
    json_decref(object);
    expect("solve --study continuous --prior-variance 1 --iterations 1 --nodes 101 --time-steps 20", 1);
    assert_non_null(strstr(ran.out, "NOT converged"));
}

/* A NumPy file of doubles with that shape, and its size. */
static void check_array(const char *name, const char *shape, long count) {
    char path[256], head[129] = "";
    snprintf(path, sizeof path, "%s/fields/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(head, 1, 128, file), 128);
    assert_memory_equal(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    assert_non_null(strstr(head + 10, "'descr': '<f8', 'fortran_order': False"));
    assert_non_null(strstr(head + 10, shape));
    double *values = malloc((size_t)count * sizeof *values + 1);
    assert_non_null(values);
    assert_int_equal(fread(values, sizeof *values, (size_t)count + 1, file), count);
    if (strcmp(name, "density.npy") == 0) {
        double mass = 0;
        for (long i = count - 65; i < count; i++) mass += values[i] * 0.25;
        check_near(mass, 1, 1e-13, 0, "mass of the last density");
    }
    if (strcmp(name, "nodes.npy") == 0) assert_true(values[0] == -8 && values[64] == 8);
    free(values);
    fclose(file);
    remove(path);
}

static void test_fields_and_moments_are_written(void **state) {
    (void)state;
    expect("solve --study continuous --beta 0.5,1 --nodes 65 --time-steps 10 --out fields", 0);
    check_array("value.npy", "(2, 11, 65)", 2L * 11 * 65);
    check_array("control.npy", "(2, 11, 65)", 2L * 11 * 65);
    check_array("density.npy", "(2, 11, 65)", 2L * 11 * 65);
    check_array("nodes.npy", "(65,)", 65);
    check_array("times.npy", "(11,)", 11);
    char path[256], line[512];
    snprintf(path, sizeof path, "%s/fields/moments.csv", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(
        line, "time,type,weight,share,mean,variance,mean_control,mass,free_energy,paper_mass\n");
    int rows = 0;
    while (fgets(line, sizeof line, file)) {
        int commas = 0;
        for (const char *at = line; *at; at++) commas += *at == ',';
        assert_int_equal(commas, 9);
        rows++;
    }
    assert_int_equal(rows, 22);
    fclose(file);
    remove(path);
    snprintf(path, sizeof path, "%s/fields", folder);
    assert_int_equal(rmdir(path), 0);
}

static void test_bad_input_exits_2_with_the_reason(void **state) {
    (void)state;
    REFUSED("solve --study continuous --nodes 20", "too coarse for the start", "at least 33 nodes");
    REFUSED("solve --study continuous --time-steps 1", "too large for the drift", "at least 3 steps");
    REFUSED("solve --study continuous --domain -2:2", "does not hold the start");
    REFUSED("solve --study continuous --domain 3:x", "--domain", "LOW:HIGH");
    REFUSED("solve --study continuous --domain 3:-3", "upper end of the domain");
    REFUSED("solve --study continuous --nodes nan", "--nodes", "whole number");
    REFUSED("solve --study continuous --nodes 3", "5 to 100001");
    REFUSED("solve --study continuous --nodes 100001 --time-steps 100000", "2^28");
    REFUSED("solve --study continuous --beta -1", "--beta", "preference");
    REFUSED("solve --study continuous --beta 1,2 --weights 0.4,0.5", "shares is 0.9");
    REFUSED("solve --study continuous --beta 1,2 --weights 1", "one a type");
    REFUSED("solve --study continuous --actions 0.5,0.1", "ascending");
    REFUSED("solve --study continuous --actions continuous", "no upper end");
    REFUSED("solve --study continuous --scheme upwin", "did you mean upwind?");
    REFUSED("solve --study continuous --shape double", "double-well");
    REFUSED("solve --study continuous --well-barrier 1", "belongs to --shape double-well");
    REFUSED("solve --study continuous --shape double-well --curvature 1", "belongs to --shape quadratic");
    REFUSED("solve --study continuous --seed 1", "--particles");
    REFUSED("solve --study continuous --dimension 4", "--dimension does nothing");
    REFUSED("solve --study continuous clinics", "plays no configuration");
    REFUSED("solve --study continous", "did you mean \"continuous\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_defaults_are_the_game_with_a_closed_form),
        cmocka_unit_test(test_types_have_shares_and_answers_of_their_own),
        cmocka_unit_test(test_what_has_not_converged_is_printed_and_exits_1),
        cmocka_unit_test(test_fields_and_moments_are_written),
        cmocka_unit_test(test_bad_input_exits_2_with_the_reason),
    };
    return cmocka_run_group_tests_name("cli.solve_continuous", tests, open_folder, close_folder);
}
