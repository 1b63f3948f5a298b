#!/usr/bin/env python3
"""Writes tests/ptx/texture_conformance.txt: texture and surface instructions with coordinates and the results required by
NVIDIA's CUDA C++ Programming Guide 13.0 (Texture Fetching) and PTX ISA 9.0.

Everything is computed in exact arithmetic (Fractions), without the host's floating point and without Sluice. Address modes are
applied to coordinates, as the guide writes them; Sluice applies them to numbers of texels. Coordinates at which the guide leaves
the texel open (the edges of texels that are mirrored) do not occur. Assumptions of Sluice that the table contains: weights are
rounded to nearest, halves up; partial sums are rounded to doubles, x fastest; missing channels are 0, 0 and 1.

    python3 tests/ptx/texture_conformance.py > tests/ptx/texture_conformance.txt

A line that starts with `=` describes an object: name, use, dimensions (1 to 3), width, height, depth, layers, type, channels,
filter, three address modes, whether coordinates and values are normalised, border (four words), then the bytes of the image.
A line that starts in column 1 is an instruction with the types of its operands; the lines below are its cases:
operands = results, in hexadecimal.
"""
import random
from fractions import Fraction as Q
from math import floor

rng = random.Random(27)
out = []


# ---- numbers ----
def nearest_even(q):
    n = floor(q)
    rest = q - n
    return n + (rest > Q(1, 2) or (rest == Q(1, 2) and n & 1))


def rounded(q, fraction, least):
    """q in a binary format with this many bits of fraction and this smallest exponent."""
    if q == 0:
        return Q(0)
    e = 0
    a = abs(q)
    while a >= Q(2) ** (e + 1):
        e += 1
    while a < Q(2) ** e:
        e -= 1
    unit = Q(2) ** (max(e, least) - fraction)
    return nearest_even(a / unit) * unit * (1 if q > 0 else -1)


def bits_of(q, fraction, exponent_bits, negative_zero=False):
    bias = (1 << (exponent_bits - 1)) - 1
    least = 1 - bias
    q = rounded(q, fraction, least)
    sign = (q < 0 or negative_zero) << (fraction + exponent_bits)
    a = abs(q)
    if a >= Q(2) ** (bias + 1):
        return sign | ((1 << exponent_bits) - 1) << fraction
    e = least
    while a >= Q(2) ** (e + 1):
        e += 1
    if a < Q(2) ** least:
        return sign | int(a / Q(2) ** (least - fraction))
    return sign | (e + bias) << fraction | int((a / Q(2) ** e - 1) * (1 << fraction))


def f32(q): return bits_of(q, 23, 8)
def f16(q): return bits_of(q, 10, 5)


def of_bits(x, fraction, exponent_bits):
    bias = (1 << (exponent_bits - 1)) - 1
    e = x >> fraction & ((1 << exponent_bits) - 1)
    m = x & ((1 << fraction) - 1)
    q = Q(m, 1 << fraction) * Q(2) ** (1 - bias) if e == 0 else (1 + Q(m, 1 << fraction)) * Q(2) ** (e - bias)
    return -q if x >> (fraction + exponent_bits) & 1 else q


def of_f32(x): return of_bits(x, 23, 8)
def double(q): return rounded(q, 52, -1022)


