#include "llc/sectored.h"

#include <stdlib.h>

#include "cache/sectors.h"
#include "sim/gpu_config.h"

STATS_TABLE(llc_sector_stat_table, "llc.sectors", llc_sector_stats, LLC_SECTOR_STATS);
STATS_TABLE(copies_sector_stat_table, "copies.sectors", llc_sector_stats, LLC_SECTOR_STATS);
STATS_TABLE(atomics_sector_stat_table, "atomics.sectors", llc_sector_stats, LLC_SECTOR_STATS);

bool slice_sectors_check(const struct config *config, struct error *err) {
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    const char *const on = "llc.sector_bytes=32";
    if (llc->sector_bytes && llc->sector_bytes != SECTOR_BYTES)
        return config_error(config, "llc.sector_bytes", err, "must be 0 (whole lines) or %d, the sector of a stream",
                            SECTOR_BYTES);
    if (!llc->sector_bytes && llc->fetch_bytes)
        return config_error(config, "llc.fetch_bytes", err, "requires a sectored LLC (%s)", on);
    if (!llc->sector_bytes && llc->write_allocate == &llc_allocate_validate)
        return config_error(config, "llc.write_allocate", err, "validate requires a sectored LLC (%s)", on);
    if (!llc->sector_bytes) return true;
    if (llc->fetch_bytes && (llc->fetch_bytes < SECTOR_BYTES || llc->fetch_bytes > gpu->line_bytes ||
                             !is_power_of_two((uint64_t)llc->fetch_bytes)))
        return config_error(config, "llc.fetch_bytes", err,
                            "must be 0 or a power of two from %d to gpu.line_bytes (%lld), not %lld", SECTOR_BYTES,
                            (long long)gpu->line_bytes, (long long)llc->fetch_bytes);
    if (llc->write_allocate == &llc_allocate_through)
        return config_error(config, "llc.write_allocate", err,
                            "through fetches whole lines, and the LLC is sectored; use validate or fetch");
    if (llc->whole_write_backs)
        return config_error(config, "llc.whole_write_backs", err,
                            "a sectored LLC does not hold whole lines to write back");
    return true;
}

struct slice_sectors *slice_sectors_create(const struct config *config, const struct stat_table *counters,
                                           struct stats *stats) {
    const struct llc_config *llc = config_get(config, &llc_section);
    if (!llc->sector_bytes) return NULL;
    struct slice_sectors *sectors = mem_alloc(1, sizeof *sectors);
    *sectors = (struct slice_sectors){
        .granule = llc->fetch_bytes ? (unsigned)llc->fetch_bytes / SECTOR_BYTES : 1,
        .validates = llc->write_allocate == &llc_allocate_validate,
        .fetch = mem_alloc((size_t)llc->mshrs, sizeof *sectors->fetch),
    };
    stats_add(stats, counters, &sectors->stats);
    return sectors;
}

void slice_sectors_destroy(struct slice_sectors *sectors) {
    if (!sectors) return;
    free(sectors->fetch);
    free(sectors);
}

static void notify_sectors(const struct slice *slice, enum slice_event event, uint64_t key, uint8_t sectors,
                           uint64_t now) {
    struct message message = {.sectors = sectors};
    notify(slice, event, key, &message, now);
}

/* The request takes effect on its line, which has all sectors that it needs. */
static void apply(struct slice *slice, const struct message *message, uint64_t key, struct cache_line *line,
                  uint64_t now) {
    struct llc_sector_stats *stats = &slice->sectors->stats;
    if (message->kind != MESSAGE_READ) {
        notify(slice, SLICE_WRITE, key, message, now);
        uint8_t partial = sectors_partial(line);
        bool whole = message->kind == MESSAGE_ATOMIC || !(message->flags & MESSAGE_PARTIAL);
        sectors_write(line, message->sectors, whole);
        stats->partial += sectors_count((uint8_t)(sectors_partial(line) & ~partial));
        stats->written += sectors_count(message->sectors);
        if (line->state != LINE_RESERVED) line->state = LINE_MODIFIED;
    }
    if (message->kind == MESSAGE_WRITE) return;
    notify(slice, SLICE_READ, key, message, now);
    stats->read += sectors_count(message->sectors);
}

