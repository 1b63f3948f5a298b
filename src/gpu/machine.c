#include "gpu/machine.h"

#include <stdlib.h>
#include <string.h>

#include "dram/dram.h"
#include "dram/dram_config.h"
#include "gpu/cluster.h"
#include "gpu/control.h"
#include "gpu/lookahead.h"
#include "gpu/machine_config.h"
#include "l1/l1.h"
#include "llc/atomics.h"
#include "llc/bridge.h"
#include "llc/llc.h"
#include "llc/organisation.h"
#include "llc/sharing.h"
#include "noc/noc.h"
#include "sim/latency.h"
#include "sm/sm.h"

STATS_TABLE(machine_program_stat_table, "program", program_stats, PROGRAM_STATS);

/* A program that runs on the machine. */
struct program {
    struct stream_source *source;
    struct launch launch;       /* of the running kernel */
    struct run_progress before; /* progress before that kernel */
    uint64_t begins;            /* its cycle */
    uint64_t threads;           /* of the kernels that have ended */
    bool running;               /* a kernel is running */
    bool done;                  /* has reached its end or limit */
    struct program_stats stats;
};

struct machine {
    const struct config *config;
    struct engine *engine;
    struct stats *stats;
    struct address_map *map;
    struct llc_organisation *llc;
    struct sm_shared *sm_shared;
    struct control *control;
    unsigned programs, sms;
    unsigned slices, memory_slices, all_slices; /* on the networks; and those of the atomics' LLC; and copies */
    struct program program[PROGRAMS_MAX];
    uint8_t *program_of; /* [sms] */
    struct sm **sm;
    struct slice **slice;
    unsigned *sm_component, *slice_component, *endpoint_component;
    struct l1 *l1;
    struct network *request, *reply;
    struct network_shape shape; /* of both networks */
    struct dram *dram;
    struct bridges *bridges; /* NULL unless the LLC has two partitions */
    struct atomics *atomics; /* NULL unless atomics can reach a private LLC */
    struct sharing *sharing; /* NULL unless sharing is observed */
    struct journal journal;
};

/* Building. */

/* Divides the SMs of every cluster, so that both programs use the whole network ("Adaptive Memory-Side Last-Level GPU
 * Caching", sections 4.3 and 6.3). */
static bool divide_sms(struct machine *m, struct error *err) {
    const struct machine_config *values = config_get(m->config, &machine_section);
    unsigned of_cluster = m->sms / (unsigned)values->gpu.clusters, first = (unsigned)values->first_program_sms;
    m->program_of = mem_alloc(m->sms, sizeof *m->program_of);
    if (m->programs == 1) return true;
    if (!l1_suits_programs(m->config, err)) return false;
    if (m->sms < m->programs)
        return config_error(m->config, "sm.count", err, "two programs need at least two SMs, but there is only one");
    if (first >= of_cluster && first > 0)
        return config_error(m->config, "gpu.first_program_sms", err,
                            "leaves no SM for the second program: a cluster has %u SMs", of_cluster);
    if (!first) first = of_cluster / 2;
    for (unsigned i = 0; i < m->sms; i++) {
        bool second = of_cluster > 1 ? i % of_cluster >= first : i % 2 > 0;
        m->program_of[i] = second;
    }
    return true;
}

static bool create_llc(struct machine *m, struct error *err) {
    struct llc_organisation **next = &m->llc;
    for (unsigned i = 0; i < m->programs; i++) {
        struct llc_context context = {m->config, m->map, m->stats, &m->journal};
        *next = llc_organisation_create(&context, err);
        if (!*next) return false;
        (*next)->program = i;
        next = &(*next)->next_program;
    }
    return true;
}

static bool create_slices(struct machine *m, struct error *err) {
    m->map = address_map_create(m->config, err);
    if (!m->map) return false;
    if (!create_llc(m, err)) return false;
    control_connect_llc(m->control, m->llc);
    m->slices = address_map_mcs(m->map) * address_map_slices_per_mc(m->map);
    m->memory_slices = m->slices + atomics_slices(m->config);
    m->all_slices = m->memory_slices + (bridge_copy_ways(m->config) ? m->slices : 0);
    m->slice = mem_alloc(m->all_slices, sizeof *m->slice);
    m->slice_component = mem_alloc(m->all_slices, sizeof *m->slice_component);
    for (unsigned i = 0; i < m->all_slices; i++) {
        m->slice[i] = (i < m->slices          ? slice_create
                       : i < m->memory_slices ? slice_create_for_atomics
                                              : slice_create_for_copies)(m->config, m->llc, m->engine, m->stats, i);
        m->slice_component[i] = slice_component(m->slice[i]);
    }
    return true;
}

