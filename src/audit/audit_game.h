/* The game of an audit, in parts: what a run shows (transcript), how it is played (a function, so that tests can play it with
 * faults), what is scored, and what the scores prove. */
#ifndef MFPG_AUDIT_AUDIT_GAME_H
#define MFPG_AUDIT_AUDIT_GAME_H

#include "mfpg/audit.h"
#include "models/model_ops.h"
#include "numerics/special/laws.h"

/* ---- canary.c: the attacker's data, of three kinds ---- */

/* Gradients: a linear loss, whose gradient is the same at every model, along a direction.
 * Rows: data of the kind that people have, long and mislabelled, under the configured model; their gradient fades as the model
 * learns them, so that they are realistic, and no worst case. Records, for mechanisms that noise records: two records, as far
 * from each other as the promise admits, of which one goes through noise once. What clips, noises, averages and accounts for
 * them is the library's own. */

/* Directions: of n parameters, m unit vectors v_0, ..., v_{m-1} that share no entry, each with as many entries above 0 as
 * below, so that its mean is 0 (a single parameter has v_0 = 1). The most that there are: */
ptrdiff_t mfpg_canary_most(ptrdiff_t n);

/* <w, v_j> of m directions; and of the only one. */
double mfpg_canary_project_on(ptrdiff_t n, ptrdiff_t directions, ptrdiff_t j, const float *w);
double mfpg_canary_project(ptrdiff_t n, const float *w);

/* Entry i of v_j. */
double mfpg_canary_entry(ptrdiff_t n, ptrdiff_t directions, ptrdiff_t j, ptrdiff_t i);

/* Direction j has the entries from its first to that of j + 1, exclusive, all of one size. */
ptrdiff_t mfpg_canary_first(ptrdiff_t n, ptrdiff_t directions, ptrdiff_t j);

/* A model with the tensors of another: an example (size, j, m; y) has the loss -size y <w, v_j> and therefore the gradient
 * -size y v_j. Free it with mfpg_model_destroy. */
mfpg_status mfpg_canary_model_create(mfpg_context *ctx, const mfpg_model *like, mfpg_model **out);

/* As many rows as each client has, without canaries until they are set. */
typedef struct mfpg_canary_data {
    mfpg_federated_data data; /* what a federation borrows; names are borrowed */
    ptrdiff_t *hot;           /* clients: how many rows carry the canary, from the first on */
} mfpg_canary_data;
void mfpg_canary_data_clear(mfpg_canary_data *canaries);

/* Raw gradients are `excess` times what is clipped to: the clip has to do the work. directions: at most 2^24. each > 1: the
 * first rows of a client, that many or all it has, carry a canary each, row j along v_j. each 1: one canary a client, that of
 * client k along v_{k mod directions}. */
mfpg_status mfpg_canary_data_create(mfpg_context *ctx, const mfpg_federated_data *like,
    const mfpg_mechanism *const *mechanism, double excess, ptrdiff_t each, ptrdiff_t directions,
    mfpg_canary_data *out);

/* From now on client k moves by value in [-1, 1] times its whole clip along v. Only -1, 0 and 1 are exact. */
void mfpg_canary_set(mfpg_canary_data *canaries, ptrdiff_t k, double value);

/* The row x with one label or the other. In a generalised linear model the gradient is residual(margin, y) x~, x~ = (x, 1)
 * if there is a bias: along one direction v = x~/|x~|, and of either sign by the label. The margin is |x~| <w, v>. */
typedef struct mfpg_input_canary {
    const mfpg_glm *glm;
    ptrdiff_t features;
    float *row;     /* features */
    double norm;    /* |x~| */
    float label[2]; /* whose gradient moves the model against v, and along v */
    int sums_rows;
} mfpg_input_canary;

/* How strong a gradient is: its norm before the clip, and how much of it the clip leaves. */
typedef struct mfpg_input_pull {
    double norm, factor;
    double moves; /* by how much of the whole clip the model moves along v: in [-1, 1] */
} mfpg_input_pull;

