/* Loads and stores: address resolution per lane, and the transfer between memory and registers.
 *
 * Most accesses have all lanes in one region (an allocation, the CTA's shared memory, the kernel's parameters) and take
 * the fast path: one check for the whole warp, then a loop over lanes, or one copy if lanes are contiguous, or one for each
 * row of a CTA of two dimensions. Others are handled lane by lane. Local memory has the hardware's layout: a row for every
 * word, with the 32 lanes in it.
 *
 * An access that is misaligned or outside its region is a fault. Lanes store in ascending order: if several write to
 * one address, the highest lane wins. */
#include "emu/cta.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Addresses */

/* Inactive lanes get the address of the lowest active lane; those above the highest one, its address.
 * Four lanes at a time: `bit` is that of the lane in the mask, above the mask if the lane is above the highest one. */
static void inactive_fill(uint32_t mask, uint64_t address[WARP_LANES]) {
    if (!(mask & (mask + 1))) { /* all of them are above */
        unsigned i = log2_floor(mask);
        for (const uint64_t highest = address[i]; i < WARP_LANES; i++) address[i] = highest;
        return;
    }
    typedef int64_t lanes __attribute__((vector_size(32)));
    enum { PER_VECTOR = sizeof(lanes) / sizeof(int64_t) };
    const lanes none = {0}, active = none + (int64_t)mask, lowest = none + (int64_t)address[lowest_bit(mask)],
                highest = none + (int64_t)address[log2_floor(mask)];
    lanes bit = {1, 2, 4, 8};
    for (unsigned i = 0; i < WARP_LANES; i += PER_VECTOR, bit <<= PER_VECTOR) {
        lanes at, inactive = (active & bit) == none, above = bit > active;
        memcpy(&at, address + i, sizeof at);
        at = (at & ~inactive) | (inactive & ((lowest & ~above) | (highest & above)));
        memcpy(address + i, &at, sizeof at);
    }
}

void access_addresses(const struct warp_state *w, const struct op *op, uint32_t mask, uint64_t address[WARP_LANES]) {
    uint64_t offset = (uint64_t)op->immediate + (op->modifiers & MOD_FRAME ? w->frame->local_base : 0);
    if (op->a == PLACE_NONE) {
        for (unsigned i = 0; i < WARP_LANES; i++) address[i] = offset;
        return;
    }
    if (op->source == PTX_u32) {
        const uint32_t *a = warp_place(&w->warp, op->a);
        for (unsigned i = 0; i < WARP_LANES; i++) address[i] = (uint32_t)(a[i] + (uint32_t)offset);
        for (unsigned i = 0; op->space == PTX_SPACE_GENERIC && i < WARP_LANES; i++)
            address[i] = address_widen(address[i]);
    } else {
        const uint64_t *a = warp_place(&w->warp, op->a);
        for (unsigned i = 0; i < WARP_LANES; i++) address[i] = a[i] + offset;
    }
    if (mask == UINT32_MAX) return;
    inactive_fill(mask, address);
}

void copy_addresses(const struct warp_state *w, const struct op *op, unsigned i, uint32_t mask,
                    uint64_t address[WARP_LANES]) {
    struct op_address at;
    memcpy(&at, w->frame->code->function->element_list + op->elements + i * ADDRESS_WORDS, sizeof at);
    row_read(w, at.place, at.bytes, address);
    uint64_t offset = (uint64_t)(int64_t)at.offset, all = at.bytes == 4 ? UINT32_MAX : UINT64_MAX;
    for (unsigned lane = 0; lane < WARP_LANES; lane++) address[lane] = (address[lane] + offset) & all;
    if (mask != UINT32_MAX) inactive_fill(mask, address);
}

