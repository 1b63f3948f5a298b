/* Instructions with operands from several places: an instruction issues when the last of them is there, and its stall is
 * counted as one of memory while one of them comes from memory. */
#include "sm/sm_fixture.h"

TEST("an instruction with an operand from a hit and a later one from an operation waits for the operation") {
    struct step steps[] = {load_line(1, 0x1000), alu(OP_other, 2, 1), load_line(3, 0x1000), alu(OP_int_div, 4, 0),
                           step_of(OP_other, 5, 3, 4)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("l1.latency_cycles=40"));
    sm_fixture_run(sm, &source);
    uint64_t hit = script_issued(&source, 0, 0, 2) + hit_latency(sm),
             result = script_issued(&source, 0, 0, 3) + op_latency(sm, OP_int_div);
    REQUIRE(hit < result);
    CHECK_EQ(script_issued(&source, 0, 0, 4), result);
    sm_fixture_destroy(sm);
}

TEST("while an operand comes from memory the stall is one of memory, and from then on one of the operation") {
    struct step steps[] = {load_line(1, 0x1000), alu(OP_other, 2, 1), load_line(3, 0x1000), alu(OP_int_div, 4, 0),
                           step_of(OP_other, 0, 3, 4)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("l1.latency_cycles=40"));
    sm_fixture_run(sm, &source);
    uint64_t first = miss_latency(sm) - 1, /* of the load that misses */
        hit = script_issued(&source, 0, 0, 2) + hit_latency(sm),
             result = script_issued(&source, 0, 0, 3) + op_latency(sm, OP_int_div);
    CHECK_EQ(COUNTER(sm, "sm.stall.memory"), first + hit - script_issued(&source, 0, 0, 3) - 1);
    CHECK_EQ(COUNTER(sm, "sm.stall.alu"), result - hit);
    sm_fixture_destroy(sm);
}

TEST("an instruction reads each of six registers in turn") {
    struct step steps[] = {alu(OP_f32_fma, 1, 0), alu(OP_f32_fma, 2, 1)};
    for (unsigned i = 0; i < INSTR_SRCS; i++) steps[0].instr.src[i] = (uint8_t)(20 + i);
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.operand_read_cycles=3"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + op_latency(sm, OP_f32_fma) + 6 * 3);
    sm_fixture_destroy(sm);
}
