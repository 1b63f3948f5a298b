/* Memory controllers: between the slices' ports and the channels' queues.
 *
 * A request takes `controller_cycles` from its port to its channel's queue; a channel holds at most as many requests,
 * from port to port, as its queues and its return queue have entries (GPGPU-Sim's credits between L2 and DRAM). The
 * crossbar between slices and channels carries one request per channel and core cycle, round robin over the slices.
 *
 * At core cycle t a controller first simulates the memory cycles that have begun by then and sends the replies of
 * completed requests, then accepts arrivals, and finally moves one request per channel into its queue, where it takes
 * part from the next memory cycle on.
 *
 * This is the order of events, but not the time at which they are computed.
 *
 * Lazy evaluation. A controller *runs behind*: it is ticked when its slices send requests and, at `due`, catches up
 * with everything that has happened meanwhile (catch_up). `due` is the core cycle in which the first data of a command
 * that has not been issued yet could have crossed the bus: `delay.done` after the channel's `next`, or after the cycle
 * in which the next arrival enters the queue. A read may be forwarded from the write queue as it enters: while a channel
 * with a separate write queue holds writes, `due` is the cycle in which the next arrival enters.
 *
 *   - Why it is exact: no other component observes a command before its first data has crossed the bus. Catching up replays
 *     arrivals and commands in order of their cycles (a request keeps the cycle from which it may enter, `ready`), so that
 *     the channel passes through the same states; replies carry their own cycle, and the port makes them visible then.
 *     Replies of several channels are sent in the order of a controller that keeps up (collect_in_order). Counters are
 *     settled before they are read (controller_settle).
 *   - If a delay could be observed, the controller keeps up with every cycle (may_run_behind): while all requests of a
 *     channel are in use or replies wait for a slice (a request is then freed when its reply leaves), and for the command
 *     log, which is in order of time.
 *   - The plain version is `--no-skip`: it keeps up, and checks every memory cycle (channel.h).
 *   - The tests that compare the two: tests/dram/dram_test.c "sleeping, polling every cycle ..." and "counters read in
 *     the middle of a run ...", tests/dram/policy_test.c over all schedulers and row policies, and tests/machine for
 *     whole runs.
 */
#include "dram/dram.h"

#include <stdlib.h>

#include "base/ring.h"
#include "dram/channel.h"
#include "dram/dram_config.h"
#include "sim/clock.h"
#include "sim/gpu_config.h"
#include "sim/latency.h"

STATS_TABLE(dram_stat_table, "dram", dram_stats, DRAM_STATS);

/* The controller's state for one slice's ports. */
struct slice_side {
    struct port input, output;
    struct ring returns;   /* replies that wait for the output port: channel in the upper half, request in the lower */
    uint16_t head_channel; /* channel of the message at the head of the input; CHANNEL_UNKNOWN before it is decoded */
};

enum { CHANNEL_UNKNOWN = 0xFFFF };

struct controller {
    struct engine *engine;
    const struct address_map *map;
    const struct dram_device *device;
    unsigned component, index;
    struct waker waker; /* of the component */
    unsigned slices, channels;
    unsigned turn;      /* round-robin pointer */
    uint64_t pushed[2]; /* slices whose port has been pushed into (port_watch) */
    uint64_t asking;    /* slices whose port is not empty */
    /* Sets of channels: all; those without a free request; with requests; with replies that have not been collected. */
    uint64_t all_channels, full, occupied, done;
    unsigned waiting_returns; /* replies in all return rings */
    uint64_t controller_cycles;
    struct clock clock;
    struct moment caught_up; /* the channels' commands have been issued up to here */
    uint64_t due;            /* core cycle by which more of them must be issued */
    bool behind;             /* they may wait until then; else they are issued in every tick */
    struct slice_side *slice;
    struct dram_channel *channel;
    uint8_t bursts_of[256]; /* bursts of a line that contain sectors of a mask */
};

struct dram {
    struct controller *controller;
    unsigned mcs;
    unsigned slices_per_mc; /* without the slices that follow all others */
};

