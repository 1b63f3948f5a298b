/* Generated streams: every warp runs a loop body `iterations` times and exits. A body is a short array of records made
 * once; only the touched address of a memory record changes from round to round, so a record costs a copy and one
 * address.
 *
 * A generated stream is one file and one line in synths.def. The file fills in `struct synth_ops`: its own values of
 * the parameters, how the body is built, and the address of a memory record. The first records of a body are its memory
 * records, so that a record's slot is also its number among the memory records of the round.
 *
 * What is left out: address arithmetic and loop counters as instructions (the streams are to press on the memory, not
 * to look compiled), partial warps, and more than one touched block per record. Nothing depends on the machine: an
 * access is 128 bytes (or one sector, synth:chase) wherever it runs.
 */
#ifndef SLUICE_STREAM_SYNTH_H
#define SLUICE_STREAM_SYNTH_H

#include "stream/workload.h"

enum {
    SYNTH_SECTOR_BYTES = 32,
    SYNTH_BUFFERS = 2,
    SYNTH_REGISTERS = 20, /* per thread: enough for every body, few enough to leave occupancy to warps and CTAs */
};

/* Buffers lie in the lower 4 GiB, above what programs usually leave unmapped and below the instructions. */
#define SYNTH_FIRST_ADDRESS UINT64_C(0x10000000)
#define SYNTH_LAST_ADDRESS  UINT64_C(0xE0000000)

/* The place of a warp in its stream, in warp_stream.state. */
enum synth_state { SYNTH_ROUND, SYNTH_SLOT, SYNTH_WARP, SYNTH_CURSOR, SYNTH_RANDOM };

struct synth;

struct synth_ops {
    const char *name, *help;
    struct workload_config own; /* the workload's own values; 0 where it does not have the parameter */
    bool past_l1;               /* its loads always go past the L1 */
    /* Lays out buffers and adds the body's records. */
    bool (*build)(struct synth *synth, struct error *err);
    /* Sets cursors of a warp that begins. NULL if it has none. */
    void (*open)(const struct synth *synth, struct warp_stream *warp);
    /* The address that the memory record in `slot` touches in round `round`. NULL without memory records. */
    uint64_t (*address)(const struct synth *synth, struct warp_stream *warp, uint64_t round, unsigned slot);
};

struct synth {
    struct stream_source source;
    const struct synth_ops *ops;
    struct workload_config params; /* resolved */
    const struct config *config;   /* during build, to locate errors */
    uint64_t warps;                /* of the whole grid */
    uint64_t elements;             /* of the footprint, one each stride_bytes */
    uint64_t base[SYNTH_BUFFERS];
    uint64_t next_address;
    uint8_t sectors; /* of one access, from its address on: a line's four unless build says otherwise */
    int64_t launched;
    struct instr *body;
    unsigned count, memory; /* records of the body; how many of them, its first, are of memory */
};

/* Creates the source for resolved parameters, or NULL with an error. */
struct stream_source *synth_create(const struct config *config, const struct synth_ops *ops,
                                   const struct workload_config *params, struct error *err);
uint64_t synth_warp_instructions(const struct stream_source *source);

/* For build: a buffer of `elements` accesses at the stride; an error if it does not fit below 4 GiB. */
bool synth_buffer(struct synth *synth, unsigned buffer, uint64_t elements, struct error *err);
/* The elements of footprint_kb, and a buffer for them. */
bool synth_footprint(struct synth *synth, unsigned buffer, struct error *err);
/* Adds one record and returns it to be refined. */
struct instr *synth_add(struct synth *synth, enum op_class op);
/* Adds `loads` loads into registers 1, 2, ... and, apart, `compute` multiply-adds that use them in turn, two each. */
void synth_add_loads(struct synth *synth);
void synth_add_compute(struct synth *synth);

/* The first of the `length` elements that a warp takes from an array in one round, when the whole grid goes through it
 * in step. */
static inline uint64_t synth_run(const struct synth *synth, const struct warp_stream *warp, uint64_t round,
                                 uint64_t length) {
    return (round * synth->warps + warp->state[SYNTH_WARP]) * length;
}

/* Element `index` of a buffer. */
static inline uint64_t synth_element(const struct synth *synth, unsigned buffer, uint64_t index) {
    return synth->base[buffer] + index * (uint64_t)synth->params.stride_bytes;
}

#endif
