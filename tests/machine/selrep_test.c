/* Replication in whole machines: what selective replication decides, that time adds up, and what it is worth. */
#include "machine/runs.h"

#include "stats/journal.h"
#include "work.h"

/* All sets of the first slice are sampled, because runs are short. */
#define PAPERS "llc.organisation=selrep", "llc.selrep.epoch_cycles=1024", "llc.selrep.sets=32"
#define SELREP PAPERS, "llc.selrep.flush=replicas"
/* Kernels of some 3,000 cycles. */
#define SHORT "workload.iterations=6", "workload.ctas=128"
/* Enough lines for one to be sampled. */
#define HOT "workload.lines=128", "workload.iterations=16"

static struct run *run_hot(const char *const *settings) {
    struct run *run = run_make("selrep-64sm", "synth:hotline", settings);
    run_go(run, (struct run_options){0});
    return run;
}

TEST_LONG_SANITIZED("lines that all SMs read at once are replicated, and arrive sooner with more replicas") {
    uint64_t cycles[3];
    static const char *const degrees[] = {"llc.static.degree=1", "llc.static.degree=4", "llc.static.degree=16"};
    for (unsigned i = 0; i < 3; i++) {
        struct run *run = run_hot(SETTINGS("llc.organisation=static", degrees[i], HOT));
        cycles[i] = run->result.cycles;
        CHECK_EQ(run_count(run, "llc.replicas_invalidated") > 0, i > 0);
        CHECK_EQ(run_count(run, "llc.flushes"), i ? 64u : 0u);
        run_destroy(run);
    }
    CHECK(2 * cycles[1] < cycles[0]);
    CHECK(cycles[2] < cycles[1]);
    struct run *run = run_hot(SETTINGS(SELREP, HOT));
    const struct journal *journal = machine_journal(run->machine);
    REQUIRE(journal->count > 2);
    CHECK_EQ(journal->entries[0].cycle, 1024u);
    CHECK(run->result.cycles < cycles[0] && run->result.cycles >= cycles[2]);
    run_destroy(run);
}

TEST_LONG_SANITIZED(
    "degrees by kernel: every launch runs at its degree, and takes as long as in a run at that degree, within 2 %") {
    static const char *const settings[] = {"llc.static.by_kernel=[1, 16, 4, 1]", "llc.static.degree=1",
                                           "llc.static.degree=4", "llc.static.degree=16"};
    static const unsigned of_launch[] = {1, 3, 2, 1};
    struct run *runs[COUNT_OF(settings)];
    for (unsigned i = 0; i < COUNT_OF(settings); i++)
        runs[i] = run_hot(SETTINGS("llc.organisation=static", settings[i], "workload.kernels=4", "workload.lines=128",
                                   "workload.iterations=4"));
    for (unsigned i = 0; i < COUNT_OF(of_launch); i++) { /* what the launch before has left in the LLC is another */
        double alike = (double)runs[of_launch[i]]->result.kernels[i].cycles;
        CHECK_NEAR((double)runs[0]->result.kernels[i].cycles, alike, 0.02 * alike);
    }
    CHECK_EQ(run_count(runs[0], "llc.flushes"),
             (1 + 2) * 64u); /* before replication, and after kernels with replicas */
    for (unsigned i = 0; i < COUNT_OF(settings); i++) run_destroy(runs[i]);
}

TEST("a static degree of 1, and selective replication without read-only data, equal a shared LLC in every counter") {
    for (unsigned i = 0; i < 2; i++) {
        static const char *const organisation[] = {"llc.organisation=static", "llc.organisation=selrep"};
        const char *workload = i ? "synth:copy" : "synth:shared";
        struct run *run = run_make("selrep-64sm", workload, SETTINGS("workload.kernels=2", SHORT));
        struct run *same = run_make("selrep-64sm", workload,
                                    SETTINGS("workload.kernels=2", SHORT, organisation[i], "llc.static.degree=1",
                                             "llc.selrep.epoch_cycles=2000", "llc.selrep.least_samples=1000000",
                                             "llc.selrep.flush=replicas"));
        run_go(run, (struct run_options){0});
        run_go(same, (struct run_options){0});
        CHECK_EQ(same->result.cycles, run->result.cycles);
        CHECK_EQ(run_count(same, "llc.read_hits"), run_count(run, "llc.read_hits"));
        CHECK_EQ(run_count(same, "dram.writes"), run_count(run, "dram.writes"));
        run_destroy(run);
        run_destroy(same);
    }
}

