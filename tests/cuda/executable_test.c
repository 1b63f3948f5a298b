/* CUDA programs as files: what can be run, and what to rebuild. tests/cudart/exec_test.sh tests programs of compilers. */
#include "cuda/executable.h"

#include <stdio.h>
#include <string.h>

#include "fuzz/corpus.h"
#include "test.h"

#define LLVMFuzzerTestOneInput executable_fuzz_one_input
#include "fuzz/executable_fuzz.c"

static struct cuda_executable read_program(const char *name) {
    char path[512];
    struct cuda_executable found;
    struct error err = {0};
    snprintf(path, sizeof path, SLUICE_SOURCE_DIR "/data/fuzz/executable/%s", name);
    REQUIRE(cuda_executable_read(path, &found, &err));
    return found;
}

TEST("finds the runtime library that a program needs, and a path that precedes LD_LIBRARY_PATH") {
    struct cuda_executable program = read_program("program"), rpath = read_program("rpath");
    CHECK_EQ((const char *)program.runtime, "libcudart.so.12");
    CHECK(!program.rpath);
    CHECK_EQ((const char *)rpath.runtime, "libcudart.so.13");
    CHECK(rpath.rpath);
}

TEST("rejects files that are no programs") {
    struct cuda_executable found;
    struct error err = {0};
    CHECK(!cuda_executable_read(SLUICE_SOURCE_DIR "/README.md", &found, &err));
    CHECK_TEXT(err.text, "README.md: not a 64-bit ELF executable");
    err.set = false;
    CHECK(!cuda_executable_read("/nowhere/program", &found, &err));
    CHECK_TEXT(err.text, "cannot read /nowhere/program");
    err.set = false;
    CHECK(!cuda_executable_read("/", &found, &err));
    CHECK_TEXT(err.text, "not a 64-bit ELF executable");
}

static void replay(const uint8_t *data, size_t size) {
    static uint8_t bytes[1 << 16];
    for (size_t length = size; length > 0; length = length * 7 / 8) LLVMFuzzerTestOneInput(data, length);
    memcpy(bytes, data, size);
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= (uint8_t)(1u << at % 8);
        LLVMFuzzerTestOneInput(bytes, size);
        bytes[at] = data[at];
    }
}

TEST("every program in the fuzzer's corpus, truncated or with a flipped bit, is rejected with a message or accepted") {
    CHECK(corpus_replay("executable", replay) >= 2);
}
