/* Arena allocation: everything a parser or compiler builds from one input has one owner and is freed together. */
#ifndef SLUICE_BASE_ARENA_H
#define SLUICE_BASE_ARENA_H

#include <stddef.h>

#include "base/error.h"

struct arena;

struct arena *arena_create(void);
void arena_destroy(struct arena *arena);

/* Zeroed memory for `count` objects, aligned to 64 bytes. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);
/* As arena_alloc, with the first `old_count` objects copied from `old`, which stays valid. */
void *arena_grow(struct arena *arena, const void *old, size_t old_count, size_t count, size_t size);
char *arena_text(struct arena *arena, const char *text, size_t length);

/* Appends a zeroed element to an array in the arena: `struct row *row = ARENA_APPEND(arena, rows, row_count);` */
#define ARENA_APPEND(arena, array, count) arena_append(arena, (void **)&(array), &(count), sizeof *(array))
void *arena_append(struct arena *arena, void **array, unsigned *count, size_t size);

/* The contents of a file, NUL-terminated; NULL with an error on failure. */
char *arena_file(struct arena *arena, const char *path, size_t *bytes, struct error *err);

#endif
