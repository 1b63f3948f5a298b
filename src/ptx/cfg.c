#include "ptx/cfg.h"

static bool leaves(const struct op *op) {
    return op->operation == OPERATION_ret || op->operation == OPERATION_exit || op->operation == OPERATION_trap;
}
static bool branches(const struct op *op) { return op->operation == OPERATION_bra || op->operation == OPERATION_brx; }

/* Marks the operations that start a block. */
static void leaders_mark(const struct program_function *f, uint8_t *leader) {
    if (f->op_count) leader[0] = 1;
    for (uint32_t i = 0; i < f->op_count; i++) {
        const struct op *op = &f->ops[i];
        if (op->operation == OPERATION_bra) leader[op->target] = 1;
        if (op->operation == OPERATION_brx) {
            const struct op_targets *targets = &f->targets[op->target];
            for (uint32_t k = 0; k < targets->count; k++) leader[f->target_list[targets->first + k]] = 1;
        }
        if (branches(op) || leaves(op)) leader[i + 1] = 1;
    }
}

static uint32_t block_at(const struct cfg *cfg, const struct program_function *f, uint32_t op) {
    return op < f->op_count ? cfg->block_of[op] : cfg->count;
}

/* The successors of a block, written to `out` if it is not NULL; returns their number. */
static uint32_t successors(const struct cfg *cfg, const struct program_function *f, const struct cfg_block *block,
                           uint32_t *out) {
    uint32_t count = 0;
    const struct op *last = &f->ops[block->end - 1];
#define PUT(x) (out ? (void)(out[count] = (x)) : (void)0, count++)
    if (last->operation == OPERATION_bra) PUT(block_at(cfg, f, last->target));
    if (last->operation == OPERATION_brx) {
        const struct op_targets *targets = &f->targets[last->target];
        for (uint32_t k = 0; k < targets->count; k++) PUT(block_at(cfg, f, f->target_list[targets->first + k]));
    }
    if (leaves(last)) PUT(cfg->count);
    if ((!branches(last) && !leaves(last)) || last->guard) PUT(block_at(cfg, f, block->end));
#undef PUT
    return count;
}

/* ---- post-dominators ---- */

struct reverse {
    uint32_t *first, *list; /* predecessors of each block and of the exit */
    uint32_t *order;        /* blocks in postorder of the reverse graph */
    uint32_t *number;       /* postorder number; the exit has the highest */
    uint8_t *root;          /* has a virtual edge to the exit */
};

static void reverse_edges(struct arena *arena, const struct cfg *cfg, struct reverse *r) {
    uint32_t n = cfg->count;
    r->first = arena_alloc(arena, n + 2, sizeof *r->first);
    r->list = arena_alloc(arena, cfg->successor_count + 1, sizeof *r->list);
    for (uint32_t i = 0; i < cfg->successor_count; i++) r->first[cfg->successors[i] + 1]++;
    for (uint32_t b = 0; b <= n; b++) r->first[b + 1] += r->first[b];
    uint32_t *next = arena_alloc(arena, n + 1, sizeof *next);
    for (uint32_t b = 0; b <= n; b++) next[b] = r->first[b];
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t i = 0; i < cfg->blocks[b].count; i++)
            r->list[next[cfg->successors[cfg->blocks[b].successor + i]]++] = b;
}

/* Numbers every unnumbered block from which `from` can be reached. */
static void reverse_visit(const struct cfg *cfg, struct reverse *r, uint32_t from, uint8_t *seen, uint32_t *stack,
                          uint32_t *next, uint32_t *count) {
    uint32_t depth = 0;
    if (seen[from]) return;
    seen[from] = 1;
    for (stack[depth++] = from; depth;) {
        uint32_t b = stack[depth - 1];
        if (next[b] == r->first[b + 1]) {
            if (b < cfg->count) r->number[b] = *count, r->order[(*count)++] = b;
            depth--;
            continue;
        }
        uint32_t p = r->list[next[b]++];
        if (!seen[p]) seen[p] = 1, stack[depth++] = p;
    }
}