/* MFPG_ERR_INPUT for a model that is not a generalised linear one. */
mfpg_status mfpg_input_canary_check(mfpg_context *ctx, const mfpg_model *model);

/* spread: how far <w, v> moves from 0 in a run, a guess. The model has passed the check. */
mfpg_status mfpg_input_canary_create(mfpg_context *ctx, const mfpg_model *model,
    const mfpg_mechanism *mechanism, double spread, mfpg_input_canary *out);
void mfpg_input_canary_clear(mfpg_input_canary *input);

/* <w, v>. */
double mfpg_input_project(const mfpg_input_canary *input, const float *w);

/* The canary in one row, or in all if the unit is a client; all others are absent. */
mfpg_status mfpg_input_data_create(mfpg_context *ctx, const mfpg_input_canary *input,
    const mfpg_federated_data *like, const mfpg_mechanism *const *mechanism, mfpg_canary_data *out);

/* From now on client k sends: -1 and 1 either label, 0 nothing, as what is not finite counts as no gradient. */
void mfpg_input_set(const mfpg_input_canary *input, mfpg_canary_data *canaries, ptrdiff_t k, double value);

/* The effect on a client with that many rows at a model whose <w, v> is `along`. */
mfpg_input_pull mfpg_input_pull_at(const mfpg_input_canary *input, const mfpg_mechanism *mechanism,
    ptrdiff_t rows, double value, double along);

/* Zeros, but for one row, or all if the unit is a client: the canary's value times `excess` clips along v. Labels are 0. */
mfpg_status mfpg_record_data_create(mfpg_context *ctx, ptrdiff_t features, const mfpg_federated_data *like,
    const mfpg_mechanism *const *mechanism, mfpg_canary_data *out);
void mfpg_record_set(
    mfpg_canary_data *canaries, const mfpg_mechanism *mechanism, ptrdiff_t k, double value, double excess);

/* What noised records show of the canary: <x, v> of the one, or the sum over all over the square root of their number. And the
 * same of the first record without canary; NAN if there is no such record. */
double mfpg_record_look(const mfpg_canary_data *canaries, ptrdiff_t k, const mfpg_dataset *noised);
double mfpg_record_look_beside(const mfpg_canary_data *canaries, ptrdiff_t k, const mfpg_dataset *noised);

/* How far apart the whole clip moves that after `steps` steps of the flow, and its variance; noise_sd is that of one step. */
void mfpg_record_law(const mfpg_mechanism *mechanism, double noise_sd, ptrdiff_t rows, int64_t steps,
    double *gap, double *variance);

/* ---- the game ---- */

/* What was promised to a client, as it is printed; fields as in mfpg_audit_client. */
typedef struct mfpg_audit_promise {
    double mu, epsilon;
    double round_mu;    /* of one round; NAN: no per-round audit */
    double auc_cap;     /* NAN if mu is known */
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
    MFPG_DIGITS_UNKNOWN = 0, /* they do not show it */
    MFPG_DIGITS_NOISED,      /* on the grid, and moved */
    MFPG_DIGITS_FLOATS,      /* not on the grid: no noise, or noise in floats */
    MFPG_DIGITS_STILL        /* not moved at all, which noise does not do in so many parameters */
} mfpg_digits_kind;

/* What the attacker may see of one run, along v; round-major, clients in each round. With many directions there is such an
 * array for each of them (but of weights), one after the other, at the stride of all rounds of the game. */
typedef struct mfpg_transcript {
    int64_t rounds;       /* that were played, at most those of the game */
    ptrdiff_t directions; /* of canaries */
    ptrdiff_t each;   /* canaries of a client; if it is one, client k's points along v_{k mod directions} */
    ptrdiff_t planes; /* arrays in local: directions, or 1 for each client's own direction, or 0 */
    double *global;   /* rounds + 1: <w_t, v> */
    double *local;    /* rounds x clients: <u_k, v>; of members */
    double *weight;   /* rounds x clients: p_k; 0: not a member */
    /* rounds x clients, for each canary of a client: what each sends, in [-1, 1]. NULL if the canary of one client is scored and
     * nobody else sends anything along v */
    const double *value;
    /* Noised records: local is what they show after each round, weight 1 for clients that took part, global and value as
     * above, beside (rounds x clients) what a record without canary shows. NULL but for records */
    double *beside;
    mfpg_digits_kind *digits; /* rounds x clients: of k's update, or of the global model in views of sums */
    /* as local, view local: which of the values -1, 0 and 1 the last digits show to have been sent, or MFPG_SHOWS_NONE */
    signed char *shown;
} mfpg_transcript;

