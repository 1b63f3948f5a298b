#include "ptx/liveness.h"

#include <string.h>

/* A register that some block reads before writing it is live across blocks and has a bit in the sets; the others are
 * live within one block only. */
struct flow {
    const struct lowering *l;
    const struct cfg *cfg;
    const struct op_registers *registers;
    const uint32_t *pool;
    uint32_t *bit;             /* of each register, plus 1; 0 = within a block */
    uint32_t *reg;             /* of each bit */
    uint32_t bits, words;      /* words of 64 bits in a set */
    uint64_t *in, *gen, *kill; /* by block */
    uint8_t *live;             /* of each register, during the walk of a block */
    uint32_t *from, *to;       /* live range of each register: operations; from > to: unused */
};

static unsigned units_of(const struct flow *f, uint32_t reg) {
    const struct ptx_register *r = &f->l->source->registers[reg];
    if (r->type == PTX_pred) return 0;
    return (ptx_type_bits(r->type) + 31) / 32 * (r->vector ? r->vector : 1);
}

static bool write_kills(const struct flow *f, uint32_t op, uint32_t reg) {
    return !f->l->function->ops[op].guard && !f->l->source->registers[reg].vector;
}

/* Assigns a bit to every register that some block reads before writing it. */
static void find_global(struct flow *f, struct arena *arena) {
    uint32_t count = f->l->source->register_count;
    uint32_t *written_in = arena_alloc(arena, count + 1, sizeof *written_in); /* block plus 1 */
    f->bit = arena_alloc(arena, count + 1, sizeof *f->bit);
    f->reg = arena_alloc(arena, count + 1, sizeof *f->reg);
    for (uint32_t b = 0; b < f->cfg->count; b++)
        for (uint32_t i = f->cfg->blocks[b].first; i < f->cfg->blocks[b].end; i++) {
            const struct op_registers *r = &f->registers[i];
            const uint32_t *read = f->pool + r->first, *write = read + r->read_count;
            for (uint32_t k = 0; k < r->read_count; k++)
                if (written_in[read[k]] != b + 1 && !f->bit[read[k]]) {
                    f->reg[f->bits] = read[k];
                    f->bit[read[k]] = ++f->bits;
                }
            for (uint32_t k = 0; k < r->write_count; k++)
                if (write_kills(f, i, write[k])) written_in[write[k]] = b + 1;
        }
    f->words = (f->bits + 63) / 64;
}

static void set_bit(uint64_t *set, uint32_t bit) { set[bit / 64] |= UINT64_C(1) << (bit % 64); }
static bool has_bit(const uint64_t *set, uint32_t bit) { return set[bit / 64] >> (bit % 64) & 1; }

static void block_sets(struct flow *f, uint32_t b) {
    uint64_t *gen = f->gen + (size_t)b * f->words, *kill = f->kill + (size_t)b * f->words;
    for (uint32_t i = f->cfg->blocks[b].first; i < f->cfg->blocks[b].end; i++) {
        const struct op_registers *r = &f->registers[i];
        const uint32_t *reg = f->pool + r->first;
        for (uint32_t k = 0; k < r->read_count + r->write_count; k++) {
            if (!f->bit[reg[k]]) continue;
            uint32_t bit = f->bit[reg[k]] - 1;
            if (k < r->read_count && !has_bit(kill, bit)) set_bit(gen, bit);
            if (k >= r->read_count && write_kills(f, i, reg[k])) set_bit(kill, bit);
        }
    }
}

static void live_out(const struct flow *f, uint32_t b, uint64_t *out) {
    memset(out, 0, f->words * sizeof *out);
    const struct cfg_block *block = &f->cfg->blocks[b];
    for (uint32_t k = 0; k < block->count; k++) {
        uint32_t s = f->cfg->successors[block->successor + k];
        if (s == f->cfg->count) continue;
        const uint64_t *in = f->in + (size_t)s * f->words;
        for (uint32_t w = 0; w < f->words; w++) out[w] |= in[w];
    }
}

