/* Checkpoints: launches that are restored leave the state that they left when they were recorded. */
#include "host/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/emu.h"
#include "host/programs.h"
#include "test.h"

/* keep(p): thread 0 allocates 64 bytes, writes p[0] + 1 there, keeps the address in p[1] (8 bytes at p + 8), frees the
 * block that was there before, and prints the number. */
static const char text[] = PTX_HEAD
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
    ".global .align 1 .b8 format[4] = {37, 117, 10, 0};\n"
    ".visible .entry keep(.param .u64 p) {\n"
    "  .local .align 8 .b8 values[8];\n"
    "  .reg .pred %p<2>;\n  .reg .b32 %r<4>;\n  .reg .b64 %rd<8>;\n"
    "  mov.u32 %r1, %tid.x;\n  setp.ne.u32 %p1, %r1, 0;\n  @%p1 ret;\n"
    "  ld.param.u64 %rd1, [p];\n  ld.global.u32 %r2, [%rd1];\n  add.u32 %r2, %r2, 1;\n  st.global.u32 [%rd1], %r2;\n"
    "  ld.global.u64 %rd2, [%rd1+8];\n"
    "  { .param .b64 n; .param .b64 r; st.param.b64 [n], 64; call (r), malloc, (n); ld.param.b64 %rd3, [r]; }\n"
    "  st.u32 [%rd3+60], %r2;\n  st.global.u64 [%rd1+8], %rd3;\n"
    "  setp.eq.u64 %p1, %rd2, 0;\n  @%p1 bra FIRST;\n"
    "  { .param .b64 a; st.param.b64 [a], %rd2; call free, (a); }\n"
    "FIRST:\n"
    "  st.local.u32 [values], %r2;\n  mov.u64 %rd4, values;\n  cvta.local.u64 %rd5, %rd4;\n"
    "  mov.u64 %rd6, format;\n  cvta.global.u64 %rd7, %rd6;\n"
    "  { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd7; st.param.b64 [a], %rd5; call (r), vprintf, (f, a); ld.param.b32 %r3, [r]; }\n"
    "  ret;\n}\n";

enum { LAUNCHES = 5, BYTES = 4096 };

struct story {
    uint32_t input; /* initial contents */
    uint32_t seen[LAUNCHES];
    uint32_t in_block; /* what the last block holds at the end */
    uint64_t block, later;
    char printed[64];
};

static void tell(void *user, struct host *host) {
    struct story *story = user;
    host_module(host, "keep.ptx", text, strlen(text));
    uint64_t p = host_alloc(host, BYTES);
    host_write(host, p, &story->input, 4);
    for (unsigned i = 0; i < LAUNCHES && !host_failed(host); i++) {
        HOST_LAUNCH(host, "keep", dim1(1), dim1(32), 0, HOST_U64(p));
        host_read(host, &story->seen[i], p, 4);
    }
    host_read(host, &story->block, p + 8, 8);
    if (!host_failed(host)) host_read(host, &story->in_block, story->block + 60, 4);
    story->later = host_alloc(host, 16);
}

static void print(void *user, const char *printed, size_t bytes) {
    struct story *story = user;
    strncat(story->printed, printed, bytes);
}

/* Runs the story with a checkpoint; returns the numbers of the launches that the machine sees, as decimal digits. */
static unsigned run_story(struct story *story, struct checkpoint *checkpoint, struct error *err) {
    struct stream_source *source =
        program_source_create(&(struct host_program){.name = "story", .run = tell, .user = story});
    struct kernel kernel;
    unsigned numbers = 0;
    program_source_print(source, print, story);
    REQUIRE(program_source_checkpoint(source, checkpoint));
    while (source->ops->next_kernel(source, &kernel)) numbers = 10 * numbers + kernel.number;
    if (source->ops->failure(source)) error_set(err, "%s", source->ops->failure(source));
    source->ops->destroy(source);
    return numbers;
}

static char *path_make(void) {
    char *path = mem_text("/tmp/sluice-checkpoint-XXXXXX");
    int file = mkstemp(path);
    REQUIRE(file >= 0);
    close(file);
    unlink(path);
    return path;
}

TEST("restored launches leave memory, allocations, text and instruction counts of the recorded ones") {
    struct story recorded = {.input = 10}, restored = {.input = 10};
    struct error err = {0};
    char *path = path_make();
    struct checkpoint *checkpoint = checkpoint_create(path, 3, &err);
    REQUIRE(checkpoint != NULL);
    CHECK_EQ(run_story(&recorded, checkpoint, &err), 45u);
    CHECK(!err.set && recorded.seen[0] == 11 && recorded.seen[4] == 15 && recorded.in_block == 15);
    CHECK_EQ((const char *)recorded.printed, "11\n12\n13\n14\n15\n");
    checkpoint = checkpoint_open(path, &err);
    REQUIRE(checkpoint != NULL);
    CHECK_EQ(checkpoint_launches(checkpoint), 3u);
    CHECK_EQ(run_story(&restored, checkpoint, &err), 45u);
    CHECK(!err.set);
    CHECK_EQ(memcmp(&recorded, &restored, sizeof recorded), 0);
    unlink(path);
    free(path);
}

TEST("a checkpoint of another input is rejected, and an incomplete one leaves no file") {
    struct story story = {.input = 10}, other = {.input = 11};
    struct error err = {0};
    char *path = path_make();
    run_story(&story, checkpoint_create(path, 6, &err), &err); /* there are five launches */
    CHECK(!err.set && access(path, F_OK) != 0);
    run_story(&story, checkpoint_create(path, 2, &err), &err);
    CHECK(!err.set && access(path, F_OK) == 0);
    struct checkpoint *checkpoint = checkpoint_open(path, &err);
    REQUIRE(checkpoint != NULL);
    CHECK_EQ(run_story(&other, checkpoint, &err), 0u);
    CHECK_TEXT(err.text, "launch 1 of the checkpoint is not this launch of keep");
    unlink(path);
    free(path);
}

TEST("damage to a checkpoint is found") {
    struct story story = {.input = 10};
    struct error err = {0};
    char *path = path_make();
    run_story(&story, checkpoint_create(path, 2, &err), &err);
    FILE *file = fopen(path, "r+b");
    REQUIRE(file != NULL);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    for (long at = 16; at < size; at += 7) {
        err.set = false;
        fseek(file, at, SEEK_SET);
        int old = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(old ^ 0x10, file);
        fflush(file);
        struct checkpoint *checkpoint = checkpoint_open(path, &err);
        if (checkpoint) run_story(&story, checkpoint, &err);
        CHECK(err.set);
        fseek(file, at, SEEK_SET);
        fputc(old, file);
    }
    fclose(file);
    unlink(path);
    free(path);
}
