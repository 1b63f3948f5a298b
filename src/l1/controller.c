#include "l1/controller.h"

#include "l1/insertion.h"
#include "l1/sectored.h"
#include "llc/organisation.h"
#include "noc/noc.h"
#include "sim/gpu_config.h"
#include "sim/latency.h"

/* The kind of a request, in the upper bits of its `tag`. */
enum tag_kind {
    TAG_FILL = 0u << 30,        /* MSHR index: a line fill */
    TAG_OUTSTANDING = 1u << 30, /* index into `outstanding`: data or acknowledgement of a bypassing access */
    TAG_FETCH = 2u << 30,       /* the partner's name for the request */
    TAG_SECTORS = 3u << 30,     /* MSHR index: sectors of a sectored line */
};
enum { TAG_MASK = (1 << 30) - 1 };

enum { NO_ENTRY = UINT32_MAX, NOBODY = UINT32_MAX /* token of a write-back */, STORE_CHAINS = 256 };

/* Flag of a reserved line: a store was sent while the fill was in flight. */
enum { LINE_STALE = 1 };

STATS_TABLE(l1_stat_table, "l1", l1_stats, L1_STATS);

static void queue_init(struct l1_queue *queue, int64_t capacity) {
    queue->capacity = (uint32_t)capacity;
    queue->mask = (uint32_t)round_up_power_of_two(max_u64((uint64_t)capacity, 1)) - 1;
    queue->entry = mem_alloc(queue->mask + 1, sizeof *queue->entry);
}

static void cache_create(struct l1_controller *controller, unsigned ways) {
    const struct l1_config *config = config_get(controller->config, &l1_section);
    struct cache_geometry geometry = {.sets = l1_sets(controller->config), .ways = ways};
    cache_init(&controller->cache, &geometry, config->replacement, controller->config, &l1_section, controller->index);
}

void l1_controller_init(struct l1_controller *controller, struct l1 *owner, unsigned index,
                        const struct l1_context *context) {
    const struct l1_config *config = config_get(context->config, &l1_section);
    const struct gpu_config *gpu = config_get(context->config, &gpu_section);
    unsigned homes = context->homes ? context->homes : 1;
    *controller = (struct l1_controller){
        .owner = owner,
        .gate = &owner->gate[index],
        .llc = context->llc,
        .engine = context->engine,
        .config = context->config,
        .waker = waker_of(context->engine, context->sm_component[index]),
        .index = (uint16_t)index,
        .cluster = (uint16_t)(index / (context->sms / context->clusters)),
        .line_log2 = (uint8_t)log2_floor((uint64_t)gpu->line_bytes),
        .whole_line = (uint8_t)low_mask((unsigned)gpu->line_bytes / SECTOR_BYTES),
        .home_log2 = (uint8_t)log2_floor(homes),
        .homes = is_power_of_two(homes) ? 0 : homes,
        .probe_cycles = l1_probe_cycles(context->config),
        .miss_slots = config->write_back_slot ? 2 : 1,
        .merge_slots = config->write_back_slot ? 2 : 0,
        .outstanding_free = NO_ENTRY,
        .sent_at = NEVER,
    };
    cache_create(controller, (unsigned)config->ways);
    mshr_init(&controller->mshrs, (unsigned)config->mshrs, (unsigned)config->mshr_merges,
              config->sector_bytes ? sizeof(struct l1_sector_waiter) : sizeof(uint32_t));
    queue_init(&controller->miss_queue, config->miss_queue);
    queue_init(&controller->bypass_queue, config->bypass_queue);
    ring_init(&controller->arrived, (uint64_t)config->mshrs);
    if (!network_keeps_order(context->config)) {
        controller->stores = mem_alloc(STORE_CHAINS, sizeof *controller->stores);
        for (unsigned i = 0; i < STORE_CHAINS; i++) controller->stores[i] = NO_ENTRY;
    }
    controller->ordered = controller->stores || controller->bypass_queue.capacity;
    stats_add(context->stats, &l1_stat_table, &controller->stats);
    controller->sectors = l1_sectors_create(context->config, context->stats);
    if (!context->partner) return;
    controller->partner = context->partner[index];
    controller->partner->controller = controller;
}

void l1_controller_release(struct l1_controller *controller) {
    cache_release(&controller->cache);
    mshr_release(&controller->mshrs);
    free(controller->miss_queue.entry);
    free(controller->bypass_queue.entry);
    ring_release(&controller->arrived);
    free(controller->outstanding);
    free(controller->stores);
    l1_sectors_destroy(controller->sectors);
}

void l1_controller_connect(struct l1_controller *controller, const struct l1_ports *ports) {
    controller->to_network = ports->to_network;
    controller->from_network = ports->from_network;
    controller->to_control = ports->to_control;
    if (controller->probe_cycles)
        port_lengthen(controller->to_network, controller->probe_cycles, controller->probe_cycles); /* delays requests */
    controller->gate->replies = controller->from_network;
}

