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

enum { WORDS = GROUP_MEMBERS / 64 };

/* Sets of inputs and outputs are bit sets, so that a tick visits only those with a packet. */
struct crossbar {
    struct engine *engine;
    unsigned id, index, inputs, outputs;
    unsigned words;            /* of the bit sets in use */
    struct port *input;        /* [inputs] */
    uint64_t fresh[WORDS][2];  /* inputs with a newly visible packet (port_watch) */
    uint64_t waiting[WORDS];   /* inputs with a visible head packet that is not being sent */
    uint64_t requested[WORDS]; /* during allocation: outputs with a `nearest` input */
    uint64_t owned[WORDS];     /* outputs with an owner */
    struct output *output;     /* [outputs] */
    struct crossbar_stats stats;
};

static inline void include(uint64_t *set, unsigned member) { set[member / 64] |= UINT64_C(1) << member % 64; }
static inline void exclude(uint64_t *set, unsigned member) { set[member / 64] &= ~(UINT64_C(1) << member % 64); }

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
        .words = (unsigned)div_up(plan->inputs > plan->outputs ? plan->inputs : plan->outputs, 64),
        .output = mem_alloc(plan->outputs, sizeof *crossbar->output),
    };
    crossbar->id = engine_add(engine, &component_ops, crossbar, index);
    unsigned output_cycles = (unsigned)(plan->group->switch_cycles - 1 + plan->group->link_cycles);
    char name[40];
    for (unsigned i = 0; i < plan->inputs; i++) {
        snprintf(name, sizeof name, "%s %u in %u", plan->name, index, i);
        port_init(&crossbar->input[i], engine, name, plan->sender[i], crossbar->id, plan->input_queue, 1);
        port_watch(&crossbar->input[i], crossbar->fresh[i / 64], i % 64);
    }
    for (unsigned i = 0; i < plan->outputs; i++) {
        snprintf(name, sizeof name, "%s %u out %u", plan->name, index, i);
        port_init(&crossbar->output[i].port, engine, name, crossbar->id, plan->receiver[i], plan->output_queue,
                  output_cycles);
        crossbar->output[i].owner = crossbar->output[i].nearest = NOBODY;
    }
    stats_add(stats, plan->table, &crossbar->stats);
    return crossbar;
}

void crossbar_destroy(struct crossbar *crossbar) {
    if (!crossbar) return;
    for (unsigned i = 0; i < crossbar->inputs; i++) port_release(&crossbar->input[i]);
    for (unsigned i = 0; i < crossbar->outputs; i++) port_release(&crossbar->output[i].port);
    free(crossbar->input);
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
static void request_output(struct crossbar *crossbar, unsigned input, uint64_t now) {
    const struct group_packet *packet = port_peek(&crossbar->input[input], now);
    struct output *output = &crossbar->output[packet->to];
    if (output->owner != NOBODY) return;
    if (output->nearest == NOBODY ||
        distance(crossbar, output->turn, input) < distance(crossbar, output->turn, output->nearest))
        output->nearest = (uint16_t)input;
    include(crossbar->requested, packet->to);
}

static void grant(struct crossbar *crossbar, unsigned number, uint64_t now) {
    struct output *output = &crossbar->output[number];
    unsigned nearest = output->nearest;
    output->nearest = NOBODY;
    output->blocked = !port_can_push(&output->port, now);
    if (output->blocked) {
        port_await_credit(&output->port, now);
        return;
    }
    const struct group_packet *packet = port_peek(&crossbar->input[nearest], now);
    output->owner = (uint16_t)nearest;
    output->turn = (uint16_t)(nearest + 1 < crossbar->inputs ? nearest + 1 : 0);
    output->ends_at = now + packet->flits - 1;
    if (output->ends_at > now) engine_wake(crossbar->engine, crossbar->id, output->ends_at);
    include(crossbar->owned, number);
    exclude(crossbar->waiting, nearest);
    crossbar->stats.packets++;
    crossbar->stats.flits += packet->flits;
}

static void allocate(struct crossbar *crossbar, uint64_t now) {
    for (unsigned word = 0; word < crossbar->words; word++) {
        uint64_t *fresh = &crossbar->fresh[word][(now + 1) % 2];
        crossbar->waiting[word] |= *fresh;
        *fresh = 0;
        for (uint64_t rest = crossbar->waiting[word]; rest; rest &= rest - 1)
            request_output(crossbar, 64 * word + lowest_bit(rest), now);
    }
    for (unsigned word = 0; word < crossbar->words; word++) {
        for (uint64_t rest = crossbar->requested[word]; rest; rest &= rest - 1)
            grant(crossbar, 64 * word + lowest_bit(rest), now);
        crossbar->requested[word] = 0;
    }
}

/* Delivers packets whose last flit crosses in this cycle. */
static void hand_over(struct crossbar *crossbar, uint64_t now) {
    for (unsigned word = 0; word < crossbar->words; word++)
        for (uint64_t rest = crossbar->owned[word]; rest; rest &= rest - 1) {
            unsigned number = 64 * word + lowest_bit(rest);
            struct output *output = &crossbar->output[number];
            if (output->ends_at != now) continue;
            struct port *input = &crossbar->input[output->owner];
            port_push(&output->port, now, port_take(input, now), sizeof(struct group_packet));
            if (port_next_visible(input) <= now) include(crossbar->waiting, output->owner);
            output->owner = NOBODY;
            exclude(crossbar->owned, number);
        }
}

/* Whether a head packet could proceed in the next cycle without an arrival or a credit. */
static bool goes_on(const struct crossbar *crossbar, uint64_t now) {
    for (unsigned word = 0; word < crossbar->words; word++)
        for (uint64_t rest = crossbar->waiting[word]; rest; rest &= rest - 1) {
            const struct group_packet *packet = port_peek(&crossbar->input[64 * word + lowest_bit(rest)], now);
            const struct output *output = &crossbar->output[packet->to];
            if (output->owner == NOBODY && !output->blocked) return true;
        }
    return false;
}

static void crossbar_tick(void *self, uint64_t now) {
    struct crossbar *crossbar = self;
    allocate(crossbar, now);
    hand_over(crossbar, now);
    if (goes_on(crossbar, now)) engine_wake(crossbar->engine, crossbar->id, now + 1);
}
