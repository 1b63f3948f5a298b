#include "l1/node.h"

#include "l1/insertion.h"
#include "llc/organisation.h"
#include "noc/noc.h"
#include "sim/gpu_config.h"

/* What a request carries in `tag`, and so what its reply means. */
enum tag_kind {
    TAG_FILL = 0u << 30,    /* MSHR index: a line for the cache */
    TAG_OUTSIDE = 1u << 30, /* index into `outside`: data or acknowledgement for one access past the cache */
    TAG_FETCH = 2u << 30,   /* a partner's name for it */
};
enum { TAG_MASK = (1 << 30) - 1 };

enum { NO_ENTRY = UINT32_MAX, NOBODY = UINT32_MAX /* in place of a token: a write-back */, STORE_CHAINS = 256 };

/* Flag of a cache line: a store has gone down while it was on its way. */
enum { LINE_OUTDATED = 1 };

STATS_TABLE(l1_stat_table, "l1", l1_stats, L1_STATS);

void node_init(struct node *node, struct l1 *owner, unsigned index, const struct l1_site *site) {
    const struct l1_config *config = config_get(site->config, &l1_section);
    const struct gpu_config *gpu = config_get(site->config, &gpu_section);
    unsigned homes = site->homes ? site->homes : 1;
    *node = (struct node){
        .owner = owner,
        .gate = &owner->gate[index],
        .llc = site->llc,
        .engine = site->engine,
        .component = site->sm_component[index],
        .index = (uint16_t)index,
        .cluster = (uint16_t)(index / (site->sms / site->clusters)),
        .line_log2 = (uint8_t)log2_floor((uint64_t)gpu->line_bytes),
        .whole_line = (uint8_t)low_mask((unsigned)gpu->line_bytes / SECTOR_BYTES),
        .home_log2 = (uint8_t)log2_floor(homes),
        .homes = is_power_of_two(homes) ? 0 : homes,
        .probe_cycles = l1_probe_cycles(site->config),
        .queue_capacity = (uint32_t)config->miss_queue,
        .outside_free = NO_ENTRY,
        .sent_at = NEVER,
    };
    struct cache_geometry geometry = {.sets = l1_sets(site->config), .ways = (unsigned)config->ways};
    cache_init(&node->cache, &geometry, config->replacement, site->config, &l1_section, index);
    mshr_init(&node->mshrs, (unsigned)config->mshrs, (unsigned)config->mshr_merges, sizeof(uint32_t));
    node->queue_mask = (uint32_t)round_up_power_of_two(node->queue_capacity) - 1;
    node->queue = mem_alloc(node->queue_mask + 1, sizeof *node->queue);
    ring_init(&node->arrived, (uint64_t)config->mshrs);
    if (!network_keeps_order(site->config)) {
        node->stores = mem_alloc(STORE_CHAINS, sizeof *node->stores);
        for (unsigned i = 0; i < STORE_CHAINS; i++) node->stores[i] = NO_ENTRY;
    }
    stats_add(site->stats, &l1_stat_table, &node->stats);
    if (!site->partner) return;
    node->partner = site->partner[index];
    node->partner->node = node;
}

void node_release(struct node *node) {
    cache_release(&node->cache);
    mshr_release(&node->mshrs);
    free(node->queue);
    ring_release(&node->arrived);
    free(node->outside);
    free(node->stores);
}

void node_connect(struct node *node, const struct l1_ports *ports) {
    node->to_network = ports->to_network;
    node->from_network = ports->from_network;
    node->to_control = ports->to_control;
    if (node->probe_cycles)
        port_lengthen(node->to_network, node->probe_cycles, node->probe_cycles); /* requests leave later */
    node->gate->replies = node->from_network;
}

void node_settle_in(struct node *node) {
    node->plain = !node->owner->insertion && !node->partner;
    node->seen = node->owner->watch || node->partner;
}

static APART void tell_all(struct node *node, enum l1_event sight, unsigned set, uint64_t key, uint64_t now) {
    struct l1_watch *watch = node->owner->watch;
    if (node->partner) node->partner->ops->saw(node->partner, sight, set, key, now);
    if (watch) watch->see(watch, node->index, sight, key, now);
}

static inline void tell(struct node *node, enum l1_event sight, unsigned set, uint64_t key, uint64_t now) {
    if (UNLIKELY(node->seen)) tell_all(node, sight, set, key, now);
}

