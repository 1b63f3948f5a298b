/* Kept results: what is written is read back, for figures that are equal to those of the store; damage is noticed. */
#include "lab/kept.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/output.h"
#include "lab/filled_store.h"

static double plain(const struct planned_run *run) {
    return 1.1 + 3 * run->workload + 7 * run->design + 0.3 * run->seed;
}

struct writing {
    const struct plan *plan;
    struct store *store;
    struct error *err;
};

static void write_kept(FILE *out, const void *what) {
    const struct writing *writing = what;
    kept_write(writing->plan, writing->store, NULL, NULL, out, writing->err);
}

/* Writes the runs of the store to a file next to it; the caller frees its path. */
static char *keep(const struct made_up *all) {
    struct error err = {0};
    char *path = text_format("%s.csv", all->path);
    CHECK(output_write(path, write_kept, &(struct writing){all->plan, all->store, &err}, &err));
    CHECK_EQ(err.text, "");
    return path;
}

static void check_same(const struct figure *a, const struct figure *b) {
    REQUIRE(a->sheet_count == b->sheet_count);
    for (unsigned i = 0; i < a->sheet_count; i++)
        for (unsigned k = 0; k < a->sheets[i].row_count * a->sheets[i].column_count; k++) {
            CHECK_EQ(a->sheets[i].value[k], b->sheets[i].value[k]);
            if (a->sheets[i].low) CHECK_EQ(a->sheets[i].low[k], b->sheets[i].low[k]);
        }
}

/* A figure from the kept file is the figure of the store. */
static void check_kept(struct made_up *all) {
    struct error err = {0};
    struct kept kept;
    char *path = keep(all);
    REQUIRE(kept_open(&kept, all->plan, path, &err));
    CHECK_EQ(kept.count, all->plan->count);
    CHECK_EQ(kept_model(&kept), identity_model());
    struct figure *figure = figure_make(all->plan, kept.store, &err);
    REQUIRE(figure);
    CHECK_EQ(figure->missing, 0u);
    check_same(figure, all->figure);
    figure_free(figure);
    kept_close(&kept);
    unlink(path);
    free(path);
    discard(all);
}

TEST("a figure of kept results is the figure of the store") {
    struct made_up all =
        make(TITLE WORKLOADS DESIGNS "metrics: [{name: IPC, value: ipc, relative_to: shared},"
                                     " {name: hits, value: 100 * llc.read_hits / (llc.read_hits + llc.read_misses)},"
                                     " {name: balance, value: 'largest(llc.read_hits) / average(llc.read_hits)'}]\n",
             plain);
    check_kept(&all);
}

TEST("kept results have the runs of every seed and every candidate") {
    struct made_up all = make(TITLE WORKLOADS METRICS
                              "designs: {shared: {design: shared}, any: {design: private, best: {l1.ways: [2, 4]}}}\n"
                              "set: {l1.sets: 0}\nseeds: 2\n",
                              plain);
    check_kept(&all);
}

static const char *two_kernels(const struct planned_run *run) {
    return run->candidate == 1 ? "{\"name\": \"a\", \"grid\": [1], \"block\": [2], \"cycles\": 60, \"instructions\": 5,"
                                 " \"warp_instructions\": 1}, {\"name\": \"b\", \"grid\": [1], \"block\": [2],"
                                 " \"cycles\": 40, \"instructions\": 5, \"warp_instructions\": 1}"
                               : "{\"name\": \"a\", \"grid\": [1], \"block\": [2], \"cycles\": 30, \"instructions\": 5,"
                                 " \"warp_instructions\": 1}, {\"name\": \"b\", \"grid\": [1], \"block\": [2],"
                                 " \"cycles\": 70, \"instructions\": 5, \"warp_instructions\": 1}";
}

TEST("kept results have the launches that a search for each kernel needs") {
    struct made_up all =
        make_with(TITLE "workloads: [va]\nset: {l1.sets: 0}\n"
                        "designs: {any: {design: private, best: {l1.ways: [2, 4]}, best_for: kernel}}\n"
                        "metrics: [{name: cycles, value: cycles}]\n",
                  plain, two_kernels);
    CHECK_EQ(all.figure->sheets[0].value[0], 70.0); /* 30 of the first, 40 of the second */
    check_kept(&all);
}

