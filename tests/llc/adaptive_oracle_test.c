/* The adaptive LLC against the model of its paper (adaptive_oracle.h): random kernels of random traffic, with every
 * decision compared. The test acts as the requesters, the slices and the control plane. */
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "cache/cache.h"
#include "fixture.h"
#include "llc/adaptive_oracle.h"
#include "llc/llc.h"
#include "llc/route.h"
#include "test.h"

enum { CLUSTERS = 4, MCS = 2, SETS = 10, WAYS = 4, LATENCY = 20, POOL = 256 };

/* Traffic of one kernel. */
struct kernel_traffic {
    unsigned lines;       /* size of the pool that requests are drawn from */
    unsigned hot;         /* the first lines of the pool, which a third of the requests go to */
    unsigned hit_percent; /* random hits in the shared LLC; 0: those of an LRU cache */
    bool own_lines;       /* each cluster has its part of the pool */
    unsigned sparse;      /* cycles per request */
    uint64_t pool[POOL];
};

struct driver {
    struct fixture base;
    struct adaptive_oracle oracle;
    struct kernel_traffic traffic;
    struct lru_list cache[MCS * CLUSTERS][SETS];
    uint64_t random, now, again;
    struct message pending[LATENCY];
    bool is_pending[LATENCY];
    uint64_t shared_cycles, private_cycles, profile_cycles;
    unsigned entries; /* of the journal, compared so far */
};

static const struct journal_input *input(const struct journal_entry *entry, const char *name) {
    for (unsigned i = 0; i < entry->count; i++)
        if (!strcmp(entry->input[i].name, name)) return &entry->input[i];
    printf("no input %s\n", name);
    REQUIRE(false);
    return NULL;
}

static void check_entry(const struct driver *driver, const struct journal_entry *entry,
                        const struct adaptive_expected *expected) {
    static const char *const names[2][3] = {{"shared_miss_rate", "shared_lsp", "shared_bytes_per_cycle"},
                                            {"private_miss_rate", "private_lsp", "private_bytes_per_cycle"}};
    static const char *const rules[] = {"", "rule 1", "rule 2", ""};
    CHECK_EQ(entry->cycle, driver->now);
    CHECK_EQ(entry->program, 1u);
    CHECK_EQ(entry->decision, expected->rule == 1 || expected->rule == 2 ? "private" : "shared");
    CHECK_TEXT(entry->reason, rules[expected->rule]);
    CHECK_EQ(entry->count, expected->profiled ? 8u : 0u);
    for (unsigned i = 0; expected->profiled && i < 2; i++) {
        CHECK_NEAR(input(entry, names[i][0])->value, expected->miss_rate[i], 1e-9);
        CHECK_NEAR(input(entry, names[i][1])->value, expected->lsp[i], 1e-9);
        CHECK_NEAR(input(entry, names[i][2])->value, expected->bandwidth[i], 1e-9);
    }
    if (!expected->profiled) return;
    CHECK_EQ(input(entry, "reads")->value, (double)expected->reads);
    CHECK_EQ(input(entry, "sampled_reads")->value, (double)expected->sampled_reads);
}

/* Returns whether the machine is to be reconfigured. */
static bool decide(struct driver *driver, enum llc_occasion occasion) {
    struct llc_organisation *llc = driver->base.llc;
    struct adaptive_expected expected = adaptive_oracle_decide(&driver->oracle, occasion, driver->now);
    struct llc_mode wanted = llc->ops->control->decide(llc, occasion, driver->now, &driver->again);
    CHECK_EQ(wanted.is_private, expected.is_private);
    CHECK_EQ(wanted.bypass, expected.is_private && driver->oracle.power_gating);
    CHECK(!wanted.replicas && !wanted.invalidate_all);
    CHECK_EQ(driver->again, expected.again);
    CHECK_EQ(driver->base.journal.count, driver->entries + (expected.rule == 3 || expected.profiled));
    for (; driver->entries < driver->base.journal.count; driver->entries++)
        check_entry(driver, &driver->base.journal.entries[driver->entries], &expected);
    if (occasion == LLC_KERNEL_ENDS) {
        llc->mode = wanted;
        driver->oracle.is_private = wanted.is_private;
        return false;
    }
    return wanted.is_private != llc->mode.is_private;
}

static void look_up(struct driver *driver, const struct message *message) {
    struct cache_access access = {.key = cache_key(message->address >> 7, message->program),
                                  .set = (uint32_t)((message->place >> 7) % SETS)};
    struct lru_line unused;
    bool hit = lru_list_access(&driver->cache[message->target][access.set], WAYS, access.key, &unused);
    if (driver->traffic.hit_percent) hit = random_below(&driver->random, 100) < driver->traffic.hit_percent;
    driver->base.llc->ops->profile->looked_up(driver->base.llc, message->target, message, &access, hit, driver->now);
    if (message->kind == MESSAGE_READ)
        adaptive_oracle_read(&driver->oracle, (struct adaptive_read){driver->now, access.key, message->target,
                                                                     access.set, message->cluster, hit, false});
}