/* Accesses past the cache are as many as the network and the LLC can hold, so their table grows to what was ever
 * needed. */
static uint32_t outside_take(struct node *node, uint32_t token) {
    if (node->outside_free == NO_ENTRY) {
        uint32_t old = node->outside_count, grown = old ? 2 * old : 64;
        node->outside = mem_grow(node->outside, grown, sizeof *node->outside);
        for (uint32_t i = grown; i > old; i--) {
            node->outside[i - 1].next = node->outside_free;
            node->outside_free = i - 1;
        }
        node->outside_count = grown;
    }
    uint32_t entry = node->outside_free;
    node->outside_free = node->outside[entry].next;
    node->outside[entry] = (struct outside){.token = token};
    node->outside_used++;
    return entry;
}

static uint32_t *store_chain(const struct node *node, uint64_t key) {
    return &node->stores[key * UINT64_C(0x9E3779B97F4A7C15) >> 56];
}

static void store_begin(struct node *node, uint32_t entry, enum message_kind kind, uint64_t key, uint8_t sectors) {
    if (!node->stores) return;
    uint32_t *chain = store_chain(node, key);
    struct outside *store = &node->outside[entry];
    *store = (struct outside){key, store->token, *chain, sectors, (uint8_t)kind};
    *chain = entry;
}

/* Whether a request for these sectors could overtake a store to one of them. */
static bool store_ahead(const struct node *node, enum message_kind kind, uint64_t key, uint8_t sectors) {
    if (!node->stores) return false;
    for (uint32_t i = *store_chain(node, key); i != NO_ENTRY; i = node->outside[i].next) {
        const struct outside *store = &node->outside[i];
        bool both_atomic = kind == MESSAGE_ATOMIC && store->kind == MESSAGE_ATOMIC;
        if (store->key == key && store->sectors & sectors && !both_atomic) return true;
    }
    return false;
}

static void store_end(struct node *node, uint32_t entry) {
    uint32_t *link = store_chain(node, node->outside[entry].key);
    while (*link != entry) link = &node->outside[*link].next;
    *link = node->outside[entry].next;
}

/* Its reply has come: returns the token. */
static uint32_t outside_give_back(struct node *node, uint32_t entry) {
    if (node->outside[entry].sectors) {
        store_end(node, entry);
        node->gate->changes++;
    }
    node->outside[entry].next = node->outside_free;
    node->outside_free = entry;
    node->outside_used--;
    return node->outside[entry].token;
}

static uint32_t queue_room(const struct node *node) {
    return node->queue_capacity - (node->queue_tail - node->queue_head);
}

/* The place of a request that leaves now. */
static inline struct message *request_place(struct node *node, uint64_t now) {
    node->sent_at = now;
    node->stats.requests++;
    return port_push_place(node->to_network, now);
}

/* Whether a request may leave in the cycle of its lookup: nothing waits before it, and the network takes it. */
static inline bool leaves_at_once(struct node *node, uint64_t now) {
    return node->queue_head == node->queue_tail && node->sent_at != now && port_can_push(node->to_network, now);
}

/* Fills in where the request goes and sends it: at once, or by the miss queue. */
static ALWAYS_INLINE void send(struct node *node, const struct l1_request *request, enum message_kind kind,
                               uint64_t address, uint8_t sectors, uint32_t tag, bool at_once, uint64_t now) {
    struct message *message;
    if (LIKELY(at_once)) {
        message = request_place(node, now);
    } else {
        message = &node->queue[node->queue_tail++ & node->queue_mask];
        node->gate->open = true;
        engine_wake(node->engine, node->component, now + 1);
    }
    *message = (struct message){
        .address = address,
        .tag = tag,
        .source = node->index,
        .kind = (uint8_t)kind,
        .flags = request->flags,
        .sectors = sectors,
        .program = request->program,
        .conflicts = request->conflicts,
        .instr = (uint16_t)request->instr,
        .cluster = (uint8_t)node->cluster,
    };
    if (UNLIKELY(llc_route(node->llc, message, now))) port_push(node->to_control, now, message, sizeof *message);
}

static enum l1_outcome queue_refusal(struct node *node, uint64_t now) {
    return port_can_push(node->to_network, now) ? L1_NO_QUEUE : L1_NO_NETWORK;
}

static inline uint64_t line_number(const struct node *node, const struct l1_request *request) {
    return request->address >> node->line_log2;
}

