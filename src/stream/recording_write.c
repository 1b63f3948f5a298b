#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "stream/recording_format.h"

/* A growing byte buffer. */
struct bytes {
    uint8_t *data;
    size_t count, room;
};

static void put_bytes(struct bytes *bytes, const void *data, size_t count) {
    if (bytes->room - bytes->count < count) {
        bytes->room = round_up_power_of_two(bytes->count + count + 64);
        bytes->data = mem_grow(bytes->data, bytes->room, 1);
    }
    if (count) memcpy(bytes->data + bytes->count, data, count);
    bytes->count += count;
}

static void put_number(struct bytes *bytes, uint64_t value) {
    uint8_t varint[PACK_VARINT_BYTES];
    unsigned n = 0;
    do varint[n++] = (uint8_t)(value & 0x7F) | (value > 0x7F ? 0x80 : 0);
    while (value >>= 7);
    put_bytes(bytes, varint, n);
}

static void put_text(struct bytes *bytes, const char *text) {
    put_number(bytes, strlen(text));
    put_bytes(bytes, text, strlen(text));
}

struct recorder {
    FILE *out;
    struct error *err;
    ZSTD_CCtx *zstd;
    uint64_t offset;       /* in the file */
    struct bytes frame;    /* compressed */
    struct instr *records; /* static records, by id: the first one seen of each */
    bool *known;
    uint32_t record_count;
    struct bytes chunks; /* the kernel's list: for each warp, its chunks */
    struct packer packer;
    uint8_t packed[CHUNK_BYTES + PACK_RECORD_BYTES];
    bool (*step)(void *user, const struct program_progress *now);
    void *user;
    struct program_progress before, now; /* up to this kernel, and within it */
    bool interrupted;
};

enum { STEP_REFILLS = 1024 };

/* Reports progress, also while the source waits; false if the user has interrupted the recording. */
static bool step_on(void *recorder) {
    struct recorder *r = recorder;
    if (!r->interrupted && r->step && !r->step(r->user, &r->now))
        r->interrupted = !error_set(r->err, "interrupted; no recording was written");
    return !r->interrupted;
}

static bool write_failed(struct recorder *r) {
    return error_set(r->err, "writing the recording failed: %s", strerror(errno));
}

/* Writes one frame; everything after the head passes through here. Returns its size in the file, 0 on failure. */
static uint64_t write_frame(struct recorder *r, const void *data, size_t count) {
    size_t most = ZSTD_compressBound(count);
    if (r->frame.room < most) r->frame.data = mem_grow(r->frame.data, r->frame.room = most, 1);
    size_t size = ZSTD_compress2(r->zstd, r->frame.data, r->frame.room, data, count);
    if (ZSTD_isError(size)) mem_exhausted(); /* the only error left: the buffer is large enough */
    if (fwrite(r->frame.data, 1, size, r->out) != size) return write_failed(r);
    r->offset += size;
    return size;
}

/* A record is packed as its differences from the first record of its id. */
static const struct instr *static_record(struct recorder *r, const struct instr *record) {
    if (record->id >= r->record_count) {
        uint32_t room = (uint32_t)round_up_power_of_two((uint64_t)record->id + 64);
        r->records = mem_grow(r->records, room, sizeof *r->records);
        r->known = mem_grow(r->known, room, sizeof *r->known);
        memset(r->records + r->record_count, 0, (room - r->record_count) * sizeof *r->records);
        memset(r->known + r->record_count, 0, (room - r->record_count) * sizeof *r->known);
        r->record_count = room;
    }
    if (!r->known[record->id]) {
        r->records[record->id] = *record;
        r->records[record->id].touches = 0;
        r->known[record->id] = true;
    }
    return &r->records[record->id];
}

static bool end_chunk(struct recorder *r, struct bytes *list, struct recording_kernel *totals) {
    uint64_t size = write_frame(r, r->packed, r->packer.used);
    if (!size) return false;
    put_number(list, size);
    put_number(list, r->packer.used);
    put_number(list, r->offset - size);
    totals->packed_bytes += r->packer.used;
    totals->stored_bytes += size;
    r->packer.used = 0;
    r->packer.run_at = PACK_NO_RUN;
    return true;
}

/* One warp, from its first record to its exit. */
static bool record_warp(struct recorder *r, struct stream_source *source, struct warp_stream *warp,
                        struct recording_kernel *totals) {
    struct bytes list = {0};
    unsigned chunks = 0;
    unsigned refills = 0;
    bool good = true, ended = false;
    source->ops->open(source, warp);
    r->packer = (struct packer){.bytes = r->packed, .run_at = PACK_NO_RUN};
    pack_start(&r->packer.context);
    while (good && !ended) {
        warp->count = 0;
        source->ops->refill(source, warp);
        if (warp->count == 0) break;
        for (unsigned i = 0; i < warp->count && good; i++) {
            const struct instr *record = &warp->instr[i];
            bool memory = instr_is_memory(record);
            pack_put(&r->packer, static_record(r, record), record, memory ? warp->touch + record->touches : NULL);
            totals->warp_instructions++;
            totals->thread_instructions += (unsigned)__builtin_popcount(record->active);
            totals->memory_instructions += memory;
            ended = record->op == OP_exit;
            if (r->packer.used >= CHUNK_BYTES || ended) good = end_chunk(r, &list, totals), chunks++;
        }
        r->now.warp_instructions = r->before.warp_instructions + totals->warp_instructions;
        r->now.thread_instructions = r->before.thread_instructions + totals->thread_instructions;
        if (++refills % STEP_REFILLS == 0) good = good && step_on(r);
    }
    put_number(&r->chunks, chunks);
    put_bytes(&r->chunks, list.data, list.count);
    free(list.data);
    return good;
}

