#include "lab/experiment_form.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "config/catalogue.h"
#include "sass/list.h"

enum { LIST_MAX = YAML_NAMES_MAX, POINTS_MAX = 4096, SEEDS_MAX = 32 };

/* Words to choose from, in the order of their enums. */
#define WORD(text) \
    &(const struct policy) { .name = text, .help = "" }
#define WORDS(name, noun, ...) \
    static const struct policy *const name##_words[] = {__VA_ARGS__}; \
    const struct family lab_##name##_family = {noun, name##_words, COUNT_OF(name##_words)}
WORDS(draw, "kind of figure", WORD("bars"), WORD("stack"), WORD("lines"), WORD("heat"), WORD("series"), WORD("table"));
WORDS(relation, "relation", WORD("value"), WORD("ratio"), WORD("gain"), WORD("reduction"), WORD("difference"));
WORDS(mean, "mean", WORD("none"), WORD("arithmetic"), WORD("geometric"), WORD("harmonic"));
WORDS(better, "direction", WORD("less"), WORD("more"));
WORDS(statistic, "statistic", WORD("mean"), WORD("maximum"), WORD("minimum"));
WORDS(span, "span", WORD("run"), WORD("kernel"));
WORDS(unused, "treatment", WORD("reported"), WORD("allowed"));

/* --- values --- */

static struct lab_place place_of(const struct yaml_reader *yaml) {
    return (struct lab_place){(unsigned)yaml->at.line + 1, (unsigned)yaml->at.column + 1};
}

static bool read_text(struct yaml_reader *yaml, void *user, void *to) {
    return yaml_read_text(yaml, ((struct reading *)user)->arena, to);
}

static bool read_name(struct yaml_reader *yaml, void *user, void *to) {
    struct text *name = to;
    name->place = place_of(yaml);
    return read_text(yaml, user, &name->text);
}

/* A scalar in the syntax of --set: quoted text stays quoted. */
static const char *scalar_text(struct reading *reading) {
    const char *text = yaml_scalar(reading->yaml);
    if (yaml_is_plain(reading->yaml)) return arena_text(reading->arena, text, strlen(text));
    char *quoted = arena_alloc(reading->arena, 2 * strlen(text) + 3, 1), *to = quoted;
    *to++ = '\'';
    for (; *text; text++) {
        if (*text == '\'') *to++ = '\'';
        *to++ = *text;
    }
    *to = '\'';
    return quoted;
}

/* A parameter's value: a scalar, or a list of them. */
static bool read_value(struct reading *reading, const char **value) {
    struct yaml_reader *yaml = reading->yaml;
    if (yaml->event.type == YAML_SCALAR_EVENT && !yaml_is_nothing(yaml)) {
        *value = scalar_text(reading);
        return true;
    }
    if (yaml->event.type != YAML_SEQUENCE_START_EVENT)
        return yaml_blame(yaml, yaml->at, "expected a parameter value, not %s",
                          yaml_is_nothing(yaml) ? "nothing" : yaml_noun(yaml));
    char *list = text_format("[");
    bool good;
    while ((good = yaml_next(yaml)) && yaml->event.type == YAML_SCALAR_EVENT) {
        char *longer = text_format("%s%s%s", list, list[1] ? ", " : "", scalar_text(reading));
        free(list);
        list = longer;
    }
    if (good && yaml->event.type != YAML_SEQUENCE_END_EVENT)
        good = yaml_blame(yaml, yaml->at, "a list of values cannot contain %s", yaml_noun(yaml));
    char *closed = text_format("%s]", list);
    *value = arena_text(reading->arena, closed, strlen(closed));
    free(list);
    free(closed);
    return good;
}

struct settings_reading {
    struct reading *reading;
    struct lab_settings *settings;
};

static bool settings_pair(void *user, const char *key, yaml_mark_t mark) {
    const struct settings_reading *of = user;
    struct lab_settings *settings = of->settings;
    for (unsigned i = 0; i < settings->count; i++)
        if (strcmp(settings->setting[i].key, key) == 0)
            return yaml_blame_twice(of->reading->yaml, mark, yaml_show(key).text, settings->setting[i].place.line);
    struct lab_setting setting = {.key = arena_text(of->reading->arena, key, strlen(key)),
                                  .place = {(unsigned)mark.line + 1, (unsigned)mark.column + 1}};
    if (!yaml_next(of->reading->yaml) || !read_value(of->reading, &setting.value)) return false;
    *(struct lab_setting *)ARENA_APPEND(of->reading->arena, settings->setting, settings->count) = setting;
    return true;
}