static void solve(struct flow *f, struct arena *arena, uint64_t *out) {
    size_t room = (size_t)f->cfg->count * f->words + 1;
    f->in = arena_alloc(arena, room, sizeof *f->in);
    f->gen = arena_alloc(arena, room, sizeof *f->gen);
    f->kill = arena_alloc(arena, room, sizeof *f->kill);
    for (uint32_t b = 0; b < f->cfg->count; b++) block_sets(f, b);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = f->cfg->count; b-- > 0;) {
            live_out(f, b, out);
            uint64_t *in = f->in + (size_t)b * f->words, *gen = f->gen + (size_t)b * f->words;
            const uint64_t *kill = f->kill + (size_t)b * f->words;
            for (uint32_t w = 0; w < f->words; w++) {
                uint64_t fresh = gen[w] | (out[w] & ~kill[w]);
                changed |= fresh != in[w];
                in[w] = fresh;
            }
        }
    }
}

static void range_extend(struct flow *f, uint32_t reg, uint32_t op) {
    if (op < f->from[reg]) f->from[reg] = op;
    if (op > f->to[reg] || f->to[reg] == UINT32_MAX) f->to[reg] = op;
}

/* Walks a block backward, starting with the registers live at its end. */
static void walk(struct flow *f, uint32_t b, const uint64_t *out, struct liveness *liveness) {
    const struct cfg_block *block = &f->cfg->blocks[b];
    uint32_t units = 0;
    for (uint32_t bit = 0; bit < f->bits; bit++) {
        if (!(bit % 64) && !out[bit / 64]) {
            bit += 63;
            continue;
        }
        if (!has_bit(out, bit)) continue;
        f->live[f->reg[bit]] = 1;
        units += units_of(f, f->reg[bit]);
        range_extend(f, f->reg[bit], block->end - 1);
    }
    for (uint32_t i = block->end; i-- > block->first;) {
        const struct op_registers *r = &f->registers[i];
        const uint32_t *read = f->pool + r->first, *write = read + r->read_count;
        uint32_t written = 0;
        for (uint32_t k = 0; k < r->write_count; k++) {
            range_extend(f, write[k], i);
            if (!f->live[write[k]]) written += units_of(f, write[k]); /* never read, but it occupies a register */
        }
        if (units + written > liveness->units) liveness->units = units + written;
        for (uint32_t k = 0; k < r->write_count; k++)
            if (f->live[write[k]] && write_kills(f, i, write[k])) f->live[write[k]] = 0, units -= units_of(f, write[k]);
        uint8_t operation = f->l->function->ops[i].operation;
        if (operation == OPERATION_call || operation == OPERATION_call_indirect)
            liveness->calls[liveness->call_count++] = (struct call_site){i, units};
        for (uint32_t k = 0; k < r->read_count; k++) {
            range_extend(f, read[k], i);
            if (!f->live[read[k]]) f->live[read[k]] = 1, units += units_of(f, read[k]);
        }
        if (units > liveness->units) liveness->units = units;
    }
    const uint64_t *in = f->in + (size_t)b * f->words;
    for (uint32_t bit = 0; bit < f->bits; bit++) {
        f->live[f->reg[bit]] = 0;
        if (has_bit(in, bit)) range_extend(f, f->reg[bit], block->first);
    }
    for (uint32_t i = block->first; i < block->end; i++) /* ranges started by a guarded write only have no end */
        for (uint32_t k = 0; k < f->registers[i].read_count + f->registers[i].write_count; k++)
            f->live[f->pool[f->registers[i].first + k]] = 0;
}

/* ---- register numbers ---- */

/* Free numbers, least recently freed first. */
struct free_numbers {
    uint8_t ring[STREAM_REGISTERS];
    unsigned first, count;
};

static uint8_t number_take(struct free_numbers *f, uint32_t *shared) {
    if (!f->count) return (uint8_t)(1 + (*shared)++ % (STREAM_REGISTERS - 1));
    uint8_t number = f->ring[f->first++ % STREAM_REGISTERS];
    f->count--;
    return number;
}

static void number_give(struct free_numbers *f, uint8_t number) {
    f->ring[(f->first + f->count++) % STREAM_REGISTERS] = number;
}

/* Registers bucketed by the operation at which their range starts, or ends. */
static uint32_t *lists_by(struct arena *arena, uint32_t ops, uint32_t registers, const uint32_t *at, uint32_t *next) {
    uint32_t *head = arena_alloc(arena, ops + 1, sizeof *head);
    for (uint32_t r = registers; r-- > 0;)
        if (at[r] != UINT32_MAX) next[r] = head[at[r]], head[at[r]] = r + 1;
    return head;
}

