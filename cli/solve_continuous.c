/* mfpg solve --study continuous: the coupled HJB-FPK system. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/pde.h"
#include "mfpg/preference_law.h"

#include "solve.h"

/* A model with the arrays that it borrows, and its results. */
typedef struct problem {
    mfpg_pde_model model;
    mfpg_pde_options options;
    double *controls, *weight, *share;
    mfpg_pde_solution *solution;
    ptrdiff_t particles;                       /* 0: none were followed */
    double particles_mean, particles_variance; /* at the horizon */
} problem;

/* ---- from options to a model ---- */

/* Refuses options without effect: those of the other shape, and a seed if nothing is drawn. */
static mfpg_status refuse_strangers(cli_call *call, const mfpg_solve_request *asked, int double_well) {
    const struct {
        const char *name;
        double value;
        int of_double_well;
    } options[] = {{"curvature", asked->game.curvature, 0},
        {"running-curvature", asked->running_curvature, 0}, {"well-position", asked->well_position, 1},
        {"well-barrier", asked->well_barrier, 1}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (!isnan(options[i].value) && options[i].of_double_well != double_well)
            return mfpg_fail(call->ctx, MFPG_ERR_INPUT, "--%s belongs to --shape %s", options[i].name,
                double_well ? "quadratic" : "double-well");
    if (!isnan(asked->seed) && isnan(asked->particles))
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT, "--seed: nothing is drawn without --particles");
    return MFPG_OK;
}

static mfpg_status read_shape(cli_call *call, const mfpg_solve_request *asked, mfpg_pde_model *model) {
    int double_well = asked->shape == 1;
    if (double_well) {
        model->potential =
            mfpg_pde_double_well(cli_or(asked->well_position, 1.0), cli_or(asked->well_barrier, 0.5));
        model->running = model->potential;
    } else {
        model->potential = mfpg_pde_quadratic(cli_or(asked->game.curvature, 1.0));
        model->running = mfpg_pde_quadratic(cli_or(asked->running_curvature, 1.0));
    }
    return refuse_strangers(call, asked, double_well);
}

static mfpg_status read_actions(cli_call *call, const mfpg_numbers *actions, problem *out) {
    mfpg_action_set set;
    if (actions->text && strcmp(actions->text, "continuous") == 0)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
            "--actions: continuous has no upper end, which the control reaches at the horizon; give LOW:HIGH "
            "or A,B,...");
    mfpg_status status = mfpg_actions_read(call->ctx, actions, "0.05:1.5", &set, &out->controls);
    if (status != MFPG_OK) return status;
    out->model.control_low = set.low;
    out->model.control_high = set.high;
    out->model.controls = set.grid;
    out->model.control_count = set.count;
    return MFPG_OK;
}

static mfpg_status read_shares(cli_call *call, const mfpg_numbers *weights, problem *out) {
    ptrdiff_t count;
    if (!weights->text) return MFPG_OK;
    mfpg_status status = mfpg_numbers_read(call->ctx, "weights", weights, 0,
        "P,P,... with every share a number above 0", &out->model.share, &count, &out->share);
    if (status == MFPG_OK && count != out->model.types)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT, "--weights: %td numbers for %td types; give one a type",
            count, out->model.types);
    return status;
}

enum { TYPES_OF_A_LAW = 5 };

static mfpg_status read_types(cli_call *call, const mfpg_solve_request *asked, problem *out) {
    mfpg_population law;
    mfpg_status status =
        mfpg_population_parse(call->ctx, asked->game.beta.text ? asked->game.beta.text : "1", &law);
    if (status != MFPG_OK) return mfpg_fail_in(call->ctx, status, "--beta");
    ptrdiff_t usual = law.spread == MFPG_SPREAD_ALIKE ? 1 : law.list ? law.count : TYPES_OF_A_LAW;
    out->model.types = (ptrdiff_t)cli_or(asked->game.population, (double)usual);
    out->model.weight = out->weight = calloc((size_t)out->model.types, sizeof *out->weight);
    status = out->weight ? MFPG_OK : MFPG_ERR_MEMORY;
    if (status == MFPG_OK) status = mfpg_population_fill(call->ctx, &law, out->model.types, out->weight);
    mfpg_population_clear(&law);
    if (status == MFPG_OK) return read_shares(call, &asked->game.weights, out);
    return status == MFPG_ERR_MEMORY ? status : mfpg_fail_in(call->ctx, status, "--beta");
}