enum { MFPG_SHOWS_NONE = 2 };

/* The direction of plane j of a client's points. */
static inline ptrdiff_t mfpg_plane_direction(const mfpg_transcript *s, ptrdiff_t client, ptrdiff_t j) {
    return s->planes < s->directions ? client % s->directions : j;
}

typedef struct mfpg_audit_game mfpg_audit_game;

/* Plays one run and fills the transcript (value is given). canaries are the worker's own. */
typedef mfpg_status (*mfpg_audit_play)(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_key *key,
    mfpg_canary_data *canaries, mfpg_transcript *transcript, void *arg);

struct mfpg_audit_game {
    const mfpg_audit_options *options;
    const mfpg_federation_options *federation; /* of the runs: cheap accountants, no evaluation */
    const mfpg_federated_data *data;           /* of the runs: rows and names of the clients */
    const mfpg_model *model;                   /* canary model; with input, the configured one */
    const mfpg_model *configured;   /* if input canaries of this model are audited too; NULL: they are not */
    int records;                    /* 1: records are noised; model is the configured one */
    const mfpg_input_canary *input; /* NULL: canaries are gradients */
    const mfpg_mechanism *const *mechanism;
    const mfpg_action *action;
    const mfpg_audit_law *law; /* clients */
    double excess;             /* of the canaries' gradients over the clip */
    ptrdiff_t clients;
    int64_t rounds;
    double delta;
    mfpg_audit_play play;
    void *play_arg;
};

/* ---- play.c ---- */

/* Plays by the library's federation. arg: unused. */
mfpg_status mfpg_audit_play_federation(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_key *key,
    mfpg_canary_data *canaries, mfpg_transcript *transcript, void *arg);

/* The canaries of the game, none of them sent; each and directions as in mfpg_canary_data_create. */
mfpg_status mfpg_audit_canaries(mfpg_context *ctx, const mfpg_audit_game *game, ptrdiff_t each,
    ptrdiff_t directions, mfpg_canary_data *out);

/* What one thread plays with. */
typedef struct mfpg_player {
    mfpg_canary_data canaries;
    mfpg_transcript transcript;
    double *value;       /* each x rounds x clients: the transcript's */
    unsigned char *coin; /* as many */
} mfpg_player;

mfpg_status mfpg_player_create(mfpg_context *ctx, const mfpg_audit_game *game, ptrdiff_t each,
    ptrdiff_t directions, ptrdiff_t planes, mfpg_player *out);
void mfpg_player_clear(mfpg_player *player);

/* Plays a run with a key from a stream of its own. */
mfpg_status mfpg_player_run(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_stream *stream,
    int64_t run, mfpg_player *player);

/* Signs by coins, one a round; two rounds or more have both signs, or noise that is used twice would not show. */
void mfpg_audit_signs(const mfpg_stream *stream, int64_t rounds, signed char *sign);

/* What is sent in a round of sign c on an arm. */
double mfpg_audit_value(const mfpg_audit_game *game, int sign, int arm);

/* ---- digits.c ---- */

/* Fills digits and shown of the transcript's round by the digits of u, which client k is said to have released from the model w.
 * shown is the value in {-1, 0, 1} of a plane's canary that explains the most entries of u, each as a possible output bit for
 * bit; they are MFPG_DIGITS_UNKNOWN and MFPG_SHOWS_NONE if the digits do not show it. MFPG_ERR_MEMORY. */
