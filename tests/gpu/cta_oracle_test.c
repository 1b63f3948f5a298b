/* The CTA schedulers against their definitions (cta_oracle.h), cycle by cycle, on random grids whose slots become free
 * at random. */
#include "gpu/cta_oracle.h"

#include <stdio.h>

#include "base/random.h"
#include "gpu/dealer.h"

enum { SEEDS = 40, SMS = 128, CTAS = 1024 };

static struct cta_oracle oracle_of(const char *name, struct grid grid, unsigned block, const unsigned *free_slots) {
    bool one_level = strcmp(name, "rr") == 0, dcs = strcmp(name, "dcs") == 0;
    struct cta_oracle oracle = {.clusters = one_level ? grid.sms : grid.clusters, .ctas = grid.ctas, .owned = dcs};
    oracle.members = grid.sms / oracle.clusters;
    oracle.block = strcmp(name, "bcs") != 0 ? 1 : block < grid.slots ? block : grid.slots;
    oracle.last_cluster = oracle.clusters - 1;
    unsigned parts = 0, part = 0; /* clusters without an SM of the program own nothing */
    for (unsigned i = 0; i < oracle.clusters; i++) {
        oracle.last_sm[i] = oracle.members - 1;
        parts += cta_oracle_member(&oracle, i, free_slots, 1) >= 0;
    }
    for (unsigned i = 0; i < oracle.clusters && dcs; i++) {
        oracle.next[i] = grid.ctas * part / parts;
        part += cta_oracle_member(&oracle, i, free_slots, 1) >= 0;
        oracle.end[i] = grid.ctas * part / parts;
    }
    return oracle;
}

static void compare(const char *name, uint64_t seed) {
    uint64_t random = seed;
    static const char *const blocks[] = {"gpu.bcs.block_ctas=1", "gpu.bcs.block_ctas=2", "gpu.bcs.block_ctas=3"};
    unsigned block = 1 + (unsigned)random_below(&random, COUNT_OF(blocks));
    struct grid grid = {.clusters = 1 + (unsigned)random_below(&random, 6),
                        .slots = 1 + (unsigned)random_below(&random, 4)};
    grid.sms = grid.clusters * (1 + (unsigned)random_below(&random, 5));
    grid.ctas = 1 + (unsigned)random_below(&random, 300);
    struct dealer *dealer = dealer_of(name, grid, blocks[block - 1]);
    unsigned limit[SMS], free_slots[SMS], others = (unsigned)random_below(&random, 2); /* a second program's SMs */
    for (unsigned i = 0; i < grid.sms; i++) limit[i] = others && i && random_below(&random, 3) == 0 ? 0 : grid.slots;
    memcpy(dealer->free_slots, limit, sizeof limit);
    memcpy(free_slots, limit, sizeof limit);
    dealer->ops->begin(dealer->state, &dealer->view);
    struct cta_oracle oracle = oracle_of(name, grid, block, free_slots);
    static int sm_of[CTAS];
    for (unsigned i = 0; i < CTAS; i++) sm_of[i] = -1;
    unsigned wrong = 0;
    for (unsigned cycle = 0; cycle < 3000 && oracle.dispatched < grid.ctas && !wrong; cycle++) {
        deal_cycle(dealer);
        cta_oracle_cycle(&oracle, free_slots, sm_of);
        for (unsigned cta = 0; cta < grid.ctas; cta++)
            wrong += (dealer->times[cta] != 0) != (sm_of[cta] >= 0) ||
                     (sm_of[cta] >= 0 && dealer->sm_of[cta] != (unsigned)sm_of[cta]);
        unsigned sm = (unsigned)random_below(&random, grid.sms);
        if (free_slots[sm] == limit[sm]) continue;
        free_slots[sm]++;
        dealer->free_slots[sm]++;
    }
    if (wrong)
        printf("%s, seed %llu: %u SMs in %u clusters, %u slots, blocks of %u\n", name, (unsigned long long)seed,
               grid.sms, grid.clusters, grid.slots, block);
    CHECK_EQ(wrong, 0u);
    CHECK_EQ(dealer->dealt, oracle.dispatched);
    dealer_destroy(dealer);
}

TEST("CTA schedulers send every CTA to the SM and in the cycle that their definitions give") {
    static const char *const names[] = {"two-level-rr", "rr", "bcs", "dcs"};
    CHECK_EQ(cta_scheduler_family.count, (unsigned)COUNT_OF(names));
    for (unsigned i = 0; i < COUNT_OF(names); i++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) compare(names[i], seed);
}
