/* Sums of clipped gradients as integers: what they are, and how far one example can move them. */
#include "crafted_rows.h"

#include "models/losses.h"

enum { FEATURES = 11, ROWS = 700, PARAMETERS = 128 };

typedef struct setup {
    mfpg_context *ctx;
    mfpg_model *model;
    mfpg_dataset data;
    ptrdiff_t d, block; /* rows that one block holds at most */
    double clip, unit;
    float *w, *work;
    int64_t *sum, *other;
    uint64_t random;
} setup;

static int is_network(const setup *s) {
    return strcmp(mfpg_model_name(s->model), "mlp") == 0;
}

static int64_t *make_integers(ptrdiff_t count) {
    return calloc((size_t)count, sizeof(int64_t));
}

static setup begin(mfpg_model *model, mfpg_context *ctx, mfpg_dataset data, double clip) {
    setup s = {.ctx = ctx, .model = model, .data = data, .clip = clip, .random = testing_seed()};
    s.d = mfpg_model_parameters(model);
    s.block = model->ops->double_sums ? 256 : 64;
    s.unit = mfpg_model_sum_unit(clip, data.rows);
    s.w = make_floats(s.d);
    s.work = make_floats(mfpg_model_workspace(model, data.rows));
    s.sum = make_integers(s.d);
    s.other = make_integers(s.d);
    return s;
}

static setup begin_broad(const char *kind, ptrdiff_t rows, ptrdiff_t features, double clip) {
    mfpg_context *ctx = testing_context(1);
    mfpg_model *model = make_model(ctx, kind, features);
    uint64_t random = testing_seed();
    setup s = begin(model, ctx, make_dataset(rows, features, (model->classes > 0), &random), clip);
    s.random = random;
    for (ptrdiff_t i = 0; i < s.d; i++) s.w[i] = (float)(0.3 * next_normal(&s.random));
    return s;
}

static setup begin_random(const char *kind, double clip) {
    return begin_broad(kind, ROWS, FEATURES, clip);
}

static void end(setup *s) {
    free(s->w);
    free(s->work);
    free(s->sum);
    free(s->other);
    free_dataset(&s->data);
    mfpg_model_destroy(s->model);
    mfpg_context_destroy(s->ctx);
}

static int64_t sum_of(const setup *s, const int32_t *rows, ptrdiff_t count, int64_t *out) {
    memset(out, 0x55, (size_t)s->d * sizeof *out);
    return mfpg_model_clipped_sum(s->model, s->w, &s->data, rows, count, s->clip, s->unit, out, s->work);
}

static void check_equal(const setup *s, const int64_t *a, const int64_t *b) {
    assert_memory_equal(a, b, (size_t)s->d * sizeof *a);
}

/* |a - b| in clips. */
static double shift(const setup *s, const int64_t *a, const int64_t *b) {
    long double squares = 0;
    for (ptrdiff_t i = 0; i < s->d; i++) {
        long double difference = (long double)(a[i] - b[i]);
        squares += difference * difference;
    }
    return (double)(sqrtl(squares) * (long double)s->unit / (long double)s->clip);
}

/* `count` of the rows, ascending; each with about the same chance. */
static void draw_rows(uint64_t *random, ptrdiff_t rows, ptrdiff_t count, int32_t *out) {
    ptrdiff_t held = 0;
    for (ptrdiff_t i = 0; i < rows && held < count; i++)
        if (next_uniform(random) * (double)(rows - i) < (double)(count - held)) out[held++] = (int32_t)i;
    assert_int_equal(held, count);
}

static void without(const int32_t *rows, ptrdiff_t count, ptrdiff_t at, int32_t *out) {
    memcpy(out, rows, (size_t)at * sizeof *out);
    memcpy(out + at, rows + at + 1, (size_t)(count - at - 1) * sizeof *out);
}

/* ---- the unit and rho ---- */