enum ptx_space space_resolve(enum ptx_space space, uint64_t *address) {
    if (space != PTX_SPACE_GENERIC) return space;
    enum ptx_space found = PTX_SPACE_GLOBAL;
    switch (*address & WINDOW_MASK) {
    case WINDOW_SHARED: found = PTX_SPACE_SHARED; break;
    case WINDOW_LOCAL: found = PTX_SPACE_LOCAL; break;
    case WINDOW_PARAM: found = PTX_SPACE_PARAM; break;
    default: return PTX_SPACE_GLOBAL;
    }
    *address &= ~WINDOW_MASK;
    return found;
}

/* The space of all lanes' addresses, which are made relative to it; GENERIC if they differ. */
enum ptx_space space_common(enum ptx_space space, uint64_t address[WARP_LANES]) {
    if (space != PTX_SPACE_GENERIC) return space;
    uint64_t differ = 0;
    for (unsigned i = 0; i < WARP_LANES; i++) differ |= address[i] ^ address[0];
    if (differ & WINDOW_MASK) return PTX_SPACE_GENERIC;
    uint64_t relative = address[0];
    space = space_resolve(PTX_SPACE_GENERIC, &relative);
    uint64_t base = address[0] - relative;
    for (unsigned i = 0; i < WARP_LANES; i++) address[i] -= base;
    return space;
}

/* Regions */

struct region {
    uint8_t *bytes;
    uint64_t address, size_bytes;
};

static struct region region_of(struct warp_state *w, enum ptx_space space, uint64_t address, enum access_kind kind,
                               uint32_t user) {
    switch (space) {
    case PTX_SPACE_SHARED: {
        if (LIKELY(!(address >> CLUSTER_RANK_SHIFT)))
            return (struct region){w->warp.cta->shared, 0, w->run->shared_bytes};
        const struct cta *cta = cluster_cta(w, address);
        if (!cta) break;
        return (struct region){cta->shared, address & ~low_mask(CLUSTER_RANK_SHIFT), w->run->shared_bytes};
    }
    case PTX_SPACE_PARAM:
        if (kind != ACCESS_READ) break;
        return (struct region){(uint8_t *)(uintptr_t)w->run->launch->parameters, 0,
                               w->run->kernel->function->parameter_bytes};
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST: {
        const struct allocation *found = memory_find_again(&w->run->device->memory, address, user);
        if (found) return (struct region){found->bytes, found->address, found->size_bytes};
        break;
    }
    default: break;
    }
    return (struct region){NULL, 0, 0};
}

uint8_t *space_at(struct warp_state *w, enum ptx_space space, uint64_t address, unsigned bytes, enum access_kind kind) {
    struct region region = region_of(w, space, address, kind, memory_user(address));
    uint64_t offset = address - region.address;
    return offset < region.size_bytes && bytes <= region.size_bytes - offset ? region.bytes + offset : NULL;
}

/* The lanes' addresses as offsets in one region; NULL unless all lanes are inside and aligned. */
uint8_t *space_at_all(struct warp_state *w, const struct op *op, enum ptx_space space,
                      const uint64_t address[WARP_LANES], unsigned bytes, enum access_kind kind,
                      uint64_t offset[WARP_LANES]) {
    struct region region = region_of(w, space, address[0], kind, op->instr);
    uint64_t last = region.size_bytes - bytes, outside = region.size_bytes < bytes, low = 0;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        offset[i] = address[i] - region.address;
        outside |= offset[i] > last;
        low |= address[i];
    }
    return outside || (low & (bytes - 1)) ? NULL : region.bytes;
}

void local_copy(struct warp_state *w, unsigned lane, uint32_t address, void *data, unsigned bytes, bool write) {
    uint8_t *to = data;
    for (unsigned part; bytes; bytes -= part, to += part, address += part) {
        uint8_t *at = w->local + local_offset(address, lane);
        part = 4 - (address & 3);
        if (part > bytes) part = bytes;
        write ? memcpy(at, to, part) : memcpy(to, at, part);
    }
}

static bool local_holds(const struct warp_state *w, uint64_t address, unsigned bytes) {
    return address < w->frame->local_top && bytes <= w->frame->local_top - address;
}

