/* Many projections in a few numbers: maxima, minima and a sum of whole numbers, which no order changes. */
#include <math.h>

#include "mfpg/transport.h"

static const double UNIT = 0x1p-30;

void mfpg_transport_count(
    mfpg_transport_report *report, ptrdiff_t tensor, const mfpg_sinkhorn_result *projection) {
    const mfpg_transport_report one = {
        .projections = 1,
        .iterations = projection->iterations,
        .least_tensor = tensor,
        .ratio_sum = llrint(projection->variance_ratio / UNIT),
        .least_ratio = projection->variance_ratio,
        .largest_ratio = projection->variance_ratio,
        .residual = projection->residual,
        .kernel_error = projection->kernel_error,
    };
    mfpg_transport_add(report, &one);
}

void mfpg_transport_add(mfpg_transport_report *report, const mfpg_transport_report *other) {
    if (other->projections == 0) return;
    if (report->projections == 0) {
        *report = *other;
        return;
    }
    int less = other->least_ratio < report->least_ratio, equal = other->least_ratio == report->least_ratio;
    if (less || (equal && other->least_tensor < report->least_tensor))
        report->least_tensor = other->least_tensor;
    if (other->iterations > report->iterations) report->iterations = other->iterations;
    report->projections += other->projections;
    report->ratio_sum += other->ratio_sum;
    report->least_ratio = fmin(report->least_ratio, other->least_ratio);
    report->largest_ratio = fmax(report->largest_ratio, other->largest_ratio);
    report->residual = fmax(report->residual, other->residual);
    report->kernel_error = fmax(report->kernel_error, other->kernel_error);
}

double mfpg_transport_mean_ratio(const mfpg_transport_report *report) {
    if (report->projections == 0) return (double)NAN;
    return UNIT * (double)report->ratio_sum / (double)report->projections;
}