static void test_the_unit_is_a_power_of_two_that_leaves_room(void **state) {
    (void)state;
    const double clips[] = {0x1p-500, 1e-30, 0.37, 0.5, 1, 3, 1e30, 0x1p500};
    const ptrdiff_t places[] = {0, 1, 1000, 1 << 20, (1 << 20) + 1, 1 << 21, 3 << 21, INT32_MAX};
    for (size_t c = 0; c < sizeof clips / sizeof *clips; c++)
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            int exponent;
            double unit = mfpg_model_sum_unit(clips[c], places[p]), of_clip = unit / clips[c];
            assert_true(frexp(unit, &exponent) == 0.5);
            assert_true((double)places[p] / of_clip <= 0x1p61); /* half of what is promised, rho is below 1 */
            assert_true(of_clip <= 0x1p-29);
            if (places[p] <= 1 << 20) assert_true(of_clip <= 0x1p-40 && of_clip > 0x1p-41);
        }
    const double none[] = {0, -1, NAN, INFINITY, 0x1p-501, 0x1p501};
    for (size_t c = 0; c < sizeof none / sizeof *none; c++)
        assert_true(isnan(mfpg_model_sum_unit(none[c], 9)));
}

static void test_what_has_no_unit_counts_as_zero(void **state) {
    (void)state;
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin_random(mfpg_kind_name(&mfpg_models, k), 1.0);
        double good = s.unit;
        const double units[] = {0.5 * good, 1.5 * good, 3 * good, -good, 0, NAN, INFINITY, 0x1p-28};
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
            s.unit = units[u];
            assert_int_equal(sum_of(&s, NULL, 0, s.sum), ROWS);
            for (ptrdiff_t i = 0; i < s.d; i++) assert_int_equal(s.sum[i], 0);
        }
        s.unit = 4 * good; /* for more places */
        assert_int_equal(sum_of(&s, NULL, 0, s.sum), 0);
        const double clips[] = {0, -1, NAN, INFINITY, 0x1p501};
        for (size_t c = 0; c < sizeof clips / sizeof *clips; c++) {
            s.clip = clips[c];
            const int32_t rows[] = {1, 4};
            assert_int_equal(sum_of(&s, rows, 2, s.sum), 2);
            for (ptrdiff_t i = 0; i < s.d; i++) assert_int_equal(s.sum[i], 0);
        }
        end(&s);
    }
}

/* The numbers of the proof, by hand: b^2 + b (b + 1) = 8256 at 64, 131328 at 256. */
static void test_rho_is_that_of_the_proof(void **state) {
    (void)state;
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin_random(mfpg_kind_name(&mfpg_models, k), 1.0);
        double rho = mfpg_model_sum_rounding(s.model), u = s.block == 64 ? 0x1p-24 : 0x1p-53;
        double sums = s.block == 64 ? 8256 * u : 131328 * u, units = 1.5 * sqrt((double)s.d) * 0x1p-29;
        assert_true(rho >= sums + units);
        check_near(rho, sums + units, 1e-4, 0, "rho"); /* its second order: 2 b u = 7.6e-6 */
        end(&s);
    }
}

/* ---- what is summed ---- */

/* Against the definition: every example's gradient by itself, clipped and added in long double. */
static void test_sum_is_that_of_clipped_examples(void **state) {
    (void)state;
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin_random(mfpg_kind_name(&mfpg_models, k), 1.1);
        float *one = make_floats(s.d);
        long double expected[PARAMETERS] = {0}, largest = 0;
        int above = 0;
        for (int32_t r = 0; r < ROWS; r++) {
            mfpg_model_gradient(s.model, s.w, &s.data, &r, 1, 1.0, one, s.work);
            double norm = norm_of(one, s.d);
            above += norm > s.clip;
            for (ptrdiff_t i = 0; i < s.d; i++)
                expected[i] += (long double)one[i] * (long double)fmin(1.0, s.clip / norm);
        }
        assert_true(above > 0 && above < ROWS);
        assert_int_equal(sum_of(&s, NULL, 0, s.sum), 0);
        for (ptrdiff_t i = 0; i < s.d; i++)
            largest = fmaxl(largest, fabsl((long double)s.sum[i] * (long double)s.unit - expected[i]));
        /* a row's gradient is a product of floats here and there, and shrunk by 2^-21: 700 times 8 units of 2^-24, and rho
         * for each of 11 blocks of the network */
        double blocks = ceil((double)ROWS / (double)s.block);
        double bound = s.clip * (ROWS * 0x1p-21 + blocks * mfpg_model_sum_rounding(s.model));
        assert_true((double)largest <= bound);
        end(&s);
        free(one);
    }
}

