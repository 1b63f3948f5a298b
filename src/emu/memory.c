/* Allocations are host mappings without reservation: a page uses memory only once it is touched, so a program can
 * allocate as much as on the device. Lookup is a binary search; most instructions access the allocation of their
 * previous access and do not search (memory_find_again). */
#include "emu/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* All addresses are below the windows of generic addressing. */
static const uint64_t memory_end = UINT64_C(1) << 56;

void memory_init(struct memory *memory) { *memory = (struct memory){.next = MEMORY_FIRST_ADDRESS}; }

static uint64_t line_count(const struct allocation *allocation) {
    return (allocation->size_bytes >> MEMORY_LINE_LOG2) + 2; /* both ends may be within a line */
}

static void unmap(const struct allocation *allocation) {
    if (allocation->bytes) munmap(allocation->bytes, allocation->size_bytes);
    if (allocation->marks) munmap(allocation->marks, line_count(allocation));
}

/* Host pages that use no memory until touched, or those of a file; NULL if the host has no address space left. */
static uint8_t *map_file(uint64_t size_bytes, int file, uint64_t offset) {
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    void *bytes = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, flags, file, (off_t)offset);
    return bytes == MAP_FAILED ? NULL : bytes;
}

static uint8_t *map(uint64_t size_bytes) { return map_file(size_bytes, -1, 0); }

void memory_release(struct memory *memory) {
    for (uint32_t i = 0; i < memory->count; i++) unmap(&memory->allocations[i]);
    free(memory->allocations);
    *memory = (struct memory){0};
}

/* The number of allocations that start at or below the address. */
static uint32_t rank(const struct memory *memory, uint64_t address) {
    uint32_t low = 0, high = memory->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (memory->allocations[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool place(struct memory *memory, uint64_t address, uint64_t size_bytes, int file, uint64_t offset) {
    if (address >= memory_end || size_bytes > memory_end - address) return false;
    uint64_t end = address + max_u64(size_bytes, 1);
    uint32_t at = rank(memory, address);
    if (at > 0) {
        const struct allocation *below = &memory->allocations[at - 1];
        if (address - below->address < max_u64(below->size_bytes, 1)) return false;
    }
    if (at < memory->count && memory->allocations[at].address < end) return false;
    struct allocation new = {.address = address, .size_bytes = size_bytes};
    if (size_bytes > 0 && !(new.bytes = map_file(size_bytes, file, offset))) return false;
    if (memory->count == memory->room) {
        memory->room = memory->room ? 2 * memory->room : 16;
        memory->allocations = mem_grow(memory->allocations, memory->room, sizeof *memory->allocations);
    }
    memmove(&memory->allocations[at + 1], &memory->allocations[at], (memory->count - at) * sizeof new);
    memory->allocations[at] = new;
    memory->count++;
    return true;
}

bool memory_place(struct memory *memory, uint64_t address, uint64_t size_bytes) {
    if (!place(memory, address, size_bytes, -1, 0)) return false;
    uint64_t end = address + max_u64(size_bytes, 1);
    uint64_t next = (end + MEMORY_ALIGN_BYTES - 1) & ~(uint64_t)(MEMORY_ALIGN_BYTES - 1);
    memory->next = max_u64(memory->next, next);
    return true;
}

bool memory_share(struct memory *memory, uint64_t address, uint64_t size_bytes, int file, uint64_t offset) {
    return place(memory, address, size_bytes, file, offset);
}

uint64_t memory_allocate(struct memory *memory, uint64_t size_bytes) {
    uint64_t address = memory->next;
    return memory_place(memory, address, size_bytes) ? address : 0;
}

bool memory_free(struct memory *memory, uint64_t address) {
    uint32_t at = rank(memory, address);
    if (at == 0 || memory->allocations[at - 1].address != address) return false;
    unmap(&memory->allocations[at - 1]);
    memmove(&memory->allocations[at - 1], &memory->allocations[at], (memory->count - at) * sizeof *memory->allocations);
    memory->count--;
    return true;
}

const struct allocation *memory_find(struct memory *memory, uint64_t address, uint32_t user) {
    uint32_t at = rank(memory, address);
    if (at == 0) return NULL;
    const struct allocation *allocation = &memory->allocations[at - 1];
    if (address - allocation->address >= allocation->size_bytes) return NULL;
    memory->recent[user % MEMORY_RECENT] = at - 1;
    return allocation;
}

const struct allocation *memory_marked(struct memory *memory, uint64_t address, uint32_t user) {
    const struct allocation *found = memory_find_again(memory, address, user);
    if (!found) return NULL;
    struct allocation *allocation = &memory->allocations[found - memory->allocations];
    if (UNLIKELY(!allocation->marks) && !(allocation->marks = map(line_count(allocation)))) return NULL;
    return allocation;
}

void memory_clear_marks(struct memory *memory) {
    for (uint32_t i = 0; i < memory->count; i++) {
        struct allocation *allocation = &memory->allocations[i];
        if (allocation->marks && madvise(allocation->marks, line_count(allocation), MADV_DONTNEED) != 0)
            memset(allocation->marks, 0, line_count(allocation));
    }
}