bool space_copy(struct warp_state *w, unsigned lane, enum ptx_space space, uint64_t address, void *data, unsigned bytes,
                enum access_kind kind) {
    if (space == PTX_SPACE_LOCAL) {
        if (!local_holds(w, address, bytes)) return false;
        local_copy(w, lane, (uint32_t)address, data, bytes, kind != ACCESS_READ);
        return true;
    }
    uint8_t *at = space_at(w, space, address, bytes, kind);
    if (at) kind == ACCESS_READ ? memcpy(data, at, bytes) : memcpy(at, data, bytes);
    return at;
}

/* Faults */

/* "16 bytes after the 4096-byte allocation at 0xc0000000" */
static void nearest_allocation(const struct memory *memory, uint64_t address, char *text, size_t room) {
    const struct allocation *best = NULL;
    uint64_t distance = UINT64_MAX;
    bool after = false;
    for (uint32_t i = 0; i < memory->count; i++) {
        const struct allocation *a = &memory->allocations[i];
        uint64_t end = a->address + a->size_bytes;
        uint64_t d = address < a->address ? a->address - address : address >= end ? address - end : 0;
        if (d >= distance) continue;
        best = a, distance = d, after = address >= end;
    }
    if (!best)
        snprintf(text, room, "there are no allocations");
    else if (!distance && !after)
        snprintf(text, room, "beyond the end of the %" PRIu64 "-byte allocation at 0x%" PRIx64, best->size_bytes,
                 best->address);
    else
        snprintf(text, room, "%" PRIu64 " bytes %s the %" PRIu64 "-byte allocation at 0x%" PRIx64, distance,
                 after ? "after" : "before", best->size_bytes, best->address);
}

void access_fault(struct warp_state *w, const struct op *op, unsigned lane, enum ptx_space space, uint64_t address,
                  unsigned bytes, enum access_kind kind) {
    static const char *const verbs[] = {"reads", "writes", "updates"};
    static const char *const names[] = {"generic", "global", "constant", "shared", "local", "parameter"};
    char where[160];
    uint32_t size = space == PTX_SPACE_SHARED  ? w->run->shared_bytes
                    : space == PTX_SPACE_LOCAL ? w->frame->local_top
                                               : w->run->kernel->function->parameter_bytes;
    if (address % bytes)
        snprintf(where, sizeof where, "misaligned");
    else if (space == PTX_SPACE_SHARED && !cluster_cta(w, address))
        snprintf(where, sizeof where, "the cluster has no CTA of this rank, or it has ended");
    else if (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST)
        nearest_allocation(&w->run->device->memory, address, where, sizeof where);
    else if (space == PTX_SPACE_PARAM && kind != ACCESS_READ)
        snprintf(where, sizeof where, "parameters are read-only");
    else if (space == PTX_SPACE_LOCAL && kind == ACCESS_ATOMIC)
        snprintf(where, sizeof where, "atomics on local memory are not supported");
    else
        snprintf(where, sizeof where, "outside the %u bytes available", size);
    fault_set(w, op, lane, "%s %u bytes of %s memory at 0x%" PRIx64 ": %s", verbs[kind], bytes, names[space], address,
              where);
}

/* Transfers between memory and registers, of the lanes at memory + offset; without offsets, all lanes in a run. Tables are
 * indexed by log2 of the bytes in memory and in the register. */

typedef void mover(uint8_t *memory, const uint64_t *offset, void *row, uint32_t mask);
typedef unsigned __int128 w128;

#define MOVE(statement) \
    if (!offset) { \
        for (unsigned i = 0; i < WARP_LANES; i++) statement(memory + i * sizeof value); \
    } else if (mask == UINT32_MAX) { \
        _Pragma("GCC unroll 8") for (unsigned i = 0; i < WARP_LANES; i++) statement(memory + offset[i]); \
    } else { \
        FOR_LANES (i, mask) statement(memory + offset[i]); \
    }
