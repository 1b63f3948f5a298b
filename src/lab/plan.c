/* Runs are ordered by workload, point, seed, design and candidate, so that the index of a cell's run is computed. A
 * configuration is built once for all workloads without settings. Later settings override earlier ones: experiment,
 * design, workload, sweep, seed, candidate. */
#include "lab/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/output.h"
#include "config/catalogue.h"
#include "gpu/machine.h"
#include "stream/workload.h"
#include "work.h"

enum { RUNS_MAX = 100000 };

static const char *const results[] = {"ipc", "cycles", "thread_instructions", "warp_instructions"};

bool plan_is_result(const char *name) {
    for (unsigned i = 0; i < COUNT_OF(results); i++)
        if (strcmp(name, results[i]) == 0) return true;
    return strncmp(name, "energy.", 7) == 0;
}

/* The counters of all machines of the experiment, to check metrics and for hints. */
struct counters {
    struct arena *arena;
    const char **names;
    unsigned count;
};

static unsigned candidates_of(const struct lab_design *design) { return design->best.count ? design->best.count : 1; }

/* Cells of a design: a workload at a point with a seed each. */
static unsigned cell_of(const struct experiment *experiment, unsigned workload, unsigned point, unsigned seed) {
    return (workload * experiment_points(experiment) + point) * experiment_seeds(experiment) + seed;
}

unsigned plan_find(const struct plan *plan, unsigned workload, unsigned design, unsigned point, unsigned seed,
                   int candidate) {
    const struct experiment *experiment = plan->experiment;
    unsigned before = 0, all = 0;
    for (unsigned i = 0; i < experiment->design_count; i++) {
        if (i == design) before = all;
        all += candidates_of(&experiment->designs[i]);
    }
    return cell_of(experiment, workload, point, seed) * all + before + (candidate < 0 ? 0 : (unsigned)candidate);
}

int plan_find_alone(const struct plan *plan, unsigned workload, unsigned point, unsigned seed, unsigned program) {
    unsigned cell = cell_of(plan->experiment, workload, point, seed);
    return plan->alone ? plan->alone[cell * PROGRAMS_MAX + program] : -1;
}

static bool asks_alone(const struct experiment *experiment) {
    bool asks = false;
    const char *name;
    for (unsigned m = 0; m < experiment->metric_count; m++)
        for (unsigned n = 0; (name = expression_name(experiment->metrics[m].value, n, NULL)); n++)
            asks |= plan_alone_name(name) != NULL;
    return asks;
}

/* --- one configuration --- */

static void add_settings(struct arena *arena, struct lab_settings *to, const struct lab_settings *from) {
    for (unsigned i = 0; i < from->count; i++)
        *(struct lab_setting *)ARENA_APPEND(arena, to->setting, to->count) = from->setting[i];
}

/* A heat map over time samples its counters per unit. */
static const char *units_of(const struct plan *plan) {
    const struct experiment *experiment = plan->experiment;
    if (!experiment_maps_time(experiment)) return NULL;
    char *text = mem_text("");
    for (unsigned m = 0; m < experiment->metric_count; m++) {
        const char *name;
        for (unsigned i = 0; (name = expression_name(experiment->metrics[m].value, i, NULL)); i++) {
            if (!strchr(name, '.') || strstr(text, name)) continue; /* a result, or already in the list */
            char *longer = text_format("%s%s%s", text, *text ? " " : "", name);
            free(text);
            text = longer;
        }
    }
    const char *kept = arena_text(plan->arena, text, strlen(text));
    free(text);
    return *kept ? kept : NULL;
}

