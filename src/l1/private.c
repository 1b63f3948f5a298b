/* Private L1: every SM has a data cache of its own, which nobody else sees.
 *
 * Models the L1 of GPGPU-Sim 3.2.2 as "Locality-Driven Dynamic GPU Cache Bypassing" (ICS 2015, section 2.2) describes
 * it: allocation on a miss, MSHRs with merging, a miss queue, and reservation failures that the load/store unit
 * retries. Global writes go through and drop a line they hit; writes to thread-local memory stay in a line they hit
 * and are written back when it is replaced. Nothing is allocated by a write. Atomics, which drop a line like a write, and
 * reads marked `bypass` pass by.
 *
 * A thread sees its own earlier stores:
 *   - A line that is on its way when a store to it goes down may be older than the store. It serves those who wait for
 *     it and is dropped; later reads of it do not join them but go past the cache, behind the store.
 *   - Where the network may let packets overtake each other, whatever needs a sector with a store that is not
 *     acknowledged is refused until it is: reads and atomics, which must see the store, and stores, the last of which
 *     must win. Atomics count as stores, except among themselves: none of them is lost in whatever order they come.
 *     What goes down is compared with each such store exactly, line and sectors.
 *
 * Whether a read that misses brings its line in is the insertion policy's word (insertion.h); else it goes past the
 * cache as if it were marked so.
 *
 * A request leaves in the cycle of its lookup unless others wait before it. One access, one arriving reply, one
 * departing request and one woken load per cycle. The waiters of a line that arrived are woken one per cycle, and its
 * MSHR is free again after the last of them.
 *
 * Left out: a data port narrower than a line, so that a hit takes one cycle whatever its width; a store that overtakes
 * an earlier read in the network, whose data would then be too new.
 */
#include <stdlib.h>

#include "base/ring.h"
#include "cache/cache.h"
#include "cache/mshr.h"
#include "gpu/gpu_config.h"
#include "l1/insertion.h"
#include "l1/l1.h"
#include "llc/organisation.h"
#include "noc/noc.h"

/* What a request carries in `tag`, and so what its reply means. */
enum tag_kind {
    TAG_FILL = 0u << 30,    /* MSHR index: a line for the cache */
    TAG_OUTSIDE = 1u << 30, /* index into `outside`: data or acknowledgement for one access past the cache */
};
enum { TAG_MASK = (1 << 30) - 1 };

enum { NO_ENTRY = UINT32_MAX, NOBODY = UINT32_MAX /* in place of a token: a write-back */, STORE_CHAINS = 256 };

/* Flag of a cache line: a store has gone down while it was on its way. */
enum { LINE_OUTDATED = 1 };

/* Something that has gone past the cache and is not answered. */
struct outside {
    uint64_t key;    /* its line */
    uint32_t token;  /* what its reply brings back */
    uint32_t next;   /* in the chain of stores, or in the free list */
    uint8_t sectors; /* in a chain: those that it stores to */
    uint8_t kind;    /* likewise: MESSAGE_WRITE or MESSAGE_ATOMIC */
};

struct node {
    struct cache cache;
    struct mshr_table mshrs;
    struct port *to_network, *from_network;
    /* Requests waiting for the network. */
    struct message *queue;
    uint32_t queue_mask, queue_capacity, queue_head, queue_tail;
    /* Lines that arrived and whose waiters are being woken, oldest first; at most one entry per MSHR. */
    struct ring arrived;
    uint64_t sent_at; /* cycle of the last request sent */
    struct outside *outside;
    uint32_t outside_free; /* head of the free list */
    uint32_t outside_count, outside_used;
    uint32_t *stores; /* [STORE_CHAINS] by line: those not acknowledged; NULL where the network keeps order */
    struct l1_stats stats;
};

struct l1_private {
    struct l1 base;
    struct llc_organisation *llc;
    struct engine *engine;
    const unsigned *component;
    unsigned sms;
    uint16_t *cluster; /* [sms] */
    unsigned line_log2;
    uint8_t whole_line;    /* all sectors of a line */
    unsigned probe_cycles; /* of the insertion policy */
    struct node *node;     /* [sms] */
    struct cache **cache;  /* [sms] theirs, for the insertion policy */
};

const struct l1_ops l1_private;

STATS_TABLE(l1_stat_table, "l1", l1_stats, L1_STATS);

