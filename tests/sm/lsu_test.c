#include "test.h"

#include "sm/sm_fixture.h"

TEST("a load hit takes operand, L1 and writeback cycles; a miss takes the memory latency instead of the L1's") {
    struct step steps[] = {load_line(1, 0x1000), alu(OP_other, 2, 1), load_line(3, 0x1000), alu(OP_other, 4, 3)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("l1.latency_cycles=9"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + miss_latency(sm));
    CHECK_EQ(script_issued(&source, 0, 0, 3), script_issued(&source, 0, 0, 2) + hit_latency(sm));
    CHECK_EQ(COUNTER(sm, "sm.load_cycles_min"), hit_latency(sm));
    CHECK_EQ(COUNTER(sm, "sm.load_cycles_max"), miss_latency(sm));
    CHECK_EQ(COUNTER(sm, "sm.load_cycles"), hit_latency(sm) + miss_latency(sm));
    CHECK_EQ(COUNTER(sm, "sm.loads"), 2u);
    sm_fixture_destroy(sm);
}

TEST("load_stages add to the latency of a load and do not delay the next access") {
    struct step steps[] = {load_line(1, 0x1000), alu(OP_other, 2, 1), load_line(3, 0x1000),
                           load_line(4, 0x1000), alu(OP_other, 5, 3), alu(OP_other, 6, 4)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.load_stages=9"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.load_cycles_min"), hit_latency(sm) + 9);
    CHECK_EQ(script_issued(&source, 0, 0, 5), script_issued(&source, 0, 0, 4) + 1);
    sm_fixture_destroy(sm);
}

TEST("independent loads overlap: the second completes a cycle after the first") {
    struct step steps[] = {load_line(1, 0x1000), load_line(2, 0x2000), alu(OP_other, 3, 1), alu(OP_other, 4, 2)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 2), FIRST_ISSUE + miss_latency(sm));
    CHECK_EQ(script_issued(&source, 0, 0, 3), FIRST_ISSUE + miss_latency(sm) + 1);
    sm_fixture_destroy(sm);
}

TEST("shared memory has its latency, and bank conflicts serialise") {
    for (uint8_t conflicts = 1; conflicts <= 32; conflicts = (uint8_t)(conflicts * 2)) {
        struct step steps[] = {load_shared(1, conflicts), load_shared(2, 1), alu(OP_other, 3, 1), alu(OP_other, 4, 2)};
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.shared_latency_cycles=20"));
        const struct sm_config *config = sm_config_of(sm);
        sm_fixture_run(sm, &source);
        uint64_t alone = (uint64_t)(config->operand_cycles + 20 + config->writeback_cycles);
        uint64_t first = FIRST_ISSUE + alone + conflicts - 1;
        CHECK_EQ(script_issued(&source, 0, 0, 2), first);
        CHECK_EQ(script_issued(&source, 0, 0, 3),
                 first + 1); /* it begins when the first is through, and takes as long as ever */
        CHECK_EQ(COUNTER(sm, "sm.shared_conflicts"), conflicts - 1u);
        CHECK_EQ(COUNTER(sm, "sm.shared_accesses"), 2u);
        CHECK_EQ(sm->requests, 0u);
        sm_fixture_destroy(sm);
    }
}

TEST("a shared-memory store with bank conflicts delays the instructions behind it") {
    struct step steps[] = {store_shared(0, 16), load_line(1, 0x1000), alu(OP_other, 2, 1)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 2), FIRST_ISSUE + miss_latency(sm) + 16);
    sm_fixture_destroy(sm);
}

TEST("the load/store unit holds as many instructions as its queue, and accepts the next when one has left") {
    struct step steps[] = {load_shared(1, 32), load_shared(2, 1), load_shared(3, 1), load_shared(4, 1)};
    for (unsigned queue = 1; queue <= 3; queue++) {
        char setting[32];
        snprintf(setting, sizeof setting, "sm.lsu_queue=%u", queue);
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        struct sm_fixture *sm = sm_fixture_create(SETTINGS(setting));
        sm_fixture_run(sm, &source);
        uint64_t access = FIRST_ISSUE + (uint64_t)sm_config_of(sm)->operand_cycles;
        for (unsigned i = 0; i < queue; i++) CHECK_EQ(script_issued(&source, 0, 0, i), FIRST_ISSUE + i);
        CHECK_EQ(script_issued(&source, 0, 0, queue),
                 max_u64(access, FIRST_ISSUE + queue)); /* the first leaves the queue as it is looked at */
        sm_fixture_destroy(sm);
    }
}

