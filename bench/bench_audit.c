/* Runs of an audit of the paper's logistic task: eight clients, 21 parameters, ten rounds; constant and alternating signs, and
 * coins by round. Beside them, as their floor, the noise that such runs draw: nothing that is private comes without it. */
#include "bench.h"

#include "mfpg/audit.h"

enum {
    CLIENTS = 8,
    FEATURES = 20,
    PARAMETERS = FEATURES + 1,
    ROUNDS = 10,
    RUNS = 200,
    ALL_RUNS = 2 * RUNS + RUNS / ROUNDS
};

typedef struct job {
    mfpg_context *ctx;
    mfpg_federated_data *data;
    mfpg_model *model;
    mfpg_mechanism *mechanism;
    const mfpg_mechanism *mechanisms[CLIENTS];
    mfpg_action action[CLIENTS];
    mfpg_federation_options options;
    mfpg_audit_client client[CLIENTS];
    float noise[PARAMETERS];
    int failed;
} job;

static void run_audit(void *arg) {
    job *j = arg;
    mfpg_audit_options audit = mfpg_audit_options_default();
    audit.runs = RUNS;
    if (mfpg_audit_federation(j->ctx, &audit, &j->options, j->data, j->model, j->mechanisms, j->action,
            j->client, NULL) != MFPG_OK)
        j->failed = 1;
}

static void draw_noise(void *arg) {
    job *j = arg;
    for (uint64_t run = 0; run < ALL_RUNS; run++) {
        mfpg_key key = mfpg_key_from_seed(run);
        for (uint64_t round = 0; round < ROUNDS; round++) {
            mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_NOISE, round, 0);
            for (stream.client = 0; stream.client < CLIENTS; stream.client++)
                mfpg_stream_gaussian(&stream, 0, PARAMETERS, j->noise);
        }
    }
}

static int open_job(job *j) {
    mfpg_context_options own = mfpg_context_options_default();
    mfpg_data_options data = mfpg_data_options_default();
    mfpg_mechanism_options mechanism = mfpg_mechanism_options_default();
    mfpg_model_options shape = {.kind = "logistic", .features = FEATURES, .classes = 2};
    mfpg_key key = mfpg_key_from_seed(1);
    own.threads = 1;
    data.format = "synthetic";
    data.synthetic = MFPG_SYNTHETIC_LOGISTIC;
    data.clients = CLIENTS;
    data.rows = 100;
    data.dimension = FEATURES;
    mechanism.kind = "entropic";
    mechanism.promise.adjacency = MFPG_ADJACENCY_REPLACE;
    j->options = mfpg_federation_options_default();
    j->options.rounds = ROUNDS;
    j->options.promise = mechanism.promise;
    int ready = mfpg_context_create(&own, &j->ctx) == MFPG_OK &&
                mfpg_federated_data_create(j->ctx, &data, &key, &j->data) == MFPG_OK &&
                mfpg_model_create(j->ctx, &shape, &j->model) == MFPG_OK &&
                mfpg_mechanism_create(j->ctx, &mechanism, &j->mechanism) == MFPG_OK;
    for (int k = 0; k < CLIENTS; k++) {
        j->mechanisms[k] = j->mechanism;
        j->action[k] = (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {1.0}};
    }
    return ready;
}

int main(void) {
    static job j;
    int ready = open_job(&j);
    if (ready) bench_work("audit_logistic", run_audit, draw_noise, &j, ALL_RUNS, "run");
    if (!ready || j.failed) fprintf(stderr, "bench_audit: %s\n", mfpg_context_message(j.ctx));
    mfpg_mechanism_destroy(j.mechanism);
    mfpg_model_destroy(j.model);
    mfpg_federated_data_destroy(j.data);
    mfpg_context_destroy(j.ctx);
    return ready && !j.failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
