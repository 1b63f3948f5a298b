/* Validates the memory model against the reference tools: replays request traces through one channel and prints
 * bandwidth, row-hit rate and latency next to those of Ramulator and DRAMsim3 for the same trace, load and timings
 * (data/reference/dram; dram_replay.h describes the method).
 *
 *     dram                          every trace, load and variant of the reference
 *     dram [OPTION...] TRACE...     a trace of the same format (CSV: idx,row,bank,bankgroup,col,addr_hex,rw; `.xz` is
 *                                   decompressed by the xz tool). A trace named like one of the reference is compared
 *                                   with it, in all its variants; otherwise its curve is printed
 *         --variant NAME            the memory: hbmp, hbm, gddr5, gddr5p, also with the suffix _norefresh or _dramsim3
 *         --loads 0.1,0.5,sat       offered loads, as fractions of the peak
 *         --set KEY=VALUE           overrides a parameter of the memory
 *
 * The exit status is 1 if a value is outside its tolerance; it is marked B (bandwidth), H (row hits) or L (latency).
 * The rows of stock HBM are informative: the reference has no traces for it, so that they are derived from the others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dram_replay.h"

enum { EXTRA_MAX = 32, ROWS_MAX = 1024 };

struct options {
    const char *variant, *loads;
    const char *extra[EXTRA_MAX + 1];
    unsigned extras;
};

/* ---------------------------------------------------------------------- traces */

static bool trace_read(struct replay_trace *trace, const char *path) {
    size_t length = strlen(path);
    bool piped = length > 3 && strcmp(path + length - 3, ".xz") == 0;
    char command[1200], line[256];
    snprintf(command, sizeof command, "xz -dc '%s'", path);
    FILE *file = piped ? popen(command, "r") : fopen(path, "r");
    if (!file) return false;
    while (fgets(line, sizeof line, file)) {
        unsigned index, row, bank, group, column;
        char address[32], kind;
        if (sscanf(line, "%u,%u,%u,%u,%u,%31[^,],%c", &index, &row, &bank, &group, &column, address, &kind) == 7)
            replay_add(trace, (struct replay_access){row, column, (uint8_t)bank, (uint8_t)group, kind == 'W'});
    }
    if (piped) {
        pclose(file);
    } else {
        fclose(file);
    }
    return trace->count > 0;
}

/* Stock HBM transfers 64 bytes per command, so that its rows have 32 columns, and there are no traces for it. They are
 * derived from the others: those of GDDR5 are in units of 64 bytes as well and only need to be divided into rows again;
 * those that iterate over banks are HBM's with each row folded in two. */
static void fold_for_stock_hbm(struct replay_trace *trace, bool from_gddr5) {
    for (unsigned i = 0; i < trace->count; i++) {
        struct replay_access *a = &trace->access[i];
        if (from_gddr5) {
            uint32_t unit = ((a->row * 4 + a->bank) * 4 + a->group) * 64 + a->column;
            *a = (struct replay_access){unit >> 9, unit & 31, (uint8_t)(unit >> 7 & 3), (uint8_t)(unit >> 5 & 3),
                                        a->write};
        } else {
            a->row = a->row * 2 + a->column / 32;
            a->column %= 32;
        }
    }
}

static bool trace_of_reference(const struct replay_reference *row, struct replay_trace *trace) {
    bool stock_hbm = strcmp(row->variant, "hbm") == 0,
         banks = strncmp(row->trace, "bankrr", 6) == 0 || strncmp(row->trace, "rowconf", 7) == 0;
    bool gddr5 = strncmp(row->variant, "gddr5", 5) == 0 || (stock_hbm && !banks);
    char path[1100];
    snprintf(path, sizeof path, REPLAY_DATA "/%s_%s.csv.xz", gddr5 ? "gddr5" : "hbmp", row->trace);
    trace->count = 0;
    if (!trace_read(trace, path)) return false;
    if (stock_hbm) fold_for_stock_hbm(trace, gddr5);
    return true;
}

/* ---------------------------------------------------------------------- tables */

static void print_header(void) {
    printf("%-16s %-14s %5s | %7s %7s %7s | %6s %6s %6s | %8s %8s %7s |\n", "variant", "trace", "load", "bw", "ref",
           "diff", "hits", "ref", "points", "latency", "ref", "diff");
}

static bool print_row(const struct replay_reference *row, const struct replay_result *result) {
    struct replay_verdict v = replay_judge(row, result);
    printf("%-16s %-14s %5s | %7.4f %7.4f %+6.1f%% | %6.4f %6.4f %+6.2f | %8.2f %8.2f ", row->variant, row->trace,
           row->load, result->bandwidth, row->bandwidth, v.bandwidth * 100, result->hit_rate, row->hit_rate, v.hits,
           result->latency, row->latency);
    if (v.below_saturation) {
        printf("%+6.1f%% | ", v.latency * 100);
    } else {
        printf("%7s | ", "-");
    }
    printf("%s%s%s\n", v.bandwidth_holds ? "" : "B", v.hits_hold ? "" : "H", v.latency_holds ? "" : "L");
    return v.bandwidth_holds && v.hits_hold && v.latency_holds;
}

