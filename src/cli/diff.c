/* `sluice diff`: what changed between two runs, from the JSON of `sluice run`.
 *
 * Ratios are derived from the counters of each run (diff.def) and sorted by their change: shares in points, others relative to
 * the first run. A counter's effect is its change of logarithm, |ln((b + f) / (a + f))|, with f a thousandth of the
 * largest counter of its component in either run: a counter that goes from 1 to 3 while others count millions has none.
 * A counter that only one of the runs has, because the other one lacks its component, has no change; these come last.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/output.h"
#include "cli/command.h"
#include "cli/report.h"
#include "cli/result.h"
#include "cli/style.h"
#include "lab/expression.h"

enum { RUNS = 2, SHOWN_COUNTERS = 20, SHOWN_SINGLE = 8, SHOWN_SETTINGS = 12 };

struct diff_values {
    const char *json;
    bool all;
};

static const struct option options[] = {
    {"--json", "FILE", OPTION_TEXT, offsetof(struct diff_values, json),
     "write every setting, ratio and counter that differs as JSON (`-`: standard output)"},
    {"--all", NULL, OPTION_FLAG, offsetof(struct diff_values, all),
     "print every counter and parameter that differs, not only those with the largest effects"},
};

/* A value of both runs; NaN where a run does not have it. */
struct row {
    const char *name, *unit;
    double value[RUNS];
    double effect;
};

struct rows {
    struct row *row;
    unsigned count;
};

struct setting {
    const char *name, *text[RUNS];
};

struct diff {
    struct arena *arena;
    const char *file[RUNS];
    const struct json_value *run[RUNS];
    struct rows shares, rates, counters; /* largest effects first */
    struct rows single;                  /* counters of one run only, largest first */
    struct setting *settings;
    unsigned setting_count;
    bool all;
};

/* --- reading --- */

static bool view_value(void *user, const char *name, int unit, double *value) {
    (void)unit;
    *value = result_value(user, name);
    return !isnan(*value);
}

static unsigned view_units(void *user, const char *name) {
    (void)user, (void)name;
    return 0;
}

/* --- differences --- */

static void add_row(struct diff *diff, struct rows *rows, struct row row) {
    *(struct row *)ARENA_APPEND(diff->arena, rows->row, rows->count) = row;
}

static int larger_effect(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->effect != y->effect) return x->effect < y->effect ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void sort_rows(struct rows *rows) {
    if (rows->count) qsort(rows->row, rows->count, sizeof *rows->row, larger_effect);
}

static double relative_change(double a, double b) { return a == b ? 0 : a == 0 ? INFINITY : (b - a) / fabs(a); }

static void add_ratio(struct diff *diff, const char *name, const char *unit, const char *formula) {
    struct row row = {.name = name, .unit = unit};
    struct error err = {0};
    unsigned at;
    struct expression *expression = expression_parse(formula, &at, &err);
    assert(expression); /* diff.def */
    for (unsigned i = 0; i < RUNS; i++) {
        struct expression_view view = {view_value, view_units, (void *)(uintptr_t)diff->run[i]};
        row.value[i] = expression_value(expression, &view);
    }
    expression_free(expression);
    if (isnan(row.value[0]) || isnan(row.value[1])) return;
    bool share = strcmp(unit, "%") == 0;
    row.effect = fabs(share ? row.value[1] - row.value[0] : relative_change(row.value[0], row.value[1]));
    if (row.effect > 0) add_row(diff, share ? &diff->shares : &diff->rates, row);
}

static void find_ratios(struct diff *diff) {
#define RATIO(name, unit, formula) add_ratio(diff, name, unit, formula);
#include "cli/diff.def"
#undef RATIO
    for (const struct json_value *stat = json_member(diff->run[0], "stats")->first; stat; stat = stat->next) {
        static const char prefix[] = "sm.stall.";
        bool issuing = strcmp(stat->key, "sm.issuing") == 0;
        if (!issuing && strncmp(stat->key, prefix, strlen(prefix)) != 0) continue;
        char formula[128], name[96];
        snprintf(formula, sizeof formula, "100 * %s / sm.cycles", stat->key);
        int length = snprintf(name, sizeof name, "SM cycles: %s", issuing ? "issuing" : stat->key + strlen(prefix));
        add_ratio(diff, arena_text(diff->arena, name, (size_t)length), "%", formula);
    }
    sort_rows(&diff->shares);
    sort_rows(&diff->rates);
}

