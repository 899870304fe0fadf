/* The continuous game where memory runs out. */
#include "failing_memory.h"

#include "pde_model.h"

static const double WEIGHTS[] = {0.5, 1};
static mfpg_context *ctx;

static mfpg_status solve(void *arg) {
    mfpg_pde_model model = quadratic_game(WEIGHTS, 2);
    mfpg_pde_options options = mfpg_pde_options_default();
    mfpg_pde_solution *solution = NULL;
    (void)arg;
    options.nodes = 41;
    options.steps = 8;
    mfpg_status status = mfpg_pde_solve(ctx, &model, &options, &solution);
    assert_true((status == MFPG_OK) == (solution != NULL));
    mfpg_pde_solution_destroy(solution);
    return status;
}

static mfpg_status particles(void *arg) {
    mfpg_pde_model model = quadratic_game(WEIGHTS, 2);
    mfpg_key key = mfpg_key_from_seed(1);
    double mean[5], variance[5];
    const mfpg_pde_particles_options options = {.count = 700, .steps = 4, .key = &key, .fixed_control = 1};
    (void)arg;
    return mfpg_pde_particles(ctx, &model, NULL, &options, mean, variance);
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    ctx = testing_context(1);
    assert_true(sweep_allocations(solve, NULL) >= 9);
    assert_true(sweep_allocations(particles, NULL) >= 3);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation_may_fail)};
    return cmocka_run_group_tests_name("numerics.pde_memory", tests, NULL, NULL);
}
