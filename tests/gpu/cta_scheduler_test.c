#include "base/random.h"
#include "gpu/dealer.h"

TEST("two-level round robin: CTA i of the first wave goes to cluster i mod C and its SM (i / C) mod m") {
    static const struct grid grids[] = {
        {80, 8, 1, 80}, {80, 8, 4, 320}, {64, 16, 2, 100}, {15, 15, 3, 45}, {12, 1, 2, 24}};
    for (unsigned g = 0; g < COUNT_OF(grids); g++) {
        struct dealer *dealer = dealer_of("two-level-rr", grids[g], NULL);
        unsigned clusters = grids[g].clusters, per_cluster = grids[g].sms / clusters;
        deal_all(dealer);
        CHECK_EQ(dealer->dealt, grids[g].ctas);
        for (unsigned cta = 0; cta < grids[g].ctas; cta++)
            CHECK_EQ(dealer->sm_of[cta], cta % clusters * per_cluster + cta / clusters % per_cluster);
        dealer_destroy(dealer);
    }
}

TEST("one-level round robin: CTA i goes to SM i mod SMs") {
    struct dealer *dealer = dealer_of("rr", (struct grid){20, 4, 3, 60}, NULL);
    CHECK_EQ(deal_cycle(dealer), 20u); /* one for each SM in a cycle */
    deal_all(dealer);
    for (unsigned cta = 0; cta < 60; cta++) CHECK_EQ(dealer->sm_of[cta], cta % 20);
    dealer_destroy(dealer);
}

TEST("a cluster gets one CTA, or one block of CTAs, per cycle") {
    static const struct {
        const char *name;
        unsigned per_cycle;
    } cases[] = {{"two-level-rr", 8}, {"dcs", 8}, {"bcs", 16}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct dealer *dealer = dealer_of(cases[i].name, (struct grid){80, 8, 8, 600}, NULL);
        CHECK_EQ(deal_cycle(dealer), cases[i].per_cycle);
        CHECK_EQ(deal_cycle(dealer), cases[i].per_cycle);
        unsigned in_cluster[8] = {0};
        for (unsigned cta = 0; cta < 600; cta++)
            if (dealer->times[cta]) in_cluster[dealer->sm_of[cta] / 10]++;
        for (unsigned cluster = 0; cluster < 8; cluster++) CHECK_EQ(in_cluster[cluster], 2 * cases[i].per_cycle / 8);
        dealer_destroy(dealer);
    }
}

TEST("after the first wave a free slot takes the next CTA of the grid") {
    struct dealer *dealer = dealer_of("two-level-rr", (struct grid){8, 4, 1, 12}, NULL);
    deal_all(dealer);
    CHECK_EQ(dealer->dealt, 8u);
    dealer->free_slots[5]++;
    CHECK_EQ(deal_cycle(dealer), 1u);
    CHECK_EQ(dealer->sm_of[8], 5u);
    CHECK_EQ(deal_cycle(dealer), 0u);
    dealer->free_slots[0]++;
    dealer->free_slots[7]++;
    CHECK_EQ(deal_cycle(dealer), 2u);
    CHECK_EQ(dealer->sm_of[9], 7u); /* the turn of clusters goes on behind the one served last: SM 5 is of cluster 2 */
    CHECK_EQ(dealer->sm_of[10], 0u);
    dealer_destroy(dealer);
}

TEST("block scheduling puts neighbouring CTAs on one SM, and an odd last CTA alone") {
    struct dealer *dealer = dealer_of("bcs", (struct grid){6, 3, 2, 11}, NULL);
    deal_all(dealer);
    CHECK_EQ(dealer->dealt, 11u);
    for (unsigned cta = 0; cta < 10; cta += 2) CHECK_EQ(dealer->sm_of[cta], dealer->sm_of[cta + 1]);
    for (unsigned pair = 0; pair < 5; pair++) CHECK_EQ(dealer->sm_of[2 * pair], pair % 3 * 2 + pair / 3 % 2);
    CHECK_EQ(dealer->sm_of[10], 5u);
    CHECK_EQ(dealer->free_slots[5], 1u);
    dealer_destroy(dealer);
}

TEST("block scheduling waits for two free slots on one SM") {
    struct dealer *dealer = dealer_of("bcs", (struct grid){2, 1, 2, 9}, NULL);
    deal_all(dealer);
    CHECK_EQ(dealer->dealt, 4u);
    dealer->free_slots[0] = dealer->free_slots[1] = 1;
    CHECK_EQ(deal_cycle(dealer), 0u);
    dealer->free_slots[1] = 2;
    CHECK_EQ(deal_cycle(dealer), 2u);
    CHECK_EQ(dealer->sm_of[4], 1u);
    CHECK_EQ(dealer->sm_of[5], 1u);
    dealer->free_slots[1] = 2;
    CHECK_EQ(deal_cycle(dealer), 2u);
    CHECK_EQ(deal_cycle(dealer), 1u); /* one slot is enough for the last */
    CHECK_EQ(dealer->sm_of[8], 0u);
    dealer_destroy(dealer);
}

