#include "gpu/control.h"

#include <stdlib.h>

#include "dram/dram_config.h"
#include "gpu/cta_scheduler.h"
#include "gpu/duel.h"
#include "gpu/gpu_config.h"
#include "llc/organisation.h"

enum phase { PHASE_IDLE, PHASE_RUNNING, PHASE_FLUSHING_L1, PHASE_ENDING };

/* What a switch waits for. */
enum switching { SWITCH_NONE, SWITCH_STOPPING, SWITCH_FLUSHING, SWITCH_POWER };

STATS_TABLE(control_stat_table, "control", control_stats, CONTROL_STATS);

struct control {
    struct engine *engine;
    unsigned component;
    unsigned sms, slices, clusters;
    bool flush_l1, halted;
    uint64_t launch_cycles;
    const struct cta_scheduler_ops *scheduler;
    void *scheduler_state;
    struct port *orders, *words;             /* [sms] */
    struct port *slice_orders, *slice_words; /* [slices] */
    bool dueling;
    struct duel duel;
    struct port duel_reports[DUEL_CONTESTANTS]; /* from SM 0 and SM 1 */
    unsigned *free_slots;                       /* [sms] */
    enum phase phase;
    uint64_t start_at, started, ended, ctas;
    unsigned ctas_per_sm;
    unsigned cleaning; /* slices that have not said that they have written back what earlier kernels modified */
    uint64_t cleaning_since;
    bool unclean;     /* such lines may be there */
    unsigned awaited; /* caches that have not said that they are flushed, SMs that have not said that they are quiet */
    struct llc_organisation *llc;
    struct network *request, *reply;
    uint64_t quiet_cycles;
    uint64_t ask_at; /* when the organisation wants to decide */
    enum switching switching;
    struct llc_mode wanted;
    uint64_t switch_since, switch_until; /* this step of a switch: begun, and not over before */
    struct control_stats stats;
};

static void control_tick(void *self, uint64_t now);

static void control_explain(const void *self, uint64_t now, FILE *out) {
    const struct control *control = self;
    (void)now;
    if (control->phase == PHASE_RUNNING)
        fprintf(out, "control: of %llu CTAs %llu have started and %llu have ended\n", (unsigned long long)control->ctas,
                (unsigned long long)control->started, (unsigned long long)control->ended);
    if (control->phase == PHASE_FLUSHING_L1)
        fprintf(out, "control: %u of %u L1s are still to be flushed\n", control->awaited, control->sms);
    if (control->switching == SWITCH_STOPPING)
        fprintf(out, "control: %u of %u SMs are still to be quiet\n", control->awaited, control->sms);
    if (control->switching == SWITCH_FLUSHING)
        fprintf(out, "control: %u of %u slices are still to be flushed\n", control->awaited, control->slices);
}

static bool control_busy(const void *self) {
    const struct control *control = self;
    return control->phase != PHASE_IDLE && !control->halted;
}

static void control_settle(void *self, uint64_t now) {
    struct control *control = self;
    if (control->phase != PHASE_IDLE && control->llc->ops->settle) control->llc->ops->settle(control->llc, now);
}

static const struct component_ops component_ops = {"control", control_tick, control_settle, control_explain,
                                                   control_busy};

struct control *control_create(const struct config *config, struct engine *engine, struct stats *stats) {
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    const struct sm_config *sm = config_get(config, &sm_section);
    const struct l1_config *l1 = config_get(config, &l1_section);
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct dram_config *dram = config_get(config, &dram_section);
    unsigned slices = (unsigned)(llc->slices_per_mc * dram->mcs);
    struct control *control = mem_alloc(1, sizeof *control);
    *control = (struct control){
        .engine = engine,
        .sms = (unsigned)sm->count,
        .clusters = (unsigned)gpu->clusters,
        .slices = slices,
        .flush_l1 = l1->flush_at_kernel_end,
        .launch_cycles = (uint64_t)gpu->launch_cycles,
        .scheduler = (const struct cta_scheduler_ops *)gpu->cta_scheduler,
        .orders = mem_alloc((size_t)sm->count, sizeof *control->orders),
        .words = mem_alloc((size_t)sm->count, sizeof *control->words),
        .slice_orders = mem_alloc(slices, sizeof *control->slice_orders),
        .slice_words = mem_alloc(slices, sizeof *control->slice_words),
        .free_slots = mem_alloc((size_t)sm->count, sizeof *control->free_slots),
    };
    control->dueling = l1_duel(config, &control->duel.rule);
    control->scheduler_state = control->scheduler->create(config, control->sms, control->clusters);
    control->component = engine_add(engine, &component_ops, control, 0);
    control->ask_at = NEVER;
    stats_add(stats, &control_stat_table, &control->stats);
    return control;
}

