#include "test.h"

#include "l1/dynamic_sending.h"

static struct dynamic_sending make(unsigned sampled, unsigned executed) {
    struct dynamic_sending sending;
    dynamic_sending_init(&sending, sampled, executed);
    return sending;
}

/* The ways of the next misses, a letter for each: `l`lc, `r`ing, `s`ampled. */
static void check_ways(struct dynamic_sending *sending, const char *ways) {
    for (; *ways; ways++) CHECK_EQ("lrs"[dynamic_sending_ask(sending)], *ways);
}

TEST("the paper's period has 256 sampled and 4,096 executed misses, and starts with sampling") {
    struct dynamic_sending sending = make(256, 4096);
    for (unsigned period = 0; period < 3; period++) {
        bool served = period == 1;
        for (unsigned i = 0; i < 256; i++) {
            REQUIRE(dynamic_sending_ask(&sending) == SENDING_SAMPLED);
            dynamic_sending_report(&sending, served, 20, 200);
        }
        for (unsigned i = 0; i < 4096; i++)
            REQUIRE(dynamic_sending_ask(&sending) == (served ? SENDING_RING : SENDING_L2));
    }
    CHECK(dynamic_sending_ask(&sending) == SENDING_SAMPLED);
    CHECK_EQ(sending.stats.sampled, 3u * 256 + 1);
    CHECK_EQ(sending.stats.to_groups, 4096u);
    CHECK_EQ(sending.stats.to_llc, 2u * 4096);
    CHECK_EQ(sending.stats.periods_groups, 1u);
    CHECK_EQ(sending.stats.periods_llc, 2u);
}

TEST("half the samples served in 30 cycles against 40 + 200: 135 < 200, so misses probe the groups") {
    struct dynamic_sending sending = make(4, 3);
    check_ways(&sending, "ssss");
    dynamic_sending_report(&sending, true, 20, 0);
    dynamic_sending_report(&sending, true, 40, 0);
    dynamic_sending_report(&sending, false, 30, 150);
    dynamic_sending_report(&sending, false, 50, 250); /* 0.5 * 30 + 0.5 * (40 + 200) = 135 */
    check_ways(&sending, "rrrssss");
}

TEST("a quarter served in 100 cycles against 60 + 180: 205 is not less than 180, so misses go to the LLC") {
    struct dynamic_sending sending = make(4, 3);
    check_ways(&sending, "ssss");
    dynamic_sending_report(&sending, true, 100, 0);
    for (unsigned i = 0; i < 3; i++)
        dynamic_sending_report(&sending, false, 60, 180); /* 0.25 * 100 + 0.75 * 240 = 205 */
    check_ways(&sending, "lllssss");
}

TEST("equal times select the LLC, one cycle less in one sample the groups") {
    for (unsigned less = 0; less < 2; less++) {
        struct dynamic_sending sending = make(2, 1);
        check_ways(&sending, "ss");
        dynamic_sending_report(&sending, true, 80 - less, 0);
        dynamic_sending_report(&sending, false, 20, 100); /* 0.5 * 80 + 0.5 * 120 = 100 */
        check_ways(&sending, less ? "r" : "l");
    }
}

TEST("until the last sample is answered misses probe the groups and count as executed") {
    struct dynamic_sending sending = make(2, 3);
    check_ways(&sending, "ssr");
    dynamic_sending_report(&sending, false, 20, 100);
    check_ways(&sending, "r");
    dynamic_sending_report(&sending, false, 20, 100);
    check_ways(&sending, "lss");
    check_ways(&sending, "rrrrr"); /* no new period before the answers */
    dynamic_sending_report(&sending, true, 20, 0);
    dynamic_sending_report(&sending, true, 20, 0);
    check_ways(&sending, "ss");
}

TEST("answers before the last sample is sent do not decide") {
    struct dynamic_sending sending = make(3, 1);
    check_ways(&sending, "s");
    dynamic_sending_report(&sending, false, 1, 1);
    check_ways(&sending, "s");
    dynamic_sending_report(&sending, true, 1, 0);
    check_ways(&sending, "s");
    dynamic_sending_report(&sending, true, 1, 0);
    check_ways(&sending, "ls"); /* (2 + 1 + 1) / 3 is more than 1 */
}

TEST("if every sample is served, or none is taken, misses probe the groups") {
    struct dynamic_sending sending = make(2, 2);
    check_ways(&sending, "ss");
    dynamic_sending_report(&sending, true, 1000, 0);
    dynamic_sending_report(&sending, true, 1000, 0);
    check_ways(&sending, "rr");
    sending = make(0, 5);
    check_ways(&sending, "rrrrrrrrrrrr");
}