static size_t component_length(const char *name) { return strcspn(name, "."); }

/* The largest counter of the component of `name`, in both runs. */
static double largest_of(const struct diff *diff, const char *name) {
    double largest = 0;
    size_t length = component_length(name);
    for (unsigned i = 0; i < RUNS; i++)
        for (const struct json_value *stat = json_member(diff->run[i], "stats")->first; stat; stat = stat->next)
            if (component_length(stat->key) == length && strncmp(stat->key, name, length) == 0)
                largest = fmax(largest, stat->number);
    return largest;
}

static void add_counter(struct diff *diff, const char *name) {
    struct row row = {
        .name = name, .unit = "", .value = {result_value(diff->run[0], name), result_value(diff->run[1], name)}};
    double floor = largest_of(diff, name) / 1000;
    double a = isnan(row.value[0]) ? 0 : row.value[0], b = isnan(row.value[1]) ? 0 : row.value[1];
    if (a == b) return;
    bool single = isnan(row.value[0]) || isnan(row.value[1]);
    row.effect = single ? fabs(a + b) : fabs(log((b + floor) / (a + floor)));
    add_row(diff, single ? &diff->single : &diff->counters, row);
}

static void find_counters(struct diff *diff) {
    const struct json_value *stats[RUNS] = {json_member(diff->run[0], "stats"), json_member(diff->run[1], "stats")};
    for (const struct json_value *stat = stats[0]->first; stat; stat = stat->next) add_counter(diff, stat->key);
    for (const struct json_value *stat = stats[1]->first; stat; stat = stat->next)
        if (!json_member(stats[0], stat->key)) add_counter(diff, stat->key);
    sort_rows(&diff->counters);
    sort_rows(&diff->single);
}

static const char *setting_text(struct diff *diff, const struct json_value *value) {
    if (!value) return NULL;
    if (value->text) return value->text;
    if (value->kind == JSON_BOOL) return value->number != 0 ? "true" : "false";
    if (value->kind == JSON_NULL) return "none";
    struct error err = {0};
    char *text = NULL;
    size_t length;
    FILE *out = text_open(&text, &length, &err); /* a list of numbers or names */
    if (!out) mem_exhausted();
    for (const struct json_value *item = value->first; item; item = item->next)
        fprintf(out, "%s%s", item == value->first ? "" : ", ", item->text ? item->text : "");
    if (!text_close(out, &text, &err)) mem_exhausted();
    const char *kept = arena_text(diff->arena, text, strlen(text));
    free(text);
    return kept;
}

static void add_setting(struct diff *diff, const char *name) {
    struct setting setting = {.name = name};
    for (unsigned i = 0; i < RUNS; i++)
        setting.text[i] = setting_text(diff, json_member(json_member(diff->run[i], "config"), name));
    if (setting.text[0] && setting.text[1] && strcmp(setting.text[0], setting.text[1]) == 0) return;
    *(struct setting *)ARENA_APPEND(diff->arena, diff->settings, diff->setting_count) = setting;
}

static void find_settings(struct diff *diff) {
    const struct json_value *config[RUNS] = {json_member(diff->run[0], "config"), json_member(diff->run[1], "config")};
    for (const struct json_value *value = config[0]->first; value; value = value->next) add_setting(diff, value->key);
    for (const struct json_value *value = config[1]->first; value; value = value->next)
        if (!json_member(config[0], value->key)) add_setting(diff, value->key);
}

/* --- as text --- */

struct number {
    char text[32];
};

static struct number number_text(double value) {
    struct number number;
    if (isnan(value))
        snprintf(number.text, sizeof number.text, "-");
    else if (value == floor(value) && value >= 0 && value < 1e15)
        snprintf(number.text, sizeof number.text, "%s", grouped((uint64_t)value).text);
    else
        snprintf(number.text, sizeof number.text, "%.*f", fabs(value) < 10 ? 3 : 1, value);
    return number;
}

