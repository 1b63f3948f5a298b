/* Reads arbitrary bytes as a recorded stream, and simulates it on a small machine: it is rejected with a message, or the run
 * ends. Entry point for libFuzzer; tests/stream/corpus_test.c replays data/fuzz/recording through it.
 *
 * Frames are checksummed, and a fuzzer finds no checksum. Frames of one uncompressed block, which the corpus is made of, get the
 * checksum of their content here. */
#include <string.h>
#include <xxhash.h>

#include "fuzz/scratch.h"
#include "gpu/machine.h"
#include "settings.h"
#include "stream/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) abort();
}

/* A frame: magic, descriptor (single segment, 4 bytes of content size, checksum), content size, block header of 3 bytes,
 * content, 4 bytes of checksum. */
enum { FRAME_MAGIC = 0xFD2FB528u, FRAME_DESCRIPTOR = 0xA4, FRAME_HEAD = 12, FRAME_SUM = 4 };

static void fix_checksums(uint8_t *bytes, size_t size) {
    for (size_t at = 0; at + FRAME_HEAD + FRAME_SUM <= size; at++) {
        uint32_t magic, content, block = 0;
        memcpy(&magic, bytes + at, 4);
        if (magic != FRAME_MAGIC || bytes[at + 4] != FRAME_DESCRIPTOR) continue;
        memcpy(&content, bytes + at + 5, 4);
        memcpy(&block, bytes + at + 9, 3);
        if (block != (content << 3 | 1) || content > size - at - FRAME_HEAD - FRAME_SUM) continue;
        uint32_t sum = (uint32_t)XXH64(bytes + at + FRAME_HEAD, content, 0);
        memcpy(bytes + at + FRAME_HEAD + content, &sum, FRAME_SUM);
    }
}

static bool few_cycles(void *user, const struct run_progress *progress) {
    (void)user;
    return progress->cycles < 200000;
}

static void simulate(struct stream_source *source) {
    static const char *const settings[] = {"sm.count=1", "gpu.clusters=1",  "llc.slices_per_mc=1",
                                           "dram.mcs=1", "llc.slice_kb=16", "noc.topology=ideal",
                                           NULL};
    struct error err = {0};
    struct config *config = config_create(config_sections, config_section_count);
    must(config_set_all(config, settings, &err) && config_check(config, &err));
    struct machine *machine = machine_create_for(1, config, &err);
    must(machine != NULL);
    struct run_options options = {.max_instructions = 20000, .progress = few_cycles};
    struct run_result result = {0};
    enum run_status status = machine_run(machine, source, &options, &result, &err);
    must((status == RUN_REFUSED || status == RUN_FAILED) == err.set);
    run_result_release(&result);
    machine_destroy(machine);
    config_destroy(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *bytes = mem_alloc(size, 1);
    if (size) memcpy(bytes, data, size);
    fix_checksums(bytes, size);
    char *path = scratch_path("stream");
    scratch_write(path, bytes, size);
    struct error err = {0};
    struct stream_source *source = recording_open(path, &err);
    must(!source == err.set);
    if (source) {
        must(recording_info(source)->workload && recording_info(source)->check);
        simulate(source);
        source->ops->destroy(source);
    } else {
        must(strncmp(err.text, path, strlen(path)) == 0);
    }
    unlink(path);
    free(path);
    free(bytes);
    return 0;
}