static inline uint64_t key_of(const struct node *node, const struct l1_request *request) {
    return cache_key(line_number(node, request), request->program);
}

/* Without what chose this node among those that lines are dealt out to. */
static inline unsigned set_of(const struct node *node, uint64_t number) {
    return cache_set_of(&node->cache, UNLIKELY(node->homes) ? number / node->homes : number >> node->home_log2);
}

static enum l1_outcome pass_by(struct node *node, const struct l1_request *request, uint64_t now) {
    if (store_ahead(node, request->kind, key_of(node, request), request->sectors)) return L1_NO_ORDER;
    if (queue_room(node) == 0) return queue_refusal(node, now);
    uint32_t entry = outside_take(node, request->token);
    send(node, request, request->kind, request->address, request->sectors, TAG_OUTSIDE | entry,
         leaves_at_once(node, now), now);
    if (request->kind == MESSAGE_READ) {
        node->stats.read_bypasses++;
        return L1_BYPASS;
    }
    store_begin(node, entry, request->kind, key_of(node, request), request->sectors);
    return L1_SENT;
}

/* A write or an atomic. */
static enum l1_outcome store(struct node *node, const struct l1_request *request, struct cache_line *line,
                             const struct cache_access *access, uint64_t now) {
    bool held = line && line->state != LINE_RESERVED;
    if (held && request->local) {
        line->state = LINE_MODIFIED;
        line->dirty |= request->sectors;
        cache_touch(&node->cache, line, access);
        node->stats.write_hits++;
        return L1_HIT;
    }
    enum l1_outcome outcome = pass_by(node, request, now);
    if (outcome != L1_SENT) return outcome;
    tell(node, L1_EVENT_STORE, access->set, access->key, now);
    if (held) {
        cache_drop(&node->cache, access->set, line);
        tell(node, L1_EVENT_REMOVE, access->set, access->key, now);
    } else if (line) {
        line->flags |= LINE_OUTDATED;
    }
    uint64_t *counter = request->kind == MESSAGE_ATOMIC ? &node->stats.atomics
                        : held                          ? &node->stats.write_hits
                                                        : &node->stats.write_misses;
    ++*counter;
    return L1_SENT;
}

/* The line has no store on its way: it was read after the last one was acknowledged. */
static void write_back(struct node *node, uint64_t key, struct cache_line *line, uint64_t now) {
    struct l1_request request = {.program = (uint8_t)(key >> 56)};
    uint32_t entry = outside_take(node, NOBODY);
    send(node, &request, MESSAGE_WRITE, (key & low_mask(56)) << node->line_log2, line->dirty, TAG_OUTSIDE | entry,
         leaves_at_once(node, now), now);
    store_begin(node, entry, MESSAGE_WRITE, key, line->dirty);
    line->state = LINE_VALID;
    line->dirty = 0;
    node->stats.write_backs++;
}

/* A line for a read that missed, reserved; a modified one that it replaces is written back first, and with that the
 * miss queue may be full. */
static ALWAYS_INLINE enum l1_outcome reserve(struct node *node, const struct cache_access *access,
                                             const struct insertion_ops *insertion, bool aside, unsigned *mshr,
                                             uint64_t now) {
    void *state = node->owner->insertion_state;
    if (mshr_full(&node->mshrs)) return L1_NO_MSHR;
    struct cache_line *victim = insertion && insertion->victim ? insertion->victim(state, node->index, access->set)
                                                               : cache_victim(&node->cache, access->set);
    if (!victim) return L1_NO_LINE;
    if (victim->state == LINE_MODIFIED) {
        if (queue_room(node) == 0) return queue_refusal(node, now);
        write_back(node, cache_line_key(&node->cache, access->set, victim), victim, now);
        if (!aside && queue_room(node) == 0) return queue_refusal(node, now); /* the miss follows when there is room */
    }
    if (victim->state != LINE_INVALID) {
        node->stats.evictions++;
        if (insertion && insertion->evict) insertion->evict(state, node->index, access->set, victim);
        tell(node, L1_EVENT_REMOVE, access->set, cache_line_key(&node->cache, access->set, victim), now);
    }
    *mshr = mshr_take(&node->mshrs);
    cache_place(&node->cache, victim, access, LINE_RESERVED);
    victim->mshr = (uint16_t)*mshr;
    node->mshrs.mshr[*mshr].set = access->set;
    node->mshrs.mshr[*mshr].way = victim->tag;
    return L1_MISS;
}