static mfpg_status read_grid(cli_call *call, const mfpg_solve_request *asked, mfpg_pde_options *out) {
    out->scheme = asked->scheme == 1 ? MFPG_PDE_UPWIND : MFPG_PDE_HYBRID;
    out->nodes = (ptrdiff_t)cli_or(asked->nodes, (double)out->nodes);
    out->steps = (ptrdiff_t)cli_or(asked->time_steps, (double)out->steps);
    out->iterations = (int)cli_or(asked->iterations, (double)out->iterations);
    if (!asked->domain) return MFPG_OK;
    const char *colon = strchr(asked->domain, ':');
    char low[64];
    snprintf(low, sizeof low, "%.*s", (int)strcspn(asked->domain, ":"), asked->domain);
    if (colon && cli_parse_number(low, &out->low) && cli_parse_number(colon + 1, &out->high)) return MFPG_OK;
    return mfpg_fail(
        call->ctx, MFPG_ERR_INPUT, "--domain: found '%.60s'; allowed: LOW:HIGH, as in -8:8", asked->domain);
}

static mfpg_status read_problem(cli_call *call, const mfpg_solve_request *asked, problem *out) {
    *out = (problem){.options = mfpg_pde_options_default(),
        .model = {.attraction = cli_or(asked->game.variance_penalty, 0.5),
            .prior_variance = cli_or(asked->game.prior_variance, (double)INFINITY),
            .horizon = cli_or(asked->horizon, 1.0),
            .start_mean = cli_or(asked->start_mean, 1.0),
            .start_variance = cli_or(asked->start_variance, 0.25),
            .cost = {.scale = cli_or(asked->game.privacy_scale, 0.5),
                .rate = cli_or(asked->privacy_rate, 2.0),
                .offset = cli_or(asked->privacy_offset, 0.2)}}};
    mfpg_status status = read_shape(call, asked, &out->model);
    if (status == MFPG_OK) status = read_actions(call, &asked->game.actions, out);
    if (status == MFPG_OK) status = read_types(call, asked, out);
    return status == MFPG_OK ? read_grid(call, asked, &out->options) : status;
}

/* ---- the printed results of a type ---- */

typedef struct type_answer {
    double weight, share;
    /* means over the law; control_mean is also a mean over time */
    double control_start, control_mean, control_end;
    const mfpg_pde_moments *first, *last;
    mfpg_pde_exact exact; /* exact values: at the horizon; curvature and control at the start */
    double curvature;     /* V_xx at the start, at the middle node */
    int has_exact;
} type_answer;

static double share_of(const problem *answer, ptrdiff_t type) {
    const mfpg_pde_model *model = &answer->model;
    return model->share ? model->share[type] : 1.0 / (double)model->types;
}

static type_answer answer_of(const problem *answer, ptrdiff_t type) {
    const mfpg_pde_solution *s = answer->solution;
    const mfpg_pde_moments *moments = s->moments + type * (s->steps + 1);
    const double *middle = s->value + type * (s->steps + 1) * s->nodes + (s->nodes - 1) / 2;
    mfpg_pde_exact start;
    type_answer of = {.weight = answer->model.weight[type],
        .share = share_of(answer, type),
        .control_start = moments[0].mean_control,
        .control_end = moments[s->steps - 1].mean_control,
        .first = moments,
        .last = moments + s->steps,
        .curvature = (middle[1] - 2.0 * middle[0] + middle[-1]) / (s->step * s->step)};
    for (ptrdiff_t n = 0; n < s->steps; n++) of.control_mean += moments[n].mean_control / (double)s->steps;
    of.has_exact = mfpg_pde_closed_form(&answer->model, type, answer->model.horizon, &of.exact) &&
                   mfpg_pde_closed_form(&answer->model, type, 0.0, &start);
    if (of.has_exact) {
        of.exact.curvature = start.curvature;
        of.exact.control = start.control;
    }
    return of;
}

static double variance_of(const problem *answer) {
    const mfpg_pde_solution *s = answer->solution;
    double sum = 0.0;
    for (ptrdiff_t k = 0; k < s->types; k++) {
        const mfpg_pde_moments *m = &s->moments[k * (s->steps + 1) + s->steps];
        double away = m->mean - s->mean_path[s->steps];
        sum += share_of(answer, k) * (m->variance + away * away);
    }
    return sum;
}

