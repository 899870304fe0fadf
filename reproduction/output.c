/* The game of perturbed models (paper app:proof:kkt): the point without perturbation, and why it is not an
 * equilibrium. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/random.h"
#include "symmetric.h"
#include "studies.h"
#include "support.h"

enum { STREAM_INSTANCE = 1 << 30, STREAM_PROFILE = (1 << 30) + 1, MOST_DIMENSION = 64 };

/* ---- one client's loss ---- */

typedef struct client_view {
    ptrdiff_t clients, rows, dimension;
    const double *features, *target; /* of the client */
    double beta;
} client_view;

static client_view view_of(const mfpg_output_game *game, ptrdiff_t k) {
    return (client_view){.clients = game->clients,
        .rows = game->rows,
        .dimension = game->dimension,
        .features = game->features + k * game->rows * game->dimension,
        .target = game->target + k * game->rows,
        .beta = game->preference[k]};
}

static double dot(ptrdiff_t n, const double *x, const double *y) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* (1/2n) |X W - y|^2. */
static double loss_at(const client_view *client, const double *model) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < client->rows; i++) {
        double rest =
            dot(client->dimension, client->features + i * client->dimension, model) - client->target[i];
        sum += rest * rest;
    }
    return 0.5 * sum / (double)client->rows;
}

/* Adds X'X/n to the matrix and X'y/n to the vector. */
static void add_moments(const client_view *client, double *matrix, double *vector) {
    ptrdiff_t d = client->dimension;
    for (ptrdiff_t i = 0; i < client->rows; i++) {
        const double *x = client->features + i * d;
        for (ptrdiff_t a = 0; a < d; a++) {
            vector[a] += x[a] * client->target[i] / (double)client->rows;
            for (ptrdiff_t b = 0; b < d; b++) matrix[a * d + b] += x[a] * x[b] / (double)client->rows;
        }
    }
}

/* |X'(X W - y)/n|. */
static double gradient_norm(const client_view *client, const double *model) {
    double gradient[MOST_DIMENSION] = {0};
    for (ptrdiff_t i = 0; i < client->rows; i++) {
        const double *x = client->features + i * client->dimension;
        double rest = dot(client->dimension, x, model) - client->target[i];
        for (ptrdiff_t a = 0; a < client->dimension; a++) gradient[a] += rest * x[a] / (double)client->rows;
    }
    return sqrt(dot(client->dimension, gradient, gradient));
}

/* ---- a profile: what every client sends ---- */

typedef struct profile {
    double *model, *perturbation; /* clients x dimension each: w_k and v_k */
} profile;

/* Returns what client k pays if it plays w_k + dw, v_k + dv and the others do not change, evaluated from the
 * definition. */
static double cost_at(
    const mfpg_output_game *game, const profile *played, ptrdiff_t k, const double *dw, const double *dv) {
    ptrdiff_t d = game->dimension;
    client_view client = view_of(game, k);
    double mean[MOST_DIMENSION] = {0}, size = 0.0;
    for (ptrdiff_t j = 0; j < game->clients; j++)
        for (ptrdiff_t a = 0; a < d; a++)
            mean[a] += played->model[j * d + a] + played->perturbation[j * d + a];
    for (ptrdiff_t a = 0; a < d; a++) {
        double own = played->perturbation[k * d + a] + dv[a];
        mean[a] = (mean[a] + (dw[a] + dv[a])) / (double)game->clients;
        size += own * own;
    }
    return loss_at(&client, mean) - client.beta * size;
}

/* Moves along v_k + t u, w_k - t u, which leaves what is sent, and so W, unchanged. */
static double deviate(
    const mfpg_output_game *game, const profile *played, ptrdiff_t k, double t, const double *u) {
    double dw[MOST_DIMENSION], dv[MOST_DIMENSION];
    for (ptrdiff_t a = 0; a < game->dimension; a++) {
        dv[a] = t * u[a];
        dw[a] = -dv[a];
    }
    return cost_at(game, played, k, dw, dv);
}

/* ---- what is allowed ---- */

