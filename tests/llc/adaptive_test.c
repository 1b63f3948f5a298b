/* The parts that an adaptive LLC decides by: directory, parallelism, rules. */
#include "base/random.h"
#include "claim.h"
#include "llc/adaptive.h"
#include "llc/atd.h"
#include "llc/lsp.h"

CLAIM("a line that a cluster has used would hit in its own slice, and not in another's") {
    struct atd atd;
    atd_init(&atd, 8, 48, 2, false);
    CHECK(!atd_access(&atd, 0, 100, 3)); /* nobody has it */
    CHECK(atd_access(&atd, 0, 100, 3));
    CHECK(!atd_access(&atd, 0, 100, 4)); /* a copy of its own would have to come */
    CHECK(atd_access(&atd, 0, 100, 4));
    CHECK(atd_access(&atd, 0, 100, 3));  /* and leaves the first where it is */
    CHECK(!atd_access(&atd, 6, 100, 3)); /* another set */
    atd_release(&atd);
}

CLAIM("a directory of last users sees a line that clusters take turns with as missing each time") {
    struct atd atd;
    atd_init(&atd, 8, 48, 2, true);
    atd_access(&atd, 0, 100, 3);
    CHECK(!atd_access(&atd, 0, 100, 4));
    CHECK(!atd_access(&atd, 0, 100, 3));
    CHECK(atd_access(&atd, 0, 100, 3));
    atd_release(&atd);
}

CLAIM("the least recently used tag of a set gives way, with all that it knew") {
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

CLAIM("eight sets of 48 are shadowed, evenly") {
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

/* Random accesses of eight clusters to `lines` lines over 48 sets. */
static double private_rate(unsigned sets, unsigned lines, uint64_t seed) {
    struct atd atd;
    uint64_t hits = 0, reads = 0, random = seed;
    atd_init(&atd, sets, 48, 16, false);
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t line = random_below(&random, lines), cluster = random_below(&random, 8);
        unsigned set = (unsigned)(line % 48);
        if (!atd_shadows(&atd, set)) continue;
        reads++;
        hits += atd_access(&atd, set, line, (unsigned)cluster);
    }
    atd_release(&atd);
    return (double)hits / (double)reads;
}

CLAIM("eight sampled sets tell the hit rate of all to within two points") {
    /* From much less than the slice holds to twice as much, as many lines in each set. */
    for (unsigned lines = 5 * 48; lines <= 33 * 48; lines += 4 * 48) {
        double error = private_rate(8, lines, lines) - private_rate(48, lines, lines);
        CHECK(error < 0.02 && error > -0.02);
    }
}

CLAIM("parallelism is 1 if one slice gets all, and the number of slices if all get as many") {
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

CLAIM("windows see what a long count evens out, and nothing outside of the phase counts") {
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

CLAIM("counters of 16 bits that fill up are halved, and their ratio stays") {
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

CLAIM("bandwidth is that of hits at the slices in use, and of misses at memory") {
    struct adaptive_profile p = profile(0.75, 0.5, 16, 64);
    CHECK_EQ(adaptive_bandwidth(&p, p.shared_hits, p.shared_lsp), 0.75 * 16 * 32 + 0.25 * 640); /* 544 */
    CHECK_EQ(adaptive_bandwidth(&p, p.private_hits, p.private_lsp), 0.5 * 64 * 32 + 0.5 * 640); /* 1344 */
}

CLAIM("rule 1 fires within two points of miss rate, and rule 2 where private supplies more, and neither beside that") {
    struct adaptive_profile like = profile(0.52, 0.5001, 64, 1), beside = profile(0.53, 0.5001, 64, 1),
                            more = profile(0.9, 0.6, 20, 32), less = profile(0.9, 0.6, 20, 16);
    CHECK_EQ((int)adaptive_rule(&like), (int)ADAPTIVE_RULE_1);
    CHECK_EQ((int)adaptive_rule(&beside), (int)ADAPTIVE_STAY);
    CHECK_EQ((int)adaptive_rule(&more), (int)ADAPTIVE_RULE_2); /* 640 against 870.4 */
    CHECK_EQ((int)adaptive_rule(&less), (int)ADAPTIVE_STAY);   /* against 563.2 */
}
