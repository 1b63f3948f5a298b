/* The allocators of a router, on examples worked by hand. */
#include "noc/islip.h"

#include "base/random.h"
#include "noc/router_fixture.h"

static uint64_t switch_winners(struct stage_fixture *fixture) {
    fixture->stage.in_word[0].sending = 0;
    router_stage_allocate_switch(&fixture->stage);
    return fixture->stage.in_word[0].sending;
}

/* The pointer of an output: the first crossbar input behind the one that it was matched with last, within its router; 0
 * if there is none. For routers whose input VCs are in one word. */
static unsigned grant_pointer(const struct stage_fixture *fixture, unsigned output) {
    uint64_t behind = fixture->stage.request[output].behind;
    return behind ? lowest_bit(behind) >> fixture->stage.vc_shift : 0;
}

/* The input that gets the only VC of output 0, which is then freed. */
static unsigned vc_winner(struct stage_fixture *fixture) {
    router_stage_allocate_vcs(&fixture->stage);
    unsigned owner = vc_owner(fixture, 0, 0);
    free_vc(fixture, 0, 0);
    return owner;
}

TEST("the round-robin arbiter grants the first requester at or after its pointer, with wrap-around") {
    CHECK_EQ(islip_first(0x29, 0), 0u);
    CHECK_EQ(islip_first(0x29, 1), 3u);
    CHECK_EQ(islip_first(0x29, 4), 5u);
    CHECK_EQ(islip_first(0x29, 6), 0u);
    CHECK_EQ(islip_first(UINT64_C(1) << 63, 63), 63u);
    const uint64_t wide[3] = {0, UINT64_C(1) << 5, UINT64_C(1) << 63};
    CHECK_EQ(islip_first_of(wide, 3, 0), 69u);
    CHECK_EQ(islip_first_of(wide, 3, 69), 69u);
    CHECK_EQ(islip_first_of(wide, 3, 70), 191u);
    const uint64_t behind[2] = {4, 0};
    CHECK_EQ(islip_first_of(behind, 2, 3), 2u);
}

/* Inputs 0, 1, 2 of a 3 × 3 switch. Input 0 has flits for outputs 0 (VC 0) and 1 (VC 1), input 1 for output 0, input 2
 * for output 1. */
static void three_by_three(struct stage_fixture *fixture, unsigned iterations) {
    struct stage_shape shape = {.inputs = 3, .outputs = 3, .vcs = 2, .iterations = iterations};
    stage_fixture_init(fixture, &shape);
    request_switch(fixture, 0, 0, 0);
    request_switch(fixture, 0, 1, 1);
    request_switch(fixture, 1, 0, 0);
    request_switch(fixture, 2, 0, 1);
}

enum { IN0_OUT0 = 1 << 0, IN0_OUT1 = 1 << 1, IN1_OUT0 = 1 << 2, IN2_OUT1 = 1 << 4 };

TEST("iSLIP with one iteration: pointers that collide in the first step diverge in the second") {
    struct stage_fixture fixture;
    three_by_three(&fixture, 1);
    /* Both outputs grant input 0, which accepts output 0. Output 1 gets nothing and keeps its pointer. */
    CHECK_EQ(switch_winners(&fixture), (uint64_t)IN0_OUT0);
    CHECK_EQ(grant_pointer(&fixture, 0), 1u);
    CHECK_EQ(grant_pointer(&fixture, 1), 0u);
    CHECK_EQ(fixture.stage.xbar_input[0].accept, 1u);
    /* Output 0 is now at input 1; output 1 insists on input 0, whose own pointer has moved to it. */
    CHECK_EQ(switch_winners(&fixture), (uint64_t)(IN1_OUT0 | IN0_OUT1));
    CHECK_EQ(grant_pointer(&fixture, 0), 2u);
    CHECK_EQ(grant_pointer(&fixture, 1), 1u);
    CHECK_EQ(fixture.stage.xbar_input[0].accept, 2u);
    CHECK_EQ(fixture.stage.xbar_input[1].accept, 1u);
    /* From here on both outputs are busy in every step. */
    CHECK_EQ(switch_winners(&fixture), (uint64_t)(IN0_OUT0 | IN2_OUT1));
    CHECK_EQ(switch_winners(&fixture), (uint64_t)(IN1_OUT0 | IN0_OUT1));
    stage_fixture_release(&fixture);
}

