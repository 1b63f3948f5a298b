/* Reads arbitrary bytes as a CUDA program: it is rejected with a message that names the file, or the runtime library that it needs
 * is known. Entry point for libFuzzer; tests/cuda/executable_test.c replays data/fuzz/executable through it. */
#include <stdlib.h>
#include <string.h>

#include "cuda/executable.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *bytes = mem_alloc(size + 1, 1); /* its end is where a sanitizer detects reads behind it */
    if (size) memcpy(bytes + 1, data, size);
    struct cuda_executable found;
    struct error err = {0};
    bool good = cuda_executable_check("program", bytes + 1, size, &found, &err);
    if (good == err.set || (err.set && strncmp(err.text, "program: ", 9) != 0)) abort();
    if (good && strncmp(found.runtime, "libcudart.so.", 13) != 0) abort();
    free(bytes);
    return 0;
}
