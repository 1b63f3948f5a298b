/* The stream record of a memory operation: touched sectors, passes over the banks of shared memory, lanes that access
 * one word (stream/touch.h).
 *
 * Simplification: a generic access to several spaces is recorded as a global access of the lanes in global memory. */
#include "emu/cta.h"

#include <string.h>

enum { BANKS = 32, BANK_BYTES = TOUCH_BANK_BYTES, SECTOR_BYTES = TOUCH_SECTOR_BYTES };

/* The lanes of a mixed access in global memory. */
static uint32_t global_lanes(uint32_t mask, const uint64_t *address) {
    uint32_t global = 0;
    FOR_LANES (lane, mask) {
        uint64_t at = address[lane];
        if (space_resolve(PTX_SPACE_GENERIC, &at) == PTX_SPACE_GLOBAL) global |= UINT32_C(1) << lane;
    }
    return global;
}

/* --- matrices --- */

/* Adds the sectors of a line; lines ascend, but may begin before the end of the last one. */
static void line_note(struct access_note *note, uint64_t begin, unsigned bytes) {
    for (uint64_t sector = begin / SECTOR_BYTES; sector * SECTOR_BYTES < begin + bytes; sector++) {
        uint64_t at = sector * SECTOR_BYTES, block = at / TOUCH_BLOCK_BYTES * TOUCH_BLOCK_BYTES;
        unsigned i = note->count;
        while (i && touch_address(note->touch[i - 1]) > block) i--;
        if (!i || touch_address(note->touch[i - 1]) != block) {
            if (note->count == WARP_LANES) return;
            memmove(note->touch + i + 1, note->touch + i, (note->count - i) * sizeof *note->touch);
            note->count++;
            note->touch[i++] = block;
        }
        note->touch[i - 1] |= UINT64_C(1) << at % TOUCH_BLOCK_BYTES / SECTOR_BYTES;
    }
}

/* Bank passes: the largest number of words in one bank. Words of several lines are read once. */
static unsigned line_passes(const uint64_t *line, unsigned count, unsigned bytes) {
    unsigned passes[BANKS] = {0}, most = 1;
    uint64_t next = 0; /* words below it have been counted */
    for (unsigned i = 0; i < count; i++) {
        uint64_t end = (line[i] + bytes + BANK_BYTES - 1) / BANK_BYTES;
        for (uint64_t word = max_u64(line[i] / BANK_BYTES, next); word < end; word++)
            if (++passes[word % BANKS] > most) most = passes[word % BANKS];
        next = max_u64(next, end);
    }
    return most;
}

void touch_note_lines(struct warp_state *w, enum ptx_space space, const uint64_t *line, unsigned count, unsigned bytes,
                      enum access_kind kind) {
    struct access_note *note = &w->note;
    note->flags = 0;
    note->count = 0;
    note->conflicts = 1;
    note->space = space == PTX_SPACE_SHARED ? SPACE_SHARED : SPACE_GLOBAL;
    if (space == PTX_SPACE_SHARED) {
        note->conflicts = (uint8_t)min_u64(line_passes(line, count, bytes), UINT8_MAX);
        return;
    }
    for (unsigned i = 0; i < count; i++) line_note(note, line[i], bytes);
    for (unsigned i = 0; i < count && kind == ACCESS_WRITE; i++) { /* a sector is full if lines without gaps fill it */
        bool begins = !i || line[i] != line[i - 1] + bytes, ends = i + 1 == count || line[i + 1] != line[i] + bytes;
        if ((begins && line[i] % SECTOR_BYTES) || (ends && (line[i] + bytes) % SECTOR_BYTES))
            note->flags |= INSTR_PARTIAL;
    }
}

/* --- all accesses --- */

static const uint8_t space_in_stream[PTX_SPACE_COUNT] = {[PTX_SPACE_LOCAL] = SPACE_LOCAL,
                                                         [PTX_SPACE_CONST] = SPACE_CONST,
                                                         [PTX_SPACE_PARAM] = SPACE_CONST,
                                                         [PTX_SPACE_SHARED] = SPACE_SHARED};

static uint64_t base_in_stream(enum ptx_space space) { return space == PTX_SPACE_PARAM ? TOUCH_PARAMETER : 0; }

bool touch_note_run(struct warp_state *w, uint32_t mask, enum ptx_space space, uint64_t first, unsigned bytes,
                    enum access_kind kind, enum lanes_form form) {
    bool serial = kind == ACCESS_ATOMIC && form == LANES_UNIFORM;
    if (form == LANES_SCATTERED || space == PTX_SPACE_GENERIC || space == PTX_SPACE_LOCAL ||
        (space == PTX_SPACE_SHARED && kind == ACCESS_ATOMIC && bytes < BANK_BYTES))
        return false;
    struct access_note *note = &w->note;
    unsigned lanes = (unsigned)__builtin_popcount(mask);
    note->space = space_in_stream[space];
    note->flags = 0;
    note->count = 0;
    note->conflicts = (uint8_t)(serial ? lanes : 1);
    if (space == PTX_SPACE_SHARED)
        note->conflicts = (uint8_t)touch_shared_run_passes(mask, bytes, serial);
    else
        touch_run(note, base_in_stream(space) + first, form == LANES_RUN ? lanes * bytes : bytes);
    if (kind != ACCESS_WRITE) note->flags = 0;
    if (space == PTX_SPACE_SHARED && cluster_is_remote(w, first)) note->flags = INSTR_CLUSTER;
    return true;
}

static void sorted_note(struct warp_state *w, uint32_t mask, enum ptx_space space, const uint64_t *address,
                        unsigned bytes, enum access_kind kind) {
    if (space == PTX_SPACE_LOCAL) {
        uint32_t stride = w->run->local_stride;
        uint64_t area = touch_local_area(w->warp.cta->index, w->run->warps, w->index, stride);
        touch_local(&w->note, mask, address, bytes, kind, area, stride);
        return;
    }
    if (space == PTX_SPACE_GENERIC) mask = global_lanes(mask, address);
    touch_sorted(&w->note, mask, address, bytes, kind);
}

void touch_note(struct warp_state *w, uint32_t mask, enum ptx_space space, const uint64_t address[WARP_LANES],
                unsigned bytes, enum access_kind kind) {
    struct access_note *note = &w->note;
    note->flags = 0;
    note->count = 0;
    note->conflicts = 1;
    note->space = space_in_stream[space];
    if (space == PTX_SPACE_SHARED) {
        note->conflicts = (uint8_t)touch_shared_passes(mask, address, bytes, kind == ACCESS_ATOMIC);
        if (UNLIKELY(w->run->cluster_ctas > 1))
            FOR_LANES (lane, mask)
                if (cluster_is_remote(w, address[lane])) note->flags = INSTR_CLUSTER;
        return;
    }
    bool one_space = space != PTX_SPACE_GENERIC && space != PTX_SPACE_LOCAL;
    uint64_t in_stream[WARP_LANES];
    if (space == PTX_SPACE_PARAM) {
        for (unsigned i = 0; i < WARP_LANES; i++) in_stream[i] = address[i] + TOUCH_PARAMETER;
        address = in_stream;
    }
    if (!one_space || !touch_unsorted(note, mask, address, bytes, kind))
        sorted_note(w, mask, space, address, bytes, kind);
    if (kind != ACCESS_WRITE) note->flags = 0;
    if (kind != ACCESS_ATOMIC) note->conflicts = 1;
}
