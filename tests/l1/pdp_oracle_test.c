/* A model of PDP with bypassing, written from "Improving Cache Management Policies Using Dynamic Reuse Distances" (MICRO
 * 2012) as l1/pdp.c describes it: each read of a set first ages its lines, victims are lines that are no longer
 * protected, and a read miss in a set without one bypasses the cache. The dynamic variant samples reads into FIFOs and
 * chooses the distance d with the largest
 *     E(d) = sum of N_i, i <= d, over (sum of i N_i, i <= d, + (N - sum of N_i, i <= d) (d + ways)).
 * The model keeps the number of the read at which a sample was taken. It runs next to the L1 on random reads and stores;
 * every outcome is compared. */
#include "test.h"

#include <string.h>

#include "base/random.h"
#include "l1/l1_fixture.h"

enum { SETS = 4, WAYS = 2, FARTHEST = 256, STEP = 4 };

struct pdp_line {
    enum { FREE, FETCHED, FILLED } state;
    uint64_t line, used;
    unsigned protected_for; /* agings */
};

struct sampled {
    bool waiting; /* for its reuse */
    uint64_t line, at;
};

struct pdp_model {
    unsigned distance, aging_period;
    bool dynamic;
    unsigned sampled_sets, entries;
    uint64_t recompute_reads, clock, reads, bypasses, recomputed;
    struct pdp_line data[SETS][WAYS];
    uint64_t set_reads[SETS];
    struct sampled sampler[SETS][FARTHEST]; /* a ring of `entries` */
    unsigned newest[SETS];
    uint64_t n[FARTHEST + 1], samples; /* reuses at distances i, in steps of 4, and samples */
    unsigned largest, smallest;
};

static void model_choose_distance(struct pdp_model *model) {
    long double best = 0;
    unsigned choice = 0;
    for (unsigned d = STEP; d <= FARTHEST; d += STEP) {
        uint64_t hits = 0, occupied = 0;
        for (unsigned i = STEP; i <= d; i += STEP) hits += model->n[i], occupied += i * model->n[i];
        if (hits < model->samples) occupied += (model->samples - hits) * (d + WAYS);
        long double e = hits ? (long double)hits / (long double)occupied : 0;
        if (e > best) best = e, choice = d;
    }
    if (choice) model->distance = choice;
    if (model->distance > model->largest) model->largest = model->distance;
    if (model->distance < model->smallest) model->smallest = model->distance;
    memset(model->n, 0, sizeof model->n);
    model->samples = 0;
    model->recomputed++;
}

/* `number` is that of the read among those of its set, from 1. */
static void model_sample(struct pdp_model *model, unsigned set, uint64_t line, uint64_t number) {
    struct sampled *ring = model->sampler[set];
    unsigned every = (FARTHEST + model->entries - 1) / model->entries;
    for (unsigned i = 0; i < model->entries; i++) { /* newest first */
        struct sampled *sample = &ring[(model->newest[set] + model->entries - i) % model->entries];
        if (!sample->waiting || sample->line != line) continue;
        uint64_t distance = number - sample->at;
        if (distance <= FARTHEST) model->n[(distance + STEP - 1) / STEP * STEP]++;
        sample->waiting = false;
        break;
    }
    if (number % every) return;
    model->newest[set] = (model->newest[set] + 1) % model->entries;
    ring[model->newest[set]] = (struct sampled){true, line, number};
    model->samples++;
}

static struct pdp_line *model_find(struct pdp_model *model, uint64_t line) {
    for (unsigned way = 0; way < WAYS; way++) {
        struct pdp_line *data = &model->data[line % SETS][way];
        if (data->state != FREE && data->line == line) return data;
    }
    return NULL;
}

static struct pdp_line *model_victim(struct pdp_line *set) {
    struct pdp_line *victim = NULL;
    for (unsigned way = 0; way < WAYS; way++)
        if (set[way].state == FREE) return &set[way];
    for (unsigned way = 0; way < WAYS; way++)
        if (set[way].state == FILLED && !set[way].protected_for && (!victim || set[way].used < victim->used))
            victim = &set[way];
    return victim;
}

/* `h`it, `p`ending hit, `m`iss that allocates, `b`ypass. */
static char model_read(struct pdp_model *model, uint64_t line) {
    unsigned set = (unsigned)(line % SETS);
    uint64_t number = ++model->set_reads[set];
    struct pdp_line *data = model_find(model, line);
    for (unsigned way = 0; number % model->aging_period == 0 && way < WAYS; way++)
        if (model->data[set][way].protected_for) model->data[set][way].protected_for--;
    char outcome = !data ? 'm' : data->state == FILLED ? 'h' : 'p';
    if (!data) {
        data = model_victim(model->data[set]);
        if (data) *data = (struct pdp_line){.state = FETCHED, .line = line, .used = ++model->clock};
    }
    if (outcome == 'h') data->used = ++model->clock;
    if (data) data->protected_for = (model->distance + model->aging_period - 1) / model->aging_period;
    model->bypasses += !data;
    if (model->dynamic) {
        if (set < model->sampled_sets) model_sample(model, set, line, number);
        if (++model->reads % model->recompute_reads == 0) model_choose_distance(model);
    }
    return data ? outcome : 'b';
}

