/* Builds a program from a module: places variables, lowers and analyses functions one by one, numbers their records. A
 * function that cannot be lowered gets a problem (support.c) and no operations. */
#include "ptx/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/cfg.h"
#include "ptx/liveness.h"
#include "ptx/lower.h"
#include "ptx/readonly.h"

static const struct {
    const char *name;
    bool vector, fixed;
} specials[] = {
#define FIXED                       true
#define CHANGING                    false
#define X(name, text, vector, kind) {text, vector, kind},
#include "ptx/specials.def"
#undef X
};
#undef FIXED
#undef CHANGING

uint32_t special_place(enum special special, unsigned component) {
    if ((unsigned)special >= SPECIAL_COUNT || !specials[special].fixed) return PLACE_NONE;
    uint32_t row = 0;
    for (unsigned i = 0; i < (unsigned)special; i++)
        if (specials[i].fixed) row += specials[i].vector ? 3 : 1;
    assert(row + 3 <= SPECIAL_ROWS);
    return place_make(PLACE_SPECIAL, (row + (specials[special].vector ? component : 0)) * 4 * WARP_LANES);
}

/* ---- functions ---- */

static void functions_declare(struct program *program) {
    static const char *const builtins[] = {[BUILTIN_VPRINTF] = "vprintf",
                                           [BUILTIN_MALLOC] = "malloc",
                                           [BUILTIN_FREE] = "free",
                                           [BUILTIN_ASSERTFAIL] = "__assertfail"};
    const struct ptx_module *module = program->module;
    program->function_count = module->function_count;
    program->functions = arena_alloc(program->arena, module->function_count + 1, sizeof *program->functions);
    for (uint32_t f = 0; f < module->function_count; f++) {
        const struct ptx_function *source = &module->functions[f];
        struct program_function *function = &program->functions[f];
        function->name = source->name;
        function->is_kernel = source->is_kernel;
        function->defined = source->has_body;
        function->predicates = 1;
        memcpy(function->max_threads, source->max_threads, sizeof function->max_threads);
        memcpy(function->required_threads, source->required_threads, sizeof function->required_threads);
        memcpy(function->required_cluster, source->required_cluster, sizeof function->required_cluster);
        function->max_cluster_rank = source->max_cluster_rank;
        function->explicit_cluster = source->explicit_cluster;
        for (unsigned b = 1; b < COUNT_OF(builtins) && !source->has_body; b++)
            if (strcmp(source->name, builtins[b]) == 0) function->builtin = (uint8_t)b;
    }
}

/* The records of a function, with the register numbers that each operation reads and writes. A call passes its registers
 * on, and names the first ones. */
static struct instr *records_make(const struct lowering *l, const struct cfg *cfg, const struct liveness *liveness) {
    const struct program_function *f = l->function;
    struct instr *records = arena_alloc(l->arena, f->op_count + 1, sizeof *records);
    const struct op_registers *registers = l->registers.items;
    uint32_t *written = arena_alloc(l->scratch, l->source->register_count + 1, sizeof *written);
    for (uint32_t i = 0; i < f->op_count; i++) {
        record_make(l, &f->ops[i], &records[i]);
        const uint32_t *read = (const uint32_t *)l->pool.items + registers[i].first,
                       *write = read + registers[i].read_count;
        uint32_t reads = registers[i].read_count, chosen[INSTR_SRCS];
        if (reads > INSTR_SRCS && f->ops[i].operation != OPERATION_call) {
            reads = record_sources(read, reads, written, cfg->blocks[cfg->block_of[i]].first, chosen);
            read = chosen;
        }
        for (uint32_t k = 0; k < reads && k < INSTR_SRCS; k++) records[i].src[k] = liveness->number[read[k]];
        for (uint32_t k = 0; k < registers[i].write_count; k++) {
            if (k < INSTR_DSTS) records[i].dst[k] = liveness->number[write[k]];
            written[write[k]] = i + 1;
        }
    }
    return records;
}

