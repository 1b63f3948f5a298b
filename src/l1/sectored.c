#include "l1/sectored.h"

#include "cache/sectors.h"
#include "l1/insertion.h"
#include "sim/gpu_config.h"

STATS_TABLE(l1_sector_stat_table, "l1.sectors", l1_sector_stats, L1_SECTOR_STATS);

bool l1_sectors_check(const struct config *config, struct error *err) {
    const struct l1_config *l1 = config_get(config, &l1_section);
    const char *const off = "l1.sector_bytes=32";
    if (l1->sector_bytes && l1->sector_bytes != SECTOR_BYTES)
        return config_error(config, "l1.sector_bytes", err, "must be 0 (whole lines) or %d, the sector of a stream",
                            SECTOR_BYTES);
    if (!l1->sector_bytes && l1->allocate_on == &l1_allocate_on_fill)
        return config_error(config, "l1.allocate_on", err, "fill requires a sectored L1 (%s)", off);
    if (!l1->sector_bytes && l1->write_allocate == &l1_write_validate)
        return config_error(config, "l1.write_allocate", err, "validate requires a sectored L1 (%s)", off);
    if (!l1->sector_bytes) return true;
    if (l1_is_grouped(config))
        return config_error(config, "l1.sector_bytes", err,
                            "sectors are modelled in private L1s only, and l1.organisation is %s",
                            l1->organisation->name);
    if (l1->insertion != insertion_family.members[0])
        return config_error(config, "l1.sector_bytes", err,
                            "insertion policies decide about whole lines; use l1.insertion=%s instead of %s",
                            insertion_family.members[0]->name, l1->insertion->name);
    if (l1->observe_duplication)
        return config_error(config, "l1.observe_duplication", err,
                            "counts whole lines, and the L1 is sectored (l1.sector_bytes)");
    return true;
}

struct l1_sectors *l1_sectors_create(const struct config *config, struct stats *stats) {
    const struct l1_config *l1 = config_get(config, &l1_section);
    if (!l1->sector_bytes) return NULL;
    struct l1_sectors *sectors = mem_alloc(1, sizeof *sectors);
    unsigned chain_bits = log2_floor(round_up_power_of_two((uint64_t)l1->mshrs));
    *sectors = (struct l1_sectors){
        .on_fill = l1->allocate_on == &l1_allocate_on_fill,
        .validates = l1->write_allocate == &l1_write_validate,
        .fetch = mem_alloc((size_t)l1->mshrs, sizeof *sectors->fetch),
        .chain = mem_alloc((size_t)1 << chain_bits, sizeof *sectors->chain),
        .chain_bits = chain_bits,
    };
    for (unsigned i = 0; i < 1u << chain_bits; i++) sectors->chain[i] = MSHR_NONE;
    stats_add(stats, &l1_sector_stat_table, &sectors->stats);
    return sectors;
}

void l1_sectors_destroy(struct l1_sectors *sectors) {
    if (!sectors) return;
    free(sectors->fetch);
    free(sectors->chain);
    free(sectors);
}

/* MSHRs with sectors in flight, by line. */

static uint16_t *chain_of(const struct l1_sectors *sectors, uint64_t key) {
    uint64_t hash = key * UINT64_C(0x9E3779B97F4A7C15);
    return &sectors->chain[sectors->chain_bits ? hash >> (64 - sectors->chain_bits) : 0];
}

/* The MSHR, or MSHR_NONE. */
static unsigned find(const struct l1_sectors *sectors, uint64_t key) {
    unsigned mshr = *chain_of(sectors, key);
    while (mshr != MSHR_NONE && sectors->fetch[mshr].key != key) mshr = sectors->fetch[mshr].next;
    return mshr;
}

static void unlink_fetch(struct l1_sectors *sectors, unsigned mshr) {
    uint16_t *link = chain_of(sectors, sectors->fetch[mshr].key);
    while (*link != mshr) link = &sectors->fetch[*link].next;
    *link = sectors->fetch[mshr].next;
}

/* Accesses. */

static void evict(struct l1_controller *controller, const struct cache_line *victim) {
    controller->stats.evictions += victim->state != LINE_INVALID;
}

