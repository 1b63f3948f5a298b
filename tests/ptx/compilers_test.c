/* PTX of real compilers: the CUDA programs of compilers/, compiled by clang and, if available ($CUDA_HOME/bin or the
 * PATH), by nvcc, for several devices and optimisation levels. All must produce the words that the same source produces
 * as a host program. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/emu.h"
#include "test.h"

enum {
    BLOCKS = 4,
    THREADS = 256,
    WORDS = BLOCKS * THREADS * 4,
    SHARED_BYTES = THREADS * 4,
    PATH_BYTES = 512,
    COMMAND_BYTES = 4 * PATH_BYTES
};

#define FOLDER SLUICE_SOURCE_DIR "/tests/ptx/compilers"

#define PROGRAMS(X) X(control) X(calls) X(values) X(reals) X(together) X(atomics) X(print) X(halves) X(groups)
static const char printed_by_print[] = "thread 44 of block 1:  2.50 words x -5000000000\n";

struct words {
    uint32_t out[WORDS], in[WORDS];
};
static void words_start(struct words *words) {
    memset(words->out, 0, sizeof words->out);
    uint64_t state = 1;
    for (unsigned i = 0; i < WORDS; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        words->in[i] = (uint32_t)(state >> 33) ^ (uint32_t)(state >> 20);
    }
}

/* --- a directory for compiler output --- */

static char *temporary_folder(void) {
    static char folder[PATH_BYTES];
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/sluice-compilers-XXXXXX", parent ? parent : "/tmp");
    return mkdtemp(folder);
}

/* The words that the program produces on the host. */
static bool reference_run(const char *folder, const char *program, struct words *words) {
    char path[PATH_BYTES], command[COMMAND_BYTES];
    snprintf(path, sizeof path, "%s/reference.so", folder);
    snprintf(
        command, sizeof command,
        "clang -x c++ -std=c++17 -DREFERENCE -w -O1 -fwrapv -ffp-contract=off -fno-math-errno -fno-rtti -fPIC -shared '" FOLDER
        "/%s.cu' -o '%s'",
        program, path);
    void *object = system(command) == 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    unlink(path);
    void (*reference)(uint32_t *, const uint32_t *) =
        object ? (void (*)(uint32_t *, const uint32_t *))dlsym(object, "reference") : NULL;
    if (reference) reference(words->out, words->in);
    if (object) dlclose(object);
    return reference;
}

/* The text of a file, to be freed; NULL if it cannot be read. */
static char *file_text(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = NULL, chunk[4096];
    *size = 0;
    FILE *out = open_memstream(&text, size);
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, file));) fwrite(chunk, 1, n, out);
    fclose(out);
    fclose(file);
    return text;
}

struct printed {
    char text[256];
    size_t size;
};
static void print(void *user, const char *text, size_t bytes) {
    struct printed *printed = user;
    for (size_t i = 0; i < bytes && printed->size + 1 < sizeof printed->text; i++)
        printed->text[printed->size++] = text[i];
}

static bool sluice_run(const char *text, size_t size, struct words *words, struct printed *printed, struct error *err) {
    struct device device;
    device_init(&device);
    device.print = print;
    device.print_user = printed;
    struct ptx_module *module = ptx_parse("program.ptx", text, size, err);
    struct loaded_module *loaded = module ? device_load(&device, module, err) : NULL;
    bool good = false;
    if (loaded) {
        const uint64_t address = memory_allocate(&device.memory, sizeof *words);
        memcpy(memory_at(&device.memory, address, sizeof *words), words, sizeof *words);
        const uint64_t parameters[2] = {address, address + sizeof words->out};
        const struct launch launch = {.module = loaded,
                                      .kernel = program_kernel(loaded_program(loaded), "k"),
                                      .grid = {BLOCKS, 1, 1},
                                      .block = {THREADS, 1, 1},
                                      .dynamic_shared_bytes = SHARED_BYTES,
                                      .parameters = (const uint8_t *)parameters};
        struct emu_counts counts;
        good = emu_run(&device, &launch, NULL, &counts, err);
        memcpy(words, memory_at(&device.memory, address, sizeof *words), sizeof *words);
        device_unload(&device, loaded);
    }
    device_release(&device);
    return good;
}

/* Compiles with the given start of a command; whether the program's PTX produces the words of the host. */
static bool compiled_same(const char *compiler, const char *folder, const char *program, const struct words *wanted) {
    char path[PATH_BYTES], command[COMMAND_BYTES];
    snprintf(path, sizeof path, "%s/program.ptx", folder);
    snprintf(command, sizeof command, "%s '" FOLDER "/%s.cu' -o '%s'", compiler, program, path);
    size_t size = 0;
    char *text = system(command) == 0 ? file_text(path, &size) : NULL;
    unlink(path);
    static struct words got;
    words_start(&got);
    struct error err = {0};
    struct printed printed = {0};
    bool same = text && sluice_run(text, size, &got, &printed, &err);
    if (!same) printf("    %s: %s.cu: %s\n", compiler, program, text ? err.text : "does not compile");
    free(text);
    for (unsigned i = 0; same && i < WORDS; i++)
        if (got.out[i] != wanted->out[i]) {
            printf("    %s: %s.cu: word %u is %08x, and %08x on the host\n", compiler, program, i, got.out[i],
                   wanted->out[i]);
            same = false;
        }
    const char *expected = strcmp(program, "print") == 0 ? printed_by_print : "";
    if (same && strcmp(printed.text, expected) != 0) {
        printf("    %s: %s.cu prints \"%s\"\n", compiler, program, printed.text);
        same = false;
    }
    return same;
}

