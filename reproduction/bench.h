/* The interface between suites and the bench runner. A suite is one file and one line in suites.def. */
#ifndef MFPG_REPRODUCTION_BENCH_H
#define MFPG_REPRODUCTION_BENCH_H

#include <stdio.h>

#include "bench_suites.h"
#include "mfpg/experiment.h"
#include "mfpg/program.h"

enum { BENCH_SETTINGS = 32, BENCH_CLIENTS = 16 };

/* An attack on what a cell's configuration promises, made before the cell is trained. It covers all clients;
 * the bounds hold together. */
typedef struct bench_attack {
    int64_t runs; /* of each pattern; 0: no attack */
    /* results */
    double mu, mu_proved; /* the largest promised, the largest proved */
    /* promised and proved; epsilon_proved follows from mu_proved for Gaussian noise */
    double epsilon, epsilon_proved;
    double epsilon_direct; /* proved without any assumption */
    double distance,
        distance_proved;   /* total variation, proved without any assumption, largest of any client */
    double distance_least; /* and the least */
    ptrdiff_t broken;      /* clients whose promise is */
} bench_attack;

/* One training run: its cell, the settings that define it, and its results. */
typedef struct bench_cell {
    const char *suite, *task, *method;
    double target_epsilon; /* NAN without a target */
    int64_t seed;
    char settings[BENCH_SETTINGS][64]; /* KEY=VALUE */
    int setting_count;
    const char *data_folder;  /* data.dir, or NULL */
    int client_sum;           /* 1: the loss is the sum of the clients' own losses */
    int figure;               /* of suite figures; else 0 */
    double swept;             /* the figure's number on the axis */
    int keep_rounds;          /* 1: every round is wanted */
    const volatile int *stop; /* of the bench, for attacks; NULL: never */
    bench_attack attack;
    /* results */
    ptrdiff_t clients, rows;
    int64_t rounds;
    mfpg_promise_record promise;
    double loss, accuracy;
    double epsilon, epsilon_min, epsilon_mean, mu, paper_epsilon, paper_delta, mean_action;
    double client_epsilon[BENCH_CLIENTS]; /* of the first clients */
    double epsilon_replace;               /* the largest client's, were adjacency replace */
    mfpg_round_report *report;            /* if rounds are kept: report_count entries, owned by the list */
    ptrdiff_t report_count;
} bench_cell;

/* The four methods, and whether one is entropic. */
enum { METHODS = 4 };
extern const char *const bench_methods[METHODS];
int bench_is_entropic(const char *method);

/* A growing list of cells. */
typedef struct bench_list {
    bench_cell *cell;
    ptrdiff_t count, room;
} bench_list;

/* The image task's four files: a training and a test set in the format of MNIST. */
typedef struct bench_images {
    const char *folder;
    const char *suffix; /* ".gz", or "" */
} bench_images;

/* What a suite plans: one task, with that many draws of every cell. */
typedef struct bench_plan {
    const char *task; /* as users type it */
    int64_t seeds;
    bench_images images; /* task images only */
    int64_t runs;        /* runs of each pattern of an attack; 0: the suite's own number */
} bench_plan;

typedef struct bench_suite {
    const char *name, *help;
    int64_t seeds, image_seeds; /* by default */
    int images_on_request;      /* 1: a long study, which runs only if the task is named */
    /* Adds the cells of a task; if the suite does not have the task, it adds none. */
    mfpg_status (*plan)(mfpg_context *ctx, const bench_plan *plan, bench_list *list);
    /* Prints the tables of the suite's own cells, which are consecutive and in the order of plan. */
    void (*print)(const bench_cell *cells, ptrdiff_t count, FILE *out);
    /* Writes further files next to full_benchmark.csv, from the same cells; NULL: none. */
    mfpg_status (*write)(mfpg_context *ctx, const char *folder, const bench_cell *cells, ptrdiff_t count);
} bench_suite;

/* Adds a new cell at the end of the list, or returns NULL if memory runs out; the result is valid until the
 * next call. */
bench_cell *bench_add(
    bench_list *list, const char *suite, const char *task, const char *method, int64_t seed);

/* Adds a setting; format makes KEY=VALUE. */
void bench_set(bench_cell *cell, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds the words of one text, separated by blanks. */
void bench_set_all(bench_cell *cell, const char *settings);

/* Adds the paper's settings for the cell's task and method; images: the files of the image task, if it is
 * present. */
void bench_set_paper(bench_cell *cell, const bench_images *images);

/* Adds a cell of the frontier (logistic, unit example, view local) with any target epsilon, and the settings
 * chosen for the target nearest to it; NULL if memory runs out. */
bench_cell *bench_add_frontier(
    bench_list *list, const char *suite, const char *method, double target, int64_t seed);

/* Returns what the paper's table prints for a task and method, as text: its epsilon or its delta; NULL if it
 * has nothing. */
const char *bench_printed_epsilon(const char *task, const char *method);
const char *bench_printed_delta(const char *task, const char *method);

/* attack.c: attacks the experiment with the seed of the cell, and fills in cell->attack. */
mfpg_status bench_attack_run(mfpg_context *ctx, const mfpg_experiment *experiment, bench_cell *cell);

/* Finds the files of the image task in a folder (NULL: where Debian's dataset-fashion-mnist puts them). Sets
 * suffix to NULL if they do not exist. */
bench_images bench_images_find(const char *folder);

/* Fails because the files of the task images do not exist. */
mfpg_status bench_images_fail(mfpg_context *ctx, const bench_images *images);

/* Adds the settings of the network and of the first `rows` images, dealt to that many clients. */
void bench_set_images(bench_cell *cell, const bench_images *images, int clients, int rows);

/* Computes mean and standard error over the cells [first, first + count) of the double at that offset: in the
 * cell or, for bench_average_round, in its report of a round. */
typedef struct bench_mean {
    double mean, error;
    ptrdiff_t count;
} bench_mean;
bench_mean bench_average(const bench_cell *first, ptrdiff_t count, size_t offset);
bench_mean bench_average_round(const bench_cell *first, ptrdiff_t count, ptrdiff_t round, size_t offset);

#endif
