#!/usr/bin/env python3
"""Writes tests/ptx/conformance_matrix.txt: mma.sync and movmatrix with the registers of 32 lanes before and after.

The positions of elements in registers are the formulas that the PTX manual gives for each shape (PTX ISA 9.0, 9.7.14.5), written out
shape by shape. Values are computed in exact arithmetic, with Fractions that are rounded as docs/model/tensor.md states: in ascending order
of k, once per multiply-add. Neither the host's floating point nor Sluice is used.

    python3 tests/ptx/conformance_matrix.py > tests/ptx/conformance_matrix.txt

A line that starts in column 1 is an instruction, the width of its registers, and the number of registers of d, a, b and c. Each case is
four lines: the registers of a, b and c, then those required of d, as hexadecimal words: 32 lanes of the first register, then of the next.
"""
import random
from fractions import Fraction as Q

rng = random.Random(27)
out = []


# ---- numbers: None is NaN; otherwise (sign, magnitude), with the magnitude a Fraction or INF ----------------------------
INF = "inf"


class Format:
    def __init__(self, bits, exponent, fraction, infinity=True):
        self.bits, self.exponent, self.fraction, self.infinity = bits, exponent, fraction, infinity
        self.bias = (1 << (exponent - 1)) - 1
        self.least = 1 - self.bias

    def decode(self, x):
        sign, e, f = x >> (self.bits - 1), x >> self.fraction & ((1 << self.exponent) - 1), x & ((1 << self.fraction) - 1)
        if e == (1 << self.exponent) - 1:
            if self.infinity:
                return None if f else (sign, INF)
            if f == (1 << self.fraction) - 1:
                return None
        if e == 0:
            return sign, Q(f) * Q(2) ** (self.least - self.fraction)
        return sign, Q((1 << self.fraction) + f) * Q(2) ** (e - self.bias - self.fraction)

    def encode(self, value, mode="rn"):
        if value is None:
            return (1 << (self.bits - 1)) - 1 if self.bits < 64 else 0xfff8000000000000
        sign, q = value
        top = sign << (self.bits - 1)
        infinity = ((1 << self.exponent) - 1) << self.fraction
        if q == INF:
            return top | infinity
        if q == 0:
            return top
        e = max(self.least, floor_log2(q))
        unit = Q(2) ** (e - self.fraction)
        n, rest = divmod(q, unit)
        up = {"rn": rest * 2 > unit or (rest * 2 == unit and n % 2), "rz": False, "rm": sign and rest, "rp": not sign and rest}[mode]
        n += 1 if up else 0
        bits = n if e == self.least and n < (1 << self.fraction) else ((e + self.bias) << self.fraction) + n - (1 << self.fraction)
        if bits >= infinity:
            toward = {"rn": True, "rz": False, "rm": sign, "rp": not sign}[mode]
            bits = infinity if toward else infinity - 1
        return top | int(bits)


def floor_log2(q):
    e = q.numerator.bit_length() - q.denominator.bit_length()
    return e if Q(2) ** e <= q else e - 1


F16, BF16, F32, F64 = Format(16, 5, 10), Format(16, 8, 7), Format(32, 8, 23), Format(64, 11, 52)
E4M3, E5M2 = Format(8, 4, 3, False), Format(8, 5, 2)


def multiply_add(a, b, c, to, mode):
    """a * b + c, rounded once to a format, as a number."""
    if a is None or b is None or c is None:
        return None
    sign = a[0] ^ b[0]
    if INF in (a[1], b[1]):
        if 0 in (a[1], b[1]):
            return None
        product = (sign, INF)
    else:
        product = (sign, a[1] * b[1])
    if INF in (product[1], c[1]):
        if product[1] == c[1] and product[0] != c[0]:
            return None
        return product if product[1] == INF else c
    total = (-1) ** product[0] * product[1] + (-1) ** c[0] * c[1]
    if total == 0:
        negative = product[0] if product[0] == c[0] else mode == "rm"
        return int(negative), Q(0)
    return to.decode(to.encode((int(total < 0), abs(total)), mode))


# ---- element types: bits, decoding, and values to try -------------------------------------------------------------------
def tame(f):
    """Near one, with a random fraction."""
    return lambda: rng.getrandbits(1) << (f.bits - 1) | (f.bias - 2 + rng.randrange(4)) << f.fraction | rng.getrandbits(f.fraction)