static bool create_l1(struct machine *m, unsigned clusters, struct error *err) {
    struct l1_context context = {.config = m->config,
                                 .engine = m->engine,
                                 .stats = m->stats,
                                 .journal = &m->journal,
                                 .llc = m->llc,
                                 .sms = m->sms,
                                 .clusters = clusters,
                                 .sm_component = m->sm_component};
    m->l1 = l1_create(&context, err);
    return m->l1 != NULL;
}

/* An upper bound: the latency of a packet with a whole line, and of its credits on their return. */
static uint64_t quiet_cycles(const struct machine *m, const struct network_shape *shape, uint64_t khz) {
    const struct machine_config *values = config_get(m->config, &machine_section);
    const struct noc_config *noc = config_get(m->config, &noc_section);
    uint64_t flits = div_up(MESSAGE_HEADER_BYTES + (uint64_t)values->gpu.line_bytes, (uint64_t)noc->channel_bytes);
    const struct bridge_config *bridge = config_get(m->config, &bridge_section);
    uint64_t crossing = bridges_exist(m->config) ? (uint64_t)bridge->cycles : 0;
    return 2 * (network_unloaded_cycles(m->config, shape, khz, (unsigned)flits) + crossing);
}

static void connect_slices(struct machine *m) {
    const struct llc_config *llc = config_get(m->config, &llc_section);
    if (m->memory_slices > m->slices) m->atomics = atomics_create(m->config, m->engine, m->slice_component);
    for (unsigned i = 0; i < m->all_slices; i++) {
        struct slice_ports ports = {0};
        if (i < m->memory_slices) {
            ports.from_memory = dram_output(m->dram, i);
            ports.to_memory = dram_input(m->dram, i);
        } else {
            bridges_connect_copies(m->bridges, i - m->memory_slices, &ports);
        }
        if (i < m->slices) {
            ports.from_network = network_output(m->request, i);
            ports.to_network = network_input(m->reply, i);
            if (m->bridges) bridges_connect(m->bridges, i, &ports);
            if (llc->input_gate) port_gate(ports.from_network, (unsigned)llc->input_queue);
        }
        if (m->atomics) atomics_connect(m->atomics, i, &ports);
        control_connect_slice(m->control, i, m->slice_component[i], &ports);
        slice_connect(m->slice[i], &ports, (unsigned)llc->input_queue);
    }
}

/* The components that receive requests: the slices, or their bridges. The caller frees them. */
static unsigned *create_bridges(struct machine *m) {
    unsigned *peers = mem_alloc(m->slices, sizeof *peers);
    if (bridges_exist(m->config)) {
        const unsigned *copies = m->all_slices > m->memory_slices ? m->slice_component + m->memory_slices : NULL;
        m->bridges = bridges_create(m->config, m->map, m->engine, m->slice_component, copies, m->stats);
    }
    for (unsigned i = 0; i < m->slices; i++)
        peers[i] = m->bridges ? bridges_component(m->bridges, i) : m->slice_component[i];
    return peers;
}

static bool create_networks(struct machine *m, unsigned clusters, struct error *err) {
    unsigned endpoints = m->l1->ops->endpoints(m->l1);
    m->endpoint_component = mem_alloc(endpoints, sizeof *m->endpoint_component);
    for (unsigned i = 0; i < endpoints; i++) m->endpoint_component[i] = m->l1->ops->endpoint_component(m->l1, i);
    m->shape = (struct network_shape){endpoints, m->slices, clusters, address_map_mcs(m->map)};
    unsigned *slice_peers = create_bridges(m);
    struct network_peers peers = {m->endpoint_component, slice_peers};
    uint64_t khz = gpu_core_khz(m->config);
    m->request = network_create(m->config, NETWORK_REQUEST, &m->shape, &peers, m->engine, khz, m->stats, err);
    if (m->request)
        m->reply = network_create(m->config, NETWORK_REPLY, &m->shape, &peers, m->engine, khz, m->stats, err);
    free(slice_peers);
    if (!m->reply) return false;
    m->dram = dram_create(m->config, m->map, m->slice_component, m->memory_slices, m->engine, khz, m->stats, err);
    if (!m->dram) return false;
    struct port *reports = control_request_reports(m->control, m->l1);
    for (unsigned i = 0; i < endpoints; i++)
        m->l1->ops->connect(m->l1, i,
                            &(struct l1_ports){network_input(m->request, i), network_output(m->reply, i),
                                               reports ? &reports[i] : NULL});
    control_connect_networks(m->control, m->config, m->request, m->reply, quiet_cycles(m, &m->shape, khz));
    connect_slices(m);
    return true;
}

