/* Validates the networks against BookSim 2: latency over load and saturation throughput of every configuration in
 * data/reference/booksim, next to the reference.
 *
 *     noc                          all configurations: zero-load latency, saturation, worst error of latency (up to
 *                                  three times the zero-load latency)
 *     noc --quick                  the same with shorter runs
 *     noc --all-loads              with a line for every load
 *     noc --svg FILE               also plots the curves
 *     noc --reference FILE         the configurations of this file instead
 *     noc NAME...                  only configurations whose name contains NAME; data/reference/booksim/README.md
 *                                  explains the names
 *     noc --curve [OPTION...]      a user-defined configuration; prints load, latency, accepted load as CSV
 *         --topology NAME          full (default), concentrated, hierarchical, ideal
 *         --endpoints 80x64        L1 endpoints and LLC slices
 *         --groups 8x8             clusters and memory controllers (hierarchical)
 *         --concentration 2        endpoints that share a port (concentrated)
 *         --vcs 1 --buffer 8       virtual channels, buffer flits per VC
 *         --flits 1                packet length
 *         --direction req          req or rep
 *         --traffic uniform        uniform, hotspot8x, hotspotN% (of all traffic), bitcomp, transpose
 *         --router base4           base4, base4_ispeed2, base4_inspeed2, lookahead, islip4iter, gtx480_322 or
 *                                  gpgpusim_like
 *         --link 1 --long-link 1   cycles
 *         --set KEY=VALUE          any other parameter of the noc section
 *         --loads 0.1,0.5,1        flits per cycle and source
 *         --cycles 20000           measured cycles per load
 *                                  (beyond saturation: the first 4000 cycles from empty, as in the reference)
 *
 * Unknown topologies, traffic patterns and routers are rejected by name, with exit status 2.
 *
 * Host cost of a flit-hop:
 *     valgrind --tool=callgrind --toggle-collect=fabric_tick noc --curve --loads 0.3 ...
 * divided by the number of flit-hops that --curve prints on standard error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "noc/traffic.h"

#ifndef SLUICE_SOURCE_DIR
#define SLUICE_SOURCE_DIR "."
#endif
#define DATA_FOLDER SLUICE_SOURCE_DIR "/data/reference/booksim/"
static const char *const data_files[] = {DATA_FOLDER "A_fly.csv", DATA_FOLDER "B_80x64.csv",
                                         DATA_FOLDER "C_speedup.csv", DATA_FOLDER "D_input_speedup.csv"};

enum { NAME_MAX_ = 128, SETTING_MAX = 48, LOAD_MAX = 64, CONFIG_MAX = 256 };

/* Routers as parameter values. */
static const struct preset {
    const char *name;
    const char *settings[4];
} presets[] = {
    {"base4", {NULL}},
    {"lookahead", {"noc.lookahead=true"}},
    {"islip4iter", {"noc.iterations=4"}},
    {"base4_ispeed2", {"noc.internal_speedup=2"}},
    {"base4_inspeed2", {"noc.input_speedup=2"}},
    {"gtx480_322", {"noc.lookahead=true", "noc.input_speedup=2", "noc.credit_cycles=0"}},
    {"gpgpusim_like", {"noc.lookahead=true", "noc.internal_speedup=2", "noc.credit_cycles=0"}},
};

struct setup {
    char topology[32];
    struct network_shape shape;
    enum network_direction direction;
    unsigned vcs, vc_flits, flits, concentration, link, long_link;
    enum traffic_pattern pattern;
    double hot_share;
    const struct preset *router; /* NULL: not modelled */
    const char *extra[16];
    unsigned extras;
};

struct point {
    double load, latency, accepted;
    bool stable;
    double injected; /* reference: the load that its random numbers actually generated */
};

struct reference {
    char name[NAME_MAX_];
    struct setup setup;
    struct point point[LOAD_MAX], ours[LOAD_MAX];
    unsigned points;
    double saturation, our_saturation;
    double zero_load, our_zero_load;
    double worst; /* relative error of latency */
};

struct lengths {
    uint64_t warm_up, interval, patience;
};

/* A network beyond saturation: the reference stopped after a few thousand cycles, counted from empty. That matters if
 * some sources are starved and others are not (hot spot): throughput keeps falling long after. Ours is therefore
 * measured over the same time, several times, because it also varies. */
