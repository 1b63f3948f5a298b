/* The stream: what runs, as the machine sees it. A front end produces, for every warp of every CTA of every kernel, a
 * sequence of `struct instr`; the machine consumes it and knows nothing of where it came from. A record carries what
 * timing needs and no more.
 *
 * Contract of a source:
 *   1. What a warp's stream holds depends on the program and its launch only, never on when, in what order or how far
 *      ahead it is read.
 *   2. A warp's last record is OP_exit.
 *   3. A source can be restarted and then gives the same streams.
 *
 * Buffers are bounded: a warp holds at most STREAM_CHUNK records, and asks for more when it has used them.
 */
#ifndef SLUICE_STREAM_STREAM_H
#define SLUICE_STREAM_STREAM_H

#include "base/base.h"
#include "base/error.h"

/* Operation classes, with the pipeline each one uses by default: name, unit, latency and initiation interval in cycles
 * (GPGPU-Sim 3.2.2's GTX480, which all four papers build on), help. The machine's description may change the timings
 * (sm.op_NAME). */
/* clang-format off */
#define OP_LIST(X) \
    X(other,     SP,  1,   1,   "moves, logic, shifts, compares, conversions, branches") \
    X(int_add,   SP,  4,   1,   "integer add and subtract") \
    X(int_minmax,SP,  13,  2,   "integer minimum and maximum") \
    X(int_mul,   SFU, 4,   2,   "integer multiply") \
    X(int_mad,   SFU, 5,   1,   "integer multiply-add") \
    X(int_div,   SFU, 145, 8,   "integer divide and remainder") \
    X(f32_add,   SP,  4,   1,   "float add and subtract") \
    X(f32_minmax,SP,  13,  2,   "float minimum and maximum") \
    X(f32_mul,   SP,  4,   1,   "float multiply") \
    X(f32_fma,   SP,  5,   1,   "float multiply-add") \
    X(f32_div,   SFU, 39,  4,   "float divide") \
    X(f64_add,   DP,  8,   8,   "double add and subtract") \
    X(f64_minmax,DP,  19,  16,  "double minimum and maximum") \
    X(f64_mul,   DP,  8,   8,   "double multiply") \
    X(f64_fma,   DP,  8,   8,   "double multiply-add") \
    X(f64_div,   SFU, 330, 130, "double divide") \
    X(special,   SFU, 8,   8,   "square root, reciprocal, sine, exponential, logarithm") \
    X(load,      MEM, 0,   1,   "load") \
    X(store,     MEM, 0,   1,   "store") \
    X(atomic,    MEM, 0,   1,   "atomic or reduction") \
    X(barrier,   SP,  1,   1,   "barrier: wait, or only arrive") \
    X(fence,     CONTROL, 1, 1,   "memory fence: waits until the warp's stores are acknowledged") \
    X(exit,      CONTROL, 1, 1,   "the warp ends")

enum op_class {
#define X(name, unit, latency, interval, help) OP_##name,
    OP_LIST(X)
#undef X
    OP_COUNT,
};
/* clang-format on */

enum memory_space { SPACE_GLOBAL, SPACE_LOCAL, SPACE_SHARED, SPACE_CONST };

/* PTX cache operators, as far as they change what the hierarchy does. */
enum cache_operator {
    CACHE_DEFAULT,  /* .ca of a load, .wb of a store */
    CACHE_GLOBAL,   /* .cg: past the L1 */
    CACHE_STREAM,   /* .cs: likely used once */
    CACHE_VOLATILE, /* .cv, .volatile: fetched again */
};

enum instr_flags {
    INSTR_READ_ONLY = 1,   /* of data that the kernel only reads */
    INSTR_NONCOHERENT = 2, /* ld.global.nc: by the read-only cache where the machine has one */
    INSTR_PARTIAL = 4,     /* a store that leaves bytes of some touched sector unwritten */
    INSTR_ARRIVE = 8,      /* a barrier that does not wait */
};

enum {
    STREAM_REGISTERS = 256, /* registers that a scoreboard tells apart; front ends number theirs from 1 */
    INSTR_DSTS = 4,
    INSTR_SRCS = 6,
    STREAM_CHUNK = 16,   /* records in a warp's buffer */
    STREAM_TOUCHES = 64, /* touched blocks in a warp's buffer; at least the 32 of one instruction */
    TOUCH_BLOCK_BYTES = 256,
};

/* A touched block: 256-byte aligned address in the upper 56 bits, and below it a bit for each of its eight 32-byte
 * sectors that any active lane touches. Line size and coalescing rules stay the machine's choice. Blocks of an
 * instruction are in ascending order and distinct. */
