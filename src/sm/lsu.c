/* The load/store unit: one memory instruction at a time, in order, one access per cycle.
 *
 * An instruction is coalesced into accesses when it issues; they are sent one per cycle once its operands have been
 * read. An access with a reservation failure is replayed every cycle and blocks all later ones: the memory pipeline
 * stall of GPGPU-Sim. A load completes when all of its accesses have data. Stores are acknowledged, and a warp does not
 * end before that. Asynchronous copies pass the unit like loads; bulk copies then enter a unit of their own (copy.c).
 *
 * An L1 may look up several lines per cycle, and pass fewer bytes than an instruction accesses: the instruction takes the
 * longer of both times. Records have sectors and the number of lanes, not their addresses: bank conflicts in the L1 are
 * not modelled.
 *
 * Instructions of several sub-cores take turns (arbiter.c).
 */
#include "sm/sm_state.h"

/* Decoded once for each combination of operation, space, cache operator and flags. */
enum { KIND_FLAGS = INSTR_READ_ONLY | INSTR_NONCOHERENT | INSTR_PARTIAL };

static inline unsigned kind_index(unsigned op, unsigned space, unsigned cache, unsigned flags) {
    return (((op - OP_load) * 4 + space) * 4 + cache) * (KIND_FLAGS + 1) + (flags & KIND_FLAGS);
}

static struct lsu_kind kind_make(enum op_class op, enum memory_space space, enum cache_operator cache, unsigned flags,
                                 const struct sm_shared *shared) {
    bool load = op == OP_load, past = cache == CACHE_GLOBAL || (cache == CACHE_VOLATILE && shared->volatile_past_l1);
    return (struct lsu_kind){
        .request = {.kind = load             ? MESSAGE_READ
                            : op == OP_store ? MESSAGE_WRITE
                                             : MESSAGE_ATOMIC,
                    .flags = (uint8_t)((flags & INSTR_READ_ONLY ? MESSAGE_READ_ONLY : 0) |
                                       (flags & INSTR_PARTIAL ? MESSAGE_PARTIAL : 0)),
                    .bypass = op == OP_atomic || (load && space != SPACE_LOCAL && past),
                    .local = space == SPACE_LOCAL},
        .small_cache = space == SPACE_CONST || (load && (flags & INSTR_NONCOHERENT) && shared->has_read_only),
        .special = op == OP_atomic && (shared->atomics_by_lane || shared->atomics_combined || shared->atomics_hold),
    };
}

void lsu_kinds_init(struct sm_shared *shared) {
    for (enum op_class op = OP_load; op <= OP_atomic; op++)
        for (enum memory_space space = 0; space <= SPACE_CONST; space++)
            for (enum cache_operator cache = 0; cache <= CACHE_VOLATILE; cache++)
                for (unsigned flags = 0; flags <= KIND_FLAGS; flags++)
                    shared->lsu_kind[kind_index(op, space, cache, flags)] = kind_make(op, space, cache, flags, shared);
}

/* A load, or an atomic that something waits for: an instruction that uses its old value, or the whole warp. */
static bool wants_data(const struct sm *sm, const struct instr *instr) {
    return instr->op == OP_load || (instr->op == OP_atomic && (instr->dst[0] || sm->shared->atomics_hold));
}

static uint16_t load_take(struct sm *sm, unsigned warp, const struct instr *instr, uint64_t now) {
    uint16_t index = sm->load_free;
    struct load *load = &sm->load[index];
    sm->load_free = load->next;
    sm->loads_used++;
    *load = (struct load){.issued_at = now, .waiting = 1, .warp = (uint8_t)warp};
    memcpy(load->dst, instr->dst, sizeof load->dst);
    registers_set(sm, warp, instr->dst, REGISTER_UNKNOWN(instr->space != SPACE_SHARED));
    return index;
}

