/* The pages of global memory that a kernel writes, in bounded memory: a bit for each page of SASS_PAGE_BYTES, 64 of them
 * in an entry of a hash table. A kernel whose stores touch more than SASS_PAGE_ENTRIES entries counts as one that
 * writes everything. */
#ifndef SLUICE_SASS_PAGES_H
#define SLUICE_SASS_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SASS_PAGE_BYTES = 4096, SASS_PAGE_ENTRIES = 1 << 19 };

struct sass_pages_entry {
    uint64_t number, pages; /* entries in use have pages */
};

struct sass_pages {
    struct sass_pages_entry *entry;
    uint32_t slots, count; /* a power of two; entries in use */
    bool all;
};

void sass_pages_release(struct sass_pages *pages);
void sass_pages_add(struct sass_pages *pages, uint64_t address);
/* Adds all of memory. */
void sass_pages_add_all(struct sass_pages *pages);
bool sass_pages_has(const struct sass_pages *pages, uint64_t address);
size_t sass_pages_bytes(const struct sass_pages *pages);

#endif
