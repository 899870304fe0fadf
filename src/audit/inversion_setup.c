/* Who is attacked, with which examples, and what the attacker knows beside them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/streams.h"
#include "inversion.h"
#include "mechanisms/mechanism_ops.h"

/* Sizes of the command's options, so that a mistyped number is no memory fault. */
enum {
    MOST_EXAMPLES = 10000,
    MOST_BATCH = 64,
    MOST_CANDIDATES = 10000,
    MOST_TRIALS = 1000000,
    MOST_LEVELS = 32
};

mfpg_inversion_options mfpg_inversion_options_default(void) {
    return (mfpg_inversion_options){.examples = 40,
        .batch = 1,
        .candidates = 100,
        .trials = 400,
        .levels = 6,
        .iterations = 300,
        .restarts = 2,
        .confidence = 0.99,
        .seed = 1};
}

mfpg_stream mfpg_inversion_stream(
    const mfpg_inversion_subject *subject, int use, int level, uint64_t number) {
    return mfpg_stream_open(&subject->key, MFPG_PURPOSE_AUDIT, (uint64_t)use * 64 + (uint64_t)level, number);
}

/* ---- options ---- */

static mfpg_status check_range(
    mfpg_context *ctx, const char *name, int64_t value, int64_t least, int64_t most) {
    if (value >= least && value <= most) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "inversion: %s %lld; allowed are %lld to %lld", name,
        (long long)value, (long long)least, (long long)most);
}

static mfpg_status check_options(
    mfpg_context *ctx, const mfpg_inversion_options *o, const mfpg_model *model) {
    const struct {
        const char *name;
        int64_t value, least, most;
    } range[] = {{"examples", o->examples, 1, MOST_EXAMPLES}, {"batch", o->batch, 1, MOST_BATCH},
        {"candidates", o->candidates, 2, MOST_CANDIDATES}, {"trials", o->trials, 1, MOST_TRIALS},
        {"levels", o->levels, 2, MOST_LEVELS}, {"iterations", o->iterations, 0, 100000},
        {"restarts", o->restarts, 1, 100}};
    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++) {
        mfpg_status status = check_range(ctx, range[i].name, range[i].value, range[i].least, range[i].most);
        if (status != MFPG_OK) return status;
    }
    if (!(o->confidence > 0.0 && o->confidence < 1.0))
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "inversion: confidence %g; it lies between 0 and 1", o->confidence);
    if (o->width < 0 || (o->width > 0 && model->features % o->width != 0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "inversion: width %td; rows of %td entries have no such width",
            o->width, model->features);
    if (!model->ops->first_layer)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "inversion: model %s has no biases, whose gradient the features are divided by",
            model->ops->name);
    return MFPG_OK;
}

/* ---- the client that is least protected ---- */

static mfpg_status choose_client(mfpg_context *ctx, const mfpg_federated_data *data,
    const mfpg_mechanism *const *mechanism, const mfpg_action *action, ptrdiff_t *chosen) {
    double largest = -1.0;
    for (ptrdiff_t k = 0; k < data->clients; k++) {
        mfpg_release release;
        if (mechanism[k]->ops->particles != MFPG_PARTICLES_PARAMETERS)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "inversion attacks gradients; this configuration noises the records themselves");
        mfpg_status status =
            mfpg_mechanism_check_memoryless(ctx, mechanism[k], "an inversion attacks one plain step");
        if (status == MFPG_OK)
            status =
                mfpg_mechanism_release(ctx, mechanism[k], action[k], data->client[k].train.rows, &release);
        if (status != MFPG_OK) return mfpg_fail_in(ctx, status, "client '%s'", data->client[k].name);
        double mu = release.noise_sd > 0.0 ? release.sensitivity / release.noise_sd : (double)INFINITY;
        if (!(mu > largest)) continue;
        largest = mu;
        *chosen = k;
    }
    return MFPG_OK;
}

/* ---- examples ---- */

/* Row number `at` of all training rows, client after client. */
static const float *row_at(const mfpg_federated_data *data, ptrdiff_t at, float *label) {
    const mfpg_client_data *client = data->client;
    while (at >= client->train.rows) at -= client++->train.rows;
    *label = client->train.y[at];
    return client->train.x + at * data->features;
}

static mfpg_status take_rows(mfpg_context *ctx, const mfpg_federated_data *data, const ptrdiff_t *order,
    ptrdiff_t rows, mfpg_dataset *out) {
    ptrdiff_t features = data->features;
    if (rows > PTRDIFF_MAX / features) return mfpg_fail_memory(ctx);
    *out = (mfpg_dataset){.rows = rows,
        .features = features,
        .x = mfpg_alloc_floats(rows * features),
        .y = mfpg_alloc_floats(rows)};
    if (!out->x || !out->y) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < rows; i++)
        memcpy(out->x + i * features, row_at(data, order[i], &out->y[i]), (size_t)features * sizeof(float));
    return MFPG_OK;
}

/* [0, 1] where it holds all features, else from the smallest to the largest. */
static mfpg_status find_box(mfpg_context *ctx, const mfpg_federated_data *data, double *low, double *high) {
    double least = (double)INFINITY, most = -(double)INFINITY;
    for (ptrdiff_t k = 0; k < data->clients; k++) {
        const mfpg_dataset *set = &data->client[k].train;
        for (ptrdiff_t i = 0; i < set->rows * data->features; i++) {
            if (set->absent && set->absent[i / data->features]) continue;
            if (!isfinite(set->x[i]))
                return mfpg_fail(ctx, MFPG_ERR_NUMERIC,
                    "inversion: client '%s' has a feature that is not finite", data->client[k].name);
            least = fmin(least, (double)set->x[i]);
            most = fmax(most, (double)set->x[i]);
        }
    }
    int unit = least >= 0.0 && most <= 1.0;
    *low = unit ? 0.0 : least;
    *high = unit ? 1.0 : most;
    return *high > *low ? MFPG_OK
                        : mfpg_fail(ctx, MFPG_ERR_INPUT,
                              "inversion: all features are %g; there is nothing to rebuild", least);
}

