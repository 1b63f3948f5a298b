/* MRPB: queues in front of the L1 reorder requests, and reads with a reservation failure bypass the L1 ("MRPB: Memory
 * Request Prioritization for Massively Parallel Processors", HPCA 2014, as used in Locality-Driven Dynamic GPU Cache
 * Bypassing, ICS 2015, section 6.1).
 *
 * A stage in front of any L1 organisation. A request of the load/store unit enters one of several FIFOs, selected by
 * its warp or its instruction, and the drain rule selects the FIFO that the L1 serves. One request enters and one
 * leaves per cycle, at the earliest in the next cycle. Only the head of one FIFO is served at a time, so the L1 sees
 * the lines of one warp together. A read with a reservation failure for a line, an MSHR or the MSHR merge limit
 * bypasses the L1 instead. A full miss queue blocks both paths: it is full because the network accepts nothing.
 *
 * Order: accesses to the same line stay in order if one of them is a store or an atomic. A request that conflicts with
 * requests of one other FIFO joins that FIFO; if it conflicts with several FIFOs, it is a reservation failure until it
 * conflicts with one.
 *
 * Assumed, since the published values are not known to us: a FIFO of 8 requests for each of 48 warps, drained greedily.
 * Not modelled: a FIFO per CTA. Misses of the instruction, constant and read-only caches do not use this stage.
 */
#include <stdlib.h>
#include <string.h>

#include "l1/insertion.h"
#include "sim/latency.h"

enum { CHAINS = 256, NO_REQUEST = UINT32_MAX };

#define MRPB_STATS(S) \
    S(SUM, entered, "accesses", "requests that entered a FIFO") \
    S(SUM, joined, "accesses", "requests that entered another FIFO than their own, to preserve the order of a line") \
    S(SUM, bypasses_mshr, "accesses", "reads that bypassed the L1: no free MSHR") \
    S(SUM, bypasses_merge, "accesses", "reads that bypassed the L1: MSHR merge limit") \
    S(SUM, bypasses_line, "accesses", "reads that bypassed the L1: all lines of the set are reserved") \
    S(MAX, waiting_peak, "accesses", "maximum number of requests queued in front of an L1")

STATS_STRUCT(mrpb_stats, MRPB_STATS);
STATS_TABLE(mrpb_stat_table, "l1.mrpb", mrpb_stats, MRPB_STATS);

/* A queued request. */
struct waiting {
    struct l1_request request;
    uint32_t next;   /* in its chain or the free list */
    uint32_t behind; /* next in its FIFO */
    uint16_t queue;
};

struct fifo {
    uint32_t first, last, count;
};

/* A hit within the L1's hit latency. */
struct hit {
    uint64_t due;
    uint32_t token;
};

struct mrpb_stage {
    struct fifo *fifo;       /* [queues] */
    struct waiting *waiting; /* [queues × entries] */
    uint32_t *chain;         /* [CHAINS] queued requests, hashed by line */
    uint32_t free, count;
    unsigned current;         /* the FIFO served last */
    struct hit *hit;          /* [latency + 1] ring buffer */
    unsigned hits, first_hit; /* number of hits, and the oldest */
    bool failed;              /* the head has a reservation failure, */
    uint32_t failed_changes;  /* gate->changes at that time */
    struct mrpb_stats stats;
};

struct drain_ops {
    struct policy policy;
    /* Selects a FIFO that is not empty. */
    unsigned (*pick)(const struct mrpb_stage *stage, unsigned queues);
};

struct signature_ops {
    struct policy policy;
    unsigned (*of)(const struct l1_request *request);
};

static unsigned first_from(const struct mrpb_stage *stage, unsigned from, unsigned queues) {
    for (unsigned i = 0; i < queues; i++)
        if (stage->fifo[(from + i) % queues].count) return (from + i) % queues;
    assert(!"all FIFOs are empty");
    return 0;
}

static unsigned pick_fixed(const struct mrpb_stage *stage, unsigned queues) { return first_from(stage, 0, queues); }

static unsigned pick_greedy(const struct mrpb_stage *stage, unsigned queues) {
    return stage->fifo[stage->current].count ? stage->current : first_from(stage, 0, queues);
}

static unsigned pick_in_turn(const struct mrpb_stage *stage, unsigned queues) {
    return first_from(stage, stage->current + 1, queues);
}

static unsigned pick_longest(const struct mrpb_stage *stage, unsigned queues) {
    unsigned longest = 0;
    for (unsigned i = 1; i < queues; i++)
        if (stage->fifo[i].count > stage->fifo[longest].count) longest = i;
    return longest;
}

