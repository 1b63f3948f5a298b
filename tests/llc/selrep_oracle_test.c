/* Selective replication against the model of its paper (selrep_oracle.h): random kernels of random traffic, with every
 * decision and the slice of every request compared. The test acts as the requesters, the slices and the control
 * plane. */
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "cache/cache.h"
#include "fixture.h"
#include "llc/llc.h"
#include "llc/route.h"
#include "llc/selrep_oracle.h"
#include "test.h"

enum { MCS = 2, SETS = 12, WAYS = 8, LATENCY = 20, POOL = 256, ROUTER_CYCLES = 25, EPOCH = 1500, PER_CYCLE = 3 };

struct driver {
    struct fixture base;
    struct selrep_oracle oracle;
    const char *flush;
    uint64_t random, now, again;
    /* Traffic of the kernel: lines, of which the first are hot, and how many requests there are. */
    uint64_t pool[POOL];
    unsigned lines, hot, sparse, hit_percent;
    struct message pending[LATENCY][PER_CYCLE];
    unsigned is_pending[LATENCY];
    /* The degree of requests, and the one that they have from a later cycle on. */
    unsigned degree, next;
    uint64_t next_from;
    uint64_t clean_at; /* when modified lines have been written back; NEVER: this was not requested */
    uint64_t cycles[SELREP_ORACLE_DEGREES];
    unsigned entries; /* of the journal, compared so far */
    unsigned replications, reasons[4];
};

static double input(const struct journal_entry *entry, const char *name, unsigned degree) {
    char text[40];
    snprintf(text, sizeof text, degree ? "%s_%u" : "%s", name, degree);
    for (unsigned i = 0; i < entry->count; i++)
        if (!strcmp(entry->input[i].name, text)) return entry->input[i].value;
    printf("no input %s\n", text);
    REQUIRE(false);
    return 0;
}

static unsigned degree_in(const struct driver *driver, uint64_t cycle) {
    return cycle < driver->next_from ? driver->degree : driver->next;
}

static void check_entry(struct driver *driver, const struct selrep_expected *expected) {
    static const char *const reasons[] = {"highest bandwidth", "demand too low for replication",
                                          "gain too low for replication", "too few samples"};
    REQUIRE(driver->base.journal.count == driver->entries + 1);
    const struct journal_entry *entry = &driver->base.journal.entries[driver->entries++];
    const struct selrep_oracle *oracle = &driver->oracle;
    char text[40];
    snprintf(text, sizeof text, "degree %u", expected->degree);
    CHECK_EQ(entry->cycle, driver->now);
    CHECK_EQ(entry->program, 1u);
    CHECK_EQ(entry->decision, (const char *)text);
    CHECK_EQ(entry->reason, expected->reason);
    CHECK_EQ(entry->count, 5 + 3 * oracle->degrees);
    CHECK_EQ(input(entry, "degree", 0), (double)degree_in(driver, driver->now - 1));
    CHECK_EQ(input(entry, "reads", 0), (double)oracle->looked_up);
    CHECK_EQ(input(entry, "samples", 0), (double)selrep_oracle_samples(oracle));
    double hit_rate = oracle->looked_up ? (double)oracle->looked_up_hits / (double)oracle->looked_up : 0;
    CHECK_NEAR(input(entry, "hit_rate", 0), hit_rate, 1e-9);
    CHECK_NEAR(input(entry, "bytes_per_cycle", 0), expected->demand, 1e-9);
    for (unsigned i = 0; i < oracle->degrees; i++) {
        CHECK_NEAR(input(entry, "hit_rate", 1u << i), expected->hit_rate[i], 1e-9);
        CHECK_NEAR(input(entry, "lsp", 1u << i), expected->lsp[i], 1e-9);
        CHECK_NEAR(input(entry, "bytes_per_cycle", 1u << i), expected->bandwidth[i], 1e-9);
    }
    for (unsigned i = 0; i < COUNT_OF(reasons); i++) driver->reasons[i] += !strcmp(expected->reason, reasons[i]);
    driver->replications += expected->degree > 1;
}

/* Routers receive the chosen degree, which may have replicas only once memory has all modified lines. */
static void send_degree(struct driver *driver) {
    unsigned chosen = driver->oracle.degree;
    if (chosen == driver->next || (chosen > 1 && !driver->base.llc->mode.replicas)) return;
    driver->degree = degree_in(driver, driver->now);
    driver->next = chosen;
    driver->next_from = driver->now + ROUTER_CYCLES;
}

