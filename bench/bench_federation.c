/* A round of a federation: clients of 200 images each, ten local steps of Poisson batches of about 20 on the network
 * 784-128-64-10, clip and noise on the update, all of it: act, update, account, average. Beside it, as its floor, ten
 * times the eight matrix products of a step of 20 by OpenBLAS for every client. Then the same round with two threads. */
#include "mlp_floor.h"

#include "mfpg/federation.h"

enum { CLIENTS = 40, ROWS = 200, STEPS = 10, BATCH = 20, TIMED_ROUNDS = 41 };
static char client_name[] = "client";

typedef struct job {
    mfpg_context *ctx;
    mfpg_model *model;
    mfpg_mechanism *mechanism;
    mfpg_federation *federation;
    mfpg_federated_data data;
    mfpg_client_data client[CLIENTS];
    const mfpg_mechanism *mechanisms[CLIENTS];
    mfpg_action action[CLIENTS];
    mlp_floor floor;
    int failed;
} job;

static void run_round(void *arg) {
    job *j = arg;
    mfpg_round_report report;
    int done = 0;
    if (mfpg_federation_round(j->ctx, j->federation, &report, &done) != MFPG_OK || done) j->failed = 1;
}

static void run_floor(void *arg) {
    job *j = arg;
    for (int i = 0; i < CLIENTS * STEPS; i++) mlp_floor_step(&j->floor);
}

static int fill_client(job *j, int k, mfpg_stream *stream) {
    j->client[k].test.features = WIDTH[0];
    j->client[k].name = client_name;
    j->mechanisms[k] = j->mechanism;
    j->action[k] = (mfpg_action){.control = MFPG_CONTROL_MULTIPLIER, .multiplier = 1.0};
    return bench_examples(stream, ROWS, 0.1f, &j->client[k].train);
}

static int open_federation(job *j, int threads) {
    mfpg_context_options own = mfpg_context_options_default();
    mfpg_federation_options options = mfpg_federation_options_default();
    mfpg_key key = mfpg_key_from_seed(1);
    own.threads = threads;
    options.rounds = 100000;
    options.start_he = 1;
    options.evaluate = MFPG_EVALUATE_NONE;
    options.weights = MFPG_WEIGHTS_EQUAL;
    options.promise.unit = MFPG_UNIT_CLIENT;
    return mfpg_context_create(&own, &j->ctx) == MFPG_OK &&
           mfpg_federation_create(j->ctx, &options, &j->data, j->model, j->mechanisms, j->action, &key,
               &j->federation) == MFPG_OK;
}

static void close_federation(job *j) {
    if (j->ctx && !j->federation) fprintf(stderr, "bench_federation: %s\n", mfpg_context_message(j->ctx));
    mfpg_federation_destroy(j->federation);
    mfpg_context_destroy(j->ctx);
    j->federation = NULL;
    j->ctx = NULL;
}

static int fill(job *j) {
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.promise.unit = MFPG_UNIT_CLIENT;
    options.clip_at = MFPG_CLIP_UPDATE;
    options.local_steps = STEPS;
    options.batch_rate = (double)BATCH / ROWS;
    mfpg_key key = mfpg_key_from_seed(2);
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0);
    j->data = (mfpg_federated_data){.clients = CLIENTS, .features = WIDTH[0], .client = j->client};
    mfpg_context *ctx = NULL;
    int ready = mfpg_context_create(NULL, &ctx) == MFPG_OK && mlp_create(ctx, &j->model) == MFPG_OK &&
                mfpg_mechanism_create(ctx, &options, &j->mechanism) == MFPG_OK &&
                mlp_floor_fill(&j->floor, &stream, BATCH);
    mfpg_context_destroy(ctx);
    for (int k = 0; k < CLIENTS && ready; k++) ready = fill_client(j, k, &stream);
    return ready;
}

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds of a round, the process's and the wall's. The least of all rounds: where other programs want the cores, threads
 * wait for each other in a loop, and that is no work. */
static int time_rounds(job *j, int threads, double *cpu, double *wall) {
    double cpus[TIMED_ROUNDS], walls[TIMED_ROUNDS];
    int ready = open_federation(j, threads);
    if (ready) run_round(j);
    for (int i = 0; i < TIMED_ROUNDS && ready; i++) {
        cpus[i] = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        walls[i] = seconds_of(CLOCK_MONOTONIC);
        run_round(j);
        cpus[i] = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpus[i];
        walls[i] = seconds_of(CLOCK_MONOTONIC) - walls[i];
    }
    close_federation(j);
    if (!ready) return 0;
    qsort(cpus, TIMED_ROUNDS, sizeof *cpus, bench_order);
    qsort(walls, TIMED_ROUNDS, sizeof *walls, bench_order);
    *cpu = cpus[0];
    *wall = walls[0];
    return 1;
}

/* speedup_cpu: what two threads gain where each has a core of its own; speedup_wall: what they gained here and now. */
static int bench_threads(job *j) {
    double cpu[2], wall[2];
    for (int t = 0; t < 2; t++)
        if (!time_rounds(j, t + 1, &cpu[t], &wall[t])) return 0;
    printf("{\"work\": \"federated_round_two_threads\", \"cpu_s\": %.6g, \"wall_s\": %.6g, "
           "\"speedup_cpu\": %.4g, \"speedup_wall\": %.4g, \"clients_per_s\": %.4g}\n",
        cpu[1], wall[1], 2 * cpu[0] / cpu[1], wall[0] / wall[1], CLIENTS / wall[1]);
    return 1;
}

int main(void) {
    static job j;
    openblas_set_num_threads(1);
    int ready = fill(&j) && open_federation(&j, 1);
    if (ready) bench_work("federated_round", run_round, run_floor, &j, CLIENTS, "client");
    close_federation(&j);
    ready = ready && bench_threads(&j);
    mlp_floor_clear(&j.floor);
    for (int k = 0; k < CLIENTS; k++) bench_examples_clear(&j.client[k].train);
    mfpg_mechanism_destroy(j.mechanism);
    mfpg_model_destroy(j.model);
    return ready && !j.failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
