#include "cache/mshr.h"

#include <stdlib.h>

void mshr_init(struct mshr_table *table, unsigned entries, unsigned merges, size_t waiter_bytes) {
    assert(entries > 0 && entries < MSHR_NONE && merges > 0);
    *table = (struct mshr_table){
        .entries = entries,
        .merges = merges,
        .waiter_bytes = waiter_bytes,
        .mshr = mem_alloc(entries, sizeof *table->mshr),
        .waiter = mem_alloc((size_t)entries * merges, waiter_bytes),
    };
    for (unsigned i = 0; i < entries; i++) table->mshr[i].next = (uint16_t)(i + 1 < entries ? i + 1 : MSHR_NONE);
}

void mshr_release(struct mshr_table *table) {
    free(table->mshr);
    free(table->waiter);
    *table = (struct mshr_table){0};
}