static void node_init(struct l1_private *l1, unsigned sm, const struct l1_site *site) {
    const struct l1_config *config = config_get(site->config, &l1_section);
    struct node *node = &l1->node[sm];
    struct cache_geometry geometry = {.sets = l1_sets(site->config), .ways = (unsigned)config->ways};
    cache_init(&node->cache, &geometry, config->replacement, site->config, &l1_section, sm);
    mshr_init(&node->mshrs, (unsigned)config->mshrs, (unsigned)config->mshr_merges, sizeof(uint32_t));
    node->queue_capacity = (uint32_t)config->miss_queue;
    node->queue_mask = (uint32_t)round_up_power_of_two(node->queue_capacity) - 1;
    node->queue = mem_alloc(node->queue_mask + 1, sizeof *node->queue);
    ring_init(&node->arrived, (uint64_t)config->mshrs);
    node->outside_free = NO_ENTRY;
    if (!network_keeps_order(site->config)) {
        node->stores = mem_alloc(STORE_CHAINS, sizeof *node->stores);
        for (unsigned i = 0; i < STORE_CHAINS; i++) node->stores[i] = NO_ENTRY;
    }
    node->sent_at = NEVER;
    stats_add(site->stats, &l1_stat_table, &node->stats);
}

static struct l1 *private_create(const struct l1_site *site, struct error *err) {
    const struct gpu_config *gpu = config_get(site->config, &gpu_section);
    struct l1_private *l1 = mem_alloc(1, sizeof *l1);
    *l1 = (struct l1_private){
        .base = {.ops = &l1_private, .gate = mem_alloc(site->sms, sizeof *l1->base.gate)},
        .llc = site->llc,
        .engine = site->engine,
        .component = site->sm_component,
        .sms = site->sms,
        .cluster = mem_alloc(site->sms, sizeof *l1->cluster),
        .line_log2 = log2_floor((uint64_t)gpu->line_bytes),
        .whole_line = (uint8_t)low_mask((unsigned)gpu->line_bytes / SECTOR_BYTES),
        .probe_cycles = l1_probe_cycles(site->config),
        .node = mem_alloc_lines(site->sms, sizeof *l1->node),
        .cache = mem_alloc(site->sms, sizeof *l1->cache),
    };
    for (unsigned sm = 0; sm < site->sms; sm++) {
        l1->cluster[sm] = (uint16_t)(sm / (site->sms / site->clusters));
        node_init(l1, sm, site);
        l1->cache[sm] = &l1->node[sm].cache;
    }
    if (l1_insertion_create(&l1->base, site, l1->cache, err)) return &l1->base;
    l1_private.destroy(&l1->base);
    return NULL;
}

static void private_destroy(struct l1 *base) {
    struct l1_private *l1 = (struct l1_private *)base;
    l1_insertion_destroy(base);
    for (unsigned sm = 0; sm < l1->sms; sm++) {
        struct node *node = &l1->node[sm];
        cache_release(&node->cache);
        mshr_release(&node->mshrs);
        free(node->queue);
        ring_release(&node->arrived);
        free(node->outside);
        free(node->stores);
    }
    free(l1->base.gate);
    free(l1->cache);
    free(l1->cluster);
    free(l1->node);
    free(l1);
}

static unsigned private_endpoints(const struct l1 *base) { return ((const struct l1_private *)base)->sms; }

static unsigned private_endpoint_component(const struct l1 *base, unsigned endpoint) {
    return ((const struct l1_private *)base)->component[endpoint];
}

