/* What a user's own membership scores prove: the bounds by ranks, by two error rates and by one run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit_bounds.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/json_file.h"
#include "base/memory.h"
#include "base/streams.h"
#include "data/readers.h"
#include "mfpg/accountant.h"
#include "mfpg/audit.h"
#include "numerics/special/laws.h"

#define SCORE(name, kind, help)                                                                              \
    { #name, MFPG_FIELD_##kind, MFPG_FIELD_JSON | MFPG_FIELD_PYTHON, offsetof(mfpg_score_bounds, name), help }

static const mfpg_record_field fields[] = {
    SCORE(inside, COUNT, "scores of members"),
    SCORE(outside, COUNT, "scores of others"),
    SCORE(delta, MAGNITUDE, "of every epsilon"),
    SCORE(confidence, MAGNITUDE, "of each bound on its own"),
    SCORE(auc, MAGNITUDE, "share of pairs in which the member's score is larger; no proof"),
    SCORE(mu_lower, MAGNITUDE, "proved by ranks"),
    SCORE(epsilon_lower, MAGNITUDE, "what mu_lower means at delta for Gaussian noise; nats"),
    SCORE(threshold, NUMBER, "above which a score says member; chosen on one half of the scores"),
    SCORE(false_positives, COUNT, "of tested_outside"),
    SCORE(tested_outside, COUNT, "the other half of the scores of others"),
    SCORE(false_negatives, COUNT, "of tested_inside"),
    SCORE(tested_inside, COUNT, "the other half of the scores of members"),
    SCORE(epsilon_lower_direct, MAGNITUDE, "proved by these error rates, without any assumption; nats"),
    SCORE(guesses, COUNT, "as one run: the most extreme scores"),
    SCORE(correct, COUNT, "of the guesses"),
    SCORE(epsilon_lower_one_run, MAGNITUDE, "proved by these guesses, if the scores are of one run; nats"),
};
const mfpg_fields mfpg_score_fields = MFPG_FIELDS("audit of scores", fields);

mfpg_score_options mfpg_score_options_default(void) {
    return (mfpg_score_options){.delta = 1e-5, .confidence = 0.99, .seed = 1};
}

/* A score with its random number, which must come first for mfpg_scored_compare. */
typedef struct labelled {
    mfpg_scored scored;
    int inside;
} labelled;

/* Working memory: both samples in random order, and room for as many scores. */
typedef struct samples {
    double *score[2]; /* outside, inside */
    ptrdiff_t count[2];
    mfpg_scored *scored; /* those outside, then those inside */
    labelled *all;
    mfpg_pool memory;
} samples;