/* The sums of rows alone are one product and one rounding away from exact; so the rest is what rho says of every block. */
static void test_sum_is_that_of_rows_alone_to_within_rho(void **state) {
    (void)state;
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin_random(mfpg_kind_name(&mfpg_models, k), 0.8);
        int32_t rows[ROWS];
        for (ptrdiff_t count = 1; count <= ROWS; count += 1 + count / 3) {
            int64_t *total = make_integers(s.d);
            draw_rows(&s.random, ROWS, count, rows);
            for (ptrdiff_t i = 0; i < count; i++) {
                sum_of(&s, rows + i, 1, s.other);
                for (ptrdiff_t j = 0; j < s.d; j++) total[j] += s.other[j];
            }
            sum_of(&s, rows, count, s.sum);
            double b = (double)s.block, u = s.block == 64 ? 0x1p-24 : 0x1p-53, n = (double)count;
            double blocks = 2 * n / b + 10, conversions = (n + blocks) * sqrt((double)s.d) * 0x1p-41;
            assert_true(shift(&s, total, s.sum) <= u * n * (fmin(b, n) + 1) * 1.001 + conversions);
            free(total);
        }
        end(&s);
    }
}

/* Numbers of features on either side of where the loops change, with what is left over of them. */
static void test_broad_sums_are_those_of_rows_alone(void **state) {
    (void)state;
    const ptrdiff_t features[] = {3, 16, 31, 63, 64, 512, 513, 1031};
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++)
        for (size_t f = 0; f < sizeof features / sizeof *features; f++) {
            setup s = begin_broad(mfpg_kind_name(&mfpg_models, k), 23, features[f], 2.0);
            int64_t *total = make_integers(s.d);
            float *one = make_floats(s.d);
            s.data.y[7] = NAN;
            for (int32_t r = 0; r < 23; r++) {
                assert_int_equal(sum_of(&s, &r, 1, s.other), r == 7);
                mfpg_model_gradient(s.model, s.w, &s.data, &r, 1, 1.0, one, s.work);
                double factor = fmin(1.0, s.clip / norm_of(one, s.d));
                for (ptrdiff_t j = 0; j < s.d; j++) {
                    total[j] += s.other[j];
                    if (r != 7) /* floats here and there, shrunk by 2^-21 */
                        check_near((double)s.other[j] * s.unit, factor * (double)one[j], 1e-6, 1e-9, "entry");
                }
            }
            assert_int_equal(sum_of(&s, NULL, 0, s.sum), 1);
            double u = s.block == 64 ? 0x1p-24 : 0x1p-53, conversions = 24 * sqrt((double)s.d) * 0x1p-41;
            assert_true(shift(&s, total, s.sum) <= u * 23 * 24 + conversions);
            free(one);
            free(total);
            end(&s);
        }
}

static void test_all_rows_equal_their_list(void **state) {
    (void)state;
    int32_t rows[ROWS];
    for (int32_t i = 0; i < ROWS; i++) rows[i] = i;
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin_random(mfpg_kind_name(&mfpg_models, k), 0.4);
        for (s.data.rows = ROWS; s.data.rows > 0; s.data.rows /= 2) {
            sum_of(&s, NULL, 0, s.sum);
            sum_of(&s, rows, s.data.rows, s.other);
            check_equal(&s, s.sum, s.other);
            double *norms = s.data.norm2; /* sets of very many rows keep none */
            s.data.norm2 = NULL;
            sum_of(&s, rows, s.data.rows, s.other);
            check_equal(&s, s.sum, s.other);
            s.data.norm2 = norms;
        }
        assert_int_equal(sum_of(&s, rows, 0, s.sum), 0);
        for (ptrdiff_t i = 0; i < s.d; i++) assert_int_equal(s.sum[i], 0);
        end(&s);
    }
}

