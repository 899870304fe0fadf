/** Accountants: what was released, and what it cost. gdp, rdp, exact, pld and hidden-state certify releases of parameters,
 *  data-particles those of noised records; paper_* print the paper's formulas and certify nothing. Also the conversions of
 *  Gaussian differential privacy and the append-only ledger. */
#ifndef MFPG_ACCOUNTANT_H
#define MFPG_ACCOUNTANT_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "fields.h"
#include "filter.h"
#include "release.h"

/* ---- Gaussian differential privacy (theory S2.1): NaN or a value out of range gives +INFINITY, from mfpg_gdp_mu 0 ---- */

/** delta(epsilon) of mu-GDP, Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) (Balle and Wang 2018), rounded up.
 *  mu 0 gives 0, mu +INFINITY gives 1. */
double mfpg_gdp_delta(double mu, double epsilon);

/** Smallest epsilon >= 0 with delta(epsilon) <= delta for mu-GDP, rounded up (as if mu were larger by up to 1e-12 of
 *  itself: it is taken up to 41 bits, so that epsilon never falls as mu grows). delta in [0,1): delta 0 gives
 *  +INFINITY unless mu is 0. */
double mfpg_gdp_epsilon(double mu, double delta);

/** Largest mu for which mu-GDP is (epsilon, delta)-DP, rounded down (relative 1.1e-12): noise of sd sensitivity/mu is
 *  accounted for with at most this epsilon. +INFINITY for epsilon +INFINITY; 0 if there is none, and for NaN or a
 *  value out of range. */
double mfpg_gdp_mu(double epsilon, double delta);

/* ---- the paper's bound (NOT a certificate) ---- */

typedef struct mfpg_paper_bound {
    double dimension, clients; /* d, N */
    double alpha;              /* 1 / prior variance */
    double variance_penalty;   /* lambda */
    double gradient_norm;      /* G */
    double step;               /* tau */
    int clamp;                 /* min(1, .) */
    int envelope;              /* C_d/sqrt(N)/(K+1) if alpha e <= lambda + G */
} mfpg_paper_bound;

/** Equation (dpbound): (C_d/sqrt N) exp(-(alpha e - lambda - G) K tau / 2), C_d = min(sqrt d, 10). Reproduction of the
 *  paper only: the number bounds nothing (theory S1). */
double mfpg_paper_lsi_delta(const mfpg_paper_bound *bound, double strength, double rounds);

/* ---- accountants ---- */

typedef struct mfpg_accountant mfpg_accountant;

typedef struct mfpg_accountant_options {
    mfpg_promise promise;
    mfpg_paper_bound paper; /* paper_lsi only */
    const double *orders; /* rdp only: the orders >= 1 that may be used, copied; NULL: all, and Gaussian DP */
    ptrdiff_t order_count;
    double width; /* exact only: the widest gap wanted between the two ends of an answer, > 0 */
} mfpg_accountant_options;

/** Client unit, zero-out, local; the paper's constants with clamp and envelope on; width 1e-6. */
mfpg_accountant_options mfpg_accountant_options_default(void);

/** Makes an accountant of one client by its name in accountants.def; NULL options mean the defaults. */
mfpg_status mfpg_accountant_create(
    mfpg_context *ctx, const char *kind, const mfpg_accountant_options *options, mfpg_accountant **out);
void mfpg_accountant_destroy(mfpg_accountant *accountant);

/** 1 if its epsilon is a guarantee, 0 for paper_*. */
int mfpg_accountant_certifies(const mfpg_accountant *accountant);

/** Adds a release. MFPG_ERR_DOMAIN for NaN, infinite or negative numbers, MFPG_ERR_INPUT if the particles of the release
 *  are not those that the accountant knows, its unit is not that of the promise, its grid does not fit its noise in the
 *  view promised (mfpg_grid_fault), or paper_lsi is given no strength. After any failure the accountant answers +INFINITY
 *  for ever, as something was released that it does not know. gdp counts sampled examples as if all had been used; rdp,
 *  exact and pld credit Poisson sampling if the unit is the example, because only examples are sampled: the caller promises
 *  that. */
mfpg_status mfpg_accountant_record(
    mfpg_context *ctx, mfpg_accountant *accountant, const mfpg_release *release);

/** The same release times >= 0 times. */
mfpg_status mfpg_accountant_record_times(
    mfpg_context *ctx, mfpg_accountant *accountant, const mfpg_release *release, int64_t times);

