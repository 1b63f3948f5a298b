#include "l1/crossbar.h"

#include <stdlib.h>

enum { NOBODY = UINT16_MAX };

struct output {
    struct port port;
    uint64_t ends_at; /* cycle of the last flit of the current packet */
    uint16_t owner;   /* input of the current packet; NOBODY */
    uint16_t turn;    /* input with the highest priority next */
    uint16_t nearest; /* requesting input closest to `turn` */
    bool blocked;     /* no credit for the receiver */
};

struct crossbar {
    struct engine *engine;
    unsigned id, index, inputs, outputs;
    struct port *input;    /* [inputs] */
    bool *sending;         /* [inputs] */
    struct output *output; /* [outputs] */
    struct crossbar_stats stats;
};

STATS_TABLE(crossbar_request_table, "l1.request_crossbar", crossbar_stats, CROSSBAR_STATS);
STATS_TABLE(crossbar_reply_table, "l1.reply_crossbar", crossbar_stats, CROSSBAR_STATS);

static void crossbar_tick(void *self, uint64_t now);
static const struct component_ops component_ops = {.kind = "crossbar", .tick = crossbar_tick};

struct crossbar *crossbar_create(const struct crossbar_plan *plan, struct engine *engine, struct stats *stats,
                                 unsigned index) {
    struct crossbar *crossbar = mem_alloc(1, sizeof *crossbar);
    *crossbar = (struct crossbar){
        .engine = engine,
        .index = index,
        .inputs = plan->inputs,
        .outputs = plan->outputs,
        .input = mem_alloc(plan->inputs, sizeof *crossbar->input),
        .sending = mem_alloc(plan->inputs, sizeof *crossbar->sending),
        .output = mem_alloc(plan->outputs, sizeof *crossbar->output),
    };
    crossbar->id = engine_add(engine, &component_ops, crossbar, index);
    unsigned output_cycles = (unsigned)(plan->group->switch_cycles - 1 + plan->group->link_cycles);
    char name[40];
    for (unsigned i = 0; i < plan->inputs; i++) {
        snprintf(name, sizeof name, "%s %u in %u", plan->name, index, i);
        port_init(&crossbar->input[i], engine, name, plan->sender[i], crossbar->id, plan->input_queue, 1);
    }
    for (unsigned i = 0; i < plan->outputs; i++) {
        snprintf(name, sizeof name, "%s %u out %u", plan->name, index, i);
        port_init(&crossbar->output[i].port, engine, name, crossbar->id, plan->receiver[i], plan->output_queue,
                  output_cycles);
        crossbar->output[i].owner = NOBODY;
    }
    stats_add(stats, plan->table, &crossbar->stats);
    return crossbar;
}

void crossbar_destroy(struct crossbar *crossbar) {
    if (!crossbar) return;
    for (unsigned i = 0; i < crossbar->inputs; i++) port_release(&crossbar->input[i]);
    for (unsigned i = 0; i < crossbar->outputs; i++) port_release(&crossbar->output[i].port);
    free(crossbar->input);
    free(crossbar->sending);
    free(crossbar->output);
    free(crossbar);
}

struct port *crossbar_input(struct crossbar *crossbar, unsigned input) {
    return &crossbar->input[input];
}
struct port *crossbar_output(struct crossbar *crossbar, unsigned output) {
    return &crossbar->output[output].port;
}

static unsigned distance(const struct crossbar *crossbar, unsigned from, unsigned to) {
    return to >= from ? to - from : to + crossbar->inputs - from;
}

/* Round-robin arbitration: a free output selects the nearest requesting input from `turn` on. */
static void allocate(struct crossbar *crossbar, uint64_t now) {
    for (unsigned i = 0; i < crossbar->outputs; i++) crossbar->output[i].nearest = NOBODY;
    for (unsigned i = 0; i < crossbar->inputs; i++) {
        const struct group_packet *packet = crossbar->sending[i] ? NULL : port_peek(&crossbar->input[i], now);
        if (!packet) continue;
        struct output *output = &crossbar->output[packet->to];
        if (output->owner == NOBODY &&
            (output->nearest == NOBODY ||
             distance(crossbar, output->turn, i) < distance(crossbar, output->turn, output->nearest)))
            output->nearest = (uint16_t)i;
    }
    for (unsigned i = 0; i < crossbar->outputs; i++) {
        struct output *output = &crossbar->output[i];
        if (output->nearest == NOBODY) continue;
        output->blocked = !port_can_push(&output->port, now);
        if (output->blocked) {
            port_await_credit(&output->port, now);
            continue;
        }
        const struct group_packet *packet = port_peek(&crossbar->input[output->nearest], now);
        output->owner = output->nearest;
        output->turn = (uint16_t)((output->nearest + 1u) % crossbar->inputs);
        output->ends_at = now + packet->flits - 1;
        if (output->ends_at > now) engine_wake(crossbar->engine, crossbar->id, output->ends_at);
        crossbar->sending[output->owner] = true;
        crossbar->stats.packets++;
        crossbar->stats.flits += packet->flits;
    }
}

/* Delivers packets whose last flit crosses in this cycle. */
static void hand_over(struct crossbar *crossbar, uint64_t now) {
    for (unsigned i = 0; i < crossbar->outputs; i++) {
        struct output *output = &crossbar->output[i];
        if (output->owner == NOBODY || output->ends_at != now) continue;
        port_push(&output->port, now, port_take(&crossbar->input[output->owner], now), sizeof(struct group_packet));
        crossbar->sending[output->owner] = false;
        output->owner = NOBODY;
    }
}

/* Whether a head packet could proceed in the next cycle without an arrival or a credit. */
static bool goes_on(const struct crossbar *crossbar, uint64_t now) {
    for (unsigned i = 0; i < crossbar->inputs; i++) {
        const struct group_packet *packet = crossbar->sending[i] ? NULL : port_peek(&crossbar->input[i], now);
        if (packet && crossbar->output[packet->to].owner == NOBODY && !crossbar->output[packet->to].blocked)
            return true;
    }
    return false;
}

static void crossbar_tick(void *self, uint64_t now) {
    struct crossbar *crossbar = self;
    allocate(crossbar, now);
    hand_over(crossbar, now);
    if (goes_on(crossbar, now)) engine_wake(crossbar->engine, crossbar->id, now + 1);
}
