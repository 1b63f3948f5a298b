#include "gpu/control.h"

#include <stdlib.h>

#include "dram/dram_config.h"
#include "gpu/cluster.h"
#include "gpu/dispatch.h"
#include "gpu/kernel.h"
#include "gpu/machine_config.h"
#include "llc/atomics.h"
#include "llc/bridge.h"

STATS_TABLE(control_stat_table, "control", control_stats, CONTROL_STATS);

enum { PORT_DEPTH = 128, PORT_LATENCY = 1 }; /* deeper than an SM has CTAs: neither side ever stalls */

/* ---- ports ------------------------------------------------------------------------------------------------------ */

static void port_to(struct control *control, struct port *port, const char *kind, unsigned index, unsigned component) {
    char name[40];
    snprintf(name, sizeof name, "control to %s %u", kind, index);
    port_init(port, control->engine, name, control->component, component, PORT_DEPTH, PORT_LATENCY);
}

static void port_from(struct control *control, struct port *port, const char *kind, unsigned index,
                      unsigned component) {
    char name[40];
    snprintf(name, sizeof name, "%s %u to control", kind, index);
    port_init(port, control->engine, name, component, control->component, PORT_DEPTH, PORT_LATENCY);
}

static void ports_release(struct port *ports, unsigned count) {
    for (unsigned i = 0; ports && i < count; i++) port_release(&ports[i]);
    free(ports);
}

static void inbox_create(struct inbox *inbox, unsigned count) {
    *inbox = (struct inbox){mem_alloc(count, sizeof *inbox->port), count,
                            mem_alloc(div_up(count, 64), sizeof *inbox->pushed)};
}

static void inbox_release(struct inbox *inbox) {
    ports_release(inbox->port, inbox->count);
    free(inbox->pushed);
}

static void inbox_connect(struct control *control, struct inbox *inbox, const char *kind, unsigned index,
                          unsigned component) {
    port_from(control, &inbox->port[index], kind, index, component);
    port_watch(&inbox->port[index], inbox->pushed[index / 64], index % 64);
}

/* The senders among 64 whose messages become visible in this cycle. */
static uint64_t inbox_take(struct inbox *inbox, unsigned word, uint64_t now) {
    uint64_t senders = inbox->pushed[word][(now + 1) % 2];
    inbox->pushed[word][(now + 1) % 2] = 0;
    return senders;
}

/* ---- the component ---------------------------------------------------------------------------------------------- */

static void control_tick(void *self, uint64_t now);

static void control_explain(const void *self, uint64_t now, FILE *out) {
    const struct control *control = self;
    (void)now;
    for (unsigned i = 0; i < control->programs; i++) {
        const struct partition *partition = &control->partition[i];
        const struct dispatch *dispatch = &partition->dispatch;
        if (partition->phase == KERNEL_RUNNING)
            fprintf(out, "control: %llu CTAs, %llu started, %llu ended\n", (unsigned long long)dispatch->ctas,
                    (unsigned long long)dispatch->started, (unsigned long long)dispatch->ended);
        if (partition->phase == KERNEL_FLUSHING_L1)
            fprintf(out, "control: %u of %u L1s not yet flushed\n", partition->unflushed,
                    partition->sms + control->l1s);
    }
    const struct reconfiguration *r = &control->reconfiguration;
    if (r->state == RECONFIGURATION_STOPPING)
        fprintf(out, "control: %u of %u SMs have requests in flight\n", r->awaited, control->sms);
    if (r->state == RECONFIGURATION_SETTLING)
        fprintf(out, "control: %u of %u L1s have requests in flight\n", r->awaited, control->l1s);
    if (r->state == RECONFIGURATION_FLUSHING)
        fprintf(out, "control: %u of %u slices not yet flushed\n", r->awaited, control->slices);
}

static bool control_busy(const void *self) {
    const struct control *control = self;
    bool busy = false;
    for (unsigned i = 0; i < control->programs; i++) busy |= control->partition[i].phase != KERNEL_NONE;
    return busy && !control->halted;
}

static void control_settle(void *self, uint64_t now) {
    struct control *control = self;
    if (control->halted) return; /* the run has ended; draining does not count */
    for (unsigned i = 0; i < control->programs; i++) control_settle_partition(&control->partition[i], now);
}

