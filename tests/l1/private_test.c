#include "test.h"

#include "base/random.h"
#include "l1/l1_fixture.h"
#include "sm/sm_fixture.h"

TEST("a read misses, further reads of its line are pending hits, and reads after the fill hit") {
    struct l1_fixture *l1 = l1_fixture_create(NO_SETTINGS);
    cycle(l1);
    CHECK_OUTCOME(read_line(l1, 0x1000, 1), L1_MISS);
    cycle(l1);
    CHECK_OUTCOME(read_line(l1, 0x1000, 2), L1_PENDING_HIT);
    struct message request = take(l1);
    CHECK_EQ(request.address, 0x1000u);
    CHECK_EQ(request.kind, MESSAGE_READ);
    CHECK_EQ(request.sectors, 0x0F);
    answer(l1, request);
    CHECK_EQ(l1->woken_count, 0u);
    cycle(l1);
    CHECK_OUTCOME(read_line(l1, 0x1000, 3), L1_HIT);
    cycles(l1, 5);
    CHECK_EQ(l1->woken_count, 2u);
    CHECK(!port_peek(&l1->to_network, l1->now));
    CHECK_EQ(COUNTER(l1, "l1.read_misses"), 1u);
    CHECK_EQ(COUNTER(l1, "l1.read_pending_hits"), 1u);
    CHECK_EQ(COUNTER(l1, "l1.read_hits"), 1u);
    CHECK_EQ(COUNTER(l1, "l1.fills"), 1u);
    l1_fixture_destroy(l1);
}

TEST("a read miss requests its whole line, whatever sectors it needs") {
    static const struct {
        const char *line;
        uint8_t sectors;
    } cases[] = {{"gpu.line_bytes=64", 0x03}, {"gpu.line_bytes=128", 0x0F}, {"gpu.line_bytes=256", 0xFF}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct l1_fixture *l1 = l1_fixture_create(SETTINGS(cases[i].line));
        cycle(l1);
        access_by(l1, (struct l1_request){.address = 0x1000, .kind = MESSAGE_READ, .sectors = 0x01});
        cycle(l1);
        CHECK_EQ(take(l1).sectors, cases[i].sectors);
        l1_fixture_destroy(l1);
    }
}

TEST("merged reads of a line complete one per cycle, in order, and its MSHR is free after the last") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.mshrs=1", "l1.mshr_merges=4"));
    cycle(l1);
    for (uint32_t token = 10; token < 14; token++) read_line(l1, 0x1000, token);
    cycle(l1);
    answer(l1, take(l1));
    for (unsigned i = 0; i < 3; i++) {
        cycle(l1);
        CHECK_EQ(l1->woken_count, i + 1);
        CHECK_OUTCOME(read_line(l1, 0x2000, 99), L1_FAIL_MSHR);
    }
    cycle(l1);
    CHECK_EQ(l1->woken_count, 4u);
    for (unsigned i = 0; i < 4; i++) CHECK_EQ(l1->woken[i], 10 + i);
    CHECK_OUTCOME(read_line(l1, 0x2000, 99), L1_MISS);
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("with every MSHR in use a miss has a reservation failure, but no hit or pending hit has") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.mshrs=2", "l1.miss_queue=8"));
    cycle(l1);
    read_line(l1, 0x5000, 0);
    settle(l1);
    CHECK_OUTCOME(read_line(l1, 0x1000, 1), L1_MISS);
    CHECK_OUTCOME(read_line(l1, 0x2000, 2), L1_MISS);
    CHECK_OUTCOME(read_line(l1, 0x3000, 3), L1_FAIL_MSHR);
    CHECK_OUTCOME(read_line(l1, 0x5000, 4), L1_HIT);
    CHECK_OUTCOME(read_line(l1, 0x2000, 5), L1_PENDING_HIT);
    CHECK_OUTCOME(write_line(l1, 0x3000, 6), L1_SENT);
    settle(l1);
    CHECK_OUTCOME(read_line(l1, 0x3000, 3), L1_MISS);
    CHECK_EQ(COUNTER(l1, "l1.mshrs_peak"), 2u);
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("an MSHR merges as many reads as the limit, the first included") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.mshr_merges=2"));
    cycle(l1);
    CHECK_OUTCOME(read_line(l1, 0x1000, 1), L1_MISS);
    CHECK_OUTCOME(read_line(l1, 0x1000, 2), L1_PENDING_HIT);
    CHECK_OUTCOME(read_line(l1, 0x1000, 3), L1_FAIL_MSHR_MERGE);
    CHECK_OUTCOME(read_line(l1, 0x2000, 4), L1_MISS);
    settle(l1);
    CHECK_OUTCOME(read_line(l1, 0x1000, 3), L1_HIT);
    l1_fixture_destroy(l1);
}

