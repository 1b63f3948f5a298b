/* Programs as sources: the reader receives launches in order, the program its results, the caller failures. */
#include "host/source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/emu.h"
#include "host/programs.h"
#include "test.h"

static const char text[] = PTX_HEAD PTX_ADD PTX_SPIN PTX_PAIR;

struct story {
    unsigned launches, value, runs;
    uint64_t fault_at; /* the launch with an invalid address; 0: none */
    unsigned seen;     /* launches that have returned */
};

/* Adds 1, 2, 3, ... to 64 words, launch by launch. */
static void tell_story(void *user, struct host *host) {
    struct story *story = user;
    story->runs++;
    host_module(host, "test.ptx", text, strlen(text));
    uint64_t p = host_alloc(host, 256);
    for (unsigned i = 1; i <= story->launches && !host_failed(host); i++) {
        HOST_LAUNCH(host, "add", dim1(1), dim1(64), 0, HOST_U64(i == story->fault_at ? 16 : p), HOST_U32(i));
        __atomic_store_n(&story->seen, i, __ATOMIC_RELEASE);
    }
    host_read(host, &story->value, p + 63 * 4, 4);
}

static bool check_story(void *user, struct host *host) {
    struct story *story = user;
    unsigned wanted = story->launches * (story->launches + 1) / 2;
    return story->value == wanted || host_fail(host, "it is %u, expected %u", story->value, wanted);
}

static struct stream_source *story_source(struct story *story) {
    return program_source_create(
        &(struct host_program){.name = "story", .run = tell_story, .check = check_story, .user = story});
}

/* Reads a kernel to its end; returns its warp instructions. */
static unsigned read_kernel(struct stream_source *source, const struct kernel *kernel) {
    unsigned count = 0;
    for (uint64_t cta = 0; cta < kernel_ctas(kernel); cta++)
        for (uint32_t warp = 0; warp < kernel_warps(kernel); warp++) {
            struct warp_stream stream = {.cta = cta, .warp = warp};
            source->ops->open(source, &stream);
            do {
                source->ops->refill(source, &stream);
                REQUIRE(stream.count > 0);
                count += stream.count;
            } while (stream.instr[stream.count - 1].op != OP_exit);
        }
    return count;
}

static unsigned read_all(struct stream_source *source, unsigned *kernels) {
    struct kernel kernel;
    unsigned count = 0;
    *kernels = 0;
    while (source->ops->next_kernel(source, &kernel)) {
        CHECK_EQ(kernel.name, "add");
        CHECK_EQ(kernel_threads(&kernel), 64u);
        CHECK(kernel.registers > 0);
        count += read_kernel(source, &kernel);
        ++*kernels;
    }
    return count;
}

TEST("launches are read in order, results return to the program, and its check runs") {
    struct story story = {.launches = 5};
    struct stream_source *source = story_source(&story);
    struct error found = {0};
    unsigned kernels, count = read_all(source, &kernels);
    CHECK_EQ(kernels, 5u);
    CHECK_EQ(count, 5u * 2 * 9);
    CHECK(!source->ops->failure(source));
    CHECK_EQ(story.value, 15u);
    CHECK_EQ(source->ops->check(source, &found), "passed");
    story.value = 16;
    CHECK_EQ(source->ops->check(source, &found), "failed");
    CHECK_EQ(found.text, "it is 16, expected 15");
    source->ops->destroy(source);
}

TEST("a restarted program runs again from the start and produces the same streams") {
    struct story story = {.launches = 3};
    struct stream_source *source = story_source(&story);
    unsigned kernels, count = read_all(source, &kernels);
    source->ops->restart(source);
    CHECK_EQ(read_all(source, &kernels), count);
    CHECK_EQ(story.runs, 2u);
    CHECK_EQ(story.value, 6u);
    struct kernel kernel;
    source->ops->restart(source);
    CHECK(source->ops->next_kernel(source, &kernel));
    source->ops->restart(source);
    CHECK_EQ(read_all(source, &kernels), count);
    source->ops->destroy(source);
}

