#include "cli/timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "base/output.h"
#include "cli/progress.h"
#include "dram/dram_config.h"
#include "gpu/control.h"
#include "noc/noc.h"
#include "sim/gpu_config.h"

enum {
    DEFAULT_MEGABYTES = 32,
    ROWS_MIN = 16,
    ROWS_MAX = 4096,
    EVENT_BYTES = 80,  /* of a counter event, without its values */
    VALUE_BYTES = 28,  /* of a value and its name */
    SPAN_BYTES = 160,  /* of a kernel or a CTA */
    CAUSES = 32,       /* issuing, and causes of stalls */
    SLOTS = 64,        /* CTAs of an SM */
    TAIL_BYTES = 4096, /* for the end of the file */
};

/* Processes and threads of the trace. */
enum { PROCESS_GPU = 1, PROCESS_SMS, PROCESS_CTAS };
enum { THREAD_KERNELS = 1 /* one for each program */, THREAD_MECHANISMS = THREAD_KERNELS + PROGRAMS_MAX };

enum detail { DETAIL_KERNELS, DETAIL_SMS, DETAIL_CTAS };
static const char *const detail_names[] = {"kernels", "sms", "ctas"};

struct span {
    uint64_t cta, begin, end;
    unsigned sm, slot;
};

struct timeline {
    const char *file;
    enum detail detail;
    uint64_t limit_bytes;
    unsigned rows, sms;
    double cycles_per_us;
    unsigned causes;
    unsigned cause[CAUSES]; /* index of the counter */
    const char *units[CAUSES + 1];
    char *names[CAUSES]; /* the counters' */
    struct span *open;   /* [sms][SLOTS]; end 0: running */
    struct span *spans;
    uint64_t span_count, span_room, left_out;
};

/* --- before the run --- */

/* issuing, and all stall causes but idle, which is the rest. */
static void find_causes(struct timeline *timeline, const struct stats *stats) {
    for (unsigned i = 0; i < stats_count(stats) && timeline->causes < CAUSES; i++) {
        char name[128];
        stats_name(stats, i, name, sizeof name);
        bool stall = !strncmp(name, "sm.stall.", 9) && strcmp(name, "sm.stall.idle") != 0;
        if (!stall && strcmp(name, "sm.issuing") != 0) continue;
        timeline->cause[timeline->causes] = i;
        timeline->units[timeline->causes] = timeline->names[timeline->causes] = mem_text(name);
        timeline->causes++;
    }
}

static bool detail_read(const char *text, enum detail *detail, struct error *err) {
    *detail = DETAIL_SMS;
    for (unsigned i = 0; text && i < COUNT_OF(detail_names); i++)
        if (!strcmp(text, detail_names[i])) return *detail = (enum detail)i, true;
    return !text || error_set(err, "--timeline-detail `%s`: expected kernels, sms or ctas", text);
}

struct timeline *timeline_create(const struct timeline_options *options, const struct config *config,
                                 const struct stats *stats, struct error *err) {
    enum detail detail;
    if (!detail_read(options->detail, &detail, err)) return NULL;
    struct timeline *timeline = mem_alloc(1, sizeof *timeline);
    uint64_t megabytes = options->megabytes ? options->megabytes : DEFAULT_MEGABYTES;
    timeline->file = options->file;
    timeline->detail = detail;
    timeline->limit_bytes = megabytes * 1000000;
    timeline->sms = (unsigned)gpu_sms(config);
    timeline->cycles_per_us = (double)gpu_core_khz(config) / 1e3;
    timeline->open = mem_alloc((size_t)timeline->sms * SLOTS, sizeof *timeline->open);
    find_causes(timeline, stats);
    uint64_t tracks = 12 + (detail >= DETAIL_SMS ? timeline->sms : 0);
    uint64_t row_bytes = tracks * (EVENT_BYTES + timeline->causes * VALUE_BYTES);
    uint64_t rows = timeline->limit_bytes / 2 / row_bytes;
    timeline->rows = (unsigned)min_u64(max_u64(rows, ROWS_MIN), ROWS_MAX) & ~1u;
    if (rows < ROWS_MIN) {
        error_set(err, "--timeline-size %" PRIu64 ": this timeline needs at least %" PRIu64 " MB", megabytes,
                  2 * ROWS_MIN * row_bytes / 1000000 + 1);
        timeline_destroy(timeline);
        return NULL;
    }
    fprintf(stderr, "%s: at most %" PRIu64 " MB: up to %u intervals%s\n",
            strcmp(timeline->file, "-") == 0 ? "timeline" : timeline->file, megabytes, timeline->rows,
            detail == DETAIL_CTAS ? ", and CTAs as far as they fit" : "");
    return timeline;
}

