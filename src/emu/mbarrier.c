/* mbarriers: 64-bit objects in shared memory that count arrivals and bytes of asynchronous copies (PTX ISA 9.0).
 *
 * The object is one word: phase, expected and pending arrivals, pending bytes (tx-count). A state is the word before an
 * arrival. A phase completes when neither arrivals nor bytes are pending.
 *
 * Copies and arrivals that are bound to an mbarrier take effect, in the order in which they were issued, when a thread
 * tests it (copy.c explains why so late). try_wait suspends its warp until the phase is complete, but not longer than
 * SUSPENDED_ROUNDS, since a program may count on its return; test_wait does not suspend. A failed test ends the warp's
 * turn.
 *
 * For timing, an mbarrier is a number of updates: a successful test is recorded as a wait for those that its phase needed
 * (stream.h). Lanes with different mbarriers make a record each.
 *
 * Threads of other CTAs of the cluster may arrive on an mbarrier, change its pending bytes, and copy to its CTA; only
 * those of its own CTA initialise and test it. */
#include "emu/cta.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_BITS = 20, TX_BITS = 21, COUNT_MAX = (1 << COUNT_BITS) - 1, SLOTS = 256, SUSPENDED_ROUNDS = 1024 };
enum { BOUND_MAX = 4096 };

/* The fields of the word. `expected` is 0 in memory that is not an mbarrier. */
struct object {
    unsigned phase;
    uint32_t expected, pending;
    int32_t tx;
};

static struct object object_of(uint64_t word) {
    uint64_t tx = word >> (2 * COUNT_BITS + 1) & low_mask(TX_BITS);
    return (struct object){
        .phase = word & 1,
        .expected = word >> 1 & COUNT_MAX,
        .pending = word >> (COUNT_BITS + 1) & COUNT_MAX,
        .tx = (int32_t)(tx << (32 - TX_BITS)) >> (32 - TX_BITS),
    };
}

static uint64_t word_of(const struct object *object) {
    return object->phase | (uint64_t)object->expected << 1 | (uint64_t)object->pending << (COUNT_BITS + 1) |
           ((uint64_t)(uint32_t)object->tx & low_mask(TX_BITS)) << (2 * COUNT_BITS + 1);
}

/* What takes effect with the next test: the arrival of lanes after their copies, or a bulk copy. */
struct bound {
    struct warp_state *w;
    const struct op *op;
    bool copies_bulk;
    uint32_t mask, number; /* lanes, and the warp's copies before this number */
    struct bulk_copy copy;
    uint32_t updates;
};

struct slot {
    uint32_t address;
    uint32_t updates; /* so far; and when the last phase was complete */
    uint32_t complete;
    struct bound *bound;
    uint32_t bound_count, bound_room;
};

struct mbarriers {
    uint32_t count;
    struct slot slot[SLOTS];
};

void mbarriers_begin(struct cta *cta) {
    struct mbarriers *m = cta->mbarriers;
    if (!m) return;
    for (uint32_t i = 0; i < m->count; i++) m->slot[i].updates = m->slot[i].complete = m->slot[i].bound_count = 0;
    m->count = 0;
}

void mbarriers_release(struct cta *cta) {
    for (uint32_t i = 0; cta->mbarriers && i < SLOTS; i++) free(cta->mbarriers->slot[i].bound);
    free(cta->mbarriers);
}

/* --- objects --- */

static uint64_t *word_at(struct warp_state *w, const struct op *op, unsigned lane, uint64_t address) {
    uint8_t *at = address % 8 ? NULL : space_at(w, PTX_SPACE_SHARED, address, 8, ACCESS_ATOMIC);
    if (!at) access_fault(w, op, lane, PTX_SPACE_SHARED, address, 8, ACCESS_ATOMIC);
    return (uint64_t *)(void *)at;
}

/* The mbarrier at the address, which may have the rank of a CTA. It has a number in its CTA from its first
 * initialisation on. NULL after a fault. */
static struct slot *slot_find(struct warp_state *w, const struct op *op, unsigned lane, uint64_t address,
                              bool initialise, uint64_t **word) {
    if (!(*word = word_at(w, op, lane, address))) return NULL;
    struct cta *cta = cluster_cta(w, address);
    address &= low_mask(CLUSTER_RANK_SHIFT);
    if (!cta->mbarriers) cta->mbarriers = mem_alloc(1, sizeof *cta->mbarriers);
    struct mbarriers *m = cta->mbarriers;
    uint32_t i = 0;
    while (i < m->count && m->slot[i].address != address) i++;
    if (!initialise && (i == m->count || !object_of(**word).expected)) {
        fault_set(w, op, lane, "there is no initialised mbarrier at 0x%" PRIx64 " of shared memory", address);
        return NULL;
    }
    if (i == SLOTS) {
        fault_set(w, op, lane, "more than %d mbarriers in a block", SLOTS);
        return NULL;
    }
    if (i == m->count) m->slot[m->count++].address = (uint32_t)address;
    return &m->slot[i];
}

