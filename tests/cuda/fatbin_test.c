/* Containers of device code: those of nvcc, those made here, and damaged ones. */
#include "cuda/fatbin.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "fuzz/corpus.h"
#include "test.h"

#define LLVMFuzzerTestOneInput fatbin_fuzz_one_input
#include "fuzz/fatbin_fuzz.c"

enum { ROOM = 4096 };

struct container {
    uint8_t bytes[ROOM];
    size_t size;
};

static void put(uint8_t *to, uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; i++) to[i] = (uint8_t)(value >> (8 * i));
}

static void container_start(struct container *c) {
    memset(c, 0, sizeof *c);
    put(c->bytes, FATBIN_MAGIC, 4);
    put(c->bytes + 4, 1, 2);
    put(c->bytes + 6, 16, 2);
    c->size = 16;
}

/* An entry with a header of 64 bytes and 8 bytes of options, as debug builds have. */
static uint8_t *container_add(struct container *c, unsigned kind, unsigned sm, const void *payload, size_t bytes,
                              size_t packed, uint64_t text_bytes, unsigned flags) {
    uint8_t *head = c->bytes + c->size;
    size_t stored = (bytes + 7) / 8 * 8;
    REQUIRE(c->size + 72 + stored <= ROOM);
    put(head, kind, 2);
    put(head + 2, 0x0101, 2);
    put(head + 4, 72, 4);
    put(head + 8, stored, 8);
    put(head + 16, packed, 4);
    put(head + 24, 3, 2);
    put(head + 26, 8, 2);
    put(head + 28, sm, 4);
    put(head + 40, flags, 8);
    put(head + 56, text_bytes, 8);
    memcpy(head + 72, payload, bytes);
    c->size += 72 + stored;
    put(c->bytes + 8, c->size - 16, 8);
    return head;
}

static void add_text(struct container *c, unsigned sm, const char *text) {
    container_add(c, FATBIN_PTX, sm, text, strlen(text) + 1, 0, 0, 0x11);
}

static char *ptx_of(const struct container *c, unsigned sm, struct error *err) {
    size_t length;
    char *text = fatbin_ptx(c->bytes, c->size, sm, &length, err);
    if (text) CHECK_EQ(length, strlen(text));
    return text;
}

static void chooses(const struct container *c, unsigned sm, const char *wanted) {
    struct error err = {0};
    char *text = ptx_of(c, sm, &err);
    REQUIRE(text);
    CHECK_EQ((const char *)text, wanted);
    free(text);
}

static void fails(const struct container *c, const char *message) {
    struct error err = {0};
    CHECK(!ptx_of(c, 75, &err));
    CHECK_TEXT(err.text, message);
}

TEST("chooses the PTX of the highest architecture that is not above the device's, otherwise the lowest") {
    struct container c;
    container_start(&c);
    add_text(&c, 80, "ptx of 80");
    add_text(&c, 60, "ptx of 60");
    container_add(&c, FATBIN_CUBIN, 75,
                  "\x7f"
                  "ELF",
                  4, 0, 0, 0x11);
    add_text(&c, 70, "ptx of 70");
    chooses(&c, 75, "ptx of 70");
    chooses(&c, 80, "ptx of 80");
    chooses(&c, 90, "ptx of 80");
    chooses(&c, 65, "ptx of 60");
    chooses(&c, 35, "ptx of 60");
}

TEST("reads an entry of kind, architecture, PTX version and size, and containers that follow each other") {
    struct container c, both;
    container_start(&c);
    add_text(&c, 75, "first");
    both = c;
    both.size += 8; /* padding */
    memcpy(both.bytes + both.size, c.bytes, c.size);
    both.size += c.size;
    struct error err = {0};
    struct fatbin fatbin = fatbin_open(both.bytes, both.size);
    struct fatbin_entry entry;
    for (unsigned i = 0; i < 2; i++) {
        REQUIRE(fatbin_next(&fatbin, &entry, &err));
        CHECK_EQ(entry.kind, (unsigned)FATBIN_PTX);
        CHECK_EQ(entry.sm, 75u);
        CHECK_EQ(entry.ptx_major, 8u);
        CHECK_EQ(entry.ptx_minor, 3u);
        CHECK_EQ(entry.packing, FATBIN_RAW);
        CHECK_EQ(entry.text_bytes, 8u);
    }
    CHECK(!fatbin_next(&fatbin, &entry, &err));
    CHECK(!err.set);
}

TEST("unpacks zstd") {
    static const char text[] = "zstd zstd zstd zstd zstd zstd zstd";
    uint8_t packed[256];
    size_t bytes = ZSTD_compress(packed, sizeof packed, text, sizeof text, 3);
    REQUIRE(!ZSTD_isError(bytes));
    struct container c;
    container_start(&c);
    container_add(&c, FATBIN_PTX, 75, packed, bytes, bytes, sizeof text, 0x8011);
    chooses(&c, 75, text);
    put(c.bytes + 16 + 56, sizeof text + 1, 8);
    fails(&c, "zstd data of the entry for sm_75 cannot be unpacked");
}

/* Four literals, an overlapping match of 20 bytes at distance 4 (its length continues in a byte), and the last literals. */
static const uint8_t lz4_block[] = {0x4F, 'a', 'b', 'c', 'd', 4, 0, 1, 0x20, 'x', 'y'};

