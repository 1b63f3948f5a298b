/* Builds an experiment from the forms of its file (experiment_form.h): resolves names and applies defaults. */
#include "lab/experiment.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "config/catalogue.h"
#include "lab/experiment_form.h"
#include "lab/papers.h"
#include "stream/workload.h"
#include "work.h"

/* Index of the word in its family, which is its enum value; `otherwise` if none was given. */
static unsigned word_index(const struct family *family, const struct policy *word, unsigned otherwise) {
    for (unsigned i = 0; i < family->count; i++)
        if (family->members[i] == word) return i;
    return otherwise;
}

/* --- names --- */

/* Index of the word among the names, or -1 with an error. */
static int find_name(struct reading *reading, struct text word, const char *noun, const struct yaml_names *names) {
    for (unsigned i = 0; i < names->count; i++)
        if (strcmp(names->name[i], word.text) == 0) return (int)i;
    char hint[900];
    yaml_names_hint(names, word.text, hint, sizeof hint);
    BLAME(reading, word.place, "no %s called '%s'%s", noun, yaml_show(word.text).text, hint);
    return -1;
}

static int find_design(struct reading *reading, struct text word) {
    struct yaml_names names = {.count = 0};
    for (unsigned i = 0; i < reading->design_count; i++) yaml_names_add(&names, reading->designs[i].design.name);
    return find_name(reading, word, "design", &names);
}

/* A bundled description stays a name; a path is relative to the directory of the experiment. */
static bool find_file(struct reading *reading, struct text word, const char *folder, const char *noun,
                      const char **found) {
    struct error err = {0};
    const char *slash = strrchr(reading->experiment->path, '/');
    char *path = catalogue_find(folder, noun, word.text, &err);
    if (!path) return BLAME(reading, word.place, "%s", err.text);
    *found = word.text;
    if (slash && path[0] != '/' && strcmp(path, word.text) == 0) {
        char *relative =
            text_format("%.*s/%s", (int)(slash - reading->experiment->path), reading->experiment->path, path);
        *found = arena_text(reading->arena, relative, strlen(relative));
        free(relative);
    }
    free(path);
    return true;
}

static bool settle_head(struct reading *reading) {
    struct experiment *experiment = reading->experiment;
    const struct file_form *file = &reading->file;
    struct text gpu = file->gpu.text ? file->gpu : (struct text){.text = DEFAULT_GPU};
    static const struct lab_place start = {1, 1};
    struct {
        const char *key;
        bool given;
    } needed[] = {{"title", file->title.text},
                  {"workloads", experiment->workload_count},
                  {"designs", reading->design_count},
                  {"metrics", reading->metric_count}};
    for (unsigned i = 0; i < COUNT_OF(needed); i++)
        if (!needed[i].given) return BLAME(reading, start, "an experiment requires %s", needed[i].key);
    experiment->title = file->title.text;
    experiment->question = file->question ? file->question : "";
    experiment->figure = file->figure ? file->figure : "";
    experiment->note = file->note ? file->note : "";
    experiment->size = file->size.text ? work_size_name(file->size.text) : "small";
    experiment->settings = file->set;
    experiment->kind = word_index(&lab_draw_family, file->draw, LAB_BARS);
    experiment->max_insts = (uint64_t)file->max_insts;
    experiment->sample_cycles = (uint64_t)file->sample;
    experiment->unused_allowed = word_index(&lab_unused_family, file->unused_settings, 0) == 1;
    experiment->slurm_partition = file->slurm.partition;
    experiment->slurm_time = file->slurm.time;
    experiment->slurm_memory_mb = (uint64_t)file->slurm.memory_mb;
    if (experiment->kind == LAB_LINES && experiment->axis_count == 0)
        return BLAME(reading, start, "draw: lines requires a sweep");
    if (experiment->kind == LAB_SERIES && experiment->sample_cycles == 0)
        return BLAME(reading, start, "draw: series requires sample, the cycles per sample");
    return find_file(reading, gpu, "gpus", "GPU", &experiment->gpu);
}