enum { OVERLOAD_RUNS = 4, OVERLOAD_CYCLES = 4000 };

/* `what` may be NULL. */
static void fail(const char *what, const char *which) {
    fprintf(stderr, "noc: %s%s%s\n", what ? what : "", what ? " " : "", which);
    exit(2);
}

static const struct preset *preset_of(const char *name) {
    for (unsigned i = 0; i < COUNT_OF(presets); i++)
        if (strcmp(presets[i].name, name) == 0) return &presets[i];
    return NULL;
}

#define PATTERNS "uniform, hotspot8x, hotspotN% (N from 1 to 100), bitcomp and transpose"

static bool pattern_of(const char *name, struct setup *setup) {
    static const struct {
        const char *name;
        enum traffic_pattern pattern;
    } patterns[] = {{"uniform", TRAFFIC_UNIFORM},
                    {"hotspot8x", TRAFFIC_WEIGHTED_HOTSPOT},
                    {"bitcomp", TRAFFIC_COMPLEMENT},
                    {"transpose", TRAFFIC_TRANSPOSE}};
    for (unsigned i = 0; i < COUNT_OF(patterns); i++)
        if (strcmp(patterns[i].name, name) == 0) {
            setup->pattern = patterns[i].pattern;
            return true;
        }
    unsigned percent;
    int end = 0;
    if (sscanf(name, "hotspot%u%%%n", &percent, &end) != 1 || !end || name[end] || percent < 1 || percent > 100)
        return false;
    setup->pattern = TRAFFIC_HOTSPOT;
    setup->hot_share = percent / 100.0;
    return true;
}

/* Whether every source has a destination under the pattern. */
static bool pattern_fits(const struct setup *setup) {
    bool request = setup->direction == NETWORK_REQUEST;
    unsigned l1 = setup->shape.l1_endpoints, slices = setup->shape.slices;
    return traffic_fits(setup->pattern, request ? l1 : slices, request ? slices : l1);
}
#define FITTING "transpose needs n x n sources and as many destinations, a hot spot at least two destinations"

static struct setup setup_default(void) {
    return (struct setup){.topology = "full",
                          .shape = {80, 64, 8, 8},
                          .vcs = 1,
                          .vc_flits = 8,
                          .flits = 1,
                          .concentration = 2,
                          .link = 1,
                          .long_link = 1,
                          .router = &presets[0]};
}

/* ---- one run ---------------------------------------------------------------------------------------------------- */

static struct point measure(const struct setup *setup, double load, struct lengths lengths, uint64_t seed,
                            uint64_t *flit_hops, uint64_t *cycles) {
    char text[9][SETTING_MAX];
    const char *settings[40];
    unsigned count = 0;
    snprintf(text[0], SETTING_MAX, "noc.topology=%s", setup->topology);
    snprintf(text[1], SETTING_MAX, "noc.vcs=%u", setup->vcs);
    snprintf(text[2], SETTING_MAX, "noc.vc_flits=%u", setup->vc_flits);
    snprintf(text[3], SETTING_MAX, "noc.concentration=%u", setup->concentration);
    snprintf(text[4], SETTING_MAX, "noc.link_cycles=%u", setup->link);
    snprintf(text[5], SETTING_MAX, "noc.long_link_cycles=%u", setup->long_link);
    snprintf(text[6], SETTING_MAX, "noc.injection_packets=8");
    for (unsigned i = 0; i < 7; i++) settings[count++] = text[i];
    for (unsigned i = 0; i < COUNT_OF(setup->router->settings) && setup->router->settings[i]; i++)
        settings[count++] = setup->router->settings[i];
    for (unsigned i = 0; i < setup->extras; i++) settings[count++] = setup->extra[i];
    settings[count] = NULL;

    struct traffic traffic;
    struct error err = {0};
    if (!traffic_open(&traffic, settings, setup->direction, setup->shape, setup->flits, &err)) fail(NULL, err.text);
    traffic.random = seed;
    traffic.hot_share = setup->hot_share;
    traffic_start(&traffic, setup->pattern, load);
    traffic_measure(&traffic, lengths.warm_up, lengths.interval, lengths.patience);
    struct point point = {load, traffic_latency(&traffic), traffic_accepted(&traffic),
                          traffic.delivered == traffic.created, load};
    if (flit_hops) {
        engine_settle(traffic.engine, traffic.engine->now);
        const char *name = setup->direction == NETWORK_REQUEST ? "noc.request.flit_hops" : "noc.reply.flit_hops";
        *flit_hops += stats_get(traffic.stats, name, NULL);
        *cycles += traffic.engine->now;
    }
    traffic_close(&traffic);
    return point;
}

