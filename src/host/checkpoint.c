#include "host/checkpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/output.h"
#include "emu/emu.h"
#include "ptx/module.h"

static const char file_magic[16] = "SLUICE state 1\n";

enum { BLOCK_BYTES = 256, PACK_LEVEL = 1 };

struct bytes {
    uint8_t *data;
    size_t count, room;
};

struct checkpoint {
    const char *path;
    uint64_t launches, next; /* in the file; already recorded or restored */
    struct output output;    /* while recording */
    bool recording;
    FILE *file;          /* while restoring */
    long first_launch;   /* its position in the file */
    struct bytes record; /* of one launch */
    size_t read;         /* of the record */
    bool damaged;        /* a read went beyond its end */
    struct bytes frame;
    struct bytes text; /* printed by the launch */
};

/* --- records --- */

static void put(struct bytes *bytes, const void *data, size_t count) {
    if (bytes->room - bytes->count < count) {
        bytes->room = round_up_power_of_two(bytes->count + count + 64);
        bytes->data = mem_grow(bytes->data, bytes->room, 1);
    }
    if (count) memcpy(bytes->data + bytes->count, data, count);
    bytes->count += count;
}

static void put_number(struct bytes *bytes, uint64_t value) { put(bytes, &value, sizeof value); }

/* A part of the record, NULL beyond its end. */
static const uint8_t *take(struct checkpoint *c, uint64_t count) {
    if (c->damaged || count > c->record.count - c->read) {
        c->damaged = true;
        return NULL;
    }
    c->read += count;
    return c->record.data + c->read - count;
}

static uint64_t take_number(struct checkpoint *c) {
    uint64_t value = 0;
    const uint8_t *at = take(c, sizeof value);
    if (at) memcpy(&value, at, sizeof value);
    return value;
}

/* --- the file --- */

static bool write_frame(struct checkpoint *c, const struct bytes *content, struct error *err) {
    size_t most = ZSTD_compressBound(content->count);
    if (c->frame.room < most) c->frame.data = mem_grow(c->frame.data, c->frame.room = most, 1);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    if (!zstd) mem_exhausted();
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, PACK_LEVEL);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    size_t size = ZSTD_compress2(zstd, c->frame.data, c->frame.room, content->data, content->count);
    ZSTD_freeCCtx(zstd);
    if (ZSTD_isError(size)) mem_exhausted(); /* the only error left: the buffer is large enough */
    uint64_t length = size;
    FILE *out = c->output.file;
    if (fwrite(&length, sizeof length, 1, out) == 1 && fwrite(c->frame.data, 1, size, out) == size) return true;
    return error_set(err, "%s: writing the checkpoint failed: %s", c->path, strerror(errno));
}

static bool file_damaged(const struct checkpoint *c, struct error *err) {
    return error_set(err, "%s: launch %llu of the checkpoint is damaged; create the checkpoint again", c->path,
                     (unsigned long long)c->next);
}

static void *grown(struct bytes *bytes, uint64_t count) {
    if (bytes->room >= count) return bytes->data;
    free(bytes->data);
    bytes->data = count < SIZE_MAX / 2 ? malloc(count) : NULL; /* the size is the file's */
    bytes->room = bytes->data ? count : 0;
    return bytes->data;
}

/* Reads the next frame into the record. */
static bool read_frame(struct checkpoint *c, struct error *err) {
    uint64_t size;
    long at = ftell(c->file);
    fseek(c->file, 0, SEEK_END);
    long end = ftell(c->file);
    fseek(c->file, at, SEEK_SET);
    if (fread(&size, sizeof size, 1, c->file) != 1 || size > (uint64_t)(end - at) || !grown(&c->frame, size + 1) ||
        fread(c->frame.data, 1, size, c->file) != size)
        return file_damaged(c, err);
    unsigned long long content = ZSTD_getFrameContentSize(c->frame.data, size);
    if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN || !grown(&c->record, content + 1))
        return file_damaged(c, err);
    size_t count = ZSTD_decompress(c->record.data, content, c->frame.data, size);
    if (ZSTD_isError(count) || count != content) return file_damaged(c, err);
    c->record.count = count;
    c->read = 0;
    c->damaged = false;
    return true;
}

struct checkpoint *checkpoint_create(const char *path, uint64_t launches, struct error *err) {
    struct checkpoint *c = mem_alloc(1, sizeof *c);
    c->path = path;
    c->launches = launches;
    c->recording = output_open(&c->output, path, err);
    struct bytes head = {0};
    put_number(&head, launches);
    bool good = c->recording && (fwrite(file_magic, sizeof file_magic, 1, c->output.file) == 1 ||
                                 error_set(err, "%s: writing the checkpoint failed: %s", path, strerror(errno)));
    good = good && write_frame(c, &head, err);
    free(head.data);
    if (good) return c;
    checkpoint_destroy(c);
    return NULL;
}

