/* Figures of a store filled by hand: relations, means, searches, missing runs, and findings. */
#include "base/no_memory.h"
#include "lab/filled_store.h"

/* Relative to a shared LLC with IPC 1: va 2, bs 8, mm 0.5. */
static double plain(const struct planned_run *run) {
    static const double gain[] = {2, 8, 0.5};
    return run->design == 0 ? 3 : 3 * gain[run->workload];
}

TEST("a ratio is relative to the baseline, and its means are geometric") {
    struct made_up all = make(TITLE WORKLOADS DESIGNS METRICS, plain);
    const struct figure_sheet *sheet = all.figure->sheets;
    CHECK_EQ(all.figure->missing, 0u);
    CHECK_EQ(sheet->metric, "IPC");
    CHECK_EQ(sheet->unit, "");
    CHECK_EQ(sheet->row_count, 6u);
    CHECK_EQ(sheet->column_count, 2u);
    CHECK_EQ(cell(sheet, "va", "shared"), 1.0);
    CHECK_EQ(cell(sheet, "va", "private"), 2.0);
    CHECK_EQ(cell(sheet, "bs:tiny", "private"), 8.0);
    CHECK_NEAR(cell(sheet, "copying", "private"), 4.0, 1e-12);
    CHECK_NEAR(cell(sheet, "sharing", "private"), 0.5, 1e-12);
    CHECK_NEAR(cell(sheet, "all", "private"), 2.0, 1e-12);
    CHECK(!sheet->row_is_mean[2] && sheet->row_is_mean[3] && sheet->row_is_mean[5]);
    CHECK_TEXT(all.figure->configuration, "llc:");
    discard(&all);
}

TEST("the mean gain is the gain of the mean ratio, the mean difference is arithmetic, a rate needs no baseline") {
    struct made_up all =
        make(TITLE WORKLOADS DESIGNS
             "metrics:\n"
             "  - {name: gain, value: ipc, relative_to: shared, as: gain}\n"
             "  - {name: less, value: ipc, relative_to: shared, as: reduction}\n"
             "  - {name: more, unit: per cycle, value: ipc, relative_to: shared, as: difference}\n"
             "  - {name: hits, unit: '%', value: 100 * llc.read_hits / (llc.read_hits + llc.read_misses)}\n"
             "  - {name: none, value: ipc / l1.read_hits}\n"
             "  - {name: slowest, value: ipc, mean: harmonic}\n",
             plain);
    const struct figure_sheet *sheets = all.figure->sheets;
    CHECK_NEAR(cell(&sheets[0], "va", "private"), 100.0, 1e-12);
    CHECK_NEAR(cell(&sheets[0], "copying", "private"), 300.0, 1e-12);
    CHECK_EQ(sheets[0].unit, "%");
    CHECK_NEAR(cell(&sheets[1], "mm", "private"), 50.0, 1e-12);
    CHECK_NEAR(cell(&sheets[2], "copying", "private"), (3.0 + 21.0) / 2, 1e-12);
    CHECK_EQ(sheets[2].unit, "per cycle");
    CHECK_NEAR(cell(&sheets[3], "all", "private"), 100 * 2.0 / 3, 1e-12);
    CHECK(isnan(cell(&sheets[4], "all", "private")));
    CHECK_NEAR(cell(&sheets[5], "copying", "private"), 2 / (1 / 6.0 + 1 / 24.0), 1e-12);
    discard(&all);
}

static double without_one(const struct planned_run *run) {
    return run->workload == 1 && run->design == 1 ? NAN : plain(run);
}

