/* Timed waits on condition variables, with deadlines on the monotonic clock. */
#ifndef SLUICE_BASE_DEADLINE_H
#define SLUICE_BASE_DEADLINE_H

#include <pthread.h>
#include <time.h>

/* How long a thread waits before it checks whether to keep waiting. */
enum { DEADLINE_PATIENCE_MS = 50 };

/* Initialises a condition variable that measures deadlines on the monotonic clock. */
static inline void deadline_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

static inline struct timespec deadline_in(unsigned milliseconds) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    return until;
}

#endif
