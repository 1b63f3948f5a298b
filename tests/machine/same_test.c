/* Conditions that do not change the counters of a run: the order in which components are ticked, polling instead of sleeping,
 * another run before it or at the same time. */
#include "machine/runs.h"

static const char *const workloads[] = {"synth:chase",   "synth:stream", "synth:copy", "synth:hotline",
                                        "synth:uniform", "synth:shared", "synth:alu"};
#define SHORT SETTINGS("workload.ctas=34", "workload.warps=3", "workload.iterations=5", "workload.kernels=2")

/* Runs each workload once as it is and once for each of the options, and compares everything. */
static void compare_all(const char *gpu, const struct run_options *options, unsigned count) {
    for (unsigned w = 0; w < COUNT_OF(workloads); w++) {
        struct run *first = run_make(gpu, workloads[w], SHORT);
        run_go(first, (struct run_options){0});
        struct counters expected = counters_of(first);
        run_destroy(first);
        for (unsigned i = 0; i < count; i++) {
            struct run *other = run_make(gpu, workloads[w], SHORT);
            run_go(other, options[i]);
            bool equal = counters_equal(other, &expected);
            if (!equal) printf("    so %s differs on %s with options %u\n", workloads[w], gpu, i);
            CHECK(equal);
            run_destroy(other);
        }
        free(expected.value);
    }
}

static const struct run_options again = {0};
static const struct run_options shuffled[] = {{.shuffle = 1}, {.shuffle = 0xDEADBEEF}, {.shuffle = 77777}};
static const struct run_options polled[] = {{.no_skip = true}, {.no_skip = true, .shuffle = 3}};

TEST("two runs are identical, in every counter of every unit") {
    for (unsigned g = 0; g < RUN_GPUS; g++) compare_all(run_gpus[g], &again, 1);
}

TEST("the order of ticks within a cycle does not matter: 15 SMs and a full crossbar") {
    compare_all("fermi-15sm", shuffled, 3);
}
TEST("the order of ticks within a cycle does not matter: 64 SMs, virtual channels and HBM") {
    compare_all("selrep-64sm", shuffled, 3);
}
TEST("polling every component in every cycle changes nothing: 15 SMs and a full crossbar") {
    compare_all("fermi-15sm", polled, 2);
}
TEST("polling every component in every cycle changes nothing: 80 SMs, internal speedup and another memory clock") {
    compare_all("adaptive-80sm", polled, 1);
}

TEST("sampling changes nothing") {
    static const struct run_options sampled[] = {{.sample_cycles = 1}, {.sample_cycles = 700}};
    compare_all("fermi-15sm", sampled, 2);
}

/* Runs another machine while one is in the middle of its own run. */
struct interleaved {
    struct run *inner[64];
    unsigned count, limit;
};

static bool run_another(void *user, const struct run_progress *progress) {
    struct interleaved *interleaved = user;
    (void)progress;
    if (interleaved->count == interleaved->limit) return true;
    struct run *run = run_make("icc-32sm", "synth:uniform", SHORT);
    interleaved->inner[interleaved->count++] = run;
    run_go(run, (struct run_options){0});
    return true;
}

TEST("two machines in one process do not influence each other") {
    struct run *alone = run_make("fermi-15sm", "synth:copy", SHORT),
               *inner_alone = run_make("icc-32sm", "synth:uniform", SHORT);
    run_go(alone, (struct run_options){0});
    run_go(inner_alone, (struct run_options){0});
    struct counters outer_expected = counters_of(alone), inner_expected = counters_of(inner_alone);
    struct interleaved interleaved = {.limit = 3};
    struct run *outer = run_make("fermi-15sm", "synth:copy", SHORT);
    run_go(outer, (struct run_options){.progress = run_another, .user = &interleaved});
    CHECK(interleaved.count > 0);
    CHECK(counters_equal(outer, &outer_expected));
    for (unsigned i = 0; i < interleaved.count; i++) {
        CHECK(counters_equal(interleaved.inner[i], &inner_expected));
        run_destroy(interleaved.inner[i]);
    }
    run_destroy(outer);
    run_destroy(alone);
    run_destroy(inner_alone);
    free(outer_expected.value);
    free(inner_expected.value);
}
