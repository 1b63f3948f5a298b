/* A shadow memory beside real slices and a real memory controller: every line carries a version, every write makes a
 * new one, and what happens to the copies in the slices is followed through their observers. Random reads, writes and
 * atomics of several clusters, and, whenever the machine is quiet, a kernel boundary or a switch between a shared and a
 * private LLC. Two programs have every other line each, and one's boundaries and switches come while the other goes on.
 * While private, atomics are passed on to the atomics' LLC.
 *
 * What must hold: a copy that is dropped is in memory (no modified line is lost); a cluster always sees its own earlier
 * writes; in a shared LLC everybody sees the last write, and in every LLC so does an atomic; after a boundary or a switch memory
 * has the last version of every line, or the one slice that may still hold it does. */
#include <stdlib.h>

#include "base/random.h"
#include "dram/dram.h"
#include "llc/atomics.h"
#include "llc/llc.h"
#include "llc/organisation.h"
#include "llc/route.h"
#include "sim/gpu_config.h"
#include "test.h"

enum {
    SLICES = 8,
    ATOMICS = SLICES,
    ALL_SLICES,
    CLUSTERS = 8,
    LINES = 200,
    ROUNDS = 40,
    REQUESTS = 300,
    IN_FLIGHT = 48
};

struct shadow {
    struct config *config;
    struct engine *engine;
    struct stats *stats;
    struct address_map *map;
    struct llc_organisation *organisation;
    struct dram *dram;
    struct slice *slice[ALL_SLICES];
    struct atomics *atomics;
    unsigned slices; /* the last of them that of the atomics' LLC, if there is one */
    struct port to_slice[SLICES], from_slice[SLICES], commands[ALL_SLICES], reports[ALL_SLICES];
    unsigned driver, programs;
    bool private[PROGRAMS_MAX];
    bool pauses[PROGRAMS_MAX]; /* sends nothing */
    bool promises;             /* in each round some lines are only read, and reads of them say so */
    unsigned round;
    bool steered, cleaning; /* by `steer` */
    unsigned cleanings;
    uint64_t ask_at;
    uint64_t random;
    unsigned to_send, in_flight, flushing;

    uint32_t latest[LINES], memory[LINES];
    uint32_t copy[ALL_SLICES][LINES], fetched[ALL_SLICES][LINES];
    bool held[ALL_SLICES][LINES];
    uint32_t own[CLUSTERS][LINES]; /* the last version that the cluster itself wrote */
    unsigned lost, stale, own_unseen, reads;
    unsigned atomics_stale,
        atomics_elsewhere; /* that did not see the last write; of a private LLC, not performed in the atomics' */
};

static unsigned line_of(uint64_t key) { return (unsigned)((key & low_mask(56)) % LINES); }
static uint8_t program_of(const struct shadow *shadow, unsigned line) { return (uint8_t)(line % shadow->programs); }

static void observe(void *user, unsigned slice, enum slice_event event, uint64_t key, const struct message *message,
                    uint64_t now) {
    struct shadow *shadow = user;
    unsigned line = line_of(key);
    uint32_t *copy = &shadow->copy[slice][line];
    (void)now;
    switch (event) {
    case SLICE_FETCH: shadow->fetched[slice][line] = shadow->memory[line]; break;
    case SLICE_FILL: /* writes that came while it was on its way are already in `copy` */
        *copy = shadow->fetched[slice][line] > *copy ? shadow->fetched[slice][line] : *copy;
        shadow->held[slice][line] = true;
        break;
    case SLICE_WRITE:
        if (message->kind == MESSAGE_ATOMIC) {
            shadow->atomics_stale += *copy != shadow->latest[line];
            shadow->atomics_elsewhere += shadow->private[program_of(shadow, line)] && slice != ATOMICS;
        }
        shadow->held[slice][line] = true;
        *copy = ++shadow->latest[line];
        shadow->own[message->source][line] = *copy;
        break;
    case SLICE_THROUGH:
        if (!shadow->held[slice][line] || shadow->own[message->source][line] < shadow->latest[line]) {
            shadow->latest[line]++;
            shadow->own[message->source][line] = shadow->latest[line];
        }
        shadow->memory[line] = shadow->latest[line];
        break;
    case SLICE_READ:
        shadow->reads++;
        if (*copy < shadow->own[message->source][line] && message->kind == MESSAGE_READ) shadow->own_unseen++;
        if (!shadow->private[program_of(shadow, line)] && *copy != shadow->latest[line]) shadow->stale++;
        break;
    case SLICE_TO_MEMORY:
        if (*copy > shadow->memory[line]) shadow->memory[line] = *copy;
        break;
    case SLICE_DROP:
        if (*copy > shadow->memory[line]) shadow->lost++;
        shadow->held[slice][line] = false;
        *copy = 0;
        break;
    }
}