TEST("a missing run makes its cell and the means over it missing, and no other value") {
    struct made_up all = make(TITLE WORKLOADS DESIGNS METRICS, without_one);
    const struct figure_sheet *sheet = all.figure->sheets;
    CHECK_EQ(all.figure->missing, 1u);
    CHECK(isnan(cell(sheet, "bs:tiny", "private")));
    CHECK(isnan(cell(sheet, "copying", "private")));
    CHECK(isnan(cell(sheet, "all", "private")));
    CHECK_EQ(cell(sheet, "bs:tiny", "shared"), 1.0);
    CHECK_EQ(cell(sheet, "va", "private"), 2.0);
    CHECK_NEAR(cell(sheet, "sharing", "private"), 0.5, 1e-12);
    CHECK_TEXT(all.figure->finding, "50.0 % worse on sharing");
    CHECK_TEXT(all.figure->finding, "1 run is missing.");
    CHECK(!strstr(all.figure->finding, "copying"));
    discard(&all);
}

static double searched(const struct planned_run *run) {
    static const double by_candidate[3][3] = {{2, 5, 3}, {9, 8, 7}, {1, 1, 4}};
    return run->design == 0 ? 1 : by_candidate[run->workload][run->candidate];
}

TEST("a search shows the best candidate of each workload") {
    struct made_up all = make(TITLE WORKLOADS "designs:\n"
                                              "  shared: {design: shared}\n"
                                              "  best: {best: {noc.channel_bytes: [8, 16, 64]}}\n"
                                              "metrics:\n"
                                              "  - {name: IPC, value: ipc}\n"
                                              "  - {name: hits, value: llc.read_hits}\n",
                              searched);
    CHECK_EQ(cell(&all.figure->sheets[0], "va", "best"), 5.0);
    CHECK_EQ(cell(&all.figure->sheets[0], "bs:tiny", "best"), 9.0);
    CHECK_EQ(cell(&all.figure->sheets[0], "mm", "best"), 4.0);
    CHECK_EQ(cell(&all.figure->sheets[1], "va", "best"), 50.0);
    REQUIRE(all.figure->choice_count == 3);
    const struct figure_choice *choice = &all.figure->choices[1];
    CHECK_EQ(choice->workload, "bs:tiny");
    CHECK_EQ(choice->column, "best");
    CHECK_EQ(choice->parameter, "noc.channel_bytes");
    CHECK_EQ(choice->chosen, "8");
    CHECK_EQ(all.figure->choices[2].chosen, "64");
    discard(&all);
}

static double by_width(const struct planned_run *run) {
    return run->design == 0 ? 2 : 2 * (run->point == 0 ? 1.5 : 1.2);
}

TEST("lines have one row per point, bars one column per design and point") {
#define WIDTHS "sweep: {noc.channel_bytes: [16, 64]}\n"
    struct made_up lines = make(TITLE WORKLOADS DESIGNS METRICS WIDTHS "draw: lines\n", by_width);
    CHECK_EQ(lines.figure->sheets->row_count, 2u);
    CHECK_EQ(lines.figure->sheets->column_count, 2u * (3 + 2 + 1)); /* workloads, groups, mean */
    CHECK_NEAR(cell(lines.figure->sheets, "16", "private, va"), 1.5, 1e-12);
    CHECK_NEAR(cell(lines.figure->sheets, "16", "private, mean"), 1.5, 1e-12);
    CHECK(!lines.figure->sheets->column_is_mean[0]);
    CHECK(lines.figure->sheets->column_is_mean[5]);
    CHECK_EQ(lines.figure->sheets->label, "IPC, normalised to shared");
    CHECK_NEAR(cell(lines.figure->sheets, "16", "private, sharing"), 1.5, 1e-12);
    CHECK_NEAR(cell(lines.figure->sheets, "64", "private, copying"), 1.2, 1e-12);
    CHECK_TEXT(lines.figure->finding, "best at 16 (50.0 % better), worst at 64 (20.0 % better)");
    discard(&lines);
    struct made_up bars = make(TITLE WORKLOADS DESIGNS METRICS WIDTHS, by_width);
    CHECK_EQ(bars.figure->sheets->column_count, 4u);
    CHECK_NEAR(cell(bars.figure->sheets, "va", "private, 64"), 1.2, 1e-12);
    discard(&bars);
}

