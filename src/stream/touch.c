#include "stream/touch.h"

#include <string.h>

enum { BANKS = 32, BANK_BYTES = TOUCH_BANK_BYTES, SECTOR_BYTES = TOUCH_SECTOR_BYTES, LOCAL_WORDS = SECTOR_BYTES / 4 };

enum lanes_form lanes_form(uint32_t mask, const uint64_t address[WARP_LANES], unsigned bytes) {
    unsigned first = lowest_bit(mask), last = log2_floor(mask);
    uint64_t origin = address[first], span = address[last] - origin, differ = 0;
    if (span == 0) {
        for (unsigned i = 0; i < WARP_LANES; i++) differ |= address[i] ^ origin;
        return differ ? LANES_SCATTERED : LANES_UNIFORM;
    }
    if (span != (uint64_t)(last - first) * bytes) return LANES_SCATTERED;
    if (mask == UINT32_MAX) {
        for (unsigned i = 0; i < WARP_LANES; i++) differ |= address[i] ^ (origin + (uint64_t)i * bytes);
    } else {
        uint64_t from_first = mask >> first;
        differ = from_first & (from_first + 1); /* a lane between them is inactive */
        for (unsigned i = first; i <= last; i++) differ |= address[i] ^ (origin + (uint64_t)(i - first) * bytes);
    }
    return differ ? LANES_SCATTERED : LANES_RUN;
}

/* --- scattered lanes without sorting --- */

enum { MAP_BLOCKS = 512, WORD_BLOCKS = 8 }; /* of a bit map of sectors: a byte is the sectors of a block */

/* The block and the sector of each lane, four lanes at a time. */
static void touches_of(const uint64_t address[WARP_LANES], uint64_t touch[WARP_LANES]) {
    typedef uint64_t lanes __attribute__((vector_size(32)));
    enum { PER_VECTOR = sizeof(lanes) / sizeof(uint64_t) };
    const lanes one = {1, 1, 1, 1};
    for (unsigned i = 0; i < WARP_LANES; i += PER_VECTOR) {
        lanes at;
        memcpy(&at, address + i, sizeof at);
        at = (at & ~(uint64_t)(TOUCH_BLOCK_BYTES - 1)) | one << at % TOUCH_BLOCK_BYTES / SECTOR_BYTES;
        memcpy(touch + i, &at, sizeof at);
    }
}

/* The address of each active lane is above that of the active lane before it; below it, if all bits are flipped. */
static bool lanes_ascend(uint32_t mask, const uint64_t *address, uint64_t flip) {
    uint64_t previous = address[lowest_bit(mask)] ^ flip;
    FOR_LANES (lane, mask & (mask - 1)) {
        uint64_t next = address[lane] ^ flip;
        if (next <= previous) return false;
        previous = next;
    }
    return true;
}
static bool lanes_differ(uint32_t mask, const uint64_t *address) {
    return lanes_ascend(mask, address, 0) || lanes_ascend(mask, address, UINT64_MAX);
}

/* Blocks from a map of the sectors of all lanes, `span` blocks from `origin` on. Returns the number of sectors. */
static unsigned map_note(struct access_note *note, const uint64_t *address, uint64_t origin, uint64_t span) {
    uint64_t map[MAP_BLOCKS / WORD_BLOCKS];
    unsigned words = (unsigned)(span / WORD_BLOCKS) + 1, count = 0, sectors = 0;
    for (unsigned i = 0; i < words; i++) map[i] = 0;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        uint64_t sector = (address[i] - origin) / SECTOR_BYTES;
        map[sector / 64] |= UINT64_C(1) << sector % 64;
    }
    for (unsigned i = 0; i < words; i++, origin += WORD_BLOCKS * TOUCH_BLOCK_BYTES) {
        sectors += (unsigned)__builtin_popcountll(map[i]);
        for (uint64_t rest = map[i]; rest;) {
            unsigned shift = lowest_bit(rest) & ~7u;
            note->touch[count++] = (origin + shift / 8 * TOUCH_BLOCK_BYTES) | (rest >> shift & 0xFF);
            rest &= ~(UINT64_C(0xFF) << shift);
        }
    }
    note->count = (uint16_t)count;
    return sectors;
}

/* Records lanes in ascending blocks, reads in a limited number of blocks, and other accesses there that ascend. False
 * for all others. Inactive lanes have the address of an active one. */