TEST("iSLIP with two iterations fills the gap, and only matches of the first iteration move pointers") {
    struct stage_fixture fixture;
    three_by_three(&fixture, 2);
    CHECK_EQ(switch_winners(&fixture), (uint64_t)(IN0_OUT0 | IN2_OUT1));
    CHECK_EQ(grant_pointer(&fixture, 0), 1u);
    CHECK_EQ(fixture.stage.xbar_input[0].accept, 1u);
    CHECK_EQ(grant_pointer(&fixture, 1), 0u); /* matched in the second iteration */
    CHECK_EQ(fixture.stage.xbar_input[2].accept, 0u);
    stage_fixture_release(&fixture);
}

TEST("VCs of one input with flits for one output take turns") {
    struct stage_fixture fixture;
    stage_fixture_init(&fixture, &(struct stage_shape){.inputs = 2, .outputs = 2, .vcs = 4});
    for (unsigned vc = 0; vc < 3; vc++) request_switch(&fixture, 1, vc, 0);
    for (unsigned i = 0; i < 7; i++) CHECK_EQ(switch_winners(&fixture), UINT64_C(1) << (4 + i % 3));
    stage_fixture_release(&fixture);
}

TEST("VCs that share a crossbar input take turns with an odd number of VCs, too") {
    struct stage_fixture fixture;
    stage_fixture_init(&fixture, &(struct stage_shape){.inputs = 2, .outputs = 2, .vcs = 3, .input_speedup = 2});
    request_switch(&fixture, 0, 0, 0); /* VCs 0 and 2 have the first crossbar input of their port, VC 1 the second */
    request_switch(&fixture, 0, 2, 0);
    for (unsigned i = 0; i < 6; i++) CHECK_EQ(switch_winners(&fixture), UINT64_C(1) << (i % 2 ? 2 : 0));
    stage_fixture_release(&fixture);
}

TEST("a VC of an output serves the inputs that wait for it in turn") {
    for (unsigned inputs = 5; inputs <= 100; inputs += 95) { /* one word of requesters, and two */
        struct stage_fixture fixture;
        stage_fixture_init(&fixture, &(struct stage_shape){.inputs = inputs, .outputs = 2});
        const unsigned waiting[] = {0, 3, inputs - 1};
        for (unsigned i = 0; i < 9; i++) {
            for (unsigned k = 0; k < 3; k++) request_vc(&fixture, waiting[k], 0);
            CHECK_EQ(vc_winner(&fixture), waiting[i % 3]);
        }
        stage_fixture_release(&fixture);
    }
}

/* Inputs 0, 1 and 2 wait for the two VCs of output 0, with one input VC each. */
static void allocate_to_three(struct stage_fixture *fixture, unsigned owner_of_0, unsigned owner_of_1) {
    for (unsigned input = 0; input < 3; input++) request_vc(fixture, vc_number(fixture, input, 0), 0);
    router_stage_allocate_vcs(&fixture->stage);
    unsigned owner[2];
    for (unsigned vc = 0; vc < 2; vc++) {
        owner[vc] = vc_owner(fixture, 0, vc);
        free_vc(fixture, 0, vc);
    }
    CHECK_EQ(owner[0], owner_of_0 == NO_INPUT ? NO_INPUT : vc_number(fixture, owner_of_0, 0));
    CHECK_EQ(owner[1], owner_of_1 == NO_INPUT ? NO_INPUT : vc_number(fixture, owner_of_1, 0));
    fixture->stage.waiting[0] = 0;
    fixture->stage.port_word[0].want = 0;
}

