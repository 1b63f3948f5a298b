/* Records of random accesses against a model that looks at every byte of every lane. */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "emu/cta.h"
#include "test.h"

enum { SECTOR = 32, BLOCK = 256, BANKS = 32 };

struct lanes {
    uint32_t mask;
    unsigned bytes;
    enum ptx_space space;
    enum access_kind kind;
    uint64_t address[WARP_LANES];
};

static int compare_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool active(const struct lanes *lanes, unsigned lane) { return lanes->mask >> lane & 1; }

/* Whether any active lane accesses the byte. */
static bool accessed(const struct lanes *lanes, uint64_t byte) {
    for (unsigned i = 0; i < WARP_LANES; i++)
        if (active(lanes, i) && byte - lanes->address[i] < lanes->bytes) return true;
    return false;
}

/* Touched blocks in ascending order; a written sector with a byte missing makes the access partial. */
static void model_global(const struct lanes *lanes, uint64_t base, struct access_note *note) {
    uint64_t blocks[2 * WARP_LANES];
    unsigned count = 0, most = 0;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        unsigned same = 0;
        for (unsigned j = 0; j < WARP_LANES; j++)
            same += active(lanes, i) && active(lanes, j) && lanes->address[i] == lanes->address[j];
        if (same > most) most = same;
        if (active(lanes, i)) blocks[count++] = lanes->address[i] / BLOCK;
    }
    qsort(blocks, count, sizeof *blocks, compare_u64);
    for (unsigned i = 0; i < count; i++) {
        if (i && blocks[i] == blocks[i - 1]) continue;
        uint64_t touch = base + blocks[i] * BLOCK;
        for (unsigned sector = 0; sector < BLOCK / SECTOR; sector++) {
            unsigned bytes = 0;
            for (unsigned byte = 0; byte < SECTOR; byte++)
                bytes += accessed(lanes, blocks[i] * BLOCK + sector * SECTOR + byte);
            if (bytes) touch |= UINT64_C(1) << sector;
            if (bytes && bytes < SECTOR && lanes->kind == ACCESS_WRITE) note->flags |= INSTR_PARTIAL;
        }
        note->touch[note->count++] = touch;
    }
    note->conflicts = (uint8_t)(lanes->kind == ACCESS_ATOMIC ? most : 1);
}

/* Passes of one group of lanes: the largest number of words in a bank, or of updates by atomics. */
static unsigned model_passes(const struct lanes *lanes, unsigned first, unsigned end) {
    uint64_t words[BANKS][WARP_LANES * 4];
    unsigned count[BANKS] = {0}, most = 0;
    for (unsigned i = first; i < end; i++)
        for (unsigned at = 0; active(lanes, i) && at < lanes->bytes; at += 4) {
            uint64_t word = (lanes->address[i] + at) / 4;
            unsigned bank = word % BANKS;
            bool known = false;
            for (unsigned w = 0; w < count[bank]; w++) known |= words[bank][w] == word;
            if (!known || lanes->kind == ACCESS_ATOMIC) words[bank][count[bank]++] = word;
            if (count[bank] > most) most = count[bank];
        }
    return most;
}

static void model(const struct lanes *lanes, struct access_note *note) {
    *note = (struct access_note){.conflicts = 1};
    if (lanes->space == PTX_SPACE_SHARED) {
        unsigned groups = lanes->bytes <= 4 ? 1 : lanes->bytes / 4, passes = 0;
        for (unsigned g = 0; g < groups; g++)
            passes += model_passes(lanes, g * WARP_LANES / groups, (g + 1) * WARP_LANES / groups);
        note->conflicts = (uint8_t)passes;
        return;
    }
    model_global(lanes, lanes->space == PTX_SPACE_PARAM ? UINT64_C(0x020000000000) : 0, note);
}

