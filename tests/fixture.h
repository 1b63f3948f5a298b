/* What every component under test is connected to: a configuration, an engine, counters, an address map and an LLC
 * organisation. The fixture of a component has this one as its `base`:
 *
 *     struct sm_fixture    an SM and its L1, with a fake memory and dispatcher    sm/sm_fixture.h
 *     struct l1_fixture    an L1; the test acts as its SM and the network         l1/l1_fixture.h
 *     struct groups_fixture L1s of several groups; the test acts as SMs and LLC    l1/groups_fixture.h
 *     struct cooperation_fixture a network between groups, with fake nodes          l1/cooperation_fixture.h
 *     struct l1s_fixture   cooperating L1s of several groups                      l1/versions_test.c
 *     struct slice_fixture an LLC slice with fake networks and a fake memory      llc/slice_fixture.h
 *     struct llc_fixture   all slices with a real memory controller               llc/shadow_test.c
 *     struct dram_fixture  memory controllers with fake slices                    dram/dram_fixture.h
 */
#ifndef SLUICE_TESTS_FIXTURE_H
#define SLUICE_TESTS_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "dram/mapping.h"
#include "l1/l1.h"
#include "llc/organisation.h"
#include "settings.h"
#include "sim/engine.h"
#include "stats/journal.h"
#include "stats/stats.h"
#include "test.h"

struct fixture {
    struct config *config;
    struct engine *engine;
    struct stats *stats;
    struct address_map *map;
    struct journal journal; /* of the organisation's decisions */
    struct llc_organisation *llc;
};

/* A GPU of one SM, one slice and one memory controller, in which an address is a place in the slice. */
#define ONE_OF_EACH "sm.count=1", "gpu.clusters=1", "llc.slices_per_mc=1", "dram.mcs=1", "dram.mapping=linear"

/* `common` are the settings of the fixture, `settings` those of the test. The test ends if they are rejected. */
static inline void fixture_init(struct fixture *fixture, const char *const *common, const char *const *settings) {
    struct error err = {0};
    *fixture = (struct fixture){.config = config_checked(common, settings, &err)};
    CHECK_EQ((const char *)err.text, "");
    REQUIRE(fixture->config);
    fixture->engine = engine_create();
    fixture->stats = stats_create();
    fixture->map = address_map_create(fixture->config, &err);
    REQUIRE(fixture->map);
    struct llc_context context = {fixture->config, fixture->map, fixture->stats, &fixture->journal};
    fixture->llc = llc_organisation_create(&context, &err);
    REQUIRE(fixture->llc);
}

/* After the components, which use all of it. */
static inline void fixture_release(struct fixture *fixture) {
    fixture->llc->ops->destroy(fixture->llc);
    journal_release(&fixture->journal);
    address_map_destroy(fixture->map);
    stats_destroy(fixture->stats);
    engine_destroy(fixture->engine);
    config_destroy(fixture->config);
}

/* The L1s of the SMs that `context` describes. */
static inline struct l1 *fixture_create_l1(const struct fixture *fixture, struct l1_context context) {
    struct error err = {0};
    context.config = fixture->config;
    context.engine = fixture->engine;
    context.stats = fixture->stats;
    context.llc = fixture->llc;
    struct l1 *l1 = l1_create(&context, &err);
    CHECK_EQ((const char *)err.text, "");
    REQUIRE(l1);
    return l1;
}

static inline void no_tick(void *self, uint64_t now) { (void)self, (void)now; }

/* A component that does nothing by itself: the test acts for it at its ports. */
static inline unsigned add_neighbour(struct engine *engine, unsigned index) {
    static const struct component_ops neighbour_ops = {.kind = "neighbour", .tick = no_tick};
    return engine_add(engine, &neighbour_ops, NULL, index);
}

/* The ticks of this cycle, after which it is the next one, also if nothing is due any more. */
static inline void run_cycle(struct engine *engine) {
    uint64_t next = engine->now + 1;
    engine_run_until(engine, next);
    engine->now = next;
}

/* The total of a counter. The test ends if there is none of that name. */
static inline uint64_t count_in(const struct stats *stats, const char *name) {
    bool found;
    uint64_t value = stats_get(stats, name, &found);
    if (!found) printf("no counter %s\n", name);
    REQUIRE(found);
    return value;
}

/* The same, of a fixture with a base. */
#define COUNTER(fixture, name) count_in((fixture)->base.stats, name)

#endif
