/* Actions chosen anew in every round: what is chosen, what it costs, who must stop, and what is certified. */
#include "fixture.h"

#include "base/grid_noise.h"
#include "mechanisms/private_action.h"
#include "accountants/accounting.h"
#include "whole_grid.h"

#include <unistd.h>

enum { CLIENTS = 5, ROWS = 40 }; /* 30 of the rows are for training */

static const double GRID[] = {0.1, 0.3, 0.5, 1, 2};

/* A federation that acts, and what its options borrow. */
typedef struct scene {
    fixture f;
    mfpg_game game;
    mfpg_acting acting;
    double preference[CLIENTS], privacy_scale[CLIENTS];
} scene;

static void open_scene(
    scene *s, int threads, mfpg_unit unit, mfpg_adjacency adjacency, mfpg_selection selection) {
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.kind = "entropic";
    o.promise = (mfpg_promise){unit, adjacency, MFPG_VIEW_LOCAL};
    mfpg_action first = {.control = MFPG_CONTROL_STRENGTH, .strength = {1}};
    s->f = fixture_open(threads, "logistic", CLIENTS, ROWS, &o, first);
    for (int k = 0; k < CLIENTS; k++) {
        s->preference[k] = 0.1 + 0.3 * k;
        s->privacy_scale[k] = 0.2;
    }
    s->game = mfpg_game_default();
    s->game.cost = "measured";
    s->game.clients = CLIENTS;
    s->game.preference = s->preference;
    s->game.privacy_scale = s->privacy_scale;
    s->game.dimension = 5;
    s->game.actions = (mfpg_action_set){.low = 0.05, .high = 3};
    if (selection == MFPG_SELECTION_EXPONENTIAL)
        s->game.actions = (mfpg_action_set){.grid = GRID, .count = 5};
    s->acting = (mfpg_acting){
        .game = &s->game, .selection = selection, .loss_clip = 4, .noise = {0.5, 0.2}, .epsilon = 0.5};
    s->f.options.acting = &s->acting;
    s->f.options.stop_at_epsilon = selection == MFPG_SELECTION_NONE ? INFINITY : 4;
}

static mfpg_client_report report_of(scene *s, ptrdiff_t k) {
    mfpg_client_report client;
    CHECK_OK(s->f.ctx, mfpg_federation_client(s->f.ctx, s->f.federation, k, &client));
    return client;
}

static double loss_of(scene *s, ptrdiff_t k) {
    const mfpg_dataset *data = &s->f.data->client[k].train;
    float *work = calloc((size_t)mfpg_measure_workspace(s->f.model, data->rows), sizeof *work);
    double loss = mfpg_measure_loss(
        s->f.model, data, data->rows, s->acting.loss_clip, mfpg_federation_model(s->f.federation), work);
    free(work);
    return loss;
}

/* ---- what is chosen ---- */

/* Round by round from the model at hand: the loss with the noise of (round, client), and sqrt(beta B/L) within bounds. */
static void test_a_noisy_action_answers_the_noised_loss_at_the_broadcast_model(void **state) {
    (void)state;
    scene s;
    open_scene(&s, 1, MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_ZERO_OUT, MFPG_SELECTION_NOISY);
    CHECK_OK(s.f.ctx, fixture_start(&s.f));
    for (uint64_t round = 0; round < 4; round++) {
        double expected[CLIENTS], mean = 0;
        for (ptrdiff_t k = 0; k < CLIENTS; k++) {
            int64_t steps[2];
            const double measured[2] = {loss_of(&s, k), 0}, grid = mfpg_grid_for(0.5);
            mfpg_stream noise = mfpg_stream_open(&s.f.key, MFPG_PURPOSE_MEASURE, round, (uint64_t)k);
            whole_grid_noise(&noise, 0, 2, measured, 0.5, grid, steps);
            double loss = fmin(4, fmax(0, grid * (double)steps[0]));
            expected[k] = fmin(3, fmax(0.05, sqrt(s.preference[k] * 0.2 / loss)));
            mean += expected[k] / CLIENTS;
        }
        mfpg_round_report report = fixture_round(&s.f);
        for (ptrdiff_t k = 0; k < CLIENTS; k++)
            check_near(report_of(&s, k).action_value, expected[k], 1e-14, 0, "action");
        check_near(report.mean_action, mean, 1e-14, 0, "mean of noised actions");
    }
    fixture_close(&s.f);
}

