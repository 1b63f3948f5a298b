/* The stream record of a texture access: the blocks of all texels that its lanes read. Linear filtering reads up to 8
 * texels per lane, so a warp may touch more blocks than a record has (WARP_LANES). The lanes are then divided into
 * several records of the same instruction, which the machine executes one after the other. */
#include "emu/cta.h"

#include <string.h>

enum { SECTOR_BYTES = 32 };

void touch_begin(struct warp_state *w) {
    w->note.space = SPACE_GLOBAL;
    w->note.flags = 0;
    w->note.conflicts = 1;
    w->note.count = 0;
    w->textured = true;
    w->recorded = 0;
}

/* Adds a sector to an ascending list of blocks. */
static unsigned sector_add(uint64_t *touch, unsigned count, uint64_t address) {
    uint64_t block = touch_address(address), sector = UINT64_C(1) << address % TOUCH_BLOCK_BYTES / SECTOR_BYTES;
    unsigned at = count;
    while (at && touch_address(touch[at - 1]) > block) at--;
    if (at && touch_address(touch[at - 1]) == block) {
        touch[at - 1] |= sector;
        return count;
    }
    memmove(&touch[at + 1], &touch[at], (count - at) * sizeof *touch);
    touch[at] = block | sector;
    return count + 1;
}

void touch_texels(struct warp_state *w, const struct op *op, uint32_t mask, unsigned lane, const uint64_t *address,
                  unsigned count) {
    enum { LANE_TEXELS = 8 };
    uint64_t touch[WARP_LANES + LANE_TEXELS];
    struct access_note *note = &w->note;
    assert(count <= LANE_TEXELS);
    memcpy(touch, note->touch, note->count * sizeof *touch);
    unsigned blocks = note->count;
    for (unsigned i = 0; i < count; i++) blocks = sector_add(touch, blocks, address[i]);
    if (blocks > WARP_LANES) { /* the lanes before this one are a record */
        uint32_t lanes = mask & ((UINT32_C(1) << lane) - 1) & ~w->recorded;
        record_part(w, op, lanes);
        w->recorded |= lanes;
        for (unsigned i = blocks = 0; i < count; i++) blocks = sector_add(touch, blocks, address[i]);
    }
    memcpy(note->touch, touch, blocks * sizeof *touch);
    note->count = (uint16_t)blocks;
}