/* Resolves the GPU descriptions of the sweep. */
static bool settle_axes(struct reading *reading) {
    for (unsigned i = 0; i < reading->experiment->axis_count; i++) {
        struct lab_axis *axis = &reading->experiment->axes[i];
        for (unsigned k = 0; strcmp(axis->key, "gpu") == 0 && k < axis->count; k++)
            if (!find_file(reading, (struct text){axis->values[k], axis->place}, "gpus", "GPU", &axis->values[k]))
                return false;
    }
    return true;
}

/* The path of a file is relative to the directory of the experiment. */
static bool open_file(struct reading *reading, const struct lab_workload *workload, struct lab_program *program) {
    struct error err = {0};
    struct program_file file;
    const char *slash = strrchr(reading->experiment->path, '/');
    char *path = program->path[0] == '/' || !slash ? mem_text(program->path)
                                                   : text_format("%.*s/%s", (int)(slash - reading->experiment->path),
                                                                 reading->experiment->path, program->path);
    bool good = program_file_open(&file, path, &err);
    free(path);
    if (!good && program->path[strcspn(program->path, ":")])
        return BLAME(reading, workload->place, "%s; files have no sizes", err.text);
    if (!good) return BLAME(reading, workload->place, "%s", err.text);
    struct program_file *kept = arena_alloc(reading->arena, 1, sizeof *kept);
    *kept = file;
    kept->path = arena_text(reading->arena, file.path, strlen(file.path));
    kept->workload = arena_text(reading->arena, file.workload, strlen(file.workload));
    program->file = kept;
    program_file_release(&file);
    return true;
}

static bool workload_exists(const char *name, const char *size, struct error *err) {
    struct workload_info info;
    for (unsigned i = 0; !size && i < workload_count(); i++) {
        workload_info_at(i, &info);
        if (strcmp(info.name, name) == 0) return true;
    }
    if (!size) return error_set(err, "there is no workload `%s`; `sluice list workloads` lists them all", name);
    char *job = text_format("%s:%s", name, size);
    struct stream_source *source = work_open(job, false, err);
    free(job);
    if (source) source->ops->destroy(source);
    return source != NULL;
}

static bool same_sizes(const struct lab_workload *a, const struct lab_workload *b) {
    bool same = a->programs == b->programs;
    for (unsigned i = 0; i < a->programs && same; i++)
        same = !a->program[i].size || !b->program[i].size || strcmp(a->program[i].size, b->program[i].size) == 0;
    return same;
}

static bool settle_workloads(struct reading *reading) {
    struct experiment *experiment = reading->experiment;
    for (unsigned i = 0; i < experiment->workload_count; i++) {
        struct lab_workload *workload = &experiment->workloads[i];
        for (unsigned p = 0; p < workload->programs; p++) {
            struct lab_program *program = &workload->program[p];
            struct error err = {0};
            if (program->path && !open_file(reading, workload, program)) return false;
            if (program->path) continue;
            if (!program->size && strncmp(program->name, "synth:", 6) != 0) program->size = experiment->size;
            if (program->size) program->size = work_size_name(program->size);
            if (!workload_exists(program->name, program->size, &err))
                return BLAME(reading, workload->place, "%s", err.text);
        }
        for (unsigned k = 0; k < i; k++)
            if (strcmp(experiment->workloads[k].label, workload->label) == 0 &&
                same_sizes(&experiment->workloads[k], workload))
                return BLAME(reading, workload->place, "duplicate workload %s; first given on line %u%s",
                             workload->label, experiment->workloads[k].place.line,
                             workload->program[0].path ? "; give one of them another name" : "");
    }
    return true;
}