static double without_one(const struct planned_run *run) { return run->design ? NAN : plain(run); }
static double without_any(const struct planned_run *run) { return (void)run, NAN; }

TEST("incomplete results are not kept") {
    struct made_up all = make(TITLE "workloads: [va]\n" DESIGNS METRICS, without_one);
    struct error err = {0};
    char *text;
    size_t length;
    FILE *out = text_open(&text, &length, &err);
    CHECK(!kept_write(all.plan, all.store, NULL, NULL, out, &err));
    CHECK_TEXT(err.text, "1 of its runs are not in");
    CHECK(text_close(out, &text, &err));
    free(text);
    discard(&all);
}

/* The text that an export writes. */
static char *export_of(const struct made_up *all, const char *before, unsigned *missing) {
    struct error err = {0};
    char *text;
    size_t length;
    FILE *out = text_open(&text, &length, &err);
    CHECK(kept_write(all->plan, all->store, before, missing, out, &err));
    CHECK(text_close(out, &text, &err));
    return text;
}

static unsigned marked(struct plan *plan, const char *path) {
    struct error err = {0};
    CHECK(kept_mark(plan, path, &err));
    unsigned count = 0;
    for (unsigned i = 0; i < plan->count; i++) count += plan->runs[i].kept;
    return count;
}

static void save(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    REQUIRE(out);
    fputs(text, out);
    fclose(out);
}

TEST("an incomplete experiment is kept on request, and completed by another store from its own rows") {
    const char *text = TITLE "workloads: [va]\n" DESIGNS METRICS;
    struct made_up part = make(text, without_one), all = make(text, plain), none = make(text, without_any);
    unsigned missing = 0;
    char *path = text_format("%s.csv", part.path), *first = export_of(&part, path, &missing);
    CHECK_EQ(missing, 1u);
    CHECK_EQ(marked(all.plan, path), 0u); /* the file does not exist */
    save(path, first);
    CHECK_EQ(marked(all.plan, path), all.plan->count - 1);
    char *complete = export_of(&all, NULL, NULL), *kept_rows = export_of(&none, path, &missing);
    CHECK_EQ(missing, 1u);
    CHECK_EQ(kept_rows, first); /* rows of the file */
    char *both = export_of(&all, path, NULL);
    CHECK_EQ(both, complete); /* rows of the store come first */
    save(path, complete);
    char *again = export_of(&none, path, NULL);
    CHECK_EQ(again, complete);
    unlink(path);
    char *texts[] = {path, first, complete, kept_rows, both, again};
    for (unsigned i = 0; i < COUNT_OF(texts); i++) free(texts[i]);
    discard(&part), discard(&all), discard(&none);
}

TEST("a run that another experiment of the folder has kept is taken from there, with its cell in this experiment") {
    struct made_up all = make(TITLE "workloads: [va]\n" DESIGNS METRICS, plain),
                   renamed = make(TITLE "workloads: [{workload: va, name: again}]\n"
                                        "designs: {first: {design: shared}, second: {design: private}}\n"
                                        "metrics: [{name: time, value: cycles}]\n",
                                  without_any),
                   more =
                       make(TITLE "workloads: [va]\n" DESIGNS "metrics: [{name: hits, value: llc.read_hits}]\n", plain);
    char *kept = keep(&all), *path = text_format("%s.other.csv", all.path),
         *damaged = text_format("%s.0.csv", all.path);
    save(damaged, "a table of something else\n");
    CHECK_EQ(marked(renamed.plan, path), 2u);
    CHECK_EQ(marked(more.plan, path), 0u); /* without its counter */
    char *text = export_of(&renamed, path, NULL);
    CHECK_TEXT(text, "again, first");
    CHECK_TEXT(text, "again, second");
    CHECK(!strstr(text, "va, shared"));
    save(path, text);
    unlink(kept);
    CHECK_EQ(marked(renamed.plan, path), 2u); /* with valid checksums */
    CHECK_EQ(marked(all.plan, kept), 2u);     /* and the other way round */
    unlink(path), unlink(damaged);
    free(text), free(path), free(damaged), free(kept);
    discard(&all), discard(&renamed), discard(&more);
}

