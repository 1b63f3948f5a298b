/* Memory controllers with fake slices, each of which sends a list of requests at given cycles and records when they are
 * answered.
 *
 *     struct dram_fixture *fixture = dram_fixture_create(SETTINGS("dram.mcs=1"));
 *     add_request(fixture, address_at(fixture, 0, 3, 17, 0), false, 10);
 *     CHECK(run_requests(fixture, 1000));
 *     CHECK_EQ(fixture->request[0].answered, ...);
 *     dram_fixture_destroy(fixture);
 */
#ifndef SLUICE_TESTS_DRAM_DRAM_FIXTURE_H
#define SLUICE_TESTS_DRAM_DRAM_FIXTURE_H

#include <stdlib.h>

#include "base/random.h"
#include "dram/dram.h"
#include "dram/dram_config.h"
#include "fixture.h"
#include "sim/gpu_config.h"
#include "sim/port.h"

struct slice_request {
    uint64_t address, due, sent, answered; /* answered: 0 while it is not */
    bool write;
    uint8_t sectors, reply_kind;
    unsigned answers;
};

struct dram_fixture;

struct fake_slice {
    struct dram_fixture *fixture;
    struct port *out, *in;
    unsigned component, number;
    unsigned *pending; /* indices of its requests, in order */
    unsigned count, capacity, next;
};

struct dram_fixture {
    struct fixture base;
    struct dram *dram;
    struct fake_slice *slice;
    unsigned slices, *component;
    struct slice_request *request;
    unsigned count, capacity, answered;
    bool reluctant; /* takes replies only in every eighth cycle */
};

static inline void fake_slice_tick(void *self, uint64_t now) {
    struct fake_slice *slice = self;
    struct dram_fixture *fixture = slice->fixture;
    struct engine *engine = fixture->base.engine;
    bool takes = !fixture->reluctant || now % 8 == 0;
    for (const struct message *reply; takes && (reply = port_peek(slice->in, now)); port_pop(slice->in, now)) {
        struct slice_request *request = &fixture->request[reply->tag];
        request->answered = now;
        request->reply_kind = reply->kind;
        request->answers++;
        CHECK_EQ(reply->source, (uint16_t)(slice->number + 7));
        fixture->answered++;
    }
    if (!takes && port_peek(slice->in, now)) engine_wake(engine, slice->component, now + 8 - now % 8);
    if (slice->next == slice->count) return;
    struct slice_request *request = &fixture->request[slice->pending[slice->next]];
    if (request->due > now) {
        engine_wake(engine, slice->component, request->due);
        return;
    }
    if (!port_can_push(slice->out, now)) {
        port_await_credit(slice->out, now);
        return;
    }
    struct message message = {.address = request->address,
                              .tag = slice->pending[slice->next],
                              .source = (uint16_t)(slice->number + 7),
                              .kind = request->write ? MESSAGE_WRITE : MESSAGE_READ,
                              .sectors = request->sectors};
    port_push(slice->out, now, &message, sizeof message);
    request->sent = now;
    slice->next++;
    if (slice->next < slice->count) engine_wake(engine, slice->component, now + 1);
}

static inline struct dram_fixture *dram_fixture_create(const char *const *settings) {
    static const struct component_ops fake_slice_ops = {.kind = "fake slice", .tick = fake_slice_tick};
    struct dram_fixture *fixture = mem_alloc(1, sizeof *fixture);
    struct fixture *base = &fixture->base;
    struct error err = {0};
    fixture_init(base, NO_SETTINGS, settings);
    fixture->slices = address_map_mcs(base->map) * address_map_slices_per_mc(base->map);
    fixture->slice = mem_alloc(fixture->slices, sizeof *fixture->slice);
    fixture->component = mem_alloc(fixture->slices, sizeof *fixture->component);
    for (unsigned i = 0; i < fixture->slices; i++) {
        fixture->slice[i] = (struct fake_slice){.fixture = fixture, .number = i};
        fixture->slice[i].component = fixture->component[i] =
            engine_add(base->engine, &fake_slice_ops, &fixture->slice[i], i);
    }
    fixture->dram = dram_create(base->config, base->map, fixture->component, fixture->slices, base->engine,
                                gpu_core_khz(base->config), base->stats, &err);
    REQUIRE(fixture->dram != NULL);
    for (unsigned i = 0; i < fixture->slices; i++) {
        fixture->slice[i].out = dram_input(fixture->dram, i);
        fixture->slice[i].in = dram_output(fixture->dram, i);
    }
    return fixture;
}

/* A request by the slice that the mapping gives, or another one of the same controller. Returns its index. */
static inline unsigned add_request_by(struct dram_fixture *fixture, unsigned number, uint64_t address, bool write,
                                      uint64_t due) {
    if (fixture->count == fixture->capacity) {
        fixture->capacity = fixture->capacity ? fixture->capacity * 2 : 256;
        fixture->request = mem_grow(fixture->request, fixture->capacity, sizeof *fixture->request);
    }
    fixture->request[fixture->count] = (struct slice_request){.address = address, .due = due, .write = write};
    struct fake_slice *slice = &fixture->slice[number];
    if (slice->count == slice->capacity) {
        slice->capacity = slice->capacity ? slice->capacity * 2 : 64;
        slice->pending = mem_grow(slice->pending, slice->capacity, sizeof *slice->pending);
    }
    slice->pending[slice->count++] = fixture->count;
    return fixture->count++;
}

static inline unsigned add_request(struct dram_fixture *fixture, uint64_t address, bool write, uint64_t due) {
    const struct address_map *map = fixture->base.map;
    struct location place;
    address_map_locate(map, address, &place);
    return add_request_by(fixture, place.mc * address_map_slices_per_mc(map) + place.slice, address, write, due);
}

/* The address of a place in controller 0. */
static inline uint64_t address_at(const struct dram_fixture *fixture, unsigned channel, unsigned bank, unsigned row,
                                  unsigned column) {
    struct location place = {.channel = (uint16_t)channel, .bank = (uint16_t)bank, .row = row, .column = column};
    return address_map_address(fixture->base.map, &place);
}

/* Runs until everything is answered, at most `limit` cycles, and then the ticks that are left. */
static inline bool run_requests(struct dram_fixture *fixture, uint64_t limit) {
    struct engine *engine = fixture->base.engine;
    for (unsigned i = 0; i < fixture->slices; i++)
        if (fixture->slice[i].next < fixture->slice[i].count)
            engine_wake(engine, fixture->slice[i].component, engine->now);
    while (fixture->answered < fixture->count && engine->now < limit)
        engine_run_until(engine, min_u64(limit, engine->now + 64));
    engine_run_until(engine, engine->now + 64);
    engine_settle(engine, engine->now);
    return fixture->answered == fixture->count;
}

static inline void dram_fixture_destroy(struct dram_fixture *fixture) {
    dram_destroy(fixture->dram);
    fixture_release(&fixture->base);
    for (unsigned i = 0; i < fixture->slices; i++) free(fixture->slice[i].pending);
    free(fixture->slice);
    free(fixture->component);
    free(fixture->request);
    free(fixture);
}

#endif
