/* Every allocation of the studies fails once: an error, nothing left behind, nothing half built. */
#include "failing_memory.h"

#include "reproduction/studies.h"
#include "reproduction/support.h"

void *reproduction_alloc(ptrdiff_t count, size_t size) {
    return mfpg_alloc(count, size);
}

static mfpg_context *ctx;

static mfpg_status study_limit(void *arg) {
    static const ptrdiff_t ladder[3] = {2, 3, 4};
    mfpg_game game = mfpg_game_default();
    mfpg_limit_options options = mfpg_limit_options_default();
    mfpg_convergence of = {0};
    (void)arg;
    game.cost = "interaction";
    game.interaction = 1;
    game.privacy_scale_all = game.own_cost_all = 1;
    options.population = ladder;
    options.rungs = 3;
    options.repeats = 2;
    options.law_types = 1024;
    mfpg_status status = mfpg_study_limit(ctx, &game, &options, &of);
    assert_int_equal(status == MFPG_OK, of.line != NULL);
    mfpg_convergence_clear(&of);
    return status;
}

static mfpg_status study_chaos(void *arg) {
    static const ptrdiff_t ladder[3] = {2, 3, 4};
    mfpg_pde_model model = mfpg_chaos_model();
    mfpg_chaos_options options = mfpg_chaos_options_default();
    mfpg_convergence of = {0};
    (void)arg;
    options.population = ladder;
    options.rungs = 3;
    options.repeats = 2;
    options.grid.nodes = 41;
    options.grid.steps = 10;
    mfpg_status status = mfpg_study_chaos(ctx, &model, &options, &of);
    assert_int_equal(status == MFPG_OK, of.line != NULL);
    mfpg_convergence_clear(&of);
    return status;
}

static mfpg_status study_figure(void *arg) {
    mfpg_figure_options options = mfpg_figure_options_default();
    mfpg_figure figure = {0};
    (void)arg;
    options.clients = options.beta_count = options.draws = 2;
    options.settings = 1;
    mfpg_status status = mfpg_study_figure(ctx, NULL, 0, &options, &figure);
    assert_int_equal(status == MFPG_OK, figure.panels != NULL);
    mfpg_figure_clear(&figure);
    return status;
}

static mfpg_status study_output(void *arg) {
    static const double features[3] = {1, 2, 3}, target[3] = {1, 1, 1}, preference[1] = {1};
    const mfpg_output_game game = {.clients = 1,
        .rows = 3,
        .dimension = 1,
        .features = features,
        .target = target,
        .preference = preference};
    mfpg_output_report report;
    (void)arg;
    return mfpg_study_output(ctx, &game, 0, 1, 1, &report);
}

static void test_every_allocation(void **state) {
    (void)state;
    ctx = testing_context(1); /* the failing allocation is not for several threads */
    assert_true(sweep_allocations(study_limit, NULL) > 30);
    assert_true(sweep_allocations(study_chaos, NULL) > 20);
    assert_true(sweep_allocations(study_figure, NULL) > 30);
    assert_int_equal(sweep_allocations(study_output, NULL), 1);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
