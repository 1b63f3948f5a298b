/* What a running kernel is made of. Private to the files that execute it: a run has CTAs, a CTA has warps, a warp has
 * frames (one for each function that has been called and has not returned) and, on top of them, the paths of its SIMT
 * stack.
 *
 * Nothing here knows of time. Whatever could depend on the host (addresses of buffers, order of threads) must not
 * reach a program: everything a kernel can observe follows from program, launch and memory. */
#ifndef SLUICE_EMU_CTA_H
#define SLUICE_EMU_CTA_H

#include "emu/emu.h"
#include "emu/warp.h"
#include "stream/trace.h"

enum {
    CTA_WARPS = 32,
    CTA_BARRIERS = 16,
    FRAME_ALIGN_BYTES = 32,           /* the widest access of a lane */
    STACK_LIMIT_BYTES = 64 * 1024,    /* per thread, for the frames and registers of called functions */
    LOCAL_ROW_BYTES = 4 * WARP_LANES, /* local memory: word k of all lanes side by side */
    SM_COUNT = 80,                    /* %nsmid: part of the program's view, not of the machine that is simulated */
    NO_PC = UINT32_MAX,
};

/* How an operation is executed. */
enum step_kind {
    STEP_PLAIN,  /* concerns registers only; next comes the operation behind it */
    STEP_ACCESS, /* the same, but touches memory, or may fault */
    STEP_BRANCH,
    STEP_TABLE_BRANCH,
    STEP_CALL,
    STEP_CALL_INDIRECT,
    STEP_RETURN,
    STEP_EXIT,
    STEP_BARRIER,
    STEP_YIELD,
    STEP_END, /* behind the last operation: a return that was not written */
};

struct step {
    op_handler *handler;
    enum step_kind kind;
};

/* A function as it is executed: its operations, and for each of them how. */
struct function_code {
    const struct program_function *function;
    struct step *steps; /* op_count + 1 of them */
};

struct loaded_module {
    struct ptx_module *module;
    struct program *program;
    struct function_code *codes; /* by the module's numbers */
    bool promises;               /* some load is marked read-only */
};

/* One entry of the SIMT stack: lanes that go on together at `pc`, until they come to `reconverge`. */
struct path {
    uint32_t pc, reconverge, mask;
};

struct frame {
    const struct function_code *code;
    const struct op *call;          /* in the caller; NULL: the kernel itself */
    uint32_t mask;                  /* lanes that called */
    uint32_t first_path;            /* its paths are those from here on */
    uint32_t window, window_end;    /* bytes of the warp's register memory */
    uint32_t local_base, local_top; /* bytes of each lane's local memory */
};

/* What a memory operation did, as far as the stream wants to know it. */
struct access_note {
    uint8_t space, flags, conflicts;
    uint16_t count;
    uint64_t touch[WARP_LANES];
};

enum warp_status { WARP_READY, WARP_WAITING, WARP_ENDED };

struct warp_state {
    struct warp warp; /* first: operations see only this */
    struct run *run;
    uint32_t index; /* in the CTA */
    enum warp_status status;
    uint32_t live; /* lanes that have not exited */
    uint64_t executed;
    struct trace_writer *writer;

    struct path *paths;
    uint32_t path_count, path_room;
    struct frame *frames;
    uint32_t frame_count, frame_room;
    struct frame *frame; /* the running one, frames[frame_count - 1] */
    uint8_t *registers;
    uint32_t registers_room;
    uint8_t *local; /* of the 32 lanes, word by word side by side */
    uint32_t local_room;
    uint8_t *specials;

    const struct op *waits_at; /* at a barrier: the operation, and the lanes that came with it */
    uint32_t waits_mask, waits_barrier;
    struct access_note note;
};

struct cta_barrier {
    uint32_t arrived, waiting;  /* number of warps; which of them wait */
    uint32_t expected;          /* warps; 0 = all that live */
    uint32_t lanes, true_lanes; /* of bar.red, so far */
};

struct cta {
    struct run *run;
    uint64_t index; /* in grid order */
    uint32_t ctaid[3];
    uint32_t live, ready; /* warps */
    uint8_t *shared;
    struct cta_barrier barriers[CTA_BARRIERS];
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
    bool changed; /* global memory, by anyone in this round */
    uint64_t ctas;
    uint32_t threads, warps; /* of a CTA */
    uint32_t shared_bytes;
    uint32_t local_stride; /* bytes of local memory of a warp as the stream sees it */
    struct emu_counts counts;
};

static inline struct warp_state *warp_state(struct warp *warp) { return (struct warp_state *)warp; }

/* What executes an operation that is more than registers; NULL for others. */
op_handler *access_handler_find(const struct op *op);
op_handler *collective_handler_find(const struct op *op);

