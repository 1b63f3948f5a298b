/* `sluice cuda` compiles CUDA C++ to PTX, with nvcc or with clang and Sluice's own header (include/sluice_cuda.h), and prints a
 * launch file for the kernels found. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/draft.h"
#include "base/output.h"
#include "base/path.h"
#include "cli/command.h"
#include "cli/compiler.h"
#include "config/catalogue.h"
#include "ptx/program.h"
#include "ptx/readonly.h"

struct cuda_values {
    const char *output, *compiler;
    struct text_list include, define;
};

static const struct option options[] = {
    {"-o", "FILE", OPTION_TEXT, offsetof(struct cuda_values, output),
     "PTX file to write; default: the name of the source, ending in .ptx, in the current directory"},
    {"--compiler", "nvcc|clang", OPTION_TEXT, offsetof(struct cuda_values, compiler),
     "compiler to use; default: nvcc if it is installed ($CUDA_HOME/bin or the PATH), otherwise clang"},
    {"-I", "DIRECTORY", OPTION_LIST, offsetof(struct cuda_values, include), "search headers there; repeatable"},
    {"-D", "NAME[=VALUE]", OPTION_LIST, offsetof(struct cuda_values, define), "define a macro; repeatable"},
};

/* --- compilers --- */

enum { WORDS_MAX = 2 * TEXT_LIST_MAX + 64 };

struct command_line {
    const char *word[WORDS_MAX];
    unsigned count;
};

static void add(struct command_line *line, const char *word) {
    assert(line->count + 1 < WORDS_MAX);
    line->word[line->count++] = word;
}

static void add_list(struct command_line *line, const char *option, const struct text_list *list) {
    for (unsigned i = 0; i < list->count; i++) {
        add(line, option);
        add(line, list->text[i]);
    }
}

static bool compile(const struct cuda_values *values, const char *source, const char *output, struct error *err) {
    const char *wanted = values->compiler;
    char *nvcc = !wanted || strcmp(wanted, "nvcc") == 0 ? compiler_nvcc() : NULL;
    char *clang = !nvcc && (!wanted || strcmp(wanted, "clang") == 0) ? path_of_program("clang") : NULL;
    char *headers = clang ? catalogue_folder("include") : NULL;
    struct command_line line = {0};
    bool good = false;
    if (nvcc) {
        static const char *const flags[] = {"-ptx", "-gencode", "arch=compute_75,code=compute_75", "-x", "cu"};
        add(&line, nvcc);
        for (size_t i = 0; i < COUNT_OF(flags); i++) add(&line, flags[i]);
    } else if (clang && headers) {
        /* sm_70 and PTX 6.3: what shuffles and votes of whole warps need. */
        static const char *const flags[] = {
            "-x",
            "cuda",
            "--cuda-device-only",
            "--cuda-gpu-arch=sm_70",
            "-Xclang",
            "-target-feature",
            "-Xclang",
            "+ptx63",
            "-nocudainc",
            "-nocudalib",
            "-std=c++14",
            "-O3",
            "-include",
            "sluice_cuda.h",
            "-S",
            "-Wno-unknown-cuda-version",
            "-I",
        };
        add(&line, clang);
        for (size_t i = 0; i < COUNT_OF(flags); i++) add(&line, flags[i]);
        add(&line, headers);
    } else if (clang) {
        error_set(err, "the headers for CUDA sources are not installed (share/sluice/include)");
    } else {
        error_set(err, "%s installed; on Debian: apt-get install clang",
                  wanted ? "the compiler is not" : "neither nvcc nor clang is");
    }
    if (line.count) {
        add_list(&line, "-I", &values->include);
        add_list(&line, "-D", &values->define);
        add(&line, source);
        add(&line, "-o");
        add(&line, output);
        good = compiler_run(line.word, err);
    }
    free(headers);
    free(clang);
    free(nvcc);
    return good;
}

/* --- the launch file --- */

enum { BUFFER_BYTES = 4096, BLOCK_THREADS = 128 };

