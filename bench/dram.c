/* Compares the memory model with the reference tools: replays request traces through one channel and prints bandwidth, row hits and latency beside what
 * Ramulator and DRAMsim3 measured for the same trace, load and timings (data/reference/dram).
 *
 *     dram                          every trace, load and variant of the reference
 *     dram --quick                  the same, but only the loads 0.3 and sat
 *     dram [OPTION...] TRACE...     the curve of a trace of the same format (CSV: idx,row,bank,bankgroup,col,addr_hex,rw; `.xz` by the xz tool)
 *         --variant NAME            timings: hbmp (default for hbmp_* files), hbm, gddr5, gddr5p, with suffix _norefresh or _dramsim3
 *         --loads 0.1,0.5,sat       offered loads, as fractions of the peak
 *         --set KEY=VALUE           changes the memory further
 *
 * Request i arrives in cycle floor(i · burst cycles / load), or at once with `sat`; at most one enters the queue per cycle, in order. Latency is from entering the
 * queue to the last data, in memory cycles.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "dram/dram.h"
#include "dram/dram_config.h"
#include "gpu/engine.h"
#include "gpu/gpu_config.h"
#include "gpu/port.h"

#ifndef SLUICE_SOURCE_DIR
#define SLUICE_SOURCE_DIR "."
#endif
static const char data_folder[] = SLUICE_SOURCE_DIR "/data/reference/dram";

enum { TRACE_MAX = 1 << 22, EXTRA_MAX = 32 };

struct access {
    uint32_t row, column;
    uint8_t bank, group, write;
};

struct trace {
    struct access *access;
    unsigned count;
};

/* ------------------------------------------------------------------ input */

static FILE *open_text(const char *path, bool *piped) {
    size_t length = strlen(path);
    *piped = length > 3 && strcmp(path + length - 3, ".xz") == 0;
    if (!*piped) return fopen(path, "r");
    char command[1200];
    snprintf(command, sizeof command, "xz -dc '%s'", path);
    return popen(command, "r");
}

static bool trace_read(struct trace *trace, const char *path) {
    bool piped;
    FILE *file = open_text(path, &piped);
    if (!file) return false;
    char line[256];
    unsigned room = 0;
    *trace = (struct trace){0};
    while (fgets(line, sizeof line, file) && trace->count < TRACE_MAX) {
        unsigned index, row, bank, group, column;
        char address[32], kind;
        if (sscanf(line, "%u,%u,%u,%u,%u,%31[^,],%c", &index, &row, &bank, &group, &column, address, &kind) != 7) continue;
        if (trace->count == room) {
            room = room ? room * 2 : 4096;
            trace->access = mem_grow(trace->access, room, sizeof *trace->access);
        }
        trace->access[trace->count++] = (struct access){row, column, (uint8_t)bank, (uint8_t)group, kind == 'W'};
    }
    if (piped) {
        pclose(file);
    } else {
        fclose(file);
    }
    return trace->count > 0;
}

/* ------------------------------------------------------- one run of a trace */

/* Stands for a slice: sends the trace's requests when they are due and takes the replies. */
struct feeder {
    const struct trace *trace;
    const struct address_map *map;
    const struct dram_device *device;
    struct port *out, *in;
    struct engine *engine;
    unsigned component, sent, answered;
    double load; /* 0: everything at once */
    uint64_t last_reply;
};

static void feeder_tick(void *self, uint64_t now) {
    struct feeder *f = self;
    while (port_peek(f->in, now)) {
        port_pop(f->in, now);
        f->answered++;
        f->last_reply = now;
    }
    if (f->sent == f->trace->count) return;
    uint64_t due = f->load > 0 ? (uint64_t)((double)f->sent * (double)f->device->burst_cycles / f->load) : 0;
    if (due > now) {
        engine_wake(f->engine, f->component, due);
        return;
    }
    if (!port_can_push(f->out, now)) {
        port_await_credit(f->out, now);
        return;
    }
    const struct access *a = &f->trace->access[f->sent];
    unsigned per_burst = (unsigned)f->device->burst_bytes / SECTOR_BYTES;
    uint32_t byte = a->column * (uint32_t)f->device->burst_bytes;
    struct location place = {.bank = (uint16_t)(a->bank * (unsigned)f->device->bank_groups + a->group), .row = a->row, .column = byte & ~127u};
    struct message message = {.address = address_map_address(f->map, &place), .tag = f->sent, .kind = a->write ? MESSAGE_WRITE : MESSAGE_READ};
    message.sectors = (uint8_t)(low_mask(per_burst) << (byte % 128 / SECTOR_BYTES));
    port_push(f->out, now, &message, sizeof message);
    f->sent++;
    if (f->sent < f->trace->count) engine_wake(f->engine, f->component, now + 1);
}

