#include "l1/dynamic_sending.h"

STATS_TABLE(sending_stat_table, "l1.sending", sending_stats, SENDING_STATS);

void dynamic_sending_init(struct dynamic_sending *s, unsigned sampled, unsigned executed) {
    *s = (struct dynamic_sending){.sampled = sampled, .executed = executed, .target = SENDING_RING};
}

static void begin_period(struct dynamic_sending *s) {
    struct sending_stats stats = s->stats;
    dynamic_sending_init(s, s->sampled, s->executed);
    s->stats = stats;
}

/* T_MGC < T_L2, without dividing. */
static bool groups_are_faster(const struct dynamic_sending *s) {
    uint64_t cycles = s->hit.cycles + s->asked.cycles + s->llc.cycles, count = s->hit.count + s->asked.count;
    return s->llc.count == 0 || cycles * s->llc.count < s->llc.cycles * count;
}

static unsigned period_of(const struct dynamic_sending *s) { return s->sampled + s->executed; }

/* A period ends when all its samples have completed, too. */
static bool period_is_over(const struct dynamic_sending *s) { return s->misses == period_of(s) && s->untold == 0; }

enum sending_target dynamic_sending_next(const struct dynamic_sending *s) {
    bool over = period_is_over(s);
    if (s->misses < s->sampled || (over && s->sampled)) return SENDING_SAMPLED;
    return over ? SENDING_RING : s->target;
}

enum sending_target dynamic_sending_ask(struct dynamic_sending *s) {
    if (period_is_over(s)) begin_period(s);
    enum sending_target target = dynamic_sending_next(s);
    if (s->misses < period_of(s)) s->misses++;
    s->untold += target == SENDING_SAMPLED;
    ++*(target == SENDING_SAMPLED ? &s->stats.sampled
        : target == SENDING_RING  ? &s->stats.to_groups
                                  : &s->stats.to_llc);
    return target;
}

static void add(struct sending_sum *sum, uint64_t cycles) { sum->count++, sum->cycles += cycles; }

bool dynamic_sending_report(struct dynamic_sending *s, bool hit, uint64_t ring_cycles, uint64_t l2_cycles) {
    add(hit ? &s->hit : &s->asked, ring_cycles);
    if (!hit) add(&s->llc, l2_cycles);
    assert(s->untold > 0);
    if (--s->untold > 0 || s->misses < s->sampled) return false;
    s->target = groups_are_faster(s) ? SENDING_RING : SENDING_L2;
    s->target == SENDING_RING ? s->stats.periods_groups++ : s->stats.periods_llc++;
    return true;
}