static void test_a_raw_action_answers_the_raw_numbers_and_certifies_nothing(void **state) {
    (void)state;
    scene s;
    open_scene(&s, 1, MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_ZERO_OUT, MFPG_SELECTION_NONE);
    CHECK_OK(s.f.ctx, fixture_start(&s.f));
    double loss = loss_of(&s, 2);
    mfpg_round_report report = fixture_round(&s.f);
    mfpg_client_report client = report_of(&s, 2);
    check_near(client.action_value, sqrt(s.preference[2] * 0.2 / loss), 1e-14, 0, "best response");
    assert_true(isinf(report.epsilon) && isinf(client.epsilon) && isinf(client.epsilon_other));
    assert_true(isinf(client.mu) && client.distance == 1.0 && isinf(client.choice_mu));
    fixture_close(&s.f);
}

/* The paper's response is the largest strength whatever is measured (theory S0 b), its measurements all the same used. */
static void test_the_papers_cost_reads_both_measurements(void **state) {
    (void)state;
    scene s;
    open_scene(&s, 1, MFPG_UNIT_CLIENT, MFPG_ADJACENCY_REPLACE, MFPG_SELECTION_NOISY);
    s.game.cost = "paper";
    s.acting.noise = (mfpg_measurement){20, 5};
    s.f.options.stop_at_epsilon = 30;
    CHECK_OK(s.f.ctx, fixture_start(&s.f));
    fixture_round(&s.f);
    assert_true(report_of(&s, 0).action_value == 3.0);
    /* client, replace: loss clip/sL and C/sG (theory S4) */
    check_near(report_of(&s, 0).choice_mu, hypot(4 / 20.0, 1 / 5.0), 1e-5, 0, "mu of a choice");
    fixture_close(&s.f);
}

static void test_an_exponential_choice_is_on_the_grid_and_costs_its_epsilon(void **state) {
    (void)state;
    for (int replace = 0; replace < 2; replace++) {
        scene s;
        open_scene(&s, 1, MFPG_UNIT_EXAMPLE, replace ? MFPG_ADJACENCY_REPLACE : MFPG_ADJACENCY_ZERO_OUT,
            MFPG_SELECTION_EXPONENTIAL);
        s.f.options.stop_at_epsilon = 12;
        CHECK_OK(s.f.ctx, fixture_start(&s.f));
        int seen[5] = {0};
        for (int round = 0; round < 6; round++) {
            fixture_round(&s.f);
            for (ptrdiff_t k = 0; k < CLIENTS; k++)
                for (int j = 0; j < 5; j++) seen[j] += report_of(&s, k).action_value == GRID[j];
        }
        assert_int_equal(seen[0] + seen[1] + seen[2] + seen[3] + seen[4], 6 * CLIENTS);
        double mu = mfpg_choice_mu(0.5), charged = report_of(&s, 0).choice_mu;
        /* under replace two halves are charged, which is a little more: mu is concave */
        assert_true(charged >= mu && charged <= mu * (1 + 1e-2));
        fixture_close(&s.f);
    }
}

/* ---- what it costs ---- */

typedef struct sums {
    double square[CLIENTS];
    int choices[CLIENTS], updates[CLIENTS];
} sums;