static struct number change_text(double a, double b) {
    struct number number = {""};
    if (isnan(a) || isnan(b)) return number;
    if (a == b)
        snprintf(number.text, sizeof number.text, "equal");
    else if (a == 0)
        snprintf(number.text, sizeof number.text, "from 0");
    else if (b / a >= 3)
        snprintf(number.text, sizeof number.text, "x %.1f", b / a);
    else
        snprintf(number.text, sizeof number.text, "%+.1f %%", 100 * relative_change(a, b));
    return number;
}

static void print_title(FILE *out, const char *title, const char *change) {
    fprintf(out, "\n%s%-44s %15s %15s  %s%s\n", style(out, STYLE_TITLE), title, "A", "B", change,
            style(out, STYLE_NONE));
}

static void print_row(FILE *out, const char *name, double a, double b) {
    fprintf(out, "  %-42s %15s %15s  %s\n", name, number_text(a).text, number_text(b).text, change_text(a, b).text);
}

static void print_shares(FILE *out, const struct rows *rows, bool all) {
    if (rows->count) print_title(out, "Shares", "change in points");
    for (unsigned i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        if (!all && row->effect < 0.05) break;
        fprintf(out, "  %-42s %13.1f %% %13.1f %%  %+.1f\n", row->name, row->value[0], row->value[1],
                row->value[1] - row->value[0]);
    }
}

/* At most `most` rows; `rest` describes the others. */
static void print_rows(FILE *out, const char *title, const struct rows *rows, unsigned most, const char *change,
                       const char *rest) {
    if (rows->count) print_title(out, title, change);
    for (unsigned i = 0; i < rows->count && i < most; i++) {
        const struct row *row = &rows->row[i];
        char name[64];
        snprintf(name, sizeof name, "%s%s%s", row->name, *row->unit ? ", " : "", row->unit);
        print_row(out, name, row->value[0], row->value[1]);
    }
    if (rows->count > most) fprintf(out, "  %u more%s (--all prints them)\n", rows->count - most, rest);
}

static void print_settings(FILE *out, const struct diff *diff) {
    unsigned most = diff->all ? UINT32_MAX : SHOWN_SETTINGS;
    fprintf(out, "\n%sParameters%s\n", style(out, STYLE_TITLE), style(out, STYLE_NONE));
    if (!diff->setting_count) fprintf(out, "  all equal\n");
    for (unsigned i = 0; i < diff->setting_count && i < most; i++) {
        const struct setting *setting = &diff->settings[i];
        fprintf(out, "  %-42s %15s %15s\n", setting->name, setting->text[0] ? setting->text[0] : "-",
                setting->text[1] ? setting->text[1] : "-");
    }
    if (diff->setting_count > most) fprintf(out, "  %u more (--all prints them)\n", diff->setting_count - most);
}

static void print_diff(FILE *out, const struct diff *diff) {
    for (unsigned i = 0; i < RUNS; i++) {
        const struct json_value *run = diff->run[i], *interrupted = json_member(run, "interrupted");
        fprintf(out, "%c: %s on %s, %s (%s)%s\n", "AB"[i], result_text(run, "workload"), result_text(run, "gpu"),
                *result_text(run, "design") ? result_text(run, "design") : "default", diff->file[i],
                interrupted && interrupted->number != 0 ? ", interrupted" : "");
    }
    print_title(out, "Run", "change");
    static const struct {
        const char *label, *name;
        double scale;
    } totals[] = {{"cycles", "cycles", 1},
                  {"thread instructions", "thread_instructions", 1},
                  {"IPC", "ipc", 1},
                  {"energy, mJ", "energy.total", 1e3}};
    for (unsigned i = 0; i < COUNT_OF(totals); i++)
        print_row(out, totals[i].label, totals[i].scale * result_value(diff->run[0], totals[i].name),
                  totals[i].scale * result_value(diff->run[1], totals[i].name));
    print_shares(out, &diff->shares, diff->all);
    print_rows(out, "Rates", &diff->rates, UINT32_MAX, "change", "");
    print_rows(out, "Counters", &diff->counters, diff->all ? UINT32_MAX : SHOWN_COUNTERS, "change",
               " counters differ, with smaller effects");
    print_rows(out, "Counters of one run only", &diff->single, diff->all ? UINT32_MAX : SHOWN_SINGLE, "", "");
    print_settings(out, diff);
}

/* --- as JSON --- */

