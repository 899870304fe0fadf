/* The parts of an audit: what a run shows (transcript), how it is run (a function, so that tests can insert
 * faults), what is scored, and what the scores prove. */
#ifndef MFPG_AUDIT_AUDIT_GAME_H
#define MFPG_AUDIT_AUDIT_GAME_H

#include "mfpg/audit.h"
#include "base/memory.h"
#include "models/model_ops.h"
#include "numerics/special/laws.h"

/* ---- canary.c: the attacker's data, of three kinds ---- */

/* Gradients: a linear loss, whose gradient is the same at every model, along a direction. Rows: realistic
 * data, long and mislabelled, under the configured model; their gradient fades as the model learns them, so
 * they are not a worst case. Records, for mechanisms that noise records: two records as far apart as the
 * promise allows, of which one is noised and released. The library's own code clips, noises, averages and
 * accounts for them. */

/* Directions: for n parameters, m unit vectors v_0, ..., v_{m-1} that share no entry. Each has as many
 * entries above 0 as below, so that its mean is 0 (a single parameter has v_0 = 1). This function returns
 * the largest possible m: */
ptrdiff_t mfpg_canary_most(ptrdiff_t n);

/* Return <w, v_j> of m directions, and of the only direction. */
double mfpg_canary_project_on(ptrdiff_t n, ptrdiff_t directions, ptrdiff_t j, const float *w);
double mfpg_canary_project(ptrdiff_t n, const float *w);

/* Entry i of v_j. */
double mfpg_canary_entry(ptrdiff_t n, ptrdiff_t directions, ptrdiff_t j, ptrdiff_t i);

/* Returns the first entry of direction j, which extends to the first entry of j + 1, exclusive; all its
 * entries have one size. */
ptrdiff_t mfpg_canary_first(ptrdiff_t n, ptrdiff_t directions, ptrdiff_t j);

/* Creates a model with the tensors of another: an example (size, j, m; y) has the loss -size y <w, v_j> and
 * therefore the gradient -size y v_j. Free it with mfpg_model_destroy. */
mfpg_status mfpg_canary_model_create(mfpg_context *ctx, const mfpg_model *like, mfpg_model **out);

/* Data with as many rows as each client has, without canaries until they are set. */
typedef struct mfpg_canary_data {
    mfpg_federated_data data; /* the data that a federation borrows; names are borrowed */
    ptrdiff_t *hot;           /* one per client: how many rows, from the first, carry the canary */
    mfpg_pool memory;
} mfpg_canary_data;
void mfpg_canary_data_clear(mfpg_canary_data *canaries);

/* Creates the data. Raw gradients are `excess` times the clip, so that the clip is really tested.
 * directions: at most 2^24. each > 1: the first `each` rows of a client (at most all) carry a canary each,
 * row j along v_j. each 1: one canary per client, that of client k along v_{k mod directions}. */
mfpg_status mfpg_canary_data_create(mfpg_context *ctx, const mfpg_federated_data *like,
    const mfpg_mechanism *const *mechanism, double excess, ptrdiff_t each, ptrdiff_t directions,
    mfpg_canary_data *out);

/* Makes client k move by value in [-1, 1] times its whole clip along v. Only -1, 0 and 1 are exact. */
void mfpg_canary_set(mfpg_canary_data *canaries, ptrdiff_t k, double value);

/* The row x with one label or the other. In a generalised linear model the gradient is residual(margin, y)
 * x~, where x~ = (x, 1) if there is a bias. It is along one direction v = x~/|x~|, with a sign that depends
 * on the label. The margin is |x~| <w, v>. */
typedef struct mfpg_input_canary {
    const mfpg_glm *glm;
    ptrdiff_t features;
    float *row;     /* features */
    double norm;    /* |x~| */
    float label[2]; /* the labels whose gradients move the model against v and along v */
    int sums_rows;
} mfpg_input_canary;

/* The size of a gradient: its norm before the clip, and the share that the clip leaves. */
typedef struct mfpg_input_pull {
    double norm, factor;
    double moves; /* how far the model moves along v, as a multiple of the whole clip: in [-1, 1] */
} mfpg_input_pull;

/* Fails with MFPG_ERR_INPUT for a model that is not a generalised linear one. */
mfpg_status mfpg_input_canary_check(mfpg_context *ctx, const mfpg_model *model);

/* Creates the canary. spread: an estimate of how far <w, v> moves from 0 in a run. The model must have
 * passed the check. */
