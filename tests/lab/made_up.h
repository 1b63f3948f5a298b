/* Small experiments for tests. */
#ifndef SLUICE_TESTS_LAB_MADE_UP_H
#define SLUICE_TESTS_LAB_MADE_UP_H

#include <string.h>

#include "base/base.h"
#include "lab/experiment.h"
#include "test.h"

/* The required parts of an experiment, for tests of other parts. */
#define TITLE     "title: made up\n"
#define WORKLOADS "workloads: {copying: [va, bs:tiny], sharing: [mm]}\n"
#define DESIGNS   "designs: {shared: {design: shared}, private: {design: private}}\n"
#define METRICS   "metrics: [{name: IPC, value: ipc, relative_to: shared}]\n"

static inline struct experiment *read_made_up(const char *text) {
    struct error err = {0};
    struct experiment *experiment = experiment_read_text("made-up.yaml", text, strlen(text), &err);
    if (!experiment) fprintf(stderr, "%s\n", err.text);
    REQUIRE(experiment);
    return experiment;
}

#endif
