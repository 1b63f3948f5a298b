/* A slice of the LLC, in front of one memory controller.
 *
 * A request is looked up `latency_cycles` after its arrival, one lookup per cycle, in order. A lookup that fails to
 * reserve a resource (MSHR, line of the set, reply queue, queue to memory) blocks those behind it. A pending hit whose
 * MSHR has reached its merge limit goes to the replay queue and is looked up again when the line arrives, as are later
 * requests to the same line; it blocks those behind it only if the replay queue is full (llc.replay_queue 0: always).
 * Replies leave through a data port of `port_bytes` per cycle, so that a line of 128 B occupies it for four cycles and
 * an acknowledgement for one. Requests that waited for memory are answered before hits, one at a time, and an MSHR is
 * freed with its last reply.
 *
 * Write-back (shared organisations): a write of a whole line allocates without fetching; any other write miss fetches
 * the line and is acknowledged when it arrives. A modified line is written to memory when it is evicted or flushed.
 * With llc.write_allocate=through a write that misses, or is a pending hit, is written through to memory, which
 * acknowledges it; its entry in the line's MSHR gets no reply, and the line arrives unmodified. Write-through (if a
 * line may have replicas): a write updates the line if it is present, is sent to memory, and is acknowledged when
 * memory acknowledges it; it does not allocate. Atomics are performed in the slice: each occupies the lookup for
 * `atomic_cycles` per lane on its busiest word.
 *
 * With llc.sector_bytes lines are sectored, and lookups, fills and write misses are those of sectored.h.
 *
 * Flush, of one program's lines: modified lines are written to memory, one per cycle as memory accepts them; then lines
 * are invalidated, `flush_lines` per cycle, in a scan of all tags. Accesses to the tags block lookups; while the flush
 * waits for memory, another program is served, or the same one if it was not stopped (struct slice_command,
 * background).
 *
 * Source: the LLC of Table 1 of "Adaptive Memory-Side Last-Level GPU Caching" (ISCA 2019) and the L2 of GPGPU-Sim
 * 3.2.2.
 */
#include <stdlib.h>

#include "dram/mapping.h"
#include "llc/atomics.h"
#include "llc/bridge.h"
#include "llc/organisation.h"
#include "llc/sectored.h"
#include "llc/slice_state.h"
#include "sim/gpu_config.h"

STATS_TABLE(llc_stat_table, "llc", llc_stats, LLC_STATS);
STATS_TABLE(llc_fail_stat_table, "llc.reservation_fail", llc_reservation_fail_stats, LLC_RESERVATION_FAILS);
STATS_TABLE(copies_stat_table, "copies", llc_stats, LLC_STATS);
STATS_TABLE(copies_fail_stat_table, "copies.reservation_fail", llc_reservation_fail_stats, LLC_RESERVATION_FAILS);
STATS_TABLE(atomics_stat_table, "atomics", llc_stats, LLC_STATS);
STATS_TABLE(atomics_fail_stat_table, "atomics.reservation_fail", llc_reservation_fail_stats, LLC_RESERVATION_FAILS);

static void slice_tick(void *self, uint64_t now);
static void slice_settle(void *self, uint64_t now);
static void slice_explain(const void *self, uint64_t now, FILE *out);
static bool slice_busy(const void *self);

static const struct component_ops component_ops = {"slice", slice_tick, slice_settle, slice_explain, slice_busy};

/* What distinguishes a slice of the atomics' LLC from the others. */
struct slice_kind {
    struct cache_geometry geometry;
    const struct policy *replacement;
    int64_t latency_cycles;
    const struct stat_table *counters, *fail_counters, *sector_counters;
    bool watched; /* by the organisation */
    bool copies;  /* its memory is another slice */
    enum latency_stage arrives_by;
};

static struct slice *create(const struct config *config, const struct slice_kind *kind,
                            struct llc_organisation *organisation, struct engine *engine, struct stats *stats,
                            unsigned index) {
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    struct slice *slice = mem_alloc_lines(1, sizeof *slice);
    slice->index = index;
    slice->engine = engine;
    slice->map = organisation->map;
    slice->latency_cycles = (unsigned)kind->latency_cycles;
    for (unsigned sectors = 0; sectors <= SECTORS_MAX; sectors++)
        slice->data_cycles[sectors] = (uint16_t)div_up(SECTOR_BYTES * sectors, (uint64_t)llc->port_bytes);
    slice->atomic_cycles = (unsigned)llc->atomic_cycles;
    slice->flush_lines = (unsigned)llc->flush_lines;
    slice->line_log2 = log2_floor((uint64_t)gpu->line_bytes);
    slice->whole_line = (uint8_t)low_mask((unsigned)gpu->line_bytes / SECTOR_BYTES);
    for (unsigned i = 0; i < PROGRAMS_MAX; i++) slice->write_through[i] = organisation->mode.is_private;
    slice->watcher = kind->watched && organisation->ops->profile ? organisation : NULL;
    slice->latency = engine->latency;
    slice->arrives_by = kind->arrives_by;
    slice->copies = kind->copies;
    slice->allocate_through = llc->write_allocate == &llc_allocate_through;
    slice->whole_write_backs = llc->whole_write_backs;
    cache_init(&slice->cache, &kind->geometry, kind->replacement, config, &llc_section, UINT64_C(0x10000) + index);
    mshr_init(&slice->mshrs, (unsigned)llc->mshrs, (unsigned)llc->mshr_merges, sizeof(struct message));
    slice->reply_capacity = (uint32_t)llc->reply_queue;
    slice->reply_mask = (uint32_t)round_up_power_of_two(slice->reply_capacity) - 1;
    slice->reply = mem_alloc(slice->reply_mask + 1, sizeof *slice->reply);
    ring_init(&slice->arrived, (uint64_t)llc->mshrs + THROUGH_WRITES);
    slice->replay_capacity = (unsigned)llc->replay_queue;
    slice->replay = mem_alloc(slice->replay_capacity, sizeof *slice->replay);
    slice->through = mem_alloc(THROUGH_WRITES, sizeof *slice->through);
    while (slice->through_free_count < THROUGH_WRITES) {
        slice->through_free[slice->through_free_count] = (uint16_t)slice->through_free_count;
        slice->through_free_count++;
    }
    slice->component = engine_add(engine, &component_ops, slice, index);
    slice->waker = waker_of(engine, slice->component);
    stats_add(stats, kind->counters, &slice->stats);
    stats_add(stats, kind->fail_counters, &slice->fails);
    slice->sectors = slice_sectors_create(config, kind->sector_counters, stats);
    return slice;
}

