#include "sim/engine.h"

#include <endian.h>
#include <stdlib.h>

#include "base/random.h"
#include "sim/port.h"

struct engine *engine_create(void) {
    struct engine *engine = mem_alloc_lines(1, sizeof *engine);
    engine->far_until = NEVER;
    return engine;
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
static NEVER_INLINE void file_far_wakes(struct engine *engine) {
    unsigned count = engine->far_count;
    struct far_wake *far = engine->far;
    engine->far = NULL;
    engine->far_count = 0;
    engine->far_until = NEVER;
    for (unsigned i = 0; i < count; i++) engine_wake(engine, far[i].id, far[i].at);
    free(far);
}

/* Ticks the due components, or all while polling. With a seed, in a random order that differs between cycles: tests that
 * the order does not matter. */
static NEVER_INLINE void run_cycle_for_test(struct engine *engine, uint64_t *due) {
    unsigned ids[ENGINE_MAX_COMPONENTS], count = 0;
    for (unsigned id = 0; id < engine->components; id++)
        if (engine->poll || due[id / 64] >> (id % 64) & 1) ids[count++] = id;
    for (unsigned word = 0; word < engine->words; word++) due[word] = 0;
    uint64_t state = engine->shuffle ^ engine->now;
    for (unsigned i = engine->shuffle ? count : 0; i > 1; i--) {
        unsigned j = (unsigned)random_below(&state, i), id = ids[i - 1];
        ids[i - 1] = ids[j];
        ids[j] = id;
    }
    for (unsigned i = 0; i < count; i++) engine->component[ids[i]].tick(engine->component[ids[i]].self, engine->now);
}

/* The next cycle from `now` on with a due component; NEVER if there is none. */
static NEVER_INLINE uint64_t next_due(const struct engine *engine, uint64_t now) {
    unsigned start = (unsigned)(now % ENGINE_WHEEL), words = ENGINE_WHEEL / 8;
    uint64_t bytes = le64toh(engine->slot_used[start / 8]) >> (start % 8 * 8);
    if (bytes) return now + lowest_bit(bytes) / 8;
    for (unsigned i = 1; i <= words; i++) {
        bytes = le64toh(engine->slot_used[(start / 8 + i) % words]);
        if (i == words) bytes &= low_mask(start % 8 * 8);
        if (bytes) return now - start % 8 + i * 8 + lowest_bit(bytes) / 8;
    }
    return NEVER;
}

/* No component is woken for the current cycle during it, so each word is complete when it is read. */
static inline void run_cycle(struct engine *engine, uint64_t *due, uint64_t now) {
    const struct component *component = engine->component;
    const uint64_t *last = due + engine->words - 1;
    for (;; due++, component += 64) {
        uint64_t bits = *due;
        if (bits) {
            *due = 0;
            do {
                const struct component *next = &component[lowest_bit(bits)];
                bits &= bits - 1;
                next->tick(next->self, now);
            } while (bits);
        }
        if (due == last) return;
    }
}

/* `test`: cycles are run by run_cycle_for_test. */
static ALWAYS_INLINE enum engine_state run_until(struct engine *engine, uint64_t until, bool poll, bool test) {
    uint8_t *used = (uint8_t *)engine->slot_used;
    uint64_t now = engine->now;
    for (; now < until; now++) {
        if (!used[now % ENGINE_WHEEL] && !poll) {
            uint64_t next = next_due(engine, now);
            if (next == NEVER) break;
            now = min_u64(next, until);
            if (now == until) break;
        }
        engine->now = now;
        if (UNLIKELY(now == engine->far_until)) file_far_wakes(engine);
        used[now % ENGINE_WHEEL] = 0;
        if (test)
            run_cycle_for_test(engine, engine->due[now % ENGINE_WHEEL]);
        else
            run_cycle(engine, engine->due[now % ENGINE_WHEEL], now);
        if (UNLIKELY(engine->stop)) {
            engine->stop = false;
            engine->now = now + 1;
            return ENGINE_STOPPED;
        }
    }
    engine->now = now;
    return now < until ? ENGINE_QUIET : ENGINE_RUNNING;
}

enum engine_state engine_run_until(struct engine *engine, uint64_t until) {
    engine->ahead_until = engine->poll ? 0 : until;
    if (engine->poll) return run_until(engine, until, true, true);
    return engine->shuffle || !engine->words ? run_until(engine, until, false, true)
                                             : run_until(engine, until, false, false);
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
