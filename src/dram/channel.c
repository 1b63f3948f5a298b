/* Command scheduling of one channel. Timing constraints are kept as earliest issue times for the channel, each bank
 * group and each bank, updated by every command. Sources: the JEDEC rules as stated by Ramulator and DRAMsim3;
 * first-ready FCFS after Rixner et al. (ISCA 2000). channel.h explains why skipping cycles is exact.
 *
 * Not modelled: power-down and self-refresh, several ranks, auto-precharge, per-bank refresh, the 32-activate window of
 * GDDR5 (it never binds with the timings in use: 32 activates take longer by tRRD alone).
 */
#include "dram/channel.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif
#include <math.h>

static inline void raise_to(uint64_t *time, uint64_t value) {
    if (value > *time) *time = value;
}
static inline void lower_to(uint64_t *time, uint64_t value) {
    if (value < *time) *time = value;
}

/* ---------------------------------------------------------------- candidates */

static void turn_to(struct dram_channel *ch, bool writing) {
    ch->writing = writing;
    ch->active = &ch->queue[writing];
    ch->idle = &ch->queue[!writing];
}

/* Banks whose candidate's row has been opened for it and which wait for the column command: they are served even while
 * their queue is not. */
static inline uint64_t unfinished(const struct dram_queue *queue) {
    return LIKELY(!queue->waiting) ? 0 : (queue->hit[0] | queue->hit[1]) & queue->activated;
}

static ALWAYS_INLINE struct dram_queue *active_queue(struct dram_channel *ch, struct rules rules) {
    return rules.drain ? ch->active : &ch->queue[0];
}

static uint64_t occupied_banks(const struct dram_channel *ch, const struct dram_queue *queue) {
    uint64_t banks = 0;
    for (unsigned bank = 0; bank < (unsigned)ch->device->banks; bank++)
        banks |= (uint64_t)(queue->head[bank] != NULL) << bank;
    return banks;
}

static inline void set_candidate(struct dram_queue *queue, enum dram_bus bus, unsigned bank,
                                 struct dram_request *request) {
    queue->candidate[bus][bank] = request;
    queue->rank[bus][bank] = request->rank;
}

static struct dram_offer offer_of_fr_fcfs(const struct dram_channel *ch, const struct dram_queue *queue,
                                          unsigned bank) {
    struct dram_request *hit = channel_oldest_hit(ch, queue, bank);
    return (struct dram_offer){hit, hit ? NULL : queue->head[bank]};
}

/* The candidates of a bank if the scheduler has its own `offer`, or the oldest request is starved. */
static NEVER_INLINE void choose_by_offer(struct dram_channel *ch, struct dram_queue *queue, unsigned bank,
                                         uint64_t cycle) {
    uint64_t bit = UINT64_C(1) << bank;
    struct dram_request *oldest = queue->head[bank];
    if (oldest->entered + ch->starvation_cycles > cycle) queue->strict &= ~bit;
    struct dram_offer offer = ch->by_offer ? ch->scheduler->offer(ch, queue, bank) : offer_of_fr_fcfs(ch, queue, bank);
    bool younger = (offer.column && offer.column != oldest) || (offer.row && offer.row != oldest);
    if (queue->strict & bit && younger) {
        bool hits = ch->open & bit && oldest->row == ch->open_row[bank];
        offer.column = hits ? oldest : NULL;
        offer.row = hits ? NULL : oldest;
    }
    if (offer.row) {
        *(ch->open & bit ? &queue->conflict : &queue->closed) |= bit;
        if (request_row_opened(offer.row)) queue->activated |= bit;
        set_candidate(queue, ROW_BUS, bank, offer.row);
    }
    if (offer.column) {
        assert(ch->open & bit && offer.column->row == ch->open_row[bank] && "a column command needs its row");
        queue->hit[offer.column->write] |= bit;
        if (request_row_opened(offer.column)) queue->activated |= bit;
        set_candidate(queue, COLUMN_BUS, bank, offer.column);
    }
    if (ch->by_offer && ch->scheduler->order)
        queue->rank[COLUMN_BUS][bank] = queue->rank[ROW_BUS][bank] =
            RANK_WAITING | (uint64_t)ch->scheduler->order(ch, bank) * DRAM_BANKS_MAX | bank;
}

/* Recomputes a bank's candidates: the offer of FR-FCFS in one pass, unless the scheduler or starvation require more. */
static void choose_candidate(struct dram_channel *ch, struct dram_queue *queue, unsigned bank, uint64_t cycle) {
    uint64_t bit = UINT64_C(1) << bank;
    queue->hit[0] &= ~bit;
    queue->hit[1] &= ~bit;
    queue->closed &= ~bit;
    queue->conflict &= ~bit;
    queue->activated &= ~bit;
    struct dram_request *request = queue->head[bank];
    if (!request) {
        queue->strict &= ~bit;
        return;
    }
    if (UNLIKELY((queue->strict | ch->by_offer) & bit)) {
        choose_by_offer(ch, queue, bank, cycle);
        return;
    }
    uint64_t *set = &queue->closed;
    enum dram_bus bus = ROW_BUS;
    if (ch->open & bit) {
        uint32_t row = ch->open_row[bank];
        struct dram_request *hit = request;
        while (hit && hit->row != row) hit = hit->next;
        if (hit) {
            request = hit;
            set = &queue->hit[hit->write];
            bus = COLUMN_BUS;
        } else {
            set = &queue->conflict;
        }
    }
    *set |= bit;
    if (request_row_opened(request)) queue->activated |= bit;
    set_candidate(queue, bus, bank, request);
}

