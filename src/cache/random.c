/* Random replacement: any line that is not reserved, drawn from a generator seeded per cache. The draw of a set is kept
 * until it is used, so a retry after a reservation failure gets the same victim. */
#include <stdlib.h>

#include "base/random.h"
#include "cache/cache.h"

struct random_policy {
    unsigned ways;
    uint64_t generator;
    uint32_t *draw; /* [sets] first way of the victim search */
};

static void *random_create(const void *values, unsigned sets, unsigned ways, uint64_t seed) {
    (void)values;
    struct random_policy *policy = mem_alloc(1, sizeof *policy);
    *policy = (struct random_policy){.ways = ways, .generator = seed, .draw = mem_alloc(sets, sizeof *policy->draw)};
    for (unsigned set = 0; set < sets; set++) policy->draw[set] = (uint32_t)random_below(&policy->generator, ways);
    return policy;
}

static void random_destroy(void *state) {
    struct random_policy *policy = state;
    free(policy->draw);
    free(policy);
}

static void random_touch(void *state, unsigned set, unsigned way, const struct cache_access *access) {
    (void)state, (void)set, (void)way, (void)access;
}

static void random_insert(void *state, unsigned set, unsigned way, const struct cache_access *access) {
    (void)way, (void)access;
    struct random_policy *policy = state;
    policy->draw[set] = (uint32_t)random_below(&policy->generator, policy->ways);
}

static int random_victim(void *state, unsigned set, const struct cache_line *lines) {
    const struct random_policy *policy = state;
    for (unsigned i = 0; i < policy->ways; i++) {
        unsigned way = (policy->draw[set] + i) % policy->ways;
        if (lines[way].state != LINE_RESERVED) return (int)way;
    }
    return -1;
}

const struct replacement_ops replacement_random = {
    .policy = {"random", "evicts a random line (fixed seed)", NULL},
    .create = random_create,
    .destroy = random_destroy,
    .touch = random_touch,
    .insert = random_insert,
    .victim = random_victim,
};
