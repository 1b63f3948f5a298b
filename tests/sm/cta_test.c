#include "test.h"

#include "sm/sm_fixture.h"

/* Schedulers and pipelines enough for four warps to issue at once: what differs then comes from barriers alone. */
#define WIDE SETTINGS("sm.schedulers=4", "sm.sp_units=4", "sm.sfu_units=4")

TEST("a barrier releases its warps when the last one has arrived") {
    struct step slow[] = {alu(OP_f32_div, 1, 0), alu(OP_other, 2, 1), barrier(0, 0), alu(OP_other, 3, 0)};
    struct step quick[] = {barrier(0, 0), alu(OP_other, 3, 0)};
    struct script_source source = script_make(1, 4, SCRIPT(slow));
    script_add(&source, SCRIPT(quick));
    struct sm_fixture *sm = sm_fixture_create(WIDE);
    sm_fixture_run(sm, &source);
    uint64_t last = script_issued(&source, 0, 0, 2);
    CHECK_EQ(last, FIRST_ISSUE + op_latency(sm, OP_f32_div) + 1);
    CHECK_EQ(script_issued(&source, 0, 0, 3), last + op_latency(sm, OP_barrier));
    for (unsigned warp = 1; warp < 4; warp++) {
        CHECK_EQ(script_issued(&source, 0, warp, 0), FIRST_ISSUE);
        CHECK_EQ(script_issued(&source, 0, warp, 1), last + op_latency(sm, OP_barrier));
    }
    CHECK_EQ(COUNTER(sm, "sm.barriers"), 1u);
    sm_fixture_destroy(sm);
}

TEST("a barrier can be reused") {
    struct step steps[20];
    for (unsigned i = 0; i < 20; i++) steps[i] = barrier(0, 0);
    struct script_source source = script_make(1, 4, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(WIDE);
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.barriers"), 20u);
    for (unsigned i = 0; i < 20; i++)
        for (unsigned warp = 0; warp < 4; warp++)
            CHECK_EQ(script_issued(&source, 0, warp, i), FIRST_ISSUE + i * op_latency(sm, OP_barrier));
    sm_fixture_destroy(sm);
}

TEST("barriers of different CTAs are independent") {
    struct step slow[] = {alu(OP_int_div, 1, 0), alu(OP_other, 2, 1), barrier(0, 0), alu(OP_other, 3, 0)};
    struct step quick[] = {barrier(0, 0), alu(OP_other, 3, 0)};
    struct script_source source = script_make(2, 2, SCRIPT(slow));
    script_add(&source, SCRIPT(slow));
    script_add(&source, SCRIPT(quick));
    struct sm_fixture *sm = sm_fixture_create(WIDE);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 1, 0, 1), FIRST_ISSUE + op_latency(sm, OP_barrier));
    CHECK(script_issued(&source, 0, 0, 3) > FIRST_ISSUE + op_latency(sm, OP_int_div));
    sm_fixture_destroy(sm);
}

TEST("named barriers are independent, each with its own number of warps") {
    struct step a[] = {barrier(1, 2), alu(OP_other, 1, 0)}, b[] = {barrier(15, 2), alu(OP_other, 1, 0)};
    struct step late[] = {alu(OP_f32_div, 1, 0), alu(OP_other, 2, 1), barrier(15, 2), alu(OP_other, 1, 0)};
    struct script_source source = script_make(1, 4, SCRIPT(a));
    script_add(&source, SCRIPT(a));
    script_add(&source, SCRIPT(b));
    script_add(&source, SCRIPT(late));
    struct sm_fixture *sm = sm_fixture_create(WIDE);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + op_latency(sm, OP_barrier));
    CHECK_EQ(script_issued(&source, 0, 1, 1), FIRST_ISSUE + op_latency(sm, OP_barrier));
    CHECK_EQ(script_issued(&source, 0, 2, 1), script_issued(&source, 0, 3, 2) + op_latency(sm, OP_barrier));
    CHECK_EQ(COUNTER(sm, "sm.barriers"), 2u);
    sm_fixture_destroy(sm);
}

