#include "test.h"

#include <string.h>

#include "stats/stats.h"

#define TOY_STATS(S) \
    S(SUM, reads, "requests", "read requests looked up") \
    S(MAX, queue_peak, "requests", "most requests waiting at once") \
    S(MIN, fastest, "cycles", "shortest latency seen")
STATS_STRUCT(toy_stats, TOY_STATS);
STATS_TABLE(toy_stat_table, "toy", toy_stats, TOY_STATS);

#define TOYBOX_STATS(S) S(SUM, lids, "lids", "lids closed")
STATS_STRUCT(toybox_stats, TOYBOX_STATS);
STATS_TABLE(toybox_stat_table, "toybox", toybox_stats, TOYBOX_STATS);

TEST("totals add sums, take the largest of maxima and the smallest of minima") {
    struct toy_stats blocks[3] = {{.reads = 5, .queue_peak = 7}, {.reads = 6, .queue_peak = 9}, {.reads = 0}};
    stat_min(&blocks[0].fastest, 40);
    stat_min(&blocks[0].fastest, 31);
    stat_min(&blocks[1].fastest, 35);
    stat_max(&blocks[2].queue_peak, 8);
    struct stats *stats = stats_create();
    for (int i = 0; i < 3; i++) stats_add(stats, &toy_stat_table, &blocks[i]);
    CHECK_EQ(stats_total(stats, 0), 11u);
    CHECK_EQ(stats_total(stats, 1), 9u);
    CHECK_EQ(stats_total(stats, 2), 31u);
    CHECK_EQ(stats_instances(stats, 0), 3u);
    CHECK_EQ(stats_instance(stats, 0, 1), 6u);
    CHECK_EQ(stats_instance(stats, 2, 1), 35u);
    CHECK_EQ(stats_instance(stats, 2, 2), 0u);
    stats_destroy(stats);
}

TEST("a minimum of zero is distinguished from no value") {
    struct toy_stats none = {0}, zero = {0}, nine = {0};
    stat_min(&zero.fastest, 0);
    stat_min(&nine.fastest, 9);
    CHECK(zero.fastest != none.fastest);
    struct stats *stats = stats_create();
    stats_add(stats, &toy_stat_table, &none);
    stats_add(stats, &toy_stat_table, &nine);
    CHECK_EQ(stats_get(stats, "toy.fastest", NULL), 9u);
    stats_add(stats, &toy_stat_table, &zero);
    CHECK_EQ(stats_get(stats, "toy.fastest", NULL), 0u);
    stats_destroy(stats);
}

TEST("counters keep their order and names when instances of several tables are registered interleaved") {
    struct toy_stats toys[2] = {{.reads = 1}, {.reads = 2}};
    struct toybox_stats boxes[2] = {{.lids = 10}, {.lids = 20}};
    struct stats *stats = stats_create();
    stats_add(stats, &toy_stat_table, &toys[0]);
    stats_add(stats, &toybox_stat_table, &boxes[0]);
    stats_add(stats, &toy_stat_table, &toys[1]);
    stats_add(stats, &toybox_stat_table, &boxes[1]);
    REQUIRE(stats_count(stats) == 4);
    char name[64];
    stats_name(stats, 0, name, sizeof name);
    CHECK_EQ((const char *)name, "toy.reads");
    stats_name(stats, 3, name, sizeof name);
    CHECK_EQ((const char *)name, "toybox.lids");
    CHECK_EQ(stats_stat(stats, 3)->unit, "lids");
    CHECK_EQ(stats_total(stats, 3), 30u);
    CHECK_EQ(stats_instance(stats, 3, 0), 10u);
    stats_destroy(stats);
}

TEST("a counter is found by its full name only, and a missing one is reported") {
    struct toy_stats toy = {.reads = 3};
    struct toybox_stats box = {.lids = 4};
    struct stats *stats = stats_create();
    stats_add(stats, &toy_stat_table, &toy);
    stats_add(stats, &toybox_stat_table, &box);
    _Bool found = false;
    CHECK_EQ(stats_get(stats, "toybox.lids", &found), 4u);
    CHECK(found);
    CHECK_EQ(stats_get(stats, "toy.lids", &found), 0u);
    CHECK(!found);
    CHECK_EQ(stats_get(stats, "toy", &found), 0u);
    CHECK(!found);
    CHECK_EQ(stats_get(stats, "reads", &found), 0u);
    CHECK(!found);
    stats_destroy(stats);
}

