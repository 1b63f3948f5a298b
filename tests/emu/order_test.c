/* The order of emulation, observed by tickets that warps take, and limits of launches at their edges. */
#include "emu/run_ptx.h"

/* Warp i of the grid writes its ticket to out[i], then runs `spin` more instructions and writes a second one behind. */
#define TICKETS(spin) \
    PTX_KERNEL( \
        "mov.u32 %r3, %laneid; setp.ne.u32 %p1, %r3, 0; @%p1 exit; shr.u32 %r4, %r2, 5; mul.wide.u32 %rd3, %r4, 4;\n" \
        "add.s64 %rd3, %rd0, %rd3; atom.global.add.u32 %r5, [%rd1], 1; st.global.u32 [%rd3], %r5;\n" \
        "mov.u32 %r6, 0; again: add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, " #spin "; @%p2 bra again;\n" \
        "atom.global.add.u32 %r5, [%rd1], 1; st.global.u32 [%rd3+32768], %r5;")

TEST("warps run in grid order, each for a quantum of 128 instructions") {
    struct ptx_run run = {0};
    enum { WARPS = 15 };
    REQUIRE(run_ptx(&run, TICKETS(100), 5, 96)); /* 300 instructions between the tickets */
    for (unsigned i = 0; i < WARPS; i++) {
        CHECK_EQ(run_u32(&run)[i], i);
        CHECK_EQ(run_u32(&run)[8192 + i], WARPS + i);
    }
    run_end(&run);
    REQUIRE(run_ptx(&run, TICKETS(1), 5, 96)); /* all within the first quantum */
    for (unsigned i = 0; i < WARPS; i++) {
        CHECK_EQ(run_u32(&run)[i], 2 * i);
        CHECK_EQ(run_u32(&run)[8192 + i], 2 * i + 1);
    }
    run_end(&run);
}

TEST("a window of 128 CTAs runs; each that ends is replaced by the next in the following round") {
    struct ptx_run run = {0};
    enum { CTAS = 300 };
    REQUIRE(run_ptx(&run, TICKETS(1), CTAS, 32));
    for (unsigned i = 0; i < CTAS; i++) CHECK_EQ(run_u32(&run)[i], 2 * i);
    run_end(&run);
    /* Second tickets of the window come before any of the next CTAs. */
    REQUIRE(run_ptx(&run, TICKETS(100), CTAS, 32));
    for (unsigned i = 0; i < 128; i++) {
        CHECK_EQ(run_u32(&run)[i], i);
        CHECK_EQ(run_u32(&run)[8192 + i], 128 + i);
        CHECK_EQ(run_u32(&run)[128 + i], 256 + i);
    }
    run_end(&run);
}

TEST("CTAs that count in memory while they wait for a later one also let it in") {
    struct ptx_run run = {0};
    REQUIRE(run_ptx(
        &run,
        PTX_KERNEL(
            "setp.eq.u32 %p1, %r1, 299; @%p1 bra set; wait: red.global.add.u32 [%rd1+4], 1; nanosleep.u32 1; ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait; bra both;\n"
            "set: st.volatile.global.u32 [%rd1], 1; both: st.global.u32 [%rd2], 9;"),
        300, 1));
    for (unsigned i = 0; i < 300; i++) CHECK_EQ(run_u32(&run)[i], 9u);
    CHECK(run_input(&run)[1] > 299);
    run_end(&run);
}

/* Whether a kernel with these directives can be launched; false with an error. */
static bool launches(const char *directives, struct launch shape, struct error *err) {
    char text[1024];
    struct ptx_run run = {0};
    snprintf(text, sizeof text, PTX_HEADER ".visible .entry k(.param .u64 out, .param .u64 in) %s { ret; }\n",
             directives);
    REQUIRE(run_load(&run, text));
    uint64_t parameters[2] = {0};
    struct launch launch = run_launch_of(&run, 1, 1, parameters);
    memcpy(launch.grid, shape.grid, sizeof launch.grid);
    memcpy(launch.block, shape.block, sizeof launch.block);
    launch.dynamic_shared_bytes = shape.dynamic_shared_bytes;
    bool good = emu_run(&run.device, &launch, NULL, NULL, err);
    run_end(&run);
    return good;
}

