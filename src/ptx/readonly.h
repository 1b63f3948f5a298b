/* Read-only data structures of a kernel and the loads that access them: the compiler analysis of "Selective Replication
 * in Memory-Side GPU Caches" (section III-A). A data structure is read-only in a kernel if no store, atomic, reduction
 * or bulk copy of the kernel or its callees may write to it (pointers.h). A store through an untraceable pointer may
 * write anywhere; then nothing is read-only.
 *
 * A load is marked if everything it may read is read-only in every kernel that reaches it, so that a function called by
 * several kernels has one verdict. Kernels that cannot be executed, since they have unsupported instructions, are not
 * analysed and have no part in verdicts. Loads that observe concurrent writes (.volatile, .relaxed, .acquire, .mmio, .cv) are
 * not marked.
 *
 * Loads of .nc and .ro are marked by lowering, whatever the verdict: they are promises about locations, and a kernel may
 * write another part of the same data structure. PTX does not declare aliasing between parameters. The emulator therefore
 * checks every line loaded as read-only (emu/promise.c). */
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
    uint32_t variable; /* in global space, or the parameter that holds the pointer ... */
    uint64_t offset;   /* ... at this offset */
    uint32_t accesses; /* instructions that may access it */
    uint8_t verdict;   /* enum readonly_verdict */
    uint32_t by_function, by_instr;
};

struct readonly_kernel {
    uint32_t function;
    struct readonly_structure *structures; /* accessed structures, in order of declaration */
    uint32_t structure_count;
};

struct readonly {
    struct readonly_kernel *kernels;
    uint32_t kernel_count;
    uint8_t **marked; /* [function][instruction]: a load of read-only data; NULL for an unreachable function */
};

/* Allocated in `arena`. Analyses the kernels that are `executable`, which is indexed as the module's functions: all
 * functions that such a kernel may call are, too. */
struct readonly *readonly_create(struct arena *arena, const struct ptx_module *module, const bool *executable);

/* "buffers+8", "table": truncated to fit. */
const char *readonly_name(const struct ptx_module *module, const struct readonly_structure *structure, char *text,
                          size_t size);
/* "2 instructions read it", "st.global.u32 at line 12 writes it". */
const char *readonly_why(const struct ptx_module *module, const struct readonly_structure *structure, char *text,
                         size_t size);

/* The module's text with ld.global.ro for every marked load of .global; returns their number. */
uint32_t readonly_rewrite(const struct ptx_module *module, const struct readonly *readonly, FILE *out);

#endif
