/* A shadow of every sector next to a sectored slice with a slow memory: a sector's version is the number of writes to it
 * that have taken effect. An observer follows versions into the slice, to memory and back.
 *
 * Properties: a read or an atomic sees all bytes of its sectors, and exactly the writes that arrived before it; a sector
 * is fetched only if bytes of it are absent; a modified sector is written to memory before its line is evicted. */
#include "llc/slice_fixture.h"

#include "base/random.h"

enum { LINES = 24, HOT_LINES = 3, SECTORS = 4, REQUESTS = 1500, PENDING = 64 };

struct sector {
    uint32_t sent, applied; /* writes */
    uint32_t memory, copy;  /* versions; of a copy that is not complete, the version of the written bytes */
    uint32_t fetched;       /* version that is in flight */
    bool complete, modified, in_flight;
};

struct shadow {
    struct sector sector[LINES][SECTORS];
    uint32_t expected[REQUESTS][SECTORS]; /* by tag: writes that precede the request */
    unsigned reads, refetched, incomplete, wrong, lost, merges;
    bool validates;
};

static void write_sector(struct shadow *shadow, struct sector *sector, const struct message *message) {
    bool whole = message->kind == MESSAGE_ATOMIC || !(message->flags & MESSAGE_PARTIAL);
    shadow->incomplete += message->kind == MESSAGE_ATOMIC && !sector->complete;
    shadow->incomplete += !whole && !shadow->validates && !sector->complete; /* fetch on write */
    sector->copy = ++sector->applied;
    sector->complete |= whole;
    sector->modified = true;
}

static void observe_sector(struct shadow *shadow, struct sector *sector, enum slice_event event,
                           const struct message *message, uint32_t expected) {
    switch (event) {
    case SLICE_FETCH:
        shadow->refetched += sector->complete || sector->in_flight;
        shadow->merges += sector->modified;
        sector->in_flight = true;
        sector->fetched = sector->memory;
        break;
    case SLICE_FILL: /* written bytes stay */
        shadow->wrong += !sector->in_flight;
        if (!sector->modified && !sector->complete) sector->copy = sector->fetched;
        sector->complete = true;
        sector->in_flight = false;
        break;
    case SLICE_READ:
        shadow->reads++;
        shadow->incomplete += !sector->complete;
        /* An atomic reads after it has written. */
        shadow->wrong += sector->copy != expected + (message->kind == MESSAGE_ATOMIC);
        break;
    case SLICE_WRITE: write_sector(shadow, sector, message); break;
    case SLICE_TO_MEMORY:
        shadow->lost += !sector->modified;
        sector->memory = sector->copy;
        sector->modified = false;
        break;
    default: break;
    }
}

static void observe(void *user, unsigned slice, enum slice_event event, uint64_t key, const struct message *message,
                    uint64_t now) {
    (void)slice, (void)now;
    struct shadow *shadow = user;
    struct sector *sector = shadow->sector[key & low_mask(56)];
    for (unsigned i = 0; i < SECTORS; i++) {
        if (event == SLICE_DROP) {
            shadow->lost += sector[i].modified || sector[i].in_flight;
            sector[i].complete = false;
        } else if (message->sectors >> i & 1) {
            bool asked = event == SLICE_READ || event == SLICE_WRITE;
            observe_sector(shadow, &sector[i], event, message, asked ? shadow->expected[message->tag][i] : 0);
        }
    }
}

static void ask_random(struct slice_fixture *slice, struct shadow *shadow, uint32_t tag, uint64_t *random) {
    uint64_t kind = random_below(random, 8), line = random_below(random, random_below(random, 2) ? LINES : HOT_LINES);
    struct message message = {.address = line * 128, .tag = tag, .conflicts = 1};
    message.kind = kind < 4 ? MESSAGE_READ : kind == 7 ? MESSAGE_ATOMIC : MESSAGE_WRITE;
    message.flags = kind == 5 ? MESSAGE_PARTIAL : 0;
    message.sectors = (uint8_t)(1 + random_below(random, 15));
    for (unsigned i = 0; i < SECTORS; i++) {
        shadow->expected[tag][i] = shadow->sector[line][i].sent;
        shadow->sector[line][i].sent += kind >= 4 && message.sectors >> i & 1;
    }
    ask(slice, message);
}

/* Memory answers in any order, some time later. */
static void memory_step(struct slice_fixture *slice, struct message *pending, unsigned *count, uint64_t *random) {
    for (unsigned i = 0; i < slice->requests; i++) {
        REQUIRE(*count < PENDING);
        pending[(*count)++] = slice->request[i];
    }
    slice->requests = 0;
    if (!*count || random_below(random, 8)) return;
    unsigned which = (unsigned)random_below(random, *count);
    memory_answers(slice, pending[which], 0);
    pending[which] = pending[--*count];
}

static void run(uint64_t seed, const char *allocate, const char *fetch) {
    struct slice_fixture *slice = slice_fixture_create(
        SETTINGS("llc.sector_bytes=32", allocate, fetch, "llc.slice_kb=2", "llc.ways=2", "llc.mshrs=4",
                 "llc.mshr_merges=2", "llc.replay_queue=4", "llc.latency_cycles=3"));
    struct shadow *shadow = mem_alloc(1, sizeof *shadow);
    struct message pending[PENDING];
    unsigned in_memory = 0;
    uint64_t random = seed * 7127;
    shadow->validates = strstr(allocate, "validate") != NULL;
    slice_observe(slice->slice, observe, shadow);
    slice->memory_cycles = 0;
    for (uint32_t sent = 0, replies = 0; sent < REQUESTS || replies < REQUESTS;) {
        if (sent < REQUESTS && sent - replies < 40 && random_below(&random, 3) == 0)
            ask_random(slice, shadow, sent++, &random);
        cycle(slice);
        memory_step(slice, pending, &in_memory, &random);
        replies += slice->replies;
        slice->replies = 0;
        REQUIRE(slice->base.engine->now < 1000000);
    }
    while (in_memory) {
        cycle(slice);
        memory_step(slice, pending, &in_memory, &random);
    }
    settle(slice);
    CHECK_EQ(shadow->incomplete, 0u);
    CHECK_EQ(shadow->wrong, 0u);
    CHECK_EQ(shadow->lost, 0u);
    CHECK_EQ(shadow->refetched, 0u);
    CHECK(shadow->reads > REQUESTS);
    CHECK(COUNTER(slice, "llc.replayed") > 0);
    CHECK_EQ(COUNTER(slice, "llc.sectors.read"), shadow->reads);
    CHECK_EQ(COUNTER(slice, "llc.sectors.merged"), shadow->merges);
    CHECK_EQ(shadow->validates, shadow->merges > 0);
    for (unsigned line = 0; line < LINES; line++)
        for (unsigned i = 0; i < SECTORS; i++) {
            const struct sector *sector = &shadow->sector[line][i];
            CHECK_EQ(sector->applied, sector->sent);
            CHECK_EQ(sector->complete || sector->modified ? sector->copy : sector->memory, sector->sent);
        }
    free(shadow);
    slice_fixture_destroy(slice);
}

TEST("a sectored slice returns the latest bytes of every sector, fetches none twice and loses no modification") {
    static const char *const allocate[] = {"llc.write_allocate=validate", "llc.write_allocate=fetch"};
    static const char *const fetch[] = {"llc.fetch_bytes=0", "llc.fetch_bytes=64", "llc.fetch_bytes=128"};
    for (uint64_t seed = 1; seed <= 12; seed++) run(seed, allocate[seed % 2], fetch[seed % 3]);
}
