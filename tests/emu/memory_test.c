/* Device memory: allocation, lookup, and detection of invalid accesses. */
#include "emu/memory.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/random.h"
#include "test.h"

TEST("allocations are consecutive and aligned, starting at the first address") {
    struct memory memory;
    memory_init(&memory);
    CHECK_EQ(memory_allocate(&memory, 1), MEMORY_FIRST_ADDRESS);
    CHECK_EQ(memory_allocate(&memory, 256), MEMORY_FIRST_ADDRESS + 256);
    CHECK_EQ(memory_allocate(&memory, 257), MEMORY_FIRST_ADDRESS + 512);
    CHECK_EQ(memory_allocate(&memory, 0), MEMORY_FIRST_ADDRESS + 1024);
    CHECK_EQ(memory_allocate(&memory, 4), MEMORY_FIRST_ADDRESS + 1280);
    memory_release(&memory);
}

TEST("memory is initially zero and keeps what is written") {
    struct memory memory;
    memory_init(&memory);
    uint64_t a = memory_allocate(&memory, 1000), b = memory_allocate(&memory, 1000);
    uint8_t *at = memory_at(&memory, a + 996, 4);
    REQUIRE(at);
    CHECK_EQ(at[0] | at[3], 0);
    memcpy(at, "abcd", 4);
    REQUIRE(memory_at(&memory, b, 1000));
    CHECK_EQ(*memory_at(&memory, b, 1), 0);
    CHECK(memcmp(memory_at(&memory, a + 997, 3), "bcd", 3) == 0);
    memory_release(&memory);
}

TEST("an access one byte beyond its allocation is detected, also if another one starts there") {
    struct memory memory;
    memory_init(&memory);
    uint64_t a = memory_allocate(&memory, 256), b = memory_allocate(&memory, 10);
    CHECK(memory_at(&memory, a, 256));
    CHECK(!memory_at(&memory, a, 257));
    CHECK(!memory_at(&memory, a + 255, 2));
    CHECK(!memory_at(&memory, a - 1, 1));
    CHECK(memory_at(&memory, b + 9, 1));
    CHECK(!memory_at(&memory, b + 10, 1));
    CHECK(!memory_at(&memory, b + 9, UINT64_MAX));
    CHECK(!memory_at(&memory, 0, 1));
    CHECK(!memory_at(&memory, UINT64_MAX, 1));
    memory_release(&memory);
}

TEST("freed memory is inaccessible, and its addresses are not reused") {
    struct memory memory;
    memory_init(&memory);
    uint64_t a = memory_allocate(&memory, 64), b = memory_allocate(&memory, 64);
    CHECK(memory_at(&memory, b, 64));
    CHECK(!memory_free(&memory, b + 1));
    CHECK(memory_free(&memory, b));
    CHECK(!memory_free(&memory, b));
    CHECK(!memory_at(&memory, b, 1));
    CHECK(memory_at(&memory, a, 64));
    CHECK(memory_allocate(&memory, 64) > b);
    CHECK(memory_free(&memory, a));
    CHECK(!memory_at(&memory, a, 1));
    memory_release(&memory);
}

TEST("an allocation at a given address succeeds if the range is free, and later ones follow it") {
    struct memory memory;
    memory_init(&memory);
    CHECK(memory_place(&memory, 0xD0000000, 4096));
    CHECK(!memory_place(&memory, 0xD0000FFF, 1));
    CHECK(!memory_place(&memory, 0xCFFFFFFF, 2));
    CHECK(!memory_place(&memory, 0xC0000000, 0x20000000));
    CHECK(memory_place(&memory, 0xC0000000, 0x10000000));
    CHECK_EQ(memory_allocate(&memory, 1), 0xD0001000u);
    CHECK(!memory_place(&memory, UINT64_C(1) << 56, 1));
    CHECK(!memory_place(&memory, 4096, UINT64_MAX));
    memory_release(&memory);
}

TEST("allocations may exceed the host's memory if they are not touched") {
    struct memory memory;
    memory_init(&memory);
    uint64_t big = UINT64_C(1) << 40, a = memory_allocate(&memory, big);
    REQUIRE(a);
    uint8_t *last = memory_at(&memory, a + big - 1, 1);
    REQUIRE(last);
    *last = 7;
    CHECK_EQ(*memory_at(&memory, a + big - 1, 1), 7);
    CHECK_EQ(memory_allocate(&memory, UINT64_C(1) << 55), 0u);
    memory_release(&memory);
}

TEST("every address finds its allocation among many") {
    enum { COUNT = 500 };
    struct memory memory;
    uint64_t address[COUNT], size[COUNT], random = 1;
    memory_init(&memory);
    for (unsigned i = 0; i < COUNT; i++) {
        size[i] = 1 + random_below(&random, 700);
        address[i] = memory_allocate(&memory, size[i]);
        memset(memory_at(&memory, address[i], size[i]), (int)(i & 0xFF), size[i]);
    }
    for (unsigned i = 0; i < COUNT; i += 3) CHECK(memory_free(&memory, address[i]));
    for (unsigned i = 0; i < 4000; i++) {
        unsigned which = (unsigned)random_below(&random, COUNT);
        uint8_t *at = memory_at(&memory, address[which] + random_below(&random, size[which]), 1);
        CHECK_EQ(at != NULL, which % 3 != 0);
        if (at) CHECK_EQ(*at, which & 0xFF);
    }
    memory_release(&memory);
}

