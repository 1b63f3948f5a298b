/* Replays a request trace through one memory channel and reads the reference tools' measurements for it. Shared by
 * bench/dram.c, which prints all of them, and tests/dram/reference_test.c, which checks some of them.
 *
 * Request i arrives in cycle floor(i · burst cycles / load), or at once with a load of 0 ("sat"); at most one request
 * enters the queue per cycle, in order. Latency is from entering the queue to the last data, in memory cycles.
 * Bandwidth is a fraction of the peak.
 */
#ifndef SLUICE_BENCH_DRAM_REPLAY_H
#define SLUICE_BENCH_DRAM_REPLAY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "dram/dram.h"
#include "dram/dram_config.h"
#include "sim/engine.h"
#include "sim/gpu_config.h"
#include "sim/port.h"

#ifndef SLUICE_SOURCE_DIR
#define SLUICE_SOURCE_DIR "."
#endif
#define REPLAY_DATA SLUICE_SOURCE_DIR "/data/reference/dram"

struct replay_access {
    uint32_t row, column; /* column in bursts */
    uint8_t bank, group, write;
};

struct replay_trace {
    struct replay_access *access;
    unsigned count, room;
};

static inline void replay_add(struct replay_trace *trace, struct replay_access access) {
    if (trace->count == trace->room) {
        trace->room = trace->room ? trace->room * 2 : 4096;
        trace->access = mem_grow(trace->access, trace->room, sizeof *trace->access);
    }
    trace->access[trace->count++] = access;
}

/* ---------------------------------------------------------------- one run */

struct replay_feeder {
    const struct replay_trace *trace;
    const struct address_map *map;
    const struct dram_device *device;
    struct port *out, *in;
    struct engine *engine;
    unsigned component, sent, answered;
    double load;
    uint64_t last_reply;
};

