#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "stream/recording_format.h"

/* Position and uncompressed size of a frame. */
struct frame {
    uint64_t offset, size, content;
};

struct recording {
    struct stream_source source;
    char *path;
    int file;
    ZSTD_DCtx *zstd;
    uint8_t *compressed; /* of the frame being read */
    size_t compressed_room;
    char *workload, *check;
    struct recording_info info;
    struct recording_kernel *kernels;
    struct frame *directories;
    uint32_t next; /* kernel */
    bool ended;    /* next_kernel has returned false */

    /* of the kernel being read */
    uint8_t *directory;
    struct instr *records;
    uint32_t record_count, warps_per_cta;
    uint64_t warps;
    uint64_t *first_chunk; /* of each warp, and one beyond */
    struct frame *chunks;
    struct reader *readers;
    struct error failure; /* why the streams ended early */
};

/* A warp's position: its chunk in memory and the offset in it. The warp's state points here. */
struct reader {
    struct reader *previous, *next; /* list of open readers */
    struct unpacker unpacker;
    uint64_t chunk; /* the next one to fetch */
    uint8_t bytes[CHUNK_MOST_BYTES];
};

/* --- numbers out of frames --- */

/* The rest of a frame's content; `at` is NULL after an overrun. */
struct cursor {
    const uint8_t *at, *end;
};

static uint64_t get_number(struct cursor *c) {
    uint64_t value = 0;
    for (unsigned shift = 0; c->at && c->at < c->end && shift < 64; shift += 7) {
        uint8_t byte = *c->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) return value;
    }
    c->at = NULL;
    return 0;
}

static const uint8_t *get_bytes(struct cursor *c, uint64_t count) {
    const uint8_t *bytes = c->at;
    if (!bytes || count > (uint64_t)(c->end - bytes)) return c->at = NULL;
    c->at += count;
    return bytes;
}

static char *get_text(struct cursor *c) {
    uint64_t length = get_number(c);
    const uint8_t *text = get_bytes(c, length);
    return text ? text_format("%.*s", (int)min_u64(length, 4096), (const char *)text) : mem_text("");
}

static void get_kernel(struct cursor *c, struct recording_kernel *k) {
    uint64_t length = get_number(c);
    const uint8_t *name = get_bytes(c, length);
    if (name) snprintf(k->kernel.name, sizeof k->kernel.name, "%.*s", (int)min_u64(length, 63), (const char *)name);
    for (int d = 0; d < 3; d++) k->kernel.grid[d] = (uint32_t)get_number(c);
    for (int d = 0; d < 3; d++) k->kernel.block[d] = (uint32_t)get_number(c);
    k->kernel.registers = (uint32_t)get_number(c);
    k->kernel.shared_bytes = (uint32_t)get_number(c);
    uint64_t uses = get_number(c);
    k->kernel.atomics = uses & RECORDING_ATOMICS;
    k->kernel.tensor = uses & RECORDING_TENSOR;
    k->kernel.cooperative = uses & RECORDING_COOPERATIVE;
    k->kernel.cluster_ctas = (uint32_t)min_u64(uses >> RECORDING_CLUSTER_SHIFT, UINT32_MAX);
    k->warp_instructions = get_number(c);
    k->thread_instructions = get_number(c);
    k->memory_instructions = get_number(c);
    k->packed_bytes = get_number(c);
    k->stored_bytes = get_number(c);
}

static bool damaged(const struct recording *r, uint64_t offset, struct error *err, const char *what) {
    return error_set(err, "%s: byte %" PRIu64 ": %s; the recording is damaged; record it again with `sluice record`",
                     r->path, offset, what);
}

/* Reads a frame into `to`, frame->content bytes long. */
static bool read_frame(struct recording *r, const struct frame *frame, uint8_t *to, struct error *err) {
    if (frame->offset > r->info.file_bytes || frame->size > r->info.file_bytes - frame->offset)
        return damaged(r, frame->offset, err, "a chunk lies beyond the end of the file");
    if (r->compressed_room < frame->size) {
        r->compressed_room = round_up_power_of_two(frame->size);
        r->compressed = mem_grow(r->compressed, r->compressed_room, 1);
    }
    size_t got = file_read_at(r->file, r->compressed, frame->size, frame->offset);
    if (got < frame->size) return damaged(r, frame->offset + got, err, errno ? strerror(errno) : "the file ends here");
    size_t count = ZSTD_decompressDCtx(r->zstd, to, frame->content, r->compressed, frame->size);
    if (ZSTD_isError(count)) return damaged(r, frame->offset, err, ZSTD_getErrorName(count));
    return count == frame->content || damaged(r, frame->offset, err, "a chunk is shorter than its directory entry");
}

