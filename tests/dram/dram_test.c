/* Tests of memory controllers: latency to the cycle, order, fairness, bandwidth, back-pressure, and that sleeping
 * changes nothing. */
#include <stdio.h>
#include <string.h>

#include "dram/dram_fixture.h"
#include "dram/zero_load.h"

#define ONE_CHANNEL "dram.mcs=1", "llc.slices_per_mc=1", "dram.mapping=hynix"
#define SAME_CLOCK  "dram.clock_mhz=0"
#define SHAPE_80SM \
    "dram.mcs=8", "llc.slices_per_mc=8", "dram.clock_mhz=1758", "dram.gddr5.row_bytes=2048", \
        "dram.gddr5.burst_bytes=128", "dram.gddr5.tCCDL=2"
#define SHAPE_64SM "dram.mcs=4", "dram.channels_per_mc=8", "llc.slices_per_mc=16", "dram.kind=hbm", "dram.clock_mhz=586"

/* ------------------------------------------------------------------- latency */

TEST("a read of a closed bank has the zero-load latency of the description, in whatever cycle it is sent") {
    static const char *const memories[][8] = {
        {SAME_CLOCK},
        {"dram.clock_mhz=924", "dram.controller_cycles=100"},
        {"dram.clock_mhz=1758", "dram.gddr5.burst_bytes=128"},
        {"dram.clock_mhz=586", "dram.kind=hbm"},
        {"dram.clock_mhz=586", "dram.kind=hbm", "dram.port_cycles=5", "dram.controller_cycles=13",
         "gpu.line_bytes=256"},
        {"dram.clock_mhz=333", "dram.gddr5.burst_cycles=8"},
        {"dram.clock_mhz=3000", "dram.write_drain=true", "gpu.line_bytes=64"},
    };
    for (unsigned m = 0; m < COUNT_OF(memories); m++) {
        const char *assignments[12] = {ONE_CHANNEL};
        for (unsigned i = 0; i < 8 && memories[m][i]; i++) assignments[3 + i] = memories[m][i];
        struct dram_fixture *fixture = dram_fixture_create(assignments);
        for (unsigned bank = 0; bank < 16; bank++)
            add_request(fixture, address_at(fixture, 0, bank, 3, 0), false, 2000 * bank + bank);
        CHECK(run_requests(fixture, 100000));
        for (unsigned i = 0; i < fixture->count; i++) {
            const struct slice_request *request = &fixture->request[i];
            CHECK_EQ(request->answered - request->sent, dram_zero_load_cycles(fixture->base.config, request->sent));
        }
        CHECK_EQ(fixture->request[0].answered, dram_zero_load_cycles(fixture->base.config, 0));
        dram_fixture_destroy(fixture);
    }
}

TEST("zero-load latency is port, activate, column read, burst, port, and one cycle to reach the scheduler") {
    struct config *config = config_with(SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.gddr5.burst_bytes=128",
                                                 "dram.port_cycles=3", "dram.controller_cycles=50"));
    CHECK_EQ(dram_zero_load_cycles(config, 0), 3u + 50 + 1 + 12 + 12 + 2 + 3);
    CHECK(config_set(config, "dram.gddr5.burst_bytes=64", &(struct error){0}));
    CHECK_EQ(dram_zero_load_cycles(config, 0),
             3u + 50 + 1 + 12 + 12 + 2 + 3 + 3); /* a second column command, tCCDL later */
    config_destroy(config);
}

