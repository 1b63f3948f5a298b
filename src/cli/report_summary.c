/* The summary of a run: one screen. Every value is derived here, from counters by name; a counter that the machine does
 * not have has no line. */
#include <inttypes.h>
#include <langinfo.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/decisions.h"
#include "cli/report.h"
#include "cli/style.h"
#include "dram/dram_config.h"
#include "l1/l1.h"
#include "noc/noc.h"
#include "sim/gpu_config.h"

enum { BAR_WIDTH = 40 };

struct digits grouped(uint64_t number) {
    char plain[24];
    struct digits grouped;
    int length = snprintf(plain, sizeof plain, "%" PRIu64, number);
    char *to = grouped.text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) *to++ = ',';
        *to++ = plain[i];
    }
    *to = '\0';
    return grouped;
}

void report_title(FILE *out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(out, "\n  %s", style(out, STYLE_TITLE));
    vfprintf(out, format, arguments);
    fprintf(out, "%s\n", style(out, STYLE_NONE));
    va_end(arguments);
}

static double percent(uint64_t part, uint64_t whole) { return 100 * ratio((double)part, (double)whole); }

struct summary {
    FILE *out;
    const struct run_report *report;
    double seconds; /* simulated */
    bool unicode;
};

static uint64_t count(const struct summary *summary, const char *name) {
    return stats_get(summary->report->stats, name, NULL);
}

static double total(const void *stats, const char *name) { return (double)stats_get(stats, name, NULL); }

static bool has(const struct summary *summary, const char *name) {
    _Bool found;
    stats_get(summary->report->stats, name, &found);
    return found;
}

static double gigabytes_per_second(const struct summary *summary, double bytes) {
    return ratio(bytes, summary->seconds) / 1e9;
}

/* Head */

/* "32 KB", or "0 to 96 KB" if kernels differ. */
static void write_carve_outs(const struct summary *summary) {
    const struct run_result *result = summary->report->result;
    const struct l1_config *l1 = config_get(summary->report->config, &l1_section);
    int least = INT_MAX, most = -1;
    for (unsigned i = 0; i < result->kernel_count; i++) {
        int kb = result->kernels[i].carve_out_kb;
        least = kb < least ? kb : least;
        most = kb > most ? kb : most;
    }
    if (most < 0) return;
    char text[32];
    snprintf(text, sizeof text, least < most ? "%d to %d KB" : "%d KB", least, most);
    fprintf(summary->out, "  shared memory %14s   of the array of %lld KB; the L1 has the rest\n", text,
            (long long)l1->size_kb);
}

static void write_head(const struct summary *summary) {
    const struct run_report *report = summary->report;
    const struct run_result *result = report->result;
    FILE *out = summary->out;
    fprintf(out, "%s%s on %s", style(out, STYLE_TITLE), report->workload, report->gpu);
    if (strcmp(report->design, "default") != 0) fprintf(out, ", design %s", report->design);
    fprintf(out, "%s%s\n\n", style(out, STYLE_NONE), report->interrupted ? " (interrupted)" : "");
    bool long_run = summary->seconds >= 1e-3;
    fprintf(out, "  cycles        %14s   %.2f %s at %" PRIu64 " MHz\n", grouped(result->cycles).text,
            summary->seconds * (long_run ? 1e3 : 1e6), long_run ? "ms" : "us", gpu_core_khz(report->config) / 1000);
    fprintf(out, "  instructions  %14s   thread instructions (%s warp instructions)\n",
            grouped(result->thread_instructions).text, grouped(result->warp_instructions).text);
    double ipc = ratio((double)result->thread_instructions, (double)result->cycles);
    fprintf(out, "  IPC           %14.*f   thread instructions per cycle\n", ipc < 1 ? 4 : 2, ipc);
    uint64_t loads = count(summary, "sm.loads");
    if (loads)
        fprintf(out, "  load latency  %14.1f   cycles on average (min %s, max %s)\n",
                ratio((double)count(summary, "sm.load_cycles"), (double)loads),
                grouped(count(summary, "sm.load_cycles_min")).text, grouped(count(summary, "sm.load_cycles_max")).text);
    bool failed = strcmp(report->check, "failed") == 0;
    if (strcmp(report->check, "none") != 0)
        fprintf(out, "  check         %s%14s%s\n", style(out, failed ? STYLE_BAD : STYLE_GOOD), report->check,
                style(out, STYLE_NONE));
    if (result->kernel_count > 1) fprintf(out, "  kernels       %14u\n", result->kernel_count);
    write_carve_outs(summary);
}

