#include "gpu/control.h"

#include <stdlib.h>

#include "dram/dram_config.h"
#include "gpu/cta_scheduler.h"
#include "gpu/duel.h"
#include "gpu/machine_config.h"
#include "llc/atomics.h"
#include "llc/organisation.h"

enum phase { PHASE_IDLE, PHASE_RUNNING, PHASE_FLUSHING_L1, PHASE_ENDING };

/* What a switch waits for. */
enum switching { SWITCH_NONE, SWITCH_STOPPING, SWITCH_SETTLING, SWITCH_FLUSHING, SWITCH_POWER };

STATS_TABLE(control_stat_table, "control", control_stats, CONTROL_STATS);

/* A program's part of the machine. */
struct part {
    uint8_t program;
    unsigned sms;
    void *scheduler_state;
    unsigned *free_slots; /* [all SMs], 0 of those that are not its */
    enum phase phase;
    uint64_t start_at, started, ended, ctas;
    unsigned ctas_per_sm;
    unsigned unflushed; /* L1s that have not said that they are flushed */
    struct llc_organisation *llc;
    uint64_t ask_at; /* when the organisation wants to decide */
    struct llc_mode stands, wanted;
    bool due;     /* it is to be switched, or at a kernel's end flushed, and that is not over */
    bool stopped; /* its SMs are, for a switch */
};

struct control {
    struct engine *engine;
    unsigned component;
    unsigned sms, slices, clusters;
    unsigned l1s; /* L1s that are components of their own */
    bool flush_l1, halted;
    uint64_t launch_cycles;
    const struct cta_scheduler_ops *scheduler;
    struct port *orders, *words;             /* [sms] */
    struct port *l1_orders, *l1_words;       /* [l1s] */
    struct port *slice_orders, *slice_words; /* [slices] */
    bool dueling;
    struct duel duel;
    struct port duel_reports[DUEL_CONTESTANTS]; /* from the L1s */
    unsigned programs;
    const uint8_t *program_of; /* [sms] */
    struct part part[PROGRAMS_MAX];
    struct network *request, *reply;
    uint64_t quiet_cycles;
    enum switching switching;
    struct part *switched; /* whose switch it is */
    bool bypass;           /* how MC-routers will stand after it, and do without one */
    bool power;            /* it switches them */
    unsigned awaited;      /* SMs that have not said that they are quiet, or slices that they are flushed */
    uint64_t switch_since, switch_until; /* this step of the switch: begun, and not over before */
    struct control_stats stats;
};

static void control_tick(void *self, uint64_t now);

static void control_explain(const void *self, uint64_t now, FILE *out) {
    const struct control *control = self;
    (void)now;
    for (unsigned i = 0; i < control->programs; i++) {
        const struct part *part = &control->part[i];
        if (part->phase == PHASE_RUNNING)
            fprintf(out, "control: of %llu CTAs %llu have started and %llu have ended\n",
                    (unsigned long long)part->ctas, (unsigned long long)part->started, (unsigned long long)part->ended);
        if (part->phase == PHASE_FLUSHING_L1)
            fprintf(out, "control: %u of %u L1s are still to be flushed\n", part->unflushed, part->sms + control->l1s);
    }
    if (control->switching == SWITCH_STOPPING)
        fprintf(out, "control: %u of %u SMs are still to be quiet\n", control->awaited, control->sms);
    if (control->switching == SWITCH_SETTLING)
        fprintf(out, "control: %u of %u L1s are still to be quiet\n", control->awaited, control->l1s);
    if (control->switching == SWITCH_FLUSHING)
        fprintf(out, "control: %u of %u slices are still to be flushed\n", control->awaited, control->slices);
}

static bool control_busy(const void *self) {
    const struct control *control = self;
    bool busy = false;
    for (unsigned i = 0; i < control->programs; i++) busy |= control->part[i].phase != PHASE_IDLE;
    return busy && !control->halted;
}

