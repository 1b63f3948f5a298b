/* Packed records byte by byte, as pack.h describes them. */
#include "stream/pack.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "test.h"

enum { IDS = 300 };

static void make_program(struct instr *program) {
    for (uint32_t i = 0; i < IDS; i++)
        program[i] = (struct instr){.id = i, .op = OP_int_add, .conflicts = 1, .src = {(uint8_t)i}};
    program[10] = (struct instr){.id = 10, .op = OP_load, .conflicts = 1, .count = 2};
    program[11] = (struct instr){.id = 11, .op = OP_barrier, .conflicts = 1, .count = 5};
}

struct packed {
    struct instr program[IDS];
    struct packer packer;
    uint8_t bytes[8 * PACK_RECORD_BYTES];
};

static void packed_init(struct packed *p) {
    memset(p, 0, sizeof *p);
    make_program(p->program);
    p->packer = (struct packer){.bytes = p->bytes, .run_at = PACK_NO_RUN};
    pack_start(&p->packer.context);
}

/* A record of an id with these lanes, and `count` touches if it is a memory access. */
static void put(struct packed *p, uint32_t id, uint32_t lanes, unsigned count, const uint64_t *touches) {
    struct instr record = p->program[id];
    record.active = lanes;
    if (instr_is_memory(&record)) record.count = (uint16_t)count;
    pack_put(&p->packer, &p->program[id], &record, touches);
}

/* The bytes that have been written since `from` are these. */
static void check_bytes(const struct packed *p, uint32_t from, const uint8_t *bytes, unsigned count) {
    if (!CHECK_EQ(p->packer.used - from, count)) return;
    for (unsigned i = 0; i < count; i++)
        if (!CHECK_EQ(p->bytes[from + i], bytes[i])) printf("      byte %u\n", i);
}
#define CHECK_BYTES(p, from, ...) check_bytes(p, from, (const uint8_t[]){__VA_ARGS__}, sizeof(uint8_t[]){__VA_ARGS__})

TEST("consecutive records are a run of up to 128, which an end of the buffer ends") {
    struct packed p;
    packed_init(&p);
    for (uint32_t i = 0; i < 3; i++) put(&p, i, UINT32_MAX, 0, NULL);
    CHECK_BYTES(&p, 0, 2 << 1);
    packed_init(&p);
    for (uint32_t i = 0; i < 128; i++) put(&p, 12 + i, UINT32_MAX, 0, NULL);
    CHECK_BYTES(&p, 0, 1 | 2, 24, 0xFC); /* a jump of 12 to the first one, then 127 more */
    put(&p, 140, UINT32_MAX, 0, NULL);
    CHECK_EQ(p.packer.used, 3u);
    put(&p, 141, UINT32_MAX, 0, NULL);
    CHECK_EQ(p.packer.used, 4u); /* the run was full */
    CHECK_EQ(p.bytes[2], 0xFEu);
    CHECK_EQ(p.bytes[3], 0u);
    p.packer.run_at = PACK_NO_RUN;
    put(&p, 142, UINT32_MAX, 0, NULL);
    CHECK_EQ(p.packer.used, 5u);
}

TEST("a jump is a distance from the next id, zigzag in both directions") {
    struct packed p;
    packed_init(&p);
    put(&p, 5, UINT32_MAX, 0, NULL);
    CHECK_BYTES(&p, 0, 1 | 2, 10); /* 5 ahead */
    put(&p, 5, UINT32_MAX, 0, NULL);
    CHECK_BYTES(&p, 2, 1 | 2, 1); /* 1 back */
    put(&p, 70, UINT32_MAX, 0, NULL);
    CHECK_BYTES(&p, 4, 1 | 2, 0x80, 1); /* 64 ahead: two bytes */
    put(&p, 7, UINT32_MAX, 0, NULL);
    CHECK_BYTES(&p, 7, 1 | 2, 127); /* 64 back: one byte */
}

TEST("lanes are a difference from the previous ones, and 0 for those before") {
    struct packed p;
    packed_init(&p);
    put(&p, 0, 0xFFFFFFF0, 0, NULL);
    CHECK_BYTES(&p, 0, 1 | 4, 15);
    put(&p, 1, 0x7FFFFFF0, 0, NULL);
    CHECK_BYTES(&p, 2, 1 | 4, 0x80, 0x80, 0x80, 0x80, 8);
    put(&p, 2, 0xFFFFFFF0, 0, NULL); /* those before */
    CHECK_BYTES(&p, 8, 1 | 4, 0);
    put(&p, 3, 0x7FFFFFF0, 0, NULL);
    CHECK_BYTES(&p, 10, 1 | 4, 0);
    put(&p, 4, 0x7FFFFFF0, 0, NULL);
    CHECK_BYTES(&p, 12, 0);
}

