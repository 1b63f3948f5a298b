/* Kernels written out step by step: a stream source whose warps do what an array says.
 *
 *     struct step steps[] = {load_line(1, 0x1000), alu(OP_int_add, 2, 1)};
 *     struct script_source source = script_make(1, 1, SCRIPT(steps));
 *
 * An exit follows the last step. A record's id is its place in its script. With `chunk` 1 a warp asks for every record
 * by itself, which it does in the cycle in which the one before issues: so the source can note when each step issued
 * (`clock`, script_issued).
 */
#ifndef SLUICE_TESTS_SM_SCRIPT_H
#define SLUICE_TESTS_SM_SCRIPT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/stream.h"
#include "test.h"

enum { SCRIPT_WARPS = 256, SCRIPT_LOG = 8192 };

struct step {
    struct instr instr;
    uint64_t touch[32];
};

struct script {
    const struct step *steps;
    unsigned count;
};

struct script_source {
    struct stream_source source;
    struct kernel kernel;
    unsigned kernels, launched;         /* the same kernel, repeated */
    const uint32_t *ids;                /* of the records, if not their places in the script */
    struct script script[SCRIPT_WARPS]; /* by warp of the grid; the last of them serves all that follow */
    unsigned scripts;
    unsigned chunk; /* records handed out at a time */
    bool pauses;    /* after each barrier */
    const uint64_t *clock;
    struct script_issue {
        uint64_t cycle, cta;
        uint32_t warp, index;
    } * log;
    unsigned logged;
};

static inline const struct script *script_of(const struct script_source *source, const struct warp_stream *warp) {
    uint64_t index = warp->cta * kernel_warps(&source->kernel) + warp->warp;
    return &source->script[index < source->scripts ? index : source->scripts - 1];
}

static inline bool script_next_kernel(struct stream_source *base, struct kernel *kernel) {
    struct script_source *source = (struct script_source *)base;
    if (source->launched == source->kernels) return false;
    source->launched++;
    *kernel = source->kernel;
    for (unsigned i = 0; i < source->scripts; i++)
        for (unsigned s = 0; s < source->script[i].count; s++)
            kernel->atomics |= instr_any_atomic(&source->script[i].steps[s].instr, 1);
    return true;
}

static inline void script_open(struct stream_source *base, struct warp_stream *warp) {
    (void)base;
    warp->count = 0;
    memset(warp->state, 0, sizeof warp->state);
}

static inline void script_note(struct script_source *source, const struct warp_stream *warp, uint32_t index) {
    if (!source->clock || source->logged == SCRIPT_LOG) return;
    source->log[source->logged++] = (struct script_issue){*source->clock, warp->cta, warp->warp, index};
}

static inline void script_refill(struct stream_source *base, struct warp_stream *warp) {
    struct script_source *source = (struct script_source *)base;
    const struct script *script = script_of(source, warp);
    uint64_t next = warp->state[0];
    unsigned touches = 0;
    if (source->chunk == 1 && next > 0) script_note(source, warp, (uint32_t)next - 1);
    warp->count = 0;
    while (warp->count < source->chunk && next <= script->count) {
        struct instr *record = &warp->instr[warp->count];
        if (next == script->count) {
            *record = (struct instr){.op = OP_exit, .active = UINT32_MAX, .conflicts = 1};
        } else {
            const struct step *step = &script->steps[next];
            bool memory = step->instr.op == OP_load || step->instr.op == OP_store || step->instr.op == OP_atomic;
            unsigned count = memory ? step->instr.count : 0;
            if (touches + count > STREAM_TOUCHES) break;
            *record = step->instr;
            record->touches = touches;
            memcpy(&warp->touch[touches], step->touch, count * sizeof *step->touch);
            touches += count;
        }
        record->id = source->ids && next < script->count ? source->ids[next] : (uint32_t)next;
        next++;
        warp->count++;
    }
    warp->state[0] = next;
    warp->pauses = source->pauses && warp->instr[warp->count - 1].op == OP_barrier;
}

static inline void script_restart(struct stream_source *base) { ((struct script_source *)base)->launched = 0; }

static inline const char *script_check(struct stream_source *base, struct error *found) {
    (void)base, (void)found;
    return "none";
}

static inline void script_destroy(struct stream_source *base) { (void)base; }