static const struct drain_ops drains[] = {
    {{"greedy", "drain a FIFO until it is empty, then the first that is not empty", NULL}, pick_greedy},
    {{"fixed", "the first FIFO that is not empty", NULL}, pick_fixed},
    {{"rr", "round robin", NULL}, pick_in_turn},
    {{"longest", "the longest FIFO", NULL}, pick_longest},
};
static const struct policy *const drain_members[] = {&drains[0].policy, &drains[1].policy, &drains[2].policy,
                                                     &drains[3].policy};
static const struct family drain_family = {"drain rule", drain_members, COUNT_OF(drain_members)};

static unsigned by_warp(const struct l1_request *request) { return request->warp; }
static unsigned by_instruction(const struct l1_request *request) { return request->instr; }

static const struct signature_ops signatures[] = {
    {{"warp", "one FIFO per warp", NULL}, by_warp},
    {{"instruction", "one FIFO per static instruction", NULL}, by_instruction},
};
static const struct policy *const signature_members[] = {&signatures[0].policy, &signatures[1].policy};
static const struct family signature_family = {"signature", signature_members, COUNT_OF(signature_members)};

struct mrpb_config {
    int64_t queues, entries;
    const struct policy *signature, *drain;
    bool bypass_line, bypass_mshr, bypass_merge;
};

static const struct param params[] = {
    P_INT(struct mrpb_config, queues, 48, 1, 1024, "FIFOs", "FIFOs in front of each L1"),
    P_INT(struct mrpb_config, entries, 8, 1, 1024, "requests", "entries per FIFO"),
    P_CHOICE(struct mrpb_config, signature, signature_family, "warp", "FIFO selection"),
    P_CHOICE(struct mrpb_config, drain, drain_family, "greedy", "drain rule: selection of the FIFO to serve"),
    P_BOOL(struct mrpb_config, bypass_line, true, "reads bypass the L1 if all lines of their set are reserved"),
    P_BOOL(struct mrpb_config, bypass_mshr, true, "reads bypass the L1 if no MSHR is free"),
    P_BOOL(struct mrpb_config, bypass_merge, true, "reads bypass the L1 at the MSHR merge limit"),
};

static const struct section mrpb_section = {
    .path = "mrpb",
    .help = "request reordering queues in front of the L1, and bypass on a reservation failure",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct mrpb_config),
};

struct mrpb {
    struct l1 base;
    struct l1 *l1; /* the organisation behind this stage */
    struct engine *engine;
    const unsigned *component;
    unsigned sms, queues, entries, latency_cycles;
    const struct drain_ops *drain;
    const struct signature_ops *signature;
    bool bypasses[L1_OUTCOMES];
    struct mrpb_stage *stage; /* [sms] */
};

static const struct l1_ops mrpb_ops;

static void mrpb_stage_init(const struct mrpb *mrpb, struct mrpb_stage *stage) {
    unsigned room = mrpb->queues * mrpb->entries;
    stage->fifo = mem_alloc(mrpb->queues, sizeof *stage->fifo);
    stage->waiting = mem_alloc(room, sizeof *stage->waiting);
    stage->chain = mem_alloc(CHAINS, sizeof *stage->chain);
    stage->hit = mem_alloc(mrpb->latency_cycles + 1, sizeof *stage->hit);
    for (unsigned i = 0; i < CHAINS; i++) stage->chain[i] = NO_REQUEST;
    for (unsigned i = 0; i < room; i++) stage->waiting[i].next = i + 1 < room ? i + 1 : NO_REQUEST;
}

static struct l1 *mrpb_before(struct l1 *l1, const struct l1_context *context) {
    const struct mrpb_config *values = config_get(context->config, &mrpb_section);
    const struct l1_config *l1_values = config_get(context->config, &l1_section);
    struct mrpb *mrpb = mem_alloc(1, sizeof *mrpb);
    *mrpb = (struct mrpb){
        .base = {.ops = &mrpb_ops, .gate = l1->gate},
        .l1 = l1,
        .engine = context->engine,
        .component = context->sm_component,
        .sms = context->sms,
        .queues = (unsigned)values->queues,
        .entries = (unsigned)values->entries,
        .latency_cycles = (unsigned)l1_values->latency_cycles,
        .drain = (const struct drain_ops *)values->drain,
        .signature = (const struct signature_ops *)values->signature,
        .bypasses = {[L1_FAIL_LINE] = values->bypass_line,
                     [L1_FAIL_MSHR] = values->bypass_mshr,
                     [L1_FAIL_MSHR_MERGE] = values->bypass_merge},
        .stage = mem_alloc(context->sms, sizeof *mrpb->stage),
    };
    for (unsigned sm = 0; sm < context->sms; sm++) {
        mrpb_stage_init(mrpb, &mrpb->stage[sm]);
        stats_add(context->stats, &mrpb_stat_table, &mrpb->stage[sm].stats);
    }
    return &mrpb->base;
}

