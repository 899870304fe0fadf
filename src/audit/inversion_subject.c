/* Chooses the client and the examples that are attacked, and makes its step with the library's clip, noise
 * and movement of the weights, at each level of noise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/streams.h"
#include "inversion.h"
#include "mechanisms/mechanism_ops.h"
#include "numerics/linalg/linalg.h"

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

/* Sizes are limited, so that a mistyped number gives a message and not an allocation failure. */
static mfpg_status check_options(
    mfpg_context *ctx, const mfpg_inversion_options *o, const mfpg_model *model) {
    const struct {
        const char *name;
        int64_t value, least, most;
    } range[] = {{"examples", o->examples, 1, 10000}, {"batch", o->batch, 1, 64},
        {"candidates", o->candidates, 2, 10000}, {"trials", o->trials, 1, 1000000},
        {"levels", o->levels, 2, 32}, {"iterations", o->iterations, 0, 100000},
        {"restarts", o->restarts, 1, 100}};
    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++)
        if (range[i].value < range[i].least || range[i].value > range[i].most)
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "inversion: %s %lld; allowed are %lld to %lld",
                range[i].name, (long long)range[i].value, (long long)range[i].least,
                (long long)range[i].most);
    if (!(o->confidence > 0.0 && o->confidence < 1.0))
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "inversion: confidence %g; it must be between 0 and 1", o->confidence);
    if (o->width < 0 || (o->width > 0 && model->features % o->width != 0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "inversion: width %td; rows of %td entries have no such width",
            o->width, model->features);
    if (!model->ops->first_layer)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "inversion: model %s has no biases, whose gradient the features are divided by",
            model->ops->name);
    return MFPG_OK;
}

/* ---- the least protected client ---- */

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

/* Returns the data set that holds row number *at of all training rows, client after client; *at becomes the
 * row's number in it. */
static const mfpg_dataset *set_of(const mfpg_federated_data *data, ptrdiff_t *at) {
    const mfpg_client_data *client = data->client;
    while (*at >= client->train.rows) *at -= client++->train.rows;
    return &client->train;
}

static const float *row_at(const mfpg_federated_data *data, ptrdiff_t at, float *label) {
    const mfpg_dataset *set = set_of(data, &at);
    *label = set->y[at];
    return set->x + at * data->features;
}

static mfpg_status take_rows(mfpg_context *ctx, const mfpg_federated_data *data, const ptrdiff_t *order,
    ptrdiff_t rows, mfpg_pool *memory, mfpg_dataset *out) {
    ptrdiff_t features = data->features;
    if (rows > PTRDIFF_MAX / features) return mfpg_fail_memory(ctx);
    *out = (mfpg_dataset){.rows = rows,
        .features = features,
        .x = mfpg_pool_own(memory, mfpg_alloc_floats(rows * features)),
        .y = mfpg_pool_own(memory, mfpg_alloc_floats(rows))};
    if (memory->failed) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < rows; i++)
        memcpy(out->x + i * features, row_at(data, order[i], &out->y[i]), (size_t)features * sizeof(float));
    return MFPG_OK;
}

/* Finds [0, 1] if it contains all features, and otherwise the interval from the smallest to the largest. */
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

/* Computes what is known of the other examples, order[0 .. known): their mean, and one of them for each
 * victim. */