static uint64_t zero_load(const void *user, bool reply, const struct message *message) {
    const struct machine *m = user;
    return network_zero_load_cycles(reply ? m->reply : m->request, m->config, message);
}

static void create_observers(struct machine *m, unsigned clusters) {
    for (unsigned i = 0; i < m->programs; i++) stats_add(m->stats, &machine_program_stat_table, &m->program[i].stats);
    if (m->engine->latency) latency_add_stats(m->engine->latency, m->stats);
    const struct llc_config *llc = config_get(m->config, &llc_section);
    if (!llc->sharing_window) return;
    unsigned endpoints = m->l1->ops->endpoints(m->l1);
    uint16_t *cluster_of = mem_alloc(endpoints, sizeof *cluster_of);
    for (unsigned i = 0; i < endpoints; i++) cluster_of[i] = (uint16_t)(i * clusters / endpoints);
    m->sharing = sharing_create((uint64_t)llc->sharing_window, cluster_of, endpoints, m->stats);
    for (unsigned i = 0; i < m->all_slices; i++) sharing_observe(m->sharing, m->slice[i]);
    free(cluster_of);
}

struct machine *machine_create(const struct config *config, struct error *err) {
    return machine_create_for(1, config, err);
}

struct machine *machine_create_for(unsigned programs, const struct config *config, struct error *err) {
    assert(programs >= 1 && programs <= PROGRAMS_MAX);
    const struct machine_config *values = config_get(config, &machine_section);
    const struct sm_config *sm = config_get(config, &sm_section);
    unsigned clusters = (unsigned)values->gpu.clusters;
    struct machine *m = mem_alloc(1, sizeof *m);
    m->config = config;
    m->engine = engine_create();
    m->stats = stats_create();
    if (values->observe_latency) m->engine->latency = latency_create(l1_is_grouped(config), zero_load, m);
    m->programs = programs;
    m->sms = (unsigned)sm->count;
    if (!divide_sms(m, err)) {
        machine_destroy(m);
        return NULL;
    }
    m->sm_shared = sm_shared_create(config);
    m->control = control_create(config, programs, m->program_of, m->engine, m->stats, &m->journal);
    m->sm = mem_alloc(m->sms, sizeof *m->sm);
    m->sm_component = mem_alloc(m->sms, sizeof *m->sm_component);
    for (unsigned i = 0; i < m->sms; i++) {
        m->sm[i] = sm_create(m->sm_shared, config, m->engine, m->stats, i);
        m->sm_component[i] = sm_component(m->sm[i]);
    }
    if (!create_slices(m, err) || !create_l1(m, clusters, err) || !create_networks(m, clusters, err)) {
        machine_destroy(m);
        return NULL;
    }
    create_observers(m, clusters);
    for (unsigned i = 0; i < m->sms; i++)
        control_connect_sm(m->control, m->sm[i], i, m->l1, &m->program[m->program_of[i]].launch);
    control_connect_l1(m->control, m->l1);
    return m;
}

void machine_destroy(struct machine *m) {
    if (!m) return;
    for (unsigned i = 0; m->sm && i < m->sms; i++) sm_destroy(m->sm[i]);
    for (unsigned i = 0; m->slice && i < m->all_slices; i++) slice_destroy(m->slice[i]);
    sharing_destroy(m->sharing);
    atomics_destroy(m->atomics);
    bridges_destroy(m->bridges);
    if (m->dram) dram_destroy(m->dram);
    if (m->reply) network_destroy(m->reply);
    if (m->request) network_destroy(m->request);
    if (m->l1) m->l1->ops->destroy(m->l1);
    control_destroy(m->control);
    if (m->sm_shared) sm_shared_destroy(m->sm_shared);
    while (m->llc) {
        struct llc_organisation *next = m->llc->next_program;
        m->llc->ops->destroy(m->llc);
        m->llc = next;
    }
    if (m->map) address_map_destroy(m->map);
    free(m->program_of);
    free(m->endpoint_component);
    free(m->slice_component);
    free(m->slice);
    free(m->sm_component);
    free(m->sm);
    journal_release(&m->journal);
    stats_destroy(m->stats);
    latency_destroy(m->engine->latency);
    engine_destroy(m->engine);
    free(m);
}

