/* mfpg solve --study limit, figure and output as a person meets them. */
#include "program.h"

#define SMALL "--study limit --populations 32,64,128,256,512 --repeats 10 "

static const json_t *line_of(const json_t *answer, const char *name) {
    const json_t *lines = json_object_get(answer, "lines"), *line;
    size_t i;
    json_array_foreach((json_t *)lines, i, line) {
        if (strcmp(json_string_value(json_object_get(line, "line")), name) == 0) return line;
    }
    fail_msg("no line %s", name);
    return NULL;
}

static void test_limit_shows_the_slopes_of_theory(void **state) {
    (void)state;
    const struct {
        const char *line;
        double slope, within;
    } rows[] = {{"even-mean", -1, 0.1}, {"even-largest", -1, 0.1}, {"exploit-mean", -2, 0.2},
        {"exploit-max", -2, 0.2}, {"random-players", -1, 0.1}, {"random-sampling", -0.5, 0.4}};
    json_t *answer = run_json("solve " SMALL "--json");
    assert_string_equal(json_string_value(json_object_get(answer, "study")), "limit");
    assert_int_equal(json_array_size(json_object_get(answer, "population")), 5);
    /* E sqrt(beta/.045), beta uniform on [.025, .075] */
    check_near(json_get_number(answer, "mean_action"),
        2.0 / 3 * (pow(.075, 1.5) - pow(.025, 1.5)) / .05 / sqrt(.045), 1e-10, 0, "limit");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const json_t *line = line_of(answer, rows[i].line);
        check_near(json_get_number(line, "slope"), rows[i].slope, 0, rows[i].within, rows[i].line);
        assert_true(json_get_number(line, "slope_standard_error") > 0);
        assert_int_equal(json_array_size(json_object_get(line, "value")), 5);
    }
    assert_int_equal(json_integer_value(json_object_get(line_of(answer, "random-whole"), "repeats")), 10);
    const json_t *chaos = json_object_get(answer, "chaos");
    /* of 10 draws a root mean square is known to 1/sqrt(20), the slope of nine to 0.05 */
    check_near(json_get_number(line_of(chaos, "chaos-mean"), "slope"), -0.5, 0, 0.2, "chaos");
    assert_int_equal(json_array_size(json_object_get(chaos, "population")), 9);
    json_decref(answer);
}

static void test_limit_in_words_and_as_a_file(void **state) {
    (void)state;
    expect("solve " SMALL "--cost gaussian --beta lognormal:1:0.5 --seed 7 --out limit.csv", 0);
    const char *parts[] = {"Cost gaussian, preferences lognormal:1:0.5, 10 draws", "seed 7", "even-mean",
        "-1.0 ± 0.1", "holds", "limit.csv"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) assert_non_null(strstr(ran.out, parts[i]));
    char path[128], line[256];
    int lines = 0;
    snprintf(path, sizeof path, "%s/limit.csv", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (lines++ == 0) assert_string_equal(line, "line,population,repeats,value,standard_error,fitted\n");
    }
    fclose(file);
    assert_int_equal(lines, 1 + 7 * 5 + 3 * 9);
    remove_from_folder("limit.csv");
}

static void test_figure_meets_the_references(void **state) {
    (void)state;
    json_t *answer = run_json("solve --study figure --repeats 20 --json");
    const json_t *budget = json_array_get(json_object_get(answer, "readings"), 2);
    assert_string_equal(json_string_value(json_object_get(budget, "reading")), "budget");
    const double clients[5] = {0, 4, 16, 0, 0}; /* source: reproduction 3 */
    for (size_t i = 0; i < 5; i++)
        assert_true(json_number_value(json_array_get(json_object_get(budget, "clients"), i)) == clients[i]);
    check_near(json_get_number(budget, "clients_mean"), 0.46, 1e-14, 0, "mean");
    const json_t *found = json_object_get(json_object_get(budget, "statements"), "two_actions");
    assert_string_equal(json_string_value(json_object_get(found, "verdict")), "holds");
    const json_t *corner = json_array_get(json_object_get(answer, "corner"), 0);
    assert_int_equal(json_integer_value(json_object_get(corner, "at_largest")), 20000);
    assert_int_equal(json_integer_value(json_object_get(corner, "settings")), 20000);
    json_decref(answer);

    expect("solve --study figure --repeats 20 --out figure.csv", 0);
    assert_non_null(strstr(ran.out, "literal        20000 of 20000 settings"));
    assert_non_null(strstr(ran.out, "two_actions"));
    assert_null(strstr(ran.out, "nan"));
    remove_from_folder("figure.csv");
}

static void test_output_shows_the_deviation(void **state) {
    (void)state;
    json_t *answer = run_json("solve --study output --beta 2 --dimension 3 --population 5 --seed 9 --json");
    const json_t *instances = json_object_get(answer, "instances");
    for (size_t i = 0; i < 2; i++) {
        const json_t *one = json_array_get(instances, i), *costs = json_object_get(one, "deviation");
        assert_string_equal(json_string_value(json_object_get(one, "nash")), "fails");
        assert_string_equal(json_string_value(json_object_get(one, "kkt")), i == 0 ? "holds" : "fails");
        double last = json_get_number(one, "cost");
        for (size_t t = 0; t < json_array_size(costs); t++) {
            assert_true(json_number_value(json_array_get(costs, t)) < last);
            last = json_number_value(json_array_get(costs, t));
        }
        check_near(last, -2e12, 1e-9, 0, "cost at t = 10^6");
    }
    json_decref(answer);
    expect("solve --study output", 0);
    assert_non_null(strstr(ran.out, "does not meet"));
    assert_non_null(strstr(ran.out, "100 of 100 profiles"));
}

static void test_what_does_not_go_together_is_refused(void **state) {
    (void)state;
    REFUSED("solve --study limit --cost paper", "paper", "couples no clients");
    REFUSED("solve --study limit --actions 0.1,0.5", "grid");
    REFUSED("solve --study limit --beta 0.5", "law of preferences");
    REFUSED("solve --study limit --beta uniform:2:1", "--beta", "LOW not above HIGH");
    REFUSED("solve --study limit --populations 64,32,16", "ascend");
    REFUSED("solve --study limit --populations 64,x,16", "--populations: found 'x'", "whole numbers from 1");
    REFUSED("solve --study limit --populations 64", "from 3");
    REFUSED("solve --study limit --repeats 1", "--repeats", "from 2");
    REFUSED("solve --study limit --seed nan", "--seed");
    REFUSED("solve --study limit --players finite", "--players");
    REFUSED("solve --study limit --cost gaussian --own-cost 1", "--own-cost");
    REFUSED("solve --study figure --beta 1", "--beta");
    REFUSED("solve --study figure --population 1", "clients");
    REFUSED("solve --study output --repeats 5", "--repeats");
    REFUSED("solve --study output --dimension 2.5", "--dimension");
    REFUSED("solve --study output --beta 0", "--beta");
    REFUSED("solve clinics --study limit", "clinics", "no configuration");
    REFUSED("solve game.cost=entropic --study figure", "game.cost=entropic", "no configuration");
    REFUSED("solve clinics --study output", "clinics", "no configuration");
    REFUSED("solve --study figur", "figur", "figure");
    REFUSED("solve --cost entropic --seed 3", "--seed");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_limit_shows_the_slopes_of_theory, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_limit_in_words_and_as_a_file, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_figure_meets_the_references, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_output_shows_the_deviation, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_what_does_not_go_together_is_refused, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