/* Coalesces the instruction. Fast path: most instructions make one access. */
static unsigned coalesce(const struct sm *sm, unsigned warp, const struct instr *instr, bool bypass, uint64_t *access) {
    const struct sm_shared *shared = sm->shared;
    const uint64_t *touch = &sm->stream[warp].touch[instr->touches];
    if (LIKELY(instr->count == 1 && !bypass)) {
        uint8_t in_block = shared->one_access[instr->bytes_log2 % WIDTHS][touch_sectors(*touch)];
        if (LIKELY(in_block)) {
            *access = touch_address(*touch) | in_block;
            return 1;
        }
    }
    return shared->coalescing->coalesce(touch, instr->count, instr->bytes_log2, shared->line_log2, bypass, access);
}

/* Replaces the lanes on the busiest word of an atomic by an access each, or by one for all of them. The sector of that
 * word is not recorded: the first access is taken for it. */
static void separate_lanes(struct sm *sm, struct lsu_entry *entry) {
    unsigned lanes = sm->shared->atomics_by_lane && entry->count ? entry->request.conflicts : 1;
    assert(entry->count + lanes - 1 <= COALESCING_MAX);
    sm->stats.accesses += lanes - 1;
    for (; lanes > 1; lanes--) entry->access[entry->count++] = entry->access[0];
    entry->request.conflicts = 1;
}

/* The rest of the acceptance of an atomic. */
static NEVER_INLINE void accept_atomic(struct sm *sm, struct lsu_entry *entry, bool beyond) {
    if (beyond && (sm->shared->atomics_by_lane || sm->shared->atomics_combined)) separate_lanes(sm, entry);
    if (!sm->shared->atomics_hold) return;
    sm->at_atomic |= UINT64_C(1) << entry->request.warp;
    sm->load[entry->load].holds = true;
}

/* The unit has an access for the next cycle; `replayed`: the last one had failed, see sm.c, foresee(). */
static inline void go_on(struct sm *sm, bool replayed, uint64_t now) {
    if (UNLIKELY(replayed))
        sm->foresees = true;
    else
        engine_wake_near(sm->engine, sm->waker, now + 1);
}

/* Cycles on the data port of the L1: of the bytes of all lanes, but at most of all sectors, which lanes may share. */
static unsigned data_cycles(const struct sm *sm, const struct lsu_entry *entry, const struct instr *instr) {
    unsigned lanes = (unsigned)__builtin_popcount(instr->active) << instr->bytes_log2, sectors = 0;
    for (unsigned i = 0; i < entry->count; i++)
        sectors += (unsigned)__builtin_popcount(access_sectors(entry->access[i], sm->shared->line_bytes));
    uint64_t bytes = min_u64(lanes, sectors * SECTOR_BYTES);
    return (unsigned)max_u64(div_up(bytes, sm->shared->l1_port_bytes), 1);
}

/* The rest of the acceptance of an access to memory outside the SM. */
static inline void accept_beyond(struct sm *sm, struct lsu_entry *entry, unsigned warp, const struct instr *instr) {
    const struct lsu_kind *kind =
        &sm->shared->lsu_kind[kind_index(instr->op, instr->space, instr->cache, instr->flags)];
    entry->small_cache = kind->small_cache;
    entry->done = 0;
    entry->request = kind->request;
    entry->request.token = entry->load != LOAD_NONE ? TOKEN_LOAD | entry->load : TOKEN_STORE | warp;
    entry->request.instr = instr->id;
    entry->request.warp = (uint8_t)warp;
    entry->request.program = sm->launch->program;
    entry->request.conflicts = instr->conflicts ? instr->conflicts : 1;
    entry->count = (uint16_t)coalesce(sm, warp, instr, entry->request.bypass, entry->access);
    sm->stats.accesses += entry->count;
    if (UNLIKELY(sm->shared->l1_port_bytes)) { /* the small caches and the bulk copy unit do not use the port */
        bool uses = !kind->small_cache && !(instr->flags & INSTR_BULK);
        entry->data_cycles = uses ? (uint16_t)data_cycles(sm, entry, instr) : 1;
    }
    if (LIKELY(!(instr->flags & INSTR_ASYNC)) && entry->load != LOAD_NONE) {
        sm->stats.loads++;
        sm->loading |= UINT64_C(1) << warp;
        sm->beyond[warp]++;
    }
    if (UNLIKELY(kind->special)) accept_atomic(sm, entry, true);
}

