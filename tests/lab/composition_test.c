/* Compositions of the best parts of several runs, with numbers computed by hand. */
#include "lab/composition.h"

#include "lab/filled_store.h"

#define LAUNCH(name, cycles, instructions) \
    "{\"name\": \"" name "\", \"grid\": [4, 1, 1], \"block\": [32, 1, 1], \"ctas_per_sm\": 1, \"cycles\": " #cycles \
    ", \"instructions\": " #instructions ", \"warp_instructions\": 32}"

#define SEARCH \
    TITLE "workloads: [va]\n" \
          "designs:\n" \
          "  shared: {design: shared}\n" \
          "  BSR: {best: {noc.channel_bytes: [8, 16, 64]}, best_for: kernel}\n" \
          "metrics:\n" \
          "  - {name: IPC, value: ipc, relative_to: shared}\n" \
          "  - {name: cycles, value: cycles}\n" \
          "  - {name: instructions, value: thread_instructions + 100 * warp_instructions}\n" \
          "  - {name: hits, value: llc.read_hits}\n" \
          "  - {name: even, value: largest(llc.read_hits)}\n" \
          "  - {name: either, value: llc.read_hits ? cycles}\n"
#define CUT SEARCH "max_insts: 100\n"

/* The last candidate is best over the whole run, and shared has an IPC of 2. */
static double whole(const struct planned_run *run) { return run->design == 0 ? 2 : 3 + run->candidate; }

/* Launches of each candidate. */
static const char *parts[3];

static const char *kernels_of(const struct planned_run *run) {
    return run->candidate < 0 ? LAUNCH("a", 100, 200) : parts[run->candidate];
}

static struct made_up compose(const char *text, const char *first, const char *second, const char *third) {
    parts[0] = first, parts[1] = second, parts[2] = third;
    return make_with(text, whole, kernels_of);
}

static double value(const struct made_up *all, unsigned metric) {
    return cell(&all->figure->sheets[metric], "va", "BSR");
}

TEST("composes a run of the fastest candidate of each launch") {
    struct made_up all = compose(SEARCH, LAUNCH("a", 10, 64) "," LAUNCH("b", 90, 128) "," LAUNCH("a", 30, 64),
                                 LAUNCH("a", 12, 64) "," LAUNCH("b", 50, 128) "," LAUNCH("a", 31, 64),
                                 LAUNCH("a", 11, 64) "," LAUNCH("b", 60, 128) "," LAUNCH("a", 20, 64));
    CHECK_EQ(value(&all, 1), 10.0 + 50 + 20);
    CHECK_NEAR(value(&all, 0), (64.0 + 128 + 64) / 80 / 2, 1e-12);
    CHECK_EQ(value(&all, 2), 64.0 + 128 + 64 + 100 * 3 * 32);
    REQUIRE(all.figure->choice_count == 1);
    CHECK_EQ(all.figure->choices[0].chosen, "8, 16, 64");
    CHECK_EQ(all.figure->choices[0].column, "BSR");
    discard(&all);
}

TEST("a composition of several runs has no counters") {
    struct made_up all =
        compose(SEARCH, LAUNCH("a", 10, 64) "," LAUNCH("b", 90, 128), LAUNCH("a", 12, 64) "," LAUNCH("b", 50, 128),
                LAUNCH("a", 12, 64) "," LAUNCH("b", 51, 128));
    CHECK(isnan(value(&all, 3)));
    CHECK(isnan(value(&all, 4)));
    CHECK_EQ(value(&all, 5), 60.0);
    CHECK_EQ(cell(&all.figure->sheets[3], "va", "shared"), 20.0);
    discard(&all);
}

TEST("a composition of one run is that run, with its counters") {
    struct made_up all =
        compose(SEARCH, LAUNCH("a", 13, 64) "," LAUNCH("b", 90, 128), LAUNCH("a", 12, 64) "," LAUNCH("b", 50, 128),
                LAUNCH("a", 14, 64) "," LAUNCH("b", 51, 128));
    CHECK_EQ(value(&all, 0), 4.0 / 2);
    CHECK_EQ(value(&all, 1), 100.0);
    CHECK_EQ(value(&all, 3), 40.0);
    CHECK_EQ(value(&all, 4), 24.0);
    CHECK_EQ(all.figure->choices[0].chosen, "16");
    discard(&all);
}