/* The span of a search: a run or a kernel. */
static bool settle_span(struct reading *reading, const struct design_form *form, struct lab_design *design) {
    struct yaml_names names = {.count = 0};
    if (!form->best_for.text) return true;
    for (unsigned i = 0; i < lab_span_family.count; i++) yaml_names_add(&names, lab_span_family.members[i]->name);
    int span = find_name(reading, form->best_for, lab_span_family.noun, &names);
    if (span < 0) return false;
    design->best_for = (enum lab_span)span;
    if (!design->best.count)
        return BLAME(reading, form->best_for.place, "best_for requires best, the values to search");
    for (unsigned i = 0; design->best_for == LAB_KERNEL && i < reading->experiment->workload_count; i++)
        if (reading->experiment->workloads[i].programs > 1)
            return BLAME(reading, form->best_for.place,
                         "best_for: kernel does not apply to %s: its kernels run concurrently",
                         reading->experiment->workloads[i].label);
    return true;
}

static bool settle_design(struct reading *reading, struct design_form *form, struct lab_design *design) {
    *design = form->design;
    design->uses = -1;
    if (!design->help) design->help = "";
    if (form->base.text && !find_file(reading, form->base, "designs", "design", &design->base)) return false;
    if (form->gpu.text && !find_file(reading, form->gpu, "gpus", "GPU", &design->gpu)) return false;
    for (unsigned i = 0; form->gpu.text && i < reading->experiment->axis_count; i++)
        if (strcmp(reading->experiment->axes[i].key, "gpu") == 0)
            return BLAME(reading, form->gpu.place, "gpu conflicts with the sweep over GPUs");
    if (!settle_span(reading, form, design)) return false;
    if (!form->uses.design.text) return true;
    design->uses = find_design(reading, form->uses.design);
    design->uses_writes = form->uses.writes.text;
    design->uses_reads = form->uses.reads.text;
    if (design->uses < 0) return false;
    const struct design_form *used = &reading->designs[design->uses];
    if (used->design.best.count || used->uses.design.text)
        return BLAME(reading, form->uses.design.place, "a design with best or uses cannot be used by another");
    return true;
}

static bool settle_designs(struct reading *reading) {
    struct experiment *experiment = reading->experiment;
    experiment->design_count = reading->design_count;
    experiment->designs = arena_alloc(reading->arena, reading->design_count, sizeof *experiment->designs);
    for (unsigned i = 0; i < reading->design_count; i++)
        if (!settle_design(reading, &reading->designs[i], &experiment->designs[i])) return false;
    if (!reading->file.alone.text) return true;
    int alone = find_design(reading, reading->file.alone);
    experiment->alone = (unsigned)alone;
    return alone >= 0;
}

static bool settle_metric(struct reading *reading, const struct metric_form *form, struct lab_metric *metric) {
    struct error err = {0};
    unsigned at;
    struct lab_place place = form->value.place;
    *metric = (struct lab_metric){.name = form->name.text,
                                  .unit = form->unit ? form->unit : "",
                                  .baseline = -1,
                                  .place = place,
                                  .more_is_better = word_index(&lab_better_family, form->better, 1)};
    metric->value = expression_parse(form->value.text, &at, &err);
    place.column += metric->value ? 0 : at;
    if (!metric->value) return BLAME(reading, place, "%s", err.text);
    metric->relation = word_index(&lab_relation_family, form->as, form->relative_to.text ? LAB_RATIO : LAB_PLAIN);
    bool compared = metric->relation != LAB_PLAIN && metric->relation != LAB_DIFFERENCE;
    metric->mean = word_index(&lab_mean_family, form->mean, compared ? LAB_MEAN_GEOMETRIC : LAB_MEAN_ARITHMETIC);
    if (metric->relation != LAB_PLAIN && !form->relative_to.text)
        return BLAME(reading, form->place, "'as: %s' requires relative_to, the baseline design", form->as->name);
    if (form->relative_to.text) metric->baseline = find_design(reading, form->relative_to);
    return !form->relative_to.text || metric->baseline >= 0;
}

static bool settle_metrics(struct reading *reading) {
    struct experiment *experiment = reading->experiment;
    experiment->metrics = arena_alloc(reading->arena, reading->metric_count, sizeof *experiment->metrics);
    experiment->metric_count = reading->metric_count;
    for (unsigned i = 0; i < reading->metric_count; i++)
        if (!settle_metric(reading, &reading->metrics[i], &experiment->metrics[i])) return false;
    return true;
}