/* ---- JSON ---- */

static json_t *type_json(const void *user, ptrdiff_t type) {
    const type_answer of = answer_of(user, type);
    json_t *exact = json_null();
    if (of.has_exact)
        exact = cli_json("mean:n variance:n curvature_start:n control_start:n", of.exact.mean,
            of.exact.variance, of.exact.curvature, of.exact.control);
    return cli_json("beta:n share:n control_start:n control_mean:n control_end:n mean:n variance:n "
                    "curvature_start:n free_energy_start:n free_energy_end:n paper_mass:n closed_form:o",
        of.weight, of.share, of.control_start, of.control_mean, of.control_end, of.last->mean,
        of.last->variance, of.curvature, of.first->free_energy, of.last->free_energy, of.last->paper_mass,
        exact);
}

static json_t *answer_json(const problem *answer) {
    const mfpg_pde_solution *s = answer->solution;
    json_t *particles = json_null();
    if (answer->particles > 0)
        particles = cli_json("count:i mean:n variance:n", answer->particles, answer->particles_mean,
            answer->particles_variance);
    return cli_json("types:o mean:n variance:n cost:n exploitability:o converged:b iterations:i residual:n "
                    "fictitious_play:b mass_error:n least_density:n edge_mass:n added_noise:n drift_step:n "
                    "policy_rounds:i policy_unfinished:i nodes:i time_steps:i particles:o",
        cli_json_array(s->types, type_json, answer), s->mean_path[s->steps], variance_of(answer), s->cost,
        cli_json("max:n mean:n", s->exploitability_largest, s->exploitability), s->converged,
        (int64_t)s->iterations, s->residual, s->fictitious, s->mass_error, s->least_density, s->edge_mass,
        s->added_noise, s->drift_step, (int64_t)s->policy_rounds, (int64_t)s->policy_unfinished, s->nodes,
        s->steps, particles);
}

/* ---- words ---- */

static void print_types(const problem *answer) {
    const mfpg_pde_solution *s = answer->solution;
    printf(
        "The control is a strength: more of it means more noise, and more privacy. Means over each law:\n\n"
        "    beta   share  control at 0  over time  before T  mean at T  variance  free energy 0 -> T\n");
    for (ptrdiff_t k = 0; k < s->types; k++) {
        type_answer type = answer_of(answer, k);
        printf("%8.4g  %6.4g  %12.4f  %9.4f  %8.4f  %9.6f  %8.6f  %9.4f -> %.4f\n", type.weight, type.share,
            type.control_start, type.control_mean, type.control_end, type.last->mean, type.last->variance,
            type.first->free_energy, type.last->free_energy);
    }
    printf("\n%-22s mean %.6f, variance %.6f, cost %.6f\n", "population at T", s->mean_path[s->steps],
        variance_of(answer), s->cost);
}

static void print_exact(const problem *answer) {
    if (!answer_of(answer, 0).has_exact) return;
    printf("\nThis game has a closed form. Distance from it:\n\n"
           "    beta  mean at T  variance  V_xx at 0  control at 0\n");
    for (ptrdiff_t k = 0; k < answer->solution->types; k++) {
        type_answer type = answer_of(answer, k);
        printf("%8.4g  %9.1e  %8.1e  %9.1e  %12.1e\n", type.weight, fabs(type.last->mean - type.exact.mean),
            fabs(type.last->variance - type.exact.variance), fabs(type.curvature - type.exact.curvature),
            fabs(type.control_start - type.exact.control));
    }
}

static void print_printed_form(const problem *answer) {
    double least = (double)INFINITY, most = -(double)INFINITY;
    for (ptrdiff_t k = 0; k < answer->solution->types; k++) {
        double mass = answer_of(answer, k).last->paper_mass;
        least = fmin(least, mass);
        most = fmax(most, mass);
    }
    printf("%-22s %.6f to %.6f at T by the paper's printed equation, eps Laplace(mu); 1 is right\n",
        "mass as printed", least, most);
}

/* A number that shows only rounding errors is printed as a bound; the JSON holds the number itself. */
static const char *printed(double value, double rounding, char text[24]) {
    snprintf(text, 24, value < rounding ? "below %.0e" : "%.1e", value < rounding ? rounding : value);
    return text;
}

