/* A tally: how often each of many numbers came. A hash table that grows; it has no order of its own. */
#ifndef SLUICE_L1_TALLY_H
#define SLUICE_L1_TALLY_H

#include "base/base.h"

struct tally_entry {
    uint64_t key;
    uint64_t count; /* 0: nothing is here */
};

struct tally {
    struct tally_entry *entry;
    uint32_t room, used; /* room: 0 or a power of two */
};

void tally_release(struct tally *tally);
/* Forgets everything, and keeps the room. */
void tally_clear(struct tally *tally);
void tally_add(struct tally *tally, uint64_t key, uint64_t count);
uint64_t tally_of(const struct tally *tally, uint64_t key);
/* Its `used` entries in the order of their keys; free() it. */
struct tally_entry *tally_sorted(const struct tally *tally);

#endif