/* Lowers the bounds so that the bank's candidates are checked as soon as its timings allow. */
static void expect(struct dram_channel *ch, unsigned bank, uint64_t cycle) {
    const struct dram_queue *queue = ch->active, *idle = ch->idle;
    uint64_t bit = UINT64_C(1) << bank;
    for (unsigned write = 0; write < 2; write++)
        if ((queue->hit[write] | (idle->hit[write] & idle->activated)) & bit)
            lower_to(&ch->column_next, max_u64(cycle, max_u64(ch->bank_column_at[write][bank], ch->column_at[write])));
    if (queue->closed & bit)
        lower_to(&ch->row_next, max_u64(cycle, max_u64(ch->bank_activate_at[bank], ch->activate_at)));
    if (queue->conflict & bit) lower_to(&ch->row_next, max_u64(cycle, ch->bank_precharge_at[bank]));
}

static inline void choose_in_both(struct dram_channel *ch, unsigned bank, uint64_t cycle) {
    choose_candidate(ch, &ch->queue[0], bank, cycle);
    if (ch->rules.drain) choose_candidate(ch, &ch->queue[1], bank, cycle);
    expect(ch, bank, cycle + 1);
}

/* Every bank: after a refresh, and after any change if the scheduler's own `offer` may depend on all requests. */
static NEVER_INLINE void choose_all(struct dram_channel *ch, uint64_t cycle) {
    for (unsigned bank = 0; bank < (unsigned)ch->device->banks; bank++) choose_in_both(ch, bank, cycle);
}

static bool is_wanted(const struct dram_channel *ch, const struct dram_queue *queue, unsigned bank) {
    return channel_oldest_hit(ch, queue, bank) != NULL;
}

/* Whether, and from when on, the row policy closes the bank's row: called after a column command to the row, and when a
 * request enters for a bank whose row is to be closed. */
static NEVER_INLINE void watch_row(struct dram_channel *ch, unsigned bank, uint64_t cycle) {
    uint64_t bit = UINT64_C(1) << bank;
    if (!(ch->open & bit) || is_wanted(ch, &ch->queue[0], bank) || is_wanted(ch, &ch->queue[1], bank)) {
        ch->unwanted &= ~bit;
        return;
    }
    if (ch->unwanted & bit) return;
    ch->unwanted |= bit;
    ch->unwanted_at[bank] = cycle + ch->close_after;
    lower_to(&ch->close_next, max_u64(ch->unwanted_at[bank], ch->bank_precharge_at[bank]));
    lower_to(&ch->rare_next, ch->close_next);
}

/* With a separate write queue, reads and writes alternate: the direction to be served, given the current queues. A
 * starved request keeps the direction. */
static inline bool direction(struct dram_channel *ch) {
    unsigned reads = ch->queue[0].in_queue, writes = ch->queue[1].in_queue;
    if (UNLIKELY(ch->active->strict)) return ch->writing;
    if (!ch->writing) return writes > ch->drain_high || (reads == 0 && writes >= ch->drain_idle);
    return writes >= ch->drain_low || (reads == 0 && writes != 0);
}

/* To be called when anything has changed that the direction depends on. */
static inline void note_turn(struct dram_channel *ch) { ch->turns = ch->rules.drain && direction(ch) != ch->writing; }

/* The queues have changed. If that changes the direction, the next cycle must be checked: it is decided there, after
 * all changes of this cycle. */
static inline void expect_turn(struct dram_channel *ch, uint64_t cycle) {
    note_turn(ch);
    if (LIKELY(!ch->turns)) return;
    lower_to(&ch->column_next, cycle + 1);
    lower_to(&ch->row_next, cycle + 1);
}

static inline void update_next(struct dram_channel *ch) {
    ch->next = min_u64(min_u64(ch->column_next, ch->row_next), ch->rare_next);
}

/* -------------------------------------------------------------- into the queue */

/* A bank's first `bank_queue` requests occupy the bank's own queue, the others that of the channel. */
static inline void take_entry(struct dram_channel *ch, struct dram_queue *queue, unsigned bank) {
    queue->in_queue++;
    if (UNLIKELY(ch->bank_queue) && queue->entries[bank]++ < ch->bank_queue) return;
    queue->room--;
}
static inline void give_up_entry(struct dram_channel *ch, struct dram_queue *queue, unsigned bank) {
    queue->in_queue--;
    if (UNLIKELY(ch->bank_queue) && --queue->entries[bank] < ch->bank_queue) return;
    queue->room++;
}

static bool forward_from_writes(struct dram_channel *ch, struct dram_request *read, uint64_t cycle) {
    for (const struct dram_request *write = ch->queue[1].head[read->bank]; write; write = write->next) {
        if (write->message.address != read->message.address || (read->bursts & ~write->bursts)) continue;
        read->done = cycle + 1;
        read->forwarded = true;
        ch->done[ch->done_count++] = read;
        ch->stats.reads++;
        ch->stats.forwards++;
        ch->stats.read_cycles++;
        return true;
    }
    return false;
}

/* Appends to the bank's requests; returns whether it is the only one. */
static inline bool link_request(struct dram_queue *queue, unsigned bank, struct dram_request *request) {
    struct dram_request *before = queue->tail[bank];
    *(before ? &before->next : &queue->head[bank]) = request;
    queue->tail[bank] = request;
    request->next = NULL;
    queue->waiting++;
    return !before;
}

static inline void unlink_request(struct dram_queue *queue, unsigned bank, const struct dram_request *request) {
    struct dram_request *before = NULL, **link = &queue->head[bank];
    queue->waiting--;
    while (UNLIKELY(*link != request)) {
        before = *link;
        link = &before->next;
    }
    *link = request->next;
    if (!request->next) queue->tail[bank] = before;
}

/* Makes an arrival the candidate of its bank, which has none, or none for its open row. Lowers the bounds if the
 * request's queue is being served. */