mfpg_status mfpg_input_canary_create(mfpg_context *ctx, const mfpg_model *model,
    const mfpg_mechanism *mechanism, double spread, mfpg_input_canary *out);
void mfpg_input_canary_clear(mfpg_input_canary *input);

/* <w, v>. */
double mfpg_input_project(const mfpg_input_canary *input, const float *w);

/* Puts the canary into one row, or into all if the unit is a client; all other rows are absent. */
mfpg_status mfpg_input_data_create(mfpg_context *ctx, const mfpg_input_canary *input,
    const mfpg_federated_data *like, const mfpg_mechanism *const *mechanism, mfpg_canary_data *out);

/* Sets what client k sends: -1 and 1 are the two labels; 0 is nothing, because a gradient that is not finite
 * counts as none. */
void mfpg_input_set(const mfpg_input_canary *input, mfpg_canary_data *canaries, ptrdiff_t k, double value);

/* Returns the effect on a client with that many rows at a model whose <w, v> is `along`. */
mfpg_input_pull mfpg_input_pull_at(const mfpg_input_canary *input, const mfpg_mechanism *mechanism,
    ptrdiff_t rows, double value, double along);

/* Creates data of zeros except for one row, or all if the unit is a client: the canary's value times
 * `excess` clips along v. Labels are 0. */
mfpg_status mfpg_record_data_create(mfpg_context *ctx, ptrdiff_t features, const mfpg_federated_data *like,
    const mfpg_mechanism *const *mechanism, mfpg_canary_data *out);
void mfpg_record_set(
    mfpg_canary_data *canaries, const mfpg_mechanism *mechanism, ptrdiff_t k, double value, double excess);

/* Returns what noised records show of the canary: <x, v> of the one record, or the sum over all divided by
 * the square root of their number. The second result is the same for the first record without canary; NAN if
 * there is none. */
double mfpg_record_look(const mfpg_canary_data *canaries, ptrdiff_t k, const mfpg_dataset *noised);
double mfpg_record_look_beside(const mfpg_canary_data *canaries, ptrdiff_t k, const mfpg_dataset *noised);

/* Returns the distance that the whole clip causes after `steps` steps of the flow, and the variance;
 * noise_sd is that of one step. */
void mfpg_record_law(const mfpg_mechanism *mechanism, double noise_sd, ptrdiff_t rows, int64_t steps,
    double *gap, double *variance);

/* ---- the game ---- */

/* The promise to a client, as it is printed; fields as in mfpg_audit_client. */
typedef struct mfpg_audit_promise {
    double mu, epsilon;
    double round_mu;    /* mu of one round; NAN: rounds are not audited */
    double auc_cap;     /* NAN if mu is known */
    double distance;    /* total variation, at most 1 */
    double paper_delta; /* NAN without; no promise */
} mfpg_audit_promise;

/* The effect of a round on a client's state along v: E<u, v> = keep <w, v> + value gap, with that variance. */
typedef struct mfpg_audit_law {
    double keep, gap, variance;
    double rate;          /* the probability with which the canary takes part in each of a round's steps */
    int one_step;         /* 1: its likelihood under sampling has a closed form */
    mfpg_release release; /* as promised; of view local */
} mfpg_audit_law;

/* How a release was noised, according to its last digits. */
typedef enum mfpg_digits_kind {
    MFPG_DIGITS_UNKNOWN = 0, /* they do not show it */
    MFPG_DIGITS_NOISED,      /* on the grid, and moved */
    MFPG_DIGITS_FLOATS,      /* not on the grid: no noise, or noise in floats */
    MFPG_DIGITS_STILL        /* not moved at all, which noise on so many parameters practically never does */
} mfpg_digits_kind;

/* What the attacker may see of one run, along v; ordered by round and then by client. With many directions
 * there is one such array for each direction (except for weights), one after the other, at the stride of all
 * rounds of the game. */
