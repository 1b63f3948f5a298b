/* Loops over 32 lanes: a branch-free loop from the operands' places into a local array, which the compiler vectorises,
 * then one store of the whole array, or a blend if some lanes are inactive. The macros below generate such a handler
 * from one expression in a, b, c, d (the lane's operands). */
#ifndef SLUICE_EMU_LANES_H
#define SLUICE_EMU_LANES_H

#include <string.h>

#include "emu/warp.h"

/* Elements, named as in PTX, with the unsigned type of their size and the type twice as wide. */
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef float f32;
typedef double f64;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

#define HANDLER(name) static void name(struct warp *warp, const struct op *op, uint32_t mask)
#define EACH_LANE     for (unsigned i = 0; i < WARP_LANES; i++)

/* The lanes of operand `name`. Registers are untyped memory: the last writer may have used another type. */
#define LANES(T, name, place) \
    typedef T name##_element __attribute__((may_alias)); \
    const name##_element *name##_lanes = (const name##_element *)warp_place(warp, place)

/* Stores an array of 32 values in a place, for the lanes in `mask`. */
#define LANES_STORE(T, place, values) \
    do { \
        typedef T stored_element __attribute__((may_alias)); \
        stored_element *stored = (stored_element *)warp_place(warp, place); \
        if (LIKELY(mask == UINT32_MAX)) \
            memcpy(stored, values, sizeof(T) * WARP_LANES); \
        else \
            EACH_LANE stored[i] = mask >> i & 1 ? (values)[i] : stored[i]; \
    } while (0)

/* Handlers of one to four operands: name, type of the result, types of the operands, expression. */
#define UNARY(name, D, A, ...) \
    HANDLER(name) { \
        LANES(A, a, op->a); \
        D result[WARP_LANES]; \
        EACH_LANE { \
            const A a = a_lanes[i]; \
            result[i] = (D)(__VA_ARGS__); \
        } \
        LANES_STORE(D, op->dst, result); \
    }
#define BINARY(name, D, A, B, ...) \
    HANDLER(name) { \
        LANES(A, a, op->a); \
        LANES(B, b, op->b); \
        D result[WARP_LANES]; \
        EACH_LANE { \
            const A a = a_lanes[i]; \
            const B b = b_lanes[i]; \
            result[i] = (D)(__VA_ARGS__); \
        } \
        LANES_STORE(D, op->dst, result); \
    }
#define TERNARY(name, D, A, B, C, ...) \
    HANDLER(name) { \
        LANES(A, a, op->a); \
        LANES(B, b, op->b); \
        LANES(C, c, op->c); \
        D result[WARP_LANES]; \
        EACH_LANE { \
            const A a = a_lanes[i]; \
            const B b = b_lanes[i]; \
            const C c = c_lanes[i]; \
            result[i] = (D)(__VA_ARGS__); \
        } \
        LANES_STORE(D, op->dst, result); \
    }
#define QUATERNARY(name, D, A, B, C, E, ...) \
    HANDLER(name) { \
        LANES(A, a, op->a); \
        LANES(B, b, op->b); \
        LANES(C, c, op->c); \
        LANES(E, d, op->d); \
        D result[WARP_LANES]; \
        EACH_LANE { \
            const A a = a_lanes[i]; \
            const B b = b_lanes[i]; \
            const C c = c_lanes[i]; \
            const E d = d_lanes[i]; \
            result[i] = (D)(__VA_ARGS__); \
        } \
        LANES_STORE(D, op->dst, result); \
    }

/* As above, with all operands of the result's type. */
#define UNARY_SAME(name, T, ...)   UNARY(name, T, T, __VA_ARGS__)
#define BINARY_SAME(name, T, ...)  BINARY(name, T, T, T, __VA_ARGS__)
#define TERNARY_SAME(name, T, ...) TERNARY(name, T, T, T, T, __VA_ARGS__)

/* A family is a list of X(operation, element, shape, arguments of the shape ...), expanded twice: to define the
 * handlers and to fill the family's table. */
typedef op_handler *op_table[PTX_TYPE_COUNT][OPERATION_COUNT];
#define DEFINE(operation, T, shape, ...) shape(operation##_of_##T, T, __VA_ARGS__)
#define ENTER(operation, T, ...)         [PTX_##T][OPERATION_##operation] = operation##_of_##T,

/* Each family's part of op_handler_find: NULL for operations of other families. */
typedef op_handler *op_finder(const struct op *op);
op_finder integer_find, carry_find, bits_find, video_find, compare_find, move_find, floating_find, minmax_find,
    approx_find, half_find, convert_find, convert_f8_find;

/* log2 of a type's size in bytes; predicates count as bytes. */
unsigned type_size_log2(enum ptx_type type);

/* Whether the mode is neither to nearest nor to an integer. */
static inline bool is_directed(enum rounding rounding) {
    return rounding == ROUND_RZ || rounding == ROUND_RM || rounding == ROUND_RP;
}
/* Runs `handler` with the host's rounding mode set to `rounding`, then restores round to nearest. */
void rounding_run(op_handler *handler, enum rounding rounding, struct warp *warp, const struct op *op, uint32_t mask);

#endif