static const struct component_ops component_ops = {"control", control_tick, control_settle, control_explain,
                                                   control_busy};

static const char DUEL[] = "SM dueling";

struct control *control_create(const struct config *config, unsigned programs, const uint8_t *program_of,
                               struct engine *engine, struct stats *stats, struct journal *journal) {
    const struct machine_config *values = config_get(config, &machine_section);
    const struct l1_config *l1 = config_get(config, &l1_section);
    const struct dram_config *dram = config_get(config, &dram_section);
    unsigned sms = gpu_sms(config);
    unsigned slices = gpu_slices_per_mc(config) * (unsigned)dram->mcs;
    slices = (bridge_copy_ways(config) ? 2 * slices : slices) + atomics_slices(config);
    struct control *control = mem_alloc(1, sizeof *control);
    *control = (struct control){
        .engine = engine,
        .sms = sms,
        .clusters = (unsigned)values->gpu.clusters,
        .slices = slices,
        .flush_l1 = l1->flush_at_kernel_end,
        .launch_cycles = (uint64_t)values->launch_cycles,
        .scheduler = (const struct cta_scheduler_ops *)values->cta_scheduler,
        .sm_commands = mem_alloc(sms, sizeof *control->sm_commands),
        .slice_commands = mem_alloc(slices, sizeof *control->slice_commands),
        .slice_reports = mem_alloc(slices, sizeof *control->slice_reports),
        .programs = programs,
        .program_of = program_of,
        .journal = journal,
    };
    inbox_create(&control->sm_reports, sms);
    control->dueling = l1_duel(config, &control->duel.rule);
    if (control->dueling)
        journal_announce(journal, &(struct journal_mechanism){
                                      .name = DUEL,
                                      .mode = "plain cache",
                                      .undecided = "SM 0 and SM 1 never both had # in an interval",
                                      .length = control->duel.rule.least_reads,
                                      .unit = "reads",
                                      .shown = {"policy_miss_rate", "plain_miss_rate"},
                                      .summarised = true,
                                  });
    control->duel_round_at = NEVER;
    for (unsigned i = 0; i < programs; i++)
        control->partition[i] = (struct partition){
            .program = (uint8_t)i,
            .dispatch = {.scheduler_state = control->scheduler->create(config, sms, control->clusters),
                         .free_slots = mem_alloc(sms, sizeof *control->partition[i].dispatch.free_slots)},
            .decide_at = NEVER,
        };
    for (unsigned i = 0; i < sms; i++) control->partition[program_of[i]].sms++;
    control->component = engine_add(engine, &component_ops, control, 0);
    stats_add(stats, &control_stat_table, &control->stats);
    return control;
}

void control_destroy(struct control *control) {
    if (!control) return;
    ports_release(control->sm_commands, control->sms);
    ports_release(control->l1_commands, control->l1s);
    ports_release(control->l1_reports, control->l1s);
    ports_release(control->slice_commands, control->slices);
    ports_release(control->slice_reports, control->slices);
    for (unsigned i = 0; i < COUNT_OF(control->network_commands); i++) port_release(&control->network_commands[i]);
    inbox_release(&control->sm_reports);
    inbox_release(&control->requests);
    for (unsigned i = 0; control->dueling && i < DUEL_CONTESTANTS; i++) port_release(&control->duel_reports[i]);
    for (unsigned i = 0; i < control->programs; i++) {
        control->scheduler->destroy(control->partition[i].dispatch.scheduler_state);
        free(control->partition[i].dispatch.free_slots);
        free(control->partition[i].dispatch.clusters);
        free(control->partition[i].dispatch.parked);
    }
    free(control);
}

/* ---- connecting ------------------------------------------------------------------------------------------------- */

/* The port over which a contestant of the duel, ticked by `component`, reports its misses. */
static void connect_duel(struct control *control, struct l1 *l1, unsigned index, unsigned component) {
    if (!control->dueling || index >= DUEL_CONTESTANTS) return;
    port_from(control, &control->duel_reports[index], "duel", index, component);
    l1_report_to(l1, index, &control->duel_reports[index]);
}

