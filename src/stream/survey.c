#include "stream/survey.h"

#include <stdlib.h>

#include "stream/reader.h"

struct line {
    uint64_t number; /* plus 1; 0: empty */
    uint32_t kernel; /* the last that touched it */
    uint16_t sm;     /* the first that touched it */
    bool several, read, read_only;
    struct use {
        uint16_t sm; /* the first that touched it */
        bool several, read, written;
    } now; /* state within its last kernel */
};

struct lines {
    struct line *table; /* open addressing, at most half full */
    uint64_t mask, used;
};

static struct line *find(struct lines *lines, uint64_t number) {
    for (uint64_t at = (number * UINT64_C(0x9E3779B97F4A7C15)) >> 20;; at++) {
        struct line *line = &lines->table[at & lines->mask];
        if (line->number == 0 || line->number == number + 1) return line;
    }
}

static void grow(struct lines *lines) {
    struct lines old = *lines;
    lines->mask = 2 * old.mask + 1;
    lines->table = mem_alloc(lines->mask + 1, sizeof *lines->table);
    for (uint64_t i = 0; i <= old.mask; i++)
        if (old.table[i].number) *find(lines, old.table[i].number - 1) = old.table[i];
    free(old.table);
}

/* Merges the state of the line's last kernel. */
static void settle(struct line *line) {
    line->several |= line->now.several;
    line->read |= line->now.read;
    line->read_only |= line->now.several && line->now.read && !line->now.written;
}

static void touch(struct lines *lines, uint64_t number, uint16_t sm, uint32_t kernel, uint8_t op) {
    struct line *line = find(lines, number);
    if (line->number == 0) {
        *line = (struct line){.number = number + 1, .sm = sm, .kernel = kernel, .now.sm = sm};
        if (++lines->used * 2 > lines->mask) grow(lines), line = find(lines, number);
    } else if (line->kernel != kernel) {
        settle(line);
        line->kernel = kernel;
        line->now = (struct use){.sm = sm};
    }
    line->several |= line->sm != sm;
    line->now.several |= line->now.sm != sm;
    line->now.read |= op != OP_store;
    line->now.written |= op != OP_load;
}

static void take_record(struct lines *lines, const struct instr *record, const uint64_t *touches, uint16_t sm,
                        uint32_t kernel) {
    enum { LINES = TOUCH_BLOCK_BYTES / SURVEY_LINE_BYTES, SECTORS = 8 / LINES };
    if (!instr_is_memory(record) || record->space != SPACE_GLOBAL) return;
    for (unsigned t = 0; t < record->count; t++)
        for (unsigned half = 0; half < LINES; half++)
            if ((touch_sectors(touches[t]) >> (half * SECTORS)) & ((1 << SECTORS) - 1))
                touch(lines, touch_address(touches[t]) / SURVEY_LINE_BYTES + half, sm, kernel, record->op);
}

struct survey_reader {
    struct lines lines;
    struct survey *survey;
    unsigned sms;
};

static void begin_kernel(void *user, const struct kernel *kernel) {
    struct survey *survey = ((struct survey_reader *)user)->survey;
    survey->kernels++;
    survey->ctas += kernel_ctas(kernel);
}

static void take_records(void *user, const struct warp_stream *warp) {
    struct survey_reader *reader = user;
    struct survey *survey = reader->survey;
    uint16_t sm = (uint16_t)(warp->cta % reader->sms);
    for (unsigned i = 0; i < warp->count; i++) {
        const struct instr *record = &warp->instr[i];
        take_record(&reader->lines, record, warp->touch + record->touches, sm, (uint32_t)survey->kernels);
        survey->thread_instructions += (unsigned)__builtin_popcount(record->active);
    }
    survey->warp_instructions += warp->count;
}

bool survey_take(struct stream_source *source, unsigned sms, struct survey *survey, struct error *err) {
    struct survey_reader reader = {.lines.mask = 65535, .survey = survey, .sms = sms};
    struct lines *lines = &reader.lines;
    lines->table = mem_alloc(lines->mask + 1, sizeof *lines->table);
    *survey = (struct survey){0};
    bool good = reader_run(&(struct reader){.begin = begin_kernel, .take = take_records, .user = &reader}, source, err);
    for (uint64_t i = 0; i <= lines->mask; i++) {
        struct line *line = &lines->table[i];
        settle(line);
        survey->lines += line->number != 0;
        survey->several_lines += line->several;
        survey->shared_lines += line->several && line->read;
        survey->read_only_lines += line->several && line->read_only;
    }
    free(lines->table);
    return good;
}