/* When the value of a load is in its registers, which leaves the unit in cycle `left_at` and has data in `ready_at`. */
static inline uint64_t written_at(const struct sm *sm, uint64_t ready_at, uint64_t left_at) {
    return max_u64(max_u64(ready_at, left_at) + sm->shared->writeback_cycles + sm->shared->load_stages, left_at + 1);
}

/* The value of a load is in its registers from cycle `at` on. */
static ALWAYS_INLINE void load_result(struct sm *sm, unsigned warp, const uint8_t *dst, bool beyond, uint64_t issued_at,
                                      uint64_t at) {
    if (beyond) {
        uint64_t cycles = at - issued_at;
        sm->stats.load_cycles += cycles;
        stat_min(&sm->stats.load_cycles_min, cycles);
        stat_max(&sm->stats.load_cycles_max, cycles);
        sm->beyond_at[warp] = max_u64(sm->beyond_at[warp], at);
    }
    sm_result_at(sm, warp, dst, beyond, at);
    sm->loads_at[warp] = max_u64(sm->loads_at[warp], at);
}

/* The load of a warp that waits for more than registers is complete; its value is available in cycle `at`. */
static NEVER_INLINE void release_warp(struct sm *sm, const struct load *load, uint64_t at, uint64_t now) {
    if (load->holds) sm_due_later(sm, UINT64_C(1) << load->warp, at);
    cta_warp_check(sm, load->warp, now);
}

/* The load is complete: its value is in the registers from cycle `at` on. */
static ALWAYS_INLINE void load_end(struct sm *sm, uint16_t index, bool beyond, uint64_t at, uint64_t now) {
    struct load *load = &sm->load[index];
    unsigned warp = load->warp;
    if (beyond) {
        if (UNLIKELY(sm->watch != NULL)) lsu_observe_end(sm, index, at, now);
        sm->beyond[warp]--;
    }
    load_result(sm, warp, load->dst, beyond, load->issued_at, at);
    sm->outstanding[warp]--;
    if ((sm->wait_alu | sm->wait_memory) >> warp & 1) sm_classify_waiting(sm, warp, now);
    if ((sm->at_fence | sm->exited | sm->at_atomic) >> warp & 1) release_warp(sm, load, at, now);
    load->next = sm->load_free;
    sm->load_free = index;
    sm->loads_used--;
}

/* ---- execution ahead of time ----
 *
 * The first instruction of the unit is executed before its cycle if nothing can change the result until then: an access
 * to shared memory, and a load whose lines are all in the constant or the read-only cache. A line there stays present,
 * because only accesses of the unit evict lines, and they are made in order. What remains is the instruction's place in
 * the queue, until the cycle in which it leaves.
 *   - The limit of loads in flight cannot be reached until then: behind the instruction, the queue accepts no more than
 *     fit.
 *   - Where the cycle could be observed (counters are read, `--no-skip`), the instruction is executed in its own.
 *   - The tests that compare the two: tests/sm/ahead_test.c and tests/machine. */

static inline bool may_run_ahead(const struct sm *sm) {
    return sm->runs_ahead && !sm->copying && sm->loads_used <= sm->shared->ahead_loads;
}

/* Whether an instruction can leave in cycle `left_at`, with a result in cycle `at`, ahead of time. */
static inline bool is_near(const struct sm *sm, uint64_t left_at, uint64_t at, uint64_t now) {
    return left_at < sm->engine->ahead_until && at - now < WARP_WHEEL;
}