TEST("a published value is converted to the relation of the sheet") {
    struct made_up all =
        make(TITLE WORKLOADS DESIGNS METRICS "paper_values:\n"
                                             "  - {id: adaptive-001, as: gain, group: copying, design: private}\n"
                                             "  - {id: adaptive-002, as: gain, design: private, statistic: maximum}\n"
                                             "  - {id: adaptive-005, as: reduction, workload: mm, design: private}\n"
                                             "  - {id: adaptive-031, design: private}\n",
             plain);
    REQUIRE(all.figure->paper_count == 4);
    const struct figure_paper *papers = all.figure->papers;
    CHECK_EQ(papers[0].paper, 28.1);
    CHECK_EQ(papers[0].said, "28.1");
    CHECK_NEAR(papers[0].ours, 300.0, 1e-12);
    CHECK_EQ(papers[0].neutral, 0.0);
    CHECK_EQ(papers[0].sheet, 0);
    CHECK_EQ(papers[0].row, 3);
    CHECK_EQ(papers[0].column, 1);
    CHECK_NEAR(papers[0].mark, 1.281, 1e-12);
    CHECK_NEAR(papers[1].ours, 700.0, 1e-12);
    CHECK_EQ(papers[1].row, -1);
    CHECK_NEAR(papers[2].ours, 50.0, 1e-12);
    CHECK_EQ(papers[2].row, 2);
    CHECK_NEAR(papers[2].mark, 1 - 0.181, 1e-12);
    CHECK(isnan(papers[3].paper) && isnan(papers[3].mark));
    CHECK_EQ(papers[3].said, ">60");
    CHECK_EQ(papers[3].row, 5);
    CHECK_TEXT(all.figure->finding, "private vs. shared, IPC: 300.0 % better on copying, 50.0 % worse on sharing; "
                                    "best on bs (700.0 % better), worst on mm (50.0 % worse).");
    CHECK_TEXT(all.figure->finding, "28.1 % for adaptive LLC");
    CHECK_TEXT(all.figure->finding, "simulated with private: 300.0.");
    discard(&all);
}

TEST("a published ratio is marked in a sheet of reductions") {
    struct made_up all = make(TITLE WORKLOADS DESIGNS
                              "metrics: [{name: IPC, value: ipc, relative_to: shared, as: reduction}]\n"
                              "paper_values:\n  - {id: adaptive-001, as: gain, group: copying, design: private}\n",
                              plain);
    CHECK_NEAR(all.figure->papers[0].mark, -28.1, 1e-12);
    discard(&all);
}

TEST("the direction of the metric decides between better and worse") {
    struct made_up all =
        make(TITLE "workloads: {copying: [va, bs], sharing: [mm]}\n" DESIGNS
                   "metrics: [{name: misses, value: llc.read_misses, relative_to: shared, better: less}]\n",
             plain);
    CHECK_TEXT(all.figure->finding, "300.0 % worse on copying, 50.0 % better on sharing; best on mm");
    discard(&all);
}

TEST("a heat map has every unit of every design") {
    struct made_up all =
        make(TITLE WORKLOADS DESIGNS "draw: heat\nmetrics: [{name: hits, value: llc.read_hits}]\n", without_one);
    REQUIRE(all.figure->matrix_count == 3);
    const struct figure_matrix *matrix = &all.figure->matrices[1];
    CHECK_EQ(matrix->title, "hits, bs:tiny");
    CHECK_EQ(matrix->rows, 2u);
    CHECK_EQ(matrix->columns, 2u);
    CHECK_EQ(matrix->value[0], 12.0);
    CHECK_EQ(matrix->value[1], 18.0);
    CHECK(isnan(matrix->value[2]) && isnan(matrix->value[3]));
    CHECK_EQ(all.figure->matrices[0].value[3], 36.0);
    discard(&all);
}

