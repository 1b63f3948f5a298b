/* Memory that is given back all at once: what a parser or compiler makes of one input, with one owner. */
#ifndef SLUICE_BASE_ARENA_H
#define SLUICE_BASE_ARENA_H

#include <stddef.h>

#include "base/error.h"

struct arena;

struct arena *arena_create(void);
void arena_destroy(struct arena *arena);

/* Zeroed memory for `count` objects, aligned to 64 bytes. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);
/* The same, with the first `old_count` objects of `old`, which stays valid. Growing by doubling costs at most as much again. */
void *arena_grow(struct arena *arena, const void *old, size_t old_count, size_t count, size_t size);
char *arena_text(struct arena *arena, const char *text, size_t length);

/* A zeroed element at the end of an array that the arena holds: `struct row *row = ARENA_APPEND(arena, rows, row_count);` */
#define ARENA_APPEND(arena, array, count) arena_append(arena, (void **)&(array), &(count), sizeof *(array))
void *arena_append(struct arena *arena, void **array, unsigned *count, size_t size);

/* The whole of a file, ended by a NUL; NULL with an error. */
char *arena_file(struct arena *arena, const char *path, size_t *bytes, struct error *err);

#endif