/* Floats where one block in float holds all drawn rows; either way the same integers. */
static void test_a_sum_as_made_means_the_same_integers(void **state) {
    (void)state;
    int32_t rows[ROWS];
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin_random(mfpg_kind_name(&mfpg_models, k), 0.7);
        s.data.y[5] = NAN;
        for (ptrdiff_t count = 0; count <= ROWS; count += count < 66 ? 1 : 71) {
            draw_rows(&s.random, ROWS, count, rows);
            int64_t nonfinite = sum_of(&s, rows, count, s.sum);
            mfpg_clipped_sum made = mfpg_model_clipped_sum_as_made(
                s.model, s.w, &s.data, rows, count, s.clip, s.unit, s.other, s.work);
            assert_true(made.nonfinite == nonfinite);
            assert_int_equal(made.floats != NULL, is_network(&s) && count > 0 && count <= s.block);
            assert_true((made.floats == NULL) != (made.integers == NULL));
            for (ptrdiff_t j = 0; j < s.d; j++)
                assert_true((made.floats ? llrint((double)made.floats[j]) : made.integers[j]) == s.sum[j]);
        }
        const int32_t row = 3;
        mfpg_clipped_sum made = mfpg_model_clipped_sum_as_made(
            s.model, s.w, &s.data, &row, 1, s.clip, 1.5 * s.unit, s.other, s.work); /* no unit */
        assert_true(made.integers && made.nonfinite == 1);
        for (ptrdiff_t j = 0; j < s.d; j++) assert_int_equal(made.integers[j], 0);
        end(&s);
    }
}

/* ---- blocks ---- */

/* A block is what a node of at most b rows holds; nodes with more are split at the middle of their places. */
static void test_blocks_are_split_by_place(void **state) {
    (void)state;
    int32_t rows[ROWS];
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin_random(mfpg_kind_name(&mfpg_models, k), 0.9);
        ptrdiff_t b = s.block, low = b / 2 + 1,
                  high = b - low + 1; /* b + 1 rows, on either side of place 512 */
        int64_t *part = make_integers(s.d);
        for (ptrdiff_t i = 0; i < low; i++) rows[i] = (int32_t)(3 * i);
        for (ptrdiff_t i = 0; i < high; i++) rows[low + i] = (int32_t)(512 + i);
        sum_of(&s, rows, low + high, s.sum);
        sum_of(&s, rows, low, s.other);
        sum_of(&s, rows + low, high, part);
        for (ptrdiff_t j = 0; j < s.d; j++) s.other[j] += part[j];
        check_equal(&s, s.sum, s.other);
        s.data.rows = b + 1; /* all places: a whole block, then one of a single row */
        sum_of(&s, NULL, 0, s.sum);
        const int32_t last = (int32_t)b;
        sum_of(&s, &last, 1, part);
        s.data.rows = b;
        sum_of(&s, NULL, 0, s.other);
        for (ptrdiff_t j = 0; j < s.d; j++) s.other[j] += part[j];
        check_equal(&s, s.sum, s.other);
        free(part);
        end(&s);
    }
}

/* Every number of drawn rows around the borders of blocks, one of them taken out, emptied or replaced. */
static void test_one_row_moves_the_sum_by_its_clip_and_rho(void **state) {
    (void)state;
    int32_t rows[ROWS], fewer[ROWS];
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin_random(mfpg_kind_name(&mfpg_models, k), 0.6);
        print_message("seed %" PRIu64 "\n", s.random);
        double most = 1.0 + mfpg_model_sum_rounding(s.model);
        const ptrdiff_t counts[] = {
            1, 2, s.block - 1, s.block, s.block + 1, 2 * s.block, 2 * s.block + 1, ROWS};
        for (int repeat = 0; repeat < testing_repeats(5); repeat++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                draw_rows(&s.random, ROWS, counts[c], rows);
                ptrdiff_t at = (ptrdiff_t)(next_uniform(&s.random) * (double)counts[c]);
                without(rows, counts[c], at, fewer);
                sum_of(&s, rows, counts[c], s.sum);
                sum_of(&s, fewer, counts[c] - 1, s.other);
                assert_true(shift(&s, s.sum, s.other) <= most);
                float kept = s.data.y[rows[at]];
                s.data.y[rows[at]] = NAN;
                assert_int_equal(sum_of(&s, rows, counts[c], s.other), 1);
                assert_true(shift(&s, s.sum, s.other) <= most);
                s.data.y[rows[at]] = (s.model->classes > 0) ? 1.0F - kept : -1e5F * kept;
                assert_int_equal(sum_of(&s, rows, counts[c], s.other), 0);
                assert_true(shift(&s, s.sum, s.other) <= 2.0 * most);
                s.data.y[rows[at]] = kept;
            }
        end(&s);
    }
}