#define GATHER_ONE(at)  (memcpy(&value, at, sizeof value), out[i] = (out_type)value)
#define SCATTER_ONE(at) (value = (memory_type)in[i], memcpy(at, &value, sizeof value))
#define GATHER(from, to) \
    static void gather_##from##_##to(uint8_t *memory, const uint64_t *offset, void *row, uint32_t mask) { \
        typedef to out_type; \
        to *restrict out = row; \
        from value; \
        MOVE(GATHER_ONE) \
    }
#define SCATTER(to, from) \
    static void scatter_##to##_##from(uint8_t *memory, const uint64_t *offset, void *row, uint32_t mask) { \
        typedef to memory_type; \
        const from *restrict in = row; \
        to value; \
        MOVE(SCATTER_ONE) \
    }
#define PAIRS(X) \
    X(uint8_t, uint16_t) \
    X(uint8_t, uint32_t) \
    X(uint8_t, uint64_t) \
    X(uint16_t, uint16_t) \
    X(uint16_t, uint32_t) \
    X(uint16_t, uint64_t) X(uint32_t, uint32_t) X(uint32_t, uint64_t) X(uint64_t, uint64_t) X(w128, w128)
#define SIGNED_PAIRS(X) \
    X(int8_t, int16_t) X(int8_t, int32_t) X(int8_t, int64_t) X(int16_t, int32_t) X(int16_t, int64_t) X(int32_t, int64_t)
PAIRS(GATHER)
PAIRS(SCATTER)
SIGNED_PAIRS(GATHER)

static mover *const gathers[2][5][5] = {
    {{NULL, gather_uint8_t_uint16_t, gather_uint8_t_uint32_t, gather_uint8_t_uint64_t},
     {NULL, gather_uint16_t_uint16_t, gather_uint16_t_uint32_t, gather_uint16_t_uint64_t},
     {NULL, NULL, gather_uint32_t_uint32_t, gather_uint32_t_uint64_t},
     {NULL, NULL, NULL, gather_uint64_t_uint64_t},
     {NULL, NULL, NULL, NULL, gather_w128_w128}},
    {{NULL, gather_int8_t_int16_t, gather_int8_t_int32_t, gather_int8_t_int64_t},
     {NULL, gather_uint16_t_uint16_t, gather_int16_t_int32_t, gather_int16_t_int64_t},
     {NULL, NULL, gather_uint32_t_uint32_t, gather_int32_t_int64_t},
     {NULL, NULL, NULL, gather_uint64_t_uint64_t}},
};
static mover *const scatters[5][5] = {
    {NULL, scatter_uint8_t_uint16_t, scatter_uint8_t_uint32_t, scatter_uint8_t_uint64_t},
    {NULL, scatter_uint16_t_uint16_t, scatter_uint16_t_uint32_t, scatter_uint16_t_uint64_t},
    {NULL, NULL, scatter_uint32_t_uint32_t, scatter_uint32_t_uint64_t},
    {NULL, NULL, NULL, scatter_uint64_t_uint64_t},
    {NULL, NULL, NULL, NULL, scatter_w128_w128},
};

/* Loads and stores */

struct shape {
    mover *move;
    unsigned element_bytes, register_bytes, elements;
};

static struct shape shape_of(const struct op *op) {
    bool load = op->operation == OPERATION_ld;
    unsigned element = ptx_type_bytes(op->element), reg = load ? op->dst_bytes : op->src_bytes;
    if (reg < 2) reg = element < 2 ? 2 : element;
    unsigned from = log2_floor(element), to = log2_floor(reg);
    bool is_signed = ptx_type_kind(op->element) == PTX_SIGNED;
    return (struct shape){.move = from > 4 || to > 4 ? NULL
                                  : load             ? gathers[is_signed][from][to]
                                                     : scatters[from][to],
                          .element_bytes = element,
                          .register_bytes = reg,
                          .elements = op->vector ? op->vector : 1};
}