struct slice *slice_create(const struct config *config, struct llc_organisation *organisation, struct engine *engine,
                           struct stats *stats, unsigned index) {
    const struct llc_config *llc = config_get(config, &llc_section);
    struct slice_kind kind = {
        .geometry = {.sets = llc_sets(config), .ways = (unsigned)llc->ways - bridge_copy_ways(config)},
        .replacement = llc->replacement,
        .latency_cycles = llc->latency_cycles,
        .counters = &llc_stat_table,
        .fail_counters = &llc_fail_stat_table,
        .sector_counters = &llc_sector_stat_table,
        .watched = true,
        .arrives_by = bridges_exist(config) ? LATENCY_bridge : LATENCY_request_network};
    return create(config, &kind, organisation, engine, stats, index);
}

struct slice *slice_create_for_copies(const struct config *config, struct llc_organisation *organisation,
                                      struct engine *engine, struct stats *stats, unsigned index) {
    const struct llc_config *llc = config_get(config, &llc_section);
    struct slice_kind kind = {.geometry = {.sets = llc_sets(config), .ways = bridge_copy_ways(config)},
                              .replacement = llc->replacement,
                              .latency_cycles = llc->latency_cycles,
                              .counters = &copies_stat_table,
                              .fail_counters = &copies_fail_stat_table,
                              .sector_counters = &copies_sector_stat_table,
                              .copies = true,
                              .arrives_by = LATENCY_bridge};
    return create(config, &kind, organisation, engine, stats, index);
}

struct slice *slice_create_for_atomics(const struct config *config, struct llc_organisation *organisation,
                                       struct engine *engine, struct stats *stats, unsigned index) {
    const struct atomics_config *atomics = config_get(config, &atomics_section);
    struct slice_kind kind = {.geometry = {.sets = atomics_sets(config), .ways = (unsigned)atomics->ways},
                              .replacement = &replacement_lru.policy,
                              .latency_cycles = atomics->latency_cycles,
                              .counters = &atomics_stat_table,
                              .fail_counters = &atomics_fail_stat_table,
                              .sector_counters = &atomics_sector_stat_table,
                              .arrives_by = LATENCY_slice};
    return create(config, &kind, organisation, engine, stats, index);
}

void slice_destroy(struct slice *slice) {
    if (!slice) return;
    cache_release(&slice->cache);
    mshr_release(&slice->mshrs);
    free(slice->reply);
    ring_release(&slice->arrived);
    free(slice->replay);
    free(slice->through);
    slice_sectors_destroy(slice->sectors);
    free(slice);
}

unsigned slice_component(const struct slice *slice) { return slice->component; }

void slice_connect(struct slice *slice, const struct slice_ports *ports, unsigned input_queue) {
    slice->from_network = ports->from_network;
    slice->to_network = ports->to_network;
    slice->from_memory = ports->from_memory;
    slice->to_memory = ports->to_memory;
    slice->commands = ports->commands;
    slice->reports = ports->reports;
    slice->to_atomics = ports->to_atomics;
    slice->from_atomics = ports->from_atomics;
    slice->looks_ahead = !slice->commands && !slice->to_atomics && !slice->watcher && !slice->observer &&
                         !slice->allocate_through && !slice->sectors && !slice->latency;
    /* The access pipeline of `latency_cycles` is part of the port instead of being simulated stage by stage. A request
     * becomes visible to the slice in the cycle of its lookup, and the port has an entry for each pipeline stage and
     * each entry of the input queue. The plain version leaves the oldest request in the port until it has been there
     * for `latency_cycles`: the slice would be ticked for its arrival and again for its lookup. Both return the entry's
     * credit at the lookup, so that sender and receiver see no difference; tests/sim/port_test.c compares the two cycle
     * by cycle. */
    port_lengthen(slice->from_network, slice->latency_cycles, slice->latency_cycles + input_queue);
}

void slice_observe(struct slice *slice, slice_observer *observer, void *user) {
    slice->observer = observer;
    slice->looks_ahead = false;
    slice->observer_user = user;
}

/* Observation of latencies. */

/* The oldest request, before its lookup. Repeated calls have no effect. */
static NEVER_INLINE void observe_arrival(struct slice *slice, const struct message *message) {
    uint64_t looked_up = port_next_visible(slice->from_network), arrived = looked_up - slice->latency_cycles;
    if (slice->arrives_by == LATENCY_request_network)
        latency_cross(slice->latency, message, false, arrived);
    else
        latency_mark(slice->latency, latency_message_key(message), slice->arrives_by, arrived);
    latency_mark(slice->latency, latency_message_key(message), LATENCY_slice, looked_up);
}

NEVER_INLINE void slice_observe_lookup(struct slice *slice, const struct message *message, bool present, bool pending,
                                       uint64_t now) {
    latency_mark(slice->latency, latency_message_key(message), LATENCY_slice_queue, now);
    if (present || pending)
        latency_supply(slice->latency, latency_message_key(message),
                       present ? LATENCY_LEVEL_llc : LATENCY_LEVEL_llc_pending);
}

static uint64_t fetch_key(const struct slice *slice, unsigned mshr, uint8_t sectors) {
    return latency_key(LATENCY_FETCH, slice->index, TAG_FILL | mshr, sectors);
}