/* Register need of a function: its own registers and, at each call, those of the callees. */
struct need {
    uint32_t units, call_count;
    struct call_site *calls;
};

static bool function_make(struct program *program, const struct forms *forms, struct layout *layout, uint32_t f,
                          struct need *need, struct error *err) {
    struct lowering l = {.module = program->module,
                         .program = program,
                         .forms = forms,
                         .layout = layout,
                         .arena = program->arena,
                         .scratch = arena_create(),
                         .err = err,
                         .index = f,
                         .source = &program->module->functions[f],
                         .function = &program->functions[f]};
    l.pool = (struct list){.items = arena_alloc(l.scratch, 16, sizeof(uint32_t)),
                           .room = 16}; /* so that an empty span has a valid pointer */
    layout_enter(program, layout, f);
    bool good = lower_function(&l);
    if (good) {
        struct cfg *cfg = cfg_create(l.scratch, l.function);
        cfg_reconverge(cfg, l.function);
        const struct liveness *liveness = liveness_create(l.scratch, &l, cfg);
        l.function->records = records_make(&l, cfg, liveness);
        need->units = liveness->units;
        need->call_count = liveness->call_count;
        need->calls = arena_grow(program->arena, liveness->calls, liveness->call_count, liveness->call_count + 1,
                                 sizeof *need->calls);
    }
    arena_destroy(l.scratch);
    return good;
}

/* ---- registers ---- */

/* Registers of ptxas kernels beyond the live values: R1, which always holds the top of the stack, and about one more
 * for pairs that must start at an even number. */
enum { ABI_REGISTERS = 2 };

static uint32_t callee_registers(const struct program *program, const struct layout *layout, const struct op *call) {
    if (call->operation == OPERATION_call) return program->functions[call->target].registers;
    uint32_t most = 0;
    for (uint32_t g = 0; g < program->function_count; g++)
        if (layout->address_taken[g] && program->functions[g].registers > most) most = program->functions[g].registers;
    return most;
}

/* Callees before callers; a function already in progress (recursion) counts as zero. */
static void registers_count(struct program *program, const struct layout *layout, const struct need *needs) {
    uint32_t count = program->function_count, depth = 0;
    uint8_t *seen = mem_alloc(count + 1, 1);
    uint32_t *stack = mem_alloc(count + 1, sizeof *stack), *next = mem_alloc(count + 1, sizeof *next);
    for (uint32_t root = 0; root < count; root++) {
        if (seen[root]) continue;
        for (seen[root] = 1, stack[depth++] = root; depth;) {
            uint32_t f = stack[depth - 1];
            if (next[f] < layout->callees[f].count) {
                uint32_t g = ((const uint32_t *)layout->callees[f].items)[next[f]++];
                if (!seen[g]) seen[g] = 1, stack[depth++] = g;
                continue;
            }
            uint32_t most = needs[f].units;
            for (uint32_t i = 0; i < needs[f].call_count; i++) {
                const struct op *call = &program->functions[f].ops[needs[f].calls[i].op];
                most = (uint32_t)max_u64(most, needs[f].calls[i].units + callee_registers(program, layout, call));
            }
            program->functions[f].registers = most + (program->functions[f].is_kernel ? ABI_REGISTERS : 0);
            depth--;
        }
    }
    free(next);
    free(stack);
    free(seen);
}

/* ---- the program ---- */

static void records_join(struct program *program) {
    for (uint32_t f = 0; f < program->function_count; f++) {
        program->functions[f].first_id = program->record_count;
        program->record_count += program->functions[f].op_count;
    }
    program->records = arena_alloc(program->arena, program->record_count + 1, sizeof *program->records);
    for (uint32_t f = 0; f < program->function_count; f++) {
        struct program_function *function = &program->functions[f];
        struct instr *to = program->records + function->first_id;
        for (uint32_t i = 0; i < function->op_count; i++) {
            to[i] = function->records[i];
            to[i].id = function->first_id + i;
        }
        function->records = to;
    }
}

