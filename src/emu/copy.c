/* Asynchronous copies: cp.async with its groups, and cp.async.bulk (PTX ISA 9.0).
 *
 * The PTX ISA leaves open when an asynchronous copy reads its source and writes its destination, until an operation
 * that waits for it. Here that is as late as possible: in the wait, by the thread itself or at an mbarrier. A program
 * that reads the destination or overwrites the source too early therefore gets another result, in every run the same.
 * Copies that nobody waits for are performed when their warp ends; the oldest ones earlier if many are pending.
 * Addresses are checked when the copy issues.
 *
 * A bulk copy to shared memory may have its destination in another CTA of the cluster, together with its mbarrier.
 *
 * A record of a bulk copy touches at most 8 KiB; larger copies are several records. */
#include "emu/cta.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PENDING_MAX = 1024, BULK_ALIGN_BYTES = 16, PIECE_BYTES = WARP_LANES * TOUCH_BLOCK_BYTES };
enum { SHARED_PASS_BYTES = 128 }; /* of 32 banks */
enum group_kind { GROUP_LANES, GROUP_BULK, GROUP_KINDS };

/* An instruction cp.async whose lanes in `mask` are pending. */
struct lane_copy {
    const struct op *op;
    uint32_t mask, number;
    uint32_t group[WARP_LANES]; /* of the lane */
    uint32_t to[WARP_LANES];
    uint64_t from[WARP_LANES];
    uint8_t bytes[WARP_LANES]; /* of the source */
};

/* A pending bulk copy from shared to global memory. */
struct bulk_store {
    const struct op *op;
    uint32_t lane, number; /* that of its last record */
    uint32_t group, from, bytes;
    uint64_t to;
};

struct warp_copies {
    struct lane_copy *lanes;
    struct bulk_store *stores;
    uint32_t count[GROUP_KINDS], room[GROUP_KINDS]; /* pending */
    uint32_t issued[GROUP_KINDS];                   /* records so far */
    uint32_t landed[GROUP_KINDS];                   /* records before this number may be complete without a wait */
    uint32_t committed[GROUP_KINDS][WARP_LANES];    /* groups */
};

static struct warp_copies *copies_of(struct warp_state *w) {
    if (!w->copies) w->copies = mem_alloc(1, sizeof *w->copies);
    return w->copies;
}

void copies_begin(struct warp_state *w) {
    if (!w->copies) return;
    struct warp_copies *c = w->copies;
    memset(c->count, 0, sizeof c->count);
    memset(c->issued, 0, sizeof c->issued);
    memset(c->landed, 0, sizeof c->landed);
    memset(c->committed, 0, sizeof c->committed);
}

void copies_release(struct warp_state *w) {
    if (!w->copies) return;
    free(w->copies->lanes);
    free(w->copies->stores);
    free(w->copies);
}

/* --- performing --- */

static void source_gone(struct warp_state *w, const struct op *op, unsigned lane, uint64_t address, uint64_t bytes) {
    fault_set(w, op, lane,
              "the %" PRIu64 " bytes of global memory at 0x%" PRIx64 " were freed before the copy was complete", bytes,
              address);
}

static void lane_land(struct warp_state *w, const struct lane_copy *copy, unsigned lane) {
    unsigned bytes = copy->bytes[lane], whole = (unsigned)copy->op->immediate;
    uint8_t *to = w->warp.cta->shared + copy->to[lane];
    const uint8_t *from = bytes ? space_at(w, PTX_SPACE_GLOBAL, copy->from[lane], bytes, ACCESS_READ) : to;
    if (!from) {
        source_gone(w, copy->op, lane, copy->from[lane], bytes);
        return;
    }
    memmove(to, from, bytes);
    memset(to + bytes, 0, whole - bytes);
}

static void store_land(struct warp_state *w, const struct bulk_store *store) {
    uint8_t *to = memory_at(&w->run->device->memory, store->to, store->bytes);
    if (!to)
        source_gone(w, store->op, store->lane, store->to, store->bytes);
    else
        memcpy(to, w->warp.cta->shared + store->from, store->bytes);
    w->run->changed |= 1 << PTX_SPACE_GLOBAL;
}

/* The CTA of the destination has not ended: one of its threads tests the mbarrier, or another one has found it. That of
 * the source may have, but keeps its memory as long as the cluster. */
