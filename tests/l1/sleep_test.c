/* L1s that sleep and L1s that are polled do the same.
 *
 * SMs make random accesses, a small memory answers them. In one run everything is ticked and every access with a reservation failure is
 * retried in every cycle. In the other one the contracts of struct l1_gate and of the engine are used: an SM runs only
 * when it is woken, ticks its L1 only if the gate is open or a reply is visible, and tries an access that has failed or
 * is foreseen to fail only if the gate has changed. Every acceptance, completion and request to the memory must be in the same cycle in both. */
#include "test.h"

#include <string.h>

#include "base/random.h"
#include "fixture.h"

enum { SMS = 4, ACCESSES = 400 /* per SM */, EVENTS = 16384, LINES = 20, PATIENCE = 15000 };

struct happening {
    uint64_t cycle;
    uint32_t who, what;
};

struct sleepers;

struct sleeper {
    struct sleepers *all;
    unsigned index, component;
    uint64_t random, next_at;
    struct l1_request request;
    unsigned made;
    bool refused;
    enum l1_outcome foreseen; /* failure of the access until the gate changes; 0: none */
    uint32_t refused_changes;
};

struct sleepers {
    struct fixture base;
    struct l1 *l1;
    bool polled;
    struct sleeper sm[SMS];
    unsigned memory, endpoints;
    struct port to_memory[SMS], from_memory[SMS], commands[SMS], reports[SMS];
    struct happening event[EVENTS];
    unsigned events, outstanding, foreseen;
};

static void happen(struct sleepers *all, uint64_t cycle, uint32_t who, uint32_t what) {
    REQUIRE(all->events < EVENTS);
    all->event[all->events++] = (struct happening){cycle, who, what};
}

static void think_of_access(struct sleeper *sm, uint64_t now) {
    uint64_t *random = &sm->random, kind = random_below(random, 20);
    sm->request = (struct l1_request){.address = random_below(random, LINES) * 128,
                                      .token = sm->made,
                                      .kind = kind < 15   ? MESSAGE_READ
                                              : kind < 19 ? MESSAGE_WRITE
                                                          : MESSAGE_ATOMIC,
                                      .sectors = (uint8_t)(1 + random_below(random, 15)),
                                      .conflicts = 1,
                                      .bypass = kind == 0,
                                      .warp = (uint8_t)random_below(random, 6)};
    if (sm->request.address / 128 % 8 == 7) sm->request.local = sm->request.kind != MESSAGE_ATOMIC;
    sm->next_at = now + 1 + (random_below(random, 4) ? 0 : random_below(random, 60));
    engine_wake(sm->all->base.engine, sm->component, sm->next_at);
}

static void sm_tick(void *self, uint64_t now) {
    struct sleeper *sm = self;
    struct sleepers *all = sm->all;
    const struct l1_gate *gate = &all->l1->gate[sm->index];
    uint32_t token[L1_COMPLETIONS];
    if (all->polled || !l1_idle(gate, now)) {
        unsigned completions = all->l1->ops->tick(all->l1, sm->index, now, token);
        for (unsigned i = 0; i < completions; i++) happen(all, now, sm->index, token[i]);
        all->outstanding -= completions;
    }
    if (sm->made == ACCESSES || now < sm->next_at) return;
    if (!all->polled && sm->refused && sm->refused_changes == gate->changes) return;
    enum l1_outcome outcome = all->l1->ops->access(all->l1, sm->index, &sm->request, now);
    if (sm->refused_changes != gate->changes) sm->foreseen = 0;
    if (sm->foreseen) CHECK_EQ(outcome, sm->foreseen);
    sm->refused = outcome > L1_ACCEPTED;
    sm->refused_changes = gate->changes;
    if (sm->refused) return;
    happen(all, now, 100 + sm->index, outcome);
    all->outstanding += outcome != L1_HIT;
    if (++sm->made == ACCESSES) return;
    think_of_access(sm, now);
    if (sm->next_at != now + 1 || !all->l1->ops->foresee) return;
    sm->foreseen = all->l1->ops->foresee(all->l1, sm->index, &sm->request);
    sm->refused = sm->foreseen;
    sm->refused_changes = gate->changes;
    all->foreseen += sm->refused;
}