TEST("a heat map of several metrics and one design has one row per metric") {
    struct made_up all =
        make(TITLE WORKLOADS "designs: [shared]\ndraw: heat\n"
                             "metrics: [{name: hits, value: llc.read_hits}, {name: twice, value: 2 * llc.read_hits}]\n",
             without_one);
    REQUIRE(all.figure->matrix_count == 3);
    const struct figure_matrix *matrix = &all.figure->matrices[1];
    CHECK_EQ(matrix->title, "bs:tiny");
    CHECK_EQ(matrix->rows, 2u);
    CHECK_EQ(matrix->row_labels[1], "twice");
    REQUIRE(matrix->columns == 2);
    CHECK_EQ(matrix->value[0], 12.0);
    CHECK_EQ(matrix->value[2], 24.0);
    CHECK_EQ(matrix->value[3], 36.0);
    discard(&all);
}

TEST("a heat map over time has one row per unit and one column per sample") {
    struct made_up all =
        make(TITLE WORKLOADS DESIGNS "draw: heat\nsample: 80\nmetrics: [{name: rate, value: llc.read_hits / cycles}]\n",
             without_one);
    CHECK_EQ(all.plan->runs[0].sample_units, "llc.read_hits");
    REQUIRE(all.figure->matrix_count > 0);
    const struct figure_matrix *map = &all.figure->matrices[0];
    CHECK_EQ(map->title, "rate, va, shared");
    CHECK_EQ(map->rows, 2u);
    REQUIRE(map->columns == 2);
    CHECK_EQ(map->row_labels[1], "1");
    CHECK_EQ(map->column_labels[0], "80");
    CHECK_EQ(map->column_labels[1], "100");
    double ipc = without_one(&all.plan->runs[0]);
    CHECK_NEAR(map->value[0], 4 * ipc / 80, 1e-9);
    CHECK_EQ(map->value[1], 0.0);
    CHECK_NEAR(map->value[2], 4 * ipc / 80, 1e-9);
    CHECK_NEAR(map->value[3], 2 * ipc / 20, 1e-9);
    discard(&all);
}

TEST("a series has one value per sample, with rates per cycle of the sample") {
    struct made_up all =
        make(TITLE WORKLOADS DESIGNS "draw: series\nsample: 80\n"
                                     "metrics: [{name: IPC, value: ipc}, {name: length, value: cycles}]\n",
             plain);
    REQUIRE(all.figure->line_count == 12);
    const struct figure_line *line = &all.figure->lines[1];
    CHECK_EQ(line->title, "IPC, va");
    CHECK_EQ(line->series, "private");
    REQUIRE(line->count == 2);
    CHECK_EQ(line->x[0], 80.0);
    CHECK_EQ(line->x[1], 100.0);
    CHECK_NEAR(line->y[0], 6.0, 1e-12);
    CHECK_NEAR(line->y[1], 12.0, 1e-12);
    CHECK_EQ(all.figure->lines[6].y[1], 20.0);
    discard(&all);
}

TEST("the parts of a stack have the same rows, and the finding names the largest") {
    struct made_up all = make(TITLE WORKLOADS DESIGNS "draw: stack\n"
                                                      "metrics:\n"
                                                      "  - {name: hits, value: llc.read_hits, mean: none}\n"
                                                      "  - {name: misses, value: llc.read_misses}\n",
                              plain);
    CHECK_EQ(all.figure->sheets[0].row_count, 6u);
    CHECK_EQ(all.figure->sheets[1].row_count, 6u);
    CHECK_TEXT(all.figure->finding, "shared: hits is the largest part (67 %).");
    discard(&all);
}

static double nothing(const struct planned_run *run) {
    (void)run;
    return NAN;
}

