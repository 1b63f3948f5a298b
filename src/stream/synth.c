#include "stream/synth.h"

#include <stdlib.h>
#include <string.h>

bool synth_buffer(struct synth *synth, unsigned buffer, uint64_t elements, struct error *err) {
    uint64_t stride = (uint64_t)synth->params.stride_bytes, room = SYNTH_LAST_ADDRESS - synth->next_address;
    if (elements > room / stride)
        return error_set(err,
                         "synth:%s touches more than its address range of %llu MB: lower workload.stride_bytes, or the"
                         " footprint (iterations, ctas, warps, lines)",
                         synth->ops->name, (unsigned long long)((SYNTH_LAST_ADDRESS - SYNTH_FIRST_ADDRESS) >> 20));
    synth->base[buffer] = synth->next_address;
    uint64_t bytes = (elements * stride + 0xFFFFF) & ~UINT64_C(0xFFFFF);
    synth->next_address += min_u64(bytes, room);
    return true;
}

bool synth_footprint(struct synth *synth, unsigned buffer, struct error *err) {
    uint64_t bytes = (uint64_t)synth->params.footprint_kb * 1024, stride = (uint64_t)synth->params.stride_bytes;
    if (bytes < stride)
        return config_error(synth->config, "workload.stride_bytes", err,
                            "a stride of %llu bytes does not fit in a footprint of %llu bytes: lower it"
                            " or raise workload.footprint_kb",
                            (unsigned long long)stride, (unsigned long long)bytes);
    synth->elements = bytes / stride;
    return synth_buffer(synth, buffer, synth->elements, err);
}

struct instr *synth_add(struct synth *synth, enum op_class op) {
    synth->body = mem_grow(synth->body, synth->count + 1, sizeof *synth->body);
    struct instr *instr = &synth->body[synth->count];
    bool memory = op == OP_load || op == OP_store;
    *instr = (struct instr){
        .id = synth->count,
        .active = UINT32_MAX,
        .op = (uint8_t)op,
        .bytes_log2 = 2,
        .conflicts = 1,
        .count = memory,
        .cache = op == OP_load && (synth->params.cache_global || synth->ops->past_l1) ? CACHE_GLOBAL : CACHE_DEFAULT,
    };
    synth->count++;
    return instr;
}

void synth_add_loads(struct synth *synth) {
    for (int64_t i = 0; i < synth->params.loads; i++) {
        struct instr *load = synth_add(synth, OP_load);
        load->flags = INSTR_READ_ONLY;
        load->dst[0] = (uint8_t)(1 + i);
    }
}

/* Sums of products of the loaded values, two at a time, in four chains so that arithmetic never limits a round. */
void synth_add_compute(struct synth *synth) {
    int64_t loads = synth->params.loads;
    for (int64_t i = 0; i < synth->params.compute; i++) {
        struct instr *add = synth_add(synth, OP_f32_fma);
        add->dst[0] = add->src[0] = (uint8_t)(loads + 1 + i % 4);
        add->src[1] = (uint8_t)(1 + 2 * i % loads);
        add->src[2] = (uint8_t)(1 + (2 * i + 1) % loads);
    }
}

static bool next_kernel(struct stream_source *source, struct kernel *kernel) {
    struct synth *synth = (struct synth *)source;
    if (synth->launched == synth->params.kernels) return false;
    synth->launched++;
    *kernel = (struct kernel){
        .grid = {(uint32_t)synth->params.ctas, 1, 1},
        .block = {(uint32_t)synth->params.warps * 32, 1, 1},
        .registers = SYNTH_REGISTERS,
    };
    snprintf(kernel->name, sizeof kernel->name, "%s", synth->ops->name);
    return true;
}

static void open_warp(struct stream_source *source, struct warp_stream *warp) {
    const struct synth *synth = (const struct synth *)source;
    warp->count = 0;
    memset(warp->state, 0, sizeof warp->state);
    warp->state[SYNTH_WARP] = warp->cta * (uint64_t)synth->params.warps + warp->warp;
    if (synth->ops->open) synth->ops->open(synth, warp);
}

