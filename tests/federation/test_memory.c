/* A federation from its set-up to the files of its run folder with the k-th allocation failing, for all k until each call
 * succeeds: those of the JSON library too. One thread: the count is not shared. */
#include "federation/fixture.h"

#include <unistd.h>

#include "failing_memory.h"
#include "data/npy.h"
#include "federation/federation_core.h"
#include "federation/run_folder.h"

static char folder[600];

static fixture begin(const char *mechanism, const char *accountant) {
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.kind = mechanism;
    options.batch_rate = strcmp(accountant, "rdp") == 0 ? 0.5 : 1.0;
    options.promise.unit = MFPG_UNIT_EXAMPLE;
    mfpg_action action = strcmp(mechanism, "entropic") == 0
                             ? (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {1.0}}
                             : (mfpg_action){.control = MFPG_CONTROL_BUDGET, .budget = {1.0}};
    fixture f = fixture_open(1, "logistic", 3, 20, &options, action);
    f.options.accountant = accountant;
    f.options.paper_accountant = strcmp(mechanism, "entropic") == 0 ? "paper_lsi" : NULL;
    f.options.free_energy = strcmp(mechanism, "entropic") == 0;
    return f;
}

static mfpg_status create(void *arg) {
    fixture *f = arg;
    mfpg_status status = fixture_start(f);
    assert_int_equal(status == MFPG_OK, f->federation != NULL);
    mfpg_federation_destroy(f->federation);
    f->federation = NULL;
    return status;
}

/* With a federation that has memory, a call that may run out of it. */
static mfpg_status on_a_new_federation(fixture *f, int rounds, mfpg_status (*call)(fixture *f)) {
    long left = allocations_left;
    allocations_left = -1;
    CHECK_OK(f->ctx, fixture_start(f));
    for (int i = 0; i < rounds; i++) fixture_round(f);
    allocations_left = left;
    mfpg_status status = call(f);
    mfpg_federation_destroy(f->federation);
    f->federation = NULL;
    return status;
}

/* A round that ran out of memory may be tried again: it never costs less than it would have. */
static mfpg_status try_round(fixture *f) {
    mfpg_round_report report;
    mfpg_client_report client;
    int done = 0;
    mfpg_status status = mfpg_federation_round(f->ctx, f->federation, &report, &done);
    if (status == MFPG_OK) return status;
    allocations_left = -1;
    CHECK_OK(f->ctx, mfpg_federation_round(f->ctx, f->federation, &report, &done));
    CHECK_OK(f->ctx, mfpg_federation_client(f->ctx, f->federation, 0, &client));
    assert_true(client.epsilon > 0.0 && report.epsilon > 0.0);
    return status;
}

static mfpg_status one_round(void *arg) {
    return on_a_new_federation(arg, 0, try_round);
}

static mfpg_status ask_everything(fixture *f) {
    mfpg_client_report client;
    mfpg_metrics metrics;
    mfpg_status status = mfpg_federation_client(f->ctx, f->federation, 1, &client);
    if (status == MFPG_OK) status = mfpg_federation_certify(f->ctx, f->federation);
    if (status == MFPG_OK) status = mfpg_federation_metrics(f->ctx, f->federation, 1, &metrics);
    if (status == MFPG_OK) status = mfpg_federation_metrics(f->ctx, f->federation, -1, &metrics);
    for (int train = 0; train < 2 && status == MFPG_OK; train++)
        status = mfpg_pool_evaluate(
            f->ctx, f->data, train, f->model, mfpg_federation_model(f->federation), &metrics);
    return status;
}

static mfpg_status questions(void *arg) {
    return on_a_new_federation(arg, 1, ask_everything);
}

