#include "lab/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/path.h"
#include "lab/kept.h"
#include "lab/past.h"

/* A distinct run of the plans, with the first cell that needs it. */
struct wanted {
    const struct plan *plan;
    const struct planned_run *run;
    const char *writes; /* the parameter that names its output file, if a run of the batch reads it */
    bool stored, needed;
    int place; /* in the batch */
};

/* Distinct identities, an open-addressing hash table. */
struct wish_list {
    struct wanted *wanted;
    unsigned count, slot_count;
    unsigned *slots; /* index + 1 */
};

static unsigned *slot_of(const struct wish_list *list, const char *identity) {
    char head[9];
    snprintf(head, sizeof head, "%.8s", identity);
    unsigned at = (unsigned)strtoul(head, NULL, 16) & (list->slot_count - 1);
    while (list->slots[at] && strcmp(list->wanted[list->slots[at] - 1].run->identity, identity) != 0)
        at = (at + 1) & (list->slot_count - 1);
    return &list->slots[at];
}

static struct wanted *wanted_find(const struct wish_list *list, const char *identity) {
    return &list->wanted[*slot_of(list, identity) - 1];
}

static const struct lab_design *design_of(const struct plan *plan, const struct planned_run *run) {
    return &plan->experiment->designs[run->design];
}

/* Reruns a stored run if another run needs its output file and the file is gone. */
static void need_writers(struct wish_list *list, const char *files) {
    for (unsigned i = 0; i < list->count; i++) {
        struct wanted *reader = &list->wanted[i];
        if (reader->stored || reader->run->after < 0) continue;
        const struct planned_run *run = &reader->plan->runs[reader->run->after];
        struct wanted *writer = wanted_find(list, run->identity);
        writer->writes = design_of(reader->plan, reader->run)->uses_writes;
        char *path = text_format("%s/%s.%s", files, run->identity, writer->writes);
        if (access(path, R_OK) != 0) writer->needed = true;
        free(path);
    }
}

/* Command lines */

static void add_word(struct batch_run *to, char *word) {
    to->words = mem_grow(to->words, to->word_count + 1, sizeof *to->words);
    to->words[to->word_count++] = word;
}

static void add_option(struct batch_run *to, const char *name, char *value) {
    add_word(to, mem_text(name));
    add_word(to, value);
}

void batch_add_option(struct batch *batch, const char *name, const char *value) {
    for (unsigned i = 0; i < batch->count; i++) add_option(&batch->runs[i], name, mem_text(value));
}

/* Makes the path of a description absolute, for runs in another directory. */
static char *description(const char *word) {
    char *path = strchr(word, '/') || strstr(word, ".y") ? path_real(word) : NULL;
    return path ? path : mem_text(word);
}

static char *title_of(const struct plan *plan, const struct planned_run *run) {
    const struct experiment *experiment = plan->experiment;
    const struct lab_design *design = design_of(plan, run);
    char point[256] = "";
    if (experiment->axis_count) experiment_point_label(experiment, run->point, point, sizeof point);
    const char *seed = experiment->seeds.count ? experiment->seeds.values[run->seed] : "";
    return text_format("%s, %s%s%s%s%s%s%s%s%s", run->job, design->name, *point ? ", " : "", point,
                       *seed ? ", seed " : "", seed, run->candidate >= 0 ? ", " : "",
                       run->candidate >= 0 ? design->best.key : "", run->candidate >= 0 ? "=" : "",
                       run->candidate >= 0 ? design->best.values[run->candidate] : "");
}

static void fill(struct batch_run *to, const struct wanted *wanted, const struct wish_list *list) {
    const struct planned_run *run = wanted->run;
    const struct lab_design *design = design_of(wanted->plan, run);
    memcpy(to->identity, run->identity, sizeof to->identity);
    to->job = mem_text(run->job);
    to->workload = mem_text(run->file ? run->file->workload : run->job);
    if (run->file) {
        to->option = mem_text(run->file->option);
        to->path = mem_text(run->file->path);
        to->content = mem_text(run->file->content);
    }
    to->title = title_of(wanted->plan, run);
    to->after = -1;
    to->in_files = wanted->writes || run->after >= 0;
    bool launch = run->file && strcmp(run->file->option, "--launch") == 0;
    to->whole = run->max_insts == 0 &&
                (run->file ? launch || run->file->sass : strncmp(run->job, "synth:", 6) != 0 && !strchr(run->job, '+'));
    add_option(to, "--gpu", to->in_files ? description(run->gpu) : mem_text(run->gpu));
    if (run->base) add_option(to, "--design", to->in_files ? description(run->base) : mem_text(run->base));
    for (unsigned i = 0; i < run->settings.count; i++)
        add_option(to, "--set", text_format("%s=%s", run->settings.setting[i].key, run->settings.setting[i].value));
    if (wanted->writes) add_option(to, "--set", text_format("%s=%s.%s", wanted->writes, run->identity, wanted->writes));
    if (run->after >= 0) {
        const struct planned_run *writer = &wanted->plan->runs[run->after];
        to->after = wanted_find(list, writer->identity)->place;
        add_option(to, "--set", text_format("%s=%s.%s", design->uses_reads, writer->identity, design->uses_writes));
    }
    if (launch) add_word(to, mem_text("--no-dump"));
    if (run->max_insts) add_option(to, "--max-insts", text_format("%llu", (unsigned long long)run->max_insts));
    if (run->sample_cycles) add_option(to, "--sample", text_format("%llu", (unsigned long long)run->sample_cycles));
    for (const char *name = run->sample_units; name && *name; name += *name == ' ') {
        size_t length = strcspn(name, " ");
        add_option(to, "--sample-units", text_format("%.*s", (int)length, name));
        name += length;
    }
}

