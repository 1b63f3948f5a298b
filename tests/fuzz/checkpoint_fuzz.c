/* Restores a launch from arbitrary bytes: it is rejected with a message, or device memory is valid. The bytes follow what
 * identifies the launch, which a fuzzer would not find, in the frame of a checkpoint. Entry point for libFuzzer;
 * tests/host/corpus_test.c replays data/fuzz/checkpoint through it. */
#include <string.h>
#include <zstd.h>

#include "emu/emu.h"
#include "fuzz/scratch.h"
#include "host/checkpoint.h"
#include "host/programs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) abort();
}

/* A device with one allocation, and the launch add<<<1, 32>>>(its address, 5). */
struct fixture {
    struct device device;
    struct loaded_module *loaded;
    struct launch launch;
    uint8_t parameters[12];
};

static void fixture_open(struct fixture *f) {
    static const char text[] = PTX_HEAD PTX_ADD;
    const uint32_t five = 5;
    struct error err = {0};
    *f = (struct fixture){0};
    device_init(&f->device);
    f->loaded = device_load(&f->device, ptx_parse("add.ptx", text, strlen(text), &err), &err);
    uint64_t address = memory_allocate(&f->device.memory, 1024);
    must(f->loaded && address);
    memcpy(f->parameters, &address, sizeof address);
    memcpy(f->parameters + sizeof address, &five, sizeof five);
    f->launch = (struct launch){.module = f->loaded,
                                .kernel = program_kernel(loaded_program(f->loaded), "add"),
                                .grid = {1, 1, 1},
                                .block = {32, 1, 1},
                                .parameters = f->parameters};
}

static void fixture_close(struct fixture *f) {
    device_unload(&f->device, f->loaded);
    device_release(&f->device);
}

/* Records the launch; returns the file up to its only frame, and what identifies the launch. */
static size_t record(const char *path, uint8_t *head, uint64_t *identity) {
    struct fixture f;
    struct error err = {0};
    uint8_t file[4096], content[4096];
    fixture_open(&f);
    struct checkpoint *checkpoint = checkpoint_create(path, 1, &err);
    must(checkpoint && checkpoint_launch(checkpoint, &f.device, &f.launch, NULL, &err));
    checkpoint_destroy(checkpoint);
    fixture_close(&f);
    FILE *in = fopen(path, "rb");
    must(in != NULL);
    size_t size = fread(file, 1, sizeof file, in);
    fclose(in);
    uint64_t first, second;
    memcpy(&first, file + 16, sizeof first); /* behind the magic: the head's frame, then the launch's */
    size_t launch_at = 16 + 8 + first;
    memcpy(&second, file + launch_at, sizeof second);
    must(launch_at + 8 + second == size);
    must(!ZSTD_isError(ZSTD_decompress(content, sizeof content, file + launch_at + 8, second)));
    memcpy(identity, content, sizeof *identity);
    memcpy(head, file, launch_at);
    return launch_at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t head[256];
    static size_t head_bytes;
    static uint64_t identity;
    char *path = scratch_path("a.state");
    if (!head_bytes) head_bytes = record(path, head, &identity);
    uint8_t *content = mem_alloc(size + 8, 1), *frame = mem_alloc(ZSTD_compressBound(size + 8), 1);
    memcpy(content, &identity, 8);
    if (size) memcpy(content + 8, data, size);
    uint64_t frame_bytes = ZSTD_compress(frame, ZSTD_compressBound(size + 8), content, size + 8, 1);
    FILE *out = fopen(path, "wb");
    must(out && fwrite(head, 1, head_bytes, out) == head_bytes && fwrite(&frame_bytes, 8, 1, out) == 1 &&
         fwrite(frame, 1, frame_bytes, out) == frame_bytes && fclose(out) == 0);
    struct fixture f;
    struct error err = {0};
    struct emu_counts counts = {0};
    fixture_open(&f);
    struct checkpoint *checkpoint = checkpoint_open(path, &err);
    must(checkpoint && checkpoint_launches(checkpoint) == 1);
    must(checkpoint_launch(checkpoint, &f.device, &f.launch, &counts, &err) == !err.set);
    for (uint32_t i = 0; i < f.device.memory.count; i++) /* every allocation can be read */
        must(!f.device.memory.allocations[i].size_bytes || f.device.memory.allocations[i].bytes != NULL);
    checkpoint_destroy(checkpoint);
    fixture_close(&f);
    unlink(path);
    free(path);
    free(content);
    free(frame);
    return 0;
}