static mfpg_status know_others(mfpg_context *ctx, const mfpg_federated_data *data, const ptrdiff_t *order,
    ptrdiff_t known, mfpg_inversion_subject *s) {
    float label;
    double *sum = mfpg_pool_alloc(&s->memory, s->features, sizeof *sum);
    s->mean = mfpg_pool_own(&s->memory, mfpg_alloc_floats(s->features));
    s->other = mfpg_pool_own(&s->memory, mfpg_alloc_floats(s->victims.rows * s->features));
    if (s->memory.failed) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < known; i++) {
        const float *x = row_at(data, order[i], &label);
        for (ptrdiff_t j = 0; j < s->features; j++) sum[j] += (double)x[j];
    }
    for (ptrdiff_t j = 0; j < s->features; j++) s->mean[j] = (float)(sum[j] / (double)known);
    mfpg_stream stream = mfpg_inversion_stream(s, MFPG_INVERSION_ORDER, 1, 0);
    for (ptrdiff_t i = 0; i < s->victims.rows; i++) {
        uint64_t at = mfpg_stream_below(&stream, (uint64_t)i, (uint64_t)known);
        memcpy(
            s->other + i * s->features, row_at(data, order[at], &label), (size_t)s->features * sizeof(float));
    }
    return MFPG_OK;
}

/* In a random order of all rows that are not absent, victims come first and candidates last. */
static mfpg_status choose_examples(
    mfpg_context *ctx, const mfpg_federated_data *data, mfpg_inversion_subject *s) {
    const mfpg_inversion_options *o = s->options;
    ptrdiff_t rows = 0;
    for (ptrdiff_t k = 0; k < data->clients; k++) rows += data->client[k].train.rows;
    ptrdiff_t *order = mfpg_pool_alloc(&s->memory, rows, sizeof *order);
    if (!order) return mfpg_fail_memory(ctx);
    mfpg_stream stream = mfpg_inversion_stream(s, MFPG_INVERSION_ORDER, 0, 0);
    mfpg_stream_permutation(&stream, rows, order);
    ptrdiff_t left = 0;
    for (ptrdiff_t i = 0; i < rows; i++) {
        ptrdiff_t at = order[i];
        const mfpg_dataset *set = set_of(data, &at);
        if (!set->absent || !set->absent[at]) order[left++] = order[i];
    }
    rows = left;
    ptrdiff_t victims = (o->examples < rows - 2 ? o->examples : rows - 2) / o->batch * o->batch;
    ptrdiff_t candidates = o->candidates < rows ? o->candidates : rows;
    if (victims < o->batch)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "inversion: %td examples in all and %td to attack; a batch of %td and 2 others are needed", rows,
            o->examples, o->batch);
    mfpg_status status = take_rows(ctx, data, order, victims, &s->memory, &s->victims);
    if (status == MFPG_OK)
        status = take_rows(ctx, data, order + rows - candidates, candidates, &s->memory, &s->candidates);
    return status == MFPG_OK ? know_others(ctx, data, order + victims, rows - victims, s) : status;
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
    mfpg_pool_clear(&subject->memory);
    *subject = (mfpg_inversion_subject){0};
}

/* ---- the step ---- */

static mfpg_inversion_clip kind_of(const mfpg_mechanism *mechanism) {
    if (!mfpg_mechanism_clips(mechanism)) return MFPG_INVERSION_PLAIN;
    if (mfpg_mechanism_clips_update(mechanism)) return MFPG_INVERSION_UPDATE;
    return mechanism->options.promise.unit == MFPG_UNIT_EXAMPLE ? MFPG_INVERSION_EXAMPLES
                                                                : MFPG_INVERSION_CLIENT;
}

static void no_noise(const mfpg_inversion_subject *s, mfpg_inversion_step *step) {
    const mfpg_mechanism_options *o = &s->mechanism->options;
    *step = (mfpg_inversion_step){.mu = INFINITY,
        .kind = kind_of(s->mechanism),
        .clip = mfpg_mechanism_clips(s->mechanism) ? o->clip : (double)INFINITY,
        .rate = s->mechanism->ops->rate(o)};
}

