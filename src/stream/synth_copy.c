/* synth:copy: as synth:stream, but every line read is written to a second array; both share DRAM bandwidth. */
#include "stream/synth.h"

static bool build(struct synth *synth, struct error *err) {
    uint64_t elements = (uint64_t)synth->params.iterations * (uint64_t)synth->params.loads * synth->warps;
    synth_add_loads(synth);
    for (int64_t i = 0; i < synth->params.loads; i++) synth_add(synth, OP_store)->src[0] = (uint8_t)(1 + i);
    synth_add_compute(synth);
    return synth_buffer(synth, 0, elements, err) && synth_buffer(synth, 1, elements, err);
}

static uint64_t address(const struct synth *synth, struct warp_stream *warp, uint64_t round, unsigned slot) {
    uint64_t loads = (uint64_t)synth->params.loads;
    bool store = slot >= loads;
    return synth_element(synth, store, synth_run(synth, warp, round, loads) + (store ? slot - loads : slot));
}

const struct synth_ops synth_copy = {
    .name = "copy",
    .help = "reads one array and writes another; measures DRAM bandwidth for mixed reads and writes",
    .own = {.ctas = 320, .warps = 4, .kernels = 1, .iterations = 64, .loads = 2, .compute = 1, .stride_bytes = 128},
    .build = build,
    .address = address,
};
