/* A slice of the LLC: write-back, write-allocate, in front of one memory controller.
 *
 * A request enters a pipeline of `latency_cycles`, then looks up; one lookup per cycle, in order. A lookup that cannot be served (no MSHR, no room in the
 * MSHR's list, all lines of the set reserved, reply queue full, memory full) holds up those behind it until it can. Replies leave by a data port of
 * `port_bytes` per cycle, so a line of 128 B occupies it for four cycles; an acknowledgement for one. Requests that waited for a line are answered
 * before lookups, one at a time, and its MSHR is free after the last.
 *
 * A write of whole lines allocates without fetching; any other write fetches the line first and is acknowledged when that is there. Atomics are performed
 * here: one occupies the lookup for `atomic_cycles` for each lane that meets on its busiest word.
 *
 * Source: the LLC of Table 1 of "Adaptive Memory-Side Last-Level GPU Caching" (ISCA 2019) and the L2 of GPGPU-Sim 3.2.2.
 */
#include <stdlib.h>

#include "cache/cache.h"
#include "cache/mshr.h"
#include "gpu/gpu_config.h"
#include "llc/llc.h"

STATS_TABLE(llc_stat_table, "llc", llc_stats, LLC_STATS);

/* Why the lookup at the head of the pipeline does not happen. */
enum hold { HOLD_NONE, HOLD_MSHR, HOLD_MERGE, HOLD_LINE, HOLD_REPLY, HOLD_MEMORY };

struct pipeline_entry {
    uint64_t ready_at;
    uint32_t set;
    struct message message;
};

struct slice {
    unsigned index, component;
    struct engine *engine;
    const struct address_map *map;
    struct port *from_network, *to_network, *from_memory, *to_memory;
    unsigned latency_cycles, port_bytes, atomic_cycles, line_log2;
    uint8_t whole_line; /* all sectors of a line */
    struct cache cache;
    struct mshr_table mshrs;
    struct pipeline_entry *pipeline;
    uint32_t pipeline_mask, pipeline_capacity, pipeline_head, pipeline_tail;
    struct message *reply; /* answered lookups waiting for the data port */
    uint32_t reply_mask, reply_capacity, reply_head, reply_tail;
    uint16_t *arrived;     /* MSHRs whose line has come, oldest first */
    uint32_t arrived_mask, arrived_head, arrived_tail;
    uint32_t outstanding_writes; /* write-backs that memory has not acknowledged */
    uint64_t port_free_at, lookup_free_at;
    enum hold hold;        /* of the last tick; constant while the slice sleeps */
    uint64_t settled;      /* counters are right up to the start of this cycle */
    struct llc_stats stats;
};

static void slice_tick(void *self, uint64_t now);
static void slice_settle(void *self, uint64_t now);
static void slice_explain(const void *self, uint64_t now, FILE *out);
static bool slice_busy(const void *self);

static const struct component_ops component_ops = {"slice", slice_tick, slice_settle, slice_explain, slice_busy};

struct slice *slice_create(const struct config *config, const struct address_map *map, struct engine *engine, struct stats *stats,
                           unsigned index) {
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    struct slice *slice = mem_alloc_lines(1, sizeof *slice);
    slice->index = index;
    slice->engine = engine;
    slice->map = map;
    slice->latency_cycles = (unsigned)llc->latency_cycles;
    slice->port_bytes = (unsigned)llc->port_bytes;
    slice->atomic_cycles = (unsigned)llc->atomic_cycles;
    slice->line_log2 = log2_floor((uint64_t)gpu->line_bytes);
    slice->whole_line = (uint8_t)low_mask((unsigned)gpu->line_bytes / SECTOR_BYTES);
    struct cache_geometry geometry = {.sets = llc_sets(config), .ways = (unsigned)llc->ways};
    cache_init(&slice->cache, &geometry, llc->replacement, config, UINT64_C(0x10000) + index);
    mshr_init(&slice->mshrs, (unsigned)llc->mshrs, (unsigned)llc->mshr_merges, sizeof(struct message));
    slice->pipeline_capacity = (uint32_t)(llc->latency_cycles + llc->input_queue);
    slice->pipeline_mask = (uint32_t)round_up_power_of_two(slice->pipeline_capacity) - 1;
    slice->pipeline = mem_alloc_lines(slice->pipeline_mask + 1, sizeof *slice->pipeline);
    slice->reply_capacity = (uint32_t)llc->reply_queue;
    slice->reply_mask = (uint32_t)round_up_power_of_two(slice->reply_capacity) - 1;
    slice->reply = mem_alloc(slice->reply_mask + 1, sizeof *slice->reply);
    slice->arrived_mask = (uint32_t)round_up_power_of_two((uint64_t)llc->mshrs) - 1;
    slice->arrived = mem_alloc(slice->arrived_mask + 1, sizeof *slice->arrived);
    slice->component = engine_add(engine, &component_ops, slice, index);
    stats_add(stats, &llc_stat_table, &slice->stats);
    return slice;
}