static int all_finite(const double *x, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

static mfpg_status check(
    mfpg_context *ctx, const mfpg_output_game *game, ptrdiff_t client, ptrdiff_t profiles) {
    if (game->dimension < 1 || game->dimension > MOST_DIMENSION)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "dimension: found %td; allowed: from 1 to %d", game->dimension,
            MOST_DIMENSION);
    ptrdiff_t most = PTRDIFF_MAX / (ptrdiff_t)sizeof(double) / MOST_DIMENSION;
    if (game->clients < 1 || game->rows < 1 || game->clients > most / game->rows)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "clients and rows: found %td and %td; allowed: at least 1 each", game->clients, game->rows);
    if (client < 0 || client >= game->clients)
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "client: found %td; allowed: from 0 to %td", client, game->clients - 1);
    if (profiles < 1 || profiles > 1000000)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "profiles: found %td; allowed: from 1 to 1000000", profiles);
    ptrdiff_t rows = game->clients * game->rows;
    if (!all_finite(game->features, rows * game->dimension) || !all_finite(game->target, rows))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "features and targets must be finite");
    for (ptrdiff_t k = 0; k < game->clients; k++)
        if (!(game->preference[k] > 0.0) || isinf(game->preference[k]))
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "preference of client %td must be positive and finite", k);
    return MFPG_OK;
}

/* ---- the report ---- */

/* The second derivatives of client k's cost: [[A, A], [A, A - 2 beta]] in (w_k, v_k), A = X'X/(n clients^2). */
static void find_curvatures(
    const mfpg_output_game *game, const client_view *client, const double *u, mfpg_output_report *out) {
    enum { TWICE = 2 * MOST_DIMENSION };
    ptrdiff_t d = game->dimension, n = 2 * d;
    double moments[MOST_DIMENSION * MOST_DIMENSION] = {0}, ignored[MOST_DIMENSION] = {0},
                                    hessian[TWICE * TWICE], alone[MOST_DIMENSION * MOST_DIMENSION],
                                    value[TWICE], along = 0.0;
    add_moments(client, moments, ignored);
    for (ptrdiff_t a = 0; a < n; a++)
        for (ptrdiff_t b = 0; b < n; b++) {
            double entry = moments[a % d * d + b % d] / ((double)game->clients * (double)game->clients);
            if (a == b && a >= d) entry -= 2.0 * client->beta;
            hessian[a * n + b] = entry;
            if (a >= d && b >= d) alone[(a - d) * d + (b - d)] = entry;
            double ua = a < d ? -u[a] : u[a - d], ub = b < d ? -u[b] : u[b - d];
            along += 0.5 * ua * entry * ub; /* (-u, u)/sqrt 2 */
        }
    out->direction_curvature = along;
    mfpg_symmetric_eigenvalues(n, hessian, value);
    out->least_curvature = value[0];
    mfpg_symmetric_eigenvalues(d, alone, value);
    out->perturb_curvature = value[0];
}

static void follow_deviation(const mfpg_output_game *game, const profile *played, const double *u,
    double beta, mfpg_output_report *out) {
    double step = 1.0;
    for (int i = 0; i < MFPG_OUTPUT_STEPS; i++, step *= 10.0) {
        out->step[i] = step;
        out->deviation[i] = deviate(game, played, out->client, step, u);
        double expected = out->cost - beta * step * step;
        out->deviation_error =
            fmax(out->deviation_error, fabs(out->deviation[i] - expected) / fabs(expected));
    }
}

/* Solves least squares for the clients first .. end - 1; MFPG_ERR_INPUT if the solution is not unique. */
static mfpg_status fit_model(
    mfpg_context *ctx, const mfpg_output_game *game, ptrdiff_t first, ptrdiff_t end, double *model) {
    double moments[MOST_DIMENSION * MOST_DIMENSION] = {0};
    memset(model, 0, (size_t)game->dimension * sizeof *model);
    for (ptrdiff_t k = first; k < end; k++) {
        client_view client = view_of(game, k);
        add_moments(&client, moments, model);
    }
    if (mfpg_symmetric_solve(game->dimension, moments, model)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "the least-squares model is not unique: %td rows of %td features do not determine it",
        (end - first) * game->rows, game->dimension);
}

