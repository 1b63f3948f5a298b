/* Each warp's records are packed (pack.h) into its writer's buffer. A full buffer becomes a chunk in the warp's list,
 * which the reader consumes from the front. A chunk is written once and published under the lock, so reading it needs
 * no lock. A reader that has to wait wakes a paused writer. CTAs are produced and consumed in about the same order, so
 * the newest chunks are needed last and are the ones moved to the file. */
#include "stream/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/file.h"
#include "stream/pack.h"

enum { CHUNK_BYTES = 2048, PAGE_WARPS = 4096 };

struct chunk {
    struct chunk *_Atomic next;
    uint8_t *bytes;  /* NULL while they are only in the file */
    uint64_t offset; /* in the file */
    uint32_t count;
    bool in_file;
    uint8_t content[]; /* the bytes, unless they are in the file */
};
typedef struct chunk *_Atomic chunk_link;

struct trace_writer {
    struct trace *trace;
    struct trace_writer *previous, *next; /* list of open writers */
    chunk_link *link;                     /* where the next chunk is linked; not moved by the reader */
    struct packer packer;
    uint8_t bytes[CHUNK_BYTES + PACK_RECORD_BYTES];
};

struct trace {
    const struct instr *records;
    uint32_t record_count, warps_per_cta;
    uint64_t warps;
    struct trace_writer *writers; /* open, */
    struct trace_writer *spare;   /* and closed, for reuse */
    int file;                     /* -1: none yet */
    bool no_file;                 /* and none can be created */
    uint64_t file_bytes, memory_limit;
    trace_patience *patience;
    void *patience_user;
    bool cut;            /* seen by the reader: a stream ended without an exit */
    struct error unread; /* why the reader ended it */
    bool gave_up;

    /* Protects what is below and the changes of links between chunks. A link or page that is not NULL may be read
     * without it: each is set once, after what it points to. */
    pthread_mutex_t lock;
    pthread_cond_t published;
    chunk_link *_Atomic *pages; /* PAGE_WARPS warps each: the first unconsumed chunk of every warp */
    pthread_cond_t resume;      /* of the writer */
    uint64_t unread_limit;
    bool waiting, finished, paused, abandoned;
    struct trace_use use;
};

struct trace *trace_create(const struct kernel *kernel, const struct instr *records, uint32_t record_count,
                           uint64_t memory_bytes) {
    struct trace *trace = mem_alloc(1, sizeof *trace);
    trace->records = records;
    trace->record_count = record_count;
    trace->warps_per_cta = kernel_warps(kernel);
    trace->warps = kernel_ctas(kernel) * trace->warps_per_cta;
    trace->pages = mem_alloc(div_up(trace->warps, PAGE_WARPS), sizeof *trace->pages);
    trace->file = -1;
    trace->memory_limit = memory_bytes;
    pthread_mutex_init(&trace->lock, NULL);
    deadline_condition(&trace->published);
    pthread_cond_init(&trace->resume, NULL);
    trace->unread_limit = UINT64_MAX;
    return trace;
}

void trace_limit(struct trace *trace, uint64_t bytes) { trace->unread_limit = bytes; }

void trace_abandon(struct trace *trace) {
    pthread_mutex_lock(&trace->lock);
    trace->abandoned = true;
    pthread_cond_signal(&trace->resume);
    pthread_mutex_unlock(&trace->lock);
}

void trace_set_patience(struct trace *trace, trace_patience *patience, void *user) {
    trace->patience = patience;
    trace->patience_user = user;
}

struct trace_use trace_use(struct trace *trace) {
    pthread_mutex_lock(&trace->lock);
    struct trace_use use = trace->use;
    pthread_mutex_unlock(&trace->lock);
    return use;
}

bool trace_was_cut(const struct trace *trace) { return trace->cut; }

const char *trace_failure(const struct trace *trace) { return trace->unread.set ? trace->unread.text : NULL; }

static void free_chunk(struct chunk *chunk) {
    if (chunk->in_file) free(chunk->bytes);
    free(chunk);
}

