/* The report of gradient inversion: its pictures, its file beside what stands there already, and every allocation failing. */
#include "fixture.h"

#include <sodium.h>
#include <sys/stat.h>

#include "failing_memory.h"
#include "mfpg/experiment.h"

static char place[64];
static mfpg_experiment *experiment;
static mfpg_inversion *inversion;
static mfpg_inversion_options options;

static const char config_text[] = "seed: 1\nmethod: dp-sgd\nprivacy: {unit: example}\ntrain: {rounds: 1}\n"
                                  "task: {model: mlp, classes: 2, hidden: [6]}\ndata: {format: synthetic, "
                                  "clients: 2, rows: 12, dimension: 12}\n";

static int set_up(void **state) {
    open_context(state);
    snprintf(place, sizeof place, "/tmp/mfpg-inversion-XXXXXX");
    assert_non_null(mkdtemp(place));
    mfpg_config *config = load(config_text);
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &experiment));
    mfpg_config_destroy(config);
    options = mfpg_inversion_options_default();
    options.examples = 3;
    options.levels = 3;
    options.candidates = 5;
    options.trials = 4;
    options.iterations = 2;
    options.width = 4;
    CHECK_OK(ctx, mfpg_experiment_invert(ctx, experiment, &options, &inversion));
    return 0;
}

static const char *path_of(const char *name) {
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", place, name);
    return path;
}

static int tear_down(void **state) {
    mfpg_inversion_destroy(inversion);
    mfpg_experiment_destroy(experiment);
    unlink(path_of("audit.json"));
    unlink(path_of("inversion.png"));
    assert_int_equal(rmdir(place), 0);
    return close_context(state);
}

static uint32_t number_at(const unsigned char *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void check_png(const unsigned char *bytes, size_t size, uint32_t width, uint32_t height) {
    assert_true(size > 24 && memcmp(bytes, "\x89PNG", 4) == 0);
    assert_int_equal(number_at(bytes + 16), width);
    assert_int_equal(number_at(bytes + 20), height);
}

static void check_text(const json_t *text) {
    unsigned char bytes[512];
    size_t size = 0;
    const char *base64 = json_string_value(text);
    assert_non_null(base64);
    assert_int_equal(sodium_base642bin(bytes, sizeof bytes, base64, strlen(base64), NULL, &size, NULL,
                         sodium_base64_VARIANT_ORIGINAL),
        0);
    check_png(bytes, size, 4, 3);
}

static void test_pictures_are_png_in_base64(void **state) {
    (void)state;
    char *text = NULL;
    CHECK_OK(ctx, mfpg_experiment_inversion_json(ctx, experiment, &options, inversion, &text));
    json_t *object = json_loads(text, 0, NULL);
    const json_t *pictures = json_object_get(json_object_get(object, "inversion"), "pictures");
    const json_t *levels = json_object_get(pictures, "levels");
    assert_int_equal(json_integer_value(json_object_get(pictures, "width")), 4);
    assert_int_equal(json_integer_value(json_object_get(pictures, "height")), 3);
    check_text(json_object_get(pictures, "mean"));
    assert_int_equal(json_array_size(levels), 3);
    for (size_t i = 0; i < 3; i++) {
        check_text(json_array_get(json_object_get(pictures, "original"), i));
        for (size_t l = 0; l < 3; l++) {
            const json_t *level = json_array_get(levels, l);
            check_text(json_array_get(json_object_get(level, "closed_form"), i));
            check_text(json_array_get(json_object_get(level, "optimisation"), i));
        }
    }
    json_decref(object);
    free(text);
}

static void test_other_keys_of_the_file_stay(void **state) {
    (void)state;
    int pictures = 0;
    FILE *file = fopen(path_of("audit.json"), "w");
    fputs("{\"clients\": [7], \"inversion\": \"an older one\"}", file);
    fclose(file);
    CHECK_OK(ctx, mfpg_experiment_write_inversion(ctx, experiment, &options, inversion, place, &pictures));
    assert_int_equal(pictures, 1);
    json_t *object = json_load_file(path_of("audit.json"), 0, NULL);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(object, "clients"), 0)), 7);
    assert_true(json_is_object(json_object_get(object, "inversion")));
    json_decref(object);
    unsigned char bytes[64];
    file = fopen(path_of("inversion.png"), "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    check_png(bytes, size, 8 * 5 * 14,
        3 * 4 * 14); /* 1 + 3 + 3 + 1 pictures of 4 + 1 pixels, drawn 56 / 4 times as large */
}

static void test_a_file_that_is_no_report_is_left_alone(void **state) {
    (void)state;
    int pictures = 0;
    FILE *file = fopen(path_of("audit.json"), "w");
    fputs("{\"clients\": ", file);
    fclose(file);
    assert_int_equal(mfpg_experiment_write_inversion(ctx, experiment, &options, inversion, place, &pictures),
        MFPG_ERR_INPUT);
    MESSAGE_HOLDS("audit.json");
    char text[32] = "";
    file = fopen(path_of("audit.json"), "r");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "{\"clients\": ");
    unlink(path_of("audit.json"));
}

static mfpg_status text_once(void *arg) {
    char *text = NULL;
    (void)arg;
    mfpg_status status = mfpg_experiment_inversion_json(ctx, experiment, &options, inversion, &text);
    assert_true((status == MFPG_OK) == (text != NULL));
    free(text);
    return status;
}

/* Into a new file: the JSON library takes a failure of its own memory while it reads for bad syntax. */
static mfpg_status write_once(void *arg) {
    int pictures;
    (void)arg;
    unlink(path_of("audit.json"));
    return mfpg_experiment_write_inversion(ctx, experiment, &options, inversion, place, &pictures);
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    count_json_allocations();
    assert_true(sweep_allocations(text_once, NULL) > 50);
    for (long k = 0;; k += 1 + k / 16) { /* every attempt that reaches the pictures syncs a file */
        begin_failing(k, 0);
        mfpg_status status = write_once(NULL);
        int failed = end_failing();
        assert_int_equal(status, failed ? MFPG_ERR_MEMORY : MFPG_OK);
        if (!failed) break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pictures_are_png_in_base64),
        cmocka_unit_test(test_other_keys_of_the_file_stay),
        cmocka_unit_test(test_a_file_that_is_no_report_is_left_alone),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
