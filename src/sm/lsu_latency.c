/* The load/store unit's part of the latency observer (sim/latency.h): the path of a load from its issue to its accesses,
 * and from the data of the last access to the registers.
 *
 * A load is attributed to its critical access, the one whose data is available last. Each access has its own path, which
 * begins with the issue of the instruction; those that complete earlier are dropped. */
#include "sim/latency.h"
#include "sm/sm_state.h"

/* A load in flight. */
struct lsu_watch {
    uint64_t issued_at; /* identifies the load; NEVER: none */
    uint64_t begun_at;  /* first attempt of its first access */
    uint64_t next_at;   /* when its next access can be made */
    uint64_t failed;    /* cycles of reservation failures */
    uint64_t hit, done; /* keys of its latest hit, and of its latest access that completed later */
    bool has_hit, has_done;
    uint32_t misses; /* of the SM's cache so far (queue_tail), at the attempt */
};

struct lsu_watch *lsu_watch_create(const struct sm_shared *shared) {
    struct lsu_watch *watch = mem_alloc(shared->loads_in_flight, sizeof *watch);
    for (unsigned i = 0; i < shared->loads_in_flight; i++) watch[i].issued_at = NEVER;
    return watch;
}

static struct lsu_watch *watch_of(struct sm *sm, const struct lsu_entry *entry, uint64_t now) {
    struct lsu_watch *watch = &sm->watch[entry->load];
    uint64_t issued_at = sm->load[entry->load].issued_at;
    if (watch->issued_at != issued_at)
        *watch = (struct lsu_watch){.issued_at = issued_at, .begun_at = now, .next_at = now};
    return watch;
}

static uint64_t key_of(const struct sm *sm, uint32_t token) {
    return latency_access_key(sm->engine->latency, sm->index, token);
}

static void keep(struct sm *sm, uint64_t *key, bool *has, uint64_t latest) {
    if (*has && *key != latest) latency_close(sm->engine->latency, *key);
    *key = latest;
    *has = true;
}

/* Failures before the access of cycle `now`. An L1 may look up several lines in a cycle. */
static uint64_t failed_by(const struct lsu_watch *watch, uint64_t now) {
    return watch->failed + (now > watch->next_at ? now - watch->next_at : 0);
}

static void begin(struct sm *sm, const struct lsu_entry *entry, const struct lsu_watch *watch, uint64_t now) {
    struct latency *latency = sm->engine->latency;
    uint64_t key = key_of(sm, entry->request.token);
    latency_open(latency, key, watch->issued_at);
    latency_mark(latency, key, LATENCY_operands, entry->ready_at);
    latency_mark(latency, key, LATENCY_lsu_queue, watch->begun_at);
    latency_mark(latency, key, LATENCY_divergence, now - failed_by(watch, now));
    latency_mark(latency, key, LATENCY_reservation_fail, now);
}

/* The cache of the SM that an entry accesses. */
static const struct readonly_cache *small_cache_of(const struct sm *sm, const struct lsu_entry *entry) {
    return entry->space == SPACE_CONST ? &sm->constant_cache : &sm->read_only_cache;
}

/* The path of a miss of one of the SM's caches. */
static uint64_t miss_key(const struct sm *sm, const struct readonly_cache *cache, unsigned mshr) {
    return key_of(sm, cache->token_kind | mshr);
}

void lsu_observe_attempt(struct sm *sm, struct lsu_entry *entry, uint64_t now) {
    struct lsu_watch *watch = watch_of(sm, entry, now);
    uint32_t kind = entry->request.token & TOKEN_KIND;
    entry->request.token = kind | TOKEN_ACCESS(entry->done) | entry->load;
    if (entry->small_cache) watch->misses = small_cache_of(sm, entry)->queue_tail;
    begin(sm, entry, watch, now);
}

/* An access waits in a cache of the SM: for a miss of its own, which is the last one in the queue, or for another. */
static void observe_wait(struct sm *sm, const struct lsu_entry *entry, const struct lsu_watch *watch, uint64_t now) {
    const struct readonly_cache *cache = small_cache_of(sm, entry);
    if (cache->queue_tail == watch->misses)
        latency_supply(sm->engine->latency, key_of(sm, entry->request.token), LATENCY_LEVEL_l1_pending);
    else
        latency_open(sm->engine->latency,
                     miss_key(sm, cache, cache->queue[(cache->queue_tail - 1) & cache->queue_mask]), now);
}

void lsu_observe_outcome(struct sm *sm, struct lsu_entry *entry, enum l1_outcome outcome, uint64_t now) {
    struct latency *latency = sm->engine->latency;
    struct lsu_watch *watch = watch_of(sm, entry, now);
    uint64_t key = key_of(sm, entry->request.token);
    if (outcome > L1_ACCEPTED) {
        latency_close(latency, key);
        return;
    }
    watch->failed = failed_by(watch, now);
    watch->next_at = now + 1;
    if (outcome != L1_HIT) {
        if (entry->small_cache) observe_wait(sm, entry, watch, now);
        return;
    }
    if (entry->small_cache) latency_supply(latency, key, LATENCY_LEVEL_sm_cache);
    latency_mark(latency, key, LATENCY_l1, now + sm->shared->l1_latency_cycles);
    keep(sm, &watch->hit, &watch->has_hit, key);
}

void lsu_observe_none(struct sm *sm, const struct lsu_entry *entry, uint64_t now) {
    struct lsu_watch *watch = watch_of(sm, entry, now);
    uint64_t key = key_of(sm, entry->request.token);
    begin(sm, entry, watch, now);
    latency_supply(sm->engine->latency, key, LATENCY_LEVEL_none);
    keep(sm, &watch->hit, &watch->has_hit, key);
}

static void complete(struct sm *sm, uint32_t token) {
    struct lsu_watch *watch = &sm->watch[token & 0xFFFF];
    keep(sm, &watch->done, &watch->has_done, key_of(sm, token));
}

void lsu_observe_served(struct sm *sm, const struct readonly_cache *cache, unsigned mshr, uint32_t waiter,
                        uint64_t now) {
    struct latency *latency = sm->engine->latency;
    latency_join(latency, key_of(sm, waiter), miss_key(sm, cache, mshr), LATENCY_l1);
    latency_mark(latency, key_of(sm, waiter), LATENCY_l1_fill, now);
    complete(sm, waiter);
}

void lsu_observe_filled(struct sm *sm, const struct readonly_cache *cache, unsigned mshr) {
    latency_close(sm->engine->latency, miss_key(sm, cache, mshr));
}

void lsu_observe_completion(struct sm *sm, uint32_t token) {
    uint32_t kind = token & TOKEN_KIND;
    if (kind == TOKEN_LOAD || kind == TOKEN_COPY) complete(sm, token);
}

void lsu_observe_end(struct sm *sm, uint16_t load, uint64_t at, uint64_t now) {
    struct latency *latency = sm->engine->latency;
    struct lsu_watch *watch = &sm->watch[load];
    uint64_t ready_at = sm->load[load].ready_at;
    assert(watch->issued_at == sm->load[load].issued_at);
    bool by_hit = watch->has_hit && (ready_at >= now || !watch->has_done);
    uint64_t critical = by_hit ? watch->hit : watch->done;
    if (watch->has_hit && !by_hit) latency_close(latency, watch->hit);
    if (watch->has_done && by_hit) latency_close(latency, watch->done);
    if (by_hit) latency_mark(latency, critical, LATENCY_l1_queue, ready_at); /* the data port */
    latency_mark(latency, critical, LATENCY_writeback, at);
    latency_count(latency, critical);
    watch->issued_at = NEVER;
}
