/* Asynchronous copies between global and shared memory and within shared memory, waits for them, and mbarriers
 * (stream.h, INSTR_ASYNC).
 *
 * A copy leaves the load/store unit like a load, but no register waits for it, and fences do not either. When its last
 * data arrives, it is written to shared memory, which occupies the load/store unit for the recorded bank passes; then it
 * is complete. Copies of a warp complete in any order; a wait names the number of latest ones that it does not wait for.
 *
 * A bulk copy is handed over to the bulk copy unit: one request per line, bypassing the L1, every `bulk_interval`
 * cycles, the first one `bulk_cycles` after the load/store unit. A line that arrives takes one bank pass, and so does one
 * that a store reads. A copy within shared memory makes no requests, but a bank pass in the same interval; after the last
 * one it is complete with the latency of shared memory.
 *
 * An mbarrier is a count of updates. It releases a warp when it has reached the count that the warp's record names, with
 * the latency of a barrier. Updates by other CTAs of the cluster, including bulk copies to its shared memory, take effect
 * after the latency of distributed shared memory.
 *
 * Not modelled: priorities between the load/store unit and the bulk copy unit other than their order in a cycle;
 * the access of mbarrier operations to the banks of shared memory; bank passes of copies in the SM of another CTA. */
#include "sm/sm_state.h"

#include <stdlib.h>

enum { BULK_QUEUE = 8, PHASES = 256, RING_ROOM = 16, NO_PHASE = -1 };

/* The copies of a warp that a kind of wait is for, by their number. */
struct copy_ring {
    uint32_t issued;     /* number of copies so far */
    uint32_t settled;    /* the oldest one whose end is not known */
    uint32_t first;      /* the oldest one that the ring holds */
    uint32_t room;       /* a power of two, or 0 */
    uint64_t settled_at; /* when the copies before `settled` are complete */
    struct {
        uint64_t at;     /* when it is complete; NEVER: not known */
        int16_t arrives; /* on this mbarrier, when all before it are complete; NO_PHASE: it is a copy */
    } * copy;
};
enum ring_kind { RING_COPIES, RING_STORES, RING_SOURCES, RING_KINDS };

/* An mbarrier. */
struct phase {
    uint32_t updates;
    uint32_t copies;   /* in flight that will update it */
    uint64_t ready_at; /* when the latest update takes effect */
    uint64_t waiting;  /* warps */
};

/* An update of an mbarrier of the CTA that takes effect in cycle `at`. */
struct late_update {
    uint64_t at, cta;
    uint8_t phase;
    bool copy; /* of the same CTA, which counts it as in flight */
};

struct bulk_entry {
    uint64_t ready_at;
    uint16_t load, done, count;
    uint8_t kind; /* enum copy_kind */
    struct l1_request request;
    uint64_t access[COALESCING_MAX];
};

/* Allocated with the first asynchronous record. */
struct copies {
    struct {
        uint32_t number;
        uint8_t kind, phase, passes; /* enum copy_kind, mbarrier, bank passes */
        uint8_t rank;                /* CTA of the mbarrier */
        bool remote;                 /* it is another one */
    } * of;                          /* [loads_in_flight] */
    struct copy_ring ring[RING_KINDS][SM_WARPS];
    uint64_t group_waits; /* warps that wait for copies of `wait_ring` before number `wait_until` */
    uint8_t wait_ring[SM_WARPS];
    uint32_t wait_until[SM_WARPS];
    uint32_t updates[SM_WARPS];     /* of the mbarrier that the warp waits at */
    struct phase *phases[SM_WARPS]; /* of each CTA, if it has used any */
    struct bulk_entry bulk[BULK_QUEUE];
    uint32_t bulk_head, bulk_tail;
    uint64_t unit_next_at;    /* when the bulk copy unit is ticked; NEVER if it is empty */
    struct late_update *late; /* from late_first on, in ascending order of their cycle */
    uint32_t late_first, late_count, late_room;
};