NEVER_INLINE void slice_observe_fetch(struct slice *slice, unsigned mshr, uint8_t sectors, uint64_t now) {
    latency_open(slice->latency, fetch_key(slice, mshr, sectors), now);
    if (!slice->copies) latency_supply(slice->latency, fetch_key(slice, mshr, sectors), LATENCY_LEVEL_dram);
}

NEVER_INLINE void slice_observe_served(struct slice *slice, const struct message *waiter, unsigned mshr,
                                       uint8_t sectors) {
    latency_join(slice->latency, latency_message_key(waiter), fetch_key(slice, mshr, sectors), LATENCY_slice_queue);
}

/* The answer to a fetch. */
static NEVER_INLINE void observe_fill(struct slice *slice, unsigned mshr, uint8_t sectors, uint64_t now) {
    latency_mark(slice->latency, fetch_key(slice, mshr, sectors), slice->copies ? LATENCY_bridge : LATENCY_slice_queue,
                 now);
    for (unsigned i = 0; !slice->sectors && i < slice->mshrs.mshr[mshr].waiters; i++)
        slice_observe_served(slice, mshr_waiter(&slice->mshrs, mshr, i), mshr, sectors);
}

/* Time. */

static inline void settle(struct slice *slice, uint64_t now) {
    if (slice->ahead && slice->ahead_at < now) {
        ++*slice->ahead;
        slice->ahead = NULL;
        slice->stats.evictions += slice->ahead_evicts;
    }
    if (slice->settled >= now) return;
    uint64_t cycles = now - slice->settled;
    slice->settled = now;
    if (slice->flushing) slice->stats.flush_cycles += cycles;
    switch (slice->hold) {
    case HOLD_NONE:
    case HOLD_FLUSH:
    case HOLD_PASS:
    case HOLD_AHEAD: break;
    case HOLD_MSHR:
    case HOLD_MISS: slice->fails.mshr += cycles; break;
    case HOLD_MERGE: slice->fails.mshr_merge += cycles; break;
    case HOLD_LINE: slice->fails.line += cycles; break;
    case HOLD_REPLY:
    case HOLD_HIT: slice->fails.reply_queue += cycles; break;
    case HOLD_MEMORY: slice->fails.memory_queue += cycles; break;
    }
}

static void slice_settle(void *self, uint64_t now) { settle(self, now); }

/* Memory side. */

/* Applies a write or atomic to the line. A write-through is sent to memory at the lookup, so that only atomics, which
 * are performed in one place of the machine, leave the line modified. */
static void apply(struct slice *slice, const struct message *message, uint64_t key, struct cache_line *line,
                  uint64_t now) {
    if (message->kind == MESSAGE_READ || message->kind == WRITE_PASSED_ON) return;
    notify(slice, SLICE_WRITE, key, message, now);
    if (slice->write_through[message->program] && message->kind == MESSAGE_WRITE) return;
    line->state = LINE_MODIFIED;
    line->dirty |= message->sectors;
}

NEVER_INLINE void slice_write_back(struct slice *slice, struct cache_line *line, uint32_t tag, uint64_t now) {
    uint64_t key = line->key;
    uint8_t sectors = slice->whole_write_backs ? slice->whole_line : line->dirty;
    send_to_memory(slice, MESSAGE_WRITE, key, sectors, tag, now);
    notify(slice, SLICE_TO_MEMORY, key, &(struct message){.sectors = sectors}, now);
    if (line->state == LINE_MODIFIED) line->state = LINE_VALID; /* else sectors of it are in flight */
    line->dirty = 0;
    slice->outstanding_writes[key_program(key)]++;
    slice->stats.write_backs++;
    if (UNLIKELY(slice->sectors != NULL)) slice->sectors->stats.written_back += (unsigned)__builtin_popcount(sectors);
}

/* Applies all waiters of the line, in order: the line may be evicted before the last of them is answered. */
static NEVER_INLINE void apply_waiters(struct slice *slice, uint32_t index, struct cache_line *line, uint64_t now) {
    const struct mshr *mshr = &slice->mshrs.mshr[index];
    uint64_t key = line->key;
    notify(slice, SLICE_FILL, key, NULL, now);
    for (unsigned i = 0; i < mshr->waiters; i++) {
        const struct message *waiter = mshr_waiter(&slice->mshrs, index, i);
        apply(slice, waiter, key, line, now);
        if (waiter->kind != MESSAGE_WRITE && waiter->kind != WRITE_PASSED_ON)
            notify(slice, SLICE_READ, key, waiter, now);
    }
}

/* Returns whether a line has arrived. */
static ALWAYS_INLINE bool receive_from_memory(struct slice *slice, bool plain, uint64_t now) {
    if (port_next_visible(slice->from_memory) > now) return false;
    const struct message *message = port_take(slice->from_memory, now);
    uint32_t kind = message->tag & TAG_KIND, index = message->tag & ~TAG_KIND;
    if (!plain && kind == TAG_FILL && UNLIKELY(slice->latency != NULL))
        observe_fill(slice, index, message->sectors, now);
    if (!plain && kind == TAG_FILL && slice->sectors) {
        slice_sectored_fill(slice, index, message->sectors, now);
    } else if (kind == TAG_FILL) {
        const struct mshr *mshr = &slice->mshrs.mshr[index];
        struct cache_line *line = cache_line_at(&slice->cache, mshr->set, mshr->way);
        line->state = LINE_VALID;
        if (UNLIKELY(line->flags & LINE_AWAITED_BY_CHANGE || (!plain && slice->observer)))
            apply_waiters(slice, index, line, now);
        ring_push(&slice->arrived, index);
        slice->replies_waiting++;
        if (!plain) slice->replay_retry = slice->replay_count > 0;
        slice->stats.fills++;
    } else {
        slice->outstanding_writes[message->program]--;
        slice->flush_writes -= message->tag == TAG_FLUSHED;
        if (kind == TAG_THROUGH) {
            ring_push(&slice->arrived, message->tag);
            slice->replies_waiting++;
        }
    }
    if (!plain && kind == TAG_FILL && UNLIKELY(slice->latency != NULL))
        latency_close(slice->latency, fetch_key(slice, index, message->sectors));
    return kind == TAG_FILL;
}

