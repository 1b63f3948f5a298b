/* The latency breakdown in a summary: a row per level with its share of the loads, its mean latency and the stages in
 * which most of it was spent. */
#include <stdlib.h>

#include "cli/report.h"
#include "sim/latency.h"

enum { STAGES_SHOWN = 4 };

struct part {
    unsigned stage;
    double cycles;
};

static int larger_part(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    return x->cycles != y->cycles ? (x->cycles < y->cycles) - (x->cycles > y->cycles)
                                  : (x->stage > y->stage) - (x->stage < y->stage);
}

struct level {
    double loads, cycles;
    struct part part[LATENCY_STAGE_COUNT];
};

static void write_level(FILE *out, const char *title, const struct level *level, double loads) {
    struct part part[LATENCY_STAGE_COUNT];
    for (unsigned i = 0; i < LATENCY_STAGE_COUNT; i++) part[i] = level->part[i];
    qsort(part, LATENCY_STAGE_COUNT, sizeof *part, larger_part);
    fprintf(out, "    %-16s %5.1f %% %9.1f  ", title, 100 * level->loads / loads, level->cycles / level->loads);
    for (unsigned i = 0; i < STAGES_SHOWN && part[i].cycles * 100 >= level->cycles && part[i].cycles > 0; i++)
        fprintf(out, "%s%s %.1f", i ? ", " : "", latency_stage_names[part[i].stage].title,
                part[i].cycles / level->loads);
    fputc('\n', out);
}

void report_write_latency(FILE *out, const char *title, double (*count)(const void *from, const char *name),
                          const void *from) {
    struct level levels[LATENCY_LEVEL_COUNT] = {0}, all = {0};
    for (unsigned i = 0; i < LATENCY_LEVEL_COUNT; i++) {
        char name[64];
        snprintf(name, sizeof name, "latency.%s.loads", latency_level_names[i].name);
        levels[i].loads = count(from, name);
        all.loads += levels[i].loads;
        for (unsigned s = 0; s < LATENCY_STAGE_COUNT && levels[i].loads > 0; s++) {
            snprintf(name, sizeof name, "latency.%s.%s", latency_level_names[i].name, latency_stage_names[s].name);
            levels[i].part[s] = (struct part){s, count(from, name)};
            levels[i].cycles += levels[i].part[s].cycles;
            all.part[s].stage = s;
            all.part[s].cycles += levels[i].part[s].cycles;
        }
        all.cycles += levels[i].cycles;
    }
    if (all.loads == 0) return;
    report_title(out, "latency breakdown of loads%s%s", title ? ", design " : "", title ? title : "");
    fprintf(out, "    %-16s %7s %9s  %s\n", "supplied by", "loads", "cycles", "mean cycles in the largest stages");
    for (unsigned i = 0; i < LATENCY_LEVEL_COUNT; i++)
        if (levels[i].loads > 0) write_level(out, latency_level_names[i].title, &levels[i], all.loads);
    write_level(out, "all", &all, all.loads);
}
