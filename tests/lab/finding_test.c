/* Findings: the sentences that a figure has in words, with numbers computed by hand. */
#include "lab/batch.h"
#include "lab/filled_store.h"

/* IPC by design and workload; the first design is the baseline. */
static double table[8][3];

static double by_table(const struct planned_run *run) { return table[run->design][run->workload]; }

static void fill(unsigned design, double first, double second, double third) {
    table[design][0] = first, table[design][1] = second, table[design][2] = third;
}

#define THREE "workloads: [va, bs:tiny, mm]\n"

TEST("a difference below one per cent is none, and the extremes of a design are told with their workloads") {
    fill(0, 1, 1, 1);
    fill(1, 1.1, 0.8, 1.004);
    struct made_up all = make(TITLE THREE DESIGNS METRICS, by_table);
    /* The geometric mean of the three is 0.9595. */
    CHECK_TEXT(all.figure->finding, "private vs. shared, IPC: 4.0 % worse; best on va (10.0 % better), worst on bs "
                                    "(20.0 % worse).");
    discard(&all);
    fill(1, 1.009, 1.009, 0.991);
    all = make(TITLE THREE DESIGNS METRICS, by_table);
    CHECK_TEXT(all.figure->finding, "private vs. shared, IPC: no difference; best on va (no difference)");
    discard(&all);
    fill(1, 1.02, 1.02, 1.02);
    all = make(TITLE THREE DESIGNS METRICS, by_table);
    CHECK_EQ(all.figure->finding, "private vs. shared, IPC: 2.0 % better.");
    discard(&all);
}

TEST("if less is better, a smaller value is better, and the best workload is the one with the least") {
    fill(0, 1, 1, 1);
    fill(1, 0.5, 1, 2);
    struct made_up all =
        make(TITLE THREE DESIGNS "metrics: [{name: hits, value: llc.read_hits, relative_to: shared, better: less}]\n",
             by_table);
    CHECK_TEXT(all.figure->finding, "hits: no difference; best on va (50.0 % better), worst on mm (100.0 % worse).");
    discard(&all);
}

TEST("a difference is told in the unit of its metric") {
    fill(0, 1, 1, 1);
    fill(1, 1.5, 2, 2.5);
    struct made_up all =
        make(TITLE THREE DESIGNS "metrics: [{name: hits, value: llc.read_hits, relative_to: shared, as: "
                                 "difference, unit: hits}]\n",
             by_table);
    CHECK_TEXT(all.figure->finding,
               "hits: 10.0 hits better; best on mm (15.0 hits better), worst on va (5.0 hits better).");
    discard(&all);
}

#define FIVE \
    "designs: {shared: {design: shared}, a: {design: private}, b: {design: lrr}, c: {design: bcs}, d: {design: dcs}"

TEST("of more than four designs only the best and the worst are told") {
    fill(0, 1, 1, 1);
    for (unsigned i = 1; i < 6; i++) fill(i, 1, 1, 1 + 0.1 * (i == 3 ? 7.0 : i == 2 ? -5.0 : i));
    struct made_up all = make(TITLE "workloads: [va, bs:tiny, mm]\n" FIVE "}\n" METRICS, by_table);
    for (const char *name = "abcd"; *name; name++) {
        char *part = text_format("%c vs. shared", *name);
        CHECK_TEXT(all.figure->finding, part);
        free(part);
    }
    discard(&all);
    all = make(TITLE "workloads: [va, bs:tiny, mm]\n" FIVE ", e: {design: two-level}}\n" METRICS, by_table);
    CHECK_TEXT(all.figure->finding, "c vs. shared, IPC");
    CHECK_TEXT(all.figure->finding, "b vs. shared, IPC");
    CHECK(!strstr(all.figure->finding, "a vs.") && !strstr(all.figure->finding, "d vs.") &&
          !strstr(all.figure->finding, "e vs."));
    discard(&all);
}

TEST("without a baseline, the highest and the lowest design are told by group") {
    fill(0, 1, 3, 5);
    fill(1, 2, 2, 1);
    struct made_up all = make(TITLE WORKLOADS DESIGNS "metrics: [{name: IPC, value: ipc, unit: i/c}]\n", by_table);
    /* copying: va and bs:tiny; sharing: mm */
    CHECK_TEXT(all.figure->finding, "IPC on copying: 2 i/c with all designs. ");
    CHECK_TEXT(all.figure->finding, "IPC on sharing: highest with shared (5 i/c), lowest with private (1 i/c).");
    discard(&all);
    table[1][2] = NAN;
    all = make(TITLE WORKLOADS DESIGNS "metrics: [{name: IPC, value: ipc}]\n", by_table);
    CHECK_TEXT(all.figure->finding, "IPC on sharing: 5. ");
    CHECK_TEXT(all.figure->finding, "1 run is missing.");
    discard(&all);
}

TEST("what could not be created can be released") {
    struct error err = {0};
    struct experiment *nothing = experiment_read_text("empty.yaml", "", 0, &err),
                      *experiment = read_made_up(TITLE WORKLOADS DESIGNS METRICS);
    struct plan *plan = plan_create(experiment, "enormous", &err);
    struct store *store = store_open("/nowhere/at.all", STORE_READ, &err);
    CHECK(!nothing && !plan && !store);
    experiment_free(nothing);
    plan_free(plan);
    store_close(store);
    figure_free(NULL);
    stored_run_free(NULL);
    batch_free(NULL);
    experiment_free(experiment);
}
