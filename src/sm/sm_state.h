/* The internal state of an SM, private to this module. */
#ifndef SLUICE_SM_SM_STATE_H
#define SLUICE_SM_SM_STATE_H

#include "sm/coalescing.h"
#include "sm/readonly_cache.h"
#include "sm/sm.h"
#include "sm/warp_scheduler.h"

enum {
    SM_WARPS = 64,
    SM_SCHEDULERS = 4,
    SM_BARRIERS = 16,
    WARP_WHEEL = 512,          /* cycles; longer than any operation latency */
    WIDTHS = 8,                /* access widths of a lane, as log2, */
    WIDTHS_USED = 5,           /* up to 16 bytes */
    LSU_KINDS = 3 * 4 * 4 * 8, /* operations × spaces × cache operators × flags */
};

/* A decoded memory instruction. */
struct lsu_kind {
    struct l1_request request; /* template of each access */
    bool small_cache;          /* uses the constant or the read-only cache */
    bool special;              /* an atomic that is not sent by sector, or holds its warp */
};

/* Machine constants, decoded once for all SMs, and the scoreboards of all SMs in one allocation, so that the host
 * provides only the pages in use. */
struct sm_shared {
    uint64_t (*register_at)[STREAM_REGISTERS]; /* [SMs][warps], REGISTER_AT */
    unsigned schedulers, subcores, warps, lsu_queue, lsu_interval, loads_in_flight;
    unsigned operand_cycles, operand_read_cycles, writeback_cycles, load_stages, branch_cycles;
    unsigned shared_latency_cycles, cluster_shared_cycles, l1_latency_cycles;
    unsigned l1_tags, l1_port_bytes; /* per cycle */
    bool wide_l1;                    /* l1_tags or l1_port_bytes are not those of a plain L1 */
    unsigned bulk_cycles, bulk_interval;
    unsigned line_log2, instruction_log2;
    uint64_t line_bytes;
    unsigned instruction_line_log2;                 /* instructions per line */
    unsigned units[UNIT_MEM], collectors[UNIT_MEM]; /* of a sub-core; 0 collectors: unlimited */
    bool plain_issue;                               /* without collectors, operand_read_cycles and branch_cycles */
    unsigned ahead_loads; /* loads in flight up to which the load/store unit executes ahead of time */
    bool arbitrates;      /* the load/store unit selects an instruction when it begins it: it has several queues, or an
                        instruction can occupy it for longer than its accesses take */
    bool perfect_instruction, perfect_constant, has_read_only, volatile_past_l1;
    bool atomics_by_lane, atomics_combined, atomics_hold;
    const struct coalescing_ops *coalescing;
    const struct warp_scheduler_ops *scheduler;
    uint8_t one_access[WIDTHS]
                      [256]; /* by lane width and sector mask of a block: its access, if it has only one; else 0 */
    struct lsu_kind lsu_kind[LSU_KINDS];
    struct op_timing {
        uint16_t result_cycles; /* from issue to the issue of a dependent instruction */
        uint16_t interval;
        uint16_t unit; /* enum unit */
        bool brief;    /* occupies its pipeline for one cycle, and a sub-core has as many as schedulers */
    } op[OP_RECORDS];
    struct tensor_timing {
        uint16_t latency_cycles; /* from the end of its interval to the issue of a dependent instruction */
        uint16_t rate;           /* multiply-adds per cycle */
    } tensor[TENSOR_COUNT];
};

/* The scoreboard holds, per register, the cycle in which its value is available, and in the lowest bit whether it comes
 * from memory outside the SM. The maximum over an instruction's registers thus says until when and for what it waits,
 * and a result without a waiting instruction needs no event. Register 0 means "none" and is always available. */
#define REGISTER_AT(cycle, beyond) ((cycle) << 1 | (beyond))
#define REGISTER_UNKNOWN(beyond)   (UINT64_MAX - !(beyond)) /* a load without data */

/* An outstanding load. */
struct load {
    uint64_t issued_at;
    uint64_t ready_at; /* when its latest L1 hit has data */
    uint16_t waiting;  /* accesses without data; plus one while the load is in the load/store unit */
    uint16_t next;     /* free list */
    uint8_t warp;
    bool holds; /* its warp issues nothing until it completes */
    uint8_t dst[INSTR_DSTS];
};
enum { LOAD_NONE = 0xFFFF };
#define LINE_NONE UINT32_MAX /* of instructions; programs are shorter */

