#include "test.h"

#include "sm/stand.h"

TEST("instructions are fetched by the line: one miss for 16 of 8 bytes, and hits when they come again") {
    struct step steps[32];
    for (unsigned i = 0; i < 32; i++) steps[i] = alu(OP_other, 0, 0);
    struct script_source source = script_make(2, 1, SCRIPT(steps)); /* with its exit, 33 instructions in three lines */
    struct stand *stand = stand_make(SETTINGS("sm.instruction_kb=2", "sm.ctas=1"));
    stand_run(stand, &source);
    CHECK_EQ(stand_count(stand, "sm.instruction_misses"), 3u);
    CHECK_EQ(stand_count(stand, "sm.instruction_hits"), 3u);
    CHECK_EQ(stand->requests, 3u);
    for (unsigned i = 0; i < 3; i++) CHECK_EQ(stand->request[i].address % 128, 0u);
    CHECK_EQ(stand->request[1].address, stand->request[0].address + 128);
    CHECK_EQ(stand_count(stand, "l1.read_misses"), 0u);
    CHECK_EQ(script_issued(&source, 0, 0, 15), script_issued(&source, 0, 0, 0) + 15);
    CHECK_EQ(script_issued(&source, 0, 0, 16), script_issued(&source, 0, 0, 15) + stand_round_trip(stand) + 1);
    stand_destroy(stand);
}

TEST("warps that want the same instruction line wait for it together") {
    struct step steps[] = {alu(OP_other, 0, 0)};
    struct script_source source = script_make(1, 8, SCRIPT(steps));
    struct stand *stand = stand_make(SETTINGS("sm.instruction_kb=2"));
    stand_run(stand, &source);
    CHECK_EQ(stand->requests, 1u);
    CHECK_EQ(stand_count(stand, "sm.instruction_misses"), 8u);
    CHECK_EQ(script_issued(&source, 0, 0, 0), STAND_START + stand_round_trip(stand));
    stand_destroy(stand);
}

TEST("an instruction cache that can take no further miss is asked again until it can") {
    struct step steps[40];
    for (unsigned i = 0; i < 40; i++) steps[i] = alu(OP_other, 0, 0);
    struct script_source source = script_make(1, 4, SCRIPT(steps));
    struct stand *stand = stand_make(
        SETTINGS("sm.instruction_kb=1", "sm.instruction_ways=1", "sm.read_only_mshrs=1", "sm.read_only_merges=1"));
    stand_run(stand, &source);
    CHECK_EQ(stand_count(stand, "sm.warp_instructions"), 4u * 41);
    CHECK(stand_count(stand, "sm.stall.fetch") > 0);
    stand_destroy(stand);
}

TEST("constant loads have a cache of their own") {
    struct step steps[] = {load_constant(1, 0x1000), alu(OP_other, 0, 1), load_constant(2, 0x1020),
                           alu(OP_other, 0, 2)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct stand *stand = stand_make(NO_SETTINGS);
    stand_run(stand, &source);
    CHECK_EQ(stand_count(stand, "sm.constant_misses"), 1u);
    CHECK_EQ(stand_count(stand, "sm.constant_hits"), 1u);
    CHECK_EQ(stand->requests, 1u);
    CHECK_EQ(stand->request[0].flags, 0); /* no load of global data: nothing to replicate */
    CHECK_EQ(stand_count(stand, "l1.read_misses") + stand_count(stand, "l1.read_hits"), 0u);
    CHECK_EQ(script_issued(&source, 0, 0, 3), script_issued(&source, 0, 0, 2) + stand_hit_latency(stand));
    CHECK(script_issued(&source, 0, 0, 1) >= STAND_START + stand_miss_latency(stand));
    stand_destroy(stand);
    stand = stand_make(SETTINGS("sm.constant_kb=0")); /* every access hits */
    stand_run(stand, &source);
    CHECK_EQ(stand_count(stand, "sm.constant_hits"), 2u);
    CHECK_EQ(stand->requests, 0u);
    stand_destroy(stand);
}

TEST("loads by the read-only cache leave the L1 data cache alone") {
    struct step steps[] = {load_noncoherent(1, 0x1000), alu(OP_other, 0, 1),  load_noncoherent(2, 0x1000),
                           alu(OP_other, 0, 2),         load_line(3, 0x1000), alu(OP_other, 0, 3)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct stand *stand = stand_make(NO_SETTINGS);
    stand_run(stand, &source);
    CHECK_EQ(stand_count(stand, "sm.read_only_misses"), 1u);
    CHECK_EQ(stand_count(stand, "sm.read_only_hits"), 1u);
    CHECK_EQ(stand_count(stand, "l1.read_misses"), 1u); /* the plain load, which finds nothing there */
    CHECK_EQ(stand_count(stand, "l1.read_hits"), 0u);
    CHECK_EQ(stand->requests, 2u);
    CHECK_EQ(stand->request[0].flags, MESSAGE_READ_ONLY);
    CHECK_EQ(stand_count(stand, "sm.loads"), 3u);
    stand_destroy(stand);
}

TEST("without a read-only cache its loads use the L1") {
    struct step steps[] = {load_noncoherent(1, 0x1000), alu(OP_other, 0, 1), load_noncoherent(2, 0x1000)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct stand *stand = stand_make(SETTINGS("sm.read_only_kb=0"));
    stand_run(stand, &source);
    CHECK_EQ(stand_count(stand, "sm.read_only_misses") + stand_count(stand, "sm.read_only_hits"), 0u);
    CHECK_EQ(stand_count(stand, "l1.read_misses"), 1u);
    CHECK_EQ(stand_count(stand, "l1.read_hits"), 1u);
    stand_destroy(stand);
}

TEST("a read-only cache with every MSHR in use, or no room in one, refuses like an L1") {
    static const char *const settings[] = {"sm.read_only_mshrs=1", "sm.read_only_merges=1"};
    for (unsigned i = 0; i < 2; i++) {
        struct step steps[] = {load_noncoherent(1, 0x1000), load_noncoherent(2, i == 0 ? 0x2000 : 0x1000)};
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        struct stand *stand = stand_make(SETTINGS(settings[i]));
        stand_run(stand, &source);
        CHECK(stand_count(stand, "sm.reservation_fail.mshr") >= stand->memory_cycles);
        CHECK_EQ(stand->requests, i == 0 ? 2u : 1u);
        stand_destroy(stand);
    }
}

TEST("the end of a kernel empties constant and read-only caches, and keeps instructions") {
    struct step steps[] = {load_noncoherent(1, 0x1000), load_constant(2, 0x2000), load_line(3, 0x3000)};
    for (unsigned flush = 0; flush < 2; flush++) {
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        source.kernels = 2;
        struct stand *stand = stand_make(SETTINGS("sm.instruction_kb=2"));
        stand->flush = flush;
        stand_run(stand, &source);
        CHECK_EQ(stand_count(stand, "sm.read_only_misses"), flush ? 2u : 1u);
        CHECK_EQ(stand_count(stand, "sm.constant_misses"), flush ? 2u : 1u);
        CHECK_EQ(stand_count(stand, "l1.read_misses"), flush ? 2u : 1u);
        CHECK_EQ(stand_count(stand, "sm.instruction_misses"), 1u);
        CHECK_EQ(stand_count(stand, "l1.flushes"), flush ? 2u : 0u);
        stand_destroy(stand);
    }
}