const struct program_stats *machine_program(const struct machine *m, unsigned program) {
    return &m->program[program].stats;
}
void machine_settle(struct machine *m) { engine_settle(m->engine, m->engine->now); }

const struct stats *machine_stats(const struct machine *m) { return m->stats; }
bool machine_order_degree(struct machine *m, unsigned degree) { return control_set_degree(m->control, degree); }
const struct journal *machine_journal(const struct machine *m) { return &m->journal; }
const struct network_shape *machine_shape(const struct machine *m) { return &m->shape; }
struct dram *machine_dram(const struct machine *m) {
    return m->dram;
}

/* Running. */

/* Progress of one program, or of all. */
enum { ALL_PROGRAMS = PROGRAMS_MAX };
static struct run_progress progress_of(const struct machine *m, unsigned program) {
    struct run_progress progress = {.cycles = m->engine->now};
    for (unsigned i = 0; i < m->sms; i++) {
        if (program != ALL_PROGRAMS && m->program_of[i] != program) continue;
        progress.warp_instructions += sm_stats_of(m->sm[i])->warp_instructions;
        progress.thread_instructions += sm_stats_of(m->sm[i])->thread_instructions;
    }
    return progress;
}

/* The same of all programs, with the kernels of each. */
static struct run_progress progress_in_detail(const struct machine *m) {
    struct run_progress all = progress_of(m, ALL_PROGRAMS);
    all.programs = m->programs;
    for (unsigned i = 0; i < m->programs; i++) {
        const struct program *program = &m->program[i];
        struct run_progress own = m->programs > 1 ? progress_of(m, i) : all;
        all.program[i] = (struct program_progress){
            .warp_instructions = own.warp_instructions,
            .thread_instructions = own.thread_instructions,
            .kernels = program->stats.kernels,
            .threads = program->threads,
            .kernel = program->running ? &program->launch.kernel : NULL,
            .ctas = program->running ? control_ended_ctas(m->control, i) : 0,
            .done = program->done,
        };
    }
    return all;
}

/* Increases whenever anything makes progress. */
static uint64_t signs_of_life(const struct machine *m) {
    return engine_progress(m->engine) + progress_of(m, ALL_PROGRAMS).warp_instructions;
}

static enum run_status fail(struct machine *m, struct run_result *result, struct error *err, const char *what,
                            const char *detail) {
    size_t size;
    FILE *out = open_memstream(&result->diagnosis, &size);
    if (out) {
        engine_explain(m->engine, out);
        fclose(out);
    }
    error_set(err, "%s at cycle %llu: %s", what, (unsigned long long)m->engine->now, detail);
    return RUN_FAILED;
}

/* Whether anything is in flight: messages, work inside components, flits, credits. */
static bool under_way(const struct machine *m, char *text, size_t size) {
    return engine_in_flight(m->engine, text, size) || !network_conserved(m->request, text, size) ||
           !network_conserved(m->reply, text, size);
}

/* Every request has been answered, nothing is in flight, all flits have been ejected, all credits have returned, and
 * the cycle breakdown adds up. */
static enum run_status check_conservation(struct machine *m, struct run_result *result, struct error *err) {
    char text[160];
    if (under_way(m, text, sizeof text)) return fail(m, result, err, "conservation check failed", text);
    struct {
        const char *what, *left, *right, *more_left, *more_right;
    } equal[] = {
        {"L1 requests and L1 replies", "l1.requests", "l1.replies", NULL, NULL},
        {"requests and LLC replies", "l1.requests", "llc.replies", "bridge.fetches", "copies.replies"},
        {"forwarded atomics and replies of the atomics' LLC", "llc.atomics_forwarded", "atomics.replies", NULL, NULL},
    };
    for (unsigned i = 0; i < COUNT_OF(equal); i++) {
        uint64_t left = stats_get(m->stats, equal[i].left, NULL), right = stats_get(m->stats, equal[i].right, NULL);
        if (equal[i].more_left) left += stats_get(m->stats, equal[i].more_left, NULL);
        if (equal[i].more_right) right += stats_get(m->stats, equal[i].more_right, NULL);
        if (left == right) continue;
        snprintf(text, sizeof text, "%s differ: %llu and %llu", equal[i].what, (unsigned long long)left,
                 (unsigned long long)right);
        return fail(m, result, err, "conservation check failed", text);
    }
    uint64_t cycles = stats_get(m->stats, "sm.issuing", NULL);
    for (unsigned i = 0; i < stats_count(m->stats); i++) {
        char name[96];
        stats_name(m->stats, i, name, sizeof name);
        if (strncmp(name, "sm.stall.", 9) == 0) cycles += stats_total(m->stats, i);
    }
    if (cycles != stats_get(m->stats, "sm.cycles", NULL) || cycles != (uint64_t)m->sms * result->cycles)
        return fail(m, result, err, "conservation check failed",
                    "the SMs' issue and stall cycles do not add up to their total cycles");
    return RUN_DONE;
}

