/* A shadow memory next to real slices and a real memory controller: every line has a version, every write creates a new
 * one, and observers follow the lines in the slices. Random reads, writes and atomics of several clusters alternate with
 * kernel boundaries and reconfigurations between a shared and a private LLC. Lines alternate between two programs; one
 * program continues during boundaries and reconfigurations of the other. In private mode atomics are forwarded to the
 * LLC for atomics.
 *
 * Properties: an evicted or invalidated line is in memory (no modified line is lost); a cluster sees its own earlier
 * writes; in a shared LLC every read, and in every LLC every atomic, sees the last write; after a boundary or a
 * reconfiguration memory, or the one slice that may still hold a line, has its last version. */
#include <stdlib.h>

#include "base/random.h"
#include "dram/dram.h"
#include "fixture.h"
#include "llc/atomics.h"
#include "llc/llc.h"
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

struct llc_fixture {
    struct fixture base;
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
static uint8_t program_of(const struct llc_fixture *fixture, unsigned line) {
    return (uint8_t)(line % fixture->programs);
}

static void observe(void *user, unsigned slice, enum slice_event event, uint64_t key, const struct message *message,
                    uint64_t now) {
    struct llc_fixture *fixture = user;
    unsigned line = line_of(key);
    uint32_t *copy = &fixture->copy[slice][line];
    (void)now;
    switch (event) {
    case SLICE_FETCH: fixture->fetched[slice][line] = fixture->memory[line]; break;
    case SLICE_FILL: /* writes during the fetch are already in `copy` */
        *copy = fixture->fetched[slice][line] > *copy ? fixture->fetched[slice][line] : *copy;
        fixture->held[slice][line] = true;
        break;
    case SLICE_WRITE:
        if (message->kind == MESSAGE_ATOMIC) {
            fixture->atomics_stale += *copy != fixture->latest[line];
            fixture->atomics_elsewhere += fixture->private[program_of(fixture, line)] && slice != ATOMICS;
        }
        fixture->held[slice][line] = true;
        *copy = ++fixture->latest[line];
        fixture->own[message->source][line] = *copy;
        break;
    case SLICE_THROUGH:
        if (!fixture->held[slice][line] || fixture->own[message->source][line] < fixture->latest[line]) {
            fixture->latest[line]++;
            fixture->own[message->source][line] = fixture->latest[line];
        }
        fixture->memory[line] = fixture->latest[line];
        break;
    case SLICE_READ:
        fixture->reads++;
        if (*copy < fixture->own[message->source][line] && message->kind == MESSAGE_READ) fixture->own_unseen++;
        if (!fixture->private[program_of(fixture, line)] && *copy != fixture->latest[line]) fixture->stale++;
        break;
    case SLICE_TO_MEMORY:
        if (*copy > fixture->memory[line]) fixture->memory[line] = *copy;
        break;
    case SLICE_DROP:
        if (*copy > fixture->memory[line]) fixture->lost++;
        fixture->held[slice][line] = false;
        *copy = 0;
        break;
    }
}

static unsigned home_of(const struct llc_fixture *fixture, const struct message *message) {
    struct location location;
    address_map_locate(fixture->base.map, message_place_in_memory(message), &location);
    return location.slice;
}

static void send(struct llc_fixture *fixture, uint64_t now) {
    unsigned cluster = (unsigned)random_below(&fixture->random, CLUSTERS),
             line = (unsigned)random_below(&fixture->random, LINES);
    unsigned draw = (unsigned)random_below(&fixture->random, 10);
    struct message message = {
        .address = (uint64_t)line * 128,
        .source = (uint16_t)cluster,
        .kind = draw < 6   ? MESSAGE_READ
                : draw < 9 ? MESSAGE_WRITE
                           : MESSAGE_ATOMIC,
        .sectors = draw == 7 ? 0xF : 1,
        .conflicts = 2,
        .program = program_of(fixture, line),
    };
    bool private = fixture->private[message.program];
    if (fixture->pauses[message.program]) return;
    /* Atomics have separate lines: mixing them with other clusters' private replicas is a race in the program. */
    if (private && (message.kind == MESSAGE_ATOMIC) != (line / 2 % 4 == 0)) return;
    if (fixture->promises && (line + fixture->round) % 3 == 0) {
        if (message.kind != MESSAGE_READ) return;
        message.flags = MESSAGE_READ_ONLY;
    }
    /* Which also says where in the slice's memory it is. */
    unsigned target = route(fixture->base.llc, &message, cluster, now);
    unsigned slice = fixture->promises ? target : private ? cluster : home_of(fixture, &message);
    message.target = (uint16_t)slice;
    if (!port_can_push(&fixture->to_slice[slice], now)) return;
    port_push(&fixture->to_slice[slice], now, &message, sizeof message);
    fixture->to_send--;
    fixture->in_flight++;
}

static void command_all(struct llc_fixture *fixture, struct slice_command command) {
    for (unsigned i = 0; i < fixture->slices; i++)
        port_push(&fixture->commands[i], fixture->base.engine->now, &command, sizeof command);
    fixture->flushing = fixture->slices;
}

static void steer(struct llc_fixture *fixture, enum llc_occasion occasion, uint64_t now);

static void driver_tick(void *self, uint64_t now) {
    struct llc_fixture *fixture = self;
    for (unsigned i = 0; i < fixture->slices; i++) {
        if (i < SLICES && port_peek(&fixture->from_slice[i], now)) {
            port_pop(&fixture->from_slice[i], now);
            fixture->in_flight--;
        }
        while (port_peek(&fixture->reports[i], now)) {
            port_pop(&fixture->reports[i], now);
            if (--fixture->flushing == 0 && fixture->cleaning) {
                fixture->cleaning = false;
                fixture->base.llc->mode.replicas = true;
                steer(fixture, LLC_RECONFIGURED, now);
            }
        }
    }
    if (fixture->steered && fixture->to_send && now >= fixture->ask_at) steer(fixture, LLC_TIMER, now);
    if (fixture->to_send && fixture->in_flight < IN_FLIGHT) send(fixture, now);
    if (fixture->to_send || fixture->in_flight || fixture->flushing)
        engine_wake(fixture->base.engine, fixture->driver, now + 1);
}

static const struct component_ops driver_ops = {"driver", driver_tick, NULL, NULL, NULL};

/* Of two sets, so that lines are replaced. */
#define SMALL_ATOMICS "atomics.size_kb=1", "atomics.ways=4"

/* Of the slice, with no network at that of the atomics' LLC. */
static struct slice_ports ports_of(struct llc_fixture *fixture, unsigned slice) {
    return (struct slice_ports){.from_network = slice < SLICES ? &fixture->to_slice[slice] : NULL,
                                .to_network = slice < SLICES ? &fixture->from_slice[slice] : NULL,
                                .from_memory = dram_output(fixture->dram, slice),
                                .to_memory = dram_input(fixture->dram, slice),
                                .commands = &fixture->commands[slice],
                                .reports = &fixture->reports[slice]};
}

static struct llc_fixture *llc_fixture_create(bool private, const char *const *settings) {
    const char *const common[] = {"dram.mcs=1",
                                  "dram.mapping=linear",
                                  "gpu.clusters=8",
                                  "llc.slices_per_mc=8",
                                  "llc.slice_kb=1",
                                  "llc.ways=4",
                                  private ? "llc.organisation=private" : "llc.organisation=shared",
                                  NULL};
    struct llc_fixture *fixture = mem_alloc(1, sizeof *fixture);
    fixture_init(&fixture->base, common, settings);
    struct fixture *base = &fixture->base;
    struct error err = {0};
    for (unsigned i = 0; i < PROGRAMS_MAX; i++) fixture->private[i] = private;
    fixture->programs = 1;
    fixture->random = 2019;
    fixture->driver = engine_add(base->engine, &driver_ops, fixture, 0);
    unsigned component[ALL_SLICES];
    fixture->slices = SLICES + atomics_slices(base->config);
    for (unsigned i = 0; i < fixture->slices; i++) {
        fixture->slice[i] = (i < SLICES ? slice_create : slice_create_for_atomics)(base->config, base->llc,
                                                                                   base->engine, base->stats, i);
        component[i] = slice_component(fixture->slice[i]);
        slice_observe(fixture->slice[i], observe, fixture);
    }
    fixture->dram = dram_create(base->config, base->map, component, fixture->slices, base->engine,
                                gpu_core_khz(base->config), base->stats, &err);
    REQUIRE(fixture->dram);
    if (fixture->slices > SLICES) fixture->atomics = atomics_create(base->config, base->engine, component);
    for (unsigned i = 0; i < fixture->slices; i++) {
        struct slice_ports ports = ports_of(fixture, i);
        if (i < SLICES) {
            port_init(ports.from_network, base->engine, "to slice", fixture->driver, component[i], 4, 1);
            port_init(ports.to_network, base->engine, "from slice", component[i], fixture->driver, 4, 1);
        }
        port_init(&fixture->commands[i], base->engine, "commands", fixture->driver, component[i], 2, 1);
        port_init(&fixture->reports[i], base->engine, "reports", component[i], fixture->driver, 2, 1);
        if (fixture->atomics) atomics_connect(fixture->atomics, i, &ports);
        slice_connect(fixture->slice[i], &ports, 4);
    }
    return fixture;
}

static void llc_fixture_destroy(struct llc_fixture *fixture) {
    for (unsigned i = 0; i < fixture->slices; i++) {
        slice_destroy(fixture->slice[i]);
        port_release(&fixture->commands[i]);
        port_release(&fixture->reports[i]);
    }
    for (unsigned i = 0; i < SLICES; i++) {
        port_release(&fixture->to_slice[i]);
        port_release(&fixture->from_slice[i]);
    }
    atomics_destroy(fixture->atomics);
    dram_destroy(fixture->dram);
    fixture_release(&fixture->base);
    free(fixture);
}

/* Runs until nothing is in flight; false if that does not happen. */
static bool settle(struct llc_fixture *fixture) {
    char text[120];
    engine_wake(fixture->base.engine, fixture->driver, fixture->base.engine->now);
    for (unsigned i = 0; i < 2000; i++) {
        engine_run_until(fixture->base.engine, fixture->base.engine->now + 256);
        if (!fixture->to_send && !fixture->in_flight && !fixture->flushing &&
            !engine_in_flight(fixture->base.engine, text, sizeof text))
            return true;
    }
    return false;
}

static bool traffic(struct llc_fixture *fixture) {
    fixture->to_send = REQUESTS;
    return settle(fixture);
}

static bool flush(struct llc_fixture *fixture, struct slice_command command) {
    command_all(fixture, command);
    return settle(fixture);
}

/* Lines of which memory does not have the last version. */
static unsigned behind(const struct llc_fixture *fixture) {
    unsigned lines = 0;
    for (unsigned line = 0; line < LINES; line++) lines += fixture->memory[line] != fixture->latest[line];
    return lines;
}

static void check_books(const struct llc_fixture *fixture) {
    CHECK(fixture->reads > ROUNDS * REQUESTS / 4);
    CHECK_EQ(fixture->lost, 0u);
    CHECK_EQ(fixture->stale, 0u);
    CHECK_EQ(fixture->own_unseen, 0u);
    CHECK_EQ(fixture->atomics_stale, 0u);
    CHECK_EQ(fixture->atomics_elsewhere, 0u);
}

/* Traffic, and flushes now and then, after each of which memory has all that was written. */
static void check_write_back(struct llc_fixture *fixture) {
    for (unsigned round = 0; round < ROUNDS; round++) {
        REQUIRE(traffic(fixture));
        if (round % 3 == 2) {
            REQUIRE(flush(fixture, (struct slice_command){.keep_lines = round % 2}));
            CHECK_EQ(behind(fixture), 0u);
        }
    }
    check_books(fixture);
}

TEST("a shared LLC loses no write, and every read returns the last one, flushed or not") {
    struct llc_fixture *fixture = llc_fixture_create(false, NO_SETTINGS);
    check_write_back(fixture);
    CHECK(COUNTER(fixture, "llc.write_backs") > 0);
    llc_fixture_destroy(fixture);
}

TEST("a shared LLC in which write misses go through to memory and fetch their line loses no write") {
    struct llc_fixture *fixture = llc_fixture_create(false, SETTINGS("llc.write_allocate=through"));
    check_write_back(fixture);
    CHECK(COUNTER(fixture, "llc.writes_through") > 0);
    CHECK(COUNTER(fixture, "llc.write_backs") > 0);
    llc_fixture_destroy(fixture);
}

TEST("a private LLC has written back everything after a kernel, and within one a cluster sees its own writes") {
    struct llc_fixture *fixture = llc_fixture_create(true, SETTINGS(SMALL_ATOMICS));
    for (unsigned round = 0; round < ROUNDS; round++) {
        REQUIRE(traffic(fixture));
        REQUIRE(flush(fixture, (struct slice_command){.write_through = true}));
        CHECK_EQ(behind(fixture), 0u);
    }
    check_books(fixture);
    CHECK(COUNTER(fixture, "llc.writes_through") > 0);
    CHECK(COUNTER(fixture, "atomics.evictions") > 0);
    CHECK_EQ(COUNTER(fixture, "atomics.flushes"), (uint64_t)ROUNDS);
    llc_fixture_destroy(fixture);
}

TEST("atomics of all clusters on a word see each other in a private LLC, unlike in the clusters' own slices") {
    for (unsigned apart = 0; apart < 2; apart++) {
        struct llc_fixture *fixture = llc_fixture_create(true, NO_SETTINGS);
        for (unsigned i = 0; apart && i < SLICES; i++) {
            struct slice_ports ports = ports_of(fixture, i);
            slice_connect(fixture->slice[i], &ports, 4);
        }
        for (unsigned round = 0; round < ROUNDS; round++) REQUIRE(traffic(fixture));
        CHECK_EQ(fixture->atomics_stale > 0, apart);
        CHECK_EQ(fixture->atomics_elsewhere > 0, apart);
        llc_fixture_destroy(fixture);
    }
}

/* So that some are still there when their line is only read again, three rounds later. */
#define SPACE_FOR_REPLICAS "llc.slice_kb=4"

/* Kernels in each of which a third of the lines, others every time, is only read and may have replicas. */
static void check_replicas(struct llc_fixture *fixture, struct slice_command at_end) {
    fixture->promises = true;
    for (fixture->round = 0; fixture->round < ROUNDS; fixture->round++) {
        REQUIRE(traffic(fixture));
        REQUIRE(flush(fixture, at_end));
        CHECK_EQ(behind(fixture), 0u);
    }
}

TEST("no replica holds a stale version of a line that an earlier kernel wrote, at any degree") {
    static const char *const degrees[] = {"llc.static.degree=2", "llc.static.degree=4", "llc.static.degree=8"};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned whole = 0; whole < 2; whole++) {
            struct llc_fixture *fixture =
                llc_fixture_create(false, SETTINGS("llc.organisation=static", degrees[i], SPACE_FOR_REPLICAS));
            check_replicas(fixture, (struct slice_command){.keep_home = !whole});
            check_books(fixture);
            CHECK_EQ(COUNTER(fixture, "llc.writes_through"), 0u); /* they stay at home */
            CHECK_EQ(COUNTER(fixture, "llc.replicas_invalidated") > 0, !whole);
            llc_fixture_destroy(fixture);
        }
}

