/* Statistics: a counter is one row of one table, written once, next to what counts.
 *
 * A component's counters are a struct of plain uint64_t made from an X-macro list, so that counting costs one
 * increment. The same list makes the table that reset, snapshot, difference, the terminal summary, JSON and time series
 * all walk. Nothing here is ever a ratio: ratios are derived where they are shown, from sums that add up over
 * components.
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
    STAT_MIN, /* the smallest value seen, 0 if none was; kept as value + 1 so that zeroed memory means "none" */
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

/* All counters of a machine: for each table, the blocks of its instances. Frozen once the machine is built. */
struct stats;
struct stats *stats_create(void);
void stats_destroy(struct stats *stats);
/* Registers one instance's block. Instances of a table are numbered in the order in which they come. */
void stats_add(struct stats *stats, const struct stat_table *table, const void *block);

/* Counters over all instances, in a fixed order, by index from 0 to stats_count - 1. */
unsigned stats_count(const struct stats *stats);
const struct stat *stats_stat(const struct stats *stats, unsigned index);
void stats_name(const struct stats *stats, unsigned index, char *name, size_t size);
uint64_t stats_total(const struct stats *stats, unsigned index);
unsigned stats_instances(const struct stats *stats, unsigned index);
uint64_t stats_instance(const struct stats *stats, unsigned index, unsigned instance);
/* Its index; -1 if there is no such counter. */
int stats_find(const struct stats *stats, const char *name);
/* By full name ("llc.read_hits"); 0 if there is no such counter, with *found (if not NULL) telling. */
uint64_t stats_get(const struct stats *stats, const char *name, _Bool *found);

/* A time series: every `every` cycles a row with what each summed counter grew by. */
struct series;
struct series *series_create(const struct stats *stats, uint64_t every);
void series_destroy(struct series *series);
void series_sample(struct series *series, uint64_t now);
uint64_t series_every(const struct series *series);
unsigned series_rows(const struct series *series);
uint64_t series_cycle(const struct series *series, unsigned row);
uint64_t series_value(const struct series *series, unsigned row, unsigned index);
/* Before the first sample: the counter is also kept for each of its instances. */
void series_keep_units(struct series *series, unsigned index);
/* Counters that are, in the order in which they were asked for; -1 after the last. */
int series_kept(const struct series *series, unsigned number);
uint64_t series_unit_value(const struct series *series, unsigned row, unsigned number, unsigned instance);

#endif