/* Constant NULLs in place of an insertion policy and a partner leave nothing of them in the plain cache. */
static ALWAYS_INLINE enum l1_outcome read_miss(struct node *node, const struct l1_request *request,
                                               const struct cache_access *access, const struct insertion_ops *insertion,
                                               struct node_partner *partner, uint64_t now) {
    if (store_ahead(node, MESSAGE_READ, access->key, node->whole_line)) return L1_NO_ORDER;
    bool aside = partner && partner->ops->wants(partner, request, access, now);
    if (!aside && queue_room(node) == 0) return queue_refusal(node, now);
    unsigned mshr;
    enum l1_outcome outcome = reserve(node, access, insertion, aside, &mshr, now);
    if (outcome != L1_MISS) return outcome;
    mshr_add(&node->mshrs, mshr, &request->token, sizeof request->token);
    stat_max(&node->stats.mshrs_peak, node->mshrs.in_use);
    if (!aside) /* a partner has been asked first, which takes a cycle */
        send(node, request, MESSAGE_READ, request->address, node->whole_line, TAG_FILL | mshr,
             !partner && leaves_at_once(node, now), now);
    if (partner) partner->ops->missed(partner, request, access, mshr, aside, now);
    tell(node, L1_EVENT_MISS, access->set, access->key, now);
    node->stats.read_misses++;
    return L1_MISS;
}

static ALWAYS_INLINE enum l1_outcome read_any(struct node *node, const struct l1_request *request,
                                              struct cache_line *line, const struct cache_access *access,
                                              const struct insertion_ops *insertion, struct node_partner *partner,
                                              uint64_t now) {
    if (!line) return read_miss(node, request, access, insertion, partner, now);
    if (line->state != LINE_RESERVED) {
        cache_touch(&node->cache, line, access);
        node->stats.read_hits++;
        return L1_HIT;
    }
    if (line->flags & LINE_OUTDATED) return pass_by(node, request, now);
    if (!mshr_can_merge(&node->mshrs, line->mshr)) return L1_NO_MERGE;
    mshr_add(&node->mshrs, line->mshr, &request->token, sizeof request->token);
    node->stats.read_pending++;
    return L1_HIT_PENDING;
}

/* A read that an insertion policy or a partner has a say in. */
static APART enum l1_outcome read_filtered(struct node *node, const struct l1_request *request, struct cache_line *line,
                                           const struct cache_access *access, uint64_t now) {
    const struct insertion_ops *insertion = node->owner->insertion;
    void *state = node->owner->insertion_state;
    bool past = insertion && !line && !insertion->admit(state, node->index, access);
    enum l1_outcome outcome =
        past ? pass_by(node, request, now) : read_any(node, request, line, access, insertion, node->partner, now);
    if (outcome < L1_ACCEPTED && insertion && insertion->note) {
        if (outcome == L1_MISS) line = cache_lookup(&node->cache, access->set, access->key);
        struct insertion_event event = {access, outcome, line, now};
        insertion->note(state, node->index, &event);
    }
    return outcome;
}

enum l1_outcome node_access(struct node *node, const struct l1_request *request, uint64_t now) {
    bool read = request->kind == MESSAGE_READ;
    if (read && request->bypass) return pass_by(node, request, now);
    uint64_t number = line_number(node, request);
    struct cache_access access = {
        .key = cache_key(number, request->program), .instr = request->instr, .set = set_of(node, number)};
    struct cache_line *line = cache_lookup(&node->cache, access.set, access.key);
    if (!read) return store(node, request, line, &access, now);
    if (UNLIKELY(!node->plain)) return read_filtered(node, request, line, &access, now);
    return read_any(node, request, line, &access, NULL, NULL, now);
}

/* Whoever ticks the node must do so in the next cycle. */
static void wake(const struct node *node, uint64_t now) { engine_wake(node->engine, node->component, now + 1); }

static struct cache_line *line_of_mshr(const struct node *node, unsigned mshr) {
    return cache_line_at(&node->cache, node->mshrs.mshr[mshr].set, node->mshrs.mshr[mshr].way);
}

