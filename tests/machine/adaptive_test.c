/* The adaptive LLC in whole machines: its decisions, the cost of a reconfiguration, and that no line is lost. */
#include <math.h>

#include "machine/runs.h"
#include "sm/script.h"

#define SMALL "llc.organisation=adaptive", "llc.adaptive.profile_cycles=2000", "llc.adaptive.epoch_cycles=8000"

TEST_LONG_SANITIZED(
    "a kernel that shares nothing runs in private mode after profiling, and every epoch starts in shared mode") {
    struct run *run = run_make("adaptive-80sm", "synth:stream", SETTINGS(SMALL, "workload.iterations=40"));
    run_go(run, (struct run_options){0});
    const struct journal *journal = machine_journal(run->machine);
    REQUIRE(journal->count >= 4);
    CHECK_EQ(journal->entries[0].decision, "private");
    CHECK_TEXT(journal->entries[0].reason, "rule 1");
    CHECK_EQ(journal->entries[0].cycle, 1u + 2000 + 16);
    CHECK_EQ(journal->entries[1].decision, "shared");
    CHECK_TEXT(journal->entries[1].reason, "epoch");
    CHECK_EQ(journal->entries[1].cycle, 8000u);
    CHECK_EQ(run_count(run, "adaptive.rule_1"), run_count(run, "adaptive.rule_3"));
    CHECK_EQ(run_count(run, "adaptive.shared_cycles") + run_count(run, "adaptive.private_cycles"), run->result.cycles);
    run_destroy(run);
}

/* Two kernels that share nothing, each of a good two thousand cycles more than a profile. */
static struct run *two_kernels(const char *outlasts) {
    struct run *run = run_make("adaptive-80sm", "synth:stream",
                               SETTINGS("llc.organisation=adaptive", "llc.adaptive.profile_cycles=2000",
                                        "workload.iterations=20", "workload.kernels=2", outlasts));
    run_go(run, (struct run_options){0});
    return run;
}

TEST_LONG_SANITIZED(
    "a kernel starts in shared mode, or in the last mode if that is kept: no profiling, no reconfiguration") {
    struct run *each = two_kernels("llc.adaptive.outlasts_kernels=false");
    struct run *on = two_kernels("llc.adaptive.outlasts_kernels=true");
    CHECK_EQ(run_count(each, "adaptive.decisions"), 2u);
    CHECK_EQ(run_count(each, "adaptive.rule_3"), 2u);
    CHECK_EQ(run_count(each, "control.reconfigurations"), 2u);
    CHECK_EQ(run_count(on, "adaptive.decisions"), 1u);
    CHECK_EQ(run_count(on, "adaptive.rule_3"), 0u);
    CHECK_EQ(run_count(on, "control.reconfigurations"), 1u);
    CHECK_EQ(run_count(on, "adaptive.profile_cycles"), 2000u);
    /* The slices are flushed at both kernels' ends all the same. */
    CHECK_EQ(run_count(on, "llc.flushes"), run_count(each, "llc.flushes") - 64);
    run_destroy(each);
    run_destroy(on);
}

TEST_LONG_SANITIZED("lines that all clusters read at once select private mode by rule 2") {
    struct run *run =
        run_make("adaptive-80sm", "synth:shared",
                 SETTINGS(SMALL, "llc.adaptive.profile_cycles=7000", "workload.iterations=30",
                          "workload.footprint_kb=512", "workload.cache_global=true", "llc.adaptive.window_cycles=10"));
    run_go(run, (struct run_options){0});
    CHECK(run_count(run, "adaptive.decisions") > 0);
    CHECK(run_count(run, "adaptive.rule_2") > 0);
    run_destroy(run);
}

/* Of the first decision. */
static double journal_input(const struct run *run, const char *name) {
    const struct journal *journal = machine_journal(run->machine);
    REQUIRE(journal->count > 0);
    for (unsigned i = 0; i < journal->entries[0].count; i++)
        if (!strcmp(journal->entries[0].input[i].name, name)) return journal->entries[0].input[i].value;
    CHECK_EQ(name, "an input of the decision");
    return 0;
}

TEST_LONG_SANITIZED(
    "a uniform stream seems more parallel in private mode at one SM-router, and equally parallel at all of them") {
    static const char *const where[] = {"llc.adaptive.all_routers=false", "llc.adaptive.all_routers=true"};
    double ratio[2];
    for (unsigned i = 0; i < 2; i++) {
        struct run *run = run_make("adaptive-80sm", "synth:uniform",
                                   SETTINGS(SMALL, "llc.adaptive.window_cycles=100", "sm.instruction_kb=0", where[i]));
        run_go(run, (struct run_options){0});
        ratio[i] = journal_input(run, "private_lsp") / journal_input(run, "shared_lsp");
        run_destroy(run);
    }
    CHECK(ratio[0] > 1.5);
    CHECK(ratio[1] > 0.9 && ratio[1] < 1.1);
}

