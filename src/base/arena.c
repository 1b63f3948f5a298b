#include "base/arena.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { BLOCK_BYTES = 1 << 16, ALIGN = 64 };

struct block {
    struct block *next;
    size_t used, size;
    _Alignas(ALIGN) unsigned char bytes[];
};

struct arena {
    struct block *first;
};

struct arena *arena_create(void) {
    return mem_alloc(1, sizeof(struct arena));
}

void arena_destroy(struct arena *arena) {
    if (!arena) return;
    for (struct block *block = arena->first, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(arena);
}

/* A large request gets its own block, linked behind the current one so that the current one keeps filling. */
static struct block *block_add(struct arena *arena, size_t bytes) {
    size_t size = bytes > BLOCK_BYTES / 4 ? bytes : BLOCK_BYTES;
    struct block *block = mem_alloc_lines(1, sizeof *block + size);
    block->size = size;
    if (size == BLOCK_BYTES || !arena->first) {
        block->next = arena->first;
        arena->first = block;
    } else {
        block->next = arena->first->next;
        arena->first->next = block;
    }
    return block;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) mem_exhausted();
    bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    struct block *block = arena->first;
    if (!block || block->size - block->used < bytes) block = block_add(arena, bytes);
    void *result = block->bytes + block->used;
    block->used += bytes;
    return result;
}

void *arena_grow(struct arena *arena, const void *old, size_t old_count, size_t count, size_t size) {
    void *fresh = arena_alloc(arena, count, size);
    if (old_count > 0) memcpy(fresh, old, old_count * size);
    return fresh;
}

char *arena_text(struct arena *arena, const char *text, size_t length) {
    char *copy = arena_alloc(arena, length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

void *arena_append(struct arena *arena, void **array, unsigned *count, size_t size) {
    if ((*count & (*count - 1)) == 0) /* a power of two, or none */
        *array = arena_grow(arena, *array, *count, *count ? 2 * (size_t)*count : 1, size);
    return (char *)*array + size * (*count)++;
}

char *arena_file(struct arena *arena, const char *path, size_t *bytes, struct error *err) {
    FILE *in = fopen(path, "rb");
    char *text = NULL;
    size_t used = 0, room = 0;
    while (in && !ferror(in) && !feof(in)) {
        if (used == room) {
            text = arena_grow(arena, text, room, room ? 2 * room + 1 : 65537, 1);
            room = room ? 2 * room : 65536;
        }
        used += fread(text + used, 1, room - used, in);
    }
    if (!in || ferror(in)) {
        error_set(err, "%s: %s", path, strerror(errno));
        text = NULL;
    }
    if (in) fclose(in);
    *bytes = used;
    return text;
}
