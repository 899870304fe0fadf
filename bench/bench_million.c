/* A federation of a million small clients, from its first round to its last file, on one thread: ten rounds of method mfpg on
 * a logistic model of 20 features and a bias, 10 rows a client. Its floor is the arithmetic of the updates alone: one
 * gradient and one noise vector each. `bench_million N` takes N clients. */
#include "bench.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/streams.h"
#include "mfpg/config.h"
#include "mfpg/experiment.h"
#include "models/model_ops.h"

enum { ROUNDS = 10, ROWS = 10, FEATURES = 20 };

typedef struct seen {
    int64_t rounds;
    double first, last; /* CPU seconds after the first round and after the latest */
} seen;

static void note(void *user, const mfpg_round_report *report, int64_t rounds) {
    seen *s = user;
    (void)report;
    (void)rounds;
    s->last = bench_cpu_seconds();
    if (s->rounds++ == 0) s->first = s->last;
}

/* CPU seconds of so many gradients and noise vectors. */
static double measure_floor(mfpg_context *ctx, int64_t updates) {
    const int64_t measured = 200000;
    mfpg_model_options shape = {.kind = "logistic", .features = FEATURES};
    mfpg_model *model = NULL;
    float x[ROWS * FEATURES], y[ROWS], w[FEATURES + 1] = {0}, out[FEATURES + 1];
    if (mfpg_model_create(ctx, &shape, &model) != MFPG_OK) return 0.0;
    float *work = bench_floats((size_t)mfpg_model_workspace(model, ROWS));
    mfpg_key key = mfpg_key_from_seed(1);
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0);
    mfpg_dataset data = {.rows = ROWS, .features = FEATURES, .x = x, .y = y};
    mfpg_stream_gaussian(&stream, 0, ROWS * FEATURES, x);
    for (int i = 0; i < ROWS; i++) y[i] = (float)(i % 2);
    double start = bench_cpu_seconds();
    for (int64_t k = 0; k < measured && work; k++) {
        stream.client = (uint64_t)k;
        mfpg_model_gradient(model, w, &data, NULL, 0, ROWS, out, work);
        mfpg_stream_gaussian_add(&stream, 0, FEATURES + 1, 0.1F, out);
    }
    double spent = bench_cpu_seconds() - start;
    free(work);
    mfpg_model_destroy(model);
    return spent * (double)updates / (double)measured;
}

/* An empty folder's name for the run in made[]; 0 where there is none. */
static int make_folder(char made[32]) {
    strcpy(made, "bench-million-XXXXXX");
    return mkdtemp(made) != NULL;
}

static void remove_folder(const char *folder) {
    const char *names[] = {"ledger", "config.yaml", "rounds.csv", "free_energy.csv", "clients.csv",
        "model.npy", "timings.csv", "summary.json"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[80];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static int run(mfpg_context *ctx, long clients, const char *folder) {
    char text[400];
    mfpg_config *config = NULL;
    mfpg_experiment *experiment = NULL;
    seen s = {0};
    snprintf(text, sizeof text,
        "seed: 1\nmethod: mfpg\ntask: {model: logistic}\ntrain: {rounds: %d}\ngame: {curvature: 5.25}\n"
        "data: {format: synthetic, kind: logistic, clients: %ld, rows: %d, dimension: %d, test_rows: 2000}\n",
        ROUNDS, clients, ROWS, FEATURES);
    int done = mfpg_config_load_text(ctx, text, strlen(text), "bench", NULL, &config) == MFPG_OK &&
               mfpg_experiment_create(ctx, config, &experiment) == MFPG_OK &&
               mfpg_experiment_run(ctx, experiment,
                   &(mfpg_run_options){.folder = folder, .progress = note, .progress_user = &s}) == MFPG_OK;
    double files = bench_cpu_seconds() - s.last;
    mfpg_experiment_destroy(experiment);
    mfpg_config_destroy(config);
    if (!done) {
        fprintf(stderr, "bench_million: %s\n", mfpg_context_message(ctx));
        return 0;
    }
    /* the first round is not told apart from what comes before it */
    double rounds = (s.last - s.first) * ROUNDS / (ROUNDS - 1), updates = (double)clients * ROUNDS;
    double floor = measure_floor(ctx, (int64_t)clients * ROUNDS);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"work\": \"million_clients\", \"clients\": %ld, \"cpu_s\": %.4g, \"floor_s\": %.4g, "
           "\"share_of_floor\": %.3f, \"updates_per_s\": %.4g, \"files_s\": %.4g, \"peak_rss_mib\": %.1f}\n",
        clients, rounds, floor, floor / rounds, updates / rounds, files, (double)usage.ru_maxrss / 1024.0);
    return 1;
}

int main(int argc, char **argv) {
    long clients = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    mfpg_context_options options = mfpg_context_options_default();
    mfpg_context *ctx = NULL;
    char folder[32];
    options.threads = 1;
    if (clients < 1 || mfpg_context_create(&options, &ctx) != MFPG_OK || !make_folder(folder))
        return EXIT_FAILURE;
    int done = run(ctx, clients, folder);
    remove_folder(folder);
    mfpg_context_destroy(ctx);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
