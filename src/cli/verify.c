/* Draws rows of kept results, reruns them with this program, and compares every kept value. */
#include "cli/verify.h"
#include "cli/style.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/lab.h"
#include "cli/progress.h"
#include "lab/kept.h"
#include "lab/runner.h"

/* A file of kept results, with its experiment. */
struct kept_file {
    struct experiment *experiment;
    struct plan *plan;
    struct kept kept;
};

/* A kept run. */
struct row {
    const struct kept_file *file;
    unsigned run; /* in the plan */
    double seconds;
};

struct verification {
    struct kept_file **files;
    unsigned file_count;
    struct row *rows;
    unsigned row_count;
    struct store *store; /* of the new runs */
    bool shown, drawn;
};

/* --- files and rows --- */

static bool add_file(struct verification *all, const char *experiment, const char *size, const char *path,
                     struct error *err) {
    struct kept_file *file = mem_alloc(1, sizeof *file);
    *file = (struct kept_file){.experiment = experiment_open(experiment, err)};
    all->files = mem_grow(all->files, all->file_count + 1, sizeof *all->files);
    all->files[all->file_count++] = file;
    if (file->experiment) file->plan = plan_create(file->experiment, size, err);
    return file->plan && kept_open(&file->kept, file->plan, path, err);
}

/* All kept files of an experiment: of its own sizes, and of other sizes (NAME@SIZE.csv). */
static bool add_experiment(struct verification *all, const struct experiment *experiment, const char *folder,
                           struct error *err) {
    char *path = kept_path(folder, experiment, NULL), *pattern = kept_path(folder, experiment, "*");
    bool good = access(path, F_OK) != 0 || add_file(all, experiment->path, NULL, path, err);
    glob_t found = {0};
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && good; i++) {
            const char *at = strrchr(found.gl_pathv[i], '@') + 1;
            char *size = text_format("%.*s", (int)(strrchr(at, '.') - at), at);
            good = add_file(all, experiment->path, size, found.gl_pathv[i], err);
            free(size);
        }
    globfree(&found);
    free(pattern);
    free(path);
    return good;
}

static bool is_listed(const struct verification *all, const struct kept_file *file, unsigned run) {
    for (unsigned i = 0; i < all->row_count; i++)
        if (strcmp(all->rows[i].file->plan->runs[all->rows[i].run].identity, file->plan->runs[run].identity) == 0)
            return true;
    return false;
}

static void list_rows(struct verification *all) {
    for (unsigned f = 0; f < all->file_count; f++) {
        const struct kept_file *file = all->files[f];
        for (unsigned i = 0; i < file->plan->count; i++) {
            if (!file->kept.model[i] || is_listed(all, file, i)) continue;
            all->rows = mem_grow(all->rows, all->row_count + 1, sizeof *all->rows);
            all->rows[all->row_count++] = (struct row){file, i, file->kept.seconds[i]};
        }
    }
}

static int by_seconds(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    return x->seconds < y->seconds ? -1 : x->seconds > y->seconds;
}

/* A draw from 0 to `below` - 1 by splitmix64. */
static unsigned draw(uint64_t *state, unsigned below) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (unsigned)((z ^ (z >> 31)) % below);
}

/* Leaves the drawn rows at the front; returns their number. */
static unsigned draw_rows(struct verification *all, const struct verify_request *request) {
    unsigned eligible = all->row_count;
    if (request->within && eligible) {
        double sum = 0;
        qsort(all->rows, all->row_count, sizeof *all->rows, by_seconds);
        for (eligible = 0; eligible < all->row_count; eligible++)
            if ((sum += all->rows[eligible].seconds) > (double)request->within) break;
    }
    unsigned count = (unsigned)min_u64(request->rows, eligible);
    uint64_t state = request->seed;
    for (unsigned i = 0; i < count; i++) {
        unsigned from = i + draw(&state, eligible - i);
        struct row row = all->rows[i];
        all->rows[i] = all->rows[from];
        all->rows[from] = row;
    }
    return count;
}

/* --- runs --- */

static bool take(void *user, const struct batch_run *run, const char *path, struct error *err) {
    struct verification *all = user;
    return intake_take(all->store, run->identity, run->title, path, err);
}

static bool note_failure(void *user, const struct batch_run *run, struct error *err) {
    (void)user, (void)err;
    complain(NULL, "%s: %s", run->title, run->why);
    return true;
}

static bool step(void *user, const struct runner_progress *progress) {
    struct verification *all = user;
    if (all->shown) fprintf(stderr, "\r%u of %u runs\x1b[K", progress->done, progress->total);
    all->drawn = all->shown;
    return !signals_caught();
}

/* Runs that were not drawn count as done, unless a drawn one reads their file. */
static void leave_only(struct batch *batch, const struct verification *all, unsigned drawn) {
    for (unsigned i = 0; i < batch->count; i++) {
        bool wanted = false;
        for (unsigned k = 0; k < drawn && !wanted; k++)
            wanted = strcmp(all->rows[k].file->plan->runs[all->rows[k].run].identity, batch->runs[i].identity) == 0;
        if (!wanted) batch->runs[i].state = BATCH_DONE;
    }
    for (unsigned i = 0; i < batch->count; i++)
        if (batch->runs[i].state == BATCH_WAITING && batch->runs[i].after >= 0)
            batch->runs[batch->runs[i].after].state = BATCH_WAITING;
}