void slice_destroy(struct slice *slice) {
    if (!slice) return;
    cache_release(&slice->cache);
    mshr_release(&slice->mshrs);
    free(slice->pipeline);
    free(slice->reply);
    free(slice->arrived);
    free(slice);
}

unsigned slice_component(const struct slice *slice) { return slice->component; }

void slice_connect(struct slice *slice, struct port *from_network, struct port *to_network, struct port *from_memory,
                   struct port *to_memory) {
    slice->from_network = from_network;
    slice->to_network = to_network;
    slice->from_memory = from_memory;
    slice->to_memory = to_memory;
}

/* Time. */

static void slice_settle(void *self, uint64_t now) {
    struct slice *slice = self;
    uint64_t cycles = now - slice->settled;
    slice->settled = now;
    switch (slice->hold) {
    case HOLD_NONE: break;
    case HOLD_MSHR: slice->stats.blocked_mshr += cycles; break;
    case HOLD_MERGE: slice->stats.blocked_merge += cycles; break;
    case HOLD_LINE: slice->stats.blocked_line += cycles; break;
    case HOLD_REPLY: slice->stats.blocked_reply += cycles; break;
    case HOLD_MEMORY: slice->stats.blocked_memory += cycles; break;
    }
}

/* Memory side. */

static void send_to_memory(struct slice *slice, enum message_kind kind, uint64_t key, uint8_t sectors, uint32_t tag, uint64_t now) {
    struct message message = {
        .address = (key & low_mask(56)) << slice->line_log2,
        .born = now,
        .tag = tag,
        .source = (uint16_t)slice->index,
        .kind = (uint8_t)kind,
        .sectors = sectors,
        .program = (uint8_t)(key >> 56),
    };
    port_push(slice->to_memory, now, &message, sizeof message);
}

static void mark_written(const struct message *message, struct cache_line *line) {
    if (message->kind == MESSAGE_READ) return;
    line->state = LINE_MODIFIED;
    line->dirty |= message->sectors;
}

static void receive_from_memory(struct slice *slice, uint64_t now) {
    const struct message *message = port_peek(slice->from_memory, now);
    if (!message) return;
    if (message->kind == MESSAGE_DATA) {
        const struct mshr *mshr = &slice->mshrs.mshr[message->tag];
        struct cache_line *line = cache_line_at(&slice->cache, mshr->set, mshr->way);
        line->state = LINE_VALID;
        /* All that waited takes effect now: the line may be replaced before the last of them is answered. */
        for (unsigned i = 0; i < mshr->waiters; i++) mark_written(mshr_waiter(&slice->mshrs, message->tag, i), line);
        slice->arrived[slice->arrived_tail++ & slice->arrived_mask] = (uint16_t)message->tag;
        slice->stats.fills++;
    } else {
        slice->outstanding_writes--;
    }
    port_pop(slice->from_memory, now);
}

/* Replies. */

/* Turns a request into its reply and occupies the data port. The caller has made sure that the port and the network take it. */
static void send_reply(struct slice *slice, const struct message *request, uint64_t now) {
    struct message reply = *request;
    reply.kind = request->kind == MESSAGE_WRITE ? MESSAGE_ACK : MESSAGE_DATA;
    unsigned cycles = 1;
    if (reply.kind == MESSAGE_DATA) {
        cycles = (unsigned)div_up((uint64_t)SECTOR_BYTES * (unsigned)__builtin_popcount(reply.sectors), slice->port_bytes);
        slice->stats.data_replies++;
    }
    slice->port_free_at = now + cycles;
    slice->stats.data_port_cycles += cycles;
    slice->stats.replies++;
    port_push(slice->to_network, now, &reply, sizeof reply);
}

static bool replies_wait(const struct slice *slice) {
    return slice->arrived_head != slice->arrived_tail || slice->reply_head != slice->reply_tail;
}

