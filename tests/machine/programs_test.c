/* Two programs at once: what each of them has for itself, and what it has not. */
#include "machine/runs.h"

#include "sm/script.h"

static struct stream_source *generate(const char *workload, const char *const *settings) {
    struct config *config = run_config("adaptive-80sm", settings);
    struct error err = {0};
    struct stream_source *source = workload_open(config, workload, &err);
    CHECK_EQ((const char *)err.text, "");
    REQUIRE(source);
    config_destroy(config);
    return source;
}

/* Two generated streams, of one set of workload.* settings. */
static struct run *run_two(const char *gpu, const char *first, const char *second, const char *const *settings) {
    return run_of_two(gpu, generate(first, settings), generate(second, settings), settings);
}

static void run_two_destroy(struct run *run) {
    run->source->ops->destroy(run->source);
    run->second->ops->destroy(run->second);
    run_destroy(run);
}

TEST("each of two programs runs on its half of the SMs of every cluster, and on no other") {
    struct run *run = run_two("adaptive-80sm", "synth:alu", "synth:stream",
                              SETTINGS("workload.iterations=3", "workload.ctas=160", "gpu.launch_cycles=0"));
    run_go(run, (struct run_options){0});
    uint64_t ctas[2] = {0}, loads[2] = {0};
    for (unsigned sm = 0; sm < 80; sm++) {
        ctas[sm % 10 >= 5] += run_count_of(run, "sm.ctas", sm) > 0;
        loads[sm % 10 >= 5] += run_count_of(run, "sm.op.load", sm);
    }
    CHECK_EQ(ctas[0], 40u);
    CHECK_EQ(ctas[1], 40u);
    CHECK_EQ(loads[0], 0u);
    CHECK(loads[1] > 0);
    run_two_destroy(run);
}

TEST("the first program's share of a cluster's SMs is a parameter; of one-SM clusters it gets every other one") {
    struct run *run = run_two("adaptive-80sm", "synth:alu", "synth:stream",
                              SETTINGS("workload.iterations=3", "workload.ctas=320", "gpu.first_program_sms=7"));
    run_go(run, (struct run_options){0});
    for (unsigned sm = 0; sm < 80; sm++) CHECK_EQ(run_count_of(run, "sm.op.load", sm) > 0, sm % 10 >= 7);
    run_two_destroy(run);
    run = run_two("fermi-15sm", "synth:alu", "synth:stream", SETTINGS("workload.iterations=3", "workload.ctas=320"));
    run_go(run, (struct run_options){0});
    for (unsigned sm = 0; sm < 15; sm++) CHECK_EQ(run_count_of(run, "sm.op.load", sm) > 0, sm % 2 == 1);
    run_two_destroy(run);
}

TEST_LONG_SANITIZED("next to a program without memory accesses, another takes as long as alone on half of the SMs") {
    static const char *const workloads[] = {"synth:shared", "synth:copy"};
    for (unsigned i = 0; i < 2; i++) {
        struct run *alone =
            run_make("adaptive-80sm", workloads[i],
                     SETTINGS("sm.count=40", "sm.instruction_kb=0", "workload.ctas=80", "workload.iterations=10"));
        struct run *both = run_two("adaptive-80sm", workloads[i], "synth:alu",
                                   SETTINGS("sm.instruction_kb=0", "workload.ctas=80", "workload.iterations=10"));
        run_go(alone, (struct run_options){0});
        run_go(both, (struct run_options){0});
        CHECK_EQ(run_count_of(both, "program.cycles", 0), alone->result.cycles);
        CHECK_EQ(run_count_of(both, "program.thread_instructions", 0), alone->result.thread_instructions);
        run_destroy(alone);
        run_two_destroy(both);
    }
}

