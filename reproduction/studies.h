/** Studies measure statements about the games: the limit of many clients, the paper's equilibrium figure
 *  under every reading of its formulas, and the game in which clients perturb the model that they send. No
 *  verdict is hard-coded: each is computed from the numbers next to it. */
#ifndef MFPG_REPRODUCTION_STUDIES_H
#define MFPG_REPRODUCTION_STUDIES_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/accountant.h"
#include "mfpg/game.h"
#include "mfpg/pde.h"
#include "mfpg/preference_law.h"
#include "mfpg/program.h"

typedef enum mfpg_verdict {
    MFPG_VERDICT_NONE = 0, /* the question does not arise */
    MFPG_VERDICT_HOLDS,
    MFPG_VERDICT_FAILS,
    MFPG_VERDICT_UNDECIDED /* the numbers leave both open */
} mfpg_verdict;
const char *mfpg_verdict_name(mfpg_verdict verdict); /* "-", "holds", "fails", "undecided" */

/* ---- the limit of many clients ---- */

/** The slope of log value on log population by least squares. The verdict compares the interval of two standard errors
 *  around the slope with expected +- window: inside, it holds; apart, it fails. */
typedef struct mfpg_slope {
    double slope, standard_error; /* NAN with fewer than 3 points */
    ptrdiff_t points;
    double expected, window;
    mfpg_verdict verdict;
} mfpg_slope;

mfpg_slope mfpg_slope_fit(
    const ptrdiff_t *population, const double *value, ptrdiff_t count, double expected, double window);

/** One quantity along the ladder of populations. */
typedef struct mfpg_convergence_line {
    const char *name, *says; /* name of the line, and what theory says about it */
    ptrdiff_t repeats;       /* random draws at every population; 0 if nothing is random */
    double *value;           /* one per rung; a root mean square if repeats > 0 */
    double *standard_error;  /* one per rung: of value over the repeats, 0 if there are none */
    ptrdiff_t first;         /* the slope is fitted from this rung on */
    /* values below this are not fitted, because the reference is not known more accurately; 0: none */
    double floor;
    mfpg_slope slope;
} mfpg_convergence_line;

typedef struct mfpg_convergence {
    ptrdiff_t rungs;
    ptrdiff_t *population; /* rungs, ascending */
    double limit;          /* mean action of the limit's equilibrium, to which the quantities tend */
    double limit_error;    /* by how much that may be off */
    ptrdiff_t line_count;
    mfpg_convergence_line *line;
} mfpg_convergence;

void mfpg_convergence_clear(mfpg_convergence *convergence);

/** Writes the CSV file FOLDER/NAME (folder NULL: name is its path), completely or not at all:
 *  line,population,repeats,value,standard_error,fitted (1 if the slope is fitted to it). */
mfpg_status mfpg_convergence_write(mfpg_context *ctx, const mfpg_convergence *const *convergence,
    ptrdiff_t count, const char *folder, const char *name);

typedef struct mfpg_limit_options {
    mfpg_population types;       /* uniform (also LOW:HIGH) or lognormal: a law with positive spread */
    const ptrdiff_t *population; /* ascending, each in 2 .. 1000000 */
    ptrdiff_t rungs;             /* 3 .. 64 */
    ptrdiff_t repeats;           /* 2 .. 100000 draws of random types at every population */
    uint64_t seed;
    ptrdiff_t law_types; /* 1024 .. 2^24 mid-quantiles represent the law when its limit is computed */
} mfpg_limit_options;

/** Returns the defaults: populations 16, 32, ..., 16384, 200 repeats, seed 1; types uniform on [0.025,
 *  0.075]; 2^18 for the law. */
mfpg_limit_options mfpg_limit_options_default(void);

