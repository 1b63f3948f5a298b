/* A model of the decoupled L1D, written from "Locality-Driven Dynamic GPU Cache Bypassing" (ICS 2015), sections 4.1 and
 * 4.2 and Figure 7, with the choices that l1/decoupled.c documents where the paper is silent. It runs next to the L1 on
 * random reads, stores, flushes and commands of the SM dueling; every outcome is compared. */
#include "test.h"

#include <string.h>

#include "base/random.h"
#include "l1/l1_fixture.h"

enum { SETS = 4, WAYS = 2, TAG_SETS_MAX = 8, TAGS_MAX = 16, LINES = 26, RC_LARGEST = 63 };

struct data_line {
    enum { FREE, FETCHED, FILLED } state;
    uint64_t line, used;
    bool stale, dirty;
};

struct tag {
    bool valid, position; /* position: committed */
    uint64_t line, used;
    unsigned rc;
};

struct decoupled_model {
    unsigned tag_sets, tag_ways, threshold, first_count;
    bool count_hits, plain;
    uint64_t clock;
    struct data_line data[SETS][WAYS];
    struct tag tag[TAG_SETS_MAX][TAGS_MAX];
    uint64_t first_touches, below_threshold, admissions, tags_replaced, lines_lost, untracked;
};

static struct data_line *model_data(struct decoupled_model *model, uint64_t line) {
    for (unsigned way = 0; way < WAYS; way++) {
        struct data_line *data = &model->data[line % SETS][way];
        if (data->state != FREE && data->line == line) return data;
    }
    return NULL;
}

static struct tag *tags_of(struct decoupled_model *model, uint64_t line) { return model->tag[line % model->tag_sets]; }

static struct tag *model_tag(struct decoupled_model *model, uint64_t line) {
    struct tag *tags = tags_of(model, line);
    for (unsigned i = 0; i < model->tag_ways; i++)
        if (tags[i].valid && tags[i].line == line) return &tags[i];
    return NULL;
}

/* A data line leaves: its tag becomes a candidate. */
static void model_free(struct decoupled_model *model, struct data_line *data) {
    struct tag *owner = model_tag(model, data->line);
    if (owner) owner->position = false;
    data->state = FREE;
}

/* LFU among candidates, then among committed tags whose line is clean; ties by LRU. */
static struct tag *model_new_tag(struct decoupled_model *model, uint64_t line) {
    struct tag *tags = tags_of(model, line), *victim = NULL;
    for (unsigned i = 0; i < model->tag_ways; i++)
        if (!tags[i].valid) return &tags[i];
    for (unsigned committed = 0; committed < 2 && !victim; committed++)
        for (unsigned i = 0; i < model->tag_ways; i++) {
            struct tag *tag = &tags[i];
            struct data_line *data = tag->position ? model_data(model, tag->line) : NULL;
            if (tag->position != committed || (data && (data->state != FILLED || data->dirty))) continue;
            if (!victim || tag->rc < victim->rc || (tag->rc == victim->rc && tag->used < victim->used)) victim = tag;
        }
    if (!victim) return NULL;
    if (victim->position) {
        model_free(model, model_data(model, victim->line));
        model->lines_lost++;
    } else {
        model->tags_replaced++;
    }
    return victim;
}

/* The way of a new line: a free one, else the least recently used that is not being filled. */
static struct data_line *model_way(struct decoupled_model *model, uint64_t line) {
    struct data_line *set = model->data[line % SETS], *victim = NULL;
    for (unsigned way = 0; way < WAYS; way++)
        if (set[way].state == FREE) return &set[way];
    for (unsigned way = 0; way < WAYS; way++)
        if (set[way].state == FILLED && (!victim || set[way].used < victim->used)) victim = &set[way];
    return victim;
}

/* A probe miss returns a bypass, unless all accesses go to the cache; a probe hit compares the increased count. */
static bool model_allocates(const struct decoupled_model *model, const struct tag *tag) {
    if (model->plain || model->threshold == 0) return true;
    return tag && tag->rc + 1u >= model->threshold;
}

