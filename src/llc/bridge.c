#include "llc/bridge.h"

#include <stdlib.h>

#include "base/base.h"
#include "dram/dram_config.h"
#include "llc/organisation.h"
#include "sim/gpu_config.h"
#include "sim/latency.h"

static const struct param params[] = {
    P_INT(struct bridge_config, cycles, 75, 1, 900, "cycles",
          "time that a message takes from one partition to the other"),
    P_INT(struct bridge_config, bytes, 64, 1, 1024, "B/cycle",
          "width of each direction between a slice and its mirror"),
    P_INT(struct bridge_config, copy_ways, 0, 0, 32768, "lines",
          "ways of each set of a slice for copies of the other partition's lines, with llc.organisation=partitioned; "
          "0: half of them"),
};

extern const struct llc_organisation_ops llc_organisation_partitioned;

#define BRIDGE_STATS(S) \
    S(SUM, requests, "packets", "requests of far clusters that crossed between the partitions") \
    S(SUM, fetches, "packets", "fetches of copies from the other partition") \
    S(SUM, request_bytes, "B", "bytes of requests and fetches that crossed") \
    S(SUM, reply_bytes, "B", "bytes of replies that crossed")

STATS_STRUCT(bridge_stats, BRIDGE_STATS);
STATS_TABLE(bridge_stat_table, "bridge", bridge_stats, BRIDGE_STATS);

bool bridges_exist(const struct config *config) {
    const struct llc_config *llc = config_get(config, &llc_section);
    return llc->partitions == 2;
}

unsigned bridge_copy_ways(const struct config *config) {
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct bridge_config *values = config_get(config, &bridge_section);
    if (llc->organisation != &llc_organisation_partitioned.policy) return 0;
    return (unsigned)(values->copy_ways ? values->copy_ways : llc->ways / 2);
}

static bool check(const struct config *config, struct error *err) {
    const struct dram_config *dram = config_get(config, &dram_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    const struct llc_config *llc = config_get(config, &llc_section);
    if (!bridges_exist(config)) return true;
    if (dram->mcs % 2)
        return config_error(config, "llc.partitions", err,
                            "two partitions need an even number of controllers, but dram.mcs is %lld",
                            (long long)dram->mcs);
    if (gpu->clusters % 2)
        return config_error(config, "llc.partitions", err,
                            "two partitions need an even number of clusters, but gpu.clusters is %lld",
                            (long long)gpu->clusters);
    if (bridge_copy_ways(config) >= llc->ways || (!bridge_copy_ways(config) && llc->ways == 1))
        return config_error(config, "bridge.copy_ways", err,
                            "%u ways for copies leave none of the %lld of a slice (llc.ways) for its own lines",
                            bridge_copy_ways(config), (long long)llc->ways);
    if (llc->sharing_window)
        return config_error(
            config, "llc.sharing_window", err,
            "accesses are counted by the network's endpoints, which copies in a second partition do not "
            "have; set it to 0, or llc.partitions to 1");
    return true;
}

const struct section bridge_section = {
    .path = "bridge",
    .help = "the bridges between the two partitions of the LLC",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct bridge_config),
    .check = check,
};

/* A queue of messages that cross in one direction. */
struct lane {
    struct port queue; /* from the bridge to itself */
    uint64_t free_at;  /* the last message has left the sender */
    unsigned network;  /* messages in it from the network */
};

enum { REPLY_SOURCES = 3 };

/* One of the two slices, and the copies at its side. */
struct side {
    unsigned slice, mc;
    struct port *requests, *replies; /* of the networks */
    struct port to_slice, from_slice;
    struct port to_copies, from_copies, copies_to_home, home_to_copies; /* only if there are copies */
    struct lane arriving;                                               /* requests to this slice that cross */
    struct lane leaving;                                                /* replies of this slice that cross */
    bool crossed_first; /* in the next cycle in which requests compete */
    unsigned reply_turn;
    struct bridge_stats stats;
};

struct bridge {
    struct engine *engine;
    unsigned component;
    const struct bridges *all;
    struct side side[2];
};