/* Takes an MSHR, and a line if it is allocated on a miss. Changes nothing if that fails. */
static enum l1_outcome reserve(struct l1_controller *controller, struct cache_line *line,
                               const struct cache_access *access, unsigned *mshr) {
    struct l1_sectors *sectors = controller->sectors;
    if (mshr_full(&controller->mshrs)) return L1_FAIL_MSHR;
    if (!sectors->on_fill) {
        struct cache_line *victim = line ? line : cache_victim(&controller->cache, access->set);
        if (!victim) return L1_FAIL_LINE;
        if (line) {
            line->state = LINE_RESERVED;
        } else {
            evict(controller, victim);
            cache_place(&controller->cache, victim, access, LINE_RESERVED);
        }
    }
    *mshr = mshr_take(&controller->mshrs);
    uint16_t *chain = chain_of(sectors, access->key);
    sectors->fetch[*mshr] = (struct l1_fetch){.key = access->key, .instr = access->instr, .next = *chain};
    *chain = (uint16_t)*mshr;
    controller->mshrs.mshr[*mshr].set = access->set;
    stat_max(&controller->stats.mshrs_peak, controller->mshrs.in_use);
    return L1_MISS;
}

static void wait_for(struct l1_controller *controller, unsigned mshr, uint32_t token, uint8_t missing) {
    struct l1_sector_waiter waiter = {token, missing};
    mshr_add(&controller->mshrs, mshr, &waiter, sizeof waiter);
}

enum l1_outcome l1_sectored_read(struct l1_controller *controller, const struct l1_request *request,
                                 struct cache_line *line, const struct cache_access *access, uint64_t now) {
    struct l1_sectors *sectors = controller->sectors;
    uint8_t missing = line ? sectors_missing(line, request->sectors) : request->sectors;
    if (!missing) {
        cache_touch(&controller->cache, line, access);
        controller->stats.read_hits++;
        return L1_HIT;
    }
    unsigned mshr = find(sectors, access->key);
    struct l1_fetch *fetch = mshr == MSHR_NONE ? NULL : &sectors->fetch[mshr];
    if (fetch && fetch->stale & missing) return l1_controller_pass_by(controller, request, now);
    uint8_t wanted = (uint8_t)(fetch ? missing & ~fetch->in_flight : missing);
    enum l1_outcome failure = wanted ? l1_controller_can_request(controller, access->key, wanted, now)
                                     : l1_controller_can_merge(controller, now);
    if (failure) return failure;
    if (fetch && !mshr_can_merge(&controller->mshrs, mshr)) return L1_FAIL_MSHR_MERGE;
    if (!wanted) {
        wait_for(controller, mshr, request->token, missing);
        controller->stats.read_pending_hits++;
        return L1_PENDING_HIT;
    }
    if (!fetch) {
        enum l1_outcome outcome = reserve(controller, line, access, &mshr);
        if (outcome != L1_MISS) return outcome;
    }
    sectors->fetch[mshr].in_flight |= wanted;
    wait_for(controller, mshr, request->token, missing);
    l1_controller_request_sectors(controller, request, mshr, wanted, now);
    if (line) cache_touch(&controller->cache, line, access);
    controller->stats.read_misses++;
    sectors->stats.misses += line || fetch;
    sectors->stats.fetched += sectors_count(wanted);
    return L1_MISS;
}

/* The effect of a store that has been sent on the line, or of an atomic, which is performed at the LLC. */
static void invalidate(struct l1_controller *controller, struct cache_line *line, const struct cache_access *access,
                       uint8_t touched) {
    line->valid &= (uint8_t)~touched;
    if (!line->valid && line->state != LINE_RESERVED) cache_drop(&controller->cache, access->set, line);
}

static void validate(struct l1_controller *controller, const struct l1_request *request, struct cache_line *line,
                     const struct cache_access *access) {
    struct l1_sector_stats *stats = &controller->sectors->stats;
    if (line) {
        cache_touch(&controller->cache, line, access);
    } else {
        line = cache_victim(&controller->cache, access->set);
        if (!line) return;
        evict(controller, line);
        cache_place(&controller->cache, line, access, LINE_VALID);
    }
    stats->written += sectors_count(request->sectors);
    if (request->flags & MESSAGE_PARTIAL) return;
    stats->validated += sectors_count(sectors_missing(line, request->sectors));
    line->valid |= request->sectors;
}