TEST("the program that ends first restarts until the other has ended, and its result is that of its first run") {
    struct run *run =
        run_of_two("adaptive-80sm", generate("synth:alu", SETTINGS("workload.iterations=2", "workload.ctas=40")),
                   generate("synth:shared", SETTINGS("workload.iterations=10")), NO_SETTINGS);
    run_go(run, (struct run_options){0});
    CHECK(run_count_of(run, "program.ends", 0) > 1);
    CHECK_EQ(run_count_of(run, "program.ends", 1), 1u);
    CHECK(run_count_of(run, "program.cycles", 0) < run->result.cycles);
    CHECK_EQ(run_count_of(run, "program.cycles", 1), run->result.cycles);
    CHECK(run_count_of(run, "program.thread_instructions", 0) * run_count_of(run, "program.ends", 0) <=
          run->result.thread_instructions - run_count_of(run, "program.thread_instructions", 1));
    CHECK_EQ(run->result.kernel_count, 2u); /* the first time's, of each */
    CHECK_EQ(run->result.kernels[0].program, 0u);
    CHECK_EQ(run->result.kernels[1].program, 1u);
    CHECK_EQ(run->result.kernels[1].cycles, run->result.cycles);
    run_two_destroy(run);
}

static void note_end(void *user, unsigned program, uint64_t cycle) {
    uint64_t *last = user;
    CHECK(program < 2 && cycle > 0);
    if (last[program] == 0) last[program] = cycle;
}

TEST("reports the cycle in which a kernel has ended") {
    struct run *run =
        run_of_two("adaptive-80sm", generate("synth:alu", SETTINGS("workload.iterations=2", "workload.ctas=40")),
                   generate("synth:shared", SETTINGS("workload.iterations=10")), NO_SETTINGS);
    uint64_t first_end[2] = {0};
    run_go(run, (struct run_options){.kernel_ended = note_end, .user = first_end});
    for (unsigned i = 0; i < 2; i++) CHECK_EQ(first_end[i], run->result.kernels[i].cycles);
    run_two_destroy(run);
}

TEST("the instruction limit holds for each program, and the run ends when the last has reached it") {
    struct run *run =
        run_two("adaptive-80sm", "synth:alu", "synth:shared", SETTINGS("workload.iterations=200", "workload.ctas=80"));
    run_go(run, (struct run_options){.max_instructions = 300000});
    for (unsigned i = 0; i < 2; i++) {
        CHECK(run_count_of(run, "program.thread_instructions", i) >= 300000);
        CHECK_EQ(run_count_of(run, "program.cycles", i) % RUN_QUANTUM, 0u);
        CHECK_EQ(run_count_of(run, "program.kernels", i), 1u);
    }
    CHECK(run_count_of(run, "program.cycles", 0) < run_count_of(run, "program.cycles", 1));
    CHECK_EQ(run_count_of(run, "program.cycles", 1), run->result.cycles);
    run_two_destroy(run);
}

TEST("an address in two programs is two lines, in different DRAM rows") {
    struct step step = load_line(1, 0x10000000);
    struct script_source first = script_make(1, 1, (struct script){&step, 1}), second = first;
    struct run *run = run_of_two("adaptive-80sm", &first.source, &second.source, SETTINGS("sm.instruction_kb=0"));
    run_go(run, (struct run_options){0});
    CHECK_EQ(run_count(run, "llc.read_misses"), 2u);
    CHECK_EQ(run_count(run, "llc.read_hits") + run_count(run, "llc.read_pending_hits"), 0u);
    CHECK_EQ(run_count(run, "dram.row_hits"), 0u);
    run_destroy(run);
}

#define SMALL "llc.organisation=adaptive", "llc.adaptive.profile_cycles=2000", "llc.adaptive.epoch_cycles=8000"

/* The last decision about the program before `cycle`; "" if there is none. */
static const char *decided(const struct run *run, unsigned program, uint64_t cycle) {
    const struct journal *journal = machine_journal(run->machine);
    const char *decision = "";
    for (unsigned i = 0; i < journal->count; i++)
        if (journal->entries[i].program == program && journal->entries[i].cycle < cycle)
            decision = journal->entries[i].decision;
    return decision;
}

TEST_LONG_SANITIZED(
    "an adaptive LLC is private for one program and shared for the other at the same time, and then gates nothing") {
    struct run *run =
        run_of_two("adaptive-80sm", generate("synth:stream", SETTINGS("workload.iterations=40")),
                   generate("synth:uniform", SETTINGS("workload.iterations=60", "workload.footprint_kb=1024")),
                   SETTINGS(SMALL, "llc.adaptive.all_routers=true", "sm.instruction_kb=0"));
    run_go(run, (struct run_options){0});
    CHECK_EQ(decided(run, 0, 4000), "private");
    CHECK_EQ(decided(run, 1, 4000), "shared");
    CHECK(run_count_of(run, "adaptive.private_cycles", 0) > run->result.cycles / 3);
    CHECK_EQ(run_count_of(run, "adaptive.private_cycles", 1), 0u);
    CHECK_EQ(run_count(run, "noc.request.mc_router.gated_cycles"), 0u);
    CHECK_EQ(run_count(run, "control.power_cycles"), 0u);
    CHECK(run_count(run, "control.reconfigurations") >= 2);
    run_two_destroy(run);
}

