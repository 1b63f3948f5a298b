/* Nodes of groups without cooperation: latencies, reservation failures, commands of the control plane. */
#include "test.h"

#include <string.h>

#include "l1/groups_fixture.h"

#define CLUSTERED "l1.organisation=clustered"

enum { LINE = 128, X = 0, Y = 100 * LINE, ANY_SM = 1 };

TEST("the latency of a read is that of request crossbar, node and reply crossbar, for a miss and a hit") {
    enum { REQUEST = 2, MISS = 101, HIT = 20, REPLY = 6 /* five flits */ };
    struct groups_fixture *groups = groups_fixture_create(SETTINGS(CLUSTERED, "l1.latency_cycles=20"));
    steps(groups, 10);
    for (unsigned i = 0; i < 3; i++, finish(groups)) read_by(groups, 0, X);
    CHECK_EQ(COUNTER(groups, "l1.read_misses"), 1u);
    CHECK_EQ(COUNTER(groups, "l1.read_hits"), 2u);
    CHECK_EQ(COUNTER(groups, "l1.latency.reads"), 3u);
    CHECK_EQ(COUNTER(groups, "l1.latency.request_cycles"), 3u * REQUEST);
    CHECK_EQ(COUNTER(groups, "l1.latency.node_cycles"), 2u * HIT + MISS);
    CHECK_EQ(COUNTER(groups, "l1.latency.reply_cycles"), 3u * REPLY);
    write_by(groups, 0, X); /* writes and reads that bypass the L1 are not counted */
    REQUIRE(access_by_sm(groups, 1, (struct l1_request){.address = Y, .kind = MESSAGE_READ, .bypass = true}));
    finish(groups);
    CHECK_EQ(COUNTER(groups, "l1.latency.reads"), 3u);
    groups_fixture_destroy(groups);
}

TEST("cycles in which the head of a node's queue has a reservation failure are counted, each time") {
    struct groups_fixture *groups = groups_fixture_create(SETTINGS(CLUSTERED, "l1.mshrs=1"));
    for (unsigned i = 0; i < 2; i++) {
        read_by(groups, 0, (2 * i) * LINE);
        step(groups);
        REQUIRE(request_by(groups, ANY_SM, (2 * i + 1) * LINE, MESSAGE_READ));
        finish(groups);
    }
    uint64_t waited = COUNTER(groups, "l1.latency.request_cycles") - 4 * 2;
    CHECK(waited > 2 * 90);
    CHECK_EQ(COUNTER(groups, "l1.reservation_fail.mshr"), waited);
    CHECK_EQ(COUNTER(groups, "l1.reservation_fail.mshr_merge"), 0u);
    groups_fixture_destroy(groups);
}

TEST("an SM is busy until its accesses are answered, and SM and node say how many are outstanding") {
    struct groups_fixture *groups = groups_fixture_create(SETTINGS(CLUSTERED));
    CHECK(!groups->l1->ops->busy(groups->l1, ANY_SM));
    for (unsigned i = 0; i < 3; i++, step(groups)) REQUIRE(request_by(groups, ANY_SM, i * LINE, MESSAGE_READ));
    steps(groups, 10);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CHECK(groups->l1->ops->busy(groups->l1, ANY_SM));
    CHECK(!groups->l1->ops->busy(groups->l1, 0));
    groups->l1->ops->explain(groups->l1, 0, out);
    groups->l1->ops->explain(groups->l1, ANY_SM, out);
    engine_explain(groups->base.engine, out);
    fclose(out);
    CHECK_TEXT(text, "  3 accesses outstanding at the L1s of the group");
    CHECK_TEXT(text, "l1 node 0: 3 accesses outstanding");
    CHECK_TEXT(text, "3 MSHRs in use, 0 bypassing accesses outstanding, 0 requests in the miss queue");
    CHECK(!strstr(text, "l1 node 1"));
    CHECK(!strstr(text, "  0 accesses"));
    free(text);
    finish(groups);
    CHECK(!groups->l1->ops->busy(groups->l1, ANY_SM));
    groups_fixture_destroy(groups);
}

