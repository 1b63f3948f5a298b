#include <string.h>

#include "base/random.h"
#include "l1/cooperation_fixture.h"

/* Group 3 probes for line 1 in cycle 10; runs until nothing is in flight. */
enum { ASKER = 3, ASKED_AT = 10 };
static struct cooperation_fixture *ask_once(bool ring, uint64_t holders, enum coop_direction direction) {
    struct cooperation_fixture *fixture = cooperation_fixture_create(ring, 5, 2, 7);
    fixture->holders[1] = holders;
    run(fixture, ASKED_AT);
    ask(&fixture->node[ASKER], 1, direction, ASKED_AT - 1);
    run(fixture, 60);
    return fixture;
}

static void check_answer(const struct cooperation_fixture *fixture, unsigned index, enum coop_direction direction,
                         enum coop_kind kind, unsigned group, uint64_t cycles) {
    const struct log *log = &fixture->node[ASKER].answered;
    REQUIRE(index < log->count);
    CHECK_EQ(log->event[index].message.direction, (int)direction);
    CHECK_EQ(log->event[index].message.kind, (int)kind);
    CHECK_EQ(log->event[index].message.target, group);
    CHECK_EQ(log->event[index].message.pursuit, 103u);
    CHECK_EQ(log->event[index].message.since, ASKED_AT - 1u);
    CHECK_EQ(log->event[index].cycle, ASKED_AT - 1 + cycles);
}

TEST("on the ring a probe to the left visits two caches and one to the right all seven, a hop and a lookup each") {
    struct cooperation_fixture *fixture = ask_once(true, 0, COOP_LEFT);
    for (unsigned distance = 1; distance < GROUPS; distance++) {
        const struct test_node *right = &fixture->node[(ASKER + distance) % GROUPS];
        const struct event *last = &right->probed.event[right->probes - 1];
        CHECK_EQ(right->probes, distance < GROUPS - 2 ? 1u : 2u);
        CHECK_EQ(last->message.direction, (int)COOP_RIGHT);
        CHECK_EQ(last->cycle, ASKED_AT - 1 + 2u * distance);
        CHECK_EQ(last->message.queries, 7 - distance);
    }
    for (unsigned distance = 1; distance <= 2; distance++) {
        const struct event *first = &fixture->node[ASKER - distance].probed.event[0];
        CHECK_EQ(first->message.direction, (int)COOP_LEFT);
        CHECK_EQ(first->cycle, ASKED_AT - 1 + 2u * distance);
        CHECK_EQ(first->message.queries, 2 - distance);
    }
    CHECK_EQ(count(fixture, "l1.mulnet.asked"), 1u);
    CHECK_EQ(count(fixture, "l1.mulnet.probes"), 9u);
    cooperation_fixture_destroy(fixture);
}

TEST("a probe without remaining queries is answered without the line: after 2 caches and 7 cycles, or 7 and 16") {
    struct cooperation_fixture *fixture = ask_once(true, 0, COOP_LEFT);
    CHECK_EQ(fixture->node[ASKER].answers, 2u);
    check_answer(fixture, 0, COOP_LEFT, COOP_MISS, 1, 2 + 2 + 1 + 2); /* two hops with lookups, Q3, two hops back */
    check_answer(fixture, 1, COOP_RIGHT, COOP_MISS, 2, 7 * 2 + 1 + 1);
    CHECK_EQ(count(fixture, "l1.mulnet.miss_answers"), 2u);
    CHECK_EQ(count(fixture, "l1.mulnet.data_answers"), 0u);
    cooperation_fixture_destroy(fixture);
}

TEST("an answer takes the shorter direction back") {
    for (unsigned distance = 1; distance < GROUPS; distance++) {
        unsigned holder = (ASKER + distance) % GROUPS, back = distance <= 4 ? distance : GROUPS - distance;
        struct cooperation_fixture *fixture = ask_once(true, UINT64_C(1) << holder, COOP_LEFT);
        unsigned data = 0;
        for (unsigned i = 0; i < fixture->node[ASKER].answers; i++) {
            const struct event *event = &fixture->node[ASKER].answered.event[i];
            if (event->message.kind != COOP_DATA || event->message.direction != COOP_RIGHT) continue;
            check_answer(fixture, i, COOP_RIGHT, COOP_DATA, holder, 2 * distance + 1 + back);
            data++;
        }
        CHECK_EQ(data, 1u);
        cooperation_fixture_destroy(fixture);
    }
}

