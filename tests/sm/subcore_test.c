/* An SM of several sub-cores: pipelines, registers and memory queues of each, and the load/store unit that they share. */
#include "test.h"

#include "sim/gpu_config.h"
#include "sm/sm_fixture.h"

enum { SUBCORES = 4, STEPS = 6 };

/* One scheduler and one pipeline of each unit in each of four sub-cores. */
#define VOLTA "sm.schedulers=4", "sm.subcores=4", "sm.sp_units=1", "sm.warp_scheduler=lrr"

static void independent(struct step *steps, unsigned count, enum op_class op) {
    for (unsigned i = 0; i < count; i++) steps[i] = alu(op, (uint8_t)(i + 1), 0);
}

TEST("each sub-core issues one instruction per cycle") {
    struct step steps[STEPS];
    independent(steps, STEPS, OP_other);
    struct script_source source = script_make(1, 2 * SUBCORES, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS(VOLTA));
    sm_fixture_run(sm, &source);
    unsigned issued[2 * STEPS] = {0}; /* in each cycle */
    for (unsigned i = 0; i < source.logged; i++)
        if (source.log[i].index < STEPS) issued[source.log[i].cycle - FIRST_ISSUE]++;
    for (unsigned i = 0; i < 2 * STEPS; i++) CHECK_EQ(issued[i], SUBCORES);
    sm_fixture_destroy(sm);
}

/* In the SFU, so that exits, which use the SP pipelines, do not interfere. */
TEST("a pipeline is busy for the warps of its sub-core only") {
    struct step steps[STEPS];
    independent(steps, STEPS, OP_f32_div);
    static const struct {
        const char *subcores;
        unsigned warps; /* that share a pipeline */
    } cases[] = {{"sm.subcores=4", 1}, {"sm.subcores=2", 2}, {"sm.subcores=1", 4}};
    for (unsigned c = 0; c < COUNT_OF(cases); c++) {
        struct script_source source = script_make(1, SUBCORES, SCRIPT(steps));
        struct sm_fixture *sm = sm_fixture_create(SETTINGS(VOLTA, "sm.op_f32_div=[4, 2]", cases[c].subcores));
        sm_fixture_run(sm, &source);
        uint64_t last = 0;
        for (unsigned warp = 0; warp < SUBCORES; warp++)
            last = max_u64(last, script_issued(&source, 0, warp, STEPS - 1));
        CHECK_EQ(last, FIRST_ISSUE + 2u * (STEPS * cases[c].warps - 1));
        sm_fixture_destroy(sm);
    }
}

TEST("warps belong to sub-cores by their slots") {
    struct step steps[STEPS], none[] = {alu(OP_other, 1, 0)};
    independent(steps, STEPS, OP_f32_div);
    /* Warps 0, 4 and 8 share a pipeline, and so do 1 and 5; 2 and 3 have their own. */
    struct script_source source = script_make(1, 9, SCRIPT(steps));
    for (unsigned warp = 1; warp < 9; warp++)
        script_add(&source, warp == 6 || warp == 7 ? SCRIPT(none) : SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS(VOLTA, "sm.op_f32_div=[4, 8]"));
    sm_fixture_run(sm, &source);
    static const unsigned sharing[] = {3, 2, 1, 1, 3, 2, 0, 0, 3};
    for (unsigned warp = 0; warp < 9; warp++) {
        if (!sharing[warp]) continue;
        uint64_t between = script_issued(&source, 0, warp, 2) - script_issued(&source, 0, warp, 1);
        CHECK_EQ(between, 8u * sharing[warp]);
    }
    sm_fixture_destroy(sm);
}

TEST("tensor pipelines and operand collectors belong to a sub-core") {
    struct step tensor[4];
    for (unsigned i = 0; i < 4; i++) {
        tensor[i] = alu(OP_tensor, (uint8_t)(i + 1), 0);
        tensor[i].instr.space = TENSOR_f16;
        tensor[i].instr.count = 1024; /* 8 cycles at 128 per cycle */
    }
    struct script_source source = script_make(1, SUBCORES, SCRIPT(tensor));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS(VOLTA, "sm.tensor_units=1"));
    sm_fixture_run(sm, &source);
    for (unsigned warp = 0; warp < SUBCORES; warp++)
        for (unsigned i = 0; i < 4; i++) CHECK_EQ(script_issued(&source, 0, warp, i), FIRST_ISSUE + 8u * i);
    sm_fixture_destroy(sm);

    struct step steps[STEPS];
    for (unsigned i = 0; i < STEPS; i++) steps[i] = step_of(OP_f32_fma, (uint8_t)(i + 1), 20, 21);
    source = script_make(1, SUBCORES, SCRIPT(steps));
    sm = sm_fixture_create(SETTINGS(VOLTA, "sm.operand_cycles=2", "sm.operand_read_cycles=2", "sm.sp_collectors=1"));
    sm_fixture_run(sm, &source); /* a collector is busy for 2 + 2 x 2 cycles */
    for (unsigned warp = 0; warp < SUBCORES; warp++)
        for (unsigned i = 0; i < STEPS; i++) CHECK_EQ(script_issued(&source, 0, warp, i), FIRST_ISSUE + 6u * i);
    sm_fixture_destroy(sm);
}

