/* One instruction line of a kernel file:
 *
 *     [line number] PC mask ndst [R...] opcode nsrc [R...] width [mode addresses...] [immediate]
 *
 * PC and mask are hexadecimal without a prefix. A width other than 0 announces the addresses of the active lanes:
 *     mode 0  one for each
 *     mode 1  that of the first, and the distance between one and the next
 *     mode 2  that of the first, and the difference of each following one from the one before it, so that one active
 *             lane has none; writers use this mode for single lanes
 * Lines of version 3 and 4 have no immediate. Lines of version 5 may lack it if they have no addresses: after addresses, a
 * line without it cannot be distinguished from one that lacks an address. */
#ifndef SLUICE_SASS_LINE_H
#define SLUICE_SASS_LINE_H

#include "sass/input.h"
#include "stream/stream.h"

enum {
    SASS_REGISTERS = 16,     /* in one list of a line; 8 is the most in known traces */
    SASS_NO_REGISTER = 0xFF, /* RZ, and uniform registers, whose dependences are not tracked */
    SASS_ADDRESS_BITS = 57,  /* virtual addresses of the newest GPUs */
};

struct sass_line {
    uint64_t pc;
    uint32_t mask;
    uint8_t dst_count, src_count;
    uint8_t dst[SASS_REGISTERS], src[SASS_REGISTERS]; /* SASS_NO_REGISTER: none */
    struct sass_text opcode;
    bool has_addresses;
    uint64_t address[WARP_LANES]; /* of active lanes; others have the address of an active one (stream/touch.h) */
    uint64_t immediate;           /* 0 if there is none */
};

/* What is wrong with a line, and where. */
struct sass_problem {
    unsigned column;
    char text[160];
};

/* The opcode of the line, without a check of what surrounds it; false if it has none. */
bool sass_line_opcode(struct sass_text text, bool line_info, struct sass_text *opcode);
bool sass_line_read(struct sass_text text, unsigned version, bool line_info, struct sass_line *line,
                    struct sass_problem *problem);

#endif
