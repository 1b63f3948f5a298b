/* synth:chase: one lane follows a chain of pointers; each load depends on the previous one. The chain wraps around, so
 * after the first pass the load latency is that of the L1, the LLC or DRAM, depending on the footprint. Additional
 * warps start at other positions of the same chain. */
#include "stream/synth.h"

static bool build(struct synth *synth, struct error *err) {
    synth->sectors = 0x01;
    struct instr *load = synth_add(synth, OP_load);
    load->active = 1;
    load->bytes_log2 = 3;
    load->flags = INSTR_READ_ONLY;
    load->dst[0] = load->src[0] = 1;
    return synth_footprint(synth, 0, err);
}

static void open_warp(const struct synth *synth, struct warp_stream *warp) {
    warp->state[SYNTH_CURSOR] = (uint64_t)((unsigned __int128)warp->state[SYNTH_WARP] * synth->elements / synth->warps);
}

static uint64_t address(const struct synth *synth, struct warp_stream *warp, uint64_t round, unsigned slot) {
    (void)round, (void)slot;
    uint64_t here = warp->state[SYNTH_CURSOR];
    warp->state[SYNTH_CURSOR] = here + 1 == synth->elements ? 0 : here + 1;
    return synth_element(synth, 0, here);
}

const struct synth_ops synth_chase = {
    .name = "chase",
    .help = "a chain of dependent loads; measures the latency of L1, LLC or DRAM, depending on the footprint",
    .own = {.ctas = 1, .warps = 1, .kernels = 1, .iterations = 20000, .stride_bytes = 4352, .footprint_kb = 131072},
    .build = build,
    .open = open_warp,
    .address = address,
};
