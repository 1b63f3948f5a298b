/* Clusters of CTAs in the machine: where their CTAs run, their barrier, and the latency of distributed shared memory. */
#include "machine/runs.h"
#include "sm/script.h"

/* Four SMs in two SM clusters, which hold two CTAs each. */
#define SMALL \
    "sm.count=4", "gpu.clusters=2", "llc.slices_per_mc=2", "dram.mcs=2", "noc.topology=full", "sm.ctas=2", \
        "sm.instruction_kb=0"

static struct step cluster_arrive(void) {
    struct step step = barrier_arrive(16, 0);
    step.instr.flags |= INSTR_CLUSTER;
    return step;
}

static struct step cluster_wait(void) {
    struct step step = barrier(16, 0);
    step.instr.flags |= INSTR_CLUSTER;
    return step;
}

static struct run *run_clusters(struct script_source *source, unsigned ctas, struct run_options options) {
    source->kernel.cluster_ctas = ctas;
    struct run *run = run_of(NULL, &source->source, SETTINGS(SMALL));
    run_go(run, options);
    return run;
}

TEST("the CTAs of a cluster run in one SM cluster, and SM clusters take turns") {
    struct step steps[] = {alu(OP_f32_div, 1, 0), alu(OP_other, 2, 1)};
    struct script_source source = script_make(6, 1, SCRIPT(steps));
    struct run *run = run_clusters(&source, 3, (struct run_options){0});
    static const unsigned wanted[] = {2, 1, 2, 1}; /* each CTA goes to the SM with more free slots */
    for (unsigned sm = 0; sm < 4; sm++) CHECK_EQ(run_count_of(run, "sm.ctas", sm), wanted[sm]);
    run_destroy(run);
    source = script_make(4, 1, SCRIPT(steps));
    run = run_clusters(&source, 4, (struct run_options){0});
    CHECK_EQ(run_count_of(run, "sm.ctas", 0) + run_count_of(run, "sm.ctas", 1), 4u);
    run_destroy(run);
}

TEST("a cluster waits until an SM cluster has free slots for all of it") {
    struct step steps[] = {alu(OP_f32_div, 1, 0), alu(OP_other, 2, 1)};
    struct script_source one = script_make(6, 1, SCRIPT(steps)), two = script_make(12, 1, SCRIPT(steps));
    struct run *run = run_clusters(&one, 3, (struct run_options){0});
    uint64_t once = run->result.cycles;
    run_destroy(run);
    run = run_clusters(&two, 3, (struct run_options){0}); /* 12 CTAs in 8 slots, but two clusters at a time */
    CHECK(run->result.cycles > once + 39);
    CHECK_EQ(run_count_of(run, "sm.ctas", 0) + run_count_of(run, "sm.ctas", 1), 6u);
    run_destroy(run);
}

TEST("a cluster that no SM cluster can hold is rejected") {
    struct step steps[] = {alu(OP_other, 1, 0)};
    struct script_source source = script_make(10, 1, SCRIPT(steps));
    source.kernel.cluster_ctas = 5;
    struct run *run = run_of(NULL, &source.source, SETTINGS(SMALL));
    run_try(run, (struct run_options){0});
    CHECK_EQ(run->status, RUN_REFUSED);
    CHECK_TEXT(run->err.text, "a cluster has 5 CTAs, the SMs of an SM cluster hold 4 (gpu.clusters)");
    run_destroy(run);
}

/* Cycles of two CTAs, one of which divides before it arrives; in one cluster, or each in its own. */
static uint64_t barrier_cycles(unsigned phases, unsigned cluster_ctas, bool shuffled) {
    struct step slow[64], quick[64];
    unsigned count = 0;
    for (unsigned i = 0; i < phases; i++) {
        slow[count] = alu(OP_int_div, 1, 0), quick[count++] = alu(OP_other, 1, 0);
        slow[count] = alu(OP_other, 2, 1), quick[count++] = alu(OP_other, 2, 1);
        slow[count] = quick[count] = cluster_arrive(), count++;
        slow[count] = quick[count] = cluster_wait(), count++;
    }
    struct script_source source = script_make(2, 1, (struct script){slow, count});
    script_add(&source, (struct script){quick, count});
    struct run *run =
        run_clusters(&source, cluster_ctas, (struct run_options){.shuffle = shuffled ? 9 : 0, .no_skip = shuffled});
    uint64_t cycles = run->result.cycles;
    run_destroy(run);
    return cycles;
}

TEST("the barrier of a cluster takes a report to the control plane and a command back") {
    uint64_t apart = barrier_cycles(2, 1, false) - barrier_cycles(1, 1, false);
    uint64_t together = barrier_cycles(2, 2, false) - barrier_cycles(1, 2, false);
    /* Alone, a CTA issues its wait a cycle after its arrival, and goes on in the next. In a cluster, the command arrives
     * two cycles after the last arrival, and the barrier takes its latency: 3 + 1 + 2. */
    CHECK_EQ(together - apart, 2u + 6 - 2);
    CHECK_EQ(barrier_cycles(2, 2, true), barrier_cycles(2, 2, false));
}