static void part_settle(struct part *part, uint64_t now) {
    if (part->phase != PHASE_IDLE && part->llc->ops->settle) part->llc->ops->settle(part->llc, now);
}

static void control_settle(void *self, uint64_t now) {
    struct control *control = self;
    if (control->halted) return; /* the run is over, and what is still under way takes no time of it */
    for (unsigned i = 0; i < control->programs; i++) part_settle(&control->part[i], now);
}

static const struct component_ops component_ops = {"control", control_tick, control_settle, control_explain,
                                                   control_busy};

struct control *control_create(const struct config *config, unsigned programs, const uint8_t *program_of,
                               struct engine *engine, struct stats *stats) {
    const struct machine_config *values = config_get(config, &machine_section);
    const struct sm_config *sm = config_get(config, &sm_section);
    const struct l1_config *l1 = config_get(config, &l1_section);
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct dram_config *dram = config_get(config, &dram_section);
    unsigned slices = (unsigned)(llc->slices_per_mc * dram->mcs) + atomics_slices(config);
    struct control *control = mem_alloc(1, sizeof *control);
    *control = (struct control){
        .engine = engine,
        .sms = (unsigned)sm->count,
        .clusters = (unsigned)values->gpu.clusters,
        .slices = slices,
        .flush_l1 = l1->flush_at_kernel_end,
        .launch_cycles = (uint64_t)values->launch_cycles,
        .scheduler = (const struct cta_scheduler_ops *)values->cta_scheduler,
        .orders = mem_alloc((size_t)sm->count, sizeof *control->orders),
        .words = mem_alloc((size_t)sm->count, sizeof *control->words),
        .slice_orders = mem_alloc(slices, sizeof *control->slice_orders),
        .slice_words = mem_alloc(slices, sizeof *control->slice_words),
        .programs = programs,
        .program_of = program_of,
    };
    control->dueling = l1_duel(config, &control->duel.rule);
    for (unsigned i = 0; i < programs; i++)
        control->part[i] = (struct part){
            .program = (uint8_t)i,
            .scheduler_state = control->scheduler->create(config, control->sms, control->clusters),
            .free_slots = mem_alloc((size_t)sm->count, sizeof *control->part[i].free_slots),
            .ask_at = NEVER,
        };
    for (unsigned i = 0; i < control->sms; i++) control->part[program_of[i]].sms++;
    control->component = engine_add(engine, &component_ops, control, 0);
    stats_add(stats, &control_stat_table, &control->stats);
    return control;
}

void control_destroy(struct control *control) {
    if (!control) return;
    for (unsigned i = 0; i < control->sms; i++) {
        port_release(&control->orders[i]);
        port_release(&control->words[i]);
    }
    for (unsigned i = 0; i < control->l1s; i++) {
        port_release(&control->l1_orders[i]);
        port_release(&control->l1_words[i]);
    }
    for (unsigned i = 0; i < control->slices; i++) {
        port_release(&control->slice_orders[i]);
        port_release(&control->slice_words[i]);
    }
    for (unsigned i = 0; control->dueling && i < DUEL_CONTESTANTS; i++) port_release(&control->duel_reports[i]);
    for (unsigned i = 0; i < control->programs; i++) {
        control->scheduler->destroy(control->part[i].scheduler_state);
        free(control->part[i].free_slots);
    }
    free(control->l1_orders);
    free(control->l1_words);
    free(control->slice_orders);
    free(control->slice_words);
    free(control->orders);
    free(control->words);
    free(control);
}

enum { ROOM = 128, LATENCY = 1 }; /* more than an SM holds CTAs, so that neither side ever waits */

/* Ports to and from a part of the machine. */
static void connect(struct control *control, const char *kind, unsigned index, unsigned component, struct port *orders,
                    struct port *words) {
    char name[40];
    snprintf(name, sizeof name, "control to %s %u", kind, index);
    port_init(orders, control->engine, name, control->component, component, ROOM, LATENCY);
    snprintf(name, sizeof name, "%s %u to control", kind, index);
    port_init(words, control->engine, name, component, control->component, ROOM, LATENCY);
}

