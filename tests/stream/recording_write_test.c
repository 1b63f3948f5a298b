/* Recording a source: totals, the verdict, interruption and errors. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/random.h"
#include "sm/script.h"
#include "stream/recording.h"

/* Two additions of different lanes, a load and a store. */
static struct step steps[4];

static struct script_source small(void) {
    steps[0] = alu(OP_int_add, 1, 2);
    steps[1] = alu(OP_int_add, 1, 2);
    steps[1].instr.active = 0xFF;
    steps[2] = memory_step(OP_load, SPACE_GLOBAL, 3, 0x1000, 1);
    steps[3] = memory_step(OP_store, SPACE_GLOBAL, 3, 0x2000, 1);
    struct script_source source = script_make(3, 2, SCRIPT(steps));
    source.kernels = 2;
    source.kernel.shared_bytes = 512;
    return source;
}

/* Keeps the last progress; every step advances by one warp. */
static bool passes(void *user, const struct program_progress *now) {
    struct program_progress *last = user;
    CHECK(now->kernel && now->warp_instructions == last->warp_instructions + 5);
    CHECK(now->kernels == last->kernels ? now->ctas >= last->ctas : now->kernels == last->kernels + 1);
    *last = *now;
    return true;
}

static bool stops_after_the_first_kernel(void *user, const struct program_progress *now) {
    (void)user;
    return now->warp_instructions <= 30;
}

static const char *verdict_of(struct stream_source *source, struct error *found) {
    (void)source;
    error_set(found, "looked at");
    return "passed";
}

TEST("a recording has the totals of each kernel and the verdict of the program") {
    struct script_source source = small();
    struct stream_ops ops = script_ops;
    ops.check = verdict_of;
    source.source.ops = &ops;
    char path[] = "/tmp/sluice-recording-XXXXXX";
    FILE *out = fdopen(mkstemp(path), "wb");
    REQUIRE(out);
    struct recording_verdict verdict = {0};
    struct error err = {0};
    struct program_progress done = {0};
    CHECK(recording_write(out, &source.source, "a script", &verdict, passes, &done, &err));
    fclose(out);
    CHECK_EQ(done.warp_instructions, 2u * 6 * 5);
    CHECK_EQ(done.thread_instructions, 2u * 6 * (4 * 32 + 8));
    CHECK(done.kernels == 1 && done.ctas == 3 && done.threads == 3u * 64);
    CHECK_EQ(verdict.check, "passed");
    CHECK_EQ((const char *)verdict.found.text, "looked at");
    struct stream_source *back = recording_open(path, &err);
    unlink(path);
    REQUIRE(back);
    const struct recording_info *info = recording_info(back);
    CHECK_EQ(info->check, "passed");
    REQUIRE(info->kernel_count == 2);
    CHECK_EQ(info->warp_instructions, 2u * 6 * 5);
    CHECK_EQ(info->thread_instructions, 2u * 6 * (4 * 32 + 8));
    for (unsigned k = 0; k < 2; k++) {
        const struct recording_kernel *kernel = &info->kernels[k];
        CHECK_EQ(kernel->warp_instructions, 30u);
        CHECK_EQ(kernel->thread_instructions, 6u * (4 * 32 + 8));
        CHECK_EQ(kernel->memory_instructions, 12u);
        CHECK(kernel->packed_bytes > 0 && kernel->packed_bytes < 30 * sizeof(struct instr));
        CHECK(kernel->stored_bytes > 0 && kernel->stored_bytes < info->file_bytes);
        CHECK_EQ(kernel->kernel.shared_bytes, 512u);
        CHECK_EQ(kernel->kernel.grid[0], 3u);
        CHECK_EQ(kernel->kernel.block[0], 64u);
        CHECK(!kernel->kernel.atomics);
    }
    CHECK(info->kernels[0].stored_bytes + info->kernels[1].stored_bytes < info->file_bytes);
    back->ops->destroy(back);
}

