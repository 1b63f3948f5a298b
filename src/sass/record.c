#include "sass/record.h"

#include <string.h>

uint32_t sass_warp_lanes(const struct kernel *kernel, uint32_t warp) {
    return (uint32_t)low_mask((unsigned)min_u64(kernel_threads(kernel) - warp * WARP_LANES, WARP_LANES));
}

void sass_warp_start(struct sass_warp *warp, const struct kernel *kernel, uint64_t cta, uint32_t index) {
    *warp = (struct sass_warp){.cta = cta, .index = index, .live = sass_warp_lanes(kernel, index)};
}

/* --- registers --- */

/* Registers of the stream are numbered from 1. */
static void add_registers(uint8_t *list, unsigned room, uint8_t first, unsigned count) {
    for (unsigned reg = first; reg < first + count && reg < SASS_NO_REGISTER; reg++) {
        unsigned i = 0;
        while (i < room && list[i] && list[i] != reg + 1) i++;
        if (i < room) list[i] = (uint8_t)(reg + 1);
    }
}

static void set_registers(struct instr *instr, const struct sass_line *line, const struct sass_opcode *opcode) {
    memset(instr->dst, 0, sizeof instr->dst);
    memset(instr->src, 0, sizeof instr->src);
    for (unsigned i = 0; i < line->dst_count; i++)
        add_registers(instr->dst, INSTR_DSTS, line->dst[i], i ? 1 : opcode->results);
    unsigned stored = instr->op == OP_store && opcode->bytes > 4 ? opcode->bytes / 4 : 1;
    for (unsigned i = 0; i < line->src_count; i++) {
        bool address = i == 0 && opcode->wide_address, data = i > 0 && i + 1u == line->src_count;
        add_registers(instr->src, INSTR_SRCS, line->src[i], address ? 2 : data ? stored : 1);
    }
}

/* --- memory --- */

static bool in_window(uint64_t address, uint64_t base) { return base && address - base < SASS_WINDOW_BYTES; }

/* The space of a generic access. Of one to several spaces the lanes in global memory are recorded. */
static enum memory_space resolve(const struct sass_header *header, const uint64_t *address, uint32_t *mask) {
    uint32_t shared = 0, local = 0;
    FOR_LANES (lane, *mask) {
        shared |= (uint32_t)in_window(address[lane], header->shared_base) << lane;
        local |= (uint32_t)in_window(address[lane], header->local_base) << lane;
    }
    uint32_t global = *mask & ~(shared | local);
    enum memory_space space = global ? SPACE_GLOBAL : shared ? SPACE_SHARED : SPACE_LOCAL;
    *mask = global ? global : shared ? shared : local;
    return space;
}

static enum memory_space space_of(const struct sass_opcode *opcode, const struct sass_header *header,
                                  const uint64_t *address, uint32_t *mask) {
    switch (opcode->role) {
    case SASS_UNKNOWN:
    case SASS_GENERIC: return resolve(header, address, mask);
    case SASS_LOCAL: return SPACE_LOCAL;
    case SASS_SHARED:
    case SASS_MATRIX: return SPACE_SHARED;
    case SASS_CONST: return SPACE_CONST;
    default: return SPACE_GLOBAL;
    }
}

uint32_t sass_global_lanes(const struct sass_header *header, const struct sass_line *line,
                           const struct sass_opcode *opcode) {
    uint32_t mask = line->mask & opcode->lanes;
    return mask && space_of(opcode, header, line->address, &mask) == SPACE_GLOBAL ? mask : 0;
}

/* Addresses as the stream has them: relative to the window, and aligned. */
static void convert(const struct sass_header *header, enum memory_space space, unsigned bytes,
                    uint64_t address[WARP_LANES]) {
    uint64_t base = space == SPACE_SHARED ? header->shared_base : space == SPACE_LOCAL ? header->local_base : 0;
    uint64_t added = space == SPACE_CONST ? TOUCH_PARAMETER : 0, aligned = ~(uint64_t)(bytes - 1);
    for (unsigned i = 0; i < WARP_LANES; i++)
        address[i] = ((in_window(address[i], base) ? address[i] - base : address[i]) + added) & aligned;
}

/* As the emulator notes an access (emu/touch.c). */
static void note_access(struct access_note *note, const struct sass_header *header, const struct sass_warp *warp,
                        uint32_t mask, const uint64_t address[WARP_LANES], unsigned bytes, enum access_kind kind) {
    enum lanes_form form = lanes_form(mask, address, bytes);
    unsigned lanes = (unsigned)__builtin_popcount(mask);
    bool serial = kind == ACCESS_ATOMIC && form == LANES_UNIFORM;
    note->conflicts = (uint8_t)(serial ? lanes : 1);
    if (note->space == SPACE_SHARED) {
        bool words = kind != ACCESS_ATOMIC || bytes >= TOUCH_BANK_BYTES;
        note->conflicts = (uint8_t)(form != LANES_SCATTERED && words
                                        ? touch_shared_run_passes(mask, bytes, serial)
                                        : touch_shared_passes(mask, address, bytes, kind == ACCESS_ATOMIC));
        return;
    }
    if (note->space == SPACE_LOCAL) {
        uint32_t stride = SASS_LOCAL_BYTES * WARP_LANES;
        uint64_t area = touch_local_area(warp->cta, kernel_warps(&header->kernel), warp->index, stride);
        touch_local(note, mask, address, bytes, kind, area, stride);
    } else if (form != LANES_SCATTERED) {
        touch_run(note, address[lowest_bit(mask)], form == LANES_RUN ? lanes * bytes : bytes);
    } else if (!touch_unsorted(note, mask, address, bytes, kind)) {
        touch_sorted(note, mask, address, bytes, kind);
    }
    if (kind != ACCESS_WRITE) note->flags = 0;
    if (kind != ACCESS_ATOMIC) note->conflicts = 1;
}