TEST("a miss in a set of reserved lines has a reservation failure") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.size_kb=1", "l1.ways=2")); /* four sets */
    cycle(l1);
    CHECK_OUTCOME(read_line(l1, 0x0000, 1), L1_MISS);
    CHECK_OUTCOME(read_line(l1, 0x0200, 2), L1_MISS);
    CHECK_OUTCOME(read_line(l1, 0x0400, 3), L1_FAIL_LINE);
    CHECK_OUTCOME(read_line(l1, 0x0480, 4), L1_MISS); /* of another set */
    settle(l1);
    CHECK_OUTCOME(read_line(l1, 0x0400, 3), L1_MISS);
    settle(l1);
    CHECK_OUTCOME(read_line(l1, 0x0000, 5), L1_MISS); /* the least recently used line was evicted */
    CHECK_EQ(COUNTER(l1, "l1.evictions"), 2u);
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("a full miss queue fails read misses and writes, and names the network if that accepts nothing") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.miss_queue=1"));
    cycle(l1);
    CHECK_OUTCOME(read_line(l1, 0x1000, 1), L1_MISS); /* sent at once */
    CHECK_OUTCOME(read_line(l1, 0x2000, 2), L1_MISS); /* queued: one request leaves in a cycle */
    CHECK_OUTCOME(read_line(l1, 0x3000, 3), L1_FAIL_MISS_QUEUE);
    CHECK_OUTCOME(write_line(l1, 0x3000, 3), L1_FAIL_MISS_QUEUE);
    CHECK_OUTCOME(read_line(l1, 0x1000, 4), L1_PENDING_HIT); /* needs no request */
    cycle(l1); /* the second leaves, and both entries of the network are in use */
    CHECK_OUTCOME(read_line(l1, 0x4000, 5), L1_MISS);
    CHECK_OUTCOME(read_line(l1, 0x5000, 6), L1_FAIL_NETWORK);
    CHECK_OUTCOME(write_line(l1, 0x5000, 6), L1_FAIL_NETWORK);
    cycles(l1, 10);
    CHECK_OUTCOME(read_line(l1, 0x5000, 6), L1_FAIL_NETWORK);
    take(l1);
    CHECK_OUTCOME(read_line(l1, 0x5000, 6), L1_FAIL_NETWORK);
    cycle(l1); /* the credit is back */
    CHECK_OUTCOME(read_line(l1, 0x5000, 6), L1_MISS);
    l1_fixture_destroy(l1);
}

TEST("an access with a reservation failure changes nothing, is not counted and can be retried") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.mshrs=1"));
    cycle(l1);
    read_line(l1, 0x1000, 1);
    for (unsigned i = 0; i < 50; i++) {
        cycle(l1);
        CHECK_OUTCOME(read_line(l1, 0x2000, 2), L1_FAIL_MSHR);
    }
    CHECK_EQ(COUNTER(l1, "l1.read_misses"), 1u);
    CHECK_EQ(COUNTER(l1, "l1.requests"), 1u);
    settle(l1);
    CHECK_OUTCOME(read_line(l1, 0x2000, 2), L1_MISS);
    settle(l1);
    CHECK_EQ(l1->woken_count, 2u);
    l1_fixture_destroy(l1);
}

TEST("requests leave in the order of their acceptance, one per cycle") {
    struct l1_fixture *l1 = l1_fixture_create(NO_SETTINGS);
    cycle(l1);
    for (uint32_t i = 0; i < 6; i++) read_line(l1, 0x1080 * (i + 1), i);
    for (uint32_t i = 0; i < 6; i++) {
        cycle(l1);
        CHECK_EQ(take(l1).address, 0x1080u * (i + 1));
        CHECK(!port_peek(&l1->to_network, l1->now));
    }
    l1_fixture_destroy(l1);
}