static inline void replay_tick(void *self, uint64_t now) {
    struct replay_feeder *f = self;
    for (; port_peek(f->in, now); port_pop(f->in, now)) {
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
    const struct replay_access *a = &f->trace->access[f->sent];
    uint32_t byte = a->column * (uint32_t)f->device->burst_bytes;
    struct location place = {.bank = (uint16_t)(a->bank * (unsigned)f->device->bank_groups + a->group),
                             .row = a->row,
                             .column = byte & ~127u};
    struct message message = {.address = address_map_address(f->map, &place),
                              .tag = f->sent,
                              .kind = a->write ? MESSAGE_WRITE : MESSAGE_READ};
    message.sectors =
        (uint8_t)(low_mask((unsigned)f->device->burst_bytes / SECTOR_BYTES) << (byte % 128 / SECTOR_BYTES));
    port_push(f->out, now, &message, sizeof message);
    f->sent++;
    if (f->sent < f->trace->count) engine_wake(f->engine, f->component, now + 1);
}

struct replay_result {
    double bandwidth, hit_rate, latency;
    uint64_t cycles;
};

/* Runs for `cycles` memory cycles, or until all requests are served. */
static inline struct replay_result replay_run(const struct config *config, const struct replay_trace *trace,
                                              double load, uint64_t cycles) {
    static const struct component_ops feeder_ops = {.kind = "feeder", .tick = replay_tick};
    struct error err = {0};
    struct engine *engine = engine_create();
    struct stats *stats = stats_create();
    struct address_map *map = address_map_create(config, &err);
    const struct dram_device *device = dram_device_of(config);
    struct replay_feeder feeder = {.trace = trace, .map = map, .device = device, .engine = engine, .load = load};
    feeder.component = engine_add(engine, &feeder_ops, &feeder, 0);
    struct dram *dram = dram_create(config, map, &feeder.component, 1, engine, gpu_core_khz(config), stats, &err);
    feeder.out = dram_input(dram, 0);
    feeder.in = dram_output(dram, 0);
    engine_wake(engine, feeder.component, 0);
    while (engine->now < cycles && feeder.answered < trace->count)
        engine_run_until(engine, min_u64(cycles, engine->now + 256));
    engine_settle(engine, engine->now);
    uint64_t elapsed = feeder.answered == trace->count ? feeder.last_reply : cycles;
    uint64_t bytes = stats_get(stats, "dram.read_bytes", NULL) + stats_get(stats, "dram.write_bytes", NULL);
    uint64_t hits = stats_get(stats, "dram.row_hits", NULL);
    uint64_t columns = hits + stats_get(stats, "dram.row_misses", NULL) + stats_get(stats, "dram.row_conflicts", NULL);
    struct replay_result result = {
        .bandwidth = (double)bytes / (double)device->burst_bytes * (double)device->burst_cycles / (double)elapsed,
        .hit_rate = (double)hits / (double)max_u64(columns, 1),
        .latency = (double)stats_get(stats, "dram.read_cycles", NULL) /
                   (double)max_u64(stats_get(stats, "dram.reads", NULL), 1),
        .cycles = elapsed,
    };
    dram_destroy(dram);
    address_map_destroy(map);
    stats_destroy(stats);
    engine_destroy(engine);
    return result;
}

/* --------------------------------------------------- memories of the reference */

static inline bool replay_set(struct config *config, const char *const *assignments, struct error *err) {
    for (; *assignments; assignments++)
        if (!config_set(config, *assignments, err)) return false;
    return true;
}

/* The memory of a variant: "hbmp" (the papers' HBM), "hbm" (stock), "gddr5" (stock), "gddr5p" (the papers'), with the
 * suffix "_norefresh" or "_dramsim3". All are one channel with queues of 32 reads and 32 writes. Those of Ramulator
 * have one command bus; its stock devices use FR-FCFS with a cap of 16 row hits. DRAMsim3 has two buses, a queue of
 * eight for each bank, and drains writes when their buffer is full, or holds eight and no read waits. Returns NULL if
 * an assignment is rejected. */
static inline struct config *replay_config(const char *variant, const char *const *extra, struct error *err) {
    static const char *const common[] = {"llc.slices_per_mc=1",      "dram.mcs=1",
                                         "dram.channels_per_mc=1",   "dram.clock_mhz=0",
                                         "dram.mapping=hynix",       "dram.read_queue=32",
                                         "dram.write_queue=32",      "dram.write_drain=true",
                                         "dram.starvation_cycles=0", NULL};
    static const char *const hbm[] = {"dram.kind=hbm", "dram.hbm.two_command_buses=false", "dram.hbm.refresh=true",
                                      NULL};
    static const char *const stock_hbm[] = {
        "dram.hbm.burst_bytes=64", "dram.hbm.burst_cycles=2",    "dram.hbm.tCCDS=2",        "dram.hbm.tCCDL=3",
        "dram.hbm.tWL=4",          "dram.scheduler=fr-fcfs-cap", "dram.fr-fcfs-cap.cap=16", NULL};
    static const char *const gddr5[] = {"dram.kind=gddr5",         "dram.gddr5.tWL=3",    "dram.gddr5.tFAW=23",
                                        "dram.gddr5.refresh=true", "dram.gddr5.tRFC=160", "dram.gddr5.tREFI=1900",
                                        "dram.gddr5.tCCDL=2",      "dram.gddr5.tRCDW=12", NULL};
    static const char *const stock_gddr5[] = {"dram.gddr5.tCCDL=3", "dram.gddr5.tRCDW=10", "dram.scheduler=fr-fcfs-cap",
                                              "dram.fr-fcfs-cap.cap=16", NULL};
    static const char *const norefresh[] = {"dram.hbm.refresh=false", "dram.gddr5.refresh=false", NULL};
    static const char *const dramsim3[] = {"dram.hbm.two_command_buses=true", "dram.bank_queue=8",
                                           "dram.drain_high_percent=97",      "dram.drain_low_percent=1",
                                           "dram.drain_idle_writes=8",        NULL};
    bool is_gddr5 = strncmp(variant, "gddr5", 5) == 0, is_stock = variant[is_gddr5 ? 5 : 3] != 'p';
    struct config *config = config_create(config_sections, config_section_count);
    bool set = replay_set(config, common, err) && replay_set(config, is_gddr5 ? gddr5 : hbm, err);
    if (is_stock) set = set && replay_set(config, is_gddr5 ? stock_gddr5 : stock_hbm, err);
    if (strstr(variant, "_norefresh")) set = set && replay_set(config, norefresh, err);
    if (strstr(variant, "_dramsim3")) set = set && replay_set(config, dramsim3, err);
    if (extra) set = set && replay_set(config, extra, err);
    if (set && config_check(config, err)) return config;
    config_destroy(config);
    return NULL;
}

/* ------------------------------------------------------ rows of the reference */

struct replay_reference {
    char variant[32], trace[32], load[16];
    double bandwidth, hit_rate, latency;
    double saturation; /* the bandwidth of the same trace with all requests at once */
    uint64_t cycles;   /* NEVER: until all requests are served */
};

/* Field `index` of a CSV line. */
static inline void replay_field(const char *line, unsigned index, char *field, size_t size) {
    for (; index && *line; index--) line += strcspn(line, ",") + 1;
    snprintf(field, size, "%.*s", (int)strcspn(line, ",\n"), line);
}

static inline double replay_number(const char *line, unsigned index) {
    char text[32];
    replay_field(line, index, text, sizeof text);
    return strtod(text, NULL);
}

static inline unsigned replay_read_references(const char *name, bool dramsim3, struct replay_reference *rows,
                                              unsigned room) {
    char path[1024], line[512];
    unsigned count = 0;
    snprintf(path, sizeof path, REPLAY_DATA "/%s", name);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    bool header = fgets(line, sizeof line, file) != NULL;
    while (header && count < room && fgets(line, sizeof line, file)) {
        struct replay_reference *row = &rows[count++];
        replay_field(line, 0, row->variant, sizeof row->variant);
        replay_field(line, 1, row->trace, sizeof row->trace);
        replay_field(line, 2, row->load, sizeof row->load);
        row->bandwidth = replay_number(line, 6);
        row->hit_rate = replay_number(line, dramsim3 ? 7 : 8);
        row->latency = replay_number(line, dramsim3 ? 8 : 12);
        row->cycles = dramsim3 ? (uint64_t)replay_number(line, 3) : NEVER;
        if (dramsim3) snprintf(row->variant, sizeof row->variant, "hbmp_dramsim3");
    }
    fclose(file);
    return count;
}

/* Reads all of them; 0 if a file cannot be read. */
static inline unsigned replay_references(struct replay_reference *rows, unsigned room) {
    static const char *const files[] = {"dram_ramulator_norefresh.csv", "dram_ramulator.csv", "dram_dramsim3.csv"};
    unsigned count = 0;
    for (unsigned i = 0; i < COUNT_OF(files); i++) {
        unsigned more = replay_read_references(files[i], i == 2, rows + count, room - count);
        if (!more) return 0;
        count += more;
    }
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < count; k++)
            if (strcmp(rows[i].variant, rows[k].variant) == 0 && strcmp(rows[i].trace, rows[k].trace) == 0 &&
                strcmp(rows[k].load, "sat") == 0)
                rows[i].saturation = rows[k].bandwidth;
    return count;
}

