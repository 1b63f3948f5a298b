/* A chain of dependent loads measures what the description adds up to, to the cycle, at every level and on every
 * bundled GPU. */
#include "machine/runs.h"

#include "dram/dram.h"
#include "dram/dram_config.h"
#include "dram/zero_load.h"
#include "l1/l1.h"
#include "llc/llc.h"
#include "noc/noc.h"
#include "sim/gpu_config.h"
#include "sm/sm_config.h"

/* The latencies that a load's latency is the sum of, in core cycles. */
struct latencies {
    uint64_t operand, writeback; /* within the SM, before and after */
    uint64_t l1;
    uint64_t request, reply; /* networks, from the L1's push to the slice's sight of it, and back for a whole line */
    uint64_t llc;
};

static struct latencies latencies_of(const struct config *config) {
    const struct gpu_config *gpu = config_get(config, &gpu_section);
    const struct sm_config *sm = config_get(config, &sm_section);
    const struct l1_config *l1 = config_get(config, &l1_section);
    const struct llc_config *llc = config_get(config, &llc_section);
    const struct noc_config *noc = config_get(config, &noc_section);
    const struct dram_config *dram = config_get(config, &dram_section);
    struct network_shape shape = {(unsigned)sm->count, (unsigned)(llc->slices_per_mc * dram->mcs),
                                  (unsigned)gpu->clusters, (unsigned)dram->mcs};
    struct message read = {.kind = MESSAGE_READ, .sectors = 0x0F}, data = {.kind = MESSAGE_DATA, .sectors = 0x0F};
    uint64_t khz = gpu_core_khz(config);
    unsigned width = (unsigned)noc->channel_bytes;
    CHECK_EQ(message_bytes(&read), 8u);
    CHECK_EQ(message_bytes(&data), 136u);
    return (struct latencies){
        .operand = (uint64_t)sm->operand_cycles,
        .writeback = (uint64_t)sm->writeback_cycles,
        .l1 = (uint64_t)l1->latency_cycles,
        .request = network_unloaded_cycles(config, &shape, khz, message_flits(&read, width)),
        .reply = network_unloaded_cycles(config, &shape, khz, message_flits(&data, width)),
        .llc = (uint64_t)llc->latency_cycles,
    };
}

static uint64_t l1_hit(const struct latencies *latencies) {
    return latencies->operand + latencies->l1 + latencies->writeback;
}
static uint64_t llc_hit(const struct latencies *latencies) {
    return latencies->operand + latencies->request + latencies->llc + latencies->reply + latencies->writeback;
}
/* For a load that issues in cycle `now` and finds its bank closed. */
static uint64_t dram_access(const struct config *config, const struct latencies *latencies, uint64_t now) {
    uint64_t lookup = now + latencies->operand + latencies->request + latencies->llc;
    return llc_hit(latencies) + dram_zero_load_cycles(config, lookup);
}

TEST("a chain within the L1 measures operand, L1 and writeback cycles") {
    for (unsigned g = 0; g < RUN_GPUS; g++) {
        struct run *run =
            run_make(run_gpus[g], "synth:chase",
                     SETTINGS("workload.footprint_kb=4", "workload.stride_bytes=128", "workload.iterations=532"));
        struct latencies latencies = latencies_of(run->config);
        run_go(run, (struct run_options){0});
        CHECK_EQ(run_count(run, "l1.read_misses"), 32u);
        CHECK_EQ(run_count(run, "l1.read_hits"), 500u);
        CHECK_EQ(run_count(run, "sm.load_cycles_min"), l1_hit(&latencies));
        run_destroy(run);
    }
}

/* The cycles of all loads of a chain. */
static uint64_t chase_cycles(const char *gpu, const char *footprint, const char *iterations) {
    struct run *run = run_make(gpu, "synth:chase", SETTINGS(footprint, "workload.stride_bytes=128", iterations));
    run_go(run, (struct run_options){0});
    uint64_t cycles = run_count(run, "sm.load_cycles");
    run_destroy(run);
    return cycles;
}

TEST("every load of a second pass through the L1 takes exactly the hit latency") {
    for (unsigned g = 0; g < RUN_GPUS; g++) {
        struct config *config = run_config(run_gpus[g], NO_SETTINGS);
        struct latencies latencies = latencies_of(config);
        uint64_t one = chase_cycles(run_gpus[g], "workload.footprint_kb=4", "workload.iterations=32");
        uint64_t ten = chase_cycles(run_gpus[g], "workload.footprint_kb=4", "workload.iterations=320");
        CHECK_EQ(ten - one, 288 * l1_hit(&latencies));
        config_destroy(config);
    }
}

