/* Experiment files: contents, defaults, and located errors. */
#include <stdlib.h>

#include "lab/experiment_form.h"
#include "lab/made_up.h"
#include "lab/plan.h"

TEST("reads groups, sizes, designs, sweep and metrics of an experiment") {
    struct experiment *experiment = read_made_up(
        TITLE WORKLOADS "question: why?\n"
                        "paper: adaptive\n"
                        "figure: Figure 2\n"
                        "gpu: corr15\n"
                        "size: tiny\n"
                        "draw: lines\n"
                        "max_insts: 1000\n"
                        "sample: 50\n"
                        "slurm: {partition: long, time: 1:00:00, memory_mb: 2000}\n"
                        "set: {l1.ways: 4}\n"
                        "designs:\n"
                        "  plain:\n"
                        "  searched:\n"
                        "    design: private\n"
                        "    set: {sm.op_int_add: [4, 1], noc.bypass: true}\n"
                        "    best: {l1.ways: [2, 4]}\n"
                        "    best_for: kernel\n"
                        "    help: a search\n"
                        "sweep: {noc.channel_bytes: [16, 32], SMs: {few: {sm.count: 8}, many: {sm.count: 15}}}\n"
                        "metrics:\n"
                        "  - {name: IPC, value: ipc, relative_to: plain, as: gain}\n"
                        "  - {name: miss rate, unit: '%', value: 100 * llc.read_misses, better: less, mean: none}\n");
    CHECK_EQ(experiment->name, "made-up");
    CHECK_EQ(experiment->question, "why?");
    CHECK_EQ(experiment->paper, "adaptive");
    CHECK_EQ(experiment->paper_title, "Adaptive Memory-Side Last-Level GPU Caching (ISCA 2019)");
    CHECK_EQ(experiment->gpu, "corr15");
    CHECK_EQ(experiment->kind, LAB_LINES);
    CHECK_EQ(experiment->max_insts, 1000u);
    CHECK_EQ(experiment->sample_cycles, 50u);
    CHECK_EQ(experiment->slurm_partition, "long");
    CHECK_EQ(experiment->slurm_memory_mb, 2000u);
    REQUIRE(experiment->group_count == 2 && experiment->workload_count == 3 && experiment->design_count == 2);
    CHECK_EQ(experiment->groups[1].name, "sharing");
    CHECK_EQ(experiment->workloads[0].program[0].size, "tiny");
    CHECK_EQ(experiment->workloads[2].program[0].name, "mm");
    CHECK_EQ(experiment->workloads[2].group, 1u);
    CHECK(!experiment->designs[0].base);
    const struct lab_design *searched = &experiment->designs[1];
    CHECK_EQ(searched->base, "private");
    CHECK_EQ(searched->help, "a search");
    REQUIRE(searched->settings.count == 2 && searched->best.count == 2);
    CHECK_EQ(searched->best_for, LAB_KERNEL);
    CHECK_EQ(experiment->designs[0].best_for, LAB_RUN);
    CHECK_EQ(searched->settings.setting[0].key, "sm.op_int_add");
    CHECK_EQ(searched->settings.setting[0].value, "[4, 1]");
    CHECK_EQ(searched->best.settings[1].setting[0].value, "4");
    REQUIRE(experiment->metric_count == 2);
    CHECK_EQ(experiment->metrics[0].relation, LAB_GAIN);
    CHECK_EQ(experiment->metrics[0].mean, LAB_MEAN_GEOMETRIC);
    CHECK_EQ(experiment->metrics[0].baseline, 0);
    CHECK(experiment->metrics[0].more_is_better && !experiment->metrics[1].more_is_better);
    CHECK_EQ(experiment->metrics[1].relation, LAB_PLAIN);
    CHECK_EQ(experiment->metrics[1].mean, LAB_MEAN_NONE);
    char label[64];
    CHECK_EQ(experiment_points(experiment), 4u);
    experiment_point_label(experiment, 2, label, sizeof label);
    CHECK_EQ(label, "32, few");
    experiment_free(experiment);
}

