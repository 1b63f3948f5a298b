#include "cli/catalogue.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The first of: $SLUICE_HOME; the tree that the program was built in (build/<preset>/sluice); where it was installed
 * (bin/sluice and share/sluice); the tree that it was compiled from. NULL if none has the folder. */
static char *folder_find(const char *folder) {
    char program[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash) *slash = '\0';
    const char *home = getenv("SLUICE_HOME");
    char *candidates[] = {
        text_format("%s/%s", home ? home : "", folder),
        text_format("%s/../../%s", program, folder),
        text_format("%s/../share/sluice/%s", program, folder),
        text_format("%s/%s", SLUICE_SOURCE_DIR, folder),
    };
    char *found = NULL;
    for (size_t i = 0; i < COUNT_OF(candidates); i++) {
        bool given = i == 0 ? home != NULL : i == 3 || slash;
        if (!found && given && is_folder(candidates[i]))
            found = candidates[i];
        else
            free(candidates[i]);
    }
    char *plain = found ? realpath(found, NULL) : NULL; /* without the .. that messages would show */
    if (!plain) return found;
    free(found);
    return plain;
}

static int entry_order(const void *a, const void *b) {
    return strcmp(((const struct catalogue_entry *)a)->name, ((const struct catalogue_entry *)b)->name);
}

void catalogue_open(struct catalogue *catalogue, const char *folder) {
    *catalogue = (struct catalogue){0};
    char *path = folder_find(folder);
    DIR *directory = path ? opendir(path) : NULL;
    for (struct dirent *file; directory && (file = readdir(directory));) {
        size_t length = strlen(file->d_name), suffix = strlen(".yaml");
        if (length <= suffix || strcmp(file->d_name + length - suffix, ".yaml") != 0) continue;
        catalogue->entries = mem_grow(catalogue->entries, catalogue->count + 1, sizeof *catalogue->entries);
        struct catalogue_entry *entry = &catalogue->entries[catalogue->count++];
        entry->name = text_format("%.*s", (int)(length - suffix), file->d_name);
        entry->path = text_format("%s/%s", path, file->d_name);
    }
    if (directory) closedir(directory);
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

/* A word with a slash or with the ending of a YAML file is a path, any other a bundled name. */
static bool is_path(const char *word) {
    size_t length = strlen(word);
    return strchr(word, '/') || (length > 5 && strcmp(word + length - 5, ".yaml") == 0) ||
           (length > 4 && strcmp(word + length - 4, ".yml") == 0);
}

static bool unknown_name(const struct catalogue *catalogue, const char *folder, const char *noun, const char *name,
                         struct error *err) {
    const char **names = mem_alloc(catalogue->count, sizeof *names);
    char near[128];
    for (unsigned i = 0; i < catalogue->count; i++) names[i] = catalogue->entries[i].name;
    hint(name, names, catalogue->count, near, sizeof near);
    free(names);
    if (near[0]) return error_set(err, "there is no %s `%s`;%s", noun, name, near);
    return error_set(
        err,
        "there is no %s `%s`; `sluice list %s` names those there are, and a file of your own is given as ./%s.yaml",
        noun, name, folder, name);
}

static bool read_layer(struct config *config, const char *folder, const char *noun, const char *word,
                       struct error *err) {
    if (is_path(word)) return config_read_file(config, word, err);
    struct catalogue catalogue;
    catalogue_open(&catalogue, folder);
    const char *path = NULL;
    for (unsigned i = 0; i < catalogue.count; i++)
        if (strcmp(catalogue.entries[i].name, word) == 0) path = catalogue.entries[i].path;
    bool good = path ? config_read_file(config, path, err) : unknown_name(&catalogue, folder, noun, word, err);
    catalogue_close(&catalogue);
    return good;
}

struct config *machine_config(const struct machine_options *options, struct error *err) {
    struct config *config = config_create(config_sections, config_section_count);
    bool good = read_layer(config, "gpus", "GPU", options->gpu ? options->gpu : DEFAULT_GPU, err);
    if (good && options->design) good = read_layer(config, "designs", "design", options->design, err);
    for (unsigned i = 0; good && i < options->settings.count; i++)
        good = config_set(config, options->settings.text[i], err);
    if (good && config_check(config, err)) return config;
    config_destroy(config);
    return NULL;
}