# ---- textures ----
class Texture:
    def __init__(self, name, size, kind, channels=1, layers=0, linear=False, modes='ccc', normalized=False, values=False, border=(0, 0, 0, 0), use='texture'):
        self.name, self.use, self.size, self.kind, self.channels, self.layers = name, use, size, kind, channels, layers
        self.linear, self.modes, self.normalized, self.values, self.border = linear, modes, normalized, values, border
        self.bytes = int(kind[1:]) // 8
        w, h, d = (list(size) + [1, 1])[:3]
        self.w, self.h, self.d = w, h, d
        count = w * h * d * max(layers, 1) * channels
        self.raw = [self.random_value() for _ in range(count)]
        data = b''.join(v.to_bytes(self.bytes, 'little') for v in self.raw)
        out.append('= ' + ' '.join(map(str, [name, use, len(size), w, h, d, layers, kind, channels, 'linear' if linear else 'nearest', *modes,
                                             int(normalized), int(values)] + [f'{b:x}' for b in border] + [data.hex()])))

    def random_value(self):
        if self.kind == 'f32':
            return f32(Q(rng.randint(-4000, 4000), rng.choice([1, 3, 7, 64])))
        if self.kind == 'f16':
            return f16(Q(rng.randint(-2000, 2000), rng.choice([1, 3, 16])))
        return rng.choice([rng.getrandbits(8 * self.bytes), 0, (1 << 8 * self.bytes) - 1, 1 << (8 * self.bytes - 1)])

    def real(self): return self.values or self.kind[0] == 'f'

    def channel_bits(self, raw):
        """One channel as it is read: a Fraction, or an integer of 32 bits."""
        if self.kind == 'f32':
            return of_f32(raw)
        if self.kind == 'f16':
            return of_bits(raw, 10, 5)
        n = 8 * self.bytes
        value = raw - (1 << n) if self.kind[0] == 's' and raw >> (n - 1) else raw
        if not self.values:
            return value & 0xFFFFFFFF
        most = (1 << n) - 1 if self.kind[0] == 'u' else (1 << (n - 1)) - 1
        return rounded(max(Q(value, most), Q(-1)), 23, -126)

    def texel(self, at, layer):
        """Channels of the texel at numbers within the image; None for the border."""
        if at is None:
            return [of_f32(b) if self.real() else b for b in self.border]
        x, y, z = (list(at) + [0, 0])[:3]
        if self.layers:
            z = min(layer, self.layers - 1)
        first = ((z * self.h + y) * self.w + x) * self.channels
        got = [self.channel_bits(r) for r in self.raw[first:first + self.channels]]
        missing = [Q(0), Q(0), Q(0), Q(1)] if self.real() else [0, 0, 0, 1]
        return got + missing[self.channels:]

    def mode(self, axis):
        m = self.modes[axis]
        return m if self.normalized or m in 'cb' else 'c'

    def number(self, x, axis):
        """The texel of an unnormalised coordinate: the guide's formulas, on u = x / N."""
        n = self.size[axis]
        u, mode = Q(x) / n, self.mode(axis)
        if mode == 'w':
            u = u - floor(u)
        elif mode == 'm':
            u = u - floor(u) if floor(u) % 2 == 0 else 1 - (u - floor(u))
        elif mode == 'c':
            u = Q(0) if u < 0 else 1 - Q(1, n) if u >= 1 else u
        elif not 0 <= u < 1:
            return None
        return floor(u * n)

    def nearest(self, xs, layer):
        at = [self.number(x, i) for i, x in enumerate(xs)]
        return self.texel(None if None in at else at, layer)

    def footprint(self, xs):
        """First texel and weight of the next one in each dimension."""
        pairs = []
        for x in xs:
            b = x - Q(1, 2)
            i = floor(b)
            a = Q(floor((b - i) * 256 + Q(1, 2)), 256)
            pairs.append((i + 1, Q(0)) if a == 1 else (i, a))
        return pairs

    def centre(self, i): return i + Q(1, 2)

    def sample(self, xs, layer=0):
        if not self.linear:
            return self.nearest(xs, layer)
        pairs = self.footprint(xs)
        sums, parts = [Q(0)] * 4, []
        for corner in range(1 << len(pairs)):
            weight, at = Q(1), []
            for axis, (i, a) in enumerate(pairs):
                up = corner >> axis & 1
                weight *= a if up else 1 - a
                at.append(self.centre(i + up))
            if weight:
                parts.append((weight, self.nearest(at, layer)))
        for weight, texel in parts:
            sums = [double(s + weight * t) for s, t in zip(sums, texel)]
        return sums

    def scaled(self, coordinates):
        return [Q(c) * (self.size[i] if self.normalized else 1) for i, c in enumerate(coordinates)]


def encoded(texture, channels, half=False):
    return [(f16 if half else f32)(c) if texture.real() else c for c in channels]


def rows(text, types, cases):
    out.append(f"{text} | {' '.join(types)}")
    seen = set()
    for given, wanted in cases:
        if tuple(given) in seen:
            continue
        seen.add(tuple(given))
        out.append('  ' + ' '.join(f'{g & 0xFFFFFFFF:x}' for g in given) + ' = ' + ' '.join(f'{w:x}' for w in wanted))


GEOMETRY = {(1, False): '1d', (2, False): '2d', (3, False): '3d', (1, True): 'a1d', (2, True): 'a2d'}


def geometry(t): return GEOMETRY[len(t.size), bool(t.layers)]


def address(t, names):
    layer = ['%l'] if t.layers else []
    pad = [names[-1]] if len(t.size) + bool(t.layers) == 3 else []
    return '[' + t.name + ', {' + ', '.join(layer + names + pad) + '}]'


def coordinate(t, axis, linear):
    """The bits of a float; not where an edge of a texel decides and mode or filter leave it open."""
    n = t.size[axis]
    span = Q(rng.randint(-3 * n * 64, 5 * n * 64) if rng.random() < .4 else rng.randint(0, n * 64), 64)
    x = span + rng.choice([Q(0), Q(1, 512), Q(-1, 512), Q(1, 700), Q(1, 3)])
    return f32(x / n if t.normalized else x)