TEST("a global write is written through, invalidates the line on a hit and does not allocate") {
    struct l1_fixture *l1 = l1_fixture_create(NO_SETTINGS);
    cycle(l1);
    read_line(l1, 0x1000, 1);
    settle(l1);
    CHECK_OUTCOME(read_line(l1, 0x1000, 2), L1_HIT);
    CHECK_OUTCOME(
        access_by(l1,
                  (struct l1_request){
                      .address = 0x1000, .token = 3, .kind = MESSAGE_WRITE, .sectors = 0x06, .flags = MESSAGE_PARTIAL}),
        L1_SENT);
    cycle(l1);
    struct message write = take(l1);
    CHECK_EQ(write.kind, MESSAGE_WRITE);
    CHECK_EQ(write.sectors, 0x06);
    CHECK_EQ(write.flags, MESSAGE_PARTIAL);
    answer(l1, write);
    CHECK_OUTCOME(read_line(l1, 0x1000, 4), L1_MISS);
    settle(l1);
    CHECK_EQ(l1->woken[1], 3u); /* acknowledged */
    CHECK_OUTCOME(write_line(l1, 0x2000, 5), L1_SENT);
    settle(l1);
    CHECK_OUTCOME(read_line(l1, 0x2000, 6), L1_MISS);
    CHECK_EQ(COUNTER(l1, "l1.write_hits"), 1u);
    CHECK_EQ(COUNTER(l1, "l1.write_misses"), 1u);
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("a fill overtaken by a store serves its merged reads and is dropped; later reads bypass the L1") {
    static const uint8_t kinds[] = {MESSAGE_WRITE, MESSAGE_ATOMIC};
    for (unsigned i = 0; i < COUNT_OF(kinds); i++) {
        struct l1_fixture *l1 = l1_fixture_create(NO_SETTINGS);
        cycle(l1);
        CHECK_OUTCOME(read_line(l1, 0x1000, 1), L1_MISS);
        CHECK_OUTCOME(read_line(l1, 0x1000, 2), L1_PENDING_HIT);
        CHECK_OUTCOME(access_by(l1, (struct l1_request){.address = 0x1000, .token = 3, .kind = kinds[i]}), L1_SENT);
        CHECK_OUTCOME(read_line(l1, 0x1000, 4), L1_BYPASS);
        cycle(l1);
        answer(l1, take(l1)); /* the line */
        cycle(l1);
        CHECK_EQ(take(l1).kind, kinds[i]); /* the store, and behind it the second read */
        cycle(l1);
        CHECK_EQ(take(l1).kind, MESSAGE_READ);
        cycles(l1, 3);
        CHECK_EQ(l1->woken_count, 2u);
        CHECK_EQ(COUNTER(l1, "l1.fills"), 1u);
        CHECK_EQ(COUNTER(l1, "l1.stale_fills"), 1u);
        CHECK_OUTCOME(read_line(l1, 0x1000, 5), L1_MISS);
        l1_fixture_destroy(l1);
    }
}

TEST("an atomic invalidates the line on a hit") {
    struct l1_fixture *l1 = l1_fixture_create(NO_SETTINGS);
    cycle(l1);
    read_line(l1, 0x1000, 1);
    settle(l1);
    struct l1_request atomic = {.address = 0x1000, .token = 2, .kind = MESSAGE_ATOMIC, .sectors = 1, .bypass = true};
    CHECK_OUTCOME(access_by(l1, atomic), L1_SENT);
    CHECK_OUTCOME(read_line(l1, 0x1000, 3), L1_MISS);
    CHECK_EQ(COUNTER(l1, "l1.atomics"), 1u);
    CHECK_EQ(COUNTER(l1, "l1.write_hits"), 0u);
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("the gate is closed while a request waits for the network, and opens when a credit arrives") {
    struct l1_fixture *l1 = l1_fixture_create(NO_SETTINGS);
    const struct l1_gate *gate = &l1->l1->gate[0];
    for (uint64_t i = 1; i <= 4; i++) { /* two in the port, two in the miss queue */
        cycle(l1);
        CHECK_OUTCOME(read_line(l1, 0x1000 * i, (uint32_t)i), L1_MISS);
        CHECK_EQ(gate->open_at, i == 3 ? l1->now + 1 : NEVER);
    }
    cycles(l1, 5);
    CHECK_EQ(gate->open_at, NEVER);
    CHECK_EQ(take(l1).address, 0x1000u);
    CHECK_EQ(gate->open_at, l1->now + 1);
    cycle(l1); /* sends the third request */
    CHECK_EQ(gate->open_at, NEVER);
    CHECK_EQ(take(l1).address, 0x2000u);
    CHECK_EQ(gate->open_at, l1->now + 1);
    cycle(l1); /* and the fourth */
    CHECK_EQ(gate->open_at, NEVER);
    CHECK_EQ(take(l1).address, 0x3000u);
    cycle(l1);
    CHECK_EQ(take(l1).address, 0x4000u);
    CHECK_EQ(gate->open_at, NEVER);
    l1_fixture_destroy(l1);
}

TEST("with l1.write_back_slot, misses and pending hits need two entries of the miss queue, writes and hits do not") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.miss_queue=2", "l1.write_back_slot=true"));
    cycle(l1);
    read_line(l1, 0x8000, 0);
    settle(l1);
    CHECK_OUTCOME(read_line(l1, 0x1000, 1), L1_MISS); /* sent at once */
    CHECK_OUTCOME(read_line(l1, 0x1000, 2), L1_PENDING_HIT);
    CHECK_OUTCOME(read_line(l1, 0x2000, 3), L1_MISS); /* one entry is free */
    CHECK_OUTCOME(read_line(l1, 0x3000, 4), L1_FAIL_MISS_QUEUE);
    CHECK_OUTCOME(read_line(l1, 0x2000, 5), L1_FAIL_MISS_QUEUE);
    CHECK_OUTCOME(read_line(l1, 0x8000, 6), L1_HIT);
    CHECK_OUTCOME(write_line(l1, 0x4000, 7), L1_SENT); /* none */
    CHECK_OUTCOME(write_line(l1, 0x5000, 8), L1_FAIL_MISS_QUEUE);
    cycle(l1);
    CHECK_OUTCOME(read_line(l1, 0x3000, 4), L1_FAIL_NETWORK);
    settle(l1);
    CHECK_OUTCOME(read_line(l1, 0x3000, 4), L1_MISS);
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("with l1.write_back_slot, a pending hit that waits for the miss queue is retried when its line arrives") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.miss_queue=2", "l1.write_back_slot=true"));
    const struct l1_gate *gate = &l1->l1->gate[0];
    cycle(l1);
    CHECK_OUTCOME(read_line(l1, 0x1000, 1), L1_MISS);
    cycle(l1);
    struct message request = take(l1);
    for (uint64_t i = 2; i <= 4; i++) { /* two in the port, one in the miss queue */
        cycle(l1);
        CHECK_OUTCOME(read_line(l1, 0x1000 * i, (uint32_t)i), L1_MISS);
    }
    cycle(l1);
    struct l1_request again = {.address = 0x1000, .token = 5, .kind = MESSAGE_READ, .sectors = 1};
    CHECK_OUTCOME(l1->l1->ops->foresee(l1->l1, 0, &again), L1_FAIL_NETWORK);
    uint32_t changes = gate->changes;
    cycles(l1, 5);
    CHECK_EQ(gate->changes, changes);
    answer(l1, request);
    cycles(l1, 2);
    CHECK(gate->changes != changes);
    CHECK_OUTCOME(read_line(l1, 0x1000, 5), L1_HIT);
    settle(l1);
    l1_fixture_destroy(l1);
}

static struct l1_request bypass_of(uint64_t address, uint8_t kind) {
    return (struct l1_request){.address = address, .kind = kind, .bypass = true};
}

TEST("with a bypass queue, bypassing reads and atomics do not wait for the miss queue, and the two send in turn") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.miss_queue=3", "l1.bypass_queue=2"));
    cycle(l1);
    CHECK_OUTCOME(read_line(l1, 0x1000, 1), L1_MISS); /* sent at once */
    for (uint64_t i = 2; i <= 4; i++) CHECK_OUTCOME(read_line(l1, 0x1000 * i, (uint32_t)i), L1_MISS);
    CHECK_OUTCOME(read_line(l1, 0x5000, 5), L1_FAIL_MISS_QUEUE);
    CHECK_OUTCOME(write_line(l1, 0x5000, 5), L1_FAIL_MISS_QUEUE);
    CHECK_OUTCOME(access_by(l1, bypass_of(0x6000, MESSAGE_READ)), L1_BYPASS);
    CHECK_OUTCOME(access_by(l1, bypass_of(0x7000, MESSAGE_ATOMIC)), L1_SENT);
    CHECK_OUTCOME(access_by(l1, bypass_of(0x8000, MESSAGE_READ)), L1_FAIL_MISS_QUEUE);
    static const uint64_t order[] = {0x1000, 0x2000, 0x6000, 0x3000, 0x7000, 0x4000};
    for (unsigned i = 0; i < COUNT_OF(order); i++) {
        cycle(l1);
        struct message request = take(l1);
        CHECK_EQ(request.address, order[i]);
        answer(l1, request);
    }
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("an access waits for a store to its line in the other queue, and accesses to other lines do not") {
    static const uint8_t stores[] = {MESSAGE_WRITE, MESSAGE_ATOMIC};
    for (unsigned i = 0; i < COUNT_OF(stores); i++) {
        struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.bypass_queue=8"));
        struct l1_request store = {.address = 0x1000, .kind = stores[i], .sectors = 0x01, .bypass = i == 1};
        struct l1_request read = {.address = 0x1000, .kind = MESSAGE_READ, .sectors = 0x02, .bypass = i == 0};
        struct l1_request other = read;
        other.address = 0x1080;
        cycle(l1);
        CHECK_OUTCOME(read_line(l1, 0x9000, 1), L1_MISS); /* sent at once, so that the store is queued */
        CHECK_OUTCOME(access_by(l1, store), L1_SENT);
        CHECK(access_by(l1, other) < L1_ACCEPTED);
        CHECK_OUTCOME(access_by(l1, read), L1_FAIL_STORE_ORDER);
        uint32_t changes = l1->l1->gate[0].changes;
        for (unsigned j = 0; j < 3; j++) {
            cycle(l1);
            answer(l1, take(l1));
        }
        CHECK(l1->l1->gate[0].changes != changes);
        CHECK(access_by(l1, read) < L1_ACCEPTED);
        settle(l1);
        l1_fixture_destroy(l1);
    }
}

TEST("if packets may overtake each other, an access waits for a store to one of its sectors, and others do not") {
    static const struct {
        uint8_t kind, sectors, first;
        bool bypass, waits;
    } cases[] = {
        {MESSAGE_READ, 0x01, MESSAGE_WRITE, false, true}, /* fetches the line */
        {MESSAGE_READ, 0x02, MESSAGE_WRITE, true, true},   {MESSAGE_READ, 0x01, MESSAGE_WRITE, true, false},
        {MESSAGE_WRITE, 0x06, MESSAGE_WRITE, false, true}, {MESSAGE_WRITE, 0x09, MESSAGE_WRITE, false, false},
        {MESSAGE_ATOMIC, 0x02, MESSAGE_WRITE, true, true}, {MESSAGE_ATOMIC, 0x02, MESSAGE_ATOMIC, true, false},
        {MESSAGE_READ, 0x02, MESSAGE_ATOMIC, true, true},  {MESSAGE_WRITE, 0x02, MESSAGE_ATOMIC, false, true},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++)
        for (unsigned vcs = 1; vcs <= 4; vcs += 3) {
            struct l1_fixture *l1 = l1_fixture_create(SETTINGS(vcs == 1 ? "noc.vcs=1" : "noc.vcs=4"));
            struct l1_request first = {
                .address = 0x1000, .kind = cases[i].first, .sectors = 0x02, .bypass = cases[i].first == MESSAGE_ATOMIC};
            struct l1_request second = {
                .address = 0x1000, .kind = cases[i].kind, .sectors = cases[i].sectors, .bypass = cases[i].bypass};
            struct l1_request other = second;
            other.address = 0x1080;
            cycle(l1);
            CHECK_OUTCOME(access_by(l1, first), L1_SENT);
            bool waits = cases[i].waits && vcs > 1;
            CHECK(access_by(l1, other) < L1_ACCEPTED);
            CHECK_EQ(access_by(l1, second) == L1_FAIL_STORE_ORDER, waits);
            uint32_t changes = l1->l1->gate[0].changes;
            settle(l1);
            CHECK(l1->l1->gate[0].changes != changes);
            CHECK(access_by(l1, second) != L1_FAIL_STORE_ORDER);
            settle(l1);
            l1_fixture_destroy(l1);
        }
}

TEST("if packets may overtake each other, a line is fetched again only after its write-back is acknowledged") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.size_kb=1", "l1.ways=1", "noc.vcs=4"));
    cycle(l1);
    read_line(l1, 0x0000, 1);
    settle(l1);
    CHECK_OUTCOME(write_local(l1, 0x0000, 0x01), L1_HIT);
    CHECK_OUTCOME(read_line(l1, 0x0400, 2), L1_MISS); /* replaces it */
    cycle(l1);
    struct message back = take(l1);
    CHECK_EQ(back.kind, MESSAGE_WRITE);
    cycle(l1);
    answer(l1, take(l1));
    cycles(l1, 3);
    CHECK_OUTCOME(read_line(l1, 0x0000, 3), L1_FAIL_STORE_ORDER);
    answer(l1, back);
    cycle(l1);
    CHECK_OUTCOME(read_line(l1, 0x0000, 3), L1_MISS);
    CHECK_EQ(l1->woken_count, 2u);
    settle(l1);
    l1_fixture_destroy(l1);
}

