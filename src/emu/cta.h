/* The state of a running kernel, private to the emulator: a run has CTAs, a CTA has warps, a warp has frames (one for
 * each active function) and, in each, the paths of its SIMT stack.
 *
 * There is no notion of time. Host-dependent values (addresses of buffers, order of threads) must not reach a program:
 * everything a kernel observes follows from program, launch and memory. */
#ifndef SLUICE_EMU_CTA_H
#define SLUICE_EMU_CTA_H

#include "emu/emu.h"
#include "emu/strand.h"
#include "emu/warp.h"
#include "stream/touch.h"
#include "stream/trace.h"

enum {
    CTA_WARPS = 32,
    CTA_BARRIERS = 16,
    FRAME_ALIGN_BYTES = 32,         /* the widest access of a lane */
    STACK_LIMIT_BYTES = 64 * 1024,  /* per thread, for frames and registers of called functions */
    CLUSTER_CTAS = 16,              /* the most that a GPU allows */
    CLUSTER_BARRIER = CTA_BARRIERS, /* as the number of a barrier */
    SM_COUNT = 80,                  /* %nsmid: seen by the program, independent of the simulated machine */
    NO_PC = UINT32_MAX,
};

/* How an operation executes. */
enum step_kind {
    STEP_PLAIN,  /* accesses registers only and falls through */
    STEP_ACCESS, /* the same, but accesses memory or may fault */
    STEP_BRANCH,
    STEP_TABLE_BRANCH,
    STEP_CALL,
    STEP_CALL_INDIRECT,
    STEP_RETURN,
    STEP_EXIT,
    STEP_BARRIER,
    STEP_LOOP,    /* a branch to the beginning of a loop that may poll memory */
    STEP_MEET,    /* waits for the other lanes of a mask (independent thread scheduling) */
    STEP_ALIGNED, /* accesses memory or may fault, and waits for all lanes of the warp */
    STEP_YIELD,
    STEP_ASYNC, /* a copy, a wait for copies, or an operation on an mbarrier: it records itself */
    STEP_END,   /* after the last operation: an implicit return */
};

struct step {
    op_handler *handler;
    enum step_kind kind;
    uint32_t straight; /* number of operations from here on that access only registers and have no guard */
};

/* Operations that a warp executes as a whole: those on matrices, and barriers of the cluster. */
static inline bool op_is_aligned(const struct op *op) {
    switch (op->operation) {
    case OPERATION_mma:
    case OPERATION_movmatrix:
    case OPERATION_wmma_load:
    case OPERATION_wmma_store:
    case OPERATION_ldmatrix:
    case OPERATION_stmatrix:
    case OPERATION_cluster_arrive:
    case OPERATION_cluster_wait: return true;
    default: return false;
    }
}

/* A function's executable code: its operations and how each executes. */
struct function_code {
    const struct program_function *function;
    struct step *steps; /* op_count + 1 of them */
};

struct loaded_module {
    struct ptx_module *module;
    struct program *program;
    struct function_code *codes; /* indexed as in the module */
    bool promises;               /* some load is marked read-only */
    bool independent;            /* the target has independent thread scheduling (strand.c) */
    bool yields;                 /* loops that poll are found: they yield (poll.c) */
};

/* One entry of the SIMT stack: lanes that execute together at `pc` until they reach `reconverge`. */
struct path {
    uint32_t pc, reconverge, mask;
};

struct frame {
    const struct function_code *code;
    const struct op *call;          /* in the caller; NULL: the kernel itself */
    uint32_t mask;                  /* lanes that called */
    uint32_t first_path;            /* index of its first path */
    uint32_t window, window_end;    /* bytes of the warp's register memory */
    uint32_t spilled;               /* bytes of register windows of this call and its callers, without the kernel's */
    uint32_t local_base, local_top; /* bytes of each lane's local memory */
};

enum warp_status {
    WARP_READY,
    WARP_POLLS, /* memory that does not change; no strand runs */
    WARP_WAITING,
    WARP_ENDED,
};

/* How a warp goes on after an operation of STEP_ASYNC: at once, in the next round, or there with the same operation. */
enum warp_pause { PAUSE_NONE, PAUSE_YIELD, PAUSE_REPEAT };
struct warp_copies;
struct mbarriers;

struct warp_state {
    struct warp warp; /* first member: operations see only this */
    struct run *run;
    uint32_t index; /* in the CTA */
    enum warp_status status;
    uint32_t live;  /* lanes that have not exited */
    uint32_t lanes; /* those of the running strand; 0: none runs */
    uint64_t executed;
    struct trace_writer *writer;

    struct path *paths;
    uint32_t path_count, path_room;
    struct frame *frames;
    uint32_t frame_count, frame_room;
    struct frame *frame; /* the running frame, frames[frame_count - 1] */
    uint8_t *registers;
    uint32_t registers_room;
    uint8_t *local; /* of the 32 lanes, interleaved by word */
    uint32_t local_room;