TEST("exited warps and ended CTAs are not waited for") {
    struct step waits[] = {cluster_arrive(), cluster_wait(), cluster_arrive(), cluster_wait(), alu(OP_other, 1, 0)};
    struct step once[] = {cluster_arrive(), cluster_wait()}, arrives[] = {cluster_arrive()},
                leaves[] = {alu(OP_other, 1, 0)};
    struct script_source source = script_make(4, 1, SCRIPT(waits));
    script_add(&source, SCRIPT(once));
    script_add(&source, SCRIPT(arrives));
    script_add(&source, SCRIPT(leaves));
    run_destroy(run_clusters(&source, 4, (struct run_options){0}));
    struct script_source warps = script_make(2, 4, SCRIPT(waits)); /* the same with warps of one CTA */
    script_add(&warps, SCRIPT(once));
    script_add(&warps, SCRIPT(arrives));
    script_add(&warps, SCRIPT(leaves));
    script_add(&warps, SCRIPT(waits));
    run_destroy(run_clusters(&warps, 2, (struct run_options){0}));
    run_destroy(run_clusters(&warps, 1, (struct run_options){0})); /* without clusters, the CTA is its own */
}

TEST("shared memory of another CTA has its own latency") {
    uint64_t cycles[2];
    for (unsigned remote = 0; remote < 2; remote++) {
        struct step steps[] = {load_shared(1, 1), alu(OP_other, 2, 1)};
        if (remote) steps[0].instr.flags |= INSTR_CLUSTER;
        struct script_source source = script_make(2, 1, SCRIPT(steps));
        source.kernel.cluster_ctas = 2;
        struct run *run =
            run_of(NULL, &source.source, SETTINGS(SMALL, "sm.shared_latency_cycles=5", "sm.cluster_shared_cycles=105"));
        run_go(run, (struct run_options){0});
        cycles[remote] = run->result.cycles;
        run_destroy(run);
    }
    CHECK_EQ(cycles[1] - cycles[0], 100u);
}

/* Cycles of two CTAs of a cluster; the first one updates an mbarrier of the second one, which waits for it. */
static uint64_t update_cycles(struct step step, const char *latency, unsigned updates, bool shuffled) {
    struct step updating[64], waits[] = {mbarrier_wait(3, updates), alu(OP_other, 1, 0)};
    for (unsigned i = 0; i < updates; i++) updating[i] = step_to_rank(step, 1);
    struct script_source source = script_make(2, 1, (struct script){updating, updates});
    script_add(&source, SCRIPT(waits));
    source.kernel.cluster_ctas = 2;
    struct run *run = run_of(NULL, &source.source, SETTINGS(SMALL, latency));
    run_go(run, (struct run_options){.shuffle = shuffled ? 9 : 0, .no_skip = shuffled});
    uint64_t cycles = run->result.cycles;
    run_destroy(run);
    return cycles;
}

TEST("updates of an mbarrier by another CTA take effect after the latency of its shared memory") {
    const struct step steps[] = {mbarrier_arrive(3), bulk_send(40, 3), bulk_load(0x10000, 4, 3)};
    for (unsigned i = 0; i < COUNT_OF(steps); i++) {
        uint64_t near = update_cycles(steps[i], "sm.cluster_shared_cycles=50", 20, false);
        CHECK_EQ(update_cycles(steps[i], "sm.cluster_shared_cycles=150", 20, false), near + 100);
        CHECK_EQ(update_cycles(steps[i], "sm.cluster_shared_cycles=50", 20, true), near);
    }
    CHECK_EQ(update_cycles(steps[0], "sm.cluster_shared_cycles=1", 1, false),
             update_cycles(steps[0], "sm.cluster_shared_cycles=2", 1, false)); /* a report and a command */
    CHECK_EQ(update_cycles(bulk_send(41, 3), "sm.cluster_shared_cycles=50", 20, false),
             update_cycles(bulk_send(40, 3), "sm.cluster_shared_cycles=50", 20, false) + 20);
}

TEST("more updates than the port of an SM takes are forwarded later, and none is lost") {
    enum { UPDATES = 30, WARPS = 4 };
    struct step updating[UPDATES], waits[] = {mbarrier_wait(3, 15 * WARPS * UPDATES), alu(OP_other, 1, 0)};
    for (unsigned i = 0; i < UPDATES; i++) updating[i] = step_to_rank(mbarrier_arrive(3), 0);
    struct script_source source = script_make(16, WARPS, SCRIPT(waits));
    for (unsigned i = 1; i < 16 * WARPS; i++) {
        if (i < WARPS)
            script_add(&source, SCRIPT(waits));
        else
            script_add(&source, SCRIPT(updating));
    }
    source.kernel.cluster_ctas = 16;
    struct run *run =
        run_of(NULL, &source.source,
               SETTINGS("sm.count=16", "gpu.clusters=1", "llc.slices_per_mc=2", "dram.mcs=2", "noc.topology=full",
                        "sm.ctas=1", "sm.instruction_kb=0", "sm.schedulers=4", "sm.sp_units=8"));
    run_go(run, (struct run_options){0});
    CHECK_EQ(run_count_of(run, "sm.ctas", 0), 1u);
    run_destroy(run);
}

TEST("an mbarrier of a CTA that has ended is not updated, and neither is that of its successor") {
    struct step updating[] = {step_to_rank(mbarrier_arrive(3), 1), step_to_rank(bulk_send(200, 3), 1)};
    struct step leaves[] = {alu(OP_other, 1, 0)};
    struct script_source source = script_make(32, 1, SCRIPT(updating));
    for (unsigned i = 1; i < 32; i++) {
        if (i % 2)
            script_add(&source, SCRIPT(leaves));
        else
            script_add(&source, SCRIPT(updating));
    }
    source.kernel.cluster_ctas = 2;
    struct run *run = run_of(NULL, &source.source, SETTINGS(SMALL));
    run_go(run, (struct run_options){0});
    run_destroy(run);
}
