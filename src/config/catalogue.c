#include "config/catalogue.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/path.h"

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The first directory that exists of: $SLUICE_HOME; share/sluice of the prefix that bin/sluice is installed in;
 * share/sluice of the build tree, which CMakeLists.txt fills with links to the source tree. NULL if none has the folder.
 * No path is compiled in: an installed program and a source tree with its builds can be moved. */
char *catalogue_folder(const char *folder) {
    char program[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash) *slash = '\0';
    const char *home = getenv("SLUICE_HOME");
    char *candidates[] = {
        home ? text_format("%s/%s", home, folder) : NULL,
        slash ? text_format("%s/../share/sluice/%s", program, folder) : NULL,
        slash ? text_format("%s/share/sluice/%s", program, folder) : NULL,
    };
    char *found = NULL;
    for (size_t i = 0; i < COUNT_OF(candidates); i++) {
        if (!found && candidates[i] && is_folder(candidates[i]))
            found = path_real(candidates[i]); /* no .. in messages */
        free(candidates[i]);
    }
    return found;
}

static int entry_order(const void *a, const void *b) {
    return strcmp(((const struct catalogue_entry *)a)->name, ((const struct catalogue_entry *)b)->name);
}

/* The YAML files of a directory and its subdirectories, named by relative path: "adaptive/fig2". */
static void add_folder(struct catalogue *catalogue, const char *path, const char *prefix) {
    static const char suffix[] = ".yaml";
    DIR *directory = opendir(path);
    if (!directory) error_set(&catalogue->unread, "cannot read directory %s: %s", path, strerror(errno));
    for (struct dirent *file; directory && (file = readdir(directory));) {
        if (file->d_name[0] == '.') continue;
        char *inner = text_format("%s/%s", path, file->d_name);
        size_t length = strlen(file->d_name), stem = length > strlen(suffix) ? length - strlen(suffix) : length;
        if (strcmp(file->d_name + stem, suffix) == 0) {
            catalogue->entries = mem_grow(catalogue->entries, catalogue->count + 1, sizeof *catalogue->entries);
            catalogue->entries[catalogue->count++] =
                (struct catalogue_entry){text_format("%s%.*s", prefix, (int)stem, file->d_name), inner};
            continue;
        }
        if (!*prefix && is_folder(inner)) {
            char *name = text_format("%s/", file->d_name);
            add_folder(catalogue, inner, name);
            free(name);
        }
        free(inner);
    }
    if (directory) closedir(directory);
}

void catalogue_open(struct catalogue *catalogue, const char *folder) {
    *catalogue = (struct catalogue){0};
    char *path = catalogue_folder(folder);
    if (path) add_folder(catalogue, path, "");
    free(path);
    if (catalogue->count) qsort(catalogue->entries, catalogue->count, sizeof *catalogue->entries, entry_order);
}

void catalogue_close(struct catalogue *catalogue) {
    for (unsigned i = 0; i < catalogue->count; i++) {
        free(catalogue->entries[i].name);
        free(catalogue->entries[i].path);
    }
    free(catalogue->entries);
}

/* A word with the ending of a YAML file, or with a slash where names have none, is a path; any other is a bundled name. */
static bool is_path(const char *folder, const char *word) {
    size_t length = strlen(word);
    bool slash = strcmp(folder, "experiments") == 0 ? word[0] == '/' || word[0] == '.' : strchr(word, '/') != NULL;
    return slash || (length > 5 && strcmp(word + length - 5, ".yaml") == 0) ||
           (length > 4 && strcmp(word + length - 4, ".yml") == 0);
}

/* Suggests the nearest name, or the nearest set: the part of names before the slash. */
static void blame_unknown(const struct catalogue *catalogue, const char *folder, const char *noun, const char *word,
                          struct error *err) {
    unsigned count = catalogue->count;
    const char **names = mem_alloc(2 * (size_t)count + 1, sizeof *names);
    char **sets = mem_alloc((size_t)count + 1, sizeof *sets);
    for (unsigned i = 0; i < count; i++) {
        sets[i] = mem_text(catalogue->entries[i].name);
        sets[i][strcspn(sets[i], "/")] = '\0';
        names[i] = catalogue->entries[i].name;
        names[count + i] = sets[i];
    }
    const char *near = nearest_name(word, names, 2 * (size_t)count);
    if (near)
        error_set(err, "there is no %s `%s`; did you mean `%s`?", noun, word, near);
    else
        error_set(err, "there is no %s `%s`; see `sluice list %s`, or give the path of a file, as in ./%s.yaml", noun,
                  word, folder, word);
    for (unsigned i = 0; i < count; i++) free(sets[i]);
    free(sets);
    free(names);
}

char *catalogue_find(const char *folder, const char *noun, const char *word, struct error *err) {
    if (is_path(folder, word)) return mem_text(word);
    struct catalogue catalogue;
    catalogue_open(&catalogue, folder);
    char *path = NULL;
    for (unsigned i = 0; i < catalogue.count && !path; i++)
        if (strcmp(catalogue.entries[i].name, word) == 0) path = mem_text(catalogue.entries[i].path);
    if (!path && catalogue.unread.set) error_set(err, "%s", catalogue.unread.text);
    if (!path) blame_unknown(&catalogue, folder, noun, word, err);
    catalogue_close(&catalogue);
    return path;
}

static bool read_layer(struct config *config, const char *folder, const char *noun, const char *word,
                       struct error *err) {
    char *path = catalogue_find(folder, noun, word, err);
    bool good = path && config_read_file(config, path, err);
    free(path);
    return good;
}

struct config *config_build(const char *gpu, const char *design, const char *const *settings, unsigned setting_count,
                            struct error *err) {
    struct config *config = config_create(config_sections, config_section_count);
    bool good = read_layer(config, "gpus", "GPU", gpu ? gpu : DEFAULT_GPU, err);
    if (good && design) good = read_layer(config, "designs", "design", design, err);
    for (unsigned i = 0; good && i < setting_count; i++) good = config_set(config, settings[i], err);
    if (good && config_check(config, err)) return config;
    config_destroy(config);
    return NULL;
}