static ALWAYS_INLINE void fill(struct node *node, unsigned mshr, uint64_t now) {
    unsigned set = node->mshrs.mshr[mshr].set;
    struct cache_line *line = line_of_mshr(node, mshr);
    if (line->flags & LINE_OUTDATED) {
        cache_drop(&node->cache, set, line);
        node->stats.outdated++;
    } else {
        line->state = LINE_VALID;
        tell(node, L1_EVENT_INSERT, set, cache_line_key(&node->cache, set, line), now);
    }
    ring_push(&node->arrived, mshr);
    node->stats.fills++;
    node->gate->changes++;
}

APART void node_fill(struct node *node, unsigned mshr, uint64_t now) { fill(node, mshr, now); }

bool node_outdated(const struct node *node, unsigned mshr) { return line_of_mshr(node, mshr)->flags & LINE_OUTDATED; }

struct cache_line *node_find(struct node *node, unsigned set, uint64_t key) {
    struct cache_line *line = cache_lookup(&node->cache, set, key);
    return line && line->state != LINE_RESERVED ? line : NULL;
}

bool node_can_fetch(const struct node *node) { return queue_room(node) > 0; }

void node_fetch(struct node *node, const struct l1_request *request, uint32_t name, uint64_t now) {
    assert(node_can_fetch(node) && name <= TAG_MASK);
    send(node, request, MESSAGE_READ, request->address, node->whole_line, TAG_FETCH | name, leaves_at_once(node, now),
         now);
}

static ALWAYS_INLINE bool receive(struct node *node, uint64_t now, uint32_t *token) {
    if (port_next_visible(node->from_network) > now) return false;
    const struct message *reply = port_take(node->from_network, now);
    node->stats.replies++;
    uint32_t kind = reply->tag & ~(uint32_t)TAG_MASK, index = reply->tag & TAG_MASK;
    if (kind == TAG_FILL)
        fill(node, index, now);
    else if (kind == TAG_OUTSIDE)
        *token = outside_give_back(node, index);
    else
        node->partner->ops->fetched(node->partner, index, now);
    if (port_next_visible(node->from_network) <= now) wake(node, now);
    return kind == TAG_OUTSIDE && *token != NOBODY;
}

APART bool node_receive(struct node *node, uint64_t now, uint32_t *token) { return receive(node, now, token); }

/* Sends what waits for the network. */
static void drain_queue(struct node *node, uint64_t now) {
    if (port_can_push(node->to_network, now)) {
        *request_place(node, now) = node->queue[node->queue_head++ & node->queue_mask];
        node->gate->changes++;
    }
    if (!port_can_push(node->to_network, now))
        port_await_credit(node->to_network, now);
    else if (node->queue_head != node->queue_tail)
        wake(node, now);
}

unsigned node_tick(struct node *node, uint64_t now, uint32_t *token) {
    struct node_partner *partner = node->partner;
    unsigned completions =
        UNLIKELY(partner != NULL) ? partner->ops->receive(partner, now, token) : receive(node, now, token);
    if (node->queue_head != node->queue_tail) drain_queue(node, now);
    bool more = false;
    if (!ring_empty(&node->arrived)) { /* one waiter is woken */
        unsigned mshr = ring_first(&node->arrived);
        memcpy(&token[completions++], mshr_next_waiter(&node->mshrs, mshr), sizeof *token);
        if (mshr_answer(&node->mshrs, mshr)) {
            ring_pop(&node->arrived);
            node->gate->changes++;
        }
        more = !ring_empty(&node->arrived);
        if (more) wake(node, now);
    }
    node->gate->open = more || node->queue_head != node->queue_tail;
    return completions;
}

void node_flush(struct node *node) {
    const struct insertion_ops *insertion = node->owner->insertion;
    cache_invalidate(&node->cache);
    if (insertion && insertion->flush) insertion->flush(node->owner->insertion_state, node->index);
    tell(node, L1_EVENT_INVALIDATE, 0, 0, node->engine->now);
    node->stats.flushes++;
}

bool node_busy(const struct node *node) {
    return node->mshrs.in_use || node->outside_used || node->queue_head != node->queue_tail ||
           !ring_empty(&node->arrived) || cache_reserved_lines(&node->cache);
}

void node_explain(const struct node *node, FILE *out) {
    if (!node_busy(node)) return;
    fprintf(out, "  its L1 waits for %u lines and %u accesses past it; %u requests wait for the network\n",
            node->mshrs.in_use, node->outside_used, node->queue_tail - node->queue_head);
}
