/* Cooperation of groups in whole machines: which groups are probed, at what latency, and that no group gets an older
 * version of a line that it wrote. */
#include "machine/runs.h"

#include "sm/script.h"
#include "work.h"

#define AGC "l1.organisation=icc-agc"
#define MGC "l1.organisation=icc-mgc"

enum { GROUPS = 8, LINE = 0x10000 };

/* A group has one SM and one node, and its SM runs one CTA of one warp; what each does is in `scripts`. */
static struct run *run_groups(struct script_source *source, const struct script *scripts, const char *const *settings) {
    const char *all[16] = {"group.count=8",        "group.nodes=1", "sm.count=8",         "gpu.clusters=8",
                           "gpu.cta_scheduler=rr", "sm.ctas=1",     "sm.instruction_kb=0"};
    for (unsigned i = 0; settings[i]; i++) all[7 + i] = settings[i];
    *source = script_make(GROUPS, 1, scripts[0]);
    for (unsigned i = 1; i < GROUPS; i++) script_add(source, scripts[i]);
    return run_of("icc-32sm", &source->source, all);
}

/* Time passes. */
enum { WAIT = 16 };
static void wait_in(struct step *steps) {
    for (unsigned i = 0; i < WAIT; i++) steps[i] = alu(OP_int_div, 1, 1);
}

/* One group reads the line; the one `away` groups to its right reads it long after. */
static struct run *run_two(const char *const *settings, unsigned away) {
    static struct step reads[] = {{{0}, {0}}}, waits[WAIT + 1];
    static struct script_source source;
    reads[0] = load_line(1, LINE);
    wait_in(waits);
    waits[WAIT] = load_line(2, LINE);
    struct script scripts[GROUPS] = {{reads, 1}};
    for (unsigned i = 1; i < GROUPS; i++)
        scripts[i] = i == away ? (struct script){waits, WAIT + 1} : (struct script){reads, 0};
    struct run *run = run_groups(&source, scripts, settings);
    run_go(run, (struct run_options){0});
    return run;
}

TEST("a line that an adjacent group holds is supplied by that group, and other lines are not") {
    for (unsigned away = 1; away < GROUPS; away++) {
        struct run *run = run_two(SETTINGS(AGC), away);
        bool adjacent = away == 1 || away == GROUPS - 1;
        CHECK_EQ(run_count(run, "l1.read_misses"), 2u);
        CHECK_EQ(run_count(run, "l1.icc.asked"), adjacent);
        CHECK_EQ(run_count(run, "l1.icc.remote_hits"), adjacent);
        CHECK_EQ(run_count(run, "l1.requests"), 2u - adjacent);
        /* To Q6's other end, to Q2, a lookup, and the same back. */
        CHECK_EQ(run_count(run, "l1.icc.hit_cycles"), adjacent * 4u);
        run_destroy(run);
    }
}

TEST("on the ring every group is found, to the left up to two groups away, at a cycle for each hop back") {
    for (unsigned away = 1; away < GROUPS; away++) {
        struct run *run = run_two(SETTINGS(MGC), away);
        /* The distances of group 0 to the left and to the right of the probing group. */
        unsigned left = away, right = GROUPS - away, back = left < right ? left : right;
        /* Each cache on the way: to its Q2, and by its Q6 to the next. */
        unsigned forth = left <= 2 && left <= right ? left : right;
        CHECK_EQ(run_count(run, "l1.icc.asked"), 2u); /* the first to read asks, too */
        CHECK_EQ(run_count(run, "l1.icc.remote_hits"), 1u);
        CHECK_EQ(run_count(run, "l1.icc.hit_cycles"), 2 * forth + 1 + back);
        run_destroy(run);
    }
}

TEST("a miss of the short probe goes to the LLC while the long one is in flight, and the later reply is dropped") {
    struct run *run = run_two(SETTINGS(MGC), 4); /* the left asks 3 and 2 groups away in vain, the right finds it */
    CHECK_EQ(run_count(run, "l1.icc.fetches"), 2u);
    CHECK_EQ(run_count(run, "l1.icc.remote_hits"), 1u);
    CHECK_EQ(run_count(run, "l1.icc.late"), 1u);
    CHECK_EQ(run_count(run, "l1.requests"), 2u);
    run_destroy(run);
    run = run_two(SETTINGS(MGC, "l1.icc-mgc.long_queries=0"), 4);
    CHECK_EQ(run_count(run, "l1.icc.remote_hits"), 0u);
    CHECK_EQ(run_count(run, "l1.icc.served"), 4u);
    run_destroy(run);
    run = run_two(SETTINGS(MGC, "l1.icc-mgc.short_queries=0"), 4);
    CHECK_EQ(run_count(run, "l1.icc.remote_hits"), 1u);
    CHECK_EQ(run_count(run, "l1.icc.fetches"), 1u); /* of the first to read, when all have been asked */
    CHECK_EQ(run_count(run, "l1.icc.late"), 0u);
    run_destroy(run);
}

