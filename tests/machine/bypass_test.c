/* Machines with a private LLC whose MC-routers are bypassed. */
#include "base/random.h"
#include "dram/mapping.h"
#include "llc/organisation.h"
#include "machine/runs.h"

#include "sm/script.h"

#define BYPASS "llc.organisation=private", "noc.bypass=true"
#define SHORT  SETTINGS(BYPASS, "workload.ctas=34", "workload.warps=3", "workload.iterations=5", "workload.kernels=2")

CLAIM("with bypassed routers, too, polling and the order of ticks change nothing") {
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

CLAIM("bypassed MC-routers are gated for all cycles of the run, and all that goes to the LLC goes round them") {
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

CLAIM("a hit in the LLC is as much sooner as a bypass is faster than a router, there and back") {
    CHECK_EQ(llc_hit("noc.bypass=false") - llc_hit("noc.bypass=true"), 2u * (2 - 1)); /* four stages, two in a cycle */
}

CLAIM("every request of a cluster, atomics too, is for its own slice at the line's controller") {
    struct config *config = run_config("adaptive-80sm", SETTINGS(BYPASS));
    struct error err = {0};
    struct address_map *map = address_map_create(config, &err);
    REQUIRE(map);
    struct llc_site site = {config, map, NULL, NULL};
    struct llc_organisation *organisation = llc_organisation_create(&site, &err);
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
        wrong += llc_target(organisation, &message, cluster, 0) != location.mc * slices + cluster;
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

CLAIM("past bypassed MC-routers atomics of all clusters on one word meet in one slice, and none is lost on the way") {
    struct run *apart = run_atomics("noc.bypass=false"), *passed = run_atomics("noc.bypass=true");
    CHECK_EQ(run_count(apart, "llc.atomics_passed"), 0u);
    CHECK_EQ(run_count(passed, "llc.atomics_passed"), 80u * 8 / 8 * 7); /* but for those of the home's own cluster */
    unsigned slices = 0;
    for (unsigned i = 0; i < 64; i++)
        slices += run_count_of(passed, "llc.atomic_hits", i) + run_count_of(passed, "llc.atomic_misses", i) > 0;
    CHECK_EQ(slices, 1u);
    CHECK_EQ(run_count(passed, "llc.atomic_misses"), 1u);
    CHECK_EQ(run_count(passed, "llc.atomic_hits"), 80u * 8 - 1);
    CHECK_EQ(run_count(passed, "llc.replies"), run_count(apart, "llc.replies"));
    run_destroy(apart);
    run_destroy(passed);
}

CLAIM("an atomic that is passed on takes the way between two slices longer, there and back") {
    uint64_t latency[2];
    static const char *const ways[] = {"llc.pass_cycles=4", "llc.pass_cycles=14"};
    for (unsigned i = 0; i < 2; i++) {
        struct step step = memory_step(OP_atomic, SPACE_GLOBAL, 1, 0x10000000, 1);
        struct script_source source = script_make(80, 1, (struct script){&step, 1});
        struct run *run =
            run_of("adaptive-80sm", &source.source,
                   SETTINGS("llc.organisation=private", "sm.instruction_kb=0", "noc.bypass=true", ways[i]));
        run_go(run, (struct run_options){0});
        latency[i] = run_count(run, "sm.load_cycles_max");
        CHECK_EQ(run_count(run, "llc.atomics_passed"), 70u);
        run_destroy(run);
    }
    CHECK_EQ(latency[1] - latency[0], 2u * 10);
}

static void check_refused(const char *gpu, const char *const *settings, const char *why) {
    struct config *config = run_config(gpu, NO_SETTINGS);
    struct error err = {0};
    for (; *settings; settings++) REQUIRE(config_set(config, *settings, &err));
    CHECK(!config_check(config, &err));
    CHECK_TEXT(err.text, "noc.bypass");
    CHECK_TEXT(err.text, why);
    config_destroy(config);
}

CLAIM("a machine that needs its MC-routers is refused a bypass when its description is read") {
    check_refused("adaptive-80sm", SETTINGS("noc.bypass=true"), "llc.organisation shared");
    check_refused("adaptive-80sm", SETTINGS(BYPASS, "noc.topology=full"), "noc.topology=hierarchical");
}

CLAIM("queues of one finish with bypassed routers") {
    struct run *run =
        run_make("adaptive-80sm", "synth:copy",
                 SETTINGS(BYPASS, "noc.vc_flits=1", "noc.injection_packets=1", "noc.ejection_packets=1",
                          "llc.input_queue=1", "llc.reply_queue=1", "workload.ctas=20", "workload.iterations=2"));
    run_go(run, (struct run_options){0});
    CHECK(run_count(run, "noc.request.mc_router.bypassed_flits") > 0);
    run_destroy(run);
}
