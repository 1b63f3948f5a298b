/* Replacement policies in a whole machine. */
#include "machine/runs.h"

#include "sm/script.h"

enum { STREAM = 16, HOT = 3, LOADS = 2 * (STREAM + HOT) };

/* Sixteen lines of a stream, three lines that will be used again, sixteen more, and the three again; one at a time,
 * in a cache of eight lines. Returns how often the three are found, if they are the load of another instruction than
 * the stream or of the same. */
static uint64_t found(const char *owner, bool past_l1, uint32_t stream_id, uint32_t hot_id) {
    static const uint64_t stream_at = 0x10000000, hot_at = 0x20000000;
    struct step steps[LOADS];
    uint32_t ids[LOADS];
    for (unsigned i = 0, streamed = 0; i < LOADS; i++) {
        unsigned place = i % (STREAM + HOT);
        bool hot = place >= STREAM;
        uint64_t address = hot ? hot_at + 128 * (place - STREAM) : stream_at + 128 * streamed++;
        steps[i] = past_l1 ? load_past_l1(1, address, line_sectors(address)) : load_line(1, address);
        ids[i] = hot ? hot_id : stream_id;
    }
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    source.ids = ids;
    char replacement[32], counter[32];
    snprintf(replacement, sizeof replacement, "%s.replacement=ship", owner);
    snprintf(counter, sizeof counter, "%s.read_hits", owner);
    struct run *run = run_of(NULL, &source.source,
                             SETTINGS("sm.count=1", "gpu.clusters=1", "dram.mcs=1", "llc.slices_per_mc=1",
                                      "llc.slice_kb=1", "llc.ways=8", "l1.size_kb=1", "l1.ways=8",
                                      "sm.instruction_kb=0", "sm.loads_in_flight=1", replacement));
    run_go(run, (struct run_options){0});
    uint64_t hits = run_count(run, counter);
    run_destroy(run);
    return hits;
}

TEST("SHiP receives the instruction that loads a line, at the L1 and at the LLC") {
    CHECK_EQ(found("l1", false, 100, 101), (uint64_t)HOT);
    CHECK_EQ(found("l1", false, 100, 100), 0u);
    CHECK_EQ(found("llc", true, 100, 101), (uint64_t)HOT);
    CHECK_EQ(found("llc", true, 100, 100), 0u);
    CHECK_EQ(found("llc", false, 100, 101), (uint64_t)HOT); /* by an L1 that lost them */
}

TEST("caches of one set run with every replacement policy that supports them") {
    static const char *const policies[] = {"lru", "random", "srrip", "brrip", "ship"};
    for (unsigned i = 0; i < COUNT_OF(policies); i++) {
        char l1[32], llc[32];
        snprintf(l1, sizeof l1, "l1.replacement=%s", policies[i]);
        snprintf(llc, sizeof llc, "llc.replacement=%s", policies[i]);
        struct run *run = run_make("fermi-15sm", "synth:shared",
                                   SETTINGS("l1.sets=1", "l1.ways=128", "llc.sets=1", "llc.ways=1024", l1, llc,
                                            "workload.ctas=15", "workload.iterations=2"));
        run_go(run, (struct run_options){0});
        CHECK(run_count(run, "llc.read_misses") > 0);
        run_destroy(run);
    }
}
