/* L1s shared by groups of SMs, in whole machines. */
#include "machine/runs.h"

#include "base/random.h"
#include "l1/group.h"
#include "l1/l1.h"
#include "sim/gpu_config.h"
#include "sim/message.h"
#include "sm/script.h"
#include "sm/sm_config.h"

#define CLUSTERED "l1.organisation=clustered"

/* From a push into a crossbar of the group to the sight of it behind. */
static uint64_t crossing(const struct group_config *group, enum message_kind kind, uint8_t sectors) {
    struct message message = {.kind = (uint8_t)kind, .sectors = sectors};
    return message_flits(&message, (unsigned)group->channel_bytes) +
           (uint64_t)(group->switch_cycles + group->link_cycles) - 1;
}

TEST("a chain within a clustered L1 measures its latency plus the group's crossbars") {
    const char *const *const settings[] = {SETTINGS("l1.latency_cycles=1"),
                                           SETTINGS("l1.latency_cycles=28", "group.channel_bytes=8"),
                                           SETTINGS("group.switch_cycles=3", "group.link_cycles=2", "group.nodes=1"),
                                           SETTINGS("group.count=4", "group.nodes=6", "l1.insertion=mrpb")};
    for (unsigned i = 0; i < COUNT_OF(settings); i++) {
        const char *all[8] = {CLUSTERED, "workload.footprint_kb=4", "workload.stride_bytes=128",
                              "workload.iterations=532"};
        for (unsigned s = 0; settings[i][s]; s++) all[4 + s] = settings[i][s];
        struct run *run = run_make("icc-32sm", "synth:chase", all);
        const struct sm_config *sm = config_get(run->config, &sm_section);
        const struct l1_config *l1 = config_get(run->config, &l1_section);
        const struct group_config *group = config_get(run->config, &group_section);
        uint64_t stage = i == 3; /* a cycle in a queue before the cache */
        run_go(run, (struct run_options){0});
        CHECK_EQ(run_count(run, "l1.read_misses"), 32u);
        CHECK_EQ(run_count(run, "l1.read_hits"), 500u);
        CHECK_EQ(run_count(run, "sm.load_cycles_min"),
                 (uint64_t)(sm->operand_cycles + l1->latency_cycles + sm->writeback_cycles) + stage +
                     crossing(group, MESSAGE_READ, 1) + crossing(group, MESSAGE_DATA, 1));
        run_destroy(run);
    }
}

TEST("the parts of read latencies add up to the total") {
    struct run *run = run_make(
        "icc-32sm", "synth:chase",
        SETTINGS(CLUSTERED, "workload.footprint_kb=64", "workload.stride_bytes=128", "workload.iterations=800"));
    const struct sm_config *sm = config_get(run->config, &sm_section);
    run_go(run, (struct run_options){0});
    CHECK_EQ(run_count(run, "l1.latency.reads"), 800u);
    CHECK_EQ(run_count(run, "l1.latency.request_cycles") + run_count(run, "l1.latency.node_cycles") +
                 run_count(run, "l1.latency.reply_cycles"),
             run_count(run, "sm.load_cycles") - 800 * (uint64_t)(sm->operand_cycles + sm->writeback_cycles));
    run_destroy(run);
}

TEST("the nodes of a group hold as many lines as all of them together, and use every set") {
    static const char *const nodes[] = {"group.nodes=1", "group.nodes=3", "group.nodes=4"};
    static const char *const footprints[] = {"workload.footprint_kb=16", "workload.footprint_kb=48",
                                             "workload.footprint_kb=64"};
    static const uint64_t lines[] = {128, 384, 512};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned decoupled = 0; decoupled < 2; decoupled++) {
            struct run *run = run_make("icc-32sm", "synth:chase",
                                       SETTINGS(CLUSTERED, nodes[i], footprints[i], "workload.stride_bytes=128",
                                                "workload.iterations=2000", "l1.decoupled.dueling=false",
                                                decoupled ? "l1.insertion=decoupled" : "l1.insertion=always"));
            run_go(run, (struct run_options){0});
            CHECK_EQ(run_count(run, "l1.evictions"), 0u);
            if (decoupled)
                CHECK_EQ(run_count(run, "l1.decoupled.tags_replaced"), 0u);
            else
                CHECK_EQ(run_count(run, "l1.read_misses"), lines[i]);
            run_destroy(run);
        }
}