/* ------------------------------------------------------------------- replies */

/* The data of a read will be visible to the slice when its reply has been pushed. A first command in the memory cycle
 * after that of entering the queue has not waited. */
static NEVER_INLINE void observe_read(struct controller *mc, const struct slice_side *slice,
                                      const struct dram_request *request) {
    struct latency *latency = mc->engine->latency;
    const struct message *read = &request->message;
    uint64_t key = latency_key(LATENCY_FETCH, read->source, read->tag, read->sectors);
    uint64_t visible = slice->output.last_visible;
    latency_mark_loaded(latency, key, LATENCY_dram_queue, LATENCY_dram, slice->input.latency + mc->controller_cycles,
                        request->ready);
    if (!request->forwarded)
        latency_mark(latency, key, LATENCY_dram_queue, clock_core_cycle(mc->clock, request->begun_at - 1));
    latency_mark(latency, key, LATENCY_dram, clock_core_cycle(mc->clock, request->done));
    latency_mark_loaded(latency, key, LATENCY_dram_queue, LATENCY_dram, slice->output.latency, visible);
}

static inline void send_reply(struct controller *mc, struct slice_side *slice, struct dram_channel *channel,
                              struct dram_request *request, uint64_t now) {
    uint64_t done = max_u64(clock_core_after(mc->clock, &mc->caught_up, request->done), now);
    request->message.kind = request->write ? MESSAGE_ACK : MESSAGE_DATA;
    channel->writes -= request->write;
    port_push_late(&slice->output, now, done - now, &request->message, sizeof request->message);
    if (UNLIKELY(mc->engine->latency != NULL) && !request->write) observe_read(mc, slice, request);
    channel_free(channel, request);
    if (UNLIKELY(mc->full)) mc->full &= ~channel->bit;
}

/* Sends replies for requests that a channel has completed. The data may still be in flight: the port makes it visible
 * in time. */
static inline void reply(struct controller *mc, struct dram_channel *channel, struct dram_request *request,
                         uint64_t now) {
    struct slice_side *slice = &mc->slice[request->slice];
    if (LIKELY(ring_empty(&slice->returns) && port_can_push(&slice->output, now))) {
        send_reply(mc, slice, channel, request, now);
        return;
    }
    if (ring_empty(&slice->returns)) port_await_credit(&slice->output, now);
    ring_push(&slice->returns, channel->index << 16 | (uint32_t)(request - channel->request));
    mc->waiting_returns++;
}

static inline void collect(struct controller *mc, struct dram_channel *channel, uint64_t now) {
    for (unsigned i = 0; i < channel->done_count; i++) reply(mc, channel, channel->done[i], now);
    channel->done_count = 0;
}

/* When a controller that keeps up would have sent the reply: the core cycle of the last column command or, in the second
 * half of a cycle, of entering the queue, for a forwarded read. */
static inline uint64_t sending_time(const struct controller *mc, const struct dram_channel *channel, unsigned i) {
    const struct dram_request *request = channel->done[i];
    if (request->forwarded) return request->ready * 2 + 1;
    return clock_core_cycle(mc->clock, request->done - channel->delay.done[request->write]) * 2;
}

/* The replies of several channels in the order in which a controller that keeps up would have sent them. */
static void collect_in_order(struct controller *mc, uint64_t now) {
    uint64_t time[64], left = mc->done;
    unsigned sent[64];
    for (uint64_t channels = left; channels; channels &= channels - 1) {
        unsigned i = lowest_bit(channels);
        sent[i] = 0;
        time[i] = sending_time(mc, &mc->channel[i], 0);
    }
    while (left) {
        unsigned first = lowest_bit(left);
        for (uint64_t rest = left & (left - 1); rest; rest &= rest - 1)
            if (time[lowest_bit(rest)] < time[first]) first = lowest_bit(rest);
        struct dram_channel *channel = &mc->channel[first];
        reply(mc, channel, channel->done[sent[first]], now);
        if (++sent[first] < channel->done_count) {
            time[first] = sending_time(mc, channel, sent[first]);
        } else {
            channel->done_count = 0;
            left &= ~(UINT64_C(1) << first);
        }
    }
}

