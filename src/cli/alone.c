#include "cli/alone.h"

#include <stdio.h>

#include "cli/progress.h"

static enum status measure(const struct config *config, struct stream_source *source,
                           const struct program_extent *extent, uint64_t max_insts, double *ipc) {
    struct error err = {0};
    struct run_result result = {0};
    struct progress progress;
    struct run_options options = {.max_instructions = max_insts, .progress = progress_step, .user = &progress};
    struct machine *machine = machine_create(config, &err);
    if (!machine) return complain_error(&err);
    progress_start(&progress, "alone", extent, 1);
    enum run_status ended = machine_run(machine, source, &options, &result, &err);
    progress_end(&progress, 0);
    if (ended == RUN_REFUSED || ended == RUN_FAILED) complain_error(&err);
    if (result.diagnosis) fputs(result.diagnosis, stderr);
    *ipc = ratio((double)result.thread_instructions, (double)result.cycles);
    run_result_release(&result);
    machine_destroy(machine);
    return ended == RUN_DONE ? STATUS_DONE : ended == RUN_REFUSED ? STATUS_BAD_INPUT : STATUS_FAILED;
}

enum status alone_measure(const struct config *config, struct stream_source *const *sources,
                          const struct program_extent *extent, uint64_t max_insts, struct report_programs *programs) {
    enum status status = STATUS_DONE;
    for (unsigned i = 0; i < programs->count && status == STATUS_DONE; i++)
        status = measure(config, sources[i], &extent[i], max_insts, &programs->program[i].alone_ipc);
    return status;
}
