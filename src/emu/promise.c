/* Checks the promise of a load marked read-only: the kernel does not write what it loads. Each 128-byte line records
 * during a kernel whether it was loaded that way and whether it was written; a line with both, in any order, is a
 * violation. The granularity is the line because caches replicate lines: two data structures that share one line also
 * violate the promise. Checked only when a trace is recorded, since the mark is for the trace.
 *
 * "Selective Replication in Memory-Side GPU Caches" (section III-A) relies on its compiler, which cannot detect that
 * two parameters point to the same memory. */
#include "emu/cta.h"

#include <inttypes.h>

enum { LINE_LOADED = 1, LINE_WRITTEN = 2, LINE_VIOLATED = LINE_LOADED | LINE_WRITTEN };

static void violation_note(struct run *run, const struct op *op, uint64_t line, bool load) {
    struct emu_counts *counts = &run->counts;
    if (counts->read_only_violations++) return;
    error_set(&counts->violation, "%.200s: line %u of kernel `%.80s` %s the line at 0x%" PRIx64 ", which it %s",
              run->loaded->module->file, op->line, run->kernel->function->name,
              load ? "loads as read-only from" : "writes to", line, load ? "has written" : "has loaded as read-only");
}

void promise_note(struct warp_state *w, const struct op *op, const struct instr *record) {
    bool load = record->op == OP_load;
    uint8_t mark = load ? LINE_LOADED : LINE_WRITTEN;
    enum { LINE_BYTES = 1 << MEMORY_LINE_LOG2, LINE_SECTORS = LINE_BYTES / 32 };
    if (record->space != SPACE_GLOBAL || (load && !(record->flags & INSTR_READ_ONLY))) return;
    const struct allocation *in = NULL; /* of the previous line */
    for (unsigned i = 0; i < record->count; i++) {
        uint64_t line = touch_address(w->note.touch[i]);
        for (unsigned sectors = touch_sectors(w->note.touch[i]); sectors;
             sectors >>= LINE_SECTORS, line += LINE_BYTES) {
            if (!(sectors & low_mask(LINE_SECTORS))) continue;
            if (!in || line - in->address >= in->size_bytes) in = memory_marked(&w->run->device->memory, line);
            uint8_t *marks = in ? memory_mark(in, line) : NULL;
            if (!marks || (*marks & mark)) continue;
            *marks |= mark;
            if (*marks == LINE_VIOLATED) violation_note(w->run, op, line, load);
        }
    }
}