static void free_chunks(struct chunk *chunk) {
    while (chunk) {
        struct chunk *next = chunk->next;
        free_chunk(chunk);
        chunk = next;
    }
}

static void free_writers(struct trace_writer *writer) {
    while (writer) {
        struct trace_writer *next = writer->next;
        free(writer);
        writer = next;
    }
}

static uint64_t page_warps(const struct trace *trace, uint64_t page) {
    return min_u64(PAGE_WARPS, trace->warps - page * PAGE_WARPS);
}

void trace_destroy(struct trace *trace) {
    if (!trace) return;
    free_writers(trace->writers);
    free_writers(trace->spare);
    for (uint64_t i = 0; i < div_up(trace->warps, PAGE_WARPS); i++) {
        chunk_link *page = trace->pages[i];
        for (uint64_t warp = 0; page && warp < page_warps(trace, i); warp++) free_chunks(page[warp]);
        free(page);
    }
    if (trace->file >= 0) close(trace->file);
    pthread_cond_destroy(&trace->published);
    pthread_cond_destroy(&trace->resume);
    pthread_mutex_destroy(&trace->lock);
    free(trace->pages);
    free(trace);
}

/* The head of a warp's chunk list. */
static chunk_link *first_of(struct trace *trace, uint64_t cta, uint32_t warp) {
    uint64_t index = cta * trace->warps_per_cta + warp, number = index / PAGE_WARPS;
    assert(index < trace->warps);
    chunk_link *page = atomic_load_explicit(&trace->pages[number], memory_order_acquire);
    if (UNLIKELY(!page)) {
        pthread_mutex_lock(&trace->lock);
        page = trace->pages[number];
        if (!page) trace->pages[number] = page = mem_alloc(page_warps(trace, number), sizeof *page);
        pthread_mutex_unlock(&trace->lock);
    }
    return &page[index % PAGE_WARPS];
}

/* --- the file --- */

/* An unnamed file, which disappears with the process however it ends. */
static int open_unnamed(void) {
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder) folder = "/tmp";
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0) return file;
    char *name = text_format("%s/sluice.XXXXXX", folder);
    file = mkostemp(name, O_CLOEXEC);
    if (file >= 0) unlink(name);
    free(name);
    return file;
}

/* Writes the bytes to the file; false if it is full and they have to stay in memory. */
static bool spill(struct trace *trace, struct chunk *chunk, const uint8_t *bytes) {
    if (trace->file < 0 && !trace->no_file) trace->file = open_unnamed();
    if (trace->file < 0 || !file_write_at(trace->file, bytes, chunk->count, trace->file_bytes)) {
        trace->no_file = true;
        return false;
    }
    chunk->offset = trace->file_bytes;
    trace->file_bytes += chunk->count;
    return true;
}

/* False if the file does not return what was written. */
static bool fetch(struct trace *trace, struct chunk *chunk) {
    uint8_t *bytes = mem_alloc(chunk->count, 1);
    if (file_read_at(trace->file, bytes, chunk->count, chunk->offset) < chunk->count) {
        error_set(&trace->unread, "cannot read the program's stream back from its temporary file: %s",
                  errno ? strerror(errno) : "the file is shorter than what was written to it");
        free(bytes);
        return false;
    }
    chunk->bytes = bytes;
    return true;
}

/* --- writing --- */

struct trace_writer *trace_open_writer(struct trace *trace, uint64_t cta, uint32_t warp) {
    struct trace_writer *writer = trace->spare;
    if (writer)
        trace->spare = writer->next;
    else
        writer = mem_alloc(1, sizeof *writer);
    writer->trace = trace;
    writer->link = first_of(trace, cta, warp);
    writer->previous = NULL;
    writer->next = trace->writers;
    if (writer->next) writer->next->previous = writer;
    trace->writers = writer;
    writer->packer = (struct packer){.bytes = writer->bytes, .run_at = PACK_NO_RUN};
    pack_start(&writer->packer.context);
    return writer;
}

/* A paused writer resumes when a quarter of the limit has been read, so that the threads do not alternate chunk by
 * chunk. */
