/* The device: memory and loaded modules. Loading a module resolves the handler of each operation once. */
#include "emu/cta.h"

#include <stdlib.h>
#include <string.h>

enum {
    INDEPENDENT_TARGET = 70, /* sm_70 and later have independent thread scheduling */
    YIELDING_TARGET = 50,    /* loops that poll yield (poll.c) */
};

void device_init(struct device *device) {
    *device = (struct device){.heap_bytes = UINT64_C(8) << 20, .livelock_instructions = 250 * 1000 * 1000};
    memory_init(&device->memory);
}

void device_release(struct device *device) {
    textures_release(&device->textures);
    memory_release(&device->memory);
}

/* A loop can wait for other threads if it calls a function or executes an atomic, a load that is not weak, or a fence
 * that makes weak loads see the stores of others. */
static bool may_poll(const struct program_function *function, uint32_t first, uint32_t last) {
    for (uint32_t i = first; i <= last; i++) {
        const struct op *op = &function->ops[i];
        switch (op->operation) {
        case OPERATION_atom:
        case OPERATION_fence:
        case OPERATION_call:
        case OPERATION_call_indirect: return true;
        case OPERATION_ld:
            if (op->cache == CACHE_VOLATILE) return true;
            break;
        default: break;
        }
    }
    return false;
}

/* Whether the operation waits for the other lanes of a mask. */
static bool is_meeting(const struct op *op) {
    switch (op->operation) {
    case OPERATION_shfl:
    case OPERATION_vote: return op->modifiers & MOD_SYNC;
    case OPERATION_match:
    case OPERATION_redux:
    case OPERATION_elect:
    case OPERATION_warp_sync: return true;
    default: return false;
    }
}

static enum step_kind step_kind(const struct op *op) {
    static const uint8_t kinds[OPERATION_COUNT] = {
        [OPERATION_ld] = STEP_ACCESS,
        [OPERATION_st] = STEP_ACCESS,
        [OPERATION_atom] = STEP_ACCESS,
        [OPERATION_red] = STEP_ACCESS,
        [OPERATION_tex] = STEP_ACCESS,
        [OPERATION_tld4] = STEP_ACCESS,
        [OPERATION_suld] = STEP_ACCESS,
        [OPERATION_sust] = STEP_ACCESS,
        [OPERATION_txq] = STEP_ACCESS,
        [OPERATION_suq] = STEP_ACCESS,
        [OPERATION_alloca] = STEP_ACCESS,
        [OPERATION_trap] = STEP_ACCESS,
        [OPERATION_bra] = STEP_BRANCH,
        [OPERATION_brx] = STEP_TABLE_BRANCH,
        [OPERATION_call] = STEP_CALL,
        [OPERATION_call_indirect] = STEP_CALL_INDIRECT,
        [OPERATION_ret] = STEP_RETURN,
        [OPERATION_exit] = STEP_EXIT,
        [OPERATION_bar_sync] = STEP_BARRIER,
        [OPERATION_bar_arrive] = STEP_BARRIER,
        [OPERATION_bar_red] = STEP_BARRIER,
        [OPERATION_nanosleep] = STEP_YIELD,
        [OPERATION_mma] = STEP_ACCESS,
        [OPERATION_movmatrix] = STEP_ACCESS,
        [OPERATION_wmma_load] = STEP_ACCESS,
        [OPERATION_wmma_store] = STEP_ACCESS,
        [OPERATION_ldmatrix] = STEP_ACCESS,
        [OPERATION_stmatrix] = STEP_ACCESS,
        [OPERATION_cluster_arrive] = STEP_BARRIER,
        [OPERATION_cluster_wait] = STEP_BARRIER,
        [OPERATION_mapa] = STEP_ACCESS,
        [OPERATION_copy] = STEP_ASYNC,
        [OPERATION_copy_arrive] = STEP_ASYNC,
        [OPERATION_bulk_load] = STEP_ASYNC,
        [OPERATION_bulk_store] = STEP_ASYNC,
        [OPERATION_bulk_send] = STEP_ASYNC,
        [OPERATION_copy_wait] = STEP_ASYNC,
        [OPERATION_mbarrier_init] = STEP_ASYNC,
        [OPERATION_mbarrier_inval] = STEP_ASYNC,
        [OPERATION_mbarrier_arrive] = STEP_ASYNC,
        [OPERATION_mbarrier_tx] = STEP_ASYNC,
        [OPERATION_mbarrier_wait] = STEP_ASYNC,
    };
    return kinds[op->operation];
}

static op_handler *handler_find(const struct op *op) {
    op_handler *handler = access_handler_find(op);
    if (!handler) handler = texture_handler_find(op);
    if (!handler) handler = copy_handler_find(op);
    if (!handler) handler = mbarrier_handler_find(op);
    if (!handler) handler = collective_handler_find(op);
    if (!handler) handler = matrix_handler_find(op);
    if (!handler) handler = cluster_handler_find(op);
    return handler ? handler : op_handler_find(op);
}

