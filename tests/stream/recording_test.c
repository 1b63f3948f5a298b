/* Recorded streams: a recording reads back exactly what was written, and damage is detected. */
#include "stream/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/random.h"
#include "config/config.h"
#include "stream/workload.h"
#include "test.h"
#include "work.h"

static char *temporary(void) {
    char *path = mem_text("/tmp/sluice-recording-XXXXXX");
    close(mkstemp(path));
    return path;
}

static bool write_to(const char *path, struct stream_source *source, struct error *err) {
    FILE *out = fopen(path, "wb");
    bool good = recording_write(out, source, "a test", NULL, NULL, NULL, err);
    return fclose(out) == 0 && good;
}

/* A hash over kernels, records and touches. */
static uint64_t digest(struct stream_source *source) {
    struct warp_stream *warp = mem_alloc(1, sizeof *warp);
    struct kernel kernel;
    uint64_t sum = 0;
    while (source->ops->next_kernel(source, &kernel)) {
        for (const char *c = kernel.name; *c; c++) sum = (sum ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
        sum += kernel.registers * 7 + kernel.shared_bytes;
        for (uint64_t w = 0; w < kernel_ctas(&kernel) * kernel_warps(&kernel); w++) {
            warp->cta = w / kernel_warps(&kernel), warp->warp = (uint32_t)(w % kernel_warps(&kernel));
            source->ops->open(source, warp);
            for (bool ended = false; !ended;) {
                source->ops->refill(source, warp);
                if (warp->count == 0) break;
                for (unsigned i = 0; i < warp->count; i++) {
                    struct instr record = warp->instr[i];
                    ended = record.op == OP_exit;
                    for (unsigned t = 0; instr_is_memory(&record) && t < record.count; t++)
                        sum = (sum ^ warp->touch[record.touches + t]) * UINT64_C(0x100000001b3);
                    record.touches = 0;
                    for (unsigned b = 0; b < sizeof record; b++)
                        sum = (sum ^ ((const uint8_t *)&record)[b]) * UINT64_C(0x100000001b3);
                }
            }
        }
    }
    free(warp);
    return sum;
}

TEST("a recording reads back every record of a program, also after restarts") {
    static const char *const names[] = {"va:tiny", "mm:tiny"};
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        struct error err = {0};
        char *path = temporary();
        struct stream_source *source = work_open(names[i], false, &err);
        REQUIRE(source && write_to(path, source, &err));
        source->ops->restart(source);
        uint64_t expected = digest(source);
        struct stream_source *recorded = recording_open(path, &err);
        REQUIRE(recorded);
        CHECK_EQ(recording_info(recorded)->workload, "a test");
        CHECK_EQ(digest(recorded), expected);
        recorded->ops->restart(recorded);
        CHECK_EQ(digest(recorded), expected);
        CHECK(!recorded->ops->failure(recorded));
        recorded->ops->destroy(recorded);
        source->ops->destroy(source);
        unlink(path);
        free(path);
    }
}

static bool first_has_atomics(struct stream_source *source) {
    struct kernel kernel;
    REQUIRE(source->ops->next_kernel(source, &kernel));
    return kernel.atomics;
}

TEST("a kernel reports atomics on memory shared between CTAs, emulated and recorded") {
    static const struct {
        const char *name;
        bool atomics;
    } programs[] = {{"sssp:tiny", true}, {"hg:tiny", false}, {"va:tiny", false}};
    for (unsigned i = 0; i < COUNT_OF(programs); i++) {
        struct error err = {0};
        char *path = temporary();
        struct stream_source *source = work_open(programs[i].name, false, &err);
        REQUIRE(source && write_to(path, source, &err));
        source->ops->restart(source);
        CHECK_EQ(first_has_atomics(source), programs[i].atomics);
        struct stream_source *recorded = recording_open(path, &err);
        REQUIRE(recorded);
        CHECK_EQ(first_has_atomics(recorded), programs[i].atomics);
        recorded->ops->destroy(recorded);
        source->ops->destroy(source);
        unlink(path);
        free(path);
    }
}

/* The bytes of a small recording. */
static uint8_t *sample(size_t *size) {
    struct error err = {0};
    char *path = temporary();
    struct stream_source *source = work_open("mm:tiny", false, &err);
    if (!source || !write_to(path, source, &err)) return NULL;
    source->ops->destroy(source);
    FILE *in = fopen(path, "rb");
    uint8_t *bytes = mem_alloc(1 << 20, 1);
    *size = fread(bytes, 1, 1 << 20, in);
    fclose(in);
    unlink(path);
    free(path);
    return bytes;
}

/* Whether damage is detected, on opening or while reading. */
static bool found_out(const uint8_t *bytes, size_t size) {
    char *path = temporary();
    FILE *out = fopen(path, "wb");
    fwrite(bytes, 1, size, out);
    fclose(out);
    struct error err = {0};
    struct stream_source *source = recording_open(path, &err);
    bool found = !source;
    if (source) {
        digest(source);
        found = source->ops->failure(source) != NULL;
        source->ops->destroy(source);
    } else {
        CHECK_TEXT(err.text, path);
    }
    unlink(path);
    free(path);
    return found;
}

TEST("a recording truncated anywhere is rejected") {
    size_t size;
    uint8_t *bytes = sample(&size);
    REQUIRE(bytes);
    uint64_t seed = 1;
    CHECK(!found_out(bytes, size));
    for (int i = 0; i < 60; i++) CHECK(found_out(bytes, random_below(&seed, size)));
    CHECK(found_out(bytes, size - 1));
    free(bytes);
}

TEST("a corrupted byte is detected or, in a frame's unused bits, reads back the same") {
    size_t size;
    uint8_t *bytes = sample(&size);
    REQUIRE(bytes);
    uint64_t seed = 2;
    unsigned found = 0;
    for (int i = 0; i < 200; i++) {
        size_t at = random_below(&seed, size);
        uint8_t change = (uint8_t)(1 + random_below(&seed, 255));
        bytes[at] ^= change;
        found += found_out(bytes, size);
        bytes[at] ^= change;
    }
    CHECK(found >= 199);
    free(bytes);
}