/* A memory of versions behind the L1: every store to a sector is a new one. Requests wait in `waiting`, in the order in
 * which the L1 sent them, and are taken from it in order or at random. */
enum { AGED_LINES = 6, AGED_SECTORS = 4, AGED_ACCESSES = 4000 };
#define AGED_POLICY "l1.decoupled.dueling=false", "l1.pdp.distance=3", "l1.size_kb=1", "l1.ways=4"

struct aged {
    uint32_t version[AGED_SECTORS]; /* of a store: what it writes; of a read: what it found */
    uint8_t line, sectors;
    bool store, miss;
    unsigned fetch; /* of a read: the access whose data it gets */
    uint32_t wanted[AGED_SECTORS];
};

static unsigned unseen(const struct aged *read, const struct aged *fetched) {
    unsigned old = 0;
    for (unsigned s = 0; s < AGED_SECTORS; s++) old += read->sectors >> s & 1 && fetched->version[s] < read->wanted[s];
    return old;
}

/* The access of a message, removed from order[0..*sent-1]. Only the L1's two queues overtake each other, and messages of
 * one kind to one line are in the same queue. */
static unsigned access_of(const struct message *message, const struct aged *aged, unsigned *order, unsigned *sent) {
    unsigned i = 0;
    for (; i < *sent; i++) {
        const struct aged *access = &aged[order[i]];
        bool fill = message->kind == MESSAGE_READ && message->tag >> 30 == 0;
        if (access->line == message->address / 128 && access->store == (message->kind == MESSAGE_WRITE) &&
            access->miss == fill)
            break;
    }
    REQUIRE(i < *sent);
    unsigned found = order[i];
    memmove(&order[i], &order[i + 1], (--*sent - i) * sizeof *order);
    return found;
}

