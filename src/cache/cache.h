/* The cache engine that L1 caches, LLC slices and the SM's read-only caches are built on: tags that point to data
 * lines, line states, replacement. (MSHRs: mshr.h.)
 *
 * A set has `tag_ways` tags and `ways` data lines. In a plain cache the two are equal and tag way i owns line i; a
 * policy that keeps tags without data (a decoupled tag store) has more tags than lines. Data itself is not kept: this
 * is a timing model.
 *
 * The engine knows states and replacement; what an access means (allocate or not, write-through or write-back, what is
 * sent where) is its user's business. It counts nothing.
 */
#ifndef SLUICE_CACHE_CACHE_H
#define SLUICE_CACHE_CACHE_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/base.h"
#include "cache/replacement.h"
#include "config/config.h"

enum line_state {
    LINE_INVALID,
    LINE_RESERVED, /* allocated, its data is on the way; cannot be a victim */
    LINE_VALID,
    LINE_MODIFIED, /* valid, and newer than what is below */
};

struct cache_line {
    uint8_t state; /* enum line_state */
    uint8_t dirty; /* sectors that must be written back */
    uint8_t flags; /* the user's */
    uint8_t spare;
    uint16_t mshr; /* while reserved: who waits for it */
    uint16_t tag;  /* tag way that points here; CACHE_NONE if none */
};

enum { CACHE_NONE = 0xFFFF, CACHE_HINTS = 16 };

/* What a lookup is told about its cause; replacement policies may key on it. */
struct cache_access {
    uint64_t key;   /* identity of the line: cache_key() */
    uint32_t instr; /* static instruction */
    uint32_t set;
};

struct cache {
    unsigned sets, ways, tag_ways;
    uint64_t set_mask;       /* sets - 1 if that is a power of two, else 0 */
    uint64_t *key;           /* [sets][tag_ways]; CACHE_NO_KEY if the tag is free */
    uint8_t *hint;           /* [sets][hints]: a byte of each tag's key, so that most tags need not be compared */
    unsigned hints;          /* tag_ways rounded up to whole groups of CACHE_HINTS */
    uint16_t *free_from;     /* [sets] no line of a way before this one is invalid */
    uint16_t *line_of;       /* [sets][tag_ways] data way, or CACHE_NONE */
    struct cache_line *line; /* [sets][ways] */
    const struct replacement_ops *replacement;
    void *replacement_state;
};

#define CACHE_NO_KEY UINT64_MAX

/* A line's identity: its number (address / line size) within its program's address space. */
static inline uint64_t cache_key(uint64_t line_number, unsigned program) {
    return line_number | (uint64_t)program << 56;
}

struct cache_geometry {
    unsigned sets, ways, tag_ways; /* tag_ways 0: as many as ways */
};

/* `owner` is the section that chose the policy, and so has the values of the policy's own below it. `seed` tells caches
 * of one machine apart for policies that draw random numbers. */
void cache_init(struct cache *cache, const struct cache_geometry *geometry, const struct policy *replacement,
                const struct config *config, const struct section *owner, uint64_t seed);
void cache_release(struct cache *cache);

/* The set of a line whose index bits are `index` (already without controller and slice bits where there are such). Any
 * number of sets works. */
static inline unsigned cache_set_of(const struct cache *cache, uint64_t index) {
    return (unsigned)(cache->set_mask ? index & cache->set_mask : index % cache->sets);
}

/* All bits of the line's number have a part in it (the multiplier is 2^32 over the golden ratio). */
static inline uint8_t cache_hint(uint64_t key) { return (uint8_t)((uint32_t)key * UINT32_C(0x9E3779B1) >> 24); }

/* The set of those of CACHE_HINTS bytes that are equal to `wanted`. */
static inline unsigned cache_equal_hints(const uint8_t *hints, uint8_t wanted) {
#ifdef __SSE2__
    __m128i equal = _mm_cmpeq_epi8(_mm_load_si128((const __m128i *)hints), _mm_set1_epi8((char)wanted));
    return (unsigned)_mm_movemask_epi8(equal);
#else
    unsigned equal = 0;
    for (unsigned i = 0; i < CACHE_HINTS; i++) equal |= (unsigned)(hints[i] == wanted) << i;
    return equal;
#endif
}

