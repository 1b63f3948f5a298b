/* Whole runs of bundled machines, for tests of the machine.
 *
 *     struct run *run = run_make("fermi-15sm", "synth:alu", SETTINGS("workload.iterations=4"));
 *     run_go(run, (struct run_options){0});         the test ends if the run does not end well
 *     CHECK_EQ(run_count(run, "l1.read_hits"), 0u);
 *     run_destroy(run);
 */
#ifndef SLUICE_TESTS_MACHINE_RUNS_H
#define SLUICE_TESTS_MACHINE_RUNS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "gpu/machine.h"
#include "stream/workload.h"

static const char *const run_gpus[] = {"adaptive-80sm", "icc-32sm", "selrep-64sm", "fermi-15sm"};
enum { RUN_GPUS = 4 };

struct run {
    struct config *config;
    struct machine *machine;
    struct stream_source *source, *second; /* the second program's, or NULL */
    bool owns_source;
    struct run_result result;
    struct error err;
    enum run_status status;
};

/* A bundled GPU with settings over it; NULL for a machine of defaults. The test fails if it is rejected. */
static inline struct config *run_config(const char *gpu, const char *const *settings) {
    struct config *config = config_create(config_sections, config_section_count);
    struct error err = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/gpus/%s.yaml", SLUICE_SOURCE_DIR, gpu ? gpu : "");
    bool good = (!gpu || config_read_file(config, path, &err)) && config_set_all(config, settings, &err) &&
                config_check(config, &err);
    CHECK_EQ((const char *)err.text, "");
    REQUIRE(good);
    return config;
}

/* Of sources that the test has made and keeps. */
static inline struct run *run_of_two(const char *gpu, struct stream_source *source, struct stream_source *second,
                                     const char *const *settings) {
    struct run *run = mem_alloc(1, sizeof *run);
    run->config = run_config(gpu, settings);
    run->machine = machine_create_for(second ? 2 : 1, run->config, &run->err);
    CHECK_EQ((const char *)run->err.text, "");
    REQUIRE(run->machine);
    run->source = source;
    run->second = second;
    return run;
}

static inline struct run *run_of(const char *gpu, struct stream_source *source, const char *const *settings) {
    return run_of_two(gpu, source, NULL, settings);
}

static inline struct run *run_make(const char *gpu, const char *workload, const char *const *settings) {
    struct run *run = run_of(gpu, NULL, settings);
    run->source = workload_open(run->config, workload, &run->err);
    run->owns_source = true;
    CHECK_EQ((const char *)run->err.text, "");
    REQUIRE(run->source);
    return run;
}

static inline void run_destroy(struct run *run) {
    run_result_release(&run->result);
    machine_destroy(run->machine);
    if (run->owns_source) run->source->ops->destroy(run->source);
    if (run->owns_source && run->second) run->second->ops->destroy(run->second);
    config_destroy(run->config);
    free(run);
}

static inline void run_try(struct run *run, struct run_options options) {
    struct stream_source *sources[] = {run->source, run->second};
    run->status = machine_run_all(run->machine, sources, &options, &run->result, &run->err);
}

static inline void run_go(struct run *run, struct run_options options) {
    run_try(run, options);
    if (run->status != RUN_DONE) printf("%s\n%s\n", run->err.text, run->result.diagnosis ? run->result.diagnosis : "");
    REQUIRE(run->status == RUN_DONE);
}

static inline uint64_t run_count(const struct run *run, const char *name) {
    return count_in(machine_stats(run->machine), name);
}

/* Of one unit. */
static inline uint64_t run_count_of(const struct run *run, const char *name, unsigned unit) {
    int index = stats_find(machine_stats(run->machine), name);
    REQUIRE(index >= 0);
    return stats_instance(machine_stats(run->machine), (unsigned)index, unit);
}

/* Every counter of every unit, and the length of the run, to be compared. */
struct counters {
    uint64_t cycles;
    unsigned count;
    uint64_t *value;
};

static inline struct counters counters_of(const struct run *run) {
    const struct stats *stats = machine_stats(run->machine);
    struct counters counters = {.cycles = run->result.cycles};
    for (unsigned i = 0; i < stats_count(stats); i++) counters.count += stats_instances(stats, i);
    counters.value = mem_alloc(counters.count, sizeof *counters.value);
    unsigned at = 0;
    for (unsigned i = 0; i < stats_count(stats); i++)
        for (unsigned unit = 0; unit < stats_instances(stats, i); unit++)
            counters.value[at++] = stats_instance(stats, i, unit);
    return counters;
}

/* Names what differs between a run and the counters of another one. */
static inline bool counters_equal(const struct run *run, const struct counters *expected) {
    const struct stats *stats = machine_stats(run->machine);
    struct counters counters = counters_of(run);
    bool equal = counters.cycles == expected->cycles && counters.count == expected->count;
    if (!equal)
        printf("%llu cycles, not %llu\n", (unsigned long long)counters.cycles, (unsigned long long)expected->cycles);
    unsigned at = 0, told = 0;
    for (unsigned i = 0; i < stats_count(stats) && counters.count == expected->count; i++)
        for (unsigned unit = 0; unit < stats_instances(stats, i); unit++, at++) {
            if (counters.value[at] == expected->value[at]) continue;
            char name[96];
            stats_name(stats, i, name, sizeof name);
            if (told++ < 10)
                printf("%s of unit %u is %llu, not %llu\n", name, unit, (unsigned long long)counters.value[at],
                       (unsigned long long)expected->value[at]);
            equal = false;
        }
    free(counters.value);
    return equal;
}

#endif
