/* Reads examples from the first layer's gradient, row by row: the row of unit i is sum_b d_ib x_b, its
 * bias's entry sum_b d_ib. With one example all rows give the same result. With several examples, a row
 * whose unit is active for only one of them reveals that example, and two such rows agree, while mixtures do
 * not: the attacker finds them by their agreement. */
#include <math.h>
#include <string.h>

#include "inversion.h"

/* ---- one example ---- */

/* With d the back-propagated error, dW = d x' and db = d for all layers above. With noise of standard
 * deviation s in every entry, both are estimates. */
static double dot(ptrdiff_t n, const double *x, const double *y) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* x += by row. */
static void add(ptrdiff_t n, double by, const double *row, double *x) {
    for (ptrdiff_t i = 0; i < n; i++) x[i] += by * row[i];
}

static void scale(ptrdiff_t n, double by, double *x) {
    for (ptrdiff_t i = 0; i < n; i++) x[i] *= by;
}

void mfpg_invert_least_squares(
    ptrdiff_t rows, ptrdiff_t inputs, const double *dw, const double *db, double *x) {
    double signal = dot(rows, db, db);
    for (ptrdiff_t j = 0; j < inputs; j++) x[j] = 0.0;
    if (!(signal > 0.0)) return;
    for (ptrdiff_t i = 0; i < rows; i++) add(inputs, db[i] / signal, dw + i * inputs, x);
}

/* Makes one power iteration on A'A, A = [dw | db], from the unit vector (x, last), and normalises it again;
 * work = A (x, last). Returns |A (x, last)|. */
static double iterate(ptrdiff_t rows, ptrdiff_t inputs, const double *dw, const double *db, double *x,
    double *last, double *work) {
    for (ptrdiff_t i = 0; i < rows; i++) work[i] = dot(inputs, dw + i * inputs, x) + db[i] * *last;
    double value = sqrt(dot(rows, work, work));
    for (ptrdiff_t j = 0; j < inputs; j++) x[j] = 0.0;
    for (ptrdiff_t i = 0; i < rows; i++) add(inputs, work[i], dw + i * inputs, x);
    *last = dot(rows, work, db);
    double norm = sqrt(dot(inputs, x, x) + *last * *last);
    if (!(norm > 0.0)) return 0.0;
    scale(inputs, 1.0 / norm, x);
    *last /= norm;
    return value;
}

double mfpg_invert_singular(
    ptrdiff_t rows, ptrdiff_t inputs, const double *dw, const double *db, double *x, double *work) {
    enum { MOST_ITERATIONS = 200 };
    mfpg_invert_least_squares(rows, inputs, dw, db, x);
    double norm = sqrt(dot(inputs, x, x) + 1.0), last = 1.0 / norm, value = 0.0;
    scale(inputs, 1.0 / norm, x);
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        double before = value;
        value = iterate(rows, inputs, dw, db, x, &last, work);
        if (value - before <= 1e-14 * value) break; /* it grows from iteration to iteration */
    }
    if (!(value > 0.0) || last == 0.0) {
        for (ptrdiff_t j = 0; j < inputs; j++) x[j] = 0.0;
        return value > 0.0 ? value : 0.0;
    }
    scale(inputs, 1.0 / last, x);
    return value;
}

/* ---- batches ---- */

/* number of rows that are compared with each other: those with the largest bias entries */
enum { MOST_ROWS = 256 };

/* Space in doubles: dw, db and a vector of rows; then, for the compared rows, estimates, distances and
 * nearest rows. */
ptrdiff_t mfpg_inversion_rows_workspace(const mfpg_inversion_subject *subject) {
    ptrdiff_t units = subject->layer.units, inputs = subject->layer.inputs;
    ptrdiff_t rows = units < MOST_ROWS ? units : MOST_ROWS;
    return units * (inputs + 2) + rows * (inputs + rows + 1);
}

static void read_layer(const mfpg_layer *layer, const float *gradient, double *dw, double *db) {
    for (ptrdiff_t u = 0; u < layer->units; u++) {
        const float *row = gradient + layer->weights + u * layer->down;
        db[u] = (double)gradient[layer->biases + u];
        for (ptrdiff_t j = 0; j < layer->inputs; j++)
            dw[u * layer->inputs + j] = (double)row[j * layer->across];
    }
}

/* The leading vector of a matrix with noise is informative if its value exceeds that of the noise alone, s
 * (sqrt(rows) + sqrt(columns)) (Benaych-Georges and Nadakuditi 2012). */
static void one_example(
    const mfpg_layer *layer, double sd, const double *dw, const double *db, double *x, double *work) {
    double edge = sd * (sqrt((double)layer->units) + sqrt((double)layer->inputs + 1.0));
    double value = mfpg_invert_singular(layer->units, layer->inputs, dw, db, x, work);
    if (!(value > edge)) mfpg_invert_least_squares(layer->units, layer->inputs, dw, db, x);
}

/* Sorts rows by the size of their bias entries, largest first, and keeps those that exceed the noise.
 * Returns their number. */
static ptrdiff_t heavy_rows(const mfpg_layer *layer, double sd, const double *db, ptrdiff_t list[MOST_ROWS]) {
    ptrdiff_t count = 0;
    double largest = 0.0;
    for (ptrdiff_t u = 0; u < layer->units; u++) largest = fmax(largest, fabs(db[u]));
    double least = fmax(3.0 * sd, 1e-4 * largest); /* floats have seven digits */
    for (ptrdiff_t u = 0; u < layer->units; u++) {
        double weight = fabs(db[u]);
        if (!(weight > least)) continue;
        if (count == MOST_ROWS && !(weight > fabs(db[list[count - 1]]))) continue;
        /* the last place is free, or its row is replaced */
        ptrdiff_t at = count < MOST_ROWS ? count++ : count - 1;
        for (; at > 0 && weight > fabs(db[list[at - 1]]); at--) list[at] = list[at - 1];
        list[at] = u;
    }
    return count;
}