static void answer(struct slice *slice, const struct message *message, uint64_t key, struct cache_line *line,
                   uint64_t now) {
    apply(slice, message, key, line, now);
    slice->reply[slice->reply_tail++ & slice->reply_mask] = *message;
    slice->replies_waiting++;
}

/* Sectors that must be present before the request takes effect. */
static uint8_t needed(const struct slice *slice, const struct message *message) {
    bool write = message->kind == MESSAGE_WRITE, whole = !(message->flags & MESSAGE_PARTIAL);
    return write && (whole || slice->sectors->validates) ? 0 : message->sectors;
}

/* Whether the request would overtake a waiter of the line that has not taken effect: a change of its sectors or, for a
 * change, any access to them. */
static bool would_overtake(const struct slice *slice, const struct cache_line *line, const struct message *message) {
    const struct mshr *mshr = &slice->mshrs.mshr[line->mshr];
    for (unsigned i = slice->sectors->fetch[line->mshr].applied; i < mshr->waiters; i++) {
        const struct message *waiter = mshr_waiter(&slice->mshrs, line->mshr, i);
        bool change = message->kind != MESSAGE_READ || waiter->kind != MESSAGE_READ;
        if (change && waiter->sectors & message->sectors) return true;
    }
    return false;
}

/* Requests the wanted sectors and what is fetched with them. Memory accepts it. */
static void fetch(struct slice *slice, struct cache_line *line, uint64_t key, uint8_t wanted, uint64_t now) {
    struct slice_sectors *sectors = slice->sectors;
    struct slice_fetch *flight = &sectors->fetch[line->mshr];
    uint8_t wide = sectors_widen(wanted, sectors->granule) & slice->whole_line;
    wide &= (uint8_t) ~(line->valid | flight->in_flight);
    flight->in_flight |= wide;
    send_to_memory(slice, MESSAGE_READ, key, wide, TAG_FILL | line->mshr, now);
    notify_sectors(slice, SLICE_FETCH, key, wide, now);
    if (UNLIKELY(slice->latency != NULL)) slice_observe_fetch(slice, line->mshr, wide, now);
    sectors->stats.fetched += sectors_count(wide);
    sectors->stats.merged += sectors_count(wide & sectors_partial(line));
}

/* Takes a line for a request that misses its tag. A modified victim is written back first, and alone if memory cannot
 * accept both requests. */
static enum hold take_line(struct slice *slice, const struct cache_access *access, bool fetches, uint64_t now,
                           struct cache_line **line) {
    struct cache_line *victim = cache_victim(&slice->cache, access->set);
    if (!victim) return HOLD_LINE;
    if ((fetches || victim->state == LINE_MODIFIED) && !port_can_push(slice->to_memory, now)) return HOLD_MEMORY;
    if (victim->state == LINE_MODIFIED) {
        slice_write_back(slice, victim, TAG_WRITE_BACK, now);
        if (fetches && !port_can_push(slice->to_memory, now)) return HOLD_MEMORY;
    }
    if (victim->state != LINE_INVALID) {
        slice->stats.evictions++;
        notify(slice, SLICE_DROP, victim->key, NULL, now);
    }
    cache_place(&slice->cache, victim, access, LINE_VALID);
    *line = victim;
    return HOLD_NONE;
}

/* Attaches an MSHR to the line, which is then reserved. */
static void take_mshr(struct slice *slice, struct cache_line *line, unsigned set) {
    unsigned index = mshr_take(&slice->mshrs);
    slice->mshrs.mshr[index].set = set;
    slice->mshrs.mshr[index].way = (uint16_t)cache_way_of(&slice->cache, set, line);
    slice->sectors->fetch[index] = (struct slice_fetch){0};
    line->state = LINE_RESERVED;
    line->mshr = (uint16_t)index;
    stat_max(&slice->stats.mshrs_peak, slice->mshrs.in_use);
}

