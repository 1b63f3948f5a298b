/* papers.yaml maps short names to papers. results.csv and measurements.csv have comma-separated values (base/csv.h); a
 * row is one line. */
#include "lab/papers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/csv.h"
#include "config/catalogue.h"
#include "config/yaml_reader.h"

/* --- papers.yaml --- */

struct reading {
    struct papers *papers;
    struct yaml_reader yaml;
};

static bool read_title(struct yaml_reader *yaml, void *user, void *to) {
    return yaml_read_text(yaml, ((struct papers *)user)->arena, to);
}

static const struct yaml_key paper_keys[] = {
    {.param = {.name = "title", .offset = offsetof(struct paper, title)}, .read = read_title},
};
static const struct yaml_form paper_form = {"a paper", paper_keys, COUNT_OF(paper_keys)};

static bool read_paper(void *user, const char *name, yaml_mark_t mark) {
    struct reading *reading = user;
    struct papers *papers = reading->papers;
    if (papers_index(papers, name) >= 0)
        return yaml_blame(&reading->yaml, mark, "duplicate paper '%s'", yaml_show(name).text);
    struct paper *paper = ARENA_APPEND(papers->arena, papers->papers, papers->paper_count);
    *paper = (struct paper){.name = arena_text(papers->arena, name, strlen(name))};
    if (!yaml_next(&reading->yaml) || !yaml_read_form(&reading->yaml, &paper_form, papers, paper, NULL)) return false;
    return paper->title || yaml_blame(&reading->yaml, mark, "paper '%s' has no title", yaml_show(name).text);
}

static bool read_papers(struct papers *papers, const char *path, const char *text, size_t bytes, struct error *err) {
    struct reading reading = {.papers = papers};
    struct yaml_reader *yaml = &reading.yaml;
    yaml_reader_open(yaml, path, text, bytes, err);
    bool good = yaml_read_head(yaml);
    if (good && yaml->event.type != YAML_MAPPING_START_EVENT)
        good = yaml_blame(yaml, yaml->at, "expected papers by short name (adaptive: {title: ...})");
    good = good && yaml_read_pairs(yaml, read_paper, &reading) && yaml_read_tail(yaml);
    yaml_reader_close(yaml);
    return good;
}

/* --- results.csv --- */

enum { COLUMNS = sizeof(struct paper_result) / sizeof(const char *) };

/* Splits the next row, number `row` from 1, into its columns; the first must have their names. */
static bool take_row(const char *path, unsigned row, char **text, const char *const *names, unsigned count,
                     const char **field, struct error *err) {
    char end = ',';
    for (unsigned i = 0; i < count; i++) {
        if (end != ',') return error_at(err, path, row, 1, "this row has %u of %u columns", i, count);
        field[i] = csv_take(text, &end);
    }
    if (end == ',') return error_at(err, path, row, 1, "this row has more than %u columns", count);
    for (unsigned i = 0; row == 1 && i < count; i++)
        if (strcmp(field[i], names[i]) != 0)
            return error_at(err, path, row, 1, "column %u is '%s', expected '%s'", i + 1, field[i], names[i]);
    return true;
}

static bool read_rows(struct papers *papers, const char *path, char *text, struct error *err) {
    static const char *const names[COLUMNS] = {
#define X(name) #name,
        PAPER_COLUMNS(X)
#undef X
    };
    for (unsigned row = 1; *text; row++) {
        const char *field[COLUMNS];
        if (!take_row(path, row, &text, names, COLUMNS, field, err)) return false;
        if (row == 1) continue;
        struct paper_result *result = ARENA_APPEND(papers->arena, papers->results, papers->count);
        memcpy(result, field, sizeof field);
        if (papers_index(papers, result->paper) < 0)
            return error_at(err, path, row, 1, "unknown paper '%s'; papers.yaml in the same directory lists them all",
                            result->paper);
    }
    return true;
}

/* --- measurements.csv --- */

static bool read_measurements(struct papers *papers, const char *path, char *text, struct error *err) {
    enum { GPU, MEASUREMENT, VALUE, UNIT, SOURCE, COUNT };
    static const char *const names[COUNT] = {"gpu", "measurement", "value", "unit", "source"};
    for (unsigned row = 1; *text; row++) {
        const char *field[COUNT];
        if (!take_row(path, row, &text, names, COUNT, field, err)) return false;
        if (row == 1) continue;
        char *id = text_format("%s %s", field[GPU], field[MEASUREMENT]);
        if (papers_find(papers, id)) error_at(err, path, row, 1, "duplicate measurement '%s'", id);
        struct paper_result *result = ARENA_APPEND(papers->arena, papers->results, papers->count);
        *result = (struct paper_result){.id = arena_text(papers->arena, id, strlen(id)),
                                        .paper = "",
                                        .where = field[SOURCE],
                                        .workloads = "",
                                        .metric = field[MEASUREMENT],
                                        .scheme = field[GPU],
                                        .baseline = "",
                                        .value = field[VALUE],
                                        .unit = field[UNIT],
                                        .note = ""};
        free(id);
        if (err->set) return false;
    }
    return true;
}

/* A file of the data directory; NULL with an error. */
static char *read_data(struct papers *papers, const char *folder_name, const char *name, char **path, size_t *bytes,
                       struct error *err) {
    char *folder = catalogue_folder(folder_name);
    *path = text_format("%s/%s", folder ? folder : folder_name, name);
    free(folder);
    return arena_file(papers->arena, *path, bytes, err);
}

struct papers *papers_open(struct error *err) {
    struct arena *arena = arena_create();
    struct papers *papers = arena_alloc(arena, 1, sizeof *papers);
    papers->arena = arena;
    char *titles, *results = NULL, *measurements = NULL;
    size_t bytes;
    char *text = read_data(papers, "data/papers", "papers.yaml", &titles, &bytes, err);
    bool good = text && read_papers(papers, titles, text, bytes, err);
    text = good ? read_data(papers, "data/papers", "results.csv", &results, &bytes, err) : NULL;
    good = text && read_rows(papers, results, text, err);
    text = good ? read_data(papers, "data/reference/microbench", "measurements.csv", &measurements, &bytes, err) : NULL;
    good = text && read_measurements(papers, measurements, text, err);
    free(titles);
    free(results);
    free(measurements);
    if (good) return papers;
    papers_close(papers);
    return NULL;
}

void papers_close(struct papers *papers) {
    if (papers) arena_destroy(papers->arena);
}

int papers_index(const struct papers *papers, const char *name) {
    for (unsigned i = 0; i < papers->paper_count; i++)
        if (strcmp(papers->papers[i].name, name) == 0) return (int)i;
    return -1;
}

const struct paper_result *papers_find(const struct papers *papers, const char *id) {
    for (unsigned i = 0; i < papers->count; i++)
        if (strcmp(papers->results[i].id, id) == 0) return &papers->results[i];
    return NULL;
}

double paper_number(const struct paper_result *result) {
    char *end;
    double number = strtod(result->value, &end);
    return *result->value && !*end ? number : NAN;
}
