/** Accountants compute what the recorded releases cost. gdp, rdp, exact, pld and hidden-state certify
 *  releases of parameters; data-particles certifies releases of noised records; paper_* print the paper's
 *  formulas and certify nothing. This header also declares the conversions of Gaussian differential privacy
 *  and the append-only ledger. */
#ifndef MFPG_ACCOUNTANT_H
#define MFPG_ACCOUNTANT_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "fields.h"
#include "filter.h"
#include "names.h"
#include "release.h"

/* ---- Gaussian differential privacy (theory S2.1): for NaN or a value out of range the functions return
 * +INFINITY ---- */

/** Returns delta(epsilon) of mu-GDP, Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) (Balle and
 *  Wang 2018), rounded up. It is 0 for mu 0 and 1 for mu +INFINITY. */
double mfpg_gdp_delta(double mu, double epsilon);

/** Returns the smallest epsilon >= 0 with delta(epsilon) <= delta for mu-GDP, rounded up. mu is first rounded
 *  up to 41 bits (a relative increase of at most 1e-12), so that epsilon never falls as mu grows. delta must
 *  be in [0,1); delta 0 gives +INFINITY unless mu is 0. */
double mfpg_gdp_epsilon(double mu, double delta);

/* ---- the paper's bound (NOT a certificate) ---- */

typedef struct mfpg_paper_bound {
    double dimension, clients; /* d, N */
    double alpha;              /* 1 / prior variance */
    double variance_penalty;   /* lambda */
    double gradient_norm;      /* G */
    double step;               /* tau */
    int clamp;                 /* min(1, .) */
    int envelope;              /* 1: the bound is C_d/sqrt(N)/(K+1) if alpha e <= lambda + G */
} mfpg_paper_bound;

/** Evaluates equation (dpbound): (C_d/sqrt N) exp(-(alpha e - lambda - G) K tau / 2), C_d = min(sqrt d, 10).
 *  It only reproduces the paper: the number is not a bound on any privacy loss (theory S1). */
double mfpg_paper_lsi_delta(const mfpg_paper_bound *bound, double strength, double rounds);

/* ---- accountants ---- */

typedef struct mfpg_accountant mfpg_accountant;

typedef struct mfpg_accountant_options {
    mfpg_promise promise;
    mfpg_paper_bound paper; /* paper_lsi only */
    /* rdp only: the orders >= 1 that may be used; copied. NULL allows all orders and Gaussian DP */
    const double *orders;
    ptrdiff_t order_count;
    double width; /* exact only: the largest gap, > 0, that is acceptable between the two ends of an answer */
} mfpg_accountant_options;

/** Returns the defaults: unit client, adjacency zero-out, view local, the paper's constants with clamp and
 *  envelope on, width 1e-6. */
mfpg_accountant_options mfpg_accountant_options_default(void);

/** Creates an accountant for one client by its name in accountants.def. NULL options mean the defaults. */
mfpg_status mfpg_accountant_create(
    mfpg_context *ctx, const char *kind, const mfpg_accountant_options *options, mfpg_accountant **out);
void mfpg_accountant_destroy(mfpg_accountant *accountant);

/** Returns 1 if the accountant's epsilon is a guarantee, and 0 for paper_*. */
int mfpg_accountant_certifies(const mfpg_accountant *accountant);

/** Adds a release. Fails with MFPG_ERR_DOMAIN for NaN, infinite or negative numbers. Fails with
 *  MFPG_ERR_INPUT if the accountant does not support the particles of the release, if the unit of the release
 *  is not that of the promise, if its grid does not fit its noise in the promised view (mfpg_grid_fault), or
 *  if paper_lsi is given no strength. After any failure the accountant answers +INFINITY permanently, because
 *  something was released that it could not record. gdp counts sampled examples as if all had been used. rdp,
 *  exact and pld credit Poisson sampling if the unit is the example; they rely on the caller's promise that
 *  only examples are sampled. */
