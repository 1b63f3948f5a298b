/* The fuzzer's corpus stays read without a crash or a leak. */
#include <dirent.h>
#include <stdio.h>

#include "claim.h"
#define LLVMFuzzerTestOneInput ptx_fuzz_one_input /* each fuzzer has one, and the tests are one program */
#include "fuzz/ptx_fuzz.c" /* the harness is no test of its own: it is linked by the fuzzer, and included here */

CLAIM("every module in the fuzzer's corpus is refused with a message or holds together") {
    DIR *folder = opendir(SLUICE_SOURCE_DIR "/data/fuzz/ptx");
    REQUIRE(folder);
    unsigned replayed = 0;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        char path[1024];
        static uint8_t data[1 << 16];
        snprintf(path, sizeof path, SLUICE_SOURCE_DIR "/data/fuzz/ptx/%s", entry->d_name);
        FILE *file = fopen(path, "rb");
        REQUIRE(file);
        size_t size = fread(data, 1, sizeof data, file);
        fclose(file);
        ptx_fuzz_one_input(data, size);
        replayed++;
    }
    closedir(folder);
    CHECK(replayed >= 10);
}