/* Adds to the pending bytes, and ends the phase if nothing is pending. */
static bool object_update(struct warp_state *w, const struct op *op, unsigned lane, struct slot *slot, uint64_t *word,
                          struct object *object, int64_t tx) {
    tx += object->tx;
    if (tx > COUNT_MAX || tx < -COUNT_MAX) {
        fault_set(w, op, lane, "the mbarrier expects %" PRId64 " bytes; the limit is %d", tx, COUNT_MAX);
        return false;
    }
    object->tx = (int32_t)tx;
    if (!object->pending && !object->tx) {
        object->phase ^= 1;
        object->pending = object->expected;
        slot->complete = slot->updates;
    }
    *word = word_of(object);
    w->run->changed |= 1 << PTX_SPACE_SHARED;
    return true;
}

static bool object_arrive(struct warp_state *w, const struct op *op, unsigned lane, struct slot *slot, uint64_t *word,
                          uint32_t count, int64_t tx) {
    struct object object = object_of(*word);
    if (count > object.pending) {
        fault_set(w, op, lane, "%u arrivals on an mbarrier whose phase expects %u more", count, object.pending);
        return false;
    }
    object.pending -= count;
    return object_update(w, op, lane, slot, word, &object, tx);
}

/* --- what is bound to an mbarrier --- */

static bool bound_land(const struct bound *b, struct slot *slot, uint64_t *word) {
    unsigned lane = lowest_bit(b->mask);
    slot->updates += b->updates;
    if (b->copies_bulk) {
        bulk_land(b->w, b->op, lane, &b->copy);
        struct object object = object_of(*word);
        return !b->w->run->failed && object_update(b->w, b->op, lane, slot, word, &object, -(int64_t)b->copy.bytes);
    }
    copies_land(b->w, b->mask, b->number);
    return !b->w->run->failed && object_arrive(b->w, b->op, lane, slot, word, (uint32_t)__builtin_popcount(b->mask), 0);
}

static bool slot_land(struct slot *slot, uint64_t *word) {
    for (uint32_t i = 0; i < slot->bound_count; i++)
        if (!bound_land(&slot->bound[i], slot, word)) return false;
    slot->bound_count = 0;
    return true;
}

static bool slot_bind(struct slot *slot, uint64_t *word, struct bound bound) {
    if (slot->bound_count == BOUND_MAX && !slot_land(slot, word)) return false;
    if (slot->bound_count == slot->bound_room) {
        slot->bound_room = slot->bound_room ? 2 * slot->bound_room : 8;
        slot->bound = mem_grow(slot->bound, slot->bound_room, sizeof *slot->bound);
    }
    slot->bound[slot->bound_count++] = bound;
    return true;
}

/* The number of the mbarrier at the address in its CTA. */
static int slot_number(struct warp_state *w, const struct slot *slot, uint64_t address) {
    return (int)(slot - cluster_cta(w, address)->mbarriers->slot);
}

int mbarrier_bind_copy(struct warp_state *w, const struct op *op, unsigned lane, uint64_t address,
                       const struct bulk_copy *copy) {
    uint64_t *word;
    struct slot *slot = slot_find(w, op, lane, address, false, &word);
    struct bound bound = {
        .w = w, .op = op, .copies_bulk = true, .mask = UINT32_C(1) << lane, .copy = *copy, .updates = copy->pieces};
    return slot && slot_bind(slot, word, bound) ? slot_number(w, slot, address) : -1;
}

int mbarrier_bind_arrival(struct warp_state *w, const struct op *op, uint32_t mask, uint64_t address, uint32_t number,
                          bool count) {
    uint64_t *word;
    struct slot *slot = slot_find(w, op, lowest_bit(mask), address, false, &word);
    if (!slot) return -1;
    struct object object = object_of(*word);
    uint32_t pending = object.pending + (count ? (uint32_t)__builtin_popcount(mask) : 0);
    if (pending > COUNT_MAX) {
        fault_set(w, op, lowest_bit(mask), "more than %d pending arrivals on an mbarrier", COUNT_MAX);
        return -1;
    }
    object.pending = pending;
    *word = word_of(&object);
    struct bound bound = {.w = w, .op = op, .mask = mask, .number = number, .updates = 1};
    return slot_bind(slot, word, bound) ? slot_number(w, slot, address) : -1;
}