/* Frees the places of instructions that have left. */
static inline void vacate(struct lsu_queue *queue, uint64_t now) {
    for (; queue->first != queue->head && queue->entry[queue->first & queue->mask].ready_at <= now; queue->first++)
        queue->room++;
}

/* All places of the queue are taken, some by instructions that leave at a known time or have left: determines when one
 * is free. */
static NEVER_INLINE void await_room(const struct sm *sm, struct lsu_queue *queue, uint64_t now) {
    vacate(queue, now);
    queue->room_at = 0;
    if (queue->room) return;
    queue->room_at = queue->entry[queue->first & queue->mask].ready_at;
    engine_wake_near(sm->engine, sm->waker, queue->room_at);
}

/* Adds an entry. */
static inline void take_place(const struct sm *sm, struct lsu_queue *queue, uint64_t now) {
    queue->tail++;
    if (--queue->room) return;
    queue->room_at = NEVER;
    if (queue->first != queue->head) await_room(sm, queue, now);
}

/* An instruction occupies the unit until `free_at`. */
static inline void occupy(struct sm *sm, uint64_t free_at) {
    sm->lsu_free_at = free_at;
    sm->engine->progress++;
}

/* The instruction that is being accepted leaves in cycle `left_at`. */
static inline void leave_ahead(struct sm *sm, struct lsu_queue *queue, uint64_t left_at, uint64_t now) {
    queue->entry[queue->tail & queue->mask].ready_at = left_at;
    queue->head = queue->tail + 1;
    take_place(sm, queue, now);
}

/* When an access to shared memory that begins in cycle `begin_at` has its value in registers, or a store has left. */
static inline uint64_t shared_at(const struct sm *sm, uint64_t begin_at, unsigned conflicts, bool remote, bool load) {
    unsigned latency = remote ? sm->shared->cluster_shared_cycles : sm->shared->shared_latency_cycles;
    return load ? written_at(sm, begin_at + latency + conflicts - 1, begin_at) : begin_at;
}

/* Executes the instruction that is being accepted, an access to shared memory. Returns whether it could. */
static ALWAYS_INLINE bool shared_ahead(struct sm *sm, struct lsu_queue *queue, unsigned warp, const struct instr *instr,
                                       uint64_t begin_at, uint64_t now) {
    unsigned conflicts = instr->conflicts ? instr->conflicts : 1;
    uint64_t at = shared_at(sm, begin_at, conflicts, instr->flags & INSTR_CLUSTER, instr->op == OP_load);
    if (!is_near(sm, begin_at, at, now)) return false;
    load_result(sm, warp, instr->dst, false, now, at); /* a store has no registers, but fences and exits wait for it */
    sm->stats.shared_accesses++;
    sm->stats.shared_conflicts += conflicts - 1;
    occupy(sm, begin_at + conflicts);
    leave_ahead(sm, queue, begin_at, now);
    return true;
}

/* The same for the first instruction of the unit, an access to shared memory that was accepted in an earlier cycle. */
static NEVER_INLINE bool first_ahead(struct sm *sm, struct lsu_entry *entry, uint64_t begin_at, uint64_t now) {
    unsigned conflicts = entry->request.conflicts, warp = entry->request.warp;
    bool load = entry->load != LOAD_NONE;
    uint64_t at = shared_at(sm, begin_at, conflicts, entry->remote, load);
    if (!may_run_ahead(sm) || !is_near(sm, begin_at, at, now) || entry->copy || (load && sm->load[entry->load].holds))
        return false;
    sm->stats.shared_conflicts += conflicts - 1;
    occupy(sm, begin_at + conflicts);
    entry->ready_at = begin_at;
    sm->lsu->head++;
    if (!sm->lsu->room) await_room(sm, sm->lsu, now);
    if (load) {
        load_end(sm, entry->load, false, at, now);
    } else {
        sm->outstanding[warp]--;
        sm->results_at[warp] = max_u64(sm->results_at[warp], at);
        sm->loads_at[warp] = max_u64(sm->loads_at[warp], at);
        cta_warp_check(sm, warp, now);
    }
    return true;
}

