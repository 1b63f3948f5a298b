/* Random programs and random machines, made from a seed, and their runs in every order of ticks, polled or not.
 *
 * Programs use every kind of instruction. They cannot lock themselves up: their only barrier is one of the whole CTA,
 * for which warps that have ended are not waited. */
#ifndef SLUICE_TESTS_MACHINE_RANDOM_MACHINE_H
#define SLUICE_TESTS_MACHINE_RANDOM_MACHINE_H

#include "machine/runs.h"

#include "base/random.h"
#include "sm/script.h"

enum { SCRIPTS = 6, STEPS = 40, MACHINE_SETTINGS = 192 };

static inline uint64_t below(uint64_t *random, uint64_t bound) { return random_below(random, bound); }

/* Few lines, so that accesses meet; several of them in an instruction now and then. */
static inline struct step random_access(uint64_t *random, enum op_class op, enum memory_space space, uint8_t reg) {
    uint64_t base = 0x10000000 + below(random, 4) * 0x100000, at = below(random, 24);
    struct step step = memory_step(op, space, reg, base + at * 256, (uint8_t)(1 + below(random, 255)));
    unsigned count = below(random, 4) ? 1 : 1 + (unsigned)below(random, 12);
    for (unsigned i = 1; i < count; i++)
        step.touch[i] = touch_make(base + (at + i) * 256, (uint8_t)(1 + below(random, 255)));
    step.instr.count = (uint16_t)count;
    step.instr.bytes_log2 = (uint8_t)below(random, 5);
    step.instr.conflicts = (uint8_t)(1 + below(random, 6));
    step.instr.cache = (uint8_t)below(random, 4);
    if (op == OP_store && below(random, 2)) step.instr.flags = INSTR_PARTIAL;
    return step;
}

static inline struct step random_step(uint64_t *random) {
    uint8_t dst = (uint8_t)(1 + below(random, 6)), src = (uint8_t)below(random, 7);
    switch (below(random, 16)) {
    case 0:
    case 1:
    case 2: return random_access(random, OP_load, SPACE_GLOBAL, dst);
    case 3: return random_access(random, OP_store, SPACE_GLOBAL, src);
    case 4: return random_access(random, OP_load, SPACE_LOCAL, dst);
    case 5: return random_access(random, OP_store, SPACE_LOCAL, src);
    case 6: return random_access(random, OP_load, SPACE_CONST, dst);
    case 7: return random_access(random, OP_atomic, SPACE_GLOBAL, below(random, 2) ? dst : 0);
    case 8: {
        struct step step = random_access(random, OP_load, SPACE_GLOBAL, dst);
        step.instr.flags = (uint8_t)(INSTR_READ_ONLY | (below(random, 2) ? INSTR_NONCOHERENT : 0));
        return step;
    }
    case 9: return load_shared(dst, (uint8_t)(1 + below(random, 8)));
    case 10: return store_shared(src, (uint8_t)(1 + below(random, 8)));
    case 11: return barrier(0, 0);
    case 12: return below(random, 2) ? fence() : barrier_arrive(1, 1);
    default: return step_of((enum op_class)below(random, OP_load), dst, src, (uint8_t)below(random, 7));
    }
}

struct program {
    struct step steps[SCRIPTS][STEPS];
    struct script_source source;
};

static inline void program_make(struct program *program, uint64_t *random) {
    for (unsigned i = 0; i < SCRIPTS; i++) {
        unsigned count = (unsigned)below(random, STEPS);
        for (unsigned s = 0; s < count; s++) program->steps[i][s] = random_step(random);
        struct script script = {program->steps[i], count};
        if (i == 0)
            program->source = script_make(1 + (unsigned)below(random, 12), 1 + (unsigned)below(random, 5), script);
        else
            script_add(&program->source, script);
    }
    /* Repeated, so that all scripts are used again and again over the grid. */
    while (program->source.scripts < 60)
        script_add(&program->source, program->source.script[program->source.scripts - SCRIPTS]);
    program->source.kernels = 1 + (unsigned)below(random, 3);
    program->source.chunk = 1 + (unsigned)below(random, STREAM_CHUNK);
}

