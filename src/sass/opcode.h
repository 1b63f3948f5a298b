/* What an opcode with its suffixes means for timing: "LDG.E.64.CONSTANT" is a load of 8 bytes per lane through the
 * read-only cache. Opcodes of a trace are decoded once and then found by their text. */
#ifndef SLUICE_SASS_OPCODE_H
#define SLUICE_SASS_OPCODE_H

#include "sass/input.h"
#include "stream/stream.h"

enum sass_role {
    SASS_UNKNOWN, /* an access, if the line has addresses */
    SASS_PLAIN,
    SASS_DOUBLE, /* results in two registers */
    SASS_EXIT,
    SASS_BARRIER,
    SASS_GLOBAL, /* accesses, by the space of their addresses */
    SASS_GENERIC,
    SASS_LOCAL,
    SASS_SHARED,
    SASS_CONST,
    SASS_TEXTURE,
    SASS_MATRIX, /* rows of 8 x 8 matrices in shared memory, one for each of the lowest lanes */
    SASS_COPY,   /* asynchronous, from global to shared memory */
    SASS_COMMIT, /* ends a group of copies */
    SASS_WAIT,   /* for groups of copies, or for another scoreboard */
    SASS_TENSOR,
    SASS_BULK_WRITE, /* by the bulk copy unit, at addresses that are not in a trace */
};

enum { SASS_OPCODES = 1 << 14 };

struct sass_opcode {
    char *text;
    uint32_t hash;
    enum sass_role role;
    uint8_t op;             /* enum op_class */
    uint8_t timed;          /* OP_TIMED_SP ... if its latency or pipeline is not that of the class; else 0 */
    int8_t added_cycles;    /* its latency minus that of the class */
    uint8_t cycles;         /* its published latency in the architecture of the trace; 0: that of the class */
    uint8_t cache;          /* enum cache_operator */
    uint8_t flags;          /* INSTR_READ_ONLY, INSTR_NONCOHERENT, INSTR_ARRIVE */
    uint8_t bytes;          /* of one lane's access */
    uint8_t format;         /* enum tensor_format */
    uint8_t results;        /* consecutive registers that a destination names */
    bool wide_address;      /* the first source names two */
    uint32_t lanes;         /* that supply addresses */
    uint32_t multiply_adds; /* of one warp */
    uint64_t count;         /* of lines with it */
};

/* The opcodes of a trace. */
struct sass_opcodes {
    struct sass_opcode *row;
    unsigned count, room;
    uint32_t *slot; /* hash table of rows, from 1; 0: empty */
    uint32_t slots; /* a power of two */
    unsigned binary_version;
};

void sass_opcodes_start(struct sass_opcodes *opcodes, unsigned binary_version);
void sass_opcodes_release(struct sass_opcodes *opcodes);
/* The decoded opcode, valid until the next call; NULL if the trace has more than SASS_OPCODES different ones. */
struct sass_opcode *sass_opcodes_find(struct sass_opcodes *opcodes, struct sass_text text);

#endif