static void decide(struct driver *driver, enum llc_occasion occasion) {
    struct llc_organisation *llc = driver->base.llc;
    struct selrep_oracle *oracle = &driver->oracle;
    bool ends_epoch = occasion == LLC_TIMER && driver->now >= oracle->until;
    struct selrep_expected expected;
    if (ends_epoch) expected = selrep_oracle_decide(oracle, driver->now);
    struct llc_mode wanted = llc->ops->control->decide(llc, occasion, driver->now, &driver->again);
    if (ends_epoch) {
        check_entry(driver, &expected);
        selrep_oracle_begin(oracle, driver->now);
    }
    CHECK_EQ(driver->base.journal.count, driver->entries);
    CHECK_EQ(driver->again, oracle->until);
    send_degree(driver);
    CHECK(!wanted.is_private && !wanted.bypass);
    bool flushes_all = strcmp(driver->flush, "replicas") != 0, always = !strcmp(driver->flush, "always");
    CHECK_EQ(wanted.invalidate_all, flushes_all);
    if (occasion == LLC_KERNEL_ENDS) {
        selrep_oracle_enter(oracle, driver->now + 1);
        if (llc->mode.replicas) rdd_oracle_flush(&oracle->rdd, flushes_all);
        if (driver->next_from > driver->now) driver->next_from = driver->now;
        CHECK_EQ(wanted.replicas, driver->next > 1 || always);
        llc->mode = wanted;
        driver->clean_at = NEVER;
        return;
    }
    CHECK_EQ(wanted.replicas, llc->mode.replicas || oracle->degree > 1);
    if (wanted.replicas && !llc->mode.replicas && driver->clean_at == NEVER)
        driver->clean_at = driver->now + 1 + random_below(&driver->random, 200);
    driver->again = max_u64(driver->again, driver->now + 1);
}

static void look_up(struct driver *driver, const struct message *message) {
    struct cache_access access = {.key = cache_key(message->address >> 7, message->program),
                                  .set = (uint32_t)((message->place >> 7) % SETS)};
    bool hit = random_below(&driver->random, 100) < driver->hit_percent;
    struct selrep_oracle *oracle = &driver->oracle;
    driver->base.llc->ops->profile->looked_up(driver->base.llc, message->target, message, &access, hit, driver->now);
    if (message->kind != MESSAGE_READ || !(message->flags & MESSAGE_READ_ONLY) || message->target >= oracle->slices ||
        !selrep_oracle_counts(oracle, driver->now))
        return;
    oracle->looked_up++;
    oracle->looked_up_hits += hit;
    for (unsigned i = 0; i < 4; i++) oracle->sectors += message->sectors >> i & 1;
}

static void send(struct driver *driver) {
    struct selrep_oracle *oracle = &driver->oracle;
    unsigned cluster = (unsigned)random_below(&driver->random, oracle->clusters);
    uint64_t draw = random_below(&driver->random, 3) ? random_below(&driver->random, driver->lines)
                                                     : random_below(&driver->random, driver->hot);
    struct message message = {.address = driver->pool[draw],
                              .kind = random_below(&driver->random, 8) ? MESSAGE_READ : MESSAGE_WRITE,
                              .flags = random_below(&driver->random, 4) ? MESSAGE_READ_ONLY : 0,
                              .sectors = (uint8_t)(1 + random_below(&driver->random, 15))};
    bool read_only = message.kind == MESSAGE_READ && message.flags & MESSAGE_READ_ONLY;
    struct location location;
    address_map_locate(driver->base.map, message.address, &location);
    unsigned target = route(driver->base.llc, &message, cluster, driver->now), slice = location.slice;
    if (read_only)
        slice = selrep_oracle_slice(oracle->clusters, oracle->slices, degree_in(driver, driver->now), slice, cluster);
    CHECK_EQ(target, location.mc * oracle->slices + slice);
    if (location.mc == 0) {
        REQUIRE(oracle->requests < SELREP_ORACLE_RECORDS);
        oracle->request[oracle->requests++] =
            (struct selrep_request){driver->now, message.address >> 7, (unsigned)((message.place >> 7) % SETS),
                                    cluster,     location.slice,       read_only};
        oracle->all_requests += read_only;
    }
    unsigned slot = (unsigned)(driver->now % LATENCY);
    driver->pending[slot][driver->is_pending[slot]++] = message;
}

