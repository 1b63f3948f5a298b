#include "lab/intake.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/path.h"

static bool make_folder(const char *path, struct error *err) {
    return mkdir(path, 0777) == 0 || errno == EEXIST || error_set(err, "%s: %s", path, strerror(errno));
}

bool intake_open(struct intake *intake, const char *store_path, bool make, struct error *err) {
    char *folder = text_format("%s.work", store_path);
    *intake = (struct intake){.made = make};
    bool good = !make || make_folder(folder, err);
    char *absolute = path_real(folder);
    intake->folder = absolute ? absolute : mem_text(folder);
    free(folder);
    intake->local = text_format("%s/local", intake->folder);
    intake->slurm = text_format("%s/slurm", intake->folder);
    intake->files = text_format("%s/files", intake->folder);
    good = good && (!make || (make_folder(intake->local, err) && make_folder(intake->slurm, err) &&
                              make_folder(intake->files, err)));
    if (!good) intake_close(intake);
    return good;
}

void intake_close(struct intake *intake) {
    char *folders[] = {intake->local, intake->slurm, intake->files, intake->folder};
    for (unsigned i = 0; i < COUNT_OF(folders); i++) {
        if (intake->made && folders[i]) rmdir(folders[i]); /* only if it is empty */
        free(folders[i]);
    }
    *intake = (struct intake){0};
}

char *intake_read(const char *path, size_t *length, struct error *err) {
    FILE *file = fopen(path, "rbe");
    char *text = mem_alloc(1, 1);
    *length = 0;
    for (size_t got = 1; file && got > 0;) {
        text = mem_grow(text, *length + 65537, 1);
        *length += got = fread(text + *length, 1, 65536, file);
        text[*length] = '\0';
    }
    bool good = file && !ferror(file);
    if (!good) error_set(err, "%s: %s", path, strerror(errno));
    if (file) fclose(file);
    if (good) return text;
    free(text);
    return NULL;
}

/* An unusable result (interrupted, or its check failed) is stored as a failure. The file is removed once it is
 * stored. */
bool intake_take(struct store *store, const char *identity, const char *title, const char *path, struct error *err) {
    size_t length;
    char *json = intake_read(path, &length, err);
    if (!json) return false;
    struct error why = {0};
    bool accepted = store_accepts(store, json, length, &why, err), good = accepted || why.set;
    if (good)
        good = accepted ? store_put(store, identity, json, length, err)
                        : store_put_failure(store, identity, title, why.text, err);
    free(json);
    if (good) unlink(path);
    return good;
}

/* The first line is the title of the run, the rest its error. */
static bool take_failure(struct store *store, const char *identity, const char *path, struct error *err) {
    size_t length;
    char *text = intake_read(path, &length, err);
    if (!text) return false;
    char *why = strchr(text, '\n');
    if (why) *why++ = '\0';
    bool good = store_has(store, identity) || store_put_failure(store, identity, text, why ? why : "", err);
    free(text);
    if (good) unlink(path);
    return good;
}

enum kind { KIND_OTHER, KIND_RESULT, KIND_FAILURE };

static enum kind kind_of(const char *name) {
    const char *dot = strchr(name, '.');
    if (!dot || !identity_is(name, (size_t)(dot - name))) return KIND_OTHER;
    return strcmp(dot, ".json") == 0 ? KIND_RESULT : strcmp(dot, ".failed") == 0 ? KIND_FAILURE : KIND_OTHER;
}

/* Sorted, so that the import does not depend on the order of directory entries. */
static int visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static int list(const char *folder, struct dirent ***entries) {
    int count = scandir(folder, entries, visible, alphasort);
    return count < 0 ? 0 : count;
}

bool intake_take_all(struct store *store, const char *folder, uint64_t *taken, struct error *err) {
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, visible, alphasort);
    bool good = count >= 0 || errno == ENOENT || error_set(err, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < count; free(entries[i++])) {
        enum kind kind = kind_of(entries[i]->d_name);
        if (!good || kind == KIND_OTHER) continue;
        char *path = text_format("%s/%s", folder, entries[i]->d_name);
        char *identity = text_format("%.*s", IDENTITY_LENGTH, entries[i]->d_name);
        good = kind == KIND_RESULT ? intake_take(store, identity, identity, path, err)
                                   : take_failure(store, identity, path, err);
        *taken += good && kind == KIND_RESULT;
        free(identity);
        free(path);
    }
    free(entries);
    return good;
}

unsigned intake_waiting(const char *folder) {
    struct dirent **entries = NULL;
    unsigned waiting = 0;
    for (int i = 0, count = list(folder, &entries); i < count; free(entries[i++]))
        waiting += kind_of(entries[i]->d_name) == KIND_RESULT;
    free(entries);
    return waiting;
}

static void sweep(const char *folder, bool everything) {
    struct dirent **entries = NULL;
    for (int i = 0, count = list(folder, &entries); i < count; free(entries[i++])) {
        char *path = text_format("%s/%s", folder, entries[i]->d_name);
        if (everything || kind_of(entries[i]->d_name) == KIND_OTHER) unlink(path);
        free(path);
    }
    free(entries);
}

void intake_sweep(const char *folder) { sweep(folder, false); }

void intake_forget_files(const struct intake *intake) { sweep(intake->files, true); }