struct bridges {
    const struct address_map *map;
    unsigned count, slices_per_mc, mcs, clusters;
    unsigned cycles, bytes, network_entries;
    bool copies;
    struct bridge *bridge; /* of controller mc and slice s in the first half: mc × slices_per_mc + s */
};

/* Messages from the network that can be in a lane, in addition to those that fill it at one per cycle. */
enum { NETWORK_SPARE = 16 };

static unsigned number_of(const struct bridge *b, const struct side *side) { return (unsigned)(side - b->side); }
static struct side *opposite(struct bridge *b, const struct side *side) { return &b->side[side == b->side]; }

static bool blocked(struct port *to, uint64_t now) {
    if (port_can_push(to, now)) return false;
    port_await_credit(to, now);
    return true;
}

/* The oldest message of a port leaves it: a request that has arrived from the network, or a reply. */
static void observe(const struct port *from, uint64_t now) {
    struct latency *latency = from->engine->latency;
    if (!latency) return;
    const struct message *message = port_peek(from, now);
    if (message->kind == MESSAGE_DATA)
        latency_mark(latency, latency_message_key(message), LATENCY_bridge, now);
    else if (message->kind != MESSAGE_ACK)
        latency_cross(latency, message, false, port_next_visible(from));
}

static bool hand_on(struct port *from, struct port *to, uint64_t now) {
    if (!port_peek(from, now) || blocked(to, now)) return false;
    observe(from, now);
    port_push(to, now, port_take(from, now), sizeof(struct message));
    return true;
}

static void cross(const struct bridges *all, struct lane *lane, const struct message *message, uint64_t *bytes,
                  uint64_t now) {
    unsigned size = message_bytes(message);
    lane->free_at = max_u64(lane->free_at, now) + div_up(size, all->bytes);
    *bytes += size;
    port_push_late(&lane->queue, now, lane->free_at - now - 1, message, sizeof *message);
}

/* A request from the network: to the copies, if the line's home is the mirror; otherwise to the slice, from a far cluster
 * across. */
static bool take_request(struct bridge *b, struct side *to, uint64_t now) {
    const struct message *message = port_peek(to->requests, now);
    if (!message) return false;
    const struct bridges *all = b->all;
    if (all->copies) {
        struct location home;
        address_map_locate(all->map, message_place_in_memory(message), &home);
        if (home.mc != to->mc) return hand_on(to->requests, &to->to_copies, now);
    }
    if (bridge_side(message->cluster, all->clusters) == number_of(b, to))
        return hand_on(to->requests, &to->to_slice, now);
    if (to->arriving.network == all->network_entries) return false; /* a message that leaves the lane ends the wait */
    observe(to->requests, now);
    to->arriving.network++;
    to->stats.requests++;
    cross(all, &to->arriving, port_take(to->requests, now), &to->stats.request_bytes, now);
    return true;
}

static bool take_arrival(struct side *to, uint64_t now) {
    const struct message *message = port_peek(&to->arriving.queue, now);
    if (!message || blocked(&to->to_slice, now)) return false;
    to->arriving.network -= !(message->flags & MESSAGE_BRIDGED);
    port_push(&to->to_slice, now, port_take(&to->arriving.queue, now), sizeof *message);
    return true;
}

/* The copies fetch a line from its home, as a read of their own. */
static bool take_fetch(struct bridge *b, struct side *from, uint64_t now) {
    const struct message *message = port_peek(&from->copies_to_home, now);
    if (!message) return false;
    struct side *to = opposite(b, from);
    struct message fetch = *(const struct message *)port_take(&from->copies_to_home, now);
    struct location home;
    address_map_locate(b->all->map, message_place_in_memory(&fetch), &home);
    assert(home.mc == to->mc && fetch.kind == MESSAGE_READ);
    fetch.flags |= MESSAGE_BRIDGED | MESSAGE_READ_ONLY;
    fetch.target = (uint16_t)to->slice;
    fetch.place = home.partition;
    from->stats.fetches++;
    cross(b->all, &to->arriving, &fetch, &to->stats.request_bytes, now);
    return true;
}