def cases(t, n, linear=None):
    got = []
    while len(got) < n:
        bits = [coordinate(t, i, t.linear) for i in range(len(t.size))]
        xs = t.scaled([of_f32(b) for b in bits])
        if any(t.mode(i) == 'm' and (x.denominator == 1 or (x - Q(1, 2)).denominator == 1) for i, x in enumerate(xs)):
            continue
        layer = rng.choice([0, 1, 2, 7]) if t.layers else 0
        got.append((bits, xs, layer))
    return got


def tex(t, n=12):
    dtype = 'f32' if t.real() else rng.choice(['u32', 's32'])
    names = ['%x', '%y', '%z'][:len(t.size)]
    types = (['l:b32'] if t.layers else []) + [f'{c[1]}:f32' for c in names]
    rows(f"tex.{geometry(t)}.v4.{dtype}.f32 {{%r, %g, %b, %a}}, {address(t, names)}", types,
         [(([layer] if t.layers else []) + bits, encoded(t, t.sample(xs, layer))) for bits, xs, layer in cases(t, n)])


def fetch(t, n=8):
    """Integer coordinates: no filter; wrap and mirror are clamp."""
    dtype = 'f32' if t.real() else 'u32'
    names = ['%x', '%y', '%z'][:len(t.size)]
    types = (['l:b32'] if t.layers else []) + [f'{c[1]}:s32' for c in names]
    got = []
    plain = Texture.__new__(Texture)
    plain.__dict__.update(t.__dict__)
    plain.linear, plain.normalized = False, False
    for _ in range(n):
        at = [rng.randint(-2, s + 1) for s in t.size]
        layer = rng.choice([0, 1, 2, 7]) if t.layers else 0
        got.append((([layer] if t.layers else []) + at, encoded(t, plain.nearest([Q(a) for a in at], layer))))
    rows(f"tex.{geometry(t)}.v4.{dtype}.s32 {{%r, %g, %b, %a}}, {address(t, names)}", types, got)


def half(t, n=8):
    names = ['%x', '%y', '%z'][:len(t.size)]
    types = [f'{c[1]}:f32' for c in names]
    got = []
    for bits, xs, layer in cases(t, n):
        r, g, b, a = [f16(rounded(c, 23, -126)) for c in t.sample(xs, layer)]
        got.append((bits, [r | g << 16, b | a << 16, 0, 0]))
    rows(f"mov.b32 %b, 0; mov.b32 %a, 0; tex.{geometry(t)}.v2.f16x2.f32 {{%r, %g}}, {address(t, names)}", types, got)


def tld4(t, component, n=8):
    dtype = 'f32' if t.real() else 'u32'
    got = []
    for bits, xs, layer in cases(t, n):
        (i, _), (j, _) = t.footprint(xs)
        corners = [(i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j)]
        values = [t.nearest([t.centre(c) for c in corner], layer)['rgba'.index(component)] for corner in corners]
        got.append((([layer] if t.layers else []) + bits, encoded(t, values)))
    types = (['l:b32'] if t.layers else []) + ['x:f32', 'y:f32']
    rows(f"tld4.{component}.{geometry(t)}.v4.{dtype}.f32 {{%r, %g, %b, %a}}, {address(t, ['%x', '%y'])}", types, got)


KINDS = ['u8', 's8', 'u16', 's16', 'u32', 's32', 'f16', 'f32']
number = 0


def name():
    global number
    number += 1
    return f't{number}'


for kind in KINDS:  # every format and number of channels, nearest
    for channels in [1, 2, 4]:
        t = Texture(name(), (5, 4), kind, channels, modes='cbc', border=(1, 2, 3, 4) if kind[0] != 'f' else (f32(Q(5, 2)), 0, f32(Q(-1)), 0))
        tex(t, 6)
        if channels == 4:
            fetch(t, 5)
for kind in KINDS[:4] + ['f16', 'f32']:  # linear: floats and normalised integers
    for channels in [1, 4]:
        t = Texture(name(), (6, 5), kind, channels, linear=True, values=kind[0] != 'f', normalized=True, modes='wcc')
        tex(t, 8)
for size, layers in [((7,), 0), ((6, 5), 0), ((5, 4, 3), 0), ((7,), 3), ((6, 5), 3)]:  # every geometry and address mode
    for linear in [False, True]:
        for normalized in [False, True]:
            for mode in 'wmcb':
                t = Texture(name(), size, 'f32', layers=layers, linear=linear, normalized=normalized, modes=mode * 3,
                            border=(f32(Q(7, 3)), 0, 0, 0))
                tex(t, 10)
                if not linear and not normalized:
                    fetch(t)
for size, kind, options in [((9, 3), 'f32', dict(channels=4, linear=True, modes='mwc', normalized=True)),
                            ((4, 4), 'f16', dict(channels=2, modes='cbc'))]:
    t = Texture(name(), size, kind, **options)
    half(t)
    for component in 'rgba':
        tld4(t, component)