void l1_controller_settle_in(struct l1_controller *controller) {
    controller->plain =
        !controller->owner->insertion && !controller->partner && !controller->sectors && !controller->engine->latency;
    controller->seen = controller->owner->watch || controller->partner;
}

static NEVER_INLINE void notify_observers(struct l1_controller *controller, enum l1_event event, unsigned set,
                                          uint64_t key, uint64_t now) {
    struct l1_watch *watch = controller->owner->watch;
    if (controller->partner) controller->partner->ops->observed(controller->partner, event, set, key, now);
    if (watch) watch->observe(watch, controller->index, event, key, now);
}

static inline void notify(struct l1_controller *controller, enum l1_event event, unsigned set, uint64_t key,
                          uint64_t now) {
    if (UNLIKELY(controller->seen)) notify_observers(controller, event, set, key, now);
}

/* ---- observation of latencies, only with engine->latency ---- */

static uint64_t access_key(const struct l1_controller *controller, uint32_t token) {
    return latency_key(LATENCY_ACCESS, controller->index, token, 0);
}

static uint64_t fill_key(const struct l1_controller *controller, unsigned mshr) {
    return latency_key(LATENCY_REQUEST, controller->index, TAG_FILL | mshr, controller->whole_line);
}

/* An access is accepted. */
static NEVER_INLINE void observe_access(struct l1_controller *controller, uint32_t token, enum l1_outcome outcome,
                                        uint64_t now) {
    struct latency *latency = controller->engine->latency;
    uint64_t key = access_key(controller, token);
    latency_mark(latency, key, LATENCY_l1_queue, now);
    if (outcome == L1_HIT) latency_supply(latency, key, LATENCY_LEVEL_l1);
    if (outcome == L1_PENDING_HIT) latency_supply(latency, key, LATENCY_LEVEL_l1_pending);
}

/* A request leaves for the network, through which the lookup of the insertion policy delays it. */
static void observe_sent(struct l1_controller *controller, const struct message *message, uint64_t now) {
    struct latency *latency = controller->engine->latency;
    latency_mark(latency, latency_message_key(message), LATENCY_miss_queue, now);
    latency_mark(latency, latency_message_key(message), LATENCY_l1, now + controller->probe_cycles);
}

/* A request is sent, or enters a queue, behind the partner's lookup if that is not the cause of the request. */
static NEVER_INLINE void observe_request(struct l1_controller *controller, const struct message *message, bool at_once,
                                         uint64_t now) {
    struct latency *latency = controller->engine->latency;
    if (message->kind == MESSAGE_WRITE) return;
    latency_open(latency, latency_message_key(message), now);
    if (at_once)
        observe_sent(controller, message, now);
    else if (controller->partner && (message->tag & ~(uint32_t)TAG_MASK) == TAG_FILL)
        latency_mark(latency, latency_message_key(message), LATENCY_l1, now + 1);
}

/* A line is filled: its waiters have waited for the request. */
static NEVER_INLINE void observe_fill(struct l1_controller *controller, unsigned mshr) {
    struct latency *latency = controller->engine->latency;
    for (unsigned i = 0; i < controller->mshrs.mshr[mshr].waiters; i++) {
        uint32_t token;
        memcpy(&token, mshr_waiter(&controller->mshrs, mshr, i), sizeof token);
        latency_join(latency, access_key(controller, token), fill_key(controller, mshr), LATENCY_l1);
    }
    latency_close(latency, fill_key(controller, mshr));
}

/* A reply is received. Of a sectored line, it serves the waiters that lack no other sectors. */
static NEVER_INLINE void observe_reply(struct l1_controller *controller, const struct message *reply, uint64_t now) {
    struct latency *latency = controller->engine->latency;
    uint32_t kind = reply->tag & ~(uint32_t)TAG_MASK, index = reply->tag & TAG_MASK;
    uint64_t key = latency_message_key(reply);
    latency_cross(latency, reply, true, now);
    if (kind == TAG_OUTSTANDING && reply->kind == MESSAGE_DATA)
        latency_join(latency, access_key(controller, controller->outstanding[index].token), key, LATENCY_l1);
    if (kind == TAG_SECTORS)
        for (unsigned i = controller->mshrs.mshr[index].drained; i < controller->mshrs.mshr[index].waiters; i++) {
            const struct l1_sector_waiter *waiter = mshr_waiter(&controller->mshrs, index, i);
            if (waiter->sectors && !(waiter->sectors & ~reply->sectors))
                latency_join(latency, access_key(controller, waiter->token), key, LATENCY_l1);
        }
    if (kind == TAG_OUTSTANDING || kind == TAG_SECTORS) latency_close(latency, key);
}

void l1_controller_observe_partner(struct l1_controller *controller, unsigned mshr, uint64_t now) {
    struct latency *latency = controller->engine->latency;
    latency_mark(latency, fill_key(controller, mshr), LATENCY_cooperation, now);
    latency_supply(latency, fill_key(controller, mshr), LATENCY_LEVEL_l1_remote);
}

