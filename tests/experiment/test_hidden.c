/* privacy.assume: the view final with a declared assumption, from configuration to promise, and what is refused. */
#include "experiment/fixture.h"

#include "mfpg/experiment.h"

#define BASE                                                                                                 \
    "seed: 4\nmethod: mfep\ndata: {format: synthetic, kind: clinics}\n"                                      \
    "privacy: {unit: example, view: final, assume: glm}\nentropic: {scale: sensitivity, step: 0.5}\n"        \
    "noise: {action: 200}\ntrain: {rounds: 40, weights: equal}\nevaluate: none\n"

static mfpg_experiment *made(const char *const *arguments) {
    mfpg_config *config = load(BASE);
    mfpg_experiment *experiment = NULL;
    for (; *arguments; arguments++) set(config, *arguments);
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &experiment));
    mfpg_config_destroy(config);
    CHECK_OK(ctx, mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){0}));
    return experiment;
}
#define MADE(...) made((const char *const[]){__VA_ARGS__, NULL})

static double largest_epsilon(const mfpg_experiment *experiment) {
    double largest = 0.0;
    for (ptrdiff_t k = 0; k < mfpg_experiment_clients(experiment); k++) {
        mfpg_client_report report;
        CHECK_OK(ctx, mfpg_experiment_client(ctx, experiment, k, &report));
        largest = fmax(largest, report.epsilon);
    }
    return largest;
}

static double epsilon_of(const char *const *arguments) {
    mfpg_experiment *experiment = made(arguments);
    double epsilon = largest_epsilon(experiment);
    mfpg_experiment_destroy(experiment);
    return epsilon;
}
#define EPSILON(...) epsilon_of((const char *const[]){__VA_ARGS__, NULL})

static int assumes(const mfpg_experiment *experiment, const char *part) {
    for (ptrdiff_t i = 0; mfpg_experiment_assumption(experiment, i); i++)
        if (strstr(mfpg_experiment_assumption(experiment, i), part)) return 1;
    return 0;
}

static void test_the_promise_stops_growing(void **state) {
    (void)state;
    double seen = EPSILON("privacy.assume=none", "train.rounds=400");
    double hidden = EPSILON("train.rounds=400"), longer = EPSILON("train.rounds=800");
    assert_true(hidden < 0.6 * seen);
    assert_true(longer >= hidden && longer < 1.02 * hidden);
    assert_true(EPSILON("privacy.view=average", "privacy.assume=none", "train.rounds=400") == seen);
}

static void test_what_it_stands_on_is_said(void **state) {
    (void)state;
    char *json = NULL;
    mfpg_experiment *experiment = MADE("train.rounds=20");
    assert_true(assumes(experiment, "about the final model alone"));
    assert_true(assumes(experiment, "promises nothing against these"));
    assert_true(assumes(experiment, "case glm"));
    assert_true(assumes(experiment, "Hessian of at most 1.75")); /* six features in [0, 1] and a bias: 7/4 */
    CHECK_OK(ctx, mfpg_experiment_summary(ctx, experiment, &json));
    assert_non_null(strstr(json, "\"accountant\": \"hidden-state\""));
    assert_non_null(strstr(json, "\"case\": \"glm\""));
    assert_non_null(strstr(json, "nothing of any round before it"));
    free(json);
    char *text = written(mfpg_experiment_config(experiment));
    assert_non_null(strstr(text, "smoothness: 1.75  # auto: logistic"));
    free(text);
    mfpg_experiment_destroy(experiment);
    experiment = MADE("train.rounds=20", "privacy.assume=none");
    assert_true(assumes(experiment, "no gain from hiding them is claimed"));
    mfpg_experiment_destroy(experiment);
    experiment = MADE("train.rounds=20", "train.batch.rate=0.5", "privacy.smoothness=1.75");
    assert_true(assumes(experiment, "accounted without amplification"));
    mfpg_experiment_destroy(experiment);
}

/* The noise of a target is found by the same certificate. */
static void test_a_target_epsilon_needs_less_noise(void **state) {
    (void)state;
    mfpg_client_report hidden, seen;
    mfpg_experiment *a = MADE("noise.target_epsilon=0.5", "train.rounds=300"),
                    *b = MADE("noise.target_epsilon=0.5", "train.rounds=300", "privacy.assume=none");
    assert_true(largest_epsilon(a) <= 0.5 && largest_epsilon(a) > 0.4999);
    assert_true(largest_epsilon(b) <= 0.5);
    CHECK_OK(ctx, mfpg_experiment_client(ctx, a, 0, &hidden));
    CHECK_OK(ctx, mfpg_experiment_client(ctx, b, 0, &seen));
    assert_true(hidden.action_value < 0.8 * seen.action_value);
    mfpg_experiment_destroy(a);
    mfpg_experiment_destroy(b);
}