tld4(Texture(name(), (5, 5), 'u8', 4, layers=2), 'g')
tld4(Texture(name(), (5, 5), 's16', 1, modes='wbc', normalized=True, border=(9, 9, 9, 9)), 'r')


# ---- surfaces ----
def surface(size, layers, element, vector, boundary):
    s = Texture(name(), size, 'u8', 4, layers=layers, use='surface')
    image = b''.join(v.to_bytes(1, 'little') for v in s.raw)
    row, bytes_ = 4 * s.w, element // 8 * vector
    slices = s.layers or s.d
    names = ['%x', '%y', '%z'][:len(size)]
    types = (['l:b32'] if layers else []) + [f'{c[1]}:s32' for c in names]
    got = []
    for _ in range(10):
        at = [bytes_ * rng.randint(-1 if boundary != 'trap' else 0, row // bytes_ - (boundary == 'trap'))]
        at += [rng.randint(-1 if boundary != 'trap' else 0, n - (boundary == 'trap')) for n in size[1:]]
        layer = rng.randint(0, layers - 1) if layers else 0
        x, y, z = (at + [0, 0])[:3]
        z = layer if layers else z
        limits = (row - bytes_, s.h - 1, slices - 1)
        inside = all(0 <= c <= limit for c, limit in zip((x, y, z), limits))
        if boundary == 'clamp':
            x, y, z = [min(max(c, 0), limit) for c, limit in zip((x, y, z), limits)]
        values = [0] * vector
        if inside or boundary == 'clamp':
            first = (z * s.h + y) * row + x
            values = [int.from_bytes(image[first + i * element // 8:first + (i + 1) * element // 8], 'little') for i in range(vector)]
        got.append((([layer] if layers else []) + at, values + [0] * (4 - vector)))
    v = '' if vector == 1 else f'.v{vector}'
    if element == 32:
        elements = ['%r', '%g', '%b', '%a'][:vector]
        after = ''
    else:
        elements = ['%h0', '%h1', '%h2', '%h3'][:vector]
        after = ''.join(f'; cvt.u32.u16 {r}, {h}' for r, h in zip(['%r', '%g', '%b', '%a'], elements))
    clear = ''.join(f'mov.b32 {r}, 0; ' for r in ['%r', '%g', '%b', '%a'])
    rows(f"{clear}suld.b.{geometry(s)}{v}.b{element}.{boundary} {{{', '.join(elements)}}}, {address(s, names)}{after}", types, got)


def store(size, layers, boundary):
    """Stores a word and loads it back. Each case has its own place; a place outside is dropped (.zero) or clamped."""
    s = Texture(name(), size, 'u32', 1, layers=layers, use='surface')
    slices = s.layers or s.d
    names = ['%x', '%y', '%z'][:len(size)]
    types = (['l:b32'] if layers else []) + [f'{c[1]}:s32' for c in names] + ['v:b32']
    got, used = [], set()
    while len(got) < 8:
        at = [4 * rng.randint(-1, s.w)] + [rng.randint(-1, n) for n in size[1:]]
        layer, value = rng.randint(0, max(layers - 1, 0)), rng.getrandbits(32)
        x, y, z = (at + [0, 0])[:3]
        z = layer if layers else z
        limits = (4 * s.w - 4, s.h - 1, slices - 1)
        place = tuple(min(max(c, 0), limit) for c, limit in zip((x, y, z), limits))
        inside = place == (x, y, z)
        if place in used or (boundary == 'trap' and not inside):
            continue
        if inside or boundary == 'clamp':
            used.add(place)
        got.append((([layer] if layers else []) + at + [value], [value if inside or boundary == 'clamp' else 0, 0, 0, 0]))
    clear = ''.join(f'mov.b32 {r}, 0; ' for r in ['%g', '%b', '%a'])
    where = address(s, names)
    rows(f"{clear}sust.b.{geometry(s)}.b32.{boundary} {where}, {{%v}}; suld.b.{geometry(s)}.b32.{boundary} {{%r}}, {where}", types, got)


for boundary in ['trap', 'clamp', 'zero']:
    for size, layers in [((30,), 0), ((6, 5), 0), ((4, 4, 3), 0), ((16,), 3), ((6, 5), 2)]:
        store(size, layers, boundary)
for boundary in ['trap', 'clamp', 'zero']:
    for size, layers in [((8,), 0), ((6, 5), 0), ((4, 4, 3), 0), ((8,), 3), ((6, 5), 2)]:
        surface(size, layers, 32, rng.choice([1, 2]), boundary)
surface((8, 4), 0, 8, 4, 'zero')
surface((8, 4), 0, 16, 2, 'clamp')
surface((8, 4), 0, 8, 1, 'clamp')
surface((8, 4), 0, 32, 4, 'zero')

print('# Texture and surface instructions, coordinates and required results; generated by tests/ptx/texture_conformance.py.')
print('\n'.join(out))