void l1_controller_observe_fetched(struct l1_controller *controller, unsigned mshr, uint32_t name) {
    uint64_t fetch = latency_key(LATENCY_REQUEST, controller->index, TAG_FETCH | name, controller->whole_line);
    latency_join(controller->engine->latency, fill_key(controller, mshr), fetch, LATENCY_cooperation);
    latency_close(controller->engine->latency, fetch);
}

/* Changes that can resolve a reservation failure. Below CHANGE_QUEUE: a line of set `change` - 1 can be hit or evicted. */
enum change {
    CHANGE_ANY = 0,
    CHANGE_QUEUE = 1 << 30, /* a queued request is sent */
    CHANGE_STORE,           /* a store is acknowledged */
    CHANGE_MSHR,            /* an MSHR is free */
};

static inline uint32_t change_of_set(unsigned set) { return set + 1; }

/* A read of the plain cache without an MSHR, or without a line or space for a waiter in its set, is resolved by that
 * change alone. Until then a replay fails for the same cause: the checks that precede are of stores and of the miss
 * queue, to which only the requester's other requests add, and these reset `awaited` (pass_by). */
static inline void resolve(struct l1_controller *controller, uint32_t change) {
    if (controller->awaited == CHANGE_ANY || controller->awaited == change) controller->gate->changes++;
}

static NEVER_INLINE enum l1_outcome await(struct l1_controller *controller, enum l1_outcome failure, unsigned set) {
    bool by_line = failure == L1_FAIL_LINE || failure == L1_FAIL_MSHR_MERGE;
    controller->awaited = by_line ? change_of_set(set) : failure == L1_FAIL_MSHR ? (uint32_t)CHANGE_MSHR : CHANGE_ANY;
    return failure;
}

/* The number of bypassing accesses is limited only by the network and the LLC, so their table grows on demand. */
static uint32_t outstanding_take(struct l1_controller *controller, uint32_t token) {
    if (controller->outstanding_free == NO_ENTRY) {
        uint32_t old = controller->outstanding_count, grown = old ? 2 * old : 64;
        controller->outstanding = mem_grow(controller->outstanding, grown, sizeof *controller->outstanding);
        for (uint32_t i = grown; i > old; i--) {
            controller->outstanding[i - 1].next = controller->outstanding_free;
            controller->outstanding_free = i - 1;
        }
        controller->outstanding_count = grown;
    }
    uint32_t entry = controller->outstanding_free;
    controller->outstanding_free = controller->outstanding[entry].next;
    controller->outstanding[entry] = (struct outstanding){.token = token};
    controller->outstanding_used++;
    return entry;
}

static uint32_t *store_chain(const struct l1_controller *controller, uint64_t key) {
    return &controller->stores[key * UINT64_C(0x9E3779B97F4A7C15) >> 56];
}

static void store_begin(struct l1_controller *controller, uint32_t entry, enum message_kind kind, uint64_t key,
                        uint8_t sectors) {
    if (!controller->stores) return;
    uint32_t *chain = store_chain(controller, key);
    struct outstanding *store = &controller->outstanding[entry];
    *store = (struct outstanding){key, store->token, *chain, sectors, (uint8_t)kind};
    *chain = entry;
}

static inline bool is_empty(const struct l1_queue *queue) { return queue->head == queue->tail; }

static inline uint32_t room(const struct l1_queue *queue) { return queue->capacity - (queue->tail - queue->head); }

static NEVER_INLINE bool has_store(const struct l1_controller *controller, const struct l1_queue *queue, uint64_t key) {
    for (uint32_t i = queue->head; i != queue->tail; i++) {
        const struct message *message = &queue->entry[i & queue->mask];
        uint64_t number = message->address >> controller->line_log2;
        if (message->kind != MESSAGE_READ && cache_key(number, message->program) == key) return true;
    }
    return false;
}

/* Whether a request for these sectors could overtake an unacknowledged store to one of them: in the network, or because
 * the store is in the other queue than `queue`. */
static inline bool store_ahead(const struct l1_controller *controller, enum message_kind kind, uint64_t key,
                               uint8_t sectors, const struct l1_queue *queue) {
    if (LIKELY(!controller->ordered)) return false;
    const struct l1_queue *other =
        queue == &controller->miss_queue ? &controller->bypass_queue : &controller->miss_queue;
    if (!is_empty(other) && has_store(controller, other, key)) return true;
    if (!controller->stores) return false;
    for (uint32_t i = *store_chain(controller, key); i != NO_ENTRY; i = controller->outstanding[i].next) {
        const struct outstanding *store = &controller->outstanding[i];
        bool both_atomic = kind == MESSAGE_ATOMIC && store->kind == MESSAGE_ATOMIC;
        if (store->key == key && store->sectors & sectors && !both_atomic) return true;
    }
    return false;
}

static void store_end(struct l1_controller *controller, uint32_t entry) {
    uint32_t *link = store_chain(controller, controller->outstanding[entry].key);
    while (*link != entry) link = &controller->outstanding[*link].next;
    *link = controller->outstanding[entry].next;
}