/* Makes random accesses and returns how many sectors were read that lacked an earlier store, or lost a later one to an
 * earlier. */
static unsigned unseen_stores(const char *const *settings, bool reorder, uint64_t random) {
    struct l1_fixture *l1 = l1_fixture_create(settings);
    struct aged *aged = mem_alloc(AGED_ACCESSES, sizeof *aged);
    struct message waiting[64];
    unsigned *order = mem_alloc(AGED_ACCESSES, sizeof *order), waiting_of[64]; /* the accesses that were sent */
    unsigned made = 0, sent = 0, waits = 0, old = 0, fetch_of[AGED_LINES] = {0};
    uint32_t memory[AGED_LINES][AGED_SECTORS] = {0}, latest[AGED_LINES][AGED_SECTORS] = {0}, versions = 0;
    while (made < AGED_ACCESSES) {
        l1->woken_count = 0;
        cycle(l1);
        for (unsigned i = 0; i < l1->woken_count; i++) {
            const struct aged *done = &aged[l1->woken[i]];
            if (!done->store) old += unseen(done, &aged[done->fetch]);
        }
        while (port_peek(&l1->to_network, l1->now) && waits < COUNT_OF(waiting)) {
            waiting[waits] = take(l1);
            waiting_of[waits] = access_of(&waiting[waits], aged, order, &sent);
            waits++;
        }
        if (waits && random_below(&random, 3) == 0) {
            unsigned pick = reorder ? (unsigned)random_below(&random, waits) : 0;
            struct aged *served = &aged[waiting_of[pick]];
            for (unsigned s = 0; s < AGED_SECTORS; s++) {
                uint32_t *cell = &memory[served->line][s];
                if (!served->store)
                    served->version[s] = *cell;
                else if (served->sectors >> s & 1) {
                    old += *cell > served->version[s]; /* the last one must win */
                    *cell = served->version[s];
                }
            }
            answer(l1, waiting[pick]);
            waits--;
            memmove(&waiting[pick], &waiting[pick + 1], (waits - pick) * sizeof *waiting);
            memmove(&waiting_of[pick], &waiting_of[pick + 1], (waits - pick) * sizeof *waiting_of);
        }
        struct aged *access = &aged[made];
        *access = (struct aged){.line = (uint8_t)random_below(&random, AGED_LINES),
                                .sectors = (uint8_t)(1 + random_below(&random, 15)),
                                .store = random_below(&random, 3) == 0,
                                .fetch = made};
        memcpy(access->wanted, latest[access->line], sizeof access->wanted);
        enum l1_outcome outcome =
            access_by(l1, (struct l1_request){.address = access->line * UINT64_C(128),
                                              .token = made,
                                              .kind = access->store ? MESSAGE_WRITE : MESSAGE_READ,
                                              .sectors = access->sectors,
                                              .bypass = !access->store && random_below(&random, 4) == 0});
        if (outcome > L1_ACCEPTED) continue;
        access->miss = outcome == L1_MISS;
        if (access->miss) fetch_of[access->line] = made;
        if (outcome == L1_HIT || outcome == L1_PENDING_HIT) access->fetch = fetch_of[access->line];
        if (outcome == L1_HIT)
            old += unseen(access, &aged[access->fetch]);
        else if (outcome != L1_PENDING_HIT)
            order[sent++] = made;
        versions++;
        for (unsigned s = 0; access->store && s < AGED_SECTORS; s++)
            if (access->sectors >> s & 1) access->version[s] = latest[access->line][s] = versions;
        made++;
    }
    free(order);
    free(aged);
    l1_fixture_destroy(l1);
    return old;
}