struct settings {
    char text[MACHINE_SETTINGS][64];
    const char *list[MACHINE_SETTINGS + 1];
    unsigned count;
};

static inline void set(struct settings *settings, const char *key, const char *value) {
    REQUIRE(settings->count < MACHINE_SETTINGS);
    snprintf(settings->text[settings->count], sizeof settings->text[0], "%s=%s", key, value);
    settings->list[settings->count] = settings->text[settings->count];
    settings->count++;
}

static inline void set_one_of(struct settings *settings, uint64_t *random, const char *key, const char *const *values) {
    unsigned count = 0;
    while (values[count]) count++;
    set(settings, key, values[below(random, count)]);
}

static inline void set_number(struct settings *settings, const char *key, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    set(settings, key, text);
}

static inline void set_replacement(struct settings *settings, uint64_t *random, const char *owner) {
    char key[32];
    snprintf(key, sizeof key, "%s.replacement", owner);
    set_one_of(settings, random, key, SETTINGS("lru", "random", "srrip", "brrip", "drrip", "ship"));
    snprintf(key, sizeof key, "%s.drrip.leaders", owner); /* in caches of few sets */
    set_number(settings, key, 1);
}

/* SMs that share L1s. */
static inline void groups_make(struct settings *settings, unsigned programs, uint64_t *random) {
    set_one_of(settings, random, "l1.organisation",
               programs == 1 ? SETTINGS("private", "clustered", "icc-agc", "icc-mgc") : SETTINGS("private"));
    set_number(settings, "group.count", below(random, 4));
    set_number(settings, "group.nodes", below(random, 4));
    set_number(settings, "group.switch_cycles", 1 + below(random, 2));
    set_number(settings, "group.injection_packets", 1 + below(random, 3));
    set_number(settings, "group.request_queue", 1 + below(random, 3));
    set_number(settings, "group.reply_queue", 1 + below(random, 3));
    set_number(settings, "l1.icc-agc.queue", 1 + below(random, 3));
    set_number(settings, "l1.icc-agc.hash_bits", 1 + below(random, 20));
    set_number(settings, "l1.icc-mgc.queue", 1 + below(random, 3));
    set_number(settings, "l1.icc-mgc.short_queries", below(random, 3));
    set_number(settings, "l1.icc-mgc.sampled", below(random, 20));
    set_number(settings, "l1.icc-mgc.executed", below(random, 40));
    set_one_of(settings, random, "l1.icc-mgc.touch", SETTINGS("true", "false"));
}

/* L1 and shared memory in one array of four ways. Only plain L1s change their size. */
static inline void unify(struct settings *settings, uint64_t *random) {
    set(settings, "l1.organisation", "private");
    set(settings, "l1.insertion", "always");
    set(settings, "l1.flush_at_kernel_end", "true");
    set(settings, "l1.size_kb", "4");
    set(settings, "l1.ways", "4");
    set(settings, "sm.carve_outs", "[0, 1, 2, 3]");
    set_number(settings, "sm.shared_reserved_bytes", 300 * below(random, 4));
}