/* Whether two channels have replies for the same slice; otherwise the order of channels makes no difference. */
static inline bool share_slices(const struct controller *mc) {
    uint64_t slices = 0;
    for (uint64_t channels = mc->done; channels; channels &= channels - 1) {
        const struct dram_channel *channel = &mc->channel[lowest_bit(channels)];
        uint64_t own = 0;
        for (unsigned i = 0; i < channel->done_count; i++) own |= UINT64_C(1) << channel->done[i]->slice;
        if (slices & own) return true;
        slices |= own;
    }
    return false;
}

static inline void collect_all(struct controller *mc, uint64_t now) {
    if (mc->behind && mc->done & (mc->done - 1) && share_slices(mc)) {
        collect_in_order(mc, now);
    } else {
        for (uint64_t channels = mc->done; channels; channels &= channels - 1)
            collect(mc, &mc->channel[lowest_bit(channels)], now);
    }
    mc->done = 0;
}

static void drain_returns(struct controller *mc, uint64_t now) {
    for (unsigned i = 0; i < mc->slices; i++) {
        struct slice_side *slice = &mc->slice[i];
        while (!ring_empty(&slice->returns) && port_can_push(&slice->output, now)) {
            uint32_t entry = ring_pop(&slice->returns);
            struct dram_channel *channel = &mc->channel[entry >> 16];
            send_reply(mc, slice, channel, &channel->request[entry & 0xFFFF], now);
            mc->waiting_returns--;
        }
        if (!ring_empty(&slice->returns)) port_await_credit(&slice->output, now);
    }
}

/* ------------------------------------------------------------------ requests */

static inline void lower_due(struct controller *mc, uint64_t core) { mc->due = min_u64(mc->due, core); }

/* The first memory cycle by which data can have crossed the bus: of a command issued in `cycle` or later, of a request
 * that enters in the cycle before. A read that enters may be forwarded from the write queue at once. */
static inline uint64_t first_data(const struct dram_channel *channel, uint64_t cycle, bool enters) {
    if (!channel->writes) return cycle + channel->delay.done[0];
    if (channel->rules.drain && enters) return cycle;
    return cycle + min_u64(channel->delay.done[0], channel->delay.done[1]);
}

/* Converts the head of the slice's port to a request of its channel, which has a free one. */
static inline void take_in(struct controller *mc, unsigned slice_index, struct dram_channel *channel, uint64_t now) {
    struct port *input = &mc->slice[slice_index].input;
    struct dram_request *request = channel_allocate(channel);
    memcpy(&request->message, port_take(input, now), sizeof request->message);
    if (port_next_visible(input) == NEVER) mc->asking &= ~(UINT64_C(1) << slice_index);
    struct location place;
    address_map_locate(mc->map, message_place_in_memory(&request->message), &place);
    assert(place.mc == mc->index && "a slice sends to the controller that owns the line");
    struct moment ready = clock_moment(mc->clock, &mc->caught_up, now + mc->controller_cycles);
    request->ready = ready.core;
    request->ready_cycle = ready.cycle;
    request->row = place.row;
    if (UNLIKELY(channel->log != NULL)) request->column = place.column;
    request->bank = (uint8_t)place.bank;
    request->slice = (uint16_t)slice_index;
    request->write = request->message.kind == MESSAGE_WRITE;
    channel->writes += request->write;
    request->bursts = mc->bursts_of[request->message.sectors];
    bool first = !channel->arrival;
    channel_arrive(channel, request);
    mc->occupied |= channel->bit;
    /* Other requests are due after those that have arrived before them. */
    if (first || channel->writes)
        lower_due(mc, clock_core_after(mc->clock, &mc->caught_up, first_data(channel, ready.cycle + 1, true)));
    if (UNLIKELY(!channel->free_count)) {
        mc->full |= channel->bit;
        mc->due = now; /* it may not run behind any more */
    }
}