/* IPC 3 concurrently, hence 12 and 18 hits; IPC 2 and 4 alone. */
static double beside(const struct planned_run *run) {
    return strchr(run->job, '+') ? 3 : strncmp(run->job, "va", 2) == 0 ? 2 : 4;
}
static double first_alone_missing(const struct planned_run *run) {
    return strncmp(run->job, "va:small", 9) == 0 ? NAN : beside(run);
}

TEST("concurrent programs are related to their runs alone, and missing without them") {
    static const char text[] =
        TITLE "workloads: [va + bs]\n" DESIGNS "metrics: [{name: STP, value: total(llc.read_hits / alone.ipc)},"
              " {name: both, value: alone.ipc}]\n";
    struct made_up all = make(text, beside);
    CHECK_EQ(all.figure->missing, 0u);
    CHECK_EQ(cell(&all.figure->sheets[0], "va + bs", "private"), 12.0 / 2 + 18.0 / 4);
    CHECK_EQ(cell(&all.figure->sheets[1], "va + bs", "private"), 6.0);
    discard(&all);
    all = make(text, first_alone_missing);
    CHECK_EQ(all.figure->missing, 1u);
    CHECK(isnan(cell(&all.figure->sheets[0], "va + bs", "private")));
    discard(&all);
}

/* As plain(), and 10 and 40 % more with the second and third seed, with a shared LLC 20 % more with the third. */
static double with_seeds(const struct planned_run *run) {
    static const double luck[2][3] = {{1, 1.1, 1.2}, {1, 1.1, 1.4}};
    return plain(run) * luck[run->design > 0][run->seed];
}

TEST("a value is the mean over its seeds, each related to the baseline of the same seed, with the range") {
    struct made_up all = make(TITLE WORKLOADS DESIGNS METRICS "seeds: 3\n", with_seeds);
    const struct figure_sheet *sheet = all.figure->sheets;
    CHECK_EQ(sheet->row_count, 6u);
    CHECK_EQ(sheet->column_count, 2u);
    CHECK_NEAR(cell(sheet, "va", "private"), (2 + 2 + 2 * 1.4 / 1.2) / 3, 1e-12);
    CHECK_NEAR(cell(sheet, "copying", "private"), (4 + 4 + 4 * 1.4 / 1.2) / 3, 1e-12);
    REQUIRE(sheet->low && sheet->high);
    CHECK_NEAR(sheet->low[1], 2, 1e-12); /* va, private */
    CHECK_NEAR(sheet->high[1], 2 * 1.4 / 1.2, 1e-12);
    CHECK_EQ(sheet->high[0], 1.0);
    discard(&all);
}

static double without_a_seed(const struct planned_run *run) {
    return run->seed == 2 && run->workload == 0 && run->design == 1 ? NAN : with_seeds(run);
}

TEST("a missing run of one seed makes the value missing") {
    struct made_up all = make(TITLE WORKLOADS DESIGNS METRICS "seeds: 3\n", without_a_seed);
    CHECK(isnan(cell(all.figure->sheets, "va", "private")));
    CHECK(!isnan(cell(all.figure->sheets, "mm", "private")));
    CHECK_EQ(all.figure->missing, 1u);
    discard(&all);
}

TEST("everything is missing in an empty store") {
    struct made_up all =
        make(TITLE WORKLOADS DESIGNS METRICS "paper_values: [{id: adaptive-001, design: private}]\n", nothing);
    CHECK_EQ(all.figure->missing, 6u);
    CHECK(isnan(cell(all.figure->sheets, "all", "private")));
    CHECK(isnan(all.figure->papers[0].ours));
    CHECK_TEXT(all.figure->finding, "the simulated value is missing. 6 runs are missing.");
    discard(&all);
}

TEST("a figure without memory for its finding is an error") {
    struct made_up all = make(TITLE WORKLOADS DESIGNS METRICS, nothing);
    struct error err = {0};
    no_memory_for_files = true;
    CHECK(!figure_make(all.plan, all.store, &err));
    CHECK_TEXT(err.text, "Cannot allocate memory");
    discard(&all);
}
