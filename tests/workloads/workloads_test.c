/* Every bundled workload computes at its smallest size what its reference on the CPU says. */
#include "base/line_map.h"
#include "claim.h"
#include "work.h"

CLAIM("every workload has a tiny and a small size, and a name of its own") {
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

/* All records of all kernels, as a machine would read them. */
static uint64_t drain(struct stream_source *source) {
    struct warp_stream *warp = mem_alloc(1, sizeof *warp);
    uint64_t records = 0;
    struct kernel kernel;
    while (source->ops->next_kernel(source, &kernel))
        for (uint64_t cta = 0; cta < kernel_ctas(&kernel); cta++)
            for (uint32_t w = 0; w < kernel_warps(&kernel); w++) {
                *warp = (struct warp_stream){.cta = cta, .warp = w};
                source->ops->open(source, warp);
                bool ended = false;
                while (!ended) {
                    source->ops->refill(source, warp);
                    records += warp->count;
                    ended = warp->count == 0 || warp->instr[warp->count - 1].op == OP_exit;
                }
            }
    free(warp);
    return records;
}

CLAIM("every workload computes what its reference says, at its smallest size") {
    for (unsigned i = 0; i < workload_total; i++) {
        char *name = text_format("%s:tiny", workloads[i]->name);
        struct error err = {0}, found = {0};
        struct stream_source *source = work_open(name, true, &err);
        REQUIRE(source);
        CHECK(drain(source) > 0);
        CHECK_EQ(source->ops->check(source, &found), "passed");
        if (found.set) CHECK_EQ(found.text, "");
        source->ops->destroy(source);
        free(name);
    }
}

/* What became of the lines and loads of a kernel, as far as its streams tell. */
struct seen {
    struct line_map lines;        /* value[0]: SEEN_... */
    uint64_t loads, marked, both; /* global loads; those marked read-only; lines that were loaded so and written */
};
enum { SEEN_MARKED = 1, SEEN_WRITTEN = 2 };

static void see(struct seen *seen, const struct warp_stream *warp, const struct instr *instr) {
    if (!instr_is_memory(instr) || instr->space != SPACE_GLOBAL) return;
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

static void see_kernel(struct seen *seen, struct stream_source *source, const struct kernel *kernel) {
    static struct warp_stream warp;
    line_map_clear(&seen->lines);
    for (uint64_t at = 0; at < kernel_ctas(kernel) * kernel_warps(kernel); at++) {
        warp = (struct warp_stream){.cta = at / kernel_warps(kernel), .warp = (uint32_t)(at % kernel_warps(kernel))};
        source->ops->open(source, &warp);
        for (bool ended = false; !ended;) {
            source->ops->refill(source, &warp);
            for (uint32_t i = 0; i < warp.count; i++) see(seen, &warp, &warp.instr[i]);
            ended = warp.count == 0 || warp.instr[warp.count - 1].op == OP_exit;
        }
    }
}

CLAIM("no workload writes what the analysis says that its kernel only reads") {
    struct seen all = {0};
    line_map_init(&all.lines);
    for (unsigned i = 0; i < workload_total; i++) {
        char *name = text_format("%s:tiny", workloads[i]->name);
        struct error err = {0}, first = {0};
        struct stream_source *source = work_open(name, false, &err);
        REQUIRE(source);
        struct kernel kernel;
        uint64_t both = all.both;
        while (source->ops->next_kernel(source, &kernel)) see_kernel(&all, source, &kernel);
        CHECK_EQ(all.both - both, source->ops->violations(source, &first));
        CHECK_EQ(first.set ? first.text : "", "");
        source->ops->destroy(source);
        free(name);
    }
    CHECK_EQ(all.both, 0u);
    CHECK(2 * all.marked > all.loads); /* and it says so of most loads */
    line_map_release(&all.lines);
}

CLAIM("a workload's stream is the same in every run") {
    struct error err = {0};
    struct stream_source *a = work_open("va:tiny", false, &err), *b = work_open("va:tiny", false, &err);
    REQUIRE(a && b);
    CHECK_EQ(drain(a), drain(b));
    a->ops->destroy(a);
    b->ops->destroy(b);
}
