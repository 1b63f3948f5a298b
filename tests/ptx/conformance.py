#!/usr/bin/env python3
"""Writes tests/ptx/conformance.txt: PTX instructions with operands and the results required by NVIDIA's PTX ISA 9.0.

Everything is computed from the PTX manual in exact arithmetic (integers and Fractions, rounded once), without the host's
floating point and without Sluice. Transcendental functions use mpmath with 200 bits. The table is part of the repository; the
tests read it and do not need Python.

    python3 tests/ptx/conformance.py > tests/ptx/conformance.txt

A line that starts in column 1 is an instruction (several are separated by `;`), then its results and its operands with the
types of their registers. The lines below are its cases: operands = results, in hexadecimal. `~n` allows n units in the last place.
"""
import random
from fractions import Fraction as Q
from math import isqrt

import mpmath

mpmath.mp.prec = 200
rng = random.Random(20)
out = []


def rows(text, results, operands, cases):
    """cases: (operands, results); each a list of integers or strings."""
    out.append(f"{text} | {' '.join(results)} | {' '.join(operands)}")
    seen = set()
    for given, wanted in cases:
        key = tuple(given)
        if key in seen:
            continue
        seen.add(key)
        show = lambda v: v if isinstance(v, str) else f"{v:x}"
        out.append(f"  {' '.join(map(show, given))} = {' '.join(map(show, wanted))}")


# ---- integers -------------------------------------------------------------------------------------------------------
def mask(bits): return (1 << bits) - 1


def val(x, bits, signed):
    x &= mask(bits)
    return x - (1 << bits) if signed and x >> (bits - 1) else x


def edges(bits):
    top = 1 << (bits - 1)
    return [0, 1, 2, 3, 7, bits - 1, bits, bits + 1, top - 1, top, top + 1, mask(bits), mask(bits) - 1, 0x5555555555555555 & mask(bits),
            0xDEADBEEFCAFEF00D & mask(bits), 0x8000000080000000 & mask(bits), 0xFFFFFF & mask(bits), 0x800000 & mask(bits)]


def pick(lists, n, must=()):
    cases = [tuple(m) for m in must]
    while len(cases) < n:
        cases.append(tuple(rng.choice(l) if rng.random() < .8 else rng.getrandbits(64) & max(max(l), 1) for l in lists))
    return cases


def integer(name, types, arity, f, n=8, dbits=None, must=(), widths=None):
    for t in types:
        bits, signed = int(t[1:]), t[0] == 's'
        ws = [w or bits for w in (widths or [None] * arity)]
        db = dbits(bits) if dbits else bits
        special = [[(1 << (bits - 1)), mask(bits), 5, 1][:arity]] if arity >= 2 else []
        special += [[7, 0, 9, 1][:arity], [mask(bits) - 6, 0, 1, 2][:arity]] if arity >= 2 else []
        cases = []
        for ops in pick([edges(w) for w in ws], n, [s for s in special] + [m(bits) if callable(m) else m for m in must]):
            ops = [o & mask(w) for o, w in zip(ops, ws)]
            cases.append((ops, [f(ops, bits, signed) & mask(db)]))
        rows(f"{name}.{t} " + ', '.join(['%d', '%a', '%b', '%c', '%e'][:arity + 1]), [f"d:b{max(db, 16)}"],
             [f"{r}:b{w}" for r, w in zip('abce', ws)], cases)


def two(f): return lambda o, bits, s: f(val(o[0], bits, s), val(o[1], bits, s))
def three(f): return lambda o, bits, s: f(val(o[0], bits, s), val(o[1], bits, s), val(o[2], bits, s))
def clamp(x, lo, hi): return lo if x < lo else hi if x > hi else x
def sat32(x): return clamp(x, -2**31, 2**31 - 1)
def trunc_div(a, b): return -1 if b == 0 else (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)
def trunc_rem(a, b): return -1 if b == 0 else a - b * trunc_div(a, b)


INT = ['u16', 's16', 'u32', 's32', 'u64', 's64']
integer('add', INT, 2, two(lambda a, b: a + b))
integer('sub', INT, 2, two(lambda a, b: a - b))
integer('add.sat', ['s32'], 2, two(lambda a, b: sat32(a + b)), must=[(0x7fffffff, 1), (0x80000000, 0xffffffff)])
integer('sub.sat', ['s32'], 2, two(lambda a, b: sat32(a - b)), must=[(0x7fffffff, 0xffffffff), (0x80000000, 1)])
integer('mul.lo', INT, 2, two(lambda a, b: a * b))
integer('mul.hi', INT, 2, lambda o, n, s: (val(o[0], n, s) * val(o[1], n, s)) >> n)
integer('mul.wide', INT[:4], 2, two(lambda a, b: a * b), dbits=lambda b: 2 * b)
integer('mad.lo', INT, 3, three(lambda a, b, c: a * b + c))
integer('mad.hi', INT, 3, lambda o, n, s: ((val(o[0], n, s) * val(o[1], n, s)) >> n) + val(o[2], n, s))
integer('mad.hi.sat', ['s32'], 3, lambda o, n, s: sat32(((val(o[0], n, s) * val(o[1], n, s)) >> n) + val(o[2], n, s)),
        must=[(0x7fffffff, 0x7fffffff, 0x7fffffff), (0x80000000, 0x7fffffff, 0x80000000)])
for t in INT[:4]:
    n, s = int(t[1:]), t[0] == 's'
    cases = []
    for a, b, c in pick([edges(n), edges(n), edges(2 * n)], 8):
        cases.append(([a, b, c], [(val(a, n, s) * val(b, n, s) + c) & mask(2 * n)]))
    rows(f"mad.wide.{t} %d, %a, %b, %c", [f"d:b{2*n}"], [f"a:b{n}", f"b:b{n}", f"c:b{2*n}"], cases)
p24 = lambda o, s: val(o[0], 24, s) * val(o[1], 24, s)
integer('mul24.lo', ['u32', 's32'], 2, lambda o, n, s: p24(o, s))
integer('mul24.hi', ['u32', 's32'], 2, lambda o, n, s: p24(o, s) >> 16)
integer('mad24.lo', ['u32', 's32'], 3, lambda o, n, s: p24(o, s) + val(o[2], n, s))
integer('mad24.hi', ['u32', 's32'], 3, lambda o, n, s: (p24(o, s) >> 16) + val(o[2], n, s))
integer('mad24.hi.sat', ['s32'], 3, lambda o, n, s: sat32((p24(o, s) >> 16) + val(o[2], n, s)), must=[(0x7fffff, 0x7fffff, 0x7fffffff)])
integer('sad', INT, 3, three(lambda a, b, c: c + abs(a - b)))
integer('div', INT, 2, two(trunc_div))
integer('rem', INT, 2, two(trunc_rem))
integer('abs', ['s16', 's32', 's64'], 1, lambda o, n, s: abs(val(o[0], n, s)), must=[lambda n: (1 << (n - 1),)])
integer('neg', ['s16', 's32', 's64'], 1, lambda o, n, s: -val(o[0], n, s), must=[lambda n: (1 << (n - 1),)])
integer('min', INT, 2, two(min))
integer('max', INT, 2, two(max))
integer('min.relu', ['s32'], 2, two(lambda a, b: max(min(a, b), 0)))
integer('max.relu', ['s32'], 2, two(lambda a, b: max(a, b, 0)))
BITS = ['b16', 'b32', 'b64']
integer('and', BITS, 2, two(lambda a, b: a & b), n=5)
integer('or', BITS, 2, two(lambda a, b: a | b), n=5)
integer('xor', BITS, 2, two(lambda a, b: a ^ b), n=5)
integer('not', BITS, 1, lambda o, n, s: ~o[0], n=4)
integer('cnot', BITS, 1, lambda o, n, s: int(o[0] == 0), n=4, must=[(0,), (1,)])
shifts = [lambda n, k=k: (0xDEADBEEF8000F00D & mask(n), n + k) for k in (-1, 0, 1)] + [(0x8001, 0xffffffff), (0x8001, 256)]
integer('shl', BITS, 2, lambda o, n, s: o[0] << o[1] if o[1] < n else 0, widths=[None, 32], must=shifts, n=9)
integer('shr', INT + BITS, 2, lambda o, n, s: val(o[0], n, s) >> min(o[1], 200), widths=[None, 32], must=shifts, n=9)


def bfe(o, n, s):
    pos, ln, msb = o[1] & 255, o[2] & 255, n - 1
    sign = 0 if not s or ln == 0 else o[0] >> min(pos + ln - 1, msb) & 1
    return sum((o[0] >> (pos + i) & 1 if i < ln and pos + i <= msb else sign) << i for i in range(n))


def bfi(o, n, s):
    a, f, pos, ln = o[0], o[1], o[2] & 255, o[3] & 255
    for i in range(ln):
        if pos + i < n:
            f = f & ~(1 << (pos + i)) | (a >> i & 1) << (pos + i)
    return f


def bfind(o, n, s, shiftamt=False):
    a = o[0] ^ mask(n) if s and o[0] >> (n - 1) else o[0]
    d = a.bit_length() - 1
    return 0xffffffff if d < 0 else n - 1 - d if shiftamt else d


def fns(o, n, s):
    m, base, off = o[0], o[1], val(o[2], 32, True)
    if off == 0:
        return base if m >> base & 1 else 0xffffffff
    count, pos = abs(off) - 1, base
    while 0 <= pos < 32:
        if m >> pos & 1:
            if count == 0:
                return pos
            count -= 1
        pos += 1 if off > 0 else -1
    return 0xffffffff


fields = [(0xF00DF00D, 0, 0), (0xF00DF00D, 28, 8), (0xF00DF00D, 31, 1), (0xF00DF00D, 32, 4), (0xF00DF00D, 4, 255), (0xF00DF00D, 256, 8),
          (0xF00DF00D, 0, 32), (0xF00DF00D, 0, 16), (0x7FFF0000, 16, 15)]
integer('bfe', ['u32', 's32', 'u64', 's64'], 3, bfe, widths=[None, 32, 32], must=fields, n=14)
integer('bfi', ['b32', 'b64'], 4, bfi, widths=[None, None, 32, 32], n=14,
        must=[(0xAAAA, 0xFFFFFFFF, p, l) for p, l in [(0, 0), (28, 8), (31, 1), (32, 4), (4, 255), (0, 32), (256, 3)]])