static void write_programs(const struct summary *summary) {
    const struct report_programs *programs = &summary->report->programs;
    report_title(summary->out, "concurrent programs, each until its first completion");
    for (unsigned i = 0; i < programs->count; i++) {
        const struct report_program *program = &programs->program[i];
        double ipc = report_program_ipc(program);
        fprintf(summary->out, "    %-14s %12s cycles, IPC %.2f", program->workload, grouped(program->stats.cycles).text,
                ipc);
        if (program->alone_ipc > 0)
            fprintf(summary->out, ", %.1f %% of %.2f alone", 100 * ipc / program->alone_ipc, program->alone_ipc);
        if (program->stats.ends > 1) fprintf(summary->out, "; completed %s times", grouped(program->stats.ends).text);
        fputc('\n', summary->out);
    }
    if (report_stp(programs) > 0)
        fprintf(summary->out, "    STP %.3f, ANTT %.3f\n", report_stp(programs), report_antt(programs));
}

/* SM cycle breakdown */

struct share {
    char name[32];
    uint64_t cycles;
};

static int larger_share(const void *a, const void *b) {
    uint64_t x = ((const struct share *)a)->cycles, y = ((const struct share *)b)->cycles;
    return (x < y) - (x > y);
}

static void write_share(const struct summary *summary, const struct share *share, uint64_t whole) {
    unsigned filled = (unsigned)((share->cycles * BAR_WIDTH + whole / 2) / whole);
    bool issuing = strcmp(share->name, "issuing") == 0;
    fprintf(summary->out, "    %-12s %5.1f %%  %s", share->name, percent(share->cycles, whole),
            style(summary->out, issuing ? STYLE_GOOD : STYLE_WARNING));
    for (unsigned i = 0; i < filled; i++) fputs(summary->unicode ? "\xE2\x96\x88" : "#", summary->out);
    fprintf(summary->out, "%s\n", style(summary->out, STYLE_NONE));
}

static void write_cycles(const struct summary *summary) {
    static const char prefix[] = "sm.stall.";
    const struct stats *stats = summary->report->stats;
    uint64_t whole = count(summary, "sm.cycles");
    if (whole == 0) return;
    struct share shares[32] = {{"issuing", count(summary, "sm.issuing")}};
    unsigned shown = 1, sms = 0;
    for (unsigned i = 0; i < stats_count(stats) && shown < COUNT_OF(shares); i++) {
        char name[128];
        stats_name(stats, i, name, sizeof name);
        if (strncmp(name, prefix, strlen(prefix)) != 0) continue;
        sms = stats_instances(stats, i);
        struct share *share = &shares[shown];
        snprintf(share->name, sizeof share->name, "%.31s", name + strlen(prefix));
        for (char *c = share->name; *c; c++) *c = *c == '_' ? ' ' : *c;
        share->cycles = stats_total(stats, i);
        shown += share->cycles * 1000 >= whole; /* parts below 0.1 % are not shown */
    }
    qsort(&shares[1], shown - 1, sizeof shares[0], larger_share);
    report_title(summary->out, "SM cycle breakdown (%u SMs)", sms);
    for (unsigned i = 0; i < shown; i++) write_share(summary, &shares[i], whole);
}

/* The memory hierarchy, one line per level */

/* The LLC as a whole includes near copies; reads that miss there are counted at their home slices. */
static void write_cache(const struct summary *summary, const char *label, const char *prefix) {
    static const char *const parts[] = {"read_hits",     "read_pending_hits", "read_misses",
                                        "read_bypasses", "write_hits",        "write_misses"};
    uint64_t value[COUNT_OF(parts)];
    char name[64];
    for (unsigned i = 0; i < COUNT_OF(parts); i++) {
        snprintf(name, sizeof name, "%s.%s", prefix, parts[i]);
        value[i] = count(summary, name);
    }
    snprintf(name, sizeof name, "%s.read_hits", prefix);
    if (!has(summary, name)) return;
    if (strcmp(prefix, "llc") == 0) {
        value[0] += count(summary, "copies.read_hits");
        value[1] += count(summary, "copies.read_pending_hits");
    }
    uint64_t reads = value[0] + value[1] + value[2] + value[3], writes = value[4] + value[5];
    fprintf(summary->out, "    %-8s %12s reads", label, grouped(reads).text);
    if (reads)
        fprintf(summary->out, ": %.1f %% hits, %.1f %% pending hits, %.1f %% misses", percent(value[0], reads),
                percent(value[1], reads), percent(value[2], reads));
    if (value[3] * 1000 >= reads && value[3] > 0) fprintf(summary->out, ", %.1f %% bypassed", percent(value[3], reads));
    if (writes) fprintf(summary->out, "; %s writes: %.1f %% hits", grouped(writes).text, percent(value[4], writes));
    fputc('\n', summary->out);
}

