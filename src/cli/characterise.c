#include "cli/characterise.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/job.h"
#include "cli/machine.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "sm/sm_config.h"
#include "stream/survey.h"
#include "work.h"

/* The papers' GPUs, by the prefix of their size names. */
static const struct {
    const char *size, *gpu;
} papers[] = {{"adaptive", "adaptive-80sm"}, {"icc", "icc-32sm"},    {"bypass", "fermi-15sm"},
              {"selrep", "selrep-64sm"},     {"nn_", "selrep-64sm"}, {"mm_", "selrep-64sm"}};

static bool size_is_of(const char *size, unsigned paper) {
    return strncmp(size, papers[paper].size, strlen(papers[paper].size)) == 0;
}

/* The GPU of the size's paper; for other sizes that of the first paper with the workload. */
static const char *gpu_of(const struct workload *workload, const char *size) {
    for (unsigned p = 0; p < COUNT_OF(papers); p++)
        if (size_is_of(size, p)) return papers[p].gpu;
    for (unsigned p = 0; p < COUNT_OF(papers); p++)
        for (unsigned i = 0; i < workload->size_count; i++)
            if (size_is_of(workload->sizes[i].name, p)) return papers[p].gpu;
    return DEFAULT_GPU;
}

static bool has_size(const struct workload *workload, const char *size) {
    for (unsigned i = 0; i < workload->size_count; i++)
        if (strcmp(workload->sizes[i].name, size) == 0) return true;
    return false;
}

/* The largest part of the SM cycles, without idle cycles. */
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

static double sum(const struct stats *stats, const char *const *names, unsigned count) {
    double total = 0;
    for (unsigned i = 0; i < count; i++) total += (double)stats_get(stats, names[i], NULL);
    return total;
}

/* The first `parts` of the counters in per cent of all. */
static double share(const struct stats *stats, const char *const *names, unsigned parts, unsigned all) {
    return 100 * ratio(sum(stats, names, parts), sum(stats, names, all));
}

/* A Markdown table. A column is as wide as its heading; a heading that ends with a blank marks a text column. */
static const char *const headings[] = {
    "workload ", "GPU          ", "kernels",      "   CTAs",     "thread instr.",      "touched MB",
    "shared MB", "read-only %",   "check ",       "     cycles", "several clusters %", "lines/kcycle",
    "L1 hit %",  "LLC hit %",     "bound by    ", " CPU s",
};

static bool is_text(const char *heading) { return heading[strlen(heading) - 1] == ' '; }

static void write_head(void) {
    for (unsigned i = 0; i < COUNT_OF(headings); i++) printf("| %s ", headings[i]);
    printf("|\n");
    for (unsigned i = 0; i < COUNT_OF(headings); i++) printf("|%s", is_text(headings[i]) ? "---" : "---:");
    puts("|");
}

