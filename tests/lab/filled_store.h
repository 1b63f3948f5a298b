/* Figures of a store filled by hand. */
#ifndef SLUICE_TESTS_LAB_FILLED_STORE_H
#define SLUICE_TESTS_LAB_FILLED_STORE_H

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "lab/figure.h"
#include "lab/made_up.h"

/* An experiment, its plan, and a store with the IPC of each run; NaN: the run is missing. */
struct made_up {
    struct experiment *experiment;
    struct plan *plan;
    char *path;
    struct store *store;
    struct figure *figure;
};

/* A run with this IPC and 10 hits and 5 misses per unit of it, over two units and two samples of unequal length. */
static inline char *json_of(double ipc, const char *kernels) {
    return text_format(
        "{\"sluice\": \"0\", \"gpu\": \"g\", \"design\": \"d\", \"workload\": \"w\", \"check\": \"none\","
        " \"interrupted\": false, \"cycles\": 100, \"thread_instructions\": %g, \"warp_instructions\": 4, \"ipc\": %g,"
        " \"stats\": {\"llc.read_hits\": %g, \"llc.read_misses\": %g, \"l1.read_hits\": 0}, \"units\":"
        " {\"llc.read_hits\": [%g, %g]}, \"samples\": {\"every\": 80, \"columns\": [\"cycle\", \"sm.cycles\","
        " \"sm.thread_instructions\", \"llc.read_hits\"], \"rows\": [[80, 80, %g, %g], [100, 20, %g, %g]], \"units\":"
        " {\"llc.read_hits\": [[%g, %g], [0, %g]]}}, \"kernels\": [%s], \"config\": {}, \"host\": {\"seconds\": 1}}",
        100 * ipc, ipc, 10 * ipc, 5 * ipc, 4 * ipc, 6 * ipc, 80 * ipc, 8 * ipc, 40 * ipc, 2 * ipc, 4 * ipc, 4 * ipc,
        2 * ipc, kernels);
}

/* `kernels` has the elements of the JSON array; may be NULL. */
static inline struct made_up make_with(const char *text, double (*ipc)(const struct planned_run *run),
                                       const char *(*kernels)(const struct planned_run *run)) {
    struct made_up all = {.experiment = read_made_up(text)};
    struct error err = {0};
    all.plan = plan_create(all.experiment, NULL, &err);
    char folder[] = "/tmp/sluice-figure-XXXXXX";
    REQUIRE(all.plan && mkdtemp(folder));
    all.path = text_format("%s/store", folder);
    all.store = store_open(all.path, STORE_WRITE, &err);
    REQUIRE(all.store);
    for (unsigned i = 0; i < all.plan->count; i++) {
        double value = ipc(&all.plan->runs[i]);
        if (isnan(value)) continue;
        char *json = json_of(value, kernels ? kernels(&all.plan->runs[i]) : "");
        CHECK(store_put(all.store, all.plan->runs[i].identity, json, strlen(json), &err));
        free(json);
    }
    all.figure = figure_make(all.plan, all.store, &err);
    REQUIRE(all.figure);
    return all;
}

static inline struct made_up make(const char *text, double (*ipc)(const struct planned_run *run)) {
    return make_with(text, ipc, NULL);
}

static inline void discard(struct made_up *all) {
    figure_free(all->figure);
    store_close(all->store);
    plan_free(all->plan);
    experiment_free(all->experiment);
    unlink(all->path);
    *strrchr(all->path, '/') = '\0';
    CHECK_EQ(rmdir(all->path), 0);
    free(all->path);
}

static inline double cell(const struct figure_sheet *sheet, const char *row, const char *column) {
    for (unsigned r = 0; r < sheet->row_count; r++)
        for (unsigned c = 0; c < sheet->column_count; c++)
            if (strcmp(sheet->rows[r], row) == 0 && strcmp(sheet->columns[c], column) == 0)
                return sheet->value[r * sheet->column_count + c];
    fprintf(stderr, "no cell %s, %s\n", row, column);
    test_give_up();
}

#endif
