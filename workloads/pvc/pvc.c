/* Page view count: two rounds of hash, sort and group. */
#include <stdio.h>

#include "work.h"

WORK_PTX(pvc, "pvc/pvc.ptx");

enum { THREADS = 256, LINE_MOST = 96 };

struct log {
    uint64_t text, start, lines, key, value, size; /* on the device */
    uint8_t *htext;
    int32_t *hstart, *hlines, *hvalue, *hsize;
    int32_t count, padded;
};

/* "/site12/page345/...\tvisitor\n": addresses of 20 to 70 characters, some much more popular than others. */
static void write_log(struct work *work, struct log *log, uint32_t pages, uint32_t visitors) {
    int32_t end = 0;
    for (int32_t i = 0; i < log->count; i++) {
        uint32_t page = work_below(work, 1 + work_below(work, pages)), visitor = work_below(work, visitors);
        char line[LINE_MOST];
        int bytes = snprintf(line, sizeof line, "http://site%u.example/%.*s/page%u.html\t10.%u.%u.%u\n", page % 97,
                             (int)(page % 37), "archive/of/many/words/and/older/pages", page, visitor >> 16,
                             visitor >> 8 & 255, visitor & 255);
        log->hstart[i] = end;
        memcpy(log->htext + end, line, (size_t)bytes);
        end += bytes;
    }
}

/* Groups the lines by the text before `stop`. */
static void group(struct work *work, struct log *log, char stop) {
    while (log->padded / 2 >= log->count) log->padded /= 2;
    struct dim all = DIM(blocks_of(log->padded, THREADS));
    WORK_LAUNCH(work, "pvc_hash", all, DIM(THREADS), HOST_U64(log->text), HOST_U64(log->start), HOST_U64(log->lines),
                HOST_U64(log->key), HOST_U64(log->value), HOST_S32(log->count), HOST_S32(log->padded),
                ((struct host_argument){.size_bytes = 1, .u8 = (uint8_t)stop}));
    for (int32_t k = 2; k <= log->padded; k *= 2)
        for (int32_t j = k / 2; j > 0; j /= 2)
            WORK_LAUNCH(work, "pvc_sort_step", all, DIM(THREADS), HOST_U64(log->key), HOST_U64(log->value), HOST_S32(j),
                        HOST_S32(k));
    WORK_LAUNCH(work, "pvc_group", DIM(blocks_of(log->count, THREADS)), DIM(THREADS), HOST_U64(log->key),
                HOST_U64(log->size), HOST_S32(log->count));
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

/* The first line and the size of every group of `lines` by their text up to `stop`, in sizes[line]; 0 for others. */
static void count_by_text(const struct log *log, const int32_t *lines, int32_t count, char stop, int32_t *sizes) {
    struct view *views = mem_alloc((size_t)count, sizeof *views);
    for (int32_t i = 0; i < count; i++) {
        const uint8_t *text = log->htext + log->hstart[lines[i]];
        views[i] = (struct view){text, (size_t)((const uint8_t *)strchr((const char *)text, stop) - text), lines[i]};
    }
    qsort(views, (size_t)count, sizeof *views, by_text);
    memset(sizes, 0, (size_t)log->count * sizeof *sizes);
    for (int32_t i = 0, head = 0; i < count; i++) {
        if (views[i].bytes != views[head].bytes || memcmp(views[i].text, views[head].text, views[i].bytes) != 0)
            head = i;
        sizes[views[head].line]++;
    }
    free(views);
}

/* Sorting by hashes keeps the order of equal lines: the head of a group is its first line, as by text. */
static void verify_groups(struct work *work, const struct log *log, char stop, int32_t total) {
    int32_t *expected = mem_alloc((size_t)total, sizeof *expected), *found = mem_alloc((size_t)total, sizeof *found);
    struct log whole = *log;
    whole.count = total;
    count_by_text(&whole, log->hlines, log->count, stop, expected);
    for (int32_t i = 0; i < log->count; i++) {
        int32_t line = log->hvalue[i];
        work_expect(work, line >= 0 && line < total, "a line is none of the log's");
        if (!work->wrong) found[line] = log->hsize[i];
    }
    work_expect_i32(work, "views", found, expected, (uint64_t)total);
    free(expected);
    free(found);
}

/* The heads of groups are the lines of the next round. */
static int32_t keep_heads(struct log *log) {
    int32_t heads = 0;
    for (int32_t i = 0; i < log->count; i++)
        if (log->hsize[i]) log->hlines[heads++] = log->hvalue[i];
    return heads;
}

static void run(struct work *work) {
    int32_t lines = (int32_t)work->size[0];
    struct log log = {.count = lines, .padded = lines};
    log.htext = WORK_NEW(work, uint8_t, lines * LINE_MOST + 1, &log.text);
    log.hstart = WORK_NEW(work, int32_t, lines, &log.start);
    log.hlines = WORK_NEW(work, int32_t, lines, &log.lines);
    log.key = work_alloc(work, (uint64_t)lines * sizeof(uint64_t));
    log.hvalue = WORK_NEW(work, int32_t, lines, &log.value);
    log.hsize = WORK_NEW(work, int32_t, lines, &log.size);
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
    {"small", {16384, 1024, 512}},
    {"icc", {65536, 4096, 1024}},
};

WORKLOAD(pvc, "pvc", .help = "page view count (MapReduce)", .parameters = "lines pages visitors");