static mfpg_status add_line(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    sums *all = user;
    for (int64_t k = first; k <= last; k++) {
        double mu = mfpg_release_mu(release, MFPG_ADJACENCY_ZERO_OUT);
        all->square[k] += mu * mu;
        if (release->weight == 0.0) {
            all->choices[k]++;
            assert_true(release->steps == 1 && release->action.control == MFPG_CONTROL_NONE);
        } else {
            all->updates[k]++;
            assert_int_equal(release->action.control, MFPG_CONTROL_STRENGTH);
        }
    }
    return MFPG_OK;
}

/* Runs until nobody has budget left; the ledger then tells what was released. */
static sums run_dry(scene *s) {
    char path[] = "/tmp/mfpg-act-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    unlink(path);
    mfpg_ledger *ledger = NULL;
    mfpg_ledger_header header = {.clients = CLIENTS, .promise = s->f.options.promise, .delta = 1e-5};
    CHECK_OK(s->f.ctx, mfpg_ledger_create(s->f.ctx, path, &header, &ledger));
    CHECK_OK(s->f.ctx, fixture_start(&s->f));
    mfpg_federation_keep_ledger(s->f.federation, ledger);
    int done = 0, rounds = 0;
    while (!done && rounds++ < 3000) {
        mfpg_round_report report = {0};
        CHECK_OK(s->f.ctx, mfpg_federation_round(s->f.ctx, s->f.federation, &report, &done));
        if (!done) assert_true(report.epsilon == s->f.options.stop_at_epsilon);
    }
    assert_true(done);
    mfpg_ledger_close(ledger);
    sums all = {0};
    CHECK_OK(s->f.ctx, mfpg_ledger_read(s->f.ctx, path, &header, add_line, &all, NULL));
    unlink(path);
    return all;
}

/* Theory S4: the sum of squares never passes the budget's square, and who stopped could not have paid once more. */
static void check_filter(mfpg_selection selection, mfpg_view view, int participants) {
    scene s;
    open_scene(&s, 1, MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_ZERO_OUT, selection);
    s.f.options.promise.view = view;
    s.f.options.participants = participants;
    s.f.options.evaluate = MFPG_EVALUATE_NONE;
    sums all = run_dry(&s);
    double budget = mfpg_gdp_mu(4, 1e-5);
    for (ptrdiff_t k = 0; k < CLIENTS; k++) {
        mfpg_client_report client = report_of(&s, k);
        double spent = sqrt(all.square[k]);
        assert_true(client.stopped && client.rounds == all.updates[k] && client.rounds > 3);
        assert_true(all.choices[k] == all.updates[k] || all.choices[k] == all.updates[k] + 1);
        check_near(client.spent_mu, spent, 1e-12, 0, "spent");
        assert_true(client.spent_mu <= budget && client.mu == budget);
        assert_true(client.epsilon == 4.0);
        check_near(client.epsilon_other, mfpg_gdp_epsilon(2 * budget, 1e-5), 1e-9, 0, "other adjacency");
        check_near(client.distance, mfpg_gdp_delta(budget, 0), 1e-9, 0, "distance");
        /* the costliest update: strength .05 (grid: .1) in the local view, which no view exceeds */
        double low = s.game.actions.grid ? 0.1 : 0.05, most = sqrt(0.1 / (2 * low)) / 30;
        double once_more = hypot(hypot(spent, client.choice_mu), most);
        assert_true(once_more > budget);
    }
    fixture_close(&s.f);
}

static void test_nobody_overspends_the_filter(void **state) {
    (void)state;
    check_filter(MFPG_SELECTION_NOISY, MFPG_VIEW_LOCAL, 0);
    check_filter(MFPG_SELECTION_NOISY, MFPG_VIEW_AVERAGE, 0);
    check_filter(MFPG_SELECTION_NOISY, MFPG_VIEW_AVERAGE, 1);
    check_filter(MFPG_SELECTION_EXPONENTIAL, MFPG_VIEW_LOCAL, 0);
    check_filter(MFPG_SELECTION_EXPONENTIAL, MFPG_VIEW_AVERAGE, 0);
}