/* Compiles a program in every way of a NULL-terminated list; `before` is the common part of the commands. */
static void program_same(const char *program, const char *before, const char *const *ways) {
    const char *folder = temporary_folder();
    static struct words wanted;
    words_start(&wanted);
    REQUIRE(folder && reference_run(folder, program, &wanted));
    for (; *ways; ways++) {
        char command[COMMAND_BYTES];
        snprintf(command, sizeof command, "%s %s", before, *ways);
        CHECK(compiled_same(command, folder, program, &wanted));
    }
    rmdir(folder);
}

#define CLANG \
    "clang -x cuda --cuda-device-only -nocudainc -nocudalib -Wno-unknown-cuda-version -std=c++17 -ffp-contract=off " \
    "-I'" SLUICE_SOURCE_DIR "/workloads' -S"

TEST("programs compiled by clang, unoptimised and optimised, produce the results of the host") {
    static const char *const ways[] = {"-O0 --cuda-gpu-arch=sm_35", "-O3 --cuda-gpu-arch=sm_80", NULL};
#define X(program) program_same(#program, CLANG, ways);
    PROGRAMS(X)
#undef X
}

static void clang_same(const char *program) {
    static const char *const archs[] = {"sm_35", "sm_60", "sm_70", "sm_80"}, *const debug[] = {"", "-g"};
    char ways[32][64];
    const char *list[33] = {0};
    for (unsigned i = 0; i < 32; i++) {
        snprintf(ways[i], sizeof ways[i], "-O%u --cuda-gpu-arch=%s %s", i % 4, archs[i / 4 % 4], debug[i / 16]);
        list[i] = ways[i];
    }
    program_same(program, CLANG, list);
}

/* The path of nvcc; NULL if there is none. */
static const char *nvcc_find(void) {
    static char path[PATH_BYTES];
    const char *home = getenv("CUDA_HOME");
    snprintf(path, sizeof path, "%s/bin/nvcc", home ? home : "");
    if (home && access(path, X_OK) == 0) return path;
    return system("command -v nvcc >/dev/null 2>&1") == 0 ? "nvcc" : NULL;
}

/* The oldest, the newest and a middle one of the devices that this nvcc supports. */
enum { NVCC_ARCHS = 3 };
static bool nvcc_archs(const char *nvcc, char archs[NVCC_ARCHS][32]) {
    char command[COMMAND_BYTES], all[64][32];
    snprintf(command, sizeof command, "'%s' --list-gpu-arch", nvcc);
    FILE *list = popen(command, "r");
    unsigned count = 0;
    while (list && count < 64 && fscanf(list, "%31s", all[count]) == 1) count++;
    if (list) pclose(list);
    for (unsigned i = 0; count && i < NVCC_ARCHS; i++)
        memcpy(archs[i], all[i * (count - 1) / (NVCC_ARCHS - 1)], sizeof archs[0]);
    return count;
}

static void nvcc_same(const char *program) {
    const char *nvcc = nvcc_find();
    char archs[NVCC_ARCHS][32], before[COMMAND_BYTES];
    if (!nvcc) printf("    no nvcc here\n");
    CHECK(!nvcc || nvcc_archs(nvcc, archs));
    for (unsigned i = 0; nvcc && i < NVCC_ARCHS; i++) {
        static const char *const ways[NVCC_ARCHS][3] = {{"", "-G"}, {"-lineinfo -rdc=true"}, {"", "-G"}};
        snprintf(before, sizeof before, "'%s' -ptx -w -std=c++17 -fmad=false -arch=%s", nvcc, archs[i]);
        program_same(program, before, ways[i]);
    }
}

#define BY_CLANG(program) \
    TEST_LONG(#program \
              ".cu leaves what it leaves on the host, at every level of clang and for every kind of device") { \
        clang_same(#program); \
    }
#define BY_NVCC(program) \
    TEST_LONG(#program ".cu leaves what it leaves on the host, if nvcc compiles it, also for its debugger") { \
        nvcc_same(#program); \
    }
BY_CLANG(control)
BY_NVCC(control)
BY_CLANG(calls)
BY_NVCC(calls)
BY_CLANG(values)
BY_NVCC(values)
BY_CLANG(reals)
BY_NVCC(reals)
BY_CLANG(together)
BY_NVCC(together)
BY_CLANG(atomics)
BY_NVCC(atomics)
BY_CLANG(print)
BY_NVCC(print)
BY_CLANG(halves)
BY_NVCC(halves)
BY_CLANG(groups)
BY_NVCC(groups)
