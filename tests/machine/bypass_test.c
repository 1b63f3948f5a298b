/* Machines with a private LLC whose MC-routers are bypassed. */
#include "base/random.h"
#include "dram/mapping.h"
#include "llc/organisation.h"
#include "llc/route.h"
#include "machine/runs.h"

#include "sm/script.h"

#define BYPASS "llc.organisation=private", "noc.bypass=true"
#define SHORT  SETTINGS(BYPASS, "workload.ctas=34", "workload.warps=3", "workload.iterations=5", "workload.kernels=2")

TEST("tick order and polling do not change the counters with bypassed routers") {
    static const char *const gpus[] = {"adaptive-80sm", "selrep-64sm"};
    static const char *const workloads[] = {"synth:shared", "synth:copy"};
    static const struct run_options options[] = {{.no_skip = true}, {.shuffle = 5}, {.no_skip = true, .shuffle = 6}};
    for (unsigned g = 0; g < COUNT_OF(gpus); g++)
        for (unsigned w = 0; w < COUNT_OF(workloads); w++) {
            struct run *first = run_make(gpus[g], workloads[w], SHORT);
            run_go(first, (struct run_options){0});
            struct counters expected = counters_of(first);
            CHECK(run_count(first, "noc.reply.mc_router.bypassed_flits") > 1000);
            run_destroy(first);
            for (unsigned i = 0; i < COUNT_OF(options); i++) {
                struct run *other = run_make(gpus[g], workloads[w], SHORT);
                run_go(other, options[i]);
                CHECK(counters_equal(other, &expected));
                run_destroy(other);
            }
            free(expected.value);
        }
}

TEST("bypassed MC-routers are gated in every cycle of the run, and all LLC traffic goes around them") {
    struct run *run = run_make("adaptive-80sm", "synth:shared", SHORT);
    run_go(run, (struct run_options){0});
    CHECK_EQ(run_count(run, "noc.request.mc_router.gated_cycles"), 8 * run->result.cycles);
    CHECK_EQ(run_count(run, "noc.reply.mc_router.gated_cycles"), 8 * run->result.cycles);
    CHECK_EQ(run_count(run, "noc.request.mc_router.bypassed_flits"), run_count(run, "noc.request.flits_injected"));
    CHECK_EQ(run_count(run, "noc.reply.mc_router.bypassed_flits"), run_count(run, "noc.reply.flits_ejected"));
    CHECK_EQ(run_count(run, "noc.reply.mc_router.buffer_writes"), 0u);
    run_destroy(run);
}

static uint64_t llc_hit(const char *bypass) {
    struct run *run = run_make("adaptive-80sm", "synth:chase",
                               SETTINGS("llc.organisation=private", bypass, "workload.footprint_kb=4",
                                        "workload.stride_bytes=128", "workload.cache_global=true"));
    run_go(run, (struct run_options){0});
    uint64_t cycles = run_count(run, "sm.load_cycles_min");
    run_destroy(run);
    return cycles;
}

TEST("an LLC hit is faster by the difference between router and bypass, in both directions") {
    CHECK_EQ(llc_hit("noc.bypass=false") - llc_hit("noc.bypass=true"), 2u * (2 - 1)); /* four stages, two in a cycle */
}

TEST("every request of a cluster, atomics included, goes to its own slice at the line's controller") {
    struct config *config = run_config("adaptive-80sm", SETTINGS(BYPASS));
    struct error err = {0};
    struct address_map *map = address_map_create(config, &err);
    REQUIRE(map);
    struct llc_context context = {config, map, NULL, NULL};
    struct llc_organisation *organisation = llc_organisation_create(&context, &err);
    REQUIRE(organisation);
    CHECK(organisation->ops->own_slice_only);
    static const uint8_t kinds[] = {MESSAGE_READ, MESSAGE_WRITE, MESSAGE_ATOMIC};
    uint64_t random = 1;
    unsigned slices = address_map_slices_per_mc(map), wrong = 0;
    for (unsigned i = 0; i < 3000; i++) {
        struct message message = {.address = random_below(&random, 1u << 30) / 128 * 128, .kind = kinds[i % 3]};
        struct location location;
        address_map_locate(map, message.address, &location);
        unsigned cluster = (unsigned)random_below(&random, slices);
        wrong += route(organisation, &message, cluster, 0) != location.mc * slices + cluster;
    }
    CHECK_EQ(wrong, 0u);
    organisation->ops->destroy(organisation);
    address_map_destroy(map);
    config_destroy(config);
}

/* Every cluster's first SM performs atomics on one word. */
static struct run *run_atomics(const char *bypass) {
    static struct step steps[8];
    for (unsigned i = 0; i < 8; i++) steps[i] = memory_step(OP_atomic, SPACE_GLOBAL, 1, 0x10000000, 1);
    static struct script_source source;
    source = script_make(80, 1, (struct script){steps, 8});
    struct run *run = run_of("adaptive-80sm", &source.source,
                             SETTINGS("llc.organisation=private", "sm.instruction_kb=0", "llc.slice_kb=96", bypass));
    run_go(run, (struct run_options){0});
    return run;
}

