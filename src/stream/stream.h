/* Stream module: the boundary between execution and timing. A front end produces, for every warp of every CTA of every
 * kernel, a sequence of `struct instr`; the machine consumes it and does not know its origin. A record contains what
 * timing needs and nothing else.
 *
 * Contract of a source:
 *   1. The content of a warp's stream depends on the program and its launch only, not on when, in what order or how far
 *      ahead it is read.
 *   2. A warp's last record is OP_exit.
 *   3. A restarted source produces the same streams.
 *
 * Buffers are bounded: a warp holds at most STREAM_CHUNK records and is refilled after consuming them.
 */
#ifndef SLUICE_STREAM_STREAM_H
#define SLUICE_STREAM_STREAM_H

#include "base/base.h"
#include "base/error.h"

/* Operation classes with their default pipelines: name, unit, latency and initiation interval in cycles (GPGPU-Sim
 * 3.2.2's GTX480, which all four papers build on), help. A GPU description may change the timings (sm.op_NAME). */
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
    X(barrier,   SP,  1,   1,   "barrier: wait or arrive") \
    X(fence,     CONTROL, 1, 1,   "memory fence: waits until the warp's stores are acknowledged") \
    X(exit,      CONTROL, 1, 1,   "end of the warp") \
    X(tensor,    TENSOR, 1, 1,    "matrix multiply-add; its format and shape determine the timing (sm.tensor_FORMAT)")

enum op_class {
#define X(name, unit, latency, interval, help) OP_##name,
    OP_LIST(X)
#undef X
    OP_COUNT,
};
/* clang-format on */

/* Arithmetic with a latency or a pipeline other than that of its class, by pipeline, as opcodes of SASS have it: values of
 * `op` beyond the classes. `space` is the class, which determines counters and energy, and `bytes_log2`, as a signed number,
 * the latency minus that of the class. The interval is that of the class on its own pipeline, else that of `int_add`, `special`
 * or `f64_add`. */
enum { OP_TIMED_SP = OP_COUNT, OP_TIMED_SFU, OP_TIMED_DP, OP_RECORDS };

/* Formats of tensor instructions: name, multiply-adds of the largest instruction, latency in cycles and multiply-adds
 * per cycle of one pipeline by default, help. An instruction of N multiply-adds occupies its pipeline for N / rate
 * cycles. The rate of f16 is that of Volta, 512 in an SM of four pipelines; the others have the ratios of Ampere, and
 * latencies are assumed: no paper's machine has such pipelines. */
/* clang-format off */
#define TENSOR_LIST(X) \
    X(f16,      4096,  4, 128,  "f16 with f16 accumulators") \
    X(f16_f32,  4096,  4, 128,  "f16 or bf16 with f32 accumulators") \
    X(tf32,     2048,  4, 64,   "tf32 with f32 accumulators") \
    X(f8,       4096,  4, 256,  "e4m3 or e5m2") \
    X(s8,       4096,  4, 256,  "8-bit integers") \
    X(s4,       8192,  4, 512,  "4-bit integers") \
    X(b1,       32768, 4, 2048, "single bits") \
    X(f64,      2048,  4, 16,   "f64")

enum tensor_format {
#define X(name, most, latency, rate, help) TENSOR_##name,
    TENSOR_LIST(X)
#undef X
    TENSOR_COUNT,
};
/* clang-format on */

enum memory_space { SPACE_GLOBAL, SPACE_LOCAL, SPACE_SHARED, SPACE_CONST };

/* PTX cache operators that affect the memory hierarchy. */
enum cache_operator {
    CACHE_DEFAULT,  /* .ca of a load, .wb of a store */
    CACHE_GLOBAL,   /* .cg: bypasses the L1 */
    CACHE_STREAM,   /* .cs: likely used once */
    CACHE_VOLATILE, /* .cv, .volatile: always fetched again */
};

enum instr_flags {
    INSTR_READ_ONLY = 1,   /* accesses data that the kernel only reads */
    INSTR_NONCOHERENT = 2, /* ld.global.nc: through the read-only cache if the machine has one */
    INSTR_PARTIAL = 4,     /* a store that leaves bytes of some touched sector unwritten */
    INSTR_ARRIVE = 8,      /* barrier arrive without wait */
    INSTR_CLUSTER = 16,    /* a barrier of the cluster; shared memory, or an mbarrier, of another CTA of the cluster */
    INSTR_ASYNC = 32,      /* an asynchronous copy, a wait for copies, or an operation on an mbarrier: see below */
    INSTR_BULK = 64,       /* async: of the bulk copy unit */
    INSTR_SOURCE = 128,    /* a wait: only until the sources of the copies have been read */
};