TEST("a row hit needs no activate, a row conflict also needs a precharge") {
    struct dram_fixture *fixture = dram_fixture_create(SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.gddr5.burst_bytes=128"));
    unsigned miss = add_request(fixture, address_at(fixture, 0, 5, 1, 0), false, 0);
    unsigned hit = add_request(fixture, address_at(fixture, 0, 5, 1, 128), false, 1000);
    unsigned conflict = add_request(fixture, address_at(fixture, 0, 5, 2, 0), false, 2000);
    CHECK(run_requests(fixture, 10000));
    uint64_t latency[3];
    for (unsigned i = 0; i < 3; i++) latency[i] = fixture->request[i].answered - fixture->request[i].sent;
    CHECK_EQ(latency[miss], latency[hit] + 12);      /* tRCD */
    CHECK_EQ(latency[conflict], latency[miss] + 12); /* tRP */
    CHECK_EQ(latency[hit], 1u + 1 + 12 + 2 + 1);
    CHECK_EQ(COUNTER(fixture, "dram.activates"), 2u);
    CHECK_EQ(COUNTER(fixture, "dram.precharges"), 1u);
    CHECK_EQ(COUNTER(fixture, "dram.row_hits"), 1u);
    CHECK_EQ(COUNTER(fixture, "dram.row_misses"), 1u);
    CHECK_EQ(COUNTER(fixture, "dram.row_conflicts"), 1u);
    dram_fixture_destroy(fixture);
}

TEST("of a line's column commands all but the first are row hits, however many there are") {
    struct dram_fixture *fixture =
        dram_fixture_create(SETTINGS(ONE_CHANNEL, SAME_CLOCK, "gpu.line_bytes=256", "dram.gddr5.burst_bytes=64"));
    add_request(fixture, address_at(fixture, 0, 5, 1, 0), false, 0);
    CHECK(run_requests(fixture, 10000));
    CHECK_EQ(COUNTER(fixture, "dram.read_bytes"), 256u);
    CHECK_EQ(COUNTER(fixture, "dram.row_misses"), 1u);
    CHECK_EQ(COUNTER(fixture, "dram.row_hits"), 3u);
    dram_fixture_destroy(fixture);
}

TEST("row hits are served before an older request for another row of their bank") {
    struct dram_fixture *fixture = dram_fixture_create(SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.gddr5.burst_bytes=128"));
    add_request(fixture, address_at(fixture, 0, 0, 1, 0), false, 0);
    unsigned other = add_request(fixture, address_at(fixture, 0, 0, 2, 0), false, 1);
    unsigned hit = add_request(fixture, address_at(fixture, 0, 0, 1, 128), false, 2);
    CHECK(run_requests(fixture, 10000));
    CHECK(fixture->request[hit].answered < fixture->request[other].answered);
    CHECK_EQ(COUNTER(fixture, "dram.activates"), 2u);
    dram_fixture_destroy(fixture);
}

TEST("only bursts that contain requested sectors are transferred") {
    struct dram_fixture *fixture =
        dram_fixture_create(SETTINGS(ONE_CHANNEL, SAME_CLOCK)); /* 64-byte bursts, 128-byte lines */
    static const uint8_t sectors[] = {0x1, 0xC, 0x9, 0xF, 0};
    static const unsigned bursts[] = {1, 1, 2, 2, 2};
    uint64_t before = 0;
    for (unsigned i = 0; i < COUNT_OF(sectors); i++) {
        unsigned index = add_request(fixture, 0, i % 2, 1000 * i);
        fixture->request[index].sectors = sectors[i];
        CHECK(run_requests(fixture, 1000 * (i + 1)));
        uint64_t moved = COUNTER(fixture, "dram.read_bytes") + COUNTER(fixture, "dram.write_bytes");
        CHECK_EQ(moved - before, bursts[i] * 64u);
        before = moved;
    }
    dram_fixture_destroy(fixture);
}

/* ---------------------------------------------------------------- conservation */

static void add_random(struct dram_fixture *fixture, unsigned count, unsigned write_percent, unsigned gap,
                       uint64_t seed) {
    uint64_t due = 0;
    for (unsigned i = 0; i < count; i++) {
        due += gap ? random_below(&seed, gap) : 0;
        if (gap && i % 512 == 511) due += 5000; /* idle for a while: refreshes pass */
        add_request(fixture, random_below(&seed, 1 << 18) * 128, random_below(&seed, 100) < write_percent, due);
    }
}

static const char *const varied[][11] = {
    {SHAPE_80SM},
    {SHAPE_64SM, "dram.write_drain=true", "dram.hbm.refresh=true"},
    {"dram.mcs=6", "llc.slices_per_mc=2", "dram.mapping=linear", "dram.clock_mhz=924", "dram.controller_cycles=100"},
    {"dram.mcs=1", "llc.slices_per_mc=4", "dram.channels_per_mc=2", "dram.gddr5.refresh=true",
     "dram.starvation_cycles=60", "dram.scheduler=fr-fcfs-cap", "dram.fr-fcfs-cap.cap=2", "dram.bank_queue=2"},
};

TEST("every read is answered once with data, every write once with an acknowledgement, and nothing remains") {
    for (unsigned v = 0; v < COUNT_OF(varied); v++) {
        struct dram_fixture *fixture = dram_fixture_create(varied[v]);
        add_random(fixture, 3000, 30, 0, v);
        CHECK(run_requests(fixture, 1000000));
        unsigned wrong = 0;
        for (unsigned i = 0; i < fixture->count; i++) {
            const struct slice_request *request = &fixture->request[i];
            wrong += request->answers != 1 || request->reply_kind != (request->write ? MESSAGE_ACK : MESSAGE_DATA);
        }
        CHECK_EQ(wrong, 0u);
        char text[200];
        CHECK(engine_in_flight(fixture->base.engine, text, sizeof text) == NULL);
        CHECK_EQ(COUNTER(fixture, "dram.reads") + COUNTER(fixture, "dram.writes"), fixture->count);
        dram_fixture_destroy(fixture);
    }
}

TEST("a controller that holds a request reports it") {
    struct dram_fixture *fixture = dram_fixture_create(SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.controller_cycles=200"));
    char text[200] = "", *dump = NULL;
    size_t size = 0;
    add_request(fixture, 0, false, 0);
    engine_wake(fixture->base.engine, fixture->slice[0].component, 0);
    engine_run_until(fixture->base.engine, 50);
    REQUIRE(engine_in_flight(fixture->base.engine, text, sizeof text) != NULL);
    CHECK_TEXT(text, "dram");
    FILE *out = open_memstream(&dump, &size);
    engine_explain(fixture->base.engine, out);
    fclose(out);
    CHECK_TEXT(dump, "1 requests: 0 reads and 0 writes queued");
    free(dump);
    dram_fixture_destroy(fixture);
}

/* Every counter, and when each request was answered, as one number. */
static uint64_t fingerprint(const char *const *assignments, bool poll, uint64_t shuffle, bool reluctant) {
    struct dram_fixture *fixture = dram_fixture_create(assignments);
    fixture->base.engine->poll = poll;
    fixture->base.engine->shuffle = shuffle;
    fixture->reluctant = reluctant;
    add_random(fixture, 2000, 35, 6, 77);
    CHECK(run_requests(fixture, 1000000));
    engine_run_until(fixture->base.engine, 400000); /* the same end for all, long after the last request */
    engine_settle(fixture->base.engine, 400000);
    uint64_t hash = 0;
    for (unsigned i = 0; i < stats_count(fixture->base.stats); i++)
        for (unsigned k = 0; k < stats_instances(fixture->base.stats, i); k++)
            hash = hash * UINT64_C(0x9E3779B97F4A7C15) + stats_instance(fixture->base.stats, i, k) + 1;
    for (unsigned i = 0; i < fixture->count; i++)
        hash = hash * UINT64_C(0x9E3779B97F4A7C15) + fixture->request[i].answered;
    dram_fixture_destroy(fixture);
    return hash;
}

TEST_LONG_SANITIZED("sleeping, polling every cycle and any order of ticks give the same counters and replies") {
    for (unsigned v = 0; v < COUNT_OF(varied); v++) {
        uint64_t asleep = fingerprint(varied[v], false, 0, false);
        CHECK_EQ(asleep, fingerprint(varied[v], true, 0, false));
        CHECK_EQ(asleep, fingerprint(varied[v], false, 12345, false));
    }
    CHECK_EQ(fingerprint(varied[1], false, 0, true), fingerprint(varied[1], true, 0, true));
    CHECK(fingerprint(varied[1], false, 0, true) != fingerprint(varied[1], false, 0, false));
}

/* Few lines, so that reads are forwarded from the write queue, and one slice, whose port all channels share. */
static uint64_t reply_times(unsigned seed, bool poll) {
    struct dram_fixture *fixture = dram_fixture_create(
        SETTINGS("dram.mcs=1", "dram.channels_per_mc=4", "llc.slices_per_mc=1", "dram.kind=hbm", "dram.clock_mhz=586",
                 "dram.write_drain=true", "dram.read_queue=4", "dram.write_queue=8"));
    fixture->base.engine->poll = poll;
    uint64_t random = seed, due = 0, hash = 0;
    for (unsigned i = 0; i < 600; i++) {
        due += random_below(&random, 1 + seed % 8);
        add_request(fixture, random_below(&random, 64) * 128, random_below(&random, 100) < 40, due);
    }
    CHECK(run_requests(fixture, 1000000));
    CHECK(COUNTER(fixture, "dram.forwards") > 0);
    for (unsigned i = 0; i < fixture->count; i++)
        hash = hash * UINT64_C(0x9E3779B97F4A7C15) + fixture->request[i].answered;
    dram_fixture_destroy(fixture);
    return hash;
}

TEST("replies of several channels to one slice, forwarded reads among them, arrive as from a controller that is ticked "
     "every cycle") {
    for (unsigned seed = 1; seed <= 40; seed++) CHECK_EQ(reply_times(seed, false), reply_times(seed, true));
}

TEST("counters read during a run equal those of a controller that is ticked every cycle") {
    static const char *const small[] = {"dram.read_queue=2", NULL}, *const plain[] = {NULL};
    static const char *const channels[] = {SHAPE_64SM, "dram.write_drain=true", NULL};
    const char *const *const described[] = {small, plain, channels};
    for (unsigned v = 0; v < COUNT_OF(described); v++) {
        struct dram_fixture *fixture[2];
        for (unsigned polls = 0; polls < 2; polls++) {
            fixture[polls] = dram_fixture_create(described[v]);
            fixture[polls]->base.engine->poll = polls;
            add_random(fixture[polls], 300, 35, 6, 77);
            for (unsigned i = 0; i < fixture[polls]->slices; i++)
                engine_wake(fixture[polls]->base.engine, fixture[polls]->slice[i].component, 0);
        }
        for (uint64_t now = 37; fixture[1]->answered < fixture[1]->count && now < 100000; now += 37) {
            for (unsigned polls = 0; polls < 2; polls++) {
                engine_run_until(fixture[polls]->base.engine, now);
                fixture[polls]->base.engine->now = now;
                engine_settle(fixture[polls]->base.engine, now);
            }
            for (unsigned i = 0; i < stats_count(fixture[0]->base.stats); i++)
                CHECK_EQ(stats_total(fixture[0]->base.stats, i), stats_total(fixture[1]->base.stats, i));
            CHECK_EQ(fixture[0]->answered, fixture[1]->answered);
        }
        CHECK_EQ(fixture[0]->answered, fixture[0]->count);
        for (unsigned polls = 0; polls < 2; polls++) dram_fixture_destroy(fixture[polls]);
    }
}

TEST("queues, ports and return queues of depth one complete all requests") {
    static const char *const shallow[][14] = {
        {"dram.mcs=2", "llc.slices_per_mc=4", "dram.read_queue=1", "dram.return_queue=1", "dram.port_entries=1",
         "dram.controller_cycles=7"},
        {"dram.mcs=2", "llc.slices_per_mc=4", "dram.kind=hbm", "dram.channels_per_mc=2", "dram.read_queue=1",
         "dram.write_queue=1", "dram.return_queue=1", "dram.port_entries=1", "dram.write_drain=true",
         "dram.hbm.refresh=true"},
        {"dram.mcs=1", "llc.slices_per_mc=1", "dram.read_queue=1", "dram.write_queue=1", "dram.return_queue=1",
         "dram.port_entries=1", "dram.port_cycles=20", "dram.write_drain=true", "dram.drain_high_percent=100",
         "dram.drain_idle_writes=1", "dram.gddr5.banks=1", "dram.gddr5.bank_groups=1"},
    };
    for (unsigned v = 0; v < COUNT_OF(shallow); v++) {
        struct dram_fixture *fixture = dram_fixture_create(shallow[v]);
        fixture->reluctant = true;
        add_random(fixture, 300, 40, 0, v);
        CHECK(run_requests(fixture, 400000));
        dram_fixture_destroy(fixture);
    }
}

TEST("a controller holds no more requests than its queue and return queue have entries") {
    struct dram_fixture *fixture = dram_fixture_create(
        SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.read_queue=4", "dram.return_queue=8", "dram.port_entries=64"));
    for (unsigned i = 0; i < 64; i++)
        add_request(fixture, address_at(fixture, 0, 0, i, 0), false, 0); /* all conflict */
    engine_wake(fixture->base.engine, fixture->slice[0].component, 0);
    engine_run_until(fixture->base.engine, 14); /* before the first reply */
    CHECK_EQ(dram_input(fixture->dram, 0)->popped, 12u);
    CHECK(run_requests(fixture, 100000));
    dram_fixture_destroy(fixture);
}

TEST("every slice of a controller reaches all of its channels") {
    struct dram_fixture *fixture = dram_fixture_create(SETTINGS(SHAPE_64SM));
    for (unsigned slice = 0; slice < 16; slice++)
        for (unsigned channel = 0; channel < 8; channel++)
            add_request_by(fixture, slice, address_at(fixture, channel, slice, 9, 0), false, 0);
    CHECK(run_requests(fixture, 10000));
    for (unsigned channel = 0; channel < 8; channel++) CHECK_EQ(stats_instance(fixture->base.stats, 0, channel), 16u);
    dram_fixture_destroy(fixture);
}

TEST("slices that compete for a channel are served in turn") {
    struct dram_fixture *fixture =
        dram_fixture_create(SETTINGS("dram.mcs=1", "llc.slices_per_mc=8", SAME_CLOCK, "dram.gddr5.burst_bytes=128"));
    for (unsigned i = 0; i < 400; i++)
        for (unsigned slice = 0; slice < 8; slice++)
            add_request_by(fixture, slice, (uint64_t)(i * 8 + slice) * 128, false, 0);
    run_requests(fixture, 2000);
    unsigned least = UINT32_MAX, most = 0;
    for (unsigned slice = 0; slice < 8; slice++) {
        unsigned taken = dram_input(fixture->dram, slice)->popped;
        if (taken < least) least = taken;
        if (taken > most) most = taken;
    }
    CHECK(least > 0 && least < 400);
    CHECK(most - least <= 1);
    dram_fixture_destroy(fixture);
}

/* ------------------------------------------------------------------- bandwidth */

static double stream_share(const char *const *assignments, unsigned lines, unsigned write_every) {
    struct dram_fixture *fixture = dram_fixture_create(assignments);
    const struct dram_device *device = dram_device_of(fixture->base.config);
    const struct dram_config *dram = config_get(fixture->base.config, &dram_section);
    for (unsigned i = 0; i < lines; i++)
        add_request(fixture, (uint64_t)i * 128, write_every && i % write_every == 0, 0);
    CHECK(run_requests(fixture, 10000000));
    uint64_t last = 0;
    for (unsigned i = 0; i < fixture->count; i++) last = max_u64(last, fixture->request[i].answered);
    double bytes_per_cycle = (double)lines * 128 / (double)last,
           core = (double)gpu_core_khz(fixture->base.config) / 1000;
    double peak = (double)(dram->mcs * dram->channels_per_mc * device->burst_bytes) / (double)device->burst_cycles *
                  (dram->clock_mhz ? (double)dram->clock_mhz : core) / core;
    dram_fixture_destroy(fixture);
    return bytes_per_cycle / peak;
}

TEST("a read stream approaches the peak bandwidth and never exceeds it") {
    double gddr5 = stream_share(SETTINGS(SHAPE_80SM), 60000, 0);
    double hbm = stream_share(SETTINGS(SHAPE_64SM), 60000, 0);
    double single = stream_share(SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.gddr5.tCCDL=2"), 10000, 0);
    CHECK(gddr5 > 0.90 && gddr5 <= 1);
    CHECK(hbm > 0.90 && hbm <= 1);
    CHECK(single > 0.90 && single <= 1);
}

TEST("writes in a stream cost turnarounds, fewer with a write queue that is drained in batches") {
    double reads = stream_share(SETTINGS(ONE_CHANNEL, SAME_CLOCK), 6000, 0);
    double shared = stream_share(SETTINGS(ONE_CHANNEL, SAME_CLOCK), 6000, 4);
    double drained = stream_share(SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.write_drain=true"), 6000, 4);
    CHECK(shared < drained);
    CHECK(drained < reads);
}

/* -------------------------------------------------------------- who has to wait */

/* Requests for one row arrive as fast as they are served; one for another row of the bank is among the first. When is
 * it answered? */
static uint64_t wait_among_hits(const char *starvation) {
    struct dram_fixture *fixture = dram_fixture_create(
        SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.gddr5.burst_bytes=128", "dram.read_queue=8", starvation));
    add_request(fixture, address_at(fixture, 0, 0, 1, 0), false, 0);
    unsigned other = add_request(fixture, address_at(fixture, 0, 0, 2, 0), false, 1);
    for (unsigned i = 0; i < 3000; i++) add_request(fixture, address_at(fixture, 0, 0, 1, i % 16 * 128), false, 2);
    CHECK(run_requests(fixture, 100000));
    uint64_t waited = fixture->request[other].answered - fixture->request[other].sent;
    dram_fixture_destroy(fixture);
    return waited;
}

TEST("row hits starve a request for another row only up to the limit") {
    CHECK(wait_among_hits("dram.starvation_cycles=0") > 8000);
    uint64_t waited = wait_among_hits("dram.starvation_cycles=500");
    CHECK(waited >= 500);
    CHECK(waited <= 500 + 100);
}

TEST("a write in the write queue is not starved by reads") {
    struct dram_fixture *fixture = dram_fixture_create(SETTINGS(
        ONE_CHANNEL, SAME_CLOCK, "dram.gddr5.burst_bytes=128", "dram.write_drain=true", "dram.starvation_cycles=1000"));
    for (unsigned i = 0; i < 8; i++) add_request(fixture, (uint64_t)i * 128, false, 0);
    unsigned write = add_request(fixture, address_at(fixture, 0, 3, 50, 0), true, 1);
    for (unsigned i = 0; i < 4000; i++) add_request(fixture, (uint64_t)i * 128, false, 2);
    CHECK(run_requests(fixture, 100000));
    uint64_t waited = fixture->request[write].answered - fixture->request[write].sent;
    CHECK(waited >= 1000);
    CHECK(waited <= 1300);
    dram_fixture_destroy(fixture);
}

TEST("a starved write waits for reads that have starved for longer") {
    struct dram_fixture *fixture = dram_fixture_create(
        SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.write_drain=true", "dram.read_queue=8", "dram.starvation_cycles=50"));
    unsigned read = 0;
    for (unsigned row = 0; row < 8; row++) read = add_request(fixture, address_at(fixture, 0, 0, row, 0), false, 0);
    unsigned write = add_request(fixture, address_at(fixture, 0, 3, 50, 0), true, 8);
    CHECK(run_requests(fixture, 100000));
    CHECK(fixture->request[read].answered > 8 + 2 * 50);
    CHECK(fixture->request[write].answered > fixture->request[read].answered);
    dram_fixture_destroy(fixture);
}

TEST("a write closes a row with pending reads once the read that opened it has its data") {
    for (unsigned polls = 0; polls < 2; polls++) {
        struct dram_fixture *fixture =
            dram_fixture_create(SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.write_drain=true", "dram.write_queue=1"));
        fixture->base.engine->poll = polls;
        add_request(fixture, address_at(fixture, 0, 0, 1, 0), false, 0);
        unsigned write = add_request(fixture, address_at(fixture, 0, 0, 2, 0), true, 1);
        unsigned read = add_request(fixture, address_at(fixture, 0, 0, 1, 128), false, 2);
        CHECK(run_requests(fixture, 300));
        CHECK(fixture->request[write].answered < fixture->request[read].answered);
        dram_fixture_destroy(fixture);
    }
}

TEST("a read of a line in the write queue is answered from the queue") {
    struct dram_fixture *fixture = dram_fixture_create(SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.write_drain=true"));
    for (unsigned i = 0; i < 12; i++)
        add_request(fixture, address_at(fixture, 0, 0, i, 0), false, 0); /* keep the reads busy */
    add_request(fixture, address_at(fixture, 0, 7, 5, 256), true, 5);
    unsigned read = add_request(fixture, address_at(fixture, 0, 7, 5, 256), false, 20);
    CHECK(run_requests(fixture, 100000));
    CHECK_EQ(COUNTER(fixture, "dram.forwards"), 1u);
    CHECK_EQ(COUNTER(fixture, "dram.reads"), 13u);
    CHECK_EQ(COUNTER(fixture, "dram.read_bytes"), 12u * 128);
    CHECK(fixture->request[read].answered - fixture->request[read].sent <
          dram_zero_load_cycles(fixture->base.config, 0) / 2);
    dram_fixture_destroy(fixture);
}

TEST("a read answered from the write queue frees its entry for one that waits in the port, polled or not") {
    for (unsigned polls = 0; polls < 2; polls++) {
        struct dram_fixture *fixture =
            dram_fixture_create(SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.write_drain=true", "dram.read_queue=1",
                                         "dram.write_queue=1", "dram.return_queue=1", "dram.drain_high_percent=100",
                                         "dram.drain_idle_writes=2", "dram.controller_cycles=10"));
        fixture->base.engine->poll = polls;
        /* Three requests are all there are; each is taken one cycle, and in its queue eleven, after it is sent. */
        add_request(fixture, address_at(fixture, 0, 0, 1, 0), false, 0);
        add_request(fixture, address_at(fixture, 0, 7, 5, 0), true, 1);
        add_request(fixture, address_at(fixture, 0, 7, 5, 0), false, 2);
        add_request(fixture, address_at(fixture, 0, 3, 1, 0), false, 3);
        engine_wake(fixture->base.engine, fixture->slice[0].component, 0);
        engine_run_until(fixture->base.engine, 14); /* in cycle 13 the second read is answered */
        CHECK_EQ(dram_input(fixture->dram, 0)->popped, 3u);
        engine_run_until(fixture->base.engine, 15);
        CHECK_EQ(dram_input(fixture->dram, 0)->popped, 4u);
        CHECK(run_requests(fixture, 100000));
        CHECK_EQ(COUNTER(fixture, "dram.forwards"), 1u);
        dram_fixture_destroy(fixture);
    }
}

TEST("cycles with a full queue are counted while a request waits for it") {
    struct dram_fixture *fixture =
        dram_fixture_create(SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.gddr5.burst_bytes=128", "dram.read_queue=1"));
    add_request(fixture, address_at(fixture, 0, 0, 1, 0), false, 0);
    add_request(fixture, address_at(fixture, 0, 0, 2, 0), false, 0);
    add_request(fixture, address_at(fixture, 0, 0, 3, 0), false, 0);
    CHECK(run_requests(fixture, 10000));
    /* In the queue from cycles 1, 3 (the first one's row is being opened) and 42 + 1; the third arrives in 3. */
    CHECK_EQ(COUNTER(fixture, "dram.queue_full_cycles"), 39u);
    dram_fixture_destroy(fixture);
}

TEST("the cycles of a full queue are counted up to the cycle in which they are read, and only once") {
    struct dram_fixture *fixture =
        dram_fixture_create(SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.gddr5.burst_bytes=128", "dram.read_queue=1"));
    for (unsigned row = 1; row <= 3; row++) add_request(fixture, address_at(fixture, 0, 0, row, 0), false, 0);
    engine_wake(fixture->base.engine, fixture->slice[0].component, 0);
    for (uint64_t now = 13; now <= 33; now += 10) { /* the third request waits from cycle 3 on */
        engine_run_until(fixture->base.engine, now);
        fixture->base.engine->now = now;
        engine_settle(fixture->base.engine, now);
        CHECK_EQ(COUNTER(fixture, "dram.queue_full_cycles"), now - 3);
    }
    CHECK(run_requests(fixture, 10000));
    CHECK_EQ(COUNTER(fixture, "dram.queue_full_cycles"), 39u);
    dram_fixture_destroy(fixture);
}

TEST("refresh takes its share of the bandwidth and closes rows") {
    double without = stream_share(SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.kind=hbm"), 10000, 0);
    double with = stream_share(SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.kind=hbm", "dram.hbm.refresh=true"), 10000, 0);
    CHECK_NEAR(with / without, 1 - 130.0 / 1950, 0.02);
    struct dram_fixture *fixture =
        dram_fixture_create(SETTINGS(ONE_CHANNEL, SAME_CLOCK, "dram.kind=hbm", "dram.hbm.refresh=true"));
    add_request(fixture, 0, false, 100);
    add_request(fixture, 0, false, 5000);
    CHECK(run_requests(fixture, 10000));
    CHECK_EQ(COUNTER(fixture, "dram.activates"), 2u);
    CHECK_EQ(COUNTER(fixture, "dram.refreshes"), 2u);
    dram_fixture_destroy(fixture);
}

/* ---------------------------------------------------------------- descriptions */

TEST("an inconsistent description is rejected with the value at fault") {
    CHECK_REJECTED(config_with(SETTINGS("dram.gddr5.banks=12")),
                   "dram.gddr5.banks: 12 is not a power of two; the nearest below is 8");
    CHECK_REJECTED(config_with(SETTINGS("dram.gddr5.bank_groups=32")), "16 is less than bank_groups: 32");
    CHECK_REJECTED(config_with(SETTINGS("dram.gddr5.tRC=20")),
                   "dram.gddr5.tRC: 20 is less than tRAS, which is part of it: 28");
    CHECK_REJECTED(config_with(SETTINGS("dram.gddr5.tCCDL=1")), "dram.gddr5.tCCDL: 1 is less than tCCDS");
    CHECK_REJECTED(config_with(SETTINGS("dram.drain_low_percent=80")), "or draining never ends");
    CHECK_REJECTED(config_with(SETTINGS("dram.gddr5.refresh=true", "dram.gddr5.tREFI=100")),
                   "leaves no time for requests");
}

TEST("only the chosen kind's description is checked") {
    struct config *config = config_with(SETTINGS("dram.kind=hbm", "dram.gddr5.banks=12"));
    struct error err = {0};
    CHECK(config_check(config, &err));
    config_destroy(config);
}
