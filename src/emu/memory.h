/* Device memory: a sparse 64-bit address space of allocations. Every access is checked against the allocations, as by a
 * memory checker on a real GPU. */
#ifndef SLUICE_EMU_MEMORY_H
#define SLUICE_EMU_MEMORY_H

#include "base/base.h"
#include "base/error.h"

enum { MEMORY_ALIGN_BYTES = 256, MEMORY_RECENT = 64 };
#define MEMORY_FIRST_ADDRESS UINT64_C(0xC0000000)

struct allocation {
    uint64_t address, size_bytes;
    uint8_t *bytes; /* initially zero */
    uint8_t *marks; /* one per line, NULL before the first use */
};

struct memory {
    struct allocation *allocations; /* sorted by address */
    uint32_t count, room;
    uint64_t next;                  /* address of the next allocation */
    uint32_t recent[MEMORY_RECENT]; /* by user: index of the last allocation found */
};

void memory_init(struct memory *memory);
void memory_release(struct memory *memory);

/* A new allocation after all others, aligned to MEMORY_ALIGN_BYTES; returns its address, or 0 if the host is out of
 * memory. Addresses depend only on the sequence of allocations and are not reused, so that an access after free is
 * detected. */
uint64_t memory_allocate(struct memory *memory, uint64_t size_bytes);
/* An allocation at a given address; false if it would overlap another, or the host is out of memory. */
bool memory_place(struct memory *memory, uint64_t address, uint64_t size_bytes);
/* The same with the contents of an open file from a multiple of the page size on, which other processes may share. Later
 * allocations get the addresses that they would get without it. */
bool memory_share(struct memory *memory, uint64_t address, uint64_t size_bytes, int file, uint64_t offset);
/* False if no allocation starts there. */
bool memory_free(struct memory *memory, uint64_t address);

/* A user of memory_find_again for accesses that no instruction makes. */
static inline uint32_t memory_user(uint64_t address) { return (uint32_t)(address >> 16); }

/* The allocation that contains the address, or NULL. An instruction mostly accesses one allocation, so
 * memory_find_again first tries the one that was found last for this user, any number. */
const struct allocation *memory_find(struct memory *memory, uint64_t address, uint32_t user);
static inline const struct allocation *memory_find_again(struct memory *memory, uint64_t address, uint32_t user) {
    uint32_t index = memory->recent[user % MEMORY_RECENT];
    if (LIKELY(index < memory->count)) {
        const struct allocation *recent = &memory->allocations[index];
        if (LIKELY(address - recent->address < recent->size_bytes)) return recent;
    }
    return memory_find(memory, address, user);
}

/* A mark byte for each 128-byte line, for the caller's use: initially zero and after clearing. memory_marked returns
 * the allocation that contains the address, which then has marks; NULL if nothing is allocated there. */
enum { MEMORY_LINE_LOG2 = 7, MEMORY_LINE_BYTES = 1 << MEMORY_LINE_LOG2 };
const struct allocation *memory_marked(struct memory *memory, uint64_t address, uint32_t user);
static inline uint8_t *memory_mark(const struct allocation *allocation, uint64_t address) {
    return allocation->marks + ((address >> MEMORY_LINE_LOG2) - (allocation->address >> MEMORY_LINE_LOG2));
}
void memory_clear_marks(struct memory *memory);

/* Host memory of [address, address + size_bytes), or NULL unless one allocation contains all of it. */
static inline uint8_t *memory_at(struct memory *memory, uint64_t address, uint64_t size_bytes) {
    const struct allocation *allocation = memory_find_again(memory, address, memory_user(address));
    if (UNLIKELY(!allocation || size_bytes > allocation->size_bytes - (address - allocation->address))) return NULL;
    return allocation->bytes + (address - allocation->address);
}

#endif