static ALWAYS_INLINE void choose_arrival(struct dram_channel *ch, struct dram_queue *queue, unsigned bank,
                                         struct dram_request *request, uint64_t cycle, struct rules rules) {
    uint64_t bit = UINT64_C(1) << bank;
    unsigned write = request->write;
    bool hit = ch->open & bit && ch->open_row[bank] == request->row;
    if (hit) {
        queue->conflict &= ~bit;
        queue->activated &= ~bit;
        queue->hit[write] |= bit;
    } else {
        *(ch->open & bit ? &queue->conflict : &queue->closed) |= bit;
    }
    set_candidate(queue, hit ? COLUMN_BUS : ROW_BUS, bank, request);
    if (rules.drain && queue != ch->active) return;
    if (hit)
        lower_to(&ch->column_next, max_u64(cycle, max_u64(ch->bank_column_at[write][bank], ch->column_at[write])));
    else if (ch->open & bit)
        lower_to(&ch->row_next, max_u64(cycle, ch->bank_precharge_at[bank]));
    else
        lower_to(&ch->row_next, max_u64(cycle, max_u64(ch->bank_activate_at[bank], ch->activate_at)));
}

/* Puts a request into its queue, which has a free entry, in memory cycle `cycle`; its commands can be issued from the
 * next cycle on. */
static ALWAYS_INLINE void enter(struct dram_channel *ch, struct dram_request *request, uint64_t cycle,
                                struct rules rules) {
    request->entered = cycle;
    request->forwarded = false;
    if (rules.drain && !request->write && ch->queue[1].waiting && forward_from_writes(ch, request, cycle)) return;
    struct dram_queue *queue = &ch->queue[rules.drain & request->write];
    unsigned bank = request->bank;
    assert(channel_has_room(ch, request->write, bank));
    request->rank = ch->next_rank | bank;
    ch->next_rank += DRAM_BANKS_MAX;
    request->begun = false;
    take_entry(ch, queue, bank);
    bool first = link_request(queue, bank, request);
    bool becomes_hit = (queue->conflict & ~queue->strict) >> bank & 1 && ch->open_row[bank] == request->row;
    if (first || becomes_hit) {
        if (UNLIKELY(ch->starve_next == NEVER) && ch->starvation_cycles) { /* the first of all, hence of its bank */
            ch->starve_next = cycle + ch->starvation_cycles;
            lower_to(&ch->rare_next, ch->starve_next);
        }
        choose_arrival(ch, queue, bank, request, cycle + 1, rules);
    } else if (!(rules.special | rules.drain)) {
        return; /* nothing is due sooner */
    }
    if (rules.special && UNLIKELY(ch->unwanted >> bank & 1)) watch_row(ch, bank, cycle);
    if (rules.special && ch->by_offer) choose_all(ch, cycle);
    if (rules.drain) expect_turn(ch, cycle);
    if (LIKELY(!ch->refreshing)) update_next(ch); /* else nothing but the refresh goes on */
}

/* ------------------------------------------------------------------ commands */

static NEVER_INLINE void log_command(struct dram_channel *ch, uint64_t cycle, enum dram_command command, unsigned bank,
                                     uint32_t row, uint32_t column) {
    struct dram_log_entry entry = {.cycle = cycle,
                                   .mc = (uint16_t)ch->mc,
                                   .channel = (uint16_t)ch->index,
                                   .command = (uint8_t)command,
                                   .bank = (uint8_t)bank,
                                   .row = row,
                                   .column = column};
    ch->log(ch->log_user, &entry);
}

/* The row state that a request found, counted at its first command. */
static inline void count_first(struct dram_channel *ch, struct dram_request *request, uint64_t *counter,
                               uint64_t cycle) {
    request->begun = true;
    request->begun_at = cycle;
    ++*counter;
    ch->stats.row_hits += (unsigned)__builtin_popcount(request->bursts) - 1;
}

/* The request has issued its last column command. */
static ALWAYS_INLINE void finish_request(struct dram_channel *ch, struct dram_queue *queue, unsigned bank,
                                         struct dram_request *request, uint64_t cycle, struct rules rules) {
    unsigned write = request->write;
    request->done = cycle + ch->delay.done[write];
    ch->done[ch->done_count++] = request;
    if (write) {
        ch->stats.writes++;
    } else {
        ch->stats.reads++;
        ch->stats.read_cycles += request->done - request->entered;
    }
    if (!request_row_opened(request)) give_up_entry(ch, queue, bank);
    unlink_request(queue, bank, request);
    if (UNLIKELY(queue->strict) || rules.special) {
        choose_candidate(ch, queue, bank, cycle);
        expect(ch, bank, cycle + 1);
        if (UNLIKELY(ch->close_after != NEVER)) watch_row(ch, bank, cycle);
        return;
    }
    /* The candidate was the oldest row hit: the next one is younger. */
    struct dram_request *hit = request->next;
    while (hit && hit->row != request->row) hit = hit->next;
    uint64_t bit = UINT64_C(1) << bank;
    queue->activated &= ~bit;
    if (hit && LIKELY(hit->write == write)) {
        set_candidate(queue, COLUMN_BUS, bank, hit);
        if (request_row_opened(hit)) queue->activated |= bit;
    } else {
        queue->hit[write] &= ~bit;
        if (hit || queue->head[bank]) choose_candidate(ch, queue, bank, cycle);
    }
    /* take_column() sets the bound of columns. A row of the idle queue need not stay open: another request may wait for
     * its precharge. */
    if ((rules.drain ? ch->active : queue)->conflict & bit)
        lower_to(&ch->row_next, max_u64(cycle + 1, ch->bank_precharge_at[bank]));
}

