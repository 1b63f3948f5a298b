/* The fuzzer's corpus stays read without a crash or a leak, cut short anywhere, and with any line left out. */
#include <dirent.h>
#include <stdio.h>

#include "claim.h"
#define LLVMFuzzerTestOneInput experiment_fuzz_one_input /* each fuzzer has one; the tests are one program */
#include "fuzz/experiment_fuzz.c" /* the harness is no test of its own: it is linked by the fuzzer, and included here */

/* As it is; its first halves, quarters, ...; and without each of its lines. */
static void replay(const uint8_t *data, size_t size) {
    static uint8_t part[1 << 16];
    for (size_t length = size; length > 0; length /= 2) LLVMFuzzerTestOneInput(data, length);
    for (size_t start = 0, end; start < size; start = end) {
        end = start;
        while (end < size && data[end++] != '\n') continue;
        memcpy(part, data, start);
        memcpy(part + start, data + end, size - end);
        LLVMFuzzerTestOneInput(part, size - (end - start));
    }
}

CLAIM("every experiment in the fuzzer's corpus is refused at a place or holds together") {
    DIR *folder = opendir(SLUICE_SOURCE_DIR "/data/fuzz/experiment");
    REQUIRE(folder);
    unsigned replayed = 0;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        char path[1024];
        static uint8_t data[1 << 16];
        snprintf(path, sizeof path, SLUICE_SOURCE_DIR "/data/fuzz/experiment/%s", entry->d_name);
        FILE *file = fopen(path, "rb");
        REQUIRE(file);
        size_t size = fread(data, 1, sizeof data, file);
        fclose(file);
        replay(data, size);
        replayed++;
    }
    closedir(folder);
    CHECK(replayed >= 8);
}