static unsigned home_of(const struct shadow *shadow, const struct message *message) {
    struct location location;
    address_map_locate(shadow->map, message_place_in_memory(message), &location);
    return location.slice;
}

static void send(struct shadow *shadow, uint64_t now) {
    unsigned cluster = (unsigned)random_below(&shadow->random, CLUSTERS),
             line = (unsigned)random_below(&shadow->random, LINES);
    unsigned draw = (unsigned)random_below(&shadow->random, 10);
    struct message message = {
        .address = (uint64_t)line * 128,
        .source = (uint16_t)cluster,
        .kind = draw < 6   ? MESSAGE_READ
                : draw < 9 ? MESSAGE_WRITE
                           : MESSAGE_ATOMIC,
        .sectors = draw == 7 ? 0xF : 1,
        .conflicts = 2,
        .program = program_of(shadow, line),
    };
    bool private = shadow->private[message.program];
    if (shadow->pauses[message.program]) return;
    /* Atomics have lines of their own: mixing them with other clusters' private copies is a race in the program. */
    if (private && (message.kind == MESSAGE_ATOMIC) != (line / 2 % 4 == 0)) return;
    if (shadow->promises && (line + shadow->round) % 3 == 0) {
        if (message.kind != MESSAGE_READ) return;
        message.flags = MESSAGE_READ_ONLY;
    }
    /* Which also says where in the slice's memory it is. */
    unsigned target = route(shadow->organisation, &message, cluster, now);
    unsigned slice = shadow->promises ? target : private ? cluster : home_of(shadow, &message);
    message.target = (uint16_t)slice;
    if (!port_can_push(&shadow->to_slice[slice], now)) return;
    port_push(&shadow->to_slice[slice], now, &message, sizeof message);
    shadow->to_send--;
    shadow->in_flight++;
}

static void order_all(struct shadow *shadow, struct slice_command order) {
    for (unsigned i = 0; i < shadow->slices; i++)
        port_push(&shadow->commands[i], shadow->engine->now, &order, sizeof order);
    shadow->flushing = shadow->slices;
}

static void steer(struct shadow *shadow, enum llc_occasion occasion, uint64_t now);

static void driver_tick(void *self, uint64_t now) {
    struct shadow *shadow = self;
    for (unsigned i = 0; i < shadow->slices; i++) {
        if (i < SLICES && port_peek(&shadow->from_slice[i], now)) {
            port_pop(&shadow->from_slice[i], now);
            shadow->in_flight--;
        }
        while (port_peek(&shadow->reports[i], now)) {
            port_pop(&shadow->reports[i], now);
            if (--shadow->flushing == 0 && shadow->cleaning) {
                shadow->cleaning = false;
                shadow->organisation->mode.replicas = true;
                steer(shadow, LLC_RECONFIGURED, now);
            }
        }
    }
    if (shadow->steered && shadow->to_send && now >= shadow->ask_at) steer(shadow, LLC_TIMER, now);
    if (shadow->to_send && shadow->in_flight < IN_FLIGHT) send(shadow, now);
    if (shadow->to_send || shadow->in_flight || shadow->flushing) engine_wake(shadow->engine, shadow->driver, now + 1);
}

static const struct component_ops driver_ops = {"driver", driver_tick, NULL, NULL, NULL};

/* Of two sets, so that lines are replaced. */
#define SMALL_ATOMICS "atomics.size_kb=1", "atomics.ways=4"