TEST("allocations that only touch each other are placed, those that overlap by a byte are not") {
    struct memory memory;
    memory_init(&memory);
    CHECK(memory_place(&memory, 0x10000, 0x100));
    CHECK(memory_place(&memory, 0x10100, 0x100));
    CHECK(memory_place(&memory, 0xFF00, 0x100));
    CHECK(!memory_place(&memory, 0xFE01, 0x100));
    CHECK(!memory_place(&memory, 0x101FF, 1));
    CHECK(memory_place(&memory, 0x10200, 1));
    CHECK(!memory_place(&memory, 0x10000, 0));
    CHECK_EQ(memory_at(&memory, 0x100FF, 1) + 1 - memory_at(&memory, 0x10000, 1), 0x100);
    CHECK(!memory_at(&memory, 0x10201, 1));
    memory_release(&memory);
}

TEST("an allocation of no bytes has an address of its own and cannot be accessed") {
    struct memory memory;
    memory_init(&memory);
    uint64_t a = memory_allocate(&memory, 0), b = memory_allocate(&memory, 0);
    CHECK(a && b && a != b);
    CHECK(!memory_at(&memory, a, 1));
    CHECK(!memory_place(&memory, a, 1));
    CHECK(memory_free(&memory, a));
    CHECK(memory_place(&memory, a, 1));
    memory_release(&memory);
}

TEST("the address space ends at 2^56") {
    struct memory memory;
    memory_init(&memory);
    const uint64_t end = UINT64_C(1) << 56;
    CHECK(memory_place(&memory, end - 4096, 4096));
    CHECK(!memory_place(&memory, end - 8192, 4097));
    CHECK(!memory_place(&memory, end, 0));
    CHECK_EQ(memory_allocate(&memory, 1), 0u); /* nothing is left behind it */
    memory_release(&memory);
}

static uint8_t *mark_at(struct memory *memory, uint64_t address) {
    const struct allocation *allocation = memory_marked(memory, address, 0);
    return allocation ? memory_mark(allocation, address) : NULL;
}

TEST("each line of an allocation has a mark, also at its ends, until marks are cleared") {
    struct memory memory;
    memory_init(&memory);
    enum { LINE = 1 << MEMORY_LINE_LOG2 };
    uint64_t start = 0x20000 + LINE / 2; /* in the middle of a line */
    REQUIRE(memory_place(&memory, start, 3 * LINE));
    REQUIRE(memory_place(&memory, 0x40000, LINE));
    uint8_t *first = mark_at(&memory, start), *other = mark_at(&memory, 0x40000);
    REQUIRE(first && other);
    CHECK(mark_at(&memory, start + LINE / 2 - 1) == first);
    CHECK(mark_at(&memory, start + LINE / 2) == first + 1);
    CHECK(mark_at(&memory, start + 3 * LINE - 1) == first + 3);
    CHECK(!mark_at(&memory, start + 3 * LINE));
    CHECK(!mark_at(&memory, start - 1));
    first[0] = first[3] = *other = 3;
    CHECK_EQ(*mark_at(&memory, start + 3 * LINE - 1), 3);
    memory_clear_marks(&memory);
    CHECK_EQ(*mark_at(&memory, start), 0);
    CHECK_EQ(*mark_at(&memory, start + 3 * LINE - 1), 0);
    CHECK_EQ(*mark_at(&memory, 0x40000), 0);
    memory_release(&memory);
}

TEST("releasing memory unmaps what is allocated, and not what was freed before") {
    struct memory memory;
    memory_init(&memory);
    memory_allocate(&memory, 4096);
    uint64_t freed = memory_allocate(&memory, 4096);
    uint8_t *place = memory_at(&memory, freed, 4096);
    REQUIRE(place && memory_free(&memory, freed));
    /* The host maps something else there. */
    uint8_t *other =
        mmap(place, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    REQUIRE(other == place);
    *other = 7;
    memory_release(&memory);
    CHECK_EQ(*other, 7);
    munmap(other, 4096);
}

TEST("shared memory has the contents of a part of its file, and leaves the addresses of later allocations alone") {
    struct memory memory, other;
    memory_init(&memory);
    memory_init(&other);
    int file = memfd_create("test", 0);
    REQUIRE(file >= 0 && ftruncate(file, 8192 + 4096) == 0);
    const uint64_t high = UINT64_C(0x200000000000);
    CHECK(memory_share(&memory, high, 8192, file, 4096));
    CHECK(!memory_share(&memory, high + 4096, 8192, file, 0));
    CHECK(memory_share(&other, high, 8192 + 4096, file, 0));
    *memory_at(&memory, high + 5000, 1) = 42;
    CHECK_EQ(*memory_at(&other, high + 4096 + 5000, 1), 42);
    CHECK_EQ(memory_allocate(&memory, 16), MEMORY_FIRST_ADDRESS);
    CHECK(memory_free(&memory, high));
    CHECK(!memory_at(&memory, high, 1));
    close(file);
    memory_release(&memory);
    memory_release(&other);
}