    struct strand *strands; /* the parked ones, the longest parked first */
    uint32_t strand_count, strand_room;
    uint64_t since;    /* `executed` when the running strand was selected, */
    uint64_t together; /* when no lane waited for others */
    const struct meeting *meeting;

    struct poll_state *poll; /* poll.c */
    uint64_t quiet;          /* iterations of a loop since the warp changed something or read a clock */
    uint64_t idle;           /* short iterations of a loop since it changed something */
    uint64_t looped;         /* `executed` at the last one */
    uint32_t parked_rounds;
    bool probed; /* executes single steps that must not park it */

    const struct op *waits_at; /* at a barrier: the operation and the arriving lanes */
    uint32_t waits_mask, waits_barrier;
    uint32_t cluster_arrived, cluster_passed; /* lanes that arrived at the cluster's barrier; whose phase has ended */
    enum warp_pause pause;
    uint32_t suspended;         /* rounds for which a try_wait has been suspended */
    struct warp_copies *copies; /* NULL until the first copy */
    struct access_note note;
    bool textured;     /* the running operation is one of textures or surfaces ... */
    uint32_t recorded; /* ... and these lanes are in earlier records of it (touch_texels) */
};

struct cta_barrier {
    uint32_t arrived, waiting;  /* number of warps; which of them wait */
    uint32_t expected;          /* warps; 0 = all live warps */
    uint32_t lanes, true_lanes; /* of bar.red, so far */
};

struct cta {
    struct run *run;
    uint64_t index; /* in grid order; of a launch with clusters, cluster by cluster */
    uint32_t ctaid[3];
    uint32_t rank;        /* in its cluster */
    uint32_t live, ready; /* warps */
    uint64_t rounds;      /* since it began */
    bool ended;           /* counted by the window */
    uint8_t *shared;
    uint8_t *specials; /* blocks of fixed special registers of the warps */
    struct cta_barrier barriers[CTA_BARRIERS];
    struct mbarriers *mbarriers; /* NULL until the first one */
    struct warp_state *warps;
};

struct run {
    struct device *device;
    const struct launch *launch;
    const struct loaded_module *loaded;
    const struct function_code *kernel;
    struct trace *trace;
    struct error *err;
    bool failed;
    uint32_t
        changed; /* bit s for a store to space s, CHANGED_*: by the running warp, since it began or repeated a loop, */
    uint32_t changed_before; /* and before, in this round */
    uint64_t ctas;
    uint32_t cluster[3], cluster_ctas; /* size of a cluster */
    bool explicit_cluster;
    uint32_t threads, warps; /* per CTA */
    uint32_t shared_bytes;
    uint32_t local_stride;   /* local memory of a warp in the stream's address space */
    const uint8_t *specials; /* of the first CTA, which those of others are copied from */
    struct emu_counts counts;
};

/* In run.changed, a bit for each space follows from enum ptx_space. An atomic that changed memory counts as a store to
 * global memory. */
enum {
    CHANGED_MEMORY = 1 << PTX_SPACE_GLOBAL | 1 << PTX_SPACE_GENERIC,
    CHANGED_CONTROL = 1 << PTX_SPACE_COUNT, /* a barrier arrival, an exit, a call of the device library */
    CHANGED_CLOCK = 2 << PTX_SPACE_COUNT,   /* not a change: a clock has been read */
};
/* Memory that threads share. */
#define CHANGED_SHARED (CHANGED_MEMORY | 1 << PTX_SPACE_SHARED)
/* What distinguishes an iteration of a loop from one that only polls. */
#define CHANGED_ANY (CHANGED_SHARED | CHANGED_CONTROL | CHANGED_CLOCK)
/* Anything but stores to a thread's own memory. */
static inline bool run_progressed(const struct run *run) {
    return (run->changed | run->changed_before) & (CHANGED_SHARED | CHANGED_CONTROL);
}

static inline struct warp_state *warp_state(struct warp *warp) { return (struct warp_state *)warp; }

/* The handler of an operation that accesses more than registers; NULL for others. */
op_handler *access_handler_find(const struct op *op);
op_handler *collective_handler_find(const struct op *op);
op_handler *texture_handler_find(const struct op *op);
op_handler *matrix_handler_find(const struct op *op);

/* Collects the operands of lanes that meet at different operations. */
void collective_gather(struct warp_state *w, const struct op *op, uint32_t lanes, struct meeting *meeting);

/* The SIMT stack (simt.c). */
void simt_push(struct warp_state *w, struct path path);
/* Splits the lanes of the top path into `count` groups that meet at `reconverge`; the first group runs last. */
void simt_diverge(struct warp_state *w, const struct path *groups, unsigned count, uint32_t reconverge);
/* Lanes leave the running function or the kernel. */
void simt_return(struct warp_state *w, uint32_t lanes);
void simt_exit(struct warp_state *w, uint32_t lanes);
/* Removes finished paths and frames without paths; false if the warp has ended. */
bool simt_settle(struct warp_state *w);

