/* Games of many clients: the best response of a million clients to a grid of five actions, and the equilibria of 1e8,
 * each in a process of its own so that its memory is its own. The floor reads 8 bytes a client and writes 8.
 *
 *     bench_games [CLIENTS [NAME]]    CLIENTS (or MFPG_BENCH_CLIENTS): other than 1e8; NAME: only works with that in them
 */
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "games/best_response.h"

static const double GRID[5] = {0.1, 0.3, 0.5, 1.0, 2.0};

/* Preferences 0.5 .. 1.5 in an order without pattern: multiples of the golden ratio, modulo 1. */
static double *preferences(ptrdiff_t clients) {
    double *out = malloc((size_t)clients * sizeof *out);
    for (ptrdiff_t k = 0; out && k < clients; k++) {
        double turn = (double)k * 0.6180339887498949;
        out[k] = 0.5 + (turn - floor(turn));
    }
    return out;
}

typedef struct response_job {
    const mfpg_play *play;
    const double *preference;
    double *action;
    ptrdiff_t clients;
} response_job;

static void respond(void *arg) {
    response_job *job = arg;
    mfpg_respond(job->play, 0.5, job->action);
}

static void copy(void *arg) {
    response_job *job = arg;
    for (ptrdiff_t k = 0; k < job->clients; k++) job->action[k] = 2.0 * job->preference[k];
}

static mfpg_game game_of(const char *cost, mfpg_players players, ptrdiff_t clients, int grid) {
    mfpg_game g = mfpg_game_default();
    g.cost = cost;
    g.players = players;
    g.clients = clients;
    g.dimension = 5.0;
    g.noise_unit_all = 0.7;
    g.privacy_scale_all = 0.05;
    g.own_cost_all = 0.25;
    g.interaction = 1.0;
    g.skip_optimum = 1;
    g.actions =
        grid ? (mfpg_action_set){.grid = GRID, .count = 5} : (mfpg_action_set){.low = 0.05, .high = 5.0};
    return g;
}

static int bench_response(const char *cost, const char *work) {
    enum { CLIENTS = 1000000 };
    mfpg_context *ctx = NULL;
    mfpg_context_options options = {.threads = 1};
    double *preference = preferences(CLIENTS), *action = calloc(CLIENTS, sizeof *action);
    mfpg_game g = game_of(cost, MFPG_PLAYERS_MEAN_FIELD, CLIENTS, 1);
    mfpg_play play;
    g.preference = preference;
    int ready = preference && action && mfpg_context_create(&options, &ctx) == MFPG_OK &&
                mfpg_play_prepare(ctx, &g, 1, &play) == MFPG_OK;
    if (ready) {
        response_job job = {&play, preference, action, CLIENTS};
        bench_work(work, respond, copy, &job, CLIENTS, "client");
        mfpg_play_release(&play);
    }
    mfpg_context_destroy(ctx);
    free(preference);
    free(action);
    return ready;
}

/* 1e8 as "1e8", 12345 as "12345". */
static void name_count(ptrdiff_t clients, char *out, size_t size) {
    int zeros = 0;
    ptrdiff_t front = clients;
    for (; front % 10 == 0; front /= 10) zeros++;
    if (front == 1)
        snprintf(out, size, "1e%d", zeros);
    else
        snprintf(out, size, "%td", clients);
}

static int bench_equilibrium(const mfpg_game *game, const char *work) {
    mfpg_context *ctx = NULL;
    mfpg_context_options options = {.threads = 1};
    mfpg_equilibrium found;
    mfpg_game g = *game;
    double *preference = preferences(g.clients);
    g.preference = preference;
    if (!preference || mfpg_context_create(&options, &ctx) != MFPG_OK) return 0;
    double start = bench_cpu_seconds();
    mfpg_status status = mfpg_game_solve(ctx, &g, &found);
    double seconds = bench_cpu_seconds() - start, n = (double)g.clients;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (status == MFPG_OK) {
        response_job job = {NULL, preference, found.action, g.clients};
        double floor_s = bench_once(copy, &job, 3);
        printf("{\"work\": \"%s\", \"cpu_s\": %.6g, \"floor_s\": %.6g, \"share_of_floor\": %.4g, "
               "\"peak_rss_mib\": %.1f, \"bytes_per_client\": %.2f, \"ns_per_client\": %.4g, "
               "\"iterations\": %d, \"converged\": %s, \"exploitability_max\": %.3g, \"consistency_gap\": "
               "%.3g}\n",
            work, seconds, floor_s, floor_s / seconds, (double)usage.ru_maxrss / 1024,
            1024.0 * (double)usage.ru_maxrss / n, 1e9 * seconds / n, found.iterations,
            found.converged ? "true" : "false", found.exploitability_max, found.consistency_gap);
        fflush(stdout);
        mfpg_equilibrium_clear(&found);
    } else {
        fprintf(stderr, "%s: %s\n", work, mfpg_context_message(ctx));
    }
    mfpg_context_destroy(ctx);
    free(preference);
    return status == MFPG_OK;
}

/* Memory is that of a process: one for each work. */
static int apart(const mfpg_game *game, const char *work) {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return 0;
    if (child == 0) _exit(bench_equilibrium(game, work) ? EXIT_SUCCESS : EXIT_FAILURE);
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

static int bench_equilibria(ptrdiff_t clients, const char *only) {
    const char *costs[] = {"gaussian", "entropic", "interaction"};
    char count[32], work[96];
    int sound = 1;
    name_count(clients, count, sizeof count);
    for (int c = 0; c < 3; c++)
        for (int players = MFPG_PLAYERS_MEAN_FIELD; players >= MFPG_PLAYERS_FINITE; players--)
            for (int grid = 0; grid <= 1; grid++) {
                mfpg_game g = game_of(costs[c], (mfpg_players)players, clients, grid);
                snprintf(work, sizeof work, "equilibrium_%s_%s_%s%s", count, costs[c],
                    players == MFPG_PLAYERS_FINITE ? "finite" : "mean_field", grid ? "_grid" : "");
                if (!only || strstr(work, only)) sound &= apart(&g, work);
            }
    return sound;
}

int main(int argc, char **argv) {
    const char *set = getenv("MFPG_BENCH_CLIENTS");
    double clients = argc > 1 ? atof(argv[1]) : set ? atof(set) : 1e8;
    const char *only = argc > 2 ? argv[2] : NULL;
    if (!(clients >= 1 && clients <= 1e10)) {
        fprintf(stderr, "bench_games: the number of clients must lie between 1 and 1e10\n");
        return 2;
    }
    int sound = 1;
    if (!only || strstr("best_response_1e6", only)) sound &= bench_response("entropic", "best_response_1e6");
    if (!only || strstr("best_response_1e6_gaussian", only))
        sound &= bench_response("gaussian", "best_response_1e6_gaussian");
    sound &= bench_equilibria((ptrdiff_t)clients, only);
    return sound ? EXIT_SUCCESS : EXIT_FAILURE;
}
