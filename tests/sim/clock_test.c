#include "test.h"

#include "sim/clock.h"

/* Domain and core in MHz: those of the GPU descriptions, and some that are awkward. */
static const struct {
    uint64_t domain, core;
} pairs[] = {{924, 1400}, {586, 1400}, {1758, 1400}, {1400, 1400}, {1, 1400}, {1400, 1}, {1399, 1400}, {99991, 99989}};

static const uint64_t starts[] = {0, 1000003, UINT64_C(1) << 32, (UINT64_C(1) << 44) + 12345};

static struct clock clock_at(unsigned i) { return clock_of(pairs[i].domain * 1000, pairs[i].core * 1000); }

TEST("a domain cycle is visible from the core cycle of clock_core_cycle on, and not one earlier") {
    for (unsigned i = 0; i < COUNT_OF(pairs); i++)
        for (unsigned s = 0; s < COUNT_OF(starts); s++)
            for (uint64_t cycle = starts[s]; cycle < starts[s] + 3000; cycle++) {
                uint64_t core = clock_core_cycle(clock_at(i), cycle);
                REQUIRE(clock_domain_cycle(clock_at(i), core) >= cycle);
                REQUIRE(core == 0 || clock_domain_cycle(clock_at(i), core - 1) < cycle);
            }
}

TEST("a core cycle does not precede the start of its domain cycle") {
    for (unsigned i = 0; i < COUNT_OF(pairs); i++)
        for (unsigned s = 0; s < COUNT_OF(starts); s++)
            for (uint64_t core = starts[s]; core < starts[s] + 3000; core++) {
                uint64_t cycle = clock_domain_cycle(clock_at(i), core);
                REQUIRE(clock_core_cycle(clock_at(i), cycle) <= core);
                REQUIRE(clock_core_cycle(clock_at(i), cycle + 1) > core);
            }
}

TEST("clocks do not drift: after whole seconds both have counted their frequency") {
    for (unsigned i = 0; i < COUNT_OF(pairs); i++)
        for (uint64_t seconds = 0; seconds < 100000; seconds += 997) {
            uint64_t core = seconds * pairs[i].core * 1000000, domain = seconds * pairs[i].domain * 1000000;
            CHECK_EQ(clock_domain_cycle(clock_at(i), core), domain);
            CHECK_EQ(clock_core_cycle(clock_at(i), domain), core);
        }
}

TEST("equal clocks have equal counts") {
    struct clock same = clock_of(1400000, 1400000);
    for (uint64_t cycle = 0; cycle < 100; cycle++) {
        CHECK_EQ(clock_domain_cycle(same, cycle), cycle);
        CHECK_EQ(clock_core_cycle(same, cycle), cycle);
    }
}

TEST("924 of 1400 core cycles start a cycle of a 924 MHz clock, and the others do not") {
    struct clock clock = clock_of(924000, 1400000);
    unsigned begun = 0;
    for (uint64_t core = 1; core <= 1400; core++) {
        uint64_t grown = clock_domain_cycle(clock, core) - clock_domain_cycle(clock, core - 1);
        CHECK(grown <= 1);
        begun += (unsigned)grown;
    }
    CHECK_EQ(begun, 924u);
}
