#include "sass/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "sass/input.h"

static bool ends_in(const char *text, size_t length, const char *end) {
    size_t count = strlen(end);
    return length > count && memcmp(text + length - count, end, count) == 0;
}

/* *.traceg, or *.traceg.EXTENSION: also with an extension of a compression that is not read, which opening the file
 * reports. */
static bool is_kernel_file(const char *text, size_t length) {
    if (ends_in(text, length, ".traceg")) return true;
    while (length && text[length - 1] != '.' && text[length - 1] != '/') length--;
    return length && text[length - 1] == '.' && ends_in(text, length - 1, ".traceg");
}

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool sass_is_trace_name(const char *path) {
    return is_kernel_file(path, strlen(path)) || ends_in(path, strlen(path), ".g");
}

bool sass_is_trace(const char *path) { return sass_is_trace_name(path) || is_folder(path); }

char *sass_name(const char *path) {
    static const char list[] = "/kernelslist.g";
    size_t length = strlen(path), begin;
    if (ends_in(path, length, list)) length -= sizeof list - 1;
    while (length > 1 && path[length - 1] == '/') length--;
    for (begin = length; begin && path[begin - 1] != '/';) begin--;
    const char *name = path + begin;
    size_t size = length - begin;
    static const char *const extensions[] = {".gz", ".xz", ".zst", ".traceg", ".g"};
    for (unsigned i = 0; !path[length] && i < COUNT_OF(extensions); i++)
        if (ends_in(name, size, extensions[i])) size -= strlen(extensions[i]);
    return text_format("%.*s", (int)size, name);
}

static void add_kernel(struct sass_list *list, char *path) {
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 64;
        list->kernels = mem_grow(list->kernels, list->room, sizeof *list->kernels);
    }
    list->kernels[list->count++] = path;
}

/* MemcpyHtoD,ADDRESS,BYTES */
static bool read_copy(struct sass_list *list, struct sass_text line, unsigned number, struct error *err) {
    char text[80], *end;
    size_t length = min_u64((uint64_t)(line.end - line.at), sizeof text - 1);
    memcpy(text, line.at, length);
    text[length] = '\0';
    struct sass_copy copy = {.launches = list->count};
    const char *at = strchr(text, ',') + 1;
    errno = 0;
    copy.address = strtoull(at, &end, 16);
    bool good = end > at && *end == ',';
    at = good ? end + 1 : at;
    copy.bytes = strtoull(at, &end, 0);
    if (!good || end == at || *end || errno)
        return error_at(err, list->path, number, 1, "`%s`: expected MemcpyHtoD,ADDRESS,BYTES", text);
    if (list->copy_count == list->copy_room) {
        list->copy_room = list->copy_room ? 2 * list->copy_room : 64;
        list->copies = mem_grow(list->copies, list->copy_room, sizeof *list->copies);
    }
    list->copies[list->copy_count++] = copy;
    return true;
}

static bool read_launch(struct sass_list *list, struct sass_text line, unsigned number, struct error *err) {
    const char *slash = strrchr(list->path, '/');
    int folder = *line.at == '/' || !slash ? 0 : (int)(slash - list->path) + 1;
    char *path = text_format("%.*s%.*s", folder, list->path, (int)(line.end - line.at), line.at);
    add_kernel(list, path);
    return access(path, R_OK) == 0 || error_at(err, list->path, number, 1, "%s: %s", path, strerror(errno));
}

static bool read_line(struct sass_list *list, struct sass_text line, unsigned number, struct error *err) {
    static const char copy[] = "MemcpyHtoD,";
    while (line.end > line.at && (line.end[-1] == ' ' || line.end[-1] == '\t')) line.end--;
    size_t length = (size_t)(line.end - line.at);
    if (length >= sizeof copy - 1 && memcmp(line.at, copy, sizeof copy - 1) == 0)
        return read_copy(list, line, number, err);
    return !is_kernel_file(line.at, length) || read_launch(list, line, number, err);
}

bool sass_list_open(struct sass_list *list, const char *path, struct error *err) {
    *list = (struct sass_list){.path = is_folder(path) ? text_format("%s/kernelslist.g", path) : mem_text(path)};
    if (is_kernel_file(list->path, strlen(list->path))) {
        add_kernel(list, mem_text(list->path));
        return true;
    }
    struct sass_input *input = sass_input_open(list->path, err);
    if (!input) return sass_list_close(list), false;
    struct sass_text line;
    bool good = true;
    while (good && sass_input_line(input, &line, err)) good = read_line(list, line, sass_input_line_number(input), err);
    sass_input_close(input);
    if (!err->set && !list->count)
        error_set(err, "%s: the list names no kernel file (kernel-N.traceg); traces have to be post-processed before",
                  list->path);
    if (err->set) sass_list_close(list);
    return !err->set;
}

void sass_list_close(struct sass_list *list) {
    for (uint32_t i = 0; i < list->count; i++) free(list->kernels[i]);
    free(list->kernels);
    free(list->copies);
    free(list->path);
    *list = (struct sass_list){0};
}
