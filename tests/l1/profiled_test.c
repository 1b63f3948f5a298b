/* Profiles: one run counts reads, another uses the counts. Two SMs read lines of a private and of a common page. */
#include "l1/l1_fixture.h"
#include "machine/runs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "l1/profile.h"
#include "sm/script.h"

enum { OWN = 0x10000, COMMON = 0x20000, OFTEN = 4, LINE = 128 };

/* One CTA on each of two SMs reads a private line OFTEN times, another one once, and a common line once. */
static struct run *run_with(struct step (*steps)[OFTEN + 2], struct script_source *source, const char *settings[2]) {
    for (unsigned cta = 0; cta < 2; cta++) {
        uint64_t own = OWN + 0x1000 * (uint64_t)cta;
        for (unsigned i = 0; i < OFTEN; i++) steps[cta][i] = load_line(1, own);
        steps[cta][OFTEN] = load_line(2, own + LINE);
        steps[cta][OFTEN + 1] = load_line(3, COMMON);
    }
    *source = script_make(2, 1, (struct script){steps[0], OFTEN + 2});
    script_add(source, (struct script){steps[1], OFTEN + 2});
    source->kernels = 2;
    struct run *run = run_of(NULL, &source->source,
                             SETTINGS("sm.count=2", "gpu.clusters=2", "gpu.cta_scheduler=rr", "sm.instruction_kb=0",
                                      "l1.insertion=profiled", settings[0], settings[1]));
    run_go(run, (struct run_options){0});
    return run;
}

/* Runs it and returns the number of reads that bypassed the L1. */
static uint64_t bypasses_with(const char *first, const char *second) {
    struct step steps[2][OFTEN + 2];
    struct script_source source;
    struct run *run = run_with(steps, &source, (const char *[2]){first, second});
    uint64_t bypasses = run_count(run, "l1.read_bypasses");
    run_destroy(run);
    return bypasses;
}

static const char *file_name(const char *key) {
    static char text[2][128];
    static unsigned next;
    char *name = text[next++ % 2];
    snprintf(name, sizeof text[0], "%s/tmp/sluice_profile_test.%d", key, (int)getpid());
    return name;
}

TEST("profiled: a run counts the reads of each line by each SM in each kernel") {
    const char *path = file_name("");
    CHECK_EQ(bypasses_with(file_name("l1.profiled.record="), "l1.profiled.threshold=16"), 0u); /* allocates all */
    struct error err = {0};
    struct profile *profile = profile_read(path, (struct profile_shape){2, LINE}, &err);
    CHECK_EQ((const char *)err.text, "");
    REQUIRE(profile);
    CHECK_EQ(profile->kernels, 2u);
    for (unsigned k = 0; k < 2; k++) {
        const struct profile_kernel *kernel = &profile->kernel[k];
        CHECK_EQ(profile_reads(&kernel->sm[0], OWN / LINE), OFTEN);
        CHECK_EQ(profile_reads(&kernel->sm[0], OWN / LINE + 1), 1u);
        CHECK_EQ(profile_reads(&kernel->sm[1], OWN / LINE), 0u);
        CHECK_EQ(profile_reads(&kernel->sm[1], (OWN + 0x1000) / LINE), OFTEN);
        CHECK_EQ(profile_reads(&kernel->sm[1], COMMON / LINE), 1u);
        CHECK_EQ(profile_reads(&kernel->whole, COMMON / LINE), 2u);
        CHECK_EQ(profile_reads(&kernel->whole, OWN / LINE), OFTEN);
        CHECK_EQ(kernel->whole.used, 5u);
    }
    profile_destroy(profile);
    unlink(path);
}

TEST("profiled: lines with enough reads, by one SM or by all together, are allocated") {
    char profile[128];
    snprintf(profile, sizeof profile, "%s", file_name("l1.profiled.profile="));
    bypasses_with(file_name("l1.profiled.record="), "l1.profiled.threshold=16");
    static const struct {
        const char *threshold;
        uint64_t bypasses; /* of a kernel and an SM */
    } cases[] = {
        {"l1.profiled.threshold=1", 0},         {"l1.profiled.threshold=2", 1}, /* the line that was read once */
        {"l1.profiled.threshold=3", 2},                                         /* and the one that each read once */
        {"l1.profiled.threshold=5", OFTEN + 2},                                 /* all */
        {"l1.profiled.global=false", 2}, /* to an SM alone, the common line was read once */
        {"l1.profiled.local=false", 1},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++)
        CHECK_EQ(bypasses_with(profile, cases[i].threshold), 4 * cases[i].bypasses);
    unlink(file_name(""));
}