/* Completes what is still in flight: write-backs, credits. Time advances in the same steps whether or not cycles are
 * skipped, so that counters of time are the same. */
static void drain(struct machine *m) {
    const struct machine_config *values = config_get(m->config, &machine_section);
    char text[160];
    uint64_t progress = signs_of_life(m), since = m->engine->now;
    do {
        uint64_t until = m->engine->now + RUN_QUANTUM;
        if (engine_run_until(m->engine, until) == ENGINE_QUIET) m->engine->now = until;
        uint64_t before = progress;
        progress = signs_of_life(m);
        if (progress != before) since = m->engine->now;
    } while (under_way(m, text, sizeof text) && m->engine->now - since <= (uint64_t)values->progress_limit);
}

struct run {
    struct machine *m;
    const struct run_options *options;
    struct run_result *result;
    struct error *err;
    uint64_t progress, progress_at; /* of the engine, and when it last increased */
    uint64_t progress_limit;
    uint64_t starts_at;  /* the kernel launched last; no progress is required before */
    uint64_t sampled_at; /* the last row of the time series */
    uint64_t timeline_at;
    bool over;           /* every program has finished */
    uint64_t look_ahead; /* interval of the lookahead over replication degrees, in cycles; 0: never */
    struct lookahead lookahead;
    struct run_progress tried_from;
    bool gave_up; /* the user has interrupted the run, and streams have been cut short */
};

/* Samples the time series if a row is due. The row of the last cycle is taken at the end of the run. */
static void sample(struct run *run) {
    struct machine *m = run->m;
    uint64_t now = m->engine->now;
    if (!run->result->series || now == run->sampled_at || now % run->options->sample_cycles) return;
    run->sampled_at = now;
    engine_settle(m->engine, now);
    series_sample(run->result->series, now);
}

/* Samples the timeline if a row is due; a full one is halved. */
static void sample_timeline(struct run *run) {
    struct series *timeline = run->result->timeline;
    uint64_t now = run->m->engine->now;
    if (!timeline || now == run->timeline_at || now % series_every(timeline)) return;
    run->timeline_at = now;
    engine_settle(run->m->engine, now);
    series_sample(timeline, now);
    if (series_rows(timeline) == run->options->timeline_rows) series_halve(timeline);
}

/* Counts for the kernel that has ended last, if it has no row yet. */
static void sample_kernel(const struct run_result *result, struct engine *engine) {
    if (!result->kernel_series || series_rows(result->kernel_series) == result->kernel_count) return;
    engine_settle(engine, engine->now);
    series_sample(result->kernel_series, engine->now);
}

static void add_kernel(struct run *run, unsigned index) {
    struct run_result *result = run->result;
    struct program *program = &run->m->program[index];
    struct run_progress after = progress_of(run->m, index);
    program->stats.kernels++;
    if (!program->launch.kernel.number) program->launch.kernel.number = (uint32_t)program->stats.kernels;
    result->kernels = mem_grow(result->kernels, result->kernel_count + 1, sizeof *result->kernels);
    result->kernels[result->kernel_count++] = (struct kernel_result){
        .kernel = program->launch.kernel,
        .program = index,
        .ctas_per_sm = program->launch.ctas_per_sm,
        .carve_out_kb = program->launch.carve_out.l1_ways ? (int)program->launch.carve_out.shared_kb : -1,
        .begins = program->begins,
        .cycles = after.cycles - program->before.cycles,
        .warp_instructions = after.warp_instructions - program->before.warp_instructions,
        .thread_instructions = after.thread_instructions - program->before.thread_instructions,
    };
}

