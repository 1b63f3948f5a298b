#include "ptx/flows.h"

#include "ptx/pointers.h"

/* A set has `words` words of pointers, then as many of derived numbers; both start with the special objects. */
enum { ANYWHERE = 1 << POINTER_ANYWHERE, NUMBER = ANYWHERE, NULLS = 1 << POINTER_NULL };

static bool set_grow(uint64_t *to, uint64_t more) {
    bool grown = (more & ~*to) != 0;
    *to |= more;
    return grown;
}

static unsigned set_count(const uint64_t *set, uint32_t words) {
    unsigned count = 0;
    for (uint32_t k = 0; k < 2 * words; k++) count += (unsigned)__builtin_popcountll(set[k]);
    return count;
}

static bool share_structure(const uint64_t *a, const uint64_t *b, uint32_t words) {
    uint64_t common = a[0] & b[0] & ~UINT64_C(0) << POINTER_STRUCTURES;
    for (uint32_t k = 1; k < words; k++) common |= a[k] & b[k];
    return common;
}

/* Every pair of members of `a` and `b` contributes what its sum may be. The sum of two pointers to one object is derived
 * from its address; their difference is an offset without a trace of it. */
static bool sum_grow(enum flow_kind kind, const uint64_t *a, const uint64_t *b, uint64_t *to, uint32_t words,
                     bool settled) {
    unsigned count_a = set_count(a, words), count_b = set_count(b, words);
    if (!settled && (!count_a || !count_b)) return false;
    bool distance = kind == FLOW_DIFFERENCE && share_structure(a, b, words);
    if (distance && count_a == 1 && count_b == 1) return set_grow(to + words, NUMBER);
    bool null_a = !count_a || (a[0] & NULLS), null_b = !count_b || (b[0] & NULLS);
    bool number_a = a[words] & NUMBER, number_b = b[words] & NUMBER;
    bool number = distance || (number_a && (number_b || null_b)) || (null_a && number_b), grown = false;
    for (uint32_t k = 0; k < words; k++) {
        uint64_t pointers = a[k] | b[k];
        uint64_t derived = a[words + k] | b[words + k] | (kind == FLOW_BITS ? pointers : a[k] & b[k]);
        if (k == 0) {
            pointers = (pointers & ~(uint64_t)NULLS) | (null_a && null_b ? NULLS : 0);
            derived = (derived & ~(uint64_t)(NULLS | NUMBER)) | (number ? NUMBER : 0);
        }
        grown |= set_grow(&to[k], pointers);
        grown |= set_grow(&to[words + k], derived);
    }
    return grown;
}

static bool flow_grow(const struct flow *flow, uint64_t *sets, uint32_t words, bool settled) {
    const uint64_t *a = sets + (size_t)flow->from * 2 * words, *b = sets + (size_t)flow->other * 2 * words;
    uint64_t *to = sets + (size_t)flow->to * 2 * words;
    if (flow->kind > FLOW_NUMBER) return sum_grow(flow->kind, a, b, to, words, settled);
    bool grown = flow->kind == FLOW_NUMBER && set_count(a, words) && set_grow(to + words, NUMBER);
    for (uint32_t k = 0; k < words; k++) {
        if (flow->kind == FLOW_COPY) grown |= set_grow(&to[k], a[k]);
        uint64_t derived = flow->kind == FLOW_NUMBER ? a[k] & ~(uint64_t)(k ? 0 : NULLS) : 0;
        grown |= set_grow(&to[words + k], derived | a[words + k]);
    }
    return grown;
}

/* Flows are in source order, so one pass settles everything except loops and calls. An operand that nothing defines is
 * known only when nothing grows any more; it counts as zero then. */
uint64_t *flows_solve(struct arena *arena, const struct list *flows, const struct list *seeds, uint32_t value_count,
                      uint32_t words) {
    uint64_t *sets = arena_alloc(arena, (size_t)value_count * 2 * words, sizeof *sets);
    const struct seed *seed = seeds->items;
    for (uint32_t i = 0; i < seeds->count; i++)
        sets[((size_t)seed[i].value * 2 + seed[i].derived) * words + seed[i].object / 64] |= UINT64_C(1)
                                                                                             << (seed[i].object % 64);
    const struct flow *flow = flows->items;
    for (unsigned settled = 0; settled < 2; settled++)
        for (bool grown = true; grown;) {
            grown = false;
            for (uint32_t i = 0; i < flows->count; i++) grown |= flow_grow(&flow[i], sets, words, settled);
        }
    return sets;
}

bool pointers_traced(const struct pointers *pointers, const struct pointer_access *access) {
    const uint64_t *set = pointers->sets + (size_t)access->address * 2 * pointers->words;
    uint64_t any = set[0] & ~(uint64_t)NULLS;
    for (uint32_t k = 1; k < pointers->words; k++) any |= set[k];
    return any && !(set[0] & ANYWHERE) && !(set[pointers->words] & NUMBER);
}
