/* The order of emulation depends only on the program and its launch: whichever machine reads the streams of a kernel
 * full of races and atomics, and whether emulation runs ahead on a separate thread or in step with the machine,
 * every record of every warp is the same, and so are the contents of memory. */
#include "host/programs.h"
#include "machine/runs.h"
#include "stream/pack.h"
#include "stream/trace.h"

#include "emu/run_ptx.h"

/* What a thread adds, loads and how often it goes round depends on who was before it, all over the grid. */
static const char racing[] = PTX_KERNEL(
    "mov.u32 %r5, 0; loop: atom.global.add.u32 %r3, [%rd1], 1; and.b32 %r4, %r3, 1023; mul.wide.u32 %rd3, %r4, 4; add.s64 %rd3, %rd0, %rd3;\n"
    "ld.global.u32 %r6, [%rd3]; mad.lo.u32 %r6, %r6, 5, %r2; st.global.u32 [%rd3], %r6; and.b32 %r7, %r6, 4092; cvt.u64.u32 %rd4, %r7; add.s64 %rd4, %rd1, %rd4;\n"
    "red.global.max.u32 [%rd4+128], %r3; and.b32 %r7, %r3, 7; add.u32 %r5, %r5, 1; add.u32 %r7, %r7, %r5; setp.lt.u32 %p1, %r7, 10; @%p1 bra loop;\n"
    "bar.sync 0; ld.global.u32 %r8, [%rd1]; atom.global.exch.b32 %r9, [%rd1+64], %r8; add.u32 %r8, %r8, %r9; st.global.u32 [%rd2+4096], %r8;");
enum { BLOCKS = 150, THREADS = 64, WARPS = BLOCKS * THREADS / 32 };

/* --- the streams of a kernel as bytes: each warp's records packed against blank ones, and a digest of that --- */

struct digests {
    uint64_t of_warp[WARPS], memory;
    uint64_t records;
};
static uint64_t digest_add(uint64_t digest, const void *bytes, size_t size) { /* FNV-1a */
    for (size_t i = 0; i < size; i++) digest = (digest ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001B3);
    return digest;
}
static void digest_records(struct digests *digests, const struct warp_stream *warp) {
    static const struct instr blank;
    uint64_t *digest = &digests->of_warp[warp->cta * (THREADS / 32) + warp->warp];
    for (uint32_t i = 0; i < warp->count; i++) {
        uint8_t bytes[PACK_RECORD_BYTES];
        struct packer packer = {.bytes = bytes, .run_at = PACK_NO_RUN};
        pack_start(&packer.context);
        pack_put(&packer, &blank, &warp->instr[i], &warp->touch[warp->instr[i].touches]);
        *digest = digest_add(*digest, bytes, packer.used);
        digests->records++;
    }
}

/* --- a machine's source that also notes what is read --- */

struct spy {
    struct stream_source source;
    struct stream_source *inner;
    struct digests digests;
    uint64_t memory; /* of the program's thread */
};
static bool spy_next(struct stream_source *source, struct kernel *kernel) {
    struct stream_source *inner = ((struct spy *)source)->inner;
    return inner->ops->next_kernel(inner, kernel);
}
static void spy_open(struct stream_source *source, struct warp_stream *warp) {
    struct stream_source *inner = ((struct spy *)source)->inner;
    inner->ops->open(inner, warp);
}
static void spy_refill(struct stream_source *source, struct warp_stream *warp) {
    struct spy *spy = (struct spy *)source;
    spy->inner->ops->refill(spy->inner, warp);
    digest_records(&spy->digests, warp);
}
static void spy_restart(struct stream_source *source) {
    struct spy *spy = (struct spy *)source;
    spy->inner->ops->restart(spy->inner);
    spy->digests = (struct digests){0};
}
static const char *spy_failure(const struct stream_source *source) {
    const struct stream_source *inner = ((const struct spy *)source)->inner;
    return inner->ops->failure(inner);
}
static const char *spy_check(struct stream_source *source, struct error *found) {
    struct stream_source *inner = ((struct spy *)source)->inner;
    return inner->ops->check(inner, found);
}
static const struct stream_ops spy_ops = {.name = "spy",
                                          .next_kernel = spy_next,
                                          .open = spy_open,
                                          .refill = spy_refill,
                                          .restart = spy_restart,
                                          .failure = spy_failure,
                                          .check = spy_check};

