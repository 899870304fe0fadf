/* Why the paper's bound of its entropic methods is none: a run of which everything is Gaussian, so that what it reveals is
 * known exactly, beside what the bound says of it (docs/guarantees.md).
 *
 * One coordinate x, starting at 0:   x' = x - tau (g + kappa x + lambda (x - mean x)) + sqrt(2 e tau) z,   z ~ N(0, 1),
 * with kappa = e/sigma^2, once with the data and once with one client's data exchanged. The gradient g is the only thing that
 * changes: the two laws are normal with one variance, their means drift apart, and to tell N(0, 1) from N(mu, 1) is all that
 * an adversary has to do. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mfpg/accountant.h>

typedef struct example {
    const char *name;
    double curvature; /* of the loss: g = curvature x + a constant that the data decide */
    double gap;       /* how far the data move that constant */
} example;

/* The paper's constants, and a strength that meets its condition alpha e > lambda + G: 2 > 0.01 + 1. */
static const double step = 0.1, strength = 2.0, prior_variance = 1.0, clients = 5.0;

static const mfpg_paper_bound bound = {.dimension = 1.0,
    .clients = 5.0,
    .alpha = 1.0,
    .variance_penalty = 0.01,
    .gradient_norm = 1.0,
    .step = 0.1};

/* mu after K steps, by the recursions of the gap between the means and of the variance. */
static double exact_mu(const example *run, int steps) {
    double decay = run->curvature + strength / prior_variance, gap = 0.0, variance = 0.0;
    double of_mean = 1.0 - step * decay, of_spread = of_mean - step * bound.variance_penalty;
    for (int k = 0; k < steps; k++) {
        gap = of_mean * gap + step * run->gap;
        variance = of_spread * of_spread * variance + 2.0 * strength * step;
    }
    return gap / sqrt(variance);
}

/* The first K at which the exact delta at epsilon 0 is above the bound; 0 for none up to 1000. */
static int first_violation(const example *run) {
    for (int k = 1; k <= 1000; k++)
        if (mfpg_gdp_delta(exact_mu(run, k), 0.0) > mfpg_paper_lsi_delta(&bound, strength, k)) return k;
    return 0;
}

static int print_example(const example *run) {
    static const int steps[] = {10, 36, 55, 100, 1000, 10000};
    int first = first_violation(run);
    printf("%s\n\n", run->name);
    printf("| steps | exact delta at epsilon 0 | at epsilon 0.1 | the paper's bound | bound below exact |\n"
           "|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        double mu = exact_mu(run, steps[i]), exact = mfpg_gdp_delta(mu, 0.0);
        double paper = mfpg_paper_lsi_delta(&bound, strength, steps[i]);
        printf("| %d | %.6f | %.6f | %.3g | %s |\n", steps[i], exact, mfpg_gdp_delta(mu, 0.1), paper,
            paper < exact ? "yes" : "no");
    }
    printf("\nBelow the exact value from step %d on.\n", first);
    return first > 0;
}

int main(void) {
    const example runs[] = {
        {"A loss whose gradient is constant, of norm 1; one of five clients turns its gradient round.", 0.0,
            2.0 / clients},
        {"A quadratic loss; the optimum of one of five clients moves by 1.", 1.0, 1.0 / clients},
    };
    int refuted = print_example(&runs[0]);
    printf("\n");
    refuted = print_example(&runs[1]) && refuted;
    return refuted ? EXIT_SUCCESS : EXIT_FAILURE;
}