/* The mapping that the current event starts; `pair` reads each entry. */
static bool read_mapping(struct yaml_reader *yaml, const char *what, yaml_pair *pair, void *user) {
    if (yaml->event.type != YAML_MAPPING_START_EVENT)
        return yaml_blame(yaml, yaml->at, "expected %s, not %s", what,
                          yaml_is_nothing(yaml) ? "nothing" : yaml_noun(yaml));
    return yaml_read_pairs(yaml, pair, user);
}

static bool read_settings(struct yaml_reader *yaml, void *user, void *to) {
    return read_mapping(yaml, "settings ({PARAMETER: VALUE})", settings_pair, &(struct settings_reading){user, to});
}

/* --- axes --- */

struct axis_reading {
    struct reading *reading;
    struct lab_axis *axes;
    unsigned count;
    struct lab_axis axis; /* the one being read */
};

static bool axis_add(struct axis_reading *of, const char *value, struct lab_settings settings) {
    struct lab_axis *axis = &of->axis;
    unsigned twin = axis->count;
    for (unsigned i = 0; i < axis->count; i++)
        if (strcmp(axis->values[i], value) == 0)
            return yaml_blame(of->reading->yaml, of->reading->yaml->at, "duplicate value '%s'", yaml_show(value).text);
    if (axis->count == LIST_MAX)
        return yaml_blame(of->reading->yaml, of->reading->yaml->at, "more than %d values", LIST_MAX);
    *(const char **)ARENA_APPEND(of->reading->arena, axis->values, axis->count) = value;
    *(struct lab_settings *)ARENA_APPEND(of->reading->arena, axis->settings, twin) = settings;
    return true;
}

/* One value of a parameter, or one GPU description. */
static bool axis_element(struct yaml_reader *yaml, void *user) {
    struct axis_reading *of = user;
    const char *value;
    struct lab_place place = place_of(yaml);
    struct lab_settings settings = {0};
    if (!read_value(of->reading, &value)) return false;
    if (strcmp(of->axis.key, "gpu") != 0)
        *(struct lab_setting *)ARENA_APPEND(of->reading->arena, settings.setting, settings.count) =
            (struct lab_setting){of->axis.key, value, place};
    return axis_add(of, value, settings);
}

/* One named set of settings. */
static bool axis_set(void *user, const char *name, yaml_mark_t mark) {
    struct axis_reading *of = user;
    struct lab_settings settings = {0};
    (void)mark;
    return yaml_next(of->reading->yaml) && read_settings(of->reading->yaml, of->reading, &settings) &&
           axis_add(of, arena_text(of->reading->arena, name, strlen(name)), settings);
}

static bool axis_pair(void *user, const char *key, yaml_mark_t mark) {
    struct axis_reading *of = user;
    struct yaml_reader *yaml = of->reading->yaml;
    struct lab_place place = {(unsigned)mark.line + 1, (unsigned)mark.column + 1};
    for (unsigned i = 0; i < of->count; i++)
        if (strcmp(of->axes[i].key, key) == 0)
            return yaml_blame_twice(yaml, mark, yaml_show(key).text, of->axes[i].place.line);
    of->axis = (struct lab_axis){.key = arena_text(of->reading->arena, key, strlen(key)), .place = place};
    bool good = yaml_next(yaml) &&
                (yaml->event.type == YAML_MAPPING_START_EVENT ? yaml_read_pairs(yaml, axis_set, of)
                                                              : yaml_read_elements(yaml, key, axis_element, of));
    if (good && of->axis.count == 0) good = yaml_blame(yaml, mark, "'%s' has no values", yaml_show(key).text);
    if (good) *(struct lab_axis *)ARENA_APPEND(of->reading->arena, of->axes, of->count) = of->axis;
    return good;
}

static bool read_axes(struct yaml_reader *yaml, struct axis_reading *of) {
    return read_mapping(yaml, "parameter values ({PARAMETER: [VALUE, ...]})", axis_pair, of);
}

