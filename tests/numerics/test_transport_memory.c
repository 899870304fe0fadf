/* Transport where an allocation fails: it fails, says so, and leaves the points alone. */
#include "failing_memory.h"

#include "mfpg/transport.h"

typedef struct scene {
    mfpg_context *ctx;
    ptrdiff_t n, d;
    double eta;
} scene;

static mfpg_status project(void *arg) {
    scene *s = arg;
    static float x[6000], before[6000];
    for (int i = 0; i < 6000; i++) x[i] = before[i] = (float)sin(i * i % 997);
    mfpg_sinkhorn_result result;
    mfpg_status status =
        mfpg_sinkhorn_project_points(s->ctx, s->n, s->d, (mfpg_regularisation){.value = s->eta}, x, &result);
    if (status != MFPG_OK) assert_memory_equal(x, before, sizeof x);
    return status;
}

static void test_every_failing_allocation_is_survived(void **state) {
    (void)state;
    const scene scenes[] = {{.n = 100, .d = 1, .eta = 1e-4}, /* rows, stored */
        {.n = 6000, .d = 1, .eta = 0.1},                     /* boxes */
        {.n = 90, .d = 3, .eta = 0.1}};
    for (int i = 0; i < 3; i++) {
        scene s = scenes[i];
        s.ctx = testing_context(1);
        assert_true(sweep_allocations(project, &s) >= 5);
        mfpg_context_destroy(s.ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_failing_allocation_is_survived)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
