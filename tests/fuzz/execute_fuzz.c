/* Runs a kernel that arbitrary bytes select from instructions of every family, with arbitrary operands: whatever its
 * threads do, it ends, faults with a message or is cut, and its streams are complete. Each instruction takes a byte for
 * its form and one for each operand. The text of a module is fuzzed by ptx_fuzz.c. Entry point for libFuzzer;
 * tests/emu/execute_corpus_test.c replays data/fuzz/execute through it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/emu.h"
#include "stream/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* $r 32-bit register, $d 64 bits, $f float, $e double, $h 16 bits, $p predicate, $o texture, surface or other object,
 * $S shared memory, $C shared memory of the cluster, $G global memory, $B an mbarrier, $n number, $w member mask,
 * $L label. */
static const char *const forms[] = {
    /* flow and meetings */
    "bra $L;",
    "@$p bra $L;",
    "@!$p bra $L;",
    "@$p exit;",
    "@$p ret;",
    "call (%r1), twice, ($r);",
    "brx.idx $r, places;",
    "bar.sync 0;",
    "@$p bar.sync $n;",
    "barrier.sync $n, 64;",
    "bar.arrive $n, 64;",
    "bar.red.popc.u32 $r, 0, $p;",
    "bar.warp.sync $w;",
    "shfl.sync.idx.b32 $r, $r, $r, 31, $w;",
    "shfl.sync.up.b32 $r|$p, $r, $n, 0, $w;",
    "vote.sync.ballot.b32 $r, $p, $w;",
    "vote.sync.any.pred $p, $p, $w;",
    "match.any.sync.b32 $r, $r, $w;",
    "match.all.sync.b64 $r|$p, $d, $w;",
    "redux.sync.add.u32 $r, $r, $w;",
    "elect.sync $r|$p, $w;",
    "activemask.b32 $r;",
    "nanosleep.u32 $r;",
    "setp.lt.u32 $p, $r, $r;",
    "setp.ne.b64 $p, $d, $d;",
    "add.u32 $r, $r, $r;",
    "cvt.u64.u32 $d, $r;",
    "mov.u32 $r, $n;",
    "mov.u32 $r, %laneid;",
    /* memory */
    "ld.global.u32 $r, $G;",
    "st.global.u32 $G, $r;",
    "ld.global.v4.u32 {$r, $r, $r, $r}, $G;",
    "st.shared.u32 $S, $r;",
    "ld.shared.v2.u64 {$d, $d}, $S;",
    "atom.global.add.u32 $r, $G, $r;",
    "atom.shared.cas.b32 $r, $S, $r, $r;",
    "red.global.add.f32 $G, $f;",
    "atom.global.exch.b64 $d, $G, $d;",
    "ld.u32 $r, [$d];",
    "st.u64 [$d], $d;",
    "cvta.shared.u64 $d, $d;",
    "isspacep.global $p, $d;",
    "alloca.u64 $d, $n;",
    "membar.gl;",
    "fence.acq_rel.cluster;",
    "createpolicy.fractional.L2::evict_last.b64 $d, 0.5;",
    "ld.global.L2::cache_hint.u32 $r, $G, $d;",
    "prefetch.global.L2 $G;",
    "griddepcontrol.wait;",
    "discard.global.L2 $G, 128;",
    /* asynchronous copies */
    "cp.async.ca.shared.global $S, $G, 4;",
    "cp.async.ca.shared.global $S, $G, 8, $r;",
    "cp.async.cg.shared.global $S, $G, 16, $p;",
    "cp.async.commit_group;",
    "cp.async.wait_group $n;",
    "cp.async.wait_all;",
    "cp.async.mbarrier.arrive.shared.b64 $B;",
    "cp.async.mbarrier.arrive.noinc.shared.b64 $B;",
    "mbarrier.init.shared.b64 $B, $r;",
    "mbarrier.inval.shared.b64 $B;",
    "mbarrier.init.shared.b64 $B, 64;",
    "mbarrier.arrive.shared.b64 $d, $B;",
    "mbarrier.arrive.shared.b64 $d, $B, $r;",
    "mbarrier.arrive.noComplete.shared.b64 $d, $B, $r;",
    "mbarrier.arrive_drop.shared.b64 $d, $B;",
    "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 $B, $r;",
    "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 $B, $n;",
    "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 $d, $B, $n;",
    "mbarrier.test_wait.shared.b64 $p, $B, $d;",
    "mbarrier.try_wait.parity.shared.b64 $p, $B, $r;",
    "mbarrier.pending_count.b64 $r, $d;",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes $S, $G, $n, $B;",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes $S, $G, $r, $B;",
    "cp.async.bulk.global.shared::cta.bulk_group $G, $S, $n;",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes $S, $S, $n, $B;",
    "cp.async.bulk.commit_group;",
    "cp.async.bulk.wait_group $n;",
    "cp.async.bulk.wait_group.read 0;",
    "cp.async.bulk.prefetch.L2.global $G, $n;",
    "fence.proxy.async;",
    /* clusters */
    "barrier.cluster.arrive;",
    "barrier.cluster.wait;",
    "mapa.shared::cluster.u32 $r, $r, $n;",
    "mapa.u64 $d, $d, $r;",
    "getctarank.shared::cluster.u32 $r, $r;",
    "ld.shared::cluster.u32 $r, $C;",
    "st.shared::cluster.u32 $C, $r;",
    "atom.shared::cluster.add.u32 $r, $C, $r;",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, $C;",
    "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 $C, $n;",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes $C, $S, $n, $C;",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes $C, $G, $n, $C;",
    /* matrices */
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {$r}, $S;",
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {$r, $r, $r, $r}, $S;",
    "stmatrix.sync.aligned.m8n8.x2.shared.b16 $S, {$r, $r};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {$e, $e}, {$e}, {$e}, {$e, $e};",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$f, $f, $f, $f}, {$r, $r, $r, $r}, {$r, $r}, {$f, $f, $f, $f};",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$f, $f, $f, $f}, {$r, $r, $r, $r}, {$r, $r}, {$f, $f, $f, $f};",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$f, $f, $f, $f}, {$r, $r, $r, $r}, {$r, $r}, {$f, $f, $f, $f};",
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {$r, $r, $r, $r}, {$r, $r, $r, $r}, {$r, $r}, {$r, $r, $r, $r};",
    "@$p mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {$r, $r}, {$r, $r}, {$r}, {$r, $r};",
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {$r, $r, $r, $r, $r, $r, $r, $r}, $S, $n;",
    "wmma.store.d.sync.aligned.col.m16n16k16.global.f32 $G, {$f, $f, $f, $f, $f, $f, $f, $f}, $r;",
    /* images */
    "tex.1d.v4.f32.s32 {$f, $f, $f, $f}, [$o, {$r}];",
    "tex.2d.v4.f32.f32 {$f, $f, $f, $f}, [$o, {$f, $f}];",
    "tex.3d.v4.u32.f32 {$r, $r, $r, $r}, [$o, {$f, $f, $f, $f}];",
    "tex.level.2d.v4.f32.f32 {$f, $f, $f, $f}, [$o, {$f, $f}], $f;",
    "tld4.r.2d.v4.f32.f32 {$f, $f, $f, $f}, [$o, {$f, $f}];",
    "suld.b.2d.b32.trap $r, [$o, {$r, $r}];",
    "suld.b.1d.v2.b32.zero {$r, $r}, [$o, {$r}];",
    "sust.b.2d.b32.clamp [$o, {$r, $r}], $r;",
    "txq.width.b32 $r, [$o];",
    "suq.height.b32 $r, [$o];",
    /* conversions */
    "cvt.rn.satfinite.e4m3x2.f32 $h, $f, $f;",
    "cvt.rn.f16x2.e5m2x2 $r, $h;",
    "cvt.rn.bf16x2.f32 $r, $f, $f;",
    "cvt.rna.tf32.f32 $r, $f;",
    "cvt.rni.s32.f32 $r, $f;",
    "fma.rn.f32 $f, $f, $f, $f;",
    "prmt.b32 $r, $r, $r, $r;",
    "bfe.s32 $r, $r, $r, $r;",
    "mov.b32 $f, $r;",
    "cvt.rn.f32.s32 $f, $r;",
    "mov.b64 $d, {$r, $r};",
};