def wild(f):
    """Mostly any exponent; some zeros, subnormal numbers, infinities and NaNs."""
    def value():
        kind = rng.randrange(24)
        sign = rng.getrandbits(1) << (f.bits - 1)
        if kind == 0:
            return sign
        if kind == 1:
            return sign | rng.getrandbits(f.fraction)
        if kind == 2 and rng.randrange(8) == 0:
            return sign | ((1 << f.exponent) - 1) << f.fraction
        if kind == 3 and rng.randrange(8) == 0:
            return sign | ((1 << f.exponent) - 1) << f.fraction | ((1 << f.fraction) - 1)
        return sign | rng.randrange((1 << f.exponent) - 1) << f.fraction | rng.getrandbits(f.fraction)
    return value


def signed(bits): return lambda x: x - (1 << bits) if x >> (bits - 1) else x
def plain(x): return x


TYPES = {"f16": (16, F16), "bf16": (16, BF16), "f32": (32, F32), "tf32": (32, F32), "f64": (64, F64), "e4m3": (8, E4M3), "e5m2": (8, E5M2),
         "s8": (8, signed(8)), "u8": (8, plain), "s4": (4, signed(4)), "u4": (4, plain), "b1": (1, plain), "s32": (32, signed(32))}


# ---- positions, from the manual: (row, column) of element i of a lane ---------------------------------------------------
def group(lane): return lane >> 2
def member(lane): return lane % 4


def quad_a_row(lane, i): return lane % 4 + (4 if lane >= 16 else 0), i
def quad_a_col(lane, i): return i % 4 + (4 if lane >= 16 else 0), lane % 4
def quad_b_row(lane, i): return lane % 4, i + (4 if lane >= 16 else 0)
def quad_b_col(lane, i): return i, lane % 4 + (4 if lane >= 16 else 0)
def quad_c_f16(lane, i): return lane % 4 + (4 if lane >= 16 else 0), i
def quad_c_f32(lane, i): return (lane & 1) + (i & 2) + (4 if lane >= 16 else 0), (i & 4) + (lane & 2) + (i & 1)


def c_m16n8(lane, i): return group(lane) + (0 if i < 2 else 8), member(lane) * 2 + (i & 1)
def c_m8n8(lane, i): return group(lane), member(lane) * 2 + i


A, B = {}, {}
A["m16n8k4", 64] = A["m16n8k4", 32] = lambda l, i: (group(l) + (8 if i == 1 else 0), member(l))
B["m16n8k4", 64] = B["m16n8k4", 32] = lambda l, i: (member(l), group(l))
A["m8n8k4", 64] = lambda l, i: (group(l), member(l))
B["m8n8k4", 64] = lambda l, i: (member(l), group(l))
A["m16n8k8", 64] = lambda l, i: (group(l) + (8 if i in (1, 3) else 0), member(l) + (4 if i >= 2 else 0))
B["m16n8k8", 64] = lambda l, i: (member(l) + (4 if i == 1 else 0), group(l))
A["m16n8k16", 64] = lambda l, i: (group(l) + (8 if i % 2 else 0), (i * 2 if i % 2 == 0 else i * 2 - 2) + member(l))
B["m16n8k16", 64] = lambda l, i: (member(l) + i * 4, group(l))
A["m16n8k8", 32] = A["m16n8k8", 64]
B["m16n8k8", 32] = B["m16n8k8", 64]
A["m16n8k8", 16] = lambda l, i: (group(l) + (0 if i < 2 else 8), member(l) * 2 + (i & 1))
B["m16n8k8", 16] = lambda l, i: (member(l) * 2 + i, group(l))
A["m16n8k16", 16] = lambda l, i: (group(l) + (0 if i < 2 or 4 <= i < 6 else 8), member(l) * 2 + (i & 1) + (8 if i >= 4 else 0))
B["m16n8k16", 16] = lambda l, i: (member(l) * 2 + (i & 1) + (8 if i >= 2 else 0), group(l))
A["m8n8k16", 8] = lambda l, i: (group(l), member(l) * 4 + i)
B["m8n8k16", 8] = lambda l, i: (member(l) * 4 + i, group(l))
A["m16n8k16", 8] = lambda l, i: (group(l) + (0 if i < 4 else 8), member(l) * 4 + (i & 3))
B["m16n8k16", 8] = lambda l, i: (member(l) * 4 + i, group(l))
A["m16n8k32", 8] = lambda l, i: (group(l) + (0 if i < 4 or 8 <= i < 12 else 8), member(l) * 4 + (i & 3) + (16 if i >= 8 else 0))
B["m16n8k32", 8] = lambda l, i: (member(l) * 4 + (i & 3) + (16 if i >= 4 else 0), group(l))
A["m8n8k32", 4] = lambda l, i: (group(l), member(l) * 8 + i)
B["m8n8k32", 4] = lambda l, i: (member(l) * 8 + i, group(l))
A["m16n8k32", 4] = lambda l, i: (group(l) + (0 if i < 8 else 8), member(l) * 8 + (i & 7))
B["m16n8k32", 4] = lambda l, i: (member(l) * 8 + (i & 7), group(l))
A["m16n8k64", 4] = lambda l, i: (group(l) + (0 if i < 8 or 16 <= i < 24 else 8), member(l) * 8 + (i & 7) + (32 if i >= 16 else 0))
B["m16n8k64", 4] = lambda l, i: (member(l) * 8 + (i & 7) + (32 if i >= 8 else 0), group(l))
A["m8n8k128", 1] = lambda l, i: (group(l), member(l) * 32 + i)
B["m8n8k128", 1] = lambda l, i: (member(l) * 32 + i, group(l))
A["m16n8k128", 1] = lambda l, i: (group(l) + (0 if i < 32 else 8), member(l) * 32 + (i & 31))
B["m16n8k128", 1] = lambda l, i: (member(l) * 32 + i, group(l))
A["m16n8k256", 1] = lambda l, i: (group(l) + (0 if i < 32 or 64 <= i < 96 else 8), member(l) * 32 + (i & 31) + (128 if i >= 64 else 0))
B["m16n8k256", 1] = lambda l, i: (member(l) * 32 + (i & 31) + (128 if i >= 32 else 0), group(l))


