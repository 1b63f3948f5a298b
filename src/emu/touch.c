/* What the stream says of a memory operation: the sectors it touches, the passes it needs over shared memory's banks, the
 * lanes that meet on one word.
 *
 * Local memory appears in the stream as the hardware lays it out: word k of the 32 lanes side by side, so that a wide
 * access of a lane is several words in several rows. Every warp has an area of its own there, which CTAs use again
 * LOCAL_CTAS later: more than any machine holds at once, few enough that areas are found in caches again. Parameters
 * lie in constant memory, at an address of their own.
 *
 * Simplifications: a generic access whose lanes are in several spaces is recorded as a global one of those lanes that
 * are in global memory; of a wide local access whose lanes point to many different places the first 32 blocks count. */
#include "emu/cta.h"

#include <string.h>

enum { BANKS = 32, BANK_BYTES = 4, SECTOR_BYTES = 32, LOCAL_CTAS = 4096 };
#define TRACE_LOCAL     UINT64_C(0x010000000000)
#define TRACE_PARAMETER UINT64_C(0x020000000000)

/* Touched blocks in ascending order, each with its sectors and the bytes of them that are covered. */
struct blocks {
    uint32_t count;
    uint64_t block[WARP_LANES];
    uint8_t sectors[WARP_LANES];
    uint32_t covered[WARP_LANES][TOUCH_BLOCK_BYTES / SECTOR_BYTES];
};

static void blocks_add(struct blocks *b, uint64_t address, unsigned bytes) {
    uint64_t block = address / TOUCH_BLOCK_BYTES;
    uint32_t i = b->count;
    while (i && b->block[i - 1] > block) i--;
    if (!i || b->block[i - 1] != block) {
        if (b->count == WARP_LANES) return;
        memmove(&b->block[i + 1], &b->block[i], (b->count - i) * sizeof b->block[0]);
        memmove(&b->sectors[i + 1], &b->sectors[i], (b->count - i) * sizeof b->sectors[0]);
        memmove(&b->covered[i + 1], &b->covered[i], (b->count - i) * sizeof b->covered[0]);
        b->block[i] = block;
        b->sectors[i] = 0;
        memset(b->covered[i], 0, sizeof b->covered[i]);
        b->count++;
        i++;
    }
    unsigned sector = (unsigned)(address % TOUCH_BLOCK_BYTES) / SECTOR_BYTES;
    b->sectors[i - 1] |= (uint8_t)(1u << sector);
    b->covered[i - 1][sector] |= (uint32_t)(low_mask(bytes) << (address % SECTOR_BYTES));
}

static bool blocks_partial(const struct blocks *b) {
    for (uint32_t i = 0; i < b->count; i++)
        for (unsigned s = 0; s < TOUCH_BLOCK_BYTES / SECTOR_BYTES; s++)
            if ((b->sectors[i] >> s & 1) && b->covered[i][s] != UINT32_MAX) return true;
    return false;
}

static void blocks_local(struct warp_state *w, struct blocks *b, uint32_t mask, const uint64_t *address,
                         unsigned bytes) {
    uint32_t stride = w->run->local_stride;
    uint64_t area = TRACE_LOCAL + ((w->warp.cta->index % LOCAL_CTAS) * w->run->warps + w->index) * stride;
    for (unsigned word = 0; word < bytes; word += 4) FOR_LANES(lane, mask)
    blocks_add(b, area + local_offset(address[lane] + word, lane) % stride, bytes < 4 ? bytes : 4);
}

/* Passes over the banks for one group of lanes. A word is read once for all lanes that want it; an atomic changes it
 * once for each. */
static unsigned bank_passes(uint32_t mask, const uint64_t *address, unsigned bytes, bool atomic) {
    uint64_t words[BANKS][WARP_LANES];
    uint8_t count[BANKS] = {0};
    unsigned most = 0;
    FOR_LANES(lane, mask)
    for (unsigned at = 0; at < bytes; at += BANK_BYTES) {
        uint64_t word = (address[lane] + at) / BANK_BYTES;
        unsigned bank = word % BANKS, i = 0;
        while (i < count[bank] && (atomic || words[bank][i] != word)) i++;
        if (i == count[bank] && count[bank] < WARP_LANES) words[bank][count[bank]++] = word;
        if (count[bank] > most) most = count[bank];
    }
    return most;
}

/* Wide accesses go by halves (8 bytes) and quarters (16 bytes) of the warp. */
static unsigned shared_passes(uint32_t mask, const uint64_t *address, unsigned bytes, bool atomic) {
    unsigned groups = bytes <= 4 ? 1 : bytes / 4, lanes = WARP_LANES / groups, passes = 0;
    for (unsigned g = 0; g < groups; g++)
        passes += bank_passes(mask & (uint32_t)(low_mask(lanes) << (g * lanes)), address, bytes, atomic);
    return passes;
}

/* Lanes that meet on the busiest word. */
static unsigned busiest_word(uint32_t mask, const uint64_t *address, unsigned bytes) {
    unsigned most = 0;
    for (uint32_t rest = mask; rest;) {
        uint64_t word = address[lowest_bit(rest)] / bytes;
        uint32_t met = 0;
        FOR_LANES(lane, rest) met |= (uint32_t)(address[lane] / bytes == word) << lane;
        unsigned n = (unsigned)__builtin_popcount(met);
        if (n > most) most = n;
        rest &= ~met;
    }
    return most;
}

/* The lanes of a mixed access that are in global memory. */
static uint32_t global_lanes(uint32_t mask, const uint64_t *address) {
    uint32_t global = 0;
    FOR_LANES(lane, mask) {
        uint64_t at = address[lane];
        if (space_resolve(PTX_SPACE_GENERIC, &at) == PTX_SPACE_GLOBAL) global |= UINT32_C(1) << lane;
    }
    return global;
}

void touch_note(struct warp_state *w, uint32_t mask, enum ptx_space space, const uint64_t address[WARP_LANES],
                unsigned bytes, enum access_kind kind) {
    struct access_note *note = &w->note;
    note->flags = 0;
    note->count = 0;
    note->conflicts = 1;
    if (space == PTX_SPACE_SHARED) {
        note->space = SPACE_SHARED;
        note->conflicts = (uint8_t)shared_passes(mask, address, bytes, kind == ACCESS_ATOMIC);
        return;
    }
    static const uint8_t as[PTX_SPACE_COUNT] = {
        [PTX_SPACE_LOCAL] = SPACE_LOCAL, [PTX_SPACE_CONST] = SPACE_CONST, [PTX_SPACE_PARAM] = SPACE_CONST};
    note->space = as[space];
    struct blocks b;
    b.count = 0;
    if (space == PTX_SPACE_GENERIC) mask = global_lanes(mask, address);
    if (space == PTX_SPACE_LOCAL)
        blocks_local(w, &b, mask, address, bytes);
    else
        FOR_LANES(lane, mask) blocks_add(&b, address[lane] + (space == PTX_SPACE_PARAM ? TRACE_PARAMETER : 0), bytes);
    if (kind == ACCESS_WRITE && blocks_partial(&b)) note->flags |= INSTR_PARTIAL;
    if (kind == ACCESS_ATOMIC) note->conflicts = (uint8_t)busiest_word(mask, address, bytes);
    if (!note->conflicts) note->conflicts = 1;
    note->count = (uint16_t)b.count;
    for (uint32_t i = 0; i < b.count; i++) note->touch[i] = touch_make(b.block[i] * TOUCH_BLOCK_BYTES, b.sectors[i]);
}