static inline uint64_t rotate_right(uint64_t set, unsigned by) { return set >> by | set << (-by % 64); }

/* The slices that may send a request, in order of their turns: bit 0 is the one whose turn it is. */
static inline uint64_t slices_by_turn(const struct controller *mc) { return rotate_right(mc->asking, mc->turn); }

static inline unsigned next_turn(const struct controller *mc, unsigned slice) {
    return slice + 1 == mc->slices ? 0 : slice + 1;
}

/* Accepts a request for the only channel. */
static inline bool accept_one(struct controller *mc, uint64_t now) {
    for (uint64_t left = slices_by_turn(mc); left; left &= left - 1) {
        unsigned slice = (lowest_bit(left) + mc->turn) % 64;
        if (port_next_visible(&mc->slice[slice].input) > now) continue;
        mc->turn = next_turn(mc, slice);
        take_in(mc, slice, mc->channel, now);
        return true;
    }
    return false;
}

/* The channel of the message at the head of the slice's port. */
static inline unsigned channel_of_head(const struct controller *mc, struct slice_side *slice, uint64_t now) {
    if (slice->head_channel == CHANNEL_UNKNOWN) {
        struct location place;
        address_map_locate(mc->map, message_place_in_memory(port_peek(&slice->input, now)), &place);
        slice->head_channel = place.channel;
    }
    return slice->head_channel;
}

/* Accepts one request for each channel. */
static inline bool accept_for_each(struct controller *mc, uint64_t now) {
    uint64_t full = mc->full, taken = full;
    unsigned turn = mc->turn;
    for (uint64_t left = slices_by_turn(mc); left && taken != mc->all_channels; left &= left - 1) {
        unsigned index = (lowest_bit(left) + turn) % 64;
        struct slice_side *slice = &mc->slice[index];
        if (port_next_visible(&slice->input) > now) continue;
        unsigned channel = channel_of_head(mc, slice, now);
        if (taken >> channel & 1) continue;
        slice->head_channel = CHANNEL_UNKNOWN;
        if (taken == full) mc->turn = next_turn(mc, index);
        taken |= UINT64_C(1) << channel;
        take_in(mc, index, &mc->channel[channel], now);
    }
    return taken != full;
}

/* Accepts one request per channel from the slices' ports, round robin, and tries again in the next cycle if one was
 * accepted and a slice may have another. A channel without free requests is tried again in the tick in which a reply has
 * freed one, or after it (plan_next_tick). */
static inline void accept_requests(struct controller *mc, uint64_t now) {
    uint64_t *pushed = &mc->pushed[(now + 1) & 1];
    mc->asking |= *pushed;
    *pushed = 0;
    if (!mc->asking || mc->full == mc->all_channels) return;
    bool accepted = mc->channels == 1 ? accept_one(mc, now) : accept_for_each(mc, now);
    if (accepted && mc->asking) engine_wake_near(mc->engine, mc->waker, now + 1);
}

/* ------------------------------------------------------------------ catching up */

/* Computes what has happened in `channels` before core cycle `before` and in memory cycles up to `until`; the controller
 * has then caught up with `now`. Replies remain to be collected. */
static inline void catch_up(struct controller *mc, uint64_t channels, uint64_t before, uint64_t until, uint64_t now) {
    struct moment here = clock_moment(mc->clock, &mc->caught_up, now);
    for (until = min_u64(until, here.cycle); channels; channels &= channels - 1) {
        struct dram_channel *channel = &mc->channel[lowest_bit(channels)];
        if (!channel_has_work(channel, before, until)) continue;
        channel_catch_up(channel, mc->clock, &mc->caught_up, before, until);
        if (channel->done_count) mc->done |= channel->bit;
        if (channel_idle(channel) && !channel->arrival) mc->occupied &= ~channel->bit;
    }
    mc->caught_up = here;
}

/* The core cycle by which the channels must have caught up: that of the next event or, if they may run behind, the
 * first in which data of a command not issued yet can have crossed the bus. */