/* Replies. */

/* Converts a request to its reply and occupies the data port. The caller has checked the port and the network's
 * credit. */
static ALWAYS_INLINE void send_reply(struct slice *slice, const struct message *request, uint64_t now) {
    struct message *reply = port_push_place(slice->to_network, now);
    *reply = *request;
    reply->kind = request->kind == MESSAGE_WRITE ? MESSAGE_ACK : MESSAGE_DATA;
    unsigned cycles = 1;
    if (reply->kind == MESSAGE_DATA) {
        cycles = slice->data_cycles[__builtin_popcount(reply->sectors)];
        slice->stats.data_replies++;
    }
    slice->port_free_at = now + cycles;
    slice->stats.data_port_cycles += cycles;
    slice->stats.replies++;
}

/* The next request to be answered: one that waited for memory, else a hit. There must be one. Its entry is free now,
 * but valid until it is reused. */
static inline const struct message *take_answered(struct slice *slice) {
    const struct message *request;
    bool last = true; /* of the MSHR's waiters */
    if (ring_empty(&slice->arrived)) {
        request = &slice->reply[slice->reply_head++ & slice->reply_mask];
    } else {
        uint32_t first = ring_first(&slice->arrived), index = first & ~TAG_KIND;
        if ((first & TAG_KIND) == TAG_THROUGH) {
            request = &slice->through[index];
            slice->through_free[slice->through_free_count++] = (uint16_t)index;
        } else {
            request = mshr_next_waiter(&slice->mshrs, index);
            last = mshr_answer(&slice->mshrs, index) || (slice->sectors && slice_sectored_drained(slice, index));
        }
        if (last) ring_pop(&slice->arrived);
    }
    slice->replies_waiting -= last;
    return request;
}

/* Whether a forwarded atomic is to be answered. */
static ALWAYS_INLINE bool passed_is_back(const struct slice *slice, bool passes, uint64_t now) {
    return passes && port_next_visible(slice->from_atomics) <= now;
}

/* At most one reply per cycle. Returns whether there was one. */
static ALWAYS_INLINE bool reply_once(struct slice *slice, bool passes, bool plain, uint64_t now) {
    bool passed = passed_is_back(slice, passes, now);
    if (!(slice->replies_waiting || passed) || slice->port_free_at > now) return false;
    if (!port_can_push(slice->to_network, now)) {
        port_await_credit(slice->to_network, now);
        return false;
    }
    const struct message *request = passed ? port_take(slice->from_atomics, now) : take_answered(slice);
    if (!plain && UNLIKELY(slice->latency != NULL))
        latency_mark(slice->latency, latency_message_key(request), passed ? LATENCY_slice : LATENCY_slice_queue, now);
    if (UNLIKELY(request->kind == WRITE_PASSED_ON))
        slice->port_free_at = now + 1; /* takes its cycle without a reply */
    else
        send_reply(slice, request, now);
    return true;
}

/* Lookups. */

static ALWAYS_INLINE void answer(struct slice *slice, const struct message *message, uint64_t key,
                                 struct cache_line *line, bool plain, uint64_t now) {
    apply(slice, message, key, line, now);
    if (!plain && message->kind != MESSAGE_WRITE) notify(slice, SLICE_READ, key, message, now);
    slice->reply[slice->reply_tail++ & slice->reply_mask] = *message;
    slice->replies_waiting++;
}

static bool can_send_through(struct slice *slice, unsigned requests, uint64_t now) {
    return slice->through_free_count > 0 && port_credits(slice->to_memory, now) >= requests;
}

/* Writes through to memory, whose acknowledgement completes the write. */
static NEVER_INLINE void send_through(struct slice *slice, const struct message *message, uint64_t key, uint64_t now) {
    uint32_t index = slice->through_free[--slice->through_free_count];
    slice->through[index] = *message;
    send_to_memory(slice, MESSAGE_WRITE, key, message->sectors, TAG_THROUGH | index, now);
    slice->outstanding_writes[message->program]++;
    slice->stats.writes_through++;
    notify(slice, SLICE_THROUGH, key, message, now);
}

static enum hold write_through(struct slice *slice, const struct cache_access *access, const struct message *message,
                               struct cache_line *line, uint64_t now) {
    if (!can_send_through(slice, 1, now)) return HOLD_MEMORY;
    count(slice, access, message, line != NULL, false, false, now);
    if (line) apply(slice, message, access->key, line, now);
    if (line && slice->sectors) slice->sectors->stats.written += (unsigned)__builtin_popcount(message->sectors);
    send_through(slice, message, access->key, now);
    if (line && line->state != LINE_RESERVED) cache_touch(&slice->cache, line, access);
    return HOLD_NONE;
}

/* Adds the request to the line's MSHR. A write-through takes effect now. */
static ALWAYS_INLINE void wait_for_line(struct slice *slice, struct cache_line *line, const struct message *message,
                                        uint64_t key, bool passed_on, uint64_t now) {
    unsigned mshr = line->mshr;
    mshr_add(&slice->mshrs, mshr, message, sizeof *message);
    if (LIKELY(message->kind == MESSAGE_READ)) return;
    line->flags |= LINE_AWAITED_BY_CHANGE;
    if (!passed_on) return;
    struct message *waiter = mshr_waiter(&slice->mshrs, mshr, slice->mshrs.mshr[mshr].waiters - 1u);
    waiter->kind = WRITE_PASSED_ON;
    notify(slice, SLICE_WRITE, key, message, now);
    send_through(slice, message, key, now);
}

/* Whether a miss fetches the line: all but writes of a whole line. */
static ALWAYS_INLINE bool fetches(const struct slice *slice, bool plain, const struct message *message) {
    return (!plain && slice->allocate_through) || message->kind != MESSAGE_WRITE ||
           message->sectors != slice->whole_line || (message->flags & MESSAGE_PARTIAL);
}