TEST("no replica is stale if every kernel has its own degree, or none") {
    for (unsigned careless = 0; careless < 2; careless++) {
        struct llc_fixture *fixture = llc_fixture_create(
            false, SETTINGS("llc.organisation=static", "llc.static.by_kernel=[1, 8, 4, 1, 1, 2, 1, 8, 1, 4]",
                            SPACE_FOR_REPLICAS));
        struct llc_organisation *llc = fixture->base.llc;
        fixture->promises = true;
        for (fixture->round = 0; fixture->round < ROUNDS; fixture->round++) {
            REQUIRE(traffic(fixture));
            bool replicas = llc->mode.replicas;
            uint64_t again;
            llc->mode = llc->ops->control->decide(llc, LLC_KERNEL_ENDS, fixture->base.engine->now, &again);
            if (!replicas && (!llc->mode.replicas || careless)) continue;
            REQUIRE(flush(fixture, (struct slice_command){.keep_lines = !replicas, .keep_home = replicas}));
            CHECK_EQ(behind(fixture), 0u);
        }
        if (!careless) check_books(fixture);
        CHECK_EQ(fixture->stale > 0, careless); /* if modified lines are not written back before replication */
        llc_fixture_destroy(fixture);
    }
}

/* Acts as the control plane of selective replication: the degree set for an epoch is taken up at its end, once slices have written
 * modified lines to memory. */