static void mrpb_destroy(struct l1 *base) {
    struct mrpb *mrpb = (struct mrpb *)base;
    for (unsigned sm = 0; sm < mrpb->sms; sm++) {
        struct mrpb_stage *stage = &mrpb->stage[sm];
        free(stage->fifo);
        free(stage->waiting);
        free(stage->chain);
        free(stage->hit);
    }
    mrpb->l1->ops->destroy(mrpb->l1);
    free(mrpb->stage);
    free(mrpb);
}

static uint32_t *chain_of(const struct mrpb_stage *stage, uint64_t address) {
    return &stage->chain[address * UINT64_C(0x9E3779B97F4A7C15) >> 56];
}

/* The FIFO that preserves the request's order, its own if nothing conflicts; -1 if it conflicts with several. */
static int queue_in_order(const struct mrpb_stage *stage, const struct l1_request *request, unsigned queue) {
    int company = -1;
    for (uint32_t i = *chain_of(stage, request->address); i != NO_REQUEST; i = stage->waiting[i].next) {
        const struct waiting *other = &stage->waiting[i];
        if (other->request.address != request->address || other->request.program != request->program ||
            (other->request.kind == MESSAGE_READ && request->kind == MESSAGE_READ))
            continue;
        if (company >= 0 && company != other->queue) return -1;
        company = other->queue;
    }
    return company < 0 ? (int)queue : company;
}

static enum l1_outcome mrpb_access(struct l1 *base, unsigned sm, const struct l1_request *request, uint64_t now) {
    struct mrpb *mrpb = (struct mrpb *)base;
    struct mrpb_stage *stage = &mrpb->stage[sm];
    if (request->warp == L1_NO_WARP) return mrpb->l1->ops->access(mrpb->l1, sm, request, now);
    unsigned own = mrpb->signature->of(request) % mrpb->queues;
    int queue = queue_in_order(stage, request, own);
    if (queue < 0 || stage->fifo[queue].count == mrpb->entries) return L1_FAIL_INPUT_QUEUE;
    uint32_t index = stage->free, *chain = chain_of(stage, request->address);
    struct fifo *fifo = &stage->fifo[queue];
    stage->free = stage->waiting[index].next;
    stage->waiting[index] = (struct waiting){*request, .next = *chain, .queue = (uint16_t)queue};
    *chain = index;
    *(fifo->count++ ? &stage->waiting[fifo->last].behind : &fifo->first) = index;
    fifo->last = index;
    stage->count++;
    stage->stats.entered++;
    stage->stats.joined += (unsigned)queue != own;
    stat_max(&stage->stats.waiting_peak, stage->count);
    base->gate[sm].open_at = now + 1;
    engine_wake(mrpb->engine, mrpb->component[sm], now + 1);
    return L1_QUEUED;
}

static void leave(struct mrpb_stage *stage, struct fifo *fifo) {
    uint32_t index = fifo->first, *link = chain_of(stage, stage->waiting[index].request.address);
    fifo->first = stage->waiting[index].behind;
    fifo->count--;
    stage->count--;
    while (*link != index) link = &stage->waiting[*link].next;
    *link = stage->waiting[index].next;
    stage->waiting[index].next = stage->free;
    stage->free = index;
}

/* Sends a request to the L1; a read with an evadable reservation failure bypasses it. */
static enum l1_outcome ask(struct mrpb *mrpb, unsigned sm, const struct l1_request *request, uint64_t now) {
    struct l1 *l1 = mrpb->l1;
    struct mrpb_stats *stats = &mrpb->stage[sm].stats;
    enum l1_outcome outcome = l1->ops->access(l1, sm, request, now);
    if (!mrpb->bypasses[outcome] || request->kind != MESSAGE_READ) return outcome;
    struct l1_request past = *request;
    past.bypass = true;
    enum l1_outcome evaded = l1->ops->access(l1, sm, &past, now);
    uint64_t *counter = outcome == L1_FAIL_MSHR         ? &stats->bypasses_mshr
                        : outcome == L1_FAIL_MSHR_MERGE ? &stats->bypasses_merge
                                                        : &stats->bypasses_line;
    *counter += evaded < L1_ACCEPTED;
    return evaded;
}