/* The register row of an element; NULL for a sink. */
static void *element_row(const struct warp_state *w, const struct op *op, unsigned element) {
    uint32_t place = op->vector > 1                  ? w->frame->code->function->element_list[op->elements + element]
                     : op->operation == OPERATION_ld ? op->dst
                                                     : op->b;
    return place == PLACE_NONE ? NULL : warp_place(&w->warp, place);
}

/* Copies the value of lane 0 to all lanes. */
static ALWAYS_INLINE void row_spread(void *row, unsigned bytes) {
    if (bytes == 4) {
        uint32_t *lanes = row, value = lanes[0];
        for (unsigned i = 0; i < WARP_LANES; i++) lanes[i] = value;
    } else if (bytes == 8) {
        uint64_t *lanes = row, value = lanes[0];
        for (unsigned i = 0; i < WARP_LANES; i++) lanes[i] = value;
    } else {
        for (unsigned i = 1; i < WARP_LANES; i++) memcpy((uint8_t *)row + (size_t)i * bytes, row, bytes);
    }
}

static ALWAYS_INLINE void region_move(struct warp_state *w, const struct op *op, const struct shape shape,
                                      uint32_t mask, uint8_t *memory, const uint64_t offset[WARP_LANES]) {
    for (unsigned e = 0; e < shape.elements; e++, memory += shape.element_bytes) {
        void *row = element_row(w, op, e);
        if (row) shape.move(memory, offset, row, mask);
    }
}

/* --- uniform accesses and runs, of all lanes or of groups: rows of CTAs of two dimensions --- */

enum { GROUP_LANES = 8, GROUPS = WARP_LANES / GROUP_LANES };

/* The form of all lanes: addresses that differ by 0 or by `bytes` in the first four lanes, and from each to the fourth after
 * it, which takes no product and whole vectors. The form of each group: by their distances from its first lane. */
#define ROW_FORM(U) \
    static ALWAYS_INLINE enum lanes_form row_form_##U(const U *a, unsigned bytes) { \
        enum { APART = 4 }; \
        const U step = (U)(a[1] - a[0]); \
        if (step && step != bytes) return LANES_SCATTERED; \
        U differ = (U)(a[2] - a[1]) ^ step; \
        differ |= (U)(a[3] - a[2]) ^ step; \
        for (unsigned i = 0; i < WARP_LANES - APART; i++) differ |= (U)(a[i + APART] - a[i]) ^ (U)(APART * step); \
        return differ ? LANES_SCATTERED : step ? LANES_RUN : LANES_UNIFORM; \
    } \
    static ALWAYS_INLINE enum lanes_form group_form_##U(const U *a, unsigned bytes) { \
        typedef U group __attribute__((vector_size(GROUP_LANES * sizeof(U)))); \
        const U step = (U)(a[1] - a[0]); \
        if (step && step != bytes) return LANES_SCATTERED; \
        const group distance = (group){0, 1, 2, 3, 4, 5, 6, 7} * (U)bytes & (U)(step ? -1 : 0); \
        group differ = {0}, at; \
        for (unsigned g = 0; g < WARP_LANES; g += GROUP_LANES) { \
            memcpy(&at, a + g, sizeof at); \
            differ |= (distance + a[g]) ^ at; \
        } \
        U any = 0; \
        for (unsigned i = 0; i < GROUP_LANES; i++) any |= differ[i]; \
        return any ? LANES_SCATTERED : step ? LANES_RUN : LANES_UNIFORM; \
    } \
    static ALWAYS_INLINE void group_fill_##U(uint8_t *row, const uint8_t *memory) { \
        typedef U group __attribute__((vector_size(GROUP_LANES * sizeof(U)))); \
        U value; \
        memcpy(&value, memory, sizeof value); \
        const group all = (group){0} + value; \
        memcpy(row, &all, sizeof all); \
    }
