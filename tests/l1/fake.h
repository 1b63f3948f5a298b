/* L1s that do as they are told, and an observer before them.
 *
 *     struct stand *stand = stand_make();
 *     ...                                             the observer is put before stand->fake.l1
 *     access_as(stand, 0, 'A', MESSAGE_READ, L1_HIT); SM 0 reads line A and hits
 *     stand_end(stand);
 */
#ifndef SLUICE_TESTS_L1_FAKE_H
#define SLUICE_TESTS_L1_FAKE_H

#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "l1/l1.h"

struct fake {
    struct l1 l1;
    enum l1_outcome outcome; /* of the next access */
    unsigned flushes;
    bool *destroyed;
};

static inline enum l1_outcome fake_access(struct l1 *l1, unsigned sm, const struct l1_request *request, uint64_t now) {
    (void)sm, (void)request, (void)now;
    return ((struct fake *)l1)->outcome;
}
static inline void fake_flush(struct l1 *l1, unsigned sm) { (void)sm, ((struct fake *)l1)->flushes++; }
static inline void fake_destroy(struct l1 *l1) { *((struct fake *)l1)->destroyed = true; }
static inline unsigned fake_endpoints(const struct l1 *l1) { return (void)l1, 42; }

static const struct l1_ops fake_ops = {
    .access = fake_access, .flush = fake_flush, .destroy = fake_destroy, .endpoints = fake_endpoints};

struct stand {
    struct fake fake;
    struct stats *stats;
    bool destroyed;
};

static inline struct stand *stand_make(void) {
    struct stand *stand = mem_alloc(1, sizeof *stand);
    stand->fake = (struct fake){.l1 = {.ops = &fake_ops}, .outcome = L1_MISS, .destroyed = &stand->destroyed};
    stand->stats = stats_create();
    return stand;
}

static inline void stand_end(struct stand *stand) {
    stand->fake.l1.ops->destroy(&stand->fake.l1);
    CHECK(stand->destroyed);
    stats_destroy(stand->stats);
    free(stand);
}

static inline void access_as(struct stand *stand, unsigned sm, char line, enum message_kind kind,
                             enum l1_outcome outcome) {
    struct l1_request request = {.address = (uint64_t)(unsigned char)line * 128, .kind = (uint8_t)kind};
    stand->fake.outcome = outcome;
    CHECK_EQ((int)stand->fake.l1.ops->access(&stand->fake.l1, sm, &request, 0), (int)outcome);
}

/* Of the observer's counters. */
static inline uint64_t count_of(const struct stand *stand, const char *table, const char *name) {
    char full[64];
    bool found;
    snprintf(full, sizeof full, "%s.%s", table, name);
    uint64_t value = stats_get(stand->stats, full, &found);
    CHECK(found);
    return value;
}

#endif