/* The data structure that a parameter points to, or NULL. */
static const struct readonly_structure *target_of(const struct program *program, uint32_t function, unsigned i) {
    const struct readonly *readonly = program->readonly;
    for (uint32_t k = 0; k < readonly->kernel_count; k++) {
        const struct readonly_kernel *kernel = &readonly->kernels[k];
        for (uint32_t s = 0; kernel->function == function && s < kernel->structure_count; s++)
            if (kernel->structures[s].offset == 0 &&
                kernel->structures[s].variable == program->module->functions[function].parameters[i])
                return &kernel->structures[s];
    }
    return NULL;
}

static bool is_pointer(const struct program *program, uint32_t function, unsigned i,
                       const struct program_parameter *parameter) {
    return parameter->size_bytes == 8 && target_of(program, function, i);
}

/* A name that is unique among kernels whose names share a beginning: the kernel's number and the parameter's. */
static void print_buffers(const struct program *program, FILE *out) {
    unsigned kernel = 0, printed = 0;
    struct program_parameter parameter;
    for (uint32_t f = 0; f < program->function_count; f++) {
        const struct program_function *function = &program->functions[f];
        if (!function->is_kernel || !function->defined) continue;
        kernel++;
        for (unsigned i = 0; program_parameter(program, function, i, &parameter); i++) {
            if (!is_pointer(program, f, i, &parameter)) continue;
            bool read_only = target_of(program, f, i)->verdict == READONLY;
            if (!printed++) fputs("\nbuffers:\n", out);
            fprintf(out, "  - name: k%u_%u # parameter %u of %s%s\n    bytes: %d\n", kernel, i, i, function->name,
                    read_only ? ", read only" : "", BUFFER_BYTES);
        }
    }
}

