#include "l1/sending.h"

STATS_TABLE(sending_stat_table, "l1.sending", sending_stats, SENDING_STATS);

void sending_init(struct sending *s, unsigned sampled, unsigned executed) {
    *s = (struct sending){.sampled = sampled, .executed = executed, .way = SENDING_RING};
}

static void begin_period(struct sending *s) {
    struct sending_stats stats = s->stats;
    sending_init(s, s->sampled, s->executed);
    s->stats = stats;
}

/* T_MGC < T_L2, without dividing. */
static bool groups_are_faster(const struct sending *s) {
    uint64_t cycles = s->hit.cycles + s->asked.cycles + s->llc.cycles, count = s->hit.count + s->asked.count;
    return s->llc.count == 0 || cycles * s->llc.count < s->llc.cycles * count;
}

static unsigned period_of(const struct sending *s) { return s->sampled + s->executed; }

/* A period is over when all its samples have told, too. */
static bool period_is_over(const struct sending *s) { return s->misses == period_of(s) && s->untold == 0; }

enum sending_way sending_next(const struct sending *s) {
    bool over = period_is_over(s);
    if (s->misses < s->sampled || (over && s->sampled)) return SENDING_SAMPLED;
    return over ? SENDING_RING : s->way;
}

enum sending_way sending_ask(struct sending *s) {
    if (period_is_over(s)) begin_period(s);
    enum sending_way way = sending_next(s);
    if (s->misses < period_of(s)) s->misses++;
    s->untold += way == SENDING_SAMPLED;
    ++*(way == SENDING_SAMPLED ? &s->stats.sampled : way == SENDING_RING ? &s->stats.to_groups : &s->stats.to_llc);
    return way;
}

static void add(struct sending_sum *sum, uint64_t cycles) { sum->count++, sum->cycles += cycles; }

void sending_tell(struct sending *s, bool hit, uint64_t ring_cycles, uint64_t l2_cycles) {
    add(hit ? &s->hit : &s->asked, ring_cycles);
    if (!hit) add(&s->llc, l2_cycles);
    assert(s->untold > 0);
    if (--s->untold > 0 || s->misses < s->sampled) return;
    s->way = groups_are_faster(s) ? SENDING_RING : SENDING_L2;
    s->way == SENDING_RING ? s->stats.periods_groups++ : s->stats.periods_llc++;
}