/** How the N-player equilibrium nears the mean-field one of the law of types. Two populations stand for the law: its
 *  mid-quantiles (k - 1/2)/N ("evenly spaced"), and N random types. The limit is that of the law, not of the N types:
 *
 *    even-mean, even-largest   |Nash_N - mean field| of the mean action and of the client that differs most, evenly spaced
 *                              types: 1/N, the weight of one client in what all share
 *    exploit-mean, exploit-max what a client gains by deviating in the game of N where all play the limit's answers: 1/N^2
 *    random-players            random types, against the mean field of the same types: 1/N again
 *    random-sampling           the mean field of the same types against that of the law: N^-1/2, sampling and nothing else
 *    random-whole              the sum of both, Nash_N of random types against the law's mean field: N^-1/2 from where
 *                              sampling outweighs the players' weight threefold, and fitted from there on
 *
 *  @param game  clients who are alike but for their preference: its arrays are NULL, the numbers named ..._all stand for
 *               everybody; preference, players and clients are not read. Actions are an interval: on a grid means move
 *               in steps, which have no slope
 *  @return MFPG_OK; MFPG_ERR_INPUT for a cost that couples no clients (paper, measured), a grid, or clients that differ; else as
 *          mfpg_game_solve. out is set on success. The same numbers for any number of threads. */
mfpg_status mfpg_study_limit(
    mfpg_context *ctx, const mfpg_game *game, const mfpg_limit_options *options, mfpg_convergence *out);

typedef struct mfpg_chaos_options {
    const ptrdiff_t *population; /* numbers of particles; ascending, each in 2 .. 1000000 */
    ptrdiff_t rungs;             /* 3 .. 64 */
    ptrdiff_t repeats;           /* 2 .. 100000 runs at every population */
    uint64_t seed;
    mfpg_pde_options grid; /* grid of the law; the particles use its steps of time */
} mfpg_chaos_options;

/** Returns the defaults: 16, 32, ..., 4096 particles, 100 repeats, seed 1; 401 nodes on [-4, 4], 100 steps. */
mfpg_chaos_options mfpg_chaos_options_default(void);

/** Returns a model with three types (weights 0.5, 1 and 1.5) in a double well, attracted to the mean of all.
 *  Its drift is not linear, so the law of one particle does depend on the number of the others. Its arrays
 *  live as long as the program. */
mfpg_pde_model mfpg_chaos_model(void);

/** Propagation of chaos: N particles who feel their own mean, each playing the equilibrium's control, against the moments of
 *  the law of the forward equation. Root mean squares over the repeats, each of which falls as N^-1/2:
 *
 *    chaos-mean, chaos-variance  at the horizon
 *    chaos-path                  of the mean, the largest along the way
 *
 *  The law's moments are extrapolated to small steps from two grids, of which the difference, twice, is taken for what the
 *  steps of the particles and of the law leave; values below three times that are not fitted.
 *  @return as mfpg_pde_solve, with MFPG_ERR_NUMERIC where the law's equilibrium does not converge; out is set on success.
 *          The same numbers for any number of threads. */
mfpg_status mfpg_study_chaos(
    mfpg_context *ctx, const mfpg_pde_model *model, const mfpg_chaos_options *options, mfpg_convergence *out);

/* ---- the paper's equilibrium figure ---- */

enum { MFPG_READING_ACTIONS = 5 };
/** Returns the paper's set of strengths: 0.1, 0.3, 0.5, 1, 2. */
extern const double mfpg_reading_action[MFPG_READING_ACTIONS];

typedef enum mfpg_reading_loss {
    MFPG_READING_LOSS_INVERSE = 0, /* L/(e + c), eq. (br) */
    MFPG_READING_LOSS_PROPORTIONAL /* L e (1 + zeta s), where s is the mean action */
} mfpg_reading_loss;

typedef enum mfpg_reading_privacy {
    MFPG_READING_PRIVACY_BOUND = 0, /* eq. (dpbound) at the client's own strength */
    /* eq. (dpbound) at the mean strength, as the text below eq. (br) says */
    MFPG_READING_PRIVACY_BOUND_AT_MEAN,
    MFPG_READING_PRIVACY_BUDGET,    /* e itself: a budget, which leaks more if it is larger */
    MFPG_READING_PRIVACY_RECIPROCAL /* B/e, the cost of a sound accountant */
} mfpg_reading_privacy;

/** A meaning of the formulas: client k pays loss + beta_k privacy. */
typedef struct mfpg_reading {
    const char *name, *says;
    mfpg_reading_loss loss_form;
    mfpg_reading_privacy privacy_form;
    double loss;            /* L > 0 */
    double offset;          /* c >= 0; inverse */
    double interaction;     /* zeta >= 0; proportional */
    double privacy_scale;   /* B > 0; reciprocal */
    mfpg_paper_bound bound; /* eq. (dpbound) with its clamp and envelope; G is its gradient_norm */
    double gradient_spread; /* spread of G_k, in [0, 1): each G_k is uniform on G (1 +- spread) */
    double rounds;          /* K */
} mfpg_reading;