mfpg_status mfpg_accountant_record(
    mfpg_context *ctx, mfpg_accountant *accountant, const mfpg_release *release);

/** The same release times >= 0 times. */
mfpg_status mfpg_accountant_record_times(
    mfpg_context *ctx, mfpg_accountant *accountant, const mfpg_release *release, int64_t times);

/** Returns the smallest epsilon for which everything recorded is (epsilon, delta)-DP under the promise,
 *  rounded up; for paper_* it is the number that the paper would print. delta must be in [0,1); otherwise the
 *  result is MFPG_ERR_DOMAIN and +INFINITY. If nothing is recorded, epsilon is 0. */
mfpg_status mfpg_accountant_epsilon(
    mfpg_context *ctx, const mfpg_accountant *accountant, double delta, double *epsilon);

/** An interval that contains the true number, which is what the tightest possible bound would give. */
typedef struct mfpg_bounds {
    double lower, upper;
} mfpg_bounds;

/** Returns delta at epsilon >= 0, rounded up. paper_rdp is given its delta as a target and returns +INFINITY;
 *  paper_lsi returns its bound for every epsilon. */
mfpg_status mfpg_accountant_delta(
    mfpg_context *ctx, const mfpg_accountant *accountant, double epsilon, double *delta);

/** Returns the Gaussian-DP parameter of everything recorded, or +INFINITY if the accountant has none (as soon
 *  as sampling is credited). */
double mfpg_accountant_mu(const mfpg_accountant *accountant);

/** Returns 1 if everything recorded, together with the release `next` (NULL: nothing more), is (epsilon,
 *  delta)-DP, so that mfpg_accountant_epsilon would then return at most epsilon. This is cheaper than
 *  computing epsilon and does not change the accountant. Returns 0 for faulty input too. */
int mfpg_accountant_affords(mfpg_context *ctx, const mfpg_accountant *accountant, const mfpg_release *next,
    double delta, double epsilon);

/** Returns mu of one release of parameters under the promise: sqrt((steps-1) (S/sd)^2 + (S/last_sd)^2), with
 *  S doubled for replace, rounded up. Returns +INFINITY for a release that every accountant would refuse and
 *  for a release of data particles. */
double mfpg_release_mu(const mfpg_release *release, mfpg_adjacency adjacency);

/** Returns mu of one release of data particles, that is, of records that were mapped and noised once (theory
 *  S5.2, S5.3). It holds under the promise for everything computed from them afterwards: contraction
 *  S/noise_sd, with S doubled for replace, rounded up. Returns +INFINITY for a release that every accountant
 *  would refuse and for a release of parameters. */
double mfpg_data_release_mu(const mfpg_release *release, mfpg_adjacency adjacency);

extern const mfpg_kinds mfpg_accountants; /**< accountants.def */

/* ---- ledger: an append-only text file of all releases of all clients, with one JSON object per line; each
 * line has a hash that continues the chain of the lines before it ---- */

typedef struct mfpg_ledger mfpg_ledger;

/** What a ledger file begins with. */
typedef struct mfpg_ledger_header {
    mfpg_particles particles; /* of every release */
    int64_t clients;
    mfpg_promise promise;
    double delta;
    int seeded; /* the noise key came from a seed */
    /* The budget of every client, epsilon at delta, which mfpg_ledger_spend enforces (0: no budget), and the
     * rule that enforces it (a filter needs a budget). With MFPG_FILTER_ACCOUNTANT the accountant named by
     * mfpg_ledger_accountant enforces it; this is sound only if the noise and the number of releases are
     * public and fixed beforehand. */
    double stop_at_epsilon;
    mfpg_filter_kind filter;
    /* 1: the releases enter secure sums (view average, parameters, at most MFPG_SUM_MOST clients), and lines of
     * survivors may follow. A release with attempt 0 then has no noise but its own. */
    int secure_sum;
} mfpg_ledger_header;