/* `h`it, `p`ending hit, `m`iss that allocates, `b`ypass, or reservation `f`ailure. */
static char model_read(struct decoupled_model *model, uint64_t line) {
    struct data_line *data = model_data(model, line);
    struct tag *tag = model->plain ? NULL : model_tag(model, line);
    char outcome = !data                   ? (model_allocates(model, tag) ? 'm' : 'b')
                   : data->state == FILLED ? 'h'
                   : data->stale           ? 'b'
                                           : 'p';
    if (outcome == 'm') {
        data = model_way(model, line);
        if (!data) return 'f';
        if (data->state == FILLED) {
            struct tag *owner = model->plain ? NULL : model_tag(model, data->line);
            if (owner) owner->rc = 0;
            model_free(model, data);
        }
        *data = (struct data_line){FETCHED, line, ++model->clock, false, false};
    }
    if (outcome == 'h') data->used = ++model->clock;
    if (model->plain) return outcome;
    bool there = outcome == 'h' || outcome == 'p';
    if (!tag) {
        tag = model_new_tag(model, line);
        model->first_touches += tag != NULL;
        model->untracked += tag == NULL;
        if (!tag) return outcome;
        *tag = (struct tag){.valid = true, .line = line, .rc = model->first_count};
    } else if (!there || model->count_hits) {
        if (tag->rc < RC_LARGEST) tag->rc++;
        model->below_threshold += outcome == 'b';
    }
    tag->used = ++model->clock;
    if (outcome != 'm') return outcome;
    tag->position = true;
    model->admissions++;
    for (unsigned i = 0; i < model->tag_ways; i++) { /* dynamic aging */
        struct tag *other = &tags_of(model, line)[i];
        if (other != tag && other->valid && other->rc > 0) other->rc--;
    }
    return outcome;
}

/* Global stores invalidate the line; local ones stay in it. */
static void model_write(struct decoupled_model *model, uint64_t line, bool local) {
    struct data_line *data = model_data(model, line);
    if (!data) return;
    if (data->state == FETCHED)
        data->stale = true;
    else if (local)
        data->dirty = true, data->used = ++model->clock;
    else
        model_free(model, data);
}

/* Everything in flight arrives. */
static void model_settle(struct decoupled_model *model) {
    for (unsigned i = 0; i < SETS * WAYS; i++) {
        struct data_line *data = &model->data[i / WAYS][i % WAYS];
        if (data->state == FETCHED && data->stale)
            model_free(model, data);
        else if (data->state == FETCHED)
            data->state = FILLED;
    }
}

/* A command of the SM dueling. The tag store starts empty, or with the lines that the plain cache holds. */
static void model_steer(struct decoupled_model *model, bool plain) {
    if (model->plain == plain) return;
    model->plain = plain;
    memset(model->tag, 0, sizeof model->tag);
    for (unsigned i = 0; !plain && i < SETS * WAYS; i++) {
        const struct data_line *data = &model->data[i / WAYS][i % WAYS];
        if (data->state == FREE) continue;
        struct tag *tag = model_new_tag(model, data->line);
        REQUIRE(tag);
        *tag = (struct tag){.valid = true, .position = true, .line = data->line, .rc = model->threshold};
    }
}

static void settle_quickly(struct l1_fixture *l1) {
    do {
        cycle(l1);
        while (port_peek(&l1->to_network, l1->now)) answer(l1, take(l1));
        l1->woken_count = 0;
    } while (l1->l1->ops->busy(l1->l1, 0));
}

static char read_letter(struct l1_fixture *l1, uint64_t line, bool local) {
    static const char letters[L1_OUTCOMES] = {
        [L1_HIT] = 'h', [L1_PENDING_HIT] = 'p', [L1_MISS] = 'm', [L1_BYPASS] = 'b', [L1_FAIL_LINE] = 'f'};
    return letters[access_by(l1, (struct l1_request){.address = line * 128, .kind = MESSAGE_READ, .local = local})];
}

