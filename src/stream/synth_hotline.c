/* synth:hotline: every warp of every SM reads the same few lines in the same order, bypassing its L1. All requests go
 * to the LLC slices that hold these lines, whose port bandwidth is the bottleneck: the camping that motivates "Adaptive
 * Memory-Side Last-Level GPU Caching" (ISCA 2019). Lines are a page and two lines apart, so that they differ in the
 * bits that any mapping uses. */
#include "stream/synth.h"

static bool build(struct synth *synth, struct error *err) {
    synth_add_loads(synth);
    synth_add_compute(synth);
    return synth_buffer(synth, 0, (uint64_t)synth->params.lines, err);
}

static uint64_t address(const struct synth *synth, struct warp_stream *warp, uint64_t round, unsigned slot) {
    (void)round, (void)slot;
    uint64_t here = warp->state[SYNTH_CURSOR];
    warp->state[SYNTH_CURSOR] = here + 1 == (uint64_t)synth->params.lines ? 0 : here + 1;
    return synth_element(synth, 0, here);
}

const struct synth_ops synth_hotline = {
    .name = "hotline",
    .help = "all SMs read the same few lines at once, bypassing the L1; measures the port bandwidth of one LLC slice",
    .own = {.ctas = 320,
            .warps = 4,
            .kernels = 1,
            .iterations = 24,
            .loads = 4,
            .compute = 1,
            .lines = 2,
            .stride_bytes = 4352},
    .past_l1 = true,
    .build = build,
    .address = address,
};