/* A special register that changes is not straight: it may be the number of executed instructions. */
static void straight_find(struct function_code *code) {
    for (uint32_t i = code->function->op_count; i-- > 0;) {
        const struct op *op = &code->function->ops[i];
        struct step *step = &code->steps[i];
        bool plain = step->kind == STEP_PLAIN && !op->guard && op->operation != OPERATION_special;
        step->straight = plain ? step[1].straight + 1 : 0;
    }
}

static void link_function(const struct loaded_module *loaded, uint32_t index, struct function_code *code) {
    const struct program_function *function = code->function;
    code->steps = mem_alloc((size_t)function->op_count + 1, sizeof *code->steps);
    for (uint32_t i = 0; i < function->op_count; i++) {
        const struct op *op = &function->ops[i];
        struct step *step = &code->steps[i];
        step->kind = step_kind(op);
        if (loaded->yields && step->kind == STEP_BRANCH && op->target <= i && may_poll(function, op->target, i))
            step->kind = STEP_LOOP;
        if (loaded->independent && step->kind == STEP_PLAIN && is_meeting(op)) step->kind = STEP_MEET;
        if (loaded->independent && step->kind == STEP_ACCESS && op_is_aligned(op)) step->kind = STEP_ALIGNED;
        if (step->kind > STEP_ACCESS && step->kind != STEP_MEET && step->kind != STEP_ALIGNED &&
            step->kind != STEP_ASYNC)
            continue;
        step->handler = handler_find(op);
        if (step->handler) continue;
        struct error why = {0};
        ptx_error(loaded->module, loaded->module->functions[index].instrs[op->instr].place, &why,
                  "this form of the instruction is not supported");
        program_refuse(loaded->program, index, &why);
    }
    code->steps[function->op_count].kind = STEP_END;
    straight_find(code);
}

static void link_module(struct loaded_module *loaded) {
    const struct program *program = loaded->program;
    loaded->codes = mem_alloc(program->function_count ? program->function_count : 1, sizeof *loaded->codes);
    for (uint32_t i = 0; i < program->function_count; i++) {
        loaded->codes[i].function = &program->functions[i];
        link_function(loaded, i, &loaded->codes[i]);
    }
    for (uint32_t i = 0; i < program->record_count; i++)
        loaded->promises |= program->records[i].op == OP_load && (program->records[i].flags & INSTR_READ_ONLY);
}

static void loaded_free(struct loaded_module *loaded) {
    if (loaded->codes)
        for (uint32_t i = 0; i < loaded->program->function_count; i++) free(loaded->codes[i].steps);
    free(loaded->codes);
    if (loaded->program) program_destroy(loaded->program);
    ptx_module_destroy(loaded->module);
    free(loaded);
}

/* 75 of sm_75. */
static unsigned long target_number(const struct ptx_module *module) {
    return strncmp(module->target, "sm_", 3) ? 0 : strtoul(module->target + 3, NULL, 10);
}

struct loaded_module *device_load_at(struct device *device, struct ptx_module *module, const struct image_place *place,
                                     struct error *err) {
    struct loaded_module *loaded = mem_alloc(1, sizeof *loaded);
    loaded->module = module;
    loaded->independent = target_number(module) >= INDEPENDENT_TARGET;
    loaded->yields = target_number(module) >= YIELDING_TARGET;
    uint64_t address = place ? place->address : div_up(device->memory.next, MEMORY_ALIGN_BYTES) * MEMORY_ALIGN_BYTES;
    loaded->program = program_create(module, address, err);
    if (!loaded->program) {
        loaded_free(loaded);
        return NULL;
    }
    link_module(loaded);
    const struct program *program = loaded->program;
    if (!program->image_bytes) return loaded;
    bool placed = place ? memory_share(&device->memory, address, program->image_bytes, place->file, place->offset)
                        : memory_allocate(&device->memory, program->image_bytes) == address;
    if (!placed) {
        error_set(err, "%s: cannot allocate %llu bytes for variables", module->file,
                  (unsigned long long)program->image_bytes);
        loaded_free(loaded);
        return NULL;
    }
    memcpy(memory_at(&device->memory, address, program->initial_bytes), program->image, program->initial_bytes);
    return loaded;
}

struct loaded_module *device_load(struct device *device, struct ptx_module *module, struct error *err) {
    return device_load_at(device, module, NULL, err);
}

void device_unload(struct device *device, struct loaded_module *loaded) {
    if (!loaded) return;
    if (loaded->program->image_bytes) memory_free(&device->memory, loaded->program->image_address);
    loaded_free(loaded);
}

const struct program *loaded_program(const struct loaded_module *loaded) { return loaded->program; }
