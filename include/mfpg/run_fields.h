/** The records of a run: what rounds.csv, free_energy.csv, transport.csv, clients.csv, summary.json and
 *  Python contain for each round and each client, and the tables of their fields. */
#ifndef MFPG_RUN_FIELDS_H
#define MFPG_RUN_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "federation.h"
#include "fields.h"

/** Sinkhorn projections of a round, or of all rounds. Without projections, ratios and errors do not exist. */
typedef struct mfpg_transport_record {
    int64_t projections;
    double variance_ratio_min, variance_ratio_mean, variance_ratio_max;
    int64_t tensor_of_min; /* -1: none */
    double row_error, kernel_error;
    int64_t iterations;
    const char *warning, *note; /* warning: NULL if there is none */
} mfpg_transport_record;

/** A round. The notes state what covers the numbers of each file. */
typedef struct mfpg_round_record {
    mfpg_round_report report;
    mfpg_transport_record transport;
    const char *metrics_note, *energy_note;
} mfpg_round_record;

/** particles: what was noised. */
mfpg_round_record mfpg_round_record_of(const mfpg_round_report *report, mfpg_particles particles);

/** `places` of a round's fields; in JSON they are the projections in summary.json. */
enum {
    MFPG_ROUND_CSV = 1 << 8,      /* rounds.csv */
    MFPG_ENERGY_CSV = 1 << 9,     /* free_energy.csv */
    MFPG_TRANSPORT_CSV = 1 << 10, /* transport.csv */
};
extern const mfpg_fields mfpg_round_fields;

/** What a run promises its clients, in the words of its configuration. */
typedef struct mfpg_promise_record {
    const char *particles, *unit, *adjacency, *view, *accountant;
    double delta;
} mfpg_promise_record;

enum { MFPG_PROMISE_SUMMARY = 1 << 8 /* summary.json alone */ };
extern const mfpg_fields mfpg_promise_fields;

/** A client at the end of a run. */
typedef struct mfpg_client_record {
    int64_t client;   /* from 0 */
    const char *name; /* borrowed from the data; the words below are borrowed from their tables */
    ptrdiff_t rows, dropped_rows;
    double preference; /* the configured preference; NAN without a game */
    mfpg_client_report report;
    mfpg_promise_record promised;
    int64_t stopped_before; /* the round that its budget did not allow; -1 if there is none */
    int certificate;        /* 1: its epsilon is finite */
    const char *promise;    /* in words; NULL: nobody asked */
} mfpg_client_record;

/** Places of a client's fields. */
enum {
    MFPG_CLIENT_CSV = 1 << 8,        /* clients.csv */
    MFPG_CLIENT_QUANTILES = 1 << 9,  /* summary.json of many clients */
    MFPG_CLIENT_ZERO_OUT = 1 << 10,  /* JSON if the promise is for replace: epsilon for the other adjacency */
    MFPG_CLIENT_REPLACE = 1 << 11,   /* JSON if the promise is for zero-out */
    MFPG_CLIENT_EACH_ROUND = 1 << 12 /* JSON if actions are chosen in each round */
};
extern const mfpg_fields mfpg_client_fields;

/** mfpg_metrics, of one client or of all. */
extern const mfpg_fields mfpg_metrics_fields;

#endif