/* --- instructions --- */

/* The lanes of an operation by the mbarrier that they access. */
struct groups {
    uint64_t address[WARP_LANES];
    uint32_t rest;
};

/* `cluster`: the mbarrier may be in another CTA. */
static bool groups_begin(struct warp_state *w, const struct op *op, uint32_t mask, bool cluster, struct groups *g) {
    access_addresses(w, op, mask, g->address);
    g->rest = mask;
    FOR_LANES (lane, mask) {
        if (space_resolve(op->space, &g->address[lane]) != PTX_SPACE_SHARED) {
            fault_set(w, op, lane, "an mbarrier must be in shared memory");
            return false;
        }
        if (cluster)
            copy_cluster(w, &g->address[lane]);
        else if (!copy_shared(w, op, lane, &g->address[lane]))
            return false;
    }
    return true;
}

static uint32_t groups_next(struct groups *g) {
    uint32_t group = 0;
    FOR_LANES (lane, g->rest) group |= (uint32_t)(g->address[lane] == g->address[lowest_bit(g->rest)]) << lane;
    g->rest &= ~group;
    return group;
}

static void record_update(struct warp_state *w, const struct op *op, const struct slot *slot, uint64_t address,
                          uint32_t group) {
    if (!w->writer) return;
    struct instr record = record_of(w, op, group);
    record.barrier = (uint8_t)slot_number(w, slot, address);
    cluster_record(w, address, &record);
    trace_put(w->writer, &record, NULL);
}

/* An access to the word in shared memory. */
static void record_word(struct warp_state *w, const struct op *op, uint32_t mask) {
    if (!w->writer) return;
    w->note.space = SPACE_SHARED;
    w->note.flags = 0;
    w->note.count = 0;
    w->note.conflicts = 1;
    record_access(w, op, mask);
}

static void execute_init(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    struct groups g;
    uint64_t count[WARP_LANES] = {0}, *word;
    bool init = op->operation == OPERATION_mbarrier_init;
    if (init) row_read(w, op->b, 4, count);
    if (!groups_begin(w, op, mask, false, &g)) return;
    FOR_LANES (lane, mask) {
        if (init && (!count[lane] || count[lane] > COUNT_MAX)) {
            fault_set(w, op, lane, "an mbarrier with a count of %" PRIu64 "; it must be 1 to %d", count[lane],
                      COUNT_MAX);
            return;
        }
        struct slot *slot = slot_find(w, op, lane, g.address[lane], init, &word);
        if (!slot) return;
        uint32_t expected = (uint32_t)count[lane];
        slot->bound_count = 0;
        *word = word_of(&(struct object){.expected = expected, .pending = expected});
    }
    w->run->changed |= 1 << PTX_SPACE_SHARED;
    record_word(w, op, mask);
}

/* Arrivals of the lanes in ascending order; each returns the state before its own. */
static bool lanes_arrive(struct warp_state *w, const struct op *op, uint32_t group, struct slot *slot, uint64_t *word,
                         const uint64_t value[WARP_LANES], uint64_t state[WARP_LANES]) {
    bool expects = op->modifiers & MOD_EXPECT_TX;
    FOR_LANES (lane, group) {
        uint32_t count = expects ? 1 : (uint32_t)value[lane];
        struct object object = object_of(*word);
        if (count > object.pending) { /* copies may have completed the phase */
            if (!slot_land(slot, word)) return false;
            object = object_of(*word);
        }
        state[lane] = *word;
        if (op->modifiers & MOD_DROP) {
            if (count > object.expected) {
                fault_set(w, op, lane, "drops %u arrivals of an mbarrier that expects %u", count, object.expected);
                return false;
            }
            object.expected -= count;
            *word = word_of(&object);
        }
        unsigned phase = object.phase;
        if (!object_arrive(w, op, lane, slot, word, count, expects ? (int64_t)value[lane] : 0)) return false;
        if ((op->modifiers & MOD_NO_COMPLETE) && object_of(*word).phase != phase) {
            fault_set(w, op, lane, "an arrival with .noComplete has completed the phase");
            return false;
        }
    }
    return true;
}

