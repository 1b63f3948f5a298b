#include "stream/survey.h"

#include <stdlib.h>

struct line {
    uint64_t number;              /* plus 1; 0: an empty place */
    uint32_t read_in, written_in; /* the last kernel that did, from 1 on */
    uint16_t sm;
    bool shared, read, mixed; /* mixed: some kernel reads and writes it */
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

static void touch(struct lines *lines, uint64_t number, uint16_t sm, uint32_t kernel, bool reads, bool writes) {
    struct line *line = find(lines, number);
    if (line->number == 0) {
        *line = (struct line){.number = number + 1, .sm = sm};
        if (++lines->used * 2 > lines->mask) grow(lines), line = find(lines, number);
    }
    line->shared |= line->sm != sm;
    if (reads) line->read = true, line->read_in = kernel;
    if (writes) line->written_in = kernel;
    line->mixed |= line->read_in == line->written_in && line->read_in != 0;
}

static void take_record(struct lines *lines, const struct instr *record, const uint64_t *touches, uint16_t sm,
                        uint32_t kernel) {
    enum { LINES = TOUCH_BLOCK_BYTES / SURVEY_LINE_BYTES, SECTORS = 8 / LINES };
    if (!instr_is_memory(record) || record->space != SPACE_GLOBAL) return;
    for (unsigned t = 0; t < record->count; t++)
        for (unsigned half = 0; half < LINES; half++)
            if ((touch_sectors(touches[t]) >> (half * SECTORS)) & ((1 << SECTORS) - 1))
                touch(lines, touch_address(touches[t]) / SURVEY_LINE_BYTES + half, sm, kernel, record->op != OP_store,
                      record->op != OP_load);
}

static void take_warp(struct stream_source *source, struct warp_stream *warp, struct lines *lines, uint16_t sm,
                      struct survey *survey) {
    source->ops->open(source, warp);
    for (bool ended = false; !ended;) {
        source->ops->refill(source, warp);
        if (warp->count == 0) return;
        for (unsigned i = 0; i < warp->count; i++) {
            const struct instr *record = &warp->instr[i];
            take_record(lines, record, warp->touch + record->touches, sm, (uint32_t)survey->kernels);
            survey->thread_instructions += (unsigned)__builtin_popcount(record->active);
            ended = record->op == OP_exit;
        }
        survey->warp_instructions += warp->count;
    }
}

void survey_take(struct stream_source *source, unsigned sms, struct survey *survey) {
    struct lines lines = {.mask = 65535};
    lines.table = mem_alloc(lines.mask + 1, sizeof *lines.table);
    struct warp_stream *warp = mem_alloc(1, sizeof *warp);
    struct kernel kernel;
    *survey = (struct survey){0};
    while (source->ops->next_kernel(source, &kernel)) {
        survey->kernels++;
        survey->ctas += kernel_ctas(&kernel);
        for (warp->cta = 0; warp->cta < kernel_ctas(&kernel); warp->cta++)
            for (warp->warp = 0; warp->warp < kernel_warps(&kernel); warp->warp++)
                take_warp(source, warp, &lines, (uint16_t)(warp->cta % sms), survey);
    }
    for (uint64_t i = 0; i <= lines.mask; i++) {
        const struct line *line = &lines.table[i];
        survey->lines += line->number != 0;
        survey->shared_lines += line->shared;
        survey->shared_read_only_lines += line->shared && line->read && !line->mixed;
    }
    free(warp);
    free(lines.table);
}