TEST("unpacks LZ4: literals, overlapping matches and lengths in several bytes") {
    uint8_t out[64];
    CHECK(lz4_unpack(lz4_block, sizeof lz4_block, out, 26));
    CHECK(memcmp(out, "abcdabcdabcdabcdabcdabcdxy", 26) == 0);
    uint8_t many[2 + 1 + 300] = {0xF0, 255, 30};
    memset(many + 3, 'q', 300);
    uint8_t long_out[300];
    CHECK(lz4_unpack(many, sizeof many, long_out, 300));
    CHECK(long_out[0] == 'q' && long_out[299] == 'q');
}

TEST("rejects damaged LZ4: wrong size, distance before the start, and every truncation") {
    uint8_t out[64], block[sizeof lz4_block];
    CHECK(!lz4_unpack(lz4_block, sizeof lz4_block, out, 25));
    CHECK(!lz4_unpack(lz4_block, sizeof lz4_block, out, 27));
    for (size_t size = 0; size < sizeof lz4_block; size++) CHECK(!lz4_unpack(lz4_block, size, out, 26));
    memcpy(block, lz4_block, sizeof block);
    block[5] = 5;
    CHECK(!lz4_unpack(block, sizeof block, out, 26));
    block[5] = 0;
    CHECK(!lz4_unpack(block, sizeof block, out, 26));
}

TEST("names what is missing or damaged in a container") {
    struct container c;
    container_start(&c);
    fails(&c, "the program has no device code");
    container_add(&c, FATBIN_CUBIN, 75,
                  "\x7f"
                  "ELF",
                  4, 0, 0, 0x11);
    fails(&c, "machine code but no PTX; rebuild it with nvcc -gencode arch=compute_75,code=compute_75");
    container_start(&c);
    uint8_t *head = container_add(&c, FATBIN_PTX, 75, "text", 5, 0, 0, 0x11);
    struct container good = c;
    put(c.bytes, 0x12345678, 4);
    fails(&c, "byte 0: no container begins here");
    c = good;
    put(c.bytes + 8, ROOM, 8);
    fails(&c, "byte 0: the container is longer than the data");
    c = good;
    c.size = 12;
    fails(&c, "the container's header is incomplete");
    c = good;
    put(head, FATBIN_PTX, 2);
    put(c.bytes + 8, 40, 8);
    c.size = 16 + 40;
    fails(&c, "byte 16: the entry's header is incomplete");
    c = good;
    put(c.bytes + 16 + 8, 16, 8);
    fails(&c, "byte 16: the entry is longer than its container");
    c = good;
    put(c.bytes + 16 + 16, 9, 4);
    fails(&c, "the compressed size exceeds the stored size");
    c = good;
    put(c.bytes + 16 + 16, 5, 4);
    fails(&c, "unknown compression");
    put(c.bytes + 16 + 40, 0x2000, 8);
    put(c.bytes + 16 + 56, UINT64_C(1) << 40, 8);
    fails(&c, "the unpacked size is too large");
}

static char *nvcc_ptx(const char *name, unsigned sm) {
    char path[512];
    snprintf(path, sizeof path, SLUICE_SOURCE_DIR "/data/fuzz/fatbin/nvcc-%s", name);
    FILE *file = fopen(path, "rb");
    REQUIRE(file);
    char content[ROOM];
    size_t bytes = fread(content, 1, sizeof content, file), length = 0;
    fclose(file);
    struct error err = {0};
    return fatbin_ptx(content, bytes, sm, &length, &err);
}

TEST("reads the containers of nvcc: raw, LZ4, zstd, two architectures, line information") {
    char *raw = nvcc_ptx("raw", 75), *lz4 = nvcc_ptx("lz4", 75), *zstd = nvcc_ptx("zstd", 75);
    REQUIRE(raw && lz4 && zstd);
    CHECK_TEXT((const char *)raw, ".target sm_75");
    CHECK_TEXT((const char *)raw, ".entry add(");
    CHECK_EQ((const char *)raw, (const char *)lz4);
    CHECK_EQ((const char *)raw, (const char *)zstd);
    char *other = nvcc_ptx("zstd", 86), *lines = nvcc_ptx("lineinfo", 75);
    REQUIRE(other && lines);
    CHECK_TEXT((const char *)other, ".target sm_80");
    CHECK_TEXT((const char *)lines, ".loc");
    free(raw), free(lz4), free(zstd), free(other), free(lines);
}

static void replay(const uint8_t *data, size_t size) {
    for (size_t length = size; length > 0; length = length * 7 / 8) LLVMFuzzerTestOneInput(data, length);
    static uint8_t bytes[1 << 16];
    memcpy(bytes, data, size);
    for (size_t at = 0; at < size && at < 96; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[at] ^= (uint8_t)(1u << bit);
            LLVMFuzzerTestOneInput(bytes, size);
            bytes[at] = data[at];
        }
}

TEST(
    "every container in the fuzzer's corpus, truncated or with a flipped bit, is rejected with a message or unpacked") {
    CHECK(corpus_replay("fatbin", replay) >= 4);
}