/* Takes a request from each port in every third cycle or, in every other thousand cycles, all in every twelfth. */
static void memory_tick(void *self, uint64_t now) {
    struct sleepers *all = self;
    bool more = false;
    for (unsigned i = 0; i < all->endpoints; i++) {
        struct port *in = &all->to_memory[i];
        for (bool all_at_once = now / 1000 % 2; port_peek(in, now) && now % (all_at_once ? 12 : 3) == 0;) {
            struct message message = *(const struct message *)port_take(in, now);
            happen(all, now, 200 + i, (uint32_t)message.address | message.kind);
            message.kind = message.kind == MESSAGE_WRITE ? MESSAGE_ACK : MESSAGE_DATA;
            port_push_late(&all->from_memory[i], now, 10 + message.address / 128 % 7 * 5, &message, sizeof message);
            if (!all_at_once) break;
        }
        more |= port_peek(in, now) != NULL;
    }
    if (more) engine_wake(all->base.engine, all->memory, now + 1);
}

static void connect(struct sleepers *all, unsigned i) {
    struct engine *engine = all->base.engine;
    unsigned component = all->l1->ops->endpoint_component(all->l1, i);
    port_init(&all->to_memory[i], engine, "to memory", component, all->memory, 2, 1);
    port_init(&all->from_memory[i], engine, "from memory", all->memory, component, 1024, 1);
    port_init(&all->commands[i], engine, "commands", all->memory, component, 2, 1);
    port_init(&all->reports[i], engine, "reports", component, all->memory, 2, 1);
    all->l1->ops->connect(all->l1, i, &(struct l1_ports){&all->to_memory[i], &all->from_memory[i], NULL});
    if (all->l1->ops->connect_control) all->l1->ops->connect_control(all->l1, i, &all->commands[i], &all->reports[i]);
}

static struct sleepers *sleepers_run(const char *const *settings, bool polled) {
    static const struct component_ops sm_ops = {.kind = "SM", .tick = sm_tick},
                                      memory_ops = {.kind = "memory", .tick = memory_tick};
    struct sleepers *all = mem_alloc(1, sizeof *all);
    unsigned component[SMS];
    fixture_init(&all->base,
                 SETTINGS("sm.count=4", "gpu.clusters=2", "llc.slices_per_mc=1", "dram.mcs=1", "dram.mapping=linear",
                          "noc.topology=full", "l1.size_kb=1", "l1.ways=2"),
                 settings);
    all->polled = all->base.engine->poll = polled;
    for (unsigned i = 0; i < SMS; i++) {
        component[i] = engine_add(all->base.engine, &sm_ops, &all->sm[i], i);
        all->sm[i] = (struct sleeper){.all = all, .index = i, .component = component[i], .random = i + 1};
        think_of_access(&all->sm[i], 0);
    }
    all->memory = engine_add(all->base.engine, &memory_ops, all, 0);
    all->l1 = fixture_create_l1(&all->base, (struct l1_context){.sms = SMS, .clusters = 2, .sm_component = component});
    all->endpoints = all->l1->ops->endpoints(all->l1);
    for (unsigned i = 0; i < all->endpoints; i++) connect(all, i);
    engine_run_until(all->base.engine, PATIENCE);
    CHECK_EQ(all->outstanding, 0u);
    for (unsigned i = 0; i < SMS; i++) CHECK_EQ(all->sm[i].made, (unsigned)ACCESSES);
    return all;
}

static void sleepers_destroy(struct sleepers *all) {
    all->l1->ops->destroy(all->l1);
    for (unsigned i = 0; i < all->endpoints; i++) {
        port_release(&all->to_memory[i]);
        port_release(&all->from_memory[i]);
        port_release(&all->commands[i]);
        port_release(&all->reports[i]);
    }
    fixture_release(&all->base);
    free(all);
}

static int by_time(const void *a, const void *b) { return memcmp(a, b, sizeof(struct happening)); }

