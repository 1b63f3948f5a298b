#include "gpu/duel.h"

/* Whether the miss rate of the first exceeds that of the second by more than the threshold. */
static bool misses_more(const struct duel_report *a, const struct duel_report *b, const struct duel_rule *rule) {
    uint64_t more = (uint64_t)a->misses * b->reads * 100, base = (uint64_t)b->misses * a->reads,
             whole = rule->in_points ? (uint64_t)a->reads * b->reads : base;
    return more > base * 100 + whole * rule->threshold_percent;
}

bool duel_receive(struct duel *duel, unsigned contestant, const struct duel_report *report) {
    if (report->round != duel->round || duel->decided) return false;
    duel->report[contestant] = *report;
    const struct duel_report *tried = &duel->report[0], *plain = &duel->report[1];
    if (tried->interval != plain->interval || tried->reads < duel->rule.least_reads ||
        plain->reads < duel->rule.least_reads)
        return false;
    bool before = duel->policy;
    duel->policy = !misses_more(tried, plain, &duel->rule);
    duel->decided = duel->rule.contestants_follow;
    return duel->decided || duel->policy != before;
}

void duel_begin_round(struct duel *duel) {
    duel->round++;
    duel->decided = false;
    for (unsigned i = 0; i < DUEL_CONTESTANTS; i++) duel->report[i] = (struct duel_report){0};
}
