/* Atomics and reductions: lanes execute in ascending order, each one atomically.
 *
 * PTX ISA, atom: inc and dec wrap at their operand; f32 additions flush subnormal numbers to zero in global memory, but
 * not in shared memory; halves keep them. */
#include "emu/cta.h"
#include "emu/real.h"

#include <string.h>

/* The new value from the old one, for one operation and type. */
typedef uint64_t combine(uint64_t old, uint64_t b, uint64_t c);

#define COMBINE(name, expression) \
    static uint64_t name(uint64_t old, uint64_t b, uint64_t c) { \
        (void)c; \
        return (uint64_t)(expression); \
    }
COMBINE(op_and, old &b)
COMBINE(op_or, old | b)
COMBINE(op_xor, old ^ b)
COMBINE(op_exch, ((void)old, b))
COMBINE(op_cas, old == b ? c : old)
COMBINE(op_add, old + b)
COMBINE(op_inc, old >= b ? 0 : old + 1)
COMBINE(op_dec, old == 0 || old > b ? b : old - 1)
COMBINE(op_min, old < b ? old : b)
COMBINE(op_max, old > b ? old : b)
COMBINE(op_min_s32, (int32_t)old < (int32_t)b ? old : b)
COMBINE(op_max_s32, (int32_t)old > (int32_t)b ? old : b)
COMBINE(op_min_s64, (int64_t)old < (int64_t)b ? old : b)
COMBINE(op_max_s64, (int64_t)old > (int64_t)b ? old : b)
COMBINE(op_add_f32, f32_bits(f32_canonical(f32_of((uint32_t)old) + f32_of((uint32_t)b))))
COMBINE(op_add_f32_flushed,
        f32_bits(f32_flushed(f32_canonical(f32_flushed(f32_of((uint32_t)old)) + f32_flushed(f32_of((uint32_t)b))))))
COMBINE(op_add_f64, f64_bits(f64_result(f64_of(old) + f64_of(b), f64_of(old), f64_of(b), 0.0)))

static uint64_t half_add(uint64_t x, uint64_t y) {
    return f64_to_f16((f64)f16_to_f32((uint16_t)x) + (f64)f16_to_f32((uint16_t)y), F16_NEAREST);
}
static uint64_t bfloat_add(uint64_t x, uint64_t y) {
    return f64_to_bf16(f64_sum_odd((f64)bf16_to_f32((uint16_t)x), (f64)bf16_to_f32((uint16_t)y)), BF16_NEAREST);
}
COMBINE(op_add_f16, half_add(old, b))
COMBINE(op_add_bf16, bfloat_add(old, b))
COMBINE(op_add_f16x2, half_add(old, b) | half_add(old >> 16, b >> 16) << 16)
COMBINE(op_add_bf16x2, bfloat_add(old, b) | bfloat_add(old >> 16, b >> 16) << 16)

static combine *combine_find(const struct op *op) {
    static combine *const plain[] = {
        [ATOMIC_AND] = op_and, [ATOMIC_OR] = op_or,   [ATOMIC_XOR] = op_xor, [ATOMIC_EXCH] = op_exch,
        [ATOMIC_CAS] = op_cas, [ATOMIC_ADD] = op_add, [ATOMIC_INC] = op_inc, [ATOMIC_DEC] = op_dec,
        [ATOMIC_MIN] = op_min, [ATOMIC_MAX] = op_max,
    };
    bool adds = op->mode == ATOMIC_ADD, is_max = op->mode == ATOMIC_MAX, orders = is_max || op->mode == ATOMIC_MIN;
    bool exchanges = op->mode == ATOMIC_EXCH || op->mode == ATOMIC_CAS;
    if (op->vector > 1 || op->mode >= COUNT_OF(plain) || ptx_type_bytes(op->element) > 8) return NULL;
    switch ((enum ptx_type)op->element) {
    case PTX_f32:
        return adds        ? op->space == PTX_SPACE_SHARED ? op_add_f32 : op_add_f32_flushed
               : exchanges ? plain[op->mode]
                           : NULL;
    case PTX_f64: return adds ? op_add_f64 : exchanges ? plain[op->mode] : NULL;
    case PTX_f16: return adds ? op_add_f16 : NULL;
    case PTX_bf16: return adds ? op_add_bf16 : NULL;
    case PTX_f16x2: return adds ? op_add_f16x2 : NULL;
    case PTX_bf16x2: return adds ? op_add_bf16x2 : NULL;
    case PTX_s32: return orders ? is_max ? op_max_s32 : op_min_s32 : plain[op->mode];
    case PTX_s64: return orders ? is_max ? op_max_s64 : op_min_s64 : plain[op->mode];
    default: return plain[op->mode];
    }
}

/* The memory of one lane, or a fault. */
static uint8_t *lane_at(struct warp_state *w, const struct op *op, unsigned lane, enum ptx_space space,
                        uint64_t address, unsigned bytes) {
    space = space_resolve(space, &address);
    uint8_t *at = address % bytes ? NULL : space_at(w, space, address, bytes, ACCESS_ATOMIC);
    if (!at) access_fault(w, op, lane, space, address, bytes, ACCESS_ATOMIC);
    return at;
}

static void touch_any(struct warp_state *w, uint32_t mask, enum ptx_space space, const uint64_t address[WARP_LANES],
                      unsigned bytes) {
    enum lanes_form form = lanes_form(mask, address, bytes);
    if (!touch_note_run(w, mask, space, address[lowest_bit(mask)], bytes, ACCESS_ATOMIC, form))
        touch_note(w, mask, space, address, bytes, ACCESS_ATOMIC);
}

