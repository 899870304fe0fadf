/* What an attack on a run proved, read back from audit.json. */
#ifndef MFPG_REPORT_AUDIT_RECORD_H
#define MFPG_REPORT_AUDIT_RECORD_H

#include "run_record.h"

/* Reads FOLDER/audit.json, which is to be of the run: the same promise to the same clients. *out: NULL where there is none, else free
 * it with json_decref. It holds then
 *   "clients": a list, in the order of the run's, each with the fields of mfpg_audit_fields; a number may be missing;
 *   "together", or missing: the same for the clients as one sample;
 *   "method", or missing: a text;
 *   "stands": whether all of them do; "runs", "seed" and, or missing, "patterns": whole numbers; "confidence", "client_confidence": in (0,1).
 * All of that is missing where only "inversion" is there, see inversion_record.h.
 * Keys that are not known here may be anything. MFPG_ERR_INPUT for what no audit has written, such as a promise that is said to stand
 * though more was proved than promised. */
mfpg_status audit_record_read(mfpg_context *ctx, const char *folder, const run_record *run, json_t **out);

/* 0 where a promise of any kind is broken. */
int audit_record_stands(const json_t *audit);

/* A number of a client's entry; NAN without one. */
double audit_number(const json_t *client, const char *key);

/* What is promised, and what is proved and must not exceed it. */
typedef struct audit_pair {
    const char *promised, *proved;
} audit_pair;
enum { AUDIT_PAIRS = 6 };
extern const audit_pair audit_pairs[AUDIT_PAIRS];

/* 1 where something proved exceeds what was promised. */
int audit_pair_broken(const json_t *client, const audit_pair *pair);

#endif
