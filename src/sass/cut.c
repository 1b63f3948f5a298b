/* A part of a trace as text: what is read line by line is written line by line, with another grid where CTAs are left
 * out. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/output.h"
#include "base/path.h"
#include "sass/file.h"
#include "sass/list.h"
#include "stream/prefix.h"

struct cutter {
    const struct sass_part *part;
    bool (*goes_on)(void *user);
    void *user;
    struct error *err;
};

/* The header as it is, except for the grid. */
static bool copy_header(const char *path, const struct kernel *kernel, FILE *out, struct error *err) {
    static const char grid[] = "-grid dim";
    struct sass_input *input = sass_input_open(path, err);
    if (!input) return false;
    struct sass_text line;
    bool begun = false;
    while (!begun && sass_input_line(input, &line, err)) {
        size_t length = (size_t)(line.end - line.at);
        begun = length >= 9 && memcmp(line.at, "#BEGIN_TB", 9) == 0;
        if (length >= sizeof grid - 1 && memcmp(line.at, grid, sizeof grid - 1) == 0)
            fprintf(out, "%s = (%u,%u,%u)\n", grid, kernel->grid[0], kernel->grid[1], kernel->grid[2]);
        else if (!begun)
            fprintf(out, "%.*s\n", (int)length, line.at);
    }
    sass_input_close(input);
    return !err->set;
}

/* The CTAs that are left, in the order of the file. */
static bool copy_ctas(const struct cutter *cutter, struct sass_file *file, const struct kernel *kernel, FILE *out) {
    enum { STEP_EVENTS = 1 << 15 };
    uint64_t left = kernel_ctas(kernel), events = 0;
    const struct sass_file_state *at = sass_file_state(file);
    enum sass_event event = SASS_CTA;
    while (left && (event = sass_file_next(file, cutter->err)) < SASS_END) {
        if (++events % STEP_EVENTS == 0 && !cutter->goes_on(cutter->user))
            return error_set(cutter->err, "interrupted; no trace was written");
        if (at->cta >= kernel_ctas(kernel)) continue;
        uint64_t row = at->cta / kernel->grid[0];
        if (event == SASS_CTA)
            fprintf(out, "#BEGIN_TB\n\nthread block = %" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", at->cta % kernel->grid[0],
                    row % kernel->grid[1], row / kernel->grid[1]);
        else if (event == SASS_WARP)
            fprintf(out, "\nwarp = %u\ninsts = %" PRIu64 "\n", at->warp, at->lines);
        else if (event == SASS_LINE)
            fprintf(out, "%.*s\n", (int)(at->text.end - at->text.at), at->text.at);
        else if (event == SASS_CTA_END)
            fputs("\n#END_TB\n\n", out), left--;
    }
    return event != SASS_FAILED;
}

static bool cut_kernel(const struct cutter *cutter, const char *from, const char *to) {
    struct output output;
    struct sass_file *file = sass_file_open(from, cutter->err);
    if (!file) return false;
    struct kernel kernel = sass_file_header(file)->kernel;
    if (cutter->part->ctas) prefix_grid(&kernel, cutter->part->ctas);
    bool good = output_open(&output, to, cutter->err);
    if (good) {
        good = copy_header(from, &kernel, output.file, cutter->err) && copy_ctas(cutter, file, &kernel, output.file);
        struct error closing = {0};
        if (!output_close(&output, good, &closing) && good) good = error_set(cutter->err, "%s", closing.text);
    }
    sass_file_close(file);
    return good;
}

static char *kernel_path(const char *folder, uint64_t launch) {
    return text_format("%s/kernel-%" PRIu64 ".traceg", folder, launch);
}

struct cut_list {
    const struct sass_list *list;
    const struct sass_part *part;
};

static void write_list(FILE *out, const void *what) {
    const struct cut_list *cut = what;
    const struct sass_list *list = cut->list;
    uint32_t copy = 0;
    for (uint64_t launch = 1; launch <= min_u64(cut->part->last, list->count); launch++) {
        for (; copy < list->copy_count && list->copies[copy].launches < launch; copy++)
            fprintf(out, "MemcpyHtoD,0x%016" PRIx64 ",%" PRIu64 "\n", list->copies[copy].address,
                    list->copies[copy].bytes);
        if (launch >= cut->part->first) fprintf(out, "kernel-%" PRIu64 ".traceg\n", launch);
    }
}

bool sass_cut(const struct sass_list *list, const struct sass_part *part, const char *folder,
              bool (*goes_on)(void *user), void *user, struct error *err) {
    struct cutter cutter = {part, goes_on, user, err};
    char *list_path = text_format("%s/kernelslist.g", folder);
    bool good = true, made = false;
    uint64_t launch = part->first;
    if (part->first > list->count)
        good = error_set(err, "%s: launch %" PRIu64 " does not exist: the trace has %u", list->path, part->first,
                         list->count);
    else if (access(folder, F_OK) == 0)
        good = error_set(err, "%s exists; choose a new directory", folder);
    good = made = good && folder_make(folder, err);
    for (; good && launch <= min_u64(part->last, list->count); launch++) {
        char *path = kernel_path(folder, launch);
        good = cut_kernel(&cutter, list->kernels[launch - 1], path);
        free(path);
    }
    good = good && output_write(list_path, write_list, &(struct cut_list){list, part}, err);
    while (made && !good && launch-- > part->first) {
        char *path = kernel_path(folder, launch);
        unlink(path);
        free(path);
    }
    if (made && !good) rmdir(folder);
    free(list_path);
    return good;
}