/* Content sizes come from the file and are bounded by the highest compression ratio of zstd. */
static bool content_is_sane(const struct frame *frame) { return frame->content <= frame->size * 65536 + 65536; }

/* --- the file as a whole --- */

static bool read_contents(struct recording *r, struct error *err) {
    uint8_t foot[RECORDING_FOOT_BYTES], head[RECORDING_HEAD_BYTES];
    if (file_read_at(r->file, head, sizeof head, 0) != sizeof head ||
        memcmp(head, RECORDING_HEAD, sizeof head - 1) != 0)
        return error_set(err, "%s: not a stream recorded by `sluice record`", r->path);
    if (head[sizeof head - 1] < RECORDING_OLDEST || head[sizeof head - 1] > RECORDING_VERSION)
        return error_set(err,
                         "%s: recording version %u is not supported (expected %d to %d); record it again, or use the "
                         "matching sluice",
                         r->path, head[sizeof head - 1], RECORDING_OLDEST, RECORDING_VERSION);
    struct frame contents;
    if (r->info.file_bytes < sizeof head + sizeof foot ||
        file_read_at(r->file, foot, sizeof foot, r->info.file_bytes - sizeof foot) != sizeof foot ||
        memcmp(foot + 16, RECORDING_FOOT, sizeof foot - 16) != 0)
        return error_set(err, "%s: byte %" PRIu64 ": the recording is truncated here; record it again", r->path,
                         r->info.file_bytes);
    memcpy(&contents.offset, foot, 8);
    memcpy(&contents.size, foot + 8, 8);
    if (contents.offset > r->info.file_bytes || contents.size > r->info.file_bytes - contents.offset)
        return damaged(r, r->info.file_bytes - sizeof foot, err, "the contents lie beyond the end of the file");
    uint8_t *frame = mem_alloc(contents.size, 1);
    bool good = file_read_at(r->file, frame, contents.size, contents.offset) == contents.size;
    contents.content = good ? ZSTD_getFrameContentSize(frame, contents.size) : 0;
    free(frame);
    if (!good || contents.content > (UINT64_C(1) << 32) || !content_is_sane(&contents))
        return damaged(r, contents.offset, err, "the contents cannot be read");
    uint8_t *text = mem_alloc(contents.content + 1, 1);
    good = read_frame(r, &contents, text, err);
    if (good) {
        struct cursor c = {text, text + contents.content};
        r->workload = get_text(&c);
        r->check = get_text(&c);
        uint64_t count = get_number(&c);
        if (count > contents.content) c.at = NULL, count = 0;
        r->kernels = mem_alloc(count, sizeof *r->kernels);
        r->directories = mem_alloc(count, sizeof *r->directories);
        for (uint64_t k = 0; k < count && c.at; k++) {
            get_kernel(&c, &r->kernels[k]);
            r->directories[k].offset = get_number(&c);
            r->directories[k].size = get_number(&c);
            r->directories[k].content = get_number(&c);
            r->info.warp_instructions += r->kernels[k].warp_instructions;
            r->info.thread_instructions += r->kernels[k].thread_instructions;
        }
        r->info.kernel_count = (uint32_t)count;
        good = c.at || damaged(r, contents.offset, err, "the contents are too short");
    }
    free(text);
    r->info.kernels = r->kernels;
    r->info.workload = r->workload;
    r->info.check = r->check;
    return good;
}

/* --- a kernel --- */

/* As for launches; the product of the grid must not overflow. */
static bool kernel_is_valid(const struct kernel *kernel) {
    const uint32_t *grid = kernel->grid, *block = kernel->block;
    double ctas = (double)grid[0] * grid[1] * grid[2], threads = (double)block[0] * block[1] * block[2];
    uint32_t cluster = kernel->cluster_ctas;
    return ctas >= 1 && ctas <= INT32_MAX && threads >= 1 && threads <= 1024 &&
           (cluster <= 1 || (cluster <= 16 && kernel_ctas(kernel) % cluster == 0));
}