static struct config *config_of(const char *variant, const struct options *options) {
    struct error err = {0};
    struct config *config = replay_config(variant, options->extra, &err);
    if (config) return config;
    fprintf(stderr, "dram: %s\n", err.text);
    exit(2);
}

static bool is_wanted(const char *load, const char *loads) {
    size_t length = strlen(load);
    for (const char *at = loads; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, load, length) == 0 && (at[length] == ',' || at[length] == 0)) return true;
    return false;
}

/* Compares the rows of the reference for `family` ("hbmp", "gddr5") and `name`, or all if they are NULL. `given` is the
 * trace; NULL: that of the reference. */
static int compare(const char *family, const char *name, struct replay_trace *given, const struct options *options) {
    static struct replay_reference rows[ROWS_MAX];
    unsigned count = replay_references(rows, ROWS_MAX), compared = 0, outside = 0;
    struct replay_trace own = {0}, *trace = given ? given : &own;
    if (!count) {
        fprintf(stderr, "dram: cannot read the reference in %s\n", REPLAY_DATA);
        return 2;
    }
    print_header();
    for (unsigned i = 0; i < count; i++) {
        const struct replay_reference *row = &rows[i];
        if (name && (strcmp(row->trace, name) != 0 || strncmp(row->variant, family, strlen(family)) != 0)) continue;
        if (options->variant && strcmp(options->variant, row->variant) != 0) continue;
        if (!is_wanted(row->load, options->loads)) continue;
        if (!given && !trace_of_reference(row, trace)) {
            fprintf(stderr, "dram: no trace %s in %s; is xz-utils installed?\n", row->trace, REPLAY_DATA);
            return 2;
        }
        struct config *config = config_of(row->variant, options);
        struct replay_result result = replay_run(config, trace, strtod(row->load, NULL), row->cycles);
        bool holds = print_row(row, &result);
        if (strcmp(row->variant, "hbm") != 0) { /* its traces are not those of the reference */
            compared++;
            outside += !holds;
        }
        config_destroy(config);
    }
    free(own.access);
    printf("%u rows, %u out of tolerance: bandwidth 5 %%, row hits 3 points, latency below saturation 10 %% "
           "(mixed traces: 10 %% each)\n",
           compared, outside);
    return outside != 0;
}

static void print_curve(const char *path, const char *family, const struct replay_trace *trace,
                        const struct options *options) {
    const char *variant = options->variant ? options->variant : family;
    struct config *config = config_of(variant, options);
    printf("%s: %u requests on %s\n%6s %10s %8s %8s %10s\n", path, trace->count, variant, "load", "cycles", "bw",
           "hits", "latency");
    for (const char *at = options->loads; *at;) {
        char load[16];
        size_t length = strcspn(at, ",");
        snprintf(load, sizeof load, "%.*s", (int)length, at);
        struct replay_result result = replay_run(config, trace, strtod(load, NULL), NEVER);
        printf("%6s %10llu %8.4f %8.4f %10.2f\n", load, (unsigned long long)result.cycles, result.bandwidth,
               result.hit_rate, result.latency);
        at += length + (at[length] == ',');
    }
    config_destroy(config);
}

static bool is_reference_name(const char *name) {
    static const char *const names[] = {"seq",         "rand",         "rowconf_1bank", "bankrr_hit",
                                        "bankrr_miss", "line128_rand", "seq_rw73"};
    for (unsigned i = 0; i < COUNT_OF(names); i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static int show_trace(const char *path, const struct options *options) {
    struct replay_trace trace = {0};
    if (!trace_read(&trace, path)) {
        fprintf(stderr, "dram: %s: no requests; expected CSV with idx,row,bank,bankgroup,col,addr_hex,rw\n", path);
        return 2;
    }
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *family = strncmp(base, "gddr5", 5) == 0 ? "gddr5" : "hbmp", *rest = strchr(base, '_');
    char name[64] = "";
    if (rest) snprintf(name, sizeof name, "%.*s", (int)strcspn(rest + 1, "."), rest + 1);
    int status = 0;
    if (strncmp(base, family, strlen(family)) == 0 && is_reference_name(name)) {
        status = compare(family, name, &trace, options);
    } else {
        print_curve(path, family, &trace, options);
    }
    free(trace.access);
    return status;
}

int main(int argc, char **argv) {
    struct options options = {.loads = "0.1,0.3,0.5,0.7,0.9,sat"};
    int i = 1, status = 0;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value && strcmp(argv[i], "--variant") == 0) {
            options.variant = value;
        } else if (value && strcmp(argv[i], "--loads") == 0) {
            options.loads = value;
        } else if (value && strcmp(argv[i], "--set") == 0 && options.extras < EXTRA_MAX) {
            options.extra[options.extras++] = value;
        } else {
            fprintf(stderr, "usage: dram [--variant NAME] [--loads LIST] [--set KEY=VALUE]... [TRACE...]\n");
            return strcmp(argv[i], "--help") == 0 ? 0 : 2;
        }
    }
    if (i == argc) return compare(NULL, NULL, NULL, &options);
    for (; i < argc; i++) {
        int one = show_trace(argv[i], &options);
        if (one > status) status = one;
    }
    return status;
}