TEST("a warp that only arrives continues at once and is counted") {
    struct step producer[] = {alu(OP_f32_div, 1, 0), alu(OP_other, 2, 1), barrier_arrive(3, 2), alu(OP_other, 3, 0)};
    struct step consumer[] = {barrier(3, 2), alu(OP_other, 3, 0)};
    struct script_source source = script_make(1, 2, SCRIPT(producer));
    script_add(&source, SCRIPT(consumer));
    struct sm_fixture *sm = sm_fixture_create(WIDE);
    sm_fixture_run(sm, &source);
    uint64_t arrived = script_issued(&source, 0, 0, 2);
    CHECK_EQ(script_issued(&source, 0, 0, 3), arrived + 1);
    CHECK_EQ(script_issued(&source, 0, 1, 1), arrived + op_latency(sm, OP_barrier));
    sm_fixture_destroy(sm);
}

TEST("a barrier does not wait for warps that have exited, before or after the others arrive") {
    struct step comes[] = {barrier(0, 0), alu(OP_other, 1, 0)};
    struct step ends_late[] = {alu(OP_f32_div, 1, 0), alu(OP_other, 2, 1)};
    struct script none = {NULL, 0};
    struct script_source early = script_make(1, 4, none), late = script_make(1, 4, SCRIPT(ends_late));
    script_add(&early, SCRIPT(comes));
    script_add(&late, SCRIPT(comes));
    struct sm_fixture *sm = sm_fixture_create(WIDE);
    sm_fixture_run(sm, &early);
    CHECK_EQ(script_issued(&early, 0, 3, 1), FIRST_ISSUE + op_latency(sm, OP_barrier));
    sm_fixture_destroy(sm);
    sm = sm_fixture_create(WIDE);
    sm_fixture_run(sm, &late);
    uint64_t exit = script_issued(&late, 0, 0, 1) + 1;
    CHECK_EQ(script_issued(&late, 0, 1, 1), exit + op_latency(sm, OP_barrier));
    sm_fixture_destroy(sm);
}

TEST("a barrier release of a CTA that has ended does not affect the CTA in the same slot") {
    /* The first CTA exits while the release of its last barrier, for which no warp waits, is pending; the second
     * reaches the same barrier before that. */
    struct step leaves[] = {barrier_arrive(0, 1)}, comes[] = {barrier(0, 0), alu(OP_other, 1, 0)};
    struct script_source source = script_make(2, 1, SCRIPT(leaves));
    script_add(&source, SCRIPT(comes));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.ctas=1"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 1, 0, 1), script_issued(&source, 1, 0, 0) + op_latency(sm, OP_barrier));
    sm_fixture_destroy(sm);
}

/* Two CTAs of which warp 0 comes late to a barrier. The barrier of each script is the last instruction of its line. */
static struct script_source barrier_scripts(struct step slow[4], struct step quick[4], const uint32_t *ids) {
    slow[0] = alu(OP_f32_div, 1, 0), slow[1] = alu(OP_other, 2, 1), slow[2] = barrier(0, 0);
    slow[3] = alu(OP_f32_div, 3, 0);
    quick[0] = alu(OP_other, 1, 0), quick[1] = alu(OP_other, 2, 0), quick[2] = barrier(0, 0);
    quick[3] = alu(OP_other, 3, 0);
    struct script_source source = script_make(2, 4, (struct script){slow, 4});
    script_add(&source, (struct script){quick, 4});
    source.ids = ids;
    return source;
}

