#include "test.h"

#include "sm/sm_fixture.h"

TEST("instructions are fetched by line: one miss for 16 instructions of 8 bytes, then hits") {
    struct step steps[32];
    for (unsigned i = 0; i < 32; i++) steps[i] = alu(OP_other, 0, 0);
    struct script_source source = script_make(2, 1, SCRIPT(steps)); /* with its exit, 33 instructions in three lines */
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.instruction_kb=2", "sm.ctas=1"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.instruction_misses"), 3u);
    CHECK_EQ(COUNTER(sm, "sm.instruction_hits"), 3u);
    CHECK_EQ(sm->requests, 3u);
    for (unsigned i = 0; i < 3; i++) CHECK_EQ(sm->request[i].address % 128, 0u);
    CHECK_EQ(sm->request[1].address, sm->request[0].address + 128);
    CHECK_EQ(COUNTER(sm, "l1.read_misses"), 0u);
    CHECK_EQ(script_issued(&source, 0, 0, 15), script_issued(&source, 0, 0, 0) + 15);
    CHECK_EQ(script_issued(&source, 0, 0, 16), script_issued(&source, 0, 0, 15) + round_trip(sm) + 1);
    sm_fixture_destroy(sm);
}

TEST("warps that need the same instruction line share one miss") {
    struct step steps[] = {alu(OP_other, 0, 0)};
    struct script_source source = script_make(1, 8, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.instruction_kb=2"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(sm->requests, 1u);
    CHECK_EQ(COUNTER(sm, "sm.instruction_misses"), 8u);
    CHECK_EQ(script_issued(&source, 0, 0, 0), FIRST_ISSUE + round_trip(sm));
    sm_fixture_destroy(sm);
}

TEST("a fetch with a reservation failure is retried until the instruction cache accepts it") {
    struct step steps[40];
    for (unsigned i = 0; i < 40; i++) steps[i] = alu(OP_other, 0, 0);
    struct script_source source = script_make(1, 4, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(
        SETTINGS("sm.instruction_kb=1", "sm.instruction_ways=1", "sm.read_only_mshrs=1", "sm.read_only_merges=1"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.warp_instructions"), 4u * 41);
    CHECK(COUNTER(sm, "sm.stall.fetch") > 0);
    /* No warp issues before its line is there, and each fetch counts once: three lines for each of four warps. */
    for (unsigned warp = 0; warp < 4; warp++) CHECK(script_issued(&source, 0, warp, 0) >= FIRST_ISSUE + round_trip(sm));
    CHECK_EQ(COUNTER(sm, "sm.instruction_hits") + COUNTER(sm, "sm.instruction_misses"), 4u * 3);
    sm_fixture_destroy(sm);
}

TEST("constant loads use the constant cache") {
    struct step steps[] = {load_constant(1, 0x1000), alu(OP_other, 0, 1), load_constant(2, 0x1020),
                           alu(OP_other, 0, 2)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.constant_misses"), 1u);
    CHECK_EQ(COUNTER(sm, "sm.constant_hits"), 1u);
    CHECK_EQ(sm->requests, 1u);
    CHECK_EQ(sm->request[0].flags, 0); /* no load of global data: nothing to replicate */
    CHECK_EQ(COUNTER(sm, "l1.read_misses") + COUNTER(sm, "l1.read_hits"), 0u);
    CHECK_EQ(script_issued(&source, 0, 0, 3), script_issued(&source, 0, 0, 2) + hit_latency(sm));
    CHECK(script_issued(&source, 0, 0, 1) >= FIRST_ISSUE + miss_latency(sm));
    sm_fixture_destroy(sm);
    sm = sm_fixture_create(SETTINGS("sm.constant_kb=0")); /* every access hits */
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.constant_hits"), 2u);
    CHECK_EQ(sm->requests, 0u);
    sm_fixture_destroy(sm);
}

TEST("loads through the read-only cache do not access the L1") {
    struct step steps[] = {load_noncoherent(1, 0x1000), alu(OP_other, 0, 1),  load_noncoherent(2, 0x1000),
                           alu(OP_other, 0, 2),         load_line(3, 0x1000), alu(OP_other, 0, 3)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.read_only_misses"), 1u);
    CHECK_EQ(COUNTER(sm, "sm.read_only_hits"), 1u);
    CHECK_EQ(COUNTER(sm, "l1.read_misses"), 1u); /* the plain load, which finds nothing there */
    CHECK_EQ(COUNTER(sm, "l1.read_hits"), 0u);
    CHECK_EQ(sm->requests, 2u);
    CHECK_EQ(sm->request[0].flags, MESSAGE_READ_ONLY);
    CHECK_EQ(COUNTER(sm, "sm.loads"), 3u);
    sm_fixture_destroy(sm);
}

TEST("without a read-only cache its loads use the L1") {
    struct step steps[] = {load_noncoherent(1, 0x1000), alu(OP_other, 0, 1), load_noncoherent(2, 0x1000)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.read_only_kb=0"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.read_only_misses") + COUNTER(sm, "sm.read_only_hits"), 0u);
    CHECK_EQ(COUNTER(sm, "l1.read_misses"), 1u);
    CHECK_EQ(COUNTER(sm, "l1.read_hits"), 1u);
    sm_fixture_destroy(sm);
}

TEST("a read-only cache has reservation failures for MSHRs and merge limit like an L1") {
    static const char *const settings[] = {"sm.read_only_mshrs=1", "sm.read_only_merges=1"};
    for (unsigned i = 0; i < 2; i++) {
        struct step steps[] = {load_noncoherent(1, 0x1000), load_noncoherent(2, i == 0 ? 0x2000 : 0x1000)};
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        struct sm_fixture *sm = sm_fixture_create(SETTINGS(settings[i]));
        sm_fixture_run(sm, &source);
        CHECK(COUNTER(sm, "sm.reservation_fail.mshr") >= sm->memory_cycles);
        CHECK_EQ(sm->requests, i == 0 ? 2u : 1u);
        sm_fixture_destroy(sm);
    }
}

TEST("the end of a kernel invalidates constant and read-only caches and keeps the instruction cache") {
    struct step steps[] = {load_noncoherent(1, 0x1000), load_constant(2, 0x2000), load_line(3, 0x3000)};
    for (unsigned flush = 0; flush < 2; flush++) {
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        source.kernels = 2;
        struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.instruction_kb=2"));
        sm->flush = flush;
        sm_fixture_run(sm, &source);
        CHECK_EQ(COUNTER(sm, "sm.read_only_misses"), flush ? 2u : 1u);
        CHECK_EQ(COUNTER(sm, "sm.constant_misses"), flush ? 2u : 1u);
        CHECK_EQ(COUNTER(sm, "l1.read_misses"), flush ? 2u : 1u);
        CHECK_EQ(COUNTER(sm, "sm.instruction_misses"), 1u);
        CHECK_EQ(COUNTER(sm, "l1.flushes"), flush ? 2u : 0u);
        sm_fixture_destroy(sm);
    }
}

/* Loads that each wait for the one before, from lines of one set. */
static void check_constants(const unsigned *lines, unsigned count, const char *ways, unsigned hits) {
    struct step steps[32];
    for (unsigned i = 0; i < count; i++) {
        steps[2 * i] = load_constant(1, 0x1000 + 1024 * (uint64_t)lines[i]);
        steps[2 * i + 1] = alu(OP_other, 0, 1);
    }
    struct script_source source = script_make(1, 1, (struct script){steps, 2 * count});
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.constant_kb=1", ways));
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.constant_hits"), hits);
    CHECK_EQ(COUNTER(sm, "sm.constant_misses"), count - hits);
    sm_fixture_destroy(sm);
}

TEST("repeated hits on a line neither keep it in the cache nor change the order of replacement") {
    static const unsigned evicted[] = {0, 0, 0, 1, 0}, order[] = {0, 1, 0, 0, 2, 0, 0, 1, 1, 2};
    check_constants(evicted, COUNT_OF(evicted), "sm.constant_ways=1", 2);
    check_constants(order, COUNT_OF(order), "sm.constant_ways=2", 5); /* 2 evicts 1, then 1 evicts 2 */
}

TEST("a line hit last before the end of a kernel is invalidated like others") {
    struct step steps[] = {load_constant(1, 0x2000), alu(OP_other, 0, 1), load_constant(2, 0x2000)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    source.kernels = 3;
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm->flush = true;
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.constant_misses"), 3u);
    CHECK_EQ(COUNTER(sm, "sm.constant_hits"), 3u);
    sm_fixture_destroy(sm);
}
