#include "sass/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sass/file.h"
#include "sass/opcode.h"
#include "sass/record.h"
#include "stream/trace.h"

/* Records are numbered by PC, since the machine's instruction cache goes by their numbers. PCs may be offsets in one
 * function or addresses in several: every region of REGION_RECORDS instructions gets the next free numbers. */
enum { REGION_RECORDS = 4096, REGIONS = 256, RECORDS = REGIONS * REGION_RECORDS };

struct unknown {
    char *opcode;
    uint64_t count;
};

struct sass_source {
    struct stream_source source;
    struct sass_list list;
    struct sass_uses uses;
    bool scanned;
    struct sass_pages *written; /* by each kernel, if it is among `kept`; else it is found again */
    bool *kept;
    struct sass_pages written_again;
    uint32_t next; /* kernel */
    struct error failure;
    bool interrupted;
    uint64_t bytes; /* of the files before this one */
    struct unknown *unknown;
    unsigned unknown_count;

    /* of the kernel being read; NULL: none */
    struct sass_file *file;
    const struct sass_pages *read_write;
    struct trace *trace;
    struct instr *records; /* static records: the first of each number; `conflicts` is 0 where there is none */
    uint64_t region[REGIONS];
    uint32_t region_count, region_last;
    struct sass_opcodes opcodes;
    struct sass_warp warp;
    struct trace_writer *writer;
    uint32_t lines; /* until the consumer's patience is asked again */
};

static struct sass_source *sass_of(const struct stream_source *source) { return (struct sass_source *)source; }

/* --- unknown opcodes --- */

static void note_unknown(struct sass_source *s, const struct sass_opcode *opcode) {
    unsigned i = 0;
    while (i < s->unknown_count && strcmp(s->unknown[i].opcode, opcode->text) != 0) i++;
    if (i == s->unknown_count) {
        s->unknown = mem_grow(s->unknown, ++s->unknown_count, sizeof *s->unknown);
        s->unknown[i] = (struct unknown){.opcode = mem_text(opcode->text)};
    }
    s->unknown[i].count += opcode->count;
}

static void forget_unknown(struct sass_source *s) {
    for (unsigned i = 0; i < s->unknown_count; i++) free(s->unknown[i].opcode);
    free(s->unknown);
    s->unknown = NULL;
    s->unknown_count = 0;
}

static void drop_kernel(struct sass_source *s) {
    if (!s->file) return;
    for (unsigned i = 0; i < s->opcodes.count; i++)
        if (s->opcodes.row[i].role == SASS_UNKNOWN) note_unknown(s, &s->opcodes.row[i]);
    s->bytes += sass_file_bytes(s->file);
    sass_opcodes_release(&s->opcodes);
    trace_destroy(s->trace);
    free(s->records);
    sass_file_close(s->file);
    s->file = NULL;
    s->trace = NULL;
    s->records = NULL;
}

static bool goes_on(void *source) {
    struct sass_source *s = source;
    if (s->source.patience && !s->source.patience(s->source.patience_user)) s->interrupted = true;
    return !s->interrupted;
}

/* --- written pages --- */

/* Scans all kernels and keeps the pages that they write, as far as memory is left for that. */
static bool scan(struct sass_source *s) {
    enum { KEPT_BYTES = 24 << 20 };
    size_t bytes = 0;
    for (uint32_t i = 0; i < s->list.count && !s->scanned && !s->interrupted; i++) {
        sass_pages_release(&s->written[i]); /* of a scan that was interrupted */
        s->kept[i] = false;
        if (!sass_scan(s->list.kernels[i], &s->uses, &s->written[i], goes_on, s, &s->failure)) return false;
        s->kept[i] = bytes + sass_pages_bytes(&s->written[i]) <= KEPT_BYTES;
        bytes += s->kept[i] ? sass_pages_bytes(&s->written[i]) : 0;
        if (!s->kept[i]) sass_pages_release(&s->written[i]);
    }
    s->scanned = !s->interrupted;
    return s->scanned;
}

/* The pages that kernel `i` writes; NULL after an error, or if the consumer gives up. */
static const struct sass_pages *written_by(struct sass_source *s, uint32_t i) {
    struct sass_uses known = {0};
    if (s->kept[i]) return &s->written[i];
    sass_pages_release(&s->written_again);
    bool good = sass_scan(s->list.kernels[i], &known, &s->written_again, goes_on, s, &s->failure);
    return good && !s->interrupted ? &s->written_again : NULL;
}

/* --- a kernel --- */

