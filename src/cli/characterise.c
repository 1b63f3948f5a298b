#include "cli/characterise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/machine.h"
#include "cli/job.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "sm/sm_config.h"
#include "stream/survey.h"
#include "work.h"

/* The paper whose sizes a workload has says on which machine it was evaluated. */
static const char *gpu_of(const struct workload *workload) {
    static const struct {
        const char *size, *gpu;
    } papers[] = {{"s000", "adaptive-80sm"}, {"s002", "icc-32sm"}, {"s004", "fermi-15sm"}};
    for (unsigned p = 0; p < COUNT_OF(papers); p++)
        for (unsigned i = 0; i < workload->size_count; i++)
            if (strcmp(workload->sizes[i].name, papers[p].size) == 0) return papers[p].gpu;
    return DEFAULT_GPU;
}

static bool has_size(const struct workload *workload, const char *size) {
    for (unsigned i = 0; i < workload->size_count; i++)
        if (strcmp(workload->sizes[i].name, size) == 0) return true;
    return false;
}

/* What most of the SMs' cycles went to, of those in which they had work. */
static void find_bound(const struct stats *stats, char *text, size_t size) {
    uint64_t most = stats_get(stats, "sm.issuing", NULL);
    snprintf(text, size, "issue");
    for (unsigned i = 0; i < stats_count(stats); i++) {
        char name[128];
        stats_name(stats, i, name, sizeof name);
        if (strncmp(name, "sm.stall.", 9) != 0 || strcmp(name, "sm.stall.idle") == 0 || stats_total(stats, i) <= most)
            continue;
        most = stats_total(stats, i);
        snprintf(text, size, "%s", name + 9);
    }
}

static double share(const struct stats *stats, const char *part, const char *const *whole, unsigned count) {
    double sum = 0;
    for (unsigned i = 0; i < count; i++) sum += (double)stats_get(stats, whole[i], NULL);
    return 100 * ratio((double)stats_get(stats, part, NULL), sum);
}

static void write_row(const struct workload *workload, const char *gpu, const struct survey *survey,
                      const struct machine *machine, const struct run_result *result, const char *check) {
    static const char *const l1[] = {"l1.read_hits", "l1.read_pending", "l1.read_misses", "l1.read_bypasses"};
    static const char *const llc[] = {"llc.read_hits", "llc.read_pending", "llc.read_misses"};
    static const char *const windows[] = {"sharing.lines_1", "sharing.lines_2", "sharing.lines_4", "sharing.lines_8",
                                          "sharing.lines_more"};
    const struct stats *stats = machine_stats(machine);
    char bound[32];
    find_bound(stats, bound, sizeof bound);
    bool accesses = stats_get(stats, "sharing.lines_1", NULL) + stats_get(stats, "sharing.lines_8", NULL) > 0;
    printf("| %-9s | %-13s | %7" PRIu64 " | %8" PRIu64 " | %13" PRIu64 " | %11" PRIu64
           " | %8.3f | %7.1f | %7.1f | %6.1f | %6.1f | %-8s | %-6s |\n",
           workload->name, gpu, survey->kernels, survey->ctas, survey->thread_instructions, result->cycles,
           (double)survey->shared_lines * SURVEY_LINE_BYTES / 1e6,
           100 * ratio((double)survey->shared_read_only_lines, (double)survey->shared_lines),
           accesses ? 100 - share(stats, "sharing.lines_1", windows, COUNT_OF(windows)) : 0,
           share(stats, "l1.read_hits", l1, COUNT_OF(l1)), share(stats, "llc.read_hits", llc, COUNT_OF(llc)), bound,
           check);
    fflush(stdout);
}

static enum status measure(const struct workload *workload, const char *gpu, const struct job *job) {
    struct error err = {0};
    struct machine_options options = {.gpu = gpu, .settings = {.count = 1, .text = {"llc.sharing_window=1000"}}};
    const char *check = "none";
    struct stream_source *source = job_record(job, true, &check, &err);
    struct config *config = source ? machine_config(&options, &err) : NULL;
    struct machine *machine = config ? machine_create(config, &err) : NULL;
    enum run_status ended = RUN_REFUSED;
    struct run_result result = {0};
    if (machine) {
        const struct sm_config *sm = config_get(config, &sm_section);
        struct survey survey;
        struct progress progress;
        survey_take(source, (unsigned)sm->count, &survey);
        source->ops->restart(source);
        progress_start(&progress, survey.warp_instructions);
        struct run_options run = {.progress = progress_step, .user = &progress};
        ended = machine_run(machine, source, &run, &result, &err);
        progress_end(&progress);
        if (ended == RUN_DONE) write_row(workload, gpu, &survey, machine, &result, check);
    }
    if (err.set) complain_error(&err);
    run_result_release(&result);
    machine_destroy(machine);
    if (config) config_destroy(config);
    if (source) source->ops->destroy(source);
    return ended == RUN_DONE && strcmp(check, "failed") != 0 ? STATUS_DONE : STATUS_FAILED;
}

enum status characterise(const char *size, const char *gpu, const char *only) {
    enum status status = STATUS_DONE;
    signals_catch();
    puts(
        "| workload  | GPU           | kernels |     CTAs | thread instr. |      cycles | shared MB | read-only % | several clusters % | L1 hit % | LLC hit % | bound by | check  |");
    puts("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---|");
    for (unsigned i = 0; i < workload_total && status != STATUS_BAD_INPUT; i++) {
        const struct workload *workload = workloads[i];
        if ((only && work_find(only) != workload) || !has_size(workload, size)) continue;
        char *name = text_format("%s:%s", workload->name, size);
        struct error err = {0};
        struct job job = {0};
        if (!job_open(&job, &(struct job_options){0}, name, NULL, stderr, &err))
            status = complain_error(&err);
        else if (measure(workload, gpu ? gpu : gpu_of(workload), &job) != STATUS_DONE)
            status = STATUS_FAILED;
        job_close(&job);
        free(name);
        if (status != STATUS_DONE) break;
    }
    return status;
}
