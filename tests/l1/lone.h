/* An L1 without an SM: the test makes the accesses and plays the network.
 *
 *     struct lone_l1 *lone = lone_l1(SETTINGS("l1.mshrs=2"));
 *     cycle(lone);
 *     CHECK_OUTCOME(read_line(lone, 0x1000, 1), L1_MISS);
 *     settle(lone);                                   everything that was asked for comes
 *     lone_l1_destroy(lone);
 */
#ifndef SLUICE_TESTS_L1_LONE_H
#define SLUICE_TESTS_L1_LONE_H

#include "sm/stand.h"

struct lone_l1 {
    struct config *config;
    struct engine *engine;
    struct stats *stats;
    struct address_map *map;
    struct llc_organisation *llc;
    struct l1 *l1;
    struct port to_network, from_network;
    unsigned sm_id;
    uint64_t now;
    uint32_t woken[256]; /* tokens, in order of completion */
    uint64_t woken_at[256];
    unsigned woken_count;
};

static inline void no_tick(void *self, uint64_t now) { (void)self, (void)now; }

static inline struct lone_l1 *lone_l1(const char *const *settings) {
    static const struct component_ops nobody = {.kind = "nobody", .tick = no_tick};
    static const char *const always[] = {"sm.count=1", "gpu.clusters=1",      "llc.slices_per_mc=1",
                                         "dram.mcs=1", "dram.mapping=linear", NULL};
    struct lone_l1 *lone = mem_alloc(1, sizeof *lone);
    struct error err = {0};
    lone->config = config_create(config_sections, config_section_count);
    for (unsigned i = 0; always[i]; i++) REQUIRE(config_set(lone->config, always[i], &err));
    for (; *settings; settings++) REQUIRE(config_set(lone->config, *settings, &err));
    config_check(lone->config, &err);
    CHECK_EQ((const char *)err.text, "");
    lone->engine = engine_create();
    lone->stats = stats_create();
    lone->map = address_map_create(lone->config, &err);
    struct llc_context llc_context = {lone->config, lone->map, lone->stats, NULL};
    lone->llc = llc_organisation_create(&llc_context, &err);
    lone->sm_id = engine_add(lone->engine, &nobody, NULL, 0);
    unsigned network = engine_add(lone->engine, &nobody, NULL, 1);
    struct l1_context context = {.config = lone->config,
                                 .engine = lone->engine,
                                 .stats = lone->stats,
                                 .llc = lone->llc,
                                 .sms = 1,
                                 .clusters = 1,
                                 .sm_component = &lone->sm_id};
    lone->l1 = l1_create(&context, &err);
    REQUIRE(lone->l1);
    port_init(&lone->to_network, lone->engine, "to network", lone->sm_id, network, 2, 1);
    port_init(&lone->from_network, lone->engine, "from network", network, lone->sm_id, 256, 1);
    lone->l1->ops->connect(lone->l1, 0, &(struct l1_ports){&lone->to_network, &lone->from_network, NULL});
    return lone;
}

static inline void lone_l1_destroy(struct lone_l1 *lone) {
    lone->l1->ops->destroy(lone->l1);
    lone->llc->ops->destroy(lone->llc);
    address_map_destroy(lone->map);
    port_release(&lone->to_network);
    port_release(&lone->from_network);
    stats_destroy(lone->stats);
    engine_destroy(lone->engine);
    config_destroy(lone->config);
    free(lone);
}

/* The next cycle begins as an SM begins it: the L1 sends and receives, and what completes is collected. */
static inline void cycle(struct lone_l1 *lone) {
    lone->engine->now = ++lone->now;
    uint32_t token[L1_COMPLETIONS];
    unsigned completions = lone->l1->ops->tick(lone->l1, 0, lone->now, token);
    for (unsigned i = 0; i < completions; i++) {
        REQUIRE(lone->woken_count < 256);
        lone->woken_at[lone->woken_count] = lone->now;
        lone->woken[lone->woken_count++] = token[i];
    }
}

static inline void cycles(struct lone_l1 *lone, unsigned count) {
    for (unsigned i = 0; i < count; i++) cycle(lone);
}

/* The oldest request that has reached the network; the test ends if there is none. */
static inline struct message take(struct lone_l1 *lone) {
    const struct message *message = port_peek(&lone->to_network, lone->now);
    REQUIRE(message);
    struct message taken = *message;
    port_pop(&lone->to_network, lone->now);
    return taken;
}

static inline void answer(struct lone_l1 *lone, struct message message) {
    message.kind = message.kind == MESSAGE_WRITE ? MESSAGE_ACK : MESSAGE_DATA;
    port_push(&lone->from_network, lone->now, &message, sizeof message);
}

/* Lets everything that was asked for come. */
static inline void settle(struct lone_l1 *lone) {
    for (unsigned i = 0; i < 200; i++) {
        cycle(lone);
        while (port_peek(&lone->to_network, lone->now)) answer(lone, take(lone));
    }
    CHECK(!lone->l1->ops->busy(lone->l1, 0));
}

static inline enum l1_outcome access_by(struct lone_l1 *lone, struct l1_request request) {
    if (request.sectors == 0) request.sectors = 0x0F;
    return lone->l1->ops->access(lone->l1, 0, &request, lone->now);
}

static inline enum l1_outcome read_line(struct lone_l1 *lone, uint64_t address, uint32_t token) {
    return access_by(lone, (struct l1_request){.address = address, .token = token, .kind = MESSAGE_READ});
}
static inline enum l1_outcome write_line(struct lone_l1 *lone, uint64_t address, uint32_t token) {
    return access_by(lone, (struct l1_request){.address = address, .token = token, .kind = MESSAGE_WRITE});
}
static inline enum l1_outcome write_local(struct lone_l1 *lone, uint64_t address, uint8_t sectors) {
    return access_by(lone,
                     (struct l1_request){.address = address, .kind = MESSAGE_WRITE, .sectors = sectors, .local = true});
}

static inline uint64_t count(const struct lone_l1 *lone, const char *name) {
    bool found;
    uint64_t value = stats_get(lone->stats, name, &found);
    REQUIRE(found);
    return value;
}

/* Comparisons of outcomes, whose type has no place in a test's values. */
#define CHECK_OUTCOME(outcome, expected) CHECK_EQ((int)(outcome), (int)(expected))

/* Reads lines one after the other, each after the one before has come, and checks what becomes of them: `h`it, `m`iss
 * or `b`ypass. */
static inline void replay(struct lone_l1 *lone, const char *outcomes, const uint64_t *lines) {
    for (unsigned i = 0; outcomes[i]; i++) {
        enum l1_outcome outcome = read_line(lone, lines[i], i);
        char seen = outcome == L1_HIT ? 'h' : outcome == L1_MISS ? 'm' : outcome == L1_BYPASS ? 'b' : '?';
        if (!CHECK_EQ(seen, outcomes[i])) printf("    read %u of \"%s\"\n", i, outcomes);
        lone->woken_count = 0;
        settle(lone);
    }
}
#define REPLAY(lone, outcomes, ...) replay(lone, outcomes, (const uint64_t[]){__VA_ARGS__})

#endif