TEST("a list of workloads is one unnamed group, and designs can be a list of names") {
    struct experiment *experiment =
        read_made_up(TITLE "workloads: [mm, synth:alu, 'va:adaptive']\ndesigns: [default, private]\n"
                           "metrics: [{name: IPC, value: ipc}]\n");
    REQUIRE(experiment->group_count == 1 && experiment->workload_count == 3 && experiment->design_count == 2);
    CHECK_EQ(experiment->groups[0].name, "");
    CHECK_EQ(experiment->workloads[0].program[0].size, "small");
    CHECK(!experiment->workloads[1].program[0].size);
    CHECK_EQ(experiment->workloads[2].program[0].size, "adaptive");
    CHECK(!experiment->designs[0].base);
    CHECK_EQ(experiment->designs[1].base, "private");
    CHECK_EQ(experiment_points(experiment), 1u);
    experiment_free(experiment);
}

TEST("the name of an experiment includes its directory below experiments") {
    static const char text[] = TITLE WORKLOADS DESIGNS METRICS;
    static const char *const names[][2] = {{"/a/experiments/adaptive/fig2.yaml", "adaptive/fig2"},
                                           {"experiments/adaptive/fig2.yaml", "adaptive/fig2"},
                                           {"my-experiments/adaptive/fig2.yaml", "fig2"},
                                           {"./fig2.yaml", "fig2"}};
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        struct error err = {0};
        struct experiment *experiment = experiment_read_text(names[i][0], text, strlen(text), &err);
        REQUIRE(experiment);
        CHECK_EQ(experiment->name, names[i][1]);
        experiment_free(experiment);
    }
}

TEST("a published value refers to its cell") {
    struct experiment *experiment = read_made_up(
        TITLE WORKLOADS DESIGNS METRICS "sweep: {noc.channel_bytes: [16, 32]}\n"
                                        "paper_values:\n"
                                        "  - {id: adaptive-001, as: gain, group: sharing, design: private, at: 32}\n"
                                        "  - {id: adaptive-002, workload: bs, design: private, statistic: maximum}\n");
    REQUIRE(experiment->paper_value_count == 2);
    const struct lab_paper_value *first = &experiment->paper_values[0], *second = &experiment->paper_values[1];
    CHECK_EQ(first->relation, LAB_GAIN);
    CHECK_EQ(first->group, 1);
    CHECK_EQ(first->workload, -1);
    CHECK_EQ(first->design, 1u);
    CHECK_EQ(first->point, 1);
    CHECK_EQ(second->relation, LAB_RATIO);
    CHECK_EQ(second->workload, 1);
    CHECK_EQ(second->statistic, LAB_STATISTIC_MAXIMUM);
    experiment_free(experiment);
}