static mfpg_status check(
    mfpg_context *ctx, const mfpg_score_options *o, const double *const *score, const ptrdiff_t *count) {
    static const char *const name[] = {"outside", "inside"};
    if (!(o->delta >= 0.0 && o->delta < 1.0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "delta %g; it must be 0 or more, and below 1", o->delta);
    if (!(o->confidence > 0.5 && o->confidence < 1.0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "confidence %g; it must be between 0.5 and 1", o->confidence);
    for (int arm = 0; arm < 2; arm++) {
        if (count[arm] < 2)
            return mfpg_fail(
                ctx, MFPG_ERR_INPUT, "scores %s: found %td; at least 2 are needed", name[arm], count[arm]);
        for (ptrdiff_t i = 0; i < count[arm]; i++)
            if (!isfinite(score[arm][i]))
                return mfpg_fail(
                    ctx, MFPG_ERR_DOMAIN, "scores %s: score %td is not a finite number", name[arm], i + 1);
    }
    return MFPG_OK;
}

/* Puts the scores in random order, so that halves are random samples; ties are also decided at random. */
static mfpg_status shuffle(
    mfpg_context *ctx, const mfpg_score_options *o, const double *const *score, samples *s) {
    ptrdiff_t all = s->count[0] + s->count[1], *order = mfpg_pool_alloc(&s->memory, all, sizeof *order);
    const mfpg_key key = mfpg_key_from_seed(o->seed);
    s->score[0] = mfpg_pool_alloc(&s->memory, all, sizeof(double));
    s->scored = mfpg_pool_alloc(&s->memory, all, sizeof *s->scored);
    s->all = mfpg_pool_alloc(&s->memory, all, sizeof *s->all);
    if (s->memory.failed) return mfpg_fail_memory(ctx);
    s->score[1] = s->score[0] + s->count[0];
    for (int arm = 0; arm < 2; arm++) {
        mfpg_stream orders = mfpg_stream_open(&key, MFPG_PURPOSE_AUDIT, (uint64_t)arm, 0),
                    ties = mfpg_stream_open(&key, MFPG_PURPOSE_AUDIT, (uint64_t)arm + 2, 0);
        mfpg_stream_permutation(&orders, s->count[arm], order);
        for (ptrdiff_t i = 0; i < s->count[arm]; i++) {
            ptrdiff_t at = arm * s->count[0] + i;
            s->score[arm][i] = score[arm][order[i]];
            s->scored[at] =
                (mfpg_scored){s->score[arm][i], mfpg_stream_below(&ties, (uint64_t)i, UINT64_MAX)};
            s->all[at] = (labelled){s->scored[at], arm};
        }
    }
    return MFPG_OK;
}

static mfpg_error_counts errors_of(const samples *s, double threshold, int tested) {
    mfpg_error_counts e = {0};
    for (int arm = 0; arm < 2; arm++) {
        ptrdiff_t half = s->count[arm] / 2, end = tested ? s->count[arm] : half;
        *(arm ? &e.runs1 : &e.runs0) = end - (tested ? half : 0);
        for (ptrdiff_t i = tested ? half : 0; i < end; i++) {
            e.false_positives += arm == 0 && s->score[arm][i] > threshold;
            e.false_negatives += arm == 1 && !(s->score[arm][i] > threshold);
        }
    }
    return e;
}

/* The threshold is chosen from the scores of the first halves and tested on the second halves, on which it
 * does not depend. */
static void judge_errors(const samples *s, double alpha, mfpg_score_bounds *out) {
    enum { CANDIDATES = 200 };
    double best = -1.0;
    for (int arm = 0; arm < 2; arm++) {
        ptrdiff_t half = s->count[arm] / 2, step = half / CANDIDATES + 1;
        for (ptrdiff_t i = 0; i < half; i += step) {
            const mfpg_error_counts e = errors_of(s, s->score[arm][i], 0);
            double bound = mfpg_bound_epsilon_direct(&e, out->delta, alpha);
            if (!(bound > best)) continue;
            best = bound;
            out->threshold = s->score[arm][i];
        }
    }
    const mfpg_error_counts e = errors_of(s, out->threshold, 1);
    out->false_positives = e.false_positives;
    out->tested_outside = e.runs0;
    out->false_negatives = e.false_negatives;
    out->tested_inside = e.runs1;
    out->epsilon_lower_direct = mfpg_bound_epsilon_direct(&e, out->delta, alpha);
}

/* The largest scores are guessed to be members and as many of the smallest non-members. The number of
 * correct guesses is tested for a fixed list of shares of all scores, among which alpha is divided. */
static void judge_one_run(samples *s, double alpha, mfpg_score_bounds *out) {
    static const double share[] = {1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01};
    enum { SHARES = sizeof share / sizeof share[0] };
    ptrdiff_t all = s->count[0] + s->count[1];
    qsort(s->all, (size_t)all, sizeof *s->all, mfpg_scored_compare);
    for (int i = 0; i < SHARES; i++) {
        ptrdiff_t side = (ptrdiff_t)ceil(0.5 * share[i] * (double)all), correct = 0;
        if (side > all / 2) side = all / 2;
        for (ptrdiff_t j = 0; j < side; j++) correct += !s->all[j].inside + s->all[all - 1 - j].inside;
        double bound = mfpg_bound_one_run_epsilon(all, 2 * side, correct, out->delta, alpha / SHARES);
        if (i > 0 && !(bound > out->epsilon_lower_one_run)) continue;
        out->guesses = 2 * side;
        out->correct = correct;
        out->epsilon_lower_one_run = bound;
    }
}

mfpg_status mfpg_audit_scores(mfpg_context *ctx, const mfpg_score_options *options, const double *inside,
    ptrdiff_t inside_count, const double *outside, ptrdiff_t outside_count, mfpg_score_bounds *out) {
    const double *const score[] = {outside, inside};
    samples s = {.count = {outside_count, inside_count}};
    mfpg_score_bounds found = {.inside = inside_count,
        .outside = outside_count,
        .delta = options->delta,
        .confidence = options->confidence};
    double alpha = 1.0 - options->confidence;
    mfpg_status status = check(ctx, options, score, s.count);
    if (status == MFPG_OK && outside_count > PTRDIFF_MAX / 64 - inside_count) status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = shuffle(ctx, options, score, &s);
    if (status == MFPG_OK) {
        found.auc = mfpg_rank_share(s.scored, outside_count, s.scored + outside_count, inside_count);
        found.mu_lower = mfpg_bound_mu_rank(found.auc, outside_count, inside_count, alpha);
        found.epsilon_lower =
            mfpg_below(mfpg_gdp_epsilon(found.mu_lower * (1.0 - 1e-11), options->delta), 0.0);
        judge_errors(&s, alpha, &found);
        judge_one_run(&s, alpha, &found);
        *out = found;
    }
    mfpg_pool_clear(&s.memory);
    return status;
}

mfpg_status mfpg_audit_scores_json(mfpg_context *ctx, const mfpg_score_bounds *bounds, char **json) {
    json_t *object = mfpg_fields_json(&mfpg_score_fields, MFPG_FIELD_JSON, bounds);
    mfpg_status status = mfpg_json_text(ctx, object, json);
    json_decref(object);
    return status;
}

/* ---- files ---- */

/* Finds the column named score, or the only column; *header is 1 if the first row has names. */
static mfpg_status find_column(mfpg_context *ctx, const mfpg_table *table, ptrdiff_t *column, int *header) {
    double number;
    *column = 0;
    *header = 0;
    for (ptrdiff_t j = 0; j < table->columns; j++) {
        char buffer[MFPG_NUMBER_SIZE];
        mfpg_slice name = mfpg_table_text(table, 0, j, buffer);
        *header |= !mfpg_table_number(table, 0, j, &number);
        if (name.length == 5 && memcmp(name.at, "score", 5) == 0) {
            *column = j;
            return MFPG_OK;
        }
    }
    if (table->columns == 1) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:1: the file has %td columns, and none is called \"score\"",
        table->path, table->columns);
}

mfpg_status mfpg_audit_read_scores(mfpg_context *ctx, const char *path, double **scores, ptrdiff_t *count) {
    mfpg_data_options options = mfpg_data_options_default();
    mfpg_table table = {0};
    ptrdiff_t column = 0;
    int header = 0;
    double *read = NULL;
    options.header = 0;
    mfpg_status status = mfpg_csv_read(ctx, path, &options, 1, &table);
    if (status == MFPG_OK) status = find_column(ctx, &table, &column, &header);
    if (status == MFPG_OK && !(read = mfpg_alloc(table.rows, sizeof *read))) status = mfpg_fail_memory(ctx);
    for (ptrdiff_t i = header; i < table.rows && status == MFPG_OK; i++)
        if (!mfpg_table_number(&table, i, column, &read[i - header]))
            status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%u: the score is not a finite number", path,
                mfpg_table_line(&table, i));
    if (status == MFPG_OK) {
        *scores = read;
        *count = table.rows - header;
    } else {
        free(read);
    }
    mfpg_table_clear(&table);
    return status;
}