/* A run without its job and identity. */
static struct planned_run make_run(struct plan *plan, unsigned workload, unsigned design_index, unsigned point,
                                   unsigned seed, int candidate) {
    const struct experiment *experiment = plan->experiment;
    const struct lab_design *design = &experiment->designs[design_index];
    struct planned_run run = {.workload = workload,
                              .design = design_index,
                              .point = point,
                              .seed = seed,
                              .candidate = candidate,
                              .after = -1,
                              .gpu = design->gpu ? design->gpu : experiment->gpu,
                              .base = design->base,
                              .max_insts = experiment->max_insts,
                              .sample_cycles = experiment->sample_cycles,
                              .sample_units = units_of(plan)};
    add_settings(plan->arena, &run.settings, &experiment->settings);
    add_settings(plan->arena, &run.settings, &design->settings);
    add_settings(plan->arena, &run.settings, &experiment->workloads[workload].settings);
    for (unsigned i = 0; i < experiment->axis_count; i++) {
        const struct lab_axis *axis = &experiment->axes[i];
        unsigned value = experiment_point_value(experiment, point, i);
        if (strcmp(axis->key, "gpu") == 0) run.gpu = axis->values[value];
        add_settings(plan->arena, &run.settings, &axis->settings[value]);
    }
    if (experiment->seeds.count) add_settings(plan->arena, &run.settings, &experiment->seeds.settings[seed]);
    if (candidate >= 0) add_settings(plan->arena, &run.settings, &design->best.settings[candidate]);
    return run;
}

/* "file:line:column: design 'x' at 16: what", located at the faulty setting if there is one. */
static bool blame(const struct plan *plan, const struct planned_run *run, const char *what, struct error *err) {
    const struct experiment *experiment = plan->experiment;
    const struct lab_design *design = &experiment->designs[run->design];
    struct lab_place place = design->place;
    char label[160], at[176] = "";
    experiment_point_label(experiment, run->point, label, sizeof label);
    if (*label) snprintf(at, sizeof at, " at %s", label);
    for (unsigned i = 0; i < run->settings.count; i++) {
        const struct lab_setting *setting = &run->settings.setting[i];
        char *start = text_format("--set %s=%s", setting->key, setting->value);
        if (strncmp(what, start, strlen(start)) == 0) place = setting->place;
        free(start);
    }
    return error_at(err, experiment->path, place.line, place.column, "design '%s'%s: %s", design->name, at, what);
}

/* The effective configuration. A file that another run writes is represented by the identity of that run. */
static struct config *build(const struct plan *plan, const struct planned_run *run, const char *after,
                            struct error *err) {
    struct error found = {0};
    unsigned count = run->settings.count;
    const char **settings = mem_alloc(count + 1, sizeof *settings);
    for (unsigned i = 0; i < count; i++)
        settings[i] = text_format("%s=%s", run->settings.setting[i].key, run->settings.setting[i].value);
    const struct lab_design *design = &plan->experiment->designs[run->design];
    if (after) settings[count++] = text_format("%s=%s", design->uses_reads, after);
    struct config *config = config_build(run->gpu, run->base, settings, count, &found);
    if (!config) blame(plan, run, found.text, err);
    while (count > 0) free((void *)(uintptr_t)settings[--count]);
    free(settings);
    return config;
}

/* Checks that the machine can be built, and collects its counters. The file of another run does not exist yet and is
 * omitted. */
static bool try_machine(const struct plan *plan, const struct planned_run *run, struct counters *counters,
                        struct error *err) {
    struct error found = {0};
    struct config *config = build(plan, run, NULL, err);
    unsigned programs = plan->experiment->workloads[run->workload].programs;
    struct machine *machine = config ? machine_create_for(programs, config, &found) : NULL;
    if (!machine) {
        config_destroy(config);
        return found.set ? blame(plan, run, found.text, err) : false;
    }
    const struct stats *stats = machine_stats(machine);
    for (unsigned i = 0; i < stats_count(stats); i++) {
        char name[128];
        stats_name(stats, i, name, sizeof name);
        unsigned k = 0;
        while (k < counters->count && strcmp(counters->names[k], name) != 0) k++;
        if (k == counters->count)
            *(const char **)ARENA_APPEND(counters->arena, counters->names, counters->count) =
                arena_text(counters->arena, name, strlen(name));
    }
    machine_destroy(machine);
    config_destroy(config);
    return true;
}