/* The receiver of an L1 completion, in the upper bits of its token. */
#define TOKEN_LOAD        UINT32_C(0)
#define TOKEN_STORE       (UINT32_C(1) << 28) /* low bits: warp */
#define TOKEN_INSTRUCTION (UINT32_C(2) << 28) /* low bits: MSHR of the cache, as in the next two */
#define TOKEN_CONSTANT    (UINT32_C(3) << 28)
#define TOKEN_READ_ONLY   (UINT32_C(4) << 28)
#define TOKEN_COPY        (UINT32_C(5) << 28) /* low bits: load */
#define TOKEN_KIND        (UINT32_C(15) << 28)
/* Above the load, if latencies are observed: the number of the access. */
#define TOKEN_ACCESS(number) ((uint32_t)(number) << 16)

/* What an entry of the load/store unit copies asynchronously: lanes to shared memory, nothing (it only arrives on an
 * mbarrier), or a range of bytes: to shared memory, to global memory, or from shared to shared memory. */
enum copy_kind { COPY_NONE, COPY_LANES, COPY_ARRIVE, COPY_BULK, COPY_STORE, COPY_SEND };
struct copies;
struct lsu_watch;

/* A memory instruction in the load/store unit. */
struct lsu_entry {
    uint64_t ready_at; /* when its operands have been read */
    uint16_t load;     /* LOAD_NONE for stores */
    uint16_t done, count;
    uint16_t data_cycles; /* with l1_port_bytes: cycles on the data port of the L1, at least 1 */
    uint8_t space;
    bool remote;               /* shared memory of another CTA of the cluster */
    uint8_t copy;              /* enum copy_kind */
    bool small_cache;          /* uses the constant or the read-only cache */
    struct l1_request request; /* template of each access, without address and sectors */
    uint64_t access[COALESCING_MAX];
};

struct cta {
    bool used;
    uint64_t index; /* in the grid */
    uint64_t slots; /* slots of its warps */
    unsigned live;  /* warps that have not exited */
    struct {
        uint16_t arrived;  /* warps arrived, blocked or not */
        uint16_t expected; /* 0: all live warps */
        uint64_t waiting;  /* slots of blocked warps */
    } barrier[SM_BARRIERS];
    struct {
        uint64_t arrived, waiting; /* slots */
        bool reported;             /* the CTA has arrived */
    } cluster;
};

/* Memory instructions between issue and the end of their accesses, in order. Those from `first` to `head` have been
 * executed ahead of time (lsu.c) and leave in cycle `ready_at`. */
struct lsu_queue {
    struct lsu_entry *entry;
    uint32_t mask, first, head, tail;
    uint32_t room;    /* free places, not counting those of instructions that have left since the last one was taken */
    uint64_t room_at; /* when it accepts an instruction; NEVER: after the next tick of the unit that ends one */
};

/* The part of an SM with its own pipelines and memory queue: that of a scheduler, of several, or the whole SM. */
struct subcore {
    uint64_t warps;                  /* slots */
    uint64_t units_free_at;          /* the maximum over the units */
    uint64_t unit_free_at[UNIT_MEM]; /* when one of the unit's pipelines and one of its collectors are free */
    uint64_t unit_idle_at[UNIT_MEM]; /* when all pipelines of the unit are free */
    struct lsu_queue queue;
    uint64_t pipeline_free_at[UNIT_MEM][8];  /* ascending */
    uint64_t collector_free_at[UNIT_MEM][8]; /* ascending */
};

/* A warp scheduler: the state of its policy, what it sees, and how it picks. */
struct scheduler {
    struct warp_view view;
    void *state;
    unsigned (*pick)(void *state, uint64_t candidates, const struct warp_view *view);
};
_Static_assert(sizeof(struct scheduler) == 64, "found by a shift");

/* Reasons not to issue. */
enum no_issue {
    STOPPED = 1, /* until COMMAND_GO_ON */
    HALTED = 2,  /* the run is over */
};