static const struct component_ops feeder_ops = {.kind = "feeder", .tick = feeder_tick};

struct result {
    double bandwidth, hit_rate, latency;
    uint64_t cycles, column_commands, activates;
};



static struct result run_trace(const struct config *config, const struct trace *trace, double load, uint64_t cycles) {
    struct error err = {0};
    struct engine *engine = engine_create();
    struct stats *stats = stats_create();
    struct address_map *map = address_map_create(config, &err);
    const struct dram_device *device = dram_device_of(config);
    struct feeder feeder = {.trace = trace, .map = map, .device = device, .engine = engine, .load = load};
    feeder.component = engine_add(engine, &feeder_ops, &feeder, 0);
    struct dram *dram = dram_create(config, map, &feeder.component, engine, gpu_core_khz(config), stats, &err);
    feeder.out = dram_input(dram, 0);
    feeder.in = dram_output(dram, 0);
    engine_wake(engine, feeder.component, 0);
    while (engine->now < cycles && feeder.answered < trace->count) engine_run_until(engine, min_u64(cycles, engine->now + 256));
    uint64_t elapsed = feeder.answered == trace->count ? feeder.last_reply : cycles;
    uint64_t bytes = stats_get(stats, "dram.read_bytes", NULL) + stats_get(stats, "dram.write_bytes", NULL);
    uint64_t hits = stats_get(stats, "dram.row_hits", NULL);
    uint64_t columns = hits + stats_get(stats, "dram.row_misses", NULL) + stats_get(stats, "dram.row_conflicts", NULL);
    struct result result = {
        .bandwidth = (double)bytes / (double)device->burst_bytes * (double)device->burst_cycles / (double)elapsed,
        .hit_rate = (double)hits / (double)(columns ? columns : 1),
        .latency = (double)stats_get(stats, "dram.read_cycles", NULL) / (double)max_u64(1, stats_get(stats, "dram.reads", NULL)),
        .cycles = elapsed,
        .column_commands = columns,
        .activates = stats_get(stats, "dram.activates", NULL),
    };
    dram_destroy(dram);
    address_map_destroy(map);
    stats_destroy(stats);
    engine_destroy(engine);
    return result;
}

/* ------------------------------------------------------------- the variants */

static void set_all(struct config *config, const char *const *assignments) {
    struct error err = {0};
    for (; *assignments; assignments++)
        if (!config_set(config, *assignments, &err)) {
            fprintf(stderr, "%s\n", err.text);
            exit(2);
        }
}