void bulk_land(struct warp_state *w, const struct op *op, unsigned lane, const struct bulk_copy *copy) {
    if (!copy->bytes) return;
    uint8_t *to = space_at(w, PTX_SPACE_SHARED, copy->to, copy->bytes, ACCESS_WRITE);
    const uint8_t *from = op->operation == OPERATION_bulk_send
                              ? w->warp.cta->shared + copy->from
                              : memory_at(&w->run->device->memory, copy->from, copy->bytes);
    if (from)
        memmove(to, from, copy->bytes);
    else
        source_gone(w, op, lane, copy->from, copy->bytes);
}

/* Which lanes' copies of a kind are performed: those before a number, or of groups so old that `keep` newer ones of the
 * lane have been committed. */
struct land {
    uint32_t mask, number, keep;
    bool all; /* groups do not matter */
};

static bool land_covers(const struct warp_copies *c, const struct land *land, enum group_kind kind, unsigned lane,
                        uint32_t number, uint32_t group) {
    return land->mask >> lane & 1 && number < land->number &&
           (land->all || group + land->keep < c->committed[kind][lane]);
}

/* Performs them, oldest first. Returns the number of the latest one, plus 1. */
static uint32_t lanes_land(struct warp_state *w, const struct land *land) {
    struct warp_copies *c = w->copies;
    uint32_t until = 0, kept = 0;
    for (uint32_t i = 0; i < c->count[GROUP_LANES]; i++) {
        struct lane_copy *copy = &c->lanes[i];
        uint32_t covered = 0;
        FOR_LANES (lane, copy->mask)
            covered |= (uint32_t)land_covers(c, land, GROUP_LANES, lane, copy->number, copy->group[lane]) << lane;
        FOR_LANES (lane, covered) lane_land(w, copy, lane);
        if (covered) until = copy->number + 1;
        copy->mask &= ~covered;
        if (copy->mask && kept++ != i) c->lanes[kept - 1] = *copy;
    }
    c->count[GROUP_LANES] = kept;
    return until;
}

static uint32_t stores_land(struct warp_state *w, const struct land *land) {
    struct warp_copies *c = w->copies;
    uint32_t until = 0, kept = 0;
    for (uint32_t i = 0; i < c->count[GROUP_BULK]; i++) {
        struct bulk_store *store = &c->stores[i];
        if (land_covers(c, land, GROUP_BULK, store->lane, store->number, store->group)) {
            store_land(w, store);
            until = store->number + 1;
        } else if (kept++ != i) {
            c->stores[kept - 1] = *store;
        }
    }
    c->count[GROUP_BULK] = kept;
    return until;
}

static void landed_note(struct warp_copies *c, enum group_kind kind, uint32_t until) {
    if (until > c->landed[kind]) c->landed[kind] = until;
}

void copies_land(struct warp_state *w, uint32_t mask, uint32_t number) {
    if (w->copies)
        landed_note(w->copies, GROUP_LANES, lanes_land(w, &(struct land){.mask = mask, .number = number, .all = true}));
}

void copies_end(struct warp_state *w) {
    if (!w->copies) return;
    const struct land all = {.mask = UINT32_MAX, .number = UINT32_MAX, .all = true};
    lanes_land(w, &all);
    stores_land(w, &all);
}

/* --- instructions --- */

bool copy_shared(struct warp_state *w, const struct op *op, unsigned lane, uint64_t *address) {
    if (LIKELY(!(*address >> CLUSTER_RANK_SHIFT))) return true;
    const struct cta *cta = cluster_cta(w, *address);
    if (cta == w->warp.cta)
        *address &= low_mask(CLUSTER_RANK_SHIFT);
    else if (cta)
        fault_set(w, op, lane,
                  "0x%" PRIx64 " is in the shared memory of another block of the cluster; the instruction requires an "
                  "address in its own block (.shared::cta)",
                  *address);
    return !cta || cta == w->warp.cta; /* the access to memory that does not exist is a fault, too */
}

void copy_cluster(const struct warp_state *w, uint64_t *address) {
    if (UNLIKELY(*address >> CLUSTER_RANK_SHIFT) && !cluster_is_remote(w, *address))
        *address &= low_mask(CLUSTER_RANK_SHIFT);
}

