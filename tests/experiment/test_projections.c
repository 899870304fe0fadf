/* The Sinkhorn projections of a run: transport.csv, summary.json and the printed lines say the same, and what was projected. */
#include "fixture.h"

#include <jansson.h>

#include "mfpg/experiment.h"
#include "mfpg/transport.h"

static const char *const CONFIG =
    "seed: 3\n"
    "method: mfep\n"
    "privacy: {unit: example}\n"
    "data: {format: synthetic, kind: logistic, clients: 3, rows: 30, dimension: 6}\n"
    "task: {model: mlp, hidden: [16]}\n"
    "train: {rounds: 4, local_steps: 2}\n";
enum { ROUNDS = 4, CLIENTS = 3, STEPS = 2, TENSORS = 4 }; /* weights and biases of two layers */

static char csv[1 << 14], summary[1 << 16], printed[1 << 14];

static void read_file(const char *folder, const char *name, char *text, size_t size) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    text[file ? fread(text, 1, size - 1, file) : 0] = 0;
    if (file) fclose(file);
}

/* Runs with these arguments on that many threads; csv, summary and printed are what came of it. */
static void run_with(int threads, const char *const *arguments) {
    char command[96];
    const char *folder = temporary_folder();
    mfpg_context *own = testing_context(threads);
    mfpg_config *config = load(CONFIG);
    mfpg_experiment *experiment = NULL;
    for (; *arguments; arguments++) set(config, *arguments);
    CHECK_OK(own, mfpg_experiment_create(own, config, &experiment));
    CHECK_OK(own, mfpg_experiment_run(own, experiment, &(mfpg_run_options){.folder = folder}));
    read_file(folder, "transport.csv", csv, sizeof csv);
    read_file(folder, "summary.json", summary, sizeof summary);
    FILE *out = fmemopen(printed, sizeof printed - 1, "w");
    CHECK_OK(own, mfpg_experiment_print(own, experiment, out));
    fclose(out);
    mfpg_experiment_destroy(experiment);
    mfpg_config_destroy(config);
    mfpg_context_destroy(own);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}
#define RUN(threads, ...) run_with(threads, (const char *const[]){__VA_ARGS__, NULL})

typedef struct row {
    int round, projections, tensor, iterations;
    double least, mean, largest, row_error, kernel_error;
} row;

/* The rows of csv; their number is checked. */
static void read_rows(row rows[ROUNDS]) {
    const char *head = "round,projections,variance_ratio_min,variance_ratio_mean,variance_ratio_max,"
                       "tensor_of_min,row_error,kernel_error,iterations,note\n";
    assert_memory_equal(csv, head, strlen(head));
    const char *at = csv + strlen(head);
    for (int i = 0; i < ROUNDS; i++) {
        row *r = &rows[i];
        assert_int_equal(
            sscanf(at, "%d,%d,%lf,%lf,%lf,%d,%lf,%lf,%d,", &r->round, &r->projections, &r->least, &r->mean,
                &r->largest, &r->tensor, &r->row_error, &r->kernel_error, &r->iterations),
            9);
        at = strchr(at, '\n') + 1;
    }
    assert_int_equal(*at, 0);
}

static void test_every_round_tells_of_its_projections(void **state) {
    (void)state;
    row rows[ROUNDS];
    double least = 1.0, most_error = 0.0;
    RUN(1, "entropic.transport.regularisation=0.3", "entropic.transport.scale=variance");
    read_rows(rows);
    for (int i = 0; i < ROUNDS; i++) {
        const row *r = &rows[i];
        assert_int_equal(r->round, i + 1);
        assert_int_equal(r->projections, CLIENTS * STEPS * TENSORS);
        assert_true(0.0 < r->least && r->least < r->mean && r->mean < r->largest && r->largest <= 1.0);
        assert_true(r->row_error <= 1e-9 && 0.0 < r->kernel_error && r->kernel_error < 1e-10);
        assert_true(r->iterations > 0 && r->iterations <= 25);
        least = fmin(least, r->least);
        most_error = fmax(most_error, r->row_error);
    }
    json_t *all = json_loads(summary, 0, NULL), *told = json_object_get(all, "transport"), *ratio;
    ratio = json_object_get(told, "variance_ratio");
    assert_int_equal(
        json_integer_value(json_object_get(told, "projections")), ROUNDS * CLIENTS * STEPS * TENSORS);
    assert_true(json_real_value(json_object_get(ratio, "min")) == least);
    assert_true(json_real_value(json_object_get(told, "row_error")) == most_error);
    assert_true(json_is_null(json_object_get(told, "warning")));
    json_decref(all);
    assert_non_null(strstr(printed, "Sinkhorn projections (computed on noised parameters"));
    assert_null(strstr(printed, "erased"));
}

/* The same clouds shrink alike whatever their scale, so that all tensors of a network keep about as much. */
static void test_an_erased_tensor_is_warned_of(void **state) {
    (void)state;
    RUN(1, "entropic.transport.regularisation=1000");
    assert_non_null(strstr(printed, "Warning: a projection kept "));
    assert_non_null(strstr(printed, "counts as erased"));
    assert_non_null(strstr(summary, "counts as erased"));
    RUN(1, "entropic.transport.regularisation=1", "entropic.transport.scale=variance");
    assert_null(strstr(printed, "erased"));
}

static void test_threads_change_no_byte(void **state) {
    (void)state;
    char first[sizeof csv], told[sizeof summary];
    RUN(1, "entropic.transport.regularisation=0.05");
    memcpy(first, csv, sizeof csv);
    memcpy(told, summary, sizeof summary);
    RUN(3, "entropic.transport.regularisation=0.05");
    assert_string_equal(csv, first);
    assert_string_equal(summary, told);
}

/* The paper's cap: what is larger is left alone. The network has tensors of 96, 16, 32 and 2 entries. */
static void test_the_cap_leaves_larger_tensors_alone(void **state) {
    (void)state;
    const char *caps[] = {"none", "96", "95", "16", "2"};
    const int projected[] = {4, 4, 3, 2, 1};
    for (int i = 0; i < 5; i++) {
        char cap[64];
        row rows[ROUNDS];
        snprintf(cap, sizeof cap, "entropic.transport.cap=%s", caps[i]);
        RUN(1, "entropic.transport.regularisation=0.3", cap);
        read_rows(rows);
        assert_int_equal(rows[0].projections, CLIENTS * STEPS * projected[i]);
    }
}

static void test_others_have_no_such_file(void **state) {
    (void)state;
    RUN(1, "train.rounds=2");
    assert_string_equal(csv, "");
    assert_non_null(strstr(summary, "\"transport\": null"));
    assert_null(strstr(printed, "Sinkhorn"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_round_tells_of_its_projections),
        cmocka_unit_test(test_an_erased_tensor_is_warned_of),
        cmocka_unit_test(test_threads_change_no_byte),
        cmocka_unit_test(test_the_cap_leaves_larger_tensors_alone),
        cmocka_unit_test(test_others_have_no_such_file),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
