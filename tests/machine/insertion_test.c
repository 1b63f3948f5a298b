/* Insertion policies in whole machines. */
#include "machine/runs.h"

#include "sm/script.h"

enum { CTAS = 36, LOADS = 60 };

/* The first CTAs read each of their lines once: nobody hits, and the policy is as good. The others read a line a second
 * time as soon as it is there: the plain cache hits half of the time, and the policy never. */
static struct run *duel_of(struct step (*steps)[LOADS], struct script_source *source, unsigned once,
                           const char *setting, const char *contestants) {
    for (unsigned cta = 0; cta < CTAS; cta++) {
        for (unsigned i = 0; i < LOADS; i++) {
            uint64_t line = 0x100000 + 128 * (uint64_t)(cta * LOADS + i);
            steps[cta][i] = cta < once || i % 3 == 0 ? load_line(1, line)
                            : i % 3 == 1             ? alu(OP_other, 2, 1)
                                                     : load_line(3, line - 256);
        }
        struct script script = {steps[cta], LOADS};
        if (cta == 0)
            *source = script_make(CTAS, 1, script);
        else
            script_add(source, script);
    }
    return run_of(NULL, &source->source,
                  SETTINGS("sm.count=3", "gpu.clusters=3", "gpu.cta_scheduler=rr", "l1.insertion=decoupled",
                           "l1.decoupled.duel_interval_cycles=1000", "l1.decoupled.duel_least_reads=8", setting,
                           contestants, "l1.size_kb=1", "l1.ways=2", "sm.ctas=2"));
}

TEST("the followers of a duel adopt a policy that misses no more, and drop one that misses more") {
    for (unsigned i = 0; i < 4; i++) {
        bool both = i % 2, by_interval = i / 2;
        struct step steps[CTAS][LOADS];
        struct script_source source;
        struct run *run =
            duel_of(steps, &source, both ? CTAS / 2 : CTAS,
                    by_interval ? "l1.decoupled.duel_by_interval=true" : "l1.decoupled.duel_by_interval=false",
                    "l1.decoupled.duel_contestants=stay");
        run_go(run, (struct run_options){0});
        CHECK_EQ(run_count(run, "l1.decoupled.switched_on"), 1u);
        CHECK_EQ(run_count(run, "l1.decoupled.switched_off"), both);
        run_destroy(run);
    }
}

TEST("contestants that follow use the verdict themselves, and compete again in the next round") {
    static const struct {
        const char *rounds;
        unsigned once, on, off;
    } cases[] = {
        {"l1.decoupled.duel_round_cycles=0", CTAS, 2, 0},     /* SM 1 and the follower */
        {"l1.decoupled.duel_round_cycles=0", CTAS / 2, 2, 0}, /* no second round in the kernel */
        {"l1.decoupled.duel_round_cycles=1000000", CTAS / 2, 2, 0},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct step steps[CTAS][LOADS];
        struct script_source source;
        struct run *run = duel_of(steps, &source, cases[i].once, cases[i].rounds, "l1.decoupled.duel_by_interval=true");
        run_go(run, (struct run_options){0});
        CHECK_EQ(run_count(run, "l1.decoupled.switched_on"), cases[i].on);
        CHECK_EQ(run_count(run, "l1.decoupled.switched_off"), cases[i].off);
        run_destroy(run);
    }
    struct step steps[CTAS][LOADS];
    struct script_source source;
    struct run *run =
        duel_of(steps, &source, CTAS / 2, "l1.decoupled.duel_round_cycles=500", "l1.decoupled.duel_by_interval=true");
    run_go(run, (struct run_options){0});
    /* SM 0 is steered only by verdicts for the plain cache and by the rounds after them. */
    uint64_t leader_off = run_count_of(run, "l1.decoupled.switched_off", 0),
             leader_on = run_count_of(run, "l1.decoupled.switched_on", 0);
    CHECK(leader_off > 0 && leader_on <= leader_off);
    run_destroy(run);
}

TEST("a duel on a machine of one SM is rejected with the fix") {
    CHECK_REJECTED(config_with(SETTINGS("sm.count=1", "gpu.clusters=1", "l1.insertion=decoupled")),
                   "set l1.decoupled.dueling=false");
}

TEST("a tag store with fewer tags than lines is rejected") {
    CHECK_REJECTED(
        config_with(SETTINGS("l1.insertion=decoupled", "l1.decoupled.tag_sets=1", "l1.decoupled.tag_ways=100")),
        "100 entries are too few");
}

TEST("if nothing is allocated, no read hits and every read bypasses the L1") {
    struct run *run = run_make("fermi-15sm", "synth:shared", SETTINGS("l1.insertion=never", "workload.iterations=2"));
    run_go(run, (struct run_options){0});
    CHECK_EQ(run_count(run, "l1.read_hits") + run_count(run, "l1.read_pending_hits") + run_count(run, "l1.read_misses"),
             0u);
    CHECK(run_count(run, "l1.read_bypasses") > 0);
    run_destroy(run);
}