static bool open_kernel(struct sass_source *s) {
    s->read_write = written_by(s, s->next);
    if (!s->read_write) return false;
    s->file = sass_file_open(s->list.kernels[s->next], &s->failure);
    if (!s->file) return false;
    const struct sass_header *header = sass_file_header(s->file);
    s->records = mem_alloc(RECORDS, sizeof *s->records);
    s->region_count = s->region_last = 0;
    s->trace = trace_create(&header->kernel, s->records, RECORDS, SASS_PACKED_BYTES);
    sass_opcodes_start(&s->opcodes, header->binary_version);
    return true;
}

/* The number of the instruction; RECORDS if there are too many. */
static uint32_t number_of(struct sass_source *s, uint64_t pc) {
    enum { VOLTA = 70 };
    uint64_t position = pc / (sass_file_header(s->file)->binary_version >= VOLTA ? 16 : 8);
    uint64_t region = position / REGION_RECORDS;
    if (s->region_last >= s->region_count || s->region[s->region_last] != region) {
        uint32_t i = 0;
        while (i < s->region_count && s->region[i] != region) i++;
        if (i == REGIONS) return RECORDS;
        if (i == s->region_count) s->region[s->region_count++] = region;
        s->region_last = i;
    }
    return s->region_last * REGION_RECORDS + (uint32_t)(position % REGION_RECORDS);
}

static void put(struct sass_source *s, const struct instr *record, const uint64_t *touches) {
    struct instr *base = &s->records[record->id];
    if (UNLIKELY(!base->conflicts)) *base = *record;
    trace_put(s->writer, record, touches);
}

/* The end of a warp whose last line, number `id`, is not EXIT. */
static void put_exit(struct sass_source *s, uint32_t id) {
    put(s, &(struct instr){.id = id, .active = s->warp.live, .op = OP_exit, .conflicts = 1}, NULL);
}

/* Whether it is a load from pages that the kernel does not write. Others than the kernel may write what is always fetched
 * again. */
static bool is_read_only(const struct sass_source *s, const struct sass_record *record) {
    const struct instr *instr = &record->instr;
    uint64_t last = UINT64_MAX;
    if (instr->op != OP_load || instr->space != SPACE_GLOBAL || instr->cache == CACHE_VOLATILE) return false;
    for (unsigned i = 0; i < record->note.count; i++) {
        uint64_t page = touch_address(record->note.touch[i]) / SASS_PAGE_BYTES;
        if (page != last && sass_pages_has(s->read_write, touch_address(record->note.touch[i]))) return false;
        last = page;
    }
    return true;
}

static bool put_line(struct sass_source *s, const struct sass_file_state *state) {
    struct sass_opcode *opcode = sass_opcodes_find(&s->opcodes, state->line.opcode);
    uint32_t id = opcode ? number_of(s, state->line.pc) : RECORDS;
    if (UNLIKELY(id == RECORDS))
        return sass_file_reject(s->file, &s->failure,
                                opcode ? "the kernel has more than a million instructions"
                                       : "the kernel has more than 16384 different opcodes");
    opcode->count++;
    bool last = state->lines == 0;
    struct sass_record record;
    struct instr part;
    sass_record_make(sass_file_header(s->file), &s->warp, &state->line, opcode, last, &record);
    record.instr.id = id;
    if (is_read_only(s, &record)) record.instr.flags |= INSTR_READ_ONLY;
    if (record.instr.op == OP_tensor)
        while (sass_record_next_part(&record, opcode, &part)) put(s, &part, NULL);
    put(s, &record.instr, record.note.touch);
    if (last && record.instr.op != OP_exit) put_exit(s, id);
    return true;
}

static void begin_warp(struct sass_source *s, const struct sass_file_state *state) {
    s->writer = trace_open_writer(s->trace, state->cta, state->warp);
    sass_warp_start(&s->warp, &sass_file_header(s->file)->kernel, state->cta, state->warp);
    if (!state->lines) put_exit(s, 0);
}

/* Reads the next CTA of the file. False at its end, after an error, and if the consumer gives up. */
static bool read_cta(struct sass_source *s) {
    enum { PATIENCE_LINES = 1 << 15 };
    for (;;) {
        enum sass_event event = sass_file_next(s->file, &s->failure);
        const struct sass_file_state *state = sass_file_state(s->file);
        if (event == SASS_LINE && !put_line(s, state)) return false;
        if (event == SASS_WARP) begin_warp(s, state);
        if (event == SASS_CTA_END) return true;
        if (event == SASS_END || event == SASS_FAILED) return false;
        if (++s->lines % PATIENCE_LINES == 0 && !goes_on(s)) return false;
    }
}

