/* The directory of adjacent groups (ACD-Table): which lines the left and the right neighbour of an L1 node hold, as far
 * as a small table can tell. "GPU Performance Optimization via Inter-group Cache Cooperation", section III-B1.
 *
 * The table has the sets and ways of the L1 and knows a line by a hashed tag and three bits: held here, by the left, by
 * the right. Neighbours write it, by notes of what they insert and lose; a node's own lines mark entries that are there
 * already but take none, since nobody asks about a line that hits. An entry without bits is free; if a set has none, the
 * one that was noted or found longest ago goes.
 *
 * What it says is a hint. It errs both ways: two lines of a set with the same hash are one to it, notes are under way
 * while lines go, and entries that made room are forgotten. Whoever trusts it must look.
 *
 * Left out: the ports of the table. Notes and lookups never wait for each other.
 */
#ifndef SLUICE_L1_ACD_H
#define SLUICE_L1_ACD_H

#include "base/base.h"

enum acd_holder { ACD_LOCAL = 1, ACD_LEFT = 2, ACD_RIGHT = 4 };

struct acd_entry {
    uint32_t hash;
    uint32_t holders; /* enum acd_holder */
    uint64_t used;    /* number of its last use: the least is the oldest */
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

/* The holder has the line from now on. */
void acd_set(struct acd *acd, unsigned set, uint64_t key, enum acd_holder holder);
/* The holders, one or more of enum acd_holder, are not known to have it any longer. */
void acd_clear(struct acd *acd, unsigned set, uint64_t key, unsigned holders);
/* Who is said to hold it, a set of enum acd_holder. */
unsigned acd_look(struct acd *acd, unsigned set, uint64_t key);
/* Nothing is known of any line. */
void acd_empty(struct acd *acd);

static inline unsigned acd_entry_bits(unsigned hash_bits) { return hash_bits + 3; }

#endif
