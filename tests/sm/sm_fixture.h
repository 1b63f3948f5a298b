/* An SM and its private L1, with a dispatcher that launches CTAs and a memory that answers every request after a fixed
 * time.
 *
 *     struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.schedulers=1"));
 *     sm_fixture_run(sm, &source);
 *     CHECK_EQ(script_issued(&source, 0, 0, 1), ...);
 *     CHECK_EQ(COUNTER(sm, "sm.stall.memory"), ...);
 *     sm_fixture_destroy(sm);
 *
 * The first CTA is launched, and its first step issues, in cycle FIRST_ISSUE. What an access in cycle t sends is
 * answered in t + 2 + memory_cycles. Instruction fetches always hit unless a setting says otherwise. After every run
 * the cycle breakdown must add up: in each cycle the SM issued, or stalled for one cause.
 */
#ifndef SLUICE_TESTS_SM_SM_FIXTURE_H
#define SLUICE_TESTS_SM_SM_FIXTURE_H

#include "fixture.h"
#include "sim/gpu_config.h"
#include "sm/script.h"
#include "sm/sm.h"

enum { FIRST_ISSUE = 1, SM_FIXTURE_CTAS = 64, SM_FIXTURE_LIMIT = 200000, SM_FIXTURE_REQUESTS = 4096 };

struct sm_fixture {
    struct fixture base;
    struct l1 *l1;
    struct sm_shared *shared;
    struct sm *sm;
    unsigned sm_id, memory_id, dispatcher_id;
    struct port to_memory, from_memory, commands, reports;

    /* The memory. */
    uint64_t memory_cycles;       /* 100 unless changed before a run */
    uint64_t closes_at, opens_at; /* takes nothing from the one cycle until the other */
    struct message request[SM_FIXTURE_REQUESTS];
    uint64_t requested_at[SM_FIXTURE_REQUESTS]; /* when the memory saw it */
    unsigned requests;

    /* The dispatcher. */
    struct launch launch;
    bool flush;                 /* the L1 is flushed at a kernel's end */
    uint8_t program;            /* of all launches */
    uint64_t stop_at, go_on_at; /* when it commands the SM to stop, and to go on; 0: never */
    uint64_t begun_at, ctas, started, ended;
    uint64_t done_at[SM_FIXTURE_CTAS]; /* when the report of a CTA's end arrived */
    uint64_t quiet_at;                 /* the same for that of a stopped SM without accesses in flight */
    bool finished;
    uint64_t interval;                        /* the engine runs this many cycles at a time; 1000 unless changed */
    void (*between)(struct sm_fixture *self); /* called after each interval; NULL: nothing */
    struct script_issue log[SCRIPT_LOG];
};

static inline void sm_fixture_memory_tick(void *self, uint64_t now) {
    struct sm_fixture *sm = self;
    const struct message *request;
    if (now >= sm->closes_at && now < sm->opens_at) {
        engine_wake(sm->base.engine, sm->memory_id, sm->opens_at);
        return;
    }
    while ((request = port_peek(&sm->to_memory, now))) {
        if (sm->requests < SM_FIXTURE_REQUESTS) {
            sm->request[sm->requests] = *request;
            sm->requested_at[sm->requests++] = now;
        }
        struct message reply = *request;
        reply.kind = request->kind == MESSAGE_WRITE ? MESSAGE_ACK : MESSAGE_DATA;
        port_pop(&sm->to_memory, now);
        port_push_late(&sm->from_memory, now, sm->memory_cycles, &reply, sizeof reply);
    }
}

static inline void send_command(struct sm_fixture *sm, struct sm_command command, uint64_t now) {
    port_push(&sm->commands, now, &command, sizeof command);
}

static inline void sm_fixture_dispatcher_tick(void *self, uint64_t now) {
    struct sm_fixture *sm = self;
    const struct sm_report *report;
    if (sm->ctas == 0) return;
    while ((report = port_peek(&sm->reports, now))) {
        if (report->kind == REPORT_CTA_DONE) {
            if (report->cta < SM_FIXTURE_CTAS) sm->done_at[report->cta] = now;
            sm->ended++;
            if (sm->ended == sm->ctas && sm->flush)
                send_command(sm, (struct sm_command){.kind = COMMAND_FLUSH_L1}, now);
        }
        if (report->kind == REPORT_QUIET) sm->quiet_at = now;
        sm->finished = sm->ended == sm->ctas && (!sm->flush || report->kind == REPORT_L1_FLUSHED);
        port_pop(&sm->reports, now);
    }
    if (sm->stop_at && now == sm->stop_at) send_command(sm, (struct sm_command){.kind = COMMAND_STOP}, now);
    if (sm->stop_at && now == sm->go_on_at) send_command(sm, (struct sm_command){.kind = COMMAND_GO_ON}, now);
    if (now < sm->begun_at) return;
    while (sm->started < sm->ctas && sm->started - sm->ended < sm->launch.ctas_per_sm)
        send_command(sm, (struct sm_command){COMMAND_RUN_CTA, .cta = sm->started++}, now);
    if (sm->finished) sm->base.engine->stop = true;
}