TEST("at most sm.loads_in_flight loads wait for data") {
    struct step steps[] = {load_line(1, 0x1000), load_line(2, 0x2000), load_line(3, 0x3000)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.loads_in_flight=2"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + 1u);
    uint64_t answered = FIRST_ISSUE + (uint64_t)sm_config_of(sm)->operand_cycles + round_trip(sm);
    CHECK_EQ(script_issued(&source, 0, 0, 2), answered);
    sm_fixture_destroy(sm);
}

TEST("stores neither stall their warp nor count as loads") {
    struct step steps[] = {store_line(1, 0x1000), alu(OP_other, 1, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + 1u);
    CHECK_EQ(COUNTER(sm, "sm.loads"), 0u);
    CHECK_EQ(sm->request[0].kind, MESSAGE_WRITE);
    CHECK_EQ(sm->request[0].sectors, 0x0F);
    sm_fixture_destroy(sm);
}

TEST("a store waits for the value it stores") {
    struct step steps[] = {alu(OP_f32_div, 1, 0), store_line(1, 0x1000)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + op_latency(sm, OP_f32_div));
    sm_fixture_destroy(sm);
}

TEST("an atomic bypasses the L1 with its conflicts; with a destination it is like a load, without one like a store") {
    struct step steps[] = {load_line(1, 0x1000), alu(OP_other, 2, 1),     atomic_on(3, 0x1020, 5),
                           alu(OP_other, 4, 3),  atomic_on(0, 0x1040, 7), alu(OP_other, 5, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 3), script_issued(&source, 0, 0, 2) + miss_latency(sm));
    CHECK_EQ(script_issued(&source, 0, 0, 5), script_issued(&source, 0, 0, 4) + 1);
    REQUIRE(sm->requests == 3);
    CHECK_EQ(sm->request[1].kind, MESSAGE_ATOMIC);
    CHECK_EQ(sm->request[1].conflicts, 5);
    CHECK_EQ(sm->request[1].sectors, 0x02);
    CHECK_EQ(sm->request[2].conflicts, 7);
    CHECK_EQ(COUNTER(sm, "l1.atomics"), 2u);
    CHECK_EQ(COUNTER(sm, "sm.loads"), 2u);
    sm_fixture_destroy(sm);
}

TEST("the lanes of an atomic on one word are one access with conflicts, one access each, or one access") {
    static const struct {
        const char *rule;
        unsigned accesses, conflicts;
    } cases[] = {{"sm.atomics=sector", 2, 5}, {"sm.atomics=lane", 6, 1}, {"sm.atomics=combined", 2, 1}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct step steps[] = {atomic_on(1, 0x1020, 5), alu(OP_other, 2, 1)};
        steps[0].touch[0] |= 0x08; /* a second sector, of the same line */
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.coalescing=fermi", cases[i].rule));
        sm_fixture_run(sm, &source);
        REQUIRE(sm->requests == cases[i].accesses);
        unsigned first = 0;
        for (unsigned j = 0; j < sm->requests; j++) {
            CHECK_EQ(sm->request[j].conflicts, cases[i].conflicts);
            first += sm->request[j].sectors == sm->request[0].sectors;
        }
        CHECK_EQ(first, cases[i].accesses - 1);
        CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + miss_latency(sm) + cases[i].accesses - 1);
        sm_fixture_destroy(sm);
    }
}

TEST("with sm.atomics_hold a warp issues nothing before its atomic has completed, and other warps do") {
    for (unsigned hold = 0; hold < 2; hold++)
        for (uint8_t dst = 0; dst < 2; dst++) {
            struct step steps[] = {atomic_on(dst, 0x1000, 1), alu(OP_other, 2, 0)};
            struct script_source source = script_make(1, 2, SCRIPT(steps));
            struct sm_fixture *sm =
                sm_fixture_create(SETTINGS("sm.schedulers=1", hold ? "sm.atomics_hold=true" : "sm.atomics_hold=false"));
            sm_fixture_run(sm, &source);
            CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + (hold ? miss_latency(sm) : 1));
            CHECK_EQ(script_issued(&source, 0, 1, 0), FIRST_ISSUE + (hold ? 1u : 3u));
            if (hold) CHECK(COUNTER(sm, "sm.stall.memory") > 90);
            sm_fixture_destroy(sm);
        }
}

