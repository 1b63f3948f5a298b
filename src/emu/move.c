/* mov of every width, of vectors, and between a register and the elements of a vector, PTX ISA 9.7.9.4. */
#include "emu/lanes.h"

UNARY_SAME(mov_u16, u16, a)
UNARY_SAME(mov_u32, u32, a)
UNARY_SAME(mov_u64, u64, a)
UNARY_SAME(mov_u128, u128, a)

/* An element of a vector, `bytes` wide, zero-extended to a register that may be wider. */
static void piece_read(u64 *to, const struct warp *warp, uint32_t place, unsigned register_bytes, unsigned bytes) {
    const uint8_t *from = warp_place(warp, place);
    EACH_LANE {
        to[i] = 0;
        memcpy(&to[i], from + i * register_bytes, bytes);
    }
}
static void piece_write(struct warp *warp, uint32_t place, unsigned register_bytes, const u64 *values, u32 mask) {
    uint8_t *to = warp_place(warp, place);
    EACH_LANE
    if (mask >> i & 1) memcpy(to + i * register_bytes, &values[i], register_bytes);
}

static unsigned width(unsigned given, unsigned piece_bytes) {
    return given ? given : piece_bytes < 2 ? 2 : piece_bytes;
}

/* dst = the concatenated elements, first lowest; two words if it has 128 bits. */
HANDLER(pack) {
    const unsigned whole = 1u << type_size_log2(op->element), bytes = whole / op->vector;
    const unsigned from = width(op->src_bytes, bytes);
    u64 piece[WARP_LANES], word[2][WARP_LANES] = {0};
    for (unsigned e = 0; e < op->vector; e++) {
        piece_read(piece, warp, warp->elements[op->elements + e], from, bytes);
        EACH_LANE word[e * bytes / 8][i] |= piece[i] << (8 * (e * bytes % 8));
    }
    if (whole <= 8) {
        piece_write(warp, op->dst, width(op->dst_bytes, whole), word[0], mask);
        return;
    }
    u128 result[WARP_LANES];
    EACH_LANE result[i] = (u128)word[1][i] << 64 | word[0][i];
    LANES_STORE(u128, op->dst, result);
}

HANDLER(unpack) {
    const unsigned whole = 1u << type_size_log2(op->element), bytes = whole / op->vector;
    const unsigned to = width(op->dst_bytes, bytes), from = width(op->src_bytes, whole);
    uint8_t source[WARP_LANES * sizeof(u128)]; /* a destination may be the source */
    memcpy(source, warp_place(warp, op->a), (size_t)from * WARP_LANES);
    for (unsigned e = 0; e < op->vector; e++) {
        const uint32_t place = warp->elements[op->elements + e];
        if (place == PLACE_NONE) continue;
        u64 piece[WARP_LANES] = {0};
        EACH_LANE memcpy(&piece[i], source + i * from + e * bytes, bytes);
        piece_write(warp, place, to, piece, mask);
    }
}

HANDLER(move_elements) {
    const unsigned bytes = 1u << type_size_log2(op->element), width_bytes = bytes < 2 ? 2 : bytes;
    const size_t row = (size_t)width_bytes * WARP_LANES;
    const uint32_t *to = warp->elements + op->elements, *from = to + op->vector;
    uint8_t rows[8][WARP_LANES * sizeof(u128)]; /* a destination may be a source */
    for (unsigned e = 0; e < op->vector; e++) memcpy(rows[e], warp_place(warp, from[e]), row);
    for (unsigned e = 0; e < op->vector; e++) {
        uint8_t *lanes = warp_place(warp, to[e]);
        EACH_LANE
        if (mask >> i & 1) memcpy(lanes + i * width_bytes, rows[e] + i * width_bytes, width_bytes);
    }
}

op_handler *move_find(const struct op *op) {
    static op_handler *const movs[] = {mov_u16, mov_u16, mov_u32, mov_u64, mov_u128};
    switch (op->operation) {
    case OPERATION_mov: return movs[type_size_log2(op->element)];
    case OPERATION_mov_vector: return move_elements;
    case OPERATION_pack: return pack;
    case OPERATION_unpack: return unpack;
    default: return NULL;
    }
}
