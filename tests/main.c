/* The test runner: each test in its own process, several in parallel.
 *
 * A test fails if a check fails, if it has no checks, if it ends by a signal or with another exit status (a sanitizer's
 * finding), or if it hangs. The output of a test is shown only if it fails. The last line is `N passed, N failed`, and
 * the exit status is 1 if any failed.
 *
 * The time of a test is shown (-v) but not judged, except that a hung test is killed.
 */
#include "test.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A test that takes longer hangs. The long tests have more time, for machines that do something else as well. */
enum { HANG_SECONDS = 120, LONG_HANG_SECONDS = 900, STATUS_HOLDS = 98, STATUS_FAILED = 99, JOBS_MAX = 256 };

static struct test *registered;
static size_t registered_count;

/* Checks of the test in this process. */
static uint64_t checks_made, checks_failed;

void test_register(struct test *test) {
    test->next = registered;
    registered = test;
    registered_count++;
}

/* Checks */

static bool note(struct test_place place, bool holds) {
    checks_made++;
    if (holds) return true;
    checks_failed++;
    printf("    %s:%d: ", place.file, place.line);
    return false;
}

bool test_check(struct test_place place, const char *expression, bool holds) {
    if (!note(place, holds)) printf("%s does not hold\n", expression);
    return holds;
}

static void value_print(struct test_value value) {
    switch (value.kind) {
    case TEST_SIGNED: printf("%lld", value.i); break;
    case TEST_UNSIGNED: printf("%llu", value.u); break;
    case TEST_REAL: printf("%.17g", value.r); break;
    case TEST_STRING: value.s ? printf("\"%s\"", value.s) : printf("(null)"); break;
    case TEST_POINTER: printf("%p", value.p); break;
    }
}

static double value_real(struct test_value value) {
    if (value.kind == TEST_SIGNED) return (double)value.i;
    return value.kind == TEST_UNSIGNED ? (double)value.u : value.r;
}

static bool value_equal(struct test_value a, struct test_value b) {
    if (a.kind == TEST_STRING && b.kind == TEST_STRING) return a.s == b.s || (a.s && b.s && strcmp(a.s, b.s) == 0);
    if (a.kind >= TEST_STRING || b.kind >= TEST_STRING) return a.p == b.p;
    if (a.kind == TEST_REAL || b.kind == TEST_REAL) return value_real(a) == value_real(b);
    if (a.kind == b.kind) return a.u == b.u;
    return a.u == b.u && (a.kind == TEST_SIGNED ? a.i : b.i) >= 0; /* -1 is not the largest unsigned number */
}

bool test_check_eq(struct test_place place, const char *a_text, const char *b_text, struct test_value a,
                   struct test_value b) {
    bool holds = value_equal(a, b);
    if (note(place, holds)) return true;
    printf("%s is ", a_text);
    value_print(a);
    printf(", but %s is ", b_text);
    value_print(b);
    putchar('\n');
    return false;
}

bool test_check_near(struct test_place place, const char *a_text, const char *b_text, double a, double b,
                     double relative_tolerance) {
    bool holds = fabs(a - b) <= relative_tolerance * fabs(b); /* false for NaN */
    if (!note(place, holds))
        printf("%s is %.9g, not within %g%% of %s, which is %.9g\n", a_text, a, relative_tolerance * 100, b_text, b);
    return holds;
}

bool test_check_text(struct test_place place, const char *expression, const char *text, const char *part) {
    bool holds = text && strstr(text, part);
    if (!note(place, holds)) printf("%s is \"%s\", without \"%s\"\n", expression, text ? text : "(null)", part);
    return holds;
}

/* Ends immediately: memory of a failed test is not reported as a leak. */
void test_give_up(void) {
    fflush(stdout);
    _exit(STATUS_FAILED);
}

/* Modules and order */

static const char *folder_end(const struct test *test) {
    const char *slash = strrchr(test->file, '/');
    return slash ? slash : test->file;
}

static void module_name(const struct test *test, char *name, size_t size) {
    const char *end = folder_end(test), *start = end;
    while (start > test->file && start[-1] != '/') start--;
    snprintf(name, size, "%.*s", (int)(end - start), start);
}

