/* A pass over the text of a kernel file for opcodes only, several times as fast as reading its lines. A file is scanned
 * until it is known to have both. */
#include <string.h>

#include "base/base.h"
#include "sass/file.h"

/* An opcode that begins so, or so after SU (surfaces), and continues with one of ". G": not that of shared memory. */
static bool has_atomic(struct sass_text block, const char *word) {
    size_t length = strlen(word);
    for (const char *at = block.at; (at = memmem(at, (size_t)(block.end - at), word, length)); at += length)
        if (at > block.at && strchr(" U", at[-1]) && at + length < block.end && strchr(". G", at[length])) return true;
    return false;
}

/* HMMA, IMMA, ..., and those of warp groups, HGMMA; but not HFMA2.MMA. */
static bool has_tensor(struct sass_text block) {
    static const char word[] = "MMA";
    for (const char *at = block.at; (at = memmem(at, (size_t)(block.end - at), word, sizeof word - 1)); at++) {
        if (at - block.at < 2 || at + sizeof word > block.end || !strchr(". ", at[sizeof word - 1])) continue;
        if (at[-1] == 'G' || (at[-2] == ' ' && strchr("BDHIQ", at[-1]))) return true;
    }
    return false;
}

static void scan_block(struct sass_text block, struct sass_uses *uses) {
    uses->atomics = uses->atomics || has_atomic(block, "ATOM") || has_atomic(block, "RED");
    uses->tensor = uses->tensor || has_tensor(block);
}

bool sass_scan(const char *path, struct sass_uses *uses, bool (*goes_on)(void *user), void *user, struct error *err) {
    struct sass_input *input = sass_input_open(path, err);
    if (!input) return false;
    struct sass_text block;
    bool begun = false, going = true;
    while (going && !(uses->atomics && uses->tensor) && sass_input_block(input, &block, err)) {
        static const char first[] = "#BEGIN_TB"; /* not the header, which names the kernel */
        const char *begin =
            begun ? block.at : memmem(block.at, (size_t)(block.end - block.at), first, sizeof first - 1);
        if (begin) scan_block((struct sass_text){begin, block.end}, uses);
        begun = begin != NULL;
        going = !goes_on || goes_on(user);
    }
    sass_input_close(input);
    return !err->set;
}
