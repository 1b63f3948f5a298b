/* Touched sectors and bank passes of a warp's access: the part of a memory record that follows from the addresses of its
 * lanes, whatever produced them (emu/touch.c, sass/record.c).
 *
 * Most operations access one address or a run of contiguous ones, whose record does not need the single lanes. Lanes
 * that are in ascending blocks, and reads within some blocks, need no sorting either. Others are divided into pieces,
 * which are sorted.
 *
 * Local memory has the hardware's layout in the stream: word k of the 32 lanes is contiguous, so a wide access of a
 * lane is several words in several rows. Every warp has its own area, which is reused TOUCH_LOCAL_CTAS CTAs later: more
 * than any machine holds at once, few enough for reuse in caches. Parameters are in constant memory, at a separate
 * address.
 *
 * Simplification: of a wide local access to many different addresses the first 32 blocks are recorded. */
#ifndef SLUICE_STREAM_TOUCH_H
#define SLUICE_STREAM_TOUCH_H

#include "stream/stream.h"

enum {
    TOUCH_BANK_BYTES = 4,
    TOUCH_SECTOR_BYTES = 32,
    TOUCH_LOCAL_CTAS = 4096,
    LOCAL_ROW_BYTES = 4 * WARP_LANES, /* local memory: word k of all lanes is contiguous */
};
#define TOUCH_LOCAL     UINT64_C(0x010000000000)
#define TOUCH_PARAMETER UINT64_C(0x020000000000)

#define FOR_LANES(lane, mask) \
    for (uint32_t lane##_rest = (mask), lane; lane##_rest && (lane = lowest_bit(lane##_rest), true); \
         lane##_rest &= lane##_rest - 1)

/* Inactive lanes get the address of the lowest active one, and those above the highest one its address, so that lanes
 * without gaps ascend if the active ones do. */
static inline void lanes_fill(uint32_t mask, uint64_t address[WARP_LANES]) {
    unsigned first = lowest_bit(mask), last = log2_floor(mask);
    for (unsigned i = 0; mask != UINT32_MAX && i < WARP_LANES; i++)
        if (!(mask >> i & 1)) address[i] = address[i > last ? last : first];
}

enum access_kind { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC };

/* The part of a memory operation that the stream records. */
struct access_note {
    uint8_t space, flags, conflicts;
    uint16_t count;
    uint64_t touch[WARP_LANES];
};

/* How the addresses of the active lanes relate: all equal, or each `bytes` after that of the lane below it. Here and
 * below inactive lanes have the address of an active one. */
enum lanes_form { LANES_SCATTERED, LANES_UNIFORM, LANES_RUN };
enum lanes_form lanes_form(uint32_t mask, const uint64_t address[WARP_LANES], unsigned bytes);

/* Adds contiguous bytes. */
static inline void touch_run(struct access_note *note, uint64_t begin, unsigned bytes) {
    uint64_t end = begin + bytes;
    if ((begin | end) % TOUCH_SECTOR_BYTES) note->flags |= INSTR_PARTIAL;
    if (LIKELY((begin ^ (end - 1)) < TOUCH_BLOCK_BYTES)) { /* one block */
        uint64_t first = UINT64_C(1) << begin % TOUCH_BLOCK_BYTES / TOUCH_SECTOR_BYTES,
                 last = UINT64_C(1) << (end - 1) % TOUCH_BLOCK_BYTES / TOUCH_SECTOR_BYTES;
        note->touch[note->count++] = begin / TOUCH_BLOCK_BYTES * TOUCH_BLOCK_BYTES | (2 * last - first);
        return;
    }
    for (uint64_t block = begin / TOUCH_BLOCK_BYTES * TOUCH_BLOCK_BYTES; block < end; block += TOUCH_BLOCK_BYTES) {
        unsigned from = begin > block ? (unsigned)(begin - block) / TOUCH_SECTOR_BYTES : 0;
        unsigned to = end - block < TOUCH_BLOCK_BYTES
                          ? ((unsigned)(end - block) + TOUCH_SECTOR_BYTES - 1) / TOUCH_SECTOR_BYTES
                          : TOUCH_BLOCK_BYTES / TOUCH_SECTOR_BYTES;
        note->touch[note->count++] = block | (low_mask(to) & ~low_mask(from));
    }
}

/* Lanes in one space, each with `bytes` at its address, aligned. touch_unsorted records accesses
 * that need no sorting, and returns false for all others. */
bool touch_unsorted(struct access_note *note, uint32_t mask, const uint64_t address[WARP_LANES], unsigned bytes,
                    enum access_kind kind);
void touch_sorted(struct access_note *note, uint32_t mask, const uint64_t address[WARP_LANES], unsigned bytes,
                  enum access_kind kind);

/* The offset of a byte of a lane's local memory in the area of its warp. */
static inline uint64_t local_offset(uint64_t address, unsigned lane) {
    return (address >> 2) * LOCAL_ROW_BYTES + lane * 4 + (address & 3);
}
/* The area of a warp, `stride` bytes, of a CTA with `warps` warps. */
static inline uint64_t touch_local_area(uint64_t cta, uint32_t warps, uint32_t warp, uint32_t stride) {
    return TOUCH_LOCAL + ((cta % TOUCH_LOCAL_CTAS) * warps + warp) * stride;
}
/* Local memory: addresses are those of a lane's own memory. */
void touch_local(struct access_note *note, uint32_t mask, const uint64_t address[WARP_LANES], unsigned bytes,
                 enum access_kind kind, uint64_t area, uint32_t stride);

/* Wide accesses are split into halves (8 bytes) and quarters (16 bytes) of the warp. */
static inline unsigned touch_lane_groups(unsigned bytes) { return bytes <= 4 ? 1 : bytes / 4; }
static inline uint32_t touch_lane_group(uint32_t mask, unsigned groups, unsigned group) {
    unsigned lanes = WARP_LANES / groups;
    return mask & (uint32_t)(low_mask(lanes) << (group * lanes));
}

/* Bank passes of an access to shared memory. */
unsigned touch_shared_passes(uint32_t mask, const uint64_t address[WARP_LANES], unsigned bytes, bool atomic);
/* The same for a uniform access or a run: the lanes of a group have at most one word in each bank, unless atomics
 * update one word in turn. */
static inline unsigned touch_shared_run_passes(uint32_t mask, unsigned bytes, bool serial) {
    unsigned groups = touch_lane_groups(bytes), passes = 0;
    if (serial) return (unsigned)__builtin_popcount(mask);
    if (groups == 1) return 1;
    for (unsigned g = 0; g < groups; g++) passes += touch_lane_group(mask, groups, g) != 0;
    return passes;
}

#endif
