/* Small PTX kernels and helpers shared by the tests of programs. */
#ifndef SLUICE_TESTS_EMU_PROGRAMS_H
#define SLUICE_TESTS_EMU_PROGRAMS_H

#include <string.h>

#include "host/source.h"

static inline struct dim dim1(uint32_t x) { return (struct dim){x, 1, 1}; }

/* Copies device memory to the host. */
static inline void host_read(struct host *host, void *to, uint64_t from, uint64_t bytes) {
    const void *at = host_memory(host, from, bytes);
    if (at) memcpy(to, at, bytes);
}

#define PTX_HEAD ".version 6.0\n.target sm_70\n.address_size 64\n"

/* add(p, n): p[i] += n for each thread i of a CTA. */
#define PTX_ADD \
    ".visible .entry add(.param .u64 p, .param .u32 n) {\n" \
    "  .reg .b32 %r<4>;\n  .reg .b64 %rd<4>;\n" \
    "  ld.param.u64 %rd1, [p];\n" \
    "  ld.param.u32 %r1, [n];\n" \
    "  mov.u32 %r2, %tid.x;\n" \
    "  mul.wide.u32 %rd2, %r2, 4;\n" \
    "  add.s64 %rd3, %rd1, %rd2;\n" \
    "  ld.global.u32 %r3, [%rd3];\n" \
    "  add.u32 %r3, %r3, %r1;\n" \
    "  st.global.u32 [%rd3], %r3;\n" \
    "  ret;\n}\n"

/* spin(p): spins until p[0] is not zero, and counts, so that its state never recurs. */
#define PTX_SPIN \
    ".visible .entry spin(.param .u64 p) {\n" \
    "  .reg .pred %p<2>;\n  .reg .b32 %r<3>;\n  .reg .b64 %rd<2>;\n" \
    "  ld.param.u64 %rd1, [p];\n" \
    "  mov.u32 %r2, 0;\n" \
    "AGAIN:\n" \
    "  add.u32 %r2, %r2, 1;\n" \
    "  ld.volatile.global.u32 %r1, [%rd1];\n" \
    "  setp.eq.u32 %p1, %r1, 0;\n" \
    "  @%p1 bra AGAIN;\n" \
    "  ret;\n}\n"

/* A module-scope variable, and pair(p, s): p[0] = s.x + s.y + table[1] of a struct of two words. */
#define PTX_PAIR \
    ".visible .global .align 4 .u32 table[3] = {5, 6, 7};\n" \
    ".visible .entry pair(.param .u64 p, .param .align 4 .b8 s[8]) {\n" \
    "  .reg .b32 %r<5>;\n  .reg .b64 %rd<2>;\n" \
    "  ld.param.u64 %rd1, [p];\n" \
    "  ld.param.u32 %r1, [s];\n" \
    "  ld.param.u32 %r2, [s+4];\n" \
    "  ld.global.u32 %r3, [table+4];\n" \
    "  add.u32 %r4, %r1, %r2;\n" \
    "  add.u32 %r4, %r4, %r3;\n" \
    "  st.global.u32 [%rd1], %r4;\n" \
    "  ret;\n}\n"

#endif