/* The same for a load, if it is one from the constant or the read-only cache. */
static NEVER_INLINE bool load_ahead(struct sm *sm, struct lsu_queue *queue, unsigned warp, const struct instr *instr,
                                    uint64_t begin_at, uint64_t now) {
    const struct lsu_kind *kind =
        &sm->shared->lsu_kind[kind_index(instr->op, instr->space, instr->cache, instr->flags)];
    if (instr->op != OP_load || !kind->small_cache || kind->request.bypass) return false;
    bool constant = instr->space == SPACE_CONST, perfect = constant && sm->shared->perfect_constant;
    struct readonly_cache *cache = constant ? &sm->constant_cache : &sm->read_only_cache;
    uint64_t *access = queue->entry[queue->tail & queue->mask].access;
    unsigned count = coalesce(sm, warp, instr, false, access);
    uint64_t left_at = begin_at + count - 1, at = written_at(sm, left_at + sm->shared->l1_latency_cycles, left_at);
    if (!count || !is_near(sm, left_at, at, now)) return false;
    if (!perfect && !readonly_hits(cache, access, count, sm->launch->program)) return false;
    *(constant ? &sm->stats.constant_hits : &sm->stats.read_only_hits) += count;
    sm->stats.accesses += count;
    sm->stats.loads++;
    sm->loading |= UINT64_C(1) << warp;
    load_result(sm, warp, instr->dst, true, now, at);
    occupy(sm, left_at + 1);
    leave_ahead(sm, queue, left_at, now);
    return true;
}

/* Called when another instruction becomes the first of the unit, or none is left. */
static inline void schedule(struct sm *sm, bool replayed, uint64_t now) {
    if (UNLIKELY(sm->shared->arbitrates)) {
        arbiter_schedule(sm, now);
        return;
    }
    while (!lsu_is_empty(sm->lsu)) {
        struct lsu_entry *first = lsu_first(sm->lsu);
        uint64_t begin_at = max_u64(max_u64(first->ready_at, sm->lsu_free_at), now + 1);
        if (first->space == SPACE_SHARED && first_ahead(sm, first, begin_at, now)) continue;
        sm->lsu_next_at = begin_at;
        if (begin_at == now + 1)
            go_on(sm, replayed, now);
        else
            engine_wake_by(sm->engine, sm->waker, begin_at);
        return;
    }
    sm->lsu_next_at = NEVER;
}

void lsu_accept(struct sm *sm, struct lsu_queue *queue, unsigned warp, const struct instr *instr, unsigned reads,
                uint64_t now) {
    assert(queue->room_at <= now && sm->load_free != LOAD_NONE);
    assert(instr_is_memory(instr) && instr->space <= SPACE_CONST && instr->cache <= CACHE_VOLATILE);
    uint64_t ready_at = now + sm->shared->operand_cycles + reads;
    if (!queue->room) vacate(queue, now);
    bool local = instr->space >= SPACE_SHARED || instr->flags & INSTR_NONCOHERENT; /* probably not sent to the L1 */
    if (local && sm->lsu_next_at == NEVER && may_run_ahead(sm) && instr->op != OP_atomic &&
        !(instr->flags & INSTR_ASYNC)) {
        uint64_t begin_at = max_u64(ready_at, sm->lsu_free_at);
        if (instr->space == SPACE_SHARED ? shared_ahead(sm, queue, warp, instr, begin_at, now)
                                         : load_ahead(sm, queue, warp, instr, begin_at, now))
            return;
    }
    struct lsu_entry *entry = &queue->entry[queue->tail & queue->mask];
    take_place(sm, queue, now);
    entry->ready_at = ready_at;
    entry->space = instr->space;
    entry->copy = COPY_NONE;
    bool data = wants_data(sm, instr) || (instr->flags & INSTR_ASYNC);
    entry->load = data ? load_take(sm, warp, instr, now) : (uint16_t)LOAD_NONE;
    if (instr->space == SPACE_SHARED && LIKELY(!(instr->flags & INSTR_ASYNC))) {
        entry->count = 0;
        entry->remote = instr->flags & INSTR_CLUSTER;
        entry->request.warp = (uint8_t)warp;
        entry->request.conflicts = instr->conflicts ? instr->conflicts : 1;
        sm->stats.shared_accesses++;
        if (UNLIKELY(instr->op == OP_atomic)) accept_atomic(sm, entry, false);
    } else {
        if (instr->space != SPACE_SHARED) accept_beyond(sm, entry, warp, instr);
        if (UNLIKELY(instr->flags & INSTR_ASYNC)) copy_accept(sm, entry, warp, instr, now);
    }
    sm->outstanding[warp]++;
    if (sm->lsu_next_at == NEVER || !sm->lsu) schedule(sm, false, now);
}

