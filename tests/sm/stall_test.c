/* Why an SM did not issue: in each scene only one thing is awaited, for a time that can be worked out. */
#include "test.h"

#include "sm/sm_fixture.h"

TEST("an SM is idle before its first CTA and after its last") {
    struct step steps[] = {alu(OP_other, 1, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    uint64_t result_left =
        op_latency(sm, OP_other) - 2; /* from the exit, a cycle after the step, until its result is there */
    CHECK_EQ(COUNTER(sm, "sm.issuing"), 2u);
    CHECK_EQ(COUNTER(sm, "sm.stall.drain"), result_left);
    CHECK_EQ(COUNTER(sm, "sm.stall.idle"), sm->base.engine->now - 2 - result_left);
    sm_fixture_destroy(sm);
}

TEST("a warp that needs data from memory stalls for memory until the data arrives") {
    struct step steps[] = {load_line(1, 0x1000), alu(OP_other, 0, 1)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.stall.memory"), miss_latency(sm) - 1);
    CHECK_EQ(other_stalls(sm, "memory"), COUNTER(sm, "sm.stall.idle"));
    sm_fixture_destroy(sm);
}

TEST("a warp that needs the result of an operation or of shared memory stalls for the ALU") {
    struct step steps[] = {alu(OP_f32_div, 1, 0), alu(OP_other, 0, 1)},
                shared[] = {load_shared(1, 1), alu(OP_other, 0, 1)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.stall.alu"), op_latency(sm, OP_f32_div) - 1);
    CHECK_EQ(other_stalls(sm, "alu"), COUNTER(sm, "sm.stall.idle"));
    sm_fixture_destroy(sm);
    source = script_make(1, 1, SCRIPT(shared));
    sm = sm_fixture_create(SETTINGS("sm.shared_latency_cycles=30"));
    sm_fixture_run(sm, &source);
    const struct sm_config *config = sm_config_of(sm);
    CHECK_EQ(COUNTER(sm, "sm.stall.alu"), (uint64_t)(config->operand_cycles + 30 + config->writeback_cycles - 1));
    CHECK_EQ(COUNTER(sm, "sm.stall.memory"), 0u);
    sm_fixture_destroy(sm);
}

TEST("of one warp that waits for memory and one for the ALU, memory is the cause") {
    struct step memory[] = {load_line(1, 0x1000), alu(OP_other, 0, 1)},
                operation[] = {alu(OP_f32_div, 1, 0), alu(OP_other, 0, 1)};
    struct script_source source = script_make(1, 2, SCRIPT(memory));
    script_add(&source, SCRIPT(operation));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.stall.alu"), 0u);
    CHECK_EQ(COUNTER(sm, "sm.stall.memory"), miss_latency(sm) - 1 - 2); /* the other's step and exit lie in between */
    sm_fixture_destroy(sm);
}

TEST("warps at a barrier stall for the barrier") {
    struct step steps[] = {barrier(0, 0), alu(OP_other, 0, 0)};
    struct script_source source = script_make(1, 2, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.stall.barrier"), op_latency(sm, OP_barrier) - 1);
    CHECK_EQ(other_stalls(sm, "barrier"), COUNTER(sm, "sm.stall.idle"));
    sm_fixture_destroy(sm);
}

TEST("an instruction whose pipeline is busy stalls for the pipeline") {
    struct step steps[] = {alu(OP_f64_div, 1, 0), alu(OP_f64_div, 2, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + 130u);
    CHECK_EQ(COUNTER(sm, "sm.stall.pipeline"), 129u);
    sm_fixture_destroy(sm);
}

TEST("memory instructions behind bank conflicts stall for the pipeline") {
    struct step steps[] = {load_shared(0, 32), load_shared(0, 1), load_shared(0, 1)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.lsu_queue=1"));
    sm_fixture_run(sm, &source);
    /* The second issues as the first is accessed and is accessed 32 cycles later, when the third can issue. */
    uint64_t access = FIRST_ISSUE + (uint64_t)sm_config_of(sm)->operand_cycles;
    CHECK_EQ(script_issued(&source, 0, 0, 1), access);
    CHECK_EQ(script_issued(&source, 0, 0, 2), access + 32);
    CHECK_EQ(COUNTER(sm, "sm.stall.pipeline"), access - FIRST_ISSUE - 1 + 31);
    sm_fixture_destroy(sm);
}

TEST("a warp that waits for its stores, at a fence or after its exit, stalls for drain") {
    struct step ends[] = {store_line(0, 0x1000)}, fences[] = {store_line(0, 0x1000), fence(), alu(OP_other, 0, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(ends));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    uint64_t answered = (uint64_t)sm_config_of(sm)->operand_cycles + round_trip(sm);
    CHECK_EQ(COUNTER(sm, "sm.stall.drain"), answered - 2);
    CHECK_EQ(other_stalls(sm, "drain"), COUNTER(sm, "sm.stall.idle"));
    sm_fixture_destroy(sm);
    source = script_make(1, 1, SCRIPT(fences));
    sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.stall.drain"), answered - 2);
    sm_fixture_destroy(sm);
}

TEST("a warp whose instruction misses in the instruction cache stalls for fetch") {
    struct step steps[] = {alu(OP_other, 0, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.instruction_kb=2"));
    sm_fixture_run(sm, &source);
    /* The miss is sent as the warp is launched and the answer is there a round trip later. */
    CHECK_EQ(script_issued(&source, 0, 0, 0), FIRST_ISSUE + round_trip(sm));
    CHECK_EQ(COUNTER(sm, "sm.stall.fetch"), round_trip(sm));
    CHECK_EQ(other_stalls(sm, "fetch"), COUNTER(sm, "sm.stall.idle"));
    sm_fixture_destroy(sm);
}

/* A load or store and two loads: the L1 accepts the first, the second has a reservation failure, and the third finds the
 * load/store unit full. */
struct failure_scene {
    const char *cause;
    uint64_t addresses[3];
    const char *setting;
    bool store;
};

TEST("a memory instruction behind a reservation failure stalls for the cause of the failure") {
    static const struct failure_scene scenes[] = {
        {"mshr", {0x1000, 0x2000, 0x2000}, "l1.mshrs=1", false},
        {"mshr_merge", {0x1000, 0x1000, 0x3000}, "l1.mshr_merges=1", false},
        {"line", {0x1000, 0x1000 + 8 * 128, 0x3080}, "l1.ways=1", false}, /* 1 KB in 8 sets of one line */
        {"store_order", {0x1000, 0x1000, 0x3000}, "noc.vcs=2", true},
    };
    for (unsigned i = 0; i < COUNT_OF(scenes); i++) {
        const uint64_t *at = scenes[i].addresses;
        struct step steps[] = {scenes[i].store ? store_line(0, at[0]) : load_line(1, at[0]), load_line(2, at[1]),
                               load_line(3, at[2])};
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        struct sm_fixture *sm = sm_fixture_create(SETTINGS(scenes[i].setting, "sm.lsu_queue=1", "l1.size_kb=1"));
        char stall[64], refused[64];
        snprintf(stall, sizeof stall, "sm.stall.%s", scenes[i].cause);
        snprintf(refused, sizeof refused, "sm.reservation_fail.%s", scenes[i].cause);
        sm_fixture_run(sm, &source);
        /* The second fails from its first attempt until the reply to the first: then its line is there, or
         * its MSHR is free. */
        uint64_t operand = (uint64_t)sm_config_of(sm)->operand_cycles, first = FIRST_ISSUE + operand;
        uint64_t tried = first + operand, served = first + round_trip(sm);
        CHECK_EQ(script_issued(&source, 0, 0, 1), first);
        CHECK_EQ(script_issued(&source, 0, 0, 2), served);
        CHECK_EQ(COUNTER(sm, stall), served - tried);
        CHECK_EQ(COUNTER(sm, refused), served - tried);
        sm_fixture_destroy(sm);
    }
}

TEST("a full miss queue is charged to the network while that accepts nothing") {
    struct step steps[12];
    for (unsigned i = 0; i < 12; i++) steps[i] = store_line(0, 0x1000 + 0x1000 * i);
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("l1.miss_queue=2", "sm.lsu_queue=1"));
    sm->opens_at = 1000;
    sm_fixture_run(sm, &source);
    uint64_t refused = COUNTER(sm, "sm.reservation_fail.network");
    CHECK(refused > 900 && refused < 1000);
    CHECK(COUNTER(sm, "sm.stall.network") >= refused - 10);
    CHECK_EQ(COUNTER(sm, "sm.reservation_fail.miss_queue"), 0u);
    CHECK_EQ(sm->requests, 12u);
    sm_fixture_destroy(sm);
}

TEST("a full miss queue is charged to itself while the network accepts one request per cycle") {
    /* Misses that each write back what they replace: two requests in a cycle, through a queue of two. */
    struct step steps[12];
    for (unsigned i = 0; i < 4; i++) {
        uint64_t address = i / 2 * 0x400 + i % 2 * 0x80;
        steps[i] = load_local((uint8_t)(i + 1), address);
        steps[4 + i] = store_local((uint8_t)(i + 1), address);
        steps[8 + i] = load_line((uint8_t)(i + 1), 0x8000 + address);
    }
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm =
        sm_fixture_create(SETTINGS("l1.miss_queue=2", "l1.size_kb=1", "l1.ways=2", "sm.lsu_queue=4"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "l1.write_backs"), 4u);
    CHECK_EQ(COUNTER(sm, "sm.reservation_fail.network"), 0u);
    CHECK(COUNTER(sm, "sm.reservation_fail.miss_queue") > 0);
    sm_fixture_destroy(sm);
}

TEST("cycles with a reservation failure are counted also while other instructions issue") {
    struct step loads[] = {load_line(1, 0x1000), load_line(2, 0x2000)}, sums[60];
    for (unsigned i = 0; i < 60; i++) sums[i] = alu(OP_other, 0, 0);
    struct script_source source = script_make(1, 2, SCRIPT(loads));
    script_add(&source, SCRIPT(sums));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("l1.mshrs=1"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.reservation_fail.mshr"), round_trip(sm) - 1);
    CHECK_EQ(COUNTER(sm, "sm.stall.mshr"), 0u);
    sm_fixture_destroy(sm);
}

TEST("each load of a chain fails until the reply to the one before, whether or not the SM issues meanwhile") {
    enum { LOADS = 4 };
    struct step loads[LOADS], sums[500];
    for (unsigned i = 0; i < LOADS; i++) loads[i] = load_line((uint8_t)(i + 1), 0x1000 + 8 * 128 * i);
    for (unsigned i = 0; i < 500; i++) sums[i] = alu(OP_other, 0, 0);
    static const char *const causes[][2] = {{"l1.mshrs=1", "sm.reservation_fail.mshr"},
                                            {"l1.ways=1", "sm.reservation_fail.line"}}; /* 1 KB in 8 sets of one line */
    for (unsigned i = 0; i < 8; i++) {
        bool issues = i & 1, poll = i & 2;
        struct script_source source = script_make(1, issues ? 2 : 1, SCRIPT(loads));
        if (issues) script_add(&source, SCRIPT(sums));
        struct sm_fixture *sm = sm_fixture_create(SETTINGS(causes[i / 4][0], "l1.size_kb=1"));
        sm->base.engine->poll = poll;
        sm_fixture_run(sm, &source);
        /* The second load is ready a cycle after the first was accepted; the others wait in the unit. */
        CHECK_EQ(COUNTER(sm, causes[i / 4][1]), (LOADS - 1) * (round_trip(sm) - 1));
        CHECK_EQ(sm->requests, (unsigned)LOADS);
        for (unsigned n = 1; n < LOADS; n++) CHECK_EQ(sm->requested_at[n], sm->requested_at[n - 1] + round_trip(sm));
        sm_fixture_destroy(sm);
    }
}

TEST("a load fails for the network, not for an MSHR, if a fetch miss fills the miss queue in the cycle before it") {
    /* Stores fill the port while the memory is closed. The second load enters the miss queue when the reply to the first
     * frees its MSHR, and the third follows in the next cycle. */
    enum { LINE_0 = 0, LINE_1 = 16, SUMS = 400 };
    struct step sums[SUMS],
        accesses[] = {load_line(1, 0x1000),  store_line(0, 0x9000), store_line(0, 0x9400), store_line(0, 0x9800),
                      store_line(0, 0x9C00), load_line(2, 0x2000),  load_line(3, 0x3000)};
    for (unsigned i = 0; i < SUMS; i++) sums[i] = alu(OP_other, 0, 0);
    for (int delay = -1; delay <= 1; delay++) { /* from the reply to the fetch */
        unsigned last = (unsigned)(105 + delay);
        uint32_t ids[SUMS];
        for (unsigned i = 0; i < SUMS; i++) ids[i] = i <= last ? LINE_0 : LINE_1;
        struct script_source source = script_make(1, 2, SCRIPT(accesses));
        script_add(&source, SCRIPT(sums));
        source.ids = ids;
        struct sm_fixture *sm =
            sm_fixture_create(SETTINGS("l1.mshrs=1", "l1.miss_queue=2", "sm.schedulers=4", "sm.instruction_kb=2"));
        sm->closes_at = FIRST_ISSUE + round_trip(sm) + 5; /* when the memory has taken the first load */
        sm->opens_at = 400;
        sm_fixture_run(sm, &source);
        uint64_t reply = sm->requested_at[1] - 1 + round_trip(sm); /* the first request is a fetch */
        CHECK_EQ(script_issued(&source, 0, 1, last), reply + (uint64_t)delay);
        CHECK_EQ(COUNTER(sm, "sm.reservation_fail.network") > 0, delay <= 0);
        sm_fixture_destroy(sm);
    }
}

TEST("an SM that is stopped for a reconfiguration stalls for it, whatever its warps wait for") {
    struct step steps[] = {load_line(1, 0x1000), alu(OP_other, 0, 1)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    uint64_t memory[2];
    for (unsigned i = 0; i < 2;
         i++) { /* the second time stopped while the load is in flight, and until after its data came */
        struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
        uint64_t latency = miss_latency(sm);
        if (i == 1) {
            sm->stop_at = latency / 2;
            sm->go_on_at = 2 * latency;
            engine_wake(sm->base.engine, sm->dispatcher_id, sm->stop_at);
            engine_wake(sm->base.engine, sm->dispatcher_id, sm->go_on_at);
        }
        sm_fixture_run(sm, &source);
        memory[i] = COUNTER(sm, "sm.stall.memory");
        CHECK_EQ(COUNTER(sm, "sm.stall.reconfiguration"), sm->go_on_at - sm->stop_at);
        if (i == 1) CHECK(memory[1] > 0 && memory[1] < memory[0]);
        sm_fixture_destroy(sm);
        source = script_make(1, 1, SCRIPT(steps));
    }
}
