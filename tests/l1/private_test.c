#include "claim.h"

#include "sm/stand.h"

/* An L1 without an SM: the claim makes the accesses and plays the network. */
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

static void no_tick(void *self, uint64_t now) { (void)self, (void)now; }

static struct lone_l1 *lone_l1(const char *const *settings) {
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
    lone->llc = llc_organisation_create(lone->config, lone->map, &err);
    lone->sm_id = engine_add(lone->engine, &nobody, NULL, 0);
    unsigned network = engine_add(lone->engine, &nobody, NULL, 1);
    struct l1_site site = {lone->config, lone->engine, lone->stats, lone->llc, 1, 1, &lone->sm_id};
    lone->l1 = l1_create(&site, &err);
    REQUIRE(lone->l1);
    port_init(&lone->to_network, lone->engine, "to network", lone->sm_id, network, 2, 1);
    port_init(&lone->from_network, lone->engine, "from network", network, lone->sm_id, 256, 1);
    lone->l1->ops->connect(lone->l1, 0, &lone->to_network, &lone->from_network);
    return lone;
}

static void lone_l1_destroy(struct lone_l1 *lone) {
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
static void cycle(struct lone_l1 *lone) {
    lone->engine->now = ++lone->now;
    uint32_t token[L1_COMPLETIONS];
    unsigned completions = lone->l1->ops->tick(lone->l1, 0, lone->now, token);
    for (unsigned i = 0; i < completions; i++) {
        REQUIRE(lone->woken_count < 256);
        lone->woken_at[lone->woken_count] = lone->now;
        lone->woken[lone->woken_count++] = token[i];
    }
}

static void cycles(struct lone_l1 *lone, unsigned count) {
    for (unsigned i = 0; i < count; i++) cycle(lone);
}

/* The oldest request that has reached the network; the claim ends if there is none. */
static struct message take(struct lone_l1 *lone) {
    const struct message *message = port_peek(&lone->to_network, lone->now);
    REQUIRE(message);
    struct message taken = *message;
    port_pop(&lone->to_network, lone->now);
    return taken;
}

static void answer(struct lone_l1 *lone, struct message message) {
    message.kind = message.kind == MESSAGE_WRITE ? MESSAGE_ACK : MESSAGE_DATA;
    port_push(&lone->from_network, lone->now, &message, sizeof message);
}

/* Lets everything that was asked for come. */
static void settle(struct lone_l1 *lone) {
    for (unsigned i = 0; i < 200; i++) {
        cycle(lone);
        while (port_peek(&lone->to_network, lone->now)) answer(lone, take(lone));
    }
    CHECK(!lone->l1->ops->busy(lone->l1, 0));
}

static enum l1_outcome access_by(struct lone_l1 *lone, struct l1_request request) {
    if (request.sectors == 0) request.sectors = 0x0F;
    return lone->l1->ops->access(lone->l1, 0, &request, lone->now);
}

static enum l1_outcome read_line(struct lone_l1 *lone, uint64_t address, uint32_t token) {
    return access_by(lone, (struct l1_request){.address = address, .token = token, .kind = MESSAGE_READ});
}
static enum l1_outcome write_line(struct lone_l1 *lone, uint64_t address, uint32_t token) {
    return access_by(lone, (struct l1_request){.address = address, .token = token, .kind = MESSAGE_WRITE});
}
static enum l1_outcome write_local(struct lone_l1 *lone, uint64_t address, uint8_t sectors) {
    return access_by(lone,
                     (struct l1_request){.address = address, .kind = MESSAGE_WRITE, .sectors = sectors, .local = true});
}

static uint64_t count(const struct lone_l1 *lone, const char *name) {
    bool found;
    uint64_t value = stats_get(lone->stats, name, &found);
    REQUIRE(found);
    return value;
}

/* Comparisons of outcomes, whose type has no place in a claim's values. */
#define CHECK_OUTCOME(outcome, expected) CHECK_EQ((int)(outcome), (int)(expected))

CLAIM("a read misses, others of its line find it on its way, and once it is there they hit") {
    struct lone_l1 *lone = lone_l1(NO_SETTINGS);
    cycle(lone);
    CHECK_OUTCOME(read_line(lone, 0x1000, 1), L1_MISS);
    cycle(lone);
    CHECK_OUTCOME(read_line(lone, 0x1000, 2), L1_HIT_PENDING);
    struct message request = take(lone);
    CHECK_EQ(request.address, 0x1000u);
    CHECK_EQ(request.kind, MESSAGE_READ);
    CHECK_EQ(request.sectors, 0x0F);
    answer(lone, request);
    CHECK_EQ(lone->woken_count, 0u);
    cycle(lone);
    CHECK_OUTCOME(read_line(lone, 0x1000, 3), L1_HIT);
    cycles(lone, 5);
    CHECK_EQ(lone->woken_count, 2u);
    CHECK(!port_peek(&lone->to_network, lone->now));
    CHECK_EQ(count(lone, "l1.read_misses"), 1u);
    CHECK_EQ(count(lone, "l1.read_pending"), 1u);
    CHECK_EQ(count(lone, "l1.read_hits"), 1u);
    CHECK_EQ(count(lone, "l1.fills"), 1u);
    lone_l1_destroy(lone);
}

CLAIM("a read that misses asks for its whole line, whatever it needs of it") {
    static const struct {
        const char *line;
        uint8_t sectors;
    } cases[] = {{"gpu.line_bytes=64", 0x03}, {"gpu.line_bytes=128", 0x0F}, {"gpu.line_bytes=256", 0xFF}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct lone_l1 *lone = lone_l1(SETTINGS(cases[i].line));
        cycle(lone);
        access_by(lone, (struct l1_request){.address = 0x1000, .kind = MESSAGE_READ, .sectors = 0x01});
        cycle(lone);
        CHECK_EQ(take(lone).sectors, cases[i].sectors);
        lone_l1_destroy(lone);
    }
}

CLAIM("the waiters of a line are woken one in a cycle, in order, and its MSHR is free after the last") {
    struct lone_l1 *lone = lone_l1(SETTINGS("l1.mshrs=1", "l1.mshr_merges=4"));
    cycle(lone);
    for (uint32_t token = 10; token < 14; token++) read_line(lone, 0x1000, token);
    cycle(lone);
    answer(lone, take(lone));
    for (unsigned i = 0; i < 3; i++) {
        cycle(lone);
        CHECK_EQ(lone->woken_count, i + 1);
        CHECK_OUTCOME(read_line(lone, 0x2000, 99), L1_NO_MSHR);
    }
    cycle(lone);
    CHECK_EQ(lone->woken_count, 4u);
    for (unsigned i = 0; i < 4; i++) CHECK_EQ(lone->woken[i], 10 + i);
    CHECK_OUTCOME(read_line(lone, 0x2000, 99), L1_MISS);
    settle(lone);
    lone_l1_destroy(lone);
}

CLAIM("with every MSHR in use a further line is refused, but not a line that is there or on its way") {
    struct lone_l1 *lone = lone_l1(SETTINGS("l1.mshrs=2", "l1.miss_queue=8"));
    cycle(lone);
    read_line(lone, 0x5000, 0);
    settle(lone);
    CHECK_OUTCOME(read_line(lone, 0x1000, 1), L1_MISS);
    CHECK_OUTCOME(read_line(lone, 0x2000, 2), L1_MISS);
    CHECK_OUTCOME(read_line(lone, 0x3000, 3), L1_NO_MSHR);
    CHECK_OUTCOME(read_line(lone, 0x5000, 4), L1_HIT);
    CHECK_OUTCOME(read_line(lone, 0x2000, 5), L1_HIT_PENDING);
    CHECK_OUTCOME(write_line(lone, 0x3000, 6), L1_SENT);
    settle(lone);
    CHECK_OUTCOME(read_line(lone, 0x3000, 3), L1_MISS);
    CHECK_EQ(count(lone, "l1.mshrs_peak"), 2u);
    settle(lone);
    lone_l1_destroy(lone);
}

CLAIM("a line takes as many waiters as the limit says, the first included") {
    struct lone_l1 *lone = lone_l1(SETTINGS("l1.mshr_merges=2"));
    cycle(lone);
    CHECK_OUTCOME(read_line(lone, 0x1000, 1), L1_MISS);
    CHECK_OUTCOME(read_line(lone, 0x1000, 2), L1_HIT_PENDING);
    CHECK_OUTCOME(read_line(lone, 0x1000, 3), L1_NO_MERGE);
    CHECK_OUTCOME(read_line(lone, 0x2000, 4), L1_MISS);
    settle(lone);
    CHECK_OUTCOME(read_line(lone, 0x1000, 3), L1_HIT);
    lone_l1_destroy(lone);
}

CLAIM("a set whose lines are all on their way takes no other line") {
    struct lone_l1 *lone = lone_l1(SETTINGS("l1.size_kb=1", "l1.ways=2")); /* four sets */
    cycle(lone);
    CHECK_OUTCOME(read_line(lone, 0x0000, 1), L1_MISS);
    CHECK_OUTCOME(read_line(lone, 0x0200, 2), L1_MISS);
    CHECK_OUTCOME(read_line(lone, 0x0400, 3), L1_NO_LINE);
    CHECK_OUTCOME(read_line(lone, 0x0480, 4), L1_MISS); /* of another set */
    settle(lone);
    CHECK_OUTCOME(read_line(lone, 0x0400, 3), L1_MISS);
    settle(lone);
    CHECK_OUTCOME(read_line(lone, 0x0000, 5), L1_MISS); /* the least recently used one had to go */
    CHECK_EQ(count(lone, "l1.evictions"), 2u);
    settle(lone);
    lone_l1_destroy(lone);
}

CLAIM("a full miss queue refuses reads that miss and writes, and names the network if that takes nothing") {
    struct lone_l1 *lone = lone_l1(SETTINGS("l1.miss_queue=1"));
    cycle(lone);
    CHECK_OUTCOME(read_line(lone, 0x1000, 1), L1_MISS); /* sent at once */
    CHECK_OUTCOME(read_line(lone, 0x2000, 2), L1_MISS); /* queued: one request leaves in a cycle */
    CHECK_OUTCOME(read_line(lone, 0x3000, 3), L1_NO_QUEUE);
    CHECK_OUTCOME(write_line(lone, 0x3000, 3), L1_NO_QUEUE);
    CHECK_OUTCOME(read_line(lone, 0x1000, 4), L1_HIT_PENDING); /* needs no request */
    cycle(lone); /* the second leaves, and the network's two places are taken */
    CHECK_OUTCOME(read_line(lone, 0x4000, 5), L1_MISS);
    CHECK_OUTCOME(read_line(lone, 0x5000, 6), L1_NO_NETWORK);
    CHECK_OUTCOME(write_line(lone, 0x5000, 6), L1_NO_NETWORK);
    cycles(lone, 10);
    CHECK_OUTCOME(read_line(lone, 0x5000, 6), L1_NO_NETWORK);
    take(lone);
    CHECK_OUTCOME(read_line(lone, 0x5000, 6), L1_NO_NETWORK);
    cycle(lone); /* the credit is back */
    CHECK_OUTCOME(read_line(lone, 0x5000, 6), L1_MISS);
    lone_l1_destroy(lone);
}

CLAIM("a refused access has changed nothing: it counts nowhere and can be made again") {
    struct lone_l1 *lone = lone_l1(SETTINGS("l1.mshrs=1"));
    cycle(lone);
    read_line(lone, 0x1000, 1);
    for (unsigned i = 0; i < 50; i++) {
        cycle(lone);
        CHECK_OUTCOME(read_line(lone, 0x2000, 2), L1_NO_MSHR);
    }
    CHECK_EQ(count(lone, "l1.read_misses"), 1u);
    CHECK_EQ(count(lone, "l1.requests"), 1u);
    settle(lone);
    CHECK_OUTCOME(read_line(lone, 0x2000, 2), L1_MISS);
    settle(lone);
    CHECK_EQ(lone->woken_count, 2u);
    lone_l1_destroy(lone);
}

CLAIM("requests leave in the order in which they were accepted, one in a cycle") {
    struct lone_l1 *lone = lone_l1(NO_SETTINGS);
    cycle(lone);
    for (uint32_t i = 0; i < 6; i++) read_line(lone, 0x1080 * (i + 1), i);
    for (uint32_t i = 0; i < 6; i++) {
        cycle(lone);
        CHECK_EQ(take(lone).address, 0x1080u * (i + 1));
        CHECK(!port_peek(&lone->to_network, lone->now));
    }
    lone_l1_destroy(lone);
}

CLAIM("a global write goes through, drops the line it hits and allocates none") {
    struct lone_l1 *lone = lone_l1(NO_SETTINGS);
    cycle(lone);
    read_line(lone, 0x1000, 1);
    settle(lone);
    CHECK_OUTCOME(read_line(lone, 0x1000, 2), L1_HIT);
    CHECK_OUTCOME(
        access_by(lone,
                  (struct l1_request){
                      .address = 0x1000, .token = 3, .kind = MESSAGE_WRITE, .sectors = 0x06, .flags = MESSAGE_PARTIAL}),
        L1_SENT);
    cycle(lone);
    struct message write = take(lone);
    CHECK_EQ(write.kind, MESSAGE_WRITE);
    CHECK_EQ(write.sectors, 0x06);
    CHECK_EQ(write.flags, MESSAGE_PARTIAL);
    answer(lone, write);
    CHECK_OUTCOME(read_line(lone, 0x1000, 4), L1_MISS);
    settle(lone);
    CHECK_EQ(lone->woken[1], 3u); /* acknowledged */
    CHECK_OUTCOME(write_line(lone, 0x2000, 5), L1_SENT);
    settle(lone);
    CHECK_OUTCOME(read_line(lone, 0x2000, 6), L1_MISS);
    CHECK_EQ(count(lone, "l1.write_hits"), 1u);
    CHECK_EQ(count(lone, "l1.write_misses"), 1u);
    settle(lone);
    lone_l1_destroy(lone);
}

CLAIM("a write to a line that is on its way leaves it alone") {
    struct lone_l1 *lone = lone_l1(NO_SETTINGS);
    cycle(lone);
    CHECK_OUTCOME(read_line(lone, 0x1000, 1), L1_MISS);
    CHECK_OUTCOME(write_line(lone, 0x1000, 2), L1_SENT);
    settle(lone);
    CHECK_EQ(lone->woken_count, 2u);
    CHECK_EQ(count(lone, "l1.write_misses"), 1u);
    lone_l1_destroy(lone);
}

CLAIM("a local write stays in the line that it hits, which is written back when it is replaced") {
    struct lone_l1 *lone = lone_l1(SETTINGS("l1.size_kb=1", "l1.ways=2"));
    cycle(lone);
    read_line(lone, 0x0000, 1);
    read_line(lone, 0x0200, 2);
    settle(lone);
    uint64_t sent = count(lone, "l1.requests");
    CHECK_OUTCOME(write_local(lone, 0x0000, 0x01), L1_HIT);
    CHECK_OUTCOME(write_local(lone, 0x0000, 0x04), L1_HIT);
    CHECK_OUTCOME(read_line(lone, 0x0000, 3), L1_HIT);
    CHECK_EQ(count(lone, "l1.requests"), sent);
    read_line(lone, 0x0400, 4); /* replaces 0x0200, which is as memory has it */
    settle(lone);
    CHECK_EQ(count(lone, "l1.write_backs"), 0u);
    struct l1_request marked = {
        .address = 0x0600, .token = 5, .kind = MESSAGE_READ, .flags = MESSAGE_READ_ONLY, .conflicts = 3};
    CHECK_OUTCOME(access_by(lone, marked), L1_MISS); /* replaces 0x0000 */
    CHECK_EQ(count(lone, "l1.write_backs"), 1u);
    cycle(lone);
    struct message back = take(lone);
    CHECK_EQ(back.kind, MESSAGE_WRITE);
    CHECK_EQ(back.address, 0x0000u);
    CHECK_EQ(back.sectors, 0x05);
    CHECK_EQ(back.flags, 0); /* what marks the read does not mark it */
    answer(lone, back);
    cycle(lone);
    struct message fetch = take(lone);
    CHECK_EQ(fetch.kind, MESSAGE_READ);
    CHECK_EQ(fetch.address, 0x0600u);
    answer(lone, fetch);
    unsigned woken = lone->woken_count;
    settle(lone);
    CHECK_EQ(lone->woken_count, woken + 1); /* nobody waits for the write-back's acknowledgement */
    lone_l1_destroy(lone);
}

CLAIM("a local write that misses goes past the cache") {
    struct lone_l1 *lone = lone_l1(NO_SETTINGS);
    cycle(lone);
    CHECK_OUTCOME(write_local(lone, 0x1000, 0x01), L1_SENT);
    CHECK_EQ(count(lone, "l1.write_misses"), 1u);
    settle(lone);
    lone_l1_destroy(lone);
}

CLAIM("a read past the cache asks for its sectors only, and neither looks at the cache nor fills it") {
    struct lone_l1 *lone = lone_l1(NO_SETTINGS);
    cycle(lone);
    read_line(lone, 0x1000, 1);
    settle(lone);
    struct l1_request past = {.address = 0x1000, .token = 2, .kind = MESSAGE_READ, .sectors = 0x02, .bypass = true};
    CHECK_OUTCOME(access_by(lone, past), L1_BYPASS);
    cycle(lone);
    struct message request = take(lone);
    CHECK_EQ(request.sectors, 0x02);
    answer(lone, request);
    settle(lone);
    CHECK_EQ(lone->woken[1], 2u);
    past.address = 0x2000;
    CHECK_OUTCOME(access_by(lone, past), L1_BYPASS);
    settle(lone);
    CHECK_OUTCOME(read_line(lone, 0x2000, 3), L1_MISS);
    CHECK_EQ(count(lone, "l1.read_bypasses"), 2u);
    settle(lone);
    lone_l1_destroy(lone);
}

CLAIM("accesses past the cache may be many at once, and each reply finds its own") {
    struct lone_l1 *lone = lone_l1(SETTINGS("l1.miss_queue=1024"));
    struct message request[150];
    cycle(lone);
    for (uint32_t i = 0; i < 150; i++)
        CHECK_OUTCOME(
            access_by(lone,
                      (struct l1_request){
                          .address = 128 * i, .token = 1000 + i, .kind = MESSAGE_ATOMIC, .sectors = 1, .bypass = true}),
            L1_SENT);
    for (uint32_t i = 0; i < 150; i++) {
        cycle(lone);
        request[i] = take(lone);
    }
    for (uint32_t i = 0; i < 150; i++) answer(lone, request[149 - i]);
    cycles(lone, 151);
    CHECK_EQ(lone->woken_count, 150u);
    for (uint32_t i = 0; i < 150; i++) CHECK_EQ(lone->woken[i], 1000 + 149 - i);
    CHECK_EQ(count(lone, "l1.atomics"), 150u);
    CHECK(!lone->l1->ops->busy(lone->l1, 0));
    lone_l1_destroy(lone);
}

CLAIM("a flush forgets every line") {
    struct lone_l1 *lone = lone_l1(NO_SETTINGS);
    cycle(lone);
    for (uint32_t i = 0; i < 5; i++) read_line(lone, 0x1080 * i, i);
    settle(lone);
    lone->l1->ops->flush(lone->l1, 0);
    for (uint32_t i = 0; i < 5; i++) CHECK_OUTCOME(read_line(lone, 0x1080 * i, i), L1_MISS);
    CHECK_EQ(count(lone, "l1.flushes"), 1u);
    settle(lone);
    lone_l1_destroy(lone);
}

CLAIM("a line of one program is not a hit for another") {
    struct lone_l1 *lone = lone_l1(NO_SETTINGS);
    cycle(lone);
    read_line(lone, 0x1000, 1);
    settle(lone);
    CHECK_OUTCOME(access_by(lone, (struct l1_request){.address = 0x1000, .kind = MESSAGE_READ, .program = 1}), L1_MISS);
    settle(lone);
    lone_l1_destroy(lone);
}

CLAIM("an L1 is busy until everything it asked for has come, and says what it waits for") {
    struct lone_l1 *lone = lone_l1(NO_SETTINGS);
    cycle(lone);
    CHECK(!lone->l1->ops->busy(lone->l1, 0));
    read_line(lone, 0x1000, 1);
    write_line(lone, 0x2000, 2);
    CHECK(lone->l1->ops->busy(lone->l1, 0));
    char *told;
    size_t size;
    FILE *out = open_memstream(&told, &size);
    lone->l1->ops->explain(lone->l1, 0, out);
    fclose(out);
    CHECK_TEXT(told, "1 lines and 1 accesses past it");
    free(told);
    settle(lone);
    CHECK_EQ(count(lone, "l1.requests"), 2u);
    CHECK_EQ(count(lone, "l1.replies"), 2u);
    lone_l1_destroy(lone);
}

CLAIM("an L1 holds as many lines as its size says, in sets that need be no power of two") {
    static const struct {
        const char *size, *ways;
        unsigned lines;
    } cases[] = {
        {"l1.size_kb=48", "l1.ways=6", 384}, {"l1.size_kb=12", "l1.ways=4", 96}, {"l1.size_kb=16", "l1.ways=128", 128}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct lone_l1 *lone = lone_l1(SETTINGS(cases[i].size, cases[i].ways, "l1.mshrs=1000", "l1.miss_queue=1000"));
        for (unsigned pass = 0; pass < 2; pass++)
            for (unsigned line = 0; line < cases[i].lines; line++) {
                lone->woken_count = 0;
                CHECK_OUTCOME(read_line(lone, 128 * line, 0), pass == 0 ? L1_MISS : L1_HIT);
                cycle(lone);
                while (port_peek(&lone->to_network, lone->now)) answer(lone, take(lone));
                cycle(lone);
            }
        settle(lone);
        lone_l1_destroy(lone);
    }
}

CLAIM("with one place for everything, modified lines are replaced all the same") {
    struct step steps[24];
    for (unsigned i = 0; i < 8; i++) {
        steps[3 * i] = load_local(1, 0x400 * i);
        steps[3 * i + 1] = store_local(1, 0x400 * i);
        steps[3 * i + 2] = load_line(2, 0x10000 + 0x400 * i);
    }
    struct script_source source = script_make(1, 2, SCRIPT(steps));
    struct stand *stand = stand_make(SETTINGS("l1.size_kb=1", "l1.ways=1", "l1.mshrs=1", "l1.mshr_merges=1",
                                              "l1.miss_queue=1", "sm.lsu_queue=1", "sm.loads_in_flight=1"));
    stand_run(stand, &source);
    CHECK_EQ(stand_count(stand, "sm.warp_instructions"), 50u);
    CHECK(stand_count(stand, "l1.write_backs") > 0);
    stand_destroy(stand);
}

CLAIM("a second kernel finds nothing in the L1 if that is flushed at a kernel's end, and else everything") {
    struct step steps[] = {load_line(1, 0x1000), load_line(2, 0x2000)};
    for (unsigned flush = 0; flush < 2; flush++) {
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        source.kernels = 3;
        struct stand *stand = stand_make(NO_SETTINGS);
        stand->flush = flush;
        stand_run(stand, &source);
        CHECK_EQ(stand_count(stand, "l1.read_misses"), flush ? 6u : 2u);
        CHECK_EQ(stand_count(stand, "l1.read_hits"), flush ? 0u : 4u);
        stand_destroy(stand);
    }
}
