/* Every bundled workload computes at its smallest size what its reference on the CPU says. */
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

CLAIM("a workload's stream is the same in every run") {
    struct error err = {0};
    struct stream_source *a = work_open("va:tiny", false, &err), *b = work_open("va:tiny", false, &err);
    REQUIRE(a && b);
    CHECK_EQ(drain(a), drain(b));
    a->ops->destroy(a);
    b->ops->destroy(b);
}