/* Fills in everything public about the step, with the noise at mu. */
static mfpg_status add_noise(mfpg_context *ctx, const mfpg_inversion_subject *s,
    const mfpg_mechanism_options *options, ptrdiff_t rows, double mu, mfpg_inversion_step *step) {
    no_noise(s, step);
    step->mu = mu;
    step->rows = rows;
    mfpg_status status = mfpg_mechanism_create(ctx, options, &step->mechanism);
    if (status != MFPG_OK) return status;
    mfpg_action action = mfpg_mechanism_action_for(step->mechanism, 1.0 / mu, rows);
    status = mfpg_mechanism_release(ctx, step->mechanism, action, rows, &step->release);
    if (status != MFPG_OK) return status;
    step->unit = step->release.sensitivity / (1.0 + step->release.rounding) / step->clip;
    step->sd = step->release.noise_sd / step->unit;
    step->rest = mfpg_alloc_floats(s->parameters);
    if (!step->rest) return mfpg_fail_memory(ctx);
    memcpy(step->rest, s->w, (size_t)s->parameters * sizeof *step->rest);
    if (step->mechanism->ops->drift)
        step->mechanism->ops->drift(step->mechanism, &step->release, s->parameters, step->rest);
    return MFPG_OK;
}

/* The client's own step: one of its local steps on all of its rows, before any projection. With unit example
 * all other gradients are known and subtracted; with unit client the client has only the batch. */
static mfpg_status own_step(
    mfpg_context *ctx, const mfpg_inversion_subject *s, double mu, mfpg_inversion_step *step) {
    mfpg_mechanism_options options = s->mechanism->options;
    options.local_steps = 1;
    options.batch_rate = 1.0;
    options.regularisation.value = 0.0;
    ptrdiff_t rows = options.promise.unit == MFPG_UNIT_EXAMPLE ? s->rows : s->options->batch;
    return add_noise(ctx, s, &options, rows, mu, step);
}

/* Gaussian noise after the same clip. The rate matters only if the update is clipped. */
static mfpg_status gaussian_step(
    mfpg_context *ctx, const mfpg_inversion_subject *s, double mu, mfpg_inversion_step *step) {
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    const mfpg_mechanism_options *own = &s->mechanism->options;
    options.promise = own->promise;
    options.clip = own->clip;
    options.clip_at = own->clip_at;
    options.learning_rate = 1.0;
    if (kind_of(s->mechanism) == MFPG_INVERSION_UPDATE) options.learning_rate = s->mechanism->ops->rate(own);
    return add_noise(ctx, s, &options, s->options->batch, mu, step);
}

/* Returns mu for the smallest noise of the study, at which pixels are found to two digits. The noise must
 * not be lost in the rounding of the weights to float: it is at least 2^-16 of the largest weight. */
static double top_mu(const mfpg_inversion_subject *s) {
    const double clearly = 1000.0;
    double moved = s->mechanism->options.clip;
    if (kind_of(s->mechanism) == MFPG_INVERSION_EXAMPLES) moved /= (double)s->options->batch;
    double largest = (double)mfpg_vector_largest(s->parameters, s->w) + moved;
    return fmin(clearly, 0x1p16 * moved / largest);
}

mfpg_status mfpg_inversion_steps_create(
    mfpg_context *ctx, const mfpg_inversion_subject *subject, mfpg_inversion_step *step, int *count) {
    mfpg_release release;
    mfpg_status status =
        mfpg_mechanism_release(ctx, subject->mechanism, subject->action, subject->rows, &release);
    no_noise(subject, &step[0]);
    *count = 1;
    if (status != MFPG_OK || !(release.noise_sd > 0.0)) return status;
    double mu = release.sensitivity / release.noise_sd, top = top_mu(subject);
    int between = top > mu ? subject->options->levels - 2 : 0;
    for (int i = 0; i < between && status == MFPG_OK; i++)
        status = gaussian_step(ctx, subject, top * pow(mu / top, (double)i / between), &step[(*count)++]);
    if (status == MFPG_OK) status = own_step(ctx, subject, mu, &step[(*count)++]);
    return status;
}

void mfpg_inversion_steps_clear(mfpg_inversion_step *step, int count) {
    for (int i = 0; i < count; i++) {
        mfpg_mechanism_destroy(step[i].mechanism);
        free(step[i].rest);
    }
}