TEST("a read sees every earlier store of its SM, also through a network of four VCs in which packets overtake") {
    for (uint64_t seed = 1; seed <= 5; seed++) {
        CHECK_EQ(unseen_stores(NO_SETTINGS, false, seed), 0u);
        CHECK_EQ(unseen_stores(SETTINGS("noc.vcs=4"), true, seed), 0u);
        CHECK_EQ(unseen_stores(SETTINGS("l1.bypass_queue=4"), false, seed), 0u);
    }
    CHECK(unseen_stores(SETTINGS("noc.vcs=1"), true, 1) > 0); /* the result if accesses did not wait for stores */
}

TEST("a read sees every earlier store of its SM under every insertion policy") {
    static const char *const policies[] = {"l1.insertion=never", "l1.insertion=decoupled", "l1.insertion=pdp"};
    for (unsigned i = 0; i < COUNT_OF(policies); i++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            CHECK_EQ(unseen_stores(SETTINGS(policies[i], AGED_POLICY), false, seed), 0u);
            CHECK_EQ(unseen_stores(SETTINGS(policies[i], AGED_POLICY, "noc.vcs=4"), true, seed), 0u);
            CHECK_EQ(unseen_stores(SETTINGS(policies[i], AGED_POLICY, "l1.bypass_queue=4"), false, seed), 0u);
        }
}