/* Releases the entry of an answered request and returns its token. */
static uint32_t outstanding_give_back(struct l1_controller *controller, uint32_t entry) {
    if (controller->outstanding[entry].sectors) {
        store_end(controller, entry);
        resolve(controller, CHANGE_STORE);
    }
    controller->outstanding[entry].next = controller->outstanding_free;
    controller->outstanding_free = entry;
    controller->outstanding_used--;
    return controller->outstanding[entry].token;
}

/* The queue of a request that bypasses the cache. */
static inline struct l1_queue *queue_of(struct l1_controller *controller, enum message_kind kind) {
    bool own = controller->bypass_queue.capacity && kind != MESSAGE_WRITE;
    return own ? &controller->bypass_queue : &controller->miss_queue;
}

/* The port slot of a request sent now. */
static inline struct message *request_place(struct l1_controller *controller, uint64_t now) {
    controller->sent_at = now;
    controller->stats.requests++;
    return port_push_place(controller->to_network, now);
}

/* Whether a request can be sent in the cycle of its lookup: its queue is empty and the network accepts it. */
static inline bool leaves_at_once(struct l1_controller *controller, const struct l1_queue *queue, uint64_t now) {
    return is_empty(queue) && controller->sent_at != now && port_can_push(controller->to_network, now);
}

/* Routes the request and sends it, directly or through a queue. */
static ALWAYS_INLINE void send(struct l1_controller *controller, const struct l1_request *request,
                               enum message_kind kind, uint64_t address, uint8_t sectors, uint32_t tag,
                               struct l1_queue *queue, bool at_once, uint64_t now) {
    struct message *message;
    if (LIKELY(at_once)) {
        message = request_place(controller, now);
    } else {
        if (is_empty(queue)) { /* later requests follow the first */
            controller->gate->open_at = now + 1;
            engine_wake_near(controller->engine, controller->waker, now + 1);
        }
        message = &queue->entry[queue->tail++ & queue->mask];
    }
    *message = (struct message){
        .address = address,
        .tag = tag,
        .source = controller->index,
        .kind = (uint8_t)kind,
        .flags = request->flags,
        .sectors = sectors,
        .program = request->program,
        .conflicts = request->conflicts,
        .instr = (uint16_t)request->instr,
        .cluster = (uint8_t)controller->cluster,
    };
    if (UNLIKELY(controller->engine->latency != NULL)) observe_request(controller, message, at_once, now);
    if (UNLIKELY(llc_route(controller->llc, message, now)))
        port_push(controller->to_control, now, message, sizeof *message);
}

static enum l1_outcome queue_failure(struct l1_controller *controller, uint64_t now) {
    return port_can_push(controller->to_network, now) ? L1_FAIL_MISS_QUEUE : L1_FAIL_NETWORK;
}

static inline uint64_t line_number(const struct l1_controller *controller, const struct l1_request *request) {
    return request->address >> controller->line_log2;
}

static inline uint64_t key_of(const struct l1_controller *controller, const struct l1_request *request) {
    return cache_key(line_number(controller, request), request->program);
}

/* Excludes the part of the line number that selects this controller. */
static inline unsigned set_of(const struct l1_controller *controller, uint64_t number) {
    return cache_set_of(&controller->cache,
                        UNLIKELY(controller->homes) ? number / controller->homes : number >> controller->home_log2);
}

static enum l1_outcome pass_by(struct l1_controller *controller, const struct l1_request *request, uint64_t now) {
    struct l1_queue *queue = queue_of(controller, request->kind);
    controller->awaited = CHANGE_ANY;
    if (store_ahead(controller, request->kind, key_of(controller, request), request->sectors, queue))
        return L1_FAIL_STORE_ORDER;
    if (room(queue) == 0) return queue_failure(controller, now);
    uint32_t entry = outstanding_take(controller, request->token);
    send(controller, request, request->kind, request->address, request->sectors, TAG_OUTSTANDING | entry, queue,
         leaves_at_once(controller, queue, now), now);
    if (UNLIKELY(controller->engine->latency != NULL)) observe_access(controller, request->token, L1_BYPASS, now);
    if (request->kind == MESSAGE_READ) {
        controller->stats.read_bypasses++;
        return L1_BYPASS;
    }
    store_begin(controller, entry, request->kind, key_of(controller, request), request->sectors);
    return L1_SENT;
}

/* A write or an atomic. */
static enum l1_outcome store(struct l1_controller *controller, const struct l1_request *request,
                             struct cache_line *line, const struct cache_access *access, uint64_t now) {
    bool held = line && line->state != LINE_RESERVED;
    if (held && request->local) {
        line->state = LINE_MODIFIED;
        line->dirty |= request->sectors;
        cache_touch(&controller->cache, line, access);
        controller->stats.write_hits++;
        return L1_HIT;
    }
    enum l1_outcome outcome = pass_by(controller, request, now);
    if (outcome != L1_SENT) return outcome;
    notify(controller, L1_EVENT_STORE, access->set, access->key, now);
    if (held) {
        cache_drop(&controller->cache, access->set, line);
        notify(controller, L1_EVENT_REMOVE, access->set, access->key, now);
    } else if (line) {
        line->flags |= LINE_STALE;
    }
    uint64_t *counter = request->kind == MESSAGE_ATOMIC ? &controller->stats.atomics
                        : held                          ? &controller->stats.write_hits
                                                        : &controller->stats.write_misses;
    ++*counter;
    return L1_SENT;
}

