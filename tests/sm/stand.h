/* A test stand for one SM and its private L1: a dispatcher that deals out CTAs, and a memory that answers every request
 * after a fixed time.
 *
 *     struct stand *stand = stand_make(SETTINGS("sm.schedulers=1"));
 *     stand_run(stand, &source);
 *     CHECK_EQ(script_issued(&source, 0, 0, 1), ...);
 *     CHECK_EQ(stand_count(stand, "sm.stall.memory"), ...);
 *     stand_destroy(stand);
 *
 * The first CTA is launched, and its first step issues, in cycle STAND_START. What an access in cycle t sends is
 * answered in t + 2 + memory_cycles. Instruction fetches always hit unless a setting says otherwise. After every run
 * the books must balance: each cycle issued or had one cause for not issuing.
 */
#ifndef SLUICE_TESTS_SM_STAND_H
#define SLUICE_TESTS_SM_STAND_H

#include "llc/organisation.h"
#include "sim/gpu_config.h"
#include "sm/script.h"
#include "sm/sm.h"

enum { STAND_START = 1, STAND_CTAS = 64, STAND_LIMIT = 200000, STAND_REQUESTS = 4096 };

struct stand {
    struct config *config;
    struct engine *engine;
    struct stats *stats;
    struct address_map *map;
    struct llc_organisation *llc;
    struct l1 *l1;
    struct sm_shared *shared;
    struct sm *sm;
    unsigned sm_id, memory_id, dispatcher_id;
    struct port to_memory, from_memory, commands, reports;

    /* The memory. */
    uint64_t stop_at, go_on_at; /* when the SM is commanded to stop, and to go on; 0: never */
    uint64_t memory_cycles;     /* 100 unless changed before a run */
    uint64_t opens_at;          /* takes nothing before this cycle */
    struct message request[STAND_REQUESTS];
    uint64_t requested_at[STAND_REQUESTS]; /* when the memory saw it */
    unsigned requests;

    /* The dispatcher. */
    struct launch launch;
    bool flush; /* the L1 is flushed at a kernel's end */
    uint64_t begun_at, ctas, started, ended;
    uint64_t done_at[STAND_CTAS]; /* when word of a CTA's end came */
    bool finished;
    struct script_issue log[SCRIPT_LOG];
};

static inline void stand_memory_tick(void *self, uint64_t now) {
    struct stand *stand = self;
    const struct message *request;
    if (now < stand->opens_at) {
        engine_wake(stand->engine, stand->memory_id, stand->opens_at);
        return;
    }
    while ((request = port_peek(&stand->to_memory, now))) {
        if (stand->requests < STAND_REQUESTS) {
            stand->request[stand->requests] = *request;
            stand->requested_at[stand->requests++] = now;
        }
        struct message reply = *request;
        reply.kind = request->kind == MESSAGE_WRITE ? MESSAGE_ACK : MESSAGE_DATA;
        port_pop(&stand->to_memory, now);
        port_push_late(&stand->from_memory, now, stand->memory_cycles, &reply, sizeof reply);
    }
}

static inline void stand_order(struct stand *stand, struct sm_command order, uint64_t now) {
    port_push(&stand->commands, now, &order, sizeof order);
}

static inline void stand_dispatcher_tick(void *self, uint64_t now) {
    struct stand *stand = self;
    const struct sm_report *word;
    if (stand->ctas == 0) return;
    while ((word = port_peek(&stand->reports, now))) {
        if (word->kind == REPORT_CTA_DONE) {
            if (word->cta < STAND_CTAS) stand->done_at[word->cta] = now;
            stand->ended++;
            if (stand->ended == stand->ctas && stand->flush)
                stand_order(stand, (struct sm_command){.kind = COMMAND_FLUSH_L1}, now);
        }
        stand->finished = stand->ended == stand->ctas && (!stand->flush || word->kind == REPORT_L1_FLUSHED);
        port_pop(&stand->reports, now);
    }
    if (stand->stop_at && now == stand->stop_at) stand_order(stand, (struct sm_command){.kind = COMMAND_STOP}, now);
    if (stand->stop_at && now == stand->go_on_at) stand_order(stand, (struct sm_command){.kind = COMMAND_GO_ON}, now);
    if (now < stand->begun_at) return;
    while (stand->started < stand->ctas && stand->started - stand->ended < stand->launch.ctas_per_sm)
        stand_order(stand, (struct sm_command){COMMAND_RUN_CTA, .cta = stand->started++}, now);
    if (stand->finished) stand->engine->stop = true;
}

