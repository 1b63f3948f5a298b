/* The counter registry: tables in order of registration, each with the counter blocks of its instances. Components own
 * the blocks; the registry only reads them and computes totals on demand, so counting stays a single increment. */
#include "stats/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

struct stats_group {
    const struct stat_table *table;
    const uint64_t **blocks;
    unsigned instances;
    unsigned first; /* index of the table's first counter */
};

struct stats {
    struct stats_group *groups;
    unsigned group_count;
    unsigned count;
    uint64_t *owned; /* blocks of stats_with */
};

struct stats *stats_create(void) {
    return mem_alloc(1, sizeof(struct stats));
}

void stats_destroy(struct stats *stats) {
    if (!stats) return;
    for (unsigned g = 0; g < stats->group_count; g++) free(stats->groups[g].blocks);
    free(stats->groups);
    free(stats->owned);
    free(stats);
}

static struct stats_group *group_of_table(struct stats *stats, const struct stat_table *table) {
    for (unsigned g = 0; g < stats->group_count; g++)
        if (stats->groups[g].table == table) return &stats->groups[g];
    stats->groups = mem_grow(stats->groups, stats->group_count + 1, sizeof *stats->groups);
    struct stats_group *group = &stats->groups[stats->group_count++];
    *group = (struct stats_group){.table = table, .first = stats->count};
    stats->count += table->count;
    return group;
}

void stats_add(struct stats *stats, const struct stat_table *table, const void *block) {
    struct stats_group *group = group_of_table(stats, table);
    group->blocks = mem_grow(group->blocks, group->instances + 1, sizeof *group->blocks);
    group->blocks[group->instances++] = block;
}

struct stats *stats_with(const struct stats *stats, const uint64_t *values) {
    struct stats *other = stats_create();
    other->owned = mem_alloc(stats->count ? stats->count : 1, sizeof *other->owned);
    for (unsigned i = 0; i < stats->count; i++)
        if (stats_stat(stats, i)->kind == STAT_SUM) other->owned[i] = values[i];
    for (unsigned g = 0; g < stats->group_count; g++)
        stats_add(other, stats->groups[g].table, &other->owned[stats->groups[g].first]);
    return other;
}

unsigned stats_count(const struct stats *stats) { return stats->count; }

static const struct stats_group *group_of_index(const struct stats *stats, unsigned index) {
    assert(index < stats->count);
    const struct stats_group *group = stats->groups;
    while (index - group->first >= group->table->count) group++;
    return group;
}

const struct stat *stats_stat(const struct stats *stats, unsigned index) {
    const struct stats_group *group = group_of_index(stats, index);
    return &group->table->stats[index - group->first];
}

void stats_name(const struct stats *stats, unsigned index, char *name, size_t size) {
    const struct stats_group *group = group_of_index(stats, index);
    snprintf(name, size, "%s.%s", group->table->prefix, group->table->stats[index - group->first].name);
}

unsigned stats_instances(const struct stats *stats, unsigned index) { return group_of_index(stats, index)->instances; }

static uint64_t shown(enum stat_kind kind, uint64_t stored) {
    return kind == STAT_MIN && stored > 0 ? stored - 1 : stored;
}

uint64_t stats_instance(const struct stats *stats, unsigned index, unsigned instance) {
    const struct stats_group *group = group_of_index(stats, index);
    assert(instance < group->instances);
    unsigned row = index - group->first;
    return shown(group->table->stats[row].kind, group->blocks[instance][row]);
}

uint64_t stats_total(const struct stats *stats, unsigned index) {
    const struct stats_group *group = group_of_index(stats, index);
    unsigned row = index - group->first;
    enum stat_kind kind = group->table->stats[row].kind;
    uint64_t total = 0;
    for (unsigned i = 0; i < group->instances; i++) {
        uint64_t value = group->blocks[i][row];
        if (kind == STAT_SUM)
            total += value;
        else if (kind == STAT_MAX)
            total = max_u64(total, value);
        else if (value != 0 && (total == 0 || value < total))
            total = value;
    }
    return shown(kind, total);
}

int stats_find(const struct stats *stats, const char *name) {
    for (unsigned g = 0; g < stats->group_count; g++) {
        const struct stats_group *group = &stats->groups[g];
        size_t length = strlen(group->table->prefix);
        if (strncmp(name, group->table->prefix, length) != 0 || name[length] != '.') continue;
        for (unsigned row = 0; row < group->table->count; row++)
            if (strcmp(group->table->stats[row].name, name + length + 1) == 0) return (int)(group->first + row);
    }
    return -1;
}

uint64_t stats_get(const struct stats *stats, const char *name, _Bool *found) {
    int index = stats_find(stats, name);
    if (found) *found = index >= 0;
    return index >= 0 ? stats_total(stats, (unsigned)index) : 0;
}