static struct shadow *make(bool private, const char *const *settings, unsigned count) {
    struct shadow *shadow = calloc(1, sizeof *shadow);
    struct error err = {0};
    shadow->config = config_create(config_sections, config_section_count);
    bool ok =
        config_set(shadow->config, "dram.mcs=1", &err) && config_set(shadow->config, "dram.mapping=linear", &err) &&
        config_set(shadow->config, "gpu.clusters=8", &err) && config_set(shadow->config, "llc.slices_per_mc=8", &err) &&
        config_set(shadow->config, "llc.slice_kb=1", &err) && config_set(shadow->config, "llc.ways=4", &err) &&
        config_set(shadow->config, private ? "llc.organisation=private" : "llc.organisation=shared", &err);
    for (unsigned i = 0; i < count; i++) ok = ok && config_set(shadow->config, settings[i], &err);
    ok = ok && config_check(shadow->config, &err);
    CHECK_EQ(err.text, "");
    REQUIRE(ok);
    for (unsigned i = 0; i < PROGRAMS_MAX; i++) shadow->private[i] = private;
    shadow->programs = 1;
    shadow->random = 2019;
    shadow->engine = engine_create();
    shadow->stats = stats_create();
    shadow->map = address_map_create(shadow->config, &err);
    REQUIRE(shadow->map);
    struct llc_context llc_context = {shadow->config, shadow->map, shadow->stats, NULL};
    shadow->organisation = llc_organisation_create(&llc_context, &err);
    shadow->driver = engine_add(shadow->engine, &driver_ops, shadow, 0);
    unsigned component[ALL_SLICES];
    shadow->slices = SLICES + atomics_slices(shadow->config);
    for (unsigned i = 0; i < shadow->slices; i++) {
        shadow->slice[i] = (i < SLICES ? slice_create : slice_create_for_atomics)(shadow->config, shadow->organisation,
                                                                                  shadow->engine, shadow->stats, i);
        component[i] = slice_component(shadow->slice[i]);
        slice_observe(shadow->slice[i], observe, shadow);
    }
    shadow->dram = dram_create(shadow->config, shadow->map, component, shadow->slices, shadow->engine,
                               gpu_core_khz(shadow->config), shadow->stats, &err);
    REQUIRE(shadow->dram);
    if (shadow->slices > SLICES) shadow->atomics = atomics_create(shadow->config, shadow->engine, component);
    for (unsigned i = 0; i < shadow->slices; i++) {
        struct slice_ports ports = {.from_memory = dram_output(shadow->dram, i),
                                    .to_memory = dram_input(shadow->dram, i),
                                    .commands = &shadow->commands[i],
                                    .reports = &shadow->reports[i]};
        if (i < SLICES) {
            ports.from_network = &shadow->to_slice[i];
            ports.to_network = &shadow->from_slice[i];
            port_init(ports.from_network, shadow->engine, "to slice", shadow->driver, component[i], 4, 1);
            port_init(ports.to_network, shadow->engine, "from slice", component[i], shadow->driver, 4, 1);
        }
        port_init(&shadow->commands[i], shadow->engine, "commands", shadow->driver, component[i], 2, 1);
        port_init(&shadow->reports[i], shadow->engine, "reports", component[i], shadow->driver, 2, 1);
        if (shadow->atomics) atomics_connect(shadow->atomics, i, &ports);
        slice_connect(shadow->slice[i], &ports, 4);
    }
    return shadow;
}

static void destroy(struct shadow *shadow) {
    for (unsigned i = 0; i < shadow->slices; i++) {
        slice_destroy(shadow->slice[i]);
        port_release(&shadow->commands[i]);
        port_release(&shadow->reports[i]);
    }
    for (unsigned i = 0; i < SLICES; i++) {
        port_release(&shadow->to_slice[i]);
        port_release(&shadow->from_slice[i]);
    }
    atomics_destroy(shadow->atomics);
    dram_destroy(shadow->dram);
    shadow->organisation->ops->destroy(shadow->organisation);
    address_map_destroy(shadow->map);
    stats_destroy(shadow->stats);
    engine_destroy(shadow->engine);
    config_destroy(shadow->config);
    free(shadow);
}

/* Runs until nothing is in flight; false if that does not happen. */
static bool settle(struct shadow *shadow) {
    char text[120];
    engine_wake(shadow->engine, shadow->driver, shadow->engine->now);
    for (unsigned i = 0; i < 2000; i++) {
        engine_run_until(shadow->engine, shadow->engine->now + 256);
        if (!shadow->to_send && !shadow->in_flight && !shadow->flushing &&
            !engine_in_flight(shadow->engine, text, sizeof text))
            return true;
    }
    return false;
}

static bool traffic(struct shadow *shadow) {
    shadow->to_send = REQUESTS;
    return settle(shadow);
}

static bool flush(struct shadow *shadow, struct slice_command order) {
    order_all(shadow, order);
    return settle(shadow);
}

/* Lines of which memory does not have the last version. */
static unsigned behind(const struct shadow *shadow) {
    unsigned lines = 0;
    for (unsigned line = 0; line < LINES; line++) lines += shadow->memory[line] != shadow->latest[line];
    return lines;
}