/* The SIMT stack (simt.c). */
void simt_push(struct warp_state *w, struct path path);
/* The lanes of the top path go on in `count` groups, the first of which runs last; they meet at `reconverge`. */
void simt_diverge(struct warp_state *w, const struct path *groups, unsigned count, uint32_t reconverge);
/* Lanes leave the running function, or the kernel. */
void simt_return(struct warp_state *w, uint32_t lanes);
void simt_exit(struct warp_state *w, uint32_t lanes);
/* Drops paths that are at their end, and frames without paths; false when the warp has ended. */
bool simt_settle(struct warp_state *w);

/* Frames and calls (call.c). */
bool frame_push(struct warp_state *w, const struct function_code *code, const struct op *call, uint32_t mask);
void frame_pop(struct warp_state *w);
bool frame_reserve_local(struct warp_state *w, uint64_t top);
void call_function(struct warp_state *w, const struct op *op, uint32_t function, uint32_t mask);
/* The function behind an address; NULL if there is none. */
const struct function_code *call_target(const struct warp_state *w, uint64_t address);
void builtin_run(struct warp_state *w, const struct op *op, const struct frame *frame, uint32_t mask);

/* Memory as one lane sees it, in `space` (access.c). NULL, without a fault, when it is not there; local memory is not
 * in one piece and has functions of its own. */
enum access_kind { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC };
enum ptx_space space_resolve(enum ptx_space space, uint64_t *address);
enum ptx_space space_common(enum ptx_space space, uint64_t address[WARP_LANES]);
uint8_t *space_at(struct warp_state *w, enum ptx_space space, uint64_t address, unsigned bytes, enum access_kind kind);
uint8_t *space_at_all(struct warp_state *w, enum ptx_space space, const uint64_t address[WARP_LANES], unsigned bytes,
                      enum access_kind kind, uint64_t offset[WARP_LANES]);
bool space_copy(struct warp_state *w, unsigned lane, enum ptx_space space, uint64_t address, void *data, unsigned bytes,
                enum access_kind kind);
static inline uint64_t local_offset(uint64_t address, unsigned lane) {
    return (address >> 2) * LOCAL_ROW_BYTES + lane * 4 + (address & 3);
}
void local_copy(struct warp_state *w, unsigned lane, uint32_t address, void *data, unsigned bytes, bool write);
/* Addresses of an operation's lanes; those not in `mask` get that of one that is. */
void access_addresses(const struct warp_state *w, const struct op *op, uint32_t mask, uint64_t address[WARP_LANES]);
void access_fault(struct warp_state *w, const struct op *op, unsigned lane, enum ptx_space space, uint64_t address,
                  unsigned bytes, enum access_kind kind);
op_handler *atomic_handler_find(const struct op *op);
/* Puts down what the stream should say of an access (touch.c); all active lanes are in `space`. */
void touch_note(struct warp_state *w, uint32_t mask, enum ptx_space space, const uint64_t address[WARP_LANES],
                unsigned bytes, enum access_kind kind);

/* Watches lines that are loaded as read-only (promise.c); `record` says of the access what the note does. */
void promise_note(struct warp_state *w, const struct op *op, const struct instr *record);

/* The CTA's barriers (barrier.c). */
void barrier_execute(struct warp_state *w, const struct op *op, uint32_t mask, struct instr *record);
void barrier_warp_ended(struct warp_state *w);

/* The warp's turn (warp.c): at most `quantum` instructions. */
void warp_begin(struct warp_state *w, struct cta *cta, uint32_t index);
void warp_run(struct warp_state *w, unsigned quantum);
void warp_release(struct warp_state *w);

/* Ends the run with an error that says where (fault.c). */
void fault_set(struct warp_state *w, const struct op *op, unsigned lane, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A value that is the same for all lanes of the mask: that of the lowest one. */
static inline uint32_t lane_u32(const struct warp_state *w, uint32_t place, uint32_t mask) {
    return ((const uint32_t *)warp_place(&w->warp, place))[lowest_bit(mask)];
}
/* Register row `place` of `bytes` wide lanes: writes the lowest bytes of values, zero-extended. */
void row_write(struct warp_state *w, uint32_t place, unsigned bytes, const uint64_t value[WARP_LANES], uint32_t mask);
void row_read(const struct warp_state *w, uint32_t place, unsigned bytes, uint64_t value[WARP_LANES]);

#define FOR_LANES(lane, mask) \
    for (uint32_t lane##_rest = (mask), lane; lane##_rest && (lane = lowest_bit(lane##_rest), true); \
         lane##_rest &= lane##_rest - 1)

#endif
