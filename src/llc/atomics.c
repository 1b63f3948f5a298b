#include "llc/atomics.h"

#include <stdlib.h>

#include "cache/geometry.h"
#include "dram/dram_config.h"
#include "llc/organisation.h"
#include "sim/gpu_config.h"

static const struct param params[] = {
    P_INT(struct atomics_config, size_kb, 16, 1, 65536, "KB", "capacity of the atomics' LLC per controller (assumed)"),
    P_INT(struct atomics_config, ways, 16, 1, 32768, "lines", "associativity, with LRU replacement (assumed)"),
    P_INT(struct atomics_config, latency_cycles, 20, 1, 900, "cycles",
          "latency from an atomic's arrival to its lookup (assumed)"),
    P_INT(struct atomics_config, pass_cycles, 4, 1, 100, "cycles",
          "latency between a slice and the hub of its controller, each way (assumed)"),
};

unsigned atomics_slices(const struct config *config) {
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct dram_config *dram = config_get(config, &dram_section);
    const struct llc_organisation_ops *organisation = (const struct llc_organisation_ops *)llc->organisation;
    bool needed = organisation->private_atomics && organisation->private_atomics(config);
    return needed ? (unsigned)dram->mcs : 0;
}

static int64_t lines(const struct config *config) {
    const struct atomics_config *values = config_get(config, &atomics_section);
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    return values->size_kb * 1024 / gpu->line_bytes;
}

unsigned atomics_sets(const struct config *config) {
    const struct atomics_config *values = config_get(config, &atomics_section);
    return (unsigned)(lines(config) / values->ways);
}

static bool check(const struct config *config, struct error *err) {
    const struct atomics_config *values = config_get(config, &atomics_section);
    const struct llc_config *llc = config_get(config, &llc_section);
    enum { REQUESTERS = 64 }; /* that a controller distinguishes */
    if (!atomics_slices(config)) return true;
    if (llc->slices_per_mc >= REQUESTERS)
        return config_error(config, "llc.slices_per_mc", err,
                            "a controller with an atomics' LLC supports at most %d slices, not %lld", REQUESTERS - 1,
                            (long long)llc->slices_per_mc);
    struct cache_params params_ = {"atomics.size_kb", "atomics.ways", NULL, values->size_kb, values->ways, 0};
    return cache_check_size(config, &params_, err);
}

/* A line has its state, and a dirty bit per sector. */
static unsigned storage(const struct config *config, struct storage_item *items) {
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    enum { STATE_BITS = 2 };
    unsigned copies = atomics_slices(config);
    if (!copies) return 0;
    uint64_t bytes = (uint64_t)gpu->line_bytes;
    items[0] = (struct storage_item){"atomics' LLC: lines with tag and state", copies, (uint64_t)lines(config),
                                     8 * bytes + gpu_tag_bits(config, atomics_sets(config)) + STATE_BITS +
                                         bytes / SECTOR_BYTES};
    return 1;
}

const struct section atomics_section = {
    .path = "atomics",
    .help = "the LLC at each controller that performs atomics in private mode",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct atomics_config),
    .check = check,
    .storage = storage,
};

struct hub {
    struct engine *engine;
    unsigned component, slices;
    unsigned turn;           /* round-robin pointer */
    struct port *from, *to;  /* [slices] of the controller */
    struct port ask, answer; /* to and from the atomics' slice */
};

struct atomics {
    unsigned mcs, slices; /* per controller */
    struct hub *hub;      /* [mcs] */
};

/* Forwards the oldest message, which is visible, if there is a credit. */
static bool hand_on(struct port *from, struct port *to, uint64_t now) {
    if (!port_can_push(to, now)) {
        port_await_credit(to, now);
        return false;
    }
    port_push(to, now, port_take(from, now), sizeof(struct message));
    return true;
}

static bool ask_once(struct hub *hub, uint64_t now) {
    for (unsigned i = 0; i < hub->slices; i++) {
        unsigned slice = (hub->turn + i) % hub->slices;
        if (port_next_visible(&hub->from[slice]) > now) continue;
        if (!hand_on(&hub->from[slice], &hub->ask, now)) return false;
        hub->turn = (slice + 1) % hub->slices;
        return true;
    }
    return false;
}