static bool read_sweep(struct yaml_reader *yaml, void *user, void *to) {
    struct reading *reading = user;
    struct axis_reading of = {.reading = reading};
    yaml_mark_t start = yaml->at;
    (void)to;
    bool good = read_axes(yaml, &of);
    reading->experiment->axes = of.axes;
    reading->experiment->axis_count = of.count;
    uint64_t points = 1;
    for (unsigned i = 0; i < of.count && points <= POINTS_MAX; i++) points *= of.axes[i].count;
    return good && (points <= POINTS_MAX || yaml_blame(yaml, start, "the sweep has more than %d points", POINTS_MAX));
}

static bool read_best(struct yaml_reader *yaml, void *user, void *to) {
    struct axis_reading of = {.reading = user};
    yaml_mark_t start = yaml->at;
    if (!read_axes(yaml, &of)) return false;
    if (of.count != 1 || strcmp(of.axes[0].key, "gpu") == 0)
        return yaml_blame(yaml, start, "best takes one parameter with its values: {l1.ways: [2, 4, 6]}");
    *(struct lab_axis *)to = of.axes[0];
    return true;
}

/* --- seeds --- */

/* Another draw of the random address mapping, and another start of every launch relative to the clocks and refreshes of
 * memory: what chance decides in a run. The offset is small, since it is part of the run's time. */
static struct lab_settings seed_settings(struct reading *reading, unsigned seed, struct lab_place place) {
    enum { START_CYCLES = 31 };
    struct lab_settings settings = {0};
    const struct {
        const char *key;
        unsigned value;
    } drawn[] = {{"dram.pae.seed", seed + 1}, {"gpu.launch_cycles", seed * START_CYCLES}};
    for (unsigned i = 0; seed > 0 && i < COUNT_OF(drawn); i++) {
        char number[16];
        int length = snprintf(number, sizeof number, "%u", drawn[i].value);
        *(struct lab_setting *)ARENA_APPEND(reading->arena, settings.setting, settings.count) =
            (struct lab_setting){drawn[i].key, arena_text(reading->arena, number, (size_t)length), place};
    }
    return settings;
}

/* A number of seeds, or named sets of settings. */
static bool read_seeds(struct yaml_reader *yaml, void *user, void *to) {
    struct reading *reading = user;
    struct axis_reading of = {.reading = reading, .axis = {.key = "seeds", .place = place_of(yaml)}};
    yaml_mark_t start = yaml->at;
    (void)to;
    bool good = true;
    if (yaml->event.type == YAML_MAPPING_START_EVENT) {
        good = yaml_read_pairs(yaml, axis_set, &of);
    } else {
        const char *text = "";
        char *end = NULL;
        if (yaml->event.type == YAML_SCALAR_EVENT && !read_value(reading, &text)) return false;
        unsigned long count = strtoul(text, &end, 10);
        if (!*text || *end || count < 2 || count > SEEDS_MAX)
            return yaml_blame(yaml, start,
                              "expected a number of seeds from 2 to %d, or {NAME: {PARAMETER: VALUE}, ...}", SEEDS_MAX);
        for (unsigned i = 0; i < count && good; i++) {
            char name[16];
            int length = snprintf(name, sizeof name, "%u", i + 1);
            good = axis_add(&of, arena_text(reading->arena, name, (size_t)length),
                            seed_settings(reading, i, of.axis.place));
        }
    }
    if (good && of.axis.count < 2) return yaml_blame(yaml, start, "seeds requires at least two, to show a spread");
    reading->experiment->seeds = of.axis;
    return good;
}

/* --- forms --- */

#define KEY(name_, owner, field, read_, help_) \
    { .param = {.name = name_, .offset = offsetof(owner, field), .help = help_}, .read = read_ }
#define ROW(...) \
    { .param = __VA_ARGS__ }
#define FORM(name_, noun_) static const struct yaml_form name_##_form = {noun_, name_##_keys, COUNT_OF(name_##_keys)}

/* --- workloads --- */

