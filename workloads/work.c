#include "work.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/random.h"

uint64_t work_alloc(struct work *work, uint64_t bytes) { return host_alloc(work->host, bytes); }

/* After a failure there is no device memory; the program continues with a spare buffer whose contents are ignored. */
void *work_view(struct work *work, uint64_t address, uint64_t bytes) {
    void *view = host_memory(work->host, address, bytes);
    return view ? view : arena_alloc(work->spare, bytes, 1);
}

uint32_t work_below(struct work *work, uint32_t bound) { return (uint32_t)random_below(&work->random, bound); }

float work_between(struct work *work, float low, float high) {
    return low + (high - low) * ((float)(random_next(&work->random) >> 40) * 0x1p-24f);
}

void work_fill(struct work *work, float *data, uint64_t count, float low, float high) {
    for (uint64_t i = 0; i < count; i++) data[i] = work_between(work, low, high);
}

void *work_copy(const void *data, uint64_t bytes) { return memcpy(mem_alloc(bytes, 1), data, bytes); }

void work_expect(struct work *work, bool holds, const char *what) {
    if (holds || work->wrong) return;
    work->wrong = true;
    snprintf(work->found, sizeof work->found, "%s", what);
}

static void differs(struct work *work, const char *what, uint64_t i, double found, double expected) {
    work->wrong = true;
    snprintf(work->found, sizeof work->found, "%s[%llu] is %.9g, expected %.9g", what, (unsigned long long)i, found,
             expected);
}

void work_expect_i32(struct work *work, const char *what, const int32_t *found, const int32_t *expected,
                     uint64_t count) {
    for (uint64_t i = 0; i < count && !work->wrong; i++)
        if (found[i] != expected[i]) differs(work, what, i, found[i], expected[i]);
}

/* Written so that a NaN differs. */
static bool near(double found, double expected, double tolerance, double scale) {
    return fabs(found - expected) <= tolerance * fmax(fabs(expected), scale) || found == expected;
}

void work_expect_f32(struct work *work, const char *what, const float *found, const float *expected, uint64_t count,
                     double tolerance, double scale) {
    for (uint64_t i = 0; i < count && !work->wrong; i++)
        if (!near((double)found[i], (double)expected[i], tolerance, scale))
            differs(work, what, i, (double)found[i], (double)expected[i]);
}

void work_expect_f64(struct work *work, const char *what, const double *found, const double *expected, uint64_t count,
                     double tolerance, double scale) {
    for (uint64_t i = 0; i < count && !work->wrong; i++)
        if (!near(found[i], expected[i], tolerance, scale)) differs(work, what, i, found[i], expected[i]);
}

#define X(symbol) extern const struct workload workload_##symbol;
#include "workloads.def"
#undef X

const struct workload *const workloads[] = {
#define X(symbol) &workload_##symbol,
#include "workloads.def"
#undef X
};
const unsigned workload_total = COUNT_OF(workloads);

static bool among(const char *name, const char *words) {
    size_t length = strlen(name);
    for (const char *p = words; p && *p; p += strspn(p, " ")) {
        size_t word = strcspn(p, " ");
        if (word == length && memcmp(p, name, length) == 0) return true;
        p += word;
    }
    return false;
}

const struct workload *work_find(const char *name) {
    for (unsigned i = 0; i < workload_total; i++)
        if (strcmp(workloads[i]->name, name) == 0 || among(name, workloads[i]->aliases)) return workloads[i];
    return NULL;
}

/* --- sizes --- */

/* Sizes that are now named after their papers. */
static struct {
    const char *const former, *const current;
    bool reported;
} renamed[] = {
    {"s000", "adaptive", false}, {"s002", "icc", false}, {"s003", "selrep", false}, {"s004", "bypass", false}};

const char *work_size_name(const char *name) {
    for (unsigned i = 0; i < COUNT_OF(renamed); i++) {
        if (strcmp(renamed[i].former, name) != 0) continue;
        if (!renamed[i].reported)
            fprintf(stderr,
                    "sluice: size `%s` is now called `%s`; the old name will be removed after the next release\n", name,
                    renamed[i].current);
        renamed[i].reported = true;
        return renamed[i].current;
    }
    return name;
}

char *work_current_name(const char *name) {
    const char *colon = strchr(name, ':');
    return colon ? text_format("%.*s:%s", (int)(colon - name), name, work_size_name(colon + 1)) : mem_text(name);
}

static const struct work_size *find_size(const struct workload *workload, const char *given, struct error *err) {
    const char *name = work_size_name(given), **names = mem_alloc(workload->size_count, sizeof *names);
    const struct work_size *found = NULL;
    char all[256] = "";
    for (unsigned i = 0; i < workload->size_count; i++) {
        names[i] = workload->sizes[i].name;
        if (strcmp(names[i], name) == 0) found = &workload->sizes[i];
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", names[i]);
    }
    const char *near = nearest_name(name, names, workload->size_count);
    if (!found)
        error_set(err, "%s has no size `%s`; known: %s%s%s%s", workload->name, name, all,
                  near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
    free(names);
    return found;
}

/* --- as a source of streams --- */

struct work_run {
    const struct workload *workload;
    const struct work_size *size;
    bool verify;
    struct work work; /* of the program's latest run */
};

static void run_work(void *user, struct host *host) {
    struct work_run *run = user;
    const struct workload *workload = run->workload;
    run->work = (struct work){.host = host, .size = run->size->value, .verify = run->verify, .random = 1};
    run->work.spare = arena_create();
    host_module(host, workload->name, workload->ptx, (size_t)(workload->ptx_end - workload->ptx));
    workload->run(&run->work);
    arena_destroy(run->work.spare);
}

static bool check_work(void *user, struct host *host) {
    struct work_run *run = user;
    return !run->work.wrong || host_fail(host, "%s:%s: %s", run->workload->name, run->size->name, run->work.found);
}

/* "NAME:SIZE" without its size; the caller frees it. */
static char *bare_name(const char *name) { return text_format("%.*s", (int)strcspn(name, ":"), name); }

const char *work_near(const char *name) {
    char *bare = bare_name(name);
    const struct workload *found = work_find(bare);
    const char **names = mem_alloc(workload_total, sizeof *names);
    for (unsigned i = 0; i < workload_total; i++) names[i] = workloads[i]->name;
    const char *near = found ? found->name : nearest_name_within(bare, names, workload_total, strlen(bare) < 6 ? 1 : 2);
    free(names);
    free(bare);
    return near;
}

struct stream_source *work_open(const char *name, bool verify, struct error *err) {
    char *bare = bare_name(name);
    const struct workload *workload = work_find(bare);
    if (!workload) {
        const char *near = work_near(name);
        error_set(err, "there is no workload `%s`; %s%s%s", bare,
                  near ? "did you mean `" : "see `sluice list workloads`", near ? near : "", near ? "`?" : "");
    }
    free(bare);
    const char *colon = strchr(name, ':');
    const struct work_size *size = workload ? find_size(workload, colon ? colon + 1 : "small", err) : NULL;
    if (!size) return NULL;
    struct work_run *run = mem_alloc(1, sizeof *run);
    *run = (struct work_run){.workload = workload, .size = size, .verify = verify};
    return program_source_create(&(struct host_program){
        .name = workload->name, .run = run_work, .check = verify ? check_work : NULL, .release = free, .user = run});
}