/* The line has no store in flight: it was read after the last one was acknowledged. */
static void write_back(struct l1_controller *controller, struct cache_line *line, uint64_t now) {
    uint64_t key = line->key;
    struct l1_request request = {.program = (uint8_t)(key >> 56)};
    uint32_t entry = outstanding_take(controller, NOBODY);
    send(controller, &request, MESSAGE_WRITE, (key & low_mask(56)) << controller->line_log2, line->dirty,
         TAG_OUTSTANDING | entry, &controller->miss_queue, leaves_at_once(controller, &controller->miss_queue, now),
         now);
    store_begin(controller, entry, MESSAGE_WRITE, key, line->dirty);
    line->state = LINE_VALID;
    line->dirty = 0;
    controller->stats.write_backs++;
}

/* Reserves a line for a read miss. A dirty victim is written back first, which may fill the miss queue. */
static ALWAYS_INLINE enum l1_outcome reserve(struct l1_controller *controller, const struct cache_access *access,
                                             const struct insertion_ops *insertion, bool aside, unsigned *mshr,
                                             uint64_t now) {
    void *state = controller->owner->insertion_state;
    if (mshr_full(&controller->mshrs)) return L1_FAIL_MSHR;
    struct cache_line *victim = insertion && insertion->victim
                                    ? insertion->victim(state, controller->index, access->set)
                                    : cache_victim(&controller->cache, access->set);
    if (!victim) return L1_FAIL_LINE;
    if (victim->state == LINE_MODIFIED) {
        if (room(&controller->miss_queue) == 0) return queue_failure(controller, now);
        write_back(controller, victim, now);
        if (!aside && room(&controller->miss_queue) == 0)
            return queue_failure(controller, now); /* the miss is replayed later */
    }
    if (victim->state != LINE_INVALID) {
        controller->stats.evictions++;
        if (insertion && insertion->evict) insertion->evict(state, controller->index, victim);
        notify(controller, L1_EVENT_REMOVE, access->set, victim->key, now);
    }
    *mshr = mshr_take(&controller->mshrs);
    cache_place(&controller->cache, victim, access, LINE_RESERVED);
    victim->mshr = (uint16_t)*mshr;
    controller->mshrs.mshr[*mshr].set = access->set;
    controller->mshrs.mshr[*mshr].way = (uint16_t)cache_way_of(&controller->cache, access->set, victim);
    return L1_MISS;
}

/* With constant NULLs for insertion policy and partner, the compiler removes their code from the plain cache. */
static ALWAYS_INLINE enum l1_outcome read_miss(struct l1_controller *controller, const struct l1_request *request,
                                               const struct cache_access *access, const struct insertion_ops *insertion,
                                               struct l1_partner *partner, uint64_t now) {
    if (store_ahead(controller, MESSAGE_READ, access->key, controller->whole_line, &controller->miss_queue))
        return L1_FAIL_STORE_ORDER;
    bool aside = partner && partner->ops->wants(partner, request, access, now);
    if (!aside && room(&controller->miss_queue) < controller->miss_slots) return queue_failure(controller, now);
    unsigned mshr = 0;
    enum l1_outcome outcome = reserve(controller, access, insertion, aside, &mshr, now);
    if (outcome != L1_MISS) return outcome;
    mshr_add(&controller->mshrs, mshr, &request->token, sizeof request->token);
    stat_max(&controller->stats.mshrs_peak, controller->mshrs.in_use);
    if (!aside) /* a lookup by the partner precedes and takes one cycle */
        send(controller, request, MESSAGE_READ, request->address, controller->whole_line, TAG_FILL | mshr,
             &controller->miss_queue, !partner && leaves_at_once(controller, &controller->miss_queue, now), now);
    if (partner && aside && controller->engine->latency)
        latency_open(controller->engine->latency, fill_key(controller, mshr), now);
    if (partner) partner->ops->missed(partner, request, access, mshr, aside, now);
    notify(controller, L1_EVENT_MISS, access->set, access->key, now);
    controller->stats.read_misses++;
    return L1_MISS;
}

static ALWAYS_INLINE enum l1_outcome read_any(struct l1_controller *controller, const struct l1_request *request,
                                              struct cache_line *line, const struct cache_access *access,
                                              const struct insertion_ops *insertion, struct l1_partner *partner,
                                              uint64_t now) {
    if (!line) return read_miss(controller, request, access, insertion, partner, now);
    if (line->state != LINE_RESERVED) {
        cache_touch(&controller->cache, line, access);
        controller->stats.read_hits++;
        return L1_HIT;
    }
    if (line->flags & LINE_STALE) return pass_by(controller, request, now);
    if (UNLIKELY(controller->merge_slots) && room(&controller->miss_queue) < controller->merge_slots)
        return queue_failure(controller, now);
    if (!mshr_can_merge(&controller->mshrs, line->mshr)) return L1_FAIL_MSHR_MERGE;
    mshr_add(&controller->mshrs, line->mshr, &request->token, sizeof request->token);
    controller->stats.read_pending_hits++;
    return L1_PENDING_HIT;
}

