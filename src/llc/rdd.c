#include "llc/rdd.h"

void rdd_init(struct rdd *rdd, const struct replication *replication, unsigned sets, unsigned slice_sets, unsigned ways,
              bool each) {
    *rdd = (struct rdd){.replication = *replication, .each = each};
    atd_init(&rdd->directory[0], sets, slice_sets, ways, false);
    for (unsigned i = 1; each && i < replication->degrees; i++) {
        unsigned rows = rdd->directory[0].sets << i;
        atd_init(&rdd->directory[i], rows, rows, ways >> i ? ways >> i : 1, false);
    }
}

void rdd_release(struct rdd *rdd) {
    for (unsigned i = 0; i < REPLICATION_DEGREES; i++) atd_release(&rdd->directory[i]);
}

unsigned rdd_access(struct rdd *rdd, unsigned set, uint64_t key, unsigned cluster) {
    unsigned row = set / rdd->directory[0].every, clusters_log2 = rdd->replication.clusters_log2;
    struct atd_seen seen = atd_use(&rdd->directory[0], row, key, cluster);
    unsigned hits = seen.found;
    for (unsigned i = 1; i < rdd->replication.degrees; i++) {
        unsigned members_log2 = clusters_log2 - i, group = cluster >> members_log2;
        uint64_t members = low_mask(1u << members_log2) << (group << members_log2);
        bool hit = rdd->each ? atd_use(&rdd->directory[i], (row << i) + group, key, cluster).found
                             : (seen.clusters & members) != 0;
        hits |= (unsigned)hit << i;
    }
    return hits;
}

void rdd_flush(struct rdd *rdd, bool whole) {
    for (unsigned i = 0; i < rdd->replication.degrees; i++) {
        struct atd *atd = &rdd->directory[i];
        if (whole && atd->entry) atd_clear(atd);
        for (unsigned row = 0; !whole && atd->entry && row < atd->sets; row++)
            for (unsigned way = 0; way < atd->ways; way++) {
                struct atd_entry *entry = &atd->entry[(size_t)row * atd->ways + way];
                entry->clusters &= 1; /* the first group contains at least the first cluster */
                if (row & ((1u << i) - 1)) *entry = (struct atd_entry){0};
            }
    }
}
