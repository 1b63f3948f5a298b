/* From an instruction line to stream records.
 *
 * Dependences follow from the registers of the line: a destination of a wide load or of a double names several. Memory
 * instructions get their touched sectors by the code that the emulator uses (stream/touch.h). Local memory has areas of
 * SASS_LOCAL_BYTES per thread, since traces do not give its size.
 *
 * Simplifications: predicates are not in a trace and cause no waits. Only barrier 0 makes a warp wait, since the number
 * of threads of others is not in a trace. Of an asynchronous copy only the addresses in global memory are in it, so its
 * write to shared memory has no bank conflicts. */
#ifndef SLUICE_SASS_RECORD_H
#define SLUICE_SASS_RECORD_H

#include "sass/header.h"
#include "sass/line.h"
#include "sass/opcode.h"
#include "stream/touch.h"

enum {
    SASS_WINDOW_BYTES = 1 << 24, /* of generic addresses to shared and to local memory */
    /* An odd number of rows, so that areas of different warps begin in different cache sets. */
    SASS_LOCAL_BYTES = 16 * 1024 + 4,
    SASS_GROUPS = 64, /* of asynchronous copies that can be waited for */
};

/* What a warp's next record depends on. */
struct sass_warp {
    uint64_t cta;
    uint32_t index;   /* in the CTA */
    uint32_t live;    /* lanes that have not exited */
    uint32_t arrived; /* lanes that wait at the barrier; the warp arrives with the last */
    uint32_t copies, groups;
    uint32_t group_end[SASS_GROUPS]; /* copies issued when the group was committed */
};

struct sass_record {
    struct instr instr; /* without id */
    struct access_note note;
    uint32_t multiply_adds; /* of a tensor instruction that are left for further records */
};

/* Lanes of a warp that exist. */
uint32_t sass_warp_lanes(const struct kernel *kernel, uint32_t warp);
void sass_warp_start(struct sass_warp *warp, const struct kernel *kernel, uint64_t cta, uint32_t index);

/* Active lanes of an access that access global memory. */
uint32_t sass_global_lanes(const struct sass_header *header, const struct sass_line *line,
                           const struct sass_opcode *opcode);
/* The record of a line. `last`: no line of the warp follows, so that EXIT ends it. */
void sass_record_make(const struct sass_header *header, struct sass_warp *warp, const struct sass_line *line,
                      const struct sass_opcode *opcode, bool last, struct sass_record *record);
/* A tensor instruction with more multiply-adds than a record holds is several records, of which the last has its
 * registers: false after that. */
bool sass_record_next_part(struct sass_record *record, const struct sass_opcode *opcode, struct instr *part);

#endif