static NEVER_INLINE void copies_create(struct sm *sm) {
    sm->copies = mem_alloc(1, sizeof *sm->copies);
    sm->copies->of = mem_alloc(sm->shared->loads_in_flight, sizeof *sm->copies->of);
    sm->copies->unit_next_at = NEVER;
}

void copies_destroy(struct copies *copies) {
    if (!copies) return;
    for (unsigned warp = 0; warp < SM_WARPS; warp++) {
        for (unsigned kind = 0; kind < RING_KINDS; kind++) free(copies->ring[kind][warp].copy);
        free(copies->phases[warp]);
    }
    free(copies->late);
    free(copies->of);
    free(copies);
}

void copies_launch(struct sm *sm, unsigned slot) {
    struct phase *phases = sm->copies->phases[slot];
    if (phases) memset(phases, 0, PHASES * sizeof *phases);
}

/* --- mbarriers --- */

static struct phase *phase_at(struct sm *sm, unsigned slot, uint8_t id) {
    struct phase **phases = &sm->copies->phases[slot];
    if (!*phases) *phases = mem_alloc(PHASES, sizeof **phases);
    return &(*phases)[id];
}

static struct phase *phase_of(struct sm *sm, unsigned warp, uint8_t id) { return phase_at(sm, sm->cta_of[warp], id); }

/* Whether `updates` numbers have been reached; modulo 2^24, numbers less than half of that apart. */
static bool reached(const struct phase *phase, uint32_t updates) {
    return ((phase->updates - updates) & (uint32_t)low_mask(UPDATES_BITS)) < UINT32_C(1) << (UPDATES_BITS - 1);
}

/* Waiting for an mbarrier counts as waiting for memory while a copy that will update it is in flight. */
static void phase_causes(struct sm *sm, const struct phase *phase) {
    uint64_t *to = phase->copies ? &sm->at_copy : &sm->at_barrier,
             *from = phase->copies ? &sm->at_barrier : &sm->at_copy;
    *to |= phase->waiting;
    *from &= ~phase->waiting;
}

/* An update that takes effect in cycle `at`. */
static void phase_update(struct sm *sm, struct phase *phase, bool copy, uint64_t at, uint64_t now) {
    phase->updates++;
    phase->ready_at = max_u64(phase->ready_at, at);
    uint64_t released = 0;
    for (uint64_t warps = phase->waiting; warps; warps &= warps - 1)
        if (reached(phase, sm->copies->updates[lowest_bit(warps)])) released |= warps & -warps;
    phase->waiting &= ~released;
    if (released) {
        sm->stats.barriers++;
        sm_due_later(sm, released, max_u64(phase->ready_at, now) + sm->shared->op[OP_barrier].result_cycles);
    }
    if (copy && --phase->copies == 0) phase_causes(sm, phase);
}

/* --- updates that take effect later --- */

/* When the bulk copy unit or an update needs a tick. */
static void bulk_schedule(struct sm *sm) {
    const struct copies *copies = sm->copies;
    uint64_t late = copies->late_first < copies->late_count ? copies->late[copies->late_first].at : NEVER;
    sm->bulk_next_at = min_u64(copies->unit_next_at, late);
    if (sm->bulk_next_at > sm->engine->now && sm->bulk_next_at != NEVER)
        engine_wake_by(sm->engine, sm->waker, sm->bulk_next_at);
}

static void late_add(struct sm *sm, struct late_update update) {
    struct copies *copies = sm->copies;
    if (copies->late_count == copies->late_room && copies->late_first) {
        copies->late_count -= copies->late_first;
        memmove(copies->late, copies->late + copies->late_first, copies->late_count * sizeof *copies->late);
        copies->late_first = 0;
    }
    if (copies->late_count == copies->late_room) {
        copies->late_room = copies->late_room ? 2 * copies->late_room : 16;
        copies->late = mem_grow(copies->late, copies->late_room, sizeof *copies->late);
    }
    uint32_t i = copies->late_count++;
    for (; i > copies->late_first && copies->late[i - 1].at > update.at; i--) copies->late[i] = copies->late[i - 1];
    copies->late[i] = update;
    bulk_schedule(sm);
}

