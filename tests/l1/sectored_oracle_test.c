/* A sectored L1 against a model of one: sets of lines in LRU order, each with a mask of valid sectors. Every access
 * completes before the next one, so that allocation on a miss and on a fill must give the same contents. */
#include "test.h"

#include "base/random.h"
#include "l1/l1_fixture.h"

enum { SETS = 4, WAYS = 4, LINES = 40, STEPS = 3000 };

struct model_line {
    uint64_t number;
    uint8_t valid;
};

struct model {
    struct model_line line[SETS][WAYS]; /* most recently used first */
    unsigned held[SETS];
    bool validates;
    uint64_t hits, line_misses, sector_misses, fetched, evictions, write_hits;
};

static struct model_line *model_find(struct model *model, uint64_t number) {
    struct model_line *lines = model->line[number % SETS];
    for (unsigned i = 0; i < model->held[number % SETS]; i++)
        if (lines[i].number == number) return &lines[i];
    return NULL;
}

static struct model_line *model_use(struct model *model, struct model_line *line) {
    struct model_line used = *line, *lines = model->line[used.number % SETS];
    memmove(&lines[1], &lines[0], (size_t)(line - lines) * sizeof *lines);
    lines[0] = used;
    return &lines[0];
}

static struct model_line *model_insert(struct model *model, uint64_t number) {
    struct model_line *lines = model->line[number % SETS];
    unsigned *held = &model->held[number % SETS];
    if (*held == WAYS)
        model->evictions++;
    else
        ++*held;
    memmove(&lines[1], &lines[0], (*held - 1) * sizeof *lines);
    lines[0] = (struct model_line){number, 0};
    return &lines[0];
}

/* Returns the sectors to be fetched. */
static uint8_t model_read(struct model *model, uint64_t number, uint8_t sectors) {
    struct model_line *line = model_find(model, number);
    uint8_t missing = (uint8_t)(line ? sectors & ~line->valid : sectors);
    if (line) line = model_use(model, line);
    if (!missing) {
        model->hits++;
        return 0;
    }
    ++*(line ? &model->sector_misses : &model->line_misses);
    model->fetched += (unsigned)__builtin_popcount(missing);
    if (!line) line = model_insert(model, number);
    line->valid |= missing;
    return missing;
}

static void model_write(struct model *model, uint64_t number, uint8_t sectors, bool whole, bool atomic) {
    struct model_line *line = model_find(model, number);
    model->write_hits += line && !atomic && !(sectors & ~line->valid);
    if (model->validates && !atomic) {
        line = line ? model_use(model, line) : model_insert(model, number);
        if (whole) line->valid |= sectors;
        return;
    }
    if (!line) return;
    line->valid &= (uint8_t)~sectors; /* which is no use of the line */
    if (line->valid) return;
    struct model_line *end = &model->line[number % SETS][--model->held[number % SETS]];
    memmove(line, line + 1, (size_t)(end - line) * sizeof *line); /* it loses its tag with the last sector */
}

static void step(struct l1_fixture *l1, struct model *model, uint64_t *random) {
    uint64_t number = random_below(random, LINES), kind = random_below(random, 8);
    uint8_t sectors = (uint8_t)(1 + random_below(random, 15));
    struct l1_request request = {.address = number * 128, .sectors = sectors};
    request.kind = kind < 5 ? MESSAGE_READ : kind == 7 ? MESSAGE_ATOMIC : MESSAGE_WRITE;
    request.bypass = kind == 7;
    request.flags = kind == 6 ? MESSAGE_PARTIAL : 0;
    cycle(l1);
    enum l1_outcome outcome = access_by(l1, request);
    if (kind < 5) {
        uint8_t missing = model_read(model, number, sectors);
        CHECK_OUTCOME(outcome, missing ? L1_MISS : L1_HIT);
        cycle(l1);
        const struct message *sent = port_peek(&l1->to_network, l1->now);
        CHECK_EQ(sent ? sent->sectors : 0, missing);
    } else {
        model_write(model, number, sectors, kind != 6, kind == 7);
        CHECK_OUTCOME(outcome, L1_SENT);
    }
    for (unsigned i = 0; i < 6; i++) {
        cycle(l1);
        while (port_peek(&l1->to_network, l1->now)) answer(l1, take(l1));
    }
    l1->woken_count = 0;
}

TEST("a sectored L1 holds, fetches and evicts what a model of it does") {
    static const char *const allocate_on[] = {"l1.allocate_on=miss", "l1.allocate_on=fill"};
    static const char *const write[] = {"l1.write_allocate=none", "l1.write_allocate=validate"};
    for (unsigned i = 0; i < 4; i++) {
        struct l1_fixture *l1 = l1_fixture_create(
            SETTINGS("l1.sector_bytes=32", allocate_on[i % 2], write[i / 2], "l1.ways=4", "l1.size_kb=2"));
        struct model model = {.validates = i / 2};
        uint64_t random = 4711 + i;
        for (unsigned n = 0; n < STEPS; n++) step(l1, &model, &random);
        settle(l1);
        CHECK_EQ(COUNTER(l1, "l1.read_hits"), model.hits);
        CHECK_EQ(COUNTER(l1, "l1.read_misses"), model.line_misses + model.sector_misses);
        CHECK_EQ(COUNTER(l1, "l1.sectors.misses"), model.sector_misses);
        CHECK_EQ(COUNTER(l1, "l1.sectors.fetched"), model.fetched);
        CHECK_EQ(COUNTER(l1, "l1.evictions"), model.evictions);
        CHECK_EQ(COUNTER(l1, "l1.write_hits"), model.write_hits);
        CHECK(model.hits > 100 && model.sector_misses > 100 && model.evictions > 100);
        l1_fixture_destroy(l1);
    }
}
