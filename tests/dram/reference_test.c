/* The model against Ramulator and DRAMsim3, on those of the reference's traces that a formula describes; bench/dram
 * compares all of them. */
#include "../../bench/dram_replay.h"
#include "test.h"

enum { REQUESTS = 20000, ROWS_MAX = 1024 };

/* Request i of a trace in a memory whose rows have 64 columns, and four groups of four banks. */
static struct replay_access access_of(const char *trace, unsigned i) {
    if (strcmp(trace, "seq") == 0)
        return (struct replay_access){.column = i % 64, .group = i / 64 % 4, .bank = i / 256 % 4, .row = i / 1024};
    if (strcmp(trace, "rowconf_1bank") == 0) return (struct replay_access){.row = i};
    struct replay_access access = {.group = i % 4, .bank = i / 4 % 4};
    bool hits = strcmp(trace, "bankrr_hit") == 0;
    access.column = hits ? i / 16 % 64 : 0;
    access.row = hits ? i / 1024 : i / 16;
    return access;
}

static unsigned compare(const char *variant, const char *trace_name, const char *load) {
    static struct replay_reference rows[ROWS_MAX];
    unsigned count = replay_references(rows, ROWS_MAX), compared = 0;
    REQUIRE(count > 0);
    struct replay_trace trace = {0};
    for (unsigned i = 0; i < REQUESTS; i++) replay_add(&trace, access_of(trace_name, i));
    for (unsigned i = 0; i < count; i++) {
        const struct replay_reference *row = &rows[i];
        if (strcmp(row->variant, variant) != 0 || strcmp(row->trace, trace_name) != 0 || strcmp(row->load, load) != 0)
            continue;
        struct error err = {0};
        struct config *config = replay_config(variant, NULL, &err);
        REQUIRE(config != NULL);
        struct replay_result result = replay_run(config, &trace, strtod(load, NULL), row->cycles);
        CHECK_NEAR(result.bandwidth, row->bandwidth, 0.05);
        CHECK(replay_judge(row, &result).hits_hold);
        if (replay_judge(row, &result).below_saturation) CHECK_NEAR(result.latency, row->latency, 0.10);
        config_destroy(config);
        compared++;
    }
    free(trace.access);
    return compared;
}

TEST("without refresh, streams and bank rounds run as in Ramulator, on one command bus") {
    CHECK_EQ(compare("hbmp_norefresh", "seq", "0.7"), 1u);
    CHECK_EQ(compare("hbmp_norefresh", "seq", "sat"), 1u);
    CHECK_EQ(compare("hbmp_norefresh", "bankrr_hit", "0.9"), 1u);
    CHECK_EQ(compare("hbmp_norefresh", "bankrr_miss", "0.1"), 1u);
    CHECK_EQ(compare("hbmp_norefresh", "rowconf_1bank", "sat"), 1u);
    CHECK_EQ(compare("gddr5p_norefresh", "seq", "0.9"), 1u);
    CHECK_EQ(compare("gddr5p_norefresh", "bankrr_miss", "sat"), 1u);
}

TEST("with refresh and bank groups, streams and bank rounds run as in Ramulator") {
    CHECK_EQ(compare("hbmp", "seq", "0.5"), 1u);
    CHECK_EQ(compare("hbmp", "bankrr_hit", "0.7"), 1u);
    CHECK_EQ(compare("gddr5", "seq", "0.7"), 1u);
    CHECK_EQ(compare("gddr5", "seq", "sat"), 1u);
    CHECK_EQ(compare("gddr5", "bankrr_miss", "0.1"), 1u);
    CHECK_EQ(compare("gddr5p", "bankrr_hit", "0.5"), 1u);
}

TEST("with two command buses, streams and bank rounds run as in DRAMsim3") {
    CHECK_EQ(compare("hbmp_dramsim3", "seq", "0.7"), 1u);
    CHECK_EQ(compare("hbmp_dramsim3", "seq", "sat"), 1u);
    CHECK_EQ(compare("hbmp_dramsim3", "bankrr_hit", "0.9"), 1u);
    CHECK_EQ(compare("hbmp_dramsim3", "bankrr_miss", "sat"), 1u);
}
