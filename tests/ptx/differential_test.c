/* Differential fuzzing: random programs (differential.h), executed by Sluice as PTX and by the host as C, must produce
 * the same bytes in every thread. A batch of programs is one translation unit for the host's compiler ($CC, or clang,
 * which is fast without optimisation); the shared object is loaded here. A program that differs is reduced, and both of
 * its texts are kept in a temporary directory. */
#include "ptx/differential.h"

#include <dlfcn.h>
#include <unistd.h>

#include "emu/emu.h"
#include "test.h"

enum { BLOCKS = 2, THREADS = BLOCKS * DIFF_THREADS, TRIES = 400 };
enum { PATH_BYTES = 512, SAYS_BYTES = sizeof((struct error *)0)->text };

/* The memory of the threads: slots, then outputs. */
struct bytes {
    uint8_t slots[THREADS][DIFF_SLOT_BYTES], outs[THREADS][DIFF_OUT_BYTES];
};

static void bytes_start(struct bytes *bytes, uint64_t seed) {
    struct diff diff = {.state = seed};
    memset(bytes, 0, sizeof *bytes);
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned at = 0; at < DIFF_SLOT_BYTES; at += 8)
            memcpy(&bytes->slots[t][at], &(uint64_t){diff_edge(&diff)}, 8);
}

/* --- the host's side: programs as functions of a shared object --- */

struct host_side {
    char folder[PATH_BYTES];
    void *object;
};

static void host_path(const struct host_side *side, char *path, const char *name) {
    snprintf(path, PATH_BYTES, "%s/%s", side->folder, name);
}