static inline void machine_make(struct settings *settings, unsigned programs, uint64_t *random) {
    uint64_t clusters = programs + below(random, 3), slices = 1 + below(random, 2);
    bool private = below(random, 4 - programs) == 0; /* more often where there is more to it */
    bool replicating = !private && below(random, 2), selrep = below(random, 3);
    if (private) slices = clusters;
    if (replicating)
        clusters = UINT64_C(1) << (programs - 1 + below(random, 3)), slices = UINT64_C(1) << below(random, 3);
    set_number(settings, "gpu.clusters", clusters);
    set_number(settings, "sm.count", clusters * (1 + below(random, 3)));
    set_one_of(settings, random, "gpu.line_bytes", SETTINGS("64", "128", "128", "256"));
    set_one_of(settings, random, "gpu.cta_scheduler", SETTINGS("two-level-rr", "rr", "bcs", "dcs"));
    set_number(settings, "gpu.launch_cycles", below(random, 2) * 1500);
    uint64_t schedulers = 1 + below(random, 4);
    set_number(settings, "sm.schedulers", schedulers);
    set_one_of(settings, random, "sm.warp_scheduler", SETTINGS("gto", "lrr", "two-level"));
    set_number(settings, "sm.ctas", 1 + below(random, 6));
    set_number(settings, "sm.sfu_units", 1 + below(random, 3));
    set_number(settings, "sm.dp_units", below(random, 2));
    set_number(settings, "sm.writeback_cycles", below(random, 3));
    set_number(settings, "sm.lsu_queue", 1 + below(random, 3));
    set_number(settings, "sm.loads_in_flight", 1 + below(random, 20));
    set_one_of(settings, random, "sm.coalescing", SETTINGS("segment", "sector"));
    set_one_of(settings, random, "sm.volatile_past_l1", SETTINGS("true", "false"));
    set_one_of(settings, random, "sm.instruction_kb", SETTINGS("0", "1", "2"));
    set_one_of(settings, random, "sm.constant_kb", SETTINGS("0", "1"));
    set_number(settings, "sm.constant_ways", 1 + below(random, 2));
    set_one_of(settings, random, "sm.read_only_kb", SETTINGS("0", "1"));
    set_number(settings, "sm.read_only_ways", 1 + below(random, 2));
    set_number(settings, "sm.read_only_mshrs", 1 + below(random, 3));
    set_number(settings, "sm.read_only_merges", 1 + below(random, 4));
    set_number(settings, "l1.size_kb", 1 + below(random, 3));
    set_number(settings, "l1.ways", below(random, 5) ? 1 + below(random, 4) : 8); /* often the whole cache */
    set_replacement(settings, random, "l1");
    set_one_of(settings, random, "l1.insertion",
               programs == 1 ? SETTINGS("always", "never", "decoupled", "mrpb", "pdp", "profiled")
                             : SETTINGS("always", "never", "decoupled", "mrpb", "pdp"));
    set_one_of(settings, random, "l1.decoupled.dueling", programs == 1 ? SETTINGS("true", "false") : SETTINGS("false"));
    set_number(settings, "l1.decoupled.threshold", below(random, 4));
    set_number(settings, "l1.decoupled.probe_cycles", below(random, 3));
    set_number(settings, "l1.decoupled.duel_interval_cycles", 16 + below(random, 200));
    set_number(settings, "l1.decoupled.duel_least_reads", 1 + below(random, 8));
    set_one_of(settings, random, "l1.decoupled.duel_in_points", SETTINGS("true", "false"));
    set_one_of(settings, random, "l1.decoupled.duel_by_interval", SETTINGS("true", "false"));
    set_number(settings, "l1.mrpb.queues", 1 + below(random, 6));
    set_number(settings, "l1.mrpb.entries", 1 + below(random, 3));
    set_one_of(settings, random, "l1.mrpb.signature", SETTINGS("warp", "instruction"));
    set_one_of(settings, random, "l1.mrpb.drain", SETTINGS("greedy", "fixed", "rr", "longest"));
    set_one_of(settings, random, "l1.mrpb.bypass_mshr", SETTINGS("true", "false"));
    set_one_of(settings, random, "l1.mrpb.bypass_line", SETTINGS("true", "false"));
    set_number(settings, "l1.pdp.distance", 1 + below(random, 12));
    set_one_of(settings, random, "l1.pdp.dynamic", SETTINGS("true", "false"));
    set_number(settings, "l1.pdp.recompute_reads", 16 + below(random, 40));
    set_number(settings, "l1.latency_cycles", 1 + below(random, 4));
    set_number(settings, "l1.mshrs", 1 + below(random, 5));
    set_number(settings, "l1.mshr_merges", 1 + below(random, 4));
    set_number(settings, "l1.miss_queue", 1 + below(random, 4));
    set_one_of(settings, random, "l1.flush_at_kernel_end", SETTINGS("true", "false"));
    set_one_of(settings, random, "l1.observe_reuse", SETTINGS("off", "reads", "all"));
    set_one_of(settings, random, "l1.observe_duplication", SETTINGS("false", "true"));
    bool adaptive = private && below(random, 2);
    set(settings, "llc.organisation",
        adaptive                ? "adaptive"
        : private               ? "private"
        : replicating && selrep ? "selrep"
        : replicating           ? "static"
                                : "shared");
    if (replicating) {
        set_number(settings, "llc.static.degree", UINT64_C(1) << below(random, 3)); /* rejected if it is too high */
        set_one_of(settings, random, "llc.static.by_kernel", SETTINGS("[]", "[1, 2]", "[2, 1, 4]", "[1, 4, 1, 2]"));
        set_one_of(settings, random, "llc.static.flush", SETTINGS("replicas", "whole", "always"));
        set_number(settings, "llc.selrep.epoch_cycles", 40 + below(random, 500));
        set_number(settings, "llc.selrep.router_cycles", 1 + below(random, 39));
        set_number(settings, "llc.selrep.sets", 1 + below(random, 4));
        set_number(settings, "llc.selrep.window_cycles", below(random, 100));
        set_number(settings, "llc.selrep.memory_percent", 1 + below(random, 100));
        set_one_of(settings, random, "llc.selrep.directories", SETTINGS("shared", "each", "slice"));
        set_one_of(settings, random, "llc.selrep.flush", SETTINGS("replicas", "whole", "always"));
    }
    if (private) {
        set_number(settings, "atomics.size_kb", 1 + below(random, 2));
        set_number(settings, "atomics.ways", UINT64_C(1) << below(random, 3));
        set_number(settings, "atomics.latency_cycles", 1 + below(random, 20));
        set_number(settings, "atomics.pass_cycles", 1 + below(random, 5));
    }
    if (adaptive) {
        set_number(settings, "llc.adaptive.profile_cycles", 1 + below(random, 600));
        set_number(settings, "llc.adaptive.report_cycles", 1 + below(random, 20));
        set_number(settings, "llc.adaptive.epoch_cycles", 700 + below(random, 2000));
        set_number(settings, "llc.adaptive.window_cycles", below(random, 100));
        set_one_of(settings, random, "llc.adaptive.similar", SETTINGS("0", "0.2", "1"));
        set_one_of(settings, random, "llc.adaptive.atomics", SETTINGS("true", "true", "false"));
        set_one_of(settings, random, "llc.adaptive.outlasts_kernels", SETTINGS("true", "false"));
    }
    set_number(settings, "llc.slices_per_mc", slices);
    set_number(settings, "llc.slice_kb", 1 + below(random, 3));
    set_number(settings, "llc.ways", below(random, 5) ? 1 + below(random, 4) : 8);
    set_replacement(settings, random, "llc");
    set_number(settings, "llc.latency_cycles", 1 + below(random, 30));
    set_number(settings, "llc.mshrs", 1 + below(random, 5));
    set_number(settings, "llc.mshr_merges", 1 + below(random, 4));
    set_number(settings, "llc.replay_queue", below(random, 3));
    set_number(settings, "llc.reply_queue", 1 + below(random, 3));
    bool gated = adaptive && below(random, 2);
    if (adaptive) set(settings, "llc.adaptive.power_gating", gated ? "true" : "false");
    set_one_of(settings, random, "noc.topology",
               gated ? SETTINGS("hierarchical") : SETTINGS("ideal", "full", "concentrated", "hierarchical"));
    set_one_of(settings, random, "noc.channel_bytes", SETTINGS("4", "16", "32", "64"));
    set(settings, "noc.concentration", "1");
    set_number(settings, "noc.mc_router_cycles", below(random, 2) * below(random, 5));
    set_number(settings, "noc.vcs", 1 + below(random, 3));
    set_number(settings, "noc.vc_flits", 1 + below(random, 8));
    set_number(settings, "noc.internal_speedup", 1 + below(random, 2));
    set_one_of(settings, random, "noc.lookahead", SETTINGS("true", "false"));
    set_one_of(settings, random, "noc.clock_mhz", SETTINGS("0", "0", "700", "1600"));
    set_number(settings, "noc.credit_cycles", below(random, 3));
    set_number(settings, "noc.injection_packets", 1 + below(random, 3));
    set_one_of(settings, random, "dram.kind", SETTINGS("gddr5", "hbm"));
    set_one_of(settings, random, "dram.mapping", SETTINGS("linear", "hynix", "pae"));
    set_one_of(settings, random, "dram.write_drain", SETTINGS("true", "false"));
    set_number(settings, "dram.read_queue", 1 + below(random, 4));
    set_number(settings, "dram.write_queue", 2 + below(random, 4));
    set_number(settings, "dram.return_queue", 1 + below(random, 6));
    set_number(settings, "dram.mcs", 1 + below(random, 3));
    set_one_of(settings, random, "dram.clock_mhz", SETTINGS("0", "586", "924", "1758"));
    set_number(settings, "dram.port_entries", 1 + below(random, 3));
    groups_make(settings, programs, random);
    set_number(settings, "l1.bypass_queue", below(random, 3));
    set_one_of(settings, random, "l1.write_back_slot", SETTINGS("false", "true"));
    set_one_of(settings, random, "sm.atomics", SETTINGS("sector", "lane", "combined"));
    set_one_of(settings, random, "sm.atomics_hold", SETTINGS("false", "true"));
    set_one_of(settings, random, "llc.input_gate", SETTINGS("false", "true"));
    set_number(settings, "sm.subcores", below(random, 2) && schedulers != 3 ? schedulers : 1);
    set_number(settings, "sm.lsu_interval", 1 + below(random, 2));
    set_number(settings, "l1.tags_per_cycle", below(random, 3) ? 1 : 4); /* not for groups of L1s */
    set_number(settings, "l1.port_bytes", below(random, 3) ? 0 : 64);
    if (below(random, 6) == 0) unify(settings, random);
}