/* A reply of the slice: to the network, or across. */
static bool take_reply(struct bridge *b, struct side *from, uint64_t now) {
    const struct message *message = port_peek(&from->from_slice, now);
    if (!message) return false;
    bool far =
        message->flags & MESSAGE_BRIDGED || bridge_side(message->cluster, b->all->clusters) != number_of(b, from);
    if (!far) return hand_on(&from->from_slice, from->replies, now);
    if (blocked(&from->leaving.queue, now)) return false;
    cross(b->all, &from->leaving, port_take(&from->from_slice, now), &from->stats.reply_bytes, now);
    return true;
}

/* A reply that has crossed: to the network, or to the copies that fetched the line. */
static bool take_crossed_reply(struct bridge *b, struct side *from, uint64_t now) {
    const struct message *message = port_peek(&from->leaving.queue, now);
    if (!message) return false;
    bool fetched = message->flags & MESSAGE_BRIDGED;
    return hand_on(&from->leaving.queue, fetched ? &opposite(b, from)->home_to_copies : from->replies, now);
}

/* One request per cycle and side to the slice, and one reply to the network: what was not served last goes first. */
static bool move_requests(struct bridge *b, struct side *side, uint64_t now) {
    bool crossed = side->crossed_first && take_arrival(side, now);
    bool moved = crossed || take_request(b, side, now);
    if (!moved) moved = crossed = take_arrival(side, now);
    if (moved) side->crossed_first = !crossed;
    return moved;
}

static bool move_replies(struct bridge *b, struct side *side, uint64_t now) {
    for (unsigned i = 0; i < REPLY_SOURCES; i++) {
        unsigned source = (side->reply_turn + i) % REPLY_SOURCES;
        bool moved = source == 0   ? take_reply(b, side, now)
                     : source == 1 ? take_crossed_reply(b, side, now)
                                   : b->all->copies && hand_on(&side->from_copies, side->replies, now);
        if (!moved) continue;
        side->reply_turn = (source + 1) % REPLY_SOURCES;
        return true;
    }
    return false;
}

static void bridge_tick(void *self, uint64_t now) {
    struct bridge *b = self;
    bool moved = false;
    for (struct side *side = b->side; side < b->side + 2; side++) {
        moved |= move_requests(b, side, now);
        moved |= move_replies(b, side, now);
        moved |= b->all->copies && take_fetch(b, side, now);
    }
    if (moved) engine_wake(b->engine, b->component, now + 1); /* for messages that may follow */
}

static void bridge_explain(const void *self, uint64_t now, FILE *out) {
    const struct bridge *b = self;
    (void)now;
    for (const struct side *side = b->side; side < b->side + 2; side++)
        if (side->arriving.network)
            fprintf(out, "bridge at slice %u: %u requests of far clusters cross\n", side->slice,
                    side->arriving.network);
}

static const struct component_ops bridge_ops = {.kind = "bridge", .tick = bridge_tick, .explain = bridge_explain};

static void open_port(struct bridge *b, struct port *port, const char *format, unsigned slice, unsigned sender,
                      unsigned receiver, unsigned entries, unsigned cycles) {
    char name[40];
    snprintf(name, sizeof name, format, slice);
    port_init(port, b->engine, name, sender, receiver, entries, cycles);
}