/* Asynchronous records name what they wait for, so that timing needs neither the groups of the program nor its polls:
 *   OP_load     a copy from global to shared memory. `conflicts`: bank passes of the write. With INSTR_BULK `barrier` is
 *               the mbarrier that it completes on. With INSTR_ARRIVE it has no touches: it arrives on `barrier` when all
 *               earlier copies of the warp, other than bulk copies, are complete.
 *   OP_store    a bulk copy from shared to global memory; or with SPACE_SHARED within shared memory, from that of the
 *               CTA, in `conflicts` bank passes, and it completes on `barrier`.
 *   OP_fence    waits until all but the latest `count` copies of the warp are complete: loads without INSTR_BULK, those
 *               with INSTR_ARRIVE included, or with INSTR_BULK stores.
 *   OP_barrier  an mbarrier of the CTA, `barrier`, which counts updates: each record with INSTR_ARRIVE, when it issues,
 *               and each OP_load or OP_store that names it, when it is complete. Without INSTR_ARRIVE the record waits
 *               for update number instr_updates(), counted from 1, modulo 2^24.
 * With INSTR_CLUSTER the mbarrier of a bulk copy or of an OP_barrier is that of the CTA whose rank in the cluster is
 * `updates`. */

enum {
    WARP_LANES = 32,
    STREAM_REGISTERS = 256, /* registers of the scoreboard; front ends number theirs from 1 */
    INSTR_DSTS = 4,
    INSTR_SRCS = 6,
    STREAM_CHUNK = 16,   /* records in a warp's buffer */
    STREAM_TOUCHES = 64, /* touched blocks in a warp's buffer; at least the 32 of one instruction */
    TOUCH_BLOCK_BYTES = 256,
};

/* A touched block: 256-byte aligned address in the upper 56 bits, below it a bit for each of its eight 32-byte sectors
 * touched by any active lane. Line size and coalescing rules are the machine's choice. Blocks of an instruction are
 * distinct and in ascending order. */
static inline uint64_t touch_make(uint64_t address, uint8_t sectors) { return (address & ~(uint64_t)0xFF) | sectors; }
static inline uint64_t touch_address(uint64_t touch) { return touch & ~(uint64_t)0xFF; }
static inline uint8_t touch_sectors(uint64_t touch) { return (uint8_t)touch; }

struct instr {
    uint32_t id;             /* the static instruction: its position in the program */
    uint32_t active;         /* active lanes */
    uint8_t op;              /* enum op_class, or OP_TIMED_SP ... */
    uint8_t space;           /* enum memory_space; tensor: enum tensor_format; OP_TIMED_SP ...: enum op_class */
    uint8_t cache;           /* enum cache_operator */
    uint8_t flags;           /* enum instr_flags */
    uint8_t bytes_log2;      /* of one lane's access; OP_TIMED_SP ...: added latency */
    uint8_t conflicts;       /* shared memory: bank passes; atomics: most lanes on one word; at least 1 */
    uint8_t barrier;         /* id of the barrier */
    uint8_t updates;         /* a wait for an mbarrier: bits 16 to 23 of the number of updates; async: above */
    uint8_t dst[INSTR_DSTS]; /* registers written, 0 = none */
    uint8_t src[INSTR_SRCS]; /* registers read, 0 = none */
    uint16_t count;   /* memory: touched blocks; barrier: warps to wait for, 0 = the whole CTA; tensor: multiply-adds;
                       * async: above */
    uint32_t touches; /* memory: index of the first touched block in the warp's buffer */
};

_Static_assert(sizeof(struct instr) == 32, "two records to a host cache line");

static inline bool instr_is_memory(const struct instr *instr) {
    return instr->op == OP_load || instr->op == OP_store || instr->op == OP_atomic;
}

static inline enum op_class instr_class(const struct instr *instr) {
    return (enum op_class)(instr->op < OP_COUNT ? instr->op : instr->space);
}