static inline struct sm_fixture *sm_fixture_create(const char *const *settings) {
    static const struct component_ops memory_ops = {.kind = "memory", .tick = sm_fixture_memory_tick};
    static const struct component_ops dispatcher_ops = {.kind = "dispatcher", .tick = sm_fixture_dispatcher_tick};
    static const char *const common[] = {ONE_OF_EACH, "sm.instruction_kb=0", NULL};
    struct sm_fixture *sm = mem_alloc(1, sizeof *sm);
    fixture_init(&sm->base, common, settings);
    struct engine *engine = sm->base.engine;
    sm->shared = sm_shared_create(sm->base.config);
    sm->sm = sm_create(sm->shared, sm->base.config, engine, sm->base.stats, 0);
    sm->sm_id = sm_component(sm->sm);
    sm->memory_id = engine_add(engine, &memory_ops, sm, 0);
    sm->dispatcher_id = engine_add(engine, &dispatcher_ops, sm, 0);
    sm->l1 = fixture_create_l1(&sm->base, (struct l1_context){.sms = 1, .clusters = 1, .sm_component = &sm->sm_id});
    port_init(&sm->to_memory, engine, "to memory", sm->sm_id, sm->memory_id, 4, 1);
    port_init(&sm->from_memory, engine, "from memory", sm->memory_id, sm->sm_id, 1024, 1);
    port_init(&sm->commands, engine, "commands", sm->dispatcher_id, sm->sm_id, 128, 1);
    port_init(&sm->reports, engine, "reports", sm->sm_id, sm->dispatcher_id, 128, 1);
    sm->l1->ops->connect(sm->l1, 0, &(struct l1_ports){&sm->to_memory, &sm->from_memory, NULL});
    sm_connect(sm->sm, sm->l1, &sm->launch, &sm->commands, &sm->reports);
    sm->memory_cycles = 100;
    sm->interval = 1000;
    return sm;
}

static inline void sm_fixture_destroy(struct sm_fixture *sm) {
    sm_destroy(sm->sm);
    sm_shared_destroy(sm->shared);
    sm->l1->ops->destroy(sm->l1);
    port_release(&sm->to_memory);
    port_release(&sm->from_memory);
    port_release(&sm->commands);
    port_release(&sm->reports);
    fixture_release(&sm->base);
    free(sm);
}

/* All stalled cycles, but for the one cause that is named (NULL: all of them). */
static inline uint64_t other_stalls(const struct sm_fixture *sm, const char *cause) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < stats_count(sm->base.stats); i++) {
        char name[96];
        stats_name(sm->base.stats, i, name, sizeof name);
        if (strncmp(name, "sm.stall.", 9) == 0 && (!cause || strcmp(name + 9, cause) != 0))
            sum += stats_total(sm->base.stats, i);
    }
    return sum;
}

static inline void check_cycles_add_up(const struct sm_fixture *sm) {
    CHECK_EQ(COUNTER(sm, "sm.cycles"), sm->base.engine->now);
    CHECK_EQ(COUNTER(sm, "sm.issuing") + other_stalls(sm, NULL), sm->base.engine->now);
}

/* Runs every kernel of the source; the test ends if one does not end. */
static inline void sm_fixture_run(struct sm_fixture *sm, struct script_source *source) {
    struct engine *engine = sm->base.engine;
    struct error err = {0};
    struct kernel kernel;
    source->chunk = 1;
    source->clock = &engine->now;
    source->log = sm->log;
    source->logged = 0;
    source->source.ops->restart(&source->source);
    while (source->source.ops->next_kernel(&source->source, &kernel)) {
        unsigned ctas_per_sm = sm_occupancy(sm->base.config, 1, &kernel, &err);
        CHECK_EQ((const char *)err.text, "");
        REQUIRE(ctas_per_sm > 0);
        sm->launch = (struct launch){kernel,      &source->source, kernel_warps(&kernel),
                                     ctas_per_sm, sm->program,     sm_carve_out(sm->base.config, &kernel, ctas_per_sm)};
        sm->ctas = kernel_ctas(&kernel);
        sm->begun_at = engine->now;
        sm->started = sm->ended = 0;
        sm->finished = false;
        engine_wake(engine, sm->dispatcher_id, engine->now);
        enum engine_state state = ENGINE_RUNNING;
        while (state == ENGINE_RUNNING && engine->now < SM_FIXTURE_LIMIT) {
            state = engine_run_until(engine, engine->now + sm->interval);
            if (sm->between) sm->between(sm);
        }
        if (state != ENGINE_STOPPED) engine_explain(engine, stdout);
        REQUIRE(state == ENGINE_STOPPED);
    }
    engine_settle(engine, engine->now);
    check_cycles_add_up(sm);
}

/* Parameters. */
static inline const struct sm_config *sm_config_of(const struct sm_fixture *sm) {
    return config_get(sm->base.config, &sm_section);
}
static inline const struct l1_config *l1_config_of(const struct sm_fixture *sm) {
    return config_get(sm->base.config, &l1_section);
}

/* From the issue of an operation to that of one that needs its result. */
static inline uint64_t op_latency(const struct sm_fixture *sm, enum op_class op) {
    const struct sm_config *config = sm_config_of(sm);
    return (uint64_t)(config->operand_cycles + config->op[op].value[0] + config->writeback_cycles);
}
static inline uint64_t hit_latency(const struct sm_fixture *sm) {
    return (uint64_t)(sm_config_of(sm)->operand_cycles + l1_config_of(sm)->latency_cycles +
                      sm_config_of(sm)->writeback_cycles);
}
/* From an access's cycle to that in which its answer is there. */
static inline uint64_t round_trip(const struct sm_fixture *sm) { return 2 + sm->memory_cycles; }
static inline uint64_t miss_latency(const struct sm_fixture *sm) {
    return (uint64_t)sm_config_of(sm)->operand_cycles + round_trip(sm) + (uint64_t)sm_config_of(sm)->writeback_cycles;
}

#endif