static const char head[] =
    ".version 8.8\n.target sm_90a\n.address_size 64\n"
    ".func (.reg .b32 %to) twice (.reg .b32 %from) { add.u32 %to, %from, %from; ret; }\n"
    ".visible .entry k(.param .u64 memory, .param .u64 texture, .param .u64 surface) {\n"
    ".reg .b32 %r<16>; .reg .b64 %d<8>; .reg .f32 %f<12>; .reg .f64 %e<4>; .reg .b16 %h<4>; .reg .pred %p<5>;\n"
    ".reg .b64 %g<3>; .reg .b32 %s<2>; .shared .align 128 .b8 sm[4096];\n"
    "ld.param.u64 %g0, [memory]; ld.param.u64 %g1, [texture]; ld.param.u64 %g2, [surface]; mov.u32 %s0, sm; mov.u32 %s1, 0;\n"
    "mov.u32 %r0, %tid.x; mov.u32 %r1, sm; mov.u32 %r2, 0x3c003c00; mov.u32 %r3, -1; mov.u32 %r4, 64; mov.u32 %r5, 0;\n"
    "mov.u64 %d0, %g0; mov.u64 %d1, %g1; mov.u64 %d2, 0; mov.f32 %f0, 0f3F800000; mov.f32 %f1, 0fC0900000;\n"
    "setp.lt.u32 %p0, %r0, 7; setp.eq.u32 %p1, %r0, %r0; mul.wide.u32 %d3, %r0, 16; add.u64 %d3, %d3, %g0;\n"
    "setp.eq.u32 %p2, %r0, 0; @%p2 mbarrier.init.shared.b64 [%s0+4032], 64; @%p2 mbarrier.init.shared.b64 [%s0+4040], 1;\n"
    "@%p2 mbarrier.init.shared.b64 [%s0+4048], 2; bar.sync 0;\n";