void timeline_destroy(struct timeline *timeline) {
    if (!timeline) return;
    for (unsigned i = 0; i < timeline->causes; i++) free(timeline->names[i]);
    free(timeline->open);
    free(timeline->spans);
    free(timeline);
}

void timeline_ask(struct timeline *timeline, struct run_options *options) {
    options->timeline_rows = timeline->rows;
    if (timeline->detail >= DETAIL_SMS) options->timeline_units = timeline->units;
}

/* --- during the run --- */

static void span_end(struct timeline *timeline, struct span *open, uint64_t cycle) {
    if ((timeline->span_count + 1) * SPAN_BYTES > timeline->limit_bytes / 2) {
        timeline->left_out++;
    } else {
        if (timeline->span_count == timeline->span_room) {
            timeline->span_room = timeline->span_room ? 2 * timeline->span_room : 256;
            timeline->spans = mem_grow(timeline->spans, timeline->span_room, sizeof *timeline->spans);
        }
        timeline->spans[timeline->span_count] = *open;
        timeline->spans[timeline->span_count++].end = cycle;
    }
    *open = (struct span){0};
}

/* A CTA takes the first free slot of its SM. Slots in use have an end of NEVER. */
void timeline_cta(struct timeline *timeline, const struct cta_event *event) {
    if (timeline->detail != DETAIL_CTAS) return;
    struct span *open = &timeline->open[(size_t)event->sm * SLOTS];
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        bool used = open[slot].end == NEVER;
        if (event->ended ? !used || open[slot].cta != event->cta : used) continue;
        if (event->ended)
            span_end(timeline, &open[slot], event->cycle);
        else
            open[slot] =
                (struct span){.cta = event->cta, .begin = event->cycle, .end = NEVER, .sm = event->sm, .slot = slot};
        return;
    }
}

/* --- the file --- */

struct writer {
    struct timeline *timeline;
    const struct run_report *report;
    struct json json;
    FILE *out;
    uint64_t *stopped; /* by interval: cycles in which SMs are stopped for a reconfiguration */
    bool full;         /* further spans are left out */
};

/* In whole nanoseconds, as times are written: the end of a span, which a reader computes from its duration, is then not
 * after the beginning of the next one. Perfetto drops spans that overlap. */
static double microseconds(const struct writer *writer, uint64_t cycle) {
    return round(1e3 * (double)cycle / writer->timeline->cycles_per_us) / 1e3;
}

/* A number with few digits: the file holds many. */
static void put_number(struct json *json, const char *key, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    json_key(json, key);
    json_raw(json, text);
}

static void put_time(struct json *json, const char *key, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.3f", value);
    json_key(json, key);
    json_raw(json, text);
}

static void begin_event(struct writer *writer, const char *phase, const char *name, unsigned process, unsigned thread,
                        uint64_t cycle) {
    json_object_compact(&writer->json);
    json_put_text(&writer->json, "ph", phase);
    json_put_text(&writer->json, "name", name);
    json_put_unsigned(&writer->json, "pid", process);
    json_put_unsigned(&writer->json, "tid", thread);
    put_time(&writer->json, "ts", microseconds(writer, cycle));
}

