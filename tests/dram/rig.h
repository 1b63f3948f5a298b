/* A memory on a bench: controllers as described by assignments, and for each slice a client that sends a list of
 * requests at given cycles and notes when each is answered. */
#ifndef SLUICE_TESTS_DRAM_RIG_H
#define SLUICE_TESTS_DRAM_RIG_H

#include <stdlib.h>

#include "base/base.h"
#include "base/random.h"
#include "dram/dram.h"
#include "dram/dram_config.h"
#include "sim/engine.h"
#include "sim/gpu_config.h"
#include "sim/port.h"
#include "test.h"

struct rig_request {
    uint64_t address, due, sent, answered; /* answered: 0 while it is not */
    bool write;
    uint8_t sectors, reply_kind;
    unsigned answers;
};

struct rig;

struct rig_client {
    struct rig *rig;
    struct port *out, *in;
    unsigned component, slice;
    unsigned *pending; /* indices of its requests, in order */
    unsigned count, room, next;
};

struct rig {
    struct config *config;
    struct engine *engine;
    struct stats *stats;
    struct address_map *map;
    struct dram *dram;
    struct rig_client *client;
    unsigned slices, *component;
    struct rig_request *request;
    unsigned count, room, answered;
    bool reluctant; /* takes replies only in every eighth cycle */
};

static inline struct config *rig_config(const char *const *assignments) {
    struct config *config = config_create(config_sections, config_section_count);
    struct error err = {0};
    for (; assignments && *assignments; assignments++)
        REQUIRE(config_set(config, *assignments, &err) || !CHECK_TEXT(err.text, "no error"));
    return config;
}

static inline void rig_client_tick(void *self, uint64_t now) {
    struct rig_client *client = self;
    struct rig *rig = client->rig;
    bool takes = !rig->reluctant || now % 8 == 0;
    for (const struct message *reply; takes && (reply = port_peek(client->in, now)); port_pop(client->in, now)) {
        struct rig_request *request = &rig->request[reply->tag];
        request->answered = now;
        request->reply_kind = reply->kind;
        request->answers++;
        CHECK_EQ(reply->source, (uint16_t)(client->slice + 7));
        rig->answered++;
    }
    if (!takes && port_peek(client->in, now)) engine_wake(rig->engine, client->component, now + 8 - now % 8);
    if (client->next == client->count) return;
    struct rig_request *request = &rig->request[client->pending[client->next]];
    if (request->due > now) {
        engine_wake(rig->engine, client->component, request->due);
        return;
    }
    if (!port_can_push(client->out, now)) {
        port_await_credit(client->out, now);
        return;
    }
    struct message message = {.address = request->address,
                              .tag = client->pending[client->next],
                              .source = (uint16_t)(client->slice + 7),
                              .kind = request->write ? MESSAGE_WRITE : MESSAGE_READ,
                              .sectors = request->sectors};
    port_push(client->out, now, &message, sizeof message);
    request->sent = now;
    client->next++;
    if (client->next < client->count) engine_wake(rig->engine, client->component, now + 1);
}

static inline struct rig *rig_create(const char *const *assignments) {
    static const struct component_ops client_ops = {.kind = "client", .tick = rig_client_tick};
    struct rig *rig = mem_alloc(1, sizeof *rig);
    struct error err = {0};
    rig->config = rig_config(assignments);
    if (!config_check(rig->config, &err)) CHECK_TEXT(err.text, "no error");
    rig->engine = engine_create();
    rig->stats = stats_create();
    rig->map = address_map_create(rig->config, &err);
    REQUIRE(rig->map != NULL);
    rig->slices = address_map_mcs(rig->map) * address_map_slices_per_mc(rig->map);
    rig->client = mem_alloc(rig->slices, sizeof *rig->client);
    rig->component = mem_alloc(rig->slices, sizeof *rig->component);
    for (unsigned i = 0; i < rig->slices; i++) {
        rig->client[i] = (struct rig_client){.rig = rig, .slice = i};
        rig->client[i].component = rig->component[i] = engine_add(rig->engine, &client_ops, &rig->client[i], i);
    }
    rig->dram = dram_create(rig->config, rig->map, rig->component, rig->slices, rig->engine, gpu_core_khz(rig->config),
                            rig->stats, &err);
    REQUIRE(rig->dram != NULL);
    for (unsigned i = 0; i < rig->slices; i++) {
        rig->client[i].out = dram_input(rig->dram, i);
        rig->client[i].in = dram_output(rig->dram, i);
    }
    return rig;
}

/* A request by the slice that the mapping says, or another one of the same controller. Returns its index. */
static inline unsigned rig_add_by(struct rig *rig, unsigned slice, uint64_t address, bool write, uint64_t due) {
    if (rig->count == rig->room) {
        rig->room = rig->room ? rig->room * 2 : 256;
        rig->request = mem_grow(rig->request, rig->room, sizeof *rig->request);
    }
    rig->request[rig->count] = (struct rig_request){.address = address, .due = due, .write = write};
    struct rig_client *client = &rig->client[slice];
    if (client->count == client->room) {
        client->room = client->room ? client->room * 2 : 64;
        client->pending = mem_grow(client->pending, client->room, sizeof *client->pending);
    }
    client->pending[client->count++] = rig->count;
    return rig->count++;
}

static inline unsigned rig_add(struct rig *rig, uint64_t address, bool write, uint64_t due) {
    struct location place;
    address_map_locate(rig->map, address, &place);
    return rig_add_by(rig, place.mc * address_map_slices_per_mc(rig->map) + place.slice, address, write, due);
}

/* The address of a place in controller 0. */
static inline uint64_t rig_address(const struct rig *rig, unsigned channel, unsigned bank, unsigned row,
                                   unsigned column) {
    struct location place = {.channel = (uint16_t)channel, .bank = (uint16_t)bank, .row = row, .column = column};
    return address_map_address(rig->map, &place);
}

/* Until everything is answered, at most `limit` cycles; then the ticks that are left are taken too. */
static inline bool rig_run(struct rig *rig, uint64_t limit) {
    for (unsigned i = 0; i < rig->slices; i++)
        if (rig->client[i].next < rig->client[i].count)
            engine_wake(rig->engine, rig->client[i].component, rig->engine->now);
    while (rig->answered < rig->count && rig->engine->now < limit)
        engine_run_until(rig->engine, min_u64(limit, rig->engine->now + 64));
    engine_run_until(rig->engine, rig->engine->now + 64);
    engine_settle(rig->engine, rig->engine->now);
    return rig->answered == rig->count;
}

static inline uint64_t rig_stat(const struct rig *rig, const char *name) {
    bool found;
    uint64_t value = stats_get(rig->stats, name, &found);
    CHECK(found);
    return value;
}

static inline void rig_destroy(struct rig *rig) {
    dram_destroy(rig->dram);
    address_map_destroy(rig->map);
    stats_destroy(rig->stats);
    engine_destroy(rig->engine);
    config_destroy(rig->config);
    for (unsigned i = 0; i < rig->slices; i++) free(rig->client[i].pending);
    free(rig->client);
    free(rig->component);
    free(rig->request);
    free(rig);
}

#endif