/* A read in a cache with an insertion policy or a partner. */
static NEVER_INLINE enum l1_outcome read_filtered(struct l1_controller *controller, const struct l1_request *request,
                                                  struct cache_line *line, const struct cache_access *access,
                                                  uint64_t now) {
    const struct insertion_ops *insertion = controller->owner->insertion;
    void *state = controller->owner->insertion_state;
    bool past = insertion && !line && !insertion->admit(state, controller->index, access);
    enum l1_outcome outcome = past ? pass_by(controller, request, now)
                                   : read_any(controller, request, line, access, insertion, controller->partner, now);
    if (UNLIKELY(controller->engine->latency != NULL) && outcome < L1_ACCEPTED)
        observe_access(controller, request->token, outcome, now);
    if (outcome < L1_ACCEPTED && insertion && insertion->note) {
        if (outcome == L1_MISS) line = cache_lookup(&controller->cache, access->set, access->key);
        struct insertion_event event = {access, outcome, line, now};
        insertion->note(state, controller->index, &event);
    }
    return outcome;
}

static inline struct cache_access access_to(const struct l1_controller *controller, uint64_t address,
                                            const struct l1_request *request) {
    uint64_t number = address >> controller->line_log2;
    return (struct cache_access){
        .key = cache_key(number, request->program), .instr = request->instr, .set = set_of(controller, number)};
}

static inline struct cache_access access_of(const struct l1_controller *controller, const struct l1_request *request) {
    return access_to(controller, request->address, request);
}

enum l1_outcome l1_controller_access(struct l1_controller *controller, const struct l1_request *request, uint64_t now) {
    bool read = request->kind == MESSAGE_READ;
    if (read && request->bypass) return pass_by(controller, request, now);
    struct cache_access access = access_of(controller, request);
    struct cache_line *line = cache_lookup(&controller->cache, access.set, access.key);
    if (UNLIKELY(controller->sectors != NULL)) {
        if (!read) return l1_sectored_store(controller, request, line, &access, now);
        enum l1_outcome outcome = l1_sectored_read(controller, request, line, &access, now);
        if (controller->engine->latency && outcome < L1_ACCEPTED)
            observe_access(controller, request->token, outcome, now);
        return outcome;
    }
    if (!read) return store(controller, request, line, &access, now);
    if (UNLIKELY(!controller->plain)) return read_filtered(controller, request, line, &access, now);
    enum l1_outcome outcome = read_any(controller, request, line, &access, NULL, NULL, now);
    return LIKELY(outcome < L1_ACCEPTED) ? outcome : await(controller, outcome, access.set);
}

unsigned l1_controller_hits(struct l1_controller *controller, const struct l1_request *request, const uint64_t *access,
                            unsigned count) {
    if (!controller->plain || request->kind != MESSAGE_READ || request->bypass) return 0;
    unsigned hits = 0;
    for (; hits < count; hits++) {
        struct cache_access next = access_to(controller, access[hits], request);
        struct cache_line *line = cache_lookup(&controller->cache, next.set, next.key);
        if (!line || line->state == LINE_RESERVED) break;
        cache_touch(&controller->cache, line, &next);
    }
    controller->stats.read_hits += hits;
    return hits;
}

/* A request that needs a place in its full queue while the network is blocked. Until it leaves, the requester adds no
 * store ahead of it; and in the cycle in which the network has a credit, a queued request is sent. The same of a pending
 * hit ends also with the fill of its line. */
static enum l1_outcome await_network(struct l1_controller *controller, enum change change) {
    controller->awaited = change;
    return L1_FAIL_NETWORK;
}

/* Foresees failures that persist; one by a store ahead may end at any time. */
enum l1_outcome l1_controller_foresee(struct l1_controller *controller, const struct l1_request *request) {
    if (!controller->plain) return 0;
    bool read = request->kind == MESSAGE_READ, passes_by = !read || request->bypass;
    const struct l1_queue *queue = passes_by ? queue_of(controller, request->kind) : &controller->miss_queue;
    bool full = room(queue) < (passes_by ? 1 : controller->miss_slots);
    if (full && port_can_push(controller->to_network, controller->engine->now)) return 0;
    if (passes_by && (!full || (!read && request->local))) return 0;
    struct cache_access access = access_of(controller, request);
    if (passes_by)
        return store_ahead(controller, request->kind, access.key, request->sectors, queue)
                   ? 0
                   : await_network(controller, CHANGE_QUEUE);
    const struct cache_line *line = cache_lookup(&controller->cache, access.set, access.key);
    if (line) {
        if (line->state != LINE_RESERVED || line->flags & LINE_STALE) return 0;
        if (full && controller->merge_slots) return await_network(controller, CHANGE_ANY);
        return mshr_can_merge(&controller->mshrs, line->mshr) ? 0 : await(controller, L1_FAIL_MSHR_MERGE, access.set);
    }
    if (store_ahead(controller, MESSAGE_READ, access.key, controller->whole_line, queue)) return 0;
    if (full) return await_network(controller, CHANGE_QUEUE);
    if (mshr_full(&controller->mshrs)) return await(controller, L1_FAIL_MSHR, access.set);
    return cache_victim(&controller->cache, access.set) ? 0 : await(controller, L1_FAIL_LINE, access.set);
}