static void execute_arrive(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    struct groups g;
    uint64_t value[WARP_LANES], state[WARP_LANES] = {0}, *word;
    for (unsigned i = 0; i < WARP_LANES; i++) value[i] = 1;
    if (op->b != PLACE_NONE) row_read(w, op->b, 4, value);
    /* An arrival on an mbarrier of another CTA returns no state. */
    bool cluster = !record_of(w, op, mask).dst[0] && !(op->modifiers & MOD_NO_COMPLETE);
    if (!groups_begin(w, op, mask, cluster, &g)) return;
    while (g.rest) {
        uint32_t group = groups_next(&g);
        uint64_t address = g.address[lowest_bit(group)];
        struct slot *slot = slot_find(w, op, lowest_bit(group), address, false, &word);
        if (!slot) return;
        slot->updates++;
        if (!lanes_arrive(w, op, group, slot, word, value, state)) return;
        record_update(w, op, slot, address, group);
    }
    row_write(w, op->dst, 8, state, mask);
}

static void execute_tx(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    struct groups g;
    uint64_t bytes[WARP_LANES], *word;
    row_read(w, op->b, 4, bytes);
    if (!groups_begin(w, op, mask, true, &g)) return;
    while (g.rest) {
        uint32_t group = groups_next(&g);
        uint64_t address = g.address[lowest_bit(group)];
        struct slot *slot = slot_find(w, op, lowest_bit(group), address, false, &word);
        if (!slot) return;
        slot->updates++;
        FOR_LANES (lane, group) {
            struct object object = object_of(*word);
            int64_t tx = op->mode == MBARRIER_EXPECT_TX ? (int64_t)bytes[lane] : -(int64_t)bytes[lane];
            if (!object_update(w, op, lane, slot, word, &object, tx)) return;
        }
        record_update(w, op, slot, address, group);
    }
}

/* The lanes of the group whose phase, the lowest bit of a state or a parity, is complete. */
static uint32_t lanes_complete(uint32_t group, uint64_t word, const uint64_t value[WARP_LANES]) {
    uint32_t complete = 0;
    FOR_LANES (lane, group) complete |= (uint32_t)((value[lane] & 1) != (word & 1)) << lane;
    return complete;
}

static void execute_test(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    struct groups g, again;
    uint64_t value[WARP_LANES], *word;
    uint32_t complete = 0;
    row_read(w, op->b, op->modifiers & MOD_PARITY ? 4 : 8, value);
    if (!groups_begin(w, op, mask, false, &g)) return;
    for (again = g; again.rest;) {
        uint32_t group = groups_next(&again);
        struct slot *slot = slot_find(w, op, lowest_bit(group), g.address[lowest_bit(group)], false, &word);
        if (!slot || !slot_land(slot, word)) return;
        complete |= lanes_complete(group, *word, value);
    }
    bool suspends = op->mode == MBARRIER_TRY_WAIT && !w->probed && w->suspended < SUSPENDED_ROUNDS;
    if (complete != mask && suspends) {
        w->suspended++;
        w->pause = PAUSE_REPEAT;
        return;
    }
    w->suspended = 0;
    if (complete != mask) w->pause = PAUSE_YIELD;
    warp_set_predicate(warp, op->dst, complete, mask);
    while (w->writer && g.rest) {
        uint32_t group = groups_next(&g) & complete;
        if (!group) continue;
        const struct slot *slot = slot_find(w, op, lowest_bit(group), g.address[lowest_bit(group)], false, &word);
        struct instr record = record_of(w, op, group);
        record.op = OP_barrier;
        record.flags = INSTR_ASYNC;
        record.space = 0;
        record.barrier = (uint8_t)(slot - w->warp.cta->mbarriers->slot);
        instr_set_updates(&record, slot->complete);
        trace_put(w->writer, &record, NULL);
    }
    if (mask & ~complete) record_word(w, op, mask & ~complete);
}

static void execute_pending(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    uint64_t state[WARP_LANES];
    row_read(w, op->a, 8, state);
    for (unsigned i = 0; i < WARP_LANES; i++) state[i] = object_of(state[i]).pending;
    row_write(w, op->dst, 4, state, mask);
}

op_handler *mbarrier_handler_find(const struct op *op) {
    switch (op->operation) {
    case OPERATION_mbarrier_init:
    case OPERATION_mbarrier_inval: return execute_init;
    case OPERATION_mbarrier_arrive: return execute_arrive;
    case OPERATION_mbarrier_tx: return execute_tx;
    case OPERATION_mbarrier_wait: return execute_test;
    case OPERATION_mbarrier_pending: return execute_pending;
    default: return NULL;
    }
}