/* Frames and calls (call.c). */
bool frame_push(struct warp_state *w, const struct function_code *code, const struct op *call, uint32_t mask);
void frame_pop(struct warp_state *w);
void frame_enter(struct warp_state *w);
bool frame_reserve_local(struct warp_state *w, uint64_t top);
void call_function(struct warp_state *w, const struct op *op, uint32_t function, uint32_t mask);
/* The function at an address; NULL if there is none. */
const struct function_code *call_target(const struct warp_state *w, uint64_t address);
void builtin_run(struct warp_state *w, const struct op *op, const struct frame *frame, uint32_t mask);

/* Memory in `space` as one lane sees it (access.c). NULL, without a fault, if it does not exist; local memory is not
 * contiguous and has its own functions. */
enum ptx_space space_resolve(enum ptx_space space, uint64_t *address);
enum ptx_space space_common(enum ptx_space space, uint64_t address[WARP_LANES]);
uint8_t *space_at(struct warp_state *w, enum ptx_space space, uint64_t address, unsigned bytes, enum access_kind kind);
uint8_t *space_at_all(struct warp_state *w, const struct op *op, enum ptx_space space,
                      const uint64_t address[WARP_LANES], unsigned bytes, enum access_kind kind,
                      uint64_t offset[WARP_LANES]);
bool space_copy(struct warp_state *w, unsigned lane, enum ptx_space space, uint64_t address, void *data, unsigned bytes,
                enum access_kind kind);
void local_copy(struct warp_state *w, unsigned lane, uint32_t address, void *data, unsigned bytes, bool write);
/* Addresses of an operation's lanes. Lanes not in `mask` get the address of the lowest one that is, and those above the
 * highest one its address, so that lanes without gaps ascend if the active ones do. */
void access_addresses(const struct warp_state *w, const struct op *op, uint32_t mask, uint64_t address[WARP_LANES]);
/* The same for address `i` of an asynchronous copy. */
void copy_addresses(const struct warp_state *w, const struct op *op, unsigned i, uint32_t mask,
                    uint64_t address[WARP_LANES]);
void access_fault(struct warp_state *w, const struct op *op, unsigned lane, enum ptx_space space, uint64_t address,
                  unsigned bytes, enum access_kind kind);
op_handler *atomic_handler_find(const struct op *op);
/* Records an access for the stream (touch.c); all active lanes are in `space`, unless it is GENERIC. touch_note_run
 * needs only the address of the lowest active lane, and returns false if it cannot record the access that way. */
void touch_note(struct warp_state *w, uint32_t mask, enum ptx_space space, const uint64_t address[WARP_LANES],
                unsigned bytes, enum access_kind kind);
bool touch_note_run(struct warp_state *w, uint32_t mask, enum ptx_space space, uint64_t first, unsigned bytes,
                    enum access_kind kind, enum lanes_form form);

/* Records the texels of one lane, at most 8, each `bytes` long and aligned. An operation starts with touch_begin and adds
 * its lanes in ascending order. A record has at most 32 blocks: if there are more, several records without results
 * precede the operation's own, each with other lanes. */
void touch_begin(struct warp_state *w);
void touch_texels(struct warp_state *w, const struct op *op, uint32_t mask, unsigned lane, const uint64_t *address,
                  unsigned count);
/* Writes a record of the lanes noted so far, without results (warp.c). */
void record_part(struct warp_state *w, const struct op *op, uint32_t lanes);
/* Records an access to a matrix whose lines have `bytes` each, in ascending order. */
void touch_note_lines(struct warp_state *w, enum ptx_space space, const uint64_t *line, unsigned count, unsigned bytes,
                      enum access_kind kind);
/* Asynchronous copies (copy.c) and mbarriers (mbarrier.c). */
op_handler *copy_handler_find(const struct op *op);
op_handler *mbarrier_handler_find(const struct op *op);
/* Makes an address of shared memory relative to the CTA; false, after a fault, if it is in another CTA of the cluster. */
bool copy_shared(struct warp_state *w, const struct op *op, unsigned lane, uint64_t *address);
/* The same, but an address in another CTA remains as it is. */
void copy_cluster(const struct warp_state *w, uint64_t *address);
/* Performs the copies of the lanes that are older than copy `number` of the warp. */
void copies_land(struct warp_state *w, uint32_t mask, uint32_t number);
/* A bulk copy of a lane to shared memory, which may be that of another CTA of the cluster, from global memory or from
 * shared memory of its own CTA. */