/* Makes space for another pending copy; the oldest ones are performed if there are too many. */
static void space_make(struct warp_state *w, enum group_kind kind) {
    struct warp_copies *c = w->copies;
    if (c->count[kind] == PENDING_MAX) {
        uint32_t oldest = kind == GROUP_LANES ? c->lanes[PENDING_MAX / 2].number : c->stores[PENDING_MAX / 2].number;
        struct land land = {.mask = UINT32_MAX, .number = oldest, .all = true};
        landed_note(c, kind, kind == GROUP_LANES ? lanes_land(w, &land) : stores_land(w, &land));
    }
    if (c->count[kind] < c->room[kind]) return;
    c->room[kind] = c->room[kind] ? 2 * c->room[kind] : 8;
    if (kind == GROUP_LANES)
        c->lanes = mem_grow(c->lanes, c->room[kind], sizeof *c->lanes);
    else
        c->stores = mem_grow(c->stores, c->room[kind], sizeof *c->stores);
}

/* The record of a copy of lanes: the touched sectors of the source, and the bank passes of the write. */
static void lanes_record(struct warp_state *w, const struct op *op, uint32_t mask, uint32_t reads,
                         const uint64_t to[WARP_LANES]) {
    unsigned bytes = (unsigned)op->immediate;
    uint64_t from[WARP_LANES];
    touch_note(w, mask, PTX_SPACE_SHARED, to, bytes, ACCESS_WRITE);
    uint8_t passes = w->note.conflicts;
    w->note.space = SPACE_GLOBAL;
    w->note.count = 0;
    w->note.flags = 0;
    if (reads) {
        copy_addresses(w, op, 1, reads, from);
        enum lanes_form form = lanes_form(reads, from, bytes);
        if (!touch_note_run(w, reads, PTX_SPACE_GLOBAL, from[lowest_bit(reads)], bytes, ACCESS_READ, form))
            touch_note(w, reads, PTX_SPACE_GLOBAL, from, bytes, ACCESS_READ);
    }
    w->note.conflicts = passes;
    record_access(w, op, mask);
}

static void execute_copy(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    struct warp_copies *c = copies_of(w);
    unsigned bytes = (unsigned)op->immediate;
    uint64_t to[WARP_LANES], from[WARP_LANES], given[WARP_LANES];
    uint32_t ignored = op->d == PLACE_NONE ? 0 : warp_predicate(warp, op->d), reads = 0;
    copy_addresses(w, op, 0, mask, to);
    copy_addresses(w, op, 1, mask, from);
    if (op->c != PLACE_NONE) row_read(w, op->c, 4, given);
    space_make(w, GROUP_LANES);
    struct lane_copy *copy = &c->lanes[c->count[GROUP_LANES]];
    copy->op = op;
    copy->mask = mask;
    copy->number = c->issued[GROUP_LANES]++;
    FOR_LANES (lane, mask) {
        uint64_t size = ignored >> lane & 1 ? 0 : op->c != PLACE_NONE ? given[lane] : bytes;
        if (size > bytes) {
            fault_set(w, op, lane, "a source of %" PRIu64 " bytes is larger than the copy, %u bytes", size, bytes);
            return;
        }
        if (!copy_shared(w, op, lane, &to[lane])) return;
        if (to[lane] % bytes || !space_at(w, PTX_SPACE_SHARED, to[lane], bytes, ACCESS_WRITE)) {
            access_fault(w, op, lane, PTX_SPACE_SHARED, to[lane], bytes, ACCESS_WRITE);
            return;
        }
        if (from[lane] % bytes || (size && !space_at(w, PTX_SPACE_GLOBAL, from[lane], (unsigned)size, ACCESS_READ))) {
            access_fault(w, op, lane, PTX_SPACE_GLOBAL, from[lane], bytes, ACCESS_READ);
            return;
        }
        copy->group[lane] = c->committed[GROUP_LANES][lane];
        copy->to[lane] = (uint32_t)to[lane];
        copy->from[lane] = from[lane];
        copy->bytes[lane] = (uint8_t)size;
        reads |= (uint32_t)(size != 0) << lane;
    }
    c->count[GROUP_LANES]++;
    w->run->changed |= 1 << PTX_SPACE_SHARED;
    if (w->writer) lanes_record(w, op, mask, reads, to);
}

static void execute_commit(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_copies *c = copies_of(warp_state(warp));
    FOR_LANES (lane, mask) c->committed[op->modifiers & MOD_BULK ? GROUP_BULK : GROUP_LANES][lane]++;
}

static void execute_wait(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    struct warp_copies *c = copies_of(w);
    enum group_kind kind = op->modifiers & MOD_BULK ? GROUP_BULK : GROUP_LANES;
    struct land land = {.mask = mask, .number = UINT32_MAX, .keep = (uint32_t)op->immediate};
    if (op->modifiers & MOD_ALL) {
        execute_commit(warp, op, mask);
        land.keep = 0;
    }
    uint32_t until = kind == GROUP_BULK ? stores_land(w, &land) : lanes_land(w, &land);
    if (w->run->failed || !w->writer) return;
    if (until < c->landed[kind]) until = c->landed[kind];
    struct instr record = record_of(w, op, mask);
    record.count = (uint16_t)min_u64(c->issued[kind] - until, UINT16_MAX);
    trace_put(w->writer, &record, NULL);
}

