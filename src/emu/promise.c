/* The promise of a load that is marked read-only: the kernel does not write what it reads. Each line of 128 bytes
 * remembers, for as long as the kernel runs, whether it was loaded so and whether it was written; one with both, in
 * whatever order, is a violation. Lines are what a cache replicates: two data structures that share one break the
 * promise, too. Watched only where a trace is made, since that is where the mark goes.
 *
 * "Selective Replication in Memory-Side GPU Caches" (section III-A) trusts its compiler, which cannot see that two
 * parameters point to the same memory. */
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
    for (unsigned i = 0; i < record->count; i++) {
        uint64_t line = touch_address(w->note.touch[i]);
        for (unsigned sectors = touch_sectors(w->note.touch[i]); sectors;
             sectors >>= LINE_SECTORS, line += LINE_BYTES) {
            uint8_t *marks = sectors & low_mask(LINE_SECTORS) ? memory_mark(&w->run->device->memory, line) : NULL;
            if (!marks || (*marks & mark)) continue;
            *marks |= mark;
            if (*marks == LINE_VIOLATED) violation_note(w->run, op, line, load);
        }
    }
}