static inline void issue_in_direction(struct dram_channel *ch, unsigned bank, uint64_t cycle, const unsigned write) {
    const struct dram_delays *delay = &ch->delay;
    /* The command could be issued, so the constraints on it have passed, and so have the effects of earlier commands on
     * the other direction. */
    ch->column_at[write] = cycle + delay->same[write];
    ch->column_at[!write] = cycle + delay->other[write];
    raise_to(&ch->bank_precharge_at[bank], cycle + delay->precharge[write]);
    ch->columns[write]++;
    if (!ch->column_groups) return;
    unsigned group = bank & ch->group_mask;
    ch->group_column_at[write][group] = cycle + delay->same_group[write];
    ch->group_column_at[!write][group] = cycle + delay->other_group[write];
    ch->column_group_wait[0] |= UINT64_C(1) << group;
    ch->column_group_wait[1] |= UINT64_C(1) << group;
}

/* A column command that counts towards the cap, or after which a scheduler with its own `offer` recomputes. */
static NEVER_INLINE void notice_column(struct dram_channel *ch, unsigned bank, uint64_t cycle) {
    if (ch->row_columns[bank] > ch->row_hit_cap) ch->capped |= UINT64_C(1) << bank;
    if (!ch->by_offer) return;
    ch->last_column_bank = bank;
    choose_all(ch, cycle);
}

static inline void log_column(struct dram_channel *ch, const struct dram_request *request, uint64_t cycle) {
    if (LIKELY(ch->log == NULL)) return;
    uint32_t column = request->column + lowest_bit(request->bursts) * (uint32_t)ch->delay.burst_bytes;
    log_command(ch, cycle, request->write ? DRAM_WRITE : DRAM_READ, request->bank, request->row, column);
}

/* Whether column commands of other banks could be issued before the next one of the request just chosen. */
static ALWAYS_INLINE bool others_come_first(const struct dram_channel *ch, unsigned bank, unsigned write,
                                            struct rules rules) {
    if (LIKELY(ch->delay.repeat_first[write])) return false;
    const struct dram_queue *active = rules.drain ? ch->active : &ch->queue[0], *idle = ch->idle;
    uint64_t hits = active->hit[0] | active->hit[1];
    if (rules.drain) hits |= (idle->hit[0] | idle->hit[1]) & idle->activated;
    return hits & ~(UINT64_C(1) << bank);
}

/* Issues the column commands of the request but its last one, from `cycle` on, as far as they are due before `limit`.
 * Returns the cycle of the next one. No command is chosen in between: until `limit` no candidate that has priority over
 * this request becomes ready. */
static ALWAYS_INLINE uint64_t issue_all_but_last(struct dram_channel *ch, struct dram_request *request, uint64_t cycle,
                                                 uint64_t limit) {
    unsigned write = request->write;
    uint64_t step = ch->delay.repeat[write], count = (unsigned)__builtin_popcount(request->bursts) - 1;
    if (cycle + step >= limit) return cycle;
    count = min_u64(count, (limit - 1 - cycle) / step);
    ch->columns[write] += count;
    for (; count; count--, cycle += step) {
        log_column(ch, request, cycle);
        request->bursts &= (uint8_t)(request->bursts - 1);
    }
    return cycle;
}

/* Returns the cycle of the command: that of the last one if it is repeated for further bursts before `limit`. */
static ALWAYS_INLINE uint64_t issue_column(struct dram_channel *ch, struct dram_queue *queue, unsigned bank,
                                           uint64_t cycle, uint64_t limit, struct rules rules) {
    struct dram_request *request = queue->candidate[COLUMN_BUS][bank];
    if (!request->begun) count_first(ch, request, &ch->stats.row_hits, cycle);
    if (!rules.special && request->bursts & (request->bursts - 1) &&
        !others_come_first(ch, bank, request->write, rules))
        cycle = issue_all_but_last(ch, request, cycle, limit);
    log_column(ch, request, cycle);
    if (request->write) {
        issue_in_direction(ch, bank, cycle, 1);
    } else {
        issue_in_direction(ch, bank, cycle, 0);
    }
    ch->precharge_wait |= UINT64_C(1) << bank;
    request->bursts &= (uint8_t)(request->bursts - 1);
    if (!request->bursts) finish_request(ch, queue, bank, request, cycle, rules);
    if (rules.special && UNLIKELY(++ch->row_columns[bank] > ch->columns_unnoticed)) notice_column(ch, bank, cycle);
    return cycle;
}

static ALWAYS_INLINE void issue_activate(struct dram_channel *ch, struct dram_queue *queue, unsigned bank,
                                         uint64_t cycle, struct rules rules) {
    const struct dram_delays *delay = &ch->delay;
    struct dram_request *request = queue->candidate[ROW_BUS][bank];
    uint64_t bit = UINT64_C(1) << bank;
    if (UNLIKELY(ch->log != NULL)) log_command(ch, cycle, DRAM_ACTIVATE, bank, request->row, 0);
    if (!request->begun) count_first(ch, request, &ch->stats.row_misses, cycle);
    ch->stats.activates++;
    if (!request_row_opened(request)) {
        request->rank -= RANK_WAITING - RANK_OPENED;
        give_up_entry(ch, queue, bank);
    }
    ch->open |= bit;
    ch->open_row[bank] = request->row;
    if (rules.special) {
        ch->row_columns[bank] = 0;
        ch->capped &= ~bit;
    }
    ch->bank_column_at[0][bank] = cycle + delay->column[0];
    ch->bank_column_at[1][bank] = cycle + delay->column[1];
    ch->bank_precharge_at[bank] = cycle + delay->row_open;
    ch->bank_activate_at[bank] = cycle + delay->row_cycle;
    ch->column_wait[0] |= bit;
    ch->column_wait[1] |= bit;
    ch->precharge_wait |= bit;
    ch->activate_wait |= bit;
    if (ch->activate_groups) {
        ch->group_activate_at[bank & ch->group_mask] = cycle + delay->activate_group;
        ch->activate_group_wait |= UINT64_C(1) << (bank & ch->group_mask);
    }
    ch->activate_at = cycle + delay->activate;
    ch->last_activates[ch->activate_count++ % 4] = cycle;
    if (ch->activate_count >= 4)
        raise_to(&ch->activate_at, ch->last_activates[ch->activate_count % 4] + delay->four_activates);
}

