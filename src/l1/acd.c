#include "l1/acd.h"

#include <stdlib.h>

void acd_init(struct acd *acd, unsigned sets, unsigned ways, unsigned hash_bits) {
    assert(hash_bits >= 1 && hash_bits <= ACD_HASH_BITS_MAX);
    size_t entries = (size_t)sets * ways;
    *acd = (struct acd){ways, hash_bits, entries, 0, mem_alloc(entries, sizeof *acd->entry)};
}

void acd_release(struct acd *acd) { free(acd->entry); }

/* The key folded to the hash width. It includes the index bits, which are equal throughout a set. */
static uint32_t hash_of(const struct acd *acd, uint64_t key) {
    uint64_t hash = 0;
    for (; key; key >>= acd->hash_bits) hash ^= key;
    return (uint32_t)(hash & low_mask(acd->hash_bits));
}

static struct acd_entry *set_of(const struct acd *acd, unsigned set) { return &acd->entry[(size_t)set * acd->ways]; }

static struct acd_entry *find(const struct acd *acd, unsigned set, uint32_t hash) {
    struct acd_entry *entry = set_of(acd, set), *end = entry + acd->ways;
    while (entry < end && !(entry->holders && entry->hash == hash)) entry++;
    return entry < end ? entry : NULL;
}

static struct acd_entry *make_room(const struct acd *acd, unsigned set) {
    struct acd_entry *first = set_of(acd, set), *oldest = first;
    for (struct acd_entry *entry = first; entry < first + acd->ways; entry++) {
        if (!entry->holders) return entry;
        if (entry->used < oldest->used) oldest = entry;
    }
    return oldest;
}

void acd_set(struct acd *acd, unsigned set, uint64_t key, enum acd_holder holder) {
    uint32_t hash = hash_of(acd, key);
    struct acd_entry *entry = find(acd, set, hash);
    if (!entry && holder == ACD_LOCAL) return;
    if (!entry) {
        entry = make_room(acd, set);
        *entry = (struct acd_entry){.hash = hash};
    }
    entry->holders |= holder;
    entry->used = ++acd->uses;
}

void acd_clear(struct acd *acd, unsigned set, uint64_t key, unsigned holders) {
    struct acd_entry *entry = find(acd, set, hash_of(acd, key));
    if (entry) entry->holders &= ~holders;
}

unsigned acd_look(struct acd *acd, unsigned set, uint64_t key) {
    struct acd_entry *entry = find(acd, set, hash_of(acd, key));
    if (!entry) return 0;
    entry->used = ++acd->uses;
    return entry->holders;
}

void acd_empty(struct acd *acd) {
    for (size_t i = 0; i < acd->entries; i++) acd->entry[i].holders = 0;
}
