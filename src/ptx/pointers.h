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
 * separately) or a module-scope variable in global space. There are three special objects:
 *   POINTER_ANYWHERE   loaded with the width of an address from memory that others write, or assembled from parts;
 *   POINTER_ELSEWHERE  shared, local, constant and parameter memory, functions, the device's heap;
 *   POINTER_NULL       the constant zero.
 *
 * A value is a set of what it may be: a pointer to an object; a number derived from the address of an object; any
 * number (derived from POINTER_ANYWHERE), such as a constant, a special register, or data from memory.
 *   - Moves, selects, minima and joins unite the sets. A number therefore remains visible next to a pointer, and an
 *     access through it is not traced: it may go to anything.
 *   - Additions (also those of mad), differences, | and ^ of a pointer and any number are pointers to the same object:
 *     offsets stay in their object. If the number is derived from another object's address, the result may be derived
 *     from it, too. The difference of two pointers to one structure is any number. & with a small alignment keeps the
 *     pointer.
 *   - Everything else gives a number that is derived from all its operands: products, shifts, parts of words,
 *     conversions to other widths and to floating point, packed and unpacked values, loads of another width than an
 *     address.
 * Stores to global memory, and to the memory that a generic load may read, derive the later loads. An asynchronous copy
 * moves any number and any pointer to shared memory.
 *
 * Not modelled: aliasing of parameters, which PTX does not declare; the offset, in the sense of the second rule, that
 *   - is read from memory, where the host or an earlier kernel has written the distance of two objects;
 *   - is a constant or a number parameter chosen to be this distance;
 *   - is rebuilt from an address bit by bit through predicates or branches;
 * and the object that the kernel accesses only by adding such offsets to other objects' pointers. The emulator detects
 * all of them when they happen (emu/promise.c). */
#ifndef SLUICE_PTX_POINTERS_H
#define SLUICE_PTX_POINTERS_H

#include "base/arena.h"
#include "ptx/module.h"

enum { POINTER_ANYWHERE, POINTER_ELSEWHERE, POINTER_NULL, POINTER_STRUCTURES };

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
    uint64_t *sets; /* of each value: a bit for each object it may point to, then for each it may be derived from */
};

/* The kernel and the functions that it may call must be `executable`. An indirect call reaches executable functions only:
 * the emulator rejects calls of others. */
struct pointers *pointers_create(struct arena *arena, const struct ptx_module *module, const bool *executable,
                                 uint32_t kernel);

static inline bool pointers_have(const struct pointers *pointers, const struct pointer_access *access, uint32_t object,
                                 bool derived) {
    const uint64_t *set = pointers->sets + ((size_t)access->address * 2 + derived) * pointers->words;
    return set[object / 64] >> (object % 64) & 1;
}
/* Whether the address may be a pointer to the object, and whether it may be a number derived from its address. */
static inline bool pointers_may(const struct pointers *pointers, const struct pointer_access *access, uint32_t object) {
    return pointers_have(pointers, access, object, false);
}
static inline bool pointers_derive(const struct pointers *pointers, const struct pointer_access *access,
                                   uint32_t object) {
    return pointers_have(pointers, access, object, true);
}
/* Whether the target of the address is known: it points to at least one object, and nothing else is possible than to
 * point to these objects or to those that it is derived from. */
bool pointers_traced(const struct pointers *pointers, const struct pointer_access *access);

#endif
