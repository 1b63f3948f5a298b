/* Storage and area of the papers' mechanisms, against what the papers state. */
#include "energy/overhead.h"
#include "machine/runs.h"

static struct overhead overhead_with(const char *gpu, const char *const *settings) {
    struct config *config = run_config(gpu, settings);
    struct error err = {0};
    struct energy_model *model = energy_open(config, &err);
    CHECK_EQ((const char *)err.text, "");
    REQUIRE(model);
    struct overhead overhead;
    overhead_of(config, model, &overhead);
    free(model);
    config_destroy(config);
    return overhead;
}

static double section_bytes(const struct overhead *overhead, const char *section) {
    double bytes = 0;
    for (unsigned i = 0; i < overhead->rows; i++)
        if (strcmp(overhead->row[i].section, section) == 0) bytes += overhead->row[i].bytes;
    return bytes;
}

TEST("the baseline machine has no overhead") {
    for (unsigned i = 0; i < RUN_GPUS; i++) {
        struct overhead overhead = overhead_with(run_gpus[i], NO_SETTINGS);
        CHECK_EQ(overhead.rows, 0u);
        CHECK_EQ(overhead.bytes, 0.0);
        CHECK_EQ(overhead.die_share, 0.0);
    }
}

TEST("the adaptive LLC adds 432 + 16 bytes (ISCA 2019, section 5), and counters of shared slices") {
    struct overhead overhead = overhead_with("adaptive-80sm", SETTINGS("llc.organisation=adaptive"));
    CHECK_EQ(section_bytes(&overhead, "llc.adaptive"), 448.0 + 128);
    REQUIRE(overhead.rows == 4);
    CHECK_EQ(overhead.row[1].bytes, 432.0);
    CHECK_EQ(overhead.row[2].bytes, 16.0);
    CHECK_EQ(overhead.row[3].bytes, 64 * 16 / 8.0);
    /* Counted at all SM-routers, a private LLC has as many slices as a shared one. */
    overhead = overhead_with("adaptive-80sm", SETTINGS("llc.organisation=adaptive", "llc.adaptive.all_routers=true"));
    CHECK_EQ(overhead.row[2].bytes, 64 * 16 / 8.0);
}

TEST("selective replication adds 200 bytes of directory by Figure 10 and 172 bytes of counters (section III-D)") {
    struct overhead overhead = overhead_with("selrep-64sm", SETTINGS("llc.organisation=selrep"));
    REQUIRE(overhead.rows == 5);
    CHECK_EQ(overhead.row[1].bytes, 32 * (16 + 4) / 8.0);
    CHECK_EQ(overhead.row[2].bytes, 32 * (2 + 4 + 8 + 16) / 8.0);
    CHECK_EQ(overhead.row[3].bytes + overhead.row[4].bytes, 172.0);
    CHECK_EQ(section_bytes(&overhead, "llc.selrep"), 372.0);
}

TEST("a directory per degree takes 360 bytes: 32 tags for each degree, and the LRU ranks of 16, 8, 4, 2, 1 ways") {
    struct overhead overhead =
        overhead_with("selrep-64sm", SETTINGS("llc.organisation=selrep", "llc.selrep.directories=each"));
    REQUIRE(overhead.rows == 4);
    CHECK_EQ(overhead.row[1].bytes, 32 * (5 * 16 + 4 + 3 + 2 + 1) / 8.0);
    CHECK_EQ(overhead.row[2].bytes + overhead.row[3].bytes, 172.0);
}

TEST("the directories of a slice take 400 bytes: 32 tags with LRU rank for each degree, and accesses for each degree") {
    struct overhead overhead =
        overhead_with("selrep-64sm", SETTINGS("llc.organisation=selrep", "llc.selrep.directories=slice"));
    REQUIRE(overhead.rows == 4);
    CHECK_EQ(overhead.row[1].bytes, 5 * 32 * (16 + 4) / 8.0);
    CHECK_EQ(overhead.row[2].bytes + overhead.row[3].bytes, 172.0 + 4 * 2);
}

