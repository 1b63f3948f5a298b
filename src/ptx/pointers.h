/* Points-to analysis of kernels: traces every address back to the data structures it may refer to, through moves,
 * arithmetic, selects, control-flow joins, address-space conversions, local and shared memory, and calls.
 *
 * "Selective Replication in Memory-Side GPU Caches", section III-A, requires a dataflow analysis of PTX without giving
 * details. This one is inclusion-based (Andersen's): the value of an instruction contains what its operands contain,
 * and sets grow to a fixed point. A register read after a label contains the values of all definitions that reach any
 * branch or label; before the next label, the last definition. Functions are analysed once per kernel that reaches
 * them, with the arguments of all calls merged.
 *
 * A data structure is the target of a pointer-sized part of a kernel parameter (each part of a by-value struct
 * separately) or a module-scope variable in global space. There are two special objects:
 *   POINTER_ANYWHERE   loaded with the width of an address from memory that others write, or assembled from halves;
 *   POINTER_ELSEWHERE  shared, local, constant and parameter memory, functions, the device's heap.
 *
 * Not modelled: aliasing of parameters, which PTX does not declare; pointers that are multiplied or shifted left are
 * treated as numbers (that is how indices are scaled, and they also come from memory). */
#ifndef SLUICE_PTX_POINTERS_H
#define SLUICE_PTX_POINTERS_H

#include "base/arena.h"
#include "ptx/module.h"

enum { POINTER_ANYWHERE, POINTER_ELSEWHERE, POINTER_STRUCTURES };

/* A data structure: a module variable, or the target of the pointer at `offset` of parameter `variable`. */
struct pointer_object {
    uint32_t variable;
    uint64_t offset;
};

/* An instruction that accesses global memory, or memory through a generic address. */
struct pointer_access {
    uint32_t function, instr;
    bool reads, writes;
    uint32_t address; /* a value */
};

struct pointers {
    struct pointer_object *objects; /* starting with POINTER_STRUCTURES */
    uint32_t object_count;
    struct pointer_access *accesses; /* of the kernel and its callees */
    uint32_t access_count;
    uint32_t words; /* of a set */
    uint64_t *sets; /* of each value: a bit for each object */
};

/* The module must be one that lowers without error: only executed instructions are analysed. */
struct pointers *pointers_create(struct arena *arena, const struct ptx_module *module, uint32_t kernel);

static inline bool pointers_may(const struct pointers *pointers, const struct pointer_access *access, uint32_t object) {
    return pointers->sets[(size_t)access->address * pointers->words + object / 64] >> (object % 64) & 1;
}
/* Whether the target of the address is known: at least one object, and not POINTER_ANYWHERE. */
bool pointers_traced(const struct pointers *pointers, const struct pointer_access *access);

#endif