/* A record names INSTR_DSTS destinations. Registers beyond them that an operation writes share the numbers of its first
 * ones, so that readers of any of them wait for it. Returns a register with the same number for each, and joins their
 * ranges there. */
static uint32_t leader_of(const uint32_t *leader, uint32_t reg) {
    while (leader[reg] != reg) reg = leader[reg];
    return reg;
}

static const uint32_t *leaders_find(struct arena *arena, struct flow *f) {
    uint32_t count = f->l->source->register_count;
    uint32_t *leader = arena_alloc(arena, count + 1, sizeof *leader);
    for (uint32_t r = 0; r < count; r++) leader[r] = r;
    for (uint32_t i = 0; i < f->l->function->op_count; i++) {
        const uint32_t *write = f->pool + f->registers[i].first + f->registers[i].read_count;
        for (uint32_t k = INSTR_DSTS; k < f->registers[i].write_count; k++)
            leader[leader_of(leader, write[k])] = leader_of(leader, write[k % INSTR_DSTS]);
    }
    for (uint32_t r = 0; r < count; r++) {
        uint32_t first = leader_of(leader, r);
        if (first == r || f->from[r] == UINT32_MAX) continue;
        range_extend(f, first, f->from[r]);
        range_extend(f, first, f->to[r]);
        f->from[r] = f->to[r] = UINT32_MAX;
    }
    return leader;
}

static void number_ranges(struct arena *arena, const struct flow *f, struct liveness *liveness) {
    uint32_t ops = f->l->function->op_count, registers = f->l->source->register_count, shared = 0;
    uint32_t *next_from = arena_alloc(arena, registers + 1, sizeof *next_from);
    uint32_t *next_to = arena_alloc(arena, registers + 1, sizeof *next_to);
    uint8_t *owner = arena_alloc(arena, registers + 1, 1); /* does not share its number */
    uint32_t *begins = lists_by(arena, ops, registers, f->from, next_from);
    uint32_t *ends = lists_by(arena, ops, registers, f->to, next_to);
    struct free_numbers numbers = {.count = 0};
    for (unsigned n = 1; n < STREAM_REGISTERS; n++) number_give(&numbers, (uint8_t)n);
    for (uint32_t i = 0; i < ops; i++) {
        for (uint32_t r = begins[i]; r; r = next_from[r - 1]) {
            owner[r - 1] = numbers.count != 0;
            liveness->number[r - 1] = number_take(&numbers, &shared);
        }
        for (uint32_t r = ends[i]; r; r = next_to[r - 1])
            if (owner[r - 1]) number_give(&numbers, liveness->number[r - 1]);
    }
}

struct liveness *liveness_create(struct arena *arena, const struct lowering *l, const struct cfg *cfg) {
    struct liveness *liveness = arena_alloc(arena, 1, sizeof *liveness);
    uint32_t count = l->source->register_count;
    struct flow f = {.l = l, .cfg = cfg, .registers = l->registers.items, .pool = l->pool.items};
    liveness->number = arena_alloc(arena, count + 1, 1);
    liveness->calls = arena_alloc(arena, l->function->call_count + 1, sizeof *liveness->calls);
    f.live = arena_alloc(arena, count + 1, 1);
    f.from = arena_alloc(arena, count + 1, sizeof *f.from);
    f.to = arena_alloc(arena, count + 1, sizeof *f.to);
    memset(f.from, 0xFF, (count + 1) * sizeof *f.from);
    memset(f.to, 0xFF, (count + 1) * sizeof *f.to);
    find_global(&f, arena);
    uint64_t *out = arena_alloc(arena, f.words + 1, sizeof *out);
    solve(&f, arena, out);
    for (uint32_t b = 0; b < cfg->count; b++) {
        live_out(&f, b, out);
        walk(&f, b, out, liveness);
    }
    const uint32_t *leader = leaders_find(arena, &f);
    number_ranges(arena, &f, liveness);
    for (uint32_t r = 0; r < count; r++) liveness->number[r] = liveness->number[leader_of(leader, r)];
    return liveness;
}
