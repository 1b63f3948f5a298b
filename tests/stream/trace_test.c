/* Packed records and traces read back exactly, for any relative speed of threads and location of chunks. */
#include "stream/trace.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/random.h"
#include "stream/pack.h"
#include "test.h"

enum { STATIC_RECORDS = 200 };

/* Static records of all classes, with arbitrary registers. */
static void make_records(struct instr *records) {
    uint64_t random = 11;
    for (uint32_t i = 0; i < STATIC_RECORDS; i++) {
        records[i] = (struct instr){.id = i, .active = UINT32_MAX, .op = (uint8_t)(i % OP_exit), .conflicts = 1};
        for (unsigned j = 0; j < INSTR_SRCS; j++) records[i].src[j] = (uint8_t)random_below(&random, 40);
        if (instr_is_memory(&records[i])) records[i].count = (uint16_t)random_below(&random, 3);
    }
    records[STATIC_RECORDS - 1].op = OP_exit;
}

/* Record `index` of a warp: mostly consecutive, sometimes random. Its touches go to `touches`. */
static struct instr make_record(const struct instr *records, uint64_t *random, uint32_t *id, uint64_t *touches) {
    if (random_below(random, 12) == 0) *id = (uint32_t)random_below(random, STATIC_RECORDS - 1);
    if (++*id >= STATIC_RECORDS - 1) *id = 0;
    struct instr record = records[*id];
    if (random_below(random, 9) == 0) record.active = (uint32_t)random_next(random);
    if (random_below(random, 9) == 0) record.conflicts = (uint8_t)random_next(random);
    if (random_below(random, 30) == 0) record.flags = INSTR_PARTIAL;
    if (random_below(random, 30) == 0) record.src[5] = (uint8_t)random_next(random);
    if (record.op == OP_barrier) record.count = (uint16_t)random_below(random, 70);
    if (!instr_is_memory(&record)) return record;
    record.count = (uint16_t)random_below(random, 4);
    if (random_below(random, 5) == 0) record.count = (uint16_t)random_below(random, 33);
    uint64_t address = random_next(random) >> random_below(random, 60), step = 1 + random_below(random, 4);
    bool regular = random_below(random, 2);
    uint8_t sectors = (uint8_t)random_next(random);
    for (unsigned i = 0; i < record.count; i++) {
        touches[i] = touch_make(address >> 1, sectors);
        address += 512 * (regular ? step : 1 + random_below(random, 1000));
        if (!regular) sectors = (uint8_t)random_next(random);
    }
    return record;
}

static bool same_record(const struct instr *a, const struct instr *b) {
    return memcmp(a, b, offsetof(struct instr, touches)) == 0;
}

TEST("random records unpack to what was packed") {
    struct instr records[STATIC_RECORDS];
    make_records(records);
    enum { COUNT = 20000 };
    uint8_t *bytes = malloc((size_t)COUNT * 128);
    struct packer packer = {.bytes = bytes, .run_at = PACK_NO_RUN};
    pack_start(&packer.context);
    uint64_t random = 5, touches[STREAM_TOUCHES];
    uint32_t id = 7;
    for (unsigned i = 0; i < COUNT; i++) {
        struct instr record = make_record(records, &random, &id, touches);
        uint32_t before = packer.used;
        pack_put(&packer, &records[record.id], &record, touches);
        REQUIRE(packer.used - before <= PACK_RECORD_BYTES);
    }
    struct unpacker from = {.at = bytes, .end = bytes + packer.used};
    pack_start(&from.context);
    random = 5, id = 7;
    struct warp_stream warp = {0};
    unsigned next = 0;
    for (unsigned i = 0; i < COUNT; i++, next++) {
        struct instr record = make_record(records, &random, &id, touches);
        if (next == warp.count) {
            warp.count = next = 0;
            REQUIRE(pack_take(&from, records, STATIC_RECORDS, &warp) && warp.count);
        }
        const struct instr *got = &warp.instr[next];
        REQUIRE(same_record(&record, got));
        if (instr_is_memory(&record))
            REQUIRE(memcmp(touches, warp.touch + got->touches, record.count * sizeof *touches) == 0);
    }
    CHECK_EQ(next, warp.count);
    warp.count = 0;
    CHECK(pack_take(&from, records, STATIC_RECORDS, &warp));
    CHECK_EQ(warp.count, 0u);
    free(bytes);
}