/* --- papers --- */

/* Index of a workload, a group or a point; -1 if none is given; *good is false if it does not exist. */
static int find_member(struct reading *reading, struct text word, const char *noun, const struct yaml_names *names,
                       bool *good) {
    int found = word.text ? find_name(reading, word, noun, names) : -1;
    *good &= !word.text || found >= 0;
    return found;
}

static bool settle_cell(struct reading *reading, const struct paper_form *form, struct lab_paper_value *value) {
    const struct experiment *experiment = reading->experiment;
    struct yaml_names metrics = {.count = 0}, groups = metrics, programs = metrics, points = metrics;
    bool good = true;
    for (unsigned i = 0; i < experiment->metric_count; i++) yaml_names_add(&metrics, experiment->metrics[i].name);
    for (unsigned i = 0; i < experiment->group_count; i++) yaml_names_add(&groups, experiment->groups[i].name);
    for (unsigned i = 0; i < experiment->workload_count; i++) yaml_names_add(&programs, experiment->workloads[i].label);
    for (unsigned i = 0; form->at.text && i < experiment_points(experiment); i++) {
        char label[160];
        experiment_point_label(experiment, i, label, sizeof label);
        yaml_names_add(&points, arena_text(reading->arena, label, strlen(label)));
    }
    int metric = find_member(reading, form->metric, "metric", &metrics, &good);
    value->metric = metric < 0 ? 0 : (unsigned)metric;
    value->group = find_member(reading, form->group, "group of workloads", &groups, &good);
    value->workload = find_member(reading, form->workload, "workload", &programs, &good);
    value->point = find_member(reading, form->at, "point of the sweep", &points, &good);
    return good;
}

static bool settle_paper_value(struct reading *reading, const struct papers *papers, const struct paper_form *form,
                               struct lab_paper_value *value) {
    const struct paper_result *result = papers_find(papers, form->id.text);
    value->id = form->id.text;
    if (!result)
        return BLAME(
            reading, form->id.place,
            "no published value has the id '%s'; data/papers/results.csv and data/reference/microbench/measurements.csv list"
            " them all",
            yaml_show(form->id.text).text);
    if (*reading->experiment->paper && strcmp(result->paper, reading->experiment->paper) != 0)
        return BLAME(reading, form->id.place, "%s is a value of paper '%s', but the experiment is of paper '%s'",
                     value->id, result->paper, reading->experiment->paper);
    int design = find_design(reading, form->design);
    if (design < 0 || !settle_cell(reading, form, value)) return false;
    const struct lab_metric *metric = &reading->experiment->metrics[value->metric];
    value->design = (unsigned)design;
    value->relation = word_index(&lab_relation_family, form->as, metric->relation);
    value->statistic = word_index(&lab_statistic_family, form->statistic, LAB_STATISTIC_MEAN);
    return value->relation == LAB_PLAIN || metric->baseline >= 0 ||
           BLAME(reading, form->place, "metric '%s' has no relative_to, which '%s' requires", metric->name,
                 form->as->name);
}

static bool settle_papers(struct reading *reading) {
    struct experiment *experiment = reading->experiment;
    struct text paper = reading->file.paper;
    experiment->paper = paper.text ? paper.text : "";
    experiment->paper_title = "";
    if (!paper.text && reading->paper_count == 0) return true;
    struct papers *papers = papers_open(reading->err);
    if (!papers) return false;
    struct yaml_names names = {.count = 0};
    for (unsigned i = 0; i < papers->paper_count; i++) yaml_names_add(&names, papers->papers[i].name);
    int index = paper.text ? find_name(reading, paper, "paper", &names) : -1;
    bool good = !paper.text || index >= 0;
    if (index >= 0) {
        const char *title = papers->papers[index].title;
        experiment->paper_title = arena_text(reading->arena, title, strlen(title));
    }
    experiment->paper_values = arena_alloc(reading->arena, reading->paper_count, sizeof *experiment->paper_values);
    for (unsigned i = 0; good && i < reading->paper_count; i++)
        good = settle_paper_value(reading, papers, &reading->papers[i], &experiment->paper_values[i]);
    experiment->paper_value_count = reading->paper_count;
    papers_close(papers);
    return good;
}