/** The numbers of a release in a line of a ledger; the record is mfpg_release. */
extern const mfpg_fields mfpg_ledger_fields;

enum { MFPG_LEDGER_CHAIN_SIZE = 65 }; /* 64 hexadecimal digits and a closing 0 */

/** The end of a ledger. If whole lines are removed from the end of the file, the remaining chain is still
 *  valid. Only a copy of this record, kept elsewhere, reveals the removal. */
typedef struct mfpg_ledger_end {
    int64_t lines;                      /* complete ones, the header included */
    char chain[MFPG_LEDGER_CHAIN_SIZE]; /* value of the last of them */
} mfpg_ledger_end;

/** Creates a new ledger file. The file appears with its first line on disk or not at all; MFPG_ERR_IO if it
 *  already exists. Only one process at a time can have a ledger open for writing; others (including a child
 *  made by fork()) get MFPG_ERR_INPUT. Threads: calls on one ledger wait for each other. */
mfpg_status mfpg_ledger_create(
    mfpg_context *ctx, const char *path, const mfpg_ledger_header *header, mfpg_ledger **out);

/** Opens a ledger to continue after its last complete line. If a crash left an incomplete line, that line is
 *  cut off, because nothing is released before its line is complete and on disk.
 *  @param[in] stop_at_epsilon  a smaller budget than that of the header, for this writer; 0: the header's
 *  budget
 *  @return MFPG_ERR_INPUT if mfpg_ledger_read refuses the file, or if the file has an older version, which is
 *  read only. */
mfpg_status mfpg_ledger_open(mfpg_context *ctx, const char *path, double stop_at_epsilon, mfpg_ledger **out);

/* ---- the ledger as an account: the file on disk is the only record of what was spent ---- */

/** What one client has spent according to the ledger. */
typedef struct mfpg_spending {
    /* 1 if the budget allows the release; from mfpg_ledger_spend it also means that the line is on disk and
     * the release may leave now */
    int admitted;
    int64_t round; /* of the latest release */
    /* certified at the header's delta; with a filter it is the whole budget as soon as anything was spent */
    double epsilon;
    /* the same number; with a filter it is the part of the budget that was spent, for display */
    double spent;
    double remaining; /* the budget minus `spent`, rounded down; +INFINITY without a budget */
} mfpg_spending;

/** Checks the budget, charges it and writes the release to the ledger as one step, before the release leaves.
 *  If the client's budget allows the release, it is appended and synced and answer.admitted is 1; otherwise
 *  nothing is written. A release whose round is negative gets the next round number. After any failure the
 *  release must not leave, whether or not the ledger lists it.
 *  @return MFPG_ERR_DOMAIN for a release that append refuses; MFPG_ERR_IO if it cannot be written. */
mfpg_status mfpg_ledger_spend(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *release, mfpg_spending *answer);

/** The same question; nothing is written. */
mfpg_status mfpg_ledger_affords(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *release, mfpg_spending *answer);

/** Returns what a client has spent so far; admitted is 0. */
mfpg_status mfpg_ledger_ask(mfpg_context *ctx, mfpg_ledger *ledger, int64_t client, mfpg_spending *answer);

/** Returns the name of the accountant that prices a ledger with this header: data-particles, exact (unit
 *  example) or gdp. */
const char *mfpg_ledger_accountant(const mfpg_ledger_header *header);

/* ---- the ledger as a list: the caller enforces the budget ---- */

/** Appends one round's releases (in ascending order of clients; equal releases of adjacent clients share a
 *  line) and syncs to disk, whatever the budget. If any release is NaN, negative, of another unit or
 *  otherwise faulty, none is written (MFPG_ERR_DOMAIN). Lines can be added to the latest round but not to an
 *  earlier one. After a failed write every append fails, and so does an append to a file that another program
 *  deleted or whose length it changed (MFPG_ERR_IO). */