ROW_FORM(uint32_t)
ROW_FORM(uint64_t)

static ALWAYS_INLINE enum lanes_form row_form(const struct warp_state *w, const struct op *op, unsigned bytes) {
    if (op->a == PLACE_NONE) return LANES_UNIFORM;
    const void *row = warp_place(&w->warp, op->a);
    return op->source == PTX_u32 ? row_form_uint32_t(row, bytes) : row_form_uint64_t(row, bytes);
}

/* The address of lane 0, which may be in a window of generic addressing. */
static ALWAYS_INLINE uint64_t first_address(const struct warp_state *w, const struct op *op) {
    const uint64_t offset = (uint64_t)op->immediate;
    if (op->a == PLACE_NONE) return offset;
    const void *row = warp_place(&w->warp, op->a);
    if (op->source != PTX_u32) return *(const uint64_t *)row + offset;
    const uint32_t at = *(const uint32_t *)row + (uint32_t)offset;
    return op->space == PTX_SPACE_GENERIC ? address_widen(at) : at;
}

/* A uniform access or a run of all lanes within one region, the most frequent kinds. False if it is neither; nothing has
 * been done then. */
static ALWAYS_INLINE bool run_access(struct warp_state *w, const struct op *op, const struct shape shape,
                                     enum access_kind kind) {
    static const uint64_t beginning[WARP_LANES];
    const unsigned bytes = shape.element_bytes * shape.elements;
    const enum lanes_form form = row_form(w, op, bytes);
    if (form == LANES_SCATTERED || (form == LANES_UNIFORM ? kind == ACCESS_WRITE : shape.elements > 1)) return false;
    const uint64_t span = form == LANES_RUN ? (uint64_t)WARP_LANES * bytes : bytes;
    uint64_t first = first_address(w, op);
    if (op->space == PTX_SPACE_GENERIC && (first ^ (first + span - 1)) & WINDOW_MASK) return false;
    enum ptx_space space = space_resolve(op->space, &first);
    struct region region = region_of(w, space, first, kind, op->instr);
    uint64_t offset = first - region.address;
    if (first & (bytes - 1) || offset >= region.size_bytes || span > region.size_bytes - offset) return false;
    if (w->writer && !touch_note_run(w, UINT32_MAX, space, first, bytes, kind, form)) return false;
    if (kind == ACCESS_WRITE) w->run->changed |= UINT32_C(1) << space;
    uint8_t *memory = region.bytes + offset;
    if (form == LANES_RUN) {
        void *row = element_row(w, op, 0);
        if (!row) return true;
        if (shape.element_bytes != shape.register_bytes)
            shape.move(memory, NULL, row, UINT32_MAX);
        else
            kind == ACCESS_READ ? memcpy(row, memory, span) : memcpy(memory, row, span);
        return true;
    }
    for (unsigned e = 0; e < shape.elements; e++, memory += shape.element_bytes) {
        void *row = element_row(w, op, e);
        if (!row) continue;
        shape.move(memory, beginning, row, 1);
        row_spread(row, shape.register_bytes);
    }
    return true;
}