TEST("chooses the first of equally fast candidates") {
    struct made_up all =
        compose(SEARCH, LAUNCH("a", 12, 64) "," LAUNCH("b", 90, 128), LAUNCH("a", 12, 64) "," LAUNCH("b", 50, 128),
                LAUNCH("a", 12, 64) "," LAUNCH("b", 50, 128));
    CHECK_EQ(all.figure->choices[0].chosen, "8, 16");
    discard(&all);
}

static double without_one(const struct planned_run *run) { return run->candidate == 1 ? NAN : whole(run); }

TEST("a missing candidate makes the cell missing, without a choice") {
    parts[0] = parts[2] = LAUNCH("a", 12, 64);
    struct made_up all = make_with(SEARCH, without_one, kernels_of);
    CHECK_EQ(all.figure->missing, 1u);
    CHECK_EQ(all.figure->choice_count, 0u);
    for (unsigned m = 0; m < 4; m++) CHECK(isnan(value(&all, m)));
    discard(&all);
}

TEST("candidates with different kernels make the cell missing, with the reason") {
    static const struct {
        const char *other, *why;
    } cases[] = {
        {LAUNCH("a", 12, 64), "missing: one run launches 2 kernels, another 1"},
        {LAUNCH("a", 12, 64) "," LAUNCH("c", 90, 128), "missing: launch 2 is b [4,1,1] [32,1,1] in one run and c [4,"},
        {"", "missing: one run launches 2 kernels, another 0"},
    };
    const char *same = LAUNCH("a", 10, 64) "," LAUNCH("b", 90, 128);
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct made_up all = compose(SEARCH, same, cases[i].other, same);
        for (unsigned m = 0; m < 4; m++) CHECK(isnan(value(&all, m)));
        REQUIRE(all.figure->choice_count == 1);
        CHECK_TEXT(all.figure->choices[0].chosen, cases[i].why);
        discard(&all);
    }
    struct made_up none = compose(SEARCH, "", "", "");
    CHECK_TEXT(none.figure->choices[0].chosen, "missing: a run has no launches");
    discard(&none);
}

TEST("compares the last launch of cut runs by cycles per instruction, and omits launches that not all have started") {
    struct made_up all = compose(CUT, LAUNCH("a", 10, 64) "," LAUNCH("b", 40, 60), /* 0.67 cycles per instruction */
                                 LAUNCH("a", 12, 64) "," LAUNCH("b", 45, 90),      /* 0.5 */
                                 LAUNCH("a", 12, 64) "," LAUNCH("b", 80, 128) "," LAUNCH("c", 1, 1));
    CHECK_EQ(value(&all, 1), 10.0 + 45);
    CHECK_NEAR(value(&all, 0), (64.0 + 90) / 55 / 2, 1e-12);
    CHECK_EQ(all.figure->choices[0].chosen, "8, 16");
    discard(&all);
    struct made_up at_once =
        compose(CUT, LAUNCH("a", 10, 64) "," LAUNCH("b", 1, 0), /* cut before its first instruction */
                LAUNCH("a", 12, 64) "," LAUNCH("b", 45, 90), LAUNCH("a", 12, 64) "," LAUNCH("b", 80, 128));
    CHECK_EQ(at_once.figure->choices[0].chosen, "8, 16");
    discard(&at_once);
}

TEST("lists the choices of the first of many launches") {
#define FAST LAUNCH("a", 1, 1) "," LAUNCH("a", 2, 1) ","
#define SLOW LAUNCH("a", 2, 1) "," LAUNCH("a", 1, 1) ","
    struct made_up all = compose(SEARCH, FAST FAST FAST FAST LAUNCH("a", 1, 1), SLOW SLOW SLOW SLOW LAUNCH("a", 1, 1),
                                 SLOW SLOW SLOW SLOW LAUNCH("a", 1, 1));
    CHECK_EQ(value(&all, 1), 9.0);
    CHECK_EQ(all.figure->choices[0].chosen, "8, 16, 8, 16, 8, 16, 8, 16, ... (9 launches)");
    discard(&all);
}
