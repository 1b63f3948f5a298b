/* synth:shared: every CTA sweeps the same read-only footprint from its beginning, its warps reading neighbouring lines,
 * and also streams private data. All SMs read the same lines at about the same time, as with the weights of a neural
 * network: the sharing that "Adaptive Memory-Side Last-Level GPU Caching" (ISCA 2019) and "Selective Replication in
 * Memory-Side GPU Caches" exploit by replication. The private data is not marked read-only: it represents data that the
 * compiler analysis cannot classify.
 *
 * synth:spread is the control experiment: the same sweeps, but CTAs start at positions spread over the footprint. Lines
 * are shared, but not read at the same time. */
#include "stream/synth.h"

static bool build(struct synth *synth, struct error *err) {
    int64_t loads = synth->params.loads, own = synth->params.private_loads;
    if (own > loads)
        return config_error(synth->config, "workload.private_loads", err,
                            "%lld private loads exceed the %lld loads of a round: lower it or raise workload.loads",
                            (long long)own, (long long)loads);
    synth_add_loads(synth);
    for (int64_t i = loads - own; i < loads; i++) synth->body[i].flags = 0;
    synth_add_compute(synth);
    return synth_footprint(synth, 0, err) &&
           synth_buffer(synth, 1, (uint64_t)(synth->params.iterations * own) * synth->warps, err);
}

static void open_warp(const struct synth *synth, struct warp_stream *warp) {
    warp->state[SYNTH_CURSOR] = warp->warp % synth->elements;
}

static void open_spread(const struct synth *synth, struct warp_stream *warp) {
    uint64_t begin = warp->cta * synth->elements / (uint64_t)synth->params.ctas;
    warp->state[SYNTH_CURSOR] = (begin + warp->warp) % synth->elements;
}

static uint64_t address(const struct synth *synth, struct warp_stream *warp, uint64_t round, unsigned slot) {
    unsigned own = (unsigned)synth->params.private_loads, shared = (unsigned)synth->params.loads - own;
    if (slot >= shared) return synth_element(synth, 1, synth_run(synth, warp, round, own) + slot - shared);
    uint64_t here = warp->state[SYNTH_CURSOR], next = here + (uint64_t)synth->params.warps;
    if (next >= synth->elements) next %= synth->elements;
    warp->state[SYNTH_CURSOR] = next;
    return synth_element(synth, 0, here);
}

/* Default parameters of both. */
#define SWEEPS \
    { \
        .ctas = 320, .warps = 4, .kernels = 1, .iterations = 80, .loads = 6, .private_loads = 1, .compute = 3, \
        .stride_bytes = 128, .footprint_kb = 192 \
    }

const struct synth_ops synth_shared = {
    .name = "shared",
    .help = "all SMs sweep one read-only footprint and stream private data; measures sharing in the LLC",
    .own = SWEEPS,
    .build = build,
    .open = open_warp,
    .address = address,
};

const struct synth_ops synth_spread = {
    .name = "spread",
    .help = "as synth:shared, but each CTA starts at another position; lines are shared, but not read at the same time",
    .own = SWEEPS,
    .build = build,
    .open = open_spread,
    .address = address,
};
