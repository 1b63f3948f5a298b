/* The latency observer: attributes every cycle of a load to a stage of its path, and the load to the level that supplied
 * its data. It changes nothing and exists only if gpu.observe_latency is set (`engine->latency`).
 *
 * A path is the history of one access, request or fetch while it is in flight: consecutive segments, each of which has a
 * stage. Components extend the path of a message when they handle it; when data arrive, the path of a request becomes
 * part of the paths that wait for it, from the cycle on in which these began to wait (latency_join). A path has no gaps,
 * so the stages of a load add up to its cycles.
 *
 *   access of an SM ── waits for ── request of an L1 ── waits for ── fetch of a slice
 *
 * Components call the functions only if `engine->latency` is not NULL. A key without an open path is ignored: stores and
 * instruction fetches have none. Work that is done ahead of time is done in its own cycle while the observer exists.
 *
 * Order: within a cycle each path is extended by one component, and counters are sums, so that the order of ticks does
 * not matter.
 */
#ifndef SLUICE_SIM_LATENCY_H
#define SLUICE_SIM_LATENCY_H

#include "sim/message.h"
#include "stats/stats.h"

/* Levels of the memory hierarchy that supply data. */
#define LATENCY_LEVELS(L) \
    L(l1, "L1 hit") \
    L(l1_pending, "L1 pending hit") \
    L(l1_remote, "remote L1 hit") \
    L(sm_cache, "SM cache hit") \
    L(llc, "LLC hit") \
    L(llc_pending, "LLC pending hit") \
    L(dram, "DRAM") \
    L(none, "no access")

/* Stages in the order of the path. `queue`: waiting, of which a load that is alone in the machine has none. */
#define LATENCY_STAGES(S) \
    S(operands, false, "operand read", "issue and operand read") \
    S(lsu_queue, true, "LSU queue", "waiting in the load/store unit behind earlier instructions") \
    S(divergence, true, "divergence", "waiting behind earlier accesses of the same instruction") \
    S(reservation_fail, true, "reservation failures", "replays after reservation failures") \
    S(l1_crossbar, false, "L1 crossbar", "crossbars between SMs and shared L1s, zero-load latency") \
    S(l1_queue, true, "L1 queue", "queues in front of the L1 and its data port, queueing in L1 crossbars") \
    S(l1, false, "L1", "L1 lookup and data") \
    S(cooperation, false, "cooperation", "probes of other groups' L1s and their answers") \
    S(miss_queue, true, "miss queue", "waiting for the request network in the miss queue") \
    S(request_queue, true, "request queueing", "request network beyond its zero-load latency") \
    S(request_network, false, "request network", "request network, zero-load latency") \
    S(bridge, false, "bridge", "bridges between LLC partitions, with their queues") \
    S(slice, false, "LLC slice", "pipeline of the LLC slice") \
    S(slice_queue, true, "slice queue", "waiting in the LLC slice for lookup, MSHR, replay or data port") \
    S(dram_queue, true, "DRAM queue", "waiting for the memory controller, the bank and the data bus") \
    S(dram, false, "DRAM", "memory controller pipeline, and from the first command to the data") \
    S(reply_queue, true, "reply queueing", "reply network beyond its zero-load latency") \
    S(reply_network, false, "reply network", "reply network, zero-load latency") \
    S(l1_fill, true, "L1 fill", "from the arrival of the data to the wake of the access") \
    S(writeback, false, "write-back", "write-back to the register file, or to shared memory")

#define LATENCY_LEVEL_(name, title)              LATENCY_LEVEL_##name,
#define LATENCY_STAGE_(name, queue, title, help) LATENCY_##name,
enum latency_level { LATENCY_LEVELS(LATENCY_LEVEL_) LATENCY_LEVEL_COUNT };
enum latency_stage { LATENCY_STAGES(LATENCY_STAGE_) LATENCY_STAGE_COUNT };

/* Histogram of the latency, two buckets per octave; the number is the lower bound. */
#define LATENCY_BUCKETS(B) \
    B(0, "loads of less than 16 cycles") \
    B(16, "loads of 16 to 23 cycles") \
    B(24, "loads of 24 to 31 cycles") \
    B(32, "loads of 32 to 47 cycles") \
    B(48, "loads of 48 to 63 cycles") \
    B(64, "loads of 64 to 95 cycles") \
    B(96, "loads of 96 to 127 cycles") \
    B(128, "loads of 128 to 191 cycles") \
    B(192, "loads of 192 to 255 cycles") \
    B(256, "loads of 256 to 383 cycles") \
    B(384, "loads of 384 to 511 cycles") \
    B(512, "loads of 512 to 767 cycles") \
    B(768, "loads of 768 to 1023 cycles") \
    B(1024, "loads of 1024 to 1535 cycles") \
    B(1536, "loads of 1536 to 2047 cycles") \
    B(2048, "loads of 2048 to 3071 cycles") \
    B(3072, "loads of 3072 to 4095 cycles") \
    B(4096, "loads of 4096 to 6143 cycles") \
    B(6144, "loads of 6144 to 8191 cycles") \
    B(8192, "loads of 8192 to 12287 cycles") \
    B(12288, "loads of 12288 to 16383 cycles") \
    B(16384, "loads of 16384 to 24575 cycles") \
    B(24576, "loads of 24576 to 32767 cycles") \
    B(32768, "loads of 32768 cycles and more")