/* The memory of a variant of the reference: "hbmp", "hbmp_norefresh", "hbmp_dramsim3" (two command buses), "hbm", "gddr5", "gddr5p", ... */
static struct config *variant_config(const char *variant, const char *const *extra) {
    static const char *const common[] = {"llc.slices_per_mc=1", "dram.mcs=1", "dram.channels_per_mc=1", "dram.clock_mhz=0", "dram.mapping=hynix",
                                         "dram.read_queue=32", "dram.write_queue=32", "dram.write_drain=true", NULL};
    static const char *const hbmp[] = {"dram.kind=hbm", "dram.hbm.two_command_buses=false", "dram.hbm.refresh=true", NULL};
    static const char *const hbm[] = {"dram.kind=hbm", "dram.hbm.two_command_buses=false", "dram.hbm.refresh=true", "dram.hbm.burst_bytes=64",
                                      "dram.hbm.burst_cycles=2", "dram.hbm.tCCDS=2", "dram.hbm.tCCDL=3", "dram.hbm.tWL=4", NULL};
    static const char *const gddr5[] = {"dram.kind=gddr5", "dram.gddr5.tWL=3", "dram.gddr5.tRCDW=10", "dram.gddr5.tFAW=23", "dram.gddr5.refresh=true",
                                        "dram.gddr5.tRFC=160", "dram.gddr5.tREFI=1900", NULL};
    /* What the stock devices' rows show: at most 16 row hits go first. Those with the papers' timings have no such cap. */
    static const char *const stock[] = {"dram.row_hit_cap=16", NULL};
    static const char *const gddr5p[] = {"dram.gddr5.tCCDL=2", "dram.gddr5.tRCDW=12", NULL};
    static const char *const norefresh[] = {"dram.hbm.refresh=false", "dram.gddr5.refresh=false", NULL};
    static const char *const dramsim3[] = {"dram.hbm.two_command_buses=true", "dram.bank_queue=8", "dram.drain_high_percent=97",
                                           "dram.drain_low_percent=1", "dram.drain_idle_writes=8", NULL};
    struct config *config = config_create(config_sections, config_section_count);
    set_all(config, common);
    bool is_gddr5p = strncmp(variant, "gddr5p", 6) == 0;
    set_all(config, strncmp(variant, "hbmp", 4) == 0 ? hbmp : strncmp(variant, "hbm", 3) == 0 ? hbm : gddr5);
    if (is_gddr5p) set_all(config, gddr5p);
    if (strcmp(variant, "gddr5") == 0 || strcmp(variant, "hbm") == 0) set_all(config, stock);
    if (strstr(variant, "_norefresh")) set_all(config, norefresh);
    if (strstr(variant, "_dramsim3")) set_all(config, dramsim3);
    set_all(config, extra);
    struct error err = {0};
    if (!config_check(config, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(2);
    }
    return config;
}

/* --------------------------------------------------------- the reference rows */

struct reference {
    char variant[32], trace[32], load[16];
    double bandwidth, hit_rate, latency;
    uint64_t cycles; /* 0: until all requests are served */
};

/* Field `index` of a CSV line. */
static void field_of(const char *line, unsigned index, char *field, size_t size) {
    for (; index; index--) line = strchr(line, ',') + 1;
    size_t length = strcspn(line, ",\n");
    if (length >= size) length = size - 1;
    memcpy(field, line, length);
    field[length] = 0;
}

static double number_of(const char *line, unsigned index) {
    char text[32];
    field_of(line, index, text, sizeof text);
    return strtod(text, NULL);
}

static unsigned read_references(const char *name, bool dramsim3, struct reference *rows, unsigned room) {
    char path[1024], line[512];
    snprintf(path, sizeof path, "%s/%s", data_folder, name);
    FILE *file = fopen(path, "r");
    unsigned count = 0;
    if (!file || !fgets(line, sizeof line, file)) {
        fprintf(stderr, "dram: cannot read %s\n", path);
        exit(2);
    }
    while (count < room && fgets(line, sizeof line, file)) {
        struct reference *row = &rows[count++];
        field_of(line, 0, row->variant, sizeof row->variant);
        field_of(line, 1, row->trace, sizeof row->trace);
        field_of(line, 2, row->load, sizeof row->load);
        row->bandwidth = number_of(line, 6);
        row->hit_rate = number_of(line, dramsim3 ? 7 : 8);
        row->latency = number_of(line, dramsim3 ? 8 : 12);
        row->cycles = dramsim3 ? (uint64_t)number_of(line, 3) : 0;
        if (dramsim3) snprintf(row->variant, sizeof row->variant, "hbmp_dramsim3");
    }
    fclose(file);
    return count;
}

/* -------------------------------------------------------------- the tables */

struct verdict {
    unsigned compared, outside;
};

static bool is_mixed(const char *trace) { return strstr(trace, "_rw") != NULL; }

static void print_header(void) {
    printf("%-15s %-14s %5s | %7s %7s %7s | %6s %6s %6s | %8s %8s %7s |\n", "variant", "trace", "load", "bw", "ref", "diff", "hits", "ref", "points",
           "latency", "ref", "diff");
}

/* One line; a value outside of its tolerance is marked. Latency is judged where the reference still carries the offered load. */
static void print_row(const struct reference *row, const struct result *result, struct verdict *verdict) {
    double bandwidth = result->bandwidth / row->bandwidth - 1, hits = (result->hit_rate - row->hit_rate) * 100;
    double latency = result->latency / row->latency - 1, tolerance = is_mixed(row->trace) ? 0.10 : 0.05;
    double load = strcmp(row->load, "sat") == 0 ? 2 : strtod(row->load, NULL);
    bool below = row->bandwidth > 0.99 * load;
    char flags[4] = "   ";
    if (bandwidth > tolerance || bandwidth < -tolerance) flags[0] = 'B';
    if (hits > 3 || hits < -3) flags[1] = 'H';
    if (below && (latency > 0.10 || latency < -0.10)) flags[2] = 'L';
    printf("%-15s %-14s %5s | %7.4f %7.4f %+6.1f%% | %6.4f %6.4f %+6.2f | %8.2f %8.2f ", row->variant, row->trace, row->load, result->bandwidth,
           row->bandwidth, bandwidth * 100, result->hit_rate, row->hit_rate, hits, result->latency, row->latency);
    if (below) {
        printf("%+6.1f%% | %s\n", latency * 100, flags);
    } else {
        printf("%7s | %s\n", "-", flags);
    }
    verdict->compared++;
    if (strcmp(flags, "   ") != 0) verdict->outside++;
}

/* The stock HBM of the reference moves 64 bytes at once; its traces are made from those of 32 bytes by leaving out every other column. */
static bool trace_of(const struct reference *row, struct trace *trace) {
    char path[1100];
    const char *family = strncmp(row->variant, "gddr5", 5) == 0 ? "gddr5" : "hbmp";
    snprintf(path, sizeof path, "%s/%s_%s.csv.xz", data_folder, family, row->trace);
    return trace_read(trace, path);
}

static int compare_all(const char *const *extra, bool quick) {
    static struct reference rows[1024];
    unsigned count = read_references("dram_ramulator_norefresh.csv", false, rows, COUNT_OF(rows));
    count += read_references("dram_ramulator.csv", false, rows + count, COUNT_OF(rows) - count);
    count += read_references("dram_dramsim3.csv", true, rows + count, COUNT_OF(rows) - count);
    struct verdict verdict = {0};
    struct trace trace = {0};
    print_header();
    for (unsigned i = 0; i < count; i++) {
        const struct reference *row = &rows[i];
        if (strcmp(row->variant, "hbm") == 0) continue; /* its 64-byte traces are not part of the reference */
        if (quick && strcmp(row->load, "0.3") != 0 && strcmp(row->load, "sat") != 0) continue;
        if (i == 0 || strcmp(row->trace, rows[i - 1].trace) != 0 || strcmp(row->variant, rows[i - 1].variant) != 0 || !trace.count) {
            free(trace.access);
            if (!trace_of(row, &trace)) {
                fprintf(stderr, "dram: no trace for %s %s in %s (is the xz tool installed?)\n", row->variant, row->trace, data_folder);
                return 2;
            }
        }
        struct config *config = variant_config(row->variant, extra);
        struct result result = run_trace(config, &trace, strtod(row->load, NULL), row->cycles ? row->cycles : NEVER);
        print_row(row, &result, &verdict);
        config_destroy(config);
    }
    free(trace.access);
    printf("%u rows, %u outside: bandwidth 5 %% (mixed traces 10 %%), row hits 3 points, latency below saturation 10 %%\n", verdict.compared,
           verdict.outside);
    return verdict.outside != 0;
}

static const char *variant_of_file(const char *path) {
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    return strncmp(name, "gddr5", 5) == 0 ? "gddr5" : "hbmp";
}

static int show_trace(const char *path, const char *variant, const char *loads, const char *const *extra) {
    struct trace trace;
    if (!trace_read(&trace, path)) {
        fprintf(stderr, "dram: %s: no requests (expected CSV with idx,row,bank,bankgroup,col,addr_hex,rw)\n", path);
        return 2;
    }
    struct config *config = variant_config(variant ? variant : variant_of_file(path), extra);
    printf("%s: %u requests\n%6s %10s %8s %8s %10s\n", path, trace.count, "load", "cycles", "bw", "hits", "latency");
    for (const char *at = loads; *at;) {
        char load[16];
        size_t length = strcspn(at, ",");
        snprintf(load, sizeof load, "%.*s", (int)length, at);
        struct result result = run_trace(config, &trace, strtod(load, NULL), NEVER);
        printf("%6s %10llu %8.4f %8.4f %10.2f\n", load, (unsigned long long)result.cycles, result.bandwidth, result.hit_rate, result.latency);
        at += length + (at[length] == ',');
    }
    config_destroy(config);
    free(trace.access);
    return 0;
}

int main(int argc, char **argv) {
    const char *variant = NULL, *loads = "0.1,0.3,0.5,0.7,0.9,sat", *extra[EXTRA_MAX + 1] = {0};
    unsigned extras = 0;
    bool quick = false;
    int i = 1, status = 0;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else if (i + 1 < argc && strcmp(argv[i], "--variant") == 0) {
            variant = argv[++i];
        } else if (i + 1 < argc && strcmp(argv[i], "--loads") == 0) {
            loads = argv[++i];
        } else if (i + 1 < argc && strcmp(argv[i], "--set") == 0 && extras < EXTRA_MAX) {
            extra[extras++] = argv[++i];
        } else {
            fprintf(stderr, "usage: dram [--quick] [--variant NAME] [--loads LIST] [--set KEY=VALUE] [TRACE...]\n");
            return 2;
        }
    }
    if (i == argc) return compare_all(extra, quick);
    for (; i < argc && status == 0; i++) status = show_trace(argv[i], variant, loads, extra);
    return status;
}