static const struct yaml_key workload_keys[] = {
    KEY("workload", struct workload_form, workload, read_name,
        "`NAME` or `NAME:SIZE`; `NAME + NAME`: two concurrent programs; a launch file (`.yaml`), a recording or a"
        " SASS trace (`kernelslist.g`, its directory, or a kernel file), by its path"),
    KEY("name", struct workload_form, name, read_text,
        "label; default: the name of the workload, or of the file without directory and extension; of a `kernelslist.g`"
        " that of its directory"),
    KEY("set", struct workload_form, set, read_settings,
        "`{PARAMETER: VALUE, ...}` for its runs, overriding the designs"),
};
FORM(workload, "a workload");

/* "dir/spmv.yaml" has the name "spmv", "dir/bfs/kernelslist.g" the name "bfs". */
static struct lab_program file_program(struct reading *reading, const char *path) {
    if (sass_is_trace_name(path)) {
        char *owned = sass_name(path);
        const char *kept = arena_text(reading->arena, owned, strlen(owned));
        free(owned);
        return (struct lab_program){.name = kept, .path = path};
    }
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return (struct lab_program){
        .name = arena_text(reading->arena, name, dot && dot > name ? (size_t)(dot - name) : strlen(name)),
        .path = path};
}

/* "mm:small", or a file. */
static struct lab_program read_program(struct reading *reading, const char *word, size_t length) {
    while (length && *word == ' ') word++, length--;
    while (length && word[length - 1] == ' ') length--;
    const char *text = arena_text(reading->arena, word, length);
    if (program_is_file(text)) return file_program(reading, text);
    size_t name = strncmp(text, "synth:", 6) == 0 ? length : strcspn(text, ":");
    return (struct lab_program){.name = arena_text(reading->arena, text, name),
                                .size = text[name] ? text + name + 1 : NULL};
}

/* Programs separated by +. */
static bool read_programs(struct reading *reading, const char *word, struct lab_workload *workload) {
    for (const char *at = word; at; at = strchr(at, '+') ? strchr(at, '+') + 1 : NULL) {
        if (workload->programs == PROGRAMS_MAX)
            return BLAME(reading, workload->place, "%s: at most %d programs run concurrently", word, PROGRAMS_MAX);
        workload->program[workload->programs++] = read_program(reading, at, strcspn(at, "+"));
    }
    for (unsigned i = 0; workload->programs > 1 && i < workload->programs; i++)
        if (workload->program[i].path)
            return BLAME(reading, workload->place,
                         "%s: launch files, recordings and traces run alone; only bundled workloads run concurrently",
                         word);
    char *pair = text_format("%s + %s", workload->program[0].name, workload->program[1].name);
    workload->label =
        workload->programs == 1 ? workload->program[0].name : arena_text(reading->arena, pair, strlen(pair));
    free(pair);
    return true;
}

/* A name, or a form. */
static bool read_workload(struct yaml_reader *yaml, void *user) {
    struct reading *reading = user;
    struct experiment *experiment = reading->experiment;
    struct workload_form form = {.workload.place = place_of(yaml)};
    if (!(yaml->event.type == YAML_MAPPING_START_EVENT ? yaml_read_form(yaml, &workload_form, user, &form, NULL)
                                                       : read_name(yaml, user, &form.workload)))
        return false;
    const char *word = form.workload.text;
    if (!word) return BLAME(reading, form.workload.place, "missing key workload: NAME, NAME:SIZE or a file");
    if (experiment->workload_count == LIST_MAX) return yaml_blame(yaml, yaml->at, "more than %d workloads", LIST_MAX);
    struct lab_workload workload = {
        .settings = form.set, .group = experiment->group_count - 1, .place = form.workload.place};
    if (!read_programs(reading, word, &workload)) return false;
    if (form.name) workload.label = form.name;
    *(struct lab_workload *)ARENA_APPEND(reading->arena, experiment->workloads, experiment->workload_count) = workload;
    return true;
}

static bool group_pair(void *user, const char *key, yaml_mark_t mark) {
    struct reading *reading = user;
    struct experiment *experiment = reading->experiment;
    for (unsigned i = 0; i < experiment->group_count; i++)
        if (strcmp(experiment->groups[i].name, key) == 0)
            return yaml_blame(reading->yaml, mark, "duplicate group '%s'", yaml_show(key).text);
    if (experiment->group_count == LIST_MAX) return yaml_blame(reading->yaml, mark, "more than %d groups", LIST_MAX);
    struct lab_group *group = ARENA_APPEND(reading->arena, experiment->groups, experiment->group_count);
    group->name = arena_text(reading->arena, key, strlen(key));
    return yaml_next(reading->yaml) && yaml_read_elements(reading->yaml, key, read_workload, reading);
}