static void send(struct driver *driver) {
    const struct kernel_traffic *traffic = &driver->traffic;
    unsigned cluster = (unsigned)random_below(&driver->random, CLUSTERS), part = traffic->lines / CLUSTERS;
    uint64_t draw = random_below(&driver->random, 3) ? random_below(&driver->random, traffic->lines)
                                                     : random_below(&driver->random, traffic->hot);
    if (traffic->own_lines) draw = cluster * part + draw % part;
    struct message message = {.address = traffic->pool[draw],
                              .kind = random_below(&driver->random, 8) ? MESSAGE_READ : MESSAGE_WRITE,
                              .sectors = 15};
    struct location location;
    address_map_locate(driver->base.map, message.address, &location);
    unsigned target = route(driver->base.llc, &message, cluster, driver->now);
    CHECK_EQ(target, location.mc * CLUSTERS + (driver->oracle.is_private ? cluster : location.slice));
    if (!driver->oracle.is_private)
        adaptive_oracle_request(&driver->oracle,
                                (struct adaptive_request){driver->now, cluster, location.mc, location.slice});
    driver->pending[driver->now % LATENCY] = message;
    driver->is_pending[driver->now % LATENCY] = true;
}

/* One cycle: a lookup, a request if the SMs are running, and the control plane. Returns whether the machine is to be
 * reconfigured. */
static bool run(struct driver *driver, bool sends, bool decides) {
    bool reconfigure = false;
    unsigned slot = (unsigned)(driver->now % LATENCY);
    if (driver->is_pending[slot]) look_up(driver, &driver->pending[slot]);
    driver->is_pending[slot] = false;
    if (sends && random_below(&driver->random, driver->traffic.sparse) == 0) send(driver);
    if (decides && driver->now == driver->again) reconfigure = decide(driver, LLC_TIMER);
    const struct adaptive_oracle *oracle = &driver->oracle;
    driver->profile_cycles += oracle->phase_from && driver->now >= oracle->phase_from &&
                              driver->now < oracle->phase_from + oracle->profile_cycles;
    *(oracle->is_private ? &driver->private_cycles : &driver->shared_cycles) += 1;
    driver->now++;
    return reconfigure;
}

static void reconfigure(struct driver *driver) {
    for (uint64_t cycles = LATENCY + random_below(&driver->random, 60); cycles > 0; cycles--) run(driver, false, false);
    driver->base.llc->ops->control->settle(driver->base.llc, driver->now);
    driver->oracle.is_private = driver->base.llc->mode.is_private = !driver->oracle.is_private;
    driver->base.llc->mode.bypass = driver->oracle.is_private && driver->oracle.power_gating;
    CHECK(!decide(driver, LLC_RECONFIGURED));
}

static void draw_traffic(struct driver *driver) {
    static const unsigned lines[] = {16, 64, POOL}, hits[] = {0, 0, 10, 50, 80, 95, 100}, sparse[] = {1, 2, 5, 400};
    struct kernel_traffic *traffic = &driver->traffic;
    uint64_t *random = &driver->random;
    traffic->lines = lines[random_below(random, COUNT_OF(lines))];
    traffic->hot = random_below(random, 2) ? 4 : traffic->lines;
    traffic->hit_percent = hits[random_below(random, COUNT_OF(hits))];
    traffic->own_lines = random_below(random, 2);
    traffic->sparse = sparse[random_below(random, COUNT_OF(sparse))];
    for (unsigned i = 0; i < POOL; i++) traffic->pool[i] = random_below(random, 1 << 14) * 128;
    driver->oracle.has_atomics = driver->base.llc->atomics = random_below(random, 8) == 0;
}

static void run_kernel(struct driver *driver) {
    draw_traffic(driver);
    uint64_t until = driver->now + 500 + random_below(&driver->random, 9000);
    if (decide(driver, LLC_KERNEL_BEGINS)) reconfigure(driver);
    while (driver->now < until)
        if (run(driver, true, true)) reconfigure(driver);
    for (unsigned i = 0; i < LATENCY; i++) run(driver, false, false);
    decide(driver, LLC_KERNEL_ENDS);
    for (uint64_t pause = random_below(&driver->random, 30); pause > 0; pause--) run(driver, false, false);
}