/* Returns the number of foreseen failures. */
static unsigned compare(const char *const *settings) {
    struct sleepers *polled = sleepers_run(settings, true), *sleeping = sleepers_run(settings, false);
    CHECK_EQ(sleeping->events, polled->events);
    qsort(polled->event, polled->events, sizeof polled->event[0], by_time);
    qsort(sleeping->event, sleeping->events, sizeof sleeping->event[0], by_time);
    CHECK(memcmp(polled->event, sleeping->event, sizeof polled->event) == 0);
    for (unsigned i = 0; i < stats_count(polled->base.stats); i++) {
        char name[96];
        stats_name(polled->base.stats, i, name, sizeof name);
        if (!CHECK_EQ(stats_total(sleeping->base.stats, i), stats_total(polled->base.stats, i)))
            printf("    %s\n", name);
    }
    unsigned foreseen = sleeping->foreseen;
    CHECK_EQ(foreseen, polled->foreseen);
    sleepers_destroy(polled);
    sleepers_destroy(sleeping);
    return foreseen;
}

#define TIGHT "l1.mshrs=2", "l1.mshr_merges=2", "l1.miss_queue=1"

TEST("private L1s that sleep do what polled ones do, also where packets may overtake each other") {
    CHECK(compare(NO_SETTINGS) > 0);
    CHECK(compare(SETTINGS(TIGHT)) > 0);
    CHECK(compare(SETTINGS(TIGHT, "noc.vcs=4")) > 0);
    CHECK(compare(SETTINGS("noc.vcs=4", "l1.miss_queue=16")) > 0);
    CHECK(compare(SETTINGS("l1.mshrs=2", "l1.mshr_merges=1", "l1.miss_queue=8")) > 0);
    CHECK(compare(SETTINGS("l1.mshrs=16", "l1.ways=1", "l1.miss_queue=4")) > 0);
    CHECK(compare(SETTINGS(TIGHT, "l1.bypass_queue=1")) > 0);
    CHECK(compare(SETTINGS(TIGHT, "l1.miss_queue=2", "l1.write_back_slot=true")) > 0);
    CHECK(compare(SETTINGS("l1.mshrs=2", "l1.mshr_merges=2", "l1.miss_queue=3", "l1.write_back_slot=true")) > 0);
    CHECK(compare(SETTINGS(TIGHT, "l1.bypass_queue=2", "noc.vcs=4")) > 0);
}

TEST("L1s with insertion policies that sleep do what polled ones do") {
    compare(SETTINGS(TIGHT, "l1.insertion=decoupled", "l1.decoupled.dueling=false"));
    compare(SETTINGS(TIGHT, "l1.insertion=pdp", "l1.pdp.distance=3"));
    compare(SETTINGS(TIGHT, "l1.insertion=pdp", "l1.pdp.distance=3", "l1.bypass_queue=1"));
    compare(SETTINGS(TIGHT, "l1.insertion=mrpb", "l1.mrpb.queues=2", "l1.mrpb.entries=2", "l1.bypass_queue=2"));
    compare(SETTINGS(TIGHT, "l1.insertion=mrpb", "l1.mrpb.queues=2", "l1.mrpb.entries=2"));
    compare(SETTINGS("l1.insertion=mrpb", "l1.mrpb.bypass_line=false", "l1.mrpb.bypass_mshr=false", "l1.mshrs=2"));
}

TEST("clustered L1s that sleep do what polled ones do") {
    compare(SETTINGS("l1.organisation=clustered", TIGHT));
    compare(SETTINGS("l1.organisation=clustered", "group.nodes=1", "group.reply_queue=1", "group.request_queue=1",
                     "group.injection_packets=1", "l1.mshrs=4"));
    compare(SETTINGS("l1.organisation=clustered", "l1.insertion=mrpb", "group.nodes=1", "group.reply_queue=1",
                     "l1.size_kb=4", "group.channel_bytes=8"));
}

TEST("cooperating L1s that sleep do what polled ones do") {
    compare(SETTINGS("l1.organisation=icc-agc", "group.nodes=1"));
    compare(SETTINGS("l1.organisation=icc-agc", "group.count=4", "l1.icc-agc.queue=1", TIGHT));
    compare(SETTINGS("l1.organisation=icc-mgc", "group.count=4", "l1.icc-mgc.sampled=4", "l1.icc-mgc.executed=8"));
    compare(SETTINGS("l1.organisation=icc-mgc", "group.count=4", "l1.icc-mgc.sampled=0", "l1.icc-mgc.queue=1", TIGHT));
}