/* A CTA that has ended in the meantime is not there any more. */
static void late_tick(struct sm *sm, uint64_t now) {
    struct copies *copies = sm->copies;
    while (copies->late_first < copies->late_count && copies->late[copies->late_first].at <= now) {
        struct late_update update = copies->late[copies->late_first++];
        sm->engine->progress++;
        for (unsigned slot = 0; slot < SM_WARPS; slot++)
            if (sm->cta[slot].used && sm->cta[slot].index == update.cta)
                phase_update(sm, phase_at(sm, slot, update.phase), update.copy, now, now);
    }
    if (copies->late_first == copies->late_count) copies->late_first = copies->late_count = 0;
}

void mbarrier_update(struct sm *sm, const struct sm_command *command) {
    if (!sm->copies) copies_create(sm);
    late_add(sm, (struct late_update){.at = command->at, .cta = command->cta, .phase = command->mbarrier});
}

void copy_barrier(struct sm *sm, unsigned warp, const struct instr *instr, uint64_t now) {
    if (!sm->copies) copies_create(sm);
    struct phase *phase = phase_of(sm, warp, instr->barrier);
    uint64_t bit = UINT64_C(1) << warp, latency = sm->shared->op[OP_barrier].result_cycles;
    if (UNLIKELY(instr->flags & INSTR_CLUSTER)) {
        cta_cluster_update(sm, warp, instr->updates, instr->barrier, now, now);
    } else if (instr->flags & INSTR_ARRIVE) {
        phase_update(sm, phase, false, now, now);
    } else if (!reached(phase, instr_updates(instr))) {
        sm->copies->updates[warp] = instr_updates(instr);
        phase->waiting |= bit;
        phase_causes(sm, phase);
        return;
    } else if (phase->ready_at > now) {
        sm->at_copy |= bit;
        sm_due_later(sm, bit, phase->ready_at + latency);
        return;
    }
    if (instr->dst[0]) sm_result_at(sm, warp, instr->dst, false, now + latency);
}

/* --- copies by number --- */

static void ring_grow(struct copy_ring *ring) {
    struct copy_ring larger = *ring;
    larger.room = ring->room ? 2 * ring->room : RING_ROOM;
    larger.copy = mem_alloc(larger.room, sizeof *larger.copy);
    for (uint32_t i = ring->first; i != ring->issued; i++)
        larger.copy[i & (larger.room - 1)] = ring->copy[i & (ring->room - 1)];
    free(ring->copy);
    *ring = larger;
}

static uint32_t ring_add(struct copy_ring *ring, int arrives, uint64_t now) {
    while (ring->first != ring->settled && ring->copy[ring->first & (ring->room - 1)].at <= now) ring->first++;
    if (ring->issued - ring->first == ring->room) ring_grow(ring);
    ring->copy[ring->issued & (ring->room - 1)].at = NEVER;
    ring->copy[ring->issued & (ring->room - 1)].arrives = (int16_t)arrives;
    return ring->issued++;
}

/* When the copies before number `until` are complete; their ends are known. */
static uint64_t ring_at(const struct copy_ring *ring, uint32_t until) {
    uint64_t at = 0;
    for (uint32_t i = ring->first; (int32_t)(until - i) > 0; i++) at = max_u64(at, ring->copy[i & (ring->room - 1)].at);
    return at;
}