static struct point measure_overload(const struct setup *setup, double load, uint64_t cycles, uint64_t seed) {
    struct point mean = {.load = load};
    for (unsigned i = 0; i < OVERLOAD_RUNS; i++) {
        struct point point = measure(setup, load, (struct lengths){0, cycles, 0}, seed + i, NULL, NULL);
        mean.latency += point.latency / OVERLOAD_RUNS;
        mean.accepted += point.accepted / OVERLOAD_RUNS;
    }
    return mean;
}

/* ---- the reference ---------------------------------------------------------------------------------------------- */

static bool topology_of(const char *name, struct setup *setup) {
    unsigned a, b;
    int end = 0;
    const char *topology = "full";
    if (strcmp(name, "fly64x1") == 0) {
        setup->shape = (struct network_shape){64, 64, 8, 8};
    } else if (strcmp(name, "fly8x2") == 0) {
        setup->shape = (struct network_shape){64, 64, 8, 8};
        topology = "hierarchical";
    } else if (sscanf(name, "hxbar_lat%u%n", &a, &end) == 1 && !name[end]) {
        setup->long_link = a;
        topology = "hierarchical";
    } else if (sscanf(name, "cxbar_c%u_w%uB%n", &a, &b, &end) == 2 && end && !name[end] && a && 80 % a + 64 % a == 0) {
        setup->shape = (struct network_shape){80 / a, 64 / a, 1, 1}; /* the load is that of a concentrated port */
    } else if (strcmp(name, "full80x64") != 0) {
        return false;
    }
    snprintf(setup->topology, sizeof setup->topology, "%s", topology);
    return true;
}

/* "A:fly64x1:vc1x8:pkt5:uniform:base4", "B:hxbar_lat1:vc4x8:pkt5:rep:uniform:base4". */
static bool setup_of(const char *name, struct setup *setup, const char *path, unsigned line, struct error *err) {
    *setup = setup_default();
    char copy[NAME_MAX_], *part[7] = {0}, *rest = copy;
    snprintf(copy, sizeof copy, "%s", name);
    unsigned parts = 0;
    for (char *next; (next = strsep(&rest, ":")); parts++)
        if (parts < COUNT_OF(part)) part[parts] = next;
    if (parts != 6 && parts != 7)
        return error_at(err, path, line, 1,
                        "'%s' is not a configuration; expected FILE:TOPOLOGY:VCS:PACKET[:DIRECTION]:TRAFFIC:ROUTER",
                        name);
    int end = 0;
    if (!topology_of(part[1], setup))
        return error_at(err, path, line, 1,
                        "unknown topology '%s'; known are fly64x1, fly8x2, full80x64, hxbar_latN and cxbar_cN_wXB",
                        part[1]);
    if (sscanf(part[2], "vc%ux%u%n", &setup->vcs, &setup->vc_flits, &end) != 2 || part[2][end])
        return error_at(err, path, line, 1, "invalid VCs '%s'; vc4x8 is 4 VCs of 8 flits", part[2]);
    if (sscanf(part[3], "pkt%u%n", &setup->flits, &end) != 1 || part[3][end] || !setup->flits ||
        !traffic_size_of(setup->flits).channel_bytes)
        return error_at(err, path, line, 1, "no message has the length of packet '%s'; pkt5 has 5 flits", part[3]);
    if (parts == 7) {
        if (strcmp(part[4], "req") != 0 && strcmp(part[4], "rep") != 0)
            return error_at(err, path, line, 1, "unknown direction '%s'; known are req and rep", part[4]);
        setup->direction = strcmp(part[4], "rep") == 0 ? NETWORK_REPLY : NETWORK_REQUEST;
    }
    if (!pattern_of(part[parts - 2], setup))
        return error_at(err, path, line, 1, "unknown traffic '%s'; known are %s", part[parts - 2], PATTERNS);
    if (!pattern_fits(setup)) return error_at(err, path, line, 1, "%s: " FITTING, name);
    setup->router = preset_of(part[parts - 1]);
    if (!setup->router && strcmp(part[parts - 1], "spec") != 0)
        return error_at(err, path, line, 1,
                        "unknown router '%s'; known are base4, lookahead, islip4iter, "
                        "base4_ispeed2, base4_inspeed2, gtx480_322, gpgpusim_like and spec",
                        part[parts - 1]);
    return true;
}

