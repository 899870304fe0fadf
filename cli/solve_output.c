/* mfpg solve --study output: the game of perturbed models, whose point without perturbation is no equilibrium. */
#include <stdio.h>
#include <stdlib.h>

#include "reproduction/studies.h"

#include "options.h"
#include "solve.h"

enum { ROWS_A_FEATURE = 6, PROFILES = 100, INSTANCES = 2 };

/* Two instances: all clients' losses are least at the same model, and they are not. */
static const struct {
    const char *name, *says;
    double noise, apart;
} instances[INSTANCES] = {
    {"shared", "targets without noise of one model for all clients", 0.0, 0.0},
    {"apart", "targets with noise, each client's model its own", 0.5, 0.5},
};

typedef struct output_request {
    mfpg_output_game shape;
    double beta;
    uint64_t seed;
} output_request;

static int read_request(const solve_settings *chosen, output_request *out) {
    double dimension = solve_or(chosen->asked.game.dimension, 5),
           clients = solve_or(chosen->asked.game.population, 4);
    if (!(dimension >= 1 && dimension <= 64) || dimension != floor(dimension))
        return cli_refuse("solve", "--dimension: study output allows a whole number from 1 to 64");
    if (clients > 10000) return cli_refuse("solve", "--population: study output allows from 1 to 10000");
    *out = (output_request){.beta = 1, .seed = (uint64_t)solve_or(chosen->asked.seed, 1)};
    if (chosen->asked.game.beta.text &&
        (!cli_parse_number(chosen->asked.game.beta.text, &out->beta) || !(out->beta > 0)))
        return cli_refuse("solve", "--beta: found '%.60s'; study output allows one number above 0",
            chosen->asked.game.beta.text);
    out->shape.clients = (ptrdiff_t)clients;
    out->shape.dimension = (ptrdiff_t)dimension;
    out->shape.rows = ROWS_A_FEATURE * out->shape.dimension;
    return 0;
}

/* ---- words ---- */

/* Numbers that are rounding and nothing else are told as 0. */
static double told(double value) {
    return fabs(value) < 1e-12 ? 0 : value;
}

static void print_deviation(const output_request *request, const mfpg_output_report *r) {
    printf("  v = t u and w less t u, so that W stays:\n\n  %12s %16s\n", "t", "cost");
    for (int i = 0; i < MFPG_OUTPUT_STEPS; i++) printf("  %12g %16.8g\n", r->step[i], r->deviation[i]);
    printf("\n  Each is the cost at the point less beta t^2 %s.\n"
           "  Nash: %s. The same deviation with t = 1000 pays on %td of %td profiles of all clients drawn at "
           "random\n  (components uniform on [-5, 5], seed %llu).\n",
        r->deviation_error < 1e-12 ? "to rounding" : "to more than rounding", mfpg_verdict_name(r->nash),
        r->improved, r->profiles, (unsigned long long)request->seed);
}

static void print_report(
    const char *name, const char *says, const output_request *request, const mfpg_output_report *r) {
    printf("\n%s: %s\n", name, says);
    printf("  largest |gradient| of a client's loss at the point   %.3g: it %s the KKT conditions\n",
        told(r->stationarity), r->kkt == MFPG_VERDICT_HOLDS ? "meets" : "does not meet");
    printf("  client %td pays there                                 %.6g\n", r->client, told(r->cost));
    printf("  it gains by another w alone                          %.3g\n", told(r->refit_gain));
    printf("  second derivative along (w, v) = (-u, u)/sqrt 2      %.6g\n", r->direction_curvature);
    printf("  least curvature in (w, v), and in v alone            %.6g, %.6g: %s\n", r->least_curvature,
        r->perturb_curvature,
        r->minimum == MFPG_VERDICT_HOLDS ? "a minimum to second order" : "no minimum of its cost");
    print_deviation(request, r);
}