/* Tests whether the client gains at random profiles, none of which can then be an equilibrium. */
static void try_profiles(
    const mfpg_output_game *game, profile *played, uint64_t seed, const double *u, mfpg_output_report *out) {
    const double far = 1e3, zero[MOST_DIMENSION] = {0};
    ptrdiff_t n = 2 * game->clients * game->dimension;
    mfpg_key key = mfpg_key_from_seed(seed);
    for (ptrdiff_t i = 0; i < out->profiles; i++) {
        mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, STREAM_PROFILE, (uint64_t)i);
        mfpg_stream_uniform(&stream, 0, n, played->model); /* the perturbations stand behind */
        for (ptrdiff_t j = 0; j < n; j++) played->model[j] = 10.0 * played->model[j] - 5.0;
        double before = cost_at(game, played, out->client, zero, zero);
        double after = deviate(game, played, out->client, far, u);
        out->improved += after < before - 1e-9 * fmax(1.0, fabs(before)); /* by more than rounding */
    }
}

static void conclude(double scale, mfpg_output_report *out) {
    double rounding = 1e-9 * scale;
    int gains = out->refit_gain > rounding || out->improved > 0;
    for (int i = 0; i < MFPG_OUTPUT_STEPS; i++) gains = gains || out->deviation[i] < out->cost - rounding;
    out->kkt = out->stationarity <= rounding ? MFPG_VERDICT_HOLDS : MFPG_VERDICT_FAILS;
    out->minimum = out->least_curvature >= -rounding ? MFPG_VERDICT_HOLDS : MFPG_VERDICT_FAILS;
    out->nash = gains ? MFPG_VERDICT_FAILS : MFPG_VERDICT_UNDECIDED;
}

mfpg_status mfpg_study_output(mfpg_context *ctx, const mfpg_output_game *game, ptrdiff_t client,
    ptrdiff_t profiles, uint64_t seed, mfpg_output_report *out) {
    mfpg_status status = check(ctx, game, client, profiles);
    if (status) return status;
    ptrdiff_t d = game->dimension;
    mfpg_output_report made = {.client = client, .profiles = profiles};
    double model[MOST_DIMENSION], own[MOST_DIMENSION], zero[MOST_DIMENSION] = {0}, u[MOST_DIMENSION];
    double *block = reproduction_alloc(2 * game->clients * d, sizeof *block);
    if (!block) return mfpg_fail_memory(ctx);
    profile played = {.model = block, .perturbation = block + game->clients * d};
    client_view of = view_of(game, client);
    status = fit_model(ctx, game, 0, game->clients, model);
    if (!status) status = fit_model(ctx, game, client, client + 1, own);
    if (status) goto done;
    double largest = 1.0;
    for (ptrdiff_t k = 0; k < game->clients; k++) {
        client_view each = view_of(game, k);
        made.stationarity = fmax(made.stationarity, gradient_norm(&each, model));
        largest = fmax(largest, gradient_norm(&each, zero));
        memcpy(played.model + k * d, model, (size_t)d * sizeof *model);
    }
    for (ptrdiff_t a = 0; a < d; a++) u[a] = 1.0 / sqrt((double)d);
    made.cost = cost_at(game, &played, client, zero, zero);
    made.refit_gain = made.cost - loss_at(&of, own);
    follow_deviation(game, &played, u, of.beta, &made);
    find_curvatures(game, &of, u, &made);
    try_profiles(game, &played, seed, u, &made);
    conclude(largest, &made);
    *out = made;
done:
    free(block);
    return status;
}

void mfpg_output_instance(const mfpg_output_game *shape, double noise, double apart, uint64_t seed,
    double *features, double *target) {
    ptrdiff_t d = shape->dimension;
    mfpg_key key = mfpg_key_from_seed(seed);
    float row[MOST_DIMENSION + 1], truth[MOST_DIMENSION], own[MOST_DIMENSION];
    mfpg_stream common = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, STREAM_INSTANCE, (uint64_t)shape->clients);
    mfpg_stream_gaussian(&common, 0, d, truth);
    for (ptrdiff_t k = 0; k < shape->clients; k++) {
        mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, STREAM_INSTANCE, (uint64_t)k);
        mfpg_stream_gaussian(&stream, 0, d + 1, row); /* the first vector changes the client's own model */
        memcpy(own, row, (size_t)d * sizeof *own);
        for (ptrdiff_t i = 0; i < shape->rows; i++) {
            mfpg_stream_gaussian(&stream, (uint64_t)i + 1, d + 1, row);
            double value = noise * (double)row[d];
            for (ptrdiff_t a = 0; a < d; a++) {
                features[(k * shape->rows + i) * d + a] = (double)row[a];
                value += (double)row[a] * ((double)truth[a] + apart * (double)own[a]);
            }
            target[k * shape->rows + i] = value;
        }
    }
}