/* The records of a bulk copy of one lane: pieces of at most 8 KiB. */
static uint32_t bulk_pieces(uint64_t address, uint32_t bytes) {
    return bytes ? (uint32_t)((address + bytes - 1) / PIECE_BYTES - address / PIECE_BYTES + 1) : 1;
}

/* `barrier`: the number of the mbarrier, and `at` its address. */
static void bulk_record(struct warp_state *w, const struct op *op, unsigned lane, uint64_t address, uint32_t bytes,
                        enum access_kind kind, uint8_t barrier, uint64_t at) {
    uint64_t end = address + bytes;
    uint32_t mask = UINT32_C(1) << lane;
    for (uint32_t pieces = bulk_pieces(address, bytes); pieces; pieces--) {
        uint64_t next = min_u64(end, (address / PIECE_BYTES + 1) * PIECE_BYTES);
        struct instr record = record_of(w, op, mask);
        w->note.count = 0;
        w->note.flags = 0;
        if (bytes)
            touch_note_run(w, UINT32_C(1) << lane, PTX_SPACE_GLOBAL, address, (unsigned)(next - address), kind,
                           LANES_UNIFORM);
        record.flags |= w->note.flags;
        record.count = w->note.count;
        record.barrier = barrier;
        cluster_record(w, at, &record);
        if (w->run->loaded->promises) promise_note(w, op, &record);
        trace_put_access(w->writer, &record, w->note.touch);
        address = next;
        mask = 0; /* the thread has executed one instruction */
    }
}

/* The records of a bulk copy within shared memory have no touches, but the number of bank passes. */
static void send_record(struct warp_state *w, const struct op *op, unsigned lane, uint32_t bytes, uint8_t barrier,
                        uint64_t at) {
    uint32_t mask = UINT32_C(1) << lane;
    for (uint32_t pieces = bulk_pieces(0, bytes); pieces; pieces--) {
        uint32_t piece = (uint32_t)min_u64(bytes, PIECE_BYTES);
        struct instr record = record_of(w, op, mask);
        record.conflicts = (uint8_t)div_up(piece, SHARED_PASS_BYTES);
        record.barrier = barrier;
        cluster_record(w, at, &record);
        trace_put_access(w->writer, &record, NULL);
        bytes -= piece;
        mask = 0;
    }
}

static bool bulk_check(struct warp_state *w, const struct op *op, unsigned lane, enum ptx_space space, uint64_t address,
                       uint32_t bytes, enum access_kind kind) {
    if ((address | bytes) % BULK_ALIGN_BYTES) {
        fault_set(w, op, lane, "a bulk copy of %u bytes at 0x%" PRIx64 ": address and size must be multiples of 16",
                  bytes, address);
        return false;
    }
    if (!bytes || space_at(w, space, address, bytes, kind)) return true;
    if (space == PTX_SPACE_SHARED && !cluster_cta(w, address)) {
        access_fault(w, op, lane, space, address, BULK_ALIGN_BYTES, kind);
        return false;
    }
    const char *name = space == PTX_SPACE_SHARED ? "shared" : "global";
    fault_set(w, op, lane, "a bulk copy of %u bytes %s %s memory at 0x%" PRIx64 ": beyond its end", bytes,
              kind == ACCESS_READ ? "from" : "to", name, address);
    return false;
}

