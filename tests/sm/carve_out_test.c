/* L1 and shared memory in one array: the carve-out of a kernel, and the L1 that it leaves. */
#include "test.h"

#include "sim/gpu_config.h"
#include "sm/sm_fixture.h"

/* An array of 32 KB: 64 ways of 4 lines. */
#define UNIFIED   "l1.size_kb=32", "l1.ways=64", "sm.carve_outs=[0, 8, 16, 24]"
#define LINES(kb) ((kb)*8u)

static struct kernel kernel_with(uint32_t shared_bytes) {
    return (struct kernel){
        .name = "k", .grid = {100000, 1, 1}, .block = {128, 1, 1}, .registers = 16, .shared_bytes = shared_bytes};
}

TEST("a kernel gets the smallest carve-out that holds its CTAs, which are as many as fit in the largest") {
    static const struct {
        uint32_t bytes;
        unsigned ctas, shared_kb, l1_ways;
    } cases[] = {
        {0, 16, 0, 64},     /* 64 warps */
        {512, 16, 8, 48},   /* 8 KB */
        {513, 16, 16, 32},  /* 16 bytes more */
        {1024, 16, 16, 32}, /* 16 KB */
        {1537, 15, 24, 16}, /* 24 KB / 1537 B */
        {8192, 3, 24, 16},  {8193, 2, 24, 16}, {12289, 1, 16, 32}, {16385, 1, 24, 16}, {24576, 1, 24, 16},
    };
    struct config *config = config_with(SETTINGS(UNIFIED));
    struct error err = {0};
    REQUIRE(config_check(config, &err));
    CHECK_EQ(((const struct sm_config *)config_get(config, &sm_section))->shared_kb, 24);
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct kernel kernel = kernel_with(cases[i].bytes);
        unsigned ctas = sm_occupancy(config, gpu_sms(config), &kernel, &err);
        struct carve_out carve_out = sm_carve_out(config, &kernel, ctas);
        CHECK_EQ(ctas, cases[i].ctas);
        CHECK_EQ(carve_out.shared_kb, cases[i].shared_kb);
        CHECK_EQ(carve_out.l1_ways, cases[i].l1_ways);
    }
    struct kernel small = kernel_with(8192);
    small.grid[0] = 1; /* a single CTA does not need 24 KB */
    CHECK_EQ(sm_carve_out(config, &small, sm_occupancy(config, gpu_sms(config), &small, &err)).shared_kb, 8u);
    config_destroy(config);
}

TEST("each CTA occupies the reserved bytes, too") {
    struct config *config = config_with(SETTINGS(UNIFIED, "sm.shared_reserved_bytes=1024"));
    struct error err = {0};
    REQUIRE(config_check(config, &err));
    struct kernel kernel = kernel_with(0);
    CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), 16u);
    CHECK_EQ(sm_carve_out(config, &kernel, 16).shared_kb, 16u);
    kernel = kernel_with(1024);
    CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), 12u);
    kernel = kernel_with(23553); /* with 1024, one byte too many */
    CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), 0u);
    CHECK_TEXT(err.text, "24577 bytes of shared memory, an SM has 24576 (sm.shared_kb)");
    config_destroy(config);
}

TEST("a selected carve-out limits occupancy, and a CTA that it does not hold is rejected") {
    struct config *config = config_with(SETTINGS(UNIFIED, "sm.carve_out_kb=16"));
    struct error err = {0};
    REQUIRE(config_check(config, &err));
    struct kernel kernel = kernel_with(8000);
    CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), 2u);
    CHECK_EQ(sm_carve_out(config, &kernel, 2).shared_kb, 16u);
    kernel = kernel_with(0); /* needs none */
    CHECK_EQ(sm_carve_out(config, &kernel, 16).shared_kb, 16u);
    CHECK_EQ(sm_carve_out(config, &kernel, 16).l1_ways, 32u);
    kernel = kernel_with(16385);
    CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), 0u);
    CHECK_TEXT(err.text, "16385 bytes of shared memory, an SM has 16384 (sm.carve_out_kb)");
    config_destroy(config);
}

TEST("without carve-outs the L1 has its own array") {
    struct config *config = config_with(NO_SETTINGS);
    struct kernel kernel = kernel_with(1000);
    CHECK_EQ(sm_carve_out(config, &kernel, 16).l1_ways, 0u);
    config_destroy(config);
}

/* Reads `lines` consecutive lines, waits for them, and reads them again. */
enum { STEPS_MAX = 40, PER_LOAD = 32 };
static unsigned read_twice(struct step *steps, unsigned lines) {
    unsigned count = 0;
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned line = 0; line < lines;) {
            struct step *step = &steps[count++];
            *step = load_line((uint8_t)count, 0);
            for (step->instr.count = 0; step->instr.count < PER_LOAD && line < lines; line += 2)
                step->touch[step->instr.count++] =
                    touch_make(0x10000 + line * UINT64_C(128), line + 1 < lines ? 0xFF : 0x0F);
        }
        steps[count++] = fence();
    }
    return count;
}