/* The copy `number` is complete in cycle `at`. */
static void ring_settle(struct sm *sm, unsigned warp, enum ring_kind kind, uint32_t number, uint64_t at, uint64_t now) {
    struct copies *copies = sm->copies;
    struct copy_ring *ring = &copies->ring[kind][warp];
    ring->copy[number & (ring->room - 1)].at = at;
    if (number != ring->settled) return;
    for (; ring->settled != ring->issued; ring->settled++) {
        uint32_t i = ring->settled & (ring->room - 1);
        if (ring->copy[i].at == NEVER) break;
        ring->settled_at = max_u64(ring->settled_at, ring->copy[i].at);
        if (ring->copy[i].arrives != NO_PHASE)
            phase_update(sm, phase_of(sm, warp, (uint8_t)ring->copy[i].arrives), true, ring->settled_at, now);
    }
    uint64_t bit = UINT64_C(1) << warp;
    if (!(copies->group_waits & bit) || copies->wait_ring[warp] != kind ||
        (int32_t)(ring->settled - copies->wait_until[warp]) < 0)
        return;
    copies->group_waits &= ~bit;
    uint64_t ends_at = ring_at(ring, copies->wait_until[warp]);
    if (ends_at > now) {
        sm_due_later(sm, bit, ends_at);
        return;
    }
    sm->at_copy &= ~bit;
    sm_classify(sm, warp, now);
}

void copy_wait(struct sm *sm, unsigned warp, const struct instr *instr, uint64_t now) {
    struct copies *copies = sm->copies;
    enum ring_kind kind = !(instr->flags & INSTR_BULK)  ? RING_COPIES
                          : instr->flags & INSTR_SOURCE ? RING_SOURCES
                                                        : RING_STORES;
    const struct copy_ring *ring = copies ? &copies->ring[kind][warp] : NULL;
    if (!ring || ring->issued - ring->first <= instr->count) return;
    uint64_t bit = UINT64_C(1) << warp;
    uint32_t until = ring->issued - instr->count;
    if ((int32_t)(ring->settled - until) >= 0) {
        uint64_t at = ring_at(ring, until);
        if (at <= now) return;
        sm_due_later(sm, bit, at);
    } else {
        copies->group_waits |= bit;
        copies->wait_ring[warp] = (uint8_t)kind;
        copies->wait_until[warp] = until;
    }
    sm->at_copy |= bit;
}

/* --- copies in the load/store unit --- */

/* Passes over the banks of shared memory, which occupy the load/store unit from cycle `from` on. */
static void banks_take(struct sm *sm, unsigned passes, uint64_t from) {
    sm->lsu_free_at = max_u64(sm->lsu_free_at, from) + passes;
    if (sm->lsu_next_at >= sm->lsu_free_at) return; /* also NEVER */
    sm->lsu_next_at = sm->lsu_free_at;
    engine_wake_by(sm->engine, sm->waker, sm->lsu_next_at);
}

void copy_accept(struct sm *sm, struct lsu_entry *entry, unsigned warp, const struct instr *instr, uint64_t now) {
    if (!sm->copies) copies_create(sm);
    bool bulk = instr->flags & INSTR_BULK, arrives = instr->flags & INSTR_ARRIVE;
    enum copy_kind kind = instr->space == SPACE_SHARED ? COPY_SEND
                          : instr->op == OP_store      ? COPY_STORE
                          : bulk                       ? COPY_BULK
                          : arrives                    ? COPY_ARRIVE
                                                       : COPY_LANES;
    bool remote = instr->flags & INSTR_CLUSTER;
    struct copies *copies = sm->copies;
    uint32_t number = 0;
    if (kind == COPY_STORE) {
        number = ring_add(&copies->ring[RING_STORES][warp], NO_PHASE, now);
        ring_add(&copies->ring[RING_SOURCES][warp], NO_PHASE, now);
    } else if (kind != COPY_BULK && kind != COPY_SEND) {
        number = ring_add(&copies->ring[RING_COPIES][warp], kind == COPY_ARRIVE ? instr->barrier : NO_PHASE, now);
    }
    if (kind == COPY_SEND) { /* passes the unit like other bulk copies */
        entry->space = SPACE_GLOBAL;
        entry->count = entry->done = 0;
        entry->data_cycles = 1;
        entry->request.warp = (uint8_t)warp;
    }
    if (kind == COPY_ARRIVE || ((kind == COPY_BULK || kind == COPY_SEND) && !remote)) {
        struct phase *phase = phase_of(sm, warp, instr->barrier);
        if (phase->copies++ == 0) phase_causes(sm, phase);
    }
    copies->of[entry->load].number = number;
    copies->of[entry->load].kind = (uint8_t)kind;
    copies->of[entry->load].phase = instr->barrier;
    copies->of[entry->load].rank = instr->updates;
    copies->of[entry->load].remote = remote;
    copies->of[entry->load].passes = instr->conflicts ? instr->conflicts : 1;
    entry->copy = (uint8_t)kind;
    entry->small_cache = false;
    entry->request.token = TOKEN_COPY | entry->load;
    if (kind == COPY_LANES) sm->stats.loads++;
    sm->copying++;
    sm->copies_of[warp]++;
}