static void run_racing(void *user, struct host *host) {
    host_module(host, "racing.ptx", racing, strlen(racing));
    const uint64_t out = host_alloc(host, RUN_BUFFER_BYTES), in = host_alloc(host, RUN_BUFFER_BYTES);
    HOST_LAUNCH(host, "k", dim1(BLOCKS), dim1(THREADS), 0, HOST_U64(out), HOST_U64(in));
    uint8_t *memory = mem_alloc(2, RUN_BUFFER_BYTES);
    host_read(host, memory, out, RUN_BUFFER_BYTES);
    host_read(host, memory + RUN_BUFFER_BYTES, in, RUN_BUFFER_BYTES);
    *(uint64_t *)user = digest_add(0, memory, 2 * RUN_BUFFER_BYTES);
    free(memory);
}

static void digests_of_machine(const char *gpu, const char *const *settings, struct digests *digests,
                               uint64_t *cycles) {
    struct spy spy = {.source.ops = &spy_ops};
    spy.inner = program_source_create(&(struct host_program){.name = "racing", .run = run_racing, .user = &spy.memory});
    struct run *run = run_of(gpu, &spy.source, settings);
    run_go(run, (struct run_options){0});
    *cycles = run->result.cycles;
    run_destroy(run);
    spy.inner->ops->destroy(spy.inner);
    *digests = spy.digests;
    digests->memory = spy.memory;
}

TEST_LONG_SANITIZED("the streams and the memory of a kernel full of races are the same bytes on every machine") {
    const struct {
        const char *gpu;
        const char *const *settings;
    } machines[] = {
        {"fermi-15sm", NO_SETTINGS},
        {"fermi-15sm", SETTINGS("sm.warp_scheduler=lrr", "gpu.cta_scheduler=rr")},
        {"icc-32sm", NO_SETTINGS},
        {"adaptive-80sm", NO_SETTINGS},
        {"adaptive-80sm", SETTINGS("llc.organisation=private", "noc.bypass=true")},
        {"selrep-64sm", SETTINGS("sm.ctas=1")},
    };
    static struct digests first, other;
    uint64_t first_cycles, cycles, different = 0;
    digests_of_machine(machines[0].gpu, machines[0].settings, &first, &first_cycles);
    CHECK(first.records > WARPS * 20);
    for (size_t i = 1; i < COUNT_OF(machines); i++) {
        digests_of_machine(machines[i].gpu, machines[i].settings, &other, &cycles);
        CHECK(memcmp(&first, &other, sizeof first) == 0);
        different += cycles != first_cycles;
    }
    CHECK(different > 0); /* they are different machines */
}

/* --- the same without a machine: any memory limit of the trace, any order of reading --- */

static void digests_of_trace(uint64_t memory_bytes, bool backwards, struct digests *digests, uint64_t *packed_bytes) {
    struct ptx_run run = {0};
    REQUIRE(run_load(&run, racing));
    const uint64_t parameters[2] = {run.out, run.in};
    const struct launch launch = run_launch_of(&run, BLOCKS, THREADS, parameters);
    const struct program *program = loaded_program(run.loaded);
    struct kernel kernel = {.name = "k", .grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};
    struct trace *trace = trace_create(&kernel, program->records, program->record_count, memory_bytes);
    const bool good = emu_run(&run.device, &launch, trace, &run.counts, &run.err);
    trace_finish(trace, good);
    REQUIRE(good);
    *packed_bytes = trace_use(trace).total_bytes;
    memset(digests, 0, sizeof *digests);
    for (uint32_t i = 0; i < WARPS; i++) {
        const uint32_t w = backwards ? WARPS - 1 - i : i;
        struct warp_stream warp = {.cta = w / (THREADS / 32), .warp = w % (THREADS / 32)};
        trace_open(trace, &warp);
        do {
            trace_refill(trace, &warp);
            REQUIRE(warp.count > 0);
            digest_records(digests, &warp);
        } while (warp.instr[warp.count - 1].op != OP_exit);
    }
    digests->memory = digest_add(digest_add(0, run_u32(&run), RUN_BUFFER_BYTES), run_input(&run), RUN_BUFFER_BYTES);
    trace_destroy(trace);
    run_end(&run);
}

TEST("the streams of a kernel full of races are the same bytes for every memory limit and order of reading") {
    static struct digests machine, kept, other;
    uint64_t cycles, bytes, other_bytes;
    digests_of_machine("fermi-15sm", NO_SETTINGS, &machine, &cycles);
    digests_of_trace(TRACE_MEMORY_BYTES, false, &kept, &bytes);
    CHECK(memcmp(&machine, &kept, sizeof kept) == 0);
    static const uint64_t rooms[] = {0, 1, 4096, 100000};
    for (size_t i = 0; i < COUNT_OF(rooms); i++) {
        digests_of_trace(rooms[i], i % 2, &other, &other_bytes);
        CHECK(memcmp(&kept, &other, sizeof kept) == 0);
        CHECK_EQ(other_bytes, bytes);
    }
}
