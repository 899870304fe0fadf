/* The answer of mfpg solve --study continuous: one JSON object, or words for people. */
#include <stdio.h>

#include "options.h"
#include "solve.h"
#include "solve_continuous.h"

/* ---- what is told of a type ---- */

typedef struct type_answer {
    double weight, share;
    double control_start, control_mean, control_end; /* means over the law; the middle one also over time */
    const mfpg_pde_moments *first, *last;
    mfpg_pde_exact exact; /* at the horizon; its curvature and control at the start */
    double curvature;     /* V_xx at the start, at the middle node */
    int has_exact;
} type_answer;

static double share_of(const continuous_answer *answer, ptrdiff_t type) {
    const mfpg_pde_model *model = answer->model;
    return model->share ? model->share[type] : 1.0 / (double)model->types;
}

static type_answer answer_of(const continuous_answer *answer, ptrdiff_t type) {
    const mfpg_pde_solution *s = answer->solution;
    const mfpg_pde_moments *moments = s->moments + type * (s->steps + 1);
    const double *middle = s->value + type * (s->steps + 1) * s->nodes + (s->nodes - 1) / 2;
    mfpg_pde_exact start;
    type_answer told = {.weight = answer->model->weight[type],
        .share = share_of(answer, type),
        .control_start = moments[0].mean_control,
        .control_end = moments[s->steps - 1].mean_control,
        .first = moments,
        .last = moments + s->steps,
        .curvature = (middle[1] - 2.0 * middle[0] + middle[-1]) / (s->step * s->step)};
    for (ptrdiff_t n = 0; n < s->steps; n++) told.control_mean += moments[n].mean_control / (double)s->steps;
    told.has_exact = mfpg_pde_closed_form(answer->model, type, answer->model->horizon, &told.exact) &&
                     mfpg_pde_closed_form(answer->model, type, 0.0, &start);
    if (told.has_exact) {
        told.exact.curvature = start.curvature;
        told.exact.control = start.control;
    }
    return told;
}

double continuous_variance(const continuous_answer *answer) {
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

static json_t *exact_json(const type_answer *told) {
    if (!told->has_exact) return json_null();
    return json_pack("{s:f, s:f, s:f, s:f}", "mean", told->exact.mean, "variance", told->exact.variance,
        "curvature_start", told->exact.curvature, "control_start", told->exact.control);
}

static json_t *type_json(const continuous_answer *answer, ptrdiff_t type) {
    type_answer told = answer_of(answer, type);
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o}", "beta", told.weight,
        "share", told.share, "control_start", told.control_start, "control_mean", told.control_mean,
        "control_end", told.control_end, "mean", told.last->mean, "variance", told.last->variance,
        "curvature_start", told.curvature, "free_energy_start", told.first->free_energy, "free_energy_end",
        told.last->free_energy, "paper_mass", cli_json_number(told.last->paper_mass), "closed_form",
        exact_json(&told));
}

static json_t *answer_json(const continuous_answer *answer) {
    const mfpg_pde_solution *s = answer->solution;
    json_t *types = json_array(), *particles = json_null();
    for (ptrdiff_t k = 0; k < s->types; k++) json_array_append_new(types, type_json(answer, k));
    if (answer->particles > 0)
        particles = json_pack("{s:I, s:f, s:f}", "count", (json_int_t)answer->particles, "mean",
            answer->particles_mean, "variance", answer->particles_variance);
    return json_pack("{s:o, s:f, s:f, s:f, s:{s:f, s:f}, s:b, s:i, s:f, s:b, s:f, s:f, s:f, s:f, s:f, s:i, "
                     "s:I, s:I, s:I, s:o}",
        "types", types, "mean", s->mean_path[s->steps], "variance", continuous_variance(answer), "cost",
        s->cost, "exploitability", "max", s->exploitability_largest, "mean", s->exploitability, "converged",
        s->converged, "iterations", s->iterations, "residual", s->residual, "fictitious_play", s->fictitious,
        "mass_error", s->mass_error, "least_density", s->least_density, "edge_mass", s->edge_mass,
        "added_noise", s->added_noise, "drift_step", s->drift_step, "policy_rounds", s->policy_rounds,
        "policy_unfinished", (json_int_t)s->policy_unfinished, "nodes", (json_int_t)s->nodes, "time_steps",
        (json_int_t)s->steps, "particles", particles);
}

