/* The GPU descriptions match the papers' tables, value by value, and are consistent machines. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "config/config.h"
#include "config/name.h"
#include "test.h"

#define GPUS    SLUICE_SOURCE_DIR "/gpus"
#define DESIGNS SLUICE_SOURCE_DIR "/designs"

/* A new configuration with a description applied; the test ends if that fails. */
static struct config *load(const char *path) {
    struct config *config = config_create(config_sections, config_section_count);
    struct error err = {0};
    if (!config_read_file(config, path, &err)) CHECK_EQ((const char *)err.text, "");
    REQUIRE(!err.set);
    return config;
}

static const char *value_of(const struct config *config, const char *key, struct config_entry *entry) {
    for (unsigned i = 0; i < config_entry_count(config); i++) {
        config_entry_at(config, i, entry);
        if (strcmp(entry->key, key) == 0) return entry->value;
    }
    return "no such key";
}

static double number_of(const struct config *config, const char *key) {
    struct config_entry entry;
    return strtod(value_of(config, key, &entry), NULL);
}

struct row {
    const char *key, *value;
};

/* Requires that every value is given in the file, even if it equals the default. */
static void check_rows(const struct config *config, const struct row *rows, unsigned count, int line) {
    struct test_place place = {__FILE__, line};
    for (unsigned i = 0; i < count; i++) {
        struct config_entry entry;
        value_of(config, rows[i].key, &entry);
        test_check_eq(place, rows[i].key, "the table", test_string(entry.value), test_string(rows[i].value));
        test_check_text(place, rows[i].key, entry.origin, ".yaml:");
        test_check(place, rows[i].key, entry.in_use);
    }
}
#define CHECK_ROWS(config, rows) check_rows(config, rows, COUNT_OF(rows), __LINE__)

static double dram_gb_per_second(const struct config *config, const char *kind) {
    char bytes[64], cycles[64];
    snprintf(bytes, sizeof bytes, "dram.%s.burst_bytes", kind);
    snprintf(cycles, sizeof cycles, "dram.%s.burst_cycles", kind);
    return number_of(config, "dram.mcs") * number_of(config, "dram.channels_per_mc") * number_of(config, bytes) /
           number_of(config, cycles) * number_of(config, "dram.clock_mhz") / 1000;
}

static double llc_kb(const struct config *config) {
    return number_of(config, "dram.mcs") * number_of(config, "llc.slices_per_mc") * number_of(config, "llc.slice_kb");
}

TEST("adaptive-80sm matches Table 1 of Adaptive Memory-Side Last-Level GPU Caching") {
    static const struct row rows[] = {
        {"sm.count", "80"},
        {"gpu.core_mhz", "1400"},
        {"sm.warp_size", "32"},
        {"sm.schedulers", "2"},
        {"sm.warp_scheduler", "gto"},
        {"sm.threads", "2048"},
        {"sm.registers", "65536"},
        {"sm.shared_kb", "64"},
        {"l1.size_kb", "48"},
        {"l1.ways", "6"},
        {"l1.replacement", "lru"},
        {"gpu.line_bytes", "128"},
        {"dram.mcs", "8"},
        {"llc.slices_per_mc", "8"},
        {"llc.slice_kb", "96"},
        {"llc.ways", "16"},
        {"llc.replacement", "lru"},
        {"llc.latency_cycles", "120"},
        {"noc.channel_bytes", "32"},
        {"noc.stages", "4"},
        {"noc.vcs", "1"},
        {"noc.vc_flits", "8"},
        {"noc.topology", "hierarchical"},
        {"dram.kind", "gddr5"},
        {"dram.gddr5.banks", "16"},
        {"dram.gddr5.tCL", "12"},
        {"dram.gddr5.tRP", "12"},
        {"dram.gddr5.tRC", "40"},
        {"dram.gddr5.tRAS", "28"},
        {"dram.gddr5.tRCD", "12"},
        {"dram.gddr5.tRRDS", "6"},
        {"dram.gddr5.tRRDL", "6"},
        {"dram.gddr5.tCCDS", "2"},
        {"dram.gddr5.tCCDL", "2"},
        {"dram.gddr5.tWR", "12"},
        /* section 5 */
        {"gpu.clusters", "8"},
        {"gpu.cta_scheduler", "two-level-rr"},
        {"dram.mapping", "pae"},
        {"llc.organisation", "shared"},
    };
    static const char *const names[] = {"adaptive-80sm", "adaptive-80sm-literal"};
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        char path[512];
        snprintf(path, sizeof path, GPUS "/%s.yaml", names[i]);
        struct config *config = load(path);
        CHECK_EQ(config_name(config), names[i]);
        CHECK_ROWS(config, rows);
        CHECK_EQ(llc_kb(config), 6.0 * 1024);
        CHECK_NEAR(dram_gb_per_second(config, "gddr5"), 900, 0.001);
        config_destroy(config);
    }
}