void control_destroy(struct control *control) {
    if (!control) return;
    for (unsigned i = 0; i < control->sms; i++) {
        port_release(&control->orders[i]);
        port_release(&control->words[i]);
    }
    for (unsigned i = 0; i < control->slices; i++) {
        port_release(&control->slice_orders[i]);
        port_release(&control->slice_words[i]);
    }
    for (unsigned i = 0; control->dueling && i < DUEL_CONTESTANTS; i++) port_release(&control->duel_reports[i]);
    free(control->slice_orders);
    free(control->slice_words);
    control->scheduler->destroy(control->scheduler_state);
    free(control->orders);
    free(control->words);
    free(control->free_slots);
    free(control);
}

void control_connect(struct control *control, struct sm *sm, unsigned index, struct l1 *l1,
                     const struct launch *launch) {
    enum { ROOM = 128, LATENCY = 1 }; /* more than an SM holds CTAs, so that neither side ever waits */
    char name[40];
    snprintf(name, sizeof name, "control to sm %u", index);
    port_init(&control->orders[index], control->engine, name, control->component, sm_component(sm), ROOM, LATENCY);
    snprintf(name, sizeof name, "sm %u to control", index);
    port_init(&control->words[index], control->engine, name, sm_component(sm), control->component, ROOM, LATENCY);
    sm_connect(sm, l1, launch, &control->orders[index], &control->words[index]);
    if (!control->dueling || index >= DUEL_CONTESTANTS) return;
    snprintf(name, sizeof name, "l1 %u to control", index);
    port_init(&control->duel_reports[index], control->engine, name, sm_component(sm), control->component, ROOM,
              LATENCY);
    l1_report_to(l1, index, &control->duel_reports[index]);
}

void control_connect_llc(struct control *control, struct llc_organisation *llc) { control->llc = llc; }

void control_connect_networks(struct control *control, struct network *request, struct network *reply,
                              uint64_t quiet_cycles) {
    control->request = request;
    control->reply = reply;
    control->quiet_cycles = quiet_cycles;
}

void control_connect_slice(struct control *control, unsigned index, unsigned component, struct slice_ports *ports) {
    enum { ROOM = 2, LATENCY = 1 };
    char name[40];
    if (!control->llc->mode.copies && !control->llc->mode.replicas && !control->llc->ops->decide) return;
    snprintf(name, sizeof name, "control to slice %u", index);
    port_init(&control->slice_orders[index], control->engine, name, control->component, component, ROOM, LATENCY);
    snprintf(name, sizeof name, "slice %u to control", index);
    port_init(&control->slice_words[index], control->engine, name, component, control->component, ROOM, LATENCY);
    ports->orders = &control->slice_orders[index];
    ports->words = &control->slice_words[index];
}

static struct cta_view view_of(const struct control *control) {
    return (struct cta_view){control->sms, control->clusters, control->ctas, control->ctas_per_sm, control->free_slots};
}

static void begin_switch(struct control *control, uint64_t now);
static void begin_cleaning(struct control *control, uint64_t now);

/* What the organisation makes of the occasion. A switch that is under way is not disturbed. */
static void ask(struct control *control, enum llc_occasion occasion, uint64_t now) {
    if (!control->llc->ops->decide) return;
    control->wanted = control->llc->ops->decide(control->llc, occasion, now, &control->ask_at);
    if (occasion == LLC_KERNEL_ENDS) {
        control->ask_at = NEVER;
        return;
    }
    if (control->ask_at != NEVER) {
        control->ask_at = max_u64(control->ask_at, now + 1); /* a switch may have taken until after it */
        engine_wake(control->engine, control->component, control->ask_at);
    }
    if (control->wanted.copies != control->llc->mode.copies || control->wanted.bypass != control->llc->mode.bypass)
        begin_switch(control, now);
    else if (control->wanted.replicas && !control->llc->mode.replicas && !control->cleaning)
        begin_cleaning(control, now);
}