/* Serves the selected FIFO. A head with a reservation failure is replayed after a change; no other is tried before. */
static void drain(struct mrpb *mrpb, unsigned sm, uint64_t now) {
    struct mrpb_stage *stage = &mrpb->stage[sm];
    struct l1_gate *gate = &mrpb->base.gate[sm];
    if (stage->failed && stage->failed_changes == gate->changes) return;
    if (!stage->failed) stage->current = mrpb->drain->pick(stage, mrpb->queues);
    struct fifo *fifo = &stage->fifo[stage->current];
    const struct l1_request *request = &stage->waiting[fifo->first].request;
    enum l1_outcome outcome = ask(mrpb, sm, request, now);
    stage->failed = outcome > L1_ACCEPTED;
    stage->failed_changes = gate->changes;
    if (stage->failed) return;
    if (outcome == L1_HIT) {
        unsigned last = (stage->first_hit + stage->hits++) % (mrpb->latency_cycles + 1);
        stage->hit[last] = (struct hit){now + mrpb->latency_cycles, request->token};
        engine_wake(mrpb->engine, mrpb->component[sm], now + mrpb->latency_cycles);
    }
    leave(stage, fifo);
    gate->changes++;
    if (stage->count) engine_wake(mrpb->engine, mrpb->component[sm], now + 1);
}

static unsigned mrpb_tick(struct l1 *base, unsigned sm, uint64_t now, uint32_t *token) {
    struct mrpb *mrpb = (struct mrpb *)base;
    struct mrpb_stage *stage = &mrpb->stage[sm];
    unsigned completions = mrpb->l1->ops->tick(mrpb->l1, sm, now, token);
    if (stage->hits && stage->hit[stage->first_hit].due <= now) {
        token[completions++] = stage->hit[stage->first_hit].token;
        if (UNLIKELY(mrpb->engine->latency != NULL))
            latency_mark(mrpb->engine->latency, latency_key(LATENCY_ACCESS, sm, token[completions - 1], 0), LATENCY_l1,
                         now);
        stage->first_hit = (stage->first_hit + 1) % (mrpb->latency_cycles + 1);
        if (--stage->hits) /* a hit already due is late because this L1 was not ticked */
            engine_wake(mrpb->engine, mrpb->component[sm], max_u64(stage->hit[stage->first_hit].due, now + 1));
    }
    if (stage->count) drain(mrpb, sm, now);
    if (stage->count || stage->hits) base->gate[sm].open_at = now + 1;
    return completions;
}

/* Requests and hits of this stage wait: a request may hit and then needs the space that is missing. */
static void mrpb_tick_blocked(struct l1 *base, unsigned sm, uint64_t now) {
    struct mrpb *mrpb = (struct mrpb *)base;
    mrpb->l1->ops->tick_blocked(mrpb->l1, sm, now);
    if (mrpb->stage[sm].count || mrpb->stage[sm].hits) base->gate[sm].open_at = now + 1;
}

static unsigned mrpb_endpoints(const struct l1 *base) {
    const struct l1 *l1 = ((const struct mrpb *)base)->l1;
    return l1->ops->endpoints(l1);
}

static unsigned mrpb_endpoint_component(const struct l1 *base, unsigned endpoint) {
    const struct l1 *l1 = ((const struct mrpb *)base)->l1;
    return l1->ops->endpoint_component(l1, endpoint);
}

static void mrpb_connect(struct l1 *base, unsigned endpoint, const struct l1_ports *ports) {
    struct l1 *l1 = ((struct mrpb *)base)->l1;
    l1->ops->connect(l1, endpoint, ports);
}

static void mrpb_flush(struct l1 *base, unsigned sm) {
    struct l1 *l1 = ((struct mrpb *)base)->l1;
    l1->ops->flush(l1, sm);
}

static bool mrpb_busy(const struct l1 *base, unsigned sm) {
    const struct mrpb *mrpb = (const struct mrpb *)base;
    return mrpb->stage[sm].count || mrpb->stage[sm].hits || mrpb->l1->ops->busy(mrpb->l1, sm);
}

static void mrpb_explain(const struct l1 *base, unsigned sm, FILE *out) {
    const struct mrpb *mrpb = (const struct mrpb *)base;
    if (mrpb->stage[sm].count) fprintf(out, "  %u requests queued in front of the L1\n", mrpb->stage[sm].count);
    mrpb->l1->ops->explain(mrpb->l1, sm, out);
}

static const struct l1_ops mrpb_ops = {
    .destroy = mrpb_destroy,
    .endpoints = mrpb_endpoints,
    .endpoint_component = mrpb_endpoint_component,
    .connect = mrpb_connect,
    .tick = mrpb_tick,
    .tick_blocked = mrpb_tick_blocked,
    .access = mrpb_access,
    .flush = mrpb_flush,
    .busy = mrpb_busy,
    .explain = mrpb_explain,
};

const struct insertion_ops insertion_mrpb = {
    .policy = {"mrpb", "reorders requests in queues in front of the L1; reads bypass it on a reservation failure",
               &mrpb_section},
    .before = mrpb_before,
};