static void check_books(const struct shadow *shadow) {
    CHECK(shadow->reads > ROUNDS * REQUESTS / 4);
    CHECK_EQ(shadow->lost, 0u);
    CHECK_EQ(shadow->stale, 0u);
    CHECK_EQ(shadow->own_unseen, 0u);
    CHECK_EQ(shadow->atomics_stale, 0u);
    CHECK_EQ(shadow->atomics_elsewhere, 0u);
}

/* Traffic, and flushes now and then, after each of which memory has all that was written. */
static void check_write_back(struct shadow *shadow) {
    for (unsigned round = 0; round < ROUNDS; round++) {
        REQUIRE(traffic(shadow));
        if (round % 3 == 2) {
            REQUIRE(flush(shadow, (struct slice_command){.keep_lines = round % 2}));
            CHECK_EQ(behind(shadow), 0u);
        }
    }
    check_books(shadow);
}

TEST("a shared LLC loses no write and everybody reads the last one, flushed or not") {
    struct shadow *shadow = make(false, NULL, 0);
    check_write_back(shadow);
    CHECK(stats_get(shadow->stats, "llc.write_backs", NULL) > 0);
    destroy(shadow);
}

TEST("nor does one in which writes that miss go on to memory and fetch their line") {
    static const char *const settings[] = {"llc.write_allocate=through"};
    struct shadow *shadow = make(false, settings, 1);
    check_write_back(shadow);
    CHECK(stats_get(shadow->stats, "llc.writes_through", NULL) > 0);
    CHECK(stats_get(shadow->stats, "llc.write_backs", NULL) > 0);
    destroy(shadow);
}

TEST(
    "after a kernel boundary a private LLC has written everything, and within a kernel a cluster sees its own writes") {
    static const char *const settings[] = {SMALL_ATOMICS};
    struct shadow *shadow = make(true, settings, 2);
    for (unsigned round = 0; round < ROUNDS; round++) {
        REQUIRE(traffic(shadow));
        REQUIRE(flush(shadow, (struct slice_command){.write_through = true}));
        CHECK_EQ(behind(shadow), 0u);
    }
    check_books(shadow);
    CHECK(stats_get(shadow->stats, "llc.writes_through", NULL) > 0);
    CHECK(stats_get(shadow->stats, "atomics.evictions", NULL) > 0);
    CHECK_EQ(stats_get(shadow->stats, "atomics.flushes", NULL), (uint64_t)ROUNDS);
    destroy(shadow);
}

TEST(
    "atomics of all clusters on a word see each other in a private LLC, which they would not in the clusters' own slices") {
    for (unsigned apart = 0; apart < 2; apart++) {
        struct shadow *shadow = make(true, NULL, 0);
        for (unsigned i = 0; apart && i < SLICES; i++) {
            struct slice_ports ports = {.from_network = &shadow->to_slice[i],
                                        .to_network = &shadow->from_slice[i],
                                        .from_memory = dram_output(shadow->dram, i),
                                        .to_memory = dram_input(shadow->dram, i),
                                        .commands = &shadow->commands[i],
                                        .reports = &shadow->reports[i]};
            slice_connect(shadow->slice[i], &ports, 4);
        }
        for (unsigned round = 0; round < ROUNDS; round++) REQUIRE(traffic(shadow));
        CHECK_EQ(shadow->atomics_stale > 0, apart);
        CHECK_EQ(shadow->atomics_elsewhere > 0, apart);
        destroy(shadow);
    }
}

/* So that some are still there when their line is only read again, three rounds later. */
#define ROOM_FOR_REPLICAS "llc.slice_kb=4"

/* Kernels in each of which a third of the lines, others every time, is only read and may have replicas. */
static void check_replicas(struct shadow *shadow, struct slice_command at_end) {
    shadow->promises = true;
    for (shadow->round = 0; shadow->round < ROUNDS; shadow->round++) {
        REQUIRE(traffic(shadow));
        REQUIRE(flush(shadow, at_end));
        CHECK_EQ(behind(shadow), 0u);
    }
}

TEST("a line that was written in one kernel is never read stale from a replica in the next, whatever the degree") {
    static const char *const degrees[] = {"llc.static.degree=2", "llc.static.degree=4", "llc.static.degree=8"};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned whole = 0; whole < 2; whole++) {
            const char *const settings[] = {"llc.organisation=static", degrees[i], ROOM_FOR_REPLICAS};
            struct shadow *shadow = make(false, settings, 3);
            check_replicas(shadow, (struct slice_command){.keep_home = !whole});
            check_books(shadow);
            CHECK_EQ(stats_get(shadow->stats, "llc.writes_through", NULL), 0u); /* they stay at home */
            CHECK_EQ(stats_get(shadow->stats, "llc.replicas_invalidated", NULL) > 0, !whole);
            destroy(shadow);
        }
}