static uint64_t resume_bytes(const struct trace *trace) { return trace->unread_limit - trace->unread_limit / 4; }

static void pause_writer(struct trace *trace) {
    if (LIKELY(trace->use.unread_bytes <= trace->unread_limit)) return;
    trace->paused = true;
    while (trace->use.unread_bytes > resume_bytes(trace) && !trace->waiting && !trace->abandoned)
        pthread_cond_wait(&trace->resume, &trace->lock);
    trace->paused = false;
}

static void publish(struct trace_writer *writer) {
    struct trace *trace = writer->trace;
    struct packer *packer = &writer->packer;
    if (packer->used == 0) return;
    struct chunk head = {.count = packer->used};
    bool over = trace_use(trace).memory_bytes + head.count > trace->memory_limit;
    head.in_file = over && spill(trace, &head, writer->bytes);
    struct chunk *chunk = mem_alloc(1, sizeof *chunk + (head.in_file ? 0 : head.count));
    chunk->count = head.count;
    chunk->offset = head.offset;
    chunk->in_file = head.in_file;
    if (!chunk->in_file) chunk->bytes = memcpy(chunk->content, writer->bytes, chunk->count);
    pthread_mutex_lock(&trace->lock);
    if (!chunk->in_file) trace->use.memory_bytes += chunk->count;
    trace->use.peak_memory_bytes = max_u64(trace->use.peak_memory_bytes, trace->use.memory_bytes);
    trace->use.total_bytes += chunk->count;
    trace->use.unread_bytes += sizeof *chunk + chunk->count;
    atomic_store_explicit(writer->link, chunk, memory_order_release);
    if (trace->waiting) pthread_cond_signal(&trace->published);
    pause_writer(trace);
    pthread_mutex_unlock(&trace->lock);
    writer->link = &chunk->next;
    packer->used = 0;
    packer->run_at = PACK_NO_RUN;
}

void trace_flush(struct trace_writer *writer) { publish(writer); }

static void close_writer(struct trace_writer *writer) {
    publish(writer);
    if (writer->next) writer->next->previous = writer->previous;
    *(writer->previous ? &writer->previous->next : &writer->trace->writers) = writer->next;
    writer->next = writer->trace->spare;
    writer->trace->spare = writer;
}

void trace_put(struct trace_writer *writer, const struct instr *record, const uint64_t *touches) {
    assert(record->id < writer->trace->record_count);
    pack_put(&writer->packer, &writer->trace->records[record->id], record, touches);
    if (record->op == OP_exit)
        close_writer(writer);
    else if (writer->packer.used >= CHUNK_BYTES)
        publish(writer);
}

void trace_put_access(struct trace_writer *writer, const struct instr *record, const uint64_t *touches) {
    assert(record->id < writer->trace->record_count);
    pack_put_access(&writer->packer, &writer->trace->records[record->id], record, touches);
    if (writer->packer.used >= CHUNK_BYTES) publish(writer);
}

void trace_put_static(struct trace_writer *writer, uint32_t id, uint32_t active, uint32_t count) {
    const struct instr *record = &writer->trace->records[id];
    assert(id < writer->trace->record_count && record->op != OP_exit);
    for (uint32_t put; count; count -= put, record += put) {
        put = pack_put_static(&writer->packer, record, active, count);
        if (writer->packer.used >= CHUNK_BYTES) publish(writer);
    }
}

void trace_finish(struct trace *trace, bool complete) {
    assert(!complete || !trace->writers);
    (void)complete;
    while (trace->writers) close_writer(trace->writers);
    pthread_mutex_lock(&trace->lock);
    trace->finished = true;
    pthread_cond_broadcast(&trace->published);
    pthread_mutex_unlock(&trace->lock);
}

/* --- reading --- */

/* A warp's position, in warp_stream.state. */
struct place {
    struct pack_context context; /* three words */
    uint64_t offset;             /* in the first chunk */
    bool ended;
};
_Static_assert(sizeof(struct place) <= sizeof((struct warp_stream *)NULL)->state, "a position fits in a warp's state");