/* --- the whole --- */

/* "adaptive/fig11" for a file below `experiments`, otherwise the file name alone. */
static const char *name_of(struct arena *arena, const char *path) {
    const char *start = strrchr(path, '/'), *folder = start;
    start = start ? start + 1 : path;
    while (folder && folder > path && folder[-1] != '/') folder--;
    static const char parent[] = "experiments/";
    size_t length = strlen(parent), before = folder ? (size_t)(folder - path) : 0;
    bool bundled = before >= length && strncmp(folder - length, parent, length) == 0 &&
                   (before == length || folder[-(ptrdiff_t)length - 1] == '/');
    if (bundled) start = folder;
    const char *dot = strrchr(start, '.');
    return arena_text(arena, start, dot && dot > start ? (size_t)(dot - start) : strlen(start));
}

struct experiment *experiment_read_text(const char *path, const char *text, size_t length, struct error *err) {
    struct arena *arena = arena_create();
    struct experiment *experiment = arena_alloc(arena, 1, sizeof *experiment);
    experiment->arena = arena;
    experiment->path = arena_text(arena, path, strlen(path));
    experiment->name = name_of(arena, path);
    struct reading reading = {.experiment = experiment, .arena = arena, .err = err};
    struct yaml_reader yaml;
    yaml_reader_open(&yaml, experiment->path, text, length, err);
    bool good = experiment_read_forms(&reading, &yaml);
    yaml_reader_close(&yaml);
    if (good && settle_head(&reading) && settle_axes(&reading) && settle_workloads(&reading) &&
        settle_designs(&reading) && settle_metrics(&reading) && settle_papers(&reading))
        return experiment;
    experiment_free(experiment);
    return NULL;
}

struct experiment *experiment_read(const char *path, struct error *err) {
    struct arena *arena = arena_create();
    size_t bytes;
    char *text = arena_file(arena, path, &bytes, err);
    struct experiment *experiment = text ? experiment_read_text(path, text, bytes, err) : NULL;
    arena_destroy(arena);
    return experiment;
}

struct experiment *experiment_open(const char *word, struct error *err) {
    char *path = catalogue_find("experiments", "experiment", word, err);
    struct experiment *experiment = path ? experiment_read(path, err) : NULL;
    free(path);
    return experiment;
}

void experiment_free(struct experiment *experiment) {
    if (!experiment) return;
    for (unsigned i = 0; i < experiment->metric_count; i++) expression_free(experiment->metrics[i].value);
    arena_destroy(experiment->arena);
}

bool experiment_maps_time(const struct experiment *experiment) {
    return experiment->kind == LAB_HEAT && experiment->sample_cycles;
}

unsigned experiment_points(const struct experiment *experiment) {
    unsigned points = 1;
    for (unsigned i = 0; i < experiment->axis_count; i++) points *= experiment->axes[i].count;
    return points;
}

unsigned experiment_seeds(const struct experiment *experiment) {
    return experiment->seeds.count ? experiment->seeds.count : 1;
}

unsigned experiment_point_value(const struct experiment *experiment, unsigned point, unsigned axis) {
    for (unsigned i = experiment->axis_count - 1; i > axis; i--) point /= experiment->axes[i].count;
    return point % experiment->axes[axis].count;
}

void experiment_point_label(const struct experiment *experiment, unsigned point, char *text, size_t size) {
    size_t used = 0;
    *text = '\0';
    for (unsigned i = 0; i < experiment->axis_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
                                 experiment->axes[i].values[experiment_point_value(experiment, point, i)]);
}