TEST("nor is it when each kernel has a degree of its own, and some none") {
    const char *const settings[] = {"llc.organisation=static", "llc.static.by_kernel=[1, 8, 4, 1, 1, 2, 1, 8, 1, 4]",
                                    ROOM_FOR_REPLICAS};
    for (unsigned careless = 0; careless < 2; careless++) {
        struct shadow *shadow = make(false, settings, 3);
        struct llc_organisation *llc = shadow->organisation;
        shadow->promises = true;
        for (shadow->round = 0; shadow->round < ROUNDS; shadow->round++) {
            REQUIRE(traffic(shadow));
            bool replicas = llc->mode.replicas;
            uint64_t again;
            llc->mode = llc->ops->control->decide(llc, LLC_KERNEL_ENDS, shadow->engine->now, &again);
            if (!replicas && (!llc->mode.replicas || careless)) continue;
            REQUIRE(flush(shadow, (struct slice_command){.keep_lines = !replicas, .keep_home = replicas}));
            CHECK_EQ(behind(shadow), 0u);
        }
        if (!careless) check_books(shadow);
        CHECK_EQ(shadow->stale > 0, careless); /* if what is modified were not written before there are copies */
        destroy(shadow);
    }
}

/* Plays the control plane to selective replication: what is ordered for an epoch is taken up at its end, once slices have written
 * modified lines to memory. */
static void steer(struct shadow *shadow, enum llc_occasion occasion, uint64_t now) {
    struct llc_organisation *llc = shadow->organisation;
    CHECK(llc->ops->degrees->set(llc, random_below(&shadow->random, 3) ? 1 : 1u << random_below(&shadow->random, 4)));
    struct llc_mode wanted = llc->ops->control->decide(llc, occasion, now, &shadow->ask_at);
    if (occasion == LLC_KERNEL_ENDS) llc->mode = wanted;
    if (!wanted.replicas || llc->mode.replicas || shadow->flushing) return;
    shadow->cleanings++;
    shadow->cleaning = true;
    order_all(shadow, (struct slice_command){.keep_lines = true, .background = true});
}

TEST("nor is it when the degree changes every few hundred cycles, with nothing stopped for that") {
    const char *const settings[] = {"llc.organisation=selrep", "llc.selrep.epoch_cycles=400",
                                    "llc.selrep.router_cycles=20", ROOM_FOR_REPLICAS};
    struct shadow *shadow = make(false, settings, 4);
    shadow->promises = shadow->steered = true;
    unsigned flushes = 0;
    for (shadow->round = 0; shadow->round < 3 * ROUNDS; shadow->round++) {
        shadow->ask_at = 0;
        REQUIRE(traffic(shadow));
        bool replicas = shadow->organisation->mode.replicas;
        steer(shadow, LLC_KERNEL_ENDS, shadow->engine->now);
        if (replicas) REQUIRE(flush(shadow, (struct slice_command){.keep_home = true}));
        if (replicas) CHECK_EQ(behind(shadow), 0u);
        flushes += replicas;
    }
    check_books(shadow);
    CHECK(flushes > 10 && flushes < 3 * ROUNDS - 10);
    CHECK(shadow->cleanings > 5);
    destroy(shadow);
}

TEST("and would be if replicas were not forgotten") {
    const char *const settings[] = {"llc.organisation=static", "llc.static.degree=4", ROOM_FOR_REPLICAS};
    struct shadow *shadow = make(false, settings, 3);
    check_replicas(shadow, (struct slice_command){.keep_lines = true});
    CHECK(shadow->stale > 0);
    destroy(shadow);
}

/* Shared, and made so that it can be private: adaptive, whose decisions are not asked. */
static struct shadow *make_both(void) {
    static const char *const settings[] = {"llc.organisation=adaptive", "llc.adaptive.atomics=true",
                                           "llc.adaptive.power_gating=false", SMALL_ATOMICS};
    return make(false, settings, sizeof settings / sizeof settings[0]);
}

