/* Arithmetic with the condition code, PTX ISA 9.7.2: add.cc, addc, sub.cc, subc, mad.cc, madc on 32 and 64 bits. The
 * flag is one bit per lane in warp->carry. After a subtraction it is the borrow, which subc consumes. */
#include "emu/lanes.h"

enum { ADD, SUB };

/* (a op b) with the flag in and out as given by the modifiers; W is the unsigned type twice as wide as U. */
#define CHAIN(U, W, direction, expression_a, expression_b) \
    do { \
        const u32 in = op->modifiers & MOD_CC_IN ? warp->carry : 0; \
        U result[WARP_LANES]; \
        u32 out = 0; \
        EACH_LANE { \
            const W x = (U)(expression_a), y = (U)(expression_b), flag = in >> i & 1; \
            const W r = direction == ADD ? x + y + flag : x - y - flag; \
            result[i] = (U)r; \
            out |= (u32)(r >> (8 * sizeof(U)) & 1) << i; \
        } \
        if (op->modifiers & MOD_CC_OUT) warp->carry = (warp->carry & ~mask) | (out & mask); \
        LANES_STORE(U, op->dst, result); \
    } while (0)

/* T: the element, U: unsigned of its size, W: unsigned twice as wide, P: the type for products. */
#define CHAIN_ADD(name, T, U, W, direction) \
    HANDLER(name) { \
        LANES(U, a, op->a); \
        LANES(U, b, op->b); \
        CHAIN(U, W, direction, a_lanes[i], b_lanes[i]); \
    }
#define CHAIN_MAD(name, T, U, W, P, shift) \
    HANDLER(name) { \
        LANES(T, a, op->a); \
        LANES(T, b, op->b); \
        LANES(U, c, op->c); \
        CHAIN(U, W, ADD, ((P)a_lanes[i] * (P)b_lanes[i]) >> (shift), c_lanes[i]); \
    }
#define CHAINS(X, T, U, W, P) \
    X(add, T, CHAIN_ADD, U, W, ADD) \
    X(sub, T, CHAIN_ADD, U, W, SUB) \
    X(mad_lo, T, CHAIN_MAD, U, W, P, 0) \
    X(mad_hi, T, CHAIN_MAD, U, W, P, 8 * sizeof(T))

CHAINS(DEFINE, u32, u32, u64, u64)
CHAINS(DEFINE, s32, u32, u64, s64)
CHAINS(DEFINE, u64, u64, u128, u128)
CHAINS(DEFINE, s64, u64, u128, s128)

static const op_table table = {CHAINS(ENTER, u32, u32, u64, u64) CHAINS(ENTER, s32, u32, u64, s64)
                                   CHAINS(ENTER, u64, u64, u128, u128) CHAINS(ENTER, s64, u64, u128, s128)};

op_handler *carry_find(const struct op *op) {
    return op->modifiers & (MOD_CC_IN | MOD_CC_OUT) ? table[op->element][op->operation] : NULL;
}