/* Sets the program's result to its progress so far. The source's violations do not depend on the design. */
static void finish_program(struct run *run, unsigned index) {
    struct machine *m = run->m;
    struct program *program = &m->program[index];
    const struct stream_source *source = program->source;
    struct error first = {0};
    if (program->done) return;
    if (program->running) add_kernel(run, index); /* incomplete */
    struct run_progress progress = progress_of(m, index);
    program->done = run->over = true;
    program->stats.cycles = progress.cycles;
    program->stats.thread_instructions = progress.thread_instructions;
    program->stats.warp_instructions = progress.warp_instructions;
    if (source->ops->violations) program->stats.read_only_violations = source->ops->violations(source, &first);
    for (unsigned i = 0; i < m->programs; i++) run->over &= m->program[i].done;
}

/* A trial ends after its interval, or with a kernel: the next kernel's streams belong to the parent. */
static void end_trial(const struct run *run) {
    if (!lookahead_on_trial(&run->lookahead)) return;
    struct run_progress from = run->tried_from, to = progress_of(run->m, ALL_PROGRAMS);
    lookahead_report(&run->lookahead, (double)(to.thread_instructions - from.thread_instructions) /
                                          (double)max_u64(to.cycles - from.cycles, 1));
}

/* Sets the replication degree with which the most instructions issue in the next interval. */
static bool look_ahead(struct run *run) {
    struct machine *m = run->m;
    unsigned degrees = 0, best;
    end_trial(run);
    while (machine_order_degree(m, 1u << degrees)) degrees++;
    if (!lookahead_choose(&run->lookahead, degrees, &best, run->err)) return false;
    run->tried_from = progress_of(m, ALL_PROGRAMS);
    return machine_order_degree(m, 1u << best);
}

/* Between two stretches of the run: lookahead, progress check, limits, samples. */
static enum run_status between(struct run *run) {
    struct machine *m = run->m;
    uint64_t now = m->engine->now;
    if (run->look_ahead && now % run->look_ahead == 0 && !look_ahead(run)) return RUN_FAILED;
    if (lookahead_on_trial(&run->lookahead)) return RUN_DONE;
    if (now % RUN_QUANTUM == 0) {
        uint64_t before = run->progress;
        run->progress = signs_of_life(m);
        if (run->progress != before) {
            run->progress_at = now;
        } else if (now > max_u64(run->progress_at, run->starts_at) + run->progress_limit) {
            return fail(m, run->result, run->err, "no progress for gpu.progress_limit cycles", "the run is deadlocked");
        }
        for (unsigned i = 0; i < m->programs && run->options->max_instructions; i++)
            if (progress_of(m, i).thread_instructions >= run->options->max_instructions) finish_program(run, i);
        struct run_progress progress = progress_in_detail(m);
        if (run->options->progress && !run->options->progress(run->options->user, &progress)) return RUN_INTERRUPTED;
        if (run->over) return RUN_DONE;
    }
    sample(run);
    sample_timeline(run);
    return RUN_DONE;
}

static uint64_t next_boundary(const struct run *run) {
    uint64_t now = run->m->engine->now, next = NEVER;
    const struct series *timeline = run->result->timeline;
    const uint64_t every[] = {RUN_QUANTUM, run->options->sample_cycles, run->look_ahead,
                              timeline ? series_every(timeline) : 0};
    for (unsigned i = 0; i < COUNT_OF(every); i++)
        if (every[i]) next = min_u64(next, (now / every[i] + 1) * every[i]);
    return next;
}

/* Called by the source while the machine waits for it. */
static bool patience(void *user) {
    struct run *run = user;
    struct run_progress progress = progress_in_detail(run->m);
    run->gave_up |= run->options->progress && !run->options->progress(run->options->user, &progress);
    return !run->gave_up;
}

static const char *failure_of(const struct stream_source *source) {
    return source->ops->failure ? source->ops->failure(source) : NULL;
}

/* The program's next kernel; if it has ended while another program has not, its first kernel again. Without a further
 * kernel the program stays idle. */
static bool next_kernel(struct run *run, unsigned index, struct kernel *kernel) {
    struct program *program = &run->m->program[index];
    struct stream_source *source = program->source;
    if (source->ops->next_kernel(source, kernel)) return true;
    if (run->gave_up || failure_of(source)) return false;
    program->stats.ends++;
    finish_program(run, index);
    if (run->over) return false;
    if (run->options->restarts && program->stats.ends == 1) run->options->restarts(run->options->user, index);
    source->ops->restart(source);
    return source->ops->next_kernel(source, kernel);
}