/* Groups of workloads, or one list. */
static bool read_workloads(struct yaml_reader *yaml, void *user, void *to) {
    struct reading *reading = user;
    struct experiment *experiment = reading->experiment;
    (void)to;
    if (yaml->event.type == YAML_MAPPING_START_EVENT) return yaml_read_pairs(yaml, group_pair, user);
    struct lab_group *group = ARENA_APPEND(reading->arena, experiment->groups, experiment->group_count);
    group->name = "";
    return yaml_read_elements(yaml, "workloads", read_workload, user);
}

/* --- designs --- */

static const struct yaml_key uses_keys[] = {
    KEY("design", struct uses_form, design, read_name,
        "design that runs first, on the same workload at the same point"),
    KEY("writes", struct uses_form, writes, read_name, "parameter of that design that names the file to write"),
    KEY("reads", struct uses_form, reads, read_name, "parameter of this design that names the file to read"),
};
FORM(uses, "uses");

static bool read_uses(struct yaml_reader *yaml, void *user, void *to) {
    struct uses_form *uses = to;
    yaml_mark_t start = yaml->at;
    if (!yaml_read_form(yaml, &uses_form, user, to, NULL)) return false;
    return (uses->design.text && uses->writes.text && uses->reads.text) ||
           yaml_blame(yaml, start, "uses requires design, writes and reads");
}

static const struct yaml_key design_keys[] = {
    KEY("design", struct design_form, base, read_name, "base design (`sluice list designs`, or a YAML file)"),
    KEY("gpu", struct design_form, gpu, read_name, "GPU of this design; default: the experiment's"),
    KEY("set", struct design_form, design.settings, read_settings, "`{PARAMETER: VALUE, ...}`, as for `--set`"),
    KEY("best", struct design_form, design.best, read_best,
        "`{PARAMETER: [VALUE, ...]}`: simulate every value and show the best by the first metric, for each workload and"
        " point"),
    KEY("best_for", struct design_form, best_for, read_name,
        "`run`: best value for the whole run; `kernel`: fastest value for each launch; default: `run`"),
    KEY("uses", struct design_form, uses, read_uses, "a file that a run of another design writes"),
    KEY("help", struct design_form, design.help, read_text, "one-line description"),
};
FORM(design, "a design");

static bool design_add(struct reading *reading, const struct design_form *design) {
    for (unsigned i = 0; i < reading->design_count; i++)
        if (strcmp(reading->designs[i].design.name, design->design.name) == 0)
            return BLAME(reading, design->design.place, "duplicate design '%s'; first given on line %u",
                         yaml_show(design->design.name).text, reading->designs[i].design.place.line);
    if (reading->design_count == LIST_MAX)
        return BLAME(reading, design->design.place, "more than %d designs", LIST_MAX);
    *(struct design_form *)ARENA_APPEND(reading->arena, reading->designs, reading->design_count) = *design;
    return true;
}

static bool design_pair(void *user, const char *key, yaml_mark_t mark) {
    struct reading *reading = user;
    struct design_form design = {
        .design = {.name = arena_text(reading->arena, key, strlen(key)),
                   .place = {(unsigned)mark.line + 1, (unsigned)mark.column + 1}},
    };
    if (!yaml_next(reading->yaml)) return false;
    return (yaml_is_nothing(reading->yaml) || yaml_read_form(reading->yaml, &design_form, user, &design, NULL)) &&
           design_add(reading, &design);
}

/* A bundled design by name; `default` is the GPU description without a design. */
static bool read_design_name(struct yaml_reader *yaml, void *user) {
    struct text name;
    if (!read_name(yaml, user, &name)) return false;
    struct design_form design = {.design = {.name = name.text, .place = name.place}};
    if (strcmp(name.text, "default") != 0) design.base = name;
    return design_add(user, &design);
}

static bool read_designs(struct yaml_reader *yaml, void *user, void *to) {
    (void)to;
    return yaml->event.type == YAML_MAPPING_START_EVENT ? yaml_read_pairs(yaml, design_pair, user)
                                                        : yaml_read_elements(yaml, "designs", read_design_name, user);
}