enum l1_outcome l1_sectored_store(struct l1_controller *controller, const struct l1_request *request,
                                  struct cache_line *line, const struct cache_access *access, uint64_t now) {
    struct l1_sectors *sectors = controller->sectors;
    enum l1_outcome outcome = l1_controller_pass_by(controller, request, now);
    if (outcome != L1_SENT) return outcome;
    unsigned mshr = find(sectors, access->key);
    if (mshr != MSHR_NONE) sectors->fetch[mshr].stale |= sectors->fetch[mshr].in_flight & request->sectors;
    bool hit = line && !sectors_missing(line, request->sectors), atomic = request->kind == MESSAGE_ATOMIC;
    if (sectors->validates && !atomic)
        validate(controller, request, line, access);
    else if (line)
        invalidate(controller, line, access, request->sectors);
    ++*(atomic ? &controller->stats.atomics : hit ? &controller->stats.write_hits : &controller->stats.write_misses);
    return L1_SENT;
}

/* Fills. */

/* The line that the arrived sectors are written to; NULL if they are to be dropped. */
static struct cache_line *line_to_fill(struct l1_controller *controller, const struct l1_fetch *fetch, unsigned set,
                                       uint8_t fresh) {
    struct cache_line *line = cache_lookup(&controller->cache, set, fetch->key);
    if (line || !fresh) return line;
    struct cache_access access = {.key = fetch->key, .instr = fetch->instr, .set = set};
    line = cache_victim(&controller->cache, set);
    assert(line && "without reservations every line can be evicted");
    evict(controller, line);
    cache_place(&controller->cache, line, &access, LINE_VALID);
    return line;
}

/* The oldest waiter from `first` on whose sectors have arrived; if there is none, the number of waiters. */
static unsigned next_ready(const struct mshr_table *table, unsigned mshr, unsigned first) {
    unsigned waiters = table->mshr[mshr].waiters;
    while (first < waiters && ((struct l1_sector_waiter *)mshr_waiter(table, mshr, first))->sectors) first++;
    return first;
}

/* Returns whether one of the waiters can be woken. A sector that is requested again, after a store or an eviction, is
 * of no concern to those that have seen it arrive. */
static bool serve_waiters(const struct mshr_table *table, unsigned mshr, uint8_t arrived) {
    for (unsigned i = table->mshr[mshr].drained; i < table->mshr[mshr].waiters; i++)
        ((struct l1_sector_waiter *)mshr_waiter(table, mshr, i))->sectors &= (uint8_t)~arrived;
    return next_ready(table, mshr, table->mshr[mshr].drained) < table->mshr[mshr].waiters;
}

void l1_sectored_fill(struct l1_controller *controller, unsigned mshr, uint8_t arrived) {
    struct l1_sectors *sectors = controller->sectors;
    struct l1_fetch *fetch = &sectors->fetch[mshr];
    unsigned set = controller->mshrs.mshr[mshr].set;
    uint8_t stale = fetch->stale & arrived, fresh = (uint8_t)(arrived & ~stale);
    assert((fetch->in_flight & arrived) == arrived);
    fetch->in_flight &= (uint8_t)~arrived;
    fetch->stale &= (uint8_t)~arrived;
    struct cache_line *line = line_to_fill(controller, fetch, set, fresh);
    if (line) line->valid |= fresh;
    if (!fetch->in_flight) {
        unlink_fetch(sectors, mshr);
        if (!sectors->on_fill) line->state = LINE_VALID;
        if (line && !line->valid && !sectors->validates) cache_drop(&controller->cache, set, line);
    }
    if (serve_waiters(&controller->mshrs, mshr, arrived) && !fetch->arrived) {
        fetch->arrived = true;
        ring_push(&controller->arrived, mshr);
    }
    sectors->stats.dropped += sectors_count(stale);
    controller->stats.stale_fills += stale != 0;
    controller->stats.fills++;
    controller->gate->changes++;
}

bool l1_sectored_order_waiters(struct l1_controller *controller, unsigned mshr) {
    struct mshr_table *table = &controller->mshrs;
    unsigned first = table->mshr[mshr].drained, ready = next_ready(table, mshr, first);
    assert(ready < table->mshr[mshr].waiters);
    struct l1_sector_waiter waiter;
    memcpy(&waiter, mshr_waiter(table, mshr, ready), sizeof waiter);
    memmove(mshr_waiter(table, mshr, first + 1), mshr_waiter(table, mshr, first), (ready - first) * sizeof waiter);
    memcpy(mshr_waiter(table, mshr, first), &waiter, sizeof waiter);
    return next_ready(table, mshr, ready + 1) < table->mshr[mshr].waiters;
}

void l1_sectored_left_ring(struct l1_controller *controller, unsigned mshr) {
    controller->sectors->fetch[mshr].arrived = false;
}