/* Why there is no next kernel. */
static enum run_status why_none(const struct run *run, const struct stream_source *source) {
    if (run->gave_up) return RUN_INTERRUPTED;
    return failure_of(source) ? error_set(run->err, "%s", failure_of(source)), RUN_FAILED : RUN_DONE;
}

/* A cooperative kernel needs all of its CTAs at once. */
static bool fits_at_once(const struct machine *m, const struct kernel *kernel, unsigned program, unsigned ctas_per_sm,
                         unsigned sms, struct error *err) {
    const struct machine_config *values = config_get(m->config, &machine_section);
    uint64_t fit = (uint64_t)ctas_per_sm * sms, ctas = kernel_ctas(kernel);
    char clusters[64] = "";
    if (kernel->cluster_ctas > 1) {
        fit = cluster_resident(kernel->cluster_ctas, m->sms, (unsigned)values->gpu.clusters, m->program_of, program,
                               ctas_per_sm);
        snprintf(clusters, sizeof clusters, ", in clusters of %u within an SM cluster", kernel->cluster_ctas);
    }
    return !kernel->cooperative || ctas <= fit ||
           error_set(err,
                     "kernel '%s' is cooperative and has %llu CTAs, but only %llu fit on the GPU at once: %u on each "
                     "of %u SMs%s",
                     kernel->name, (unsigned long long)ctas, (unsigned long long)fit, ctas_per_sm, sms, clusters);
}

/* Starts the program's next kernel, if there is one. */
static enum run_status begin_kernel(struct run *run, unsigned index) {
    struct machine *m = run->m;
    const struct machine_config *values = config_get(m->config, &machine_section);
    struct program *program = &m->program[index];
    struct kernel kernel;
    if (!next_kernel(run, index, &kernel)) return why_none(run, program->source);
    unsigned sms = 0;
    for (unsigned i = 0; i < m->sms; i++) sms += m->program_of[i] == index;
    unsigned ctas_per_sm = sm_occupancy(m->config, sms, &kernel, run->err);
    if (ctas_per_sm == 0) return RUN_REFUSED;
    if (kernel.cluster_ctas > 1 &&
        !cluster_fits(&kernel, m->sms, (unsigned)values->gpu.clusters, m->program_of, index, ctas_per_sm, run->err))
        return RUN_REFUSED;
    if (!fits_at_once(m, &kernel, index, ctas_per_sm, sms, run->err)) return RUN_REFUSED;
    program->launch = (struct launch){.kernel = kernel,
                                      .source = program->source,
                                      .warps_per_cta = kernel_warps(&kernel),
                                      .ctas_per_sm = ctas_per_sm,
                                      .program = (uint8_t)index,
                                      .carve_out = sm_carve_out(m->config, &kernel, ctas_per_sm)};
    program->before = progress_of(m, index);
    program->begins = m->engine->now;
    program->running = true;
    l1_begin(m->l1, (unsigned)program->stats.kernels);
    sample(run); /* the previous kernel may have ended in a cycle where a row is due */
    sample_timeline(run);
    sample_kernel(run->result, m->engine);
    run->starts_at = max_u64(run->starts_at, m->engine->now + (uint64_t)values->launch_cycles);
    control_begin(m->control, &program->launch, m->engine->now);
    return RUN_DONE;
}

/* Each program whose kernel has ended starts its next one. */
static enum run_status follow_kernels(struct run *run) {
    struct machine *m = run->m;
    enum run_status status = RUN_DONE;
    for (unsigned i = 0; i < m->programs && status == RUN_DONE && !run->over; i++) {
        struct program *program = &m->program[i];
        if (!program->running || !control_idle(m->control, i)) continue;
        if (!program->done) add_kernel(run, i);
        if (run->options->kernel_ended) run->options->kernel_ended(run->options->user, i, m->engine->now);
        program->threads += kernel_ctas(&program->launch.kernel) * kernel_threads(&program->launch.kernel);
        program->running = false;
        status = begin_kernel(run, i);
    }
    return status;
}