TEST("as published, every kernel ends with a flush of the whole LLC, with and without replicas") {
    static const char *const organisation[] = {"llc.organisation=selrep", "llc.organisation=static"};
    for (unsigned i = 0; i < 2; i++) {
        struct run *run = run_make("selrep-64sm", "synth:copy",
                                   SETTINGS("workload.kernels=3", SHORT, organisation[i], "llc.static.degree=1",
                                            "llc.static.flush=always", "llc.selrep.least_samples=1000000"));
        run_go(run, (struct run_options){0});
        CHECK_EQ(run_count(run, "llc.flushes"), 3 * 64u);
        CHECK_EQ(run_count(run, "llc.write_backs"), run_count(run, "dram.writes")); /* nothing modified remains */
        CHECK(run_count(run, "llc.write_backs") > 0);
        CHECK_EQ(run_count(run, "control.background_flushes"), 0u);
        run_destroy(run);
    }
}

TEST_LONG_SANITIZED(
    "as published, a kernel's first replicas need no write-back, since the LLC has been flushed before") {
    struct run *run = run_hot(SETTINGS(PAPERS, HOT, "workload.kernels=2"));
    CHECK(run_count(run, "selrep.cycles_1") < run->result.cycles);
    CHECK_EQ(run_count(run, "control.background_flushes"), 0u);
    CHECK_EQ(run_count(run, "llc.flushes"), 2 * 64u);
    run_destroy(run);
}

/* Commands the degrees 16, 1, 2, 16, 1, ..., one for each epoch. */
static bool order_degrees(void *user, const struct run_progress *progress) {
    static const unsigned degrees[] = {16, 1, 2};
    CHECK(machine_order_degree(user, degrees[progress->cycles / 1024 % 3]));
    return true;
}

static uint64_t cycles_of(const struct run *run) {
    static const char *const names[] = {"selrep.cycles_1", "selrep.cycles_2", "selrep.cycles_4", "selrep.cycles_8",
                                        "selrep.cycles_16"};
    uint64_t sum = 0;
    for (unsigned i = 0; i < COUNT_OF(names); i++) sum += run_count(run, names[i]);
    return sum;
}

TEST("degrees commanded from outside are applied, and every cycle is charged to one degree") {
    struct run *run = run_make("selrep-64sm", "synth:shared", SETTINGS(SELREP, "workload.kernels=3", SHORT));
    run_go(run, (struct run_options){.progress = order_degrees, .user = run->machine});
    const struct journal *journal = machine_journal(run->machine);
    static const char *const expected[] = {"degree 1", "degree 2",
                                           "degree 16"}; /* of the epochs that end at 1024, 2048, 3072 */
    REQUIRE(journal->count > 3);
    for (unsigned i = 0; i < journal->count; i++) {
        CHECK_EQ(journal->entries[i].decision, expected[i % 3]);
        CHECK_EQ(journal->entries[i].reason, "set externally");
    }
    CHECK_EQ(cycles_of(run), run->result.cycles);
    CHECK(run_count(run, "selrep.cycles_16") > 0 && run_count(run, "selrep.cycles_2") > 0);
    CHECK_EQ(run_count(run, "selrep.epochs"), journal->count);
    CHECK_EQ(run_count(run, "control.reconfigurations"), 0u); /* nothing ever stops */
    run_destroy(run);
}

TEST("every cycle of a run that is cut short is charged to one degree") {
    struct run *run = run_make("selrep-64sm", "synth:shared", SETTINGS(SELREP, SHORT));
    run_go(run, (struct run_options){.max_instructions = 100000});
    CHECK_EQ(cycles_of(run), run->result.cycles);
    run_destroy(run);
}

/* One home for each line, but for the epochs after the ninth and the tenth. */
static bool order_late(void *user, const struct run_progress *progress) {
    CHECK(machine_order_degree(user, progress->cycles / 1024 == 9 ? 4 : 1));
    return true;
}

TEST("lines written by earlier kernels are written back in the background before a kernel's first replicas") {
    struct run *run = run_make("selrep-64sm", "synth:copy", SETTINGS(SELREP, "workload.kernels=6", SHORT));
    run_go(run, (struct run_options){.progress = order_late, .user = run->machine});
    CHECK(run_count(run, "control.background_flushes") > 0);
    CHECK(run_count(run, "llc.write_backs") > 0);
    CHECK_EQ(run_count(run, "control.reconfigurations"), 0u);
    run_destroy(run);
}

TEST("tick order and polling do not change the counters of selective replication") {
    struct counters expected = {0};
    for (unsigned way = 0; way < 4; way++) {
        struct run *run = run_make("selrep-64sm", "synth:copy", SETTINGS(SELREP, "workload.kernels=4", SHORT));
        run_go(run,
               (struct run_options){
                   .progress = order_degrees, .user = run->machine, .no_skip = way >= 2, .shuffle = way % 2 ? 7 : 0});
        if (way == 0)
            expected = counters_of(run);
        else
            CHECK(counters_equal(run, &expected));
        run_destroy(run);
    }
    free(expected.value);
}

