/* The stream record of a memory operation: touched sectors, passes over the banks of shared memory, lanes that access
 * one word.
 *
 * Local memory has the hardware's layout in the stream: word k of the 32 lanes is contiguous, so a wide access of a
 * lane is several words in several rows. Every warp has its own area, which is reused LOCAL_CTAS CTAs later: more than
 * any machine holds at once, few enough for reuse in caches. Parameters are in constant memory, at a separate address.
 *
 * Simplifications: a generic access to several spaces is recorded as a global access of the lanes in global memory; of
 * a wide local access to many different addresses the first 32 blocks are recorded. */
#include "emu/cta.h"

#include <string.h>

enum { BANKS = 32, BANK_BYTES = 4, SECTOR_BYTES = 32, LOCAL_WORDS = SECTOR_BYTES / 4, LOCAL_CTAS = 4096 };
#define TRACE_LOCAL     UINT64_C(0x010000000000)
#define TRACE_PARAMETER UINT64_C(0x020000000000)

/* The pieces of an access: all of one size, a power of two up to a sector, and aligned. */
struct pieces {
    unsigned count, bytes;
    uint64_t address[WARP_LANES * LOCAL_WORDS];
};

/* Most accesses are already sorted, which costs one comparison per piece. */
static void pieces_sort(struct pieces *p) {
    for (unsigned i = 1; i < p->count; i++) {
        uint64_t piece = p->address[i];
        unsigned at = i;
        for (; at && p->address[at - 1] > piece; at--) p->address[at] = p->address[at - 1];
        p->address[at] = piece;
    }
}

/* Converts sorted pieces to touched blocks; a sector is full if all its pieces are present. Also finds the largest
 * number of lanes on one piece. */
static void pieces_note(const struct pieces *p, struct access_note *note) {
    uint64_t sector = 0;
    unsigned filled = SECTOR_BYTES, same = 0, most = 0;
    for (unsigned i = 0; i < p->count; i++) {
        uint64_t piece = p->address[i], block = piece / TOUCH_BLOCK_BYTES * TOUCH_BLOCK_BYTES;
        same = i && piece == p->address[i - 1] ? same + 1 : 1;
        if (same > most) most = same;
        if (same > 1) continue;
        if (!i || piece / SECTOR_BYTES != sector) {
            if (filled < SECTOR_BYTES) note->flags |= INSTR_PARTIAL;
            if (!note->count || touch_address(note->touch[note->count - 1]) != block) {
                if (note->count == WARP_LANES) break;
                note->touch[note->count++] = block;
            }
            sector = piece / SECTOR_BYTES;
            note->touch[note->count - 1] |= UINT64_C(1) << (sector % (TOUCH_BLOCK_BYTES / SECTOR_BYTES));
            filled = 0;
        }
        filled += p->bytes;
    }
    if (filled < SECTOR_BYTES) note->flags |= INSTR_PARTIAL;
    note->conflicts = (uint8_t)most;
}

static void pieces_local(const struct warp_state *w, struct pieces *p, uint32_t mask, const uint64_t *address,
                         unsigned bytes) {
    uint32_t stride = w->run->local_stride;
    uint64_t area = TRACE_LOCAL + ((w->warp.cta->index % LOCAL_CTAS) * w->run->warps + w->index) * stride;
    p->bytes = bytes < 4 ? bytes : 4;
    for (unsigned word = 0; word < bytes; word += 4)
        FOR_LANES (lane, mask) p->address[p->count++] = area + local_offset(address[lane] + word, lane) % stride;
}

/* No two lanes access the same bank: the common case. */
static bool banks_distinct(uint32_t mask, const uint64_t *address, unsigned bytes) {
    unsigned words = bytes < BANK_BYTES ? 1 : bytes / BANK_BYTES, lanes = 0;
    uint64_t wanted = low_mask(words), banks = 0;
    FOR_LANES (lane, mask) {
        unsigned bank = address[lane] / BANK_BYTES % BANKS;
        banks |= wanted << bank;
        lanes++;
    }
    return lanes && (unsigned)__builtin_popcount((uint32_t)(banks | banks >> BANKS)) == lanes * words;
}

/* Bank passes for one group of lanes. A word is read once for all lanes that access it; an atomic updates it once per
 * lane. */
static unsigned bank_passes(uint32_t mask, const uint64_t *address, unsigned bytes, bool atomic) {
    uint64_t words[BANKS][WARP_LANES];
    uint8_t count[BANKS] = {0};
    unsigned most = 0;
    if (banks_distinct(mask, address, bytes)) return 1;
    FOR_LANES (lane, mask)
        for (unsigned at = 0; at < bytes; at += BANK_BYTES) {
            uint64_t word = (address[lane] + at) / BANK_BYTES;
            unsigned bank = word % BANKS, i = 0;
            while (i < count[bank] && (atomic || words[bank][i] != word)) i++;
            if (i == count[bank] && count[bank] < WARP_LANES) words[bank][count[bank]++] = word;
            if (count[bank] > most) most = count[bank];
        }
    return most;
}

/* Wide accesses are split into halves (8 bytes) and quarters (16 bytes) of the warp. */
static unsigned shared_passes(uint32_t mask, const uint64_t *address, unsigned bytes, bool atomic) {
    unsigned groups = bytes <= 4 ? 1 : bytes / 4, lanes = WARP_LANES / groups, passes = 0;
    for (unsigned g = 0; g < groups; g++)
        passes += bank_passes(mask & (uint32_t)(low_mask(lanes) << (g * lanes)), address, bytes, atomic);
    return passes;
}

/* The lanes of a mixed access in global memory. */
static uint32_t global_lanes(uint32_t mask, const uint64_t *address) {
    uint32_t global = 0;
    FOR_LANES (lane, mask) {
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
    struct pieces pieces;
    pieces.count = 0;
    pieces.bytes = bytes;
    uint64_t base = space == PTX_SPACE_PARAM ? TRACE_PARAMETER : 0;
    if (space == PTX_SPACE_GENERIC) mask = global_lanes(mask, address);
    if (space == PTX_SPACE_LOCAL)
        pieces_local(w, &pieces, mask, address, bytes);
    else
        FOR_LANES (lane, mask) pieces.address[pieces.count++] = base + address[lane];
    pieces_sort(&pieces);
    pieces_note(&pieces, note);
    if (kind != ACCESS_WRITE) note->flags = 0;
    if (kind != ACCESS_ATOMIC) note->conflicts = 1;
}
