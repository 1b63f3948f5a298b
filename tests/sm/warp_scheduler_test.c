#include "test.h"

#include "sm/sm_fixture.h"
#include "sm/warp_scheduler.h"

/* A policy by itself, with four CTAs of two warps each, the oldest in slots 2 and 3. */
struct choosing {
    struct config *config;
    const struct warp_scheduler_ops *ops;
    void *state;
    uint64_t mine, resident, waiting_memory;
};

static const uint64_t cta_slots[] = {0x0C, 0x03, 0xC0, 0x30};

/* `setting` may be NULL. */
static struct choosing choosing_with(const char *name, const char *setting) {
    struct choosing choosing = {.config = config_with(SETTINGS(setting)), .mine = 0xFF, .resident = 0xFF};
    for (unsigned i = 0; i < warp_scheduler_family.count; i++)
        if (strcmp(warp_scheduler_family.members[i]->name, name) == 0)
            choosing.ops = (const struct warp_scheduler_ops *)warp_scheduler_family.members[i];
    REQUIRE(choosing.ops);
    choosing.state = choosing.ops->create(choosing.config);
    return choosing;
}

static void choosing_end(struct choosing *choosing) {
    choosing->ops->destroy(choosing->state);
    config_destroy(choosing->config);
}

static unsigned pick(struct choosing *choosing, uint64_t candidates) {
    const uint64_t exited = 0;
    const unsigned ctas = COUNT_OF(cta_slots);
    const struct warp_view view = {choosing->mine, &choosing->waiting_memory, &choosing->resident, &exited, cta_slots,
                                   &ctas};
    unsigned warp = choosing->ops->pick(choosing->state, candidates, &view);
    CHECK(candidates >> warp & 1);
    return warp;
}

TEST("every scheduler picks one of the candidates") {
    for (unsigned i = 0; i < warp_scheduler_family.count; i++) {
        struct choosing choosing = choosing_with(warp_scheduler_family.members[i]->name, NULL);
        for (uint64_t candidates = 1; candidates < 0x100; candidates++) pick(&choosing, candidates * 37 % 0xFF + 1);
        choosing_end(&choosing);
    }
}

TEST("GTO issues from one warp while it can, and then from the oldest") {
    struct choosing gto = choosing_with("gto", NULL);
    CHECK_EQ(pick(&gto, 0xF0), 6u); /* of the two CTAs in slots 4 to 7, the one in 6 and 7 is older */
    CHECK_EQ(pick(&gto, 0xFF), 6u);
    CHECK_EQ(pick(&gto, 0xFF), 6u);
    CHECK_EQ(pick(&gto, 0xBF), 2u); /* the oldest of all */
    CHECK_EQ(pick(&gto, 0xFF), 2u); /* now greedy with that one */
    CHECK_EQ(pick(&gto, 0xF8), 3u); /* within a CTA, the lower slot is the older */
    CHECK_EQ(pick(&gto, 0x33), 0u);
    choosing_end(&gto);
}

TEST("LRR issues from the warp after the last one, with wrap-around") {
    struct choosing lrr = choosing_with("lrr", NULL);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned warp = 0; warp < 8; warp++) CHECK_EQ(pick(&lrr, 0xFF), warp);
    CHECK_EQ(pick(&lrr, 0x81), 0u);
    CHECK_EQ(pick(&lrr, 0x81), 7u);
    CHECK_EQ(pick(&lrr, 0x81), 0u);
    CHECK_EQ(pick(&lrr, 0x10), 4u);
    CHECK_EQ(pick(&lrr, 0x19), 0u);
    choosing_end(&lrr);
}

TEST("LRR reaches slot 63 and continues with slot 0") {
    struct choosing lrr = choosing_with("lrr", NULL);
    lrr.mine = lrr.resident = UINT64_MAX;
    uint64_t ends = UINT64_C(1) << 63 | 1;
    CHECK_EQ(pick(&lrr, ends), 0u);
    CHECK_EQ(pick(&lrr, ends), 63u);
    CHECK_EQ(pick(&lrr, ends), 0u);
    choosing_end(&lrr);
}

TEST("two-level is round robin within a group, until every warp of the group waits for memory") {
    struct choosing two = choosing_with("two-level", "sm.two-level.group_warps=4");
    for (unsigned i = 0; i < 6; i++) CHECK_EQ(pick(&two, 0xFF), i % 4);
    CHECK_EQ(pick(&two, 0xFD), 2u);
    two.waiting_memory = 0x0F;
    CHECK_EQ(pick(&two, 0xF0), 4u); /* group 0 is stalled: the turn goes to group 1 */
    two.waiting_memory = 0;
    CHECK_EQ(pick(&two, 0xFF), 5u); /* and stays there when group 0 is back */
    CHECK_EQ(pick(&two, 0xFF), 6u);
    CHECK_EQ(pick(&two, 0xFF), 7u);
    CHECK_EQ(pick(&two, 0xFF), 4u);
    two.waiting_memory = 0xF0;
    CHECK_EQ(pick(&two, 0x0F), 0u);
    choosing_end(&two);
}

