/* The values of cells, computed by hand: searches, relations to the baseline, means. */
#include "lab/cells.h"

#include "lab/filled_store.h"

/* IPCs of the three candidates: 5, 3 and 4; shared has 2. The number of hits is ten times as large. */
static double middle_is_least(const struct planned_run *run) {
    static const double ipc[] = {5, 3, 4};
    return run->candidate < 0 ? 2 : ipc[run->candidate];
}

#define SEARCH(metric) \
    TITLE "workloads: [va]\n" \
          "designs:\n" \
          "  shared: {design: shared}\n" \
          "  best: {best: {noc.channel_bytes: [8, 16, 64]}}\n" \
          "metrics:\n" metric "  - {name: IPC, value: ipc}\n"

TEST("a search takes the candidate with the least value if less is better, and with the most if more is") {
    struct made_up all = make(SEARCH("  - {name: hits, value: llc.read_hits, better: less}\n"), middle_is_least);
    CHECK_EQ(cell(&all.figure->sheets[0], "va", "best"), 30.0);
    CHECK_EQ(cell(&all.figure->sheets[1], "va", "best"), 3.0);
    REQUIRE(all.figure->choice_count == 1);
    CHECK_EQ(all.figure->choices[0].chosen, "16");
    discard(&all);
    all = make(SEARCH("  - {name: hits, value: llc.read_hits, better: more}\n"), middle_is_least);
    CHECK_EQ(cell(&all.figure->sheets[0], "va", "best"), 50.0);
    CHECK_EQ(all.figure->choices[0].chosen, "8");
    discard(&all);
}

static double two_equal(const struct planned_run *run) {
    static const double ipc[] = {4, 6, 6};
    return run->candidate < 0 ? 2 : ipc[run->candidate];
}

TEST("the first of equally good candidates is taken") {
    struct made_up all = make(SEARCH("  - {name: hits, value: llc.read_hits}\n"), two_equal);
    CHECK_EQ(all.figure->choices[0].chosen, "16");
    discard(&all);
}

TEST("a candidate with a value is better than one without") {
    /* The first candidate has 40 hits. */
    struct made_up all = make(SEARCH("  - {name: inverse, value: 1 / (llc.read_hits - 40)}\n"), two_equal);
    CHECK_NEAR(cell(&all.figure->sheets[0], "va", "best"), 1.0 / 20, 1e-12);
    CHECK_EQ(all.figure->choices[0].chosen, "16");
    discard(&all);
}
