/* The cache engine of L1s, LLC slices and the SM's read-only caches: tags, line states, replacement (MSHRs: mshr.h).
 *
 * Owns: tags and line states. Data is not stored: this is a timing model.
 * Contract: the engine is passive, without ports or time, and implements states and replacement. Its user decides what
 *           an access means (allocation, write-through or write-back, messages) and does all counting.
 */
#ifndef SLUICE_CACHE_CACHE_H
#define SLUICE_CACHE_CACHE_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/base.h"
#include "cache/lru.h"
#include "cache/replacement.h"
#include "config/config.h"

enum line_state {
    LINE_INVALID,
    LINE_RESERVED, /* allocated, fill pending; cannot be a victim */
    LINE_VALID,
    LINE_MODIFIED, /* valid and dirty */
};

/* Tag and state are adjacent: a lookup in a large cache misses in the host's. */
struct cache_line {
    uint64_t key;  /* cache_key(); CACHE_NO_KEY if the line is invalid */
    uint8_t state; /* enum line_state */
    uint8_t dirty; /* sectors that must be written back */
    uint8_t flags; /* owned by the user of the cache */
    uint8_t valid; /* sectored caches only: sectors whose bytes are all present (sectors.h) */
    uint16_t mshr; /* while reserved: its MSHR */
};

enum { CACHE_NONE = 0xFFFF, CACHE_HINTS = 16 };

/* The access behind a lookup, for replacement policies. */
struct cache_access {
    uint64_t key;   /* line key: cache_key() */
    uint32_t instr; /* static instruction */
    uint32_t set;
};

struct cache {
    unsigned sets, ways;
    uint64_t set_mask;       /* sets - 1 if sets is a power of two, else 0 */
    uint8_t *hint;           /* [sets][hints] one hash byte per line, which filters the tag comparisons */
    unsigned hints;          /* ways rounded up to a multiple of CACHE_HINTS */
    uint16_t *free_from;     /* [sets] no line below this way is invalid */
    struct cache_line *line; /* [sets][ways] */
    const struct replacement_ops *replacement;
    void *replacement_state;
    struct lru_link *lru; /* [sets][1 + ways] if the policy is LRU, else NULL */
};

#define CACHE_NO_KEY UINT64_MAX

/* The key of a line: its number (address / line size) within the program's address space. */
static inline uint64_t cache_key(uint64_t line_number, unsigned program) {
    return line_number | (uint64_t)program << 56;
}

struct cache_geometry {
    unsigned sets, ways;
};

/* `owner` is the section that selects the policy and contains the policy's parameters. `seed` differs between the
 * caches of a machine, for policies that use random numbers. */
void cache_init(struct cache *cache, const struct cache_geometry *geometry, const struct policy *replacement,
                const struct config *config, const struct section *owner, uint64_t seed);
void cache_release(struct cache *cache);

/* The set of a line with index bits `index` (without controller and slice bits, where those exist). `sets` need not be
 * a power of two. */
static inline unsigned cache_set_of(const struct cache *cache, uint64_t index) {
    return (unsigned)(cache->set_mask ? index & cache->set_mask : index % cache->sets);
}

/* A hash of the low 32 bits of the line number (the multiplier is 2^32 / golden ratio). */
static inline uint8_t cache_hint(uint64_t key) { return (uint8_t)((uint32_t)key * UINT32_C(0x9E3779B1) >> 24); }

/* Bit mask of the hint bytes that equal `wanted`. */
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

static inline struct cache_line *cache_line_at(const struct cache *cache, unsigned set, unsigned way) {
    return &cache->line[(size_t)set * cache->ways + way];
}

