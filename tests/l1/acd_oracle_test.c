/* A model of the ACD-Table, written from "GPU Performance Optimization via Inter-group Cache Cooperation", section
 * III-B1: sets of hashed tags with three bits (local, left, right), updated by the adjacent groups. It keeps each set as
 * a list, most recently used first, and runs beside l1/acd.c on random updates; every lookup is compared. */
#include "test.h"

#include <string.h>

#include "base/random.h"
#include "l1/acd.h"

enum { SETS = 3, WAYS_MAX = 4 };

struct model_set {
    unsigned count;
    struct {
        uint64_t hash;
        unsigned holders;
    } entry[WAYS_MAX];
};

struct acd_model {
    unsigned ways, hash_bits;
    struct model_set set[SETS];
};

/* Digit sum without carry, in base 2^bits. */
static uint64_t model_hash(uint64_t key, unsigned bits) {
    uint64_t hash = 0, base = UINT64_C(1) << bits;
    for (; key; key /= base) hash ^= key % base;
    return hash;
}

static int model_find(const struct acd_model *model, unsigned set, uint64_t key) {
    for (unsigned i = 0; i < model->set[set].count; i++)
        if (model->set[set].entry[i].hash == model_hash(key, model->hash_bits)) return (int)i;
    return -1;
}

static void model_take_out(struct model_set *set, unsigned index) {
    set->count--;
    memmove(&set->entry[index], &set->entry[index + 1], (set->count - index) * sizeof set->entry[0]);
}

/* Puts an entry to the front of its set; the last one of a full set is lost. */
static void model_put_first(struct acd_model *model, unsigned set, uint64_t hash, unsigned holders) {
    struct model_set *entries = &model->set[set];
    if (entries->count == model->ways) entries->count--;
    memmove(&entries->entry[1], &entries->entry[0], entries->count * sizeof entries->entry[0]);
    entries->entry[0].hash = hash;
    entries->entry[0].holders = holders;
    entries->count++;
}

static void model_record(struct acd_model *model, unsigned set, uint64_t key, unsigned holder) {
    int found = model_find(model, set, key);
    unsigned before = found < 0 ? 0 : model->set[set].entry[found].holders;
    if (found < 0 && holder == ACD_LOCAL) return;
    if (found >= 0) model_take_out(&model->set[set], (unsigned)found);
    model_put_first(model, set, model_hash(key, model->hash_bits), before | holder);
}

static void model_remove(struct acd_model *model, unsigned set, uint64_t key, unsigned holders) {
    int found = model_find(model, set, key);
    if (found < 0) return;
    model->set[set].entry[found].holders &= ~holders;
    if (!model->set[set].entry[found].holders) model_take_out(&model->set[set], (unsigned)found);
}

static unsigned model_look(struct acd_model *model, unsigned set, uint64_t key) {
    int found = model_find(model, set, key);
    if (found < 0) return 0;
    unsigned holders = model->set[set].entry[found].holders;
    model_take_out(&model->set[set], (unsigned)found);
    model_put_first(model, set, model_hash(key, model->hash_bits), holders);
    return holders;
}

TEST("the directory of adjacent groups answers as its model, lookup by lookup") {
    static const enum acd_holder holders[] = {ACD_LOCAL, ACD_LEFT, ACD_RIGHT};
    unsigned found = 0, lookups = 0;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        uint64_t random = seed;
        struct acd_model model = {1 + (unsigned)seed % WAYS_MAX, seed % 3 ? 20 : 4, {{0}}};
        struct acd acd;
        acd_init(&acd, SETS, model.ways, model.hash_bits);
        for (unsigned i = 0; i < 3000; i++) {
            unsigned set = (unsigned)random_below(&random, SETS), kind = (unsigned)random_below(&random, 100);
            uint64_t key = random_below(&random, 7) | random_below(&random, 2) << 21 | random_below(&random, 2) << 56;
            enum acd_holder holder = holders[random_below(&random, 3)];
            if (kind < 45) {
                acd_set(&acd, set, key, holder);
                model_record(&model, set, key, holder);
            } else if (kind < 65) {
                unsigned lost = random_below(&random, 4) ? holder : ACD_LEFT | ACD_RIGHT;
                acd_clear(&acd, set, key, lost);
                model_remove(&model, set, key, lost);
            } else if (kind < 99) {
                unsigned expected = model_look(&model, set, key);
                CHECK_EQ(acd_look(&acd, set, key), expected);
                lookups++;
                found += expected != 0;
            } else if (random_below(&random, 4) == 0) {
                acd_empty(&acd);
                for (unsigned s = 0; s < SETS; s++) model.set[s].count = 0;
            }
        }
        acd_release(&acd);
    }
    CHECK(found > lookups / 8 && found < lookups - lookups / 8);
}