static inline uint64_t touch_make(uint64_t address, uint8_t sectors) { return (address & ~(uint64_t)0xFF) | sectors; }
static inline uint64_t touch_address(uint64_t touch) { return touch & ~(uint64_t)0xFF; }
static inline uint8_t touch_sectors(uint64_t touch) { return (uint8_t)touch; }

struct instr {
    uint32_t id;        /* the static instruction: its position in the program */
    uint32_t active;    /* lanes that execute it */
    uint8_t op;         /* enum op_class */
    uint8_t space;      /* enum memory_space */
    uint8_t cache;      /* enum cache_operator */
    uint8_t flags;      /* enum instr_flags */
    uint8_t bytes_log2; /* of one lane's access */
    uint8_t conflicts; /* shared memory: bank passes needed; atomics: lanes that meet on the busiest word; at least 1 */
    uint8_t barrier;   /* id of the barrier */
    uint8_t spare;
    uint8_t dst[INSTR_DSTS]; /* registers written, 0 = none */
    uint8_t src[INSTR_SRCS]; /* registers read, 0 = none */
    uint16_t count;          /* memory: touched blocks; barrier: warps it waits for, 0 = the whole CTA */
    uint32_t touches;        /* memory: index of the first touched block in the warp's buffer */
};

_Static_assert(sizeof(struct instr) == 32, "two records to a host cache line");

static inline bool instr_is_memory(const struct instr *instr) {
    return instr->op == OP_load || instr->op == OP_store || instr->op == OP_atomic;
}

/* Whether any record of a program is an atomic on memory that CTAs share, or may be. */
static inline bool instr_any_atomic(const struct instr *records, uint64_t count) {
    bool any = false;
    for (uint64_t i = 0; i < count; i++) any |= records[i].op == OP_atomic && records[i].space != SPACE_SHARED;
    return any;
}

/* One warp's window on its stream, filled by the source, consumed by the SM. */
struct warp_stream {
    uint64_t cta;      /* index in grid order, x fastest */
    uint32_t warp;     /* within the CTA */
    uint32_t count;    /* records in the buffer */
    uint64_t state[6]; /* the source's place in this warp's stream */
    struct instr instr[STREAM_CHUNK];
    uint64_t touch[STREAM_TOUCHES];
};

struct kernel {
    char name[64];
    uint32_t grid[3], block[3];
    uint32_t registers;    /* per thread */
    uint32_t shared_bytes; /* per CTA */
    bool atomics;          /* its program has atomics on memory that CTAs share, in this kernel or another */
};

static inline uint64_t kernel_ctas(const struct kernel *kernel) {
    return (uint64_t)kernel->grid[0] * kernel->grid[1] * kernel->grid[2];
}
static inline uint32_t kernel_threads(const struct kernel *kernel) {
    return kernel->block[0] * kernel->block[1] * kernel->block[2];
}
static inline uint32_t kernel_warps(const struct kernel *kernel) { return (kernel_threads(kernel) + 31) / 32; }

struct stream_source;

struct stream_ops {
    const char *name;
    /* The next kernel in program order; false at the end. Streams of the kernel before may no longer be read. */
    bool (*next_kernel)(struct stream_source *source, struct kernel *kernel);
    /* Positions `warp` (its cta and warp are set) before its first record. */
    void (*open)(struct stream_source *source, struct warp_stream *warp);
    /* Replaces the buffer by the next records of the warp, at least one unless it has ended. */
    void (*refill)(struct stream_source *source, struct warp_stream *warp);
    void (*restart)(struct stream_source *source);
    /* What ended the program early, as far as its streams have been read; NULL if nothing did. Streams that failed end
     * with an exit, and no kernel comes after them. May be NULL: cannot fail. */
    const char *(*failure)(const struct stream_source *source);
    /* Lines of 128 bytes that kernels loaded as read-only and also wrote, of the kernels that next_kernel has gone past,
     * and what the first was. May be NULL: nobody looked. */
    uint64_t (*violations)(const struct stream_source *source, struct error *first);
    /* The workload's own verification, once next_kernel has said that there are no more: "passed", "failed" (and what was
     * found instead of what) or "none". */
    const char *(*check)(struct stream_source *source, struct error *found);
    void (*destroy)(struct stream_source *source);
};

/* The head of every source. */
struct stream_source {
    const struct stream_ops *ops;
    /* Set by who reads, and asked now and then while the source has to wait: false lets the streams end at once. NULL:
     * it waits as long as it takes. */
    bool (*patience)(void *user);
    void *patience_user;
    /* Set by who reads, before a restart: nothing of the source goes on by itself between two calls, so that the process
     * may be forked there, and parent and child read on. */
    bool in_step;
};

#endif
