/* The parts that an adaptive LLC decides by: directory, parallelism, rules. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "llc/adaptive.h"
#include "llc/adaptive_oracle.h"
#include "llc/atd.h"
#include "llc/lsp.h"
#include "settings.h"
#include "test.h"

TEST("a line that a cluster has used hits in its own slice, and not in another's") {
    struct atd atd;
    atd_init(&atd, 8, 48, 2, false);
    CHECK(!atd_access(&atd, 0, 100, 3)); /* nobody has it */
    CHECK(atd_access(&atd, 0, 100, 3));
    CHECK(!atd_access(&atd, 0, 100, 4)); /* its own replica is not there yet */
    CHECK(atd_access(&atd, 0, 100, 4));
    CHECK(atd_access(&atd, 0, 100, 3));  /* and leaves the first where it is */
    CHECK(!atd_access(&atd, 6, 100, 3)); /* another set */
    atd_release(&atd);
}

TEST("a directory of last users counts a miss each time when clusters alternate on a line") {
    struct atd atd;
    atd_init(&atd, 8, 48, 2, true);
    atd_access(&atd, 0, 100, 3);
    CHECK(!atd_access(&atd, 0, 100, 4));
    CHECK(!atd_access(&atd, 0, 100, 3));
    CHECK(atd_access(&atd, 0, 100, 3));
    atd_release(&atd);
}

TEST("the least recently used tag of a set is evicted with all its state") {
    struct atd atd;
    atd_init(&atd, 1, 48, 2, false);
    atd_access(&atd, 0, 1, 0);
    atd_access(&atd, 0, 2, 0);
    CHECK(atd_access(&atd, 0, 1, 0));
    CHECK(!atd_access(&atd, 0, 3, 0)); /* in place of 2 */
    CHECK(atd_access(&atd, 0, 1, 0));
    CHECK(!atd_access(&atd, 0, 2, 0)); /* in place of 3 */
    CHECK(!atd_access(&atd, 0, 3, 0));
    atd_clear(&atd);
    CHECK(!atd_access(&atd, 0, 1, 0));
    atd_release(&atd);
}

TEST("eight of 48 sets are sampled, evenly spaced") {
    struct atd atd;
    unsigned shadowed = 0;
    atd_init(&atd, 8, 48, 16, false);
    for (unsigned set = 0; set < 48; set++) shadowed += atd_shadows(&atd, set);
    CHECK_EQ(shadowed, 8u);
    CHECK(atd_shadows(&atd, 0) && atd_shadows(&atd, 42) && !atd_shadows(&atd, 1) && !atd_shadows(&atd, 47));
    atd_release(&atd);
    atd_init(&atd, 8, 2, 16, false); /* fewer than were asked for */
    CHECK(atd_shadows(&atd, 0) && atd_shadows(&atd, 1));
    atd_release(&atd);
}

TEST("a number of sets that does not divide the slice's leaves the last sets unsampled") {
    static const unsigned cases[][2] = {{8, 50}, {8, 57}, {3, 8}, {5, 9}, {7, 48}, {64, 64}, {1, 7}}; /* of how many */
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct atd atd;
        unsigned sets = cases[i][0], slice_sets = cases[i][1], every = slice_sets / sets, shadowed = 0;
        atd_init(&atd, sets, slice_sets, 2, false);
        for (unsigned set = 0; set < slice_sets; set++) {
            if (!atd_shadows(&atd, set)) continue;
            CHECK_EQ(set, shadowed * every);
            shadowed++;
        }
        CHECK_EQ(shadowed, sets);
        atd_release(&atd);
    }
}

/* Accesses of eight clusters to `lines` lines over 48 sets, the lower lines more often if `skewed`. */
struct traffic {
    unsigned lines;
    bool skewed;
};

static uint64_t traffic_line(const struct traffic *traffic, uint64_t *random) {
    uint64_t line = random_below(random, traffic->lines);
    return traffic->skewed ? random_below(random, line + 1) : line;
}

/* The hit rate predicted by a directory of `sets` sets, minus that of the model of all sets. */
static double sampling_error(unsigned sets, const struct traffic *traffic) {
    struct atd atd;
    struct atd_oracle whole = atd_oracle_create(48, 48, 16, false);
    uint64_t hits = 0, reads = 0, whole_hits = 0, all = 200000, random = traffic->lines;
    atd_init(&atd, sets, 48, 16, false);
    for (unsigned i = 0; i < all; i++) {
        uint64_t line = traffic_line(traffic, &random);
        unsigned set = (unsigned)(line % 48), cluster = (unsigned)random_below(&random, 8);
        whole_hits += atd_oracle_access(&whole, set, line, cluster);
        if (!atd_shadows(&atd, set)) continue;
        reads++;
        hits += atd_access(&atd, set, line, cluster);
    }
    atd_release(&atd);
    free(whole.set);
    return (double)hits / (double)reads - (double)whole_hits / (double)all;
}

/* From much less than the slice holds to twice as much, as many lines in each set. */
TEST_LONG_SANITIZED(
    "a directory of all sets predicts the hits of the model, and eight sampled sets their rate to within two points") {
    for (unsigned lines = 5 * 48; lines <= 33 * 48; lines += 4 * 48)
        for (unsigned skewed = 0; skewed < 2; skewed++) {
            struct traffic traffic = {lines, skewed};
            CHECK_EQ(sampling_error(48, &traffic), 0.0);
            CHECK(fabs(sampling_error(8, &traffic)) < 0.02);
        }
}

