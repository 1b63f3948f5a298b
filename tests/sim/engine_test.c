#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"
#include "sim/port.h"

/* A component that notes when it is ticked and may ask for one more tick, at a time it knows. */
struct noter {
    struct engine *engine;
    unsigned id;
    uint64_t target;  /* wakes itself up to this cycle; 0: never */
    uint64_t reached; /* the cycle in which the target was first seen */
    uint64_t ticks, last;
    bool stop; /* asks the engine to stop */
    bool busy;
    uint64_t settled;
};

static void noter_tick(void *self, uint64_t now) {
    struct noter *noter = self;
    noter->ticks++;
    noter->last = now;
    if (noter->stop) noter->engine->stop = true;
    if (!noter->target || noter->reached) return;
    if (now >= noter->target)
        noter->reached = now;
    else
        engine_wake(noter->engine, noter->id, noter->target);
}

static void noter_settle(void *self, uint64_t now) { ((struct noter *)self)->settled = now; }

static void noter_explain(const void *self, uint64_t now, FILE *out) {
    fprintf(out, "noter %u waits in cycle %llu\n", ((const struct noter *)self)->id, (unsigned long long)now);
}

static bool noter_busy(const void *self) { return ((const struct noter *)self)->busy; }

static const struct component_ops noter_ops = {"noter", noter_tick, noter_settle, noter_explain, noter_busy};

static void noter_add(struct engine *engine, struct noter *noter) {
    *noter = (struct noter){.engine = engine};
    noter->id = engine_add(engine, &noter_ops, noter, engine->components);
}

TEST("time skips empty cycles, and a due component is ticked once in its cycle") {
    struct engine *engine = engine_create();
    struct noter noter;
    noter_add(engine, &noter);
    engine_wake(engine, noter.id, 5);
    engine_wake(engine, noter.id, 5);
    engine_wake(engine, noter.id, 900);
    CHECK_EQ((int)engine_run_until(engine, 6), (int)ENGINE_RUNNING);
    CHECK_EQ(noter.ticks, 1u);
    CHECK_EQ(noter.last, 5u);
    CHECK_EQ((int)engine_run_until(engine, 900), (int)ENGINE_RUNNING);
    CHECK_EQ(engine->now, 900u);
    CHECK_EQ(noter.ticks, 1u);
    CHECK_EQ((int)engine_run_until(engine, 901), (int)ENGINE_RUNNING);
    CHECK_EQ(noter.ticks, 2u);
    CHECK_EQ(noter.last, 900u);
    engine_destroy(engine);
}

TEST("an engine without due components reports it and does not advance") {
    struct engine *engine = engine_create();
    struct noter noter;
    noter_add(engine, &noter);
    engine_wake(engine, noter.id, 17);
    CHECK_EQ((int)engine_run_until(engine, 1000), (int)ENGINE_QUIET);
    CHECK_EQ(engine->now, 18u);
    CHECK_EQ((int)engine_run_until(engine, 1000), (int)ENGINE_QUIET);
    CHECK_EQ(engine->now, 18u);
    engine_destroy(engine);
}

TEST("a wake-up takes effect in its cycle from any slot of the wheel, also beyond its end") {
    static const uint64_t distances[] = {1,
                                         2,
                                         63,
                                         64,
                                         65,
                                         127,
                                         128,
                                         ENGINE_WHEEL - 2,
                                         ENGINE_WHEEL - 1,
                                         ENGINE_WHEEL,
                                         ENGINE_WHEEL + 1,
                                         2 * ENGINE_WHEEL - 1,
                                         5000,
                                         123457};
    static const uint64_t starts[] = {0, 1, 62, 63, 64, 65, ENGINE_WHEEL - 1, ENGINE_WHEEL, 777777};
    for (unsigned s = 0; s < COUNT_OF(starts); s++)
        for (unsigned d = 0; d < COUNT_OF(distances); d++) {
            struct engine *engine = engine_create();
            struct noter noter;
            noter_add(engine, &noter);
            engine->now = starts[s];
            noter.target = starts[s] + distances[d];
            engine_wake(engine, noter.id, noter.target);
            CHECK_EQ((int)engine_run_until(engine, noter.target + 10 * ENGINE_WHEEL), (int)ENGINE_QUIET);
            CHECK_EQ(noter.reached, noter.target);
            CHECK_EQ(noter.ticks, 1u);
            engine_destroy(engine);
        }
}

TEST("many wake-ups beyond the end of the wheel, some requested twice, take effect once each") {
    struct engine *engine = engine_create();
    struct noter noter[50];
    for (unsigned i = 0; i < COUNT_OF(noter); i++) noter_add(engine, &noter[i]);
    for (unsigned i = 0; i < COUNT_OF(noter); i++)
        for (unsigned times = 0; times <= i % 2; times++)
            engine_wake(engine, noter[i].id, ENGINE_WHEEL + (uint64_t)(i * 1237) % 9000);
    CHECK_EQ((int)engine_run_until(engine, 20000), (int)ENGINE_QUIET);
    for (unsigned i = 0; i < COUNT_OF(noter); i++) {
        CHECK_EQ(noter[i].ticks, 1u);
        CHECK_EQ(noter[i].last, ENGINE_WHEEL + (uint64_t)(i * 1237) % 9000);
    }
    engine_destroy(engine);
}