/* One cycle: lookups, requests if the SMs are running, and the control plane. */
static void run(struct driver *driver, bool sends) {
    unsigned slot = (unsigned)(driver->now % LATENCY);
    for (unsigned i = 0; i < driver->is_pending[slot]; i++) look_up(driver, &driver->pending[slot][i]);
    driver->is_pending[slot] = 0;
    for (unsigned i = 0; sends && i < PER_CYCLE; i++)
        if (random_below(&driver->random, driver->sparse) == 0) send(driver);
    if (driver->now >= driver->clean_at) {
        driver->clean_at = NEVER;
        driver->base.llc->ops->control->settle(driver->base.llc, driver->now);
        driver->base.llc->mode.replicas = true;
        decide(driver, LLC_RECONFIGURED);
    }
    if (sends && driver->now >= driver->again) {
        unsigned order = random_below(&driver->random, 10) ? 0 : 1u << random_below(&driver->random, 3);
        CHECK(driver->base.llc->ops->degrees->set(driver->base.llc, 2)); /* withdrawn by the next order, or by 0 */
        CHECK(driver->base.llc->ops->degrees->set(driver->base.llc, order));
        driver->oracle.ordered = order;
        decide(driver, LLC_TIMER);
    }
    driver->cycles[__builtin_ctz(degree_in(driver, driver->now))]++;
    driver->now++;
}

static void draw_traffic(struct driver *driver) {
    static const unsigned lines[] = {8, 64, POOL}, hits[] = {10, 80, 100}, sparse[] = {2, 4, 16, 400};
    uint64_t *random = &driver->random;
    driver->lines = lines[random_below(random, COUNT_OF(lines))];
    driver->hot = random_below(random, 2) ? 2 : driver->lines;
    driver->hit_percent = hits[random_below(random, COUNT_OF(hits))];
    driver->sparse = sparse[random_below(random, COUNT_OF(sparse))];
    for (unsigned i = 0; i < POOL; i++) {
        bool sampled = random_below(random, 4) == 0; /* of the slice that the directory shadows */
        struct location location;
        do {
            driver->pool[i] = random_below(random, 1 << 12) * 128;
            address_map_locate(driver->base.map, driver->pool[i], &location);
        } while (sampled && (location.mc || location.slice));
    }
}

static void run_kernel(struct driver *driver) {
    draw_traffic(driver);
    decide(driver, LLC_KERNEL_BEGINS);
    for (uint64_t cycles = 200 + random_below(&driver->random, 5000); cycles > 0; cycles--) run(driver, true);
    for (unsigned i = 0; i < LATENCY; i++) run(driver, false);
    while (driver->clean_at != NEVER) run(driver, false);
    decide(driver, LLC_KERNEL_ENDS);
    for (uint64_t pause = random_below(&driver->random, 2000); pause > 0; pause--) run(driver, false);
}

static void check_counters(const struct driver *driver) {
    const struct selrep_oracle *oracle = &driver->oracle;
    CHECK_EQ(COUNTER(driver, "selrep.epochs"), oracle->epochs);
    CHECK_EQ(COUNTER(driver, "selrep.changes"), oracle->changes);
    CHECK_EQ(COUNTER(driver, "selrep.requests"), oracle->all_requests);
    for (unsigned i = 0; i < oracle->degrees; i++) {
        char name[40];
        snprintf(name, sizeof name, "selrep.samples_%u", 1u << i);
        CHECK_EQ(COUNTER(driver, name), oracle->all_samples[i]);
        snprintf(name, sizeof name, "selrep.hits_%u", 1u << i);
        CHECK_EQ(COUNTER(driver, name), oracle->all_hits[i]);
        snprintf(name, sizeof name, "selrep.cycles_%u", 1u << i);
        CHECK_EQ(COUNTER(driver, name), driver->cycles[i]);
        snprintf(name, sizeof name, "selrep.bandwidth_%u", 1u << i);
        double sum = (double)COUNTER(driver, name); /* each decision is rounded down */
        CHECK(sum <= 1000 * oracle->bandwidth_sum[i] + 0.1);
        CHECK(sum > 1000 * oracle->bandwidth_sum[i] - oracle->epochs - 0.1);
    }
}

/* A machine, the settings of the organisation, and the same choices for the model. */
struct comparison {
    const char *clusters, *slices, *flush, *settings[6];
    struct selrep_oracle choices;
};