static void steer(struct llc_fixture *fixture, enum llc_occasion occasion, uint64_t now) {
    struct llc_organisation *llc = fixture->base.llc;
    CHECK(llc->ops->degrees->set(llc, random_below(&fixture->random, 3) ? 1 : 1u << random_below(&fixture->random, 4)));
    struct llc_mode wanted = llc->ops->control->decide(llc, occasion, now, &fixture->ask_at);
    if (occasion == LLC_KERNEL_ENDS) llc->mode = wanted;
    if (!wanted.replicas || llc->mode.replicas || fixture->flushing) return;
    fixture->cleanings++;
    fixture->cleaning = true;
    command_all(fixture, (struct slice_command){.keep_lines = true, .background = true});
}

TEST("no replica is stale if the degree changes every few hundred cycles, without a stop") {
    static const char *const settings[] = {"llc.selrep.flush=replicas", "llc.selrep.flush=always"};
    for (unsigned always = 0; always < 2; always++) {
        struct llc_fixture *fixture =
            llc_fixture_create(false, SETTINGS("llc.organisation=selrep", "llc.selrep.epoch_cycles=400",
                                               "llc.selrep.router_cycles=20", settings[always], SPACE_FOR_REPLICAS));
        fixture->promises = fixture->steered = true;
        unsigned flushes = 0;
        for (fixture->round = 0; fixture->round < 3 * ROUNDS; fixture->round++) {
            fixture->ask_at = 0;
            REQUIRE(traffic(fixture));
            bool replicas = fixture->base.llc->mode.replicas;
            steer(fixture, LLC_KERNEL_ENDS, fixture->base.engine->now);
            if (replicas) REQUIRE(flush(fixture, (struct slice_command){.keep_home = !always}));
            if (replicas) CHECK_EQ(behind(fixture), 0u);
            flushes += replicas;
        }
        check_books(fixture);
        CHECK(always ? flushes == 3 * ROUNDS : flushes > 10 && flushes < 3 * ROUNDS - 10);
        CHECK(always ? fixture->cleanings == 0 : fixture->cleanings > 5);
        llc_fixture_destroy(fixture);
    }
}