static void issue_precharge(struct dram_channel *ch, unsigned bank, uint64_t cycle) {
    uint64_t bit = UINT64_C(1) << bank;
    if (UNLIKELY(ch->log != NULL)) log_command(ch, cycle, DRAM_PRECHARGE, bank, ch->open_row[bank], 0);
    ch->stats.precharges++;
    ch->open &= ~bit;
    ch->unwanted &= ~bit;
    raise_to(&ch->bank_activate_at[bank], cycle + ch->delay.row_close);
    ch->activate_wait |= bit;
}

/* -------------------------------------------------------------------- choosing */

/* Result of a search over banks: the candidate with the highest priority among those that can be issued, and the
 * earliest time of the others. */
struct choice {
    struct dram_queue *queue; /* NULL: none */
    uint64_t rank;
    bool last_resort; /* only if nothing else can be issued */
    uint64_t next;
};

/* Those of `banks` whose own timings allow the command. */
static inline uint64_t banks_ready(uint64_t banks, uint64_t *wait, const uint64_t *at, uint64_t cycle, uint64_t *next) {
    uint64_t late = banks & *wait;
    if (!late) return banks;
    do {
        unsigned bank = lowest_bit(late);
        if (at[bank] <= cycle) {
            *wait &= ~(UINT64_C(1) << bank);
        } else {
            lower_to(next, at[bank]);
        }
        late &= late - 1;
    } while (late);
    return banks & ~*wait;
}

/* Those of `banks` whose group's timings allow the command; `wait` are the groups that may have to wait. */
static inline uint64_t groups_ready(const struct dram_channel *ch, uint64_t banks, uint64_t *wait, const uint64_t *at,
                                    uint64_t cycle, uint64_t *next) {
    for (uint64_t late = *wait; late; late &= late - 1) {
        unsigned group = lowest_bit(late);
        if (at[group] <= cycle) {
            *wait &= ~(UINT64_C(1) << group);
        } else if (banks & ch->group_banks[group]) {
            lower_to(next, at[group]);
            banks &= ~ch->group_banks[group];
        }
    }
    return banks;
}

static inline unsigned chosen_bank(const struct choice *choice) { return choice->rank % DRAM_BANKS_MAX; }

#ifdef __AVX2__
/* The lowest rank of many banks, four at a time: a bank's bit, shifted to the top of its lane, selects its rank. Ranks
 * are compared as floating-point numbers, which are ordered like their bits. */
static NEVER_INLINE uint64_t lowest_rank_of_many(const uint64_t *rank, uint64_t banks) {
    const __m256d none = _mm256_set1_pd(HUGE_VAL);
    const __m256i to_top = _mm256_setr_epi64x(63, 62, 61, 60);
    __m256d lowest = none;
    for (; banks; banks >>= 16, rank += 16) {
        __m256i left = _mm256_set1_epi64x((int64_t)banks);
        for (int i = 0; i < 16; i += 4) {
            __m256i bits = _mm256_sllv_epi64(left, _mm256_sub_epi64(to_top, _mm256_set1_epi64x(i)));
            __m256d ranks = _mm256_castsi256_pd(_mm256_loadu_si256((const __m256i *)(rank + i)));
            lowest = _mm256_min_pd(lowest, _mm256_blendv_pd(none, ranks, _mm256_castsi256_pd(bits)));
        }
    }
    __m128d half = _mm_min_pd(_mm256_castpd256_pd128(lowest), _mm256_extractf128_pd(lowest, 1));
    return (uint64_t)_mm_cvtsi128_si64(_mm_castpd_si128(_mm_min_sd(half, _mm_unpackhi_pd(half, half))));
}
enum { MANY_BANKS = 4 }; /* besides the first */
#else
static inline uint64_t lowest_rank_of_many(const uint64_t *rank, uint64_t banks) { return rank[lowest_bit(banks)]; }
enum { MANY_BANKS = DRAM_BANKS_MAX };
#endif

/* There must be at least one bank. */
static inline uint64_t lowest_rank(const uint64_t *rank, uint64_t banks) {
    uint64_t lowest = rank[lowest_bit(banks)], others = banks & (banks - 1);
    if (!others) return lowest;
    if (__builtin_popcountll(others) >= MANY_BANKS) return lowest_rank_of_many(rank, banks);
    do lowest = min_u64(lowest, rank[lowest_bit(others)]);
    while (others &= others - 1);
    return lowest;
}

static inline void choose_first(struct choice *choice, struct dram_queue *queue, enum dram_bus bus, uint64_t banks) {
    if (!banks) return;
    uint64_t first = lowest_rank(queue->rank[bus], banks);
    if (choice->queue && choice->rank < first) return;
    choice->queue = queue;
    choice->rank = first;
}

static inline void look_for_columns(struct dram_channel *ch, struct choice *choice, struct dram_queue *queue,
                                    uint64_t among, unsigned write, uint64_t cycle) {
    uint64_t banks = queue->hit[write] & among;
    if (!banks) return;
    if (ch->column_at[write] > cycle) {
        lower_to(&choice->next, ch->column_at[write]);
        return;
    }
    uint64_t next = choice->next; /* a copy, so that the choice itself can stay in registers */
    banks = banks_ready(banks, &ch->column_wait[write], ch->bank_column_at[write], cycle, &next);
    if (UNLIKELY(ch->column_group_wait[write]))
        banks = groups_ready(ch, banks, &ch->column_group_wait[write], ch->group_column_at[write], cycle, &next);
    choice->next = next;
    choose_first(choice, queue, COLUMN_BUS, banks);
}