struct bulk_copy {
    uint64_t to, from;
    uint32_t bytes, pieces; /* pieces: records */
};
void bulk_land(struct warp_state *w, const struct op *op, unsigned lane, const struct bulk_copy *copy);
/* The warp begins, ends, is released. */
void copies_begin(struct warp_state *w);
void copies_end(struct warp_state *w);
void copies_release(struct warp_state *w);
void mbarriers_begin(struct cta *cta);
void mbarriers_release(struct cta *cta);
/* Binds an asynchronous arrival of the lanes, or a bulk copy, to the initialised mbarrier at an address of shared memory;
 * it takes effect when a thread tests the mbarrier. That of a bulk copy may be in another CTA of the cluster. Returns the
 * mbarrier's number in its CTA, negative after a fault. */
int mbarrier_bind_arrival(struct warp_state *w, const struct op *op, uint32_t mask, uint64_t address, uint32_t number,
                          bool count);
int mbarrier_bind_copy(struct warp_state *w, const struct op *op, unsigned lane, uint64_t address,
                       const struct bulk_copy *copy);

/* Checks lines that are loaded as read-only (promise.c); `record` describes the access. */
void promise_note(struct warp_state *w, const struct op *op, const struct instr *record);

/* The CTA's barriers (barrier.c). */
void barrier_execute(struct warp_state *w, const struct op *op, uint32_t mask, struct instr *record);
/* The same for some lanes of the warp, whose other lanes arrive at another operation. */
void barrier_join(struct warp_state *w, const struct op *op, uint32_t mask);
void barrier_warp_ended(struct warp_state *w);
/* The streams of the CTA end where its warps are. */
void barriers_cut(struct cta *cta);

/* Clusters (cluster.c). The CTA that holds an address of shared memory, which may have a rank; NULL if there is none or it
 * has ended. */
struct cta *cluster_cta(struct warp_state *w, uint64_t address);
bool cluster_is_remote(const struct warp_state *w, uint64_t address); /* in the memory of another CTA */
/* Marks the record of an operation on the mbarrier at an address that may be in another CTA. */
void cluster_record(const struct warp_state *w, uint64_t address, struct instr *record);
void cluster_barrier(struct warp_state *w, const struct op *op, uint32_t mask, struct instr *record);
/* To be called when lanes of the warp have exited, or it waits at a barrier of its CTA. */
void cluster_progress(struct warp_state *w);
static inline void cluster_check(struct warp_state *w) {
    if (UNLIKELY(w->run->cluster_ctas > 1)) cluster_progress(w);
}
op_handler *cluster_handler_find(const struct op *op);

/* The special registers of a CTA's warps, without those that identify the CTA (warp.c). */
uint8_t *specials_create(struct run *run);
/* Runs a warp (warp.c) for at most `quantum` instructions. */
void warp_begin(struct warp_state *w, struct cta *cta, uint32_t index);
void warp_run(struct warp_state *w, unsigned quantum);
void warp_release(struct warp_state *w);
/* The operation that the running strand executes next, or NULL at the end of a function, and its active lanes. */
const struct op *warp_next(const struct warp_state *w, uint32_t *mask);
/* The running strand executes `op`, with lanes that are elsewhere: a barrier, at which the warp has arrived with its
 * `last` strand, or an operation across lanes. */
void warp_arrive(struct warp_state *w, const struct op *op, bool last);
void warp_meet(struct warp_state *w, const struct op *op, const struct meeting *meeting);
/* Records the access in `note` as one by the operation (warp.c). */
void record_access(struct warp_state *w, const struct op *op, uint32_t mask);
/* The static record of the operation, with these lanes. */
struct instr record_of(const struct warp_state *w, const struct op *op, uint32_t mask);

/* To be called when no warp has progressed for long. Ends the run with an error if none ever will or, if `overdue`, if all
 * seem to poll (livelock.c); otherwise warps may have executed some instructions. */
void livelock_check(struct run *run, struct cta *ctas, uint32_t count, bool overdue);
/* Ends the run, in which all warps poll or wait at barriers. */
void livelock_report(struct run *run, struct cta *ctas, uint32_t count, const char *reason);

/* Ends the run with a located error (fault.c). */
void fault_set(struct warp_state *w, const struct op *op, unsigned lane, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A value that is uniform over the mask: that of the lowest lane. */
static inline uint32_t lane_u32(const struct warp_state *w, uint32_t place, uint32_t mask) {
    return ((const uint32_t *)warp_place(&w->warp, place))[lowest_bit(mask)];
}
/* Register row `place` with lanes of `bytes`: writes the lowest bytes of the values, zero-extended. */
void row_write(struct warp_state *w, uint32_t place, unsigned bytes, const uint64_t value[WARP_LANES], uint32_t mask);
void row_read(const struct warp_state *w, uint32_t place, unsigned bytes, uint64_t value[WARP_LANES]);

#endif