/* To shared memory: from global memory, or from that of the CTA. */
static void execute_bulk_load(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    bool sends = op->operation == OPERATION_bulk_send;
    uint64_t to[WARP_LANES], from[WARP_LANES], barrier[WARP_LANES], bytes[WARP_LANES];
    copy_addresses(w, op, 0, mask, to);
    copy_addresses(w, op, 1, mask, from);
    copy_addresses(w, op, 2, mask, barrier);
    row_read(w, op->b, 4, bytes);
    w->run->changed |= 1 << PTX_SPACE_SHARED;
    FOR_LANES (lane, mask) {
        uint32_t size = (uint32_t)bytes[lane];
        copy_cluster(w, &to[lane]);
        copy_cluster(w, &barrier[lane]);
        if ((sends && !copy_shared(w, op, lane, &from[lane])) ||
            !bulk_check(w, op, lane, PTX_SPACE_SHARED, to[lane], size, ACCESS_WRITE) ||
            !bulk_check(w, op, lane, sends ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL, from[lane], size, ACCESS_READ))
            return;
        if ((to[lane] ^ barrier[lane]) >> CLUSTER_RANK_SHIFT) {
            fault_set(w, op, lane,
                      "the mbarrier at 0x%" PRIx64 " and the destination of the copy at 0x%" PRIx64
                      " are in the shared memory of different blocks of the cluster",
                      barrier[lane], to[lane]);
            return;
        }
        const struct bulk_copy copy = {
            .to = to[lane], .from = from[lane], .bytes = size, .pieces = bulk_pieces(sends ? 0 : from[lane], size)};
        int slot = mbarrier_bind_copy(w, op, lane, barrier[lane], &copy);
        if (slot < 0) return;
        if (!w->writer) continue;
        if (sends)
            send_record(w, op, lane, size, (uint8_t)slot, barrier[lane]);
        else
            bulk_record(w, op, lane, from[lane], size, ACCESS_READ, (uint8_t)slot, barrier[lane]);
    }
}

static void execute_bulk_store(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    struct warp_copies *c = copies_of(w);
    uint64_t to[WARP_LANES], from[WARP_LANES], bytes[WARP_LANES];
    copy_addresses(w, op, 0, mask, to);
    copy_addresses(w, op, 1, mask, from);
    row_read(w, op->b, 4, bytes);
    w->run->changed |= 1 << PTX_SPACE_SHARED;
    FOR_LANES (lane, mask) {
        uint32_t size = (uint32_t)bytes[lane];
        if (!copy_shared(w, op, lane, &from[lane]) ||
            !bulk_check(w, op, lane, PTX_SPACE_GLOBAL, to[lane], size, ACCESS_WRITE) ||
            !bulk_check(w, op, lane, PTX_SPACE_SHARED, from[lane], size, ACCESS_READ))
            return;
        space_make(w, GROUP_BULK);
        c->issued[GROUP_BULK] += bulk_pieces(to[lane], size);
        c->stores[c->count[GROUP_BULK]++] = (struct bulk_store){.op = op,
                                                                .lane = lane,
                                                                .number = c->issued[GROUP_BULK] - 1,
                                                                .group = c->committed[GROUP_BULK][lane],
                                                                .from = (uint32_t)from[lane],
                                                                .bytes = size,
                                                                .to = to[lane]};
        if (w->writer) bulk_record(w, op, lane, to[lane], size, ACCESS_WRITE, 0, 0);
    }
}

/* An arrival on an mbarrier when the earlier copies of the lanes are complete; one record for each mbarrier. */
static void execute_arrive(struct warp *warp, const struct op *op, uint32_t mask) {
    struct warp_state *w = warp_state(warp);
    struct warp_copies *c = copies_of(w);
    uint64_t address[WARP_LANES];
    access_addresses(w, op, mask, address);
    w->run->changed |= 1 << PTX_SPACE_SHARED;
    while (mask) {
        uint64_t at = address[lowest_bit(mask)];
        uint32_t group = 0;
        FOR_LANES (lane, mask) group |= (uint32_t)(address[lane] == at) << lane;
        mask &= ~group;
        if (space_resolve(op->space, &at) != PTX_SPACE_SHARED) {
            fault_set(w, op, lowest_bit(group), "an mbarrier must be in shared memory");
            return;
        }
        if (!copy_shared(w, op, lowest_bit(group), &at)) return;
        int slot = mbarrier_bind_arrival(w, op, group, at, c->issued[GROUP_LANES], !(op->modifiers & MOD_NOINC));
        if (slot < 0) return;
        c->issued[GROUP_LANES]++;
        if (!w->writer) continue;
        struct instr record = record_of(w, op, group);
        record.barrier = (uint8_t)slot;
        trace_put_access(w->writer, &record, NULL);
    }
}

op_handler *copy_handler_find(const struct op *op) {
    switch (op->operation) {
    case OPERATION_copy: return execute_copy;
    case OPERATION_copy_arrive: return execute_arrive;
    case OPERATION_bulk_load:
    case OPERATION_bulk_send: return execute_bulk_load;
    case OPERATION_bulk_store: return execute_bulk_store;
    case OPERATION_copy_commit: return execute_commit;
    case OPERATION_copy_wait: return execute_wait;
    default: return NULL;
    }
}