/* Marks the loads of data that no kernel reaching them writes. A kernel that cannot be executed writes nothing. */
static void records_mark(struct program *program) {
    bool *executable = mem_alloc(program->function_count + 1, sizeof *executable);
    for (uint32_t f = 0; f < program->function_count; f++)
        executable[f] = program->functions[f].defined && program_executable(program, &program->functions[f], NULL);
    program->readonly = readonly_create(program->arena, program->module, executable);
    free(executable);
    for (uint32_t f = 0; f < program->function_count; f++) {
        const struct program_function *function = &program->functions[f];
        const uint8_t *marked = program->readonly->marked[f];
        for (uint32_t i = 0; marked && i < function->op_count; i++) {
            bool load = function->ops[i].operation == OPERATION_ld || function->ops[i].operation == OPERATION_suld ||
                        function->ops[i].operation == OPERATION_wmma_load ||
                        function->ops[i].operation == OPERATION_copy ||
                        function->ops[i].operation == OPERATION_bulk_load;
            if (load && marked[function->ops[i].instr])
                program->records[function->first_id + i].flags |= INSTR_READ_ONLY;
        }
    }
}

/* The functions that each one may call: those it names, and for an indirect call all whose address is taken. */
static void callees_keep(struct program *program, const struct layout *layout) {
    for (uint32_t f = 0; f < program->function_count; f++) {
        const struct list *list = &layout->callees[f];
        program->functions[f].callee_count = list->count;
        program->functions[f].callees =
            arena_grow(program->arena, list->items, list->count, list->count + 1, sizeof(uint32_t));
    }
}

static bool program_build(struct program *program, struct arena *scratch, struct error *err) {
    const struct forms *forms = forms_create(scratch);
    functions_declare(program);
    struct layout layout;
    if (!layout_create(program, scratch, &layout, err)) return false;
    callees_keep(program, &layout);
    struct need *needs = arena_alloc(scratch, program->function_count + 1, sizeof *needs);
    for (uint32_t f = 0; f < program->function_count; f++) {
        struct error why = {0};
        if (!program->functions[f].defined || program->functions[f].problem) continue;
        if (!support_check(forms, program->module, f, &why) ||
            !function_make(program, forms, &layout, f, &needs[f], &why))
            program_refuse(program, f, &why);
    }
    registers_count(program, &layout, needs);
    records_join(program);
    records_mark(program);
    return true;
}

struct program *program_create(const struct ptx_module *module, uint64_t image_address, struct error *err) {
    struct arena *arena = arena_create(), *scratch = arena_create();
    struct program *program = arena_alloc(arena, 1, sizeof *program);
    program->module = module;
    program->arena = arena;
    program->image_address = image_address;
    bool good = program_build(program, scratch, err);
    arena_destroy(scratch);
    if (good) return program;
    program_destroy(program);
    return NULL;
}

void program_destroy(struct program *program) {
    if (program) arena_destroy(program->arena);
}

const struct program_function *program_kernel(const struct program *program, const char *name) {
    for (uint32_t f = 0; f < program->function_count; f++)
        if (program->functions[f].is_kernel && program->functions[f].defined &&
            strcmp(program->functions[f].name, name) == 0)
            return &program->functions[f];
    return NULL;
}

bool program_parameter(const struct program *program, const struct program_function *kernel, unsigned i,
                       struct program_parameter *parameter) {
    const struct ptx_function *source = &program->module->functions[kernel - program->functions];
    if (i >= source->parameter_count) return false;
    uint64_t offset = 0;
    for (unsigned k = 0;; k++) {
        const struct ptx_variable *variable = &program->module->variables[source->parameters[k]];
        offset = layout_next(offset, variable->align_bytes);
        if (k == i) {
            *parameter = (struct program_parameter){variable->name, variable->type, (uint32_t)offset,
                                                    (uint32_t)variable->size_bytes, variable->align_bytes};
            return true;
        }
        offset += variable->size_bytes;
    }
}
