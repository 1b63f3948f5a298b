#include "lab/kept.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/output.h"
#include "config/catalogue.h"

/* Columns before the values, in their order. */
enum column {
    KEY,
    IDENTITY,
    MODEL,
    CELL,
    WORKLOAD,
    GPU,
    DESIGN,
    SETTINGS,
    SEED,
    MAX_INSTS,
    SAMPLE,
    CHECK,
    SECONDS,
    FIXED
};
static const char *const fixed_names[FIXED] = {
    [KEY] = "key",       [IDENTITY] = "identity", [MODEL] = "model",     [CELL] = "cell", [WORKLOAD] = "workload",
    [GPU] = "gpu",       [DESIGN] = "design",     [SETTINGS] = "set",    [SEED] = "seed", [MAX_INSTS] = "max_insts",
    [SAMPLE] = "sample", [CHECK] = "check",       [SECONDS] = "seconds",
};
static const char units_prefix[] = "units:", launches_name[] = "launches", checksum_name[] = "checksum";
/* Kept for every run, used by metrics or not. */
static const char *const always[] = {"cycles", "thread_instructions", "warp_instructions", "ipc"};

char *kept_path(const char *folder, const struct experiment *experiment, const char *size) {
    char *bundled = folder ? NULL : catalogue_folder("data/results");
    char *path = text_format("%s/%s%s%s.csv",
                             folder    ? folder
                             : bundled ? bundled
                                       : "data/results",
                             experiment->name, size ? "@" : "", size ? size : "");
    free(bundled);
    return path;
}

/* --- values to keep --- */

struct names {
    struct arena *arena;
    const char **name;
    unsigned count;
};

static void add_name(struct names *names, const char *prefix, const char *name) {
    char *text = text_format("%s%s", prefix, name);
    unsigned i = 0;
    while (i < names->count && strcmp(names->name[i], text) != 0) i++;
    if (i == names->count)
        *(const char **)ARENA_APPEND(names->arena, names->name, names->count) =
            arena_text(names->arena, text, strlen(text));
    free(text);
}

static struct names names_of(const struct experiment *experiment, struct arena *arena) {
    struct names names = {.arena = arena};
    for (unsigned i = 0; i < COUNT_OF(always); i++) add_name(&names, "", always[i]);
    for (unsigned m = 0; m < experiment->metric_count; m++) {
        const struct expression *value = experiment->metrics[m].value;
        bool units = experiment->kind == LAB_HEAT || expression_spans_units(value);
        const char *name;
        for (unsigned i = 0; (name = expression_name(value, i, NULL)); i++) {
            if (plan_alone_name(name)) name = plan_alone_name(name);
            add_name(&names, "", name);
            if (units && !plan_is_result(name)) add_name(&names, units_prefix, name);
        }
    }
    for (unsigned d = 0; d < experiment->design_count; d++)
        if (experiment->designs[d].best_for == LAB_KERNEL) add_name(&names, "", launches_name);
    return names;
}

/* --- writing --- */