TEST("fields that differ from the static record are a mask of bytes and their values") {
    struct packed p;
    packed_init(&p);
    struct instr record = p.program[0];
    record.active = UINT32_MAX;
    record.conflicts = 9; /* byte 5 from `op` on */
    pack_put(&p.packer, &p.program[0], &record, NULL);
    CHECK_BYTES(&p, 0, 1 | 8, 1 << 5, 9);
    record = p.program[11];
    record.active = UINT32_MAX;
    record.count = 6; /* of a barrier: byte 18, in three groups of seven bits */
    pack_put(&p.packer, &p.program[11], &record, NULL);
    CHECK_BYTES(&p, 3, 1 | 2 | 8, 20, 0x80, 0x80, 1 << 4, 6);
}

TEST("touches are blocks relative to the last one, with equal distances and sectors once") {
    struct packed p;
    packed_init(&p);
    uint64_t one[] = {touch_make(0x300, 0x0F)};
    put(&p, 10, UINT32_MAX, 1, one);
    CHECK_BYTES(&p, 0, 1 | 2 | 16 | 1 << 5, 20, 6, 0x0F); /* block 3 */
    uint64_t alike[] = {touch_make(0x200, 3), touch_make(0x500, 3), touch_make(0x800, 3)};
    put(&p, 10, UINT32_MAX, 3, alike);
    CHECK_BYTES(&p, 4, 1 | 2 | 16 | 3 << 5, 1, 2 * 1 + 1, 3, 2); /* one block back; then every third */
    uint64_t uneven[] = {touch_make(0x800, 1), touch_make(0x900, 2), touch_make(0xB00, 4)};
    put(&p, 10, UINT32_MAX, 3, uneven);
    CHECK_BYTES(&p, 9, 1 | 2 | 16 | 3 << 5, 1, 0, 1, 0, 2, 1, 4); /* the same block as the last one */
    uint64_t other[] = {touch_make(0xC00, 1), touch_make(0xD00, 2)};
    put(&p, 10, UINT32_MAX, 2, other); /* equal distances, but other sectors */
    CHECK_BYTES(&p, 17, 1 | 2 | 16 | 2 << 5, 1, 4, 1, 0, 2);
    uint64_t many[8];
    for (unsigned i = 0; i < 8; i++) many[i] = touch_make(0xD00 + 0x100 * i, 1);
    put(&p, 10, UINT32_MAX, 8, many); /* more than fit in the head */
    CHECK_BYTES(&p, 23, 1 | 2 | 16, 1, 8, 1, 1, 0);
    put(&p, 10, UINT32_MAX, 7, many);
    CHECK_EQ(p.bytes[29], 1u | 2 | 16 | 7 << 5);
    put(&p, 10, UINT32_MAX, 0, NULL);
    CHECK_BYTES(&p, 34, 1 | 2, 1);
}

TEST("several static records at once pack as one by one") {
    struct packed p, q;
    packed_init(&p);
    packed_init(&q);
    static const struct {
        uint32_t id, lanes, count;
    } parts[] = {{12, UINT32_MAX, 3}, {15, UINT32_MAX, 200}, {215, 0xFF, 1}, {216, 0xFF, 2}, {20, 0xFF, 130}};
    for (unsigned i = 0; i < COUNT_OF(parts); i++) {
        for (uint32_t k = 0; k < parts[i].count; k++) put(&p, parts[i].id + k, parts[i].lanes, 0, NULL);
        for (uint32_t done = 0; done < parts[i].count;)
            done += pack_put_static(&q.packer, &q.program[parts[i].id + done], parts[i].lanes, parts[i].count - done);
        CHECK_EQ(q.packer.context.id, p.packer.context.id);
    }
    CHECK_EQ(q.packer.used, p.packer.used);
    CHECK(memcmp(p.bytes, q.bytes, p.packer.used) == 0);
}

TEST("an access packs like any record") {
    static const struct {
        uint32_t lanes;
        unsigned count;
        uint8_t space, flags, conflicts;
    } accesses[] = {{UINT32_MAX, 1, SPACE_GLOBAL, 0, 1},
                    {0xFF, 2, SPACE_GLOBAL, INSTR_PARTIAL, 1},
                    {0xFF, 0, SPACE_SHARED, 0, 32},
                    {UINT32_MAX, 0, SPACE_GLOBAL, 0, 1}};
    uint64_t touches[] = {touch_make(0x300, 0x0F), touch_make(0x900, 0xF0)};
    struct packed p, q;
    packed_init(&p);
    packed_init(&q);
    for (unsigned i = 0; i < COUNT_OF(accesses); i++) {
        struct instr record = p.program[10];
        record.active = accesses[i].lanes;
        record.count = (uint16_t)accesses[i].count;
        record.space = accesses[i].space;
        record.flags = accesses[i].flags;
        record.conflicts = accesses[i].conflicts;
        put(&p, 9, UINT32_MAX, 0, NULL);
        put(&q, 9, UINT32_MAX, 0, NULL);
        pack_put(&p.packer, &p.program[10], &record, touches);
        pack_put_access(&q.packer, &q.program[10], &record, touches);
    }
    CHECK_EQ(q.packer.used, p.packer.used);
    CHECK(memcmp(p.bytes, q.bytes, p.packer.used) == 0);
}

