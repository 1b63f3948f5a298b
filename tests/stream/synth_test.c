#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "settings.h"
#include "stream/workload.h"

static struct config *make_config(void) {
    static const struct section *const sections[] = {&workload_section};
    return config_create(sections, 1);
}

/* Opens a workload. The configuration may go once the source is made. */
static struct stream_source *open_with(const char *name, const char *const *settings, struct error *err) {
    struct config *config = make_config();
    bool good = config_set_all(config, settings, err) && config_check(config, err);
    struct stream_source *source = good ? workload_open(config, name, err) : NULL;
    config_destroy(config);
    return source;
}

static struct stream_source *open_good(const char *name, const char *const *settings) {
    struct error err = {0};
    struct stream_source *source = open_with(name, settings, &err);
    CHECK_EQ((const char *)err.text, "");
    REQUIRE(source);
    return source;
}

/* Reads the records of a warp one by one. */
struct reader {
    struct stream_source *source;
    struct warp_stream warp;
    unsigned next;
};

static void reader_open(struct reader *reader, struct stream_source *source, uint64_t cta, uint32_t warp) {
    *reader = (struct reader){.source = source, .warp = {.cta = cta, .warp = warp}};
    source->ops->open(source, &reader->warp);
}

static const struct instr *reader_next(struct reader *reader) {
    if (reader->next == reader->warp.count) {
        reader->source->ops->refill(reader->source, &reader->warp);
        reader->next = 0;
        if (reader->warp.count == 0) return NULL;
    }
    return &reader->warp.instr[reader->next++];
}

static uint64_t reader_touch(const struct reader *reader, const struct instr *instr) {
    return reader->warp.touch[instr->touches];
}

static uint64_t mix(uint64_t digest, const void *data, size_t size) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++) digest = (digest ^ byte[i]) * UINT64_C(0x100000001B3);
    return digest;
}

/* A record with its touches, without their index in the buffer. */
static uint64_t record_digest(uint64_t digest, const struct reader *reader, const struct instr *instr) {
    struct instr copy = *instr;
    copy.touches = 0;
    digest = mix(digest, &copy, sizeof copy);
    bool memory = instr->op == OP_load || instr->op == OP_store;
    return memory ? mix(digest, &reader->warp.touch[instr->touches], instr->count * sizeof(uint64_t)) : digest;
}

static uint64_t warp_digest(struct stream_source *source, uint64_t cta, uint32_t warp) {
    struct reader reader;
    reader_open(&reader, source, cta, warp);
    uint64_t digest = 1;
    for (const struct instr *instr; (instr = reader_next(&reader));) digest = record_digest(digest, &reader, instr);
    return digest;
}

static void name_at(unsigned i, char *name, size_t size) {
    struct workload_info info;
    workload_info_at(i, &info);
    snprintf(name, size, "%s", info.name);
}

TEST("there are eight generated workloads") {
    static const char *const expected[] = {"synth:chase",   "synth:stream", "synth:copy",   "synth:hotline",
                                           "synth:uniform", "synth:shared", "synth:spread", "synth:alu"};
    REQUIRE(workload_count() == COUNT_OF(expected));
    for (unsigned i = 0; i < COUNT_OF(expected); i++) {
        struct workload_info info;
        workload_info_at(i, &info);
        CHECK_EQ((const char *)info.name, expected[i]);
        CHECK_TEXT(info.parameters, "ctas=");
        CHECK_TEXT(info.parameters, "iterations=");
    }
}

