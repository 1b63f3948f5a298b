/* Generated workloads: resolves `synth:NAME` (synth.h) to a stream. Each stresses one part of the machine.
 *
 * Their parameters form the section "workload". A parameter that is not set takes the workload's default, since a chain
 * of dependent loads and a stream need different values; setting a parameter that a workload does not have is an error.
 */
#ifndef SLUICE_STREAM_WORKLOAD_H
#define SLUICE_STREAM_WORKLOAD_H

#include "config/config.h"
#include "stream/stream.h"

/* Parameters of generated streams: name, value that means "workload default", minimum, maximum, unit, help. */
#define WORKLOAD_PARAMS(X) \
    X(ctas, 0, 0, 1048576, "CTAs", "CTAs in the grid; 0: workload default") \
    X(warps, 0, 0, 32, "warps", "warps per CTA; 0: workload default") \
    X(kernels, 0, 0, 1000, "kernels", "consecutive launches of the kernel; 0: workload default") \
    X(iterations, 0, 0, 1000000000, "iterations", "loop iterations (rounds) per warp; 0: workload default") \
    X(loads, 0, 0, 12, "loads", "independent loads per round; 0: workload default") \
    X(private_loads, -1, -1, 12, "loads", "loads per round that stream private data; -1: workload default") \
    X(compute, -1, -1, 1024, "instructions", "arithmetic instructions per round; -1: workload default") \
    X(chains, 0, 0, 16, "chains", "independent chains of arithmetic; 0: workload default") \
    X(lines, 0, 0, 65536, "lines", "hot lines; 0: workload default") \
    X(stride_bytes, 0, 0, 1048576, "bytes", "stride between accesses; 0: workload default") \
    X(footprint_kb, 0, 0, 3407872, "KB", "memory accessed repeatedly; 0: workload default, or footprint_mb") \
    X(seed, 0, 0, 1000000000, "", "seed of random addresses; 0: workload default")

struct workload_config {
#define X(name, own, least, most, unit, help) int64_t name;
    WORKLOAD_PARAMS(X)
#undef X
    double footprint_mb;
    bool cache_global;
};

extern const struct section workload_section;

/* The stream of the workload `name` ("synth:chase"), or NULL. Release with source->ops->destroy. */
struct stream_source *workload_open(const struct config *config, const char *name, struct error *err);

/* Warp instructions of a source from start to end; 0 if unknown in advance. */
uint64_t workload_warp_instructions(const struct stream_source *source);

/* For listings. */
struct workload_info {
    char name[32];
    const char *help;
    char parameters[256]; /* "ctas=1 warps=1 ...": its parameters with their defaults */
};
unsigned workload_count(void);
void workload_info_at(unsigned index, struct workload_info *info);

#endif