/* Rows at the cap: of their requests only the oldest of all is served, and only if nothing else can be issued. */
static NEVER_INLINE struct choice look_for_capped(struct dram_channel *ch, uint64_t next, uint64_t cycle) {
    struct dram_queue *queue = ch->active;
    struct choice capped = {.next = next};
    for (unsigned write = 0; write < 2; write++) look_for_columns(ch, &capped, queue, ch->capped, write, cycle);
    if (!capped.queue) return capped;
    uint64_t columns = (queue->hit[0] | queue->hit[1]) & ~queue->activated;
    uint64_t rows = (queue->closed | queue->conflict) & ~queue->activated;
    if ((columns && lowest_rank(queue->rank[COLUMN_BUS], columns) < capped.rank) ||
        (rows && lowest_rank(queue->rank[ROW_BUS], rows) < capped.rank))
        return (struct choice){.next = capped.next};
    capped.last_resort = true;
    return capped;
}

static ALWAYS_INLINE struct choice choose_column(struct dram_channel *ch, uint64_t cycle, struct rules rules) {
    struct choice choice = {.next = NEVER};
    struct dram_queue *queue = active_queue(ch, rules);
    uint64_t among = rules.special ? ~ch->capped : UINT64_MAX;
    look_for_columns(ch, &choice, queue, among, 0, cycle);
    look_for_columns(ch, &choice, queue, among, 1, cycle);
    if (rules.drain && UNLIKELY(unfinished(ch->idle))) {
        look_for_columns(ch, &choice, ch->idle, ch->idle->activated, 0, cycle);
        look_for_columns(ch, &choice, ch->idle, ch->idle->activated, 1, cycle);
    }
    if (rules.special && UNLIKELY(ch->capped) && !choice.queue) choice = look_for_capped(ch, choice.next, cycle);
    ch->column_next = choice.next;
    return choice;
}

static ALWAYS_INLINE struct choice choose_row(struct dram_channel *ch, uint64_t cycle, struct rules rules) {
    struct dram_queue *queue = active_queue(ch, rules);
    uint64_t conflict = queue->conflict, closed = queue->closed, next = NEVER;
    if (rules.drain) conflict &= ~unfinished(ch->idle);
    conflict = banks_ready(conflict, &ch->precharge_wait, ch->bank_precharge_at, cycle, &next);
    if (closed && ch->activate_at > cycle) {
        lower_to(&next, ch->activate_at);
        closed = 0;
    } else if (closed) {
        closed = banks_ready(closed, &ch->activate_wait, ch->bank_activate_at, cycle, &next);
        if (UNLIKELY(ch->activate_group_wait))
            closed = groups_ready(ch, closed, &ch->activate_group_wait, ch->group_activate_at, cycle, &next);
    }
    struct choice choice = {.next = next};
    uint64_t ready = conflict | closed;
    choose_first(&choice, queue, ROW_BUS, ready);
    /* Commands that are ready but not chosen can be issued in the next cycle. */
    ch->row_next = ready & (ready - 1) ? cycle + 1 : next;
    return choice;
}

/* After a column command to `group`: a bound of the next one to `banks`. */
static inline uint64_t next_column(const struct dram_channel *ch, uint64_t banks, unsigned write, unsigned group) {
    if (!banks) return NEVER;
    if (!ch->column_groups || banks & ~ch->group_banks[group]) return ch->column_at[write];
    return max_u64(ch->column_at[write], ch->group_column_at[write][group]);
}

/* Returns the cycle of the last command; see issue_column. */
static ALWAYS_INLINE uint64_t take_column(struct dram_channel *ch, struct dram_queue *queue, unsigned bank,
                                          uint64_t cycle, uint64_t limit, struct rules rules) {
    cycle = issue_column(ch, queue, bank, cycle, limit, rules);
    const struct dram_queue *active = active_queue(ch, rules), *idle = ch->idle;
    uint64_t reads = active->hit[0], writes = active->hit[1];
    unsigned group = bank & ch->group_mask;
    if (rules.drain && UNLIKELY(idle->waiting)) {
        reads |= idle->hit[0] & idle->activated;
        writes |= idle->hit[1] & idle->activated;
    }
    ch->column_next = min_u64(next_column(ch, reads, 0, group), next_column(ch, writes, 1, group));
    return cycle;
}

/* After a row command for the bank's oldest request, in the other queue too. The candidate does not change: it has its
 * row opened, or needs it to be. */
static ALWAYS_INLINE void follow_row(struct dram_channel *ch, struct dram_queue *queue, unsigned bank, bool opened,
                                     uint64_t cycle, struct rules rules) {
    uint64_t bit = UINT64_C(1) << bank;
    if (opened) {
        struct dram_request *request = queue->candidate[ROW_BUS][bank];
        unsigned write = request->write;
        queue->closed ^= bit;
        queue->activated |= bit;
        queue->hit[write] |= bit;
        set_candidate(queue, COLUMN_BUS, bank, request);
        lower_to(&ch->column_next, max_u64(ch->bank_column_at[write][bank], ch->column_at[write]));
    } else {
        queue->conflict ^= bit;
        queue->closed |= bit;
        lower_to(&ch->row_next, max_u64(ch->bank_activate_at[bank], ch->activate_at));
    }
    if (rules.drain && ch->idle->head[bank]) {
        choose_candidate(ch, ch->idle, bank, cycle);
        expect(ch, bank, cycle + 1);
    }
}

