/* A model of the routes between groups, written from "GPU Performance Optimization via Inter-group Cache Cooperation",
 * sections III-B2 (AdjNet), III-C1 and III-C2 (MulNet, two-way sending): R_k goes left and queries at most MNQ_k caches,
 * R_a goes right and queries at most MNQ_a; the first cache that has the line answers, or the last one that is queried;
 * the answer returns in the shorter direction. A hop takes one cycle, and so does a lookup. The model computes the route
 * of each probe as a whole, without a network; queried caches, answers and hops are compared with l1/cooperation.c. */
#include "l1/cooperation_fixture.h"

#include "base/random.h"

struct route {
    unsigned queried;       /* caches */
    unsigned group[GROUPS]; /* and which, in order */
    bool found;             /* the last one has the line */
    unsigned hops_back;
    uint64_t answered_after; /* cycles */
};

/* The route of a probe to the left or the right that may query `most` caches. */
static struct route route_of(unsigned groups, uint64_t holders, unsigned source, bool left, unsigned most) {
    struct route route = {0};
    if (most > groups - 1) most = groups - 1;
    while (route.queried < most && !route.found) {
        unsigned distance = ++route.queried;
        unsigned group = (source + (left ? groups - distance : distance)) % groups;
        route.group[distance - 1] = group;
        route.found = holders >> group & 1;
    }
    route.hops_back = route.queried < groups - route.queried ? route.queried : groups - route.queried;
    route.answered_after = 2 * route.queried + 1 + route.hops_back;
    return route;
}

/* Events at one group in one cycle wait for each other, which the model does not know. */
static bool routes_meet(const struct route route[COOP_DIRECTIONS]) {
    const struct route *a = &route[COOP_LEFT], *b = &route[COOP_RIGHT];
    for (unsigned i = 0; i < a->queried && i < b->queried; i++)
        if (a->group[i] == b->group[i]) return true;
    return a->queried && b->queried && a->answered_after == b->answered_after;
}

static void check_route(const struct cooperation_fixture *fixture, const struct route *route, unsigned source,
                        enum coop_direction direction, uint64_t asked_at, bool timed) {
    for (unsigned i = 0; i < route->queried; i++) {
        const struct log *log = &fixture->node[route->group[i]].probed;
        unsigned times = 0;
        for (unsigned e = 0; e < log->count; e++) {
            if (log->event[e].message.direction != direction) continue;
            times++;
            if (timed) CHECK_EQ(log->event[e].cycle, asked_at + 2 * (i + 1));
        }
        CHECK_EQ(times, 1u);
    }
    unsigned answers = 0;
    for (unsigned e = 0; e < fixture->node[source].answered.count; e++) {
        const struct event *event = &fixture->node[source].answered.event[e];
        if (event->message.direction != direction) continue;
        answers++;
        CHECK_EQ(event->message.kind == COOP_DATA, route->found);
        CHECK_EQ(event->message.target, route->group[route->queried - 1]);
        if (timed) CHECK_EQ(event->cycle, asked_at + route->answered_after);
    }
    CHECK_EQ(answers, route->queried ? 1u : 0u);
}