static void print_heading(const output_request *request) {
    printf("Client k sends w_k + v_k and pays (1/2n) |X_k W - y_k|^2 - beta |v_k|^2, W the mean of what is "
           "sent.\n"
           "%td clients of %td rows, dimension %td, beta %g, seed %llu. The paper's point: every v_k = 0, W "
           "least "
           "squares.\n",
        request->shape.clients, request->shape.rows, request->shape.dimension, request->beta,
        (unsigned long long)request->seed);
}

/* ---- JSON ---- */

static json_t *report_json(const char *name, const mfpg_output_report *r) {
    json_t *steps = json_array(), *costs = json_array();
    for (int i = 0; i < MFPG_OUTPUT_STEPS; i++) {
        json_array_append_new(steps, cli_json_number(r->step[i]));
        json_array_append_new(costs, cli_json_number(r->deviation[i]));
    }
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:I, s:I, s:s, s:s, s:s}",
        "instance", name, "gradient", r->stationarity, "cost", r->cost, "refit_gain", r->refit_gain,
        "deviation_error", r->deviation_error, "direction_curvature", r->direction_curvature,
        "least_curvature", r->least_curvature, "perturb_curvature", r->perturb_curvature, "step", steps,
        "deviation", costs, "profiles", (json_int_t)r->profiles, "improved", (json_int_t)r->improved, "kkt",
        mfpg_verdict_name(r->kkt), "minimum", mfpg_verdict_name(r->minimum), "nash",
        mfpg_verdict_name(r->nash));
}

static int tell(
    const solve_settings *chosen, const output_request *request, const mfpg_output_report *reports) {
    if (chosen->common.json) {
        json_t *list = json_array();
        for (int i = 0; i < INSTANCES; i++)
            json_array_append_new(list, report_json(instances[i].name, &reports[i]));
        return cli_json_print(
            "solve", json_pack("{s:s, s:I, s:I, s:I, s:f, s:I, s:o}", "study", "output", "clients",
                         (json_int_t)request->shape.clients, "rows", (json_int_t)request->shape.rows,
                         "dimension", (json_int_t)request->shape.dimension, "beta", request->beta, "seed",
                         (json_int_t)request->seed, "instances", list));
    }
    print_heading(request);
    for (int i = 0; i < INSTANCES; i++)
        print_report(instances[i].name, instances[i].says, request, &reports[i]);
    return cli_finish("solve", CLI_DONE);
}

/* ---- the study ---- */

static int study(mfpg_context *ctx, const solve_settings *chosen, output_request *request, double *block) {
    mfpg_output_report reports[INSTANCES];
    mfpg_output_game *game = &request->shape;
    ptrdiff_t rows = game->clients * game->rows;
    double *features = block, *target = features + rows * game->dimension, *preference = target + rows;
    for (ptrdiff_t k = 0; k < game->clients; k++) preference[k] = request->beta;
    for (int i = 0; i < INSTANCES; i++) {
        mfpg_output_instance(game, instances[i].noise, instances[i].apart, request->seed, features, target);
        game->features = features;
        game->target = target;
        game->preference = preference;
        mfpg_status status = mfpg_study_output(ctx, game, 0, PROFILES, request->seed, &reports[i]);
        if (status != MFPG_OK) return cli_fail(ctx, "solve", status);
    }
    return tell(chosen, request, reports);
}

int solve_study_output(const solve_settings *chosen) {
    output_request request;
    int code = read_request(chosen, &request);
    if (code) return code;
    ptrdiff_t rows = request.shape.clients * request.shape.rows;
    double *block =
        calloc((size_t)(rows * (request.shape.dimension + 1) + request.shape.clients), sizeof *block);
    mfpg_context *ctx = cli_context(1);
    code = block ? study(ctx, chosen, &request, block)
                 : (cli_refuse("solve", "out of memory for %td rows", rows), CLI_FAILED);
    free(block);
    mfpg_context_destroy(ctx);
    return code;
}
