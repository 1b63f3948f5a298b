/* Every bundled workload computes the result of its CPU reference at its smallest size. */
#include "base/line_map.h"
#include "ptx/program.h"
#include "ptx/readonly.h"
#include "test.h"
#include "work.h"

TEST("every workload has a tiny and a small size, and a unique name") {
    CHECK(workload_total > 0);
    for (unsigned i = 0; i < workload_total; i++) {
        bool tiny = false, small = false;
        for (unsigned k = 0; k < workloads[i]->size_count; k++) {
            tiny |= strcmp(workloads[i]->sizes[k].name, "tiny") == 0;
            small |= strcmp(workloads[i]->sizes[k].name, "small") == 0;
        }
        CHECK(tiny && small);
        CHECK(work_find(workloads[i]->name) == workloads[i]);
    }
}

static bool opens(const char *workload, const char *size, struct error *err) {
    char *name = text_format("%s:%s", workload, size);
    struct stream_source *source = work_open(name, false, err);
    if (source) source->ops->destroy(source);
    free(name);
    return source != NULL;
}

static const struct {
    const char *former, *current;
} renamed[] = {{"s000", "adaptive"}, {"s002", "icc"}, {"s003", "selrep"}, {"s004", "bypass"}};

TEST("every former name of a size selects the size that is now named after its paper") {
    for (unsigned i = 0; i < COUNT_OF(renamed); i++) {
        unsigned found = 0;
        CHECK_EQ(work_size_name(renamed[i].former), renamed[i].current);
        CHECK_EQ(work_size_name(renamed[i].current), renamed[i].current);
        for (unsigned w = 0; w < workload_total; w++) {
            struct error err = {0};
            bool has = opens(workloads[w]->name, renamed[i].current, &err);
            found += has;
            CHECK_EQ(opens(workloads[w]->name, renamed[i].former, &err), has);
        }
        CHECK(found > 0);
    }
}

TEST("a workload's name keeps everything but a former size") {
    static const char *const names[][2] = {
        {"an:s000", "an:adaptive"}, {"an:adaptive", "an:adaptive"}, {"an", "an"}, {"s000:tiny", "s000:tiny"}};
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        char *name = work_current_name(names[i][0]);
        CHECK_EQ(name, names[i][1]);
        free(name);
    }
}

TEST("an unknown size is reported with all sizes and the nearest") {
    struct error near = {0}, far = {0};
    CHECK(!opens("lud", "adaptve", &near) && !opens("lud", "enormous", &far));
    CHECK_EQ(near.text, "lud has no size `adaptve`; known: tiny, small, adaptive, icc, selrep, bypass, bypass-kernel; "
                        "did you mean "
                        "`adaptive`?");
    CHECK_EQ(far.text, "lud has no size `enormous`; known: tiny, small, adaptive, icc, selrep, bypass, bypass-kernel");
}

/* An observer of a program's streams: called at the start of each kernel (without warp and record), and for each of its
 * records. May be NULL. */
typedef void visitor(void *user, const struct kernel *kernel, const struct warp_stream *warp,
                     const struct instr *instr);

/* Reads all records of all kernels, as a machine would; returns their number. */
static uint64_t drain(struct stream_source *source, visitor *visit, void *user) {
    struct warp_stream *warp = mem_alloc(1, sizeof *warp);
    uint64_t records = 0;
    struct kernel kernel;
    while (source->ops->next_kernel(source, &kernel)) {
        if (visit) visit(user, &kernel, NULL, NULL);
        for (uint64_t at = 0; at < kernel_ctas(&kernel) * kernel_warps(&kernel); at++) {
            *warp =
                (struct warp_stream){.cta = at / kernel_warps(&kernel), .warp = (uint32_t)(at % kernel_warps(&kernel))};
            source->ops->open(source, warp);
            for (bool ended = false; !ended;) {
                source->ops->refill(source, warp);
                records += warp->count;
                for (uint32_t i = 0; visit && i < warp->count; i++) visit(user, &kernel, warp, &warp->instr[i]);
                ended = warp->count == 0 || warp->instr[warp->count - 1].op == OP_exit;
            }
        }
    }
    free(warp);
    return records;
}

/* Runs a workload and compares its results with the reference. */
static void check_results(const char *name) {
    struct error err = {0}, found = {0};
    struct stream_source *source = work_open(name, true, &err);
    REQUIRE(source);
    CHECK(drain(source, NULL, NULL) > 0);
    CHECK_EQ(source->ops->check(source, &found), "passed");
    if (found.set) CHECK_EQ(found.text, "");
    source->ops->destroy(source);
}

TEST("every workload matches its reference at its smallest size") {
    for (unsigned i = 0; i < workload_total; i++) {
        char *name = text_format("%s:tiny", workloads[i]->name);
        check_results(name);
        free(name);
    }
}

TEST("mm matches its reference with tiles of 32 x 32 and without tiles") {
    check_results("mm:tiny-tile32");
    check_results("mm:tiny-untiled");
}

/* Lines and loads of a kernel, from its streams. */
struct seen {
    struct line_map lines;        /* value[0]: SEEN_... */
    uint64_t loads, marked, both; /* global loads; those marked read-only; lines loaded as read-only and also written */
};
enum { SEEN_MARKED = 1, SEEN_WRITTEN = 2 };