TEST("in a ring of any size both probes of a miss query the caches of their model's route and return by it") {
    uint64_t random = 1;
    unsigned found = 0, timed_routes = 0;
    for (unsigned i = 0; i < 600; i++) {
        unsigned groups = 2 + (unsigned)random_below(&random, GROUPS - 1),
                 source = (unsigned)random_below(&random, groups), most[COOP_DIRECTIONS];
        for (unsigned d = 0; d < COOP_DIRECTIONS; d++) most[d] = (unsigned)random_below(&random, GROUPS + 1);
        if (!most[COOP_LEFT] && !most[COOP_RIGHT]) continue;
        uint64_t holders = random_next(&random) & random_next(&random) & ~(UINT64_C(1) << source), at = 10;
        struct cooperation_fixture *fixture =
            cooperation_fixture_create_of(groups, true, 5, most[COOP_LEFT], most[COOP_RIGHT]);
        fixture->holders[1] = holders;
        run(fixture, at + 1);
        ask(&fixture->node[source], 1, COOP_LEFT, at);
        run(fixture, 60);
        struct route route[COOP_DIRECTIONS];
        for (unsigned d = 0; d < COOP_DIRECTIONS; d++)
            route[d] = route_of(groups, holders, source, d == COOP_LEFT, most[d]);
        bool timed = !routes_meet(route);
        for (unsigned d = 0; d < COOP_DIRECTIONS; d++) {
            check_route(fixture, &route[d], source, (enum coop_direction)d, at, timed);
            found += route[d].found;
        }
        timed_routes += timed;
        CHECK_EQ(count(fixture, "l1.mulnet.probes"), route[COOP_LEFT].queried + route[COOP_RIGHT].queried);
        CHECK_EQ(count(fixture, "l1.mulnet.answer_hops"),
                 (route[COOP_LEFT].queried ? route[COOP_LEFT].hops_back : 0) +
                     (route[COOP_RIGHT].queried ? route[COOP_RIGHT].hops_back : 0));
        cooperation_fixture_destroy(fixture);
    }
    CHECK(found > 300);
    CHECK(timed_routes > 200);
}

TEST("between neighbours a probe queries the one on its side, and the answer returns in four cycles") {
    uint64_t random = 2;
    for (unsigned i = 0; i < 60; i++) {
        unsigned groups = 2 + (unsigned)random_below(&random, GROUPS - 1),
                 source = (unsigned)random_below(&random, groups);
        enum coop_direction direction = random_below(&random, 2) ? COOP_LEFT : COOP_RIGHT;
        uint64_t holders = random_next(&random) & ~(UINT64_C(1) << source), at = 10;
        struct cooperation_fixture *fixture = cooperation_fixture_create_of(groups, false, 5, 0, 0);
        fixture->holders[1] = holders;
        run(fixture, at + 1);
        ask(&fixture->node[source], 1, direction, at);
        run(fixture, 60);
        struct route route = route_of(groups, holders, source, direction == COOP_LEFT, 1);
        CHECK_EQ(route.answered_after, 4u);
        check_route(fixture, &route, source, direction, at, true);
        CHECK_EQ(count(fixture, "l1.adjnet.probes"), 1u);
        CHECK_EQ(count(fixture, "l1.adjnet.answer_hops"), 1u);
        cooperation_fixture_destroy(fixture);
    }
}

TEST("with many probes under way each still takes the route of its model") {
    enum { ASKS = 40, DEEP = 128 };
    for (uint64_t seed = 1; seed <= 12; seed++) {
        uint64_t random = seed, queried = 0, hops = 0, data = 0;
        unsigned groups = 3 + (unsigned)random_below(&random, GROUPS - 2),
                 most[COOP_DIRECTIONS] = {1 + (unsigned)random_below(&random, GROUPS),
                                          1 + (unsigned)random_below(&random, GROUPS)};
        struct cooperation_fixture *fixture =
            cooperation_fixture_create_of(groups, true, DEEP, most[COOP_LEFT], most[COOP_RIGHT]);
        for (unsigned line = 0; line < 4; line++) fixture->holders[line] = random_next(&random) & random_next(&random);
        for (unsigned g = 0; g < groups; g++) fixture->node[g].asks = ASKS; /* lines ASKS to 1, one in a cycle */
        run(fixture, 3000);
        for (unsigned g = 0; g < groups; g++) {
            CHECK_EQ(fixture->node[g].answers, 2u * ASKS);
            for (unsigned line = 1; line <= ASKS; line++)
                for (unsigned d = 0; d < COOP_DIRECTIONS; d++) {
                    struct route route = route_of(groups, fixture->holders[line % 4], g, d == COOP_LEFT, most[d]);
                    queried += route.queried;
                    hops += route.hops_back;
                    data += route.found;
                }
        }
        CHECK_EQ(count(fixture, "l1.mulnet.probes"), queried);
        CHECK_EQ(count(fixture, "l1.mulnet.answer_hops"), hops);
        CHECK_EQ(count(fixture, "l1.mulnet.data_answers"), data);
        cooperation_fixture_destroy(fixture);
    }
}