mfpg_status mfpg_ledger_append(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *release, ptrdiff_t count);

/** Does the same as a new round and stores its number in *round. The round number inside the releases is
 *  ignored. */
mfpg_status mfpg_ledger_append_next(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *release, ptrdiff_t count, int64_t *round);

/* ---- secure sums (header.secure_sum 1) ----
 *
 * The release of a client is charged before its share leaves, with last_sd for the worst set of clients that the
 * sum allows; mfpg_ledger_spend and append do this as for any release. A client's (run, sum_round, attempt) must
 * be above all earlier ones of that run: what was written once is refused for ever (MFPG_ERR_DOMAIN), also after a
 * crash, so that a repeated sum is another release. After the sum its survivors may be added. */

/** What is known of a client's latest release after its secure sum. */
typedef struct mfpg_survivors {
    int64_t round, attempt; /* those of the client's latest line, round as the ledger numbers it */
    int64_t client;
    int64_t survivors; /* number of clients whose shares are in the sum, from threshold to members */
    double last_sd;    /* with these clients (mfpg_sum_noise with survivors); at least that of the line */
} mfpg_survivors;

/** Appends what is known of one sum, in ascending order of clients, and syncs it to disk. It changes no charge:
 *  mfpg_account_ledger prices both the case that was promised and the one that happened. MFPG_ERR_DOMAIN, and
 *  nothing is written, if a client's latest release is another one, has its survivors already, or if the numbers
 *  contradict it. */
mfpg_status mfpg_ledger_survivors(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_survivors *known, ptrdiff_t count);

/* ---- both ---- */

/** The state of an open ledger. While an interrupted run is being repeated, `end` describes everything in the
 *  file, and `repeated` describes the lines that were already repeated; otherwise the two are equal. */
typedef struct mfpg_ledger_state {
    mfpg_ledger_header header;
    int64_t round; /* number of the latest release; 0 before the first one */
    mfpg_ledger_end end, repeated;
} mfpg_ledger_state;

mfpg_ledger_state mfpg_ledger_tell(mfpg_ledger *ledger);

/** Closes a ledger; NULL is allowed. A failed write has already been reported by append. */
void mfpg_ledger_close(mfpg_ledger *ledger);

/** Receives the release of a line and its inclusive range of clients. */
typedef mfpg_status (*mfpg_ledger_visit)(
    void *user, const mfpg_release *release, int64_t first_client, int64_t last_client);

/** Reads a ledger. Fills header (may be NULL), then calls visit (may be NULL) for every line in file order
 *  with the release and its inclusive range of clients, until visit returns a status other than MFPG_OK,
 *  which is then returned. Fills end (may be NULL) on success. A line that is not a ledger line, or that
 *  breaks the chain (changed, removed, inserted or moved), gives MFPG_ERR_INPUT with its line number. An
 *  unfinished last line (from a crash while writing) gives a warning and is ignored, because nothing is
 *  released before its line is on disk. In a ledger of the view local, a line whose last_sd exceeds its
 *  noise_sd is refused, because in that view no other client's noise protects. A line whose grid is neither 0
 *  nor a power of two up to a quarter of its noise is refused too. Lines of version 3 have no grid; only
 *  ledgers of secure sums have version 5. Lines of survivors are checked and not visited. */
mfpg_status mfpg_ledger_read(mfpg_context *ctx, const char *path, mfpg_ledger_header *header,
    mfpg_ledger_visit visit, void *user, mfpg_ledger_end *end);

/** Does the same, but releases have the last_sd of their survivors where these are known, so that their price is that
 *  of what happened. Each client of a ledger of secure sums is visited by itself. */
mfpg_status mfpg_ledger_read_survived(mfpg_context *ctx, const char *path, mfpg_ledger_header *header,
    mfpg_ledger_visit visit, void *user, mfpg_ledger_end *end);

#endif