mfpg_status mfpg_digits_of_update(mfpg_context *ctx, const mfpg_audit_game *game, ptrdiff_t k, const float *w,
    const float *u, mfpg_transcript *transcript);

/* The same of what the sum of all clients made of w on that grid (0: in floats). */
mfpg_digits_kind mfpg_digits_of_sum(ptrdiff_t n, double grid, const float *w, const float *u);

/* ---- attack.c: scores of client k, positive if arm 1 is likelier ---- */

/* By all rounds, with the pattern's signs; by the last digits: the rounds in which they show arm 1, less those in which they show
 * arm 0; against another client; by round t alone; of input canaries with constant signs. */
double mfpg_attack_score(
    const mfpg_audit_game *game, const mfpg_transcript *transcript, const signed char *sign, ptrdiff_t k);
double mfpg_attack_digits(
    const mfpg_audit_game *game, const mfpg_transcript *transcript, const signed char *sign, ptrdiff_t k);
double mfpg_attack_cross(const mfpg_audit_game *game, const mfpg_transcript *transcript,
    const signed char *sign, ptrdiff_t k, ptrdiff_t other);
double mfpg_attack_round(
    const mfpg_audit_game *game, const mfpg_transcript *transcript, int64_t t, ptrdiff_t k);
double mfpg_attack_input(const mfpg_audit_game *game, const mfpg_transcript *transcript, ptrdiff_t k);

/* Of noised records, by the first round that shows one; by all rounds; next to a record of the same client; and next to that of
 * client k + 1, k + 2, ... */
enum { MFPG_LOOK_FIRST = 0, MFPG_LOOK_ALL, MFPG_LOOK_BESIDE, MFPG_LOOK_CROSS };
double mfpg_attack_records(
    const mfpg_audit_game *game, const mfpg_transcript *transcript, ptrdiff_t k, ptrdiff_t series);

/* ---- audits: they play all patterns and judge the promises (clients) ---- */

/* rank_audit.c: many runs with one canary a client. few_run_audit.c: a few, or one, with many canaries. */
mfpg_status mfpg_audit_run(mfpg_context *ctx, const mfpg_audit_game *game, const mfpg_audit_promise *promise,
    mfpg_audit_client *client, mfpg_audit_plan *plan);
mfpg_status mfpg_audit_run_many(mfpg_context *ctx, const mfpg_audit_game *game,
    const mfpg_audit_promise *promise, mfpg_audit_client *client, mfpg_audit_plan *plan);

/* audit.c: the law of each client. MFPG_ERR_INPUT for what cannot be audited. */
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

/* Room for the verdict on a series of that many runs. */
typedef struct mfpg_verdict_room {
    mfpg_scored *scored;
    double *plain;
} mfpg_verdict_room;

/* Nothing proved yet; and at the end, whether the promise holds. */
mfpg_audit_client mfpg_verdict_start(const mfpg_audit_promise *promise);
void mfpg_verdict_close(double delta, mfpg_audit_client *client);

/* Adds what a series proves to a client's verdict; what that of input canaries proves, all of its alpha to ranks.
 * MFPG_ERR_NUMERIC for NaN. */
mfpg_status mfpg_verdict_add(mfpg_context *ctx, const mfpg_series *series, double delta,
    const mfpg_audit_promise *promise, mfpg_verdict_room *room, mfpg_audit_client *client);
mfpg_status mfpg_verdict_add_input(
    mfpg_context *ctx, const mfpg_series *series, mfpg_verdict_room *room, mfpg_audit_client *client);

/* Adds what a rate of right guesses proves that few runs refuted. */
void mfpg_verdict_add_rate(double rate, double delta, mfpg_audit_pattern pattern, mfpg_audit_client *client);

/* One run: fixes beforehand how many of the client's canaries are guessed, and adds what it proves that some were right
 * (client->guesses, client->correct). */
void mfpg_verdict_plan_one_run(double alpha, mfpg_audit_client *client);
void mfpg_verdict_add_one_run(
    double delta, double alpha, mfpg_audit_pattern pattern, mfpg_audit_client *client);

#endif