/* Puts an answer for group `source` into Q3 of a group. */
static void answer_from(struct cooperation_fixture *fixture, unsigned group, unsigned source,
                        enum coop_direction direction, uint64_t now) {
    struct coop_message answer = {
        .kind = COOP_DATA, .direction = (uint8_t)direction, .source = (uint8_t)source, .target = (uint8_t)group};
    port_push(fixture->node[group].ports.replies_out, now, &answer, sizeof answer);
}

TEST("an answer from the opposite side of the ring returns in the direction of its probe") {
    /* From group 7 to group 3 both directions take four hops. Which of them the answer takes shows two stops further:
     * there it delays by a cycle an answer that enters when it passes. */
    for (unsigned direction = 0; direction < COOP_DIRECTIONS; direction++) {
        struct cooperation_fixture *fixture = cooperation_fixture_create(true, 5, 2, 7);
        run(fixture, ASKED_AT);
        answer_from(fixture, 7, ASKER, (enum coop_direction)direction, ASKED_AT - 1);
        run(fixture, 2);
        answer_from(fixture, 5, 4, COOP_RIGHT, ASKED_AT + 1);
        answer_from(fixture, 1, 2, COOP_LEFT, ASKED_AT + 1);
        run(fixture, 20);
        const struct test_node *left = &fixture->node[4], *right = &fixture->node[2];
        REQUIRE(fixture->node[ASKER].answers == 1 && left->answers == 1 && right->answers == 1);
        CHECK_EQ(fixture->node[ASKER].answered.event[0].cycle, ASKED_AT - 1 + 5u);
        CHECK_EQ(left->answered.event[0].cycle, ASKED_AT + 3u + (direction == COOP_RIGHT));
        CHECK_EQ(right->answered.event[0].cycle, ASKED_AT + 3u + (direction == COOP_LEFT));
        CHECK_EQ(count(fixture, "l1.mulnet.answer_wait_cycles"), 1u);
        cooperation_fixture_destroy(fixture);
    }
}

TEST("if both probes hit, both lines arrive, the nearer one first") {
    struct cooperation_fixture *fixture = ask_once(true, 1 << (ASKER - 2) | 1 << (ASKER + 1), COOP_LEFT);
    CHECK_EQ(fixture->node[ASKER].answers, 2u);
    check_answer(fixture, 0, COOP_RIGHT, COOP_DATA, ASKER + 1, 4);
    check_answer(fixture, 1, COOP_LEFT, COOP_DATA, ASKER - 2, 7);
    CHECK_EQ(count(fixture, "l1.mulnet.probes"), 3u); /* groups behind a holder are not probed */
    cooperation_fixture_destroy(fixture);
}

TEST("if the short probe misses and the long one hits, the miss arrives first") {
    struct cooperation_fixture *fixture = ask_once(true, 1 << (ASKER + 4), COOP_LEFT);
    CHECK_EQ(fixture->node[ASKER].answers, 2u);
    check_answer(fixture, 0, COOP_LEFT, COOP_MISS, ASKER - 2, 7);
    check_answer(fixture, 1, COOP_RIGHT, COOP_DATA, ASKER + 4, 8 + 1 + 4);
    cooperation_fixture_destroy(fixture);
}

TEST("probes visit at most as many caches as exist, and a probe without queries is not sent") {
    struct cooperation_fixture *fixture = cooperation_fixture_create(true, 5, 100, 0);
    ask(&fixture->node[ASKER], 1, COOP_LEFT, 0);
    run(fixture, 100);
    CHECK_EQ(count(fixture, "l1.mulnet.probes"), 7u);
    CHECK_EQ(fixture->node[ASKER].answers, 1u);
    cooperation_fixture_destroy(fixture);
}