static void print_certificate(const problem *answer) {
    const mfpg_pde_solution *s = answer->solution;
    char one[24], two[24];
    printf("\n%-22s %s after %d iteration%s of the path of the mean; the last moved it by %s%s\n",
        "equilibrium", s->converged ? "converged" : "NOT converged", s->iterations,
        s->iterations == 1 ? "" : "s", printed(s->residual, 1e-12, one),
        s->fictitious ? " (fictitious play)" : "");
    printf("%-22s %s, of the type that gains most %s: no client can gain more by another control\n",
        "exploitability", printed(s->exploitability, 1e-12, one),
        printed(s->exploitability_largest, 1e-12, two));
    printf("%-22s %s; %s\n", "mass error", printed(s->mass_error, 1e-13, one),
        s->least_density >= 0.0 ? "no density is negative" : "a density is NEGATIVE");
    print_printed_form(answer);
    printf("%-22s %td nodes from %g to %g, %td steps of time to %g, %s; it adds %.1e of the noise, the mass "
           "at its ends is %s\n",
        "grid", s->nodes, answer->options.low, answer->options.high, s->steps, answer->model.horizon,
        answer->options.scheme == MFPG_PDE_UPWIND ? "upwind" : "hybrid", s->added_noise,
        printed(s->edge_mass, 1e-12, one));
    printf("%-22s at most %d rounds a step", "policy iteration", s->policy_rounds);
    printf(s->policy_unfinished ? "; %td steps were cut off\n" : "\n", s->policy_unfinished);
}

static void print_particles(const problem *answer) {
    if (answer->particles == 0) return;
    double variance = variance_of(answer);
    printf("\n%td particles: mean %.6f (law %.6f), variance %.6f (law %.6f); one standard error is %.1e and "
           "%.1e\n",
        answer->particles, answer->particles_mean, answer->solution->mean_path[answer->solution->steps],
        answer->particles_variance, variance, sqrt(variance / (double)answer->particles),
        variance * sqrt(2.0 / (double)answer->particles));
}

/* ---- the study ---- */

static mfpg_status follow_particles(cli_call *call, const mfpg_solve_request *asked, problem *answer) {
    ptrdiff_t steps = answer->options.steps;
    mfpg_key key = mfpg_key_from_seed((uint64_t)cli_or(asked->seed, 1.0));
    const mfpg_pde_particles_options options = {
        .count = (ptrdiff_t)asked->particles, .steps = steps, .key = &key};
    double *moments = calloc((size_t)steps + 1, 2 * sizeof *moments);
    if (!moments) return MFPG_ERR_MEMORY;
    mfpg_status status = mfpg_pde_particles(
        call->ctx, &answer->model, answer->solution, &options, moments, moments + steps + 1);
    answer->particles = options.count;
    answer->particles_mean = moments[steps];
    answer->particles_variance = moments[2 * steps + 1];
    free(moments);
    return status;
}

static mfpg_status print_study(cli_call *call, const char *out, const problem *answer) {
    const mfpg_pde_solution *s = answer->solution;
    mfpg_status status = MFPG_OK;
    if (call->json) {
        status = cli_json_print(answer_json(answer));
    } else {
        print_types(answer);
        print_exact(answer);
        print_certificate(answer);
        print_particles(answer);
        if (out)
            printf("\nvalue.npy, control.npy, density.npy, nodes.npy, times.npy, moments.csv: %s\n", out);
    }
    if (status != MFPG_OK || s->converged || fflush(stdout) != 0) return status;
    cli_error(call->name,
        "not solved: the path of the mean still moves by %.3g after %d iterations; what is printed is the "
        "best that was found",
        s->residual, s->iterations);
    call->code = CLI_FAILED;
    return status;
}

mfpg_status solve_study_continuous(cli_call *call) {
    const mfpg_solve_request *asked = call->options;
    problem made;
    mfpg_status status = read_problem(call, asked, &made);
    if (status == MFPG_OK) status = mfpg_pde_solve(call->ctx, &made.model, &made.options, &made.solution);
    if (status == MFPG_OK && !isnan(asked->particles)) status = follow_particles(call, asked, &made);
    if (status == MFPG_OK && asked->out)
        status = mfpg_pde_solution_write(call->ctx, made.solution, &made.model, asked->out);
    if (status == MFPG_OK) status = print_study(call, asked->out, &made);
    mfpg_pde_solution_destroy(made.solution);
    free(made.controls);
    free(made.weight);
    free(made.share);
    return status;
}