/** Returns the readings of the study, in their order; NULL past the end. */
const mfpg_reading *mfpg_reading_get(ptrdiff_t index);

/** Return what a client of preference beta and gradient norm G_k pays for action e if the mean action is
 *  `mean`, and its privacy term alone, without beta. */
double mfpg_reading_cost(
    const mfpg_reading *reading, double e, double mean, double beta, double gradient_norm);
double mfpg_reading_privacy_term(const mfpg_reading *reading, double e, double mean, double gradient_norm);

/** Returns the paper's closed form of the control, eq. (epsstar): e0 + log(beta theta C_d/sqrt(N)/M)/theta
 *  with theta = alpha K tau/2 and e0 = (lambda + G)/alpha, clamped to [low, high]; `high` if M <= 0. */
double mfpg_reading_closed_form(const mfpg_reading *reading, double beta, double m, double low, double high);

typedef struct mfpg_figure_options {
    ptrdiff_t clients;              /* 2 .. 100000, of the histogram and of each point of the sweep */
    double beta_low, beta_high;     /* the sweep, in equal ratios: every client has that beta */
    ptrdiff_t beta_count;           /* 2 .. 1000 */
    double spread_low, spread_high; /* the histogram: beta_k evenly spaced, ends included */
    ptrdiff_t draws;                /* 1 .. 100000 draws of the G_k if a reading spreads them */
    ptrdiff_t settings;             /* 1 .. 10000000 random settings of the enumeration */
    uint64_t seed;
} mfpg_figure_options;

/** Returns the defaults: 20 clients, beta 0.1 .. 10 at 25 points, beta_k in [0.5, 1.5], 200 draws, 20000
 *  settings, seed 1. */
mfpg_figure_options mfpg_figure_options_default(void);

typedef struct mfpg_finding {
    mfpg_verdict verdict;
    double share; /* of the draws in which it holds */
    /* the quantity described by mfpg_statement.number, mean over the draws; NAN if the statement does not
     * apply */
    double number;
} mfpg_finding;

typedef struct mfpg_statement {
    const char *name, *says; /* the sentence of the paper */
    const char *number;      /* what the number beside a verdict is */
} mfpg_statement;
/** statements.def; NULL past the end. */
const mfpg_statement *mfpg_statement_get(ptrdiff_t index);

/** What changes along the sweep. */
enum {
    MFPG_SWEEP_MEAN = 0, /* mean action */
    MFPG_SWEEP_DELTA,    /* eq. (dpbound) at each client's own action, mean; it certifies nothing */
    MFPG_SWEEP_AT_MEAN,  /* eq. (dpbound) at the mean action, as the paper's accountant computes it */
    MFPG_SWEEP_PRIVACY,  /* the reading's own privacy term, mean over clients */
    MFPG_SWEEPS
};
extern const char *const mfpg_sweep_name[MFPG_SWEEPS]; /* "mean", "delta", "delta_at_mean", "privacy" */

/** The three panels of one reading. Values are means over the draws, with standard errors (0 with one draw). */
typedef struct mfpg_panels {
    mfpg_reading reading;
    ptrdiff_t draws;
    double *sweep[MFPG_SWEEPS], *sweep_error[MFPG_SWEEPS];                 /* beta_count each; one block */
    double count[MFPG_READING_ACTIONS], count_error[MFPG_READING_ACTIONS]; /* clients at each action */
    double spread_mean, spread_mean_error;                                 /* mean action of the histogram */
    double exploitability;                                                 /* the largest of any solution */
    mfpg_finding *finding;                                                 /* of every statement */
} mfpg_panels;

/** How often the largest action of the set is the only best one, over random settings. */
typedef struct mfpg_corner {
    const char *reading;
    ptrdiff_t settings, at_largest;
} mfpg_corner;

typedef struct mfpg_figure {
    ptrdiff_t beta_count, reading_count, statement_count, corner_count;
    double *beta; /* beta_count */
    mfpg_panels *panels;
    mfpg_corner *corner;
} mfpg_figure;