TEST("replicas are stale if they are not invalidated at the end of a kernel") {
    struct llc_fixture *fixture =
        llc_fixture_create(false, SETTINGS("llc.organisation=static", "llc.static.degree=4", SPACE_FOR_REPLICAS));
    check_replicas(fixture, (struct slice_command){.keep_lines = true});
    CHECK(fixture->stale > 0);
    llc_fixture_destroy(fixture);
}

/* Shared, and able to be private: adaptive, whose decisions are not asked. */
static struct llc_fixture *llc_fixture_create_adaptive(void) {
    return llc_fixture_create(false, SETTINGS("llc.organisation=adaptive", "llc.adaptive.atomics=true",
                                              "llc.adaptive.power_gating=false", SMALL_ATOMICS));
}

TEST("reconfiguration loses no modified line, in the slices and in the LLC for atomics") {
    struct llc_fixture *fixture = llc_fixture_create_adaptive();
    for (unsigned round = 0; round < ROUNDS; round++) {
        REQUIRE(traffic(fixture));
        bool private = !fixture->private[0];
        /* To private: modified lines are written back and kept; to shared: all lines are invalidated. */
        REQUIRE(flush(fixture, (struct slice_command){.keep_lines = private, .write_through = private}));
        CHECK_EQ(behind(fixture), 0u);
        fixture->private[0] = private;
    }
    check_books(fixture);
    CHECK(COUNTER(fixture, "llc.atomic_hits") > 0);
    CHECK(COUNTER(fixture, "atomics.atomic_hits") > 0);
    CHECK_EQ(COUNTER(fixture, "atomics.replies"), COUNTER(fixture, "llc.atomics_forwarded"));
    llc_fixture_destroy(fixture);
}