TEST("a stream that pauses at a barrier is read on when the barrier releases the warp, with the same timing") {
    static const uint32_t ids[] = {13, 14, 15, 16};
    struct step slow[4], quick[4];
    uint64_t read_on[2], ended[2], misses[2], stalls[2];
    for (unsigned pauses = 0; pauses < 2; pauses++) {
        struct script_source source = barrier_scripts(slow, quick, ids);
        source.pauses = pauses;
        struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.schedulers=4", "sm.instruction_kb=2"));
        sm_fixture_run(sm, &source);
        read_on[pauses] = script_issued(&source, 0, 1, 2); /* noted when the next record is read */
        ended[pauses] = sm->done_at[0] + sm->done_at[1];
        misses[pauses] = COUNTER(sm, "sm.instruction_misses");
        stalls[pauses] = COUNTER(sm, "sm.stall.barrier");
        sm_fixture_destroy(sm);
    }
    CHECK(read_on[1] > read_on[0]);
    CHECK_EQ(ended[0], ended[1]);
    CHECK_EQ(misses[0], misses[1]);
    CHECK_EQ(stalls[0], stalls[1]);
}

TEST("a stream that pauses at a barrier may go on anywhere") {
    static const uint32_t ids[] = {13, 14, 15, 5000};
    struct step slow[4], quick[4];
    struct script_source source = barrier_scripts(slow, quick, ids);
    source.pauses = true;
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.schedulers=4", "sm.instruction_kb=2"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.barriers"), 2u);
    CHECK_EQ(COUNTER(sm, "sm.warp_instructions"), 2u * 4 * 5);
    sm_fixture_destroy(sm);
}

TEST("a taken branch after a barrier does not release its warp from the barrier") {
    static const uint32_t ids[] = {13, 14, 15, 5000};
    struct step slow[4], quick[4];
    struct script_source source = barrier_scripts(slow, quick, ids);
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.schedulers=4", "sm.branch_cycles=3"));
    sm_fixture_run(sm, &source);
    CHECK(script_issued(&source, 0, 1, 3) >= script_issued(&source, 0, 0, 2) + op_latency(sm, OP_barrier));
    sm_fixture_destroy(sm);
}

TEST("a fence waits until the warp's stores are acknowledged") {
    struct step steps[] = {store_line(0, 0x1000), store_line(0, 0x2000), fence(), alu(OP_other, 1, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    uint64_t second = script_issued(&source, 0, 0, 1) + (uint64_t)sm_config_of(sm)->operand_cycles;
    CHECK_EQ(script_issued(&source, 0, 0, 2), FIRST_ISSUE + 2u);
    CHECK_EQ(script_issued(&source, 0, 0, 3), second + round_trip(sm));
    sm_fixture_destroy(sm);
}

TEST("a fence without outstanding stores does not wait, and does not wait for stores of other warps") {
    struct step stores[] = {store_line(0, 0x1000), alu(OP_other, 1, 0)},
                fences[] = {alu(OP_other, 1, 0), fence(), alu(OP_other, 2, 0)};
    struct script_source source = script_make(1, 2, SCRIPT(stores));
    script_add(&source, SCRIPT(fences));
    struct sm_fixture *sm = sm_fixture_create(WIDE);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 1, 2), script_issued(&source, 0, 1, 1) + 1);
    sm_fixture_destroy(sm);
}

TEST("a CTA ends only after its stores are acknowledged and its loads have their data") {
    struct step stores[] = {store_line(0, 0x1000)}, loads[] = {load_line(1, 0x1000)}, none[] = {alu(OP_other, 0, 0)};
    struct {
        struct script script;
        bool waits;
        unsigned after; /* cycles from the answer to the end */
    } cases[] = {{SCRIPT(stores), true, 0}, {SCRIPT(loads), true, 2}, {SCRIPT(none), false, 0}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct script_source source = script_make(1, 1, cases[i].script);
        struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.writeback_cycles=2"));
        sm_fixture_run(sm, &source);
        uint64_t access = FIRST_ISSUE + (uint64_t)sm_config_of(sm)->operand_cycles;
        /* The report of it takes one cycle. */
        CHECK_EQ(sm->done_at[0], cases[i].waits ? access + round_trip(sm) + cases[i].after + 1 : FIRST_ISSUE + 2);
        sm_fixture_destroy(sm);
    }
}