static void put_value(struct json *json, const char *key, double value) {
    json_key(json, key);
    if (isnan(value))
        json_raw(json, "null");
    else
        json_real(json, value);
}

static void put_rows(struct json *json, const char *key, const struct rows *rows) {
    json_key(json, key);
    json_array(json);
    for (unsigned i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        json_object_compact(json);
        json_put_text(json, "name", row->name);
        if (*row->unit) json_put_text(json, "unit", row->unit);
        put_value(json, "a", row->value[0]);
        put_value(json, "b", row->value[1]);
        if (!isnan(row->value[0]) && !isnan(row->value[1])) json_put_real(json, "effect", row->effect);
        json_end(json);
    }
    json_end(json);
}

static void put_text_or_null(struct json *json, const char *key, const char *text) {
    json_key(json, key);
    if (text)
        json_text(json, text);
    else
        json_raw(json, "null");
}

static void write_json(FILE *out, const void *what) {
    static const char *const texts[] = {"workload", "gpu", "design"}, *const numbers[] = {"cycles", "ipc"};
    const struct diff *diff = what;
    struct json json;
    json_start(&json, out);
    json_object(&json);
    for (unsigned i = 0; i < RUNS; i++) {
        json_key(&json, i ? "b" : "a");
        json_object_compact(&json);
        json_put_text(&json, "file", diff->file[i]);
        for (unsigned k = 0; k < COUNT_OF(texts); k++)
            json_put_text(&json, texts[k], result_text(diff->run[i], texts[k]));
        for (unsigned k = 0; k < COUNT_OF(numbers); k++)
            json_put_real(&json, numbers[k], result_value(diff->run[i], numbers[k]));
        json_end(&json);
    }
    put_rows(&json, "shares", &diff->shares);
    put_rows(&json, "rates", &diff->rates);
    put_rows(&json, "counters", &diff->counters);
    put_rows(&json, "counters_of_one_run", &diff->single);
    json_key(&json, "parameters");
    json_array(&json);
    for (unsigned i = 0; i < diff->setting_count; i++) {
        json_object_compact(&json);
        json_put_text(&json, "name", diff->settings[i].name);
        put_text_or_null(&json, "a", diff->settings[i].text[0]);
        put_text_or_null(&json, "b", diff->settings[i].text[1]);
        json_end(&json);
    }
    json_end(&json);
    json_end(&json);
    json_finish(&json);
}

static enum status diff_run(const struct command *command, int argc, char **argv) {
    struct diff_values values = {0};
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (arguments.count != RUNS)
        return complain(command, "expected two files, each written by `sluice run ... --json FILE`");
    struct error err = {0};
    if (values.json && !output_check(values.json, &err)) return complain_error(&err);
    struct diff diff = {.arena = arena_create(), .file = {arguments.word[0], arguments.word[1]}, .all = values.all};
    enum status status = STATUS_DONE;
    if ((diff.run[0] = result_read(diff.arena, diff.file[0], &err)) &&
        (diff.run[1] = result_read(diff.arena, diff.file[1], &err))) {
        find_ratios(&diff);
        find_counters(&diff);
        find_settings(&diff);
        if (!values.json || strcmp(values.json, "-") != 0) print_diff(stdout, &diff);
        if (values.json && !output_write(values.json, write_json, &diff, &err))
            status = (complain_error(&err), STATUS_FAILED);
    } else {
        status = complain_error(&err);
    }
    arena_destroy(diff.arena);
    return status;
}

static const char *const details[] = {
    "Compares two results of `sluice run ... --json FILE`, A and B, largest effects first: shares of cycles and accesses by"
    " their change in points, rates by their relative change, counters by the change of their logarithm, where"
    " counters below a thousandth of the largest of their component have little effect. Counters that only one of the runs"
    " has (`counters_of_one_run` in the JSON) and parameters that differ follow. Equal values are omitted.",
    NULL,
};

static const struct example examples[] = {
    {"sluice diff shared.json private.json", "show what a private LLC changes"},
};

const struct command command_diff = {
    .name = "diff",
    .synopsis = "diff A.json B.json [OPTIONS]",
    .summary = "lists the differences between two runs, largest effects first",
    .details = details,
    .options = options,
    .option_count = COUNT_OF(options),
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = diff_run,
};
