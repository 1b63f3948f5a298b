/* The complete result of a run as JSON. Two runs of the same input differ only in `host`. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/decisions.h"
#include "cli/report.h"

static void put_stats(struct json *json, const struct stats *stats) {
    char name[128];
    json_key(json, "stats");
    json_object(json);
    for (unsigned i = 0; i < stats_count(stats); i++) {
        stats_name(stats, i, name, sizeof name);
        json_put_unsigned(json, name, stats_total(stats, i));
    }
    json_end(json);
    json_key(json, "units"); /* per SM, slice or channel */
    json_object(json);
    for (unsigned i = 0; i < stats_count(stats); i++) {
        unsigned instances = stats_instances(stats, i);
        if (instances < 2) continue;
        stats_name(stats, i, name, sizeof name);
        json_key(json, name);
        json_array_compact(json);
        for (unsigned instance = 0; instance < instances; instance++)
            json_unsigned(json, stats_instance(stats, i, instance));
        json_end(json);
    }
    json_end(json);
}

/* A parameter's value in a JSON type. Its text is YAML; numbers, booleans, lists of numbers and quoted text are valid
 * JSON as they are. */
static void put_value(struct json *json, const struct config_entry *entry) {
    switch (entry->param->type) {
    case PARAM_INT:
    case PARAM_BOOL:
    case PARAM_LIST: json_raw(json, entry->value); break;
    case PARAM_REAL: json_real(json, strtod(entry->value, NULL)); break;
    case PARAM_TEXT:
    case PARAM_CHOICE: (entry->value[0] == '"' ? json_raw : json_text)(json, entry->value); break;
    }
}

static void put_config(struct json *json, const struct config *config) {
    json_key(json, "config");
    json_object(json);
    for (unsigned i = 0; i < config_entry_count(config); i++) {
        struct config_entry entry;
        config_entry_at(config, i, &entry);
        if (!entry.in_use) continue;
        json_key(json, entry.key);
        put_value(json, &entry);
    }
    json_end(json);
}

/* For each counter of --sample-units: one row per sample, one value per unit. */
static void put_sampled_units(struct json *json, const struct stats *stats, const struct series *series) {
    int index;
    json_key(json, "units");
    json_object(json);
    for (unsigned number = 0; (index = series_kept(series, number)) >= 0; number++) {
        char name[128];
        stats_name(stats, (unsigned)index, name, sizeof name);
        json_key(json, name);
        json_array(json);
        for (unsigned row = 0; row < series_rows(series); row++) {
            json_array_compact(json);
            for (unsigned unit = 0; unit < stats_instances(stats, (unsigned)index); unit++)
                json_unsigned(json, series_unit_value(series, row, number, unit));
            json_end(json);
        }
        json_end(json);
    }
    json_end(json);
}

/* Only sums: a maximum has no increase per sample. */
static void put_samples(struct json *json, const struct stats *stats, const struct series *series) {
    json_key(json, "samples");
    json_object(json);
    json_put_unsigned(json, "every", series_every(series));
    json_key(json, "columns");
    json_array_compact(json);
    json_text(json, "cycle");
    for (unsigned i = 0; i < stats_count(stats); i++) {
        char name[128];
        stats_name(stats, i, name, sizeof name);
        if (stats_stat(stats, i)->kind == STAT_SUM) json_text(json, name);
    }
    json_end(json);
    json_key(json, "rows");
    json_array(json);
    for (unsigned row = 0; row < series_rows(series); row++) {
        json_array_compact(json);
        json_unsigned(json, series_cycle(series, row));
        for (unsigned i = 0; i < stats_count(stats); i++)
            if (stats_stat(stats, i)->kind == STAT_SUM) json_unsigned(json, series_value(series, row, i));
        json_end(json);
    }
    json_end(json);
    if (series_kept(series, 0) >= 0) put_sampled_units(json, stats, series);
    json_end(json);
}

static void put_noc_area(struct json *json, const struct noc_cost *noc) {
    json_key(json, "noc_mm2");
    json_object_compact(json);
    json_put_real(json, "buffers", noc->router.buffers);
    json_put_real(json, "crossbars", noc->router.crossbar);
    json_put_real(json, "allocators", noc->router.allocators);
    json_put_real(json, "registers", noc->router.registers);
    json_put_real(json, "links", noc->link_area_mm2);
    json_put_real(json, "total", noc->router_area_mm2 + noc->link_area_mm2);
    json_end(json);
}

static void put_energy_entry(struct json *json, const char *name, const struct energy_entry *entry) {
    json_key(json, name);
    json_object_compact(json);
    json_put_real(json, "events", entry->events);
    json_put_real(json, "time", entry->time);
    json_end(json);
}

/* In joules; the parts sum to the total, and the stages to the part noc_routers. */
void report_put_energy(struct json *json, const struct energy_book *book) {
    double events = 0, time = 0;
    for (unsigned i = 0; i < ENERGY_PART_COUNT; i++) {
        events += book->part[i].events;
        time += book->part[i].time;
    }
    json_key(json, "energy");
    json_object(json);
    json_put_real(json, "total", energy_total(book));
    json_put_real(json, "events", events);
    json_put_real(json, "time", time);
    json_put_real(json, "seconds", book->seconds);
    json_put_real(json, "watts", ratio(energy_total(book), book->seconds));
    json_put_real(json, "noc", energy_noc(book));
    put_noc_area(json, &book->noc);
    json_key(json, "parts");
    json_object(json);
    for (unsigned i = 0; i < ENERGY_PART_COUNT; i++) put_energy_entry(json, energy_parts[i].name, &book->part[i]);
    json_end(json);
    json_key(json, "noc_stages");
    json_object(json);
    for (unsigned i = 0; i < book->stages; i++) put_energy_entry(json, book->stage[i].name, &book->stage[i].energy);
    json_end(json);
    json_end(json);
}