/* ---- a row and its companions ---- */

/* The signals of row i after backward and clip, as the models keep them. */
static ptrdiff_t signals_of(const setup *s, ptrdiff_t count, ptrdiff_t i, float *out) {
    const ptrdiff_t of_mlp[] = {6, 5, 2, 6, 5}; /* outputs of the layers of make_model, then hidden deltas */
    ptrdiff_t held = 0;
    if (is_network(s)) {
        const float *at = s->work + 16 + FEATURES * count;
        for (int part = 0; part < 5; at += of_mlp[part++] * count)
            for (ptrdiff_t u = 0; u < of_mlp[part]; u++) out[held++] = at[i * of_mlp[part] + u];
    } else {
        ptrdiff_t classes = strcmp(mfpg_model_name(s->model), "softmax") == 0 ? 2 : 1;
        for (; held < classes; held++) out[held] = s->work[held * count + i];
    }
    return held;
}

static void test_a_row_has_the_same_bits_with_any_companions(void **state) {
    (void)state;
    int32_t rows[256];
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin_random(mfpg_kind_name(&mfpg_models, k), 0.7);
        for (int repeat = 0; repeat < testing_repeats(60); repeat++) {
            ptrdiff_t count = 1 + (ptrdiff_t)(next_uniform(&s.random) * (double)s.block);
            draw_rows(&s.random, ROWS, count, rows);
            ptrdiff_t at = (ptrdiff_t)(next_uniform(&s.random) * (double)count);
            float alone[32], among[32];
            mfpg_batch one = {&s.data, rows + at, 1}, many = {&s.data, rows, count};
            s.model->ops->backward(s.model, s.w, &one, s.work);
            s.model->ops->clip(s.model, &one, s.clip, 1.0, s.work);
            ptrdiff_t n = signals_of(&s, 1, 0, alone);
            s.model->ops->backward(s.model, s.w, &many, s.work);
            s.model->ops->clip(s.model, &many, s.clip, 1.0, s.work);
            assert_int_equal(signals_of(&s, count, at, among), n);
            assert_memory_equal(alone, among, (size_t)n * sizeof *alone);
        }
        end(&s);
    }
}

/* Whatever is not finite becomes zeros and leaves its companions alone: the same integers as without the row. */
static void test_rows_that_are_no_numbers_count_as_zero(void **state) {
    (void)state;
    int32_t rows[60], fewer[60];
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        for (int b = 0; b < 4; b++) {
            setup s = begin_random(mfpg_kind_name(&mfpg_models, k), 0.7);
            draw_rows(&s.random, ROWS, 60, rows);
            without(rows, 60, 37, fewer);
            sum_of(&s, fewer, 59, s.sum);
            if (b < 3)
                s.data.x[rows[37] * FEATURES + 4] = bad[b];
            else
                s.data.y[rows[37]] = NAN;
            refresh_norms(&s.data);
            assert_int_equal(sum_of(&s, rows, 60, s.other), 1);
            check_equal(&s, s.sum, s.other);
            end(&s);
        }
    }
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k);
         k++) { /* all of them, as the weights are not finite */
        setup s = begin_random(mfpg_kind_name(&mfpg_models, k), 0.7);
        for (ptrdiff_t i = 0; i < s.d; i++) s.w[i] = NAN;
        assert_int_equal(sum_of(&s, NULL, 0, s.sum), ROWS);
        for (ptrdiff_t i = 0; i < s.d; i++) assert_int_equal(s.sum[i], 0);
        end(&s);
    }
}

