/* Tensor pipelines: how long an instruction occupies one, when its result is available, machines without them. */
#include "test.h"

#include "sim/gpu_config.h"
#include "sm/sm_fixture.h"

/* Operand collection, write-back and the latency of every format by default. */
enum { AROUND = 3 + 2, LATENCY = 4 };

static struct step tensor(enum tensor_format format, unsigned multiply_adds, uint8_t dst, uint8_t src) {
    struct step step = alu(OP_tensor, dst, src);
    step.instr.space = (uint8_t)format;
    step.instr.count = (uint16_t)multiply_adds;
    return step;
}

TEST("a tensor instruction occupies its pipeline for its multiply-adds divided by the rate, rounded up") {
    static const struct {
        enum tensor_format format;
        unsigned multiply_adds, interval;
        const char *setting;
    } cases[] = {
        {TENSOR_f16_f32, 2048, 16, "sm.tensor_f16_f32=[4, 128]"},
        {TENSOR_f16_f32, 1024, 8, "sm.tensor_f16_f32=[4, 128]"},
        {TENSOR_f16, 2048, 8, "sm.tensor_f16=[4, 256]"},
        {TENSOR_s8, 1024, 11, "sm.tensor_s8=[4, 100]"},
        {TENSOR_f64, 256, 1, "sm.tensor_f64=[4, 256]"},
        {TENSOR_b1, 1024, 1, "sm.tensor_b1=[4, 32768]"},
        {TENSOR_tf32, 2048, 256, "sm.tensor_tf32=[4, 8]"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct step steps[] = {tensor(cases[i].format, cases[i].multiply_adds, 1, 0),
                               tensor(cases[i].format, cases[i].multiply_adds, 2, 0),
                               tensor(cases[i].format, cases[i].multiply_adds, 3, 0)};
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.tensor_units=1", cases[i].setting));
        sm_fixture_run(sm, &source);
        CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + cases[i].interval);
        CHECK_EQ(script_issued(&source, 0, 0, 2), FIRST_ISSUE + 2 * cases[i].interval);
        sm_fixture_destroy(sm);
    }
}

TEST("the result of a tensor instruction is available latency cycles after its interval") {
    struct step steps[] = {tensor(TENSOR_f16_f32, 2048, 1, 0), alu(OP_other, 2, 1)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + AROUND + 16u + LATENCY);
    sm_fixture_destroy(sm);
    source = script_make(1, 1, SCRIPT(steps));
    sm = sm_fixture_create(SETTINGS("sm.tensor_f16_f32=[100, 16]", "sm.operand_cycles=1", "sm.operand_read_cycles=2"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + 1u + 128 + 100 + 2);
    sm_fixture_destroy(sm);
}

TEST("the registers of a fragment are available together") {
    struct step steps[] = {tensor(TENSOR_f16_f32, 1024, 1, 0), alu(OP_other, 9, 4)};
    for (uint8_t i = 1; i < INSTR_DSTS; i++) steps[0].instr.dst[i] = (uint8_t)(i + 1);
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
    sm_fixture_run(sm, &source);
    CHECK_EQ(script_issued(&source, 0, 0, 1), FIRST_ISSUE + AROUND + 8u + LATENCY);
    sm_fixture_destroy(sm);
}

TEST("warps share the tensor pipelines, and other operations do not wait for them") {
    struct step steps[] = {tensor(TENSOR_f16_f32, 2048, 1, 0), alu(OP_int_add, 2, 0)};
    static const struct {
        const char *units;
        uint64_t last; /* issue of the fourth warp's tensor instruction */
    } cases[] = {{"sm.tensor_units=4", 0}, {"sm.tensor_units=2", 16}, {"sm.tensor_units=1", 48}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct script_source source = script_make(1, 4, SCRIPT(steps));
        struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.schedulers=4", "sm.sp_units=4", cases[i].units));
        sm_fixture_run(sm, &source);
        uint64_t first = UINT64_MAX, last = 0;
        for (unsigned warp = 0; warp < 4; warp++) {
            uint64_t at = script_issued(&source, 0, warp, 0);
            first = min_u64(first, at);
            last = max_u64(last, at);
            CHECK_EQ(script_issued(&source, 0, warp, 1), at + 1);
        }
        CHECK_EQ(first, FIRST_ISSUE);
        CHECK_EQ(last, FIRST_ISSUE + cases[i].last);
        sm_fixture_destroy(sm);
    }
}

TEST("cycles in which warps wait for a tensor pipeline or result are attributed to them") {
    struct step steps[] = {tensor(TENSOR_f16_f32, 2048, 1, 0), tensor(TENSOR_f16_f32, 2048, 2, 0), alu(OP_other, 3, 2)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.tensor_units=1"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.stall.pipeline"), 15u);
    CHECK_EQ(COUNTER(sm, "sm.stall.alu"), AROUND + 16u + LATENCY - 1);
    CHECK_EQ(COUNTER(sm, "sm.op.tensor"), 2u);
    CHECK_EQ(COUNTER(sm, "sm.tensor_multiply_adds"), 4096u);
    sm_fixture_destroy(sm);
}

TEST("a program with tensor instructions is rejected by a machine without tensor pipelines") {
    struct kernel kernel = {.name = "gemm", .grid = {4, 1, 1}, .block = {128, 1, 1}, .registers = 16, .tensor = true};
    struct config *config = config_with(SETTINGS("sm.tensor_units=0"));
    struct error err = {0};
    CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), 0u);
    CHECK_TEXT(err.text, "kernel 'gemm'");
    CHECK_TEXT(err.text, "set sm.tensor_units");
    kernel.tensor = false;
    CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), 1u);
    config_destroy(config);
}

TEST("latencies and rates of tensor instructions that exceed the SM's horizon are rejected") {
    static const struct {
        const char *setting, *message;
    } wrong[] = {
        {"sm.tensor_f16=[101, 128]", "at most 100 cycles"},
        {"sm.tensor_f16=[4, 15]", "at least 16 multiply-adds per cycle"},
        {"sm.tensor_b1=[4, 127]", "at least 128 multiply-adds per cycle"},
        {"sm.tensor_f64=[0, 16]", "out of range"},
        {"sm.tensor_f64=[1]", "sm.tensor_f64"},
        {"sm.op_tensor=[1, 1]", "unknown key 'op_tensor'"},
    };
    for (unsigned i = 0; i < COUNT_OF(wrong); i++) {
        struct error err = {0};
        CHECK(!config_checked(NO_SETTINGS, SETTINGS(wrong[i].setting), &err));
        CHECK_TEXT(err.text, wrong[i].message);
    }
}