integer('bfind', ['u32', 's32', 'u64', 's64'], 1, bfind, dbits=lambda b: 32, n=6, must=[(0,), lambda n: (mask(n),), (1,)])
integer('bfind.shiftamt', ['u32', 's32', 'u64', 's64'], 1, lambda o, n, s: bfind(o, n, s, True), dbits=lambda b: 32, n=6,
        must=[(0,), lambda n: (mask(n),), (1,)])
integer('brev', ['b32', 'b64'], 1, lambda o, n, s: int(f"{o[0]:0{n}b}"[::-1], 2), n=5)
integer('clz', ['b32', 'b64'], 1, lambda o, n, s: n - o[0].bit_length(), dbits=lambda b: 32, n=5, must=[(0,)])
integer('popc', ['b32', 'b64'], 1, lambda o, n, s: bin(o[0]).count('1'), dbits=lambda b: 32, n=5, must=[(0,), lambda n: (mask(n),)])
rows("fns.b32 %d, %a, %b, %c", ["d:b32"], ["a:b32", "b:b32", "c:b32"],
     [(o, [fns(o, 32, False)]) for o in [(0xaaaaaaaa, 3, 1), (0xaaaaaaaa, 3, 0xffffffff), (0xaaaaaaaa, 2, 1), (0xaaaaaaaa, 2, 0xffffffff),
      (0xaaaaaaaa, 3, 0), (0xaaaaaaaa, 2, 0), (0xffffffff, 0, 32), (0xffffffff, 0, 33), (0xffffffff, 31, 0xffffffe0), (0, 5, 1)]])
for mode in ('clamp', 'wrap'):
    amount = (lambda x: min(x, 32)) if mode == 'clamp' else (lambda x: x & 31)

    def bmsk(o, n, s):
        if mode == 'clamp' and o[0] >= 32:
            return 0
        return ((1 << amount(o[1])) - 1) << (o[0] & 31)
    pairs = [(0, 0), (0, 31), (0, 32), (31, 1), (31, 2), (32, 1), (33, 3), (4, 33), (1, 2), (0, 0xffffffff)]
    rows(f"bmsk.{mode}.b32 %d, %a, %b", ["d:b32"], ["a:b32", "b:b32"], [(o, [bmsk(o, 32, 0) & mask(32)]) for o in pairs])
    for t in ('u32', 's32'):
        f = lambda o: 0 if amount(o[1]) == 0 else val(o[0], amount(o[1]), t == 's32') & mask(32)
        cases = [(0xffffffff, 0), (0x80, 8), (0x7f, 8), (0x80000001, 1), (0xdeadbeef, 31), (0xdeadbeef, 32), (0xdeadbeef, 33), (0xdeadbeef, 0xffffffff)]
        rows(f"szext.{mode}.{t} %d, %a, %b", ["d:b32"], ["a:b32", "b:b32"], [(o, [f(o)]) for o in cases])
    for d in 'lr':
        def shf(o):
            pair, n = o[1] << 32 | o[0], amount(o[2])
            return (pair << n >> 32 if d == 'l' else pair >> n) & mask(32)
        cases = [(0x12345678, 0x9abcdef0, n) for n in (0, 1, 8, 31, 32, 33, 63, 64, 0xffffffff)]
        rows(f"shf.{d}.{mode}.b32 %d, %a, %b, %c", ["d:b32"], ["a:b32", "b:b32", "c:b32"], [(o, [shf(o)]) for o in cases])


def prmt(a, b, sel):
    src = [a >> 8 * i & 255 for i in range(4)] + [b >> 8 * i & 255 for i in range(4)]
    return sum(((255 * (src[s & 7] >> 7)) if s & 8 else src[s & 7]) << 8 * i for i, s in enumerate(sel))


A, B = 0x13829AF0, 0x7F80FE01
rows("prmt.b32 %d, %a, %b, %c", ["d:b32"], ["a:b32", "b:b32", "c:b32"],
     [((A, B, c), [prmt(A, B, [c >> 4 * i & 15 for i in range(4)])]) for c in (0x3210, 0x7654, 0x0123, 0xfedc, 0x8888, 0x9bdf, 0x0415, 0xffff3265, 0x5041)])
for mode, table in {'f4e': ['3210', '4321', '5432', '6543'], 'b4e': ['5670', '6701', '7012', '0123'], 'rc8': ['0000', '1111', '2222', '3333'],
                    'ecl': ['3210', '3211', '3222', '3333'], 'ecr': ['0000', '1110', '2210', '3210'], 'rc16': ['1010', '3232', '1010', '3232']}.items():
    rows(f"prmt.b32.{mode} %d, %a, %b, %c", ["d:b32"], ["a:b32", "b:b32", "c:b32"],
         [((A, B, c), [prmt(A, B, [int(x) for x in reversed(table[c & 3])])]) for c in (0, 1, 2, 3, 0xfffffffe)])
