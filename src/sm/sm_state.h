/* The insides of an SM, shared by the files of this room only. */
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
    WARP_WHEEL = 512,          /* cycles; longer than any latency of an operation and its stages */
    WIDTHS = 8,                /* of an access by one lane, as powers of two */
    LSU_KINDS = 3 * 4 * 4 * 8, /* operations, spaces, cache operators, flags of memory instructions */
};

/* What the load/store unit makes of a memory instruction. */
struct lsu_kind {
    struct l1_request request; /* of each access, but for what differs between instructions of the sort */
    bool small_cache;          /* by the constant or the read-only cache */
};

/* Constants of the machine, decoded once for all SMs, and their scoreboards in one piece: the host then provides just
 * the pages that are used. */
struct sm_shared {
    uint64_t (*register_at)[STREAM_REGISTERS]; /* [SMs][warps], REGISTER_AT */
    unsigned schedulers, warps, lsu_queue, loads_in_flight;
    unsigned operand_cycles, operand_read_cycles, writeback_cycles, load_stages, branch_cycles;
    unsigned shared_latency_cycles, l1_latency_cycles;
    unsigned line_log2, instruction_log2;
    unsigned instruction_line_log2;                     /* instructions of a line */
    unsigned units[UNIT_COUNT], collectors[UNIT_COUNT]; /* 0 collectors: as many as needed */
    bool perfect_instruction, perfect_constant, has_read_only, volatile_past_l1;
    const struct coalescing_ops *coalescing;
    const struct warp_scheduler_ops *scheduler;
    bool line_is_one_access[WIDTHS]; /* a touched line is one access, for lanes of this width */
    uint8_t whole_line;              /* its sectors */
    uint8_t line_at[256]; /* by the sectors touched in a block: where the whole line that they are begins, plus one */
    struct lsu_kind sort[LSU_KINDS];
    struct op_timing {
        uint16_t result_cycles; /* from issue until a dependent instruction may issue */
        uint16_t interval;
        uint8_t unit;
    } op[OP_COUNT];
};

/* The scoreboard keeps for each register when its value is there: the cycle, and in the lowest bit whether it comes
 * from memory beyond the SM. So the latest of an instruction's registers says whether and why it waits, and a result
 * that nobody waits for is no event. Register 0 is "none" and always there. */
#define REGISTER_AT(cycle, beyond) ((cycle) << 1 | (beyond))
#define REGISTER_UNKNOWN(beyond)   (UINT64_MAX - !(beyond)) /* a load that has no data yet */

/* A load that waits for data. */
struct load {
    uint64_t issued_at;
    uint64_t ready_at; /* when the last of its accesses that hit has its data */
    uint16_t waiting;  /* accesses whose data has not come; plus one while the load/store unit still works on it */
    uint16_t next;     /* free list */
    uint8_t warp;
    uint8_t dst[INSTR_DSTS];
};
enum { LOAD_NONE = 0xFFFF };

/* Who an L1 completion is for, in the upper bits of its token. */
#define TOKEN_LOAD        UINT32_C(0)
#define TOKEN_STORE       (UINT32_C(1) << 28) /* below: the warp */
#define TOKEN_INSTRUCTION (UINT32_C(2) << 28) /* below: MSHR of that cache, as in the next two */
#define TOKEN_CONSTANT    (UINT32_C(3) << 28)
#define TOKEN_READ_ONLY   (UINT32_C(4) << 28)
#define TOKEN_KIND        (UINT32_C(15) << 28)

/* A memory instruction in the load/store unit. */
struct lsu_entry {
    uint64_t ready_at; /* its operands are there */
    uint16_t load;     /* LOAD_NONE for stores */
    uint16_t done, count;
    uint8_t space;
    bool small_cache;          /* by the constant or the read-only cache */
    struct l1_request request; /* of each access, but for its address and sectors */
    uint64_t access[COALESCING_MAX];
};

struct cta {
    bool used;
    uint64_t index; /* in the grid */
    uint64_t slots; /* its warps */
    unsigned live;  /* warps that have not ended */
    struct {
        uint16_t arrived;  /* warps, waiting or not */
        uint16_t expected; /* 0: all live ones */
        uint64_t waiting;  /* slots */
    } barrier[SM_BARRIERS];
};