enum { UPDATES_BITS = 24 };
static inline void instr_set_updates(struct instr *instr, uint32_t updates) {
    instr->count = (uint16_t)updates;
    instr->updates = (uint8_t)(updates >> 16);
}
static inline uint32_t instr_updates(const struct instr *instr) {
    return (uint32_t)instr->updates << 16 | instr->count;
}

/* Whether a program has an atomic on memory that CTAs share or may share. */
static inline bool instr_any_atomic(const struct instr *records, uint64_t count) {
    bool any = false;
    for (uint64_t i = 0; i < count; i++) any |= records[i].op == OP_atomic && records[i].space != SPACE_SHARED;
    return any;
}

static inline bool instr_any_tensor(const struct instr *records, uint64_t count) {
    bool any = false;
    for (uint64_t i = 0; i < count; i++) any |= records[i].op == OP_tensor;
    return any;
}

/* The window on one warp's stream: filled by the source, consumed by the SM. */
struct warp_stream {
    uint64_t cta;   /* index in grid order, x fastest; with clusters, cluster by cluster */
    uint32_t warp;  /* within the CTA */
    uint32_t count; /* records in the buffer */
    bool pauses;    /* set by a refill: the last record is a barrier, and the source may be unable to produce the next
                          one before the barrier releases the warp, so that the next refill should wait until then */
    uint64_t state[6]; /* the source's position in this stream */
    struct instr instr[STREAM_CHUNK];
    uint64_t touch[STREAM_TOUCHES];
};

struct kernel {
    char name[64];
    uint32_t number; /* among the launches of the program, from 1; 0: as it is started (selection.h) */
    uint32_t grid[3], block[3];
    uint32_t registers;    /* per thread */
    uint32_t shared_bytes; /* per CTA */
    uint32_t cluster_ctas; /* consecutive CTAs that form a cluster; 0 or 1: none */
    bool atomics;          /* the program has atomics on memory shared between CTAs, in any kernel */
    bool tensor;           /* the program has tensor instructions, in any kernel */
    bool cooperative;      /* all CTAs must be resident at once */
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
    /* The next kernel in program order; false at the end. Streams of the previous kernel become invalid. */
    bool (*next_kernel)(struct stream_source *source, struct kernel *kernel);
    /* Positions `warp` (with cta and warp set) before its first record. */
    void (*open)(struct stream_source *source, struct warp_stream *warp);
    /* Replaces the buffer with the next records of the warp, at least one unless the stream has ended. */
    void (*refill)(struct stream_source *source, struct warp_stream *warp);
    void (*restart)(struct stream_source *source);
    /* Why the program ended early, as far as its streams have been read; NULL if it did not. Streams that failed end
     * with an exit, and no kernel follows them. May be NULL: cannot fail. */
    const char *(*failure)(const struct stream_source *source);
    /* Number of 128-byte lines that kernels loaded as read-only and also wrote, over the kernels completed so far, and
     * a description of the first. May be NULL: not checked. */
    uint64_t (*violations)(const struct stream_source *source, struct error *first);
    /* The workload's check of its results, valid after next_kernel returned false: "passed", "failed" (details in
     * `found`) or "none". */
    const char *(*check)(struct stream_source *source, struct error *found);
    void (*destroy)(struct stream_source *source);
};

/* The common header of every source. */
struct stream_source {
    const struct stream_ops *ops;
    /* Set by the consumer; called periodically while the source waits. Returning false ends the streams at once. NULL:
     * waits indefinitely. */
    bool (*patience)(void *user);
    void *patience_user;
    /* Set by the consumer before the first kernel: the program fails after a kernel that writes lines that it loads as
     * read-only. Otherwise such lines are only counted (`violations`). */
    bool violations_fail;
    /* Set by the consumer before a restart: the source runs no background work between calls, so that the process can
     * be forked there and both parent and child can continue reading. */
    bool in_step;
    /* Set by the consumer before a restart: it reads at most this many thread instructions (0: no limit). In step, where
     * the consumer does not read meanwhile, the source may end the streams of an endless kernel beyond that. */
    uint64_t max_instructions;
    /* Set by the consumer before a restart: whether it reads launch `number`, from 1, of those passed on (NULL: all). With
     * max_instructions, the program fails at a launch that is not read and does not seem to end. Called by next_kernel. */
    bool (*reads)(const void *user, uint64_t number);
    const void *reads_user;
};

#endif
