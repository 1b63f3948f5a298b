/* A model of dynamic sending, written from "GPU Performance Optimization via Inter-group Cache Cooperation", section
 * III-C3: a period has a sampling phase, whose misses all use the ring and are timed, and an execution phase, whose
 * misses use it if T_MGC = R_h T_h + R_m (T_m + T_mL2) < T_L2, with T_mL2 for T_L2 (l1/dynamic_sending.h). It keeps the
 * samples of a period and computes the averages of the formula; every decision is compared on random times. */
#include "test.h"

#include "base/random.h"
#include "l1/dynamic_sending.h"

enum { SAMPLES_MAX = 16 };

struct sample {
    bool hit;
    uint64_t ring, llc;
};

struct sending_model {
    unsigned sampled, executed;
    unsigned begun, ended, executions; /* of this period: samples begun and completed, execution misses */
    struct sample sample[SAMPLES_MAX];
    char decision; /* `r`ing or `l`lc */
    uint64_t periods[2];
};

static void model_begin_period(struct sending_model *model) {
    model->begun = model->ended = model->executions = 0;
    model->decision = 'r';
}

/* The path of the next miss: `s`ampled, `r`ing, `l`lc. */
static char model_ask(struct sending_model *model) {
    if (model->begun == model->sampled && model->executions == model->executed && model->ended == model->begun)
        model_begin_period(model);
    if (model->begun < model->sampled) {
        model->begun++;
        return 's';
    }
    if (model->executions < model->executed) model->executions++;
    return model->decision;
}

static void model_end_sample(struct sending_model *model, struct sample sample) {
    model->sample[model->ended++] = sample;
    if (model->ended < model->sampled) return;
    long double hits = 0, misses = 0, t_h = 0, t_m = 0, t_l2 = 0;
    for (unsigned i = 0; i < model->sampled; i++) {
        const struct sample *s = &model->sample[i];
        if (s->hit)
            hits++, t_h += (long double)s->ring;
        else
            misses++, t_m += (long double)s->ring, t_l2 += (long double)s->llc;
    }
    long double r_h = hits / model->sampled, r_m = misses / model->sampled;
    if (hits > 0) t_h /= hits;
    if (misses > 0) t_m /= misses, t_l2 /= misses;
    model->decision = misses == 0 || r_h * t_h + r_m * (t_m + t_l2) < t_l2 ? 'r' : 'l';
    model->periods[model->decision == 'l']++;
}

TEST("dynamic sending chooses the path of every miss as its model") {
    uint64_t periods[2] = {0};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t random = seed;
        /* Powers of two, so that the averages of the model are exact. */
        struct sending_model model = {.sampled = 1u << random_below(&random, 5),
                                      .executed = (unsigned)random_below(&random, 12),
                                      .decision = 'r'};
        struct dynamic_sending sending;
        dynamic_sending_init(&sending, model.sampled, model.executed);
        unsigned waiting = 0;
        for (unsigned i = 0; i < 2000; i++) {
            if (waiting && random_below(&random, 2)) {
                struct sample sample = {random_below(&random, 2), 10 + random_below(&random, 40),
                                        40 + random_below(&random, 20)};
                if (!sample.hit) sample.ring /= 4;
                dynamic_sending_report(&sending, sample.hit, sample.ring, sample.hit ? 0 : sample.llc);
                model_end_sample(&model, sample);
                waiting--;
                continue;
            }
            char predicted = "lrs"[dynamic_sending_next(&sending)], path = "lrs"[dynamic_sending_ask(&sending)];
            CHECK_EQ(predicted, path);
            CHECK_EQ(path, model_ask(&model));
            waiting += path == 's';
        }
        CHECK_EQ(sending.stats.periods_groups, model.periods[0]);
        CHECK_EQ(sending.stats.periods_llc, model.periods[1]);
        for (unsigned i = 0; i < 2; i++) periods[i] += model.periods[i];
    }
    CHECK(periods[0] > 200);
    CHECK(periods[1] > 200);
}