typedef struct mfpg_transcript {
    int64_t rounds;       /* rounds that were run, at most those of the game */
    ptrdiff_t directions; /* of canaries */
    ptrdiff_t each;       /* canaries per client; if it is 1, client k's points along v_{k mod directions} */
    /* number of arrays in local: directions, or 1 if each client has its own direction, or 0 */
    ptrdiff_t planes;
    double *global; /* rounds + 1: <w_t, v> */
    double *local;  /* rounds x clients: <u_k, v> of members */
    double *weight; /* rounds x clients: p_k; 0: the client is not a member */
    /* rounds x clients, for each canary of a client: the value that each sends, in [-1, 1]. NULL if the
     * canary of one client is scored and no other client sends anything along v */
    const double *value;
    /* Noised records: local is what they show after each round, and weight is 1 for clients that took part;
     * global and value are as above; `beside` (rounds x clients) is what a record without canary shows. NULL
     * for parameters */
    double *beside;
    mfpg_digits_kind *digits; /* rounds x clients: of k's update, or of the global model in views of sums */
    /* like local, for view local: which of the values -1, 0 and 1 was sent according to the last digits, or
     * MFPG_SHOWS_NONE */
    signed char *shown;
} mfpg_transcript;

enum { MFPG_SHOWS_NONE = 2 };

/* Returns the direction of plane j of a client's points. */
static inline ptrdiff_t mfpg_plane_direction(const mfpg_transcript *s, ptrdiff_t client, ptrdiff_t j) {
    return s->planes < s->directions ? client % s->directions : j;
}

typedef struct mfpg_audit_game mfpg_audit_game;

/* Runs the federation once and fills the transcript (value is given). The canaries belong to this worker. */
typedef mfpg_status (*mfpg_audit_play)(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_key *key,
    mfpg_canary_data *canaries, mfpg_transcript *transcript, void *arg);

struct mfpg_audit_game {
    const mfpg_audit_options *options;
    const mfpg_federation_options *federation; /* options for the runs: cheap accountants, no evaluation */
    const mfpg_federated_data *data;           /* data for the runs: rows and names of the clients */
    const mfpg_model *model;                   /* canary model; for input canaries, the configured model */
    /* the configured model if input canaries are audited too; NULL: they are not */
    const mfpg_model *configured;
    int records;                    /* 1: records are noised, and model is the configured one */
    const mfpg_input_canary *input; /* NULL: canaries are gradients */
    const mfpg_mechanism *const *mechanism;
    const mfpg_action *action;
    const mfpg_audit_law *law; /* clients */
    double excess;             /* norm of the canaries' gradients divided by the clip */
    ptrdiff_t clients;
    int64_t rounds;
    double delta;
    mfpg_audit_play play;
    void *play_arg;
};

/* ---- play.c ---- */

/* Runs the library's federation. arg is not used. */
mfpg_status mfpg_audit_play_federation(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_key *key,
    mfpg_canary_data *canaries, mfpg_transcript *transcript, void *arg);

/* Creates the canaries of the game with none of them sent; each and directions as in
 * mfpg_canary_data_create. */
mfpg_status mfpg_audit_canaries(mfpg_context *ctx, const mfpg_audit_game *game, ptrdiff_t each,
    ptrdiff_t directions, mfpg_canary_data *out);

/* What one thread plays with. */
typedef struct mfpg_player {
    mfpg_canary_data canaries;
    mfpg_transcript transcript;
    double *value;       /* each x rounds x clients: the value array of the transcript */
    unsigned char *coin; /* as many */
    mfpg_pool memory;
} mfpg_player;

mfpg_status mfpg_player_create(mfpg_context *ctx, const mfpg_audit_game *game, ptrdiff_t each,
    ptrdiff_t directions, ptrdiff_t planes, mfpg_player *out);
void mfpg_player_clear(mfpg_player *player);

/* Runs once with a key from a separate stream. */
mfpg_status mfpg_player_run(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_stream *stream,
    int64_t run, mfpg_player *player);

/* Draws signs by coins, one per round. If there are two rounds or more, both signs occur, because otherwise
 * noise that is used twice would not be detected. */
void mfpg_audit_signs(const mfpg_stream *stream, int64_t rounds, signed char *sign);

/* Returns what is sent in a round of that sign on an arm. */
double mfpg_audit_value(const mfpg_audit_game *game, int sign, int arm);

/* ---- digits.c ---- */

/* Fills digits and shown of the transcript's round from the digits of u, which client k is claimed to have
 * released from the model w. shown is the value in {-1, 0, 1} of a plane's canary that explains the most
 * entries of u, each as a possible output bit for bit. They are MFPG_DIGITS_UNKNOWN and MFPG_SHOWS_NONE if
 * the digits do not show it. Can fail with MFPG_ERR_MEMORY. */
mfpg_status mfpg_digits_of_update(mfpg_context *ctx, const mfpg_audit_game *game, ptrdiff_t k, const float *w,
    const float *u, mfpg_transcript *transcript);