static enum run_status run_programs(struct run *run) {
    struct machine *m = run->m;
    enum run_status status = RUN_DONE;
    for (unsigned i = 0; i < m->programs && status == RUN_DONE; i++) {
        struct stream_source *source = m->program[i].source;
        source->in_step = run->look_ahead > 0;
        source->max_instructions = run->options->max_instructions;
        source->ops->restart(source);
        source->patience = patience;
        source->patience_user = run;
        status = begin_kernel(run, i);
    }
    while (status == RUN_DONE && !run->over) {
        switch (engine_run_until(m->engine, next_boundary(run))) {
        case ENGINE_STOPPED:
            end_trial(run);
            status = follow_kernels(run);
            break;
        case ENGINE_QUIET:
            status = fail(m, run->result, run->err, "the run is deadlocked",
                          "no component has work left, but the kernel has not ended");
            break;
        case ENGINE_RUNNING: status = between(run); break;
        }
    }
    for (unsigned i = 0; i < m->programs; i++) {
        struct stream_source *source = m->program[i].source;
        finish_program(run, i);
        if (status == RUN_DONE) status = why_none(run, source);
        source->patience = NULL;
    }
    return status;
}

enum run_status machine_run(struct machine *m, struct stream_source *source, const struct run_options *options,
                            struct run_result *result, struct error *err) {
    assert(m->programs == 1);
    return machine_run_all(m, &source, options, result, err);
}

/* Counters of each unit in a series, which may be NULL. */
static bool keep_units(struct series *series, const struct stats *stats, const char *const *names, struct error *err) {
    for (const char *const *name = names; series && name && *name; name++) {
        int index = stats_find(stats, *name);
        if (index < 0) return error_set(err, "there is no counter %s; `sluice list stats` lists them", *name);
        series_keep_units(series, (unsigned)index);
    }
    return true;
}

enum run_status machine_run_all(struct machine *m, struct stream_source *const *sources,
                                const struct run_options *options, struct run_result *result, struct error *err) {
    const struct machine_config *values = config_get(m->config, &machine_section);
    *result = (struct run_result){0};
    assert(!options->kernel_stats || m->programs == 1);
    if (options->sample_cycles) result->series = series_create(m->stats, options->sample_cycles);
    if (options->timeline_rows) result->timeline = series_create(m->stats, TIMELINE_CYCLES);
    if (options->kernel_stats) result->kernel_series = series_create(m->stats, 0);
    if (!keep_units(result->series, m->stats, options->sample_units, err) ||
        !keep_units(result->timeline, m->stats, options->timeline_units, err))
        return RUN_REFUSED;
    if (options->cta) control_watch(m->control, options->cta, options->user);
    m->engine->poll = options->no_skip;
    m->engine->shuffle = options->shuffle;
    for (unsigned i = 0; i < m->programs; i++) m->program[i].source = sources[i];
    struct run run = {
        .m = m, .options = options, .result = result, .err = err, .progress_limit = (uint64_t)values->progress_limit};
    if (m->llc->ops->degrees) run.look_ahead = m->llc->ops->degrees->look_ahead_cycles(m->llc);
    enum run_status status = run_programs(&run);

    uint64_t end = m->engine->now;
    engine_settle(m->engine, end);
    for (unsigned i = 0; i < m->sms; i++) sm_freeze(m->sm[i], end);
    network_freeze(m->request, end);
    network_freeze(m->reply, end);
    struct run_progress progress = progress_of(m, ALL_PROGRAMS);
    result->cycles = end;
    result->warp_instructions = progress.warp_instructions;
    result->thread_instructions = progress.thread_instructions;
    if (status == RUN_DONE) {
        bool cut_short = false; /* by a limit, or because the other program has finished, too */
        for (unsigned i = 0; i < m->programs; i++) cut_short |= !control_idle(m->control, i);
        if (cut_short) {
            control_halt(m->control);
            for (unsigned i = 0; i < m->sms; i++) sm_halt(m->sm[i]);
        }
        drain(m);
        engine_settle(m->engine, m->engine->now);
    }
    if (m->sharing) sharing_finish(m->sharing);
    if (result->series) series_sample(result->series, end); /* after draining, so that rows add up to totals */
    if (result->timeline) series_sample(result->timeline, end);
    sample_kernel(result, m->engine);
    if (status == RUN_DONE) status = check_conservation(m, result, err);
    return status == RUN_DONE && !l1_finish(m->l1, err) ? RUN_FAILED : status;
}

void run_result_release(struct run_result *result) {
    free(result->kernels);
    free(result->diagnosis);
    series_destroy(result->series);
    series_destroy(result->kernel_series);
    series_destroy(result->timeline);
    *result = (struct run_result){0};
}