TEST("a stop takes effect at the end of the cycle, after all ticks, and the run can continue") {
    struct engine *engine = engine_create();
    struct noter noter[3];
    for (unsigned i = 0; i < 3; i++) noter_add(engine, &noter[i]);
    noter[0].stop = true;
    for (unsigned i = 0; i < 3; i++) engine_wake(engine, noter[i].id, 10);
    engine_wake(engine, noter[2].id, 11);
    CHECK_EQ((int)engine_run_until(engine, 100), (int)ENGINE_STOPPED);
    CHECK_EQ(engine->now, 11u);
    for (unsigned i = 0; i < 3; i++) CHECK_EQ(noter[i].ticks, 1u);
    CHECK_EQ((int)engine_run_until(engine, 100), (int)ENGINE_QUIET);
    CHECK_EQ(noter[2].last, 11u);
    engine_destroy(engine);
}

TEST("polling ticks every component in every cycle and never reports idleness") {
    struct engine *engine = engine_create();
    struct noter noter[70];
    for (unsigned i = 0; i < 70; i++) noter_add(engine, &noter[i]);
    engine->poll = true;
    CHECK_EQ((int)engine_run_until(engine, 50), (int)ENGINE_RUNNING);
    CHECK_EQ(engine->now, 50u);
    for (unsigned i = 0; i < 70; i++) CHECK_EQ(noter[i].ticks, 50u);
    engine_destroy(engine);
}

TEST("any number of components up to the limit is ticked, in order, polled or shuffled") {
    static const unsigned counts[] = {1, 63, 64, 65, 128, 1000, ENGINE_MAX_COMPONENTS};
    struct noter *noter = mem_alloc(ENGINE_MAX_COMPONENTS, sizeof *noter);
    for (unsigned c = 0; c < COUNT_OF(counts); c++)
        for (unsigned mode = 0; mode < 4; mode++) {
            struct engine *engine = engine_create();
            for (unsigned i = 0; i < counts[c]; i++) noter_add(engine, &noter[i]);
            engine->poll = mode & 1;
            engine->shuffle = mode & 2 ? 99 : 0;
            for (unsigned i = 0; i < counts[c]; i++) engine_wake(engine, noter[i].id, 3);
            engine_run_until(engine, 4);
            for (unsigned i = 0; i < counts[c]; i++)
                REQUIRE(noter[i].ticks == (mode & 1 ? 4 : 1) && noter[i].last == 3);
            engine_destroy(engine);
        }
    free(noter);
}

/* Whose turn it was, in order. */
struct turns {
    unsigned id[64], count;
};
struct turn_taker {
    struct turns *turns;
    unsigned id;
};
static void turn_tick(void *self, uint64_t now) {
    struct turn_taker *taker = self;
    (void)now;
    taker->turns->id[taker->turns->count++ % 64] = taker->id;
}
static const struct component_ops turn_ops = {.kind = "taker", .tick = turn_tick};

static void turns_take(uint64_t shuffle, struct turns *turns) {
    struct engine *engine = engine_create();
    struct turn_taker taker[8];
    *turns = (struct turns){.count = 0};
    engine->shuffle = shuffle;
    for (unsigned i = 0; i < 8; i++) {
        taker[i].turns = turns;
        taker[i].id = engine_add(engine, &turn_ops, &taker[i], i);
        for (unsigned cycle = 0; cycle < 4; cycle++) engine_wake(engine, taker[i].id, cycle);
    }
    engine_run_until(engine, 4);
    engine_destroy(engine);
}

TEST("components are ticked in the order of their ids, and with a seed in a different order each cycle") {
    struct turns plain, shuffled, again, other;
    turns_take(0, &plain);
    turns_take(5, &shuffled);
    turns_take(5, &again);
    turns_take(6, &other);
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(plain.id[i], i % 8);
    CHECK(memcmp(shuffled.id, again.id, 32 * sizeof *again.id) == 0);
    CHECK(memcmp(shuffled.id, other.id, 32 * sizeof *other.id) != 0);
    CHECK(memcmp(shuffled.id, plain.id, 32 * sizeof *plain.id) != 0);
    CHECK(memcmp(shuffled.id, shuffled.id + 8, 8 * sizeof *plain.id) != 0);
    for (unsigned cycle = 0; cycle < 4; cycle++) {
        unsigned seen = 0;
        for (unsigned i = 0; i < 8; i++) seen |= 1u << shuffled.id[cycle * 8 + i];
        CHECK_EQ(seen, 0xFFu);
    }
}

TEST("settling advances every component to the given cycle") {
    struct engine *engine = engine_create();
    struct noter noter[2];
    for (unsigned i = 0; i < 2; i++) noter_add(engine, &noter[i]);
    engine_settle(engine, 33);
    CHECK_EQ(noter[0].settled, 33u);
    CHECK_EQ(noter[1].settled, 33u);
    engine_destroy(engine);
}

TEST("reports remaining work: a port that holds messages, a component that is busy") {
    struct engine *engine = engine_create();
    struct noter noter[2];
    struct port port;
    char text[160];
    for (unsigned i = 0; i < 2; i++) noter_add(engine, &noter[i]);
    port_init(&port, engine, "between", noter[0].id, noter[1].id, 4, 2);
    CHECK(!engine_in_flight(engine, text, sizeof text));
    noter[1].busy = true;
    REQUIRE(engine_in_flight(engine, text, sizeof text));
    CHECK_TEXT(text, "noter 1 is still busy");
    uint64_t message = 1;
    port_push(&port, 0, &message, sizeof message);
    REQUIRE(engine_in_flight(engine, text, sizeof text));
    CHECK_TEXT(text, "port between still holds 1 messages");

    char *told;
    size_t size;
    FILE *out = open_memstream(&told, &size);
    engine_explain(engine, out);
    fclose(out);
    CHECK_TEXT(told, "noter 0 waits in cycle 0");
    CHECK_TEXT(told, "port between: 1 of 4 slots used, from noter 0 to noter 1, oldest visible since cycle 2");
    free(told);
    port_release(&port);
    engine_destroy(engine);
}
