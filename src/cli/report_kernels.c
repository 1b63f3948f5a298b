/* Kernels in the result of a run: their counters and energy, and estimates from those that represent the program. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/report.h"
#include "sim/gpu_config.h"

enum { TABLE_ROWS = 16 };

static void put_size(struct json *json, const char *key, const uint32_t size[3]) {
    json_key(json, key);
    json_array_compact(json);
    for (unsigned i = 0; i < 3; i++) json_unsigned(json, size[i]);
    json_end(json);
}

/* Sums that are not zero. */
static void put_counters(struct json *json, const struct stats *stats) {
    json_key(json, "stats");
    json_object_compact(json);
    for (unsigned i = 0; i < stats_count(stats); i++) {
        char name[128];
        stats_name(stats, i, name, sizeof name);
        if (stats_total(stats, i)) json_put_unsigned(json, name, stats_total(stats, i));
    }
    json_end(json);
}

static void put_joules(struct json *json, const struct energy_book *book) {
    json_key(json, "energy");
    json_object_compact(json);
    json_put_real(json, "total", energy_total(book));
    json_put_real(json, "noc", energy_noc(book));
    for (unsigned i = 0; i < ENERGY_PART_COUNT; i++)
        json_put_real(json, energy_parts[i].name, book->part[i].events + book->part[i].time);
    json_end(json);
}

static void put_counted(struct json *json, const struct run_report *report, unsigned kernel) {
    struct stats *stats = series_row_stats(report->result->kernel_series, kernel);
    struct energy_book book;
    energy_account(report->energy_model, report->config, report->shape, stats, report->result->kernels[kernel].cycles,
                   &book);
    put_counters(json, stats);
    put_joules(json, &book);
    stats_destroy(stats);
}

void report_put_kernels(struct json *json, const struct run_report *report, unsigned program) {
    const struct run_result *result = report->result;
    json_key(json, "kernels");
    json_array(json);
    for (unsigned i = 0; i < result->kernel_count; i++) {
        const struct kernel_result *kernel = &result->kernels[i];
        if (program != PROGRAMS_MAX && kernel->program != program) continue;
        json_object_compact(json);
        json_put_unsigned(json, "launch", kernel->kernel.number);
        json_put_text(json, "name", kernel->kernel.name);
        put_size(json, "grid", kernel->kernel.grid);
        put_size(json, "block", kernel->kernel.block);
        json_put_unsigned(json, "ctas_per_sm", kernel->ctas_per_sm);
        if (kernel->carve_out_kb >= 0) json_put_unsigned(json, "carve_out_kb", (uint64_t)kernel->carve_out_kb);
        json_put_unsigned(json, "cycles", kernel->cycles);
        json_put_unsigned(json, "instructions", kernel->thread_instructions);
        json_put_unsigned(json, "warp_instructions", kernel->warp_instructions);
        if (result->kernel_series) put_counted(json, report, i);
        json_end(json);
    }
    json_end(json);
}

/* --- estimates --- */

/* The program's instructions, and estimates of its cycles and counters. */
struct estimate {
    uint64_t warp_instructions, thread_instructions;
    bool complete; /* all representatives have been timed to their ends */
    double cycles;
};

/* The kernel of the run that is a representative; the number of kernels if it was not timed. */
static unsigned timed(const struct run_result *result, const struct representative *chosen) {
    unsigned i = 0;
    while (i < result->kernel_count && result->kernels[i].kernel.number != chosen->launch + 1) i++;
    return i;
}

static struct estimate estimate_of(const struct run_report *report) {
    const struct launches *launches = report->launches;
    const struct run_result *result = report->result;
    struct estimate estimate = {.complete = !report->cut};
    for (uint32_t i = 0; i < launches->profiles.count; i++) {
        estimate.warp_instructions += launches->profiles.launch[i].warp_instructions;
        estimate.thread_instructions += launches->profiles.launch[i].thread_instructions;
    }
    for (uint32_t i = 0; estimate.complete && i < launches->chosen_count; i++) {
        unsigned kernel = timed(result, &launches->chosen[i]);
        estimate.complete = kernel < result->kernel_count;
        if (estimate.complete) estimate.cycles += launches->chosen[i].weight * (double)result->kernels[kernel].cycles;
    }
    return estimate;
}