/* One reply per cycle at most: of a line that came from memory, else of a lookup. Returns whether one left. */
static bool reply_once(struct slice *slice, uint64_t now) {
    if (!replies_wait(slice) || slice->port_free_at > now) return false;
    if (!port_can_push(slice->to_network, now)) {
        port_await_credit(slice->to_network, now);
        return false;
    }
    if (slice->arrived_head != slice->arrived_tail) {
        unsigned index = slice->arrived[slice->arrived_head & slice->arrived_mask];
        send_reply(slice, mshr_next_waiter(&slice->mshrs, index), now);
        if (mshr_answer(&slice->mshrs, index)) slice->arrived_head++;
    } else {
        send_reply(slice, &slice->reply[slice->reply_head++ & slice->reply_mask], now);
    }
    return true;
}

/* Lookups. */

static void count(struct slice *slice, const struct message *message, bool present, bool pending) {
    struct llc_stats *stats = &slice->stats;
    switch (message->kind) {
    case MESSAGE_WRITE: present || pending ? stats->write_hits++ : stats->write_misses++; break;
    case MESSAGE_ATOMIC: present || pending ? stats->atomic_hits++ : stats->atomic_misses++; break;
    default: present ? stats->read_hits++ : pending ? stats->read_pending++ : stats->read_misses++; break;
    }
}

/* A lookup that is answered at once. */
static enum hold answer(struct slice *slice, const struct message *message, struct cache_line *line) {
    mark_written(message, line);
    slice->reply[slice->reply_tail++ & slice->reply_mask] = *message;
    return HOLD_NONE;
}

/* Makes room in the set; a modified victim goes to memory. */
static void replace(struct slice *slice, struct cache_line *victim, const struct cache_access *access, enum line_state state, uint64_t now) {
    slice->stats.evictions += victim->state != LINE_INVALID;
    if (victim->state == LINE_MODIFIED) {
        send_to_memory(slice, MESSAGE_WRITE, cache_line_key(&slice->cache, access->set, victim), victim->dirty, 0, now);
        slice->outstanding_writes++;
        slice->stats.write_backs++;
    }
    cache_place(&slice->cache, victim, access, state);
}

static enum hold miss(struct slice *slice, const struct message *message, const struct cache_access *access, uint64_t now) {
    struct cache_line *victim = cache_victim(&slice->cache, access->set);
    if (!victim) return HOLD_LINE;
    bool fetch = message->kind != MESSAGE_WRITE || message->sectors != slice->whole_line || (message->flags & MESSAGE_PARTIAL);
    if (fetch && mshr_full(&slice->mshrs)) return HOLD_MSHR;
    unsigned sends = (unsigned)fetch + (victim->state == LINE_MODIFIED);
    if (sends && port_credits(slice->to_memory, now) < sends) return HOLD_MEMORY;
    count(slice, message, false, false);
    replace(slice, victim, access, fetch ? LINE_RESERVED : LINE_VALID, now);
    if (!fetch) return answer(slice, message, victim);
    unsigned index = mshr_take(&slice->mshrs);
    struct mshr *mshr = &slice->mshrs.mshr[index];
    mshr->set = access->set;
    mshr->way = (uint16_t)cache_way_of(&slice->cache, access->set, victim);
    victim->mshr = (uint16_t)index;
    mshr_add(&slice->mshrs, index, message, sizeof *message);
    stat_max(&slice->stats.mshrs_peak, slice->mshrs.in_use);
    send_to_memory(slice, MESSAGE_READ, access->key, slice->whole_line, index, now);
    return HOLD_NONE;
}

static enum hold look_up(struct slice *slice, const struct pipeline_entry *entry, uint64_t now) {
    const struct message *message = &entry->message;
    struct cache_access access = {.key = cache_key(message->address >> slice->line_log2, message->program), .set = entry->set};
    struct cache_line *line = cache_lookup(&slice->cache, access.set, access.key);
    if (line && line->state == LINE_RESERVED) {
        if (!mshr_can_merge(&slice->mshrs, line->mshr)) return HOLD_MERGE;
        mshr_add(&slice->mshrs, line->mshr, message, sizeof *message);
        count(slice, message, false, true);
        return HOLD_NONE;
    }
    /* A line that has come keeps its MSHR until its waiters are answered; later requests simply hit. */
    if (slice->reply_tail - slice->reply_head >= slice->reply_capacity) return HOLD_REPLY;
    if (!line) return miss(slice, message, &access, now);
    cache_touch(&slice->cache, line, &access);
    count(slice, message, true, false);
    return answer(slice, message, line);
}

