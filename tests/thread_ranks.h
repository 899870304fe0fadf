/* Ranks that are threads of one process, and where they add their numbers up. */
#ifndef TESTS_THREAD_RANKS_H
#define TESTS_THREAD_RANKS_H

#include "testing.h"

#include <pthread.h>

#include "mfpg/group.h"

typedef struct meeting {
    pthread_mutex_t lock;
    pthread_barrier_t door;
    int64_t *total;
    ptrdiff_t room;
    int calls; /* of the first rank */
} meeting;

typedef struct seat {
    meeting *at;
    int rank;
} seat;

/* room: numbers that one sum takes. */
static inline void meeting_open(meeting *at, int ranks, ptrdiff_t room) {
    *at = (meeting){.room = room, .total = calloc((size_t)room, sizeof *at->total)};
    assert_non_null(at->total);
    assert_int_equal(pthread_mutex_init(&at->lock, NULL), 0);
    assert_int_equal(pthread_barrier_init(&at->door, NULL, (unsigned)ranks), 0);
}

static inline void meeting_close(meeting *at) {
    pthread_barrier_destroy(&at->door);
    pthread_mutex_destroy(&at->lock);
    free(at->total);
}

/* mfpg_group.sum; user is a seat. */
static inline int sum_at(void *user, int64_t *numbers, ptrdiff_t count) {
    const seat *own = user;
    meeting *at = own->at;
    if (count > at->room) return -1;
    pthread_mutex_lock(&at->lock);
    for (ptrdiff_t i = 0; i < count; i++)
        at->total[i] = (int64_t)((uint64_t)at->total[i] + (uint64_t)numbers[i]);
    pthread_mutex_unlock(&at->lock);
    pthread_barrier_wait(&at->door);
    memcpy(numbers, at->total, (size_t)count * sizeof *numbers);
    pthread_barrier_wait(&at->door);
    if (own->rank == 0) {
        memset(at->total, 0, (size_t)count * sizeof *numbers);
        at->calls++;
    }
    pthread_barrier_wait(&at->door);
    return 0;
}

#endif
