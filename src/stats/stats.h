/* Statistics module. It owns the counter registry and the time series; components own their counters.
 *
 * A component's counters are a struct of plain uint64_t generated from an X-macro list, so counting is one increment.
 * The same list generates the table that reset, snapshot, difference, the terminal summary, JSON and time series use.
 * Enters: one block per instance, registered at build time. Leaves: totals, samples. Contract: no counter is a ratio;
 * ratios are derived where they are shown, from sums over components.
 *
 * Use:
 *     #define FOO_STATS(S) \
 *         S(SUM, reads, "requests", "read requests looked up") \
 *         S(MAX, queue_peak, "requests", "most requests waiting at once")
 *     STATS_STRUCT(foo_stats, FOO_STATS);                      in the header
 *     STATS_TABLE(foo_stat_table, "foo", foo_stats, FOO_STATS); in the source
 */
#ifndef SLUICE_STATS_STATS_H
#define SLUICE_STATS_STATS_H

#include <stddef.h>
#include <stdint.h>

enum stat_kind {
    STAT_SUM, /* counts events or cycles; totals add */
    STAT_MAX, /* the largest value seen; totals take the largest */
    STAT_MIN, /* the smallest value seen, 0 if none; stored as value + 1 so that zeroed memory means "none" */
};

struct stat {
    const char *name, *unit, *help;
    enum stat_kind kind;
};

struct stat_table {
    const char *prefix; /* "sm": the counter's full name is "sm.name" */
    const struct stat *stats;
    unsigned count;
};

#define STATS_FIELD_(kind, name, unit, help) uint64_t name;
#define STATS_STRUCT(tag, LIST) \
    struct tag { \
        LIST(STATS_FIELD_) \
    }
#define STATS_ROW_(kind, name, unit, help) {#name, unit, help, STAT_##kind},
/* All fields are uint64_t, so row i of the table is word i of the struct. */
#define STATS_TABLE(table, prefix, tag, LIST) \
    static const struct stat table##_rows[] = {LIST(STATS_ROW_)}; \
    _Static_assert(sizeof(struct tag) == sizeof table##_rows / sizeof table##_rows[0] * sizeof(uint64_t), \
                   "plain counters"); \
    const struct stat_table table = {prefix, table##_rows, sizeof table##_rows / sizeof table##_rows[0]}

static inline void stat_max(uint64_t *stat, uint64_t value) {
    if (value > *stat) *stat = value;
}
static inline void stat_min(uint64_t *stat, uint64_t value) {
    if (*stat == 0 || value + 1 < *stat) *stat = value + 1;
}

/* All counters of a machine: the blocks of all instances, by table. Frozen once the machine is built. */
struct stats;
struct stats *stats_create(void);
void stats_destroy(struct stats *stats);
/* Registers the block of one instance. Instances of a table are numbered in order of registration. */
void stats_add(struct stats *stats, const struct stat_table *table, const void *block);

/* Counters with the names and the order of `stats` and other values, of which only sums are taken; one instance of each
 * table. */
struct stats *stats_with(const struct stats *stats, const uint64_t *values);

/* Counters summed over all instances, in a fixed order, by index from 0 to stats_count - 1. */
unsigned stats_count(const struct stats *stats);
const struct stat *stats_stat(const struct stats *stats, unsigned index);
void stats_name(const struct stats *stats, unsigned index, char *name, size_t size);
uint64_t stats_total(const struct stats *stats, unsigned index);
unsigned stats_instances(const struct stats *stats, unsigned index);
uint64_t stats_instance(const struct stats *stats, unsigned index, unsigned instance);
/* The index of a counter; -1 if there is no such counter. */
int stats_find(const struct stats *stats, const char *name);
/* By full name ("llc.read_hits"); 0 if there is no such counter, which *found (if not NULL) reports. */
uint64_t stats_get(const struct stats *stats, const char *name, _Bool *found);

/* A time series: every `every` cycles, a row of the increments of all summed counters. */
struct series;
struct series *series_create(const struct stats *stats, uint64_t every);
void series_destroy(struct series *series);
void series_sample(struct series *series, uint64_t now);
uint64_t series_every(const struct series *series);
unsigned series_rows(const struct series *series);
uint64_t series_cycle(const struct series *series, unsigned row);
uint64_t series_value(const struct series *series, unsigned row, unsigned index);
/* Merges each pair of rows, of which there must be an even number, and doubles `every`. */
void series_halve(struct series *series);
/* The increments of a row as counters of their own: sums only, one instance of each table. */
struct stats *series_row_stats(const struct series *series, unsigned row);
/* Before the first sample: also records the counter per instance. */
void series_keep_units(struct series *series, unsigned index);
/* The counters recorded per instance, in order of request; -1 after the last. */
int series_kept(const struct series *series, unsigned number);
uint64_t series_unit_value(const struct series *series, unsigned row, unsigned number, unsigned instance);

#endif
