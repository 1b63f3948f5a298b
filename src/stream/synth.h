/* Generated streams: every warp executes a loop body `iterations` times and exits. A body is a short array of records
 * built once; only the address of a memory record changes from round to round, so producing a record costs one copy and
 * one address.
 *
 * A generated stream is one file and one line in synths.def. The file defines a `struct synth_ops`: default parameters,
 * construction of the body, address of each memory record. Memory records come first in a body, so a record's slot is
 * also its number among the memory records of the round.
 *
 * Not modelled: address arithmetic and loop counters (the streams load the memory system; they do not imitate compiled
 * code), partial warps, and more than one touched block per record. Nothing depends on the machine: an access is 128
 * bytes (one sector for synth:chase).
 */
#ifndef SLUICE_STREAM_SYNTH_H
#define SLUICE_STREAM_SYNTH_H

#include "stream/workload.h"

enum {
    SYNTH_SECTOR_BYTES = 32,
    SYNTH_BUFFERS = 2,
    SYNTH_REGISTERS = 20, /* per thread: enough for every body, too few to limit occupancy */
};

/* Buffers lie in the lower 4 GiB, above the usually unmapped low addresses and below the instructions. */
#define SYNTH_FIRST_ADDRESS UINT64_C(0x10000000)
#define SYNTH_LAST_ADDRESS  UINT64_C(0xE0000000)

/* A warp's position in its stream, in warp_stream.state. */
enum synth_state { SYNTH_ROUND, SYNTH_SLOT, SYNTH_WARP, SYNTH_CURSOR, SYNTH_RANDOM };

struct synth;

struct synth_ops {
    const char *name, *help;
    struct workload_config own; /* default parameters; 0 for parameters that it does not have */
    bool past_l1;               /* its loads always bypass the L1 */
    /* Lays out buffers and adds the body's records. */
    bool (*build)(struct synth *synth, struct error *err);
    /* Initialises the cursors of a warp. NULL if it has none. */
    void (*open)(const struct synth *synth, struct warp_stream *warp);
    /* The address of the memory record in `slot` in round `round`. NULL without memory records. */
    uint64_t (*address)(const struct synth *synth, struct warp_stream *warp, uint64_t round, unsigned slot);
};

struct synth {
    struct stream_source source;
    const struct synth_ops *ops;
    struct workload_config params; /* resolved */
    const struct config *config;   /* during build, to locate errors */
    uint64_t warps;                /* in the grid */
    uint64_t elements;             /* of the footprint, stride_bytes each */
    uint64_t base[SYNTH_BUFFERS];
    uint64_t next_address;
    uint8_t sectors; /* of one access; a line's four unless build changes it */
    int64_t launched;
    struct instr *body;
    unsigned count, memory; /* records of the body; leading memory records among them */
};

/* Creates the source for resolved parameters, or NULL with an error. */
struct stream_source *synth_create(const struct config *config, const struct synth_ops *ops,
                                   const struct workload_config *params, struct error *err);
uint64_t synth_warp_instructions(const struct stream_source *source);

/* For build: a buffer of `elements` accesses at the stride; fails if it does not fit below 4 GiB. */
bool synth_buffer(struct synth *synth, unsigned buffer, uint64_t elements, struct error *err);
/* The number of elements in footprint_kb, and a buffer for them. */
bool synth_footprint(struct synth *synth, unsigned buffer, struct error *err);
/* Appends a record and returns it for further changes. */
struct instr *synth_add(struct synth *synth, enum op_class op);
/* Adds `loads` loads into registers 1, 2, ... and `compute` independent multiply-adds that use them, two each. */
void synth_add_loads(struct synth *synth);
void synth_add_compute(struct synth *synth);

/* The first of the `length` elements that a warp accesses per round when the grid traverses an array in step. */
static inline uint64_t synth_run(const struct synth *synth, const struct warp_stream *warp, uint64_t round,
                                 uint64_t length) {
    return (round * synth->warps + warp->state[SYNTH_WARP]) * length;
}

/* Element `index` of a buffer. */
static inline uint64_t synth_element(const struct synth *synth, unsigned buffer, uint64_t index) {
    return synth->base[buffer] + index * (uint64_t)synth->params.stride_bytes;
}

#endif