struct sm {
    /* Accessed in every tick. Warps are bits, indexed by slot. */
    uint64_t ready;               /* next instruction issues as soon as its pipeline is free */
    uint64_t by_unit[UNIT_COUNT]; /* warps by the pipeline of their next instruction */
    uint64_t wait_alu, wait_memory, at_barrier, at_fence;
    uint64_t dated;          /* waiting warps that become ready in the cycle for which they are scheduled */
    uint64_t loading;        /* may have a register from memory that is not available */
    uint64_t branching;      /* took a branch, next instruction not yet available */
    uint64_t paused;         /* at a barrier at which the stream pauses: the window is empty */
    uint64_t cluster_passed; /* the phase of their arrival at the cluster's barrier has ended */
    uint64_t at_atomic;      /* held by an atomic that has not completed */
    uint64_t at_copy;        /* waits for asynchronous copies */
    uint64_t fetching;       /* instruction fetch pending */
    uint64_t unfetched;      /* fetch rejected by the instruction cache, to be retried */
    uint64_t resident;       /* launched and not ended */
    uint64_t exited;         /* of these: exit has issued */
    uint64_t lsu_next_at;    /* when the load/store unit sends its next access; NEVER if it is empty */
    uint64_t bulk_next_at;   /* the same for the bulk copy unit, or when an update of an mbarrier takes effect */
    uint32_t copying;        /* asynchronous copies in flight */
    enum l1_outcome failure; /* reservation failure of the load/store unit in the last tick; 0: none */
    uint32_t failed_changes; /* gate->changes at the reservation failure */
    bool foresees;           /* the unit's next access probably fails: see sm_foresee() */
    bool frozen;
    bool runs_ahead;  /* instructions of the load/store unit may be executed ahead of time */
    uint8_t no_issue; /* enum no_issue */
    bool quiet;       /* REPORT_QUIET has been sent */
    unsigned index, component;
    unsigned l1_ways;   /* by the last carve-out; 0: none so far, or a fixed number */
    struct waker waker; /* of the component */
    const struct sm_shared *shared;
    struct engine *engine;
    struct l1 *l1;
    const struct l1_gate *gate; /* the L1's gate for this SM */
    const struct launch *launch;
    struct port *commands, *reports;
    struct sm_stats stats;
    uint64_t stall_cycles[STALL_COUNT];                 /* as struct sm_stall_stats */
    uint64_t failed_cycles[L1_OUTCOMES - L1_FAIL_MSHR]; /* as struct l1_reservation_fail_stats */
    uint64_t op_issued[OP_RECORDS];                     /* as struct sm_op_stats; beyond, not counted again */

    struct subcore subcore[SM_SCHEDULERS];

    /* Warps. */
    const struct instr *next[SM_WARPS];
    const struct instr *end[SM_WARPS];         /* end of the current stream window */
    uint64_t (*register_at)[STREAM_REGISTERS]; /* this SM's part of the scoreboards */
    uint64_t results_at[SM_WARPS];             /* when all scheduled results are available */
    uint64_t loads_at[SM_WARPS];               /* the same for loads */
    uint64_t beyond_at[SM_WARPS];              /* the same for loads from memory outside the SM */
    uint32_t beyond[SM_WARPS];                 /* loads from memory outside the SM without data */
    uint32_t outstanding[SM_WARPS];            /* loads without data, and stores in the load/store unit */
    uint32_t stores[SM_WARPS];                 /* store accesses not acknowledged */
    uint32_t copies_of[SM_WARPS];              /* asynchronous copies in flight */
    uint32_t fetched_line[SM_WARPS];           /* last instruction line used, or LINE_NONE */
    uint8_t cta_of[SM_WARPS];
    uint8_t unit_of[SM_WARPS];      /* pipeline of the next instruction */
    uint8_t scheduler_of[SM_WARPS]; /* scheduler that owns the slot */
    uint8_t subcore_of[SM_WARPS];

    /* CTAs and their launch order. */
    struct cta cta[SM_WARPS];
    uint64_t cta_slots[SM_WARPS]; /* oldest first */
    uint8_t cta_order[SM_WARPS];
    unsigned ctas;

    struct scheduler scheduler[SM_SCHEDULERS];

    uint64_t due[WARP_WHEEL]; /* warps scheduled for this cycle: result available, barrier released */

    /* Load/store unit. */
    struct lsu_queue *lsu; /* the first instruction of this queue is in execution; NULL: none, if the unit arbitrates */
    uint64_t lsu_free_at;  /* busy until then with bank conflicts */
    uint64_t lsu_begins_at; /* if the unit arbitrates: it begins no instruction before (lsu_interval, l1_port_bytes) */
    uint64_t lsu_data_at;   /* with l1_port_bytes: when the last data of the instruction in execution pass the port */
    unsigned lsu_turn;      /* the sub-core after the one served last */
    struct load *load;
    uint16_t load_free;
    unsigned loads_used;
    struct lsu_watch *watch; /* observation of latencies (lsu_latency.c); NULL: none */