static void side_init(struct bridge *b, struct side *side, unsigned slice, const unsigned *slice_component,
                      const unsigned *copies_component, unsigned mshrs, struct stats *stats) {
    const struct bridges *all = b->all;
    enum { ENTRIES = 4 }; /* enough for one message per cycle */
    unsigned bridge = b->component, cycles = all->cycles;
    side->slice = slice;
    side->mc = slice / all->slices_per_mc;
    open_port(b, &side->to_slice, "bridge to slice %u", slice, bridge, slice_component[slice], ENTRIES, 1);
    open_port(b, &side->from_slice, "slice %u to bridge", slice, slice_component[slice], bridge, ENTRIES, 1);
    /* Fetches always find an entry: there is one for each sector of each MSHR, and credits return before replies. */
    unsigned entries = all->network_entries + cycles + (all->copies ? mshrs * SECTORS_MAX : 0);
    open_port(b, &side->arriving.queue, "across to slice %u", slice, bridge, bridge, entries, cycles);
    open_port(b, &side->leaving.queue, "across from slice %u", slice, bridge, bridge, 2 * cycles + ENTRIES, cycles);
    stats_add(stats, &bridge_stat_table, &side->stats);
    if (!all->copies) return;
    unsigned copies = copies_component[slice];
    open_port(b, &side->to_copies, "bridge to copies %u", slice, bridge, copies, ENTRIES, 1);
    open_port(b, &side->from_copies, "copies %u to bridge", slice, copies, bridge, ENTRIES, 1);
    open_port(b, &side->copies_to_home, "copies %u to their home", slice, copies, bridge, ENTRIES, 1);
    open_port(b, &side->home_to_copies, "home of copies %u to them", slice, bridge, copies, ENTRIES, 1);
}

struct bridges *bridges_create(const struct config *config, const struct address_map *map, struct engine *engine,
                               const unsigned *slice_component, const unsigned *copies_component, struct stats *stats) {
    const struct bridge_config *values = config_get(config, &bridge_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    const struct llc_config *llc = config_get(config, &llc_section);
    struct bridges *all = mem_alloc(1, sizeof *all);
    *all = (struct bridges){.map = map,
                            .slices_per_mc = address_map_slices_per_mc(map),
                            .mcs = address_map_mcs(map),
                            .clusters = (unsigned)gpu->clusters,
                            .cycles = (unsigned)values->cycles,
                            .bytes = (unsigned)values->bytes,
                            .network_entries = (unsigned)values->cycles + NETWORK_SPARE,
                            .copies = copies_component != NULL};
    all->count = all->mcs / 2 * all->slices_per_mc;
    all->bridge = mem_alloc(all->count, sizeof *all->bridge);
    for (unsigned i = 0; i < all->count; i++) {
        struct bridge *b = &all->bridge[i];
        b->engine = engine;
        b->all = all;
        b->component = engine_add(engine, &bridge_ops, b, i);
        for (unsigned s = 0; s < 2; s++)
            side_init(b, &b->side[s], i + s * all->count, slice_component, copies_component, (unsigned)llc->mshrs,
                      stats);
    }
    return all;
}

unsigned bridges_component(const struct bridges *bridges, unsigned slice) {
    return bridges->bridge[slice % bridges->count].component;
}

void bridges_destroy(struct bridges *bridges) {
    if (!bridges) return;
    for (unsigned i = 0; i < bridges->count; i++)
        for (unsigned s = 0; s < 2; s++) {
            struct side *side = &bridges->bridge[i].side[s];
            port_release(&side->to_slice);
            port_release(&side->from_slice);
            port_release(&side->arriving.queue);
            port_release(&side->leaving.queue);
            if (!bridges->copies) continue;
            port_release(&side->to_copies);
            port_release(&side->from_copies);
            port_release(&side->copies_to_home);
            port_release(&side->home_to_copies);
        }
    free(bridges->bridge);
    free(bridges);
}

static struct side *side_of(struct bridges *bridges, unsigned slice) {
    return &bridges->bridge[slice % bridges->count].side[slice / bridges->count];
}

void bridges_connect(struct bridges *bridges, unsigned slice, struct slice_ports *ports) {
    struct side *side = side_of(bridges, slice);
    side->requests = ports->from_network;
    side->replies = ports->to_network;
    ports->from_network = &side->to_slice;
    ports->to_network = &side->from_slice;
}

void bridges_connect_copies(struct bridges *bridges, unsigned slice, struct slice_ports *ports) {
    struct side *side = side_of(bridges, slice);
    *ports = (struct slice_ports){.from_network = &side->to_copies,
                                  .to_network = &side->from_copies,
                                  .from_memory = &side->home_to_copies,
                                  .to_memory = &side->copies_to_home};
}