/* Whether the settings make a machine. They do not if a cache is not made of whole sets, say. */
static inline bool machine_is_made(const struct settings *settings) {
    struct error err = {0};
    struct config *config = config_checked(NO_SETTINGS, settings->list, &err);
    if (config) config_destroy(config);
    return config != NULL;
}

/* A run of the machine; called for each way. */
typedef struct run *run_open(const struct settings *settings, void *user);

/* Runs the machine in every way. The test ends if a run does not end well or if a counter depends on the way. Returns
 * false if the machine does not accept the program. */
static inline bool compare_ways_of(uint64_t seed, const struct settings *settings, run_open *open, void *user,
                                   uint64_t max_instructions) {
    static const struct run_options ways[] = {{0}, {.shuffle = 1}, {.no_skip = true}, {.no_skip = true, .shuffle = 99}};
    struct counters expected = {0};
    bool fits = true;
    for (unsigned i = 0; fits && i < COUNT_OF(ways); i++) {
        struct run *run = open(settings, user);
        struct run_options options = ways[i];
        options.max_instructions = max_instructions;
        run_try(run, options);
        fits = run->status != RUN_REFUSED;
        if (fits && run->status != RUN_DONE)
            printf("%s\n%s", run->err.text, run->result.diagnosis ? run->result.diagnosis : "");
        bool good = !fits || CHECK(run->status == RUN_DONE);
        if (fits && good && i == 0)
            expected = counters_of(run);
        else if (fits && good)
            good = CHECK(counters_equal(run, &expected));
        if (!good) {
            printf("    with seed %llu, way %u:", (unsigned long long)seed, i);
            for (unsigned s = 0; s < settings->count; s++) printf(" --set %s", settings->list[s]);
            printf("\n");
            test_give_up();
        }
        run_destroy(run);
    }
    free(expected.value);
    return fits;
}

struct programs {
    struct program program[2];
    unsigned count;
};

static inline struct run *open_programs(const struct settings *settings, void *user) {
    struct programs *programs = user;
    struct program *program = programs->program;
    return run_of_two(NULL, &program[0].source.source, programs->count > 1 ? &program[1].source.source : NULL,
                      settings->list);
}

/* Random programs and a random machine for them. The caller frees it. */
struct random_run {
    struct programs programs;
    struct settings settings;
};

static inline struct random_run *random_run_make(uint64_t seed, unsigned count) {
    struct random_run *made = mem_alloc(1, sizeof *made);
    uint64_t random = seed * 7919;
    made->programs.count = count;
    for (unsigned i = 0; i < count; i++) program_make(&made->programs.program[i], &random);
    machine_make(&made->settings, count, &random);
    return made;
}

#endif