static bool rerun(struct verification *all, unsigned drawn, const char *folder, uint64_t processes, struct error *err) {
    char *path = text_format("%s/verify", folder);
    const struct plan **plans = mem_alloc(all->file_count, sizeof *plans);
    struct intake intake;
    for (unsigned i = 0; i < all->file_count; i++) plans[i] = all->files[i]->plan;
    bool good = intake_open(&intake, path, true, err);
    if (good) {
        struct batch *batch = batch_create(plans, all->file_count, NULL, intake.files);
        struct runner_options runner = {.program = "/proc/self/exe",
                                        .results = intake.local,
                                        .files = intake.files,
                                        .processes = (unsigned)lab_processes(processes),
                                        .take = take,
                                        .failed = note_failure,
                                        .step = step,
                                        .user = all};
        leave_only(batch, all, drawn);
        all->shown = isatty(STDERR_FILENO);
        good = runner_run(batch, &runner, err);
        if (all->drawn) fputs("\r\x1b[K", stderr);
        batch_free(batch);
        intake_sweep(intake.local);
        intake_forget_files(&intake);
        intake_close(&intake);
    }
    free(plans);
    free(path);
    return good;
}

/* --- comparison --- */

/* Compares every kept value; prints the first that differs. */
static bool compare(const struct row *row, struct stored_run *run, unsigned *compared, struct error *err) {
    const struct kept *kept = &row->file->kept;
    for (*compared = 0; *compared < kept->names; ++*compared) {
        const char *name = kept->name[*compared], *before = kept->value[row->run][*compared];
        char *now = kept_value(run, name, err);
        bool same = now && strcmp(now, before) == 0;
        if (now && !same)
            printf("%sdiffers%s  %s %.40s, kept %.40s", style(stdout, STYLE_BAD), style(stdout, STYLE_NONE), name, now,
                   before);
        free(now);
        if (!same) return false;
    }
    return true;
}

enum outcome { EQUAL, DIFFERS, FAILED };

static enum outcome report_row(struct verification *all, const struct row *row, unsigned *changed, struct error *err) {
    const struct planned_run *planned = &row->file->plan->runs[row->run];
    const struct lab_design *design = &row->file->experiment->designs[planned->design];
    struct stored_run *run = stored_run_get(all->store, planned->identity);
    unsigned compared = 0;
    enum outcome outcome = !run ? FAILED : compare(row, run, &compared, err) ? EQUAL : DIFFERS;
    stored_run_free(run);
    if (err->set) return FAILED;
    if (outcome == EQUAL)
        printf("%sequal%s    %u values", style(stdout, STYLE_GOOD), style(stdout, STYLE_NONE), compared);
    if (outcome == FAILED) printf("%sfailed%s  ", style(stdout, STYLE_BAD), style(stdout, STYLE_NONE));
    const struct lab_axis *seeds = &row->file->experiment->seeds;
    printf("  %s: %s, %s", row->file->experiment->name, planned->job, design->name);
    if (seeds->count) printf(", seed %s", seeds->values[planned->seed]);
    bool other_model = strcmp(row->file->kept.model[row->run], identity_model()) != 0;
    *changed += other_model;
    puts(other_model ? "; model changed since" : "");
    return outcome;
}

static enum status report_all(struct verification *all, unsigned drawn, struct error *err) {
    unsigned counts[3] = {0}, changed = 0;
    for (unsigned i = 0; i < drawn && !err->set; i++) counts[report_row(all, &all->rows[i], &changed, err)]++;
    if (err->set) return complain_error(err), STATUS_FAILED;
    printf("%u of %u kept runs rerun: %u equal, %u differ%s", drawn, all->row_count, counts[EQUAL], counts[DIFFERS],
           counts[DIFFERS] == 1 ? "s" : "");
    if (counts[FAILED]) printf(", %u failed", counts[FAILED]);
    if (changed) printf("; the model changed since %u of them were kept", changed);
    putchar('\n');
    return counts[DIFFERS] + counts[FAILED] ? STATUS_FAILED : STATUS_DONE;
}

/* --- the whole --- */

static bool verify_open(struct verification *all, const struct verify_request *request, struct error *err) {
    struct request asked;
    if (!request_read_experiments(&asked, request->experiments, request->count, err)) return false;
    bool good = true;
    for (unsigned i = 0; i < asked.count && good; i++)
        good = add_experiment(all, asked.experiments[i], request->kept, err);
    request_free(&asked);
    if (good && all->file_count == 0)
        good = error_set(err, "no kept results of %s in %s; `sluice lab export --kept` writes them",
                         request->experiments[0], request->kept ? request->kept : "data/results");
    if (good) list_rows(all);
    return good;
}

static void verify_close(struct verification *all) {
    for (unsigned i = 0; i < all->file_count; i++) {
        if (all->files[i]->kept.arena) kept_close(&all->files[i]->kept);
        plan_free(all->files[i]->plan);
        experiment_free(all->files[i]->experiment);
        free(all->files[i]);
    }
    free(all->files);
    free(all->rows);
    store_close(all->store);
}

enum status verify(const struct verify_request *request) {
    struct verification all = {0};
    struct error err = {0};
    enum status status = STATUS_BAD_INPUT;
    const char *temporary = getenv("TMPDIR");
    char *folder = text_format("%s/sluice-verify-XXXXXX", temporary ? temporary : "/tmp");
    if (!verify_open(&all, request, &err) || !(all.store = store_open_memory("verify", &err))) {
        complain_error(&err);
    } else {
        unsigned drawn = draw_rows(&all, request);
        signals_catch();
        bool good = mkdtemp(folder) || error_set(&err, "%s: cannot be created", folder);
        if (good) {
            good = rerun(&all, drawn, folder, request->processes, &err);
            rmdir(folder);
        }
        if (!good)
            complain_error(&err), status = STATUS_FAILED;
        else if (signals_caught())
            fputs("sluice: interrupted\n", stderr), status = STATUS_FAILED;
        else
            status = report_all(&all, drawn, &err);
    }
    verify_close(&all);
    free(folder);
    return status;
}
