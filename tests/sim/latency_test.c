#include "sim/latency.h"

#include "test.h"

static uint64_t ten(const void *user, bool reply, const struct message *message) {
    (void)user, (void)message;
    return reply ? 20 : 10;
}

static uint64_t key_of(unsigned number) { return latency_key(LATENCY_ACCESS, number, number, 0); }

/* The counters of the machine that the test plays. */
static uint64_t counted(const struct stats *stats, const char *name) {
    _Bool found;
    uint64_t value = stats_get(stats, name, &found);
    CHECK(found);
    return value;
}

struct book {
    struct latency *latency;
    struct stats *stats;
};

static struct book book_open(void) {
    struct book book = {latency_create(false, ten, NULL), stats_create()};
    latency_add_stats(book.latency, book.stats);
    return book;
}

static void book_close(struct book *book) {
    CHECK_EQ(latency_open_paths(book->latency), 0u);
    stats_destroy(book->stats);
    latency_destroy(book->latency);
}

TEST("a path is the sequence of its marks; a mark of the past has no effect") {
    struct book book = book_open();
    latency_open(book.latency, key_of(1), 100);
    latency_mark(book.latency, key_of(1), LATENCY_operands, 103);
    latency_mark(book.latency, key_of(1), LATENCY_lsu_queue, 103);
    latency_mark(book.latency, key_of(1), LATENCY_l1, 110);
    latency_mark(book.latency, key_of(1), LATENCY_dram, 105);
    latency_mark(book.latency, key_of(1), LATENCY_operands, 111);
    latency_supply(book.latency, key_of(1), LATENCY_LEVEL_l1);
    latency_supply(book.latency, key_of(1), LATENCY_LEVEL_dram);
    latency_count(book.latency, key_of(1));
    CHECK_EQ(counted(book.stats, "latency.l1.loads"), 1u);
    CHECK_EQ(counted(book.stats, "latency.l1.operands"), 4u);
    CHECK_EQ(counted(book.stats, "latency.l1.l1"), 7u);
    CHECK_EQ(counted(book.stats, "latency.l1.lsu_queue"), 0u);
    CHECK_EQ(counted(book.stats, "latency.l1.dram"), 0u);
    CHECK_EQ(counted(book.stats, "latency.l1.from_0"), 1u);
    book_close(&book);
}

TEST("a path that joins another takes the part that follows its own end, and its level") {
    struct book book = book_open();
    latency_open(book.latency, key_of(2), 100);
    latency_mark(book.latency, key_of(2), LATENCY_miss_queue, 110);
    latency_mark(book.latency, key_of(2), LATENCY_slice, 130);
    latency_mark(book.latency, key_of(2), LATENCY_dram, 200);
    latency_supply(book.latency, key_of(2), LATENCY_LEVEL_dram);
    latency_open(book.latency, key_of(1), 120); /* in the middle */
    latency_join(book.latency, key_of(1), key_of(2), LATENCY_l1);
    latency_count(book.latency, key_of(1));
    CHECK_EQ(counted(book.stats, "latency.dram.miss_queue"), 0u);
    CHECK_EQ(counted(book.stats, "latency.dram.slice"), 10u);
    CHECK_EQ(counted(book.stats, "latency.dram.dram"), 70u);
    latency_open(book.latency, key_of(1), 90); /* before: the gap has its own stage */
    latency_supply(book.latency, key_of(1), LATENCY_LEVEL_l1_pending);
    latency_join(book.latency, key_of(1), key_of(2), LATENCY_l1);
    latency_count(book.latency, key_of(1));
    CHECK_EQ(counted(book.stats, "latency.l1_pending.l1"), 10u);
    CHECK_EQ(counted(book.stats, "latency.l1_pending.miss_queue"), 10u);
    latency_close(book.latency, key_of(2));
    book_close(&book);
}

TEST("the zero-load latency of a network is traversal, the rest queueing") {
    struct book book = book_open();
    struct message message = {.source = 7, .tag = 3, .sectors = 4};
    uint64_t key = latency_message_key(&message);
    latency_open(book.latency, key, 0);
    latency_cross(book.latency, &message, false, 35);
    latency_cross(book.latency, &message, false, 35);
    latency_cross(book.latency, &message, true, 50); /* faster than at zero load: another clock */
    latency_supply(book.latency, key, LATENCY_LEVEL_llc);
    latency_count(book.latency, key);
    CHECK_EQ(counted(book.stats, "latency.llc.request_queue"), 25u);
    CHECK_EQ(counted(book.stats, "latency.llc.request_network"), 10u);
    CHECK_EQ(counted(book.stats, "latency.llc.reply_queue"), 0u);
    CHECK_EQ(counted(book.stats, "latency.llc.reply_network"), 15u);
    book_close(&book);
}

TEST("paths are found by owner, index, tag and first sector, however many there are") {
    enum { PATHS = 20000 };
    struct book book = book_open();
    CHECK(latency_key(LATENCY_REQUEST, 1, 2, 4) != latency_key(LATENCY_FETCH, 1, 2, 4));
    CHECK(latency_key(LATENCY_REQUEST, 1, 2, 4) != latency_key(LATENCY_REQUEST, 1, 2, 8));
    latency_mark(book.latency, key_of(5), LATENCY_l1, 10); /* not open: no effect */
    latency_close(book.latency, key_of(5));
    for (unsigned i = 0; i < PATHS; i++) latency_open(book.latency, key_of(i), i);
    for (unsigned i = 0; i < PATHS; i += 2) latency_close(book.latency, key_of(i));
    CHECK_EQ(latency_open_paths(book.latency), PATHS / 2u);
    for (unsigned i = 0; i < PATHS; i++) latency_mark(book.latency, key_of(i), LATENCY_l1, i + 2);
    for (unsigned i = 1; i < PATHS; i += 2) {
        latency_supply(book.latency, key_of(i), LATENCY_LEVEL_l1);
        latency_count(book.latency, key_of(i));
    }
    CHECK_EQ(counted(book.stats, "latency.l1.loads"), PATHS / 2u);
    CHECK_EQ(counted(book.stats, "latency.l1.l1"), (uint64_t)PATHS);
    book_close(&book);
}

TEST("a bucket of the histogram holds latencies from its bound to the next") {
    for (unsigned i = 0; i < LATENCY_BUCKET_COUNT; i++) {
        CHECK_EQ((unsigned)latency_bucket_of(latency_bucket_bounds[i]), i);
        if (i > 0) CHECK_EQ((unsigned)latency_bucket_of(latency_bucket_bounds[i] - 1), i - 1);
    }
    CHECK_EQ((unsigned)latency_bucket_of(UINT64_C(1) << 40), LATENCY_BUCKET_COUNT - 1u);
}