TEST("rejects invalid experiments with location and fix") {
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", "made-up.yaml:1:1: the file is empty"},
        {TITLE WORKLOADS DESIGNS, "1:1: an experiment requires metrics"},
        {"titel: x\n", "1:1: unknown key 'titel' of an experiment; did you mean 'title'?"},
        {TITLE "workloads: [gem]\n" DESIGNS METRICS, "2:13: there is no workload `gem`; did you mean `gemm`?"},
        {TITLE "workloads: [mm:huge]\n" DESIGNS METRICS, "2:13: mm has no size `huge`"},
        {TITLE "workloads: [synth:no]\n" DESIGNS METRICS, "2:13: there is no workload `synth:no`"},
        {TITLE "workloads: [mm, 'mm:small']\n" DESIGNS METRICS, "2:17: duplicate workload mm;"},
        {TITLE "workloads: [mm, {workload: va, name: mm}]\n" DESIGNS METRICS, "2:28: duplicate workload mm;"},
        {TITLE "workloads: [{name: mm_0}]\n" DESIGNS METRICS, "2:13: missing key workload"},
        {TITLE "workloads: [{workload: mm, sett: {}}]\n" DESIGNS METRICS,
         "2:28: unknown key 'sett' of a workload; did you mean 'set'?"},
        {TITLE "workloads: [va + mn]\n" DESIGNS METRICS, "2:13: there is no workload `mn`"},
        {TITLE "workloads: [va + mm + bs]\n" DESIGNS METRICS, "2:13: va + mm + bs: at most 2 programs"},
        {TITLE "workloads: [va + mm, 'va:small + mm']\n" DESIGNS METRICS, "2:22: duplicate workload va + mm;"},
        {TITLE WORKLOADS DESIGNS METRICS "alone: shred\n", "5:8: no design called 'shred'; did you mean 'shared'?"},
        {TITLE "gpu: adaptive-80sn\n" WORKLOADS DESIGNS METRICS,
         "2:6: there is no GPU `adaptive-80sn`; did you mean `adaptive-80sm`?"},
        {TITLE WORKLOADS METRICS "designs: {a: {design: privat}}\n",
         "4:23: there is no design `privat`; did you mean `private`?"},
        {TITLE WORKLOADS METRICS "designs: {a: {desing: private}}\n",
         "4:15: unknown key 'desing' of a design; did you mean 'design'?"},
        {TITLE WORKLOADS METRICS "designs: {a: {set: {l1.ways: {x: 1}}}}\n", "4:30: expected a parameter value"},
        {TITLE WORKLOADS METRICS "designs: {a: {set: {l1.ways: 1, l1.ways: 2}}}\n", "4:33: 'l1.ways' is given twice"},
        {TITLE WORKLOADS METRICS "designs: {a: {}, a: {}}\n", "4:18: duplicate design 'a'"},
        {TITLE WORKLOADS METRICS "designs: {a: {best: {l1.ways: [1], l1.sets: [1]}}}\n", "4:21: best takes one"},
        {TITLE WORKLOADS DESIGNS METRICS "sweep: {gpu: [adaptive-80sm, nosuch]}\n", "5:9: "},
        {TITLE WORKLOADS METRICS "designs: {a: {best: {l1.ways: []}}}\n", "'l1.ways' has no values"},
        {TITLE WORKLOADS METRICS "designs: {a: {best: {l1.ways: [2, 4]}, best_for: kernels}}\n",
         "4:50: no span called 'kernels'; did you mean 'kernel'?"},
        {TITLE WORKLOADS METRICS "designs: {a: {best: {l1.ways: [2, 4]}, best_for: day}}\n",
         "4:50: no span called 'day'; known: run, kernel"},
        {TITLE WORKLOADS METRICS "designs: {a: {best_for: kernel}}\n", "4:25: best_for requires best"},
        {TITLE "workloads: [mm, bs + va]\n" METRICS "designs: {a: {best: {l1.ways: [2, 4]}, best_for: kernel}}\n",
         "4:50: best_for: kernel does not apply to bs + va"},
        {TITLE WORKLOADS METRICS "designs: {a: {uses: {design: other, writes: x, reads: y}}}\n",
         "4:30: no design called 'other'; known: a"},
        {TITLE WORKLOADS METRICS "designs: {a: {uses: {design: b}}}\n", "uses requires design, writes and reads"},
        {TITLE WORKLOADS DESIGNS "metrics: [{name: IPC}]\n", "4:11: a metric requires name and value"},
        {TITLE WORKLOADS DESIGNS "metrics: [{name: IPC, value: ipc +}]\n", "4:35: expected a counter, a number or '('"},
        {TITLE WORKLOADS DESIGNS "metrics: [{name: IPC, value: ipc, relative_to: shred}]\n",
         "4:48: no design called 'shred'; did you mean 'shared'?"},
        {TITLE WORKLOADS DESIGNS "metrics: [{name: IPC, value: ipc, as: gain}]\n",
         "4:11: 'as: gain' requires relative_to"},
        {TITLE WORKLOADS DESIGNS "metrics: [{name: IPC, value: ipc, mean: middle}]\n",
         "4:41: mean: no mean called 'middle'"},
        {TITLE WORKLOADS DESIGNS METRICS "draw: lines\n", "draw: lines requires a sweep"},
        {TITLE WORKLOADS DESIGNS METRICS "seeds: 1\n", "5:8: expected a number of seeds from 2 to 32"},
        {TITLE WORKLOADS DESIGNS METRICS "seeds: 3x\n", "5:8: expected a number of seeds"},
        {TITLE WORKLOADS DESIGNS METRICS "seeds: [1, 2]\n", "5:8: expected a number of seeds"},
        {TITLE WORKLOADS DESIGNS METRICS "seeds: {one: {}}\n", "5:8: seeds requires at least two"},
        {TITLE WORKLOADS DESIGNS METRICS "draw: series\n", "draw: series requires sample"},
        {TITLE WORKLOADS DESIGNS METRICS "sweep: {gpu: [corr15, corr16]}\n", "there is no GPU `corr16`"},
        {TITLE WORKLOADS DESIGNS METRICS "sweep: {l1.ways: [1, 1]}\n", "5:22: duplicate value '1'"},
        {TITLE WORKLOADS DESIGNS METRICS "paper: adaptiv\n",
         "5:8: no paper called 'adaptiv'; did you mean 'adaptive'?"},
        {TITLE WORKLOADS DESIGNS METRICS "paper_values: [{id: adaptive-999, design: shared}]\n",
         "5:21: no published value has the id 'adaptive-999'"},
        {TITLE WORKLOADS DESIGNS METRICS "paper: icc\npaper_values: [{id: adaptive-001, design: shared}]\n",
         "6:21: adaptive-001 is a value of paper 'adaptive', but the experiment is of paper 'icc'"},
        {TITLE WORKLOADS DESIGNS METRICS "paper_values: [{id: adaptive-001, design: shared, group: sharin}]\n",
         "no group of workloads called 'sharin'; did you mean 'sharing'?"},
        {TITLE WORKLOADS DESIGNS METRICS "paper_values: [{id: adaptive-001, design: shared, metric: CPI}]\n",
         "no metric called 'CPI'; did you mean 'IPC'?"},
        {TITLE WORKLOADS DESIGNS METRICS "paper_values: [{id: adaptive-001}]\n",
         "5:16: a published value requires id and design"},
        {TITLE WORKLOADS DESIGNS METRICS "---\n", "a second document starts here"},
    };
    for (unsigned i = 0; i < COUNT_OF(wrong); i++) {
        struct error err = {0};
        CHECK(!experiment_read_text("made-up.yaml", wrong[i].text, strlen(wrong[i].text), &err));
        CHECK_TEXT(err.text, wrong[i].message);
    }
}

