/* Page view count: two rounds of map, sort and group. */
#include <stdio.h>

#include "work.h"

WORK_PTX(pvc, "pvc/pvc.ptx");

enum { THREADS = 256, LINE_MOST = 64, KEY_BYTES = 16 };

/* A record of the sort: its key, and the number of its line as value. */
struct record {
    int32_t key, key_bytes, line, line_bytes;
};

struct log {
    uint64_t text, start, lines, keys, records, heads; /* on the device */
    uint8_t *htext;
    int32_t *hstart, *hlines, *hheads;
    struct record *hrecords;
    int32_t count, padded;
};

/* Page, address and cookie of a visitor: 35 to 50 characters, all pages and visitors equally frequent. */
static void write_log(struct work *work, struct log *log, uint32_t pages, uint32_t visitors) {
    int32_t end = 0;
    for (int32_t i = 0; i < log->count; i++) {
        uint32_t page = work_below(work, pages), visitor = work_below(work, visitors);
        char line[LINE_MOST];
        int bytes = snprintf(line, sizeof line, "http://www.example.com/%u.html\t%u.%u.%u.%u\t%u\n", page,
                             visitor >> 24, visitor >> 16 & 255, visitor >> 8 & 255, visitor & 255, visitor % 1000);
        log->hstart[i] = end;
        memcpy(log->htext + end, line, (size_t)bytes);
        end += bytes;
    }
}

/* Groups the lines by the text before `stop`. */
static void group(struct work *work, struct log *log, char stop) {
    while (log->padded / 2 >= log->count) log->padded /= 2;
    struct dim all = DIM(blocks_of(log->padded, THREADS));
    struct host_argument padded = HOST_S32(log->padded), end = {.size_bytes = 1, .u8 = (uint8_t)stop};
    WORK_LAUNCH(work, "pvc_map", all, DIM(THREADS), HOST_U64(log->text), HOST_U64(log->start), HOST_U64(log->lines),
                HOST_U64(log->keys), HOST_U64(log->records), HOST_S32(log->count), padded, end);
    for (int32_t k = 2; k <= log->padded; k *= 2)
        for (int32_t j = k / 2; j > 0; j /= 2)
            WORK_LAUNCH(work, "pvc_sort_step", all, DIM(THREADS), HOST_U64(log->keys), HOST_U64(log->records),
                        HOST_S32(j), HOST_S32(k), end);
    WORK_LAUNCH(work, "pvc_group", all, DIM(THREADS), HOST_U64(log->keys), HOST_U64(log->records), HOST_U64(log->heads),
                padded, end);
}

/* The lines of a set of groups as text up to `stop`, for sorting. */
struct view {
    const uint8_t *text;
    size_t bytes;
    int32_t line;
};

static int by_text(const void *a, const void *b) {
    const struct view *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->bytes < y->bytes ? x->bytes : y->bytes);
    if (order == 0) order = (x->bytes > y->bytes) - (x->bytes < y->bytes);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* The first line of every line's group of `lines` by their text up to `stop`, in first[line]. */
static void group_by_text(const struct log *log, const int32_t *lines, int32_t count, char stop, int32_t *first) {
    struct view *views = mem_alloc((size_t)count, sizeof *views);
    for (int32_t i = 0; i < count; i++) {
        const uint8_t *text = log->htext + log->hstart[lines[i]];
        views[i] = (struct view){text, (size_t)((const uint8_t *)strchr((const char *)text, stop) - text), lines[i]};
    }
    qsort(views, (size_t)count, sizeof *views, by_text);
    for (int32_t i = 0, head = 0; i < count; i++) {
        if (views[i].bytes != views[head].bytes || memcmp(views[i].text, views[head].text, views[i].bytes) != 0)
            head = i;
        first[views[i].line] = views[head].line;
    }
    free(views);
}

/* Every line is in one record, and the records from a head to the next are the lines of one group, all of them. */
static void verify_groups(struct work *work, const struct log *log, char stop, int32_t total) {
    int32_t *first = mem_alloc((size_t)total, sizeof *first), *size = mem_alloc((size_t)total, sizeof *size),
            *found = mem_alloc((size_t)total, sizeof *found), group = -1;
    group_by_text(log, log->hlines, log->count, stop, first);
    for (int32_t i = 0; i < log->count; i++) size[first[log->hlines[i]]]++;
    for (int32_t i = log->padded - log->count; i < log->padded && !work->wrong; i++) {
        int32_t line = log->hrecords[i].line;
        work_expect(work, line >= 0 && line < total, "a line is none of the log's");
        if (work->wrong) break;
        if (log->hheads[i]) group = first[line];
        work_expect(work, group == first[line], "a line is in the group of another text");
        found[first[line]]++;
        work_expect(work, !log->hheads[i] || found[first[line]] == 1, "a text has two groups");
    }
    work_expect_i32(work, "views", found, size, (uint64_t)total);
    free(first);
    free(size);
    free(found);
}

/* The heads of groups are the lines of the next round. */
static int32_t keep_heads(struct log *log) {
    int32_t heads = 0;
    for (int32_t i = log->padded - log->count; i < log->padded; i++)
        if (log->hheads[i]) log->hlines[heads++] = log->hrecords[i].line;
    return heads;
}

static void run(struct work *work) {
    int32_t lines = (int32_t)work->size[0];
    struct log log = {.count = lines, .padded = lines};
    log.htext = WORK_NEW(work, uint8_t, lines * LINE_MOST + 1, &log.text);
    log.hstart = WORK_NEW(work, int32_t, lines, &log.start);
    log.hlines = WORK_NEW(work, int32_t, lines, &log.lines);
    log.keys = work_alloc(work, (uint64_t)lines * KEY_BYTES);
    log.hrecords = WORK_NEW(work, struct record, lines, &log.records);
    log.hheads = WORK_NEW(work, int32_t, lines, &log.heads);
    for (int32_t i = 0; i < lines; i++) log.hlines[i] = i;
    write_log(work, &log, (uint32_t)work->size[1], (uint32_t)work->size[2]);
    group(work, &log, '\n');
    if (work->verify) verify_groups(work, &log, '\n', lines);
    log.count = keep_heads(&log);
    if (host_failed(work->host) || work->wrong) return;
    group(work, &log, '\t');
    if (work->verify) verify_groups(work, &log, '\t', lines);
}

/* The number of lines is a power of two, as the sort requires. */
static const struct work_size sizes[] = {
    {"tiny", {512, 32, 32}},
    {"small", {16384, 1024, 16777216}},
    {"icc", {65536, 1024, 16777216}},
};

WORKLOAD(pvc, "pvc", .help = "page view count (MapReduce)", .parameters = "lines pages visitors");