ptrdiff_t mfpg_inversion_workspace(
    const mfpg_inversion_subject *subject, const mfpg_inversion_step *step, int count) {
    ptrdiff_t most = mfpg_model_workspace(subject->model, subject->options->batch);
    for (int i = 0; i < count; i++) {
        if (!step[i].mechanism) continue;
        ptrdiff_t rows = step[i].rows > subject->options->batch ? step[i].rows : subject->options->batch;
        ptrdiff_t work = mfpg_mechanism_workspace(step[i].mechanism, subject->model, rows);
        if (work > most) most = work;
    }
    return most;
}

void mfpg_inversion_gradient(const mfpg_inversion_subject *subject, const mfpg_inversion_step *step,
    const mfpg_dataset *batch, float *gradient, float *work) {
    ptrdiff_t n = subject->parameters;
    if (step->kind == MFPG_INVERSION_EXAMPLES) {
        mfpg_model_clipped_gradient(
            subject->model, subject->w, batch, NULL, 0, step->clip, 1.0, gradient, work);
        return;
    }
    mfpg_model_gradient(subject->model, subject->w, batch, NULL, 0, (double)batch->rows, gradient, work);
    if (step->kind == MFPG_INVERSION_UPDATE) mfpg_vector_scale(n, step->rate, gradient);
    if (step->kind != MFPG_INVERSION_PLAIN) mfpg_clip_joint(n, gradient, step->clip, 1.0);
}

mfpg_status mfpg_inversion_release_step(mfpg_context *ctx, const mfpg_inversion_subject *subject,
    const mfpg_inversion_step *step, const mfpg_dataset *batch, const mfpg_stream *noise, float *gradient,
    float *work) {
    if (!step->mechanism) {
        mfpg_inversion_gradient(subject, step, batch, gradient, work);
        return MFPG_OK;
    }
    const mfpg_local_round round = {
        .data = batch, .rows = step->rows, .release = &step->release, .noise = noise, .batch = noise};
    mfpg_status status =
        mfpg_mechanism_update(ctx, step->mechanism, subject->model, &round, subject->w, gradient, work, NULL);
    if (status != MFPG_OK) return status;
    for (ptrdiff_t i = 0; i < subject->parameters; i++)
        gradient[i] = (float)(((double)step->rest[i] - (double)gradient[i]) / step->unit);
    return MFPG_OK;
}

/* ---- portions of tasks ---- */

typedef struct portion {
    mfpg_task task;
    void *arg;
    ptrdiff_t first;
} portion;

static mfpg_status run_of_portion(mfpg_context *ctx, ptrdiff_t index, int worker_number, void *arg) {
    const portion *p = arg;
    return p->task(ctx, p->first + index, worker_number, p->arg);
}

int mfpg_inversion_stopped(const mfpg_inversion_options *options) {
    return options->stop && *options->stop;
}

mfpg_status mfpg_inversion_tasks(mfpg_context *ctx, const mfpg_inversion_options *options,
    mfpg_inversion_clock *clock, ptrdiff_t count, mfpg_task task, void *arg) {
    portion p = {.task = task, .arg = arg};
    ptrdiff_t size = 4 * (ptrdiff_t)mfpg_context_threads(ctx);
    mfpg_status status = MFPG_OK;
    for (; p.first < count && status == MFPG_OK && !mfpg_inversion_stopped(options); p.first += size) {
        ptrdiff_t now = count - p.first < size ? count - p.first : size;
        status = mfpg_tasks_run(ctx, now, run_of_portion, &p);
        clock->done += now;
        if (status == MFPG_OK && options->progress)
            options->progress(options->progress_user, clock->done, clock->total);
    }
    if (status != MFPG_OK || !mfpg_inversion_stopped(options)) return status;
    return mfpg_fail(ctx, MFPG_ERR_INTERRUPTED, "interrupted after %lld of %lld parts; there is no result",
        (long long)clock->done, (long long)clock->total);
}
