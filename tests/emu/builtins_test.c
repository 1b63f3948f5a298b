/* printf, malloc, free and assertions. */
#include "emu/run_ptx.h"

#include "emu/print.h"

#define DECLARATIONS \
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n" \
    ".extern .func (.param .b64 r) malloc(.param .b64 n); .extern .func free(.param .b64 p);\n" \
    ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 u, .param .b64 s);\n" \
    ".global .align 1 .b8 hello[12] = {116, 37, 100, 58, 32, 37, 46, 49, 102, 10, 0};\n" /* "t%d: %.1f\n" */ \
    ".global .align 1 .b8 what[6] = {120, 32, 62, 32, 48, 0}; .global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};\n"

TEST("printf prints the text of each lane, in lane order") {
    struct ptx_run run = {0};
    bool good = run_ptx(
        &run,
        PTX_KERNEL_WITH(
            DECLARATIONS,
            ".local .align 8 .b8 l[16]; st.local.u32 [l], %r0; cvt.rn.f64.u32 %fd1, %r0; mul.f64 %fd1, %fd1, 0d3FF8000000000000; st.local.f64 [l+8], %fd1;\n"
            "mov.u64 %rd3, l; cvta.local.u64 %rd3, %rd3; mov.u64 %rd4, hello; cvta.global.u64 %rd4, %rd4;\n"
            "{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd4; st.param.b64 [a], %rd3; call (r), vprintf, (f, a); ld.param.b32 %r3, [r]; }\n"
            "st.global.u32 [%rd2], %r3;"),
        1, 3);
    if (!good) printf("    %s\n", run.err.text);
    REQUIRE(good);
    CHECK_EQ((const char *)run.printed, "t0: 0.0\nt1: 1.5\nt2: 3.0\n");
    CHECK_EQ(run_u32(&run)[1], 2u);
    run_end(&run);
}

TEST("malloc returns separate memory to every lane until the heap is exhausted; free releases it") {
    static const char text[] = PTX_KERNEL_WITH(
        DECLARATIONS,
        "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 1000; call (r), malloc, (n); ld.param.b64 %rd3, [r]; }\n"
        "mul.wide.u32 %rd4, %r2, 8; add.s64 %rd4, %rd0, %rd4; st.global.u64 [%rd4], %rd3; setp.eq.u64 %p1, %rd3, 0; @%p1 exit; st.u32 [%rd3], %r0; st.u32 [%rd3+996], %r0;\n"
        "ld.u32 %r3, [%rd3]; setp.ne.u32 %p2, %r3, %r0; @%p2 trap; setp.eq.u32 %p3, %r0, 0; @%p3 exit;\n"
        "{ .param .b64 p; st.param.b64 [p], %rd3; call free, (p); }");
    struct ptx_run run = {0};
    REQUIRE(run_load(&run, text));
    run.device.heap_bytes = 20500;
    REQUIRE(run_loaded(&run, 1, 32));
    for (unsigned i = 0; i < 32; i++) CHECK_EQ(run_u64(&run)[i] != 0, i < 20);
    for (unsigned i = 1; i < 20; i++) CHECK(run_u64(&run)[i] >= run_u64(&run)[i - 1] + 1000);
    CHECK_EQ(run.device.heap_used, 1000u);
    run_end(&run);
}

TEST("free of another address, and an access beyond the allocated memory, are faults") {
    struct ptx_run run = {0};
    CHECK(!run_ptx(&run, PTX_KERNEL_WITH(DECLARATIONS, "{ .param .b64 p; st.param.b64 [p], %rd0; call free, (p); }"), 1,
                   1));
    CHECK_TEXT(run.err.text, "free of 0xc0000000, which malloc did not return");
    run_end(&run);
    run = (struct ptx_run){0};
    CHECK(!run_ptx(
        &run,
        PTX_KERNEL_WITH(
            DECLARATIONS,
            "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 1000; call (r), malloc, (n); ld.param.b64 %rd3, [r]; } st.u32 [%rd3+1000], %r0;"),
        1, 1));
    CHECK_TEXT(run.err.text, "0 bytes after the 1000-byte allocation");
    run_end(&run);
}

TEST("a failed assertion reports its text, file, line, block and thread") {
    struct ptx_run run = {0};
    CHECK(!run_ptx(
        &run,
        PTX_KERNEL_WITH(
            DECLARATIONS,
            "setp.ne.u32 %p1, %r2, 37; @%p1 ret; mov.u64 %rd3, what; cvta.global.u64 %rd3, %rd3; mov.u64 %rd4, file; cvta.global.u64 %rd4, %rd4;\n"
            "{ .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 u; .param .b64 s; st.param.b64 [m], %rd3; st.param.b64 [f], %rd4; st.param.b32 [l], 12; st.param.b64 [u], %rd4; st.param.b64 [s], 1;\n"
            "call __assertfail, (m, f, l, u, s); }"),
        2, 32));
    CHECK_TEXT(run.err.text, "block (1,0,0), thread (5,0,0): a.cu:12: a.cu: assertion `x > 0` failed");
    run_end(&run);
}

