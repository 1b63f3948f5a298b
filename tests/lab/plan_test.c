/* The runs of an experiment. */
#include "lab/plan.h"

#include "base/no_memory.h"
#include "config/catalogue.h"
#include "lab/made_up.h"

static struct plan *plan_made_up(const struct experiment *experiment, const char *size) {
    struct error err = {0};
    struct plan *plan = plan_create(experiment, size, &err);
    if (!plan) fprintf(stderr, "%s\n", err.text);
    REQUIRE(plan);
    return plan;
}

static const char *setting_of(const struct planned_run *run, const char *key) {
    const char *value = NULL;
    for (unsigned i = 0; i < run->settings.count; i++)
        if (strcmp(run->settings.setting[i].key, key) == 0) value = run->settings.setting[i].value;
    return value;
}

TEST("a plan has one run per workload, point, design and candidate") {
    struct experiment *experiment =
        read_made_up(TITLE WORKLOADS METRICS "set: {l1.ways: 4, l1.sets: 0}\n"
                                             "sweep: {noc.channel_bytes: [16, 32]}\n"
                                             "designs:\n"
                                             "  shared: {design: shared}\n"
                                             "  searched: {design: private, best: {l1.ways: [2, 4, 8]}}\n");
    struct plan *plan = plan_made_up(experiment, NULL);
    CHECK_EQ(plan->count, 3u * 2 * (1 + 3));
    for (unsigned i = 0; i < plan->count; i++) {
        const struct planned_run *run = &plan->runs[i];
        CHECK_EQ(plan_find(plan, run->workload, run->design, run->point, run->seed, run->candidate), i);
        CHECK_EQ(strlen(run->identity), (size_t)IDENTITY_LENGTH);
        CHECK_EQ(setting_of(run, "noc.channel_bytes"), run->point ? "32" : "16");
        CHECK_EQ(run->candidate >= 0, run->design == 1);
    }
    const struct planned_run *run = &plan->runs[plan_find(plan, 1, 1, 1, 0, 2)];
    CHECK_EQ(run->job, "bs:tiny");
    CHECK_EQ(run->base, "private");
    CHECK_EQ(run->gpu, "adaptive-80sm");
    CHECK_EQ(setting_of(run, "l1.ways"), "8");
    CHECK_TEXT(plan->configuration, "organisation: shared");
    plan_free(plan);
    experiment_free(experiment);
}

TEST("a seed draws other addresses and start times; the first leaves the machine as described") {
    struct experiment *experiment = read_made_up(
                          TITLE "workloads: [va, mm]\nsweep: {noc.channel_bytes: [16, 32]}\n" DESIGNS METRICS
                                "seeds: 3\n"),
                      *plain = read_made_up(
                          TITLE "workloads: [va, mm]\nsweep: {noc.channel_bytes: [16, 32]}\n" DESIGNS METRICS);
    struct plan *plan = plan_made_up(experiment, NULL), *once = plan_made_up(plain, NULL);
    CHECK_EQ(plan->count, 2u * 2 * 2 * 3);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct planned_run *run = &plan->runs[i];
        CHECK_EQ(plan_find(plan, run->workload, run->design, run->point, run->seed, -1), i);
        if (run->seed == 0)
            CHECK_EQ(run->identity,
                     once->runs[plan_find(once, run->workload, run->design, run->point, 0, -1)].identity);
        else
            CHECK(strcmp(run->identity, plan->runs[i - 2].identity) != 0); /* the same cell, one seed before */
    }
    const struct planned_run *third = &plan->runs[plan_find(plan, 1, 1, 1, 2, -1)];
    CHECK_EQ(setting_of(third, "dram.pae.seed"), "3");
    CHECK_EQ(setting_of(third, "gpu.launch_cycles"), "62");
    plan_free(plan);
    plan_free(once);
    experiment_free(experiment);
    experiment_free(plain);
}

