/* Strands: lanes of a warp that have a SIMT stack of their own. One strand of a warp runs, the others are parked. A warp
 * begins as one strand. Only warps of targets with independent thread scheduling have others: they split (strand.c), or
 * are parked while they poll (poll.c).
 *
 * All lanes of a strand that polls, or that waits for other lanes of its warp, are in its top path. */
#ifndef SLUICE_EMU_STRAND_H
#define SLUICE_EMU_STRAND_H

#include "ptx/program.h"

struct warp_state;
struct path;
struct frame;
struct cta_barrier;

/* A value that a polling loop reads: it repeats exactly while these do not change. */
struct watched {
    const struct op *op;
    uint64_t address;
    uint8_t space, lane, bytes;
    uint8_t value[32];
};

enum strand_status {
    STRAND_READY,
    STRAND_POLLS,      /* until a watched value changes */
    STRAND_MEETS,      /* at operation `at`, for the other lanes of `members` */
    STRAND_AT_BARRIER, /* with the running strand, at a barrier of the CTA */
};

struct strand {
    enum strand_status status;
    uint32_t lanes;
    struct path *paths;
    uint32_t path_count, path_room;
    struct frame *frames;
    uint32_t frame_count, frame_room;
    bool converges; /* it has reached a reconvergence point, where others may join it ... */
    uint64_t since; /* ... when the warp had executed this many instructions */
    const struct op *at;
    uint32_t members;
    struct watched *watched;
    uint32_t watched_count;
};

/* Values of lanes that meet at different operations: `row` has the width of the operation. */
struct meeting {
    uint32_t lanes, votes;
    uint64_t row[WARP_LANES];
};

/* The lanes that poll leave the running strand. */
void strand_poll(struct warp_state *w, uint32_t lanes, struct watched *watched, uint32_t count);
/* Whether the lanes in `mask` can execute `op`: all live members of their masks are in `mask`. */
bool strand_complete(struct warp_state *w, const struct op *op, uint32_t mask);
/* Those lanes of `mask` that cannot execute `op` leave the running strand. */
void strand_await(struct warp_state *w, const struct op *op, uint32_t mask);
/* Selects a strand to run, since none does. If none can run, the warp polls, or the run fails. */
void strand_schedule(struct warp_state *w);
/* The running strand has ended, and the warp has others. */
void strand_end(struct warp_state *w);
/* Runs another strand if a watched value has changed. Returns whether it has. */
bool strand_wake(struct warp_state *w);
/* The running strand has changed memory. Returns whether another one runs instead, or has joined it. */
bool strand_store(struct warp_state *w);
/* Before a quantum: runs another strand if the running one has run for long. */
void strand_rotate(struct warp_state *w);
/* The running strand has reached a reconvergence point. */
void strand_converge(struct warp_state *w);
/* The warp polls: makes a strand ready although its watched values have not changed. */
void strand_retry(struct warp_state *w);
/* Strands at the CTA's barrier continue; `write` writes the result of bar.red for the running strand. */
void strands_release(struct warp_state *w, const struct cta_barrier *barrier,
                     void (*write)(struct warp_state *w, const struct cta_barrier *barrier));
/* The end of the highest register window of parked strands. */
uint32_t strands_window_end(const struct warp_state *w);
void strands_free(struct warp_state *w);

/* Polls (poll.c). */
enum { POLL_PERIOD_MAX = 8192 }; /* instructions in which a state must recur */
/* At the end of an iteration of a loop that may poll: whether the iteration repeats exactly; the lanes are parked then. */
bool poll_repeats(struct warp_state *w, uint32_t lanes);
/* After it: whether the warp should let others run before the next iteration. */
bool poll_yields(const struct warp_state *w);
/* Runs the warp until its state recurs. Returns the instructions of one repetition, or 0. */
unsigned poll_period(struct warp_state *w);
/* Executes instructions. Whether the warp has changed nothing and has read a few words, the first of which is returned,
 * several times each: a loop that polls, although its state may not recur. */
bool poll_suspected(struct warp_state *w, struct watched *first);
/* Executes one repetition of `period` instructions without records, and collects what it reads. False if that is not
 * known completely. `items` is to be freed. */
bool poll_watch(struct warp_state *w, uint64_t period, struct watched **items, uint32_t *count);
void poll_free(struct warp_state *w);

#endif