static void write_cell(unsigned *column, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void write_cell(unsigned *column, const char *format, ...) {
    char text[64];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const char *heading = headings[(*column)++];
    int width = (int)strlen(heading);
    printf("| %*s ", is_text(heading) ? -width : width, text);
}

static double megabytes(uint64_t lines) { return (double)lines * SURVEY_LINE_BYTES / 1e6; }

static void write_survey(unsigned *column, const struct survey *survey, const char *check) {
    write_cell(column, "%" PRIu64, survey->kernels);
    write_cell(column, "%" PRIu64, survey->ctas);
    write_cell(column, "%" PRIu64, survey->thread_instructions);
    write_cell(column, "%.3f", megabytes(survey->several_lines));
    write_cell(column, "%.3f", megabytes(survey->shared_lines));
    write_cell(column, "%.1f", 100 * ratio((double)survey->read_only_lines, (double)survey->shared_lines));
    write_cell(column, "%s", check);
}

static void write_simulation(unsigned *column, const struct stats *stats, uint64_t cycles) {
    static const char *const l1[] = {"l1.read_hits", "l1.read_pending_hits", "l1.read_misses", "l1.read_bypasses"};
    static const char *const llc[] = {"llc.read_hits", "llc.read_pending_hits", "llc.read_misses"};
    static const char *const windows[] = {"sharing.lines_2", "sharing.lines_4", "sharing.lines_8", "sharing.lines_more",
                                          "sharing.lines_1"};
    char bound[32];
    find_bound(stats, bound, sizeof bound);
    write_cell(column, "%" PRIu64, cycles);
    write_cell(column, "%.1f", share(stats, windows, COUNT_OF(windows) - 1, COUNT_OF(windows)));
    write_cell(column, "%.1f", 1000 * ratio(sum(stats, windows, COUNT_OF(windows) - 1), (double)cycles));
    write_cell(column, "%.1f", share(stats, l1, 1, COUNT_OF(l1)));
    write_cell(column, "%.1f", share(stats, llc, 1, COUNT_OF(llc)));
    write_cell(column, "%s", bound);
}

/* `stats` is NULL if it was not simulated. */
static void write_row(const struct workload *workload, const char *gpu, const struct survey *survey, const char *check,
                      const struct stats *stats, uint64_t cycles, clock_t started) {
    unsigned column = 0;
    write_cell(&column, "%s", workload->name);
    write_cell(&column, "%s", gpu);
    write_survey(&column, survey, check);
    if (stats) write_simulation(&column, stats, cycles);
    while (column + 1 < COUNT_OF(headings)) write_cell(&column, "-");
    write_cell(&column, "%.1f", (double)(clock() - started) / CLOCKS_PER_SEC);
    puts("|");
    fflush(stdout);
}

/* Executes and surveys the job and, if `simulate`, simulates the recorded stream. */
static enum status measure(const struct workload *workload, const char *gpu, const struct job *job, bool simulate) {
    struct error err = {0};
    struct machine_options options = {.gpu = gpu, .settings = {.count = 1, .text = {"llc.sharing_window=1000"}}};
    const char *check = "none";
    clock_t started = clock();
    struct config *config = machine_config(&options, &err);
    struct machine *machine = config ? machine_create(config, &err) : NULL;
    struct stream_source *source = machine && simulate ? job_record(job, true, &check, &err) : NULL;
    struct run_result result = {0};
    bool done = false;
    if (machine && !err.set) {
        struct survey survey;
        unsigned sms = (unsigned)((const struct sm_config *)config_get(config, &sm_section))->count;
        struct stream_source *surveyed = source ? source : job->source;
        surveyed->patience = not_interrupted;
        done = survey_take(surveyed, sms, &survey, &err);
        surveyed->patience = NULL;
        if (done && !source) check = job->source->ops->check(job->source, &err);
        struct progress progress;
        struct program_extent extent = {.warp_instructions = done ? survey.warp_instructions : 0};
        progress_start(&progress, NULL, &extent, 1);
        struct run_options run = {.progress = progress_step, .user = &progress};
        if (source) source->ops->restart(source);
        if (done && source) done = machine_run(machine, source, &run, &result, &err) == RUN_DONE;
        progress_end(&progress, 0);
        if (done)
            write_row(workload, gpu, &survey, check, source ? machine_stats(machine) : NULL, result.cycles, started);
    }
    if (err.set) complain_error(&err);
    run_result_release(&result);
    if (machine) machine_destroy(machine);
    if (config) config_destroy(config);
    if (source) source->ops->destroy(source);
    return done && strcmp(check, "failed") != 0 ? STATUS_DONE : STATUS_FAILED;
}

static enum status characterise_one(const struct workload *workload, const char *size, const char *gpu,
                                    uint64_t max_insts, bool simulate) {
    char *name = text_format("%s:%s", workload->name, size);
    struct error err = {0};
    struct job job = {0};
    bool opened =
        job_open(&job, &(struct job_options){0}, name, NULL, stderr, &err) && job_limit(&job, max_insts, &err);
    enum status status =
        opened ? measure(workload, gpu ? gpu : gpu_of(workload, size), &job, simulate) : complain_error(&err);
    job_close(&job);
    free(name);
    return status;
}

/* Checks the names: the workload, if one is given, and the size. */
static bool is_there(const char *size, const char *only, struct error *err) {
    if (only) {
        char *name = text_format("%s:%s", only, size);
        struct stream_source *source = work_open(name, false, err);
        if (source) source->ops->destroy(source);
        free(name);
        return source != NULL;
    }
    for (unsigned i = 0; i < workload_total; i++)
        if (has_size(workloads[i], size)) return true;
    error_set(err, "no workload has a size `%s`; `sluice list workloads` lists them all", size);
    return false;
}

enum status characterise(const char *given, const char *gpu, const char *only, uint64_t max_insts, bool simulate) {
    const char *size = work_size_name(given);
    struct error err = {0};
    if (!is_there(size, only, &err)) return complain_error(&err);
    signals_catch();
    write_head();
    enum status status = STATUS_DONE;
    for (unsigned i = 0; i < workload_total && status == STATUS_DONE; i++)
        if (only ? work_find(only) == workloads[i] : has_size(workloads[i], size))
            status = characterise_one(workloads[i], size, gpu, max_insts, simulate);
    return status;
}
