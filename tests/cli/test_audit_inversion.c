/* mfpg audit --inversion: its JSON, its files beside those of the other audit, what it prints and refuses. */
#include "cli/program.h"

#define QUICK "--inversion --examples 4 --candidates 10 --trials 30 --iterations 3 "

static const json_t *study_of(const json_t *object) {
    const json_t *study = json_object_get(object, "inversion");
    assert_true(json_is_object(study) && json_object_size(object) == 1);
    return study;
}

static void test_json_tells_levels_from_no_noise_to_the_configured_one(void **state) {
    (void)state;
    json_t *object = run_json("audit clinics " QUICK "--seed 3 --threads 2 --json");
    const json_t *study = study_of(object), *levels = json_object_get(study, "levels");
    assert_non_null(strstr(json_string_value(json_object_get(study, "note")), "private data"));
    assert_true(
        json_is_true(json_object_get(study, "stands")) && json_is_null(json_object_get(study, "pictures")));
    assert_true(json_get_number(study, "examples") == 4 && json_get_number(study, "trials") == 30);
    assert_int_equal(json_array_size(levels), 6);
    assert_string_equal(json_string_value(json_object_get(json_array_get(levels, 0), "mu")), "inf");
    for (size_t l = 1; l < 6; l++) {
        const json_t *level = json_array_get(levels, l), *told = json_object_get(level, "identification");
        assert_true(
            l == 1 || json_get_number(level, "mu") < json_get_number(json_array_get(levels, l - 1), "mu"));
        check_near(
            json_get_number(level, "mu_replace"), 2 * json_get_number(level, "mu"), 1e-12, 0, "replace");
        assert_int_equal(json_is_true(json_object_get(level, "configured")), l == 5);
        assert_true(json_get_number(told, "lower") <= json_get_number(told, "cap"));
        assert_non_null(json_object_get(json_object_get(level, "closed_form"), "ssim"));
    }
    const json_t *best = json_object_get(json_object_get(json_array_get(levels, 0), "closed_form"), "psnr");
    assert_true(json_get_number(best, "median") >
                90); /* without noise the quotient is the row, to the rounding of floats */
    json_decref(object);
}

static void test_both_audits_share_a_file(void **state) {
    (void)state;
    json_t *canaries = run_json("audit clinics train.rounds=2 --runs 40 --out both --json");
    json_t *inversion = run_json("audit clinics train.rounds=2 " QUICK "--width 1 --out both --json");
    char path[256];
    snprintf(path, sizeof path, "%s/both/audit.json", folder);
    json_t *file = json_load_file(path, 0, NULL);
    assert_true(json_equal(json_object_get(file, "inversion"), json_object_get(inversion, "inversion")));
    assert_true(json_equal(json_object_get(file, "clients"), json_object_get(canaries, "clients")));
    assert_int_equal(json_array_size(json_object_get(
                         json_object_get(json_object_get(inversion, "inversion"), "pictures"), "original")),
        4);
    json_decref(file);
    expect("audit clinics train.rounds=2 --runs 60 --out both", 0); /* keeps the other part */
    file = json_load_file(path, 0, NULL);
    assert_true(json_equal(json_object_get(file, "inversion"), json_object_get(inversion, "inversion")));
    assert_true(json_get_number(file, "runs") == 60);
    json_decref(file);
    json_decref(inversion);
    json_decref(canaries);
    remove_from_folder("both/inversion.png");
    remove_from_folder("both/audit.json");
    snprintf(path, sizeof path, "%s/both", folder);
    rmdir(path);
}

static void test_text_tells_what_it_read(void **state) {
    (void)state;
    expect("audit clinics " QUICK, 0);
    assert_non_null(strstr(ran.out, "computed on private data, no certificate covers it"));
    assert_non_null(strstr(ran.out, "(configured)"));
    assert_non_null(strstr(ran.out, "mean of all others"));
    assert_non_null(strstr(ran.out, "4 examples, 1 an update, labels read off the gradient"));
    assert_non_null(strstr(ran.out, "optimisation"));
    assert_non_null(strstr(ran.out, "stands"));
    assert_null(strstr(ran.out, "BROKEN"));
    expect("audit clinics --inversion --examples 4 --batch 2 --candidates 10 --trials 3 --iterations 0", 0);
    assert_non_null(strstr(ran.out, "labels known to the attacker"));
    assert_null(strstr(ran.out, "optimisation"));
    assert_int_equal(files_in_folder(), 0);
}

static void test_wrong_options_are_refused(void **state) {
    (void)state;
    REFUSED("audit clinics --inversion --runs 100", "--inversion", "--runs");
    REFUSED("audit clinics --inversion --method one-run", "--method");
    REFUSED("audit clinics --inversion --input-canaries", "--input-canaries");
    REFUSED("audit images --inversion train.optimiser=momentum", "train.optimiser", "earlier steps");
    REFUSED("audit clinics --batch 2", "--batch", "--inversion");
    REFUSED("audit clinics --inversion --batch 65", "--batch", "from 1 up to 64");
    REFUSED("audit clinics --inversion --candidates 1", "--candidates", "from 2");
    REFUSED("audit clinics --inversion --width 7", "width 7");
    REFUSED("audit counterexample --inversion", "no biases");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_json_tells_levels_from_no_noise_to_the_configured_one, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_both_audits_share_a_file, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_text_tells_what_it_read, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_wrong_options_are_refused, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
