/* The bundled workloads on the bundled GPUs. */
#include "machine/runs.h"

#include "sim/gpu_config.h"
#include "sm/sm_config.h"

static void workload_name(unsigned i, char *name, size_t size) {
    struct workload_info info;
    workload_info_at(i, &info);
    snprintf(name, size, "%s", info.name);
}

/* Short, but more CTAs than clusters and more lines than an L1 set holds. */
#define SHORT SETTINGS("workload.ctas=40", "workload.warps=3", "workload.iterations=5", "workload.kernels=2")

TEST("all generated workloads run on all GPUs, pass all checks and issue every instruction") {
    for (unsigned g = 0; g < RUN_GPUS; g++)
        for (unsigned w = 0; w < workload_count(); w++) {
            char name[32];
            workload_name(w, name, sizeof name);
            struct run *run = run_make(run_gpus[g], name, SHORT);
            run_go(run, (struct run_options){0});
            CHECK_EQ(run->result.warp_instructions, workload_warp_instructions(run->source));
            CHECK_EQ(run->result.thread_instructions, run_count(run, "sm.thread_instructions"));
            CHECK_EQ(run->result.kernel_count, 2u);
            CHECK_EQ(run->result.kernels[0].cycles + run->result.kernels[1].cycles, run->result.cycles);
            CHECK_EQ(run->result.kernels[0].warp_instructions, run->result.warp_instructions / 2);
            CHECK_EQ(run_count(run, "sm.ctas"), 80u);
            CHECK_EQ(run_count(run, "l1.requests"), run_count(run, "l1.replies"));
            run_destroy(run);
        }
}

/* Warp instructions per cycle and SM between two lengths, so that neither start nor end counts. */
static double steady_width(const char *gpu, const char *const *settings_short, const char *const *settings_long) {
    struct run *brief = run_make(gpu, "synth:alu", settings_short),
               *lengthy = run_make(gpu, "synth:alu", settings_long);
    const struct sm_config *sm = config_get(brief->config, &sm_section);
    run_go(brief, (struct run_options){0});
    run_go(lengthy, (struct run_options){0});
    double width = (double)(lengthy->result.warp_instructions - brief->result.warp_instructions) / (double)sm->count /
                   (double)(lengthy->result.cycles - brief->result.cycles);
    run_destroy(brief);
    run_destroy(lengthy);
    return width;
}

TEST("synth:alu reaches the issue width of every GPU") {
    for (unsigned g = 0; g < RUN_GPUS; g++) {
        struct config *config = run_config(run_gpus[g], NO_SETTINGS);
        const struct sm_config *sm = config_get(config, &sm_section);
        char ctas[40];
        snprintf(ctas, sizeof ctas, "workload.ctas=%lld", (long long)sm->count);
        /* Fetching the first instructions is hidden better in a longer run; without it, not even a little more than the
         * width can seem to be reached. */
        double fetched = steady_width(run_gpus[g], SETTINGS(ctas, "workload.iterations=4"),
                                      SETTINGS(ctas, "workload.iterations=16"));
        double width = steady_width(run_gpus[g], SETTINGS(ctas, "sm.instruction_kb=0", "workload.iterations=4"),
                                    SETTINGS(ctas, "sm.instruction_kb=0", "workload.iterations=16"));
        CHECK_EQ(sm->schedulers, 2);
        CHECK(fetched > 0.95 * (double)sm->schedulers);
        CHECK(width > 0.95 * (double)sm->schedulers);
        CHECK(width <= (double)sm->schedulers);
        config_destroy(config);
    }
}

TEST("one dependent chain in one warp is limited by its latency, and many chains by a single pipeline") {
    struct config *config = run_config("fermi-15sm", NO_SETTINGS);
    const struct sm_config *sm = config_get(config, &sm_section);
    int64_t between = sm->operand_cycles + sm->writeback_cycles;
    double chain = (double)(3 * (between + sm->op[OP_f32_fma].value[0]) + between + sm->op[OP_int_add].value[0]) /
                   4; /* per instruction */
    double width = steady_width(
        "fermi-15sm", SETTINGS("workload.ctas=15", "workload.warps=1", "workload.chains=1", "workload.iterations=4"),
        SETTINGS("workload.ctas=15", "workload.warps=1", "workload.chains=1", "workload.iterations=16"));
    CHECK_NEAR(width, 1 / chain, 0.001);
    width = steady_width("fermi-15sm", SETTINGS("workload.ctas=15", "sm.sp_units=1", "workload.iterations=4"),
                         SETTINGS("workload.ctas=15", "sm.sp_units=1", "workload.iterations=16"));
    CHECK_NEAR(width, 1.0, 0.01);
    config_destroy(config);
}

TEST("synth:stream reads every line once, and DRAM transfers exactly these bytes") {
    struct run *run =
        run_make("adaptive-80sm", "synth:stream",
                 SETTINGS("workload.ctas=80", "workload.warps=4", "workload.iterations=5", "workload.loads=4"));
    run_go(run, (struct run_options){0});
    uint64_t lines = UINT64_C(80) * 4 * 5 * 4;
    CHECK_EQ(run_count(run, "l1.read_misses"), lines);
    CHECK_EQ(run_count(run, "l1.read_hits"), 0u);
    CHECK_EQ(run_count(run, "dram.reads"), run_count(run, "llc.read_misses"));
    CHECK(run_count(run, "llc.read_misses") - lines < 100); /* besides them, instructions */
    CHECK_EQ(run_count(run, "dram.read_bytes"), 128 * run_count(run, "dram.reads"));
    run_destroy(run);
}

TEST("synth:hotline bypasses the L1s and fetches its few lines once") {
    struct run *run =
        run_make("selrep-64sm", "synth:hotline",
                 SETTINGS("workload.ctas=64", "workload.warps=8", "workload.iterations=4", "workload.loads=4"));
    run_go(run, (struct run_options){0});
    CHECK_EQ(run_count(run, "l1.read_misses"), 0u);
    CHECK(run_count(run, "l1.read_bypasses") >= UINT64_C(64) * 8 * 4 * 4);
    CHECK(run_count(run, "dram.reads") < 20);
    run_destroy(run);
}