/* 40 kernels with one choice of settings. Adds the oracle's decisions by each rule. */
static void compare(const char *const *settings, const struct adaptive_oracle *choices, uint64_t seed,
                    unsigned rules[4]) {
    static const char *const common[] = {"gpu.clusters=4",
                                         "sm.count=4",
                                         "llc.slices_per_mc=4",
                                         "dram.mcs=2",
                                         "dram.clock_mhz=1758",
                                         "dram.gddr5.burst_bytes=128",
                                         "dram.gddr5.burst_cycles=2",
                                         "gpu.core_mhz=1400",
                                         "llc.port_bytes=32",
                                         "llc.slice_kb=5",
                                         "llc.ways=4",
                                         "llc.organisation=adaptive",
                                         "llc.adaptive.epoch_cycles=3000",
                                         "llc.adaptive.profile_cycles=700",
                                         "llc.adaptive.report_cycles=9",
                                         "llc.adaptive.similar=0.05",
                                         NULL};
    struct driver *driver = mem_alloc(1, sizeof *driver);
    fixture_init(&driver->base, common, settings);
    CHECK_EQ(llc_sets(driver->base.config), SETS);
    driver->oracle = *choices;
    driver->oracle.clusters = CLUSTERS;
    driver->oracle.mcs = MCS;
    driver->oracle.slice_sets = SETS;
    driver->oracle.ways = WAYS;
    driver->oracle.slice_bytes = 32;
    driver->oracle.memory_bytes = MCS * 128.0 / 2 * 1758 / 1400; /* a burst in two memory cycles at each controller */
    driver->oracle.epoch_cycles = 3000;
    driver->oracle.profile_cycles = 700;
    driver->oracle.report_cycles = 9;
    driver->oracle.similar = 0.05;
    adaptive_oracle_empty_directory(&driver->oracle);
    driver->random = seed;
    driver->base.llc->program = 1; /* for the journal */
    for (unsigned i = 0; i < 40; i++) run_kernel(driver);
    struct llc_organisation *llc = driver->base.llc;
    llc->ops->control->settle(llc, driver->now);
    const struct adaptive_oracle *oracle = &driver->oracle;
    CHECK_EQ(COUNTER(driver, "adaptive.decisions"), oracle->decisions);
    CHECK_EQ(COUNTER(driver, "adaptive.rule_1"), oracle->rule[1]);
    CHECK_EQ(COUNTER(driver, "adaptive.rule_2"), oracle->rule[2]);
    CHECK_EQ(COUNTER(driver, "adaptive.rule_3"), oracle->rule[3]);
    CHECK_EQ(COUNTER(driver, "adaptive.directory_reads"), oracle->directory_reads);
    CHECK_EQ(COUNTER(driver, "adaptive.directory_hits"), oracle->directory_hits);
    CHECK_EQ(COUNTER(driver, "adaptive.private_cycles"), driver->private_cycles);
    CHECK_EQ(COUNTER(driver, "adaptive.shared_cycles"), driver->shared_cycles);
    CHECK_EQ(COUNTER(driver, "adaptive.profile_cycles"), driver->profile_cycles);
    for (unsigned i = 0; i < 4; i++) rules[i] += oracle->rule[i];
    free(oracle->kept.set);
    fixture_release(&driver->base);
    free(driver);
}

TEST("every decision of the adaptive LLC is that of the paper's rules on what was sent and looked up") {
    static const struct {
        const char *settings[4];
        struct adaptive_oracle choices;
    } cases[] = {
        {{"llc.adaptive.sets=3"}, {.sampled_sets = 3, .power_gating = true, .acts = true}},
        {{"llc.adaptive.sets=64", "llc.adaptive.power_gating=false"}, {.sampled_sets = 64, .acts = true}},
        {{"llc.adaptive.sets=5", "llc.adaptive.last_only=true", "llc.adaptive.all_routers=true"},
         {.sampled_sets = 5, .last_only = true, .all_routers = true, .power_gating = true, .acts = true}},
        {{"llc.adaptive.sets=10", "llc.adaptive.sampled_rate=true", "llc.adaptive.window_cycles=64"},
         {.sampled_sets = 10, .sampled_rate = true, .window_cycles = 64, .power_gating = true, .acts = true}},
        {{"llc.adaptive.sets=10", "llc.adaptive.warm_directory=true"},
         {.sampled_sets = 10, .warm = true, .power_gating = true, .acts = true}},
        {{"llc.adaptive.sets=10", "llc.adaptive.outlasts_kernels=true"},
         {.sampled_sets = 10, .outlasts_kernels = true, .power_gating = true, .acts = true}},
        {{"llc.adaptive.sets=10", "llc.adaptive.atomics=true"},
         {.sampled_sets = 10, .atomics_allowed = true, .power_gating = true, .acts = true}},
        {{"llc.adaptive.sets=10", "llc.adaptive.acts=false"}, {.sampled_sets = 10, .power_gating = true}},
    };
    unsigned rules[4] = {0}; /* decisions by each rule, and by none */
    for (unsigned i = 0; i < COUNT_OF(cases); i++) compare(cases[i].settings, &cases[i].choices, 2019 + i, rules);
    for (unsigned i = 0; i < 4; i++) CHECK(rules[i] > 40);
}