bool touch_unsorted(struct access_note *note, uint32_t mask, const uint64_t address[WARP_LANES], unsigned bytes,
                    enum access_kind kind) {
    unsigned lanes = (unsigned)__builtin_popcount(mask), first = lowest_bit(mask);
    uint64_t from_first = mask >> first;
    int64_t block[WARP_LANES + 1], lowest = INT64_MAX, highest = 0, ascents = 0, descents = 0;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        block[i] = (int64_t)(address[i] / TOUCH_BLOCK_BYTES);
        lowest = block[i] < lowest ? block[i] : lowest;
        highest = block[i] > highest ? block[i] : highest;
    }
    block[WARP_LANES] = block[WARP_LANES - 1];
    for (unsigned i = 0; i < WARP_LANES; i++) {
        ascents += block[i] < block[i + 1];
        descents += block[i] > block[i + 1];
    }
    if (!descents && ascents + 1 == lanes && !(from_first & (from_first + 1))) {
        uint64_t touch[WARP_LANES];
        touches_of(address, touch);
        memcpy(note->touch, touch + first, lanes * sizeof *touch);
        note->count = (uint16_t)lanes;
        if (bytes < SECTOR_BYTES) note->flags |= INSTR_PARTIAL;
        return true;
    }
    if (highest - lowest >= MAP_BLOCKS || (kind != ACCESS_READ && !lanes_ascend(mask, address, 0))) return false;
    unsigned sectors = map_note(note, address, (uint64_t)lowest * TOUCH_BLOCK_BYTES, (uint64_t)(highest - lowest));
    if (lanes * bytes < sectors * SECTOR_BYTES) note->flags |= INSTR_PARTIAL;
    return true;
}

/* --- scattered lanes --- */

/* The pieces of an access: all of one size, a power of two up to a sector, and aligned. */
struct pieces {
    unsigned count, bytes;
    uint64_t address[WARP_LANES * LOCAL_WORDS];
};

static void insertion_sort(struct pieces *p) {
    for (unsigned i = 1; i < p->count; i++) {
        uint64_t piece = p->address[i];
        unsigned at = i;
        for (; at && p->address[at - 1] > piece; at--) p->address[at] = p->address[at - 1];
        p->address[at] = piece;
    }
}

/* Moves 32 pieces to their ranks: the numbers of smaller keys, eight at a time. The lane in the lowest bits of a key
 * makes equal pieces different. False if the pieces are too far apart for keys of 32 bits. */
static bool rank_sort(struct pieces *p) {
    enum { LANE_BITS = 5, PER_VECTOR = 8, VECTORS = WARP_LANES / PER_VECTOR };
    typedef int32_t keys __attribute__((vector_size(PER_VECTOR * sizeof(int32_t))));
    uint64_t lowest = UINT64_MAX, highest = 0, sorted[WARP_LANES];
    for (unsigned i = 0; i < WARP_LANES; i++) {
        lowest = p->address[i] < lowest ? p->address[i] : lowest;
        highest = p->address[i] > highest ? p->address[i] : highest;
    }
    unsigned unit_bits = log2_floor(p->bytes);
    if ((highest - lowest) >> unit_bits > INT32_MAX >> LANE_BITS) return false;
    int32_t key[WARP_LANES], rank[WARP_LANES];
    for (unsigned i = 0; i < WARP_LANES; i++)
        key[i] = (int32_t)((p->address[i] - lowest) >> unit_bits << LANE_BITS | i);
    keys of[VECTORS], smaller[VECTORS] = {{0}};
    memcpy(of, key, sizeof key);
    for (unsigned i = 0; i < WARP_LANES; i++)
        for (unsigned v = 0; v < VECTORS; v++) smaller[v] -= of[v] > key[i];
    memcpy(rank, smaller, sizeof rank);
    for (unsigned i = 0; i < WARP_LANES; i++) sorted[rank[i]] = p->address[i];
    memcpy(p->address, sorted, sizeof sorted);
    return true;
}

static void pieces_sort(struct pieces *p) {
    enum { FEW_DESCENTS = 2 }; /* two or three sorted parts */
    unsigned descents = 0;
    for (unsigned i = 1; i < p->count; i++) descents += p->address[i - 1] > p->address[i];
    if (!descents) return;
    if (p->count != WARP_LANES || descents <= FEW_DESCENTS || !rank_sort(p)) insertion_sort(p);
}

/* Converts sorted pieces to touched blocks; a written sector is full if all its pieces are present. Also finds the
 * largest number of lanes on one piece. */
static void pieces_note(const struct pieces *p, struct access_note *note) {
    uint64_t sector = 0;
    unsigned filled = SECTOR_BYTES, same = 0, most = 0;
    for (unsigned i = 0; i < p->count; i++) {
        uint64_t piece = p->address[i], block = piece / TOUCH_BLOCK_BYTES * TOUCH_BLOCK_BYTES;
        same = i && piece == p->address[i - 1] ? same + 1 : 1;
        if (same > most) most = same;
        if (same > 1) continue;
        if (!i || piece / SECTOR_BYTES != sector) {
            if (filled < SECTOR_BYTES) note->flags |= INSTR_PARTIAL;
            if (!note->count || touch_address(note->touch[note->count - 1]) != block) {
                if (note->count == WARP_LANES) break;
                note->touch[note->count++] = block;
            }
            sector = piece / SECTOR_BYTES;
            note->touch[note->count - 1] |= UINT64_C(1) << (sector % (TOUCH_BLOCK_BYTES / SECTOR_BYTES));
            filled = 0;
        }
        filled += p->bytes;
    }
    if (filled < SECTOR_BYTES) note->flags |= INSTR_PARTIAL;
    note->conflicts = (uint8_t)most;
}

