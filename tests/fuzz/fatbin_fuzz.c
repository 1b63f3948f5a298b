/* Reads arbitrary bytes as fat binaries and unpacks every entry: an entry is rejected with a message or unpacked, and
 * a damaged container gives no PTX. Entry point for libFuzzer; tests/cuda/fatbin_test.c replays data/fuzz/fatbin
 * through it. */
#include <stdlib.h>
#include <string.h>

#include "cuda/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *bytes = mem_alloc(size + 1, 1); /* its end is where a sanitizer detects reads behind it */
    uint8_t *exact = size ? memcpy(bytes + 1, data, size) : bytes + 1;
    struct error err = {0};
    struct fatbin fatbin = fatbin_open(exact, size);
    struct fatbin_entry entry;
    while (fatbin_next(&fatbin, &entry, &err)) {
        struct error unpacked = {0};
        size_t length = 0;
        if (entry.text_bytes > 1 << 20) continue; /* mostly sizes without content */
        char *text = fatbin_unpack(&entry, &length, &unpacked);
        must(!text == unpacked.set);
        if (text) must(length <= entry.text_bytes && text[length] == '\0');
        free(text);
    }
    struct error none = {0};
    size_t length = 0;
    char *text = fatbin_ptx(exact, size, 75, &length, &none);
    must(!text == none.set);
    if (text) must(strlen(text) == length && !err.set);
    free(text);
    free(bytes);
    return 0;
}