TEST("emulation is at most one kernel ahead") {
    struct story story = {.launches = 9};
    struct stream_source *source = story_source(&story);
    struct kernel kernel;
    for (unsigned i = 1; source->ops->next_kernel(source, &kernel); i++) {
        read_kernel(source, &kernel);
        CHECK(__atomic_load_n(&story.seen, __ATOMIC_ACQUIRE) <= i + 1);
    }
    CHECK_EQ(story.seen, 9u);
    source->ops->destroy(source);
}

TEST("in step, a program waits while its kernel is read, and a forked child can read it too") {
    struct story story = {.launches = 3};
    struct stream_source *source = story_source(&story);
    struct kernel kernel;
    source->in_step = true;
    unsigned i = 0;
    for (; source->ops->next_kernel(source, &kernel); i++) {
        CHECK_EQ(story.seen, i); /* this launch has not returned */
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) _exit((int)read_kernel(source, &kernel));
        int status;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status));
        CHECK_EQ((unsigned)WEXITSTATUS(status), read_kernel(source, &kernel));
        CHECK_EQ(story.seen, i);
    }
    CHECK_EQ(i, 3u);
    source->ops->restart(source);
    CHECK(source->ops->next_kernel(source, &kernel));
    source->ops->destroy(source); /* while it waits */
}

TEST("a fault ends the streams of its kernel and the program, and is reported once it is reached") {
    struct story story = {.launches = 5, .fault_at = 3};
    struct stream_source *source = story_source(&story);
    struct kernel kernel;
    struct error found = {0};
    for (unsigned i = 1; i <= 3; i++) {
        REQUIRE(source->ops->next_kernel(source, &kernel));
        CHECK(!source->ops->failure(source));
        read_kernel(source, &kernel);
        CHECK_EQ(source->ops->failure(source) != NULL, i == 3);
    }
    CHECK(!source->ops->next_kernel(source, &kernel));
    REQUIRE(source->ops->failure(source));
    CHECK_TEXT(source->ops->failure(source), "add");
    CHECK_EQ(source->ops->check(source, &found), "none");
    source->ops->destroy(source);
}

/* Launches `copy` with two addresses of the same memory, then `add`. */
static void tell_lie(void *user, struct host *host) {
    unsigned *seen = user;
    static const char copy[] = PTX_HEAD PTX_ADD
        ".visible .entry copy(.param .u64 to, .param .u64 from) {\n"
        "  .reg .b32 %r<2>;\n  .reg .b64 %rd<3>;\n  ld.param.u64 %rd1, [to];\n  ld.param.u64 %rd2, [from];\n"
        "  ld.global.u32 %r1, [%rd2];\n  st.global.u32 [%rd1], %r1;\n  ret;\n}\n";
    host_module(host, "lie.ptx", copy, strlen(copy));
    uint64_t p = host_alloc(host, 256);
    HOST_LAUNCH(host, "copy", dim1(1), dim1(32), 0, HOST_U64(p), HOST_U64(p + 4));
    HOST_LAUNCH(host, "add", dim1(1), dim1(64), 0, HOST_U64(p), HOST_U32(1));
    *seen = !host_failed(host);
}

TEST("a written line that was loaded as read-only is counted, or ends the program after its kernel") {
    for (unsigned strict = 0; strict < 2; strict++) {
        unsigned to_the_end = 2;
        struct stream_source *source =
            program_source_create(&(struct host_program){.name = "lie", .run = tell_lie, .user = &to_the_end});
        source->violations_fail = strict;
        struct kernel kernel;
        struct error first = {0};
        REQUIRE(source->ops->next_kernel(source, &kernel));
        read_kernel(source, &kernel);
        CHECK(!source->ops->failure(source));
        CHECK_EQ(source->ops->next_kernel(source, &kernel), !strict);
        if (strict)
            CHECK_TEXT(source->ops->failure(source), "lie.ptx: line 23 of kernel `copy` writes to the line at 0x");
        if (!strict) {
            read_kernel(source, &kernel);
            CHECK(!source->ops->next_kernel(source, &kernel));
            CHECK_EQ(source->ops->violations(source, &first), 1u);
        }
        CHECK_EQ(source->ops->failure(source) != NULL, strict);
        source->ops->destroy(source);
        CHECK_EQ(to_the_end, !strict);
    }
}

