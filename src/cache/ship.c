/* Signature-based hit prediction ("SHiP: Signature-based Hit Predictor for High Performance Caching", MICRO 2011): a
 * table of counters, indexed by a signature of the inserting access, predicts whether lines with that signature are
 * reused. Insertion is as in SRRIP, or distant if the counter is 0. A hit increments the counter of the line's
 * signature; the eviction of a line without a hit decrements it.
 *
 * The signature is a hash of the static instruction or of the memory region. In the LLC an instruction is identified by
 * its low 16 bits, and a line shared by several SMs by the instruction that fetched it. All sets train the table. An
 * invalidated line does not train it.
 *
 * Not modelled: instruction-sequence signatures; training by a sample of the sets. */
#include <stdlib.h>
#include <string.h>

#include "cache/rrip.h"

static const struct policy by_instruction = {"instruction", "static instruction that inserted the line", NULL};
static const struct policy by_region = {"region", "memory region of the line", NULL};
static const struct policy *const signatures[] = {&by_instruction, &by_region};
static const struct family signature_family = {"signature", signatures, COUNT_OF(signatures)};

struct ship_config {
    int64_t bits, table_bits, counter_bits, start, region_lines;
    const struct policy *signature;
};

static const struct param params[] = {
    RRIP_BITS(struct ship_config),
    P_CHOICE(struct ship_config, signature, signature_family, "instruction", "source of the signature"),
    P_INT(struct ship_config, region_lines, 128, 1, 1048576, "lines", "lines per memory region"),
    P_INT(struct ship_config, table_bits, 14, 1, 16, "bits", "signature width; the table has 2^N counters"),
    P_INT(struct ship_config, counter_bits, 3, 1, 8, "bits", "counter width"),
    P_INT(struct ship_config, start, 1, 0, 255, "hits", "initial counter value, at most its maximum"),
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
    bool hit; /* since insertion */
};

struct ship {
    struct rrip rrip;
    unsigned shift;        /* from a 64-bit hash to a signature */
    uint64_t region_lines; /* 0: signature by instruction */
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
    enum { PROGRAM_SHIFT = 56 }; /* of a line's key: programs have distinct signatures */
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
    .policy = {"ship", "SRRIP with a distant prediction for instructions (or regions) without reuse", &ship_section},
    .create = ship_create,
    .destroy = ship_destroy,
    .touch = ship_touch,
    .insert = ship_insert,
    .evict = ship_evict,
    .victim = rrip_victim,
};