static inline uint64_t next_due(const struct controller *mc) {
    uint64_t cycle = NEVER, core = NEVER;
    for (uint64_t channels = mc->occupied; channels; channels &= channels - 1) {
        const struct dram_channel *channel = &mc->channel[lowest_bit(channels)];
        if (!channel_idle(channel))
            cycle =
                min_u64(cycle, mc->behind ? first_data(channel, channel_next_column(channel), false) : channel->next);
        if (channel->arrival && (mc->behind || channel->blocked_since == NEVER)) {
            const struct dram_request *first = channel->arrival;
            if (mc->behind) {
                bool blocked = channel->blocked_since != NEVER; /* until a command frees an entry */
                uint64_t from = blocked ? channel->next : max_u64(first->ready_cycle, mc->caught_up.cycle) + 1;
                cycle = min_u64(cycle, first_data(channel, from, true));
            } else {
                core = min_u64(core, max_u64(first->ready, channel->enter_from.core));
            }
        }
    }
    return cycle == NEVER ? core : min_u64(core, clock_core_after(mc->clock, &mc->caught_up, cycle));
}

/* ------------------------------------------------------------- the component */

/* Whether every event must be computed in its cycle. */
static inline bool in_time(const struct controller *mc) { return mc->channel->log || mc->engine->poll; }

/* Whether running behind cannot be observed. */
static inline bool may_run_behind(const struct controller *mc) {
    return !mc->full && !mc->waiting_returns && !in_time(mc);
}

/* Catches up with everything before core cycle `before` and in the memory cycles begun by `now`. A channel without
 * requests has only refreshes and precharges by its row policy: it issues them when its next request enters, or when
 * counters are read; but for the command log, in time. */
static inline void keep_up(struct controller *mc, uint64_t before, uint64_t now) {
    catch_up(mc, UNLIKELY(in_time(mc)) ? mc->all_channels : mc->occupied, before, NEVER, now);
    collect_all(mc, now);
}

/* The second half of a tick in which the controller has caught up, or must do so. */
static ALWAYS_INLINE void plan_next_tick(struct controller *mc, uint64_t now) {
    mc->behind = may_run_behind(mc);
    if (!mc->behind) {
        uint64_t full = mc->full;
        keep_up(mc, now + 1, now);
        /* A read that was forwarded as it entered has freed its request too late for this cycle's arrivals. */
        if (full & ~mc->full && mc->asking) engine_wake(mc->engine, mc->component, now + 1);
    }
    mc->due = next_due(mc);
    if (mc->due == NEVER) return;
    mc->due = max_u64(mc->due, now + 1);
    engine_wake_by(mc->engine, mc->waker, mc->due);
}

/* A tick in which the controller catches up. */
static NEVER_INLINE void tick_and_catch_up(struct controller *mc, uint64_t now) {
    keep_up(mc, now, now);
    if (UNLIKELY(mc->waiting_returns)) drain_returns(mc, now);
    accept_requests(mc, now);
    plan_next_tick(mc, now);
}

/* The last free request of a channel has been taken. */
static NEVER_INLINE void stop_running_behind(struct controller *mc, uint64_t now) { plan_next_tick(mc, now); }

static void controller_tick(void *self, uint64_t now) {
    struct controller *mc = self;
    uint64_t due = mc->due;
    if (!mc->behind || due <= now) {
        tick_and_catch_up(mc, now);
        return;
    }
    accept_requests(mc, now);
    if (UNLIKELY(mc->due <= now))
        stop_running_behind(mc, now);
    else if (mc->due < due)
        engine_wake_by(mc->engine, mc->waker, mc->due);
}

static void controller_settle(void *self, uint64_t now) {
    struct controller *mc = self;
    if (now == 0) return;
    catch_up(mc, mc->all_channels, now, clock_domain_cycle(mc->clock, now - 1), now);
    mc->due = min_u64(mc->due, now); /* remaining replies are collected in the next tick */
    for (unsigned i = 0; i < mc->channels; i++) {
        struct dram_channel *channel = &mc->channel[i];
        channel_settle(channel);
        if (channel->blocked_since == NEVER || channel->blocked_since >= now) continue;
        channel->stats.queue_full_cycles += now - channel->blocked_since;
        channel->blocked_since = now;
    }
}

