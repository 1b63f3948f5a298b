/* synth:uniform: random lines of a footprint: no locality beyond what the cache size gives, and an even load on all
 * slices and banks. */
#include "base/random.h"
#include "stream/synth.h"

static bool build(struct synth *synth, struct error *err) {
    synth_add_loads(synth);
    synth_add_compute(synth);
    return synth_footprint(synth, 0, err);
}

/* Every warp has its own sequence, determined by its position in the grid. */
static void open_warp(const struct synth *synth, struct warp_stream *warp) {
    uint64_t state = (uint64_t)synth->params.seed;
    state = random_next(&state) + warp->state[SYNTH_WARP];
    warp->state[SYNTH_RANDOM] = random_next(&state);
}

static uint64_t address(const struct synth *synth, struct warp_stream *warp, uint64_t round, unsigned slot) {
    (void)round, (void)slot;
    return synth_element(synth, 0, random_below(&warp->state[SYNTH_RANDOM], synth->elements));
}

const struct synth_ops synth_uniform = {
    .name = "uniform",
    .help = "reads of random lines of a footprint; loads all slices and banks evenly, without locality",
    .own = {.ctas = 320,
            .warps = 8,
            .kernels = 1,
            .iterations = 24,
            .loads = 4,
            .compute = 2,
            .stride_bytes = 128,
            .footprint_kb = 32768,
            .seed = 1},
    .build = build,
    .open = open_warp,
    .address = address,
};
