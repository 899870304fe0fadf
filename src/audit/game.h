/* The game of an audit, in parts: what a run shows (transcript), how it is played (a function, so that tests can play it with
 * faults), what is scored, and what the scores prove. */
#ifndef MFPG_AUDIT_GAME_H
#define MFPG_AUDIT_GAME_H

#include "canary.h"
#include "input.h"
#include "records.h"
#include "mfpg/audit.h"
#include "numerics/special/laws.h"

/* What was promised to a client, as it is printed. */
typedef struct mfpg_audit_promise {
    double mu, epsilon; /* as in mfpg_audit_client */
    double round_mu;    /* of one round; NAN: no per-round audit */
    double auc_cap;     /* NAN where mu is known */
    double distance;    /* total variation, at most 1 */
    double paper_delta; /* NAN without; no promise */
} mfpg_audit_promise;

/* What a round does to a client's state along v: E<u, v> = keep <w, v> + value gap, with that variance. */
typedef struct mfpg_audit_law {
    double keep, gap, variance;
    double rate;          /* the canary takes part with this probability in each of a round's steps */
    int one_step;         /* 1: its likelihood under sampling is known in closed form */
    mfpg_release release; /* as promised; of view local */
} mfpg_audit_law;

/* How a release was noised, by its last digits. */
typedef enum mfpg_digits_kind {
    MFPG_DIGITS_UNKNOWN = 0, /* they do not tell */
    MFPG_DIGITS_NOISED,      /* on the grid, and moved */
    MFPG_DIGITS_FLOATS,      /* not on the grid: no noise, or noise in floats */
    MFPG_DIGITS_STILL        /* not moved at all, which noise does not do in so many parameters */
} mfpg_digits_kind;

/* What the attacker may see of one run, along v; round-major, clients in each round. With many directions, such an array for
 * each of them, one after the other (but of weights), at the stride of all rounds of the game. */
typedef struct mfpg_transcript {
    int64_t rounds;       /* that were played, at most those of the game */
    ptrdiff_t directions; /* of canaries */
    ptrdiff_t each;       /* canaries of a client: of one, client k's points along v_{k mod directions} */
    ptrdiff_t planes;     /* arrays in local: directions, or 1 for each client's own direction, or 0 */
    double *global;       /* rounds + 1: <w_t, v> */
    double *local;        /* rounds x clients: <u_k, v>; of members */
    double *weight;       /* rounds x clients: p_k; 0: not a member */
    const double *
        value; /* rounds x clients, for each canary of a client: what each was given to send, in [-1, 1]. NULL,
                             where the canary of one client is looked at: nobody else sends anything along v */
    /* Noised records: local is what they show behind each round, weight 1 for whoever took part, global and value as above. */
    double *beside;           /* rounds x clients: what a record without canary shows; NULL but for records */
    mfpg_digits_kind *digits; /* rounds x clients: of k's update, or of the global model in views of sums */
    signed char *
        shown; /* as local, view local: which of the values -1, 0 and 1 the last digits show to have been sent, or MFPG_SHOWS_NONE */
} mfpg_transcript;

enum { MFPG_SHOWS_NONE = 2 };

/* The direction of plane j of a client's points. */
static inline ptrdiff_t mfpg_plane_direction(const mfpg_transcript *s, ptrdiff_t client, ptrdiff_t j) {
    return s->planes < s->directions ? client % s->directions : j;
}

typedef struct mfpg_audit_game {
    const mfpg_audit_options *options;
    const mfpg_federation_options *federation; /* of the runs: cheap accountants, no evaluation */
    const mfpg_federated_data *data;           /* of the runs: rows and names of the clients */
    const mfpg_model *model;                   /* canary model; with input, the configured one */
    const mfpg_model *configured;              /* whose input canaries are wanted too; NULL: none are */
    int records;                               /* 1: records are noised; model is the configured one */
    const mfpg_input_canary *input;            /* NULL: canaries are gradients */
    const mfpg_mechanism *const *mechanism;
    const mfpg_action *action;
    const mfpg_audit_law *law; /* clients */
    double excess;             /* of the canaries' gradients over the clip */
    ptrdiff_t clients;
    int64_t rounds;
    double delta;
} mfpg_audit_game;

/* Plays one run and fills the transcript (value is given). canaries are the worker's own. */
typedef mfpg_status (*mfpg_audit_play)(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_key *key,
    mfpg_canary_data *canaries, mfpg_transcript *transcript, void *arg);

/* play.c: by the library's federation. arg: unused. */
mfpg_status mfpg_audit_play_federation(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_key *key,
    mfpg_canary_data *canaries, mfpg_transcript *transcript, void *arg);

/* digits.c: fills digits and shown of the transcript's round with what the digits of u say, which client k is said to have released from the
 * model w. shown is the value in {-1, 0, 1} of a plane's canary that explains the most entries of u, each as a possible output bit for bit;
 * they are MFPG_DIGITS_UNKNOWN and MFPG_SHOWS_NONE if nothing can be told. MFPG_ERR_MEMORY. */
mfpg_status mfpg_digits_of_update(mfpg_context *ctx, const mfpg_audit_game *game, ptrdiff_t k, const float *w,
    const float *u, mfpg_transcript *transcript);

