/* Routers of one stage, cycle by cycle: links shared by several VCs under internal speedup. A packet that is there at
 * the start of cycle 0 has its route after step 0, its VC after step 1, and wins the switch from step 2 on; cycle c has
 * the steps 2c and 2c + 1. Links and credits take one cycle. */
#include "noc/router.h"

#include "noc/router_fixture.h"

static const struct stage_shape fast = {.inputs = 2, .outputs = 4, .vcs = 4, .input_speedup = 2, .internal_speedup = 2};

static void run_cycles(struct stage_fixture *fixture, uint64_t cycles) {
    for (uint64_t cycle = 0; cycle < cycles; cycle++) router_stage_run(&fixture->stage, cycle);
}

/* The cycles in which a credit returns, as bits. */
static uint64_t credit_cycles(const struct stage_fixture *fixture, unsigned input, unsigned vc) {
    uint64_t cycles = 0;
    for (unsigned cycle = 0; cycle < STAGE_CYCLES; cycle++)
        cycles |= (uint64_t)credit_returns(fixture, cycle, input, vc) << cycle;
    return cycles;
}

static uint64_t flit_cycles(const struct stage_fixture *fixture, unsigned output, unsigned vc) {
    uint64_t cycles = 0;
    for (unsigned cycle = 0; cycle < STAGE_CYCLES; cycle++)
        cycles |= (uint64_t)flit_arrives(fixture, cycle, output, vc) << cycle;
    return cycles;
}

TEST("with both speedups the credits of two VCs that send in one step return in one cycle") {
    struct stage_fixture fixture;
    stage_fixture_init(&fixture, &fast);
    arrive_packet(&fixture, 0, 0, 0, 1); /* an even and an odd VC: each has a crossbar input */
    arrive_packet(&fixture, 0, 1, 1, 1);
    run_cycles(&fixture, 8);
    CHECK_EQ(credit_cycles(&fixture, 0, 0), UINT64_C(1) << 2);
    CHECK_EQ(credit_cycles(&fixture, 0, 1), UINT64_C(1) << 2);
    stage_fixture_release(&fixture);
}

TEST("with both speedups the credits of an input's steps return one cycle apart, those of each step together") {
    struct stage_fixture fixture;
    stage_fixture_init(&fixture, &fast);
    arrive_packet(&fixture, 1, 2, 0, 4);
    arrive_packet(&fixture, 1, 3, 1, 4);
    run_cycles(&fixture, 12);
    CHECK_EQ(credit_cycles(&fixture, 1, 2), UINT64_C(0xF) << 2); /* of steps 2, 3, 4 and 5 */
    CHECK_EQ(credit_cycles(&fixture, 1, 3), UINT64_C(0xF) << 2);
    CHECK_EQ(credit_cycles(&fixture, 0, 2), UINT64_C(0));
    stage_fixture_release(&fixture);
}

TEST("credits of different inputs do not wait for each other") {
    struct stage_fixture fixture;
    stage_fixture_init(&fixture, &fast);
    arrive_packet(&fixture, 0, 0, 0, 2);
    arrive_packet(&fixture, 1, 0, 1, 2);
    run_cycles(&fixture, 8);
    CHECK_EQ(credit_cycles(&fixture, 0, 0), UINT64_C(3) << 2);
    CHECK_EQ(credit_cycles(&fixture, 1, 0), UINT64_C(3) << 2);
    stage_fixture_release(&fixture);
}

TEST("the switch delivers two flits per cycle to an output, and its link carries one") {
    struct stage_fixture fixture;
    stage_fixture_init(&fixture, &fast);
    arrive_packet(&fixture, 0, 0, 2, 4);
    run_cycles(&fixture, 12);
    CHECK_EQ(flit_cycles(&fixture, 2, 0), UINT64_C(0xF) << 2);
    CHECK_EQ(fixture.out.word[0].credits.plane[2] >> vc_number(&fixture, 2, 0) & 1, 1u); /* 4 of 8 are left */
    stage_fixture_release(&fixture);
}

TEST("flits of two VCs share the link of their output, one per cycle") {
    struct stage_fixture fixture;
    stage_fixture_init(&fixture, &fast);
    arrive_packet(&fixture, 0, 0, 3, 2);
    arrive_packet(&fixture, 1, 0, 3, 2);
    run_cycles(&fixture, 12);
    uint64_t all = 0, twice = 0;
    for (unsigned vc = 0; vc < 4; vc++) {
        uint64_t cycles = flit_cycles(&fixture, 3, vc);
        twice |= all & cycles;
        all |= cycles;
    }
    CHECK_EQ(twice, UINT64_C(0));
    CHECK_EQ(all, UINT64_C(0xF) << 2);
    stage_fixture_release(&fixture);
}