/* The tag way that holds `key`, or -1. */
static inline int cache_find(const struct cache *cache, unsigned set, uint64_t key) {
    const uint64_t *keys = &cache->key[(size_t)set * cache->tag_ways];
    const uint8_t *hints = &cache->hint[(size_t)set * cache->hints], wanted = cache_hint(key);
    unsigned first = 0;
    do {
        for (unsigned equal = cache_equal_hints(&hints[first], wanted); equal; equal &= equal - 1) {
            unsigned way = first + lowest_bit(equal);
            if (way < cache->tag_ways && keys[way] == key) return (int)way;
        }
        first += CACHE_HINTS;
    } while (UNLIKELY(first < cache->hints));
    return -1;
}

static inline struct cache_line *cache_line_at(const struct cache *cache, unsigned set, unsigned way) {
    return &cache->line[(size_t)set * cache->ways + way];
}

/* The data line of the tag that holds `key`, or NULL. */
static inline struct cache_line *cache_lookup(const struct cache *cache, unsigned set, uint64_t key) {
    int tag = cache_find(cache, set, key);
    if (tag < 0) return NULL;
    uint16_t way = cache->line_of[(size_t)set * cache->tag_ways + (unsigned)tag];
    return way == CACHE_NONE ? NULL : cache_line_at(cache, set, way);
}

static inline unsigned cache_way_of(const struct cache *cache, unsigned set, const struct cache_line *line) {
    return (unsigned)(line - cache_line_at(cache, set, 0));
}

static inline uint64_t cache_line_key(const struct cache *cache, unsigned set, const struct cache_line *line) {
    return cache->key[(size_t)set * cache->tag_ways + line->tag];
}

/* Tells the replacement policy of a hit. */
static inline void cache_touch(struct cache *cache, const struct cache_line *line, const struct cache_access *access) {
    cache->replacement->touch(cache->replacement_state, access->set, cache_way_of(cache, access->set, line), access);
}

/* The line that would make room in a plain cache: an invalid one, else the policy's choice among those not reserved;
 * NULL if all are reserved. Changes nothing but the policy's own memory of having been asked, so that a refused access
 * can be tried again. */
static inline struct cache_line *cache_victim(struct cache *cache, unsigned set) {
    struct cache_line *lines = cache_line_at(cache, set, 0);
    if (UNLIKELY(cache->free_from[set] < cache->ways)) {
        unsigned first = cache->free_from[set];
        while (first < cache->ways && lines[first].state != LINE_INVALID) first++;
        cache->free_from[set] = (uint16_t)first;
        if (first < cache->ways) return &lines[first];
    }
    int way = cache->replacement->victim(cache->replacement_state, set, lines);
    return way < 0 ? NULL : &lines[way];
}

/* Frees the tag that points to the line. */
void cache_free_tag(struct cache *cache, unsigned set, const struct cache_line *line);

/* Takes `line` (from cache_victim) away from whatever it held and gives it to `access->key` in state `state`. */
static inline void cache_place(struct cache *cache, struct cache_line *line, const struct cache_access *access,
                               enum line_state state) {
    unsigned set = access->set, way = cache_way_of(cache, set, line);
    assert(line->state != LINE_RESERVED);
    if (UNLIKELY(cache->replacement->evict != NULL) && line->state != LINE_INVALID)
        cache->replacement->evict(cache->replacement_state, set, way);
    /* With one tag for each line, tag way i owns line i, and what it held is overwritten; with more, the tags' owner
     * places tags itself. */
    if (UNLIKELY(line->tag != way && line->tag != CACHE_NONE)) cache_free_tag(cache, set, line);
    size_t tag = (size_t)set * cache->tag_ways + way;
    cache->key[tag] = access->key;
    cache->line_of[tag] = (uint16_t)way;
    cache->hint[(size_t)set * cache->hints + way] = cache_hint(access->key);
    *line = (struct cache_line){.state = (uint8_t)state, .tag = (uint16_t)way};
    cache->replacement->insert(cache->replacement_state, set, way, access);
}

/* Frees the line and its tag. */
void cache_drop(struct cache *cache, unsigned set, struct cache_line *line);

/* Frees every line that is not reserved; reserved ones keep waiting for their data. */
void cache_invalidate(struct cache *cache);

unsigned cache_reserved_lines(const struct cache *cache);

#endif