    struct copies *copies; /* NULL until the first asynchronous copy */
    struct readonly_cache instruction_cache, constant_cache, read_only_cache;
    uint32_t unsent; /* their misses that have not been sent */

    struct warp_stream *stream; /* [warps] */
};

/* Whether the load/store unit accepts an instruction of the sub-core in cycle `at`. */
static inline bool lsu_has_room(const struct sm *sm, const struct subcore *subcore, uint64_t at) {
    return subcore->queue.room_at <= at && sm->load_free != LOAD_NONE;
}
static inline bool lsu_is_empty(const struct lsu_queue *queue) { return queue->head == queue->tail; }
/* When the last instruction that was executed ahead of time leaves; 0 if there is none. */
static inline uint64_t lsu_left_at(const struct lsu_queue *queue) {
    return queue->first == queue->head ? 0 : queue->entry[(queue->head - 1) & queue->mask].ready_at;
}
static inline struct lsu_entry *lsu_first(const struct lsu_queue *queue) {
    return &queue->entry[queue->head & queue->mask];
}

/* issue.c */
void sm_classify(struct sm *sm, unsigned warp, uint64_t now);
/* For a warp that waits for registers, after the time of one of them became known. */
void sm_classify_waiting(struct sm *sm, unsigned warp, uint64_t now);
NEVER_INLINE void sm_refill(struct sm *sm, unsigned warp);
/* Those of the ready warps `open` of a sub-core whose unit accepts an instruction in cycle `at`. */
static inline uint64_t subcore_open_warps(const struct sm *sm, const struct subcore *subcore, uint64_t open,
                                          uint64_t at) {
    if (open & sm->by_unit[UNIT_MEM] && !lsu_has_room(sm, subcore, at)) open &= ~sm->by_unit[UNIT_MEM];
    if (subcore->units_free_at > at)
        for (enum unit unit = 0; unit < UNIT_MEM; unit++)
            if (subcore->unit_free_at[unit] > at) open &= ~sm->by_unit[unit];
    return open;
}
/* Ready warps whose unit accepts an instruction in cycle `at`. */
static inline uint64_t sm_open_warps(const struct sm *sm, uint64_t at) {
    if (LIKELY(sm->shared->subcores == 1)) return subcore_open_warps(sm, sm->subcore, sm->ready, at);
    uint64_t open = 0;
    for (const struct subcore *subcore = sm->subcore; subcore < sm->subcore + sm->shared->subcores; subcore++)
        open |= subcore_open_warps(sm, subcore, sm->ready & subcore->warps, at);
    return open;
}
/* Issues from `open`, which is sm_open_warps() and not empty. */
void sm_issue_cycle(struct sm *sm, uint64_t open, uint64_t now);
NEVER_INLINE void sm_fetch(struct sm *sm, unsigned warp);
void sm_retry_later(struct sm *sm);
/* Wakes the SM when a ready warp can issue. */
void sm_next_issue(struct sm *sm, uint64_t now);
void sm_due_later(struct sm *sm, uint64_t warps, uint64_t at);
/* Re-checks the warps of `due` and clears it. */
void sm_due(struct sm *sm, uint64_t *due, uint64_t now);
/* Writes the registers `dst` of the warp: REGISTER_AT. */
static inline void registers_set(struct sm *sm, unsigned warp, const uint8_t *dst, uint64_t at) {
    if (!dst[0]) return;
    sm->register_at[warp][dst[0]] = at;
    if (UNLIKELY(dst[1]))
        for (unsigned i = 1; i < INSTR_DSTS && dst[i]; i++) sm->register_at[warp][dst[i]] = at;
}
/* The registers `dst` of the warp become available in cycle `at`. */
static inline void sm_result_at(struct sm *sm, unsigned warp, const uint8_t *dst, bool beyond, uint64_t at) {
    registers_set(sm, warp, dst, REGISTER_AT(at, beyond));
    sm->results_at[warp] = max_u64(sm->results_at[warp], at);
}

/* lsu.c */
void lsu_kinds_init(struct sm_shared *shared);
/* `reads`: cycles to read its registers, in addition to operand_cycles. */
void lsu_accept(struct sm *sm, struct lsu_queue *queue, unsigned warp, const struct instr *instr, unsigned reads,
                uint64_t now);
/* Precondition: sm->lsu_next_at <= now. */
void lsu_tick(struct sm *sm, uint64_t now);
/* The reservation failure of the access in the next cycle, if there will be one; else 0. */
enum l1_outcome lsu_foresee(struct sm *sm);
void lsu_complete(struct sm *sm, uint32_t token, uint64_t now);