static void begin_arguments(struct writer *writer) {
    json_key(&writer->json, "args");
    json_object_compact(&writer->json);
}

/* Ends the arguments and the event. */
static void end_event(struct writer *writer) {
    json_end(&writer->json);
    json_end(&writer->json);
}

static void put_name(struct writer *writer, const char *what, unsigned process, unsigned thread, const char *name) {
    begin_event(writer, "M", what, process, thread, 0);
    begin_arguments(writer);
    json_put_text(&writer->json, "name", name);
    end_event(writer);
}

/* Viewers sort processes by name unless told otherwise: SM 10 before SM 2, and the GPU last. */
static void put_process(struct writer *writer, unsigned process, const char *name) {
    put_name(writer, "process_name", process, 0, name);
    begin_event(writer, "M", "process_sort_index", process, 0, 0);
    begin_arguments(writer);
    json_put_unsigned(&writer->json, "sort_index", process);
    end_event(writer);
}

/* A span; its arguments follow. */
static void begin_span(struct writer *writer, const char *name, unsigned process, unsigned thread, uint64_t begin,
                       uint64_t end) {
    begin_event(writer, "X", name, process, thread, begin);
    put_time(&writer->json, "dur", microseconds(writer, end) - microseconds(writer, begin));
    begin_arguments(writer);
}

/* Whether another span fits; what does not is counted. The file has a position: standard output is written at once. */
static bool fits(struct writer *writer) {
    if (!writer->full)
        writer->full = (uint64_t)ftell(writer->out) + SPAN_BYTES + TAIL_BYTES > writer->timeline->limit_bytes;
    writer->timeline->left_out += writer->full;
    return !writer->full;
}

static void put_kernels(struct writer *writer) {
    const struct run_result *result = writer->report->result;
    const struct report_programs *programs = &writer->report->programs;
    for (unsigned i = 0; i < programs->count; i++) {
        char name[128];
        snprintf(name, sizeof name, programs->count > 1 ? "kernels of %s" : "kernels", programs->program[i].workload);
        put_name(writer, "thread_name", PROCESS_GPU, THREAD_KERNELS + i, name);
    }
    for (unsigned i = 0; i < result->kernel_count; i++) {
        const struct kernel_result *kernel = &result->kernels[i];
        if (!fits(writer)) continue;
        begin_span(writer, kernel->kernel.name, PROCESS_GPU, THREAD_KERNELS + kernel->program, kernel->begins,
                   kernel->begins + kernel->cycles);
        json_put_unsigned(&writer->json, "launch", kernel->kernel.number);
        json_put_unsigned(&writer->json, "CTAs", kernel_ctas(&kernel->kernel));
        json_put_unsigned(&writer->json, "cycles", kernel->cycles);
        put_number(&writer->json, "IPC", ratio((double)kernel->thread_instructions, (double)kernel->cycles));
        end_event(writer);
    }
}

/* The mode of a mechanism from each decision to the next one. */
static void put_mechanism(struct writer *writer, const struct journal_mechanism *mechanism, unsigned thread) {
    const struct journal *journal = writer->report->journal;
    const char *mode = mechanism->mode, *reason = "start";
    uint64_t since = 0, end = writer->report->result->cycles;
    put_name(writer, "thread_name", PROCESS_GPU, thread, mechanism->name);
    for (unsigned i = 0; i <= journal->count; i++) {
        const struct journal_entry *entry = i < journal->count ? &journal->entries[i] : NULL;
        if (entry && strcmp(entry->mechanism, mechanism->name) != 0) continue;
        uint64_t until = entry ? entry->cycle : end;
        if (mode && until > since && fits(writer)) {
            begin_span(writer, mode, PROCESS_GPU, thread, since, until);
            json_put_text(&writer->json, "reason", reason);
            end_event(writer);
        }
        if (!entry) break;
        since = until;
        if (entry->decision) mode = entry->decision;
        if (entry->reason) reason = entry->reason;
    }
}