static const struct stream_ops script_ops = {
    .name = "script",
    .next_kernel = script_next_kernel,
    .open = script_open,
    .refill = script_refill,
    .restart = script_restart,
    .check = script_check,
    .destroy = script_destroy,
};

/* A grid of `ctas` CTAs of `warps` warps that all follow one script. */
static inline struct script_source script_make(unsigned ctas, unsigned warps, struct script script) {
    struct script_source source = {
        .source = {.ops = &script_ops},
        .kernel = {.name = "script", .grid = {ctas, 1, 1}, .block = {32 * warps, 1, 1}, .registers = 16},
        .kernels = 1,
        .script = {script},
        .scripts = 1,
        .chunk = STREAM_CHUNK,
    };
    return source;
}

/* The next warp of the grid, and all that follow, do this instead. */
static inline void script_add(struct script_source *source, struct script script) {
    REQUIRE(source->scripts < SCRIPT_WARPS);
    source->script[source->scripts++] = script;
}
#define SCRIPT(steps) ((struct script){steps, sizeof(steps) / sizeof((steps)[0])})

/* The cycle in which step `index` of a warp issued. */
static inline uint64_t script_issued(const struct script_source *source, uint64_t cta, uint32_t warp, uint32_t index) {
    for (unsigned i = 0; i < source->logged; i++) {
        const struct script_issue *issue = &source->log[i];
        if (issue->cta == cta && issue->warp == warp && issue->index == index) return issue->cycle;
    }
    printf("step %u of warp %u of CTA %llu has not issued\n", index, warp, (unsigned long long)cta);
    REQUIRE(!"the step has issued");
    return 0;
}

/* Steps. Registers: 0 is none. */

static inline struct step step_of(enum op_class op, uint8_t dst, uint8_t first, uint8_t second) {
    return (struct step){.instr = {.op = (uint8_t)op,
                                   .active = UINT32_MAX,
                                   .conflicts = 1,
                                   .bytes_log2 = 2,
                                   .dst = {dst},
                                   .src = {first, second}}};
}

static inline struct step alu(enum op_class op, uint8_t dst, uint8_t src) { return step_of(op, dst, src, 0); }

static inline struct step memory_step(enum op_class op, enum memory_space space, uint8_t reg, uint64_t address,
                                      uint8_t sectors) {
    bool reads = op != OP_store;
    struct step step = step_of(op, reads ? reg : 0, reads ? 0 : reg, 0);
    step.instr.space = (uint8_t)space;
    step.instr.count = 1;
    step.touch[0] = touch_make(address, sectors);
    return step;
}

/* The four sectors of the 128 B line at `address`. */
static inline uint8_t line_sectors(uint64_t address) { return (uint8_t)(0x0F << (address % 256 / 32)); }

static inline struct step load_line(uint8_t dst, uint64_t address) {
    return memory_step(OP_load, SPACE_GLOBAL, dst, address, line_sectors(address));
}
static inline struct step store_line(uint8_t src, uint64_t address) {
    return memory_step(OP_store, SPACE_GLOBAL, src, address, line_sectors(address));
}
static inline struct step load_local(uint8_t dst, uint64_t address) {
    return memory_step(OP_load, SPACE_LOCAL, dst, address, line_sectors(address));
}
static inline struct step store_local(uint8_t src, uint64_t address) {
    return memory_step(OP_store, SPACE_LOCAL, src, address, line_sectors(address));
}
static inline struct step load_constant(uint8_t dst, uint64_t address) {
    return memory_step(OP_load, SPACE_CONST, dst, address, (uint8_t)(1 << (address % 256 / 32)));
}
static inline struct step load_noncoherent(uint8_t dst, uint64_t address) {
    struct step step = load_line(dst, address);
    step.instr.flags = INSTR_READ_ONLY | INSTR_NONCOHERENT;
    return step;
}
static inline struct step load_past_l1(uint8_t dst, uint64_t address, uint8_t sectors) {
    struct step step = memory_step(OP_load, SPACE_GLOBAL, dst, address, sectors);
    step.instr.cache = CACHE_GLOBAL;
    return step;
}
static inline struct step atomic_on(uint8_t dst, uint64_t address, uint8_t conflicts) {
    struct step step = memory_step(OP_atomic, SPACE_GLOBAL, dst, address, (uint8_t)(1 << (address % 256 / 32)));
    step.instr.conflicts = conflicts;
    return step;
}

