/* The time series: each sample holds the increment of every summed counter since the previous sample. Counters of other
 * kinds (maximum, minimum) have no meaningful increment: their column holds the value so far. */
#include <stdlib.h>

#include "base/base.h"
#include "stats/stats.h"

struct series {
    const struct stats *stats;
    uint64_t every;
    unsigned columns, rows, room;
    uint64_t *cycles; /* [rows] */
    uint64_t *values; /* [rows][columns] */
    uint64_t *last;   /* totals at the previous sample */
    struct kept {     /* also recorded per instance */
        unsigned index, instances;
        uint64_t *values, *last; /* [rows][instances], [instances] */
    } * kept;
    unsigned kept_count;
};

struct series *series_create(const struct stats *stats, uint64_t every) {
    struct series *series = mem_alloc(1, sizeof *series);
    series->stats = stats;
    series->every = every;
    series->columns = stats_count(stats);
    series->last = mem_alloc(series->columns, sizeof *series->last);
    for (unsigned i = 0; i < series->columns; i++) series->last[i] = stats_total(stats, i);
    return series;
}

void series_destroy(struct series *series) {
    if (!series) return;
    free(series->cycles);
    free(series->values);
    free(series->last);
    for (unsigned i = 0; i < series->kept_count; i++) {
        free(series->kept[i].values);
        free(series->kept[i].last);
    }
    free(series->kept);
    free(series);
}

void series_keep_units(struct series *series, unsigned index) {
    unsigned instances = stats_instances(series->stats, index);
    series->kept = mem_grow(series->kept, series->kept_count + 1, sizeof *series->kept);
    struct kept *kept = &series->kept[series->kept_count++];
    *kept = (struct kept){index, instances, NULL, mem_alloc(instances, sizeof *kept->last)};
    for (unsigned i = 0; i < instances; i++) kept->last[i] = stats_instance(series->stats, index, i);
}

static void sample_units(const struct series *series, struct kept *kept, unsigned row) {
    bool sum = stats_stat(series->stats, kept->index)->kind == STAT_SUM;
    for (unsigned i = 0; i < kept->instances; i++) {
        uint64_t value = stats_instance(series->stats, kept->index, i);
        kept->values[(size_t)row * kept->instances + i] = sum ? value - kept->last[i] : value;
        kept->last[i] = value;
    }
}

void series_sample(struct series *series, uint64_t now) {
    if (series->rows == series->room) {
        series->room = series->room ? 2 * series->room : 64;
        series->cycles = mem_grow(series->cycles, series->room, sizeof *series->cycles);
        series->values = mem_grow(series->values, (size_t)series->room * series->columns, sizeof *series->values);
        for (unsigned i = 0; i < series->kept_count; i++) {
            struct kept *kept = &series->kept[i];
            kept->values = mem_grow(kept->values, (size_t)series->room * kept->instances, sizeof *kept->values);
        }
    }
    uint64_t *row = &series->values[(size_t)series->rows * series->columns];
    for (unsigned i = 0; i < series->kept_count; i++) sample_units(series, &series->kept[i], series->rows);
    series->cycles[series->rows++] = now;
    for (unsigned i = 0; i < series->columns; i++) {
        uint64_t total = stats_total(series->stats, i);
        row[i] = stats_stat(series->stats, i)->kind == STAT_SUM ? total - series->last[i] : total;
        series->last[i] = total;
    }
}

/* Row `to` becomes the sum of two rows; values that are not sums are those of the later. */
static void merge_rows(const struct series *series, unsigned to, unsigned first) {
    const uint64_t *a = &series->values[(size_t)first * series->columns], *b = a + series->columns;
    uint64_t *sum = &series->values[(size_t)to * series->columns];
    for (unsigned i = 0; i < series->columns; i++)
        sum[i] = stats_stat(series->stats, i)->kind == STAT_SUM ? a[i] + b[i] : b[i];
}

static void merge_unit_rows(const struct series *series, const struct kept *kept, unsigned to, unsigned first) {
    bool sums = stats_stat(series->stats, kept->index)->kind == STAT_SUM;
    const uint64_t *a = &kept->values[(size_t)first * kept->instances], *b = a + kept->instances;
    uint64_t *sum = &kept->values[(size_t)to * kept->instances];
    for (unsigned i = 0; i < kept->instances; i++) sum[i] = sums ? a[i] + b[i] : b[i];
}

void series_halve(struct series *series) {
    assert(series->rows % 2 == 0);
    for (unsigned row = 0; row < series->rows / 2; row++) {
        series->cycles[row] = series->cycles[2 * row + 1];
        merge_rows(series, row, 2 * row);
        for (unsigned i = 0; i < series->kept_count; i++) merge_unit_rows(series, &series->kept[i], row, 2 * row);
    }
    series->rows /= 2;
    series->every *= 2;
}

uint64_t series_every(const struct series *series) { return series->every; }
unsigned series_rows(const struct series *series) { return series->rows; }

uint64_t series_cycle(const struct series *series, unsigned row) {
    assert(row < series->rows);
    return series->cycles[row];
}

uint64_t series_value(const struct series *series, unsigned row, unsigned index) {
    assert(row < series->rows && index < series->columns);
    return series->values[(size_t)row * series->columns + index];
}

struct stats *series_row_stats(const struct series *series, unsigned row) {
    assert(row < series->rows);
    return stats_with(series->stats, &series->values[(size_t)row * series->columns]);
}

int series_kept(const struct series *series, unsigned number) {
    return number < series->kept_count ? (int)series->kept[number].index : -1;
}

uint64_t series_unit_value(const struct series *series, unsigned row, unsigned number, unsigned instance) {
    assert(row < series->rows && number < series->kept_count && instance < series->kept[number].instances);
    return series->kept[number].values[(size_t)row * series->kept[number].instances + instance];
}