TEST("a time series holds the increments of each summed counter, which add up to its total") {
    struct toy_stats toys[2] = {0};
    struct stats *stats = stats_create();
    stats_add(stats, &toy_stat_table, &toys[0]);
    stats_add(stats, &toy_stat_table, &toys[1]);
    toys[0].reads = 100; /* before the first sample: not part of the series */
    struct series *series = series_create(stats, 10);
    uint64_t sum = 0;
    for (unsigned row = 0; row < 200; row++) { /* enough rows to reallocate */
        toys[row % 2].reads += row;
        stat_max(&toys[0].queue_peak, row / 2);
        series_sample(series, 10 * (row + 1));
    }
    CHECK_EQ(series_every(series), 10u);
    REQUIRE(series_rows(series) == 200);
    for (unsigned row = 0; row < 200; row++) {
        CHECK_EQ(series_cycle(series, row), 10 * (row + 1));
        CHECK_EQ(series_value(series, row, 0), row);
        CHECK_EQ(series_value(series, row, 1), row / 2);
        sum += series_value(series, row, 0);
    }
    CHECK_EQ(sum + 100, stats_total(stats, 0));
    CHECK_EQ(series_kept(series, 0), -1);
    series_destroy(series);
    stats_destroy(stats);
}

TEST("a time series records a selected counter per instance, which add up to its rows") {
    struct toy_stats toys[2] = {{.reads = 7}, {0}};
    struct stats *stats = stats_create();
    stats_add(stats, &toy_stat_table, &toys[0]);
    stats_add(stats, &toy_stat_table, &toys[1]);
    int index = stats_find(stats, "toy.reads");
    CHECK_EQ(index, 0);
    CHECK_EQ(stats_find(stats, "toy.writes_of_nobody"), -1);
    struct series *series = series_create(stats, 10);
    series_keep_units(series, (unsigned)index);
    for (unsigned row = 0; row < 100; row++) {
        toys[row % 2].reads += row;
        series_sample(series, 10 * (row + 1));
    }
    CHECK_EQ(series_kept(series, 0), index);
    CHECK_EQ(series_kept(series, 1), -1);
    for (unsigned row = 0; row < 100; row++) {
        CHECK_EQ(series_unit_value(series, row, 0, row % 2), row);
        CHECK_EQ(series_unit_value(series, row, 0, 1 - row % 2), 0u);
    }
    series_destroy(series);
    stats_destroy(stats);
}

TEST("the rows of a series are counters of their own, with the sums of the row") {
    struct toy_stats toys[2] = {{.reads = 1}, {.reads = 2, .queue_peak = 5}};
    struct toybox_stats box = {.lids = 10};
    struct stats *stats = stats_create();
    stats_add(stats, &toy_stat_table, &toys[0]);
    stats_add(stats, &toybox_stat_table, &box);
    stats_add(stats, &toy_stat_table, &toys[1]);
    struct series *series = series_create(stats, 0);
    toys[0].reads += 7;
    box.lids++;
    series_sample(series, 100);
    toys[1].reads += 9;
    series_sample(series, 250);
    struct stats *first = series_row_stats(series, 0), *second = series_row_stats(series, 1);
    CHECK_EQ(stats_count(first), stats_count(stats));
    CHECK_EQ(stats_get(first, "toy.reads", NULL), 7u);
    CHECK_EQ(stats_get(first, "toybox.lids", NULL), 1u);
    CHECK_EQ(stats_get(second, "toy.reads", NULL), 9u);
    CHECK_EQ(stats_get(second, "toybox.lids", NULL), 0u);
    CHECK_EQ(stats_get(second, "toy.queue_peak", NULL), 0u); /* a maximum has no increment */
    CHECK_EQ(stats_instances(first, 0), 1u);
    stats_destroy(first);
    stats_destroy(second);
    series_destroy(series);
    stats_destroy(stats);
}

TEST("halving a series adds pairs of rows, also per instance, and keeps the last of other values") {
    struct toy_stats toys[2] = {{.reads = 0}};
    struct stats *stats = stats_create();
    stats_add(stats, &toy_stat_table, &toys[0]);
    stats_add(stats, &toy_stat_table, &toys[1]);
    struct series *series = series_create(stats, 10);
    series_keep_units(series, 0);
    for (unsigned i = 1; i <= 4; i++) {
        toys[0].reads += i;
        toys[1].reads += 10 * i;
        stat_max(&toys[0].queue_peak, i);
        series_sample(series, 10 * i);
    }
    series_halve(series);
    REQUIRE(series_rows(series) == 2);
    CHECK_EQ(series_every(series), 20u);
    CHECK_EQ(series_cycle(series, 0), 20u);
    CHECK_EQ(series_cycle(series, 1), 40u);
    CHECK_EQ(series_value(series, 0, 0), 33u);
    CHECK_EQ(series_value(series, 1, 0), 77u);
    CHECK_EQ(series_value(series, 0, 1), 2u);
    CHECK_EQ(series_unit_value(series, 0, 0, 0), 3u);
    CHECK_EQ(series_unit_value(series, 1, 0, 1), 70u);
    toys[0].reads += 5;
    series_sample(series, 60); /* goes on behind them */
    CHECK_EQ(series_value(series, 2, 0), 5u);
    series_destroy(series);
    stats_destroy(stats);
}