TEST("switching between shared and private loses no modified line, nor what atomics have modified in their own LLC") {
    struct shadow *shadow = make_both();
    for (unsigned round = 0; round < ROUNDS; round++) {
        REQUIRE(traffic(shadow));
        bool private = !shadow->private[0];
        /* To private: modified lines are written back and stay; to shared: all copies go. */
        REQUIRE(flush(shadow, (struct slice_command){.keep_lines = private, .write_through = private}));
        CHECK_EQ(behind(shadow), 0u);
        shadow->private[0] = private;
    }
    check_books(shadow);
    CHECK(stats_get(shadow->stats, "llc.atomic_hits", NULL) > 0);
    CHECK(stats_get(shadow->stats, "atomics.atomic_hits", NULL) > 0);
    CHECK_EQ(stats_get(shadow->stats, "atomics.replies", NULL),
             stats_get(shadow->stats, "llc.atomics_forwarded", NULL));
    destroy(shadow);
}

/* Lines of the program that slices hold, and of these and others of it those of which memory is behind. */
static void count_lines(const struct shadow *shadow, unsigned program, unsigned *held, unsigned *old) {
    *held = *old = 0;
    for (unsigned line = program; line < LINES; line += 2) {
        *old += shadow->memory[line] != shadow->latest[line];
        for (unsigned slice = 0; slice < shadow->slices; slice++) *held += shadow->held[slice][line];
    }
}

TEST("one program's boundaries and switches lose no line, keep the other's lines, and go on while it goes on") {
    struct shadow *shadow = make_both();
    shadow->organisation->next_program = shadow->organisation; /* of which just the place of a line is asked */
    shadow->programs = 2;
    unsigned kept = 0, held, old;
    for (unsigned round = 0; round < ROUNDS; round++) {
        REQUIRE(traffic(shadow));
        unsigned program = round / 2 % 2;
        bool private = !shadow->private[program];
        struct slice_command order = {.keep_lines = private, .write_through = private, .program = (uint8_t)program};
        shadow->pauses[program] = true;
        shadow->to_send = REQUESTS; /* of the other one, meanwhile */
        REQUIRE(flush(shadow, order));
        shadow->pauses[program] = false;
        shadow->private[program] = private;
        count_lines(shadow, program, &held, &old);
        CHECK_EQ(old, 0u);
        CHECK_EQ(held > 0, private);
        count_lines(shadow, !program, &held, &old);
        CHECK(held > 0);
        kept += old;
    }
    CHECK(kept > 0); /* modified lines of the other one stay modified */
    check_books(shadow);
    shadow->organisation->next_program = NULL;
    destroy(shadow);
}

TEST(
    "with one MSHR, one waiter, one place in every queue and nothing set aside, no write is lost and everything ends") {
    static const char *const least[] = {"llc.mshrs=1",         "llc.mshr_merges=1",    "llc.reply_queue=1",
                                        "llc.replay_queue=0",  "atomics.size_kb=1",    "atomics.ways=8",
                                        "dram.port_entries=1", "atomics.pass_cycles=1"};
    for (unsigned private = 0; private < 2; private ++) {
        struct shadow *shadow = make(private, least, sizeof least / sizeof least[0]);
        for (unsigned round = 0; round < ROUNDS / 4; round++) {
            REQUIRE(traffic(shadow));
            REQUIRE(flush(shadow, (struct slice_command){.write_through = private}));
            CHECK_EQ(behind(shadow), 0u);
        }
        CHECK_EQ(shadow->lost, 0u);
        CHECK_EQ(shadow->stale, 0u);
        CHECK_EQ(shadow->own_unseen, 0u);
        CHECK_EQ(shadow->atomics_stale, 0u);
        destroy(shadow);
    }
}

TEST("a full list of waiters holds up neither hits nor other misses, unless nothing may be set aside") {
    uint64_t blocked[2];
    static const char *const settings[2][2] = {{"llc.mshr_merges=2", "llc.replay_queue=64"},
                                               {"llc.mshr_merges=2", "llc.replay_queue=0"}};
    for (unsigned i = 0; i < 2; i++) {
        struct shadow *shadow = make(false, settings[i], 2);
        for (unsigned round = 0; round < 10; round++) REQUIRE(traffic(shadow));
        engine_settle(shadow->engine, shadow->engine->now);
        blocked[i] = stats_get(shadow->stats, "llc.reservation_fail.mshr_merge", NULL);
        CHECK_EQ(stats_get(shadow->stats, "llc.replayed", NULL) > 0, i == 0);
        CHECK_EQ(shadow->stale, 0u);
        destroy(shadow);
    }
    CHECK_EQ(blocked[0], 0u);
    CHECK(blocked[1] > 0);
}
