#include "lab/program_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/base.h"
#include "base/path.h"
#include "host/launch_file.h"
#include "sass/file.h"
#include "sass/list.h"
#include "stream/recording.h"

enum { PIECE_BYTES = 1 << 20 };

bool program_is_file(const char *word) { return strchr(word, '/') || strchr(word, '.'); }

static bool is_launch_file(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

static void finish(XXH3_state_t *state, char content[IDENTITY_LENGTH + 1]) {
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    snprintf(content, IDENTITY_LENGTH + 1, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
}

/* Each input with its size, so that bytes cannot move from one file to another. */
static bool read_launch(struct program_file *file, const char *path, XXH3_state_t *state, struct error *err) {
    struct launch_file *launch = launch_file_open(path, NULL, err);
    if (!launch) return false;
    struct launch_input input;
    for (unsigned i = 0; launch_file_input(launch, i, &input); i++) {
        XXH3_128bits_update(state, &input.size_bytes, sizeof input.size_bytes);
        XXH3_128bits_update(state, input.content, input.size_bytes);
    }
    file->option = "--launch";
    file->workload = mem_text(launch_file_name(launch));
    launch_file_close(launch);
    return true;
}

static bool add_bytes(const char *path, XXH3_state_t *state, struct error *err) {
    FILE *in = fopen(path, "rb");
    char *piece = mem_alloc(PIECE_BYTES, 1);
    size_t count;
    while (in && (count = fread(piece, 1, PIECE_BYTES, in)) > 0) XXH3_128bits_update(state, piece, count);
    bool good = in && !ferror(in);
    if (!good) error_set(err, "%s: %s", path, strerror(errno));
    if (in) fclose(in);
    free(piece);
    return good;
}

static bool read_recording(struct program_file *file, const char *path, XXH3_state_t *state, struct error *err) {
    struct stream_source *source = recording_open(path, err);
    if (!source) return false;
    file->option = "--trace";
    file->workload = mem_text(recording_info(source)->workload);
    source->ops->destroy(source);
    return add_bytes(path, state, err);
}

/* The contents of the command list and of all kernel files that it names, each as a digest of its own, so that bytes
 * cannot move from one file to another. */
static bool add_digest(const char *path, XXH3_state_t *whole, struct error *err) {
    XXH3_state_t *state = XXH3_createState();
    XXH3_128bits_reset(state);
    bool good = add_bytes(path, state, err);
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_128bits_update(whole, &hash, sizeof hash);
    XXH3_freeState(state);
    return good;
}

/* The header of every kernel file is checked; its lines are when it runs. */
static bool read_trace(struct program_file *file, const char *path, XXH3_state_t *state, struct error *err) {
    struct sass_list list;
    if (!sass_list_open(&list, path, err)) return false;
    bool single = list.count == 1 && strcmp(list.kernels[0], list.path) == 0;
    bool good = single || add_digest(list.path, state, err);
    for (uint32_t i = 0; i < list.count && good; i++) {
        struct sass_file *kernel = sass_file_open(list.kernels[i], err);
        good = kernel && add_digest(list.kernels[i], state, err);
        if (kernel) sass_file_close(kernel);
    }
    sass_list_close(&list);
    file->option = "--trace";
    file->workload = sass_name(file->path);
    file->sass = true;
    return good;
}

/* A link to a file stays one: a launch file names other files relative to its own directory. */
static char *absolute(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = text_format("%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : "."),
         *real = path_real(folder);
    char *file = real ? text_format("%s/%s", real, slash ? slash + 1 : path) : NULL;
    free(folder);
    free(real);
    return file;
}

/* A directory of a trace stands for its command list. */
static bool open_folder(struct program_file *file, const char *path, struct error *err) {
    char *list = text_format("%s/kernelslist.g", path);
    bool good = access(list, F_OK) == 0 ? program_file_open(file, list, err)
                                        : error_set(err, "%s is not a file, and has no kernelslist.g", path);
    free(list);
    return good;
}

bool program_file_open(struct program_file *file, const char *path, struct error *err) {
    struct stat status;
    *file = (struct program_file){.path = absolute(path)};
    if (!file->path || stat(file->path, &status) != 0) {
        error_set(err, "%s: %s", path, strerror(errno));
    } else if (S_ISDIR(status.st_mode)) {
        program_file_release(file);
        return open_folder(file, path, err);
    } else if (!S_ISREG(status.st_mode)) {
        error_set(err, "%s is not a file", path);
    } else if (strpbrk(file->path, "\t\n")) {
        error_set(err, "%s: the path has a tab or a line break; rename it", path);
    } else {
        XXH3_state_t *state = XXH3_createState();
        XXH3_128bits_reset(state);
        bool good = is_launch_file(file->path)       ? read_launch(file, path, state, err)
                    : sass_is_trace_name(file->path) ? read_trace(file, path, state, err)
                                                     : read_recording(file, path, state, err);
        finish(state, file->content);
        XXH3_freeState(state);
        if (good) return true;
    }
    program_file_release(file);
    return false;
}

void program_file_release(struct program_file *file) {
    free(file->path);
    free(file->workload);
    *file = (struct program_file){0};
}

bool program_file_unchanged(const char *path, const char *content, struct error *err) {
    struct program_file now;
    struct error unread = {0};
    bool same = program_file_open(&now, path, &unread) && strcmp(now.content, content) == 0;
    if (!unread.set) program_file_release(&now);
    return same ||
           error_set(err, "%s, or a file that it names, changed after the command started; rerun the command", path);
}