/* Whether a machine can execute the record. */
static bool record_is_valid(const struct instr *record, const struct kernel *kernel) {
    static const uint16_t most[] = {
#define X(name, most, latency, rate, help) most,
        TENSOR_LIST(X)
#undef X
    };
    if (record->op >= OP_COUNT) return record->op < OP_RECORDS && record->space < OP_load; /* arithmetic */
    if (record->op == OP_tensor)
        return kernel->tensor && record->space < TENSOR_COUNT && record->count <= most[record->space];
    if (!instr_is_memory(record)) return true;
    bool copies = record->op == OP_load || (record->op == OP_store && (record->flags & INSTR_BULK));
    bool sends = record->op == OP_store && record->space == SPACE_SHARED && !record->count;
    if ((record->flags & INSTR_ASYNC) && (!copies || (record->space != SPACE_GLOBAL && !sends) || record->dst[0]))
        return false;
    return record->space <= SPACE_CONST && record->cache <= CACHE_VOLATILE && record->bytes_log2 < 8 &&
           (kernel->atomics || record->op != OP_atomic || record->space == SPACE_SHARED);
}

static void close_reader(struct recording *r, struct reader *reader) {
    if (reader->next) reader->next->previous = reader->previous;
    *(reader->previous ? &reader->previous->next : &r->readers) = reader->next;
    free(reader);
}

static void forget_kernel(struct recording *r) {
    while (r->readers) close_reader(r, r->readers);
    free(r->directory);
    free(r->records);
    free(r->first_chunk);
    free(r->chunks);
    r->directory = NULL, r->records = NULL, r->first_chunk = NULL, r->chunks = NULL;
}

/* The chunk list: for every warp the number of chunks and their positions. */
static void read_chunk_list(struct recording *r, struct cursor *c) {
    uint64_t room = 0, count = 0;
    r->first_chunk = mem_alloc(r->warps + 1, sizeof *r->first_chunk);
    for (uint64_t w = 0; w < r->warps && c->at; w++) {
        r->first_chunk[w] = count;
        for (uint64_t left = get_number(c); left > 0 && c->at; left--) {
            if (count == room)
                r->chunks = mem_grow(r->chunks, room = round_up_power_of_two(2 * room + 64), sizeof *r->chunks);
            struct frame *chunk = &r->chunks[count++];
            chunk->size = get_number(c);
            chunk->content = get_number(c);
            chunk->offset = get_number(c);
            if (chunk->content > CHUNK_MOST_BYTES) c->at = NULL;
        }
    }
    r->first_chunk[r->warps] = count;
}

static bool read_directory(struct recording *r, uint32_t k, struct error *err) {
    const struct frame *frame = &r->directories[k];
    const struct kernel *kernel = &r->kernels[k].kernel;
    if (!content_is_sane(frame)) return damaged(r, frame->offset, err, "a kernel's directory is too large");
    if (!kernel_is_valid(kernel)) return damaged(r, frame->offset, err, "a kernel's grid or block is invalid");
    r->warps = kernel_ctas(kernel) * kernel_warps(kernel);
    r->warps_per_cta = kernel_warps(kernel);
    if (r->warps > frame->content) return damaged(r, frame->offset, err, "a kernel's directory is too short");
    r->directory = mem_alloc(frame->content + 1, 1);
    if (!read_frame(r, frame, r->directory, err)) return false;
    struct cursor c = {r->directory, r->directory + frame->content};
    struct recording_kernel again = {0};
    get_kernel(&c, &again);
    uint64_t count = get_number(&c);
    const uint8_t *records = count < frame->content ? get_bytes(&c, count * sizeof *r->records) : (c.at = NULL);
    if (records) {
        r->record_count = (uint32_t)count;
        r->records = mem_alloc(count, sizeof *r->records);
        memcpy(r->records, records, count * sizeof *r->records);
    }
    read_chunk_list(r, &c);
    return c.at || damaged(r, frame->offset, err, "a kernel's directory is invalid");
}

/* --- as a source --- */

static struct recording *recording_of(const struct stream_source *source) { return (struct recording *)source; }

static bool next_kernel(struct stream_source *source, struct kernel *kernel) {
    struct recording *r = recording_of(source);
    forget_kernel(r);
    r->ended = r->next == r->info.kernel_count;
    if (r->failure.set || r->ended) return false;
    *kernel = r->kernels[r->next].kernel;
    return read_directory(r, r->next++, &r->failure);
}

