/* Long runs: random machines with random programs, synthetic streams and bundled workloads, one or two at once, until the time
 * is over. Each machine runs in every order of ticks, polled or not; a run must end with its books balanced, and all counters
 * must be equal. All machines are made and destroyed in this one process, whose memory must not grow.
 *
 *     sluice_soak [--minutes N] [--first SEED] [--seed SEED]
 *
 * A seed determines a machine and its programs. The line of a failure names the seed; --seed runs only that one. --first
 * continues where an earlier process ended. The last line is the summary. */
#include <malloc.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "machine/random_machine.h"
#include "stream/workload.h"
#include "work.h"

enum {
    SEED_SECONDS = 600,         /* a seed takes less than a second; the rest is for a loaded machine */
    MOST_INSTRUCTIONS = 100000, /* thread instructions of a bundled workload, per program */
    QUARTERS = 4,
    SLACK_BYTES = 16 << 10, /* heap in use after a seed: buffers of the C library */
};

/* --- checks: the first that fails ends the process --- */

static uint64_t seed_now;

void test_register(struct test *test) { (void)test; }

_Noreturn void test_give_up(void) {
    printf("FAIL  soak: seed %llu; rerun it with --seed %llu\n", (unsigned long long)seed_now,
           (unsigned long long)seed_now);
    fflush(stdout);
    _exit(1);
}

bool test_check(struct test_place place, const char *expression, bool holds) {
    if (!holds) printf("    %s:%d: %s does not hold\n", place.file, place.line, expression);
    return holds;
}

bool test_check_eq(struct test_place place, const char *a_text, const char *b_text, struct test_value a,
                   struct test_value b) {
    bool holds = a.kind == TEST_STRING ? strcmp(a.s, b.s) == 0 : a.u == b.u;
    if (!holds) printf("    %s:%d: %s is not %s\n", place.file, place.line, a_text, b_text);
    if (!holds && a.kind == TEST_STRING) printf("    \"%s\"\n", a.s);
    return holds;
}

/* A crash or a hang: names the seed, with calls that are safe in a signal handler. */
static void on_signal(int number) {
    char text[] = "FAIL  soak: ended by a signal or a hang in seed                     \n",
         *at = text + sizeof text - 3;
    for (uint64_t rest = seed_now; rest; rest /= 10) *at-- = (char)('0' + rest % 10);
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0) _exit(2);
    signal(number, SIG_DFL);
    raise(number);
}

/* --- what has run --- */

/* The machines by their organisations: values of these keys, in the order in which they first occurred. */
static const char *const tallied[] = {"llc.organisation=", "l1.organisation=", "l1.insertion=", "noc.topology="};
static struct tally {
    char value[16];
    uint64_t count;
} tallies[COUNT_OF(tallied)][8];

static void tally(const struct settings *settings) {
    for (unsigned s = 0; s < settings->count; s++)
        for (unsigned k = 0; k < COUNT_OF(tallied); k++) {
            size_t length = strlen(tallied[k]);
            if (strncmp(settings->list[s], tallied[k], length) != 0) continue;
            struct tally *entry = tallies[k];
            while (entry->count && strcmp(entry->value, settings->list[s] + length) != 0) entry++;
            snprintf(entry->value, sizeof entry->value, "%s", settings->list[s] + length);
            entry->count++;
        }
}

static void tell_tallies(void) {
    for (unsigned k = 0; k < COUNT_OF(tallied); k++) {
        printf("%s", tallied[k]);
        for (unsigned i = 0; i < COUNT_OF(tallies[k]) && tallies[k][i].count; i++)
            printf(" %s %llu", tallies[k][i].value, (unsigned long long)tallies[k][i].count);
        printf("\n");
    }
}

/* --- random programs --- */

static bool compare_random(uint64_t seed, unsigned count) {
    struct random_run *made = random_run_make(seed, count);
    bool ran =
        machine_is_made(&made->settings) && compare_ways_of(seed, &made->settings, open_programs, &made->programs, 0);
    if (ran) tally(&made->settings);
    free(made);
    return ran;
}

/* --- bundled programs --- */

static const char *const synthetic[] = {"alu", "stream", "copy", "shared", "hotline", "chase", "uniform", "spread"};

struct bundled {
    char name[2][32];
    unsigned count;
};

static struct stream_source *open_bundled(const struct run *run, const char *name) {
    struct error err = {0};
    struct stream_source *source =
        strncmp(name, "synth:", 6) == 0 ? workload_open(run->config, name, &err) : work_open(name, true, &err);
    CHECK_EQ((const char *)err.text, "");
    REQUIRE(source);
    return source;
}

static struct run *open_run(const struct settings *settings, void *user) {
    const struct bundled *bundled = user;
    struct run *run = run_of_two(NULL, NULL, NULL, settings->list);
    if (bundled->count > 1) {
        machine_destroy(run->machine);
        run->machine = machine_create_for(2, run->config, &run->err);
        REQUIRE(run->machine);
        run->second = open_bundled(run, bundled->name[1]);
    }
    run->source = open_bundled(run, bundled->name[0]);
    run->owns_source = true;
    return run;
}