/* Lines of the program that slices hold, and of these and others of it those of which memory is behind. */
static void count_lines(const struct llc_fixture *fixture, unsigned program, unsigned *held, unsigned *old) {
    *held = *old = 0;
    for (unsigned line = program; line < LINES; line += 2) {
        *old += fixture->memory[line] != fixture->latest[line];
        for (unsigned slice = 0; slice < fixture->slices; slice++) *held += fixture->held[slice][line];
    }
}

TEST("kernel ends and reconfigurations of one program lose no line, keep the other's lines and do not stop it") {
    struct llc_fixture *fixture = llc_fixture_create_adaptive();
    fixture->base.llc->next_program = fixture->base.llc; /* of which just the place of a line is asked */
    fixture->programs = 2;
    unsigned kept = 0, held, old;
    for (unsigned round = 0; round < ROUNDS; round++) {
        REQUIRE(traffic(fixture));
        unsigned program = round / 2 % 2;
        bool private = !fixture->private[program];
        struct slice_command command = {.keep_lines = private, .write_through = private, .program = (uint8_t)program};
        fixture->pauses[program] = true;
        fixture->to_send = REQUESTS; /* of the other one, meanwhile */
        REQUIRE(flush(fixture, command));
        fixture->pauses[program] = false;
        fixture->private[program] = private;
        count_lines(fixture, program, &held, &old);
        CHECK_EQ(old, 0u);
        CHECK_EQ(held > 0, private);
        count_lines(fixture, !program, &held, &old);
        CHECK(held > 0);
        kept += old;
    }
    CHECK(kept > 0); /* modified lines of the other one stay modified */
    check_books(fixture);
    fixture->base.llc->next_program = NULL;
    llc_fixture_destroy(fixture);
}

