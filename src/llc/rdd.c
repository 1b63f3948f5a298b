#include "llc/rdd.h"

/* The directory of a degree shadows every set by this number of rows, one per group that it distinguishes. */
static unsigned rows_of(enum rdd_kind kind, unsigned degree_log2) { return kind == RDD_EACH ? 1u << degree_log2 : 1; }

static unsigned ways_of(enum rdd_kind kind, unsigned ways, unsigned degree_log2) {
    unsigned share = ways >> degree_log2;
    return kind != RDD_EACH ? ways : share ? share : 1;
}

static unsigned directories_of(enum rdd_kind kind, const struct replication *replication) {
    return kind == RDD_SHARED ? 1 : replication->degrees;
}

void rdd_init(struct rdd *rdd, const struct replication *replication, unsigned sets, unsigned slice_sets, unsigned ways,
              enum rdd_kind kind) {
    *rdd = (struct rdd){.replication = *replication, .kind = kind};
    for (unsigned i = 0; i < directories_of(kind, replication); i++) {
        unsigned rows = rows_of(kind, i);
        atd_init(&rdd->directory[i], sets * rows, slice_sets * rows, ways_of(kind, ways, i), false);
    }
}

void rdd_release(struct rdd *rdd) {
    for (unsigned i = 0; i < REPLICATION_DEGREES; i++) atd_release(&rdd->directory[i]);
}

uint64_t rdd_tag_bits(const struct replication *replication, unsigned ways, enum rdd_kind kind, unsigned tag_bits) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < directories_of(kind, replication); i++) {
        unsigned own = ways_of(kind, ways, i);
        bits += (uint64_t)rows_of(kind, i) * own * (tag_bits + log2_floor(round_up_power_of_two(own)));
    }
    return bits;
}

/* The hits at all degrees, by the clusters that have accessed the line. */
static unsigned access_shared(struct rdd *rdd, unsigned row, const struct rdd_request *request) {
    struct atd_seen seen = atd_use(&rdd->directory[0], row, request->key, request->cluster);
    unsigned hits = seen.found;
    for (unsigned i = 1; i < rdd->replication.degrees; i++) {
        unsigned members_log2 = rdd->replication.clusters_log2 - i, group = request->cluster >> members_log2;
        uint64_t members = low_mask(1u << members_log2) << (group << members_log2);
        hits |= (unsigned)((seen.clusters & members) != 0) << i;
    }
    return hits;
}

struct rdd_seen rdd_access(struct rdd *rdd, const struct rdd_request *request) {
    const struct replication *replication = &rdd->replication;
    unsigned row = request->set / rdd->directory[0].every;
    if (rdd->kind == RDD_SHARED)
        return (struct rdd_seen){(unsigned)low_mask(replication->degrees), access_shared(rdd, row, request)};
    struct rdd_seen seen = {0};
    for (unsigned i = 0; i < replication->degrees; i++) {
        unsigned rows = rows_of(rdd->kind, i), group = request->cluster >> (replication->clusters_log2 - i);
        unsigned slice =
            request->read_only ? replication_slice(replication, i, request->home, request->cluster) : request->home;
        if (rdd->kind == RDD_SLICE && slice != 0) continue;
        /* The bit of an entry is that of the line's home. */
        bool found = atd_use(&rdd->directory[i], row * rows + group % rows, request->key, request->home).found;
        seen.sampled |= (unsigned)request->read_only << i;
        seen.hits |= (unsigned)(request->read_only && found) << i;
    }
    return seen;
}

/* Whether a line is in its home slice, 0. */
static bool is_home(const struct rdd *rdd, unsigned degree_log2, unsigned row, const struct atd_entry *entry) {
    return rdd->kind == RDD_SLICE ? (entry->clusters & 1) != 0 : row % rows_of(rdd->kind, degree_log2) == 0;
}

void rdd_flush(struct rdd *rdd, bool whole) {
    for (unsigned i = 0; i < directories_of(rdd->kind, &rdd->replication); i++) {
        struct atd *atd = &rdd->directory[i];
        for (unsigned row = 0; row < atd->sets; row++)
            for (unsigned way = 0; way < atd->ways; way++) {
                struct atd_entry *entry = &atd->entry[(size_t)row * atd->ways + way];
                bool stays = !whole && is_home(rdd, i, row, entry);
                if (!stays) *entry = (struct atd_entry){0};
                entry->clusters &= 1; /* the first group contains at least the first cluster */
            }
    }
}