/* Expected time */

/* A guess for the first run of a workload: precise enough to distinguish seconds from hours. */
static double guess_seconds(const char *job) {
    static const struct {
        const char *part;
        double seconds;
    } sizes[] = {{"synth:", 2}, {":tiny", 0.2}, {":small", 2}};
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        if (strstr(job, sizes[i].part)) return sizes[i].seconds;
    return 300;
}

static void expect(struct batch *batch, struct store *store) {
    struct kept_times *kept = kept_times_open();
    for (unsigned i = 0; i < batch->count; i++) {
        struct batch_run *run = &batch->runs[i], *before = i ? run - 1 : NULL;
        if (before && strcmp(before->workload, run->workload) == 0) {
            run->expected_seconds = before->expected_seconds, run->guessed = before->guessed;
            run->expected_instructions = before->expected_instructions;
            continue;
        }
        struct past past = past_of(store, kept, run->workload);
        run->expected_seconds = past.seconds;
        run->expected_instructions = past.warp_instructions;
        run->guessed = run->expected_seconds <= 0;
        if (run->guessed) run->expected_seconds = guess_seconds(run->workload);
    }
    kept_times_close(kept);
}

/* At least as long as the longest of them. */
double batch_expected_seconds(const struct batch *batch, unsigned processes) {
    double sum = 0, longest = 0;
    for (unsigned i = 0; i < batch->count; i++) {
        const struct batch_run *run = &batch->runs[i];
        if (run->state != BATCH_WAITING) continue;
        sum += run->expected_seconds;
        if (run->expected_seconds > longest) longest = run->expected_seconds;
    }
    return sum / processes > longest ? sum / processes : longest;
}

/* The batch */

static struct wish_list wishes(const struct plan *const *plans, unsigned plan_count, struct store *store,
                               unsigned *asked) {
    *asked = 0;
    for (unsigned p = 0; p < plan_count; p++) *asked += plans[p]->count;
    struct wish_list list = {.slot_count = (unsigned)round_up_power_of_two(2 * (uint64_t)*asked + 2)};
    list.wanted = mem_alloc(*asked, sizeof *list.wanted);
    list.slots = mem_alloc(list.slot_count, sizeof *list.slots);
    for (unsigned p = 0; p < plan_count; p++) {
        for (unsigned i = 0; i < plans[p]->count; i++) {
            const struct planned_run *run = &plans[p]->runs[i];
            unsigned *slot = slot_of(&list, run->identity);
            if (*slot) { /* of several experiments, one may not have kept it */
                list.wanted[*slot - 1].needed |= !list.wanted[*slot - 1].stored && !run->kept;
                continue;
            }
            bool stored = store && store_has(store, run->identity);
            list.wanted[list.count] = (struct wanted){
                .plan = plans[p], .run = run, .stored = stored, .needed = !stored && !run->kept, .place = -1};
            *slot = ++list.count;
        }
    }
    return list;
}

struct batch *batch_create(const struct plan *const *plans, unsigned plan_count, struct store *store,
                           const char *files) {
    struct batch *batch = mem_alloc(1, sizeof *batch);
    struct wish_list list = wishes(plans, plan_count, store, &batch->asked);
    need_writers(&list, files);
    batch->distinct = list.count;
    for (unsigned i = 0; i < list.count; i++) {
        batch->stored += list.wanted[i].stored;
        batch->kept += !list.wanted[i].stored && !list.wanted[i].needed;
        if (list.wanted[i].needed) list.wanted[i].place = (int)batch->count++;
    }
    batch->runs = mem_alloc(batch->count, sizeof *batch->runs);
    for (unsigned i = 0; i < list.count; i++)
        if (list.wanted[i].needed) fill(&batch->runs[list.wanted[i].place], &list.wanted[i], &list);
    expect(batch, store);
    free(list.wanted);
    free(list.slots);
    return batch;
}

void batch_run_release(struct batch_run *run) {
    for (unsigned i = 0; i < run->word_count; i++) free(run->words[i]);
    free(run->words);
    free(run->job);
    free(run->workload);
    free(run->option);
    free(run->path);
    free(run->content);
    free(run->title);
    free(run->why);
}

void batch_free(struct batch *batch) {
    if (!batch) return;
    for (unsigned i = 0; i < batch->count; i++) batch_run_release(&batch->runs[i]);
    free(batch->runs);
    free(batch);
}

/* Task files */

void batch_run_write(FILE *out, const struct batch_run *run) {
    fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d", run->identity, run->job, run->option ? run->option : "",
            run->path ? run->path : "", run->content ? run->content : "", run->title, run->after, run->in_files,
            run->whole);
    for (unsigned i = 0; i < run->word_count; i++) fprintf(out, "\t%s", run->words[i]);
    fputc('\n', out);
}

static char *text_or_null(const char *text) { return *text ? mem_text(text) : NULL; }

bool batch_run_read(struct batch_run *run, char *line) {
    enum { FIXED = 9 };
    char *field[FIXED], *rest = line;
    line[strcspn(line, "\n")] = '\0';
    for (unsigned i = 0; i < FIXED; i++)
        if (!(field[i] = strsep(&rest, "\t"))) return false;
    if (!identity_is(field[0], strlen(field[0]))) return false;
    *run = (struct batch_run){
        .job = mem_text(field[1]),
        .option = text_or_null(field[2]),
        .path = text_or_null(field[3]),
        .content = text_or_null(field[4]),
        .title = mem_text(field[5]),
        .after = atoi(field[6]),
        .in_files = atoi(field[7]) != 0,
        .whole = atoi(field[8]) != 0,
    };
    memcpy(run->identity, field[0], sizeof run->identity);
    while (rest) add_word(run, mem_text(strsep(&rest, "\t")));
    return true;
}
