#!/usr/bin/env python3
"""Writes kernels twice: as PTX with a launch file, and as the SASS trace that a tracer would write of it, by hand.

    equivalent.py DIRECTORY [VERSION]

DIRECTORY/NAME.yaml and DIRECTORY/NAME/kernelslist.g execute the same instructions: each PTX instruction is a line with an
opcode of the same class, and the same dependences. `add` is z[i] = x[i] + y[i]; `stride` reads x[33 i], reverses it in
shared memory and writes it back; in `reuse` all CTAs read the same 64 KB, bypassing the L1, and write z[i]. Buffers are where Sluice allocates them. VERSION (default 5) is that of the tracer."""
import os
import sys

THREADS, CTAS = 128, 200
COUNT = THREADS * CTAS - 50
BASE, SHARED = 0xC0000000, 0x7F2C00000000
STRIDE = 33

HEAD = """.version 7.0
.target sm_70
.address_size 64
"""
ADD = HEAD + """.visible .entry add(.param .u64 x, .param .u64 y, .param .u64 z, .param .u32 n)
{
    .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %d<8>; .reg .f32 %f<4>;
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [y];
    ld.param.u64 %d3, [z];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mad.lo.s32 %r4, %r3, 128, %r2;
    setp.ge.u32 %p, %r4, %r1;
    @%p bra END;
    mul.wide.u32 %d4, %r4, 4;
    add.s64 %d5, %d1, %d4;
    add.s64 %d6, %d2, %d4;
    add.s64 %d7, %d3, %d4;
    ld.global.f32 %f1, [%d5];
    ld.global.f32 %f2, [%d6];
    add.f32 %f3, %f1, %f2;
    st.global.f32 [%d7], %f3;
END:
    ret;
}
"""
STRIDED = HEAD + """.visible .entry stride(.param .u64 x)
{
    .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .f32 %f<3>;
    .shared .align 4 .b8 row[512];
    ld.param.u64 %d1, [x];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.s32 %r3, %r2, 128, %r1;
    mul.wide.u32 %d2, %r3, 132;
    add.s64 %d3, %d1, %d2;
    ld.global.f32 %f1, [%d3];
    shl.b32 %r4, %r1, 2;
    mov.u32 %r5, row;
    add.s32 %r6, %r5, %r4;
    st.shared.f32 [%r6], %f1;
    bar.sync 0;
    sub.s32 %r7, 508, %r4;
    add.s32 %r8, %r5, %r7;
    ld.shared.f32 %f2, [%r8];
    st.global.f32 [%d3], %f2;
    ret;
}
"""
REUSE_STEPS = 128
REUSE = HEAD + """.visible .entry reuse(.param .u64 x, .param .u64 z)
{
    .reg .b32 %r<4>; .reg .b64 %d<7>; .reg .f32 %f<3>;
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [z];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %d3, %r1, 4;
    add.s64 %d4, %d1, %d3;
""" + "".join(f"    ld.global.cg.f32 %f1, [%d4+{512 * i}];\n    add.f32 %f2, %f1, %f1;\n" for i in range(REUSE_STEPS)) + """
    mad.lo.s32 %r3, %r2, 128, %r1;
    mul.wide.u32 %d5, %r3, 4;
    add.s64 %d6, %d2, %d5;
    st.global.f32 [%d6], %f2;
    ret;
}
"""


def add(cta, warp):
    first = cta * THREADS + warp * 32
    lanes = max(0, min(32, COUNT - first))
    mask = (1 << lanes) - 1
    aligned = (4 * COUNT + 255) // 256 * 256
    x, y, z = (BASE + i * aligned + 4 * first for i in range(3))
    yield 0xFFFFFFFF, "1 R2 LDC.64 0 8 1 0x0 0"
    yield 0xFFFFFFFF, "1 R4 LDC.64 0 8 1 0x8 0"
    yield 0xFFFFFFFF, "1 R6 LDC.64 0 8 1 0x10 0"
    yield 0xFFFFFFFF, "1 R8 LDC 0 4 1 0x18 0"
    yield 0xFFFFFFFF, "1 R9 S2R 0 0"
    yield 0xFFFFFFFF, "1 R10 S2R 0 0"
    yield 0xFFFFFFFF, "1 R11 IMAD 2 R10 R9 0"
    yield 0xFFFFFFFF, "1 R0 ISETP.GE.U32 2 R11 R8 0"
    yield 0xFFFFFFFF & ~mask, "0 BRA 1 R0 0"  # @P0: the lanes that leave
    if lanes:
        yield mask, "1 R12 IMUL 1 R11 0"
        yield mask, "1 R14 IADD3 2 R2 R12 0"
        yield mask, "1 R16 IADD3 2 R4 R12 0"
        yield mask, "1 R18 IADD3 2 R6 R12 0"
        yield mask, f"1 R20 LDG.E.SYS 1 R14 4 1 {x:#x} 4"
        yield mask, f"1 R21 LDG.E.SYS 1 R16 4 2 {y:#x}" + " 4" * (lanes - 1)
        yield mask, "1 R22 FADD 2 R20 R21 0"
        yield mask, "0 STG.E.SYS 2 R18 R22 4 0 " + " ".join(f"{z + 4 * i:#x}" for i in range(lanes))
    yield 0xFFFFFFFF, "0 EXIT 0 0"