void report_put_host(struct json *json, uint64_t warp_instructions, double seconds, uint64_t peak_rss_bytes) {
    json_key(json, "host");
    json_object(json);
    json_put_real(json, "seconds", seconds);
    json_put_real(json, "warp_instructions_per_second", ratio((double)warp_instructions, seconds));
    json_put_unsigned(json, "peak_rss_bytes", peak_rss_bytes);
    json_end(json);
}

double report_stp(const struct report_programs *programs) {
    double sum = 0;
    for (unsigned i = 0; i < programs->count; i++) {
        if (programs->program[i].alone_ipc <= 0) return 0;
        sum += report_program_ipc(&programs->program[i]) / programs->program[i].alone_ipc;
    }
    return sum;
}

double report_antt(const struct report_programs *programs) {
    double sum = 0;
    for (unsigned i = 0; i < programs->count; i++) {
        if (report_program_ipc(&programs->program[i]) <= 0) return 0;
        sum += programs->program[i].alone_ipc / report_program_ipc(&programs->program[i]);
    }
    return sum / programs->count;
}

void report_put_programs(struct json *json, const struct report_programs *programs, const struct run_report *report) {
    json_key(json, "programs");
    json_array(json);
    for (unsigned i = 0; i < programs->count; i++) {
        const struct report_program *program = &programs->program[i];
        json_object(json);
        json_put_text(json, "workload", program->workload);
        json_put_text(json, "check", program->check);
        json_put_unsigned(json, "cycles", program->stats.cycles);
        json_put_unsigned(json, "thread_instructions", program->stats.thread_instructions);
        json_put_unsigned(json, "warp_instructions", program->stats.warp_instructions);
        json_put_real(json, "ipc", report_program_ipc(program));
        if (program->alone_ipc > 0) json_put_real(json, "alone_ipc", program->alone_ipc);
        json_put_unsigned(json, "ends", program->stats.ends);
        if (report) report_put_kernels(json, report, i);
        json_end(json);
    }
    json_end(json);
    if (report_stp(programs) <= 0) return;
    json_put_real(json, "stp", report_stp(programs));
    json_put_real(json, "antt", report_antt(programs));
}

static bool is_listed(const struct journal *journal, const struct journal_entry *entry) {
    for (unsigned i = 0; i < journal->mechanism_count; i++)
        if (strcmp(journal->mechanisms[i].name, entry->mechanism) == 0) return !journal->mechanisms[i].summarised;
    return true;
}

/* One by one, of the mechanisms that decide seldom. */
static void put_decisions(struct json *json, const struct journal *journal, bool programs) {
    unsigned listed = 0;
    for (unsigned i = 0; i < journal->count; i++) listed += is_listed(journal, &journal->entries[i]);
    if (!listed) return;
    json_key(json, "decisions");
    json_array(json);
    for (unsigned i = 0; i < journal->count; i++) {
        const struct journal_entry *entry = &journal->entries[i];
        if (!is_listed(journal, entry)) continue;
        json_object_compact(json);
        json_put_unsigned(json, "cycle", entry->cycle);
        if (programs) json_put_unsigned(json, "program", entry->program);
        json_put_text(json, "decision", entry->decision);
        json_put_text(json, "reason", entry->reason);
        for (unsigned k = 0; k < entry->count; k++) json_put_real(json, entry->input[k].name, entry->input[k].value);
        json_end(json);
    }
    json_end(json);
}

void report_write_json(FILE *out, const void *what) {
    const struct run_report *report = what;
    const struct run_result *result = report->result;
    struct json json;
    json_start(&json, out);
    json_object(&json);
    json_put_text(&json, "sluice", SLUICE_VERSION);
    json_put_text(&json, "gpu", report->gpu);
    json_put_text(&json, "design", report->design);
    json_put_text(&json, "workload", report->workload);
    json_put_bool(&json, "interrupted", report->interrupted);
    json_put_text(&json, "check", report->check);
    json_put_unsigned(&json, "cycles", result->cycles);
    json_put_unsigned(&json, "thread_instructions", result->thread_instructions);
    json_put_unsigned(&json, "warp_instructions", result->warp_instructions);
    json_put_real(&json, "ipc", ratio((double)result->thread_instructions, (double)result->cycles));
    report_put_kernels(&json, report, PROGRAMS_MAX);
    if (report->launches && report->launches->chosen) report_put_sampling(&json, report);
    if (report->programs.count > 1) report_put_programs(&json, &report->programs, report);
    put_stats(&json, report->stats);
    report_put_energy(&json, report->energy);
    put_decisions(&json, report->journal, report->programs.count > 1);
    struct decisions decisions = decisions_of(report->journal, report->programs.count, result->cycles);
    decisions_put(&json, &decisions);
    decisions_release(&decisions);
    if (result->series) put_samples(&json, report->stats, result->series);
    put_config(&json, report->config);
    report_put_host(&json, result->warp_instructions, report->host_seconds, report->host_peak_rss_bytes);
    json_end(&json);
    json_finish(&json);
}