TEST("named seeds have their own settings, also for programs alone") {
    struct experiment *experiment =
        read_made_up(TITLE "workloads: [va + mm]\n" DESIGNS
                           "metrics: [{name: STP, value: 'total(program.thread_instructions / program.cycles /"
                           " alone.ipc)'}]\nseeds: {first: {}, late: {gpu.launch_cycles: 99}}\n");
    struct plan *plan = plan_made_up(experiment, "tiny");
    CHECK_EQ(plan->count, 2u * 2 + 2 * 2);
    int first = plan_find_alone(plan, 0, 0, 0, 1), late = plan_find_alone(plan, 0, 0, 1, 1);
    CHECK(first >= 0 && late >= 0 && first != late);
    CHECK_EQ(setting_of(&plan->runs[late], "gpu.launch_cycles"), "99");
    CHECK(setting_of(&plan->runs[first], "gpu.launch_cycles") == NULL);
    CHECK_EQ(plan->runs[first].job, "mm:tiny");
    plan_free(plan);
    experiment_free(experiment);
}

TEST("equal runs have equal identities, other runs have not") {
    struct experiment *experiment = read_made_up(TITLE "workloads: [va, bs]\n" METRICS "designs:\n"
                                                       "  shared: {design: shared}\n"
                                                       "  as-described: {}\n"
                                                       "  private: {design: private}\n"
                                                       "  private-set: {set: {llc.organisation: private}}\n");
    struct plan *plan = plan_made_up(experiment, NULL), *tiny = plan_made_up(experiment, "tiny");
    CHECK_EQ(plan->runs[0].identity, plan->runs[1].identity);
    CHECK_EQ(plan->runs[2].identity, plan->runs[3].identity);
    CHECK(strcmp(plan->runs[0].identity, plan->runs[2].identity) != 0);
    CHECK(strcmp(plan->runs[0].identity, plan->runs[4].identity) != 0);
    CHECK(strcmp(plan->runs[0].identity, tiny->runs[0].identity) != 0);
    CHECK_EQ(tiny->runs[0].job, "va:tiny");
    plan_free(plan);
    plan_free(tiny);
    experiment_free(experiment);
}

TEST("settings of a workload override the design and are overridden by the sweep") {
    struct experiment *experiment =
        read_made_up(TITLE METRICS "workloads: [va, {workload: mm, name: mm_0, set: {llc.ways: 8, l1.ways: 4}},\n"
                                   "            {workload: 'mm:tiny', name: mm_1}]\n"
                                   "set: {l1.sets: 0, llc.sets: 0}\n"
                                   "designs: {shared: {set: {llc.ways: 4}}}\n"
                                   "sweep: {l1.ways: [2]}\n");
    struct plan *plan = plan_made_up(experiment, NULL);
    REQUIRE(plan->count == 3);
    static const char *const expected[][2] = {{"va:small", "4"}, {"mm:small", "8"}, {"mm:tiny", "4"}};
    for (unsigned i = 0; i < plan->count; i++) {
        CHECK_EQ(plan->runs[i].job, expected[i][0]);
        CHECK_EQ(setting_of(&plan->runs[i], "llc.ways"), expected[i][1]);
        CHECK_EQ(setting_of(&plan->runs[i], "l1.ways"), "2");
    }
    CHECK_EQ(experiment->workloads[1].label, "mm_0");
    CHECK_EQ(experiment->workloads[0].label, "va");
    struct experiment *alone = read_made_up(TITLE METRICS "workloads: ['mm:tiny']\nset: {l1.sets: 0, llc.sets: 0}\n"
                                                          "designs: {shared: {set: {llc.ways: 4}}}\n"
                                                          "sweep: {l1.ways: [2]}\n");
    struct plan *of_it = plan_made_up(alone, NULL);
    CHECK_EQ(plan->runs[2].identity, of_it->runs[0].identity); /* without the settings of another workload */
    plan_free(of_it);
    experiment_free(alone);
    plan_free(plan);
    experiment_free(experiment);
}

TEST("a design that uses the file of another refers to its run of the same workload and point") {
    struct experiment *experiment =
        read_made_up(TITLE WORKLOADS METRICS "sweep: {noc.channel_bytes: [16, 32]}\n"
                                             "designs:\n"
                                             "  second: {uses: {design: shared, writes: a.b, reads: gpu.core_mhz}}\n"
                                             "  shared: {design: shared}\n");
    struct error err = {0};
    CHECK(!plan_create(experiment, NULL, &err)); /* gpu.core_mhz takes a number, not the name of a file */
    CHECK_TEXT(err.text, "made-up.yaml:6:3: design 'second' at 16: --set gpu.core_mhz=");
    experiment_free(experiment);
}