/* One row: a load of a configuration. */
static bool read_row(struct reference *list, unsigned *count, char *row, const char *path, unsigned line,
                     struct error *err) {
    char *comma = strchr(row, ',');
    double load, latency, network_latency, flit_latency, accepted, hops, injected;
    int stable;
    if (!comma || sscanf(comma + 1, "%lf,%d,%lf,%lf,%lf,%lf,%lf,%lf", &load, &stable, &latency, &network_latency,
                         &flit_latency, &hops, &injected, &accepted) != 8)
        return error_at(err, path, line, 1, "expected a configuration and eight numbers");
    *comma = 0;
    if (*count == 0 || strcmp(list[*count - 1].name, row) != 0) {
        if (*count == CONFIG_MAX) return error_at(err, path, line, 1, "more than %d configurations", CONFIG_MAX);
        struct reference *added = &list[*count];
        *added = (struct reference){0};
        snprintf(added->name, sizeof added->name, "%s", row);
        if (!setup_of(row, &added->setup, path, line, err)) return false;
        ++*count;
    }
    struct reference *reference = &list[*count - 1];
    if (reference->points == LOAD_MAX) return error_at(err, path, line, 1, "more than %d loads", LOAD_MAX);
    reference->point[reference->points++] = (struct point){load, latency, accepted, stable != 0, injected};
    if (accepted > reference->saturation) reference->saturation = accepted;
    return true;
}

static unsigned read_references(struct reference *list, unsigned count, const char *path) {
    char row[512];
    struct error err = {0};
    FILE *in = fopen(path, "r");
    if (!in) fail("cannot open", path);
    for (unsigned line = 1; fgets(row, sizeof row, in); line++)
        if (line > 1 && !read_row(list, &count, row, path, line, &err))
            fail(NULL, err.text); /* the first line is the header */
    fclose(in);
    return count;
}

/* Rows whose latency is compared with the reference: up to three times that of the lowest load. */
static bool comparable(const struct reference *reference, unsigned i) {
    return reference->point[i].stable && reference->point[i].latency <= 3 * reference->point[0].latency;
}

static double closed_form(const struct setup *setup) {
    static const struct section *const sections[] = {&noc_section};
    struct config *config = config_create(sections, 1);
    struct error err = {0};
    char topology[64], long_link[64];
    snprintf(topology, sizeof topology, "noc.topology=%s", setup->topology);
    snprintf(long_link, sizeof long_link, "noc.long_link_cycles=%u", setup->long_link);
    bool good = config_set(config, topology, &err) && config_set(config, long_link, &err);
    for (unsigned i = 0; good && i < COUNT_OF(setup->router->settings) && setup->router->settings[i]; i++)
        good = config_set(config, setup->router->settings[i], &err);
    if (!good) fail(NULL, err.text);
    double cycles = (double)network_unloaded_cycles(config, &setup->shape, 1400000, setup->flits);
    config_destroy(config);
    return cycles;
}

/* The time that the reference ran at full load, derived from its latency: source queues grow all the time, so that the
 * mean latency is half of the time times the share that was not accepted. */
static uint64_t full_load_cycles(const struct reference *reference) {
    const struct point *last = &reference->point[reference->points - 1];
    if (last->stable || last->load < 1) return OVERLOAD_CYCLES;
    uint64_t thousands = (uint64_t)(2 * last->latency / (1 - last->accepted) / 1000 + 0.5);
    return 1000 * min_u64(max_u64(thousands, 1), 10);
}