/* One of the events that the load waits for has occurred. */
static inline void load_progress(struct sm *sm, uint16_t index, bool beyond, uint64_t now) {
    struct load *load = &sm->load[index];
    if (--load->waiting == 0) load_end(sm, index, beyond, written_at(sm, load->ready_at, now), now);
}

/* The instruction has sent all its accesses and leaves the unit. */
static ALWAYS_INLINE void retire(struct sm *sm, struct lsu_entry *entry, bool beyond, uint64_t now) {
    struct lsu_queue *queue = sm->lsu;
    queue->room += ++queue->head - queue->first; /* those before it have left */
    queue->first = queue->head;
    queue->room_at = 0;
    sm->engine->progress++;
    if (LIKELY(!entry->copy) && entry->load != LOAD_NONE) {
        load_progress(sm, entry->load, beyond, now);
        return;
    }
    sm->outstanding[entry->request.warp]--;
    if (UNLIKELY(entry->copy == COPY_LANES || entry->copy == COPY_ARRIVE)) copy_retire(sm, entry, now);
    cta_warp_check(sm, entry->request.warp, now);
}

static NEVER_INLINE void access_shared(struct sm *sm, struct lsu_entry *entry, uint64_t now) {
    unsigned conflicts = entry->request.conflicts;
    sm->lsu_free_at = now + conflicts;
    sm->stats.shared_conflicts += conflicts - 1;
    if (entry->load != LOAD_NONE)
        sm->load[entry->load].ready_at =
            now + (entry->remote ? sm->shared->cluster_shared_cycles : sm->shared->shared_latency_cycles) + conflicts -
            1;
    retire(sm, entry, false, now);
}

static NEVER_INLINE void retire_beyond(struct sm *sm, struct lsu_entry *entry, uint64_t now) {
    retire(sm, entry, true, now);
}

/* An access to the constant or the read-only cache. */
static NEVER_INLINE enum l1_outcome access_readonly(struct sm *sm, struct lsu_entry *entry, uint64_t address) {
    bool constant = entry->space == SPACE_CONST;
    if (constant && sm->shared->perfect_constant) {
        sm->stats.constant_hits++;
        return L1_HIT;
    }
    struct readonly_cache *cache = constant ? &sm->constant_cache : &sm->read_only_cache;
    enum readonly_outcome outcome = readonly_access(cache, address, sm->launch->program, entry->request.token);
    sm_retry_later(sm);
    if (outcome == READONLY_REFUSED) return L1_FAIL_MSHR;
    bool hit = outcome == READONLY_HIT;
    if (constant)
        hit ? sm->stats.constant_hits++ : sm->stats.constant_misses++;
    else
        hit ? sm->stats.read_only_hits++ : sm->stats.read_only_misses++;
    return hit ? L1_HIT : L1_MISS;
}

