/* Signature-based hit prediction ("SHiP: Signature-based Hit Predictor for High Performance Caching", MICRO 2011): a
 * table of counters, indexed by a signature of the access that placed a line, learns whether lines of that signature
 * are used again. A line is placed as srrip does, or as distant if its signature's counter is zero. A hit adds one to
 * the counter of the line's signature, a replaced line that was never hit takes one away.
 *
 * The signature is the static instruction or the region of memory, mixed down to the table's size. At the LLC an
 * instruction is known by its lower 16 bits, and that of a shared line is the one that fetched it. All sets train the
 * table. A line that is dropped, because it was written or the cache was emptied, teaches nothing.
 *
 * Left out: signatures of instruction sequences; training by a sample of the sets. */
#include <stdlib.h>
#include <string.h>

#include "cache/rrip.h"

static const struct policy by_instruction = {"instruction", "the static instruction that placed the line", NULL};
static const struct policy by_region = {"region", "the region of memory that the line is in", NULL};
static const struct policy *const signatures[] = {&by_instruction, &by_region};
static const struct family signature_family = {"signature", signatures, COUNT_OF(signatures)};

struct ship_config {
    int64_t bits, table_bits, counter_bits, start, region_lines;
    const struct policy *signature;
};

static const struct param params[] = {
    RRIP_BITS(struct ship_config),
    P_CHOICE(struct ship_config, signature, signature_family, "instruction", "what reuse is told by"),
    P_INT(struct ship_config, region_lines, 128, 1, 1048576, "lines", "of a region of memory"),
    P_INT(struct ship_config, table_bits, 14, 1, 16, "bits", "of a signature, so that the table has 2^n counters"),
    P_INT(struct ship_config, counter_bits, 3, 1, 8, "bits", "of a counter"),
    P_INT(struct ship_config, start, 1, 0, 255, "hits", "that a counter starts with, or its largest value"),
};

static const struct section ship_section = {
    .path = "ship",
    .help = "signature-based hit prediction",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct ship_config),
};

struct placed {
    uint16_t signature;
    bool hit; /* since it was placed */
};

struct ship {
    struct rrip rrip;
    unsigned shift;        /* from a mixed word to a signature */
    uint64_t region_lines; /* 0: by instruction */
    uint8_t counter_max;
    uint8_t *counter;      /* [signatures] */
    struct placed *placed; /* [sets][ways] */
};

static void *ship_create(const void *values, unsigned sets, unsigned ways, uint64_t seed) {
    (void)seed;
    const struct ship_config *config = values;
    struct ship *ship = rrip_create(sizeof *ship, sets, ways, config->bits);
    size_t entries = (size_t)1 << config->table_bits;
    ship->shift = 64 - (unsigned)config->table_bits;
    ship->region_lines = config->signature == &by_region ? (uint64_t)config->region_lines : 0;
    ship->counter_max = (uint8_t)low_mask((unsigned)config->counter_bits);
    ship->counter = mem_alloc(entries, sizeof *ship->counter);
    memset(ship->counter, (int)min_u64((uint64_t)config->start, ship->counter_max), entries);
    ship->placed = mem_alloc((size_t)sets * ways, sizeof *ship->placed);
    return ship;
}

static void ship_destroy(void *state) {
    struct ship *ship = state;
    free(ship->counter);
    free(ship->placed);
    rrip_destroy(ship);
}

static uint16_t signature_of(const struct ship *ship, const struct cache_access *access) {
    enum { PROGRAM_SHIFT = 56 }; /* of a line's key: signatures of two programs are apart */
    uint64_t program = access->key >> PROGRAM_SHIFT << PROGRAM_SHIFT;
    uint64_t word = ship->region_lines ? access->key / ship->region_lines : program | access->instr;
    return (uint16_t)(word * UINT64_C(0x9E3779B97F4A7C15) >> ship->shift);
}

static struct placed *placed_at(const struct ship *ship, unsigned set, unsigned way) {
    return &ship->placed[(size_t)set * ship->rrip.ways + way];
}

static void ship_touch(void *state, unsigned set, unsigned way, const struct cache_access *access) {
    struct ship *ship = state;
    struct placed *placed = placed_at(ship, set, way);
    uint8_t *counter = &ship->counter[placed->signature];
    placed->hit = true;
    if (*counter < ship->counter_max) ++*counter;
    rrip_touch(state, set, way, access);
}

static void ship_evict(void *state, unsigned set, unsigned way) {
    struct ship *ship = state;
    const struct placed *placed = placed_at(ship, set, way);
    uint8_t *counter = &ship->counter[placed->signature];
    if (!placed->hit && *counter > 0) --*counter;
    rrip_evict(state, set, way);
}

static void ship_insert(void *state, unsigned set, unsigned way, const struct cache_access *access) {
    struct ship *ship = state;
    uint16_t signature = signature_of(ship, access);
    *placed_at(ship, set, way) = (struct placed){.signature = signature};
    *rrip_prediction(&ship->rrip, set, way) = ship->counter[signature] ? rrip_long(&ship->rrip) : ship->rrip.distant;
}

const struct replacement_ops replacement_ship = {
    .policy = {"ship", "as srrip, but lines of instructions (or regions) without reuse go first", &ship_section},
    .create = ship_create,
    .destroy = ship_destroy,
    .touch = ship_touch,
    .insert = ship_insert,
    .evict = ship_evict,
    .victim = rrip_victim,
};