static int test_order(const void *a_pointer, const void *b_pointer) {
    const struct test *a = *(struct test *const *)a_pointer, *b = *(struct test *const *)b_pointer;
    int order = strcmp(a->file, b->file);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* Running */

struct job {
    const struct test *test;
    pid_t pid;
    FILE *output;
    double started_seconds;
    bool hung;
};

struct runner {
    const char *filters[64], *module; /* NULL: all modules */
    int filter_count, jobs_at_once;
    bool verbose, list, stop; /* stop: start no test after the first failure */
    unsigned passed, failed, left_out;
    struct job jobs[JOBS_MAX];
    int running, hang_seconds;
    sigset_t awaited; /* blocked: an ended test, and requests to end */
};

static double now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* In the new process: the result of the test becomes its exit status. Success has a special status, to distinguish it
 * from code under test that calls exit(0). Success ends by exit(), which runs the leak checker. */
_Noreturn static void test_run(const struct test *test, FILE *output) {
    setpgid(0, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(fileno(output), STDOUT_FILENO);
    dup2(fileno(output), STDERR_FILENO);
    setvbuf(stdout, NULL, _IOLBF, 0);
    test->body();
    if (checks_made == 0) printf("    %s:%d: the test has no checks\n", test->file, test->line);
    if (checks_made == 0 || checks_failed > 0) test_give_up();
    exit(STATUS_HOLDS);
}

static bool job_start(struct runner *runner, const struct test *test) {
    struct job *job = &runner->jobs[runner->running];
    *job = (struct job){.test = test, .output = tmpfile(), .started_seconds = now_seconds()};
    if (!job->output) return false;
    job->pid = fork();
    if (job->pid == 0) test_run(test, job->output);
    if (job->pid < 0) {
        fclose(job->output);
        return false;
    }
    setpgid(job->pid, job->pid); /* in both processes, since either may be first */
    runner->running++;
    return true;
}

static void output_copy(FILE *output) {
    char buffer[4096];
    size_t count, total = 0;
    rewind(output);
    while (total < 200000 && (count = fread(buffer, 1, sizeof buffer, output)) > 0) {
        fwrite(buffer, 1, count, stdout);
        total += count;
    }
}

static void job_finish(struct runner *runner, struct job *job, int status) {
    char module[64], reason[128] = "";
    module_name(job->test, module, sizeof module);
    if (job->hung)
        snprintf(reason, sizeof reason, " (ended after %d s)", runner->hang_seconds);
    else if (WIFSIGNALED(status))
        snprintf(reason, sizeof reason, " (%s)", strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != STATUS_FAILED)
        snprintf(reason, sizeof reason, " (exit status %d)", WEXITSTATUS(status));

    bool passed = !job->hung && WIFEXITED(status) && WEXITSTATUS(status) == STATUS_HOLDS;
    if (passed) {
        runner->passed++;
        if (runner->verbose)
            printf("ok    %s: %s (%.2f s)\n", module, job->test->text, now_seconds() - job->started_seconds);
    } else {
        runner->failed++;
        printf("FAIL  %s: %s%s\n    %s:%d: the test\n", module, job->test->text, reason, job->test->file,
               job->test->line);
        output_copy(job->output);
    }
    fflush(stdout);
    fclose(job->output);
    *job = runner->jobs[--runner->running];
}

/* Tests are process groups of their own, which Ctrl-C does not reach. */
_Noreturn static void jobs_end(const struct runner *runner, int signal_number) {
    for (int i = 0; i < runner->running; i++) kill(-runner->jobs[i].pid, SIGKILL);
    exit(128 + signal_number);
}

/* Waits until at least one test has ended. Kills a hung test with its process group. */
static void jobs_wait(struct runner *runner) {
    int before = runner->running;
    while (runner->running == before) {
        int status;
        pid_t pid;
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
            for (int i = 0; i < runner->running; i++)
                if (runner->jobs[i].pid == pid) {
                    job_finish(runner, &runner->jobs[i], status);
                    break;
                }
        if (runner->running < before) return;
        for (int i = 0; i < runner->running; i++)
            if (!runner->jobs[i].hung && now_seconds() - runner->jobs[i].started_seconds > runner->hang_seconds) {
                runner->jobs[i].hung = true;
                kill(-runner->jobs[i].pid, SIGKILL);
            }
        int signal_number = sigtimedwait(&runner->awaited, NULL, &(struct timespec){.tv_sec = 1});
        if (signal_number == SIGINT || signal_number == SIGTERM) jobs_end(runner, signal_number);
    }
}

static bool test_wanted(const struct runner *runner, const struct test *test, const char *module) {
    if (runner->module && strcmp(module, runner->module) != 0) return false;
    if (runner->filter_count == 0) return true;
    for (int i = 0; i < runner->filter_count; i++)
        if (strstr(module, runner->filters[i]) || strstr(test->text, runner->filters[i])) return true;
    return false;
}

static bool tests_run(struct runner *runner, struct test **tests) {
    const char *long_tests = getenv("SLUICE_LONG_TESTS");
    bool run_long = long_tests && strcmp(long_tests, "1") == 0;
    runner->hang_seconds = run_long ? LONG_HANG_SECONDS : HANG_SECONDS;
    for (size_t i = 0; i < registered_count; i++) {
        char module[64];
        module_name(tests[i], module, sizeof module);
        if (!test_wanted(runner, tests[i], module)) continue;
        if (runner->list) {
            printf("%s: %s%s\n", module, tests[i]->text, tests[i]->is_long ? " (long)" : "");
            continue;
        }
        if (tests[i]->is_long && !run_long) {
            runner->left_out++;
            continue;
        }
        if (runner->running == runner->jobs_at_once) jobs_wait(runner);
        if (runner->stop && runner->failed > 0) break;
        if (!job_start(runner, tests[i])) return false;
    }
    while (runner->running > 0) jobs_wait(runner);
    return true;
}

static void usage(FILE *file) {
    fprintf(file, "usage: sluice_tests [-v] [-j N] [--list] [--stop] [--module NAME] [PART...]\n"
                  "  PART    run only the tests whose module or text contains this part\n"
                  "  --module NAME  run only the tests of this module\n"
                  "  -j N    number of parallel tests (default: one per processor)\n"
                  "  -v      also print the passing tests, with their times\n"
                  "  --list  print the tests and run none\n"
                  "  --stop  end after the first failure\n"
                  "Tests marked long run only with SLUICE_LONG_TESTS=1 in the environment.\n");
}

static bool options_read(struct runner *runner, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (strcmp(arg, "-v") == 0) {
            runner->verbose = true;
        } else if (strcmp(arg, "--list") == 0) {
            runner->list = true;
        } else if (strcmp(arg, "--stop") == 0) {
            runner->stop = true;
        } else if (strcmp(arg, "--module") == 0) {
            if (++i == argc) return false;
            runner->module = argv[i];
        } else if (strncmp(arg, "-j", 2) == 0) {
            const char *number = arg[2] ? arg + 2 : i + 1 < argc ? argv[++i] : "";
            char *end;
            long jobs = strtol(number, &end, 10);
            if (end == number || *end || jobs < 1 || jobs > JOBS_MAX) return false;
            runner->jobs_at_once = (int)jobs;
        } else if (arg[0] == '-' || runner->filter_count == 64) {
            return false;
        } else {
            runner->filters[runner->filter_count++] = arg;
        }
    }
    return true;
}

int main(int argc, char **argv) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    static struct runner runner;
    runner.jobs_at_once = processors < 1 ? 1 : processors > JOBS_MAX ? JOBS_MAX : (int)processors;
    if (!options_read(&runner, argc, argv)) {
        usage(stderr);
        return 2;
    }
    struct test **tests = calloc(registered_count + 1, sizeof *tests);
    if (!tests) return 2;
    size_t count = 0;
    for (struct test *test = registered; test; test = test->next) tests[count++] = test;
    qsort(tests, count, sizeof *tests, test_order);

    sigemptyset(&runner.awaited);
    sigaddset(&runner.awaited, SIGCHLD);
    sigaddset(&runner.awaited, SIGINT);
    sigaddset(&runner.awaited, SIGTERM);
    sigprocmask(SIG_BLOCK, &runner.awaited, NULL);
    bool ran = tests_run(&runner, tests);
    int error_number = errno;
    free(tests);
    if (!ran) {
        fprintf(stderr, "sluice_tests: cannot start a test: %s\n", strerror(error_number));
        return 2;
    }
    if (runner.list) return 0;
    if (runner.left_out) printf("%u long tests skipped (SLUICE_LONG_TESTS=1 runs them)\n", runner.left_out);
    printf("%u passed, %u failed\n", runner.passed, runner.failed);
    return runner.failed ? 1 : 0;
}
