/* Every call that makes or changes a configuration, with the k-th allocation failing, for all k until it succeeds. */
#include "fixture.h"

#include "failing_memory.h"
#include "experiment/config/settings.h"

static const char text[] = "name: a\nmethod: {mechanism: gaussian, players: finite}\n"
                           "data: {files: [a.csv, b.csv], categories: {sex: [f, m], race: [x, y, z]}}\n"
                           "game: {actions: [1, 2], preferences: [1, 2, 3]}\n";

static mfpg_config *whole; /* a configuration that copies, sets and resolves begin with */
static char file[128];

static mfpg_status loaded(mfpg_status status, mfpg_config *config) {
    assert_int_equal(status == MFPG_OK, config != NULL);
    mfpg_config_destroy(config);
    return status;
}

static mfpg_status do_create(void) {
    mfpg_config *config = NULL;
    mfpg_status status = mfpg_config_create(ctx, &config);
    return loaded(status, config);
}

static mfpg_status do_load_text(void) {
    mfpg_config *config = NULL;
    mfpg_status status = mfpg_config_load_text(ctx, text, sizeof text - 1, "c.yaml", "/d", &config);
    return loaded(status, config);
}

static mfpg_status do_load(void) {
    mfpg_config *config = NULL;
    mfpg_status status = mfpg_config_load(ctx, file, &config);
    return loaded(status, config);
}

static mfpg_status do_open(void) {
    mfpg_config *config = NULL;
    mfpg_status status = mfpg_config_open(ctx, "study", &config);
    return loaded(status, config);
}

static mfpg_status do_copy(void) {
    mfpg_config *config = NULL;
    mfpg_status status = mfpg_config_copy(ctx, whole, &config);
    return loaded(status, config);
}

static mfpg_status do_set(void) {
    return mfpg_config_set(ctx, whole, "data.categories={sex: [a, b], job: [c]}");
}

static mfpg_status do_resolve(void) {
    return mfpg_config_resolve(ctx, whole, "game.own_cost", "0.5", "a reason");
}

static mfpg_status do_check(void) {
    return mfpg_config_check(ctx, whole);
}

static mfpg_status do_template(void) {
    char *out = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&out, &size);
    mfpg_status status = mfpg_config_template(ctx, stream);
    fclose(stream);
    free(out);
    return status;
}

static void test_every_call_survives_each_failing_allocation(void **state) {
    (void)state;
    const struct {
        mfpg_status (*call)(void);
        const char *name;
        long at_least;
    } calls[] = {{do_create, "create", 20}, {do_load_text, "load_text", 40}, {do_load, "load", 40},
        {do_open, "open", 40}, {do_copy, "copy", 20}, {do_set, "set", 20}, {do_resolve, "resolve", 3},
        {do_check, "check", 20}, {do_template, "template", 40}};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        for (int once = 0; once < 2; once++) {
            long k = 0;
            for (int failed = 1; failed; k++) {
                char *before = written(whole);
                begin_failing(k, once);
                mfpg_status status = calls[i].call();
                failed = end_failing();
                char *after = written(whole);
                if (status != (failed ? MFPG_ERR_MEMORY : MFPG_OK))
                    fail_msg("%s, allocation %ld%s: %s", calls[i].name, k, once ? " alone" : "",
                        mfpg_context_message(ctx));
                if (failed) assert_string_equal(before, after);
                free(before);
                free(after);
            }
            if (k < calls[i].at_least)
                fail_msg("%s: only %ld allocations were made to fail", calls[i].name, k);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_call_survives_each_failing_allocation)};
    open_context(NULL);
    const char *folder = temporary_folder();
    snprintf(file, sizeof file, "%s/study.yaml", folder);
    write_file(file, text);
    setenv("MFPG_EXAMPLES", folder, 1);
    whole = load(text);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mfpg_config_destroy(whole);
    remove(file);
    rmdir(folder);
    close_context(NULL);
    return failed;
}