TEST("in a private LLC atomics of all clusters on a word meet in the LLC for atomics, with and without bypass") {
    static const char *const ways[] = {"noc.bypass=false", "noc.bypass=true"};
    for (unsigned way = 0; way < 2; way++) {
        struct run *run = run_atomics(ways[way]);
        unsigned slices = 0;
        for (unsigned i = 0; i < 8; i++) slices += run_count_of(run, "atomics.replies", i) > 0;
        CHECK_EQ(slices, 1u);
        CHECK_EQ(run_count(run, "llc.atomics_forwarded"), 80u * 8);
        CHECK_EQ(run_count(run, "llc.replies"), 80u * 8);
        CHECK_EQ(run_count(run, "llc.atomic_hits") + run_count(run, "llc.atomic_misses"), 0u);
        CHECK_EQ(run_count(run, "atomics.atomic_misses"), 1u);
        CHECK_EQ(run_count(run, "atomics.atomic_hits"), 80u * 8 - 1);
        CHECK_EQ(run_count(run, "atomics.write_backs"), 1u); /* at the kernel's end */
        run_destroy(run);
    }
}

TEST("a forwarded atomic takes the path to the LLC for atomics and back longer, plus its latency once") {
    uint64_t latency[3];
    static const char *const ways[] = {"atomics.pass_cycles=4", "atomics.pass_cycles=14", "atomics.latency_cycles=27"};
    for (unsigned i = 0; i < 3; i++) {
        struct step steps[2] = {memory_step(OP_atomic, SPACE_GLOBAL, 1, 0x10000000, 1)};
        steps[1] = steps[0]; /* which finds its line there */
        steps[1].instr.src[0] = 1;
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        struct run *run =
            run_of("adaptive-80sm", &source.source,
                   SETTINGS("llc.organisation=private", "sm.instruction_kb=0", "noc.bypass=true", ways[i]));
        run_go(run, (struct run_options){0});
        latency[i] = run_count(run, "sm.load_cycles_min");
        CHECK_EQ(run_count(run, "llc.atomics_forwarded"), 2u);
        run_destroy(run);
    }
    CHECK_EQ(latency[1] - latency[0], 2u * 10);
    CHECK_EQ(latency[2] - latency[0], 27u - 20);
}

TEST("any number of atomics on a word completes with queues of one entry, at most one per cycle") {
    static struct step steps[16];
    for (unsigned i = 0; i < 16; i++) steps[i] = memory_step(OP_atomic, SPACE_GLOBAL, 0, 0x10000000, 1);
    static struct script_source source;
    source = script_make(160, 4, (struct script){steps, 16});
    struct run *run =
        run_of("adaptive-80sm", &source.source,
               SETTINGS(BYPASS, "sm.instruction_kb=0", "noc.vc_flits=1", "noc.injection_packets=1", "llc.input_queue=1",
                        "noc.ejection_packets=1", "llc.reply_queue=1", "llc.mshrs=1", "llc.mshr_merges=1",
                        "llc.replay_queue=0", "atomics.size_kb=1", "atomics.ways=1", "atomics.pass_cycles=1"));
    run_go(run, (struct run_options){0});
    CHECK_EQ(run_count(run, "atomics.replies"), 160u * 4 * 16);
    CHECK(run->result.cycles > 160u * 4 * 16);
    run_destroy(run);
}

/* The bundled GPU with settings over it, not checked as a whole. */
static struct config *adaptive_with(const char *const *settings) {
    struct config *config = run_config("adaptive-80sm", NO_SETTINGS);
    struct error err = {0};
    REQUIRE(config_set_all(config, settings, &err));
    return config;
}

TEST("a machine that needs its MC-routers is rejected with noc.bypass when its description is read") {
    CHECK_REJECTED(adaptive_with(SETTINGS("noc.bypass=true")), "noc.bypass", "llc.organisation shared");
    CHECK_REJECTED(adaptive_with(SETTINGS(BYPASS, "noc.topology=full")), "noc.bypass", "noc.topology=hierarchical");
}

TEST("an LLC for atomics with partial sets, or too large for a controller, is rejected if it is needed") {
    CHECK_REJECTED(adaptive_with(SETTINGS(BYPASS, "atomics.ways=48")), "atomics.ways", "128 lines");
    CHECK_REJECTED(adaptive_with(SETTINGS(BYPASS, "atomics.ways=256")), "atomics.ways", "128 lines");
    CHECK_REJECTED(adaptive_with(SETTINGS("llc.organisation=private", "sm.count=64", "gpu.clusters=64",
                                          "llc.slices_per_mc=64", "dram.mcs=1", "dram.mapping=linear")),
                   "llc.slices_per_mc", "at most 63 slices");
    config_destroy(run_config("adaptive-80sm", SETTINGS("atomics.ways=48")));
}

TEST("runs with bypassed routers and queues of one entry complete") {
    struct run *run =
        run_make("adaptive-80sm", "synth:copy",
                 SETTINGS(BYPASS, "noc.vc_flits=1", "noc.injection_packets=1", "noc.ejection_packets=1",
                          "llc.input_queue=1", "llc.reply_queue=1", "workload.ctas=20", "workload.iterations=2"));
    run_go(run, (struct run_options){0});
    CHECK(run_count(run, "noc.request.mc_router.bypassed_flits") > 0);
    run_destroy(run);
}
