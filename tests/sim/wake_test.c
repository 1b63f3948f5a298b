/* Wakes beyond the engine's wheel, and what counts as progress. */
#include "fixture.h"
#include "sim/port.h"

enum { WAKES = 8 };

struct sleeper {
    struct engine *engine;
    uint64_t ticked[WAKES];
    unsigned count;
};

static void sleeper_tick(void *self, uint64_t now) {
    struct sleeper *sleeper = self;
    if (sleeper->count < WAKES) sleeper->ticked[sleeper->count++] = now;
}

TEST("a component with several wakes beyond the wheel is ticked in each of their cycles, and once in each") {
    static const struct component_ops ops = {.kind = "sleeper", .tick = sleeper_tick};
    struct sleeper sleeper = {.engine = engine_create()};
    unsigned id = engine_add(sleeper.engine, &ops, &sleeper, 0);
    static const uint64_t wakes[] = {5000, 3000, 5000, 9000, 1500, 3000};
    for (unsigned i = 0; i < COUNT_OF(wakes); i++) engine_wake(sleeper.engine, id, wakes[i]);
    engine_run_until(sleeper.engine, 20000);
    static const uint64_t expected[] = {1500, 3000, 5000, 9000};
    CHECK_EQ(sleeper.count, (unsigned)COUNT_OF(expected));
    for (unsigned i = 0; i < COUNT_OF(expected); i++) CHECK_EQ(sleeper.ticked[i], expected[i]);
    engine_destroy(sleeper.engine);
}

TEST("progress is what components report and every push") {
    struct engine *engine = engine_create();
    unsigned id = add_neighbour(engine, 0);
    struct port port;
    port_init(&port, engine, "port", id, id, 4, 1);
    uint64_t before = engine_progress(engine);
    engine->progress += 5;
    CHECK_EQ(engine_progress(engine), before + 5);
    port_push(&port, 0, &before, sizeof before);
    CHECK_EQ(engine_progress(engine), before + 6);
    port_release(&port);
    engine_destroy(engine);
}