static void test_every_pair_of_mechanism_and_accountant_survives(void **state) {
    (void)state;
    const char *pairs[][2] = {
        {"gaussian", "gdp"}, {"gaussian", "rdp"}, {"entropic", "gdp"}, {"input", "data-particles"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        fixture f = begin(pairs[i][0], pairs[i][1]);
        assert_true(sweep_allocations(create, &f) >= 12);
        sweep_allocations(one_round, &f);
        assert_true(sweep_allocations(questions, &f) >= 3);
        fixture_close(&f);
    }
}

/* What the server keeps from round to round, and clients within a round. */
static void test_optimisers_survive_too(void **state) {
    (void)state;
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.local_steps = 2;
    options.optimiser.kind = "momentum";
    fixture f = fixture_open(
        1, "logistic", 3, 20, &options, (mfpg_action){.control = MFPG_CONTROL_BUDGET, .budget = {1.0}});
    f.options.server.kind = "adam";
    assert_true(sweep_allocations(create, &f) >= 12);
    sweep_allocations(one_round, &f);
    fixture_close(&f);
}

/* Actions that are chosen each round, by either selection. */
static void test_choices_of_actions_survive_too(void **state) {
    (void)state;
    const double grid[] = {0.5, 1, 2}, ones[] = {1, 1, 1};
    mfpg_game game = mfpg_game_default();
    game.cost = "paper";
    game.clients = 3;
    game.preference = game.privacy_scale = ones;
    game.actions = (mfpg_action_set){.grid = grid, .count = 3};
    for (int selection = MFPG_SELECTION_NOISY; selection <= MFPG_SELECTION_EXPONENTIAL; selection++) {
        fixture f = begin("entropic", "gdp");
        mfpg_acting acting = {.game = &game,
            .selection = (mfpg_selection)selection,
            .loss_clip = 5,
            .noise = {1, 1},
            .epsilon = 0.5};
        f.options.acting = &acting;
        f.options.stop_at_epsilon = 20;
        assert_true(sweep_allocations(create, &f) >= 12);
        sweep_allocations(one_round, &f);
        assert_true(sweep_allocations(questions, &f) >= 3);
        fixture_close(&f);
    }
}

/* ---- the run folder ---- */

static int file_is_there(const char *name) {
    char path[700];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void remove_if_there(const char *name) {
    char path[700];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

static mfpg_status write_rounds(fixture *f) {
    mfpg_round_report report = {.round = 1};
    return mfpg_run_write_rounds(f->ctx, folder, MFPG_ROUND_CSV, MFPG_PARTICLES_PARAMETERS, &report, 1);
}

static mfpg_status write_free_energy(fixture *f) {
    mfpg_round_report report = {.round = 1, .free_energy = {1, 2, 3, 4, 5}};
    return mfpg_run_write_rounds(f->ctx, folder, MFPG_ENERGY_CSV, MFPG_PARTICLES_PARAMETERS, &report, 1);
}

static mfpg_status write_clients(fixture *f) {
    return mfpg_run_write_clients(f->ctx, folder, f->federation, NULL);
}

static mfpg_status write_model(fixture *f) {
    return mfpg_run_write_model(
        f->ctx, folder, mfpg_federation_model(f->federation), mfpg_model_parameters(f->model));
}

static mfpg_status write_timings(fixture *f) {
    double seconds = 1.0;
    return mfpg_run_write_timings(f->ctx, folder, &seconds, NULL, 1);
}

static mfpg_status write_json(fixture *f) {
    long left = allocations_left;
    allocations_left = -1;
    json_t *object = json_pack("{s:i, s:[f, f]}", "a", 1, "b", 0.5, 0.25);
    assert_non_null(object);
    allocations_left = left;
    mfpg_status status = mfpg_run_write_json(f->ctx, folder, "summary.json", object);
    json_decref(object);
    return status;
}

static mfpg_status read_model(fixture *f) {
    char path[700];
    float *w = NULL;
    snprintf(path, sizeof path, "%s/model.npy", folder);
    mfpg_status status = mfpg_npy_read_vector(f->ctx, path, mfpg_model_parameters(f->model), &w);
    assert_int_equal(status == MFPG_OK, w != NULL);
    free(w);
    return status;
}

/* A file is there, under its name, exactly where its writer succeeded, and nothing else is. */
static void test_files_of_a_run_are_whole_or_absent(void **state) {
    (void)state;
    const struct {
        const char *name;
        mfpg_status (*write)(fixture *f);
    } files[] = {{"rounds.csv", write_rounds}, {"clients.csv", write_clients}, {"timings.csv", write_timings},
        {"free_energy.csv", write_free_energy}, {"summary.json", write_json}, {"model.npy", write_model}};
    fixture f = begin("gaussian", "gdp");
    CHECK_OK(f.ctx, fixture_start(&f));
    fixture_round(&f);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        long k = 0;
        for (int once = 0; once < 2; once++) {
            int failed = 1;
            for (k = 0; failed; k++) {
                char part[64];
                remove_if_there(files[i].name);
                begin_failing(k, once);
                mfpg_status status = files[i].write(&f);
                failed = end_failing();
                assert_int_equal(status, failed ? MFPG_ERR_MEMORY : MFPG_OK);
                assert_int_equal(file_is_there(files[i].name), !failed);
                snprintf(part, sizeof part, "%s.part", files[i].name);
                assert_false(file_is_there(part));
            }
            assert_true(k >= 3);
        }
    }
    for (int once = 0; once < 2; once++) {
        int failed = 1;
        for (long k = 0; failed; k++) {
            begin_failing(k, once);
            mfpg_status status = read_model(&f);
            failed = end_failing();
            assert_int_equal(status, failed ? MFPG_ERR_MEMORY : MFPG_OK);
        }
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) remove_if_there(files[i].name);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair_of_mechanism_and_accountant_survives),
        cmocka_unit_test(test_optimisers_survive_too),
        cmocka_unit_test(test_choices_of_actions_survive_too),
        cmocka_unit_test(test_files_of_a_run_are_whole_or_absent),
    };
    const char *place = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/mfpg-memory-XXXXXX", place && *place ? place : "/tmp");
    if (!mkdtemp(folder)) return 1;
    count_json_allocations();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