static void refuse(const char *const *arguments, const char *part) {
    mfpg_config *config = load(BASE);
    mfpg_experiment *experiment = NULL;
    for (const char *const *a = arguments; *a; a++) set(config, *a);
    mfpg_status status = mfpg_experiment_create(ctx, config, &experiment);
    if (status != MFPG_ERR_INPUT && status != MFPG_ERR_DOMAIN)
        fail_msg("%s: status %d", arguments[0], (int)status);
    assert_null(experiment);
    MESSAGE_HOLDS(part);
    mfpg_config_destroy(config);
}
#define REFUSED(part, ...) refuse((const char *const[]){__VA_ARGS__, NULL}, part)

static void test_what_is_not_hidden_is_refused(void **state) {
    (void)state;
    REFUSED("privacy.view final only", "privacy.view=local");
    REFUSED("privacy.view final only", "privacy.view=average");
    REFUSED("privacy.observers: found 'participants'", "privacy.observers=participants");
    REFUSED("privacy.colluders: found 1 named", "privacy.colluders=[city]");
    REFUSED("train.client_rate: draws who takes part", "train.client_rate=0.5");
    REFUSED("privacy.stop_at_epsilon: found 4", "privacy.stop_at_epsilon=4");
    REFUSED("Sinkhorn", "entropic.transport.regularisation=1");
    REFUSED("no hidden state", "entropic.particles=data");
    REFUSED("with privacy.assume allowed: auto, hidden-state", "privacy.accountant=gdp");
}

static void test_losses_that_are_not_so_are_refused(void **state) {
    (void)state;
    REFUSED("which model logistic is not", "privacy.assume=quadratic");
    REFUSED("clipped by itself", "privacy.unit=client");
    REFUSED("privacy.clip_at", "privacy.unit=client", "privacy.assume=convex", "privacy.clip_at=update",
        "noise.action=1");
    REFUSED("how smooth model mlp is", "task.model=mlp");
    REFUSED("how smooth model mlp is", "task.model=mlp", "privacy.assume=nonconvex", "privacy.smoothness=1");
    REFUSED("no function of one margin", "task.model=softmax");
    REFUSED("auto knows no public bound", "data.kind=logistic");
    REFUSED("needs privacy.view final", "privacy.assume=none", "privacy.accountant=hidden-state");
}

static void test_clients_and_gaussian_noise_are_taken(void **state) {
    (void)state;
    const char *const convex[] = {"privacy.unit=client", "privacy.assume=convex", "noise.action=2",
        "entropic.scale=absolute", "entropic.step=0.1", "train.rounds=60", NULL};
    double hidden = epsilon_of(convex);
    assert_true(hidden < EPSILON("privacy.unit=client", "privacy.assume=none", "noise.action=2",
                             "entropic.scale=absolute", "entropic.step=0.1", "train.rounds=60"));
    mfpg_config *config = load("seed: 4\nmethod: dp-sgd\ndata: {format: synthetic, kind: clinics}\n"
                               "privacy: {unit: example, view: final, assume: glm}\nevaluate: none\n");
    mfpg_experiment *experiment = NULL;
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &experiment));
    CHECK_OK(ctx, mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){0}));
    double own = largest_epsilon(experiment);
    mfpg_experiment_destroy(experiment);
    set(config, "privacy.assume=none");
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &experiment));
    CHECK_OK(ctx, mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){0}));
    assert_true(own == largest_epsilon(experiment)); /* nothing contracts */
    mfpg_experiment_destroy(experiment);
    mfpg_config_destroy(config);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_promise_stops_growing),
        cmocka_unit_test(test_what_it_stands_on_is_said),
        cmocka_unit_test(test_a_target_epsilon_needs_less_noise),
        cmocka_unit_test(test_what_is_not_hidden_is_refused),
        cmocka_unit_test(test_losses_that_are_not_so_are_refused),
        cmocka_unit_test(test_clients_and_gaussian_noise_are_taken),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