TEST("the L1 holds what the carve-out leaves, and one line more evicts") {
    static const struct {
        uint32_t bytes;
        unsigned l1_kb;
    } cases[] = {{0, 32}, {8192, 24}, {16384, 16}, {24576, 8}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++)
        for (unsigned more = 0; more < 2; more++) {
            struct step steps[STEPS_MAX];
            unsigned lines = LINES(cases[i].l1_kb), set = lines / 4 + 1;
            struct script script = {steps, read_twice(steps, lines + more)};
            struct script_source source = script_make(1, 1, script);
            source.kernel.shared_bytes = cases[i].bytes;
            struct sm_fixture *sm = sm_fixture_create(SETTINGS(UNIFIED));
            sm_fixture_run(sm, &source);
            /* The set with one line too many misses on all of them. */
            CHECK_EQ(COUNTER(sm, "l1.read_hits"), more ? lines + 1 - set : lines);
            CHECK_EQ(COUNTER(sm, "l1.read_misses"), lines + more + (more ? set : 0));
            sm_fixture_destroy(sm);
        }
}

/* Kernels of 0, 24 and 0 KB of shared memory: after each interval, what the next one has. */
static struct script_source *launched;
static uint64_t hits[3];
static void next_needs(struct sm_fixture *sm) {
    unsigned kernel = launched->launched;
    launched->kernel.shared_bytes = kernel == 1 ? 24576 : 0;
    hits[kernel - 1] = COUNTER(sm, "l1.read_hits");
}

TEST("the L1 changes its size with each kernel, and counters do not depend on polling") {
    for (unsigned polled = 0; polled < 2; polled++) {
        struct step steps[STEPS_MAX];
        struct script script = {steps, read_twice(steps, LINES(32))};
        struct script_source source = script_make(1, 1, script);
        source.kernels = 3;
        launched = &source;
        struct sm_fixture *sm = sm_fixture_create(SETTINGS(UNIFIED));
        sm->base.engine->poll = polled;
        sm->flush = true;
        sm->between = next_needs;
        sm_fixture_run(sm, &source);
        CHECK_EQ(hits[0], LINES(32)); /* all of the second round */
        CHECK_EQ(hits[1], hits[0]);   /* a quarter of the array: LRU evicts every line before its reuse */
        CHECK_EQ(hits[2], 2 * hits[0]);
        CHECK_EQ(COUNTER(sm, "l1.flushes"), 3u);
        CHECK_EQ(COUNTER(sm, "l1.evictions"), 2 * LINES(32) - LINES(8));
        sm_fixture_destroy(sm);
    }
}

TEST("carve-outs that the array does not have are rejected, with the setting at fault") {
    CHECK_REJECTED(config_with(SETTINGS(UNIFIED, "sm.carve_outs=[0, 16, 8]")), "sm.carve_outs", "8 KB follow 16 KB");
    CHECK_REJECTED(config_with(SETTINGS(UNIFIED, "sm.carve_outs=[32, 48]")), "sm.carve_outs", "l1.size_kb");
    CHECK_REJECTED(config_with(SETTINGS("l1.size_kb=32", "l1.ways=4", "sm.carve_outs=[0, 4]")), "sm.carve_outs",
                   "a way of the L1, 8192 B");
    CHECK_REJECTED(config_with(SETTINGS(UNIFIED, "sm.carve_out_kb=12")), "sm.carve_out_kb", "none of the sizes");
    CHECK_REJECTED(config_with(SETTINGS("sm.carve_out_kb=8")), "sm.carve_out_kb", "two arrays");
    CHECK_REJECTED(config_with(SETTINGS(UNIFIED, "sm.shared_kb=48")), "sm.shared_kb", "24 KB");
}

TEST("carve-outs that leave nothing to the L1 are left out") {
    struct config *config = config_with(SETTINGS(UNIFIED, "sm.carve_outs=[8, 16, 32, 48]"));
    struct error err = {0};
    CHECK(config_check(config, &err));
    CHECK_EQ(sm_carve_out_count(config), 2u);
    CHECK_EQ(((const struct sm_config *)config_get(config, &sm_section))->shared_kb, 16);
    config_destroy(config);
    CHECK_REJECTED(config_with(SETTINGS(UNIFIED, "sm.carve_outs=[8, 16, 32]", "sm.carve_out_kb=32")), "sm.carve_out_kb",
                   "none of the sizes");
}

TEST("carve-outs need a private, flushed L1 without an insertion policy") {
    CHECK_REJECTED(config_with(SETTINGS(UNIFIED, "l1.flush_at_kernel_end=false")), "l1.flush_at_kernel_end",
                   "sm.carve_outs");
    CHECK_REJECTED(config_with(SETTINGS(UNIFIED, "l1.insertion=pdp")), "l1.insertion", "pdp needs an L1 of fixed size");
    CHECK_REJECTED(config_with(SETTINGS(UNIFIED, "l1.insertion=mrpb")), "l1.insertion", "mrpb needs");
    CHECK_REJECTED(config_with(SETTINGS(UNIFIED, "l1.organisation=clustered", "group.count=8")), "l1.organisation",
                   "the L1s of clustered have a fixed size");
}
