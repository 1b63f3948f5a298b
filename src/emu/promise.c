/* Checks the promise of a load marked read-only: the kernel does not write what it loads. Each 128-byte line records
 * during a kernel whether it was loaded that way and whether it was written; a line with both, in any order, is a
 * violation. The granularity is the line because caches replicate lines: two data structures that share one line also
 * violate the promise. Checked only when a trace is recorded, since the mark is for the trace.
 *
 * "Selective Replication in Memory-Side GPU Caches" (section III-A) relies on its compiler, which cannot detect that
 * two parameters point to the same memory. */
#include "emu/cta.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE_LOADED = 1, LINE_WRITTEN = 2, LINE_VIOLATED = LINE_LOADED | LINE_WRITTEN };
enum { BLOCK_LINES = TOUCH_BLOCK_BYTES / MEMORY_LINE_BYTES, LINE_SECTORS = MEMORY_LINE_BYTES / 32 };
_Static_assert(BLOCK_LINES == 2, "the marks of a block are two bytes");

/* The kernel parameters that point into the allocation: "; it is in the buffer of `a`, `b`". */
static void pointers_text(const struct run *run, const struct allocation *in, char *text, size_t room) {
    struct program_parameter parameter;
    unsigned found = 0;
    size_t used = 0;
    *text = 0;
    for (unsigned i = 0; program_parameter(run->loaded->program, run->kernel->function, i, &parameter); i++) {
        uint64_t value = 0;
        if (parameter.size_bytes != sizeof value) continue;
        memcpy(&value, run->launch->parameters + parameter.offset, sizeof value);
        if (value - in->address >= in->size_bytes || used >= room) continue;
        used += (size_t)snprintf(text + used, room - used, "%s `%.80s`", found++ ? "," : "; it is in the buffer of",
                                 parameter.name);
    }
}

static void violation_note(struct run *run, const struct op *op, const struct allocation *in, uint64_t line,
                           bool load) {
    struct emu_counts *counts = &run->counts;
    if (counts->read_only_violations++) return;
    char pointers[400];
    pointers_text(run, in, pointers, sizeof pointers);
    error_set(&counts->violation, "%.200s: line %u of kernel `%.80s` %s the line at 0x%" PRIx64 ", which it %s%s",
              run->loaded->module->file, op->line, run->kernel->function->name,
              load ? "loads as read-only from" : "writes to", line, load ? "has written" : "has loaded as read-only",
              pointers);
}

/* Marks the lines of one block; returns the allocation of the last one. */
static NEVER_INLINE const struct allocation *block_mark(struct warp_state *w, const struct op *op, uint64_t touch,
                                                        bool load) {
    uint8_t mark = load ? LINE_LOADED : LINE_WRITTEN;
    const struct allocation *in = NULL;
    for (unsigned i = 0; i < BLOCK_LINES; i++) {
        uint64_t line = touch_address(touch) + i * MEMORY_LINE_BYTES;
        if (!((uint64_t)touch_sectors(touch) >> i * LINE_SECTORS & low_mask(LINE_SECTORS))) continue;
        in = memory_marked(&w->run->device->memory, line, op->instr);
        uint8_t *marks = in ? memory_mark(in, line) : NULL;
        if (!marks || (*marks & mark)) continue;
        *marks |= mark;
        if (*marks == LINE_VIOLATED) violation_note(w->run, op, in, line, load);
    }
    return in;
}

/* The blocks that are inside an allocation with marks. */
struct inside {
    uint64_t first, room, line; /* a block less than `room` bytes after `first`; number of the first line */
    const uint8_t *marks;
};
static ALWAYS_INLINE struct inside inside_of(const struct allocation *in) {
    if (UNLIKELY(!in || !in->marks || in->size_bytes < TOUCH_BLOCK_BYTES)) return (struct inside){0};
    return (struct inside){in->address, in->size_bytes - TOUCH_BLOCK_BYTES + 1, in->address >> MEMORY_LINE_LOG2,
                           in->marks};
}

void promise_note(struct warp_state *w, const struct op *op, const struct instr *record) {
    bool load = record->op == OP_load;
    if (record->space != SPACE_GLOBAL || (load && !(record->flags & INSTR_READ_ONLY))) return;
    const unsigned low = load ? LINE_LOADED : LINE_WRITTEN, high = low << 8;
    const uint64_t *touch = w->note.touch, *end = touch + record->count;
    struct inside in = inside_of(memory_find_again(&w->run->device->memory, touch_address(*touch), op->instr));
    for (; touch < end; touch++) {
        uint64_t block = touch_address(*touch);
        /* Most lines have been marked before, in the same allocation. */
        if (LIKELY(block - in.first < in.room)) {
            uint16_t marks;
            memcpy(&marks, in.marks + ((block >> MEMORY_LINE_LOG2) - in.line), sizeof marks);
            if (LIKELY((marks & (low | high)) == (low | high))) continue;
            unsigned wanted = (*touch & low_mask(LINE_SECTORS) ? low : 0) |
                              (*touch & low_mask(LINE_SECTORS) << LINE_SECTORS ? high : 0);
            if (LIKELY(!(wanted & ~(unsigned)marks))) continue;
        }
        in = inside_of(block_mark(w, op, *touch, load));
    }
}
