#include "sass/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_CTAS = 1 << 16 };

struct sass_file {
    const char *path;
    struct sass_input *input;
    struct sass_header header;
    struct sass_file_state state;
    bool in_cta, in_warp;
    uint32_t warps_read; /* of the CTA, a bit each */
    uint64_t ctas_read;
    uint64_t **pages; /* CTAs read, a bit each; NULL: none of the page */
};

static uint64_t page_count(const struct sass_file *file) {
    return div_up(kernel_ctas(&file->header.kernel), PAGE_CTAS);
}

static bool begins(struct sass_text line, const char *word) {
    size_t length = strlen(word);
    return (size_t)(line.end - line.at) >= length && memcmp(line.at, word, length) == 0;
}

static bool is_empty(struct sass_text line) {
    while (line.at < line.end && (*line.at == ' ' || *line.at == '\t')) line.at++;
    return line.at == line.end;
}

bool sass_file_reject(const struct sass_file *file, struct error *err, const char *problem) {
    return error_at(err, file->path, sass_input_line_number(file->input), 1, "%s", problem);
}

/* The header ends with the first thread block. */
static bool read_header(struct sass_file *file, struct error *err) {
    struct sass_text line;
    while (sass_input_line(file->input, &line, err)) {
        unsigned number = sass_input_line_number(file->input);
        if (begins(line, "#BEGIN_TB")) return sass_header_end(&file->header, file->path, number, err);
        if (is_empty(line) || *line.at == '#') continue;
        if (!sass_header_line(&file->header, line, file->path, number, err)) return false;
    }
    return !err->set && error_set(err, "%s: the file has no thread block (#BEGIN_TB)", file->path);
}

struct sass_file *sass_file_open(const char *path, struct error *err) {
    struct sass_file *file = mem_alloc(1, sizeof *file);
    file->path = path;
    file->input = sass_input_open(path, err);
    if (!file->input || !read_header(file, err)) return sass_file_close(file), NULL;
    file->pages = mem_alloc(page_count(file), sizeof *file->pages);
    file->in_cta = true;
    file->state.cta = UINT64_MAX; /* until its line */
    return file;
}

void sass_file_close(struct sass_file *file) {
    for (uint64_t i = 0; file->pages && i < page_count(file); i++) free(file->pages[i]);
    free(file->pages);
    if (file->input) sass_input_close(file->input);
    free(file);
}

const struct sass_header *sass_file_header(const struct sass_file *file) { return &file->header; }
const struct sass_file_state *sass_file_state(const struct sass_file *file) { return &file->state; }
uint64_t sass_file_bytes(const struct sass_file *file) { return sass_input_bytes(file->input); }

bool sass_file_complete(const struct sass_file *file) { return file->ctas_read == kernel_ctas(&file->header.kernel); }

bool sass_file_has(const struct sass_file *file, uint64_t cta) {
    const uint64_t *page = file->pages[cta / PAGE_CTAS];
    return page && page[cta % PAGE_CTAS / 64] >> cta % 64 & 1;
}

static void mark_read(struct sass_file *file, uint64_t cta) {
    uint64_t **page = &file->pages[cta / PAGE_CTAS];
    if (!*page) *page = mem_alloc(PAGE_CTAS / 64, sizeof **page);
    (*page)[cta % PAGE_CTAS / 64] |= UINT64_C(1) << cta % 64;
    file->ctas_read++;
}

/* --- lines between instructions --- */

/* `KEY = A,B,C`: the numbers after the key. False with an error if they are not `count` numbers. */
static bool read_numbers(const struct sass_file *file, struct sass_text line, const char *key, uint64_t *number,
                         unsigned count, struct error *err) {
    const char *at = line.at + strlen(key);
    bool good = true;
    while (at < line.end && (*at == ' ' || *at == '=')) at++;
    for (unsigned i = 0; i < count && good; i++) {
        const char *first = at;
        number[i] = 0;
        for (; at < line.end && *at >= '0' && *at <= '9' && number[i] <= INT32_MAX; at++)
            number[i] = number[i] * 10 + (uint64_t)(*at - '0');
        good = at > first && number[i] <= INT32_MAX && (i + 1 == count || (at < line.end && *at++ == ','));
    }
    if (good && is_empty((struct sass_text){at, line.end})) return true;
    return error_at(err, file->path, sass_input_line_number(file->input), 1, "`%.*s`: expected `%s = %s`",
                    (int)min_u64((uint64_t)(line.end - line.at), 60), line.at, key, count == 3 ? "x,y,z" : "number");
}