/* The request of the instruction's next access. */
static inline const struct l1_request *next_request(const struct sm *sm, struct lsu_entry *entry) {
    uint64_t access = entry->access[entry->done];
    entry->request.address = access_line(access, sm->shared->line_bytes);
    entry->request.sectors = access_sectors(access, sm->shared->line_bytes);
    return &entry->request;
}

static enum l1_outcome access_once(struct sm *sm, struct lsu_entry *entry, uint64_t now) {
    const struct l1_request *request = next_request(sm, entry);
    if (entry->small_cache) return access_readonly(sm, entry, request->address);
    return sm->l1->ops->access(sm->l1, sm->index, request, now);
}

static void note_failure(struct sm *sm, const struct lsu_entry *entry, enum l1_outcome failure) {
    sm->failure = failure;
    /* The read-only caches do not count changes, so their accesses are replayed in every tick. */
    sm->failed_changes = sm->gate->changes - entry->small_cache;
}

static bool may_look_ahead(const struct sm *sm, const struct lsu_entry *entry, uint64_t now) {
    return sm->engine->ahead_until > now + 1 && sm->l1->ops->hits && !entry->small_cache && !sm->copying &&
           sm->shared->l1_tags == 1;
}

/* Makes the accesses that follow a hit in the same cycle, as long as they hit, too: each takes a cycle, in which nothing
 * else depends on the unit. The last access of the instruction is made in its own cycle, in which it frees an entry.
 *   - Where the cycle could be observed (counters are read, `--no-skip`), accesses are made in their own.
 *   - The tests that compare the two: tests/sm/ahead_test.c and tests/machine. */
static NEVER_INLINE void access_ahead(struct sm *sm, struct lsu_entry *entry, uint64_t now) {
    uint64_t cycles = sm->engine->ahead_until - 1 - now;
    unsigned most = (unsigned)min_u64(entry->count - entry->done - 1u, cycles);
    unsigned hits = sm->l1->ops->hits(sm->l1, sm->index, &entry->request, &entry->access[entry->done], most);
    if (!hits) return;
    entry->done = (uint16_t)(entry->done + hits);
    sm->load[entry->load].ready_at += hits;
    sm->lsu_next_at = now + 1 + hits;
}

/* Sends the next access of the instruction. Returns whether it was accepted. */
static inline bool access_next(struct sm *sm, struct lsu_entry *entry, uint64_t now) {
    bool observed = UNLIKELY(sm->watch != NULL) && entry->load != LOAD_NONE;
    if (observed) lsu_observe_attempt(sm, entry, now);
    enum l1_outcome outcome = access_once(sm, entry, now);
    if (observed) lsu_observe_outcome(sm, entry, outcome, now);
    if (outcome > L1_ACCEPTED) {
        note_failure(sm, entry, outcome);
        return false;
    }
    entry->done++;
    if (entry->load != LOAD_NONE) {
        if (outcome == L1_HIT) {
            sm->load[entry->load].ready_at = now + sm->shared->l1_latency_cycles;
            if (entry->done + 1 < entry->count && may_look_ahead(sm, entry, now)) access_ahead(sm, entry, now);
        } else {
            sm->load[entry->load].waiting++;
        }
    } else if (outcome != L1_HIT) {
        sm->stores[entry->request.warp]++;
    }
    return true;
}

/* The instruction's further accesses in the same cycle, after the first. If it has sent all of them, its hits have data
 * when these have passed the port. Returns whether the last one was accepted. */
static NEVER_INLINE bool access_wide(struct sm *sm, struct lsu_entry *entry, uint64_t now) {
    for (unsigned tags = 1; tags < sm->shared->l1_tags && entry->done < entry->count && !entry->small_cache; tags++)
        if (!access_next(sm, entry, now)) return false;
    if (entry->count && entry->done == entry->count && sm->shared->l1_port_bytes && entry->load != LOAD_NONE) {
        struct load *load = &sm->load[entry->load];
        load->ready_at = max_u64(load->ready_at, sm->lsu_data_at + sm->shared->l1_latency_cycles);
    }
    return true;
}