TEST("the block length is a parameter, limited by the CTAs that an SM holds") {
    struct dealer *four = dealer_of("bcs", (struct grid){4, 2, 8, 16}, "gpu.bcs.block_ctas=4");
    deal_all(four);
    for (unsigned cta = 0; cta < 16; cta++) CHECK_EQ(four->sm_of[cta], four->sm_of[cta / 4 * 4]);
    CHECK(four->sm_of[0] != four->sm_of[4]);
    dealer_destroy(four);
    struct dealer *single = dealer_of("bcs", (struct grid){4, 2, 1, 4}, "gpu.bcs.block_ctas=4");
    deal_all(single);
    CHECK_EQ(single->dealt, 4u);
    dealer_destroy(single);
}

TEST("distributed scheduling gives cluster j the j-th part of the grid, without stealing") {
    struct dealer *dealer = dealer_of("dcs", (struct grid){12, 4, 2, 23}, NULL);
    deal_all(dealer);
    for (unsigned cta = 0; cta < 23; cta++) {
        unsigned cluster = 0;
        while (cta >= 23 * (cluster + 1) / 4) cluster++;
        CHECK_EQ(dealer->times[cta], 1u);
        CHECK_EQ(dealer->sm_of[cta] / 3, cluster);
    }
    dealer_destroy(dealer);

    struct dealer *uneven = dealer_of("dcs", (struct grid){4, 2, 1, 20}, NULL); /* ten CTAs for each cluster */
    deal_all(uneven);
    for (unsigned turn = 0; turn < 100; turn++) { /* only cluster 0 ever finishes one */
        uneven->free_slots[0] = uneven->free_slots[1] = 1;
        deal_cycle(uneven);
    }
    CHECK_EQ(uneven->dealt, 12u);
    for (unsigned cta = 0; cta < 20; cta++) CHECK_EQ(uneven->times[cta], cta < 12 ? 1u : 0u);
    dealer_destroy(uneven);
}

TEST("every scheduler dispatches every CTA exactly once, in whatever order slots become free") {
    for (unsigned i = 0; i < cta_scheduler_family.count; i++) {
        const char *name = cta_scheduler_family.members[i]->name;
        for (uint64_t seed = 1; seed <= 20; seed++) {
            uint64_t random = seed;
            struct grid grid = {.clusters = 1 + (unsigned)random_below(&random, 6),
                                .slots = 1 + (unsigned)random_below(&random, 4)};
            grid.sms = grid.clusters * (1 + (unsigned)random_below(&random, 5));
            grid.ctas = 1 + (unsigned)random_below(&random, 300);
            struct dealer *dealer = dealer_of(name, grid, NULL);
            for (unsigned turn = 0; turn < 20000 && dealer->dealt < grid.ctas; turn++) {
                deal_cycle(dealer);
                unsigned sm = (unsigned)random_below(&random, grid.sms);
                if (dealer->free_slots[sm] < grid.slots) dealer->free_slots[sm]++;
            }
            CHECK_EQ(dealer->dealt, grid.ctas);
            for (unsigned cta = 0; cta < grid.ctas; cta++) REQUIRE(dealer->times[cta] == 1);
            dealer_destroy(dealer);
        }
    }
}

TEST("a second kernel is dispatched like the first") {
    for (unsigned i = 0; i < cta_scheduler_family.count; i++) {
        struct dealer *dealer = dealer_of(cta_scheduler_family.members[i]->name, (struct grid){12, 4, 2, 21}, NULL);
        unsigned first[21];
        deal_all(dealer);
        CHECK_EQ(dealer->dealt, 21u);
        memcpy(first, dealer->sm_of, sizeof first);
        for (unsigned sm = 0; sm < 12; sm++) dealer->free_slots[sm] = 2;
        dealer->ops->begin(dealer->state, &dealer->view);
        deal_all(dealer);
        CHECK(memcmp(first, dealer->sm_of, sizeof first) == 0);
        dealer_destroy(dealer);
    }
}

TEST("a rotation that continues gives the first CTA of a kernel to the SM after the last of the previous kernel") {
    struct dealer *dealer = dealer_of("two-level-rr", (struct grid){12, 4, 2, 5}, "gpu.cta_rotation_continues=true");
    deal_all(dealer);
    CHECK_EQ(dealer->sm_of[4], 1u); /* clusters 0 to 3, then the second SM of cluster 0 */
    dealer->ops->begin(dealer->state, &dealer->view);
    deal_all(dealer);
    CHECK_EQ(dealer->sm_of[0], 4u); /* the second SM of cluster 1 */
    CHECK_EQ(dealer->sm_of[3], 2u); /* the third of cluster 0 */
    dealer_destroy(dealer);
}

TEST("the round robin of every kernel starts at the first cluster, modulo their number") {
    struct dealer *dealer = dealer_of("two-level-rr", (struct grid){12, 4, 2, 5}, "gpu.cta_first_cluster=7");
    for (unsigned kernel = 0; kernel < 2; kernel++) {
        deal_all(dealer);
        CHECK_EQ(dealer->sm_of[0], 9u); /* cluster 3, the first SM */
        CHECK_EQ(dealer->sm_of[1], 0u);
        dealer->ops->begin(dealer->state, &dealer->view);
    }
    dealer_destroy(dealer);
}