TEST("between neighbours a probe visits only the addressed cache and is answered in four cycles") {
    for (unsigned hit = 0; hit < 2; hit++)
        for (unsigned direction = 0; direction < COOP_DIRECTIONS; direction++) {
            unsigned asked = direction == COOP_LEFT ? ASKER - 1 : ASKER + 1;
            struct cooperation_fixture *fixture =
                ask_once(false, (uint64_t)hit << asked, (enum coop_direction)direction);
            CHECK_EQ(fixture->node[ASKER].answers, 1u);
            check_answer(fixture, 0, (enum coop_direction)direction, hit ? COOP_DATA : COOP_MISS, asked, 4);
            CHECK_EQ(count(fixture, "l1.adjnet.probes"), 1u);
            CHECK_EQ(fixture->node[asked].probed.event[0].message.queries, 0);
            cooperation_fixture_destroy(fixture);
        }
    struct cooperation_fixture *fixture =
        cooperation_fixture_create(false, 5, 0, 0); /* left of the first group is the last */
    ask(&fixture->node[0], 1, COOP_LEFT, 0);
    run(fixture, 20);
    CHECK_EQ(fixture->node[GROUPS - 1].probes, 1u);
    cooperation_fixture_destroy(fixture);
}

TEST("a cache that accepts no probes stalls only their senders, once the queues are full") {
    struct cooperation_fixture *fixture = cooperation_fixture_create(false, 1, 0, 0);
    fixture->node[4].probe_every = 0;
    fixture->node[3].asks = 20; /* by turns to 2 and to 4 */
    fixture->node[6].asks = 20; /* by turns to 5 and to 7 */
    run(fixture, 500);
    CHECK_EQ(fixture->node[6].answers, 20u);
    CHECK(fixture->node[3].asks > 10);
    CHECK(!port_can_push(fixture->node[3].ports.requests_out, fixture->engine->now));
    fixture->node[4].probe_every = 1;
    run(fixture, 500);
    CHECK_EQ(fixture->node[3].answers, 20u);
    CHECK_EQ(count(fixture, "l1.adjnet.probes"), 40u);
    CHECK_EQ(count(fixture, "l1.adjnet.miss_answers"), 40u);
    cooperation_fixture_destroy(fixture);
}

TEST("answers to a node that accepts none wait on the ring and arrive in order once it does; others pass") {
    struct cooperation_fixture *fixture = cooperation_fixture_create_with(GROUPS, true, 1, 3, 2, 7);
    fixture->holders[0] = 1 << 1;
    fixture->holders[1] = fixture->holders[2] = fixture->holders[3] = 1 << 7;
    fixture->node[3].take_every = 0;
    fixture->node[3].asks = 3; /* misses come from group 1 by the right, lines from 7 by the left */
    run(fixture, 200);
    for (unsigned i = 0; i < 5; i++, run(fixture, 100)) ask(&fixture->node[5], 4, COOP_LEFT, fixture->engine->now - 1);
    CHECK_EQ(fixture->node[3].answers, 0u);
    CHECK_EQ(fixture->node[5].answers, 10u);
    CHECK_EQ(fixture->node[5].data, 5u);
    fixture->node[3].take_every = 1;
    run(fixture, 500);
    CHECK_EQ(fixture->node[3].answers, 6u);
    CHECK_EQ(fixture->node[3].data, 3u);
    cooperation_fixture_destroy(fixture);
}