TEST("VC allocation with one iteration: an output VC whose grant was not accepted grants the same input again") {
    struct stage_fixture fixture;
    stage_fixture_init(&fixture, &(struct stage_shape){.inputs = 3, .vcs = 2});
    allocate_to_three(&fixture, 0, NO_INPUT); /* both VCs grant input 0, which accepts VC 0 */
    allocate_to_three(&fixture, 1, 0);        /* VC 0 is at input 1; VC 1 still grants input 0 */
    allocate_to_three(&fixture, 2, 1);
    stage_fixture_release(&fixture);
}

TEST("VC allocation with two iterations gives the second VC away, and only pairs of the first move pointers") {
    struct stage_fixture fixture;
    stage_fixture_init(&fixture, &(struct stage_shape){.inputs = 3, .vcs = 2, .iterations = 2});
    allocate_to_three(&fixture, 0, 1); /* VC 1 and input 1 are matched in the second iteration */
    CHECK_EQ(fixture.stage.vc_grant[0], 1u);
    CHECK_EQ(fixture.stage.vc_grant[1], 0u);
    CHECK_EQ(fixture.stage.vc_accept[vc_number(&fixture, 1, 0)], NOBODY);
    allocate_to_three(&fixture, 1, 0); /* VC 1 has not moved on from input 0 */
    stage_fixture_release(&fixture);
}

TEST("bit-sliced tallies equal plain counters") {
    struct tally tally = {0};
    unsigned counter[64] = {0}, planes = tally_planes(20);
    uint64_t random = 7;
    for (unsigned round = 0; round < 2000; round++) {
        uint64_t mask = random_next(&random), allowed = 0, some = 0;
        bool add = round % 100 < 40 || random_below(&random, 2);
        for (unsigned i = 0; i < 64; i++) allowed |= (uint64_t)(add ? counter[i] < 20 : counter[i] > 0) << i;
        mask &= allowed;
        for (unsigned i = 0; i < 64; i++) {
            if (mask >> i & 1) counter[i] = add ? counter[i] + 1 : counter[i] - 1;
            some |= (uint64_t)(counter[i] != 0) << i;
        }
        if (add)
            tally_add(&tally, mask);
        else
            CHECK_EQ(tally_take(&tally, planes, mask), some);
        for (unsigned i = 0; i < 64; i += 9)
            if (tally_value(&tally, i) != counter[i]) CHECK_EQ(tally_value(&tally, i), counter[i]);
    }
    tally_set(&tally, 5, 19);
    CHECK_EQ(tally_value(&tally, 5), 19u);
    struct tally fresh = {0};
    tally_start(&fresh, 63, 13);
    tally_start(&fresh, 5, 1);
    CHECK_EQ(tally_value(&fresh, 63), 13u);
    CHECK_EQ(tally_value(&fresh, 5), 1u);
    CHECK_EQ(tally_take(&fresh, tally_planes(13), UINT64_C(1) << 63 | 1 << 5), UINT64_C(1) << 63);
}

TEST("every queue that is not empty loses one entry per cycle, although two may join") {
    struct queue_word queue = {0};
    unsigned length[64] = {0}, planes = tally_planes(20);
    uint64_t random = 3;
    for (unsigned round = 0; round < 2000; round++) {
        uint64_t join[2], left = 0, some = 0;
        for (unsigned i = 0; i < 2; i++)
            join[i] = random_next(&random) & (round % 100 < 60 ? UINT64_MAX : random_next(&random));
        for (unsigned i = 0; i < 64; i++) {
            if (length[i] == 20) join[0] &= ~(UINT64_C(1) << i);
            length[i] += (unsigned)(join[0] >> i & 1) + (unsigned)(join[1] >> i & 1);
            left |= (uint64_t)(length[i] > 0) << i;
            length[i] -= length[i] > 0;
            some |= (uint64_t)(length[i] > 0) << i;
        }
        CHECK_EQ(queue_pass(&queue, planes, join[0], join[1]), left);
        CHECK_EQ(queue.some, some);
    }
}
