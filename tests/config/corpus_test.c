/* The fuzzer's corpus stays read without a crash, a leak or a lost value. */
#include <dirent.h>
#include <stdio.h>

#include "claim.h"
#include "fuzz/config_fuzz.c" /* the harness is no test of its own: it is linked by the fuzzer, and included here */

CLAIM("every description in the fuzzer's corpus is refused with a message or reads back the same") {
    DIR *folder = opendir(SLUICE_SOURCE_DIR "/data/fuzz/config");
    REQUIRE(folder);
    unsigned replayed = 0;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        char path[1024];
        static uint8_t data[1 << 16];
        snprintf(path, sizeof path, SLUICE_SOURCE_DIR "/data/fuzz/config/%s", entry->d_name);
        FILE *file = fopen(path, "rb");
        REQUIRE(file);
        size_t size = fread(data, 1, sizeof data, file);
        fclose(file);
        LLVMFuzzerTestOneInput(data, size);
        replayed++;
    }
    closedir(folder);
    CHECK(replayed >= 10);
}