TEST("a chain that fits in the LLC but not in the L1 measures the path to the LLC and back") {
    for (unsigned g = 0; g < RUN_GPUS; g++) { /* 64 KB in the order of their use, through 48 KB or 16 KB of L1 */
        struct run *run =
            run_make(run_gpus[g], "synth:chase",
                     SETTINGS("workload.footprint_kb=64", "workload.stride_bytes=128", "workload.iterations=1024"));
        struct latencies latencies = latencies_of(run->config);
        run_go(run, (struct run_options){0});
        CHECK_EQ(run_count(run, "l1.read_hits"), 0u);
        CHECK_EQ(run_count(run, "llc.read_hits"), 512u);
        CHECK_EQ(run_count(run, "sm.load_cycles_min"), llc_hit(&latencies));
        run_destroy(run);
        uint64_t one = chase_cycles(run_gpus[g], "workload.footprint_kb=64", "workload.iterations=512");
        uint64_t two = chase_cycles(run_gpus[g], "workload.footprint_kb=64", "workload.iterations=1024");
        CHECK_EQ(two - one, 512 * llc_hit(&latencies));
    }
}

TEST("a load from a closed bank measures the path to memory, its latency in that cycle and the path back") {
    for (unsigned g = 0; g < RUN_GPUS; g++) {
        struct run *run =
            run_make(run_gpus[g], "synth:chase", SETTINGS("workload.iterations=1", "sm.instruction_kb=0"));
        struct latencies latencies = latencies_of(run->config);
        run_go(run, (struct run_options){0});
        CHECK_EQ(run_count(run, "dram.row_misses"), run_count(run, "dram.activates")); /* one bank, that was closed */
        CHECK_EQ(run_count(run, "dram.activates"), 1u);
        /* The command to run the CTA is sent in cycle 0 and reaches the SM in cycle 1. */
        CHECK_EQ(run_count(run, "sm.load_cycles_min"), dram_access(run->config, &latencies, 1));
        CHECK_EQ(run_count(run, "sm.load_cycles_max"), dram_access(run->config, &latencies, 1));
        run_destroy(run);
    }
}

/* The number of loads of synth:chase with this stride that find closed banks: those before the first that repeats a
 * bank. */
static unsigned closed_banks(const struct config *config, uint64_t stride) {
    struct error err = {0};
    struct address_map *map = address_map_create(config, &err);
    REQUIRE(map);
    struct location seen[64];
    unsigned count = 0;
    for (bool repeats = false; !repeats && count < 64;) {
        struct location here;
        address_map_locate(map, UINT64_C(0x10000000) + count * stride, &here);
        for (unsigned i = 0; i < count; i++)
            repeats =
                repeats || (seen[i].mc == here.mc && seen[i].channel == here.channel && seen[i].bank == here.bank);
        if (!repeats) seen[count++] = here;
    }
    address_map_destroy(map);
    return count;
}

TEST("each of several dependent loads from closed banks has the latency of its clock phase") {
    for (unsigned g = 0; g < RUN_GPUS; g++) {
        struct config *config = run_config(run_gpus[g], NO_SETTINGS);
        struct latencies latencies = latencies_of(config);
        uint64_t stride = 128, best = 128;
        unsigned loads = 0;
        for (; stride < 32768; stride += 128)
            if (closed_banks(config, stride) > loads) loads = closed_banks(config, best = stride);
        CHECK(loads >= 6);
        char stride_setting[48], iterations[48];
        snprintf(stride_setting, sizeof stride_setting, "workload.stride_bytes=%llu", (unsigned long long)best);
        snprintf(iterations, sizeof iterations, "workload.iterations=%u", loads);
        struct run *run =
            run_make(run_gpus[g], "synth:chase", SETTINGS(stride_setting, iterations, "sm.instruction_kb=0"));
        run_go(run, (struct run_options){0});
        uint64_t now = 1, sum = 0;
        for (unsigned i = 0; i < loads; i++) {
            uint64_t takes = dram_access(config, &latencies, now);
            sum += takes;
            now += takes; /* the next needs its value */
        }
        CHECK_EQ(run_count(run, "dram.activates"), loads);
        CHECK_EQ(run_count(run, "sm.load_cycles"), sum);
        run_destroy(run);
        config_destroy(config);
    }
}