# ---- registers ----------------------------------------------------------------------------------------------------------
def size(shape):
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


class Fragment:
    """An operand: its registers, and where each element is."""

    def __init__(self, bits, count, position, quads):
        self.bits, self.position, self.quads = bits, position, quads
        self.per = max(1, 32 // bits)
        self.width = max(32, bits)
        self.registers = count // 32 // self.per

    def words(self, matrices):
        """The registers that hold the matrices: [register][lane]; a matrix is {(row, column): bits}."""
        words = [[0] * 32 for _ in range(self.registers)]
        for lane in range(32):
            for i in range(self.registers * self.per):
                matrix = matrices[lane % 16 // 4 if self.quads else 0]
                words[i // self.per][lane] |= matrix[self.position(lane, i)] << (i % self.per * self.bits)
        return words


def product(a, b, c, size, types, how):
    """d of one product, as bits by position."""
    m, n, k = size
    d = {}
    for i in range(m):
        for j in range(n):
            if types[0] == "s32":
                total = signed(32)(c[i, j])
                for x in range(k):
                    p, q = a[i, x], b[x, j]
                    total += (p & q if how == "and" else p ^ q) if how in ("and", "xor") else TYPES[types[1]][1](p) * TYPES[types[2]][1](q)
                if how == "satfinite":
                    total = max(-2**31, min(2**31 - 1, total))
                d[i, j] = total & 0xffffffff
                continue
            inner, mode = (F64, how or "rn") if types[0] == "f64" else (F32, "rn")
            total = TYPES[types[3]][1].decode(c[i, j])
            low = ~0x1fff if types[1] == "tf32" else ~0
            for x in range(k):
                total = multiply_add(TYPES[types[1]][1].decode(a[i, x] & low), TYPES[types[2]][1].decode(b[x, j] & low), total, inner, mode)
            d[i, j] = TYPES[types[0]][1].encode(total)
    return d


def filled(rows, columns, value):
    return {(i, j): value() for i in range(rows) for j in range(columns)}


def values(name, kind):
    bits, form = TYPES[name]
    if isinstance(form, Format):
        return tame(form) if kind == "tame" else wild(form)
    if kind == "edge":
        return lambda: rng.choice([0, 1, (1 << (bits - 1)) - 1, 1 << (bits - 1), (1 << bits) - 1])
    return lambda: rng.getrandbits(bits)


def mma(text, shape, types, positions, kinds, how="", quads=False):
    m, n, k = size(shape)
    copies = 4 if quads else 1
    pa, pb, pc, pd = positions
    a, b = Fragment(TYPES[types[1]][0], m * k * copies, pa, quads), Fragment(TYPES[types[2]][0], n * k * copies, pb, quads)
    c, d = Fragment(TYPES[types[3]][0], m * n * copies, pc, quads), Fragment(TYPES[types[0]][0], m * n * copies, pd, quads)
    out.append(f"{text} | {a.width} | {d.registers} {a.registers} {b.registers} {c.registers}")
    for kind in kinds:
        given = [(filled(m, k, values(types[1], kind)), filled(k, n, values(types[2], kind)), filled(m, n, values(types[3], kind)))
                 for _ in range(copies)]
        results = [product(*one, (m, n, k), types, how) for one in given]
        for fragment, matrices in ((a, [g[0] for g in given]), (b, [g[1] for g in given]), (c, [g[2] for g in given]), (d, results)):
            out.append("  " + " ".join(f"{word:x}" for register in fragment.words(matrices) for word in register))


def plain_mma(shape, types, kinds, how="", suffix="", words=""):
    bits = TYPES[types[1]][0]
    pc = c_m8n8 if shape.startswith("m8") else c_m16n8
    text = f"mma.sync.aligned.{shape}.row.col{words}.{'.'.join(types)}{suffix}"
    mma(text, shape, types, (A[shape, bits], B[shape, bits], pc, pc), kinds, how)


for ta in ("row", "col"):
    for tb in ("row", "col"):
        for td, tc in (("f16", "f16"), ("f32", "f32")) if ta != tb else (("f32", "f16"), ("f16", "f32")):
            mma(f"mma.sync.aligned.m8n8k4.{ta}.{tb}.{td}.f16.f16.{tc}", "m8n8k4", (td, "f16", "f16", tc),
                (quad_a_row if ta == "row" else quad_a_col, quad_b_row if tb == "row" else quad_b_col,
                 quad_c_f16 if tc == "f16" else quad_c_f32, quad_c_f16 if td == "f16" else quad_c_f32), ("tame",), quads=True)
for shape in ("m16n8k8", "m16n8k16"):
    plain_mma(shape, ("f16", "f16", "f16", "f16"), ("tame", "wild"))
    plain_mma(shape, ("f32", "f16", "f16", "f32"), ("tame", "wild"))
    plain_mma(shape, ("f32", "f16", "f16", "f16"), ("tame",))
    plain_mma(shape, ("f16", "f16", "f16", "f32"), ("tame",))
    plain_mma(shape, ("f32", "bf16", "bf16", "f32"), ("tame", "wild"))
for shape in ("m16n8k4", "m16n8k8"):
    plain_mma(shape, ("f32", "tf32", "tf32", "f32"), ("tame", "wild"))
for shape, pairs in (("m16n8k16", (("e4m3", "e5m2"),)), ("m16n8k32", (("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e5m2", "e5m2")))):
    for x, y in pairs:
        plain_mma(shape, ("f32", x, y, "f32"), ("wild",))
plain_mma("m16n8k16", ("f16", "e4m3", "e4m3", "f16"), ("tame",))
plain_mma("m8n8k4", ("f64",) * 4, ("tame",))
for mode in ("rn", "rz", "rm", "rp"):
    plain_mma("m8n8k4", ("f64",) * 4, ("tame",), mode, words="." + mode)
for shape in ("m16n8k4", "m16n8k8", "m16n8k16"):
    plain_mma(shape, ("f64",) * 4, ("tame",))
for narrow, shapes in (("8", ("m8n8k16", "m16n8k16", "m16n8k32")), ("4", ("m8n8k32", "m16n8k32", "m16n8k64"))):
    for shape in shapes:
        for x, y in (("s", "s"), ("u", "u"), ("s", "u"), ("u", "s")) if shape == shapes[0] else (("s", "u"), ("u", "s")):
            plain_mma(shape, ("s32", x + narrow, y + narrow, "s32"), ("any",))
    plain_mma(shapes[0], ("s32", "s" + narrow, "u" + narrow, "s32"), ("edge",), "satfinite", words=".satfinite")
    plain_mma(shapes[2], ("s32", "s" + narrow, "s" + narrow, "s32"), ("edge",), "satfinite", words=".satfinite")
for shape in ("m8n8k128", "m16n8k128", "m16n8k256"):
    for how in ("xor", "and"):
        plain_mma(shape, ("s32", "b1", "b1", "s32"), ("any",), how, f".{how}.popc")

# movmatrix: a fragment of 8 x 8 halves, transposed
half = Fragment(16, 64, lambda l, i: (group(l), member(l) * 2 + i), False)
matrix = filled(8, 8, lambda: rng.getrandbits(16))
out.append("movmatrix.sync.aligned.m8n8.trans.b16 | 32 | 1 1 0 0")
for shown in (matrix, {(i, j): matrix[j, i] for i, j in matrix}):
    out.append("  " + " ".join(f"{word:x}" for word in half.words([shown])[0]))
    if shown is matrix:
        out.extend(["  ", "  "])

print("# Matrix instructions: registers of 32 lanes before and after; generated by tests/ptx/conformance_matrix.py.")
print("\n".join(out))