TEST("straight-line code packs into less than a byte per record, a coalesced access into a few bytes") {
    struct instr records[STATIC_RECORDS];
    make_records(records);
    for (unsigned i = 0; i < STATIC_RECORDS; i++) records[i].op = OP_other;
    uint8_t bytes[4 * PACK_RECORD_BYTES];
    struct packer packer = {.bytes = bytes, .run_at = PACK_NO_RUN};
    pack_start(&packer.context);
    for (unsigned i = 0; i < STATIC_RECORDS; i++) pack_put(&packer, &records[i], &records[i], NULL);
    CHECK_EQ(packer.used, 2u);
    struct instr load = {.id = 3, .active = UINT32_MAX, .op = OP_load, .count = 1};
    uint64_t touch = touch_make(0xC0000000, 0xF);
    pack_put(&packer, &load, &load, &touch);
    uint32_t before = packer.used;
    load.id = 4;
    touch += 65536;
    pack_put(&packer, &load, &load, &touch);
    CHECK(packer.used - before <= 4);
}

TEST("unpacking arbitrary bytes fails only with its return value") {
    struct instr records[STATIC_RECORDS];
    make_records(records);
    uint64_t random = 3;
    unsigned bad = 0;
    for (unsigned round = 0; round < 3000; round++) {
        uint8_t bytes[24];
        for (unsigned i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)random_next(&random);
        struct unpacker from = {.at = bytes, .end = bytes + sizeof bytes};
        pack_start(&from.context);
        bool good = true;
        for (struct warp_stream warp = {.count = 1}; good && warp.count;) {
            warp.count = 0;
            good = pack_take(&from, records, STATIC_RECORDS, &warp);
            for (unsigned i = 0; i < warp.count; i++)
                REQUIRE(warp.instr[i].count <= STREAM_TOUCHES || !instr_is_memory(&warp.instr[i]));
        }
        bad += !good;
    }
    CHECK(bad > 1000);
}

/* --- traces --- */

struct work {
    struct kernel kernel;
    struct instr records[STATIC_RECORDS];
    struct trace *trace;
    unsigned length; /* at most, per warp; the length varies between warps */
    bool complete;
};

static unsigned warp_length(const struct work *work, uint64_t index) {
    uint64_t random = index;
    return (unsigned)random_below(&random, work->length);
}

static void work_init(struct work *work, unsigned ctas, unsigned warps, unsigned length, uint64_t memory_bytes) {
    *work = (struct work){.kernel = {.grid = {ctas, 1, 1}, .block = {warps * 32, 1, 1}}, .length = length};
    work->complete = true;
    make_records(work->records);
    work->trace = trace_create(&work->kernel, work->records, STATIC_RECORDS, memory_bytes);
}

/* Writes all warps, interleaved in bursts of random length within a window of four CTAs. */
static void *write_all(void *user) {
    struct work *work = user;
    unsigned warps = kernel_warps(&work->kernel), ctas = (unsigned)kernel_ctas(&work->kernel);
    uint64_t turn = 9, touches[STREAM_TOUCHES];
    for (unsigned cta = 0; cta < ctas; cta += 4) {
        unsigned count = (unsigned)min_u64(4, ctas - cta) * warps, open = count;
        struct trace_writer *writer[64];
        uint64_t random[64];
        uint32_t id[64];
        unsigned left[64];
        for (unsigned i = 0; i < count; i++) {
            writer[i] = trace_open_writer(work->trace, cta + i / warps, i % warps);
            random[i] = (uint64_t)cta * warps + i;
            id[i] = 0;
            left[i] = warp_length(work, random[i]);
        }
        while (open > 0) {
            unsigned i = (unsigned)random_below(&turn, count), quantum = (unsigned)random_below(&turn, 300);
            for (; writer[i] && quantum > 0; quantum--) {
                struct instr record = make_record(work->records, &random[i], &id[i], touches);
                if (left[i] == 0) {
                    if (!work->complete && (uint64_t)cta * warps + i == 5) break;
                    record = work->records[STATIC_RECORDS - 1];
                }
                trace_put(writer[i], &record, touches);
                if (left[i]-- == 0) writer[i] = NULL, open--;
            }
            if (!work->complete && open == 1) {
                trace_finish(work->trace, false);
                return NULL;
            }
        }
    }
    trace_finish(work->trace, true);
    return NULL;
}

/* Reads a warp to its end and compares. Returns the number of its records. */
static unsigned read_warp(struct work *work, uint64_t cta, uint32_t warp) {
    struct warp_stream stream = {.cta = cta, .warp = warp};
    uint64_t random = cta * kernel_warps(&work->kernel) + warp, touches[STREAM_TOUCHES];
    uint32_t id = 0;
    unsigned left = warp_length(work, random), count = 0;
    trace_open(work->trace, &stream);
    for (;;) {
        trace_refill(work->trace, &stream);
        REQUIRE(stream.count > 0);
        for (unsigned i = 0; i < stream.count; i++, count++) {
            const struct instr *got = &stream.instr[i];
            struct instr record = make_record(work->records, &random, &id, touches);
            if (left-- == 0) {
                CHECK_EQ(got->op, OP_exit);
                CHECK_EQ(i + 1, stream.count);
                trace_refill(work->trace, &stream);
                CHECK_EQ(stream.count, 0u);
                return count;
            }
            REQUIRE(same_record(&record, got));
            if (instr_is_memory(got))
                REQUIRE(memcmp(touches, stream.touch + got->touches, record.count * sizeof *touches) == 0);
        }
    }
}

