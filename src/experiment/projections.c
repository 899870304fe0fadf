/* Summarises what the Sinkhorn projections of a whole run did to the parameters. */
#include <stdio.h>

#include "base/error.h"
#include "base/fields.h"
#include "federation/run_folder.h"
#include "mechanisms/mechanism_ops.h"
#include "internal.h"
#include "numerics/transport/transport_report.h"

int mfpg_experiment_projects(const mfpg_experiment *e) {
    return mfpg_mechanism_projects(e->mechanisms.of_client[0]);
}

static mfpg_transport_report sum_of_rounds(const mfpg_experiment *e) {
    mfpg_transport_report all = {0};
    for (ptrdiff_t i = 0; i < e->round_count; i++) mfpg_transport_add(&all, &e->rounds[i].transport);
    return all;
}

static int warning_of(const mfpg_transport_report *all, char *text, size_t size) {
    if (all->projections == 0 || !(all->least_ratio < MFPG_TRANSPORT_ERASED)) return 0;
    snprintf(text, size,
        "a projection kept %.2g of the variance of tensor %lld; below %g a tensor counts as erased; a "
        "smaller entropic.transport.regularisation keeps more, entropic.transport.scale: variance the same "
        "of all",
        all->least_ratio, (long long)all->least_tensor, MFPG_TRANSPORT_ERASED);
    return 1;
}

json_t *mfpg_transport_json(const mfpg_experiment *e) {
    const mfpg_transport_report all = sum_of_rounds(e);
    char text[MFPG_MESSAGE_SIZE];
    if (!mfpg_experiment_projects(e) || all.projections == 0) return json_null();
    mfpg_round_record record = {.transport = mfpg_transport_record_of(&all)};
    if (warning_of(&all, text, sizeof text)) record.transport.warning = text;
    return mfpg_fields_json(&mfpg_round_fields, MFPG_FIELD_JSON, &record);
}

void mfpg_print_transport(const mfpg_experiment *e, FILE *out) {
    const mfpg_transport_report all = sum_of_rounds(e);
    char text[MFPG_MESSAGE_SIZE];
    if (all.projections == 0) return;
    fprintf(out, "\nSinkhorn projections (%s):\n", MFPG_TRANSPORT_NOTE);
    fprintf(out, "  %lld, which kept %.4g to %.4g of a tensor's variance, %.4g on average\n",
        (long long)all.projections, all.least_ratio, all.largest_ratio, mfpg_transport_mean_ratio(&all));
    fprintf(out,
        "  rows of the plan sum to 1 within %.2g, and %.2g for the kernel's approximation; at most %lld "
        "iterations\n",
        all.residual, all.kernel_error, (long long)all.iterations);
    if (warning_of(&all, text, sizeof text)) fprintf(out, "Warning: %s.\n", text);
}
