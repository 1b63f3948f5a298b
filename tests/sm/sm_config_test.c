#include "test.h"

#include "sim/gpu_config.h"
#include "sm/sm_fixture.h"

/* A machine on which nothing limits unless a case says so: a CTA of 4 warps, 16 registers and 1000 bytes. */
static struct kernel plain_kernel(void) {
    return (struct kernel){
        .name = "plain", .grid = {100000, 1, 1}, .block = {128, 1, 1}, .registers = 16, .shared_bytes = 1000};
}

TEST("warps, threads, registers, shared memory and CTA slots limit the CTAs of an SM") {
    static const struct {
        const char *setting;
        unsigned fit;
    } cases[] = {
        {"sm.warps=64", 16},                                  /* 64 warps / 4, which is the tightest by default */
        {"sm.threads=896", 7},                                /* 896 / 128 */
        {"sm.threads=895", 6},     {"sm.registers=10240", 5}, /* 10240 / (128 × 16) */
        {"sm.registers=10239", 4}, {"sm.shared_kb=3", 3},     /* 3072 / 1000 */
        {"sm.ctas=2", 2},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct config *config = config_with(SETTINGS(cases[i].setting));
        struct kernel kernel = plain_kernel();
        struct error err = {0};
        CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), cases[i].fit);
        CHECK(!err.set);
        config_destroy(config);
    }
}

TEST("partial warps count as whole ones, and registers are allocated in units") {
    struct config *config = config_with(
        SETTINGS("sm.warps=10", "sm.threads=320", "sm.ctas=10", "sm.registers=32768", "sm.register_unit=8"));
    struct error err = {0};
    struct kernel kernel = plain_kernel();
    kernel.block[0] = 33; /* two warps, 64 threads */
    CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), 5u);
    kernel.block[0] = 32;
    kernel.block[1] = 2;
    kernel.block[2] = 2; /* four warps */
    CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), 2u);
    config_destroy(config);
    config = config_with(SETTINGS("sm.registers=8192", "sm.register_unit=8"));
    kernel = plain_kernel();
    kernel.registers = 16;
    CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), 4u);
    kernel.registers = 17; /* 24 */
    CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), 2u);
    config_destroy(config);
}

TEST("a kernel without shared memory is not limited by it") {
    struct config *config = config_with(SETTINGS("sm.shared_kb=0"));
    struct error err = {0};
    struct kernel kernel = plain_kernel();
    kernel.shared_bytes = 0;
    CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), 16u);
    config_destroy(config);
}

TEST("a grid smaller than the machine is spread over all SMs: the grid divided by SMs, rounded up") {
    static const struct {
        unsigned ctas, fit;
    } cases[] = {{1, 1}, {80, 1}, {81, 2}, {160, 2}, {161, 3}, {80 * 16, 16}, {80 * 16 + 1, 16}};
    struct config *config = config_with(SETTINGS("sm.count=80"));
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct kernel kernel = plain_kernel();
        struct error err = {0};
        kernel.grid[0] = cases[i].ctas;
        CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), cases[i].fit);
    }
    config_destroy(config);
}

TEST("a CTA that does not fit is rejected with its need and the setting that is too small") {
    static const struct {
        const char *setting;
        const char *key, *what;
    } cases[] = {
        {"sm.warps=3", "sm.warps", "4 warps, an SM has 3"},
        {"sm.threads=127", "sm.threads", "128 threads, an SM has 127"},
        {"sm.registers=2047", "sm.registers", "2048 registers, an SM has 2047"},
        {"sm.shared_kb=0", "sm.shared_kb", "1000 bytes of shared memory, an SM has 0"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct config *config = config_with(SETTINGS(cases[i].setting));
        struct kernel kernel = plain_kernel();
        struct error err = {0};
        CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), 0u);
        CHECK_TEXT(err.text, "kernel 'plain'");
        CHECK_TEXT(err.text, cases[i].what);
        CHECK_TEXT(err.text, cases[i].key);
        config_destroy(config);
    }
}

TEST("a kernel without CTAs or without threads is rejected with a reason") {
    struct config *config = config_with(NO_SETTINGS);
    struct kernel kernel = plain_kernel();
    struct error err = {0};
    kernel.grid[1] = 0;
    CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), 0u);
    CHECK_TEXT(err.text, "'plain'");
    kernel = plain_kernel();
    kernel.block[2] = 0;
    err = (struct error){0};
    CHECK_EQ(sm_occupancy(config, gpu_sms(config), &kernel, &err), 0u);
    CHECK_TEXT(err.text, "'plain'");
    config_destroy(config);
}

TEST("an SM with more CTAs than warps, or more threads than its warps hold, is rejected") {
    struct config *config = config_with(SETTINGS("sm.warps=8", "sm.threads=256", "sm.ctas=9"));
    struct error err = {0};
    CHECK(!config_check(config, &err));
    CHECK_TEXT(err.text, "sm.ctas");
    config_destroy(config);
    config = config_with(SETTINGS("sm.warps=8", "sm.ctas=8", "sm.threads=257"));
    err = (struct error){0};
    CHECK(!config_check(config, &err));
    CHECK_TEXT(err.text, "sm.threads");
    config_destroy(config);
}

TEST("operations without a result have no timing parameter, and power-of-two sizes are checked") {
    static const struct {
        const char *setting, *message;
    } wrong[] = {
        {"sm.op_load=[1, 1]", "unknown key 'op_load'"},
        {"sm.op_exit=[1, 1]", "unknown key 'op_exit'"},
        {"sm.op_int_add=[0, 1]", "sm.op_int_add[0] = 0 is out of range"},
        {"sm.instruction_bytes=12", "the instruction size must be 4, 8 or 16 B"},
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct error err = {0};
        CHECK(!config_checked(NO_SETTINGS, SETTINGS(wrong[i].setting), &err));
        CHECK_TEXT(err.text, wrong[i].message);
    }
}

TEST("the geometry of each of the small caches is checked") {
    CHECK_REJECTED(config_with(SETTINGS("sm.instruction_kb=2", "sm.instruction_ways=3")), "sm.instruction_ways");
    CHECK_REJECTED(config_with(SETTINGS("sm.constant_kb=2", "sm.constant_ways=3")), "sm.constant_ways");
    CHECK_REJECTED(config_with(SETTINGS("sm.read_only_kb=2", "sm.read_only_ways=3")), "sm.read_only_ways");
}