/* By which a contestant, ticked by `component`, tells how it fares. */
static void connect_duel(struct control *control, struct l1 *l1, unsigned index, unsigned component) {
    char name[40];
    if (!control->dueling || index >= DUEL_CONTESTANTS) return;
    snprintf(name, sizeof name, "duel %u to control", index);
    port_init(&control->duel_reports[index], control->engine, name, component, control->component, ROOM, LATENCY);
    l1_report_to(l1, index, &control->duel_reports[index]);
}

void control_connect(struct control *control, struct sm *sm, unsigned index, struct l1 *l1,
                     const struct launch *launch) {
    connect(control, "sm", index, sm_component(sm), &control->orders[index], &control->words[index]);
    sm_connect(sm, l1, launch, &control->orders[index], &control->words[index]);
    if (!l1->ops->connect_control) connect_duel(control, l1, index, sm_component(sm));
}

void control_connect_l1(struct control *control, struct l1 *l1) {
    if (!l1->ops->connect_control) return;
    control->l1s = l1->ops->endpoints(l1);
    control->l1_orders = mem_alloc(control->l1s, sizeof *control->l1_orders);
    control->l1_words = mem_alloc(control->l1s, sizeof *control->l1_words);
    for (unsigned i = 0; i < control->l1s; i++) {
        unsigned component = l1->ops->endpoint_component(l1, i);
        connect(control, "l1 node", i, component, &control->l1_orders[i], &control->l1_words[i]);
        l1->ops->connect_control(l1, i, &control->l1_orders[i], &control->l1_words[i]);
        connect_duel(control, l1, i, component);
    }
}

void control_connect_llc(struct control *control, struct llc_organisation *llc) {
    for (unsigned i = 0; i < control->programs; i++) {
        struct part *part = &control->part[i];
        part->llc = llc_of_program(llc, i);
        part->stands = part->llc->mode;
    }
    control->bypass = llc->mode.bypass;
}

void control_connect_networks(struct control *control, struct network *request, struct network *reply,
                              uint64_t quiet_cycles) {
    control->request = request;
    control->reply = reply;
    control->quiet_cycles = quiet_cycles;
}

void control_connect_slice(struct control *control, unsigned index, unsigned component, struct slice_ports *ports) {
    const struct llc_organisation *llc = control->part[0].llc; /* all are of one kind */
    if (!llc->mode.copies && !llc->mode.replicas && !llc->ops->decide) return;
    connect(control, "slice", index, component, &control->slice_orders[index], &control->slice_words[index]);
    ports->orders = &control->slice_orders[index];
    ports->words = &control->slice_words[index];
}

/* Orders. */

static void order(struct control *control, unsigned sm, struct sm_order order, uint64_t now) {
    assert(port_can_push(&control->orders[sm], now));
    port_push(&control->orders[sm], now, &order, sizeof order);
}

static void order_l1(struct control *control, unsigned l1, struct l1_order order, uint64_t now) {
    assert(port_can_push(&control->l1_orders[l1], now));
    port_push(&control->l1_orders[l1], now, &order, sizeof order);
}

static void order_all(struct control *control, const struct part *part, struct sm_order what, uint64_t now) {
    for (unsigned sm = 0; sm < control->sms; sm++)
        if (control->program_of[sm] == part->program) order(control, sm, what, now);
}

/* Whether a change of mode needs the program to be stopped. */
static bool needs_stop(const struct part *part) {
    return part->wanted.copies != part->stands.copies || part->wanted.bypass != part->stands.bypass;
}

/* What the organisation makes of the occasion. A switch that is under way is not disturbed. */
static void ask(struct control *control, struct part *part, enum llc_occasion occasion, uint64_t now) {
    if (!part->llc->ops->decide) return;
    part->wanted = part->llc->ops->decide(part->llc, occasion, now, &part->ask_at);
    if (occasion == LLC_KERNEL_ENDS) {
        part->ask_at = NEVER;
        return;
    }
    part->due = needs_stop(part) || (part->wanted.replicas && !part->stands.replicas);
    if (part->ask_at == NEVER) return;
    part->ask_at = max_u64(part->ask_at, now + 1); /* a switch may have taken until after it */
    engine_wake(control->engine, control->component, part->ask_at);
}

