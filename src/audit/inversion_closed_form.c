/* The example behind the gradient of one layer. With d the back-propagated error, dW = d x' and db = d, whatever lies above the
 * layer; under noise of standard deviation s in every entry both are estimates. */
#include "mfpg/inversion.h"

#include <math.h>

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

/* One power iteration on A'A, A = [dw | db], from the unit vector (x, last), which becomes one again; work = A (x, last). Returns |A (x, last)|. */
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

/* rho = D / (D + h s^2) is the share of the signal in |db|^2: noise in db shrinks the quotient by it, and noise in dW is added. */
mfpg_invert_prediction mfpg_invert_predict(
    double signal, double sd, ptrdiff_t rows, double norm2, ptrdiff_t inputs) {
    if (!(signal > 0.0) || !(sd >= 0.0) || !(norm2 >= 0.0) || rows < 1 || inputs < 1)
        return (mfpg_invert_prediction){NAN, NAN};
    double h = (double)rows, p = (double)inputs, variance = sd * sd, all = signal + h * variance;
    double rho = signal / all, lost = 1.0 - rho;
    double of_signal = variance * signal * (1.0 + rho * rho * norm2 / p) / (all * all);
    double of_noise = variance * variance * h / (all * all);
    return (mfpg_invert_prediction){.slope = rho, .mse = lost * lost * norm2 / p + of_signal + of_noise};
}