/* The deviation of a result from its reference, and whether it is within tolerance: bandwidth 5 %, row hits 3 points,
 * latency 10 % if the reference is below saturation; 10 % each for traces that mix reads and writes, because the tools
 * drain writes differently. */
struct replay_verdict {
    double bandwidth, hits, latency; /* relative, in points, relative */
    bool below_saturation;
    bool bandwidth_holds, hits_hold, latency_holds;
};

static inline struct replay_verdict replay_judge(const struct replay_reference *row,
                                                 const struct replay_result *result) {
    bool mixed = strstr(row->trace, "_rw") != NULL, all_at_once = strcmp(row->load, "sat") == 0;
    struct replay_verdict v = {
        .bandwidth = result->bandwidth / row->bandwidth - 1,
        .hits = (result->hit_rate - row->hit_rate) * 100,
        .latency = result->latency / row->latency - 1,
    };
    double load = strtod(row->load, NULL);
    v.below_saturation = !all_at_once && load < row->saturation && row->bandwidth > 0.99 * load;
    double tolerance = mixed ? 0.10 : 0.05;
    v.bandwidth_holds = v.bandwidth <= tolerance && v.bandwidth >= -tolerance;
    v.hits_hold = v.hits <= 3 && v.hits >= -3;
    v.latency_holds = !v.below_saturation || (v.latency <= 0.10 && v.latency >= -0.10);
    return v;
}

#endif
