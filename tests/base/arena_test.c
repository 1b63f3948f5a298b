#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#include "test.h"

TEST("an arena returns zeroed, line-aligned memory, small and large, and frees all of it together") {
    struct arena *arena = arena_create();
    for (size_t size = 1; size < 300000; size = size * 3 + 1) {
        unsigned char *bytes = arena_alloc(arena, size, 1);
        CHECK_EQ((uintptr_t)bytes % 64, 0u);
        CHECK(bytes[0] == 0 && bytes[size - 1] == 0);
        memset(bytes, 0xFF, size);
    }
    arena_destroy(arena);
}

TEST("growing an array in an arena keeps its content and leaves the old array unchanged") {
    struct arena *arena = arena_create();
    uint32_t *old = arena_alloc(arena, 3, sizeof *old);
    old[2] = 7;
    uint32_t *grown = arena_grow(arena, old, 3, 100, sizeof *old);
    CHECK_EQ(grown[2], 7u);
    CHECK_EQ(grown[99], 0u);
    grown[2] = 8;
    CHECK_EQ(old[2], 7u);
    char *text = arena_text(arena, "kernel_name", 6);
    CHECK_EQ(text, "kernel");
    arena_destroy(arena);
}