enum { MOST = 40, TEXT_BYTES = 1 << 15, MEMORY_BYTES = 1 << 14 };

struct writer {
    char text[TEXT_BYTES];
    size_t used;
    const uint8_t *data, *end;
};

static __attribute__((format(printf, 2, 3))) void put(struct writer *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    w->used += (size_t)vsnprintf(w->text + w->used, sizeof w->text - w->used, format, arguments);
    va_end(arguments);
}

static unsigned next(struct writer *w) { return w->data < w->end ? *w->data++ : 0; }

static void put_operand(struct writer *w, char kind, unsigned label) {
    static const int numbers[] = {0, 1, 2, 4, 8, 16, 17, 32, 64, 100, 128, 256, 1024, 4096, 65536, -1};
    static const char *const masks[] = {"-1", "-1", "-1", "0xFFFF", "0x7F", "0", "%r3", "%r6"};
    unsigned byte = next(w);
    switch (kind) {
    case 'r': put(w, "%%r%u", byte % 16); break;
    case 'd': put(w, "%%d%u", byte % 8); break;
    case 'f': put(w, "%%f%u", byte % 12); break;
    case 'e': put(w, "%%e%u", byte % 4); break;
    case 'h': put(w, "%%h%u", byte % 4); break;
    case 'p': put(w, "%%p%u", byte % 4); break;
    case 'o': byte % 8 == 7 ? put(w, "%%d1") : put(w, "%%g%u", 1 + byte % 2); break;
    case 'S': byte % 16 == 15 ? put(w, "[%%r%u+%u]", byte / 16, byte) : put(w, "[%%s0+%u]", byte / 16 * 16); break;
    case 'C': byte % 2 ? put(w, "[%%r%u]", byte / 16) : put(w, "[%%s0+%u]", byte / 16 * 16); break;
    case 'G':
        byte % 16 == 15 ? put(w, "[%%d%u+%u]", byte / 16 % 8, byte)
                        : put(w, "[%%%s+%u]", byte & 1 ? "d3" : "g0", byte / 16 * 16);
        break;
    case 'B': put(w, "[%%s0+%u]", 4032 + byte % 4 * 8); break;
    case 'n': put(w, "%d", numbers[byte % COUNT_OF(numbers)]); break;
    case 'w': put(w, "%s", masks[byte % COUNT_OF(masks)]); break;
    case 'L': put(w, "L%u", byte & 128 ? byte % (label + 1) : label + 1 + byte % 4); break;
    default: abort();
    }
}