/* Compiles the programs of `count` seeds, with statements omitted. False if the compiler fails. */
static bool host_compile(struct host_side *side, uint64_t first, unsigned count, const bool *omitted) {
    const char *parent = getenv("TMPDIR"), *compiler = getenv("CC");
    snprintf(side->folder, sizeof side->folder, "%s/sluice-differential-XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(side->folder)) return false;
    char c_path[PATH_BYTES], object_path[PATH_BYTES], command[4 * PATH_BYTES];
    host_path(side, c_path, "programs.c");
    host_path(side, object_path, "programs.so");
    FILE *c = fopen(c_path, "w"), *nowhere = fopen("/dev/null", "w");
    fputs("#include \"ptx/differential_prelude.h\"\n", c);
    for (unsigned i = 0; i < count; i++) diff_write(first + i, omitted, nowhere, c);
    fclose(nowhere);
    fclose(c);
    snprintf(
        command, sizeof command,
        "%s -std=gnu17 -w -O0 -fwrapv -frounding-math -ffp-contract=off -fPIC -shared -I'%s/tests' -o '%s' '%s' -lm",
        compiler && *compiler ? compiler : "clang", SLUICE_SOURCE_DIR, object_path, c_path);
    side->object = system(command) == 0 ? dlopen(object_path, RTLD_NOW | RTLD_LOCAL) : NULL;
    return side->object;
}
static void host_run(const struct host_side *side, uint64_t seed, struct bytes *bytes) {
    char name[32];
    snprintf(name, sizeof name, "P%" PRIu64, seed);
    void (*program)(uint32_t, uint8_t *, uint8_t *) =
        (void (*)(uint32_t, uint8_t *, uint8_t *))dlsym(side->object, name);
    for (unsigned t = 0; t < THREADS; t++) program(t % DIFF_THREADS, bytes->slots[t], bytes->outs[t]);
}
static void host_release(struct host_side *side) {
    if (side->object) dlclose(side->object);
    static const char *const names[] = {"programs.c", "programs.so"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char path[PATH_BYTES];
        host_path(side, path, names[i]);
        unlink(path);
    }
    rmdir(side->folder); /* fails if a failing program is kept there */
}

/* --- Sluice's side --- */

static bool sluice_run(const char *text, size_t size, struct bytes *bytes, struct error *err) {
    struct device device;
    device_init(&device);
    struct ptx_module *module = ptx_parse("program.ptx", text, size, err);
    struct loaded_module *loaded = module ? device_load(&device, module, err) : NULL;
    bool good = false;
    if (loaded) {
        const uint64_t address = memory_allocate(&device.memory, sizeof *bytes);
        memcpy(memory_at(&device.memory, address, sizeof *bytes), bytes, sizeof *bytes);
        const uint64_t parameters[2] = {address, address + offsetof(struct bytes, outs)};
        const struct launch launch = {.module = loaded,
                                      .kernel = program_kernel(loaded_program(loaded), "k"),
                                      .grid = {BLOCKS, 1, 1},
                                      .block = {DIFF_THREADS, 1, 1},
                                      .parameters = (const uint8_t *)parameters};
        struct emu_counts counts;
        good = emu_run(&device, &launch, NULL, &counts, err);
        memcpy(bytes, memory_at(&device.memory, address, sizeof *bytes), sizeof *bytes);
        device_unload(&device, loaded);
    }
    device_release(&device);
    return good;
}

/* --- both --- */

/* Whether a program gives the same result on both sides; if not, `says` describes the first difference. */
static bool same(const struct host_side *side, uint64_t seed, const bool *omitted, char says[], size_t room) {
    static struct bytes wanted, got;
    char *text = NULL;
    size_t size = 0;
    FILE *ptx = open_memstream(&text, &size), *nowhere = fopen("/dev/null", "w");
    diff_write(seed, omitted, ptx, nowhere);
    fclose(nowhere);
    fclose(ptx);
    bytes_start(&wanted, seed);
    got = wanted;
    host_run(side, seed, &wanted);
    struct error err = {0};
    bool good = sluice_run(text, size, &got, &err);
    if (!good) snprintf(says, room, "%s", err.text);
    for (unsigned t = 0; good && t < THREADS; t++)
        for (unsigned i = 0; good && i < DIFF_OUT_BYTES; i++)
            if (got.outs[t][i] != wanted.outs[t][i] ||
                got.slots[t][i % DIFF_SLOT_BYTES] != wanted.slots[t][i % DIFF_SLOT_BYTES]) {
                snprintf(says, room, "thread %u differs at byte %u of what it leaves", t, i);
                good = false;
            }
    free(text);
    return good;
}

/* Whether the program still differs with these statements omitted. */
static bool differs_without(uint64_t seed, const bool *omitted) {
    struct host_side side = {0};
    char says[SAYS_BYTES];
    const bool differs = host_compile(&side, seed, 1, omitted) && !same(&side, seed, omitted, says, sizeof says);
    host_release(&side);
    return differs;
}

/* Omits ever smaller runs of statements while the difference persists; keeps both texts of the rest. */
static void keep_small(const struct host_side *side, uint64_t seed) {
    static bool omitted[DIFF_STATEMENTS];
    memset(omitted, 0, sizeof omitted);
    FILE *nowhere = fopen("/dev/null", "w");
    unsigned statements = diff_write(seed, NULL, nowhere, nowhere), tries = 0;
    fclose(nowhere);
    if (statements > DIFF_STATEMENTS) statements = DIFF_STATEMENTS;
    for (unsigned run = statements / 2; run && tries < TRIES; run /= 2)
        for (unsigned from = 0; from < statements && tries < TRIES; from += run) {
            bool tried[DIFF_STATEMENTS];
            memcpy(tried, omitted, sizeof tried);
            for (unsigned i = from; i < from + run && i < statements; i++) tried[i] = true;
            if (memcmp(tried, omitted, sizeof tried) == 0) continue;
            tries++;
            if (differs_without(seed, tried)) memcpy(omitted, tried, sizeof tried);
        }
    char name[64], ptx_path[PATH_BYTES], c_path[PATH_BYTES];
    snprintf(name, sizeof name, "%" PRIu64 ".ptx", seed);
    host_path(side, ptx_path, name);
    snprintf(name, sizeof name, "%" PRIu64 ".c", seed);
    host_path(side, c_path, name);
    FILE *ptx = fopen(ptx_path, "w"), *c = fopen(c_path, "w");
    fputs("#include \"ptx/differential_prelude.h\"\n", c);
    diff_write(seed, omitted, ptx, c);
    fclose(ptx);
    fclose(c);
    printf("    as small as it gets: %s, %s\n", ptx_path, c_path);
}

static void programs_agree(uint64_t first, unsigned count) {
    struct host_side side = {0};
    REQUIRE(host_compile(&side, first, count, NULL));
    unsigned failed = 0;
    for (unsigned i = 0; i < count; i++) {
        char says[SAYS_BYTES];
        if (same(&side, first + i, NULL, says, sizeof says)) continue;
        printf("    program %" PRIu64 ": %s\n", first + i, says);
        if (!failed++) keep_small(&side, first + i);
    }
    CHECK_EQ(failed, 0u);
    host_release(&side);
}

TEST_LONG_SANITIZED("300 random programs produce the same bytes as PTX and as C") { programs_agree(1, 300); }

/* Ten thousand programs, in tests of a hundred so that they can run in parallel. */
#define MANY(first) \
    TEST_LONG("500 random programs from number " #first " on leave the same bytes as PTX and as C") { \
        programs_agree(first, 500); \
    }
MANY(500)
MANY(1000)
MANY(1500)
MANY(2000)
MANY(2500)
MANY(3000)
MANY(3500)
MANY(4000)
MANY(4500)
MANY(5000)
MANY(5500)
MANY(6000)
MANY(6500)
MANY(7000)
MANY(7500)
MANY(8000)
MANY(8500)
MANY(9000)
MANY(9500)
MANY(10000)