void control_connect_llc(struct control *control, struct llc_organisation *llc) {
    for (unsigned i = 0; i < control->programs; i++) {
        struct partition *partition = &control->partition[i];
        partition->llc = llc_of_program(llc, i);
        partition->mode = partition->llc->mode;
    }
    control->reconfiguration.bypass = llc->mode.bypass;
}

void control_connect_sm(struct control *control, struct sm *sm, unsigned index, struct l1 *l1,
                        const struct launch *launch) {
    port_to(control, &control->sm_commands[index], "sm", index, sm_component(sm));
    inbox_connect(control, &control->sm_reports, "sm", index, sm_component(sm));
    sm_connect(sm, l1, launch, &control->sm_commands[index], &control->sm_reports.port[index]);
    if (!l1->ops->connect_control) connect_duel(control, l1, index, sm_component(sm));
}

void control_connect_l1(struct control *control, struct l1 *l1) {
    if (!l1->ops->connect_control) return;
    control->l1s = l1->ops->endpoints(l1);
    control->l1_commands = mem_alloc(control->l1s, sizeof *control->l1_commands);
    control->l1_reports = mem_alloc(control->l1s, sizeof *control->l1_reports);
    for (unsigned i = 0; i < control->l1s; i++) {
        unsigned component = l1->ops->endpoint_component(l1, i);
        port_to(control, &control->l1_commands[i], "l1 node", i, component);
        port_from(control, &control->l1_reports[i], "l1 node", i, component);
        l1->ops->connect_control(l1, i, &control->l1_commands[i], &control->l1_reports[i]);
        connect_duel(control, l1, i, component);
    }
}

struct port *control_request_reports(struct control *control, const struct l1 *l1) {
    if (!control->partition[0].llc->ops->profile) return NULL;
    inbox_create(&control->requests, l1->ops->endpoints(l1));
    for (unsigned i = 0; i < control->requests.count; i++)
        inbox_connect(control, &control->requests, "requests of l1", i, l1->ops->endpoint_component(l1, i));
    return control->requests.port;
}

void control_connect_networks(struct control *control, const struct config *config, struct network *request,
                              struct network *reply, uint64_t quiet_cycles) {
    const struct noc_config *noc = config_get(config, &noc_section);
    struct network *network[] = {request, reply};
    control->reconfiguration.quiet_cycles = quiet_cycles;
    control->reconfiguration.gating_cycles = (uint64_t)noc->gating_cycles;
    if (!control->partition[0].llc->ops->control || !noc_can_bypass(config)) return;
    for (unsigned i = 0; i < COUNT_OF(network); i++) {
        port_to(control, &control->network_commands[i], "network", i, network_component(network[i]));
        network_connect_control(network[i], &control->network_commands[i]);
    }
}

void control_connect_slice(struct control *control, unsigned index, unsigned component, struct slice_ports *ports) {
    const struct llc_organisation *llc = control->partition[0].llc; /* all organisations are of the same kind */
    if (!llc->mode.is_private && !llc->mode.replicas && !llc->ops->control) return;
    port_to(control, &control->slice_commands[index], "slice", index, component);
    port_from(control, &control->slice_reports[index], "slice", index, component);
    ports->commands = &control->slice_commands[index];
    ports->reports = &control->slice_reports[index];
}

/* ---- commands and decisions ------------------------------------------------------------------------------------- */

void control_watch(struct control *control, void (*watch)(void *user, const struct cta_event *event), void *user) {
    control->watch = watch;
    control->watch_user = user;
}

static void tell(const struct control *control, unsigned sm, uint64_t cta, bool ended, uint64_t now) {
    if (!control->watch) return;
    const struct cta_event event = {
        .cycle = now, .cta = cta, .sm = sm, .program = control->program_of[sm], .ended = ended};
    control->watch(control->watch_user, &event);
}

void control_command_sm(struct control *control, unsigned sm, struct sm_command command, uint64_t now) {
    if (command.kind == COMMAND_RUN_CTA) tell(control, sm, command.cta, false, now);
    assert(port_can_push(&control->sm_commands[sm], now));
    port_push(&control->sm_commands[sm], now, &command, sizeof command);
}

void control_command_l1(struct control *control, unsigned l1, struct l1_command command, uint64_t now) {
    assert(port_can_push(&control->l1_commands[l1], now));
    port_push(&control->l1_commands[l1], now, &command, sizeof command);
}