static const struct yaml_key metric_keys[] = {
    KEY("name", struct metric_form, name, read_name, "name of the metric"),
    KEY("value", struct metric_form, value, read_name, "expression over counters (`sluice list stats`)"),
    KEY("unit", struct metric_form, unit, read_text, "unit of the values, such as `%`"),
    KEY("relative_to", struct metric_form, relative_to, read_name, "baseline design"),
    ROW(P_CHOICE(
        struct metric_form, as, lab_relation_family, "ratio",
        "relation to the baseline: `ratio`, `gain` or `reduction` in per cent, `difference`, or the `value` itself;"
        " default: `ratio`, or `value` without `relative_to`")),
    ROW(P_CHOICE(
        struct metric_form, mean, lab_mean_family, "",
        "mean over workloads: `geometric`, `arithmetic`, `harmonic` or `none`; default: `geometric` for ratios,"
        " gains and reductions, otherwise `arithmetic`")),
    ROW(P_CHOICE(struct metric_form, better, lab_better_family, "more",
                 "direction of improvement: `more` or `less`; default: `more`")),
};
FORM(metric, "a metric");

static bool read_metric(struct yaml_reader *yaml, void *user) {
    struct reading *reading = user;
    struct metric_form *metric = ARENA_APPEND(reading->arena, reading->metrics, reading->metric_count);
    metric->place = place_of(yaml);
    if (!yaml_read_form(yaml, &metric_form, user, metric, NULL)) return false;
    if (!metric->name.text || !metric->value.text)
        return BLAME(reading, metric->place, "a metric requires name and value");
    for (unsigned i = 0; i + 1 < reading->metric_count; i++)
        if (strcmp(reading->metrics[i].name.text, metric->name.text) == 0)
            return BLAME(reading, metric->name.place, "duplicate metric '%s'", yaml_show(metric->name.text).text);
    return reading->metric_count <= LIST_MAX || BLAME(reading, metric->place, "more than %d metrics", LIST_MAX);
}

static bool read_metrics(struct yaml_reader *yaml, void *user, void *to) {
    (void)to;
    return yaml_read_elements(yaml, "metrics", read_metric, user);
}

static const struct yaml_key paper_keys[] = {
    KEY("id", struct paper_form, id, read_name,
        "id in `data/papers/results.csv`, or GPU and measurement of `data/reference/microbench/measurements.csv`"),
    KEY("metric", struct paper_form, metric, read_name, "metric of this experiment; default: the first"),
    KEY("design", struct paper_form, design, read_name, "design that the value is compared with"),
    KEY("group", struct paper_form, group, read_name, "group of workloads; default: all"),
    KEY("workload", struct paper_form, workload, read_name, "single workload"),
    KEY("at", struct paper_form, at, read_name, "point of the sweep; default: all"),
    ROW(P_CHOICE(struct paper_form, as, lab_relation_family, "",
                 "relation as the paper states it; default: the metric's")),
    ROW(P_CHOICE(struct paper_form, statistic, lab_statistic_family, "mean",
                 "over workloads and points: `mean`, `maximum` or `minimum`; default: `mean`")),
};
FORM(paper, "a published value");

static bool read_paper_value(struct yaml_reader *yaml, void *user) {
    struct reading *reading = user;
    struct paper_form *paper = ARENA_APPEND(reading->arena, reading->papers, reading->paper_count);
    paper->place = place_of(yaml);
    if (!yaml_read_form(yaml, &paper_form, user, paper, NULL)) return false;
    return (paper->id.text && paper->design.text) ||
           BLAME(reading, paper->place, "a published value requires id and design");
}

static bool read_paper_values(struct yaml_reader *yaml, void *user, void *to) {
    (void)to;
    return yaml_read_elements(yaml, "paper_values", read_paper_value, user);
}

static const struct yaml_key slurm_keys[] = {
    KEY("partition", struct slurm_form, partition, read_text, "partition"),
    KEY("time", struct slurm_form, time, read_text, "time limit of a task, as for `sbatch --time`"),
    ROW(P_INT(struct slurm_form, memory_mb, 0, 1, 1e9, "MB", "memory of a task")),
};
FORM(slurm, "slurm");

static bool read_slurm(struct yaml_reader *yaml, void *user, void *to) {
    return yaml_read_form(yaml, &slurm_form, user, to, NULL);
}