TEST("two-level issues from the next group while its own has a short stall, and then returns") {
    struct choosing two = choosing_with("two-level", "sm.two-level.group_warps=4");
    CHECK_EQ(pick(&two, 0xFF), 0u);
    two.waiting_memory = 0x0E; /* warp 0 waits for an operation only */
    CHECK(pick(&two, 0xF0) >= 4);
    two.waiting_memory = 0;
    CHECK(pick(&two, 0xFF) < 4);
    choosing_end(&two);
}

TEST("two-level does not wait for warps that have exited") {
    struct choosing two = choosing_with("two-level", "sm.two-level.group_warps=4");
    CHECK_EQ(pick(&two, 0xFF), 0u);
    two.resident = 0xF3; /* 2 and 3 have ended */
    two.waiting_memory = 0x03;
    CHECK_EQ(pick(&two, 0xF0), 4u);
    two.waiting_memory = 0;
    CHECK_EQ(pick(&two, 0xF3), 5u);
    choosing_end(&two);
}

TEST("the groups of a two-level scheduler consist of its own warps") {
    struct choosing two = choosing_with("two-level", "sm.two-level.group_warps=2");
    two.mine = 0xAA; /* the odd ones: groups {1, 3} and {5, 7} */
    CHECK_EQ(pick(&two, 0xAA), 1u);
    CHECK_EQ(pick(&two, 0xAA), 3u);
    CHECK_EQ(pick(&two, 0xAA), 1u);
    two.waiting_memory = 0x0A;
    CHECK_EQ(pick(&two, 0xA0), 5u);
    two.waiting_memory = 0;
    CHECK_EQ(pick(&two, 0xAA), 7u);
    choosing_end(&two);
}

/* In an SM. */

static void order_of(const char *setting, const struct script_source *prototype, unsigned *warps, unsigned count) {
    struct script_source source = *prototype;
    struct sm_fixture *sm = sm_fixture_create(SETTINGS(setting, "sm.schedulers=1"));
    sm_fixture_run(sm, &source);
    REQUIRE(source.logged >= count);
    for (unsigned i = 0; i < count; i++) warps[i] = source.log[i].warp;
    sm_fixture_destroy(sm);
}

TEST("in an SM, LRR alternates between its warps and GTO runs one until it stalls") {
    struct step steps[] = {alu(OP_other, 1, 0), alu(OP_other, 2, 0), alu(OP_other, 3, 2), alu(OP_other, 4, 0)};
    struct script_source source = script_make(1, 3, SCRIPT(steps));
    static const unsigned lrr[] = {0, 1, 2, 0, 1, 2};
    static const unsigned gto[] = {0, 0, 1, 1, 2, 2}; /* the third step waits for the second */
    unsigned order[6];
    order_of("sm.warp_scheduler=lrr", &source, order, 6);
    CHECK(memcmp(order, lrr, sizeof order) == 0);
    order_of("sm.warp_scheduler=gto", &source, order, 6);
    CHECK(memcmp(order, gto, sizeof order) == 0);
}

TEST("in an SM, the warps of a later CTA are younger although their slots are lower") {
    /* One slot is taken again by CTA 2 while CTA 1 still runs; then both wait for data that comes in one cycle. */
    struct step brief[] = {alu(OP_other, 1, 0)};
    struct step waits[] = {load_line(1, 0x1000), alu(OP_other, 2, 1), alu(OP_other, 3, 1), alu(OP_other, 4, 1)};
    struct script_source source = script_make(3, 1, SCRIPT(brief));
    script_add(&source, SCRIPT(waits));
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.schedulers=1", "sm.ctas=2", "l1.mshr_merges=8"));
    sm_fixture_run(sm, &source);
    /* The waiters of a line are woken one in a cycle, the older first; from then on CTA 1 is greedy. */
    CHECK(script_issued(&source, 2, 0, 0) > script_issued(&source, 1, 0, 0));
    for (unsigned i = 1; i < 4; i++) CHECK(script_issued(&source, 1, 0, i) < script_issued(&source, 2, 0, i));
    CHECK_EQ(script_issued(&source, 1, 0, 3), script_issued(&source, 1, 0, 1) + 2);
    sm_fixture_destroy(sm);
}