TEST("as many CTAs run concurrently as fit, and the next starts when one has ended") {
    struct step steps[] = {alu(OP_int_div, 1, 0), alu(OP_other, 2, 1)};
    struct script_source source = script_make(6, 2, SCRIPT(steps));
    struct sm_fixture *sm =
        sm_fixture_create(SETTINGS("sm.schedulers=4", "sm.sp_units=4", "sm.sfu_units=8", "sm.ctas=2"));
    sm_fixture_run(sm, &source);
    for (unsigned cta = 0; cta < 6; cta++) {
        uint64_t expected = cta < 2 ? FIRST_ISSUE : sm->done_at[cta - 2] + 1;
        CHECK_EQ(script_issued(&source, cta, 0, 0), expected);
    }
    CHECK_EQ(COUNTER(sm, "sm.ctas"), 6u);
    CHECK_EQ(COUNTER(sm, "sm.warps"), 12u);
    sm_fixture_destroy(sm);
}

TEST("an SM with all warp slots in use runs every warp") {
    struct step steps[] = {alu(OP_other, 1, 0), barrier(0, 0), load_shared(2, 1), alu(OP_other, 3, 2)};
    struct script_source source = script_make(2, 32, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.warp_instructions"), 64u * 5);
    CHECK_EQ(COUNTER(sm, "sm.barriers"), 2u);
    sm_fixture_destroy(sm);
}

TEST("a named barrier that other warps use again does not release its former users from where they wait now") {
    /* Warps 0 and 1 leave barrier 1 and wait at barrier 2 for warp 4; warps 2 and 3 then use barrier 1. */
    struct step first[] = {barrier(1, 2), barrier(2, 3), alu(OP_other, 1, 0)};
    struct step second[] = {alu(OP_f32_div, 1, 0), alu(OP_other, 2, 1), barrier(1, 2), alu(OP_other, 1, 0)};
    struct step last[] = {alu(OP_int_div, 1, 0), alu(OP_other, 2, 1), barrier(2, 3), alu(OP_other, 1, 0)};
    struct script_source source = script_make(1, 5, SCRIPT(first));
    script_add(&source, SCRIPT(first));
    script_add(&source, SCRIPT(second));
    script_add(&source, SCRIPT(second));
    script_add(&source, SCRIPT(last));
    struct sm_fixture *sm = sm_fixture_create(WIDE);
    sm_fixture_run(sm, &source);
    uint64_t released = script_issued(&source, 0, 4, 2) + op_latency(sm, OP_barrier);
    CHECK(script_issued(&source, 0, 2, 3) < script_issued(&source, 0, 4, 2));
    for (unsigned warp = 0; warp < 2; warp++) CHECK(script_issued(&source, 0, warp, 2) >= released);
    CHECK_EQ(COUNTER(sm, "sm.barriers"), 3u);
    sm_fixture_destroy(sm);
}

TEST("when a CTA ends, the others keep their age, and the one that takes its slot is the youngest") {
    /* CTA 2 of four is brief; CTA 4 takes its slot. All then wait for data that arrives at once, and issue by age. */
    struct step waits[] = {load_line(1, 0x1000), alu(OP_int_div, 2, 1), alu(OP_other, 3, 2), alu(OP_other, 4, 2)};
    struct step brief[] = {alu(OP_other, 1, 0)};
    struct script_source source = script_make(5, 1, SCRIPT(waits));
    script_add(&source, SCRIPT(waits));
    script_add(&source, SCRIPT(brief));
    script_add(&source, SCRIPT(waits));
    struct sm_fixture *sm =
        sm_fixture_create(SETTINGS("sm.schedulers=1", "sm.ctas=4", "sm.sfu_units=4", "l1.mshr_merges=8"));
    sm_fixture_run(sm, &source);
    static const unsigned by_age[] = {0, 1, 3, 4};
    for (unsigned i = 1; i < COUNT_OF(by_age); i++)
        CHECK(script_issued(&source, by_age[i - 1], 0, 2) < script_issued(&source, by_age[i], 0, 2));
    sm_fixture_destroy(sm);
}
