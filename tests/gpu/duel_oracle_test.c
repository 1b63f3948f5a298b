/* A model of SM dueling, written from "Locality-Driven Dynamic GPU Cache Bypassing" (ICS 2015), section 4.3 and Table 3:
 * SM 0 uses the new design, SM 1 the original cache; at the end of an interval their miss rates are compared, and all
 * others, or all SMs until the next round, follow SM 0 unless its miss rate is higher by more than the threshold. It runs
 * beside gpu/duel.c on random reports, and every decision is compared. */
#include "test.h"

#include "base/base.h"
#include "base/random.h"
#include "gpu/duel.h"

struct duel_model {
    struct duel_rule rule;
    struct duel_report latest[2];
    bool heard[2], policy, verdict;
    uint32_t round;
};

static void model_begin_round(struct duel_model *model) {
    model->round++;
    model->heard[0] = model->heard[1] = model->verdict = false;
}

/* Both rates times reads[0] × reads[1], in hundredths. */
static bool model_prefers_policy(const struct duel_model *model) {
    const struct duel_report *a = &model->latest[0], *b = &model->latest[1];
    int64_t policy = 100 * (int64_t)a->misses * b->reads, plain = 100 * (int64_t)b->misses * a->reads;
    int64_t allowed = model->rule.in_points ? (int64_t)model->rule.threshold_percent * a->reads * b->reads
                                            : (int64_t)model->rule.threshold_percent * b->misses * a->reads;
    return policy - plain <= allowed;
}

/* All SMs follow the verdict, so a round of contestants that follow ends with it. */
static bool model_receive(struct duel_model *model, unsigned contestant, struct duel_report report) {
    if (model->verdict || report.round != model->round) return false;
    model->latest[contestant] = report;
    model->heard[contestant] = true;
    if (!model->heard[0] || !model->heard[1] || model->latest[0].interval != model->latest[1].interval) return false;
    for (unsigned i = 0; i < 2; i++)
        if (model->latest[i].reads < model->rule.least_reads) return false;
    bool before = model->policy;
    model->policy = model_prefers_policy(model);
    model->verdict = model->rule.contestants_follow;
    return model->verdict || model->policy != before;
}

TEST("SM dueling decides as its model, report by report") {
    unsigned changes = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint64_t random = seed;
        struct duel_rule rule = {.interval_cycles = 500,
                                 .threshold_percent = (unsigned)random_below(&random, 4) * 10,
                                 .least_reads = 1 + (unsigned)random_below(&random, 20),
                                 .in_points = random_below(&random, 2) == 0,
                                 .contestants_follow = random_below(&random, 2) == 0};
        struct duel duel = {.rule = rule};
        struct duel_model model = {.rule = rule};
        for (uint64_t interval = 0; interval < 200; interval++) {
            if (rule.contestants_follow && random_below(&random, 4) == 0) { /* a kernel begins */
                duel_begin_round(&duel);
                model_begin_round(&model);
            }
            unsigned first = (unsigned)random_below(&random, 2);
            for (unsigned i = 0; i < 2; i++) {
                unsigned contestant = i ? 1 - first : first;
                if (random_below(&random, 8) == 0) continue; /* no reads in the interval */
                uint32_t reads = 1 + (uint32_t)random_below(&random, 60);
                struct duel_report report = {interval, reads, (uint32_t)random_below(&random, reads + 1), model.round};
                if (model.round && random_below(&random, 16) == 0) report.round--; /* sent before the new round */
                bool changed = model_receive(&model, contestant, report);
                CHECK_EQ(duel_receive(&duel, contestant, &report), changed);
                CHECK_EQ(duel.policy, model.policy);
                changes += changed;
            }
        }
    }
    CHECK(changes > 500);
}

TEST("SM dueling compares the counts of a long kernel without overflow") {
    struct duel duel = {.rule = {.interval_cycles = 500, .threshold_percent = 10, .least_reads = 32}};
    uint32_t reads = 1 << 24;
    duel_receive(&duel, 0, &(struct duel_report){1, reads, reads / 100 * 44, 0});
    CHECK(duel_receive(&duel, 1, &(struct duel_report){1, reads, reads / 100 * 40, 0}));
    CHECK(duel.policy);
    duel_receive(&duel, 0, &(struct duel_report){2, reads, reads / 100 * 44 + 1, 0});
    CHECK(duel_receive(&duel, 1, &(struct duel_report){2, reads, reads / 100 * 40, 0}));
    CHECK(!duel.policy);
}