static void private_connect(struct l1 *base, unsigned endpoint, struct port *to_network, struct port *from_network) {
    struct l1_private *l1 = (struct l1_private *)base;
    struct node *node = &l1->node[endpoint];
    node->to_network = to_network;
    node->from_network = from_network;
    if (l1->probe_cycles) port_lengthen(to_network, l1->probe_cycles, l1->probe_cycles); /* requests leave later */
    base->gate[endpoint].replies = from_network;
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
    node->outside[entry].token = token;
    node->outside[entry].sectors = 0;
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
static uint32_t outside_give_back(struct node *node, uint32_t entry, struct l1_gate *gate) {
    if (node->outside[entry].sectors) {
        store_end(node, entry);
        gate->changes++;
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

/* Fills in where the request goes and sends it: at once if nothing waits before it and the network takes it, else by
 * the miss queue. */
static ALWAYS_INLINE void send(struct l1_private *l1, unsigned sm, const struct l1_request *request,
                               enum message_kind kind, uint64_t address, uint8_t sectors, uint32_t tag, uint64_t now) {
    struct node *node = &l1->node[sm];
    bool at_once = node->queue_head == node->queue_tail && node->sent_at != now && port_can_push(node->to_network, now);
    struct message *message;
    if (LIKELY(at_once)) {
        message = request_place(node, now);
    } else {
        message = &node->queue[node->queue_tail++ & node->queue_mask];
        l1->base.gate[sm].open = true;
        engine_wake(l1->engine, l1->component[sm], now + 1);
    }
    *message = (struct message){
        .address = address,
        .tag = tag,
        .source = (uint16_t)sm,
        .kind = (uint8_t)kind,
        .flags = request->flags,
        .sectors = sectors,
        .program = request->program,
        .conflicts = request->conflicts,
        .instr = (uint16_t)request->instr,
        .cluster = (uint8_t)l1->cluster[sm],
    };
    message->target = (uint16_t)llc_target(l1->llc, message, l1->cluster[sm], now);
}

static enum l1_outcome queue_refusal(struct node *node, uint64_t now) {
    return port_can_push(node->to_network, now) ? L1_NO_QUEUE : L1_NO_NETWORK;
}

static uint64_t key_of(const struct l1_private *l1, const struct l1_request *request) {
    return cache_key(request->address >> l1->line_log2, request->program);
}

static enum l1_outcome pass_by(struct l1_private *l1, unsigned sm, const struct l1_request *request, uint64_t now) {
    struct node *node = &l1->node[sm];
    if (store_ahead(node, request->kind, key_of(l1, request), request->sectors)) return L1_NO_ORDER;
    if (queue_room(node) == 0) return queue_refusal(node, now);
    uint32_t entry = outside_take(node, request->token);
    send(l1, sm, request, request->kind, request->address, request->sectors, TAG_OUTSIDE | entry, now);
    if (request->kind == MESSAGE_READ) {
        node->stats.read_bypasses++;
        return L1_BYPASS;
    }
    store_begin(node, entry, request->kind, key_of(l1, request), request->sectors);
    return L1_SENT;
}

/* A write or an atomic. */
static enum l1_outcome store(struct l1_private *l1, unsigned sm, const struct l1_request *request,
                             struct cache_line *line, const struct cache_access *access, uint64_t now) {
    struct node *node = &l1->node[sm];
    bool held = line && line->state != LINE_RESERVED;
    if (held && request->local) {
        line->state = LINE_MODIFIED;
        line->dirty |= request->sectors;
        cache_touch(&node->cache, line, access);
        node->stats.write_hits++;
        return L1_HIT;
    }
    enum l1_outcome outcome = pass_by(l1, sm, request, now);
    if (outcome != L1_SENT) return outcome;
    if (held)
        cache_drop(&node->cache, access->set, line);
    else if (line)
        line->flags |= LINE_OUTDATED;
    uint64_t *counter = request->kind == MESSAGE_ATOMIC ? &node->stats.atomics
                        : held                          ? &node->stats.write_hits
                                                        : &node->stats.write_misses;
    ++*counter;
    return L1_SENT;
}

/* The line has no store on its way: it was read after the last one was acknowledged. */
static void write_back(struct l1_private *l1, unsigned sm, uint64_t key, struct cache_line *line, uint64_t now) {
    struct node *node = &l1->node[sm];
    struct l1_request request = {.program = (uint8_t)(key >> 56)};
    uint32_t entry = outside_take(node, NOBODY);
    send(l1, sm, &request, MESSAGE_WRITE, (key & low_mask(56)) << l1->line_log2, line->dirty, TAG_OUTSIDE | entry, now);
    store_begin(node, entry, MESSAGE_WRITE, key, line->dirty);
    line->state = LINE_VALID;
    line->dirty = 0;
    node->stats.write_backs++;
}

/* A constant NULL in place of an insertion policy leaves nothing of it in the plain cache. */
static ALWAYS_INLINE enum l1_outcome read_miss(struct l1_private *l1, unsigned sm, const struct l1_request *request,
                                               const struct cache_access *access, const struct insertion_ops *insertion,
                                               uint64_t now) {
    struct node *node = &l1->node[sm];
    void *state = l1->base.insertion_state;
    if (store_ahead(node, MESSAGE_READ, access->key, l1->whole_line)) return L1_NO_ORDER;
    if (queue_room(node) == 0) return queue_refusal(node, now);
    if (mshr_full(&node->mshrs)) return L1_NO_MSHR;
    struct cache_line *victim = insertion && insertion->victim ? insertion->victim(state, sm, access->set)
                                                               : cache_victim(&node->cache, access->set);
    if (!victim) return L1_NO_LINE;
    if (victim->state == LINE_MODIFIED) {
        write_back(l1, sm, cache_line_key(&node->cache, access->set, victim), victim, now);
        if (queue_room(node) == 0) return queue_refusal(node, now); /* the miss follows when there is room */
    }
    bool evicts = victim->state != LINE_INVALID;
    node->stats.evictions += evicts;
    if (insertion && insertion->evict && evicts) insertion->evict(state, sm, access->set, victim);
    unsigned mshr = mshr_take(&node->mshrs);
    cache_place(&node->cache, victim, access, LINE_RESERVED);
    victim->mshr = (uint16_t)mshr;
    node->mshrs.mshr[mshr].set = access->set;
    node->mshrs.mshr[mshr].way = victim->tag;
    mshr_add(&node->mshrs, mshr, &request->token, sizeof request->token);
    stat_max(&node->stats.mshrs_peak, node->mshrs.in_use);
    send(l1, sm, request, MESSAGE_READ, request->address, l1->whole_line, TAG_FILL | mshr, now);
    node->stats.read_misses++;
    return L1_MISS;
}

static ALWAYS_INLINE enum l1_outcome read_any(struct l1_private *l1, unsigned sm, const struct l1_request *request,
                                              struct cache_line *line, const struct cache_access *access,
                                              const struct insertion_ops *insertion, uint64_t now) {
    struct node *node = &l1->node[sm];
    if (!line) return read_miss(l1, sm, request, access, insertion, now);
    if (line->state != LINE_RESERVED) {
        cache_touch(&node->cache, line, access);
        node->stats.read_hits++;
        return L1_HIT;
    }
    if (line->flags & LINE_OUTDATED) return pass_by(l1, sm, request, now);
    if (!mshr_can_merge(&node->mshrs, line->mshr)) return L1_NO_MERGE;
    mshr_add(&node->mshrs, line->mshr, &request->token, sizeof request->token);
    node->stats.read_pending++;
    return L1_HIT_PENDING;
}

/* A read that the insertion policy has a say in. */
static APART enum l1_outcome read_filtered(struct l1_private *l1, unsigned sm, const struct l1_request *request,
                                           struct cache_line *line, const struct cache_access *access, uint64_t now) {
    const struct insertion_ops *insertion = l1->base.insertion;
    void *state = l1->base.insertion_state;
    bool past = !line && !insertion->admit(state, sm, access);
    enum l1_outcome outcome =
        past ? pass_by(l1, sm, request, now) : read_any(l1, sm, request, line, access, insertion, now);
    if (outcome < L1_ACCEPTED && insertion->note) {
        if (outcome == L1_MISS) line = cache_lookup(&l1->node[sm].cache, access->set, access->key);
        struct insertion_event event = {access, outcome, line, now};
        insertion->note(state, sm, &event);
    }
    return outcome;
}

static enum l1_outcome private_access(struct l1 *base, unsigned sm, const struct l1_request *request, uint64_t now) {
    struct l1_private *l1 = (struct l1_private *)base;
    struct node *node = &l1->node[sm];
    bool read = request->kind == MESSAGE_READ;
    if (read && request->bypass) return pass_by(l1, sm, request, now);
    struct cache_access access = {.key = key_of(l1, request),
                                  .instr = request->instr,
                                  .set = cache_set_of(&node->cache, request->address >> l1->line_log2)};
    struct cache_line *line = cache_lookup(&node->cache, access.set, access.key);
    if (!read) return store(l1, sm, request, line, &access, now);
    if (UNLIKELY(base->insertion != NULL)) return read_filtered(l1, sm, request, line, &access, now);
    return read_any(l1, sm, request, line, &access, NULL, now);
}

/* The SM must tick for the L1's sake in the next cycle. */
static void wake(struct l1 *base, unsigned sm, uint64_t now) {
    const struct l1_private *l1 = (const struct l1_private *)base;
    engine_wake(l1->engine, l1->component[sm], now + 1);
}

static void fill(struct node *node, unsigned mshr) {
    unsigned set = node->mshrs.mshr[mshr].set;
    struct cache_line *line = cache_line_at(&node->cache, set, node->mshrs.mshr[mshr].way);
    if (line->flags & LINE_OUTDATED) {
        cache_drop(&node->cache, set, line);
        node->stats.outdated++;
    } else {
        line->state = LINE_VALID;
    }
    ring_push(&node->arrived, mshr);
    node->stats.fills++;
}

/* Takes a reply from the network. Returns whether it completes an access past the cache. */
static bool receive(struct l1 *base, unsigned sm, uint64_t now, uint32_t *token) {
    struct node *node = &((struct l1_private *)base)->node[sm];
    if (port_next_visible(node->from_network) > now) return false;
    const struct message *reply = port_take(node->from_network, now);
    node->stats.replies++;
    uint32_t kind = reply->tag & ~(uint32_t)TAG_MASK, index = reply->tag & TAG_MASK;
    if (kind == TAG_FILL) {
        fill(node, index);
        base->gate[sm].changes++;
    } else {
        *token = outside_give_back(node, index, &base->gate[sm]);
    }
    if (port_next_visible(node->from_network) <= now) wake(base, sm, now);
    return kind == TAG_OUTSIDE && *token != NOBODY;
}

/* Sends what waits for the network. */
static void drain_queue(struct l1 *base, unsigned sm, uint64_t now) {
    struct node *node = &((struct l1_private *)base)->node[sm];
    if (port_can_push(node->to_network, now)) {
        *request_place(node, now) = node->queue[node->queue_head++ & node->queue_mask];
        base->gate[sm].changes++;
    }
    if (!port_can_push(node->to_network, now))
        port_await_credit(node->to_network, now);
    else if (node->queue_head != node->queue_tail)
        wake(base, sm, now);
}

static unsigned private_tick(struct l1 *base, unsigned sm, uint64_t now, uint32_t *token) {
    struct node *node = &((struct l1_private *)base)->node[sm];
    unsigned completions = receive(base, sm, now, token);
    if (node->queue_head != node->queue_tail) drain_queue(base, sm, now);
    bool more = false;
    if (!ring_empty(&node->arrived)) { /* one waiter is woken */
        unsigned mshr = ring_first(&node->arrived);
        memcpy(&token[completions++], mshr_next_waiter(&node->mshrs, mshr), sizeof *token);
        if (mshr_answer(&node->mshrs, mshr)) {
            ring_pop(&node->arrived);
            base->gate[sm].changes++;
        }
        more = !ring_empty(&node->arrived);
        if (more) wake(base, sm, now);
    }
    base->gate[sm].open = more || node->queue_head != node->queue_tail;
    return completions;
}

static void private_flush(struct l1 *base, unsigned sm) {
    struct node *node = &((struct l1_private *)base)->node[sm];
    cache_invalidate(&node->cache);
    if (base->insertion && base->insertion->flush) base->insertion->flush(base->insertion_state, sm);
    node->stats.flushes++;
}

static bool private_busy(const struct l1 *base, unsigned sm) {
    const struct node *node = &((const struct l1_private *)base)->node[sm];
    return node->mshrs.in_use || node->outside_used || node->queue_head != node->queue_tail ||
           !ring_empty(&node->arrived) || cache_reserved_lines(&node->cache);
}

static void private_explain(const struct l1 *base, unsigned sm, FILE *out) {
    const struct node *node = &((const struct l1_private *)base)->node[sm];
    if (!private_busy(base, sm)) return;
    fprintf(out, "  its L1 waits for %u lines and %u accesses past it; %u requests wait for the network\n",
            node->mshrs.in_use, node->outside_used, node->queue_tail - node->queue_head);
}

const struct l1_ops l1_private = {
    .policy = {"private", "every SM has an L1 of its own", NULL},
    .create = private_create,
    .destroy = private_destroy,
    .endpoints = private_endpoints,
    .endpoint_component = private_endpoint_component,
    .connect = private_connect,
    .tick = private_tick,
    .access = private_access,
    .flush = private_flush,
    .busy = private_busy,
    .explain = private_explain,
};