/** Smallest epsilon for which everything recorded is (epsilon, delta)-DP under the promise, rounded up; for paper_*
 *  the number the paper would print. delta in [0,1), else MFPG_ERR_DOMAIN and +INFINITY. Nothing recorded: 0. */
mfpg_status mfpg_accountant_epsilon(
    mfpg_context *ctx, const mfpg_accountant *accountant, double delta, double *epsilon);

/** Two ends that hold the true number: what the best bound possible would answer. */
typedef struct mfpg_bounds {
    double lower, upper;
} mfpg_bounds;

/** delta at epsilon >= 0, rounded up; of paper_rdp, whose delta is a target that it is given, +INFINITY; of paper_lsi the
 *  bound, for every epsilon. */
mfpg_status mfpg_accountant_delta(
    mfpg_context *ctx, const mfpg_accountant *accountant, double epsilon, double *delta);

/** The Gaussian-DP parameter of everything recorded; +INFINITY if the accountant has none (once sampling is credited). */
double mfpg_accountant_mu(const mfpg_accountant *accountant);

/** 1 if everything recorded, and the release next with it (NULL: nothing), is (epsilon, delta)-DP: mfpg_accountant_epsilon
 *  would then answer at most epsilon. Cheaper than asking; the accountant is not changed. 0 also for what is faulty. */
int mfpg_accountant_affords(mfpg_context *ctx, const mfpg_accountant *accountant, const mfpg_release *next,
    double delta, double epsilon);

/** mu of one release under the promise: sqrt((steps-1) (S/sd)^2 + (S/last_sd)^2), S doubled for replace; rounded up,
 *  +INFINITY for a release that no accountant would record, and for one of data particles. */
double mfpg_release_mu(const mfpg_release *release, mfpg_adjacency adjacency);

/** mu of one release of data particles, records pushed through noise once (theory S5.2, S5.3), under the promise, for
 *  everything that is computed from it afterwards: contraction S/noise_sd, S doubled for replace; rounded up. +INFINITY for
 *  a release that no accountant would record, and for one of parameters. */
double mfpg_data_release_mu(const mfpg_release *release, mfpg_adjacency adjacency);

const char *mfpg_accountant_name(ptrdiff_t index); /* accountants.def; NULL past the end */
const char *mfpg_accountant_help(ptrdiff_t index);

/* ---- ledger: every release of every client, append-only text, one JSON object a line, each with a hash that continues
 * the chain of those before it ---- */

typedef struct mfpg_ledger mfpg_ledger;

/** What a ledger file begins with. */
typedef struct mfpg_ledger_header {
    mfpg_particles particles; /* of every release */
    int64_t clients;
    mfpg_promise promise;
    double delta;
    int seeded; /* the noise key came from a seed */
    /* The budget of every client, which mfpg_ledger_spend keeps: epsilon at delta, 0 for none; and what keeps it (a filter needs a
     * budget). MFPG_FILTER_ACCOUNTANT: the accountant that mfpg_ledger_accountant names, for releases whose noise and number are
     * public and fixed beforehand. */
    double stop_at_epsilon;
    mfpg_filter_kind filter;
} mfpg_ledger_header;

/** The numbers of a release in a line of a ledger; their record is mfpg_release. */
extern const mfpg_fields mfpg_ledger_fields;

enum { MFPG_LEDGER_CHAIN_SIZE = 65 }; /* 64 hexadecimal digits and a closing 0 */

/** The end of a ledger. Whole lines that were taken from the end of a file leave a chain without a fault: only a copy of
 *  this, kept elsewhere, shows it. */
typedef struct mfpg_ledger_end {
    int64_t lines;                      /* complete ones, the header included */
    char chain[MFPG_LEDGER_CHAIN_SIZE]; /* value of the last of them */
} mfpg_ledger_end;

/** Creates a new ledger file, which appears with its first line on disk or not at all; MFPG_ERR_IO if the file exists
 *  already. One process at a time has a ledger open for writing, others get MFPG_ERR_INPUT; a child made by fork() is another
 *  process. Threads: calls on one ledger wait for each other. */
mfpg_status mfpg_ledger_create(
    mfpg_context *ctx, const char *path, const mfpg_ledger_header *header, mfpg_ledger **out);

