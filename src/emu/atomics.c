/* Atomics and reductions: lanes in ascending order, each reads, computes and writes before the next.
 *
 * PTX ISA, atom: inc and dec wrap at their operand; f32 additions in global memory flush subnormal numbers to zero,
 * those in shared memory do not; halves keep them. */
#include "emu/cta.h"
#include "emu/real.h"

#include <string.h>

/* What one operation and type makes of an old value. */
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

/* exch and cas of 16 bytes. */
static void wide_change(const struct op *op, uint8_t *at, const uint8_t *b, const uint8_t *c, uint8_t old[16]) {
    memcpy(old, at, 16);
    if (op->mode == ATOMIC_EXCH)
        memcpy(at, b, 16);
    else if (!memcmp(at, b, 16))
        memcpy(at, c, 16);
}

static uint64_t lane_value(const uint8_t *row, unsigned lane, unsigned bytes) {
    uint64_t value = 0;
    if (row) memcpy(&value, row + (size_t)lane * bytes, bytes);
    return value;
}

static void execute_atomic(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    unsigned bytes = ptx_type_bytes(op->element);
    combine *change = combine_find(op);
    uint64_t address[WARP_LANES];
    access_addresses(w, op, mask, address);
    enum ptx_space common = space_common(op->space, address);
    if (w->writer) touch_note(w, mask, common, address, bytes, ACCESS_ATOMIC);
    const uint8_t *b = warp_place(warp, op->b), *c = op->c == PLACE_NONE ? NULL : warp_place(warp, op->c);
    uint8_t *dst = op->operation == OPERATION_red || op->dst == PLACE_NONE ? NULL : warp_place(warp, op->dst);
    uint8_t old[WARP_LANES][16]; /* the destination may be a source, too */
    FOR_LANES(lane, mask) {
        uint64_t where = address[lane];
        enum ptx_space space = space_resolve(common, &where);
        uint8_t *at = where % bytes ? NULL : space_at(w, space, where, bytes, ACCESS_ATOMIC);
        if (!at) {
            access_fault(w, op, lane, space, where, bytes, ACCESS_ATOMIC);
            return;
        }
        if (bytes == 16) {
            wide_change(op, at, b + lane * 16u, c ? c + lane * 16u : NULL, old[lane]);
            continue;
        }
        combine *use = space == PTX_SPACE_SHARED && change == op_add_f32_flushed ? op_add_f32 : change;
        uint64_t value = lane_value(at, 0, bytes);
        memcpy(old[lane], &value, 8);
        value = use(value, lane_value(b, lane, bytes), lane_value(c, lane, bytes));
        memcpy(at, &value, bytes);
    }
    FOR_LANES(lane, dst ? mask : 0) memcpy(dst + (size_t)lane * bytes, old[lane], bytes);
}

op_handler *atomic_handler_find(const struct op *op) {
    if (op->operation != OPERATION_atom && op->operation != OPERATION_red) return NULL;
    bool wide = ptx_type_bytes(op->element) == 16 && op->vector <= 1 &&
                (op->mode == ATOMIC_EXCH || (op->mode == ATOMIC_CAS && op->c != PLACE_NONE));
    return wide || combine_find(op) ? execute_atomic : NULL;
}
