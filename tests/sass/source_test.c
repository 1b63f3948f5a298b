/* Traces as sources: the contract of a stream, compressed files, and equality with the emulator. */
#include "sass/source.h"

#include <lzma.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include "host/launch_file.h"
#include "sass/trace_text.h"
#include "stream/reader.h"
#include "stream/touch.h"

/* --- a kernel as PTX and as a trace --- */

enum { CTAS = 5, WARPS = 3, THREADS = 32 * WARPS, COUNT = 450 };
#define BUFFER_BYTES 8192

/* y[7 i] += x[i], through shared memory, for i < 450. */
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n)\n{\n"
    ".reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<8>; .reg .f32 %f<4>;\n.shared .align 4 .b8 buffer[384];\n"
    "ld.param.u64 %d1, [x];\nld.param.u64 %d2, [y];\nld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\nmad.lo.s32 %r4, %r3, 96, %r2;\n"
    "setp.ge.u32 %p, %r4, %r1;\n@%p bra END;\n"
    "mul.wide.u32 %d3, %r4, 4;\nadd.s64 %d4, %d1, %d3;\nld.global.nc.f32 %f1, [%d4];\n"
    "shl.b32 %r5, %r2, 2;\nmov.u32 %r6, buffer;\nadd.s32 %r7, %r6, %r5;\nst.shared.f32 [%r7], %f1;\n"
    "ld.shared.f32 %f2, [%r7];\nmul.wide.u32 %d5, %r4, 28;\nadd.s64 %d6, %d2, %d5;\n"
    "red.global.add.f32 [%d6], %f2;\nst.global.f32 [%d4+4096], %f2;\nEND: ret;\n}\n";

static const char launch[] = "name: k\nptx: k.ptx\nbuffers:\n"
                             "  - {name: x, bytes: 8192}\n  - {name: y, bytes: 16384}\n"
                             "launches:\n  - {kernel: k, grid: [5], block: [96], args: [{buffer: x}, {buffer: y}, "
                             "{scalar: u32, value: 450}]}\n";

/* The same accesses as SASS, with buffers at x and y. */
static char *trace_of(uint64_t x, uint64_t y) {
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    fputs("-kernel name = k\n-grid dim = (5,1,1)\n-block dim = (96,1,1)\n-shmem = 384\n-nregs = 16\n"
          "-binary version = 70\n-shmem base_addr = 0x7f2c00000000\n-accelsim tracer version = 4\n\n",
          out);
    for (unsigned cta = 0; cta < CTAS; cta++) {
        fprintf(out, "#BEGIN_TB\nthread block = %u,0,0\n", cta);
        for (unsigned warp = 0; warp < WARPS; warp++) {
            unsigned first = cta * THREADS + warp * 32, lanes = first >= COUNT ? 0 : COUNT - first;
            uint32_t mask = (uint32_t)low_mask(lanes < 32 ? lanes : 32);
            const char *full = "ffffffff";
            fprintf(out, "warp = %u\ninsts = %u\n", warp, mask ? 21 : 9);
            fprintf(out, "0000 %s 1 R1 LDC.64 0 8 1 0x0 0\n0010 %s 1 R3 LDC.64 0 8 1 0x8 0\n", full, full);
            fprintf(out, "0020 %s 1 R5 LDC 0 4 1 0x10 0\n0030 %s 1 R6 S2R 0 0\n0040 %s 1 R7 S2R 0 0\n", full, full,
                    full);
            fprintf(out, "0050 %s 1 R8 IMAD 2 R7 R6 0\n0060 %s 0 ISETP.GE.U32 2 R8 R5 0\n0070 %s 0 BRA 0 0\n", full,
                    full, full);
            if (mask) {
                uint64_t at = x + 4 * first;
                unsigned offset = 4 * 32 * warp;
                fprintf(out, "0080 %08x 1 R9 IMUL 1 R8 0\n0090 %08x 1 R9 IADD3 2 R1 R9 0\n", mask, mask);
                fprintf(out, "00a0 %08x 1 R11 LDG.E.CONSTANT 1 R9 4 1 0x%llx 4\n", mask, (unsigned long long)at);
                fprintf(out, "00b0 %08x 1 R12 SHL 1 R6 0\n00c0 %08x 1 R13 MOV 0 0\n00d0 %08x 1 R13 IADD3 2 R13 R12 0\n",
                        mask, mask, mask);
                fprintf(out, "00e0 %08x 0 STS 2 R13 R11 4 1 0x%llx 4\n", mask, 0x7f2c00000000ull + offset);
                fprintf(out, "00f0 %08x 1 R14 LDS 1 R13 4 1 0x%x 4\n", mask, offset); /* without the window */
                fprintf(out, "0100 %08x 1 R15 IMUL 1 R8 0\n0110 %08x 1 R15 IADD3 2 R3 R15 0\n", mask, mask);
                fprintf(out, "0120 %08x 0 RED.E.ADD.F32.FTZ.RN 2 R15 R14 4 2 0x%llx", mask,
                        (unsigned long long)(y + 28 * first));
                for (unsigned i = 1; i < (unsigned)__builtin_popcount(mask); i++) fputs(" 28", out);
                fprintf(out, "\n0130 %08x 0 STG.E 2 R9 R14 4 0", mask);
                FOR_LANES (lane, mask) fprintf(out, " 0x%llx", (unsigned long long)(at + 4096 + 4 * lane));
                fputs("\n", out);
            }
            fprintf(out, "0140 %s 0 EXIT 0 0\n", full);
        }
        fputs("#END_TB\n", out);
    }
    fclose(out);
    return text;
}

/* The memory records of a program, as text. */
struct accesses {
    FILE *out;
    uint64_t lowest; /* global address */
};

static void begin_kernel(void *user, const struct kernel *kernel) {
    fprintf(((struct accesses *)user)->out, "%u x %u\n", kernel->grid[0], kernel->block[0]);
}

static void list_accesses(void *user, const struct warp_stream *warp) {
    struct accesses *a = user;
    for (unsigned i = 0; i < warp->count; i++) {
        const struct instr *r = &warp->instr[i];
        if (!instr_is_memory(r)) continue;
        fprintf(a->out, "%llu.%u: op %u space %u flags %u cache %u bytes %u conflicts %u lanes %08x:",
                (unsigned long long)warp->cta, warp->warp, r->op, r->space, r->flags, r->cache, r->bytes_log2,
                r->conflicts, r->active);
        for (unsigned t = 0; t < r->count; t++) {
            fprintf(a->out, " %llx", (unsigned long long)warp->touch[r->touches + t]);
            uint64_t block = touch_address(warp->touch[r->touches + t]);
            if (r->space == SPACE_GLOBAL && block < a->lowest) a->lowest = block;
        }
        fputc('\n', a->out);
    }
}

static char *accesses_of(struct stream_source *source, uint64_t *lowest) {
    char *text = NULL;
    size_t bytes;
    struct error err = {0};
    struct accesses a = {open_memstream(&text, &bytes), UINT64_MAX};
    struct reader reader = {begin_kernel, list_accesses, &a};
    CHECK(reader_run(&reader, source, &err));
    CHECK_EQ(err.text, "");
    fclose(a.out);
    if (lowest) *lowest = a.lowest;
    return text;
}

static void write_file(const char *path, const void *data, size_t bytes) {
    FILE *file = fopen(path, "wb");
    REQUIRE(file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

TEST("a kernel as PTX and as an equivalent trace has the same memory accesses") {
    char folder[] = "/tmp/sluice-sass-XXXXXX";
    REQUIRE(mkdtemp(folder));
    char *ptx_path = text_format("%s/k.ptx", folder), *yaml = text_format("%s/k.yaml", folder);
    write_file(ptx_path, ptx, strlen(ptx));
    write_file(yaml, launch, strlen(launch));
    struct error err = {0};
    struct launch_file *file = launch_file_open(yaml, NULL, &err);
    CHECK_EQ(err.text, "");
    REQUIRE(file);
    struct stream_source *program = launch_file_source(file);
    uint64_t x;
    char *emulated = accesses_of(program, &x);
    program->ops->destroy(program);
    launch_file_close(file);

    char *text = trace_of(x, x + BUFFER_BYTES), *path = trace_file(text);
    struct stream_source *trace = sass_open(path, &err);
    REQUIRE(trace);
    char *traced = accesses_of(trace, NULL);
    CHECK_EQ(traced, emulated);
    CHECK(strlen(emulated) > 5000);
    trace->ops->destroy(trace);
    unlink(path), unlink(ptx_path), unlink(yaml), rmdir(folder);
    free(path), free(ptx_path), free(yaml), free(text), free(traced), free(emulated);
}

/* --- compressed files --- */

static void check_packed(const char *path, const void *data, size_t bytes, const char *expected) {
    struct error err = {0};
    write_file(path, data, bytes);
    struct stream_source *source = sass_open(path, &err);
    REQUIRE(source);
    char *read = accesses_of(source, NULL);
    CHECK_EQ(read, expected);
    free(read);
    source->ops->restart(source); /* a restarted source gives the same streams */
    read = accesses_of(source, NULL);
    CHECK_EQ(read, expected);
    free(read);
    source->ops->destroy(source);

    write_file(path, data, bytes / 2);
    struct kernel kernel;
    source = sass_open(path, &err);
    REQUIRE(source);
    CHECK(!source->ops->next_kernel(source, &kernel));
    CHECK_TEXT(source->ops->failure(source), "the compressed file is truncated");
    source->ops->destroy(source);
    unlink(path);
}

TEST("files compressed by gzip, xz and zstd give the same streams, and truncated ones fail") {
    char *text = trace_of(0x7f0000000000, 0x7f0000010000), *path = trace_file(text);
    size_t bytes = strlen(text), room = 2 * bytes + 1024;
    uint8_t *packed = mem_alloc(room, 1);
    struct error err = {0};
    struct stream_source *source = sass_open(path, &err);
    REQUIRE(source);
    char *expected = accesses_of(source, NULL);
    source->ops->destroy(source);

    z_stream gzip = {0};
    REQUIRE(deflateInit2(&gzip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    gzip.next_in = (uint8_t *)text, gzip.avail_in = (unsigned)bytes;
    gzip.next_out = packed, gzip.avail_out = (unsigned)room;
    REQUIRE(deflate(&gzip, Z_FINISH) == Z_STREAM_END);
    check_packed(path, packed, gzip.total_out, expected);
    deflateEnd(&gzip);

    size_t used = 0;
    REQUIRE(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, (uint8_t *)text, bytes, packed, &used, room) == LZMA_OK);
    check_packed(path, packed, used, expected);

    used = ZSTD_compress(packed, room, text, bytes, 3);
    REQUIRE(!ZSTD_isError(used));
    check_packed(path, packed, used, expected);
    free(packed), free(expected), free(text), free(path);
}

/* --- lists --- */

TEST("a list gives its launches in order, counts copies, and ignores other commands") {
    char folder[] = "/tmp/sluice-sass-XXXXXX";
    REQUIRE(mkdtemp(folder));
    char *one = text_format("%s/kernel-1.traceg", folder), *two = text_format("%s/kernel-2.traceg.gz", folder),
         *list = text_format("%s/kernelslist.g", folder);
    static const char text[] = HEADER("3") WARP("1", "0000 ffffffff 0 EXIT 0 0\n");
    static const char commands[] = "MemcpyHtoD,0x00007f0000000000,4096\nkernel-1.traceg\nncclGroupStart\n"
                                   "MemcpyHtoD,0x00007f0000001000,100\r\nkernel-2.traceg.gz \n";
    write_file(one, text, strlen(text));
    write_file(two, text, strlen(text)); /* plain, whatever its name */
    write_file(list, commands, strlen(commands));
    struct error err = {0};
    struct stream_source *source = sass_open(folder, &err);
    CHECK_EQ(err.text, "");
    REQUIRE(source);
    const struct sass_list *found = sass_source_list(source);
    CHECK_EQ(found->count, 2u);
    CHECK_EQ(found->copy_count, 2u);
    CHECK_EQ(found->copies[1].bytes, 100u);
    CHECK_EQ(found->copies[1].launches, 1u);
    struct kernel kernel;
    CHECK(source->ops->next_kernel(source, &kernel));
    CHECK(source->ops->next_kernel(source, &kernel));
    CHECK(!source->ops->next_kernel(source, &kernel));
    CHECK(!source->ops->failure(source));
    source->ops->destroy(source);

    write_file(list, "kernel-1.traceg\nkernel-3.traceg\n", 32);
    CHECK(!sass_open(list, &err));
    CHECK_TEXT(err.text, "kernelslist.g:2:1: ");
    CHECK_TEXT(err.text, "kernel-3.traceg: No such file");
    err.set = false;
    write_file(list, "MemcpyHtoD,4096\n", 16);
    CHECK(!sass_open(list, &err));
    CHECK_TEXT(err.text, "kernelslist.g:1:1: `MemcpyHtoD,4096`: expected MemcpyHtoD,ADDRESS,BYTES");
    err.set = false;
    write_file(list, "kernel-1.trace\n", 15);
    CHECK(!sass_open(list, &err));
    CHECK_TEXT(err.text, "the list names no kernel file");
    unlink(one), unlink(two), unlink(list), rmdir(folder);
    free(one), free(two), free(list);
}