/* The same for uniform accesses and runs of groups, whose elements fill their registers. They are not recorded. */
static ALWAYS_INLINE bool group_run(struct warp_state *w, const struct op *op, enum access_kind kind, unsigned bytes) {
    if (op->a == PLACE_NONE) return false;
    const void *addresses = warp_place(&w->warp, op->a);
    const uint64_t *wide = addresses;
    const uint32_t *narrow = op->source == PTX_u32 ? addresses : NULL;
    const enum lanes_form form = narrow ? group_form_uint32_t(narrow, bytes) : group_form_uint64_t(wide, bytes);
    if (form == LANES_SCATTERED || (form == LANES_UNIFORM && kind == ACCESS_WRITE)) return false;
    const uint64_t span = form == LANES_RUN ? GROUP_LANES * bytes : bytes;
    uint64_t first = first_address(w, op), offset[GROUPS], beyond = 0, low = 0;
    enum ptx_space space = space_resolve(op->space, &first);
    struct region region = region_of(w, space, first, kind, op->instr);
    for (unsigned g = 0; g < GROUPS; g++) {
        const unsigned lane = g * GROUP_LANES;
        const uint64_t at = first + (narrow ? (uint64_t)(int32_t)(narrow[lane] - narrow[0]) : wide[lane] - wide[0]);
        low |= at;
        offset[g] = at - region.address;
        beyond |= offset[g] | (region.size_bytes - span - offset[g]); /* negative, as sizes are below 2^63 */
    }
    if (beyond >> 63 || low & (bytes - 1)) return false;
    if (kind == ACCESS_WRITE) w->run->changed |= UINT32_C(1) << space;
    uint8_t *row = element_row(w, op, 0);
    for (unsigned g = 0; row && g < GROUPS; g++, row += (size_t)GROUP_LANES * bytes) {
        uint8_t *memory = region.bytes + offset[g];
        if (kind == ACCESS_WRITE)
            memcpy(memory, row, (size_t)GROUP_LANES * bytes);
        else if (form == LANES_RUN)
            memcpy(row, memory, (size_t)GROUP_LANES * bytes);
        else
            bytes == 4 ? group_fill_uint32_t(row, memory) : group_fill_uint64_t(row, memory);
    }
    return true;
}
static NEVER_INLINE bool group_run_4(struct warp_state *w, const struct op *op, enum access_kind kind) {
    return group_run(w, op, kind, 4);
}
static NEVER_INLINE bool group_run_8(struct warp_state *w, const struct op *op, enum access_kind kind) {
    return group_run(w, op, kind, 8);
}
static ALWAYS_INLINE bool group_access(struct warp_state *w, const struct op *op, const struct shape shape,
                                       enum access_kind kind) {
    const unsigned bytes = shape.element_bytes;
    if (w->writer || shape.elements > 1 || bytes != shape.register_bytes) return false;
    return bytes == 4 ? group_run_4(w, op, kind) : bytes == 8 && group_run_8(w, op, kind);
}

/* All lanes at one local address: the words of the 32 lanes are contiguous, as in a row of registers. */
static bool local_rows(struct warp_state *w, const struct op *op, const struct shape *shape,
                       const uint64_t address[WARP_LANES], unsigned bytes) {
    if (shape->element_bytes != 4 || shape->register_bytes != 4 || !local_holds(w, address[0], bytes)) return false;
    uint64_t differ = address[0] & 3;
    for (unsigned i = 0; i < WARP_LANES; i++) differ |= address[i] ^ address[0];
    if (differ) return false;
    uint8_t *at = w->local + local_offset(address[0], 0);
    for (unsigned e = 0; e < shape->elements; e++, at += LOCAL_ROW_BYTES) {
        void *row = element_row(w, op, e);
        if (row) op->operation == OPERATION_ld ? memcpy(row, at, LOCAL_ROW_BYTES) : memcpy(at, row, LOCAL_ROW_BYTES);
    }
    return true;
}

static void lanes_move(struct warp_state *w, const struct op *op, const struct shape *shape, uint32_t mask,
                       enum ptx_space space, const uint64_t address[WARP_LANES], enum access_kind kind) {
    unsigned bytes = shape->element_bytes * shape->elements;
    static const uint64_t beginning[WARP_LANES];
    uint8_t data[64];
    FOR_LANES (lane, mask) {
        uint64_t at = address[lane];
        enum ptx_space of = space_resolve(space, &at);
        for (unsigned e = 0; kind == ACCESS_WRITE && e < shape->elements; e++) {
            void *row = element_row(w, op, e);
            if (row) shape->move(data + e * shape->element_bytes, beginning, row, UINT32_C(1) << lane);
        }
        if (at % bytes || !space_copy(w, lane, of, at, data, bytes, kind)) {
            access_fault(w, op, lane, of, at, bytes, kind);
            return;
        }
        for (unsigned e = 0; kind == ACCESS_READ && e < shape->elements; e++) {
            void *row = element_row(w, op, e);
            if (row) shape->move(data + e * shape->element_bytes, beginning, row, UINT32_C(1) << lane);
        }
    }
}