static inline struct stand *stand_make(const char *const *settings) {
    static const struct component_ops memory_ops = {.kind = "memory", .tick = stand_memory_tick};
    static const struct component_ops dispatcher_ops = {.kind = "dispatcher", .tick = stand_dispatcher_tick};
    static const char *const always[] = {"sm.count=1", "gpu.clusters=1",      "llc.slices_per_mc=1",
                                         "dram.mcs=1", "dram.mapping=linear", "sm.instruction_kb=0",
                                         NULL};
    struct stand *stand = mem_alloc(1, sizeof *stand);
    struct error err = {0};
    stand->config = config_create(config_sections, config_section_count);
    bool good = true;
    for (unsigned i = 0; always[i]; i++) good = good && config_set(stand->config, always[i], &err);
    for (; *settings; settings++) good = good && config_set(stand->config, *settings, &err);
    good = good && config_check(stand->config, &err);
    CHECK_EQ((const char *)err.text, "");
    REQUIRE(good);
    stand->engine = engine_create();
    stand->stats = stats_create();
    stand->map = address_map_create(stand->config, &err);
    REQUIRE(stand->map);
    struct llc_context llc_context = {stand->config, stand->map, stand->stats, NULL};
    stand->llc = llc_organisation_create(&llc_context, &err);
    REQUIRE(stand->llc);
    stand->shared = sm_shared_create(stand->config);
    stand->sm = sm_create(stand->shared, stand->config, stand->engine, stand->stats, 0);
    stand->sm_id = sm_component(stand->sm);
    stand->memory_id = engine_add(stand->engine, &memory_ops, stand, 0);
    stand->dispatcher_id = engine_add(stand->engine, &dispatcher_ops, stand, 0);
    struct l1_context context = {.config = stand->config,
                                 .engine = stand->engine,
                                 .stats = stand->stats,
                                 .llc = stand->llc,
                                 .sms = 1,
                                 .clusters = 1,
                                 .sm_component = &stand->sm_id};
    stand->l1 = l1_create(&context, &err);
    REQUIRE(stand->l1);
    port_init(&stand->to_memory, stand->engine, "to memory", stand->sm_id, stand->memory_id, 4, 1);
    port_init(&stand->from_memory, stand->engine, "from memory", stand->memory_id, stand->sm_id, 1024, 1);
    port_init(&stand->commands, stand->engine, "commands", stand->dispatcher_id, stand->sm_id, 128, 1);
    port_init(&stand->reports, stand->engine, "reports", stand->sm_id, stand->dispatcher_id, 128, 1);
    stand->l1->ops->connect(stand->l1, 0, &(struct l1_ports){&stand->to_memory, &stand->from_memory, NULL});
    sm_connect(stand->sm, stand->l1, &stand->launch, &stand->commands, &stand->reports);
    stand->memory_cycles = 100;
    return stand;
}
#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_SETTINGS   ((const char *const[]){NULL})

static inline void stand_destroy(struct stand *stand) {
    sm_destroy(stand->sm);
    sm_shared_destroy(stand->shared);
    stand->l1->ops->destroy(stand->l1);
    stand->llc->ops->destroy(stand->llc);
    address_map_destroy(stand->map);
    port_release(&stand->to_memory);
    port_release(&stand->from_memory);
    port_release(&stand->commands);
    port_release(&stand->reports);
    stats_destroy(stand->stats);
    engine_destroy(stand->engine);
    config_destroy(stand->config);
    free(stand);
}

