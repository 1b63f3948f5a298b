/* Kernels of tests/emu/threads, compiled by clang and nvcc: threads of a warp that wait for each other. Their results are
 * compared with those of the same algorithm on the host. */
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "emu/emu.h"
#include "ptx/parser.h"
#include "test.h"

#define COMPILED(name) SLUICE_SOURCE_DIR "/tests/emu/threads/" name
#define VERSIONS(name) \
    { COMPILED(name ".clang-O0.ptx"), COMPILED(name ".clang-O3.ptx"), COMPILED(name ".nvcc.ptx") }

enum { BLOCKS = 3, THREADS = 64, ALL = BLOCKS * THREADS };

/* Runs a kernel of a file with two or three pointers to buffers. */
static bool kernel_run(const char *file, const char *name, void *const buffers[3], const size_t bytes[3]) {
    struct error err = {0};
    struct device device;
    device_init(&device);
    uint64_t address[3] = {0};
    for (unsigned i = 0; i < 3; i++) {
        if (bytes[i]) address[i] = memory_allocate(&device.memory, bytes[i]);
        if (bytes[i]) memcpy(memory_at(&device.memory, address[i], bytes[i]), buffers[i], bytes[i]);
    }
    struct ptx_module *module = ptx_parse_file(file, &err);
    struct loaded_module *loaded = module ? device_load(&device, module, &err) : NULL;
    const struct launch launch = {.module = loaded,
                                  .kernel = loaded ? program_kernel(loaded_program(loaded), name) : NULL,
                                  .grid = {BLOCKS, 1, 1},
                                  .block = {THREADS, 1, 1},
                                  .parameters = (const uint8_t *)address};
    bool good = launch.kernel && emu_run(&device, &launch, NULL, NULL, &err);
    if (!good) printf("    %s: %s: %s\n", file, name, err.text);
    for (unsigned i = 0; i < 3; i++)
        if (bytes[i]) memcpy(buffers[i], memory_at(&device.memory, address[i], bytes[i]), bytes[i]);
    if (loaded) device_unload(&device, loaded);
    device_release(&device);
    return good;
}

static void words_fill(uint32_t *words, unsigned count) {
    uint64_t state = 7;
    for (unsigned i = 0; i < count; i++) words[i] = (uint32_t)random_next(&state) >> 1;
}

struct node {
    uint32_t key, next, lock, by;
};

TEST("threads insert into a sorted list with a lock in each node") {
    static const char *const files[] = VERSIONS("list");
    for (size_t f = 0; f < COUNT_OF(files); f++) {
        struct node nodes[2 + ALL] = {{.next = 1}, {.key = UINT32_MAX}};
        uint32_t keys[ALL];
        words_fill(keys, ALL);
        REQUIRE(
            kernel_run(files[f], "insert", (void *[]){nodes, keys, NULL}, (size_t[]){sizeof nodes, sizeof keys, 0}));
        unsigned count = 0, last = 0;
        bool seen[ALL] = {false};
        for (uint32_t at = nodes[0].next; at != 1 && count <= ALL; at = nodes[at].next, count++) {
            REQUIRE(at < 2 + ALL);
            const struct node *n = &nodes[at];
            CHECK(n->key >= last);
            CHECK_EQ(n->lock, 0u);
            REQUIRE(n->by < ALL);
            CHECK_EQ(n->key, keys[n->by]);
            CHECK(!seen[n->by]);
            seen[n->by] = true;
            last = n->key;
        }
        CHECK_EQ(count, ALL + 0u);
    }
}

TEST("threads count behind one lock") {
    static const char *const files[] = VERSIONS("list");
    for (size_t f = 0; f < COUNT_OF(files); f++) {
        uint32_t lock = 0, counter = 0, turn[ALL] = {0};
        REQUIRE(kernel_run(files[f], "count", (void *[]){&lock, &counter, turn}, (size_t[]){4, 4, sizeof turn}));
        bool seen[ALL] = {false};
        for (unsigned i = 0; i < ALL; i++)
            if (CHECK(turn[i] < ALL)) seen[turn[i]] = true;
        for (unsigned i = 0; i < ALL; i++) CHECK(seen[i]);
        CHECK_EQ(counter, ALL + 0u);
        CHECK_EQ(lock, 0u);
    }
}

/* One warp on the host: the values of `in` and the results. */
typedef void reference(uint32_t out[32], const uint32_t in[32]);

static void kernel_check(const char *name, reference *expect) {
    static const char *const files[] = VERSIONS("lanes");
    for (size_t f = 0; f < COUNT_OF(files); f++) {
        uint32_t in[ALL], out[ALL] = {0}, wanted[ALL];
        words_fill(in, ALL);
        REQUIRE(kernel_run(files[f], name, (void *[]){out, in, NULL}, (size_t[]){sizeof out, sizeof in, 0}));
        for (unsigned i = 0; i < ALL; i += 32) expect(wanted + i, in + i);
        for (unsigned i = 0; i < ALL; i++)
            if (!CHECK_EQ(out[i], wanted[i])) {
                printf("      %s: %s: thread %u\n", files[f], name, i);
                break;
            }
    }
}

static void exchange(uint32_t out[32], const uint32_t in[32]) {
    uint32_t offered[32], votes = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        uint32_t y = in[lane];
        for (unsigned k = 0; k < lane && lane % 2 == 0; k++) y = y * 1664525u + 1013904223u;
        offered[lane] = lane % 2 ? y * 3 : y;
        votes |= (uint32_t)((lane % 2 ? y & 1 : y & 2) != 0) << lane;
    }
    for (unsigned lane = 0; lane < 32; lane++) out[lane] = (offered[(lane + 5) % 32] + (lane % 2 ? 7 : 0)) ^ votes;
}

static void pipeline(uint32_t out[32], const uint32_t in[32]) {
    for (unsigned lane = 0; lane < 32; lane++) out[lane] = in[lane] + (lane ? out[lane - 1] : 0);
}

static void rounds(uint32_t out[32], const uint32_t in[32]) {
    uint32_t sum[32] = {0};
    for (unsigned r = 0; r < 20; r++) {
        unsigned first = 0;
        while (first < 32 && r >= in[first] % 20) first++;
        const uint32_t offered = first < 32 ? sum[first] + first : 0;
        for (unsigned lane = first; lane < 32; lane++)
            if (r < in[lane] % 20) sum[lane] = sum[lane] * 31 + offered + r;
    }
    for (unsigned lane = 0; lane < 32; lane++) out[lane] = sum[lane] + sum[31 - lane];
}

TEST("lanes exchange values at different places") { kernel_check("exchange", exchange); }
TEST("lanes wait for the value of the lane below") { kernel_check("pipeline", pipeline); }
TEST("lanes leave a loop with shuffles and votes at different times") { kernel_check("rounds", rounds); }