static void look_up_once(struct slice *slice, uint64_t now) {
    slice->hold = HOLD_NONE;
    if (slice->pipeline_head == slice->pipeline_tail || slice->lookup_free_at > now) return;
    struct pipeline_entry *entry = &slice->pipeline[slice->pipeline_head & slice->pipeline_mask];
    if (entry->ready_at > now) return;
    slice->hold = look_up(slice, entry, now);
    if (slice->hold == HOLD_MEMORY) port_await_credit(slice->to_memory, now);
    if (slice->hold != HOLD_NONE) return;
    if (entry->message.kind == MESSAGE_ATOMIC)
        slice->lookup_free_at = now + (uint64_t)slice->atomic_cycles * (entry->message.conflicts ? entry->message.conflicts : 1);
    slice->pipeline_head++;
    slice->engine->progress++;
}

static void take_request(struct slice *slice, uint64_t now) {
    if (slice->pipeline_tail - slice->pipeline_head >= slice->pipeline_capacity) return;
    const struct message *message = port_peek(slice->from_network, now);
    if (!message) return;
    struct location location;
    address_map_locate(slice->map, message->address, &location);
    struct pipeline_entry *entry = &slice->pipeline[slice->pipeline_tail++ & slice->pipeline_mask];
    entry->ready_at = now + slice->latency_cycles;
    entry->set = cache_set_of(&slice->cache, location.partition >> slice->line_log2);
    entry->message = *message;
    port_pop(slice->from_network, now);
}

static uint64_t next_tick(struct slice *slice, bool replied, uint64_t now) {
    /* A held lookup waits for a reply to leave (its queue, an MSHR), for a line to arrive or for a credit of memory. The last two are wakes
     * by ports; after the first it is tried again in the next cycle. */
    if (replied && slice->hold != HOLD_NONE) return now + 1;
    uint64_t next = NEVER;
    if (replies_wait(slice)) {
        if (slice->port_free_at > now) next = slice->port_free_at;
        else if (port_can_push(slice->to_network, now)) next = now + 1; /* else its credit wakes us */
    }
    if (slice->pipeline_head != slice->pipeline_tail && slice->hold == HOLD_NONE)
        next = min_u64(next, max_u64(slice->pipeline[slice->pipeline_head & slice->pipeline_mask].ready_at, slice->lookup_free_at));
    if (slice->pipeline_tail - slice->pipeline_head < slice->pipeline_capacity)
        next = min_u64(next, port_next_visible(slice->from_network));
    next = min_u64(next, port_next_visible(slice->from_memory));
    return next == NEVER ? NEVER : max_u64(next, now + 1);
}

static void slice_tick(void *self, uint64_t now) {
    struct slice *slice = self;
    slice_settle(slice, now);
    receive_from_memory(slice, now);
    look_up_once(slice, now);
    bool replied = reply_once(slice, now);
    take_request(slice, now);
    uint64_t next = next_tick(slice, replied, now);
    if (next != NEVER) engine_wake(slice->engine, slice->component, next);
}

static bool slice_busy(const void *self) {
    const struct slice *slice = self;
    return slice->mshrs.in_use || slice->outstanding_writes || slice->pipeline_head != slice->pipeline_tail ||
           slice->reply_head != slice->reply_tail || slice->arrived_head != slice->arrived_tail || cache_reserved_lines(&slice->cache);
}

static void slice_explain(const void *self, uint64_t now, FILE *out) {
    static const char *const reason[] = {
        [HOLD_NONE] = "is not held up", [HOLD_MSHR] = "waits for an MSHR", [HOLD_MERGE] = "waits for room in an MSHR's list",
        [HOLD_LINE] = "waits for a line of its set", [HOLD_REPLY] = "waits for room in the reply queue", [HOLD_MEMORY] = "waits for memory to take a request"};
    const struct slice *slice = self;
    (void)now;
    if (!slice_busy(slice)) return;
    fprintf(out, "slice %u: %u requests in its pipeline, whose head %s; %u lines fetched from memory, %u write-backs under way; %u replies wait\n",
            slice->index, slice->pipeline_tail - slice->pipeline_head, reason[slice->hold], slice->mshrs.in_use, slice->outstanding_writes,
            slice->reply_tail - slice->reply_head);
}