/* Schedules a tick in the next cycle. */
static void wake(const struct l1_controller *controller, uint64_t now) {
    engine_wake_near(controller->engine, controller->waker, now + 1);
}

static struct cache_line *line_of_mshr(const struct l1_controller *controller, unsigned mshr) {
    return cache_line_at(&controller->cache, controller->mshrs.mshr[mshr].set, controller->mshrs.mshr[mshr].way);
}

static ALWAYS_INLINE void fill(struct l1_controller *controller, unsigned mshr, uint64_t now) {
    unsigned set = controller->mshrs.mshr[mshr].set;
    struct cache_line *line = line_of_mshr(controller, mshr);
    if (line->flags & LINE_STALE) {
        cache_drop(&controller->cache, set, line);
        controller->stats.stale_fills++;
    } else {
        line->state = LINE_VALID;
        notify(controller, L1_EVENT_INSERT, set, line->key, now);
    }
    if (UNLIKELY(controller->engine->latency != NULL)) observe_fill(controller, mshr);
    ring_push(&controller->arrived, mshr);
    controller->stats.fills++;
    resolve(controller, change_of_set(set));
}

NEVER_INLINE void l1_controller_fill(struct l1_controller *controller, unsigned mshr, uint64_t now) {
    fill(controller, mshr, now);
}

bool l1_controller_stale(const struct l1_controller *controller, unsigned mshr) {
    return line_of_mshr(controller, mshr)->flags & LINE_STALE;
}

struct cache_line *l1_controller_find(struct l1_controller *controller, unsigned set, uint64_t key) {
    struct cache_line *line = cache_lookup(&controller->cache, set, key);
    return line && line->state != LINE_RESERVED ? line : NULL;
}

bool l1_controller_can_fetch(const struct l1_controller *controller) { return room(&controller->miss_queue) > 0; }

void l1_controller_fetch(struct l1_controller *controller, const struct l1_request *request, uint32_t name,
                         uint64_t now) {
    assert(l1_controller_can_fetch(controller) && name <= TAG_MASK);
    send(controller, request, MESSAGE_READ, request->address, controller->whole_line, TAG_FETCH | name,
         &controller->miss_queue, leaves_at_once(controller, &controller->miss_queue, now), now);
}

enum l1_outcome l1_controller_pass_by(struct l1_controller *controller, const struct l1_request *request,
                                      uint64_t now) {
    return pass_by(controller, request, now);
}

enum l1_outcome l1_controller_can_request(struct l1_controller *controller, uint64_t key, uint8_t sectors,
                                          uint64_t now) {
    if (store_ahead(controller, MESSAGE_READ, key, sectors, &controller->miss_queue)) return L1_FAIL_STORE_ORDER;
    return room(&controller->miss_queue) < controller->miss_slots ? queue_failure(controller, now) : 0;
}

enum l1_outcome l1_controller_can_merge(struct l1_controller *controller, uint64_t now) {
    return room(&controller->miss_queue) < controller->merge_slots ? queue_failure(controller, now) : 0;
}

void l1_controller_request_sectors(struct l1_controller *controller, const struct l1_request *request, unsigned mshr,
                                   uint8_t sectors, uint64_t now) {
    send(controller, request, MESSAGE_READ, request->address, sectors, TAG_SECTORS | mshr, &controller->miss_queue,
         leaves_at_once(controller, &controller->miss_queue, now), now);
}

static ALWAYS_INLINE bool receive(struct l1_controller *controller, uint64_t now, uint32_t *token) {
    if (port_next_visible(controller->from_network) > now) return false;
    const struct message *reply = port_take(controller->from_network, now);
    controller->stats.replies++;
    if (UNLIKELY(controller->engine->latency != NULL)) observe_reply(controller, reply, now);
    uint32_t kind = reply->tag & ~(uint32_t)TAG_MASK, index = reply->tag & TAG_MASK;
    if (kind == TAG_FILL)
        fill(controller, index, now);
    else if (kind == TAG_OUTSTANDING)
        *token = outstanding_give_back(controller, index);
    else if (kind == TAG_SECTORS)
        l1_sectored_fill(controller, index, reply->sectors);
    else
        controller->partner->ops->fetched(controller->partner, index, now);
    if (port_next_visible(controller->from_network) <= now) wake(controller, now);
    return kind == TAG_OUTSTANDING && *token != NOBODY;
}

NEVER_INLINE bool l1_controller_receive(struct l1_controller *controller, uint64_t now, uint32_t *token) {
    return receive(controller, now, token);
}

