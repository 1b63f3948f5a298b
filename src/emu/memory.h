/* The device's memory: a sparse 64-bit address space in which only what was allocated exists. Every access is checked
 * against the allocations, as a memory checker on a real GPU would. */
#ifndef SLUICE_EMU_MEMORY_H
#define SLUICE_EMU_MEMORY_H

#include "base/base.h"
#include "base/error.h"

enum { MEMORY_ALIGN_BYTES = 256 };
#define MEMORY_FIRST_ADDRESS UINT64_C(0xC0000000)

struct allocation {
    uint64_t address, size_bytes;
    uint8_t *bytes; /* zeroed at first */
    uint8_t *marks; /* of each line, NULL before the first */
};

struct memory {
    struct allocation *allocations; /* by address */
    uint32_t count, room;
    uint32_t recent; /* where the last access was */
    uint64_t next;   /* where the next one is put */
};

void memory_init(struct memory *memory);
void memory_release(struct memory *memory);

/* A new allocation behind all others, aligned to MEMORY_ALIGN_BYTES; its address, or 0 if the host has no room for it.
 * Addresses depend only on the sequence of allocations: freed ones are not used again, so that a late access to one is
 * found. */
uint64_t memory_allocate(struct memory *memory, uint64_t size_bytes);
/* An allocation at an address of the caller's choice; false if it would overlap another, or the host has no room. */
bool memory_place(struct memory *memory, uint64_t address, uint64_t size_bytes);
/* False if no allocation begins there. */
bool memory_free(struct memory *memory, uint64_t address);

/* The allocation that holds the address, or NULL. */
const struct allocation *memory_find(struct memory *memory, uint64_t address);

/* A byte for each line of 128 bytes, for whoever watches what is done with it: zero at first and once cleared. NULL where
 * nothing is allocated. */
enum { MEMORY_LINE_LOG2 = 7 };
uint8_t *memory_mark(struct memory *memory, uint64_t address);
void memory_clear_marks(struct memory *memory);

/* Host memory behind [address, address + size_bytes), or NULL unless all of it lies in one allocation. */
static inline uint8_t *memory_at(struct memory *memory, uint64_t address, uint64_t size_bytes) {
    const struct allocation *allocation = memory->recent < memory->count ? &memory->allocations[memory->recent] : NULL;
    if (UNLIKELY(!allocation || address - allocation->address >= allocation->size_bytes))
        allocation = memory_find(memory, address);
    if (UNLIKELY(!allocation || size_bytes > allocation->size_bytes - (address - allocation->address))) return NULL;
    return allocation->bytes + (address - allocation->address);
}

#endif
