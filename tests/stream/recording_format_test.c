/* The file format of a recording: files written by hand, as recording.h describes them, with one error each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/base.h"
#include "stream/recording.h"
#include "test.h"

/* What differs from a valid recording of one kernel with two warps, each of which has an addition and an exit. */
struct flaw {
    int directory_content, chunk_content; /* added to the uncompressed sizes in the contents and in the directory */
    int directory_size, chunk_size;       /* added to the compressed sizes */
    int foot_size;                        /* added to the size of the contents in the foot */
    int chunk_offset;
    int records;    /* added to the number of static records, without adding any */
    int more_warps; /* CTAs in the grid that have no chunks */
    int threads;    /* added to those of a CTA */
    int kernels;
    struct instr record; /* in place of the first, if it is a memory record */
    bool no_exit, other_op, no_chunk, jump_out, cut_record, other_foot;
    unsigned uses;   /* added to what the kernel uses: atomics */
    unsigned tensor; /* if not 0, the addition is a tensor instruction of so many multiply-adds ... */
    unsigned format; /* ... and of this format */
    uint8_t version; /* if not 0 */
    const char *check;
};

struct text {
    uint8_t bytes[4096];
    size_t count;
};

static void put(struct text *to, const void *bytes, size_t count) {
    memcpy(to->bytes + to->count, bytes, count);
    to->count += count;
}

static void number(struct text *to, uint64_t value) {
    for (; value > 127; value /= 128) put(to, &(uint8_t){(uint8_t)(128 + value % 128)}, 1);
    put(to, &(uint8_t){(uint8_t)value}, 1);
}

static void words(struct text *to, const char *text) {
    number(to, strlen(text));
    put(to, text, strlen(text));
}

/* Appends a frame and returns its size. */
static uint64_t frame(struct text *file, const struct text *content) {
    size_t size =
        ZSTD_compress(file->bytes + file->count, sizeof file->bytes - file->count, content->bytes, content->count, 3);
    REQUIRE(!ZSTD_isError(size));
    file->count += size;
    return size;
}

static void kernel(struct text *to, const struct flaw *flaw) {
    words(to, "add");
    const uint64_t fields[] = {2 + (uint64_t)flaw->more_warps,
                               1,
                               1,
                               32 + (uint64_t)flaw->threads,
                               1,
                               1, /* grid, block */
                               16,
                               1024,
                               1 + flaw->uses, /* registers, shared memory, atomics */
                               4,
                               128,
                               0,
                               2,
                               40}; /* totals */
    for (size_t i = 0; i < COUNT_OF(fields); i++) number(to, fields[i]);
}

static struct text recording_of(const struct flaw *flaw) {
    struct text file = {0}, chunk = {0}, directory = {0}, contents = {0};
    struct instr records[2] = {{.id = 0, .op = OP_int_add, .conflicts = 1}, {.id = 1, .op = OP_exit, .conflicts = 1}};
    if (instr_is_memory(&flaw->record)) records[0] = flaw->record;
    if (flaw->other_op) records[0].op = OP_TIMED_SP, records[0].space = OP_load;
    if (flaw->tensor) {
        records[0].op = OP_tensor;
        records[0].space = (uint8_t)flaw->format;
        records[0].count = (uint16_t)flaw->tensor;
    }
    if (flaw->no_exit) records[1].op = OP_int_add;
    put(&file, "sluice stream\n", 14);
    put(&file, &(uint8_t){flaw->version ? flaw->version : RECORDING_VERSION}, 1);
    number(&chunk, flaw->jump_out ? 4 : 2); /* a run of the next three or two records, all lanes active */
    if (flaw->cut_record) chunk.count = 0, number(&chunk, 3); /* a record with an id, which is missing */
    kernel(&directory, flaw);
    number(&directory, (uint64_t)(2 + flaw->records));
    put(&directory, records, sizeof records);
    for (unsigned warp = 0; warp < 2; warp++) {
        uint64_t offset = file.count, size = frame(&file, &chunk);
        number(&directory, flaw->no_chunk ? 0 : 1);
        if (flaw->no_chunk) continue;
        number(&directory, size + (uint64_t)flaw->chunk_size);
        number(&directory, chunk.count + (uint64_t)flaw->chunk_content);
        number(&directory, offset + (uint64_t)flaw->chunk_offset);
    }
    uint64_t at = file.count, size = frame(&file, &directory);
    words(&contents, "by hand");
    words(&contents, flaw->check ? flaw->check : "passed");
    number(&contents, (uint64_t)(1 + flaw->kernels));
    kernel(&contents, flaw);
    number(&contents, at);
    number(&contents, size + (uint64_t)flaw->directory_size);
    number(&contents, directory.count + (uint64_t)flaw->directory_content);
    uint64_t foot[2] = {file.count, 0};
    foot[1] = frame(&file, &contents) + (uint64_t)flaw->foot_size;
    put(&file, foot, sizeof foot);
    put(&file, flaw->other_foot ? "stream END\n" : "stream end\n", 11);
    return file;
}