void control_begin(struct control *control, const struct launch *launch, uint64_t now) {
    control->phase = PHASE_RUNNING;
    control->start_at = now + control->launch_cycles;
    control->started = control->ended = 0;
    control->ctas = kernel_ctas(&launch->kernel);
    control->ctas_per_sm = launch->ctas_per_sm;
    for (unsigned sm = 0; sm < control->sms; sm++) control->free_slots[sm] = launch->ctas_per_sm;
    struct cta_view view = view_of(control);
    control->scheduler->begin(control->scheduler_state, &view);
    ask(control, LLC_KERNEL_BEGINS, control->start_at);
    engine_wake(control->engine, control->component, control->start_at);
}

bool control_order(struct control *control, unsigned degree) {
    return control->llc->ops->order && control->llc->ops->order(control->llc, degree);
}

void control_halt(struct control *control) { control->halted = true; }

static void order(struct control *control, unsigned sm, struct sm_order order, uint64_t now) {
    assert(port_can_push(&control->orders[sm], now));
    port_push(&control->orders[sm], now, &order, sizeof order);
}

static void hear_duel(struct control *control, uint64_t now) {
    bool change = false;
    for (unsigned i = 0; i < DUEL_CONTESTANTS; i++) {
        const struct duel_report *report;
        while ((report = port_peek(&control->duel_reports[i], now))) {
            change ^= duel_hear(&control->duel, i, report);
            port_pop(&control->duel_reports[i], now);
        }
    }
    struct sm_order steer = {.kind = ORDER_STEER_L1, .plain = !control->duel.policy};
    for (unsigned sm = DUEL_CONTESTANTS; change && sm < control->sms; sm++) order(control, sm, steer, now);
}

static void end_cleaning(struct control *control, uint64_t now) {
    control->stats.cleaning_cycles += now - control->cleaning_since;
    control->unclean = false;
    control->llc->mode.replicas = true;
    ask(control, LLC_SWITCHED, now);
}

static void hear(struct control *control, uint64_t now) {
    if (control->dueling) hear_duel(control, now);
    for (unsigned sm = 0; sm < control->sms; sm++) {
        const struct sm_word *word;
        while ((word = port_peek(&control->words[sm], now))) {
            if (word->kind == WORD_CTA_DONE) {
                control->ended++;
                control->free_slots[sm]++;
            } else {
                control->awaited--;
            }
            port_pop(&control->words[sm], now);
        }
    }
    if (control->switching != SWITCH_FLUSHING && !control->cleaning) return;
    unsigned *awaited = control->cleaning ? &control->cleaning : &control->awaited;
    for (unsigned slice = 0; slice < control->slices; slice++)
        while (control->slice_words[slice].engine && port_peek(&control->slice_words[slice], now)) {
            --*awaited;
            port_pop(&control->slice_words[slice], now);
            if (awaited == &control->cleaning && *awaited == 0) end_cleaning(control, now);
        }
}

static void deal_out(struct control *control, uint64_t now) {
    struct cta_view view = view_of(control);
    struct cta_choice choice;
    bool any = false;
    if (control->scheduler->cycle) control->scheduler->cycle(control->scheduler_state);
    while (control->scheduler->choose(control->scheduler_state, &view, &choice)) {
        order(control, choice.sm, (struct sm_order){ORDER_RUN_CTA, .cta = choice.cta}, now);
        control->free_slots[choice.sm]--;
        control->started++;
        any = true;
    }
    if (any && control->started < control->ctas) engine_wake(control->engine, control->component, now + 1);
}

static void begin_flush_l1(struct control *control, uint64_t now) {
    control->phase = PHASE_FLUSHING_L1;
    control->awaited = control->flush_l1 ? control->sms : 0;
    for (unsigned sm = 0; sm < control->awaited; sm++)
        order(control, sm, (struct sm_order){.kind = ORDER_FLUSH_L1}, now);
}

/* Switching. */

static void next_step(struct control *control, enum switching switching, uint64_t until, uint64_t now) {
    control->switching = switching;
    control->switch_since = now;
    control->switch_until = until;
    if (until > now) engine_wake(control->engine, control->component, until);
}

static void begin_switch(struct control *control, uint64_t now) {
    control->stats.switches++;
    control->awaited = control->sms;
    for (unsigned sm = 0; sm < control->sms; sm++) order(control, sm, (struct sm_order){.kind = ORDER_STOP}, now);
    next_step(control, SWITCH_STOPPING, now, now);
}