/* The same of what the sum of all clients made of w on that grid (0: in floats). */
mfpg_digits_kind mfpg_digits_of_sum(ptrdiff_t n, double grid, const float *w, const float *u);

/* attack.c: the score of client k, signs those of the pattern; positive where arm 1 is likelier. The per-round one of round t.
 * The digits score counts the rounds in which the last digits show arm 1, less those in which they show arm 0. The cross score is of k against other. The input score is that of constant signs for input canaries. */
double mfpg_attack_score(
    const mfpg_audit_game *game, const mfpg_transcript *transcript, const signed char *sign, ptrdiff_t k);
double mfpg_attack_digits(
    const mfpg_audit_game *game, const mfpg_transcript *transcript, const signed char *sign, ptrdiff_t k);
double mfpg_attack_round(
    const mfpg_audit_game *game, const mfpg_transcript *transcript, int64_t t, ptrdiff_t k);
double mfpg_attack_records(
    const mfpg_audit_game *game, const mfpg_transcript *transcript, ptrdiff_t k, ptrdiff_t series);
double mfpg_attack_input(const mfpg_audit_game *game, const mfpg_transcript *transcript, ptrdiff_t k);
double mfpg_attack_cross(const mfpg_audit_game *game, const mfpg_transcript *transcript,
    const signed char *sign, ptrdiff_t k, ptrdiff_t other);

/* Series of scores of noised records: the first look at one; all rounds' looks; beside a record of the same client; and beside
 * that of client k + 1, k + 2, ... */
enum { MFPG_LOOK_FIRST = 0, MFPG_LOOK_ALL, MFPG_LOOK_BESIDE, MFPG_LOOK_CROSS };

/* What is sent in a round of sign c on an arm, and half way between the arms. */
double mfpg_audit_value(const mfpg_audit_game *game, int sign, int arm);
double mfpg_audit_middle(const mfpg_audit_game *game, int sign);

/* audit.c: plays all patterns and judges the promises (clients). */
mfpg_status mfpg_audit_run(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_audit_promise *promise,
    mfpg_audit_play play, void *arg, mfpg_audit_client *client, mfpg_audit_plan *plan);

/* many.c: plays a few runs, or one, with many canaries and judges the promises. */
mfpg_status mfpg_audit_run_many(mfpg_context *ctx, const mfpg_audit_game *game,
    const mfpg_audit_promise *promise, mfpg_audit_play play, void *arg, mfpg_audit_client *client,
    mfpg_audit_plan *plan);

/* setup.c: the canaries of the game, all of them silent. */
mfpg_status mfpg_audit_canaries(mfpg_context *ctx, const mfpg_audit_game *game, mfpg_canary_data *out);

/* setup.c: law of each client, MFPG_ERR_INPUT for what cannot be audited; and what the federation promises. */
mfpg_status mfpg_audit_laws(mfpg_context *ctx, const mfpg_audit_game *game, mfpg_audit_law *law);
mfpg_status mfpg_audit_promises(mfpg_context *ctx, const mfpg_audit_game *game,
    const mfpg_federation_options *federation, mfpg_audit_promise *promise);

/* verdict.c: one series of scores of a client. */
typedef struct mfpg_series {
    const double *score;      /* runs */
    const unsigned char *arm; /* runs */
    const uint64_t *tie;      /* runs */
    int64_t runs;
    mfpg_audit_pattern pattern;
    double alpha;
} mfpg_series;

/* Room for the verdict on a series of that many runs. */
typedef struct mfpg_verdict_room {
    mfpg_scored *scored;
    double *plain;
} mfpg_verdict_room;

/* Adds what a series proves to a client's verdict. MFPG_ERR_NUMERIC for NaN. */
mfpg_status mfpg_verdict_add(mfpg_context *ctx, const mfpg_series *series, double delta,
    const mfpg_audit_promise *promise, mfpg_verdict_room *room, mfpg_audit_client *client);

/* Adds what the series of input canaries proves, all of its alpha to ranks. */
mfpg_status mfpg_verdict_add_input(
    mfpg_context *ctx, const mfpg_series *series, mfpg_verdict_room *room, mfpg_audit_client *client);

/* Adds the guesses of rounds. */
void mfpg_verdict_add_rounds(int64_t correct, int64_t trials, double alpha, mfpg_audit_client *client);

/* Adds what a rate of right guesses proves that few runs refuted. */
void mfpg_verdict_add_rate(double rate, double delta, mfpg_audit_pattern pattern, mfpg_audit_client *client);

/* One run: fixes beforehand how many of the client's canaries are guessed, and adds what it proves that some were right
 * (client->guesses, client->correct). */
int64_t mfpg_verdict_plan_one_run(double alpha, mfpg_audit_client *client);
void mfpg_verdict_add_one_run(
    double delta, double alpha, mfpg_audit_pattern pattern, mfpg_audit_client *client);

/* Nothing proved yet; and the answer to whether the promise stands. */
mfpg_audit_client mfpg_verdict_start(const mfpg_audit_promise *promise);
void mfpg_verdict_close(double delta, mfpg_audit_client *client);

#endif