static void put_ctas(struct writer *writer) {
    const struct timeline *timeline = writer->timeline;
    for (unsigned sm = 0; sm < timeline->sms; sm++) {
        char name[32];
        snprintf(name, sizeof name, "CTAs of SM %u", sm);
        put_process(writer, PROCESS_CTAS + sm, name);
    }
    for (uint64_t i = 0; i < timeline->span_count; i++) {
        const struct span *span = &timeline->spans[i];
        char name[32];
        if (!fits(writer)) continue;
        snprintf(name, sizeof name, "CTA %" PRIu64, span->cta);
        begin_span(writer, name, PROCESS_CTAS + span->sm, span->slot + 1, span->begin, span->end);
        end_event(writer);
    }
}

/* --- values over time --- */

struct interval {
    uint64_t begin, cycles;
    unsigned row;
};

static double value_of(const struct writer *writer, const struct interval *at, const char *name) {
    int index = stats_find(writer->report->stats, name);
    return index < 0 ? 0 : (double)series_value(writer->report->result->timeline, at->row, (unsigned)index);
}

static void begin_counter(struct writer *writer, const char *name, unsigned process, const struct interval *at) {
    begin_event(writer, "C", name, process, 0, at->begin);
    begin_arguments(writer);
}

static void put_value(struct writer *writer, const char *name, const struct interval *at, const char *unit,
                      double value) {
    begin_counter(writer, name, PROCESS_GPU, at);
    put_number(&writer->json, unit, value);
    end_event(writer);
}

