/* What fences and the end of a CTA wait for: fences for the warp's accesses, not for its arithmetic; a CTA's end for
 * everything. */
#include "sm/sm_fixture.h"

TEST("a fence does not wait for the result of an operation that is longer than the store before it") {
    struct step steps[] = {alu(OP_int_div, 1, 0), store_line(0, 0x1000), fence(), alu(OP_other, 2, 0),
                           alu(OP_other, 3, 1)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm->memory_cycles = 10;
    sm_fixture_run(sm, &source);
    uint64_t acknowledged =
        script_issued(&source, 0, 0, 1) + (uint64_t)sm_config_of(sm)->operand_cycles + round_trip(sm);
    REQUIRE(acknowledged < FIRST_ISSUE + op_latency(sm, OP_int_div));
    CHECK_EQ(script_issued(&source, 0, 0, 3), acknowledged);
    CHECK_EQ(script_issued(&source, 0, 0, 4), FIRST_ISSUE + op_latency(sm, OP_int_div));
    sm_fixture_destroy(sm);
}

TEST("a fence without outstanding accesses does not wait for the result of an operation") {
    struct step steps[] = {alu(OP_int_div, 1, 0), fence(), alu(OP_other, 2, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 2), FIRST_ISSUE + 2u);
    sm_fixture_destroy(sm);
}

TEST("a fence waits for a load that hits in the L1 until its register is written, and for one that misses") {
    struct step steps[] = {load_line(1, 0x1000), alu(OP_other, 2, 1), load_line(3, 0x1000), fence(),
                           alu(OP_other, 4, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("l1.latency_cycles=40"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 4), script_issued(&source, 0, 0, 2) + hit_latency(sm));
    sm_fixture_destroy(sm);
    struct step misses[] = {load_line(1, 0x1000), fence(), alu(OP_other, 4, 0)};
    source = script_make(1, 1, SCRIPT(misses));
    sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 2), FIRST_ISSUE + miss_latency(sm));
    sm_fixture_destroy(sm);
}

TEST("a fence waits for accesses to shared memory") {
    struct step steps[] = {load_shared(1, 8), fence(), alu(OP_other, 2, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    const struct sm_config *config = sm_config_of(sm);
    /* Eight accesses to a bank, one after the other. */
    CHECK_EQ(script_issued(&source, 0, 0, 2),
             FIRST_ISSUE +
                 (uint64_t)(config->operand_cycles + 7 + config->shared_latency_cycles + config->writeback_cycles));
    sm_fixture_destroy(sm);
}

TEST("a CTA ends when its last result is there, also one that comes after all loads") {
    struct step steps[] = {load_line(1, 0x1000), alu(OP_int_div, 2, 1)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm->memory_cycles = 10;
    sm_fixture_run(sm, &source);
    uint64_t result = script_issued(&source, 0, 0, 1) + op_latency(sm, OP_int_div);
    CHECK_EQ(sm->done_at[0], result + 1); /* the report takes one cycle */
    sm_fixture_destroy(sm);
}

/* Enough independent operations for the load/store unit to be done with what comes before them. */
#define PAUSE \
    alu(OP_other, 10, 0), alu(OP_other, 11, 0), alu(OP_other, 12, 0), alu(OP_other, 13, 0), alu(OP_other, 14, 0)

TEST("a fence waits for the data of a hit and for acknowledgements although the load/store unit is empty") {
    struct step hit[] = {load_line(1, 0x1000), alu(OP_other, 2, 1), load_line(3, 0x1000), PAUSE, fence(),
                         alu(OP_other, 4, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(hit));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("l1.latency_cycles=40"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 8), script_issued(&source, 0, 0, 2) + 6);
    CHECK_EQ(script_issued(&source, 0, 0, 9), script_issued(&source, 0, 0, 2) + hit_latency(sm));
    sm_fixture_destroy(sm);
    struct step stores[] = {store_line(0, 0x1000), PAUSE, fence(), alu(OP_other, 4, 0)};
    source = script_make(1, 1, SCRIPT(stores));
    sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 7),
             FIRST_ISSUE + (uint64_t)sm_config_of(sm)->operand_cycles + round_trip(sm));
    sm_fixture_destroy(sm);
}

TEST("a fence waits for the slowest load, not for the one that ended last in the load/store unit") {
    struct step steps[] = {
        load_line(1, 0x1000), alu(OP_other, 2, 1), load_line(3, 0x1000), load_shared(4, 1), PAUSE, fence(),
        alu(OP_other, 5, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("l1.latency_cycles=100"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 10), script_issued(&source, 0, 0, 2) + hit_latency(sm));
    sm_fixture_destroy(sm);
}

TEST("a CTA ends with its slowest result, not with that of its last instruction") {
    struct step steps[] = {alu(OP_int_div, 1, 0), alu(OP_other, 2, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(sm->done_at[0], FIRST_ISSUE + op_latency(sm, OP_int_div) + 1);
    sm_fixture_destroy(sm);
}