TEST("a group that has written a line sends no probes for it until the end of the kernel") {
    static struct step reads[2], writes[2 * WAIT + 3];
    struct script_source source;
    reads[0] = load_line(1, LINE);
    wait_in(writes);
    writes[WAIT] = store_line(2, LINE);
    wait_in(writes + WAIT + 1);
    writes[2 * WAIT + 1] = load_line(3, LINE);
    struct script scripts[GROUPS] = {{reads, 1}, {writes, 2 * WAIT + 2}};
    for (unsigned i = 2; i < GROUPS; i++) scripts[i] = (struct script){reads, 0};
    for (unsigned ring = 0; ring < 2; ring++) {
        struct run *run = run_groups(&source, scripts, SETTINGS(ring ? MGC : AGC, "l1.flush_at_kernel_end=true"));
        source.kernels = 2;
        run_go(run, (struct run_options){0});
        CHECK_EQ(run_count(run, "l1.icc.remote_hits"), 0u);
        CHECK_EQ(run_count(run, "l1.icc.written"), 2u); /* once in each kernel */
        CHECK_EQ(run_count(run, "l1.icc.asked"), ring * 2u);
        run_destroy(run);
    }
}

TEST("what a group has written counts until the end of the kernel, also if L1s are not invalidated then") {
    static struct step reads[1], writes[2 * WAIT + 2];
    struct script_source source;
    reads[0] = load_line(1, LINE);
    wait_in(writes);
    writes[WAIT] = load_line(2, LINE); /* group 0 has the line, in both kernels */
    wait_in(writes + WAIT + 1);
    writes[2 * WAIT + 1] = store_line(2, LINE);
    struct script scripts[GROUPS] = {{reads, 1}, {writes, 2 * WAIT + 2}};
    for (unsigned i = 2; i < GROUPS; i++) scripts[i] = (struct script){reads, 0};
    struct run *run = run_groups(&source, scripts, SETTINGS(MGC, "l1.flush_at_kernel_end=false"));
    source.kernels = 2;
    run_go(run, (struct run_options){0});
    CHECK_EQ(run_count(run, "l1.flushes"), 0u);
    CHECK_EQ(run_count(run, "l1.icc.remote_hits"), 2u);
    CHECK_EQ(run_count(run, "l1.icc.written"), 0u);
    run_destroy(run);
}

TEST("accesses to thread-local memory send no probes") {
    static struct step reads[1], waits[WAIT + 1];
    struct script_source source;
    reads[0] = memory_step(OP_load, SPACE_LOCAL, 1, LINE, 0x0F);
    wait_in(waits);
    waits[WAIT] = memory_step(OP_load, SPACE_LOCAL, 2, LINE, 0x0F);
    struct script scripts[GROUPS] = {{reads, 1}, {waits, WAIT + 1}};
    for (unsigned i = 2; i < GROUPS; i++) scripts[i] = (struct script){reads, 0};
    for (unsigned ring = 0; ring < 2; ring++) {
        struct run *run = run_groups(&source, scripts, SETTINGS(ring ? MGC : AGC));
        run_go(run, (struct run_options){0});
        CHECK_EQ(run_count(run, "l1.read_misses"), 2u);
        CHECK_EQ(run_count(run, "l1.icc.asked"), 0u);
        run_destroy(run);
    }
}

TEST("with cooperation disabled both organisations equal clustered, in every counter") {
    static const char *const names[] = {"synth:shared", "synth:uniform"};
    for (unsigned w = 0; w < COUNT_OF(names); w++) {
        struct run *run =
            run_make("icc-32sm", names[w], SETTINGS("l1.organisation=clustered", "workload.iterations=2"));
        run_go(run, (struct run_options){0});
        struct counters expected = counters_of(run);
        run_destroy(run);
        for (unsigned ring = 0; ring < 2; ring++) {
            run = run_make("icc-32sm", names[w],
                           SETTINGS(ring ? MGC : AGC, "l1.icc-agc.cooperate=false", "l1.icc-mgc.cooperate=false",
                                    "workload.iterations=2"));
            run_go(run, (struct run_options){0});
            CHECK(counters_equal(run, &expected));
            run_destroy(run);
        }
        free(expected.value);
    }
}

TEST("cooperation without partners or without probes is rejected") {
    const struct {
        const char *const *settings, *why;
    } cases[] = {
        {SETTINGS(AGC, "gpu.clusters=1"), "cooperation needs 2 to 64 groups, not 1"},
        {SETTINGS(MGC, "sm.count=80", "group.count=80"), "cooperation needs 2 to 64 groups, not 80"},
        {SETTINGS(MGC, "l1.icc-mgc.short_queries=0", "l1.icc-mgc.long_queries=0"), "no L1 would be probed"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) CHECK_REJECTED(config_with(cases[i].settings), cases[i].why);
}

static uint64_t remote_hits(const char *workload, const char *organisation) {
    struct error err = {0};
    struct stream_source *source = work_open(workload, false, &err);
    REQUIRE(source);
    struct run *run = run_of("icc-32sm", source, SETTINGS(organisation));
    run_go(run, (struct run_options){0});
    uint64_t hits = run_count(run, "l1.icc.remote_hits");
    run_destroy(run);
    source->ops->destroy(source);
    return hits;
}

TEST_LONG_SANITIZED("groups serve each other if they read the same data, and not if each reads its own") {
    for (unsigned ring = 0; ring < 2; ring++) {
        CHECK(remote_hits("an:tiny", ring ? MGC : AGC) > 0);
        CHECK(remote_hits("syrk:tiny", ring ? MGC : AGC) > 0);
        CHECK_EQ(remote_hits("reduction:tiny", ring ? MGC : AGC), 0u);
    }
}