/* Labels L0, L1, ... precede the instructions; some follow the last. */
static void put_kernel(struct writer *w) {
    put(w, "%s", head);
    unsigned label = 0;
    for (; w->data < w->end && label < MOST; label++) {
        put(w, "L%u: ", label);
        const char *form = forms[next(w) % COUNT_OF(forms)];
        if (strstr(form, "bra $L") || strstr(form, "brx.")) /* a loop ends */
            put(w, "add.u32 %%s1, %%s1, 1; setp.gt.u32 %%p4, %%s1, 200; @%%p4 exit; ");
        for (const char *at = form; *at; at++) {
            if (*at == '$')
                put_operand(w, *++at, label);
            else
                put(w, "%c", *at);
        }
        put(w, "\n");
    }
    for (unsigned i = 0; i < 5; i++) put(w, "L%u: ", label + i);
    put(w, "st.global.u32 [%%d3], %%r0; ret;\nplaces: .branchtargets L0, L%u, L%u;\n}\n", label, label + 1);
}

static void must(bool holds, const struct writer *w, const char *why) {
    if (holds) return;
    fprintf(stderr, "%s\n%s\n", w->text, why);
    abort();
}

/* Every stream of a kernel that has not faulted ends with an exit. */
static void streams_hold(struct trace *trace, unsigned ctas, const struct writer *w) {
    for (unsigned i = 0; i < 2 * ctas; i++) {
        struct warp_stream stream = {.cta = i / 2, .warp = i % 2};
        unsigned last = OP_other;
        trace_open(trace, &stream);
        for (trace_refill(trace, &stream); stream.count; trace_refill(trace, &stream))
            last = stream.instr[stream.count - 1].op;
        must(last == OP_exit, w, "a stream without an end");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct writer w;
    w.used = 0;
    w.data = data;
    w.end = data + size;
    uint32_t ctas = next(&w) % 2 ? 2 : 1;
    put_kernel(&w);
    struct device device;
    struct error err = {0};
    device_init(&device);
    device.limit = 1;
    device.heap_bytes = 1 << 16;
    uint64_t memory = memory_allocate(&device.memory, MEMORY_BYTES);
    struct image image = {
        .address = memory, .width = 8, .height = 8, .depth = 1, .dimensions = 2, .type = TEXEL_f32, .channels = 1};
    struct sampler sampler = {.filter = TEXTURE_LINEAR, .address = {TEXTURE_CLAMP, TEXTURE_CLAMP, TEXTURE_CLAMP}};
    uint64_t parameters[3] = {memory, texture_create(&device, &image, &sampler, &err),
                              surface_create(&device, &image, &err)};
    struct ptx_module *module = ptx_parse("fuzz.ptx", w.text, w.used, &err);
    must(module, &w, err.text);
    struct loaded_module *loaded = device_load(&device, module, &err);
    must(loaded, &w, err.text);
    const struct program *program = loaded_program(loaded);
    struct launch launch = {.module = loaded,
                            .kernel = program_kernel(program, "k"),
                            .grid = {ctas, 1, 1},
                            .block = {64, 1, 1},
                            .cluster = {ctas, 1, 1},
                            .parameters = (const uint8_t *)parameters};
    struct kernel kernel = {.grid = {ctas, 1, 1}, .block = {64, 1, 1}};
    struct trace *trace = trace_create(&kernel, program->records, program->record_count, TRACE_MEMORY_BYTES);
    struct emu_counts counts = {0};
    bool good = emu_run(&device, &launch, trace, &counts, &err);
    must(good == !err.set && (good || strchr(err.text, ':')), &w, "a fault and no message, or the reverse");
    good = good && !counts.cut;
    trace_finish(trace, good);
    if (good) streams_hold(trace, ctas, &w);
    trace_destroy(trace);
    device_unload(&device, loaded);
    device_release(&device);
    return 0;
}
