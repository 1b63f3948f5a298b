/* Fake L1s, whose accesses have a given outcome, for tests of observers.
 *
 *     struct observer_fixture *fixture = observer_fixture_create();
 *     ...                                               the observer wraps fixture->fake.l1
 *     access_as(fixture, 0, 'A', MESSAGE_READ, L1_HIT); SM 0 reads line A and hits
 *     observer_fixture_destroy(fixture);
 */
#ifndef SLUICE_TESTS_L1_OBSERVER_FIXTURE_H
#define SLUICE_TESTS_L1_OBSERVER_FIXTURE_H

#include <string.h>

#include "fixture.h"

struct fake_l1 {
    struct l1 l1;
    enum l1_outcome outcome; /* of the next access */
    unsigned flushes;
    bool *destroyed;
};

static inline enum l1_outcome fake_access(struct l1 *l1, unsigned sm, const struct l1_request *request, uint64_t now) {
    (void)sm, (void)request, (void)now;
    return ((struct fake_l1 *)l1)->outcome;
}
static inline void fake_flush(struct l1 *l1, unsigned sm) { (void)sm, ((struct fake_l1 *)l1)->flushes++; }
static inline void fake_destroy(struct l1 *l1) { *((struct fake_l1 *)l1)->destroyed = true; }
static inline unsigned fake_endpoints(const struct l1 *l1) { return (void)l1, 42; }

static const struct l1_ops fake_ops = {
    .access = fake_access, .flush = fake_flush, .destroy = fake_destroy, .endpoints = fake_endpoints};

struct observer_fixture {
    struct fake_l1 fake;
    struct stats *stats;
    uint64_t now;
    bool destroyed;
};

static inline struct observer_fixture *observer_fixture_create(void) {
    struct observer_fixture *fixture = mem_alloc(1, sizeof *fixture);
    fixture->fake = (struct fake_l1){.l1 = {.ops = &fake_ops}, .outcome = L1_MISS, .destroyed = &fixture->destroyed};
    fixture->stats = stats_create();
    return fixture;
}

static inline void observer_fixture_destroy(struct observer_fixture *fixture) {
    fixture->fake.l1.ops->destroy(&fixture->fake.l1);
    CHECK(fixture->destroyed);
    stats_destroy(fixture->stats);
    free(fixture);
}

static inline void access_as(struct observer_fixture *fixture, unsigned sm, char line, enum message_kind kind,
                             enum l1_outcome outcome) {
    struct l1_request request = {.address = (uint64_t)(unsigned char)line * 128, .kind = (uint8_t)kind};
    fixture->fake.outcome = outcome;
    CHECK_EQ((int)fixture->fake.l1.ops->access(&fixture->fake.l1, sm, &request, fixture->now), (int)outcome);
}

/* Of the observer's counters. */
static inline uint64_t count_of(const struct observer_fixture *fixture, const char *table, const char *name) {
    char full[64];
    snprintf(full, sizeof full, "%s.%s", table, name);
    return count_in(fixture->stats, full);
}

#endif