void lsu_tick(struct sm *sm, uint64_t now) {
    bool replayed = sm->failure;
    if (replayed && sm->failed_changes == sm->gate->changes) return;
    sm->failure = 0;
    if (UNLIKELY(!sm->lsu)) arbiter_select(sm, now);
    struct lsu_entry *entry = lsu_first(sm->lsu);
    if (entry->space == SPACE_SHARED) {
        access_shared(sm, entry, now);
    } else if (UNLIKELY(entry->copy > COPY_ARRIVE)) {
        if (!bulk_accept(sm, entry, now)) {
            engine_wake_near(sm->engine, sm->waker, now + 1);
            return;
        }
        retire_beyond(sm, entry, now);
    } else {
        /* After a reservation failure only a change in the L1 helps, and the L1 wakes the SM for that. */
        if (LIKELY(entry->count)) {
            if (!access_next(sm, entry, now)) return;
        } else if (sm->watch && entry->load != LOAD_NONE) {
            lsu_observe_none(sm, entry, now);
        }
        if (UNLIKELY(sm->shared->wide_l1) && !access_wide(sm, entry, now)) return;
        if (entry->done != entry->count) {
            if (UNLIKELY(sm->lsu_next_at > now))
                engine_wake_near(sm->engine, sm->waker, sm->lsu_next_at);
            else
                go_on(sm, replayed, now);
            return;
        }
        retire_beyond(sm, entry, now);
    }
    schedule(sm, replayed, now);
}

/* An unsent miss of the read-only caches is sent before the next access and may fill the miss queue. A rejected fetch can
 * only become such a miss. */
enum l1_outcome lsu_foresee(struct sm *sm) {
    struct lsu_entry *entry = lsu_first(sm->lsu);
    if (!sm->l1->ops->foresee || sm->unsent || sm->copying || entry->small_cache || !entry->count) return 0;
    return sm->l1->ops->foresee(sm->l1, sm->index, next_request(sm, entry));
}

static NEVER_INLINE void readonly_done(struct sm *sm, struct readonly_cache *cache, unsigned mshr, uint64_t now) {
    readonly_fill(cache, mshr);
    bool last;
    do {
        uint32_t waiter;
        memcpy(&waiter, mshr_next_waiter(&cache->mshrs, mshr), sizeof waiter);
        if (cache == &sm->instruction_cache) {
            sm->fetching &= ~(UINT64_C(1) << waiter);
            sm_classify(sm, waiter, now);
        } else {
            if (UNLIKELY(sm->watch != NULL)) lsu_observe_served(sm, cache, mshr, waiter, now);
            load_progress(sm, (uint16_t)waiter, true, now);
        }
        last = mshr_answer(&cache->mshrs, mshr);
    } while (!last);
    if (UNLIKELY(sm->watch != NULL)) lsu_observe_filled(sm, cache, mshr);
}

/* An access that the L1 accepted earlier has completed. */
void lsu_complete(struct sm *sm, uint32_t token, uint64_t now) {
    uint32_t index = token & ~TOKEN_KIND;
    if (UNLIKELY(sm->watch != NULL)) lsu_observe_completion(sm, token);
    if (LIKELY((token & TOKEN_KIND) == TOKEN_LOAD)) {
        load_progress(sm, (uint16_t)index, true, now);
        return;
    }
    switch (token & TOKEN_KIND) {
    case TOKEN_STORE:
        sm->stores[index]--;
        cta_warp_check(sm, index, now);
        break;
    case TOKEN_COPY: copy_complete(sm, (uint16_t)index, now); break;
    case TOKEN_INSTRUCTION: readonly_done(sm, &sm->instruction_cache, index, now); break;
    case TOKEN_CONSTANT: readonly_done(sm, &sm->constant_cache, index, now); break;
    case TOKEN_READ_ONLY: readonly_done(sm, &sm->read_only_cache, index, now); break;
    default: assert(!"unknown token in a completion");
    }
}