TEST("a chunk that ends within a run of expected records continues in the next one") {
    /* A record with other lanes than the one before takes two bytes and a run of others one, so that chunks end in both. */
    enum { STEPS = 60000 };
    struct step *long_steps = mem_alloc(STEPS, sizeof *long_steps);
    uint64_t seed = 5;
    for (unsigned i = 0; i < STEPS; i++) {
        long_steps[i] = alu(OP_int_add, 1, 2);
        long_steps[i].instr.active = random_below(&seed, 2) ? 0xFF : UINT32_MAX;
    }
    struct script_source source = script_make(1, 1, (struct script){long_steps, STEPS});
    char path[] = "/tmp/sluice-recording-XXXXXX";
    FILE *out = fdopen(mkstemp(path), "wb");
    REQUIRE(out);
    struct error err = {0};
    CHECK(recording_write(out, &source.source, "a script", NULL, NULL, NULL, &err));
    fclose(out);
    struct stream_source *back = recording_open(path, &err);
    unlink(path);
    REQUIRE(back);
    struct kernel kernel;
    REQUIRE(back->ops->next_kernel(back, &kernel));
    struct warp_stream *warp = mem_alloc(1, sizeof *warp);
    back->ops->open(back, warp);
    unsigned count = 0, wrong = 0;
    do {
        back->ops->refill(back, warp);
        for (unsigned i = 0; i < warp->count; i++, count++)
            wrong += count < STEPS && warp->instr[i].active != long_steps[count].instr.active;
    } while (warp->count && warp->instr[warp->count - 1].op != OP_exit);
    CHECK_EQ(count, STEPS + 1u);
    CHECK_EQ(wrong, 0u);
    free(warp);
    free(long_steps);
    back->ops->destroy(back);
}

TEST("a kernel with atomics on shared memory alone is recorded as one without atomics, and reads back") {
    struct step shared[] = {memory_step(OP_atomic, SPACE_SHARED, 3, 0x10, 1)};
    struct script_source source = script_make(1, 1, SCRIPT(shared));
    char path[] = "/tmp/sluice-recording-XXXXXX";
    FILE *out = fdopen(mkstemp(path), "wb");
    REQUIRE(out);
    struct error err = {0};
    CHECK(recording_write(out, &source.source, "a script", NULL, NULL, NULL, &err));
    fclose(out);
    struct stream_source *back = recording_open(path, &err);
    unlink(path);
    REQUIRE(back);
    struct kernel kernel;
    REQUIRE(back->ops->next_kernel(back, &kernel));
    CHECK(!kernel.atomics);
    struct warp_stream *warp = mem_alloc(1, sizeof *warp);
    back->ops->open(back, warp);
    back->ops->refill(back, warp);
    CHECK(!back->ops->failure(back));
    CHECK_EQ(warp->count, 2u);
    CHECK_EQ(warp->instr[0].op, OP_atomic);
    free(warp);
    back->ops->destroy(back);
}

TEST("a recording is interrupted between warps, with an error") {
    struct script_source source = small();
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct error err = {0};
    CHECK(!recording_write(out, &source.source, "a script", NULL, stops_after_the_first_kernel, NULL, &err));
    CHECK_EQ((const char *)err.text, "interrupted; no recording was written");
    CHECK_EQ(source.launched, 2u);
    fclose(out);
    free(text);
}

static unsigned asked;
static bool stops_at_the_third(void *user, const struct program_progress *now) {
    (void)user, (void)now;
    return ++asked < 3;
}

static void refill_endlessly(struct stream_source *source, struct warp_stream *warp) {
    (void)source;
    warp->count = 1;
    warp->instr[0] = (struct instr){.op = OP_other, .active = 1, .conflicts = 1};
}

/* A recording that is interrupted at the third time it asks; `refill` replaces that of the script. */
static void record_until_interrupted(struct script_source *source,
                                     void (*refill)(struct stream_source *source, struct warp_stream *warp)) {
    struct stream_ops ops = script_ops;
    ops.refill = refill;
    source->source.ops = &ops;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct error err = {0};
    asked = 0;
    CHECK(!recording_write(out, &source->source, "a script", NULL, stops_at_the_third, NULL, &err));
    CHECK_EQ((const char *)err.text, "interrupted; no recording was written");
    fclose(out);
    free(text);
}

TEST("the recording of an endless warp is interrupted") {
    struct script_source source = small();
    record_until_interrupted(&source, refill_endlessly);
    CHECK_EQ(asked, 3u);
}

/* As a source that waits for its program. */
static void refill_after_patience(struct stream_source *source, struct warp_stream *warp) {
    while (source->patience && source->patience(source->patience_user)) {
    }
    script_refill(source, warp);
}

TEST("a recording is interrupted while its source waits") {
    struct script_source source = small();
    record_until_interrupted(&source, refill_after_patience);
    CHECK(!source.source.patience);
}

static const char *failed(const struct stream_source *source) {
    (void)source;
    return "the program failed";
}

TEST("the failure of a program is the error of its recording, and its check does not run") {
    struct script_source source = small();
    struct stream_ops ops = script_ops;
    ops.failure = failed;
    ops.check = verdict_of;
    source.source.ops = &ops;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct recording_verdict verdict = {0};
    struct error err = {0};
    CHECK(!recording_write(out, &source.source, "a script", &verdict, NULL, NULL, &err));
    CHECK_EQ((const char *)err.text, "the program failed");
    CHECK(!verdict.check);
    fclose(out);
    free(text);
}