static void read_all(struct work *work) {
    for (uint64_t cta = 0; cta < kernel_ctas(&work->kernel); cta++)
        for (uint32_t warp = 0; warp < kernel_warps(&work->kernel); warp++) read_warp(work, cta, warp);
}

TEST("a trace reads back every warp's records, written before or during reading") {
    struct work work;
    work_init(&work, 10, 3, 3000, TRACE_MEMORY_BYTES);
    write_all(&work);
    read_all(&work);
    CHECK_EQ(trace_use(work.trace).memory_bytes, 0u);
    CHECK(!trace_was_cut(work.trace));
    trace_destroy(work.trace);
    work_init(&work, 10, 3, 3000, TRACE_MEMORY_BYTES);
    pthread_t writer;
    REQUIRE(pthread_create(&writer, NULL, write_all, &work) == 0);
    read_all(&work);
    pthread_join(writer, NULL);
    trace_destroy(work.trace);
}

TEST("records beyond the memory limit go to a file and read back the same") {
    struct work work;
    work_init(&work, 12, 4, 4000, 10000);
    write_all(&work);
    struct trace_use use = trace_use(work.trace);
    CHECK(use.total_bytes > 20 * use.peak_memory_bytes);
    CHECK(use.peak_memory_bytes <= 10000);
    read_all(&work);
    CHECK_EQ(trace_use(work.trace).memory_bytes, 0u);
    trace_destroy(work.trace);
}

TEST("a destroyed trace leaves no open file") {
    int before = dup(STDIN_FILENO), after; /* the lowest free descriptor */
    close(before);
    struct work work;
    work_init(&work, 4, 2, 2000, 0);
    write_all(&work);
    after = dup(STDIN_FILENO);
    close(after);
    CHECK(after != before);
    trace_destroy(work.trace);
    after = dup(STDIN_FILENO);
    close(after);
    CHECK_EQ(after, before);
}

TEST("without a directory for the file all records stay in memory") {
    setenv("TMPDIR", "/no/such/folder", 1);
    struct work work;
    work_init(&work, 4, 2, 2000, 0);
    write_all(&work);
    CHECK_EQ(trace_use(work.trace).memory_bytes, trace_use(work.trace).total_bytes);
    read_all(&work);
    trace_destroy(work.trace);
}

TEST("records that do not fit in the file stay in memory") {
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &(struct rlimit){50000, 50000}) == 0);
    struct work work;
    work_init(&work, 12, 4, 4000, 0);
    write_all(&work);
    struct trace_use use = trace_use(work.trace);
    CHECK(use.memory_bytes > 0 && use.memory_bytes < use.total_bytes);
    read_all(&work);
    CHECK(!trace_failure(work.trace));
    trace_destroy(work.trace);
}

TEST("a warp of a failed kernel ends with an exit after the records written") {
    struct work work;
    work_init(&work, 4, 2, 3000, TRACE_MEMORY_BYTES);
    work.complete = false;
    write_all(&work);
    CHECK(!trace_was_cut(work.trace));
    CHECK_EQ(read_warp(&work, 0, 0), warp_length(&work, 0));
    CHECK(!trace_was_cut(work.trace));
    CHECK_EQ(read_warp(&work, 2, 1), warp_length(&work, 5));
    CHECK(trace_was_cut(work.trace));
    trace_destroy(work.trace);
}

/* --- the limit on unread records --- */

TEST("a writer beyond the limit on unread records pauses, and a reader in any order reads everything") {
    enum { LIMIT = 20000 };
    struct work work;
    work_init(&work, 12, 4, 4000, TRACE_MEMORY_BYTES);
    trace_limit(work.trace, LIMIT);
    pthread_t writer;
    REQUIRE(pthread_create(&writer, NULL, write_all, &work) == 0);
    /* The last CTA is written after more than the limit: a waiting reader lets the writer go on. */
    for (uint64_t cta = 12; cta-- > 0;)
        for (uint32_t warp = 4; warp-- > 0;) read_warp(&work, cta, warp);
    pthread_join(writer, NULL);
    CHECK(trace_use(work.trace).total_bytes > 4 * LIMIT);
    CHECK_EQ(trace_use(work.trace).unread_bytes, 0u);
    trace_destroy(work.trace);
}