TEST("a full channel queue holds back the answers behind it, also those for other nodes") {
    enum { DEPTH = 3, ANSWERS = 10 };
    struct cooperation_fixture *fixture = cooperation_fixture_create_with(GROUPS, true, 1, DEPTH, 2, 7);
    struct test_node *deaf = &fixture->node[3], *near = &fixture->node[2];
    deaf->take_every = 0;
    unsigned sent = 0;
    for (unsigned i = 0; i < 100; i++) {
        run(fixture, 1);
        if (sent == ANSWERS || !port_can_push(fixture->node[0].ports.replies_out, fixture->engine->now - 1)) continue;
        answer_from(fixture, 0, 3, COOP_LEFT, fixture->engine->now - 1);
        sent++;
    }
    CHECK_EQ(sent, 1u + DEPTH + DEPTH + 1); /* in Q7, at group 2, at group 1, in Q3 of group 0 */
    CHECK_EQ(count(fixture, "l1.mulnet.channel_peak"), DEPTH);
    answer_from(fixture, 1, 2, COOP_LEFT, fixture->engine->now - 1);
    run(fixture, 50);
    CHECK_EQ(near->answers, 0u);
    deaf->take_every = 1;
    run(fixture, 50);
    CHECK_EQ(near->answers, 1u);
    CHECK_EQ(deaf->answers, sent);
    CHECK(count(fixture, "l1.mulnet.channel_wait_cycles") > 2 * 50);
    cooperation_fixture_destroy(fixture);
}

TEST("a cache with little space takes the probes of both neighbours in turns, and the answers") {
    enum { TURNS = 20 };
    struct cooperation_fixture *fixture = cooperation_fixture_create(false, 1, 0, 0);
    fixture->node[4].probe_every = fixture->node[4].take_every = 4;
    for (unsigned cycle = 0; cycle < 4 * TURNS + 20; cycle++) {
        run(fixture, 1);
        uint64_t now = fixture->engine->now - 1;
        for (unsigned g = 3; g <= 5; g += 2) {
            if (port_can_push(fixture->node[g].ports.requests_out, now))
                ask(&fixture->node[g], 1, g == 3 ? COOP_RIGHT : COOP_LEFT, now);
            if (port_can_push(fixture->node[g].ports.replies_out, now))
                answer_from(fixture, g, 4, g == 3 ? COOP_LEFT : COOP_RIGHT, now);
        }
    }
    const struct log *probed = &fixture->node[4].probed, *answered = &fixture->node[4].answered;
    REQUIRE(probed->count >= TURNS && answered->count >= TURNS);
    for (unsigned i = 2; i < TURNS; i++) {
        CHECK(probed->event[i].message.source != probed->event[i - 1].message.source);
        CHECK(answered->event[i].message.target != answered->event[i - 1].message.target);
    }
    CHECK(count(fixture, "l1.adjnet.probe_wait_cycles") > 5 * TURNS); /* of eight cycles each waits about seven */
    CHECK(count(fixture, "l1.adjnet.answer_wait_cycles") > 5 * TURNS);
    run(fixture, 100);
    cooperation_fixture_destroy(fixture);
}

TEST("a second probe or answer of a group leaves in the next cycle, whatever other groups send") {
    for (unsigned i = 0; i < 4; i++) {
        bool answers = i % 2;
        unsigned sender[] = {ASKER, ASKER, i < 2 ? 1 : 6};
        struct cooperation_fixture *fixture = cooperation_fixture_create(false, 5, 0, 0);
        run(fixture, ASKED_AT);
        for (unsigned k = 0; k < COUNT_OF(sender); k++)
            if (answers)
                answer_from(fixture, sender[k], sender[k] + 1, COOP_LEFT, ASKED_AT - 1);
            else
                ask(&fixture->node[sender[k]], 1, COOP_RIGHT, ASKED_AT - 1);
        run(fixture, 30);
        const struct test_node *receiver = &fixture->node[ASKER + 1];
        const struct log *log = answers ? &receiver->answered : &receiver->probed;
        REQUIRE(log->count == 2);
        CHECK_EQ(log->event[0].cycle, ASKED_AT - 1 + 2u);
        CHECK_EQ(log->event[1].cycle, ASKED_AT - 1 + 3u);
        cooperation_fixture_destroy(fixture);
    }
}