/* lsu_latency.c, if sm->watch is not NULL */
NEVER_INLINE struct lsu_watch *lsu_watch_create(const struct sm_shared *shared);
/* The entry's load makes its next access, which is accepted with this outcome or fails. */
NEVER_INLINE void lsu_observe_attempt(struct sm *sm, struct lsu_entry *entry, uint64_t now);
NEVER_INLINE void lsu_observe_outcome(struct sm *sm, struct lsu_entry *entry, enum l1_outcome outcome, uint64_t now);
/* It has no access to make. */
NEVER_INLINE void lsu_observe_none(struct sm *sm, const struct lsu_entry *entry, uint64_t now);
/* The data of an MSHR of one of the SM's caches have arrived for a waiter, and for all of them. */
NEVER_INLINE void lsu_observe_served(struct sm *sm, const struct readonly_cache *cache, unsigned mshr, uint32_t waiter,
                                     uint64_t now);
NEVER_INLINE void lsu_observe_filled(struct sm *sm, const struct readonly_cache *cache, unsigned mshr);
/* An access has completed; the load ends in cycle `at`. */
NEVER_INLINE void lsu_observe_completion(struct sm *sm, uint32_t token);
NEVER_INLINE void lsu_observe_end(struct sm *sm, uint16_t load, uint64_t at, uint64_t now);

/* arbiter.c, for a unit that arbitrates */
/* No instruction is in execution: schedules the beginning of the next one, if there is any. */
NEVER_INLINE void arbiter_schedule(struct sm *sm, uint64_t now);
/* Selects the instruction that begins in this cycle, for which the unit was scheduled. */
NEVER_INLINE void arbiter_select(struct sm *sm, uint64_t now);

/* copy.c */
NEVER_INLINE void copies_destroy(struct copies *copies);
/* A CTA begins in the slot; sm->copies is not NULL. */
NEVER_INLINE void copies_launch(struct sm *sm, unsigned slot);
/* A wait for copies, and an operation on an mbarrier: records of OP_fence and OP_barrier with INSTR_ASYNC. */
NEVER_INLINE void copy_wait(struct sm *sm, unsigned warp, const struct instr *instr, uint64_t now);
NEVER_INLINE void copy_barrier(struct sm *sm, unsigned warp, const struct instr *instr, uint64_t now);
/* An entry of the load/store unit is a copy; it has left the unit; one of its accesses has completed. */
NEVER_INLINE void copy_accept(struct sm *sm, struct lsu_entry *entry, unsigned warp, const struct instr *instr,
                              uint64_t now);
NEVER_INLINE void copy_retire(struct sm *sm, const struct lsu_entry *entry, uint64_t now);
NEVER_INLINE void copy_complete(struct sm *sm, uint16_t index, uint64_t now);
/* The bulk copy unit: false if its queue is full. */
NEVER_INLINE bool bulk_accept(struct sm *sm, const struct lsu_entry *entry, uint64_t now);
/* An update of an mbarrier from another CTA of the cluster. */
NEVER_INLINE void mbarrier_update(struct sm *sm, const struct sm_command *command);
/* Precondition: sm->bulk_next_at <= now. */
NEVER_INLINE void bulk_tick(struct sm *sm, uint64_t now);
void copies_explain(const struct sm *sm, FILE *out);

/* cta.c */
NEVER_INLINE void cta_launch(struct sm *sm, uint64_t index, uint64_t now);
NEVER_INLINE void cta_warp_exit(struct sm *sm, unsigned warp, uint64_t now);
NEVER_INLINE void cta_warp_check(struct sm *sm, unsigned warp, uint64_t now);
/* cluster.c */
void cta_cluster_barrier(struct sm *sm, unsigned warp, const struct instr *instr, uint64_t now);
void cta_cluster_check(struct sm *sm, unsigned slot, uint64_t now); /* a warp of the CTA has arrived or exited */
void cta_cluster_release(struct sm *sm, uint64_t index, uint64_t now);
/* The warp updates an mbarrier of the CTA with a rank in its cluster; the message is sent in cycle `from`, or now. */
void cta_cluster_update(struct sm *sm, unsigned warp, unsigned rank, uint8_t mbarrier, uint64_t from, uint64_t now);

NEVER_INLINE void cta_barrier(struct sm *sm, unsigned warp, const struct instr *instr, uint64_t now);

#endif