TEST("with one MSHR, one merged access, one entry per queue and no replay queue, no write is lost and runs end") {
    static const char *const least[] = {"llc.mshrs=1",         "llc.mshr_merges=1",     "llc.reply_queue=1",
                                        "llc.replay_queue=0",  "atomics.size_kb=1",     "atomics.ways=8",
                                        "dram.port_entries=1", "atomics.pass_cycles=1", NULL};
    for (unsigned private = 0; private < 2; private ++) {
        struct llc_fixture *fixture = llc_fixture_create(private, least);
        for (unsigned round = 0; round < ROUNDS / 4; round++) {
            REQUIRE(traffic(fixture));
            REQUIRE(flush(fixture, (struct slice_command){.write_through = private}));
            CHECK_EQ(behind(fixture), 0u);
        }
        CHECK_EQ(fixture->lost, 0u);
        CHECK_EQ(fixture->stale, 0u);
        CHECK_EQ(fixture->own_unseen, 0u);
        CHECK_EQ(fixture->atomics_stale, 0u);
        llc_fixture_destroy(fixture);
    }
}

TEST("a request at the MSHR merge limit blocks neither hits nor other misses, unless there is no replay queue") {
    uint64_t blocked[2];
    static const char *const queue[] = {"llc.replay_queue=64", "llc.replay_queue=0"};
    for (unsigned i = 0; i < 2; i++) {
        struct llc_fixture *fixture = llc_fixture_create(false, SETTINGS("llc.mshr_merges=2", queue[i]));
        for (unsigned round = 0; round < 10; round++) REQUIRE(traffic(fixture));
        engine_settle(fixture->base.engine, fixture->base.engine->now);
        blocked[i] = COUNTER(fixture, "llc.reservation_fail.mshr_merge");
        CHECK_EQ(COUNTER(fixture, "llc.replayed") > 0, i == 0);
        CHECK_EQ(fixture->stale, 0u);
        llc_fixture_destroy(fixture);
    }
    CHECK_EQ(blocked[0], 0u);
    CHECK(blocked[1] > 0);
}