/* Fields of a kernel, in the order of recording_read.c. */
static void put_kernel(struct bytes *to, const struct recording_kernel *k) {
    put_text(to, k->kernel.name);
    for (int d = 0; d < 3; d++) put_number(to, k->kernel.grid[d]);
    for (int d = 0; d < 3; d++) put_number(to, k->kernel.block[d]);
    put_number(to, k->kernel.registers);
    put_number(to, k->kernel.shared_bytes);
    uint64_t cluster = k->kernel.cluster_ctas > 1 ? k->kernel.cluster_ctas : 0;
    put_number(to, (k->kernel.atomics ? RECORDING_ATOMICS : 0u) | (k->kernel.tensor ? RECORDING_TENSOR : 0u) |
                       (k->kernel.cooperative ? RECORDING_COOPERATIVE : 0u) | cluster << RECORDING_CLUSTER_SHIFT);
    put_number(to, k->warp_instructions);
    put_number(to, k->thread_instructions);
    put_number(to, k->memory_instructions);
    put_number(to, k->packed_bytes);
    put_number(to, k->stored_bytes);
}

static bool record_kernel(struct recorder *r, struct stream_source *source, struct recording_kernel *totals) {
    r->now = r->before;
    r->now.kernel = &totals->kernel;
    struct warp_stream *warp = mem_alloc(1, sizeof *warp);
    uint64_t warps = kernel_ctas(&totals->kernel) * kernel_warps(&totals->kernel);
    bool good = true;
    r->chunks.count = 0;
    for (uint64_t w = 0; w < warps && good; w++) { /* a failed source ends all further streams at once */
        if (source->ops->failure && source->ops->failure(source)) break;
        warp->cta = w / kernel_warps(&totals->kernel);
        warp->warp = (uint32_t)(w % kernel_warps(&totals->kernel));
        good = record_warp(r, source, warp, totals);
        r->now.ctas = (w + 1) / kernel_warps(&totals->kernel);
        good = good && step_on(r);
    }
    free(warp);
    return good;
}

/* The contents: the position of each directory. */
static bool write_directory(struct recorder *r, const struct recording_kernel *totals, struct bytes *contents) {
    struct bytes directory = {0};
    put_kernel(&directory, totals);
    uint32_t used = r->record_count;
    while (used > 0 && !r->known[used - 1]) used--;
    put_number(&directory, used);
    put_bytes(&directory, r->records, used * sizeof *r->records);
    put_bytes(&directory, r->chunks.data, r->chunks.count);
    uint64_t size = write_frame(r, directory.data, directory.count);
    put_kernel(contents, totals);
    put_number(contents, r->offset - size);
    put_number(contents, size);
    put_number(contents, directory.count);
    free(directory.data);
    return size != 0;
}

static bool write_ends(struct recorder *r, const char *workload, const char *check, uint64_t kernels,
                       const struct bytes *contents) {
    struct bytes all = {0};
    put_text(&all, workload);
    put_text(&all, check);
    put_number(&all, kernels);
    put_bytes(&all, contents->data, contents->count);
    uint64_t foot[2] = {r->offset, 0};
    foot[1] = write_frame(r, all.data, all.count);
    bool good = foot[1] != 0 && fwrite(foot, 1, sizeof foot, r->out) == sizeof foot &&
                fputs(RECORDING_FOOT, r->out) >= 0 && fflush(r->out) == 0;
    free(all.data);
    return good || write_failed(r);
}

bool recording_write(FILE *out, struct stream_source *source, const char *workload, struct recording_verdict *verdict,
                     bool (*step)(void *user, const struct program_progress *now), void *user, struct error *err) {
    struct recorder r = {.out = out, .err = err, .zstd = ZSTD_createCCtx(), .step = step, .user = user};
    struct bytes contents = {0};
    if (!r.zstd) mem_exhausted();
    ZSTD_CCtx_setParameter(r.zstd, ZSTD_c_checksumFlag, 1);
    struct recording_kernel totals = {0};
    struct program_progress *done = &r.before;
    bool good = (fputs(RECORDING_HEAD, out) >= 0 && fputc(RECORDING_VERSION, out) != EOF) || write_failed(&r);
    r.offset = RECORDING_HEAD_BYTES;
    source->patience = step_on;
    source->patience_user = &r;
    while (good && source->ops->next_kernel(source, &totals.kernel)) {
        good = record_kernel(&r, source, &totals) && write_directory(&r, &totals, &contents);
        done->warp_instructions += totals.warp_instructions;
        done->thread_instructions += totals.thread_instructions;
        done->threads += kernel_ctas(&totals.kernel) * kernel_threads(&totals.kernel);
        done->kernels++;
        totals = (struct recording_kernel){0};
    }
    good = good && !r.interrupted;
    source->patience = NULL;
    const char *failure = good && source->ops->failure ? source->ops->failure(source) : NULL;
    if (failure) good = error_set(err, "%s", failure);
    if (good && verdict) verdict->check = source->ops->check(source, &verdict->found);
    good = good && write_ends(&r, workload, verdict ? verdict->check : "none", done->kernels, &contents);
    ZSTD_freeCCtx(r.zstd);
    free(r.frame.data);
    free(r.records);
    free(r.known);
    free(r.chunks.data);
    free(contents.data);
    return good;
}