#define STP "metrics: [{name: STP, value: total(program.thread_instructions / program.cycles / alone.ipc)}]\n"

TEST("two concurrent programs are one workload, and each also runs alone if a metric needs it") {
    struct experiment *experiment =
        read_made_up(TITLE "workloads: [va + mm:tiny, va]\n" DESIGNS "alone: private\n" STP);
    struct plan *plan = plan_made_up(experiment, NULL);
    CHECK_EQ(experiment->workloads[0].label, "va + mm");
    CHECK_EQ(plan->count, 2u * 2 + 2 + 1);
    CHECK_EQ(plan->runs[plan_find(plan, 0, 1, 0, 0, -1)].job, "va:small + mm:tiny");
    int first = plan_find_alone(plan, 0, 0, 0, 0), second = plan_find_alone(plan, 0, 0, 0, 1);
    REQUIRE(first >= 0 && second >= 0);
    CHECK_EQ(plan_find_alone(plan, 1, 0, 0, 1), -1);
    CHECK_EQ(plan->runs[second].job, "mm:tiny");
    CHECK_EQ(plan->runs[second].base, "private");
    CHECK_EQ(plan->runs[first].identity, plan->runs[plan_find(plan, 1, 1, 0, 0, -1)].identity); /* va under private */
    plan_free(plan);
    experiment_free(experiment);
    experiment = read_made_up(TITLE "workloads: [va + mm]\n" DESIGNS METRICS);
    plan = plan_made_up(experiment, "tiny");
    CHECK_EQ(plan->count, 2u);
    CHECK_EQ(plan->runs[0].job, "va:tiny + mm:tiny");
    CHECK_EQ(plan_find_alone(plan, 0, 0, 0, 0), -1);
    plan_free(plan);
    experiment_free(experiment);
}

TEST("programs run alone at every point of a sweep") {
    struct experiment *experiment = read_made_up(TITLE "workloads: [va + mm:tiny, mm:tiny + va]\n" DESIGNS
                                                       "sweep: {noc.channel_bytes: [16, 32]}\nalone: private\n" STP);
    struct plan *plan = plan_made_up(experiment, NULL);
    for (unsigned w = 0; w < 2; w++)
        for (unsigned p = 0; p < 2; p++)
            for (unsigned i = 0; i < 2; i++) {
                int alone = plan_find_alone(plan, w, p, 0, i);
                REQUIRE(alone >= 0);
                CHECK_EQ(plan->runs[alone].point, p);
                CHECK_EQ(plan->runs[alone].job, w == i ? "va:small" : "mm:tiny");
            }
    plan_free(plan);
    experiment_free(experiment);
}

TEST("rejects invalid configurations at their location in the experiment") {
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {TITLE WORKLOADS METRICS "designs: {shared: {set: {l1.way: 4}}}\n",
         "made-up.yaml:4:26: design 'shared': --set l1.way=4: unknown key 'way' in section 'l1'; did you mean 'ways'?"},
        {TITLE WORKLOADS METRICS "designs: {shared: {set: {l1.ways: 0}}}\n",
         "4:26: design 'shared': --set l1.ways=0: l1.ways = 0 is out of range"},
        {TITLE WORKLOADS METRICS DESIGNS "sweep: {noc.channel_bytes: [16, 17000]}\n",
         "5:33: design 'shared' at 17000: --set noc.channel_bytes=17000"},
        {TITLE WORKLOADS DESIGNS "metrics: [{name: misses, value: 100 * llc.read_mises}]\n",
         "4:39: metric 'misses': no counter called 'llc.read_mises'; did you mean 'llc.read_misses'?"},
        {TITLE "workloads: [{workload: mm, set: {llc.ways: 0}}]\n" DESIGNS METRICS,
         "2:34: design 'shared': --set llc.ways=0"},
        {TITLE "workloads: [synth:alu]\nset: {workload.footprint_kb: 4}\n" DESIGNS METRICS, "2:13: "},
    };
    for (unsigned i = 0; i < COUNT_OF(wrong); i++) {
        struct experiment *experiment = read_made_up(wrong[i].text);
        struct error err = {0};
        CHECK(!plan_create(experiment, NULL, &err));
        CHECK_TEXT(err.text, wrong[i].message);
        experiment_free(experiment);
    }
}