bool l1_controller_replied(const struct l1_controller *controller, bool open, uint64_t now) {
    const struct message *reply = port_peek(controller->from_network, now);
    if (!reply || open || (reply->tag & ~(uint32_t)TAG_MASK) != TAG_OUTSTANDING) return reply != NULL;
    return controller->outstanding[reply->tag & TAG_MASK].token == NOBODY;
}

static inline bool queued(const struct l1_controller *controller) {
    return !is_empty(&controller->miss_queue) || !is_empty(&controller->bypass_queue);
}

/* The queue to send from: the two take turns. */
static struct l1_queue *next_queue(struct l1_controller *controller) {
    bool bypass =
        is_empty(&controller->miss_queue) || (controller->bypass_next && !is_empty(&controller->bypass_queue));
    controller->bypass_next = !bypass;
    return bypass ? &controller->bypass_queue : &controller->miss_queue;
}

/* Sends the head of a queue. */
static void drain_queue(struct l1_controller *controller, uint64_t now) {
    struct port *port = controller->to_network;
    if (port_can_push(port, now)) {
        struct l1_queue *queue = next_queue(controller);
        const struct message *message = &queue->entry[queue->head++ & queue->mask];
        *request_place(controller, now) = *message;
        if (UNLIKELY(controller->engine->latency != NULL)) observe_sent(controller, message, now);
        resolve(controller, CHANGE_QUEUE);
        if (!queued(controller)) return;
    }
    if (port_can_push(port, now)) {
        controller->gate->open_at = now + 1;
        wake(controller, now);
    } else {
        port_await_credit_at(port, now, &controller->gate->open_at);
    }
}

unsigned l1_controller_tick(struct l1_controller *controller, uint64_t now, uint32_t *token) {
    struct l1_partner *partner = controller->partner;
    controller->gate->open_at = NEVER;
    unsigned completions =
        UNLIKELY(partner != NULL) ? partner->ops->receive(partner, now, token) : receive(controller, now, token);
    if (queued(controller)) drain_queue(controller, now);
    if (!ring_empty(&controller->arrived)) { /* wake one waiter */
        unsigned mshr = ring_first(&controller->arrived);
        bool others = LIKELY(!controller->sectors) || l1_sectored_order_waiters(controller, mshr);
        memcpy(&token[completions++], mshr_next_waiter(&controller->mshrs, mshr), sizeof *token);
        if (UNLIKELY(controller->engine->latency != NULL))
            latency_mark(controller->engine->latency, access_key(controller, token[completions - 1]), LATENCY_l1_fill,
                         now);
        if (mshr_answer(&controller->mshrs, mshr)) {
            ring_pop(&controller->arrived);
            resolve(controller, CHANGE_MSHR);
        } else if (UNLIKELY(!others)) {
            l1_sectored_left_ring(controller, ring_pop(&controller->arrived));
        }
        if (!ring_empty(&controller->arrived)) {
            controller->gate->open_at = now + 1;
            wake(controller, now);
        }
    }
    return completions;
}

/* A fill needs space for completions only to wake its waiters, which stay in `arrived`. */
void l1_controller_tick_blocked(struct l1_controller *controller, uint64_t now) {
    struct l1_partner *partner = controller->partner;
    uint32_t nobody;
    controller->gate->open_at = NEVER;
    if (partner)
        partner->ops->receive(partner, now, NULL);
    else if (l1_controller_replied(controller, false, now))
        receive(controller, now, &nobody);
    if (queued(controller)) drain_queue(controller, now);
    if (!ring_empty(&controller->arrived)) controller->gate->open_at = now + 1;
}

void l1_controller_flush(struct l1_controller *controller) {
    const struct insertion_ops *insertion = controller->owner->insertion;
    cache_invalidate(&controller->cache);
    if (insertion && insertion->flush) insertion->flush(controller->owner->insertion_state, controller->index);
    notify(controller, L1_EVENT_INVALIDATE, 0, 0, controller->engine->now);
    controller->stats.flushes++;
}

void l1_controller_resize(struct l1_controller *controller, unsigned ways) {
    assert(!controller->mshrs.in_use && !cache_reserved_lines(&controller->cache));
    cache_release(&controller->cache);
    cache_create(controller, ways);
}

bool l1_controller_busy(const struct l1_controller *controller) {
    return controller->mshrs.in_use || controller->outstanding_used || queued(controller) ||
           !ring_empty(&controller->arrived) || cache_reserved_lines(&controller->cache);
}

void l1_controller_explain(const struct l1_controller *controller, FILE *out) {
    if (!l1_controller_busy(controller)) return;
    const struct l1_queue *miss = &controller->miss_queue, *bypass = &controller->bypass_queue;
    fprintf(out, "  L1: %u MSHRs in use, %u bypassing accesses outstanding, %u requests in the miss queue",
            controller->mshrs.in_use, controller->outstanding_used, miss->tail - miss->head);
    if (bypass->capacity) fprintf(out, ", %u in the bypass queue", bypass->tail - bypass->head);
    fprintf(out, "\n");
}
