/* Audits of noised records: one release, whatever is seen of it. Law game: the budget is mu under replace. */
#include "failing_memory.h"
#include "local_round.h"

#include "audit/faults.h"
#include "base/release_parts.h"

static mfpg_mechanism_options options_of(int entropic, mfpg_unit unit, mfpg_adjacency adjacency) {
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.kind = entropic ? "entropic" : "input";
    o.particles = MFPG_PARTICLES_DATA;
    o.promise = (mfpg_promise){unit, adjacency, MFPG_VIEW_LOCAL};
    o.clip = 2;
    o.prior_variance = 80; /* the flow hardly contracts at such noise */
    return o;
}

static subject records_open(
    int threads, ptrdiff_t clients, int64_t rounds, const mfpg_mechanism_options *o, double multiplier) {
    subject s = subject_open(threads, clients, rounds, "logistic", o, multiplier);
    s.options.accountant = "data-particles";
    s.audit.runs = 400;
    return s;
}

static void complain(const subject *s, const mfpg_audit_client *c, const char *what) {
    print_error("seed %llu, %s, %s %s: mu %.4f, proved %.4f (%s), fit %.4f\n",
        (unsigned long long)testing_seed(), what, mfpg_unit_name(s->options.promise.unit),
        mfpg_adjacency_name(s->options.promise.adjacency), c->mu, c->mu_lower,
        mfpg_audit_pattern_name(c->pattern), c->mu_estimate);
    fail();
}

/* The fitted mu is the promised one within five standard errors: input noise is attacked as well as can be, and the flow, whose first
 * step keeps c of a distance, up to what the mean of the client's records takes of it (1/rows of the penalty). */
static void test_records_are_found_as_promised_in_every_view(void **state) {
    (void)state;
    for (int variant = 0; variant < 24; variant++) {
        mfpg_mechanism_options o =
            options_of(variant % 2, variant / 2 % 2 ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT,
                variant / 4 % 2 ? MFPG_ADJACENCY_REPLACE : MFPG_ADJACENCY_ZERO_OUT);
        o.promise.view = (mfpg_view)(variant / 8);
        subject s = records_open(1, 2, 3, &o, 2.0);
        s.options.clients_per_round = variant / 8 == 2 ? 1 : 0;
        CHECK_OK(s.ctx, subject_audit(&s));
        for (int k = 0; k < 2; k++) {
            const mfpg_audit_client *c = &s.client[k];
            double error = 5.0 * sqrt((4.0 + 0.5 * c->mu * c->mu) / (double)s.audit.runs);
            if (!c->stands || c->mu_lower > c->mu) complain(&s, c, "stands");
            if (s.options.clients_per_round == 0 && !(fabs(c->mu_estimate - c->mu) < error))
                complain(&s, c, "tight");
            if (!(c->mu_estimate < c->mu + error)) complain(&s, c, "not above");
            if (s.options.clients_per_round == 0 && !(c->mu_lower > c->mu - 2 * error))
                complain(&s, c, "proved");
            assert_true(isnan(c->round_mu) && isnan(c->input_mu_lower));
        }
        subject_close(&s);
    }
}

/* A record is noised once: mu does not grow with the rounds, and neither does what is found. Later local steps of the flow show less. */
static void test_rounds_and_steps_add_nothing(void **state) {
    (void)state;
    mfpg_mechanism_options o = options_of(1, MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_REPLACE);
    double estimate[3];
    for (int i = 0; i < 3; i++) {
        o.local_steps = i == 2 ? 4 : 1;
        subject s = records_open(1, 1, i == 1 ? 12 : 1, &o, 1.0);
        CHECK_OK(s.ctx, subject_audit(&s));
        estimate[i] = s.client[0].mu_estimate;
        check_near(s.client[0].mu, 2 * (1 - 4.0 / (2 * 80)), 1e-9, 0, "c D/s, c = 1 - s^2/(2 sigma^2)");
        if (!s.client[0].stands) complain(&s, &s.client[0], "rounds");
        subject_close(&s);
    }
    check_near(estimate[1], estimate[0], 0, 10.0 * sqrt(6.0 / 400), "of twelve rounds and one");
    assert_true(estimate[2] < 0.7 * estimate[0]); /* noise of four steps: about half */
}

/* ---- faults ---- */

typedef enum record_fault {
    RECORDS_ONCE = 0,
    RECORDS_AGAIN,     /* noised anew in every round */
    RECORDS_BY_CLIENT, /* all clients draw the same noise */
    RECORDS_BY_RECORD  /* the second record has the noise of the first */
} record_fault;

/* Pushes the records by hand. */
static mfpg_status play_push(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_key *key,
    mfpg_canary_data *canaries, mfpg_transcript *s, void *arg) {
    record_fault kind = *(const record_fault *)arg;
    ptrdiff_t clients = game->clients, n = mfpg_model_parameters(game->model);
    float *start = calloc((size_t)n, sizeof *start);
    float *work = aligned_alloc(
        64, (size_t)(mfpg_mechanism_workspace(game->mechanism[0], game->model, 64) * 4 + 63) / 64 * 64);
    mfpg_status status = MFPG_OK;
    for (s->rounds = 0; s->rounds < game->rounds && status == MFPG_OK; s->rounds++) {
        for (ptrdiff_t k = 0; k < clients && status == MFPG_OK; k++) {
            ptrdiff_t at = (ptrdiff_t)s->rounds * clients + k;
            const mfpg_dataset *raw = &canaries->data.client[k].train;
            mfpg_stream noise = mfpg_stream_open(key, MFPG_PURPOSE_RECORDS,
                kind == RECORDS_AGAIN ? (uint64_t)s->rounds : 0, kind == RECORDS_BY_CLIENT ? 0 : (uint64_t)k);
            mfpg_dataset noised = *raw;
            noised.x = calloc((size_t)(raw->rows * raw->features), sizeof *noised.x);
            noised.norm2 = calloc((size_t)raw->rows, sizeof *noised.norm2);
            mfpg_record_set(canaries, game->mechanism[k], k, s->value[at], game->excess);
            status = push_by(ctx, game->mechanism[k], game->model, raw, game->action[k], &noise, start,
                &noised, work, NULL);
            s->weight[at] = 1;
            s->local[at] = mfpg_record_look(canaries, k, &noised);
            s->beside[at] = mfpg_record_look_beside(canaries, k, &noised);
            if (kind == RECORDS_BY_RECORD) s->beside[at] = s->local[at] - s->value[at] * game->law[k].gap;
            free(noised.x);
            free(noised.norm2);
        }
    }
    free(start);
    free(work);
    return status;
}

