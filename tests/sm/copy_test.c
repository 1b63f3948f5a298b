/* Asynchronous copies: when a warp that waits for them goes on, what they occupy, and what their waits count as. */
#include "test.h"

#include "sm/sm_fixture.h"

/* From the issue of a copy that misses to the cycle in which a wait for it ends. */
static uint64_t copy_latency(const struct sm_fixture *sm, unsigned passes) {
    return (uint64_t)sm_config_of(sm)->operand_cycles + round_trip(sm) + passes;
}

TEST("a wait for copies ends in the cycle in which the last pass of the write has ended") {
    struct step steps[] = {copy_line(0x1000, 4), copies_wait(0, 0), alu(OP_other, 1, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + 1u);
    CHECK_EQ(script_issued(&source, 0, 0, 2), FIRST_ISSUE + copy_latency(sm, 4));
    CHECK_EQ(COUNTER(sm, "sm.stall.memory"), copy_latency(sm, 4) - 2);
    CHECK_EQ(COUNTER(sm, "sm.load_cycles"), copy_latency(sm, 4));
    CHECK_EQ(COUNTER(sm, "sm.loads"), 1u);
    CHECK_EQ(COUNTER(sm, "sm.shared_conflicts"), 3u);
    sm_fixture_destroy(sm);
}

TEST("a warp computes while its copy is in flight, and a fence does not wait for it") {
    struct step steps[] = {copy_line(0x1000, 1),  alu(OP_other, 1, 0), fence(),
                           alu(OP_int_div, 2, 0), alu(OP_other, 3, 2), copies_wait(0, 0),
                           alu(OP_other, 4, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm->memory_cycles = 300;
    sm_fixture_run(sm, &source);
    /* The fence waits until the copy has left the load/store unit. */
    uint64_t sent = FIRST_ISSUE + (uint64_t)sm_config_of(sm)->operand_cycles;
    CHECK_EQ(script_issued(&source, 0, 0, 3), sent);
    CHECK_EQ(script_issued(&source, 0, 0, 4), sent + op_latency(sm, OP_int_div));
    CHECK_EQ(script_issued(&source, 0, 0, 6), FIRST_ISSUE + copy_latency(sm, 1));
    sm_fixture_destroy(sm);
}

TEST("a wait leaves out the latest copies, also if they are complete before the others") {
    struct step steps[] = {copy_line(0x1000, 1), alu(OP_other, 1, 0),  copies_wait(0, 0),
                           copy_line(0x2000, 1), copy_line(0x1000, 1), copies_wait(1, 0),
                           alu(OP_other, 2, 0),  copies_wait(0, 0),    alu(OP_other, 3, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    uint64_t miss = script_issued(&source, 0, 0, 3) + copy_latency(sm, 1);
    CHECK_EQ(COUNTER(sm, "l1.read_hits"), 1u);
    CHECK_EQ(script_issued(&source, 0, 0, 6), miss);
    CHECK_EQ(script_issued(&source, 0, 0, 8), miss + 2);
    sm_fixture_destroy(sm);
    /* The older one hits, the newer one misses. */
    struct step other[] = {copy_line(0x1000, 1), copies_wait(0, 0), copy_line(0x1000, 2),
                           copy_line(0x2000, 1), copies_wait(1, 0), alu(OP_other, 1, 0)};
    source = script_make(1, 1, SCRIPT(other));
    sm = sm_fixture_create(SETTINGS("l1.latency_cycles=40"));
    sm_fixture_run(sm, &source);
    uint64_t lookup = script_issued(&source, 0, 0, 2) + (uint64_t)sm_config_of(sm)->operand_cycles;
    CHECK_EQ(script_issued(&source, 0, 0, 5), lookup + 40 + 2);
    sm_fixture_destroy(sm);
}

TEST("a wait that leaves out every copy, and one by a warp that has not copied, do not wait") {
    struct step steps[] = {copies_wait(0, 0), copies_wait(0, INSTR_BULK), copy_line(0x1000, 1), copies_wait(7, 0),
                           alu(OP_other, 1, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 4), FIRST_ISSUE + 4u);
    sm_fixture_destroy(sm);
}

TEST("the write of a copy occupies the load/store unit") {
    struct step steps[] = {copy_line(0x1000, 16), copies_wait(0, 0), alu(OP_other, 1, 0)};
    struct step shared[] = {alu(OP_int_div, 1, 0), load_shared(2, 1), alu(OP_other, 3, 2)};
    struct script_source source = script_make(1, 2, SCRIPT(steps));
    script_add(&source, SCRIPT(shared));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    const struct sm_config *config = sm_config_of(sm);
    /* The load of shared memory reaches the unit with the data of the copy. */
    sm->memory_cycles = 100;
    shared[1].instr.src[0] = 1;
    uint64_t arrival = FIRST_ISSUE + copy_latency(sm, 0);
    uint64_t at = FIRST_ISSUE + op_latency(sm, OP_int_div) + (uint64_t)config->operand_cycles;
    sm->memory_cycles += at - arrival;
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 1, 2),
             at + 16 + (uint64_t)(config->shared_latency_cycles + config->writeback_cycles));
    sm_fixture_destroy(sm);
}

TEST(".ca copies use the L1, .cg copies bypass it") {
    struct step steps[] = {copy_line(0x1000, 1),    copies_wait(0, 0), copy_line(0x1000, 1), copies_wait(0, 0),
                           copy_past_l1(0x1000, 1), copies_wait(0, 0), alu(OP_other, 1, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "l1.read_misses"), 1u);
    CHECK_EQ(COUNTER(sm, "l1.read_hits"), 1u);
    CHECK_EQ(COUNTER(sm, "l1.read_bypasses"), 1u);
    sm_fixture_destroy(sm);
}

TEST("a warp ends when its copies are complete") {
    struct step steps[] = {copy_line(0x1000, 1)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(sm->done_at[0], FIRST_ISSUE + copy_latency(sm, 1) + 1); /* the report takes one cycle */
    sm_fixture_destroy(sm);
}

TEST("a warp waits at an mbarrier until another one has arrived, which counts as a stall at a barrier") {
    struct step waits[] = {mbarrier_wait(3, 2), alu(OP_other, 1, 0)};
    struct step arrives[] = {alu(OP_int_div, 1, 0), alu(OP_other, 2, 1), mbarrier_arrive(3), mbarrier_arrive(3)};
    struct script_source source = script_make(1, 2, SCRIPT(waits));
    script_add(&source, SCRIPT(arrives));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 1), script_issued(&source, 0, 1, 3) + op_latency(sm, OP_barrier));
    CHECK_EQ(COUNTER(sm, "sm.stall.memory"), 0u);
    CHECK(COUNTER(sm, "sm.stall.barrier") > 0);
    sm_fixture_destroy(sm);
}

TEST("copies arrive on an mbarrier when the last of them is complete, and the wait counts as a stall for memory") {
    struct step copies[] = {copy_line(0x1000, 1), copy_line(0x2000, 4), copies_arrive(0)};
    struct step waits[] = {mbarrier_wait(0, 1), alu(OP_other, 1, 0)};
    struct script_source source = script_make(1, 2, SCRIPT(copies));
    script_add(&source, SCRIPT(waits));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 1, 1), FIRST_ISSUE + 1 + copy_latency(sm, 4) + op_latency(sm, OP_barrier));
    CHECK_EQ(COUNTER(sm, "sm.stall.barrier"), 0u);
    CHECK(COUNTER(sm, "sm.stall.memory") > 0);
    sm_fixture_destroy(sm);
}