static const char *scalar_name(enum ptx_type type) {
    static const char *const integers[] = {[1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64"};
    unsigned bytes = ptx_type_bytes(type);
    if (ptx_type_kind(type) == PTX_FLOAT && bytes >= 4) return bytes == 4 ? "f32" : "f64";
    return bytes < COUNT_OF(integers) && integers[bytes] ? integers[bytes] : "u64";
}

static void print_argument(const struct program *program, uint32_t function, unsigned kernel, unsigned i,
                           const struct program_parameter *parameter, FILE *out) {
    if (is_pointer(program, function, i, parameter)) {
        fprintf(out, "      - {buffer: k%u_%u}\n", kernel, i);
    } else if (parameter->size_bytes == ptx_type_bytes(parameter->type)) {
        fprintf(out, "      - {scalar: %s, value: 0}\n", scalar_name(parameter->type));
    } else {
        fputs("      - {bytes: \"", out);
        for (uint32_t b = 0; b < parameter->size_bytes; b++) fprintf(out, "%s00", b ? " " : "");
        fputs("\"}\n", out);
    }
}

static void print_launches(const struct program *program, FILE *out) {
    unsigned kernel = 0;
    bool dynamic = false;
    for (uint32_t v = 0; v < program->module->variable_count; v++) dynamic |= program->module->variables[v].unsized;
    fputs("\nlaunches:\n", out);
    for (uint32_t f = 0; f < program->function_count; f++) {
        const struct program_function *function = &program->functions[f];
        struct program_parameter parameter;
        if (!function->is_kernel || !function->defined) continue;
        kernel++;
        const uint32_t *given = function->required_threads[0] ? function->required_threads : function->max_threads;
        fprintf(out, "  - kernel: %s\n    grid: [1]\n    block: [%u, %u, %u]\n", function->name,
                given[0] ? given[0] : BLOCK_THREADS, given[1] ? given[1] : 1, given[2] ? given[2] : 1);
        if (dynamic) fprintf(out, "    dynamic_shared_bytes: %d\n", BUFFER_BYTES);
        if (program_parameter(program, function, 0, &parameter)) fputs("    args:\n", out);
        for (unsigned i = 0; program_parameter(program, function, i, &parameter); i++)
            print_argument(program, f, kernel, i, &parameter, out);
    }
}

static enum status print_skeleton(const struct command *command, const char *source, const char *output) {
    struct error err = {0};
    struct ptx_module *module = ptx_parse_file(output, &err);
    struct program *program = module ? program_create(module, UINT64_C(0xC0000000), &err) : NULL;
    unsigned kernels = 0;
    for (uint32_t f = 0; program && f < program->function_count; f++)
        kernels += program->functions[f].is_kernel && program->functions[f].defined;
    enum status status = STATUS_DONE;
    if (!program) {
        status = complain_error(&err);
    } else if (!kernels) {
        status = complain(command, "%s has no kernels", source);
    } else {
        const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source, *dot = strrchr(name, '.');
        printf("# The kernels of %s. Sizes, contents and values are to be filled in: docs/launch-files.md.\n", source);
        printf("name: %.*s\nptx: %s\n", dot ? (int)(dot - name) : (int)strlen(name), name, output);
        print_buffers(program, stdout);
        print_launches(program, stdout);
    }
    if (program) program_destroy(program);
    if (module) ptx_module_destroy(module);
    return status;
}

/* --- the command --- */

/* The PTX appears under its name once it is complete. */
static bool write_ptx(const struct cuda_values *values, const char *source, const char *output, struct error *err) {
    if (!output_check(output, err)) return false;
    char *path = text_format("%s.XXXXXX", output);
    struct draft draft;
    draft_list(&draft, path);
    int file = mkstemp(path);
    bool good = file >= 0 || error_set(err, "cannot create %s: %s", path, strerror(errno));
    if (file >= 0) {
        mode_t mask = umask(0);
        umask(mask);
        fchmod(file, 0666 & ~mask);
        close(file);
        good = compile(values, source, path, err);
        if (good && rename(path, output) != 0) good = error_set(err, "cannot create %s: %s", output, strerror(errno));
        if (!good) unlink(path);
    }
    draft_unlist(&draft);
    free(path);
    return good;
}

static enum status cuda(const struct command *command, int argc, char **argv) {
    struct cuda_values values = {0};
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (arguments.count != 1) return complain(command, "one CUDA source expected: sluice cuda FILE.cu");
    const char *source = arguments.word[0], *compiler = values.compiler;
    if (compiler && strcmp(compiler, "nvcc") != 0 && strcmp(compiler, "clang") != 0)
        return complain(command, "--compiler `%s`: expected nvcc or clang", compiler);
    if (access(source, R_OK) != 0) return complain(command, "cannot read %s: %s", source, strerror(errno));
    const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source, *dot = strrchr(name, '.');
    char *output = values.output ? mem_text(values.output)
                                 : text_format("%.*s.ptx", dot ? (int)(dot - name) : (int)strlen(name), name);
    struct error err = {0};
    enum status status =
        write_ptx(&values, source, output, &err) ? print_skeleton(command, source, output) : complain_error(&err);
    free(output);
    return status;
}

static const char *const details[] = {
    "Compiles the kernels of a CUDA source to PTX and prints a launch file for them (docs/launch-files.md), in which sizes,"
    " contents and values remain to be filled in: parameters that kernels use as pointers are buffers, others are"
    " scalars or bytes. Host code is checked, but not compiled.",
    "nvcc is used where it is installed. Otherwise clang compiles ordinary CUDA C++ without the CUDA toolkit: built-in"
    " variables, vector types, atomics, shuffles, votes, mathematical functions, printf, assert and malloc in kernels, and"
    " the runtime API in host code come from a header of Sluice's own, which describes what is left out"
    " (share/sluice/include/sluice_cuda.h).",
    NULL,
};

static const struct example examples[] = {
    {"sluice cuda examples/saxpy.cu > saxpy.yaml", "write saxpy.ptx and a launch file for it"},
    {"sluice run --launch saxpy.yaml", "simulate it, after its sizes and values have been filled in"},
};

const struct command command_cuda = {
    .name = "cuda",
    .synopsis = "cuda FILE.cu [OPTIONS]",
    .summary = "compiles CUDA C++ to PTX and prints a launch file",
    .details = details,
    .options = options,
    .option_count = COUNT_OF(options),
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = cuda,
};