static bool answer_once(struct hub *hub, uint64_t now) {
    const struct message *answer = port_peek(&hub->answer, now);
    return answer && hand_on(&hub->answer, &hub->to[answer->target % hub->slices], now);
}

static void hub_tick(void *self, uint64_t now) {
    struct hub *hub = self;
    bool asked = ask_once(hub, now), answered = answer_once(hub, now);
    if (asked || answered) engine_wake(hub->engine, hub->component, now + 1); /* for messages that may follow */
}

static const struct component_ops hub_ops = {.kind = "atomics' hub", .tick = hub_tick};

/* Deep enough for one message per cycle. */
static void connect(struct hub *hub, struct port *port, const char *name, bool towards, unsigned component,
                    unsigned latency_cycles) {
    port_init(port, hub->engine, name, towards ? hub->component : component, towards ? component : hub->component,
              2 * latency_cycles, latency_cycles);
}

static void hub_init(struct hub *hub, unsigned index, unsigned pass_cycles, const unsigned *slice,
                     unsigned atomics_slice) {
    char name[40];
    hub->component = engine_add(hub->engine, &hub_ops, hub, index);
    hub->from = mem_alloc(hub->slices, sizeof *hub->from);
    hub->to = mem_alloc(hub->slices, sizeof *hub->to);
    for (unsigned i = 0; i < hub->slices; i++) {
        snprintf(name, sizeof name, "slice %u to atomics' hub %u", i, index);
        connect(hub, &hub->from[i], name, false, slice[i], pass_cycles);
        snprintf(name, sizeof name, "atomics' hub %u to slice %u", index, i);
        connect(hub, &hub->to[i], name, true, slice[i], pass_cycles);
    }
    snprintf(name, sizeof name, "atomics' hub %u to its slice", index);
    connect(hub, &hub->ask, name, true, atomics_slice, 1);
    snprintf(name, sizeof name, "atomics' slice %u to its hub", index);
    connect(hub, &hub->answer, name, false, atomics_slice, 1);
}

struct atomics *atomics_create(const struct config *config, struct engine *engine, const unsigned *slice_component) {
    const struct atomics_config *values = config_get(config, &atomics_section);
    const struct llc_config *llc = config_get(config, &llc_section);
    unsigned mcs = atomics_slices(config), slices = (unsigned)llc->slices_per_mc;
    struct atomics *atomics = mem_alloc(1, sizeof *atomics);
    *atomics = (struct atomics){mcs, slices, mem_alloc(mcs, sizeof *atomics->hub)};
    for (unsigned mc = 0; mc < mcs; mc++) {
        atomics->hub[mc] = (struct hub){.engine = engine, .slices = slices};
        hub_init(&atomics->hub[mc], mc, (unsigned)values->pass_cycles, &slice_component[mc * slices],
                 slice_component[mcs * slices + mc]);
    }
    return atomics;
}

void atomics_destroy(struct atomics *atomics) {
    if (!atomics) return;
    for (struct hub *hub = atomics->hub; hub < atomics->hub + atomics->mcs; hub++) {
        for (unsigned i = 0; i < hub->slices; i++) {
            port_release(&hub->from[i]);
            port_release(&hub->to[i]);
        }
        port_release(&hub->ask);
        port_release(&hub->answer);
        free(hub->from);
        free(hub->to);
    }
    free(atomics->hub);
    free(atomics);
}

void atomics_connect(struct atomics *atomics, unsigned slice, struct slice_ports *ports) {
    if (slice < atomics->mcs * atomics->slices) {
        struct hub *hub = &atomics->hub[slice / atomics->slices];
        ports->to_atomics = &hub->from[slice % atomics->slices];
        ports->from_atomics = &hub->to[slice % atomics->slices];
    } else {
        struct hub *hub = &atomics->hub[slice - atomics->mcs * atomics->slices];
        ports->from_network = &hub->ask;
        ports->to_network = &hub->answer;
    }
}