TEST("every stream is well formed, ends in its only exit and has the announced length") {
    for (unsigned i = 0; i < workload_count(); i++) {
        char name[32];
        name_at(i, name, sizeof name);
        struct stream_source *source =
            open_good(name, SETTINGS("workload.ctas=3", "workload.warps=2", "workload.iterations=37"));
        struct kernel kernel;
        REQUIRE(source->ops->next_kernel(source, &kernel));
        CHECK_EQ(kernel_ctas(&kernel), 3u);
        CHECK_EQ(kernel_warps(&kernel), 2u);
        uint64_t records = 0;
        for (uint64_t w = 0; w < 6; w++) {
            struct reader reader;
            reader_open(&reader, source, w / 2, (uint32_t)(w % 2));
            uint8_t last = OP_COUNT;
            for (const struct instr *instr; (instr = reader_next(&reader)); records++) {
                CHECK(last != OP_exit);
                last = instr->op;
                CHECK(instr->op < OP_COUNT && instr->active != 0 && instr->conflicts == 1);
                bool memory = instr->op == OP_load || instr->op == OP_store;
                CHECK_EQ(instr->count, memory ? 1 : 0);
                for (unsigned t = 0; t < instr->count; t++) {
                    REQUIRE(instr->touches + t < STREAM_TOUCHES);
                    uint64_t touch = reader.warp.touch[instr->touches + t];
                    CHECK(touch_sectors(touch) != 0);
                    CHECK(touch_address(touch) >= 0x10000000 && touch_address(touch) < 0xE0000000);
                    CHECK(t == 0 || touch_address(touch) > touch_address(reader.warp.touch[instr->touches + t - 1]));
                }
                for (unsigned r = 0; r < INSTR_DSTS; r++) CHECK(instr->dst[r] < kernel.registers);
                for (unsigned r = 0; r < INSTR_SRCS; r++) CHECK(instr->src[r] < kernel.registers);
            }
            CHECK_EQ(last, OP_exit);
            source->ops->refill(source, &reader.warp);
            CHECK_EQ(reader.warp.count, 0u);
        }
        CHECK_EQ(records, workload_warp_instructions(source));
        CHECK(!source->ops->next_kernel(source, &kernel));
        struct error found = {0};
        CHECK_EQ(source->ops->check(source, &found), "none");
        source->ops->destroy(source);
    }
}

TEST("a restarted source, and another with the same settings, produce the same kernels and streams") {
    for (unsigned i = 0; i < workload_count(); i++) {
        char name[32];
        name_at(i, name, sizeof name);
        struct stream_source *source = open_good(
            name, SETTINGS("workload.ctas=2", "workload.warps=2", "workload.iterations=20", "workload.kernels=2"));
        struct stream_source *other = open_good(
            name, SETTINGS("workload.ctas=2", "workload.warps=2", "workload.iterations=20", "workload.kernels=2"));
        uint64_t digest[3] = {1, 1, 1};
        for (unsigned pass = 0; pass < 3; pass++) {
            struct stream_source *from = pass == 2 ? other : source;
            if (pass == 1) source->ops->restart(source);
            struct kernel kernel;
            unsigned kernels = 0;
            while (from->ops->next_kernel(from, &kernel)) {
                kernels++;
                digest[pass] = mix(digest[pass], &kernel, sizeof kernel);
                for (uint64_t w = 0; w < 4; w++) {
                    uint64_t part = warp_digest(from, w / 2, (uint32_t)(w % 2));
                    digest[pass] = mix(digest[pass], &part, sizeof part);
                }
            }
            CHECK_EQ(kernels, 2u);
        }
        CHECK_EQ(digest[0], digest[1]);
        CHECK_EQ(digest[0], digest[2]);
        source->ops->destroy(source);
        other->ops->destroy(other);
    }
}

TEST("a warp's stream does not depend on the order in which warps are read") {
    for (unsigned i = 0; i < workload_count(); i++) {
        char name[32];
        name_at(i, name, sizeof name);
        struct stream_source *source =
            open_good(name, SETTINGS("workload.ctas=4", "workload.warps=2", "workload.iterations=50"));
        struct kernel kernel;
        REQUIRE(source->ops->next_kernel(source, &kernel));
        struct reader *reader = calloc(8, sizeof *reader);
        uint64_t digest[8], state = 99;
        bool open[8] = {0};
        unsigned running = 8;
        for (unsigned w = 0; w < 8; w++) digest[w] = 1;
        while (running > 0) { /* some records of a random warp, opened on first use */
            uint64_t w = random_below(&state, 8), some = 1 + random_below(&state, 30);
            if (!open[w]) reader_open(&reader[w], source, w / 2, (uint32_t)(w % 2));
            open[w] = true;
            if (!reader[w].source) continue;
            for (uint64_t r = 0; r < some; r++) {
                const struct instr *instr = reader_next(&reader[w]);
                if (!instr) {
                    reader[w].source = NULL;
                    running--;
                    break;
                }
                digest[w] = record_digest(digest[w], &reader[w], instr);
            }
        }
        for (uint64_t w = 0; w < 8; w++) CHECK_EQ(digest[w], warp_digest(source, w / 2, (uint32_t)(w % 2)));
        free(reader);
        source->ops->destroy(source);
    }
}