/* A choice that the budget does not allow is not made: nothing is released, and everybody has stopped. */
static void test_a_budget_below_one_choice_ends_before_it(void **state) {
    (void)state;
    scene s;
    open_scene(&s, 1, MFPG_UNIT_CLIENT, MFPG_ADJACENCY_ZERO_OUT, MFPG_SELECTION_NOISY);
    s.f.options.stop_at_epsilon = 0.5; /* one choice: mu = 2/.5 = 4 */
    CHECK_OK(s.f.ctx, fixture_start(&s.f));
    mfpg_round_report report = {0};
    int done = 0;
    CHECK_OK(s.f.ctx, mfpg_federation_round(s.f.ctx, s.f.federation, &report, &done));
    assert_true(done);
    for (ptrdiff_t k = 0; k < CLIENTS; k++) assert_true(report_of(&s, k).spent_mu == 0.0);
    fixture_close(&s.f);
}

/* ---- sameness ---- */

static void test_threads_and_cohorts_do_not_change_a_bit(void **state) {
    (void)state;
    for (int selection = MFPG_SELECTION_NONE; selection <= MFPG_SELECTION_EXPONENTIAL; selection++) {
        float first[5];
        double action[CLIENTS];
        for (int threads = 1; threads <= 3; threads++) {
            scene s;
            open_scene(&s, threads, MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_ZERO_OUT, (mfpg_selection)selection);
            s.f.options.client_rate = 0.6;
            if (selection) s.f.options.stop_at_epsilon = 30;
            CHECK_OK(s.f.ctx, fixture_start(&s.f));
            for (int round = 0; round < 6; round++) fixture_round(&s.f);
            const float *w = mfpg_federation_model(s.f.federation);
            if (threads == 1) memcpy(first, w, sizeof first);
            assert_memory_equal(w, first, sizeof first);
            for (ptrdiff_t k = 0; k < CLIENTS; k++) {
                mfpg_client_report client = report_of(&s, k);
                if (threads == 1) action[k] = client.action_value;
                assert_true(client.action_value == action[k] && client.rounds < 6);
            }
            fixture_close(&s.f);
        }
    }
}

/* Noise is used once: of every purpose, round and client the draws differ. */
static void test_no_two_choices_share_their_noise(void **state) {
    (void)state;
    enum { ROUNDS = 5, PURPOSES = 3, DRAWS = ROUNDS * CLIENTS * PURPOSES };
    const mfpg_purpose purpose[PURPOSES] = {MFPG_PURPOSE_NOISE, MFPG_PURPOSE_MEASURE, MFPG_PURPOSE_CHOICE};
    mfpg_key key = mfpg_key_from_seed(3);
    float draw[DRAWS][2];
    for (int i = 0; i < DRAWS; i++) {
        mfpg_stream stream = mfpg_stream_open(&key, purpose[i % PURPOSES], (uint64_t)(i / PURPOSES % ROUNDS),
            (uint64_t)(i / PURPOSES / ROUNDS));
        mfpg_stream_gaussian(&stream, 0, 2, draw[i]);
        for (int j = 0; j < i; j++) assert_true(draw[i][0] != draw[j][0] && draw[i][1] != draw[j][1]);
    }
}

/* A client that no cohort holds pays nothing and keeps its first action. */
static void test_who_takes_no_part_measures_nothing(void **state) {
    (void)state;
    scene s;
    open_scene(&s, 1, MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_ZERO_OUT, MFPG_SELECTION_NOISY);
    s.f.options.clients_per_round = 1;
    CHECK_OK(s.f.ctx, fixture_start(&s.f));
    fixture_round(&s.f);
    int idle = 0;
    for (ptrdiff_t k = 0; k < CLIENTS; k++) {
        mfpg_client_report client = report_of(&s, k);
        if (client.rounds > 0) continue;
        idle++;
        assert_true(client.action_value == 1.0 && client.spent_mu == 0.0);
    }
    assert_int_equal(idle, CLIENTS - 1);
    fixture_close(&s.f);
}