static struct stream_source *opened(const struct flaw *flaw, struct error *err) {
    char path[] = "/tmp/sluice-recording-XXXXXX";
    int file = mkstemp(path);
    REQUIRE(file >= 0);
    struct text text = recording_of(flaw);
    REQUIRE(write(file, text.bytes, text.count) == (ssize_t)text.count);
    close(file);
    struct stream_source *source = recording_open(path, err);
    unlink(path);
    return source;
}

/* Reads all streams; returns the number of instructions. */
static unsigned read_all(struct stream_source *source) {
    struct warp_stream *warp = mem_alloc(1, sizeof *warp);
    struct kernel kernel;
    unsigned count = 0;
    while (source->ops->next_kernel(source, &kernel))
        for (warp->cta = 0; warp->cta < kernel_ctas(&kernel); warp->cta++) {
            source->ops->open(source, warp);
            do {
                source->ops->refill(source, warp);
                count += warp->count;
            } while (warp->count && warp->instr[warp->count - 1].op != OP_exit);
        }
    free(warp);
    return count;
}

/* The error of a recording, on opening or while reading; "" if there is none. */
static struct error error_of(const struct flaw *flaw) {
    struct error err = {0};
    struct stream_source *source = opened(flaw, &err);
    if (source) {
        read_all(source);
        if (source->ops->failure(source)) error_set(&err, "%s", source->ops->failure(source));
        if (err.set) CHECK_EQ(source->ops->check(source, NULL), "none");
        source->ops->destroy(source);
    }
    return err;
}

TEST("a recording written by hand is read as described") {
    struct error err = {0};
    struct stream_source *source = opened(&(struct flaw){0}, &err);
    CHECK_EQ((const char *)err.text, "");
    REQUIRE(source);
    const struct recording_info *info = recording_info(source);
    CHECK_EQ(info->workload, "by hand");
    CHECK_EQ(info->check, "passed");
    CHECK_EQ(info->kernel_count, 1u);
    CHECK_EQ(info->warp_instructions, 4u);
    CHECK_EQ(info->thread_instructions, 128u);
    CHECK_EQ(info->kernels[0].packed_bytes, 2u);
    CHECK_EQ(info->kernels[0].stored_bytes, 40u);
    struct kernel kernel;
    REQUIRE(source->ops->next_kernel(source, &kernel));
    CHECK_EQ((const char *)kernel.name, "add");
    CHECK_EQ(kernel.grid[0], 2u);
    CHECK_EQ(kernel.block[0], 32u);
    CHECK_EQ(kernel.registers, 16u);
    CHECK_EQ(kernel.shared_bytes, 1024u);
    CHECK(kernel.atomics);
    struct warp_stream *warp = mem_alloc(1, sizeof *warp);
    source->ops->open(source, warp);
    source->ops->refill(source, warp);
    REQUIRE(warp->count == 2);
    CHECK_EQ(warp->instr[0].op, OP_int_add);
    CHECK_EQ(warp->instr[1].op, OP_exit);
    CHECK_EQ(warp->instr[1].active, UINT32_MAX);
    source->ops->refill(source, warp);
    CHECK_EQ(warp->count, 0u);
    free(warp);
    source->ops->destroy(source);
}

TEST("a recorded kernel says whether its program has tensor instructions") {
    struct error err = {0};
    struct kernel kernel;
    for (unsigned uses = 0; uses <= 2; uses += 2) {
        struct stream_source *source = opened(&(struct flaw){.uses = uses, .tensor = uses ? 4096 : 0}, &err);
        REQUIRE(source);
        REQUIRE(source->ops->next_kernel(source, &kernel));
        CHECK_EQ(kernel.tensor, uses != 0);
        CHECK(kernel.atomics);
        source->ops->restart(source);
        CHECK_EQ(read_all(source), 4u);
        CHECK(!source->ops->failure(source));
        source->ops->destroy(source);
    }
}

TEST("the check of a recorded program has passed only when the last kernel has been read") {
    struct error err = {0};
    struct stream_source *source = opened(&(struct flaw){0}, &err);
    REQUIRE(source);
    struct kernel kernel;
    CHECK_EQ(source->ops->check(source, NULL), "none");
    CHECK(source->ops->next_kernel(source, &kernel));
    CHECK_EQ(source->ops->check(source, NULL), "none");
    CHECK(!source->ops->next_kernel(source, &kernel));
    CHECK_EQ(source->ops->check(source, NULL), "passed");
    source->ops->restart(source);
    CHECK_EQ(source->ops->check(source, NULL), "none");
    CHECK_EQ(read_all(source), 4u);
    CHECK_EQ(source->ops->check(source, NULL), "passed");
    source->ops->destroy(source);
    source = opened(&(struct flaw){.check = "none"}, &err);
    REQUIRE(source);
    CHECK_EQ(read_all(source), 4u);
    CHECK_EQ(source->ops->check(source, NULL), "none");
    source->ops->destroy(source);
}