TEST("a launch at a limit is accepted, one beyond it is rejected") {
    static const struct {
        const char *directives;
        struct launch most, beyond;
        const char *says;
    } cases[] = {
        {"",
         {.grid = {1, 1, 1}, .block = {1024, 1, 1}},
         {.grid = {1, 1, 1}, .block = {1025, 1, 1}},
         "1025x1x1 threads"},
        {"",
         {.grid = {1, 1, 1}, .block = {1, 1024, 1}},
         {.grid = {1, 1, 1}, .block = {1, 1025, 1}},
         "1x1025x1 threads"},
        {"", {.grid = {1, 1, 1}, .block = {1, 1, 64}}, {.grid = {1, 1, 1}, .block = {1, 1, 65}}, "1x1x65 threads"},
        {"",
         {.grid = {1, 1, 1}, .block = {16, 8, 8}},
         {.grid = {1, 1, 1}, .block = {16, 9, 8}},
         "has 1152 threads; the limit is 1024"},
        {"",
         {.grid = {1, 65535, 1}, .block = {1, 1, 1}},
         {.grid = {1, 65536, 1}, .block = {1, 1, 1}},
         "1x65536x1 blocks"},
        {"",
         {.grid = {1, 1, 65535}, .block = {1, 1, 1}},
         {.grid = {1, 1, 65536}, .block = {1, 1, 1}},
         "1x1x65536 blocks"},
        {"",
         {.grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_shared_bytes = 227 * 1024},
         {.grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_shared_bytes = 227 * 1024 + 1},
         "232449 of dynamic shared memory; the limit is 232448"},
        {".maxntid 8, 4, 2",
         {.grid = {1, 1, 1}, .block = {64, 1, 1}},
         {.grid = {1, 1, 1}, .block = {65, 1, 1}},
         "has 65 threads; the limit is 64"},
        {".maxntid 8, 4",
         {.grid = {1, 1, 1}, .block = {1, 32, 1}},
         {.grid = {1, 1, 1}, .block = {1, 33, 1}},
         "has 33 threads; the limit is 32"},
        {".reqntid 8, 4",
         {.grid = {2, 1, 1}, .block = {8, 4, 1}},
         {.grid = {2, 1, 1}, .block = {4, 8, 1}},
         "the kernel requires 8x4x1"},
        {".reqntid 8, 4, 2",
         {.grid = {2, 1, 1}, .block = {8, 4, 2}},
         {.grid = {2, 1, 1}, .block = {8, 4, 1}},
         "the kernel requires 8x4x2"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error err = {0};
        if (!CHECK(launches(cases[i].directives, cases[i].most, &err))) printf("      case %zu: %s\n", i, err.text);
        CHECK(!launches(cases[i].directives, cases[i].beyond, &err));
        CHECK_TEXT(err.text, cases[i].says);
    }
}

/* The first touched block of the local store of a warp. */
static uint64_t local_block(uint32_t ctas, uint32_t threads, uint64_t cta, uint32_t warp) {
    static struct run_stream stream;
    struct ptx_run run = {0};
    REQUIRE(run_trace(&run, PTX_KERNEL(".local .align 4 .b32 l[32]; st.local.u32 [l], %r0;"), ctas, threads, cta, warp,
                      &stream));
    const struct instr *store = stream_find(&stream, OP_store, 0);
    REQUIRE(store && store->space == SPACE_LOCAL);
    uint64_t block = touch_address(stream.touch[store - stream.instr][0]);
    run_end(&run);
    return block;
}

TEST("every warp has its own area of local memory, which the CTA 4096 places later reuses") {
    uint64_t first = local_block(4098, 64, 0, 0), stride = local_block(4098, 64, 0, 1) - first;
    CHECK(stride >= 32 * 32 * 4);
    CHECK_EQ(local_block(4098, 64, 1, 0), first + 2 * stride);
    CHECK_EQ(local_block(4098, 64, 4095, 1), first + (2 * 4095 + 1) * stride);
    CHECK_EQ(local_block(4098, 64, 4096, 0), first);
    CHECK_EQ(local_block(4098, 64, 4097, 1), first + 3 * stride);
}