static void write_bridges(const struct summary *summary) {
    if (!has(summary, "bridge.requests")) return;
    uint64_t requests = count(summary, "bridge.requests"), fetches = count(summary, "bridge.fetches"),
             bytes = count(summary, "bridge.request_bytes") + count(summary, "bridge.reply_bytes");
    fprintf(summary->out, "    %-8s %12s crossings: %s requests, %s fetches of copies; %.1f GB/s\n", "bridges",
            grouped(requests + fetches).text, grouped(requests).text, grouped(fetches).text,
            gigabytes_per_second(summary, (double)bytes));
}

static void write_network(const struct summary *summary, const char *label, const char *prefix) {
    char name[64];
    snprintf(name, sizeof name, "%s.packets_ejected", prefix);
    if (!has(summary, name)) return;
    uint64_t packets = count(summary, name);
    snprintf(name, sizeof name, "%s.flits_ejected", prefix);
    uint64_t flits = count(summary, name);
    snprintf(name, sizeof name, "%s.packet_cycles", prefix);
    double latency = ratio((double)count(summary, name), (double)packets);
    const struct noc_config *noc = config_get(summary->report->config, &noc_section);
    fprintf(summary->out, "    %-8s %12s packets: %.1f GB/s, %.1f network cycles on average\n", label,
            grouped(packets).text, gigabytes_per_second(summary, (double)flits * (double)noc->channel_bytes), latency);
}

static void write_dram(const struct summary *summary) {
    if (!has(summary, "dram.read_bytes")) return;
    uint64_t reads = count(summary, "dram.read_bytes"), writes = count(summary, "dram.write_bytes");
    uint64_t hits = count(summary, "dram.row_hits"),
             columns = hits + count(summary, "dram.row_misses") + count(summary, "dram.row_conflicts");
    double carried = gigabytes_per_second(summary, (double)(reads + writes)),
           peak = dram_peak_bytes_per_us(summary->report->config) / 1000;
    fprintf(summary->out, "    %-8s %12s requests: %.1f GB/s, %.1f %% of peak (%.0f GB/s)", "DRAM",
            grouped(count(summary, "dram.reads") + count(summary, "dram.writes")).text, carried,
            100 * ratio(carried, peak), peak);
    if (columns) fprintf(summary->out, "; %.1f %% row hits", percent(hits, columns));
    if (writes) fprintf(summary->out, "; %.1f %% writes", percent(writes, reads + writes));
    fputc('\n', summary->out);
}

static void write_decisions(const struct summary *summary) {
    const struct run_report *report = summary->report;
    const struct report_programs *programs = &report->programs;
    const char *names[PROGRAMS_MAX] = {report->workload};
    for (unsigned i = 0; i < programs->count; i++) names[i] = programs->program[i].workload;
    struct decisions decisions = decisions_of(report->journal, programs->count, report->result->cycles);
    decisions_write(summary->out, &decisions, NULL, names);
    decisions_release(&decisions);
}

static const char *scaled(double value, char *text, size_t size) {
    if (value >= 1e6)
        snprintf(text, size, "%.2f M", value / 1e6);
    else
        snprintf(text, size, "%.1f k", value / 1e3);
    return text;
}

static void write_host(const struct summary *summary) {
    const struct run_report *report = summary->report;
    char instructions[32], cycles[32];
    scaled(ratio((double)report->result->warp_instructions, report->host_seconds), instructions, sizeof instructions);
    scaled(ratio((double)report->result->cycles, report->host_seconds), cycles, sizeof cycles);
    fprintf(summary->out, "\n  simulated in %.2f s: %s warp instructions/s, %s cycles/s, %" PRIu64 " MB peak memory\n",
            report->host_seconds, instructions, cycles, report->host_peak_rss_bytes >> 20);
}

void report_write_summary(FILE *out, const struct run_report *report) {
    double hertz = (double)gpu_core_khz(report->config) * 1e3;
    struct summary summary = {
        .out = out,
        .report = report,
        .seconds = ratio((double)report->result->cycles, hertz),
        .unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
    };
    write_head(&summary);
    if (report->programs.count > 1) write_programs(&summary);
    write_cycles(&summary);
    report_title(out, "memory hierarchy");
    write_cache(&summary, "L1", "l1");
    write_network(&summary, "requests", "noc.request");
    write_cache(&summary, "LLC", "llc");
    write_cache(&summary, "copies", "copies");
    write_bridges(&summary);
    write_network(&summary, "replies", "noc.reply");
    write_dram(&summary);
    report_write_latency(out, NULL, total, report->stats);
    if (report->result->kernel_series && report->kernel_table) report_write_kernels(out, report);
    if (report->launches && report->launches->chosen) report_write_sampling(out, report);
    write_decisions(&summary);
    write_host(&summary);
}