TEST("a local write hit modifies the line, which is written back when it is evicted") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.size_kb=1", "l1.ways=2"));
    cycle(l1);
    read_line(l1, 0x0000, 1);
    read_line(l1, 0x0200, 2);
    settle(l1);
    uint64_t sent = COUNTER(l1, "l1.requests");
    CHECK_OUTCOME(write_local(l1, 0x0000, 0x01), L1_HIT);
    CHECK_OUTCOME(write_local(l1, 0x0000, 0x04), L1_HIT);
    CHECK_OUTCOME(read_line(l1, 0x0000, 3), L1_HIT);
    CHECK_EQ(COUNTER(l1, "l1.requests"), sent);
    read_line(l1, 0x0400, 4); /* replaces 0x0200, which is clean */
    settle(l1);
    CHECK_EQ(COUNTER(l1, "l1.write_backs"), 0u);
    struct l1_request marked = {
        .address = 0x0600, .token = 5, .kind = MESSAGE_READ, .flags = MESSAGE_READ_ONLY, .conflicts = 3};
    CHECK_OUTCOME(access_by(l1, marked), L1_MISS); /* replaces 0x0000 */
    CHECK_EQ(COUNTER(l1, "l1.write_backs"), 1u);
    cycle(l1);
    struct message back = take(l1);
    CHECK_EQ(back.kind, MESSAGE_WRITE);
    CHECK_EQ(back.address, 0x0000u);
    CHECK_EQ(back.sectors, 0x05);
    CHECK_EQ(back.flags, 0); /* the marks of the read do not apply to it */
    answer(l1, back);
    cycle(l1);
    struct message fetch = take(l1);
    CHECK_EQ(fetch.kind, MESSAGE_READ);
    CHECK_EQ(fetch.address, 0x0600u);
    answer(l1, fetch);
    unsigned woken = l1->woken_count;
    settle(l1);
    CHECK_EQ(l1->woken_count, woken + 1); /* the acknowledgement of a write-back completes nothing */
    l1_fixture_destroy(l1);
}