static enum sass_event begin_cta(struct sass_file *file, struct sass_text line, struct error *err) {
    const uint32_t *grid = file->header.kernel.grid;
    uint64_t at[3] = {0};
    if (!read_numbers(file, line, "thread block", at, 3, err)) return SASS_FAILED;
    if (at[0] >= grid[0] || at[1] >= grid[1] || at[2] >= grid[2])
        return sass_file_reject(file, err, "the thread block lies outside the grid"), SASS_FAILED;
    file->state.cta = at[0] + grid[0] * (at[1] + grid[1] * at[2]);
    file->warps_read = 0;
    if (!sass_file_has(file, file->state.cta)) return SASS_CTA;
    return sass_file_reject(file, err, "the thread block occurred before"), SASS_FAILED;
}

static enum sass_event begin_warp(struct sass_file *file, struct sass_text line, struct error *err) {
    uint64_t warp = 0;
    if (!read_numbers(file, line, "warp", &warp, 1, err)) return SASS_FAILED;
    if (warp >= kernel_warps(&file->header.kernel))
        return sass_file_reject(file, err, "the warp does not exist in a block of this size"), SASS_FAILED;
    if (file->warps_read >> warp & 1)
        return sass_file_reject(file, err, "the warp occurred before in this thread block"), SASS_FAILED;
    file->state.warp = (uint32_t)warp;
    do { /* an error of the input is kept: only the first one counts */
        if (!sass_input_line(file->input, &line, err))
            return sass_file_reject(file, err, "the file ends within a warp"), SASS_FAILED;
    } while (is_empty(line));
    if (!begins(line, "insts")) return sass_file_reject(file, err, "expected `insts = number`"), SASS_FAILED;
    if (!read_numbers(file, line, "insts", &file->state.lines, 1, err)) return SASS_FAILED;
    file->warps_read |= UINT32_C(1) << warp;
    return SASS_WARP;
}

static enum sass_event end_cta(struct sass_file *file, struct error *err) {
    uint32_t missing = (uint32_t)low_mask(kernel_warps(&file->header.kernel)) & ~file->warps_read;
    if (missing) {
        char text[80];
        snprintf(text, sizeof text, "the thread block ends without warp %u", lowest_bit(missing));
        return sass_file_reject(file, err, text), SASS_FAILED;
    }
    mark_read(file, file->state.cta);
    file->in_cta = false;
    return SASS_CTA_END;
}

static enum sass_event end_file(const struct sass_file *file, struct error *err) {
    uint64_t ctas = kernel_ctas(&file->header.kernel);
    if (err->set) return SASS_FAILED;
    if (file->in_cta) return sass_file_reject(file, err, "the file ends within a thread block"), SASS_FAILED;
    if (file->ctas_read == ctas) return SASS_END;
    char text[120];
    snprintf(text, sizeof text, "the file ends after %llu of %llu thread blocks", (unsigned long long)file->ctas_read,
             (unsigned long long)ctas);
    return sass_file_reject(file, err, text), SASS_FAILED;
}

/* A line outside the instructions of a warp. */
static enum sass_event read_structure(struct sass_file *file, struct error *err) {
    struct sass_text line;
    while (sass_input_line(file->input, &line, err)) {
        file->state.text = line;
        bool cta_known = file->in_cta && file->state.cta != UINT64_MAX;
        if (is_empty(line)) continue;
        if (!file->in_cta && begins(line, "#BEGIN_TB")) {
            file->in_cta = true;
            file->state.cta = UINT64_MAX;
        } else if (file->in_cta && !cta_known && begins(line, "thread block")) {
            return begin_cta(file, line, err);
        } else if (cta_known && begins(line, "warp")) {
            return begin_warp(file, line, err);
        } else if (cta_known && begins(line, "#END_TB")) {
            return end_cta(file, err);
        } else if (*line.at != '#' || begins(line, "#BEGIN_TB") || begins(line, "#END_TB")) {
            const char *expected = !file->in_cta ? "expected #BEGIN_TB"
                                   : !cta_known  ? "expected `thread block = x,y,z`"
                                                 : "expected `warp = number` or #END_TB";
            return sass_file_reject(file, err, expected), SASS_FAILED;
        }
    }
    return end_file(file, err);
}

static enum sass_event read_instruction(struct sass_file *file, struct error *err) {
    struct sass_problem problem;
    if (!sass_input_line(file->input, &file->state.text, err))
        return sass_file_reject(file, err, "the file ends within a warp"), SASS_FAILED;
    struct sass_text text = file->state.text;
    file->state.lines--;
    if (LIKELY(sass_line_read(text, file->header.version, file->header.line_info, &file->state.line, &problem)))
        return SASS_LINE;
    unsigned number = sass_input_line_number(file->input);
    if (is_empty(text) || *text.at == '#' || begins(text, "warp"))
        error_at(err, file->path, number, 1, "warp %u ends %llu lines before its `insts` are complete",
                 file->state.warp, (unsigned long long)file->state.lines + 1);
    else
        error_at(err, file->path, number, problem.column, "%s", problem.text);
    return SASS_FAILED;
}

enum sass_event sass_file_next(struct sass_file *file, struct error *err) {
    return file->state.lines ? read_instruction(file, err) : read_structure(file, err);
}
