/* Which data structures a kernel only reads, and what follows for its loads: the compile-time half of "Selective
 * Replication in Memory-Side GPU Caches" (section III-A). A data structure is read-only in a kernel if no store, atomic
 * or reduction of it, or of a function it calls, may go there (pointers.h). A store through a pointer that cannot be
 * traced may go anywhere, and then nothing is read-only.
 *
 * A load is marked if all it may read is read-only in every kernel that reaches it, so that a function that several
 * kernels call has one verdict. Loads that ask for what others write (.volatile, .relaxed, .acquire, .mmio, .cv) are
 * not marked.
 *
 * Parameters that point to the same memory, one of them written, are beyond what PTX says; so are the promises of
 * ld.global.nc and ld.global.ro. The emulator watches every line that is loaded so (emu/promise.c). */
#ifndef SLUICE_PTX_READONLY_H
#define SLUICE_PTX_READONLY_H

#include <stdio.h>

#include "base/arena.h"
#include "ptx/module.h"

enum readonly_verdict {
    READONLY,
    READONLY_WRITTEN, /* `by` may write it */
    READONLY_BEYOND,  /* `by` writes to an address that cannot be traced */
};

struct readonly_structure {
    uint32_t variable; /* of the module: in global space, or the parameter that holds the pointer ... */
    uint64_t offset;   /* ... there */
    uint32_t accesses; /* instructions that may go there */
    uint8_t verdict;   /* enum readonly_verdict */
    uint32_t by_function, by_instr;
};

struct readonly_kernel {
    uint32_t function;
    struct readonly_structure *structures; /* those that are accessed, as they are declared */
    uint32_t structure_count;
};

struct readonly {
    struct readonly_kernel *kernels;
    uint32_t kernel_count;
    uint8_t *
        *marked; /* of each function and instruction: a load of read-only data; NULL for one that nothing reaches */
};

/* Kept in `arena`. The module must be one that can be lowered. */
struct readonly *readonly_create(struct arena *arena, const struct ptx_module *module);

/* "buffers+8", "table": cut to fit. */
const char *readonly_name(const struct ptx_module *module, const struct readonly_structure *structure, char *text,
                          size_t size);
/* "2 instructions read it", "st.global.u32 at line 12 writes it". */
const char *readonly_why(const struct ptx_module *module, const struct readonly_structure *structure, char *text,
                         size_t size);

/* The module's text with ld.global.ro for every marked load of .global; how many there are. */
uint32_t readonly_rewrite(const struct ptx_module *module, const struct readonly *readonly, FILE *out);

#endif