static inline struct step load_shared(uint8_t dst, uint8_t conflicts) {
    struct step step = step_of(OP_load, dst, 0, 0);
    step.instr.space = SPACE_SHARED;
    step.instr.conflicts = conflicts;
    return step;
}
static inline struct step store_shared(uint8_t src, uint8_t conflicts) {
    struct step step = step_of(OP_store, 0, src, 0);
    step.instr.space = SPACE_SHARED;
    step.instr.conflicts = conflicts;
    return step;
}

/* `warps` 0: all of the CTA. */
static inline struct step barrier(uint8_t id, uint16_t warps) {
    struct step step = step_of(OP_barrier, 0, 0, 0);
    step.instr.barrier = id;
    step.instr.count = warps;
    return step;
}
static inline struct step barrier_arrive(uint8_t id, uint16_t warps) {
    struct step step = barrier(id, warps);
    step.instr.flags = INSTR_ARRIVE;
    return step;
}
static inline struct step fence(void) { return step_of(OP_fence, 0, 0, 0); }

/* A copy of a line to shared memory in `passes` over the banks; one that bypasses the L1. */
static inline struct step copy_line(uint64_t address, uint8_t passes) {
    struct step step = load_line(0, address);
    step.instr.flags = INSTR_ASYNC;
    step.instr.conflicts = passes;
    return step;
}
static inline struct step copy_past_l1(uint64_t address, uint8_t passes) {
    struct step step = copy_line(address, passes);
    step.instr.cache = CACHE_GLOBAL;
    return step;
}
/* Arrives on an mbarrier when the warp's earlier copies are complete. */
static inline struct step copies_arrive(uint8_t id) {
    struct step step = copy_line(0, 1);
    step.instr.flags |= INSTR_ARRIVE;
    step.instr.count = 0;
    step.instr.barrier = id;
    return step;
}
/* Waits for all but the latest `latest` copies; for bulk stores with INSTR_BULK, or their sources with INSTR_SOURCE. */
static inline struct step copies_wait(uint16_t latest, uint8_t flags) {
    struct step step = fence();
    step.instr.flags = INSTR_ASYNC | flags;
    step.instr.count = latest;
    return step;
}
/* A bulk copy of up to 64 lines: to shared memory, where it completes on an mbarrier, or to global memory. */
static inline struct step bulk_of(enum op_class op, uint64_t address, unsigned lines, uint8_t id) {
    struct step step = memory_step(op, SPACE_GLOBAL, 0, address, 0xFF);
    step.instr.flags = INSTR_ASYNC | INSTR_BULK;
    step.instr.cache = op == OP_load ? CACHE_GLOBAL : CACHE_DEFAULT;
    step.instr.barrier = id;
    step.instr.count = (uint16_t)((lines + 1) / 2);
    for (unsigned i = 0; i < step.instr.count; i++)
        step.touch[i] = touch_make(address + i * UINT64_C(256), 2 * i + 1 < lines ? 0xFF : 0x0F);
    return step;
}
static inline struct step bulk_load(uint64_t address, unsigned lines, uint8_t id) {
    return bulk_of(OP_load, address, lines, id);
}
static inline struct step bulk_store(uint64_t address, unsigned lines) { return bulk_of(OP_store, address, lines, 0); }
static inline struct step bulk_send(unsigned passes, uint8_t id) {
    struct step step = step_of(OP_store, 0, 0, 0);
    step.instr.space = SPACE_SHARED;
    step.instr.flags = INSTR_ASYNC | INSTR_BULK;
    step.instr.conflicts = (uint8_t)passes;
    step.instr.barrier = id;
    return step;
}
/* The mbarrier of the copy or arrival is in the CTA of a rank. */
static inline struct step step_to_rank(struct step step, unsigned rank) {
    step.instr.flags |= INSTR_CLUSTER;
    step.instr.updates = (uint8_t)rank;
    return step;
}
static inline struct step mbarrier_arrive(uint8_t id) {
    struct step step = step_of(OP_barrier, 0, 0, 0);
    step.instr.flags = INSTR_ASYNC | INSTR_ARRIVE;
    step.instr.barrier = id;
    return step;
}
static inline struct step mbarrier_wait(uint8_t id, uint32_t updates) {
    struct step step = step_of(OP_barrier, 0, 0, 0);
    step.instr.flags = INSTR_ASYNC;
    step.instr.barrier = id;
    instr_set_updates(&step.instr, updates);
    return step;
}

#endif