TEST("an atomic that holds its warp does not wait for the warp's earlier loads") {
    struct step steps[] = {load_line(1, 0x8000), atomic_on(0, 0x1000, 1), alu(OP_other, 2, 0), alu(OP_other, 3, 1)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.atomics_hold=true"));
    steps[1].instr.space = SPACE_SHARED;
    steps[1].instr.count = 0;
    sm_fixture_run(sm, &source);
    const struct sm_config *config = sm_config_of(sm);
    CHECK_EQ(script_issued(&source, 0, 0, 2),
             FIRST_ISSUE + 1 +
                 (uint64_t)(config->operand_cycles + config->shared_latency_cycles + config->writeback_cycles));
    CHECK_EQ(script_issued(&source, 0, 0, 3), FIRST_ISSUE + miss_latency(sm));
    sm_fixture_destroy(sm);
}

TEST(".cg and volatile loads bypass the L1 and request only their sectors") {
    struct step steps[] = {load_line(1, 0x1000), alu(OP_other, 2, 1), load_past_l1(3, 0x1000, 0x04),
                           alu(OP_other, 4, 3), load_past_l1(5, 0x1000, 0x01)};
    steps[4].instr.cache = CACHE_VOLATILE;
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    REQUIRE(sm->requests == 3);
    CHECK_EQ(sm->request[0].sectors, 0x0F);
    CHECK_EQ(sm->request[1].sectors, 0x04);
    CHECK_EQ(sm->request[2].sectors, 0x01);
    CHECK_EQ(COUNTER(sm, "l1.read_bypasses"), 2u);
    CHECK_EQ(COUNTER(sm, "l1.read_hits"), 0u);
    sm_fixture_destroy(sm);
}

TEST("volatile loads use the L1 if sm.volatile_past_l1 is off; .cg loads bypass it in any case") {
    struct step steps[] = {load_line(1, 0x1000), alu(OP_other, 2, 1), load_past_l1(3, 0x1000, 0x04),
                           alu(OP_other, 4, 3), load_past_l1(5, 0x1000, 0x01)};
    steps[4].instr.cache = CACHE_VOLATILE;
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.volatile_past_l1=false"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(sm->requests, 2u);
    CHECK_EQ(COUNTER(sm, "l1.read_bypasses"), 1u);
    CHECK_EQ(COUNTER(sm, "l1.read_hits"), 1u);
    sm_fixture_destroy(sm);
}

TEST("marks of a record reach memory: read-only, and partial stores") {
    struct step steps[] = {load_line(1, 0x1000), load_line(2, 0x2000), store_line(0, 0x3000), store_line(0, 0x4000)};
    steps[1].instr.flags = INSTR_READ_ONLY;
    steps[3].instr.flags = INSTR_PARTIAL;
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    static const uint8_t flags[] = {0, MESSAGE_READ_ONLY, 0, MESSAGE_PARTIAL};
    for (unsigned i = 0; i < 4; i++) CHECK_EQ(sm->request[i].flags, flags[i]);
    sm_fixture_destroy(sm);
}

TEST("a memory instruction without active lanes completes") {
    struct step steps[] = {load_line(1, 0x1000), alu(OP_other, 2, 1), store_line(0, 0x1000), fence(),
                           alu(OP_other, 3, 0)};
    steps[0].instr.count = 0;
    steps[2].instr.count = 0;
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(sm->requests, 0u);
    CHECK_EQ(COUNTER(sm, "sm.warp_instructions"), 6u);
    sm_fixture_destroy(sm);
}

TEST("the cycles in which an insertion policy probes its tags add to the latency of a hit") {
    struct step steps[] = {load_line(1, 0x1000), alu(OP_other, 2, 1), load_line(3, 0x1000), alu(OP_other, 4, 3)};
    uint64_t latency[2];
    for (unsigned i = 0; i < 2; i++) {
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        struct sm_fixture *sm = sm_fixture_create(
            SETTINGS("l1.insertion=decoupled", i ? "l1.decoupled.probe_cycles=7" : "l1.decoupled.probe_cycles=0",
                     "l1.decoupled.threshold=0", "l1.decoupled.dueling=false"));
        sm_fixture_run(sm, &source);
        latency[i] = script_issued(&source, 0, 0, 3) - script_issued(&source, 0, 0, 2);
        if (i == 0) CHECK_EQ(latency[0], hit_latency(sm));
        sm_fixture_destroy(sm);
    }
    CHECK_EQ(latency[1], latency[0] + 7);
}