TEST("an LLC of 128 KB with one set per slice supports replication") {
    struct run *run = run_hot(SETTINGS(SELREP, HOT, "llc.slice_kb=2", "llc.sets=1"));
    CHECK_EQ(cycles_of(run), run->result.cycles);
    CHECK(run_count(run, "selrep.samples_1") > 0);
    run_destroy(run);
}

TEST_LONG_SANITIZED("a private and an adaptive LLC run with 16 clusters and 4 MC-routers") {
    static const char *const organisation[] = {"llc.organisation=private", "llc.organisation=adaptive"};
    for (unsigned i = 0; i < 2; i++) {
        struct run *run = run_hot(SETTINGS(organisation[i], "llc.adaptive.profile_cycles=1000", HOT));
        CHECK(run->result.cycles > 0);
        run_destroy(run);
    }
}

static double input_of(const struct journal_entry *entry, const char *name) {
    for (unsigned i = 0; i < entry->count; i++)
        if (strcmp(entry->input[i].name, name) == 0) return entry->input[i].value;
    CHECK(!"there is such an input");
    return 0;
}

TEST("predictions per degree are summed over all decisions of a run, and replicas never add hits") {
    struct run *run = run_hot(SETTINGS(SELREP, HOT));
    const struct journal *journal = machine_journal(run->machine);
    REQUIRE(journal->count > 2);
    uint64_t more = run_count(run, "selrep.samples_1");
    CHECK(more > 0);
    for (unsigned degree = 1; degree <= 16; degree *= 2) {
        char name[32];
        double hits = 0, bytes = 0;
        for (unsigned i = 0; i < journal->count; i++) {
            snprintf(name, sizeof name, "hit_rate_%u", degree);
            hits += input_of(&journal->entries[i], name) * input_of(&journal->entries[i], "samples");
            snprintf(name, sizeof name, "bytes_per_cycle_%u", degree);
            bytes += input_of(&journal->entries[i], name);
        }
        snprintf(name, sizeof name, "selrep.bandwidth_%u", degree);
        CHECK_NEAR((double)run_count(run, name), 1000 * bytes, journal->count); /* each rounded down */
        snprintf(name, sizeof name, "selrep.hits_%u", degree);
        uint64_t counted = run_count(run, name);
        CHECK((double)counted > hits - 0.5); /* the last epoch has no decision */
        CHECK(counted <= more);
        more = counted;
    }
    run_destroy(run);
}

TEST_LONG_SANITIZED("lookahead replicates lines that all SMs read at once, and none if their replicas do not fit") {
    struct run *shared = run_hot(SETTINGS(HOT)), *hot = run_hot(SETTINGS(SELREP, HOT, "llc.selrep.look_ahead=true")),
               *again = run_hot(SETTINGS(SELREP, HOT, "llc.selrep.look_ahead=true"));
    const struct journal *journal = machine_journal(hot->machine);
    REQUIRE(journal->count > 2);
    for (unsigned i = 0; i < journal->count; i++) CHECK_EQ(journal->entries[i].reason, "set externally");
    CHECK(run_count(hot, "selrep.cycles_1") < hot->result.cycles / 2);
    CHECK(hot->result.cycles < shared->result.cycles);
    CHECK_EQ(again->result.cycles, hot->result.cycles);
    CHECK_EQ(run_count(again, "selrep.cycles_16"), run_count(hot, "selrep.cycles_16"));
    run_destroy(shared);
    run_destroy(hot);
    run_destroy(again);
    struct run *large = run_make("selrep-64sm", "synth:spread",
                                 SETTINGS(SELREP, "llc.selrep.epoch_cycles=4096", "llc.selrep.look_ahead=true",
                                          "workload.footprint_kb=3072", "workload.iterations=16"));
    run_go(large, (struct run_options){0});
    CHECK(machine_journal(large->machine)->count > 2);
    CHECK(run_count(large, "selrep.cycles_1") > large->result.cycles / 2);
    run_destroy(large);
}

TEST("with lookahead a program of several kernels runs to its end with correct results") {
    struct error err = {0};
    struct stream_source *source = work_open("mm:tiny", true, &err);
    REQUIRE(source);
    struct run *run = run_of("selrep-64sm", source, SETTINGS(SELREP, "llc.selrep.look_ahead=true"));
    run_go(run, (struct run_options){0});
    CHECK_EQ(source->ops->check(source, &err), "passed");
    CHECK(machine_journal(run->machine)->count > 0);
    run_destroy(run);
    source->ops->destroy(source);
}