static void load_release(struct sm *sm, uint16_t index) {
    sm->load[index].next = sm->load_free;
    sm->load_free = index;
    sm->loads_used--;
}

/* The copy is complete; its write to shared memory begins in cycle `from`, unless it has been written as it arrived. */
static void copy_end(struct sm *sm, uint16_t index, uint64_t from, uint64_t now) {
    struct copies *copies = sm->copies;
    const struct load *load = &sm->load[index];
    unsigned warp = load->warp, passes = copies->of[index].passes;
    enum copy_kind kind = copies->of[index].kind;
    uint32_t number = copies->of[index].number;
    uint64_t at = max_u64(load->ready_at, now);
    if (kind == COPY_LANES) {
        banks_take(sm, passes, from);
        sm->stats.shared_conflicts += passes - 1;
        at = max_u64(at, from) + passes;
        uint64_t cycles = at - load->issued_at;
        if (sm->watch) lsu_observe_end(sm, index, at, now);
        sm->stats.load_cycles += cycles;
        stat_min(&sm->stats.load_cycles_min, cycles);
        stat_max(&sm->stats.load_cycles_max, cycles);
    } else if (kind == COPY_BULK || kind == COPY_SEND) {
        at++; /* the pass of the last line */
    }
    bool remote = (kind == COPY_BULK || kind == COPY_SEND) && copies->of[index].remote;
    if (kind == COPY_SEND && !remote) at += sm->shared->shared_latency_cycles;
    sm->copying--;
    sm->copies_of[warp]--;
    sm->results_at[warp] = max_u64(sm->results_at[warp], at);
    load_release(sm, index);
    if (remote)
        cta_cluster_update(sm, warp, copies->of[index].rank, copies->of[index].phase, at, now);
    else if (kind == COPY_SEND)
        late_add(sm, (struct late_update){at, sm->cta[sm->cta_of[warp]].index, copies->of[index].phase, .copy = true});
    else if (kind == COPY_BULK)
        phase_update(sm, phase_of(sm, warp, copies->of[index].phase), true, at, now);
    else
        ring_settle(sm, warp, kind == COPY_STORE ? RING_STORES : RING_COPIES, number, at, now);
    cta_warp_check(sm, warp, now);
}

void copy_retire(struct sm *sm, const struct lsu_entry *entry, uint64_t now) {
    if (--sm->load[entry->load].waiting == 0) copy_end(sm, entry->load, now + 1, now);
}

void copy_complete(struct sm *sm, uint16_t index, uint64_t now) {
    if (sm->copies->of[index].kind == COPY_BULK && !sm->copies->of[index].remote) banks_take(sm, 1, now);
    if (--sm->load[index].waiting == 0) copy_end(sm, index, now, now);
}

/* --- the bulk copy unit --- */