static void order_slices(struct control *control, struct slice_order order, uint64_t now) {
    for (unsigned slice = 0; slice < control->slices; slice++)
        port_push(&control->slice_orders[slice], now, &order, sizeof order);
}

/* Replicas come from memory, which must have what earlier kernels wrote. */
static void begin_cleaning(struct control *control, uint64_t now) {
    control->cleaning_since = now;
    if (!control->unclean) {
        end_cleaning(control, now);
        return;
    }
    control->stats.cleanings++;
    control->cleaning = control->slices;
    order_slices(control, (struct slice_order){.beside = true}, now);
}

/* No request is under way: all SMs are quiet, or all CTAs have ended and what they wrote has been acknowledged. Copies must not be left
 * behind; where there are none, lines may stay. */
static void begin_flush_llc(struct control *control, uint64_t now) {
    const struct llc_organisation *llc = control->llc;
    struct slice_order flush = {.keep_lines = !llc->mode.copies && !llc->mode.replicas,
                                .keep_home = llc->mode.replicas && !llc->mode.forget_all,
                                .write_through = control->wanted.copies};
    control->awaited = control->slices;
    order_slices(control, flush, now);
    bool power = control->wanted.bypass != control->llc->mode.bypass;
    next_step(control, SWITCH_FLUSHING, power ? now + control->quiet_cycles : now, now);
}

static void begin_power(struct control *control, uint64_t now) {
    bool power = control->wanted.bypass != control->llc->mode.bypass;
    uint64_t until = now;
    if (power) {
        until = network_set_bypass(control->request, control->wanted.bypass, now);
        until = max_u64(until, network_set_bypass(control->reply, control->wanted.bypass, now));
    }
    next_step(control, SWITCH_POWER, until, now);
}

static void end_switch(struct control *control, uint64_t now) {
    control_settle(control, now);
    control->switching = SWITCH_NONE;
    control->llc->mode = control->wanted;
    if (control->phase != PHASE_RUNNING) return;
    for (unsigned sm = 0; sm < control->sms; sm++) order(control, sm, (struct sm_order){.kind = ORDER_GO_ON}, now);
    ask(control, LLC_SWITCHED, now);
}

/* Goes on with the switch as far as it can; returns whether it is over. Only what stops a running kernel is counted. */
static bool go_on_switching(struct control *control, uint64_t now) {
    uint64_t running = control->phase == PHASE_RUNNING;
    while (control->switching != SWITCH_NONE) {
        if (control->awaited || now < control->switch_until) return false;
        uint64_t took = running * (now - control->switch_since);
        switch (control->switching) {
        case SWITCH_STOPPING:
            control->stats.stop_cycles += took;
            begin_flush_llc(control, now);
            break;
        case SWITCH_FLUSHING:
            control->stats.flush_cycles += took;
            begin_power(control, now);
            break;
        default:
            control->stats.power_cycles += took;
            end_switch(control, now);
            break;
        }
    }
    return true;
}

/* All CTAs have ended and the L1s are flushed. */
static void begin_end(struct control *control, uint64_t now) {
    control->phase = PHASE_ENDING;
    control->wanted = control->llc->mode;
    ask(control, LLC_KERNEL_ENDS, now);
    bool flush = control->llc->mode.copies || control->llc->mode.replicas;
    control->unclean = !flush;
    if (flush) begin_flush_llc(control, now);
}

static void control_tick(void *self, uint64_t now) {
    struct control *control = self;
    hear(control, now);
    if (control->phase == PHASE_IDLE || control->halted) return;
    if (now < control->start_at) {
        engine_wake(control->engine, control->component, control->start_at);
        return;
    }
    if (!go_on_switching(control, now)) return;
    if (control->phase == PHASE_RUNNING) {
        if (control->started < control->ctas) deal_out(control, now);
        if (control->ended == control->ctas)
            begin_flush_l1(control, now);
        else if (now >= control->ask_at)
            ask(control, LLC_TIME_HAS_COME, now);
    }
    if (control->phase == PHASE_FLUSHING_L1 && control->awaited == 0 && control->cleaning == 0) begin_end(control, now);
    if (control->phase == PHASE_ENDING && go_on_switching(control, now)) {
        control_settle(control, now + 1); /* the run, or the next kernel, goes on from there */
        control->phase = PHASE_IDLE;
        control->engine->stop = true;
    }
}
