/* Comma-separated values as RFC 4180 has them: fields in double quotes where they hold commas, quotes doubled inside,
 * a row on one line. The file is Sluice's own, so what is wrong with it is told by row only. */
#include "lab/papers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "config/catalogue.h"

enum { COLUMNS = sizeof(struct paper_result) / sizeof(const char *) };

/* The field at *at, unquoted in place; *at moves past the comma or line break that ends it, which goes to *end. */
static const char *take_field(char **at, char *end) {
    char *from = *at, *to = *at, *field = *at;
    bool quoted = *from == '"';
    if (quoted) from++;
    while (*from && (quoted || !strchr(",\n", *from))) {
        if (quoted && *from == '"') {
            if (from[1] != '"') break;
            from++;
        }
        *to++ = *from++;
    }
    if (quoted && *from == '"') from++;
    *end = *from;
    *at = *from ? from + 1 : from;
    *to = '\0';
    return field;
}

static bool read_rows(struct papers *papers, const char *path, char *text, struct error *err) {
    static const char *const names[COLUMNS] = {
#define X(name) #name,
        PAPER_COLUMNS(X)
#undef X
    };
    for (unsigned row = 1; *text; row++) {
        const char *field[COLUMNS];
        char end = ',';
        for (unsigned i = 0; i < COLUMNS; i++) {
            if (end != ',') return error_set(err, "%s: row %u has %u of %d columns", path, row, i, COLUMNS);
            field[i] = take_field(&text, &end);
        }
        if (end == ',') return error_set(err, "%s: row %u has more than %d columns", path, row, COLUMNS);
        for (unsigned i = 0; row == 1 && i < COLUMNS; i++)
            if (strcmp(field[i], names[i]) != 0)
                return error_set(err, "%s: column %u is called '%s', not '%s'", path, i + 1, field[i], names[i]);
        if (row > 1) memcpy(ARENA_APPEND(papers->arena, papers->results, papers->count), field, sizeof field);
    }
    return true;
}

struct papers *papers_open(struct error *err) {
    struct arena *arena = arena_create();
    struct papers *papers = arena_alloc(arena, 1, sizeof *papers);
    papers->arena = arena;
    char *folder = catalogue_folder("data/papers");
    char *path = text_format("%s/results.csv", folder ? folder : "data/papers");
    size_t bytes;
    char *text = arena_file(arena, path, &bytes, err);
    bool good = text && read_rows(papers, path, text, err);
    free(folder);
    free(path);
    if (good) return papers;
    papers_close(papers);
    return NULL;
}

void papers_close(struct papers *papers) {
    if (papers) arena_destroy(papers->arena);
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