/* Writes a line, with a new checksum if it is a row. */
static void write_summed(FILE *out, const char *line, bool row) {
    size_t length = row ? (size_t)(strrchr(line, ',') - line) : strlen(line);
    uint64_t sum = 0xCBF29CE484222325u;
    for (size_t i = 0; i < length; i++) sum = (sum ^ (unsigned char)line[i]) * 0x100000001B3u;
    fprintf(out, "%.*s", (int)length, line);
    if (row) fprintf(out, ",%016llx", (unsigned long long)sum);
    fputc('\n', out);
}

TEST("rows of another model or with other columns are not continued") {
    struct made_up all = make(TITLE "workloads: [va]\n" DESIGNS METRICS, plain),
                   other = make(TITLE "workloads: [va]\n" DESIGNS
                                      "metrics: [{name: IPC, value: ipc}, {name: hits, value: llc.read_hits}]\n",
                                plain);
    char *path = keep(&all);
    CHECK_EQ(marked(all.plan, path), all.plan->count);
    CHECK_EQ(marked(other.plan, path), 0u);
    char *text = export_of(&all, NULL, NULL);
    FILE *out = fopen(path, "w");
    REQUIRE(out);
    for (char *line = strtok(text, "\n"), *model; line; line = strtok(NULL, "\n")) {
        if ((model = strstr(line, identity_model()))) *model = *model == '0' ? '1' : '0';
        write_summed(out, line, model != NULL);
    }
    fclose(out);
    CHECK_EQ(marked(all.plan, path), 0u);
    free(text);
    unlink(path);
    free(path);
    discard(&all), discard(&other);
}

/* Replaces the first `from` of the file. */
static void edit(const char *path, const char *from, const char *to) {
    struct arena *arena = arena_create();
    struct error err = {0};
    size_t bytes;
    char *text = arena_file(arena, path, &bytes, &err), *at = text ? strstr(text, from) : NULL;
    REQUIRE(at);
    FILE *out = fopen(path, "w");
    fprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(out);
    arena_destroy(arena);
}

TEST("an edited digit, a lost column and another file are noticed with their line") {
    static const struct {
        const char *from, *to, *problem;
    } faults[] = {
        {",1.1,", ",1.2,", ":2:1: this row does not match its checksum"},
        {"va:small,", "", ":2:1: this row has"},
        {"key,", "kex,", ":1:1: not a file of `sluice lab export --kept`"},
    };
    for (unsigned i = 0; i < COUNT_OF(faults); i++) {
        struct made_up all = make(TITLE "workloads: [va]\n" DESIGNS METRICS, plain);
        struct kept kept;
        struct error err = {0};
        char *path = keep(&all);
        edit(path, faults[i].from, faults[i].to);
        CHECK(!kept_open(&kept, all.plan, path, &err));
        CHECK_TEXT(err.text, faults[i].problem);
        unlink(path);
        free(path);
        discard(&all);
    }
}

TEST("the key of a run depends on what was asked for, not on the order of settings") {
    struct experiment *a = read_made_up(TITLE "workloads: [va]\n" METRICS
                                              "designs: {shared: {set: {noc.vcs: 2, noc.channel_bytes: 16}}}\n"),
                      *b = read_made_up(TITLE "workloads: [va]\nset: {noc.vcs: 4, noc.channel_bytes: 16}\n" METRICS
                                              "designs: {shared: {set: {noc.vcs: 2}}}\n");
    struct error err = {0};
    struct plan *one = plan_create(a, "tiny", &err), *other = plan_create(b, "tiny", &err),
                *small = plan_create(b, NULL, &err);
    REQUIRE(one && other && small);
    CHECK_EQ(one->runs[0].asked, "noc.channel_bytes=16; noc.vcs=2");
    CHECK_EQ(one->runs[0].key, other->runs[0].key);
    CHECK(strcmp(one->runs[0].key, small->runs[0].key) != 0);
    plan_free(one);
    plan_free(other);
    plan_free(small);
    experiment_free(a);
    experiment_free(b);
}
