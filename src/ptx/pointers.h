/* Where a kernel's pointers may lead: every value that an address is made of is followed back to the data structures it
 * may come from, through moves, arithmetic, selects, joins of control flow, conversions of address spaces, local and
 * shared memory, and calls.
 *
 * "Selective Replication in Memory-Side GPU Caches", section III-A, asks for a dataflow analysis of PTX and says no more
 * of it. This one is by inclusion (Andersen's): the value of an instruction holds what its operands hold, and the sets
 * grow until nothing changes. A register that is read after a label holds what any definition left there that was in
 * force at some branch or label; before the next label, what it was last given. Functions are looked at once for each
 * kernel that reaches them, with the arguments of all calls together.
 *
 * A data structure is what a pointer-sized part of a kernel's parameter points to (of a struct passed by value each part
 * on its own), or a variable of global space at module scope. Two special objects stand beside them:
 *   POINTER_ANYWHERE   what was loaded as wide as an address from memory that others write, or put together of halves;
 *   POINTER_ELSEWHERE  shared, local, constant and parameter memory, functions, the device's heap.
 *
 * Left out: that two parameters may point to the same memory, which PTX does not say; pointers that are multiplied or
 * shifted to the left, which are taken as numbers (indices are so scaled, and come from memory, too). */
#ifndef SLUICE_PTX_POINTERS_H
#define SLUICE_PTX_POINTERS_H

#include "base/arena.h"
#include "ptx/module.h"

enum { POINTER_ANYWHERE, POINTER_ELSEWHERE, POINTER_STRUCTURES };

/* A data structure: a module's variable, or what the parameter `variable` holds at `offset` points to. */
struct pointer_object {
    uint32_t variable;
    uint64_t offset;
};

/* An instruction that reads or writes global memory, or memory of a space that it does not name. */
struct pointer_access {
    uint32_t function, instr;
    bool reads, writes;
    uint32_t address; /* a value */
};

struct pointers {
    struct pointer_object *objects; /* from POINTER_STRUCTURES on */
    uint32_t object_count;
    struct pointer_access *accesses; /* of the kernel and all that it calls */
    uint32_t access_count;
    uint32_t words; /* of a set */
    uint64_t *sets; /* of each value: a bit for each object */
};

/* The module must be one that can be lowered: only what is executed is followed. */
struct pointers *pointers_create(struct arena *arena, const struct ptx_module *module, uint32_t kernel);

static inline bool pointers_may(const struct pointers *pointers, const struct pointer_access *access, uint32_t object) {
    return pointers->sets[(size_t)access->address * pointers->words + object / 64] >> (object % 64) & 1;
}
/* Whether all that the address may be is known: at least one object, and not anywhere. */
bool pointers_traced(const struct pointers *pointers, const struct pointer_access *access);

#endif