/* A request that needs absent sectors, `wanted` of them not in flight. */
static enum hold miss(struct slice *slice, const struct cache_access *access, const struct message *message,
                      struct cache_line *line, uint8_t wanted, uint64_t now) {
    bool present = line != NULL, in_flight = present && line->state == LINE_RESERVED;
    if (in_flight ? !mshr_can_merge(&slice->mshrs, line->mshr) : mshr_full(&slice->mshrs))
        return in_flight ? HOLD_MERGE : HOLD_MSHR;
    if (!present) {
        enum hold hold = take_line(slice, access, true, now, &line);
        if (hold != HOLD_NONE) return hold;
    } else if (!port_can_push(slice->to_memory, now)) {
        return HOLD_MEMORY;
    } else {
        cache_touch(&slice->cache, line, access);
    }
    if (!in_flight) take_mshr(slice, line, access->set);
    mshr_add(&slice->mshrs, line->mshr, message, sizeof *message);
    fetch(slice, line, access->key, wanted, now);
    count(slice, access, message, false, false, false, now);
    slice->sectors->stats.misses += present;
    return HOLD_NONE;
}

enum hold slice_sectored_look_up(struct slice *slice, const struct cache_access *access, const struct message *message,
                                 struct cache_line *line, uint64_t now) {
    bool in_flight = line && line->state == LINE_RESERVED;
    uint8_t absent = needed(slice, message);
    if (line) absent = sectors_missing(line, absent);
    uint8_t wanted = (uint8_t)(in_flight ? absent & ~slice->sectors->fetch[line->mshr].in_flight : absent);
    if (wanted) return miss(slice, access, message, line, wanted, now);
    if (in_flight && (absent || would_overtake(slice, line, message))) {
        if (!mshr_can_merge(&slice->mshrs, line->mshr)) return HOLD_MERGE;
        mshr_add(&slice->mshrs, line->mshr, message, sizeof *message);
        count(slice, access, message, false, true, false, now);
        return HOLD_NONE;
    }
    if (reply_queue_full(slice)) return HOLD_REPLY;
    bool present = line != NULL;
    if (present) {
        cache_touch(&slice->cache, line, access);
    } else {
        enum hold hold = take_line(slice, access, false, now, &line);
        if (hold != HOLD_NONE) return hold;
    }
    count(slice, access, message, present, false, false, now);
    answer(slice, message, access->key, line, now);
    return HOLD_NONE;
}

void slice_sectored_fill(struct slice *slice, unsigned mshr_index, uint8_t arrived, uint64_t now) {
    const struct mshr *mshr = &slice->mshrs.mshr[mshr_index];
    struct slice_fetch *flight = &slice->sectors->fetch[mshr_index];
    struct cache_line *line = cache_line_at(&slice->cache, mshr->set, mshr->way);
    uint64_t key = line->key;
    assert((flight->in_flight & arrived) == arrived);
    flight->in_flight &= (uint8_t)~arrived;
    line->valid |= arrived;
    notify_sectors(slice, SLICE_FILL, key, arrived, now);
    bool answering = flight->applied > mshr->drained;
    for (; flight->applied < mshr->waiters; flight->applied++) {
        const struct message *waiter = mshr_waiter(&slice->mshrs, mshr_index, flight->applied);
        if (waiter->sectors & flight->in_flight) break;
        apply(slice, waiter, key, line, now);
        if (UNLIKELY(slice->latency != NULL)) slice_observe_served(slice, waiter, mshr_index, arrived);
    }
    if (!flight->in_flight) line->state = line->dirty ? LINE_MODIFIED : LINE_VALID;
    if (!answering && flight->applied > mshr->drained) {
        ring_push(&slice->arrived, mshr_index);
        slice->replies_waiting++;
    }
    slice->replay_retry = slice->replay_count > 0;
    slice->stats.fills++;
}