static bool restore_begin(struct checkpoint *c, struct error *err) {
    char magic[sizeof file_magic];
    c->next = 0;
    c->file = fopen(c->path, "rb");
    if (!c->file) return error_set(err, "%s: %s", c->path, strerror(errno));
    if (fread(magic, sizeof magic, 1, c->file) != 1 || memcmp(magic, file_magic, sizeof magic) != 0)
        return error_set(
            err, "%s is not a checkpoint of this version of Sluice (`sluice run --checkpoint` writes them)", c->path);
    if (!read_frame(c, err)) return false;
    c->launches = take_number(c);
    c->first_launch = ftell(c->file);
    return !c->damaged || file_damaged(c, err);
}

struct checkpoint *checkpoint_open(const char *path, struct error *err) {
    struct checkpoint *c = mem_alloc(1, sizeof *c);
    c->path = path;
    if (restore_begin(c, err)) return c;
    checkpoint_destroy(c);
    return NULL;
}

uint64_t checkpoint_launches(const struct checkpoint *checkpoint) { return checkpoint->launches; }
bool checkpoint_complete(const struct checkpoint *checkpoint) { return !checkpoint->recording; }

bool checkpoint_rewind(struct checkpoint *c, struct error *err) {
    if (c->recording)
        return error_set(err, "the program started again before it had launched %llu kernels",
                         (unsigned long long)c->launches);
    if (!c->file) return restore_begin(c, err);
    c->next = 0;
    return fseek(c->file, c->first_launch, SEEK_SET) == 0 || error_set(err, "%s: %s", c->path, strerror(errno));
}

void checkpoint_destroy(struct checkpoint *c) {
    struct error ignored = {0};
    if (c->recording) output_close(&c->output, false, &ignored);
    if (c->file) fclose(c->file);
    free(c->record.data);
    free(c->frame.data);
    free(c->text.data);
    free(c);
}

/* --- what identifies a launch --- */

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint64_t mix_bytes(uint64_t hash, const void *data, uint64_t count) {
    const uint8_t *bytes = data;
    uint64_t word;
    for (; count >= sizeof word; bytes += sizeof word, count -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = mix(hash, word);
    }
    for (; count; count--) hash = mix(hash, *bytes++);
    return hash;
}

static uint64_t identity(const struct launch *launch, const struct memory *memory, bool first) {
    const struct ptx_module *module = loaded_program(launch->module)->module;
    uint64_t hash = mix_bytes(1, module->text, module->text_bytes);
    hash = mix_bytes(hash, launch->kernel->name, strlen(launch->kernel->name));
    for (unsigned i = 0; i < 3; i++) hash = mix(mix(mix(hash, launch->grid[i]), launch->block[i]), launch->cluster[i]);
    hash = mix(hash, launch->dynamic_shared_bytes);
    hash = mix_bytes(hash, launch->parameters, launch->kernel->parameter_bytes);
    for (uint32_t i = 0; first && i < memory->count; i++) {
        hash = mix(hash, memory->allocations[i].address);
        hash = mix_bytes(hash, memory->allocations[i].bytes, memory->allocations[i].size_bytes);
    }
    return hash;
}

/* --- recording --- */

static void copy_take(const struct memory *memory, struct memory *copy) {
    copy->count = memory->count;
    copy->allocations = mem_alloc(memory->count + 1, sizeof *copy->allocations);
    for (uint32_t i = 0; i < memory->count; i++) {
        const struct allocation *from = &memory->allocations[i];
        copy->allocations[i] = *from;
        copy->allocations[i].bytes = mem_alloc(from->size_bytes + 1, 1);
        memcpy(copy->allocations[i].bytes, from->bytes, from->size_bytes);
    }
}

static void copy_release(struct memory *copy) {
    for (uint32_t i = 0; i < copy->count; i++) free(copy->allocations[i].bytes);
    free(copy->allocations);
}

/* Runs of blocks that differ: address, size, contents. `before` NULL: zeros. */
static uint64_t put_changes(struct bytes *record, const struct allocation *now, const uint8_t *before) {
    static const uint8_t zeros[BLOCK_BYTES];
    uint64_t runs = 0;
    for (uint64_t at = 0, from = UINT64_MAX; at <= now->size_bytes; at += BLOCK_BYTES) {
        uint64_t size = min_u64(BLOCK_BYTES, now->size_bytes - at);
        bool differs = size && memcmp(now->bytes + at, before ? before + at : zeros, size) != 0;
        if (differs && from == UINT64_MAX) from = at;
        if (from == UINT64_MAX || (differs && size == BLOCK_BYTES)) continue;
        uint64_t end = differs ? at + size : at;
        put_number(record, now->address + from);
        put_number(record, end - from);
        put(record, now->bytes + from, end - from);
        from = UINT64_MAX;
        runs++;
    }
    return runs;
}