/* Fetches the line of a miss into the victim's place. */
static ALWAYS_INLINE void fetch_line(struct slice *slice, struct cache_line *victim, const struct cache_access *access,
                                     const struct message *message, bool through, bool plain, uint64_t now) {
    cache_place(&slice->cache, victim, access, LINE_RESERVED);
    unsigned index = mshr_take(&slice->mshrs);
    struct mshr *mshr = &slice->mshrs.mshr[index];
    mshr->set = access->set;
    mshr->way = (uint16_t)cache_way_of(&slice->cache, access->set, victim);
    victim->mshr = (uint16_t)index;
    wait_for_line(slice, victim, message, access->key, through, now);
    send_to_memory(slice, MESSAGE_READ, access->key, slice->whole_line, TAG_FILL | index, now);
    if (!plain) notify(slice, SLICE_FETCH, access->key, NULL, now);
    if (!plain && UNLIKELY(slice->latency != NULL)) slice_observe_fetch(slice, index, slice->whole_line, now);
}

static ALWAYS_INLINE enum hold miss(struct slice *slice, const struct cache_access *access,
                                    const struct message *message, bool plain, uint64_t now) {
    bool through = !plain && slice->allocate_through && message->kind == MESSAGE_WRITE;
    bool fetch = fetches(slice, plain, message);
    if (!fetch && reply_queue_full(slice)) return HOLD_REPLY;
    if (fetch && mshr_full(&slice->mshrs)) return HOLD_MSHR;
    struct cache_line *victim = cache_victim(&slice->cache, access->set);
    if (!victim) return HOLD_LINE;
    if (through && !can_send_through(slice, 2 + (victim->state == LINE_MODIFIED), now)) return HOLD_MEMORY;
    /* A modified victim is written back first, and alone if memory cannot accept both requests. */
    if ((fetch || victim->state == LINE_MODIFIED) && !port_can_push(slice->to_memory, now)) return HOLD_MEMORY;
    if (victim->state == LINE_MODIFIED) {
        slice_write_back(slice, victim, TAG_WRITE_BACK, now);
        if (fetch && !port_can_push(slice->to_memory, now)) return HOLD_MEMORY;
    }
    count(slice, access, message, false, false, plain, now);
    if (victim->state != LINE_INVALID) {
        slice->stats.evictions++;
        if (!plain) notify(slice, SLICE_DROP, victim->key, NULL, now);
    }
    if (fetch) {
        fetch_line(slice, victim, access, message, through, plain, now);
        stat_max(&slice->stats.mshrs_peak, slice->mshrs.in_use);
    } else {
        cache_place(&slice->cache, victim, access, LINE_VALID);
        answer(slice, message, access->key, victim, plain, now);
    }
    return HOLD_NONE;
}

static ALWAYS_INLINE enum hold look_up(struct slice *slice, const struct cache_access *access,
                                       const struct message *message, bool plain, uint64_t now) {
    struct cache_line *line = cache_lookup(&slice->cache, access->set, access->key);
    if (message->kind == MESSAGE_WRITE && slice->write_through[message->program])
        return write_through(slice, access, message, line, now);
    if (!plain && slice->sectors) return slice_sectored_look_up(slice, access, message, line, now);
    if (!line) return miss(slice, access, message, plain, now);
    if (line->state == LINE_RESERVED) {
        bool through = !plain && slice->allocate_through && message->kind == MESSAGE_WRITE;
        if (!mshr_can_merge(&slice->mshrs, line->mshr)) return HOLD_MERGE;
        if (through && !can_send_through(slice, 1, now)) return HOLD_MEMORY;
        wait_for_line(slice, line, message, access->key, through, now);
        count(slice, access, message, false, true, plain, now);
        return HOLD_NONE;
    }
    /* A filled line keeps its MSHR until its waiters are answered; later requests are plain hits. */
    if (reply_queue_full(slice)) return HOLD_REPLY;
    cache_touch(&slice->cache, line, access);
    count(slice, access, message, true, false, plain, now);
    answer(slice, message, access->key, line, plain, now);
    return HOLD_NONE;
}

static ALWAYS_INLINE void looked_up(struct slice *slice, const struct message *message, uint64_t now) {
    if (message->kind == MESSAGE_ATOMIC)
        slice->lookup_free_at = now + (uint64_t)slice->atomic_cycles * (message->conflicts ? message->conflicts : 1);
}

/* Whether an older request of the replay queue is to the same line. If it is still at the merge limit, so is this one,
 * unless lines are sectored: this one's sectors may have arrived. It must not overtake. */
static bool is_behind_another(const struct slice *slice, unsigned replay) {
    for (unsigned i = 0; i < replay; i++)
        if (slice->replay[i].access.key == slice->replay[replay].access.key) return true;
    return false;
}

/* Looks up the replay queue, oldest first, one lookup per cycle. Returns whether one used this cycle. */
static NEVER_INLINE bool look_up_replays(struct slice *slice, uint64_t now) {
    for (unsigned i = 0; i < slice->replay_count; i++) {
        if (slice->sectors && is_behind_another(slice, i)) continue;
        enum hold hold = look_up(slice, &slice->replay[i].access, &slice->replay[i].message, false, now);
        if (hold == HOLD_MERGE) continue;
        if (hold != HOLD_NONE) { /* it fails on a resource that the others need as well */
            slice->hold = hold;
            return true;
        }
        looked_up(slice, &slice->replay[i].message, now);
        slice->replay_count--;
        memmove(&slice->replay[i], &slice->replay[i + 1], (slice->replay_count - i) * sizeof *slice->replay);
        return true;
    }
    slice->replay_retry = false;
    return false;
}

/* Requests to one line stay in order, so that none may overtake another in the replay queue. */
static bool must_be_replayed(const struct slice *slice, uint64_t key) {
    for (unsigned i = 0; i < slice->replay_count; i++)
        if (slice->replay[i].access.key == key) return true;
    return false;
}