/* Audits a subject whose promise is of `promised` times the sensitivity as noise. */
static void audit_push(subject *s, double promised, record_fault kind) {
    mfpg_audit_law law[MOST_CLIENTS];
    mfpg_audit_promise promise[MOST_CLIENTS];
    for (int k = 0; k < MOST_CLIENTS; k++) promise[k] = promise_of(promised, 1, s->options.promise.adjacency);
    s->options.evaluate = MFPG_EVALUATE_NONE;
    s->audit.confidence = 0.99;
    mfpg_audit_game game = {.options = &s->audit,
        .federation = &s->options,
        .data = s->data,
        .model = s->model,
        .records = 1,
        .mechanism = s->mechanisms,
        .action = s->action,
        .law = law,
        .excess = 10,
        .clients = s->data->clients,
        .rounds = s->options.rounds,
        .delta = 1e-5,
        .play = play_push,
        .play_arg = &kind};
    CHECK_OK(s->ctx, mfpg_audit_laws(s->ctx, &game, law));
    CHECK_OK(s->ctx, mfpg_audit_run(s->ctx, &game, promise, s->client, &s->plan));
}

static void test_faults_of_records_are_caught(void **state) {
    (void)state;
    const mfpg_audit_pattern pattern[] = {
        MFPG_PATTERN_CONSTANT, MFPG_PATTERN_LOOKS, MFPG_PATTERN_CROSS, MFPG_PATTERN_CROSS};
    for (int kind = 0; kind < 5; kind++) { /* the last: noise x 0.7 */
        mfpg_mechanism_options o = options_of(0, MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_REPLACE);
        subject s = records_open(1, 2, kind == RECORDS_AGAIN ? 6 : 1, &o, kind == 4 ? 1.4 : 2.0);
        s.audit.runs = kind == 4 || kind == RECORDS_AGAIN ? 1200 : 60;
        audit_push(&s, 2.0, kind == 4 ? RECORDS_ONCE : (record_fault)kind);
        const mfpg_audit_client *c = &s.client[0];
        if (kind == 0 ? !c->stands : c->stands) complain(&s, c, "fault");
        if (kind > 0 && kind < 4 && c->pattern != pattern[kind]) complain(&s, c, "pattern");
        subject_close(&s);
    }
}

/* 100 audits at 99 % of exactly what is promised. */
static void test_alarms_are_as_rare_as_they_say(void **state) {
    (void)state;
    mfpg_mechanism_options o = options_of(0, MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_REPLACE);
    subject s = records_open(1, 1, 2, &o, 2.0);
    int alarms = 0;
    s.audit.runs = 100;
    for (int i = 0; i < 100; i++) {
        s.audit.seed = testing_seed() + 1000u * (unsigned)(i + 1);
        audit_push(&s, 2.0, RECORDS_ONCE);
        alarms += !s.client[0].stands;
    }
    if (alarms > plan_false_alarms_allowed(100, 0.01)) {
        print_error("seed %llu: %d alarms\n", (unsigned long long)testing_seed(), alarms);
        fail();
    }
    subject_close(&s);
}

static void test_threads_change_nothing_and_other_methods_are_refused(void **state) {
    (void)state;
    mfpg_audit_client first[2];
    mfpg_mechanism_options o = options_of(1, MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_REPLACE);
    for (int threads = 1; threads <= 3; threads++) {
        subject s = records_open(threads, 2, 2, &o, 1.0);
        s.audit.runs = 60;
        CHECK_OK(s.ctx, subject_audit(&s));
        if (threads == 1) memcpy(first, s.client, sizeof first);
        assert_memory_equal(first, s.client, sizeof first);
        s.audit.input_canaries = 1;
        assert_int_equal(subject_audit(&s), MFPG_ERR_INPUT);
        s.audit = mfpg_audit_options_for(MFPG_AUDIT_FEW_RUNS);
        assert_int_equal(subject_audit(&s), MFPG_ERR_INPUT);
        assert_non_null(strstr(mfpg_context_message(s.ctx), "noises records"));
        subject_close(&s);
    }
}

static mfpg_status audit_once(void *arg) {
    return subject_audit(arg);
}

static void test_an_audit_survives_every_failing_allocation(void **state) {
    (void)state;
    mfpg_mechanism_options o = options_of(1, MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_REPLACE);
    subject s = records_open(1, 2, 2, &o, 1.0);
    s.audit.runs = 20;
    assert_true(sweep_allocations(audit_once, &s) > 20);
    subject_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_are_found_as_promised_in_every_view),
        cmocka_unit_test(test_rounds_and_steps_add_nothing),
        cmocka_unit_test(test_faults_of_records_are_caught),
        cmocka_unit_test(test_alarms_are_as_rare_as_they_say),
        cmocka_unit_test(test_threads_change_nothing_and_other_methods_are_refused),
        cmocka_unit_test(test_an_audit_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