static bool check_metrics(const struct plan *plan, struct counters *counters, struct error *err) {
    for (unsigned i = 0; i < COUNT_OF(results); i++)
        *(const char **)ARENA_APPEND(counters->arena, counters->names, counters->count) = results[i];
    for (unsigned m = 0; m < plan->experiment->metric_count; m++) {
        const struct lab_metric *metric = &plan->experiment->metrics[m];
        unsigned at;
        const char *name;
        for (unsigned n = 0; (name = expression_name(metric->value, n, &at)); n++) {
            unsigned k = 0;
            if (plan_alone_name(name)) name = plan_alone_name(name);
            while (k < counters->count && strcmp(counters->names[k], name) != 0) k++;
            if (k < counters->count || plan_is_result(name)) continue;
            const char *near = nearest_name(name, counters->names, counters->count);
            return error_at(err, plan->experiment->path, metric->place.line, metric->place.column + at,
                            "metric '%s': no counter called '%.80s'; %s%s%s", metric->name, name,
                            near ? "did you mean '" : "`sluice list stats` lists the counters", near ? near : "",
                            near ? "'?" : "");
        }
    }
    return true;
}

/* --- all runs --- */

/* "mm:small"; a generated stream depends on the configuration. */
static const char *program_job(const struct plan *plan, const struct lab_workload *workload, unsigned index,
                               const char *size, const struct config *config, struct error *err) {
    const struct lab_program *program = &workload->program[index];
    struct error found = {0};
    if (program->file) return program->name;
    char *job =
        program->size ? text_format("%s:%s", program->name, size ? size : program->size) : mem_text(program->name);
    struct stream_source *source = program->size ? work_open(job, false, &found) : workload_open(config, job, &found);
    const char *kept = arena_text(plan->arena, job, strlen(job));
    free(job);
    if (source) source->ops->destroy(source);
    if (source) return kept;
    error_at(err, plan->experiment->path, workload->place.line, workload->place.column, "%s", found.text);
    return NULL;
}

/* "mm:small + va:small". */
static const char *job_of(const struct plan *plan, const struct lab_workload *workload, const char *size,
                          const struct config *config, struct error *err) {
    const char *first = program_job(plan, workload, 0, size, config, err);
    if (!first || workload->programs == 1) return first;
    const char *second = program_job(plan, workload, 1, size, config, err);
    if (!second) return NULL;
    char *both = text_format("%s + %s", first, second);
    const char *kept = arena_text(plan->arena, both, strlen(both));
    free(both);
    return kept;
}

static bool keep_configuration(struct plan *plan, const struct config *config, struct error *err) {
    size_t length;
    FILE *out = text_open(&plan->configuration, &length, err);
    if (!out) return false;
    config_write_yaml(config, false, out);
    return text_close(out, &plan->configuration, err);
}

static int setting_order(const void *a, const void *b) {
    const struct lab_setting *const *x = a, *const *y = b;
    int order = strcmp((*x)->key, (*y)->key);
    return order ? order : *x < *y ? -1 : *x > *y;
}

/* Of several settings of a parameter the last one counts. */
static const char *settings_text(struct arena *arena, const struct lab_settings *settings) {
    const struct lab_setting **sorted = mem_alloc(settings->count, sizeof *sorted);
    char *text = mem_text("");
    for (unsigned i = 0; i < settings->count; i++) sorted[i] = &settings->setting[i];
    if (settings->count) qsort(sorted, settings->count, sizeof(struct lab_setting *), setting_order);
    for (unsigned i = 0; i < settings->count; i++) {
        if (i + 1 < settings->count && strcmp(sorted[i]->key, sorted[i + 1]->key) == 0) continue;
        char *longer = text_format("%s%s%s=%s", text, *text ? "; " : "", sorted[i]->key, sorted[i]->value);
        free(text);
        text = longer;
    }
    const char *kept = arena_text(arena, text, strlen(text));
    free(text);
    free(sorted);
    return kept;
}

/* The job is known; a file is represented by its content. */
static void set_key(struct plan *plan, struct planned_run *run) {
    run->asked = settings_text(plan->arena, &run->settings);
    char *text = text_format("%s\n%s\n%s\n%s\n%llu %llu\n%s\n%s", run->file ? run->file->content : run->job, run->gpu,
                             run->base ? run->base : "", run->asked, (unsigned long long)run->max_insts,
                             (unsigned long long)run->sample_cycles, run->sample_units ? run->sample_units : "",
                             run->after >= 0 ? plan->runs[run->after].key : "");
    identity_of_text(text, run->key);
    free(text);
}