struct sm {
    /* Touched in every tick. Warps are bits by slot. */
    uint64_t ready;               /* its next instruction could issue if its pipeline were free */
    uint64_t by_unit[UNIT_COUNT]; /* the pipeline of the next instruction */
    uint64_t wait_alu, wait_memory, at_barrier, at_fence;
    uint64_t dated;                            /* of those that wait: they are ready when they are due */
    uint64_t branching;                        /* has taken a branch and gets its next instruction */
    uint64_t fetching;                         /* its instruction line is on the way */
    uint64_t unfetched;                        /* the instruction cache took no further miss: to be asked again */
    uint64_t resident;                         /* launched and not completely ended */
    uint64_t exited;                           /* of these: its exit has issued */
    uint64_t pipeline_free_at[UNIT_COUNT][8];  /* in ascending order, so that the first says whether the unit is free */
    uint64_t collector_free_at[UNIT_COUNT][8]; /* likewise */
    enum l1_outcome refusal;                   /* of the load/store unit in the last tick, 0 if none */
    uint32_t refused_changes;                  /* state of the L1 when it refused */
    bool frozen, halted;
    bool stopped; /* issues nothing until it is told to go on */
    bool quiet;   /* and has said that nothing is under way any more */
    unsigned index, component;
    struct waker waker; /* of the component */
    const struct sm_shared *shared;
    struct engine *engine;
    struct l1 *l1;
    const struct l1_gate *gate; /* of the L1, to this SM */
    const struct launch *launch;
    struct port *commands, *reports;
    struct sm_stats stats;
    uint64_t stall_cycles[STALL_COUNT];                  /* as struct sm_stall_stats */
    uint64_t refused_cycles[L1_OUTCOMES - L1_FAIL_MSHR]; /* as struct l1_reservation_fail_stats */
    uint64_t op_issued[OP_COUNT];                        /* as struct sm_op_stats */

    /* Warps. */
    const struct instr *next[SM_WARPS];
    const struct instr *end[SM_WARPS];         /* of the records at hand */
    uint64_t (*register_at)[STREAM_REGISTERS]; /* this SM's part of the scoreboards */
    uint64_t results_at[SM_WARPS];             /* when all results that have a date are there */
    uint64_t loads_at[SM_WARPS];               /* likewise, of loads */
    uint32_t outstanding[SM_WARPS];            /* loads without data, and stores in the load/store unit */
    uint32_t stores[SM_WARPS];                 /* accesses of stores that are not acknowledged */
    uint32_t fetched_line[SM_WARPS];           /* instruction line that the warp last used, plus one */
    uint8_t cta_of[SM_WARPS];
    uint8_t unit_of[SM_WARPS];      /* of the next instruction */
    uint8_t scheduler_of[SM_WARPS]; /* the one that the slot belongs to */

    /* CTAs, and the order in which they came. */
    struct cta cta[SM_WARPS];
    uint64_t cta_slots[SM_WARPS]; /* oldest first */
    uint8_t cta_order[SM_WARPS];
    unsigned ctas;

    struct warp_view view[SM_SCHEDULERS];
    void *scheduler[SM_SCHEDULERS];

    uint64_t due[WARP_WHEEL]; /* warps that wait for this cycle: for a result, for leaving a barrier */

    /* Load/store unit. */
    struct lsu_entry *lsu;
    uint32_t lsu_mask, lsu_head, lsu_tail;
    uint64_t lsu_free_at; /* shared-memory conflicts keep it busy */
    struct load *load;
    uint16_t load_free;
    unsigned loads_used;

    struct readonly_cache instruction_cache, constant_cache, read_only_cache;
    uint32_t unsent; /* misses of theirs that the L1 has not taken */

    struct warp_stream *stream; /* [warps] */
};

/* issue.c */
void sm_classify(struct sm *sm, unsigned warp, uint64_t now);
/* Of a warp that waits for registers: one of them has got a date. */
void sm_classify_waiting(struct sm *sm, unsigned warp, uint64_t now);
NEVER_INLINE void sm_refill(struct sm *sm, unsigned warp);
/* Returns whether anything issued. Something is ready. */
bool sm_issue_cycle(struct sm *sm, uint64_t now);
NEVER_INLINE void sm_fetch(struct sm *sm, unsigned warp);
void sm_retry_later(struct sm *sm);
void sm_next_issue(struct sm *sm, uint64_t now);
enum sm_stall sm_stall_cause(const struct sm *sm);
void sm_due_later(struct sm *sm, uint64_t warps, uint64_t at);
/* Those of `due`, which is emptied, are looked at. */
void sm_due(struct sm *sm, uint64_t *due, uint64_t now);
/* The registers `dst` of the warp get their values in the cycle `at`. */
void sm_result_at(struct sm *sm, unsigned warp, const uint8_t *dst, bool beyond, uint64_t at);

/* lsu.c */
void lsu_kinds_init(struct sm_shared *shared);
bool lsu_has_room(const struct sm *sm);
/* Its registers take `reads` cycles more to be read than operand_cycles. */
void lsu_accept(struct sm *sm, unsigned warp, const struct instr *instr, unsigned reads, uint64_t now);
void lsu_tick(struct sm *sm, uint64_t now);
void lsu_complete(struct sm *sm, uint32_t token, uint64_t now);

/* cta.c */
NEVER_INLINE void cta_launch(struct sm *sm, uint64_t index, uint64_t now);
NEVER_INLINE void cta_warp_exit(struct sm *sm, unsigned warp, uint64_t now);
NEVER_INLINE void cta_warp_check(struct sm *sm, unsigned warp, uint64_t now);
NEVER_INLINE void cta_barrier(struct sm *sm, unsigned warp, const struct instr *instr, uint64_t now);

#endif
