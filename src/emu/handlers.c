/* Finds the handler of a register operation: asks each family. */
#include <fenv.h>

#include "emu/lanes.h"

unsigned type_size_log2(enum ptx_type type) {
    static const uint8_t bits[PTX_TYPE_COUNT] = {
#define X(name, bits, kind) [PTX_##name] = bits,
#include "ptx/types.def"
#undef X
    };
    return log2_floor((bits[type] + 7u) / 8);
}

op_handler *op_handler_find(const struct op *op) {
    static op_finder *const families[] = {integer_find, carry_find, bits_find,     video_find,
                                          compare_find, move_find,  floating_find, minmax_find,
                                          approx_find,  half_find,  convert_find,  convert_f8_find};
    for (size_t i = 0; i < COUNT_OF(families); i++) {
        op_handler *handler = families[i](op);
        if (handler) return handler;
    }
    return NULL;
}

/* Calls that the compiler cannot see through, so that it moves no arithmetic of a handler across them. */
void rounding_run(op_handler *handler, enum rounding rounding, struct warp *warp, const struct op *op, uint32_t mask) {
    static const int host[] = {[ROUND_RZ] = FE_TOWARDZERO, [ROUND_RM] = FE_DOWNWARD, [ROUND_RP] = FE_UPWARD};
    assert(is_directed(rounding));
    fesetround(host[rounding]);
    handler(warp, op, mask);
    fesetround(FE_TONEAREST);
}
