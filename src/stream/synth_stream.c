/* synth:stream: the whole grid reads one array from front to back, each line once. In a round every warp takes a few
 * lines that follow each other, and the warps of the grid take neighbouring runs, as a grid-stride loop over wide
 * elements does: whatever part of the grid is resident reads long stretches of memory. */
#include "stream/synth.h"

static bool build(struct synth *synth, struct error *err) {
    synth_add_loads(synth);
    synth_add_compute(synth);
    return synth_buffer(synth, 0, (uint64_t)synth->params.iterations * (uint64_t)synth->params.loads * synth->warps,
                        err);
}

static uint64_t address(const struct synth *synth, struct warp_stream *warp, uint64_t round, unsigned slot) {
    return synth_element(synth, 0, synth_run(synth, warp, round, (uint64_t)synth->params.loads) + slot);
}

const struct synth_ops synth_stream = {
    .name = "stream",
    .help = "disjoint sequential reads, each of a new line: DRAM bandwidth",
    .own = {.ctas = 320, .warps = 4, .kernels = 1, .iterations = 96, .loads = 2, .compute = 1, .stride_bytes = 128},
    .build = build,
    .address = address,
};
