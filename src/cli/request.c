/* Resolves arguments to experiments: a bundled one (`adaptive/fig2`), a set (`adaptive`), a YAML file, or all
 * experiments of a store. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/lab.h"
#include "config/catalogue.h"
#include "work.h"

void request_free(struct request *request) {
    for (unsigned i = 0; i < request->count; i++) {
        plan_free(request->plans[i]);
        experiment_free(request->experiments[i]);
    }
    free(request->plans);
    free(request->experiments);
    *request = (struct request){0};
}

static bool add(struct request *request, const char *word, const char *size, struct error *err) {
    struct experiment *experiment = experiment_open(word, err);
    struct plan *plan = experiment && !request->unplanned ? plan_create(experiment, size, err) : NULL;
    if (!plan && (!experiment || !request->unplanned)) return experiment_free(experiment), false;
    unsigned count = ++request->count;
    request->experiments = mem_grow(request->experiments, count, sizeof(struct experiment *));
    request->plans = mem_grow(request->plans, count, sizeof(struct plan *));
    request->experiments[count - 1] = experiment;
    request->plans[count - 1] = plan;
    return true;
}

/* Adds the bundled experiments of a set; returns their number. */
static unsigned add_set(struct request *request, const char *set, const char *size, struct error *err) {
    struct catalogue catalogue;
    size_t length = strlen(set);
    unsigned count = 0;
    catalogue_open(&catalogue, "experiments");
    for (unsigned i = 0; i < catalogue.count && !err->set; i++) {
        const char *name = catalogue.entries[i].name;
        if (strncmp(name, set, length) != 0 || name[length] != '/') continue;
        add(request, name, size, err);
        count++;
    }
    if (catalogue.unread.set) error_set(err, "%s", catalogue.unread.text);
    catalogue_close(&catalogue);
    return count;
}

static bool read_words(struct request *request, const char *const *words, unsigned count, const char *size,
                       struct error *err) {
    for (unsigned i = 0; i < count && !err->set; i++)
        if (add_set(request, words[i], size, err) == 0) add(request, words[i], size, err);
    if (err->set) request_free(request);
    return !err->set;
}

bool request_read(struct request *request, const char *const *words, unsigned count, const char *size,
                  struct error *err) {
    if (size) size = work_size_name(size);
    *request = (struct request){.size = size};
    return read_words(request, words, count, size, err);
}

bool request_read_experiments(struct request *request, const char *const *words, unsigned count, struct error *err) {
    *request = (struct request){.unplanned = true};
    return read_words(request, words, count, NULL, err);
}

struct stored {
    struct request *request;
    struct error *err;
};

static void add_stored(void *user, const char *name, const char *size, const char *path) {
    struct stored *stored = user;
    (void)name;
    if (!stored->err->set) add(stored->request, path, size[0] ? size : NULL, stored->err);
}

bool request_read_stored(struct request *request, struct store *store, struct error *err) {
    *request = (struct request){0};
    store_each_experiment(store, add_stored, &(struct stored){request, err});
    if (store_readable(store, err) && request->count == 0)
        error_set(err, "%s: the store has no experiments", store_path(store));
    if (err->set) request_free(request);
    return !err->set;
}

struct batch *request_batch(const struct request *request, struct store *store, const struct intake *intake) {
    struct batch *batch =
        batch_create((const struct plan *const *)request->plans, request->count, store, intake->files);
    if (request->on_violation) batch_add_option(batch, VIOLATION_OPTION, request->on_violation);
    return batch;
}
