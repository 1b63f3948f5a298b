/* Reads arbitrary bytes as a module: it is rejected with a located message, or the result is consistent (every index is
 * within its table) and is lowered, function by function, or rejected with a message. Entry point for libFuzzer;
 * tests/ptx/parser_corpus_test.c replays data/fuzz/ptx through it. tools/fuzz runs it. */
#include <stdlib.h>
#include <string.h>

#include "ptx/module.h"
#include "ptx/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) abort();
}

static void operand_holds(const struct ptx_module *module, const struct ptx_function *function,
                          const struct ptx_operand *operand) {
    const uint32_t limits[] = {[PTX_OPERAND_REGISTER] = function->register_count,
                               [PTX_OPERAND_SPECIAL] = SPECIAL_COUNT,
                               [PTX_OPERAND_INTEGER] = 1,
                               [PTX_OPERAND_FLOAT] = 1,
                               [PTX_OPERAND_VARIABLE] = module->variable_count,
                               [PTX_OPERAND_FUNCTION] = module->function_count,
                               [PTX_OPERAND_LABEL] = function->label_count,
                               [PTX_OPERAND_TARGETS] = function->target_count,
                               [PTX_OPERAND_ADDRESS] = 1,
                               [PTX_OPERAND_VECTOR] = 1,
                               [PTX_OPERAND_PAIR] = 1,
                               [PTX_OPERAND_LIST] = 1,
                               [PTX_OPERAND_SINK] = 1};
    must(operand->kind < COUNT_OF(limits) && operand->index < limits[operand->kind]);
    must(operand->first <= function->operand_count && operand->count <= function->operand_count - operand->first);
    must(operand->place.line >= 1 && operand->place.column >= 1 && operand->place.offset < module->text_bytes);
}

static void function_holds(const struct ptx_module *module, const struct ptx_function *function) {
    must(function->name && *function->name);
    for (uint32_t i = 0; i < function->parameter_count; i++) must(function->parameters[i] < module->variable_count);
    for (uint32_t i = 0; i < function->return_count; i++) must(function->returns[i] < module->variable_count);
    for (uint32_t i = 0; i < function->operand_count; i++) operand_holds(module, function, &function->operands[i]);
    for (uint32_t i = 0; i < function->label_count; i++) must(function->labels[i].instr <= function->instr_count);
    for (uint32_t i = 0; i < function->register_count; i++) must(function->registers[i].type < PTX_TYPE_COUNT);
    for (uint32_t i = 0; i < function->instr_count; i++) {
        const struct ptx_instr *instr = &function->instrs[i];
        must(instr->mnemonic < PTX_MN_COUNT && instr->modifier_count <= PTX_MODIFIERS);
        must(!instr->guarded || function->registers[instr->guard].type == PTX_pred);
        must(instr->first <= function->operand_count && instr->count <= function->operand_count - instr->first);
        for (unsigned k = 0; k < instr->modifier_count; k++) must(instr->modifier[k] < PTX_MOD_COUNT);
    }
    for (uint32_t i = 0; i < function->target_count; i++) {
        const struct ptx_targets *targets = &function->targets[i];
        uint32_t limit = targets->kind == PTX_BRANCH_TARGETS ? function->label_count : module->function_count;
        for (uint32_t k = 0; k < targets->count; k++) must(targets->index[k] < limit);
    }
}

static void variable_holds(const struct ptx_module *module, const struct ptx_variable *variable) {
    must(variable->function == PTX_NONE || variable->function < module->function_count);
    must(variable->type < PTX_TYPE_COUNT && variable->space < PTX_SPACE_COUNT);
    must(is_power_of_two(variable->align_bytes) && variable->size_bytes <= UINT64_C(1) << 32);
    if (variable->initial) /* reads all bytes, for the sanitizer */
        must(memchr(variable->initial, 0, variable->size_bytes) || variable->initial[variable->size_bytes - 1]);
    for (uint32_t i = 0; i < variable->relocation_count; i++) {
        const struct ptx_relocation *relocation = &variable->relocations[i];
        must(relocation->bytes >= 1 && relocation->bytes <= 8);
        must(relocation->offset + relocation->bytes <= variable->size_bytes);
        must(relocation->index < (relocation->is_function ? module->function_count : module->variable_count));
    }
}

/* A function has operations, or a located problem, which all its callers have in turn. */
static void problem_holds(const struct program *program, const struct program_function *function) {
    struct error why = {0};
    bool executable = program_executable(program, function, &why);
    must(executable == !why.set && (executable || !strncmp(why.text, "fuzz.ptx:", 9)));
    must(!function->problem || (function->op_count == 0 && !executable));
    for (uint32_t i = 0; i < function->callee_count; i++) {
        must(function->callees[i] < program->function_count);
        if (executable) must(!program->functions[function->callees[i]].problem);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error err = {0};
    struct ptx_module *module = ptx_parse("fuzz.ptx", (const char *)data, size, &err);
    must(!module == err.set);
    if (!module) {
        must(strncmp(err.text, "fuzz.ptx:", 9) == 0 && strchr(err.text, '^'));
        return 0;
    }
    must(!module->warning || !strncmp(module->warning, "fuzz.ptx:", 9));
    for (uint32_t i = 0; i < module->function_count; i++) function_holds(module, &module->functions[i]);
    for (uint32_t i = 0; i < module->variable_count; i++) variable_holds(module, &module->variables[i]);
    struct program *program = program_create(module, UINT64_C(1) << 32, &err);
    must(!program == err.set && (program || *err.text));
    for (uint32_t i = 0; program && i < program->function_count; i++) problem_holds(program, &program->functions[i]);
    program_destroy(program);
    ptx_module_destroy(module);
    return 0;
}