/* The exit follows the last round: SYNTH_ROUND counts it as one more round. */
static void refill(struct stream_source *source, struct warp_stream *warp) {
    const struct synth *synth = (const struct synth *)source;
    uint64_t rounds = (uint64_t)synth->params.iterations, round = warp->state[SYNTH_ROUND];
    unsigned slot = (unsigned)warp->state[SYNTH_SLOT], end = slot;
    if (round < rounds) end += (unsigned)min_u64((rounds - round) * synth->count - slot, STREAM_CHUNK);
    unsigned count = end - slot;
    memcpy(warp->instr, &synth->body[slot], count * sizeof *warp->instr);
    warp->state[SYNTH_ROUND] = round + end / synth->count;
    warp->state[SYNTH_SLOT] = end % synth->count;
    for (unsigned i = 0; i < count;) {
        if (slot < synth->memory) {
            uint64_t address = synth->ops->address(synth, warp, round, slot++);
            warp->touch[i] =
                touch_make(address, (uint8_t)(synth->sectors << (address % TOUCH_BLOCK_BYTES / SYNTH_SECTOR_BYTES)));
            warp->instr[i].touches = i;
            i++;
        } else { /* next round */
            i += synth->count - slot;
            slot = 0;
            round++;
        }
    }
    if (warp->state[SYNTH_ROUND] == rounds && count < STREAM_CHUNK) {
        warp->instr[count++] = (struct instr){.id = synth->count, .active = UINT32_MAX, .op = OP_exit, .conflicts = 1};
        warp->state[SYNTH_ROUND]++;
    }
    warp->count = count;
}

static void restart(struct stream_source *source) { ((struct synth *)source)->launched = 0; }

static const char *check(struct stream_source *source, struct error *found) {
    (void)source, (void)found;
    return "none"; /* no results to check */
}

static void destroy(struct stream_source *source) {
    struct synth *synth = (struct synth *)source;
    free(synth->body);
    free(synth);
}

static const struct stream_ops stream_ops = {
    .name = "synth",
    .next_kernel = next_kernel,
    .open = open_warp,
    .refill = refill,
    .restart = restart,
    .check = check,
    .destroy = destroy,
};

uint64_t synth_warp_instructions(const struct stream_source *source) {
    if (source->ops != &stream_ops) return 0;
    const struct synth *synth = (const struct synth *)source;
    return (uint64_t)synth->params.kernels * synth->warps * ((uint64_t)synth->params.iterations * synth->count + 1);
}

/* Counts the memory records of the body and repeats it, so that a whole chunk can be copied from any slot. */
static void finish_body(struct synth *synth) {
    while (synth->memory < synth->count && synth->body[synth->memory].count) synth->memory++;
    synth->body = mem_grow(synth->body, synth->count + STREAM_CHUNK, sizeof *synth->body);
    for (unsigned i = 0; i < STREAM_CHUNK; i++) synth->body[synth->count + i] = synth->body[i];
}

/* An access must not cross into the next block. */
static bool stride_fits(const struct synth *synth, struct error *err) {
    int64_t bytes = SYNTH_SECTOR_BYTES * (int64_t)__builtin_popcount(synth->sectors);
    if (synth->params.stride_bytes % bytes == 0) return true;
    return config_error(synth->config, "workload.stride_bytes", err,
                        "an access of synth:%s is %lld bytes, so its stride must be a multiple of that",
                        synth->ops->name, (long long)bytes);
}

struct stream_source *synth_create(const struct config *config, const struct synth_ops *ops,
                                   const struct workload_config *params, struct error *err) {
    struct synth *synth = mem_alloc(1, sizeof *synth);
    synth->source.ops = &stream_ops;
    synth->ops = ops;
    synth->params = *params;
    synth->config = config;
    synth->warps = (uint64_t)(params->ctas * params->warps);
    synth->next_address = SYNTH_FIRST_ADDRESS;
    synth->sectors = 0x0F;
    if (!ops->build(synth, err) || !stride_fits(synth, err)) {
        destroy(&synth->source);
        return NULL;
    }
    finish_body(synth);
    synth->config = NULL;
    return &synth->source;
}