TEST("the longest queues of probes and answers are counted") {
    for (unsigned most = 1; most <= 3; most++) {
        struct cooperation_fixture *fixture = cooperation_fixture_create(false, 5, 0, 0);
        fixture->node[4].probe_every = fixture->node[3].take_every = 0;
        run(fixture, 1);
        for (unsigned i = 0; i < most; i++, run(fixture, 1)) {
            ask(&fixture->node[3], 1, COOP_RIGHT, fixture->engine->now - 1);
            answer_from(fixture, 2, 3, COOP_RIGHT, fixture->engine->now - 1);
        }
        run(fixture, 10);
        CHECK_EQ(count(fixture, "l1.adjnet.probes_peak"), most);
        CHECK_EQ(count(fixture, "l1.adjnet.answers_peak"), most);
        fixture->node[4].probe_every = fixture->node[3].take_every = 1;
        run(fixture, 50);
        cooperation_fixture_destroy(fixture);
    }
}

TEST("a network with probes and answers that cannot go on says what waits, and where") {
    struct cooperation_fixture *fixture = cooperation_fixture_create(true, 1, 2, 7);
    fixture->holders[1] = fixture->holders[2] = fixture->holders[3] = 1 << 7;
    fixture->node[3].take_every = 0;
    fixture->node[3].asks = 3;
    run(fixture, 200);
    fixture->node[6].probe_every = 0;
    fixture->node[5].asks = 1;
    run(fixture, 20);
    fixture->node[5].asks = 2;
    run(fixture, 20);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    engine_explain(fixture->engine, out);
    fclose(out);
    /* Three lines by the left; three misses by the right, of which one is in Q7. */
    CHECK_TEXT(text, "answers in transit to the left at group 4: 2");
    CHECK_TEXT(text, "answers in transit to the left at group 5: 1");
    CHECK_TEXT(text, "answers in transit to the right at group 2: 2");
    CHECK_TEXT(text, "the head probe of group 5 waits for space to the right");
    free(text);
    fixture->node[3].take_every = fixture->node[6].probe_every = 1;
    run(fixture, 500);
    cooperation_fixture_destroy(fixture);
}

/* All nodes probe as fast as they can and answer at different rates. */
static struct cooperation_fixture *hammer(bool ring, unsigned queue, bool poll, uint64_t shuffle) {
    enum { ASKS = 300 };
    struct cooperation_fixture *fixture = cooperation_fixture_create(ring, queue, 2, 7);
    fixture->engine->poll = poll;
    fixture->engine->shuffle = shuffle;
    for (unsigned line = 0; line < 4; line++) fixture->holders[line] = 0x6D0311 >> 5 * line & 0xFF & ~(1u << line);
    for (unsigned g = 0; g < GROUPS; g++) {
        fixture->node[g].asks = ASKS;
        fixture->node[g].probe_every = 1 + g % 3;
        fixture->node[g].take_every = 1 + g % 5;
    }
    for (unsigned i = 0; i < 200 && (i < 2 || engine_in_flight(fixture->engine, (char[200]){0}, 200)); i++)
        run(fixture, 500);
    for (unsigned g = 0; g < GROUPS; g++) CHECK_EQ(fixture->node[g].answers, ASKS * (ring ? 2u : 1u));
    return fixture;
}

TEST("every probe is answered once under any load, with queues of any depth, including one entry") {
    static const unsigned depths[] = {1, 2, 3, 5, 16};
    for (unsigned ring = 0; ring < 2; ring++)
        for (unsigned i = 0; i < COUNT_OF(depths); i++) cooperation_fixture_destroy(hammer(ring, depths[i], false, 0));
}

