/* Two runs side by side, as an object: what mfpg compare prints. */
#ifndef MFPG_REPORT_COMPARISON_H
#define MFPG_REPORT_COMPARISON_H

#include "view.h"

enum { COMPARISON_LISTED = 1000 }; /* clients that are listed; of more those whose epsilon differs most */

/* {"runs": [{...}, {...}], "configuration": [{"path": , "values": [, ]}], "clients": [{"name": , "epsilon": [, ], "action": [, ]}],
 *  "clients_left_out": , "comparable": , "why": , "selection": }. Numbers are those of the files; null where there is none,
 * "inf" for infinity. sets: two. NULL when memory ran out. */
json_t *comparison_of(mfpg_context *ctx, const run_set *sets);

#endif