TEST("an SM with a full injection queue is woken by the credit that makes an access possible") {
    struct groups_fixture *groups =
        groups_fixture_create(SETTINGS(CLUSTERED, "group.injection_packets=1", "group.request_queue=1", "l1.mshrs=1"));
    unsigned accepted = 0, retries = 0;
    for (unsigned i = 0; i < 20; i++) {
        if (request_by(groups, ANY_SM, i * LINE, MESSAGE_READ)) {
            accepted++;
            continue;
        }
        uint32_t changes = groups->l1->gate[ANY_SM].changes;
        for (unsigned c = 0; c < 500 && groups->l1->gate[ANY_SM].changes == changes; c++) {
            step(groups);
            if (groups->l1->gate[ANY_SM].changes == changes) retries += 1;
        }
        CHECK_EQ(groups->l1->gate[ANY_SM].changes, changes + 1);
        REQUIRE(request_by(groups, ANY_SM, i * LINE, MESSAGE_READ));
        accepted++;
    }
    CHECK_EQ(accepted, 20u);
    CHECK(retries > 1000);
    finish(groups);
    step(groups);
    CHECK_EQ(groups->l1->gate[ANY_SM].open_at, NEVER);
    groups_fixture_destroy(groups);
}

TEST("a node whose reply queue is full stalls and loses nothing, at every hit latency") {
    static const char *const latencies[] = {"l1.latency_cycles=1", "l1.latency_cycles=2", "l1.latency_cycles=30"};
    for (unsigned i = 0; i < COUNT_OF(latencies); i++) {
        struct groups_fixture *groups =
            groups_fixture_create(SETTINGS(CLUSTERED, latencies[i], "group.reply_queue=1", "group.request_queue=2"));
        read_by(groups, 0, X);
        finish(groups);
        unsigned made = 0;
        for (unsigned c = 0; c < 400; c++, step(groups))
            for (unsigned sm = 0; sm < GROUP_SMS; sm++) made += request_by(groups, sm, X, MESSAGE_READ);
        finish(groups);
        CHECK_EQ(COUNTER(groups, "l1.latency.reads"), made + 1);
        CHECK_EQ(COUNTER(groups, "l1.read_hits"), made);
        CHECK(made >= 80 && made <= 80 + 64); /* a reply has five flits; queues and pipeline hold some more */
        groups_fixture_destroy(groups);
    }
}

TEST("a node whose reply queue is full still fills lines, and wakes their waiters once it has space") {
    static const char *const insertions[] = {"l1.insertion=always", "l1.insertion=mrpb"};
    enum { MISSES = 4 };
    for (unsigned i = 0; i < COUNT_OF(insertions); i++) {
        struct groups_fixture *groups =
            groups_fixture_create(SETTINGS(CLUSTERED, insertions[i], "group.reply_queue=1", "group.request_queue=2"));
        read_by(groups, 0, X);
        finish(groups);
        groups->llc_cycles = NEVER;
        for (unsigned miss = 1; miss <= MISSES; miss++, steps(groups, 10))
            REQUIRE(request_by(groups, ANY_SM, miss * LINE, MESSAGE_READ));
        REQUIRE(request_by(groups, ANY_SM, Y, MESSAGE_WRITE));
        steps(groups, 20);
        REQUIRE(groups->asked_count == 1 + MISSES + 1);
        groups->deaf = true;
        for (unsigned c = 0; c < 200; c++, step(groups))
            for (unsigned sm = 2; sm < GROUP_SMS; sm++) request_by(groups, sm, X, MESSAGE_READ);
        for (unsigned miss = 1; miss <= MISSES; miss++) llc_answer(groups, groups->asked[miss], 1);
        llc_answer(groups, groups->asked[1 + MISSES], 1);
        steps(groups, 50);
        CHECK_EQ(COUNTER(groups, "l1.fills"), 1u + MISSES);
        CHECK(port_peek(&groups->from_network[0], groups->now) != NULL); /* the acknowledgement waits for Q4 */
        groups->deaf = false;
        finish(groups);
        CHECK(!port_peek(&groups->from_network[0], groups->now));
        groups_fixture_destroy(groups);
    }
}

static bool reported(struct groups_fixture *groups, unsigned node, enum l1_report_kind kind) {
    const struct l1_report *report = port_peek(&groups->reports[node], groups->now);
    if (!report) return false;
    bool right = report->kind == kind;
    port_pop(&groups->reports[node], groups->now);
    return right;
}

TEST("a node invalidates its lines by command, and reports that it has done so") {
    struct groups_fixture *groups = groups_fixture_create(SETTINGS(CLUSTERED));
    struct l1_command flush = {.kind = L1_COMMAND_FLUSH};
    for (unsigned group = 0; group < 2; group++) read_by(groups, group, X);
    finish(groups);
    port_push(&groups->commands[1], groups->now, &flush, sizeof flush);
    steps(groups, 3);
    CHECK(reported(groups, 1, L1_REPORT_FLUSHED));
    CHECK(!reported(groups, 0, L1_REPORT_FLUSHED));
    for (unsigned group = 0; group < 2; group++) read_by(groups, group, X);
    finish(groups);
    CHECK_EQ(count_of_node(groups, "l1.read_hits", 0), 1u);
    CHECK_EQ(count_of_node(groups, "l1.read_misses", 1), 2u);
    groups_fixture_destroy(groups);
}

