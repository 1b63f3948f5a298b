/* Memory: controllers, their channels, banks and rows. One controller is one component of the engine and runs all of
 * its channels, in the memory's own clock.
 *
 * Owns: per-channel queues, bank and bus state, the schedule of commands.
 * Enters: `struct message` of kind READ or WRITE from dram_input(dram, slice): one port for each slice of the
 *         controller. Every slice reaches every channel of its controller; a channel takes one request in each core
 *         cycle, the slices in turn. `sectors` says which parts of the line are moved (0 means all of it).
 * Leaves: DATA for each read when its last data has left the device, ACK for each write when its last data has entered
 *         it, by dram_output(dram, slice); `tag` and `source` come back untouched.
 *
 * Slices are numbered over the whole machine: controller × slices per controller + slice within it; where each controller has
 * one more, of the atomics' LLC, those come after all others.
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

/* Counters of a channel. A column command is a row hit, miss or conflict by what its request met when its first command
 * was issued: its row open, no row open, another row open; the further column commands of the same request are hits. */
#define DRAM_STATS(S) \
    S(SUM, reads, "requests", "reads served") \
    S(SUM, writes, "requests", "writes served") \
    S(SUM, read_bytes, "bytes", "moved by column reads") \
    S(SUM, write_bytes, "bytes", "moved by column writes") \
    S(SUM, activates, "commands", "rows opened") \
    S(SUM, precharges, "commands", "rows closed") \
    S(SUM, refreshes, "commands", "refreshes of all banks") \
    S(SUM, row_hits, "commands", "column commands that found their row open") \
    S(SUM, row_misses, "commands", "column commands that found no row open") \
    S(SUM, row_conflicts, "commands", "column commands that found another row open") \
    S(SUM, forwards, "requests", "reads answered from the write queue") \
    S(SUM, bus_cycles, "memory cycles", "in which the data bus was in use") \
    S(SUM, read_cycles, "memory cycles", "from entering the queue to the last data, summed over reads") \
    S(SUM, queue_full_cycles, "core cycles", "in which a request waited for room in the queue")
STATS_STRUCT(dram_stats, DRAM_STATS);
extern const struct stat_table dram_stat_table;

struct dram;

/* `slices` is how many there are in all. */
struct dram *dram_create(const struct config *config, const struct address_map *map, const unsigned *slice_component,
                         unsigned slices, struct engine *engine, uint64_t core_khz, struct stats *stats,
                         struct error *err);
void dram_destroy(struct dram *dram);
struct port *dram_input(struct dram *dram, unsigned slice);
struct port *dram_output(struct dram *dram, unsigned slice);

/* Every command, as it is issued. A channel's commands come in the order of their cycles; those of different channels
 * interleave. */
enum dram_command { DRAM_ACTIVATE, DRAM_PRECHARGE, DRAM_READ, DRAM_WRITE, DRAM_PRECHARGE_ALL, DRAM_REFRESH };

struct dram_log_entry {
    uint64_t cycle; /* of the memory's clock */
    uint16_t mc, channel;
    uint8_t command; /* enum dram_command */
    uint8_t bank;    /* 0 for commands that concern all */
    uint32_t row;    /* the open row for a column command or precharge */
    uint32_t column; /* byte offset within the row; column commands only */
};

typedef void dram_log_fn(void *user, const struct dram_log_entry *entry);
void dram_set_log(struct dram *dram, dram_log_fn *log, void *user);
const char *dram_command_name(enum dram_command command);

/* Cycles of the core from pushing the read of a whole line into dram_input of an idle memory whose bank is closed until
 * its data can be seen at dram_output. What a dependent-load chain must measure; computed from the description alone.
 * Where the clocks differ it depends on the cycle of the push by one or two: dram_unloaded_cycles is for cycle 0.
 * Refresh is not counted. */
uint64_t dram_unloaded_cycles(const struct config *config, uint64_t core_khz);
uint64_t dram_unloaded_cycles_at(const struct config *config, uint64_t core_khz, uint64_t now);

#endif
