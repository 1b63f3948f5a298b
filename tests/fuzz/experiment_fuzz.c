/* Reads arbitrary bytes as an experiment: it is rejected with a located message, or the result is consistent (every
 * index is within its table). Entry point for libFuzzer; tests/lab/corpus_test.c replays data/fuzz/experiment through
 * it. */
#include <stdlib.h>
#include <string.h>

#include "lab/experiment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) abort();
}

static void axis_holds(const struct lab_axis *axis) {
    for (unsigned i = 0; i < axis->count; i++)
        for (unsigned k = 0; k < axis->settings[i].count; k++)
            must(axis->values[i] && axis->settings[i].setting[k].key && axis->settings[i].setting[k].value);
}

static void experiment_holds(const struct experiment *experiment) {
    int designs = (int)experiment->design_count;
    must(experiment->workload_count && designs && experiment->metric_count && experiment->group_count);
    for (unsigned i = 0; i < experiment->workload_count; i++)
        must(experiment->workloads[i].group < experiment->group_count);
    for (int i = 0; i < designs; i++) {
        must(experiment->designs[i].uses < designs);
        axis_holds(&experiment->designs[i].best);
    }
    for (unsigned i = 0; i < experiment->axis_count; i++) axis_holds(&experiment->axes[i]);
    for (unsigned i = 0; i < experiment->metric_count; i++)
        must(experiment->metrics[i].value && experiment->metrics[i].baseline < designs);
    unsigned points = experiment_points(experiment);
    for (unsigned i = 0; i < points; i++) {
        char label[160];
        experiment_point_label(experiment, i, label, sizeof label);
        must(strlen(label) < sizeof label);
    }
    for (unsigned i = 0; i < experiment->paper_value_count; i++) {
        const struct lab_paper_value *value = &experiment->paper_values[i];
        must(value->metric < experiment->metric_count && (int)value->design < designs && value->point < (int)points);
        must(value->relation == LAB_PLAIN || experiment->metrics[value->metric].baseline >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error err = {0};
    struct experiment *experiment = experiment_read_text("fuzz.yaml", (const char *)data, size, &err);
    must(!experiment == err.set);
    if (experiment) experiment_holds(experiment);
    if (!experiment) must(strncmp(err.text, "fuzz.yaml:", 10) == 0);
    experiment_free(experiment);
    return 0;
}