/* The rows of an operation's registers; `dst` is NULL for a reduction. A lane's old value may replace its operands. */
struct rows {
    const uint8_t *b, *c;
    uint8_t *dst;
};

/* Executes a lane; returns the bits that changed, in the lowest bytes. Inlined for each width, so that a value is read and written by a single
 * host instruction, and for the most frequent operation. */
static ALWAYS_INLINE uint64_t lane_change(uint8_t *memory, unsigned lane, unsigned bytes, combine *change,
                                          const struct rows rows) {
    uint64_t old = 0, b = 0, c = 0;
    memcpy(&old, memory, bytes);
    memcpy(&b, rows.b + (size_t)lane * bytes, bytes);
    memcpy(&c, rows.c + (size_t)lane * bytes, bytes);
    const uint64_t new = change(old, b, c);
    memcpy(memory, &new, bytes);
    if (rows.dst) memcpy(rows.dst + (size_t)lane * bytes, &old, bytes);
    return new ^ old;
}

static ALWAYS_INLINE uint64_t lanes_change(uint8_t *memory, const uint64_t offset[WARP_LANES], uint32_t mask,
                                           unsigned bytes, combine *change, const struct rows rows) {
    uint64_t changed = 0;
    if (mask == UINT32_MAX)
        for (unsigned i = 0; i < WARP_LANES; i++) changed |= lane_change(memory + offset[i], i, bytes, change, rows);
    else
        FOR_LANES (i, mask) changed |= lane_change(memory + offset[i], i, bytes, change, rows);
    return changed;
}

static ALWAYS_INLINE void atomic_run(struct warp *warp, const struct op *op, uint32_t mask, unsigned bytes) {
    struct warp_state *w = warp_state(warp);
    combine *change = combine_find(op);
    uint64_t address[WARP_LANES], offset[WARP_LANES];
    access_addresses(w, op, mask, address);
    enum ptx_space common = space_common(op->space, address);
    if (w->writer) touch_any(w, mask, common, address, bytes);
    if (common == PTX_SPACE_SHARED && change == op_add_f32_flushed) change = op_add_f32;
    uint8_t *memory = space_at_all(w, op, common, address, bytes, ACCESS_ATOMIC, offset);
    const struct rows rows = {.b = warp_place(warp, op->b),
                              .c = warp_place(warp, op->mode == ATOMIC_CAS ? op->c : op->b),
                              .dst = op->operation == OPERATION_atom ? warp_place(warp, op->dst) : NULL};
    uint64_t changed = 0;
    if (memory) {
        changed = change == op_add ? lanes_change(memory, offset, mask, bytes, op_add, rows)
                                   : lanes_change(memory, offset, mask, bytes, change, rows);
    } else {
        FOR_LANES (lane, mask) {
            uint8_t *at = lane_at(w, op, lane, common, address[lane], bytes);
            if (!at) return;
            changed |= lane_change(at, lane, bytes, change, rows);
        }
    }
    if (changed << (64 - 8 * bytes)) warp->cta->run->changed |= UINT32_C(1) << PTX_SPACE_GLOBAL;
}

static void execute_2(struct warp *warp, const struct op *op, uint32_t mask) { atomic_run(warp, op, mask, 2); }
static void execute_4(struct warp *warp, const struct op *op, uint32_t mask) { atomic_run(warp, op, mask, 4); }
static void execute_8(struct warp *warp, const struct op *op, uint32_t mask) { atomic_run(warp, op, mask, 8); }

/* 16-byte exch and cas. */
static void execute_16(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    uint64_t address[WARP_LANES];
    access_addresses(w, op, mask, address);
    enum ptx_space common = space_common(op->space, address);
    if (w->writer) touch_any(w, mask, common, address, 16);
    const uint8_t *b = warp_place(warp, op->b), *c = op->mode == ATOMIC_CAS ? warp_place(warp, op->c) : b;
    uint8_t old[WARP_LANES][16]; /* the destination may also be a source */
    FOR_LANES (lane, mask) {
        uint8_t *at = lane_at(w, op, lane, common, address[lane], 16);
        if (!at) return;
        memcpy(old[lane], at, 16);
        if (op->mode == ATOMIC_EXCH || !memcmp(at, b + lane * 16u, 16)) memcpy(at, c + lane * 16u, 16);
        warp->cta->run->changed |= (uint32_t)(memcmp(at, old[lane], 16) != 0) << PTX_SPACE_GLOBAL;
    }
    uint8_t *dst = warp_place(warp, op->dst);
    FOR_LANES (lane, mask) memcpy(dst + lane * 16u, old[lane], 16);
}

op_handler *atomic_handler_find(const struct op *op) {
    static op_handler *const by_size[] = {NULL, execute_2, execute_4, execute_8};
    if (op->operation != OPERATION_atom && op->operation != OPERATION_red) return NULL;
    unsigned bytes = ptx_type_bytes(op->element);
    bool exchanges = op->mode == ATOMIC_EXCH || op->mode == ATOMIC_CAS;
    if (bytes == 16) return op->vector <= 1 && op->operation == OPERATION_atom && exchanges ? execute_16 : NULL;
    return combine_find(op) ? by_size[log2_floor(bytes)] : NULL;
}