/* Waits until the writer does not write any more: no unread bytes are added in 30 ms. */
static uint64_t unread_at_rest(struct trace *trace) {
    uint64_t before = 1, now = 0;
    for (; now != before || !now; usleep(30000)) before = now, now = trace_use(trace).unread_bytes;
    return now;
}

TEST("unread records do not exceed the limit while the reader has records, in memory or in the file") {
    enum { LIMIT = 40000, CHUNK = 4096 };
    for (uint64_t memory = 0; memory <= TRACE_MEMORY_BYTES; memory += TRACE_MEMORY_BYTES) {
        struct work work;
        work_init(&work, 12, 4, 4000, memory);
        trace_limit(work.trace, LIMIT);
        pthread_t writer;
        REQUIRE(pthread_create(&writer, NULL, write_all, &work) == 0);
        uint64_t unread = unread_at_rest(work.trace);
        CHECK(unread > LIMIT && unread <= LIMIT + CHUNK);
        read_all(&work);
        pthread_join(writer, NULL);
        trace_destroy(work.trace);
    }
}

TEST("an abandoned trace does not hold its writer") {
    struct work work;
    work_init(&work, 12, 4, 4000, TRACE_MEMORY_BYTES);
    trace_limit(work.trace, 1000);
    pthread_t writer;
    REQUIRE(pthread_create(&writer, NULL, write_all, &work) == 0);
    unread_at_rest(work.trace);
    trace_abandon(work.trace);
    pthread_join(writer, NULL);
    CHECK(trace_use(work.trace).unread_bytes > 100000);
    trace_destroy(work.trace);
}

TEST("flushed records are read before the writer goes on, and a window pauses after a barrier at their end") {
    struct work work;
    work_init(&work, 1, 1, 2, TRACE_MEMORY_BYTES);
    struct trace_writer *writer = trace_open_writer(work.trace, 0, 0);
    struct warp_stream stream = {.cta = 0};
    trace_open(work.trace, &stream);
    static const unsigned ops[2][2] = {{OP_other, OP_barrier}, {OP_barrier, OP_other}};
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned j = 0; j < 2; j++) trace_put(writer, &work.records[ops[i][j]], NULL);
        trace_flush(writer);
        trace_flush(writer); /* nothing is left */
        trace_refill(work.trace, &stream);
        CHECK_EQ(stream.count, 2u);
        CHECK_EQ(stream.instr[0].op, ops[i][0]);
        CHECK_EQ(stream.instr[1].op, ops[i][1]);
        CHECK_EQ(stream.pauses, i == 0);
    }
    trace_put(writer, &work.records[STATIC_RECORDS - 1], NULL);
    trace_refill(work.trace, &stream);
    CHECK_EQ(stream.instr[0].op, OP_exit);
    trace_finish(work.trace, true);
    trace_destroy(work.trace);
}

static bool no_patience(void *user) { return ++*(unsigned *)user < 2; }

TEST("a reader that gives up gets exits, and unread records are released") {
    struct work work;
    work_init(&work, 2, 1, 2, TRACE_MEMORY_BYTES);
    unsigned asked = 0;
    trace_set_patience(work.trace, no_patience, &asked);
    struct trace_writer *writer = trace_open_writer(work.trace, 0, 0);
    for (uint32_t i = 0; i < 10; i++) trace_put(writer, &work.records[0], NULL);
    struct warp_stream stream = {.cta = 0};
    trace_open(work.trace, &stream);
    trace_refill(work.trace, &stream);
    CHECK_EQ(asked, 2u);
    REQUIRE(stream.count == 1);
    CHECK_EQ(stream.instr[0].op, OP_exit);
    trace_destroy(work.trace);
}

TEST("a stream whose file is truncated ends with an exit, and the trace reports why") {
    struct work work;
    work_init(&work, 4, 2, 3000, 0);
    int file = dup(STDIN_FILENO); /* the lowest free descriptor, which the trace's file will get */
    close(file);
    write_all(&work);
    REQUIRE(ftruncate(file, 100) == 0);
    CHECK(!trace_failure(work.trace));
    struct warp_stream stream = {.cta = 0};
    trace_open(work.trace, &stream);
    trace_refill(work.trace, &stream);
    REQUIRE(stream.count == 1);
    CHECK_EQ(stream.instr[0].op, OP_exit);
    CHECK(trace_was_cut(work.trace));
    REQUIRE(trace_failure(work.trace));
    CHECK_TEXT(trace_failure(work.trace), "temporary file: the file is shorter");
    trace_destroy(work.trace);
}