TEST("every load of synth:chase depends on the previous one, and the chain repeats over the footprint") {
    struct stream_source *source = open_good(
        "synth:chase", SETTINGS("workload.footprint_kb=16", "workload.stride_bytes=128", "workload.iterations=300"));
    struct kernel kernel;
    REQUIRE(source->ops->next_kernel(source, &kernel));
    CHECK_EQ(kernel_ctas(&kernel), 1u);
    CHECK_EQ(kernel_warps(&kernel), 1u);
    struct reader reader;
    reader_open(&reader, source, 0, 0);
    uint64_t first[128], loads = 0;
    for (const struct instr *instr; (instr = reader_next(&reader))->op != OP_exit; loads++) {
        CHECK_EQ(instr->op, OP_load);
        CHECK_EQ(instr->cache, CACHE_DEFAULT);
        CHECK(instr->dst[0] != 0 && instr->dst[0] == instr->src[0]);
        uint64_t touch = reader_touch(&reader, instr);
        CHECK_EQ(__builtin_popcountll(touch_sectors(touch)), 1);
        if (loads < 128)
            first[loads] = touch;
        else
            CHECK_EQ(touch, first[loads % 128]);
        if (loads > 0 && loads < 128) CHECK(first[loads] != first[loads - 1]);
    }
    CHECK_EQ(loads, 300u);
    source->ops->destroy(source);
}

TEST("cache_global makes every load bypass the L1; those of synth:hotline always do") {
    static const char *const names[] = {"synth:chase",   "synth:stream", "synth:copy",
                                        "synth:uniform", "synth:shared", "synth:hotline"};
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        bool hotline = i == COUNT_OF(names) - 1;
        for (unsigned global = 0; global < 2; global++) {
            struct stream_source *source =
                open_good(names[i], SETTINGS(global ? "workload.cache_global=true" : "workload.ctas=1"));
            struct reader reader;
            reader_open(&reader, source, 0, 0);
            for (unsigned r = 0; r < 40; r++) {
                const struct instr *instr = reader_next(&reader);
                if (instr->op == OP_load)
                    CHECK_EQ(instr->cache, global || hotline ? CACHE_GLOBAL : CACHE_DEFAULT);
                else
                    CHECK_EQ(instr->cache, CACHE_DEFAULT);
            }
            source->ops->destroy(source);
        }
    }
}

