#include "sim/engine.h"

#include <endian.h>
#include <stdlib.h>

#include "base/random.h"
#include "sim/port.h"

struct engine *engine_create(void) {
    return mem_alloc_lines(1, sizeof(struct engine));
}

void engine_destroy(struct engine *engine) {
    if (!engine) return;
    free(engine->far);
    free(engine->ports);
    free(engine);
}

unsigned engine_add(struct engine *engine, const struct component_ops *ops, void *self, unsigned index) {
    assert(engine->components < ENGINE_MAX_COMPONENTS);
    unsigned id = engine->components++;
    engine->component[id] = (struct component){ops->tick, self, ops, index};
    engine->words = (engine->components + 63) / 64;
    return id;
}

void engine_add_port(struct engine *engine, struct port *port) {
    engine->ports = mem_grow(engine->ports, engine->port_count + 1, sizeof *engine->ports);
    engine->ports[engine->port_count++] = port;
}

/* The list is scanned when the wheel reaches its last slot, counted from the first far wake. */
void engine_wake_far(struct engine *engine, struct waker waker, uint64_t at) {
    unsigned id = (unsigned)(waker.first - engine->due[0]) * 64 + lowest_bit(waker.bit);
    if (!engine->far_count) {
        engine->far_until = engine->now + ENGINE_WHEEL - 1;
        ((uint8_t *)engine->slot_used)[engine->far_until % ENGINE_WHEEL] = 1;
    }
    for (unsigned i = 0; i < engine->far_count; i++)
        if (engine->far[i].id == id && engine->far[i].at == at) return;
    engine->far = mem_grow(engine->far, engine->far_count + 1, sizeof *engine->far);
    engine->far[engine->far_count++] = (struct far_wake){at, id};
}

/* Moves wakes that are now within the wheel from the list to the wheel. */
static void file_far_wakes(struct engine *engine) {
    unsigned count = engine->far_count;
    struct far_wake *far = engine->far;
    engine->far = NULL;
    engine->far_count = 0;
    for (unsigned i = 0; i < count; i++) engine_wake(engine, far[i].id, far[i].at);
    free(far);
}

/* Ticks every due component once, in a random order that differs between cycles: tests that the order does not
 * matter. */
static void tick_shuffled(struct engine *engine, const uint64_t *due) {
    unsigned ids[ENGINE_MAX_COMPONENTS], count = 0;
    for (unsigned word = 0; word < engine->words; word++)
        for (uint64_t bits = due[word]; bits; bits &= bits - 1) ids[count++] = word * 64 + lowest_bit(bits);
    uint64_t state = engine->shuffle ^ engine->now;
    for (unsigned i = count; i > 1; i--) {
        unsigned j = (unsigned)random_below(&state, i), id = ids[i - 1];
        ids[i - 1] = ids[j];
        ids[j] = id;
    }
    for (unsigned i = 0; i < count; i++) engine->component[ids[i]].tick(engine->component[ids[i]].self, engine->now);
}

/* Distance in cycles to the next slot with a due component: 0 for the current one, ENGINE_WHEEL if there is none. */
static unsigned next_slot(const struct engine *engine) {
    unsigned start = (unsigned)(engine->now % ENGINE_WHEEL), words = ENGINE_WHEEL / 8;
    uint64_t bytes = le64toh(engine->slot_used[start / 8]) >> (start % 8 * 8);
    if (bytes) return lowest_bit(bytes) / 8;
    for (unsigned i = 1; i <= words; i++) {
        bytes = le64toh(engine->slot_used[(start / 8 + i) % words]);
        if (i == words) bytes &= low_mask(start % 8 * 8);
        if (bytes) return i * 8 + lowest_bit(bytes) / 8 - start % 8;
    }
    return ENGINE_WHEEL;
}

static void run_cycle(struct engine *engine) {
    if (UNLIKELY(engine->far_count) && engine->now == engine->far_until) file_far_wakes(engine);
    unsigned slot = (unsigned)(engine->now % ENGINE_WHEEL);
    uint64_t due[ENGINE_WORDS];
    for (unsigned word = 0; word < engine->words; word++) {
        due[word] = engine->due[slot][word];
        engine->due[slot][word] = 0;
    }
    ((uint8_t *)engine->slot_used)[slot] = 0;
    if (UNLIKELY(engine->poll))
        for (unsigned word = 0; word < engine->words; word++)
            due[word] = low_mask(engine->components > word * 64 ? engine->components - word * 64 : 0);
    if (UNLIKELY(engine->shuffle)) {
        tick_shuffled(engine, due);
        return;
    }
    const struct component *component = engine->component;
    uint64_t now = engine->now;
    for (unsigned word = 0; word < engine->words; word++, component += 64)
        for (uint64_t bits = due[word]; bits; bits &= bits - 1)
            component[lowest_bit(bits)].tick(component[lowest_bit(bits)].self, now);
}

enum engine_state engine_run_until(struct engine *engine, uint64_t until) {
    while (engine->now < until) {
        unsigned away = engine->poll ? 0 : next_slot(engine);
        if (away == ENGINE_WHEEL) return ENGINE_QUIET;
        if (away >= until - engine->now) {
            engine->now = until;
            break;
        }
        engine->now += away;
        run_cycle(engine);
        engine->now++;
        if (engine->stop) {
            engine->stop = false;
            return ENGINE_STOPPED;
        }
    }
    return ENGINE_RUNNING;
}

void engine_settle(struct engine *engine, uint64_t now) {
    for (unsigned id = 0; id < engine->components; id++) {
        struct component *component = &engine->component[id];
        if (component->ops->settle) component->ops->settle(component->self, now);
    }
}

uint64_t engine_progress(const struct engine *engine) {
    uint64_t progress = engine->progress;
    for (unsigned i = 0; i < engine->port_count; i++) progress += engine->ports[i]->pushed;
    return progress;
}

void engine_explain(const struct engine *engine, FILE *out) {
    fprintf(out, "cycle %llu\n", (unsigned long long)engine->now);
    for (unsigned id = 0; id < engine->components; id++) {
        const struct component *component = &engine->component[id];
        if (component->ops->explain) component->ops->explain(component->self, engine->now, out);
    }
    for (unsigned i = 0; i < engine->port_count; i++) {
        const struct port *port = engine->ports[i];
        if (port->pushed == port->popped) continue;
        const struct component *sender = &engine->component[port->sender],
                               *receiver = &engine->component[port->receiver];
        fprintf(out, "port %s: %u of %u slots used, from %s %u to %s %u, oldest visible since cycle %llu%s\n",
                port->name, port->pushed - port->popped, port->capacity, sender->ops->kind, sender->index,
                receiver->ops->kind, receiver->index, (unsigned long long)port_next_visible(port),
                port->sender_waits ? ", sender waits for credit" : "");
    }
}

const char *engine_in_flight(const struct engine *engine, char *text, size_t size) {
    for (unsigned i = 0; i < engine->port_count; i++) {
        const struct port *port = engine->ports[i];
        if (port->pushed != port->popped) {
            snprintf(text, size, "port %s still holds %u messages", port->name, port->pushed - port->popped);
            return text;
        }
    }
    for (unsigned id = 0; id < engine->components; id++) {
        const struct component *component = &engine->component[id];
        if (component->ops->busy && component->ops->busy(component->self)) {
            snprintf(text, size, "%s %u is still busy", component->ops->kind, component->index);
            return text;
        }
    }
    return NULL;
}