/* Sets the identity of a run. A file is represented by its content. */
static void identify(struct planned_run *run, const struct config *config, const char *after) {
    char content[80];
    if (run->file) snprintf(content, sizeof content, "sluice run %s %s", run->file->option, run->file->content);
    identity_of(config, run->file ? content : run->job, run->max_insts, run->sample_cycles, run->sample_units, after,
                run->identity);
}

/* The record of a setting of a design. */
static struct planned_setting *setting_record(struct plan *plan, unsigned design, const struct lab_setting *setting) {
    for (unsigned i = 0; i < plan->setting_count; i++)
        if (plan->settings[i].design == design && strcmp(plan->settings[i].key, setting->key) == 0)
            return &plan->settings[i];
    struct planned_setting *record = ARENA_APPEND(plan->arena, plan->settings, plan->setting_count);
    *record = (struct planned_setting){.key = setting->key, .design = design, .place = setting->place, .because = ""};
    return record;
}

/* Whether the configuration uses the parameter, and if not, why. */
static bool is_used(const struct plan *plan, const struct config *config, const char *key, const char **because) {
    struct config_entry entry, choice;
    for (unsigned i = 0; i < config_entry_count(config); i++) {
        config_entry_at(config, i, &entry);
        if (strcmp(entry.key, key) != 0) continue;
        if (!entry.in_use && config_find_choice(config, &entry, &choice)) {
            char *text = text_format("%s is %s", choice.key, choice.value);
            *because = arena_text(plan->arena, text, strlen(text));
            free(text);
        }
        return entry.in_use;
    }
    return true;
}

/* Notes which settings of a run take effect. `rebuilt`: the configuration is another than that of the previous run. */
static void note_settings(struct plan *plan, const struct planned_run *run, const struct config *config, bool rebuilt) {
    static const char generated[] = "workload."; /* parameters of generated streams */
    const struct lab_workload *workload = &plan->experiment->workloads[run->workload];
    struct lab_place drawn =
        plan->experiment->seeds.place; /* of a number of seeds: not every machine has what they draw */
    for (unsigned i = 0; i < run->settings.count; i++) {
        struct lab_place place = run->settings.setting[i].place;
        if (place.line == drawn.line && place.column == drawn.column) continue;
        struct planned_setting *record = setting_record(plan, run->design, &run->settings.setting[i]);
        bool stream = strncmp(record->key, generated, strlen(generated)) == 0;
        if (record->used || (!stream && !rebuilt)) continue;
        if (!stream) {
            record->used = is_used(plan, config, record->key, &record->because);
            continue;
        }
        record->because = "it is for generated streams (synth:NAME)";
        for (unsigned p = 0; p < workload->programs; p++)
            record->used |= !workload->program[p].size && !workload->program[p].file;
    }
}

/* The run of every workload. */
static bool plan_cell(struct plan *plan, const char *size, unsigned design_index, unsigned point, unsigned seed,
                      int candidate, struct counters *counters, struct error *err) {
    const struct experiment *experiment = plan->experiment;
    const struct lab_design *design = &experiment->designs[design_index];
    struct config *config = NULL;
    bool good = true, own_before = false;
    unsigned tried = 0; /* largest number of programs so far */
    for (unsigned w = 0; good && w < experiment->workload_count; w++) {
        unsigned index = plan_find(plan, w, design_index, point, seed, candidate);
        struct planned_run *run = &plan->runs[index];
        const char *after = NULL;
        *run = make_run(plan, w, design_index, point, seed, candidate);
        if (design->uses >= 0) {
            run->after = (int)plan_find(plan, w, (unsigned)design->uses, point, seed, -1);
            after = plan->runs[run->after].identity;
        }
        bool own = experiment->workloads[w].settings.count > 0, rebuilt = after || own || own_before || !config;
        if (rebuilt) { /* otherwise the same as for the previous workload */
            config_destroy(config);
            config = build(plan, run, after, err);
        }
        unsigned programs = experiment->workloads[w].programs;
        good = config && ((tried >= programs && !own) || try_machine(plan, run, counters, err));
        if (programs > tried) tried = programs;
        own_before = own;
        if (good) good = (run->job = job_of(plan, &experiment->workloads[w], size, config, err)) != NULL;
        run->file = experiment->workloads[w].program[0].file;
        if (good) identify(run, config, after);
        if (good) set_key(plan, run);
        if (good) note_settings(plan, run, config, rebuilt);
        if (good && index == 0) good = keep_configuration(plan, config, err);
    }
    config_destroy(config);
    return good;
}