TEST("adaptive-80sm-literal differs from adaptive-80sm only in the internal speedup of its routers") {
    struct config *config = load(GPUS "/adaptive-80sm.yaml"), *literal = load(GPUS "/adaptive-80sm-literal.yaml");
    REQUIRE(config_entry_count(config) == config_entry_count(literal));
    unsigned different = 0;
    for (unsigned i = 0; i < config_entry_count(config); i++) {
        struct config_entry one, other;
        config_entry_at(config, i, &one);
        config_entry_at(literal, i, &other);
        if (strcmp(one.value, other.value) == 0) continue;
        CHECK_EQ((const char *)one.key, "noc.internal_speedup");
        CHECK_EQ((const char *)other.value, "1");
        different++;
    }
    CHECK_EQ(different, 1u);
    config_destroy(config);
    config_destroy(literal);
}

/* GPGPU-Sim 3.2.2's GTX480, to which the paper of icc-32sm refers. */
#define GTX480_322 \
    {"dram.mcs", "6"}, {"llc.slices_per_mc", "2"}, {"llc.mshrs", "32"}, {"llc.mshr_merges", "4"}, \
        {"llc.replay_queue", "0"}, {"llc.whole_write_backs", "true"}, {"l1.mshrs", "32"}, {"l1.mshr_merges", "8"}, \
        {"l1.miss_queue", "8"}, {"l1.flush_at_kernel_end", "false"}, {"sm.ctas", "8"}, {"sm.shared_kb", "48"}, \
        {"dram.read_queue", "16"}, {"dram.mapping", "linear"}, {"noc.topology", "full"}, {"noc.vcs", "1"}, \
        {"noc.vc_flits", "8"}, {"noc.lookahead", "true"}, {"noc.input_speedup", "2"}, {"noc.credit_cycles", "0"}, \
        {"noc.internal_speedup", "1"}, { \
        "noc.clock_mhz", "0" \
    }

TEST("icc-32sm matches Table I of GPU Performance Optimization via Inter-group Cache Cooperation") {
    static const struct row rows[] = {
        {"gpu.core_mhz", "1400"},
        {"sm.count", "32"},
        {"sm.warp_size", "32"},
        {"sm.threads", "1536"},
        {"sm.registers", "32768"},
        {"sm.warps", "48"},
        {"l1.size_kb", "16"},
        {"l1.ways", "4"},
        {"l1.sets", "32"},
        {"gpu.line_bytes", "128"},
        {"llc.ways", "8"},
        {"llc.sets", "64"},
        {"dram.clock_mhz", "924"},
        {"dram.gddr5.banks", "16"},
        {"dram.gddr5.bank_groups", "4"},
        GTX480_322,
    };
    struct config *config = load(GPUS "/icc-32sm.yaml");
    CHECK_EQ(config_name(config), "icc-32sm");
    CHECK_ROWS(config, rows);
    CHECK_EQ(llc_kb(config), 768.0);
    CHECK_NEAR(dram_gb_per_second(config, "gddr5"), 177.4, 0.001);
    config_destroy(config);
}