/* The same of a read, of which only the blocks matter. */
static void read_note(const struct pieces *p, struct access_note *note) {
    uint64_t block = UINT64_MAX;
    unsigned count = 0;
    for (unsigned i = 0; i < p->count; i++) {
        uint64_t at = p->address[i] / TOUCH_BLOCK_BYTES * TOUCH_BLOCK_BYTES;
        if (at != block) {
            if (count == WARP_LANES) break;
            note->touch[count++] = block = at;
        }
        note->touch[count - 1] |= UINT64_C(1) << (p->address[i] % TOUCH_BLOCK_BYTES / SECTOR_BYTES);
    }
    note->count = (uint16_t)count;
}

static void note_pieces(struct access_note *note, struct pieces *pieces, enum access_kind kind) {
    pieces_sort(pieces);
    if (kind == ACCESS_READ)
        read_note(pieces, note);
    else
        pieces_note(pieces, note);
}

void touch_sorted(struct access_note *note, uint32_t mask, const uint64_t address[WARP_LANES], unsigned bytes,
                  enum access_kind kind) {
    struct pieces pieces;
    pieces.count = 0;
    pieces.bytes = bytes;
    FOR_LANES (lane, mask) pieces.address[pieces.count++] = address[lane];
    note_pieces(note, &pieces, kind);
}

void touch_local(struct access_note *note, uint32_t mask, const uint64_t address[WARP_LANES], unsigned bytes,
                 enum access_kind kind, uint64_t area, uint32_t stride) {
    struct pieces pieces;
    pieces.count = 0;
    pieces.bytes = bytes < 4 ? bytes : 4;
    for (unsigned word = 0; word < bytes; word += 4)
        FOR_LANES (lane, mask)
            pieces.address[pieces.count++] = area + local_offset(address[lane] + word, lane) % stride;
    note_pieces(note, &pieces, kind);
}

/* --- banks of shared memory --- */

/* Bank passes for one group of lanes. A word is read once for all lanes that access it; an atomic updates it once per
 * lane. */
static unsigned bank_passes(uint32_t mask, const uint64_t *address, unsigned bytes, bool atomic) {
    uint64_t words[BANKS][WARP_LANES], previous = UINT64_MAX;
    uint8_t count[BANKS];
    uint32_t used = 0;
    unsigned most = 0;
    if (!mask) return 0;
    if (bytes >= BANK_BYTES && (atomic || lanes_differ(mask, address))) { /* each word counts */
        memset(count, 0, sizeof count);
        FOR_LANES (lane, mask)
            for (unsigned at = 0; at < bytes; at += BANK_BYTES) {
                unsigned here = ++count[(address[lane] + at) / BANK_BYTES % BANKS];
                most = here > most ? here : most;
            }
        return most;
    }
    FOR_LANES (lane, mask) {
        if (address[lane] == previous && !atomic) continue;
        previous = address[lane];
        for (unsigned at = 0; at < bytes; at += BANK_BYTES) {
            uint64_t word = (address[lane] + at) / BANK_BYTES;
            unsigned bank = word % BANKS, i = 0;
            if (!(used >> bank & 1)) {
                used |= UINT32_C(1) << bank;
                count[bank] = 0;
            }
            while (i < count[bank] && (atomic || words[bank][i] != word)) i++;
            if (i == count[bank] && count[bank] < WARP_LANES) words[bank][count[bank]++] = word;
            if (count[bank] > most) most = count[bank];
        }
    }
    return most;
}

/* No two lanes access the same bank. Inactive lanes have the address of an active one, whose bank is counted once. */
static bool banks_distinct(uint32_t mask, const uint64_t *address) {
    uint32_t banks = 0;
    for (unsigned i = 0; i < WARP_LANES; i++) banks |= UINT32_C(1) << (address[i] / BANK_BYTES % BANKS);
    return __builtin_popcount(banks) == __builtin_popcount(mask);
}

/* All lanes are in one row of words over the banks. */
static bool in_one_row(const uint64_t *address) {
    uint64_t differ = 0;
    for (unsigned i = 0; i < WARP_LANES; i++) differ |= address[i] ^ address[0];
    return differ < BANKS * BANK_BYTES;
}

unsigned touch_shared_passes(uint32_t mask, const uint64_t address[WARP_LANES], unsigned bytes, bool atomic) {
    unsigned groups = touch_lane_groups(bytes), passes = 0;
    if (bytes <= BANK_BYTES && !atomic && in_one_row(address)) return 1;
    if (bytes == BANK_BYTES && banks_distinct(mask, address)) return 1;
    for (unsigned g = 0; g < groups; g++)
        passes += bank_passes(touch_lane_group(mask, groups, g), address, bytes, atomic);
    return passes;
}