static const struct allocation *allocation_at(const struct memory *memory, uint64_t address) {
    for (uint32_t low = 0, high = memory->count; low < high;) {
        uint32_t middle = (low + high) / 2;
        if (memory->allocations[middle].address == address) return &memory->allocations[middle];
        if (memory->allocations[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Freed allocations, new ones, and what differs in all of them. */
static void put_memory(struct bytes *record, const struct memory *before, const struct memory *now) {
    struct bytes freed = {0}, made = {0}, changed = {0};
    uint64_t runs = 0;
    for (uint32_t i = 0; i < before->count; i++)
        if (!allocation_at(now, before->allocations[i].address)) put_number(&freed, before->allocations[i].address);
    for (uint32_t i = 0; i < now->count; i++) {
        const struct allocation *a = &now->allocations[i], *old = allocation_at(before, a->address);
        if (!old) {
            put_number(&made, a->address);
            put_number(&made, a->size_bytes);
        }
        runs += put_changes(&changed, a, old ? old->bytes : NULL);
    }
    put_number(record, freed.count / 8);
    put(record, freed.data, freed.count);
    put_number(record, made.count / 16);
    put(record, made.data, made.count);
    put_number(record, runs);
    put(record, changed.data, changed.count);
    free(freed.data);
    free(made.data);
    free(changed.data);
}

static void note_text(void *user, const char *text, size_t bytes) {
    put(&((struct checkpoint *)user)->text, text, bytes);
}

static bool record_launch(struct checkpoint *c, struct device *device, const struct launch *launch,
                          struct emu_counts *counts, struct error *err) {
    struct memory before = {0};
    struct device *const print_to = &(struct device){.print = device->print, .print_user = device->print_user};
    c->record.count = c->text.count = 0;
    put_number(&c->record, identity(launch, &device->memory, c->next == 1));
    copy_take(&device->memory, &before);
    device->print = note_text;
    device->print_user = c;
    bool good = emu_run(device, launch, NULL, counts, err);
    device->print = print_to->print;
    device->print_user = print_to->print_user;
    if (device->print && c->text.count) device->print(device->print_user, (const char *)c->text.data, c->text.count);
    if (good) {
        put_number(&c->record, counts->warp_instructions);
        put_number(&c->record, counts->thread_instructions);
        put_number(&c->record, device->heap_used);
        put_number(&c->record, device->memory.next);
        put_number(&c->record, c->text.count);
        put(&c->record, c->text.data, c->text.count);
        put_memory(&c->record, &before, &device->memory);
        good = write_frame(c, &c->record, err);
    }
    copy_release(&before);
    if (!good || c->next < c->launches) return good;
    c->recording = false;
    return output_close(&c->output, true, err);
}

/* --- restoring --- */

static bool apply_memory(struct checkpoint *c, struct memory *memory) {
    bool good = true;
    for (uint64_t left = take_number(c); left && good; left--) good = memory_free(memory, take_number(c));
    for (uint64_t left = take_number(c); left && good; left--) {
        uint64_t address = take_number(c), size = take_number(c);
        good = !c->damaged && memory_place(memory, address, size);
    }
    for (uint64_t left = take_number(c); left && good; left--) {
        uint64_t address = take_number(c), size = take_number(c);
        const uint8_t *from = take(c, size);
        uint8_t *to = from ? memory_at(memory, address, size) : NULL;
        good = to != NULL;
        if (good) memcpy(to, from, size);
    }
    return good && !c->damaged;
}

static bool restore_launch(struct checkpoint *c, struct device *device, const struct launch *launch,
                           struct emu_counts *counts, struct error *err) {
    if (!read_frame(c, err)) return false;
    if (take_number(c) != identity(launch, &device->memory, c->next == 1))
        return error_set(
            err,
            "%s: launch %llu of the checkpoint is not this launch of %s: another program, input or version; create the checkpoint again",
            c->path, (unsigned long long)c->next, launch->kernel->name);
    *counts = (struct emu_counts){.warp_instructions = take_number(c)};
    counts->thread_instructions = take_number(c);
    device->heap_used = take_number(c);
    uint64_t next = take_number(c), text_bytes = take_number(c);
    const uint8_t *text = take(c, text_bytes);
    if (text && text_bytes && device->print) device->print(device->print_user, (const char *)text, text_bytes);
    if (!apply_memory(c, &device->memory)) return file_damaged(c, err);
    device->memory.next = next;
    device->launches++;
    return true;
}

bool checkpoint_launch(struct checkpoint *c, struct device *device, const struct launch *launch,
                       struct emu_counts *counts, struct error *err) {
    struct emu_counts unwanted;
    if (!counts) counts = &unwanted;
    c->next++;
    return (c->recording ? record_launch : restore_launch)(c, device, launch, counts, err);
}