static void compare(struct decoupled_model *model, const char *const *settings, uint64_t seed) {
    struct l1_fixture *l1 = l1_fixture_create(settings);
    uint64_t random = seed;
    cycle(l1);
    for (unsigned i = 0; i < 1500; i++) {
        uint64_t line = random_below(&random, LINES), kind = random_below(&random, 200);
        if (random_below(&random, 3)) line = line % 8 + 2 * (i / 200); /* a working set that moves */
        bool local = line % 8 == 5;
        if (kind < 14) {
            if (local)
                write_local(l1, line * 128, 1);
            else
                CHECK_OUTCOME(write_line(l1, line * 128, 0), L1_SENT);
            model_write(model, line, local);
        } else if (kind < 18) {
            model_steer(model, kind % 2);
            l1_steer(l1->l1, 0, kind % 2, 0);
        } else if (kind == 18) {
            settle_quickly(l1);
            l1->l1->ops->flush(l1->l1, 0);
            memset(model->data, 0, sizeof model->data);
            memset(model->tag, 0, sizeof model->tag);
        } else {
            char expected = model_read(model, line), seen = read_letter(l1, line, local);
            if (!CHECK_EQ(seen, expected)) {
                printf("    access %u, line %u, seed %u\n", i, (unsigned)line, (unsigned)seed);
                break;
            }
        }
        if (kind != 18 && random_below(&random, 3) == 0) continue; /* the next access finds it in flight */
        settle_quickly(l1);
        model_settle(model);
    }
    settle_quickly(l1);
    CHECK_EQ(COUNTER(l1, "l1.decoupled.first_touches"), model->first_touches);
    CHECK_EQ(COUNTER(l1, "l1.decoupled.below_threshold"), model->below_threshold);
    CHECK_EQ(COUNTER(l1, "l1.decoupled.admissions"), model->admissions);
    CHECK_EQ(COUNTER(l1, "l1.decoupled.tags_replaced"), model->tags_replaced);
    CHECK_EQ(COUNTER(l1, "l1.decoupled.lines_lost"), model->lines_lost);
    CHECK_EQ(COUNTER(l1, "l1.decoupled.untracked"), model->untracked);
    l1_fixture_destroy(l1);
}

TEST("decoupled: every access ends as in the model of tag store and data store") {
    static const struct {
        unsigned tag_sets, tag_ways, threshold, first_count;
        bool count_hits;
    } cases[] = {{4, 4, 2, 1, true}, {4, 2, 2, 1, true},  {4, 3, 3, 1, false}, {4, 8, 1, 1, true},
                 {4, 4, 2, 0, true}, {1, 16, 2, 1, true}, {1, 8, 3, 2, true},  {2, 5, 2, 1, false},
                 {4, 2, 1, 1, true}, {4, 4, 0, 0, true},  {8, 8, 3, 1, true},  {3, 9, 2, 1, true}};
    uint64_t lost = 0, replaced = 0, untracked = 0;
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct decoupled_model model = {.tag_sets = cases[i].tag_sets,
                                        .tag_ways = cases[i].tag_ways,
                                        .threshold = cases[i].threshold,
                                        .first_count = cases[i].first_count,
                                        .count_hits = cases[i].count_hits};
        char text[4][64];
        snprintf(text[0], sizeof text[0], "l1.decoupled.tag_sets=%u", cases[i].tag_sets);
        snprintf(text[1], sizeof text[1], "l1.decoupled.tag_ways=%u", cases[i].tag_ways);
        snprintf(text[2], sizeof text[2], "l1.decoupled.threshold=%u", cases[i].threshold);
        snprintf(text[3], sizeof text[3], "l1.decoupled.first_count=%u", cases[i].first_count);
        compare(&model,
                SETTINGS("l1.insertion=decoupled", "l1.decoupled.dueling=false", "l1.decoupled.probe_cycles=0",
                         "l1.size_kb=1", "l1.ways=2", "l1.mshrs=32", "l1.mshr_merges=64", "l1.miss_queue=64", text[0],
                         text[1], text[2], text[3],
                         cases[i].count_hits ? "l1.decoupled.count_hits=true" : "l1.decoupled.count_hits=false"),
                i + 1);
        lost += model.lines_lost, replaced += model.tags_replaced, untracked += model.untracked;
    }
    CHECK(lost > 50);
    CHECK(replaced > 1000);
    CHECK(untracked > 0);
}