static void forget(void *user, struct host *host) {
    (void)user;
    host_module(host, "test.ptx", text, strlen(text));
    uint64_t p = host_alloc(host, 4);
    HOST_LAUNCH(host, "spin", dim1(2), dim1(64), 0, HOST_U64(p));
}

TEST("destroying the source stops a program that would never end") {
    struct stream_source *source = program_source_create(&(struct host_program){.name = "spin", .run = forget});
    struct kernel kernel;
    CHECK(source->ops->next_kernel(source, &kernel));
    source->ops->destroy(source);
}

TEST("in step, the streams of an endless kernel end beyond the limit, and no kernel follows") {
    struct stream_source *source = program_source_create(&(struct host_program){.name = "spin", .run = forget});
    struct kernel kernel;
    struct error found = {0};
    source->in_step = true;
    source->max_instructions = 100000;
    unsigned count[2];
    for (unsigned i = 0; i < 2; i++) {
        source->ops->restart(source);
        REQUIRE(source->ops->next_kernel(source, &kernel));
        count[i] = read_kernel(source, &kernel);
        CHECK(!source->ops->next_kernel(source, &kernel));
        CHECK(!source->ops->failure(source));
        CHECK_EQ(source->ops->check(source, &found), "none");
    }
    CHECK(count[0] > 4 * 100000);
    CHECK_EQ(count[0], count[1]);
    source->ops->destroy(source);
}

static bool impatient(void *user) { return ++*(unsigned *)user < 2; }

static void wait_long(void *user, struct host *host) {
    (void)user;
    while (!host_failed(host)) continue;
}

TEST("a reader that gives up gets no more kernels and no failure") {
    unsigned asked = 0;
    struct stream_source *source = program_source_create(&(struct host_program){.name = "slow", .run = wait_long});
    source->patience = impatient;
    source->patience_user = &asked;
    struct kernel kernel;
    CHECK(!source->ops->next_kernel(source, &kernel));
    CHECK_EQ(asked, 2u);
    CHECK(!source->ops->failure(source));
    source->ops->destroy(source);
}

/* --- one failure each --- */

static void failing(void *user, struct host *host) {
    unsigned which = *(unsigned *)user;
    host_module(host, "test.ptx", which == 0 ? "nonsense" : text, which == 0 ? 8 : strlen(text));
    uint64_t p = host_alloc(host, which == 1 ? UINT64_C(1) << 55 : 256);
    struct dim one = dim1(1), many = dim1(2048);
    switch (which) {
    case 2: HOST_LAUNCH(host, "sub", one, one, 0, HOST_U64(p)); break;
    case 3: HOST_LAUNCH(host, "add", one, one, 0, HOST_U64(p)); break;
    case 4: HOST_LAUNCH(host, "add", one, one, 0, HOST_U64(p), HOST_U64(1)); break;
    case 5: HOST_LAUNCH(host, "add", one, many, 0, HOST_U64(p), HOST_U32(1)); break;
    case 6: host_memory(host, p + 1, 256); break;
    case 7: host_place(host, p, 1); break;
    case 8: host_symbol(host, "chair", NULL); break;
    default: break;
    }
    host_fail(host, "a later failure");
}

TEST("errors between launches are reported") {
    static const char *const words[] = {
        "test.ptx:1:1",
        "cannot allocate 36028797018963968 bytes",
        "no loaded module has a kernel sub",
        "kernel add has 2 parameters, but 1 arguments are given",
        "argument 1 has 8 bytes, but parameter n has 4",
        "of 2048x1x1 threads",
        "256 bytes at 0x",
        "cannot allocate 1 bytes of device memory at 0x",
        "no loaded module has a variable chair",
    };
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        struct stream_source *source =
            program_source_create(&(struct host_program){.name = "failing", .run = failing, .user = &i});
        struct kernel kernel;
        CHECK(!source->ops->next_kernel(source, &kernel));
        REQUIRE(source->ops->failure(source));
        CHECK_TEXT(source->ops->failure(source), words[i]);
        source->ops->destroy(source);
    }
}