/* Each program of every workload alone, after the runs of cells. */
static bool plan_alone(struct plan *plan, const char *size, struct error *err) {
    const struct experiment *experiment = plan->experiment;
    unsigned seeds = experiment_seeds(experiment), repeated = experiment_points(experiment) * seeds;
    const struct lab_design *design = &experiment->designs[experiment->alone];
    if (design->uses >= 0 || design->best.count)
        return error_at(err, experiment->path, design->place.line, design->place.column,
                        "programs cannot run alone under design '%s', which has best or uses", design->name);
    for (unsigned w = 0; w < experiment->workload_count; w++)
        for (unsigned r = 0; r < repeated; r++)
            for (unsigned i = 0; i < experiment->workloads[w].programs; i++) {
                plan->alone[(w * repeated + r) * PROGRAMS_MAX + i] = (int)plan->count;
                struct planned_run *run = &plan->runs[plan->count++];
                *run = make_run(plan, w, experiment->alone, r / seeds, r % seeds, -1);
                struct config *config = build(plan, run, NULL, err);
                if (config) run->job = program_job(plan, &experiment->workloads[w], i, size, config, err);
                run->file = experiment->workloads[w].program[i].file;
                if (run->job) identify(run, config, NULL);
                config_destroy(config);
                if (!run->job) return false;
                set_key(plan, run);
            }
    return true;
}

/* Designs without `uses` first: the others need their identities. */
static bool plan_cells(struct plan *plan, const char *size, struct error *err) {
    const struct experiment *experiment = plan->experiment;
    struct counters counters = {.arena = plan->arena};
    unsigned seeds = experiment_seeds(experiment);
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned d = 0; d < experiment->design_count; d++) {
            const struct lab_design *design = &experiment->designs[d];
            if ((design->uses >= 0) != (pass == 1)) continue;
            for (unsigned r = 0; r < experiment_points(experiment) * seeds; r++)
                for (unsigned c = 0; c < candidates_of(design); c++)
                    if (!plan_cell(plan, size, d, r / seeds, r % seeds, design->best.count ? (int)c : -1, &counters,
                                   err))
                        return false;
        }
    return check_metrics(plan, &counters, err);
}

struct plan *plan_create(const struct experiment *experiment, const char *size, struct error *err) {
    if (size) size = work_size_name(size);
    struct arena *arena = arena_create();
    struct plan *plan = arena_alloc(arena, 1, sizeof *plan);
    *plan = (struct plan){.experiment = experiment, .arena = arena};
    uint64_t count = 0;
    for (unsigned i = 0; i < experiment->design_count; i++) count += candidates_of(&experiment->designs[i]);
    unsigned cells = experiment->workload_count * experiment_points(experiment) * experiment_seeds(experiment);
    count *= cells;
    bool alone = asks_alone(experiment);
    unsigned most = cells * PROGRAMS_MAX; /* runs alone */
    bool good = count <= RUNS_MAX || error_at(err, experiment->path, 1, 1, "the experiment has %llu runs, more than %d",
                                              (unsigned long long)count, RUNS_MAX);
    if (good) {
        plan->count = (unsigned)count;
        plan->runs = arena_alloc(arena, plan->count + (alone ? most : 0), sizeof *plan->runs);
        good = plan_cells(plan, size, err);
    }
    if (good && alone) {
        plan->alone = arena_alloc(arena, most, sizeof *plan->alone);
        for (unsigned i = 0; i < most; i++) plan->alone[i] = -1;
        good = plan_alone(plan, size, err);
    }
    if (good) return plan;
    plan_free(plan);
    return NULL;
}

void plan_free(struct plan *plan) {
    if (!plan) return;
    free(plan->configuration);
    arena_destroy(plan->arena);
}