TEST("a line that was written back and not replaced is written back again with its new sectors only") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.size_kb=1", "l1.ways=1", "l1.miss_queue=1"));
    cycle(l1);
    access_by(l1, (struct l1_request){.kind = MESSAGE_READ, .local = true});
    settle(l1);
    CHECK_OUTCOME(write_local(l1, 0, 0x01), L1_HIT);
    for (unsigned i = 1; i <= 2; i++, cycle(l1))
        CHECK_OUTCOME(write_line(l1, i * 0x80, i), L1_SENT); /* fill the port */
    CHECK_OUTCOME(read_line(l1, 0x400, 3), L1_FAIL_NETWORK); /* the write-back takes the only place for the miss */
    CHECK_EQ(COUNTER(l1, "l1.write_backs"), 1u);
    CHECK_OUTCOME(write_local(l1, 0, 0x02), L1_HIT);
    for (unsigned i = 0; i < 3; i++, cycle(l1)) {
        struct message message = take(l1);
        if (i == 2) CHECK_EQ(message.sectors, 0x01);
        answer(l1, message);
    }
    CHECK_OUTCOME(read_line(l1, 0x400, 3), L1_MISS);
    cycle(l1);
    struct message message = take(l1);
    CHECK_EQ(message.address, 0u);
    CHECK_EQ(message.sectors, 0x02);
    answer(l1, message);
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("a local write miss bypasses the L1") {
    struct l1_fixture *l1 = l1_fixture_create(NO_SETTINGS);
    cycle(l1);
    CHECK_OUTCOME(write_local(l1, 0x1000, 0x01), L1_SENT);
    CHECK_EQ(COUNTER(l1, "l1.write_misses"), 1u);
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("a bypassing read requests only its sectors, does not look up the L1 and does not allocate") {
    struct l1_fixture *l1 = l1_fixture_create(NO_SETTINGS);
    cycle(l1);
    read_line(l1, 0x1000, 1);
    settle(l1);
    struct l1_request past = {.address = 0x1000, .token = 2, .kind = MESSAGE_READ, .sectors = 0x02, .bypass = true};
    CHECK_OUTCOME(access_by(l1, past), L1_BYPASS);
    cycle(l1);
    struct message request = take(l1);
    CHECK_EQ(request.sectors, 0x02);
    answer(l1, request);
    settle(l1);
    CHECK_EQ(l1->woken[1], 2u);
    past.address = 0x2000;
    CHECK_OUTCOME(access_by(l1, past), L1_BYPASS);
    settle(l1);
    CHECK_OUTCOME(read_line(l1, 0x2000, 3), L1_MISS);
    CHECK_EQ(COUNTER(l1, "l1.read_bypasses"), 2u);
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("many bypassing accesses can be in flight, and each reply completes its own") {
    struct l1_fixture *l1 = l1_fixture_create(SETTINGS("l1.miss_queue=1024"));
    struct message request[150];
    cycle(l1);
    for (uint32_t i = 0; i < 150; i++)
        CHECK_OUTCOME(
            access_by(l1,
                      (struct l1_request){
                          .address = 128 * i, .token = 1000 + i, .kind = MESSAGE_ATOMIC, .sectors = 1, .bypass = true}),
            L1_SENT);
    for (uint32_t i = 0; i < 150; i++) {
        cycle(l1);
        request[i] = take(l1);
    }
    for (uint32_t i = 0; i < 150; i++) answer(l1, request[149 - i]);
    cycles(l1, 151);
    CHECK_EQ(l1->woken_count, 150u);
    for (uint32_t i = 0; i < 150; i++) CHECK_EQ(l1->woken[i], 1000 + 149 - i);
    CHECK_EQ(COUNTER(l1, "l1.atomics"), 150u);
    CHECK(!l1->l1->ops->busy(l1->l1, 0));
    l1_fixture_destroy(l1);
}

TEST("a flush invalidates every line") {
    struct l1_fixture *l1 = l1_fixture_create(NO_SETTINGS);
    cycle(l1);
    for (uint32_t i = 0; i < 5; i++) read_line(l1, 0x1080 * i, i);
    settle(l1);
    l1->l1->ops->flush(l1->l1, 0);
    for (uint32_t i = 0; i < 5; i++) CHECK_OUTCOME(read_line(l1, 0x1080 * i, i), L1_MISS);
    CHECK_EQ(COUNTER(l1, "l1.flushes"), 1u);
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("a line of one program is a miss for another") {
    struct l1_fixture *l1 = l1_fixture_create(NO_SETTINGS);
    l1->base.llc->next_program = l1->base.llc;
    cycle(l1);
    read_line(l1, 0x1000, 1);
    settle(l1);
    CHECK_OUTCOME(access_by(l1, (struct l1_request){.address = 0x1000, .kind = MESSAGE_READ, .program = 1}), L1_MISS);
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("an L1 is busy until all its requests are answered, and reports what it waits for") {
    struct l1_fixture *l1 = l1_fixture_create(NO_SETTINGS);
    cycle(l1);
    CHECK(!l1->l1->ops->busy(l1->l1, 0));
    read_line(l1, 0x1000, 1);
    write_line(l1, 0x2000, 2);
    CHECK(l1->l1->ops->busy(l1->l1, 0));
    char *told;
    size_t size;
    FILE *out = open_memstream(&told, &size);
    l1->l1->ops->explain(l1->l1, 0, out);
    fclose(out);
    CHECK_TEXT(told, "1 MSHRs in use, 1 bypassing accesses outstanding");
    free(told);
    settle(l1);
    CHECK_EQ(COUNTER(l1, "l1.requests"), 2u);
    CHECK_EQ(COUNTER(l1, "l1.replies"), 2u);
    l1_fixture_destroy(l1);
}

TEST("an L1 is busy while only a write is unacknowledged, or only waiters of a line are to be woken") {
    struct l1_fixture *l1 = l1_fixture_create(NO_SETTINGS);
    cycle(l1);
    write_line(l1, 0x2000, 2);
    cycles(l1, 5);
    CHECK(l1->l1->ops->busy(l1->l1, 0));
    settle(l1);
    read_line(l1, 0x1000, 1);
    read_line(l1, 0x1000, 2);
    cycle(l1);
    answer(l1, take(l1));
    cycle(l1);
    CHECK(l1->l1->ops->busy(l1->l1, 0));
    cycle(l1);
    CHECK(!l1->l1->ops->busy(l1->l1, 0));
    l1_fixture_destroy(l1);
}

TEST("an L1 holds as many lines as its size, with a number of sets that is not a power of two") {
    static const struct {
        const char *size, *ways;
        unsigned lines;
    } cases[] = {
        {"l1.size_kb=48", "l1.ways=6", 384}, {"l1.size_kb=12", "l1.ways=4", 96}, {"l1.size_kb=16", "l1.ways=128", 128}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct l1_fixture *l1 =
            l1_fixture_create(SETTINGS(cases[i].size, cases[i].ways, "l1.mshrs=1000", "l1.miss_queue=1000"));
        for (unsigned pass = 0; pass < 2; pass++)
            for (unsigned line = 0; line < cases[i].lines; line++) {
                l1->woken_count = 0;
                CHECK_OUTCOME(read_line(l1, 128 * line, 0), pass == 0 ? L1_MISS : L1_HIT);
                cycle(l1);
                while (port_peek(&l1->to_network, l1->now)) answer(l1, take(l1));
                cycle(l1);
            }
        settle(l1);
        l1_fixture_destroy(l1);
    }
}

TEST("modified lines are evicted also with one entry in every queue") {
    struct step steps[24];
    for (unsigned i = 0; i < 8; i++) {
        steps[3 * i] = load_local(1, 0x400 * i);
        steps[3 * i + 1] = store_local(1, 0x400 * i);
        steps[3 * i + 2] = load_line(2, 0x10000 + 0x400 * i);
    }
    struct script_source source = script_make(1, 2, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("l1.size_kb=1", "l1.ways=1", "l1.mshrs=1", "l1.mshr_merges=1",
                                                       "l1.miss_queue=1", "sm.lsu_queue=1", "sm.loads_in_flight=1"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "sm.warp_instructions"), 50u);
    CHECK(COUNTER(sm, "l1.write_backs") > 0);
    sm_fixture_destroy(sm);
}

TEST("the L1 is empty for a second kernel if it is flushed at the end of a kernel, and keeps its lines otherwise") {
    struct step steps[] = {load_line(1, 0x1000), load_line(2, 0x2000)};
    for (unsigned flush = 0; flush < 2; flush++) {
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        source.kernels = 3;
        struct sm_fixture *sm = sm_fixture_create(NO_SETTINGS);
        sm->flush = flush;
        sm_fixture_run(sm, &source);
        CHECK_EQ(COUNTER(sm, "l1.read_misses"), flush ? 6u : 2u);
        CHECK_EQ(COUNTER(sm, "l1.read_hits"), flush ? 0u : 4u);
        sm_fixture_destroy(sm);
    }
}