/* Features from the smallest to the largest floats, and clips of all sizes. */
static void test_a_row_counts_at_most_its_clip(void **state) {
    (void)state;
    const double clips[] = {0x1p-400, 1e-40, 1e-20, 1e-3, 0.37, 1, 1e20, 0x1p400};
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin_random(mfpg_kind_name(&mfpg_models, k), 1.0);
        int64_t *zero = make_integers(s.d);
        for (int32_t r = 0; r < 300; r++) {
            double size = exp(next_uniform(&s.random) * 190 - 103); /* 1e-45 to 1e38 */
            for (ptrdiff_t j = 0; j < FEATURES; j++)
                s.data.x[r * FEATURES + j] = (float)(size * (2 * next_uniform(&s.random) - 1));
            if (r % 3 == 0 && !(s.model->classes > 0)) s.data.y[r] = (float)size;
        }
        refresh_norms(&s.data);
        for (size_t c = 0; c < sizeof clips / sizeof *clips; c++) {
            s.clip = clips[c];
            s.unit = mfpg_model_sum_unit(s.clip, ROWS);
            for (int32_t r = 0; r < 300; r++) {
                sum_of(&s, &r, 1, s.sum);
                assert_true(shift(&s, s.sum, zero) <= 1.0);
            }
        }
        free(zero);
        end(&s);
    }
}

/* ---- crafted rows ---- */

static setup begin_crafted(const char *kind, int k) {
    mfpg_context *ctx = testing_context(1);
    float w[PARAMETERS] = {0};
    double clip;
    mfpg_model *model = crafted_model(ctx, kind, w, &clip);
    uint64_t random = 1;
    setup s = begin(model, ctx, make_dataset((ptrdiff_t)2 << k, 1, 1, &random), clip);
    memcpy(s.w, w, (size_t)s.d * sizeof *w);
    craft(model, &s.data, k);
    return s;
}

static double float_shift(const setup *s, const double *a, const double *b) {
    double squares = 0;
    for (ptrdiff_t i = 0; i < s->d; i++) squares += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(squares) / s->clip;
}

/* The neighbours of a crafted set: the first row not drawn, emptied, replaced by its opposite. */
static void test_crafted_rows_move_float_sums_beyond_the_clip_and_integers_not(void **state) {
    (void)state;
    int k = testing_repeats(1) >= 4 ? 17 : 15;
    ptrdiff_t n = (ptrdiff_t)2 << k;
    int32_t *rows = calloc((size_t)n, sizeof *rows);
    for (ptrdiff_t i = 0; i < n; i++) rows[i] = (int32_t)i;
    for (ptrdiff_t kind = 0; mfpg_kind_name(&mfpg_models, kind); kind++) {
        setup s = begin_crafted(mfpg_kind_name(&mfpg_models, kind), k);
        double whole[PARAMETERS], less[PARAMETERS], most = 1 + mfpg_model_sum_rounding(s.model);
        int64_t *without_it = make_integers(s.d);
        assert_int_equal(sum_of(&s, NULL, 0, s.sum), 0);
        sum_of(&s, rows, n, s.other);
        check_equal(&s, s.sum, s.other);
        float_sum(s.model, s.w, &s.data, NULL, n, s.clip, s.work, whole);
        sum_of(&s, rows + 1, n - 1, without_it);
        assert_true(shift(&s, s.sum, without_it) <= most);
        float kept = s.data.y[0];
        s.data.y[0] = NAN;
        float_sum(s.model, s.w, &s.data, NULL, n, s.clip, s.work, less);
        assert_int_equal(sum_of(&s, NULL, 0, s.other), 1);
        double floats = float_shift(&s, whole, less), integers = shift(&s, s.sum, s.other);
        print_message("%s, %td rows, zero-out: %.1f clips in float, %.4f in integers\n",
            mfpg_kind_name(&mfpg_models, kind), n, floats, integers);
        assert_true(floats > 5 && integers <= most && integers > 0.9);
        s.data.y[0] = kept;
        craft_row(s.model, &s.data, 0, -127.0 / 128.0);
        float_sum(s.model, s.w, &s.data, NULL, n, s.clip, s.work, less);
        sum_of(&s, NULL, 0, s.other);
        floats = float_shift(&s, whole, less);
        integers = shift(&s, s.sum, s.other);
        print_message("%s, replace: %.1f, %.4f\n", mfpg_kind_name(&mfpg_models, kind), floats, integers);
        assert_true(floats > 5 && integers <= 2 * most && integers > 1.8);
        free(without_it);
        end(&s);
    }
    free(rows);
}