/* The access of a memory instruction; false if it has none. */
static bool make_access(const struct sass_header *header, struct sass_warp *warp, const struct sass_line *line,
                        const struct sass_opcode *opcode, struct sass_record *record) {
    struct instr *instr = &record->instr;
    uint32_t mask = line->mask & opcode->lanes;
    if (!mask || !line->has_addresses) return false;
    uint64_t address[WARP_LANES];
    memcpy(address, line->address, sizeof address);
    enum memory_space space = space_of(opcode, header, address, &mask);
    if (mask != line->mask) lanes_fill(mask, address);
    convert(header, space, opcode->bytes, address);
    enum access_kind kind = instr->op == OP_load ? ACCESS_READ : instr->op == OP_store ? ACCESS_WRITE : ACCESS_ATOMIC;
    record->note.space = (uint8_t)space;
    record->note.count = 0;
    record->note.flags = 0;
    note_access(&record->note, header, warp, mask, address, opcode->bytes, kind);
    instr->space = (uint8_t)space;
    instr->cache = opcode->cache;
    instr->flags = opcode->flags | record->note.flags;
    if (space != SPACE_GLOBAL) instr->flags &= (uint8_t) ~(INSTR_READ_ONLY | INSTR_NONCOHERENT);
    instr->bytes_log2 = (uint8_t)log2_floor(opcode->bytes);
    instr->conflicts = record->note.conflicts;
    instr->count = record->note.count;
    if (opcode->role == SASS_COPY) {
        instr->conflicts = (uint8_t)touch_shared_run_passes(mask, opcode->bytes, false);
        memset(instr->dst, 0, sizeof instr->dst);
        warp->copies++;
    }
    return true;
}

/* --- control --- */

/* Lanes may arrive one after the other; the warp does with the last one that is live. */
static bool arrives(struct sass_warp *warp, const struct sass_line *line) {
    if (line->immediate != 0) return false;
    warp->arrived |= line->mask;
    if ((warp->arrived & warp->live) != warp->live) return false;
    warp->arrived = 0;
    return true;
}

/* Waits until at most line->immediate groups of copies are pending; false if nothing has to be waited for. */
static bool make_wait(const struct sass_warp *warp, const struct sass_line *line, struct instr *instr) {
    if (line->immediate >= warp->groups || line->immediate >= SASS_GROUPS) return false;
    uint32_t group = warp->groups - 1 - (uint32_t)line->immediate;
    instr->op = OP_fence;
    instr->flags = INSTR_ASYNC;
    instr->count = (uint16_t)min_u64(warp->copies - warp->group_end[group % SASS_GROUPS], UINT16_MAX);
    return true;
}

static uint32_t most_multiply_adds(const struct sass_opcode *opcode) {
    static const uint16_t most[] = {
#define X(name, most, latency, rate, help) most,
        TENSOR_LIST(X)
#undef X
    };
    return most[opcode->format];
}

bool sass_record_next_part(struct sass_record *record, const struct sass_opcode *opcode, struct instr *part) {
    uint32_t most = most_multiply_adds(opcode);
    if (record->multiply_adds <= most) {
        record->instr.count = (uint16_t)record->multiply_adds;
        return false;
    }
    record->multiply_adds -= most;
    *part = record->instr;
    memset(part->dst, 0, sizeof part->dst);
    memset(part->src, 0, sizeof part->src);
    part->count = (uint16_t)most;
    return true;
}

void sass_record_make(const struct sass_header *header, struct sass_warp *warp, const struct sass_line *line,
                      const struct sass_opcode *opcode, bool last, struct sass_record *record) {
    struct instr *instr = &record->instr;
    *instr = (struct instr){.active = line->mask, .op = opcode->op, .conflicts = 1};
    record->multiply_adds = 0;
    if (opcode->role == SASS_UNKNOWN && line->has_addresses) instr->op = line->dst_count ? OP_load : OP_store;
    set_registers(instr, line, opcode);
    bool takes_effect = line->mask != 0;
    switch (opcode->role) {
    case SASS_EXIT:
        warp->live &= ~line->mask;
        takes_effect = last;
        break;
    case SASS_BARRIER:
        takes_effect = takes_effect && arrives(warp, line);
        instr->flags = opcode->flags;
        break;
    case SASS_COMMIT: warp->group_end[warp->groups++ % SASS_GROUPS] = warp->copies; break;
    case SASS_WAIT: takes_effect = takes_effect && make_wait(warp, line, instr); break;
    case SASS_TENSOR:
        instr->space = opcode->format;
        record->multiply_adds = opcode->multiply_adds;
        break;
    default:
        if (instr_is_memory(instr)) takes_effect = make_access(header, warp, line, opcode, record);
        break;
    }
    if (takes_effect && opcode->timed) {
        instr->op = opcode->timed;
        instr->space = opcode->op;
        instr->bytes_log2 = (uint8_t)opcode->added_cycles;
    }
    if (takes_effect) return;
    instr->op = OP_other;
    instr->space = instr->flags = 0;
    instr->count = 0;
    record->multiply_adds = 0;
}
