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
    if (strcmp(trace, "one_group") == 0)
        return (struct replay_access){.column = i / 4 % 64, .bank = i % 4, .row = i / 256};
    struct replay_access access = {.group = i % 4, .bank = i / 4 % 4};
    bool hits = strcmp(trace, "bankrr_hit") == 0;
    access.column = hits ? i / 16 % 64 : 0;
    access.row = hits ? i / 1024 : i / 16;
    return access;
}

static struct replay_result replay(const char *variant, const char *const *extra, const char *trace_name,
                                   const char *load, uint64_t cycles) {
    struct replay_trace trace = {0};
    for (unsigned i = 0; i < REQUESTS; i++) replay_add(&trace, access_of(trace_name, i));
    struct error err = {0};
    struct config *config = replay_config(variant, extra, &err);
    REQUIRE(config != NULL);
    struct replay_result result = replay_run(config, &trace, strtod(load, NULL), cycles);
    config_destroy(config);
    free(trace.access);
    return result;
}

static struct replay_reference reference(const char *variant, const char *trace_name, const char *load) {
    static struct replay_reference rows[ROWS_MAX];
    unsigned count = replay_references(rows, ROWS_MAX);
    REQUIRE(count > 0);
    for (unsigned i = 0; i < count; i++)
        if (strcmp(rows[i].variant, variant) == 0 && strcmp(rows[i].trace, trace_name) == 0 &&
            strcmp(rows[i].load, load) == 0)
            return rows[i];
    REQUIRE(!"the reference has such a row");
    return rows[0];
}

static void compare(const char *variant, const char *trace_name, const char *load) {
    struct replay_reference row = reference(variant, trace_name, load);
    struct replay_result result = replay(variant, NULL, trace_name, load, row.cycles);
    CHECK_NEAR(result.bandwidth, row.bandwidth, 0.05);
    CHECK(replay_judge(&row, &result).hits_hold);
    if (replay_judge(&row, &result).below_saturation) CHECK_NEAR(result.latency, row.latency, 0.10);
}

TEST("without refresh, streams and bank sweeps run as in Ramulator, on one command bus") {
    compare("hbmp_norefresh", "seq", "0.7");
    compare("hbmp_norefresh", "seq", "sat");
    compare("hbmp_norefresh", "bankrr_hit", "0.9");
    compare("hbmp_norefresh", "bankrr_miss", "0.1");
    compare("hbmp_norefresh", "rowconf_1bank", "sat");
    compare("gddr5p_norefresh", "seq", "0.9");
    compare("gddr5p_norefresh", "bankrr_miss", "sat");
}

TEST("with refresh and bank groups, streams and bank sweeps run as in Ramulator") {
    compare("hbmp", "seq", "0.5");
    compare("hbmp", "bankrr_hit", "0.7");
    compare("gddr5", "seq", "0.7");
    compare("gddr5", "seq", "sat");
    compare("gddr5", "bankrr_miss", "0.1");
    compare("gddr5p", "bankrr_hit", "0.5");
}

TEST("with two command buses, streams and bank sweeps run as in DRAMsim3") {
    compare("hbmp_dramsim3", "seq", "0.7");
    compare("hbmp_dramsim3", "seq", "sat");
    compare("hbmp_dramsim3", "bankrr_hit", "0.9");
    compare("hbmp_dramsim3", "bankrr_miss", "sat");
}

/* Where FR-FCFS as it is here differs most from the tools: each is one rule, and with that rule the difference is gone. */

static void compare_closely(const char *variant, const char *trace_name, const char *load, const char *cap) {
    struct replay_reference row = reference(variant, trace_name, load);
    const char *const rule[] = {"dram.scheduler=oldest-ready", cap, NULL};
    struct replay_result result = replay(variant, rule, trace_name, load, row.cycles);
    CHECK_NEAR(result.bandwidth, row.bandwidth, 0.003);
    CHECK_NEAR(result.hit_rate, row.hit_rate, 0.001);
    CHECK_NEAR(result.latency, row.latency, 0.005);
}

TEST("with a precharge that overtakes row hits, bank sweeps near saturation match Ramulator to 0.3 %") {
    compare_closely("gddr5p_norefresh", "bankrr_hit", "sat", NULL);
    compare_closely("gddr5p", "bankrr_hit", "0.9", NULL);
    compare_closely("gddr5p", "bankrr_hit", "sat", NULL);
    compare_closely("gddr5", "bankrr_hit", "0.9", "dram.oldest-ready.cap=16");
    compare_closely("gddr5", "bankrr_hit", "sat", "dram.oldest-ready.cap=16");
}

TEST("as in DRAMsim3, serving four banks of one group in turn gives 5 % more bandwidth than serving by age") {
    const char *const turn[] = {"dram.scheduler=round-robin", NULL};
    CHECK_NEAR(replay("hbmp_dramsim3", NULL, "one_group", "sat", 15000).bandwidth, 0.870, 0.005);
    CHECK_NEAR(replay("hbmp_dramsim3", turn, "one_group", "sat", 15000).bandwidth, 0.928, 0.005);
}
