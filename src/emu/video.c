/* Byte-wise video operations, PTX ISA 9.7.20: vadd4, vsub4, vavrg4, vabsdiff4, vmin4, vmax4, vset4. For each side, four
 * bytes are selected from the eight of a and b, extended by the operands' types and processed in parallel; the results
 * replace bytes of c, or with .add their sum is added to c.
 *
 * The immediate of the operation: bits 0-3 mask the bytes of the result, bits 4-19 are a's selector, bits 20-35 b's,
 * four bits per byte; bit 36: the result is signed. */
#include "emu/lanes.h"

static inline s32 selected(u64 pair, u32 selector, unsigned k, bool is_signed) {
    const u8 byte = (u8)(pair >> (8 * (selector >> (4 * k) & 7)));
    return is_signed ? (s8)byte : byte;
}

static inline bool compared(enum compare compare, s32 x, s32 y) {
    switch (compare) {
    case COMPARE_EQ: return x == y;
    case COMPARE_NE: return x != y;
    case COMPARE_LT: return x < y;
    case COMPARE_LE: return x <= y;
    case COMPARE_GT: return x > y;
    default: return x >= y;
    }
}

static s32 video_byte(const struct op *op, s32 x, s32 y) {
    switch ((enum video)op->mode) {
    case VIDEO_ABSDIFF: return x < y ? y - x : x - y;
    case VIDEO_ADD: return x + y;
    case VIDEO_SUB: return x - y;
    case VIDEO_AVRG: return x + y >= 0 ? (x + y + 1) >> 1 : (x + y) >> 1;
    case VIDEO_MIN: return x < y ? x : y;
    case VIDEO_MAX: return x > y ? x : y;
    case VIDEO_SET: return compared(op->compare, x, y);
    }
    assert(!"unknown video operation");
    return 0;
}

static u32 video_lane(const struct op *op, u32 a, u32 b, u32 c) {
    const u64 pair = (u64)b << 32 | a, control = (u64)op->immediate;
    const bool result_signed = control >> 36 & 1;
    const s32 least = result_signed ? INT8_MIN : 0, most = result_signed ? INT8_MAX : UINT8_MAX;
    u32 sum = c, merged = c;
    for (unsigned k = 0; k < 4; k++) {
        if (!(control >> k & 1)) continue;
        s32 r = video_byte(op, selected(pair, (u32)(control >> 4), k, op->element == PTX_s32),
                           selected(pair, (u32)(control >> 20), k, op->source == PTX_s32));
        if (op->modifiers & MOD_SAT) r = r < least ? least : r > most ? most : r;
        sum += (u32)r;
        merged = (merged & ~(UINT32_C(0xFF) << (8 * k))) | (u32)(u8)r << (8 * k);
    }
    return op->modifiers & MOD_ACCUMULATE ? sum : merged;
}
TERNARY(video, u32, u32, u32, u32, video_lane(op, a, b, c))

op_handler *video_find(const struct op *op) { return op->operation == OPERATION_vabsdiff4 ? video : NULL; }