/* One CTA of one warp for each SM; all do the same. */
static struct run *run_everywhere(struct script_source *source, const struct step *steps, unsigned count,
                                  const char *const *settings) {
    *source = script_make(32, 1, (struct script){steps, count});
    return run_of("icc-32sm", &source->source, settings);
}

TEST("a line that all SMs read is fetched once per group and invalidated at the end of a kernel") {
    struct step steps[] = {load_line(1, 0x10000)};
    struct script_source source;
    struct run *run = run_everywhere(&source, steps, 1, SETTINGS(CLUSTERED, "l1.flush_at_kernel_end=true"));
    source.kernels = 2;
    run_go(run, (struct run_options){0});
    CHECK_EQ(run_count(run, "l1.read_misses"), 16u);
    CHECK_EQ(run_count(run, "l1.read_hits") + run_count(run, "l1.read_pending_hits"), 48u);
    CHECK_EQ(run_count(run, "l1.flushes"), 64u);
    run_destroy(run);
    run = run_everywhere(&source, steps, 1, SETTINGS(CLUSTERED, "l1.flush_at_kernel_end=false"));
    source.kernels = 2;
    run_go(run, (struct run_options){0});
    CHECK_EQ(run_count(run, "l1.read_misses"), 8u);
    CHECK_EQ(run_count(run, "l1.flushes"), 0u);
    run_destroy(run);
}

TEST("a store of one SM invalidates the line for its group") {
    struct step steps[] = {load_line(1, 0x10000), alu(OP_other, 2, 1), store_line(2, 0x10000), load_line(3, 0x10000)};
    struct script_source source;
    struct run *run = run_everywhere(&source, steps, COUNT_OF(steps), SETTINGS(CLUSTERED, "group.count=32"));
    run_go(run, (struct run_options){0});
    CHECK_EQ(run_count(run, "l1.write_hits"), 32u);
    CHECK_EQ(run_count(run, "l1.read_misses"), 64u);
    run_destroy(run);
}

TEST("a node with a reservation failure reports its cause, and the SMs wait at its queue") {
    struct step steps[24];
    for (unsigned i = 0; i < 24; i++) steps[i] = load_line((uint8_t)(1 + i), 0x10000 + 512 * i); /* one home */
    struct script_source source;
    struct run *run = run_everywhere(&source, steps, 24, SETTINGS(CLUSTERED, "l1.mshrs=1"));
    run_go(run, (struct run_options){0});
    CHECK(run_count(run, "l1.reservation_fail.mshr") > 1000);
    CHECK(run_count(run, "sm.reservation_fail.input_queue") > 1000);
    CHECK_EQ(run_count(run, "l1.reservation_fail.line"), 0u);
    run_destroy(run);
}

TEST("in a duel between two nodes the followers are nodes, and receive the result") {
    struct step steps[60];
    for (unsigned i = 0; i < 60; i++) steps[i] = load_line(1, 0x10000 + 128 * i); /* once each: the policy is as good */
    struct script_source source;
    struct run *run =
        run_everywhere(&source, steps, 60,
                       SETTINGS(CLUSTERED, "l1.insertion=decoupled", "group.count=32", "l1.size_kb=1", "l1.sets=0",
                                "l1.decoupled.duel_contestants=stay", "l1.decoupled.duel_interval_cycles=2000",
                                "l1.decoupled.duel_least_reads=1"));
    run_go(run, (struct run_options){0});
    CHECK_EQ(run_count(run, "l1.decoupled.switched_on") - run_count(run, "l1.decoupled.switched_off"), 30u);
    run_destroy(run);
}

TEST("groups that do not divide the SMs, or nodes that the clusters do not divide, are rejected") {
    CHECK_REJECTED(config_with(SETTINGS(CLUSTERED, "group.count=7")), "group.count", "7 groups do not divide 80 SMs");
    CHECK_REJECTED(config_with(SETTINGS(CLUSTERED, "group.count=20", "group.nodes=1")), "group.nodes", "8 clusters");
    CHECK_REJECTED(config_with(SETTINGS(CLUSTERED, "sm.count=512", "gpu.clusters=8", "llc.slices_per_mc=8")),
                   "llc.slices_per_mc", "components");
    struct config *config = run_config(NULL, SETTINGS("group.count=7")); /* where there are none, it does not matter */
    config_destroy(config);
}