static bool controller_busy(const void *self) {
    const struct controller *mc = self;
    for (unsigned i = 0; i < mc->channels; i++)
        if (mc->channel[i].free_count != mc->channel[i].request_count) return true;
    return false;
}

static void controller_explain(const void *self, uint64_t now, FILE *out) {
    const struct controller *mc = self;
    for (unsigned i = 0; i < mc->channels; i++) {
        const struct dram_channel *channel = &mc->channel[i];
        unsigned inside = channel->request_count - channel->free_count;
        if (!inside) continue;
        unsigned arriving = 0;
        for (const struct dram_request *r = channel->arrival; r; r = r->next) arriving++;
        fprintf(out, "dram %u channel %u: %u requests: %u reads and %u writes queued, %u before the queue", mc->index,
                i, inside, channel->queue[0].waiting, channel->queue[1].waiting, arriving);
        if (channel->blocked_since != NEVER)
            fprintf(out, " (queue full for %llu cycles)", (unsigned long long)(now - channel->blocked_since));
        fprintf(out, "; next command not before memory cycle %llu, now %llu\n", (unsigned long long)channel->next,
                (unsigned long long)clock_domain_cycle(mc->clock, now));
    }
    for (unsigned i = 0; i < mc->slices; i++) {
        const struct ring *returns = &mc->slice[i].returns;
        if (!ring_empty(returns))
            fprintf(out, "dram %u: %u replies wait for the port to slice %u\n", mc->index, ring_count(returns), i);
    }
}

static const struct component_ops controller_ops = {.kind = "dram",
                                                    .tick = controller_tick,
                                                    .settle = controller_settle,
                                                    .explain = controller_explain,
                                                    .busy = controller_busy};

/* ------------------------------------------------------------------ building */

static struct clock clock_of_config(const struct config *config, uint64_t core_khz) {
    const struct dram_config *dram = config_get(config, &dram_section);
    return clock_of(dram->clock_mhz ? (uint64_t)dram->clock_mhz * 1000 : core_khz, core_khz);
}

/* Bit i of the result: burst i of the line contains one of the sectors in the mask. */
static void fill_bursts(struct controller *mc, const struct config *config) {
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    unsigned sectors = (unsigned)gpu->line_bytes / SECTOR_BYTES;
    unsigned per_burst = (unsigned)mc->device->burst_bytes / SECTOR_BYTES;
    for (unsigned s = 0, mask = 1; s < 8; s++)
        for (unsigned burst = 1u << (s / per_burst); mask < 2u << s; mask++)
            mc->bursts_of[mask] = (uint8_t)(mc->bursts_of[mask - (1u << s)] | burst);
    mc->bursts_of[0] = mc->bursts_of[low_mask(sectors)];
}

/* The machine-wide number of a controller's slice `i`. */
static unsigned slice_number(const struct dram *dram, unsigned mc, unsigned i) {
    return i < dram->slices_per_mc ? mc * dram->slices_per_mc + i : dram->mcs * dram->slices_per_mc + mc;
}

static struct slice_side *side_of(struct dram *dram, unsigned slice) {
    unsigned first = dram->mcs * dram->slices_per_mc;
    unsigned mc = slice < first ? slice / dram->slices_per_mc : slice - first;
    unsigned i = slice < first ? slice % dram->slices_per_mc : dram->slices_per_mc;
    assert(mc < dram->mcs && i < dram->controller[mc].slices);
    return &dram->controller[mc].slice[i];
}