/* Kernels and their CTAs. */

static struct cta_view view_of(const struct control *control, const struct part *part) {
    return (struct cta_view){control->sms, control->clusters, part->ctas, part->ctas_per_sm, part->free_slots};
}

void control_begin(struct control *control, const struct launch *launch, uint64_t now) {
    struct part *part = &control->part[launch->program];
    part->phase = PHASE_RUNNING;
    part->start_at = now + control->launch_cycles;
    part->started = part->ended = 0;
    part->ctas = kernel_ctas(&launch->kernel);
    part->ctas_per_sm = launch->ctas_per_sm;
    part->llc->atomics = launch->kernel.atomics;
    for (unsigned sm = 0; sm < control->sms; sm++)
        part->free_slots[sm] = control->program_of[sm] == part->program ? launch->ctas_per_sm : 0;
    struct cta_view view = view_of(control, part);
    control->scheduler->begin(part->scheduler_state, &view);
    ask(control, part, LLC_KERNEL_BEGINS, part->start_at);
    engine_wake(control->engine, control->component, part->start_at);
}

bool control_order(struct control *control, unsigned degree) {
    bool taken = true;
    for (unsigned i = 0; i < control->programs; i++) {
        struct llc_organisation *llc = control->part[i].llc;
        taken &= llc->ops->order && llc->ops->order(llc, degree);
    }
    return taken;
}

bool control_idle(const struct control *control, unsigned program) {
    return control->part[program].phase == PHASE_IDLE;
}

void control_halt(struct control *control) { control->halted = true; }

static void hear_duel(struct control *control, uint64_t now) {
    bool change = false;
    for (unsigned i = 0; i < DUEL_CONTESTANTS; i++) {
        const struct duel_report *report;
        while ((report = port_peek(&control->duel_reports[i], now))) {
            change ^= duel_hear(&control->duel, i, report);
            port_pop(&control->duel_reports[i], now);
        }
    }
    if (!change) return;
    struct sm_order steer = {.kind = ORDER_STEER_L1, .plain = !control->duel.policy};
    for (unsigned sm = DUEL_CONTESTANTS; !control->l1s && sm < control->sms; sm++) order(control, sm, steer, now);
    struct l1_order steer_l1 = {L1_ORDER_STEER, !control->duel.policy};
    for (unsigned l1 = DUEL_CONTESTANTS; l1 < control->l1s; l1++) order_l1(control, l1, steer_l1, now);
}

/* With L1s that are components of their own there is one program. */
static void hear_l1s(struct control *control, uint64_t now) {
    for (unsigned l1 = 0; l1 < control->l1s; l1++) {
        const struct l1_word *word;
        while ((word = port_peek(&control->l1_words[l1], now))) {
            --*(word->kind == L1_WORD_QUIET ? &control->awaited : &control->part[0].unflushed);
            port_pop(&control->l1_words[l1], now);
        }
    }
}

static void hear(struct control *control, uint64_t now) {
    if (control->dueling) hear_duel(control, now);
    for (unsigned sm = 0; sm < control->sms; sm++) {
        struct part *part = &control->part[control->program_of[sm]];
        const struct sm_word *word;
        while ((word = port_peek(&control->words[sm], now))) {
            switch (word->kind) {
            case WORD_CTA_DONE:
                part->ended++;
                part->free_slots[sm]++;
                break;
            case WORD_L1_FLUSHED: part->unflushed--; break;
            case WORD_QUIET: control->awaited--; break;
            }
            port_pop(&control->words[sm], now);
        }
    }
    hear_l1s(control, now);
    if (control->switching != SWITCH_FLUSHING) return;
    for (unsigned slice = 0; slice < control->slices; slice++)
        while (control->slice_words[slice].engine && port_peek(&control->slice_words[slice], now)) {
            control->awaited--;
            port_pop(&control->slice_words[slice], now);
        }
}