TEST("slice parallelism is 1 if one slice gets all accesses, and the number of slices if all get equally many") {
    struct lsp lsp;
    lsp_init(&lsp, 8);
    lsp_begin(&lsp, 100, 1000, 0);
    for (unsigned i = 0; i < 50; i++) lsp_count(&lsp, 3, 100 + i);
    CHECK_EQ(lsp_end(&lsp), 1.0);
    lsp_begin(&lsp, 100, 1000, 0);
    for (unsigned i = 0; i < 80; i++) lsp_count(&lsp, i % 8, 100 + i);
    CHECK_EQ(lsp_end(&lsp), 8.0);
    lsp_begin(&lsp, 100, 1000, 0); /* 6 + 3 + 3, of which 6 at most */
    for (unsigned i = 0; i < 12; i++) lsp_count(&lsp, i < 6 ? 0 : i % 2 + 1, 100 + i);
    CHECK_EQ(lsp_end(&lsp), 2.0);
    lsp_release(&lsp);
}

TEST("windows capture imbalance that a long count averages out, and count only the profiling phase") {
    struct lsp lsp;
    lsp_init(&lsp, 4);
    for (unsigned window = 0; window < 2; window++) {
        lsp_begin(&lsp, 1000, 400, window ? 100 : 0);
        lsp_count(&lsp, 0, 999);
        for (unsigned i = 0; i < 400; i++) lsp_count(&lsp, i / 100, 1000 + i); /* one slice after the other */
        lsp_count(&lsp, 0, 1400);
        CHECK_EQ(lsp_end(&lsp), window ? 1.0 : 4.0);
    }
    lsp_begin(&lsp, 0, 1000, 100); /* windows without any access between */
    lsp_count(&lsp, 0, 5);
    lsp_count(&lsp, 1, 950);
    lsp_count(&lsp, 2, 951);
    CHECK_EQ(lsp_end(&lsp), 1.5);
    lsp_release(&lsp);
}

TEST("16-bit counters are halved when one is full, which keeps their ratio") {
    struct lsp lsp;
    lsp_init(&lsp, 2);
    lsp_begin(&lsp, 0, 1000000, 0);
    for (unsigned i = 0; i < 300000; i++) lsp_count(&lsp, i % 4 == 0, i);
    CHECK_NEAR(lsp_end(&lsp), 4.0 / 3, 0.01);
    lsp_release(&lsp);
}

/* 64 slices of 32 B and memory of 640 B per cycle. */
static struct adaptive_profile profile(double shared_hits, double private_hits, double shared_lsp, double private_lsp) {
    return (struct adaptive_profile){shared_hits, private_hits, shared_lsp, private_lsp, 32, 640, 0.02};
}

TEST("bandwidth is that of hits at the slices in use plus that of misses at memory") {
    struct adaptive_profile p = profile(0.75, 0.5, 16, 64);
    CHECK_EQ(adaptive_bandwidth(&p, p.shared_hits, p.shared_lsp), 0.75 * 16 * 32 + 0.25 * 640); /* 544 */
    CHECK_EQ(adaptive_bandwidth(&p, p.private_hits, p.private_lsp), 0.5 * 64 * 32 + 0.5 * 640); /* 1344 */
}

TEST("rule 1 applies within two points of miss rate, rule 2 if private supplies more, and otherwise neither") {
    struct adaptive_profile like = profile(0.52, 0.5001, 64, 1), beside = profile(0.53, 0.5001, 64, 1),
                            more = profile(0.9, 0.6, 20, 32), less = profile(0.9, 0.6, 20, 16);
    CHECK_EQ((int)adaptive_rule(&like), (int)ADAPTIVE_RULE_1);
    CHECK_EQ((int)adaptive_rule(&beside), (int)ADAPTIVE_STAY);
    CHECK_EQ((int)adaptive_rule(&more), (int)ADAPTIVE_RULE_2); /* 640 against 870.4 */
    CHECK_EQ((int)adaptive_rule(&less), (int)ADAPTIVE_STAY);   /* against 563.2 */
}

TEST("rule 1 does not fire where private hits exceed shared hits by more than two points") {
    struct adaptive_profile like = profile(0.5001, 0.52, 64, 1), beside = profile(0.5, 0.53, 64, 1),
                            more = profile(0.5, 0.53, 64, 64);
    CHECK_EQ((int)adaptive_rule(&like), (int)ADAPTIVE_RULE_1);
    CHECK_EQ((int)adaptive_rule(&beside), (int)ADAPTIVE_STAY);
    CHECK_EQ((int)adaptive_rule(&more), (int)ADAPTIVE_RULE_2);
}

TEST("rejects an epoch too short for a profile and its decision, and power gating without MC-routers") {
    static const char *const adaptive[] = {"llc.organisation=adaptive", "llc.adaptive.profile_cycles=1000",
                                           "llc.adaptive.report_cycles=16", NULL};
    static const struct {
        const char *settings[3], *error; /* NULL: accepted */
    } cases[] = {
        {{"llc.adaptive.epoch_cycles=1017"}, NULL},
        {{"llc.adaptive.epoch_cycles=1016"},
         "llc.adaptive.epoch_cycles: an epoch of 1016 cycles is too short for a profiling phase of 1000 cycles and 16"},
        {{"llc.adaptive.epoch_cycles=1"}, "llc.adaptive.epoch_cycles: an epoch of 1 cycles is too short"},
        {{"noc.topology=full"}, "llc.adaptive.power_gating (default true): there are no MC-routers to power off"},
        {{"noc.topology=full", "llc.adaptive.power_gating=false"}, NULL},
        {{"llc.slices_per_mc=4"}, "llc.organisation: a private LLC needs one slice per cluster"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct error err = {0};
        struct config *config = config_checked(adaptive, cases[i].settings, &err);
        CHECK_EQ(config != NULL, cases[i].error == NULL);
        CHECK_TEXT(err.text, cases[i].error ? cases[i].error : "");
        config_destroy(config);
    }
}