static const struct yaml_key file_keys[] = {
    KEY("title", struct file_form, title, read_name, "title of the figure"),
    KEY("question", struct file_form, question, read_text, "question that the figure answers"),
    KEY("paper", struct file_form, paper, read_name, "`adaptive`, `icc`, `selrep` or `bypass`"),
    KEY("figure", struct file_form, figure, read_text, "figure of the paper"),
    KEY("gpu", struct file_form, gpu, read_name, "GPU (`sluice list gpus`, or a YAML file); default: " DEFAULT_GPU),
    KEY("size", struct file_form, size, read_name,
        "size of workloads without one; default: `small`; files have one size"),
    KEY("set", struct file_form, set, read_settings, "`{PARAMETER: VALUE, ...}` for all designs, which override them"),
    KEY("workloads", struct file_form, workloads, read_workloads,
        "`[NAME, NAME:SIZE, NAME + NAME, FILE, {...}, ...]` (`sluice list workloads`; a launch file ends in `.yaml`,"
        " a SASS trace in `.g` or `.traceg`, also compressed; any other file is a recording), or groups: `{GROUP: [NAME, ...], ...}`"),
    KEY("designs", struct file_form, designs, read_designs,
        "`{NAME: {...}, ...}`, or `[NAME, ...]` of `sluice list designs` and `default`"),
    KEY("alone", struct file_form, alone, read_name,
        "design under which each program of a workload also runs alone on the whole GPU, for metrics that use"
        " `alone.ipc` or another value of those runs; default: the first design"),
    KEY("sweep", struct file_form, sweep, read_sweep,
        "`{PARAMETER: [VALUE, ...], ...}`, on top of every design; `gpu` sweeps over GPU descriptions, and"
        " `{NAME: {VALUE: {PARAMETER: VALUE, ...}, ...}}` over sets of parameters; several axes form their product"),
    KEY("seeds", struct file_form, seeds, read_seeds,
        "repetitions that differ only by chance, shown as mean and range: a number, or `{NAME: {PARAMETER: VALUE, ...},"
        " ...}`; a number draws other addresses (`dram.pae.seed`) and other start times of launches"
        " (`gpu.launch_cycles`)"),
    KEY("metrics", struct file_form, metrics, read_metrics, "metrics to show"),
    ROW(P_CHOICE(
        struct file_form, draw, lab_draw_family, "bars",
        "`bars` in groups; `stack`: stacked metrics; `lines` over the sweep; `heat`: the metrics of every unit, over"
        " time with `sample`; `series`: the metrics over time; `table`; default: `bars`")),
    KEY("paper_values", struct file_form, paper_values, read_paper_values, "published values to compare with"),
    ROW(P_INT(struct file_form, max_insts, 0, 1, 9e18, "instructions", "limit of each run, as for `--max-insts`")),
    ROW(P_INT(struct file_form, sample, 0, 1, 9e18, "cycles", "sampling interval of time series, as for `--sample`")),
    ROW(P_CHOICE(struct file_form, unused_settings, lab_unused_family, "reported",
                 "settings without effect under a design: `reported` by `lab run`, or `allowed`; default: `reported`")),
    KEY("slurm", struct file_form, slurm, read_slurm, "options of `lab run --slurm`"),
    KEY("note", struct file_form, note, read_text, "note below the figure"),
};
FORM(file, "an experiment");

bool experiment_read_forms(struct reading *reading, struct yaml_reader *yaml) {
    reading->yaml = yaml;
    if (!yaml_read_head(yaml)) return false;
    if (yaml->event.type == YAML_STREAM_END_EVENT || yaml_is_nothing(yaml))
        return yaml_blame(yaml, yaml->at,
                          "the file is empty; an experiment requires title, workloads, designs and metrics");
    return yaml_read_form(yaml, &file_form, reading, &reading->file, NULL) && yaml_read_tail(yaml);
}

const struct experiment_table experiment_tables[EXPERIMENT_TABLES] = {
    {&file_form, "An experiment"}, {&workload_form, "A workload"},
    {&design_form, "A design"},    {&uses_form, "`uses` of a design"},
    {&metric_form, "A metric"},    {&paper_form, "A published value"},
    {&slurm_form, "`slurm`"}};