static unsigned fit(const char *const *settings, unsigned warps, unsigned registers) {
    struct config *config = config_with(settings);
    struct kernel kernel = {.name = "k", .grid = {100000, 1, 1}, .block = {32 * warps, 1, 1}, .registers = registers};
    struct error err = {0};
    unsigned ctas = sm_occupancy(config, gpu_sms(config), &kernel, &err);
    CHECK_EQ(err.set, ctas == 0);
    config_destroy(config);
    return ctas;
}

TEST("registers of a sub-core hold whole warps: occupancy is that of their sum") {
    const char *const *whole = SETTINGS("sm.schedulers=4", "sm.register_unit=8");
    const char *const *divided = SETTINGS("sm.schedulers=4", "sm.register_unit=8", "sm.subcores=4");
    static const struct {
        unsigned warps, registers, whole, divided;
    } cases[] = {
        {4, 32, 16, 16}, /* 64 warps in both */
        {5, 40, 10, 9},  /* 65536 / (5 × 1280); 4 × 12 warps of 1280 registers */
        {5, 255, 1, 1},  /* 8192 per warp: two warps in each sub-core */
        {9, 168, 1, 1},  /* 12 warps of 5376 in the SM, 4 × 3 in its sub-cores */
        {4, 100, 4, 4},  /* 19 warps of 3328, or 4 × 4: four CTAs of four warps in both */
        {19, 100, 1, 0}, /* one CTA of 19 warps */
        {17, 72, 1, 1},  /* 28 warps in both */
        {14, 72, 2, 2},  /* the same */
        {1, 64, 32, 32}, /* 32 warps of 2048 in both */
        {6, 88, 3, 3},   /* 23 warps of 2816, 4 × 5 */
        {11, 88, 2, 1},  /* the same */
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        CHECK_EQ(fit(whole, cases[i].warps, cases[i].registers), cases[i].whole);
        CHECK_EQ(fit(divided, cases[i].warps, cases[i].registers), cases[i].divided);
    }
}

/* Every sub-core has a warp that loads from shared memory without a pause. Returns the cycles of the issues. */
static void run_loads(const char *const *settings, struct script_source *source) {
    static struct step steps[64];
    for (unsigned i = 0; i < COUNT_OF(steps); i++) steps[i] = load_shared((uint8_t)(i + 1), 1);
    *source = script_make(1, SUBCORES, SCRIPT(steps));
    static struct script_issue log[SCRIPT_LOG];
    struct sm_fixture *sm = sm_fixture_create(settings);
    sm_fixture_run(sm, source);
    memcpy(log, sm->log, sizeof log);
    source->log = log;
    CHECK_EQ(COUNTER(sm, "sm.shared_accesses"), 64u * SUBCORES);
    sm_fixture_destroy(sm);
}

TEST("the load/store unit serves the sub-cores in turn, one instruction per interval") {
    static const struct {
        const char *interval;
        unsigned cycles;
    } cases[] = {{"sm.lsu_interval=1", 1}, {"sm.lsu_interval=2", 2}, {"sm.lsu_interval=5", 5}};
    for (unsigned c = 0; c < COUNT_OF(cases); c++) {
        struct script_source source;
        run_loads(SETTINGS(VOLTA, "sm.lsu_queue=5", cases[c].interval), &source);
        /* Once its queue is full, a warp issues when its first instruction leaves: every fourth that the unit begins. */
        for (unsigned warp = 0; warp < SUBCORES; warp++) {
            for (unsigned i = 0; i < 5; i++) CHECK_EQ(script_issued(&source, 0, warp, i), FIRST_ISSUE + i);
            for (unsigned i = 12; i < 64; i++) {
                uint64_t between = script_issued(&source, 0, warp, i) - script_issued(&source, 0, warp, i - 1);
                CHECK_EQ(between, SUBCORES * cases[c].cycles);
            }
        }
    }
}

TEST("a sub-core without memory instructions leaves its turn to the others") {
    struct step loads[32], other[] = {alu(OP_other, 1, 0)};
    for (unsigned i = 0; i < COUNT_OF(loads); i++) loads[i] = load_shared((uint8_t)(i + 1), 1);
    struct script_source source = script_make(1, SUBCORES, SCRIPT(loads));
    script_add(&source, SCRIPT(other));
    script_add(&source, SCRIPT(loads));
    script_add(&source, SCRIPT(other));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS(VOLTA, "sm.lsu_queue=4", "sm.lsu_interval=2"));
    sm_fixture_run(sm, &source);
    for (unsigned warp = 0; warp < SUBCORES; warp += 2)
        for (unsigned i = 12; i < COUNT_OF(loads); i++) {
            uint64_t between = script_issued(&source, 0, warp, i) - script_issued(&source, 0, warp, i - 1);
            CHECK_EQ(between, 4u);
        }
    sm_fixture_destroy(sm);
}