static void compare(struct reference *reference, struct lengths lengths, bool all_loads) {
    const struct setup *setup = &reference->setup;
    unsigned sources = setup->direction == NETWORK_REQUEST ? setup->shape.l1_endpoints : setup->shape.slices;
    if (sources < 64) lengths.interval *= 64 / sources; /* as many packets from few sources as from many */
    reference->zero_load = closed_form(setup);
    struct lengths long_enough = {0, 200000, 1000};
    reference->our_zero_load = measure(setup, 0.00001, long_enough, 5, NULL, NULL).latency;
    reference->our_saturation = measure_overload(setup, 1.0, full_load_cycles(reference), 7).accepted;
    for (unsigned i = 0; i < reference->points; i++) {
        if (!comparable(reference, i)) continue;
        reference->ours[i] = measure(setup, reference->point[i].injected, lengths, 11 + i, NULL, NULL);
        double error = reference->ours[i].latency / reference->point[i].latency - 1;
        if (error * error > reference->worst * reference->worst) reference->worst = error;
        if (all_loads)
            printf("  %-50s load %.3f latency %8.2f reference %8.2f %+6.1f %%\n", reference->name,
                   reference->point[i].injected, reference->ours[i].latency, reference->point[i].latency, error * 100);
    }
}

static bool report(const struct reference *reference) {
    double saturation = reference->our_saturation / reference->saturation - 1;
    bool latency_good = reference->worst >= -0.10 && reference->worst <= 0.10;
    bool saturation_good = saturation >= -0.05 && saturation <= 0.05;
    bool zero_good = reference->our_zero_load == reference->zero_load;
    printf("%-52s %9.2f %9.0f %10.4f %10.4f %+7.1f %% %+7.1f %%  %s\n", reference->name, reference->our_zero_load,
           reference->zero_load, reference->our_saturation, reference->saturation, saturation * 100,
           reference->worst * 100, latency_good && saturation_good && zero_good ? "ok" : "OUT OF TOLERANCE");
    fflush(stdout);
    return latency_good && saturation_good && zero_good;
}

/* ---- curves ----------------------------------------------------------------------------------------------------- */

static void draw(FILE *out, const struct reference *reference, unsigned x, unsigned y) {
    enum { WIDTH = 200, HEIGHT = 110 };
    double most_load = 0, most_latency = 3.2 * reference->point[0].latency;
    for (unsigned i = 0; i < reference->points; i++)
        if (comparable(reference, i) && reference->point[i].load > most_load) most_load = reference->point[i].load;
    if (reference->saturation > most_load) most_load = reference->saturation;
    most_load *= 1.05;
    fprintf(out, "<g transform=\"translate(%u,%u)\"><rect width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#bbb\"/>\n",
            x, y, WIDTH, HEIGHT);
    fprintf(out, "<text x=\"0\" y=\"-4\" font-size=\"8\">%s</text>\n", reference->name);
    fprintf(out, "<text x=\"%d\" y=\"%d\" font-size=\"7\" text-anchor=\"end\">%.2f flits per cycle and source</text>\n",
            WIDTH, HEIGHT + 9, most_load);
    fprintf(out, "<text x=\"2\" y=\"8\" font-size=\"7\">%.0f cycles</text>\n", most_latency);
    const double lines[2] = {reference->saturation, reference->our_saturation};
    for (unsigned i = 0; i < 2; i++)
        fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\" stroke=\"%s\" stroke-dasharray=\"3 2\"/>\n",
                lines[i] / most_load * WIDTH, lines[i] / most_load * WIDTH, HEIGHT, i ? "#06c" : "#c40");
    fprintf(out, "<polyline fill=\"none\" stroke=\"#06c\" points=\"");
    for (unsigned i = 0; i < reference->points; i++)
        if (comparable(reference, i))
            fprintf(out, "%.1f,%.1f ", reference->point[i].load / most_load * WIDTH,
                    HEIGHT - reference->ours[i].latency / most_latency * HEIGHT);
    fprintf(out, "\"/>\n");
    for (unsigned i = 0; i < reference->points; i++)
        if (comparable(reference, i))
            fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.8\" fill=\"#c40\"/>\n",
                    reference->point[i].load / most_load * WIDTH,
                    HEIGHT - reference->point[i].latency / most_latency * HEIGHT);
    fprintf(out, "</g>\n");
}