static ALWAYS_INLINE void take_row(struct dram_channel *ch, struct dram_queue *queue, unsigned bank, uint64_t cycle,
                                   struct rules rules) {
    bool opens = queue->closed >> bank & 1;
    if (opens) {
        issue_activate(ch, queue, bank, cycle, rules);
        if (!queue->conflict) ch->row_next = max_u64(ch->row_next, ch->activate_at);
    } else {
        struct dram_request *request = queue->candidate[ROW_BUS][bank];
        if (!request->begun) count_first(ch, request, &ch->stats.row_conflicts, cycle);
        issue_precharge(ch, bank, cycle);
    }
    if (!rules.special) {
        follow_row(ch, queue, bank, opens, cycle, rules);
        return;
    }
    choose_in_both(ch, bank, cycle);
    if (ch->by_offer) choose_all(ch, cycle);
    if (ch->capped) lower_to(&ch->column_next, cycle + 1); /* the oldest request may have changed */
}

/* A bank that offers both commands issues only one of them per cycle. With FR-FCFS it offers one. */
static inline bool share_bank(const struct dram_channel *ch, const struct choice *column, const struct choice *row) {
    return ch->by_offer && chosen_bank(column) == chosen_bank(row);
}

/* One cycle: at most one command, or one of each class with two command buses. If the next commands can only be the
 * further column commands of the same request, these are issued as well, in their cycles before `limit`; *at is the
 * cycle of the last command. Returns whether the bus for row commands stays free. */
static ALWAYS_INLINE bool issue(struct dram_channel *ch, uint64_t *at, uint64_t limit, struct rules rules) {
    uint64_t cycle = *at;
    struct choice column = {0}, row = {0};
    if (rules.drain && UNLIKELY(ch->turns)) {
        turn_to(ch, !ch->writing);
        ch->column_next = ch->row_next = cycle;
    }
    if (ch->column_next <= cycle) column = choose_column(ch, cycle, rules);
    if (ch->row_next <= cycle) row = choose_row(ch, cycle, rules);
    if (column.queue && row.queue && (!rules.two_buses || (rules.special && share_bank(ch, &column, &row)))) {
        if (!column.last_resort && column.rank < row.rank) {
            row.queue = NULL;
            ch->row_next = cycle + 1;
        } else {
            column.queue = NULL;
            ch->column_next = cycle + 1;
        }
    }
    if (column.queue) {
        /* Until then no other command can be issued. */
        uint64_t others = row.queue ? 0 : min_u64(min_u64(ch->column_next, ch->row_next), ch->rare_next);
        *at = take_column(ch, column.queue, chosen_bank(&column), cycle, min_u64(limit, others), rules);
    }
    if (row.queue) take_row(ch, row.queue, chosen_bank(&row), cycle, rules);
    if (rules.drain) expect_turn(ch, *at);
    return !row.queue && (!column.queue || rules.two_buses);
}

/* ----------------------------------------------------------- what happens rarely */

/* Closes the row of the lowest bank that the row policy closes by now, if the bus is free. */
static void close_row(struct dram_channel *ch, bool bus_free, uint64_t cycle) {
    uint64_t next = NEVER;
    for (uint64_t banks = ch->unwanted; banks; banks &= banks - 1) {
        unsigned bank = lowest_bit(banks);
        uint64_t at = max_u64(ch->unwanted_at[bank], ch->bank_precharge_at[bank]);
        if (at > cycle || !bus_free) {
            lower_to(&next, max_u64(at, cycle + 1));
            continue;
        }
        bus_free = false;
        issue_precharge(ch, bank, cycle);
        choose_in_both(ch, bank, cycle);
        if (ch->by_offer) choose_all(ch, cycle);
    }
    ch->close_next = next;
}

/* A cycle in which the row policy may close a row, after requests have had the bus. */
static void issue_and_close(struct dram_channel *ch, uint64_t cycle) {
    close_row(ch, issue(ch, &cycle, 0, ch->rules), cycle);
    if (*ch->polled) ch->column_next = ch->row_next = ch->close_next = cycle + 1;
}

/* A starved request: it has priority over row hits in its bank and, if it waits in the queue that is not being served,
 * changes the direction. */
static void check_starvation(struct dram_channel *ch, uint64_t cycle) {
    uint64_t limit = ch->starvation_cycles, oldest = NEVER;
    for (unsigned q = 0; q < 2; q++) {
        struct dram_queue *queue = &ch->queue[q];
        if (!queue->waiting) continue;
        uint64_t entered = NEVER, occupied = occupied_banks(ch, queue);
        for (uint64_t banks = occupied; banks; banks &= banks - 1)
            lower_to(&entered, queue->head[lowest_bit(banks)]->entered);
        if (entered + limit <= cycle && entered < oldest) turn_to(ch, q);
        lower_to(&oldest, entered);
        for (uint64_t banks = occupied; banks; banks &= banks - 1) {
            unsigned bank = lowest_bit(banks);
            if (queue->head[bank]->entered + limit > cycle) continue;
            queue->strict |= UINT64_C(1) << bank;
            choose_candidate(ch, queue, bank, cycle);
        }
    }
    /* While a request is starved, checks are spaced out instead of happening in each cycle. */
    ch->starve_next = oldest == NEVER ? NEVER : oldest + limit > cycle ? oldest + limit : cycle + limit / 8 + 1;
    lower_to(&ch->column_next, cycle);
    lower_to(&ch->row_next, cycle);
    note_turn(ch);
}

static void precharge_all(struct dram_channel *ch, uint64_t cycle) {
    if (ch->log) log_command(ch, cycle, DRAM_PRECHARGE_ALL, 0, 0, 0);
    ch->activate_wait |= ch->open;
    ch->unwanted = 0;
    for (; ch->open; ch->open &= ch->open - 1) {
        raise_to(&ch->bank_activate_at[lowest_bit(ch->open)], cycle + ch->delay.row_close);
        ch->stats.precharges++;
    }
}

/* A refresh is due. Requests whose row has been opened are still served; then all rows are closed and all banks
 * refreshed. */