/* Computes mean square differences of all pairs of estimates, and for each estimate the nearest other one. */
static void compare(
    ptrdiff_t rows, ptrdiff_t inputs, const double *estimate, double *distance, double *nearest) {
    for (ptrdiff_t a = 0; a < rows; a++) nearest[a] = (double)INFINITY;
    for (ptrdiff_t a = 0; a < rows; a++) {
        distance[a * rows + a] = 0.0;
        for (ptrdiff_t b = a + 1; b < rows; b++) {
            double sum = 0.0;
            for (ptrdiff_t j = 0; j < inputs; j++) {
                double difference = estimate[a * inputs + j] - estimate[b * inputs + j];
                sum += difference * difference;
            }
            distance[a * rows + b] = distance[b * rows + a] = sum /= (double)inputs;
            nearest[a] = fmin(nearest[a], sum);
            nearest[b] = fmin(nearest[b], sum);
        }
    }
}

/* Groups the rows that agree best, then those that agree best among the rest, with least squares over each
 * group. Returns the number of groups. */
static ptrdiff_t group_rows(const mfpg_layer *layer, double scale, const double *dw, const double *db,
    const ptrdiff_t *list, ptrdiff_t rows, const double *distance, double *nearest, ptrdiff_t batch,
    double *x) {
    ptrdiff_t groups = 0;
    for (; groups < batch; groups++) {
        ptrdiff_t best = -1;
        for (ptrdiff_t a = 0; a < rows; a++)
            if (nearest[a] >= 0.0 && (best < 0 || nearest[a] < nearest[best])) best = a;
        if (best < 0) break;
        double radius = fmax(10.0 * nearest[best], 1e-6 * scale * scale), weight = 0.0;
        double *to = x + groups * layer->inputs;
        if (!isfinite(radius)) radius = 0.0;
        for (ptrdiff_t j = 0; j < layer->inputs; j++) to[j] = 0.0;
        for (ptrdiff_t a = 0; a < rows; a++) {
            if (nearest[a] < 0.0 || distance[best * rows + a] > radius) continue;
            double d = db[list[a]];
            for (ptrdiff_t j = 0; j < layer->inputs; j++) to[j] += d * dw[list[a] * layer->inputs + j];
            weight += d * d;
            nearest[a] = -1.0; /* taken */
        }
        for (ptrdiff_t j = 0; j < layer->inputs; j++) to[j] /= weight;
    }
    return groups;
}

void mfpg_inversion_rows(const mfpg_inversion_subject *subject, const float *gradient, double sd,
    ptrdiff_t batch, double *x, double *work) {
    const mfpg_layer *layer = &subject->layer;
    ptrdiff_t inputs = layer->inputs, list[MOST_ROWS];
    double *dw = work, *db = dw + layer->units * inputs, *rest = db + layer->units;
    read_layer(layer, gradient, dw, db);
    if (batch == 1) {
        one_example(layer, sd, dw, db, x, rest);
        return;
    }
    ptrdiff_t rows = heavy_rows(layer, sd, db, list);
    double *estimate = rest + layer->units, *distance = estimate + rows * inputs,
           *nearest = distance + rows * rows;
    for (ptrdiff_t a = 0; a < rows; a++)
        for (ptrdiff_t j = 0; j < inputs; j++)
            estimate[a * inputs + j] = dw[list[a] * inputs + j] / db[list[a]];
    compare(rows, inputs, estimate, distance, nearest);
    ptrdiff_t found =
        group_rows(layer, subject->high - subject->low, dw, db, list, rows, distance, nearest, batch, x);
    for (; found < batch; found++)
        mfpg_invert_least_squares(layer->units, inputs, dw, db, x + found * inputs);
}

ptrdiff_t mfpg_inversion_exclusive_rows(const mfpg_inversion_subject *subject, const mfpg_dataset *batch,
    float *gradient, float *work, int *room) {
    const mfpg_layer *layer = &subject->layer;
    ptrdiff_t exclusive = 0;
    memset(room, 0, (size_t)layer->units * sizeof *room);
    for (ptrdiff_t i = 0; i < batch->rows; i++) {
        const mfpg_dataset one = {
            .rows = 1, .features = batch->features, .x = batch->x + i * batch->features, .y = batch->y + i};
        mfpg_model_gradient(subject->model, subject->w, &one, NULL, 0, 1.0, gradient, work);
        for (ptrdiff_t u = 0; u < layer->units; u++) room[u] += gradient[layer->biases + u] != 0.0F;
    }
    for (ptrdiff_t u = 0; u < layer->units; u++) exclusive += room[u] == 1;
    return exclusive;
}

/* With softmax and cross-entropy the last entries, the biases' gradient, are p - e_label, which is negative
 * only at the label. With logistic regression the last entry is p - y. */
float mfpg_inversion_label(const mfpg_inversion_subject *subject, const float *gradient) {
    ptrdiff_t classes = subject->model->classes, label = 0;
    if (classes == 0) return NAN;
    if (subject->model->tensors == 1) return gradient[subject->parameters - 1] < 0.0F ? 1.0F : 0.0F;
    const float *bias = gradient + subject->parameters - classes;
    for (ptrdiff_t c = 1; c < classes; c++)
        if (bias[c] < bias[label]) label = c;
    return (float)label;
}
