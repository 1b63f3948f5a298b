"""Writes a trace with dependent chains of every opcode that src/sass/opcodes.def gives a latency in an architecture, and prints the
opcodes with the cycles of an instruction: a kernel that fills the instruction caches, then two kernels of one warp for each opcode, the second with
LENGTH more instructions than the first."""
import os
import re
import sys

COLUMNS = {70: 1, 75: 2, 80: 3, 90: 4}
LENGTH = 100
INTERVALS = {"SFU": 8}  # of v100, a100 and h100: a chain is not faster than its pipeline

folder, version = sys.argv[1], int(sys.argv[2])
os.makedirs(folder)
commands = []


def write(opcode, count):
    commands.append(f"kernel-{len(commands) + 1}.traceg")
    with open(f"{folder}/{commands[-1]}", "w") as out:
        out.write(f"-kernel name = {opcode}\n-kernel id = {len(commands)}\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n"
                  f"-nregs = 16\n-binary version = {version}\n-cuda stream id = 0\n-accelsim tracer version = 5\n"
                  f"-enable lineinfo = 0\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = {count + 1}\n")
        out.write(f"0000 ffffffff 1 R2 {opcode} 1 R2 0 0\n" * count)
        out.write("0010 ffffffff 0 EXIT 0 0 0\n#END_TB\n")


write("FADD", 1)
for line in open(os.path.join(os.path.dirname(__file__), "../../src/sass/opcodes.def")):
    row = re.fullmatch(r"X\((\w+), +\w+, +(\w+), +\w+, +(\w+), +(\w+), +(\w+), +(\w+), +(\w+)\)\n", line)
    if not row or not row[3 + COLUMNS[version]].isdigit():
        continue
    print(row[1], max(int(row[3 + COLUMNS[version]]), INTERVALS.get(row[2], 0)))
    for count in LENGTH, 2 * LENGTH:
        write(row[1], count)
with open(f"{folder}/kernelslist.g", "w") as out:
    out.write("\n".join(commands) + "\n")