/* ---- doors ---- */

typedef void (*spoil)(scene *s);

static void view_final(scene *s) {
    s->f.options.promise.view = MFPG_VIEW_FINAL;
}
static void no_budget(scene *s) {
    s->f.options.stop_at_epsilon = INFINITY;
}
static void other_accountant(scene *s) {
    s->f.options.accountant = "rdp";
}
static void weights(scene *s) {
    s->f.options.weights = MFPG_WEIGHTS_INVERSE_NOISE;
}
static void public_cost(scene *s) {
    s->game.cost = "interaction";
}
static void unbounded(scene *s) {
    s->game.actions.low = 0;
}
static void endless(scene *s) {
    s->game.actions.high = INFINITY;
}
static void other_clients(scene *s) {
    s->game.clients = CLIENTS - 1;
}
static void unstable(scene *s) {
    s->game.actions.high = 1000;
}
static void silent(scene *s) {
    s->acting.noise.loss = 0;
}
static void no_number(scene *s) {
    s->acting.noise.loss = NAN;
}
static void no_clip(scene *s) {
    s->acting.loss_clip = NAN;
}
static void endless_clip(scene *s) {
    s->acting.loss_clip = INFINITY;
}
static void no_grid(scene *s) {
    s->acting.selection = MFPG_SELECTION_EXPONENTIAL;
}
static void raw_with_budget(scene *s) {
    s->acting.selection = MFPG_SELECTION_NONE;
}
static void unknown(scene *s) {
    s->acting.selection = (mfpg_selection)9;
}

static void no_epsilon(scene *s) {
    s->acting.selection = MFPG_SELECTION_EXPONENTIAL;
    s->game.actions = (mfpg_action_set){.grid = GRID, .count = 5};
    s->acting.epsilon = 0;
}

static void test_what_cannot_be_certified_is_refused_with_the_reason(void **state) {
    (void)state;
    const struct {
        spoil spoil;
        const char *words;
    } wrong[] = {{view_final, "view final"}, {no_budget, "budget that is fixed beforehand"},
        {other_accountant, "filter"}, {weights, "inverse-noise"}, {public_cost, "reads nothing"},
        {unbounded, "minimum"}, {endless, "maximum"}, {other_clients, "cannot choose for"},
        {unstable, "client"}, {silent, "noise of the measured loss"},
        {no_number, "noise of the measured loss"}, {no_clip, "loss clip"}, {endless_clip, "loss clip"},
        {no_grid, "draws from a list"}, {raw_with_budget, "raw private numbers"},
        {unknown, "unknown selection"}, {no_epsilon, "epsilon"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        scene s;
        open_scene(&s, 1, MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_ZERO_OUT, MFPG_SELECTION_NOISY);
        wrong[i].spoil(&s);
        mfpg_status status = fixture_start(&s.f);
        if (status == MFPG_OK || !strstr(mfpg_context_message(s.f.ctx), wrong[i].words)) {
            print_error("%zu: %s\n", i, mfpg_context_message(s.f.ctx));
            fail();
        }
        assert_null(s.f.federation);
        fixture_close(&s.f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_noisy_action_answers_the_noised_loss_at_the_broadcast_model),
        cmocka_unit_test(test_a_raw_action_answers_the_raw_numbers_and_certifies_nothing),
        cmocka_unit_test(test_the_papers_cost_reads_both_measurements),
        cmocka_unit_test(test_an_exponential_choice_is_on_the_grid_and_costs_its_epsilon),
        cmocka_unit_test(test_nobody_overspends_the_filter),
        cmocka_unit_test(test_a_budget_below_one_choice_ends_before_it),
        cmocka_unit_test(test_threads_and_cohorts_do_not_change_a_bit),
        cmocka_unit_test(test_no_two_choices_share_their_noise),
        cmocka_unit_test(test_who_takes_no_part_measures_nothing),
        cmocka_unit_test(test_what_cannot_be_certified_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