static void refresh(struct dram_channel *ch, uint64_t cycle) {
    if (unfinished(&ch->queue[0]) | unfinished(&ch->queue[1])) {
        struct choice choice = {.next = NEVER};
        for (unsigned i = 0; i < 4; i++)
            look_for_columns(ch, &choice, &ch->queue[i / 2], ch->queue[i / 2].activated, i % 2, cycle);
        ch->refresh_next = choice.queue ? cycle + 1 : choice.next;
        if (choice.queue) take_column(ch, choice.queue, chosen_bank(&choice), cycle, 0, ch->rules);
        return;
    }
    uint64_t at = cycle;
    if (ch->open) {
        for (uint64_t banks = ch->open; banks; banks &= banks - 1)
            raise_to(&at, ch->bank_precharge_at[lowest_bit(banks)]);
        ch->refresh_next = at;
        if (at > cycle) return;
        precharge_all(ch, cycle);
        ch->refresh_next = cycle + 1;
        return;
    }
    for (unsigned bank = 0; bank < (unsigned)ch->device->banks; bank++) raise_to(&at, ch->bank_activate_at[bank]);
    ch->refresh_next = at;
    if (at > cycle) return;
    if (ch->log) log_command(ch, cycle, DRAM_REFRESH, 0, 0, 0);
    ch->stats.refreshes++;
    ch->activate_at = cycle + (uint64_t)ch->device->tRFC;
    ch->refreshing = false;
    ch->refresh_due += (uint64_t)ch->device->tREFI;
    ch->refresh_next = max_u64(ch->refresh_due, cycle + 1);
    choose_all(ch, cycle);
    ch->row_next = ch->column_next = cycle + 1;
}

/* Returns whether the cycle is complete. */
static NEVER_INLINE bool run_rarely(struct dram_channel *ch, uint64_t cycle) {
    bool done = false;
    if (cycle >= ch->refresh_next) {
        ch->refreshing = done = true;
        refresh(ch, cycle);
    } else {
        if (cycle >= ch->starve_next) check_starvation(ch, cycle);
        if (cycle >= ch->close_next) {
            issue_and_close(ch, cycle);
            done = true;
        }
    }
    note_turn(ch);
    ch->rare_next = min_u64(min_u64(ch->starve_next, ch->refresh_next), ch->close_next);
    if (ch->refreshing)
        ch->next = ch->refresh_next;
    else
        update_next(ch);
    return done;
}

static ALWAYS_INLINE bool has_room(const struct dram_channel *ch, const struct dram_request *request,
                                   struct rules rules) {
    return queue_has_room(ch, &ch->queue[rules.drain & request->write], request->bank);
}

/* Issues all commands due in cycles up to and including `until`; if a request waits for a full queue, only up to the
 * cycle that frees an entry. Returns that cycle, NEVER if there was none. */
static ALWAYS_INLINE uint64_t run(struct dram_channel *ch, uint64_t until, const struct dram_request *waiting,
                                  bool polled, struct rules rules) {
    while (ch->next <= until) {
        uint64_t cycle = ch->next;
        if (LIKELY(cycle < ch->rare_next) || !run_rarely(ch, cycle)) {
            issue(ch, &cycle, polled ? 0 : until + 1, rules);
            if (polled) ch->column_next = ch->row_next = cycle + 1;
            update_next(ch);
        }
        if (waiting && has_room(ch, waiting, rules)) return cycle;
    }
    return NEVER;
}

/* The oldest arrival waits for a full queue, or enters it, after the commands before it have been issued. */
static ALWAYS_INLINE void catch_up(struct dram_channel *ch, struct clock clock, const struct moment *from,
                                   uint64_t before, uint64_t until, bool polled, struct rules rules) {
    for (;;) {
        struct dram_request *first = ch->arrival, *waiting = NULL;
        uint64_t core = 0, cycle = until;
        if (first) {
            core = max_u64(first->ready, ch->enter_from.core);
            if (ch->blocked_since != NEVER)
                waiting = first;
            else if (core >= before)
                first = NULL;
            else
                cycle = core == first->ready ? first->ready_cycle : ch->enter_from.cycle;
        }
        uint64_t room = run(ch, cycle, waiting, polled, rules);
        if (!first) return;
        if (waiting) {
            if (room == NEVER) return;
            ch->enter_from = clock_moment_after(clock, from, room);
            ch->stats.queue_full_cycles += ch->enter_from.core - ch->blocked_since;
            ch->blocked_since = NEVER;
        } else if (!has_room(ch, first, rules)) {
            ch->blocked_since = core;
        } else {
            ch->arrival = first->next;
            if (core == first->ready)
                ch->enter_from.core = core + 1; /* the next one is not ready earlier and has its memory cycle */
            else
                ch->enter_from = clock_next(clock, ch->enter_from);
            first->ready = core;
            enter(ch, first, cycle, rules);
        }
    }
}

void channel_catch_up(struct dram_channel *ch, struct clock clock, const struct moment *from, uint64_t before,
                      uint64_t until) {
    struct rules rules = ch->rules;
    if (LIKELY(!(*ch->polled | rules.special | rules.drain | rules.two_buses)))
        catch_up(ch, clock, from, before, until, false, (struct rules){0});
    else if (!(*ch->polled | rules.special) && rules.drain & rules.two_buses)
        catch_up(ch, clock, from, before, until, false, (struct rules){.drain = true, .two_buses = true});
    else
        catch_up(ch, clock, from, before, until, *ch->polled, rules);
}

void channel_settle(struct dram_channel *ch) {
    ch->stats.read_bytes += ch->columns[0] * ch->delay.burst_bytes;
    ch->stats.write_bytes += ch->columns[1] * ch->delay.burst_bytes;
    ch->stats.bus_cycles += (ch->columns[0] + ch->columns[1]) * ch->delay.burst;
    ch->columns[0] = ch->columns[1] = 0;
}