static void model_settle(struct pdp_model *model) {
    for (unsigned i = 0; i < SETS * WAYS; i++)
        if (model->data[i / WAYS][i % WAYS].state == FETCHED) model->data[i / WAYS][i % WAYS].state = FILLED;
}

static void settle_quickly(struct l1_fixture *l1) {
    do {
        cycle(l1);
        while (port_peek(&l1->to_network, l1->now)) answer(l1, take(l1));
        l1->woken_count = 0;
    } while (l1->l1->ops->busy(l1->l1, 0));
}

/* Lines with reuse distances that change: a loop over some lines, with others in between. */
static uint64_t next_line(uint64_t *random, unsigned i) {
    unsigned loop = 4 + 8 * (i / 400 % 4);
    return random_below(random, 4) ? i % loop : 100 + random_below(random, 60);
}

static void compare(struct pdp_model *model, const char *const *settings, uint64_t seed) {
    static const char letters[L1_OUTCOMES] = {
        [L1_HIT] = 'h', [L1_PENDING_HIT] = 'p', [L1_MISS] = 'm', [L1_BYPASS] = 'b'};
    struct l1_fixture *l1 = l1_fixture_create(settings);
    uint64_t random = seed;
    model->largest = model->smallest = model->distance;
    cycle(l1);
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t line = next_line(&random, i);
        char expected = model_read(model, line), seen = letters[read_line(l1, line * 128, 0)];
        if (!CHECK_EQ(seen, expected)) {
            printf("    read %u, line %u, seed %u\n", i, (unsigned)line, (unsigned)seed);
            break;
        }
        if (random_below(&random, 3) == 0) continue; /* the next read finds it in flight */
        settle_quickly(l1);
        model_settle(model);
        if (random_below(&random, 20)) continue;
        CHECK_OUTCOME(write_line(l1, line * 128, 0), L1_SENT);
        if (model_find(model, line)) model_find(model, line)->state = FREE;
        settle_quickly(l1);
    }
    settle_quickly(l1);
    CHECK_EQ(COUNTER(l1, "l1.pdp.bypasses"), model->bypasses);
    CHECK_EQ(COUNTER(l1, "l1.pdp.recomputed"), model->recomputed);
    CHECK_EQ(COUNTER(l1, "l1.pdp.distance_max"), model->largest);
    CHECK_EQ(COUNTER(l1, "l1.pdp.distance_min"), model->smallest);
    l1_fixture_destroy(l1);
}

#define PDP "l1.insertion=pdp", "l1.size_kb=1", "l1.ways=2", "l1.mshrs=32", "l1.mshr_merges=64", "l1.miss_queue=64"

TEST("pdp: with a constant distance every read ends as in the model") {
    static const struct {
        unsigned distance, bits;
    } cases[] = {{1, 8}, {2, 8}, {5, 8}, {16, 8}, {256, 8}, {6, 7}, {7, 6}, {30, 4}, {100, 3}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        char distance[32], bits[32];
        struct pdp_model model = {.distance = cases[i].distance, .aging_period = 1u << (8 - cases[i].bits)};
        snprintf(distance, sizeof distance, "l1.pdp.distance=%u", cases[i].distance);
        snprintf(bits, sizeof bits, "l1.pdp.bits=%u", cases[i].bits);
        compare(&model, SETTINGS(PDP, distance, bits), i + 1);
    }
}

TEST("pdp: with sampled distances every read ends as in the model") {
    static const struct {
        unsigned entries, sets, bits, recompute_reads;
    } cases[] = {{256, 4, 8, 200}, {32, 4, 8, 300}, {32, 2, 6, 100}, {10, 1, 8, 150}, {3, 4, 5, 97}, {100, 3, 8, 64}};
    unsigned distances = 0;
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        char entries[40], sets[40], bits[40], reads[40];
        struct pdp_model model = {.distance = 16,
                                  .aging_period = 1u << (8 - cases[i].bits),
                                  .dynamic = true,
                                  .sampled_sets = cases[i].sets,
                                  .entries = cases[i].entries,
                                  .recompute_reads = cases[i].recompute_reads};
        snprintf(entries, sizeof entries, "l1.pdp.sampler_entries=%u", cases[i].entries);
        snprintf(sets, sizeof sets, "l1.pdp.sampled_sets=%u", cases[i].sets);
        snprintf(bits, sizeof bits, "l1.pdp.bits=%u", cases[i].bits);
        snprintf(reads, sizeof reads, "l1.pdp.recompute_reads=%u", cases[i].recompute_reads);
        compare(&model, SETTINGS(PDP, "l1.pdp.dynamic=true", entries, sets, bits, reads), i + 1);
        distances += model.largest != model.smallest;
    }
    CHECK_EQ(distances, COUNT_OF(cases));
}
