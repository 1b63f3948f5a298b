/* `sluice ptx`: contents and resource needs of a PTX module, and whether it can be executed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/output.h"
#include "cli/command.h"
#include "ptx/program.h"
#include "ptx/readonly.h"

struct ptx_values {
    const char *json, *rewrite;
    bool read_only;
};

static const struct option options[] = {
    {"--json", "FILE", OPTION_TEXT, offsetof(struct ptx_values, json),
     "write the description as JSON (`-`: standard output)"},
    {"--read-only", NULL, OPTION_FLAG, offsetof(struct ptx_values, read_only),
     "list the global data structures of each kernel instead: whether the kernel only reads them, and why"},
    {"--rewrite", "FILE", OPTION_TEXT, offsetof(struct ptx_values, rewrite),
     "write the module with `ld.global.ro` for loads of read-only data"},
};

/* Address of the module's first variable. */
#define IMAGE_ADDRESS UINT64_C(0xC0000000)

struct unsupported {
    const char *function;
    uint32_t line;
    char text[128];
};

/* The data to print. */
struct inspection {
    const struct ptx_module *module;
    const struct program *program;
    struct unsupported *unsupported;
    unsigned unsupported_count;
};

static void unsupported_add(void *user, const struct ptx_function *function, const struct ptx_instr *instr,
                            const char *text) {
    struct inspection *inspection = user;
    unsigned count = inspection->unsupported_count++;
    inspection->unsupported = mem_grow(inspection->unsupported, count + 1, sizeof *inspection->unsupported);
    struct unsupported *fresh = &inspection->unsupported[count];
    *fresh = (struct unsupported){.function = function->name, .line = instr->place.line};
    snprintf(fresh->text, sizeof fresh->text, "%s", text);
}

static uint32_t branch_count(const struct program_function *function) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < function->op_count; i++)
        count += function->ops[i].operation == OPERATION_bra || function->ops[i].operation == OPERATION_brx;
    return count;
}

static const char *const space_names[PTX_SPACE_COUNT] = {[PTX_SPACE_GLOBAL] = "global", [PTX_SPACE_CONST] = "const"};

/* ---- as text ---- */

static void function_print(const struct program *program, const struct program_function *f, FILE *out) {
    struct error why = {0};
    if (!program_executable(program, f, &why)) {
        fprintf(out, "%s %s: cannot be executed: %.*s\n", f->is_kernel ? "kernel" : "function", f->name,
                (int)strcspn(why.text, "\n"), why.text);
        return;
    }
    fprintf(out,
            "%s %s: %" PRIu32 " register%s, %" PRIu32 " bytes of shared memory, %" PRIu32 " local, %" PRIu32
            " instructions, %" PRIu32 " branches\n",
            f->is_kernel ? "kernel" : "function", f->name, f->registers, f->registers == 1 ? "" : "s", f->shared_bytes,
            f->frame_bytes, f->op_count, branch_count(f));
    struct program_parameter parameter;
    for (unsigned i = 0; f->is_kernel && program_parameter(program, f, i, &parameter); i++)
        fprintf(out, "  %-40s offset %4" PRIu32 ", %" PRIu32 " bytes\n", parameter.name, parameter.offset,
                parameter.size_bytes);
}

static void inspection_print(FILE *out, const void *what) {
    const struct inspection *inspection = what;
    const struct ptx_module *module = inspection->module;
    fprintf(out, "%s: PTX %u.%u for %s, %u-bit addresses\n", module->file, module->version_major, module->version_minor,
            module->target, module->address_bits);
    for (unsigned i = 0; i < inspection->unsupported_count; i++)
        fprintf(out, "unsupported: line %" PRIu32 ": %s in %s\n", inspection->unsupported[i].line,
                inspection->unsupported[i].text, inspection->unsupported[i].function);
    const struct program *program = inspection->program;
    for (uint32_t f = 0; f < program->function_count; f++)
        if (program->functions[f].defined) function_print(program, &program->functions[f], out);
    for (uint32_t v = 0; v < program->variable_count; v++)
        fprintf(out, "variable %s: %s, %" PRIu64 " bytes\n", program->variables[v].name,
                space_names[program->variables[v].space], program->variables[v].size_bytes);
}