static ssize_t write_into(void *room, const char *bytes, size_t count) {
    (void)bytes;
    if (count > *(size_t *)room) {
        errno = ENOSPC;
        return 0;
    }
    *(size_t *)room -= count;
    return (ssize_t)count;
}

/* The size of the recording of `source` on a disk with this much space; 0 if it fails. */
static size_t recorded_into(size_t room, struct script_source *source, struct error *err) {
    size_t left = room;
    FILE *out = fopencookie(&left, "w", (cookie_io_functions_t){.write = write_into});
    REQUIRE(out);
    setvbuf(out, NULL, _IONBF, 0);
    source->launched = 0;
    bool good = recording_write(out, &source->source, "a script", NULL, NULL, NULL, err);
    fclose(out);
    return good ? room - left : 0;
}

TEST("a full disk is an error, whichever part of the recording does not fit") {
    struct script_source source = small();
    struct error none = {0};
    size_t whole = recorded_into(1 << 20, &source, &none);
    REQUIRE(whole > 0);
    CHECK_EQ(recorded_into(whole, &source, &none), whole);
    for (size_t room = 0; room < whole; room++) {
        struct error err = {0};
        CHECK_EQ(recorded_into(room, &source, &err), 0u);
        if (!CHECK_EQ((const char *)err.text, "writing the recording failed: No space left on device"))
            printf("      %zu of %zu bytes\n", room, whole);
    }
}

/* A recording of a program most of whose instructions are not executed, made with memory that has this content. */
static char *recorded_with(int content, size_t *size) {
    static const uint32_t ids[] = {3, 700, 2, 5};
    struct script_source source = small();
    source.ids = ids;
    char *text = NULL;
    struct error err = {0};
    mallopt(M_PERTURB, content); /* of allocated memory, until it is written */
    FILE *out = open_memstream(&text, size);
    CHECK(recording_write(out, &source.source, "a script", NULL, NULL, NULL, &err));
    fclose(out);
    mallopt(M_PERTURB, 0);
    return text;
}

TEST("a recording does not depend on the previous content of memory") {
    size_t size, other_size;
    char *text = recorded_with(0x11, &size), *other = recorded_with(0x77, &other_size);
    REQUIRE(size == other_size);
    CHECK(memcmp(text, other, size) == 0);
    free(text);
    free(other);
}

TEST("a warp of many chunks reads back in order") {
    static struct step many[6000];
    uint64_t address = 0x10000;
    for (unsigned i = 0; i < COUNT_OF(many); i++) {
        many[i] = memory_step(OP_load, SPACE_GLOBAL, 1, address, (uint8_t)(1 + i % 255));
        address += 256 * (1 + i * i % 977);
    }
    struct script_source source = script_make(1, 2, SCRIPT(many));
    char path[] = "/tmp/sluice-recording-XXXXXX";
    FILE *out = fdopen(mkstemp(path), "wb");
    REQUIRE(out);
    struct error err = {0};
    CHECK(recording_write(out, &source.source, "a script", NULL, NULL, NULL, &err));
    fclose(out);
    struct stream_source *back = recording_open(path, &err);
    unlink(path);
    REQUIRE(back);
    CHECK_EQ(recording_info(back)->check, "none");
    CHECK(recording_info(back)->kernels[0].packed_bytes > 4 * 8192); /* bytes of a chunk */
    struct kernel kernel;
    REQUIRE(back->ops->next_kernel(back, &kernel));
    struct warp_stream *warp = mem_alloc(2, sizeof *warp);
    unsigned read[2] = {0};
    warp[1].warp = 1;
    for (unsigned w = 0; w < 2; w++) back->ops->open(back, &warp[w]);
    for (bool ended = false; !ended;) /* in turns */
        for (unsigned w = 0; w < 2; w++) {
            back->ops->refill(back, &warp[w]);
            REQUIRE(warp[w].count > 0);
            for (unsigned i = 0; i < warp[w].count; i++, read[w]++) {
                const struct instr *instr = &warp[w].instr[i];
                ended = instr->op == OP_exit;
                REQUIRE(ended == (read[w] == COUNT_OF(many)));
                if (!ended) REQUIRE(warp[w].touch[instr->touches] == many[read[w]].touch[0]);
            }
        }
    CHECK_EQ(read[0], COUNT_OF(many) + 1);
    CHECK_EQ(read[1], COUNT_OF(many) + 1);
    CHECK(!back->ops->next_kernel(back, &kernel));
    CHECK(!back->ops->failure(back));
    free(warp);
    back->ops->destroy(back);
}