TEST("selrep-64sm matches Table I of Selective Replication in Memory-Side GPU Caches") {
    static const struct row rows[] = {
        {"sm.count", "64"},
        {"gpu.core_mhz", "1400"},
        {"sm.schedulers", "2"},
        {"sm.warp_scheduler", "gto"},
        {"sm.threads", "2048"},
        {"sm.registers", "65536"},
        {"sm.shared_kb", "64"},
        {"l1.size_kb", "48"},
        {"l1.ways", "6"},
        {"l1.replacement", "lru"},
        {"gpu.line_bytes", "128"},
        {"llc.ways", "16"},
        {"llc.latency_cycles", "120"},
        {"llc.slices_per_mc", "16"},
        {"noc.topology", "hierarchical"},
        {"noc.channel_bytes", "32"},
        {"gpu.clusters", "16"},
        {"noc.vcs", "4"},
        {"noc.vc_flits", "8"},
        {"noc.stages", "4"},
        {"dram.kind", "hbm"},
        {"dram.mcs", "4"},
        {"dram.channels_per_mc", "8"},
        {"dram.hbm.banks", "16"},
        {"dram.hbm.tRC", "24"},
        {"dram.hbm.tRCD", "7"},
        {"dram.hbm.tRP", "7"},
        {"dram.hbm.tCL", "7"},
        {"dram.hbm.tWL", "2"},
        {"dram.hbm.tRAS", "17"},
        {"dram.hbm.tRRDL", "5"},
        {"dram.hbm.tRRDS", "4"},
        {"dram.hbm.tFAW", "20"},
        {"dram.hbm.tRTP", "7"},
        {"dram.hbm.tCCDL", "1"},
        {"dram.hbm.tCCDS", "1"},
        /* section IV */
        {"gpu.cta_scheduler", "two-level-rr"},
        {"dram.mapping", "pae"},
    };
    struct config *config = load(GPUS "/selrep-64sm.yaml");
    CHECK_EQ(config_name(config), "selrep-64sm");
    CHECK_ROWS(config, rows);
    CHECK_EQ(llc_kb(config), 4.0 * 1024);
    CHECK_EQ(number_of(config, "dram.mcs") * number_of(config, "llc.slices_per_mc"), 64.0);
    CHECK_NEAR(dram_gb_per_second(config, "hbm"), 600, 0.001);
    config_destroy(config);
}

TEST("fermi-15sm matches Table 2 of Locality-Driven Dynamic GPU Cache Bypassing") {
    static const struct row rows[] = {
        {"sm.count", "15"},
        {"sm.warp_size", "32"},
        {"gpu.core_mhz", "1400"},
        {"sm.threads", "1536"},
        {"sm.registers", "32768"},
        {"sm.warps", "48"},
        {"l1.mshrs", "32"},
        {"l1.mshr_merges", "8"},
        {"l1.size_kb", "16"},
        {"gpu.line_bytes", "128"},
        {"l1.ways", "4"},
        {"l1.latency_cycles", "1"},
        {"sm.shared_kb", "48"},
        {"sm.shared_banks", "32"},
        {"sm.shared_latency_cycles", "3"},
        {"llc.slice_kb", "128"},
        {"llc.slices_per_mc", "1"},
        {"llc.ways", "16"},
        {"dram.mcs", "6"},
        {"dram.channels_per_mc", "1"},
        {"dram.clock_mhz", "1400"},
        {"dram.read_queue", "16"},
        {"sm.warp_scheduler", "gto"},
    };
    struct config *config = load(GPUS "/fermi-15sm.yaml");
    CHECK_EQ(config_name(config), "fermi-15sm");
    CHECK_ROWS(config, rows);
    CHECK_EQ(number_of(config, "l1.mshrs") * number_of(config, "l1.mshr_merges"), 256.0);
    CHECK_EQ(llc_kb(config), 768.0);
    CHECK_NEAR(dram_gb_per_second(config, "gddr5"), 48 * 1.4, 1e-9);
    config_destroy(config);
}