/* The shortest text with this value. */
static void number_text(double value, char *text, size_t size) {
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

static const char *units_after(const char *name) {
    size_t length = strlen(units_prefix);
    return strncmp(name, units_prefix, length) == 0 ? name + length : NULL;
}

/* A launch is a digest of its kernel, grid and block, then cycles, thread and warp instructions. */
static void write_launches(FILE *out, struct stored_run *run) {
    const struct stored_launch *launches;
    unsigned count = stored_run_launches(run, &launches);
    for (unsigned i = 0; i < count; i++)
        fprintf(out, "%s%08" PRIx64 ":%.0f:%.0f:%.0f", i ? " " : "",
                (uint64_t)XXH3_64bits(launches[i].kernel, strlen(launches[i].kernel)) >> 32, launches[i].cycles,
                launches[i].thread_instructions, launches[i].warp_instructions);
}

char *kept_value(struct stored_run *run, const char *name, struct error *err) {
    char *text, number[40];
    size_t length;
    FILE *out = text_open(&text, &length, err);
    if (!out) return NULL;
    const double *values;
    double value;
    if (strcmp(name, launches_name) == 0) {
        write_launches(out, run);
    } else if (units_after(name)) {
        unsigned count = stored_run_units(run, units_after(name), &values);
        for (unsigned i = 0; i < count; i++) {
            number_text(values[i], number, sizeof number);
            fprintf(out, "%s%s", i ? " " : "", number);
        }
    } else if (stored_run_value(run, name, &value)) {
        number_text(value, number, sizeof number);
        fputs(number, out);
    }
    return text_close(out, &text, err) ? text : NULL;
}

static char *cell_text(const struct plan *plan, const struct planned_run *run) {
    const struct experiment *experiment = plan->experiment;
    const struct lab_design *design = &experiment->designs[run->design];
    char point[256] = "";
    if (experiment->axis_count) experiment_point_label(experiment, run->point, point, sizeof point);
    bool searched = run->candidate >= 0;
    return text_format("%s, %s%s%s%s%s%s%s", experiment->workloads[run->workload].label, design->name,
                       *point ? ", " : "", point, searched ? ", " : "", searched ? design->best.key : "",
                       searched ? "=" : "", searched ? design->best.values[run->candidate] : "");
}

static const char *seed_text(const struct plan *plan, const struct planned_run *run) {
    return plan->experiment->seeds.count ? plan->experiment->seeds.values[run->seed] : "";
}

/* FNV-1a, which a script can compute in three lines. */
static uint64_t checksum(const char *text, size_t length) {
    uint64_t sum = 0xCBF29CE484222325u;
    for (size_t i = 0; i < length; i++) sum = (sum ^ (unsigned char)text[i]) * 0x100000001B3u;
    return sum;
}

/* Writes the fields, then their checksum as the last one. */
static bool write_row(FILE *out, const char *const *fields, unsigned count, struct error *err) {
    char *row;
    size_t length;
    FILE *memory = text_open(&row, &length, err);
    if (!memory) return false;
    for (unsigned i = 0; i < count; i++) csv_write(memory, fields[i], i == 0);
    if (!text_close(memory, &row, err)) return false;
    fprintf(out, "%s,%016" PRIx64 "\n", row, checksum(row, length));
    free(row);
    return true;
}

static bool write_run(FILE *out, const struct plan *plan, const struct planned_run *run, struct stored_run *stored,
                      const struct names *names, struct error *err) {
    char *owned[] = {
        cell_text(plan, run),
        run->max_insts ? text_format("%" PRIu64, run->max_insts) : mem_text(""),
        run->sample_cycles ? text_format("%" PRIu64, run->sample_cycles) : mem_text(""),
        mem_text(stored_run_check(stored)),
        NULL,
    };
    double seconds = 0;
    stored_run_value(stored, "seconds", &seconds);
    owned[4] = text_format("%.2f", seconds);
    const char **fields = mem_alloc(FIXED + names->count, sizeof *fields);
    fields[KEY] = run->key, fields[IDENTITY] = run->identity, fields[MODEL] = identity_model();
    fields[CELL] = owned[0], fields[WORKLOAD] = run->job, fields[GPU] = run->gpu;
    fields[DESIGN] = run->base ? run->base : "", fields[SETTINGS] = run->asked;
    fields[SEED] = seed_text(plan, run);
    fields[MAX_INSTS] = owned[1], fields[SAMPLE] = owned[2], fields[CHECK] = owned[3], fields[SECONDS] = owned[4];
    bool good = true;
    unsigned made = 0;
    for (; made < names->count && good; made++)
        good = (fields[FIXED + made] = kept_value(stored, names->name[made], err)) != NULL;
    good = good && write_row(out, fields, FIXED + names->count, err);
    for (unsigned i = 0; i < made; i++) free((void *)(uintptr_t)fields[FIXED + i]);
    for (unsigned i = 0; i < COUNT_OF(owned); i++) free(owned[i]);
    free(fields);
    return good;
}

/* --- reading --- */

struct table {
    const char *path;
    const char **column; /* names */
    unsigned columns;
    const char ***row; /* fields of each row */
    unsigned rows;
    struct arena *arena;
};

static bool table_row(struct table *table, char **at, unsigned line, struct error *err) {
    char *start = *at, *stop = strchr(start, '\n'), *comma = stop;
    while (comma && comma > start && *comma != ',') comma--;
    uint64_t sum = comma ? checksum(start, (size_t)(comma - start)) : 0;
    const char **fields = arena_alloc(table->arena, table->columns, sizeof *fields);
    char end = ',', expected[24];
    for (unsigned i = 0; i < table->columns; i++) {
        if (end != ',') return error_at(err, table->path, line, 1, "this row has %u of %u columns", i, table->columns);
        fields[i] = csv_take(at, &end);
    }
    if (end == ',') return error_at(err, table->path, line, 1, "this row has more than %u columns", table->columns);
    snprintf(expected, sizeof expected, "%016" PRIx64, sum);
    if (strcmp(fields[table->columns - 1], expected) != 0)
        return error_at(err, table->path, line, 1,
                        "this row does not match its checksum: kept results are written by `sluice lab export --kept`"
                        " and not edited");
    *(const char ***)ARENA_APPEND(table->arena, table->row, table->rows) = fields;
    return true;
}

static bool table_read(struct table *table, struct arena *arena, const char *path, struct error *err) {
    size_t bytes;
    *table = (struct table){.path = path, .arena = arena};
    char *text = arena_file(arena, path, &bytes, err), end = ',';
    if (!text) return false;
    while (end == ',') *(const char **)ARENA_APPEND(arena, table->column, table->columns) = csv_take(&text, &end);
    bool known = table->columns > FIXED && strcmp(table->column[table->columns - 1], checksum_name) == 0;
    for (unsigned i = 0; known && i < FIXED; i++) known = strcmp(table->column[i], fixed_names[i]) == 0;
    if (!known) return error_at(err, path, 1, 1, "not a file of `sluice lab export --kept`");
    for (unsigned line = 2; *text; line++)
        if (!table_row(table, &text, line, err)) return false;
    return true;
}

/* Numbers separated by blanks as a JSON array. */
static void put_units(struct json *json, const char *name, const char *text) {
    json_key(json, name);
    json_array_compact(json);
    for (char *end; *text; text = *end ? end + 1 : end) {
        json_real(json, strtod(text, &end));
        if (end == text) break;
    }
    json_end(json);
}

static void put_launches(struct json *json, const char *text) {
    json_key(json, "kernels");
    json_array(json);
    while (*text) {
        char kernel[16] = "";
        double cycles = 0, threads = 0, warps = 0;
        sscanf(text, "%15[0-9a-f]:%lf:%lf:%lf", kernel, &cycles, &threads, &warps);
        json_object(json);
        json_put_text(json, "name", kernel);
        json_put_text(json, "grid", "");
        json_put_text(json, "block", "");
        json_put_real(json, "cycles", cycles);
        json_put_real(json, "instructions", threads);
        json_put_real(json, "warp_instructions", warps);
        json_end(json);
        text += strcspn(text, " ");
        text += *text == ' ';
    }
    json_end(json);
}

static bool is_always(const char *name) {
    for (unsigned i = 0; i < COUNT_OF(always); i++)
        if (strcmp(name, always[i]) == 0) return true;
    return false;
}

/* A row as the JSON of a run, as far as it was kept. The caller frees it. */
static char *row_json(const struct table *table, const char *const *row, struct error *err) {
    static const struct {
        const char *key;
        enum column column;
    } texts[] = {{"sluice", MODEL}, {"gpu", GPU}, {"design", DESIGN}, {"workload", WORKLOAD}, {"check", CHECK}};
    char *text;
    size_t length;
    FILE *out = text_open(&text, &length, err);
    if (!out) return NULL;
    struct json json;
    json_start(&json, out);
    json_object(&json);
    for (unsigned i = 0; i < COUNT_OF(texts); i++) json_put_text(&json, texts[i].key, row[texts[i].column]);
    for (unsigned pass = 0; pass < 3; pass++) { /* results of the run, counters, units */
        if (pass) json_key(&json, pass == 1 ? "stats" : "units"), json_object(&json);
        for (unsigned i = FIXED; i + 1 < table->columns; i++) {
            const char *name = table->column[i], *units = units_after(name);
            if (!*row[i] || strcmp(name, launches_name) == 0) continue;
            if (pass == 2 && units) put_units(&json, units, row[i]);
            if (pass < 2 && !units && is_always(name) == (pass == 0)) json_put_real(&json, name, strtod(row[i], NULL));
        }
        if (pass) json_end(&json);
    }
    for (unsigned i = FIXED; i + 1 < table->columns; i++)
        if (strcmp(table->column[i], launches_name) == 0) put_launches(&json, row[i]);
    json_key(&json, "host");
    json_object(&json);
    json_put_real(&json, "seconds", strtod(row[SECONDS], NULL));
    json_end(&json);
    json_end(&json);
    json_finish(&json);
    return text_close(out, &text, err) ? text : NULL;
}

static const char *const *row_find(const struct table *table, const char *key) {
    for (unsigned i = 0; i < table->rows; i++)
        if (strcmp(table->row[i][KEY], key) == 0) return table->row[i];
    return NULL;
}

/* --- files that are continued --- */

/* Rows that spare a run its simulation. */
struct earlier {
    struct table *table; /* the file of the experiment, then the others in its folder that have its columns */
    unsigned tables;
    unsigned **column; /* by table, then by name of a value */
    const struct names *names;
    struct arena *arena;
};

/* Adds the file, if it has all values. */
static void add_earlier(struct earlier *earlier, const struct table *table) {
    const struct names *names = earlier->names;
    unsigned *columns = arena_alloc(earlier->arena, names->count, sizeof *columns);
    for (unsigned i = 0; i < names->count; i++) {
        unsigned at = FIXED;
        while (at + 1 < table->columns && strcmp(table->column[at], names->name[i]) != 0) at++;
        if (at + 1 >= table->columns) return;
        columns[i] = at;
    }
    unsigned tables = earlier->tables;
    *(unsigned **)ARENA_APPEND(earlier->arena, earlier->column, tables) = columns;
    *(struct table *)ARENA_APPEND(earlier->arena, earlier->table, earlier->tables) = *table;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* The other files of the folder, in the order of their names. One that is no file of kept results, or is damaged, is
 * omitted: runs that it would spare are simulated. */
static void add_neighbours(struct earlier *earlier, const char *path) {
    const char *slash = strrchr(path, '/'), *own = slash ? slash + 1 : path;
    char *name = slash ? arena_text(earlier->arena, path, (size_t)(slash - path)) : NULL;
    DIR *folder = opendir(name ? name : ".");
    const char **files = NULL;
    unsigned count = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        if (length > 4 && strcmp(entry->d_name + length - 4, ".csv") == 0 && strcmp(entry->d_name, own) != 0)
            *(const char **)ARENA_APPEND(earlier->arena, files, count) =
                arena_text(earlier->arena, entry->d_name, length);
    }
    if (folder) closedir(folder);
    if (count) qsort(files, count, sizeof *files, by_name);
    for (unsigned i = 0; i < count; i++) {
        struct error unread = {0};
        struct table table;
        char *file = text_format("%s/%s", name ? name : ".", files[i]);
        bool good = table_read(&table, earlier->arena, file, &unread);
        free(file);
        table.path = files[i];
        if (good) add_earlier(earlier, &table);
    }
}

static bool earlier_read(struct earlier *earlier, struct arena *arena, const struct names *names, const char *path,
                         struct error *err) {
    struct table table;
    *earlier = (struct earlier){.names = names, .arena = arena};
    if (!path) return true;
    if (access(path, F_OK) == 0) {
        if (!table_read(&table, arena, path, err)) return false;
        add_earlier(earlier, &table);
    }
    add_neighbours(earlier, path);
    return true;
}

/* The row of this model for what a run asks for; `columns` are those of its values. */
static const char *const *earlier_row(const struct earlier *earlier, const char *key, const unsigned **columns) {
    for (unsigned i = 0; i < earlier->tables; i++) {
        const char *const *row = row_find(&earlier->table[i], key);
        if (!row || strcmp(row[MODEL], identity_model()) != 0) continue;
        *columns = earlier->column[i];
        return row;
    }
    return NULL;
}

bool kept_mark(struct plan *plan, const char *path, struct error *err) {
    struct arena *arena = arena_create();
    struct names names = names_of(plan->experiment, arena);
    struct earlier earlier;
    const unsigned *columns;
    bool good = earlier_read(&earlier, arena, &names, path, err);
    for (unsigned i = 0; good && i < plan->count; i++)
        plan->runs[i].kept = earlier_row(&earlier, plan->runs[i].key, &columns) != NULL;
    arena_destroy(arena);
    return good;
}

/* Writes an earlier row as that of a run of this plan, in which its cell and seed may have other names. */
static bool write_earlier(FILE *out, const struct plan *plan, const struct planned_run *run, const char *const *row,
                          const unsigned *columns, unsigned count, struct error *err) {
    char *cell = cell_text(plan, run);
    const char **fields = mem_alloc(FIXED + count, sizeof *fields);
    for (unsigned i = 0; i < FIXED; i++) fields[i] = row[i];
    fields[CELL] = cell, fields[SEED] = seed_text(plan, run);
    for (unsigned i = 0; i < count; i++) fields[FIXED + i] = row[columns[i]];
    bool good = write_row(out, fields, FIXED + count, err);
    free(fields);
    free(cell);
    return good;
}

bool kept_write(const struct plan *plan, struct store *store, const char *before, unsigned *missing, FILE *out,
                struct error *err) {
    struct arena *arena = arena_create();
    struct names names = names_of(plan->experiment, arena);
    struct earlier earlier;
    bool good = earlier_read(&earlier, arena, &names, before, err);
    for (unsigned i = 0; i < FIXED; i++) csv_write(out, fixed_names[i], i == 0);
    for (unsigned i = 0; i < names.count; i++) csv_write(out, names.name[i], false);
    fprintf(out, ",%s\n", checksum_name);
    unsigned without = 0;
    for (unsigned i = 0; i < plan->count && good; i++) {
        const struct planned_run *run = &plan->runs[i];
        unsigned twin = 0; /* the first run with the same key */
        while (strcmp(plan->runs[twin].key, run->key) != 0) twin++;
        if (twin < i) continue;
        struct stored_run *stored = stored_run_get(store, run->identity);
        const unsigned *columns;
        const char *const *row = stored ? NULL : earlier_row(&earlier, run->key, &columns);
        without += !stored && !row;
        if (stored) good = write_run(out, plan, run, stored, &names, err);
        if (row) good = write_earlier(out, plan, run, row, columns, names.count, err);
        stored_run_free(stored);
    }
    arena_destroy(arena);
    if (!good || !store_readable(store, err)) return false;
    if (missing) *missing = without;
    return missing || without == 0 ||
           error_set(
               err,
               "%s: %u of its runs are not in %s; `sluice lab run %s` simulates them, and `--partial` keeps the others",
               plan->experiment->name, without, store_path(store), plan->experiment->name);
}

/* --- opening --- */

bool kept_open(struct kept *kept, const struct plan *plan, const char *path, struct error *err) {
    struct arena *arena = arena_create();
    struct table table;
    *kept = (struct kept){.runs = plan->count, .arena = arena};
    kept->model = arena_alloc(arena, plan->count, sizeof *kept->model);
    kept->seconds = arena_alloc(arena, plan->count, sizeof *kept->seconds);
    kept->value = arena_alloc(arena, plan->count, sizeof *kept->value);
    bool good = table_read(&table, arena, path, err) && (kept->store = store_open_memory(path, err));
    for (unsigned i = FIXED; good && i + 1 < table.columns; i++)
        *(const char **)ARENA_APPEND(arena, kept->name, kept->names) = table.column[i];
    for (unsigned i = 0; i < plan->count && good; i++) {
        const char *const *row = row_find(&table, plan->runs[i].key);
        if (!row) continue;
        char *json = row_json(&table, row, err);
        good = json && store_put(kept->store, plan->runs[i].identity, json, strlen(json), err);
        free(json);
        kept->value[i] = row + FIXED;
        kept->model[i] = row[MODEL];
        kept->seconds[i] = strtod(row[SECONDS], NULL);
        kept->count++;
    }
    if (good) return true;
    kept_close(kept);
    return false;
}

void kept_close(struct kept *kept) {
    store_close(kept->store);
    arena_destroy(kept->arena);
    *kept = (struct kept){0};
}

const char *kept_model(const struct kept *kept) {
    const char *model = "";
    for (unsigned i = 0; i < kept->runs; i++) {
        if (!kept->model[i]) continue;
        if (*model && strcmp(model, kept->model[i]) != 0) return "several";
        model = kept->model[i];
    }
    return model;
}

/* --- times --- */

struct job_time {
    const char *job;
    double seconds;
    uint64_t warp_instructions;
    unsigned runs;
};
struct kept_times {
    struct job_time *times;
    unsigned count;
    struct arena *arena;
};

static void add_times(struct kept_times *all, const char *path) {
    struct error unread = {0};
    struct table table;
    if (!table_read(&table, all->arena, path, &unread)) return;
    for (unsigned i = 0; i < table.rows; i++) {
        unsigned at = 0;
        while (at < all->count && strcmp(all->times[at].job, table.row[i][WORKLOAD]) != 0) at++;
        if (at == all->count)
            ((struct job_time *)ARENA_APPEND(all->arena, all->times, all->count))->job = table.row[i][WORKLOAD];
        all->times[at].seconds += strtod(table.row[i][SECONDS], NULL);
        for (unsigned c = FIXED; c + 1 < table.columns; c++)
            if (strcmp(table.column[c], "warp_instructions") == 0)
                all->times[at].warp_instructions =
                    max_u64(all->times[at].warp_instructions, strtoull(table.row[i][c], NULL, 10));
        all->times[at].runs++;
    }
}

static void add_folder(struct kept_times *all, const char *path, unsigned depth) {
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        if (entry->d_name[0] == '.') continue;
        char *inner = text_format("%s/%s", path, entry->d_name);
        if (length > 4 && strcmp(entry->d_name + length - 4, ".csv") == 0)
            add_times(all, inner);
        else if (depth > 0)
            add_folder(all, inner, depth - 1);
        free(inner);
    }
    if (folder) closedir(folder);
}

struct kept_times *kept_times_open(void) {
    struct arena *arena = arena_create();
    struct kept_times *times = arena_alloc(arena, 1, sizeof *times);
    times->arena = arena;
    char *folder = catalogue_folder("data/results");
    if (folder) add_folder(times, folder, 1);
    free(folder);
    return times;
}

void kept_times_close(struct kept_times *times) {
    if (times) arena_destroy(times->arena);
}

void kept_times_find(const struct kept_times *times, const char *job, double *seconds, uint64_t *warp_instructions) {
    for (unsigned i = 0; i < times->count; i++) {
        const struct job_time *time = &times->times[i];
        if (strcmp(time->job, job) != 0) continue;
        *seconds = time->seconds / time->runs;
        *warp_instructions = time->warp_instructions;
    }
}
