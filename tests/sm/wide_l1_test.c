/* The rates of the L1: lines looked up per cycle, and bytes that pass its data port. */
#include "test.h"

#include "sm/sm_fixture.h"

/* A load of `lines` lines with one sector each, or of all sectors of them. */
static struct step load_lines(uint8_t dst, unsigned lines, uint8_t bytes_log2, bool whole) {
    struct step step = load_line(dst, 0);
    step.instr.bytes_log2 = bytes_log2;
    step.instr.count = (uint8_t)((lines + 1) / 2);
    for (unsigned i = 0; i < step.instr.count; i++) {
        bool both = 2 * i + 1 < lines;
        step.touch[i] = touch_make(0x10000 + i * UINT64_C(256), whole ? (both ? 0xFF : 0x0F) : (both ? 0x11 : 0x01));
    }
    return step;
}

#define ACCESS "sm.coalescing=sector", "l1.size_kb=64", "l1.latency_cycles=20", "l1.mshrs=128"

/* The cycles of a load that hits, beyond those of one line, and the cycles until the instruction behind it begins. */
struct cost {
    uint64_t latency, occupies;
};
static struct cost cost_of(struct step load, const char *tags, const char *port) {
    struct step steps[] = {
        load, fence(), load, alu(OP_other, 9, 1), fence(), load, load_shared(3, 1), alu(OP_other, 4, 3)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm =
        sm_fixture_create(SETTINGS(ACCESS, tags, port, "sm.lsu_queue=2", "sm.shared_latency_cycles=90"));
    const struct sm_config *config = sm_config_of(sm);
    sm_fixture_run(sm, &source);
    uint64_t shared = (uint64_t)(config->operand_cycles + 90 + config->writeback_cycles);
    struct cost cost = {script_issued(&source, 0, 0, 3) - script_issued(&source, 0, 0, 2) - hit_latency(sm),
                        script_issued(&source, 0, 0, 7) - script_issued(&source, 0, 0, 5) - shared};
    sm_fixture_destroy(sm);
    return cost;
}

TEST("an L1 looks up as many lines of an instruction per cycle as it has tag ports") {
    static const unsigned lines[] = {1, 2, 4, 5, 8, 17, 32};
    for (unsigned i = 0; i < COUNT_OF(lines); i++) {
        struct step load = load_lines(1, lines[i], 2, false);
        struct cost one = cost_of(load, "l1.tags_per_cycle=1", "l1.port_bytes=0");
        struct cost four = cost_of(load, "l1.tags_per_cycle=4", "l1.port_bytes=0");
        CHECK_EQ(one.latency, lines[i] - 1u);
        CHECK_EQ(four.latency, (lines[i] + 3) / 4 - 1u);
        CHECK_EQ(one.occupies, lines[i]);
        CHECK_EQ(four.occupies, (lines[i] + 3) / 4);
    }
}

TEST("an instruction takes the longer of the cycles of its lines and of its bytes") {
    static const struct {
        unsigned lines, bytes_log2, whole, cycles, on_half; /* with ports of 128 and of 64 B */
    } cases[] = {
        {1, 2, 1, 1, 2},  /* 32 lanes of 4 B */
        {2, 3, 1, 2, 4},  /* of 8 B */
        {4, 4, 1, 4, 8},  /* of 16 B */
        {1, 2, 0, 1, 1},  /* all in one sector */
        {8, 2, 0, 2, 2},  /* 8 lines take two cycles, 128 B fewer */
        {32, 2, 0, 8, 8}, /* one lane in each line */
        {32, 4, 0, 8, 8}, /* 512 B */
        {16, 4, 1, 4, 8}, /* the same in half of the lines */
        {32, 4, 1, 8, 8},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct step load = load_lines(1, cases[i].lines, (uint8_t)cases[i].bytes_log2, cases[i].whole);
        struct cost cost = cost_of(load, "l1.tags_per_cycle=4", "l1.port_bytes=128");
        struct cost half = cost_of(load, "l1.tags_per_cycle=4", "l1.port_bytes=64");
        CHECK_EQ(cost.occupies, cases[i].cycles);
        CHECK_EQ(cost.latency, cases[i].cycles - 1u);
        CHECK_EQ(half.occupies, cases[i].on_half);
        CHECK_EQ(half.latency, cases[i].on_half - 1u);
    }
}

TEST("lanes that are not active need no bytes") {
    struct step load = load_lines(1, 4, 4, true);
    load.instr.active = 0xFF;
    CHECK_EQ(cost_of(load, "l1.tags_per_cycle=4", "l1.port_bytes=128").occupies, 1u);
}

TEST("constants are read from their own cache, a line per cycle") {
    struct step load = load_constant(1, 0x1000);
    load.instr.bytes_log2 = 4;
    load.instr.count = 3;
    for (unsigned i = 0; i < 3; i++) load.touch[i] = touch_make(0x1000 + i * UINT64_C(256), 1);
    struct cost cost = cost_of(load, "l1.tags_per_cycle=4", "l1.port_bytes=32");
    CHECK_EQ(cost.occupies, 3u);
}

TEST("a reservation failure ends the accesses of its cycle, and the rest follow") {
    struct step steps[] = {load_lines(1, 8, 2, false), alu(OP_other, 2, 1)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("l1.mshrs=6", "l1.tags_per_cycle=4", "l1.miss_queue=32"));
    sm_fixture_run(sm, &source);
    CHECK_EQ(COUNTER(sm, "l1.read_misses"), 8u);
    CHECK_EQ(COUNTER(sm, "l1.read_hits"), 0u);
    CHECK_EQ(sm->requests, 8u);
    /* Six misses in two cycles; a request leaves in each cycle; the seventh follows the first reply. */
    for (unsigned i = 1; i < 6; i++) CHECK_EQ(sm->requested_at[i], sm->requested_at[i - 1] + 1);
    CHECK(sm->requested_at[6] >= sm->requested_at[0] + round_trip(sm) - 1);
    CHECK(COUNTER(sm, "sm.reservation_fail.mshr") > 90);
    sm_fixture_destroy(sm);
}

TEST("L1s of a group accept one access per cycle") {
    CHECK_REJECTED(config_with(SETTINGS("l1.organisation=clustered", "l1.tags_per_cycle=4")), "l1.tags_per_cycle",
                   "l1.organisation=clustered");
    CHECK_REJECTED(config_with(SETTINGS("l1.organisation=clustered", "l1.port_bytes=64")), "l1.port_bytes");
}