/* ---- words ---- */

static void print_types(const continuous_answer *answer) {
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
        continuous_variance(answer), s->cost);
}

static void print_exact(const continuous_answer *answer) {
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

static void print_printed_form(const continuous_answer *answer) {
    double least = (double)INFINITY, most = -(double)INFINITY;
    for (ptrdiff_t k = 0; k < answer->solution->types; k++) {
        double mass = answer_of(answer, k).last->paper_mass;
        least = fmin(least, mass);
        most = fmax(most, mass);
    }
    printf("%-22s %.6f to %.6f at T by the paper's printed equation, eps Laplace(mu); 1 is right\n",
        "mass as printed", least, most);
}

/* A number that tells nothing but how sums were rounded is told by a bound; the JSON holds it as it is. */
static const char *told(double value, double rounding, char text[24]) {
    snprintf(text, 24, value < rounding ? "below %.0e" : "%.1e", value < rounding ? rounding : value);
    return text;
}

static void print_certificate(const continuous_answer *answer) {
    const mfpg_pde_solution *s = answer->solution;
    char one[24], two[24];
    printf("\n%-22s %s after %d iteration%s of the path of the mean; the last moved it by %s%s\n",
        "equilibrium", s->converged ? "converged" : "NOT converged", s->iterations,
        s->iterations == 1 ? "" : "s", told(s->residual, 1e-12, one),
        s->fictitious ? " (fictitious play)" : "");
    printf("%-22s %s, of the type that gains most %s: nobody can gain more by another control\n",
        "exploitability", told(s->exploitability, 1e-12, one), told(s->exploitability_largest, 1e-12, two));
    printf("%-22s %s; %s\n", "mass error", told(s->mass_error, 1e-13, one),
        s->least_density >= 0.0 ? "no density is negative" : "a density is NEGATIVE");
    print_printed_form(answer);
    printf("%-22s %td nodes from %g to %g, %td steps of time to %g, %s; it adds %.1e of the noise, the mass "
           "at its ends is %s\n",
        "grid", s->nodes, answer->options->low, answer->options->high, s->steps, answer->model->horizon,
        answer->options->scheme == MFPG_PDE_UPWIND ? "upwind" : "hybrid", s->added_noise,
        told(s->edge_mass, 1e-12, one));
    printf("%-22s at most %d rounds a step", "policy iteration", s->policy_rounds);
    printf(s->policy_unfinished ? "; %td steps were cut off\n" : "\n", s->policy_unfinished);
}

static void print_particles(const continuous_answer *answer) {
    if (answer->particles == 0) return;
    double variance = continuous_variance(answer);
    printf("\n%td particles: mean %.6f (law %.6f), variance %.6f (law %.6f); one standard error is %.1e and "
           "%.1e\n",
        answer->particles, answer->particles_mean, answer->solution->mean_path[answer->solution->steps],
        answer->particles_variance, variance, sqrt(variance / (double)answer->particles),
        variance * sqrt(2.0 / (double)answer->particles));
}

int continuous_print(const solve_settings *chosen, const continuous_answer *answer) {
    const mfpg_pde_solution *s = answer->solution;
    int code = CLI_DONE;
    if (chosen->common.json) {
        code = cli_json_print("solve", answer_json(answer));
    } else {
        print_types(answer);
        print_exact(answer);
        print_certificate(answer);
        print_particles(answer);
        if (chosen->asked.out)
            printf("\nvalue.npy, control.npy, density.npy, nodes.npy, times.npy, moments.csv: %s\n",
                chosen->asked.out);
    }
    code = cli_finish("solve", code);
    if (s->converged || code != CLI_DONE) return code;
    fprintf(stderr,
        "mfpg solve: not solved: the path of the mean still moves by %.3g after %d iterations; what is "
        "printed "
        "is the best that was found\n",
        s->residual, s->iterations);
    return CLI_FAILED;
}