static void see(void *user, const struct kernel *kernel, const struct warp_stream *warp, const struct instr *instr) {
    struct seen *seen = user;
    (void)kernel;
    if (!instr) line_map_clear(&seen->lines);
    if (!instr || !instr_is_memory(instr) || instr->space != SPACE_GLOBAL) return;
    bool load = instr->op == OP_load, mark = load && (instr->flags & INSTR_READ_ONLY);
    seen->loads += load;
    seen->marked += mark;
    for (unsigned i = 0; i < instr->count && (mark || !load); i++)
        for (unsigned half = 0; half < 2; half++) {
            uint64_t touch = warp->touch[instr->touches + i];
            if (!(touch_sectors(touch) >> (4 * half) & 0xF)) continue;
            uint64_t *value = line_map_at(&seen->lines, (touch_address(touch) >> 7) + half)->value, before = *value;
            *value |= mark ? SEEN_MARKED : SEEN_WRITTEN;
            seen->both += *value != before && *value == (SEEN_MARKED | SEEN_WRITTEN);
        }
}

TEST("no workload writes data that the analysis classifies as read-only") {
    struct seen all = {0};
    line_map_init(&all.lines);
    for (unsigned i = 0; i < workload_total; i++) {
        char *name = text_format("%s:tiny", workloads[i]->name);
        struct error err = {0}, first = {0};
        struct stream_source *source = work_open(name, false, &err);
        REQUIRE(source);
        uint64_t both = all.both;
        drain(source, see, &all);
        CHECK_EQ(all.both - both, source->ops->violations(source, &first));
        CHECK_EQ(first.set ? first.text : "", "");
        source->ops->destroy(source);
        free(name);
    }
    CHECK_EQ(all.both, 0u);
    CHECK(2 * all.marked > all.loads); /* most loads are read-only */
    line_map_release(&all.lines);
}

/* The kernels that ran, and the static instructions that wrote memory. */
struct writes {
    const struct program *program;
    uint8_t executed[1 << 16], ran[256];
};

static void writes_note(void *user, const struct kernel *kernel, const struct warp_stream *warp,
                        const struct instr *instr) {
    struct writes *writes = user;
    (void)warp;
    if (!instr) {
        const struct program_function *function = program_kernel(writes->program, kernel->name);
        REQUIRE(function);
        writes->ran[function - writes->program->functions] = 1;
    } else if (instr->op == OP_store || instr->op == OP_atomic) {
        writes->executed[instr->id] = 1;
    }
}

/* Whether the write that makes a data structure read-write was executed. */
static bool was_written(const struct writes *writes, const struct readonly_structure *structure) {
    const struct program_function *function = &writes->program->functions[structure->by_function];
    for (uint32_t i = 0; i < function->op_count; i++)
        if (function->ops[i].instr == structure->by_instr && writes->executed[function->first_id + i]) return true;
    return false;
}

TEST_LONG_SANITIZED("data classified as written is written by the instruction that the analysis names") {
    static struct writes writes;
    for (unsigned i = 0; i < workload_total; i++) {
        char *name = text_format("%s:tiny", workloads[i]->name);
        char *path = text_format(SLUICE_SOURCE_DIR "/workloads/%s/%s.ptx", workloads[i]->name, workloads[i]->name);
        struct error err = {0};
        struct ptx_module *module = ptx_parse_file(path, &err);
        struct program *program = module ? program_create(module, 0x1000, &err) : NULL;
        struct stream_source *source = work_open(name, false, &err);
        REQUIRE(program && source && program->record_count <= sizeof writes.executed &&
                program->function_count <= sizeof writes.ran);
        writes = (struct writes){.program = program};
        drain(source, writes_note, &writes);
        for (uint32_t k = 0; k < program->readonly->kernel_count; k++) {
            const struct readonly_kernel *kernel = &program->readonly->kernels[k];
            for (uint32_t n = 0; writes.ran[kernel->function] && n < kernel->structure_count; n++) {
                const struct readonly_structure *structure = &kernel->structures[n];
                char text[160];
                const char *unwritten = structure->verdict == READONLY || was_written(&writes, structure)
                                            ? ""
                                            : readonly_name(module, structure, text, sizeof text);
                CHECK(structure->verdict != READONLY_BEYOND);
                CHECK_EQ(unwritten, "");
            }
        }
        source->ops->destroy(source);
        program_destroy(program);
        ptx_module_destroy(module);
        free(path);
        free(name);
    }
}

/* The sanitizer finds memory that is not released. */
TEST("a workload that is stopped after its first launch releases its memory") {
    for (unsigned i = 0; i < workload_total; i++) {
        char *name = text_format("%s:tiny", workloads[i]->name);
        struct error err = {0};
        struct kernel kernel;
        struct stream_source *source = work_open(name, true, &err);
        REQUIRE(source);
        CHECK(source->ops->next_kernel(source, &kernel));
        source->ops->destroy(source);
        free(name);
    }
}

TEST("a workload's stream is the same in every run") {
    struct error err = {0};
    struct stream_source *a = work_open("va:tiny", false, &err), *b = work_open("va:tiny", false, &err);
    REQUIRE(a && b);
    CHECK_EQ(drain(a, NULL, NULL), drain(b, NULL, NULL));
    a->ops->destroy(a);
    b->ops->destroy(b);
}