static struct lanes random_lanes(uint64_t *random) {
    static const enum ptx_space spaces[] = {PTX_SPACE_GLOBAL, PTX_SPACE_SHARED, PTX_SPACE_CONST, PTX_SPACE_PARAM};
    struct lanes lanes = {.bytes = 1u << random_below(random, 5), .space = spaces[random_below(random, 4)]};
    lanes.kind = (enum access_kind)random_below(random, lanes.space == PTX_SPACE_GLOBAL   ? 3
                                                        : lanes.space == PTX_SPACE_SHARED ? 3
                                                                                          : 1);
    unsigned first = (unsigned)random_below(random, WARP_LANES), width = 1 + (unsigned)random_below(random, 32 - first);
    switch (random_below(random, 4)) {
    case 0: lanes.mask = (uint32_t)(low_mask(width) << first); break;
    case 1: lanes.mask = (uint32_t)random_next(random) | 1; break;
    default: lanes.mask = UINT32_MAX;
    }
    uint64_t units = lanes.space == PTX_SPACE_SHARED ? 4096 : UINT64_C(1) << (2 + random_below(random, 34));
    uint64_t origin = random_below(random, units), step = random_below(random, 6), form = random_below(random, 6);
    for (unsigned i = 0; i < WARP_LANES; i++) {
        uint64_t unit = origin;
        switch (form) {
        case 0: break;                                  /* uniform */
        case 1: unit += i; break;                       /* a run */
        case 2: unit += i * step; break;                /* strided */
        case 3: unit += (WARP_LANES - i) * step; break; /* descending */
        case 4: unit += random_below(random, 8); break; /* equal ones among them */
        default: unit = random_below(random, units); break;
        }
        lanes.address[i] = unit * lanes.bytes;
    }
    unsigned top = random_below(random, 2) ? log2_floor(lanes.mask) : WARP_LANES; /* inactive lanes as of a load */
    for (unsigned i = 0; i < WARP_LANES; i++)
        if (!active(&lanes, i)) lanes.address[i] = lanes.address[i < top ? lowest_bit(lanes.mask) : top];
    return lanes;
}

static bool notes_equal(const struct access_note *a, const struct access_note *b) {
    return a->flags == b->flags && a->conflicts == b->conflicts && a->count == b->count &&
           memcmp(a->touch, b->touch, a->count * sizeof *a->touch) == 0;
}

TEST_LONG_SANITIZED("blocks, partial sectors, conflicts and bank passes of random accesses are those of a model") {
    static struct run run = {.cluster_ctas = 1};
    static struct warp_state warp = {.run = &run};
    uint64_t random = 41;
    unsigned runs = 0, uniform = 0;
    for (unsigned round = 0; round < 20000; round++) {
        struct lanes lanes = random_lanes(&random);
        struct access_note expected;
        model(&lanes, &expected);
        touch_note(&warp, lanes.mask, lanes.space, lanes.address, lanes.bytes, lanes.kind);
        if (!CHECK(notes_equal(&warp.note, &expected))) return;
        enum lanes_form form = lanes_form(lanes.mask, lanes.address, lanes.bytes);
        uint64_t first = lanes.address[lowest_bit(lanes.mask)];
        if (!touch_note_run(&warp, lanes.mask, lanes.space, first, lanes.bytes, lanes.kind, form)) continue;
        if (!CHECK(notes_equal(&warp.note, &expected))) return;
        runs += form == LANES_RUN, uniform += form == LANES_UNIFORM;
    }
    CHECK(runs > 2000 && uniform > 2000);
}

TEST("lanes are a run if each active one follows the one below it, and uniform if they are equal") {
    uint64_t address[WARP_LANES];
    for (unsigned i = 0; i < WARP_LANES; i++) address[i] = 4096 + 4 * i;
    CHECK_EQ(lanes_form(UINT32_MAX, address, 4), LANES_RUN);
    CHECK_EQ(lanes_form(UINT32_MAX, address, 8), LANES_SCATTERED);
    CHECK_EQ(lanes_form(0x00FFFF00, address, 4), LANES_RUN);
    CHECK_EQ(lanes_form(0x00FFFE80, address, 4), LANES_SCATTERED); /* a gap */
    address[9] += 4;
    CHECK_EQ(lanes_form(UINT32_MAX, address, 4), LANES_SCATTERED);
    CHECK_EQ(lanes_form(0xFF, address, 4), LANES_RUN);
    for (unsigned i = 0; i < WARP_LANES; i++) address[i] = 64;
    CHECK_EQ(lanes_form(UINT32_MAX, address, 4), LANES_UNIFORM);
    CHECK_EQ(lanes_form(0x10, address, 4), LANES_UNIFORM);
    address[3] = 68;
    CHECK_EQ(lanes_form(UINT32_MAX, address, 4), LANES_SCATTERED);
}