bool bulk_accept(struct sm *sm, const struct lsu_entry *entry, uint64_t now) {
    struct copies *copies = sm->copies;
    if (copies->bulk_tail - copies->bulk_head == BULK_QUEUE) return false;
    struct bulk_entry *bulk = &copies->bulk[copies->bulk_tail++ % BULK_QUEUE];
    bulk->ready_at = now + sm->shared->bulk_cycles;
    bulk->load = entry->load;
    bulk->done = 0;
    bulk->count = entry->copy == COPY_SEND ? copies->of[entry->load].passes : entry->count;
    bulk->kind = entry->copy;
    bulk->request = entry->request;
    memcpy(bulk->access, entry->access, entry->count * sizeof *bulk->access);
    if (copies->unit_next_at == NEVER) {
        copies->unit_next_at = max_u64(bulk->ready_at, now + 1);
        bulk_schedule(sm);
    }
    return true;
}

/* All requests of the first copy have been sent. */
static void bulk_leave(struct sm *sm, const struct bulk_entry *bulk, uint64_t now) {
    struct copies *copies = sm->copies;
    copies->bulk_head++;
    sm->engine->progress++;
    if (bulk->kind == COPY_STORE)
        ring_settle(sm, sm->load[bulk->load].warp, RING_SOURCES, copies->of[bulk->load].number, now + 1, now);
    if (--sm->load[bulk->load].waiting == 0) copy_end(sm, bulk->load, now, now);
}

static void unit_tick(struct sm *sm, uint64_t now) {
    struct copies *copies = sm->copies;
    struct bulk_entry *bulk = &copies->bulk[copies->bulk_head % BULK_QUEUE];
    uint64_t next = now + 1; /* a reservation failure: replayed in the next cycle */
    bool sent = bulk->count == 0;
    if (bulk->kind == COPY_SEND) {
        banks_take(sm, 1, now + 1);
        bulk->done++;
        sent = true;
    } else if (!sent) {
        bulk->request.address = access_line(bulk->access[bulk->done], sm->shared->line_bytes);
        bulk->request.sectors = access_sectors(bulk->access[bulk->done], sm->shared->line_bytes);
        enum l1_outcome outcome = sm->l1->ops->access(sm->l1, sm->index, &bulk->request, now);
        sent = outcome <= L1_ACCEPTED;
        if (sent) {
            bulk->done++;
            if (outcome != L1_HIT) sm->load[bulk->load].waiting++;
            if (bulk->kind == COPY_STORE) banks_take(sm, 1, now + 1);
        }
    }
    if (sent) next = now + sm->shared->bulk_interval;
    if (sent && bulk->done == bulk->count) {
        bulk_leave(sm, bulk, now);
        const struct bulk_entry *following = &copies->bulk[copies->bulk_head % BULK_QUEUE];
        next = copies->bulk_head == copies->bulk_tail ? NEVER : max_u64(next, following->ready_at);
    }
    copies->unit_next_at = next;
}

void bulk_tick(struct sm *sm, uint64_t now) {
    late_tick(sm, now);
    if (sm->copies->unit_next_at <= now) unit_tick(sm, now);
    bulk_schedule(sm);
}

void copies_explain(const struct sm *sm, FILE *out) {
    const struct copies *copies = sm->copies;
    if (!copies) return;
    fprintf(out, "  %u asynchronous copies in flight, %u in the bulk copy unit; %d warps wait for copies\n",
            sm->copying, copies->bulk_tail - copies->bulk_head, __builtin_popcountll(copies->group_waits));
    for (unsigned slot = 0; slot < SM_WARPS; slot++)
        for (unsigned id = 0; sm->cta[slot].used && copies->phases[slot] && id < PHASES; id++) {
            const struct phase *phase = &copies->phases[slot][id];
            if (phase->waiting)
                fprintf(out, "  mbarrier %u of CTA %llu: %u updates, warp %u waits for %u; %u copies in flight\n", id,
                        (unsigned long long)sm->cta[slot].index, phase->updates, lowest_bit(phase->waiting),
                        copies->updates[lowest_bit(phase->waiting)], phase->copies);
        }
}
