/* Memory that is given back all at once: what a parser or compiler makes of one input, with one owner. */
#ifndef SLUICE_BASE_ARENA_H
#define SLUICE_BASE_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_create(void);
void arena_destroy(struct arena *arena);

/* Zeroed memory for `count` objects, aligned to 64 bytes. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);
/* The same, with the first `old_count` objects of `old`, which stays valid. Growing by doubling costs at most as much again. */
void *arena_grow(struct arena *arena, const void *old, size_t old_count, size_t count, size_t size);
char *arena_text(struct arena *arena, const char *text, size_t length);

#endif
