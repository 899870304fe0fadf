/* Gradient inversion on the page of a run: tables, pictures, and nothing that only looks like one. */
#include "report/runs.h"

/* 3 x 2 and 2 x 2 pixels of 8-bit grey, by Python's zlib. */
#define PICTURE                                                                                              \
    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAAAAAC4HznGAAAADklEQVR42mNgEFQCImMAAcIAmmyDbo0AAAAASUVORK5CYII="
#define OTHER                                                                                                \
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAADklEQVR42mNgEGQQVAIAAI4ARedsfWMAAAAASUVORK5CYII="

#define QUALITY                                                                                              \
    "{\"psnr\": {\"median\": 31.5, \"best\": \"inf\"}, \"ssim\": {\"median\": 0.25, \"best\": 1}, "          \
    "\"pearson\": {\"median\": -0.5, \"best\": 1}}"
#define NOTHING                                                                                              \
    "{\"psnr\": {\"median\": null, \"best\": null}, \"ssim\": {\"median\": null, \"best\": null}, "          \
    "\"pearson\": {\"median\": null, \"best\": null}}"
#define LEVEL(mu, optimisation, lower, cap, stands)                                                          \
    "{\"mu\": " mu ", \"mu_replace\": " mu ", \"noise_sd\": 0.125, \"configured\": false, "                  \
    "\"closed_form\": " QUALITY ", \"optimisation\": " optimisation                                          \
    ", \"identification\": {\"correct\": 3, "                                                                \
    "\"trials\": 4, \"rate\": 0.75, \"lower\": " lower ", \"cap\": " cap                                     \
    ", \"median_rank\": 1.5, \"stands\": " stands "}}"
#define PICTURES                                                                                             \
    "{\"width\": 3, \"height\": 2, \"encoding\": \"png\", \"original\": [\"" PICTURE                         \
    "\"], \"mean\": \"" PICTURE "\", \"levels\": [{\"closed_form\": [\"" PICTURE                             \
    "\"], \"optimisation\": []}, {\"closed_form\": [\"" PICTURE "\"], \"optimisation\": []}]}"
#define INVERSION                                                                                            \
    "\"inversion\": {\"note\": \"n\", \"stands\": true, \"client\": \"1\", \"unit\": \"example\", "          \
    "\"adjacency\": "                                                                                        \
    "\"zero-out\", \"examples\": 8, \"batch\": 1, \"candidates\": 20, \"trials\": 4, \"confidence\": 0.99, " \
    "\"gradient_norm\": {\"median\": 3, \"least\": 1, \"most\": 9}, \"chance\": {\"mean\": " QUALITY         \
    ", \"other\": " QUALITY "}, \"levels\": [" LEVEL("\"inf\"", NOTHING, "0.25", "1", "true") ", " LEVEL(    \
        "0.8765432109876543", QUALITY, "0.1875", "0.375", "true") "], \"pictures\": " PICTURES "}"

static char folder[512];

static int open_run(void **state) {
    if (open_place(state) != 0) return -1;
    train(SMALL_RUN, NULL, "r");
    snprintf(folder, sizeof folder, "%s", in_place("r"));
    return 0;
}

static char *page_with(const char *audit) {
    const char *run = folder;
    write_file(in_place("r/audit.json"), audit);
    CHECK_OK(ctx, mfpg_report_write(ctx, &run, 1, in_place("page"), NULL));
    return read_text("page/report.html");
}

static int count(const char *text, const char *word) {
    int found = 0;
    for (; (text = strstr(text, word)); text++) found++;
    return found;
}

static void test_levels_and_pictures_are_shown(void **state) {
    (void)state;
    char *page = page_with("{" INVERSION "}");
    json_t *report = cut_report(page);
    assert_string_equal(json_string_value(of_run(report, "audit.inversion.client")), "1");
    expect_in(page, "<td><bdi>0.8765432109876543</bdi></td>"); /* as it is in the file; 0.8765 on the axis */
    expect_in(page, "<bdi>0.8765</bdi>");
    expect_in(page,
        "<td><bdi>0.75</bdi></td><td><bdi>0.1875</bdi></td><td><bdi>0.375</bdi></td><td><bdi>3 of "
        "4</bdi></td><td><bdi>1.5</bdi></td>");
    expect_in(page,
        "<td><bdi>31.5</bdi></td><td><bdi></bdi></td><td><bdi>31.5</bdi></td><td><bdi>inf</bdi></td><td>"
        "<bdi></bdi></td>"); /* no optimisation at the first */
    expect_in(page, "alt=\"levels.1.closed_form.0\"");
    expect_in(page, "alt=\"original.0\"");
    assert_int_equal(count(page, "<img src=\"data:image/png;base64," PICTURE "\""), 4);
    assert_int_equal(count(page, "<img"), 4);
    assert_int_equal(count(page, PICTURE), 4);
    assert_null(strstr(page, "alt=\"levels.1.optimisation")); /* which has no pictures */
    assert_null(strstr(page, "class=\"broken\""));
    json_decref(report);
    free(page);
}

/* What is not known of pictures may be anything, and is text. */
static void test_pictures_of_others_are_text(void **state) {
    (void)state;
    write_file(in_place("r/audit.json"), "{" INVERSION "}");
    change("r/audit.json", "\"width\": 3",
        "\"width\": 3, \"x\\\"><script>\": \"iVBORw0KGgo\\\"><script>alert(1)</script>\", \"y\": \"z<img "
        "src=x>\"");
    char *text = read_text("r/audit.json"), *page = page_with(text);
    json_decref(cut_report(page));
    assert_int_equal(count(page, "<script"), 0);
    assert_int_equal(count(page, "<img"), 5);
    assert_int_equal(count(page, "<img src=\"data:image/png;base64,iVBORw0KGgo"), 5);
    free(page);
    free(text);
}

