/* Order of last use of the lines of a set, as a ring, so that a touch and the choice of a victim take constant time at any
 * associativity. The cache engine calls this directly instead of through replacement_ops: most caches are LRU, and every
 * access touches a line. */
#ifndef SLUICE_CACHE_LRU_H
#define SLUICE_CACHE_LRU_H

#include "base/base.h"

/* A set has 1 + ways links. The first is the head, newer than the newest line and older than the oldest. */
struct lru_link {
    uint16_t newer, older; /* positions in the ring: 1 + way; 0 is the head */
};

/* Makes a line the newest of its set. */
static inline void lru_use(struct lru_link *set, unsigned way) {
    struct lru_link *line = &set[way + 1];
    set[line->older].newer = line->newer;
    set[line->newer].older = line->older;
    *line = (struct lru_link){.newer = 0, .older = set->older};
    set[set->older].newer = (uint16_t)(way + 1);
    set->older = (uint16_t)(way + 1);
}

static inline unsigned lru_oldest(const struct lru_link *set) { return set->newer - 1u; }

/* The links of all sets, from the state of the policy `lru`. */
struct lru_link *lru_links(void *state);

#endif
