#include "test.h"

#include "sm/sm_fixture.h"

static bool is_plain(unsigned op) {
    return op != OP_load && op != OP_store && op != OP_atomic && op != OP_barrier && op != OP_fence && op != OP_exit &&
           op != OP_tensor;
}

TEST("a dependent instruction issues operand, latency and writeback cycles after its producer") {
    for (unsigned op = 0; op < OP_COUNT; op++) {
        if (!is_plain(op)) continue;
        struct step steps[] = {alu(op, 1, 0), alu(OP_other, 2, 1)};
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
        sm_fixture_run(sm, &source);
        CHECK_EQ(script_issued(&source, 0, 0, 0), FIRST_ISSUE);
        CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + op_latency(sm, op));
        sm_fixture_destroy(sm);
    }
}

TEST("operand and writeback stages have the latencies of the description") {
    struct step steps[] = {alu(OP_f32_add, 1, 0), alu(OP_f32_add, 2, 1), alu(OP_f32_add, 3, 2)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm =
        sm_fixture_create(SETTINGS("sm.operand_cycles=7", "sm.writeback_cycles=0", "sm.op_f32_add=[11, 1]"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + 18u);
    CHECK_EQ(script_issued(&source, 0, 0, 2), FIRST_ISSUE + 36u);
    sm_fixture_destroy(sm);
}

TEST("if registers are read one at a time, each source register takes its cycles") {
    struct step steps[] = {step_of(OP_f32_fma, 1, 5, 6), alu(OP_f32_fma, 2, 1), alu(OP_f32_fma, 3, 2)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm =
        sm_fixture_create(SETTINGS("sm.operand_cycles=1", "sm.operand_read_cycles=1", "sm.writeback_cycles=2"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + 1u + 2 + 5 + 2);
    CHECK_EQ(script_issued(&source, 0, 0, 2), FIRST_ISSUE + 10u + 1 + 1 + 5 + 2);
    sm_fixture_destroy(sm);
}

TEST("an operand collector is busy while it reads, so that their number limits the issue rate of a unit") {
    struct step steps[8];
    for (unsigned i = 0; i < 8; i++) steps[i] = step_of(OP_f32_fma, (uint8_t)(i + 1), 20, 21);
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm =
        sm_fixture_create(SETTINGS("sm.operand_cycles=2", "sm.operand_read_cycles=2", "sm.sp_collectors=3"));
    sm_fixture_run(sm, &source);
    static const unsigned at[] = {0, 1, 2, 6, 7, 8, 12, 13}; /* three at a time, each for 2 + 2 x 2 cycles */
    for (unsigned i = 0; i < 8; i++) CHECK_EQ(script_issued(&source, 0, 0, i), FIRST_ISSUE + at[i]);
    sm_fixture_destroy(sm);
}

TEST("after a taken branch a warp issues branch_cycles later; a branch that is not taken costs nothing") {
    static const struct {
        uint32_t ids[4];
        unsigned at[4], taken; /* with one to the exit, instruction 4 */
    } cases[] = {{{0, 1, 2, 3}, {0, 1, 2, 3}, 0}, {{0, 1, 0, 1}, {0, 1, 7, 8}, 2}, {{0, 9, 10, 2}, {0, 6, 7, 13}, 3}};
    for (unsigned c = 0; c < COUNT_OF(cases); c++) {
        struct step steps[4];
        for (unsigned i = 0; i < 4; i++) steps[i] = alu(OP_other, (uint8_t)(i + 1), 0);
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        source.ids = cases[c].ids;
        struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.branch_cycles=6"));
        sm_fixture_run(sm, &source);
        for (unsigned i = 0; i < 4; i++) CHECK_EQ(script_issued(&source, 0, 0, i), FIRST_ISSUE + cases[c].at[i]);
        CHECK_EQ(COUNTER(sm, "sm.stall.fetch"), cases[c].taken * 5u);
        sm_fixture_destroy(sm);
    }
}

TEST("integer multiplications use the SP pipelines if the description says so") {
    struct step steps[] = {alu(OP_int_mul, 1, 0)};
    for (unsigned simple = 0; simple < 2; simple++) {
        struct script_source source = script_make(1, 2, SCRIPT(steps));
        struct sm_fixture *sm = sm_fixture_create(
            SETTINGS(simple ? "sm.int_multiply_on_sp=true" : "sm.int_multiply_on_sp=false", "sm.schedulers=2"));
        sm_fixture_run(sm, &source);
        CHECK_EQ(source.log[1].cycle, FIRST_ISSUE + (simple ? 0u : 2u)); /* two pipelines, or one for two cycles */
        sm_fixture_destroy(sm);
    }
}

TEST("independent instructions of a warp issue in order, one per cycle") {
    struct step steps[] = {alu(OP_f32_fma, 1, 0), alu(OP_int_add, 2, 0), alu(OP_f32_fma, 3, 0), alu(OP_other, 4, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    for (unsigned i = 0; i < 4; i++) CHECK_EQ(script_issued(&source, 0, 0, i), FIRST_ISSUE + i);
    sm_fixture_destroy(sm);
}

TEST("a stalled instruction blocks those behind it, although they are independent") {
    struct step steps[] = {alu(OP_f32_div, 1, 0), alu(OP_other, 2, 1), alu(OP_other, 3, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 2), FIRST_ISSUE + op_latency(sm, OP_f32_div) + 1);
    sm_fixture_destroy(sm);
}

TEST("a write to a register with a pending result waits for it") {
    struct step steps[] = {alu(OP_f32_div, 1, 0), alu(OP_other, 1, 0), alu(OP_other, 2, 1)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    uint64_t second = FIRST_ISSUE + op_latency(sm, OP_f32_div);
    CHECK_EQ(script_issued(&source, 0, 0, 1), second);
    CHECK_EQ(script_issued(&source, 0, 0, 2), second + op_latency(sm, OP_other));
    sm_fixture_destroy(sm);
}

TEST("every register of the scoreboard is checked, as source and as destination, in every operand of a record") {
    static const uint8_t registers[] = {1, 2, 63, 64, 65, 127, 128, 200, 255};
    for (unsigned r = 0; r < COUNT_OF(registers); r++)
        for (unsigned place = 0; place < INSTR_SRCS + INSTR_DSTS; place++) {
            struct step steps[] = {alu(OP_f32_div, 0, 0), alu(OP_other, 0, 0)};
            uint8_t other = 10;
            unsigned d = r % INSTR_DSTS;
            for (unsigned i = 0; i < d; i++) steps[0].instr.dst[i] = other++;
            steps[0].instr.dst[d] = registers[r];
            for (unsigned i = 0; i < place && i < INSTR_SRCS; i++) steps[1].instr.src[i] = other++;
            if (place < INSTR_SRCS) {
                steps[1].instr.src[place] = registers[r];
            } else {
                for (unsigned i = 0; i < place - INSTR_SRCS; i++) steps[1].instr.dst[i] = other++;
                steps[1].instr.dst[place - INSTR_SRCS] = registers[r];
            }
            struct script_source source = script_make(1, 1, SCRIPT(steps));
            struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
            sm_fixture_run(sm, &source);
            CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + op_latency(sm, OP_f32_div));
            sm_fixture_destroy(sm);
        }
}

TEST("all results of an instruction arrive at once, and only dependents wait for them") {
    struct step steps[] = {alu(OP_f32_div, 1, 0), alu(OP_other, 9, 5), alu(OP_other, 10, 4)};
    for (uint8_t i = 0; i < INSTR_DSTS; i++) steps[0].instr.dst[i] = (uint8_t)(i + 1);
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + 1u);
    CHECK_EQ(script_issued(&source, 0, 0, 2), FIRST_ISSUE + op_latency(sm, OP_f32_div));
    sm_fixture_destroy(sm);
}

TEST("warps do not wait for each other's registers") {
    struct step slow[] = {alu(OP_int_div, 1, 0), alu(OP_other, 2, 1)}, quick[] = {alu(OP_other, 2, 1)};
    struct script_source source = script_make(1, 2, SCRIPT(slow));
    script_add(&source, SCRIPT(quick));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 1, 0), FIRST_ISSUE);
    sm_fixture_destroy(sm);
}

TEST("two schedulers issue two independent instructions per cycle") {
    struct step steps[16];
    for (unsigned i = 0; i < 16; i++) steps[i] = alu(OP_f32_fma, (uint8_t)(i + 1), 0);
    struct script_source source = script_make(1, 2, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.schedulers=2", "sm.sp_units=2"));
    sm_fixture_run(sm, &source);
    for (unsigned i = 0; i < 16; i++) {
        CHECK_EQ(script_issued(&source, 0, 0, i), FIRST_ISSUE + i);
        CHECK_EQ(script_issued(&source, 0, 1, i), FIRST_ISSUE + i);
    }
    sm_fixture_destroy(sm);
}

TEST("a scheduler issues only its own warps: two warps of one scheduler take turns") {
    struct step steps[4];
    for (unsigned i = 0; i < 4; i++) steps[i] = alu(OP_f32_fma, (uint8_t)(i + 1), 0);
    struct script none = {NULL, 0};
    struct script_source source = script_make(1, 3, SCRIPT(steps)); /* warps 0 and 2 are those of scheduler 0 */
    script_add(&source, none);
    script_add(&source, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.schedulers=2", "sm.sp_units=4"));
    sm_fixture_run(sm, &source);
    uint64_t last = max_u64(script_issued(&source, 0, 0, 3), script_issued(&source, 0, 2, 3));
    CHECK_EQ(last, FIRST_ISSUE + 8u); /* eight, and in between warp 0's exit */
    sm_fixture_destroy(sm);
}

TEST("a pipeline accepts one instruction per cycle, and the schedulers take turns") {
    struct step steps[8];
    for (unsigned i = 0; i < 8; i++) steps[i] = alu(OP_f32_fma, (uint8_t)(i + 1), 0);
    struct script_source source = script_make(1, 2, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.schedulers=2", "sm.sp_units=1"));
    sm_fixture_run(sm, &source);
    uint64_t a = script_issued(&source, 0, 0, 7), b = script_issued(&source, 0, 1, 7);
    CHECK_EQ(max_u64(a, b), FIRST_ISSUE + 15u);
    CHECK_EQ(min_u64(a, b), FIRST_ISSUE + 14u);
    for (unsigned i = 1; i < source.logged; i++) CHECK_EQ(source.log[i].cycle, source.log[i - 1].cycle + 1);
    sm_fixture_destroy(sm);
}

TEST("an initiation interval blocks its pipeline and not a second one") {
    static const struct {
        const char *units;
        unsigned apart[4];
    } cases[] = {
        {"sm.sfu_units=1", {0, 8, 16, 24}}, {"sm.sfu_units=2", {0, 0, 8, 8}}, {"sm.sfu_units=3", {0, 0, 0, 8}}};
    struct step steps[] = {alu(OP_int_div, 1, 0)};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct script_source source = script_make(1, 4, SCRIPT(steps));
        struct sm_fixture *sm = sm_fixture_create(SETTINGS(cases[i].units, "sm.schedulers=4"));
        sm_fixture_run(sm, &source);
        uint64_t at[4];
        for (unsigned w = 0; w < 4; w++) at[w] = source.log[w].cycle - FIRST_ISSUE;
        for (unsigned w = 0; w < 4; w++) CHECK_EQ(at[w], cases[i].apart[w]);
        sm_fixture_destroy(sm);
    }
}

TEST("pipelines with different initiation intervals are reused as each becomes free") {
    /* f64_div for 130 cycles, int_div for 8, special for 8, on two pipelines: the long one blocks only its own. */
    struct step lone[] = {alu(OP_f64_div, 1, 0)},
                many[] = {alu(OP_int_div, 1, 0), alu(OP_int_div, 2, 0), alu(OP_int_div, 3, 0)};
    struct script_source source = script_make(1, 2, SCRIPT(lone));
    script_add(&source, SCRIPT(many));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.sfu_units=2"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 0), FIRST_ISSUE);
    for (unsigned i = 0; i < 3; i++) CHECK_EQ(script_issued(&source, 0, 1, i), FIRST_ISSUE + 8 * i);
    sm_fixture_destroy(sm);
}

TEST("two pipelines with operations of one and of two cycles accept one of the next two in the next cycle") {
    struct step longer[] = {alu(OP_int_minmax, 1, 0), alu(OP_other, 2, 0)},
                shorter[] = {alu(OP_other, 1, 0), alu(OP_other, 2, 0)};
    struct script_source source = script_make(1, 2, SCRIPT(longer));
    script_add(&source, SCRIPT(shorter));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.sp_units=2", "sm.schedulers=2"));
    sm_fixture_run(sm, &source);
    uint64_t a = script_issued(&source, 0, 0, 1), b = script_issued(&source, 0, 1, 1);
    CHECK_EQ(script_issued(&source, 0, 0, 0), FIRST_ISSUE);
    CHECK_EQ(script_issued(&source, 0, 1, 0), FIRST_ISSUE);
    CHECK_EQ(min_u64(a, b), FIRST_ISSUE + 1u);
    CHECK_EQ(max_u64(a, b), FIRST_ISSUE + 2u);
    sm_fixture_destroy(sm);
}

TEST("double precision uses its own pipelines if there are any, else the SP pipelines") {
    struct step steps[] = {alu(OP_f64_add, 1, 0)}, other[] = {alu(OP_int_add, 1, 0)};
    static const struct {
        const char *units;
        unsigned second; /* issue cycle of the concurrent integer addition */
    } cases[] = {{"sm.dp_units=0", 8}, {"sm.dp_units=1", 0}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct script_source source = script_make(1, 2, SCRIPT(steps));
        script_add(&source, SCRIPT(other));
        struct sm_fixture *sm = sm_fixture_create(SETTINGS(cases[i].units, "sm.sp_units=1"));
        sm_fixture_run(sm, &source);
        uint64_t a = script_issued(&source, 0, 0, 0), b = script_issued(&source, 0, 1, 0);
        /* Whoever is first, an addition of doubles keeps the pipeline for 8 cycles and one of integers for 1. */
        if (i == 1)
            CHECK_EQ(a, b);
        else
            CHECK(b == a + 8 || a == b + 1);
        sm_fixture_destroy(sm);
    }
}

TEST("instructions are counted by class, and threads by active lane") {
    struct step steps[] = {alu(OP_f32_fma, 1, 0), alu(OP_f32_fma, 2, 0), alu(OP_special, 3, 0), load_line(4, 0x1000)};
    steps[1].instr.active = 0x0000FFFF;
    steps[2].instr.active = 1;
    struct script_source source = script_make(2, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.warp_instructions"), 10u);
    CHECK_EQ(COUNTER(sm, "sm.thread_instructions"), 2u * (32 + 16 + 1 + 32 + 32));
    CHECK_EQ(COUNTER(sm, "sm.op.f32_fma"), 4u);
    CHECK_EQ(COUNTER(sm, "sm.op.special"), 2u);
    CHECK_EQ(COUNTER(sm, "sm.op.load"), 2u);
    CHECK_EQ(COUNTER(sm, "sm.op.exit"), 2u);
    sm_fixture_destroy(sm);
}

TEST("a warp does not wait for pending results of the previous warp in its slot") {
    struct step leaves[] = {alu(OP_int_div, 1, 0)}, comes[] = {alu(OP_other, 2, 1), alu(OP_other, 1, 0)};
    struct script_source source = script_make(2, 1, SCRIPT(leaves));
    script_add(&source, SCRIPT(comes));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.ctas=1"));
    sm_fixture_run(sm, &source);
    /* The report of the first CTA's end, the command to run the second, and its first step at once. */
    CHECK_EQ(script_issued(&source, 1, 0, 0), sm->done_at[0] + 1);
    CHECK_EQ(script_issued(&source, 1, 0, 1), sm->done_at[0] + 2);
    sm_fixture_destroy(sm);
}

TEST("a warp that has exited does not keep others from units that are free") {
    /* Simple operations every third cycle, and divisions every eighth: in the ninth the simple pipeline is busy. */
    struct step simple[8], divisions[] = {alu(OP_int_div, 1, 0), alu(OP_int_div, 2, 0), alu(OP_int_div, 3, 0)};
    for (unsigned i = 0; i < COUNT_OF(simple); i++) simple[i] = alu(OP_f32_fma, (uint8_t)(i + 1), 0);
    struct script_source source = script_make(1, 4, (struct script){NULL, 0});
    script_add(&source, SCRIPT(simple));
    script_add(&source, SCRIPT(divisions));
    script_add(&source, SCRIPT(simple));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.schedulers=2", "sm.sp_units=1", "sm.sfu_units=1",
                                                       "sm.op_f32_fma=[5, 3]", "sm.op_int_div=[100, 8]"));
    sm_fixture_run(sm, &source);
    for (unsigned i = 1; i < COUNT_OF(divisions); i++)
        CHECK_EQ(script_issued(&source, 0, 2, i), script_issued(&source, 0, 2, i - 1) + 8);
    sm_fixture_destroy(sm);
}

static struct step timed(unsigned op, enum op_class class, int added, uint8_t dst, uint8_t src) {
    struct step step = alu((enum op_class)op, dst, src);
    step.instr.space = (uint8_t) class;
    step.instr.bytes_log2 = (uint8_t)added;
    return step;
}

TEST("an operation with its own latency has its result that many cycles after the class, and is counted in it") {
    static const int added[] = {0, 6, -1, -100, 127};
    for (unsigned i = 0; i < COUNT_OF(added); i++) {
        struct step steps[] = {timed(OP_TIMED_SP, OP_int_add, added[i], 1, 0), alu(OP_other, 2, 1)};
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.op_int_add=[4, 1]"));
        sm_fixture_run(sm, &source);
        int cycles = 3 + 4 + 2 + added[i];
        CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + (unsigned)(cycles < 1 ? 1 : cycles));
        CHECK_EQ(COUNTER(sm, "sm.op.int_add"), 1);
        sm_fixture_destroy(sm);
    }
}

TEST("an operation on another pipeline than its class has that pipeline's interval") {
    static const struct { unsigned op, interval; } cases[] = {{OP_TIMED_SP, 1}, {OP_TIMED_SFU, 8}, {OP_TIMED_DP, 5}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct step steps[] = {timed(cases[i].op, OP_other, 0, 1, 0), timed(cases[i].op, OP_other, 0, 2, 0),
                               timed(cases[i].op, OP_other, 0, 3, 0)};
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        struct sm_fixture *sm = sm_fixture_create(
            SETTINGS("sm.op_other=[1, 1]", "sm.op_special=[8, 8]", "sm.op_f64_add=[8, 5]", "sm.dp_units=1"));
        sm_fixture_run(sm, &source);
        CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + cases[i].interval);
        CHECK_EQ(script_issued(&source, 0, 0, 2), FIRST_ISSUE + 2 * cases[i].interval);
        sm_fixture_destroy(sm);
    }
}