/* What is known beside the victims, order[0 .. known): their mean, and one of them for each victim. */
static mfpg_status know_others(mfpg_context *ctx, const mfpg_federated_data *data, const ptrdiff_t *order,
    ptrdiff_t known, mfpg_inversion_subject *s) {
    float label;
    double *sum = mfpg_alloc(s->features, sizeof *sum);
    s->mean = mfpg_alloc_floats(s->features);
    s->other = mfpg_alloc_floats(s->victims.rows * s->features);
    if (!sum || !s->mean || !s->other) {
        free(sum);
        return mfpg_fail_memory(ctx);
    }
    for (ptrdiff_t i = 0; i < known; i++) {
        const float *x = row_at(data, order[i], &label);
        for (ptrdiff_t j = 0; j < s->features; j++) sum[j] += (double)x[j];
    }
    for (ptrdiff_t j = 0; j < s->features; j++) s->mean[j] = (float)(sum[j] / (double)known);
    free(sum);
    mfpg_stream stream = mfpg_inversion_stream(s, MFPG_INVERSION_ORDER, 1, 0);
    for (ptrdiff_t i = 0; i < s->victims.rows; i++) {
        uint64_t at = mfpg_stream_below(&stream, (uint64_t)i, (uint64_t)known);
        memcpy(
            s->other + i * s->features, row_at(data, order[at], &label), (size_t)s->features * sizeof(float));
    }
    return MFPG_OK;
}

/* Row number `at` of all training rows is absent. */
static int is_absent(const mfpg_federated_data *data, ptrdiff_t at) {
    const mfpg_client_data *client = data->client;
    while (at >= client->train.rows) at -= client++->train.rows;
    return client->train.absent && client->train.absent[at];
}

/* Nobody rebuilds a row that is not there. Returns how many are left. */
static ptrdiff_t leave_out_absent(const mfpg_federated_data *data, ptrdiff_t rows, ptrdiff_t *order) {
    ptrdiff_t left = 0;
    for (ptrdiff_t i = 0; i < rows; i++)
        if (!is_absent(data, order[i])) order[left++] = order[i];
    return left;
}

/* Victims come first in a random order of all rows that are not absent, candidates last. */
static mfpg_status choose_examples(
    mfpg_context *ctx, const mfpg_federated_data *data, mfpg_inversion_subject *s) {
    const mfpg_inversion_options *o = s->options;
    ptrdiff_t rows = 0;
    for (ptrdiff_t k = 0; k < data->clients; k++) rows += data->client[k].train.rows;
    ptrdiff_t *order = mfpg_alloc(rows, sizeof *order);
    if (!order) return mfpg_fail_memory(ctx);
    mfpg_stream stream = mfpg_inversion_stream(s, MFPG_INVERSION_ORDER, 0, 0);
    mfpg_stream_permutation(&stream, rows, order);
    rows = leave_out_absent(data, rows, order);
    ptrdiff_t victims = (o->examples < rows - 2 ? o->examples : rows - 2) / o->batch * o->batch;
    ptrdiff_t candidates = o->candidates < rows ? o->candidates : rows;
    if (victims < o->batch) {
        free(order);
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "inversion: %td examples in all and %td to attack; a batch of %td and 2 others are needed", rows,
            o->examples, o->batch);
    }
    mfpg_status status = take_rows(ctx, data, order, victims, &s->victims);
    if (status == MFPG_OK)
        status = take_rows(ctx, data, order + rows - candidates, candidates, &s->candidates);
    if (status == MFPG_OK) status = know_others(ctx, data, order + victims, rows - victims, s);
    free(order);
    return status;
}

mfpg_status mfpg_inversion_subject_create(mfpg_context *ctx, const mfpg_inversion_options *options,
    const mfpg_federated_data *data, const mfpg_model *model, const mfpg_mechanism *const *mechanism,
    const mfpg_action *action, const float *w, mfpg_inversion_subject *out) {
    mfpg_inversion_subject s = {.options = options,
        .model = model,
        .w = w,
        .parameters = mfpg_model_parameters(model),
        .features = model->features,
        .key = mfpg_key_from_seed(options->seed)};
    mfpg_status status = check_options(ctx, options, model);
    if (status == MFPG_OK) status = choose_client(ctx, data, mechanism, action, &s.client);
    if (status == MFPG_OK) status = find_box(ctx, data, &s.low, &s.high);
    if (status == MFPG_OK) {
        s.layer = model->ops->first_layer(model);
        s.mechanism = mechanism[s.client];
        s.action = action[s.client];
        s.rows = data->client[s.client].train.rows;
        status = choose_examples(ctx, data, &s);
    }
    if (status == MFPG_OK)
        *out = s;
    else
        mfpg_inversion_subject_clear(&s);
    return status;
}

void mfpg_inversion_subject_clear(mfpg_inversion_subject *subject) {
    free(subject->victims.x);
    free(subject->victims.y);
    free(subject->candidates.x);
    free(subject->candidates.y);
    free(subject->other);
    free(subject->mean);
    *subject = (mfpg_inversion_subject){0};
}