static ALWAYS_INLINE void access_run(struct warp *warp, const struct op *op, uint32_t mask, enum access_kind kind,
                                     const struct shape shape) {
    struct warp_state *w = warp_state(warp);
    unsigned bytes = shape.element_bytes * shape.elements;
    bool in_frame = op->space == PTX_SPACE_LOCAL || (op->modifiers & MOD_FRAME);
    if (mask == UINT32_MAX && !in_frame && (run_access(w, op, shape, kind) || group_access(w, op, shape, kind))) return;
    uint64_t address[WARP_LANES];
    access_addresses(w, op, mask, address);
    enum ptx_space space = in_frame ? PTX_SPACE_LOCAL : space_common(op->space, address);
    if (kind == ACCESS_WRITE) w->run->changed |= UINT32_C(1) << space;
    if (w->writer) {
        enum lanes_form form = mask == UINT32_MAX ? LANES_SCATTERED : lanes_form(mask, address, bytes);
        if (!touch_note_run(w, mask, space, address[lowest_bit(mask)], bytes, kind, form))
            touch_note(w, mask, space, address, bytes, kind);
    }
    if (space == PTX_SPACE_LOCAL) {
        if (mask == UINT32_MAX && local_rows(w, op, &shape, address, bytes)) return;
    } else if (space != PTX_SPACE_GENERIC) {
        uint64_t offset[WARP_LANES];
        uint8_t *memory = space_at_all(w, op, space, address, bytes, kind, offset);
        if (LIKELY(memory)) {
            region_move(w, op, shape, mask, memory, offset);
            return;
        }
    }
    lanes_move(w, op, &shape, mask, space, address, kind);
}

#define SHAPE(memory, registers, moves) \
    (struct shape) { .move = moves, .element_bytes = memory, .register_bytes = registers, .elements = 1 }

static void execute_ld(struct warp *warp, const struct op *op, uint32_t mask) {
    access_run(warp, op, mask, ACCESS_READ, shape_of(op));
}
static void execute_ld_4(struct warp *warp, const struct op *op, uint32_t mask) {
    access_run(warp, op, mask, ACCESS_READ, SHAPE(4, 4, gather_uint32_t_uint32_t));
}
static void execute_ld_8(struct warp *warp, const struct op *op, uint32_t mask) {
    access_run(warp, op, mask, ACCESS_READ, SHAPE(8, 8, gather_uint64_t_uint64_t));
}
static void execute_st(struct warp *warp, const struct op *op, uint32_t mask) {
    access_run(warp, op, mask, ACCESS_WRITE, shape_of(op));
}
static void execute_st_4(struct warp *warp, const struct op *op, uint32_t mask) {
    access_run(warp, op, mask, ACCESS_WRITE, SHAPE(4, 4, scatter_uint32_t_uint32_t));
}

/* The frequent shapes have handlers of their own, in which the compiler knows the sizes. */
static op_handler *move_handler(const struct op *op) {
    struct shape shape = shape_of(op);
    if (!shape.move) return NULL;
    bool load = op->operation == OPERATION_ld, word = shape.element_bytes == 4 && shape.register_bytes == 4;
    if (shape.elements == 1 && word) return load ? execute_ld_4 : execute_st_4;
    if (shape.elements == 1 && shape.element_bytes == 8 && load) return execute_ld_8;
    return load ? execute_ld : execute_st;
}

op_handler *access_handler_find(const struct op *op) {
    switch (op->operation) {
    case OPERATION_ld:
    case OPERATION_st: return move_handler(op);
    default: return atomic_handler_find(op);
    }
}