#define LATENCY_BUCKET_(bound, help) LATENCY_FROM_##bound,
enum latency_bucket { LATENCY_BUCKETS(LATENCY_BUCKET_) LATENCY_BUCKET_COUNT };

/* The counters of one level, in the order of their table. */
struct latency_stats {
    uint64_t loads;
    uint64_t stage[LATENCY_STAGE_COUNT];
    uint64_t bucket[LATENCY_BUCKET_COUNT];
};
extern const struct stat_table latency_stat_tables[LATENCY_LEVEL_COUNT];

struct latency_stage_name {
    const char *name, *title;
    bool queue;
};
struct latency_level_name {
    const char *name, *title;
};
extern const struct latency_stage_name latency_stage_names[LATENCY_STAGE_COUNT];
extern const struct latency_level_name latency_level_names[LATENCY_LEVEL_COUNT];
extern const unsigned latency_bucket_bounds[LATENCY_BUCKET_COUNT]; /* the lowest latency of each */

enum latency_bucket latency_bucket_of(uint64_t cycles);

/* ---- paths ------------------------------------------------------------------------------------------------------- */

/* Whose tag identifies a path. */
enum latency_owner {
    LATENCY_ACCESS,  /* client of an L1, and its token */
    LATENCY_SHARED,  /* SM whose L1 is shared, and its token */
    LATENCY_REQUEST, /* L1 endpoint, and the tag of its request */
    LATENCY_FETCH,   /* LLC slice, and the tag of its fetch */
};

/* `sectors`: an MSHR of a sectored cache may have several requests in flight, for different sectors. */
static inline uint64_t latency_key(enum latency_owner owner, unsigned index, uint32_t tag, uint8_t sectors) {
    uint64_t first = sectors ? (uint64_t)__builtin_ctz(sectors) : 0;
    return (uint64_t)owner << 56 | first << 48 | (uint64_t)index << 32 | tag;
}

/* The key of a message at an LLC slice: an L1's request, or another slice's fetch. */
static inline uint64_t latency_message_key(const struct message *message) {
    return latency_key(message->flags & MESSAGE_BRIDGED ? LATENCY_FETCH : LATENCY_REQUEST, message->source,
                       message->tag, message->sectors);
}

struct latency;

/* Zero-load latency of a message in the request network, or in the reply network. */
typedef uint64_t latency_zero_load(const void *user, bool reply, const struct message *message);

/* `shared`: SMs share L1s. */
struct latency *latency_create(bool shared, latency_zero_load *zero_load, const void *user);
void latency_destroy(struct latency *latency);
void latency_add_stats(struct latency *latency, struct stats *stats);

/* The key of an SM's access. */
uint64_t latency_access_key(const struct latency *latency, unsigned sm, uint32_t token);

/* Begins a path in cycle `now`, in place of an earlier one with this key. */
void latency_open(struct latency *latency, uint64_t key, uint64_t now);
void latency_close(struct latency *latency, uint64_t key);
/* Extends the path to cycle `until`; no effect if it is that long. */
void latency_mark(struct latency *latency, uint64_t key, enum latency_stage stage, uint64_t until);
/* The same for a stage with a zero-load latency: what is longer belongs to `queue`, and comes first. */
void latency_mark_loaded(struct latency *latency, uint64_t key, enum latency_stage queue, enum latency_stage stage,
                         uint64_t zero_load, uint64_t until);
/* The message has crossed a network. */
void latency_cross(struct latency *latency, const struct message *message, bool reply, uint64_t until);
/* Sets the level, unless it is known. */
void latency_supply(struct latency *latency, uint64_t key, enum latency_level level);
/* The path waited for another one, which it extends to; a gap between them is of stage `gap`. Takes its level, unless
 * that is known. */
void latency_join(struct latency *latency, uint64_t key, uint64_t other, enum latency_stage gap);
/* Counts the path as that of a load, and closes it. */
void latency_count(struct latency *latency, uint64_t key);
/* Paths in flight; for tests. */
unsigned latency_open_paths(const struct latency *latency);

#endif