static inline uint64_t stand_count(const struct stand *stand, const char *name) {
    bool found;
    uint64_t value = stats_get(stand->stats, name, &found);
    if (!found) printf("no counter %s\n", name);
    REQUIRE(found);
    return value;
}

/* All stalled cycles, but for the one cause that is named (NULL: all of them). */
static inline uint64_t stand_other_stalls(const struct stand *stand, const char *cause) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < stats_count(stand->stats); i++) {
        char name[96];
        stats_name(stand->stats, i, name, sizeof name);
        if (strncmp(name, "sm.stall.", 9) == 0 && (!cause || strcmp(name + 9, cause) != 0))
            sum += stats_total(stand->stats, i);
    }
    return sum;
}

static inline void stand_check_books(const struct stand *stand) {
    CHECK_EQ(stand_count(stand, "sm.cycles"), stand->engine->now);
    CHECK_EQ(stand_count(stand, "sm.issuing") + stand_other_stalls(stand, NULL), stand->engine->now);
}

/* Runs every kernel of the source; the test ends if one does not end. */
static inline void stand_run(struct stand *stand, struct script_source *source) {
    struct error err = {0};
    struct kernel kernel;
    source->chunk = 1;
    source->clock = &stand->engine->now;
    source->log = stand->log;
    source->logged = 0;
    source->source.ops->restart(&source->source);
    while (source->source.ops->next_kernel(&source->source, &kernel)) {
        unsigned ctas_per_sm = sm_occupancy(stand->config, &kernel, &err);
        CHECK_EQ((const char *)err.text, "");
        REQUIRE(ctas_per_sm > 0);
        stand->launch = (struct launch){kernel, &source->source, kernel_warps(&kernel), ctas_per_sm, 0};
        stand->ctas = kernel_ctas(&kernel);
        stand->begun_at = stand->engine->now;
        stand->started = stand->ended = 0;
        stand->finished = false;
        engine_wake(stand->engine, stand->dispatcher_id, stand->engine->now);
        enum engine_state state = ENGINE_RUNNING;
        while (state == ENGINE_RUNNING && stand->engine->now < STAND_LIMIT)
            state = engine_run_until(stand->engine, stand->engine->now + 1000);
        if (state != ENGINE_STOPPED) engine_explain(stand->engine, stdout);
        REQUIRE(state == ENGINE_STOPPED);
    }
    engine_settle(stand->engine, stand->engine->now);
    stand_check_books(stand);
}

/* The description's values. */
static inline const struct sm_config *stand_sm(const struct stand *stand) {
    return config_get(stand->config, &sm_section);
}
static inline const struct l1_config *stand_l1(const struct stand *stand) {
    return config_get(stand->config, &l1_section);
}

/* From the issue of an operation to that of one that needs its result. */
static inline uint64_t stand_latency(const struct stand *stand, enum op_class op) {
    const struct sm_config *sm = stand_sm(stand);
    return (uint64_t)(sm->operand_cycles + sm->op[op].value[0] + sm->writeback_cycles);
}
static inline uint64_t stand_hit_latency(const struct stand *stand) {
    return (uint64_t)(stand_sm(stand)->operand_cycles + stand_l1(stand)->latency_cycles +
                      stand_sm(stand)->writeback_cycles);
}
/* From an access's cycle to that in which its answer is there. */
static inline uint64_t stand_round_trip(const struct stand *stand) { return 2 + stand->memory_cycles; }
static inline uint64_t stand_miss_latency(const struct stand *stand) {
    return (uint64_t)stand_sm(stand)->operand_cycles + stand_round_trip(stand) +
           (uint64_t)stand_sm(stand)->writeback_cycles;
}

#endif