TEST("a reconfiguration costs the sum of its parts: stop, flush, power off") {
    struct run *run = run_make("adaptive-80sm", "synth:stream", SETTINGS(SMALL, "workload.iterations=20"));
    run_go(run, (struct run_options){0});
    uint64_t switches = run_count(run, "control.reconfigurations");
    CHECK(switches >= 2);
    CHECK_EQ(run_count(run, "control.power_cycles"), switches * 30); /* noc.gating_cycles */
    CHECK(run_count(run, "control.stop_cycles") > switches * 100);   /* a load in flight takes longer than that */
    /* An SM is stopped from the command to stop until the command to go on, a cycle each. */
    uint64_t stopped = run_count(run, "control.stop_cycles") + run_count(run, "control.flush_cycles") +
                       run_count(run, "control.power_cycles");
    CHECK_EQ(run_count(run, "sm.stall.reconfiguration") + run_count(run, "sm.stall.idle") >= stopped * 79, true);
    CHECK(run_count(run, "sm.stall.reconfiguration") <= stopped * 80);
    run_destroy(run);
}

TEST("with routes changed instead of MC-routers powered off, nothing is gated") {
    struct run *run = run_make("adaptive-80sm", "synth:stream",
                               SETTINGS(SMALL, "workload.iterations=20", "llc.adaptive.power_gating=false"));
    run_go(run, (struct run_options){0});
    CHECK(run_count(run, "adaptive.private_cycles") > 0);
    CHECK_EQ(run_count(run, "control.power_cycles"), 0u);
    CHECK_EQ(run_count(run, "noc.request.mc_router.gated_cycles"), 0u);
    CHECK_EQ(run_count(run, "noc.request.mc_router.bypassed_flits"), 0u);
    CHECK_EQ(run_count(run, "noc.reply.mc_router.crossbar_traversals"), run_count(run, "noc.reply.flits_injected"));
    run_destroy(run);
}

TEST_LONG_SANITIZED("profiling alone costs nothing: a run that does not act on it equals that of a shared LLC") {
    struct run *shared = run_make("adaptive-80sm", "synth:uniform", SETTINGS("workload.iterations=60")),
               *profiled = run_make(
                   "adaptive-80sm", "synth:uniform",
                   SETTINGS(SMALL, "workload.iterations=60", "llc.adaptive.acts=false", "llc.adaptive.similar=1"));
    run_go(shared, (struct run_options){0});
    run_go(profiled, (struct run_options){0});
    CHECK(run_count(profiled, "adaptive.rule_1") > 0);
    CHECK_EQ(run_count(profiled, "adaptive.private_cycles"), 0u);
    CHECK_EQ(profiled->result.cycles, shared->result.cycles);
    run_destroy(shared);
    run_destroy(profiled);
}

TEST_LONG_SANITIZED(
    "the directory predicts the misses of a private LLC that fits: each cluster's first access to a line") {
    /* 384 KB fit in the slices of one cluster. All sets are shadowed, throughout. */
    static const char *const organisation[] = {"llc.organisation=private", "llc.organisation=adaptive"};
    double misses[2];
    for (unsigned i = 0; i < 2; i++) {
        struct run *run =
            run_make("adaptive-80sm", "synth:uniform",
                     SETTINGS(organisation[i], "workload.footprint_kb=384", "workload.iterations=24",
                              "llc.adaptive.acts=false", "llc.adaptive.sets=48", "llc.adaptive.profile_cycles=900000"));
        run_go(run, (struct run_options){0});
        double reads = (double)run_count(run, i ? "adaptive.directory_reads" : "llc.data_replies");
        misses[i] = i ? 1 - (double)run_count(run, "adaptive.directory_hits") / reads
                      : (double)run_count(run, "llc.read_misses") / reads;
        run_destroy(run);
    }
    CHECK(misses[0] > 0.05);
    CHECK(fabs(misses[1] - misses[0]) < 0.02);
}

TEST("lines modified before a reconfiguration are in memory after it") {
    /* Every line that the kernel writes is in memory at the end of the run, written once: by the reconfiguration or through. */
    struct run *run = run_make("adaptive-80sm", "synth:copy", SETTINGS(SMALL, "workload.iterations=24"));
    run_go(run, (struct run_options){0});
    CHECK(run_count(run, "adaptive.private_cycles") > 0);
    CHECK(run_count(run, "llc.write_backs") > 0 && run_count(run, "llc.writes_through") > 0);
    uint64_t written = run_count(run, "llc.write_hits") + run_count(run, "llc.write_misses");
    CHECK_EQ(run_count(run, "llc.write_backs") + run_count(run, "llc.writes_through"), written);
    run_destroy(run);
}

TEST("tick order and polling do not change the counters of an adaptive LLC") {
    for (unsigned way = 0; way < 3; way++) {
        static uint64_t cycles, hits, stopped;
        struct run *run = run_make("adaptive-80sm", "synth:copy", SETTINGS(SMALL, "workload.iterations=6"));
        run_go(run, (struct run_options){.no_skip = way == 2, .shuffle = way == 1 ? 7 : 0});
        if (way == 0)
            cycles = run->result.cycles, hits = run_count(run, "llc.read_hits"),
            stopped = run_count(run, "control.stop_cycles");
        CHECK_EQ(run->result.cycles, cycles);
        CHECK_EQ(run_count(run, "llc.read_hits"), hits);
        CHECK_EQ(run_count(run, "control.stop_cycles"), stopped);
        run_destroy(run);
    }
}

