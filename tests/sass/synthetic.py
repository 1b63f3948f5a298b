#!/usr/bin/env python3
"""Writes a SASS trace of about the given size to standard output: CTAs of eight warps that load, compute and store.

    synthetic.py MEGABYTES [--shuffled]

Every CTA accesses its own addresses. With --shuffled, the last CTAs of the grid come first in the file."""
import random
import sys

VERSION, WARPS, ITERATIONS = 5, 8, 40
BASE = 0x7F0000000000


def lines(warp):
    """The instructions of a warp; @ stands for the CTA's part of an address."""
    step = random.Random(warp)
    yield "0000 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R255 0 0"
    yield "0010 ffffffff 1 R0 S2R 0 0 0"
    for i in range(ITERATIONS):
        address = f"0x7f@{warp:01x}{i * 128:05x}"
        differences = " ".join(str(step.randrange(-512, 1024, 4)) for _ in range(31))
        yield f"0020 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 {address} 4 0"
        yield f"0030 ffffffff 1 R5 LDG.E.SYS 1 R2 4 2 {address} {differences} 0"
        yield "0040 ffffffff 1 R6 FFMA 3 R4 R5 R6 0 0"
        yield "0050 ffffffff 1 R2 IADD3 2 R2 R255 0 0"
        yield f"0060 {0xffff if i % 2 else 0xffffffff:08x} 0 STG.E.SYS 2 R2 R6 4 1 {address} 4 0"
        yield "0070 ffffffff 0 BRA 0 0 0"
    yield "0080 ffffffff 0 EXIT 0 0 0"


def cta():
    text = []
    for warp in range(WARPS):
        instructions = list(lines(warp))
        text.append(f"\nwarp = {warp}\ninsts = {len(instructions)}\n" + "\n".join(instructions) + "\n")
    return "".join(text)


def main():
    bytes_wanted = int(float(sys.argv[1]) * 1e6)
    body = cta()
    ctas = max(1, bytes_wanted // len(body))
    order = list(range(ctas))
    if "--shuffled" in sys.argv:
        order.reverse()
    out = sys.stdout
    out.write(f"""-kernel name = synthetic
-kernel id = 1
-grid dim = ({ctas},1,1)
-block dim = ({WARPS * 32},1,1)
-shmem = 0
-nregs = 16
-binary version = 70
-cuda stream id = 0
-shmem base_addr = 0x00007e2c00000000
-local mem base_addr = 0x00007e2a00000000
-nvbit version = 1.5.5
-accelsim tracer version = {VERSION}
-enable lineinfo = 0

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate
""")
    for number in order:
        out.write(f"#BEGIN_TB\n\nthread block = {number},0,0\n{body.replace('@', f'{number:04x}')}\n#END_TB\n\n")


main()
