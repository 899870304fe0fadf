/* mfpg solve --study output: the game of perturbed models, whose point without perturbation is not an
 * equilibrium. */
#include <math.h>
#include <stdlib.h>

#include "reproduction/studies.h"

#include "solve.h"

enum { ROWS_A_FEATURE = 6, PROFILES = 100, INSTANCES = 2 };

/* Two instances: in the first, all clients' losses are smallest at the same model; in the second they are
 * not. */
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

static mfpg_status read_request(cli_call *call, output_request *out) {
    const mfpg_solve_request *asked = call->options;
    const char *beta = asked->game.beta.text;
    double dimension = cli_or(asked->game.dimension, 5), clients = cli_or(asked->game.population, 4);
    if (!(dimension >= 1 && dimension <= 64) || dimension != floor(dimension))
        return mfpg_fail(
            call->ctx, MFPG_ERR_INPUT, "--dimension: study output allows a whole number from 1 to 64");
    if (clients > 10000)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT, "--population: study output allows from 1 to 10000");
    *out = (output_request){.beta = 1,
        .seed = (uint64_t)cli_or(asked->seed, 1),
        .shape = {.clients = (ptrdiff_t)clients,
            .dimension = (ptrdiff_t)dimension,
            .rows = ROWS_A_FEATURE * (ptrdiff_t)dimension}};
    if (beta && (!cli_parse_number(beta, &out->beta) || !(out->beta > 0)))
        return mfpg_fail(
            call->ctx, MFPG_ERR_INPUT, "--beta: found '%.60s'; study output allows one number above 0", beta);
    return MFPG_OK;
}

/* ---- words ---- */

/* Numbers that consist only of rounding errors are printed as 0. */
static double rounded(double value) {
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
        rounded(r->stationarity), r->kkt == MFPG_VERDICT_HOLDS ? "meets" : "does not meet");
    printf("  client %td pays there                                 %.6g\n", r->client, rounded(r->cost));
    printf("  it gains by another w alone                          %.3g\n", rounded(r->refit_gain));
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
           "least squares.\n",
        request->shape.clients, request->shape.rows, request->shape.dimension, request->beta,
        (unsigned long long)request->seed);
}

/* ---- JSON ---- */

static json_t *report_json(const void *reports, ptrdiff_t index) {
    const mfpg_output_report *r = (const mfpg_output_report *)reports + index;
    return cli_json(
        "instance:s gradient:n cost:n refit_gain:n deviation_error:n direction_curvature:n least_curvature:n "
        "perturb_curvature:n step:o deviation:o profiles:i improved:i kkt:s minimum:s nash:s",
        instances[index].name, r->stationarity, r->cost, r->refit_gain, r->deviation_error,
        r->direction_curvature, r->least_curvature, r->perturb_curvature,
        cli_json_numbers(r->step, MFPG_OUTPUT_STEPS), cli_json_numbers(r->deviation, MFPG_OUTPUT_STEPS),
        r->profiles, r->improved, mfpg_verdict_name(r->kkt), mfpg_verdict_name(r->minimum),
        mfpg_verdict_name(r->nash));
}

/* ---- the study ---- */

static mfpg_status study(cli_call *call, output_request *request, double *block) {
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
        mfpg_status status = mfpg_study_output(call->ctx, game, 0, PROFILES, request->seed, &reports[i]);
        if (status != MFPG_OK) return status;
    }
    if (call->json)
        return cli_json_print(cli_json("study:s clients:i rows:i dimension:i beta:n seed:i instances:o",
            "output", game->clients, game->rows, game->dimension, request->beta, (int64_t)request->seed,
            cli_json_array(INSTANCES, report_json, reports)));
    print_heading(request);
    for (int i = 0; i < INSTANCES; i++)
        print_report(instances[i].name, instances[i].says, request, &reports[i]);
    return MFPG_OK;
}

mfpg_status solve_study_output(cli_call *call) {
    output_request request;
    mfpg_status status = read_request(call, &request);
    if (status != MFPG_OK) return status;
    ptrdiff_t rows = request.shape.clients * request.shape.rows;
    double *block =
        calloc((size_t)(rows * (request.shape.dimension + 1) + request.shape.clients), sizeof *block);
    status = block ? study(call, &request, block) : MFPG_ERR_MEMORY;
    free(block);
    return status;
}