TEST("an mbarrier that has counted enough updates does not hold a warp") {
    struct step steps[] = {mbarrier_arrive(0), mbarrier_arrive(0), mbarrier_wait(0, 1), alu(OP_other, 1, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 3), FIRST_ISSUE + 3u);
    sm_fixture_destroy(sm);
}

TEST("updates of an mbarrier are those of one CTA, and their number may wrap around") {
    struct step steps[] = {mbarrier_arrive(0), mbarrier_wait(0, 1), alu(OP_other, 1, 0)};
    struct script_source source = script_make(3, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.ctas=1"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.ctas"), 3u);
    sm_fixture_destroy(sm);
    struct step wrapped[] = {mbarrier_wait(0, 0xFFFFF0), alu(OP_other, 1, 0)};
    source = script_make(1, 1, SCRIPT(wrapped));
    sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + 1u);
    sm_fixture_destroy(sm);
}

TEST("a bulk copy sends a request for each line at its interval and completes on its mbarrier") {
    struct step steps[] = {bulk_load(0x1000, 7, 5), mbarrier_wait(5, 1), alu(OP_other, 1, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.bulk_interval=3", "sm.bulk_cycles=50"));
    sm_fixture_run(sm, &source);
    REQUIRE(sm->requests == 7);
    uint64_t first = FIRST_ISSUE + (uint64_t)sm_config_of(sm)->operand_cycles + 50;
    for (unsigned i = 0; i < 7; i++) {
        CHECK_EQ(sm->request[i].address, 0x1000u + i * 128);
        CHECK_EQ(sm->requested_at[i], first + 3u * i + 1);
    }
    uint64_t last = first + 18 + round_trip(sm);
    CHECK_EQ(script_issued(&source, 0, 0, 2), last + 1 + op_latency(sm, OP_barrier));
    CHECK_EQ(COUNTER(sm, "l1.read_bypasses"), 7u);
    CHECK_EQ(COUNTER(sm, "sm.accesses"), 7u);
    CHECK_EQ(COUNTER(sm, "sm.loads"), 0u);
    sm_fixture_destroy(sm);
}

TEST("loads of other warps pass a bulk copy") {
    struct step bulk[] = {bulk_load(0x10000, 64, 0), mbarrier_wait(0, 1)};
    struct step loads[] = {load_line(1, 0x1000), alu(OP_other, 2, 1)};
    struct script_source source = script_make(1, 2, SCRIPT(bulk));
    script_add(&source, SCRIPT(loads));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.bulk_interval=4", "sm.bulk_cycles=0"));
    sm_fixture_run(sm, &source);
    CHECK(script_issued(&source, 0, 1, 1) < FIRST_ISSUE + miss_latency(sm) + 10);
    CHECK_EQ(sm->requests, 65u);
    sm_fixture_destroy(sm);
}

TEST(
    "a wait for the sources of bulk stores ends when they have been read, one for the stores when they are acknowledged") {
    struct step steps[] = {bulk_store(0x1000, 8), copies_wait(0, INSTR_BULK | INSTR_SOURCE), alu(OP_other, 1, 0),
                           copies_wait(0, INSTR_BULK), alu(OP_other, 2, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.bulk_cycles=20"));
    sm_fixture_run(sm, &source);
    uint64_t last = FIRST_ISSUE + (uint64_t)sm_config_of(sm)->operand_cycles + 20 + 7;
    CHECK_EQ(script_issued(&source, 0, 0, 2), last + 1);
    CHECK_EQ(script_issued(&source, 0, 0, 4), last + round_trip(sm));
    CHECK_EQ(COUNTER(sm, "l1.write_misses"), 8u);
    sm_fixture_destroy(sm);
}

TEST("more bulk copies than the unit holds wait in the load/store unit") {
    struct step steps[21];
    for (unsigned i = 0; i < 20; i++) steps[i] = bulk_load(0x10000 * (i + 1), 2, 1);
    steps[20] = mbarrier_wait(1, 20);
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.bulk_interval=8"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(sm->requests, 40u);
    for (unsigned i = 1; i < 40; i++) CHECK_EQ(sm->requested_at[i] - sm->requested_at[i - 1], 8u);
    sm_fixture_destroy(sm);
}

TEST("a wait includes all of a hundred copies in flight") {
    enum { COPIES = 100 };
    struct step steps[COPIES + 2];
    for (unsigned i = 0; i < COPIES; i++) steps[i] = copy_past_l1(0x1000 + 128 * i, 1);
    steps[COPIES] = copies_wait(0, 0);
    steps[COPIES + 1] = alu(OP_other, 1, 0);
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm->memory_cycles = 400;
    sm_fixture_run(sm, &source);
    CHECK_EQ(sm->requests, (unsigned)COPIES);
    CHECK_EQ(script_issued(&source, 0, 0, COPIES + 1), sm->requested_at[COPIES - 1] + 400 + 1 + 1);
    sm_fixture_destroy(sm);
}

TEST("a bulk copy within shared memory takes a bank pass in each interval and completes on its mbarrier") {
    struct step steps[] = {bulk_send(9, 5), mbarrier_wait(5, 1), alu(OP_other, 1, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.bulk_interval=3", "sm.bulk_cycles=50"));
    sm_fixture_run(sm, &source);
    const struct sm_config *config = sm_config_of(sm);
    uint64_t last = FIRST_ISSUE + (uint64_t)config->operand_cycles + 50 + 3 * 8;
    CHECK_EQ(script_issued(&source, 0, 0, 2),
             last + 1 + (uint64_t)config->shared_latency_cycles + op_latency(sm, OP_barrier));
    CHECK_EQ(sm->requests, 0u);
    CHECK_EQ(COUNTER(sm, "sm.stall.barrier"), 0u);
    sm_fixture_destroy(sm);
}