static void use_symbol(void *user, struct host *host) {
    host_module(host, "test.ptx", text, strlen(text));
    uint64_t p = host_alloc(host, 4), bytes = 0, table = host_symbol(host, "table", &bytes);
    uint32_t nine = 9, pair[2] = {10, 20};
    host_write(host, table + 4, &nine, 4);
    HOST_LAUNCH(host, "pair", dim1(1), dim1(1), 0, HOST_U64(p), HOST_BYTES(pair, 8));
    host_read(host, user, p, 4);
    *(uint32_t *)user += (uint32_t)bytes * 1000;
}

TEST("variables of a module are found by name, and structs are passed as bytes") {
    uint32_t result = 0;
    struct stream_source *source =
        program_source_create(&(struct host_program){.name = "symbol", .run = use_symbol, .user = &result});
    struct kernel kernel;
    REQUIRE(source->ops->next_kernel(source, &kernel));
    read_kernel(source, &kernel);
    CHECK(!source->ops->next_kernel(source, &kernel));
    CHECK(!source->ops->failure(source));
    CHECK_EQ(result, 12039u);
    source->ops->destroy(source);
}

/* Two modules with a kernel of the same name: the second's adds 100 more. Launches the first's, untimed, and the second's. */
static void run_modules(void *user, struct host *host) {
    static const char other[] = PTX_HEAD ".visible .global .u32 mine = 7;\n"
                                         ".visible .entry add(.param .u64 p, .param .u32 n) {\n"
                                         "  .reg .b32 %r<2>;\n  .reg .b64 %rd<2>;\n"
                                         "  ld.param.u64 %rd1, [p];\n"
                                         "  ld.param.u32 %r1, [n];\n"
                                         "  add.u32 %r1, %r1, 100;\n"
                                         "  st.global.u32 [%rd1+4], %r1;\n"
                                         "  ret;\n}\n";
    unsigned first = host_module(host, "first.ptx", text, strlen(text));
    unsigned second = host_module(host, "second.ptx", other, strlen(other));
    CHECK_EQ(first, 1u);
    CHECK_EQ(second, 2u);
    CHECK_EQ((const char *)host_program_of(host, second)->variables[0].name, "mine");
    uint64_t p = host_alloc(host, 256);
    struct emu_counts counts = {0};
    struct host_launch launch = {
        .kernel = "add",
        .grid = dim1(1),
        .block = dim1(1),
        .arguments = (struct host_argument[]){HOST_U64(p), HOST_U32(3)},
        .argument_count = 2,
        .module = first,
        .untimed = true,
        .counts = &counts,
    };
    host_launch(host, &launch);
    CHECK_EQ(counts.warp_instructions, 9u);
    launch.module = second;
    launch.untimed = false;
    host_launch(host, &launch);
    CHECK_EQ(counts.warp_instructions, 5u);
    CHECK(!host_failure(host));
    host_read(host, user, p, 8);
    launch.module = 3;
    host_launch(host, &launch);
    CHECK_TEXT(host_failure(host), "no loaded module has a kernel add");
}

TEST("a launch can name its module, and the machine does not see an untimed one") {
    uint32_t result[2] = {0};
    struct stream_source *source =
        program_source_create(&(struct host_program){.name = "modules", .run = run_modules, .user = result});
    struct kernel kernel;
    REQUIRE(source->ops->next_kernel(source, &kernel));
    CHECK_EQ(read_kernel(source, &kernel), 5u);
    CHECK(!source->ops->next_kernel(source, &kernel));
    CHECK_EQ(result[0], 3u);
    CHECK_EQ(result[1], 103u);
    source->ops->destroy(source);
}