TEST_LONG_SANITIZED("MC-routers are gated while both programs are private") {
    struct run *run =
        run_two("adaptive-80sm", "synth:stream", "synth:stream", SETTINGS(SMALL, "workload.iterations=40"));
    run_go(run, (struct run_options){0});
    CHECK(run_count_of(run, "adaptive.private_cycles", 0) > 0);
    CHECK(run_count_of(run, "adaptive.private_cycles", 1) > 0);
    uint64_t gated = run_count_of(run, "noc.request.mc_router.gated_cycles", 0);
    CHECK(gated > run->result.cycles / 4);
    CHECK(gated <= run_count_of(run, "adaptive.private_cycles", 0));
    CHECK(gated <= run_count_of(run, "adaptive.private_cycles", 1));
    run_two_destroy(run);
}

TEST_LONG_SANITIZED("a reconfiguration for one program does not stop the other's SMs, unless MC-routers are gated") {
    static const char *const gating[] = {"llc.adaptive.power_gating=false", "llc.adaptive.power_gating=true"};
    for (unsigned i = 0; i < 2; i++) {
        struct run *run = run_two("adaptive-80sm", "synth:stream", "synth:alu",
                                  SETTINGS(SMALL, "workload.iterations=40", gating[i], "sm.instruction_kb=0"));
        run_go(run, (struct run_options){0});
        uint64_t stood = 0;
        for (unsigned sm = 0; sm < 80; sm++)
            if (sm % 10 >= 5) stood += run_count_of(run, "sm.stall.reconfiguration", sm);
        CHECK(run_count(run, "control.reconfigurations") > 0);
        CHECK_EQ(stood, 0u); /* the second is never private: it reads nothing */
        run_two_destroy(run);
    }
}

TEST("the end of a kernel of one program keeps the other's lines in a private LLC") {
    /* The first has many short kernels; the second reads one line again and again, past its L1, in one long kernel. */
    struct step near = load_line(1, 0x10000000), again[30];
    near.instr.cache = CACHE_GLOBAL;
    for (unsigned i = 0; i < 30; i++) again[i] = i % 2 ? step_of(OP_f64_div, 1, 1, 1) : near;
    struct script_source first = script_make(1, 1, (struct script){&near, 1}),
                         second = script_make(1, 1, (struct script){again, 30});
    first.kernels = 6;
    struct run *run = run_of_two("adaptive-80sm", &first.source, &second.source,
                                 SETTINGS("sm.instruction_kb=0", "llc.organisation=private"));
    run_go(run, (struct run_options){0});
    CHECK(run_count_of(run, "program.ends", 0) >= 1);
    uint64_t flushed = run_count(run, "llc.flushes") / 64;
    CHECK(flushed >= 6);
    /* One line is missed after each flush of its own, and only then. */
    CHECK(run_count(run, "llc.read_misses") <= flushed + 2);
    CHECK_EQ(run_count(run, "llc.read_hits"), 14u);
    run_destroy(run);
}

static void check_refused(const char *const *settings, const char *where) {
    struct config *config = run_config(NULL, settings);
    struct error err = {0};
    CHECK(!machine_create_for(2, config, &err));
    CHECK_TEXT(err.text, where);
    config_destroy(config);
}

TEST("a machine that two programs cannot share is rejected with the parameter at fault") {
    check_refused(SETTINGS("sm.count=1", "gpu.clusters=1"), "sm.count");
    check_refused(SETTINGS("sm.count=8", "gpu.clusters=4", "llc.slices_per_mc=4", "gpu.first_program_sms=2"),
                  "gpu.first_program_sms");
    check_refused(SETTINGS("l1.insertion=decoupled", "l1.decoupled.dueling=true"), "l1.insertion");
    check_refused(SETTINGS("l1.insertion=profiled"), "l1.insertion");
}