static bool read_host(void *user, uint64_t address, void *data, unsigned bytes) {
    (void)user;
    memcpy(data, (const void *)(uintptr_t)address, bytes);
    return true;
}

TEST("formats work as in C") {
    struct {
        int32_t i;
        uint32_t u;
        int64_t l;
        double d;
        const char *s;
        int32_t c;
    } a = {-5, 0xBEEF, -1234567890123, 2.5, "text", 'q'};
    char text[PRINT_TEXT_BYTES];
    uint64_t bad = 0;
    int used =
        print_format(read_host, NULL, (uintptr_t) "%5d|%-8x|%lld|%+08.3f|%s|%c|%%|%y", (uintptr_t)&a, text, &bad);
    CHECK_EQ((const char *)text, "   -5|beef    |-1234567890123|+002.500|text|q|%|%y");
    CHECK_EQ(used, 6);
    struct {
        int32_t width, precision;
        double d;
        uint64_t u;
        void *p;
    } b = {12, 3, 1e-5, UINT64_MAX, (void *)0x10};
    used = print_format(read_host, NULL, (uintptr_t) "%*.*e|%llu|%p|%99999d", (uintptr_t)&b, text, &bad);
    CHECK_EQ((const char *)text, "   1.000e-05|18446744073709551615|0x10|%99999d");
    CHECK_EQ(used, 5);
}

/* The text of a format with arguments in memory; `*used` is the number of arguments, -1 after a failed read. */
static const char *formatted(const char *format, const void *arguments, int *used) {
    static char text[PRINT_TEXT_BYTES];
    uint64_t bad = 0;
    *used = print_format(read_host, NULL, (uintptr_t)format, (uintptr_t)arguments, text, &bad);
    return text;
}

TEST("widths and precisions as arguments are limited, and formats that are too long are printed unchanged") {
    int used;
    const int32_t wide[] = {1 << 20, 7}, narrow[] = {-(1 << 20), 7}, three[] = {-3, 7};
    CHECK_EQ(strlen(formatted("%*d", wide, &used)), min_u64(4096, PRINT_TEXT_BYTES - 1));
    CHECK_EQ(used, 2);
    CHECK_EQ(strncmp(formatted("%*d|", narrow, &used), "7  ", 3), 0);
    CHECK_EQ(formatted("%*d|", three, &used), "7  |");
    CHECK_EQ(formatted("%9999d|", &wide[1], &used)[0], ' ');
    CHECK_EQ(formatted("%10000d|", &wide[1], &used), "%10000d|");
    CHECK_EQ(used, 0);
    CHECK_EQ(formatted("%0000000000000000000000000000000000000000d", wide, &used),
             "%0000000000000000000000000000000000000000d");
    CHECK_EQ(formatted("%+ #05d", &wide[1], &used), "+0007");
}

TEST("arguments are aligned to their size, and lengths select 4 or 8 bytes") {
    struct {
        int32_t a;
        int64_t b;
        int16_t c, unused;
        uint32_t d;
        uint64_t e;
        double f;
    } arguments = {-1, -2, -3, -1, 4, 5, 0.5};
    int used;
    CHECK_EQ(formatted("%i %li %hd %u %zx %G", &arguments, &used), "-1 -2 -3 4 5 0.5");
    CHECK_EQ(used, 6);
    const void *null = NULL;
    CHECK_EQ(formatted("%s|%", &null, &used), "(null)|%");
    const char *text = "abcdef";
    CHECK_EQ(formatted("%.3s|%8s|", (const char *[]){text, text}, &used), "abc|  abcdef|");
    CHECK_EQ(formatted("%X %o", (uint32_t[]){255, 8}, &used), "FF 10");
}

TEST("a text longer than the buffer is truncated") {
    static char longer[2 * PRINT_TEXT_BYTES];
    memset(longer, 'x', sizeof longer - 1);
    const char *argument = longer;
    int used;
    CHECK_EQ(strlen(formatted("ab%s", &argument, &used)), (size_t)PRINT_TEXT_BYTES - 1);
    CHECK_EQ(strlen(formatted(longer, NULL, &used)), (size_t)PRINT_TEXT_BYTES - 1);
    CHECK_EQ(used, 0);
}

static bool read_none(void *user, uint64_t address, void *data, unsigned bytes) {
    return address != *(uint64_t *)user && read_host(NULL, address, data, bytes);
}

TEST("a format or argument that cannot be read is reported with its address") {
    char text[PRINT_TEXT_BYTES];
    const int32_t arguments[] = {1, 2, 3};
    uint64_t unreadable = (uintptr_t)&arguments[1], bad = 0;
    CHECK_EQ(print_format(read_none, &unreadable, (uintptr_t) "%d %d %d", (uintptr_t)arguments, text, &bad), -1);
    CHECK_EQ(bad, unreadable);
    static const char format[] = "abc";
    unreadable = (uintptr_t)&format[2];
    CHECK_EQ(print_format(read_none, &unreadable, (uintptr_t)format, 0, text, &bad), -1);
    CHECK_EQ(bad, unreadable);
}