TEST("a recording whose parts contradict each other is rejected with the reason") {
    static const struct {
        struct flaw flaw;
        const char *why;
    } cases[] = {
        {{.directory_content = 1}, "a chunk is shorter than its directory entry"},
        {{.chunk_content = 1}, "a chunk is shorter than its directory entry"},
        {{.directory_content = -1}, "is damaged"},
        {{.directory_content = 1 << 24}, "a kernel's directory is too large"},
        {{.directory_size = 4096}, "a chunk lies beyond the end of the file"},
        {{.chunk_size = 4096}, "a chunk lies beyond the end of the file"},
        {{.chunk_offset = 4096}, "a chunk lies beyond the end of the file"},
        {{.chunk_content = 4096}, "a chunk is shorter"},
        {{.chunk_content = 1 << 20}, "a kernel's directory is invalid"},
        {{.records = 1}, "a kernel's directory is invalid"},
        {{.records = 1 << 20}, "a kernel's directory is invalid"},
        {{.more_warps = 1}, "a kernel's directory is invalid"},
        {{.more_warps = 1 << 20}, "a kernel's directory is too short"},
        {{.threads = -32}, "a kernel's grid or block is invalid"},
        {{.threads = 1025 - 32}, "a kernel's grid or block is invalid"},
        {{.kernels = 1}, "the contents are too short"},
        {{.kernels = 1 << 20}, "the contents are too short"},
        {{.no_exit = true}, "a warp's stream has no exit"},
        {{.no_chunk = true}, "a warp's stream has no exit"},
        {{.other_op = true}, "a record is invalid"},
        {{.tensor = 4096}, "a record is invalid"}, /* the kernel has no tensor instructions */
        {{.tensor = 4097, .uses = 2}, "a record is invalid"},
        {{.tensor = 1, .format = TENSOR_COUNT, .uses = 2}, "a record is invalid"},
        {{.record = {.op = OP_atomic, .flags = INSTR_ASYNC}}, "a record is invalid"},
        {{.record = {.op = OP_store, .flags = INSTR_ASYNC}}, "a record is invalid"},
        {{.record = {.op = OP_load, .flags = INSTR_ASYNC, .space = SPACE_SHARED}}, "a record is invalid"},
        {{.record = {.op = OP_load, .flags = INSTR_ASYNC, .dst = {1}}}, "a record is invalid"},
        {{.jump_out = true, .no_exit = true}, "a record is invalid"},
        {{.cut_record = true}, "a record is invalid"},
        {{.foot_size = 4096}, "the contents lie beyond the end of the file"},
        {{.other_foot = true}, "the recording is truncated here"},
        {{.version = RECORDING_OLDEST - 1}, "is not supported (expected"},
        {{.version = RECORDING_VERSION + 1}, "is not supported (expected"},
    };
    CHECK_EQ((const char *)error_of(&(struct flaw){0}).text, "");
    CHECK_EQ((const char *)error_of(&(struct flaw){.version = RECORDING_OLDEST}).text, "");
    CHECK_EQ((const char *)error_of(&(struct flaw){.record = {.op = OP_load, .flags = INSTR_ASYNC}}).text, "");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error err = error_of(&cases[i].flaw);
        if (!CHECK_TEXT(err.text, cases[i].why)) printf("      case %zu\n", i);
    }
}

TEST("a recording whose contents claim more than 4 GiB is rejected before they are decompressed") {
    char path[] = "/tmp/sluice-recording-XXXXXX";
    int file = mkstemp(path);
    REQUIRE(file >= 0);
    struct text head = {0}, foot = {0};
    uint64_t content = UINT64_C(5) << 30, place[2] = {15, 1 << 17}; /* a ratio that zstd can have */
    put(&head, "sluice stream\n", 14);
    put(&head, &(uint8_t){RECORDING_VERSION}, 1);
    put(&head, "\x28\xb5\x2f\xfd\xe0", 5); /* a frame of one segment with a size of 8 bytes */
    put(&head, &content, sizeof content);
    put(&foot, place, sizeof place);
    put(&foot, "stream end\n", 11);
    REQUIRE(pwrite(file, head.bytes, head.count, 0) == (ssize_t)head.count);
    REQUIRE(pwrite(file, foot.bytes, foot.count, (off_t)(place[0] + place[1])) == (ssize_t)foot.count);
    close(file);
    struct error err = {0};
    CHECK(!recording_open(path, &err));
    CHECK_TEXT(err.text, "the contents cannot be read");
    unlink(path);
}