static void deal_out(struct control *control, struct part *part, uint64_t now) {
    struct cta_view view = view_of(control, part);
    struct cta_choice choice;
    bool any = false;
    if (control->scheduler->cycle) control->scheduler->cycle(part->scheduler_state);
    while (control->scheduler->choose(part->scheduler_state, &view, &choice)) {
        order(control, choice.sm, (struct sm_order){ORDER_RUN_CTA, .cta = choice.cta}, now);
        part->free_slots[choice.sm]--;
        part->started++;
        any = true;
    }
    if (any && part->started < part->ctas) engine_wake(control->engine, control->component, now + 1);
}

static void begin_flush_l1(struct control *control, struct part *part, uint64_t now) {
    part->phase = PHASE_FLUSHING_L1;
    if (!control->flush_l1) return;
    part->unflushed = part->sms + control->l1s;
    order_all(control, part, (struct sm_order){.kind = ORDER_FLUSH_L1}, now);
    for (unsigned l1 = 0; l1 < control->l1s; l1++)
        order_l1(control, l1, (struct l1_order){.kind = L1_ORDER_FLUSH}, now);
}

/* Switching. */

static void next_step(struct control *control, enum switching switching, uint64_t until, uint64_t now) {
    control->switching = switching;
    control->switch_since = now;
    control->switch_until = until;
    if (until > now) engine_wake(control->engine, control->component, until);
}

/* Whether the switch stops a kernel; only then does it count. */
static bool stops_a_kernel(const struct control *control) {
    bool stops = false;
    for (unsigned i = 0; i < control->programs; i++)
        stops |= control->part[i].stopped && control->part[i].phase == PHASE_RUNNING;
    return stops;
}

/* At a kernel's end nothing of the program is under way, so that its SMs need not be stopped. */
static void begin_switch(struct control *control, struct part *part, uint64_t now) {
    bool bypass = part->wanted.bypass;
    for (unsigned i = 0; i < control->programs; i++)
        bypass &= part == &control->part[i] || control->part[i].stands.bypass;
    control->switched = part;
    control->power = bypass != control->bypass;
    control->bypass = bypass;
    for (unsigned i = 0; i < control->programs; i++) {
        struct part *other = &control->part[i];
        other->stopped = other == part ? part->phase == PHASE_RUNNING && needs_stop(part) : control->power;
        if (!other->stopped) continue;
        control->awaited += other->sms;
        order_all(control, other, (struct sm_order){.kind = ORDER_STOP}, now);
    }
    control->stats.switches += stops_a_kernel(control);
    control->stats.cleanings += part->phase == PHASE_RUNNING && !part->stopped;
    next_step(control, SWITCH_STOPPING, now, now);
}

/* All SMs concerned are quiet; L1s of their own may still have what no SM waits for. */
static void begin_settling(struct control *control, uint64_t now) {
    control->awaited = stops_a_kernel(control) ? control->l1s : 0;
    for (unsigned l1 = 0; l1 < control->awaited; l1++)
        order_l1(control, l1, (struct l1_order){.kind = L1_ORDER_REPORT}, now);
    next_step(control, SWITCH_SETTLING, now, now);
}

/* No request is under way: all SMs concerned are quiet, or all CTAs have ended and what they wrote has been acknowledged. Copies
 * must not be left behind; where there are none, lines may stay. */
static void begin_flush_llc(struct control *control, uint64_t now) {
    const struct part *part = control->switched;
    struct slice_order flush = {
        .keep_lines = !part->stands.copies && !part->stands.replicas,
        .keep_home = part->stands.replicas && !part->stands.forget_all,
        .beside = part->phase == PHASE_RUNNING && !part->stopped,
        .write_through = part->wanted.copies,
        .program = part->program,
    };
    control->awaited = control->slices;
    for (unsigned slice = 0; slice < control->slices; slice++)
        port_push(&control->slice_orders[slice], now, &flush, sizeof flush);
    next_step(control, SWITCH_FLUSHING, control->power ? now + control->quiet_cycles : now, now);
}