TEST("icc-32sm-700 is icc-32sm at the clock of GPGPU-Sim 3.2.2's GTX 480") {
    static const struct row rows[] = {{"gpu.core_mhz", "700"}, GTX480_322};
    struct config *config = load(GPUS "/icc-32sm-700.yaml"), *table = load(GPUS "/icc-32sm.yaml");
    CHECK_EQ(config_name(config), "icc-32sm-700");
    CHECK_ROWS(config, rows);
    struct error err = {0};
    REQUIRE(config_set(table, "gpu.core_mhz=700", &err));
    char *texts[2];
    struct config *configs[] = {config, table};
    for (unsigned i = 0; i < 2; i++) {
        size_t size = 0;
        FILE *out = open_memstream(&texts[i], &size);
        config_write_yaml(configs[i], false, out);
        fclose(out);
    }
    CHECK_EQ(strstr(texts[0], "\ngpu:"), strstr(texts[1], "\ngpu:"));
    free(texts[0]), free(texts[1]);
    config_destroy(config);
    config_destroy(table);
}

TEST("gtx480-322 has the clocks, caches and memory of GPGPU-Sim 3.2.2's GTX 480") {
    static const struct row rows[] = {
        {"gpu.core_mhz", "700"},    {"gpu.cta_rotation_continues", "true"},
        {"sm.count", "15"},         {"sm.warps", "48"},
        {"sm.ctas", "8"},           {"l1.size_kb", "16"},
        {"l1.miss_queue", "8"},     {"l1.flush_at_kernel_end", "false"},
        {"llc.slices_per_mc", "2"}, {"llc.slice_kb", "64"},
        {"llc.ways", "8"},          {"llc.replay_queue", "0"},
        {"noc.clock_mhz", "0"},     {"dram.clock_mhz", "924"},
    };
    struct config *config = load(GPUS "/gtx480-322.yaml");
    CHECK_EQ(config_name(config), "gtx480-322");
    CHECK_ROWS(config, rows);
    CHECK_EQ(llc_kb(config), 768.0);
    CHECK_NEAR(dram_gb_per_second(config, "gddr5"), 64 / 2 * 0.924 * 6, 1e-9);
    config_destroy(config);
}

/* Calls `each` with every .yaml of a directory; returns their number. */
static unsigned each_file(const char *folder, void (*each)(const char *path, const char *context),
                          const char *context) {
    DIR *dir = opendir(folder);
    REQUIRE(dir);
    unsigned count = 0;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        if (!strstr(entry->d_name, ".yaml")) continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        each(path, context);
        count++;
    }
    closedir(dir);
    return count;
}

static void check_machine(struct config *config) {
    struct error err = {0};
    CHECK(config_check(config, &err));
    CHECK_EQ((const char *)err.text, "");
}

/* The name in a file is the name of the file. */
static void check_name(const struct config *config, const char *path) {
    char expected[256];
    snprintf(expected, sizeof expected, "/%s.yaml", config_name(config));
    CHECK_TEXT(path, expected);
    CHECK(*config_description(config) != '\0');
}

static void check_gpu(const char *path, const char *context) {
    (void)context;
    struct config *config = load(path), *again = config_create(config_sections, config_section_count);
    check_machine(config);
    check_name(config, path);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    REQUIRE(out);
    config_write_yaml(config, true, out);
    fclose(out);
    struct error err = {0};
    CHECK(config_read_text(again, "again.yaml", text, size, &err));
    CHECK_EQ((const char *)err.text, "");
    for (unsigned i = 0; i < config_entry_count(config); i++) {
        struct config_entry a, b;
        config_entry_at(config, i, &a);
        config_entry_at(again, i, &b);
        if (a.in_use) CHECK_EQ((const char *)a.value, (const char *)b.value);
    }
    free(text);
    config_destroy(config);
    config_destroy(again);
}