static void reverse_order(struct arena *arena, const struct cfg *cfg, struct reverse *r) {
    uint32_t n = cfg->count, count = 0;
    r->order = arena_alloc(arena, n + 1, sizeof *r->order);
    r->number = arena_alloc(arena, n + 1, sizeof *r->number);
    r->root = arena_alloc(arena, n + 1, 1);
    uint8_t *seen = arena_alloc(arena, n + 1, 1);
    uint32_t *stack = arena_alloc(arena, n + 1, sizeof *stack), *next = arena_alloc(arena, n + 1, sizeof *next);
    for (uint32_t b = 0; b <= n; b++) next[b] = r->first[b];
    reverse_visit(cfg, r, n, seen, stack, next, &count);
    for (uint32_t b = n; b-- > 0;) {
        r->root[b] = !seen[b];
        reverse_visit(cfg, r, b, seen, stack, next, &count);
    }
    r->number[n] = n;
}

static uint32_t meet(const struct cfg *cfg, const struct reverse *r, uint32_t a, uint32_t b) {
    while (a != b) {
        while (r->number[a] < r->number[b]) a = cfg->blocks[a].ipdom;
        while (r->number[b] < r->number[a]) b = cfg->blocks[b].ipdom;
    }
    return a;
}

static void post_dominators(struct arena *arena, struct cfg *cfg) {
    enum { UNKNOWN = UINT32_MAX };
    struct reverse r;
    reverse_edges(arena, cfg, &r);
    reverse_order(arena, cfg, &r);
    for (uint32_t b = 0; b < cfg->count; b++) cfg->blocks[b].ipdom = UNKNOWN;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = cfg->count; i-- > 0;) {
            struct cfg_block *block = &cfg->blocks[r.order[i]];
            uint32_t found = r.root[r.order[i]] ? cfg->count : UNKNOWN;
            for (uint32_t k = 0; k < block->count; k++) {
                uint32_t s = cfg->successors[block->successor + k];
                if (s < cfg->count && cfg->blocks[s].ipdom == UNKNOWN) continue;
                found = found == UNKNOWN ? s : meet(cfg, &r, found, s);
            }
            changed |= found != block->ipdom;
            block->ipdom = found;
        }
    }
}

struct cfg *cfg_create(struct arena *arena, const struct program_function *f) {
    struct cfg *cfg = arena_alloc(arena, 1, sizeof *cfg);
    uint8_t *leader = arena_alloc(arena, f->op_count + 1, 1);
    leaders_mark(f, leader);
    cfg->block_of = arena_alloc(arena, f->op_count + 1, sizeof *cfg->block_of);
    for (uint32_t i = 0; i < f->op_count; i++) cfg->count += leader[i];
    cfg->blocks = arena_alloc(arena, cfg->count + 1, sizeof *cfg->blocks);
    for (uint32_t i = 0, b = UINT32_MAX; i < f->op_count; i++) {
        if (leader[i]) cfg->blocks[++b].first = i;
        cfg->block_of[i] = b;
        cfg->blocks[b].end = i + 1;
    }
    for (uint32_t b = 0; b < cfg->count; b++) {
        cfg->blocks[b].successor = cfg->successor_count;
        cfg->blocks[b].count = successors(cfg, f, &cfg->blocks[b], NULL);
        cfg->successor_count += cfg->blocks[b].count;
    }
    cfg->successors = arena_alloc(arena, cfg->successor_count + 1, sizeof *cfg->successors);
    for (uint32_t b = 0; b < cfg->count; b++)
        successors(cfg, f, &cfg->blocks[b], cfg->successors + cfg->blocks[b].successor);
    post_dominators(arena, cfg);
    return cfg;
}

void cfg_reconverge(const struct cfg *cfg, struct program_function *f) {
    for (uint32_t i = 0; i < f->op_count; i++) {
        if (!branches(&f->ops[i])) continue;
        uint32_t ipdom = cfg->blocks[cfg->block_of[i]].ipdom;
        f->ops[i].reconverge = ipdom < cfg->count ? cfg->blocks[ipdom].first : f->op_count;
    }
}