static const char *cause_name(const struct timeline *timeline, unsigned cause) {
    const char *name = timeline->names[cause], *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* Shares of the cycles of an SM, or of all (`sm` is their number), for the causes that it ever has. */
static void put_causes(struct writer *writer, const struct interval *at, unsigned sm) {
    const struct timeline *timeline = writer->timeline;
    const struct series *series = writer->report->result->timeline;
    bool all = sm == timeline->sms;
    char name[32];
    snprintf(name, sizeof name, all ? "SM cycles (%%)" : "SM %u (%%)", sm);
    begin_counter(writer, name, all ? PROCESS_GPU : PROCESS_SMS, at);
    for (unsigned i = 0; i < timeline->causes; i++) {
        const struct stats *stats = writer->report->stats;
        if (!(all ? stats_total(stats, timeline->cause[i]) : stats_instance(stats, timeline->cause[i], sm))) continue;
        uint64_t cycles =
            all ? series_value(series, at->row, timeline->cause[i]) : series_unit_value(series, at->row, i, sm);
        uint64_t whole = at->cycles * (all ? timeline->sms : 1);
        put_number(&writer->json, cause_name(timeline, i), 100 * ratio((double)cycles, (double)whole));
    }
    end_event(writer);
}

struct place {
    const struct writer *writer;
    const struct interval *at;
};

static double value_at(const void *place, const char *name) {
    const struct place *p = place;
    return value_of(p->writer, p->at, name);
}

/* An interval without a read shows none. */
static double hit_share(const struct writer *writer, const struct interval *at, const char *cache) {
    double hits = report_read_hits(cache, value_at, &(struct place){writer, at});
    return hits < 0 ? 0 : hits;
}

/* By Little's law: the time that all packets spend in the network, over the time. */
static double packets_under_way(const struct writer *writer, const struct interval *at, const char *counter) {
    const struct noc_config *noc = config_get(writer->report->config, &noc_section);
    double clock = noc->clock_mhz ? (double)noc->clock_mhz / writer->timeline->cycles_per_us : 1;
    return ratio(value_of(writer, at, counter), (double)at->cycles * clock);
}

/* By Little's law, too: the latencies of all reads, from entering a queue to the last data, over the time. A read counts in the
 * interval in which it ends. */
static double reads_in_flight(const struct writer *writer, const struct interval *at) {
    const struct dram_config *dram = config_get(writer->report->config, &dram_section);
    double clock = dram->clock_mhz ? (double)dram->clock_mhz / writer->timeline->cycles_per_us : 1;
    return ratio(value_of(writer, at, "dram.read_cycles"), (double)at->cycles * clock);
}

/* Shares of the cycles of all units (slices, channels) in which something is full. */
struct fullness {
    const char *counter, *name;
};

static void put_fullness(struct writer *writer, const char *track, const struct interval *at,
                         const struct fullness *parts, unsigned count) {
    begin_counter(writer, track, PROCESS_GPU, at);
    for (unsigned i = 0; i < count; i++) {
        int index = stats_find(writer->report->stats, parts[i].counter);
        unsigned units = index < 0 ? 0 : stats_instances(writer->report->stats, (unsigned)index);
        put_number(&writer->json, parts[i].name,
                   100 * ratio(value_of(writer, at, parts[i].counter), (double)at->cycles * units));
    }
    end_event(writer);
}

static void put_queues(struct writer *writer, const struct interval *at) {
    static const struct fullness slices[] = {{"llc.reservation_fail.mshr", "MSHRs"},
                                             {"llc.reservation_fail.mshr_merge", "MSHR merge limit"},
                                             {"llc.reservation_fail.line", "lines reserved"},
                                             {"llc.reservation_fail.reply_queue", "reply queue"},
                                             {"llc.reservation_fail.memory_queue", "memory queue"}},
                                 channels[] = {{"dram.queue_full_cycles", "queue"}};
    put_fullness(writer, "LLC slices blocked (%)", at, slices, COUNT_OF(slices));
    put_value(writer, "DRAM reads in flight", at, "reads", reads_in_flight(writer, at));
    put_fullness(writer, "DRAM queues full (%)", at, channels, COUNT_OF(channels));
}

static void put_machine(struct writer *writer, const struct interval *at) {
    double us = (double)at->cycles / writer->timeline->cycles_per_us;
    double peak = dram_peak_bytes_per_us(writer->report->config);
    put_causes(writer, at, writer->timeline->sms);
    put_value(writer, "IPC", at, "thread instructions per cycle",
              ratio(value_of(writer, at, "sm.thread_instructions"), (double)at->cycles));
    put_value(writer, "L1 read hits", at, "%", hit_share(writer, at, "l1"));
    put_value(writer, "LLC read hits", at, "%", hit_share(writer, at, "llc"));
    put_value(writer, "request network", at, "packets", packets_under_way(writer, at, "noc.request.packet_cycles"));
    put_value(writer, "reply network", at, "packets", packets_under_way(writer, at, "noc.reply.packet_cycles"));
    put_queues(writer, at);
    begin_counter(writer, "DRAM bus", PROCESS_GPU, at);
    put_number(&writer->json, "reads (%)", 100 * ratio(value_of(writer, at, "dram.read_bytes"), peak * us));
    put_number(&writer->json, "writes (%)", 100 * ratio(value_of(writer, at, "dram.write_bytes"), peak * us));
    end_event(writer);
    if (stats_get(writer->report->stats, "control.reconfigurations", NULL))
        put_value(writer, "reconfiguration", at, "% of time stopped",
                  100 * ratio((double)writer->stopped[at->row], (double)at->cycles));
}

/* The control plane counts a stop at its end: what exceeds an interval is of the intervals before it. */
static void find_stops(struct writer *writer) {
    const struct series *series = writer->report->result->timeline;
    int index = stats_find(writer->report->stats, "control.stop_cycles");
    unsigned rows = series_rows(series);
    uint64_t rest = 0;
    writer->stopped = mem_alloc(rows + 1, sizeof *writer->stopped);
    for (unsigned row = rows; row-- > 0 && index >= 0;) {
        uint64_t cycles = series_cycle(series, row) - (row ? series_cycle(series, row - 1) : 0);
        rest += series_value(series, row, (unsigned)index);
        writer->stopped[row] = min_u64(rest, cycles);
        rest -= writer->stopped[row];
    }
}

/* Whether the SM ever had work. */
static bool has_worked(const struct writer *writer, unsigned sm) {
    uint64_t cycles = 0;
    for (unsigned i = 0; i < writer->timeline->causes; i++)
        cycles += stats_instance(writer->report->stats, writer->timeline->cause[i], sm);
    return cycles;
}

static void put_intervals(struct writer *writer) {
    const struct timeline *timeline = writer->timeline;
    const struct series *series = writer->report->result->timeline;
    struct interval at = {0};
    find_stops(writer);
    for (at.row = 0; at.row < series_rows(series); at.row++) {
        uint64_t end = series_cycle(series, at.row);
        at.cycles = end - at.begin;
        if (at.cycles) {
            put_machine(writer, &at);
            for (unsigned sm = 0; timeline->detail >= DETAIL_SMS && sm < timeline->sms; sm++)
                if (has_worked(writer, sm)) put_causes(writer, &at, sm);
        }
        at.begin = end;
    }
    free(writer->stopped);
}

static void put_other(struct writer *writer) {
    const struct run_report *report = writer->report;
    json_key(&writer->json, "otherData");
    json_object(&writer->json);
    json_put_text(&writer->json, "sluice", SLUICE_VERSION);
    json_put_text(&writer->json, "workload", report->workload);
    json_put_text(&writer->json, "gpu", report->gpu);
    json_put_text(&writer->json, "design", report->design);
    json_put_unsigned(&writer->json, "cycles", report->result->cycles);
    json_put_unsigned(&writer->json, "interval_cycles", series_every(report->result->timeline));
    json_put_text(&writer->json, "detail", detail_names[writer->timeline->detail]);
    json_put_unsigned(&writer->json, "left_out", writer->timeline->left_out);
    json_end(&writer->json);
}

static void write_events(FILE *out, const void *what) {
    struct writer *writer = *(struct writer *const *)what;
    const struct journal *journal = writer->report->journal;
    writer->out = out;
    json_start(&writer->json, out);
    json_object(&writer->json);
    json_put_text(&writer->json, "displayTimeUnit", "ns");
    json_key(&writer->json, "traceEvents");
    json_array(&writer->json);
    put_process(writer, PROCESS_GPU, "GPU");
    if (writer->timeline->detail >= DETAIL_SMS) put_process(writer, PROCESS_SMS, "SMs");
    put_intervals(writer);
    put_kernels(writer);
    for (unsigned i = 0; i < journal->mechanism_count; i++)
        put_mechanism(writer, &journal->mechanisms[i], THREAD_MECHANISMS + i);
    if (writer->timeline->detail == DETAIL_CTAS) put_ctas(writer);
    json_end(&writer->json);
    put_other(writer);
    json_end(&writer->json);
    json_finish(&writer->json);
}

static void write_text(FILE *out, const void *text) { fputs(text, out); }

bool timeline_write(struct timeline *timeline, const struct run_report *report, struct error *err) {
    uint64_t end = report->result->cycles;
    for (size_t i = 0; i < (size_t)timeline->sms * SLOTS; i++)
        if (timeline->open[i].end == NEVER) span_end(timeline, &timeline->open[i], end);
    struct writer writer = {.timeline = timeline, .report = report}, *at = &writer;
    if (strcmp(timeline->file, "-") != 0) return output_write(timeline->file, write_events, &at, err);
    char *text;
    size_t size;
    FILE *memory = text_open(&text, &size, err);
    if (!memory) return false;
    write_events(memory, &at);
    if (!text_close(memory, &text, err)) return false;
    bool good = output_write("-", write_text, text, err);
    free(text);
    return good;
}