static void create_slices(const struct dram *owner, struct controller *mc, const struct dram_config *dram,
                          const unsigned *slice_component, unsigned requests) {
    mc->slice = mem_alloc(mc->slices, sizeof *mc->slice);
    for (unsigned i = 0; i < mc->slices; i++) {
        struct slice_side *slice = &mc->slice[i];
        unsigned peer = slice_component[slice_number(owner, mc->index, i)];
        unsigned entries = (unsigned)dram->port_entries, latency = (unsigned)dram->port_cycles;
        char name[sizeof slice->input.name];
        snprintf(name, sizeof name, "slice %u to dram %u", i, mc->index);
        port_init(&slice->input, mc->engine, name, peer, mc->component, entries, latency);
        port_watch(&slice->input, mc->pushed, i);
        snprintf(name, sizeof name, "dram %u to slice %u", mc->index, i);
        port_init(&slice->output, mc->engine, name, mc->component, peer, entries, latency);
        ring_init(&slice->returns, requests);
        slice->head_channel = CHANNEL_UNKNOWN;
    }
}

static void create_channels(struct controller *mc, const struct config *config, struct stats *stats) {
    mc->channel = mem_alloc_lines(mc->channels, sizeof *mc->channel);
    for (unsigned i = 0; i < mc->channels; i++) {
        channel_init(&mc->channel[i], config, mc->index, i, &mc->engine->poll);
        if (stats) stats_add(stats, &dram_stat_table, &mc->channel[i].stats);
    }
}

struct dram *dram_create(const struct config *config, const struct address_map *map, const unsigned *slice_component,
                         unsigned slices, struct engine *engine, uint64_t core_khz, struct stats *stats,
                         struct error *err) {
    (void)err; /* the section's check has rejected all invalid input */
    const struct dram_config *dram_config = config_get(config, &dram_section);
    struct dram *dram = mem_alloc(1, sizeof *dram);
    dram->mcs = (unsigned)dram_config->mcs;
    dram->slices_per_mc = address_map_slices_per_mc(map);
    dram->controller = mem_alloc_lines(dram->mcs, sizeof *dram->controller);
    for (unsigned i = 0; i < dram->mcs; i++) {
        struct controller *mc = &dram->controller[i];
        mc->engine = engine;
        mc->map = map;
        mc->device = dram_device_of(config);
        mc->index = i;
        mc->slices = slices / dram->mcs;
        mc->channels = (unsigned)dram_config->channels_per_mc;
        mc->all_channels = low_mask(mc->channels);
        mc->controller_cycles = (uint64_t)dram_config->controller_cycles;
        mc->clock = clock_of_config(config, core_khz);
        mc->component = engine_add(engine, &controller_ops, mc, i);
        mc->waker = waker_of(engine, mc->component);
        mc->due = NEVER;
        fill_bursts(mc, config);
        create_channels(mc, config, stats);
        create_slices(dram, mc, dram_config, slice_component, mc->channels * mc->channel[0].request_count);
    }
    return dram;
}

void dram_destroy(struct dram *dram) {
    if (!dram) return;
    for (unsigned i = 0; i < dram->mcs; i++) {
        struct controller *mc = &dram->controller[i];
        for (unsigned c = 0; c < mc->channels; c++) channel_release(&mc->channel[c]);
        for (unsigned s = 0; s < mc->slices; s++) {
            port_release(&mc->slice[s].input);
            port_release(&mc->slice[s].output);
            ring_release(&mc->slice[s].returns);
        }
        free(mc->channel);
        free(mc->slice);
    }
    free(dram->controller);
    free(dram);
}

struct port *dram_input(struct dram *dram, unsigned slice) {
    return &side_of(dram, slice)->input;
}
struct port *dram_output(struct dram *dram, unsigned slice) {
    return &side_of(dram, slice)->output;
}

void dram_set_log(struct dram *dram, dram_log_fn *log, void *user) {
    for (unsigned i = 0; i < dram->mcs; i++)
        for (unsigned c = 0; c < dram->controller[i].channels; c++) {
            dram->controller[i].channel[c].log = log;
            dram->controller[i].channel[c].log_user = user;
        }
}

const char *dram_command_name(enum dram_command command) {
    static const char *const names[] = {"ACT", "PRE", "RD", "WR", "PREA", "REF"};
    return names[command];
}