static void begin_power(struct control *control, uint64_t now) {
    uint64_t until = now;
    if (control->power) {
        until = network_set_bypass(control->request, control->bypass, now);
        until = max_u64(until, network_set_bypass(control->reply, control->bypass, now));
    }
    next_step(control, SWITCH_POWER, until, now);
}

static void end_switch(struct control *control, uint64_t now) {
    struct part *part = control->switched;
    control_settle(control, now);
    control->switching = SWITCH_NONE;
    part->stands = part->wanted;
    part->llc->mode.copies = part->wanted.copies;
    part->llc->mode.replicas = part->wanted.replicas;
    part->due = false;
    for (unsigned i = 0; i < control->programs; i++) {
        struct part *other = &control->part[i];
        other->llc->mode.bypass = control->bypass;
        if (other->stopped) order_all(control, other, (struct sm_order){.kind = ORDER_GO_ON}, now);
        other->stopped = false;
        if (other->due) engine_wake(control->engine, control->component, now + 1); /* its turn */
    }
    if (part->phase == PHASE_RUNNING) ask(control, part, LLC_SWITCHED, now);
}

/* Goes on with the switch, if one is under way, as far as it can. */
static void go_on_switching(struct control *control, uint64_t now) {
    while (control->switching != SWITCH_NONE && !control->awaited && now >= control->switch_until) {
        uint64_t took = stops_a_kernel(control) ? now - control->switch_since : 0;
        switch (control->switching) {
        case SWITCH_STOPPING:
            control->stats.stop_cycles += took;
            begin_settling(control, now);
            break;
        case SWITCH_SETTLING:
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
}

/* Begins what is due if nothing is under way. */
static void take_turn(struct control *control, struct part *part, uint64_t now) {
    if (!part->due || control->switching != SWITCH_NONE) return;
    begin_switch(control, part, now);
    go_on_switching(control, now);
}

/* The tick. */

/* All CTAs have ended and the L1s are flushed. Where there were copies these must go, and where there are to be some, modified lines
 * must be in memory. */
static void begin_end(struct control *control, struct part *part, uint64_t now) {
    part->phase = PHASE_ENDING;
    part->wanted = part->stands;
    ask(control, part, LLC_KERNEL_ENDS, now);
    part->due = part->stands.copies || part->stands.replicas || part->wanted.replicas;
}

static void end_kernel(struct control *control, struct part *part, uint64_t now) {
    part_settle(part, now + 1); /* the run, or the next kernel, goes on from there */
    part->phase = PHASE_IDLE;
    control->engine->stop = true;
}

static void part_tick(struct control *control, struct part *part, uint64_t now) {
    if (part->phase == PHASE_IDLE || part->stopped) return;
    if (now < part->start_at) {
        engine_wake(control->engine, control->component, part->start_at);
        return;
    }
    if (part->phase == PHASE_RUNNING) {
        if (part->started < part->ctas) deal_out(control, part, now);
        if (part->ended == part->ctas)
            begin_flush_l1(control, part, now);
        else if (now >= part->ask_at)
            ask(control, part, LLC_TIME_HAS_COME, now);
    }
    /* What slices write back beside the program's work they must have written before another kernel begins. */
    bool beside = control->switching != SWITCH_NONE && control->switched == part;
    if (part->phase == PHASE_FLUSHING_L1 && part->unflushed == 0 && !beside) begin_end(control, part, now);
    if (part->phase != PHASE_FLUSHING_L1) take_turn(control, part, now);
    if (part->phase == PHASE_ENDING && !part->due) end_kernel(control, part, now);
}

static void control_tick(void *self, uint64_t now) {
    struct control *control = self;
    hear(control, now);
    if (control->halted) return;
    go_on_switching(control, now);
    for (unsigned i = 0; i < control->programs; i++) part_tick(control, &control->part[i], now);
}
