#include "sass/pages.h"

#include <stdlib.h>

#include "base/base.h"

enum { ENTRY_PAGES = 64, FIRST_SLOTS = 64 };

void sass_pages_release(struct sass_pages *pages) {
    free(pages->entry);
    *pages = (struct sass_pages){0};
}

/* The entry with this number, or the free one for it. */
static struct sass_pages_entry *find(const struct sass_pages *pages, uint64_t number) {
    uint64_t hash = number * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t at = (uint32_t)(hash >> 32) & (pages->slots - 1);
    while (pages->entry[at].pages && pages->entry[at].number != number) at = (at + 1) & (pages->slots - 1);
    return &pages->entry[at];
}

static void widen(struct sass_pages *pages) {
    struct sass_pages old = *pages;
    pages->slots = old.slots ? 2 * old.slots : FIRST_SLOTS;
    pages->entry = mem_alloc(pages->slots, sizeof *pages->entry);
    for (uint32_t i = 0; i < old.slots; i++)
        if (old.entry[i].pages) *find(pages, old.entry[i].number) = old.entry[i];
    free(old.entry);
}

void sass_pages_add(struct sass_pages *pages, uint64_t address) {
    if (pages->all) return;
    if (2 * pages->count >= pages->slots) widen(pages);
    uint64_t page = address / SASS_PAGE_BYTES;
    struct sass_pages_entry *entry = find(pages, page / ENTRY_PAGES);
    if (!entry->pages && pages->count++ == SASS_PAGE_ENTRIES) {
        sass_pages_add_all(pages);
        return;
    }
    entry->number = page / ENTRY_PAGES;
    entry->pages |= UINT64_C(1) << page % ENTRY_PAGES;
}

void sass_pages_add_all(struct sass_pages *pages) {
    sass_pages_release(pages);
    pages->all = true;
}

bool sass_pages_has(const struct sass_pages *pages, uint64_t address) {
    uint64_t page = address / SASS_PAGE_BYTES;
    if (!pages->slots) return pages->all;
    return find(pages, page / ENTRY_PAGES)->pages >> page % ENTRY_PAGES & 1;
}

size_t sass_pages_bytes(const struct sass_pages *pages) { return pages->slots * sizeof *pages->entry; }