static void put_estimated_counters(struct json *json, const struct run_report *report) {
    const struct series *series = report->result->kernel_series;
    json_key(json, "stats");
    json_object(json);
    for (unsigned i = 0; i < stats_count(report->stats); i++) {
        char name[128];
        double sum = 0;
        if (stats_stat(report->stats, i)->kind != STAT_SUM) continue;
        stats_name(report->stats, i, name, sizeof name);
        for (unsigned k = 0; k < report->launches->chosen_count; k++) {
            const struct representative *chosen = &report->launches->chosen[k];
            sum += chosen->weight * (double)series_value(series, timed(report->result, chosen), i);
        }
        if (sum > 0) json_put_real(json, name, sum);
    }
    json_end(json);
}

void report_put_sampling(struct json *json, const struct run_report *report) {
    const struct launches *launches = report->launches;
    struct estimate estimate = estimate_of(report);
    json_key(json, "sampling");
    json_object(json);
    json_put_unsigned(json, "launches", launches->profiles.count);
    json_put_unsigned(json, "thread_instructions", estimate.thread_instructions);
    json_put_unsigned(json, "warp_instructions", estimate.warp_instructions);
    json_key(json, "representatives");
    json_array(json);
    for (uint32_t i = 0; i < launches->chosen_count; i++) {
        json_object_compact(json);
        json_put_unsigned(json, "launch", launches->chosen[i].launch + UINT64_C(1));
        json_put_unsigned(json, "launches", launches->chosen[i].launches);
        json_put_real(json, "weight", launches->chosen[i].weight);
        json_end(json);
    }
    json_end(json);
    if (estimate.complete) {
        json_put_real(json, "cycles", estimate.cycles);
        json_put_real(json, "ipc", ratio((double)estimate.thread_instructions, estimate.cycles));
        put_estimated_counters(json, report);
    }
    json_end(json);
}

void report_write_sampling(FILE *out, const struct run_report *report) {
    const struct launches *launches = report->launches;
    struct estimate estimate = estimate_of(report);
    fprintf(out, "\n  sampled %u of %u launches", launches->chosen_count, launches->profiles.count);
    if (estimate.complete)
        fprintf(out, "; estimate for all of them: %s cycles, IPC %.2f", grouped((uint64_t)(estimate.cycles + 0.5)).text,
                ratio((double)estimate.thread_instructions, estimate.cycles));
    fputc('\n', out);
    for (uint32_t i = 0; i < launches->chosen_count && i < TABLE_ROWS; i++) {
        const struct representative *chosen = &launches->chosen[i];
        fprintf(out, "    launch %-5u %-24s represents %u, weight %.2f\n", chosen->launch + 1,
                launches->profiles.launch[chosen->launch].kernel.name, chosen->launches, chosen->weight);
    }
    if (launches->chosen_count > TABLE_ROWS)
        fprintf(out, "    and %u others; the JSON has all\n", launches->chosen_count - TABLE_ROWS);
}

/* --- the table --- */

double report_read_hits(const char *cache, double (*count)(const void *from, const char *name), const void *from) {
    static const char *const parts[] = {"read_hits", "read_pending_hits", "read_misses", "read_bypasses"};
    double hits = 0, reads = 0;
    for (unsigned i = 0; i < COUNT_OF(parts); i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.%s", cache, parts[i]);
        reads += count(from, name);
        if (i == 0) hits = reads;
    }
    if (strcmp(cache, "llc") == 0) { /* near copies; reads that miss there are counted at their home slices */
        double copied = count(from, "copies.read_hits");
        hits += copied;
        reads += copied + count(from, "copies.read_pending_hits");
    }
    return reads > 0 ? 100 * hits / reads : -1;
}