TEST("an instruction begins before one of another sub-core that issued earlier and still reads its operands") {
    struct step slow[] = {load_shared(1, 1), alu(OP_other, 2, 1)}, fast[] = {load_shared(1, 1), alu(OP_other, 2, 1)};
    slow[0].instr.src[0] = 10;
    slow[0].instr.src[1] = 11;
    struct script_source source = script_make(1, SUBCORES, SCRIPT(slow)); /* warp 1 issues first, in cycle 1 */
    script_add(&source, SCRIPT(slow));
    script_add(&source, SCRIPT(fast));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS(VOLTA, "sm.operand_read_cycles=8"));
    const struct sm_config *config = sm_config_of(sm);
    uint64_t shared = (uint64_t)(config->operand_cycles + config->shared_latency_cycles + config->writeback_cycles);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 2, 1), FIRST_ISSUE + shared);
    CHECK_EQ(script_issued(&source, 0, 3, 1), FIRST_ISSUE + shared + 1);
    /* The turn after the fast ones is that of sub-core 0. */
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + shared + 16);
    CHECK_EQ(script_issued(&source, 0, 1, 1), FIRST_ISSUE + shared + 17);
    sm_fixture_destroy(sm);
}

TEST("an instruction of several accesses, or bank passes, occupies the unit for longer than the interval") {
    struct step many[] = {load_line(1, 0x1000), load_shared(3, 1), alu(OP_other, 4, 3)};
    many[0].instr.count = 6;
    for (unsigned i = 0; i < 6; i++) many[0].touch[i] = touch_make(0x1000 + i * UINT64_C(256), 0x0F);
    struct script_source source = script_make(1, 1, SCRIPT(many));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS(VOLTA, "sm.lsu_interval=4", "sm.shared_latency_cycles=10"));
    uint64_t shared = (uint64_t)sm_config_of(sm)->operand_cycles + 10 + (uint64_t)sm_config_of(sm)->writeback_cycles;
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 2), FIRST_ISSUE + 6u + shared);
    sm_fixture_destroy(sm);
    struct step passes[] = {load_shared(1, 7), load_shared(2, 2), load_shared(3, 1), alu(OP_other, 4, 3)};
    source = script_make(1, 1, SCRIPT(passes));
    sm = sm_fixture_create(SETTINGS(VOLTA, "sm.lsu_queue=4", "sm.lsu_interval=4", "sm.shared_latency_cycles=10"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 3), FIRST_ISSUE + 7u + 4 + shared);
    sm_fixture_destroy(sm);
}

TEST("the interval of the load/store unit also holds in an SM that is not divided") {
    struct step steps[] = {load_shared(1, 1), load_shared(2, 1), load_shared(3, 1), alu(OP_other, 4, 3)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.lsu_interval=3", "sm.lsu_queue=4"));
    const struct sm_config *config = sm_config_of(sm);
    uint64_t shared = (uint64_t)(config->operand_cycles + config->shared_latency_cycles + config->writeback_cycles);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 3), FIRST_ISSUE + 2u * 3 + shared);
    sm_fixture_destroy(sm);
}

TEST("a reservation failure of one sub-core's access blocks the accesses of all") {
    struct step misses[] = {load_line(1, 0x1000), load_line(2, 0x2000), load_line(3, 0x3000)};
    struct step shared[] = {load_shared(1, 1), load_shared(2, 1), alu(OP_other, 3, 2)};
    struct script_source source = script_make(1, 2, SCRIPT(misses));
    script_add(&source, SCRIPT(shared));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS(VOLTA, "l1.mshrs=1"));
    sm_fixture_run(sm, &source);
    /* The second miss takes its turn after the first shared load and waits for the MSHR. */
    CHECK(script_issued(&source, 0, 1, 2) > FIRST_ISSUE + round_trip(sm));
    CHECK(COUNTER(sm, "sm.reservation_fail.mshr") > 0);
    sm_fixture_destroy(sm);
}

TEST("loads in flight limit all sub-cores together") {
    struct step steps[8];
    for (unsigned i = 0; i < COUNT_OF(steps); i++) steps[i] = load_line((uint8_t)(i + 1), 0x1000 * (i + 1));
    struct script_source source = script_make(1, SUBCORES, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS(VOLTA, "sm.loads_in_flight=3", "sm.lsu_queue=5"));
    sm_fixture_run(sm, &source);
    unsigned early = 0;
    for (unsigned i = 0; i < source.logged; i++)
        early += source.log[i].index < COUNT_OF(steps) && source.log[i].cycle < FIRST_ISSUE + round_trip(sm);
    CHECK_EQ(early, 3u);
    sm_fixture_destroy(sm);
}

TEST("sub-cores that do not divide schedulers or registers are rejected") {
    CHECK_REJECTED(config_with(SETTINGS("sm.schedulers=2", "sm.subcores=4")), "sm.subcores");
    CHECK_REJECTED(config_with(SETTINGS("sm.schedulers=4", "sm.subcores=3")), "sm.subcores");
    CHECK_REJECTED(config_with(SETTINGS("sm.schedulers=4", "sm.subcores=4", "sm.registers=65538")), "sm.registers");
}