TEST("a node reports that nothing is in flight, and not before") {
    struct groups_fixture *groups = groups_fixture_create(SETTINGS(CLUSTERED));
    struct l1_command ask = {.kind = L1_COMMAND_REPORT};
    port_push(&groups->commands[0], groups->now, &ask, sizeof ask);
    steps(groups, 3);
    CHECK(reported(groups, 0, L1_REPORT_QUIET));
    read_by(groups, 0, X);
    steps(groups, 10);
    port_push(&groups->commands[0], groups->now, &ask, sizeof ask);
    steps(groups, 50);
    CHECK(!reported(groups, 0, L1_REPORT_QUIET));
    finish(groups);
    CHECK(reported(groups, 0, L1_REPORT_QUIET));
    read_by(groups, 0, Y);
    finish(groups);
    CHECK(!reported(groups, 0, L1_REPORT_QUIET)); /* once */
    groups_fixture_destroy(groups);
}

TEST("a node accepts as many hits as its pipeline and its reply queue hold, and no more") {
    enum { LATENCY = 6, REPLY_QUEUE = 3, AT_SM = 4 /* group.injection_packets */ };
    struct groups_fixture *groups =
        groups_fixture_create(SETTINGS(CLUSTERED, "l1.latency_cycles=6", "group.reply_queue=3"));
    read_by(groups, 0, X);
    finish(groups);
    groups->deaf = true;
    for (unsigned i = 0; i < 200; i++, step(groups)) request_by(groups, 0, X, MESSAGE_READ);
    CHECK_EQ(COUNTER(groups, "l1.read_hits"), (uint64_t)AT_SM + REPLY_QUEUE + LATENCY);
    groups->deaf = false;
    finish(groups);
    groups_fixture_destroy(groups);
}

TEST("the nodes of a group hold together what each of them holds, also if their number is no power of two") {
    static const char *const nodes[] = {"group.nodes=1", "group.nodes=2", "group.nodes=3", "group.nodes=4"};
    for (unsigned n = 0; n < COUNT_OF(nodes); n++) {
        struct groups_fixture *groups = groups_fixture_create(
            SETTINGS(CLUSTERED, "group.count=1", "gpu.clusters=1", nodes[n], "l1.size_kb=1", "l1.ways=1"));
        unsigned lines = 8 * (n + 1);
        groups->llc_cycles = 10;
        for (unsigned i = 0; i < 2 * lines; i++, finish(groups)) read_by(groups, 0, i % lines * LINE);
        CHECK_EQ(COUNTER(groups, "l1.read_misses"), lines);
        CHECK_EQ(COUNTER(groups, "l1.read_hits"), lines);
        for (unsigned node = 0; node <= n; node++) CHECK_EQ(count_of_node(groups, "l1.read_hits", node), 8u);
        groups_fixture_destroy(groups);
    }
}

TEST("a request names the cluster of its node, the instruction, and what else the LLC needs") {
    struct groups_fixture *groups = groups_fixture_create(SETTINGS(CLUSTERED));
    for (unsigned group = 0; group < GROUPS; group++) {
        struct l1_request request = {
            .address = group * LINE, .kind = MESSAGE_READ, .instr = 70 + group, .flags = MESSAGE_READ_ONLY};
        REQUIRE(access_by_sm(groups, group * GROUP_SMS, request));
        finish(groups);
        const struct message *message = &groups->asked[group];
        CHECK_EQ(message->source, group);
        CHECK_EQ(message->cluster, group);
        CHECK_EQ(message->instr, 70 + group);
        CHECK_EQ(message->flags, (int)MESSAGE_READ_ONLY);
        CHECK_EQ(message->sectors, 0x0F);
    }
    groups_fixture_destroy(groups);
}

TEST("clustered L1s whose insertion policy cannot be created are not created either") {
    struct fixture base;
    struct error err = {0};
    fixture_init(&base, SETTINGS("sm.count=4", "gpu.clusters=2", "dram.mcs=1", CLUSTERED),
                 SETTINGS("l1.insertion=profiled", "l1.profiled.profile=/no/such/profile"));
    unsigned component[4];
    for (unsigned i = 0; i < 4; i++) component[i] = add_neighbour(base.engine, i);
    struct l1_context context = {.config = base.config,
                                 .engine = base.engine,
                                 .stats = base.stats,
                                 .llc = base.llc,
                                 .sms = 4,
                                 .clusters = 2,
                                 .sm_component = component};
    CHECK(l1_create(&context, &err) == NULL);
    CHECK_TEXT(err.text, "/no/such/profile");
    fixture_release(&base);
}