TEST("profiled: an invalid profile is rejected with location and fix") {
    static const struct {
        const char *text, *place, *message;
    } cases[] = {
        {"", ":1:1:", "empty file"},
        {"hello\n", ":1:1:", "not a profile"},
        {"sluice profile 2\n", ":1:16:", "not a profile"},
        {"sluice profile 1\n", ":1:1:", "missing line 'sms N line_bytes N'"},
        {"sluice profile 1\nsms x\n", ":2:5:", "expected 'sms N line_bytes N'"},
        {"sluice profile 1\nsms 4 line_bytes 128\n", ":2:1:", "4 SMs"},
        {"sluice profile 1\nsms 2 line_bytes 64\n", ":2:1:", "record a new profile"},
        {"sluice profile 1\nsms 2 line_bytes 128\n1f 3\n", ":3:1:", "expected 'kernel N sm N'"},
        {"sluice profile 1\nsms 2 line_bytes 128\nkernel 0 sm 2\n",
         ":3:1:", "the SM number must be less than the number of SMs"},
        {"sluice profile 1\nsms 2 line_bytes 128\nkernel 999999999 sm 0\n",
         ":3:8:", "the kernel number must be less than 100000"},
        {"sluice profile 1\nsms 2 line_bytes 128\nkernel 0 sm 0\n1f 3\n-1 2\n", ":5:1:", "hexadecimal"},
        {"sluice profile 1\nsms 2 line_bytes 128\nkernel 0 sm 0\n1f 3 4\n", ":4:5:", "its number of reads"},
        {"sluice profile 1\nsms 2 line_bytes 128\nkernel 0 sm 0\n1f 99999999999999999999\n",
         ":4:4:", "its number of reads"},
        {"sluice profile 1\nsms 2 line_bytes 128\nkernel 0 sm 0\n1f 0\n",
         ":4:1:", "the number of reads must be at least 1"},
    };
    const char *path = file_name("");
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        FILE *out = fopen(path, "w");
        REQUIRE(out);
        fputs(cases[i].text, out);
        fclose(out);
        struct error err = {0};
        CHECK(!profile_read(path, (struct profile_shape){2, LINE}, &err));
        CHECK_TEXT(err.text, cases[i].place);
        CHECK_TEXT(err.text, cases[i].message);
    }
    unlink(path);
    struct error err = {0};
    CHECK(!profile_read("/nowhere/at/all", (struct profile_shape){2, LINE}, &err));
    CHECK_TEXT(err.text, "/nowhere/at/all: No such file");
}

TEST("profiled: the last line of a profile does not need a newline") {
    const char *path = file_name("");
    FILE *out = fopen(path, "w");
    REQUIRE(out);
    fputs("sluice profile 1\nsms 2 line_bytes 128\nkernel 0 sm 1\n1f 37", out);
    fclose(out);
    struct error err = {0};
    struct profile *profile = profile_read(path, (struct profile_shape){2, LINE}, &err);
    REQUIRE(profile);
    CHECK_EQ(profile_reads(&profile->kernel[0].sm[1], 0x1f), 37u);
    profile_destroy(profile);
    remove(path);
}

TEST("profiled: a profile that cannot be written is reported before the run") {
    CHECK_REJECTED(config_with(SETTINGS("l1.insertion=profiled", "l1.profiled.record=/no/such/directory/profile")),
                   "/no/such/directory");
}

TEST("profiled: a count allocates from the threshold on, by the enabled counts of the kernel that runs") {
    const char *path = file_name("");
    FILE *out = fopen(path, "w");
    REQUIRE(out);
    fputs("sluice profile 1\nsms 1 line_bytes 128\nkernel 1 sm 0\n20 2\n21 3\n22 4\n", out);
    fclose(out);
    for (unsigned local = 0; local < 2; local++) {
        struct l1_fixture *l1 = l1_fixture_create(
            SETTINGS("l1.insertion=profiled", file_name("l1.profiled.profile="), "l1.profiled.threshold=3",
                     local ? "l1.profiled.global=false" : "l1.profiled.local=false"));
        l1_begin(l1->l1, 0); /* not in the profile */
        REPLAY(l1, "b", 0x22 * 128);
        l1_begin(l1->l1, 1);
        REPLAY(l1, "bmmb", 0x20 * 128, 0x21 * 128, 0x22 * 128, 0x23 * 128);
        l1_begin(l1->l1, 2);
        REPLAY(l1, "hb", 0x22 * 128, 0x20 * 128);
        l1_fixture_destroy(l1);
    }
    remove(path);
}

TEST("profiled: the lines of a section are in ascending order") {
    struct line_map counts;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    line_map_init(&counts);
    for (uint64_t i = 0; i < 50; i++) profile_count(&counts, i * 37 % 50 << 8, i + 1);
    profile_write_section(out, 3, 1, &counts);
    fclose(out);
    const char *line = strchr(text, '\n');
    CHECK(strncmp(text, "kernel 3 sm 1\n", 14) == 0);
    for (uint64_t i = 0; i < 50; i++, line = strchr(line + 1, '\n')) {
        REQUIRE(line && line[1]);
        CHECK_EQ(strtoull(line + 1, NULL, 16), i << 8);
    }
    CHECK(line && !line[1]);
    line_map_release(&counts);
    free(text);
}