def stride(cta, warp):
    first = cta * THREADS + warp * 32
    x = BASE + 4 * STRIDE * first
    full = 0xFFFFFFFF
    yield full, "1 R2 LDC.64 0 8 1 0x0 0"
    yield full, "1 R4 S2R 0 0"
    yield full, "1 R5 S2R 0 0"
    yield full, "1 R6 IMAD 2 R5 R4 0"
    yield full, "1 R8 IMUL 1 R6 0"
    yield full, "1 R8 IADD3 2 R2 R8 0"
    yield full, f"1 R10 LDG.E.SYS 1 R8 4 1 {x:#x} {4 * STRIDE}"
    yield full, "1 R11 SHL 1 R4 0"
    yield full, "1 R12 MOV 0 0"
    yield full, "1 R13 IADD3 2 R12 R11 0"
    yield full, f"0 STS 2 R13 R10 4 1 {SHARED + 128 * warp:#x} 4"
    yield full, "0 BAR.SYNC 0 0"
    yield full, "1 R14 IADD3 1 R11 0"
    yield full, "1 R15 IADD3 2 R12 R14 0"
    yield full, f"1 R16 LDS 1 R15 4 1 {SHARED + 508 - 128 * warp:#x} -4"
    yield full, f"0 STG.E.SYS 2 R8 R16 4 1 {x:#x} {4 * STRIDE}"
    yield full, "0 EXIT 0 0"


def reuse(cta, warp):
    full = 0xFFFFFFFF
    yield full, "1 R2 LDC.64 0 8 1 0x0 0"
    yield full, "1 R4 LDC.64 0 8 1 0x8 0"
    yield full, "1 R6 S2R 0 0"
    yield full, "1 R7 S2R 0 0"
    yield full, "1 R8 IMUL 1 R6 0"
    yield full, "1 R10 IADD3 2 R2 R8 0"
    for i in range(REUSE_STEPS):
        yield full, f"1 R12 LDG.E.STRONG.GPU 1 R10 4 1 {BASE + 512 * i + 128 * warp:#x} 4"
        yield full, "1 R13 FADD 1 R12 0"
    yield full, "1 R14 IMAD 2 R7 R6 0"
    yield full, "1 R15 IMUL 1 R14 0"
    yield full, "1 R17 IADD3 2 R4 R15 0"
    yield full, f"0 STG.E.SYS 2 R17 R13 4 1 {BASE + 512 * (REUSE_STEPS + cta) + 128 * warp:#x} 4"
    yield full, "0 EXIT 0 0"


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def write_trace(folder, name, lines, shared, version):
    os.makedirs(folder, exist_ok=True)
    write(f"{folder}/kernelslist.g", f"MemcpyHtoD,{BASE:#018x},{4 * COUNT}\nkernel-1.traceg\n")
    with open(f"{folder}/kernel-1.traceg", "w", encoding="ascii") as out:
        out.write(f"""-kernel name = {name}
-kernel id = 1
-grid dim = ({CTAS},1,1)
-block dim = ({THREADS},1,1)
-shmem = {shared}
-nregs = 24
-binary version = 70
-cuda stream id = 0
-shmem base_addr = {SHARED:#018x}
-local mem base_addr = 0x00007f2a00000000
-nvbit version = 1.5.5
-accelsim tracer version = {version}
-enable lineinfo = {1 if version == 4 else 0}

""")
        for cta in range(CTAS):
            out.write(f"#BEGIN_TB\n\nthread block = {cta},0,0\n")
            for warp in range(THREADS // 32):
                body = list(lines(cta, warp))
                out.write(f"\nwarp = {warp}\ninsts = {len(body)}\n")
                for i, (mask, text) in enumerate(body):
                    before, after = f"{i + 1} " if version == 4 else "", " 0" if version == 5 else ""
                    pc = 16 * (i if len(body) > 10 or i < 9 else 17)  # a branch over the body leads to the last one
                    out.write(f"{before}{pc:04x} {mask:08x} {text}{after}\n")
            out.write("\n#END_TB\n\n")


def main():
    folder, version = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    os.makedirs(folder, exist_ok=True)
    write(f"{folder}/add.ptx", ADD)
    write(f"{folder}/stride.ptx", STRIDED)
    write(f"{folder}/add.yaml", f"""name: add
ptx: add.ptx
buffers:
  - {{name: x, bytes: {4 * COUNT}}}
  - {{name: y, bytes: {4 * COUNT}}}
  - {{name: z, bytes: {4 * COUNT}}}
launches:
  - {{kernel: add, grid: [{CTAS}], block: [{THREADS}], args: [{{buffer: x}}, {{buffer: y}}, {{buffer: z}}, {{scalar: u32, value: {COUNT}}}]}}
""")
    write(f"{folder}/stride.yaml", f"""name: stride
ptx: stride.ptx
buffers:
  - {{name: x, bytes: {4 * STRIDE * THREADS * CTAS}}}
launches:
  - {{kernel: stride, grid: [{CTAS}], block: [{THREADS}], args: [{{buffer: x}}]}}
""")
    write(f"{folder}/reuse.ptx", REUSE)
    write(f"{folder}/reuse.yaml", f"""name: reuse
ptx: reuse.ptx
buffers:
  - {{name: x, bytes: {512 * REUSE_STEPS}}}
  - {{name: z, bytes: {4 * THREADS * CTAS}}}
launches:
  - {{kernel: reuse, grid: [{CTAS}], block: [{THREADS}], args: [{{buffer: x}}, {{buffer: z}}]}}
""")
    write_trace(f"{folder}/reuse", "reuse", reuse, 0, version)
    write_trace(f"{folder}/add", "add", add, 0, version)
    write_trace(f"{folder}/stride", "stride", stride, 512, version)


main()
