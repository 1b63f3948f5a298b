/* Random programs on random machines, one or two at once: whatever they do, a run ends with its books balanced, and neither
 * the order of ticks nor polling changes a counter. */
#include "machine/random_machine.h"

/* False if the seed does not make a machine. */
static bool compare_ways(uint64_t seed, unsigned count) {
    struct random_run *made = random_run_make(seed, count);
    bool ran = machine_is_made(&made->settings);
    if (ran) CHECK(compare_ways_of(seed, &made->settings, open_programs, &made->programs, 0));
    free(made);
    return ran;
}

static void compare_seeds(uint64_t first, unsigned wanted, unsigned programs) {
    unsigned ran = 0;
    for (uint64_t seed = first; seed < first + 50 * wanted && ran < wanted; seed++) ran += compare_ways(seed, programs);
    CHECK_EQ(ran, wanted);
}

TEST("random programs on random machines complete, in every tick order, polled or not") { compare_seeds(1, 8, 1); }
TEST("random programs on random machines complete, in every tick order, polled or not: more seeds") {
    compare_seeds(100000, 8, 1);
}
TEST("two concurrent random programs on random machines complete, in every tick order, polled or not") {
    compare_seeds(500000, 8, 2);
}
TEST_LONG("two concurrent random programs on random machines complete: long test") { compare_seeds(600000, 60, 2); }
TEST_LONG("random programs on random machines complete: long test, first part") { compare_seeds(200000, 150, 1); }
TEST_LONG("random programs on random machines complete: long test, second part") { compare_seeds(300000, 150, 1); }
TEST_LONG("random programs on random machines complete: long test, third part") { compare_seeds(400000, 150, 1); }