void control_command_partition(struct control *control, const struct partition *partition, struct sm_command command,
                               uint64_t now) {
    for (unsigned sm = 0; sm < control->sms; sm++)
        if (control->program_of[sm] == partition->program) control_command_sm(control, sm, command, now);
}

/* A reconfiguration in progress is not changed. */
void control_decide(struct control *control, struct partition *partition, enum llc_occasion occasion, uint64_t now) {
    const struct llc_control_ops *ops = partition->llc->ops->control;
    if (!ops) return;
    partition->wanted = ops->decide(partition->llc, occasion, now, &partition->decide_at);
    if (occasion == LLC_KERNEL_ENDS) {
        partition->decide_at = NEVER;
        return;
    }
    partition->reconfigure =
        reconfiguration_stops(partition) || (partition->wanted.replicas && !partition->mode.replicas);
    if (partition->decide_at == NEVER) return;
    partition->decide_at = max_u64(partition->decide_at, now + 1); /* a reconfiguration may have lasted longer */
    control_wake(control, partition->decide_at);
}

void control_settle_partition(struct partition *partition, uint64_t now) {
    const struct llc_control_ops *ops = partition->llc->ops->control;
    if (partition->phase != KERNEL_NONE && ops && ops->settle) ops->settle(partition->llc, now);
}

void control_begin(struct control *control, const struct launch *launch, uint64_t now) {
    struct partition *partition = &control->partition[launch->program];
    kernel_begin(control, partition, launch, now);
    if (control->dueling && control->duel.rule.contestants_follow) control->duel_round_at = partition->start_at;
}

bool control_set_degree(struct control *control, unsigned degree) {
    bool taken = true;
    for (unsigned i = 0; i < control->programs; i++) {
        struct llc_organisation *llc = control->partition[i].llc;
        taken &= llc->ops->degrees && llc->ops->degrees->set(llc, degree);
    }
    return taken;
}

bool control_idle(const struct control *control, unsigned program) {
    return control->partition[program].phase == KERNEL_NONE;
}

uint64_t control_ended_ctas(const struct control *control, unsigned program) {
    return control->partition[program].dispatch.ended;
}

void control_halt(struct control *control) { control->halted = true; }

/* ---- reports ---------------------------------------------------------------------------------------------------- */

/* Steers the SM's own L1, or the L1 that is a separate component. */
static void steer_l1(struct control *control, unsigned index, bool plain, uint64_t now) {
    uint32_t round = control->duel.round;
    if (control->l1s)
        control_command_l1(control, index, (struct l1_command){L1_COMMAND_STEER, plain, round}, now);
    else
        control_command_sm(control, index,
                           (struct sm_command){.kind = COMMAND_STEER_L1, .plain = plain, .round = round}, now);
}

/* Before the CTAs of a new kernel, which SMs receive in order of the commands. */
static void begin_duel_round(struct control *control, uint64_t now) {
    control->duel_round_at = NEVER;
    if (control->duel.round && !control->duel.decided)
        journal_count(control->journal, DUEL, 0, NULL,
                      "the kernel ended before SM 0 and SM 1 both had # in an interval", now);
    duel_begin_round(&control->duel);
    for (unsigned i = 0; i < DUEL_CONTESTANTS; i++) steer_l1(control, i, duel_contestant_plain(i), now);
}

static void write_duel(const struct control *control, uint64_t now) {
    const struct duel *duel = &control->duel;
    double rate[DUEL_CONTESTANTS];
    for (unsigned i = 0; i < DUEL_CONTESTANTS; i++)
        rate[i] = (double)duel->report[i].misses / (double)max_u64(duel->report[i].reads, 1);
    journal_add(control->journal,
                &(struct journal_entry){
                    .cycle = now,
                    .mechanism = DUEL,
                    .decision = duel->policy ? "policy" : "plain cache",
                    .reason = duel->policy ? "the policy misses no more than the plain cache, within the threshold"
                                           : "the policy misses more than the plain cache, beyond the threshold",
                    .count = 2,
                    .input = {{"policy_miss_rate", rate[0]}, {"plain_miss_rate", rate[1]}},
                });
}