static double total(const void *stats, const char *name) { return (double)stats_get(stats, name, NULL); }

/* The two largest causes of stall cycles, as shares of all cycles of the SMs. */
static void largest_stalls(const struct stats *stats, char *text, size_t size) {
    static const char prefix[] = "sm.stall.";
    struct {
        char name[64];
        uint64_t cycles;
    } most[2] = {0};
    for (unsigned i = 0; i < stats_count(stats); i++) {
        char name[128];
        uint64_t cycles = stats_total(stats, i);
        stats_name(stats, i, name, sizeof name);
        if (strncmp(name, prefix, strlen(prefix)) || cycles <= most[1].cycles) continue;
        unsigned place = cycles > most[0].cycles ? 0 : 1;
        if (place == 0) most[1] = most[0];
        snprintf(most[place].name, sizeof most[place].name, "%s", name + strlen(prefix));
        most[place].cycles = cycles;
    }
    double all = (double)stats_get(stats, "sm.cycles", NULL);
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < COUNT_OF(most) && most[i].cycles; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s %.0f %%", i ? ", " : "", most[i].name,
                                 100 * ratio((double)most[i].cycles, all));
    for (char *c = text; *c; c++) *c = *c == '_' ? ' ' : *c;
}

static void write_percent(FILE *out, double value) {
    if (value < 0)
        fprintf(out, " %8s", "-");
    else
        fprintf(out, " %6.1f %%", value);
}

static void write_row(FILE *out, const struct run_report *report, unsigned index) {
    const struct kernel_result *kernel = &report->result->kernels[index];
    struct stats *stats = series_row_stats(report->result->kernel_series, index);
    double seconds = (double)kernel->cycles / ((double)gpu_core_khz(report->config) * 1e3);
    uint64_t bytes = stats_get(stats, "dram.read_bytes", NULL) + stats_get(stats, "dram.write_bytes", NULL);
    char stalls[160];
    largest_stalls(stats, stalls, sizeof stalls);
    fprintf(out, "    %6u  %-24.24s %12s %8.2f", kernel->kernel.number, kernel->kernel.name,
            grouped(kernel->cycles).text, ratio((double)kernel->thread_instructions, (double)kernel->cycles));
    write_percent(out, report_read_hits("l1", total, stats));
    write_percent(out, report_read_hits("llc", total, stats));
    fprintf(out, " %9.1f  %s\n", ratio((double)bytes, seconds) / 1e9, stalls);
    stats_destroy(stats);
}

struct length {
    uint64_t cycles;
    unsigned index;
};

static int by_cycles(const void *a, const void *b) {
    const struct length *x = a, *y = b;
    return x->cycles != y->cycles ? (x->cycles < y->cycles) - (x->cycles > y->cycles)
                                  : (x->index > y->index) - (x->index < y->index);
}
static int by_index(const void *a, const void *b) {
    const struct length *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

void report_write_kernels(FILE *out, const struct run_report *report) {
    const struct run_result *result = report->result;
    unsigned count = result->kernel_count, shown = count < TABLE_ROWS ? count : TABLE_ROWS;
    struct length *order = mem_alloc(count ? count : 1, sizeof *order);
    for (unsigned i = 0; i < count; i++) order[i] = (struct length){result->kernels[i].cycles, i};
    qsort(order, count, sizeof *order, by_cycles);
    qsort(order, shown, sizeof *order, by_index);
    if (shown < count)
        report_title(out, "the %u longest of %u kernels", shown, count);
    else
        report_title(out, "kernels");
    fprintf(out, "    %6s  %-24s %12s %8s %8s %8s %9s  %s\n", "launch", "name", "cycles", "IPC", "L1 hits", "LLC hits",
            "DRAM GB/s", "largest stalls");
    for (unsigned i = 0; i < shown; i++) write_row(out, report, order[i].index);
    free(order);
}