/* Forwards an atomic to the atomics' LLC. */
static NEVER_INLINE enum hold pass_on(struct slice *slice, uint64_t now) {
    if (!port_can_push(slice->to_atomics, now)) {
        port_await_credit(slice->to_atomics, now);
        return HOLD_PASS;
    }
    port_push(slice->to_atomics, now, port_take(slice->from_network, now), sizeof(struct message));
    slice->stats.atomics_forwarded++;
    return HOLD_NONE;
}

/* Whether a lookup would fail on the same resource again. `filled`: a line has arrived since the last lookup, which may
 * have been the one it waits for, or may be a victim. A line that arrives cannot turn a miss that waits for an MSHR into
 * a hit, nor a hit that waits for the reply queue into a miss. */
static ALWAYS_INLINE bool is_still_blocked(struct slice *slice, bool filled, uint64_t now) {
    if (LIKELY(slice->hold == HOLD_HIT)) return reply_queue_full(slice);
    switch (slice->hold) {
    case HOLD_MSHR:
    case HOLD_MISS: return mshr_full(&slice->mshrs);
    case HOLD_REPLY: return reply_queue_full(slice);
    case HOLD_MERGE:
    case HOLD_LINE: return !filled;
    case HOLD_MEMORY: return !filled && !port_can_push(slice->to_memory, now);
    case HOLD_AHEAD: return slice->ahead_at >= now;
    default: return false;
    }
}

/* Whether an atomic is forwarded to the atomics' LLC. */
static ALWAYS_INLINE bool is_passed_on(const struct slice *slice, bool passes, const struct message *message) {
    return passes && message->kind == MESSAGE_ATOMIC && slice->write_through[message->program];
}

static ALWAYS_INLINE struct cache_access access_of(const struct slice *slice, const struct message *message) {
    return (struct cache_access){
        .key = cache_key(message->address >> slice->line_log2, message->program),
        .instr = message->instr,
        .set = cache_set_of(&slice->cache, message->place >> slice->line_log2),
    };
}

static ALWAYS_INLINE void look_up_once(struct slice *slice, bool passes, bool plain, bool filled, uint64_t now) {
    if (!plain && slice->hold != HOLD_NONE && !slice->replay_retry && is_still_blocked(slice, filled, now)) return;
    slice->hold = HOLD_NONE;
    if (slice->lookup_free_at > now || (!plain && slice->replay_retry && look_up_replays(slice, now))) return;
    if (port_next_visible(slice->from_network) > now) return;
    const struct message *message = port_peek(slice->from_network, now);
    if (!plain && UNLIKELY(slice->latency != NULL)) observe_arrival(slice, message);
    if (is_passed_on(slice, passes, message)) {
        slice->hold = pass_on(slice, now);
        return;
    }
    struct cache_access access = access_of(slice, message);
    slice->hold = !plain && slice->replay_count && must_be_replayed(slice, access.key)
                      ? HOLD_MERGE
                      : look_up(slice, &access, message, plain, now);
    if (slice->hold == HOLD_MERGE && slice->replay_count < slice->replay_capacity) {
        slice->replay[slice->replay_count++] = (struct lookup){access, *message};
        slice->stats.replayed++;
        slice->hold = HOLD_NONE;
    }
    if (slice->hold != HOLD_NONE) return;
    looked_up(slice, message, now);
    port_pop(slice->from_network, now);
}

/* Flushing. */

static NEVER_INLINE void take_command(struct slice *slice, uint64_t now) {
    slice->flushing = true;
    slice->hold = HOLD_NONE; /* a blocked write may take the other path now */
    slice->flush = *(const struct slice_command *)port_peek(slice->commands, now);
    slice->write_through[slice->flush.program] = slice->flush.write_through;
    slice->flush_set = slice->flush_way = 0;
    slice->flush_done_at = NEVER;
    port_pop(slice->commands, now);
}

static bool is_of_flushed_program(const struct slice *slice, const struct cache_line *line) {
    return key_program(line->key) == slice->flush.program;
}

static bool is_to_be_flushed(const struct slice *slice, const struct cache_line *line) {
    return (line->state == LINE_VALID || line->state == LINE_MODIFIED) && is_of_flushed_program(slice, line);
}

static bool at_home(const struct slice *slice, uint64_t key) {
    struct message line = {.address = (key & low_mask(56)) << slice->line_log2, .program = key_program(key)};
    struct location home;
    address_map_locate(slice->map, message_place_in_memory(&line), &home);
    return home.mc * address_map_slices_per_mc(slice->map) + home.slice == slice->index;
}

/* The next modified line, or NULL. Sectors of it may be in flight. */
static struct cache_line *next_modified(struct slice *slice) {
    for (; slice->flush_set < slice->cache.sets; slice->flush_set++, slice->flush_way = 0)
        for (; slice->flush_way < slice->cache.ways; slice->flush_way++) {
            struct cache_line *line = cache_line_at(&slice->cache, slice->flush_set, slice->flush_way);
            if (line->dirty && is_of_flushed_program(slice, line)) return line;
        }
    return NULL;
}

static void forget_lines(struct slice *slice, uint64_t now) {
    for (unsigned set = 0; set < slice->cache.sets; set++)
        for (unsigned way = 0; way < slice->cache.ways; way++) {
            struct cache_line *line = cache_line_at(&slice->cache, set, way);
            if (!is_to_be_flushed(slice, line)) continue;
            uint64_t key = line->key;
            if (slice->flush.keep_home && at_home(slice, key)) continue;
            notify(slice, SLICE_DROP, key, NULL, now);
            cache_drop(&slice->cache, set, line);
            slice->stats.replicas_invalidated += slice->flush.keep_home;
        }
}

/* Writes back one modified line per cycle; then waits for the time of the invalidation. Returns whether it blocks this
 * cycle's lookup. */