/* ---- losses ---- */

static void test_losses_are_whole_numbers_that_one_row_moves_by_the_clip(void **state) {
    (void)state;
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_models, k); k++) {
        setup s = begin_random(mfpg_kind_name(&mfpg_models, k), 1.0);
        int64_t most = mfpg_model_clipped_loss_most(s.clip, s.unit), expected = 0;
        assert_true(most % 2 == 0 && (double)most * s.unit <= s.clip && (double)(most + 2) * s.unit > s.clip);
        int64_t all = mfpg_model_clipped_loss(s.model, s.w, &s.data, s.clip, s.unit, s.work);
        int cut = 0;
        for (ptrdiff_t r = 0; r < ROWS; r++) { /* a row alone: the same integer as among others */
            mfpg_dataset one = {
                .rows = 1, .features = FEATURES, .x = s.data.x + r * FEATURES, .y = s.data.y + r};
            int64_t loss = mfpg_model_clipped_loss(s.model, s.w, &one, s.clip, s.unit, s.work);
            double exact = mfpg_model_loss(s.model, s.w, &one, s.work);
            assert_true(loss >= 0 && loss <= most);
            check_near((double)loss * s.unit, fmin(exact, s.clip), 0, 2 * s.unit, "loss");
            cut += loss == most;
            expected += loss;
        }
        assert_true(all == expected && cut > 0 && cut < ROWS);
        const float labels[] = {NAN, INFINITY, 0, 1};
        for (int i = 0; i < 4; i++) {
            s.data.y[5] = labels[i];
            int64_t moved = mfpg_model_clipped_loss(s.model, s.w, &s.data, s.clip, s.unit, s.work) - all;
            assert_true(moved <= most && moved >= -most);
            if (i == 0) {
                mfpg_dataset one = {.rows = 1, .features = FEATURES, .x = s.data.x, .y = s.data.y + 5};
                assert_true(mfpg_model_clipped_loss(s.model, s.w, &one, s.clip, s.unit, s.work) == most / 2);
                assert_false(isfinite(mfpg_model_loss(s.model, s.w, &s.data, s.work)));
            }
        }
        assert_true(mfpg_model_clipped_loss_most(1.0, NAN) == 0);
        assert_true(mfpg_model_clipped_loss(s.model, s.w, &s.data, 1.0, (double)NAN, s.work) == 0);
        end(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_unit_is_a_power_of_two_that_leaves_room),
        cmocka_unit_test(test_what_has_no_unit_counts_as_zero),
        cmocka_unit_test(test_rho_is_that_of_the_proof),
        cmocka_unit_test(test_sum_is_that_of_clipped_examples),
        cmocka_unit_test(test_sum_is_that_of_rows_alone_to_within_rho),
        cmocka_unit_test(test_broad_sums_are_those_of_rows_alone),
        cmocka_unit_test(test_all_rows_equal_their_list),
        cmocka_unit_test(test_a_sum_as_made_means_the_same_integers),
        cmocka_unit_test(test_blocks_are_split_by_place),
        cmocka_unit_test(test_one_row_moves_the_sum_by_its_clip_and_rho),
        cmocka_unit_test(test_a_row_has_the_same_bits_with_any_companions),
        cmocka_unit_test(test_rows_that_are_no_numbers_count_as_zero),
        cmocka_unit_test(test_a_row_counts_at_most_its_clip),
        cmocka_unit_test(test_crafted_rows_move_float_sums_beyond_the_clip_and_integers_not),
        cmocka_unit_test(test_losses_are_whole_numbers_that_one_row_moves_by_the_clip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