static void draw_all(const char *path, const struct reference *list, const unsigned *chosen, unsigned count) {
    enum { COLUMNS = 5, STEP_X = 230, STEP_Y = 150 };
    FILE *out = fopen(path, "w");
    if (!out) fail("cannot write", path);
    unsigned rows = (unsigned)div_up(count, COLUMNS);
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" font-family=\"sans-serif\">\n",
            COLUMNS * STEP_X + 20, rows * STEP_Y + 50);
    fprintf(
        out,
        "<text x=\"20\" y=\"18\" font-size=\"11\">Latency over load. Line: ours; dots: BookSim 2; dashed: saturation."
        "</text>\n");
    for (unsigned i = 0; i < count; i++)
        draw(out, &list[chosen[i]], 20 + i % COLUMNS * STEP_X, 45 + i / COLUMNS * STEP_Y);
    fprintf(out, "</svg>\n");
    fclose(out);
}

/* Compares the configurations of file `only`, or of all bundled files if that is NULL. */
static int compare_all(const char *only, const char *const *names, unsigned name_count, struct lengths lengths,
                       bool all_loads, const char *svg) {
    struct reference *list = mem_alloc(CONFIG_MAX, sizeof *list);
    unsigned count = 0, chosen[CONFIG_MAX], choices = 0, bad = 0;
    for (unsigned i = 0; i < COUNT_OF(data_files) && !only; i++) count = read_references(list, count, data_files[i]);
    if (only) count = read_references(list, 0, only);
    printf("%-52s %9s %9s %10s %10s %9s %9s\n%-52s %9s %9s %10s %10s %9s %9s\n", "configuration", "zero load",
           "pipeline", "saturation", "reference", "", "worst", "", "measured", "sum", "measured", "", "error",
           "latency");
    for (unsigned i = 0; i < count; i++) {
        bool wanted = name_count == 0;
        for (unsigned k = 0; k < name_count; k++) wanted |= strstr(list[i].name, names[k]) != NULL;
        if (!wanted) continue;
        if (!list[i].setup.router) {
            printf("%-52s %9s %9s %10s %10.4f   speculative: informative\n", list[i].name, "", "", "",
                   list[i].saturation);
            continue;
        }
        compare(&list[i], lengths, all_loads);
        bad += !report(&list[i]);
        chosen[choices++] = i;
    }
    printf("%u of %u within 5 %% of saturation, 10 %% of latency and at their computed zero-load latency\n",
           choices - bad, choices);
    if (svg) draw_all(svg, list, chosen, choices);
    free(list);
    return bad || !choices;
}

/* ---- one configuration ------------------------------------------------------------------------------------------ */

static unsigned number_of(const char *text, const char *option) {
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*end || end == text || value > 100000000) fail("expected a number after", option);
    return (unsigned)value;
}

static void pair_of(const char *text, const char *option, unsigned *a, unsigned *b) {
    char rest;
    if (sscanf(text, "%ux%u%c", a, b, &rest) != 2) fail("expected two numbers as in 80x64 after", option);
}

static unsigned loads_of(const char *text, double *loads) {
    unsigned count = 0;
    for (const char *p = text; *p && count < LOAD_MAX;) {
        char *end;
        loads[count] = strtod(p, &end);
        if (end == p || !(loads[count] > 0) || loads[count] > 1)
            fail("expected loads between 0 and 1, separated by commas, not", text);
        count++;
        p = *end == ',' ? end + 1 : end;
        if (*end && *end != ',') fail("expected loads between 0 and 1, separated by commas, not", text);
    }
    return count;
}