void mfpg_figure_clear(mfpg_figure *figure);

/** Solves `count` readings (NULL: those of mfpg_reading_get) for every population of the figure, exactly, and finds
 *  which statement of the paper holds under which. A statement holds where it does in at least 95 of 100 draws, and
 *  fails where in at most 5. @return MFPG_OK, MFPG_ERR_DOMAIN for a number out of range or NaN; out is set on success.
 *  The same numbers for any number of threads. */
mfpg_status mfpg_study_figure(mfpg_context *ctx, const mfpg_reading *readings, ptrdiff_t count,
    const mfpg_figure_options *options, mfpg_figure *out);

/** Writes the CSV file FOLDER/NAME (folder NULL: name is its path) of the panels, completely or not at all:
 *  panel,reading,x,value,standard_error. Panels mean, delta, delta_at_mean and privacy have a row for every
 *  beta x, histogram has one for every action x. */
mfpg_status mfpg_figure_write(
    mfpg_context *ctx, const mfpg_figure *figure, const char *folder, const char *name);

/** Draws settings (every constant of the reading's forms, beta and the set of five actions) and enumerates the actions. */
mfpg_status mfpg_study_corner(
    mfpg_context *ctx, const mfpg_reading *reading, ptrdiff_t settings, uint64_t seed, mfpg_corner *out);

/* ---- the game of perturbed models ---- */

/** Client k sends w_k + v_k and pays (1/2n) |X_k W - y_k|^2 - beta_k |v_k|^2, where W is the mean of what is
 *  sent (the paper's v_k is delta_k). It chooses both w_k and v_k. Arrays are borrowed, row-major, one client
 *  after the other. */
typedef struct mfpg_output_game {
    ptrdiff_t clients, rows, dimension; /* clients >= 1, rows >= 1, dimension 1 .. 64 */
    const double *features;             /* clients x rows x dimension */
    const double *target;               /* clients x rows */
    const double *preference;           /* clients, positive */
} mfpg_output_game;

enum { MFPG_OUTPUT_STEPS = 7 };

/** What one client can gain at the paper's point: all v = 0, and W is the least-squares model of all clients'
 *  rows. */
typedef struct mfpg_output_report {
    ptrdiff_t client;
    /* largest |gradient| of any client's loss in W: 0 (up to rounding) if and only if that point satisfies
     * KKT */
    double stationarity;
    double cost; /* of the client there */
    /* v_k = t u, w_k minus t u, with a unit vector u, which leaves W unchanged; the cost at t = 1, 10, ...,
     * 10^6 */
    double step[MFPG_OUTPUT_STEPS], deviation[MFPG_OUTPUT_STEPS];
    double deviation_error;     /* largest |deviation - (cost - beta t^2)| relative to the latter */
    double direction_curvature; /* second derivative along that unit direction of (w_k, v_k) */
    double least_curvature;     /* smallest eigenvalue of the Hessian in (w_k, v_k) */
    double perturb_curvature;   /* smallest eigenvalue of the Hessian in v_k alone, with w_k fixed */
    double refit_gain;          /* what the client gains by changing w_k alone */
    /* number of random profiles of all clients, and of those that the deviation t = 10^3 improves */
    ptrdiff_t profiles, improved;
    mfpg_verdict kkt, minimum,
        nash; /* the point satisfies KKT; no direction has negative curvature; no client gains by deviating */
} mfpg_output_report;

/** Analyses the point.
 *  @return MFPG_OK with out filled, MFPG_ERR_DOMAIN for numbers out of range or not finite, MFPG_ERR_INPUT if
 *  the
 *  least-squares model is not unique, MFPG_ERR_MEMORY. */
mfpg_status mfpg_study_output(mfpg_context *ctx, const mfpg_output_game *game, ptrdiff_t client,
    ptrdiff_t profiles, uint64_t seed, mfpg_output_report *out);

/** A small instance: Gaussian features and one true model for all clients; targets without noise (noise 0: every client's
 *  loss is least at the same W) or with it, and that of client k moved by `apart` times a Gaussian vector of its own.
 *  Arrays of the game's shape. */
void mfpg_output_instance(const mfpg_output_game *shape, double noise, double apart, uint64_t seed,
    double *features, double *target);

#endif