static void readonly_print(FILE *out, const void *what) {
    const struct inspection *inspection = what;
    const struct ptx_module *module = inspection->module;
    const struct readonly *readonly = inspection->program->readonly;
    for (uint32_t k = 0; k < readonly->kernel_count; k++) {
        const struct readonly_kernel *kernel = &readonly->kernels[k];
        fprintf(out, "kernel %s: %" PRIu32 " data structure%s\n", module->functions[kernel->function].name,
                kernel->structure_count, kernel->structure_count == 1 ? "" : "s");
        for (uint32_t i = 0; i < kernel->structure_count; i++) {
            const struct readonly_structure *structure = &kernel->structures[i];
            char name[160], why[256];
            fprintf(out, "  %-40s %-10s  %s\n", readonly_name(module, structure, name, sizeof name),
                    structure->verdict == READONLY ? "read-only" : "read-write",
                    readonly_why(module, structure, why, sizeof why));
        }
    }
}

static void rewrite_print(FILE *out, const void *what) {
    const struct inspection *inspection = what;
    readonly_rewrite(inspection->module, inspection->program->readonly, out);
}

/* ---- as JSON ---- */

static void structures_json(struct json *json, const struct program *program, const struct program_function *f) {
    const struct readonly *readonly = program->readonly;
    json_key(json, "structures");
    json_array(json);
    for (uint32_t k = 0; k < readonly->kernel_count; k++) {
        const struct readonly_kernel *kernel = &readonly->kernels[k];
        for (uint32_t i = 0; &program->functions[kernel->function] == f && i < kernel->structure_count; i++) {
            char name[160], why[256];
            json_object_compact(json);
            json_put_text(json, "name", readonly_name(program->module, &kernel->structures[i], name, sizeof name));
            json_put_bool(json, "read_only", kernel->structures[i].verdict == READONLY);
            json_put_text(json, "why", readonly_why(program->module, &kernel->structures[i], why, sizeof why));
            json_end(json);
        }
    }
    json_end(json);
}

static void function_json(struct json *json, const struct program *program, const struct program_function *f) {
    json_object(json);
    json_put_text(json, "name", f->name);
    json_put_bool(json, "kernel", f->is_kernel);
    struct error why = {0};
    json_put_bool(json, "executable", program_executable(program, f, &why));
    if (why.set) json_put_text(json, "problem", why.text);
    json_put_unsigned(json, "registers", f->registers);
    json_put_unsigned(json, "shared_bytes", f->shared_bytes);
    json_put_unsigned(json, "local_bytes", f->frame_bytes);
    json_put_unsigned(json, "instructions", f->op_count);
    json_put_unsigned(json, "branches", branch_count(f));
    json_key(json, "parameters");
    json_array(json);
    struct program_parameter parameter;
    for (unsigned i = 0; f->is_kernel && program_parameter(program, f, i, &parameter); i++) {
        json_object_compact(json);
        json_put_text(json, "name", parameter.name);
        json_put_unsigned(json, "offset", parameter.offset);
        json_put_unsigned(json, "bytes", parameter.size_bytes);
        json_end(json);
    }
    json_end(json);
    structures_json(json, program, f);
    json_end(json);
}

static void variable_json(struct json *json, const struct program_variable *variable) {
    json_object_compact(json);
    json_put_text(json, "name", variable->name);
    json_put_text(json, "space", space_names[variable->space]);
    json_put_unsigned(json, "bytes", variable->size_bytes);
    json_end(json);
}

static void unsupported_json(struct json *json, const struct unsupported *unsupported) {
    json_object_compact(json);
    json_put_text(json, "instruction", unsupported->text);
    json_put_unsigned(json, "line", unsupported->line);
    json_put_text(json, "function", unsupported->function);
    json_end(json);
}

static void inspection_json(FILE *out, const void *what) {
    const struct inspection *inspection = what;
    const struct program *program = inspection->program;
    char version[32];
    snprintf(version, sizeof version, "%u.%u", inspection->module->version_major, inspection->module->version_minor);
    struct json json;
    json_start(&json, out);
    json_object(&json);
    json_put_text(&json, "file", inspection->module->file);
    json_put_text(&json, "version", version);
    json_put_text(&json, "target", inspection->module->target);
    json_put_unsigned(&json, "address_bits", inspection->module->address_bits);
    json_key(&json, "functions");
    json_array(&json);
    for (uint32_t f = 0; f < program->function_count; f++)
        if (program->functions[f].defined) function_json(&json, program, &program->functions[f]);
    json_end(&json);
    json_key(&json, "variables");
    json_array(&json);
    for (uint32_t v = 0; v < program->variable_count; v++) variable_json(&json, &program->variables[v]);
    json_end(&json);
    json_key(&json, "unsupported");
    json_array(&json);
    for (unsigned i = 0; i < inspection->unsupported_count; i++) unsupported_json(&json, &inspection->unsupported[i]);
    json_end(&json);
    json_end(&json);
    json_finish(&json);
}