TEST("a metric may use counters that only the settings of a workload bring") {
    struct experiment *experiment =
        read_made_up(TITLE "workloads: [va, {workload: va, name: decides, set: {llc.organisation: adaptive}}]\n"
                           "designs: {plain: {}}\nmetrics: [{name: decisions, value: adaptive.decisions}]\n");
    plan_free(plan_made_up(experiment, NULL));
    experiment_free(experiment);
}

TEST("rejects a replacing size that a workload does not have") {
    struct experiment *experiment = read_made_up(TITLE WORKLOADS DESIGNS METRICS);
    struct error err = {0};
    CHECK(!plan_create(experiment, "huge", &err));
    CHECK_TEXT(err.text, "made-up.yaml:2:23: va has no size `huge`");
    experiment_free(experiment);
}

TEST("a deprecated size name plans the runs of the current name") {
    static const char *const texts[] = {
        TITLE DESIGNS METRICS "size: adaptive\nworkloads: [va, 'gaussian:bypass', 'nn:selrep + lud:icc']\n",
        TITLE DESIGNS METRICS "size: s000\nworkloads: [va, 'gaussian:s004', 'nn:s003 + lud:s002']\n"};
    struct experiment *current = read_made_up(texts[0]), *former = read_made_up(texts[1]);
    struct plan *expected = plan_made_up(current, NULL), *plan = plan_made_up(former, NULL);
    CHECK_EQ(former->size, "adaptive");
    REQUIRE(plan->count == expected->count && plan->count == 6);
    for (unsigned i = 0; i < plan->count; i++) {
        CHECK_EQ(plan->runs[i].job, expected->runs[i].job);
        CHECK_EQ(plan->runs[i].identity, expected->runs[i].identity);
    }
    CHECK_EQ(plan->runs[plan_find(plan, 2, 0, 0, 0, -1)].job, "nn:selrep + lud:icc");
    plan_free(plan);
    plan_free(expected);
    experiment_free(former);
    experiment_free(current);
}

TEST("a deprecated replacing size plans the runs of the current name") {
    struct experiment *experiment = read_made_up(TITLE "workloads: [lud, nn]\n" DESIGNS METRICS);
    struct plan *expected = plan_made_up(experiment, "selrep"), *plan = plan_made_up(experiment, "s003");
    for (unsigned i = 0; i < plan->count; i++) CHECK_EQ(plan->runs[i].identity, expected->runs[i].identity);
    CHECK_EQ(plan->runs[0].job, "lud:selrep");
    plan_free(plan);
    plan_free(expected);
    experiment_free(experiment);
}

/* Plans every bundled experiment of a set and returns their number. NULL: those outside of the sets below. */
static const char *const sets[] = {"adaptive/", "bypass/", "icc/", "selrep/", NULL};

static bool is_of(const char *name, const char *set) {
    if (set) return strncmp(name, set, strlen(set)) == 0;
    for (unsigned i = 0; sets[i]; i++)
        if (is_of(name, sets[i])) return false;
    return true;
}

/* Experiments allow unused settings if and only if they have some. */
static void check_unused(const struct plan *plan) {
    unsigned unused = 0;
    for (unsigned i = 0; i < plan->setting_count; i++) unused += !plan->settings[i].used;
    if (!CHECK((unused > 0) == plan->experiment->unused_allowed))
        fprintf(stderr, "%s has %u unused settings\n", plan->experiment->path, unused);
}

static unsigned plan_set(const char *set) {
    struct catalogue catalogue;
    unsigned count = 0;
    catalogue_open(&catalogue, "experiments");
    for (unsigned i = 0; i < catalogue.count; i++) {
        if (!is_of(catalogue.entries[i].name, set)) continue;
        struct error err = {0};
        struct experiment *experiment = experiment_open(catalogue.entries[i].name, &err);
        struct plan *plan = experiment ? plan_create(experiment, NULL, &err) : NULL;
        if (!CHECK(plan != NULL)) fprintf(stderr, "%s\n", err.text);
        if (experiment) CHECK_EQ(experiment->name, catalogue.entries[i].name);
        if (plan) check_unused(plan);
        plan_free(plan);
        experiment_free(experiment);
        count++;
    }
    catalogue_close(&catalogue);
    return count;
}

