/* Properties of every register operation. */
#include <stdio.h>

#include "emu/alu.h"

/* The operations with a handler in op_handler_find. */
static bool is_register_operation(enum operation operation) {
    return operation != OPERATION_mov_frame && operation <= OPERATION_cvt_pack;
}

static void fill(struct alu *alu, uint64_t *random) {
    alu_init(alu);
    for (size_t i = 0; i < sizeof alu->registers / 8; i++) {
        const uint64_t word = random_next(random);
        memcpy((uint8_t *)alu->registers + 8 * i, &word, 8);
    }
    for (size_t i = 1; i < COUNT_OF(alu->predicates); i++) alu->predicates[i] = (uint32_t)random_next(random);
    for (size_t i = 0; i < COUNT_OF(alu->elements); i++) alu->elements[i] = alu_place(ALU_E + 1 + (unsigned)i);
    alu->warp.carry = (uint32_t)random_next(random);
}

static bool same(const struct alu *x, const struct alu *y) {
    return memcmp(x->registers, y->registers, sizeof x->registers) == 0 &&
           memcmp(x->predicates, y->predicates, sizeof x->predicates) == 0 && x->warp.carry == y->warp.carry;
}
static void copy(struct alu *to, const struct alu *from) {
    *to = *from;
    to->warp.base[PLACE_REGISTER] = to->registers[0];
    to->warp.predicates = to->predicates;
    to->warp.elements = to->elements;
}

/* Calls `body` for every operation and element with a handler, with one choice of the other fields. */
static unsigned each_operation(uint64_t *random, bool (*body)(op_handler *, const struct op *, uint64_t *)) {
    static const uint32_t modifiers[] = {0,
                                         MOD_FTZ,
                                         MOD_SAT,
                                         MOD_FTZ | MOD_SAT,
                                         MOD_CC_OUT,
                                         MOD_CC_IN | MOD_CC_OUT,
                                         MOD_APPROX,
                                         MOD_APPROX | MOD_FTZ,
                                         MOD_FULL,
                                         MOD_WRAP,
                                         MOD_NAN_WINS,
                                         MOD_RELU};
    unsigned tried = 0;
    for (unsigned operation = 0; operation <= OPERATION_cvt_pack; operation++)
        for (unsigned element = 0; element < PTX_TYPE_COUNT; element++)
            for (size_t m = 0; m < COUNT_OF(modifiers); m++) {
                struct op op = alu_op(operation, element);
                op.modifiers = modifiers[m];
                op.source = (uint8_t)(operation == OPERATION_cvt ? random_below(random, PTX_TYPE_COUNT) : PTX_s32);
                op.rounding = (uint8_t)random_below(random, ROUND_RP + 1);
                op.compare = (uint8_t)random_below(random, 6); /* every kind has at least six */
                op.vector = 2;
                op.immediate = (int64_t)random_next(random);
                if (!is_register_operation(operation)) continue;
                if ((operation == OPERATION_pack || operation == OPERATION_unpack) &&
                    (element < PTX_b32 || element > PTX_b128))
                    continue;
                op_handler *handler = op_handler_find(&op);
                if (!handler) continue;
                tried++;
                if (!body(handler, &op, random))
                    printf("    operation %u of type %u, modifiers %#x\n", operation, element, op.modifiers);
            }
    return tried;
}

static bool mask_parts(op_handler *handler, const struct op *op, uint64_t *random) {
    static struct alu whole, parts, none, start;
    fill(&start, random);
    const uint32_t mask = (uint32_t)random_next(random);
    copy(&whole, &start);
    handler(&whole.warp, op, UINT32_MAX);
    copy(&none, &start);
    handler(&none.warp, op, 0);
    copy(&parts, &start);
    handler(&parts.warp, op, mask);
    handler(&parts.warp, op, ~mask);
    const bool nothing = CHECK(same(&none, &start)), everything = CHECK(same(&parts, &whole));
    return nothing && everything;
}
TEST("lanes are independent: executing some lanes and then the others equals executing all") {
    uint64_t random = 5;
    CHECK(each_operation(&random, mask_parts) > 500);
}

/* The bytes of an inactive lane in the result register do not change. */
static bool single_lane(op_handler *handler, const struct op *op, uint64_t *random) {
    static struct alu all, one, start;
    fill(&start, random);
    copy(&all, &start);
    for (unsigned i = 0; i < ALU_REGISTER_BYTES; i++) all.registers[ALU_D][i] = (uint8_t)~start.registers[ALU_D][i];
    handler(&all.warp, op, UINT32_MAX);
    copy(&one, &start);
    handler(&one.warp, op, UINT32_MAX);
    unsigned written = 0; /* bytes independent of the previous contents */
    for (unsigned i = 0; i < ALU_REGISTER_BYTES; i++) written += all.registers[ALU_D][i] == one.registers[ALU_D][i];
    if (written == 0) return true; /* a predicate or elements */
    const unsigned lane = (unsigned)random_below(random, WARP_LANES), width = written / WARP_LANES;
    copy(&one, &start);
    handler(&one.warp, op, UINT32_C(1) << lane);
    bool holds = written % WARP_LANES == 0;
    for (unsigned i = 0; i < ALU_REGISTER_BYTES; i++)
        if (i / width != lane) holds &= one.registers[ALU_D][i] == start.registers[ALU_D][i];
    return CHECK(holds);
}
TEST("the result bytes of an inactive lane do not change") {
    uint64_t random = 6;
    CHECK(each_operation(&random, single_lane) > 500);
}

static bool onto_operand(op_handler *handler, const struct op *op, uint64_t *random) {
    static struct alu apart, onto;
    fill(&apart, random);
    copy(&onto, &apart);
    handler(&apart.warp, op, UINT32_MAX);
    struct op aliased = *op;
    aliased.dst = op->a;
    handler(&onto.warp, &aliased, UINT32_MAX);
    if (op->operation == OPERATION_unpack || op->operation == OPERATION_mov_vector)
        return true; /* its results are elements */
    const unsigned a = op->a >> 1, d = op->dst >> 1;
    unsigned bytes = 0;
    while (bytes < ALU_REGISTER_BYTES && onto.registers[ALU_A][bytes] == apart.registers[ALU_D][bytes]) bytes++;
    return CHECK(bytes >= 2 * WARP_LANES || onto.predicates[a] == apart.predicates[d]);
}
TEST("the destination may be the first operand") {
    uint64_t random = 7;
    CHECK(each_operation(&random, onto_operand) > 500);
}