/* The line that holds `key`, or NULL. */
static inline struct cache_line *cache_lookup(const struct cache *cache, unsigned set, uint64_t key) {
    struct cache_line *lines = cache_line_at(cache, set, 0);
    const uint8_t *hints = &cache->hint[(size_t)set * cache->hints], wanted = cache_hint(key);
    unsigned first = 0;
    do {
        for (unsigned equal = cache_equal_hints(&hints[first], wanted); equal; equal &= equal - 1) {
            unsigned way = first + lowest_bit(equal);
            if (way < cache->ways && lines[way].key == key) return &lines[way];
        }
        first += CACHE_HINTS;
    } while (UNLIKELY(first < cache->hints));
    return NULL;
}

static inline unsigned cache_way_of(const struct cache *cache, unsigned set, const struct cache_line *line) {
    return (unsigned)(line - cache_line_at(cache, set, 0));
}

static inline struct lru_link *cache_lru_of(const struct cache *cache, unsigned set) {
    return &cache->lru[(size_t)set * (cache->ways + 1)];
}

/* Reports a hit to the replacement policy. */
static inline void cache_touch(struct cache *cache, const struct cache_line *line, const struct cache_access *access) {
    unsigned way = cache_way_of(cache, access->set, line);
    if (LIKELY(cache->lru != NULL))
        lru_use(cache_lru_of(cache, access->set), way);
    else
        cache->replacement->touch(cache->replacement_state, access->set, way, access);
}

/* The first invalid line of a set, or NULL. */
static inline struct cache_line *cache_free_line(struct cache *cache, unsigned set) {
    if (LIKELY(cache->free_from[set] >= cache->ways)) return NULL;
    struct cache_line *lines = cache_line_at(cache, set, 0);
    unsigned first = cache->free_from[set];
    while (first < cache->ways && lines[first].state != LINE_INVALID) first++;
    cache->free_from[set] = (uint16_t)first;
    return first < cache->ways ? &lines[first] : NULL;
}

/* The victim in a conventional cache: an invalid line, else the policy's choice among lines that are not reserved; NULL
 * if all are reserved. Changes no state that affects the choice, so an access with a reservation failure can be
 * retried. */
static inline struct cache_line *cache_victim(struct cache *cache, unsigned set) {
    struct cache_line *line = cache_free_line(cache, set), *lines = cache_line_at(cache, set, 0);
    if (line) return line;
    if (LIKELY(cache->lru != NULL)) {
        line = &lines[lru_oldest(cache_lru_of(cache, set))];
        if (LIKELY(line->state != LINE_RESERVED)) return line;
    }
    int way = cache->replacement->victim(cache->replacement_state, set, lines);
    return way < 0 ? NULL : &lines[way];
}

/* The victim if it stays the same when reserved lines of the set become valid; else NULL. */
static inline struct cache_line *cache_certain_victim(struct cache *cache, unsigned set) {
    struct cache_line *line = cache_free_line(cache, set);
    if (line || !cache->replacement->preferred) return line;
    line = cache_line_at(cache, set, cache->replacement->preferred(cache->replacement_state, set));
    return line->state == LINE_RESERVED ? NULL : line;
}

/* Assigns `line` (from cache_victim) to `access->key`, in state `state`. */
static inline void cache_place(struct cache *cache, struct cache_line *line, const struct cache_access *access,
                               enum line_state state) {
    unsigned set = access->set, way = cache_way_of(cache, set, line);
    assert(line->state != LINE_RESERVED);
    if (UNLIKELY(cache->replacement->evict != NULL) && line->state != LINE_INVALID)
        cache->replacement->evict(cache->replacement_state, set, way);
    cache->hint[(size_t)set * cache->hints + way] = cache_hint(access->key);
    *line = (struct cache_line){.key = access->key, .state = (uint8_t)state};
    if (LIKELY(cache->lru != NULL))
        lru_use(cache_lru_of(cache, set), way);
    else
        cache->replacement->insert(cache->replacement_state, set, way, access);
}

/* Invalidates the line. */
void cache_drop(struct cache *cache, unsigned set, struct cache_line *line);

/* Invalidates all lines except reserved ones, whose fills are pending. */
void cache_invalidate(struct cache *cache);

unsigned cache_reserved_lines(const struct cache *cache);

#endif