static void compare(const struct comparison *comparison, uint64_t seed, unsigned *replications, unsigned reasons[4]) {
    const char *const common[] = {"sm.count=8",
                                  comparison->clusters,
                                  comparison->slices,
                                  "dram.mcs=2",
                                  "dram.clock_mhz=1758",
                                  "dram.gddr5.burst_bytes=128",
                                  "dram.gddr5.burst_cycles=2",
                                  "gpu.core_mhz=1400",
                                  "llc.port_bytes=32",
                                  "llc.slice_kb=12",
                                  "llc.ways=8",
                                  "llc.organisation=selrep",
                                  "llc.selrep.epoch_cycles=1500",
                                  "llc.selrep.router_cycles=25",
                                  comparison->flush,
                                  NULL};
    struct driver *driver = mem_alloc(1, sizeof *driver);
    fixture_init(&driver->base, common, comparison->settings);
    driver->flush = comparison->flush + strlen("llc.selrep.flush=");
    CHECK_EQ(llc_sets(driver->base.config), SETS);
    struct selrep_oracle *oracle = &driver->oracle;
    *oracle = comparison->choices;
    oracle->slice_bytes = 32;
    oracle->memory_bytes = 128.0 / 2 * 1758 / 1400 / oracle->slices; /* a burst in two memory cycles, over the slices */
    if (oracle->memory_percent) oracle->memory_bytes *= oracle->memory_percent / 100.0;
    oracle->epoch_cycles = oracle->until = EPOCH;
    oracle->degree = driver->degree = driver->next = 1;
    oracle->rdd.clusters = oracle->clusters;
    oracle->rdd.slices = oracle->slices;
    oracle->rdd.degrees = oracle->degrees;
    oracle->rdd.slice_sets = SETS;
    oracle->rdd.ways = WAYS;
    driver->clean_at = NEVER;
    driver->random = seed;
    driver->base.llc->program = 1; /* for the journal */
    for (unsigned i = 0; i < 30; i++) run_kernel(driver);
    driver->base.llc->ops->control->settle(driver->base.llc, driver->now);
    check_counters(driver);
    *replications += driver->replications;
    for (unsigned i = 0; i < 4; i++) reasons[i] += driver->reasons[i];
    fixture_release(&driver->base);
    free(driver);
}

TEST("every degree of selective replication is that of Equations 1 and 2, and every request goes to its slice") {
    static const struct comparison cases[] = {
        {"gpu.clusters=8",
         "llc.slices_per_mc=8",
         "llc.selrep.flush=always",
         {NULL}, /* the defaults are the paper's */
         {.clusters = 8, .slices = 8, .degrees = 4, .least_samples = 1, .rdd = {.sampled_sets = 2}}},
        {"gpu.clusters=8",
         "llc.slices_per_mc=4",
         "llc.selrep.flush=whole",
         {"llc.selrep.sets=5"},
         {.clusters = 8, .slices = 4, .degrees = 3, .least_samples = 1, .rdd = {.sampled_sets = 5}}},
        {"gpu.clusters=4",
         "llc.slices_per_mc=8",
         "llc.selrep.flush=replicas",
         {"llc.selrep.directories=each", "llc.selrep.sets=32", "llc.selrep.window_cycles=70"},
         {.clusters = 4,
          .slices = 8,
          .degrees = 3,
          .least_samples = 1,
          .window_cycles = 70,
          .rdd = {.sampled_sets = 32, .kind = ORACLE_EACH}}},
        {"gpu.clusters=8",
         "llc.slices_per_mc=8",
         "llc.selrep.flush=replicas",
         {"llc.selrep.directories=each", "llc.selrep.sets=12", "llc.selrep.demand_percent=15",
          "llc.selrep.gain_percent=60", "llc.selrep.least_samples=30"},
         {.clusters = 8,
          .slices = 8,
          .degrees = 4,
          .least_samples = 30,
          .demand_percent = 15,
          .gain_percent = 60,
          .rdd = {.sampled_sets = 12, .kind = ORACLE_EACH}}},
        {"gpu.clusters=4",
         "llc.slices_per_mc=4",
         "llc.selrep.flush=always",
         {"llc.selrep.sets=12", "llc.selrep.gain_percent=60"},
         {.clusters = 4,
          .slices = 4,
          .degrees = 3,
          .least_samples = 1,
          .gain_percent = 60,
          .rdd = {.sampled_sets = 12}}},
        {"gpu.clusters=8",
         "llc.slices_per_mc=8",
         "llc.selrep.flush=replicas",
         {"llc.selrep.directories=slice", "llc.selrep.sets=12"},
         {.clusters = 8,
          .slices = 8,
          .degrees = 4,
          .least_samples = 1,
          .rdd = {.sampled_sets = 12, .kind = ORACLE_SLICE}}},
        {"gpu.clusters=4",
         "llc.slices_per_mc=8",
         "llc.selrep.flush=always",
         {"llc.selrep.directories=slice", "llc.selrep.sets=5", "llc.selrep.memory_percent=40"},
         {.clusters = 4,
          .slices = 8,
          .degrees = 3,
          .least_samples = 1,
          .memory_percent = 40,
          .rdd = {.sampled_sets = 5, .kind = ORACLE_SLICE}}},
    };
    unsigned replications = 0, reasons[4] = {0};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) compare(&cases[i], 2020 + i, &replications, reasons);
    CHECK(replications > 40);
    for (unsigned i = 0; i < 4; i++) CHECK(reasons[i] > 4); /* every kind of decision was compared */
}
