/* synth:stream: the whole grid reads one array from front to back, each line once. In a round every warp reads a few
 * consecutive lines, and neighbouring warps read neighbouring runs, as in a grid-stride loop over wide elements: the
 * resident part of the grid reads long stretches of memory. Each loaded value is added to its own sum: half of the
 * instructions are loads, and each load has one dependent instruction. */
#include "stream/synth.h"

static bool build(struct synth *synth, struct error *err) {
    int64_t loads = synth->params.loads;
    synth_add_loads(synth);
    for (int64_t i = 0; i < synth->params.compute; i++) {
        struct instr *add = synth_add(synth, OP_f32_add);
        add->dst[0] = add->src[0] = (uint8_t)(loads + 1 + i % 4);
        add->src[1] = (uint8_t)(1 + i % loads);
    }
    return synth_buffer(synth, 0, (uint64_t)(synth->params.iterations * loads) * synth->warps, err);
}

static uint64_t address(const struct synth *synth, struct warp_stream *warp, uint64_t round, unsigned slot) {
    return synth_element(synth, 0, synth_run(synth, warp, round, (uint64_t)synth->params.loads) + slot);
}

const struct synth_ops synth_stream = {
    .name = "stream",
    .help = "disjoint sequential reads, each of a new line; measures DRAM bandwidth",
    .own = {.ctas = 320, .warps = 4, .kernels = 1, .iterations = 96, .loads = 2, .compute = 2, .stride_bytes = 128},
    .build = build,
    .address = address,
};