static void test_without_pictures_there_are_tables(void **state) {
    (void)state;
    char text[8192], *at;
    snprintf(text, sizeof text, "{%s}", INVERSION);
    at = strstr(text, "\"pictures\": ");
    snprintf(at, sizeof text - (size_t)(at - text), "\"pictures\": null}}");
    char *page = page_with(text);
    json_decref(cut_report(page));
    expect_in(page, "Examples told apart");
    assert_null(strstr(page, "<img"));
    free(page);
}

static void test_what_exceeds_its_cap_is_broken(void **state) {
    (void)state;
    write_file(in_place("r/audit.json"), "{" INVERSION "}");
    change("r/audit.json", "\"lower\": 0.1875", "\"lower\": 0.5");
    change("r/audit.json", "\"median_rank\": 1.5, \"stands\": true}}]",
        "\"median_rank\": 1.5, \"stands\": false}}]");
    change("r/audit.json", "\"stands\": true, \"client\"", "\"stands\": false, \"client\"");
    char *text = read_text("r/audit.json"), *page = page_with(text);
    expect_in(page, "An attack has broken a promise of this run.");
    expect_in(page, "<tr class=\"broken\"><th scope=\"row\"><bdi>0.8765</bdi>");
    free(page);
    free(text);
}

static void expect_refused(const char *from, const char *to, const char *const *parts) {
    const char *run = folder;
    write_file(in_place("r/audit.json"), "{" INVERSION "}");
    change("r/audit.json", from, to);
    if (mfpg_report_write(ctx, &run, 1, in_place("page"), NULL) != MFPG_ERR_INPUT)
        fail_msg("'%s' for '%s' is taken", to, from);
    check_message(parts);
}
#define INVERSION_REFUSED(from, to, ...) expect_refused(from, to, (const char *const[]){__VA_ARGS__, NULL})

static void test_what_no_audit_has_written_is_refused(void **state) {
    (void)state;
    INVERSION_REFUSED("\"client\": \"1\"", "\"client\": \"7\"", "inversion.client", "of this run");
    INVERSION_REFUSED(
        "\"unit\": \"example\"", "\"unit\": \"client\"", "inversion.unit", "not one of this run");
    INVERSION_REFUSED("\"mu\": 0.8765432109876543, ", "\"mu\": -1, ", "inversion.levels[1].mu", "from 0");
    INVERSION_REFUSED("\"noise_sd\": 0.125", "\"noise_sd\": null", "inversion.levels[0].noise_sd");
    INVERSION_REFUSED("\"ssim\": {", "\"sim\": {", "inversion.chance.mean.ssim");
    INVERSION_REFUSED(
        "\"closed_form\": {\"psnr\"", "\"closed_form\": {\"x\"", "inversion.levels[0].closed_form.psnr");
    INVERSION_REFUSED("\"correct\": 3", "\"correct\": 5", "identification.correct", "from 0 to trials");
    INVERSION_REFUSED("\"rate\": 0.75", "\"rate\": 1.75", "rate", "from 0 to 1");
    INVERSION_REFUSED("\"lower\": 0.1875", "\"lower\": 0.5", "levels[1].identification", "said to stand");
    INVERSION_REFUSED("\"stands\": true, \"client\"", "\"stands\": false, \"client\"", "inversion.stands");
    INVERSION_REFUSED(
        "\"levels\": [{\"mu\"", "\"levels\": [], \"x\": [{\"mu\"", "inversion.levels", "1 to 16");
    INVERSION_REFUSED("\"width\": 3", "\"width\": 300", "pictures.width", "1 to 256");
    INVERSION_REFUSED("\"width\": 3", "\"width\": 2", "pictures.original", "of the stated size");
    INVERSION_REFUSED(
        "\"original\": [\"" PICTURE, "\"original\": [\"" OTHER, "pictures.original", "grey PNG");
    INVERSION_REFUSED(
        "\"original\": [\"", "\"original\": [\"\\\"><script>alert(1)</script>", "pictures.original");
    INVERSION_REFUSED("\"original\": [\"", "\"original\": [\"AAAA\", \"", "pictures.original", "grey PNG");
    INVERSION_REFUSED("\"mean\": \"", "\"mean\": 3, \"x\": \"", "pictures.mean");
    INVERSION_REFUSED("{\"closed_form\": [\"" PICTURE "\"]",
        "{\"closed_form\": [\"" PICTURE "\", \"" PICTURE "\"]", "pictures.levels.closed_form",
        "as many pictures as original");
    INVERSION_REFUSED(
        "\"levels\": [{\"closed_form\"", "\"levels\": [], \"x\": [{\"closed_form\"", "pictures.levels");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_and_pictures_are_shown),
        cmocka_unit_test(test_pictures_of_others_are_text),
        cmocka_unit_test(test_without_pictures_there_are_tables),
        cmocka_unit_test(test_what_exceeds_its_cap_is_broken),
        cmocka_unit_test(test_what_no_audit_has_written_is_refused),
    };
    return cmocka_run_group_tests(tests, open_run, close_place);
}
