/* Bundled workloads: what a name on the command line stands for. Here: the generated streams `synth:NAME` (synth.h),
 * each made to press on one part of the machine.
 *
 * Their parameters are the section "workload". A parameter left at its default means the workload's own value, since
 * what suits a chain of dependent loads does not suit a stream; a parameter that a workload does not have is refused
 * when it is set.
 */
#ifndef SLUICE_STREAM_WORKLOAD_H
#define SLUICE_STREAM_WORKLOAD_H

#include "config/config.h"
#include "stream/stream.h"

/* Parameters of generated streams: name, value that means "the workload's own", smallest, largest, unit, help. */
#define WORKLOAD_PARAMS(X) \
    X(ctas, 0, 0, 1048576, "CTAs", "CTAs in the grid; 0: the workload's own") \
    X(warps, 0, 0, 32, "warps", "warps per CTA; 0: the workload's own") \
    X(kernels, 0, 0, 1000, "kernels", "launches of the kernel, one after the other; 0: the workload's own") \
    X(iterations, 0, 0, 1000000000, "iterations", "rounds of the loop that each warp runs; 0: the workload's own") \
    X(loads, 0, 0, 12, "loads", "independent loads per round; 0: the workload's own") \
    X(private_loads, -1, -1, 12, "loads", "how many of a round's loads stream private data; -1: the workload's own") \
    X(compute, -1, -1, 1024, "instructions", "arithmetic instructions per round; -1: the workload's own") \
    X(chains, 0, 0, 16, "chains", "independent chains of arithmetic; 0: the workload's own") \
    X(lines, 0, 0, 65536, "lines", "hot lines; 0: the workload's own") \
    X(stride_bytes, 0, 0, 1048576, "bytes", "from one access to the next; 0: the workload's own") \
    X(footprint_kb, 0, 0, 3407872, "KB", \
      "memory that is accessed again and again; 0: the workload's own, or footprint_mb") \
    X(seed, 0, 0, 1000000000, "", "seed of random addresses; 0: the workload's own")

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

/* Warp instructions that a source will give from start to end; 0 if that is not known beforehand. */
uint64_t workload_warp_instructions(const struct stream_source *source);

/* What there is, for listings. */
struct workload_info {
    char name[32];
    const char *help;
    char parameters[256]; /* "ctas=1 warps=1 ...": the workload's own values of the parameters that it has */
};
unsigned workload_count(void);
void workload_info_at(unsigned index, struct workload_info *info);

#endif