#define LATE \
    SMALL, "llc.adaptive.epoch_cycles=100000", "llc.adaptive.sets=48", "llc.adaptive.similar=1", "sm.instruction_kb=0"

/* Loads that bypass the L1: of lines of all slices at once, then of others one by one until long after profiling. */
static void late_loads(struct step *steps, unsigned at_once, unsigned loads) {
    for (unsigned i = 0; i < loads; i++) {
        steps[i] = load_line((uint8_t)(i < at_once ? 2 + i : 1), 0x10000000 + i * 128);
        steps[i].instr.cache = CACHE_GLOBAL;
        steps[i].instr.src[0] = i < at_once ? 0 : 1;
    }
}

/* Two kernels that end with atomics on one word. */
static struct run *run_late_atomics(const char *atomics, const char *gating) {
    enum { AT_ONCE = 128, LOADS = AT_ONCE + 40, ATOMICS = 4 };
    static struct step steps[LOADS + ATOMICS];
    static struct script_source source;
    late_loads(steps, AT_ONCE, LOADS);
    for (unsigned i = LOADS; i < LOADS + ATOMICS; i++)
        steps[i] = memory_step(OP_atomic, SPACE_GLOBAL, 1, 0x20000000, 1);
    source = script_make(80, 1, SCRIPT(steps));
    source.kernels = 2;
    struct run *run = run_of("adaptive-80sm", &source.source, SETTINGS(LATE, atomics, gating));
    run_go(run, (struct run_options){0});
    return run;
}

TEST("a program with atomics stays shared, even if profiling saw none, unless there is an LLC for atomics") {
    struct run *stays = run_late_atomics("llc.adaptive.atomics=false", "llc.adaptive.power_gating=true");
    const struct journal *journal = machine_journal(stays->machine);
    REQUIRE(journal->count > 0);
    CHECK_EQ(journal->entries[0].decision, "shared");
    CHECK_TEXT(journal->entries[0].reason, "atomics");
    CHECK_EQ(run_count(stays, "adaptive.private_cycles"), 0u);
    CHECK_EQ(run_count(stays, "llc.atomics_forwarded"), 0u);
    CHECK_EQ(run_count(stays, "llc.atomic_hits") + run_count(stays, "llc.atomic_misses"), 2u * 80 * 4);
    run_destroy(stays);
    static const char *const gating[] = {"llc.adaptive.power_gating=true", "llc.adaptive.power_gating=false"};
    for (unsigned i = 0; i < 2; i++) {
        struct run *goes = run_late_atomics("llc.adaptive.atomics=true", gating[i]);
        CHECK_EQ(run_count(goes, "adaptive.rule_1"), 2u);
        CHECK_EQ(run_count(goes, "llc.atomics_forwarded"), 2u * 80 * 4);
        CHECK_EQ(run_count(goes, "atomics.atomic_misses"), 2u); /* of each kernel: it is flushed between them */
        CHECK_EQ(run_count(goes, "atomics.write_backs"), 2u);
        run_destroy(goes);
    }
}

/* The second kernel begins with an atomic, and the first has none. */
static bool next_with_atomic(struct stream_source *base, struct kernel *kernel) {
    struct script_source *source = (struct script_source *)base;
    static struct step step;
    step = memory_step(OP_atomic, SPACE_GLOBAL, 1, 0x20000000, 1);
    if (source->launched == 1) source->script[0] = (struct script){&step, 1};
    return script_next_kernel(base, kernel);
}

TEST("a private mode kept across kernels ends before the first atomic of a kernel is sent") {
    enum { AT_ONCE = 128, LOADS = AT_ONCE + 20 };
    static struct step steps[LOADS];
    static struct script_source source;
    late_loads(steps, AT_ONCE, LOADS);
    source = script_make(80, 1, SCRIPT(steps));
    source.kernels = 2;
    struct stream_ops ops = script_ops;
    ops.next_kernel = next_with_atomic;
    source.source.ops = &ops;
    struct run *run = run_of("adaptive-80sm", &source.source,
                             SETTINGS(LATE, "llc.adaptive.atomics=false", "llc.adaptive.outlasts_kernels=true"));
    run_go(run, (struct run_options){0});
    const struct journal *journal = machine_journal(run->machine);
    REQUIRE(journal->count == 2);
    CHECK_EQ(journal->entries[0].decision, "private");
    CHECK_EQ(journal->entries[1].decision, "shared");
    CHECK_EQ(journal->entries[1].reason, "the program has atomics");
    CHECK_EQ(run_count(run, "llc.atomic_misses"), 1u);
    CHECK_EQ(run_count(run, "llc.atomic_hits"), 79u);
    run_destroy(run);
}