/** Goes on with a ledger, after its last complete line. The beginning of a line that a crash left is cut off: nothing is
 *  released before its line is complete and on disk.
 *  @param[in] stop_at_epsilon  a smaller budget than that of the header, for this writer; 0: the header's
 *  @return MFPG_ERR_INPUT if mfpg_ledger_read refuses the file, or it is of an older version, which is read only. */
mfpg_status mfpg_ledger_open(mfpg_context *ctx, const char *path, double stop_at_epsilon, mfpg_ledger **out);

/* ---- a ledger as account: one truth, on disk ---- */

/** What one client has spent, as the ledger has it. */
typedef struct mfpg_spending {
    int admitted;  /* 1: within the budget; of spend: it is on disk, and may leave now */
    int64_t round; /* of the latest release */
    double
        epsilon;  /* certified at the header's delta; of a filter its whole budget, once anything was spent */
    double spent; /* the same; of a filter what was spent of the budget, for display */
    double remaining; /* the budget less spent, rounded down; +INFINITY without a budget */
} mfpg_spending;

/** Asks, charges and writes down as one step, before the release leaves: if the client's budget lasts, the release is
 *  appended and synced, and answer.admitted is 1; if it does not, nothing is written. A release whose round is negative
 *  gets the next number. Any failure means that the release must not leave, whether or not it is listed.
 *  @return MFPG_ERR_DOMAIN for a release that append refuses; MFPG_ERR_IO if it cannot be written. */
mfpg_status mfpg_ledger_spend(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *release, mfpg_spending *answer);

/** The same question; nothing is written. */
mfpg_status mfpg_ledger_affords(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *release, mfpg_spending *answer);

/** What a client has spent so far; admitted is 0. */
mfpg_status mfpg_ledger_ask(mfpg_context *ctx, mfpg_ledger *ledger, int64_t client, mfpg_spending *answer);

/** The accountant that prices such a ledger: data-particles, exact (unit example), gdp. */
const char *mfpg_ledger_accountant(const mfpg_ledger_header *header);

/* ---- a ledger as list: its caller keeps the budget ---- */

/** Appends one round's releases (ascending clients; runs of equal releases share a line) and syncs to disk, for any budget;
 *  no release is written if any is NaN, negative, of another unit or otherwise faulty (MFPG_ERR_DOMAIN). A round may be
 *  appended to, an earlier one may not. After a write that failed every append fails; so does one to a file that another
 *  program deleted or left with another length (MFPG_ERR_IO). */
mfpg_status mfpg_ledger_append(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *release, ptrdiff_t count);

/** The same as a new round, whose number goes to *round; that of the releases is not read. */
mfpg_status mfpg_ledger_append_next(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *release, ptrdiff_t count, int64_t *round);

/* ---- both ---- */

/** What is known of an open ledger. While an interrupted run is being repeated, end is that of what the file holds, and
 *  repeated that of the lines before those that are still to be repeated; else they are the same. */
typedef struct mfpg_ledger_state {
    mfpg_ledger_header header;
    int64_t round; /* of the latest release; 0 before the first */
    mfpg_ledger_end end, repeated;
} mfpg_ledger_state;

mfpg_ledger_state mfpg_ledger_tell(mfpg_ledger *ledger);

/** Closes; NULL is fine. A failure to write what was appended has been reported by append. */
void mfpg_ledger_close(mfpg_ledger *ledger);

/** Reads a ledger: fills header (may be NULL), then calls visit (may be NULL) for every line with the release and its
 *  inclusive client range, in file order, until it returns another status than MFPG_OK, which is returned; fills end (may
 *  be NULL) on success. A line that is not one of a ledger, or does not continue the chain (changed, removed, inserted,
 *  moved), is MFPG_ERR_INPUT with its number; an unfinished last line (a crash while writing) is reported by a warning and
 *  ignored, as nothing is released before its line is on disk. In a ledger of the view local a line whose last_sd exceeds
 *  its noise_sd is refused: nobody else's noise protects there; a line whose grid is neither 0 nor a power of two up to a
 *  quarter of its noise is refused as well. Lines of version 3 knew no grid. */
mfpg_status mfpg_ledger_read(mfpg_context *ctx, const char *path, mfpg_ledger_header *header,
    mfpg_status (*visit)(void *user, const mfpg_release *release, int64_t first_client, int64_t last_client),
    void *user, mfpg_ledger_end *end);

#endif