/* Reads the file until it has given the CTA, or ended. After its last CTA nothing may follow. */
static void read_until(struct sass_source *s, uint64_t cta) {
    while (!s->failure.set && !s->interrupted && !sass_file_has(s->file, cta)) {
        bool good = read_cta(s);
        if (good && sass_file_complete(s->file)) read_cta(s);
        bool complete = good && !s->failure.set;
        if (!complete || sass_file_complete(s->file)) trace_finish(s->trace, complete);
    }
}

/* --- as a source --- */

static bool next_kernel(struct stream_source *source, struct kernel *kernel) {
    struct sass_source *s = sass_of(source);
    drop_kernel(s);
    if (s->failure.set || s->interrupted || s->next == s->list.count || !scan(s) || !open_kernel(s)) return false;
    s->next++;
    *kernel = sass_file_header(s->file)->kernel;
    kernel->atomics = s->uses.atomics;
    kernel->tensor = s->uses.tensor;
    return true;
}

static void open_warp(struct stream_source *source, struct warp_stream *warp) {
    trace_open(sass_of(source)->trace, warp);
}

static void refill(struct stream_source *source, struct warp_stream *warp) {
    struct sass_source *s = sass_of(source);
    read_until(s, warp->cta);
    trace_refill(s->trace, warp);
}

static void restart(struct stream_source *source) {
    struct sass_source *s = sass_of(source);
    drop_kernel(s);
    forget_unknown(s);
    s->next = 0;
    s->bytes = 0;
    s->interrupted = false;
    s->failure = (struct error){0};
}

static const char *failure(const struct stream_source *source) {
    const struct sass_source *s = sass_of(source);
    if (s->failure.set) return s->failure.text;
    return s->trace ? trace_failure(s->trace) : NULL;
}

static const char *check(struct stream_source *source, struct error *found) {
    (void)source, (void)found;
    return "none";
}

static void destroy(struct stream_source *source) {
    struct sass_source *s = sass_of(source);
    drop_kernel(s);
    forget_unknown(s);
    for (uint32_t i = 0; i < s->list.count; i++) sass_pages_release(&s->written[i]);
    sass_pages_release(&s->written_again);
    free(s->written);
    free(s->kept);
    sass_list_close(&s->list);
    free(s);
}

static const struct stream_ops sass_ops = {
    .name = "sass",
    .next_kernel = next_kernel,
    .open = open_warp,
    .refill = refill,
    .restart = restart,
    .failure = failure,
    .check = check,
    .destroy = destroy,
};

struct stream_source *sass_open(const char *path, struct error *err) {
    struct sass_source *s = mem_alloc(1, sizeof *s);
    s->source.ops = &sass_ops;
    if (!sass_list_open(&s->list, path, err)) {
        free(s);
        return NULL;
    }
    s->written = mem_alloc(s->list.count, sizeof *s->written);
    s->kept = mem_alloc(s->list.count, sizeof *s->kept);
    return &s->source;
}

const struct sass_list *sass_source_list(const struct stream_source *source) {
    return source->ops == &sass_ops ? &sass_of(source)->list : NULL;
}

const struct sass_header *sass_source_header(const struct stream_source *source) {
    return sass_file_header(sass_of(source)->file);
}

uint64_t sass_source_bytes(const struct stream_source *source) {
    const struct sass_source *s = sass_of(source);
    return s->bytes + (s->file ? sass_file_bytes(s->file) : 0);
}

bool sass_source_unknown(const struct stream_source *source, unsigned i, const char **opcode, uint64_t *count) {
    const struct sass_source *s = sass_of(source);
    if (i >= s->unknown_count) return false;
    *opcode = s->unknown[i].opcode;
    *count = s->unknown[i].count;
    return true;
}

bool sass_source_warning(const struct stream_source *source, struct error *warning) {
    enum { NAMED = 8 };
    const char *opcode;
    uint64_t count;
    if (source->ops != &sass_ops || !sass_of(source)->unknown_count) return false;
    char names[400] = "";
    size_t used = 0;
    unsigned i = 0;
    for (; i < NAMED && sass_source_unknown(source, i, &opcode, &count); i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.24s (%llu)", i ? ", " : "", opcode,
                                 (unsigned long long)count);
    error_set(warning, "%s: " SASS_WARNING "`other`, with addresses as loads or stores: %s%s",
              sass_of(source)->list.path, names, i < sass_of(source)->unknown_count ? ", ..." : "");
    return true;
}