/* Nodes of random speed, each of which stops for some time to take answers or probes. */
static void random_load(uint64_t seed) {
    enum { ASKS = 60, QUEUES = 4, SLICES = 40 };
    uint64_t random = seed;
    unsigned groups = 3 + (unsigned)random_below(&random, GROUPS - 2),
             queue = 1 + (unsigned)random_below(&random, QUEUES), channel = 2 + (unsigned)random_below(&random, 3);
    struct cooperation_fixture *fixture =
        cooperation_fixture_create_with(groups, true, queue, channel, 1 + (unsigned)random_below(&random, 3),
                                        1 + (unsigned)random_below(&random, GROUPS));
    for (unsigned line = 0; line < 4; line++) fixture->holders[line] = random_next(&random) & random_next(&random);
    for (unsigned g = 0; g < groups; g++) fixture->node[g].asks = ASKS;
    for (unsigned i = 0; i < SLICES; i++, run(fixture, 1 + random_below(&random, 60)))
        for (unsigned g = 0; g < groups; g++) {
            fixture->node[g].take_every = (unsigned)random_below(&random, 4);
            fixture->node[g].probe_every = (unsigned)random_below(&random, 4);
        }
    for (unsigned g = 0; g < groups; g++) fixture->node[g].take_every = fixture->node[g].probe_every = 1;
    run(fixture, 20 * groups * ASKS);
    for (unsigned g = 0; g < groups; g++) CHECK_EQ(fixture->node[g].answers, 2u * ASKS);
    cooperation_fixture_destroy(fixture);
}

TEST("the ring never deadlocks: whatever nodes have stopped, all answers arrive once all take them again") {
    for (uint64_t seed = 1; seed <= 150; seed++) random_load(seed);
}

TEST("answers that fill the ring go on: a place is always free in each direction") {
    /* Every group sends lines three stops to the right and three to the left as fast as it can; nobody takes any. */
    for (unsigned channel = 2; channel <= 5; channel++) {
        struct cooperation_fixture *fixture = cooperation_fixture_create_with(GROUPS, true, 2, channel, 2, 7);
        unsigned sent = 0;
        for (unsigned g = 0; g < GROUPS; g++) fixture->node[g].take_every = 0;
        for (unsigned i = 0; i < 1000; i++) {
            run(fixture, 1);
            for (unsigned g = 0; g < GROUPS; g++)
                if (port_can_push(fixture->node[g].ports.replies_out, fixture->engine->now - 1)) {
                    answer_from(fixture, g, (g + (i % 2 ? 3 : GROUPS - 3)) % GROUPS, COOP_LEFT,
                                fixture->engine->now - 1);
                    sent++;
                }
            if (i == 500)
                for (unsigned g = 0; g < GROUPS; g++) fixture->node[g].take_every = 3;
        }
        run(fixture, 2000);
        unsigned arrived = 0;
        for (unsigned g = 0; g < GROUPS; g++) arrived += fixture->node[g].answers;
        CHECK_EQ(arrived, sent);
        CHECK(sent > 500);
        cooperation_fixture_destroy(fixture);
    }
}

static bool same_event(const struct event *a, const struct event *b) {
    const struct coop_message *m = &a->message, *n = &b->message;
    return a->cycle == b->cycle && m->key == n->key && m->set == n->set && m->pursuit == n->pursuit &&
           m->since == n->since && m->kind == n->kind && m->direction == n->direction && m->source == n->source &&
           m->target == n->target && m->queries == n->queries;
}

TEST("the counters of the networks depend neither on the order of ticks nor on sleeping") {
    for (unsigned ring = 0; ring < 2; ring++)
        for (unsigned queue = 1; queue <= 5; queue += 4) {
            struct cooperation_fixture *plain = hammer(ring, queue, false, 0);
            struct cooperation_fixture *others[] = {hammer(ring, queue, true, 0), hammer(ring, queue, false, 4711)};
            for (unsigned i = 0; i < COUNT_OF(others); i++) {
                for (unsigned s = 0; s < stats_count(plain->stats); s++)
                    CHECK_EQ(stats_total(others[i]->stats, s), stats_total(plain->stats, s));
                for (unsigned g = 0; g < GROUPS; g++) {
                    CHECK_EQ(others[i]->node[g].data, plain->node[g].data);
                    const struct log *a = &others[i]->node[g].answered, *b = &plain->node[g].answered;
                    CHECK_EQ(a->count, b->count);
                    for (unsigned e = 0; e < a->count; e++) CHECK(same_event(&a->event[e], &b->event[e]));
                }
                cooperation_fixture_destroy(others[i]);
            }
            cooperation_fixture_destroy(plain);
        }
}
