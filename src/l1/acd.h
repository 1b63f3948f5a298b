/* The directory of adjacent groups (ACD-Table): which lines the left and the right neighbour of an L1 node hold. "GPU
 * Performance Optimization via Inter-group Cache Cooperation", section III-B1.
 *
 * The table has the sets and ways of the L1. An entry is a hashed tag and three bits: held here, by the left, by the
 * right neighbour. Neighbours update it with notes of their insertions and evictions. The node's own lines mark
 * existing entries but allocate none, because a line that hits is never looked up. An entry without bits is free; in a
 * set without a free entry the least recently updated or found one is replaced.
 *
 * The contents are a hint, wrong in both directions: two lines of a set with the same hash share an entry, notes are in
 * flight while lines are evicted, and entries are replaced. A holder must therefore be probed.
 *
 * Not modelled: ports of the table. Notes and lookups never conflict.
 */
#ifndef SLUICE_L1_ACD_H
#define SLUICE_L1_ACD_H

#include "base/base.h"

enum acd_holder { ACD_LOCAL = 1, ACD_LEFT = 2, ACD_RIGHT = 4 };

struct acd_entry {
    uint32_t hash;
    uint32_t holders; /* enum acd_holder */
    uint64_t used;    /* sequence number of the last use */
};

struct acd {
    unsigned ways, hash_bits;
    size_t entries;
    uint64_t uses;
    struct acd_entry *entry; /* [sets][ways] */
};

enum { ACD_HASH_BITS_MAX = 32 };

void acd_init(struct acd *acd, unsigned sets, unsigned ways, unsigned hash_bits);
void acd_release(struct acd *acd);

/* The holder has the line. */
void acd_set(struct acd *acd, unsigned set, uint64_t key, enum acd_holder holder);
/* The holders, a set of enum acd_holder, do not have the line. */
void acd_clear(struct acd *acd, unsigned set, uint64_t key, unsigned holders);
/* Recorded holders of the line, a set of enum acd_holder. */
unsigned acd_look(struct acd *acd, unsigned set, uint64_t key);
/* Clears all entries. */
void acd_empty(struct acd *acd);

static inline unsigned acd_entry_bits(unsigned hash_bits) { return hash_bits + 3; }

#endif
