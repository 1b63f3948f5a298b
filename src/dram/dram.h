/* Memory: controllers with their channels, banks and rows. Each controller is one component of the engine and simulates
 * all of its channels, in the memory clock domain.
 *
 * Owns:   the queues of each channel, bank and bus state, command scheduling, the address mapping (mapping.h).
 * Enters: `struct message` of kind READ or WRITE from dram_input(dram, slice), one port per slice of the controller.
 *         Every slice reaches every channel of its controller; a channel accepts one request per core cycle, round
 *         robin over the slices. `sectors` are the parts of the line to be transferred (0: all of it).
 * Leaves: DATA for each read after its last data has left the device, ACK for each write after its last data has
 *         entered it, through dram_output(dram, slice).
 *
 * Contract: every request gets exactly one reply, with `tag` and `source` unchanged; no command violates the device's
 * timings. Slices are numbered over the whole machine: controller × slices per controller + slice within it; slices of
 * the atomics' LLC, one per controller, follow all others.
 *
 * A memory kind (kinds.def), a scheduler (schedulers.def) and a row policy (row_policies.def) are each one file and one
 * line in its table.
 */
#ifndef SLUICE_DRAM_DRAM_H
#define SLUICE_DRAM_DRAM_H

#include "config/config.h"
#include "dram/mapping.h"
#include "sim/engine.h"
#include "sim/message.h"
#include "sim/port.h"
#include "stats/stats.h"

/* Counters of a channel. A column command is a row hit, miss or conflict by the state of the bank at the first command
 * of its request: its row open, no row open, another row open. Further column commands of the same request are hits. */
#define DRAM_STATS(S) \
    S(SUM, reads, "requests", "reads served") \
    S(SUM, writes, "requests", "writes served") \
    S(SUM, read_bytes, "bytes", "bytes transferred by column reads") \
    S(SUM, write_bytes, "bytes", "bytes transferred by column writes") \
    S(SUM, activates, "commands", "activate commands") \
    S(SUM, precharges, "commands", "precharge commands") \
    S(SUM, refreshes, "commands", "refresh commands (all banks)") \
    S(SUM, row_hits, "commands", "column commands of requests whose row was open") \
    S(SUM, row_misses, "commands", "column commands of requests whose bank had no open row") \
    S(SUM, row_conflicts, "commands", "column commands of requests whose bank had another row open") \
    S(SUM, forwards, "requests", "reads forwarded from the write queue") \
    S(SUM, bus_cycles, "memory cycles", "cycles in which the data bus is busy") \
    S(SUM, read_cycles, "memory cycles", "read latency from entering the queue to the last data, summed over reads") \
    S(SUM, queue_full_cycles, "core cycles", "cycles in which a request waits for a full queue")
STATS_STRUCT(dram_stats, DRAM_STATS);
extern const struct stat_table dram_stat_table;

struct dram;

/* `slices` is the total number of slices. */
struct dram *dram_create(const struct config *config, const struct address_map *map, const unsigned *slice_component,
                         unsigned slices, struct engine *engine, uint64_t core_khz, struct stats *stats,
                         struct error *err);
void dram_destroy(struct dram *dram);
struct port *dram_input(struct dram *dram, unsigned slice);
struct port *dram_output(struct dram *dram, unsigned slice);

/* Reports every command as it is issued. The commands of one channel are in order of time; those of different channels
 * interleave. */
enum dram_command { DRAM_ACTIVATE, DRAM_PRECHARGE, DRAM_READ, DRAM_WRITE, DRAM_PRECHARGE_ALL, DRAM_REFRESH };

struct dram_log_entry {
    uint64_t cycle; /* in memory cycles */
    uint16_t mc, channel;
    uint8_t command; /* enum dram_command */
    uint8_t bank;    /* 0 for commands to all banks */
    uint32_t row;    /* the open row for a column command or precharge */
    uint32_t column; /* byte offset within the row; column commands only */
};

typedef void dram_log_fn(void *user, const struct dram_log_entry *entry);
void dram_set_log(struct dram *dram, dram_log_fn *log, void *user);
const char *dram_command_name(enum dram_command command);

#endif
