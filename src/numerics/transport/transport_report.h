/* Reports of projections, counted and added up; the bits do not depend on the order. */
#ifndef MFPG_NUMERICS_TRANSPORT_REPORT_H
#define MFPG_NUMERICS_TRANSPORT_REPORT_H

#include "mfpg/transport.h"

void mfpg_transport_count(
    mfpg_transport_report *report, ptrdiff_t tensor, const mfpg_sinkhorn_result *projection);
void mfpg_transport_add(mfpg_transport_report *report, const mfpg_transport_report *other);

#endif