/* ---- the command ---- */

static bool is_stdout(const char *path) { return path && strcmp(path, "-") == 0; }

static bool inspection_show(const struct inspection *inspection, const struct ptx_values *values, struct error *err) {
    if (!is_stdout(values->json) && !is_stdout(values->rewrite))
        (values->read_only ? readonly_print : inspection_print)(stdout, inspection);
    if (values->rewrite && !output_write(values->rewrite, rewrite_print, inspection, err)) return false;
    return !values->json || output_write(values->json, inspection_json, inspection, err);
}

/* Reports the kernels that cannot be executed; false if there are any. */
static bool kernels_complain(const struct program *program) {
    bool good = true;
    for (uint32_t f = 0; f < program->function_count; f++) {
        struct error why = {0};
        const struct program_function *function = &program->functions[f];
        if (!function->is_kernel || !function->defined || program_executable(program, function, &why)) continue;
        complain_error(&why);
        good = false;
    }
    return good;
}

static enum status inspect(const struct ptx_module *module, const struct ptx_values *values) {
    struct error err = {0}, shown = {0};
    struct inspection inspection = {.module = module};
    program_unsupported(module, unsupported_add, &inspection);
    struct program *program = program_create(module, IMAGE_ADDRESS, &err);
    inspection.program = program;
    enum status status = STATUS_DONE;
    struct ptx_values shown_values = *values;
    if (program && !kernels_complain(program)) {
        status = STATUS_BAD_INPUT;
        shown_values.rewrite = NULL; /* a kernel that was not analysed may write what others only read */
    }
    if (!program)
        status = complain_error(&err);
    else if (!inspection_show(&inspection, &shown_values, &shown))
        status = complain_error(&shown);
    program_destroy(program);
    free(inspection.unsupported);
    return status;
}

static enum status ptx(const struct command *command, int argc, char **argv) {
    struct ptx_values values = {0};
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (arguments.count != 1) return complain(command, "one PTX file expected: sluice ptx FILE");
    if (is_stdout(values.json) && is_stdout(values.rewrite))
        return complain(command, "JSON and PTX cannot both be written to standard output");
    struct error err = {0};
    struct ptx_module *module = ptx_parse_file(arguments.word[0], &err);
    if (!module) return complain_error(&err);
    if (module->warning) complain(NULL, "warning: %s", module->warning);
    enum status status = inspect(module, &values);
    ptx_module_destroy(module);
    return status;
}

static const char *const details[] = {
    "Parses and checks a PTX module and lists its kernels with registers per thread (the maximum number of live"
    " values), static shared and local memory, and parameters with their offsets in the parameter block; its device"
    " functions; its variables.",
    "Unsupported instructions are all listed. A kernel can be executed if it has none and calls no function that has any;"
    " the others are listed with the reason, and the exit status is then 2. Runs need only the kernels that they launch.",
    "With `--read-only`, the data that each pointer parameter of a kernel refers to, and each global variable that it"
    " uses, is `read-only` if no instruction of the kernel can write it. Otherwise it is `read-write`, listed with the"
    " instruction and line that can. A pointer that is loaded from memory, or computed other than by additions, cannot be"
    " traced: a store through it makes everything read-write. The analysis does not detect that two parameters point to the same memory; a run reports it when it"
    " happens.",
    "`--rewrite` writes `ld.global.ro`, a PTX extension: it loads the same value as `ld.global` and asserts that the"
    " kernel does not write the location. Nothing is written if a kernel cannot be executed, since it is not analysed. Runs do not need a rewritten module: the same analysis marks loads when a"
    " module is loaded.",
    NULL,
};

static const struct example examples[] = {
    {"sluice ptx data/reference/ptx/variants.ptx", "describe a module"},
    {"sluice ptx --read-only workloads/bfs/bfs.ptx", "list the data that its kernels only read"},
};

const struct command command_ptx = {
    .name = "ptx",
    .synopsis = "ptx FILE [OPTIONS]",
    .summary = "checks a PTX module and describes it",
    .details = details,
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .examples = examples,
    .example_count = sizeof examples / sizeof examples[0],
    .run = ptx,
};