for lut in (0x00, 0xFF, 0xF0, 0xCC, 0xAA, 0x96, 0xE8, 0x80, 0xFE, 0x1B, 0x78, 0xCA):
    f = lambda a, b, c: sum((lut >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i for i in range(32))
    rows(f"lop3.b32 %d, %a, %b, %c, {lut:#x}", ["d:b32"], ["a:b32", "b:b32", "c:b32"],
         [(o, [f(*o)]) for o in [(0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA), (0xDEADBEEF, 0x12345678, 0)]])
for boolean in ('and', 'or'):
    cases = []
    for a, b, c, p in [(0xFF, 0xF, 0x1, 1), (0xFF, 0xF, 0x1, 0), (0xF0, 0xF, 0, 1), (0xF0, 0xF, 0, 0)]:
        d = a & b & c
        cases.append(([a, b, c, p], [d, int(d != 0) & p if boolean == 'and' else int(d != 0) | p]))
    rows(f"lop3.{boolean}.b32 %d|%q, %a, %b, %c, 0x80, %e", ["d:b32", "q:pred"], ["a:b32", "b:b32", "c:b32", "e:pred"], cases)
for ta in ('u32', 's32'):
    for tb in ('u32', 's32'):
        byte = lambda x, i, t: val(x >> 8 * i, 8, t == 's32')
        half = lambda x, i, t: val(x >> 16 * i, 16, t == 's32')
        ins = [(0x80FF7F01, 0xFF80017F, 0), (0xFFFFFFFF, 0xFFFFFFFF, 10), (0x01020304, 0x05060708, 0xFFFFFFFF), (0x80808080, 0x80808080, 0x7FFFFFFF)]
        rows(f"dp4a.{ta}.{tb} %d, %a, %b, %c", ["d:b32"], ["a:b32", "b:b32", "c:b32"],
             [(o, [(o[2] + sum(byte(o[0], i, ta) * byte(o[1], i, tb) for i in range(4))) & mask(32)]) for o in ins])
        for h in (0, 1):
            rows(f"dp2a.{'lohi'[2*h:2*h+2]}.{ta}.{tb} %d, %a, %b, %c", ["d:b32"], ["a:b32", "b:b32", "c:b32"],
                 [(o, [(o[2] + sum(half(o[0], i, ta) * byte(o[1], i + 2 * h, tb) for i in range(2))) & mask(32)]) for o in ins])
# carry chains: sums, differences and products of twice the width
for n in (32, 64):
    e, t = edges(n), f"u{n}"
    regs = [f"{r}:b{n}" for r in 'abce']
    quads = pick([e, e, e, e], 8, [(mask(n), 1, mask(n), 0), (0, 1, 0, 0), (mask(n), mask(n), mask(n), mask(n)), (5, 3, 0, 0)])
    cat = lambda lo, hi: hi << n | lo
    rows(f"add.cc.{t} %d, %a, %b; addc.{t} %q, %c, %e", [f"d:b{n}", f"q:b{n}"], regs,
         [([a, b, c, d], [(r := cat(a, c) + cat(b, d)) & mask(n), r >> n & mask(n)]) for a, b, c, d in quads])
    rows(f"sub.cc.{t} %d, %a, %b; subc.{t} %q, %c, %e", [f"d:b{n}", f"q:b{n}"], regs,
         [([a, b, c, d], [(r := cat(a, c) - cat(b, d)) & mask(n), r >> n & mask(n)]) for a, b, c, d in quads])
    rows(f"add.cc.{t} %d, %a, %b; addc.cc.{t} %d, %c, %e; addc.{t} %q, 0, 0", [f"d:b{n}", f"q:b{n}"], regs,
         [([a, b, c, d], [(r := cat(a, c) + cat(b, d)) >> n & mask(n), r >> 2 * n]) for a, b, c, d in quads])
    rows(f"sub.cc.{t} %d, %a, %b; subc.cc.{t} %d, %c, %e; subc.{t} %q, 0, 0", [f"d:b{n}", f"q:b{n}"], regs,
         [([a, b, c, d], [(r := cat(a, c) - cat(b, d)) >> n & mask(n), -int(r < 0) & mask(n)]) for a, b, c, d in quads])
    rows(f"mad.lo.cc.{t} %d, %a, %b, %c; madc.hi.{t} %q, %a, %b, %e", [f"d:b{n}", f"q:b{n}"], regs,
         [([a, b, c, d], [(r := a * b + cat(c, d)) & mask(n), r >> n & mask(n)]) for a, b, c, d in quads])
# video
V4 = {'vadd4': lambda a, b: a + b, 'vsub4': lambda a, b: a - b, 'vabsdiff4': lambda a, b: abs(a - b), 'vmin4': min, 'vmax4': max,
      'vavrg4': lambda a, b: (a + b + 1) >> 1 if a + b >= 0 else (a + b) >> 1}
for name, f in V4.items():
    for td, ta in (('u32', 'u32'), ('s32', 's32')):
        lanes = lambda x: [val(x >> 8 * i, 8, ta == 's32') for i in range(4)]
        ins = [(0x80FF7F01, 0xFF80017F, 0x10), (0xFFFFFFFF, 0, 3), (0x01020304, 0x05060708, 0xFFFFFFFF)]
        lo, hi = (-128, 127) if td == 's32' else (0, 255)
        plain = lambda o: sum((f(x, y) & 255) << 8 * i for i, (x, y) in enumerate(zip(lanes(o[0]), lanes(o[1]))))
        sat = lambda o: sum((clamp(f(x, y), lo, hi) & 255) << 8 * i for i, (x, y) in enumerate(zip(lanes(o[0]), lanes(o[1]))))
        acc = lambda o: (o[2] + sum(f(x, y) for x, y in zip(lanes(o[0]), lanes(o[1])))) & mask(32)
        for mod, g in (('', plain), ('.sat', sat), ('.add', acc)):
            rows(f"{name}.{td}.{ta}.{ta}{mod} %d, %a, %b, %c", ["d:b32"], ["a:b32", "b:b32", "c:b32"], [(o, [g(o)]) for o in ins])
for t in ('u16x2', 's16x2'):
    for name, f in (('add', lambda a, b: a + b), ('min', min), ('max', max)):
        h = lambda x: [val(x, 16, t[0] == 's'), val(x >> 16, 16, t[0] == 's')]
        ins = [(0x7FFF8000, 0x0001FFFF), (0xFFFF0001, 0x0001FFFF), (0x12345678, 0x9ABCDEF0), (0, 0xFFFFFFFF)]
        rows(f"{name}.{t} %d, %a, %b", ["d:b32"], ["a:b32", "b:b32"],
             [(o, [sum((f(x, y) & 0xffff) << 16 * i for i, (x, y) in enumerate(zip(h(o[0]), h(o[1]))))]) for o in ins])


# ---- floats ---------------------------------------------------------------------------------------------------------
class Format:
    def __init__(self, name, bits, fraction, bias):
        self.name, self.bits, self.fraction, self.bias = name, bits, fraction, bias
        self.emin, self.emax = 1 - bias, bias
        self.sign, self.inf = 1 << (bits - 1), ((1 << (bits - 1 - fraction)) - 1) << fraction
        self.nan = self.inf | (self.inf >> 1) | (1 << fraction) - 1 if bits < 64 else 0xFFF8 << 48
        self.most = self.inf - 1


F16, BF16, F32, F64 = Format('f16', 16, 10, 15), Format('bf16', 16, 7, 127), Format('f32', 32, 23, 127), Format('f64', 64, 52, 1023)
F16.nan = BF16.nan = 0x7FFF
F32.nan = 0x7FFFFFFF
FORMATS = {f.name: f for f in (F16, BF16, F32, F64)}


def is_nan(x, f): return (x & ~f.sign) > f.inf
def is_inf(x, f): return (x & ~f.sign) == f.inf
def negative(x, f): return bool(x & f.sign)


def value(x, f):
    e, m = (x & ~f.sign) >> f.fraction, x & (1 << f.fraction) - 1
    q = Q(m, 1 << f.fraction) * Q(2)**f.emin if e == 0 else (1 + Q(m, 1 << f.fraction)) * Q(2)**(e - f.bias)
    return -q if negative(x, f) else q


def round_int(q, mode, neg):
    """q >= 0 to an integer; the mode is of the signed number."""
    n, r = divmod(q.numerator, q.denominator)
    if r == 0:
        return n
    if mode == 'rn':
        return n + int(2 * r > q.denominator or (2 * r == q.denominator and n & 1))
    if mode == 'rna':
        return n + int(2 * r >= q.denominator)
    return n + int(mode == ('rm' if neg else 'rp'))


def encode(q, f, mode, neg_zero=False):
    neg = q < 0 or (q == 0 and neg_zero)
    q = abs(q)
    sign = f.sign if neg else 0
    if q == 0:
        return sign
    e = q.numerator.bit_length() - q.denominator.bit_length()
    if Q(2)**e > q:
        e -= 1
    e = max(e, f.emin)
    n = round_int(q / Q(2)**(e - f.fraction), mode, neg)
    if n >> (f.fraction + 1):
        n, e = n >> 1, e + 1
    if e > f.emax:
        away = mode in ('rn', 'rna') or mode == ('rm' if neg else 'rp')
        return sign | (f.inf if away else f.most)
    return sign | (n if n < 1 << f.fraction else ((e + f.bias) << f.fraction) + n - (1 << f.fraction))


def flush(x, f): return x & f.sign if (x & ~f.sign) < 1 << f.fraction else x


def nan_of(f, *ops):
    if f is F64:
        for o in ops:
            if is_nan(o, f):
                return o | 8 << 48
    return f.nan


def one(f): return f.bias << f.fraction


def finish(x, f, mods):
    if 'ftz' in mods:
        x = flush(x, f)
    if 'sat' in mods:
        x = 0 if is_nan(x, f) or negative(x, f) else min(x, one(f))
    if 'relu' in mods:
        x = f.nan if is_nan(x, f) else 0 if negative(x, f) else x
    return x


def add(a, b, f, mode):
    if is_nan(a, f) or is_nan(b, f) or (is_inf(a, f) and is_inf(b, f) and negative(a, f) != negative(b, f)):
        return nan_of(f, a, b)
    if is_inf(a, f) or is_inf(b, f):
        return a if is_inf(a, f) else b
    q = value(a, f) + value(b, f)
    both = negative(a, f) and negative(b, f)
    differ = negative(a, f) != negative(b, f)
    return encode(q, f, mode, neg_zero=both or (differ and mode == 'rm') or
                  (value(a, f) != 0 and q == 0 and mode == 'rm'))


def neg(x, f): return x ^ f.sign


def sub(a, b, f, mode):
    if is_nan(a, f) or is_nan(b, f):
        return nan_of(f, a, b)
    return add(a, neg(b, f), f, mode)


def mul(a, b, f, mode):
    s = negative(a, f) != negative(b, f)
    zero = lambda x: (x & ~f.sign) == 0
    if is_nan(a, f) or is_nan(b, f) or (is_inf(a, f) and zero(b)) or (is_inf(b, f) and zero(a)):
        return nan_of(f, a, b)
    if is_inf(a, f) or is_inf(b, f):
        return f.inf | (f.sign if s else 0)
    return encode(value(a, f) * value(b, f), f, mode, neg_zero=s)


def fma(a, b, c, f, mode):
    s = negative(a, f) != negative(b, f)
    zero = lambda x: (x & ~f.sign) == 0
    if any(is_nan(x, f) for x in (a, b, c)) or (is_inf(a, f) and zero(b)) or (is_inf(b, f) and zero(a)):
        return nan_of(f, a, b, c)
    if is_inf(a, f) or is_inf(b, f):
        if is_inf(c, f) and negative(c, f) != s:
            return nan_of(f)
        return f.inf | (f.sign if s else 0)
    if is_inf(c, f):
        return c
    p, q = value(a, f) * value(b, f), value(c, f)
    if p + q == 0:
        same = s == negative(c, f)
        return encode(Q(0), f, mode, neg_zero=s if same and p == 0 and q == 0 else mode == 'rm')
    return encode(p + q, f, mode)


def div(a, b, f, mode):
    s = negative(a, f) != negative(b, f)
    sign = f.sign if s else 0
    zero = lambda x: (x & ~f.sign) == 0
    if is_nan(a, f) or is_nan(b, f) or (is_inf(a, f) and is_inf(b, f)) or (zero(a) and zero(b)):
        return nan_of(f, a, b)
    if is_inf(a, f) or zero(b):
        return f.inf | sign
    if is_inf(b, f) or zero(a):
        return sign
    return encode(value(a, f) / value(b, f), f, mode, neg_zero=s)


def sqrt(a, f, mode):
    if is_nan(a, f) or (negative(a, f) and a != f.sign):
        return nan_of(f, a)
    if is_inf(a, f) or (a & ~f.sign) == 0:
        return a
    q = value(a, f)
    k = 2 * 1400                                  # floor of the root with many bits to spare, and a bit for the rest
    scaled = q * Q(2)**k
    root = isqrt(int(scaled))
    exact = Q(root)**2 == scaled
    return encode(Q(2 * root + (0 if exact else 1), 2) / Q(2)**(k // 2), f, mode)


def fedges(f):
    o, one_ = f.sign, one(f)
    base = [0, 1, (1 << f.fraction) - 1, 1 << f.fraction, (1 << f.fraction) + 1, one_, one_ + 1, one_ - 1, one_ | 1 << (f.fraction - 1),
            f.most, f.most - 1, f.inf, f.inf | 1, f.inf | 1 << (f.fraction - 1), one_ + (1 << f.fraction), one_ - (1 << f.fraction), 3 * one_ // 4,
            (f.bias + f.fraction) << f.fraction, (f.bias - f.fraction - 1) << f.fraction, (2 << f.fraction) | 5]
    return base + [x | o for x in base]


def frandom(f):
    """Any number, or one near 1."""
    x = rng.getrandbits(f.bits)
    if rng.random() < .6:
        e = f.bias + rng.randint(-6, 6)
        x = (x & f.sign) | e << f.fraction | (x & (1 << f.fraction) - 1)
    return x


def fpick(f, arity, n, must=()):
    cases = [tuple(m) for m in must]
    e = fedges(f)
    while len(cases) < n:
        cases.append(tuple(rng.choice(e) if rng.random() < .5 else frandom(f) for _ in range(arity)))
    return cases


def packed(t): return t.endswith('x2')


def floating(text, t, arity, g, n, mods=(), must=()):
    """g(operands, format) before the modifiers; packed types get two cases at once."""
    f = FORMATS[t.replace('x2', '')]

    def result(ops):
        ops = [flush(o, f) for o in ops] if 'ftz' in mods else ops
        return finish(g(ops, f), f, mods)
    cases = fpick(f, arity, n, must)
    regs = [f"{r}:b{32 if packed(t) else f.bits}" for r in 'dabc'[:arity + 1]]
    if packed(t):
        both = []
        for low, high in zip(cases, cases[1:] + cases[:1]):
            both.append(([l | h << 16 for l, h in zip(low, high)], [result(list(low)) | result(list(high)) << 16]))
        rows(text, regs[:1], regs[1:], both)
    else:
        rows(text, regs[:1], regs[1:], [(list(c), [result(list(c))]) for c in cases])


MODES = ['rn', 'rz', 'rm', 'rp']
BINARY = {'add': add, 'sub': sub, 'mul': mul, 'div': div}
TIES = {'f32': [(0x3f800000, 0x33800000), (0xbf800000, 0xb3800000), (0x00800000, 0x80000001), (0x00ffffff, 0x80ffffff), (0x7f7fffff, 0x73000000)],
        'f64': [(0x3ff << 52, 0x3ca << 52), (0xbff << 52, 0xbca << 52), (0x7fefffffffffffff, 0x7c90000000000000)]}
for t in ('f32', 'f64'):
    for mode in MODES:
        for name, g in BINARY.items():
            floating(f"{name}.{mode}.{t} %d, %a, %b", t, 2, lambda o, f, g=g, m=mode: g(o[0], o[1], f, m), 9, must=TIES[t][:3])
        floating(f"fma.{mode}.{t} %d, %a, %b, %c", t, 3, lambda o, f, m=mode: fma(*o, f, m), 9,
                 must=[(0x3f800001, 0x3f800001, 0xbf800002)] if t == 'f32' else [(0x3ff0000000000001, 0x3ff0000000000001, 0xbff0000000000002)])
        floating(f"rcp.{mode}.{t} %d, %a", t, 1, lambda o, f, m=mode: div(one(f), o[0], f, m) if not is_nan(o[0], f) else nan_of(f, o[0]), 8,
                 must=[(0,), (FORMATS[t].sign,), (FORMATS[t].inf,), (1,), (FORMATS[t].most,)])
        floating(f"sqrt.{mode}.{t} %d, %a", t, 1, lambda o, f, m=mode: sqrt(o[0], f, m), 8,
                 must=[(0,), (FORMATS[t].sign,), (FORMATS[t].inf,), (1,), (one(FORMATS[t]) | FORMATS[t].sign,)])
for name, g in BINARY.items():
    rn = '.rn' if name == 'div' else ''
    for mods in (['ftz'], ['sat'], ['ftz', 'sat']):
        if name == 'div' and 'sat' in mods:
            continue
        floating(f"{name}{rn}.{'.'.join(mods)}.f32 %d, %a, %b", 'f32', 2, lambda o, f, g=g: g(o[0], o[1], f, 'rn'), 9, mods,
                 must=[(0x00800000, 0x80000001), (0x00800000, 0x3f000000), (0x3f800000, 0x3f800000), (0x7fc00000, 0)])
    floating(f"{name}.rz.ftz.f32 %d, %a, %b", 'f32', 2, lambda o, f, g=g: g(o[0], o[1], f, 'rz'), 5, ['ftz'], must=[(0x00800001, 0x3f7fffff)])
for mods in (['ftz'], ['sat'], ['ftz', 'sat']):
    floating(f"fma.rn.{'.'.join(mods)}.f32 %d, %a, %b, %c", 'f32', 3, lambda o, f: fma(*o, f, 'rn'), 8, mods)
floating("sqrt.rn.ftz.f32 %d, %a", 'f32', 1, lambda o, f: sqrt(o[0], f, 'rn'), 6, ['ftz'], must=[(1,), (0x80000001,)])
floating("rcp.rn.ftz.f32 %d, %a", 'f32', 1, lambda o, f: div(one(f), o[0], f, 'rn'), 6, ['ftz'], must=[(1,), (0x7f000001,), (0x80000001,)])
for t in ('f32', 'f64'):
    floating(f"abs.{t} %d, %a", t, 1, lambda o, f: o[0] & ~f.sign, 6)
    floating(f"neg.{t} %d, %a", t, 1, lambda o, f: o[0] ^ f.sign, 6)
    f = FORMATS[t]
    rows(f"copysign.{t} %d, %a, %b", [f"d:b{f.bits}"], [f"a:b{f.bits}", f"b:b{f.bits}"],
         [(list(o), [(o[1] & ~f.sign) | (o[0] & f.sign)]) for o in fpick(f, 2, 6)])
    tests = {'finite': lambda x: (x & ~f.sign) < f.inf, 'infinite': lambda x: is_inf(x, f), 'number': lambda x: not is_nan(x, f),
             'notanumber': lambda x: is_nan(x, f), 'normal': lambda x: 1 << f.fraction <= (x & ~f.sign) < f.inf,
             'subnormal': lambda x: 0 < (x & ~f.sign) < 1 << f.fraction}
    for name, g in tests.items():
        rows(f"testp.{name}.{t} %d, %a", ["d:pred"], [f"a:b{f.bits}"],
             [([x], [int(g(x))]) for x in (0, f.sign, 1, (1 << f.fraction) - 1, 1 << f.fraction, f.most, f.inf, f.inf | f.sign, f.inf | 1, f.nan)])
for t in ('abs', 'neg'):
    rows(f"{t}.ftz.f32 %d, %a", ["d:b32"], ["a:b32"],
         [([x], [flush(x, F32) & 0x7fffffff if t == 'abs' else flush(x, F32) ^ F32.sign]) for x in (1, 0x80000001, 0x00800000, 0x807fffff, 0xbf800000)])


def minmax(ops, f, is_max, mods):
    a, b = ops
    s = negative(a, f) != negative(b, f)
    if 'xorsign' in mods:
        a, b = a & ~f.sign, b & ~f.sign
    na, nb = is_nan(a, f), is_nan(b, f)
    if na or nb:
        if (na and nb) or 'NaN' in mods:
            return nan_of(f, a, b)
        r = b if na else a
    else:
        key = lambda x: -(x & ~f.sign) if negative(x, f) else x & ~f.sign
        ka, kb = (key(a), not negative(a, f)), (key(b), not negative(b, f))
        r = (a if ka > kb else b) if is_max else (a if ka < kb else b)
    return (r & ~f.sign) | (f.sign if s else 0) if 'xorsign' in mods else r


ZEROS = lambda f: [(0, f.sign), (f.sign, 0), (f.nan, one(f)), (one(f) | f.sign, f.nan), (f.nan, f.inf | 1), (one(f), one(f) | f.sign)]
for t in ('f32', 'f64', 'f16', 'f16x2', 'bf16', 'bf16x2'):
    f = FORMATS[t.replace('x2', '')]
    variants = [[]] + ([['ftz'], ['NaN'], ['ftz', 'NaN'], ['xorsign'], ['NaN', 'xorsign']] if t == 'f32' else
                       [['NaN'], ['xorsign']] if t != 'f64' else []) + ([['ftz', 'NaN']] if t.startswith('f16') else [])
    for mods in variants:
        for name in ('min', 'max'):
            text = ''.join('.' + ('xorsign.abs' if m == 'xorsign' else m) for m in mods)
            floating(f"{name}{text}.{t} %d, %a, %b", t, 2, lambda o, f, x=name == 'max', m=mods: minmax(o, f, x, m), 9, mods, must=ZEROS(f))
for name in ('min', 'max'):
    for mods in ([], ['NaN']):
        floating(f"{name}{''.join('.' + m for m in mods)}.f32 %d, %a, %b, %c", 'f32', 3,
                 lambda o, f, x=name == 'max', m=mods: minmax([minmax(o[:2], f, x, m), o[2]], f, x, m), 6, mods,
                 must=[(F32.nan, 0x3f800000, 0xbf800000), (F32.nan, F32.nan, 0x80000000)])
for t in ('f16', 'f16x2', 'bf16', 'bf16x2'):
    variants = [[]] + ([['ftz'], ['sat'], ['ftz', 'sat']] if t.startswith('f16') else [])
    for mods in variants:
        text = ''.join('.' + m for m in mods)
        for name in ('add', 'sub', 'mul'):
            floating(f"{name}{text}.{t} %d, %a, %b", t, 2, lambda o, f, g=BINARY[name]: g(o[0], o[1], f, 'rn'), 10, mods)
        floating(f"fma.rn{text}.{t} %d, %a, %b, %c", t, 3, lambda o, f: fma(*o, f, 'rn'), 10, mods,
                 must=[(0x3f81, 0x3f90, 0x0001), (0x3c01, 0x3e00, 0x0001), (0x3f81, 0x3f81, 0x8001)])
    floating(f"fma.rn.relu.{t} %d, %a, %b, %c", t, 3, lambda o, f: fma(*o, f, 'rn'), 6, ['relu'])
    floating(f"neg.{t} %d, %a", t, 1, lambda o, f: o[0] ^ f.sign, 4)
    floating(f"abs.{t} %d, %a", t, 1, lambda o, f: o[0] & ~f.sign, 4)

# ---- comparison and selection ---------------------------------------------------------------------------------------
ORDER = {'eq': lambda c: c == 0, 'ne': lambda c: c != 0, 'lt': lambda c: c < 0, 'le': lambda c: c <= 0, 'gt': lambda c: c > 0, 'ge': lambda c: c >= 0}
cmp = lambda a, b: (a > b) - (a < b)
for t in INT:
    n, s = int(t[1:]), t[0] == 's'
    for name, g in ORDER.items():
        rows(f"setp.{name}.{t} %d|%q, %a, %b", ["d:pred", "q:pred"], [f"a:b{n}", f"b:b{n}"],
             [([a, b], [int(r := g(cmp(val(a, n, s), val(b, n, s)))), int(not r)]) for a, b in
              [(1, 1), (0, mask(n)), (mask(n), 0), (1 << (n - 1), (1 << (n - 1)) - 1)]])
for name, g in {'lo': ORDER['lt'], 'ls': ORDER['le'], 'hi': ORDER['gt'], 'hs': ORDER['ge']}.items():
    rows(f"setp.{name}.u32 %d, %a, %b", ["d:pred"], ["a:b32", "b:b32"], [([a, b], [int(g(cmp(a, b)))]) for a, b in [(1, 1), (0, mask(32)), (mask(32), 0)]])
for boolean, g in {'and': lambda x, y: x & y, 'or': lambda x, y: x | y, 'xor': lambda x, y: x ^ y}.items():
    rows(f"setp.lt.{boolean}.s32 %d|%q, %a, %b, %c", ["d:pred", "q:pred"], ["a:b32", "b:b32", "c:pred"],
         [([a, b, c], [g(int(val(a, 32, 1) < val(b, 32, 1)), c), g(int(not val(a, 32, 1) < val(b, 32, 1)), c)])
          for a, b in ((0xffffffff, 0), (0, 0xffffffff)) for c in (0, 1)])
    rows(f"setp.lt.{boolean}.s32 %d, %a, %b, !%c", ["d:pred"], ["a:b32", "b:b32", "c:pred"],
         [([a, b, c], [g(int(val(a, 32, 1) < val(b, 32, 1)), 1 - c)]) for a, b in ((0xffffffff, 0), (0, 0xffffffff)) for c in (0, 1)])


def fcompare(name, a, b, f):
    nan = is_nan(a, f) or is_nan(b, f)
    if name in ('num', 'nan'):
        return nan == (name == 'nan')
    if nan:
        return name.endswith('u')
    inf = lambda x: Q(2)**5000 * (-1 if negative(x, f) else 1)
    x, y = [inf(o) if is_inf(o, f) else value(o, f) for o in (a, b)]
    return ORDER[name[:2]](cmp(x, y))


FCOMPARE = list(ORDER) + [n + 'u' for n in ORDER] + ['num', 'nan']
for t in ('f32', 'f64', 'f16', 'bf16'):
    f = FORMATS[t]
    pairs = [(one(f), one(f)), (0, f.sign), (one(f), one(f) + 1), (f.sign | one(f), one(f)), (f.inf, f.most), (f.nan, one(f)), (1, 0), (one(f), f.nan)]
    for name in FCOMPARE:
        rows(f"setp.{name}.{t} %d, %a, %b", ["d:pred"], [f"a:b{f.bits}", f"b:b{f.bits}"], [([a, b], [int(fcompare(name, a, b, f))]) for a, b in pairs])
for name in ('eq', 'lt', 'gtu', 'neu'):
    pairs = [(1, 0), (0x80000001, 0), (0x007fffff, 0x00800000), (F32.nan, 1)]
    rows(f"setp.{name}.ftz.f32 %d, %a, %b", ["d:pred"], ["a:b32", "b:b32"], [([a, b], [int(fcompare(name, flush(a, F32), flush(b, F32), F32))]) for a, b in pairs])
    pairs = [(0x3C003C00, 0x3C003E00), (0x00007FFF, 0x80000000), (0x7C00FC00, 0x7BFF0001)]
    rows(f"setp.{name}.f16x2 %d|%q, %a, %b", ["d:pred", "q:pred"], ["a:b32", "b:b32"],
         [([a, b], [int(fcompare(name, a & 0xffff, b & 0xffff, F16)), int(fcompare(name, a >> 16, b >> 16, F16))]) for a, b in pairs])
for dt, true in (('u32', mask(32)), ('s32', mask(32)), ('f32', 0x3f800000)):
    for t in ('s32', 'u32', 'f32', 's64', 'f64', 'u16'):
        n = int(t[1:])
        if t[0] == 'f':
            f = FORMATS[t]
            pairs = [(one(f), one(f) + 1), (f.nan, 0), (0, f.sign), (f.sign | one(f), 0)]
            g = lambda a, b: fcompare('lt', a, b, f)
        else:
            pairs = [(0, mask(n)), (mask(n), 0), (3, 3)]
            g = lambda a, b: val(a, n, t[0] == 's') < val(b, n, t[0] == 's')
        rows(f"set.lt.{dt}.{t} %d, %a, %b", ["d:b32"], [f"a:b{n}", f"b:b{n}"], [([a, b], [true if g(a, b) else 0]) for a, b in pairs])
rows("set.gt.and.u32.s32 %d, %a, %b, %c", ["d:b32"], ["a:b32", "b:b32", "c:pred"], [([a, 3, c], [mask(32) if a > 3 and c else 0]) for a in (2, 4) for c in (0, 1)])
for t in ('b16', 'b32', 'b64', 'u16', 's32', 'f32', 'f64', 'u64'):
    n = int(t[1:])
    rows(f"selp.{t} %d, %a, %b, %c", [f"d:b{n}"], [f"a:b{n}", f"b:b{n}", "c:pred"], [([7, mask(n), c], [7 if c else mask(n)]) for c in (0, 1)])
    rows(f"selp.{t} %d, %a, %b, !%c", [f"d:b{n}"], [f"a:b{n}", f"b:b{n}", "c:pred"], [([7, mask(n), c], [mask(n) if c else 7]) for c in (0, 1)])
for t in ('b16', 'u32', 'f64', 's64'):
    n = int(t[1:])
    rows(f"slct.{t}.s32 %d, %a, %b, %c", [f"d:b{n}"], [f"a:b{n}", f"b:b{n}", "c:b32"], [([7, 9, c], [9 if c >> 31 else 7]) for c in (0, 1, 0xffffffff, 0x80000000)])
    rows(f"slct.{t}.f32 %d, %a, %b, %c", [f"d:b{n}"], [f"a:b{n}", f"b:b{n}", "c:b32"],
         [([7, 9, c], [7 if not is_nan(c, F32) and (value(c, F32) >= 0 if not is_inf(c, F32) else not c >> 31) else 9]) for c in (0, 0x80000000, 0x80000001, 0xbf800000, 0x7fffffff, 0x7f800000, 0xff800000)])
rows("slct.ftz.u32.f32 %d, %a, %b, %c", ["d:b32"], ["a:b32", "b:b32", "c:b32"], [([7, 9, c], [r]) for c, r in ((0x80000001, 7), (0x80800000, 9), (1, 7), (0x7fc00000, 9))])
for name, g in {'and': lambda x, y: x & y, 'or': lambda x, y: x | y, 'xor': lambda x, y: x ^ y}.items():
    rows(f"{name}.pred %d, %a, %b", ["d:pred"], ["a:pred", "b:pred"], [([a, b], [g(a, b)]) for a in (0, 1) for b in (0, 1)])
rows("not.pred %d, %a", ["d:pred"], ["a:pred"], [([a], [1 - a]) for a in (0, 1)])
rows("mov.pred %d, %a", ["d:pred"], ["a:pred"], [([a], [a]) for a in (0, 1)])
for t in ('b16', 'u32', 's64', 'f32', 'f64'):
    rows(f"mov.{t} %d, %a", [f"d:b{t[1:]}"], [f"a:b{t[1:]}"], [([x & mask(int(t[1:]))], [x & mask(int(t[1:]))]) for x in (0x7fa00001, 0xDEADBEEFCAFEF00D)])
rows("mov.b32 %d, {%a, %b}", ["d:b32"], ["a:b16", "b:b16"], [([0x1234, 0xABCD], [0xABCD1234])])
rows("mov.b32 {%d, %q}, %a", ["d:b16", "q:b16"], ["a:b32"], [([0xABCD1234], [0x1234, 0xABCD])])
rows("mov.b64 %d, {%a, %b}", ["d:b64"], ["a:b32", "b:b32"], [([1, 0x80000000], [0x8000000000000001])])
rows("mov.b64 {%d, %q}, %a", ["d:b32", "q:b32"], ["a:b64"], [([0x8000000000000001], [1, 0x80000000])])
rows("mov.b64 %d, {%a, %b, %c, %e}", ["d:b64"], ["a:b16", "b:b16", "c:b16", "e:b16"], [([1, 2, 3, 0xffff], [0xffff000300020001])])

# ---- conversion -----------------------------------------------------------------------------------------------------
IT = ['u8', 's8', 'u16', 's16', 'u32', 's32', 'u64', 's64']
FT = ['f16', 'bf16', 'f32', 'f64']


def reg(t): return f"b{max(int(t.lstrip('usbf')) if not t.startswith('bf') else 16, 16)}"
def width(t): return 16 if t == 'bf16' else int(t[1:])
def lim(t): n, s = width(t), t[0] == 's'; return (-(1 << (n - 1)), (1 << (n - 1)) - 1) if s else (0, mask(n))


for dt in IT:
    for st in IT:
        if dt == st:
            continue
        n, s, dn = width(st), st[0] == 's', width(dt)
        ins = [0, 1, mask(n), 1 << (n - 1), (1 << (n - 1)) - 1, 0x80 & mask(n), 0xDEADBEEF8081F28D & mask(n)]
        ext = lambda v: val(v, dn, dt[0] == 's') & mask(max(dn, 16))
        rows(f"cvt.{dt}.{st} %d, %a", [f"d:{reg(dt)}"], [f"a:{reg(st)}"], [([x], [ext(val(x, n, s))]) for x in ins[:5] + ins[6:]])
        if lim(st)[0] < lim(dt)[0] or lim(st)[1] > lim(dt)[1]:
            rows(f"cvt.sat.{dt}.{st} %d, %a", [f"d:{reg(dt)}"], [f"a:{reg(st)}"], [([x], [ext(clamp(val(x, n, s), *lim(dt)))]) for x in ins])
# registers wider than the types
rows("cvt.s16.s8 %d, %a", ["d:b32"], ["a:b64"], [([x], [val(x, 8, True) & mask(32)]) for x in (0x1FF, 0x17F, 0xFFFFFFFFFFFFFF80)])
rows("cvt.u16.s8 %d, %a", ["d:b32"], ["a:b32"], [([x], [val(x, 8, True) & mask(16)]) for x in (0x1FF, 0x17F)])
rows("cvt.u8.u32 %d, %a", ["d:b64"], ["a:b64"], [([x], [x & 255]) for x in (0x1FF, 0x1234567890)])
rows("cvt.s32.s32 %d, %a", ["d:b64"], ["a:b32"], [([x], [val(x, 32, True) & mask(64)]) for x in (0x80000000, 5)])
for dt in FT:
    f = FORMATS[dt]
    for st in IT:
        n, s = width(st), st[0] == 's'
        ins = [0, 1, mask(n), 1 << (n - 1), (1 << (n - 1)) - 1, 0xDEADBEEF8081F28D & mask(n), 0x0100000100000001 & mask(n), 0x00FFFF8000000001 & mask(n), 2049 & mask(n), 0x10181 & mask(n)]
        for mode in MODES:
            rows(f"cvt.{mode}.{dt}.{st} %d, %a", [f"d:b{f.bits}"], [f"a:{reg(st)}"], [([x], [encode(Q(val(x, n, s)), f, mode)]) for x in ins])
        rows(f"cvt.rn.sat.{dt}.{st} %d, %a", [f"d:b{f.bits}"], [f"a:{reg(st)}"], [([x], [encode(Q(clamp(val(x, n, s), 0, 1)), f, 'rn')]) for x in ins[:5]])


def to_int(x, f, dt, mode, ftz):
    n = width(dt)
    if ftz:
        x = flush(x, f)
    if is_nan(x, f):
        return (1 << (n - 1)) if f is F64 or n == 64 else 0
    lo, hi = lim(dt)
    if is_inf(x, f):
        return lo if negative(x, f) else hi
    q = value(x, f)
    i = round_int(abs(q), mode, q < 0)
    return clamp(-i if q < 0 else i, lo, hi)


for st in FT:
    f = FORMATS[st]
    for dt in IT:
        n = width(dt)
        ints = [encode(Q(v), f, 'rn') for v in (lim(dt)[0], lim(dt)[1], Q(5, 2), Q(-5, 2), Q(7, 2), Q(-1, 2), Q(1, 2), Q(-1), Q(3, 4), lim(dt)[1] - Q(1, 2), Q(300), Q(-129))]
        ins = ints + [0, f.sign, f.inf, f.inf | f.sign, f.nan, 1, f.most]
        for mode in MODES:
            rows(f"cvt.{mode}i.{dt}.{st} %d, %a", [f"d:{reg(dt)}"], [f"a:b{f.bits}"],
                 [([x], [val(to_int(x, f, dt, mode, False), n, dt[0] == 's') & mask(max(n, 16))]) for x in (ins if mode == 'rz' else ins[2:9] + ins[15:18])])
rows("cvt.rpi.ftz.s32.f32 %d, %a", ["d:b32"], ["a:b32"], [([x], [to_int(x, F32, 's32', 'rp', True) & mask(32)]) for x in (1, 0x80000001, 0x00800000, 0x3f800001)])


def to_float(x, sf, df, mode, mods=()):
    if 'ftz' in mods and sf is F32:
        x = flush(x, F32)
    if is_nan(x, sf):
        r = ((x & F32.sign) << 32 | 0x7FF8 << 48 | (x & 0x7FFFFF) << 29) if df is F64 and sf is F32 else x | 8 << 48 if df is sf is F64 else df.nan
        if 'sat' in mods:
            r = 0
        return r
    r = df.inf | (df.sign if negative(x, sf) else 0) if is_inf(x, sf) else encode(value(x, sf), df, mode, neg_zero=negative(x, sf))
    return finish(r, df, [m for m in mods if m != 'ftz' or df is F32])


for st, dt in (('f64', 'f32'), ('f64', 'f16'), ('f64', 'bf16'), ('f32', 'f16'), ('f32', 'bf16')):
    sf, df = FORMATS[st], FORMATS[dt]
    near = [encode(q, sf, 'rn') for q in (value(df.most, df), value(df.most, df) * (1 + Q(1, 1 << (df.fraction + 2))), value(df.most, df) * (1 + Q(1, 1 << (df.fraction + 1))),
            1 + Q(1, 2 << df.fraction), 1 + Q(3, 2 << df.fraction), -1 - Q(1, 2 << df.fraction) - Q(1, 1 << 20), value(1, df) / 2, value(1, df) * Q(3, 2), -value(1, df) / 4,
            value(1 << df.fraction, df) * Q(4095, 4096), value(1 << df.fraction, df) * Q((2 << df.fraction) * 2 - 1, (2 << df.fraction) * 2))]
    ins = near + [0, sf.sign, sf.inf, sf.inf | sf.sign, sf.nan, 1, sf.most, sf.most | sf.sign] + [frandom(sf) for _ in range(3)]
    for mode in MODES:
        rows(f"cvt.{mode}.{dt}.{st} %d, %a", [f"d:b{df.bits}"], [f"a:b{sf.bits}"], [([x], [to_float(x, sf, df, mode)]) for x in ins])
    if dt != 'f32':
        rows(f"cvt.rn.relu.{dt}.f32 %d, %a" if st == 'f32' else f"cvt.rn.{dt}.{st} %d, %a", [f"d:b{df.bits}"], [f"a:b{sf.bits}"],
             [([x], [to_float(x, sf, df, 'rn', ['relu'] if st == 'f32' else [])]) for x in ins[3:9] + ins[15:16]])
for st, dt in (('f16', 'f32'), ('f32', 'f64'), ('f16', 'f64'), ('bf16', 'f32')):
    sf, df = FORMATS[st], FORMATS[dt]
    nans = [] if (st, dt) == ('f16', 'f64') else [sf.nan]
    rows(f"cvt.{dt}.{st} %d, %a", [f"d:b{df.bits}"], [f"a:b{sf.bits}"], [([x], [to_float(x, sf, df, 'rn')]) for x in [y for y in fedges(sf) if not is_nan(y, sf)] + nans])
for mods in (['ftz'], ['sat'], ['ftz', 'sat']):
    rows(f"cvt.{'.'.join(mods)}.f32.f32 %d, %a", ["d:b32"], ["a:b32"], [([x], [to_float(x, F32, F32, 'rn', mods)]) for x in fedges(F32)[::2] + [0x7fc00000]])
rows("cvt.rn.ftz.f32.f64 %d, %a", ["d:b32"], ["a:b64"], [([x], [to_float(x, F64, F32, 'rn', ['ftz'])]) for x in (0x3800000000000000, 0x380fffffffffffff, 0x3810000000000000, 0xb800000000000000, 0x3ff0000000000000)])
rows("cvt.ftz.f64.f32 %d, %a", ["d:b64"], ["a:b32"], [([x], [to_float(x, F32, F64, 'rn', ['ftz'])]) for x in (1, 0x80000001, 0x007fffff, 0x00800000, 0x40490fdb)])
rows("cvt.rn.sat.f16.f32 %d, %a", ["d:b16"], ["a:b32"], [([x], [to_float(x, F32, F16, 'rn', ['sat'])]) for x in (0xbf800000, 0x3f000000, 0x3fffffff, 0x7fc00000, 0x7f800000)])
for t in FT:
    f = FORMATS[t]
    for mode in MODES:
        def integral(x):
            if is_nan(x, f):
                return nan_of(f, x)
            if is_inf(x, f):
                return x
            q = value(x, f)
            i = round_int(abs(q), mode, negative(x, f))
            return encode(Q(-i if q < 0 else i), f, 'rn', neg_zero=negative(x, f))
        ins = [encode(q, f, 'rn') for q in (Q(5, 2), Q(-5, 2), Q(7, 2), Q(1, 2), Q(-1, 2), Q(3, 4), Q(-3, 4), Q(100), Q(1, 3))] + [0, f.sign, f.inf, f.nan, 1, f.sign | 1, f.most]
        rows(f"cvt.{mode}i.{t}.{t} %d, %a", [f"d:b{f.bits}"], [f"a:b{f.bits}"], [([x], [integral(x)]) for x in ins])
for mode in ('rn', 'rz'):
    for dt in ('f16x2', 'bf16x2'):
        df = FORMATS[dt[:-2]]
        for relu in ('', '.relu'):
            ins = [(0x3f800000, 0xbf800000), (0x3f801000, 0x3f803000), (0x477fefff, 0xc77ff000), (0x7f800000, 0x7fc00000), (0x33000000, 0x33000001), (0x7f7fffff, 0x80000001)]
            g = lambda x: to_float(x, F32, df, mode, ['relu'] if relu else [])
            rows(f"cvt.{mode}{relu}.{dt}.f32 %d, %a, %b", ["d:b32"], ["a:b32", "b:b32"], [(list(o), [g(o[0]) << 16 | g(o[1])]) for o in ins])
TF32 = Format('tf32', 19, 10, 127)
for mode in ('rna', 'rn', 'rz'):
    def tf32(x):
        if is_nan(x, F32):
            return F32.nan
        if is_inf(x, F32):
            return x
        return encode(value(x, F32), TF32, mode, neg_zero=negative(x, F32)) << 13
    rows(f"cvt.{mode}.tf32.f32 %d, %a", ["d:b32"], ["a:b32"],
         [([x], [tf32(x)]) for x in (0x3f800000, 0x3f801000, 0x3f803000, 0x3f800fff, 0xbf801000, 0x7f7fffff, 0x7f800000, 0x7fc00001, 0x00001000, 0x80003000)])
for t in ('u16', 's16'):
    rows(f"cvt.pack.sat.{t}.s32 %d, %a, %b", ["d:b32"], ["a:b32", "b:b32"],
         [(list(o), [sum((clamp(val(x, 32, 1), *lim(t)) & 0xffff) << 16 * (1 - i) for i, x in enumerate(o))]) for o in ((1, 2), (0x12345, 0xffff0000), (0x8000, 0xffff7fff))])
for t in ('u8', 's8'):
    rows(f"cvt.pack.sat.{t}.s32.b32 %d, %a, %b, %c", ["d:b32"], ["a:b32", "b:b32", "c:b32"],
         [(list(o), [(o[2] & 0xffff) << 16 | (clamp(val(o[0], 32, 1), *lim(t)) & 255) << 8 | clamp(val(o[1], 32, 1), *lim(t)) & 255]) for o in ((1, 2, 3), (300, 0xffffff00, 0x12345678), (0x80, 0xffffff7f, 0))])


# ---- approximations: within the documented error --------------------------------------------------------------------
def exact(g, x, f=F32):
    """g on an mpmath number, rounded to f."""
    r = g(mpmath.mpf(value(x, f).numerator) / value(x, f).denominator)
    m, e = mpmath.frexp(r)
    return encode(Q(int(m * 2**180)) * Q(2)**(int(e) - 180), f, 'rn', neg_zero=r < 0)


def approximate(text, g, xs, special, ulps, f=F32):
    cases = [([x], [f"{exact(g, x, f):x}~{ulps}"]) for x in xs] + [([x], [r]) for x, r in special]
    rows(text, [f"d:b{f.bits}"], [f"a:b{f.bits}"], cases)


INF, NINF, NAN, NZ = 0x7f800000, 0xff800000, 0x7fffffff, 0x80000000
some = [0x3f800000, 0x3f000001, 0x40490fdb, 0x42f60000, 0x3eaaaaab, 0x47c35000, 0x2edbe6ff]
approximate("rcp.approx.f32 %d, %a", lambda x: 1 / x, some + [0xc0400000], [(0, INF), (NZ, NINF), (INF, 0), (NINF, NZ), (NAN, NAN)], 1)
approximate("rcp.approx.ftz.f32 %d, %a", lambda x: 1 / x, some, [(1, INF), (0x80000001, NINF), (INF, 0), (0x7f000000, 0), (0xff000000, NZ)], 1)
approximate("sqrt.approx.f32 %d, %a", mpmath.sqrt, some, [(0, 0), (NZ, NZ), (INF, INF), (NINF, NAN), (0xbf800000, NAN), (NAN, NAN)], 1)
approximate("sqrt.approx.ftz.f32 %d, %a", mpmath.sqrt, some, [(1, 0), (0x80000001, NZ)], 1)
approximate("rsqrt.approx.f32 %d, %a", lambda x: 1 / mpmath.sqrt(x), some, [(0, INF), (NZ, NINF), (INF, 0), (NINF, NAN), (0xbf800000, NAN), (NAN, NAN)], 2)
approximate("rsqrt.approx.ftz.f32 %d, %a", lambda x: 1 / mpmath.sqrt(x), some, [(1, INF), (0x80000001, NINF)], 2)
approximate("sin.approx.f32 %d, %a", mpmath.sin, [0x3f800000, 0x3f000000, 0xbf800000, 0x3fc90fdb, 0x40000000], [(0, 0), (NZ, NZ), (INF, NAN), (NINF, NAN), (NAN, NAN)], 4)
approximate("cos.approx.f32 %d, %a", mpmath.cos, [0x3f800000, 0x3f000000, 0xbf800000, 0x3f490fdb, 0x40000000], [(0, 0x3f800000), (NZ, 0x3f800000), (INF, NAN), (NAN, NAN)], 4)
approximate("lg2.approx.f32 %d, %a", lambda x: mpmath.log(x, 2), [0x40400000, 0x3f000001, 0x42f60000, 0x7f7fffff, 0x00800000], [(0, NINF), (NZ, NINF), (0x3f800000, 0), (INF, INF), (NINF, NAN), (0xbf800000, NAN), (NAN, NAN)], 4)
approximate("lg2.approx.ftz.f32 %d, %a", lambda x: mpmath.log(x, 2), [0x40400000], [(1, NINF), (0x80000001, NINF)], 4)
approximate("ex2.approx.f32 %d, %a", lambda x: mpmath.power(2, x), [0x3f000000, 0xbf000000, 0x42f60001, 0xc2f60000, 0x3eaaaaab], [(0, 0x3f800000), (NZ, 0x3f800000), (INF, INF), (NINF, 0), (0x43000000, INF), (0xc3160000, 0), (NAN, NAN)], 2)
approximate("ex2.approx.ftz.f32 %d, %a", lambda x: mpmath.power(2, x), [0x3f000000], [(1, 0x3f800000), (0xc2fe0000, 0)], 2)
approximate("tanh.approx.f32 %d, %a", mpmath.tanh, [0x3f000000, 0xbf800000, 0x3dcccccd], [(0, 0), (NZ, NZ), (INF, 0x3f800000), (NINF, 0xbf800000), (NAN, NAN)], 8192)
quotients = [(0x3f800000, 0x40400000), (0x40490fdb, 0x3eaaaaab), (0xc2f60000, 0x42f60001)]
for kind in ('approx', 'full', 'approx.ftz', 'full.ftz'):
    special = [((0, 0), NAN), ((INF, INF), NAN), ((0x3f800000, 0), INF), ((0xbf800000, 0), NINF), ((0x3f800000, INF), 0), ((INF, 0x3f800000), INF), ((NAN, 0x3f800000), NAN)]
    if kind.startswith('approx'):
        special += [((0x40000000, 0x7e800001), 0), ((0xc0000000, 0x7f000000), NZ), ((INF, 0x7f000000), NAN)]
    cases = [(list(o), [f"{div(*o, F32, 'rn'):x}~2"]) for o in quotients + ([(0x7e800000, 0x7f000000)] if kind.startswith('full') else [])]
    rows(f"div.{kind}.f32 %d, %a, %b", ["d:b32"], ["a:b32", "b:b32"], cases + [(list(o), [r]) for o, r in special])
D1 = 0x3ff << 52
high = lambda x: x & ~mask(32)
rows("rcp.approx.ftz.f64 %d, %a", ["d:b64"], ["a:b64"],
     [([x], [f"{high(div(D1, high(x), F64, 'rn')):x}~{1 << 32}"]) for x in (0x4008000000000000, 0x3fd5555555555555, 0xc059000000000001)] +
     [([0], [F64.inf]), ([F64.sign], [F64.inf | F64.sign]), ([F64.inf], [0]), ([1], [F64.inf]), ([D1], [D1]), ([0x7fe0000000000000], [0])])
rows("rsqrt.approx.ftz.f64 %d, %a", ["d:b64"], ["a:b64"],
     [([x], [f"{high(exact(lambda v: 1 / mpmath.sqrt(v), high(x), F64)):x}~{1 << 32}"]) for x in (0x4008000000000000, 0x3fd5555555555555)] +
     [([0], [F64.inf]), ([F64.sign], [F64.inf | F64.sign]), ([F64.inf], [0]), ([1], [F64.inf]), ([D1], [D1])])
rows("rsqrt.approx.f64 %d, %a", ["d:b64"], ["a:b64"],
     [([x], [f"{exact(lambda v: 1 / mpmath.sqrt(v), x, F64):x}~4"]) for x in (0x4008000000000000, 0x3fd5555555555555, 1)] + [([0], [F64.inf]), ([F64.inf], [0])])
for t in ('f16', 'bf16', 'f16x2', 'bf16x2'):
    f = FORMATS[t.replace('x2', '')]
    ftz = '.ftz' if t.startswith('b') else ''
    xs = [encode(q, f, 'rn') for q in (Q(1, 2), Q(-3, 4), Q(3), Q(-5))]
    for name, g, special in (('ex2', lambda x: mpmath.power(2, x), [(0, one(f)), (f.inf, f.inf), (f.inf | f.sign, 0), (f.nan, f.nan)]),
                             ('tanh', mpmath.tanh, [(0, 0), (f.sign, f.sign), (f.inf, one(f)), (f.nan, f.nan)])):
        text = f"{name}.approx{ftz if name == 'ex2' else ''}.{t} %d, %a"
        table = [(x, exact(g, x, f)) for x in xs] + special
        if packed(t):
            rows(text, ["d:b32"], ["a:b32"], [([a | b << 16], [ra | rb << 16]) for (a, ra), (b, rb) in zip(table, table[1:])])
        else:
            rows(text, ["d:b16"], ["a:b16"], [([x], [f"{r:x}~2"]) for x, r in table])

# ---- floats of eight bits: e4m3 without infinities, e5m2; .satfinite conversions -------------------------------------
E4M3, E5M2 = Format('e4m3x2', 8, 3, 7), Format('e5m2x2', 8, 2, 15)
E4M3.emax, E4M3.most, E5M2.most = 8, 0x7E, 0x7B
NAN8 = 0x7F


def limited(x, sf, df, mode, relu):
    """A number in another format; beyond its range, the largest number."""
    if is_nan(x, sf):
        return df.nan if df.bits > 8 else NAN8
    most = value(df.most, df)
    q = most * (-1 if negative(x, sf) else 1) if is_inf(x, sf) else clamp(value(x, sf), -most, most)
    if relu and negative(x, sf):
        return 0
    return encode(q, df, mode, negative(x, sf))


def upward(x, f, relu):
    """A byte as f16."""
    nan = (x & 0x7F) == NAN8 if f is E4M3 else is_nan(x, f)
    if nan:
        return F16.nan
    if relu and x & 0x80:
        return 0
    return (x & 0x80) << 8 | F16.inf if f is E5M2 and is_inf(x, f) else encode(value(x, f), F16, 'rn', bool(x & 0x80))


for f in (E4M3, E5M2):
    least, most = Q(2)**(f.emin - f.fraction), value(f.most, f)
    near = [Q(0), least, least / 2, least * 3 / 4, least * 3 / 2, least * 5 / 2, Q(2)**f.emin, Q(2)**f.emin - least / 2, Q(1), Q(17), Q(19), Q(9, 8), Q(5, 4),
            most, most * 33 / 32, most * 17 / 16, most * 3 / 2, most * 1024, Q(1, 3), Q(-2, 3), Q(-17), -most, -most * 2, -least / 2, -least]
    for sf, pairs in ((F32, ([INF, NINF], [NAN, NZ], [0x7fc00000, 0x80000001])), (F16, ([F16.inf, F16.inf | F16.sign], [0x7E00, 0x8000], [0x7C01, 0x8001]))):
        bits = [encode(q, sf, 'rn') for q in near if abs(q) < value(sf.most, sf)]
        pairs = [list(x) for x in zip(bits, bits[1:])] + list(pairs) + [[rng.getrandbits(sf.bits), rng.getrandbits(sf.bits)] for _ in range(12)]
        for relu in (False, True):
            cases = [(o, [limited(o[0], sf, f, 'rn', relu) << 8 | limited(o[1], sf, f, 'rn', relu)]) for o in pairs]
            text = f"cvt.rn.satfinite{'.relu' if relu else ''}.{f.name}.{'f32' if sf is F32 else 'f16x2'} %d, %a"
            if sf is F32:
                rows(text + ", %b", ["d:b16"], ["a:b32", "b:b32"], cases)
            else:
                rows(text, ["d:b16"], ["a:b32"], [([o[0] << 16 | o[1]], r) for o, r in cases])
    for relu in (False, True):
        for start in range(0, 256, 64):
            rows(f"cvt.rn{'.relu' if relu else ''}.f16x2.{f.name} %d, %a", ["d:b32"], ["a:b16"],
                 [([x << 8 | x ^ 0xA5], [upward(x, f, relu) << 16 | upward(x ^ 0xA5, f, relu)]) for x in range(start, start + 64)])
wide = [0, NZ, 1, 0x3f800000, 0xbf800000, 0x477fe000, 0x477ff000, 0x47800000, 0xc7800000, 0x7f7fffff, 0x7f7f0000, 0x7f7f8000, 0xff7fffff, INF, NINF, NAN, 0x387fffff]
for t in ('f16', 'bf16'):
    for mode in ('rn', 'rz'):
        for relu in (False, True):
            g = lambda x: limited(x, F32, FORMATS[t], mode, relu)
            name = f"cvt.{mode}{'.relu' if relu else ''}.satfinite.{t}"
            rows(f"{name}.f32 %d, %a", ["d:b16"], ["a:b32"], [([x], [g(x)]) for x in wide])
            rows(f"{name}x2.f32 %d, %a, %b", ["d:b32"], ["a:b32", "b:b32"], [([x, y], [g(x) << 16 | g(y)]) for x, y in zip(wide, wide[1:])])
TF32 = Format('tf32', 19, 10, 127)
for mode in ('rn', 'rz', 'rna'):
    rows(f"cvt.{mode}.satfinite.tf32.f32 %d, %a", ["d:b32"], ["a:b32"],
         [([x], [F32.nan if is_nan(x, F32) else limited(x, F32, TF32, mode, False) << 13]) for x in wide])

# ---- asynchronous copies and mbarriers ----------------------------------------------------------------------------------
# Each thread has 32 bytes of shared memory at %word. Copies read the operands where they are in global memory, at %at.
PLACE = ".shared .align 16 .b8 s[2048]; mov.u32 %word, s; mad.lo.u32 %word, %slot, 32, %word; "
SHOW_COPY = "cp.async.wait_all; ld.shared.v2.b64 {%d, %e}, [%word]"
FRESH = "st.shared.v2.b64 [%word], {-1, -1}; "


def copied(a, b, size, given):
    """The 16 bytes at the destination, as two words: all ones before."""
    source = (a | b << 64) & mask(8 * given)
    whole = mask(128) & ~mask(8 * size) | source
    return [whole & mask(64), whole >> 64]


WORDS64 = [0x0123456789abcdef, 0xfedcba9876543210, 0x8000000000000001, 0x5555aaaa3333cccc]
for operator, size in (('ca', 4), ('ca', 8), ('ca', 16), ('cg', 16)):
    form = f"cp.async.{operator}.shared.global [%word], [%at], {size}"
    pairs = [(rng.choice(WORDS64), rng.choice(WORDS64)) for _ in range(4)]
    rows(PLACE + FRESH + form + "; " + SHOW_COPY, ["d:b64", "e:b64"], ["a:b64", "b:b64"], [([a, b], copied(a, b, size, size)) for a, b in pairs])
    rows(PLACE + FRESH + form + ", %c; " + SHOW_COPY, ["d:b64", "e:b64"], ["a:b64", "b:b64", "c:b32"],
         [([a, b, given], copied(a, b, size, given)) for given in range(size + 1) for a, b in [rng.choice(pairs)]])
    rows(PLACE + FRESH + form + ", %c; " + SHOW_COPY, ["d:b64", "e:b64"], ["a:b64", "b:b64", "c:pred"],
         [([a, b, ignore], copied(a, b, size, 0 if ignore else size)) for a, b in pairs for ignore in (0, 1)])


class Mbarrier:
    """Counts of PTX ISA 9.0, "mbarrier": a phase completes when neither arrivals nor bytes are pending."""

    def __init__(self, count):
        self.phase, self.expected, self.pending, self.tx = 0, count, count, 0

    def update(self, arrivals=0, tx=0, drop=0):
        before = self.pending
        self.expected -= drop
        self.pending -= arrivals
        self.tx += tx
        if self.pending == 0 and self.tx == 0:
            self.phase += 1
            self.pending = self.expected
        return before

    def test(self, parity):
        return int(self.phase % 2 != parity)


INIT = PLACE + "mbarrier.init.shared.b64 [%word], %a; "
STATE = ".reg .b64 %t; "
cases = []
for count, first, second in ((1, 1, 1), (2, 1, 1), (5, 2, 3), (5, 5, 1), (7, 1, 2), (1048575, 1048574, 1), (1048575, 1048575, 1048575)):
    m = Mbarrier(count)
    cases.append(([count, first, second], [m.update(first), m.update(second)]))
rows(STATE + INIT + "mbarrier.arrive.shared.b64 %t, [%word], %b; mbarrier.pending_count.b64 %d, %t; "
     "mbarrier.arrive.release.cta.shared::cta.b64 %t, [%word], %c; mbarrier.pending_count.b64 %e, %t", ["d:b32", "e:b32"], ["a:b32", "b:b32", "c:b32"], cases)
for wait in ("test_wait", "try_wait"):
    cases = []
    for count, arrivals in ((1, 1), (2, 1), (2, 2), (9, 8), (9, 9)):
        for parity in (0, 1):
            m = Mbarrier(count)
            m.update(arrivals)
            cases.append(([count, arrivals, parity], [m.test(parity)]))
    rows(INIT + f"mbarrier.arrive.shared.b64 _, [%word], %b; mbarrier.{wait}.parity.acquire.cta.shared::cta.b64 %d, [%word], %c", ["d:pred"], ["a:b32", "b:b32", "c:b32"], cases)
    cases = []
    for count, first, second in ((1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 1, 3)):
        m = Mbarrier(count)
        m.update(first)
        state = m.phase
        m.update(second)
        cases.append(([count, first, second], [int(m.phase != state)]))
    rows(STATE + INIT + f"mbarrier.arrive.shared.b64 _, [%word], %b; mbarrier.arrive.shared.b64 %t, [%word], %c; mbarrier.{wait}.shared.b64 %d, [%word], %t",
         ["d:pred"], ["a:b32", "b:b32", "c:b32"], cases)
cases = []
for expected, completed in ((16, 16), (16, 8), (16, 32), (0, 0), (1048575, 1048575), (1048575, 1)):
    m = Mbarrier(1)
    m.update(tx=expected)
    m.update(arrivals=1)
    m.update(tx=-completed)
    cases.append(([1, expected, completed], [m.test(0)]))
for sequence in ("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%word], %b; mbarrier.arrive.shared.b64 _, [%word]", "mbarrier.arrive.expect_tx.shared.b64 _, [%word], %b"):
    rows(INIT + sequence + "; mbarrier.complete_tx.shared.b64 [%word], %c; mbarrier.test_wait.parity.shared.b64 %d, [%word], 0", ["d:pred"],
         ["a:b32", "b:b32", "c:b32"], cases)
cases = []
for count, dropped, then in ((3, 1, 2), (3, 1, 1), (3, 2, 1), (8, 3, 5)):
    m = Mbarrier(count)
    m.update(arrivals=dropped, drop=dropped)
    m.update(arrivals=then)
    cases.append(([count, dropped, then], [m.test(0), m.update(1) if m.expected else 0]))
rows(STATE + INIT + "mbarrier.arrive_drop.shared.b64 _, [%word], %b; mbarrier.arrive.shared.b64 _, [%word], %c; mbarrier.test_wait.parity.shared.b64 %d, [%word], 0; "
     "mbarrier.arrive.shared.b64 %t, [%word]; mbarrier.pending_count.b64 %e, %t", ["d:pred", "e:b32"], ["a:b32", "b:b32", "c:b32"], cases)

# ---- operations across a warp: the 32 cases are the lanes of one warp; c is the lane ----------------------------------
def groups_of_lanes(sizes):
    """The mask of each lane's group."""
    masks, first = [], 0
    for size in sizes:
        masks += [mask(size) << first] * size
        first += size
    return masks


def across(text, results, values, masks, f):
    """f(values of the group by lane, lane): the results of a lane."""
    cases = []
    for lane in range(32):
        group = {i: values[i] for i in range(32) if masks[lane] >> i & 1}
        cases.append(([values[lane], masks[lane], lane], f(group, lane)))
    rows(text, results, ["a:b32", "b:b32", "c:b32"], cases)


def folded(f, bits_of): return lambda group, lane: [fold(f, [bits_of(v) for v in group.values()]) & mask(32)]


def fold(f, values):
    total = values[0]
    for v in values[1:]:
        total = f(total, v)
    return total


for sizes in ([32], [16, 16], [1, 2, 4, 8, 17]):
    masks = groups_of_lanes(sizes)
    values = [rng.choice(edges(32)) if rng.random() < .5 else rng.getrandbits(32) for _ in range(32)]
    for name, f in (("add", lambda x, y: x + y), ("min", min), ("max", max)):
        for t in ("u32", "s32"):
            across(f"redux.sync.{name}.{t} %d, %a, %b", ["d:b32"], values, masks, folded(f, lambda v, t=t: val(v, 32, t == "s32")))
    for name, f in (("and", lambda x, y: x & y), ("or", lambda x, y: x | y), ("xor", lambda x, y: x ^ y)):
        across(f"redux.sync.{name}.b32 %d, %a, %b", ["d:b32"], values, masks, folded(f, lambda v: v))
    few = [rng.choice((0, 1, 0x80000000, mask(32))) for _ in range(32)]
    across("match.any.sync.b32 %d, %a, %b", ["d:b32"], few, masks,
           lambda group, lane: [sum(1 << i for i, v in group.items() if v == group[lane])])
    equal = [few[(masks[lane] & -masks[lane]).bit_length() - 1] for lane in range(32)]
    equal[31] ^= len(sizes) > 1
    across("match.all.sync.b32 %d|%e, %a, %b", ["d:b32", "e:pred"], equal, masks,
           lambda group, lane: [sum(1 << i for i in group), 1] if len(set(group.values())) == 1 else [0, 0])
across("elect.sync %d|%e, %b", ["d:b32", "e:pred"], [0] * 32, [1 << lane for lane in range(32)], lambda group, lane: [lane, 1])

print("# PTX instructions, operands and the results required by PTX ISA 9.0; generated by tests/ptx/conformance.py.")
print('\n'.join(out))
