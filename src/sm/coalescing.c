/* The coalescing rules of NVIDIA GPUs, as in GPGPU-Sim.
 *
 * `segment` (compute capability 2 and 3): a segment is 32, 64 or 128 B for lanes that access 1, 2 or at least 4 bytes.
 * Each touched segment is one access, reduced to the half, then the quarter, that contains all requested sectors.
 * `sector` (4 and later): each touched line is one access to the requested sectors. `fermi` (2, as in GPGPU-Sim 4): as
 * `segment`, but accesses that bypass the L1 are split into sectors, and the highest address comes first.
 */
#include "sm/coalescing.h"

#include "base/base.h"

#define COALESCING(name) extern const struct coalescing_ops coalescing_##name;
#include "sm/coalescings.def"
#undef COALESCING

static const struct policy *const members[] = {
#define COALESCING(name) &coalescing_##name.policy,
#include "sm/coalescings.def"
#undef COALESCING
};

const struct family coalescing_family = {"coalescing rule", members, COUNT_OF(members)};

/* The sectors transferred for the needed sectors of a segment, at least two: the smallest aligned power of two. The
 * highest bit in which the numbers of the first and the last sector differ determines its size. */
static unsigned shrink(unsigned needed) {
    unsigned first = lowest_bit(needed), last = log2_floor(needed), differ = first ^ last;
    unsigned span = 2u << log2_floor(differ);
    return ((1u << span) - 1) << (first & -span);
}

/* Splits each block into pieces of `piece` sectors and emits one access per touched piece. */
static unsigned cut(const uint64_t *touch, unsigned count, unsigned piece, unsigned line_log2, bool whole,
                    uint64_t *access) {
    unsigned first_piece = (1u << piece) - 1, first_of_line = -(1u << (line_log2 - 5)), n = 0;
    for (unsigned i = 0; i < count; i++) {
        for (unsigned sectors = touch_sectors(touch[i]); sectors;) {
            unsigned at = lowest_bit(sectors) & -piece, line = at & first_of_line;
            unsigned all = first_piece << at, moved = sectors & all; /* of the piece of the lowest remaining sector */
            sectors &= ~all;
            if (whole && moved & (moved - 1) && moved != all) moved = shrink(moved);
            access[n++] = (touch_address(touch[i]) + line * 32) | moved >> line;
        }
    }
    return n;
}

/* The same for lines of four sectors and pieces of a whole line, the usual case. A block has two lines; the access of one
 * that is not touched is overwritten by the next. */
static unsigned cut_lines(const uint64_t *touch, unsigned count, const uint8_t *moved, uint64_t *access) {
    unsigned n = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t address = touch_address(touch[i]);
        unsigned sectors = touch_sectors(touch[i]), low = sectors & 0xF, high = sectors >> 4;
        access[n] = address | moved[low];
        n += low != 0;
        access[n] = (address + 4 * 32) | moved[high];
        n += high != 0;
    }
    return n;
}

static unsigned coalesce_segments(const uint64_t *touch, unsigned count, unsigned bytes_log2, unsigned line_log2,
                                  bool bypass, uint64_t *access) {
    (void)bypass;
    unsigned segment_log2 = bytes_log2 == 0 ? 5 : bytes_log2 == 1 ? 6 : 7;
    if (segment_log2 == 7 || segment_log2 > line_log2) segment_log2 = line_log2; /* the widest segment is one line */
    static const uint8_t shrunk[] = {0, 1, 2, 3, 4, 15, 15, 15, 8, 15, 15, 15, 12, 15, 15, 15};
    if (LIKELY(segment_log2 == 7 && line_log2 == 7)) return cut_lines(touch, count, shrunk, access);
    return cut(touch, count, 1u << (segment_log2 - 5), line_log2, true, access);
}

static unsigned coalesce_sectors(const uint64_t *touch, unsigned count, unsigned bytes_log2, unsigned line_log2,
                                 bool bypass, uint64_t *access) {
    (void)bytes_log2, (void)bypass;
    static const uint8_t same[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    if (LIKELY(line_log2 == 7)) return cut_lines(touch, count, same, access);
    return cut(touch, count, 1u << (line_log2 - 5), line_log2, false, access);
}

static unsigned coalesce_fermi(const uint64_t *touch, unsigned count, unsigned bytes_log2, unsigned line_log2,
                               bool bypass, uint64_t *access) {
    unsigned n = bypass ? cut(touch, count, 1, line_log2, false, access)
                        : coalesce_segments(touch, count, bytes_log2, line_log2, bypass, access);
    for (unsigned i = 0; i < n / 2; i++) {
        uint64_t low = access[i];
        access[i] = access[n - 1 - i];
        access[n - 1 - i] = low;
    }
    return n;
}

const struct coalescing_ops coalescing_segment = {
    {"segment",
     "segments of 32 to 128 B by access width, reduced to the requested sectors (compute capability 2 and 3)", NULL},
    coalesce_segments,
};

const struct coalescing_ops coalescing_sector = {
    {"sector", "one access per line, for the requested sectors (compute capability 4 and later)", NULL},
    coalesce_sectors,
};

const struct coalescing_ops coalescing_fermi = {
    {"fermi", "as segment; one access per sector if it bypasses the L1; highest address first (GPGPU-Sim 4)", NULL},
    coalesce_fermi,
};