static void curve_option(struct setup *setup, const char *option, const char *value, double *loads, unsigned *count,
                         struct lengths *lengths) {
    if (strcmp(option, "--topology") == 0) {
        snprintf(setup->topology, sizeof setup->topology, "%s", value);
    } else if (strcmp(option, "--endpoints") == 0) {
        pair_of(value, option, &setup->shape.l1_endpoints, &setup->shape.slices);
    } else if (strcmp(option, "--groups") == 0) {
        pair_of(value, option, &setup->shape.clusters, &setup->shape.mcs);
    } else if (strcmp(option, "--concentration") == 0) {
        setup->concentration = number_of(value, option);
    } else if (strcmp(option, "--vcs") == 0) {
        setup->vcs = number_of(value, option);
    } else if (strcmp(option, "--buffer") == 0) {
        setup->vc_flits = number_of(value, option);
    } else if (strcmp(option, "--flits") == 0) {
        setup->flits = number_of(value, option);
    } else if (strcmp(option, "--link") == 0) {
        setup->link = number_of(value, option);
    } else if (strcmp(option, "--long-link") == 0) {
        setup->long_link = number_of(value, option);
    } else if (strcmp(option, "--cycles") == 0) {
        lengths->interval = number_of(value, option);
        lengths->warm_up = lengths->interval / 4;
    } else if (strcmp(option, "--loads") == 0) {
        *count = loads_of(value, loads);
    } else if (strcmp(option, "--direction") == 0) {
        if (strcmp(value, "req") != 0 && strcmp(value, "rep") != 0)
            fail("expected the direction req or rep, not", value);
        setup->direction = strcmp(value, "req") == 0 ? NETWORK_REQUEST : NETWORK_REPLY;
    } else if (strcmp(option, "--traffic") == 0) {
        if (!pattern_of(value, setup)) fail("expected traffic " PATTERNS ", not", value);
    } else if (strcmp(option, "--router") == 0) {
        setup->router = preset_of(value);
        if (!setup->router) fail("unknown router:", value);
    } else if (strcmp(option, "--set") == 0) {
        if (setup->extras == COUNT_OF(setup->extra)) fail("too many settings at", value);
        setup->extra[setup->extras++] = value;
    } else {
        fail("unknown option:", option);
    }
}

static int curve(int count, char **arguments, struct lengths lengths) {
    struct setup setup = setup_default();
    double loads[LOAD_MAX] = {0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45,
                              0.5,  0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0};
    unsigned load_count = 20;
    for (int i = 0; i < count; i += 2) {
        if (i + 1 == count) fail("missing value after", arguments[i]);
        curve_option(&setup, arguments[i], arguments[i + 1], loads, &load_count, &lengths);
    }
    if (setup.flits == 0 || !traffic_size_of(setup.flits).channel_bytes)
        fail("no message has that many flits:", "try 1 to 9, 17 or 34");
    if (setup.shape.l1_endpoints == 0 || setup.shape.slices == 0 || setup.shape.clusters == 0 || setup.shape.mcs == 0 ||
        setup.shape.l1_endpoints > NOC_MAX_ENDPOINTS || setup.shape.slices > NOC_MAX_ENDPOINTS)
        fail("endpoints and groups must be from 1 to", "1024");
    if (!pattern_fits(&setup)) fail(NULL, FITTING);
    uint64_t flit_hops = 0, cycles = 0;
    clock_t start = clock();
    printf("load,latency,accepted,stable\n");
    for (unsigned i = 0; i < load_count; i++) {
        struct point point = measure(&setup, loads[i], lengths, 11 + i, &flit_hops, &cycles);
        if (!point.stable) point = measure_overload(&setup, loads[i], OVERLOAD_CYCLES, 11 + i);
        printf("%g,%.3f,%.5f,%d\n", point.load, point.latency, point.accepted, point.stable);
    }
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    fprintf(stderr, "%llu flit-hops in %llu cycles, %.2f s including traffic generation, %.1f million per second\n",
            (unsigned long long)flit_hops, (unsigned long long)cycles, seconds, (double)flit_hops / seconds / 1e6);
    return 0;
}

int main(int argc, char **argv) {
    struct lengths lengths = {5000, 20000, 60000};
    const char *svg = NULL, *only = NULL, *names[16];
    unsigned name_count = 0;
    bool all_loads = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--curve") == 0) return curve(argc - i - 1, argv + i + 1, lengths);
        if (strcmp(argv[i], "--quick") == 0)
            lengths = (struct lengths){2000, 10000, 40000};
        else if (strcmp(argv[i], "--all-loads") == 0)
            all_loads = true;
        else if (strcmp(argv[i], "--svg") == 0 && i + 1 < argc)
            svg = argv[++i];
        else if (strcmp(argv[i], "--reference") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (argv[i][0] == '-')
            fail("unknown option:", argv[i]);
        else if (name_count < COUNT_OF(names))
            names[name_count++] = argv[i];
    }
    return compare_all(only, names, name_count, lengths, all_loads, svg);
}