TEST("every GPU description passes its cross-checks and reads back from the output of show") {
    CHECK(each_file(GPUS, check_gpu, NULL) >= 4);
}

/* Why the design does not fit the machine, NULL if it does. A private LLC needs one slice per controller for each
 * cluster; replication splits slices and clusters into one group per replica; the groups of cooperating L1s are
 * clusters; near copies need two partitions. */
static const char *misfit_of(const char *file, const struct config *config) {
    unsigned clusters = (unsigned)number_of(config, "gpu.clusters"),
             slices = (unsigned)number_of(config, "llc.slices_per_mc"), copies = 1;
    bool private = strncmp(file, "/private", 8) == 0 || strncmp(file, "/adaptive", 9) == 0;
    struct config_entry entry;
    bool unified = strcmp(value_of(config, "sm.carve_outs", &entry), "[]") != 0; /* L1s of variable size */
    bool grouped = strcmp(value_of(config, "l1.organisation", &entry), "private") != 0;
    bool inserting = strcmp(value_of(config, "l1.insertion", &entry), "always") != 0;
    if (unified && grouped) return "l1.organisation: the L1s of";
    if (unified && inserting) return "l1.insertion: ";
    bool replicating = sscanf(file, "/static-%u", &copies) == 1 || strncmp(file, "/selrep", 7) == 0 ||
                       strncmp(file, "/look-ahead", 11) == 0;
    if (strncmp(file, "/icc", 4) == 0 && (clusters < 2 || clusters > 64))
        return ".yaml:5:17: l1.organisation: cooperation needs 2 to 64 groups";
    if (strncmp(file, "/partitioned", 12) == 0 && number_of(config, "llc.partitions") != 2)
        return ".yaml:5:17: llc.organisation: partitioned needs an LLC of two partitions";
    if (private && clusters != slices) return ".yaml:5:17: llc.organisation: a private LLC needs one slice per cluster";
    if (replicating && (clusters & (clusters - 1) || slices & (slices - 1))) return "must be a power of two";
    return replicating && (copies > clusters || copies > slices) ? "the replication degree is 1, 2, 4" : NULL;
}

static void check_design_on(const char *path, const char *gpu) {
    struct config *config = load(gpu);
    struct error err = {0};
    CHECK(config_read_file(config, path, &err));
    CHECK_EQ((const char *)err.text, "");
    const char *misfit = misfit_of(strrchr(path, '/'), config);
    if (!misfit) {
        check_machine(config);
    } else {
        CHECK(!config_check(config, &err));
        CHECK_TEXT(err.text, misfit);
    }
    config_destroy(config);
    config = load(path);
    check_name(config, path);
    config_destroy(config);
}

static void check_designs_on(const char *gpu, const char *context) {
    (void)context;
    CHECK(each_file(DESIGNS, check_design_on, gpu) >= 4);
}

TEST("every design fits every GPU, or is rejected at its choice with the reason") {
    each_file(GPUS, check_designs_on, NULL);
}

TEST("an inconsistent machine is rejected with the setting at fault") {
    static const struct {
        const char *setting, *message;
    } wrong[] = {
        {"sm.count=0", "--set sm.count=0: sm.count = 0 is out of range"},
        {"l1.size_kb=47", "--set l1.size_kb=47: l1.size_kb: "},
        {"sm.ctas=64", NULL},
        {"sm.warps=16", ": sm."},
    };
    for (unsigned i = 0; i < COUNT_OF(wrong); i++) {
        struct config *config = load(GPUS "/adaptive-80sm.yaml");
        struct error err = {0};
        bool taken = config_set(config, wrong[i].setting, &err) && config_check(config, &err);
        CHECK_EQ(taken, wrong[i].message == NULL);
        if (wrong[i].message) CHECK_TEXT(err.text, wrong[i].message);
        config_destroy(config);
    }
}