TEST_LONG_SANITIZED("every bundled experiment on the adaptive LLC can be planned") {
    CHECK(plan_set("adaptive/") > 20);
}
TEST_LONG_SANITIZED("every bundled experiment on bypassing can be planned") { CHECK(plan_set("bypass/") > 15); }
TEST("every bundled experiment on cooperating L1s can be planned") { CHECK(plan_set("icc/") > 10); }
TEST_LONG_SANITIZED("every bundled experiment on selective replication can be planned") {
    CHECK(plan_set("selrep/") > 10);
}
TEST("every other bundled experiment can be planned") { CHECK(plan_set(NULL) >= 6); }

TEST("rejects an unknown experiment with the nearest name") {
    struct error err = {0};
    CHECK(!experiment_open("quick/sharin", &err));
    CHECK_TEXT(err.text, "there is no experiment `quick/sharin`; did you mean `quick/sharing`?");
}

TEST("rejects an unknown set of experiments with the nearest set") {
    struct error err = {0};
    CHECK(!experiment_open("adaptiv", &err));
    CHECK_TEXT(err.text, "there is no experiment `adaptiv`; did you mean `adaptive`?");
}

TEST("a plan without memory for its configuration is an error") {
    struct experiment *experiment = read_made_up(TITLE WORKLOADS DESIGNS METRICS);
    struct error err = {0};
    no_memory_for_files = true;
    CHECK(!plan_create(experiment, NULL, &err));
    CHECK_TEXT(err.text, "Cannot allocate memory");
    experiment_free(experiment);
}

/* The record of a setting. */
static const struct planned_setting *setting_found(const struct plan *plan, const char *design, const char *key) {
    for (unsigned i = 0; i < plan->setting_count; i++)
        if (strcmp(plan->experiment->designs[plan->settings[i].design].name, design) == 0 &&
            strcmp(plan->settings[i].key, key) == 0)
            return &plan->settings[i];
    return NULL;
}

TEST("a plan knows the settings of each design that no machine uses, once, with the reason") {
    struct experiment *experiment =
        read_made_up(TITLE "workloads: [va, bs]\n" METRICS
                           "set: {llc.adaptive.epoch_cycles: 100000, l1.ways: 4, l1.size_kb: 48, workload.ctas: 4}\n"
                           "sweep: {llc.adaptive.sets: [4, 8]}\n"
                           "designs:\n"
                           "  shared: {design: shared}\n"
                           "  adaptive: {design: adaptive}\n"
                           "  searched: {best: {llc.organisation: [shared, adaptive]}}\n");
    CHECK(!experiment->unused_allowed);
    struct plan *plan = plan_made_up(experiment, NULL);
    static const struct {
        const char *design, *key, *because; /* NULL: used */
    } cases[] = {
        {"shared", "llc.adaptive.epoch_cycles", "llc.organisation is shared"},
        {"shared", "llc.adaptive.sets", "llc.organisation is shared"},
        {"shared", "l1.ways", NULL},
        {"shared", "workload.ctas", "it is for generated streams (synth:NAME)"},
        {"adaptive", "llc.adaptive.epoch_cycles", NULL},
        {"adaptive", "llc.adaptive.sets", NULL},
        {"searched", "llc.adaptive.sets", NULL}, /* used by one of the candidates */
    };
    CHECK_EQ(plan->setting_count, 3u * 5 + 1);
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        const struct planned_setting *setting = setting_found(plan, cases[i].design, cases[i].key);
        REQUIRE(setting);
        CHECK_EQ(setting->used, cases[i].because == NULL);
        if (cases[i].because) CHECK_EQ(setting->because, cases[i].because);
    }
    plan_free(plan);
    experiment_free(experiment);
}

TEST("parameters of generated streams are used if a workload is one, and an experiment can allow unused settings") {
    struct experiment *experiment =
        read_made_up(TITLE "workloads: [va, 'synth:alu']\n" METRICS "unused_settings: allowed\n"
                           "designs: {shared: {set: {workload.ctas: 4}}}\n");
    CHECK(experiment->unused_allowed);
    struct plan *plan = plan_made_up(experiment, NULL);
    REQUIRE(plan->setting_count == 1);
    CHECK(plan->settings[0].used);
    plan_free(plan);
    experiment_free(experiment);
}