/* What is read from these bytes by a warp that has 16 records and 64 touches to fill. */
static bool take(struct warp_stream *warp, struct unpacker *from) {
    static struct instr program[IDS];
    make_program(program);
    warp->count = 0;
    return pack_take(from, program, IDS, warp);
}

static struct unpacker unpacker_of(const uint8_t *bytes, size_t count) {
    struct unpacker from = {.at = bytes, .end = bytes + count};
    pack_start(&from.context);
    return from;
}

TEST("a buffer of touches is filled exactly, and a record that does not fit stays for the next one") {
    struct packed p;
    packed_init(&p);
    uint64_t touches[64];
    for (unsigned i = 0; i < 64; i++) touches[i] = touch_make(0x1000 * i, (uint8_t)(i + 1));
    put(&p, 10, UINT32_MAX, 32, touches);
    put(&p, 10, UINT32_MAX, 32, touches + 32); /* 64 in all */
    put(&p, 10, UINT32_MAX, 1, touches);
    put(&p, 11, UINT32_MAX, 0, NULL);
    struct warp_stream warp;
    struct unpacker from = unpacker_of(p.bytes, p.packer.used);
    CHECK(take(&warp, &from));
    REQUIRE(warp.count == 2);
    CHECK_EQ(warp.instr[1].touches, 32u);
    CHECK(memcmp(warp.touch, touches, sizeof touches) == 0);
    CHECK(take(&warp, &from));
    REQUIRE(warp.count == 2);
    CHECK_EQ(warp.instr[0].count, 1u);
    CHECK_EQ(warp.touch[0], touches[0]);
    CHECK_EQ(warp.instr[1].op, OP_barrier);
    CHECK_EQ(warp.instr[1].count, 5u);
    CHECK(from.at == from.end);
    CHECK(take(&warp, &from));
    CHECK_EQ(warp.count, 0u);
}

TEST("a buffer takes 16 records, and a run continues in the next one") {
    struct packed p;
    packed_init(&p);
    for (uint32_t i = 0; i < 20; i++) put(&p, 20 + i, 0xFF, 0, NULL);
    struct warp_stream warp;
    struct unpacker from = unpacker_of(p.bytes, p.packer.used);
    CHECK(take(&warp, &from));
    CHECK_EQ(warp.count, 16u);
    CHECK(take(&warp, &from));
    REQUIRE(warp.count == 4);
    for (unsigned i = 0; i < 4; i++) CHECK_EQ(warp.instr[i].id, 36 + i);
    CHECK_EQ(warp.instr[3].active, 0xFFu);
    CHECK_EQ(warp.instr[3].src[0], 39u);
}

TEST("records with ids, touches or fields that cannot be, and cut records, are invalid") {
    static const struct {
        uint8_t bytes[8];
        unsigned count;
        bool good;
    } cases[] = {
        {{1 | 2, 0xD8, 4}, 3, false},             /* 300 ahead: id 300 of 300 */
        {{1 | 2, 0xD6, 4}, 3, true},              /* 299 ahead */
        {{1 | 2, 0xD6, 4, 0}, 4, false},          /* and one more */
        {{1 | 2, 1}, 2, false},                   /* before the first one */
        {{1 | 2}, 1, false},                      /* cut */
        {{1 | 4, 0x80}, 2, false},                /* cut within a number */
        {{1 | 8, 0x80, 0x80, 0x20, 7}, 5, true},  /* byte 19, the last field */
        {{1 | 8, 0x80, 0x80, 0x40, 7}, 5, false}, /* byte 20 */
        {{1 | 8, 1}, 2, false},                   /* cut before the byte */
        {{1 | 16 | 1 << 5, 0, 1}, 3, false},      /* an addition does not touch memory */
        {{1 | 2 | 16 | 1 << 5, 20, 0, 1}, 4, true},
        {{1 | 2 | 16 | 1 << 5, 20, 0}, 3, false},  /* cut before the sectors */
        {{1 | 2 | 16, 20, 0, 0, 1}, 5, false},     /* no touches */
        {{1 | 2 | 16, 20, 64, 1, 1, 0}, 6, true},  /* 64 */
        {{1 | 2 | 16, 20, 65, 1, 1, 0}, 6, false}, /* 65 */
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct warp_stream warp;
        struct unpacker from = unpacker_of(cases[i].bytes, cases[i].count);
        if (!CHECK_EQ(take(&warp, &from), cases[i].good)) printf("      case %u\n", i);
    }
}