static int touch_order(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The sorted touches of the first `ctas` CTAs by records of class `op` with the given flags (negative: any); the caller
 * frees. */
static uint64_t *touches_of(struct stream_source *source, uint64_t ctas, uint8_t op, int flags, size_t *count,
                            uint64_t *records) {
    uint64_t *touches = NULL;
    struct kernel kernel = {0};
    source->ops->restart(source);
    REQUIRE(source->ops->next_kernel(source, &kernel));
    *count = 0;
    *records = 0;
    for (uint64_t w = 0; w < ctas * kernel_warps(&kernel); w++) {
        struct reader reader;
        reader_open(&reader, source, w / kernel_warps(&kernel), (uint32_t)(w % kernel_warps(&kernel)));
        for (const struct instr *instr; (instr = reader_next(&reader));) {
            ++*records;
            if (instr->op != op || (flags >= 0 && instr->flags != flags)) continue;
            touches = mem_grow(touches, *count + 1, sizeof *touches);
            touches[(*count)++] = reader_touch(&reader, instr);
        }
    }
    qsort(touches, *count, sizeof *touches, touch_order);
    return touches;
}

static size_t distinct(const uint64_t *touches, size_t count) {
    size_t different = count > 0;
    for (size_t i = 1; i < count; i++) different += touches[i] != touches[i - 1];
    return different;
}

TEST("half of the instructions of synth:stream are loads, each of a new line, without gaps") {
    struct stream_source *source = open_good("synth:stream", SETTINGS("workload.ctas=8"));
    size_t count;
    uint64_t records;
    uint64_t *touches = touches_of(source, 8, OP_load, -1, &count, &records);
    CHECK_EQ(2 * count, records - 8 * 4); /* the number of warps */
    CHECK_EQ(distinct(touches, count), count);
    CHECK_EQ(touch_address(touches[count - 1]) - touch_address(touches[0]),
             (count / 2 - 1) * 256); /* two lines per block */
    for (size_t i = 0; i < count; i++) CHECK_EQ(touch_sectors(touches[i]), i % 2 ? 0xF0 : 0x0F);
    free(touches);
    source->ops->destroy(source);
}

TEST("several loads of synth:stream are independent, and each has its own dependent addition") {
    struct stream_source *source = open_good("synth:stream", SETTINGS("workload.loads=4", "workload.compute=4"));
    struct reader reader;
    reader_open(&reader, source, 0, 0);
    uint64_t written = 0, used = 0;
    for (unsigned r = 0; r < 4; r++) {
        const struct instr *instr = reader_next(&reader);
        CHECK_EQ(instr->op, OP_load);
        CHECK_EQ(instr->src[0], 0);
        CHECK(!(written >> instr->dst[0] & 1));
        written |= UINT64_C(1) << instr->dst[0];
    }
    for (unsigned r = 0; r < 4; r++) {
        const struct instr *instr = reader_next(&reader);
        CHECK_EQ(instr->op, OP_f32_add);
        CHECK(!(used >> instr->src[1] & 1));
        used |= UINT64_C(1) << instr->src[1];
    }
    CHECK_EQ(used, written);
    source->ops->destroy(source);
}

TEST("synth:copy writes as much as it reads, to another array, and each store depends on its load") {
    struct stream_source *source = open_good("synth:copy", SETTINGS("workload.ctas=4"));
    size_t reads, writes;
    uint64_t records;
    uint64_t *from = touches_of(source, 4, OP_load, -1, &reads, &records);
    uint64_t *to = touches_of(source, 4, OP_store, -1, &writes, &records);
    REQUIRE(reads == writes && reads > 0);
    CHECK_EQ(distinct(from, reads), reads);
    CHECK_EQ(distinct(to, writes), writes);
    CHECK(from[reads - 1] < to[0]);
    for (size_t i = 0; i < reads; i++) CHECK_EQ(to[i] - from[i], to[0] - from[0]);
    free(from);
    free(to);
    struct reader reader;
    reader_open(&reader, source, 1, 3);
    uint64_t loaded[STREAM_REGISTERS] = {0};
    for (const struct instr *instr; (instr = reader_next(&reader))->op != OP_exit;) {
        if (instr->op == OP_load) loaded[instr->dst[0]] = reader_touch(&reader, instr);
        if (instr->op == OP_store)
            CHECK_EQ(reader_touch(&reader, instr) - loaded[instr->src[0]], 0x100000u); /* 1 MB holds 4 CTAs' data */
    }
    source->ops->destroy(source);
}

TEST("all warps of synth:hotline read the same few lines in the same order") {
    struct stream_source *source = open_good("synth:hotline", SETTINGS("workload.lines=3", "workload.ctas=2"));
    uint64_t same = warp_digest(source, 0, 0);
    for (uint64_t w = 1; w < 8; w++) CHECK_EQ(warp_digest(source, w / 4, (uint32_t)(w % 4)), same);
    size_t count;
    uint64_t records;
    uint64_t *touches = touches_of(source, 2, OP_load, INSTR_READ_ONLY, &count, &records);
    CHECK_EQ(distinct(touches, count), 3u);
    CHECK(2 * count >= records);
    free(touches);
    source->ops->destroy(source);
}

TEST(
    "synth:uniform covers its footprint evenly and stays inside it, with a different sequence for each warp and seed") {
    struct stream_source *source = open_good("synth:uniform", SETTINGS("workload.footprint_kb=64", "workload.ctas=16"));
    size_t count;
    uint64_t records;
    uint64_t *touches = touches_of(source, 16, OP_load, -1, &count, &records);
    REQUIRE(count == 16 * 8 * 96);
    CHECK_EQ(distinct(touches, count), 512u);
    CHECK_EQ(touch_address(touches[count - 1]) - touch_address(touches[0]), 64u * 1024 - 256);
    size_t lower = 0;
    while (touch_address(touches[lower]) < touch_address(touches[0]) + 32 * 1024) lower++;
    CHECK_NEAR((double)lower, (double)count / 2, 0.05);
    free(touches);
    CHECK(warp_digest(source, 0, 0) != warp_digest(source, 0, 1));
    struct stream_source *seeded = open_good("synth:uniform", SETTINGS("workload.footprint_kb=64", "workload.seed=2"));
    CHECK(warp_digest(source, 0, 0) != warp_digest(seeded, 0, 0));
    source->ops->destroy(source);
    seeded->ops->destroy(seeded);
}

TEST("every CTA of synth:shared sweeps the same read-only footprint, and private lines are touched once") {
    struct stream_source *source = open_good("synth:shared", SETTINGS("workload.footprint_kb=32", "workload.ctas=4"));
    size_t shared, own, one;
    uint64_t records;
    uint64_t *all = touches_of(source, 4, OP_load, INSTR_READ_ONLY, &shared, &records);
    uint64_t *private = touches_of(source, 4, OP_load, 0, &own, &records);
    uint64_t *first = touches_of(source, 1, OP_load, INSTR_READ_ONLY, &one, &records);
    CHECK_EQ(shared, 5 * own);
    CHECK_EQ(distinct(all, shared), 256u);
    CHECK_EQ(distinct(first, one), 256u);
    CHECK_EQ(distinct(private, own), own);
    CHECK(all[shared - 1] < private[0]);
    struct reader reader[4];
    for (uint64_t cta = 0; cta < 4; cta++) reader_open(&reader[cta], source, cta, 3);
    for (unsigned r = 0; r < 100; r++) { /* in step: the same shared line at the same position of the stream */
        const struct instr *instr[4];
        for (unsigned cta = 0; cta < 4; cta++) instr[cta] = reader_next(&reader[cta]);
        if (instr[0]->op != OP_load) continue;
        for (unsigned cta = 1; cta < 4; cta++)
            CHECK_EQ(reader_touch(&reader[cta], instr[cta]) == reader_touch(&reader[0], instr[0]),
                     instr[0]->flags == INSTR_READ_ONLY);
    }
    free(all);
    free(private);
    free(first);
    source->ops->destroy(source);
}

TEST("a CTA of synth:spread sweeps the lines of synth:shared, starting in its own part of the footprint") {
    static const char *const settings[] = {"workload.footprint_kb=32", "workload.ctas=4", NULL};
    struct stream_source *spread = open_good("synth:spread", settings), *shared = open_good("synth:shared", settings);
    uint64_t first = 0;
    for (uint64_t cta = 0; cta < 4; cta++) {
        struct reader reader, other;
        reader_open(&reader, spread, cta, 0);
        reader_open(&other, shared, cta, 0);
        uint64_t begin = touch_address(reader_touch(&reader, reader_next(&reader)));
        if (cta == 0) first = begin;
        CHECK_EQ(begin, first + cta * 8 * 1024);
        CHECK_EQ(touch_address(reader_touch(&other, reader_next(&other))), first);
    }
    size_t all, one;
    uint64_t records, *touches = touches_of(spread, 4, OP_load, INSTR_READ_ONLY, &all, &records),
                      *alone = touches_of(spread, 1, OP_load, INSTR_READ_ONLY, &one, &records);
    CHECK_EQ(distinct(touches, all), 256u);
    CHECK_EQ(distinct(alone, one), 256u);
    free(touches);
    free(alone);
    spread->ops->destroy(spread);
    shared->ops->destroy(shared);
}

TEST("synth:alu is arithmetic only, in independent chains") {
    struct stream_source *source = open_good("synth:alu", NO_SETTINGS);
    struct reader reader;
    reader_open(&reader, source, 0, 0);
    unsigned since[STREAM_REGISTERS] = {0};
    for (unsigned r = 1;; r++) {
        const struct instr *instr = reader_next(&reader);
        if (instr->op == OP_exit) break;
        CHECK(instr->op == OP_f32_fma || instr->op == OP_int_add);
        for (unsigned s = 0; s < INSTR_SRCS; s++)
            if (since[instr->src[s]] && instr->src[s]) CHECK_EQ(r - since[instr->src[s]], 8u);
        since[instr->dst[0]] = r;
    }
    source->ops->destroy(source);
}

TEST("an unknown workload is reported with the nearest name") {
    struct error err = {0};
    CHECK(!open_with("synth:strem", NO_SETTINGS, &err));
    CHECK_TEXT(err.text, "did you mean `synth:stream`?");
    err = (struct error){0};
    CHECK(!open_with("hotline", NO_SETTINGS, &err));
    CHECK_TEXT(err.text, "did you mean `synth:hotline`?");
    err = (struct error){0};
    CHECK(!open_with("no-such-workload", NO_SETTINGS, &err));
    CHECK_TEXT(err.text, "sluice list workloads");
    err = (struct error){0};
    CHECK(!open_with("synth:", NO_SETTINGS, &err));
    CHECK(err.set);
    err = (struct error){0};
    CHECK(!open_with("synth:chase:large", NO_SETTINGS, &err));
    CHECK_TEXT(err.text, "no sizes");
}

TEST("a parameter that a workload does not have is rejected with those that it has") {
    struct error err = {0};
    CHECK(!open_with("synth:alu", SETTINGS("workload.loads=2"), &err));
    CHECK_TEXT(
        err.text,
        "workload.loads: synth:alu has no such parameter; known: ctas, warps, kernels, iterations, compute, chains");
    err = (struct error){0};
    CHECK(!open_with("synth:alu", SETTINGS("workload.cache_global=true"), &err));
    CHECK_TEXT(err.text, "workload.cache_global");
    err = (struct error){0};
    CHECK(!open_with("synth:stream", SETTINGS("workload.footprint_mb=2"), &err));
    CHECK_TEXT(err.text, "workload.footprint_mb");
}

TEST("contradictory parameters are rejected with a fix") {
    static const struct {
        const char *name, *settings[3], *text;
    } bad[] = {
        {"synth:chase", {"workload.footprint_kb=4", "workload.footprint_mb=1"}, "give only one of them"},
        {"synth:chase", {"workload.footprint_mb=0.0001"}, "not a multiple of 1 KB"},
        {"synth:chase", {"workload.footprint_kb=1", "workload.stride_bytes=2048"}, "does not fit in a footprint"},
        {"synth:chase", {"workload.stride_bytes=40"}, "multiple"},
        {"synth:uniform", {"workload.stride_bytes=160"}, "multiple"},
        {"synth:shared", {"workload.private_loads=7"}, "private loads exceed"},
        {"synth:stream",
         {"workload.iterations=1000000000", "workload.ctas=1048576"},
         "touches more than its address range of 3328 MB"},
        {"synth:alu", {"workload.compute=0"}, "at least 1 instruction"},
    };
    for (unsigned i = 0; i < COUNT_OF(bad); i++) {
        struct error err = {0};
        CHECK(!open_with(bad[i].name, bad[i].settings, &err));
        CHECK_TEXT(err.text, bad[i].text);
    }
}

TEST("zero is a valid value of compute and private_loads") {
    struct stream_source *source =
        open_good("synth:shared", SETTINGS("workload.compute=0", "workload.private_loads=0", "workload.iterations=5"));
    struct reader reader;
    reader_open(&reader, source, 0, 0);
    unsigned loads = 0;
    for (const struct instr *instr; (instr = reader_next(&reader))->op != OP_exit; loads++) {
        CHECK_EQ(instr->op, OP_load);
        CHECK_EQ(instr->flags, INSTR_READ_ONLY);
    }
    CHECK_EQ(loads, 30u);
    source->ops->destroy(source);
}