/* Does the same for what the sum of all clients made of w on that grid (0: in floats). */
mfpg_digits_kind mfpg_digits_of_sum(ptrdiff_t n, double grid, const float *w, const float *u);

/* ---- attack.c: scores of client k, positive if arm 1 is likelier ---- */

/* Scores by all rounds with the pattern's signs; by the last digits (the number of rounds in which they show
 * arm 1, minus those in which they show arm 0); against another client; by round t alone; and for input
 * canaries with constant signs. */
double mfpg_attack_score(
    const mfpg_audit_game *game, const mfpg_transcript *transcript, const signed char *sign, ptrdiff_t k);
double mfpg_attack_digits(
    const mfpg_audit_game *game, const mfpg_transcript *transcript, const signed char *sign, ptrdiff_t k);
double mfpg_attack_cross(const mfpg_audit_game *game, const mfpg_transcript *transcript,
    const signed char *sign, ptrdiff_t k, ptrdiff_t other);
double mfpg_attack_round(
    const mfpg_audit_game *game, const mfpg_transcript *transcript, int64_t t, ptrdiff_t k);
double mfpg_attack_input(const mfpg_audit_game *game, const mfpg_transcript *transcript, ptrdiff_t k);

/* Scores of noised records: by the first round that shows one; by all rounds; compared with a record of the
 * same client; and compared with a record of client k + 1, k + 2, ... */
enum { MFPG_LOOK_FIRST = 0, MFPG_LOOK_ALL, MFPG_LOOK_BESIDE, MFPG_LOOK_CROSS };
double mfpg_attack_records(
    const mfpg_audit_game *game, const mfpg_transcript *transcript, ptrdiff_t k, ptrdiff_t series);

/* ---- audits: they run all patterns and compare with the promises (one per client) ---- */

/* rank_audit.c: many runs with one canary per client. few_run_audit.c: a few runs, or one, with many
 * canaries. */
mfpg_status mfpg_audit_run(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_audit_promise *promise,
    mfpg_audit_client *client, mfpg_audit_plan *plan);
mfpg_status mfpg_audit_run_many(mfpg_context *ctx, const mfpg_audit_game *game,
    const mfpg_audit_promise *promise, mfpg_audit_client *client, mfpg_audit_plan *plan);

/* audit_federation.c: computes the law of each client. MFPG_ERR_INPUT for what cannot be audited. */
mfpg_status mfpg_audit_laws(mfpg_context *ctx, const mfpg_audit_game *game, mfpg_audit_law *law);

/* ---- verdict.c ---- */

/* One series of scores of a client. */
typedef struct mfpg_series {
    const double *score;      /* runs */
    const unsigned char *arm; /* runs */
    const uint64_t *tie;      /* runs */
    int64_t runs;
    mfpg_audit_pattern pattern;
    double alpha;
} mfpg_series;

/* Memory for the verdict on a series of that many runs. */
typedef struct mfpg_verdict_room {
    mfpg_scored *scored;
    double *plain;
} mfpg_verdict_room;

/* The first function returns a result that proves nothing yet; the last one decides at the end whether the
 * promise holds. */
mfpg_audit_client mfpg_verdict_start(const mfpg_audit_promise *promise);
void mfpg_verdict_close(double delta, mfpg_audit_client *client);

/* Adds what a series proves to a client's verdict; for input canaries, all of the alpha goes to ranks.
 * MFPG_ERR_NUMERIC for NaN. */
mfpg_status mfpg_verdict_add(mfpg_context *ctx, const mfpg_series *series, double delta,
    const mfpg_audit_promise *promise, mfpg_verdict_room *room, mfpg_audit_client *client);
mfpg_status mfpg_verdict_add_input(
    mfpg_context *ctx, const mfpg_series *series, mfpg_verdict_room *room, mfpg_audit_client *client);

/* Adds what follows from a success rate that few runs refuted. */
void mfpg_verdict_add_rate(double rate, double delta, mfpg_audit_pattern pattern, mfpg_audit_client *client);

/* One run: the first function fixes beforehand how many of the client's canaries are guessed; the second
 * adds what the number of correct guesses proves (client->guesses, client->correct). */
void mfpg_verdict_plan_one_run(double alpha, mfpg_audit_client *client);
void mfpg_verdict_add_one_run(
    double delta, double alpha, mfpg_audit_pattern pattern, mfpg_audit_client *client);

#endif