TEST("tags for lines of other slices add less than 0.4 % to the LLC (Selective Replication, section IV-D)") {
    struct overhead overhead = overhead_with("selrep-64sm", SETTINGS("llc.organisation=private"));
    REQUIRE(overhead.rows > 0);
    CHECK_EQ(overhead.row[0].item.bits, 4u);
    CHECK(overhead.llc_tag_bytes > 0 && overhead.llc_tag_bytes < 0.004 * overhead.llc_bytes);
}

TEST("crossbars of slices and channels take about 1.01 mm2 and their links 0.42, about 0.2 % of the chip") {
    struct overhead overhead = overhead_with("selrep-64sm", SETTINGS("llc.organisation=private"));
    CHECK_NEAR(overhead.crossbar_mm2, 1.01, 0.15);
    CHECK_NEAR(overhead.link_mm2, 0.42, 0.15);
    CHECK_NEAR(overhead.die_share, 0.002, 0.25);
}

TEST("crossbars of 8 slices and 8 channels at 8 controllers take about 0.14 % of the chip (ISCA 2019, section 4.1)") {
    struct overhead overhead = overhead_with(
        "adaptive-80sm", SETTINGS("llc.organisation=private", "dram.channels_per_mc=8", "dram.pae.masks=[]"));
    CHECK_NEAR(overhead.crossbar_mm2 / 610, 0.0014, 0.2);
}

TEST("a decoupled L1D stores twice the tags, with six bits of count and two of position each (ICS 2015, section 6.5)") {
    struct overhead overhead =
        overhead_with("fermi-15sm", SETTINGS("l1.insertion=decoupled", "energy.array=array-45nm"));
    REQUIRE(overhead.rows == 4);
    CHECK_EQ(overhead.row[0].item.entries, 128u);
    CHECK_EQ(overhead.row[1].item.entries, 256u);
    CHECK_EQ(overhead.row[1].item.bits, 6u);
    CHECK_EQ(overhead.row[2].item.bits, 2u);
    CHECK_EQ(overhead.row[3].bytes, 15 * 8.0);
    CHECK_EQ(overhead.bytes, 15 * (128 * 20 + 256 * 8 + 32 * 2) / 8.0);
    CHECK(overhead.die_share > 0 && overhead.die_share < 0.0002);
}

TEST("a cooperating node has queues of 1360 bytes, and with adjacent groups a directory of 368 (ICC, section III-E)") {
    struct overhead ring = overhead_with("icc-32sm", SETTINGS("l1.organisation=icc-mgc")),
                    adjacent = overhead_with("icc-32sm", SETTINGS("l1.organisation=icc-agc")),
                    apart = overhead_with("icc-32sm", SETTINGS("l1.organisation=clustered"));
    /* Two queues of 5 entries of 8 bytes and two of 128; the paper's total, 1288, is 72 bytes less. */
    CHECK_EQ(section_bytes(&ring, "l1.icc-mgc"), 32 * 1360.0);
    CHECK_EQ(section_bytes(&adjacent, "l1.icc-agc"), 32 * (1360.0 + 368.0));
    CHECK_EQ(apart.bytes, 0.0);
}

TEST("twice the sampled sets take twice the storage, and more area and leakage") {
    struct overhead small = overhead_with("adaptive-80sm", SETTINGS("llc.organisation=adaptive"));
    struct overhead large =
        overhead_with("adaptive-80sm", SETTINGS("llc.organisation=adaptive", "llc.adaptive.sets=16"));
    CHECK_EQ(large.row[1].bytes, 2 * small.row[1].bytes);
    CHECK(large.mm2 > small.mm2 && large.leak_mw > small.leak_mw);
}

TEST("an LLC for atomics is counted at every controller of a machine that needs one, and nowhere else") {
    struct overhead without = overhead_with("adaptive-80sm", SETTINGS("llc.organisation=adaptive")),
                    with = overhead_with("adaptive-80sm",
                                         SETTINGS("llc.organisation=adaptive", "llc.adaptive.atomics=true"));
    CHECK_EQ(section_bytes(&without, "atomics"), 0.0);
    /* 16 KB at each of 8 controllers; and of each of their 128 lines tag, state and what is modified. */
    double lines = section_bytes(&with, "atomics") / (8 * 128);
    CHECK(lines > 128 + 3 && lines < 128 + 5);
    CHECK_EQ(with.llc_tag_bytes, without.llc_tag_bytes);
    CHECK(with.mm2 > without.mm2);
}