static const struct workload *random_workload(uint64_t *random) {
    static const char *const names[] = {
#define X(name) #name,
#include "workloads.def"
#undef X
    };
    const struct workload *found = NULL;
    while (!found) found = work_find(names[below(random, COUNT_OF(names))]);
    return found;
}

/* A bundled program or two on a random machine. */
static bool compare_bundled(uint64_t seed, unsigned count) {
    struct settings *settings = mem_alloc(1, sizeof *settings);
    struct bundled bundled = {.count = count};
    uint64_t random = seed * 7919;
    machine_make(settings, count, &random);
    set_number(settings, "workload.iterations", 1 + below(&random, 8));
    set_number(settings, "workload.ctas", 1 + below(&random, 12));
    set_number(settings, "workload.kernels", 1 + below(&random, 3));
    for (unsigned i = 0; i < count; i++) {
        if (below(&random, 2))
            snprintf(bundled.name[i], sizeof bundled.name[i], "synth:%s",
                     synthetic[below(&random, COUNT_OF(synthetic))]);
        else
            snprintf(bundled.name[i], sizeof bundled.name[i], "%s:tiny", random_workload(&random)->name);
    }
    bool ran = machine_is_made(settings) && compare_ways_of(seed, settings, open_run, &bundled, MOST_INSTRUCTIONS);
    if (ran) tally(settings);
    free(settings);
    return ran;
}

/* --- the loop --- */

struct quarter {
    double rss_sum;
    uint64_t samples, heap_most;
};

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint64_t rss_bytes(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*u %lu", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Whether the seed makes a machine that accepts its programs. */
static bool run_seed(uint64_t seed) {
    seed_now = seed;
    alarm(SEED_SECONDS);
    bool ran = seed % 4 < 2 ? compare_random(seed, 1 + seed % 2) : compare_bundled(seed, 1 + seed % 2);
    alarm(0);
    return ran;
}

static bool flat(const struct quarter *quarters, uint64_t seeds) {
    const struct quarter *first = &quarters[0], *last = &quarters[QUARTERS - 1];
    if (seeds < 100 || !first->samples || !last->samples) return true; /* too short to tell */
    double rss_first = first->rss_sum / (double)first->samples, rss_last = last->rss_sum / (double)last->samples;
    return last->heap_most <= first->heap_most + SLACK_BYTES && rss_last <= 1.25 * rss_first;
}

/* One heap, which malloc_trim() returns to the system, and no cache per thread, whose freed blocks count as used. The settings
 * are read at the start of a process. */
static void without_thread_cache(char **argv) {
    if (getenv("GLIBC_TUNABLES")) return;
    setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0", 1);
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv) {
    double minutes = 1;
    uint64_t first = 1, only = 0;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--minutes") == 0)
            minutes = atof(value);
        else if (strcmp(argv[i], "--first") == 0)
            first = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            only = strtoull(value, NULL, 10);
        else
            value = "";
        if (!*value) {
            fprintf(stderr, "usage: sluice_soak [--minutes N] [--first SEED] [--seed SEED]\n");
            return 2;
        }
    }
    without_thread_cache(argv);
    int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM};
    for (size_t i = 0; i < COUNT_OF(signals); i++) signal(signals[i], on_signal);
    if (only) {
        printf("seed %llu: %s\n", (unsigned long long)only, run_seed(only) ? "passed" : "makes no machine");
        return 0;
    }
    struct quarter quarters[QUARTERS] = {0};
    double started = seconds_now(), length = 60 * minutes, told = started, elapsed;
    uint64_t seed = first, ran = 0;
    while ((elapsed = seconds_now() - started) < length) {
        bool good = run_seed(seed++);
        ran += good;
        malloc_trim(0);
        struct quarter *quarter = &quarters[(unsigned)(QUARTERS * elapsed / length)];
        uint64_t heap = mallinfo2().uordblks + mallinfo2().hblkhd, rss = rss_bytes();
        if (good) {
            quarter->rss_sum += (double)rss;
            quarter->heap_most = max_u64(quarter->heap_most, heap);
            quarter->samples++;
        }
        if (seconds_now() - told < 60) continue;
        told = seconds_now();
        printf("%.0f min: %llu machines, next seed %llu, heap %llu KiB, RSS %.1f MiB\n", elapsed / 60,
               (unsigned long long)ran, (unsigned long long)seed, (unsigned long long)heap >> 10,
               (double)rss / 1048576);
        fflush(stdout);
    }
    for (unsigned i = 0; i < QUARTERS; i++)
        printf("quarter %u: %llu machines, at most %llu KiB of heap in use after one, RSS %.1f MiB on average\n", i + 1,
               (unsigned long long)quarters[i].samples, (unsigned long long)quarters[i].heap_most >> 10,
               quarters[i].samples ? quarters[i].rss_sum / (double)quarters[i].samples / 1048576 : 0);
    tell_tallies();
    bool good = flat(quarters, ran);
    printf("%s%llu machines, %llu runs, next seed %llu, memory %s\n",
           good ? "" : "FAIL  soak: ", (unsigned long long)ran, (unsigned long long)ran * 4, (unsigned long long)seed,
           good ? "flat" : "grows");
    return good ? 0 : 1;
}