static NEVER_INLINE bool flush_once(struct slice *slice, uint64_t now) {
    struct cache_line *line = slice->flush.keep_modified ? NULL : next_modified(slice);
    if (line && !port_can_push(slice->to_memory, now)) {
        port_await_credit(slice->to_memory, now);
        return false;
    }
    if (line) {
        slice_write_back(slice, line, TAG_FLUSHED, now);
        slice->flush_writes++;
        engine_wake_near(slice->engine, slice->waker, now + 1);
        return true;
    }
    /* Memory's acknowledgements wake the slice. In the background, the program's other writes are not waited for. */
    if (slice->flush.background ? slice->flush_writes : slice->outstanding_writes[slice->flush.program]) return false;
    if (slice->flush_done_at == NEVER) {
        uint64_t lines = slice->flush.keep_lines ? 0 : (uint64_t)slice->cache.sets * slice->cache.ways;
        slice->flush_done_at = now + div_up(lines, slice->flush_lines);
    }
    if (slice->flush_done_at > now) {
        engine_wake_by(slice->engine, slice->waker, slice->flush_done_at);
        return true;
    }
    if (!slice->flush.keep_lines) forget_lines(slice, now);
    slice->flushing = false;
    slice->stats.flushes++;
    struct slice_report word = {slice->index};
    port_push(slice->reports, now, &word, sizeof word);
    return false;
}

/* The tick. */

/* Why the lookup of cycle now + 1 will be blocked, HOLD_NONE if it may succeed: a hit by the full reply queue, a miss by
 * the lack of an MSHR. A reply that leaves in that cycle leaves after the lookup, and a line that arrives then turns
 * neither a hit into a miss nor a miss into a hit. */
static ALWAYS_INLINE enum hold foresee(struct slice *slice, bool passes, uint64_t now) {
    if (slice->replay_count || slice->lookup_free_at > now + 1) return HOLD_NONE;
    if (slice->flushing) return HOLD_NONE; /* the cycles of a flush are counted without gaps */
    if (slice->sectors) return HOLD_NONE;  /* what its lookup needs is not a matter of lines */
    const struct message *message = port_peek(slice->from_network, now);
    if (!message || is_passed_on(slice, passes, message)) return HOLD_NONE;
    if (message->kind == MESSAGE_WRITE && slice->write_through[message->program]) return HOLD_NONE;
    struct cache_access access = access_of(slice, message);
    struct cache_line *line = cache_lookup(&slice->cache, access.set, access.key);
    slice->blocked_access = access;
    if (!line) return mshr_full(&slice->mshrs) && fetches(slice, false, message) ? HOLD_MISS : HOLD_NONE;
    if (line->state == LINE_RESERVED || !reply_queue_full(slice)) return HOLD_NONE;
    slice->blocked_line = line; /* it stays: only lookups evict lines, and this is the next one */
    return HOLD_HIT;
}

/* The part of look_up_ahead() for a miss. */
static NEVER_INLINE bool fetch_ahead(struct slice *slice, const struct message *message, uint64_t now) {
    const struct cache_access *access = &slice->blocked_access;
    struct cache_line *victim = cache_certain_victim(&slice->cache, access->set);
    if (!victim || victim->state == LINE_MODIFIED || !port_can_push(slice->to_memory, now)) return false;
    slice->fails.mshr++; /* all MSHRs were in use, which is their peak */
    slice->ahead = counter_of(&slice->stats, message->kind, false);
    slice->ahead_evicts = victim->state != LINE_INVALID;
    fetch_line(slice, victim, access, message, false, true, now + 1);
    return true;
}

/* After a reply that has freed the entry or the MSHR for which the oldest request waits: makes its lookup now, one cycle
 * ahead of time, so that the slice needs no tick in the next cycle. Returns whether it did.
 *
 *   - Why it is exact: nothing that happens in the next cycle before the lookup can change its result (foresee), nor the
 *     victim of a miss (cache_certain_victim). The requester sees no difference: the credit of the input port returns as
 *     after a pop in the next cycle, its gate depends on credits and on the cycles in which messages become visible, and
 *     the reply of a hit waits for the data port, which is occupied for longer. Memory sees a miss as after a push in the
 *     next cycle. The lookup is counted when its cycle has passed (settle).
 *   - Where the cycle could be observed, the lookup is made in its own: if the slice is flushed or lookups are observed.
 *   - The plain version is `--no-skip`, which never looks ahead.
 *   - The tests that compare the two: tests/llc/blocked_test.c "a blocked slice ...", cycle by cycle, and
 *     tests/machine for whole runs. */
static ALWAYS_INLINE bool look_up_ahead(struct slice *slice, uint64_t now) {
    bool hit = slice->hold == HOLD_HIT;
    if ((!hit && slice->hold != HOLD_MISS) || slice->port_free_at <= now + 1) return false;
    if (UNLIKELY(!slice->looks_ahead || slice->engine->poll)) return false;
    const struct message *message = port_peek(slice->from_network, now);
    if (hit) {
        slice->fails.reply_queue++; /* in this cycle */
        slice->ahead = counter_of(&slice->stats, message->kind, true);
        slice->ahead_evicts = false;
        cache_touch(&slice->cache, slice->blocked_line, &slice->blocked_access);
        answer(slice, message, slice->blocked_access.key, slice->blocked_line, true, now + 1);
    } else if (!fetch_ahead(slice, message, now)) {
        return false;
    }
    slice->hold = HOLD_AHEAD;
    slice->ahead_at = now + 1;
    slice->lookup_free_at = now + 2; /* or later, after an atomic */
    looked_up(slice, message, now + 1);
    port_pop(slice->from_network, now + 1);
    return true;
}

/* The cycle of the next lookup, if it is known: lookups have been made in the cycles up to `now`, and none is blocked. */
static ALWAYS_INLINE uint64_t next_lookup(struct slice *slice, bool passes, uint64_t now) {
    if (UNLIKELY(reply_queue_full(slice) || mshr_full(&slice->mshrs))) {
        enum hold hold = foresee(slice, passes, now);
        if (hold != HOLD_NONE) {
            slice->hold = hold;
            slice->settled = now + 1;
            return NEVER;
        }
    }
    bool waits = port_next_visible(slice->from_network) <= now || slice->replay_retry;
    return waits ? max_u64(slice->lookup_free_at, now + 1) : NEVER;
}

