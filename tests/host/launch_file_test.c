/* Launch files: the meaning of each key, and the errors of invalid files. */
#include "host/launch_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "host/programs.h"
#include "test.h"

#define LAUNCH_ADD "launches:\n  - {kernel: add, grid: [1], block: [1], args: [{buffer: a}, {scalar: u32, value: 0}]}\n"

/* A directory with files for each test. */
static char folder[] = "/tmp/sluice-launch-XXXXXX";

static char *put_file(const char *name, const void *content, size_t bytes) {
    if (strstr(folder, "XXXXXX")) REQUIRE(mkdtemp(folder));
    char *path = text_format("%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    REQUIRE(out);
    REQUIRE(fwrite(content, 1, bytes, out) == bytes);
    REQUIRE(fclose(out) == 0);
    return path;
}

static void remove_files(void) {
    static const char *const names[] = {"a.yaml", "a.ptx", "data"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = text_format("%s/%s", folder, names[i]);
        unlink(path);
        free(path);
    }
    rmdir(folder);
    memset(folder + strlen(folder) - 6, 'X', 6);
}

static struct launch_file *open_text(const char *text, struct error *err) {
    static const char ptx[] = PTX_HEAD PTX_ADD PTX_PAIR;
    free(put_file("a.ptx", ptx, strlen(ptx)));
    char *whole = text_format("ptx: a.ptx\n%s", text), *path = put_file("a.yaml", whole, strlen(whole));
    struct launch_file *file = launch_file_open(path, NULL, err);
    free(whole);
    free(path);
    return file;
}

/* Runs the file; its first dump is copied to `to` and must have its size. */
static void run_text(const char *text, void *to, size_t bytes, const char *check, int line) {
    struct test_place place = {__FILE__, line};
    struct error err = {0};
    struct launch_file *file = open_text(text, &err);
    if (!test_check_eq(place, "err.text", "\"\"", test_string(err.text), test_string(""))) test_give_up();
    struct stream_source *source = launch_file_source(file);
    struct kernel kernel;
    struct launch_dump dump;
    while (source->ops->next_kernel(source, &kernel)) {
        for (uint64_t cta = 0; cta < kernel_ctas(&kernel); cta++) {
            struct warp_stream stream = {.cta = cta};
            source->ops->open(source, &stream);
            do source->ops->refill(source, &stream);
            while (stream.count > 0);
        }
    }
    test_check(place, "no failure", !source->ops->failure(source));
    test_check_eq(place, "check", "wanted", test_string(source->ops->check(source, &err)), test_string(check));
    if (to) {
        REQUIRE(launch_file_dump(file, source, 0, &dump) && dump.content);
        REQUIRE(dump.size_bytes == bytes);
        memcpy(to, dump.content, bytes);
    }
    source->ops->destroy(source);
    launch_file_close(file);
    remove_files();
}
#define RUN(text, to, check) run_text(text, to, sizeof(to), check, __LINE__)

static void expect(const char *text, const char *message, int line) {
    struct test_place place = {__FILE__, line};
    struct error err = {0};
    struct launch_file *file = open_text(text, &err);
    test_check(place, "the file is rejected", !file);
    test_check_text(place, "err.text", err.text, message);
    if (file) launch_file_close(file);
    remove_files();
}
#define EXPECT(text, message) expect(text, message, __LINE__)

#define FILLED(bytes, fill) "buffers:\n  - {name: a, bytes: " bytes ", dump: d, fill: " fill "}\n" LAUNCH_ADD

TEST("each kind of fill produces its values") {
    uint32_t u[4];
    float f[4];
    RUN(FILLED("16", "zeros"), u, "none");
    CHECK_EQ(u[0] | u[1] | u[2] | u[3], 0u);
    RUN(FILLED("16", "{kind: const, value: 0xFFFFFFFF}"), u, "none");
    CHECK_EQ(u[3], UINT32_MAX);
    RUN(FILLED("16", "{kind: iota, type: s32, start: 5, step: -3}"), u, "none");
    CHECK_EQ((int32_t)u[3], -4);
    RUN(FILLED("16", "{kind: iota}"), u, "none");
    CHECK_EQ(u[3], 3u);
    RUN(FILLED("16", "{kind: iota, type: f32, start: 0.5, step: 0.25}"), f, "none");
    CHECK_EQ(f[3], 1.25f);
    RUN(FILLED("16", "{kind: const, type: f32, value: 0f7FC00001}"), u, "none");
    CHECK_EQ(u[0], 0x7FC00001u);
    RUN(FILLED("16", "{kind: lcg, seed: 1, shift: 16, mod: 1024}"), u, "none");
    CHECK_EQ(u[0], ((1u * 1664525 + 1013904223) >> 16) % 1024);
    CHECK_EQ(u[1], (((1u * 1664525 + 1013904223) * 1664525 + 1013904223) >> 16) % 1024);
    uint8_t b[7];
    RUN("buffers:\n  - {name: a, bytes: 16}\n  - {name: b, bytes: 7, dump: d, fill: {kind: iota, type: u8, start: 250}}\n" LAUNCH_ADD,
        b, "none");
    CHECK_EQ(b[6], 0u);
    CHECK_EQ(b[5], 255u);
}

TEST("random fills stay in their range, depend on the seed and are repeatable") {
    double d[64], again[64];
    int16_t s[64];
    RUN(FILLED("512", "{kind: random, type: f64, low: -2, high: 3, seed: 4}"), d, "none");
    RUN(FILLED("512", "{kind: random, type: f64, low: -2, high: 3, seed: 4}"), again, "none");
    CHECK(memcmp(d, again, sizeof d) == 0);
    RUN(FILLED("512", "{kind: random, type: f64, low: -2, high: 3, seed: 5}"), again, "none");
    CHECK(memcmp(d, again, sizeof d) != 0);
    double least = 9, most = -9;
    for (unsigned i = 0; i < 64; i++) least = d[i] < least ? d[i] : least, most = d[i] > most ? d[i] : most;
    CHECK(least >= -2 && least < -1.5 && most < 3 && most > 2.5);
    RUN(FILLED("128", "{kind: random, type: s16, low: -1, high: 1}"), s, "none");
    for (unsigned i = 0; i < 64; i++) CHECK(s[i] >= -1 && s[i] <= 1);
}

TEST("set applies after the fill; files provide initial and expected contents") {
    uint32_t u[4];
    RUN(FILLED("16", "{kind: iota, set: [{index: 1, value: 70}, {index: 3, value: 90}]}"), u, "none");
    CHECK_EQ(u[1] + u[3] + u[2], 162u);
    RUN(FILLED("16", "{kind: iota, set: {index: 0, value: 70}}"), u, "none");
    CHECK_EQ(u[0], 70u);
    free(put_file("data", "0123456789abcdef", 16));
    RUN(FILLED("16", "{kind: file, file: data}"), u, "none");
    CHECK(memcmp(u, "0123456789abcdef", 16) == 0);
    free(put_file("data", "0123", 4));
    uint32_t word[1];
    RUN("buffers:\n  - {name: a, bytes: 4, dump: d, expected: data, fill: {kind: const, value: 0x33323130}}\n" LAUNCH_ADD,
        word, "passed");
}

TEST("sums and expected contents determine the check") {
    RUN("buffers:\n  - {name: a, bytes: 16, dump: d, fill: {kind: iota}, final_sum_u32: 6, final_xor_u32: 0}\n" LAUNCH_ADD,
        (uint8_t[16]){0}, "passed");
    RUN("buffers:\n  - {name: a, bytes: 16, dump: d, fill: {kind: iota}, final_xor_u32: 1}\n" LAUNCH_ADD,
        (uint8_t[16]){0}, "failed");
}

TEST("arguments are addresses with an offset, scalars and bytes; launches repeat in order") {
    uint32_t u[2];
    RUN("buffers:\n  - {name: a, bytes: 8, dump: d}\n"
        "launches:\n"
        "  - {kernel: add, grid: [1], block: [2], repeat: 3, args: [{buffer: a}, {scalar: u32, value: 7}]}\n"
        "  - {kernel: add, grid: [1, 1], block: [1, 1, 1], args: [{buffer: a, offset: 4}, {scalar: s32, value: -1}]}\n",
        u, "none");
    CHECK_EQ(u[0], 21u);
    CHECK_EQ(u[1], 20u);
    RUN("buffers:\n  - {name: a, bytes: 8, dump: d}\n"
        "launches:\n"
        "  - {kernel: pair, grid: [1], block: [1], args: [{buffer: a}, {bytes: '0a000000 01_01_00_00'}]}\n",
        u, "none");
    CHECK_EQ(u[0], 10u + 257 + 6);
}

TEST("buffers are placed at given addresses, the others after them") {
    uint64_t addresses[2] = {0};
    RUN("buffers:\n  - {name: b, bytes: 300}\n  - {name: a, bytes: 16, dump: d, gpgpusim_addr: 0xC0010000}\n"
        "launches:\n  - {kernel: add, grid: [1], block: [1], args: [{buffer: b, offset: -256}, {scalar: u32, value: 5}]}\n",
        addresses, "none");
    CHECK_EQ(addresses[0], 5u); /* b follows a, so a is 256 bytes before b */
    EXPECT(
        "buffers:\n  - {name: a, bytes: 300, address: 0xC0000000}\n  - {name: b, bytes: 300, address: 0xC0000100}\n" LAUNCH_ADD,
        "a.yaml:4:36: buffer b overlaps another");
}

TEST("errors give the location and the fix") {
    EXPECT("", "a.yaml:1:1: the file launches nothing: add launches");
    EXPECT("launch: []\n", "a.yaml:2:1: unknown key 'launch' of a launch file; did you mean 'launches'?");
    EXPECT("buffers: 3\n", "a.yaml:2:10: buffers must be a list (- ...), not a value");
    EXPECT("buffers: [3]\n", "a.yaml:2:11: a buffer must be a mapping of its keys (name: ...), not a value");
    EXPECT("buffers: [{name: a}]\n", "a.yaml:2:11: a buffer requires name and bytes");
    EXPECT("buffers: [{name: a, bytes: 0}]\n", "a.yaml:2:28: bytes = 0 is out of range: at least 1");
    EXPECT("buffers: [{name: a, name: b}]\n", "a.yaml:2:21: 'name' is given twice; the first is on line 2");
    EXPECT("launches: [{kernel: add}]\n", "a.yaml:2:12: a launch requires kernel, grid and block");
    EXPECT("launches: [{kernel: ad, grid: [1], block: [1]}]\n", "a.ptx has no kernel 'ad'; did you mean 'add'?");
    EXPECT("launches: [{kernel: add, grid: [1], block: [1]}]\n",
           "a.yaml:2:12: kernel add has 2 parameters, but args has 0");
    EXPECT(
        "launches: [{kernel: add, grid: [1], block: [512, 4], args: [{scalar: u64, value: 0}, {scalar: u32, value: 0}]}]\n",
        "a.yaml:2:44: 2048 threads exceed the limit of 1024");
    EXPECT("launches: [{kernel: add, grid: [0], block: [1]}]\n", "grid[0] = 0 is out of range");
    EXPECT("launches: [{kernel: add, grid: [1], block: [1], args: [{scalar: u8}]}]\n",
           "a.yaml:2:56: an argument must be {buffer: NAME}");
    EXPECT("launches: [{kernel: pair, grid: [1], block: [1], args: [{scalar: u64, value: 0}, {bytes: 0g}]}]\n",
           "bytes must be pairs of hexadecimal digits");
    EXPECT(
        "launches: [{kernel: add, grid: [1], block: [1], args: [{scalar: u64, value: -1}, {scalar: u32, value: 0}]}]\n",
        "a.yaml:2:77: '-1' is not a valid u64");
    EXPECT("kernels: [{symbol: add, static_shared_bytes: 16}]\n" LAUNCH_ADD,
           "kernel add has 0 bytes of static shared memory");
    EXPECT(FILLED("16", "{kind: const}"), "value is required for a fill of kind const, and not allowed otherwise");
    EXPECT(FILLED("16", "{kind: file, file: no-such}"), "no-such: No such file");
    EXPECT(FILLED("16", "{set: {index: 4, value: 1}}"), "index 4 is out of range: there are 4 elements in a");
    EXPECT(FILLED("16", "{kind: random, low: 4}"), "a range requires both low and high");
    EXPECT(FILLED("16", "{type: u33}"), "no type called 'u33'; did you mean 'u32'?");
    EXPECT("name: [1]\n", "a.yaml:2:7: expected text, found a list");
}

TEST("only launched kernels must be executable; the error is located in the PTX") {
    struct error err = {0};
    static const char ptx[] = PTX_HEAD PTX_ADD ".entry bad() {\n  glide.x;\n  ret;\n}\n",
                      good[] = "buffers:\n  - {name: a, bytes: 8}\nkernels:\n  - {symbol: bad}\n" LAUNCH_ADD,
                      bad[] = "launches:\n  - {kernel: bad, grid: [1], block: [1]}\n";
    char *module = put_file("a.ptx", ptx, strlen(ptx)), *path = put_file("a.yaml", good, strlen(good));
    struct launch_file *file = launch_file_open(path, module, &err);
    REQUIRE(file);
    launch_file_close(file);
    free(path);
    path = put_file("a.yaml", bad, strlen(bad));
    CHECK(!launch_file_open(path, module, &err));
    CHECK_TEXT(err.text, "a.ptx:18:3: in `bad`: unknown instruction 'glide'\n  glide.x;\n  ^");
    free(path);
    free(module);
    remove_files();
}

TEST("sizes of any length: the last element and the last word are incomplete") {
    uint8_t b[7];
    RUN("buffers:\n  - {name: a, bytes: 16}\n  - {name: b, bytes: 7, dump: d, fill: {kind: const, value: 0x04030201, set: {index: 1, value: 0x0D0C0B0A}}, final_sum_u32: 0x000F0E0B, final_xor_u32: 0x0408090B}\n" LAUNCH_ADD,
        b, "failed"); /* the sum has a carry to bit 24: 0x04030201 + 0x000C0B0A */
    CHECK(memcmp(b, "\1\2\3\4\12\13\14", 7) == 0);
    RUN("buffers:\n  - {name: a, bytes: 16}\n  - {name: b, bytes: 7, dump: d, fill: {kind: const, value: 0x04030201}, final_sum_u32: 0x04060402, final_xor_u32: 0x04000000}\n" LAUNCH_ADD,
        b, "passed");
}

TEST("variables are set and read by name") {
    uint32_t u[3];
#define PAIR \
    "buffers:\n  - {name: a, bytes: 4, final_sum_u32: 60}\n" \
    "launches:\n  - {kernel: pair, grid: [1], block: [1], args: [{buffer: a}, {bytes: '0a000000 0a000000'}]}\n"
    RUN("variables:\n  - {name: table, dump: d, fill: {set: {index: 1, value: 40}}, final_sum_u32: 52}\n" PAIR, u,
        "passed");
    CHECK_EQ(u[0], 5u); /* its initial value */
    CHECK_EQ(u[1], 40u);
    RUN("variables:\n  - {name: table, dump: d, bytes: 12, fill: {kind: zeros, set: {index: 1, value: 40}}}\n" PAIR, u,
        "passed");
    CHECK_EQ(u[0] + u[2], 0u);
    RUN("variables:\n  - {name: table, dump: d, fill: {kind: iota, start: 39}, final_xor_u32: 1}\n" PAIR, u, "failed");
    CHECK_EQ(u[2], 41u);
    EXPECT("variables:\n  - {name: tabel}\n" PAIR, "a.yaml:3:12: ");
    EXPECT("variables:\n  - {name: tabel}\n" PAIR,
           "has no variable 'tabel' in .global or .const; did you mean 'table'?");
    EXPECT("variables:\n  - {name: table, bytes: 8}\n" PAIR, "a.yaml:3:26: variable table has 12 bytes");
    EXPECT("variables:\n  - {name: table}\n  - {name: table}\n" PAIR, "a.yaml:4:12: variable 'table' is given twice");
    EXPECT("variables:\n  - {name: table, address: 256}\n" PAIR, "unknown key 'address' of a variable");
    EXPECT("variables:\n  - {fill: zeros}\n" PAIR, "a.yaml:3:5: a variable requires name");
    EXPECT("variables:\n  - {name: table, fill: {set: {index: 3, value: 1}}}\n" PAIR,
           "index 3 is out of range: there are 3 elements in table");
    free(put_file("data", "0123", 4));
    EXPECT("variables:\n  - {name: table, expected: data}\n" PAIR, "data has 4 bytes, but variable table has 12");
}

TEST("pointers have four bytes in modules with 32-bit addresses") {
    static const char ptx[] =
        ".version 3.0 .target sm_20\n"
        ".entry put(.param .u32 p, .param .u64 q) { .reg .b32 %r; .reg .b64 %d; ld.param.u32 %r, [p]; st.global.u32 [%r], 7; ld.param.u64 %d, [q]; st.global.u32 [%d+4], 8; ret; }\n";
#define PUT(address, offset) \
    "buffers: [{name: a, bytes: 8, final_sum_u32: 15" address "}]\n" \
    "launches: [{kernel: put, grid: [1], block: [1], args: [{buffer: a" offset "}, {buffer: a}]}]\n"
    static const struct {
        const char *text, *error;
    } cases[] = {{PUT("", ""), NULL},
                 {PUT(", address: 0x5000000", ""), NULL},
                 {PUT(", address: 0x100000000", ""), "0x100000000 in buffer a is not an address of a module"},
                 {PUT(", address: 0x4FFFF00", ""), "expected 0x5000000 to 0xffffffff"},
                 {PUT("", ", offset: 0x40000000"), "a.yaml:2:56: 0x100000000 in buffer a"}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct error err = {0};
        char *module = put_file("a.ptx", ptx, strlen(ptx)),
             *path = put_file("a.yaml", cases[i].text, strlen(cases[i].text));
        struct launch_file *file = launch_file_open(path, module, &err);
        CHECK_EQ(file != NULL, !cases[i].error);
        if (cases[i].error) CHECK_TEXT(err.text, cases[i].error);
        if (file) {
            struct stream_source *source = launch_file_source(file);
            struct kernel kernel;
            while (source->ops->next_kernel(source, &kernel))
                ;
            CHECK_EQ(source->ops->check(source, &err), "passed");
            source->ops->destroy(source);
            launch_file_close(file);
        }
        free(module);
        free(path);
        remove_files();
    }
}