void trace_open(struct trace *trace, struct warp_stream *warp) {
    (void)trace;
    struct place place = {0};
    pack_start(&place.context);
    warp->count = 0;
    memcpy(warp->state, &place, sizeof place);
}

/* Waits for a chunk to be linked here; NULL if none will follow. */
static struct chunk *await(struct trace *trace, chunk_link *link) {
    struct chunk *chunk = atomic_load_explicit(link, memory_order_acquire);
    if (LIKELY(chunk)) return chunk;
    pthread_mutex_lock(&trace->lock);
    struct timespec until = {0}; /* not extended when other warps' chunks wake the reader */
    while (!*link && !trace->finished && !trace->gave_up) {
        if (!until.tv_sec) until = deadline_in(DEADLINE_PATIENCE_MS);
        trace->waiting = true;
        if (trace->paused) pthread_cond_signal(&trace->resume);
        int woken = pthread_cond_timedwait(&trace->published, &trace->lock, &until);
        trace->waiting = false;
        if (woken != ETIMEDOUT) continue;
        pthread_mutex_unlock(&trace->lock);
        if (trace->patience && !trace->patience(trace->patience_user)) trace->gave_up = true;
        until.tv_sec = 0;
        pthread_mutex_lock(&trace->lock);
    }
    chunk = *link;
    pthread_mutex_unlock(&trace->lock);
    return chunk;
}

/* Releases a consumed chunk whose successor is known or will not come. */
static void consume(struct trace *trace, chunk_link *first, struct chunk *next) {
    struct chunk *chunk = *first;
    pthread_mutex_lock(&trace->lock);
    *first = next;
    if (!chunk->in_file) trace->use.memory_bytes -= chunk->count;
    trace->use.unread_bytes -= sizeof *chunk + chunk->count;
    if (UNLIKELY(trace->paused) && trace->use.unread_bytes <= resume_bytes(trace)) pthread_cond_signal(&trace->resume);
    pthread_mutex_unlock(&trace->lock);
    free_chunk(chunk);
}

/* As many records as the chunk provides and the warp's buffer holds. */
static void take(struct trace *trace, struct chunk *chunk, struct place *place, struct warp_stream *warp) {
    struct unpacker from = {place->context, chunk->bytes + place->offset, chunk->bytes + chunk->count};
    bool good = pack_take(&from, trace->records, trace->record_count, warp);
    assert(good);
    (void)good;
    place->ended = warp->count > 0 && warp->instr[warp->count - 1].op == OP_exit;
    place->context = from.context;
    place->offset = (uint64_t)(from.at - chunk->bytes);
    const struct instr *last = &warp->instr[warp->count - 1];
    warp->pauses = place->offset == chunk->count && place->context.run == 0 && last->op == OP_barrier;
}

/* A buffer never spans two chunks, so that its content does not depend on what has been published. */
void trace_refill(struct trace *trace, struct warp_stream *warp) {
    chunk_link *first = first_of(trace, warp->cta, warp->warp);
    struct place place;
    memcpy(&place, warp->state, sizeof place);
    warp->count = 0;
    warp->pauses = false;
    if (place.ended) return;
    struct chunk *chunk = await(trace, first);
    if (chunk && place.offset == chunk->count && place.context.run == 0) {
        struct chunk *next = await(trace, &chunk->next);
        if (next || !trace->gave_up) consume(trace, first, next);
        place.offset = 0;
        chunk = next;
    }
    if (chunk && (chunk->bytes || fetch(trace, chunk))) {
        take(trace, chunk, &place, warp);
        if (place.ended) consume(trace, first, NULL);
    } else { /* the warp has no exit */
        place.ended = true;
        trace->cut |= !trace->gave_up;
        uint32_t id = place.context.id < trace->record_count ? place.context.id : 0; /* none if it has no records */
        warp->instr[warp->count++] =
            (struct instr){.id = id, .active = place.context.active, .op = OP_exit, .conflicts = 1};
    }
    memcpy(warp->state, &place, sizeof place);
}