/* The next cycle with work that no port announces: requests already visible, and those that wait for the slice itself.
 * NEVER if there is none. */
static ALWAYS_INLINE uint64_t next_tick(struct slice *slice, bool passes, bool replied, uint64_t now) {
    bool blocked = slice->hold != HOLD_NONE && slice->hold != HOLD_AHEAD;
    uint64_t last = now; /* the last cycle whose lookup has been made */
    if (blocked && replied && slice->hold != HOLD_FLUSH && !is_still_blocked(slice, false, now)) {
        /* A blocked lookup waits for a reply that frees an entry of the reply queue, an MSHR or a write-through, for a
         * line to arrive or for a credit of memory. Ports wake the slice for the last two. */
        if (!look_up_ahead(slice, now)) return now + 1;
        blocked = false;
        last = now + 1;
    }
    uint64_t next = blocked ? NEVER : next_lookup(slice, passes, last);
    if ((slice->replies_waiting || passed_is_back(slice, passes, now)) && slice->port_free_at > now)
        next = min_u64(next, slice->port_free_at); /* otherwise a credit wakes the slice */
    return port_next_visible(slice->from_memory) <= now ? now + 1 : next;
}

/* Executes the control plane's command. Returns whether it blocks this cycle's lookup. */
static NEVER_INLINE bool run_flush(struct slice *slice, uint64_t now) {
    if (port_next_visible(slice->commands) <= now) take_command(slice, now);
    return slice->flushing && flush_once(slice, now);
}

/* Whether nothing has changed since the last tick: the lookup is blocked, and the next reply waits for the data port or
 * the network. The slice is ticked for every request that arrives behind the blocked one. */
static ALWAYS_INLINE bool is_waiting(struct slice *slice, uint64_t now) {
    if (slice->hold == HOLD_NONE || slice->replay_retry || !is_still_blocked(slice, false, now)) return false;
    if (port_next_visible(slice->from_memory) <= now || UNLIKELY(slice->commands != NULL)) return false;
    if (slice->port_free_at > now || !slice->replies_waiting || slice->to_network->sender_waits) return true;
    if (port_can_push(slice->to_network, now)) return false;
    port_await_credit(slice->to_network, now);
    return true;
}

/* The code for forwarded atomics is compiled out of the tick of a slice that forwards none, and with `plain` all code for
 * blocked lookups, the replay queue, flushes, observers and llc.write_allocate=through (is_plain). */
static ALWAYS_INLINE void tick(struct slice *slice, bool passes, bool plain, uint64_t now) {
    if (!plain && (slice->hold != HOLD_NONE || UNLIKELY(slice->commands && slice->flushing)))
        settle(slice, now);
    else
        slice->settled = now;
    bool filled = receive_from_memory(slice, plain, now);
    if (!plain && UNLIKELY(slice->commands != NULL) && run_flush(slice, now))
        slice->hold = HOLD_FLUSH;
    else
        look_up_once(slice, passes, plain, filled, now);
    if (slice->hold == HOLD_MEMORY) port_await_credit(slice->to_memory, now);
    bool replied = reply_once(slice, passes, plain, now);
    uint64_t next = next_tick(slice, passes, replied, now);
    if (next != NEVER) engine_wake_by(slice->engine, slice->waker, next);
}

static NEVER_INLINE void tick_plain(struct slice *slice, uint64_t now) { tick(slice, false, true, now); }
static NEVER_INLINE void tick_alone(struct slice *slice, uint64_t now) { tick(slice, false, false, now); }
static NEVER_INLINE void tick_and_pass(struct slice *slice, uint64_t now) { tick(slice, true, false, now); }

/* At the beginning of a tick. `looks_ahead`: no flushes, no observers and no llc.write_allocate=through. */
static ALWAYS_INLINE bool is_plain(const struct slice *slice) {
    return slice->hold == HOLD_NONE && slice->looks_ahead && !(slice->replay_count | slice->replay_retry);
}

static void slice_tick(void *self, uint64_t now) {
    struct slice *slice = self;
    if (LIKELY(is_plain(slice)))
        tick_plain(slice, now);
    else if (UNLIKELY(slice->to_atomics != NULL))
        tick_and_pass(slice, now);
    else if (!is_waiting(slice, now))
        tick_alone(slice, now);
}

static uint32_t writes_under_way(const struct slice *slice) {
    uint32_t writes = 0;
    for (unsigned i = 0; i < PROGRAMS_MAX; i++) writes += slice->outstanding_writes[i];
    return writes;
}

static bool slice_busy(const void *self) {
    const struct slice *slice = self;
    return slice->mshrs.in_use || writes_under_way(slice) || slice->replay_count || slice->flushing ||
           slice->replies_waiting || cache_reserved_lines(&slice->cache);
}

static void slice_explain(const void *self, uint64_t now, FILE *out) {
    static const char *const reason[] = {[HOLD_NONE] = "is not blocked",
                                         [HOLD_MSHR] = "waits for an MSHR",
                                         [HOLD_MERGE] = "waits at the MSHR merge limit",
                                         [HOLD_LINE] = "waits for a line of the set",
                                         [HOLD_REPLY] = "waits for the reply queue",
                                         [HOLD_HIT] = "waits for the reply queue",
                                         [HOLD_MISS] = "waits for an MSHR",
                                         [HOLD_MEMORY] = "waits for the queue to memory",
                                         [HOLD_FLUSH] = "waits for a flush",
                                         [HOLD_PASS] = "waits for the atomics' LLC",
                                         [HOLD_AHEAD] = "is not blocked"};
    const struct slice *slice = self;
    if (!slice_busy(slice) && !port_peek(slice->from_network, now)) return;
    fprintf(
        out,
        "slice %u: oldest request %s; %u in the replay queue; %u lines being fetched; %u writes to memory in flight; %u in the reply queue\n",
        slice->index, reason[slice->hold], slice->replay_count, slice->mshrs.in_use, writes_under_way(slice),
        slice->reply_tail - slice->reply_head);
}
