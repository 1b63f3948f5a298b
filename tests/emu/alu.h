/* A warp for register operations: sixteen registers of the widest type, and enough predicates that a register's place
 * is also valid as a predicate. */
#ifndef SLUICE_TESTS_EMU_ALU_H
#define SLUICE_TESTS_EMU_ALU_H

#include <string.h>

#include "base/random.h"
#include "emu/warp.h"
#include "test.h"

enum { ALU_REGISTERS = 16, ALU_REGISTER_BYTES = 16 * WARP_LANES, ALU_D = 0, ALU_A, ALU_B, ALU_C, ALU_E };

struct alu {
    _Alignas(64) uint8_t registers[ALU_REGISTERS][ALU_REGISTER_BYTES];
    uint32_t predicates[ALU_REGISTERS * ALU_REGISTER_BYTES / 2], elements[8];
    struct warp warp;
};

static inline void alu_init(struct alu *alu) {
    memset(alu, 0, sizeof *alu);
    alu->predicates[0] = UINT32_MAX;
    alu->warp = (struct warp){
        .base = {alu->registers[0]}, .predicates = alu->predicates, .elements = alu->elements, .carry = 0};
}
static inline uint32_t alu_place(unsigned index) { return place_make(PLACE_REGISTER, index * ALU_REGISTER_BYTES); }
static inline void alu_set(struct alu *alu, unsigned index, unsigned bytes, unsigned lane, uint64_t value) {
    memcpy(alu->registers[index] + lane * bytes, &value, bytes);
}
static inline uint64_t alu_get(const struct alu *alu, unsigned index, unsigned bytes, unsigned lane) {
    uint64_t value = 0;
    memcpy(&value, alu->registers[index] + lane * bytes, bytes);
    return value;
}

/* An operation d = f(a, b, c, e) on those registers. */
static inline struct op alu_op(enum operation operation, enum ptx_type element) {
    return (struct op){.operation = (uint8_t)operation,
                       .element = (uint8_t)element,
                       .dst = alu_place(ALU_D),
                       .dst2 = PLACE_NONE,
                       .a = alu_place(ALU_A),
                       .b = alu_place(ALU_B),
                       .c = alu_place(ALU_C),
                       .d = alu_place(ALU_E)};
}
static inline bool alu_run(struct alu *alu, const struct op *op, uint32_t mask) {
    op_handler *handler = op_handler_find(op);
    if (handler) handler(&alu->warp, op, mask);
    return handler;
}

#endif