/* Writes the keys of an experiment file as Markdown tables. */
static void write_tables(FILE *out) {
    for (unsigned i = 0; i < EXPERIMENT_TABLES; i++) {
        const struct yaml_form *form = experiment_tables[i].form;
        fprintf(out, "%s### %s\n\n| key | meaning |\n|---|---|\n", i ? "\n" : "", experiment_tables[i].title);
        for (unsigned k = 0; k < form->count; k++)
            fprintf(out, "| `%s` | %s |\n", form->keys[k].param.name, form->keys[k].param.help);
    }
}

TEST("the documentation has the tables of all keys") {
    char *tables = NULL, *page = mem_alloc(1 << 16, 1);
    size_t length;
    FILE *out = open_memstream(&tables, &length), *in = fopen(SLUICE_SOURCE_DIR "/docs/experiments.md", "r");
    write_tables(out);
    fclose(out);
    REQUIRE(in);
    page[fread(page, 1, (1 << 16) - 1, in)] = '\0';
    fclose(in);
    CHECK(length > 1000);
    if (!CHECK(strstr(page, tables) != NULL)) fprintf(stderr, "docs/experiments.md should have:\n%s", tables);
    free(tables);
    free(page);
}

TEST("the experiment in the documentation is valid") {
    char *page = mem_alloc(1 << 16, 1);
    FILE *in = fopen(SLUICE_SOURCE_DIR "/docs/experiments.md", "r");
    REQUIRE(in);
    page[fread(page, 1, (1 << 16) - 1, in)] = '\0';
    fclose(in);
    char *start = strstr(page, "```yaml\n"), *end = start ? strstr(start, "\n```\n") : NULL;
    REQUIRE(end);
    start += strlen("```yaml\n");
    end[1] = '\0';
    struct experiment *experiment = read_made_up(start);
    struct error err = {0};
    struct plan *plan = plan_create(experiment, NULL, &err);
    if (!plan) fprintf(stderr, "%s\n", err.text);
    REQUIRE(plan);
    CHECK_EQ(plan->count, 40u);
    plan_free(plan);
    experiment_free(experiment);
    free(page);
}