static void receive_duel(struct control *control, uint64_t now) {
    bool change = false;
    for (unsigned i = 0; i < DUEL_CONTESTANTS; i++) {
        const struct duel_report *report;
        while ((report = port_peek(&control->duel_reports[i], now))) {
            change ^= duel_receive(&control->duel, i, report);
            port_pop(&control->duel_reports[i], now);
        }
    }
    if (!change) return;
    write_duel(control, now);
    const struct duel_rule *rule = &control->duel.rule;
    for (unsigned i = rule->contestants_follow ? 0 : DUEL_CONTESTANTS; i < (control->l1s ? control->l1s : control->sms);
         i++)
        steer_l1(control, i, !control->duel.policy, now);
    if (!rule->contestants_follow || !rule->round_cycles) return;
    control->duel_round_at = now + rule->round_cycles;
    control_wake(control, control->duel_round_at);
}

static void receive_from_sm(struct control *control, unsigned sm, uint64_t now) {
    struct partition *partition = &control->partition[control->program_of[sm]];
    struct port *port = &control->sm_reports.port[sm];
    const struct sm_report *report;
    while ((report = port_peek(port, now))) {
        switch (report->kind) {
        case REPORT_CTA_DONE:
            tell(control, sm, report->cta, true, now);
            dispatch_end_cta(partition, sm);
            cluster_ended(control, partition, report->cta, now);
            break;
        case REPORT_CLUSTER_ARRIVED: cluster_arrived(control, partition, report->cta, now); break;
        case REPORT_MBARRIER_UPDATE: cluster_update(control, partition, report, now); break;
        case REPORT_L1_FLUSHED: partition->unflushed--; break;
        case REPORT_QUIET: control->reconfiguration.awaited--; break;
        }
        port_pop(port, now);
    }
}

/* L1s that are separate components imply a single program. */
static void receive_from_l1s(struct control *control, uint64_t now) {
    for (unsigned l1 = 0; l1 < control->l1s; l1++) {
        const struct l1_report *report;
        while ((report = port_peek(&control->l1_reports[l1], now))) {
            --*(report->kind == L1_REPORT_QUIET ? &control->reconfiguration.awaited : &control->partition[0].unflushed);
            port_pop(&control->l1_reports[l1], now);
        }
    }
}

static void receive_from_slices(struct control *control, uint64_t now) {
    for (unsigned slice = 0; slice < control->slices; slice++)
        while (port_peek(&control->slice_reports[slice], now)) {
            control->reconfiguration.awaited--;
            port_pop(&control->slice_reports[slice], now);
        }
}

/* Requests that were sent in the previous cycle, for the LLC organisation to count. */
static void receive_requests(struct control *control, unsigned endpoint, uint64_t now) {
    struct port *port = &control->requests.port[endpoint];
    const struct message *message;
    while ((message = port_peek(port, now))) {
        assert(port_next_visible(port) == now);
        llc_count_sent(control->partition[0].llc, message, now - PORT_LATENCY);
        port_pop(port, now);
    }
}

static void receive(struct control *control, uint64_t now) {
    if (control->dueling) receive_duel(control, now);
    for (unsigned i = 0; i < control->programs; i++)
        if (UNLIKELY(control->partition[i].dispatch.parked_count))
            cluster_forward_parked(control, &control->partition[i], now);
    for (unsigned word = 0; word < div_up(control->sms, 64); word++)
        for (uint64_t sms = inbox_take(&control->sm_reports, word, now); sms; sms &= sms - 1)
            receive_from_sm(control, word * 64 + lowest_bit(sms), now);
    for (unsigned word = 0; word < div_up(control->requests.count, 64); word++)
        for (uint64_t l1s = inbox_take(&control->requests, word, now); l1s; l1s &= l1s - 1)
            receive_requests(control, word * 64 + lowest_bit(l1s), now);
    receive_from_l1s(control, now);
    if (control->reconfiguration.state == RECONFIGURATION_FLUSHING) receive_from_slices(control, now);
}

static void control_tick(void *self, uint64_t now) {
    struct control *control = self;
    receive(control, now);
    if (control->halted) return;
    if (now >= control->duel_round_at) begin_duel_round(control, now);
    reconfiguration_advance(control, now);
    for (unsigned i = 0; i < control->programs; i++) kernel_tick(control, &control->partition[i], now);
}
