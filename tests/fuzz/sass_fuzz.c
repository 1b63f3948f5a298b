/* Reads arbitrary bytes as a kernel file of a SASS trace, plain or compressed, and simulates it on a small machine: it is
 * rejected with a message that names the file, or the run ends. Entry point for libFuzzer; tests/sass/corpus_test.c replays
 * data/fuzz/sass through it. */
#include <string.h>

#include "fuzz/scratch.h"
#include "gpu/machine.h"
#include "sass/source.h"
#include "settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) abort();
}

static bool few_cycles(void *user, const struct run_progress *progress) {
    (void)user;
    return progress->cycles < 200000;
}

static void simulate(struct stream_source *source, const char *path) {
    static const char *const settings[] = {"sm.count=1",      "gpu.clusters=1",     "llc.slices_per_mc=1", "dram.mcs=1",
                                           "llc.slice_kb=16", "noc.topology=ideal", "sm.tensor_units=1",   NULL};
    struct error err = {0};
    struct config *config = config_create(config_sections, config_section_count);
    must(config_set_all(config, settings, &err) && config_check(config, &err));
    struct machine *machine = machine_create_for(1, config, &err);
    must(machine != NULL);
    struct run_options options = {.max_instructions = 20000, .progress = few_cycles};
    struct run_result result = {0};
    enum run_status status = machine_run(machine, source, &options, &result, &err);
    must((status == RUN_REFUSED || status == RUN_FAILED) == err.set);
    const char *failure = source->ops->failure(source);
    must(!failure || strncmp(failure, path, strlen(path)) == 0);
    run_result_release(&result);
    machine_destroy(machine);
    config_destroy(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *path = scratch_path("kernel.traceg");
    scratch_write(path, data, size);
    struct error err = {0};
    struct stream_source *source = sass_open(path, &err);
    must(source && !err.set); /* errors are found when the file is read */
    simulate(source, path);
    struct error warning = {0};
    must(sass_source_warning(source, &warning) == warning.set);
    source->ops->destroy(source);
    unlink(path);
    free(path);
    return 0;
}