static void open_warp(struct stream_source *source, struct warp_stream *warp) {
    struct recording *r = recording_of(source);
    struct reader *reader = mem_alloc(1, sizeof *reader);
    reader->next = r->readers;
    if (r->readers) r->readers->previous = reader;
    r->readers = reader;
    pack_start(&reader->unpacker.context);
    reader->chunk = r->first_chunk[warp->cta * r->warps_per_cta + warp->warp];
    memcpy(warp->state, &reader, sizeof(struct reader *));
    warp->count = 0;
}

/* Fetches the next chunk of the warp; false if there is none, which is damage: a stream ends with an exit. */
static bool fetch(struct recording *r, const struct warp_stream *warp, struct reader *reader) {
    uint64_t w = warp->cta * r->warps_per_cta + warp->warp;
    if (reader->chunk == r->first_chunk[w + 1])
        return damaged(r, r->directories[r->next - 1].offset, &r->failure, "a warp's stream has no exit");
    const struct frame *chunk = &r->chunks[reader->chunk++];
    if (!read_frame(r, chunk, reader->bytes, &r->failure)) return false;
    reader->unpacker.at = reader->bytes;
    reader->unpacker.end = reader->bytes + chunk->content;
    return true;
}

static void refill(struct stream_source *source, struct warp_stream *warp) {
    struct recording *r = recording_of(source);
    struct reader *reader;
    memcpy(&reader, warp->state, sizeof(struct reader *));
    warp->count = 0;
    if (!reader) return;
    bool good = !r->failure.set;
    while (good && warp->count == 0) {
        if (reader->unpacker.at == reader->unpacker.end && reader->unpacker.context.run == 0)
            good = fetch(r, warp, reader);
        bool valid = !good || pack_take(&reader->unpacker, r->records, r->record_count, warp);
        for (unsigned i = 0; i < warp->count && valid; i++)
            valid = record_is_valid(&warp->instr[i], &r->kernels[r->next - 1].kernel);
        if (!valid) good = damaged(r, r->chunks[reader->chunk - 1].offset, &r->failure, "a record is invalid");
    }
    if (!good) {
        warp->count = 1;
        warp->instr[0] = (struct instr){.op = OP_exit, .conflicts = 1};
    }
    if (warp->instr[warp->count - 1].op == OP_exit) {
        close_reader(r, reader);
        memset(warp->state, 0, sizeof(struct reader *));
    }
}

static void restart(struct stream_source *source) {
    struct recording *r = recording_of(source);
    forget_kernel(r);
    r->next = 0;
    r->ended = false;
    r->failure = (struct error){0};
}

static const char *failure(const struct stream_source *source) {
    const struct recording *r = recording_of(source);
    return r->failure.set ? r->failure.text : NULL;
}

static const char *check(struct stream_source *source, struct error *found) {
    (void)found;
    const struct recording *r = recording_of(source);
    return r->ended && !r->failure.set && strcmp(r->check, "passed") == 0 ? "passed" : "none";
}

static void destroy(struct stream_source *source) {
    struct recording *r = recording_of(source);
    forget_kernel(r);
    if (r->file >= 0) close(r->file);
    ZSTD_freeDCtx(r->zstd);
    free(r->compressed);
    free(r->workload);
    free(r->check);
    free(r->kernels);
    free(r->directories);
    free(r->path);
    free(r);
}

static const struct stream_ops recording_ops = {
    .name = "recording",
    .next_kernel = next_kernel,
    .open = open_warp,
    .refill = refill,
    .restart = restart,
    .failure = failure,
    .check = check,
    .destroy = destroy,
};

struct stream_source *recording_open(const char *path, struct error *err) {
    struct recording *r = mem_alloc(1, sizeof *r);
    struct stat status;
    r->source.ops = &recording_ops;
    r->path = mem_text(path);
    r->zstd = ZSTD_createDCtx();
    if (!r->zstd) mem_exhausted();
    r->file = open(path, O_RDONLY | O_CLOEXEC);
    bool good = r->file >= 0 && fstat(r->file, &status) == 0;
    if (!good)
        error_set(err, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(status.st_mode))
        good = error_set(err, "%s: not a regular file", path);
    if (good) {
        r->info.file_bytes = (uint64_t)status.st_size;
        good = read_contents(r, err);
    }
    if (good) return &r->source;
    destroy(&r->source);
    return NULL;
}

const struct recording_info *recording_info(const struct stream_source *source) {
    return source->ops == &recording_ops ? &recording_of(source)->info : NULL;
}
